"""Spanning trees: the minimum spanning tree, and edge appearance probabilities in a random one (Kirchhoff).

A tree is drawn with a probability proportional to the product of its edges' weights w.  The probability of edge e is
(Kirchhoff)

    r_e = w_e R_ij,      R_ij = P_ii + P_jj - 2 P_ij,

its weight times the resistance between its ends in a network of conductances w (Lyons and Peres 2016, Probability on
Trees and Networks, chapter 4); P is the inverse of L = sum_e w_e (1_i - 1_j)(1_i - 1_j)' with one grounded unit in each
component.  Minimum spanning trees are SciPy's.
"""

from typing import NamedTuple

import numpy as np
import scipy

from ...model import BoltzmannMachine
from ..variational.belief_propagation import Graph
from ..variational.selected_inversion import factorize, selected_inverse

DENSE_INVERSE_UNITS = 300  # of sparse machines; above this, selected_inversion.py is used
LOG_WEIGHT_RANGE = 25.0  # nats: e^-25 of the largest weight is 1e-11, still above rounding
MACHINE_EPSILON = np.finfo(float).eps


class Tree(NamedTuple):
    """A spanning tree, listed from the root on, (n,) each; components are joined without an edge.

    unit, parent_place   the unit at each place, and the place of its parent
    parent_edge          its edge to the parent in a Graph; the number of edges if it has none
    """

    unit: np.ndarray
    parent_place: np.ndarray
    parent_edge: np.ndarray


def best_tree(model: BoltzmannMachine, graph: Graph, price: np.ndarray) -> Tree:
    """Return the spanning tree of least total price (edges,); all prices are below 0."""
    n, edges = model.n, len(graph.j)
    if not n:
        return Tree(*np.zeros((3, 0), int))
    first = roots(model, graph)
    links = scipy.sparse.csr_array((np.ones(len(first) - 1), (first[1:], first[:-1])), shape=(n, n))
    tree = abs(scipy.sparse.csgraph.minimum_spanning_tree(_matrix(model, graph, price))) + links
    unit, parent = scipy.sparse.csgraph.breadth_first_order(tree, 0, directed=False)
    place = np.empty(n, int)
    place[unit] = np.arange(n)
    parent_unit = parent[unit]
    parent_unit[0] = unit[0]
    parent_edge = np.asarray(_matrix(model, graph, np.arange(1, edges + 1))[unit, parent_unit]).ravel() - 1
    parent_edge[parent_edge < 0] = edges
    return Tree(unit, place[parent_unit], parent_edge)


def edge_appearance_probabilities(model: BoltzmannMachine, graph: Graph, log_weights: np.ndarray) -> np.ndarray:
    """Return r_e (edges,) for log w (edges,); weights are at least e^-LOG_WEIGHT_RANGE of the largest.

    The largest possible rounding is subtracted: bounds hold for smaller r as well.
    """
    w = np.exp(np.maximum(log_weights - log_weights.max(initial=-np.inf), -LOG_WEIGHT_RANGE))
    w = (w + w[graph.back]) / 2  # rounding must not make the two directions of an edge differ
    rounding = MACHINE_EPSILON * w.max(initial=1) / w.min(initial=1)
    return np.minimum(w * _resistances(model, graph, w), 1) * (1 - rounding)


def _resistances(model, graph, w):
    """Return R (edges,)."""
    conductance = np.bincount(graph.row, w, model.n).astype(float)
    conductance[roots(model, graph)] += 1
    laplacian = (scipy.sparse.diags_array(conductance) - _matrix(model, graph, w)).tocsc()
    if model.is_sparse and model.n > DENSE_INVERSE_UNITS:
        factor = factorize(laplacian)
        assert factor, "a grounded network has an inverse"
        at_edges, at_units = selected_inverse(factor, graph.row, graph.col)
    else:
        dense = np.linalg.inv(laplacian.toarray())
        at_edges, at_units = dense[graph.row, graph.col], np.diag(dense)
    return (at_units[graph.row] + at_units[graph.col]) - (at_edges + at_edges[graph.back])


def roots(model: BoltzmannMachine, graph: Graph) -> np.ndarray:
    """Return one unit of each connected component."""
    part = scipy.sparse.csgraph.connected_components(_matrix(model, graph, graph.j), directed=False)[1]
    return np.unique(part, return_index=True)[1]


def _matrix(model, graph, values):
    """Return numbers (edges,) as a sparse matrix (n, n)."""
    where = graph.col.astype(np.int32), graph.indptr.astype(np.int32)  # csgraph takes no others before SciPy 1.17
    return scipy.sparse.csr_array((values, *where), shape=(model.n, model.n))
