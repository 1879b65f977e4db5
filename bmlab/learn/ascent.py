"""The learning loop: climb the likelihood by clamped minus free.

    V <- momentum * V + slope,        slope = (<s_i s_j>_clamped - <s_i s_j>_free) / T - penalty * w_ij
    W <- W + rate * V                 and so for the biases, which nothing penalises

What changes from one algorithm of the literature to the next is only where the free phase starts:
    chains="previous"   from its own last state: persistent chains (Younes 1989, Tieleman 2008), warm mean field
    chains="fresh"      from nowhere: plain Monte Carlo (Ackley, Hinton and Sejnowski 1985)
    chains="data"       from the data: contrastive divergence (Hinton 2002)
and what the free phase is: exact(), gibbs(), the deterministic machine mean_field() (Peterson and Anderson 1987,
Complex Systems 1, 995; Hinton 1989, Neural Computation 1, 143), tap(), bethe().  An L1 penalty moves each weight
towards 0 by rate * l1 / (1 - momentum) after the step, and stops it there (Tibshirani 1996; proximal gradient).
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, pairwise, repeat
from typing import Any

import numpy as np

from ..arrays import largest
from ..checks import check_choice, check_count, check_positive, check_rates, check_share, generator, is_one, is_sparse
from ..couplings import entries
from ..estimate import Estimate, Method, asked, check_method, coupled_pairs, quietly
from ..infer.exact.enumeration import exact
from ..model import BoltzmannMachine, check_model
from ..threads import one_thread
from . import likelihood
from .likelihood import gradient
from .observations import checked_couplings, hides_nothing, learnable, named, padded, shares
from .record import Loop, Step

LONG = 10**4  # numbers from which on BLAS wakes its threads for one sum, and may wait milliseconds for them
UNASKED = Estimate(np.empty(0), np.empty((0, 0)))  # the moments of a step that is still to be made


def ascend(
    model: BoltzmannMachine | Step, data: Any, infer: Method = exact, *, rate: float | Iterable[float], **options: Any
) -> Iterator[Step]:
    """Yield the model with its moments, move it uphill, and so on; fit() takes the same options, and explains them.

    >>> first = next(bmlab.ascend(bmlab.toy(), bmlab.states(3), rate=0.1))  # a Step, with toy() as its model
    """
    rule, step = begun(model, data, infer, **options)
    for size, rows in rule.schedule(rate, step.loop):
        model = rule.moved(step, size)
        clamped = rule.clamped_phase(model, rows, step.data)
        free = rule.free_phase(model, rows, step.free)
        slope = rule.penalised(model, gradient(model, clamped, free))  # clamped minus free, over T
        step = rule.step(step, model, clamped, free, slope)
        yield step


@dataclass(frozen=True, eq=False)
class Rule:
    """Hold what stays the same in a climb: the data, rows (N, v) or moments, and the options."""

    data: Any
    infer: Method
    chains: str = "previous"
    clamped: Callable[..., Estimate] | None = None
    couplings: np.ndarray | None = None
    penalty: float = 0.0
    l1: float = 0.0
    momentum: float = 0.0
    batch: int | None = None
    sample_weight: Any = None
    once: bool = False  # whether the clamped phase is asked once, and afterwards restated for other machines

    def schedule(self, rate: Any, loop: Loop) -> Iterator[tuple[float, Any]]:
        """Yield for each step that follows the rate of the move to it, and its rows; one rate a step."""
        rates: Any = repeat(check_positive("rate", rate, 0.05, zero=True)) if is_one(rate) else check_rates(rate)
        sizes = (size for size, _ in pairwise(chain([0.0], rates)))
        rows = repeat(self.data)
        if self.batch:
            orders = batches(len(self.data), self.batch, np.random.default_rng(loop.seed))
            rows = (self.data[order] for order in orders)
        return islice(zip(sizes, rows, strict=False), loop.number + 1, None)

    def moved(self, step: Step, size: float) -> BoltzmannMachine:
        """Return the model after a step: W + size * V, and each weight towards 0 by L1."""
        if not step.loop.velocity:
            return step.model
        old, (d_weights, d_biases) = step.model, step.loop.velocity
        weights = _stepped(old, size * d_weights)
        if self.l1:
            weights = _towards_zero(weights, size * self.l1 / (1 - self.momentum))  # as far as a steady slope moves
        return old._with(weights, old.biases + size * d_biases)

    def clamped_phase(self, model, rows, before):
        """Ask for the moments of the machine clamped to the rows; where all are whole only log Z changes with it."""
        if self.once and before is not UNASKED:
            return likelihood.restated(model, before)
        with quietly():
            start = None if self.batch else self.start_after(before)
            if isinstance(rows, np.ndarray) and self.clamped is None:  # begun() has checked them
                share = shares(self.sample_weight, len(rows))
                return likelihood.clamped_rows(model, padded(model, rows), self.infer, start, share)
            weighted = {} if self.sample_weight is None else {"sample_weight": self.sample_weight}
            ask = self.clamped or partial(likelihood.clamped, infer=self.infer)
            return asked("clamped", ask, model, rows, start=start, **weighted)

    def free_phase(self, model, rows, before):
        """Ask for the moments of the free machine."""
        with quietly():
            start = rows if self.chains == "data" else self.start_after(before)
            return asked("infer", self.infer, model, start=start)

    def start_after(self, before):
        """Return where a phase starts that has answered `before`."""
        return before.state if self.chains == "previous" else None

    def penalised(self, model, slope):
        """Return the slope of L - penalty/2 * sum_{i<j} w_ij^2 by the weights that exist, and by the biases."""
        d_weights, d_biases = slope
        if self.penalty:
            d_weights = d_weights - self.penalty * model.weights
        if self.couplings is not None:
            d_weights = np.where(self.couplings, d_weights, 0.0)
        return d_weights, d_biases

    def step(self, before, model, clamped, free, slope):
        """Return the Step, with the velocity of the next move, momentum * V + slope."""
        number, velocity, seed = before.loop
        length = self.length(model, *slope)
        if np.isnan(length):
            _check_known(slope[0])
        change: Any = partial(_change, model, before.model) if velocity else np.nan
        if not velocity or not self.momentum:
            velocity = slope
        else:
            velocity = tuple(self.momentum * v + g for v, g in zip(velocity, slope, strict=True))
        return Step(model, clamped, free, length, change, Loop(number + 1, velocity, seed))

    def length(self, model, d_weights, d_biases):
        """Return the Euclidean length of the slope, each weight once; less what the L1 penalty holds."""
        d = _at_couplings(model, d_weights)  # each weight twice
        if self.l1:
            w = _at_couplings(model, model.weights)
            d = np.where(w, d - self.l1 * np.sign(w), np.sign(d) * np.maximum(np.abs(d) - self.l1, 0))
        with one_thread() if d.size > LONG else nullcontext():
            return float(np.sqrt(d @ d / 2 + d_biases @ d_biases))


def begun(model, data, infer, *, rng=None, couplings=None, sample_weight=None, **options) -> tuple[Rule, Step]:
    """Return the checked rule of a climb, and the step after which it goes on."""
    if not isinstance(model, Step):
        check_model(model)
    step = model if isinstance(model, Step) else Step(named(model, data), UNASKED, UNASKED, loop=Loop(-1))
    data = learnable(step.model, data)
    rng, given = rng if rng is None else generator(rng), isinstance(data, Estimate)
    if options.get("batch") is not None:
        options |= {"batch": check_count("batch", options["batch"], 1, 2**53 if given else len(data))}
    couplings = checked_couplings(couplings, step.model.n)
    rule = Rule(data, infer, couplings=couplings, sample_weight=sample_weight, **options)
    _check(rule, rng, given)
    if given and step.data is UNASKED:
        step = replace(step, data=data)
    if rule.batch and rng is not None and not isinstance(model, Step):
        step = replace(step, loop=Loop(-1, (), int(rng.integers(2**63))))
    whole = hides_nothing(step.model, data)
    return replace(rule, once=whole and rule.clamped is None and rule.batch is None), step


def _at_couplings(model, matrix):
    """Return the numbers of a matrix at the couplings, in one line; all of them where weights are dense."""
    return entries(matrix, coupled_pairs(model)) if model.is_sparse else np.ravel(matrix)


def _change(new, old):
    """Return the largest change of a parameter between two machines."""
    return max(largest(new.weights - old.weights), largest(new.biases - old.biases))


def _check_known(d_weights):
    """Raise ValueError where the slope of a weight is nan."""
    if not is_sparse(d_weights) and np.isnan(d_weights).any():
        i, j = np.argwhere(np.isnan(d_weights))[0]
        raise ValueError(
            f"the free phase does not know <s_{i} s_{j}>; say which weights exist, couplings=W != 0, "
            "or ask for all pairs, infer=functools.partial(bmlab.exact, pairs='all')"
        )


def _stepped(model, step):
    """Return W + step, in place of the step; a sparse sum would let go of the couplings whose weight becomes 0."""
    if not model.is_sparse:
        step += model.weights
        return step
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
    if is_sparse(weights):
        weights = weights.copy()
        weights.data[:] = _towards_zero(weights.data, much)
        return weights
    return np.sign(weights) * np.maximum(np.abs(weights) - much, 0)


def _check(rule, rng, given):
    """Raise ValueError for options out of range, or that do not go together."""
    check_choice("chains", rule.chains, ("previous", "fresh", "data"))
    check_method("infer", rule.infer, "model", start=None)
    if rule.clamped is not None:
        check_method("clamped", rule.clamped, "model", "data", start=None)
    check_positive("penalty", rule.penalty, 0.01, zero=True)
    check_positive("l1", rule.l1, 0.01, zero=True)
    check_share("momentum", rule.momentum)
    if given and (rule.batch or rule.clamped or rule.chains == "data" or rule.sample_weight is not None):
        raise ValueError("batch, clamped, sample_weight and chains='data' ask for rows, found moments; pass the rows")
    if rule.sample_weight is not None:
        shares(rule.sample_weight, len(rule.data))
        if rule.batch or rule.chains == "data":
            raise ValueError("batches and chains='data' take each row as one; repeat rows instead of sample_weight")
    if rule.chains == "data" and np.isnan(rule.data).any():
        raise ValueError(
            "chains='data' begins the free phase at rows of the data, and these have nan where an entry "
            "is missing; use chains='previous'"
        )
    if rule.batch is not None and rng is None:
        raise ValueError("batches are drawn by rng; pass rng=np.random.default_rng(0)")
