"""mean_field: its fixed points, its free energy, its response and its limits."""
import numpy as np
import pytest

import bmlab
from bmlab.infer import naive_mean_field


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


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.9])
def test_every_update_lowers_the_free_energy(damping):
    model, m = bmlab.medium(), np.random.default_rng(0).uniform(-1, 1, 10)
    values = [bmlab.free_energy(model, m)]
    for _ in range(20):
        naive_mean_field._descend(model, m, damping)
        values.append(bmlab.free_energy(model, m))
    assert (np.diff(values) <= 1e-13).all() and values[-1] < values[0] - 1


def test_damping_ends_in_the_same_point():
    model = bmlab.medium().at(3.0)
    assert np.allclose(bmlab.mean_field(model, damping=0.5).mean, bmlab.mean_field(model).mean, atol=1e-10)


def test_the_covariance_is_the_response_of_the_means():
    """C_ij = T d m_i / d b_j off the diagonal, by central differences of the method itself."""
    model, step = bmlab.medium().at(3.0), 1e-5
    covariance = bmlab.mean_field(model).covariance
    for j in range(10):
        shift = step * np.eye(10)[j]
        up, down = (bmlab.mean_field(bmlab.BoltzmannMachine(model.weights, model.biases + k * shift, 3.0)).mean
                    for k in (1, -1))
        response = 3.0 * (up - down) / (2 * step)
        assert np.abs(np.delete(response - covariance[:, j], j)).max() < 1e-8


@pytest.mark.parametrize("model", [bmlab.ising((4, 5), field=0.3).at(4.0), bmlab.ising((4, 5), field=0.3).at(0.02)],
                         ids=["warm", "saturated"])
def test_sparse_weights_give_the_same_answer_on_the_couplings(model):
    full = bmlab.BoltzmannMachine(model.weights.toarray(), model.biases, model.temperature)
    one, other = bmlab.mean_field(model), bmlab.mean_field(full)
    coupled = (full.weights != 0) | np.eye(model.n, dtype=bool)
    assert np.allclose(one.mean, other.mean, atol=1e-12)
    assert np.allclose(one.corr.toarray()[coupled], other.corr[coupled], atol=1e-10)
    assert one.info["stable"] and other.info["stable"]


def dense(model):
    return bmlab.BoltzmannMachine(model.weights.toarray(), model.biases, model.temperature)


@pytest.mark.parametrize("to", [lambda model: model, dense], ids=["sparse", "dense"])
def test_a_saddle_is_called_one_and_start_leaves_it(to):
    """A ferromagnet below its mean-field temperature (4 neighbours: T = 4) has no minimum at m = 0."""
    model = to(bmlab.ising((4, 4)).at(2.0))
    with pytest.warns(bmlab.NotConverged, match="saddle of F.*start="):
        at_zero = bmlab.mean_field(model)
    left = bmlab.mean_field(model, start=np.full(16, 0.1))
    assert not at_zero.info["stable"] and not at_zero.mean.any()
    assert left.info["stable"] and left.log_z.lower > at_zero.log_z.lower
    m = left.mean[0]
    assert abs(m - np.tanh(4 * m / 2.0)) < 1e-11


def test_a_failed_response_is_shown_and_not_clipped():
    answer = bmlab.mean_field(bmlab.medium().at(1.8))
    assert answer.info["largest |corr|"] == np.abs(answer.corr).max() > 1


def test_too_few_sweeps_are_reported_with_advice():
    with pytest.warns(bmlab.NotConverged, match="after 2 sweeps; the bound on log Z holds.*Raise max_sweeps"):
        answer = bmlab.mean_field(bmlab.medium(), max_sweeps=2)
    assert not answer.converged and "NOT CONVERGED" in repr(answer)


@pytest.mark.parametrize("start", [np.zeros(3), np.full(10, 1.5)])
def test_a_wrong_start_is_refused(start):
    with pytest.raises(ValueError, match=r"start must be 10 means in \[-1, 1\], found shape"):
        bmlab.mean_field(bmlab.medium(), start=start)
