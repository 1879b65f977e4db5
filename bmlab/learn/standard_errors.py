"""Standard errors of learnt parameters: observed information of the likelihood, sandwich of the pseudolikelihood.

At the maximum of a mean over N independent rows, with H minus the matrix of second derivatives, J the covariance of the
slopes of one row, and D the curvature of the penalty,

    covariance of the parameters  =  (H + D)^-1 J (H + D)^-1 / N

The likelihood of the right model has J = H (Fisher's information), and without a penalty this is the inverse of N H;
for the pseudolikelihood J differs from H (Huber 1967; Godambe 1960, Ann. Math. Stat. 31, 1208).  Each row has moved the
parameters towards itself, so its residual r = s - tanh(h/T) is too small, the more so the fewer rows there are.  With X
(n, P) the slopes of its fields h/T and V the diagonal matrix of 1 - tanh^2, the slope X'r of a row is replaced by

    X' (I - V X B X')^-1 r,       B = (H + D)^-1 / N,

approximately its value at parameters learnt without this row (Mancl and DeRouen 2001, Biometrics 57, 126).  If few
rows contradict the others, as with strongly tied units, this variance is uncertain itself.  With u_r the share of row r
in the error of a parameter, it is as uncertain as one from the following number of degrees of freedom of Student's t:

    d - 1,       d = (sum_r u_r^2)^2 / sum_r u_r^4       (after Satterthwaite 1946, Biometrics Bulletin 2, 110).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checking.arrays import check_coupling_mask, first_largest, first_smallest, no_such_attribute, sealed, unit_name
from ..checking.budgets import check_memory
from ..checking.calls import show_call
from ..checking.validation import ArrayLike, check_choice, check_positive, summary
from ..estimate import Method, call_method, check_learning_method
from ..infer.exact.dispatch import exact
from ..model import BoltzmannMachine, field_of
from ..running.progress_bars import with_progress
from ..running.sparsity import values_at
from ..running.threads import one_thread
from .likelihood import clamped_rows, gradient
from .maximum_likelihood import learned_pairs, machine_at
from .observations import PENALTY_ADVICE, check_padded_rows, unique_patterns
from .quasi_newton import DIFFERENCE_STEP
from .record import Fit

SCORES_AT_ONCE = 2**23  # slopes of rows at a time: for many data all slopes would fill the memory
MIN_ROWS = 6  # for a sandwich: the spread of fewer rows is too uncertain
MIN_SPREAD = 1e-12  # of a variance relative to that without the sandwich; below, all rows agree
ROUNDING = 1e-13  # of a slope of a row's mean, in units of 1/T
MAX_OFF_TOP = 0.02  # largest distance of the machine from the maximum, in standard errors


class StandardErrors(NamedTuple):
    """Standard errors in the shapes of the parameters, nan if there is no weight, and the covariance behind them.

    An interval of 95 % is the parameter and scipy.stats.t.ppf(0.975, freedom) errors; of infinite freedom 1.96.

    >>> bmlab.standard_errors(bmlab.maximize(bmlab.toy(), bmlab.states(3)), bmlab.states(3)).biases.round(2)
    array([0.35, 0.35, 0.35])
    """

    weights: np.ndarray  # (n, n)
    biases: np.ndarray  # (n,)
    pairs: np.ndarray  # (M, 2): the units i < j of each weight
    covariance: np.ndarray  # (M + n, M + n) of the errors of these weights, then of the biases
    freedom: np.ndarray  # (M + n,) from 1: degrees of freedom of each, infinite of a likelihood

    __repr__ = summary
    __getattr__ = no_such_attribute


@show_call()
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
    """Return the standard errors of a machine that was learnt from independent rows (N, v), nan if missing.

    model       the machine found by maximize() or pseudolikelihood(), with all biases learnt
    of          "likelihood" or "pseudolikelihood": the function that was maximised; the second needs at least 6 rows,
                without missing entries.  Its errors are corrected for few rows (see above): for 6 to 100 rows and 21
                parameters they are 0.9 to 1 times the true ones.  If strong weights tie the units, few rows say
                anything, and two errors cover less than they should: for 4 such units and 10 to 100 rows, 0.71 to 0.91
                of the weights.  Student's t with `freedom` covers 0.90 to 0.98 of them, in the worst machine tried 0.80
    couplings   boolean (n, n): the weights that were learnt; default: the couplings of the machine, or weights not 0
    penalty, bias_penalty   the same as for learning.  Penalties make weights too small, which the errors do not
                include: a weight and two errors cover the truth less often than 95 times in 100.  l1 is not possible
    Rows that are not independent (one person twice) have larger errors than these.
    Raises ValueError if the machine is not at that maximum, within a fiftieth of an error, and if the rows do not
    determine the parameters.  Cost: for the likelihood two calls of `infer` per parameter; else (weights)^2 * N.

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
    parameters = np.append(values_at(model.weights, pairs), model.biases)
    with one_thread():
        if of == "likelihood":
            slope, curvature = _of_likelihood(model, rows, infer, pairs, parameters)
            root = _inverse_root(curvature + np.diag(ridge))
            inverse = root @ root.T
            covariance = inverse @ curvature @ inverse / len(rows)
            of_curvature = ROUNDING / DIFFERENCE_STEP / model.temperature**2
            rounding = of_curvature * np.abs(inverse).sum(1) ** 2 / len(rows)
            _check_determined(model, pairs, covariance.diagonal() <= rounding, ridge.any())
            freedom = np.full(count, np.inf)
        else:
            ridge[: len(pairs[0])] *= 2  # PL has each weight twice
            s, share = unique_patterns(_whole(rows))
            slope, curvature = _of_pseudolikelihood(model, s, share, pairs)
            root = _inverse_root(curvature + np.diag(ridge))
            covariance, freedom = _sandwich(model, s, share, pairs, root, len(rows))
            _check_contradicted(model, pairs, covariance.diagonal(), (root**2).sum(1), len(rows))
    with np.errstate(all="ignore"):  # at very low T errors are 0; at no maximum a variance may be < 0
        errors, off = np.sqrt(covariance.diagonal()), np.abs(root @ (root.T @ (slope - ridge * parameters)))
        _check_top(model, pairs, off / errors, of, penalty)
    weights = np.full((n, n), np.nan)
    weights[pairs] = weights[pairs[::-1]] = errors[: len(pairs[0])]
    return sealed(StandardErrors(weights, errors[len(pairs[0]) :], np.transpose(pairs), covariance, freedom))


