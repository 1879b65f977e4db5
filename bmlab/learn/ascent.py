"""The learning loop: climb the likelihood by clamped minus free.

    V <- momentum * V + slope,        slope = (<s_i s_j>_clamped - <s_i s_j>_free) / T - penalty * w_ij
    W <- W + rate * V                 and so for the biases, which nothing penalises

What changes from one algorithm of the literature to the next is only where the free phase starts:
    chains="previous"   from its own last state: persistent chains (Tieleman 2008), warm mean field
    chains="fresh"      from nowhere: plain Monte Carlo (Ackley, Hinton and Sejnowski 1985)
    chains="data"       from the data: contrastive divergence (Hinton 2002)
and what the free phase is: exact(), gibbs(), the deterministic machine mean_field() (Peterson and Anderson 1987,
Complex Systems 1, 995; Hinton 1989, Neural Computation 1, 143), tap(), bethe().  An L1 penalty moves each weight
towards 0 by rate * l1 / (1 - momentum) after the step, and stops it there (Tibshirani 1996; proximal gradient).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice, repeat
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.sparse import issparse

from ..arrays import generator
from ..estimate import NotConverged, coupled_pairs
from ..infer.exact.enumeration import exact
from ..model import BoltzmannMachine
from . import likelihood
from .likelihood import gradient
from .record import Loop, Step


def ascend(
    model: BoltzmannMachine | Step,
    data,
    infer=exact,
    *,
    rate: float | Iterable[float],
    chains: str = "previous",
    clamped: Callable | None = None,
    couplings=None,
    penalty: float = 0.0,
    l1: float = 0.0,
    momentum: float = 0.0,
    batch: int | None = None,
    rng: np.random.Generator | None = None,
) -> Iterator[Step]:
    """Yield the model with its moments, move it uphill, and so on; stop by leaving the loop.

    model      where to begin; or a Step of this loop, to go on after it
    data       (N, v) of -1/+1 for the first v units, nan where an entry is missing
    infer      model, start -> Estimate: the free phase, and the clamped one where hidden units are coupled
    rate       a number; or one number a step, and the loop ends with them (np.linspace(0.05, 0, 300) falls to rest).
               Beyond 2 T^2 over the largest eigenvalue of the covariance of all s_i and s_i s_j the climb overshoots:
               about 0.08 for fifteen correlated units; with momentum, (1 + momentum) times that
    clamped    model, data, start -> Estimate: another clamped phase, such as clamped_mean_field or clamped_gibbs
    couplings  boolean (n, n): the weights that exist; None: those of a full machine (or of sparse weights)
    penalty, l1   the climbed function is L - penalty/2 * sum_{i<j} w_ij^2 - l1 * sum_{i<j} |w_ij|
    momentum   share of the last move kept, 0 <= momentum < 1: the rate is felt 1/(1 - momentum) times
    batch      rows a step, from one shuffling (by `rng`) of the data after another: each row once in N; None: all
    Estimates that have not converged are part of learning and raise no warning here: look at Step.free.converged.
    Raises ValueError for options out of range, and where the free phase does not know a weight's slope.
    """
    data = np.atleast_2d(np.asarray(data, dtype=float))
    _check(data, chains, penalty, l1, momentum, batch, rng)
    rule = _Rule(
        infer,
        chains,
        clamped,
        penalty,
        l1,
        momentum,
        batch,
        checked_couplings(couplings, model.model.n if isinstance(model, Step) else model.n),
    )
    if not isinstance(model, Step):
        model = Step(model, None, None, loop=Loop(-1, (), int(generator(rng).integers(2**63)) if batch else None))
    step, rates = model, repeat(rate) if np.isscalar(rate) else iter(rate)
    size = next(islice(rates, step.loop.number, None), None) if step.data else 0.0
    rows = _rows(data, batch, step.loop)
    for following in rates if size is not None else ():
        step = rule.after(step, size, next(rows))
        yield step
        size = following


def _rows(data, batch, loop):
    """Yield the rows of the steps that follow."""
    if batch is None:
        return repeat(data)
    of_all = batches(len(data), batch, np.random.default_rng(loop.seed))
    return (data[of_step] for of_step in islice(of_all, loop.number + 1, None))


@dataclass(frozen=True, eq=False)
class _Rule:
    """Hold what stays the same in a climb."""

    infer: Callable
    chains: str
    clamped: Callable | None
    penalty: float
    l1: float
    momentum: float
    batch: int | None
    couplings: np.ndarray | None

    def after(self, step, size, rows):
        """Return the step that follows: move, then ask both phases, then look where it goes on."""
        model, change = self.moved(step, size)
        with catch_warnings():
            simplefilter("ignore", NotConverged)
            data = self.awake(model, rows, step.data)
            free = self.infer(model, start=rows if self.chains == "data" else self.start_of(step.free))
        slope = self.slope(model, data, free)
        velocity = tuple(self.momentum * v + g for v, g in zip(step.loop.velocity, slope, strict=False)) or slope
        return Step(
            model, data, free, self.length(model, *slope), change, Loop(step.loop.number + 1, velocity, step.loop.seed)
        )

    def awake(self, model, rows, before):
        """The clamped phase; where all rows are whole, only its log Z is new at each step."""
        if before and self.batch is None and self.clamped is None and before.info["hidden"] == 0:
            return likelihood.restated(model, before)
        ask = self.clamped or partial(likelihood.clamped, infer=self.infer)
        return ask(model, rows, start=None if self.batch else self.start_of(before))

    def start_of(self, answer):
        return answer.state if answer and self.chains == "previous" else None

    def slope(self, model, data, free):
        """The slope of L - penalty/2 * sum_{i<j} w_ij^2 by the weights that exist, and by the biases."""
        d_weights, d_biases = gradient(model, data, free)
        d_weights = d_weights - self.penalty * model.weights
        if self.couplings is not None:
            d_weights = np.where(self.couplings, d_weights, 0.0)
        if not issparse(d_weights) and np.isnan(d_weights).any():
            i, j = np.argwhere(np.isnan(d_weights))[0]
            raise ValueError(
                f"the free phase does not know <s_{i} s_{j}>; say which weights exist, couplings=W != 0, "
                "or ask for all pairs, infer=functools.partial(bmlab.exact, pairs='all')"
            )
        return d_weights, d_biases

    def length(self, model, d_weights, d_biases):
        """The Euclidean length of the slope, each weight once; less what the L1 penalty holds."""
        d, w = _at_couplings(model, d_weights), _at_couplings(model, model.weights)  # each weight twice
        if self.l1:
            d = np.where(w, d - self.l1 * np.sign(w), np.sign(d) * np.maximum(np.abs(d) - self.l1, 0))
        return float(np.sqrt(d @ d / 2 + d_biases @ d_biases))

    def moved(self, step, size):
        """Return the next model, and the largest change of a parameter."""
        if not step.loop.velocity:
            return step.model, np.nan
        old, (d_weights, d_biases) = step.model, step.loop.velocity
        weights = _stepped(old, size * d_weights)
        if self.l1:
            weights = _towards_zero(weights, size * self.l1 / (1 - self.momentum))  # as far as a steady slope moves
        new = BoltzmannMachine(weights, old.biases + size * d_biases, old.temperature, old.offset)
        return new, float(max(abs(new.weights - old.weights).max(), np.abs(new.biases - old.biases).max()))


def _at_couplings(model, matrix):
    """Return the numbers of a matrix at the couplings, in one line; all of them where weights are dense."""
    if not model.is_sparse:
        return np.ravel(matrix)
    return np.asarray(matrix[coupled_pairs(model)]) if model.has_couplings else np.zeros(0)


def _stepped(model, step):
    """Return W + step; a sparse sum would let go of the couplings whose weight becomes 0."""
    if not model.is_sparse:
        return model.weights + step
    weights = model.weights.copy()
    weights.data = weights.data + _at_couplings(model, step)
    return weights


def batches(n_rows: int, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield `size` indices without end: shuffled epochs one after the other, cut into equal pieces."""
    waiting = np.empty(0, dtype=int)
    while True:
        while len(waiting) < size:
            waiting = np.append(waiting, rng.permutation(n_rows))
        yield waiting[:size]
        waiting = waiting[size:]


