"""Training data: rows in the order of the units, or moments; unique patterns and their weights; masks.

Moments of data that need not fit into memory are summed in one pass over chunks of rows,

    m_i = sum_k c_k s_ki / sum_k c_k        C_ij = sum_k c_k s_ki s_kj / sum_k c_k        c_k the weight of row k

and without weights these are sums of whole numbers, exactly the same for any chunks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from warnings import warn

import numpy as np

from ..checking.arrays import align_columns, check_coupling_mask, check_entries, names_of, unit_name, units_of
from ..checking.calls import show_call
from ..checking.validation import (
    ArrayLike,
    check_array,
    check_flag,
    check_spins,
    describe,
    in_column,
    is_sparse,
    some_values,
)
from ..estimate import Estimate, as_corr, check_estimate, coupled_pairs
from ..model import BoltzmannMachine, check_model
from ..running.files import stored
from ..running.progress_bars import with_progress
from ..running.sparsity import values_at

COUNTED_STRIP = 2**18  # numbers that are summed together: single precision counts to 2^24 rows
ZERO_PROBABILITY = 1e-12  # a smaller probability counts as 0: no data have 10^12 rows
BIAS_ADVICE = "leave the unit out, or pass bias_penalty=0.001 beside a penalty"  # of learners, if a unit is constant
PENALTY_ADVICE = "pass penalty=1/len(data)"  # a normal prior of width 1, if a weight would be infinite


def with_column_names(model: BoltzmannMachine, data: Any) -> BoltzmannMachine:
    """Return the model; without names it gets those of a table's columns, hidden units being h1, h2, ..."""
    check_model(model)
    names = names_of(data)
    if model.names or not 0 < len(names) <= model.n:
        return model
    return replace(model, names=(*names, *(f"h{k + 1}" for k in range(model.n - len(names)))))


def align_rows(model: BoltzmannMachine, data: Any) -> np.ndarray:
    """Return data (N, v) for the first v units; columns with names go to the units of these names.

    A unit without a column is hidden, nan.  Raises ValueError as units_of() does.
    """
    check_model(model)
    if isinstance(data, Estimate):
        raise ValueError(f"data must be rows (N, units), found {data!r}; pass the rows: moments have none")
    rows = align_columns("data", data, model.names, "pass rows (N, units) of -1/+1")
    if not rows.ndim:
        raise ValueError(f"data must be rows (N, units), found {describe(data)}; pass [[1, -1, ...], ...]")
    return np.atleast_2d(rows)


def check_visible_rows(
    model: BoltzmannMachine, data: Any, *, allow_expected: bool = False, allow_missing: bool = False
) -> np.ndarray:
    """Return data (N, v), -1/+1, for the first v units; raise ValueError for others, or if wider than the machine.

    allow_expected  also allow expected values, any numbers between -1 and 1; 0/1 is refused
    allow_missing   also allow nan for a missing entry
    """
    data = align_rows(model, data)
    if allow_expected:
        _check_no_holes(data, model.names)
    else:
        check_spins("data", np.where(np.isnan(data), 1.0, data) if allow_missing else data, model.names)
    if allow_expected and not ((np.abs(data) <= 1).all() and ((data < 0).any() or (data == 1).all())):
        raise ValueError(f"data must be -1/+1, or from -1 to 1, found {some_values(data)}; try 2 * data - 1 for 0 to 1")
    if data.ndim > 2 or not len(data) or not 0 < data.shape[1] <= model.n:
        raise ValueError(
            f"data must be rows of 1 to {model.n} columns, found {data.shape}; pass a larger machine, or fewer units"
        )
    return data


def _check_no_holes(data, names, what="data"):
    """Raise ValueError if rows (N, n) have an entry that is nan."""
    holes = np.isnan(data)
    if holes.any() and data.ndim == 2:
        n_rows, n = data.shape
        raise ValueError(
            f"{what} must be whole rows, found nan{in_column(names, ~holes)}, in {holes.any(0).sum()} of {n} columns "
            f"and {holes.any(1).sum()} of {n_rows} rows; use fit() or maximize(), which take nan, or leave out such "
            "columns"
        )


