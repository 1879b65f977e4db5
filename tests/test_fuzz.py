"""Whatever is typed gets a right answer or one sentence: every public function, each of its arguments, every case.

`python tests/test_fuzz.py` prints what came of the calls; with a name or two, the calls of these that went wrong.
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
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import fields, is_dataclass
from functools import cache
from io import StringIO
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from queue import Empty

import numpy as np
import pytest
from fuzz_cases import BOUND, CASES, RECORDS, VARIANTS, M, Made, all_states, brute
from hypothesis import HealthCheck, settings, strategies
from hypothesis import given as drawn_from
from scipy import sparse

import bmlab

PACKAGE = str(Path(bmlab.__file__).parent)
SECONDS = 20  # of processor time for a call; what takes longer hangs
MIXED = int(os.environ.get("MIXED", "60"))  # calls in which several arguments are typed at once
FINE = ("right", "sentence")
KINDS = (
    "right",
    "sentence",
    "ugly",
    "silent",
    "wrong",
    "nan",
    "misled",
    "refused",
    "leaked",
    "hang",
    "memory",
    "crash",
)
IGNORE = {"self", "cls", "options"}


# The walk


@cache
def public():
    """Name -> function, of all that bmlab offers: methods of its classes, and its data, too."""
    found = {}
    for name in bmlab.__all__:
        thing = getattr(bmlab, name)
        if inspect.isclass(thing):
            own = {k: f for k, f in vars(thing).items() if inspect.isfunction(f) and not k.startswith("_")}
            found |= {f"{name}.{k}": getattr(BOUND[name], k) for k in own if name in BOUND}
        if callable(thing) and name not in RECORDS:
            found[name] = thing
    for home in ("data", "widgets"):
        module = BOUND[home]
        names = [n for n, f in vars(module).items() if inspect.isfunction(f) and f.__module__ == module.__name__]
        names = ["LatticeView", "MachineView", "PaintView"] if home == "widgets" else names
        found |= {f"{home}.{n}": getattr(module, n) for n in names if not n.startswith("_")}
    return found


def arguments(function):
    return [k for k, p in inspect.signature(function).parameters.items() if k not in IGNORE and p.kind != p.VAR_KEYWORD]


def walk(names=None):
    """Yield (function's name, argument's name, Case, arguments of the call)."""
    for name, (base, cases) in CASES.items():
        for argument, tried in cases.items() if not names or name in names else ():
            for case in tried:
                variant, known = VARIANTS.get(argument, {}), arguments(public()[name])
                yield name, argument, case, {**base, **(variant if set(variant) <= set(known) else {})}


def drained(answer):
    """The answer, or all that an iterator yields."""
    if inspect.isgenerator(answer):
        return list(islice(answer, 4))
    return answer


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
                answer = drained(function(**given))
        except (Exception, Hang) as raised:
            error = raised
    return answer, error, [str(w.message) for w in seen if not issubclass(w.category, bmlab.NotConverged)]


# The judge


def judge(name, argument, case, given):
    """Return (kind, why) of one call."""
    try:
        built = {**given, argument: case.value.make() if isinstance(case.value, Made) else case.value}
    except ValueError as error:  # a machine that is refused, where it is made
        return ("sentence", str(error)) if case.hard or case.verdict == "bad" else ("refused", str(error))
    answer, error, leaks = call(public()[name], built)
    if error is not None:
        kind, why = judge_error(argument, case, error)
    elif case.verdict == "bad":
        kind, why = "silent", shown(answer)
    elif case.verdict == "same":
        kind, why = judge_same(name, given, answer)
    else:
        kind, why = judge_answer(name, {**given, argument: case.value}, answer)
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
    return ("sentence", text) if speaks_of(argument, str(error)) else ("misled", text)


def is_ours(error):
    """Whether a line of the package has raised it, as one sentence, on purpose."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    raised = linecache.getline(last.filename, last.lineno).strip().startswith("raise ")
    sort = isinstance(error, (ValueError, OSError, ModuleNotFoundError)) and not isinstance(error, UnicodeError)
    return last.filename.startswith(PACKAGE) and raised and sort and "\n" not in str(error) and ";" in str(error)


