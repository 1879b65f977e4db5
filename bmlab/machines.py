"""Ising model, spin glass, Hopfield network, harmonium (restricted machine), and the course's own: toy, medium."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy

from .checking.arrays import align_columns, align_pairs, names_of, symmetric
from .checking.budgets import check_memory
from .checking.calls import show_call
from .checking.validation import (
    ArrayLike,
    as_generator,
    check_array,
    check_count,
    check_flag,
    check_number,
    check_positive,
    check_row,
    check_spins,
    describe,
)
from .model import BoltzmannMachine


@show_call("bmlab.sherrington_kirkpatrick(10, rng=0)")
def sherrington_kirkpatrick(n: int, *, rng: np.random.Generator | int, scale: float = 1.0) -> BoltzmannMachine:
    """Draw w_ij ~ Normal(0, scale^2 / n) for every pair, and biases ~ Normal(0, 0.1^2 scale^2).

    At T = 1 the spin glass starts at scale = 1.  Sherrington and Kirkpatrick (1975), Phys. Rev. Lett. 35, 1792.

    >>> bmlab.sherrington_kirkpatrick(100, rng=np.random.default_rng(0))
    BoltzmannMachine(n=100, couplings=4950, T=1)
    """
    n = check_count("n", n, 0)
    rng = as_generator(rng)
    scale = check_positive("scale", scale, zero=True)
    check_memory(f"sherrington_kirkpatrick() would draw {n:,} x {n:,} weights", 40.0 * n**2, "use ising()")
    weights = symmetric(np.triu(rng.normal(size=(n, n)), 1)) * 2 * scale / np.sqrt(max(n, 1))
    return BoltzmannMachine(weights, rng.normal(scale=0.1 * scale, size=n))


@show_call()
def ising(
    shape: int | Iterable[int], *, coupling: float = 1.0, field: float = 0.0, periodic: bool = True
) -> BoltzmannMachine:
    """Couple nearest neighbours of a lattice (the Ising model); `shape`: a length, or one per axis; sparse weights.

    Units are numbered as numpy.arange(n).reshape(shape).  `periodic` closes each direction into a ring; in a ring of
    two the pair is coupled twice, once each way round, as on the torus of Kaufman (1949), Phys. Rev. 76, 1232.

    >>> ring = bmlab.ising(4)  # log Z = log((2 cosh 1)^4 + (2 sinh 1)^4)
    >>> bmlab.exact(ring).log_z
    Bounded(4.7977 (exact))
    >>> bmlab.ising((3, 4)).coupling_count()  # two per unit
    24
    """
    sides = _checked_sides(shape)
    periodic = check_flag("periodic", periodic)
    coupling = check_number("coupling", coupling)
    field = check_number("field", field, 0.0)
    site = np.arange(np.prod(sides)).reshape(sides)
    bonds = [_bonds(site, axis, periodic) for axis in range(site.ndim)]
    row, col = np.concatenate([np.zeros((2, 0), int), *bonds], axis=1)
    weights = scipy.sparse.coo_array((np.full(len(row), coupling), (row, col)), shape=(site.size, site.size))
    return BoltzmannMachine(weights + weights.T, np.full(site.size, field))


@show_call()
def hopfield(patterns: ArrayLike) -> BoltzmannMachine:
    """Store patterns (p, n) of -1/+1 as valleys: w_ij = sum over patterns of s_i s_j / n.

    Hopfield (1982), Proc. Natl. Acad. Sci. 79, 2554, eq. 2; about 0.138 n patterns fit.

    >>> machine = bmlab.hopfield([1, -1, 1, -1])
    >>> bmlab.ground_state(machine).energy  # of the pattern and of its negative
    -1.5
    """
    names, patterns = names_of(patterns), check_spins("patterns", patterns)
    patterns = patterns[None] if patterns.ndim == 1 else patterns
    if patterns.ndim != 2 or not patterns.size:
        raise ValueError(f"patterns must have rows and columns, found shape {patterns.shape}; pass (patterns, units)")
    n = patterns.shape[1]
    return BoltzmannMachine(symmetric(patterns.T @ patterns / n), np.zeros(n), names=names)


@show_call()
def restricted(weights: ArrayLike, visible_biases: ArrayLike, hidden_biases: ArrayLike) -> BoltzmannMachine:
    """Couple each visible unit to each hidden unit by weights (v, h), and no two units of a layer: an RBM.

    The visible units come first; learning never couples two units of a layer.  Smolensky (1986), Parallel Distributed
    Processing 1, ch. 6 ("harmonium").

    >>> bmlab.restricted(np.ones((3, 2)), visible_biases=[0, 0, 0], hidden_biases=[0, 0])
    BoltzmannMachine(n=5, couplings=6, T=1)
    """
    weights = check_array("weights", align_pairs("weights", weights, ()))
    if weights.ndim != 2:
        raise ValueError(f"weights must be (visible, hidden), found shape {weights.shape}; pass one row a visible unit")
    v, h = weights.shape
    biases = [
        check_row(name, align_columns(name, values, ()), size)
        for name, values, size in (("visible_biases", visible_biases, v), ("hidden_biases", hidden_biases, h))
    ]
    both = np.block([[np.zeros((v, v)), weights], [weights.T, np.zeros((h, h))]])
    hidden = np.arange(v + h) >= v
    return BoltzmannMachine(both, np.concatenate(biases), couplings=hidden[:, None] != hidden)


@show_call()
def toy() -> BoltzmannMachine:
    """Return the course's machine of three units (eight states): w01 = 1, w12 = 1/2, w02 = -1/2, b0 = 1/2.

    >>> bmlab.toy().energy([[1, 1, 1], [-1, -1, -1]])
    array([-1.5, -0.5])
    """
    return BoltzmannMachine([[0, 1, -0.5], [1, 0, 0.5], [-0.5, 0.5, 0]], np.array([0.5, 0, 0]))


@show_call()
def medium() -> BoltzmannMachine:
    """Return the course's ten frustrated units: a Sherrington-Kirkpatrick machine, the same in every notebook.

    Mean field is good at T = 4 and has broken down at T = 1.

    >>> bmlab.medium()
    BoltzmannMachine(n=10, couplings=45, T=1)
    """
    return sherrington_kirkpatrick(10, rng=np.random.default_rng(1985))


def _checked_sides(shape):
    """Return the sides of a lattice; raise ValueError if it does not fit into the memory."""
    listed = [shape] if not np.iterable(shape) or isinstance(shape, (str, bytes)) else list(shape)
    sides = [check_count("shape", side) for side in listed]
    if not sides:
        raise ValueError(f"shape must hold positive numbers, found {describe(shape)}; try (4, 4)")
    n = float(np.prod(sides, dtype=float))
    check_memory(f"ising() would make a lattice of shape {tuple(sides)}", n * (50 + 60 * len(sides)), "make it smaller")
    return sides


def _bonds(site, axis, periodic):
    """Return the pairs (2, m) of neighbours along one axis; a ring of one unit has none."""
    to = np.roll(site, -1, axis)
    inner = slice(None) if periodic and site.shape[axis] > 1 else slice(0, -1)
    keep = np.moveaxis(np.stack([site, to]), axis + 1, 1)[:, inner]
    return keep.reshape(2, -1)
