"""Annealed importance sampling (AIS): log Z by weighted chains that go from independent units to the machine.

At first the units have weak biases a only.  The rest of the energy is switched on in steps from beta_0 = 0 to
beta_K = 1:

    f_k(s) = exp((beta_k (s'Ws/2 + (b - a)'s) + a's - offset) / T),      Z_0 = exp(-offset/T) prod_i 2 cosh(a_i/T)

A chain starts from f_0, and before each sweep at beta_k its weight is multiplied by f_k(s) / f_{k-1}(s).  Then

    <w> Z_0 = Z      and      <w x(s)> / <w> = <x>      exactly, for any schedule and any mixing;

a short schedule or poor mixing increases the spread of w, and so the error of a finite number of chains.  Neal (2001),
Statistics and Computing 11, 125; for these machines Salakhutdinov and Murray (2008), ICML.

A class of units that are not coupled to each other can be summed out of the weights, given the other units, r.  With
the fields of its units h_i = beta_k (sum_j w_ij r_j + b_i - a_i) + a_i:

    f_k(r) = exp((beta_k (r'Wr/2 + (b - a)'r) + a'r - offset) / T) prod_i 2 cosh(h_i/T).

The first biases are those of mean field, a = b + c W m with m = tanh((b + c W m)/T), with couplings weakened by c to
half of the strength at which a second solution could appear.  They are clipped to T/2, so that every unit starts with a
fair chance of either sign.  A better guess of the means would choose a valley: the chains would hardly reach the
others, and their weights, all similar, would suggest a small error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy

from ...checking.arrays import log_2cosh, no_such_attribute
from ...checking.budgets import check_memory
from ...checking.calls import show_call
from ...checking.validation import as_generator, check_count, is_sparse, summary
from ...estimate import Bounded, Estimate, as_corr, pair_sums, warn_unless_converged
from ...methods import method
from ...model import BoltzmannMachine, check_model, with_offset
from ...running.files import stored
from ...running.progress_bars import with_progress
from ...running.threads import one_thread
from .chains import Chains, stream_of
from .diagnostics import widened, wilson_stderr
from .gibbs import check_chains

PILOT_DIVISOR = 5  # the pilot run has fewer chains and steps by this factor
MAX_PILOT_CHAINS = 2002  # and no more chains than that
MEAN_FIELD_ROUNDS = 20  # iterations for the first biases, which need not be exact
LARGEST_FIRST_BIAS = 0.5  # largest first bias, in units of T: a chance of at least 27 % of either sign
MIN_EFFECTIVE_SHARE = 0.2  # least effective share of the chains for a reliable error
MIN_EFFECTIVE_CHAINS = 10  # and least effective number of chains: a fifth of a few would be too little


@stored()
class Runs(NamedTuple):
    """The last states s (chains, n), which follow p(s) only by their log_weights (chains,), and the betas."""

    s: np.ndarray
    log_weights: np.ndarray
    betas: np.ndarray

    __repr__ = summary
    __getattr__ = no_such_attribute


@method(
    "ais",
    answers=("means", "pairs", "log Z"),
    order=math.inf,
    line="annealed importance sampling",
    draws=True,
    combines=True,
    colour="#B0204E",
    marker="*",
    laws={"n_chains": 500, "n_temperatures": 100},
    shortest=({"n_chains": 2, "n_temperatures": 2},),
    fuzz={"n_chains": 40, "n_temperatures": 20},
)
@show_call("bmlab.ais(model, rng=0)")
def ais(
    model: BoltzmannMachine,
    *,
    rng: np.random.Generator | int,
    start: Any = None,
    n_chains: int = 1000,
    n_temperatures: int = 1000,
) -> Estimate:
    """Answer by annealed importance sampling: `n_chains` runs of `n_temperatures` steps, each with its weight.

    start     ignored: the runs must start from a distribution with known Z
    log_z     exp(value) has no bias; the value itself is low by about stderr^2/2 (a concave function of a mean)
    stderr    from the spread of the weights, and at least the error of log-normal weights with the variance v of the
              logs, the root of log(1 + (e^v - 1) / n_chains), since few runs seldom have the largest weights.
              The spread of fewer than 32 runs is uncertain: all errors are then wider, by Student's t.
              Errors of means and correlations are at least those of Wilson's interval for the effective runs.
              If no run has found a valley, no error shows it, and the value is too low.
    converged whether the effective number of runs, (sum w)^2 / sum w^2 (info["ess"]), is at least a fifth of them, and
              10.  This is no proof, see stderr.
    state     Runs: the last states with their weights, and the schedule of betas, chosen by a pilot run: steps of equal
              spread of the weights, so that each step loses the same share of the runs
    Raises ValueError for less than 2 chains or temperatures.

    >>> log_z = bmlab.ais(bmlab.medium(), rng=0, n_temperatures=100).log_z
    >>> abs(log_z - bmlab.exact(bmlab.medium()).log_z) < 4 * log_z.stderr
    True
    """
    check_model(model)
    rng = as_generator(rng)
    stream = stream_of(rng)
    n_chains = check_count("n_chains", n_chains, 2)
    n_temperatures = check_count("n_temperatures", n_temperatures, 2)
    check_chains(model, n_chains)
    check_memory(f"a schedule of {n_temperatures:,} temperatures would be kept", 80.0 * n_temperatures, "use fewer")
    with one_thread():
        base_biases = _base_biases(model)
        betas = _schedule(model, base_biases, rng, n_chains, n_temperatures)
        chains = _first_chains(model, base_biases, rng, n_chains, n_temperatures)
        log_w = _first_log_z(model, base_biases) + sum(_anneal(chains, base_biases[:, None], betas))
    answer = estimate_of(model, Runs(chains.s.T.astype(float), log_w, betas))
    return warn_unless_converged(replace(answer, info=answer.info | {"streams": (stream,)}))


def _anneal(chains: Chains, base_biases: np.ndarray, betas: np.ndarray) -> Iterator[np.ndarray]:
    """Take the chains along the schedule, in place; yield the increase of their log weights in each step, (chains,)."""
    model, temperature = chains.model, chains.model.temperature
    extra_biases = model.biases[:, None] - base_biases
    marginalised = chains.classes[0] if chains.classes else np.zeros(0, int)
    others = np.setdiff1d(np.arange(model.n), marginalised)
    across, inside = model.weights[marginalised][:, others], model.weights[others][:, others]
    base_field = base_biases[marginalised] / temperature
    coupled = inside.nnz > 0 if is_sparse(inside) else inside.any()  # False in a restricted machine
    for low, high in with_progress(pairwise(betas), "temperature", len(betas) - 1):
        s = chains.s[others].astype(float)
        field = across @ s
        minus_energy = extra_biases[others, 0] @ s + ((s * (inside @ s)).sum(0) / 2 if coupled else 0.0)
        beta, next_beta = low / temperature, high / temperature
        gain = _summed_gain(field, extra_biases[marginalised], base_field, beta, next_beta)
        yield (high - low) / temperature * minus_energy + gain
        chains.sweep(beta=next_beta, biases=(extra_biases + base_biases / high)[:, 0], first_field=field)


def _summed_gain(fields, extra_biases, base_field, low, high):
    """Return the sum over the class of log cosh at beta = high minus that at low, (chains,)."""
    field = fields + extra_biases
    return (log_2cosh(high * field + base_field) - log_2cosh(low * field + base_field)).sum(0)


def _schedule(model, base_biases, rng, n_chains, n_temperatures):
    """Return betas (n_temperatures + 1,) with steps of equal spread, found by a pilot run on even steps."""
    even = np.linspace(0, 1, n_temperatures // PILOT_DIVISOR + 2)
    pilot = _first_chains(model, base_biases, rng, min(n_chains // PILOT_DIVISOR + 2, MAX_PILOT_CHAINS), len(even))
    spreads = [step.std() for step in _anneal(pilot, base_biases[:, None], even)]
    length = np.cumsum([0.0, *spreads]) + 1e-9 * even  # even steps if all spreads are 0
    return np.interp(np.linspace(0, length[-1], n_temperatures + 1), length, even)


def _base_biases(model):
    """Return a (n,): mean field with couplings so weak that there is one solution; each round halves the distance."""
    weakening = 0.5 * model.temperature / max(_spectral_radius(model), 0.5 * model.temperature)
    a = model.biases
    for _ in range(MEAN_FIELD_ROUNDS):
        a = model.biases + weakening * (model.weights @ np.tanh(a / model.temperature))
    return a.clip(-LARGEST_FIRST_BIAS * model.temperature, LARGEST_FIRST_BIAS * model.temperature)


def _spectral_radius(model):
    """Return the largest absolute eigenvalue of W; if it is at most T, mean field has only one solution."""
    size = abs(model.weights).sum()  # 0 also if all stored weights are 0
    if model.n < 3 or size == 0:
        return size
    first = np.cos(np.arange(model.n))
    return abs(scipy.sparse.linalg.eigsh(model.weights, 1, v0=first, tol=1e-3, return_eigenvectors=False)[0])  # pyright: ignore[reportArgumentType]


def _first_chains(model, base_biases, rng, n_chains, n_sweeps):
    """Return Chains in independent states of f_0."""
    up = scipy.special.expit(2 * base_biases / model.temperature)[:, None]
    classes = model.colours.largest_first()  # the class that is summed over is drawn first
    s = np.where(rng.random((model.n, n_chains)) < up, 1, -1)
    return Chains(model, s, rng, classes=classes, n_sweeps=n_sweeps, new_biases=True)


def _first_log_z(model, base_biases):
    return with_offset(model, log_2cosh(base_biases / model.temperature).sum())


def estimate_of(model: BoltzmannMachine, runs: Runs) -> Estimate:
    """Return the weighted averages over all runs."""
    s, log_w, _ = runs
    top = log_w.max()
    count = len(log_w)
    w = np.exp(log_w - top)
    rare = np.sqrt(np.log1p(np.expm1(min(log_w.var(ddof=1), 500.0)) / count))  # for weights that no run has
    stderr = widened(count) * max(w.std(ddof=1) / w.mean() / np.sqrt(count), rare)
    log_z = Bounded(float(top + np.log(w.mean())), float(stderr))
    w /= w.sum()
    (mean, pairs), (mean2, pairs2) = _moments(model, s, w), _moments(model, s, w**2)
    ess = float(1 / (w @ w))
    failures = {
        ": its error bar is too small. Raise n_temperatures": ess < MIN_EFFECTIVE_SHARE * count,
        f": fewer than {MIN_EFFECTIVE_CHAINS} are too few to tell. Raise n_chains": ess < MIN_EFFECTIVE_CHAINS,
    }
    advice = next((failure for failure, occurs in failures.items() if occurs), "")
    return Estimate(
        mean.clip(-1, 1),
        as_corr(model, pairs),
        log_z,
        _stderr(mean, mean2, ess, count),
        as_corr(model, _stderr(pairs, pairs2, ess, count), diagonal=0.0),
        method="ais",
        converged=not advice,
        message=f"ais() rests on {ess:.1f} of its {count} runs; it needs {MIN_EFFECTIVE_SHARE:.0%}{advice}.",
        state=runs,
        info={"ess": ess},
        model=model,
    )


def _moments(model, s, w):
    """Return sums over the chains of w s_i and of w s_i s_j."""
    return w @ s, pair_sums(model, s * np.sqrt(w)[:, None])


def _stderr(x, x2, ess, count):
    """Return the error of averages x = sum w y of y = -1/+1: the root of sum w^2 (y - x)^2, where x2 = sum w^2 y.

    It is at least 2/ess, the change by one more run, and at least that of Wilson's interval.
    """
    spread = np.sqrt(np.maximum((1 + x**2) / ess - 2 * x * x2, 0) * count / (count - 1))
    return np.maximum(np.maximum(widened(count) * spread, wilson_stderr(x, ess)), 2 / ess)
