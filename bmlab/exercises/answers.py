"""Answers of students' functions: checked before they are used, and compared with the right ones."""

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from copy import deepcopy
from functools import wraps
from io import StringIO
from numbers import Number
from typing import Any

import numpy as np

from ..checking.validation import describe
from ..model import BoltzmannMachine
from .errors import in_plain_words

READ_ONLY = "read-only"  # words in NumPy's error for an array that may not be changed
WRITES = "{} writes into what it is given: begin with a copy, np.array(...)"
COMPLEX = "{} returned a complex number: is there a root or a power of what is negative?"
AGAIN = "{} gives another answer where the same is asked again: does it draw, or keep something from the last call?"
ENDLESS = "{} calls itself without an end: write out what it returns"
TEXTS = "{} returned texts, where numbers are asked for: take the quotes off"
NO_FUNCTION = "{0} is {1}, where a function is asked for: def {0}{2}"
FIRST_LINE = "{} takes {}, where {} is asked for: leave its first line as it was"
NAN = (
    "{} returned nan (not a number), which comes of a nan, of a root or log of what is not positive, of 0/0, or of an "
    "overflow"
)
TRUTH = "{} returned truth values, True or False, where numbers are asked for: is it a comparison?"
NO_TEXT = "{} is {}, where a text is asked for: put it between quotes"
MISSING = "{} is missing: no cell that ran to its end has made it"
OWN_ASSERT = "{} stops with AssertionError: is there an assert of its own in it?"
STOPS = " stops with "
ORDINAL = ("first", "second", "third", "fourth")
OFTEN = 20  # calls of a test that are made twice: who draws gives the same now and then
DIGITS = 6e-4  # how far an answer may be off: three decimals are right


class Unanswered(Exception):
    """The answer is not written yet."""


class WrongKind(Exception):
    """The fault of an answer, a sentence that begins with the function's name."""


def as_number(value: Any) -> Any:
    """Return an answer as it is meant, and each of several: one number in a list or an array is that number.

    So is one text. Numbers without imaginary parts are real; a Decimal, a Fraction and a column of a table are numbers.
    """
    if isinstance(value, tuple) and len(value) != 1:
        return tuple(map(as_number, value))
    if isinstance(value, Number) and not isinstance(value, int | float | complex | np.generic):
        return float(value)  # pyright: ignore[reportArgumentType]
    is_table = hasattr(value, "__array__") and not isinstance(value, np.generic)
    if is_table or isinstance(value, tuple | list | complex):
        with suppress(ValueError):  # lists of unequal lengths
            array = np.asarray(value)
            if array.dtype.kind == "c" and not np.imag(array).any():
                array = value = np.real(array)
            if array.size == 1 and array.dtype.kind in "biufcU":
                return array.reshape(())[()]
    return value


def as_asked(name: str, answer: Any) -> Any:
    """Return an answer as its test takes it, as_number(); a function by its answers, which must not be complex."""
    if not callable(answer):
        return as_number(answer)

    @wraps(answer)
    def taken(*given, **named):  # a test's own arrays stay as they are
        copies = [one.copy() if isinstance(one, np.ndarray | list) else one for one in given]
        found = as_number(answer(*copies, **named))
        if is_complex(found):
            raise AssertionError(COMPLEX.format(name))
        if not all(map(same_bits, given, copies)):
            raise AssertionError(WRITES.format(name))
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
    """Return the checked answer of a function; raise Unanswered or WrongKind with a sentence."""
    name, copies = function.__name__, [deepcopy(one) for one in given]
    with redirect_stdout(StringIO()) as printed:
        try:
            found = function(*copies)
        except NotImplementedError:
            raise Unanswered from None
        except RecursionError:
            raise WrongKind(ENDLESS.format(name)) from None
        except KeyboardInterrupt:
            raise WrongKind(f"{name}{STOPS}your interrupt: is it a loop without an end, or too long a list?") from None
        except (Exception, SystemExit) as problem:
            stops = f"{name}{STOPS}{in_plain_words(problem)}"
            raise WrongKind(WRITES.format(name) if READ_ONLY in str(problem) else stops) from None
    if not all(map(same_bits, given, copies)):
        raise WrongKind(WRITES.format(name))
    if words := kind_error(name, found, printed.getvalue()):
        raise WrongKind(words)
    return found


