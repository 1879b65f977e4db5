"""Is a student's function right? It is tried beside the package's version on random cases, made to be awkward.

Machines are small and have fields, names and a temperature other than 1; states come one alone and many at once;
lengths differ. What comes back is looked at before it is computed with (answers.py), and a wrong answer gets a
sentence on what is wrong with it (hints.py).
"""

import inspect
from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from ..model import BoltzmannMachine
from .answers import AGAIN, WrongKind, called_alike, equal, in_shape, returned, same_kind
from .hints import Trial, compiled, matches, slip, with_case

CASES = 12  # that an answer is tried on
EXTRA_CASES = 12  # that a wrong one is tried on, before its slip is named, and small ones, of which one is shown
SMALLEST = (2, 3)  # the n of these: some slips show with three units only
NOT_YET = "{} is not right yet: {}"
SHARED = "{} writes over what it returned before: make a new array in each call"


class Verdict(NamedTuple):
    """The fault, "" if there is none; and whether the story can go on with the answer, right to all digits."""

    wrong: str
    whole: bool = True


class Untried(Exception):
    """The package's version cannot be asked: cells above were not run."""


# The cases: the kind of an argument, by its name


def machine(rng: np.random.Generator, n: int, temperature: float = 0) -> BoltzmannMachine:
    """Return a machine of n units with weights, biases, names, and a temperature that is not 1."""
    weights = np.triu(rng.normal(size=(n, n)), 1)
    temperature = temperature or rng.choice([0.6, 1.7, 2.3])
    return BoltzmannMachine(weights + weights.T, rng.normal(size=n), temperature, names=tuple("abcdefgh"[:n]))


def tree(rng: np.random.Generator, n: int) -> BoltzmannMachine:
    """Return a machine() whose units are coupled in a row, as a tree of one branch."""
    one, place = machine(rng, n), np.arange(n)
    in_a_row = np.abs(place[:, None] - place) == 1
    return BoltzmannMachine(in_a_row * one.dense_weights, one.biases, one.temperature, names=one.names)


def states(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Return states of -1 and +1, of a shape."""
    return rng.choice([-1.0, 1.0], size=shape)


def either(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return one state, or several, one a row."""
    return states(rng, *[int(rng.integers(2, 6))] * int(rng.integers(2)), n)


KINDS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    **dict.fromkeys(("machine", "model", "old", "new"), machine),
    "s": either,
    "data": lambda rng, n: states(rng, int(rng.integers(3, 8)), n),
    "i": lambda rng, n: int(rng.integers(n)),
    "m": lambda rng, n: rng.uniform(-0.9, 0.9, size=n),
    "T": lambda rng, n: float(rng.choice([0.6, 1.7, 2.3])),
    "x": lambda rng, n: rng.normal(size=n + 2) * 3,
}


HELP = {"machine": machine, "tree": tree, "states": states, "either": either, "np": np}


def draw(function: Callable, kinds: str, rng: np.random.Generator, names: dict, n: int = 0) -> list:
    """Return the arguments of one case.

    kinds   the arguments as an expression in rng, n and what a notebook knows; "" where their names say what they are
    n       about how large they are; 0 for 2 to 4
    """
    n = n or int(rng.integers(2, 5))
    if kinds:
        return list(eval(kinds, names | HELP | {"rng": rng, "n": n}))
    asked = [name for name, one in inspect.signature(function).parameters.items() if one.default is one.empty]
    return [KINDS[name](rng, n) if name in KINDS else float(rng.normal()) * 1.5 for name in asked]


# The judge


def judge(
    mine: Callable,
    right: Callable,
    kinds: str = "",
    cases: int = CASES,
    source: str = "",
    typed: str = "",
    slips: dict | None = None,
) -> Verdict:
    """Return the verdict on a student's function beside the package's.

    source, typed   of the package's function and of the student's: they name slips, if they are known
    slips           {source: what is said} of functions that the notebook knows to be typed

    Raises Unanswered if it is not written yet, and Untried if the package's version cannot be asked.
    """
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        try:
            tried = [draw(right, kinds, rng, mine.__globals__) for _ in range(cases)]
            wanted = [right(*deepcopy(given)) for given in tried]
        except Exception as problem:
            raise Untried(f"{type(problem).__name__}: {problem}") from None
        pairs, others = [], []
        try:
            is_called_alike = called_alike(mine.__name__, mine, right)
            found = answers(mine, tried, wanted, pairs)
            if not all(equal(*pair) for pair in pairs):
                more = [draw(right, kinds, rng, mine.__globals__) for _ in range(EXTRA_CASES)]
                tried, others = tried + more, [right(*deepcopy(given)) for given in more]
                answers(mine, more, others, pairs)
                if words := known_slip(slips, right, tried, wanted + others, pairs):
                    return Verdict(NOT_YET.format(mine.__name__, words))
                trial = Trial(mine, right, tried, wanted + others, pairs, typed)
                sizes = SMALLEST * EXTRA_CASES
                small = [draw(right, kinds, rng, mine.__globals__, n) for n in sizes]
                return Verdict(NOT_YET.format(mine.__name__, slip(trial, source, small)))
        except WrongKind as problem:
            if words := known_slip(slips, right, tried, wanted + others, pairs, str(problem)):
                return Verdict(NOT_YET.format(mine.__name__, words))
            return Verdict(with_case(str(problem), mine, right, tried, len(pairs)))
    whole = all(equal(*pair, off=1e-9) for pair in pairs)
    return Verdict("", whole and is_called_alike and all(map(same_kind, found, wanted)))


def known_slip(slips, right, tried, wanted, pairs, problem=""):
    """The sentence of a known slip with the same result in all cases, also if it cannot be compared."""
    for text, words in (slips or {}).items():
        other: list = []
        made, said = dict(right.__globals__), ""
        exec(compiled(text), made)
        try:
            answers(made[right.__name__], tried, wanted, other)
        except WrongKind as error:
            said = str(error)
        same = len(other) == len(pairs) and said == problem
        if same and all(matches(one, two) for (one, _), (two, _) in zip(other, pairs, strict=True)):
            return words
    return ""


def answers(mine: Callable, cases: list[list], wanted: list, pairs: list) -> list:
    """Return the answer of a student's function in each case; its arrays and the right ones are in `pairs`.

    Raises WrongKind if one cannot be compared, and if answers depend on calls before or after.
    """
    name, found, first = mine.__name__, [], len(pairs)
    for given, other in zip(cases, wanted, strict=True):
        found.append(returned(mine, given))
        arrays, right = in_shape(name, found[-1], other)
        pairs.append(([one.copy() for one in arrays], right))
    again, _ = in_shape(name, returned(mine, cases[0]), wanted[0])
    if not equal(again, pairs[first][0]):
        raise WrongKind(AGAIN.format(name))
    now = [in_shape(name, one, other)[0] for one, other in zip(found, wanted, strict=True)]
    if not all(equal(one, before) for one, (before, _) in zip(now, pairs[first:], strict=True)):
        raise WrongKind(SHARED.format(name))
    return found
