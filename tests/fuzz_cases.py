"""What test_fuzz.py types: a call that works of every public function, and for each argument what else one types.

A case says what must come of it: "same", the answer of the call that works; "good", an answer that the brute force
below agrees with, or one sentence where it is `hard`; "bad", one sentence.  Absurd is what nobody types by mistake.
"""

import os
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import dimod
import numpy as np
import pandas as pd
from scipy import sparse

import bmlab
from bmlab import widgets

FOLDER = Path(mkdtemp(prefix="bmlab-fuzz-"))


@dataclass(frozen=True)
class Case:
    value: Any
    verdict: str  # same, good or bad
    absurd: bool = False
    hard: bool = False  # a sentence will do


@dataclass(frozen=True)
class Made:
    """A value that is made anew for each call: generators, files."""

    make: Callable


def bad(*values):
    return [Case(value, "bad") for value in values]


def absurd(*values):
    return [Case(value, "bad", absurd=True) for value in values]


def same(*values):
    return [Case(value, "same") for value in values]


def good(*values, hard=False):
    return [Case(value, "good", hard=hard) for value in values]


NONSENSE = absurd("banana", object(), {}, {"a": 1}, [[1, 2], [3]], 1j, type, np.datetime64("2026-01-01"))
NAN, INF, HUGE = float("nan"), float("inf"), 10**400


# Machines, and what is true of them


def drawn(n, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.normal(0, scale / np.sqrt(max(n, 1)), (n, n)), 1)
    return bmlab.BoltzmannMachine(weights + weights.T, rng.normal(0, 0.3, n))


M = drawn(5)
HIDDEN = drawn(5, 1)  # its first three units are seen


@cache
def all_states(n):
    return np.array(list(product([-1.0, 1.0], repeat=n))).reshape(2**n, n)


def brute(model):
    """log Z, <s_i> and <s_i s_j>, by a sum over all states that shares no line with the package."""
    w = model.weights.toarray() if sparse.issparse(model.weights) else np.asarray(model.weights)
    s = all_states(len(model.biases))
    energy = np.array([-(x @ w @ x) / 2 - model.biases @ x for x in s]) + model.offset
    log_p = -energy / model.temperature
    log_z = np.logaddexp.reduce(log_p)
    p = np.exp(log_p - log_z)
    return float(log_z), p @ s, (s.T * p) @ s, p, energy


def as_sparse(model):
    return replace(model, weights=sparse.csr_array(model.weights))


def stored_zeros():
    w = sparse.csr_array(M.weights, copy=True)
    w.data[(w.nonzero()[0] + w.nonzero()[1]) == 3] = 0.0
    return replace(M, weights=w)


def rescaled(model, factor):
    return lambda: replace(model, weights=model.weights * factor, biases=model.biases * factor)


P_M = brute(M)[3]
ROWS = all_states(5)[np.random.default_rng(3).choice(32, 60, p=P_M)]
SEEN = ROWS[:, :3]
ON = (ROWS + 1) / 2
HOLED = np.where(np.random.default_rng(4).random(ROWS.shape) < 0.2, np.nan, ROWS)
EXACT = bmlab.exact(M)
FIT = bmlab.fit(M, ROWS, steps=2, rate=0.01)

MODELS = [
    *same(bmlab.BoltzmannMachine(M.weights.tolist(), M.biases.tolist())),
    *good(as_sparse(M), Made(stored_zeros), replace(M, offset=3.0), M.at(100.0), M.at(0.3)),
    *good(
        replace(M, weights=sparse.csr_array((5, 5))),
        replace(M, weights=0 * M.weights),
        drawn(1),
        replace(M, names=tuple("abcde")),
        bmlab.ising((2, 3)),
    ),
    *good(
        replace(M, offset=1e5), M.at(1e-4), M.at(1e4), Made(rescaled(M, 1e4)), drawn(0), as_sparse(drawn(0)), hard=True
    ),
    *good(Made(rescaled(M, 1e150)), Made(lambda: M.at(1e155)), Made(lambda: M.at(1e-310)), hard=True),
    *good(Made(lambda: rescaled(M, 1e150)().at(1e-200)), as_sparse(M).at(1e-3), hard=True),
    *bad(None, M.weights, EXACT, FIT, FIT.steps[0], bmlab.toy, [M], (M.weights, M.biases), 5),
    *NONSENSE,
]


def others(n=5):
    """Machines for a call whose other arguments are of n units, and of another machine."""
    for case in MODELS:
        machine = isinstance(case.value, bmlab.BoltzmannMachine)
        other_size = machine and case.value.n != n
        yield case if case.verdict == "bad" else replace(case, verdict="good", hard=case.hard or other_size)


SMALL_MODELS = list(others())  # for what learns


# Numbers


def counts(base, least=1, none=False, huge=None):
    """Whole numbers from `least`, or None."""
    cases = same(np.int64(base), np.int8(base), float(base), np.float32(base))
    cases += bad(least - 1, -3, 2.5, NAN, INF, str(base), [base, base], *([] if none else [None]))
    return [*cases, *NONSENSE, *absurd(np.arange(3), 10**400, 1e300)]


