"""Pseudolikelihood: learning without log Z, from the probability of each unit given all the others.

    PL(W, b) = mean over the data of sum_i log p(s_i | the rest),      p(s_i | the rest) = 1 / (1 + exp(-2 s_i h_i))
    dPL/db_i = <s_i - tanh h_i>,      dPL/dw_ij = <s_j (s_i - tanh h_i)> + <s_i (s_j - tanh h_j)>

with h_i = sum_j w_ij s_j + b_i and T = 1 (Besag 1975, The Statistician 24, 179).  PL is concave, and in the limit of
many data its maximum is the true machine.

It is also a score for restricted machines: with the hidden units, not coupled to each other, summed out,

    log p(v_i | the others) = -log(1 + exp(A(v with v_i turned) - A(v)))
    A(v) = (v'W v/2 + b'v)/T + sum_j log 2 cosh(f_j/T),      f_j = sum_i w_ij v_i + b_j.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from ..checking.arrays import check_coupling_mask, log_2cosh, names_of, symmetric
from ..checking.calls import show_call
from ..checking.validation import ArrayLike, check_positive
from ..estimate import warn_unless_converged
from ..model import BoltzmannMachine, field_of
from ..running.progress_bars import with_progress
from ..running.sparsity import values_at
from ..running.threads import one_thread
from .misfit import PairsAndUnits, errors_of, misfit, moments_of_machine, susceptibility
from .observations import (
    BIAS_ADVICE,
    check_all_combinations,
    check_complete_rows,
    check_each_varies,
    check_visible_rows,
    independent_biases,
    unique_patterns,
)
from .quasi_newton import LBFGS_MEMORY, LBFGS_STEPS, Optimum, maximize_lbfgs, outcome
from .record import Fit

CG_STEPS = 200  # conjugate-gradient steps for the error of a misfit
COMPONENT_TOLERANCE = 1e-6  # nats per unit of a parameter: the largest component of the gradient, not its length
FIELDS_AT_ONCE = 2**18  # fields at a time: for many data all fields would fill the memory


@show_call()
def pseudolikelihood(
    data: ArrayLike,
    *,
    couplings: ArrayLike | None = None,
    penalty: float = 0.0,
    bias_penalty: float = 0.0,
    l1: float = 0.0,
) -> Fit:
    """Find the machine (T = 1) that best predicts each unit of the data (N, n), -1/+1, from the others.

    couplings  boolean (n, n): the weights to learn; default: all
    penalty, bias_penalty, l1   with the same strength as in fit() and maximize(); each weight is in PL twice, in the
               likelihood once, each bias is in both once.  The climbed function, per pattern, is
               PL - penalty * sum_{i<j} w_ij^2 - 2 l1 * sum_{i<j} |w_ij| - bias_penalty/2 * sum_i b_i^2
    bias_penalty keeps the bias of a constant unit finite; l1 sets weights to 0, and penalty_path() chooses it.
    The columns of a DataFrame name the units.
    It stops when no component of the slope is above 1e-6.  Warns with NotConverged if it does not get there, if
    fields still grow, a sign that the maximum is at infinity, and if the machine's means and pairs are more than 5
    errors off those of the data, a sign that these do not come from a machine (Fit.misfit).
    Cost: about 20 to 1000 times two products of (N, n); for rows from very low temperatures with a weak l1 2000 times.
    The comparison with the data is exact or by draws with a fixed seed, and takes up to half a second for 40 units.
    Raises ValueError if the maximum is certainly at infinity: a unit is constant or a coupled pair lacks one of its
    four combinations, without the penalty that would keep it finite.

    >>> data = np.repeat([[1, 1], [-1, -1], [1, -1], [-1, 1]], [3, 3, 1, 1], axis=0)  # they agree 3 times in 4
    >>> bmlab.pseudolikelihood(data).model.weights.round(4)  # arctanh(1/2)
    array([[0.    , 0.5493],
           [0.5493, 0.    ]])
    """
    found, s, share, n_rows, mask = climb_pseudolikelihood(data, couplings, penalty, bias_penalty, l1)
    with one_thread():
        found = found.compared(_misfit(found.model, s, share, n_rows, mask, penalty, bias_penalty, l1))
    return warn_unless_converged(found)


def climb_pseudolikelihood(
    data: ArrayLike, couplings: Any = None, penalty: float = 0.0, bias_penalty: float = 0.0, l1: float = 0.0
) -> tuple[Fit, np.ndarray, np.ndarray, int, np.ndarray]:
    """Return the fit, not compared with the data, their patterns (K, n) and shares (K,), the number of rows, the mask.

    It does not warn.
    """
    check_positive("penalty", penalty, 0.01, zero=True)
    check_positive("bias_penalty", bias_penalty, 0.001, zero=True)
    check_positive("l1", l1, 0.01, zero=True)
    names, data = names_of(data), check_complete_rows(data, allow_constant=bias_penalty > 0)
    mask = ~np.eye(data.shape[1], dtype=bool)
    if couplings is not None:
        mask &= check_coupling_mask(couplings, len(mask), names)
    with one_thread():
        s, share = unique_patterns(data)
        mean, second = share @ s, (s.T * share) @ s
        if bias_penalty == 0:
            check_each_varies(mean, names, BIAS_ADVICE)
        if penalty == l1 == 0:
            check_all_combinations(mean, second, np.nonzero(mask), names)
        found = maximise_pseudolikelihood(s, share, penalty, mask, bias_penalty, l1)
    return replace(found, model=replace(found.model, names=names)), s, share, len(data), mask


def _misfit(model, s, share, n_rows, mask, penalty, bias_penalty, l1):
    """Compare the machine with the moments of its patterns s (K, n), each with its share (K,) of the rows."""
    pairs: Any = np.nonzero(np.triu(mask))
    target = PairsAndUnits(((s.T * share) @ s)[pairs], share @ s)
    free = moments_of_machine(model, s)

    def own_error(k):
        """Return the error of a difference from the spread over rows of their influence on it."""
        assert free is not None
        chi = susceptibility(model, pairs, k, free)
        active = values_at(model.weights, pairs) != 0 if l1 else np.ones(len(pairs[0]), bool)
        pull = _pulled(model, s, share, pairs, chi, active, penalty, bias_penalty)
        row, col = pairs
        own = s[:, row[k]] * s[:, col[k]] if k < len(row) else s[:, k - len(row)]
        return np.sqrt(max(0.0, share @ (d := pull - own) ** 2 - (share @ d) ** 2) / n_rows)

    return misfit(
        model,
        target,
        errors_of(target, n_rows),
        pairs,
        free,
        penalty=penalty,
        bias_penalty=bias_penalty,
        l1=l1,
        own_error=own_error,
    )


def _pulled(model, s, share, pairs, chi, active, penalty, bias_penalty):
    """Return the influence of each pattern (K,) on a moment with slopes chi: chi (H + D)^-1 slope, H the curvature.

    By conjugate gradients; `fields` gives the change of the fields (K, n) by a move of all parameters.
    """
    tanh = np.tanh(field_of(model, s))
    count, residual = len(pairs[0]), s - tanh

    def fields(a):
        weights = np.zeros((model.n, model.n))
        weights[pairs] = a[:count] * active
        return s @ (weights + weights.T) + a[count:]

    def curvature(a):
        flow = share[:, None] * (1 - tanh**2) * fields(a)
        both = s.T @ flow
        ridge = np.append(2 * penalty * a[:count], bias_penalty * a[count:])
        return np.append((both + both.T)[pairs] * active, flow.sum(0)) + ridge

    operator = scipy.sparse.linalg.LinearOperator((count + model.n,) * 2, matvec=curvature, dtype=float)
    a, _ = scipy.sparse.linalg.cg(operator, np.append(chi.pairs * active, chi.units), rtol=1e-3, maxiter=CG_STEPS)
    return (residual * fields(a)).sum(1)


def maximise_pseudolikelihood(
    s: np.ndarray, share: np.ndarray, penalty: float, mask: np.ndarray, bias_penalty: float = 0.0, l1: float = 0.0
) -> Fit:
    """Climb from independent units; the parameters are weights and the fields of the mean state.

    s (K, n) are the patterns, each with its share (K,) of the data; mask (n, n) marks the weights to learn.
    """
    mean = share @ s
    n = len(mean)

    def parameters(y):
        weights = mask * y[: n * n].reshape(n, n)
        return np.vstack([weights, y[n * n :] - mean @ weights])

    def objective(y):
        w = parameters(y)
        value, weights, biases = _sums_of_rows(s, share, w)
        slope = mask * (weights + weights.T - 2 * penalty * w[:-1])
        value -= penalty / 2 * (w[:-1] ** 2).sum() + bias_penalty / 2 * w[-1] @ w[-1]  # each weight is there twice
        biases -= bias_penalty * w[-1]
        shift = mask * np.outer(mean, biases)
        return value, np.append((slope - shift - shift.T) / 2, biases), max(np.abs(slope).max(), np.abs(biases).max())

    def fields(move):
        return 0.0 if penalty else np.abs(parameters(move)).sum(0).max()

    start = np.append(np.zeros(n * n), independent_biases(mean))
    if l1:
        optimum = _maximise_l1(objective, start, l1, np.nonzero(np.triu(mask)), n)
    else:
        optimum = maximize_lbfgs(objective, start, COMPONENT_TOLERANCE, fields=fields)
    found = parameters(optimum.theta)
    return Fit(
        BoltzmannMachine(symmetric(found[:-1]), found[-1]), *outcome("pseudolikelihood", optimum, COMPONENT_TOLERANCE)
    )


def _maximise_l1(objective, start, l1, pairs, n):
    """Climb minus 2 l1 * sum_{i<j} |w_ij| by L-BFGS-B, with w = u - v, u, v >= 0, and u + v for |w|."""
    count, rest = len(pairs[0]), start[n * n :]

    def whole(x):
        w = np.zeros((n, n))
        w[pairs] = x[:count] - x[count : 2 * count]
        return np.append(w + w.T, x[2 * count :])

    def slopes(y):
        value, slope, _ = objective(y)
        return value, 2 * slope[: n * n].reshape(n, n)[pairs], slope[n * n :]

    def downhill(x):
        value, of_pairs, of_fields = slopes(whole(x))
        up = np.concatenate([of_pairs - 2 * l1, -of_pairs - 2 * l1, of_fields])
        return 2 * l1 * x[: 2 * count].sum() - value, -up

    found = scipy.optimize.minimize(
        downhill,
        np.append(np.zeros(2 * count), rest),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * (2 * count) + [(None, None)] * n,
        options={"gtol": COMPONENT_TOLERANCE / 4, "ftol": 0, "maxiter": LBFGS_STEPS, "maxcor": LBFGS_MEMORY},
    )
    theta = whole(found.x)
    theta[: n * n][np.abs(theta[: n * n]) < COMPONENT_TOLERANCE / 4] = 0  # as near to 0 as the slope is
    w, (_, of_pairs, of_fields) = theta[: n * n].reshape(n, n)[pairs], slopes(theta)
    left = np.where(w, np.abs(of_pairs - 2 * l1 * np.sign(w)), np.maximum(np.abs(of_pairs) - 2 * l1, 0))
    norm = max(left.max(initial=0), np.abs(of_fields).max())
    return Optimum(theta, float(norm), 0.0, found.nit)


def _sums_of_rows(s, share, w) -> Any:
    rows = max(FIELDS_AT_ONCE // s.shape[1], 256)
    blocks = [_by_units(s[k : k + rows], share[k : k + rows], w) for k in range(0, len(s), rows)]
    return tuple(sum(parts) for parts in zip(*blocks, strict=True))


def _by_units(s, share, w):
    """Return the sum of share * log p(s_i | the rest), and its slopes if w_ij were a parameter of unit j alone."""
    h = s @ w[:-1]
    h += w[-1]
    t = np.tanh(h)
    log_p = s * h - np.abs(h) + np.log1p((np.abs(t) - 1) / 2)  # |h| - log((1 + tanh |h|)/2) = log 2 cosh h
    residual = s - t
    return (share @ log_p).sum(), s.T @ (share[:, None] * residual), share @ residual


@show_call()
def pseudo_log_likelihood(model: BoltzmannMachine, data: ArrayLike) -> float:
    """Return the exact mean of sum_i log p(v_i | the other visible units) over data (N, v), -1/+1, in nats per pattern.

    It is at most 0; for independent units it is the log-likelihood.  Cost: N * v * hidden logarithms.
    Raises ValueError if data is not -1/+1 or wider than the machine, or if hidden units are coupled.

    >>> blank = bmlab.BoltzmannMachine(np.zeros((3, 3)), np.zeros(3))
    >>> round(bmlab.pseudo_log_likelihood(blank, [[1, 1, -1]]), 4)  # -3 log 2
    -2.0794
    """
    return float(log_conditionals(model, data).sum(1).mean())


def log_conditionals(model: BoltzmannMachine, data: ArrayLike) -> np.ndarray:
    """Return log p(v_i | the other visible units), shape of data (N, v); raises as pseudo_log_likelihood()."""
    data = check_visible_rows(model, data)
    visible = data.shape[1]
    if model.clamp(slice(0, visible), 1.0).has_couplings:
        raise ValueError("hidden units must not be coupled to each other; judge such a machine by bmlab.log_likelihood")
    with one_thread():
        return -np.logaddexp(0, _flip_log_odds(model, data))


def _flip_log_odds(model, data):
    """Return A(v with v_i flipped) - A(v) for each pattern and each i: (N, v)."""
    visible = data.shape[1]
    unset = np.hstack([data, np.zeros((len(data), model.n - visible))])  # a unit at 0 sends no field
    field = field_of(model, unset) / model.temperature
    across = model.weights[:visible, visible:]
    f, across = field[:, visible:], (across.toarray() if model.is_sparse else across) / model.temperature
    gain, before = -2 * data * field[:, :visible], log_2cosh(f).sum(1)
    for i in with_progress(range(visible if f.size else 0), "unit"):
        gain[:, i] += log_2cosh(f - 2 * data[:, i : i + 1] * across[i]).sum(1) - before
    return gain
