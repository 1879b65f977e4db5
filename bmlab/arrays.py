"""Arrays at the door: units are -1/+1 inside and 0/1 outside, weights are symmetric, seeds become generators."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

ROUNDING = 1e-12  # weights that differ from symmetric ones by less, in units of the largest, are made symmetric


def spins(bits: ArrayLike) -> np.ndarray:
    """Return -1/+1 (float64) for 0/1 or booleans, in the same shape; raise ValueError for any other value."""
    bits = np.asarray(bits)
    if not np.isin(bits, (0, 1)).all():
        raise ValueError(f"bits must be 0/1, found {_some_values(bits)}; -1/+1 data needs no spins()")
    return 2.0 * bits - 1.0


def bits(spins: ArrayLike) -> np.ndarray:
    """Return 0/1 (int8) for -1/+1, in the same shape; raise ValueError for any other value."""
    return (check_spins(spins, "spins") > 0).astype(np.int8)


def states(n: int) -> np.ndarray:
    """Return all 2^n states, shape (2^n, n), -1 before +1, the last unit changing fastest."""
    if n > 30:
        raise ValueError(f"states() would list 2^{n} states and stops at 2^30; use exact() or sample()")
    codes = np.arange(2**n)[:, None] >> np.arange(n)[::-1]
    return 2.0 * (codes & 1) - 1.0


def symmetric(matrix: Any) -> Any:
    """Return (A + A')/2 with a zero diagonal: the nearest weights to any square matrix A, sparse (CSR) where A is."""
    matrix = matrix.tocoo() if is_sparse(matrix) else np.asarray(matrix, dtype=float)
    if matrix.ndim != 2 or len(set(matrix.shape)) > 1:
        raise ValueError(f"only a square matrix can be made symmetric, found shape {matrix.shape}")
    if is_sparse(matrix):
        off = matrix.row != matrix.col
        row, col, half = matrix.row[off], matrix.col[off], matrix.data[off] / 2
        both = np.concatenate([half, half]), (np.concatenate([row, col]), np.concatenate([col, row]))
        return scipy.sparse.csr_array(
            both, shape=matrix.shape
        )  # entries of one place are added, either triangle in one order
    weights = (matrix + matrix.T) / 2
    np.fill_diagonal(weights, 0.0)
    return weights


def is_sparse(values: Any) -> bool:
    """Return whether values are of scipy.sparse, which is not loaded for the question: nothing is sparse before."""
    return type(values) is not np.ndarray and "scipy.sparse" in sys.modules and scipy.sparse.issparse(values)


def log_2cosh(x: ArrayLike) -> np.ndarray:
    """Return log(2 cosh x) = log(exp(x) + exp(-x)) without overflow: log Z of one unit in a field x = h/T."""
    x = np.abs(x)
    return x + np.log1p(np.exp(-2 * x))


def check_spins(values: ArrayLike, name: str = "data") -> np.ndarray:
    """Return `values` as float64 where all are -1/+1; raise ValueError with the way out otherwise."""
    values = np.asarray(values, dtype=float)
    if not (np.abs(values) == 1).all():
        way_out = f"use bmlab.spins({name})" if np.isin(values, (0, 1)).all() else "threshold it first"
        raise ValueError(f"{name} must be -1/+1, found {_some_values(values)}; {way_out}")
    return values


def check_finite(name: str, values: np.ndarray) -> None:
    """Raise ValueError where a value is infinite or nan."""
    right = np.isfinite(values)
    if not right.all():
        raise ValueError(f"{name} must be finite, found {values[~right][0]}; check the learning rate")


def check_weights(weights: Any, n: int) -> Any:
    """Return a read-only copy of weights (n, n), dense or canonical CSR; raise ValueError where wrong."""
    weights = weights.tocoo().astype(float) if is_sparse(weights) else np.array(weights, dtype=float)
    if weights.shape != (n, n):
        raise ValueError(
            f"weights must be ({n}, {n}) to go with {n} biases, found {weights.shape}; pass one bias a unit"
        )
    check_finite("weights", weights.data if is_sparse(weights) else weights)
    if not is_sparse(weights) and (weights == weights.T).all() and not weights.diagonal().any():
        return read_only(weights)
    gap, size = abs(weights - weights.T), abs(weights).max() if n else 0.0
    gap = gap + (
        scipy.sparse.diags_array(abs(weights.diagonal())) if is_sparse(weights) else np.diag(abs(np.diag(weights)))
    )
    if n and gap.max() > ROUNDING * size:
        i, j = np.unravel_index(gap.argmax(), gap.shape)
        what = f"w[{i}, {i}] is {gap[i, i]:.3g}" if i == j else f"largest |W - W'| is {gap[i, j]:.3g} at [{i}, {j}]"
        raise ValueError(f"weights must be symmetric with a zero diagonal ({what}); see bmlab.symmetric(W)")
    return read_only(symmetric(weights))


def check_names(names: Any, n: int) -> tuple[str, ...]:
    """Return names as a tuple of n distinct strings, or (); raise ValueError for anything else."""
    names = (names,) if isinstance(names, str) else tuple(names)
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise ValueError(f"names must be strings, found {wrong[0]!r}; try names=[str(name) for name in names]")
    if names and len(names) != n:
        raise ValueError(f"names must be {n}, one a unit, found {len(names)}; pass names=() for none")
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise ValueError(f"names must differ from each other, found {twice[0]!r} twice; rename one")
    return tuple(map(str, names))


def names_of(data: Any) -> tuple[str, ...]:
    """Return the columns of a DataFrame where all are strings, else ()."""
    names = tuple(getattr(data, "columns", ()))
    return names if all(isinstance(name, str) for name in names) else ()


def read_only(array: Any) -> Any:
    """Return the array, or sparse array, after its numbers have been made read-only."""
    for part in (array.data, array.indices, array.indptr) if is_sparse(array) else (array,):
        part.flags.writeable = False
    return array


def generator(rng: Any) -> np.random.Generator:
    """Return the generator of whatever numpy.random.default_rng takes: one is kept, a seed makes one (SPEC 7).

    Raises ValueError for anything else.
    """
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ValueError(
            f"rng must be a NumPy generator or a seed, found {rng!r}; pass np.random.default_rng(0)"
        ) from None


def _some_values(values):
    found = np.unique(values)[:4]
    return "{" + ", ".join(f"{v:g}" for v in found) + (", ..." if np.unique(values).size > 4 else "") + "}"
