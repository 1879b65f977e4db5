"""The machine itself: n units s_i = -1/+1, symmetric weights W, biases b, a temperature T.

    E(s) = -1/2 s'Ws - b's + offset          p(s) = exp(-E(s)/T) / Z          Z = sum_s exp(-E(s)/T)

Unit i feels the others through its field h_i = sum_j w_ij s_j + b_i, and nothing else:
p(s_i = +1 | the others) = 1 / (1 + exp(-2 h_i / T)).

Clamping some units gives a smaller machine of the same kind: they turn into biases of the free units,
and their own energy into the offset.  That one fact carries the whole package.

Hinton and Sejnowski (1983), Optimal perceptual inference, CVPR; Ackley, Hinton and Sejnowski
(1985), A learning algorithm for Boltzmann machines, Cognitive Science 9, 147, eq. 1-4.
"""

from __future__ import annotations

import math
import zipfile
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from .arrays import check_finite, check_names, check_spins, check_weights, is_sparse, read_only
from .couplings import classes
from .html_repr import machine_card


@dataclass(frozen=True, eq=False)
class BoltzmannMachine:
    """Hold the parameters of a Boltzmann machine; never changed, only replaced.

    weights      (n, n) symmetric (to rounding) with zero diagonal, read-only: an array, or anything of scipy.sparse,
                 kept as canonical CSR with its stored zeros: then correlations live on its couplings, nothing costs n^2
    biases       (n,)
    temperature  T > 0, in the units of the energy
    offset       energy of the units that clamp() took out; 0 for a whole machine
    names        n distinct strings, or none; clamp(), conditional() and complete() find units by them

    dataclasses.replace(machine, weights=..., biases=...) is a machine with other numbers and all the rest.
    Raises ValueError where a shape, a symmetry or a value is not as above.
    """

    weights: Any
    biases: np.ndarray
    temperature: float = 1.0
    offset: float = 0.0
    names: tuple[str, ...] = ()

    def __post_init__(self):
        biases = read_only(np.array(self.biases, dtype=float))
        if biases.ndim != 1:
            raise ValueError(f"biases must be one row of numbers, found shape {biases.shape}; pass shape (n,)")
        check_finite("biases", biases)
        if not isinstance(self.temperature, Real) or not 0 < self.temperature < np.inf:
            raise ValueError(f"temperature must be positive and finite, found {self.temperature!r}; try 1.0")
        checked = {"weights": check_weights(self.weights, len(biases)), "names": check_names(self.names, len(biases))}
        checked |= {"biases": biases, "temperature": float(self.temperature), "offset": float(self.offset)}
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __reduce__(self):  # a copy that was pickled is checked, and read-only, as this one
        return BoltzmannMachine, (self.weights, self.biases, self.temperature, self.offset, self.names)

    def __repr__(self):
        kind = ", sparse" if self.is_sparse else ""
        return f"BoltzmannMachine(n={self.n}, couplings={self.coupling_count()}{kind}, T={self.temperature:g})"

    def _repr_html_(self):
        return machine_card(self)

    @property
    def n(self) -> int:
        """The number of units."""
        return len(self.biases)

    @property
    def is_sparse(self) -> bool:
        """Whether the weights are a scipy.sparse array."""
        return is_sparse(self.weights)

    @property
    def dense_weights(self) -> np.ndarray:
        """The weights as a read-only array (n, n), whatever their type; of a sparse machine a new one each time."""
        return read_only(self.weights.toarray()) if self.is_sparse else self.weights

    @property
    def has_couplings(self) -> bool:
        """Whether any weight differs from 0; a stored weight of a sparse machine counts, whatever its value."""
        return self.weights.nnz > 0 if self.is_sparse else bool(self.weights.any())

    def coupling_count(self) -> int:
        """Return how many pairs of units are coupled."""
        return int(self.weights.nnz if self.is_sparse else np.count_nonzero(self.weights)) // 2

    @cached_property
    def colours(self) -> list[np.ndarray]:
        """Classes of units (indices) that are not coupled inside, see couplings.py."""
        return classes(self.weights)

    def field(self, s: ArrayLike) -> np.ndarray:
        """Return h_i = sum_j w_ij s_j + b_i for the states s (..., n), in the same shape."""
        s = np.asarray(s, dtype=float)
        if s.shape[-1:] != (self.n,):
            raise ValueError(f"states must have {self.n} units along their last axis, found shape {s.shape}")
        return (s.reshape(math.prod(s.shape[:-1]), self.n) @ self.weights).reshape(s.shape) + self.biases

    def energy(self, s: ArrayLike) -> np.ndarray:
        """Return E(s) of the states s (..., n), in shape (...)."""
        s = np.asarray(s, dtype=float)
        return self.offset - (s * (self.field(s) + self.biases)).sum(-1) / 2

    def log_prob(self, s: ArrayLike, log_z: float) -> np.ndarray:
        """Return log p(s) = -E(s)/T - log Z of the states s (..., n), in shape (...).

        log_z is what a method answers for this machine, such as exact(machine).log_z.
        """
        return -self.energy(s) / self.temperature - float(log_z)

    def neighbours(self, i: int) -> tuple[Any, np.ndarray]:
        """Return (index, weights) of the units that unit i is coupled to: every unit where weights are dense."""
        if not self.is_sparse:
            return slice(None), self.weights[i]
        row = slice(self.weights.indptr[i], self.weights.indptr[i + 1])
        return self.weights.indices[row], self.weights.data[row]

    def indices(self, units: Any) -> np.ndarray:
        """Return the indices (k,) of units: one index or name, several, a slice, a mask (n,); else ValueError."""
        single = isinstance(units, str) or not (np.iterable(units) or isinstance(units, slice))
        asked: Any = [units] if single else units
        if not isinstance(asked, slice) and getattr(asked, "dtype", np.dtype(object)).kind in "OU":
            asked = [self._index(unit) if isinstance(unit, str) else unit for unit in asked]
        try:
            found = np.arange(self.n)[asked]
        except (IndexError, TypeError, ValueError):
            found = np.array(None)
        if found.ndim != 1:
            raise ValueError(f"units must be among 0 to {self.n - 1}, found {units}; count from 0")
        return found

    def _index(self, name: str) -> int:
        if name in self.names:
            return self.names.index(name)
        from difflib import get_close_matches  # for the message alone

        way_out = "see machine.names" if self.names else f"the units have no names, write a number up to {self.n - 1}"
        for close in get_close_matches(name, self.names, 1):
            way_out = f"did you mean {close!r}?"
        raise ValueError(f"{name!r} is no unit; {way_out}")

    def at(self, temperature: float) -> BoltzmannMachine:
        """Return the same machine at another temperature."""
        return replace(self, temperature=temperature)

    def clamp(self, units: Any, values: ArrayLike) -> BoltzmannMachine:
        """Hold `units` (indices, names, a mask) at `values` (-1/+1); return the machine of the others, in their order.

        Its log Z is the log of the sum over the free units only, so log p(values) = log Z(clamped) - log Z.
        Raises ValueError for what is no unit or no value, and for units that repeat.
        """
        units, values = self.indices(units), check_spins(values, "values")
        if values.shape not in ((), (1,), units.shape):
            raise ValueError(f"clamp() got {len(units)} units and {values.size} values; pass one value a unit")
        free = np.ones(self.n, dtype=bool)
        free[units] = False
        if self.n - free.sum() < len(units):
            raise ValueError(f"units must not repeat, found {units.tolist()}; clamp each unit once")
        values = np.broadcast_to(values, units.shape)
        across = self.weights[units]
        own = -values @ (across[:, units] @ values) / 2 - self.biases[units] @ values
        return replace(
            self,
            weights=self.weights[free][:, free],
            biases=self.biases[free] + values @ across[:, free],
            offset=self.offset + own,
            names=[name for name, stays in zip(self.names, free, strict=False) if stays],
        )

    def to_bits(self) -> tuple[Any, np.ndarray, float]:
        """Return (weights, biases, constant) for 0/1 units x = (1 + s)/2: E = -1/2 x'Wx - b'x + constant."""
        rows = self.weights.sum(axis=1)
        return 4 * self.weights, 2 * (self.biases - rows), self.offset + self.biases.sum() - rows.sum() / 2

    def save(self, path: str | PathLike) -> None:
        """Write the machine to `path` as an .npz file that load() reads back to the bit."""
        w = self.weights
        parts = {"data": w.data, "indices": w.indices, "indptr": w.indptr} if self.is_sparse else {"weights": w}
        parts |= {"biases": self.biases, "temperature": self.temperature, "offset": self.offset}
        with open(path, "wb") as file:
            np.savez(file, **parts, names=np.array(self.names, dtype=str))


