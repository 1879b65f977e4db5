"""What is wrong with a wrong answer, in a sentence: its numbers are compared with the right ones on many cases.

It is right but for a factor, a constant or a length; or it would be right for another argument (of the other sign,
twice as large), or in simpler cases (at T = 1, without biases). Where none of this is so, a small case is shown.
"""

import inspect
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from functools import partial

import numpy as np

from ..model import BoltzmannMachine
from ..validation import describe
from .answers import DIGITS, agree, close, fitted, parts


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
