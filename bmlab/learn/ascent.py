"""The learning loop: climb the likelihood by clamped minus free.

    W += rate * dL/dW,      b += rate * dL/db

What changes from one algorithm of the literature to the next is only where the free phase starts:
    chains="previous"   from its own last state: persistent chains (Tieleman 2008), warm mean field
    chains="fresh"      from nowhere: plain Monte Carlo (Ackley, Hinton and Sejnowski 1985)
    chains="data"       from the data: contrastive divergence (Hinton 2002)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, repeat
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.sparse import issparse

from ..estimate import Estimate, LogZ, NotConverged
from ..infer.enumeration import exact
from ..model import BoltzmannMachine
from .phases import clamped, gradient, log_likelihood


@dataclass(frozen=True, eq=False)
class Step:
    """Hold a model TOGETHER with its own moments: clamped to the data, and free."""

    model: BoltzmannMachine
    data: Estimate
    free: Estimate

    @property
    def mismatch(self) -> float:
        """The largest difference of any mean or correlation between data and free phase; 0 at the maximum."""
        corr = abs(self.data.corr - self.free.corr)
        largest = corr.max() if issparse(corr) else np.nanmax(corr)        # nan: a pair that nobody asked for
        return float(max(abs(self.data.mean - self.free.mean).max(), largest))

    @property
    def log_likelihood(self) -> LogZ:
        """Mean log p(v) of the data, nats a pattern."""
        return log_likelihood(self.data, self.free)


def ascend(model: BoltzmannMachine, data, infer=exact, *, rate: float | Iterable[float], chains: str = "previous",
           couplings=None, penalty: float = 0.0) -> Iterator[Step]:
    """Yield the model with its moments, move it uphill, and so on; stop by leaving the loop.

    data       (N, v) of -1/+1 for the first v units
    infer      model, start -> Estimate: the free phase, and the clamped one where hidden units are coupled
    rate       a number; or one number a step, and the loop ends with them (np.linspace(0.05, 0, 300) falls to rest).
               Beyond 2 T^2 over the largest eigenvalue of the covariance of all s_i and s_i s_j the climb overshoots:
               about 0.08 for fifteen correlated units
    couplings  boolean (n, n): the weights that exist; None: those of a full machine (or of sparse weights)
    penalty    L2: the climbed function is L - penalty/2 * sum_{i<j} w_ij^2
    Estimates that have not converged are part of learning and raise no warning here: look at Step.free.converged.
    """
    if chains not in ("previous", "fresh", "data"):
        raise ValueError(f"chains must be 'previous', 'fresh' or 'data', found {chains!r}")
    couplings = checked_couplings(couplings, model.n)
    data_start, free_start = None, data if chains == "data" else None
    for size in repeat(rate) if np.isscalar(rate) else rate:
        with catch_warnings():
            simplefilter("ignore", NotConverged)
            step = Step(model, clamped(model, data, infer, start=data_start), infer(model, start=free_start))
        yield step
        if chains == "previous":
            data_start, free_start = step.data.state, step.free.state
        model = _uphill(step, size, couplings, penalty)


def _uphill(step, size, couplings, penalty):
    """The next model: each weight that exists, and each bias, moved by size times its gradient."""
    d_weights, d_biases = gradient(step.model, step.data, step.free)
    d_weights = d_weights - penalty * step.model.weights
    if couplings is not None:
        d_weights = np.where(couplings, d_weights, 0.0)
    elif not issparse(d_weights) and np.isnan(d_weights).any():
        i, j = np.argwhere(np.isnan(d_weights))[0]
        raise ValueError(f"the free phase does not know <s_{i} s_{j}>; say which weights exist, couplings=W != 0, or "
                         "ask for all pairs, infer=functools.partial(bmlab.exact, pairs='all')")
    return BoltzmannMachine(step.model.weights + size * d_weights, step.model.biases + size * d_biases,
                            step.model.temperature)


def checked_couplings(couplings, n):
    """Return the mask of the weights that exist, (n, n), or None; raise ValueError where it is no symmetric mask."""
    if couplings is None:
        return None
    couplings = (couplings.toarray() if issparse(couplings) else np.asarray(couplings)).astype(bool)
    if couplings.shape != (n, n) or (couplings != couplings.T).any():
        raise ValueError(f"couplings must be a symmetric ({n}, {n}) mask, found shape {couplings.shape}; try W != 0")
    return couplings


def fit(model: BoltzmannMachine, data, infer=exact, *, steps: int, rate: float | Iterable[float],
        chains: str = "previous", couplings=None, penalty: float = 0.0) -> list[Step]:
    """Return `steps` steps of ascend(): the first is the model given, the last where the climb has got to."""
    climb = ascend(model, data, infer, rate=rate, chains=chains, couplings=couplings, penalty=penalty)
    return list(islice(climb, steps))
