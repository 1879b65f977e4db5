"""The Boltzmann machine: n units s_i = -1/+1, symmetric weights W, biases b, a temperature T, and its energy.

    E(s) = -1/2 s'Ws - b's + offset          p(s) = exp(-E(s)/T) / Z          Z = sum_s exp(-E(s)/T)

Z is the partition function.  Unit i feels the others through its field h_i = sum_j w_ij s_j + b_i:

    p(s_i = +1 | the others) = 1/(1 + exp(-2 h_i/T))

The fields of clamped units are added to the biases of the free units, and their own energy to the offset.

Ackley, Hinton and Sejnowski (1985), A learning algorithm for Boltzmann machines, Cognitive Science 9, 147, eq. 1-4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature
from os import PathLike
from typing import Any

import numpy as np
import scipy

from .checking.arrays import (
    align_columns,
    align_pairs,
    check_coupling_mask,
    check_weights,
    did_you_mean,
    names_of,
    read_only,
    unit_name,
)
from .checking.calls import show_call
from .checking.validation import (
    ArrayLike,
    check_names,
    check_no_bits,
    check_number,
    check_positive,
    check_row,
    check_scale,
    check_spins,
    check_states,
    describe,
    is_sparse,
)
from .running.files import check_path, read_arrays, stored, write_arrays
from .running.sparsity import ColourClasses, colour_classes
from .showing.html import machine_html

Units = int | str | slice | Iterable  # one index or name, several, a slice, a mask (n,)


ATTRIBUTE_SYNONYMS = {  # a name in other libraries -> what to type here
    "W": "machine.weights",
    "b": "machine.biases",
    "T": "machine.temperature",
    "fit": "bmlab.fit(machine, data, steps=100, rate=0.05)",
    "sample": "bmlab.sample(machine, 100, rng=0)",
}


@stored()
@dataclass(frozen=True, eq=False, init=False)
class BoltzmannMachine:
    """The parameters of a Boltzmann machine; they never change: make a new machine instead.

    weights      (n, n) symmetric (to rounding) with zero diagonal, read-only: an array, or anything of scipy.sparse,
                 stored as canonical CSR with its zeros.  If sparse, only coupled pairs have correlations, and nothing
                 costs n^2
    biases       (n,)
    temperature  T > 0, in the units of the energy
    offset       constant in the energy, such as the energy of the units that clamp() removed; default 0
    names        n distinct strings; default: the labels of weights or biases if these are tables, else none.  clamp(),
                 conditional() and complete() find units by name, and all tables are matched by them
    couplings    boolean (n, n), read-only: the pairs that are coupled, and so can be learned; None: all pairs.
                 A sparse machine has None: its stored weights are the coupled pairs

    dataclasses.replace(machine, weights=..., biases=...) returns a machine that differs in these fields only.
    Raises ValueError if a shape, a symmetry or a value is not as above.

    >>> pair = bmlab.BoltzmannMachine([[0, 1], [1, 0]], [0, 0], names=("Ada", "Bob"))
    >>> pair.energy([[1, 1], [1, -1]])
    array([-1.,  1.])
    >>> pair.clamp("Ada", 1).biases  # the field of Bob
    array([1.])
    """

    weights: Any
    biases: np.ndarray
    temperature: float
    offset: float
    names: tuple[str, ...]
    couplings: np.ndarray | None

    @show_call("bmlab.BoltzmannMachine(weights, biases)")
    def __init__(
        self,
        weights: ArrayLike,
        biases: ArrayLike | None = None,
        temperature: float = 1.0,
        offset: float = 0.0,
        names: Iterable[str] = (),
        couplings: ArrayLike | None = None,
    ):
        if biases is None:
            raise ValueError("biases must be one number a unit, found none; pass np.zeros(n)")
        n = len(check_row("biases", biases))
        if isinstance(names, tuple) and not names:
            names = names_of(weights) or names_of(biases)
        names = check_names(names, n)
        temperature = check_positive("temperature", temperature)
        offset = check_number("offset", offset, 0.0)
        vars(self).update(temperature=temperature, offset=offset, names=names)
        biases = align_columns("biases", biases, names, whole=True).copy()
        self._set_numbers(check_weights(align_pairs("weights", weights, names), n, names), biases)
        mask = None if self.is_sparse else check_coupling_mask(couplings, n, names)
        if mask is not None and (self.weights[~mask] != 0).any():
            i, j = np.argwhere((self.weights != 0) & ~mask)[0]
            raise ValueError(
                f"weights must be 0 where couplings is False, found {self.weights[i, j]:g} between units "
                f"{unit_name(names, i)} and {unit_name(names, j)}; pass couplings=None for all pairs"
            )
        vars(self).update(couplings=mask if mask is None else read_only(mask))

    def _set_numbers(self, weights, biases):
        check_scale(weights.data if is_sparse(weights) else weights, biases, self.offset, self.temperature)
        vars(self).update(weights=weights, biases=read_only(biases))

    def _with(self, weights, biases):
        """Return this machine with new arrays, to which nothing else may refer: they are checked, but not copied."""
        machine = object.__new__(type(self))
        kept = {"temperature": self.temperature, "offset": self.offset, "names": self.names}
        vars(machine).update(kept, couplings=self.couplings)
        machine._set_numbers(check_weights(weights, self.n, own=True), biases)
        return machine

    def __reduce__(self):  # unpickled copies are checked and read-only, too
        return BoltzmannMachine, (self.weights, self.biases, self.temperature, self.offset, self.names, self.couplings)

    def __getattr__(self, name):
        if name.startswith("_"):  # looked up by protocols, not typed by people
            raise AttributeError(name)
        attributes = [*dir(type(self)), *signature(type(self)).parameters]
        synonym = ATTRIBUTE_SYNONYMS.get(name)
        way_out = f"try {synonym}" if synonym else did_you_mean(name, attributes, "see dir(machine)")
        raise AttributeError(f"a machine has no {name!r}; {way_out}")

    def __repr__(self):
        kind = ", sparse" if self.is_sparse else ""
        return f"BoltzmannMachine(n={self.n}, couplings={self.coupling_count()}{kind}, T={self.temperature:g})"

    def _repr_html_(self):
        return machine_html(self)

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
        """The weights as a read-only array (n, n); for a sparse machine, a new array at each call."""
        if not self.is_sparse:
            return self.weights
        return read_only(self.weights.toarray())

    @property
    def has_couplings(self) -> bool:
        """Whether any weight differs from 0; in a sparse machine, whether any weight is stored."""
        return self.weights.nnz > 0 if self.is_sparse else bool(self.weights.any())

    @cached_property
    def weight_count(self) -> int:
        """Number of nonzero entries of the weights, in both triangles; of a sparse machine, of stored entries."""
        return int(self.weights.nnz if self.is_sparse else np.count_nonzero(self.weights != 0))

    @show_call()
    def coupling_count(self) -> int:
        """Return the number of coupled pairs of units."""
        return self.weight_count // 2

    @cached_property
    def colours(self) -> ColourClasses:
        """Classes of units (indices) without couplings inside a class, see sparsity.py."""
        return colour_classes(self.weights, self.weight_count)

    @show_call()
    def field(self, s: ArrayLike) -> np.ndarray:
        """Return h_i = sum_j w_ij s_j + b_i for states (..., n), in the same shape; a unit at 0 sends no field.

        Columns of a DataFrame, and labels of a Series, are matched by name, here and in every argument with one number
        per unit: states, means, values, masks, biases, weights.
        """
        return field_of(self, self._checked(s))

    @show_call()
    def energy(self, s: ArrayLike) -> np.ndarray:
        """Return E(s) of the states (or means) s (..., n), in shape (...)."""
        return energy_of(self, check_no_bits(self._checked(s)))

    def _checked(self, s):
        return check_states(self.n, align_columns("states", s, self.names, whole=True))

    @show_call()
    def log_boltzmann(self, s: ArrayLike, log_z: float) -> np.ndarray:
        """Return log p(s) = -E(s)/T - log Z of the states s (..., n), in shape (...).

        log_z is the answer of a method for this machine, such as exact(machine).log_z.
        """
        return -self.energy(s) / self.temperature - check_number("log_z", log_z)

    @show_call()
    def indices(self, units: Units) -> np.ndarray:
        """Return the indices (k,) of units: an index or a name, several, a slice, a mask (n,); else ValueError."""
        if getattr(getattr(units, "dtype", None), "kind", "") == "b":
            units = align_columns("units", units, self.names, whole=True) != 0
        single = isinstance(units, str) or not (np.iterable(units) or isinstance(units, slice))
        listed: Any = [units] if single else units
        if not isinstance(listed, slice) and getattr(listed, "dtype", np.dtype(object)).kind in "OU":
            listed = [self._index(unit) if isinstance(unit, str) else unit for unit in listed]
        with suppress(IndexError, TypeError, ValueError):
            found = np.arange(self.n)[listed if isinstance(listed, slice) or len(listed) else []]
            if found.ndim == 1:
                return found
        raise ValueError(f"units must be among 0 to {self.n - 1}, found {describe(units)}; count from 0")

    def _index(self, name: str) -> int:
        if name in self.names:
            return self.names.index(name)
        nameless = f"the units have no names, write a number up to {self.n - 1}"
        way_out = did_you_mean(name, self.names) if self.names else nameless
        raise ValueError(f"{name!r} is no unit; {way_out}")

    @show_call()
    def at(self, temperature: float) -> BoltzmannMachine:
        """Return the same machine at another temperature."""
        return replace(self, temperature=temperature)

    @show_call()
    def clamp(self, units: Units | dict, values: ArrayLike | None = None) -> BoltzmannMachine:
        """Clamp `units` (indices, names, a mask) to `values` (-1/+1); return the machine of the others, in their order.

        Instead of both arguments, pass a dict {unit: value}, or a Series labelled by the names of units.

        log Z of the result is the log of the sum over the free units only: log p(values) = log Z(clamped) - log Z.
        Raises ValueError for unknown or repeated units, and for values other than -1/+1.
        """
        if values is None and (isinstance(units, dict) or names_of(units)):
            units, values = split_condition("units", units)
        elif values is None:
            raise ValueError(
                "values must be -1/+1, found none; try machine.clamp({0: 1}), or machine.clamp(units, values)"
            )
        units, values = check_values(self, units, values)
        free = np.ones(self.n, dtype=bool)
        free[units] = False
        across = self.weights[units]
        own = -values @ (across[:, units] @ values) / 2 - self.biases[units] @ values
        return replace(
            self,
            weights=self.weights[free][:, free],
            biases=self.biases[free] + values @ across[:, free],
            offset=self.offset + own,
            names=[name for name, stays in zip(self.names, free, strict=False) if stays],
            couplings=None if self.couplings is None else self.couplings[free][:, free],
        )

    @show_call()
    def save(self, path: str | PathLike) -> None:
        """Write the machine to `path` as an .npz file, which load() reads back exactly; symbolic links are kept."""
        w = self.weights
        parts = {"data": w.data, "indices": w.indices, "indptr": w.indptr} if self.is_sparse else {"weights": w}
        parts |= {"biases": self.biases, "temperature": self.temperature, "offset": self.offset}
        parts |= {} if self.couplings is None else {"couplings": self.couplings}
        write_arrays(check_path("path", path), parts | {"names": np.array(self.names, dtype=str)})


def check_values(model: BoltzmannMachine, units: Units, values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices (k,) of units and their values (k,), -1/+1; raise ValueError as clamp() does."""
    units = model.indices(units)
    names = names_at(model, units)
    values = check_spins("values", align_columns("values", values, names, whole=True), names)
    if values.shape not in ((), (1,), units.shape):
        raise ValueError(f"{len(units)} units have values of shape {values.shape}; pass one a unit")
    found, count = np.unique(units, return_counts=True)
    if len(found) < len(units):
        twice = unit_name(model.names, found[count.argmax()])
        raise ValueError(f"units must not repeat, found {twice} twice; clamp each unit once")
    return units, np.broadcast_to(values, units.shape)


