"""The calls of test_fuzz.py: one that works for every public function, and for each argument other values.

The values follow from the kind of an argument (a count, a method, rows of data, ...), and the kind from its name,
unless KINDS has one for this function: "ais.n_chains".  A case has a verdict: "same", the answer of the
call that works; "good", an answer that the sum over states agrees with, or one sentence if it is `hard`; "bad", one
sentence.
"""

import inspect
import os
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import dimod
import numpy as np
import pandas as pd
from scipy import sparse

import bmlab
from bmlab import widgets
from bmlab.methods import METHODS as TABLE

FOLDER = Path(mkdtemp(prefix="bmlab-fuzz-"))
# Records are answered, not typed; a Method is a type, a warning is raised.
RECORDS = {
    "Annealed",
    "Bracket",
    "Completion",
    "Estimate",
    "Fit",
    "GroundState",
    "LowestStates",
    "Moments",
    "PenaltyPath",
    "Plan",
}
RECORDS |= {"StandardErrors", "TwoSampleTest", "Step", "TemperingState", "Triplets", "Bounded"}
RECORDS |= {"Method", "NotConverged"}


@dataclass(frozen=True)
class Case:
    value: Any
    verdict: str  # same, good or bad
    hard: bool = False  # a sentence will do


@dataclass(frozen=True)
class Made:
    """A value that is made anew for each call: generators, files."""

    make: Callable


def bad(*values):
    return [Case(value, "bad") for value in values]


def same(*values):
    return [Case(value, "same") for value in values]


def good(*values, hard=False):
    return [Case(value, "good", hard) for value in values]


def told_anew(cases):
    """A value that is the same elsewhere is good if the call that works has another one."""
    return [replace(case, verdict="good") if case.verdict == "same" else case for case in cases]


def made_hard(cases):
    """One sentence is enough."""
    return [replace(case, hard=True) for case in cases]


def but(cases, *kinds):
    """Leave out values that are valid here."""
    return [case for case in cases if not isinstance(case.value, kinds)]


NONSENSE = bad("banana", object(), {}, {"a": 1}, [[1, 2], [3]], 1j, type, np.datetime64("2026-01-01"))
NAN, INF, HUGE = float("nan"), float("inf"), 10**400


# Machines, and their data


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.normal(0, 1 / np.sqrt(max(n, 1)), (n, n)), 1)
    return bmlab.BoltzmannMachine(weights + weights.T, rng.normal(0, 0.3, n))


def as_sparse(model):
    return replace(model, weights=sparse.csr_array(model.weights))


def stored_zeros():
    w = sparse.csr_array(M.weights, copy=True)
    w.data[(w.nonzero()[0] + w.nonzero()[1]) == 3] = 0.0
    return replace(M, weights=w)


def rescaled(factor, temperature=1.0):
    return Made(lambda: bmlab.BoltzmannMachine(M.weights * factor, M.biases * factor, temperature))


M = drawn(5)
HIDDEN = drawn(5, 1)  # its first three units are seen
ROWS = bmlab.sample(M, 60, rng=np.random.default_rng(3))
SEEN, ON, UP = ROWS[:, :3], (ROWS + 1) / 2, ROWS > 0
HOLED = np.where(np.random.default_rng(4).random(ROWS.shape) < 0.2, NAN, ROWS)
EXACT, FIELD, SMALLER = bmlab.exact(M), bmlab.mean_field(M), bmlab.exact(drawn(4))
MOMENTS = [EXACT, bmlab.moments(ROWS)]
SEEN_PHASE = bmlab.clamped(M, ROWS)
FIT = bmlab.fit(M, ROWS, steps=2, rate=0.01)
RBM = bmlab.restricted(np.full((3, 2), 0.1), np.zeros(3), np.zeros(2))
FOUR = bmlab.hopfield([[1, 1, -1, 1]])
BQM = bmlab.to_dimod(M)

RIGHT_MODELS = [
    *same(bmlab.BoltzmannMachine(M.weights.tolist(), M.biases.tolist())),
    *good(as_sparse(M), Made(stored_zeros), replace(M, offset=3.0), M.at(100.0), M.at(0.3)),
    *good(replace(M, weights=sparse.csr_array((5, 5))), replace(M, weights=0 * M.weights), drawn(1)),
    *good(replace(M, names=tuple("abcde")), bmlab.ising((2, 3))),
    *good(replace(M, offset=1e5), M.at(1e-4), M.at(1e4), rescaled(1e4), drawn(0), as_sparse(drawn(0)), hard=True),
    *good(rescaled(1e150), Made(lambda: M.at(1e155)), Made(lambda: M.at(1e-310)), hard=True),
    *good(rescaled(1e150, 1e-200), as_sparse(M).at(1e-3), hard=True),
]
NO_MODELS = bad(None, M.weights, EXACT, FIT, FIT.steps[0], bmlab.toy, [M], (M.weights, M.biases), 5) + NONSENSE


def models(value, none):
    return (RIGHT_MODELS if value is M else told_anew(RIGHT_MODELS)) + NO_MODELS