def load(path: str | PathLike) -> BoltzmannMachine:
    """Read a machine that save() wrote; raise ValueError where the file is torn or is something else."""
    try:
        with np.load(path, allow_pickle=False) as file:
            parts = {name: file[name] for name in file.files}
        n = len(parts["biases"])
        inside = [parts[name] for name in ("data", "indices", "indptr") if "weights" not in parts]
        weights = scipy.sparse.csr_array(tuple(inside), shape=(n, n)) if inside else parts["weights"]
        names = parts["names"].tolist() if "names" in parts else ()
        return BoltzmannMachine(weights, parts["biases"], float(parts["temperature"]), float(parts["offset"]), names)
    except (zipfile.BadZipFile, EOFError, KeyError, ValueError, TypeError, AttributeError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error) or "it ends too early"
        raise ValueError(f"{path} holds no whole machine ({reason}); write it again with model.save(path)") from None


def from_bits(weights: Any, biases: Any, temperature: float = 1.0, names: tuple[str, ...] = ()) -> BoltzmannMachine:
    """Return the -1/+1 machine of a 0/1 machine with E(x) = -1/2 x'Wx - b'x; every energy stays the same.

    With x = (1 + s)/2: w_s = w/4, b_s = b/2 + (row sums of w)/4, and the constant goes into the offset.
    """
    of_bits = BoltzmannMachine(weights, biases, temperature, names=names)
    weights, biases, rows = of_bits.weights, of_bits.biases, of_bits.weights.sum(axis=1)
    return replace(
        of_bits, weights=weights / 4, biases=biases / 2 + rows / 4, offset=-rows.sum() / 8 - biases.sum() / 2
    )
