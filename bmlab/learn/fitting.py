"""fit(): the learning loop of learning_steps(), gradient ascent, run to its end, with checkpoints."""

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
    """Climb the likelihood by clamped minus free, and keep the steps.

    model      where to begin; or a Step of such a climb, to go on after it
    data       (N, v) of -1/+1 for the first v units, nan where an entry is missing; columns of a DataFrame go to the
               units of their names, or name them.  Or moments() of rows that need not fit into memory
    infer      the free phase, and the clamped one where hidden units are coupled
    steps      how many at most; the first is the model given
    rate       a number; or one number a step, and the loop ends with them (np.linspace(0.05, 0, 300) falls to rest).
               Beyond 2 T^2 over the largest eigenvalue of the covariance of all s_i and s_i s_j the climb overshoots:
               about 0.08 for fifteen correlated units; with momentum, (1 + momentum) times that
    free_start where the free phase starts: "previous", at its last state; "fresh", nowhere; "data", at the data
    clamped_phase   model, data, start -> Estimate: another clamped phase, such as clamped_mean_field or clamped_gibbs
    couplings  boolean (n, n): the weights that learn; None: those of the machine (model.couplings, or sparse weights)
    biases     boolean (n,): the biases that learn, the others stay as they are; None: all
    penalty, l1   the climbed function is L - penalty/2 * sum_{i<j} w_ij^2 - l1 * sum_{i<j} |w_ij|
    momentum   share of the last move kept, 0 <= momentum < 1: the rate is felt 1/(1 - momentum) times
    batch      rows a step, from one shuffling (by `rng`) of the data after another: each row once in N; None: all
    every      keep and save every so many steps, and the last; each keeps about 34 bytes a weight, dense or stored
    checkpoint path of a file (.npz) to go on from where it exists, and to save to.  A run that was killed ends, when
               it is called again alike, as if it had not been, to the bit; the steps kept begin where the file left
               off.  All that is random must come from `rng`, as it was at the first call, or where the file ends.
               The state of an answer may be that of any method of bmlab, or arrays, numbers, words, lists and dicts.
               A call with another model, data, rng or option (but steps and every) is refused, also with a function
               of another name as `infer` or `clamped_phase`, and one for fewer steps than the file holds.  What is
               bound to these functions, and their code, is not compared
    converged: the last slope is at most 1e-6, by phases that have converged, each hidden unit has weights, and if
    `infer` is not exact the machine's moments are not more than 5 errors off the data's (Fit.misfit).  It is
    no warning where it has not, nor where an Estimate has not: look at Step.free.converged.
    Raises ValueError for options out of range, where the free phase does not know a weight's slope, for a checkpoint
    of another run, and where methods or states hold more than a file can.

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
    is_exact = getattr(infer, "func", infer) is exact  # then the slope says it all
    return replace(found, misfit=compared.size) if is_exact else found.compared(compared)


def _check_kept(step, count):
    """Raise ValueError where so many steps do not fit into the memory."""
    model = step.model if isinstance(step, Step) else step
    check_model(model)
    size = BYTES_A_WEIGHT * (model.weight_count if model.is_sparse else model.n**2)
    check_memory(f"{count:,} steps of {model.n:,} units would be kept", count * size, "pass every=100, or more")


def _convergence(step, data, ending):
    """Return whether the last step is known to be at a maximum, and how the climb ended."""
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
    """How many steps of the loop are made."""
    return step.optimizer.number + 1 if isinstance(step, Step) else 0
