"""Naive mean field: the best product of independent units, and the variational free energy that it minimises.

    F(m) = -1/2 m'Wm - b'm + offset - T sum_i H(m_i),     H(m) = -sum_{+,-} (1 +- m)/2 log((1 +- m)/2)

F is the free energy of independent units with means m, so F >= -T log Z whatever m is (Gibbs, Bogoliubov,
Feynman), and exp(-F/T) is a lower bound of Z.  At its minimum each unit feels the average field of the others:

    m_i = tanh((sum_j w_ij m_j + b_i) / T).

In a product all covariances are 0; linear response (linear_response.py) predicts them from the curvature of F/T:

    A = diag(1/(1 - m^2)) - W/T.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ...checking.arrays import align_columns
from ...checking.calls import show_call
from ...checking.validation import ArrayLike, check_row
from ...estimate import Estimate, warn_unless_converged
from ...methods import method
from ...model import BoltzmannMachine, check_model, energy_of
from .coordinate_descent import Functional, descend, solution
from .linear_response import couplings


@method(
    "mean field",
    answers=("means", "pairs", "log Z", "lower bound"),
    order=2,
    line="naive mean field, variational free energy",
    start="means",
    colour="#3DA35D",
    marker="^",
    shortest=({"max_sweeps": 1},),
    fuzz={"starts": 3, "tolerance": 1e-9, "max_sweeps": 50},
)
@show_call()
def mean_field(
    model: BoltzmannMachine,
    *,
    start: ArrayLike | None = None,
    starts: int = 1,
    tolerance: float = 1e-12,
    max_sweeps: int = 2000,
) -> Estimate:
    """Answer by naive mean field: the product that minimises F, unit after unit; log Z = -F/T is a proven lower bound.

    start     first means (n,); default: tanh(b/T).  Different starts can end in different valleys of F.
    starts    number of starts, best odd: the first as above, the others along + and - the eigenvectors of W with the
              largest eigenvalues.  The answer is the fixed point with the lowest F; info has all distinct
              "fixed points" (k, n) and their "free energies" (k,).
    corr      by linear response, not clipped: beyond [-1, 1] it has failed.  info["inconsistency"] is the largest
              ratio of C_ii and 1 - m_i^2, the larger over the smaller, minus 1: if it is large, mean field has failed;
              if it is small, mean field may still be in the wrong valley.
    converged whether the last of at most `max_sweeps` sweeps moved no mean by more than `tolerance`, at a minimum of F
              (at a saddle, info["stable"] is False and corr is no covariance), no correlation is beyond [-1, 1], and
              the inconsistency is at most 1/2 (linear_response.MAX_INCONSISTENCY).  The bound holds in any case
    Cost: a few dozen sweeps of n^2 per start, and a few solutions of n equations.

    >>> bmlab.mean_field(bmlab.toy()).log_z.lower <= bmlab.exact(bmlab.toy()).log_z
    True
    """
    check_model(model)
    functional = free_energy_functional(model)
    return warn_unless_converged(
        solution(model, functional, descend(model, functional, start, starts, tolerance, max_sweeps))
    )


def mean_in_field(field: np.ndarray) -> np.ndarray:
    """Return the means that minimise F, given the others: m_i = tanh((sum_j w_ij m_j + b_i) / T)."""
    return np.tanh(field)


@show_call()
def free_energy(model: BoltzmannMachine, m: ArrayLike) -> float:
    """Return F(m) of independent units with means m (n,); it is at least -T log Z for every m in [-1, 1]^n.

    >>> round(bmlab.free_energy(bmlab.toy(), [0, 0, 0]), 4)  # -3 log 2
    -2.0794
    """
    check_model(model)
    m = check_row("means m", align_columns("means m", m, model.names, whole=True), model.n)
    if not (np.abs(m) <= 1).all():
        raise ValueError(f"means m must be in [-1, 1], found {np.abs(m).max():g}; try mean_field(model).mean")
    return free_energy_of(model, m)


def free_energy_of(model: BoltzmannMachine, m: np.ndarray) -> float:
    """Return F(m) of means m (n,) in [-1, 1]."""
    return float(energy_of(model, m) - model.temperature * entropy_of(m))


def entropy_of(m: np.ndarray) -> float:
    """Return the entropy of independent units with means m (n,), in nats."""
    p = np.concatenate([1 + m, 1 - m]) / 2
    return -(p * np.log(np.where(p > 0, p, 1))).sum()


def free_energy_functional(model: BoltzmannMachine) -> Functional:
    """Return mean field's free energy, with its update, for descend()."""

    def value(m):  # F(m) / T without the offset
        return float(-m @ (m @ model.weights / 2 + model.biases) / model.temperature - entropy_of(m))

    return Functional(
        "mean_field", True, False, value, lambda field, *_: mean_in_field(field), partial(curvature, model)
    )


def curvature(model: BoltzmannMachine, m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (diagonal, off_diagonal) of F/T at means m (n,), see linear_response.py."""
    j, row, col = couplings(model)
    root = np.sqrt(1 - m**2)
    return np.ones(model.n), root[row] * j * root[col]
