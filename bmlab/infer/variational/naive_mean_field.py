"""Mean field: the best product of independent units, and the free energy that it minimises.

    F(m) = -1/2 m'Wm - b'm + offset - T sum_i H(m_i),     H(m) = -sum_{+,-} (1 +- m)/2 log((1 +- m)/2)

F is the free energy of independent units with means m, so F >= -T log Z whatever m is (Gibbs, Bogoliubov,
Feynman), and exp(-F/T) is a lower bound of Z.  At its minimum each unit feels the average field of the others:

    m_i = tanh((sum_j w_ij m_j + b_i) / T).

A product has no correlations, but its response to a small bias has (linear_response.py), with the curvature of F/T:

    A = diag(1/(1 - m^2)) - W/T.
"""

from warnings import warn

import numpy as np
from scipy.special import entr

from ...estimate import Estimate, LogZ, NotConverged, as_corr
from ...model import BoltzmannMachine
from .coordinate_descent import Theory, descend
from .linear_response import couplings, respond


def mean_field(
    model: BoltzmannMachine,
    *,
    start=None,
    starts: int = 1,
    damping: float = 0.0,
    tolerance: float = 1e-12,
    max_sweeps: int = 2000,
) -> Estimate:
    """Answer by the product that minimises F, one unit after the other; log Z = -F/T is a proven lower bound.

    start     means (n,) to begin from; None: tanh(b/T).  Different starts can end in different valleys of F.
    starts    how many, best an odd number: the first as above, the others along + and - the eigenvectors of W with the
              largest eigenvalues.  The lowest F is the answer; info has all distinct "fixed points" (k, n) and their
              "free energies" (k,).
    damping   share of the old value kept at each update, 0 <= damping < 1; F falls at every update all the same
    corr      by linear response.  It is shown as it comes: beyond [-1, 1] it has failed, and where the point is no
              minimum of F (info["stable"] is False) it is no covariance at all.  info["inconsistency"] is the largest
              |C_ii / (1 - m_i^2) - 1|: where it is large, mean field has failed; where it is small, it may have chosen
              the wrong valley all the same.
    converged the last sweep moved no mean by more than `tolerance`; the bound holds converged or not
    Cost: a few dozen sweeps of n^2 a start, and a few solutions of n equations.
    """
    found = descend(model, theory(model), start, starts, damping, tolerance, max_sweeps)
    m, log_z = found.means[0], float(-found.values[0])
    response = respond(model, m, *_curvature(model, m))
    corr, converged = as_corr(model, response.pairs), found.moved <= tolerance
    largest = abs(corr - as_corr(model, np.zeros_like(response.pairs))).max() if model.n else 0.0
    advise("mean_field", converged, response.stable, found, "the bound on log Z holds, the means may not")
    return Estimate(
        m,
        corr,
        LogZ(log_z, lower=log_z),
        method="mean field",
        converged=converged,
        state=m,
        info={
            "sweeps": found.sweeps,
            "moved": found.moved,
            "stable": response.stable,
            "inconsistency": response.inconsistency,
            "largest |corr|": float(largest),
            "fixed points": found.means,
            "free energies": model.temperature * found.values,
        },
    )


def free_energy(model: BoltzmannMachine, m) -> float:
    """Return F(m) of independent units with means m (n,); it is at least -T log Z for every m in [-1, 1]^n."""
    m = np.asarray(m, dtype=float)
    entropy = entr((1 + m) / 2).sum() + entr((1 - m) / 2).sum()
    return float(model.energy(m) - model.temperature * entropy)


def theory(model: BoltzmannMachine) -> Theory:
    """Return mean field as descend() wants it."""
    return Theory(
        lambda m: free_energy(model, m) / model.temperature,
        lambda field, units, m: np.tanh(field),
        lambda m: _curvature(model, m),
    )


def _curvature(model, m):
    j, row, col = couplings(model)
    root = np.sqrt(1 - m**2)
    return np.ones(model.n), root[row] * j * root[col]


def advise(name, converged, stable, found, meaning):
    """Warn where a descent has not ended, or has ended where G is no minimum."""
    if not converged:
        warn(
            f"{name}() still moved by {found.moved:.2g} after {found.sweeps} sweeps; {meaning}. Raise max_sweeps, or "
            "start= nearer.",
            NotConverged,
            stacklevel=3,
        )
    elif not stable:
        warn(
            f"{name}() stands at a saddle of its free energy, where its correlations mean nothing; leave it with "
            "starts=5.",
            NotConverged,
            stacklevel=3,
        )
