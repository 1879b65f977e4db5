"""The likelihood and its gradient: the clamped phase, the free phase, and their difference.

    log p(v)   = log Z(clamped to v) - log Z(free)
    dL/dw_ij   = (<s_i s_j>_clamped - <s_i s_j>_free) / T
    dL/db_i    = (<s_i>_clamped - <s_i>_free) / T

L is the mean of log p(v) over the data.  Data (N, v) are values of the first v units; the other units are hidden, and
the clamped phase averages over them, for each pattern.  Ackley, Hinton and Sejnowski (1985), eq. 5-6 and appendix.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal, overload

import numpy as np

from ..checking.budgets import time_in_words
from ..checking.calls import show_call
from ..checking.validation import ArrayLike, check_flag, describe, is_sparse
from ..estimate import (
    Bounded,
    Estimate,
    Method,
    answer_about,
    as_corr,
    call_method,
    check_estimate,
    check_method,
    check_same_model,
    coupled_pairs,
    pair_sums,
)
from ..infer.exact.dispatch import exact
from ..infer.exact.matrix_products import TABLE_UNITS
from ..infer.exact.planning import exact_plan
from ..model import BoltzmannMachine, check_model, energy_of, field_of, with_offset
from ..running.progress_bars import with_progress
from ..running.threads import one_thread
from .clamped_batches import SUMMED_UNITS, over_states, summed
from .observations import Moments, check_moments, check_padded_rows, unique_patterns, unique_rows

MAX_SUM_SECONDS = 600.0  # limit of exact() for all machines of a log_prob() together, the same as for one machine


@show_call()
def clamped(model: BoltzmannMachine, data: ArrayLike, infer: Method = exact, *, start: list | None = None) -> Estimate:
    """Average the machine over the data (N, v), -1/+1: moments of all n units, the mean of log Z(clamped).

    A missing entry, nan, is hidden in its row, as the units after the first v are in all rows.
    Without hidden units: averages of the data.  If hidden units are not coupled to each other: in closed form, for any
    `infer`.  With exact, if a row hides few units: by a sum over their states.  Otherwise `infer` answers about one
    clamped machine for each distinct pattern; `start` is the state of an earlier answer.
    Raises ValueError if data is not -1/+1 or nan, or is wider than the machine.

    >>> bmlab.clamped(bmlab.toy(), [[1, 1, -1], [1, -1, -1]]).mean
    array([ 1.,  0., -1.])
    """
    rows = check_padded_rows(model, data)
    check_method("infer", infer, "model", start=None)
    return clamped_rows(model, rows, infer, start)


def clamped_rows(model: BoltzmannMachine, rows: np.ndarray, infer: Method, start: Any = None) -> Estimate:
    """Return clamped() for checked rows (N, n), nan if a unit is hidden."""
    if start is not None and not isinstance(start, list):
        raise ValueError(f"start must be the `state` of a clamped() answer, found {describe(start)}; leave it out")
    unknown = np.isnan(rows)
    hidden = closed_form_units(model, unknown)
    if hidden is not None:
        return _closed_form(model, rows, hidden)
    groups = _group_by_unknown(unknown, model, infer)
    if len(groups) == 1:
        return _with_same_unknown(model, rows, groups[0][0], infer, start)
    answers = [
        _with_same_unknown(model, rows[where], unknown, infer, start and start[k])
        for k, (unknown, where) in enumerate(groups)
    ]
    info = {"algorithm": f"{len(answers)} sets of unknowns"}
    return _averaged(model, answers, [len(where) / len(rows) for _, where in groups], info)


def clamped_at(model: BoltzmannMachine, answer: Estimate) -> Estimate:
    """Return the clamped phase of data without hidden units for another machine: log Z = -<E>/T, same moments."""
    corr, weights = answer.corr, model.weights
    sums = (corr * weights).sum() if is_sparse(weights) or is_sparse(corr) else np.einsum("ij,ij->", corr, weights)
    pairs = sums / 2  # w_ii = 0
    log_z = with_offset(model, float(pairs + model.biases @ answer.mean) / model.temperature)
    return answer_about(answer, model, log_z=Bounded(log_z, 0.0, log_z, log_z), is_clamped=True)


@show_call()
def gradient(model: BoltzmannMachine, clamped: Estimate, free: Estimate) -> tuple[Any, np.ndarray]:
    """Return (dL/dW, dL/db), shapes (n, n) and (n,): clamped minus free, divided by T.

    Raises ValueError if one of the two is of another machine, or of the other phase.

    >>> blank = bmlab.BoltzmannMachine([[0, 0], [0, 0]], [0, 0])
    >>> bmlab.gradient(blank, bmlab.clamped(blank, [[1, 1]]), bmlab.exact(blank))
    (array([[0., 1.],
           [1., 0.]]), array([1., 1.]))
    """
    check_model(model)
    for name, answer in (("clamped", clamped), ("free", free)):
        check_same_model(name, check_estimate(name, answer, model.n), "model", model)
    check_phases(clamped, free)
    clamped = check_moments(model, clamped) if isinstance(clamped, Moments) else clamped  # by the names of its columns
    slope = clamped.corr - free.corr
    if model.temperature != 1:  # another pass
        slope = slope / model.temperature
    return slope, (clamped.mean - free.mean) / model.temperature


@show_call()
def log_likelihood(clamped: Estimate, free: Estimate) -> Bounded:
    """Return the mean of log p(v) over the data in nats per pattern, with bounds; it is never above 0.

    If two approximations contradict each other, so that their difference is above 0, it is clipped to 0.
    Raises ValueError if the two are of different machines, or of the other phase.

    >>> blank = bmlab.BoltzmannMachine([[0, 0], [0, 0]], [0, 0])
    >>> bmlab.log_likelihood(bmlab.clamped(blank, [[1, 1]]), bmlab.exact(blank))  # -2 log 2
    Bounded(-1.3863 (exact))
    """
    if isinstance(clamped, BoltzmannMachine) or isinstance(free, BoltzmannMachine):
        raise ValueError(
            "clamped and free must be the two phases, found a machine; try "
            "bmlab.log_likelihood(bmlab.clamped(model, data), bmlab.exact(model))"
        )
    check_estimate("free", free, len(check_estimate("clamped", clamped).mean))
    check_phases(clamped, free)
    check_same_model("free", free, "clamped", clamped.model)
    return log_ratio(clamped.log_z, free.log_z)


def check_phases(clamped: Estimate, free: Estimate) -> None:
    """Raise ValueError if two Estimates are not of the clamped and of the free phase, in this order."""
    if not clamped.is_clamped and free.is_clamped:
        raise ValueError(f"clamped and free are swapped, found {free!r} for free; pass the clamped phase first")
    if not clamped.is_clamped:
        raise ValueError(f"clamped must be the phase with data, found {clamped!r}; pass bmlab.clamped(model, data)")
    if free.is_clamped:
        raise ValueError(f"free must be the phase without data, found {free!r}; pass bmlab.exact(model)")


def log_ratio(c: Bounded, f: Bounded) -> Bounded:
    """Return log(Z_c / Z_f), at most 0: Z_c of a machine with clamped units, Z_f with fewer of them clamped."""
    lower, upper = min(0.0, c.lower - f.upper), min(0.0, c.upper - f.lower)
    value = float(np.minimum(c.value - f.value, 0.0))
    return Bounded(value, float(np.hypot(c.stderr, f.stderr)), lower, upper)


@overload
def log_prob(
    model: BoltzmannMachine, data: ArrayLike, infer: Method = ..., *, return_std: Literal[False] = ...
) -> np.ndarray: ...


@overload
def log_prob(
    model: BoltzmannMachine, data: ArrayLike, infer: Method = ..., *, return_std: Literal[True]
) -> tuple[np.ndarray, np.ndarray]: ...


@show_call()
def log_prob(
    model: BoltzmannMachine, data: ArrayLike, infer: Method = exact, *, return_std: bool = False
) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """Return log p(v) of each row of the data (N, v), -1/+1, in nats: (N,); hidden and missing units are summed out.

    infer       method for the free machine and, if hidden units are coupled, for one clamped machine per pattern; if it
                gives no log Z, the result is nan.  exact computes log Z only
    return_std  also return the standard errors (N,), as stated by `infer`: 0 for exact, nan for a bound.  The error of
                the free machine is part of all of them
    Raises ValueError as clamped() does, and if exact would take more than ten minutes in all, with the predicted time.

    >>> np.exp(bmlab.log_prob(bmlab.toy(), [[1], [-1]])).sum().round(9)  # unit 0, the others summed out
    np.float64(1.0)
    """
    rows = check_padded_rows(model, data)
    check_method("infer", infer, "model")
    return_std = check_flag("return_std", return_std)
    log_z, variance, unknown = np.empty(len(rows)), np.zeros(len(rows)), np.isnan(rows)
    hidden = closed_form_units(model, unknown)
    groups = _group_by_unknown(unknown, model, infer) if hidden is None else [(hidden, np.arange(len(rows)))]
    machines, price = [(np.arange(len(rows)), model)], []
    for unknown, where in groups:
        if unknown is None:
            log_z[where] = over_states(model, np.nan_to_num(rows[where]), np.ones(len(where)))[1]
        elif _coupled(model, unknown):
            known = np.setdiff1d(np.arange(model.n), unknown)
            first, which, _ = unique_rows(rows[where][:, known])
            patterns = rows[where[first]][:, known]
            machines += [(where[which == k], model.clamp(known, v)) for k, v in enumerate(patterns)]
            price.append((machines[-1][1], len(patterns)))
        else:
            with one_thread():
                log_z[where] = _summed_out(model, rows[where], unknown)[1]
    if infer is exact:
        if model.n > TABLE_UNITS:  # a table of all states takes less time than its plan
            _check_cost([(model, 1), *price])
        infer = partial(exact, want="log_z")
    (_, free), *clamped_answers = [
        (where, call_method("infer", infer, machine).log_z) for where, machine in with_progress(machines, "machine")
    ]
    for where, answer in clamped_answers:
        log_z[where], variance[where] = answer.value, _stderr(answer) ** 2
    log_p = log_z - free.value
    return (log_p, np.sqrt(variance + _stderr(free) ** 2)) if return_std else log_p


def _stderr(log_z):
    """Return the standard error of a log Z: nan for a bound or an approximation, which states none."""
    return log_z.stderr if log_z.stderr or log_z.lower == log_z.upper else np.nan


def _check_cost(machines):
    """Raise ValueError if exact() would take too long for log Z of all `machines`, pairs (machine, count)."""
    seconds = sum(count * exact_plan(machine, want="log_z").seconds for machine, count in machines)
    if seconds > MAX_SUM_SECONDS:
        raise ValueError(
            f"log_prob() would ask exact() for log Z of {sum(count for _, count in machines):,} machines, about "
            f"{time_in_words(seconds)}, and stops at {time_in_words(MAX_SUM_SECONDS)}; use "
            "infer=functools.partial(bmlab.ais, rng=0)"
        )


def closed_form_units(model, unknown):
    """Return the hidden units, if they are the same in all rows and not coupled to each other; else None."""
    hidden = np.flatnonzero(unknown[0])
    return hidden if (unknown == unknown[0]).all() and not _coupled(model, hidden) else None


def _group_by_unknown(unknown, model, infer):
    """Return (unknown units, rows) for each set of unknown units that occurs; (None, rows) for rows to sum over."""
    few = (unknown.sum(1) <= SUMMED_UNITS) & (infer is exact and not model.is_sparse)
    first, which, _ = unique_rows(unknown[~few])
    sets = unknown[~few][first]
    rest = [(np.flatnonzero(s), np.flatnonzero(~few)[which == k]) for k, s in enumerate(sets)]
    return [(None, np.flatnonzero(few)), *rest] if few.any() else rest


def _coupled(model, unknown):
    """Whether any of these units are coupled to each other."""
    among = model.weights[unknown][:, unknown]
    return bool(among.nnz if model.is_sparse else among.any())


def _with_same_unknown(model, rows, unknown, infer, start):
    """Return the clamped phase of rows (N, n) with the same unknown units, or with few unknown units (None)."""
    if unknown is None:
        return summed(model, rows)
    if _coupled(model, unknown):
        return _pattern_by_pattern(model, rows, unknown, infer, start)
    return _closed_form(model, rows, unknown)


def _closed_form(model, rows, unknown):
    """Return averages of the data, or of <s | v>, whose products factorise."""
    with one_thread():
        s, log_z = _summed_out(model, rows, unknown) if len(unknown) else (rows, None)
        corr = as_corr(model, pair_sums(model, s) / len(s))
    message = "the clamped phase is a closed form"
    answer = Estimate(s.mean(0), corr, method="clamped", message=message, is_clamped=True)
    if log_z is None:
        return replace(clamped_at(model, answer), info={"hidden": 0, "algorithm": "averages of the data"})
    value = float(log_z.mean())
    info = {"hidden": len(unknown), "algorithm": "closed form"}
    return replace(answer, log_z=Bounded(value, 0.0, value, value), info=info, model=model)


def _summed_out(model, rows, unknown):
    """Return <s | v> and log Z(clamped to v) for each row, for hidden units that are not coupled to each other.

    <h_j> = tanh(f_j/T) and log Z = -E(v)/T + sum_j log 2 cosh(f_j/T), with f the field of the hidden units.
    """
    s = rows.copy()
    s[:, unknown] = 0  # a unit at 0 has no energy and sends no field
    f = field_of(model, s)[:, unknown] / model.temperature
    log_z = np.logaddexp(f, -f).sum(1) - energy_of(model, s) / model.temperature
    s[:, unknown] = np.tanh(f)
    return s, log_z


def _pattern_by_pattern(model, rows, unknown, infer, start):
    """Average the answers about one clamped machine for each distinct pattern, weighted by the pattern's frequency."""
    known = np.setdiff1d(np.arange(model.n), unknown)
    patterns, share = unique_patterns(rows[:, known])
    if start is not None and len(start) != len(patterns):
        raise ValueError(f"start must hold {len(patterns)} states, one a pattern, found {len(start)}; leave it out")
    starts = start or [None] * len(patterns)
    answers = [
        call_method("infer", infer, model.clamp(known, v), start=begin)
        for v, begin in with_progress(list(zip(patterns, starts, strict=True)), "pattern")
    ]
    whole = (_with_known(model, known, v, unknown, answer) for v, answer in zip(patterns, answers, strict=True))
    info = {"hidden": len(unknown), "algorithm": "pattern by pattern", "patterns": len(patterns)}
    return replace(_averaged(model, whole, share, info), method=f"clamped, {answers[0].method}")


