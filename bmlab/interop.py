"""Interoperability: convert machines from and to 0/1 units (QUBO), D-Wave's dimod and tables, with the same energies.

    dimod      E = sum_i h_i s_i + sum_(i<j) J_ij s_i s_j + offset          h = -b,  J = -W

Variables of dimod are the names of the units, or 0 to n - 1.  Variables 0 to n - 1, in any order, are read as the units
of these numbers; others as units in the order of list(bqm.variables), named str(variable).  Weights are sparse if at
most half of the pairs are coupled, or if a coupling is 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import scipy

from .checking.calls import show_call
from .checking.validation import ArrayLike, check_array, check_names, describe, import_optional
from .model import BoltzmannMachine, check_model


@show_call()
def from_bits(
    weights: ArrayLike, biases: ArrayLike, *, temperature: float = 1.0, names: Iterable[str] = ()
) -> BoltzmannMachine:
    """Return the -1/+1 machine with the energies of a 0/1 machine, E(x) = -1/2 x'Wx - b'x.

    With x = (1 + s)/2: w_s = w/4, b_s = b/2 + (row sums of w)/4, and the constant goes into the offset.

    >>> bmlab.from_bits([[0, 4], [4, 0]], [0, 0]).energy([[1, 1], [1, -1]])  # both on; only one on
    array([-4.,  0.])
    """
    of_bits = BoltzmannMachine(weights, biases, temperature, names=names)
    w, b, rows = of_bits.weights, of_bits.biases, of_bits.weights.sum(axis=1)
    return replace(of_bits, weights=w / 4, biases=b / 2 + rows / 4, offset=-rows.sum() / 8 - b.sum() / 2)


@show_call()
def to_bits(model: BoltzmannMachine) -> tuple[Any, np.ndarray, float]:
    """Return (weights, biases, offset) of the 0/1 machine, E(x) = -1/2 x'Wx - b'x + offset; the inverse of from_bits().

    With s = 2x - 1: w_x = 4w, b_x = 2b - 2 (row sums of w), and the constant goes into the offset.

    >>> weights, biases, offset = bmlab.to_bits(bmlab.from_bits([[0, 4], [4, 0]], [1, 2]))
    >>> weights, biases, offset
    (array([[0., 4.],
           [4., 0.]]), array([1., 2.]), 0.0)
    """
    check_model(model)
    w, b, rows = model.weights, model.biases, model.weights.sum(axis=1)
    return 4 * w, 2 * b - 2 * rows, float(model.offset + b.sum() - rows.sum() / 2)


@show_call()
def from_tables(tables: dict[Any, ArrayLike], *, names: Iterable[str] = ()) -> BoltzmannMachine:
    """Return the machine with p(s) proportional to the product of tables of potentials.

    tables   {unit: (2,), (unit, unit): (2, 2)}, positive numbers, off before on; a unit is a number or a name, and
             the first unit of a pair chooses the row.  Tables of the same units are multiplied
    names    of the units, in order; () for the names in the tables, in the order of their first use

        w_ij = log(t11 t00 / (t10 t01)) / 4,    b_i = log(t11 t10 / (t01 t00)) / 4 + log(t1 / t0) / 2

    The offset is such that E = -log(product) at T = 1, so log Z is the log of the sum of all products.
    Raises ValueError for other keys, shapes or numbers: a 0 would be an infinite weight.

    >>> bmlab.from_tables({("rain", "wet"): [[9, 1], [1, 9]], "rain": [3, 1]}).weights[0, 1].round(4)  # log(81) / 4
    np.float64(1.0986)
    """
    if not isinstance(tables, dict) or not tables:
        raise ValueError(f"tables must be a dict, found {describe(tables)}; try {{(0, 1): [[2, 1], [1, 2]]}}")
    scopes = [key if isinstance(key, tuple) else (key,) for key in tables]
    listed = tuple(names) if np.iterable(names) and not isinstance(names, str) else (names,)
    blank = _blank(scopes, check_names(listed, len(listed)))
    biases, offset, entries = np.zeros(blank.n), 0.0, {}
    for scope, table in zip(scopes, tables.values(), strict=True):
        units, logs = blank.indices(list(scope)).tolist(), _logs(scope, table)
        offset -= logs.mean()
        for axis, unit in enumerate(units):
            off, on = np.moveaxis(logs, axis, 0)
            biases[unit] += np.sum(on - off) / logs.size
        if len(units) == 2:
            weight = (logs[1, 1] + logs[0, 0] - logs[1, 0] - logs[0, 1]) / 4
            for pair in (tuple(units), tuple(units[::-1])):
                entries[pair] = entries.get(pair, 0.0) + weight
    row, col = np.array(list(entries), dtype=int).reshape(-1, 2).T
    weights: Any = scipy.sparse.coo_array((np.array(list(entries.values())), (row, col)), shape=(blank.n, blank.n))
    dense = len(entries) > blank.n * (blank.n - 1) / 2 and all(entries.values())  # as in from_dimod()
    return replace(blank, weights=weights.toarray() if dense else weights, biases=biases, offset=offset)


def _blank(scopes, names):
    """Return a machine of the units in the tables, with all weights and biases 0."""
    units = list(dict.fromkeys(unit for scope in scopes for unit in scope))
    named = [unit for unit in units if isinstance(unit, str)]
    wrong = [unit for unit in units if not isinstance(unit, (str, Integral)) or isinstance(unit, bool)]
    sizes = {len(set(scope)) for scope in scopes} | {len(scope) for scope in scopes}
    if wrong or not sizes <= {1, 2} or any(len(set(scope)) < len(scope) for scope in scopes):
        raise ValueError(
            f"tables must have units or pairs of units for keys, found {describe(scopes[0])}; try "
            "{(0, 1): [[2, 1], [1, 2]], 0: [1, 3]}"
        )
    if named and len(named) < len(units) and not names:
        raise ValueError(f"tables must have numbers or names for keys, found both; write {named[0]!r} as a number")
    names = names or tuple(named)
    n = len(names) or 1 + max(map(int, units))
    return BoltzmannMachine(scipy.sparse.csr_array((n, n)), np.zeros(n), names=names)


def _logs(scope, table):
    """Return the logs of a table, (2,) or (2, 2)."""
    table = check_array("tables", table)
    if table.shape != (2,) * len(scope) or not ((table > 0) & (table < np.inf)).all():
        found = describe(table) if table.shape != (2,) * len(scope) else f"{table.min():g} in it"
        raise ValueError(
            f"tables must be positive, {(2,) * len(scope)} for {scope}, found {found}; write a small number, such as "
            "1e-9, for 0"
        )
    return np.log(table)


@show_call()
def to_dimod(model: BoltzmannMachine) -> Any:
    """Return the machine as a dimod.BinaryQuadraticModel (SPIN), without its temperature: dimod has none.

    Raises ModuleNotFoundError, with the command to type, if dimod is missing.

    >>> bmlab.to_dimod(bmlab.toy()).energy([1, 1, 1])
    np.float64(-1.5)
    """
    check_model(model)
    make = import_optional("dimod", "to_dimod()", "dimod").BinaryQuadraticModel.from_numpy_vectors
    upper = scipy.sparse.triu(scipy.sparse.coo_array(model.weights), 1).tocoo()
    labels = list(model.names or range(model.n))
    return make(-model.biases, (upper.row, upper.col, -upper.data), model.offset, "SPIN", variable_order=labels)


@show_call()
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
