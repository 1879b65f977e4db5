"""Is a student's function right? It is tried beside the package's version on random cases, made to be awkward.

Machines are small and have fields, names and a temperature other than 1; states come one alone and many at once;
lengths differ. What comes back is looked at before it is computed with, and a wrong answer is tried again on simpler
cases (at T = 1, without biases, ...) until it is known what is wrong with it.
"""

import inspect
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from copy import deepcopy
from functools import partial, wraps
from io import StringIO
from typing import Any, NamedTuple

import numpy as np

import bmlab

from ..model import BoltzmannMachine
from ..validation import describe

READ_ONLY = "read-only"  # in what numpy says of an array that may not be changed
WRITES = "{} writes into what it is given: begin with a copy, np.array(...)"
COMPLEX = "{} returned a complex number: is there a root or a power of what is negative?"
ORDINAL = ("first", "second", "third", "fourth")
CASES = 12  # that an answer is tried on
DIGITS = 6e-4  # how far an answer may be off: three decimals are right


class Verdict(NamedTuple):
    """What is wrong, "" where nothing is; and whether an answer can go on in the story as it is, to all digits."""

    wrong: str
    whole: bool = True


class Open(Exception):
    """The answer is not written yet."""


class Untried(Exception):
    """The package's version cannot be asked: cells above were not run."""


class Wrong(Exception):
    """What is wrong with what came back, a sentence that begins with the function's name."""


# The cases: what an argument is, by its name


def machine(rng: np.random.Generator, n: int, temperature: float = 0) -> BoltzmannMachine:
    """Return a machine of n units with weights, biases, names, and a temperature that is not 1."""
    weights = np.triu(rng.normal(size=(n, n)), 1)
    temperature = temperature or rng.choice([0.6, 1.7, 2.3])
    return BoltzmannMachine(weights + weights.T, rng.normal(size=n), temperature, names=tuple("abcdefgh"[:n]))


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
HELP = {"machine": machine, "states": states, "either": either, "np": np, "bmlab": bmlab}


def draw(function: Callable, kinds: str, rng: np.random.Generator, names: dict) -> list:
    """Return the arguments of one case.

    kinds   the arguments as an expression in rng, n and what a notebook knows; "" where their names say what they are
    """
    n = int(rng.integers(2, 5))
    if kinds:
        return list(eval(kinds, names | HELP | {"rng": rng, "n": n}))
    asked = [name for name, one in inspect.signature(function).parameters.items() if one.default is one.empty]
    return [KINDS[name](rng, n) if name in KINDS else float(rng.normal()) * 1.5 for name in asked]


# What comes back


def as_number(value: Any) -> Any:
    """Return an answer as it is meant, and each of several: one number in a list or an array is that number.

    What has no imaginary part is real.
    """
    if isinstance(value, tuple) and len(value) != 1:
        return tuple(map(as_number, value))
    if isinstance(value, tuple | list | np.ndarray | complex):
        with suppress(ValueError):  # lists of unequal lengths
            array = np.asarray(value)
            if array.dtype.kind == "c" and not np.imag(array).any():
                array = value = np.real(array)
            if array.size == 1 and array.dtype.kind in "biufc":
                return array.reshape(())[()]
    return value


def as_asked(name: str, answer: Any) -> Any:
    """Return an answer as its test takes it, as_number(); a function by what it returns, which must not be complex."""
    if not callable(answer):
        return as_number(answer)

    @wraps(answer)
    def taken(*given, **named):  # a test's own arrays stay as they are
        copies = [one.copy() if isinstance(one, np.ndarray) else one for one in given]
        found = as_number(answer(*copies, **named))
        if is_complex(found):
            raise AssertionError(COMPLEX.format(name))
        return found

    return taken


def is_complex(value: Any) -> bool:
    """Return whether a part of an answer has an imaginary part."""
    for part in value if isinstance(value, tuple) else [value]:
        with suppress(Exception):
            if np.iscomplexobj(np.asarray(as_number(part))):
                return True
    return False


