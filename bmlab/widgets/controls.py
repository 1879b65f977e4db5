"""The sliders of explore(): their stops, their starts, and the values with a stored text."""

from collections.abc import Callable
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np

MAX_STOPS = 1000  # of a slider


def stops(name: str, values: tuple | list) -> list:
    """Return the values that a slider stops at."""
    if isinstance(values, list) and values:
        return values
    numbers = isinstance(values, tuple) and all(isinstance(v, Real) and np.isfinite(float(v)) for v in values)
    if not numbers or len(values) not in (2, 3) or not values[0] < values[1]:
        raise ValueError(
            f"{name} must be (low, high), (low, high, step) or a list, found {values!r}; try (0.5, 4, 0.1)"
        )
    low, high = values[:2]
    step = values[2] if values[2:] else 1 if all(isinstance(v, int) for v in values) else (high - low) / 100
    if not (step > 0 and (high - low) / step <= MAX_STOPS):
        finer = (high - low) / 100
        raise ValueError(f"{name} must have 1 to {MAX_STOPS} steps, found {values!r}; try a step of {finer:g}")
    found = np.round(low + step * np.arange(int((high - low) / step + 1e-9) + 1), 10).tolist()
    return [int(v) for v in found] if all(isinstance(v, int) for v in (low, step)) else found


def start(draw: Callable, name: str, values: list) -> int:
    """Return the number of the stop at which a slider begins."""
    parameter = signature(draw).parameters.get(name)
    return values.index(parameter.default) if parameter and parameter.default in values else len(values) // 2


def spread(values: list, number: int, begin: int) -> list:
    """Return the values of control `number` whose words are stored: all up to four, ends and middle, ends, one."""
    if number > 1:
        return [values[begin]]
    count = min(len(values), 2 if number else 4 if len(values) <= 4 else 3)
    return [values[k] for k in np.linspace(0, len(values) - 1, count).astype(int)]


def text(value: Any) -> str:
    """Return a value in words."""
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)
