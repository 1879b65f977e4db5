"""Cost model of exact inference: the cheapest algorithm for a machine, with its time and memory, before it runs.

Components of a machine are not coupled to each other and are solved apart.  Each takes the cheapest of

    small tables          all 2^n states in one matrix, between two tables of half the units
    matrix products       3 * 2^n multiply-adds in three products; of more than 33 units in slices, which workers share
    lowest states         in its place where it is too cold for products: the states that are not lost beside the lowest
    cutset conditioning   2^k states of k units that touch every coupling, the others summed out by hand
    variable elimination  tables of 2^width numbers, one for each unit

Seconds are work over the speed of one reference machine, so that the choice is the same everywhere.  A refusal goes by
the workers at hand, which divide the slices, and by the memory here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy

from ...checking.arrays import no_such_attribute, sealed
from ...checking.budgets import LONGEST, count_in_words, memory_to_spend, size_in_words, time_in_words
from ...checking.calls import show_call
from ...checking.validation import check_choice, summary
from ...model import BoltzmannMachine, check_model
from ...running.parallel import tasks_run_here, worker_count
from ...running.sparsity import Pattern
from .cutset_conditioning import CUTSET_TILE, MIN_TILE_STATES, cutset_of
from .elimination import best_order
from .matrix_products import TABLE_UNITS, WIDE_UNITS, conditioned_units, listed_in_the_cold
from .trees import tree_order

# The reference machine, of two cores (2026): multiply-adds a second in a matrix product by one core and by both,
# and exponentials a second by one.
ONE_CORE, TWO_CORES, EXPONENTIALS = 2e10, 3.5e10, 1e9
TABLE_SECONDS = 2e-5  # what a dozen calls of NumPy take
FEW_UNITS = 20  # up to here matrix products take less time than a search for something cheaper
UNSEARCHED_UNITS = 26  # the same, where weights are not known to be sparse
LISTED_UNITS = 300  # of a cutset that is priced, at most: expensive enough, and 2^300 still a double
MAX_TREEWIDTH = 27  # units of a table, at most: 2^27 numbers are a GiB
BOUND_COST = 25  # of a pair of states of two groups that is looked at in the cold, in exponentials
LISTED_COST = 7  # of a state that is listed in the cold, in exponentials
TABLE_ENTRY_COST = 75  # of an entry in both passes, in exponentials
TABLE_COLUMN_COST = 8  # of an entry for each unit, where all pairs are wanted, in exponentials
WANT_CHOICES = ("moments", "log_z")


class Component(NamedTuple):
    """The algorithm for some units: its name, what it works on (`structure`), and what it costs.

    bytes    that are needed at once in one process
    seconds  for all slices one after the other, of which so many are done `side_by_side`: of one core; of both, for
             one product of 26 to 33 units
    """

    units: np.ndarray
    algorithm: str
    structure: Any
    work: float
    bytes: float
    seconds: float
    slices: float = 1
    side_by_side: float = 1

    __repr__ = summary
    __getattr__ = no_such_attribute


class Plan(NamedTuple):
    """How exact() would answer: its components, solved one after the other.

    >>> bmlab.exact_plan(bmlab.toy()).method
    'small tables'
    """

    components: tuple[Component, ...]

    @property
    def work(self) -> float:
        """Multiply-adds, or entries of tables."""
        return sum(component.work for component in self.components)

    @property
    def bytes(self) -> float:
        """What is needed at once, here or, where there are workers, by one of them."""
        return float(max((component.bytes for component in self.components), default=0.0))

    @property
    def seconds(self) -> float:
        """The predicted time on the reference machine, with as many workers as were at hand."""
        return float(sum(component.seconds / component.side_by_side for component in self.components))

    @property
    def core_seconds(self) -> float:
        """What all workers spend together."""
        return float(sum(component.seconds for component in self.components))

    @property
    def method(self) -> str:
        """The algorithms taken, each named once, the most expensive first."""
        return ", ".join(
            dict.fromkeys(component.algorithm for component in sorted(self.components, key=lambda p: -p.seconds))
        )

    @property
    def time(self) -> str:
        """The predicted time in words, with the number of workers if these share it."""
        count = max((component.side_by_side for component in self.components), default=1)
        return time_in_words(self.seconds) + (f" on {count:g} workers" if count > 1 and self.seconds < LONGEST else "")

    __getattr__ = no_such_attribute

    def __repr__(self):
        return f"Plan({self})"

    def __str__(self):
        apart = f" in {len(self.components)} components" if len(self.components) > 1 else ""
        slices = max((component.slices for component in self.components), default=1)
        of_one_core = ""
        if slices > 1:
            apart, of_one_core = (
                f"{apart}, {count_in_words(slices, ',.6g')} slices",
                f", {time_in_words(self.core_seconds)} of a core",
            )
        size = size_in_words(self.bytes)
        return f"{self.method}{apart}: {count_in_words(self.work)} operations, {size}, about {self.time}{of_one_core}"


@show_call()
def exact_plan(model: BoltzmannMachine, *, pairs: str | None = None, want: str = "moments") -> Plan:
    """Return the cheapest algorithm for exact(model, pairs=pairs, want=want) and its price; nothing is computed yet.

    Its seconds are those of one reference machine of two cores, with the workers at hand; core_seconds of them all.
    Raises ValueError where `pairs` is neither None, "couplings" nor "all", or `want` neither "moments" nor "log_z".

    >>> bmlab.exact_plan(bmlab.ising((20, 20), periodic=False)).method
    'variable elimination'
    >>> bmlab.exact_plan(bmlab.sherrington_kirkpatrick(100, rng=np.random.default_rng(0))).seconds > 1e12
    True
    """
    check_model(model)
    moments = check_choice("want", want, WANT_CHOICES) == "moments"
    all_pairs = wants_all(model, pairs) and moments
    if model.n <= (FEW_UNITS if model.is_sparse else UNSEARCHED_UNITS) and model.has_couplings:
        found = sealed(Plan((_without_search(np.arange(model.n)),)))
    else:
        found = _searched(Pattern(model.weights), all_pairs)
    return Plan(
        tuple(_priced(_in_range(component, model), moments, not model.biases.any()) for component in found.components)
    )


def _in_range(component, model):
    """Return a Component; by its lowest states if products would leave the range of a double, at their price."""
    if component.algorithm != "matrix products":
        return component
    count = listed_in_the_cold(component_of(model, component.units), component.structure)
    if count is None:
        return component
    size = len(component.units) - component.structure
    pairs, across = 2.0 ** (size - size // 3), 2.0 ** (size // 3)
    work = pairs + count * across
    seconds = 1e-3 + (BOUND_COST * pairs + LISTED_COST * count * across) / EXPONENTIALS
    return component._replace(
        algorithm="lowest states",
        work=component.slices * work,
        seconds=component.slices * seconds,
        bytes=component.bytes + 16 * pairs + 48 * count,
    )


def component_of(model: BoltzmannMachine, units: np.ndarray) -> BoltzmannMachine:
    """Return the machine of some units that are not coupled to the others."""
    if len(units) == model.n:
        return model
    return BoltzmannMachine(model.weights[units][:, units], model.biases[units], model.temperature)


def wants_all(model: BoltzmannMachine, pairs: str | None) -> bool:
    """Whether correlations of all pairs are wanted; ValueError where `pairs` is no such word."""
    pairs = check_choice("pairs", pairs, (None, "couplings", "all"))
    return pairs == "all" or (pairs is None and not model.is_sparse)


def _priced(component, moments, has_no_biases):
    """Return a Component at the price of what is wanted: one product of three, half of the slices without biases."""
    if component.algorithm not in ("matrix products", "lowest states"):
        return component
    fraction = 1 if moments or component.algorithm == "lowest states" else 1 / 3
    slices = component.slices
    if slices > 1:
        fraction, slices = (fraction / 2, slices / 2) if has_no_biases else (fraction, slices)
        together = min(slices, worker_count())
        size = component.bytes * (together if tasks_run_here() else 1)
        component = component._replace(slices=slices, side_by_side=together, bytes=size)
    return component._replace(work=component.work * fraction, seconds=component.seconds * fraction)


@lru_cache(maxsize=8)
def _searched(pattern, all_pairs):
    """The plan of a pattern of couplings; learning needs it again at every step."""
    return sealed(Plan(tuple(_cheapest(units, pattern.graph, all_pairs) for units in _components(pattern.graph))))


def _components(graph):
    """Groups of units that hang together; the units without couplings make one group."""
    _, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    by_label = np.argsort(label, kind="stable")
    alone = np.diff(graph.indptr)[by_label] == 0
    groups = np.split(by_label[~alone], np.flatnonzero(np.diff(label[by_label[~alone]])) + 1)
    return [g for g in [by_label[alone], *groups] if len(g)]


def _cheapest(units, graph, all_pairs):
    """The cheapest algorithm for one group of units."""
    if graph.indptr[units[0] + 1] == graph.indptr[units[0]]:
        n, pairs = len(units), len(units) ** 2 if all_pairs else 0
        return Component(units, "independent units", None, n, 32.0 * n + 8.0 * pairs, 1e-5 + 1e-8 * n + 3e-9 * pairs)
    if len(units) <= UNSEARCHED_UNITS:
        return _without_search(units)
    own = graph if len(units) == graph.shape[0] else graph[units][:, units]
    algorithms = [_matrix_products(units), _cutset(units, own, all_pairs)]
    best = min(filter(None, algorithms), key=lambda component: component.seconds)
    other = _variable_elimination(units, own, all_pairs, best.seconds)
    return other if other and other.seconds < best.seconds else best


def _without_search(units):
    if len(units) > TABLE_UNITS:
        return _matrix_products(units)
    work = 2.0 ** len(units)
    return Component(units, "small tables", None, work, 16 * work, TABLE_SECONDS + work * 8 / EXPONENTIALS)


def _matrix_products(units):
    n, k = min(len(units), 300), conditioned_units(len(units))  # expensive enough, and still a double
    size, slices = len(units) - k, 2.0 ** min(k, 300)
    work, face = 3 * 2.0**n, 4.0 ** np.ceil(size / 3)
    one_product = ONE_CORE if k or size < WIDE_UNITS else TWO_CORES
    seconds = work / one_product + slices * (3 * face * 4 / EXPONENTIALS + 1.2e-4)
    return Component(units, "matrix products", k, work, 8 * 3 * face + 2**26, seconds, slices)


def _cutset(units, graph, all_pairs):
    """Return the Component of cutset conditioning, None where there are too many states to list."""
    cutset = cutset_of(graph, LISTED_UNITS)
    return None if cutset is None else by_cutset(units, cutset, all_pairs)


def by_cutset(units: np.ndarray, cutset: np.ndarray, all_pairs: bool) -> Component:
    """Return the Component that lists the states of this cutset, by its places among the units."""
    n, k = len(units), len(cutset)
    by_state = n * n / 2 if all_pairs else n * k  # multiply-adds
    buffers = 5 * max(CUTSET_TILE, MIN_TILE_STATES * n if all_pairs else 0) + k * 2.0**k * max(1, n - k) / CUTSET_TILE
    seconds = 2.0**k * (by_state / ONE_CORE + (n - k + 4) * 8 / EXPONENTIALS) + 3e-8 * n**2 + 2e-3
    return Component(
        units, "cutset conditioning", cutset, 2.0**k * (by_state + n - k), 8 * (2 * n**2 + buffers), seconds
    )


def _variable_elimination(units, graph, all_pairs, seconds):
    """Return the Component that eliminates, None where its largest table alone would take more than `seconds`."""
    widest = int(np.log2(max(2, seconds * EXPONENTIALS / TABLE_ENTRY_COST)))
    order = tree_order(graph) or best_order(graph, min(MAX_TREEWIDTH, widest))
    if order is None:
        return None
    n, table_size = len(units), order.table_size
    columns = n if all_pairs else 0
    by_unit = 5e-5 + 1.5e-8 * n if all_pairs else 2e-5 if order.width > 1 else 8e-6  # seconds of Python
    seconds = table_size * (TABLE_ENTRY_COST + columns * TABLE_COLUMN_COST) / EXPONENTIALS + by_unit * n
    buffers = 16 * table_size + 8 * columns * (3 * columns + 8 * 2.0**order.width)
    return Component(units, "variable elimination", order, (1 + columns) * table_size, buffers, seconds)


def check_cost(
    price: Plan, max_seconds: float = 600.0, max_bytes: float | None = None, all_pairs: bool = False
) -> None:
    """Raise ValueError with the price where a plan costs more time or memory than it may."""
    max_bytes = memory_to_spend() if max_bytes is None else max_bytes
    if price.seconds <= max_seconds and price.bytes <= max_bytes:
        return
    longest = max(price.components, key=lambda component: component.seconds)
    fewer = all_pairs and longest.algorithm in ("cutset conditioning", "variable elimination")
    raise ValueError(
        f"exact() would need {_what(longest)}, about {price.time} and {size_in_words(price.bytes)}; "
        f"it stops at {time_in_words(max_seconds)} and {size_in_words(max_bytes)}. "
        f"Use {'''pairs='couplings', ''' if fewer else ''}mean_field() or gibbs()."
    )


def _what(component):
    if component.algorithm == "cutset conditioning":
        return f"2^{len(component.structure)} listed states"
    if component.algorithm == "lowest states":
        return f"{count_in_words(component.work)} of 2^{len(component.units)} states"
    if component.algorithm == "matrix products":
        return f"2^{len(component.units)} states"
    return f"{count_in_words(component.work)} operations"
