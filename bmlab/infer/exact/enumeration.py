"""Exact answers: sums over all 2^n states, by the cheapest road that the couplings allow.

    Z = sum_s exp(-E(s)/T),     <s_i> = sum_s s_i p(s),     <s_i s_j> = sum_s s_i s_j p(s)

Parts that are not coupled are solved apart: log Z adds, moments factorise.  Each part takes a road of its own, which
planning.py chooses: small_tables.py for a dozen units, matrix_products.py, cutset_conditioning.py or
variable_elimination.py for more.  Every road is right to rounding, at any temperature.
"""

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
import scipy

from ...arrays import log_2cosh
from ...budgets import memory_to_spend, size_in_words, time_in_words
from ...checks import check_positive
from ...couplings import Pattern, entries
from ...estimate import Estimate, LogZ, as_corr, coupled_pairs
from ...model import BoltzmannMachine, check_model
from . import variable_elimination
from .cutset_conditioning import sum_by_cutset
from .matrix_products import sum_by_products
from .planning import TABLE_SECONDS, TABLE_UNITS, Part, Plan, cutset_part, plan, wants_all
from .small_tables import sum_by_tables


def exact(
    model: BoltzmannMachine,
    *,
    start: Any = None,
    pairs: str | None = None,
    max_seconds: float = 600.0,
    max_bytes: float | None = None,
) -> Estimate:
    """Answer by enumeration: right to rounding, for any weights and temperature.

    pairs        correlations "all": of all pairs, as a dense array; "couplings": of coupled units, where weights are
                 dense nan elsewhere; None: "all" where weights are dense, "couplings" where they are sparse
    max_seconds, max_bytes   what it may cost (None: half of the memory); plan(model) tells the price beforehand
    start        is accepted and ignored, as every method takes one
    info         the road taken, and its predicted and true seconds

    Dense machines: 20 units in under a millisecond, 30 in a tenth of a second, 36 in seconds.  Trees, chains and
    narrow lattices of any length, and restricted machines with one small layer, whatever the size of the other.
    Raises ValueError with the price where it would cost more.
    """
    check_model(model)
    begin, everything = perf_counter(), wants_all(model, pairs)
    check_positive("max_seconds", max_seconds, 600, infinite=True)
    check_positive("max_bytes", np.inf if max_bytes is None else max_bytes, 2**30, infinite=True)
    if model.n <= TABLE_UNITS and everything and not model.is_sparse:  # the general way below would take as long again
        return _estimate(model, *sum_by_tables(model), "small tables", TABLE_SECONDS, begin)
    way = plan(model, pairs=pairs)
    refuse_if_too_dear(way, max_seconds, max_bytes, everything)
    log_z, mean, blocks, taken = 0.0, np.empty(model.n), [], []
    for planned in way.parts:
        own = part_of(model, planned.units)
        part, (part_log_z, mean[part.units], block) = _solve(own, planned, everything, max_seconds, max_bytes)
        log_z += part_log_z
        blocks.append((part.units, own, block))
        taken.append(part)
    corr = _joined(mean, blocks) if everything else _on_couplings(model, blocks)
    way = Plan(tuple(taken))
    return _estimate(model, log_z, mean, corr, way.method, way.seconds, begin)


def _estimate(model, log_z, mean, corr, road, predicted, begin):
    log_z = float(log_z - model.offset / model.temperature)
    return Estimate(
        np.minimum(np.maximum(mean, -1), 1),
        corr,
        LogZ(log_z, 0.0, log_z, log_z),
        method="exact",
        message="all states are summed",
        info={"road": road, "predicted_seconds": predicted, "seconds": perf_counter() - begin},
    )


def entropy(model: BoltzmannMachine) -> float:
    """Return the entropy of the machine in nats, S = log Z + <E>/T; raises as exact() does."""
    check_model(model)
    model = replace(model, offset=0.0)
    answer = exact(model, pairs="couplings")
    product = answer.corr * model.weights  # nan * 0 where dense units are not coupled
    correlated = product.sum() if model.is_sparse else np.nansum(product)
    mean_energy = -correlated / 2 - model.biases @ answer.mean
    return float(answer.log_z + mean_energy / model.temperature)