def _of_likelihood(model, rows, infer, pairs, parameters):
    """Return the slope (P,) and the curvature (P, P), which for the right model is the covariance of rows' slopes."""

    def slope(changed):
        machine = machine_at(model, pairs, changed / model.temperature)
        d_weights, d_biases = gradient(
            machine, clamped_rows(machine, rows, infer), call_method("infer", infer, machine, start=None)
        )
        return np.append(values_at(d_weights, pairs), d_biases)

    step = DIFFERENCE_STEP * model.temperature
    curvature = np.empty((len(parameters), len(parameters)))
    for k in with_progress(range(len(parameters)), "parameter"):
        move = step * (np.arange(len(parameters)) == k)
        curvature[k] = (slope(parameters - move) - slope(parameters + move)) / (2 * step)
    curvature = (curvature + curvature.T) / 2
    return slope(parameters), curvature


def _whole(rows):
    """Return rows if they have no missing entries and are MIN_ROWS or more; else raise ValueError."""
    if np.isnan(rows).any():
        raise ValueError("data must be whole rows of all units for a pseudolikelihood; pass of='likelihood'")
    if len(rows) < MIN_ROWS:
        raise ValueError(
            f"data must have {MIN_ROWS} rows or more to give errors of a pseudolikelihood, found {len(rows)}; pass "
            "more rows, or of='likelihood' for a machine of maximize()"
        )
    return rows


def _designs(model, s, pairs):
    """Yield for each unit i the slopes of its field h_i/T in patterns s (K, n), and the parameters they belong to."""
    row, col = pairs
    for unit in range(model.n):
        mine = np.flatnonzero((row == unit) | (col == unit))
        design = np.column_stack([s[:, row[mine] + col[mine] - unit], np.ones(len(s))]) / model.temperature
        yield design, np.append(mine, len(row) + unit)


