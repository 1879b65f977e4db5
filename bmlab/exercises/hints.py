"""The fault of a wrong answer in a sentence: its numbers are compared with the right ones in many cases.

A hint says what was seen, not what the student did: the answer is off by a factor, a constant or a length, does not
depend on an argument, is right for another argument (of the other sign, twice as large) or in simpler cases (at T = 1,
without biases), or equals the right formula with one slip in it (edits.py). Each is said only if it is so in all cases;
of two slips with the same numbers none is named. Otherwise the smallest wrong case is shown.
"""

import ast
import inspect
import textwrap
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from copy import deepcopy
from functools import cache
from io import StringIO
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from ..checking.arrays import first_largest
from ..model import BoltzmannMachine
from .answers import (
    DIGITS,
    READ_ONLY,
    STOPS,
    WrongKind,
    agree,
    close,
    equal,
    in_shape,
    labels_of,
    parts,
    returned,
    same_bits,
)
from .edits import edited
from .shown import case, number, short, size

MAX_RECORDED = 24  # questions of a test on which a slip is named
BY_HAND = 12  # numbers in a call of a test that is shown
ENOUGH = 3  # pairs of cases in which an argument must be seen to do nothing
FEW_DIGITS = "{} is right to three digits, and all are asked for: return it without rounding, and no float32"


class Trial(NamedTuple):
    """A student's function beside the right one, in cases of which some are wrong.

    cases, rights, pairs    the arguments, the right answers, and the arrays of both answers: one entry a case
    typed                   the source of the student's function, "" if it is not known
    """

    mine: Callable
    right: Callable
    cases: list[list]
    rights: list
    pairs: list[tuple[list[np.ndarray], list[np.ndarray]]]
    typed: str = ""

    def on(self, more: list[list]) -> "Trial":
        """Return the trial with more cases; raise WrongKind if an answer cannot be compared."""
        rights = [self.right(*deepcopy(one)) for one in more]
        found = [returned(self.mine, one) for one in more]
        pairs = [in_shape(self.mine.__name__, one, other) for one, other in zip(found, rights, strict=True)]
        return self._replace(cases=self.cases + more, rights=self.rights + rights, pairs=self.pairs + pairs)


def slip(trial: Trial, source: str = "", more: list[list] | None = None) -> str:
    """Return the fault common to all of the cases, or else the smallest of them and of `more`, which are small.

    source   the right function's, if known
    """
    if words := named(trial, source):
        return words
    for given in more or []:
        for other in ([short(one) for one in given], given):  # as it is drawn, if the short one has no answer
            with suppress(Exception):
                larger = trial.on([other])
                if all(np.isfinite(one).all() for one in larger.pairs[-1][1]):
                    trial = larger
                    break
    return example(trial)


def named(trial: Trial, source: str = "") -> str:
    """Return the fault of a function in all of the cases tried, "" if it has no name here."""
    mine, right, tried = trial[:3]
    if writes(mine, tried):
        return "it writes into what it is given: begin with a copy, np.array(...)"
    which, found, wanted, it = first_wrong(trial)
    flat = [np.concatenate([np.ravel(one) for one in side]) for side in (found, wanted)]
    words = by_ratio(*flat) or by_argument(found, wanted, tried, right)
    words = words or by_sum(found, wanted) or by_place(found, wanted)
    words = words or by_step(found, wanted, tried, right, which) or by_ignored(mine, right, tried)
    words = words or by_changed(found, tried, right, which)
    if not words and (words := by_edit(trial.typed, source)):
        it = "it"  # the slip may be in the source of another part
    words = words or by_simpler(mine, right, tried, which)
    return f"{it} {words}" if words else ""


