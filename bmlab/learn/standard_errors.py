"""Standard errors of what was learnt: observed information of the likelihood, sandwich of the pseudolikelihood.

At the top of a sum over N independent rows, with H the matrix of second derivatives of a row's mean, downwards, J the
covariance of the slopes of one row, and D the curvature of the penalty,

    covariance of what was learnt  =  (H + D)^-1 J (H + D)^-1 / N

The likelihood of the right model has J = H (Fisher's information), and without a penalty the inverse of N H is left;
the pseudolikelihood has not (Huber 1967; Godambe 1960, Ann. Math. Stat. 31, 1208).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checking.arrays import check_coupling_mask, sealed, unit_name
from ..checking.budgets import check_memory
from ..checking.validation import ArrayLike, check_choice, check_positive, summary
from ..estimate import Method, call_method, check_learning_method
from ..infer.exact.dispatch import exact
from ..model import BoltzmannMachine, field_of
from ..running.progress_bars import with_progress
from ..running.sparsity import entries
from ..running.threads import one_thread
from .likelihood import clamped_rows, gradient
from .maximum_likelihood import learned_pairs, machine_at
from .observations import PENALTY_ADVICE, check_padded_rows, unique_patterns
from .quasi_newton import DIFFERENCE_STEP
from .record import Fit

SCORES_AT_ONCE = 2**23  # slopes of rows at a time: of many data they would fill the memory
MAX_OFF_TOP = 0.02  # how far the top may be from the machine, in standard errors


class StandardErrors(NamedTuple):
    """Standard errors in the shapes of the parameters; nan where there is no weight.

    >>> bmlab.standard_errors(bmlab.pseudolikelihood([[1], [-1]]), [[1], [-1]]).biases.round(2)  # 1 / sqrt(2)
    array([0.71])
    """

    weights: np.ndarray  # (n, n)
    biases: np.ndarray  # (n,)

    __repr__ = summary


def standard_errors(
    model: BoltzmannMachine | Fit,
    data: ArrayLike,
    infer: Method = exact,
    *,
    of: str = "likelihood",
    couplings: ArrayLike | None = None,
    penalty: float = 0.0,
    bias_penalty: float = 0.0,
) -> StandardErrors:
    """Return the standard errors of a machine that was learnt from independent rows (N, v), nan where missing.

    model       what maximize() or pseudolikelihood() found, with all biases learnt
    of          "likelihood" or "pseudolikelihood": which of the two has its top there; the second needs whole rows
    couplings   boolean (n, n): the weights that were learnt; None: the couplings of the machine, or what is not 0
    penalty, bias_penalty   as it was learnt with.  They make weights too small, and errors do not say by how much:
                a weight and two errors cover the truth less often than 95 times in 100.  With l1 there are none
    Rows that are not independent (one person twice) have larger errors than these.
    Raises ValueError where the machine is not at that top, within a fiftieth of an error, and where rows do not
    determine the parameters.  Cost: of the likelihood two calls of `infer` a parameter; else (weights)^2 * N.

    >>> rows = bmlab.sample(bmlab.toy(), 1000, rng=0)
    >>> found = bmlab.maximize(bmlab.toy(), rows)
    >>> bmlab.standard_errors(found, rows).weights[0, 1].round(3)
    np.float64(0.058)
    """
    model = model.model if isinstance(model, Fit) else model
    rows, n = check_padded_rows(model, data), model.n
    check_choice("of", of, ("likelihood", "pseudolikelihood"))
    check_learning_method("infer", infer, "model", start=None)
    mask = check_coupling_mask(couplings, n, model.names) if couplings is not None else model.couplings
    pairs = learned_pairs(model, model.weights != 0 if mask is None and not model.is_sparse else mask)
    count = len(pairs[0]) + n
    check_memory(f"errors of {count:,} parameters need matrices", 40.0 * count**2, "pass fewer couplings")
    ridge = np.repeat([check_positive("penalty", penalty, 0.01, zero=True)], count)
    ridge[len(pairs[0]) :] = check_positive("bias_penalty", bias_penalty, 0.001, zero=True)
    parameters = np.append(entries(model.weights, pairs), model.biases)
    with one_thread():
        if of == "likelihood":
            slope, curvature, spread = _of_likelihood(model, rows, infer, pairs, parameters)
        else:
            ridge[: len(pairs[0])] *= 2  # PL meets each weight twice
            slope, curvature, spread = _of_pseudolikelihood(model, rows, pairs)
        inverse = _inverse(curvature + np.diag(ridge))
        variance = ((inverse @ spread) * inverse).sum(1) / len(rows)
        _check_determined(model, pairs, variance)
    with np.errstate(all="ignore"):  # in deep cold errors are 0; where this is no top a variance may be below 0
        errors, off = np.sqrt(variance), np.abs(inverse @ (slope - ridge * parameters))
        _check_top(model, pairs, off / errors, of, penalty)
    weights = np.full((n, n), np.nan)
    weights[pairs] = weights[pairs[::-1]] = errors[: len(pairs[0])]
    return sealed(StandardErrors(weights, errors[len(pairs[0]) :]))


def _of_likelihood(model, rows, infer, pairs, parameters):
    """Return the slope (P,), the curvature (P, P), and it again: of the right model the slopes of rows spread so."""

    def slope(changed):
        machine = machine_at(model, pairs, changed / model.temperature)
        d_weights, d_biases = gradient(
            machine, clamped_rows(machine, rows, infer), call_method("infer", infer, machine, start=None)
        )
        return np.append(entries(d_weights, pairs), d_biases)

    step = DIFFERENCE_STEP * model.temperature
    curvature = np.empty((len(parameters), len(parameters)))
    for k in with_progress(range(len(parameters)), "parameter"):
        move = step * (np.arange(len(parameters)) == k)
        curvature[k] = (slope(parameters - move) - slope(parameters + move)) / (2 * step)
    curvature = (curvature + curvature.T) / 2
    return slope(parameters), curvature, curvature


def _of_pseudolikelihood(model, rows, pairs) -> tuple[Any, Any, Any]:
    """Return the slope (P,), the curvature (P, P), and the covariance (P, P) of the slopes of rows."""
    if np.isnan(rows).any():
        raise ValueError("data must be whole rows of all units for a pseudolikelihood; pass of='likelihood'")
    (row, col), t = pairs, model.temperature
    s, share = unique_patterns(rows)
    tanh = np.tanh(field_of(model, s) / t)
    count, size = len(row) + model.n, max(1, SCORES_AT_ONCE // (len(row) + model.n))
    slope, spread, curvature = np.zeros(count), np.zeros((count, count)), np.zeros((count, count))
    for k in range(0, len(s), size):
        x, left, p = s[k : k + size], (s - tanh)[k : k + size] / t, share[k : k + size]
        scores = np.hstack([x[:, col] * left[:, row] + x[:, row] * left[:, col], left])
        slope += p @ scores
        spread += (scores.T * p) @ scores
    for unit in range(model.n):
        mine = np.flatnonzero((row == unit) | (col == unit))
        design = np.column_stack([s[:, row[mine] + col[mine] - unit], np.ones(len(s))])
        place = np.append(mine, len(row) + unit)
        curvature[np.ix_(place, place)] += (design.T * (share * (1 - tanh[:, unit] ** 2) / t**2)) @ design
    return slope, curvature, spread - np.outer(slope, slope)


def _inverse(curvature):
    """Return the inverse of the matrix of second derivatives; ValueError where it is not positive definite."""
    try:
        factor = np.linalg.inv(np.linalg.cholesky(curvature))
    except np.linalg.LinAlgError:
        raise ValueError(
            "data do not determine all weights and biases of the model, so their errors are infinite; "
            f"{PENALTY_ADVICE} to learn it, and pass it here"
        ) from None
    return factor.T @ factor


def _check_determined(model, pairs, variance):
    """Raise ValueError where a variance is negative: of hidden units that the penalty alone keeps at their place."""
    k = int(variance.argmin())
    if variance[k] < 0:
        raise ValueError(
            f"data do not determine {_parameter_name(model, pairs, k)}, the penalty alone does, so its error is "
            "unknown; pass more rows, or a model with fewer hidden units"
        )


def _check_top(model, pairs, off, of, penalty):
    """Raise ValueError where a parameter would move by more than MAX_OFF_TOP of its errors."""
    k = int(off.argmax())
    if not off[k] <= MAX_OFF_TOP:
        raise ValueError(
            f"model must be at the top of the {of} with penalty={penalty:g}, and {_parameter_name(model, pairs, k)} is "
            f"{off[k]:.2g} standard errors from it; pass of=, couplings= and penalty= as it was learnt, with the same "
            "data"
        )


def _parameter_name(model, pairs, k):
    """Return what a sentence calls the k-th parameter: weights at the pairs, then biases."""
    if k < len(pairs[0]):
        return "the weight of " + " and ".join(unit_name(model.names, side[k]) for side in pairs)
    return f"the bias of {unit_name(model.names, k - len(pairs[0]))}"
