"""Selected inversion in loops that Numba compiles, column by column; imported only with Numba.

    Z_Sj = -Z_SS L_Sj,     Z_jj = 1/D_j - L_Sj' Z_Sj                    (see selected_inversion.py)

For k in S, column k of Z holds all rows of S below k, so each number of Z_SS is read once, from its column, and used
for its row and its column.  Work vectors are (n,), with 0 outside of S.
"""

from __future__ import annotations

import numpy as np
import scipy

from ...running.compiling import compiled

_compiled = compiled(fastmath={"contract"})


def invert(
    n: int, first: np.ndarray, second: np.ndarray, lower: scipy.sparse.csc_array, pivots: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the size of S for each column (n,), all S in one array, Z_Sj of all columns likewise, and the diagonal."""
    order = np.argsort(first, kind="stable")
    ends = np.searchsorted(first[order], np.arange(n + 1))
    starts, rows = _columns(ends, second[order].astype(np.int64))
    stored = lower.indptr.astype(np.int64), lower.indices.astype(np.int64), lower.data.copy()
    values, diagonal = _backward(starts, rows, _in_place(starts, rows, *stored), pivots.copy())
    return np.diff(starts), rows, values, diagonal


@_compiled
def _columns(ends, later):
    """Return (starts, units): for each unit the sorted later units S coupled to it at its elimination, concatenated."""
    n, end = len(ends) - 1, 0
    starts, rows = np.zeros(n + 1, np.int64), np.empty(4 * (n + len(later)), np.int64)
    seen, child, sibling = np.full(n, -1), np.full(n, -1), np.full(n, -1)
    for j in range(n):
        if end + n > len(rows):
            longer = np.empty(2 * (len(rows) + n), np.int64)
            longer[:end] = rows[:end]
            rows = longer
        seen[j], begin = j, end
        for e in range(ends[j], ends[j + 1]):
            if seen[later[e]] != j:
                seen[later[e]], rows[end] = j, later[e]
                end += 1
        c = child[j]
        while c >= 0:
            for e in range(starts[c], starts[c + 1]):
                if seen[rows[e]] != j:
                    seen[rows[e]], rows[end] = j, rows[e]
                    end += 1
            c = sibling[c]
        if end > begin:
            rows[begin:end] = np.sort(rows[begin:end])
            parent = rows[begin]
            sibling[j], child[parent] = child[parent], j
        starts[j + 1] = end
    return starts, rows[:end].copy()


@_compiled
def _in_place(starts, rows, indptr, indices, data):
    """Return L_Sj of all columns, concatenated, from L (CSC), which does not store zeros."""
    column, place = np.zeros(len(rows)), np.zeros(len(starts) - 1, np.int64)
    for j in range(len(starts) - 1):
        for e in range(starts[j], starts[j + 1]):
            place[rows[e]] = e
        for e in range(indptr[j], indptr[j + 1]):
            if indices[e] > j:
                column[place[indices[e]]] = data[e]
    return column


@_compiled
def _backward(starts, rows, lower, pivots):
    """Return Z_Sj of all columns, concatenated, and the diagonal; the last column is computed first."""
    values, diagonal = np.zeros(len(rows)), 1 / pivots
    x, product = np.zeros(len(pivots)), np.zeros(len(pivots))
    for j in range(len(pivots) - 1, -1, -1):
        here = range(starts[j], starts[j + 1])
        for e in here:
            x[rows[e]], product[rows[e]] = lower[e], 0.0
        for e in here:
            k = rows[e]
            own, total = x[k], diagonal[k] * x[k]
            for f in range(starts[k], starts[k + 1]):
                total += values[f] * x[rows[f]]
                product[rows[f]] += values[f] * own
            product[k] += total
        for e in here:
            values[e] = -product[rows[e]]
            diagonal[j] -= lower[e] * values[e]
            x[rows[e]] = 0.0
    return values, diagonal
