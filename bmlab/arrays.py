"""Arrays of units: -1/+1 everywhere inside, 0/1 at the boundary only."""

import numpy as np


def spins(bits) -> np.ndarray:
    """Return -1/+1 (float64) for 0/1 or booleans, in the same shape; raise ValueError for any other value."""
    bits = np.asarray(bits)
    if not np.isin(bits, (0, 1)).all():
        raise ValueError(f"bits must be 0/1, found {_some_values(bits)}; -1/+1 data needs no spins()")
    return 2.0 * bits - 1.0


def bits(spins) -> np.ndarray:
    """Return 0/1 (int8) for -1/+1, in the same shape; raise ValueError for any other value."""
    return (check_spins(spins, "spins") > 0).astype(np.int8)


def states(n: int) -> np.ndarray:
    """Return all 2^n states, shape (2^n, n), -1 before +1, the last unit changing fastest."""
    if n > 30:
        raise ValueError(f"states() would list 2^{n} states and stops at 2^30; use exact() or sample()")
    codes = np.arange(2**n)[:, None] >> np.arange(n)[::-1]
    return 2.0 * (codes & 1) - 1.0


def check_spins(values, name: str = "data") -> np.ndarray:
    """Return `values` as float64 where all are -1/+1; raise ValueError with the way out otherwise."""
    values = np.asarray(values, dtype=float)
    if not (np.abs(values) == 1).all():
        way_out = f"use bmlab.spins({name})" if np.isin(values, (0, 1)).all() else "threshold it first"
        raise ValueError(f"{name} must be -1/+1, found {_some_values(values)}; {way_out}")
    return values


def generator(rng) -> np.random.Generator:
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