def models_of_size(value, none):
    """Machines for a call whose other arguments have n units."""
    for case in models(value, none):
        other_size = isinstance(case.value, bmlab.BoltzmannMachine) and case.value.n != value.n
        yield replace(case, hard=case.hard or other_size)


# Numbers, words, seeds: each a function of the value in the call that works, and of whether None is one


def counts(least, *too_many):
    """Whole numbers from `least`."""

    def kind(base, none):
        cases = same(np.int64(base), np.int8(base), float(base), np.float32(base))
        cases += bad(least - 1, -3, 2.5, NAN, INF, str(base), [base, base], np.arange(3), HUGE, 1e300, *too_many)
        return cases + NONSENSE + bad(*[] if none else [None])

    return kind


def numbers(*wrong):
    """Real numbers but for those that are wrong here."""

    def kind(base, none):
        cases = same(np.float64(base), *([int(base), np.int64(base)] if base == int(base) else []))
        cases += bad(NAN, str(base), [base, base], np.arange(3), HUGE, True, *wrong)
        return cases + NONSENSE + bad(*[] if none else [None])

    return kind


def positive(zero=False, infinite=False):
    """Numbers above 0."""

    def kind(base, none):
        wrong = [-1, -1e-3, -INF, *([] if infinite else [INF]), *([] if zero else [0])]
        return [case for case in numbers(*wrong)(base, none) if not (infinite and case.value is HUGE)]

    return kind


def choices(*known):
    def kind(base, none):
        cases = good(*known) + bad(known[0].upper(), known[0] + "s", 3, True) + NONSENSE
        return cases + (good if none else bad)(None)

    return kind


NO_FLAGS = bad("no", None, 2, [True]) + NONSENSE
FLAGS = good(True, False, np.True_, 0, 1) + NO_FLAGS
WRONG_SEEDS = bad(-1, 1.5, NAN, "0", np.random, np.random.default_rng, Made(lambda: np.random.default_rng(0).random))
WRONG_SEEDS += but(NONSENSE, list)
SEEDS = same(np.int64(0), Made(lambda: np.random.default_rng(0))) + good(None, [1, 2]) + WRONG_SEEDS
SEEDS_OF_BATCHES = [replace(case, hard=case.value is None) for case in SEEDS]
IGNORED = good(None, 3, EXACT.mean, "anything")


def rows_of_numbers(right, wrong):
    """Schedules, ladders, rates."""
    return right + bad(3, "hot", ["hot"], [NAN], [1, NAN], [[1, 2]], [1, -1], *wrong) + NONSENSE


SCHEDULE, TEMPERATURES, RATE = np.geomspace(4, 0.2, 6), np.array([4.0, 2.0, 1.0]), 0.01
SCHEDULES = same(SCHEDULE.tolist(), tuple(SCHEDULE), pd.Series(SCHEDULE)) + good([1], [1, 2, 3])
SCHEDULES = rows_of_numbers(SCHEDULES, [None, [1, 0], [1, None], INF, [INF, 1]])
LADDERS = good(None, [1, 2, INF], [1.0], np.array([1, 2, INF]), (1, 3), [1, INF])
LADDERS = rows_of_numbers(LADDERS, [[2, 1], [1, 1], [2, 3], [], [1, 2, -1], [INF], [1, "inf"]])
PENALTIES = same([0.3, 0.1], (0.3, 0.1), pd.Series([0.3, 0.1])) + good(None, [1], np.ones(1))
PENALTIES += bad(3, "l1", [-1], [NAN], [INF], [], [[0.1]], ["a"]) + NONSENSE
COOLING = same([4, 2, 1], (4, 2, 1), pd.Series(TEMPERATURES), Made(lambda: iter([4.0, 2.0, 1.0]))) + good([1], [])
COOLING = rows_of_numbers(COOLING, [None, [1, 0], [INF], [None]])
RATES = same([RATE] * 3, np.full(3, RATE), Made(lambda: iter([RATE] * 3)), (RATE,) * 3, np.float64(RATE)) + good(0)
RATES += bad(None, -0.1, NAN, INF, "0.01", [RATE, NAN, RATE], [RATE, "x", 0.1], [[RATE]], [RATE, -1, RATE]) + NONSENSE
SHAPES = same([2, 3], np.array([2, 3]), (2.0, 3.0)) + good(4, (3,), (1, 1), (2, 2, 2)) + NONSENSE
SHAPES += bad(0, -1, (2, 0), (2.5, 3), None, "2x3", (), NAN, [[2, 3]], (2, NAN), (10**6, 10**6), 10**12, (2, None))
NAMES = good((), tuple("abcde"), list("abcde"), pd.Index(list("abcde")), np.array(list("abcde")))
NAMES += good(Made(lambda: iter("abcde"))) + but(NONSENSE, dict)
NAMES += bad("abcde", tuple("abcd"), tuple("aabcd"), range(5), [1, 2, 3, 4, 5], 3, None, ["a", None, "b", "c", "d"])
NAMES += bad([[]])


# Arrays