def _of_pseudolikelihood(model, s, share, pairs) -> tuple[Any, Any]:
    """Return the slope (P,) and the curvature (P, P) of patterns s (K, n), each with its share (K,) of the rows."""
    count = len(pairs[0]) + model.n
    tanh = np.tanh(field_of(model, s) / model.temperature)
    slope, curvature = np.zeros(count), np.zeros((count, count))
    for unit, (design, place) in enumerate(_designs(model, s, pairs)):
        slope[place] += (share * (s - tanh)[:, unit]) @ design
        curvature[np.ix_(place, place)] += (design.T * (share * (1 - tanh[:, unit] ** 2))) @ design
    return slope, curvature


def _sandwich(model, s, share, pairs, root, n_rows):
    """Return (H + D)^-1 J (H + D)^-1 / N, with root @ root.T = (H + D)^-1, J of the corrected slopes of rows; freedom.

    It needs only X root (K, n, P), for some patterns at a time.
    """
    count, mean = len(root), np.zeros(len(root))
    second, fourth = np.zeros((count, count)), np.zeros(count)
    size = max(1, SCORES_AT_ONCE // (count * model.n))
    for k in range(0, len(s), size):
        x, p = s[k : k + size], share[k : k + size]
        tanh = np.tanh(field_of(model, x) / model.temperature)
        moved = np.stack([design @ root[place] for design, place in _designs(model, x, pairs)], axis=1)
        pull = (1 - tanh**2)[:, :, None] * (moved @ moved.swapaxes(1, 2)) / n_rows
        left = np.linalg.solve(np.eye(model.n) - pull, (x - tanh)[:, :, None])
        slopes = (moved * left).sum(1)
        mean += p @ slopes
        second += (slopes.T * p) @ slopes
        fourth += p @ (slopes @ root.T) ** 4
    covariance = root @ (second - np.outer(mean, mean)) @ root.T / n_rows
    with np.errstate(all="ignore"):  # 0/0 of a parameter that no row contradicts, which is refused
        rows_that_tell = n_rows**3 * covariance.diagonal() ** 2 / fourth
    return covariance, np.maximum(rows_that_tell - 1, 1)


def _inverse_root(curvature):
    """Return R with R @ R.T the inverse of the matrix; ValueError if it is not positive definite."""
    try:
        return np.linalg.inv(np.linalg.cholesky(curvature)).T
    except np.linalg.LinAlgError:
        raise ValueError(
            "data do not determine all weights and biases of the model, so their errors are infinite; "
            f"{PENALTY_ADVICE} to learn it, and pass it here"
        ) from None


def _check_determined(model, pairs, is_zero, is_penalised):
    """Raise ValueError if a parameter is not determined by the data, but by the penalty alone."""
    for k in np.flatnonzero(is_zero)[:1]:
        by = ", the penalty alone does" if is_penalised else ""
        raise ValueError(
            f"data do not determine {_parameter_name(model, pairs, k)}{by}, so its error is "
            "unknown; pass more rows, or a model with fewer hidden units"
        )


def _check_contradicted(model, pairs, variance, without, n_rows):
    """Raise ValueError if all rows agree about a parameter, so that they show no error of it."""
    k = int(first_smallest(variance / without))
    if variance[k] < MIN_SPREAD / n_rows * without[k]:
        raise ValueError(
            f"data must have more rows to give errors, found {n_rows}, which all agree about "
            f"{_parameter_name(model, pairs, k)}; pass more rows"
        )


def _check_top(model, pairs, off, of, penalty):
    """Raise ValueError if a parameter is off the maximum by more than MAX_OFF_TOP of its errors."""
    k = int(first_largest(off))
    if not off[k] <= MAX_OFF_TOP:
        raise ValueError(
            f"model must be at the top of the {of} with penalty={penalty:g}, and {_parameter_name(model, pairs, k)} is "
            f"{off[k]:.2g} standard errors from it; pass of=, couplings= and penalty= as it was learnt, with the same "
            "data"
        )


def _parameter_name(model, pairs, k):
    """Return the name of the k-th parameter for a sentence; weights at the pairs come before biases."""
    if k < len(pairs[0]):
        return "the weight of " + " and ".join(unit_name(model.names, side[k]) for side in pairs)
    return f"the bias of {unit_name(model.names, k - len(pairs[0]))}"