def named_in_test(test: str, asked: Sequence[str], names: dict, solution: str) -> str:
    """Return the fault of a function in all calls of its test, or else its smallest wrong call, if that is small.

    asked      the names of which the test asks
    names      what the notebook knows
    solution   the source of the right answer
    """
    with suppress(Exception), np.errstate(all="ignore"), redirect_stdout(StringIO()):
        exec(compiled(solution), right := dict(names))
        for name in asked:
            calls: list[list] = []
            try:
                exec(compiled(test), right | {name: recording(right[name], calls)})
            except Draws:
                continue
            trial = Trial(renamed(names[name], name), right[name], [], [], [], source_of(names[name]))
            try:
                trial = trial.on(calls[:MAX_RECORDED])
            except WrongKind as problem:
                return f"{problem}"
            if all(equal(*pair) for pair in trial.pairs):
                return FEW_DIGITS.format(name) * (not all(equal(*pair, off=1e-9) for pair in trial.pairs))
            if words := named(trial, solution) or small_example(trial):
                return f"{name}: {words}"
    return ""


def source_of(function: Callable) -> str:
    """Return the source of a student's function, "" if it is not known."""
    with suppress(Exception):
        return inspect.getsource(inspect.unwrap(function))
    return ""


class Draws(Exception):
    """A function draws, so two right ones differ: it was given a generator."""


def recording(function, calls):
    """A function that appends the arguments of each call to `calls`."""

    def record(*given):
        if any(isinstance(one, np.random.Generator) for one in given):
            raise Draws
        calls.append(list(deepcopy(given)))
        return function(*given)

    return record


def renamed(function, name):
    """A function by another name: that of an answer, which may be a lambda."""

    def answered(*given):
        return function(*given)

    answered.__name__ = name
    return answered


def first_wrong(trial):
    """The first part of an answer that is wrong: its place, the answer in each case, the right one, its words."""
    labels = labels_of(trial.rights[0])
    which = next(k for k in range(len(labels)) if not all(close(found[k], wanted[k]) for found, wanted in trial.pairs))
    found, wanted = ([pair[side][which] for pair in trial.pairs] for side in (0, 1))
    return which, found, wanted, labels[which]


def arguments(right, tried):
    """The name of each argument, and its values in all cases."""
    return list(zip(inspect.signature(right).parameters, zip(*tried, strict=True), strict=False))


def answered(function, given):
    """The parts of a function's answer, if it has one; what it warns of and prints is not shown."""
    with suppress(Exception), warnings.catch_warnings(), redirect_stdout(StringIO()):
        warnings.simplefilter("ignore")
        return parts(function(*deepcopy(given)))
    return []


def matches(found, other):
    """Whether the parts of two answers have the same shapes and numbers."""
    return [one.shape for one in found] == [one.shape for one in other] and all(map(close, found, other))


def with_case(words, mine, right, tried, place):
    """Say in which case an answer cannot be compared: for several states at once, or which it is if not every one."""
    if place == len(tried):  # it was compared in all
        return words
    single = single_states(tried)
    if single and agree(mine, right, single):
        return f"{mine.__name__} is right for one state; for several at once it {words.partition(' ')[2]}"
    is_case_s = place or (STOPS in words and f"{STOPS}NameError" not in words)
    return f"{words} ({case(right, tried[place])})" if is_case_s else words


def single_states(tried):
    """The cases of one state, if others are of several at once."""
    dimensions = [[np.ndim(one) for one in case] for case in tried]
    fewest = [min(some) for some in zip(*dimensions, strict=True)]
    return (
        []
        if all(one == fewest for one in dimensions)
        else [case for case, one in zip(tried, dimensions, strict=True) if one == fewest]
    )


def writes(mine, tried):
    """Whether a function writes into an array that it is given, also if it takes that back before its end."""
    for given in deepcopy(tried):
        for array in (one for one in given if isinstance(one, np.ndarray)):
            array.flags.writeable = False
        try:
            with redirect_stdout(StringIO()):
                mine(*given)
        except Exception as problem:
            if READ_ONLY in str(problem):
                return True
    return False


