"""The cheapest exact road for a machine, and its price before anything is paid.

Parts of a machine that are not coupled to each other are solved apart.  Each part takes the cheapest of

    two tables       all 2^n states in one matrix, between two tables of half the units
    three products   3 * 2^n multiply-adds in three matrix products; knows every pair
    listed side      2^k states of k units that touch every coupling, the others summed out by hand
    elimination      tables of 2^width numbers, one for each unit

A prediction is work over speed.  The speeds of this processor, of a matrix product and of an exponential, are
measured once, in a few milliseconds, when a plan first needs them.
"""

import os
from functools import lru_cache
from time import perf_counter
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...model import BoltzmannMachine
from ...threads import all_threads, one_thread, thread_count
from .cutset_conditioning import TILE, cover
from .matrix_products import WIDE_UNITS
from .variable_elimination import best_order

TABLE_UNITS = 13  # up to here the tables are the fastest
TABLE_SECONDS = 2e-5  # what a dozen calls of NumPy take
FEW_UNITS = 20  # up to here, or, where weights are not known to be sparse,
UNSEARCHED_UNITS = 26  # up to here three products take less time than the search for something cheaper
LISTED_UNITS = 34  # nobody waits for more states than 2^34
WIDEST = 27  # nor for larger tables
ENTRY = 75  # what an entry of a table costs there and back, in exponentials


class Part(NamedTuple):
    """Hold the road for some units: its name, what it needs to know, and what it costs."""

    units: np.ndarray
    road: str
    guide: object
    work: float
    bytes: float
    seconds: float


class Plan(NamedTuple):
    """Hold how exact() would answer: parts, multiply-adds or table entries, bytes at once, predicted seconds."""

    parts: tuple
    work: float
    bytes: float
    seconds: float

    @property
    def method(self) -> str:
        """The roads taken, each named once, the dearest first."""
        return ", ".join(dict.fromkeys(part.road for part in sorted(self.parts, key=lambda p: -p.seconds)))

    def __str__(self):
        apart = f" in {len(self.parts)} parts" if len(self.parts) > 1 else ""
        return (
            f"{self.method}{apart}: {self.work:.2g} operations, {size_in_words(self.bytes)}, "
            f"about {time_in_words(self.seconds)}"
        )


def plan(model: BoltzmannMachine, *, pairs: str = "couplings") -> Plan:
    """Return the cheapest road for exact(model, pairs=pairs) and its price; nothing is computed yet.

    Raises ValueError where `pairs` is neither "couplings" nor "all".
    """
    check_pairs(pairs)
    if model.n <= (FEW_UNITS if model.is_sparse else UNSEARCHED_UNITS) and model.has_couplings:
        return together([_without_search(np.arange(model.n))])
    graph = pattern(model.weights)
    return together(_cheapest(units, graph, pairs) for units in _components(graph))


def together(parts) -> Plan:
    """Return the plan of solving these parts one after the other."""
    parts = tuple(parts)
    return Plan(
        parts,
        sum(p.work for p in parts),
        max((p.bytes for p in parts), default=0.0),
        float(sum(p.seconds for p in parts)),
    )


def check_pairs(pairs):
    """Raise ValueError where `pairs` is neither "couplings" nor "all"."""
    if pairs not in ("couplings", "all"):
        raise ValueError(f"pairs must be 'couplings' or 'all', found {pairs!r}")


def _components(graph):
    """Groups of units that hang together; the units without couplings make one group."""
    _, label = sparse.csgraph.connected_components(graph, directed=False)
    by_label = np.argsort(label, kind="stable")
    alone = np.diff(graph.indptr)[by_label] == 0
    groups = np.split(by_label[~alone], np.flatnonzero(np.diff(label[by_label[~alone]])) + 1)
    return [g for g in [by_label[alone], *groups] if len(g)]


def pattern(weights):
    """Who is coupled to whom, as a CSR array of ones: non-zero dense weights, or stored sparse ones."""
    graph = sparse.csr_array(weights)
    return sparse.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)


