"""mean_field: its fixed points, its free energy, its limits, and where it becomes exact."""

import numpy as np
import pytest

import bmlab


def test_the_free_energy_is_that_of_independent_units():
    """F = <E> - T S by a sum over all states of the product distribution."""
    model, m = bmlab.medium().at(1.3), np.linspace(-0.9, 0.8, 10)
    s = bmlab.states(10)
    q = np.prod((1 + s * m) / 2, axis=1)
    assert abs(bmlab.free_energy(model, m) - (q @ model.energy(s) + 1.3 * q @ np.log(q))) < 1e-11


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


def test_means_beyond_one_have_no_free_energy():
    assert bmlab.free_energy(bmlab.toy(), [1, -1, 1]) == bmlab.toy().energy([1, -1, 1])
    for wrong in ([1.5, 0, 0], [0, 0, -1.0001], [np.nan, 0, 0]):
        with pytest.raises(ValueError, match="means m must be"):
            bmlab.free_energy(bmlab.toy(), wrong)
