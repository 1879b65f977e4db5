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

import numpy as np
from scipy import sparse

from .arrays import check_spins
from .html_repr import machine_card

ROUNDING = 1e-12  # weights that differ from symmetric ones by less, in units of the largest, are made symmetric


@dataclass(frozen=True, eq=False)
class BoltzmannMachine:
    """Hold the parameters of a Boltzmann machine; never changed, only replaced.

    weights      (n, n) symmetric (to rounding) with zero diagonal: an array, or a scipy.sparse array (kept as CSR; then
                 correlations are kept on its couplings only and nothing costs n^2)
    biases       (n,)
    temperature  T > 0, in the units of the energy
    offset       energy of the units that clamp() took out; 0 for a whole machine

    Raises ValueError where a shape, a symmetry or a value is not as above.
    """

    weights: np.ndarray
    biases: np.ndarray
    temperature: float = 1.0
    offset: float = 0.0

    def __post_init__(self):
        biases = _read_only(np.array(self.biases, dtype=float))
        if biases.ndim != 1:
            raise ValueError(f"biases must be one row of numbers, found shape {biases.shape}; pass shape (n,)")
        _check_finite("biases", biases)
        if not isinstance(self.temperature, Real) or not 0 < self.temperature < np.inf:
            raise ValueError(f"temperature must be positive and finite, found {self.temperature!r}; try 1.0")
        object.__setattr__(self, "biases", biases)
        object.__setattr__(self, "weights", _checked_weights(self.weights, len(biases)))
        object.__setattr__(self, "temperature", float(self.temperature))
        object.__setattr__(self, "offset", float(self.offset))

    def __reduce__(self):  # a copy that was pickled is checked, and read-only, as this one
        return BoltzmannMachine, (self.weights, self.biases, self.temperature, self.offset)

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
        return sparse.issparse(self.weights)

    @property
    def has_couplings(self) -> bool:
        """Whether any weight differs from 0; a stored weight of a sparse machine counts, whatever its value."""
        return self.weights.nnz > 0 if self.is_sparse else bool(self.weights.any())

    @cached_property
    def colours(self) -> list[np.ndarray]:
        """Classes of units (indices) that are not coupled inside: each unit takes the first class that is free for it.

        A lattice gives its checkerboard, a restricted machine its two layers, a full machine n classes of one.
        """
        if not self.is_sparse and np.count_nonzero(self.weights) == self.n * (self.n - 1):
            return list(np.arange(self.n)[:, None])
        colour = np.full(self.n, -1)
        for i in range(self.n):
            index, w = self.neighbours(i)
            taken = np.unique(colour[index][w != 0])
            free = np.flatnonzero(taken[taken >= 0] != np.arange((taken >= 0).sum()))
            colour[i] = free[0] if len(free) else (taken >= 0).sum()
        return [np.flatnonzero(colour == c) for c in range(colour.max(initial=-1) + 1)]

    def field(self, s) -> np.ndarray:
        """Return h_i = sum_j w_ij s_j + b_i for the states s (..., n), in the same shape."""
        s = np.asarray(s, dtype=float)
        if s.shape[-1:] != (self.n,):
            raise ValueError(f"states must have {self.n} units along their last axis, found shape {s.shape}")
        return (s.reshape(math.prod(s.shape[:-1]), self.n) @ self.weights).reshape(s.shape) + self.biases

    def energy(self, s) -> np.ndarray:
        """Return E(s) of the states s (..., n), in shape (...)."""
        s = np.asarray(s, dtype=float)
        return self.offset - (s * (self.field(s) + self.biases)).sum(-1) / 2

    def neighbours(self, i: int):
        """Return (index, weights) of the units that unit i is coupled to: every unit where weights are dense."""
        if not self.is_sparse:
            return slice(None), self.weights[i]
        row = slice(self.weights.indptr[i], self.weights.indptr[i + 1])
        return self.weights.indices[row], self.weights.data[row]

    def clamp(self, units, values) -> BoltzmannMachine:
        """Hold `units` (indices or a mask) at `values` (-1/+1); return the machine of the others, in their order.

        Its log Z is the log of the sum over the free units only, so log p(values) = log Z(clamped) - log Z.
        """
        units, values = self._units_and_values(units, check_spins(values, "values"))
        if len(np.unique(units)) < len(units):
            raise ValueError(f"units must not repeat, found {units.tolist()}; clamp each unit once")
        free = np.setdiff1d(np.arange(self.n), units)
        across = self.weights[units]
        own = -values @ (across[:, units] @ values) / 2 - self.biases[units] @ values
        return BoltzmannMachine(
            self.weights[free][:, free],
            self.biases[free] + values @ across[:, free],
            self.temperature,
            self.offset + own,
        )

    def _units_and_values(self, units, values):
        try:
            units = np.arange(self.n)[units]
            return units, np.broadcast_to(values, units.shape)
        except IndexError:
            raise ValueError(f"units must be among 0 to {self.n - 1}, found {units}; count from 0") from None
        except ValueError:
            raise ValueError(
                f"clamp() got {len(units)} units and {values.size} values; pass one value a unit"
            ) from None

    def at(self, temperature: float) -> BoltzmannMachine:
        """Return the same machine at another temperature."""
        return replace(self, temperature=temperature)

    def to_bits(self):
        """Return (weights, biases, constant) for 0/1 units x = (1 + s)/2: E = -1/2 x'Wx - b'x + constant."""
        rows = self.weights.sum(axis=1)
        return 4 * self.weights, 2 * (self.biases - rows), self.offset + self.biases.sum() - rows.sum() / 2

    def save(self, path) -> None:
        """Write the machine to `path` as an .npz file that load() reads back to the bit."""
        w = self.weights
        parts = dict(data=w.data, indices=w.indices, indptr=w.indptr) if self.is_sparse else dict(weights=w)
        with open(path, "wb") as file:
            np.savez(file, **parts, biases=self.biases, temperature=self.temperature, offset=self.offset)

    def coupling_count(self) -> int:
        """Return how many pairs of units are coupled."""
        return (self.weights.nnz if self.is_sparse else np.count_nonzero(self.weights)) // 2


