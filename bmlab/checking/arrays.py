"""Arrays: -1/+1 and 0/1 spins, all states, symmetric weights, and columns matched to units by name."""

from __future__ import annotations

from copy import copy
from typing import Any, NoReturn

import numpy as np
import scipy

from .budgets import check_memory
from .calls import show_call
from .validation import (
    ArrayLike,
    check_array,
    check_count,
    check_finite,
    check_spins,
    describe,
    did_you_mean,
    in_column,
    is_sparse,
    some_values,
)

MIRRORED_ROWS = 64  # that are compared with as many columns at a time
SYMMETRY_ROUNDING = 1e-12  # of w_ij - w_ji, in units of the largest weight: below, weights are made symmetric
TIE_ROUNDING = 1e-10  # numbers tie if they differ by no more than this, in units of the largest of them


@show_call()
def spins(bits: ArrayLike) -> Any:
    """Return -1/+1 (float64) for 0/1 or booleans, in the same shape; raise ValueError for any other value.

    A DataFrame or a Series stays one, with its names.

    >>> bmlab.spins([0, 1, 1])
    array([-1.,  1.,  1.])
    """
    values = check_array("bits", bits)
    right = np.isin(values, (0, 1))
    if not right.all():
        where = in_column(getattr(bits, "columns", ()), right)
        raise ValueError(
            f"bits must be 0/1, found {some_values(values)}{where}; -1/+1 data needs no spins(); "
            "a table with words or missing cells is for bmlab.data.yes_no(frame)"
        )
    return _like(bits, 2.0 * values - 1.0)


@show_call()
def bits(spins: ArrayLike) -> Any:
    """Return 0/1 (int8) for -1/+1, in the same shape; raise ValueError for any other value.

    A DataFrame or a Series stays one, with its names.

    >>> bmlab.bits([-1, 1, 1])
    array([0, 1, 1], dtype=int8)
    """
    return _like(spins, (check_spins("spins", spins, getattr(spins, "columns", ())) > 0).astype(np.int8))


def _like(table, values):
    """Return values as a table of pandas with the names of another, or as they are."""
    index, columns = getattr(table, "index", None), getattr(table, "columns", None)
    if index is None or callable(index):  # .index of a list is a method
        return values
    return type(table)(values, index=index, **({} if columns is None else {"columns": columns}))


@show_call()
def states(n: int) -> np.ndarray:
    """Return all 2^n states, shape (2^n, n), -1 before +1, the last unit changing fastest.

    >>> bmlab.states(2)
    array([[-1., -1.],
           [-1.,  1.],
           [ 1., -1.],
           [ 1.,  1.]])
    """
    n = check_count("n", n, 0)
    check_memory(f"states() would list 2^{n} states", 17.0 * n * 2.0 ** min(n, 1000), "use exact() or sample()")
    codes = np.arange(2**n)[:, None] >> np.arange(n)[::-1]
    return 2.0 * (codes & 1) - 1.0


@show_call()
def symmetric(matrix: ArrayLike) -> Any:
    """Return (A + A')/2 with a zero diagonal: the nearest weights to any square matrix A, sparse (CSR) if A is.

    >>> bmlab.symmetric([[5, 1], [3, 5]])
    array([[0., 2.],
           [2., 0.]])
    """
    entries = check_entries("matrix", align_pairs("matrix", matrix, names_of(matrix)))
    if entries.ndim != 2 or len(set(entries.shape)) > 1:
        raise ValueError(f"matrix must be square to be made symmetric, found shape {entries.shape}; pass shape (n, n)")
    if is_sparse(entries):
        off = entries.row != entries.col
        row, col, half = entries.row[off], entries.col[off], entries.data[off] / 2
        both = np.concatenate([half, half]), (np.concatenate([row, col]), np.concatenate([col, row]))
        return scipy.sparse.csr_array(both, shape=entries.shape)  # entries of one place are added
    weights = (entries + entries.T) / 2
    np.fill_diagonal(weights, 0.0)
    return weights