WORDS = {
    "s": "state",
    "u": "uniform",
    "m": "mean",
    "i": "unit",
    "v": "",
    "n": "",
    "units": "unit",
    "temperatures": "temperature",
    "values": "value",
    "known": "unit|known|value",
    "query": "query|unit|value",
    "given": "given|unit|value",
    "path": "path|file|machine|spikes|holds|line|is",
    "checkpoint": "checkpoint|file|holds",
    "folder": "folder|holds",
    "model": "model|machine|method|energ|temperature|exact|data|unit|restricted|Dense|trees|start",
    "couplings": "coupling|weight",
    "infer": "infer|method",
    "shape": "shape|lattice",
    "data": "data|unit|moments|row|bits|covariance|column|known",
    "start": "start|state",
    "visible_biases": "visible_biases|bias",
    "hidden_biases": "hidden_biases|bias",
    "weights": "weights|biases",
    "patterns": "patterns|data",
    "graph": "graph|weight|bias|temperature",
    "machines": "machine",
    "log_z": "log.?Z|log_z",
    "spins": "spins",
    "clamped": "clamped|batch",
    "schedule": "schedule|temperature",
    "size": "size|samples",
    "batch": "batch|rng",
    "rate": "rate",
    "function": "function|show",
}


def speaks_of(argument, text):
    return re.search(WORDS.get(argument, argument), text, re.IGNORECASE) is not None


SAME = {}


def judge_same(name, given, answer):
    key = name, tuple(sorted(given))
    if key not in SAME:
        SAME[key] = call(public()[name], given)[0]
    return ("right", "") if alike(answer, SAME[key]) else ("wrong", f"{shown(answer)}, not {shown(SAME[key])}")


def alike(one, other):
    """Whether two answers are the same to rounding; whatever else is said of how they came about."""
    if isinstance(other, bmlab.BoltzmannMachine):
        names = ("biases", "temperature", "offset", "names")
        parts = all(alike(getattr(one, k), getattr(other, k)) for k in names)
        return parts and alike(dense(one.weights), dense(other.weights))
    if isinstance(other, bmlab.Bounded):
        return alike(
            [one.value, one.stderr, one.lower, one.upper], [other.value, other.stderr, other.lower, other.upper]
        )
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


def judge_answer(name, given, answer):
    """Compare with the brute force."""
    given = {k: v.make() if isinstance(v, Made) else v for k, v in given.items()}
    law = LAWS.get(name) or (law_estimate if isinstance(answer, bmlab.Estimate) else law_finite)
    with np.errstate(all="ignore"):
        return law(name, given, answer)


def law_finite(name, given, answer):
    bad = [x for x in numbers_in(answer) if np.isnan(x).any()]
    return ("nan", shown(answer)) if bad else ("right", "")


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


EXACT = {"exact"}
UNBOUND = {"tap", "bethe"}  # log Z is neither a bound nor an estimate with an error


