"""Variable elimination (bucket elimination, min-fill, junction tree): sum out one unit after the other.

When unit v is summed out, it is still connected to a few other units, its scope N(v).  The result is a table over them,
the message

    tau_v(N) = log sum_{s_v = -1, +1} exp( s_v (b_v + sum_u w_vu s_u) / T + messages to v of units summed out before )

and v's neighbours become neighbours of each other.  After the last unit, log Z is left.  A backward pass, last unit
first, finds the probabilities of v and its scope (its group): p(s_v = +1 | N(v)) is known from the first pass, so they
follow from those of its parent, and with them <s_v> and <s_v s_u> on each coupling.  For all pairs a third pass, first
unit first, collects the means of the units below v given its group; two of them that come from different neighbours are
independent given the group, so

    <s_i s_j> = sum_group p(group) <s_i | group> <s_j | group>      for all pairs.

The cost is 2^width, the width being the largest scope (of the best order it is the treewidth); all messages are
logarithms, so no temperature is too low.

Dechter (1999), Artificial Intelligence 113, 41.  For lattices this is the transfer matrix, one site at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy

from ...checking.arrays import no_such_attribute
from ...checking.validation import summary
from ...model import BoltzmannMachine
from ...running.progress_bars import with_progress

SIGNS = np.array([-1.0, 1.0])


class Order(NamedTuple):
    """An order of elimination: the units, and the scope of each, sorted by that order."""

    units: list[int]
    scopes: list[list[int]]

    __repr__ = summary
    __getattr__ = no_such_attribute

    @property
    def width(self) -> int:
        """The size of the largest scope, at least the treewidth: the largest table has 2^(width + 1) numbers."""
        return max(map(len, self.scopes), default=0)

    @property
    def table_size(self) -> float:
        """Numbers in all messages together."""
        return float(sum(2.0 ** len(scope) for scope in self.scopes))


def best_order(weights, widest: int = 26) -> Order | None:
    """Return the cheaper of two orders, least fill and reverse Cuthill-McKee; None if both are wider than `widest`."""
    graph = scipy.sparse.csr_array(weights, copy=True)
    graph.eliminate_zeros()
    if graph.nnz and np.diff(graph.indptr).min() > widest:  # even the first unit has a larger scope
        return None
    along_the_band = scipy.sparse.csgraph.reverse_cuthill_mckee(graph, symmetric_mode=True).tolist()
    orders = [_eliminate_in(graph, _min_fill, widest), _eliminate_in(graph, lambda *_: iter(along_the_band), widest)]
    return min((order for order in orders if order), key=lambda order: order.table_size, default=None)


def _eliminate_in(graph, choose, widest):
    """Eliminate in the order that `choose` yields; the neighbours of an eliminated unit become coupled."""
    around = [set(graph.indices[a:b].tolist()) for a, b in pairwise(graph.indptr)]
    units, scopes = [], []
    for v in choose(around, widest):
        scope = around[v]
        if len(scope) > widest:
            return None
        for u in scope:
            around[u] |= scope
            around[u] -= {u, v}
        units.append(v)
        scopes.append(scope)
    place = {v: k for k, v in enumerate(units)}
    return Order(units, [sorted(scope, key=place.__getitem__) for scope in scopes])


def _min_fill(around, widest):
    """Yield next the unit that adds the fewest couplings; if its number has risen meanwhile, it is queued again."""
    queue, eliminated = [(_fill(around, v, widest), v) for v in range(len(around))], set()
    heapify(queue)
    while queue:
        price, v = heappop(queue)
        now = _fill(around, v, widest) if v not in eliminated else -1
        if now > price:
            heappush(queue, (now, v))
        elif v not in eliminated:
            eliminated.add(v)
            scope = list(around[v])
            yield v
            for u in scope:
                heappush(queue, (_fill(around, u, widest), u))


def _fill(around, v, widest):
    """Number of pairs of v's neighbours that are not coupled; infinite if v has more than `widest` neighbours."""
    scope = around[v]
    if len(scope) > widest:
        return np.inf
    return sum(len(scope) - 1 - len(scope & around[u]) for u in scope) // 2


def eliminate(model: BoltzmannMachine, order: Order) -> tuple[float, list[np.ndarray]]:
    """Return (log Z without the offset, odds): for each unit in order a table log p(s_v = +1 | N(v)) / p(-1 | N(v))."""
    rows = scipy.sparse.csr_array(model.weights)
    place = {v: k for k, v in enumerate(order.units)}
    inbox = [[] for _ in order.units]
    log_z, odds = 0.0, []
    for k, (v, scope) in enumerate(with_progress(zip(order.units, order.scopes, strict=True), "unit", model.n)):
        up = _field(rows, model.biases[v], v, scope) / model.temperature
        down = -up
        for message, its_scope in inbox[k]:
            seen = _spread(message, [v, *scope], its_scope)[0]
            down, up = down + seen[0], up + seen[1]
        inbox[k] = []
        odds.append(up - down)
        message = np.logaddexp(down, up)
        if scope:
            inbox[place[scope[0]]].append((message, scope))
        else:
            log_z += float(message)
    return log_z, odds


