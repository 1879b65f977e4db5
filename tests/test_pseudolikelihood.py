"""pseudolikelihood: its slope, the true machine from endless data, and maxima at infinity found out."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from test_contract import machine

import bmlab
from bmlab.learn import maximum_likelihood as climbing
from bmlab.learn import pseudolikelihood as module
from bmlab.learn.observations import distinct
from bmlab.learn.pseudolikelihood import pseudolikelihood


def off_diagonal(n):
    return ~np.eye(n, dtype=bool)


def stacked(model):
    """W/T, b/T as the climb has them: (n + 1, n)."""
    return np.vstack([model.weights, model.biases]) / model.temperature


def definition(s, share, penalty, w):
    """Mean of sum_i log p(s_i | the rest), as it is written, less the penalty."""
    h = s @ w[:-1] + w[-1]
    return -(share @ np.log1p(np.exp(-2 * s * h))).sum() - penalty * np.triu(w[:-1] ** 2).sum()


def directions(mask):
    """Each parameter in turn, w_ij and w_ji as one: (parameters, n + 1, n)."""
    n, found = len(mask), []
    for i, j in [*np.argwhere(np.triu(mask)), *((n, j) for j in range(n))]:
        one = np.zeros((n + 1, n))
        one[i, j] = 1
        found.append(one if i == n else np.vstack([one[:n] + one[:n].T, one[n:]]))
    return np.array(found)


def law_slope(h=1e-5):
    """The value is its definition, and the slope its central difference, off by h^2 and by rounding over h."""
    s, share = bmlab.states(5), np.random.default_rng(1).dirichlet(np.ones(32))
    mask = off_diagonal(5)
    mask[1, 3] = mask[3, 1] = False
    w = stacked(machine(5, 2)) * np.vstack([mask, np.ones(5)])
    value, slope = module.value_and_slope(s, share, 0.3, mask, w)
    assert abs(value - definition(s, share, 0.3, w)) < 1e-14 * 100
    ways = directions(mask)
    climbed = [definition(s, share, 0.3, w + h * e) - definition(s, share, 0.3, w - h * e) for e in ways]
    there = [slope[tuple(np.argwhere(e)[0])] for e in ways]
    assert np.abs(np.array(climbed) / (2 * h) - there).max() < 1e-8
    assert (slope[:5] == slope[:5].T).all() and not slope[:5][~mask].any()


def law_coordinates():
    """The slope by coordinates is the transpose of the way from coordinates to parameters."""
    rng, mask = np.random.default_rng(2), off_diagonal(4)
    s, share = bmlab.states(4), rng.dirichlet(np.ones(16))
    ahead, back, start = module._coordinates(share @ s, (s.T * share) @ s, 0.1, mask)
    y, slope = rng.normal(size=start.shape), rng.normal(size=(5, 4))
    y[:16], slope[:4] = bmlab.symmetric(y[:16].reshape(4, 4)).ravel(), bmlab.symmetric(slope[:4])
    both = (slope * ahead(y))[:4].sum() / 2 + slope[4] @ ahead(y)[4]  # w_ij and w_ji are one parameter
    assert abs(both - back(slope) @ y) < 1e-14 * 100


def least_curvature(s, share, w, h=1e-4):
    """The smallest eigenvalue of minus the second derivative at w, by central differences of the slope."""
    mask = off_diagonal(s.shape[1])
    ways = directions(mask)

    def slope(w):
        return [module.value_and_slope(s, share, 0.0, mask, w)[1][tuple(np.argwhere(e)[0])] for e in ways]

    curvature = np.array([np.subtract(slope(w - h * e), slope(w + h * e)) for e in ways]) / (2 * h)
    return np.linalg.eigvalsh((curvature + curvature.T) / 2)[0]


def law_truth():
    """From endless data it finds the machine itself, as far off as a slope of 1e-6 allows by the least curvature."""
    for model in (machine(5, 1, 0.5), machine(5, 2, 1.0, 1.7), bmlab.toy()):
        s, share, true = bmlab.states(model.n), bmlab.probabilities(model), stacked(model)
        found = stacked(module.best_predicting(s, share, 0.0, off_diagonal(model.n)).model)
        off = np.sqrt(model.n * (model.n + 1) / 2) * module.TOLERANCE / least_curvature(s, share, true)
        assert np.abs(found - true).max() < 2 * off < 0.01


def law_pair(penalty=0.0):
    """Two units without biases: the correlation c, and c = tanh w + penalty * w."""
    data = np.repeat(bmlab.states(2), [7, 3, 3, 7], axis=0)
    model = pseudolikelihood(data, penalty=penalty).model
    w = model.weights[0, 1]
    assert abs(np.tanh(w) + penalty * w - 0.4) < 1e-6 and np.abs(model.biases).max() < 1e-6


def law_counts():
    """Each pattern once, with its share; over bytes, and however the data lie in memory."""
    data = np.random.default_rng(0).choice([-1.0, 1.0], size=(5, 19))[[0, 0, 1, 2, 3, 3, 3, 4]]
    for layout in (data, np.asfortranarray(data)):
        s, share = distinct(layout)
        assert s.shape == (5, 19) and sorted(8 * share) == [1, 1, 1, 2, 3]
        assert np.allclose(share @ s, data.mean(0)) and np.allclose((s.T * share) @ s, data.T @ data / 8)


def test_the_slope_is_the_derivative_of_the_definition():
    law_slope()


def test_the_coordinates_are_linear_and_their_slope_is_the_transpose():
    law_coordinates()


def test_endless_data_give_the_true_machine():
    law_truth()


@pytest.mark.parametrize("penalty", [0.0, 0.1, 2.0])
def test_a_pair_in_closed_form(penalty):
    law_pair(penalty)


def test_a_penalty_shrinks():
    data = bmlab.sample(machine(6), 200, np.random.default_rng(0))
    size = [np.linalg.norm(pseudolikelihood(data, penalty=p).model.weights) for p in (0.01, 0.1, 1.0, 10.0, 1000.0)]
    assert (np.diff(size) < 0).all() and size[-1] < 0.01


def test_the_error_falls_as_one_over_the_root_of_the_data():
    """16 times the data, a quarter of the error: 8 runs of 28 weights are sure to 1/sqrt(2 * 8 * 28), 5 %."""
    model, error = bmlab.sherrington_kirkpatrick(8, np.random.default_rng(5)), []
    for rows in (1000, 16000):
        runs = [pseudolikelihood(bmlab.sample(model, rows, np.random.default_rng(seed))).model for seed in range(8)]
        error.append(np.sqrt(np.mean([np.sum((run.weights - model.weights) ** 2) for run in runs])))
    assert abs(error[0] / error[1] / 4 - 1) < 4 * 0.05 * np.sqrt(2)


def test_a_mask_keeps_weights_at_zero_and_nothing_else_moves_at_the_maximum():
    lattice = bmlab.ising((2, 3), 0.7, 0.2, periodic=False)
    coupled = lattice.weights.toarray() != 0
    data = bmlab.sample(lattice, 500, np.random.default_rng(1))
    found = pseudolikelihood(data, couplings=lattice.weights).model
    assert not found.weights[~coupled].any() and found.weights[coupled].all()
    slope = module.value_and_slope(data, np.full(500, 1 / 500), 0.0, off_diagonal(6), stacked(found))[1]
    assert np.abs(slope[:6][coupled]).max() < 1.1e-6 and np.abs(slope[6]).max() < 1.1e-6
    assert np.abs(slope[:6][~coupled]).max() > 1e-3


def test_without_couplings_units_are_alone():
    data = bmlab.sample(machine(4), 100, np.random.default_rng(3))
    model = pseudolikelihood(data, couplings=np.zeros((4, 4))).model
    assert not model.weights.any() and np.abs(model.biases - np.arctanh(data.mean(0))).max() < 1e-12


def test_flipped_and_permuted_data_give_the_flipped_and_permuted_machine():
    data = bmlab.sample(bmlab.sherrington_kirkpatrick(6, np.random.default_rng(3)), 300, np.random.default_rng(4))
    flip, order = np.array([1, -1, -1, 1, 1, -1]), [3, 1, 0, 5, 4, 2]
    one, other = pseudolikelihood(data).model, pseudolikelihood((data * flip)[:, order]).model
    assert np.abs(other.weights - (one.weights * np.outer(flip, flip))[np.ix_(order, order)]).max() < 1e-4
    assert np.abs(other.biases - (one.biases * flip)[order]).max() < 1e-4


def test_patterns_that_repeat_are_counted():
    law_counts()


def test_many_data_are_taken_in_blocks(monkeypatch):
    data = np.random.default_rng(1).choice([-1.0, 1.0], size=(600, 3))
    share, w = np.full(600, 1 / 600), stacked(machine(3))
    once = module.value_and_slope(data, share, 0.1, off_diagonal(3), w)
    monkeypatch.setattr(module, "BLOCK", 1)
    blocks = module.value_and_slope(data, share, 0.1, off_diagonal(3), w)
    assert abs(once[0] - blocks[0]) < 1e-13 and np.abs(once[1] - blocks[1]).max() < 1e-14


def has_maximum(s):
    """Whether no change of the machine raises some log p(s_i | the rest) and lowers none, by linear programming."""
    ways = directions(off_diagonal(s.shape[1]))
    gains = np.array([(s * (s @ e[:-1] + e[-1])).ravel() for e in ways]).T
    return -linprog(-gains.sum(0), A_ub=-gains, b_ub=np.zeros(len(gains)), bounds=(-1, 1)).fun < 1e-6


def says_that_it_has(s):
    """Neither refusal nor warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", bmlab.NotConverged)
        try:
            return bool(pseudolikelihood(s))
        except (ValueError, bmlab.NotConverged):
            return False