def returned(function: Callable, given: Sequence) -> Any:
    """Return what a function returns, looked at; raise Open or Wrong with a sentence."""
    name, copies = function.__name__, [deepcopy(one) for one in given]
    with redirect_stdout(StringIO()) as printed:
        try:
            found = function(*copies)
        except NotImplementedError:
            raise Open from None
        except RecursionError:
            raise Wrong(f"{name} calls itself without an end: write out what it returns") from None
        except Exception as problem:
            stops = f"{name} stops with {type(problem).__name__}: {problem}"
            raise Wrong(WRITES.format(name) if READ_ONLY in str(problem) else stops) from None
    if not all(map(same_bits, given, copies)):
        raise Wrong(WRITES.format(name))
    if words := look(name, found, printed.getvalue()):
        raise Wrong(words)
    return found


def look(name: str, found: Any, printed: str = "") -> str:
    """Return what is wrong with the kind of what a function returned, before it is computed with; "" if nothing is."""
    if found is None:
        return f"{name} prints and returns nothing: write return for print" if printed.strip() else (
            f"{name} returned nothing: is there a return?"
        )  # fmt: skip
    if isinstance(found, str):
        return f"{name} returned a text, {found[:40]!r}, where numbers are asked for: take the quotes off"
    if callable(found) and not isinstance(found, np.generic | np.ndarray):
        return f"{name} returned {describe(found)}, where numbers are asked for: call it, with ()"
    if isinstance(found, set | dict | map | zip) or inspect.isgenerator(found):
        return f"{name} returned a {type(found).__name__}, where numbers are asked for: make it a list"
    if is_complex(found):
        return COMPLEX.format(name)
    for part in found if isinstance(found, tuple) else [found]:
        with suppress(Exception):
            if not np.size(part):
                return f"{name} returned an empty array: nothing was put into it"
    return ""


def same_bits(one: Any, other: Any) -> bool:
    """Return whether an argument is as it was; machines cannot be written into."""
    return not isinstance(one, np.ndarray) or np.array_equal(one, other, equal_nan=True)


def parts(value: Any, count: int = 0) -> list[np.ndarray]:
    """Return an answer as arrays: a machine has three; a tuple, or what is asked for as one, as many as it is long."""
    if isinstance(value, BoltzmannMachine):
        value, count = (value.dense_weights, value.biases, value.temperature), 3
    pieces = value if isinstance(value, tuple) or count else [value]
    if is_complex(value):
        raise TypeError("complex")
    return [np.asarray(as_number(one), dtype=float) for one in pieces]


def labels_of(right: Any) -> list[str]:
    """Return the words for the parts of an answer."""
    if isinstance(right, BoltzmannMachine):
        return ["its weight matrix", "its row of biases", "its T"]
    return [f"its {ORDINAL[k]} part" for k in range(len(right))] if isinstance(right, tuple) else ["it"]