def _field(rows, bias, v, scope):
    """b_v + sum_u w_vu s_u as a table over the scope; eliminated units are in the messages."""
    here = slice(rows.indptr[v], rows.indptr[v + 1])
    coupled = dict(zip(rows.indices[here].tolist(), rows.data[here].tolist(), strict=True))
    table = np.array(bias)
    for u in reversed(scope):
        table = np.add.outer(coupled[u] * SIGNS, table) if u in coupled else np.broadcast_to(table, (2, *table.shape))
    return table


def _spread(table, wide, narrow):
    """View a table over `narrow` (its last axes) as a table over `wide`; both are in the order of elimination."""
    narrow = set(narrow)
    return table.reshape(-1, *(2 if u in narrow else 1 for u in wide))


def backward_pass(order: Order, odds: list[np.ndarray]) -> Iterator[tuple[int, list[int], np.ndarray]]:
    """Yield (v, scope, table): the probabilities of v and its scope, (2, 2, ...), v first; last unit first."""
    place = {v: k for k, v in enumerate(order.units)}
    waiting = np.bincount([place[scope[0]] for scope in order.scopes if scope], minlength=len(place))
    tables = {}
    for k in reversed(range(len(place))):
        v, scope = order.units[k], order.scopes[k]
        around = 1.0
        if scope:
            parent = place[scope[0]]
            around = _marginal(tables[parent], [scope[0], *order.scopes[parent]], scope)
            waiting[parent] -= 1
            if not waiting[parent]:
                del tables[parent]
        table = np.stack([scipy.special.expit(-odds[k]) * around, scipy.special.expit(odds[k]) * around])
        if waiting[k]:
            tables[k] = table
        yield v, scope, table


def _marginal(table, wide, narrow):
    narrow = set(narrow)
    return table.sum(tuple(axis for axis, u in enumerate(wide) if u not in narrow))


def moments(model: BoltzmannMachine, order: Order, odds: list[np.ndarray]) -> tuple[np.ndarray, scipy.sparse.csr_array]:
    """Return means (n,) and <s_v s_u> on the couplings, as a sparse array without diagonal."""
    graph = scipy.sparse.csr_array(model.weights)
    mean, found = np.empty(model.n), []
    coupled = [set(graph.indices[a:b].tolist()) for a, b in pairwise(graph.indptr)]
    for v, scope, table in backward_pass(order, odds):
        net = table[1] - table[0]
        mean[v] = net.sum()
        found += [(v, u, _signed_sum(net, axis)) for axis, u in enumerate(scope) if u in coupled[v]]
    row, col, value = (np.array(column) for column in zip(*found, strict=True)) if found else (np.zeros(0, int),) * 3
    pairs = scipy.sparse.coo_array((value, (row, col)), shape=graph.shape)
    return mean, (pairs + pairs.T).tocsr()


def _signed_sum(table, axis):
    """Sum over the table times the sign of the unit on one axis."""
    minus, plus = table.reshape(2**axis, 2, -1).sum((0, 2))
    return float(plus - minus)


def all_pairs(order: Order, odds: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return means (n,) and <s_i s_j> of all pairs (n, n), with ones on the diagonal."""
    place, tables = {v: k for k, v in enumerate(order.units)}, {v: table for v, _, table in backward_pass(order, odds)}
    mean = np.array([tables[v][1].sum() - tables[v][0].sum() for v in sorted(place)])
    corr, inbox = np.outer(mean, mean), [[] for _ in place]  # components are independent
    for k, (v, scope) in enumerate(zip(order.units, order.scopes, strict=True)):
        p = tables.pop(v).ravel()
        below, given = np.array([v]), np.repeat(SIGNS, len(p) // 2)[None]  # their means given v and its scope
        for units, means, its_scope in inbox[k]:
            means = np.broadcast_to(_spread(means, [v, *scope], its_scope), (len(units), *[2] * (1 + len(scope))))
            means = means.reshape(len(units), -1)
            found = (given * p) @ means.T
            corr[np.ix_(below, units)], corr[np.ix_(units, below)] = found, found.T
            below, given = np.append(below, units), np.vstack([given, means])
        inbox[k] = []
        if scope:
            down, up = np.split(given, 2, axis=1)
            inbox[place[scope[0]]].append(
                (below, down * scipy.special.expit(-odds[k].ravel()) + up * scipy.special.expit(odds[k].ravel()), scope)
            )
    np.fill_diagonal(corr, 1.0)
    return mean, corr


def draw(order: Order, odds: list[np.ndarray], size: int, rng: np.random.Generator) -> np.ndarray:
    """Return independent states (size, n): each unit drawn given its scope, last unit first."""
    s = np.empty((size, len(order.units)))
    for v, scope, table in zip(reversed(order.units), reversed(order.scopes), reversed(odds), strict=True):
        given = tuple((s[:, scope] > 0).astype(int).T)
        s[:, v] = np.where(rng.random(size) < scipy.special.expit(table[given]), 1.0, -1.0)
    return s