def kind_error(name: str, found: Any, printed: str = "") -> str:
    """Return the fault in the kind of a function's answer, before it is used; "" if there is none."""
    if found is None:
        return f"{name} prints and returns nothing: write return for print" if printed.strip() else (
            f"{name} returned nothing: is there a return?"
        )  # fmt: skip
    if isinstance(found, str):
        return f"{name} returned a text, {found[:40]!r}, where numbers are asked for: take the quotes off"
    if callable(found) and not isinstance(found, np.generic | np.ndarray):
        return f"{name} returned {describe(found)}, where numbers are asked for: call it, with ()"
    if is_complex(found):
        return COMPLEX.format(name)
    for part in found if isinstance(found, tuple) else [found]:
        if isinstance(part, set | dict | map | zip) or inspect.isgenerator(part):
            return f"{name} returned a {type(part).__name__}, where numbers are asked for: make it a list"
        with suppress(Exception):
            if not np.size(part):
                return f"{name} returned an empty array, where numbers are asked for"
    return ""


def same_bits(one: Any, other: Any) -> bool:
    """Return whether a value is as it was, with all that is in it."""
    if one is other:
        return True
    if isinstance(one, BoltzmannMachine):
        return same_bits(parts(one), parts(other))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same_bits, one, other))
    return not isinstance(one, np.ndarray | float | int) or np.array_equal(one, other, equal_nan=True)


def parts(value: Any, count: int = 0) -> list[np.ndarray]:
    """Return an answer as arrays: a machine has three; a tuple, or an answer that should be one, has one per part."""
    if isinstance(value, BoltzmannMachine):
        value, count = (value.dense_weights, value.biases, value.temperature), 3
    pieces = value if isinstance(value, tuple) or count else [value]
    if is_complex(value):
        raise TypeError("complex")
    arrays = [np.asarray(as_number(one)) for one in pieces]
    if any(array.dtype.kind in "USO" and isinstance(part, str | bytes) for array in arrays for part in array.flat):
        raise TypeError("texts")
    return [np.asarray(array, dtype=float) for array in arrays]


def labels_of(right: Any) -> list[str]:
    """Return the words for the parts of an answer."""
    if isinstance(right, BoltzmannMachine):
        return ["its weight matrix", "its row of biases", "its T"]
    return [f"its {ORDINAL[k]} part" for k in range(len(right))] if isinstance(right, tuple) else ["it"]


