"""Cost model of exact inference: the cheapest algorithm for a machine, with its time and memory, before it runs.

Components of a machine are not coupled to each other and are solved separately.  Each takes the cheapest of

    small tables          all 2^n states in one matrix, from two tables of half the units
    matrix products       3 * 2^n multiply-adds in three products; above 33 units in slices, which workers share
    lowest states         instead of products, if T is too low for them: the states not negligible beside the lowest
    cutset conditioning   2^k states of k units that touch every coupling, the others summed out in closed form
    variable elimination  tables of 2^width numbers, one for each unit

Seconds are the work over the speed of a reference machine, so that the choice is the same everywhere.  Refusals also
consider the number of workers, which share the slices, and the memory of this machine.
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

# The reference machine, with two cores (2026): multiply-adds per second in a matrix product by one core and by both,
# and exponentials per second by one.
ONE_CORE, TWO_CORES, EXPONENTIALS = 2e10, 3.5e10, 1e9
TABLE_SECONDS = 2e-5  # time of a dozen calls of NumPy
FEW_UNITS = 20  # up to here matrix products take less time than a search for something cheaper
UNSEARCHED_UNITS = 26  # the same, for weights not known to be sparse
LISTED_UNITS = 300  # largest cutset with a predicted cost: 2^300 is expensive enough and still a double
MAX_TREEWIDTH = 27  # units of a table, at most: 2^27 numbers are a GiB
BOUND_COST = 25  # of lowest states, for each pair of states of two groups, in exponentials
LISTED_COST = 7  # of lowest states, for each listed state, in exponentials
TABLE_ENTRY_COST = 75  # of elimination, for each entry in both passes, in exponentials
TABLE_COLUMN_COST = 8  # of elimination, for each entry and unit if all pairs are wanted, in exponentials
WANT_CHOICES = ("moments", "log_z")


class Component(NamedTuple):
    """The algorithm for some units: its name, its `structure` (a cutset or an order), and its cost.

    bytes    memory of one process
    seconds  for all slices one after the other, on one core (on both for a product of 26 to 33 units);
             `side_by_side` slices run in parallel
    wide     whether variable elimination is no way out, for lack of an order with tables that are ever made
    """

    units: np.ndarray
    algorithm: str
    structure: Any
    work: float
    bytes: float
    seconds: float
    slices: float = 1
    side_by_side: float = 1
    wide: bool = False

    __repr__ = summary
    __getattr__ = no_such_attribute


class Plan(NamedTuple):
    """The way in which exact() would answer: components, solved one after the other.

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
        """Memory needed at the same time, in this process or by each worker."""
        return float(max((component.bytes for component in self.components), default=0.0))

    @property
    def seconds(self) -> float:
        """The predicted time on the reference machine, with the number of workers at the time of planning."""
        return float(sum(component.seconds / component.side_by_side for component in self.components))

    @property
    def core_seconds(self) -> float:
        """The predicted time of all workers together."""
        return float(sum(component.seconds for component in self.components))

    @property
    def method(self) -> str:
        """The names of the algorithms, the most expensive first."""
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
        return f"{self.method}{apart}: {count_in_words(self.work)} operations, {size}, {_about(self)}{of_one_core}"