def check_padded_rows(model: BoltzmannMachine, data: Any) -> np.ndarray:
    """Return data as rows (N, n), nan if a unit is hidden; raise ValueError as check_visible_rows()."""
    return pad_hidden(model, check_visible_rows(model, data, allow_missing=True))


def pad_hidden(model: BoltzmannMachine, data: np.ndarray) -> np.ndarray:
    """Return data (N, v) as rows (N, n), nan if a unit is hidden."""
    if data.shape[1] == model.n:
        return data
    return np.hstack([data, np.full((len(data), model.n - data.shape[1]), np.nan)])


def check_complete_rows(data: Any, *, allow_constant: bool = False, what: str = "data") -> np.ndarray:
    """Return data (N, n) of -1/+1, float64, without hidden units; raise ValueError for others and for empty data.

    Also raise it if there are fewer rows than columns and a column is constant, unless `allow_constant`.
    """
    names, found = names_of(data), np.atleast_2d(check_array(what, data))
    _check_no_holes(found, names, what)
    data = check_spins(what, found, names)
    if data.ndim > 2 or not data.size:
        raise ValueError(f"{what} must have at least one row and one column, found shape {data.shape}; pass (N, units)")
    n_rows, n = data.shape
    if not allow_constant and n_rows < n and (1 - np.abs(data.mean(0)) < ZERO_PROBABILITY).any():
        raise ValueError(
            f"{what} must be rows (N, units), found {n_rows} rows of {n} columns, one of them constant; pass "
            f"{what}.T if units are rows, or more rows"
        )
    return data


def check_moments(model: BoltzmannMachine, data: Estimate) -> Estimate:
    """Return an Estimate of the moments of all units of the data, in their order, with corr laid out as the weights."""
    check_estimate("data", data)
    if np.shape(data.mean) != (model.n,) or (is_sparse(data.corr) and not model.is_sparse):
        raise ValueError(
            f"moments must be of all {model.n} units and pairs, found {data!r}; pass rows if units are hidden"
        )
    units = units_of(data, model.names, whole=True)
    if units is not None and (units != np.arange(model.n)).any():
        data = _in_unit_order(data, np.argsort(units), model.names)
    if model.is_sparse and not is_sparse(data.corr):
        pairs = coupled_pairs(model)
        corr = np.asarray(data.corr)
        stderr = np.asarray(data.corr_stderr)
        return replace(data, corr=as_corr(model, corr[pairs]), corr_stderr=as_corr(model, stderr[pairs], 0.0))
    return data


def _in_unit_order(data, order, names):
    """Return moments with all their means and pairs in the order of the units with these names."""
    corr, corr_stderr = (x[order][:, order] for x in (data.corr, data.corr_stderr))
    draws = None if data.draws is None else data.draws[..., order]
    changed = {"mean": data.mean[order], "mean_stderr": data.mean_stderr[order], "draws": draws, "columns": names}
    return replace(data, corr=corr, corr_stderr=corr_stderr, **changed)


def _check_sample_weight(sample_weight):
    weight = check_array("sample_weight", sample_weight)
    if weight.ndim != 1 or not (weight >= 0).all() or not 0 < weight.sum() < np.inf:
        raise ValueError(
            f"sample_weight must be one a row, 0 or more, not all 0, found {describe(weight)}; pass np.ones(N)"
        )
    return weight