def split_condition(name: str, condition: Any) -> tuple[Any, Any]:
    """Return the units and the values of a dict {unit: value}, a Series of names, or a pair (units, values)."""
    if names := names_of(condition):
        return list(names), condition
    if isinstance(condition, dict) and not is_sparse(condition):  # dok_array is a dict
        return list(condition), list(condition.values())
    if not isinstance(condition, tuple) or len(condition) != 2:
        raise ValueError(f"{name} must be a dict or a pair (units, values), found {describe(condition)}; try {{0: 1}}")
    return condition


def names_at(model: BoltzmannMachine, units: Iterable) -> tuple[str, ...]:
    """Return the names of some units; () if the machine has none."""
    return tuple(model.names[k] for k in units) if model.names else ()


def check_model(model: Any) -> None:
    """Raise ValueError for anything but a machine."""
    if not isinstance(model, BoltzmannMachine):
        way_out = "bmlab.BoltzmannMachine(weights, biases)"
        way_out = f"its .model, or {way_out}" if hasattr(model, "model") else way_out
        raise ValueError(f"model must be a BoltzmannMachine, found {describe(model)}; pass {way_out}")


def same_machine(one: BoltzmannMachine, other: BoltzmannMachine) -> bool:
    """Whether two machines have the same parameters, in sparse or dense weights; names are not compared."""
    if one is other:
        return True
    if (one.n, one.temperature, one.offset) != (other.n, other.temperature, other.offset):
        return False
    return bool((one.biases == other.biases).all() and not (one.weights != other.weights).sum())


