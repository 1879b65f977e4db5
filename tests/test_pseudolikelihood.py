"""pseudolikelihood: its slope, the true machine from endless data, and maxima at infinity found out."""

import warnings

import numpy as np
import pytest
from scipy.optimize import linprog

import bmlab
from bmlab import plain
from bmlab.learn.pseudolikelihood import pseudolikelihood


def off_diagonal(n):
    return ~np.eye(n, dtype=bool)


def directions(mask):
    """Each parameter in turn, w_ij and w_ji as one: (parameters, n + 1, n)."""
    n, found = len(mask), []
    for i, j in [*np.argwhere(np.triu(mask)), *((n, j) for j in range(n))]:
        one = np.zeros((n + 1, n))
        one[i, j] = 1
        found.append(one if i == n else np.vstack([one[:n] + one[:n].T, one[n:]]))
    return np.array(found)


@pytest.mark.parametrize("penalty", [0.0, 0.3])
@pytest.mark.parametrize("lattice", [False, True], ids=["all pairs", "a lattice"])
def test_at_the_maximum_the_slope_of_plain_is_that_of_the_penalty(penalty, lattice):
    """PL/2 - penalty/2 sum w^2 is climbed, to a slope of 1e-6; pairs without a coupling keep their slope."""
    true = bmlab.ising((2, 3), coupling=0.7, field=0.2, periodic=False)
    data, coupled = bmlab.sample(true, 500, rng=np.random.default_rng(1)), true.dense_weights != 0
    options = {"couplings": coupled} if lattice else {}
    found = pseudolikelihood(data, penalty=penalty, **options).model
    d_weights, d_biases = plain.pseudo_gradient(found, data)
    off = np.abs(d_weights - 2 * penalty * found.weights)
    assert np.abs(d_biases).max() < 1.1e-6 and off[coupled].max() < 1.1e-6
    assert (found.weights[~coupled] == 0).all() == lattice and (off[~coupled].max() > 1e-3) == lattice


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


def test_maxima_at_infinity_are_found_out():
    """What is refused or warned of is what linear programming finds unbounded: about two thirds of these data."""
    verdicts = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        data = bmlab.sample(bmlab.sherrington_kirkpatrick(4, rng=rng), 30, rng=rng)
        verdicts.append(says_that_it_has(data))
        assert verdicts[-1] == has_maximum(data)
    assert 8 < sum(verdicts) < 32


def majority():
    """Three units in all their states, and a fourth that goes with most of them: every pair has all combinations."""
    s = bmlab.states(3)
    return np.hstack([s, np.sign(s.sum(1, keepdims=True))])


def test_units_that_can_be_told_without_error_are_warned_of_and_the_advice_works():
    with pytest.warns(bmlab.NotConverged, match=r"maximum is at infinity; pass penalty=0\.01") as caught:
        found = pseudolikelihood(majority())
    assert not found.converged and found.message == str(caught[0].message) and caught[0].filename == __file__
    assert (pseudolikelihood(majority(), penalty=0.01).model.weights[3, :3] > 0.5).all()
    assert pseudolikelihood([[1, 1], [1, -1], [-1, 1]], penalty=0.01).converged


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        (
            [[1, 1], [1, -1]],
            {},
            r"unit 0 is constant in the data, .* infinite; leave the unit out, or pass bias_penalty=0\.001$",
        ),
        ([[1, 1], [1, -1]], {"penalty": 1.0}, "unit 0 is constant"),
        ([[1, 1], [1, -1], [-1, 1]], {}, r"0 and 1 are never -1 and -1 together .*; pass penalty=0\.01, or leave"),
        ([[1, 1, -1], [1, -1, 1], [-1, 1, 1], [-1, -1, 1]], {}, "units 0 and 2 are never -1 and -1"),
    ],
)
def test_what_has_no_maximum_is_refused_with_advice(data, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        pseudolikelihood(data, **options)


# A ridge on biases


def maximize(data, **options):
    n = data.shape[1]
    return bmlab.maximize(bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n), 1.0), data, **options)


every_learner = pytest.mark.parametrize("learn", [maximize, pseudolikelihood])


@every_learner
def test_a_rare_answer_does_not_end_a_bootstrap(learn):
    """A symptom in 3 of 300 rows is in none of exp(-3) = 5 of 100 resamples: refused, and with a ridge learnt."""
    rng = np.random.default_rng(0)
    data = np.hstack([bmlab.sample(bmlab.toy(), 300, rng=rng), -np.ones((300, 1))])
    data[:3, 3] = 1
    resampled = [data[rng.integers(300, size=300)] for _ in range(60)]
    without = [s for s in resampled if (s[:, 3] == -1).all()]
    assert without
    for s in without:
        with pytest.raises(ValueError, match=r"unit 3 is constant .* pass bias_penalty=0\.001"):
            learn(s, penalty=0.01)
        assert learn(s, penalty=0.01, bias_penalty=1e-3).converged


@every_learner
@pytest.mark.parametrize("values", [[1, 1, 1, -1], [1, 1, 1, 1]], ids=["varies", "constant"])
def test_a_ridge_on_the_bias_of_one_unit_is_where_its_mean_says(learn, values):
    """m - tanh b = bias_penalty * b for independent units, to the tolerance of 1e-6 of the slope."""
    b = learn(np.array([values]).T, bias_penalty=0.1).model.biases[0]
    assert abs(np.mean(values) - np.tanh(b) - 0.1 * b) < 1.1e-6


def test_the_ridge_is_the_slope_that_is_left():
    """At the top what is climbed is level: of L over T, and of PL, in which each weight stands twice."""
    data = bmlab.sample(bmlab.toy(), 80, rng=np.random.default_rng(2))
    found = pseudolikelihood(data, penalty=0.03, bias_penalty=0.2).model
    d_weights, d_biases = plain.pseudo_gradient(found, data)
    assert abs(d_weights - 0.06 * found.weights).max() < 1.1e-6 and abs(d_biases - 0.2 * found.biases).max() < 1.1e-6
    start, learnt = bmlab.toy().at(1.7), np.array([True, True, False])
    found = bmlab.maximize(start, data, penalty=0.03, bias_penalty=0.2, biases=learnt).model
    d_weights, d_biases = bmlab.gradient(found, bmlab.clamped(found, data), bmlab.exact(found))
    assert abs(d_weights - 0.03 * found.weights)[np.triu_indices(3, 1)].max() < 1e-6
    assert abs(d_biases - 0.2 * found.biases)[learnt].max() < 1e-6 and found.biases[2] == start.biases[2]
