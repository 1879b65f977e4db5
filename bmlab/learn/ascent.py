"""Gradient ascent of the likelihood: the Boltzmann learning rule, clamped minus free.

    V <- momentum * V + slope,        slope = (<s_i s_j>_clamped - <s_i s_j>_free) / T - penalty * w_ij
    W <- W + rate * V                 likewise for the biases, without a penalty

The algorithms of the literature differ in the start of the free phase:
    free_start="previous"   from its own last state: persistent chains (Younes 1989, Tieleman 2008), warm mean field
    free_start="fresh"      anew at each step: plain Monte Carlo (Ackley, Hinton and Sejnowski 1985)
    free_start="data"       from the data: contrastive divergence (Hinton 2002)
and in its method: exact(), gibbs(), the deterministic machine mean_field() (Peterson and Anderson 1987,
Complex Systems 1, 995; Hinton 1989, Neural Computation 1, 143), tap(), bethe().  An L1 penalty moves each weight
towards 0 by rate * l1 / (1 - momentum) after the step, and stops it there (Tibshirani 1996; proximal gradient).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice, repeat
from typing import Any

import numpy as np

from ..checking.arrays import largest, unit_name
from ..checking.calls import show_call
from ..checking.validation import (
    ArrayLike,
    as_generator,
    check_choice,
    check_count,
    check_positive,
    check_share,
    describe,
    is_sparse,
)
from ..estimate import (
    Estimate,
    Method,
    call_method,
    check_learning_method,
    check_possible,
    coupled_pairs,
    no_convergence_warnings,
)
from ..infer.exact.dispatch import exact
from ..infer.sampling.gibbs import repeated
from ..model import BoltzmannMachine
from ..running.sparsity import values_at
from ..running.threads import one_thread
from .likelihood import clamped_at, clamped_rows, gradient
from .observations import (
    check_bias_mask,
    check_moments,
    check_visible_rows,
    pad_hidden,
    with_column_names,
    with_learned_couplings,
)
from .record import OptimizerState, Step

THREADED_SIZE = 10**4  # from this size on BLAS uses threads for one sum, and may wait milliseconds for them
STRIP = 2**16  # weights that are compared together
NO_FREE_PHASE = Estimate(np.empty(0), np.empty((0, 0)))  # placeholder until the free phase is known
NO_CLAMPED_PHASE = replace(NO_FREE_PHASE, is_clamped=True)


@show_call("bmlab.learning_steps(model, data, rate=0.1)")
def learning_steps(
    model: BoltzmannMachine | Step,
    data: ArrayLike | Estimate,
    infer: Method = exact,
    *,
    rate: float | Iterable[float],
    free_start: str = "previous",
    clamped_phase: Callable[..., Estimate] | None = None,
    couplings: ArrayLike | None = None,
    biases: ArrayLike | None = None,
    penalty: float = 0.0,
    l1: float = 0.0,
    momentum: float = 0.0,
    batch: int | None = None,
    rng: np.random.Generator | int | None = None,
) -> Iterator[Step]:
    """Yield Steps of gradient ascent without end: a model with its moments, before each move; options as in fit().

    >>> first = next(bmlab.learning_steps(bmlab.toy(), bmlab.states(3), rate=0.1))  # a Step, with toy() as its model
    """
    _check_options(infer, free_start, clamped_phase, penalty, l1, momentum, batch, rng)
    step = (
        model
        if isinstance(model, Step)
        else Step(with_column_names(model, data), NO_CLAMPED_PHASE, NO_FREE_PHASE, optimizer=OptimizerState(-1))
    )
    model, mask = with_learned_couplings(step.model, couplings)
    step, bias_mask = replace(step, model=model), check_bias_mask(biases, model.n, model.names)
    rows, moments = _checked_data(model, data, infer, batch, rng, free_start, clamped_phase)
    batch = None if batch is None else check_count("batch", batch, 1, len(rows))
    number, velocity, seed = step.optimizer
    if batch and seed is None:
        seed = int(as_generator(rng).integers(2**63))
    warm, ask = free_start == "previous", repeated(infer)
    for step_size, batch_rows in islice(zip(_rates(rate), _rows(rows, batch, seed), strict=False), number + 1, None):
        previous, model = step, _updated(step.model, velocity, step_size, step_size * l1 / (1 - momentum))
        start = previous.clamped.state if warm and not batch else None
        with no_convergence_warnings():
            if moments is not None:
                clamped = clamped_at(model, moments)
            elif clamped_phase is None:
                clamped = clamped_rows(model, pad_hidden(model, batch_rows), infer, start)
            else:
                clamped = call_method("clamped_phase", clamped_phase, model, batch_rows, start=start)
                clamped = replace(clamped, is_clamped=True)
            start = batch_rows if free_start == "data" else previous.free.state if warm else None
            free = call_method("infer", ask, model, start=start)
        d_weights, d_biases = gradient(model, clamped, free)  # clamped minus free, over T
        if penalty:
            d_weights = d_weights - penalty * model.weights
        if mask is not None:
            d_weights = np.where(mask, d_weights, 0.0)
        if bias_mask is not None:
            d_biases = np.where(bias_mask, d_biases, 0.0)
        norm = _gradient_norm(model, d_weights, d_biases, l1)
        change = _largest_change(model, previous.model) if velocity else np.nan
        if velocity and momentum:
            d_weights, d_biases = momentum * velocity[0] + d_weights, momentum * velocity[1] + d_biases
        number, velocity = number + 1, (d_weights, d_biases)
        step = Step(model, clamped, free, norm, change, OptimizerState(number, velocity, seed))
        yield step


def _rates(rate):
    """Yield the rate of the move to each step: 0 for the first, then one rate per step."""
    current, is_constant = 0.0, isinstance(rate, (str, dict)) or not np.iterable(rate)
    for size in repeat(rate) if is_constant else rate:
        size = check_positive("rate", size, 0.05, zero=True)
        yield current
        current = size


def _rows(rows, batch, seed):
    """Yield the rows of each step."""
    if not batch:
        return repeat(rows)
    return (rows[order] for order in batches(len(rows), batch, np.random.default_rng(seed)))


def batches(n_rows: int, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield batches of `size` indices without end: shuffled epochs one after the other, cut into equal pieces."""
    queue = np.empty(0, dtype=int)
    while True:
        while len(queue) < size:
            queue = np.append(queue, rng.permutation(n_rows))
        yield queue[:size]
        queue = queue[size:]