def sparse_forms(x):
    names = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
    return [getattr(sparse, f"{name}_{kind}")(x) for name in names for kind in ("array", "matrix")]


def same_rows(x):
    """The same numbers, written otherwise."""
    strided = np.repeat(x, 2, axis=0)[::2]
    frozen = x.copy()
    frozen.flags.writeable = False
    forms = [x.tolist(), np.asfortranarray(x), strided, frozen, x.astype(np.float32), x.astype(">f8")]
    if not np.isnan(x).any():
        forms += [x.astype(int), x.astype(np.int8), x.astype(object), *sparse_forms(x)]
    return [*forms, pd.DataFrame(x), np.ma.masked_array(x)]


RAGGED = [[1, -1, 1, 1, -1], [1, -1]]
NO_ROWS = [None, RAGGED, "data.csv", NAN]


def wider(x):
    return np.hstack([x, x])


def rows(missing=True, moments=False, machine=True):
    """Data, -1/+1; nan and masked entries if `missing`, and moments if `moments`."""

    def kind(x, none):
        masked = np.ma.masked_array(x, np.isnan(HOLED[-len(x) :, : x.shape[1]]))
        holed = np.where(masked.mask, NAN, x)
        wrong = [[], [[]], np.empty((0, x.shape[1])), (x + 1) / 2, x > 0, 2 * x, 1, x[None], EXACT.mean]
        wrong += [np.where(x > 0, INF, x), x.astype(str), sparse.csr_array((x + 1) / 2), pd.DataFrame(x > 0), x + 0j]
        wrong += [iter(x), np.zeros((3, 0, 5)), *([wider(x)] if machine else [])]
        wrong += ([SMALLER] if machine else []) if moments else MOMENTS
        some = (good if missing else bad)(holed, masked, pd.DataFrame(holed)) + good(*MOMENTS if moments else [])
        return same(*same_rows(x), np.asmatrix(x)) + some + bad(*NO_ROWS, *wrong) + NONSENSE

    return kind


def values(x, *wrong):
    """Spins, or bits, of any shape, and arrays that are neither."""
    wrong = [*NO_ROWS, HOLED, pd.DataFrame(HOLED), 2 * x, x.astype(str), np.ma.masked_array(x, x > 0), x + 0j, *wrong]
    return same(*same_rows(x)) + good(x[0]) + bad(*wrong) + NONSENSE


MEANS = values(ROWS, ROWS[:, :4], wider(ROWS), [], 1, EXACT) + good(ROWS[:1])  # 0 may be one
STATES = MEANS + bad(ON, UP, sparse.csr_array(ON))
SPINS = values(ROWS, ON, UP, sparse.csr_array(ON)) + good(1, -1, ROWS[None])
BITS = values(ON, ROWS) + same(ON > 0, pd.DataFrame(ON > 0)) + good(0, 1, True)


def matrices(asymmetric=False):
    def kind(x, none):
        wrong = [None, x[0], x[:2], x[None], np.where(x == x.max(), NAN, x), np.where(x == x.max(), INF, x), [], 3]
        wrong += [] if asymmetric else [x + np.eye(len(x)), np.triu(x)]
        wrong += [x.astype(str), RAGGED, np.ma.masked_greater(x, 0), x.astype(complex) * 1j]
        forms = [form for form in same_rows(x) if sparse.issparse(form) or np.asarray(form).dtype.kind != "i"]
        exact = [form for form in forms if getattr(form, "dtype", None) != np.float32 and not sparse.issparse(form)]
        return same(*exact, np.asmatrix(x)) + good(*sparse_forms(x)) + bad(*wrong) + NONSENSE

    return kind


def vectors(*wrong):
    """A row of numbers."""

    def kind(x, none):
        x = np.asarray(x, dtype=float)
        forms = [x.tolist(), tuple(x.tolist()), pd.Series(x), np.repeat(x, 2)[::2], x.astype(object)]
        nan, inf = (np.where(np.arange(len(x)) == 1, value, x) for value in (NAN, INF))
        cases = same(*forms, np.ma.masked_array(x)) + NONSENSE + good(*[None] if none else [])
        cases += bad(nan, inf, x[:-1], x[None, None], x.astype(str), np.ma.masked_array(x, x == x[0]), *wrong)
        return cases + bad(*[] if none else [None])

    return kind