def _towards_zero(weights, much):
    if issparse(weights):
        weights = weights.copy()
        weights.data[:] = _towards_zero(weights.data, much)
        return weights
    return np.sign(weights) * np.maximum(np.abs(weights) - much, 0)


def _check(data, chains, penalty, l1, momentum, batch, rng):
    if chains not in ("previous", "fresh", "data"):
        raise ValueError(f"chains must be 'previous', 'fresh' or 'data', found {chains!r}")
    if chains == "data" and np.isnan(data).any():
        raise ValueError(
            "chains='data' begins the free phase at rows of the data, and these have nan where an entry "
            "is missing; use chains='previous'"
        )
    if penalty < 0 or l1 < 0 or not 0 <= momentum < 1:
        raise ValueError(f"need penalty >= 0, l1 >= 0 and 0 <= momentum < 1, found {penalty}, {l1} and {momentum}")
    if batch is not None:
        if rng is None:
            raise ValueError("batches are drawn by rng; pass rng=np.random.default_rng(0)")
        if not 1 <= batch <= len(data):
            raise ValueError(f"batch must be 1 to {len(data)}, the rows of the data, found {batch}; None takes all")


def checked_couplings(couplings, n):
    """Return the mask of the weights that exist, (n, n), or None; raise ValueError where it is no symmetric mask."""
    if couplings is None:
        return None
    couplings = (couplings.toarray() if issparse(couplings) else np.asarray(couplings)).astype(bool)
    if couplings.shape != (n, n) or (couplings != couplings.T).any():
        raise ValueError(f"couplings must be a symmetric ({n}, {n}) mask, found shape {couplings.shape}; try W != 0")
    return couplings
