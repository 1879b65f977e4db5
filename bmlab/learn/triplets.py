"""Connected triplets (third cumulants) and P(K): a test of whether weights between pairs are enough.

    k_ijl = <(s_i - m_i)(s_j - m_j)(s_l - m_l)>          P(K) = p(K units are +1)

A machine learns means and pairs, and has to predict these quantities (Schneidman and others 2006, Nature 440, 1007;
Tkacik and others 2014, PLoS Comput. Biol. 10, e1003408).  Since s^2 = 1, the variance of k over N independent rows,
with estimated means, follows from m, the covariances C, v = 1 - m^2 and k itself (the delta method):

    N var(k) = v_i v_j v_l - k^2 - 8 m_i m_j m_l k + 6 C_ij C_il C_jl
               + sum over the three units i of (4 v_i m_j m_l C_jl - v_i C_jl^2 + 4 k m_i C_jl)
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..checking.arrays import no_such_attribute, sealed
from ..checking.budgets import check_memory
from ..checking.calls import show_call
from ..checking.validation import ArrayLike, summary
from ..running.progress_bars import with_progress
from ..running.threads import one_thread
from .observations import check_complete_rows

ROWS_AT_ONCE = 2**14  # rows whose products are taken together


class Triplets(NamedTuple):
    """Connected triplets of n units and the distribution of the number of units that are +1, with standard errors.

    >>> bmlab.triplets(bmlab.states(3)).p_k
    array([0.125, 0.375, 0.375, 0.125])
    """

    units: np.ndarray  # (M, 3): i < j < l of each triplet, M = n (n - 1)(n - 2)/6
    connected: np.ndarray  # (M,)
    connected_stderr: np.ndarray  # (M,)
    p_k: np.ndarray  # (n + 1,): the share of rows with K units at +1
    p_k_stderr: np.ndarray  # (n + 1,); 0 if no row has K, which is no proof

    __repr__ = summary
    __getattr__ = no_such_attribute


@show_call()
def triplets(data: ArrayLike) -> Triplets:
    """Return the connected triplets and P(K) of whole rows (N, n), -1/+1: of data, or of draws of a machine.

    If data and draws differ by more than their errors, pairs are not enough.  The machine was learnt from the data, so
    the error of the difference is a little smaller than both errors together.  Errors assume independent rows.
    Raises ValueError for rows with holes and for fewer than three units.  Cost: n products of (n, N) and (N, n).

    >>> rows = bmlab.sample(bmlab.toy(), 4000, rng=0)
    >>> table, drawn = bmlab.triplets(rows), bmlab.triplets(bmlab.sample(bmlab.toy(), 4000, rng=1))
    >>> error = np.hypot(table.connected_stderr, drawn.connected_stderr)
    >>> bool(abs(table.connected - drawn.connected)[0] < 4 * error[0])
    True
    """
    s = check_complete_rows(data, allow_constant=True)
    n_rows, n = s.shape
    if n < 3:
        raise ValueError(f"data must have three units or more to have triplets, found {n}; pass rows (N, units)")
    check_memory(f"triplets of {n:,} units would be kept", 100.0 * n**3, "leave some units out")
    mean, third = s.mean(0), np.zeros((n, n, n))
    with one_thread():
        for k in with_progress(range(0, n_rows, ROWS_AT_ONCE), "block"):
            x = s[k : k + ROWS_AT_ONCE] - mean
            for i in range(n):
                third[i] += (x * x[:, i : i + 1]).T @ x / n_rows
    units = np.array(list(combinations(range(n), 3)), int).reshape(-1, 3).T
    i, j, k = units
    connected = third[i, j, k]
    covariance, v = s.T @ s / n_rows - np.outer(mean, mean), 1 - mean**2
    others = covariance[j, k], covariance[i, k], covariance[i, j]
    variance = v[units].prod(0) - connected**2 - 8 * mean[units].prod(0) * connected + 6 * np.prod(others, axis=0)
    for unit, pair, c in zip(units, ((j, k), (i, k), (i, j)), others, strict=True):
        variance += v[unit] * 4 * mean[pair[0]] * mean[pair[1]] * c
        variance += 4 * connected * mean[unit] * c - v[unit] * c**2
    p_k = np.bincount((s > 0).sum(1), minlength=n + 1) / n_rows
    error = np.sqrt(np.maximum(variance, 0) / n_rows)
    return sealed(Triplets(units.T, connected, error, p_k, np.sqrt(p_k * (1 - p_k) / n_rows)))