WEIGHING = np.linspace(0.5, 1.5, len(ROWS))
MASK = np.abs(M.weights) > 0.1
TOP = bmlab.maximize(M, ROWS, couplings=MASK, penalty=0.01, bias_penalty=0.01).model
MASKS = [
    *same(MASK.tolist(), MASK.astype(int), MASK.astype(float), *sparse_forms(MASK), pd.DataFrame(MASK)),
    *good(~np.eye(5, dtype=bool), np.ones((5, 5), bool), np.ones((5, 5), int), M.weights != 0, np.zeros((5, 5), bool)),
    *good(None, M.weights, as_sparse(M).weights),
    *bad(MASK[:4, :4], MASK[0], np.triu(MASK), np.where(MASK, NAN, 0.0), [], 3, True, RAGGED, M, "all"),
    *NONSENSE,
]
# Of a machine with weights: the mask has these at the least.
MASKS_OF_WEIGHTS = [case for case in MASKS if not (isinstance(case.value, np.ndarray) and not np.any(case.value))]
KEPT = good(None, [True] * 5, np.ones(5), np.arange(5) > 1) + bad([True] * 4, 3, "all", np.full(5, 0.5))
UNIFORMS = np.random.default_rng(0).random(ROWS.shape)
UNIFORM = same(np.asfortranarray(UNIFORMS), UNIFORMS.tolist()) + good(np.full((60, 5), 2.0)) + NONSENSE
UNIFORM += bad(None, UNIFORMS[:, :4], UNIFORMS[:9], np.full((60, 5), NAN), 0.5, "u", [])
CHUNKS = good(*[form for form in same_rows(ROWS) if not isinstance(form, list)], ON > 0, pd.DataFrame(ON > 0))
NULLABLE = pd.DataFrame(UP).astype("boolean")
CHUNKS += good(UP.astype(object), NULLABLE, NULLABLE.astype(object), np.ma.masked_array(UP), *sparse_forms(UP))
CHUNKS += bad(NULLABLE.mask(UP & (np.arange(5) == 0)), np.ma.masked_array(UP, UP), [ROWS, ON], [ROWS, HOLED])
CHUNKS += good(np.asmatrix(ROWS), [ROWS[:9], ROWS[9:]], Made(lambda: iter([ROWS])), [pd.DataFrame(ROWS)]) + NONSENSE
CHUNKS += bad(None, 3, "", "data.csv", FOLDER, ROWS[0], [], ON, 2 * ROWS, HOLED, EXACT, M, RAGGED, [ROWS, SEEN])
CHUNKS += bad(ROWS.astype(str), np.where(ROWS > 0, INF, ROWS), np.empty((0, 5)), Made(lambda: iter([])), lambda: ROWS)


# Methods, and the states in which they have ended


def without_start(model):
    return bmlab.exact(model)


def with_start(model, *, start=None):
    return bmlab.exact(model)


def answers_none(model, *, start=None):
    return None


def answers_a_number(model, *, start=None):
    return 3.0


# A function that calls a method once, and never continues its run, takes one without start as well.
ASKED_ONCE = same(with_start, partial(bmlab.exact, max_seconds=60)) + NONSENSE
ASKED_ONCE += bad("exact", None, EXACT, M, bmlab.gibbs, answers_none, answers_a_number, EXACT.log_z, print, lambda: 1)
METHODS = ASKED_ONCE + bad(without_start)
BATCHED = good(
    None,
    bmlab.clamped,
    bmlab.clamped_mean_field,
    Made(lambda: partial(bmlab.clamped_gibbs, rng=np.random.default_rng(0))),
)
BATCHED += bad("clamped_phase", EXACT, without_start, bmlab.clamped_gibbs, 3) + NONSENSE
ESTIMATES = good(EXACT, FIELD, bmlab.exact(as_sparse(M))) + bad(None, M, FIT, 3, EXACT.mean, SEEN_PHASE) + NONSENSE
HELD = good(SEEN_PHASE, bmlab.clamped(as_sparse(M), ROWS))
HELD += bad(None, M, FIT, 3, EXACT.mean, EXACT) + NONSENSE


def starts(right, *wrong):
    """States of earlier answers."""
    return good(None, *right) + bad("start", 3, EXACT, M, NAN, [], *wrong) + NONSENSE


def patterns_of_means(size):
    """Means, or states, of all units for each pattern of the data."""
    return np.zeros((2, 5)), np.full((size, 5), NAN), np.full((size, 5), 7.0)


CHAINS = [ROWS, ROWS.tolist(), ROWS[:, :3], ROWS[0], ROWS.astype(int), sparse.csr_array(ROWS)]
CHAINS = starts(CHAINS, ON, HOLED, wider(ROWS), [[]], RAGGED, ROWS[None], np.empty((0, 5)))
with warnings.catch_warnings(action="ignore"):
    RUNS = [bmlab.gibbs(M, rng=k, n_chains=4, burn_in=2, n_sweeps=8) for k in range(2)]
    LADDER = bmlab.temper(M, rng=0, n_ladders=4, burn_in=2, n_sweeps=5).state
    MESSAGES, MIXTURE = bmlab.bethe(M).state, bmlab.trw(M).state
OTHER_LADDERS = [LADDER._replace(s=s) for s in (LADDER.s[:, :, :4], LADDER.s[:, :1], 0 * LADDER.s)]
FIELDS = [EXACT.mean, EXACT.mean.tolist(), np.zeros(5)]
FIELDS = starts(FIELDS, 2 * np.ones(5), np.full(5, NAN), np.zeros(4), ROWS)
STARTS = {  # by the kinds of bmlab.methods
    "nothing": IGNORED,
    "states": CHAINS,
    "means": FIELDS,
    "messages": starts([MESSAGES, MESSAGES.toarray(), 0 * MESSAGES], MESSAGES[:4], MESSAGES * NAN, EXACT.mean),
    "trees": starts([MIXTURE], tuple(MIXTURE), ROWS),
    "ladder": starts([LADDER], *OTHER_LADDERS, tuple(LADDER), ROWS),
}