SAVED_PARTS = ("weights", "data", "indices", "indptr", "biases", "temperature", "offset", "names", "couplings")


@show_call()
def load(path: str | PathLike) -> BoltzmannMachine:
    """Read a machine that save() wrote; raise ValueError if the file is damaged or something else.

    >>> bmlab.toy().save("toy.npz")
    >>> bmlab.load("toy.npz")
    BoltzmannMachine(n=3, couplings=3, T=1)
    """
    parts = read_arrays(check_path("path", path), "machine", "write it again with model.save(path)", SAVED_PARTS)
    try:
        n = len(parts["biases"])
        inside = [parts[name] for name in ("data", "indices", "indptr") if "weights" not in parts]
        if any(part.dtype.kind != "i" for part in inside[1:]):
            raise ValueError("its indices are no whole numbers")
        weights = scipy.sparse.csr_array(tuple(inside), shape=(n, n)) if inside else parts["weights"]
        names = parts["names"].tolist() if "names" in parts else ()
        numbers = weights, parts["biases"], float(parts["temperature"]), float(parts["offset"])
        return BoltzmannMachine(*numbers, names, parts.get("couplings"))
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path} holds no whole machine ({reason}); write it again with model.save(path)") from None


MIN_STRIP_ROWS = 256  # fewer rows are not worth a strip
UNTHREADED_PRODUCTS = 2**18  # multiply-adds up to which BLAS starts no threads, which would cost more than they save