def by_ratio(found, wanted):
    """Words for an answer that is infinite, off by a factor or a constant, or never changes."""
    endless = np.isinf(found) & np.isfinite(wanted)
    if endless.any():
        seen = f"is {found[endless][0]} where {number(wanted[endless][0])} is right"
        return f"{seen}, as an overflow, a division by 0 or the logarithm of 0 gives"
    known = np.isfinite(found) & np.isfinite(wanted)
    found, wanted = found[known], wanted[known]
    if not found.size:
        return ""
    if np.ptp(found) < 1e-12 and np.ptp(wanted) > DIGITS:
        return f"is {number(found[0])}, whatever is given"
    off = np.abs(found - wanted) > DIGITS
    if off.any() and np.ptp(found[off]) < 1e-12 and np.ptp(wanted[off]) > DIGITS:
        return f"is {number(found[off][0])} wherever it is wrong"
    large = np.abs(wanted) > 1e-2
    factors = found[large] / wanted[large]
    steady = factors.size and np.allclose(factors, factors[0], rtol=0.01) and close(found, factors[0] * wanted)
    if steady and f"{factors[0]:.3g}" != "1":
        times = f"is {factors[0]:.3g} times what it should be"
        return next((words for one, words in FACTORS.items() if close(factors[0], one)), times)
    if close(np.abs(found), np.abs(wanted)) and not np.all(np.abs(wanted) == 1):
        return "has the right size, and sometimes the wrong sign"
    if close(found - wanted, more := found[0] - wanted[0]):
        return f"is always too {'large' if more > 0 else 'small'} by {abs(more):.3g}: a constant"
    if np.all(np.abs(wanted) == 1) and not np.all(odd := np.abs(found) == 1):
        return f"holds {number(found[~odd][0])}, where each number should be -1 or +1"
    fitting = {words for operation, words in INSTEAD.items() if close(found, operation(wanted))}
    return fitting.pop() if len(fitting) == 1 else ""  # where all are between -1 and 1, the sign or a rounded one


FACTORS = {
    -1: "has the wrong sign",
    2: "is twice what it should be",
    0.5: "is half of what it should be",
    1 / np.log(2): "is in bits: the natural logarithm is asked for",
}
INSTEAD = {
    lambda x: 1 - x: "is one minus what it should be",
    np.exp: "is e to what it should be",
    lambda x: np.log(np.abs(x) + 1e-300): "is the logarithm of what it should be",
    np.square: "is the square of what it should be",
    lambda x: np.sqrt(np.abs(x)): "is the root of what it should be",
    lambda x: 1 / np.where(x, x, np.nan): "is one over what it should be",
    lambda x: x / (1 - np.where(x == 1, np.nan, x)): "is the odds, p / (1 - p), where p is asked for",
    lambda x: 2 * x - 1: "is twice what it should be, minus 1",
    lambda x: (1 + x) / 2: "is halfway between what it should be and 1",
    np.round: "is rounded to a whole number",
    np.trunc: "is cut to a whole number",
    np.ceil: "is rounded up to a whole number",
    lambda x: np.round(x, 1): "is rounded to one digit behind the point",
    lambda x: np.round(x, 2): "is rounded to two digits behind the point",
    np.sign: "has the sign alone, and not the size",
}


def by_argument(found, wanted, tried, right):
    """Words for an answer that equals an argument, has the wrong sign, or is off by a length."""
    single = sum(isinstance(one, BoltzmannMachine) for one in tried[0]) == 1
    for name, given in arguments(right, tried):
        if isinstance(given[0], BoltzmannMachine):
            name, given = "T" if single else f"the T of {name}", [one.temperature for one in given]
        if not isinstance(given[0], np.ndarray | float | int):
            continue
        if all(np.shape(one) == np.shape(other) and close(one, other) for one, other in zip(found, given, strict=True)):
            return f"is {name}, as it was given"
        if not any(map(np.ndim, given)):
            for power, words in POWERS.items():
                scaled = [other * float(one) ** power for other, one in zip(wanted, given, strict=True) if one]
                if len(scaled) == len(given) and np.ptp(given) > DIGITS and all(map(close, found, scaled)):
                    return words.format(name)
        for axis in range(max(map(np.ndim, given))):
            lengths = [np.shape(one)[axis] if np.ndim(one) > axis else 1 for one in given]
            for words, factor in LENGTHS.items():
                if all(close(one, other * factor(n)) for one, other, n in zip(found, wanted, lengths, strict=True)):
                    return words.format(name)
    if all(one.T.shape == other.shape and close(one.T, other) for one, other in zip(found, wanted, strict=True)):
        return "has rows and columns exchanged"
    return ""


