"""Whatever is typed gets a right answer or one sentence: every public function, each of its arguments, every case.

`python tests/test_fuzz.py all` counts the outcomes of the calls; with a name or two, it prints those that went wrong.
"""

import inspect
import linecache
import os
import re
import signal
import sys
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager, redirect_stdout
from dataclasses import fields, is_dataclass, replace
from functools import partial
from io import StringIO
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from fuzz_cases import CALLS, CASES, M, Made, public
from hypothesis import HealthCheck, settings, strategies
from hypothesis import given as drawn_from
from scipy import sparse

import bmlab
from bmlab import plain

PACKAGE = str(Path(bmlab.__file__).parent)
SECONDS = 20  # of processor time for a call; a longer one hangs
MIXED = int(os.environ.get("MIXED", "60"))  # calls in which several arguments are typed at once
FINE = ("right", "sentence")


class Hang(BaseException):
    pass


@contextmanager
def limit(seconds):
    def ring(*_):
        raise Hang

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def call(function, given):
    """Return (answer, error, warnings that are not ours)."""
    given = {k: v.make() if isinstance(v, Made) else v for k, v in given.items()}
    with (
        warnings.catch_warnings(record=True) as seen,
        np.errstate(divide="warn", over="warn", invalid="warn", under="ignore"),
    ):
        warnings.simplefilter("always")
        answer = error = None
        try:
            with limit(SECONDS), redirect_stdout(StringIO()):
                answer = function(**given)
                answer = list(islice(answer, 4)) if inspect.isgenerator(answer) else answer
        except (Exception, Hang) as raised:
            error = raised
    return answer, error, [str(w.message) for w in seen if not issubclass(w.category, bmlab.NotConverged)]


# The judge


def judge(name, argument, case, given):
    """Return (kind, why) of one call."""
    try:
        typed = {**given, argument: case.value.make() if isinstance(case.value, Made) else case.value}
    except ValueError as error:  # a machine that is refused, where it is made
        return ("sentence", str(error)) if case.hard or case.verdict == "bad" else ("refused", str(error))
    answer, error, leaks = call(public()[name], typed)
    if error is not None:
        kind, why = judge_error(argument, case, error)
    elif case.verdict == "bad":
        kind, why = "silent", shown(answer)
    elif case.verdict == "same":
        kind, why = judge_same(name, given, answer)
    else:
        again = {k: v.make() if isinstance(v, Made) else v for k, v in {**given, argument: case.value}.items()}
        with np.errstate(all="ignore"):
            kind, why = law_of(name, answer)(name, again, answer)
    return ("leaked", leaks[0]) if kind in FINE and leaks else (kind, why)


def judge_error(argument, case, error):
    if isinstance(error, Hang):
        return "hang", f"more than {SECONDS} s of processor time"
    if isinstance(error, MemoryError):
        return "memory", str(error)
    text = f"{type(error).__name__}: {error}"
    if not is_ours(error):
        return "ugly", text
    if case.verdict != "bad" and not case.hard:
        return "refused", text
    speaks_of_it = re.search(WORDS.get(argument, argument), str(error), re.IGNORECASE)
    return ("sentence", text) if speaks_of_it else ("misled", text)


