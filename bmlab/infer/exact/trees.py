"""Sum-product on a tree: two passes, from leaves to root and back, each unit once; elimination of width 1.

With J = W/T, unit i summed out given its parent p leaves a field u_i on p:

    sum_{s_i} exp(s_i (h_i + J s_p)) = A_i exp(u_i s_p),     h_i = b_i/T + sum of the u of its children
    u_i = atanh(tanh J tanh h_i),                            A_i^2 = 4 cosh(h_i + J) cosh(h_i - J)

Log Z is log 2 cosh(h) of the root plus the sum of all log A.  On the way back the total field H of each unit follows
from its parent's; without their coupling a unit and its parent have the fields h_i and g = H_p - u_i, so

    H_i = h_i + atanh(tanh J tanh g),     <s_i> = tanh H_i,     <s_i s_p> = tanh(J + atanh(tanh h_i tanh g)).

Pearl (1988), Probabilistic Reasoning in Intelligent Systems, section 4.2.  The code uses Python's floats: a chain must
be solved one unit after the other, and for single numbers they are twenty times as fast as NumPy's.
"""

from __future__ import annotations

from math import exp, log1p

import numpy as np
import scipy

from ...checking.arrays import combined_field, log_2cosh
from ...model import BoltzmannMachine
from .elimination import Order


def tree_order(graph: scipy.sparse.csr_array) -> Order | None:
    """Return the order of a connected tree, leaves first, each unit's scope its parent; None for other graphs."""
    n = graph.shape[0]
    if graph.nnz != 2 * (n - 1):
        return None
    line, parent = scipy.sparse.csgraph.breadth_first_order(graph, 0, directed=False)
    if len(line) < n:
        return None
    parents = [[p] for p in parent[line].tolist()]
    return Order(line[::-1].tolist(), [*parents[:0:-1], []])


def sum_by_tree(model: BoltzmannMachine, order: Order) -> tuple[float, np.ndarray, scipy.sparse.csr_array]:
    """Return (log Z without the offset, means (n,), <s_i s_p> on the couplings, a sparse array without diagonal)."""
    units = np.array(order.units)
    parents = np.array([scope[0] for scope in order.scopes[:-1]], int)
    children, root = units[:-1], units[-1]
    j = np.asarray(scipy.sparse.csr_array(model.weights)[children, parents]).ravel() / model.temperature
    h, u = model.biases / model.temperature, np.zeros(model.n)
    below, messages = h.tolist(), u.tolist()
    steps = list(zip(children.tolist(), parents.tolist(), j.tolist(), strict=True))
    for i, p, coupling in steps:
        messages[i] = _combined(coupling, below[i])
        below[p] += messages[i]
    whole = below.copy()
    for i, p, coupling in reversed(steps):
        whole[i] = below[i] + _combined(coupling, whole[p] - messages[i])
    h, u, total = np.array(below), np.array(messages), np.array(whole)
    log_a = (log_2cosh(h[children] + j) + log_2cosh(h[children] - j)) / 2
    corr = np.tanh(j + combined_field(h[children], total[parents] - u[children]))
    pairs = scipy.sparse.coo_array((corr, (children, parents)), shape=(model.n, model.n))
    return float(log_a.sum() + log_2cosh(h[root])), np.tanh(total), (pairs + pairs.T).tocsr()


def _combined(x, y):
    """combined_field() of two numbers."""
    plus, minus = abs(x + y), abs(x - y)
    return (plus - minus + log1p(exp(-2 * plus)) - log1p(exp(-2 * minus))) / 2
