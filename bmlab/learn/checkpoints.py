"""Checkpoints: a long run goes on after a crash as if there had been none.

What a step of the loop needs to go on is the step itself and the state of the random generator.  The file holds both as
.npz: arrays, and one JSON that says what they are; reading it runs no code.  It is written beside its place, flushed to
the disk, and put in place by a rename, which the operating system does wholly or not at all (files.py); the file that
was there before is kept until the next is in place.  So at every moment one of the two is whole, and a torn one is
known by the sums that every part of a zip file carries.

What a file cannot hold is refused when the run begins: methods with a memory of their own, generators other than `rng`.
"""

import inspect
import json
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple
from warnings import warn

import numpy as np
import scipy

from ..arrays import names_of
from ..checks import check_array, is_sparse
from ..estimate import Estimate, LogZ, NotConverged, quietly
from ..files import check_path, read_arrays, write_arrays
from ..infer.bounds.tree_reweighting import Mixture
from ..infer.sampling.annealed_importance import Runs
from ..infer.sampling.tempering import Ladder
from ..model import BoltzmannMachine
from .record import Loop, Step

JSON = "checkpoint"  # the name of the part that says what the others are
SAME = 1e-9  # answers differ by less, from rounding, where nothing random but `rng` is drawn


class Torn(NotConverged):
    """Warn that a checkpoint is torn, and that the run goes on from the one before it."""


class Best(NamedTuple):
    """Hold the step that did best on held-out data, its score, and how many looks ago that was."""

    score: float = -np.inf
    step: Step | None = None
    waited: int = 0


RECORDS = {kind.__name__: kind for kind in (BoltzmannMachine, Estimate, Step, Loop, Best, Ladder, Runs, Mixture)}


class Checkpoint:
    """The file of one run: where it is, and whose it is, `told` by the names of fit()'s arguments.

    Raises ValueError where the run depends on what no file can hold.
    """

    def __init__(self, path: str | Path, told: dict[str, Any], rng: np.random.Generator | None):
        self.path, self.rng = check_path("checkpoint", path), rng
        self.before = self.path.with_name(self.path.name + ".before")
        self.seen, self.torn = self._on_disk(), ""
        self.run = {name: _digest(value, name, rng) for name, value in told.items()}
        if isinstance(told["model"], Step):
            packed(told["model"], {})
        if not self.path.exists():
            self._check_repeatable(told["model"], told["data"], told["infer"], told["clamped"])

    def save(self, step: Step, best: Best) -> None:
        """Write the state of the run, and keep the file that was there."""
        arrays: dict[str, Any] = {}
        told = packed({"run": self.run, "step": step, "best": best, "random": self._random()}, arrays)
        if self._on_disk() != self.seen:
            raise ValueError(f"{self.path} is written by another run at the same time; give each run its own")
        write_arrays(self.path, arrays | {JSON: np.frombuffer(json.dumps(told).encode(), np.uint8)}, keep=self.before)
        self.seen = self._on_disk()

    def load(self) -> tuple[Step, Best] | None:
        """Return the last state that is whole, and set the generator to what it was; None where there is no file.

        Raises ValueError where no file is whole, and where it is of another run.
        """
        torn = ""
        for path in (self.path, self.before):
            try:
                state = _read(path)
            except FileNotFoundError:
                continue
            except ValueError as error:
                torn = torn or str(error)
                continue
            self._check_run(state["run"], path)
            if self.rng is not None:
                self.rng.bit_generator.state = state["random"]
            if torn:
                self.torn = f"{torn}; going on from {path}, the one before it."
                warn(self.torn, Torn, stacklevel=4)
            return state["step"], state["best"]
        if torn:
            raise ValueError(f"{torn}, and there is none before it; delete it to begin again")
        return None

    def _on_disk(self):
        """Which file there is: another run may write one."""
        with suppress(FileNotFoundError):
            stat = self.path.stat()
            return stat.st_ino, stat.st_mtime_ns, stat.st_size
        return None

    def _random(self) -> Any:
        return None if self.rng is None else self.rng.bit_generator.state

    def _check_run(self, run, path):
        other = ", ".join(name for name in {**self.run, **run} if self.run.get(name) != run.get(name))
        if other:
            raise ValueError(f"{path} belongs to another run (other {other}); delete it, or give another path")

    def _check_repeatable(self, model, data, infer, clamped):
        """Ask methods that are not of this package twice, with `rng` set back: they may draw from elsewhere."""
        model = model.model if isinstance(model, Step) else model
        for name, ask in (("infer", partial(infer, model)), ("clamped", clamped and partial(clamped, model, data))):
            if ask and not _whole(ask).__module__.startswith("bmlab."):
                one, other = self._asked(ask), self._asked(ask)
                if not np.allclose(one.mean, other.mean, rtol=0, atol=SAME, equal_nan=True):
                    raise ValueError(
                        f"{name} answers differently when it is asked twice with rng set back, so it could not go on "
                        "from a file; let it draw from rng only, bound with functools.partial"
                    )

    def _asked(self, ask):
        random = self._random()
        with quietly():
            answer = ask(start=None)
        if self.rng is not None:
            self.rng.bit_generator.state = random
        return answer


