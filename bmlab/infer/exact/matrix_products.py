"""Exact answers by matrix products: all 2^n states of a dense machine at the price of three of them.

The energy couples units in pairs only.  So split the units into three groups a, b, c: every term of the energy
belongs to one side of the triangle, and the weight of a state is a product of three faces,

    exp(-E/T) = A[a, b] B[b, c] C[c, a],    each face of side 2^(n/3).

Summing out c is then a matrix product: the weight of (a, b) is A * (B C)', and so on round the triangle.  Three
products of side 2^(n/3) replace 2^n exponentials, and hold 2^(2n/3) numbers instead of 2^n.  The split-and-list idea
is Williams' (2005), Theor. Comput. Sci. 348, 357, who used it to count.
"""

from contextlib import nullcontext
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ...arrays import states
from ...model import BoltzmannMachine
from ...progress_bars import watched
from ...threads import all_threads, one_thread

CALM_UNITS = 15  # up to here BLAS starts no threads by itself
WIDE_UNITS = 26  # from here the three products are worth all threads; the narrow ones beside them never are
TILE = 2**22  # numbers in one tile of a product (32 MiB)


def sum_by_products(model: BoltzmannMachine) -> tuple[float, np.ndarray, np.ndarray] | None:
    """Return (log Z without the offset, mean, corr), or None where the faces leave the range of a double."""
    with _quiet(model.n):
        groups, lists = _groups(model.n)
        faces, log_scale = _faces(model, groups, lists)
        mean, corr = np.empty(model.n), np.empty((model.n, model.n))
        for k in range(3):
            i, j, other = k, (k + 1) % 3, (k + 2) % 3
            given_row = _sum_out(faces[i], faces[j], faces[other], lists[j])
            moments = lists[i].T @ given_row  # [total, <s_j>; <s_i>, <s_i s_j'>] times Z
            total, mean[groups[i]], across = moments[0, 0], moments[1:, 0], moments[1:, 1:]
            if _is_out_of_range(total, model.n):
                return None
            corr[groups[i], groups[j]], corr[groups[j], groups[i]] = across, across.T
            own = lists[i][:, 1:]
            corr[groups[i], groups[i]] = own.T @ (given_row[:, :1] * own)
    return log_scale + np.log(total), mean / total, corr / total


def log_z_by_products(model: BoltzmannMachine) -> float | None:
    """Return log Z without the offset, by one product of the three; None where they leave a double's range."""
    groups, lists = _groups(model.n)
    with _quiet(model.n):
        faces, log_scale = _faces(model, groups, lists)
        total = sum(float(weight.sum()) for _, weight in _tiles(*faces))
    return None if _is_out_of_range(total, model.n) else log_scale + np.log(total)


def _is_out_of_range(total, n):
    """What underflowed is below 2^n * 1e-307 together: negligible beside anything larger than this."""
    return total < 2.0**n * 1e-290


@lru_cache(maxsize=4)
def _groups(n):
    """Three slices of n/3 units each, and for each group a list of its states beside a column of ones: [1, s]."""
    ends = np.cumsum([0, *(len(part) for part in np.array_split(np.arange(n), 3))])
    groups = [slice(a, b) for a, b in pairwise(ends)]
    return groups, [np.insert(states(g.stop - g.start), 0, 1, axis=1) for g in groups]


def _faces(model, groups, lists):
    """The three faces exp(-E_ij/T), each divided by its largest entry, and the log of what was divided out.

    Face k joins groups k and k+1; group k's own energy goes into face k: -E_ij = [own, s_i W_ij] [1, s_j]'.
    """
    w, faces, log_scale = model.dense_weights, [], 0.0
    for k in range(3):
        i, j, s = groups[k], groups[(k + 1) % 3], lists[k][:, 1:]
        own = (s * (s @ w[i, i] / 2 + model.biases[i])).sum(1)
        face = np.column_stack([own, s @ w[i, j]]) / model.temperature @ lists[(k + 1) % 3].T
        top = face.max()
        face -= top
        faces.append(np.exp(face, out=face))
        log_scale += top
    return faces, log_scale


def _sum_out(face, left, right, cols):
    """Sum the third group out of face * (left right)', then the columns beside [1, s_col]: (rows, 1 + units).

    Tile by tile over the rows, so that the product is never held whole.
    """
    given_row = np.empty((len(face), cols.shape[1]))
    for tile, weight in _tiles(face, left, right):
        given_row[tile] = weight @ cols
    return given_row


def _quiet(n):
    """One thread, where BLAS would start more by itself."""
    return one_thread() if n > CALM_UNITS else nullcontext()


def _tiles(face, left, right):
    """Yield (rows, weight of these rows and all columns) of face * (left right)'."""
    step = max(1, TILE // face.shape[1])
    for k in watched(range(0, len(face), step), "tile"):
        tile = slice(k, k + step)
        with all_threads() if face.size * left.shape[1] >= 2**WIDE_UNITS else nullcontext():
            weight = right[:, tile].T @ left.T
        weight *= face[tile]
        yield tile, weight


def draw_by_products(model: BoltzmannMachine, size: int, rng: np.random.Generator) -> np.ndarray | None:
    """Return independent states (size, n): two groups from their joint weights, then the third given these two.

    None where the faces leave the range of a double.
    """
    groups, lists = _groups(model.n)
    with _quiet(model.n):
        (ab, bc, ca), _ = _faces(model, groups, lists)
        cumulative = np.concatenate([weight.ravel() for _, weight in _tiles(ab, bc, ca)]).cumsum()
    if _is_out_of_range(cumulative[-1], model.n):
        return None
    a, b = np.divmod(np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right"), ab.shape[1])
    c = np.empty(size, dtype=int)
    for k in range(size):
        cumulative = (bc[b[k]] * ca[:, a[k]]).cumsum()
        c[k] = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
    return np.hstack([lists[0][a, 1:], lists[1][b, 1:], lists[2][c, 1:]])
