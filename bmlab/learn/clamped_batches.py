"""The clamped phase of coupled hidden units, all patterns side by side.

Every pattern clamps the same machine: the weights among the hidden units stay, only their fields differ.  So one sweep
over the hidden units updates them in all N patterns at once,

    mean field:  m_ki <- tanh(h_ki / T)              Gibbs:  s_ki = +1 with p = 1 / (1 + exp(-2 h_ki / T)),

h_ki the field of unit i in pattern k, where clamped() would ask one machine after the other.  Hand either to fit():

    bmlab.fit(model, data, free_phase, clamped=bmlab.clamped_mean_field, ...)

Mean field gives a bound from below of log p(v) for each pattern: so learning climbs a bound of the likelihood, if the
free phase does not fall short too (Neal and Hinton 1998; Salakhutdinov and Hinton 2009, AISTATS, 448).
"""

import numpy as np
from scipy.special import entr

from ..arrays import generator
from ..estimate import Estimate, LogZ, as_corr, pair_sums
from ..infer.sampling.chains import chance_of_plus
from ..infer.sampling.diagnostics import RHAT, agreement, mean_and_stderr
from ..model import BoltzmannMachine
from ..progress_bars import watched
from ..threads import one_thread
from .likelihood import checked_rows


def clamped_mean_field(
    model: BoltzmannMachine, data, *, start=None, tolerance: float = 1e-8, max_sweeps: int = 500
) -> Estimate:
    """Answer as clamped(model, data, mean_field), by products: <s_i s_j> = m_i m_j in each pattern, without a response.

    data       (N, v), -1/+1, or nan where an entry is missing
    start      the state of an earlier answer, about as many rows
    tolerance  of the last sweep's largest move of a mean
    log_z      the mean of -F/T over the patterns: a proven lower bound, converged or not
    """
    rows, hidden = _begun(model, data)
    s = np.where(hidden, 0.0 if start is None else _checked_start(start, rows.shape), rows)
    units, moved, sweeps = np.flatnonzero(hidden.any(0)), np.inf, 0
    with one_thread():
        if start is None:
            s = np.where(hidden, np.tanh(model.field(s) / model.temperature), s)
        while moved > tolerance and sweeps < max_sweeps:
            moved, sweeps = _descend(model, s, hidden, units), sweeps + 1
        entropy = np.where(hidden, entr((1 + s) / 2) + entr((1 - s) / 2), 0.0).sum(1)
        log_z = float((entropy - model.energy(s) / model.temperature).mean())
        corr = as_corr(model, pair_sums(model, s) / len(s))
    return Estimate(
        s.mean(0),
        corr,
        LogZ(log_z, lower=log_z),
        method="clamped, mean field",
        converged=moved <= tolerance,
        state=s,
        info={"hidden": len(units), "road": "side by side", "sweeps": sweeps, "moved": moved},
    )


def _descend(model, s, hidden, units):
    """Update each hidden unit in all patterns, in place; return the largest move."""
    moved = 0.0
    for i in units:
        index, w = model.neighbours(i)
        new = np.where(hidden[:, i], np.tanh((s[:, index] @ w + model.biases[i]) / model.temperature), s[:, i])
        moved = max(moved, float(np.abs(new - s[:, i]).max()))
        s[:, i] = new
    return moved


def clamped_gibbs(
    model: BoltzmannMachine,
    data,
    *,
    rng: np.random.Generator,
    start=None,
    n_chains: int = 10,
    burn_in: int = 10,
    n_sweeps: int = 20,
) -> Estimate:
    """Answer as clamped(model, data, gibbs), by `n_chains` chains a pattern, each unit by its chance given the others.

    data       (N, v), -1/+1, or nan where an entry is missing
    start      the state of an earlier answer, about as many rows: then a shorter burn_in may do
    log_z      nan
    stderr     the spread of the chains' averages over all patterns
    converged  R-hat of the averages over all patterns below 1.01, as in gibbs()
    """
    rng = generator(rng)
    if n_chains < 1 or n_sweeps < 1:
        raise ValueError(f"n_chains and n_sweeps must be at least 1, found {n_chains} and {n_sweeps}")
    rows, hidden = _begun(model, data)
    shape = (n_chains, *rows.shape)
    first = rng.choice([-1.0, 1.0], shape) if start is None else _checked_start(start, shape)
    s, hidden = np.where(hidden, first, rows).reshape(-1, model.n), np.tile(hidden, (n_chains, 1))
    units, means, pairs = np.flatnonzero(hidden.any(0)), [], 0.0
    with one_thread():
        for sweep in watched(range(burn_in + n_sweeps), "sweep"):
            _sweep(model, s, hidden, units, rng.random((len(s), len(units))))
            if sweep >= burn_in:
                chains = s.reshape(shape)
                means.append(chains.mean(1))
                pairs = pairs + np.array([pair_sums(model, chain) for chain in chains])
    means, equal = np.array(means), np.ones(n_chains)
    mean, mean_stderr = mean_and_stderr(means.mean(0), equal)
    corr, corr_stderr = mean_and_stderr(pairs / (n_sweeps * len(rows)), equal)
    rhat, ess = agreement(np.moveaxis(means[:, :, units], 2, 0).swapaxes(1, 2))
    return Estimate(
        mean,
        as_corr(model, corr),
        LogZ(np.nan),
        mean_stderr,
        as_corr(model, corr_stderr, diagonal=0.0),
        method="clamped, gibbs",
        converged=not len(units) or bool(rhat < RHAT),
        state=s,
        info={"hidden": len(units), "road": "side by side", "rhat": rhat, "ess": ess},
    )


def _sweep(model, s, hidden, units, u):
    """Update each hidden unit in all patterns and chains, in place, by uniforms u (rows, units)."""
    for k, i in enumerate(units):
        index, w = model.neighbours(i)
        p = chance_of_plus(2 * (s[:, index] @ w + model.biases[i]) / model.temperature, s[:, i])
        s[:, i] = np.where(hidden[:, i], np.where(u[:, k] < p, 1.0, -1.0), s[:, i])


def _checked_start(start, shape):
    if np.size(start) != np.prod(shape):
        raise ValueError(
            f"start must be the state of an answer about {shape[-2]} rows, found shape {np.shape(start)}; "
            "pass start=None"
        )
    return np.reshape(start, shape)


def _begun(model, data):
    """Return the rows (N, n), and which of their units are hidden."""
    rows = checked_rows(model, data)
    return rows, np.isnan(rows)
