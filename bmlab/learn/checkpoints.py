"""Checkpoints: a long run goes on after a crash as if there had been none.

What a step of the loop needs to go on is the step itself and the states of the random generators, wherever they hide.
The file holds both behind a SHA-256 of what follows.  It is written beside its place, flushed to the disk, and put in
place by a rename, which the operating system does wholly or not at all; the file that was there before is kept until
the next is in place.  So at every moment one of the two is whole, and a torn one is known by its sum.
"""

import os
import pickle
from functools import partial
from hashlib import sha256
from pathlib import Path
from warnings import warn

import numpy as np
from scipy.sparse import issparse

from ..model import BoltzmannMachine

MARK = b"bmlab checkpoint 1\n"
SUM = 32  # bytes of a SHA-256


class Checkpoint:
    """The file of one run: where it is, whose it is, and the generators whose states belong to it."""

    def __init__(self, path, model, data, infer, options):
        self.path = Path(path)
        self.before = self.path.with_name(self.path.name + ".before")
        told = {"model": model, "data": data, "infer": infer, **options}
        self.run = {name: _digest(value) for name, value in told.items() if not hasattr(value, "__next__")}
        self.generators = generators((infer, options.get("clamped"), options.get("rng")))

    def save(self, *state) -> None:
        """Write the state of the run, and keep the file that was there."""
        body = pickle.dumps((self.run, state, [rng.bit_generator.state for rng in self.generators]))
        new = self.path.with_name(self.path.name + ".new")
        with open(new, "wb") as file:
            file.write(MARK + sha256(body).digest() + body)
            file.flush()
            os.fsync(file.fileno())
        if self.path.exists():
            os.replace(self.path, self.before)
        os.replace(new, self.path)

    def load(self):
        """Return the last state that is whole, and set the generators to what they were; None where there is no file.

        Raises ValueError where no file is whole, and where it is of another run.
        """
        torn = []
        for path in (self.path, self.before):
            try:
                run, state, random = _read(path)
            except FileNotFoundError:
                continue
            except ValueError as error:
                torn.append(str(error))
                continue
            self._check(run, path)
            for rng, was in zip(self.generators, random, strict=True):
                rng.bit_generator.state = was
            if torn:
                warn(f"{torn[0]}; going on from {path}, the one before it.", UserWarning, stacklevel=4)
            return state
        if torn:
            raise ValueError(f"{torn[0]}, and there is none before it; delete it to begin again")
        return None

    def _check(self, run, path):
        other = [name for name in {**self.run, **run} if self.run.get(name) != run.get(name)]
        if other:
            raise ValueError(
                f"{path} belongs to another run (other {', '.join(other)}); delete it, or give another path"
            )


def _read(path):
    """Return what save() wrote; raise ValueError where the file is torn."""
    whole = path.read_bytes()
    body = whole[len(MARK) + SUM :]
    if not whole.startswith(MARK) or sha256(body).digest() != whole[len(MARK) : len(MARK) + SUM]:
        raise ValueError(f"{path} holds no whole checkpoint")
    return pickle.loads(body)


def generators(thing) -> list[np.random.Generator]:
    """Return the random generators inside a method: in a partial's arguments, a closure, a tuple, or the globals it
    names; each once, in a fixed order."""
    found = {}
    _collect(thing, found, set())
    return list(found.values())


def _collect(thing, found, seen):
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.random.Generator):
        found[id(thing)] = thing
    for part in _parts(thing):
        _collect(part, found, seen)


def _parts(thing):
    """What may hold a generator inside `thing`."""
    if isinstance(thing, (tuple, list)):
        return thing
    if isinstance(thing, partial):
        return [thing.func, *thing.args, *thing.keywords.values()]
    code = getattr(thing, "__code__", None)
    if code is not None:
        globals_ = (thing.__globals__.get(name) for name in code.co_names)
        return [
            *(cell.cell_contents for cell in thing.__closure__ or ()),
            *(thing.__defaults__ or ()),
            *(thing.__kwdefaults__ or {}).values(),
            *(x for x in globals_ if isinstance(x, np.random.Generator)),
        ]
    return list(vars(thing).values()) if callable(thing) and hasattr(thing, "__dict__") else []


def _digest(value):
    """A short name of a value that is the same in every run of a program."""
    return sha256(_bytes(value)).hexdigest()[:16]


def _bytes(value):
    if isinstance(value, np.random.Generator):
        return b"generator"
    if isinstance(value, BoltzmannMachine):
        return b"".join(map(_bytes, (value.weights, value.biases, value.temperature, value.offset)))
    if issparse(value):
        return b"".join(_bytes(x) for x in (value.tocsr().data, value.tocsr().indices, value.tocsr().indptr))
    if isinstance(value, partial):
        named = (name.encode() + _bytes(x) for name, x in sorted(value.keywords.items()))
        return b"".join([_bytes(value.func), *map(_bytes, value.args), *named])
    if isinstance(value, (str, int, float, type(None))):
        return repr(value).encode()
    if callable(value):
        return getattr(value, "__qualname__", type(value).__qualname__).encode()
    if hasattr(value, "model"):  # a Step
        return _bytes(value.model) + repr(value.loop.number).encode()
    array = np.asarray(value)
    return repr((array.shape, array.dtype.str)).encode() + array.tobytes()