def law_infinity():
    """What is refused or warned of is what linear programming finds unbounded: about two thirds of these data."""
    verdicts = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        data = bmlab.sample(bmlab.sherrington_kirkpatrick(4, rng), 30, rng)
        verdicts.append(says_that_it_has(data))
        assert verdicts[-1] == has_maximum(data)
    assert 8 < sum(verdicts) < 32


def test_maxima_at_infinity_are_found_out():
    law_infinity()


def majority():
    """Three units in all their states, and a fourth that goes with most of them: every pair has all combinations."""
    s = bmlab.states(3)
    return np.hstack([s, np.sign(s.sum(1, keepdims=True))])


def test_units_that_can_be_told_without_error_are_warned_of_and_the_advice_works():
    with pytest.warns(bmlab.NotConverged, match=r"maximum is at infinity; pass penalty=0\.01") as told:
        found = pseudolikelihood(majority())
    assert not found.converged and found.message == str(told[0].message) and told[0].filename == __file__
    assert (pseudolikelihood(majority(), penalty=0.01).model.weights[3, :3] > 0.5).all()


def test_too_few_steps_are_reported(monkeypatch):
    monkeypatch.setattr(climbing, "STEPS", 2)
    with pytest.warns(bmlab.NotConverged, match=r"ended at a slope of .*; pass penalty=0\.01"):
        pseudolikelihood(majority(), penalty=0.001)


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        ([[1, 1], [1, -1]], {}, r"unit 0 is constant in the data .* infinite; leave the unit out$"),
        ([[1, 1], [1, -1]], {"penalty": 1.0}, "unit 0 is constant"),
        (
            [[1, 1], [1, -1], [-1, 1]],
            {},
            r"units 0 and 1 are never -1 and -1 together .*; pass penalty=0\.01, or leave",
        ),
        ([[1, 1, -1], [1, -1, 1], [-1, 1, 1], [-1, -1, 1]], {}, "units 0 and 2 are never -1 and -1"),
        ([[1, 0], [1, 1]], {}, r"data must be -1/\+1, found \{0, 1\}; use bmlab\.spins\(data\)"),
        (np.zeros((0, 2)), {}, r"at least one row .* found shape \(0, 2\)"),
        ([[1, -1], [-1, 1]], {"penalty": -1}, "penalty must be 0 or more and finite, found -1; try penalty=0.01"),
        (
            [[1, -1], [-1, 1]],
            {"couplings": np.ones((3, 3))},
            r"a symmetric \(2, 2\) mask, found an array of shape \(3, 3\)",
        ),
    ],
)
def test_what_has_no_maximum_is_refused_with_advice(data, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        pseudolikelihood(data, **options)


def test_the_advice_works():
    lacking = np.array([[1.0, 1], [1, -1], [-1, 1]])
    assert pseudolikelihood(lacking, penalty=0.01).model.weights[0, 1] < -0.5
    assert not pseudolikelihood(lacking, couplings=np.zeros((2, 2))).model.weights.any()
    assert pseudolikelihood([[1.0], [1], [-1]]).model.biases == pytest.approx(np.arctanh(1 / 3))


def test_a_weight_is_so_many_rows_and_columns_are_names():
    data = bmlab.sample(machine(4), 100, np.random.default_rng(3))
    some, often = np.unique(data, axis=0, return_counts=True)
    frame = pd.DataFrame(np.vstack([some, -some[:1]]), columns=list("abcd"))
    weighted = pseudolikelihood(frame, penalty=0.01, sample_weight=np.append(0.1 * often, 0)).model
    assert np.allclose(weighted.weights, pseudolikelihood(data, penalty=0.01).model.weights, atol=1e-12)
    assert weighted.names == ("a", "b", "c", "d")