def _read(path):
    """Return what save() wrote; raise ValueError where the file is torn, or is something else."""
    arrays = read_arrays(path, "checkpoint", "begin again")
    try:
        return unpacked(json.loads(arrays[JSON].tobytes()), arrays)
    except Exception as error:  # whatever a reader says of parts that were not written by save()
        raise ValueError(f"{path} holds no whole checkpoint ({type(error).__name__})") from None


def packed(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return the value as JSON, with its arrays put under names; `info` is for people and stays behind."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, LogZ):
        return {"LogZ": [value.value, value.stderr, value.lower, value.upper]}
    if is_sparse(value):
        w: Any = scipy.sparse.csr_array(value)
        return {"sparse": [packed(part, arrays) for part in (w.data, w.indices, w.indptr)], "shape": list(w.shape)}
    if RECORDS.get(type(value).__name__) is type(value):
        names = [field.name for field in fields(value)] if is_dataclass(value) else value._fields
        return {type(value).__name__: {k: packed(getattr(value, k), arrays) for k in names if k != "info"}}
    if isinstance(value, dict):
        return {"dict": {name: packed(part, arrays) for name, part in value.items()}}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [packed(part, arrays) for part in value]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays[f"array {len(arrays)}"] = value
        return {"array": f"array {len(arrays) - 1}"}
    raise ValueError(
        f"a checkpoint cannot hold a {type(value).__name__}, which a state of this run has in it; pass checkpoint=None"
    )


def unpacked(told: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return what packed() was given."""
    if not isinstance(told, dict):
        return told
    (kind, held), *more = told.items()
    if kind == "array":
        return arrays[held]
    if kind == "LogZ":
        return LogZ(*held)
    if kind == "sparse":
        return scipy.sparse.csr_array(tuple(unpacked(part, arrays) for part in held), shape=tuple(more[0][1]))
    if kind in ("list", "tuple"):
        listed = [unpacked(part, arrays) for part in held]
        return listed if kind == "list" else tuple(listed)
    parts = {name: unpacked(part, arrays) for name, part in held.items()}
    return parts if kind == "dict" else RECORDS[kind](**parts)


def _whole(method):
    """The function inside partials and decorators."""
    while isinstance(method, partial):
        method = method.func
    return inspect.unwrap(method)


def _digest(value, name, rng):
    """A short name of an argument's value, the same in every run, however equal numbers are written."""
    arrays: dict[str, np.ndarray] = {}
    told = json.dumps(_identity(value, name, rng, arrays)).encode()
    return sha256(told + b"".join(repr(a.shape).encode() + a.tobytes() for a in arrays.values())).hexdigest()[:16]


def _identity(value, name, rng, arrays):
    """What tells a value from others, as JSON; raise ValueError where it may hold more than a file can."""
    if value is None or value is rng:
        return "nothing" if value is None else "rng"
    if isinstance(value, partial):
        parts = value.func, *value.args, *chain.from_iterable(sorted(value.keywords.items()))
        return [_identity(part, name, rng, arrays) for part in parts]
    function = inspect.unwrap(value) if callable(value) else None
    if isinstance(function, FunctionType) and function.__closure__ is None:
        return f"{function.__module__}.{function.__qualname__}"
    if isinstance(value, (str, BoltzmannMachine, Estimate, Step)):
        return packed(value, arrays)
    try:
        return [packed(check_array(name, value), arrays), *names_of(value)]
    except ValueError:
        raise ValueError(
            f"a run that goes on from a file must be told all that it depends on, and {name} holds a "
            f"{type(value).__name__}; write methods as plain functions, and bind numbers, arrays and the rng of fit() "
            "to them with functools.partial"
        ) from None