def log_2cosh(x: np.ndarray) -> np.ndarray:
    """Return log(2 cosh x) = log(exp(x) + exp(-x)) without overflow: log Z of one unit in a field x = h/T."""
    x = np.abs(x)
    return x + np.log1p(np.exp(-2 * x))


def combined_field(x: np.ndarray | float, y: np.ndarray | float) -> np.ndarray:
    """Return atanh(tanh x tanh y), for any size: the field that a unit in the field y sends through a coupling x."""
    a, b = np.abs(x), np.abs(y)
    plus, minus = np.exp(-2 * (a + b)), np.exp(-2 * np.abs(a - b))
    size = np.minimum(a, b) + np.log1p((plus - minus) / (1 + minus)) / 2
    return np.copysign(size, x) * np.copysign(1.0, y)


def check_entries(name: str, matrix: Any) -> Any:
    """Return a matrix of finite numbers, as an array, or as COO if it is sparse; every stored number is checked."""
    if is_sparse(matrix):
        try:
            if hasattr(matrix, "check_format"):
                matrix.check_format(full_check=True)  # compiled code trusts its pointers
            matrix = matrix.tocoo()
        except (TypeError, ValueError, IndexError) as error:
            raise ValueError(f"{name} is a broken sparse matrix ({error}); make it again") from None
    entries = check_array(name, matrix.data if is_sparse(matrix) else matrix)
    check_finite(name, entries)
    return matrix.astype(float) if is_sparse(matrix) else entries


def check_weights(weights: Any, n: int, names: tuple[str, ...] = (), *, own: bool = False) -> Any:
    """Return weights (n, n) read-only, dense or canonical CSR; a copy, unless they are the machine's own already.

    Raises ValueError if they are not finite, square, symmetric (to rounding), or have a diagonal.
    """
    if not own or is_sparse(weights):  # check_scale() sees that a machine's own are numbers
        weights = check_entries("weights", weights)
    if weights.shape != (n, n):
        raise ValueError(f"weights must be ({n}, {n}) for {n} biases, found {weights.shape}; pass one bias a unit")
    if not is_sparse(weights) and not weights.diagonal().any() and _equals_transpose(weights):
        return read_only(weights if own else weights.copy())
    numbers: Any = weights.data if is_sparse(weights) else weights
    check_finite("weights", numbers)
    gap, size = abs(weights - weights.T), largest(weights)
    gap = gap + (
        scipy.sparse.diags_array(abs(weights.diagonal())) if is_sparse(weights) else np.diag(abs(np.diag(weights)))
    )
    if n and gap.max() > SYMMETRY_ROUNDING * size:
        i, j = np.unravel_index(first_largest(gap.toarray() if is_sparse(gap) else gap), gap.shape)
        one, other = unit_name(names, i), unit_name(names, j)
        diagonal, apart = f"w[{one}, {one}] is", f"largest |W - W'| is {gap[i, j]:.3g} at [{one}, {other}]"
        what = f"{diagonal} {gap[i, i]:.3g}" if i == j else apart
        raise ValueError(f"weights must be symmetric with a zero diagonal ({what}); see bmlab.symmetric(W)")
    return read_only(symmetric(weights))


def _equals_transpose(matrix):
    """Whether a square array is equal to its transpose, strip by strip: a column of a large one is not in the cache."""
    if len(matrix) <= MIRRORED_ROWS:
        return bool((matrix == matrix.T).all())
    strips = range(0, len(matrix), MIRRORED_ROWS)
    return all((matrix[a : a + MIRRORED_ROWS, a:] == matrix[a:, a : a + MIRRORED_ROWS].T).all() for a in strips)


