"""The clamped phase where few units of a row are unknown: a sum over their states, for many rows side by side.

    p(u | v) = exp((sum_i f_i u_i + sum_{i<j} w_ij u_i u_j) / T) / sum over all 2^k states u

for the k unknown units of a row v; f is their field without each other.  Rows with as many unknown units, whichever
these are, are summed together.
"""

import numpy as np

from ..arrays import states
from ..estimate import Estimate, LogZ, as_corr, pair_sums
from ..model import BoltzmannMachine, energy_of, field_of
from ..threads import one_thread
from .observations import distinct

FEW = 10  # unknown units of a row; beyond, a machine of its own for each pattern costs less than its 2^k states
AT_ONCE = 2**20  # states of rows that are held at a time


def summed(model: BoltzmannMachine, rows: np.ndarray, share: np.ndarray | None = None) -> Estimate:
    """Answer as clamped(model, rows) for rows (N, n), nan where unknown, of a machine with dense weights."""
    patterns, share = distinct(np.where(np.isnan(rows), 0.0, rows), share)
    with one_thread():
        s, log_z, covariance = over_states(model, patterns, share)
        pairs = pair_sums(model, s * np.sqrt(share)[:, None]) + covariance
    value = float(share @ log_z)
    return Estimate(
        share @ s,
        as_corr(model, pairs),
        LogZ(value, 0.0, value, value),
        method="clamped",
        message="the clamped phase is a sum over few states",
        info={"hidden": int((patterns == 0).any(0).sum()), "road": "sums over the unknown units of each pattern"},
    )


def over_states(model: BoltzmannMachine, patterns: np.ndarray, share: np.ndarray):
    """Return <s | v> (N, n) and log Z(clamped to v) (N,) of patterns, 0 where unknown; and sum_v share_v Cov(s | v)."""
    s, covariance = patterns.copy(), np.zeros((model.n, model.n))
    fields, log_z = field_of(model, patterns), -energy_of(model, patterns) / model.temperature  # a unit at 0 has none
    unknown = patterns == 0
    counts = unknown.sum(1)
    for k in np.unique(counts[counts > 0]):
        u = states(k)
        u_pairs = (u[:, :, None] * u[:, None, :]).reshape(len(u), k * k)
        here = np.flatnonzero(counts == k)
        for block in np.array_split(here, -(-len(here) * len(u) // AT_ONCE)):
            units = np.nonzero(unknown[block])[1].reshape(-1, k)
            across = units[:, :, None], units[:, None, :]
            inside = model.weights[across].reshape(-1, k * k)
            x = (fields[block[:, None], units] @ u.T + inside @ u_pairs.T / 2) / model.temperature
            top = x.max(1, keepdims=True)
            p = np.exp(x - top)
            total = p.sum(1, keepdims=True)
            p /= total
            log_z[block] += (top + np.log(total))[:, 0]
            mean = p @ u
            s[block[:, None], units] = mean
            spread = (p @ u_pairs).reshape(-1, k, k) - mean[:, :, None] * mean[:, None, :]
            np.add.at(covariance, across, share[block, None, None] * spread)
    return s, log_z, covariance