def numbers(base, wrong=(), none=False):
    """Real numbers; what is wrong depends on the argument."""
    cases = same(np.float64(base), *([int(base), np.int64(base)] if base == int(base) else []))
    cases += bad(NAN, str(base), [base, base], *wrong, *([] if none else [None]))
    return [*cases, *NONSENSE, *absurd(np.arange(3), HUGE)]


def positive(base, none=False, infinite=False, zero=False):
    """Numbers above 0."""
    wrong = [-1, -1e-3, -INF, *([] if infinite else [INF]), *([] if zero else [0])]
    return [case for case in numbers(base, wrong, none) if not (infinite and case.value is HUGE)]


def choices(*known, none=False):
    return good(*known) + bad(known[0].upper(), known[0] + "s", 3, True, *([] if none else [None])) + NONSENSE


FLAGS = good(True, False, np.True_, 0, 1) + bad("no", None, 2, [True]) + NONSENSE
SEEDS = [
    *same(np.int64(0), Made(lambda: np.random.default_rng(0))),
    *good(None, [1, 2]),
    *bad(-1, 1.5, NAN, "0", np.random, np.random.default_rng, Made(lambda: np.random.default_rng(0).random)),
    *[case for case in NONSENSE if not isinstance(case.value, list)],
]


# Arrays


def sparse_forms(x):
    names = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
    return [getattr(sparse, f"{name}_{kind}")(x) for name in names for kind in ("array", "matrix")]


def same_rows(x):
    """The same numbers, written otherwise."""
    strided = np.repeat(x, 2, axis=0)[::2]
    frozen = x.copy()
    frozen.flags.writeable = False
    forms = [x.tolist(), np.asfortranarray(x), strided, frozen, x.astype(np.float32), x.astype(">f8"), np.asmatrix(x)]
    if not np.isnan(x).any():
        forms += [x.astype(int), x.astype(np.int8), x.astype(object), *sparse_forms(x)]
    return [*forms, pd.DataFrame(x), np.ma.masked_array(x)]


RAGGED = [[1, -1, 1, 1, -1], [1, -1]]


def rows(x, missing=True):
    """Data, -1/+1; where `missing` is True nan is one, and so is what is masked."""
    masked = np.ma.masked_array(x, np.isnan(HOLED[:, : x.shape[1]]))
    holed = np.where(masked.mask, np.nan, x)
    some = good(holed, masked, pd.DataFrame(holed)) if missing else bad(holed, masked, pd.DataFrame(holed))
    wrong = [None, [], [[]], np.empty((0, x.shape[1])), (x + 1) / 2, x > 0, 2 * x, RAGGED, "data.csv", 1, x[None]]
    wrong += [np.where(x > 0, np.inf, x), x.astype(str), sparse.csr_array((x + 1) / 2), pd.DataFrame(x > 0), EXACT.mean]
    return same(*same_rows(x)) + some + bad(*wrong) + NONSENSE + absurd(x + 0j, iter(x), np.zeros((3, 0, 5)))


def wider(x):
    return np.hstack([x, x])


def no_estimate(cases):
    return cases + bad(EXACT)


def matrices(x, asymmetric=True):
    wrong = [None, x[0], x[:2], x[None], np.where(x == x.max(), NAN, x), np.where(x == x.max(), INF, x), [], 3]
    wrong += [x + np.eye(len(x)), np.triu(x)] if asymmetric else []
    wrong += [x.astype(str), RAGGED, np.ma.masked_greater(x, 0), x.astype(complex) * 1j]
    forms = [case for case in same_rows(x) if not sparse.issparse(case) and np.asarray(case).dtype.kind != "i"]
    exact = [form for form in forms if not (isinstance(form, np.ndarray) and form.dtype == np.float32)]
    exact = [form for form in exact if not (isinstance(form, np.ndarray) and form.dtype == np.int8)]
    return same(*exact) + good(*sparse_forms(x)) + bad(*wrong) + NONSENSE


def vectors(x, wrong=()):
    """A row of numbers."""
    forms = [x.tolist(), tuple(x.tolist()), pd.Series(x), np.repeat(x, 2)[::2], x.astype(object), np.ma.masked_array(x)]
    nan, inf = (np.where(np.arange(len(x)) == 1, value, x) for value in (NAN, INF))
    wrong = [None, nan, inf, x[:-1], x[None, None], x.astype(str), np.ma.masked_array(x, x == x[0]), *wrong]
    return same(*forms) + bad(*wrong) + NONSENSE


STATES = same(*[form for form in same_rows(ROWS) if not isinstance(form, np.matrix)]) + good(ROWS[0], ROWS[:1])
UP = ROWS > 0
STATES += bad(None, ON, HOLED, 2 * ROWS, ROWS[:, :4], wider(ROWS), [], RAGGED, "s", 1, UP, EXACT)
STATES += NONSENSE

