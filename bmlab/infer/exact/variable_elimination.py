"""Exact answers for machines with few couplings: sum out one unit after the other.

Unit v, when its turn comes, still hangs together with a few others, its scope N(v).  Summing it out leaves a table
over them, the message

    tau_v(N) = log sum_{s_v = -1, +1} exp( s_v (b_v + sum_u w_vu s_u) / T + messages that v's neighbours left for it )

and v passes its neighbours on to each other.  What is left at the end is log Z.  On the way back every unit is
handed to the ones before it: p(s_v = +1 | N(v)) is known from the way out, so the table of v's own group follows
from its parent's, and with it <s_v> and <s_v s_u> on each coupling.  The cost is 2^width, the width being the
largest scope; all tables are logarithms, so no temperature is too low.

Bertele and Brioschi (1972), Nonserial Dynamic Programming; Dechter (1999), Artificial Intelligence 113, 41; the
order by least fill: Rose (1973).  For lattices this is the transfer matrix, one site at a time.
"""

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from ...progress_bars import watched

SIGNS = np.array([-1.0, 1.0])


class Order(NamedTuple):
    """Hold an order of elimination: the units, and for each the scope it leaves, sorted by that order."""

    units: list
    scopes: list

    @property
    def width(self) -> int:
        """The largest scope: the largest table has 2^(width + 1) numbers."""
        return max(map(len, self.scopes), default=0)

    @property
    def entries(self) -> float:
        """Numbers in all messages together."""
        return float(sum(2.0 ** len(scope) for scope in self.scopes))


def best_order(weights, widest: int = 26) -> Order | None:
    """Return the cheaper of two orders, least fill and reverse Cuthill-McKee; None where both pass `widest`."""
    graph = sparse.csr_array(weights, copy=True)
    graph.eliminate_zeros()
    along_the_band = sparse.csgraph.reverse_cuthill_mckee(graph, symmetric_mode=True).tolist()
    orders = [_follow(graph, _least_fill, widest), _follow(graph, lambda *_: iter(along_the_band), widest)]
    return min((order for order in orders if order), key=lambda order: order.entries, default=None)


def _follow(graph, choose, widest):
    """Eliminate in the order that `choose` yields: who leaves joins all it hung together with."""
    around = [set(graph.indices[a:b].tolist()) for a, b in zip(graph.indptr, graph.indptr[1:])]
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
    place = dict(zip(units, range(len(units))))
    return Order(units, [sorted(scope, key=place.get) for scope in scopes])


def _least_fill(around, widest):
    """Yield next the unit that would join the fewest strangers; a price that has risen meanwhile is queued again."""
    queue, gone = [(_fill(around, v, widest), v) for v in range(len(around))], set()
    heapify(queue)
    while queue:
        price, v = heappop(queue)
        now = _fill(around, v, widest) if v not in gone else -1
        if now > price:
            heappush(queue, (now, v))
        elif v not in gone:
            gone.add(v)
            scope = list(around[v])
            yield v
            for u in scope:
                heappush(queue, (_fill(around, u, widest), u))


def _fill(around, v, widest):
    """How many pairs of v's neighbours are strangers to each other; infinite where they are too many to go on."""
    scope = around[v]
    if len(scope) > widest:
        return np.inf
    return sum(len(scope) - 1 - len(scope & around[u]) for u in scope) // 2


# --- there ---------------------------------------------------------------------------------------------------------


def eliminate(model, order: Order):
    """Return (log Z without the offset, odds): for each unit in order a table log p(s_v = +1 | N(v)) / p(-1 | N(v))."""
    rows = sparse.csr_array(model.weights)
    place = dict(zip(order.units, range(model.n)))
    inbox = [[] for _ in order.units]
    log_z, odds = 0.0, []
    for k, (v, scope) in enumerate(watched(zip(order.units, order.scopes), "unit", model.n)):
        up = _field(rows, model.biases[v], v, scope) / model.temperature
        down = -up
        for message, its_scope in inbox[k]:
            seen = _spread(message, [v, *scope], its_scope)
            down, up = down + seen[0], up + seen[1]
        inbox[k] = None
        odds.append(up - down)
        message = np.logaddexp(down, up)
        if scope:
            inbox[place[scope[0]]].append((message, scope))
        else:
            log_z += float(message)
    return log_z, odds


