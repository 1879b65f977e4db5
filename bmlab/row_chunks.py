"""Rows of data that need not fit into memory: chunks, each loaded where it is summed, and given up again.

    data = bmlab.rows("spikes.npy")  # (N, v) of -1/+1, 0/1 or booleans, read by stretches
    bmlab.maximize(machine, data)  # where no unit is hidden, the moments are all that it needs

Sums are of whole numbers: the same to the bit however the rows are cut, and whoever sums them.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .checks import check_array, in_words, needed, some_values
from .estimate import Estimate
from .files import check_path
from .parallel import in_parts
from .progress_bars import watched

NUMBERS = 2**23  # of a chunk that is cut here
STRIP = 2**18  # numbers that are summed together: single precision counts to 2^24 rows
WAY_OUT = "pass the name of an .npy or .parquet file, an array (N, units), or chunks of such rows"


@dataclass(frozen=True, eq=False)
class Rows:
    """Hold what one pass over the rows has found, and where they are.

    chunks         each an array, or a callable that loads one; none where the rows came from an iterator
    count, width   N and v
    sums, pairs    over the rows, of s_i (v,) and s_i s_j (v, v)
    missing        whether an entry is nan; it counts as 0 in the sums
    """

    chunks: tuple
    count: int
    sums: np.ndarray
    pairs: np.ndarray
    missing: bool

    @property
    def width(self) -> int:
        """The number of units."""
        return len(self.sums)

    @property
    def moments(self) -> Estimate:
        """Means (v,) and correlations (v, v) of the rows; nan where an entry is missing."""
        unknown = np.nan if self.missing else 1.0
        info = {"rows": self.count, "road": "averages of the data"}
        return Estimate(unknown * self.sums / self.count, unknown * self.pairs / self.count, method="rows", info=info)

    def load(self, k: int) -> np.ndarray:
        """Return the rows of chunk k, -1/+1 or nan (rows, v)."""
        return _signs(_loaded(self.readable()[k]), float)[0]

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yield the rows of one chunk after the other, -1/+1 or nan (rows, v)."""
        return map(self.load, range(len(self.readable())))

    def each(self, task: Callable, parts: list | None = None) -> Iterator[Any]:
        """Yield task(rows, part) of each chunk, -1/+1 or nan, in their order; by workers where there are any."""
        self.readable()
        told = [None] * len(self.chunks) if parts is None else parts
        return in_parts(partial(_on_chunk, task), list(zip(self.chunks, told, strict=True)), "chunk")

    def readable(self) -> tuple:
        """Return the chunks; raise ValueError where they came from an iterator and are gone."""
        if not self.chunks:
            raise ValueError("data from an iterator can be read once; pass rows() functions that each load a chunk")
        return self.chunks


def rows(source: Any) -> Rows:
    """Return the rows of a source, read once, for clamped(), fit(), ascend(), maximize(), pcd(), pseudolikelihood().

    source   the name of an .npy or a .parquet file (the latter by pyarrow), which workers can open too; a memmap; an
             array or a DataFrame (N, units); a dask.array whose chunks are whole rows; a list of chunks (rows, units),
             each an array or a function without arguments that loads one; or an iterator of chunks, which is read once
    Values are -1/+1, or 0/1, or booleans; nan is missing.  Memory: some 100 MB, whatever N.
    Raises ValueError for other values, and for chunks that differ in width.

    >>> found = bmlab.rows([bmlab.states(3), bmlab.states(3)])  # two chunks
    >>> found.count, found.moments.mean
    (16, array([0., 0., 0.]))
    """
    chunks = _chunks(source)
    spent = isinstance(chunks, Iterator)
    found = (_summed(chunk) for chunk in watched(chunks, "chunk")) if spent else in_parts(_summed, chunks, "chunk")
    count, sums, pairs, missing, values = 0, None, None, False, set()
    for size, own, products, holes, seen in found:
        if sums is None or pairs is None:
            sums, pairs = np.zeros(own.shape), np.zeros(products.shape)
        if len(own) != len(sums):
            raise ValueError(f"source has chunks of {len(sums)} and of {len(own)} units; {WAY_OUT}")
        count, missing, values = count + size, missing or holes, values | seen
        sums += own
        pairs += products
        if values >= {-1, 0}:
            raise ValueError(f"source must be all -1/+1 or all 0/1, found -1 and 0 in it; {WAY_OUT}")
    if not count or sums is None or pairs is None or not len(sums):
        raise ValueError(f"source must have at least one row and one unit, found none; {WAY_OUT}")
    return Rows(() if spent else tuple(chunks), count, sums, pairs, missing)


