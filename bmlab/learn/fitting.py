"""fit(): the learning loop run to its end, with checkpoints."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from hashlib import sha256
from inspect import signature, unwrap
from itertools import islice
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import scipy

from ..arrays import names_of
from ..budgets import check_memory
from ..calls import show_call
from ..estimate import Bounded, Estimate, Method
from ..files import check_path, read_arrays, write_arrays
from ..infer.exact.dispatch import exact
from ..model import BoltzmannMachine, check_model
from ..progress_bars import with_progress
from ..validation import ArrayLike, check_array, check_count, generator, is_sparse
from .ascent import ascend, check_drawn
from .observations import Moments, checked_rows
from .record import ALL_STEPS, Fit, OptimizerState, Step

HELD = 8 * 4.3  # bytes for each weight that a Step keeps: a machine, two phases and a velocity
AT_REST = 1e-6  # the tolerance of maximize()


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
               off.  All that is random must come from `rng`, and states must be arrays (those of temper are not)
    converged: the last slope is at most 1e-6, by phases that have converged, and each hidden unit has weights.  It is
    no warning where it has not, nor where an Estimate has not: look at Step.free.converged.
    Raises ValueError for options out of range, where the free phase does not know a weight's slope, for a checkpoint
    of another run, and where methods or states hold more than a file can.

    >>> blank = bmlab.BoltzmannMachine([[0, 0], [0, 0]], [0, 0])
    >>> data = np.repeat([[1, 1], [-1, -1], [1, -1], [-1, 1]], [3, 3, 1, 1], axis=0)  # they agree 3 times in 4
    >>> bmlab.fit(blank, data, steps=500, rate=0.2).model.weights[0, 1].round(4)  # arctanh(1/2)
    np.float64(0.5493)
    """
    steps, every = check_count("steps", steps), check_count("every", every)
    options = {
        "rate": rate,
        "free_start": free_start,
        "clamped_phase": clamped_phase,
        "couplings": couplings,
        "biases": biases,
    }
    options |= {"penalty": penalty, "l1": l1, "momentum": momentum, "batch": batch}
    check_drawn(rng, batch)
    rng = None if rng is None else generator(rng)
    file = (
        None
        if checkpoint is None
        else Checkpoint(checkpoint, {"model": model, "data": data, "infer": infer, **options}, rng)
    )
    step = (file and file.load()) or model
    kept: list[Any] = [] if step is model else [step]
    end = _number(model) + steps
    more = max(0, end - _number(step))
    _check_kept(step, more // every + 2)
    climb = islice(ascend(step, data, infer, rng=rng, **options), more)
    for step in with_progress(climb, "step", more):
        if step.loop.number % every == 0 or step.loop.number + 1 == end:
            kept.append(step)
            if file:
                file.save(step)
    if not isinstance(step, Step):
        raise ValueError("rate has no numbers, so no step was made; pass a number, or one for each step")
    if not kept or kept[-1] is not step:  # the rates ended first
        kept.append(step)
    return Fit(step.model, *_at_rest(step, data), tuple(kept))


def _check_kept(step, count):
    """Raise ValueError where so many steps do not fit into the memory."""
    model = step.model if isinstance(step, Step) else step
    check_model(model)
    size = HELD * (model.weight_count if model.is_sparse else model.n**2)
    check_memory(f"{count:,} steps of {model.n:,} units would be kept", count * size, "pass every=100, or more")


def _at_rest(step, data):
    """Return whether the last step is known to be at a maximum, and what is to be said of the end."""
    hidden = not isinstance(data, Estimate) and np.isnan(checked_rows(step.model, data)).all(0)
    idle = np.flatnonzero(hidden & (abs(step.model.weights).sum(1) == 0))
    phases = step.free.converged and step.clamped.converged
    said = f"{ALL_STEPS}, and the slope is {step.gradient_norm:.2g}"
    if len(idle):
        return False, f"{said}, but hidden unit {idle[0]} has no weights and learns none; begin with small random ones"
    return bool(step.gradient_norm <= AT_REST and phases), said


def _number(step):
    """How many steps of the loop are made."""
    return step.loop.number + 1 if isinstance(step, Step) else 0


# A run that was killed goes on from a file as if it had not been.


RECORDS = {kind.__name__: kind for kind in (BoltzmannMachine, Estimate, Moments, Step, OptimizerState, Bounded)}
LEFT = {(kind, name) for kind in ("Estimate", "Moments") for name in ("info", "model")}  # for people, and in the Step


class Checkpoint:
    """The path of a run's file (.npz), its generator, and what tells the run from others.

    The file holds arrays, and one JSON that says where each belongs: in the Step, or in the state of the generator.
    Reading it runs no code.
    """

    def __init__(self, path: str | Path, run: dict[str, Any], rng: np.random.Generator | None):
        self.path, self.rng = check_path("checkpoint", path), rng
        self.run = {name: _told(name, value, rng) for name, value in run.items()}
        self.run["rng"] = type(rng.bit_generator).__name__ if rng else "None"

    def save(self, step: Step) -> None:
        """Write the state of the run, wholly or not at all."""
        random, arrays = self.rng and self.rng.bit_generator.state, {}
        text = json.dumps(_packed([self.run, step, random], arrays))
        write_arrays(self.path, arrays | {"json": np.frombuffer(text.encode(), np.uint8)})

    def load(self) -> Step | None:
        """Return what was saved and set the generator to what it was; None where there is no file.

        Raises ValueError where the file is torn, or is of another run.
        """
        if not self.path.exists():
            return None
        arrays = read_arrays(self.path, "checkpoint", "begin again")
        try:
            run, step, random = _unpacked(json.loads(arrays["json"].tobytes()), arrays)
            other = ", ".join(name for name in self.run if run.get(name) != self.run[name])
        except Exception as error:  # whatever a reader says of parts that were not written by save()
            raise ValueError(f"{self.path} holds no whole checkpoint ({type(error).__name__}); delete it") from None
        if other:
            raise ValueError(f"{self.path} belongs to another run (other {other}); delete it, or give another path")
        if self.rng is not None:
            self.rng.bit_generator.state = random
        return step


def _told(name, value, rng):
    """Return what tells an argument from others, the same in every run, however equal numbers are written."""
    if isinstance(value, partial):
        parts = [value.func, *value.args, *(part for pair in sorted(value.keywords.items()) for part in pair)]
        return " ".join(_told(name, part, rng) for part in parts)
    if value is None or isinstance(value, str) or value is rng:
        return "rng" if value is not None and value is rng else repr(value)
    function, arrays = unwrap(value) if callable(value) else None, {}
    if isinstance(function, FunctionType) and "<" not in function.__qualname__:  # of those, many share a name
        return f"{function.__module__}.{function.__qualname__}"
    try:
        text = _packed(value if type(value).__name__ in RECORDS else check_array(name, value), arrays)
    except ValueError:
        raise ValueError(
            f"{name} holds a {type(value).__name__}, and a run that goes on must be told all that it depends on; write "
            "methods as functions of a module, with numbers, arrays and the rng of fit() bound by functools.partial"
        ) from None
    body = json.dumps([text, names_of(value)]).encode()
    return sha256(body + b"".join(repr(a.shape).encode() + a.tobytes() for a in arrays.values())).hexdigest()


def _packed(value, arrays):
    """Return a value as JSON, its arrays put under names; of an Estimate `info` and `model` stay behind."""
    kind = type(value).__name__
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf":
        arrays[f"array {len(arrays)}"] = np.asarray(value)
        return {"array": f"array {len(arrays) - 1}"}
    if is_sparse(value):  # Bethe's messages
        w: Any = scipy.sparse.csr_array(value)
        return {"sparse": [_packed(part, arrays) for part in (w.data, w.indices, w.indptr, np.array(w.shape))]}
    if isinstance(value, (list, tuple)) and kind in ("list", "tuple"):
        return {kind: [_packed(part, arrays) for part in value]}
    if kind in RECORDS:
        value = {name: getattr(value, name) for name in signature(RECORDS[kind]).parameters if (kind, name) not in LEFT}
    if isinstance(value, dict):
        return {kind: {name: _packed(part, arrays) for name, part in value.items()}}
    raise ValueError(f"a checkpoint cannot hold a {kind}, which a state of this run has in it; pass checkpoint=None")


def _unpacked(told: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return what _packed() was given."""
    if not isinstance(told, dict):
        return told
    ((kind, held),) = told.items()
    if kind == "array":
        return arrays[held]
    if isinstance(held, dict):
        parts = {name: _unpacked(part, arrays) for name, part in held.items()}
        return parts if kind == "dict" else RECORDS[kind](**parts)
    parts = [_unpacked(part, arrays) for part in held]
    if kind == "sparse":
        return scipy.sparse.csr_array(tuple(parts[:3]), shape=parts[3])
    return tuple(parts) if kind == "tuple" else parts
