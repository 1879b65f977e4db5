"""respond: the covariance that a theory predicts is how its own means answer to a small bias."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import bmlab
from bmlab.infer.variational import linear_response

pytestmark = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
METHODS = {"mean_field": bmlab.mean_field, "tap": bmlab.tap, "bethe": bmlab.bethe}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def glass(to=np.asarray):
    """Return 12 units, some pairs of which are coupled, at random, in fields of order one."""
    rng = np.random.default_rng(4)
    weights = bmlab.sherrington_kirkpatrick(12, rng=rng, scale=2.0).weights * (
        bmlab.symmetric(rng.random((12, 12))) < 0.5
    )
    return bmlab.BoltzmannMachine(to(weights), rng.normal(size=12), 2.5, offset=0.7)


@every_method
@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_covariance_is_the_response_of_the_means(method, to):
    """C_ij = T d m_i / d b_j, on the couplings, by central differences of the method itself.

    They err by step^2 (a third derivative over 6 T^2 is below one) and by the tolerance of the means over the step,
    1e-8 each; ten times that is allowed.  On the diagonal the method tells only how far it is from 1 - m_i^2.
    """
    model, step = glass(to), 1e-4
    answer, coupled = method(model), glass().weights != 0

    def means(j, by):
        return method(replace(model, biases=model.biases + by * np.eye(12)[j])).mean

    response = 2.5 * np.column_stack([means(j, step) - means(j, -step) for j in range(12)]) / (2 * step)
    assert np.abs(response - answer.covariance)[coupled].max() < 1e-7
    if to is np.asarray:
        assert np.abs(response - answer.covariance)[~np.eye(12, dtype=bool)].max() < 1e-7
    own = np.diag(response) / (1 - answer.mean**2)
    own = np.maximum(own, 1 / own).max() - 1
    assert answer.info["stable"] and own <= answer.info["inconsistency"] + 1e-7
    if method is not bmlab.bethe:  # which compares the couplings too
        assert abs(own - answer.info["inconsistency"]) < 1e-7


@every_method
@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_saddle_is_no_minimum(method, to):
    """Seven units that all pull together, cold and without fields, must choose a sign; means of 0 have not."""
    model = bmlab.BoltzmannMachine(to(np.ones((7, 7)) - np.eye(7)), np.zeros(7))
    at_zero, warm = method(model.at(2.0)), method(model.at(9.0))
    assert not at_zero.mean.any() and not at_zero.converged and not at_zero.info["stable"]
    assert "saddle" in at_zero.message and "minimum" in warm.message
    assert warm.converged and warm.info["stable"]


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_where_g_is_flat_the_response_is_unknown(to):
    """Two units, w = T = 1, at m = 0: the curvature of mean field is [[1, -1], [-1, 1]]."""
    model = bmlab.BoltzmannMachine(to([[0, 1.0], [1.0, 0]]), np.zeros(2))
    pull = np.ones(2) if model.is_sparse else 1 - np.eye(2)
    flat = linear_response.linear_response(model, np.zeros(2), np.ones(2), pull)
    assert np.isnan(flat.pairs).all() and not flat.stable and np.isnan(flat.inconsistency)
    assert linear_response.positive_solver(model, np.ones(2), pull) is None


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_solver_undoes_the_curvature(to):
    model, rng = glass(to), np.random.default_rng(0)
    pull, own, x = model.weights.data if model.is_sparse else model.weights, np.full(12, 9.0), rng.normal(size=12)
    solve = linear_response.positive_solver(model, own, pull)
    assert np.abs(solve(own * x - model.weights @ x) - x).max() < 1e-14 * 12 * 9
    assert linear_response.positive_solver(model, 0 * own, pull) is None


@pytest.mark.filterwarnings("default::bmlab.NotConverged")
def test_what_contradicts_itself_tells_by_how_much_and_the_limit():
    """Mean field's variances are too large, those of TAP in the cold far too small."""
    for method, temperature in ((bmlab.mean_field, 1.0), (bmlab.tap, 0.3)):
        limit = f"above {linear_response.MAX_INCONSISTENCY:g}"
        with pytest.warns(bmlab.NotConverged, match=f"inconsistency of .*, {limit}.*; use bethe.. or gibbs"):
            answer = method(bmlab.medium().at(temperature))
        assert answer.info["stable"] and answer.info["inconsistency"] > linear_response.MAX_INCONSISTENCY


@every_method
def test_no_units_have_no_correlations_and_nothing_is_printed(method, capfd):
    """Also not by LAPACK, which writes to the terminal itself if a matrix has no rows."""
    answer = method(bmlab.BoltzmannMachine(np.zeros((0, 0)), np.zeros(0)))
    assert answer.corr.shape == (0, 0) and answer.log_z == 0 and capfd.readouterr() == ("", "")