def is_ours(error):
    """Whether a line of the package has raised it, as one sentence, on purpose."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    raised = linecache.getline(last.filename, last.lineno).strip().startswith("raise ")
    sort = isinstance(error, (ValueError, OSError, ModuleNotFoundError)) and not isinstance(error, UnicodeError)
    is_sentence = "\n" not in str(error) and ";" in str(error) and not re.search(r"\d{41}", str(error))
    return last.filename.startswith(PACKAGE) and raised and sort and is_sentence


WORDS = {  # the word of a sentence about an argument, if it is not the argument's name
    "s": "state",
    "u": "uniform",
    "m": "mean",
    "v": "",
    "n": "",
    "k": "",
    "tables": "tables|unit",
    "units": "unit",
    "temperatures": "temperature",
    "values": "value",
    "known": "unit|known|value",
    "query": "query|unit|value",
    "given": "given|unit|value",
    "path": "path|file|machine|holds|line|is",
    "checkpoint": "checkpoint|file|holds",
    "model": "model|machine|method|energ|temperature|exact|data|unit|restricted|trees|start|means",
    "couplings": "coupling|weight",
    "infer": "infer|method",
    "shape": "shape|lattice",
    "data": "data|unit|moments|row|bits|covariance|column|known",
    "start": "start|state",
    "visible_biases": "visible_biases|bias",
    "hidden_biases": "hidden_biases|bias",
    "weights": "weights|biases",
    "patterns": "patterns|data",
    "machines": "machine",
    "log_z": "log.?Z|log_z",
    "clamped": "clamped|batch",
    "schedule": "schedule|temperature",
    "size": "size|samples",
    "batch": "batch|rng",
    "function": "function|show",
}
SAME = {}


def judge_same(name, given, answer):
    key = name, tuple(sorted(given))
    if key not in SAME:
        SAME[key] = call(public()[name], given)[0]
    return verdict(alike(answer, SAME[key]), f"{shown(answer)}, not {shown(SAME[key])}")


def verdict(right, why):
    return ("right", "") if right else ("wrong", why)


def alike(one, other):
    """Whether two answers are the same to rounding; whatever else is said of how they came about."""
    if one is None or other is None:
        return one is other
    if isinstance(other, bmlab.Bounded):
        ends = [[x.value, x.stderr, x.lower, x.upper] for x in (one, other)]
        return alike(*ends)
    if is_dataclass(other):
        skipped = {"info", "infer", "state", "method", "message", "draws"}
        return all(alike(getattr(one, f.name), getattr(other, f.name)) for f in fields(other) if f.name not in skipped)
    if isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(other, dict):
        return one.keys() == other.keys()
    if isinstance(other, (np.ndarray, float, int)) or sparse.issparse(other):
        one, other = (np.asarray(dense(x), dtype=float) for x in (one, other))
        return (one.shape == other.shape or 0 in (one.ndim, other.ndim)) and np.allclose(
            one, other, rtol=1e-6, atol=1e-7, equal_nan=True
        )
    return one == other or not isinstance(other, str)


def dense(x):
    return x.toarray() if sparse.issparse(x) else x


def shown(value):
    text = repr(value).replace("\n", " ")
    return text if len(text) < 200 else text[:200] + " ..."


# The laws: against the sum over all states, or over those that agree with what is known


class Sum:
    """log Z, means, correlations and probabilities of the states that agree with a row, nan where unknown."""

    def __init__(self, model, row=np.nan):
        s = bmlab.states(model.n)
        self.s = s[((s == row) | np.isnan(row)).all(1)]
        self.energy = plain.energy(replace(model, weights=dense(model.weights)), self.s) + model.offset
        log_p = -self.energy / model.temperature
        self.log_z = np.logaddexp.reduce(log_p)
        self.p = np.exp(log_p - self.log_z)
        self.mean, self.corr = self.p @ self.s, (self.s.T * self.p) @ self.s


def rows_of(model, data):
    """Data, or known units, as rows (N, n); units that have no column are unknown."""
    if isinstance(data, dict):
        data = [data.get(i, np.nan) for i in range(model.n)]
    x = np.atleast_2d(np.ma.filled(np.ma.asarray(dense(data), dtype=float), np.nan))
    return np.hstack([x, np.full((len(x), model.n - x.shape[1]), np.nan)])


def law_of(name, answer):
    return LAWS.get(name) or (law_estimate if isinstance(answer, bmlab.Estimate) else law_finite)


def law_finite(name, given, answer):
    nan = any(np.isnan(x).any() for x in numbers_in(answer))
    return ("nan", shown(answer)) if nan else ("right", "")


def numbers_in(answer):
    if isinstance(answer, (np.ndarray, float)) or sparse.issparse(answer):
        yield answer.data if sparse.issparse(answer) else np.asarray(answer)
    elif isinstance(answer, bmlab.BoltzmannMachine):
        yield from (dense(answer.weights), answer.biases)
    elif isinstance(answer, (bmlab.Fit, bmlab.Step)):
        yield from numbers_in(answer.model)
    elif isinstance(answer, (list, tuple)):
        for part in answer:
            yield from numbers_in(part)


def law_bounds(name, given, answer):
    """log Z is inside, to rounding of the energies; of Estimates and Brackets."""
    true, model = Sum(given["model"]).log_z, given["model"]
    size = 1 + abs(true) + (np.abs(dense(model.weights)).sum() + abs(model.offset)) / model.temperature
    z = answer.log_z
    inside = z.lower <= true + 1e-9 * size and true <= z.upper + 1e-9 * size
    return verdict(inside, f"log Z {true} is outside [{z.lower}, {z.upper}]")


def law_estimate(name, given, answer):
    kind, why = law_bounds(name, given, answer)
    if kind != "right" or not answer.converged or (name == "exact" and given.get("want") == "log_z"):
        return kind, why
    true, z = Sum(given["model"]), answer.log_z
    if not np.isfinite(answer.mean).all() or np.isinf(z.value):
        return "nan", f"{answer!r}, mean {answer.mean}"
    known = np.asarray(dense(answer.corr) if not sparse.issparse(answer.corr) else answer.corr.data)
    if np.isnan(known).any() and given.get("pairs") != "couplings":
        return "nan", f"corr {known}"
    size = 1 + abs(true.log_z)
    if name == "exact":
        stored = answer.corr.toarray() != 0 if sparse.issparse(answer.corr) else ~np.isnan(answer.corr)
        off = np.abs(np.append(answer.mean - true.mean, (dense(answer.corr) - true.corr)[stored])).max(initial=0)
        return verdict(max(off, abs(z - true.log_z) / size) < 1e-6, f"off by {off:.2g}")
    sigma = np.abs(answer.mean - true.mean) / np.maximum(answer.mean_stderr, 1 / 200)
    if (np.abs(answer.mean) > 1).any() or (np.any(answer.mean_stderr) and sigma.max() > 8):
        return "wrong", f"mean {answer.mean}, off by {sigma} stderr, and converged"
    far = answer.method in ("ais", "temper") and abs(z - true.log_z) > 8 * z.stderr + 1e-9 * size  # unless one is nan
    return verdict(not far, f"log Z {z} is not {true.log_z}")


def law_clamped(name, given, answer):
    sums = [Sum(given["model"], row) for row in rows_of(given["model"], given["data"])]
    value, mean = (np.mean([getattr(row, part) for row in sums], axis=0) for part in ("log_z", "mean"))
    if np.isnan(answer.mean).any():
        return "nan", f"mean {answer.mean}"
    off = np.abs(answer.mean - mean).max() if name == "clamped" else 0.0
    holds = answer.log_z.lower <= value + 1e-9 * (1 + abs(value)) and off < 1e-8
    return verdict(holds, f"log Z {value}, not above {answer.log_z.lower}; means are off by {off:.2g}")


def equal_to(right):
    """The law of a function whose answer is right(given)."""

    def law(name, given, answer):
        true = right(given)
        return verdict(np.allclose(answer, true, rtol=1e-9, atol=1e-9), f"{shown(answer)}, not {shown(true)}")

    return law


def log_prob(given):
    free = Sum(given["model"]).log_z
    log_p = [Sum(given["model"], row).log_z - free for row in rows_of(given["model"], given["data"])]
    return (log_p, np.zeros(len(log_p))) if given.get("return_std") else log_p


def completed(given):
    rows = [Sum(given["model"], row).mean for row in rows_of(given["model"], given["known"])]
    return np.reshape(rows, (-1, given["model"].n))


def entropy(given):
    p = Sum(given["model"]).p
    return -(p[p > 0] * np.log(p[p > 0])).sum()


def energy(given):
    return plain.energy(M, np.asarray(given["s"], float))


def moments(given):
    """Correlations, weighed."""
    chunks = given["chunks"]
    whole = (
        np.asarray(dense(chunks)) if len(getattr(chunks, "shape", ())) == 2 else np.vstack([*map(np.asarray, chunks)])
    )
    weight, s = given.get("sample_weight"), np.where(whole > 0, 1.0, -1.0)
    share = np.ones(len(s)) if weight is None else np.ravel(dense(weight)).astype(float)
    return (s.T * share) @ s / share.sum()


def conditional(given):
    """P(query | given)."""

    def log_z(*conditions):
        row = np.full(given["model"].n, np.nan)
        for condition in conditions:
            units, values = (list(condition), list(condition.values())) if isinstance(condition, dict) else condition
            row[np.asarray(units, int)] = np.asarray(values, float)
        return Sum(given["model"], row).log_z

    return np.exp(log_z(given["query"], given["given"]) - log_z(given["given"]))


def law_ground_state(name, given, answer):
    energy, offset = Sum(given["model"]).energy, given["model"].offset
    near = 1e-8 * np.abs(energy - offset).max() + 1e-12 * abs(energy.min())
    return verdict(abs(answer.energy - energy.min()) <= near, f"{answer}, not {energy.min()}")


def law_lowest_states(name, given, answer):
    energy, offset = np.sort(Sum(given["model"]).energy), given["model"].offset
    near = 1e-8 * np.abs(energy - offset).max() + 1e-12 * abs(energy.min())
    off = np.abs(answer.energies - energy[: int(given["k"])]).max()
    return verdict(off <= near, f"energies are off by {off:.2g}")


def law_free_energy(name, given, answer):
    model, log_z = given["model"], Sum(given["model"]).log_z
    close = 1e-9 * (1 + abs(log_z)) * model.temperature
    return ("nan", "") if np.isnan(answer) else verdict(answer >= -model.temperature * log_z - close, shown(answer))


def law_maximum(name, given, answer):
    """If it has converged the means whose biases learn are those of the data."""
    if isinstance(given["data"], bmlab.Estimate) or given.get("couplings") is not None or not answer.converged:
        return law_finite(name, given, answer)
    seen = rows_of(answer.model, given["data"]).mean(0)
    if np.isnan([seen, answer.model.biases]).any():
        return law_finite(name, given, answer)
    learnt = given.get("biases")
    learnt = np.ones(len(seen), bool) if learnt is None else np.asarray(learnt, bool)
    off = np.abs(Sum(answer.model).mean - seen)[learnt].max(initial=0)
    enough = 10 * max(given.get("tolerance", 0), 1e-6) * max(1.0, answer.model.temperature)  # the slope is over T
    return verdict(off < enough, f"means are off by {off:.2g}")


LAWS = {
    "log_prob": equal_to(log_prob),
    "probabilities": equal_to(lambda given: Sum(given["model"]).p),
    "entropy": equal_to(entropy),
    "BoltzmannMachine.energy": equal_to(energy),
    "BoltzmannMachine.field": equal_to(lambda given: np.asarray(given["s"], float) @ M.weights + M.biases),
    "BoltzmannMachine.log_boltzmann": equal_to(lambda given: -energy(given) - given["log_z"]),
    "moments": lambda name, given, answer: equal_to(moments)(name, given, answer.corr),
    "conditional": equal_to(conditional),
    "complete": lambda name, given, answer: equal_to(completed)(name, given, np.atleast_2d(answer.mean)),
    "ground_state": law_ground_state,
    "lowest_states": law_lowest_states,
    "free_energy": law_free_energy,
    "bracket": law_bounds,
    "maximize": law_maximum,
    "standard_errors": lambda name, given, answer: law_finite(name, given, answer.biases),  # a diagonal has none
    **dict.fromkeys(["clamped", "clamped_gibbs", "clamped_mean_field"], law_clamped),
}


# The tests


def test_every_function_and_every_argument_has_cases():
    assert set(CALLS) == set(public())
    bare = [f"{name}({a})" for name, (_, found) in CASES.items() for a, (_, tried) in found.items() if not tried]
    assert not bare, f"nothing is tried of {', '.join(bare)}; give each a kind in KINDS of tests/fuzz_cases.py"


def test_the_calls_that_work_do():
    for name, base in CALLS.items():
        _, error, leaks = call(public()[name], base)
        assert error is None and not leaks, (name, error, leaks)


@pytest.mark.parametrize("name", CASES)
def test_whatever_is_typed_gets_a_right_answer_or_one_sentence(name):
    wrong = [f"{what}: {kind}, {why}" for what, kind, why in results([name]) if kind not in FINE]
    assert not wrong, "\n".join([f"{len(wrong)} calls", *wrong])


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_of_many_digits_is_not_repeated(digits):
    """Python itself refuses to print more than 4300 of them, in a list, too."""
    learn = partial(bmlab.sample, bmlab.toy(), rng=0)
    for typed in (10**digits, -(10**digits)):
        for called in (bmlab.toy().at, bmlab.ising, bmlab.states, learn):
            with pytest.raises(ValueError, match=f"must be .*, found a number of some {digits} digits; try "):
                called(typed)
        for called in (bmlab.spins, lambda typed: bmlab.anneal(bmlab.toy(), typed, rng=0)):
            with pytest.raises(ValueError, match="must be numbers in rows of equal length, found a list"):
                called([1, typed])


@pytest.mark.parametrize("typed", [1e300, float("inf"), 10**400])
def test_what_is_too_large_for_a_count_is_said_to_be_too_large(typed):
    """It was said that it must be a whole number, at least 0."""
    with pytest.raises(ValueError, match=r"^n must be at most 2\^53, found .*; try n=10$"):
        bmlab.states(typed)
    with pytest.raises(ValueError, match=r"^n must be at least 0, found -1e\+300; try n=10$"):
        bmlab.states(-1e300)


@settings(max_examples=MIXED, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@drawn_from(strategies.data())
def test_several_arguments_at_once_get_an_answer_or_one_sentence(data):
    """Values that are fine alone need not be together: up to three arguments of a function, drawn from their cases."""
    name = data.draw(strategies.sampled_from(list(CASES)))
    base, cases = CASES[name]
    names = (
        strategies.lists(strategies.sampled_from(list(cases)), max_size=3, unique=True)
        if cases
        else strategies.just([])
    )
    drawn = {argument: data.draw(strategies.sampled_from(cases[argument][1])).value for argument in data.draw(names)}
    try:
        drawn = {argument: value.make() if isinstance(value, Made) else value for argument, value in drawn.items()}
    except ValueError:  # a machine that is refused, where it is made
        return
    _, error, leaks = call(public()[name], base | drawn)
    assert error is None or isinstance(error, Hang) or is_ours(error), f"{name}: {error!r}"
    assert not leaks, f"{name}: {leaks}"


def results(names):
    """Yield (the call, kind, why)."""
    for name in names:
        for argument, (given, cases) in CASES[name][1].items():
            for case in cases:
                value = (
                    "made" if isinstance(case.value, Made) else f"{type(case.value).__name__} {shown(case.value)[:60]}"
                )
                yield f"{name}({argument}={value})", *judge(name, argument, case, given)


if __name__ == "__main__":
    counted, typed = Counter(), sys.argv[1:]
    for what, kind, why in results(CASES if typed == ["all"] else typed):
        counted[kind] += 1
        if kind not in FINE:
            print(f"{kind:8} {what}\n         {why}")
    print(f"{counted.total()} calls: {', '.join(f'{count} {kind}' for kind, count in counted.most_common())}")