def in_shape(name: str, found: Any, right: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the arrays of an answer, in the shapes of the right ones, and these; raise WrongKind if they differ."""
    wanted, several = parts(right), len(right) if isinstance(right, tuple) else 0
    if isinstance(right, BoltzmannMachine) and not isinstance(found, BoltzmannMachine):
        wanted = "a machine is asked for: BoltzmannMachine(weights, ...)"
        raise WrongKind(f"{name} returned {describe(found)}, where {wanted}")
    if isinstance(found, BoltzmannMachine) and not isinstance(right, BoltzmannMachine):
        raise WrongKind(f"{name} returned a machine, where numbers are asked for")
    if several and not (isinstance(found, tuple | list | np.ndarray) and len(found) == several):
        wanted = f"{several} things are asked for, with a comma between"
        raise WrongKind(f"{name} returned {describe(found)}, where {wanted}")
    try:
        arrays = parts(list(found) if isinstance(found, tuple) and not several else found, several)
    except (TypeError, ValueError) as problem:
        other = f"{name} returned {describe(found)}, where {shape_of(wanted[0])} is asked for"
        raise WrongKind(TEXTS.format(name) if str(problem) == "texts" else other) from None
    pieces = list(found) if several and not isinstance(found, BoltzmannMachine) else [found]
    if any(np.asarray(as_number(one)).dtype == bool for one in pieces):
        raise WrongKind(TRUTH.format(name))
    found_shapes, shapes = ([one.shape for one in side] for side in (arrays, wanted))
    if several and found_shapes != shapes and sorted(found_shapes) == sorted(shapes):
        raise WrongKind(f"{name} returned its parts in another order: {shape_of(wanted[0])} comes first")
    for k, one in enumerate(wanted):
        if arrays[k].size == one.size == 1:
            arrays[k] = arrays[k].reshape(one.shape)  # one number is one number
        if (array := arrays[k]).shape != one.shape:
            raise WrongKind(f"{name} returned {shape_of(array)}, where {shape_of(one)} is asked for")
        if not np.array_equal(np.isnan(array), np.isnan(one)):
            raise WrongKind(NAN.format(name))
    return arrays, wanted


def same_kind(found: Any, right: Any) -> bool:
    """Return whether an answer can replace the right one: an array an array, a number a number."""
    if isinstance(right, tuple) and isinstance(found, tuple):
        return all(map(same_kind, found, right))
    number = isinstance(found, float | int | np.generic) and isinstance(right, float | int | np.generic)
    if isinstance(right, np.ndarray) and isinstance(found, np.ndarray) and found.dtype != right.dtype:
        return False
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


def called_alike(name: str, mine: Callable, right: Callable) -> bool:
    """Return whether a student's function can be called as the right one, by the names of its arguments too.

    Raises WrongKind if it takes fewer of them, in another order, or with other default values.
    """
    try:
        expected, taken = (inspect.signature(one).parameters for one in (right, mine))
    except (TypeError, ValueError):  # of a function written in C
        return False
    is_changed = list(taken) != list(expected) and set(taken) == set(expected)
    for one in set(expected) & set(taken):
        is_changed = is_changed or not same_bits(expected[one].default, taken[one].default)
    try:
        inspect.signature(mine).bind(*expected)
    except TypeError:
        is_changed = True
    if is_changed:
        raise WrongKind(FIRST_LINE.format(name, first_line(taken), first_line(expected)))
    is_open = any(one.kind is one.VAR_KEYWORD for one in taken.values())
    return is_open or list(taken)[: len(expected)] == list(expected)


def first_line(parameters: Mapping[str, inspect.Parameter]) -> str:
    """Return the arguments of a function's first line as text; defaults other than numbers by name."""
    values = [one.default if isinstance(one.default, float | int) else "" for one in parameters.values()]
    named = (f"{name}={value}" if value != "" else name for name, value in zip(parameters, values, strict=True))
    return f"({', '.join(named)})"


def agree(mine, right, cases):
    """Whether both return the same in all of the cases."""
    try:
        pairs = (in_shape(mine.__name__, returned(mine, one), right(*deepcopy(one))) for one in cases)
        return all(equal(found, wanted) for found, wanted in pairs)
    except Exception:
        return False


# Requests of a test


class Watched:
    """A function called by a test: its answers are checked, and compared in kind with the right ones.

    `wrong` is what was wrong first, "" if nothing was; `right` may be None.
    """

    def __init__(self, name: str, function: Callable, right: Callable | None):
        self.name, self.function, self.right, self.wrong, self.asked = name, function, right, "", 0

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Return the function's answer."""
        copies = deepcopy(given)
        with redirect_stdout(StringIO()) as printed:
            try:
                found = inspect.unwrap(self.function)(*copies, **named)
            except Exception as problem:
                self.wrong = self.wrong or WRITES.format(self.name) * (READ_ONLY in str(problem))
                raise
        self.wrong = self.wrong or WRITES.format(self.name) * (not all(map(same_bits, given, copies)))
        self.wrong = self.wrong or kind_error(self.name, found, printed.getvalue())
        self.asked += 1
        if self.asked <= OFTEN and not self.wrong:
            with suppress(Exception), redirect_stdout(StringIO()):
                again = inspect.unwrap(self.function)(*deepcopy(given), **deepcopy(named))
                self.wrong = AGAIN.format(self.name) * (not equal(parts(found), parts(again)))
        if self.right and not self.wrong:
            with suppress(Exception):
                wanted = self.right(*deepcopy(given), **deepcopy(named))
                self.wrong = unlike(self.name, found, wanted)
        return found


def unlike(name: str, found: Any, right: Any) -> str:
    """Return the fault in the kind of an answer compared with the right one, "" if there is none."""
    try:
        in_shape(name, found, right)
    except WrongKind as words:
        return str(words)
    return ""


def kind_of_slip(
    source: str, asked: Sequence[str], names: dict, solution: str = "", failed: bool = False, own: bool = False
) -> str:
    """Return the fault in the kind of an answer that a test refuses, "" if there is none.

    source     the test
    asked      the names that it asks for
    names      what the notebook knows
    solution   the source of the right answer: if it is known, shapes are compared, too
    failed     whether the test has said what is wrong: then functions alone are compared, in their first lines
    own        whether the answer is a student's own, so that its shapes may be others
    """
    right = dict(names)
    with suppress(Exception), redirect_stdout(StringIO()):
        exec(definitions(solution) if failed else solution, right)
    here = {}
    for name in asked:
        if name not in names:
            return MISSING.format(name)
        if callable(right.get(name)) and not callable(names[name]) and solution:
            takes = first_line(inspect.signature(right[name]).parameters)
            return NO_FUNCTION.format(name, describe(names[name]), takes)
        if callable(right.get(name)) and solution:
            try:
                called_alike(name, inspect.unwrap(names[name]), right[name])
            except WrongKind as words:
                return str(words)
        if callable(names[name]) and (not solution or callable(right[name])):
            here[name] = Watched(name, names[name], right[name] if solution and not (failed or own) else None)
        elif words := kind_of_value(
            name, names[name], right_value(right.get(name), own) if solution and not failed else None
        ):
            return words
    if here:
        with suppress(Exception), redirect_stdout(StringIO()):
            exec(source, names | here)
    return next((one.wrong for one in here.values() if one.wrong), "")


def right_value(right: Any, own: bool) -> Any:
    """Return the value with which an answer is compared: a student's own with a machine or a text alone."""
    return right if not own or isinstance(right, str | BoltzmannMachine) else None


def definitions(source: str) -> str:
    """Return the functions of a source, without what it computes."""
    return "\n".join(ast.unparse(one) for one in ast.parse(source).body if isinstance(one, ast.FunctionDef))


def kind_of_value(name: str, found: Any, right: Any = None) -> str:
    """Return the fault in the kind of a value, "" if there is none; a text may be the right kind."""
    if found is None:
        return f"{name} is None, nothing: write its value"
    if isinstance(right, str) and not isinstance(found, str | list | tuple):
        return NO_TEXT.format(name, describe(found))
    if isinstance(right, list) and not hasattr(found, "__len__"):
        return f"{name} is {describe(found)}, where a list is asked for: put its {len(right)} parts between [ and ]"
    if isinstance(found, float | np.floating) and np.isnan(found):
        return NAN.format(name).replace(" returned ", " is ", 1)
    words = "" if isinstance(found, str) or isinstance(right, str | list) else kind_error(name, found)
    words = words.replace(", where numbers are asked for", "")  # if it is not known what is
    if right is not None and not isinstance(right, str | list):
        is_asked = isinstance(right, BoltzmannMachine) and not isinstance(found, BoltzmannMachine)
        words = kind_error(name, found) * (not is_asked) or unlike(name, found, right)
    return words.replace(" returned shape", " has shape", 1).replace(" returned ", " is ", 1)
