"""mean_field: its fixed points, its free energy, its limits, and where it becomes exact."""

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import bmlab


def curie_weiss(n, pull, field, temperature):
    """Return n units that all pull each other equally, w = pull/n."""
    return bmlab.BoltzmannMachine(pull / n * (1 - np.eye(n)), np.full(n, field), temperature)


def curie_weiss_moments(n, pull, field, temperature):
    """Return log Z, <s_i> and <s_i s_j>: the energy depends on the sum of the units only, 2k - n in (n k) states."""
    k = np.arange(n + 1)
    total = 2.0 * k - n
    minus_energy = pull / (2 * n) * (total**2 - n) + field * total
    log_weight = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + minus_energy / temperature
    p = np.exp(log_weight - logsumexp(log_weight))
    return logsumexp(log_weight), p @ total / n, p @ (total**2 - n) / (n * (n - 1))


def limit(pull, field, temperature):
    """Return the m of infinitely many units, tanh((pull m + field) / T)."""
    m = 1.0
    for _ in range(2000):
        m = np.tanh((pull * m + field) / temperature)
    return m


def test_the_means_solve_their_equation():
    model = bmlab.medium().at(3.0)
    m = bmlab.mean_field(model).mean
    assert np.abs(m - np.tanh(model.field(m) / 3.0)).max() < 1e-11


def test_the_free_energy_is_that_of_independent_units():
    """F = <E> - T S by a sum over all states of the product distribution."""
    model, m = bmlab.medium().at(1.3), np.linspace(-0.9, 0.8, 10)
    s = bmlab.states(10)
    q = np.prod((1 + s * m) / 2, axis=1)
    assert abs(bmlab.free_energy(model, m) - (q @ model.energy(s) + 1.3 * q @ np.log(q))) < 1e-11


@pytest.mark.parametrize("temperature", [0.7, 1.5])
def test_many_equal_units_end_in_the_equation_of_the_textbook(temperature):
    """A unit hears n - 1 others, so m differs from the limit in 1/n: half as much for twice the units."""
    gaps = []
    for n in (100, 200):
        m = bmlab.mean_field(curie_weiss(n, 1.0, 0.1, temperature)).mean
        assert np.abs(m - np.tanh(((n - 1) / n * m[0] + 0.1) / temperature)).max() < 1e-11
        gaps.append(limit(1.0, 0.1, temperature) - m[0])
    assert abs(gaps[0] / gaps[1] - 2) < 10 / 100


@pytest.mark.parametrize("field", [0.0, 0.1])
def test_among_many_equal_units_it_becomes_exact(field):
    """Above T = pull log Z lacks the fluctuations, -log(1 - x)/2 - x/2 with x = pull (1 - m^2)/T, however many units.

    So the error a unit falls as 1/n, as do those of the means, and those of the correlations as 1/n^2.
    """
    x = (1 - limit(1.0, field, 1.5) ** 2) / 1.5
    missing, errors = -np.log(1 - x) / 2 - x / 2, []
    for n in (100, 200):
        answer = bmlab.mean_field(curie_weiss(n, 1.0, field, 1.5))
        log_z, mean, pair = curie_weiss_moments(n, 1.0, field, 1.5)
        errors.append([missing - (log_z - answer.log_z.value), answer.covariance[0, 1] - (pair - mean**2)])
        assert abs(answer.mean[0] - mean) < (field > 0) / n + 1e-14
    assert (np.abs(np.divide(*errors) - [2, 4]) < 40 / 100).all()


def dense(model):
    return bmlab.BoltzmannMachine(model.weights.toarray(), model.biases, model.temperature)


@pytest.mark.parametrize("to", [lambda model: model, dense], ids=["sparse", "dense"])
def test_a_saddle_is_called_one_and_more_starts_leave_it(to):
    """A ferromagnet below its mean-field temperature (4 neighbours: T = 4) has no minimum at m = 0."""
    model = to(bmlab.ising((4, 4)).at(2.0))
    with pytest.warns(bmlab.NotConverged, match="saddle of its free energy.*starts=5"):
        at_zero = bmlab.mean_field(model)
    left = bmlab.mean_field(model, starts=5)
    assert not at_zero.converged and not at_zero.info["stable"] and not at_zero.mean.any()
    assert left.converged and "minimum" in left.message and left.log_z.lower > at_zero.log_z.lower
    m = left.mean[0]
    assert abs(m - np.tanh(4 * m / 2.0)) < 1e-11


def test_a_failed_response_is_shown_and_not_clipped():
    with pytest.warns(bmlab.NotConverged, match=r"a correlation of .*, beyond \[-1, 1\].*; use bethe\(\) or gibbs"):
        answer = bmlab.mean_field(bmlab.medium().at(1.8))
    assert np.abs(answer.corr).max() > 1 and not answer.converged


def test_it_shows_its_own_update(capsys):
    bmlab.show(bmlab.mean_field)
    assert "np.tanh(field)" in capsys.readouterr().out
