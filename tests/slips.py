"""The usual slips in a right function's answer, and the styles in which a right answer may come."""

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pandas as pd

import bmlab

RESULTS = {
    "nothing": lambda x: None,
    "a text": lambda x: f"{x}",
    "a function": lambda x: lambda: x,
    "a pair": lambda x: (x, x),
    "an empty array": lambda x: [],
    "complex": lambda x: each(x, lambda one: one + 0.5j),
    "nan": lambda x: each(x, lambda one: one * np.nan),
    "the sign": lambda x: each(x, lambda one: -one),
    "a factor 2": lambda x: each(x, lambda one: 2 * one),
    "half": lambda x: each(x, lambda one: one / 2),
    "its size": lambda x: each(x, np.abs),
    "a constant": lambda x: each(x, lambda one: 0 * one + 0.5),
    "one more": lambda x: each(x, lambda one: one + 1),
    "transposed": lambda x: each(x, lambda one: np.asarray(one).T),
    "the mean": lambda x: each(x, np.mean),
    "the largest": lambda x: each(x, np.max),
    "its exponential": lambda x: each(x, np.exp),
    "texts": lambda x: each(x, lambda one: np.asarray(one).astype(str)),
    "nothing inside": lambda x: each(x, lambda one: [None]),
    "a table of names": lambda x: each(x, lambda one: {"answer": one}),
    "the values of a table": lambda x: each(x, lambda one: {"answer": one}.values()),
    "truth values": lambda x: x if isinstance(x, bmlab.BoltzmannMachine) else each(x, lambda one: np.asarray(one) > 0),
    "one digit": lambda x: each(x, lambda one: np.round(np.asarray(one, dtype=float), 1)),
}
STYLES = {
    "as a list": lambda x: each(x, lambda one: np.asarray(one).tolist()),
    "rounded": lambda x: each(x, lambda one: np.round(np.asarray(one, dtype=float), 3)),
    "of shape (1,)": lambda x: each(x, lambda one: np.reshape(one, 1) if np.ndim(one) == 0 else one),
    "in a list": lambda x: each(x, lambda one: [one] if np.ndim(one) == 0 else one),
    "in a tuple": lambda x: each(x, lambda one: (one,) if np.ndim(one) == 0 else one),
    "without dimension": lambda x: each(x, lambda one: np.array(one) if np.ndim(one) == 0 else one),
    "without imaginary part": lambda x: x if isinstance(x, bmlab.BoltzmannMachine) else each(x, lambda one: one + 0j),
    "as an array": lambda x: each(x, lambda one: np.asarray(one, dtype=float)),
    "as a tuple": lambda x: each(x, lambda one: tuple(one) if np.ndim(one) == 1 else one),
    "as a decimal": lambda x: each(x, lambda one: Decimal(float(one)) if np.ndim(one) == 0 else one),
    "as a column of a table": lambda x: each(x, lambda one: pd.Series(np.atleast_1d(one)) if np.ndim(one) < 2 else one),
}


def each(value, change):
    """A value with a change in each of its arrays of numbers."""
    if isinstance(value, bmlab.BoltzmannMachine):
        weights, biases = change(value.dense_weights), change(value.biases)
        try:
            return bmlab.BoltzmannMachine(weights, biases, value.temperature)
        except (TypeError, ValueError):
            return weights, biases
    return tuple(each(part, change) for part in value) if isinstance(value, tuple) else change(value)


def wrapped(function: Callable, change: Callable) -> Callable:
    """A function whose results are changed."""
    code = f"def {function.__name__}(*given, **named):\n    return _change(_right(*given, **named))"
    made = dict(function.__globals__, _change=change, _right=function)
    exec(code, made)
    return made[function.__name__]
