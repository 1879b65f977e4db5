"""Exact answers: sums over all 2^n states, by the cheapest road that the couplings allow.

    Z = sum_s exp(-E(s)/T),     <s_i> = sum_s s_i p(s),     <s_i s_j> = sum_s s_i s_j p(s)

Parts that are not coupled are solved apart: log Z adds, moments factorise.  Each part takes a road of its own:
small_tables.py for a dozen units, matrix_products.py, cutset_conditioning.py or variable_elimination.py for more; planning.py
chooses.  Every road is right to rounding, at any temperature.
"""

from time import perf_counter

import numpy as np
from scipy import sparse

from ...estimate import Estimate, LogZ, as_corr, coupled_pairs
from ...model import BoltzmannMachine
from . import variable_elimination
from .cutset_conditioning import sum_listed
from .matrix_products import sum_by_products
from .planning import (
    TABLE_SECONDS,
    TABLE_UNITS,
    check_pairs,
    listed_side,
    memory_to_spend,
    pattern,
    plan,
    size_in_words,
    time_in_words,
    together,
)
from .small_tables import sum_by_tables


def exact(
    model: BoltzmannMachine,
    *,
    start=None,
    pairs: str = "couplings",
    max_seconds: float = 600.0,
    max_bytes: float | None = None,
) -> Estimate:
    """Answer by enumeration: right to rounding, for any weights and temperature.

    pairs        "couplings": correlations of coupled units, and of the others where they cost nothing, else nan;
                 "all": of all pairs, and as a dense array whatever the weights are
    max_seconds, max_bytes   what it may cost (None: half of the memory); plan(model) tells the price beforehand
    start        is accepted and ignored, as every method takes one
    info         the road taken, and its predicted and true seconds

    Dense machines: 20 units in under a millisecond, 30 in a tenth of a second, 36 in seconds.  Trees, chains and
    narrow lattices of any length, and restricted machines with one small layer, whatever the size of the other.
    Raises ValueError with the price where it would cost more.
    """
    begin = perf_counter()
    check_pairs(pairs)
    if model.n <= TABLE_UNITS and not model.is_sparse:  # the general way below would take as long again
        return _estimate(model, *sum_by_tables(model), "two tables", TABLE_SECONDS, begin)
    way = plan(model, pairs=pairs)
    refuse_if_too_dear(way, max_seconds, max_bytes)
    log_z, mean, blocks, taken = 0.0, np.empty(model.n), [], []
    for part in way.parts:
        part, (part_log_z, mean[part.units], block) = _solve(model, part, pairs, max_seconds, max_bytes)
        log_z += part_log_z
        blocks.append((part.units, block))
        taken.append(part)
    way = together(taken)
    corr = _sparse_corr(model, blocks) if model.is_sparse and pairs == "couplings" else _dense_corr(model, mean, blocks)
    return _estimate(model, log_z, mean, corr, way.method, way.seconds, begin)


def _estimate(model, log_z, mean, corr, road, predicted, begin):
    log_z = float(log_z - model.offset / model.temperature)
    return Estimate(
        np.minimum(np.maximum(mean, -1), 1),
        corr,
        LogZ(log_z, 0.0, log_z, log_z),
        method="exact",
        info={"road": road, "predicted_seconds": predicted, "seconds": perf_counter() - begin},
    )


def entropy(model: BoltzmannMachine) -> float:
    """Return the entropy of the machine in nats, S = log Z + <E>/T; raises as exact() does."""
    answer = exact(model)
    correlated = (answer.corr * model.weights).sum() if model.is_sparse else np.nansum(answer.corr * model.weights)
    mean_energy = model.offset - correlated / 2 - model.biases @ answer.mean
    return float(answer.log_z.value + mean_energy / model.temperature)


def _solve(model, part, pairs, max_seconds, max_bytes):
    """Return the part as it was solved, and the answer."""
    own = part_of(model, part.units)
    answer = ROADS[part.road](own, part.guide, pairs)
    if answer is None:
        part = listed_instead(own, part.units, pairs, max_seconds, max_bytes)
        answer = ROADS[part.road](own, part.guide, pairs)
    return part, answer


def listed_instead(own, units, pairs="couplings", max_seconds=600.0, max_bytes=None):
    """Return the Part that lists states: it takes over where three products leave the range of a double.

    Raises ValueError with its own price where that is too dear.
    """
    part = listed_side(units, pattern(own.weights), pairs, most=np.inf)
    refuse_if_too_dear(together([part]), max_seconds, max_bytes)
    return part


def part_of(model, units):
    """Return the machine of some units that are not coupled to the others."""
    if len(units) == model.n:
        return model
    return BoltzmannMachine(model.weights[units][:, units], model.biases[units], model.temperature)


def _dense_corr(model, mean, blocks):
    if len(blocks) == 1 and blocks[0][1] is not None:
        corr = blocks[0][1]
    else:
        corr = np.outer(mean, mean)
        for units, block in blocks:
            if block is not None:
                corr[np.ix_(units, units)] = block
    np.fill_diagonal(corr, 1.0)
    return corr


def _sparse_corr(model, blocks):
    """Gather what each part says of its couplings; every coupling lies inside a part."""
    found = [(np.zeros(0), np.zeros(0, int), np.zeros(0, int))]
    for units, block in blocks:
        if block is not None:
            row, col = coupled_pairs(part_of(model, units))
            found.append((np.asarray(block[row, col]).ravel(), units[row], units[col]))
    value, row, col = (np.concatenate(column) for column in zip(*found))
    return as_corr(model, sparse.csr_array((value, (row, col)), shape=(model.n, model.n)).data)


# --- the roads: (machine, guide, pairs) -> log Z without the offset, means, correlations (None: products of means) ----


def _by_product(model, guide, pairs):
    field = model.biases / model.temperature
    return np.logaddexp(field, -field).sum(), np.tanh(field), None


def _by_tables(model, guide, pairs):
    return sum_by_tables(model)


def _by_products(model, guide, pairs):
    return sum_by_products(model)


def _by_listing(model, listed, pairs):
    return sum_listed(model, listed, all_pairs=pairs == "all")


def _by_elimination(model, order, pairs):
    log_z, odds = variable_elimination.eliminate(model, order)
    mean, coupled = variable_elimination.moments(model, order, odds)
    if pairs == "all":
        return log_z, mean, variable_elimination.all_pairs(model, order, mean)
    if model.is_sparse:
        return log_z, mean, coupled
    return log_z, mean, np.where(model.weights != 0, coupled.toarray(), np.nan)


ROADS = {
    "independent units": _by_product,
    "two tables": _by_tables,
    "three products": _by_products,
    "listed side": _by_listing,
    "elimination": _by_elimination,
}


def refuse_if_too_dear(way, max_seconds=600.0, max_bytes=None):
    """Raise ValueError with the price where a plan costs more time or memory than it may."""
    max_bytes = memory_to_spend() if max_bytes is None else max_bytes
    if way.seconds > max_seconds or way.bytes > max_bytes:
        raise ValueError(
            f"exact() would need {_what(way)}, about {time_in_words(way.seconds)} and "
            f"{size_in_words(way.bytes)}; it stops at {time_in_words(max_seconds)} and "
            f"{size_in_words(max_bytes)}. Use mean_field() or gibbs()."
        )


def _what(way):
    dearest = max(way.parts, key=lambda part: part.seconds)
    if dearest.road == "listed side":
        return f"2^{len(dearest.guide)} listed states"
    return f"2^{len(dearest.units)} states" if dearest.road == "three products" else f"{dearest.work:.2g} operations"