MEANS = vectors(EXACT.mean, [2 * np.ones(5), EXACT])
MASK = np.abs(M.weights) > 0.1
MASKS = [
    *same(MASK.tolist(), MASK.astype(int), MASK.astype(float), *sparse_forms(MASK), pd.DataFrame(MASK)),
    *good(~np.eye(5, dtype=bool), np.ones((5, 5), bool), np.ones((5, 5), int), M.weights != 0, np.zeros((5, 5), bool)),
    *good(None, M.weights, as_sparse(M).weights),
    *bad(MASK[:4, :4], MASK[0], np.triu(MASK), np.where(MASK, NAN, 0.0), [], 3, True, RAGGED, M, "all"),
    *NONSENSE,
]
WEIGHING = np.linspace(0.5, 1.5, len(ROWS))
ROW_WEIGHTS = vectors(WEIGHING, [-WEIGHING, 0 * WEIGHING, 3, []])
ROW_WEIGHTS = [case for case in ROW_WEIGHTS if case.value is not None] + good(None)


# Methods


def without_start(model):
    return bmlab.exact(model)


def with_start(model, *, start=None):
    return bmlab.exact(model)


def answers_none(model, *, start=None):
    return None


def answers_a_number(model, *, start=None):
    return 3.0


METHODS = [
    *same(with_start, partial(bmlab.exact, max_seconds=60)),
    *bad(
        "exact", None, EXACT, M, without_start, bmlab.gibbs, answers_none, answers_a_number, bmlab.exact(M).log_z, print
    ),
    *NONSENSE,
]
# What asks a method once, and never goes on from where it ended, takes one without start as well.
ASKED_ONCE = [case for case in METHODS if case.value is not without_start]
BATCHED = [
    *good(None, bmlab.clamped, bmlab.clamped_mean_field, partial(bmlab.clamped_gibbs, rng=np.random.default_rng(0))),
    *bad("clamped", EXACT, without_start, bmlab.clamped_gibbs, 3),
    *NONSENSE,
]


def starts(right, *wrong):
    """States of earlier answers."""
    return good(None, *right) + bad("start", 3, EXACT, M, NAN, *wrong) + NONSENSE


IGNORED = good(None, 3, EXACT.mean, "anything")
CHAINS = starts(
    [ROWS, ROWS.tolist(), ROWS[:, :3], ROWS[0], ROWS.astype(int), sparse.csr_array(ROWS)],
    (ROWS + 1) / 2,
    HOLED,
    wider(ROWS),
    [],
    [[]],
    RAGGED,
    ROWS[None],
    np.empty((0, 5)),
)
with warnings.catch_warnings(action="ignore"):
    LADDER = bmlab.temper(M, rng=0, n_chains=3, burn_in=2, n_sweeps=5).state
    MESSAGES = bmlab.bethe(M).state
    MIXTURE = bmlab.trw(M).state
SAVED = FOLDER / "machine.npz"
M.save(SAVED)


def broken(name, content):
    (FOLDER / name).write_bytes(content)
    return FOLDER / name


def crafted(name, **changed):
    """A file of a sparse machine, a part of which is not what save() would write."""
    model = as_sparse(M)
    w = model.weights
    parts = {"data": w.data, "indices": w.indices, "indptr": w.indptr, "biases": model.biases, "temperature": 1.0}
    np.savez(FOLDER / name, **(parts | {"offset": 0.0, "names": np.array([], str)} | changed))
    return FOLDER / name


FILES = [
    *same(str(SAVED), SAVED),
    *bad(None, 3, "", FOLDER, FOLDER / "none.npz", broken("empty.npz", b""), broken("text.npz", b"1 0 1\n")),
    *bad(broken("torn.npz", SAVED.read_bytes()[:200]), crafted("pointer.npz", indptr=[0, 2, -5, 2, 2, 20])),
    *bad(crafted("index.npz", indices=np.full(20, 1000)), crafted("float.npz", indices=np.full(20, 0.5))),
    *bad(
        crafted("nan.npz", data=np.full(20, NAN)), crafted("offset.npz", offset=NAN), crafted("t.npz", temperature=-1.0)
    ),
    *bad(crafted("names.npz", names=np.arange(5)), crafted("shape.npz", biases=np.zeros((5, 5)))),
    *bad(crafted("object.npz", names=np.array(["a", None], object))),
    *NONSENSE,
]
TARGETS = good(str(FOLDER / "saved.npz"), FOLDER / "saved", FOLDER / "ü.npz")
TARGETS += bad(None, 3, "", FOLDER, FOLDER / "no" / "such" / "folder.npz") + NONSENSE[1:]
CHECKPOINTS = good(None, Made(lambda: new_file()), Made(lambda: str(new_file())))
CHECKPOINTS += bad(3, "", FOLDER, FOLDER / "no" / "such" / "folder.npz", SAVED, True) + NONSENSE[1:]
NUMBERS = iter(range(10**9))


def new_file():
    """A name that no call has used, in this process or in one forked beside it."""
    return FOLDER / f"{os.getpid()}-{next(NUMBERS)}.npz"


# Units, and what is known of them

TWICE, THREE = [0, 0], [0, 1, 2]

