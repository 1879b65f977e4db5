"""Validation of arguments: each check returns the value in the type that is used, or raises one sentence.

Numbers may be Python's or NumPy's, whole ones also 1e4; arrays lists, tables or sparse.  Masked entries are nan.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from numbers import Real
from typing import Any, Protocol

import numpy as np
import numpy.typing
import scipy

SHOWN_DIGITS = 40  # of a whole number that an error shows
SHOWN_PARTS = 8  # of a longer list that an error shows
MAX_ENERGY = 1e100  # of energies and temperatures, and of 1/T: squares of their quotients must stay doubles


class Sparse(Protocol):
    """An array or a matrix of scipy.sparse, of any format."""

    @property
    def nnz(self) -> int:
        """How many numbers are stored."""
        ...

    def tocsr(self) -> Any:
        """Return the same numbers by rows."""
        ...


ArrayLike = numpy.typing.ArrayLike | Sparse  # array input: lists, arrays, tables with names, or sparse


def is_sparse(values: Any) -> bool:
    """Return whether values are of scipy.sparse, which is not loaded for the question: nothing is sparse before."""
    return type(values) is not np.ndarray and "scipy.sparse" in sys.modules and scipy.sparse.issparse(values)


def describe(value: Any) -> str:
    """Return a description of a value in a few words."""
    if value is None or isinstance(value, (Real, str, np.generic)) or (not np.iterable(value) and callable(value)):
        if name := getattr(value, "__name__", ""):
            return f"the {'class' if isinstance(value, type) else 'function'} {name}"
        return _number(value) if isinstance(value, (Real, np.generic)) else repr(value)[:60]
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"{_a('array' if isinstance(value, np.ndarray) else type(value).__name__)} of shape {shape}"
    if isinstance(value, (list, tuple, dict)):
        with suppress(ValueError):  # of a number in it, that has more digits than Python prints
            if len(text := repr(value)) < 60:
                return text
    return _a(type(value).__name__)


def _number(value):
    """Return a number as it was typed, or of a long one how many digits it has: Python prints no more than 4300."""
    if isinstance(value, int) and abs(value) >= 10**SHOWN_DIGITS:
        return f"a number of some {round(math.log10(abs(value)))} digits"
    return str(value)


def summary(self: Any) -> str:
    """Return the repr of a named tuple, with long parts replaced by their size: its __repr__."""
    parts = (f"{name}={_short(getattr(self, name))}" for name in self._fields)
    return f"{type(self).__name__}({', '.join(parts)})"


def _short(value):
    if isinstance(value, (list, tuple, dict)) and len(value) > SHOWN_PARTS:
        return f"{type(value).__name__} of {len(value)}"
    text = repr(value)
    if isinstance(value, str) or (len(text) <= 60 and "\n" not in text):
        return text
    return describe(value).partition(" ")[2]


def _a(noun):
    return f"{'an' if noun[:1] in 'AEIOUaeiou' else 'a'} {noun}"


def _real(value):
    """A number as a float; nan for anything else."""
    if isinstance(value, float):  # nearly always
        return float(value)
    value = value.item() if isinstance(value, np.ndarray) and not value.ndim else value
    try:
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    except OverflowError:
        return np.inf


def check_count(name: str, value: Any, least: int = 1, most: int = 2**53) -> int:
    """Return a whole number from `least` to `most`; 1e4 is one."""
    if type(value) is int and least <= value <= most:  # nearly always
        return value
    number = _real(value)
    if not (least <= number <= most and number.is_integer()):
        limits = f"{least} to {most}"
        if most == 2**53:
            limits = "at most 2^53" if number > most else f"at least {least}"
        what = limits if number.is_integer() or number == np.inf else f"a whole number, {limits}"
        near = min(most, max(least, 10))
        raise ValueError(f"{name} must be {what}, found {describe(value)}; try {name}={near}")
    return int(number)


def check_number(name: str, value: Any, example: float = 1.0) -> float:
    """Return any finite number."""
    number = _real(value)
    if not np.isfinite(number):
        raise ValueError(f"{name} must be a finite number, found {describe(value)}; try {name}={example:g}")
    return number


def check_positive(name: str, value: Any, example: float = 1.0, *, zero: bool = False, infinite: bool = False) -> float:
    """Return a number above 0, or 0 or infinity if these are allowed."""
    number = _real(value)
    if not (0 < number < np.inf or (zero and number == 0) or (infinite and number == np.inf)):
        what = ("0 or more" if zero else "positive") + ("" if infinite else " and finite")
        raise ValueError(f"{name} must be {what}, found {describe(value)}; try {name}={example:g}")
    return number


def check_share(name: str, value: Any, below: float = 1.0) -> float:
    """Return a number that is at least 0 and below a limit."""
    number = _real(value)
    if not 0 <= number < below:
        raise ValueError(
            f"{name} must be 0 or more and below {below:g}, found {describe(value)}; try {name}={below / 5:g}"
        )
    return number


def check_choice(name: str, value: Any, choices: tuple) -> Any:
    """Return one of the words (or None) that are choices."""
    if (value is None or isinstance(value, str)) and value in choices:
        return value
    words = [repr(word) for word in choices]
    raise ValueError(
        f"{name} must be {', '.join(words[:-1])} or {words[-1]}, found {describe(value)}; try {name}={words[0]}"
    )


def check_flag(name: str, value: Any) -> bool:
    """Return True or False."""
    if not (isinstance(value, (bool, np.bool_, int)) and value in (0, 1)):
        raise ValueError(f"{name} must be True or False, found {describe(value)}; try {name}=True")
    return bool(value)


def check_array(name: str, values: Any, advice: str = "") -> np.ndarray:
    """Return real numbers as float64, in their own shape; nan for masked entries and None."""
    advice = advice or f"pass {name} as an array of numbers"
    try:
        array: Any = values.toarray() if is_sparse(values) else values
        masked = hasattr(array, "filled")  # not by np.ma, which takes 0.03 s to load
        array = array.astype(float).filled(np.nan) if masked else np.asarray(array)
        if array.dtype.kind == "O" and "pandas" in sys.modules:  # whose NA is no number
            array = np.where(sys.modules["pandas"].isna(array), np.nan, array)
        texts = array.dtype.kind == "O" and any(isinstance(value, (str, bytes)) for value in array.flat)
        if array.dtype.kind not in "biufO" or texts or values is None:
            raise TypeError
        return array.astype(float, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{name} must be numbers in rows of equal length, found {describe(values)}{_words_in(values)}; {advice}"
        ) from None


def _words_in(table):
    """Return which column of a table holds no numbers, in words; "" if none has a name."""
    names = getattr(table, "columns", ()) if hasattr(table, "__getitem__") else ()
    for name in (name for name in names if isinstance(name, str)):
        try:
            np.asarray(table[name], float)
        except (TypeError, ValueError):
            return f" with others in column {name!r}"
    return ""


def in_column(names: Any, right: np.ndarray) -> str:
    """Return in which column of a table the first value is that is not right, in words; "" if it has no name."""
    name = names[np.argwhere(~right)[0][-1]] if right.ndim and len(names) == right.shape[-1] else None
    return f" in column {name!r}" if isinstance(name, str) else ""


def check_finite(name: str, values: np.ndarray) -> None:
    """Raise ValueError if a value is infinite or nan."""
    right = np.isfinite(values)
    if not right.all():
        raise ValueError(f"{name} must be finite, found {values[~right][0]}; write a number there")


def check_row(name: str, values: Any, size: int | None = None) -> np.ndarray:
    """Return a row (n,) of finite numbers."""
    row = check_array(name, values)
    if row.ndim != 1 or (size is not None and len(row) != size):
        expected = "(n,)" if size is None else f"({size},)"
        raise ValueError(f"{name} must be one row of numbers, found shape {row.shape}; pass shape {expected}")
    check_finite(name, row)
    return row


def check_spins(name: str, values: Any, names: Any = ()) -> np.ndarray:
    """Return values that are all -1/+1 as float64; raise ValueError with the column and the way out otherwise."""
    array = check_array(name, values)
    right = np.abs(array) == 1
    if not right.all():
        way_out = (
            f"write -1 for 0, as bmlab.spins({name}) does" if np.isin(array, (0, 1)).all() else "threshold it first"
        )
        way_out = "leave out what is missing (nan), or fill it in" if np.isnan(array).any() else way_out
        where = in_column(names, right)
        raise ValueError(f"{name} must be -1/+1, found {some_values(array)}{where}; {way_out}")
    return array


def check_states(n: int, s: Any) -> np.ndarray:
    """Return states of n units, or means, (..., n) as float64; 0 is a unit that sends no field."""
    s = check_array("states", s)
    if s.shape[-1:] != (n,):
        raise ValueError(f"states must have {n} units along their last axis, found shape {s.shape}; pass (..., {n})")
    if not (np.abs(s) <= 1).all():
        way_out = "leave out what is missing, use bmlab.spins(0/1)"
        raise ValueError(f"states must be -1/+1, found {some_values(s)}; {way_out}")
    return s


def check_no_bits(s: np.ndarray) -> np.ndarray:
    """Return states; raise ValueError if all are 0 or 1, and both occur."""
    if np.isin(s, (0, 1)).all() and len(np.unique(s)) == 2:
        raise ValueError("states must be -1/+1, found {0, 1}; use bmlab.spins(states)")
    return s


def some_values(values: np.ndarray) -> str:
    """Return up to four of the values, in words."""
    distinct = np.unique(values)
    return "{" + ", ".join(f"{v:g}" for v in distinct[:4]) + (", ..." if distinct.size > 4 else "") + "}"


def check_scale(weights: np.ndarray, biases: np.ndarray, offset: float, temperature: float) -> None:
    """Raise ValueError for weights that are not numbers, or if squares of energies over T, or 1/T, exceed a double."""
    squares = _square(weights.reshape(-1)) + _square(biases) + offset * offset
    if squares < 1e50 and 1e-50 < temperature < 1e50:  # nearly always
        return
    check_finite("weights", weights)
    check_finite("biases", biases)
    top = max([abs(offset), *(size for x in (weights, biases) if x.size for size in (x.max(), -x.min()))])
    if not 1 / MAX_ENERGY < temperature < MAX_ENERGY or not top < MAX_ENERGY * min(1.0, temperature):
        raise ValueError(
            f"energies and temperatures must stay below {MAX_ENERGY:g}, and energies below {MAX_ENERGY:g} "
            f"temperatures, found {top:.2g} at temperature {temperature:.2g}; count them in other units"
        )


def _square(x):
    """Return x @ x by one thread: for long arrays BLAS uses more threads, and may wait milliseconds for them."""
    return x @ x if x.size < 10**4 else np.einsum("i,i->", x, x)


def check_names(names: Any, n: int) -> tuple[str, ...]:
    """Return names as a tuple of n distinct strings, or ()."""
    listed = (names,) if isinstance(names, str) or not np.iterable(names) else tuple(names)
    wrong = [name for name in listed if not isinstance(name, str)]
    if wrong:
        raise ValueError(f"names must be strings, found {wrong[0]!r}; try names=[str(name) for name in names]")
    if listed and len(listed) != n:
        raise ValueError(f"names must be {n}, one a unit, found {len(listed)}; pass names=() for none")
    if len(set(listed)) < len(listed):
        twice = next(name for name in listed if listed.count(name) > 1)
        raise ValueError(f"names must differ from each other, found {twice!r} twice; rename one")
    return tuple(map(str, listed))


def as_generator(rng: Any) -> np.random.Generator:
    """Return the generator of whatever numpy.random.default_rng takes: one is kept, a seed makes one (SPEC 7)."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ValueError(
            f"rng must be a generator or a seed, found {describe(rng)}; pass np.random.default_rng(0)"
        ) from None


def did_you_mean(name: str, names: Sequence[str], otherwise: str = "see machine.names") -> str:
    """Return a suggestion for a name that does not exist."""
    from difflib import get_close_matches  # for the message alone

    for close in get_close_matches(name, names, 1):
        return f"did you mean {close!r}?"
    return otherwise


def import_optional(module: str, caller: str, install: str) -> Any:
    """Return a module that `caller` needs; raise ModuleNotFoundError with the command to type if it is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        raise not_installed(caller, module, install, missing) from None


def not_installed(caller: str, module: str, install: str, missing: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error that says which command brings the module that `caller` needs."""
    name = module.partition(".")[0]
    message = f"{caller} needs {name}, which is not installed; pip install {install}"
    return ModuleNotFoundError(message, name=missing.name)
