"""Interoperability: machines of 0/1 units (QUBO) and of D-Wave's dimod.  Every energy stays the same.

    dimod      E = sum_i h_i s_i + sum_(i<j) J_ij s_i s_j + offset          h = -b,  J = -W

Variables are the names of the units, or 0 to n - 1.  Read, variables 0 to n - 1 in any order are the units of these
numbers; others are the units in the order of list(bqm.variables), and str() of them their names.  Weights are sparse
where at most half of the pairs are coupled, or a coupling is 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from .checking.validation import ArrayLike, describe, import_optional
from .model import BoltzmannMachine, check_model


def from_bits(
    weights: ArrayLike, biases: ArrayLike, *, temperature: float = 1.0, names: Iterable[str] = ()
) -> BoltzmannMachine:
    """Return the -1/+1 machine of a 0/1 machine with E(x) = -1/2 x'Wx - b'x; every energy stays the same.

    With x = (1 + s)/2: w_s = w/4, b_s = b/2 + (row sums of w)/4, and the constant goes into the offset.

    >>> bmlab.from_bits([[0, 4], [4, 0]], [0, 0]).energy([[1, 1], [1, -1]])  # both on, and one
    array([-4.,  0.])
    """
    of_bits = BoltzmannMachine(weights, biases, temperature, names=names)
    w, b, rows = of_bits.weights, of_bits.biases, of_bits.weights.sum(axis=1)
    return replace(of_bits, weights=w / 4, biases=b / 2 + rows / 4, offset=-rows.sum() / 8 - b.sum() / 2)


def to_bits(model: BoltzmannMachine) -> tuple[Any, np.ndarray, float]:
    """Return (weights, biases, offset) of the 0/1 machine with E(x) = -1/2 x'Wx - b'x + offset: from_bits(), backwards.

    With s = 2x - 1: w_x = 4w, b_x = 2b - 2 (row sums of w), and the constant goes into the offset.

    >>> weights, biases, offset = bmlab.to_bits(bmlab.from_bits([[0, 4], [4, 0]], [1, 2]))
    >>> weights, biases, offset
    (array([[0., 4.],
           [4., 0.]]), array([1., 2.]), 0.0)
    """
    check_model(model)
    w, b, rows = model.weights, model.biases, model.weights.sum(axis=1)
    return 4 * w, 2 * b - 2 * rows, float(model.offset + b.sum() - rows.sum() / 2)


def to_dimod(model: BoltzmannMachine) -> Any:
    """Return the machine as a dimod.BinaryQuadraticModel (SPIN); its temperature is left out, dimod has none.

    Raises ModuleNotFoundError, with the command to type, where dimod is missing.

    >>> bmlab.to_dimod(bmlab.toy()).energy([1, 1, 1])
    np.float64(-1.5)
    """
    check_model(model)
    make = import_optional("dimod", "to_dimod()", "dimod").BinaryQuadraticModel.from_numpy_vectors
    upper = scipy.sparse.triu(model.weights, 1).tocoo()
    labels = list(model.names or range(model.n))
    return make(-model.biases, (upper.row, upper.col, -upper.data), model.offset, "SPIN", variable_order=labels)


def from_dimod(bqm: Any, *, temperature: float = 1.0) -> BoltzmannMachine:
    """Return the machine of a dimod.BinaryQuadraticModel, of -1/+1 (SPIN) or 0/1 (BINARY) variables.

    A variable of 0/1 becomes a unit s = 2x - 1.  Raises ValueError for anything else.

    >>> import dimod
    >>> bmlab.from_dimod(dimod.BinaryQuadraticModel.from_ising({"a": 0, "b": 0}, {("a", "b"): -1})).weights
    array([[0., 1.],
           [1., 0.]])
    """
    if isinstance(bqm, type) or not hasattr(bqm, "to_numpy_vectors"):
        raise ValueError(
            f"bqm must be a dimod.BinaryQuadraticModel, found {describe(bqm)}; "
            "try dimod.BinaryQuadraticModel.from_ising(h, J)"
        )
    labels, spin = list(bqm.variables), bqm.change_vartype("SPIN", inplace=False)
    names = [*map(str, labels)]
    if set(labels) == set(range(len(labels))):
        labels, names = sorted(labels), []
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise ValueError(f"two variables are called {twice[0]!r}; bqm.relabel_variables() gives them other names")
    h, (row, col, j), offset = spin.to_numpy_vectors(variable_order=labels)
    n, both = len(h), (np.concatenate([row, col]), np.concatenate([col, row]))
    weights = scipy.sparse.coo_array((-np.concatenate([j, j]), both), shape=(n, n))
    dense = 2 * len(j) > n * (n - 1) / 2 and j.all()  # only sparse weights have couplings of 0
    return BoltzmannMachine(weights.toarray() if dense else weights, -h, temperature, offset, tuple(names))