def neighbours(model: BoltzmannMachine, i: int) -> tuple[Any, np.ndarray]:
    """Return (index, weights) of the units that unit i is coupled to: every unit if the weights are dense."""
    if not model.is_sparse:
        return slice(None), model.weights[i]
    row = slice(model.weights.indptr[i], model.weights.indptr[i + 1])
    return model.weights.indices[row], model.weights.data[row]


def field_of(model: BoltzmannMachine, x: np.ndarray) -> np.ndarray:
    """Return the field of any numbers x (..., n), not only -1/+1; a unit at 0 adds nothing to it."""
    return (x.reshape(math.prod(x.shape[:-1]), model.n) @ model.weights).reshape(x.shape) + model.biases


def with_offset(model: BoltzmannMachine, log_z: Any) -> Any:
    """Return log Z of a machine from log_z of its weights and biases: add the energy of clamped units."""
    return log_z - model.offset / model.temperature


def energy_of(model: BoltzmannMachine, x: np.ndarray) -> np.ndarray:
    """Return the energy of any numbers x (..., n), in shape (...); of few units by strips of rows, for speed."""
    strip = UNTHREADED_PRODUCTS // max(1, model.n**2)
    if strip >= MIN_STRIP_ROWS and x.size > strip * model.n:
        rows = x.reshape(-1, model.n)
        parts = np.split(rows, range(strip, len(rows), strip))
        return np.concatenate([energy_of(model, part) for part in parts]).reshape(x.shape[:-1])
    return model.offset - (x * (field_of(model, x) + model.biases)).sum(-1) / 2