UNITS = [
    *same([0, 2], (0, 2), np.array([0, 2]), slice(0, 3, 2), [True, False, True, False, False], range(0, 3, 2)),
    *same(pd.Series([0, 2]), np.array([0, 2], np.int8), np.array([True, False, True, False, False]), [-5, 2]),
    *good([2, 0], slice(0, 2)),
    *bad([0, 9], TWICE, [0.5, 1], ["a", "b"], [True, False], None, [0, NAN], [0, None], [[0, 2]], "ab", THREE),
    *[case for case in NONSENSE if not isinstance(case.value, dict)],
]
VALUES = [
    *same([1, -1], (1, -1), np.array([1, -1], np.int8), [1.0, -1.0], pd.Series([1, -1]), np.array([1, -1], object)),
    *good(1, [1], -1.0, [1, 1], [-1, -1]),
    *bad([1, 0], [1, NAN], [1, 2], [1, -1, 1], None, [], [[1, -1]], "11", [None, 1], [True, False], ["1", "-1"]),
    *NONSENSE,
]
KNOWN = np.array([1, NAN, -1, NAN, NAN])
KNOWNS = [
    *same(KNOWN.tolist(), {0: 1, 2: -1}, {np.int64(2): -1.0, 0: 1}, pd.Series(KNOWN), KNOWN.astype(np.float32)),
    *same(np.ma.masked_array([1, 1, -1, 1, 1], [0, 1, 0, 1, 1]), [1, None, -1, None, None]),
    *good(HOLED[:5], np.full(5, NAN), ROWS[0], {}, pd.DataFrame(HOLED[:3]), np.empty((0, 5))),
    *bad(
        None, [1, 0, 1, 0, 1], KNOWN[:4], wider(ROWS), {9: 1}, {0: 2}, {0: NAN}, {"a": 1}, {0.5: 1}, "1?1??", RAGGED, 3
    ),
    *bad(np.zeros((2, 2, 5)), [], EXACT),
    *NONSENSE,
]
KNOWNS = [case for case in KNOWNS if not (isinstance(case.value, dict) and not case.value and case.absurd)]
CONDITIONS = [
    *same({0: 1}, ([0], [1]), (0, 1), ((0,), (1,)), (np.array([0]), np.array([1.0])), {np.int64(0): 1.0}),
    *good({3: 1, 4: -1}, ([3, 4], [1, -1]), ((3, 4), (1, -1)), ((3, 4), 1)),
    *bad(
        None,
        0,
        [0, 1],
        {9: 1},
        {0: 0},
        {0: None},
        {"a": 1},
        ([0, 1],),
        ([0, 0], [1, 1]),
        "0",
        ROWS[0],
        (),
        ([0], [1, -1]),
    ),
    *[case for case in NONSENSE if not isinstance(case.value, dict)],
]

FIELD = bmlab.mean_field(M)
ESTIMATES = [*good(EXACT, FIELD, bmlab.exact(as_sparse(M))), *bad(None, M, FIT, 3, bmlab.exact(drawn(4)), EXACT.mean)]
ESTIMATES += NONSENSE
BQM = bmlab.to_dimod(M)


BQMS = same(BQM.copy()) + bad(dimod.ConstrainedQuadraticModel(), None, M, {}, M.weights, type(BQM), "BINARY") + NONSENSE

SCHEDULE = np.geomspace(4, 0.2, 6)
SCHEDULES = same(SCHEDULE.tolist(), tuple(SCHEDULE), pd.Series(SCHEDULE)) + good([1], [1, 2, 3])
SCHEDULES += bad(None, [1, -1], [1, 0], [NAN], "cold", [[1, 2]], ["hot"], 3, [1, None], INF, [INF, 1]) + NONSENSE
LADDERS = good(None, [1, 2, INF], [1.0], np.array([1, 2, INF]), (1, 3), [1, INF])
LADDERS += bad([2, 1], [1, 1], [2, 3], [], [1, NAN], "hot", 3, [[1, 2]], [1, 2, -1], [INF], [1, "inf"]) + NONSENSE
COOLING = same([4, 2, 1], (4, 2, 1), pd.Series([4.0, 2, 1]), Made(lambda: iter([4.0, 2.0, 1.0]))) + good([1], [])
COOLING += bad(None, 3, [1, 0], [1, -1], [NAN], [INF], "hot", [None], [[1, 2]]) + NONSENSE
RATES = same([0.01, 0.01, 0.01], np.full(3, 0.01), Made(lambda: iter([0.01] * 3)), (0.01,) * 3, np.float64(0.01))
RATES += good(0) + (
    bad(None, -0.1, NAN, INF, "0.01", [0.01, NAN, 0.01], [], [0.01, "x", 0.1], [[0.01]], [0.01, -1, 0.01]) + NONSENSE
)

NAMES = good((), tuple("abcde"), list("abcde"), pd.Index(list("abcde")), np.array(list("abcde")), iter("abcde"))
NAMES += bad(
    "abcde", tuple("abcd"), tuple("aabcd"), range(5), [1, 2, 3, 4, 5], 3, None, ["a", None, "b", "c", "d"], [[]]
)
NAMES += [case for case in NONSENSE if not isinstance(case.value, dict)]
UNIFORMS = np.random.default_rng(0).random(ROWS.shape)
SHAPES = same([2, 3], np.array([2, 3]), (2.0, 3.0)) + good(4, (3,), (1, 1), (2, 2, 2))
SHAPES += (
    bad(0, -1, (2, 0), (2.5, 3), None, "2x3", (), NAN, [[2, 3]], (2, NAN), (10**6, 10**6), 10**12, (2, None)) + NONSENSE
)
PATTERNS = ROWS[:2]

