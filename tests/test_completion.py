"""Completion and conditional probabilities against plain sums over all states."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import bmlab
from bmlab.learn.completion import complete, conditional

NAN = np.nan
MACHINES = {
    "dense": bmlab.medium().at(1.3),
    "sparse": bmlab.ising((2, 4), field=0.2, periodic=False).at(0.7),
    "a part": bmlab.medium().clamp([2], [1]).at(2.5),
}
machines = pytest.mark.parametrize("model", MACHINES.values(), ids=MACHINES)


def patterns(n):
    """Known rows: nothing, everything, each unit with chance 1/2, and the first of these once more."""
    rng = np.random.default_rng(n)
    some = np.where(rng.random((4, n)) < 0.5, NAN, rng.choice([-1.0, 1.0], (4, n)))
    return np.vstack([np.full(n, NAN), np.ones(n), some, some[:1]])


def chances(model, row):
    """Return all states (2^n, n), their probabilities, and which of them agree with the known values of a row."""
    s = bmlab.states(model.n)
    logs = -model.energy(s) / model.temperature
    return s, np.exp(logs - np.logaddexp.reduce(logs)), ((s == row) | np.isnan(row)).all(axis=1)


def both_bounds(model):
    """Answer by mean field, with the upper bound on log Z that trees prove."""
    answer = bmlab.mean_field(model)
    return replace(answer, log_z=bmlab.Bounded(answer.log_z, 0.0, answer.log_z.lower, bmlab.trw(model).log_z.upper))


# What is missing


@machines
def test_means_and_log_prob_are_those_of_the_states_that_agree_with_what_is_known(model):
    known = patterns(model.n)
    done = complete(model, known)
    for row, mean, log_p in zip(known, done.mean, bmlab.log_prob(model, known), strict=True):
        s, p, agree = chances(model, row)
        assert np.allclose(mean, p[agree] @ s[agree] / p[agree].sum(), atol=1e-12)
        assert abs(log_p - np.log(p[agree].sum())) < 1e-12
    assert (done.mean == known)[~np.isnan(known)].all()


def test_one_row_answers_in_its_own_shape():
    model, row = MACHINES["dense"], patterns(10)[2]
    one, many = complete(model, row), complete(model, row[None])
    assert one.mean.shape == one.mean_stderr.shape == (10,)
    assert (one.mean == many.mean[0]).all()
    told = {unit: value for unit, value in enumerate(row) if not np.isnan(value)}
    assert (complete(model, told).mean == one.mean).all()


def test_each_distinct_row_is_solved_once():
    seen = []
    known = np.repeat(patterns(10), 3, axis=0)
    done = complete(MACHINES["dense"], known, lambda model: seen.append(model.n) or bmlab.exact(model))
    assert len(seen) == 5 and done.answers[6] is done.answers[-1]  # four with some, one with nothing known


# Other methods


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("infer", [bmlab.mean_field, bmlab.trw, both_bounds])
def test_proven_intervals_hold(infer):
    model = bmlab.medium().at(3.0)
    query, given = {0: 1, 7: -1}, {3: 1, 4: 1}
    p = conditional(model, query, given, infer)
    assert 0 <= p.lower <= conditional(model, query, given).value <= p.upper <= 1


def test_chains_know_means_with_errors_and_no_probability():
    model, row = MACHINES["dense"], patterns(10)[2]
    gibbs = partial(bmlab.gibbs, rng=np.random.default_rng(0), n_sweeps=500)
    done = complete(model, row, gibbs)
    assert (done.mean_stderr > 0).tolist() == np.isnan(row).tolist()
    assert (np.abs(done.mean - complete(model, row).mean) <= 5 * done.mean_stderr).all()
    assert str(conditional(model, {0: 1}, {1: 1}, gibbs)) == "nan in [0.0000, 1.0000]"


def test_a_machine_beyond_exact_is_completed_all_the_same():
    model = bmlab.sherrington_kirkpatrick(60, np.random.default_rng(0))
    done = complete(model, dict.fromkeys(range(50), 1))
    assert np.allclose(done.mean[50:], bmlab.exact(model.clamp(range(50), np.ones(50))).mean)


# Conditional probabilities


@machines
def test_conditional_probabilities_obey_their_rules(model):
    """Bayes' rule by plain sums; the chain rule; certainty in the sum."""
    a, b, c = {0: 1, 3: -1}, {4: -1, 5: 1}, {1: -1}
    s, p, _ = chances(model, np.full(model.n, NAN))
    held = s[:, 1] == -1
    right = p[held & (s[:, 0] == 1) & (s[:, 3] == -1)].sum() / p[held].sum()
    assert abs(conditional(model, a, c).value - right) < 1e-12
    together = conditional(model, a | b, c).value
    assert abs(together - conditional(model, a, b | c).value * conditional(model, b, c).value) < 1e-12
    total = sum(conditional(model, ([0, 3, 5], values), c).value for values in bmlab.states(3))
    assert abs(total - 1) < 1e-12


@pytest.mark.parametrize("infer", [bmlab.exact, bmlab.mean_field])
def test_what_is_given_is_certain_and_its_contrary_impossible(infer):
    model = MACHINES["dense"]
    for query, given, p in (({2: 1}, {2: 1, 3: -1}, 1), ({}, {}, 1), ({1: 1, 2: -1}, {2: 1}, 0)):
        answer = conditional(model, query, given, infer)
        assert answer == answer.lower == answer.upper == p and answer.stderr == 0
    assert conditional(model, {2: 1, 4: -1}, {2: 1}, infer) == conditional(model, {4: -1}, {2: 1}, infer)


def test_units_may_be_told_by_name():
    model = replace(MACHINES["dense"], names=("hair", "feathers", "eggs", "milk", *"abcdef"))
    p = conditional(model, {2: 1, 5: -1}, {3: 1})
    assert (
        p
        == conditional(model, {"eggs": 1, "b": -1}, {"milk": 1})
        == conditional(model, {"eggs": 1, 5: -1}, ("milk", 1))
    )
    assert (complete(model, {"eggs": 1}).mean == complete(model, {2: 1}).mean).all()
    with pytest.raises(ValueError, match=r"'egg' is no unit; did you mean 'eggs'\?"):
        conditional(model, {"egg": 1}, {})
    with pytest.raises(ValueError, match=r"units must not repeat, found \[2, 2\]"):
        complete(model, {"eggs": 1, 2: 1})


def test_units_and_values_may_be_written_in_several_ways():
    model = MACHINES["dense"]
    p = conditional(model, {9: 1}, {0: -1})
    assert p == conditional(model, (9, 1), ([0], [-1])) == conditional(model, {-1: 1}, (np.arange(10) == 0, -1))
    assert str(p) == f"{p.value:.4g} (exact)"
    assert np.isclose(p.value, (1 + complete(model, {0: -1}).mean[9]) / 2, atol=1e-12)