def law_estimate(name, given, answer):
    model = given["model"]
    if name.startswith("clamped"):
        return law_clamped(name, given, answer)
    log_z, mean, corr, *_ = brute(model)
    size = 1 + abs(log_z) + np.abs(np.asarray(dense(model.weights))).sum() / model.temperature
    size += abs(model.offset) / model.temperature
    z = answer.log_z
    if not (z.lower <= log_z + 1e-9 * size and log_z <= z.upper + 1e-9 * size):
        return "wrong", f"log Z {log_z} is outside [{z.lower}, {z.upper}]"
    if not answer.converged or (name == "exact" and given.get("want") == "log_z"):
        return "right", ""
    if not np.isfinite(answer.mean).all() or np.isinf(z.value):
        return "nan", f"{answer!r}, mean {answer.mean}"
    known = np.asarray(dense(answer.corr) if not sparse.issparse(answer.corr) else answer.corr.data)
    if np.isnan(known).any() and given.get("pairs") != "couplings":
        return "nan", f"corr {known}"
    if (np.abs(answer.mean) > 1).any():
        return "wrong", f"mean {answer.mean}"
    if name == "exact":
        found = dense_known(answer.corr)
        off = np.nanmax(np.append(np.abs(found - corr), 0.0))
        off = max(np.abs(answer.mean - mean).max(initial=0), abs(z - log_z) / size, off)
        return ("right", "") if off < 1e-6 else ("wrong", f"off by {off:.2g}")
    if np.any(answer.mean_stderr):
        error = np.maximum(answer.mean_stderr, 1 / 200)
        sigma = (np.abs(answer.mean - mean) / error).max()
        if sigma > 8:
            return "wrong", f"mean is off by {sigma:.3g} stderr, and converged"
    if answer.method in ("ais", "temper") and abs(z - log_z) > 8 * z.stderr + 1e-9 * size:  # not where one is nan
        return "wrong", f"log Z {z} is not {log_z}"
    return "right", ""


def dense_known(corr):
    """Correlations (n, n), nan where a sparse array has none."""
    if not sparse.issparse(corr):
        return corr
    held, found = corr.tocoo(), np.full(corr.shape, np.nan)
    found[held.row, held.col] = held.data
    return found


def completions(model, row):
    """States (K, n) that agree with a row, nan where unknown."""
    s = all_states(len(model.biases))
    return s[((s == row) | np.isnan(row)).all(1)]


def log_sum(model, s):
    """log of the sum of exp(-E/T) over states."""
    w = np.asarray(dense(model.weights))
    energy = np.array([-(x @ w @ x) / 2 - model.biases @ x for x in s]) + model.offset
    return np.logaddexp.reduce(-energy / model.temperature), -energy / model.temperature


def whole_rows(model, data):
    x = np.ma.filled(np.ma.asarray(data.toarray() if sparse.issparse(data) else data, dtype=float), np.nan)
    x = np.atleast_2d(x)
    return np.hstack([x, np.full((len(x), len(model.biases) - x.shape[1]), np.nan)])


def law_clamped(name, given, answer):
    model, rows = given["model"], whole_rows(given["model"], given["data"])
    means, log_z = [], []
    for row in rows:
        s = completions(model, row)
        total, log_p = log_sum(model, s)
        log_z.append(total)
        means.append(np.exp(log_p - total) @ s)
    mean, value = np.mean(means, axis=0), np.mean(log_z)
    if np.isnan(answer.mean).any():
        return "nan", f"mean {answer.mean}"
    if not answer.log_z.lower <= value + 1e-9 * (1 + abs(value)):
        return "wrong", f"log Z {value} is below {answer.log_z.lower}"
    if name == "clamped" and np.abs(answer.mean - mean).max() > 1e-8:
        return "wrong", f"mean is off by {np.abs(answer.mean - mean).max():.2g}"
    return "right", ""


def law_log_prob(name, given, answer):
    model = given["model"]
    free = brute(model)[0]
    right = [log_sum(model, completions(model, row))[0] - free for row in whole_rows(model, given["data"])]
    return ("right", "") if np.allclose(answer, right, rtol=1e-9, atol=1e-9) else ("wrong", f"{answer}, not {right}")


def law_probabilities(name, given, answer):
    return ("right", "") if np.allclose(answer, brute(given["model"])[3], atol=1e-9) else ("wrong", shown(answer))


def law_entropy(name, given, answer):
    *_, p, _ = brute(given["model"])
    right = -(p[p > 0] * np.log(p[p > 0])).sum()
    return ("right", "") if abs(answer - right) < 1e-6 else ("wrong", f"{answer}, not {right}")


def law_ground_state(name, given, answer):
    *_, energy = brute(given["model"])
    lowest = energy.min()
    near = 1e-8 * (1e-300 + np.abs(energy - given["model"].offset).max())
    fine = abs(answer.energy - lowest) <= near + 1e-12 * abs(lowest)
    return ("right", "") if fine else ("wrong", f"{answer}, not {lowest}")