POWERS = {
    1: "is {} times what it should be",
    -1: "is 1/{} times what it should be",
    2: "is the square of {} times what it should be",
    -2: "is what it should be, divided by the square of {}",
}
LENGTHS = {
    "is the length of {} times what it should be": float,
    "is what it should be, divided by the length of {}": lambda n: 1 / n,
    "is N / (N - 1) times what it should be, N the length of {}": lambda n: n / (n - 1) if n > 1 else np.nan,
    "is (N - 1) / N times what it should be, N the length of {}": lambda n: (n - 1) / n,
}


def by_ignored(mine, right, tried):
    """Words for an answer that does not change with an argument that the right one depends on."""
    for k, (name, given) in enumerate(arguments(right, tried)):
        kinds = [(type(one), np.shape(one), getattr(one, "n", 0)) for one in given]
        alike = [pair for pair, (one, other) in zip(pairwise(tried), pairwise(kinds), strict=True) if one == other]
        pairs = [(one, [*one[:k], other[k], *one[k + 1 :]]) for one, other in alike]
        matter = [pair for pair in pairs if not same_answer(right, *pair)]
        turned = [(one, [*one[:k], one[k][::-1], *one[k + 1 :]]) for one in tried if np.ndim(one[k])]
        if len(matter) >= ENOUGH and all(same_answer(mine, *pair) for pair in matter + turned):
            return f"does not depend on {'the numbers in ' * isinstance(given[0], np.ndarray | list)}{name}, and should"
    return ""


def same_answer(function, one, other):
    """Whether a function has the same finite answer in two cases; unknown if it has none."""
    first, second = answered(function, one), answered(function, other)
    return bool(first) and matches(first, second) and all(np.isfinite(part).all() for part in first)


def by_sum(found, wanted):
    """Words for numbers that should add up to 1."""
    if any(np.size(one) < 2 or not np.isfinite(one).all() for one in found):
        return ""
    for axis, words in ((None, "does not add up to 1"), (-1, "does not add up to 1 in each row")):
        sums = [np.sum(one, axis=axis, keepdims=True) for one in found]
        if all(close(one / n, other) for one, n, other in zip(found, sums, wanted, strict=True)):
            return f"{words}: divide by the sum"
    return ""


def by_place(found, wanted):
    """Words for an answer that is right but for its diagonal, its order or one of its ends."""
    if all(one.ndim == 2 and one.shape[0] == one.shape[1] > 1 for one in wanted):
        rest = [1 - np.eye(len(one)) for one in wanted]
        if all(close(one * keep, other * keep) for one, other, keep in zip(found, wanted, rest, strict=True)):
            return "is right but for its diagonal"
    if any(one.ndim == 0 or one.shape[-1] < 2 for one in wanted):
        return ""
    for words, change in PLACES.items():
        if all(close(*change(one, other)) for one, other in zip(found, wanted, strict=True)):
            return words
    return ""


PLACES = {
    "has the right numbers, but in another order": lambda one, other: (
        np.sort(one, axis=None),
        np.sort(other, axis=None),
    ),
    "is right but for its last number": lambda one, other: (one[..., :-1], other[..., :-1]),
    "is right but for its first number": lambda one, other: (one[..., 1:], other[..., 1:]),
}


def by_edit(typed, source):
    """Words for an answer that was typed as the right formula with one slip in it."""
    return next((words for words, text in edited(source) if code(text) == code(typed)), "") if typed and source else ""


def code(text):
    """The code of a function as a text, without how it is laid out, comments, decorators and docstrings."""
    tree = ast.parse(textwrap.dedent(text))
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    for one in functions:
        one.decorator_list = []
        one.body = one.body[bool(ast.get_docstring(one)) :] or one.body
    return "\n".join(map(ast.unparse, functions or [tree]))