def _with_known(model, known, v, unknown, answer):
    """Return an answer about the unknown units as an answer about all: v_i <s_j> has the error of <s_j>."""
    s, error = np.zeros(model.n), np.zeros(model.n)
    s[known], s[unknown], error[unknown] = v, answer.mean, answer.mean_stderr
    row, col = coupled_pairs(model) if model.is_sparse else np.ogrid[: model.n, : model.n]
    pairs, errors = s[row] * s[col], np.maximum(error[row], error[col])
    if model.is_sparse:
        place = np.full(model.n, -1)
        place[unknown] = np.arange(len(unknown))
        both = (place[row] >= 0) & (place[col] >= 0)
        inside = place[row[both]], place[col[both]]
    else:
        both, inside = np.ix_(unknown, unknown), ...
    pairs[both] = answer.corr[inside]
    errors[both] = answer.corr_stderr[inside]
    return replace(
        answer, mean=s, corr=as_corr(model, pairs), mean_stderr=error, corr_stderr=as_corr(model, errors, diagonal=0.0)
    )


def _averaged(model, answers, share, info):
    """Return the mean of independent answers about different rows, weighted by their shares of all rows."""
    sums: Any = [0.0] * 6
    ends = []
    for p, a in zip(share, answers, strict=True):
        log_z, error, errors = a.log_z, p * a.mean_stderr, p * a.corr_stderr
        interval = np.array([log_z.value, log_z.lower, log_z.upper])
        parts = p * a.mean, p * a.corr, p * interval, error * error, errors * errors, (p * log_z.stderr) ** 2
        sums = [total + part for total, part in zip(sums, parts, strict=True)]
        ends.append((a.converged, a.message, a.state))
    mean, corr, (value, lower, upper), error, errors, noise = sums
    converged, message, _ = min(ends, key=lambda end: end[0])  # the first that has not converged, else the first
    return Estimate(
        mean,
        corr,
        Bounded(value, np.sqrt(noise), lower, upper),
        np.sqrt(error),
        np.sqrt(errors),
        method="clamped",
        converged=converged,
        message=message,
        state=[state for *_, state in ends],
        info=info,
        model=model,
        is_clamped=True,
    )