def _solve(own, part, everything, max_seconds, max_bytes):
    """Return the part as it was solved, and the answer."""
    answer = ROADS[part.road](own, part.guide, everything)
    if answer is None:
        part = cutset_instead(own, part.units, everything, max_seconds, max_bytes)
        answer = ROADS[part.road](own, part.guide, everything)
    return part, answer


def cutset_instead(
    own: BoltzmannMachine,
    units: np.ndarray,
    everything: bool = False,
    max_seconds: float = 600.0,
    max_bytes: float | None = None,
) -> Part:
    """Return the Part that takes over where matrix products leave the range of a double.

    Raises ValueError with its own price where that is too dear.
    """
    part = cutset_part(units, Pattern(own.weights).graph, everything, most=np.inf)
    assert part is not None
    refuse_if_too_dear(Plan((part,)), max_seconds, max_bytes)
    return part


def part_of(model: BoltzmannMachine, units: np.ndarray) -> BoltzmannMachine:
    """Return the machine of some units that are not coupled to the others."""
    if len(units) == model.n:
        return model
    return BoltzmannMachine(model.weights[units][:, units], model.biases[units], model.temperature)


def _joined(mean, blocks):
    """Return <s_i s_j> of all pairs (n, n); between parts it is <s_i><s_j>."""
    corr = blocks[0][2] if len(blocks) == 1 else np.outer(mean, mean)
    for units, _, block in blocks if len(blocks) > 1 else ():
        corr[np.ix_(units, units)] = block
    np.fill_diagonal(corr, 1.0)
    return corr


def _on_couplings(model, blocks):
    """Gather what each part says of its couplings; every coupling lies inside a part."""
    found = [(np.zeros(0), np.zeros(0, int), np.zeros(0, int))]
    for units, own, block in blocks:
        row, col = coupled_pairs(own) if own.is_sparse else np.nonzero(own.weights)
        found.append((entries(block, (row, col)), units[row], units[col]))
    value, row, col = (np.concatenate(column) for column in zip(*found, strict=True))
    if model.is_sparse:
        return as_corr(model, scipy.sparse.csr_array((value, (row, col)), shape=(model.n, model.n)).data)
    corr = np.full((model.n, model.n), np.nan)
    corr[row, col] = value
    return as_corr(model, corr)


# The roads: machine, guide, whether all pairs are wanted -> log Z without the offset, means, correlations of all pairs
# or at the least of the couplings; None where they leave the range of a double.


def _by_product(model, guide, everything):
    field = model.biases / model.temperature
    mean = np.tanh(field)
    return log_2cosh(field).sum(), mean, np.outer(mean, mean) if everything else None


def _by_tables(model, guide, everything):
    return sum_by_tables(model)


def _by_products(model, guide, everything):
    return sum_by_products(model)


def _by_elimination(model, order, everything):
    log_z, odds = variable_elimination.eliminate(model, order)
    if everything:
        return log_z, *variable_elimination.all_pairs(order, odds)
    return log_z, *variable_elimination.moments(model, order, odds)


ROADS = {
    "independent units": _by_product,
    "small tables": _by_tables,
    "matrix products": _by_products,
    "cutset conditioning": sum_by_cutset,
    "variable elimination": _by_elimination,
}


def refuse_if_too_dear(
    way: Plan, max_seconds: float = 600.0, max_bytes: float | None = None, everything: bool = False
) -> None:
    """Raise ValueError with the price where a plan costs more time or memory than it may."""
    max_bytes = memory_to_spend() if max_bytes is None else max_bytes
    if way.seconds <= max_seconds and way.bytes <= max_bytes:
        return
    dearest = max(way.parts, key=lambda part: part.seconds)
    fewer = everything and dearest.road in ("cutset conditioning", "variable elimination")
    raise ValueError(
        f"exact() would need {_what(dearest)}, about {time_in_words(way.seconds)} and {size_in_words(way.bytes)}; "
        f"it stops at {time_in_words(max_seconds)} and {size_in_words(max_bytes)}. "
        f"Use {'''pairs='couplings', ''' if fewer else ''}mean_field() or gibbs()."
    )


def _what(part):
    if part.road == "cutset conditioning":
        return f"2^{len(part.guide)} listed states"
    return f"2^{len(part.units)} states" if part.road == "matrix products" else f"{part.work:.2g} operations"
