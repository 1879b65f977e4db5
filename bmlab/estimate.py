"""The Estimate of every method: means <s_i>, correlations <s_i s_j> and log Z, each with its error.

A method is a callable  model -> Estimate.  Quantities that it cannot compute are nan, never guesses.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from inspect import currentframe, signature
from numbers import Integral
from typing import Any, Protocol
from warnings import warn

import numpy as np
import scipy

from .checking.arrays import no_such_attribute, sealed
from .checking.budgets import check_memory
from .checking.validation import describe, is_sparse
from .model import BoltzmannMachine, same_machine
from .running.files import stored
from .showing.html import estimate_html

PACKAGE_FOLDER = os.path.dirname(__file__) + os.sep

INTERVAL_ROUNDING = 2.0**-26  # a value may exceed its bounds by this: half of the digits of a double


@stored()
class Bounded(float):
    """Log Z, or a log-likelihood, or a probability: a number with its standard error and proven bounds.

    value   best single number, as the float itself; nan if the method gives none
    stderr  standard error from sampling; 0 if nothing was sampled (bias is not included)
    lower, upper   proven bounds; equal if the answer is exact, infinite if nothing is proven
    Raises ValueError if the value is outside its bounds by more than rounding, or if lower > upper.

    >>> log_z = bmlab.Bounded(2.5, stderr=0.1, lower=2)
    >>> log_z, log_z + 1
    (Bounded(2.5000 ± 0.1 (proven: at least 2.0000)), 3.5)
    """

    stderr: float
    lower: float
    upper: float

    def __new__(cls, value: float = np.nan, stderr: float = 0.0, lower: float = -np.inf, upper: float = np.inf):
        if not lower <= value <= upper and _contradict(value, lower, upper):
            raise ValueError(
                f"a value must lie between its proven bounds, found {value:.6g} and [{lower:.6g}, {upper:.6g}]; "
                "leave out the bounds that are not proven"
            )
        made = super().__new__(cls, value)
        made.__dict__.update(stderr=float(stderr), lower=float(lower), upper=float(upper))
        return made

    def __getnewargs__(self):
        return self.value, self.stderr, self.lower, self.upper

    @property
    def value(self) -> float:
        """The number as a plain float."""
        return float(self)

    __getattr__ = no_such_attribute

    def __repr__(self):
        return f"Bounded({self})"

    def __str__(self):
        if np.isnan(self) and not np.isfinite([self.lower, self.upper]).any():
            return "unknown"
        noise = f" ± {self.stderr:.2g}" if self.stderr > 0 else ""
        return f"{_digits(self)}{noise}{self._proof()}"

    def _proof(self):
        if self.lower == self.upper:
            return " (exact)"
        if np.isfinite([self.lower, self.upper]).all():
            return f" in [{_digits(self.lower)}, {_digits(self.upper)}]"
        if np.isfinite(self.lower):
            return f" (proven: at least {_digits(self.lower)})"
        return f" (proven: at most {_digits(self.upper)})" if np.isfinite(self.upper) else ""


def _contradict(value, lower, upper):
    """Whether a value is outside its bounds by more than rounding, or they cross; nan contradicts nothing."""
    slack = INTERVAL_ROUNDING * max([1.0, *(abs(x) for x in (value, lower, upper) if math.isfinite(x))])
    return value < lower - slack or value > upper + slack or lower > upper + slack


UNKNOWN = Bounded()
NO_ERROR: Any = 0.0  # becomes an array in the shape of the values


def _digits(x):
    """Four decimals, or four digits of a small number."""
    return format(float(x), ".4g" if 0 < abs(x) < 0.1 else ".4f")


class NotConverged(UserWarning):
    """Warn that an Estimate has converged=False, and say what to try.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", bmlab.NotConverged)
    ...     bmlab.mean_field(bmlab.medium(), max_sweeps=1).converged
    False
    """


class Method(Protocol):
    """A callable that answers about a machine: exact, gibbs, ...; functools.partial binds its other options.

    >>> def independent(model, *, start=None):
    ...     mean = np.tanh(model.biases / model.temperature)
    ...     return bmlab.Estimate(mean, np.outer(mean, mean))
    >>> bmlab.complete(bmlab.toy(), [1, np.nan, np.nan], independent).mean.round(2)
    array([ 1.  ,  0.76, -0.46])
    """

    def __call__(self, model: BoltzmannMachine, *, start: Any = None) -> Estimate:
        """Return the answer; `start` is the `state` of an earlier answer, or None."""
        ...


@stored(but=("info", "model"))  # info is for people, and the model is the step's
@dataclass(frozen=True, eq=False)
class Estimate:
    """One method's answer about one machine of n units.

    mean, mean_stderr   (n,) <s_i>, and the standard error from sampling (0 if nothing was sampled)
    corr, corr_stderr   (n, n) <s_i s_j>, ones on the diagonal; a sparse array of the coupled pairs (and the diagonal)
                        if the machine's weights are sparse
    log_z               Bounded
    converged, message  whether the method passed its own test of convergence, and a sentence on why it stopped
    draws               samples (draws, chains, n), if they are asked for
    state               `start` for the next call of the same method
    info                dict with further results to read; no function depends on it
    model               the machine of the answer, set by the method or by the function that called it
    is_clamped          whether it is an average over data: the clamped phase of learning
    The arrays are read-only: copy() an array to change it.

    >>> bmlab.exact(bmlab.BoltzmannMachine([[0, 1], [1, 0]], [0, 0]))
    Estimate(exact, n=2, log Z = 1.8201 (exact))
    """

    mean: np.ndarray
    corr: np.ndarray | scipy.sparse.csr_array
    log_z: Bounded = UNKNOWN
    mean_stderr: np.ndarray = NO_ERROR
    corr_stderr: np.ndarray | scipy.sparse.csr_array = NO_ERROR
    method: str = ""
    converged: bool = True
    message: str = ""
    draws: np.ndarray | None = None
    state: Any = None
    info: dict = field(default_factory=dict)
    model: BoltzmannMachine | None = None
    is_clamped: bool = False

    def __post_init__(self):
        fields = vars(self)
        fields["mean_stderr"] = _in_shape(self.mean_stderr, self.mean)
        fields["corr_stderr"] = _in_shape(self.corr_stderr, self.corr)
        for name in ("mean", "corr", "mean_stderr", "corr_stderr", "draws", "state", "info"):
            fields[name] = sealed(fields[name])

    def __setstate__(self, state):  # unpickled copies are read-only, too
        vars(self).update(state)
        self.__post_init__()

    @property
    def covariance(self) -> np.ndarray:
        """<s_i s_j> - <s_i><s_j>, shape (n, n), dense; nan for pairs that are not known."""
        return dense_corr(self.corr) - np.outer(self.mean, self.mean)

    @property
    def pearson(self) -> np.ndarray:
        """Pearson's correlations, covariance / (spread_i spread_j), shape (n, n); nan also if a unit is constant."""
        spread = np.sqrt(1 - self.mean**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.covariance / np.outer(spread, spread)

    __getattr__ = no_such_attribute

    def __repr__(self):
        mark = "" if self.converged else ", NOT CONVERGED"
        return f"Estimate({self.method}, n={len(self.mean)}, log Z = {self.log_z}{mark})"

    def _repr_html_(self):
        return estimate_html(self)


def _in_shape(error, values):
    """Return a single error as an array in the shape of the values, sparse if they are; an array is returned as is."""
    if getattr(error, "ndim", 0):
        return error
    if not is_sparse(values):
        return np.full(np.shape(values), error) if error else np.zeros(np.shape(values))  # zeros take no memory yet
    errors = copy(values)
    errors.data = np.full(values.nnz, float(error))
    return errors


_silent = ContextVar("answers that have not converged are returned without a warning", default=False)


@contextmanager
def no_convergence_warnings() -> Iterator[None]:
    """Silence warn_unless_converged() in this context, in this thread only (catch_warnings() is process-wide)."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def warn_unless_converged(answer: Any) -> Any:
    """Return an Estimate or a Fit; if it has not converged, warn with its message at the line that called bmlab."""
    if answer.converged is False and not _silent.get():
        frame, level = currentframe(), 1
        while frame and frame.f_back and frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
            frame, level = frame.f_back, level + 1
        warn(answer.message, NotConverged, stacklevel=level)
    return answer


def dense_corr(corr: Any) -> Any:
    """Return correlations (n, n) as a dense array, nan for pairs that a sparse array lacks; a number as it is."""
    if not is_sparse(corr):
        return corr
    check_memory(f"all pairs of {corr.shape[0]:,} units would be listed", 24.0 * corr.shape[0] ** 2, "look at .corr")
    stored, found = corr.tocoo(), np.full(corr.shape, np.nan)
    found[stored.row, stored.col] = stored.data
    return found


# A sparse machine has correlations of its coupled pairs only.  Only the two functions below know their layout.


def pair_sums(model: BoltzmannMachine, s: np.ndarray) -> np.ndarray:
    """Sum s_i s_j over the rows of s (N, n): shape (n, n), or (couplings,) in CSR order if the weights are sparse."""
    if not model.is_sparse:
        return s.T @ s
    row, col = coupled_pairs(model)
    return np.einsum("ke,ke->e", s[:, row], s[:, col])


def as_corr(model: BoltzmannMachine, pairs: np.ndarray, diagonal: float = 1.0):
    """Return numbers laid out like pair_sums() as a matrix with `diagonal`, sparse if the weights are.

    An array of doubles is written on and returned, not copied.
    """
    if not model.is_sparse:
        corr = np.asarray(pairs, dtype=float)
        np.fill_diagonal(corr, diagonal)
        return corr
    unit, (row, col) = np.arange(model.n), coupled_pairs(model)
    place = np.concatenate([row, unit]), np.concatenate([col, unit])  # a sum of two arrays would drop stored zeros
    values = np.concatenate([pairs, np.full(model.n, diagonal)])
    return scipy.sparse.csr_array((values, place), shape=model.weights.shape)


def coupled_pairs(model: BoltzmannMachine):
    """Return (row, col) of the stored couplings of a sparse machine, in CSR order."""
    w = model.weights
    return np.repeat(np.arange(model.n), np.diff(w.indptr)), w.indices


def check_estimate(name: str, answer: Any, n: int | None = None) -> Estimate:
    """Return an Estimate (of n units); raise ValueError for anything else."""
    of = "" if n is None else f" of {n} units"
    if not isinstance(answer, Estimate):
        raise ValueError(f"{name} must be an Estimate{of}, found {describe(answer)}; pass exact(model)")
    if n is not None and len(answer.mean) != n:
        raise ValueError(f"{name} must be an Estimate{of}, found one of {len(answer.mean)}; ask about one model twice")
    return answer


def check_same_model(name: str, answer: Estimate, other: str, model: BoltzmannMachine | None) -> None:
    """Raise ValueError if `answer` is about another machine than `model`, the one of `other`; None is any machine."""
    if model is not None and answer.model is not None and not same_machine(answer.model, model):
        raise ValueError(f"{name} must be about the machine of {other}, found another; ask about one model twice")


def check_method(name: str, method: Any, *about: Any, **start: Any) -> None:
    """Raise ValueError if `method` cannot be called as method(*about, **start)."""
    try:
        signature(method).bind(*about, **start)
    except (TypeError, ValueError) as error:
        arguments = ", ".join([*map(str, about), *(f"{key}={value}" for key, value in start.items())])
        raise ValueError(
            f"{name} must be callable as {name}({arguments}), found {describe(method)} ({error}); "
            "try bmlab.exact, or functools.partial(bmlab.gibbs, rng=rng)"
        ) from None


def call_method(name: str, method: Any, model: BoltzmannMachine, *about: Any, **start: Any) -> Estimate:
    """Return a method's answer about a machine, with that machine as its `model`.

    Raises ValueError if the answer is no Estimate, or is about another machine.
    """
    answer = method(model, *about, **start)
    if not isinstance(answer, Estimate):
        check_estimate(f"the answer of {name}", answer)
    if answer.model is model:  # nearly always
        return answer
    if len(answer.mean) != model.n or (answer.model is not None and not same_machine(answer.model, model)):
        raise ValueError(
            f"{name} must answer about the machine that it is given, {model!r}, found an answer about "
            f"another, {answer.model or f'{len(answer.mean)} units'!r}; write it as a function of its first argument"
        )
    return answer_about(answer, model)


def answer_about(answer: Estimate, model: BoltzmannMachine, **fields: Any) -> Estimate:
    """Return an answer as one about this machine, with other fields than arrays replaced; those are shared."""
    found = object.__new__(type(answer))
    vars(found).update(vars(answer), model=model, **fields)
    return found


def check_learning_method(name: str, method: Any, *about: Any, **start: Any) -> None:
    """Raise ValueError as check_method() does, and if a seed is bound: each step would draw the same noise."""
    check_method(name, method, *about, **start)
    while isinstance(method, partial):
        rng = method.keywords.get("rng")
        if isinstance(rng, (Integral, np.random.SeedSequence)):
            seed = rng if isinstance(rng, Integral) else 0
            raise ValueError(
                f"{name} would draw the same noise at each step, with rng={describe(rng)} bound to it; bind a "
                f"generator, functools.partial(..., rng=np.random.default_rng({seed}))"
            )
        method = method.func


MOMENT_ROUNDING = 1e-6  # a mean, a variance or a probability may leave its range by this


def check_possible(moments: Estimate) -> Estimate:
    """Return moments; raise ValueError if no -1/+1 units can have them: nan, out of range, a negative variance."""
    mean, corr = np.asarray(moments.mean), moments.corr
    numbers: Any = corr.data if is_sparse(corr) else np.asarray(corr)
    for name, values in (("mean", mean), ("corr", numbers)):
        wrong = values[~(np.abs(values) <= 1 + MOMENT_ROUNDING)]
        if wrong.size:
            raise ValueError(
                f"{name} of -1/+1 units must be from -1 to 1, found {wrong[0]:g}; pass <s_i> and <s_i s_j>"
            )
    if is_sparse(corr):
        row, col = corr.nonzero()
        pairs = np.asarray(corr[row, col]).ravel()
        signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])[:, :, None]
        found = (1 + signs[:, 0] * mean[row] + signs[:, 1] * mean[col] + signs.prod(1) * pairs).min(initial=0.0) / 4
    elif np.abs(np.diag(numbers) - 1).max(initial=0.0) > MOMENT_ROUNDING:
        raise ValueError("corr must have <s_i s_i> = 1 on its diagonal; pass <s_i s_j>, not the covariance")
    else:
        found = np.linalg.eigvalsh(moments.covariance).min(initial=0.0)
    if found < -MOMENT_ROUNDING:
        raise ValueError(
            f"no data have these moments (a variance or a probability would be {found:.2g}); pass the mean and the "
            "<s_i s_j> of the same rows"
        )
    return moments
