"""Machines of other libraries: D-Wave's dimod and graphs of networkx.  Every energy stays the same.

    dimod      E = sum_i h_i s_i + sum_(i<j) J_ij s_i s_j + offset          h = -b,  J = -W
    networkx   nodes with a "bias" b_i, edges with a "weight" w_ij, and a graph with a "temperature" and an "offset"

Both number their units by the order in which they list them: unit k is list(bqm.variables)[k], or list(graph)[k].
A machine that is read has sparse weights where at most half of its pairs are coupled.
"""

from importlib import import_module

import numpy as np
from scipy import sparse

from .model import BoltzmannMachine


def to_dimod(model: BoltzmannMachine):
    """Return the machine as a dimod.BinaryQuadraticModel (SPIN) of the variables 0 to n - 1.

    dimod knows no temperature: it is left out, and from_dimod() takes it again.
    Raises ModuleNotFoundError, with the command to type, where dimod is missing.
    """
    dimod = _library("dimod", "to_dimod")
    row, col, w = _couplings(model)
    return dimod.BinaryQuadraticModel.from_numpy_vectors(-model.biases, (row, col, -w), model.offset, "SPIN")


def from_dimod(bqm, temperature: float = 1.0) -> BoltzmannMachine:
    """Return the machine of a dimod.BinaryQuadraticModel, of -1/+1 (SPIN) or 0/1 (BINARY) variables.

    A variable of 0/1 becomes a unit s = 2x - 1.  Raises ValueError for anything else.
    """
    if not hasattr(bqm, "change_vartype"):
        raise ValueError(
            f"bqm must be a dimod.BinaryQuadraticModel, found {type(bqm).__name__}; "
            "try dimod.BinaryQuadraticModel.from_ising(h, J)"
        )
    spin = bqm.change_vartype("SPIN", inplace=False)
    h, (row, col, j), offset = spin.to_numpy_vectors(variable_order=list(bqm.variables))
    return _machine(-h, row, col, -j, temperature, offset)


def to_networkx(model: BoltzmannMachine):
    """Return the machine as a networkx.Graph of the nodes 0 to n - 1; uncoupled units have no edge.

    Raises ModuleNotFoundError, with the command to type, where networkx is missing.
    """
    graph = _library("networkx", "to_networkx").Graph(temperature=model.temperature, offset=model.offset)
    graph.add_nodes_from((i, {"bias": b}) for i, b in enumerate(model.biases.tolist()))
    graph.add_weighted_edges_from(zip(*(column.tolist() for column in _couplings(model))))
    return graph


def from_networkx(graph) -> BoltzmannMachine:
    """Return the machine of an undirected networkx graph; parallel edges add up.

    What is not written counts as: weight 1, bias 0, temperature 1, offset 0.
    Raises ValueError where edges have a direction or lead from a node to itself.
    """
    if not hasattr(graph, "is_directed") or graph.is_directed():
        raise ValueError(
            "graph must be an undirected networkx graph, since w_ij = w_ji, "
            f"found {type(graph).__name__}; try networkx.Graph(graph)"
        )
    unit = {node: k for k, node in enumerate(graph)}
    edges = list(graph.edges(data="weight", default=1.0))
    loops = [a for a, b, _ in edges if a == b]
    if loops:
        raise ValueError(
            f"graph has an edge from {loops[0]!r} to itself, which is no coupling; "
            "use graph.remove_edges_from(list(networkx.selfloop_edges(graph)))"
        )
    row, col, w = zip(*((unit[a], unit[b], w) for a, b, w in edges)) if edges else ((), (), ())
    return _machine(
        [b for _, b in graph.nodes(data="bias", default=0.0)],
        row,
        col,
        w,
        graph.graph.get("temperature", 1.0),
        graph.graph.get("offset", 0.0),
    )


def _couplings(model):
    """Return (i, j, w_ij) of the couplings, i < j; a stored zero of a sparse machine is one."""
    upper = sparse.triu(model.weights, 1).tocoo()
    return upper.row, upper.col, upper.data


def _machine(biases, row, col, w, temperature, offset):
    n, both = len(biases), (np.concatenate([row, col]).astype(int), np.concatenate([col, row]).astype(int))
    weights = sparse.coo_array((np.concatenate([w, w]).astype(float), both), shape=(n, n))
    is_dense = 2 * len(w) > n * (n - 1) / 2
    return BoltzmannMachine(weights.toarray() if is_dense else weights, biases, temperature, offset)


def _library(name, caller):
    try:
        return import_module(name)
    except ModuleNotFoundError:
        message = f"{caller}() makes an object of {name}, which is missing; pip install {name}"
        raise ModuleNotFoundError(message, name=name) from None