# Files

SAVED = FOLDER / "machine.npz"
M.save(SAVED)
NUMBERS = iter(range(10**9))


def broken(name, content):
    (FOLDER / name).write_bytes(content)
    return FOLDER / name


def crafted(name, **changed):
    """A file of a sparse machine, with one part that save() would not write."""
    model = as_sparse(M)
    w = model.weights
    parts = {"data": w.data, "indices": w.indices, "indptr": w.indptr, "biases": model.biases, "temperature": 1.0}
    np.savez(FOLDER / name, **(parts | {"offset": 0.0, "names": np.array([], str)} | changed))
    return FOLDER / name


def new_file():
    """A name that no call has used, in this process or in one forked beside it."""
    return FOLDER / f"{os.getpid()}-{next(NUMBERS)}.npz"


NO_FILES = bad(3, "", FOLDER, FOLDER / "no" / "such" / "folder.npz") + NONSENSE[1:]
TARGETS = good(str(FOLDER / "saved.npz"), FOLDER / "saved", FOLDER / "ü.npz") + bad(None) + NO_FILES
CHECKPOINTS = good(None, Made(new_file), Made(lambda: str(new_file()))) + bad(SAVED, True) + NO_FILES
FILES = [
    *same(str(SAVED), SAVED),
    *bad(None, "banana", broken("empty.npz", b""), broken("text.npz", b"1 0 1\n")),
    *bad(broken("torn.npz", SAVED.read_bytes()[:200]), crafted("pointer.npz", indptr=[0, 2, -5, 2, 2, 20])),
    *bad(crafted("index.npz", indices=np.full(20, 1000)), crafted("float.npz", indices=np.full(20, 0.5))),
    *bad(crafted("nan.npz", data=np.full(20, NAN)), crafted("offset.npz", offset=NAN)),
    *bad(crafted("t.npz", temperature=-1.0), crafted("object.npz", names=np.array(["a", None], object))),
    *bad(crafted("names.npz", names=np.arange(5)), crafted("shape.npz", biases=np.zeros((5, 5)))),
    *NO_FILES,
]


# Units, and known values of them

UNITS = [
    *same([0, 2], (0, 2), np.array([0, 2]), slice(0, 3, 2), [True, False, True, False, False], range(0, 3, 2)),
    *same(pd.Series([0, 2]), np.array([0, 2], np.int8), np.array([True, False, True, False, False]), [-5, 2]),
    *good([2, 0], slice(0, 2)),
    *bad([0, 9], [0.5, 1], ["a", "b"], [True, False], None, [0, NAN], [0, None], [[0, 2]], "ab"),
    *but(NONSENSE, dict),
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
    *bad(None, [1, 0, 1, 0, 1], KNOWN[:4], wider(ROWS), "1?1??", RAGGED, 3, np.zeros((2, 2, 5)), [], EXACT),
    *bad({9: 1}, {0: 2}, {0: NAN}, {"a": 1}, {0.5: 1}),
    *but(NONSENSE, dict),
]
CONDITIONS = good({3: 1, 4: -1}, ([3, 4], [1, -1]), ((3, 4), (1, -1)), ((3, 4), 1)) + but(NONSENSE, dict)
CONDITIONS += bad(None, 0, [0, 1], {9: 1}, {0: 0}, {0: None}, {"a": 1}, ([0, 1],), ([0, 0], [1, 1]), "0", ROWS[0], ())
CONDITIONS += bad(([0], [1, -1]))
SAME_CONDITIONS = same({0: 1}, ([0], [1]), (0, 1), ((0,), (1,)), (np.array([0]), np.array([1.0])), {np.int64(0): 1.0})


# The kinds of all arguments


def each(names, kind):
    return dict.fromkeys(names.split(), kind)


