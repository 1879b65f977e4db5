"""The sweeps of mean field, TAP and belief propagation in loops that Numba compiles; imported only with Numba.

Each calls the same small function with the method's equation as the NumPy code: mean_in_field(), mean_without_echo(),
combined_field().  Numba caches compiled code until this file changes: after a change of one of those functions delete
__pycache__ here.  Sums over partners may be taken in any order ("reassoc"), several at a time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...checking.arrays import combined_field
from ...model import BoltzmannMachine
from ...running.compiling import compiled
from .naive_mean_field import mean_in_field
from .tap_equations import mean_without_echo

TILE = 32  # units whose pairs with as many others stay in the first-level cache, and their mirror images
_compiled, _equation = compiled(fastmath={"contract", "reassoc"}), compiled()
_mean_in_field, _mean_without_echo = _equation(mean_in_field), _equation(mean_without_echo)
_combined_field = _equation(combined_field)


def sweeper(model: BoltzmannMachine, reacts: bool) -> Callable:
    """Return sweep_until() of coordinate_descent.py for this machine, compiled; with TAP's echo if it `reacts`."""
    order, local_field = model.colours.order, model.biases / model.temperature
    w = model.weights
    if model.is_sparse:
        loop, arrays = _sparse, (*map(as_index, (w.indptr, w.indices)), w.data / model.temperature)
    else:
        loop, arrays = _dense, (np.ascontiguousarray(w / model.temperature),)

    def sweep_until(m, tolerance, most):
        rows = np.ascontiguousarray(m.T)
        moved, sweeps = loop(*arrays, local_field, order, reacts, rows, tolerance, most)
        m[:] = rows.T
        return moved, sweeps

    return sweep_until


def as_index(places: np.ndarray) -> np.ndarray:
    """Return indices in the type for which the loops are compiled."""
    return places.astype(np.int64)


@_compiled
def _mean(reacts, field, echo):
    return _mean_without_echo(field, echo) if reacts else _mean_in_field(field)


@_compiled
def _dense(j, local_field, order, reacts, rows, tolerance, most):
    """Sweep means `rows` (starts, n) of a dense machine in place; return the last largest move and the sweeps made."""
    sweeps = 0
    while sweeps < most:
        sweeps, moved = sweeps + 1, 0.0
        for start in range(len(rows)):
            m = rows[start]
            for i in order:
                pull, field, echo = j[i], local_field[i], 0.0
                if reacts:
                    for k in range(len(m)):
                        field, echo = field + pull[k] * m[k], echo + pull[k] * pull[k] * (1 - m[k] * m[k])
                else:
                    for k in range(len(m)):
                        field += pull[k] * m[k]
                new = _mean(reacts, field, echo)
                moved = max(moved, abs(new - m[i]))
                m[i] = new
        if moved <= tolerance:
            break
    return moved, sweeps


@_compiled
def _sparse(indptr, indices, j, local_field, order, reacts, rows, tolerance, most):
    """Sweep as _dense() for a sparse machine (CSR)."""
    sweeps = 0
    while sweeps < most:
        sweeps, moved = sweeps + 1, 0.0
        for start in range(len(rows)):
            m = rows[start]
            for i in order:
                field, echo = local_field[i], 0.0
                for e in range(indptr[i], indptr[i + 1]):
                    other = m[indices[e]]
                    field += j[e] * other
                    if reacts:
                        echo += j[e] * j[e] * (1 - other * other)
                new = _mean(reacts, field, echo)
                moved = max(moved, abs(new - m[i]))
                m[i] = new
        if moved <= tolerance:
            break
    return moved, sweeps


@_equation
def pairs_of_half(half, root, m):
    """Return r_i r_j N_ij + m_i m_j (n, n), and 1 on the diagonal, from the lower triangle of N, tile by tile."""
    n = len(m)
    pairs = np.empty((n, n))
    for a in range(0, n, TILE):
        for b in range(0, a + 1, TILE):
            for i in range(a, min(n, a + TILE)):
                for j in range(b, min(i, b + TILE)):
                    pairs[i, j] = pairs[j, i] = root[i] * root[j] * half[i, j] + m[i] * m[j]
    for i in range(n):
        pairs[i, i] = 1.0
    return pairs


@_compiled
def send_messages(j, indptr, back, schedule, local_field, u, step):
    """Let the units of the schedule send to all partners, in place; return the largest move, before its step."""
    moved = 0.0
    for i in schedule:
        total = local_field[i]
        for e in range(indptr[i], indptr[i + 1]):
            total += u[e]
        for e in range(indptr[i], indptr[i + 1]):
            move = _combined_field(j[e], total - u[e]) - u[back[e]]
            u[back[e]] += step * move
            moved = max(moved, abs(move))
    return moved
