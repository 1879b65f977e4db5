"""A case in a few words: its arguments as they can be typed, and numbers as long as needed."""

import inspect
from itertools import combinations

import numpy as np

from ..checking.validation import describe
from ..estimate import Bounded, Estimate
from ..model import BoltzmannMachine
from .answers import close, parts, same_bits

MOST = 8  # numbers of an array that is written out


def case(right, given, column=None):
    """A case in a few words: each argument and its value; of a table too large for that the column, if one is given."""
    known = zip(inspect.signature(right).parameters, given, strict=False)
    return ", ".join(of_column(name, one, column) or f"{name} = {brief(one)}" for name, one in known)


def of_column(name, value, column):
    """The column of a large table, given as its number and the length of a row; "" for anything else."""
    if column and isinstance(value, np.ndarray) and value.size > MOST >= len(value) and value.shape[1:] == column[1:]:
        return f"{name}[:, {column[0]}] = {brief(value[:, column[0]])}"
    return ""


def size(value):
    """How many numbers an argument has, and one more if they have more than one digit behind the point."""
    if isinstance(value, list | tuple):
        return sum(map(size, value))
    numbers = parts(value) if isinstance(value, BoltzmannMachine) else [value]
    return sum(np.size(one) + (not same_bits(one, short(one))) for one in numbers)


def short(value):
    """An argument with one digit behind the point, to be followed by hand; numbers that add up to 1 are not changed."""
    if isinstance(value, BoltzmannMachine):
        return BoltzmannMachine(*map(short, parts(value)))
    if isinstance(value, list):
        return [short(one) for one in value]
    is_real = isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")
    if not is_real or close(np.sum(value, axis=-1), np.ones(())):
        return value
    rounded = np.where(np.abs(value) < 0.05, 0.1 * np.sign(value), np.round(value, 1))
    return float(rounded) if isinstance(value, float) else rounded


def brief(value):
    """An argument in a few words."""
    if isinstance(value, BoltzmannMachine):
        weights, known = value.dense_weights[np.triu_indices(value.n, 1)], f"T = {value.temperature:g}"
        if value.n > 3:
            return f"a machine of {value.n} units at {known}"
        named = ", ".join(f"w{i}{j}" for i, j in combinations(range(value.n), 2))
        return f"a machine with {named} = {', '.join(map(number, weights))}, b = {brief(value.biases)}, {known}"
    if isinstance(value, Bounded):
        return f"a bracket from {value.lower:.3g} to {value.upper:.3g}"
    if isinstance(value, Estimate):
        return f"an estimate of the means {brief(value.mean)} and the correlations {brief(value.corr)}"
    if isinstance(value, list) and all(isinstance(one, BoltzmannMachine) for one in value):
        each = "; ".join(map(brief, value)) if all(one.n < 3 for one in value) else ""
        return each or f"{len(value)} machines"
    if isinstance(value, np.ndarray) and value.size > MOST:
        return f"an array of shape {value.shape}"
    if isinstance(value, np.ndarray | float | list):
        return str((np.round(value, 3) + 0).tolist())
    return "a function" if callable(value) else describe(value)


def number(value, beside=None):
    """A number to four digits, or as many as tell it from another; a number of the size of rounding errors is 0."""
    value = np.round(value, 12) + 0
    for digits in range(4, 17):
        if beside is None or f"{value:.{digits}g}" != f"{np.round(beside, 12) + 0:.{digits}g}":
            return f"{value:.{digits}g}"
    return f"{float(value)!r}"
