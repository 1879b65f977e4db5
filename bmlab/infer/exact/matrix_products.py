"""Exact enumeration by matrix products: all 2^n states of a dense machine for the cost of three products.

The weight of a state is a product of three faces (faces.py),

    exp(-E/T) = A[a, b] B[b, c] C[c, a],    each face of side 2^(n/3).

Summing out c is then a matrix product: the weight of (a, b) is A * (B C)', and likewise for (b, c) and (c, a).  Three
products of side 2^(n/3) replace 2^n exponentials, and keep 2^(2n/3) numbers instead of 2^n.  The split-and-list idea
is from Williams (2005), Theor. Comput. Sci. 348, 357, who used it to count.
"""

from collections.abc import Iterable
from contextlib import closing, nullcontext
from functools import partial

import numpy as np
import scipy

from ...model import BoltzmannMachine, with_offset
from ...running.parallel import map_executor
from ...running.progress_bars import with_progress
from ...running.threads import all_threads, one_thread
from .faces import Sums, groups_of, log_faces
from .lowest_states import Lowest, draw_by_lowest, sum_by_lowest

TABLE_UNITS = 13  # up to here a small table is faster, and in range at any temperature
SLICE_UNITS = 33  # units of a slice, which takes a second or two and a sixth of a GiB
LARGER_SLICE_UNITS = 36  # units of a slice if there would be more than 2^MAX_SLICE_BITS: ten seconds, half a GiB
MAX_SLICE_BITS = 13  # conditioned units up to which slices have SLICE_UNITS: 2^13 slices of a second or two
SAFE_ENERGY = 600  # if twice the sum of all energies over T is less, no product leaves the range of a double
SAFE_UNITS = 15  # up to here BLAS starts no threads by itself
WIDE_UNITS = 26  # from here on the three products use all threads; the narrow products never do
PRODUCT_TILE = 2**22  # numbers in one tile of a product (32 MiB)


def sum_by_products(model: BoltzmannMachine, moments: bool = True) -> Sums | None:
    """Return the Sums, or log Z alone from one of the products; None if the faces leave the range of a double."""
    with limit_blas(model.n):
        groups, lists, products = groups_of(model.n)
        faces, log_scale = _scaled_faces(model)
        if not moments:
            total = sum(float(weight.sum()) for _, weight in _tiles(*faces))
            return None if _is_out_of_range(total, model.n) else Sums(log_scale + np.log(total))
        mean, corr = np.empty(model.n), np.zeros((model.n, model.n))
        for k in range(3):
            i, j, other = k, (k + 1) % 3, (k + 2) % 3
            sums = products[i].x.T @ _sum_out(faces[i], faces[j], faces[other], lists[j])
            total, size = sums[0, 0], lists[i].shape[1]  # [total, <s_j>; <s_i>, <s_i s_j>; <s_i s_i'>, ...] times Z
            if _is_out_of_range(total, model.n):
                return None
            mean[groups[i]], corr[groups[i], groups[j]] = sums[1:size, 0], sums[1:size, 1:]
            corr[groups[i], groups[i]][products[i].pairs] = sums[size:, 0]
    np.fill_diagonal(corr, total / 2)
    return Sums(log_scale + np.log(total), mean / total, (corr + corr.T) / total)


def _is_out_of_range(total, n):
    """Whether underflow may matter: all terms lost to it are together below 2^n * 1e-307."""
    return total < 2.0**n * 1e-290


def _scaled_faces(model):
    """Return the three faces exp(-E_ij/T), each divided by its largest entry, and the log of the divisors' product."""
    faces, log_scale = log_faces(model), 0.0
    for face in faces:
        top = face.max()
        face -= top
        np.exp(face, out=face)
        log_scale += top
    return faces, log_scale


def _sum_out(face, left, right, cols):
    """Sum the third group out of face * (left right)', then multiply by [1, s_col]: (rows, 1 + units).

    Rows are taken tile by tile, so that the product is never in memory as a whole.
    """
    given_row = np.empty((len(face), cols.shape[1]))
    for tile, weight in _tiles(face, left, right):
        given_row[tile] = weight @ cols
    return given_row


def limit_blas(n):
    """Limit BLAS to one thread for sizes for which it would start more."""
    return one_thread() if n > SAFE_UNITS else nullcontext()