TEMPERATURES = positive(2.0)
TEMPERATURES = [case for case in TEMPERATURES if not isinstance(case.value, int)] + bad(True)
OFFSETS = numbers(2.0, [INF, -INF])

# A call that works, and the cases of each argument

CASES: dict[str, tuple[dict, dict]] = {}


def calls(name, base, **cases):
    CASES[name] = base, cases


def method(name, base, **cases):
    calls(name, {"model": M} | base, **({"model": MODELS} | cases))


calls(
    "BoltzmannMachine",
    {"weights": M.weights, "biases": M.biases, "temperature": 2.0, "offset": 2.0},
    weights=matrices(M.weights),
    biases=vectors(M.biases, [[]]),
    temperature=TEMPERATURES,
    offset=OFFSETS,
    names=NAMES,
)
calls("BoltzmannMachine.clamp", {"units": [0, 2], "values": [1, -1]}, units=UNITS, values=VALUES)
calls("BoltzmannMachine.at", {"temperature": 2.0}, temperature=TEMPERATURES)
calls("BoltzmannMachine.energy", {"s": ROWS}, s=STATES)
calls(
    "BoltzmannMachine.field", {"s": ROWS}, s=[case for case in STATES if case.value is not ON and case.value is not UP]
)
calls("BoltzmannMachine.log_prob", {"s": ROWS, "log_z": 4.0}, s=STATES, log_z=numbers(4.0, [EXACT]))
calls(
    "BoltzmannMachine.indices",
    {"units": [0, 2]},
    units=[case for case in UNITS if case.value is not TWICE and case.value is not THREE],
)
calls("BoltzmannMachine.coupling_count", {})
calls("BoltzmannMachine.save", {"path": FOLDER / "saved.npz"}, path=TARGETS)
calls("about", {})
calls("progress", {})
POOL = ThreadPoolExecutor(1)
calls("workers", {"executor": POOL}, executor=good(POOL) + bad(None, 2, "dask", M, map, bmlab.toy, len) + NONSENSE)
calls("toy", {})
calls("medium", {})
calls(
    "show",
    {"function": bmlab.toy},
    function=good(bmlab.exact, bmlab.BoltzmannMachine) + bad("exact", 3, None, M) + NONSENSE[:-2],
)
method(
    "ais",
    {"rng": 0, "n_chains": 40, "n_temperatures": 20},
    rng=SEEDS,
    start=IGNORED,
    n_chains=counts(40, 2),
    n_temperatures=counts(20, 2),
)
method(
    "annealed",
    {"schedule": SCHEDULE, "rng": 0, "n_chains": 5},
    schedule=SCHEDULES,
    rng=SEEDS,
    n_chains=counts(5, none=True),
    start=[
        replace(c, value=c.value[:5]) if isinstance(c.value, np.ndarray) and c.value.shape[:1] == (60,) else c
        for c in CHAINS
        if c.verdict == "bad"
    ],
)
SECONDS = [case for case in positive(0.3) if case.value is not INF]
SLOW = [case for case in MODELS if case.verdict != "good" or case.hard is False]
method("auto", {"rng": 0, "seconds": 0.3}, rng=SEEDS, start=IGNORED, seconds=SECONDS, want=choices("moments", "log_z"))
method("bracket", {"rng": 0, "seconds": 0.3}, rng=SEEDS, seconds=SECONDS)
SWEEPS = counts(30)
FIXED = {"tolerance": positive(1e-9, zero=True), "max_steps": counts(50)}
method(
    "bethe",
    {"tolerance": 1e-9, "max_steps": 50},
    **FIXED,
    start=starts([MESSAGES, MESSAGES.toarray(), 0 * MESSAGES], MESSAGES[:4], MESSAGES * NAN, [], EXACT.mean),
)
FIELD_START = starts([EXACT.mean, EXACT.mean.tolist(), np.zeros(5)], 2 * np.ones(5), np.full(5, NAN), np.zeros(4), ROWS)
for name in ("mean_field", "tap"):
    method(name, {"starts": 3, "tolerance": 1e-9, "max_steps": 50}, **FIXED, start=FIELD_START, starts=counts(3))