def _field(rows, bias, v, scope):
    """b_v + sum_u w_vu s_u as a table over the scope; units that are gone by now speak through their messages."""
    here = slice(rows.indptr[v], rows.indptr[v + 1])
    coupled = dict(zip(rows.indices[here].tolist(), rows.data[here].tolist()))
    table = np.array(bias)
    for u in reversed(scope):
        table = np.add.outer(coupled[u] * SIGNS, table) if u in coupled else np.broadcast_to(table, (2, *table.shape))
    return table


def _spread(table, wide, narrow):
    """View a table over `narrow` as one over `wide`; both run in the order of elimination."""
    narrow = set(narrow)
    return table.reshape([2 if u in narrow else 1 for u in wide])


# --- and back ------------------------------------------------------------------------------------------------------


def hand_back(order: Order, odds):
    """Yield (v, scope, table): the probabilities of v and its scope, (2, 2, ...), v first; last unit first."""
    place = dict(zip(order.units, range(len(order.units))))
    waiting = np.bincount([place[scope[0]] for scope in order.scopes if scope], minlength=len(order.units))
    tables = {}
    for k in reversed(range(len(order.units))):
        v, scope = order.units[k], order.scopes[k]
        around = 1.0
        if scope:
            parent = place[scope[0]]
            around = _marginal(tables[parent], [scope[0], *order.scopes[parent]], scope)
            waiting[parent] -= 1
            if not waiting[parent]:
                del tables[parent]
        table = np.stack([expit(-odds[k]) * around, expit(odds[k]) * around])
        if waiting[k]:
            tables[k] = table
        yield v, scope, table


def _marginal(table, wide, narrow):
    narrow = set(narrow)
    return table.sum(tuple(axis for axis, u in enumerate(wide) if u not in narrow))


def moments(model, order: Order, odds):
    """Return means (n,) and <s_v s_u> on the couplings, as a sparse array without diagonal."""
    graph = sparse.csr_array(model.weights)
    mean, found = np.empty(model.n), []
    coupled = [set(graph.indices[a:b].tolist()) for a, b in zip(graph.indptr, graph.indptr[1:])]
    for v, scope, table in hand_back(order, odds):
        net = table[1] - table[0]
        mean[v] = net.sum()
        found += [(v, u, _signed_sum(net, axis)) for axis, u in enumerate(scope) if u in coupled[v]]
    row, col, value = (np.array(column) for column in zip(*found)) if found else (np.zeros(0, int),) * 3
    pairs = sparse.coo_array((value, (row, col)), shape=graph.shape)
    return mean, (pairs + pairs.T).tocsr()


def _signed_sum(table, axis):
    """Sum over the table times the sign of the unit on one axis."""
    halves = table.reshape(2**axis, 2, -1).sum((0, 2))
    return float(halves[1] - halves[0])


def all_pairs(model, order: Order, mean):
    """Return <s_i s_j> of all pairs (n, n): clamp each unit once to its likelier value and eliminate again.

    With p = p(s_i = x) and m' the means given s_i = x:  <s_i s_j> = x (2 p m'_j - m_j).
    """
    corr = np.ones((model.n, model.n))
    for i in range(model.n):
        x = 1.0 if mean[i] >= 0 else -1.0
        given, rest = model.clamp([i], [x]), _without(order, i)
        mean_given, _ = moments(given, rest, eliminate(given, rest)[1])
        others = np.arange(model.n) != i
        corr[i, others] = x * ((1 + x * mean[i]) * mean_given - mean[others])
    return (corr + corr.T) / 2


def _without(order, i):
    """The same order for the machine in which unit i is clamped, its units numbered anew."""
    kept = [(v, scope) for v, scope in zip(order.units, order.scopes) if v != i]
    return Order([v - (v > i) for v, _ in kept], [[u - (u > i) for u in scope if u != i] for _, scope in kept])


def draw(order: Order, odds, size, rng):
    """Return independent states (size, n): each unit drawn given its scope, last unit first."""
    s = np.empty((size, len(order.units)))
    for v, scope, table in zip(reversed(order.units), reversed(order.scopes), reversed(odds)):
        given = tuple((s[:, scope] > 0).astype(int).T)
        s[:, v] = np.where(rng.random(size) < expit(table[given]), 1.0, -1.0)
    return s
