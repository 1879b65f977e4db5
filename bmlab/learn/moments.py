"""Means and correlations of data that need not fit into memory, in one pass over their chunks.

    m_i = sum_k c_k s_ki / sum_k c_k        C_ij = sum_k c_k s_ki s_kj / sum_k c_k        c_k how much row k counts

Without weights the sums are of whole numbers, and so the same to the bit however the rows are cut.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import names_of, units_of
from ..checks import check_array, check_flag, in_words, some_values
from ..estimate import Estimate
from ..progress_bars import watched

STRIP = 2**18  # numbers that are summed together: single precision counts to 2^24 rows


@dataclass(frozen=True, eq=False, repr=False)
class Moments(Estimate):
    """Hold the moments of data: an Estimate with the names of the columns, () for none, and the number of rows."""

    columns: tuple[str, ...] = ()
    count: float = np.nan


def moments(chunks: Iterable[Any], *, bits: bool = False, sample_weight: ArrayLike | None = None) -> Moments:
    """Return the moments of all rows, for fit(), ascend(), maximize() and the inversions.

    chunks   arrays, DataFrames or record batches (rows, units), one after the other, each read once: a list, a
             generator, pyarrow's ParquetFile(path).iter_batches(), pandas.read_csv(path, chunksize=10**5).  One array
             (N, units), such as a memmap, is a chunk; it is read in strips
    bits     whether values are 0/1, not -1/+1; booleans need no word
    sample_weight   how much each row counts, (N,), in the order of the chunks
    Columns with names must have the same names in every chunk, in any order; the first chunk's order is kept.
    Raises ValueError for other values, missing entries, other names or widths, and where there is no row.
    Cost: 0.2 GB of int8 a second on one core, and memory for one chunk.

    >>> found = bmlab.moments([bmlab.states(3), bmlab.states(3)])  # two chunks
    >>> found.count, found.mean
    (16, array([0., 0., 0.]))
    """
    bits = check_flag("bits", bits)
    weight = None if sample_weight is None else _checked_weight(sample_weight)
    chunks = [chunks] if len(getattr(chunks, "shape", ())) == 2 else chunks
    if not np.iterable(chunks) or isinstance(chunks, (str, bytes)):
        raise ValueError(f"chunks must be arrays (rows, units), found {in_words(chunks)}; pass [array, ...]")
    sums = pairs = names = None
    count, total = 0, 0.0
    for k, chunk in enumerate(watched(chunks, "chunk")):
        try:
            x, own = _numbers(chunk), names_of(chunk)
            if sums is None or pairs is None or names is None:
                names, sums, pairs = own, np.zeros(x.shape[1]), np.zeros((x.shape[1], x.shape[1]))
            if own != names or x.shape[1] != len(sums):
                x = _in_order(x, chunk, names, f"{len(sums)} {'with' if names else 'without'} names")
            share = None if weight is None else weight[count : count + len(x)]
            if share is not None and len(share) < len(x):
                raise ValueError(f"sample_weight has {len(share)} numbers left for {len(x)} rows; pass one a row")
            for a in range(0, len(x), step := max(1, STRIP // max(1, x.shape[1]))):
                s = _signs(x[a : a + step], bits)
                c = None if share is None else share[a : a + step, None]
                sums += s.sum(0, dtype=float) if c is None else (c * s).sum(0)
                pairs += s.T @ s if c is None else (c * s).T @ s
        except ValueError as error:
            raise ValueError(f"chunks[{k}]: {error}") from None
        count, total = count + len(x), total + (len(x) if share is None else share.sum())
    if sums is None or pairs is None or not total or not len(sums):
        raise ValueError("chunks must have at least one row that counts and one unit, found none; pass [array, ...]")
    if weight is not None and len(weight) != count:
        raise ValueError(f"sample_weight must be one number for each of {count} rows, found {len(weight)}; cut it")
    info = {"rows": count, "road": "averages of the data"}
    return Moments(sums / total, pairs / total, method="moments", info=info, columns=names or (), count=count)


def _checked_weight(sample_weight):
    weight = check_array("sample_weight", sample_weight)
    if weight.ndim != 1 or not (weight >= 0).all() or not 0 < weight.sum() < np.inf:
        raise ValueError(
            f"sample_weight must be numbers (N,), 0 or more and not all 0, found {in_words(weight)}; pass one a row"
        )
    return weight


def _numbers(chunk):
    """Return a chunk as an array of numbers (rows, units), in its own type where that is one of numbers."""
    x = chunk if hasattr(chunk, "filled") else np.asarray(chunk) if hasattr(chunk, "shape") else chunk
    x = x if isinstance(x, np.ndarray) and x.dtype.kind in "biuf" and not hasattr(x, "filled") else check_array("it", x)
    if x.ndim != 2:
        raise ValueError(f"it must be rows (rows, units), found shape {x.shape}; pass [array] for one chunk")
    return x


def _in_order(x, chunk, names, units):
    """Return the columns of a chunk in the order of the first one's."""
    found = units_of(chunk, names, whole=True)
    if found is not None:
        return x[:, np.argsort(found)]
    raise ValueError(f"it has {x.shape[1]} columns without names, and the first {units}; pass the same in each chunk")


def _signs(x, bits):
    """Return -1/+1 in single precision, checked."""
    off = x.dtype.kind == "b" or bits
    if not ((x == 1) | (x == (0 if off else -1))).all():
        if np.isnan(x).any():
            raise ValueError("an entry is missing (nan); leave out its row, or pass rows to fit(), which sums over it")
        wanted = "0/1, as bits=True says" if off else "-1/+1"
        way_out = "pass bits=True" if not off and np.isin(x, (0, 1)).all() else "threshold it"
        raise ValueError(f"it must be {wanted}, found {some_values(x)}; {way_out}")
    s = x.astype(np.float32)
    return 2 * s - 1 if off else s
