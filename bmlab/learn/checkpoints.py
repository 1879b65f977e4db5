"""Checkpoints: save and load a Step, so that a run that was killed continues with exactly the same results.

The file (.npz) holds arrays, and a JSON text that assigns each to the Step or to the state of the generator.  Reading
it runs no code.  stored() marks the types of records that a file may hold.  The arguments of a run are kept as digests,
and must be the same when it continues.  A function is identified by its name, so a function without a name, a lambda,
is refused at the start.
"""

from __future__ import annotations

import json
from functools import partial
from hashlib import sha256
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from ..checking.arrays import names_of
from ..checking.validation import as_generator, check_array, is_sparse
from ..infer.sampling.chains import digest_of, stream_of
from ..running.files import STORED, check_path, read_arrays, write_arrays
from .record import Step


class Checkpoint:
    """The file of one run: its path, the run's random generator, and digests of the run's arguments."""

    def __init__(
        self, path: str | Path, model: Any, data: Any, rng: Any, methods: dict[str, Any], options: dict[str, Any]
    ):
        self.path = check_path("checkpoint", path)
        rng_now = None if rng is None else as_generator(rng)
        self.bits = rng_now and rng_now.bit_generator
        self.digests = {name: _digest(name, value) for name, value in {"model": model, "data": data, **options}.items()}
        self.digests |= {name: _name_of(name, method, rng) for name, method in methods.items()}
        self.digests["rng"] = stream_of(rng_now) if rng_now else "none"

    def save(self, step: Step) -> None:
        """Write the Step and the state of the generator, completely or not at all."""
        arrays, random = {}, self.bits and self.bits.state
        text = json.dumps(_packed([self.digests, step, random], arrays))
        write_arrays(self.path, arrays | {"json": np.frombuffer(text.encode(), np.uint8)})

    def load(self) -> Step | None:
        """Return the saved Step and restore the state of the generator; None if there is no file.

        Raises ValueError if the file is damaged, or is of another run.
        """
        if not self.path.exists():
            return None
        arrays = read_arrays(self.path, "checkpoint", "begin again")
        try:
            digests, step, random = _unpacked(json.loads(arrays["json"].tobytes()), arrays)
            if random and self.digests["rng"] == digest_of(random):  # the generator continues the saved run
                self.digests["rng"] = digests["rng"]
            other = ", ".join(name for name in self.digests if digests.get(name) != self.digests[name])
        except Exception as error:  # any error of a reader: save() did not write this
            raise ValueError(f"{self.path} holds no whole checkpoint ({type(error).__name__}); delete it") from None
        if other:
            way_out = ", or pass rng as it was when the run began" if other == "rng" else ""
            raise ValueError(
                f"{self.path} belongs to another run (other {other}); delete it, or give another path{way_out}"
            )
        if self.bits is not None:
            self.bits.state = random
        return step


def _name_of(name, method, rng):
    """Return a method's name; ValueError if it has none, or if it has a generator whose state is not saved."""
    while isinstance(method, partial):
        for bound in (*method.args, *method.keywords.values()):
            if isinstance(bound, (np.random.Generator, np.random.BitGenerator)) and bound is not rng:
                raise ValueError(
                    f"{name} draws from a generator of its own, whose state no checkpoint keeps; bind the rng of fit() "
                    "to it: fit(..., functools.partial(bmlab.gibbs, rng=rng), rng=rng)"
                )
        method = method.func
    found = "" if method is None else getattr(method, "__qualname__", type(method).__qualname__)
    if "<" in found:
        raise ValueError(
            f"{name} is {found}, which no checkpoint can tell from another; write it as a function of a module"
        )
    return found


def _digest(name, value):
    """Return a digest of numbers or words: the same in every run, and for equal numbers of other types."""
    arrays: dict[str, np.ndarray] = {}
    is_plain = value is None or isinstance(value, str) or type(value).__name__ in STORED
    text = _packed(value if is_plain else check_array(name, value), arrays)
    parts = [f"{a.dtype}{a.shape}".encode() + a.tobytes() for a in arrays.values()]
    return sha256(json.dumps([text, names_of(value)]).encode() + b"".join(parts)).hexdigest()


def _packed(value, arrays):
    """Return a value as JSON, with its arrays stored under names; an Estimate loses `info` and `model`."""
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
    if kind in STORED:
        record, but = STORED[kind]
        value = {name: getattr(value, name) for name in signature(record).parameters if name not in but}
    if isinstance(value, dict):
        return {kind: {name: _packed(part, arrays) for name, part in value.items()}}
    raise ValueError(
        f"a checkpoint cannot hold a {kind}, which the state of an answer of this run has in it; let it be arrays, "
        "numbers, words, lists or dicts, or pass checkpoint=None"
    )


def _unpacked(packed: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return the value that _packed() was given."""
    if not isinstance(packed, dict):
        return packed
    ((kind, content),) = packed.items()
    if kind == "array":
        return arrays[content]
    if isinstance(content, dict):
        parts = {name: _unpacked(part, arrays) for name, part in content.items()}
        return parts if kind == "dict" else STORED[kind][0](**parts)
    parts = [_unpacked(part, arrays) for part in content]
    if kind == "sparse":
        return scipy.sparse.csr_array(tuple(parts[:3]), shape=parts[3])
    return tuple(parts) if kind == "tuple" else parts