def _chunks(source: Any) -> Any:
    """Return chunks in a list, or an iterator of them."""
    if isinstance(source, (str, os.PathLike)):
        path = os.path.abspath(check_path("source", source))
        if path.endswith(".parquet"):
            return [partial(_row_group, path, k) for k in range(_parquet(path).num_row_groups)]
        return [partial(_stretch, path, a, b) for a, b in _cut(_opened(path), NUMBERS)]
    if hasattr(source, "to_delayed") and hasattr(source, "chunks"):
        return [partial(_computed, chunk) for chunk in source.to_delayed().ravel()]
    if isinstance(source, np.memmap) and _is_file(source):
        return _chunks(source.filename)
    if isinstance(source, Iterator):
        return source
    if isinstance(source, (list, tuple)) and source and all(callable(x) or _is_matrix(x) for x in source):
        return list(source)
    array = np.asarray(source) if _is_matrix(source) else check_array("source", source, WAY_OUT)
    return [array[a:b] for a, b in _cut(array, NUMBERS)]


def _is_matrix(x):
    return len(getattr(x, "shape", ())) == 2 and isinstance(getattr(x, "dtype", None), np.dtype)


def _is_file(source):
    """Whether a memmap is the whole of an .npy file."""
    try:
        whole = np.load(source.filename, mmap_mode="r")
    except (OSError, ValueError, TypeError, AttributeError):
        return False
    return whole.shape == source.shape and whole.dtype == source.dtype and whole.offset == source.offset


def _opened(path):
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise type(error)(f"source {path} cannot be read ({error.strerror}); {WAY_OUT}") from None
    except ValueError:
        found = None
    if not isinstance(found, np.ndarray):
        raise ValueError(f"source {path} is no .npy file of numbers; write it by np.save(path, array)")
    return found


def _parquet(path):
    """Open a file of columns, as pandas and Spark write it, in groups of rows."""
    try:
        return needed("pyarrow.parquet", "rows() of a .parquet file", "pyarrow").ParquetFile(path)
    except OSError as error:
        raise type(error)(f"source {path} cannot be read ({error}); {WAY_OUT}") from None
    except ValueError:  # pyarrow's own, for what is no such file
        raise ValueError(f"source {path} is no .parquet file; write it by DataFrame.to_parquet(path)") from None


def _row_group(path, k):
    columns = _parquet(path).read_row_group(k).columns
    return np.column_stack([column.to_numpy() for column in columns])  # null is nan


def _cut(array, numbers):
    """Return (begin, end) of stretches of rows."""
    if array.ndim != 2 or not array.size:
        raise ValueError(f"source must be rows (N, units), found shape {array.shape}; {WAY_OUT}")
    step = max(1, numbers // array.shape[1])
    return [(a, min(a + step, len(array))) for a in range(0, len(array), step)]


def _stretch(path, begin, end):
    return np.load(path, mmap_mode="r")[begin:end]


def _computed(chunk):
    return chunk.compute(scheduler="synchronous")


def _loaded(chunk) -> np.ndarray:
    """Return the rows of a chunk as they are written; raise ValueError where these are no numbers."""
    x = chunk() if callable(chunk) else chunk
    x = np.asarray(x) if _is_matrix(x) and np.asarray(x).dtype.kind in "biuf" else check_array("source", x, WAY_OUT)
    if x.ndim != 2:
        raise ValueError(f"source must have chunks of rows (rows, units), found {in_words(x)}; {WAY_OUT}")
    return x


def _summed(chunk):
    """Return (rows, sums, pairs, whether an entry is missing, which of -1 and 0 occur) of one chunk, in strips."""
    x = _loaded(chunk)
    sums, pairs, missing, values = np.zeros(x.shape[1]), np.zeros((x.shape[1], x.shape[1])), False, set()
    for a, b in _cut(x, STRIP) if x.size else ():
        s, seen = _signs(x[a:b], np.float32)
        holes = np.isnan(s) if x.dtype.kind == "f" else None
        if holes is not None and holes.any():
            missing, s = True, np.where(holes, np.float32(0), s)
        sums += np.ones(len(s), np.float32) @ s
        pairs += s.T @ s
        values |= seen
    return len(x), sums, pairs, missing, values


def _signs(x, kind) -> tuple[np.ndarray, set[int]]:
    """Return -1/+1 or nan, and which of -1 and 0 occur; 0/1 is read as such."""
    s = x.astype(kind)
    if x.dtype.kind == "f":
        low, off = (s == -1).any(), (s == 0).any()
        right = ((np.abs(s) == 1) | (s == 0) | np.isnan(s)).all()
    else:
        least, off = x.min(initial=1), np.count_nonzero(x) < x.size
        low, right = least < 0, least >= -1 and x.max(initial=0) <= 1
    if not right or (low and off):
        raise ValueError(f"source must be -1/+1 or 0/1, found {some_values(x)}; {WAY_OUT}")
    if off:
        s *= 2
        s -= 1
    return s, {value for value, seen in ((-1, low), (0, off)) if seen}


def _on_chunk(task, part):
    chunk, told = part
    return task(_signs(_loaded(chunk), float)[0], told)
