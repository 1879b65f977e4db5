"""The top of the likelihood: where the moments agree, with penalties, masks, hidden units and holes."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from test_contract import machine
from test_likelihood import missing

import bmlab
from bmlab.learn.maximum_likelihood import maximize

UNITS = 5
DATA = np.vstack([bmlab.states(UNITS), bmlab.sample(machine(UNITS), 200, np.random.default_rng(0))])  # a top exists
GLASS = bmlab.sherrington_kirkpatrick(14, np.random.default_rng(0))
LARGE = bmlab.sample(bmlab.BoltzmannMachine(GLASS.weights, np.linspace(-0.5, 0.5, 14)), 4000, np.random.default_rng(1))
RING = bmlab.ising(6, coupling=0.1)


def blank(n, temperature=1.0):
    return bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n), temperature)


def slope_length(step, data, penalty=0.0, couplings=None):
    """The Euclidean length of the slope, from the public pieces."""
    d_weights, d_biases = bmlab.gradient(step.model, bmlab.clamped(step.model, data), bmlab.exact(step.model))
    d = np.where(True if couplings is None else couplings, d_weights - penalty * step.model.weights, 0)
    return np.hypot(np.linalg.norm(d[np.triu_indices(step.model.n, 1)]), np.linalg.norm(d_biases))


def test_it_ends_at_the_top():
    """At its end the slope is as short as it says, and as asked, with a mask, a penalty and a temperature."""
    mask = bmlab.ising(UNITS).weights.toarray() != 0
    for data, model in ((DATA, machine(UNITS, temperature=1.7)), (LARGE, blank(14, 0.6))):
        for penalty in (0.0, 0.3):
            for couplings in (None, mask):
                if couplings is None or model.n == UNITS:
                    (step,) = maximize(model, data, penalty=penalty, couplings=couplings, tolerance=1e-7).steps
                    length = slope_length(step, data, penalty, couplings)
                    assert length <= 1e-7 and abs(length - step.gradient_norm) < 1e-12
                    assert couplings is None or not step.model.weights[~couplings].any()


def test_sparse_machines_climb_on_their_couplings():
    data = bmlab.sample(bmlab.ising(6, coupling=0.3, field=0.2), 500, np.random.default_rng(0))
    dense = bmlab.BoltzmannMachine(RING.weights.toarray(), RING.biases)
    thin, full = maximize(RING, data), maximize(dense, data, couplings=dense.weights != 0)
    assert sparse.issparse(thin.model.weights)
    assert np.allclose(thin.model.weights.toarray(), full.model.weights, atol=1e-5)


@pytest.mark.parametrize("data", [DATA[:, :4], missing(DATA)], ids=["hidden", "missing"])
def test_hidden_units_and_missing_entries_climb_too(data):
    model = machine(UNITS, scale=0.3)
    begin = bmlab.log_likelihood(bmlab.clamped(model, data), bmlab.exact(model)).value
    (step,) = maximize(model, data, penalty=0.01).steps
    assert slope_length(step, data, 0.01) <= 1e-6 and step.log_likelihood.value > begin


def test_a_maximum_at_infinity_is_refused_or_said():
    with pytest.raises(ValueError, match="unit 0 is constant"):
        maximize(blank(3), np.ones((4, 3)))
    with pytest.raises(ValueError, match=r"units 0 and 1 are never \+1 and -1 together"):
        maximize(blank(2), [[1, 1], [-1, 1], [-1, -1]])
    corners = bmlab.states(3)[1:-1]  # all pairs occur, but not all units alike: p is zero in two corners
    with pytest.warns(bmlab.NotConverged, match=r"maximize\(\) still moved fields by .* at infinity; pass penalty"):
        maximize(blank(3), corners)
    with pytest.warns(bmlab.NotConverged, match="at infinity"):
        maximize(blank(3), corners, tolerance=1e-20)
    maximize(blank(3), corners, penalty=0.01)


def test_a_free_phase_without_log_z_is_refused():
    infer = partial(bmlab.gibbs, rng=np.random.default_rng(0), n_sweeps=10)
    with (
        pytest.raises(ValueError, match=r"climbs by log Z, which gibbs does not know; use fit\(\)"),
        pytest.warns(bmlab.NotConverged),
    ):
        maximize(blank(UNITS), DATA, infer)


XOR = np.array([[1, 1, -1], [1, -1, 1], [-1, 1, 1], [-1, -1, -1]])


@pytest.mark.parametrize("hidden", [1, 2, 3])
def test_hidden_units_without_weights_begin_off_the_saddle(hidden):
    """There no slope ever leaves 0: three bits with an even parity, for which pairs do not suffice."""
    found = maximize(blank(3 + hidden), XOR, penalty=1e-3)
    assert found.steps[-1].log_likelihood > -1.6  # -2.08 on the saddle, -1.39 the law itself


@pytest.mark.parametrize(
    ("mean", "corr", "sentence"),
    [
        ([0.9, 5.0], np.eye(2), "mean of -1/\\+1 units must be from -1 to 1, found 5"),
        ([0.9, np.nan], np.eye(2), "found nan"),
        ([0.0, 0.0], [[1, 2], [2, 1]], "corr of -1/\\+1 units must be from -1 to 1, found 2"),
        ([0.9, 0.9], [[0.19, 0.0], [0.0, 0.19]], "not the covariance"),
        ([0.9, -0.9], [[1, 0.9], [0.9, 1]], "no data have these moments"),
    ],
)
@pytest.mark.parametrize("learn", [maximize, lambda *about: bmlab.fit(*about, steps=2, rate=0.1)])
def test_moments_that_no_data_have_are_refused(mean, corr, sentence, learn):
    with pytest.raises(ValueError, match=sentence):
        learn(blank(2), bmlab.Estimate(np.array(mean), np.array(corr)))


def test_a_climb_is_priced_whole_before_it_starts():
    """Each exact sum over 40 units is within its limit, a hundred are not; the weights to come are priced."""
    data = np.random.default_rng(0).choice([-1.0, 1.0], (100, 40))
    assert bmlab.plan(bmlab.sherrington_kirkpatrick(40, np.random.default_rng(0))).seconds < 600
    for infer in (bmlab.exact, partial(bmlab.exact, pairs="all")):
        with pytest.raises(ValueError, match=r"100 times at .*, and stops at 10 min.*; use pseudolikelihood\(\)"):
            maximize(blank(40), data, infer, penalty=0.01)
