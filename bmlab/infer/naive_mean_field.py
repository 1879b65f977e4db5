"""Mean field: the best product of independent units, and the free energy that it minimises.

    F(m) = -1/2 m'Wm - b'm + offset - T sum_i H(m_i),     H(m) = -sum_{+,-} (1 +- m)/2 log((1 +- m)/2)

F is the free energy of independent units with means m, so F >= -T log Z whatever m is (Gibbs, Bogoliubov,
Feynman), and exp(-F/T) is a lower bound of Z.  At its minimum each unit feels the average field of the others:

    m_i = tanh((sum_j w_ij m_j + b_i) / T).

A product has no correlations, but its response to a small bias has (linear response: Kappen and Rodriguez 1998,
Neural Computation 10, 1137):

    <s_i s_j> - m_i m_j = [ (diag(1/(1 - m^2)) - W/T)^-1 ]_ij        for i != j.
"""

from warnings import warn

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu
from scipy.special import entr

from ..estimate import Estimate, LogZ, NotConverged, as_corr, coupled_pairs
from ..model import BoltzmannMachine


def mean_field(model: BoltzmannMachine, *, start=None, damping: float = 0.0, tolerance: float = 1e-12,
               max_sweeps: int = 2000) -> Estimate:
    """Answer by the product that minimises F, one unit after the other; log Z = -F/T is a proven lower bound.

    start     means (n,) to begin from; None: tanh(b/T).  Different starts can end in different valleys of F.
    damping   share of the old value kept at each update, 0 <= damping < 1; F falls at every update all the same
    corr      by linear response.  It is shown as it comes: beyond [-1, 1] it has failed, and where the point is no
              minimum of F (info["stable"] is False) it is no covariance at all.
    converged the last sweep moved no mean by more than `tolerance`; the bound holds converged or not
    Cost: a few dozen sweeps of n^2, and one inverse of n^3.
    """
    m = _first_means(model, start)
    for sweeps in range(1, max_sweeps + 1):
        moved = _descend(model, m, damping)
        if moved <= tolerance:
            break
    log_z = -free_energy(model, m) / model.temperature
    pairs, stable = (_sparse_response if model.is_sparse else _response)(model, m)
    corr, converged = as_corr(model, pairs), moved <= tolerance
    largest = abs(corr - as_corr(model, np.zeros_like(pairs))).max() if model.n else 0.0
    _advise(converged, stable, moved, sweeps)
    return Estimate(m, corr, LogZ(log_z, lower=log_z), method="mean field", converged=converged, state=m,
                    info={"sweeps": sweeps, "moved": moved, "stable": stable, "largest |corr|": float(largest)})


def free_energy(model: BoltzmannMachine, m) -> float:
    """Return F(m) of independent units with means m (n,); it is at least -T log Z for every m in [-1, 1]^n."""
    m = np.asarray(m, dtype=float)
    entropy = entr((1 + m) / 2).sum() + entr((1 - m) / 2).sum()
    return float(model.energy(m) - model.temperature * entropy)


def _first_means(model, start):
    if start is None:
        return np.tanh(model.biases / model.temperature)
    m = np.array(start, dtype=float)
    if m.shape != (model.n,) or not (np.abs(m) <= 1).all():
        raise ValueError(f"start must be {model.n} means in [-1, 1], found shape {m.shape}; pass start=None")
    return m


def _descend(model, m, damping):
    """Move every mean to the minimum of F given the others, in place and in order; return the largest move."""
    moved = 0.0
    for i in range(model.n):
        index, w = model.neighbours(i)
        target = np.tanh((w @ m[index] + model.biases[i]) / model.temperature)
        step = (1 - damping) * (target - m[i])
        m[i] += step
        moved = max(moved, abs(step))
    return float(moved)


def _response(model, m):
    """Return (covariance + m m', whether the point is a minimum of F); nan where F is flat.

    Written with D = diag(1 - m^2) so that saturated units do no harm: D^1/2 (1 - D^1/2 W/T D^1/2)^-1 D^1/2.
    """
    root = np.sqrt(1 - m**2)
    curvature = np.eye(model.n) - np.outer(root, root) * model.weights / model.temperature
    try:
        return np.outer(root, root) * np.linalg.inv(curvature) + np.outer(m, m), _is_positive_definite(curvature)
    except np.linalg.LinAlgError:
        return np.full_like(curvature, np.nan), False


def _is_positive_definite(matrix):
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def _sparse_response(model, m, columns=256):
    """The same on the couplings alone: the inverse is solved for a few columns at a time, and never held."""
    root = np.sqrt(1 - m**2)
    scale = sparse.diags_array(root)
    curvature = sparse.eye_array(model.n) - scale @ model.weights @ scale / model.temperature
    row, col = coupled_pairs(model)
    pairs = m[row] * m[col]
    try:
        factor = splu(curvature.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
                      options={"SymmetricMode": True})
    except RuntimeError:        # exactly singular
        return np.full_like(pairs, np.nan), False
    for begin in range(0, model.n, columns):
        inverse = factor.solve(np.eye(model.n, min(columns, model.n - begin), -begin))
        here = (begin <= col) & (col < begin + columns)
        pairs[here] += root[row[here]] * root[col[here]] * inverse[row[here], col[here] - begin]
    return pairs, bool((factor.U.diagonal() > 0).all())     # no pivoting: as many signs as in Cholesky


def _advise(converged, stable, moved, sweeps):
    if not converged:
        warn(f"mean_field() still moved by {moved:.2g} after {sweeps} sweeps; the bound on log Z holds, the means may "
             "not. Raise max_sweeps, or start= nearer.", NotConverged, stacklevel=3)
    elif not stable:
        warn("mean_field() stands at a saddle of F, where its correlations mean nothing; leave it with "
             "start=, for example rng.uniform(-1, 1, model.n).", NotConverged, stacklevel=3)