def _updated(model, velocity, step_size, threshold):
    """Return the machine at W + step_size * V, each weight soft-thresholded; the first step does not move."""
    if not velocity:
        return model
    w = step_size * _at_couplings(model, velocity[0])
    w += _at_couplings(model, model.weights)
    if threshold:
        w = np.sign(w) * np.maximum(np.abs(w) - threshold, 0)
    if model.is_sparse:  # a sum of sparse arrays would lose the couplings whose weight becomes 0
        weights = model.weights.copy()
        weights.data = w
    else:
        weights = w.reshape(model.n, model.n)
    try:
        return model._with(weights, model.biases + step_size * velocity[1])
    except ValueError as error:  # a sum that overflowed
        reason = str(error).partition(";")[0]
        raise ValueError(f"the climb has left all bounds ({reason}); check the learning rate") from None


def _at_couplings(model, matrix):
    """Return the entries of a matrix at the couplings, flattened; all entries if weights are dense."""
    return values_at(matrix, coupled_pairs(model)) if model.is_sparse else np.ravel(matrix)


def _largest_change(new, old):
    """Return the largest change of a parameter between two machines, by strips of dense weights that stay cached."""
    size, of_biases = max(1, STRIP // max(1, new.n)), largest(new.biases - old.biases)
    if new.is_sparse or new.n <= size:
        return max(largest(new.weights - old.weights), of_biases)
    strips = (slice(a, a + size) for a in range(0, new.n, size))
    of_weights = np.array([largest(new.weights[rows] - old.weights[rows]) for rows in strips])
    return max(of_weights.max(), of_biases)


def _gradient_norm(model, d_weights, d_biases, l1):
    """Return the Euclidean norm of the slope, each weight once, minus the part that the L1 penalty balances.

    Raises ValueError if the slope of a weight is nan.
    """
    d = _at_couplings(model, d_weights)  # each weight twice
    if l1:
        w = _at_couplings(model, model.weights)
        d = np.where(w, d - l1 * np.sign(w), np.sign(d) * np.maximum(np.abs(d) - l1, 0))
    with one_thread() if d.size > THREADED_SIZE else nullcontext():
        norm = float(np.sqrt(d @ d / 2 + d_biases @ d_biases))
    if np.isnan(norm) and not is_sparse(d_weights) and np.isnan(d_weights).any():
        i, j = np.argwhere(np.isnan(d_weights))[0]
        raise ValueError(
            f"the free phase has no <s s'> of {unit_name(model.names, i)} and {unit_name(model.names, j)}; "
            "say which weights exist, couplings=W != 0, "
            "or ask for all pairs, infer=functools.partial(bmlab.exact, pairs='all')"
        )
    return norm


def _check_options(infer, free_start, clamped_phase, penalty, l1, momentum, batch, rng):
    """Raise ValueError for options out of range, an invalid rng, and a seed that is not used."""
    check_choice("free_start", free_start, ("previous", "fresh", "data"))
    check_learning_method("infer", infer, "model", start=None)
    if clamped_phase is not None:
        check_learning_method("clamped_phase", clamped_phase, "model", "data", start=None)
    check_positive("penalty", penalty, 0.01, zero=True)
    check_positive("l1", l1, 0.01, zero=True)
    check_share("momentum", momentum)
    if rng is not None and batch is None and as_generator(rng) is not rng:
        raise ValueError(f"rng={describe(rng)} draws batches, found batch=None; pass batch=10, or leave rng out")


def _checked_data(model, data, infer, batch, rng, free_start, clamped_phase) -> tuple[Any, Estimate | None]:
    """Return the rows (N, v), None for moments, and the clamped moments if they are the same at each step.

    Raises ValueError for options that do not go together.
    """
    if isinstance(data, Estimate):
        if batch is not None or clamped_phase or free_start == "data":
            raise ValueError("batch, clamped_phase and free_start='data' ask for rows, found moments; pass the rows")
        return None, check_possible(check_moments(model, data))
    rows = check_visible_rows(model, data, allow_missing=True)
    whole = rows.shape[1] == model.n and not np.isnan(rows).any()
    if free_start == "data" and np.isnan(rows).any():
        raise ValueError("free_start='data' begins at rows of the data, and some have nan; use free_start='previous'")
    if batch is not None and rng is None:
        raise ValueError("batches are drawn by rng; pass rng=np.random.default_rng(0)")
    is_constant = whole and batch is None and clamped_phase is None
    return rows, clamped_rows(model, rows, infer) if is_constant else None
