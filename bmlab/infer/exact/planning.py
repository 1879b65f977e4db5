"""The cheapest exact road for a machine, and its price before anything is paid.

Parts of a machine that are not coupled to each other are solved apart.  Each part takes the cheapest of

    small tables          all 2^n states in one matrix, between two tables of half the units
    matrix products       3 * 2^n multiply-adds in three products; of more than 33 units in parts, which workers share
    cutset conditioning   2^k states of k units that touch every coupling, the others summed out by hand
    variable elimination  tables of 2^width numbers, one for each unit; of a tree, many units at a time

A prediction is work over the speed of this processor, which is measured once, in a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from time import perf_counter
from typing import NamedTuple

import numpy as np
import scipy

from ...checks import check_choice
from ...couplings import Pattern
from ...model import BoltzmannMachine, check_model
from ...parallel import parts_run_here, worker_count
from ...threads import all_threads, one_thread, thread_count
from .clamped_parts import TABLE_UNITS, held_units
from .cutset_conditioning import COLUMNS, TILE, cutset_of
from .elimination import best_order
from .matrix_products import WIDE_UNITS
from .prices import Part, Plan
from .tree_contraction import contraction_of, is_tree

TABLE_SECONDS = 2e-5  # what a dozen calls of NumPy take
FEW_UNITS = 20  # up to here, or, where weights are not known to be sparse,
UNSEARCHED_UNITS = 26  # up to here matrix products take less time than the search for something cheaper
LISTED_UNITS = 34  # nobody waits for more states than 2^34
WANTED = ("moments", "log_z")
WIDEST = 27  # nor for larger tables
ENTRY = 75  # what an entry of a table costs there and back, in exponentials
SIDE = 512  # of the product whose speed is measured: larger ones are no faster
COLUMN = 8  # and its share of each unit, where all pairs are wanted


def plan(model: BoltzmannMachine, *, pairs: str | None = None, want: str = "moments") -> Plan:
    """Return the cheapest road for exact(model, pairs=pairs, want=want) and its price; nothing is computed yet.

    Its seconds and bytes are those of the workers at hand, its core_seconds those of all of them together.
    Raises ValueError where `pairs` is neither None, "couplings" nor "all", or `want` neither "moments" nor "log_z".

    >>> bmlab.plan(bmlab.ising((20, 20), periodic=False)).method
    'variable elimination'
    >>> bmlab.plan(bmlab.sherrington_kirkpatrick(100, np.random.default_rng(0))).seconds > 1e12
    True
    """
    check_model(model)
    everything = wants_all(model, pairs)
    check_choice("want", want, WANTED)
    if model.n <= (FEW_UNITS if model.is_sparse else UNSEARCHED_UNITS) and model.has_couplings:
        way = Plan((_without_search(np.arange(model.n)),))
    else:
        way = _searched(Pattern(model.weights), everything)
    return Plan(tuple(_of_question(part, want, not model.biases.any()) for part in way.parts))


def _of_question(part, want, even):
    """Return a Part at the price of what is asked: one product of three, half of the pieces without biases, workers."""
    if part.road != "matrix products":
        return part
    share, pieces = (1 / 3 if want == "log_z" else 1), part.pieces
    if pieces > 1:
        share, pieces = (share / 2, pieces / 2) if even else (share, pieces)
        together = min(pieces, worker_count())
        size = part.bytes * (together if parts_run_here() else 1)
        part = part._replace(pieces=pieces, side_by_side=together, bytes=size)
    return part._replace(work=part.work * share, seconds=part.seconds * share)


@lru_cache(maxsize=8)
def _searched(pattern, everything):
    """The plan of a pattern of couplings; learning asks for it again at every step."""
    return Plan(tuple(_cheapest(units, pattern.graph, everything) for units in _components(pattern.graph)))


def wants_all(model: BoltzmannMachine, pairs: str | None) -> bool:
    """Whether correlations of all pairs are asked for; ValueError where `pairs` is no such word."""
    pairs = check_choice("pairs", pairs, (None, "couplings", "all"))
    return pairs == "all" or (pairs is None and not model.is_sparse)


def _components(graph):
    """Groups of units that hang together; the units without couplings make one group."""
    _, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    by_label = np.argsort(label, kind="stable")
    alone = np.diff(graph.indptr)[by_label] == 0
    groups = np.split(by_label[~alone], np.flatnonzero(np.diff(label[by_label[~alone]])) + 1)
    return [g for g in [by_label[alone], *groups] if len(g)]


def _cheapest(units, graph, everything):
    """The cheapest road for one group of units."""
    if graph.indptr[units[0] + 1] == graph.indptr[units[0]]:
        return _independent_units(units, everything)
    if len(units) <= UNSEARCHED_UNITS:
        return _without_search(units)
    own = graph if len(units) == graph.shape[0] else graph[units][:, units]
    if is_tree(own) and not everything:
        return _tree_contraction(units, own)
    roads = [_matrix_products(units), cutset_part(units, own, everything)]
    best = min(filter(None, roads), key=lambda part: part.seconds)
    other = _variable_elimination(units, own, everything, best.seconds)
    return other if other and other.seconds < best.seconds else best


def _without_search(units):
    return _small_tables(units) if len(units) <= TABLE_UNITS else _matrix_products(units)


def _independent_units(units, everything):
    n = len(units)
    pairs = n**2 if everything else 0
    return Part(units, "independent units", None, n, 32.0 * n + 8.0 * pairs, 1e-5 + 1e-8 * n + 3e-9 * pairs)


def _small_tables(units):
    work = 2.0 ** len(units)
    return Part(units, "small tables", None, work, 16 * work, TABLE_SECONDS + work * 8 / speed().exp)


def _tree_contraction(units, graph):
    n = len(units)
    return Part(units, "variable elimination", contraction_of(graph), 2.0 * n - 1, 1000.0 * n, 3e-3 + 9e-7 * n)


def _matrix_products(units):
    n, held = min(len(units), 300), held_units(len(units))  # dear enough, and still a double
    size, pieces = len(units) - held, 2.0 ** min(held, 300)
    work, face = 3 * 2.0**n, 4.0 ** np.ceil(size / 3)
    rates = speed()
    one_product = rates.one if held or size < WIDE_UNITS else rates.many
    seconds = work / one_product + pieces * (3 * face * 4 / rates.exp + 1.2e-4)
    return Part(units, "matrix products", held, work, 8 * 3 * face + 2**26, seconds, pieces)


def in_halves(part: Part, count: int) -> Part:
    """Return a Part in pieces at its price where each piece is halved so often before its products stay in range."""
    size, own = len(part.units) - part.guide, part.seconds / part.pieces
    smallest = _without_search(np.arange(size - count)).seconds
    return part._replace(seconds=part.pieces * (2.0**count * smallest + count * own / 3))


def cutset_part(units: np.ndarray, graph, everything: bool, most: float = LISTED_UNITS) -> Part | None:
    """Return the Part of cutset conditioning, None where the cutset has more than `most` units."""
    cutset = cutset_of(graph, most)
    if cutset is None:
        return None
    n, k = len(units), len(cutset)
    by_state = n * n / 2 if everything else n * k  # multiply-adds
    held = 5 * max(TILE, COLUMNS * n if everything else 0) + k * 2.0**k * max(1, n - k) / TILE
    seconds = 2.0**k * (by_state / speed().one + (n - k + 4) * 8 / speed().exp) + 3e-8 * n**2 + 2e-3
    return Part(units, "cutset conditioning", cutset, 2.0**k * (by_state + n - k), 8 * (2 * n**2 + held), seconds)


def _variable_elimination(units, graph, everything, seconds):
    """Return the Part that eliminates, None where its largest table alone would take more than `seconds`."""
    order = best_order(graph, min(WIDEST, int(np.log2(max(2, seconds * speed().exp / ENTRY)))))
    if order is None:
        return None
    n, entries = len(units), order.entries
    columns = n if everything else 0
    seconds = entries * (ENTRY + columns * COLUMN) / speed().exp + (5e-5 + 1.5e-8 * n if everything else 2e-5) * n
    held = 16 * entries + 8 * columns * (3 * columns + 8 * 2.0**order.width)
    return Part(units, "variable elimination", order, (1 + columns) * entries, held, seconds)


class _Speed(NamedTuple):
    one: float  # multiply-adds a second in a matrix product on one thread
    many: float  # and on all that there are
    exp: float  # exponentials a second on one thread, in cache


def speed() -> _Speed:
    """Return the speeds of this processor, with the threads that a product gets here."""
    return _measured(thread_count())


@lru_cache(maxsize=4)
def _measured(threads):
    a, x = np.ones((SIDE, SIDE)), np.linspace(-1, 0, 2**14)
    with one_thread():
        one = many = SIDE**3 / _seconds(lambda: a @ a)
        exp = len(x) / _seconds(lambda: np.exp(x))
    if threads > 1:
        with all_threads():
            many = SIDE**3 / _seconds(lambda: a @ a)
    return _Speed(one, many, exp)


def _seconds(call: Callable[[], object]) -> float:
    """The shorter of two timings after one to warm up."""
    times = []
    for _ in range(3):
        begin = perf_counter()
        call()
        times.append(perf_counter() - begin)
    return min(times[1:])