def load(path) -> BoltzmannMachine:
    """Read a machine that save() wrote; raise ValueError where the file is torn or is something else."""
    try:
        with np.load(path, allow_pickle=False) as file:
            parts = {name: file[name] for name in file.files}
        n = len(parts["biases"])
        weights = (
            parts["weights"]
            if "weights" in parts
            else sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=(n, n))
        )
        return BoltzmannMachine(weights, parts["biases"], float(parts["temperature"]), float(parts["offset"]))
    except (zipfile.BadZipFile, EOFError, KeyError, ValueError, TypeError, AttributeError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error) or "it ends too early"
        raise ValueError(f"{path} holds no whole machine ({reason}); write it again with model.save(path)") from None


def from_bits(weights, biases, temperature: float = 1.0) -> BoltzmannMachine:
    """Return the -1/+1 machine of a 0/1 machine with E(x) = -1/2 x'Wx - b'x; every energy stays the same.

    With x = (1 + s)/2: w_s = w/4, b_s = b/2 + (row sums of w)/4, and the constant goes into the offset.
    """
    biases = np.asarray(biases, dtype=float)
    weights = weights if sparse.issparse(weights) else np.asarray(weights, dtype=float)
    rows = weights.sum(axis=1)
    return BoltzmannMachine(weights / 4, biases / 2 + rows / 4, temperature, -rows.sum() / 8 - biases.sum() / 2)


def symmetric(matrix) -> np.ndarray:
    """Return (A + A')/2 with a zero diagonal: the nearest weights to any square matrix A."""
    matrix = np.asarray(matrix, dtype=float)
    if matrix.ndim != 2 or len(set(matrix.shape)) > 1:
        raise ValueError(f"only a square matrix can be made symmetric, found shape {matrix.shape}")
    weights = (matrix + matrix.T) / 2
    np.fill_diagonal(weights, 0.0)
    return weights


def _read_only(array):
    array.flags.writeable = False
    return array


def _checked_weights(weights, n):
    if sparse.issparse(weights):
        return _checked_sparse(weights.tocoo().astype(float), n)
    weights = np.array(weights, dtype=float)
    _check_shape(weights, n)
    _check_finite("weights", weights)
    gap = np.abs(weights - weights.T) + np.diag(np.abs(np.diag(weights)))
    if gap.max(initial=0) > ROUNDING * np.abs(weights).max(initial=0):
        i, j = np.unravel_index(gap.argmax(), gap.shape)
        raise ValueError(_asymmetry(gap[i, j], i, j))
    return _read_only(symmetric(weights))


def _checked_sparse(weights, n):
    _check_shape(weights, n)
    _check_finite("weights", weights.data)
    gap = (abs(weights - weights.T) + abs(sparse.diags_array(weights.diagonal()))).tocoo()
    if gap.data.max(initial=0) > ROUNDING * abs(weights.data).max(initial=0):
        worst = gap.data.argmax()
        raise ValueError(_asymmetry(gap.data[worst], gap.row[worst], gap.col[worst]))
    off = weights.row != weights.col
    row, col, half = weights.row[off], weights.col[off], weights.data[off] / 2
    both = np.concatenate([half, half]), (np.concatenate([row, col]), np.concatenate([col, row]))
    return sparse.csr_array(both, shape=(n, n))  # entries of one place are added, in either case in one order


def _check_shape(weights, n):
    if weights.shape != (n, n):
        raise ValueError(
            f"weights must be ({n}, {n}) to go with {n} biases, found {weights.shape}; pass one bias a unit"
        )


def _check_finite(name, values):
    wrong = values[~np.isfinite(values)]
    if wrong.size:
        raise ValueError(f"{name} must be finite, found {wrong[0]}; check the learning rate")


def _asymmetry(gap, i, j):
    what = f"w[{i}, {i}] is {gap:.3g}" if i == j else f"largest |W - W'| is {gap:.3g} at [{i}, {j}]"
    return f"weights must be symmetric with a zero diagonal ({what}); see bmlab.symmetric(W)"