@cache
def compiled(text):
    """The code of a source."""
    return compile(text, "slip", "exec")


def by_changed(found, tried, right, which):
    """Words for an answer that is right for another argument: of the other sign, twice as large, ..."""
    first, names = tried[0], list(inspect.signature(right).parameters)
    machines = [k for k, one in enumerate(first) if isinstance(one, BoltzmannMachine)]
    for places in [[k] for k in range(len(first))] + [machines] * (len(machines) > 1):
        for words, change in changes_of(first[places[0]]).items():
            if reproduces(right, changed(tried, places, change), found, which):
                return words.format(" and ".join(names[k] for k in places))
    for i, j in combinations(range(len(first)), 2):
        if type(first[i]) is type(first[j]) and reproduces(right, exchanged(tried, i, j), found, which):
            return f"has {names[i]} and {names[j]} exchanged"
    return ""


def changed(tried, places, change):
    """The cases with some arguments changed."""
    return ([change(one) if k in places else one for k, one in enumerate(case)] for case in tried)


def exchanged(tried, i, j):
    """The cases with two arguments exchanged."""
    return ([case[{i: j, j: i}.get(k, k)] for k in range(len(case))] for case in tried)


def reproduces(right, cases, found, which):
    """Whether the right function has, in other cases, the part of a student's answer."""
    with suppress(Exception):
        return all(matches([one], [answered(right, case)[which]]) for one, case in zip(found, cases, strict=True))
    return False


def changes_of(one):
    """Values that a student may have used in place of an argument."""
    if isinstance(one, BoltzmannMachine):
        return MACHINES
    if type(one) is int:
        return COUNTS
    if isinstance(one, np.ndarray) and one.dtype.kind == "f":
        are_states = one.size > 0 and bool(np.all((np.abs(one) == 1) | np.isnan(one)))
        return OF_STATES if are_states else SCALED
    return SCALED | TAKEN if isinstance(one, float) else {}


OF_STATES = {"is right for minus {0} in the place of {0}": lambda x: -x}
SCALED = OF_STATES | {
    "is right for twice {0} in the place of {0}": lambda x: 2 * x,
    "is right for half of {0} in the place of {0}": lambda x: x / 2,
    "is right for one over {0} in the place of {0}": lambda x: 1 / x,
}
TAKEN = {f"is what it would be for {{}} = {value:g}": lambda _, value=value: value for value in (1.0, 0.0)}
COUNTS = {"is what it would be for {} - 1": lambda x: x - 1}


def scaled(weights: float = 1, biases: float = 1, temperature: float = 1) -> Callable:
    """Return a function that scales the weights and biases of a machine, and takes a power of its temperature."""
    return lambda one: BoltzmannMachine(weights * one.dense_weights, biases * one.biases, one.temperature**temperature)


PARTS = {"energy": (1, 1), "weights": (1, 0), "biases": (0, 1)}
SCALES = {"had a minus in front": -1, "were twice as large": 2, "were half as large": 0.5}
MACHINES = {
    "is what it should be if {} had T = 1": scaled(temperature=0),
    "is what it should be if {} had 1/T for T": scaled(temperature=-1),
    "is what it should be if {} had no biases": scaled(biases=0),
    "is what it should be if {} had no weights": scaled(weights=0),
} | {
    f"is what it should be if the {part} of {{}} {words}": scaled(*(factor**power for power in powers))
    for words, factor in SCALES.items()
    for part, powers in PARTS.items()
}


