"""The clamped phase (positive phase) of coupled hidden units, for all patterns at once.

Every pattern clamps the same machine: only the fields of the hidden units differ.  So one sweep over the hidden units
updates them in all N patterns at once, with h_ki the field of unit i in pattern k,

    mean field:  m_ki <- tanh(h_ki / T)              Gibbs:  s_ki = +1 with p = 1 / (1 + exp(-2 h_ki / T)).

Mean field gives a lower bound of log p(v) for each pattern (Neal and Hinton 1998; Salakhutdinov and Hinton 2009,
AISTATS, 448).  If a row has few unknown units, exact() is a sum over their 2^k states; rows with the same number of
unknown units are summed together.
"""

from __future__ import annotations

import numpy as np
import scipy

from ..checking.arrays import align_columns, states
from ..checking.budgets import check_memory
from ..checking.calls import show_call
from ..checking.validation import ArrayLike, as_generator, check_count, check_positive
from ..estimate import Bounded, Estimate, as_corr, coupled_pairs, pair_sums, warn_unless_converged
from ..infer.sampling.diagnostics import RHAT_LIMIT, agreement, mean_and_stderr
from ..infer.sampling.gibbs import sweep
from ..infer.variational.coordinate_descent import rows_by_class, sweep_down
from ..model import BoltzmannMachine, energy_of, field_of
from ..running.progress_bars import with_progress
from ..running.threads import one_thread
from .observations import check_padded_rows, unique_patterns

SUMMED_UNITS = 10  # unknown units of a row; above, one machine for each pattern costs less than its 2^k states
CLAMPED_STATES_AT_ONCE = 2**20  # of hidden units, summed over at a time


@show_call()
def clamped_mean_field(
    model: BoltzmannMachine,
    data: ArrayLike,
    *,
    start: ArrayLike | None = None,
    tolerance: float = 1e-8,
    max_sweeps: int = 500,
) -> Estimate:
    """Answer as clamped(model, data, mean_field), with <s_i s_j> = m_i m_j in each pattern, without linear response.

    data       (N, v), -1/+1, nan if an entry is missing
    start      the state of an earlier answer for the same number of rows
    tolerance  largest move of a mean in the last sweep
    log_z      the mean of -F/T over the patterns: a proven lower bound, converged or not

    >>> machine = bmlab.restricted([[1], [1]], [0, 0], [0])
    >>> bmlab.clamped_mean_field(machine, [[1, 1]]).mean.round(2)  # the hidden unit's is tanh(2)
    array([1.  , 1.  , 0.96])
    """
    rows = check_padded_rows(model, data)
    tolerance = check_positive("tolerance", tolerance, 1e-8, zero=True)
    max_sweeps = check_count("max_sweeps", max_sweeps, 0)
    hidden, moved, sweeps = np.isnan(rows), np.inf, 0
    m = np.where(hidden, 0.0 if start is None else _checked_start(model, start, rows.shape), rows)

    def means(field, units, m):
        return np.where(hidden.T[units], np.tanh(field), m[units])

    classes = [row for row in rows_by_class(model) if hidden[:, row[0]].any()]
    with one_thread():
        if start is None:
            m = np.where(hidden, np.tanh(field_of(model, m) / model.temperature), m)
        while moved > tolerance and sweeps < max_sweeps:
            moved, sweeps = sweep_down(m.T, means, classes), sweeps + 1
        entropy = np.where(hidden, scipy.special.entr((1 + m) / 2) + scipy.special.entr((1 - m) / 2), 0.0).sum(1)
        log_z = float((entropy - energy_of(model, m) / model.temperature).mean())
        corr = as_corr(model, pair_sums(model, m) / len(m))
    settled = moved <= tolerance
    return warn_unless_converged(
        Estimate(
            m.mean(0),
            corr,
            Bounded(log_z, lower=log_z),
            method="clamped, mean field",
            converged=settled,
            message=f"clamped_mean_field() moved by {moved:.2g} in the last of {sweeps} sweeps"
            + ("." if settled else "; the bound holds, the means may not. Raise max_sweeps."),
            state=m,
            info={"hidden": int(hidden.any(0).sum()), "algorithm": "side by side", "sweeps": sweeps, "moved": moved},
            model=model,
            is_clamped=True,
        )
    )


