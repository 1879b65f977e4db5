"""Selected inversion: compute the inverse of a sparse symmetric matrix at its couplings only.

Elimination without pivoting gives A = L D L', with ones on the diagonal of L.  The inverse Z obeys

    Z = D^-1 L^-1 + (1 - L') Z,     so     Z_Sj = -Z_SS L_Sj,     Z_jj = 1/D_j - L_Sj' Z_Sj,

with S the rows below j that may be nonzero in column j of L.  If the last column is computed first, Z_SS is always
known: it is part of the front of the parent of j, the first unit p of S, whose own rows include the rest of S.  The
cost is about that of the elimination; solving for each column would take n solutions.  Takahashi, Fagan and Chen
(1973), Proc. 8th PICA Conf., 63.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
import scipy

from ...running.compiling import has_numba
from ...running.progress_bars import with_progress


def factorize(matrix: scipy.sparse.csc_array) -> scipy.sparse.linalg.SuperLU | None:
    """Return LU without pivoting, so that U's diagonal has the signs of the eigenvalues; None if a pivot is 0."""
    try:
        factor = scipy.sparse.linalg.splu(
            matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError:
        return None
    return factor if np.array_equal(factor.perm_r, factor.perm_c) else None  # at a 0 SuperLU swaps rows


def selected_inverse(
    factor: scipy.sparse.linalg.SuperLU, row: np.ndarray, col: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the inverse at the couplings (row, col), all stored off-diagonal places, and its diagonal (n,)."""
    place = factor.perm_c
    first, second = np.minimum(place[row], place[col]), np.maximum(place[row], place[col])
    n = len(place)
    if has_numba():
        invert = import_module(".compiled_inversion", __package__).invert
        counts, rows, values, diagonal = invert(n, first, second, factor.L.tocsc(), factor.U.diagonal())
    else:
        below = _columns(n, first, second)
        counts, rows = [len(rows) for rows in below], np.concatenate([*below, np.zeros(0, int)])
        values, diagonal = _backward(below, factor)
    key = np.repeat(np.arange(n), counts) * n + rows
    return values[np.searchsorted(key, first * np.int64(n) + second)], diagonal[place]


def is_positive_definite(factor: scipy.sparse.linalg.SuperLU) -> bool:
    """Return whether a symmetric matrix, factorized without pivoting, is positive definite."""
    return bool((factor.U.diagonal() > 0).all())


def _columns(n, first, second):
    """Return for each unit, in the order of elimination, the sorted later units S coupled to it at that time."""
    below = [set() for _ in range(n)]
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        below[a].add(b)
    found = []
    for scope in below:
        rows = sorted(scope)
        found.append(np.array(rows, int))
        if rows:
            below[rows[0]].update(rows[1:])
    return found


def _backward(below, factor):
    """Return Z_Sj of all columns of L, one after the other, and the diagonal."""
    lower, pivots, n = factor.L.tocsc(), factor.U.diagonal(), len(below)
    children = np.bincount([rows[0] for rows in below if len(rows)], minlength=n)
    fronts, found, diagonal = {}, [np.zeros(0)] * n, 1 / pivots
    for j in with_progress(range(n - 1, -1, -1), "unit"):
        rows, front = below[j], diagonal[j : j + 1, None]
        if len(rows):
            parent, stored = rows[0], slice(lower.indptr[j], lower.indptr[j + 1])
            index, column = lower.indices[stored], np.zeros(len(rows))  # L_Sj: SciPy does not store zeros
            column[np.searchsorted(rows, index[index > j])] = lower.data[stored][index > j]
            within = np.append(0, 1 + np.searchsorted(below[parent], rows[1:]))
            front = np.empty((len(rows) + 1,) * 2)
            front[1:, 1:] = fronts[parent][within[:, None], within]  # Z_SS
            front[0, 1:] = front[1:, 0] = found[j] = -front[1:, 1:] @ column
            front[0, 0] = diagonal[j] = diagonal[j] - column @ found[j]
            children[parent] -= 1
            if not children[parent]:
                del fronts[parent]
        if children[j]:
            fronts[j] = front
    return np.concatenate([*found, np.zeros(0)]), diagonal
