"""Estimates: covariances, errors, and how they are printed."""

import pickle
import warnings
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import partial
from inspect import signature
from threading import Barrier, Thread

import numpy as np
import pytest
from fuzz_cases import CALLS, public
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import bmlab
from bmlab.estimate import check_possible, no_convergence_warnings, warn_unless_converged


@pytest.mark.parametrize(
    ("log_z", "text"),
    [
        (bmlab.Bounded(2.0, 0.0, 2.0, 2.0), "2.0000 (exact)"),
        (bmlab.Bounded(2.0, 0.125), "2.0000 ± 0.12"),
        (bmlab.Bounded(2.0, lower=1.5), "2.0000 (proven: at least 1.5000)"),
        (bmlab.Bounded(2.0, upper=2.5), "2.0000 (proven: at most 2.5000)"),
        (bmlab.Bounded(2.0, 0.5, 1.5, 2.5), "2.0000 ± 0.5 in [1.5000, 2.5000]"),
        (bmlab.Bounded(np.nan), "unknown"),
    ],
)
def test_log_z_says_how_sure_it_is(log_z, text):
    assert str(log_z) == text


def test_log_z_is_a_number_with_its_proof_beside_it():
    log_z = bmlab.Bounded(2.0, 0.5, 1.5, 2.5)
    assert np.exp(log_z) == np.exp(2.0) and np.array([log_z, log_z]).shape == (2,) and f"{log_z:.1f}" == "2.0"
    assert (log_z.value, log_z.stderr, log_z.lower, log_z.upper) == (2.0, 0.5, 1.5, 2.5)
    for copy in (pickle.loads(pickle.dumps(log_z)), deepcopy(log_z)):
        assert vars(copy) == vars(log_z) and copy == log_z and str(copy) == str(log_z)


@given(*[st.floats(allow_nan=True)] * 3)
@settings(derandomize=True, database=None)
def test_no_value_lies_outside_of_its_bounds(value, lower, upper):
    """To rounding, half of the digits of a double."""
    slack = 2.0**-26 * max(1.0, *(abs(x) for x in (value, lower, upper) if np.isfinite(x)), 0.0)
    possible = not (value < lower - slack or value > upper + slack or lower > upper + slack)
    if possible:
        made = bmlab.Bounded(value, 0.0, lower, upper)
        assert np.array_equal([made.value, made.lower, made.upper], [value, lower, upper], equal_nan=True)
    else:
        with pytest.raises(ValueError, match=r"proven bounds.*; "):
            bmlab.Bounded(value, 0.0, lower, upper)


@pytest.mark.parametrize("model", [bmlab.ising((4, 4), coupling=0.3, field=0.3), bmlab.medium()])
def test_what_is_not_known_of_a_pair_is_nan(model):
    """Unknown correlations were taken for 0: the covariance of units 0 and 10 of the lattice was -0.673."""
    answer = bmlab.exact(model)
    truth = bmlab.exact(bmlab.BoltzmannMachine(model.dense_weights, model.biases))
    defined = ~np.isnan(answer.covariance)
    assert defined.sum() == (model.n + model.weights.nnz if model.is_sparse else model.n**2)
    assert np.abs((answer.covariance - truth.covariance)[defined]).max() < 1e-12
    spread = np.sqrt(np.diag(truth.covariance))
    assert np.abs((answer.pearson - truth.covariance / np.outer(spread, spread))[defined]).max() < 1e-12


def test_a_warning_is_the_message_and_points_to_the_caller():
    answer = bmlab.Estimate(np.zeros(1), np.eye(1), converged=False, message="it stopped early; give it time.")

    def method():
        return warn_unless_converged(answer)

    with pytest.warns(bmlab.NotConverged, match="it stopped early; give it time.") as caught:
        assert method() is answer
    assert caught[0].filename == __file__