POOL = ThreadPoolExecutor(1)
FRAME = pd.DataFrame({"a": ["y", "n", "?"], "b": [1.0, 0.0, NAN], "age": [3, 4, 5]})
KINDS = {
    **each("n_chains n_ladders n_sweeps every steps starts max_steps max_sweeps bins v pcd.batch", counts(1)),
    **each("burn_in size threshold sherrington_kirkpatrick.n trw.max_steps clamped_mean_field.max_sweeps", counts(0)),
    **each("n_temperatures ais.n_chains visited.n_sweeps", counts(2)),
    **{
        "batch": counts(1, 61),
        "n_draws": counts(0, 50),
        "temper.n_draws": counts(0, 21),
        "states.n": counts(0, 40),
        "k": counts(1, 33),
        "gibbs.every": counts(1, 41),
        "data.shifter.n": counts(1, 40),
    },
    **each("offset coupling field log_z", numbers(INF, -INF, EXACT)),
    **{"noise": numbers(0.5, -0.1, 1, INF), "momentum": numbers(1, 1.5, -0.1, INF)},
    **each("temperature maximize.tolerance", positive()),
    **each("tolerance penalty bias_penalty l1 scale", positive(zero=True)),
    **each("max_seconds max_bytes", positive(infinite=True)),
    **{
        "want": choices("moments", "log_z"),
        "pairs": choices("all", "couplings"),
        "rule": choices("gibbs", "metropolis"),
    },
    **{"backend": choices("auto", "numpy", "numba"), "free_start": choices("previous", "fresh", "data")},
    **{"of": choices("penalty", "l1"), "n_folds": counts(2, 61), "penalties": PENALTIES},
    **{"pcd.free_start": choices("previous", "data"), "periodic": FLAGS, "centred": FLAGS, "return_std": FLAGS},
    "moments.bits": good(False, 0) + bad(True, np.True_, 1) + NO_FLAGS,  # of rows that are -1/+1
    **{"rng": SEEDS, "seed": WRONG_SEEDS} | each("learning_steps.rng fit.rng", SEEDS_OF_BATCHES),
    "model": models,
    **each(
        "clamped.model clamped_gibbs.model clamped_mean_field.model complete.model conditional.model free_energy.model "
        "log_prob.model lowest_states.model maximize.model pseudo_log_likelihood.model sweep.model",
        models_of_size,
    ),
    **each("learning_steps.model fit.model", lambda *base: but(models_of_size(*base), bmlab.Step) + good(FIT.steps[0])),
    "standard_errors.model": lambda *base: made_hard(models(*base)),  # at the top of ROWS is TOP alone
    "standard_errors.data": lambda *base: made_hard(rows()(*base)),
    "standard_errors.couplings": made_hard(MASKS),
    "standard_errors.of": made_hard(choices("likelihood", "pseudolikelihood")("likelihood", False)),
    "gradient.model": lambda *base: made_hard(models(*base)),  # both answers are about M
    "pcd.model": NO_MODELS + bad(M, as_sparse(RBM)),
    **each(
        "widgets.ConditionalView.model widgets.MachineView.model widgets.MeanFieldView.model "
        "widgets.MessageView.model widgets.StatesView.model",
        NO_MODELS + bad(drawn(11), drawn(0)),
    ),
    "data": rows(),
    **each("learning_steps.data fit.data maximize.data", rows(moments=True)),
    **each("invert_bethe.data invert_mean_field.data invert_tap.data", rows(False, moments=True, machine=False)),
    **{"pseudo_log_likelihood.data": rows(False), "pcd.data": lambda *base: rows(False)(*base) + bad(ROWS)},
    **each(
        "patterns pseudolikelihood.data penalty_path.data triplets.data two_sample_test.data two_sample_test.other",
        rows(False, machine=False),
    ),
    **{
        "s": STATES,
        "sweep.s": made_hard(STATES),
        "BoltzmannMachine.field.s": MEANS,
        "spins": SPINS,
        "spins.bits": BITS,
        "chunks": CHUNKS,
    },
    **{"weights": matrices(), "matrix": matrices(True), "restricted.weights": matrices(True), "u": UNIFORM},
    **each("biases visible_biases hidden_biases", vectors([])),
    "BoltzmannMachine.biases": lambda x, none: vectors([])(x, False),
    **{"sample_weight": vectors(-WEIGHING, 0 * WEIGHING, 3, []), "m": vectors(2 * np.ones(5), EXACT)},
    "answers": same(tuple(RUNS)) + bad([], [EXACT, EXACT], [RUNS[0], 3]) + NONSENSE,
    **{"couplings": MASKS, "BoltzmannMachine.couplings": MASKS_OF_WEIGHTS}
    | each("learning_steps.biases fit.biases maximize.biases", KEPT),
    **{"schedule": SCHEDULES, "temperatures": LADDERS, "temperature_path.temperatures": COOLING},
    **{"fit.rate": RATES + bad([]), "pcd.rate": RATES + bad([]), "learning_steps.rate": told_anew(RATES)},
    **{"infer": METHODS, "maximize.infer": told_anew(METHODS), "clamped_phase": BATCHED},
    **{"temperature_path.infer": told_anew(METHODS)},
    **each("complete.infer conditional.infer entropy.infer log_prob.infer", ASKED_ONCE),
    "log_likelihood.clamped": HELD,
    "gradient.clamped": HELD + good(bmlab.moments(ROWS)) + bad(SMALLER),
    **each("log_likelihood.free gradient.free", ESTIMATES + bad(SMALLER)),
    **{f"{key}.start": STARTS[row.start] for key, row in TABLE.items()},
    "anneal.start": CHAINS,
    "clamped.start": bad("start", 3, NAN, EXACT) + good(None),
    "clamped_gibbs.start": starts([], *patterns_of_means(180)),
    "clamped_mean_field.start": starts([np.zeros((60, 5))], *patterns_of_means(60)),
    **{"path": TARGETS, "load.path": FILES, "checkpoint": CHECKPOINTS, "shape": SHAPES, "names": NAMES},
    "BoltzmannMachine.indices.units": UNITS,
    "BoltzmannMachine.clamp.units": UNITS + bad([0, 0], [0, 1, 2]),
    "sweep.units": good(None) + same(range(5), [0, 1, 2, 3, 4]) + bad([9], 3.5, ["a"] * 5, [0.5] * 5, [0]) + NONSENSE,
    **{"values": VALUES, "known": KNOWNS, "query": SAME_CONDITIONS + CONDITIONS, "given": CONDITIONS + good({})},
    "bqm": same(BQM.copy())
    + bad(dimod.ConstrainedQuadraticModel(), None, M, M.weights, type(BQM), "BINARY")
    + NONSENSE,
    "executor": good(POOL) + bad(None, 2, "dask", M, map, bmlab.toy, len) + NONSENSE,
    "function": good(bmlab.exact, bmlab.BoltzmannMachine) + bad("exact", 3, None, M) + NONSENSE[:-2],
    "frame": good(FRAME) + bad(FRAME[["age"]], FRAME.T, FRAME[["a", "a"]], FRAME["a"], FRAME[[]], None, 3) + NONSENSE,
    "tables": same({"a": (3, 1), ("a", "e"): np.array([[9, 1], [1, 9]])})
    + bad(None, 3, [[9, 1], [1, 9]], {"a": [0, 1]}, {"a": [NAN, 1]}, {"z": [1, 2]}, {("a", "a"): np.ones((2, 2))})
    + NONSENSE,
    "machines": bad([], None, FOUR, [FOUR, None], [FOUR, M]) + NONSENSE,
    "widgets.UpdateView.model": NO_MODELS + bad(drawn(5), drawn(0)),
    "widgets.VisitedView.model": NO_MODELS + bad(drawn(5), drawn(0)),
    "widgets.ChainsView.model": NO_MODELS + bad(drawn(26), drawn(0)),
    "widgets.PaintView.log_z": bad([1.0], None, [1.0, NAN], 3, ["a", "b"]) + NONSENSE,
    "widgets.PaintView.names": bad(["a"], 3) + NONSENSE[1:2],
    "widgets.PaintView.shape": bad((3, 3), 4, (2.5, 1), "2x2", (NAN, 2)) + NONSENSE,
    "widgets.PaintView.start": bad([0, 0, 0, NAN], [0, 0, 0, 5], [0], 3) + NONSENSE,
}

