"""Contrastive divergence, persistent (PCD, stochastic maximum likelihood): learning restricted machines (RBM).

    W += rate * dL/dW,   b += rate * dL/db,      dL/dw_ij = (<v_i h_j>_clamped - <v_i h_j>_free) / T

as in learning_steps(), but each step uses only `batch` rows of the data, and the free phase has `n_chains` chains that
take `n_sweeps` sweeps from their last states (Younes 1989, Probab. Theory Relat. Fields 82, 625; Tieleman
2008, ICML, 1064).  With free_start="data" they start from the batch itself: CD-k (Hinton 2002, Neural Computation 14,
1771).

The means of the data are subtracted from the visible units, so that slopes of weights do not mix with those of biases
(centring: Melchior, Fischer and Wiskott 2016, JMLR 17, 99).  With centred=False both layers are counted from off, as
0/1 units are: a pair with a unit that is off learns nothing, so most hidden units end up off, and each codes for a
rarer feature.  Products with hidden units use <h | v> instead of samples.  The answer is the mean of the second half of
the steps (Polyak and Juditsky 1992).

Internally, one array (v + 1, h + 1) in single precision holds W/T and, in its last column and row, the biases, as
weights to an always-on unit at the end of each layer.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..checking.calls import show_call
from ..checking.validation import (
    ArrayLike,
    as_generator,
    check_array,
    check_choice,
    check_count,
    check_flag,
    check_positive,
    describe,
)
from ..machines import restricted
from ..model import BoltzmannMachine
from ..running.progress_bars import with_progress
from ..running.threads import one_thread
from .ascent import batches
from .misfit import clamped_target, misfit, moments_of_machine
from .observations import check_visible_rows, pad_hidden, with_column_names
from .record import ALL_STEPS_MADE, Fit

ONE_SINGLE = np.float32(1)
SYMMETRY_NOISE = 0.01  # spread of the weights that break the symmetry of hidden units, in units of T


@show_call("bmlab.pcd(model, data, rng=0, steps=100, rate=0.1)")
def pcd(
    model: BoltzmannMachine,
    data: ArrayLike,
    *,
    rng: np.random.Generator | int,
    steps: int,
    rate: ArrayLike,
    batch: int = 100,
    n_chains: int = 100,
    n_sweeps: int = 1,
    free_start: str = "previous",
    penalty: float = 0.0,
    centred: bool = True,
) -> Fit:
    """Find the restricted machine after `steps` steps up the likelihood of data (N, v), averaged over the last half.

    rate      a number, or `steps` numbers; np.linspace(0.2, 0, steps) with batch 100, and 0.05 with batch 10, suit
              the digits (64 and 64 units).  Too large a rate shows in a pseudo_log_likelihood() that falls
    batch     rows per step; a batch may span two epochs, so every batch is full
    free_start "previous": n_chains chains, started once at rows of the data; "data": one chain per row of the batch,
              started there.  Each takes n_sweeps per step
    penalty   L2: the climbed function is L - penalty/2 * sum_{i<j} w_ij^2
    centred   False counts units from off, as for 0/1 units: better features, at rates several times smaller
    The data may also be expected values between -1 and 1, such as grey pixels.  A row then stands for all patterns of
    independent pixels with these means; hidden units see the means, and log_likelihood() refuses such rows.
    Fit.misfit compares the moments of the machine with those of the data, if chains of it agree.
    Start with small random weights (0.01), and with visible biases T arctanh(means).  Hidden units with equal
    parameters, or without weights and bias, would stay so: they get random weights of about 0.01 T.
    Raises ValueError if the model is not restricted: bmlab.fit learns other machines.

    >>> start, data = bmlab.restricted([[0.1], [0.1]], [0, 0], [0]), [[1, 1], [-1, -1]] * 50
    >>> found = bmlab.pcd(start, data, rng=0, steps=200, rate=0.1)
    >>> np.exp(bmlab.log_prob(found.model, [[1, 1]])) > 0.4  # of at most a half
    array([ True])
    """
    rng, model = as_generator(rng), with_column_names(model, data)
    data = check_visible_rows(model, data, allow_expected=True)
    steps = check_count("steps", steps)
    rates = _checked_rates(rate, steps)
    free_start = check_choice("free_start", free_start, ("previous", "data"))
    batch = check_count("batch", batch)
    n_chains = check_count("n_chains", n_chains)
    n_sweeps = check_count("n_sweeps", n_sweeps)
    penalty = check_positive("penalty", penalty, 0.01, zero=True)
    with one_thread():
        model = _break_hidden_symmetry(model, data.shape[1], rng)
        start = None if free_start == "data" else data[next(batches(len(data), n_chains, rng))]
        climb = RestrictedAscent(model, data.mean(0), start, rng, check_flag("centred", centred))
        rows, total = climb.centred(data), np.zeros(climb.p.shape)
        orders = batches(len(rows), batch, rng)
        for k, size in enumerate(with_progress(rates, "step")):
            climb.step(rows[next(orders)], size, n_sweeps, penalty)
            if k >= steps // 2:
                total += climb.p
    if not np.isfinite(total).all():
        raise ValueError("the climb has left all bounds (weights are no numbers any more); check the learning rate")
    found = Fit(climb.machine(total / (steps - steps // 2)), message=f"{ALL_STEPS_MADE}, and no slope was looked at")
    return found.compared(_misfit(found.model, data, penalty))


def _misfit(model, data, penalty):
    """Compare the machine with the data (N, v) that it has learnt, by all moments that it learns."""
    rows, (row, col) = pad_hidden(model, data), np.triu_indices(model.n, 1)
    across = (row < data.shape[1]) & (col >= data.shape[1])
    pairs = row[across], col[across]
    with one_thread():
        free = moments_of_machine(model, rows, tempered=False)
        return misfit(model, *clamped_target(model, rows, pairs), pairs, free, penalty=penalty)


class RestrictedAscent:
    """The state that a step changes: p, all parameters over T (v + 1, h + 1), and h, the hidden states of the chains.

    p is [[W, b_visible], [b_hidden, 0]], for visible units counted from `origin`, the `mean` (v,) of the data or off,
    and hidden units counted from `off`, 0 or -1; h (n_chains, h + 1) ends in the always-on unit, and starts at rows
    `start`; without `start` every step starts its chains at its own rows.
    """

    def __init__(self, model, mean, start, rng, centred=True):
        visible = len(mean)
        _check_restricted(model, visible)
        self.model, self.rng = model, rng
        self.origin, self.off = (mean, np.float32(0)) if centred else (-np.ones(visible), np.float32(-1))
        weights, hidden = model.weights[:visible, visible:], model.biases[visible:]
        biases = model.biases[:visible] + self.off * weights.sum(1)
        self.p = np.block([[weights, biases[:, None]], [hidden + self.origin @ weights, 0.0]]).astype(
            np.float32
        ) / np.float32(model.temperature)
        self.shift = np.append(self.origin, 0).astype(np.float32)
        self.h = None
        if start is not None:
            self.h = self._hidden(self.centred(start))

    def centred(self, data):
        """Return the data as an argument for step(): (N, v + 1), counted from the origin, the always-on unit last."""
        return np.hstack([data, np.ones((len(data), 1))]).astype(np.float32) - self.shift

    def step(self, rows, rate, n_sweeps=1, penalty=0.0):
        """Move the parameters uphill by one batch of rows (N, v + 1), and the chains by n_sweeps."""
        n, rate = len(rows), float(rate) / self.model.temperature**2  # T once from the slope, once since p is over T
        h = self._hidden(rows) if self.h is None else self.h
        for _ in range(n_sweeps - 1):
            h = self._hidden(self._visible(h))
        x = np.vstack([rows, self._visible(h)])
        t = _means(x, self.p)
        if self.h is not None:
            self.h = self._counted(_draw(t[n:], self.rng))
        self._counted(t)
        t[:n] *= rate / n  # clamped
        t[n:] *= -rate / len(h)  # minus free
        self.p[:-1, :-1] *= 1 - rate * self.model.temperature**2 * penalty
        self.p += x.T @ t

    def machine(self, p) -> BoltzmannMachine:
        """Return the machine with the parameters p, laid out as self.p."""
        p = self.model.temperature * p.astype(float)
        weights = p[:-1, :-1]
        made = restricted(weights, p[:-1, -1] - self.off * weights.sum(1), p[-1, :-1] - self.origin @ weights)
        return replace(self.model, weights=made.weights, biases=made.biases)

    def _counted(self, h):
        """Count hidden units (rows, h + 1) from their origin, in place; the always-on unit does not change."""
        if self.off:
            h[:, :-1] -= self.off
        return h

    def _hidden(self, v):
        """Draw hidden states given the visible ones, counted from their origin."""
        return self._counted(_draw(_means(v, self.p), self.rng))

    def _visible(self, h):
        """Draw visible states given the hidden ones, counted from the origin."""
        return _draw(_means(h, self.p.T), self.rng) - self.shift


def _draw(means, rng):
    """Draw -1/+1 with these means: +1 if mean > 2u - 1."""
    u = rng.random(means.shape, dtype=np.float32)
    u *= -2
    u += 1
    u += means
    return np.copysign(ONE_SINGLE, u, out=u)


def _means(x, p):
    """Return the means of one layer given the other, and 1 for the always-on unit."""
    t = x @ p
    np.tanh(t, out=t)
    t[:, -1] = 1
    return t


def _break_hidden_symmetry(model, visible, rng):
    """Return the machine with small random weights for hidden units that are equal, or have no weights and bias."""
    if model.is_sparse or visible == model.n:
        return model
    hidden = np.vstack([model.weights[:visible, visible:], model.biases[visible:]])
    _, which, count = np.unique(hidden, axis=1, return_inverse=True, return_counts=True)
    stuck = visible + np.flatnonzero((count[which.ravel()] > 1) | ~hidden.any(0))
    if not len(stuck):
        return model
    weights = model.weights.copy()
    weights[:visible, stuck] += rng.normal(scale=SYMMETRY_NOISE * model.temperature, size=(visible, len(stuck)))
    weights[stuck, :visible] = weights[:visible, stuck].T
    return replace(model, weights=weights)


def _check_restricted(model, visible):
    w, mask = model.weights, model.couplings
    lacking = mask is not None and not mask[:visible, visible:].all()
    if lacking or model.is_sparse or visible == model.n or w[:visible, :visible].any() or w[visible:, visible:].any():
        raise ValueError(
            f"pcd() needs dense weights, hidden units, every coupling between the {visible} visible and the hidden "
            "units and no other, as bmlab.restricted() makes them; use bmlab.fit for other machines"
        )


def _checked_rates(rate, steps):
    """Return one rate per step, (steps,)."""
    rates = check_array("rate", list(rate) if hasattr(rate, "__next__") else rate)
    if rates.shape not in ((), (steps,)) or not ((rates >= 0) & (rates < np.inf)).all():
        raise ValueError(f"rate must be a number, or one for each of {steps} steps, found {describe(rate)}; try 0.1")
    return np.broadcast_to(rates, steps)