def _cheapest(units, graph, pairs):
    """The cheapest road for one group of units."""
    if graph.indptr[units[0] + 1] == graph.indptr[units[0]]:
        return Part(units, "independent units", None, len(units), 32.0 * len(units), 1e-5 + 1e-8 * len(units))
    if len(units) <= UNSEARCHED_UNITS:
        return _without_search(units)
    own = graph[units][:, units]
    best = min(filter(None, [_three_products(units), listed_side(units, own, pairs)]), key=lambda part: part.seconds)
    other = _elimination(units, own, pairs, best.seconds)
    return other if other and other.seconds < best.seconds else best


def _without_search(units):
    return _two_tables(units) if len(units) <= TABLE_UNITS else _three_products(units)


# --- prices --------------------------------------------------------------------------------------------------------


def _two_tables(units):
    work = 2.0 ** len(units)
    return Part(units, "two tables", None, work, 16 * work, TABLE_SECONDS + work * 8 / _speed().exp)


def _three_products(units):
    n = min(len(units), 300)  # dear enough, and still a double
    work, face = 3 * 2.0**n, 4.0 ** np.ceil(n / 3)
    return Part(
        units,
        "three products",
        None,
        work,
        8 * 3 * face + 2**26,
        work / _speed().product(n) + 3 * face * 4 / _speed().exp + 1.2e-4,
    )


def listed_side(units, graph, pairs, most=LISTED_UNITS):
    """Return the Part that lists a cover, None where that has more than `most` units."""
    listed = cover(graph, most)
    if listed is None:
        return None
    n, k = len(units), len(listed)
    rows = n if pairs == "all" else k
    work = 2.0**k * (rows * n + n - k)
    size = 8 * (n**2 + 5 * TILE + k * 2.0**k * max(1, n - k) / TILE)  # the last: states of the outer units
    return Part(
        units,
        "listed side",
        listed,
        work,
        size,
        2.0**k * (rows * n / _speed().one + (n - k + 4) * 8 / _speed().exp) + 3e-8 * n**2 + 2e-3,
    )


def _elimination(units, graph, pairs, seconds):
    """Return the Part that eliminates, None where its largest table alone would take more than `seconds`."""
    order = best_order(graph, min(WIDEST, int(np.log2(max(2, seconds * _speed().exp / ENTRY)))))
    if order is None:
        return None
    n, times = len(units), 1 + (len(units) if pairs == "all" else 0)
    return Part(
        units,
        "elimination",
        order,
        times * order.entries,
        16 * order.entries,
        times * (order.entries * ENTRY / _speed().exp + 2e-5 * n),
    )


class _Speed(NamedTuple):
    one: float  # multiply-adds a second in a matrix product on one thread
    many: float  # and on all that there are
    exp: float  # exponentials a second on one thread, in cache

    def product(self, n):
        return self.many if n >= WIDE_UNITS else self.one


def _speed():
    return _measured(thread_count())


@lru_cache(maxsize=4)
def _measured(threads):
    """Measure the speeds where a wide product gets so many threads; who asks may hold one thread."""
    a, x = np.ones((1024, 1024)), np.linspace(-1, 0, 2**14)
    with one_thread():
        one = many = 1024**3 / _seconds(lambda: a @ a)
        exp = len(x) / _seconds(lambda: np.exp(x))
    if threads > 1:
        with all_threads():
            many = 1024**3 / _seconds(lambda: a @ a)
    return _Speed(one, many, exp)


def _seconds(call):
    """The shorter of two timings after one to warm up."""
    call()
    times = []
    for _ in range(2):
        begin = perf_counter()
        call()
        times.append(perf_counter() - begin)
    return min(times)


def memory_to_spend() -> float:
    """Half of the machine's memory in bytes; 8 GiB where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2
    except (AttributeError, ValueError, OSError):
        return 8.0 * 2**30


def time_in_words(seconds) -> str:
    """Return a duration as a person would say it."""
    for unit, size in (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{1000 * seconds:.3g} ms"


def size_in_words(size) -> str:
    """Return a number of bytes as a person would say it."""
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20)):
        if size >= scale / 10:
            return f"{size / scale:,.3g} {unit}"
    return f"{size / 2**10:.2g} KiB"