def law_energy(name, given, answer):
    s, w = np.asarray(given["s"], float), M.weights
    if name.endswith("field"):
        right = s @ w + M.biases
    else:
        right = -((s @ w) * s).sum(-1) / 2 - s @ M.biases
        right = -right / M.temperature - given["log_z"] if name.endswith("log_prob") else right
    return ("right", "") if np.allclose(answer, right) else ("wrong", shown(answer))


def law_free_energy(name, given, answer):
    model, m = given["model"], np.asarray(given["m"], float)
    log_z = brute(model)[0]
    close = 1e-9 * (1 + abs(log_z)) * model.temperature
    if np.isnan(answer):
        return "nan", shown(answer)
    return ("right", "") if len(m) == 0 or answer >= -model.temperature * log_z - close else ("wrong", shown(answer))


def law_bracket(name, given, answer):
    log_z = brute(given["model"])[0]
    size = 1e-9 * (1 + abs(log_z))
    fine = answer.log_z.lower <= log_z + size and log_z <= answer.log_z.upper + size
    return ("right", "") if fine else ("wrong", f"{answer}, not {log_z}")


def law_conditional(name, given, answer):
    model = given["model"]

    def total(*conditions):
        row = np.full(model.n, np.nan)
        for condition in conditions:
            units, values = (list(condition), list(condition.values())) if isinstance(condition, dict) else condition
            row[np.asarray(units, int)] = np.asarray(values, float)
        return log_sum(model, completions(model, row))[0]

    right = np.exp(total(given["query"], given["given"]) - total(given["given"]))
    fine = abs(answer - right) < 1e-9 and answer.lower <= right + 1e-9 and right <= answer.upper + 1e-9
    return ("right", "") if fine or given.get("infer") else ("wrong", f"{answer}, not {right}")


def law_complete(name, given, answer):
    model, found = given["model"], answer
    known = given["known"]
    if isinstance(known, dict):
        row = np.full(model.n, np.nan)
        row[list(known)] = list(known.values())
        known = row
    rows = np.ma.filled(np.ma.asarray(known, float), np.nan).reshape(-1, model.n)
    right = []
    for row in rows:
        s = completions(model, row)
        total, log_p = log_sum(model, s)
        right.append(np.exp(log_p - total) @ s)
    fine = np.allclose(np.reshape(found.mean, (-1, model.n)), np.reshape(right, (-1, model.n)), atol=1e-8)
    return ("right", "") if fine else ("wrong", shown(found.mean))


def law_maximum(name, given, answer):
    """Where it has converged the moments are those of the data, but for the penalty."""
    if given.get("couplings") is not None or isinstance(given["data"], bmlab.Estimate) or not answer.converged:
        return law_finite(name, given, answer)
    rows = whole_rows(answer.model, given["data"])
    if np.isnan(rows).any() or np.isnan(answer.model.biases).any():
        return law_finite(name, given, answer)
    _, mean, *_ = brute(answer.model)
    off = np.abs(mean - rows.mean(0)).max()
    enough = 10 * max(given.get("tolerance", 0), 1e-6) * max(1.0, answer.model.temperature)  # the slope is over T
    return ("right", "") if off < enough else ("wrong", f"means are off by {off:.2g}")


def law_moments(name, given, answer):
    chunks = given["chunks"]
    whole = np.asarray(chunks) if len(getattr(chunks, "shape", ())) == 2 else np.vstack([*map(np.asarray, chunks)])
    weight = given.get("sample_weight")
    s = np.where(whole > 0, 1.0, -1.0)
    share = np.ones(len(s)) if weight is None else np.ravel(dense(weight)).astype(float)
    off = np.abs(answer.corr - (s.T * share) @ s / share.sum()).max()
    return ("right", "") if off < 1e-9 else ("wrong", f"off by {off:.2g}")