ANY_SPINS = same(*[form for form in same_rows(ROWS) if not isinstance(form, np.matrix)]) + good(
    1, -1, ROWS[0], ROWS[None]
)
ANY_SPINS += bad(
    None, (ROWS + 1) / 2, HOLED, 2 * ROWS, RAGGED, "data.csv", ROWS.astype(str), ROWS > 0, pd.DataFrame(HOLED)
)
ANY_SPINS += bad(np.ma.masked_array(ROWS, ROWS > 0), sparse.csr_array(ON)) + NONSENSE + absurd(ROWS + 0j)
calls("bits", {"spins": ROWS}, spins=ANY_SPINS)
BITS = good(False, 0) + bad(True, np.True_, 1, "no", None, 2, [True]) + NONSENSE  # of rows that are -1/+1
SOURCES = good(*[form for form in same_rows(ROWS) if not sparse.issparse(form) and not isinstance(form, list)], ON > 0)
SOURCES += good([ROWS[:9], ROWS[9:]], Made(lambda: iter([ROWS])), [pd.DataFrame(ROWS)])
SOURCES += bad(None, 3, "", "data.csv", FOLDER, SAVED, ROWS[0], [], ON, 2 * ROWS, HOLED, EXACT, M, RAGGED, [ROWS, SEEN])
SOURCES += bad(ROWS.astype(str), np.where(ROWS > 0, INF, ROWS), np.empty((0, 5)), Made(lambda: iter([])), lambda: ROWS)
calls("moments", {"chunks": ROWS}, chunks=SOURCES + NONSENSE, bits=BITS, sample_weight=ROW_WEIGHTS)
calls(
    "spins",
    {"bits": ON},
    bits=same(*[f for f in same_rows(ON) if not isinstance(f, np.matrix)], ON > 0, pd.DataFrame(ON > 0))
    + good(0, 1, True, ON[0])
    + bad(None, ROWS, HOLED, "data.csv", 2 * ON, RAGGED, ON.astype(str), np.ma.masked_array(ON, ON > 0))
    + NONSENSE,
)
FIRST_UNITS = rows(SEEN) + bad(wider(SEEN))
calls(
    "clamped",
    {"model": HIDDEN, "data": SEEN},
    model=SMALL_MODELS,
    data=no_estimate(FIRST_UNITS),
    infer=METHODS,
    start=bad("start", 3, NAN, EXACT) + good(None),
)
calls(
    "clamped_gibbs",
    {"model": HIDDEN, "data": SEEN, "rng": 0, "n_chains": 3},
    model=SMALL_MODELS,
    data=no_estimate(FIRST_UNITS),
    rng=SEEDS,
    n_chains=counts(3),
    burn_in=counts(10, 0),
    n_sweeps=counts(20),
    start=starts([], np.zeros((2, 5)), np.full((180, 5), NAN), np.full((180, 5), 7.0)),
)
calls(
    "clamped_mean_field",
    {"model": HIDDEN, "data": SEEN, "tolerance": 1e-9, "max_steps": 50},
    model=SMALL_MODELS,
    data=no_estimate(FIRST_UNITS),
    **(FIXED | {"max_steps": counts(50, 0)}),
    start=starts([np.zeros((60, 5))], np.zeros((2, 5)), np.full((60, 5), NAN), np.full((60, 5), 7.0)),
)
method("complete", {"known": KNOWN}, known=KNOWNS, infer=ASKED_ONCE, model=SMALL_MODELS)
method(
    "conditional",
    {"query": {0: 1}, "given": {1: -1}},
    query=CONDITIONS,
    given=[c for c in CONDITIONS if c.verdict != "same"] + good({}),
    infer=ASKED_ONCE,
    model=[c for c in SMALL_MODELS if not (isinstance(c.value, bmlab.BoltzmannMachine) and c.value.n < 5)],
)
method(
    "cooled",
    {"temperatures": [4.0, 2.0, 1.0], "method": bmlab.mean_field},
    temperatures=COOLING,
    method=[c for c in METHODS if c.verdict == "bad"],
    model=SMALL_MODELS,
)
method("entropy", {})
BUDGETS = {"max_seconds": positive(600.0, infinite=True), "max_bytes": positive(1e9, none=True, infinite=True)}
PAIRS = good(None, "all", "couplings") + bad("couplingss", 3, True, ["all"]) + NONSENSE
WANTED = choices("moments", "log_z")
method("exact", {"max_seconds": 600.0, "max_bytes": 1e9}, start=IGNORED, pairs=PAIRS, want=WANTED, **BUDGETS)
CLIMB = {
    "model": SMALL_MODELS,
    "data": rows(ROWS) + bad(wider(ROWS)) + good(EXACT),
    "infer": METHODS,
    "rate": RATES,
    "chains": choices("previous", "fresh", "data"),
    "clamped": BATCHED,
    "couplings": MASKS,
    "biases": good(None, [True] * 5, np.ones(5)) + bad([True] * 4, 3, "all", np.full(5, 0.5)),
    "penalty": positive(0.01, zero=True),
    "l1": positive(0.01, zero=True),
    "momentum": numbers(0.5, [1, 1.5, -0.1, INF]),
    "batch": counts(20, none=True) + bad(61),
    "rng": SEEDS,
}
# An L1 penalty, momentum and batches change the answer: each has its own call that works, in VARIANTS.
CLIMB["model"] = [case for case in SMALL_MODELS if not isinstance(case.value, bmlab.Step)] + good(FIT.steps[0])
CLIMB["rng"] = [replace(case, hard=True) if case.value is None else case for case in SEEDS]
ONCE = [replace(case, verdict="good") if case.verdict == "same" else case for case in RATES]
ONCE = [case for case in ONCE if not (isinstance(case.value, list) and not case.value)]
calls("ascend", {"model": M, "data": ROWS, "rate": 0.01}, **(CLIMB | {"rate": ONCE}))
calls(
    "fit",
    {"model": M, "data": ROWS, "rate": 0.01, "steps": 3},
    **CLIMB,
    steps=counts(3),
    every=counts(1),
    checkpoint=CHECKPOINTS,
)
VARIANTS = {
    "penalty": {"penalty": 0.01},
    "l1": {"l1": 0.01},
    "momentum": {"momentum": 0.5},
    "batch": {"batch": 20, "rng": 0},
    "couplings": {"couplings": MASK},
    "sample_weight": {"sample_weight": WEIGHING},
    "rng": {"batch": 20, "rng": 0},
    "every": {"every": 1},
    "noise": {"noise": 0.1},
    "n_chains": {"n_chains": 5},
    "draws": {"draws": 3},
}
method(
    "free_energy",
    {"m": EXACT.mean},
    m=MEANS,
    model=[c for c in MODELS if not (isinstance(c.value, bmlab.BoltzmannMachine) and c.value.n != 5)],
)
calls(
    "from_bits",
    {"weights": M.weights, "biases": M.biases, "temperature": 2.0},
    weights=matrices(M.weights),
    biases=vectors(M.biases),
    temperature=TEMPERATURES,
    names=NAMES,
)
calls("from_dimod", {"bqm": BQM, "temperature": 2.0}, bqm=BQMS, temperature=TEMPERATURES)
method(
    "gibbs",
    {"rng": 0, "burn_in": 5, "n_sweeps": 40},
    rng=SEEDS,
    start=CHAINS,
    n_chains=counts(5, none=True),
    burn_in=counts(5, 0),
    n_sweeps=counts(40),
    every=counts(1),
    backend=choices("auto", "numpy", "numba"),
    draws=counts(3, 0) + bad(50),
)
calls(
    "gradient",
    {"model": M, "clamped": EXACT, "free": FIELD},
    model=[
        replace(case, hard=True)  # both answers are about M
        for case in SMALL_MODELS
        if not (isinstance(case.value, bmlab.BoltzmannMachine) and case.value.n != 5)
    ],
    clamped=ESTIMATES,
    free=ESTIMATES,
)
calls(
    "log_likelihood",
    {"clamped": EXACT, "free": FIELD},
    clamped=[c for c in ESTIMATES if not (isinstance(c.value, bmlab.Estimate) and c.verdict == "bad")],
    free=[c for c in ESTIMATES if not (isinstance(c.value, bmlab.Estimate) and c.verdict == "bad")],
)
method("ground_state", {})
calls(
    "hopfield",
    {"patterns": PATTERNS},
    patterns=[c for c in rows(ROWS, missing=False) if c.verdict != "same" and c.value is not EXACT.mean]
    + same(*[f for f in same_rows(PATTERNS)]),
)
for name in ("invert_bethe", "invert_mean_field", "invert_tap"):
    calls(name, {"data": ROWS}, data=rows(ROWS, missing=False) + good(EXACT), noise=numbers(0.1, [0.5, -0.1, 1, INF]))