# A call that works of every function

LAYER = np.arange(6.0).reshape(3, 2) / 10
CALLS: dict[str, dict] = {
    **{key: {"model": M, **({"rng": 0} if row.draws else {}), **row.fuzz} for key, row in TABLE.items()},
    **each("about progress toy medium data.zoo data.votes BoltzmannMachine.coupling_count", {}),
    **each("entropy exact_plan ground_state probabilities to_bits to_dimod", {"model": M}),
    **each("invert_bethe invert_mean_field invert_tap", {"data": ROWS}),
    "BoltzmannMachine": {"weights": M.weights, "biases": M.biases, "temperature": 2.0, "offset": 2.0},
    "BoltzmannMachine.clamp": {"units": [0, 2], "values": [1, -1]},
    "BoltzmannMachine.at": {"temperature": 2.0},
    "BoltzmannMachine.energy": {"s": ROWS},
    "BoltzmannMachine.field": {"s": ROWS},
    "BoltzmannMachine.log_boltzmann": {"s": ROWS, "log_z": 4.0},
    "BoltzmannMachine.indices": {"units": [0, 2]},
    "BoltzmannMachine.save": {"path": FOLDER / "saved.npz"},
    "workers": {"executor": POOL},
    "show_source": {"function": bmlab.toy},
    "anneal": {"model": M, "schedule": SCHEDULE, "rng": 0},
    "learning_steps": {"model": M, "data": ROWS, "rate": RATE},
    "bits": {"spins": ROWS},
    "bracket": {"model": M, "rng": 0, "max_seconds": 0.3},
    "clamped": {"model": HIDDEN, "data": SEEN},
    "clamped_gibbs": {"model": HIDDEN, "data": SEEN, "rng": 0, "n_chains": 3},
    "clamped_mean_field": {"model": HIDDEN, "data": SEEN, "tolerance": 1e-9, "max_sweeps": 50},
    "combine": {"answers": RUNS},
    "complete": {"model": M, "known": KNOWN},
    "conditional": {"model": M, "query": {0: 1}, "given": {1: -1}},
    "temperature_path": {"model": M, "temperatures": TEMPERATURES, "infer": bmlab.mean_field},
    "fit": {"model": M, "data": ROWS, "rate": RATE, "steps": 3},
    "free_energy": {"model": M, "m": EXACT.mean},
    "from_bits": {"weights": M.weights, "biases": M.biases, "temperature": 2.0},
    "from_dimod": {"bqm": BQM, "temperature": 2.0},
    "from_tables": {"tables": {("a", "e"): [[9, 1], [1, 9]], "a": [3, 1]}, "names": ["a", "b", "c", "d", "e"]},
    "gradient": {"model": M, "clamped": SEEN_PHASE, "free": FIELD},
    "two_sample_test": {"data": ROWS, "other": ROWS[:40]},
    "hopfield": {"patterns": ROWS[:2]},
    "ising": {"shape": (2, 3), "coupling": 2.0, "field": 2.0},
    "load": {"path": SAVED},
    "log_likelihood": {"clamped": SEEN_PHASE, "free": FIELD},
    "lowest_states": {"model": M, "k": 3},
    "log_prob": {"model": HIDDEN, "data": SEEN},
    "maximize": {"model": M, "data": ROWS, "penalty": 0.01, "tolerance": 1e-6},
    "moments": {"chunks": ROWS},
    "pcd": {"model": RBM, "data": SEEN, "rng": 0, "steps": 3, "rate": RATE, "batch": 20, "n_chains": 10},
    "penalty_path": {"data": ROWS, "rng": 0, "penalties": np.array([0.3, 0.1]), "n_folds": 2, "bias_penalty": 0.01},
    "pseudo_log_likelihood": {"model": M, "data": ROWS},
    "pseudolikelihood": {"data": ROWS, "penalty": 0.01},
    "restricted": {"weights": LAYER, "visible_biases": [0.1, 0.2, 0.3], "hidden_biases": [0.4, 0.5]},
    "sample": {"model": M, "size": 4, "rng": 0},
    "sherrington_kirkpatrick": {"n": 5, "rng": 0},
    "spins": {"bits": ON},
    "standard_errors": {"model": TOP, "data": ROWS, "penalty": 0.01, "bias_penalty": 0.01},
    "states": {"n": 3},
    "sweep": {"model": M, "s": ROWS, "u": UNIFORMS},
    "symmetric": {"matrix": np.arange(9.0).reshape(3, 3)},
    "triplets": {"data": ROWS},
    "data.digits": {"threshold": 7},
    "data.mnist": {"rng": 0},
    "data.yes_no": {"frame": FRAME},
    "data.encoder": {"v": 4},
    "data.shifter": {"n": 4},
    "data.raster": {"bins": 20, "rng": 0},
    "widgets.ConditionalView": {"model": M},
    "widgets.MachineView": {"model": M},
    "widgets.StatesView": {"model": M},
    "widgets.UpdateView": {"model": bmlab.toy()},
    "widgets.ChainsView": {"model": M},
    "widgets.VisitedView": {"model": bmlab.toy()},
    "widgets.MeanFieldView": {"model": M},
    "widgets.MessageView": {"model": M},
    "widgets.PaintView": {"machines": [FOUR, FOUR], "log_z": [1.0, 2.0]},
}
# Further arguments of the call that works, for an argument that changes the answer only with them.
VARIANTS = {
    "penalty": {"penalty": 0.01},
    "bias_penalty": {"bias_penalty": 0.01},
    "l1": {"l1": 0.01},
    "momentum": {"momentum": 0.5},
    "batch": {"batch": 20, "rng": 0},
    "couplings": {"couplings": MASK},
    "sample_weight": {"sample_weight": WEIGHING},
    "rng": {"batch": 20, "rng": 0},
    "noise": {"noise": 0.1},
    "n_chains": {"n_chains": 5},
    "n_ladders": {"n_ladders": 5},
    "n_draws": {"n_draws": 3},
    "BoltzmannMachine.couplings": {"couplings": MASK, "weights": np.where(MASK, M.weights, 0.0)},
}


