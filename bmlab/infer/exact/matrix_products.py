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
from typing import NamedTuple

import numpy as np

from ...model import BoltzmannMachine
from ...progress_bars import watched
from ...threads import all_threads, one_thread
from .small_tables import up_to_pairs

CALM_UNITS = 15  # up to here BLAS starts no threads by itself
WIDE_UNITS = 26  # from here the three products are worth all threads; the narrow ones beside them never are
TILE = 2**22  # numbers in one tile of a product (32 MiB)


def sum_by_products(model: BoltzmannMachine) -> tuple[float, np.ndarray, np.ndarray] | None:
    """Return (log Z without the offset, mean, corr), or None where the faces leave the range of a double."""
    with _quiet(model.n):
        groups, lists, products = _groups(model.n)
        faces, log_scale = _faces(model, groups, lists, products)
        mean, corr = np.empty(model.n), np.zeros((model.n, model.n))
        for k in range(3):
            i, j, other = k, (k + 1) % 3, (k + 2) % 3
            moments = products[i].x.T @ _sum_out(faces[i], faces[j], faces[other], lists[j])
            total, size = moments[0, 0], lists[i].shape[1]  # [total, <s_j>; <s_i>, <s_i s_j>; <s_i s_i'>, ...] times Z
            if _is_out_of_range(total, model.n):
                return None
            mean[groups[i]], corr[groups[i], groups[j]] = moments[1:size, 0], moments[1:size, 1:]
            corr[groups[i], groups[i]][products[i].pairs] = moments[size:, 0]
    np.fill_diagonal(corr, total / 2)
    return log_scale + np.log(total), mean / total, (corr + corr.T) / total


def log_z_by_products(model: BoltzmannMachine) -> float | None:
    """Return log Z without the offset, by one product of the three; None where they leave a double's range."""
    with _quiet(model.n):
        faces, log_scale = _faces(model, *_groups(model.n))
        total = sum(float(weight.sum()) for _, weight in _tiles(*faces))
    return None if _is_out_of_range(total, model.n) else log_scale + np.log(total)


def _is_out_of_range(total, n):
    """What underflowed is below 2^n * 1e-307 together: negligible beside anything larger than this."""
    return total < 2.0**n * 1e-290


class _Products(NamedTuple):
    x: np.ndarray  # [1, s_i, s_i s_i'] for all states of a group
    pairs: tuple[np.ndarray, np.ndarray]  # the i and i', as they stand in x


@lru_cache(maxsize=4)
def _groups(n):
    """Three slices of n/3 units each; for each group its states beside ones, [1, s], and beside their products too."""
    ends = np.cumsum([0, *(len(part) for part in np.array_split(np.arange(n), 3))])
    groups = [slice(a, b) for a, b in pairwise(ends.tolist())]
    sizes = [g.stop - g.start for g in groups]
    products = [_Products(up_to_pairs(range(size))[0], np.triu_indices(size, 1)) for size in sizes]
    # by columns: their transposes, which the faces multiply by, are then read in order
    lists = [np.asfortranarray(each.x[:, : 1 + size]) for each, size in zip(products, sizes, strict=True)]
    return groups, lists, products


def _faces(model, groups, lists, products):
    """The three faces exp(-E_ij/T), each divided by its largest entry, and the log of what was divided out.

    Face k joins groups k and k+1; group k's own energy goes into face k: -E_ij = [1, s_i, s_i s_i'] Q [1, s_j]'.
    """
    w, b, faces, log_scale = model.dense_weights / model.temperature, model.biases / model.temperature, [], 0.0
    for k in range(3):
        i, j, x, y = groups[k], groups[(k + 1) % 3], products[k].x, lists[(k + 1) % 3]
        q, size = np.zeros((x.shape[1], y.shape[1])), lists[k].shape[1]
        q[1:size, 0], q[1:size, 1:], q[size:, 0] = b[i], w[i, j], w[i, i][products[k].pairs]
        face = x @ q @ y.T
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
    groups, lists, products = _groups(model.n)
    with _quiet(model.n):
        (ab, bc, ca), _ = _faces(model, groups, lists, products)
        cumulative = np.concatenate([weight.ravel() for _, weight in _tiles(ab, bc, ca)]).cumsum()
    if _is_out_of_range(cumulative[-1], model.n):
        return None
    a, b = np.divmod(np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right"), ab.shape[1])
    c = np.empty(size, dtype=int)
    for k in range(size):
        cumulative = (bc[b[k]] * ca[:, a[k]]).cumsum()
        c[k] = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
    return np.hstack([lists[0][a, 1:], lists[1][b, 1:], lists[2][c, 1:]])