def check_coupling_mask(couplings: Any, n: int, names: tuple[str, ...] = ()) -> np.ndarray | None:
    """Return the mask of the weights that exist, (n, n), or None; raise ValueError if it is no symmetric mask."""
    if couplings is None:
        return None
    mask = check_array("couplings", align_pairs("couplings", couplings, names, "try W != 0"), "try W != 0")
    if mask.shape != (n, n) or not np.isfinite(mask).all() or (mask != mask.T).any():
        raise ValueError(f"couplings must be a symmetric ({n}, {n}) mask, found {describe(couplings)}; try W != 0")
    return (mask != 0) & ~np.eye(n, dtype=bool)


def largest(matrix: Any) -> float:
    """Return the largest size of a number in an array, sparse or not; 0 if it has none."""
    return float(max(matrix.max(), -matrix.min())) if matrix.shape[0] else 0.0


def first_largest(values: ArrayLike, axis: int | None = None) -> Any:
    """Return the index of the largest number, like nanargmax; if several tie within rounding, the first.

    >>> from bmlab.checking.arrays import first_largest
    >>> int(first_largest([0.1, 0.3, 0.1 + 0.2]))  # the third is larger by 6e-17
    1
    """
    x = np.asarray(values, dtype=float)
    tie = TIE_ROUNDING * np.max(np.abs(x), axis=axis, keepdims=True, where=np.isfinite(x), initial=0)
    return (x >= np.fmax.reduce(x, axis=axis, keepdims=True) - tie).argmax(axis)


def first_smallest(values: ArrayLike, axis: int | None = None) -> Any:
    """Return the index of the smallest number, like argmin; of all that tie with it within rounding, the first."""
    return first_largest(-np.asarray(values, dtype=float), axis)


def smallest_first(values: ArrayLike) -> np.ndarray:
    """Return the order of numbers (k,), as argsort does: those that tie within rounding stay in the order they have.

    >>> from bmlab.checking.arrays import smallest_first
    >>> smallest_first([0.1 + 0.2, 0.3, 0.1])
    array([2, 0, 1])
    """
    x = np.asarray(values, dtype=float)
    order = np.argsort(x, kind="stable")
    steps = np.diff(x[order]) > TIE_ROUNDING * np.max(np.abs(x), where=np.isfinite(x), initial=0)
    return order[np.lexsort((order, np.append(0, np.cumsum(steps))[: len(x)]))]


def oriented(vectors: np.ndarray) -> np.ndarray:
    """Return columns (n, k), each with the sign that makes its largest number positive: eigenvectors have either."""
    top = np.take_along_axis(vectors, first_largest(np.abs(vectors), axis=0)[None], axis=0)
    return np.where(top < 0, -vectors, vectors)


def names_of(data: Any) -> tuple[str, ...]:
    """Return the names of the units in a table, () if it has none: this and units_of() are the one rule for names.

    align_columns() and align_pairs() apply it to numbers of units.  Names are the columns of a DataFrame or
    a record batch, and the labels of a Series; a table whose columns are numbered from 0 has none.
    Raises ValueError for other labels, and if two columns have the same name.
    """
    schema = getattr(getattr(data, "schema", None), "names", None)  # of pyarrow, whose .columns are the numbers
    labels = schema if isinstance(schema, list) else getattr(data, "columns", getattr(data, "index", None))
    names = tuple(labels) if np.iterable(labels) else ()  # .index of a list is a method
    if names == tuple(range(len(names))):
        return ()
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise ValueError(f"columns must have strings for names, found {wrong[0]!r}; rename them, or pass .to_numpy()")
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise ValueError(f"there are {names.count(twice[0])} columns called {twice[0]!r}; rename or drop all but one")
    return names