def by_step(found, wanted, tried, right, which):
    """Words for a step from the right place in the wrong direction or too far, or from nothing."""
    for name, given in arguments(right, tried):
        begun = [start_of(one, which) for one in given]
        if not all(np.shape(one) == np.shape(other) for one, other in zip(begun, wanted, strict=True)):
            continue
        mine, ours, start = (np.concatenate([np.ravel(one) for one in side]) for side in (found, wanted, begun))
        moved = np.abs(ours - start) > 1e-2
        if not moved.any() or not np.isfinite(mine).all():
            continue
        factor = ((mine - start)[moved] / (ours - start)[moved])[0]
        if close(mine, ours - start):
            return f"is the step alone: {name} is to be added to it"
        if close(mine - start, factor * (ours - start)) and f"{factor:.3g}" != "1":
            named = {-1: "goes the wrong way", 0: f"stays as {name} gives it"}
            steps = f"takes steps {factor:.3g} times as long as they should be"
            return next((words for one, words in named.items() if abs(factor - one) < DIGITS), steps)
    return ""


def start_of(given, which):
    """The part of an argument that matches a part of an answer; nothing if it is no real number."""
    if isinstance(given, BoltzmannMachine):
        return parts(given)[which]
    is_number = isinstance(given, float) or (isinstance(given, np.ndarray) and given.dtype.kind == "f")
    return np.asarray(given) if is_number else np.empty(0)


def by_simpler(mine, right, tried, which):
    """Words for an answer that is right in simpler cases: of one state, at T = 1, without biases, ...

    Of several such the first is named that all right answers of those tried have, if there is one.
    """
    named = {}  # words -> whether every case that is not simple in this way is wrong
    for k, (name, given) in enumerate(arguments(right, tried)):
        for words, change in SIMPLER.get(type(given[0]), {}).items():
            simpler = list(changed(tried, [k], change))
            if is_informative(right, simpler, which) and agree(mine, right, simpler):
                others = [one for one, other in zip(tried, simpler, strict=True) if not same_bits(one, other)]
                named[f"is right {words.format(name)}"] = not any(agree(mine, right, [one]) for one in others)
    single = single_states(tried)
    if not named and single and is_informative(right, single, which) and agree(mine, right, single):
        return "is right for one state, and not always for several at once"
    return max(named, key=named.__getitem__, default="")


SIMPLER = {
    BoltzmannMachine: {
        "at T = 1, and not always otherwise": scaled(temperature=0),
        "without biases, and not always with them": scaled(biases=0),
        "without weights, and not always with them": scaled(weights=0),
    },
    float: {f"for {{}} = {value:g}, and not always otherwise": lambda _, value=value: value for value in (1.0, 0.0)},
    int: {"for {} = 1, and not always otherwise": lambda _: 1},
}


def is_informative(right, cases, which):
    """Whether the right answers are numbers, more than two, and not the arguments: else they would prove nothing."""
    with suppress(Exception):
        answers = [answered(right, one)[which] for one in cases]
        values = np.concatenate([np.ravel(one) for one in answers])
        given = [[start_of(one, which) for one in case] for case in cases]
        is_given = any(matches(answers, some) for some in zip(*given, strict=True))
        return not is_given and bool(np.isfinite(values).all() and len(np.unique(np.round(values, 3))) > 2)
    return False


def small_example(trial):
    """The words of example() if its numbers can be followed by hand, else ""."""
    return example(trial) if sum(map(size, smallest(trial)[0])) <= BY_HAND else ""


def smallest(trial):
    """The smallest case in which an answer is wrong, and its place."""
    tried, (_, found, wanted, _) = trial.cases, first_wrong(trial)
    wrong = [k for k in range(len(tried)) if not close(found[k], wanted[k])]
    place = min(wrong, key=lambda k: (sum(map(size, tried[k])), np.abs(wanted[k]).max(initial=0)))
    return tried[place], place


def example(trial):
    """Words for an answer that is wrong in no way that is known: the smallest case, and both values."""
    (_, found, wanted, it), (given, place) = first_wrong(trial), smallest(trial)
    off = np.unravel_index(first_largest(np.abs(found[place] - wanted[place])), wanted[place].shape)
    at = f" at place {tuple(map(int, off))}" if off else ""
    mine, ours = found[place][off], wanted[place][off]
    column = (int(off[0]), *wanted[place].shape) if len(off) == 1 else None
    return f"for {case(trial.right, given, column)} {it} is {number(mine, ours)}{at}, and {number(ours, mine)} is right"