LAWS = {
    "log_prob": law_log_prob,
    "probabilities": law_probabilities,
    "entropy": law_entropy,
    "ground_state": law_ground_state,
    "BoltzmannMachine.energy": law_energy,
    "BoltzmannMachine.field": law_energy,
    "BoltzmannMachine.log_prob": law_energy,
    "free_energy": law_free_energy,
    "bracket": law_bracket,
    "conditional": law_conditional,
    "complete": law_complete,
    "maximize": law_maximum,
    "moments": law_moments,
}


def shown(value):
    text = repr(value).replace("\n", " ")
    return text if len(text) < 200 else text[:200] + " ..."


# The tests


def test_every_function_and_every_argument_has_cases():
    missing = []
    for name, function in public().items():
        _, cases = CASES.get(name, ({}, None))
        if cases is None:
            missing.append(name)
            continue
        missing += [f"{name}({argument})" for argument in arguments(function) if argument not in cases]
    assert not missing


def test_the_calls_that_work_do():
    for name, (base, _) in CASES.items():
        _, error, leaks = call(public()[name], base)
        assert error is None and not leaks, (name, error, leaks)


@pytest.mark.parametrize("name", CASES)
def test_whatever_is_typed_gets_a_right_answer_or_one_sentence(name):
    wrong = [f"{what}: {why}" for what, kind, why, _ in results([name]) if kind not in FINE]
    assert not wrong, "\n".join([f"{len(wrong)} calls", *wrong])


@settings(max_examples=MIXED, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@drawn_from(strategies.data())
def test_several_arguments_at_once_get_an_answer_or_one_sentence(data):
    """What is fine alone need not be together: up to three arguments of a function, drawn from their cases."""
    name = data.draw(strategies.sampled_from(list(CASES)))
    base, cases = CASES[name]
    names = strategies.lists(strategies.sampled_from(list(cases) or ["none"]), max_size=3, unique=True)
    typed = [argument for argument in data.draw(names) if argument in cases]
    drawn = {argument: data.draw(strategies.sampled_from(cases[argument])).value for argument in typed}
    try:
        drawn = {argument: value.make() if isinstance(value, Made) else value for argument, value in drawn.items()}
    except ValueError:  # a machine that is refused, where it is made
        return
    _, error, leaks = call(public()[name], base | drawn)
    assert error is None or isinstance(error, Hang) or is_ours(error), f"{name}: {error!r}"
    assert not leaks, f"{name}: {leaks}"


def results(names=None):
    """Yield (the call, kind, why, case)."""
    for name, argument, case, given in walk(names):
        kind, why = judge(name, argument, case, given)
        value = "made" if isinstance(case.value, Made) else f"{type(case.value).__name__} {shown(case.value)[:60]}"
        yield f"{name}({argument}={value})", kind, why, case


def apart(name, answers):
    """Put the results of a function into a queue, from a process of its own, for some calls end the process."""
    answers.put([(what, kind, why, case.absurd) for what, kind, why, case in results([name])])


def main(names):
    """Print how many calls of plausible and of absurd input came out how, and those of these functions that failed."""
    context, found = get_context("fork"), []
    for name in names or CASES:
        answers = context.Queue()
        child = context.Process(target=apart, args=(name, answers))
        child.start()
        here = None
        while here is None and (child.is_alive() or not answers.empty()):
            with suppress(Empty):
                here = answers.get(timeout=1)
        child.join()
        found += here if here is not None else [(name, "crash", f"exit {child.exitcode}", False)]
    for what, kind, why, _ in found if names else ():
        if kind not in FINE:
            print(f"{kind:8} {what}\n         {why}")
    counted = Counter((is_absurd, kind) for _, kind, _, is_absurd in found)
    print(f"{'':10}{'calls':>7}" + "".join(f"{kind:>10}" for kind in KINDS))
    for is_absurd, word in ((False, "plausible"), (True, "absurd")):
        row = [counted[is_absurd, kind] for kind in KINDS]
        print(f"{word:10}{sum(row):7}" + "".join(f"{x:10}" for x in row))


if __name__ == "__main__":
    main(list(CASES) if sys.argv[1:] == ["all"] else sys.argv[1:])