@cache
def public():
    """Name -> function, of all that bmlab offers: methods of its classes, and its data, too."""
    found = {}
    for name in bmlab.__all__:
        thing = getattr(bmlab, name)
        if callable(thing) and name not in RECORDS:
            found[name] = thing
    methods = [n for n, f in vars(bmlab.BoltzmannMachine).items() if inspect.isfunction(f)]
    homes = {
        "BoltzmannMachine": (M, methods),
        "widgets": (widgets, [name for name in widgets.__all__ if f"widgets.{name}" in CALLS]),
    }
    own = [n for n, f in vars(bmlab.data).items() if inspect.isfunction(f) and f.__module__ == bmlab.data.__name__]
    for home, (owner, names) in (homes | {"data": (bmlab.data, own)}).items():
        found |= {f"{home}.{name}": getattr(owner, name) for name in names if not name.startswith("_")}
    return found


def call_and_cases(name, function):
    """A call that works, and of each argument (the base of its cases, its cases)."""
    parameters = {k: p for k, p in inspect.signature(function).parameters.items() if p.kind != p.VAR_KEYWORD}
    found = {}
    for argument, parameter in parameters.items():
        kind = KINDS.get(f"{name}.{argument}", KINDS.get(argument, []))
        variant = VARIANTS.get(argument, {})
        base = (variant if set(variant) <= set(parameters) else {}) | CALLS[name]
        base |= VARIANTS.get(f"{name}.{argument}", {})
        value = base.get(argument, parameter.default)
        found[argument] = base, list(kind(value, parameter.default is None) if callable(kind) else kind)
    return CALLS[name], found


CASES = {name: call_and_cases(name, function) for name, function in public().items() if name in CALLS}
