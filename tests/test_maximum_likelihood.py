"""The top of the likelihood: the moments agree, with penalties, masks, hidden units and holes."""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.optimize import linprog
from test_ascent import blank
from test_contract import machine
from test_likelihood import missing

import bmlab
from bmlab.estimate import warn_unless_converged
from bmlab.learn import maximum_likelihood
from bmlab.learn.maximum_likelihood import _break_hidden_symmetry, _rises_beside, maximize
from bmlab.learn.quasi_newton import largest_curvature, newton

UNITS = 5
DATA = np.vstack([bmlab.states(UNITS), bmlab.sample(machine(UNITS), 200, rng=np.random.default_rng(0))])  # a top exists
GLASS = bmlab.sherrington_kirkpatrick(14, rng=np.random.default_rng(0))
LARGE = bmlab.sample(
    bmlab.BoltzmannMachine(GLASS.weights, np.linspace(-0.5, 0.5, 14)), 4000, rng=np.random.default_rng(1)
)


def slope_length(step, data, penalty=0.0, couplings=None):
    """The Euclidean length of the slope, from the public pieces."""
    d_weights, d_biases = bmlab.gradient(step.model, bmlab.clamped(step.model, data), bmlab.exact(step.model))
    d = np.where(True if couplings is None else couplings, d_weights - penalty * step.model.weights, 0)
    return np.hypot(np.linalg.norm(d[np.triu_indices(step.model.n, 1)]), np.linalg.norm(d_biases))


def test_it_ends_at_the_top():
    """At its end the slope is as short as stated, and within tolerance, with a mask, a penalty and a temperature."""
    mask = bmlab.ising(UNITS).weights.toarray() != 0
    for data, model in ((DATA, machine(UNITS, temperature=1.7)), (LARGE, blank(14, 0.6))):
        finest = 1e-14 * model.n * (model.n + 1) / 2 / model.temperature  # 1e-14 a moment, over T
        for penalty in (0.0, 0.3):
            for couplings in (None, mask):
                if couplings is None or model.n == UNITS:
                    for tolerance in (1e-7, finest):
                        found = maximize(model, data, penalty=penalty, couplings=couplings, tolerance=tolerance)
                        (step,), length = found.steps, slope_length(found.steps[0], data, penalty, couplings)
                        assert found.converged and step.gradient_norm <= tolerance
                        assert abs(length - step.gradient_norm) < 1e-12
                    assert couplings is None or not step.model.weights[~couplings].any()


def test_what_doubles_cannot_reach_is_not_said_to_be_reached():
    with pytest.warns(bmlab.NotConverged, match="ended at a slope of .* where 1e-20 was asked for; pass"):
        found = maximize(blank(UNITS), DATA, tolerance=1e-20)
    assert not found.converged and found.steps[-1].gradient_norm < 1e-13


def test_the_phases_of_a_climb_warn_of_nothing_and_the_last_one_is_heard():
    def doubtful(model, *, start=None):
        return warn_unless_converged(replace(bmlab.exact(model), converged=False, message="it is in doubt."))

    with pytest.warns(bmlab.NotConverged) as caught:
        found = maximize(blank(UNITS), DATA, doubtful)
    assert not found.converged and ", but it is in doubt; its moments are within" in found.message
    assert [str(one.message) for one in caught] == [found.message]


def lesson(seed, hidden):
    """A random start, rows of other machines, and options: masks, penalties and temperatures."""
    rng = np.random.default_rng(seed)
    visible, alike = int(rng.integers(3, 5)), seed % 2
    n, temperature = visible + hidden, [1.0, 0.5, 30.0][seed % 3]
    among_hidden = np.add.outer(np.arange(n) >= visible, np.arange(n) >= visible) == 2
    mask = ~np.eye(n, dtype=bool) & ~(among_hidden & (seed % 4 > 1))
    weights = 0.1 * mask if alike else bmlab.symmetric(rng.normal(scale=0.5, size=(n, n))) * mask
    data = bmlab.sample(machine(visible + 1, seed), 300, rng=rng)[:, :visible]
    penalty = 0.01 if hidden else [0.0, 0.1][seed % 2]  # without one hidden units may have tops at infinity
    model = bmlab.BoltzmannMachine(temperature * weights, temperature * np.full(n, 0.1), temperature)
    return model, np.vstack([data, bmlab.states(visible)]), {"couplings": mask, "penalty": penalty / temperature**2}