@show_call("bmlab.clamped_gibbs(model, data, rng=0)")
def clamped_gibbs(
    model: BoltzmannMachine,
    data: ArrayLike,
    *,
    rng: np.random.Generator | int,
    start: ArrayLike | None = None,
    n_chains: int = 10,
    burn_in: int = 10,
    n_sweeps: int = 20,
) -> Estimate:
    """Answer as clamped(model, data, gibbs), by `n_chains` chains per row, each unit drawn given all others.

    clamped(), with one machine for each pattern, costs 2 to 20 times as much with ten chains per row (784 visible and
    100 hidden units, 40 and 24), and 200 times as much with one chain and one sweep, as in learning.

    data       (N, v), -1/+1, nan if an entry is missing
    start      the state of an earlier answer for the same number of rows: a shorter burn_in may then be enough
    log_z      nan
    stderr     the spread of the chains' averages over all patterns; if all chains agree exactly, the change by one more
               chain; 0 for moments that are known in all rows
    converged  whether R-hat of the averages over all patterns is below 1.01, as in gibbs()

    >>> machine = bmlab.restricted([[1], [1]], [0, 0], [0])
    >>> answer = bmlab.clamped_gibbs(machine, [[1, 1]], rng=0, n_chains=1000)
    >>> bool(abs(answer.mean[2] - np.tanh(2)) < 4 * answer.mean_stderr[2])
    True
    """
    rng = as_generator(rng)
    n_chains = check_count("n_chains", n_chains)
    n_sweeps = check_count("n_sweeps", n_sweeps)
    rows = check_padded_rows(model, data)
    burn_in = check_count("burn_in", burn_in, 0)
    shape, hidden = (n_chains, *rows.shape), np.isnan(rows)
    size = n_chains * model.n * (80.0 * len(rows) + 16.0 * n_sweeps)
    check_memory(f"{n_chains:,} chains of {len(rows):,} rows would be kept", size, "use fewer chains, or batches")
    first = rng.choice([-1.0, 1.0], shape) if start is None else _checked_start(model, start, shape)
    s = np.where(hidden, first, rows).reshape(-1, model.n)
    units = np.flatnonzero(hidden.any(0))
    fixed = np.tile((0.5 - 1.5 * rows)[:, units], (n_chains, 1))  # u that keeps a known unit's state; else nan
    free, means, pairs = np.isnan(fixed), [], 0.0
    with one_thread():
        for made in with_progress(range(burn_in + n_sweeps), "sweep"):
            s = sweep(model, s, np.where(free, rng.random(fixed.shape), fixed), units=units)
            if made >= burn_in:
                chains = s.reshape(shape)
                means.append(chains.mean(1))
                pairs = pairs + np.array([pair_sums(model, chain) for chain in chains])
    means, equal = np.array(means), np.ones(n_chains)
    row, col = coupled_pairs(model) if model.is_sparse else np.ogrid[: model.n, : model.n]
    drawn, least = np.isin(range(model.n), units), 2 / (n_chains * len(rows))
    mean, mean_stderr = mean_and_stderr(means.mean(0), equal, least)
    corr, corr_stderr = mean_and_stderr(np.asarray(pairs) / (n_sweeps * len(rows)), equal, least)
    rhat, ess = agreement(np.moveaxis(means[:, :, units], 2, 0).swapaxes(1, 2))
    agree = not len(units) or bool(rhat < RHAT_LIMIT)
    return warn_unless_converged(
        Estimate(
            mean,
            as_corr(model, corr),
            mean_stderr=np.where(drawn, mean_stderr, 0.0),
            corr_stderr=as_corr(model, np.where(drawn[row] | drawn[col], corr_stderr, 0.0), diagonal=0.0),
            method="clamped, gibbs",
            converged=agree,
            message=f"clamped_gibbs() has R-hat {rhat:.4g} after {n_sweeps} sweeps; it should be "
            f"below {RHAT_LIMIT}"
            + ("." if agree else ": the chains disagree, or are too short to tell. Raise n_sweeps and burn_in."),
            state=s,
            info={"hidden": len(units), "algorithm": "side by side", "rhat": rhat, "ess": ess},
            model=model,
            is_clamped=True,
        )
    )


def _checked_start(model, start, shape):
    start = align_columns("start", start, model.names, "pass start=None", whole=True)
    if start.size != np.prod(shape) or not (np.abs(start) <= 1).all():
        raise ValueError(f"start must be a state of {shape[-2]} rows, found shape {start.shape}; pass start=None")
    return np.reshape(start, shape)


def summed(model: BoltzmannMachine, rows: np.ndarray) -> Estimate:
    """Answer as clamped(model, rows) for rows (N, n), nan if unknown, of a machine with dense weights."""
    patterns, share = unique_patterns(np.where(np.isnan(rows), 0.0, rows))
    with one_thread():
        s, log_z, covariance = over_states(model, patterns, share)
        pairs = pair_sums(model, s * np.sqrt(share)[:, None]) + covariance
    value = float(share @ log_z)
    return Estimate(
        share @ s,
        as_corr(model, pairs),
        Bounded(value, 0.0, value, value),
        method="clamped",
        message="the clamped phase is a sum over few states",
        info={"hidden": int((patterns == 0).any(0).sum()), "algorithm": "sums over the unknown units of each pattern"},
        model=model,
        is_clamped=True,
    )


def over_states(model: BoltzmannMachine, patterns: np.ndarray, share: np.ndarray):
    """Return <s | v> (N, n), log Z(clamped to v) (N,) and sum_v share_v Cov(s | v) of patterns v, 0 if unknown."""
    s, covariance = patterns.copy(), np.zeros((model.n, model.n))
    fields, log_z = field_of(model, patterns), -energy_of(model, patterns) / model.temperature  # units at 0 add nothing
    unknown = patterns == 0
    counts = unknown.sum(1)
    for k in np.unique(counts[counts > 0]):
        u = states(k)
        u_pairs = (u[:, :, None] * u[:, None, :]).reshape(len(u), k * k)
        here = np.flatnonzero(counts == k)
        for block in np.array_split(here, -(-len(here) * len(u) // CLAMPED_STATES_AT_ONCE)):
            units = np.nonzero(unknown[block])[1].reshape(-1, k)
            across = units[:, :, None], units[:, None, :]
            inside = model.weights[across].reshape(-1, k * k)
            x = (fields[block[:, None], units] @ u.T + inside @ u_pairs.T / 2) / model.temperature
            top = x.max(1, keepdims=True)
            p = np.exp(x - top)
            total = p.sum(1, keepdims=True)
            p /= total
            log_z[block] += (top + np.log(total))[:, 0]
            mean = p @ u
            s[block[:, None], units] = mean
            spread = (p @ u_pairs).reshape(-1, k, k) - mean[:, :, None] * mean[:, None, :]
            np.add.at(covariance, across, share[block, None, None] * spread)
    return s, log_z, covariance