def unique_rows(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (first, which, count) of the distinct rows of x (N, n), of -1, 0 and +1 or of booleans, in their order.

    Rows are compared as text: if NumPy compares voids or structures, Ctrl-C becomes a TypeError.
    """
    code = np.pad(x + 1, ((0, 0), (1, 0))).astype(np.int8)
    text = np.ascontiguousarray(code).view(f"S{code.shape[1]}").ravel()
    _, first, which, count = np.unique(text, return_index=True, return_inverse=True, return_counts=True)
    return first, which.ravel(), count


def unique_patterns(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the patterns (K, n) in rows s (N, n) of -1, 0 or +1, and the share (K,) of each."""
    first, _, count = unique_rows(s)
    return s[first], count / len(s)


def with_learned_couplings(model: BoltzmannMachine, couplings: Any) -> tuple[BoltzmannMachine, np.ndarray | None]:
    """Return the model with all couplings to learn, and their mask (n, n): `couplings`, or else the model's own.

    A mask of None means all pairs of dense weights, or the stored pairs of sparse weights.
    """
    mask = check_coupling_mask(couplings, model.n, model.names)
    if mask is not None and model.couplings is not None and (mask > model.couplings).any():
        model = replace(model, couplings=mask | model.couplings)
    return model, model.couplings if mask is None else mask


def check_bias_mask(biases: Any, n: int, names: tuple[str, ...]) -> np.ndarray | None:
    """Return the mask of the biases to learn, (n,), or None for all; raise ValueError if `biases` is no mask."""
    if biases is None:
        return None
    mask = align_columns("biases", biases, names, "try np.arange(model.n) < 3", whole=True)
    if mask.shape != (n,) or not np.isin(mask, (0, 1)).all():
        raise ValueError(f"biases must be a mask of {n} units, found {describe(biases)}; try np.arange(model.n) < 3")
    return mask != 0


def independent_biases(mean: np.ndarray) -> np.ndarray:
    """Return the biases over T (n,) of independent units with these means, 0 if a unit is constant."""
    return np.arctanh(mean * (1 - np.abs(mean) >= ZERO_PROBABILITY))


def check_each_varies(mean: np.ndarray, names: tuple[str, ...], way_out: str) -> None:
    """Raise ValueError if a unit is constant in the data."""
    constant = np.flatnonzero(1 - np.abs(mean) < ZERO_PROBABILITY)
    if len(constant):
        unit = unit_name(names, constant[0])
        raise ValueError(f"unit {unit} is constant in the data, and its bias would be infinite; {way_out}")


def check_all_combinations(mean: np.ndarray, corr: Any, pairs: tuple, names: tuple[str, ...]) -> None:
    """Raise ValueError if a coupled pair lacks a combination of signs: its best weight would be infinite."""
    row, col = pairs
    for one, other in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        p = (1 + one * mean[row] + other * mean[col] + one * other * values_at(corr, pairs)) / 4
        for k in np.flatnonzero(p < ZERO_PROBABILITY):
            raise ValueError(
                f"units {unit_name(names, row[k])} and {unit_name(names, col[k])} are never {one:+} and {other:+} "
                f"together in the data, so their weight would be infinite; {PENALTY_ADVICE}, or leave the pair out "
                "of couplings"
            )


@stored(but=("info", "model"))
@dataclass(frozen=True, eq=False, repr=False)
class Moments(Estimate):
    """The moments of data: an Estimate with the names of the columns, () for none, and the number of rows.

    >>> bmlab.moments(bmlab.states(2)).count
    4
    """

    columns: tuple[str, ...] = ()
    count: float = np.nan
    is_clamped: bool = True


@show_call()
def moments(
    chunks: ArrayLike | Iterable[Any], *, bits: bool = False, sample_weight: ArrayLike | None = None
) -> Moments:
    """Return the moments of all rows, for fit(), learning_steps(), maximize() and the inversions.

    chunks   iterable of arrays, also sparse, DataFrames or record batches (rows, units), each read once: a list, a
             generator, pyarrow's ParquetFile(path).iter_batches(), pandas.read_csv(path, chunksize=10**5).
             A single array (N, units), such as a memmap, is read in strips
    bits     whether values are 0/1, not -1/+1; not needed for booleans
    sample_weight   weights of the rows, (N,), in the order of the chunks; default: all 1
    Columns with names must have the same names in every chunk, in any order; the first chunk's order is kept.
    Raises ValueError for other values, missing entries, other names or widths, and if there is no row.  Warns if there
    are fewer rows than columns: rows and columns may be swapped.
    Cost: 0.2 to 0.5 GB of int8 per second on one core, and memory for one chunk.

    >>> found = bmlab.moments([bmlab.states(3), bmlab.states(3)])  # two chunks
    >>> found.count, found.mean
    (16, array([0., 0., 0.]))
    """
    bits = check_flag("bits", bits)
    weight = None if sample_weight is None else _check_sample_weight(sample_weight)
    chunks = [chunks] if len(getattr(chunks, "shape", ())) == 2 else chunks
    if not np.iterable(chunks) or isinstance(chunks, (str, bytes)):
        raise ValueError(f"chunks must be arrays (rows, units), found {describe(chunks)}; pass [array, ...]")
    unit_sums = pair_sums = names = None
    n_rows, total_weight = 0, 0.0
    for k, chunk in enumerate(with_progress(chunks, "chunk")):
        try:
            x, chunk_names = _numbers(chunk), names_of(chunk)
            if unit_sums is None or pair_sums is None or names is None:
                names = chunk_names
                unit_sums, pair_sums = np.zeros(x.shape[1]), np.zeros((x.shape[1], x.shape[1]))
            if chunk_names != names or x.shape[1] != len(unit_sums):
                x = _in_order(x, chunk, names, f"{len(unit_sums)} {'with' if names else 'without'} names")
            size = x.shape[0]
            row_weight = None if weight is None else weight[n_rows : n_rows + size]
            if row_weight is not None and len(row_weight) < size:
                raise ValueError(f"sample_weight has {len(row_weight)} numbers left for {size} rows; pass one a row")
            for a in range(0, size, step := max(1, COUNTED_STRIP // max(1, x.shape[1]))):
                strip: Any = x[a : a + step]
                s = _signs(strip.toarray() if is_sparse(strip) else strip, bits, names)
                c = None if row_weight is None else row_weight[a : a + step, None]
                unit_sums += s.sum(0, dtype=float) if c is None else (c * s).sum(0)
                pair_sums += s.T @ s if c is None else (c * s).T @ s
        except ValueError as error:
            raise ValueError(f"chunks[{k}]: {error}") from None
        n_rows = n_rows + size
        total_weight = total_weight + (size if row_weight is None else row_weight.sum())
    if unit_sums is None or pair_sums is None or not total_weight or not len(unit_sums):
        raise ValueError("chunks must have at least one row that counts and one unit, found none; pass [array, ...]")
    if weight is not None and len(weight) != n_rows:
        raise ValueError(f"sample_weight must be one number for each of {n_rows} rows, found {len(weight)}; cut it")
    if n_rows < len(unit_sums):
        warn(
            f"moments() read {n_rows} rows of {len(unit_sums)} units; pass data.T if the rows are the units",
            stacklevel=2,
        )
    info = {"rows": n_rows, "algorithm": "averages of the data"}
    mean, corr = unit_sums / total_weight, pair_sums / total_weight
    return Moments(mean, corr, method="moments", info=info, columns=names or (), count=n_rows)


def _numbers(chunk):
    """Return a chunk as numbers or booleans (rows, units), in its own type if that is one; sparse chunks as CSR."""
    if is_sparse(chunk):
        return check_entries("it", chunk).astype(bool if chunk.dtype.kind == "b" else float).tocsr()
    x: Any = chunk if hasattr(chunk, "filled") or not hasattr(chunk, "shape") else np.asarray(chunk)
    kind = x.dtype.kind if hasattr(x, "dtype") else ""
    if kind == "O" and all(isinstance(value, (bool, np.bool_)) for value in x.flat):
        kind = "b"
    if not kind or kind not in "biuf" or x.dtype.kind == "O" or hasattr(x, "filled"):
        x = check_array("it", chunk)
        x = x.astype(bool) if kind == "b" and not np.isnan(x).any() else x
    if x.ndim != 2:
        raise ValueError(f"it must be rows (rows, units), found shape {x.shape}; pass [array] for one chunk")
    return x


def _in_order(x, chunk, names, units):
    """Return the columns of a chunk in the order of the first chunk."""
    order = units_of(chunk, names, whole=True)
    if order is not None:
        return x[:, np.argsort(order)]
    raise ValueError(f"it has {x.shape[1]} columns without names, and the first {units}; pass the same in each chunk")


def _signs(x, bits, names):
    """Return -1/+1 in single precision, checked."""
    is_binary = x.dtype.kind == "b" or bits
    right = (x == 1) | (x == (0 if is_binary else -1))
    if not right.all():
        if np.isnan(x).any():
            raise ValueError("an entry is missing (nan); leave out its row, or pass rows to fit(), which sums over it")
        expected = "0/1, as bits=True says" if is_binary else "-1/+1"
        way_out = "pass bits=True" if not is_binary and np.isin(x, (0, 1)).all() else "threshold it"
        raise ValueError(f"it must be {expected}, found {some_values(x)}{in_column(names, right)}; {way_out}")
    s = x.astype(np.float32)
    return 2 * s - 1 if is_binary else s
