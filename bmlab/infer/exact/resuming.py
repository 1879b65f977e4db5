"""A long exact answer goes on after a crash: the sum over the parts that are done is kept in a file."""

from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ...checks import in_words, is_sparse
from ...files import check_path, read_arrays, write_arrays
from ...model import BoltzmannMachine

EVERY = 10.0  # seconds from one writing to the next


class Saved:
    """The file of one question: the sums over the parts that are done, in .npz; made at once, and replaced whole.

    Raises ValueError where it is of another machine or question, and OSError where it cannot be written.
    """

    def __init__(self, path: str | Path, model: BoltzmannMachine, *question: Any):
        self.path, self.question = check_path("checkpoint", path), _digest(model, question)
        self.arrays: dict[str, Any] = {"question": np.array(self.question)}
        if self.path.exists():
            self.arrays = read_arrays(self.path, "checkpoint", "give another path, or delete it")
            if str(self.arrays.get("question")) != self.question:
                raise ValueError(
                    f"checkpoint {self.path} holds the answer to another question; give another path, or delete it"
                )
        self.prefix, self.written = "", -np.inf
        self.write()

    def turn_to(self, units: np.ndarray) -> None:
        """Turn to the sums of a group of units that hang together."""
        self.prefix = f"{units[0]} "

    def begun(self, empty: dict[str, Any]) -> dict[str, Any]:
        """Return the sums that the file holds, or the empty ones; raise ValueError for what cannot be such sums."""
        found = {key: np.asarray(self.arrays.get(self.prefix + key, value)) for key, value in empty.items()}
        for key, value in empty.items():
            like, own = np.asarray(value), found[key]
            if own.shape != like.shape or own.dtype.kind != like.dtype.kind or (like.dtype.kind == "i" and own < 0):
                raise ValueError(f"checkpoint {self.path} holds no sums ({key} is {in_words(own)}); delete it")
        return {key: value if value.ndim else value.item() for key, value in found.items()}

    def keep(self, sums: dict[str, Any]) -> None:
        """Take the sums as they are now, and write them from time to time."""
        self.arrays |= {self.prefix + key: np.array(value) for key, value in sums.items()}
        if perf_counter() - self.written > EVERY:
            self.write()

    def write(self) -> None:
        """Write the file."""
        write_arrays(self.path, self.arrays)
        self.written = perf_counter()


def _digest(model, question):
    """Return a digest of the numbers of a machine and of what is asked."""
    w = model.weights
    arrays = (w.data, w.indices, w.indptr) if is_sparse(w) else (w,)
    told = sha256(repr((model.n, model.temperature, model.offset, *question)).encode())
    for array in (*arrays, model.biases):
        told.update(np.ascontiguousarray(array).tobytes())
    return told.hexdigest()
