"""Completion and conditional probabilities: their proven intervals and errors, names, and certain units.

test_fuzz.py holds them against sums over all states.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from test_contract import law_errors_add, machine

import bmlab
from bmlab.learn.completion import complete, conditional

MODEL = bmlab.medium().at(1.3)


def both_bounds(model):
    """Answer by mean field, with the upper bound on log Z that trees prove."""
    answer = bmlab.mean_field(model)
    return replace(answer, log_z=bmlab.Bounded(answer.log_z, 0.0, answer.log_z.lower, bmlab.trw(model).log_z.upper))


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("infer", [bmlab.mean_field, bmlab.trw, both_bounds])
def test_proven_intervals_hold(infer):
    model = bmlab.medium().at(3.0)
    query, given = {0: 1, 7: -1}, {3: 1, 4: 1}
    p = conditional(model, query, given, infer)
    assert 0 <= p.lower <= conditional(model, query, given).value <= p.upper <= 1


def test_chains_complete_with_errors():
    model, row = MODEL, np.resize([1.0, np.nan, -1.0, np.nan], 10)
    gibbs = partial(bmlab.gibbs, rng=np.random.default_rng(0), n_sweeps=500)
    done = complete(model, row, gibbs)
    assert (done.mean_stderr > 0).tolist() == np.isnan(row).tolist()
    assert (np.abs(done.mean - complete(model, row).mean) <= 5 * done.mean_stderr).all()


def without_log_z(model):
    return replace(bmlab.exact(model), log_z=bmlab.Bounded(np.nan))


def test_the_error_of_one_unit_is_half_that_of_its_mean_and_of_more_that_of_a_product():
    def drawn(model):
        return replace(without_log_z(model), mean_stderr=np.full(model.n, 0.1))

    first, second = conditional(MODEL, {0: 1}, {5: 1}, drawn), conditional(MODEL, {3: -1}, {5: 1, 0: 1}, drawn)
    both = conditional(MODEL, {0: 1, 3: -1}, {5: 1}, drawn)
    assert first.stderr == second.stderr == 0.05
    assert both.stderr == pytest.approx(0.05 * np.hypot(first, second))


@pytest.mark.parametrize("query", [{0: 1}, {6: -1, 1: 1}, {1: 1, 8: 1, 3: -1, 4: 1}], ids=len)
def test_without_log_z_units_of_a_query_come_one_after_the_other(query):
    """p(q_1, q_2, ...) = p(q_1) p(q_2 | q_1) ..., whichever units are given; one of the query may be given, too."""
    for given in ({}, {5: 1}, {7: -1, 1: 1}):
        one_by_one, law = (conditional(MODEL, query, given, infer) for infer in (without_log_z, bmlab.exact))
        assert one_by_one == pytest.approx(law, rel=1e-9) and (one_by_one.lower, one_by_one.upper) == (0, 1)


def test_probabilities_from_draws_err_as_they_say():
    """Of 20 machines, off by z standard errors of it: z^2 is 1 in the mean, to 5 errors of a mean of 20."""
    z = []
    for seed in range(20):
        model = bmlab.sherrington_kirkpatrick(6, rng=seed).at(2)
        query = {0: 1, 3: -1}
        p = conditional(model, query, {5: 1}, partial(bmlab.gibbs, rng=seed, n_sweeps=300))
        z.append((p - conditional(model, query, {5: 1})) / p.stderr)
    assert abs(np.mean(np.square(z)) - 1) < 5 * np.sqrt(2 / 20)


def told_of_probabilities(method):
    """p(query | given) of a few, from likely to rare, and their errors."""
    model = machine(7, temperature=1.4)
    queries = {0: 1}, {0: -1, 1: 1}, {0: 1, 1: 1, 2: -1}
    found = [conditional(model, query, {6: 1}, method) for query in queries]
    return [p.value for p in found], [p.stderr for p in found]


law_errors = partial(law_errors_add, told_of_probabilities)


def test_a_probability_errs_by_its_share():
    """dp = p d(log p)."""
    law_errors()


def test_a_machine_beyond_exact_is_completed_all_the_same():
    model = bmlab.sherrington_kirkpatrick(60, rng=np.random.default_rng(0))
    done = complete(model, dict.fromkeys(range(50), 1))
    assert np.allclose(done.mean[50:], bmlab.exact(model.clamp(range(50), np.ones(50))).mean)


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("infer", [bmlab.exact, bmlab.mean_field])
def test_what_is_given_is_certain_and_its_contrary_impossible(infer):
    model = MODEL
    for query, given, p in (({2: 1}, {2: 1, 3: -1}, 1), ({}, {}, 1), ({1: 1, 2: -1}, {2: 1}, 0)):
        answer = conditional(model, query, given, infer)
        assert answer == answer.lower == answer.upper == p and answer.stderr == 0
    assert conditional(model, {2: 1, 4: -1}, {2: 1}, infer) == conditional(model, {4: -1}, {2: 1}, infer)


FORMATS = [
    f"{name}_{kind}" for name in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil") for kind in ("array", "matrix")
]


@pytest.mark.parametrize("form", FORMATS)
def test_rows_of_any_sparse_format_are_rows(form):
    """A dok_array is a dict to Python, of pairs of numbers."""
    rows, model = bmlab.states(3)[[0, 5]], bmlab.toy()
    assert (bmlab.complete(model, getattr(sparse, form)(rows)).mean == rows).all()
    with pytest.raises(ValueError, match=r"query must be a dict or a pair"):
        bmlab.conditional(model, getattr(sparse, form)(rows), {})


@pytest.mark.parametrize("names", [(), ("Ada", "Bob", "Eve")])
def test_a_condition_is_written_alike_for_every_function_that_takes_one(names):
    """A dict is taken by clamp(), too; of named units also a Series."""
    model = replace(bmlab.toy(), names=names)
    units = names[:2] or (0, 1)
    conditions = [{units[0]: 1, units[1]: -1}, *([pd.Series([1, -1], list(units))] if names else [])]
    for condition in conditions:
        part, same = model.clamp(condition), model.clamp(list(units), [1, -1])
        assert (part.biases == same.biases).all() and (part.offset, part.names) == (same.offset, same.names)
        assert complete(model, condition).mean[2] == bmlab.exact(part).mean[0]
        rest = names[2] if names else 2
        p = conditional(model, {rest: 1}, condition)
        assert abs(p - (1 + bmlab.exact(part).mean[0]) / 2) < 1e-12
    for units in (0, [0, 1]):
        with pytest.raises(ValueError, match=r"^values must be -1/\+1, found none; try machine\.clamp\({0: 1}\)"):
            model.clamp(units)