def units_of(data: Any, names: tuple[str, ...], *, whole: bool = False) -> np.ndarray | None:
    """Return which unit of a machine with these `names` each column of a table is (k,); None if it has no names.

    Raises ValueError if a column is no unit, if the machine has no names, or if a unit lacks a column of a
    table that must be `whole`; and as names_of() does.
    """
    found = names_of(data)
    if not found:
        return None
    if not names:
        way_out = "pass .to_numpy(), or dataclasses.replace(machine, names=[...])"
        raise ValueError(f"the columns have names ({found[0]!r}, ...), and the units have none; {way_out}")
    unit = {name: k for k, name in enumerate(names)}
    for name in found:
        if name not in unit:
            raise ValueError(f"{name!r} is no unit; {did_you_mean(name, names)}")
    lacking = [name for name in names if name not in found]
    if whole and lacking:
        raise ValueError(f"unit {lacking[0]!r} has no column ({len(lacking)} such units); pass one column a unit")
    return np.array([unit[name] for name in found])


def align_columns(what: str, data: Any, names: tuple[str, ...], advice: str = "", *, whole: bool = False) -> np.ndarray:
    """Return a table (..., k) as numbers in the order of the units; nan for a unit that has no column and is not last.

    Raises ValueError as units_of() and check_array() do.
    """
    units, values = units_of(data, names, whole=whole), check_array(what, data, advice)
    if units is None:
        return values
    placed = np.full((*values.shape[:-1], units.max() + 1), np.nan)
    placed[..., units] = values
    return placed


def align_pairs(what: str, data: Any, names: tuple[str, ...], advice: str = "") -> Any:
    """Return a table (n, n) as numbers with rows and columns in the order of the units; unchanged without names.

    If rows or columns have no names, they are in the order of the other.  Raises ValueError as align_columns() does.
    """
    columns, index = units_of(data, names, whole=True), getattr(data, "index", None)
    rows = None if index is None or callable(index) else units_of(data.T, names, whole=True)
    rows, columns = (columns if rows is None else rows), (rows if columns is None else columns)
    if rows is None or columns is None:
        return data
    values = check_array(what, data, advice)
    if values.shape != (len(names), len(names)):
        return values
    return values[np.ix_(np.argsort(rows), np.argsort(columns))]


def unit_name(names: tuple[str, ...], unit: Any) -> str:
    """Return the name of a unit for a sentence, or its number if it has none."""
    return repr(names[unit]) if names else str(unit)


def no_such_attribute(self: Any, name: str) -> NoReturn:
    """Raise AttributeError with a suggestion: the __getattr__ of a record."""
    if name.startswith("_"):  # looked up by protocols, not typed by people
        raise AttributeError(name)
    kind = type(self)
    listed = [*getattr(kind, "__dataclass_fields__", ()), *(each for each in dir(kind) if not each.startswith("_"))]
    fields = [*dict.fromkeys(listed)]  # a field with a default is in both
    known = did_you_mean(name, fields, f"it has {', '.join(fields)}")
    raise AttributeError(f"{kind.__name__} has no {name!r}; {known}")


def read_only(array: Any) -> Any:
    """Return the array, or sparse array, after its numbers have been made read-only."""
    for part in (array.data, array.indices, array.indptr) if is_sparse(array) else (array,):
        part.flags.writeable = False
    return array


def sealed(answer: Any) -> Any:
    """Return an answer whose arrays are read-only views, also in tuples, lists and dicts; it is not changed.

    Sparse arrays are CSR.
    """
    if answer is None or isinstance(answer, (str, int, float)):  # nearly always
        return answer
    if isinstance(answer, np.ndarray):
        view: Any = answer.view()
        view.flags.writeable = False
        return view
    if is_sparse(answer):
        view = copy(answer)
        view.data, view.indices, view.indptr = (part.view() for part in (answer.data, answer.indices, answer.indptr))
        return read_only(view)
    if isinstance(answer, dict):
        return {name: sealed(part) for name, part in answer.items()}
    if isinstance(answer, (list, tuple)):
        parts = map(sealed, answer)
        return type(answer)(*parts) if hasattr(answer, "_fields") else type(answer)(parts)
    return answer
