"""Spanning trees of a machine: to find them, and to solve many side by side, exactly.

On a tree two passes do: from the leaves each unit sums itself out and tells its parent the field that it leaves,

    u_t = atanh(tanh j_t tanh h_t),       h_t = b_t + sum of what its children told it,

then from the root each unit hears what comes from above (belief propagation with a fixed schedule).  Minimum spanning
trees are SciPy's; parts that are not coupled are linked by couplings of strength 0.
"""

from typing import NamedTuple

import numpy as np
import scipy

from ...arrays import log_2cosh
from ...model import BoltzmannMachine
from ..variational.belief_propagation import Graph


class Trees(NamedTuple):
    """Hold K spanning trees, a column each, from the root on: (n, K).

    unit, above   which unit stands at each place, and the place of its parent
    own, back     its edge to the parent in a Graph, and the reverse; one more than all edges where there is none
    """

    unit: np.ndarray
    above: np.ndarray
    own: np.ndarray
    back: np.ndarray


def best_tree(model: BoltzmannMachine, graph: Graph, price: np.ndarray) -> Trees:
    """Return the spanning tree of least price (edges,), all prices below 0, as one column (n,) of Trees."""
    n, edges = model.n, len(graph.j)
    if not n:
        return Trees(*np.zeros((4, 0), int))

    where = graph.col.astype(np.int32), graph.indptr.astype(np.int32)  # csgraph takes no others before SciPy 1.17

    def matrix(values):
        return scipy.sparse.csr_array((values, *where), shape=(n, n))

    _, first = np.unique(
        scipy.sparse.csgraph.connected_components(matrix(graph.j), directed=False)[1], return_index=True
    )
    links = scipy.sparse.csr_array((np.ones(len(first) - 1), (first[1:], first[:-1])), shape=(n, n))
    tree = abs(scipy.sparse.csgraph.minimum_spanning_tree(matrix(price))) + links
    unit, parent = scipy.sparse.csgraph.breadth_first_order(tree, 0, directed=False)
    place = np.empty(n, int)
    place[unit] = np.arange(n)
    above = parent[unit]
    above[0] = unit[0]
    own = np.asarray(matrix(np.arange(1, edges + 1))[unit, above]).ravel() - 1
    own[own < 0] = edges
    return Trees(unit, place[above], own, np.append(graph.back, edges)[own])


def covering_trees(model: BoltzmannMachine, graph: Graph) -> Trees:
    """Return trees that have every edge, those in few trees so far and strong ones first."""
    used, trees = np.zeros(len(graph.j)), []
    strength = np.abs(graph.j) / (2 * np.abs(graph.j).max(initial=1e-300))
    while not trees or (used == 0).any():
        trees.append(best_tree(model, graph, used - strength - used.max(initial=0) - 1))
        for edge in (trees[-1].own, trees[-1].back):
            used[edge[edge < len(used)]] += 1
    return Trees(*(np.stack(parts, axis=1) for parts in zip(*trees, strict=True)))


def solve_trees(above: np.ndarray, fields: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, ...]:
    """Solve K trees side by side, from the leaves to the roots and back; all arrays are (n, K), the root at place 0.

    Return log Z (K,), the fields that units feel in all, and for each place but the root, of the pair with its parent,
    the field of either without the other.
    """
    heard, tree, log_z = fields.copy(), np.arange(fields.shape[1]), 0.0
    news, one, other, both = np.zeros_like(fields), np.zeros_like(fields), np.zeros_like(fields), np.array([j, -j])
    for t in range(len(fields) - 1, 0, -1):
        with_plus, with_minus = log_2cosh(heard[t] + both[:, t])
        news[t] = (with_plus - with_minus) / 2
        log_z = log_z + (with_plus + with_minus) / 2
        heard[above[t], tree] += news[t]
    for t in range(1, len(fields)):
        one[t], other[t] = heard[t], heard[above[t], tree] - news[t]
        with_plus, with_minus = log_2cosh(other[t] + both[:, t])
        heard[t] += (with_plus - with_minus) / 2
    return log_z + log_2cosh(heard[:1]).sum(0), heard, one, other