def objective(found, data, options, infer=bmlab.exact):
    """The climbed function of all weights and biases over T at the found machine, by the public pieces."""
    model, t = found.model, found.model.temperature
    places = np.nonzero(np.triu(options["couplings"]))

    def value(theta):
        weights = np.zeros((model.n, model.n))
        weights[places], biases = np.split(t * theta, [len(places[0])])
        here = bmlab.BoltzmannMachine(weights + weights.T, biases, t)
        clamped, free = bmlab.clamped(here, data, infer), infer(here)
        slopes = bmlab.gradient(here, clamped, free)
        slope = np.append((slopes[0] - options["penalty"] * here.weights)[places], slopes[1])
        return bmlab.log_likelihood(clamped, free) - options["penalty"] / 2 * (weights**2).sum(), t * slope

    return value, np.append(model.weights[places], model.biases) / t


@pytest.mark.parametrize("hidden", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-11])
def test_what_says_converged_is_a_top(hidden, tolerance):
    """The slope is within the tolerance, and no second derivative leads upwards, wherever the climb began.

    Differences of slopes over 1e-4 are off by about 1e-4 times third derivatives of order one.
    """
    for seed in range(4):
        model, data, options = lesson(seed, hidden)
        found = maximize(model, data, tolerance=tolerance / model.temperature, **options)
        value, top = objective(found, data, options)
        assert found.converged and np.linalg.norm(value(top)[1]) <= tolerance
        sides = [[value(top + sign * e)[1] for e in 1e-4 * np.eye(len(top))] for sign in (1, -1)]
        assert np.linalg.eigvalsh((np.array(sides[0]) - sides[1]) / 2e-4).max() < 1e-4


@pytest.mark.parametrize("infer", [bmlab.exact, bmlab.bethe, bmlab.tap], ids=["exact", "bethe", "tap"])
@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_what_says_converged_has_nothing_higher_near_by(infer):
    """A random nudge of sqrt(eps) raises L by no more than the slope allows, whatever slope the free phase gives."""
    for seed, penalty in ((0, 2.0), (1, 0.5)):
        rng, options = np.random.default_rng(seed), {"couplings": ~np.eye(3, dtype=bool), "penalty": penalty}
        data = np.vstack(
            [bmlab.sample(bmlab.sherrington_kirkpatrick(3, rng=rng, scale=0.7), 200, rng=rng), bmlab.states(3)]
        )
        found = maximize(blank(3), data, infer, **options)
        value, top = objective(found, data, options, infer)
        nudges = np.random.default_rng(seed).normal(size=(20, len(top))) * np.sqrt(np.finfo(float).eps)
        risen = max(value(top + nudge)[0] for nudge in nudges) - value(top)[0]
        allowed = 1e-6 * np.linalg.norm(nudges, axis=1).max() + 1e-14  # and roundings of log Z
        assert found.converged == (risen <= allowed and found.steps[-1].gradient_norm <= 1e-6)
        assert found.converged or infer is not bmlab.exact


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


def test_a_hidden_unit_without_weights_gets_its_own_and_no_other_changes():
    pairs = np.triu_indices(4, 1)
    begun = np.where(pairs[1] < 3, [0.4, -0.3, 0, 0.2, 0, 0], 0.0)
    found = _break_hidden_symmetry(begun.copy(), pairs, [2, 3])
    assert (found[pairs[1] < 3] == begun[pairs[1] < 3]).all() and found[pairs[1] == 3].all()


def test_newtons_steps_end_where_doubles_see_no_curvature():
    """As on a slope so near to infinity that a step of its own length changes no digit of it."""
    slope, begin = np.array([3.0, -4.0]), np.array([0.3, 0.1])
    end, length, _ = newton(lambda theta: (slope @ theta, slope, np.linalg.norm(slope)), begin, 1e-9)
    assert (end == begin).all() and length == 5


def has_maximum(data):
    """Whether no direction of the parameters raises L without end: by linear programming, over all states."""
    i, j = np.triu_indices(data.shape[1], 1)
    lead, states = (np.hstack([s, s[:, i] * s[:, j]]) for s in (data, bmlab.states(data.shape[1])))
    gains = lead.mean(0) - states
    return -linprog(-gains.sum(0), A_ub=-gains, b_ub=np.zeros(len(gains)), bounds=(-1, 1)).fun < 1e-6


