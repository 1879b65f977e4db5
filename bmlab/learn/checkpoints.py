"""Checkpoints: a run that was killed goes on from a file as if it had not been.

The file (.npz) holds arrays, and one JSON that says where each belongs: in the Step (machine, moments, states of the
chains, velocity, number), in the step that did best on held-out rows, or in the state of `rng`.  Reading it runs no
code.  Methods that draw from anywhere but `rng`, and states that are no arrays, are refused when the run begins.
"""

import json
from functools import partial
from hashlib import sha256
from inspect import signature, unwrap
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..arrays import names_of
from ..checks import check_array, is_sparse
from ..estimate import Bounded, Estimate, quietly
from ..files import check_path, read_arrays, write_arrays
from ..model import BoltzmannMachine
from .record import Loop, Step


class Best(NamedTuple):
    """Hold the step that did best on held-out data, its score, and how many looks ago that was."""

    score: float = -np.inf
    step: Step | None = None
    waited: int = 0


RECORDS = {kind.__name__: kind for kind in (BoltzmannMachine, Estimate, Step, Loop, Best, Bounded)}


class Checkpoint:
    """Hold the path of a run's file, its generator, and what tells the run from others."""

    def __init__(self, path: str | Path, run: dict[str, Any], rng: np.random.Generator | None):
        self.path, self.rng = check_path("checkpoint", path), rng
        self.run = {name: told(name, value, rng) for name, value in run.items()}
        model = run["model"].model if isinstance(run["model"], Step) else run["model"]
        for name, about in ("infer", [model]), ("clamped", [model, run["data"]]):
            if run[name] is not None and not self.path.exists() and not self.run[name].startswith("bmlab."):
                one, other = (self._asked(run[name], about) for _ in range(2))
                if not np.allclose(one, other, rtol=0, atol=1e-9, equal_nan=True):
                    raise ValueError(
                        f"{name} answers differently when it is asked twice with rng set back; bind rng to it"
                    )

    def _asked(self, method, about):
        random: Any = self.rng and self.rng.bit_generator.state
        with quietly():
            mean = method(*about, start=None).mean
        if self.rng is not None:
            self.rng.bit_generator.state = random
        return mean

    def save(self, step: Step, best: Best) -> None:
        """Write the state of the run, wholly or not at all."""
        random, arrays = self.rng and self.rng.bit_generator.state, {}
        text = json.dumps(packed([self.run, step, best, random], arrays))
        write_arrays(self.path, arrays | {"json": np.frombuffer(text.encode(), np.uint8)})

    def load(self) -> tuple[Step, Best] | None:
        """Return what was saved and set the generator to what it was; None where there is no file.

        Raises ValueError where the file is torn, or is of another run.
        """
        if not self.path.exists():
            return None
        arrays = read_arrays(self.path, "checkpoint", "begin again")
        try:
            run, step, best, random = unpacked(json.loads(arrays["json"].tobytes()), arrays)
            other = ", ".join(name for name in self.run if run.get(name) != self.run[name])
        except Exception as error:  # whatever a reader says of parts that were not written by save()
            raise ValueError(f"{self.path} holds no whole checkpoint ({type(error).__name__}); delete it") from None
        if other:
            raise ValueError(f"{self.path} belongs to another run (other {other}); delete it, or give another path")
        if self.rng is not None:
            self.rng.bit_generator.state = random
        return step, best


def told(name: str, value: Any, rng: np.random.Generator | None) -> str:
    """Return what tells an argument from others, the same in every run, however equal numbers are written."""
    if isinstance(value, partial):
        parts = [value.func, *value.args, *(part for pair in sorted(value.keywords.items()) for part in pair)]
        return " ".join(told(name, part, rng) for part in parts)
    if value is None or isinstance(value, str) or value is rng:
        return "rng" if value is not None and value is rng else repr(value)
    function, arrays = unwrap(value) if callable(value) else None, {}
    if isinstance(function, FunctionType) and function.__closure__ is None:
        return f"{function.__module__}.{function.__qualname__}"
    try:
        text = packed(value if type(value).__name__ in RECORDS else check_array(name, value), arrays)
    except ValueError:
        raise ValueError(
            f"{name} holds a {type(value).__name__}, and a run that goes on must be told all that it depends "
            "on; write methods as plain functions, with numbers, arrays and the rng of fit() bound by functools.partial"
        ) from None
    body = json.dumps([text, names_of(value)]).encode()
    return sha256(body + b"".join(repr(a.shape).encode() + a.tobytes() for a in arrays.values())).hexdigest()


def packed(value: Any, arrays: dict[str, Any]) -> Any:
    """Return a value as JSON, its arrays put under names; `info` of an Estimate is for people and stays behind."""
    kind = type(value).__name__
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf":
        arrays[f"array {len(arrays)}"] = np.asarray(value)
        return {"array": f"array {len(arrays) - 1}"}
    if is_sparse(value):
        w: Any = scipy.sparse.csr_array(value)
        return {"sparse": [packed(part, arrays) for part in (w.data, w.indices, w.indptr, np.array(w.shape))]}
    if isinstance(value, (list, tuple)) and kind in ("list", "tuple"):
        return {kind: [packed(part, arrays) for part in value]}
    if kind in RECORDS:
        value = {name: getattr(value, name) for name in signature(RECORDS[kind]).parameters if name != "info"}
    if isinstance(value, dict):
        return {kind: {name: packed(part, arrays) for name, part in value.items()}}
    raise ValueError(f"a checkpoint cannot hold a {kind}, which a state of this run has in it; pass checkpoint=None")


def unpacked(told: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return what packed() was given."""
    if not isinstance(told, dict):
        return told
    ((kind, held),) = told.items()
    if kind == "array":
        return arrays[held]
    if isinstance(held, dict):
        parts = {name: unpacked(part, arrays) for name, part in held.items()}
        return parts if kind == "dict" else RECORDS[kind](**parts)
    parts = tuple(unpacked(part, arrays) for part in held)
    if kind == "sparse":
        return scipy.sparse.csr_array(parts[:3], shape=parts[3])
    return parts if kind == "tuple" else list(parts)