def test_what_is_quiet_in_two_threads_at_once_warns_afterwards():
    """Two threads that are quiet in turn, the first in being the first out, leave the warnings as they found them.

    warnings.catch_warnings() would not: the second restores what the first had changed, for the whole process.
    """
    doubtful, turn = bmlab.Estimate(np.zeros(1), np.eye(1), converged=False, message="try more"), Barrier(2)

    def first():
        with no_convergence_warnings():
            turn.wait()
            turn.wait()
        turn.wait()

    def second():
        turn.wait()
        with no_convergence_warnings():
            turn.wait()
            turn.wait()
            warn_unless_converged(doubtful)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        threads = [Thread(target=work) for work in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not seen
        assert warn_unless_converged(doubtful) is doubtful
        assert [str(one.message) for one in seen] == ["try more"]


DOORS = {
    f"{name}, {argument}": (function, CALLS[name], argument)
    for name, function in public().items()
    for argument in ("infer", "clamped_phase")
    if argument in signature(function).parameters
}
OTHERS = {
    "one fixed machine": lambda model: bmlab.toy() if model.n != 3 else bmlab.medium(),
    "a machine of this size": lambda model: replace(model, biases=model.biases + 1.0),
    "these weights, hotter": lambda model: model.at(2 * model.temperature),
    "another offset": lambda model: replace(model, offset=model.offset + 1.0),
}


def asked(door, method):
    """The answer of a public function with this method for its argument; of a generator the first step."""
    function, call, argument = DOORS[door]
    phase = call["data"] if argument == "clamped_phase" else None

    def answered(model, *rows, start=None):
        return method(model) if phase is None else bmlab.clamped(method(model).model, phase)

    answer = function(**call | {argument: answered})
    return next(answer) if isinstance(answer, Iterator) else answer


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("door", DOORS)
def test_a_method_that_answers_about_another_machine_is_refused(door, other):
    """The answer of a closure over a fixed machine was taken for that of the machine asked about, "1.0000 (exact)"."""
    if "clamped_phase" in door and other == "one fixed machine":
        pytest.skip("the data fit no other machine")
    with pytest.raises(ValueError, match=r"must answer about the machine that it is given, .*; write it as a function"):
        asked(door, lambda model: bmlab.exact(OTHERS[other](model)))


@pytest.mark.parametrize("door", DOORS)
def test_an_answer_about_an_equal_machine_or_that_names_none_is_taken(door):
    """Then it is about the machine asked about, and says so to whoever asks next."""
    if "clamped_phase" not in door:
        asked(door, lambda model: replace(bmlab.exact(model), model=None))
    asked(door, lambda model: bmlab.exact(replace(model, names=())))


def test_phases_of_another_machine_are_refused_where_two_are_put_together():
    model, other = bmlab.toy(), bmlab.toy().at(2.0)
    rows = bmlab.states(3)
    clamped, free = bmlab.clamped(model, rows), bmlab.exact(model)
    for wrong in ((clamped, bmlab.exact(other)), (bmlab.clamped(other, rows), free)):
        for put in (partial(bmlab.gradient, model), partial(bmlab.Step, model), bmlab.log_likelihood):
            with pytest.raises(
                ValueError, match=r"must be about the machine of .*, found another; ask about one model"
            ):
                put(*wrong)
    with pytest.raises(ValueError, match=r"free must be an Estimate of 3 units, found one of 10"):
        bmlab.gradient(model, clamped, bmlab.exact(bmlab.medium()))
    assert pickle.loads(pickle.dumps(bmlab.Step(model, clamped, free))).free.model.n == 3


def test_sparse_moments_are_possible_where_no_pair_has_a_negative_probability():
    """p(s, t) = (1 + s m_i + t m_j + s t <s_i s_j>) / 4 of the four signs, of the coupled pairs alone."""
    rng, refused, signs = np.random.default_rng(0), 0, np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    for mean, pair in zip(rng.uniform(-1, 1, (200, 2)), rng.uniform(-1, 1, 200), strict=True):
        moments = bmlab.Estimate(mean, sparse.csr_array([[1, pair], [pair, 1]]))
        if (1 + signs @ mean + signs.prod(1) * pair).min() >= 0:
            assert check_possible(moments) is moments
            continue
        refused += 1
        with pytest.raises(ValueError, match="no data have these moments"):
            check_possible(moments)
    assert 0 < refused < 200


def test_a_name_that_no_answer_has_is_answered_by_each_name_that_it_has_once():
    with pytest.raises(AttributeError) as problem:
        bmlab.exact(bmlab.toy()).entropie  # noqa: B018
    names = str(problem.value).partition("it has ")[2].split(", ")
    assert len(set(names)) == len(names) and {"mean", "corr", "log_z", "converged", "covariance"} <= {*names}
