"""The roads of exact(), each as a function of a machine, and what is done where one leaves the range of a double."""

from typing import Any, NamedTuple

import numpy as np

from ...arrays import log_2cosh
from ...couplings import Pattern
from ...model import BoltzmannMachine
from . import elimination
from .clamped_parts import halvings, sum_by_parts
from .cutset_conditioning import sum_by_cutset
from .matrix_products import log_z_by_products, sum_by_products
from .planning import cutset_part, in_halves
from .prices import Part, Plan, refuse_if_too_dear
from .resuming import Saved
from .small_tables import sum_by_tables
from .tree_contraction import Contraction, sum_by_contraction


class Question(NamedTuple):
    """Hold what is asked for, what it may cost, and where what is done is kept."""

    everything: bool  # correlations of all pairs, or of the couplings at the least
    moments: bool = True  # or log Z alone
    max_seconds: float = 600.0
    max_bytes: float | None = None
    saved: Saved | None = None


# The roads: machine, guide, question -> log Z without the offset, means, correlations of all pairs or at the least of
# the couplings (not where log Z alone is asked for); None where they leave the range of a double.


def _by_product(model, guide, asked):
    field = model.biases / model.temperature
    mean = np.tanh(field)
    return log_2cosh(field).sum(), mean, np.outer(mean, mean) if asked.everything else None


def _by_tables(model, guide, asked):
    return sum_by_tables(model)


def _by_products(model, held, asked):
    if held:
        return sum_by_parts(model, held, asked.moments, asked.saved)
    if asked.moments:
        return sum_by_products(model)
    log_z = log_z_by_products(model)
    return None if log_z is None else (log_z, np.nan, np.nan)


def _by_cutset(model, cutset, asked):
    return sum_by_cutset(model, cutset, asked.everything and asked.moments)


def _by_elimination(model, order, asked):
    if isinstance(order, Contraction):
        return sum_by_contraction(model, order, asked.moments)
    log_z, odds = elimination.eliminate(model, order)
    if not asked.moments:
        return log_z, np.nan, np.nan
    if asked.everything:
        return log_z, *elimination.all_pairs(order, odds)
    return log_z, *elimination.moments(model, order, odds)


ROADS = {
    "independent units": _by_product,
    "small tables": _by_tables,
    "matrix products": _by_products,
    "cutset conditioning": _by_cutset,
    "variable elimination": _by_elimination,
}


def solved(own: BoltzmannMachine, part: Part, asked: Question) -> tuple[Part, tuple[float, Any, Any]]:
    """Return the part as it was solved, and the answer."""
    part = affordable(own, part, asked)
    answer = ROADS[part.road](own, part.guide, asked)
    if answer is None:
        part = cutset_instead(own, part.units, asked)
        answer = ROADS[part.road](own, part.guide, asked)
    return part, answer


def affordable(own: BoltzmannMachine, part: Part, asked: Question) -> Part:
    """Return the part with the price that the numbers make; raise ValueError where parts in halves are too dear."""
    count = halvings(own, part.guide) if part.pieces > 1 else 0
    if not count:
        return part
    part = in_halves(part, count)
    refuse_if_too_dear(Plan((part,)), asked.max_seconds, asked.max_bytes)
    return part


def cutset_instead(own: BoltzmannMachine, units: np.ndarray, asked: Question) -> Part:
    """Return the Part that takes over where matrix products leave the range of a double.

    Raises ValueError with its own price where that is too dear.
    """
    part = cutset_part(units, Pattern(own.weights).graph, asked.everything, most=np.inf)
    assert part is not None
    refuse_if_too_dear(Plan((part,)), asked.max_seconds, asked.max_bytes)
    return part
