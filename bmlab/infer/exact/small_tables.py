"""Exact enumeration by small tables, for up to a dozen units: one table of each half, and one matrix of all states.

Split the units into two halves.  For each state of a half, list the products that the energy depends on,

    x = [1, s_i, s_i s_j]    and    y = [1, s_k, s_k s_l],

then minus the energy of all 2^n states is one bilinear form, with the biases and weights in a matrix Q, and the
moments are the transposed form:

    -E = x Q y',      Z = sum exp(-E/T),      x' exp(-E/T) y = Z [1, <s_k>, <s_k s_l>; <s_i>, <s_i s_k>, ...; ...].
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ...checking.arrays import states
from ...model import BoltzmannMachine


def sum_by_tables(model: BoltzmannMachine) -> tuple[float, np.ndarray, np.ndarray]:
    """Return (log Z without the offset, mean, corr with ones on the diagonal)."""
    n, (x, y, place, upper, lower) = model.n, _tables(model.n)
    q = np.zeros(x.shape[1] * y.shape[1])
    q[place[1 : n + 1]], q[place[n + 1 :]] = model.biases, model.dense_weights.take(upper)
    q /= model.temperature
    logs = x @ q.reshape(x.shape[1], -1) @ y.T
    top = logs.max()
    logs -= top
    moments = (x.T @ np.exp(logs, out=logs) @ y).take(place)  # [Z, Z <s_i>, Z <s_i s_j>]
    mean_and_corr = moments[1:] / moments[0]
    corr = np.ones(n * n)
    corr[upper] = corr[lower] = mean_and_corr[n:]
    return top + np.log(moments[0]), mean_and_corr[:n], corr.reshape(n, n)


@lru_cache(maxsize=16)
def _tables(n):
    """Return x and y; the places of 1, biases and upper weights in Q, flattened; of upper and lower weights in W."""
    half = n // 2
    (x, first), (y, second) = up_to_pairs(range(half)), up_to_pairs(range(half, n))
    row, col = np.triu_indices(n, 1)
    terms = [(), *((i,) for i in range(n)), *zip(row.tolist(), col.tolist(), strict=True)]
    place = [
        first[tuple(i for i in term if i < half)] * len(second) + second[tuple(i for i in term if i >= half)]
        for term in terms
    ]
    return x, y, np.array(place, dtype=int), row * n + col, col * n + row


def up_to_pairs(units: Sequence[int]) -> tuple[np.ndarray, dict[tuple, int]]:
    """Return [1, s_i, s_i s_j] of all states of some units, and the column of each of these products."""
    s = states(len(units))
    pairs = [(i, j) for i in units for j in units if i < j]
    products = [s[:, units.index(i)] * s[:, units.index(j)] for i, j in pairs]
    columns = [(), *((i,) for i in units), *pairs]
    return np.column_stack([np.ones(len(s)), s, *products]), {term: k for k, term in enumerate(columns)}