def _tiles(face, left, right):
    """Yield (rows, weight of these rows and all columns) of face * (left right)'."""
    step = max(1, PRODUCT_TILE // face.shape[1])
    for k in with_progress(range(0, len(face), step), "tile"):
        tile = slice(k, k + step)
        with all_threads() if face.size * left.shape[1] >= 2**WIDE_UNITS else nullcontext():
            weight = right[:, tile].T @ left.T
        weight *= face[tile]
        yield tile, weight


# Slices: condition on each of the 2^k states v of k units, and sum over the others by matrix products,
#
#     Z = sum_v Z(v),     <s_i> = sum_v Z(v)/Z <s_i>_v,     <v_i s_j> = sum_v Z(v)/Z v_i <s_j>_v.
#
# All slices have the same size, so that memory does not grow with n, and workers can share them.  Without biases v and
# -v have the same weight, and half of the slices is enough.


def conditioned_units(n: int) -> int:
    """Return the number of units to condition on, of n; it depends on n only."""
    return 0 if n <= SLICE_UNITS else n - (SLICE_UNITS if n <= SLICE_UNITS + MAX_SLICE_BITS else LARGER_SLICE_UNITS)


def listed_in_the_cold(model: BoltzmannMachine, k: int) -> int | None:
    """Return the number of pairs that lowest_states.py lists for the first slice, or None.

    None means that its products stay within the range of a double; the other slices are much like the first.
    """
    size = np.abs(model.weights).sum() / 2 + np.abs(model.biases).sum()
    if 2 * size < SAFE_ENERGY * model.temperature:
        return None
    one = model.clamp(np.arange(k), _signs(k, 0)) if k else model
    with limit_blas(one.n):
        lowest = Lowest(one)
    return None if lowest.fits_a_double() else lowest.count


def sum_by_slices(model: BoltzmannMachine, k: int, moments: bool = True, cold: bool = False) -> Sums:
    """Return the Sums, conditioned on the first k units; if it is known to be too `cold`, products are not tried."""
    if not k:
        return _in_range(model, moments, cold)
    own = BoltzmannMachine(model.dense_weights, model.biases, model.temperature)
    has_no_biases = not own.biases.any()
    with closing(map_executor(partial(_slice, own, k, moments, cold=cold), range(2 ** (k - has_no_biases)))) as answers:
        log_z, mean, corr = _added(k, answers)
    return Sums(log_z + has_no_biases * np.log(2), mean * (not has_no_biases), corr)


def _added(k: int, answers: Iterable[Sums]) -> Sums:
    """Add up slices in the order of their numbers; weights are relative to the largest so far."""
    top, total, mean, corr = -np.inf, 0.0, np.nan, np.nan
    for number, one in enumerate(answers):
        v, new = _signs(k, number), max(top, one.log_z)
        fade, weight = np.exp(top - new), np.exp(one.log_z - new)
        total, top = total * fade + weight, new
        if np.ndim(one.mean):
            across = np.outer(v, one.mean)
            s = np.append(v, one.mean)
            pairs = np.block([[np.outer(v, v), across], [across.T, one.corr]])
            mean, corr = (mean * fade + weight * s, corr * fade + weight * pairs) if number else (s, pairs)
    return Sums(top + np.log(total), mean / total, corr / total)


def _signs(k, number):
    """Return the state (k,) of -1/+1 with this number."""
    return np.array([2.0 * (number >> i & 1) - 1 for i in range(k)])


def _slice(model, k, moments, number, cold=False):
    """Return the Sums of one slice: the first k units in the state with this number, their energy included."""
    free = model.clamp(np.arange(k), _signs(k, number))
    sums = _in_range(free, moments, cold)
    return sums._replace(log_z=with_offset(free, sums.log_z))


def _in_range(model, moments, cold=False):
    """Return the Sums by products, or by lowest_states.py if the temperature is too low for them."""
    sums = None if cold else sum_by_products(model, moments)
    return sums or sum_by_lowest(model, moments)


def draw_by_slices(
    model: BoltzmannMachine, k: int, size: int, rng: np.random.Generator, cold: bool = False
) -> np.ndarray:
    """Return independent states (size, n): the conditioned units from log Z of each slice, then the others."""
    if not k:
        return _draw_in_range(model, size, rng, cold)
    log_z = [one.log_z for one in map_executor(partial(_slice, model, k, False, cold=cold), range(2**k))]
    number = rng.choice(2**k, size, p=scipy.special.softmax(log_z))
    s = np.empty((size, model.n))
    for one in np.unique(number):
        here, v = np.flatnonzero(number == one), _signs(k, int(one))
        free = model.clamp(np.arange(k), v)
        s[here, :k], s[here, k:] = v, _draw_in_range(free, len(here), rng, cold)
    return s


def _draw_in_range(model, size, rng, cold):
    s = None if cold else draw_by_products(model, size, rng)
    return draw_by_lowest(model, size, rng) if s is None else s


def draw_by_products(model: BoltzmannMachine, size: int, rng: np.random.Generator) -> np.ndarray | None:
    """Return independent states (size, n): two groups from their joint weights, then the third given these two.

    Return None if the faces leave the range of a double.
    """
    _, lists, _ = groups_of(model.n)
    with limit_blas(model.n):
        (ab, bc, ca), _ = _scaled_faces(model)
        cumulative = np.concatenate([weight.ravel() for _, weight in _tiles(ab, bc, ca)]).cumsum()
    if _is_out_of_range(cumulative[-1], model.n):
        return None
    a, b = np.divmod(np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right"), ab.shape[1])
    c = np.empty(size, dtype=int)
    for k in range(size):
        cumulative = (bc[b[k]] * ca[:, a[k]]).cumsum()
        c[k] = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
    return np.hstack([lists[0][a, 1:], lists[1][b, 1:], lists[2][c, 1:]])
