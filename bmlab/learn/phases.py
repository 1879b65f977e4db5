"""The two phases of learning, and what their difference is.

    log p(v)   = log Z(clamped to v) - log Z(free)
    dL/dw_ij   = (<s_i s_j>_clamped - <s_i s_j>_free) / T
    dL/db_i    = (<s_i>_clamped - <s_i>_free) / T

L is the mean of log p(v) over the data.  Data (N, v) belongs to the first v units; the other units are hidden, and
the clamped phase averages over them, for each pattern.  Ackley, Hinton and Sejnowski (1985), eq. 5-6 and appendix.
"""

import numpy as np

from ..arrays import check_spins
from ..estimate import Estimate, LogZ, as_corr, coupled_pairs, pair_sums
from ..infer.enumeration import exact
from ..model import BoltzmannMachine
from ..threads import one_thread


def clamped(model: BoltzmannMachine, data, infer=exact, *, start=None) -> Estimate:
    """Average the machine over the data (N, v), -1/+1: moments of all n units, and the mean of log Z(clamped).

    Nothing hidden: averages of the data.  Hidden units not coupled to each other: in closed form, whatever `infer`.
    Otherwise `infer` answers one clamped machine for each distinct pattern; `start` is a list of their states.
    Raises ValueError where data is not -1/+1 or is wider than the machine.
    """
    data = _checked_data(model, data)
    if model.clamp(slice(0, data.shape[1]), 1.0).has_couplings:
        return _pattern_by_pattern(model, data, infer, start)
    with one_thread():
        return _closed_form(model, data)


def gradient(model: BoltzmannMachine, clamped: Estimate, free: Estimate):
    """Return (dL/dW, dL/db), shapes (n, n) and (n,): clamped minus free, divided by T."""
    return (clamped.corr - free.corr) / model.temperature, (clamped.mean - free.mean) / model.temperature


def log_likelihood(clamped: Estimate, free: Estimate) -> LogZ:
    """Return the mean of log p(v) over the data in nats a pattern, as an interval; it is never above 0."""
    c, f = clamped.log_z, free.log_z
    lower, upper = min(0.0, c.lower - f.upper), min(0.0, c.upper - f.lower)
    return LogZ(c.value - f.value, float(np.hypot(c.stderr, f.stderr)), lower, upper)


def _checked_data(model, data):
    data = np.atleast_2d(check_spins(data))
    if not len(data) or data.shape[1] > model.n:
        raise ValueError(f"data must have at least one row and at most {model.n} columns, found {data.shape}; "
                         "pass (N, visible units)")
    return data


def _closed_form(model, data):
    """Given the data every hidden unit is independent: <h_j> = tanh(f_j/T), log Z = -E(v)/T + sum log 2 cosh(f_j/T).

    f is the field of the hidden units; their products then factorise too.
    """
    visible, hidden = data.shape[1], model.n - data.shape[1]
    unset = np.hstack([data, np.zeros((len(data), hidden))])        # a unit at 0 has no energy and sends no field
    f = model.field(unset)[:, visible:] / model.temperature
    s = np.hstack([data, np.tanh(f)])
    log_z = (np.logaddexp(f, -f).sum(1) - model.energy(unset) / model.temperature).mean().item()
    return Estimate(s.mean(0), as_corr(model, pair_sums(model, s) / len(s)), LogZ(log_z, 0.0, log_z, log_z),
                    method="clamped", info={"hidden": hidden, "road": "closed form"})


def _pattern_by_pattern(model, data, infer, start):
    """Average the answers of one clamped machine for each distinct pattern, by how often the pattern occurs."""
    visible = np.arange(data.shape[1])
    patterns, count = np.unique(data, axis=0, return_counts=True)
    share = count / len(data)
    answers = [infer(model.clamp(visible, v), start=None if start is None else start[k])
               for k, v in enumerate(patterns)]
    s = np.hstack([patterns, [a.mean for a in answers]])
    corr, corr_stderr = _joined_corr(model, s, share, answers)
    mean_stderr = np.zeros(model.n)
    mean_stderr[len(visible):] = _combined([a.mean_stderr for a in answers], share)
    return Estimate(share @ s, corr, _mean_log_z([a.log_z for a in answers], share), mean_stderr, corr_stderr,
                    method=f"clamped, {answers[0].method}", converged=all(a.converged for a in answers),
                    state=[a.state for a in answers],
                    info={"hidden": model.n - len(visible), "road": "pattern by pattern", "patterns": len(patterns)})


def _joined_corr(model, s, share, answers):
    """Correlations (and their errors) of all units: products of the means, but for two hidden units."""
    visible = model.n - len(answers[0].mean)
    pairs = pair_sums(model, s * np.sqrt(share)[:, None])
    _put_hidden(model, pairs, visible, sum(p * a.corr for p, a in zip(share, answers, strict=True)))
    error = np.zeros(model.n)
    error[visible:] = _combined([a.mean_stderr for a in answers], share)
    row, col = coupled_pairs(model) if model.is_sparse else np.ogrid[:model.n, :model.n]
    errors = np.maximum(error[row], error[col])         # v_i <s_j> is as uncertain as <s_j>
    if not np.isscalar(answers[0].corr_stderr):
        squares = sum(p**2 * a.corr_stderr * a.corr_stderr for p, a in zip(share, answers, strict=True))
        _put_hidden(model, errors, visible, np.sqrt(squares))
    return as_corr(model, pairs), as_corr(model, errors, diagonal=0.0)


def _put_hidden(model, pairs, visible, hidden):
    """Overwrite what belongs to two hidden units, in the layout of pair_sums()."""
    if not model.is_sparse:
        pairs[visible:, visible:] = hidden
        return
    row, col = coupled_pairs(model)
    both = (row >= visible) & (col >= visible)
    pairs[both] = hidden[row[both] - visible, col[both] - visible]


def _combined(errors, share):
    """Standard error of a weighted mean of independent answers."""
    return np.sqrt(sum(p**2 * np.square(e) for p, e in zip(share, errors, strict=True)))


def _mean_log_z(answers, share):
    value, _, lower, upper = (float(np.sum(share * column)) for column in np.array(answers).T)
    return LogZ(value, float(_combined([a.stderr for a in answers], share)), lower, upper)