def fitted(name: str, found: Any, right: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the arrays of an answer, in the shapes of the right ones, and these; raise Wrong where they are others."""
    wanted, several = parts(right), len(right) if isinstance(right, tuple) else 0
    if isinstance(right, BoltzmannMachine) and not isinstance(found, BoltzmannMachine):
        raise Wrong(f"{name} returned {describe(found)}, where a machine is asked for: BoltzmannMachine(weights, ...)")
    if isinstance(found, BoltzmannMachine) and not isinstance(right, BoltzmannMachine):
        raise Wrong(f"{name} returned a machine, where numbers are asked for")
    if several and not (isinstance(found, tuple | list | np.ndarray) and len(found) == several):
        raise Wrong(f"{name} returned {describe(found)}, where {several} things are asked for, with a comma between")
    try:
        arrays = parts(list(found) if isinstance(found, tuple) and not several else found, several)
    except (TypeError, ValueError):
        raise Wrong(f"{name} returned {describe(found)}, where {shape_of(wanted[0])} is asked for") from None
    for k, (array, one) in enumerate(zip(arrays, wanted, strict=True)):
        if array.shape != one.shape and array.size == one.size == 1:
            arrays[k] = array.reshape(one.shape)  # one number is one number
        elif array.shape != one.shape:
            raise Wrong(f"{name} returned {shape_of(array)}, where {shape_of(one)} is asked for")
        elif not np.array_equal(np.isnan(array), np.isnan(one)):
            raise Wrong(f"{name} returned nan (not a number): is there a log of 0, 0/0 or an overflow?")
    return arrays, wanted


def same_kind(found: Any, right: Any) -> bool:
    """Return whether an answer can stand where the right one does: an array for an array, a number for a number."""
    if isinstance(right, tuple) and isinstance(found, tuple):
        return all(map(same_kind, found, right))
    number = isinstance(found, float | int | np.generic) and isinstance(right, float | int | np.generic)
    return number or (type(found) is type(right) and np.shape(found) == np.shape(right))


def shape_of(array: np.ndarray) -> str:
    """Return an array's shape in words."""
    return f"shape {array.shape}" if array.ndim else "one number"


def close(found: np.ndarray, right: np.ndarray, off: float = DIGITS) -> bool:
    """Return whether numbers are equal to so many digits."""
    return np.allclose(found, right, rtol=off / 100, atol=off, equal_nan=True)


def equal(found: Sequence[np.ndarray], right: Sequence[np.ndarray], off: float = DIGITS) -> bool:
    """Return whether all parts of an answer are equal to so many digits."""
    return all(close(one, other, off) for one, other in zip(found, right, strict=True))


class Watched:
    """A function that is asked by a test: what it returns is looked at, and compared in kind with the right answer's.

    `wrong` is what was wrong first, "" if nothing was; `right` may be None.
    """

    def __init__(self, name: str, function: Callable, right: Callable | None):
        self.name, self.function, self.right, self.wrong = name, function, right, ""

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Return what the function returns."""
        copies = deepcopy(given)
        with redirect_stdout(StringIO()) as printed:
            try:
                found = inspect.unwrap(self.function)(*copies, **named)
            except Exception as problem:
                self.wrong = self.wrong or WRITES.format(self.name) * (READ_ONLY in str(problem))
                raise
        self.wrong = self.wrong or WRITES.format(self.name) * (not all(map(same_bits, given, copies)))
        self.wrong = self.wrong or look(self.name, found, printed.getvalue())
        if self.right and not self.wrong:
            with suppress(Exception):
                wanted = self.right(*deepcopy(given), **deepcopy(named))
                self.wrong = unlike(self.name, found, wanted)
        return found


def unlike(name: str, found: Any, right: Any) -> str:
    """Return what is wrong with the kind of an answer beside the right one, "" where nothing is."""
    try:
        fitted(name, found, right)
    except Wrong as words:
        return str(words)
    return ""


def kind_of_slip(source: str, asked: Sequence[str], names: dict, solution: str = "") -> str:
    """Return what is wrong with the kind of an answer that a test refuses, "" where nothing is.

    source     the test
    asked      the names that it asks for
    names      what the notebook knows
    solution   the source of the right answer: where it is known, shapes are compared, too
    """
    right = dict(names)
    with suppress(Exception), redirect_stdout(StringIO()):
        exec(solution, right)
    here = {}
    for name in asked:
        if name not in names:
            return f"{name} is missing: run the cell that writes it"
        if callable(names[name]) and (not solution or callable(right[name])):
            here[name] = Watched(name, names[name], right[name] if solution else None)
        elif words := kind_of_value(name, names[name], right[name] if solution else None):
            return words
    if here:
        with suppress(Exception), redirect_stdout(StringIO()):
            exec(source, names | here)
    return next((one.wrong for one in here.values() if one.wrong), "")


def kind_of_value(name: str, found: Any, right: Any = None) -> str:
    """Return what is wrong with the kind of a value, "" where nothing is; a text may be what is asked for."""
    if found is None:
        return f"{name} is None, nothing: write its value"
    words = "" if isinstance(found, str) or isinstance(right, str | list) else look(name, found)
    if right is not None and not isinstance(right, str | list):
        words = look(name, found) or unlike(name, found, right)
    return words.replace(" returned ", " is ", 1)


# The judge


def judge(mine: Callable, right: Callable, kinds: str = "", cases: int = CASES, seed: int = 0) -> Verdict:
    """Return the verdict on a student's function beside the package's.

    Raises Open where it is not written yet, and Untried where the package's version cannot be asked.
    """
    rng, name = np.random.default_rng(seed), mine.__name__
    with np.errstate(all="ignore"):
        try:
            tried = [draw(right, kinds, rng, mine.__globals__) for _ in range(cases)]
            wanted = [right(*deepcopy(given)) for given in tried]
        except Exception as problem:
            raise Untried(f"{type(problem).__name__}: {problem}") from None
        try:
            found = [returned(mine, given) for given in tried]
            pairs = [fitted(name, one, other) for one, other in zip(found, wanted, strict=True)]
            if not all(equal(*pair) for pair in pairs):
                return Verdict(f"{name} is not right yet: {slip(mine, right, tried, pairs, labels_of(wanted[0]))}")
        except Wrong as words:
            return Verdict(str(words))
    whole = all(equal(*pair, off=1e-9) for pair in pairs)
    return Verdict("", whole and all(map(same_kind, found, wanted)))


def slip(mine, right, tried, pairs, labels):
    """Name what is wrong, in the words of a hint, from how wrong and right answers differ; of steps, from one alone."""
    if len(labels) == 3 and any(type(one) is int for one in tried[0]):
        single = [[1 if type(one) is int else one for one in case] for case in tried]
        if not agree(mine, right, single):
            tried, pairs = (
                single,
                [fitted(mine.__name__, mine(*deepcopy(one)), right(*deepcopy(one))) for one in single],
            )
    which = next(k for k in range(len(labels)) if not all(close(found[k], wanted[k]) for found, wanted in pairs))
    found, wanted = ([pair[side][which] for pair in pairs] for side in (0, 1))
    flat = [np.concatenate([np.ravel(one) for one in side]) for side in (found, wanted)]
    words = by_infinity(*flat) or by_ratio(*flat) or by_argument(found, wanted, tried, right)
    words = words or by_changed(mine, right, tried, which) or by_step(found, wanted, tried, right, which)
    words = words or by_simpler(mine, right, tried, which)
    return f"{labels[which]} {words}" if words else example(right, tried, found, wanted, labels[which])


def by_infinity(found, wanted):
    """Words for an answer that is infinite where the right one is not."""
    endless = np.isinf(found) & np.isfinite(wanted)
    if not endless.any():
        return ""
    if found[endless][0] > 0:
        return f"is inf where {number(wanted[endless][0])} is right: exp overflows, take the largest out first"
    return f"is -inf where {number(wanted[endless][0])} is right: exp underflows to 0, take the largest out first"


def number(value, beside=None):
    """A number to four digits, or as many as tell it from another; what is as small as rounding errors is 0."""
    value = np.round(value, 12) + 0
    for digits in range(4, 17):
        if beside is None or f"{value:.{digits}g}" != f"{np.round(beside, 12) + 0:.{digits}g}":
            return f"{value:.{digits}g}"
    return f"{value!r}"


def by_ratio(found, wanted):
    """Words for an answer that is off by a factor or a constant, or that never changes."""
    known = np.isfinite(found) & np.isfinite(wanted)
    found, wanted = found[known], wanted[known]
    if not found.size:
        return ""
    if np.ptp(found) < 1e-12 and np.ptp(wanted) > DIGITS:
        return f"is {number(found[0])}, whatever is given"
    large = np.abs(wanted) > 1e-2
    factors = found[large] / wanted[large]
    steady = factors.size and np.allclose(factors, factors[0], rtol=0.01) and close(found, factors[0] * wanted)
    if steady and f"{factors[0]:.3g}" != "1":
        factor = factors[0]
        named = {-1: "has the wrong sign", 2: "is twice what it should be", 0.5: "is half of what it should be"}
        power = np.log2(np.abs(factor) + 1e-300)
        size = f"2^{power:.0f}" if close(power, np.round(power)) and 4 < abs(power) < 99 else f"{np.abs(factor):.3g}"
        times = f"is {'-' * bool(factor < 0)}{size} times what it should be"
        return next((said for one, said in named.items() if close(factor, one)), times)
    if close(np.abs(found), np.abs(wanted)) and not np.all(np.abs(wanted) == 1):
        return "has the right size, and sometimes the wrong sign"
    if close(found - wanted, found[0] - wanted[0]):
        return f"is always too large by {found[0] - wanted[0]:.3g}: a constant"
    if close(found, 1 - wanted):
        return "is one minus what it should be"
    for operation, said in INSTEAD.items():
        if close(found, operation(wanted)):
            return said
    return ""


INSTEAD = {
    np.exp: "is e to what it should be: a logarithm is asked for",
    lambda x: np.log(np.abs(x) + 1e-300): "is the logarithm of what it should be",
    np.square: "is the square of what it should be",
    lambda x: np.sqrt(np.abs(x)): "is the root of what it should be",
    lambda x: 1 / np.where(x, x, np.nan): "is one over what it should be",
}


def by_argument(found, wanted, tried, right):
    """Words for an answer that is what was given, is turned over, or is off by a length."""
    names = list(inspect.signature(right).parameters)
    for k, name in enumerate(names[: len(tried[0])]):
        given = [case[k] for case in tried]
        if not isinstance(given[0], np.ndarray | float | int):
            continue
        alike = [np.shape(one) == np.shape(other) for one, other in zip(found, given, strict=True)]
        if all(alike) and all(close(one, other) for one, other in zip(found, given, strict=True)):
            return f"is {name}, as it was given"
        if not any(map(np.ndim, given)):
            for power, said in ((-1, "lacks a factor"), (1, "has a factor too many,")):
                scaled = [other * float(one) ** power for other, one in zip(wanted, given, strict=True) if one]
                if len(scaled) == len(given) and all(map(close, found, scaled)):
                    return f"{said} {name}"
        for axis in range(max(map(np.ndim, given))):
            lengths = [np.shape(one)[axis] if np.ndim(one) > axis else 1 for one in given]
            for power, said in ((1, "large"), (-1, "small")):
                scaled = [one * length**power for one, length in zip(wanted, lengths, strict=True)]
                if all(close(one, other) for one, other in zip(found, scaled, strict=True)):
                    return f"is too {said} by the length of {name}: a mean, or a sum?"
    if all(one.T.shape == other.shape and close(one.T, other) for one, other in zip(found, wanted, strict=True)):
        return "has rows and columns exchanged"
    return ""


def by_changed(mine, right, tried, which):
    """Words for an answer that is right for another argument: of the other sign, twice as large, ..."""
    names = list(inspect.signature(right).parameters)
    for k, one in enumerate(tried[0]):
        is_number = isinstance(one, float) or (isinstance(one, np.ndarray) and one.dtype.kind == "f")
        changes = MACHINES if isinstance(one, BoltzmannMachine) else CHANGED if is_number else {}
        for said, change in changes.items():
            other = partial(of_another, right, k, change)
            if agree(mine, other, tried, which):
                return said.format(names[k])
    return ""


def of_another(right, k, change, *given):
    """What is right where an argument is changed."""
    return right(*given[:k], change(given[k]), *given[k + 1 :])


CHANGED = {
    "has the wrong sign in front of {}": lambda x: -x,
    "has twice {0} where {0} is asked for": lambda x: 2 * x,
    "has half of {0} where {0} is asked for": lambda x: x / 2,
    "has one over {0} where {0} is asked for": lambda x: 1 / x,
    "has the square of {0} where {0} is asked for": lambda x: x**2,
    "has the root of {0} where {0} is asked for": np.sqrt,
    "has the wrong sign in front of the square of {}": lambda x: 1j * x,
    "has twice the square of {}": lambda x: np.sqrt(2) * x,
    "has half of the square of {}": lambda x: x / np.sqrt(2),
}


def scaled(weights: float = 1, biases: float = 1, temperature: float = 1) -> Callable:
    """Return a function that scales the weights and biases of a machine, and takes a power of its temperature."""
    return lambda one: BoltzmannMachine(weights * one.dense_weights, biases * one.biases, one.temperature**temperature)


MACHINES = {
    "has the wrong sign in front of the energy": scaled(-1, -1),
    "has the wrong sign in front of the weights": scaled(-1),
    "has the wrong sign in front of the biases": scaled(1, -1),
    "counts each pair twice": scaled(2),
    "counts half of each weight": scaled(0.5),
    "counts each bias twice": scaled(1, 2),
    "counts half of each bias": scaled(1, 0.5),
    "has the energy twice": scaled(2, 2),
    "has half of the energy": scaled(0.5, 0.5),
    "multiplies by T where it should divide": scaled(temperature=-1),
    "divides by the square of T": scaled(temperature=2),
}


def by_step(found, wanted, tried, right, which):
    """Words for an answer that begins where it should and goes the wrong way or too far, or begins from nothing."""
    for k, name in enumerate(list(inspect.signature(right).parameters)[: len(tried[0])]):
        begun = [start_of(case[k], which) for case in tried]
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
            named = {-1: "goes the wrong way: is it minus for plus?", 0: f"stays as {name} gives it"}
            steps = f"takes steps {factor:.3g} times as long as they should be"
            return next((said for one, said in named.items() if abs(factor - one) < DIGITS), steps)
    return ""


def start_of(given, which):
    """What an argument gives for a part of an answer, a machine its own part; nothing where it is no real number."""
    if isinstance(given, BoltzmannMachine):
        return parts(given)[which]
    is_number = isinstance(given, float) or (isinstance(given, np.ndarray) and given.dtype.kind == "f")
    return given if is_number else np.empty(0)


def by_simpler(mine, right, tried, which):
    """Words for an answer that is right in simpler cases: of one state, at T = 1, without biases, ..."""
    names = list(inspect.signature(right).parameters)
    for k, one in enumerate(tried[0]):
        for said, change in SIMPLER.items() if isinstance(one, BoltzmannMachine) else ():
            simpler = [[*case[:k], change(case[k]), *case[k + 1 :]] for case in tried]
            if says_something(right, simpler, which) and agree(mine, right, simpler):
                return f"is right {said}"
        for value in (1.0, 0.0) if isinstance(one, float) else ():
            simpler = [[*case[:k], value, *case[k + 1 :]] for case in tried]
            if says_something(right, simpler, which) and agree(mine, right, simpler):
                asked = f"how does {names[k]} enter?" if value else f"look at what {names[k]} multiplies"
                return f"is right for {names[k]} = {value:g}, and wrong otherwise: {asked}"
    kept = [case for case in tried if not any(np.ndim(one) > 1 for one in case)]
    if 0 < len(kept) < len(tried) and agree(mine, right, kept):
        return "is right for one state, and wrong for several at once: which axis is which?"
    return ""


SIMPLER = {
    "at T = 1, and wrong otherwise: where does T enter?": lambda one: one.at(1),
    "without biases, and wrong otherwise: where do they enter?": lambda one: BoltzmannMachine(
        one.dense_weights, 0 * one.biases, one.temperature
    ),
    "without weights, and wrong otherwise: where do they enter?": lambda one: BoltzmannMachine(
        0 * one.dense_weights, one.biases, one.temperature
    ),
    "at T = 1 without biases: where do T and the biases enter?": lambda one: BoltzmannMachine(
        one.dense_weights, 0 * one.biases
    ),
}


def says_something(right, cases, which):
    """Whether the right answers are numbers, and not one and the same: to agree in that would prove nothing."""
    with suppress(Exception):
        values = np.concatenate([np.ravel(parts(right(*deepcopy(one)))[which]) for one in cases])
        return bool(np.isfinite(values).all() and np.ptp(values) > DIGITS)
    return False


def agree(mine, right, cases, which=None):
    """Whether both say the same in all of the cases, or of one part of it."""
    part = slice(None) if which is None else slice(which, which + 1)
    try:
        pairs = (fitted(mine.__name__, returned(mine, one), right(*deepcopy(one))) for one in cases)
        return all(equal(found[part], wanted[part]) for found, wanted in pairs)
    except Exception:
        return False


def example(right, tried, found, wanted, it):
    """Words for an answer that is wrong in no way that is known: a small case, and both values."""
    wrong = [k for k in range(len(tried)) if not close(found[k], wanted[k])]
    place = min(wrong, key=lambda k: sum(map(np.size, tried[k])))
    off = np.unravel_index(np.nanargmax(np.abs(found[place] - wanted[place])), wanted[place].shape)
    names = list(inspect.signature(right).parameters)
    given = ", ".join(f"{name} = {brief(one)}" for name, one in zip(names, tried[place], strict=False))
    at = f" at place {tuple(map(int, off))}" if off else ""
    mine, ours = found[place][off], wanted[place][off]
    return f"for {given} {it} is {number(mine, ours)}{at}, and {number(ours, mine)} is right"


def brief(value):
    """An argument in a few words."""
    if isinstance(value, BoltzmannMachine):
        return f"a machine of {value.n} units at T = {value.temperature:g}"
    if isinstance(value, np.ndarray) and value.size > 6:
        return f"an array of shape {value.shape}"
    return str(np.round(value, 3).tolist()) if isinstance(value, np.ndarray | float) else describe(value)
