"""What the units of a machine feel of each other: fields, energies, neighbours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .model import BoltzmannMachine

LEAST = 256  # rows that are worth a strip
STRIP = 2**18  # multiplications that BLAS does without threads; these cost few units more than they bring


def neighbours(model: BoltzmannMachine, i: int) -> tuple[Any, np.ndarray]:
    """Return (index, weights) of the units that unit i is coupled to: every unit where weights are dense."""
    if not model.is_sparse:
        return slice(None), model.weights[i]
    row = slice(model.weights.indptr[i], model.weights.indptr[i + 1])
    return model.weights.indices[row], model.weights.data[row]


def field_of(model: BoltzmannMachine, x: np.ndarray) -> np.ndarray:
    """Return the field of any numbers x (..., n): a unit at 0 sends none."""
    return (x.reshape(math.prod(x.shape[:-1]), model.n) @ model.weights).reshape(x.shape) + model.biases


def energy_of(model: BoltzmannMachine, x: np.ndarray) -> np.ndarray:
    """Return the energy of any numbers x (..., n), in shape (...); of few units by strips of rows, which is faster."""
    strip = STRIP // max(1, model.n**2)
    if strip >= LEAST and x.size > strip * model.n:
        rows = x.reshape(-1, model.n)
        parts = np.split(rows, range(strip, len(rows), strip))
        return np.concatenate([energy_of(model, part) for part in parts]).reshape(x.shape[:-1])
    return model.offset - (x * (field_of(model, x) + model.biases)).sum(-1) / 2
