"""TAP equations (Thouless, Anderson, Palmer): mean field with the Onsager reaction term, the second Plefka order.

Expand log Z at fixed means m in the strength of the couplings J = W/T (Plefka 1982, J. Phys. A 15, 1971), with
v_i = 1 - m_i^2:

    order 0    sum_i (H(m_i) + b_i m_i/T)                                   independent units
    order 1    sum_(ij) J_ij m_i m_j                                        mean field
    order 2    1/2 sum_(ij) J_ij^2 v_i v_j                                  Thouless, Anderson, Palmer (1977)
    order 3    2/3 sum_(ij) J_ij^3 m_i m_j v_i v_j + sum_(ijk) J_ij J_jk J_ki v_i v_j v_k

(over pairs and triples; order 3: Georges and Yedidia 1991, J. Phys. A 24, 2173).  Up to order 2 this is -G(m).  The
minimum of G solves

    m_i = tanh(sum_j J_ij m_j + b_i/T - m_i sum_j J_ij^2 v_j).

If all units are updated at once, this often oscillates; one unit after the other, G never rises.  A third order that is
not much smaller than the second is a sign of an error; a small one is no guarantee: at low T the second order dominates
G and keeps m near 0, and log Z is far too large, which info["inconsistency"] shows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...checking.calls import show_call
from ...checking.validation import ArrayLike
from ...estimate import Estimate, coupled_pairs, warn_unless_converged
from ...methods import method
from ...model import BoltzmannMachine, check_model, with_offset
from .coordinate_descent import FAILURE_ADVICE, Functional, descend, solution
from .free_bounds import within_free_bounds
from .linear_response import couplings, row_sums
from .naive_mean_field import entropy_of

UNIT_NEWTON_STEPS = 50  # of Newton's method for one unit; usually three are enough
LAST_NEWTON_STEP = 1e-8  # of x: the remaining error is at most 0.4 echo times its square


@method(
    "tap",
    answers=("means", "pairs", "log Z"),
    order=3,
    line="TAP equations, Plefka's expansion",
    start="means",
    colour="#A0522D",
    marker="D",
    shortest=({"max_sweeps": 1},),
    fuzz={"starts": 3, "tolerance": 1e-9, "max_sweeps": 50},
)
@show_call()
def tap(
    model: BoltzmannMachine,
    *,
    start: ArrayLike | None = None,
    starts: int = 1,
    tolerance: float = 1e-12,
    max_sweeps: int = 2000,
) -> Estimate:
    """Answer by the TAP equations: the means that minimise the free energy to second order in the couplings.

    start, starts, tolerance, max_sweeps, corr   as in mean_field()
    converged as in mean_field(); and log_z within its free bounds (free_bounds.py)
    log_z     to second order; it is no bound.  info["orders"] (4,) has the terms of log Z by order; the last, of third
              order, is not in the sum: if couplings are weak, it is about the size of the error.

    >>> warm = bmlab.medium().at(4)
    >>> true = bmlab.exact(warm).log_z
    >>> abs(bmlab.tap(warm).log_z - true) < abs(bmlab.mean_field(warm).log_z - true) / 10
    True
    """
    check_model(model)
    functional = free_energy_functional(model)
    answer = solution(model, functional, descend(model, functional, start, starts, tolerance, max_sweeps))
    answer = within_free_bounds(model, answer, FAILURE_ADVICE)
    return warn_unless_converged(replace(answer, info=answer.info | {"orders": plefka_orders(model, answer.mean)}))


def plefka_orders(model: BoltzmannMachine, m: np.ndarray, last: int = 3) -> np.ndarray:
    """Return the terms of log Z at means m (n,), of order 0 to `last` in the couplings: 2, or 3, which costs n^3."""
    orders = _orders(model, m, last)
    orders[0] = with_offset(model, orders[0])
    return orders


def _orders(model, m, last):
    """Return the terms by order, without the offset of the machine."""
    j, v = couplings(model)[0], 1 - m**2
    squares = j * j
    first, second = _pair_sum(model, j, m), _pair_sum(model, squares, v) / 2
    orders = [entropy_of(m) + model.biases @ m / model.temperature, first, second]
    if last == 3:
        orders.append(2 / 3 * _pair_sum(model, squares * j, m * v) + _triangles(model, v))
    return np.array(orders)


def _pair_sum(model, values, x):
    """Sum a_ij x_i x_j over all pairs, for numbers a laid out like J."""
    if not model.is_sparse:
        return x @ values @ x / 2
    row, col = coupled_pairs(model)
    return values * x[row] @ x[col] / 2


def _triangles(model, v):
    """Sum J_ij J_jk J_ki v_i v_j v_k over all triples."""
    root = np.sqrt(v)
    if model.is_sparse:
        b = model.weights.multiply(root).T.multiply(root).tocsr()
        return (b * (b @ b)).sum() / (6 * model.temperature**3)
    b = model.weights * root * root[:, None]
    return np.vdot(b, b @ b.T) / (6 * model.temperature**3)  # a matrix times its transpose: half the work


def free_energy_functional(model: BoltzmannMachine) -> Functional:
    """Return TAP's free energy, with its update, for descend()."""

    def lowest(field, units, m):
        squares = (model.weights[units] / model.temperature) ** 2
        return mean_without_echo(field, squares @ (1 - m**2))

    return Functional("tap", False, True, lambda m: -_orders(model, m, 2).sum(), lowest, lambda m: curvature(model, m))


def mean_without_echo(field: np.ndarray, echo: np.ndarray) -> np.ndarray:
    """Return m = tanh(x) with x + echo tanh(x) = field, by Newton's method from a start where it cannot overshoot."""
    x = field / (1 + echo)
    for _ in range(UNIT_NEWTON_STEPS):
        t = np.tanh(x)
        step = (field - x - echo * t) / (1 + echo * (1 - t**2))
        x = x + step
        if np.all(np.abs(step) <= LAST_NEWTON_STEP):
            break
    return np.tanh(x)


def curvature(model: BoltzmannMachine, m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (diagonal, off_diagonal) of G at means m (n,), see linear_response.py."""
    j, row, col = couplings(model)
    v = 1 - m**2
    root = np.sqrt(v)
    off_diagonal = root[row] * j * root[col] * (1 + 2 * m[row] * j * m[col])
    return 1 + v * row_sums(model, j * j * v[col]), off_diagonal
