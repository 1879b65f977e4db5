"""Exact inference: exact() divides a machine into connected components and sums each by the algorithm of its plan.

    Z = sum_s exp(-E(s)/T),     <s_i> = sum_s s_i p(s),     <s_i s_j> = sum_s s_i s_j p(s)

Components are not coupled to each other and are solved separately: log Z adds up, moments factorise.
planning.py chooses the algorithm of each component: small_tables.py for a dozen units; for more matrix_products.py
(lowest_states.py at low temperatures), cutset_conditioning.py or elimination.py.  Every algorithm is right to rounding,
at any temperature.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import scipy

from ...checking.arrays import log_2cosh
from ...checking.calls import show_call
from ...checking.validation import check_choice, check_positive
from ...estimate import Bounded, Estimate, Method, as_corr, call_method, check_method, coupled_pairs
from ...methods import method
from ...model import BoltzmannMachine, check_model, with_offset
from ...running.sparsity import values_at
from . import elimination
from .cutset_conditioning import sum_by_cutset
from .matrix_products import TABLE_UNITS, sum_by_slices
from .planning import TABLE_SECONDS, WANT_CHOICES, Component, check_cost, component_of, exact_plan, wants_all
from .small_tables import sum_by_tables
from .trees import sum_by_tree


@method(
    "exact",
    answers=("means", "pairs", "log Z", "lower bound", "upper bound"),
    order=math.inf,
    line="enumeration, variable elimination, cutset conditioning",
    colour="black",
    marker="o",
    shortest=({},),
    fuzz={"max_seconds": 600.0, "max_bytes": 1e9},
)
@show_call()
def exact(
    model: BoltzmannMachine,
    *,
    start: object = None,
    pairs: str | None = None,
    want: str = "moments",
    max_seconds: float = 600.0,
    max_bytes: float | None = None,
) -> Estimate:
    """Answer by enumeration: right to rounding, for any weights and temperature.

    pairs        correlations to compute.  "all": of all pairs, a dense array; "couplings": of coupled pairs, the others
                 nan (dense weights) or not stored (sparse); default: "all" if weights are dense, else "couplings"
    want         "moments", with log Z; or "log_z" only: means and correlations are nan, and if all units are coupled it
                 takes a third of the time
    max_seconds, max_bytes   limits of the cost (None: half of the memory); exact_plan(model) predicts the cost
    start        ignored; every method accepts it
    info         the algorithm, and its predicted and true seconds

    Dense machines: 20 units in under a millisecond, 30 in a tenth of a second, 36 in seconds; above 33 units the sum is
    split into slices, which bmlab.workers() can share.  Trees, chains and narrow lattices can have any length, and a
    restricted machine with one small layer any size of the other.
    Raises ValueError, with the predicted cost, if that is above a limit.

    >>> pair = bmlab.BoltzmannMachine([[0, 1], [1, 0]], [0, 0])
    >>> bmlab.exact(pair).log_z  # log(4 cosh 1)
    Bounded(1.8201 (exact))
    >>> bmlab.exact(pair, want="log_z").mean
    array([nan, nan])
    """
    check_model(model)
    begin, all_pairs = perf_counter(), wants_all(model, pairs)
    check_positive("max_seconds", max_seconds, 600, infinite=True)
    check_positive("max_bytes", np.inf if max_bytes is None else max_bytes, 2**30, infinite=True)
    moments = check_choice("want", want, WANT_CHOICES) == "moments"
    if model.n <= TABLE_UNITS and all_pairs and not model.is_sparse:  # as fast as the general way below
        log_z, mean, corr = sum_by_tables(model)
        if not moments:
            mean, corr = np.full(model.n, np.nan), _unknown(model, all_pairs)
        return _estimate(model, log_z, mean, corr, "small tables", TABLE_SECONDS, begin)
    price = exact_plan(model, pairs=pairs, want=want)
    sums_pairs = all_pairs and moments
    check_cost(price, max_seconds, max_bytes, sums_pairs)
    log_z, mean = 0.0, np.empty(model.n)
    blocks = []
    for component in price.components:
        own = component_of(model, component.units)
        component_log_z, mean[component.units], block = solve_component(own, component, sums_pairs, moments)
        log_z += component_log_z
        blocks.append((component.units, own, block))
    if moments:
        corr = _joined(mean, blocks) if all_pairs else _on_couplings(model, blocks)
    else:
        mean, corr = np.full(model.n, np.nan), _unknown(model, all_pairs)
    return _estimate(model, log_z, mean, corr, price.method, price.seconds, begin)


def solve_component(
    own: BoltzmannMachine, component: Component, all_pairs: bool = False, moments: bool = True
) -> tuple[float, Any, Any]:
    """Return log Z without the offset, means, and <s_i s_j> of all pairs, or at least of the couplings.

    Without `moments`, means and <s_i s_j> can be nan.
    """
    if component.algorithm == "small tables":
        return sum_by_tables(own)
    if component.algorithm in ("matrix products", "lowest states"):
        return sum_by_slices(own, component.structure, moments, component.algorithm == "lowest states")
    if component.algorithm == "cutset conditioning":
        return sum_by_cutset(own, component.structure, all_pairs)
    if component.algorithm == "variable elimination":
        if component.structure.width <= 1 and not all_pairs:
            return sum_by_tree(own, component.structure)
        log_z, odds = elimination.eliminate(own, component.structure)
        if not moments:
            return log_z, np.nan, np.nan
        if all_pairs:
            return log_z, *elimination.all_pairs(component.structure, odds)
        return log_z, *elimination.moments(own, component.structure, odds)
    field = own.biases / own.temperature  # independent units
    mean = np.tanh(field)
    return log_2cosh(field).sum(), mean, np.outer(mean, mean) if all_pairs else None


def _estimate(model, log_z, mean, corr, algorithm, predicted, begin):
    log_z = float(with_offset(model, log_z))
    return Estimate(
        np.minimum(np.maximum(mean, -1), 1),
        corr,
        Bounded(log_z, 0.0, log_z, log_z),
        method="exact",
        message="all states are summed",
        info={"algorithm": algorithm, "predicted_seconds": predicted, "seconds": perf_counter() - begin},
        model=model,
    )


@show_call()
def entropy(model: BoltzmannMachine, infer: Method = exact) -> Bounded:
    """Return the entropy of the machine in nats, S = log Z + <E>/T, as a number with its error.

    infer    a method that gives log Z and <s_i s_j> of the couplings; with other methods the entropy is nan
    value    clipped to 0 and n log 2, which are its bounds unless `infer` is exact
    stderr   an upper bound: the errors of log Z and of all terms of <E>/T are added as if fully correlated
    Raises ValueError as `infer` does.

    >>> bmlab.entropy(bmlab.ising(10, coupling=0))  # ten fair coins: 10 log 2
    Bounded(6.9315 (exact))
    """
    check_model(model)
    check_method("infer", infer, "model")
    model = replace(model, offset=0.0)
    answer = call_method("infer", partial(exact, pairs="couplings") if infer is exact else infer, model)
    places: Any = coupled_pairs(model) if model.is_sparse else np.nonzero(model.weights)
    w, b = values_at(model.weights, places) / 2, model.biases  # each pair is stored twice
    mean_energy = -(w @ values_at(answer.corr, places)) - b @ answer.mean
    noise = float(np.abs(w) @ values_at(answer.corr_stderr, places) + np.abs(b) @ answer.mean_stderr)
    most = model.n * math.log(2)
    value = float(np.clip(answer.log_z.value + mean_energy / model.temperature, 0, most))
    if answer.method == "exact":
        return Bounded(value, 0.0, value, value)
    return Bounded(value, answer.log_z.stderr + noise / model.temperature, 0.0, most)


def _joined(mean, blocks):
    """Return <s_i s_j> of all pairs (n, n); between components it is <s_i><s_j>."""
    corr = blocks[0][2] if len(blocks) == 1 else np.outer(mean, mean)
    for units, _, block in blocks if len(blocks) > 1 else ():
        corr[np.ix_(units, units)] = block
    np.fill_diagonal(corr, 1.0)
    return corr


def _unknown(model, all_pairs):
    """Return correlations that are all nan, for unknown."""
    if all_pairs or not model.is_sparse:
        corr = np.full((model.n, model.n), np.nan)
        np.fill_diagonal(corr, 1.0)
        return corr
    return as_corr(model, np.full(model.weights.nnz, np.nan))


def _on_couplings(model, blocks):
    """Gather the correlations of each component's couplings; every coupling lies inside a component."""
    found = [(np.zeros(0), np.zeros(0, int), np.zeros(0, int))]
    for units, own, block in blocks:
        row, col = coupled_pairs(own) if own.is_sparse else np.nonzero(own.weights)
        found.append((values_at(block, (row, col)), units[row], units[col]))
    value, row, col = (np.concatenate(column) for column in zip(*found, strict=True))
    if model.is_sparse:
        return as_corr(model, scipy.sparse.csr_array((value, (row, col)), shape=(model.n, model.n)).data)
    corr = np.full((model.n, model.n), np.nan)
    corr[row, col] = value
    return as_corr(model, corr)
