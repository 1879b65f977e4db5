"""Machines of 0/1 units and of other libraries, D-Wave's dimod and graphs of networkx.  Every energy stays the same.

    dimod      E = sum_i h_i s_i + sum_(i<j) J_ij s_i s_j + offset          h = -b,  J = -W
    networkx   nodes with a "bias" b_i, edges with a "weight" w_ij, and a graph with a "temperature" and an "offset"

Variables and nodes are the names of the units, or 0 to n - 1.  Read, they are the units in the order of
list(bqm.variables) or list(graph), and their names where all are strings; weights are sparse where at most half of the
pairs are coupled.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from .checks import check_array, in_words, needed
from .model import BoltzmannMachine, check_model


def from_bits(weights: Any, biases: Any, temperature: float = 1.0, names: tuple[str, ...] = ()) -> BoltzmannMachine:
    """Return the -1/+1 machine of a 0/1 machine with E(x) = -1/2 x'Wx - b'x; every energy stays the same.

    With x = (1 + s)/2: w_s = w/4, b_s = b/2 + (row sums of w)/4, and the constant goes into the offset.

    >>> bmlab.from_bits([[0, 4], [4, 0]], [0, 0]).energy([[1, 1], [1, -1]])  # both on, and one
    array([-4.,  0.])
    """
    of_bits = BoltzmannMachine(weights, biases, temperature, names=names)
    weights, biases, rows = of_bits.weights, of_bits.biases, of_bits.weights.sum(axis=1)
    return replace(
        of_bits, weights=weights / 4, biases=biases / 2 + rows / 4, offset=-rows.sum() / 8 - biases.sum() / 2
    )


def to_dimod(model: BoltzmannMachine) -> Any:
    """Return the machine as a dimod.BinaryQuadraticModel (SPIN); its temperature is left out, dimod knows none.

    Raises ModuleNotFoundError, with the command to type, where dimod is missing.

    >>> bmlab.to_dimod(bmlab.toy()).energy([1, 1, 1])
    np.float64(-1.5)
    """
    check_model(model)
    make = needed("dimod", "to_dimod()", "dimod").BinaryQuadraticModel.from_numpy_vectors
    row, col, w = _couplings(model)
    return make(-model.biases, (row, col, -w), model.offset, "SPIN", variable_order=_labels(model))


def from_dimod(bqm: Any, temperature: float = 1.0) -> BoltzmannMachine:
    """Return the machine of a dimod.BinaryQuadraticModel, of -1/+1 (SPIN) or 0/1 (BINARY) variables.

    A variable of 0/1 becomes a unit s = 2x - 1.  Raises ValueError for anything else.

    >>> import dimod
    >>> bmlab.from_dimod(dimod.BinaryQuadraticModel.from_ising({"a": 0, "b": 0}, {("a", "b"): -1})).weights
    array([[0., 1.],
           [1., 0.]])
    """
    if isinstance(bqm, type) or not hasattr(bqm, "to_numpy_vectors"):
        raise ValueError(
            f"bqm must be a dimod.BinaryQuadraticModel, found {in_words(bqm)}; "
            "try dimod.BinaryQuadraticModel.from_ising(h, J)"
        )
    labels, spin = list(bqm.variables), bqm.change_vartype("SPIN", inplace=False)
    h, (row, col, j), offset = spin.to_numpy_vectors(variable_order=labels)
    return _machine(labels, -h, row, col, -j, temperature, offset)


def to_networkx(model: BoltzmannMachine) -> Any:
    """Return the machine as a networkx.Graph; uncoupled units have no edge.

    Raises ModuleNotFoundError, with the command to type, where networkx is missing.

    >>> bmlab.to_networkx(bmlab.toy()).edges[0, 1]
    {'weight': 1.0}
    """
    check_model(model)
    graph = needed("networkx", "to_networkx()", "networkx").Graph(temperature=model.temperature, offset=model.offset)
    labels, (row, col, w) = _labels(model), _couplings(model)
    graph.add_nodes_from((label, {"bias": b}) for label, b in zip(labels, model.biases.tolist(), strict=True))
    graph.add_weighted_edges_from((labels[i], labels[j], x) for i, j, x in zip(row, col, w.tolist(), strict=True))
    return graph


def from_networkx(graph: Any) -> BoltzmannMachine:
    """Return the machine of an undirected networkx graph; parallel edges add up.

    What is not written counts as: weight 1, bias 0, temperature 1, offset 0.
    Raises ValueError where edges have a direction or lead from a node to itself.

    >>> import networkx
    >>> bmlab.from_networkx(networkx.cycle_graph(5))
    BoltzmannMachine(n=5, couplings=5, sparse, T=1)
    """
    if isinstance(graph, type) or not hasattr(graph, "is_directed") or graph.is_directed():
        raise ValueError(
            "graph must be an undirected networkx graph, since w_ij = w_ji, "
            f"found {in_words(graph)}; try networkx.Graph(graph)"
        )
    unit = {node: k for k, node in enumerate(graph)}
    edges = list(graph.edges(data="weight", default=1.0))
    for a, b, _ in edges:
        if a == b:
            raise ValueError(
                f"graph has an edge from {a!r} to itself, which is no coupling; "
                "use graph.remove_edges_from(list(networkx.selfloop_edges(graph)))"
            )
    row, col, w = ([unit[a] for a, _, _ in edges], [unit[b] for _, b, _ in edges], [w for _, _, w in edges])
    biases = [b for _, b in graph.nodes(data="bias", default=0.0)]
    told = graph.graph
    return _machine(list(graph), biases, row, col, w, told.get("temperature", 1.0), told.get("offset", 0.0))


def _labels(model):
    return list(model.names or range(model.n))


def _couplings(model) -> tuple[Any, Any, Any]:
    """Return (i, j, w_ij) of the couplings, i < j; a stored zero of a sparse machine is one."""
    upper = scipy.sparse.triu(model.weights, 1).tocoo()
    return upper.row, upper.col, upper.data


def _machine(labels, biases, row, col, w, temperature, offset):
    biases, w = check_array("the biases of the graph", list(biases)), check_array("the weights of the graph", list(w))
    n, both = len(biases), (np.concatenate([row, col]).astype(int), np.concatenate([col, row]).astype(int))
    weights = scipy.sparse.coo_array((np.concatenate([w, w]), both), shape=(n, n))
    names = labels if all(isinstance(label, str) for label in labels) else ()
    is_dense = 2 * len(w) > n * (n - 1) / 2
    return BoltzmannMachine(weights.toarray() if is_dense else weights, biases, temperature, offset, tuple(names))
