"""Exact answers on trees, and chains, of any length: many units summed out at a time.

A tree always has many units with one or two neighbours, and a third of them are not coupled to each other.  They are
summed out together, in arrays.  With f(x) = log 2 cosh(x) and the field h, all in units of T, what v leaves is

    one neighbour a:    sum_v exp(v (h + J a))           = exp(A + u a)
    two, a and b:       sum_v exp(v (h + J a + K b))     = exp(A + u a + w b + L a b),

where A, u, w and L are sums and differences of f(h +- J) or f(h +- J +- K), over 2 or 4: fields of the neighbours, and
a coupling between them.  The tree stays a tree, and some 25 rounds do for 100,000 units, where one after the other
(elimination.py) takes as many turns of Python.  On the way back p(v | a, b) and the probabilities of (a, b)
give those of v with each neighbour.  Rake and compress: Miller and Reif (1985), FOCS, 478.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from ...arrays import log_2cosh
from ...couplings import entries
from ...model import BoltzmannMachine


class Round(NamedTuple):
    """Hold what is summed out at a time: `unit` (k,), and its edges to `near` (k, 0, 1 or 2) neighbours.

    edge (k, d) are numbers of edges; turned (k, d) says where the unit stands at their second end; made (k,) is the
    edge between two neighbours, from near[:, 0] to near[:, 1].
    """

    unit: np.ndarray
    near: np.ndarray
    edge: np.ndarray
    turned: np.ndarray
    made: np.ndarray


class Contraction(NamedTuple):
    """Hold the couplings of a tree, ends (edges, 2) with the first ones its own, and the rounds that undo it."""

    ends: np.ndarray
    rounds: list[Round]


def is_tree(graph: scipy.sparse.csr_array) -> bool:
    """Whether units that hang together, as a CSR pattern, do so without a loop."""
    return graph.nnz == 2 * (graph.shape[0] - 1)


def contraction_of(graph: scipy.sparse.csr_array) -> Contraction:
    """Return the rounds of a tree; each counts the units that are left from 0, and names them in its Rounds."""
    n, half = graph.shape[0], scipy.sparse.triu(graph, 1).tocoo()
    unit_of, edge_of, pairs = np.arange(n), np.arange(half.nnz), np.column_stack([half.row, half.col]).astype(int)
    rng, ends, rounds, count = np.random.default_rng(0), [pairs], [], half.nnz
    while len(unit_of):
        end, (first, last) = pairs.ravel(), np.zeros((2, len(unit_of)), int)  # end 2 e and 2 e + 1 are those of edge e
        last[end], first[end[::-1]] = np.arange(len(end)), np.arange(len(end))[::-1]  # a later one overwrites
        degree = np.bincount(end, minlength=len(unit_of))
        goes = _apart(pairs, np.where(degree <= 2, rng.random(len(unit_of)), -1.0))
        for d in (0, 1, 2):
            unit = np.flatnonzero(goes & (degree == d))
            place = np.column_stack([first[unit], last[unit]])[:, :d]
            near, made = end[place ^ 1], count + np.arange(len(unit) if d == 2 else 0)
            rounds.append(Round(unit_of[unit], unit_of[near], edge_of[place // 2], place % 2 == 1, made))
        ends.append(rounds[-1].near)
        stays, count = ~(goes[end[::2]] | goes[end[1::2]]), count + len(made)
        edge_of = np.concatenate([edge_of[stays], made])
        pairs = (np.cumsum(~goes) - 1)[np.concatenate([pairs[stays], near])]
        unit_of = unit_of[~goes]
    return Contraction(np.concatenate(ends), [r for r in rounds if len(r.unit)])


def _apart(ends, luck):
    """Return who goes (n,): whoever has any luck (0 or more), and more of it than its neighbours that have."""
    one, other = ends.T
    goes = luck >= 0
    goes[np.where(luck[one] < luck[other], one, other)] = False
    return goes


def _outward(model, contraction):
    """Sum out round after round; return log Z without the offset, and the fields and couplings that each unit met."""
    ends, own = contraction.ends, model.n - 1
    j, field, log_z = np.empty(len(ends)), model.biases / model.temperature, 0.0
    j[:own] = entries(model.weights, tuple(ends[:own].T)) / model.temperature
    for r in contraction.rounds:
        d = r.near.shape[1]
        logs = log_2cosh(_felt(field[r.unit], j[r.edge]))
        log_z += logs.mean(tuple(range(d))).sum()
        for k in range(d):
            plus, minus = logs.mean(1 - k) if d == 2 else logs
            np.add.at(field, r.near[:, k], (plus - minus) / 2)
        if d == 2:
            j[r.made] = (logs[0, 0] - logs[0, 1] - logs[1, 0] + logs[1, 1]) / 4
    return float(log_z), field, j


def _felt(field, j):
    """Return h + J a + K b for both signs of each neighbour, (2, ..., 2, k): a first."""
    for coupling in j.T:
        field = np.stack([field + coupling, field - coupling], axis=field.ndim - 1)
    return field


def sum_by_contraction(model: BoltzmannMachine, contraction: Contraction, moments: bool = True) -> tuple:
    """Return log Z without the offset, means (n,), and <s_i s_j> on the couplings, sparse, without a diagonal.

    Without `moments`, which cost as much again, both are nan.
    """
    log_z, field, j = _outward(model, contraction)
    if not moments:
        return log_z, np.nan, np.nan
    alone, pairs = np.empty((2, model.n)), np.empty((2, 2, len(j)))  # probabilities of +, -; of both ends
    for r in reversed(contraction.rounds):
        d = r.near.shape[1]
        around = pairs[:, :, r.made] if d == 2 else alone[:, r.near[:, 0]] if d else 1.0
        x = 2 * _felt(field[r.unit], j[r.edge])
        joint = scipy.special.expit(np.stack([x, -x])) * around  # (2, ..., k): the unit first, then its neighbours
        alone[:, r.unit] = joint.sum(tuple(range(1, d + 1)))
        for k in range(d):
            both = joint.sum(2 - k) if d == 2 else joint
            pairs[:, :, r.edge[:, k]] = np.where(r.turned[:, k], both.swapaxes(0, 1), both)
    row, col = contraction.ends[: model.n - 1].T
    own = pairs[:, :, : model.n - 1]
    value = own[0, 0] - own[0, 1] - own[1, 0] + own[1, 1]
    places = np.concatenate([row, col]), np.concatenate([col, row])
    corr = scipy.sparse.csr_array((np.tile(value, 2), places), shape=(model.n, model.n))
    return log_z, alone[0] - alone[1], corr


def draw_by_contraction(
    model: BoltzmannMachine, contraction: Contraction, size: int, rng: np.random.Generator
) -> np.ndarray:
    """Return independent states (size, n): the units in the reverse order, each given its neighbours."""
    _, field, j = _outward(model, contraction)
    s = np.empty((size, model.n))
    for r in reversed(contraction.rounds):
        h = field[r.unit] + (s[:, r.near] * j[r.edge]).sum(2)
        s[:, r.unit] = np.where(rng.random(h.shape) < scipy.special.expit(2 * h), 1.0, -1.0)
    return s