@show_call()
def exact_plan(model: BoltzmannMachine, *, pairs: str | None = None, want: str = "moments") -> Plan:
    """Return the plan of exact(model, pairs=pairs, want=want): its algorithms and predicted cost, without running it.

    `seconds` are for a reference machine of two cores with the present workers, core_seconds for all workers together.
    Raises ValueError if `pairs` is neither None, "couplings" nor "all", or `want` neither "moments" nor "log_z".

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
    """Return a Component; if products would leave the range of a double, the one by lowest states, with its cost."""
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
    """Whether correlations of all pairs are wanted; ValueError if `pairs` is not one of the choices."""
    pairs = check_choice("pairs", pairs, (None, "couplings", "all"))
    return pairs == "all" or (pairs is None and not model.is_sparse)


def _priced(component, moments, has_no_biases):
    """Return a Component with its cost here: log Z alone needs one product of three, no biases half of the slices."""
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
    """Return the components for a pattern of couplings; cached, as learning needs them at every step."""
    return sealed(Plan(tuple(_cheapest(units, pattern.graph, all_pairs) for units in _components(pattern.graph))))


def _components(graph):
    """Return the connected components; all units without couplings form one."""
    _, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    by_label = np.argsort(label, kind="stable")
    alone = np.diff(graph.indptr)[by_label] == 0
    groups = np.split(by_label[~alone], np.flatnonzero(np.diff(label[by_label[~alone]])) + 1)
    return [g for g in [by_label[alone], *groups] if len(g)]


def _cheapest(units, graph, all_pairs):
    """Return the cheapest Component for one group of units."""
    if graph.indptr[units[0] + 1] == graph.indptr[units[0]]:
        n, pairs = len(units), len(units) ** 2 if all_pairs else 0
        return Component(units, "independent units", None, n, 32.0 * n + 8.0 * pairs, 1e-5 + 1e-8 * n + 3e-9 * pairs)
    if len(units) <= UNSEARCHED_UNITS:
        return _without_search(units)
    own = graph if len(units) == graph.shape[0] else graph[units][:, units]
    algorithms = [_matrix_products(units), _cutset(units, own, all_pairs)]
    best = min(filter(None, algorithms), key=lambda component: component.seconds)
    other = _variable_elimination(units, own, all_pairs, best.seconds)
    if other and other.seconds < best.seconds:
        return other
    longest = TABLE_ENTRY_COST * 2.0**MAX_TREEWIDTH / EXPONENTIALS
    return best._replace(wide=other is None and bool(best.seconds > longest))


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
    """Return the Component of cutset conditioning; None if there are too many states to list."""
    cutset = cutset_of(graph, LISTED_UNITS)
    return None if cutset is None else by_cutset(units, cutset, all_pairs)


def by_cutset(units: np.ndarray, cutset: np.ndarray, all_pairs: bool) -> Component:
    """Return the Component that lists the states of this cutset, given as places among the units."""
    n, k = len(units), len(cutset)
    by_state = n * n / 2 if all_pairs else n * k  # multiply-adds
    buffers = 5 * max(CUTSET_TILE, MIN_TILE_STATES * n if all_pairs else 0) + k * 2.0**k * max(1, n - k) / CUTSET_TILE
    seconds = 2.0**k * (by_state / ONE_CORE + (n - k + 4) * 8 / EXPONENTIALS) + 3e-8 * n**2 + 2e-3
    return Component(
        units, "cutset conditioning", cutset, 2.0**k * (by_state + n - k), 8 * (2 * n**2 + buffers), seconds
    )


def _variable_elimination(units, graph, all_pairs, seconds):
    """Return the Component of variable elimination; None if its largest table would take more than `seconds`."""
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
    """Raise ValueError, with the predicted cost, if a plan takes more time or memory than allowed."""
    max_bytes = memory_to_spend() if max_bytes is None else max_bytes
    if price.seconds <= max_seconds and price.bytes <= max_bytes:
        return
    longest = max(price.components, key=lambda component: component.seconds)
    fewer = all_pairs and longest.algorithm in ("cutset conditioning", "variable elimination")
    tables = f", or a table of over 2^{MAX_TREEWIDTH} numbers" * longest.wide
    raise ValueError(
        f"exact() would need {_what(longest)}, {_about(price)} and {size_in_words(price.bytes)}{tables}; "
        f"it stops at {time_in_words(max_seconds)} and {size_in_words(max_bytes)}. "
        f"Use {'''pairs='couplings', ''' if fewer else ''}mean_field() or gibbs()."
    )


def _about(price):
    return "about " * (price.seconds <= LONGEST) + price.time


def _what(component):
    if component.algorithm == "cutset conditioning":
        return f"2^{len(component.structure)} listed states"
    if component.algorithm == "lowest states":
        return f"{count_in_words(component.work)} of 2^{len(component.units)} states"
    if component.algorithm == "matrix products":
        return f"2^{len(component.units)} states"
    return f"{count_in_words(component.work)} operations"