@pytest.mark.slow
def test_a_maximum_is_said_to_be_at_infinity_where_it_is():
    """At any temperature and tolerance none that is finite; and all that are not, to a tolerance that can tell."""
    finite = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 6))
        source = bmlab.sherrington_kirkpatrick(n, rng=rng, scale=rng.uniform(0.3, 1.5))
        data = bmlab.sample(source, int(rng.integers(20, 100)), rng=rng)
        finite += has_maximum(data)
        for temperature, tolerance in ((1, 1e-6), (1, 0.01), (1e4, 1e-6), (1e4, 1e-11), (0.1, 1e-5)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    maximize(blank(n, temperature), data, tolerance=tolerance)
                except ValueError:  # a pair that lacks a combination
                    continue
            if has_maximum(data):
                assert not caught, (seed, temperature, tolerance)
            elif temperature * tolerance < 1e-4:
                assert "at infinity" in str(caught[0].message), (seed, temperature, tolerance)
    assert 4 < finite < 10


def test_a_free_phase_without_log_z_is_refused():
    infer = partial(bmlab.gibbs, rng=np.random.default_rng(0), n_sweeps=10)
    with pytest.raises(ValueError, match=r"climbs by log Z, which gibbs does not give; use fit\(\)"):
        maximize(blank(UNITS), DATA, infer)


def test_what_rises_beside_a_place_is_seen_on_either_side():
    """By more than the stated slope allows: a line rises if that is 0, and does not if it is right."""
    rng, here = np.random.default_rng(1), np.zeros(5)
    for height, direction in zip((-5.0, 0.0, 5.0), rng.normal(size=(3, 5)), strict=True):
        for slope in (direction, -direction):

            def line(theta, height=height, slope=slope):
                return (height + theta @ slope,)

            assert _rises_beside(line, here, height, here, 1e-9)
            assert not _rises_beside(line, here, height, slope, 1e-9)


XOR = np.array([[1, 1, -1], [1, -1, 1], [-1, 1, 1], [-1, -1, -1]])


@pytest.mark.parametrize("hidden", [1, 2, 3])
def test_hidden_units_without_weights_begin_off_the_saddle(hidden):
    """There no slope ever leaves 0: three bits with an even parity, for which pairs do not suffice."""
    found = maximize(blank(3 + hidden), XOR, penalty=1e-3)
    assert found.steps[-1].log_likelihood > -1.6  # -2.08 on the saddle, -1.39 the law itself


@pytest.mark.parametrize("temperature", [1.0, 0.5, 30.0])
def test_nothing_is_said_to_be_higher_than_the_highest(temperature):
    """L of no machine is above minus the entropy of the rows; with two hidden units there are many that reach it."""
    reached = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        data = np.vstack([bmlab.states(3), bmlab.sample(machine(3, seed), 40, rng=rng)])
        share = np.unique(data, axis=0, return_counts=True)[1] / len(data)
        start = bmlab.sherrington_kirkpatrick(5, rng=rng, scale=0.5 * temperature)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bmlab.NotConverged)
            found = maximize(replace(start, temperature=temperature), data, tolerance=1e-6 / temperature)
        if share @ np.log(share) - found.steps[-1].log_likelihood < 1e-10:
            reached += 1
            assert "higher" not in found.message
    assert reached >= 6


TWO_PAIRS = np.repeat(bmlab.states(2), 2, axis=1)  # of units that agree; one more row of each state keeps L finite
TWO_PAIRS = np.vstack([np.tile(TWO_PAIRS, (10, 1)), bmlab.states(4)])
ALIKE = bmlab.restricted(np.full((4, 2), 0.1), np.zeros(4), np.zeros(2))  # at the top of such machines L has a saddle


def test_the_curvature_of_a_saddle_is_in_closed_form():
    """If the weights of one hidden unit are 0, d2L/dw_i dw_j is <s_i s_j> of data minus machine: here 40/56."""
    saddle = bmlab.restricted(np.zeros((4, 1)), np.zeros(4), [0])
    options = {"couplings": saddle.couplings, "penalty": 0.0}
    value, theta = objective(bmlab.Fit(saddle), TWO_PAIRS, options)
    height, direction = largest_curvature(value, theta)
    assert height == pytest.approx(40 / 56, abs=1e-6)
    assert value(theta + 0.1 * direction)[0] > value(theta)[0] < value(theta - 0.1 * direction)[0]


def test_a_saddle_is_left_and_one_that_is_not_is_said(monkeypatch):
    left = maximize(ALIKE, TWO_PAIRS)
    monkeypatch.setattr(maximum_likelihood, "MAX_SADDLES", 1)
    with pytest.warns(bmlab.NotConverged, match="but L is higher beside it; begin elsewhere"):
        found = maximize(ALIKE, TWO_PAIRS)
    assert left.converged and not found.converged
    assert left.steps[-1].log_likelihood > found.steps[-1].log_likelihood + 0.1


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
    assert bmlab.exact_plan(bmlab.sherrington_kirkpatrick(40, rng=np.random.default_rng(0))).seconds < 600
    for infer in (bmlab.exact, partial(bmlab.exact, pairs="all")):
        with pytest.raises(ValueError, match=r"100 times at .*, and stops at 10 min.*; use pseudolikelihood\(\)"):
            maximize(blank(40), data, infer, penalty=0.01)