calls(
    "ising",
    {"shape": (2, 3), "coupling": 2.0, "field": 2.0},
    shape=SHAPES,
    coupling=OFFSETS,
    field=OFFSETS,
    periodic=FLAGS,
)
calls("load", {"path": SAVED}, path=FILES)
calls("log_prob", {"model": HIDDEN, "data": SEEN}, model=SMALL_MODELS, data=no_estimate(FIRST_UNITS), infer=ASKED_ONCE)
calls(
    "maximize",
    {"model": M, "data": ROWS, "penalty": 0.01, "tolerance": 1e-6},
    model=SMALL_MODELS,
    data=CLIMB["data"],
    infer=[replace(case, verdict="good") if case.verdict == "same" else case for case in METHODS],
    couplings=MASKS,
    biases=CLIMB["biases"],
    penalty=positive(0.01, zero=True),
    tolerance=positive(1e-6),
)
RBM = bmlab.restricted(np.full((3, 2), 0.1), np.zeros(3), np.zeros(2))
calls(
    "pcd",
    {"model": RBM, "data": SEEN, "rng": 0, "steps": 3, "rate": 0.01, "batch": 20, "n_chains": 10},
    model=[c for c in SMALL_MODELS if c.verdict == "bad"] + bad(M, as_sparse(RBM)),
    data=no_estimate(rows(SEEN, missing=False) + bad(wider(SEEN), ROWS)),
    rng=SEEDS,
    steps=counts(3),
    rate=RATES,
    batch=counts(20),
    n_chains=counts(10),
    n_sweeps=counts(1),
    chains=choices("previous", "data"),
    penalty=positive(0.01, zero=True),
    centred=good(True, False) + bad("yes", 2),
)
method("plan", {}, pairs=PAIRS, want=WANTED)
method("probabilities", {})
calls(
    "pseudo_log_likelihood", {"model": M, "data": ROWS}, model=SMALL_MODELS, data=no_estimate(rows(ROWS, missing=False))
)
calls(
    "pseudolikelihood",
    {"data": ROWS, "penalty": 0.01},
    data=no_estimate(rows(ROWS, missing=False)),
    couplings=MASKS,
    penalty=positive(0.01, zero=True),
)
LAYER = np.arange(6.0).reshape(3, 2) / 10
calls(
    "restricted",
    {"weights": LAYER, "visible_biases": [0.1, 0.2, 0.3], "hidden_biases": [0.4, 0.5]},
    weights=matrices(LAYER, False),
    visible_biases=vectors(np.array([0.1, 0.2, 0.3])),
    hidden_biases=vectors(np.array([0.4, 0.5])),
)
method("sample", {"size": 4, "rng": 0}, size=counts(4, 0), rng=SEEDS)
calls("sherrington_kirkpatrick", {"n": 5, "rng": 0}, n=counts(5, 0), rng=SEEDS, scale=positive(1.0, zero=True))
calls("states", {"n": 3}, n=counts(3, 0) + bad(40))
method(
    "sweep",
    {"s": ROWS, "u": UNIFORMS},
    s=[replace(case, hard=True) for case in STATES],
    rule=choices("gibbs", "metropolis"),
    model=[c for c in MODELS if not (isinstance(c.value, bmlab.BoltzmannMachine) and c.value.n != 5)],
    units=good(None) + same(range(5), [0, 1, 2, 3, 4]) + bad([9], 3.5, ["a"] * 5, [0.5] * 5, [0]) + NONSENSE,
    u=same(np.asfortranarray(UNIFORMS), UNIFORMS.tolist())
    + good(np.full((60, 5), 2.0))
    + bad(None, UNIFORMS[:, :4], np.full((60, 5), NAN), 0.5, "u", [])
    + NONSENSE,
)
SQUARE = np.arange(9.0).reshape(3, 3)
calls("symmetric", {"matrix": SQUARE}, matrix=matrices(SQUARE, False))
TEMPERED = {"rng": 0, "n_chains": 4, "burn_in": 5, "n_sweeps": 20}
method(
    "temper",
    TEMPERED,
    rng=SEEDS,
    temperatures=LADDERS,
    n_chains=counts(4, none=True),
    burn_in=counts(5, 0),
    n_sweeps=counts(20),
    start=starts(
        [],
        LADDER._replace(s=LADDER.s[:, :, :4]),
        LADDER._replace(s=LADDER.s[:, :1]),
        LADDER._replace(s=0 * LADDER.s),
        tuple(LADDER),
        ROWS,
    ),
)
method("to_dimod", {})
method(
    "trw",
    {"max_steps": 3, "tolerance": 0.01},
    start=starts([MIXTURE], tuple(MIXTURE), ROWS),
    max_steps=counts(3, 0),
    tolerance=positive(0.01, zero=True),
)
method(
    "visited",
    {"rng": 0, "n_sweeps": 30},
    rng=SEEDS,
    start=CHAINS,
    n_chains=counts(5, none=True),
    n_sweeps=counts(30, 2),
)
calls("data.digits", {"threshold": 7}, threshold=counts(7, 0)[:-2])
calls("data.mnist", {"seed": 0}, seed=[c for c in SEEDS if c.verdict == "bad"])
calls("data.zoo", {})
calls("data.votes", {})
FRAME = pd.DataFrame({"a": ["y", "n", "?"], "b": [1.0, 0.0, NAN], "age": [3, 4, 5]})
calls(
    "data.yes_no",
    {"frame": FRAME},
    frame=good(FRAME) + bad(FRAME[["age"]], FRAME.T, FRAME[["a", "a"]], FRAME["a"], FRAME[[]], None, 3, "") + NONSENSE,
)
calls("data.encoder", {"v": 4}, v=counts(4))
calls("data.shifter", {"n": 4}, n=counts(4) + bad(40))
calls("data.raster", {"bins": 20, "rng": 0}, bins=counts(20), rng=SEEDS)
calls(
    "widgets.LatticeView",
    {"size": 4},
    size=counts(4, 2)[4:] + bad(3, 10**6),
    temperature=positive(2.0)[1:],
    field=numbers(0.5, [INF])[1:],
    seed=[c for c in SEEDS if c.verdict == "bad"],
)
calls(
    "widgets.MachineView",
    {"model": M},
    model=[c for c in MODELS if c.verdict == "bad"] + bad(drawn(11), drawn(0)),
    seed=[c for c in SEEDS if c.verdict == "bad"],
)
FOUR = bmlab.hopfield([[1, 1, -1, 1]])
calls(
    "widgets.PaintView",
    {"machines": [FOUR, FOUR], "log_z": [1.0, 2.0]},
    machines=bad([], None, FOUR, [FOUR, None], [FOUR, M]) + NONSENSE,
    log_z=bad([1.0], None, [1.0, NAN], 3, ["a", "b"]) + NONSENSE,
    names=bad(["a"], 3) + NONSENSE[1:2],
    shape=bad((3, 3), 4, (2.5, 1), "2x2", (NAN, 2)) + NONSENSE,
    start=bad([0, 0, 0, NAN], [0, 0, 0, 5], [0], 3) + NONSENSE,
)

# Records are answered, not typed; a Method is a type, a warning is raised.
RECORDS = {"Bracket", "Completion", "Estimate", "Fit", "Bounded", "Method", "NotConverged", "Step"}
BOUND = {"BoltzmannMachine": M, "data": bmlab.data, "widgets": widgets}
