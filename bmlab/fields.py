"""What the units of a machine feel of each other: fields, energies, neighbours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .model import BoltzmannMachine


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
    """Return the energy of any numbers x (..., n), in shape (...)."""
    return model.offset - (x * (field_of(model, x) + model.biases)).sum(-1) / 2
