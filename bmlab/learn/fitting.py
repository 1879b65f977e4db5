"""fit(): gradient ascent, the loop of learning_steps() run to its end, with checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..checking.budgets import check_memory
from ..checking.calls import show_call
from ..checking.validation import ArrayLike, check_count
from ..estimate import Estimate, Method
from ..infer.exact.dispatch import exact
from ..model import BoltzmannMachine, check_model
from ..running.progress_bars import with_progress
from .ascent import learning_steps
from .checkpoints import Checkpoint
from .maximum_likelihood import learned_pairs
from .misfit import misfit_of_step
from .observations import check_bias_mask, check_padded_rows, with_learned_couplings
from .record import ALL_STEPS_MADE, GRADIENT_TOLERANCE, Fit, Step

BYTES_A_WEIGHT = 8 * 4.3  # bytes for each weight that a Step keeps: a machine, two phases and a velocity


@show_call("bmlab.fit(model, data, steps=100, rate=0.1)")
def fit(
    model: BoltzmannMachine | Step,
    data: ArrayLike | Estimate,
    infer: Method = exact,
    *,
    steps: int,
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
    every: int = 1,
    checkpoint: str | Path | None = None,
) -> Fit:
    """Climb the likelihood by gradient ascent, clamped minus free, and keep the steps.

    model      first model; or a Step of an earlier climb, to continue it
    data       (N, v) of -1/+1 for the first v units, nan if an entry is missing; columns of a DataFrame are matched to
               units by name, or name them.  Or moments() of rows that need not fit into memory
    infer      method of the free phase, and of the clamped phase if hidden units are coupled
    steps      maximum number of steps; the first is `model` itself
    rate       a number, or an iterable with one rate per step; the loop ends when it is exhausted (try
               np.linspace(0.05, 0, 300)).  Above 2 T^2 over the largest eigenvalue of the covariance of all s_i and
               s_i s_j the climb overshoots: about 0.08 for fifteen correlated units; with momentum, (1 + momentum)
               times that
    free_start start of the free phase: "previous", at its last state; "fresh", anew at each step; "data", at the data
    clamped_phase   model, data, start -> Estimate: another clamped phase, such as clamped_mean_field or clamped_gibbs
    couplings  boolean (n, n): the weights to learn; default: those of the machine (model.couplings, or sparse weights)
    biases     boolean (n,): the biases to learn, the others stay as they are; default: all
    penalty, l1   the climbed function is L - penalty/2 * sum_{i<j} w_ij^2 - l1 * sum_{i<j} |w_ij|
    momentum   share of the last move kept, 0 <= momentum < 1; it multiplies the effective rate by 1/(1 - momentum)
    batch      rows per step; the data are shuffled by `rng` in each epoch; default: all rows
    every      keep and save every `every`-th step, and the last; each takes about 34 bytes per weight, dense or stored
    checkpoint path of a file (.npz) to save to, and to continue from if it exists.  A run that was killed and is called
               again with the same arguments gives exactly the same result; the kept steps start at the end of the file.
               All random numbers must come from `rng`, in its state at the first call, or at the end of the file.
               The state of an answer may be that of any method of bmlab, or arrays, numbers, words, lists and dicts.
               A call with another model, data, rng or option (except steps and every), with a function of another name
               as `infer` or `clamped_phase`, or for fewer steps than the file holds is refused.  Arguments bound to
               these functions, and their code, are not compared
    converged: whether the last slope is at most 1e-6, by phases that have converged, each hidden unit has weights, and
    unless `infer` is exact, the machine's moments are at most 5 errors off the data's (Fit.misfit).  There is no
    warning if it has not converged, nor if an Estimate has not: look at Step.free.converged.
    Raises ValueError for options out of range, if the free phase does not know a weight's slope, for a checkpoint of
    another run, and if methods or states cannot be stored in a file.

    >>> blank = bmlab.BoltzmannMachine([[0, 0], [0, 0]], [0, 0])
    >>> data = np.repeat([[1, 1], [-1, -1], [1, -1], [-1, 1]], [3, 3, 1, 1], axis=0)  # they agree 3 times in 4
    >>> bmlab.fit(blank, data, steps=500, rate=0.2).model.weights[0, 1].round(4)  # arctanh(1/2)
    np.float64(0.5493)
    """
    steps = check_count("steps", steps)
    every = check_count("every", every)
    options = {"rate": rate, "free_start": free_start, "couplings": couplings, "biases": biases}
    options |= {"penalty": penalty, "l1": l1, "momentum": momentum, "batch": batch}
    methods = {"infer": infer, "clamped_phase": clamped_phase}
    file = None if checkpoint is None else Checkpoint(checkpoint, model, data, rng, methods, options)
    step = (file and file.load()) or model
    kept: list[Any] = [] if step is model else [step]
    end = _number(model) + steps
    more = end - _number(step)
    if more < 0:
        raise ValueError(
            f"{checkpoint} holds {_number(step) - _number(model):,} steps, found steps={steps}; pass as many, more, or "
            "another path"
        )
    _check_kept(step, more // every + 2)
    climb = islice(learning_steps(step, data, **methods, rng=rng, **options), more)
    for step in with_progress(climb, "step", more):
        if step.optimizer.number % every == 0 or step.optimizer.number + 1 == end:
            kept.append(step)
            if file:
                file.save(step)
    if not isinstance(step, Step):
        raise ValueError("rate has no numbers, so no step was made; pass a number, or one for each step")
    if not kept or kept[-1] is not step:  # the rates ended first
        kept.append(step)
    ending = ALL_STEPS_MADE if _number(step) >= end else f"the rates ended after {_number(step)} of {end} steps"
    found = Fit(step.model, *_convergence(step, data, ending), tuple(kept))
    pairs = learned_pairs(*with_learned_couplings(step.model, couplings))
    learns, is_whole = check_bias_mask(biases, step.model.n, step.model.names), batch is None and clamped_phase is None
    compared = misfit_of_step(step, data, infer, pairs, learns, is_whole, penalty=penalty, l1=l1)
    is_exact = getattr(infer, "func", infer) is exact  # then the slope is enough
    return replace(found, misfit=compared.size) if is_exact else found.compared(compared)


def _check_kept(step, count):
    """Raise ValueError if `count` steps do not fit into the memory."""
    model = step.model if isinstance(step, Step) else step
    check_model(model)
    size = BYTES_A_WEIGHT * (model.weight_count if model.is_sparse else model.n**2)
    check_memory(f"{count:,} steps of {model.n:,} units would be kept", count * size, "pass every=100, or more")


def _convergence(step, data, ending):
    """Return whether the last step is known to be at a maximum, and a sentence on how the climb ended."""
    hidden = not isinstance(data, Estimate) and np.isnan(check_padded_rows(step.model, data)).all(0)
    idle = np.flatnonzero(hidden & (abs(step.model.weights).sum(1) == 0))
    phases = step.free.converged and step.clamped.converged
    ending = f"{ending}, and the slope is {step.gradient_norm:.2g}"
    if len(idle):
        return (
            False,
            f"{ending}, but hidden unit {idle[0]} has no weights and learns none; begin with small random ones",
        )
    return bool(step.gradient_norm <= GRADIENT_TOLERANCE and phases), ending


def _number(step):
    """Return the number of steps made."""
    return step.optimizer.number + 1 if isinstance(step, Step) else 0
