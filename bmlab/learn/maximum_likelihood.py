"""Maximum likelihood by L-BFGS: without a learning rate, about a hundred steps instead of thousands.

The parameters are the weights and the fields f_i = b_i + sum_j w_ij m_j of the data's mean state m, so that slopes of
weights do not mix with those of biases (centring: Melchior, Fischer and Wiskott 2016, JMLR 17, 99):

    dL/dw_ij at fixed f  =  dL/dw_ij - m_j dL/db_i - m_i dL/db_j

A hidden unit without any weight has no slope for any data: a saddle.  So such units start with small weights.  If a
climb with hidden units ends at another saddle, as from equal hidden units, the largest second derivative
there is above 0, and the climb continues from a point next to it.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..checking.arrays import first_largest
from ..checking.budgets import time_in_words
from ..checking.calls import show_call
from ..checking.validation import ArrayLike, check_positive
from ..estimate import (
    Estimate,
    Method,
    call_method,
    check_learning_method,
    check_possible,
    coupled_pairs,
    no_convergence_warnings,
    warn_unless_converged,
)
from ..infer.exact.dispatch import exact
from ..infer.exact.matrix_products import TABLE_UNITS
from ..infer.exact.planning import exact_plan
from ..model import BoltzmannMachine
from ..running.sparsity import values_at
from ..running.threads import all_threads, one_thread
from .likelihood import clamped_at, clamped_rows, gradient
from .misfit import misfit_of_step
from .observations import (
    BIAS_ADVICE,
    check_all_combinations,
    check_bias_mask,
    check_each_varies,
    check_moments,
    check_padded_rows,
    independent_biases,
    with_column_names,
    with_learned_couplings,
)
from .quasi_newton import (
    DIFFERENCE_STEP,
    MAX_LATE_MOVE,
    MIN_UPWARD_CURVATURE,
    largest_curvature,
    maximize_lbfgs,
    outcome,
)
from .record import GRADIENT_TOLERANCE, Fit, OptimizerState, Step

EXACT_CALLS, MAX_CLIMB_SECONDS = 100, 600.0  # calls of exact() in a climb, about; limit of their seconds together
MAX_SADDLES = 10  # saddles from which a climb continues
SADDLE_STEP = 0.1  # length of the step away from a saddle, in fields
LOG_Z_ROUNDING = 1e-12  # relative rounding of log Z: a smaller rise does not count
FIRST_HIDDEN_WEIGHT = 0.3  # first weight/T of a hidden unit that has none


@show_call()
def maximize(
    model: BoltzmannMachine,
    data: ArrayLike | Estimate,
    infer: Method = exact,
    *,
    couplings: ArrayLike | None = None,
    biases: ArrayLike | None = None,
    penalty: float = 0.0,
    bias_penalty: float = 0.0,
    tolerance: float = GRADIENT_TOLERANCE,
) -> Fit:
    """Find the machine at the optimum of the penalised likelihood; the Fit keeps one Step, the last.

    It maximises  L - penalty/2 * sum_{i<j} w_ij^2 - bias_penalty/2 * sum_i b_i^2.  L is a mean over rows: for N rows a
    penalty is a normal prior of each weight with the standard deviation 1/sqrt(N * penalty).

    model       first machine, with the temperature to use; with hidden units it decides which of several maxima is
                found; hidden units without weights start with small ones
    data        (N, v) as in clamped(), a DataFrame, or an Estimate of the data's moments, as in fit()
    infer       method of the free phase, with moments that are the slopes of its log Z: exact(), or bethe() on a
                forest.  Correlations of mean field and TAP are not; fit() learns with any method
    couplings   boolean (n, n): the weights to learn; default: those of the machine (model.couplings, or sparse weights)
    biases      boolean (n,): the biases to learn, the others stay as they are; default: all
    bias_penalty   keeps the bias of a constant unit finite, such as a rare answer in resampled rows
    tolerance   of the Euclidean length of the slope, Step.gradient_norm; rounding limits it to about 1e-14
    converged: whether the slope is within the tolerance, by phases that have converged, and no point nearby is higher
    (with hidden units, by the curvature); for another `infer` also whether the moments are those of the data
    (Fit.misfit).
    Warns with NotConverged, once, if it does not get there, or if fields still grow, a sign that the maximum is at
    infinity (a tolerance above 1e-4/T is too coarse to tell).
    Raises ValueError if the maximum is certainly at infinity (a unit is constant or a coupled pair lacks one of its 4
    combinations, without the penalty that would keep it finite), if the free phase has no log Z, if exact() would take
    too long, and as infer does.
    Cost: about 10 to 200 calls of exact(), with hidden units up to 500; 10 units take 5 to 30 ms.  For rows from very
    low temperatures and almost no penalty, 2,000 calls.

    >>> blank = bmlab.BoltzmannMachine([[0, 0], [0, 0]], [0, 0])
    >>> data = np.repeat([[1, 1], [-1, -1], [1, -1], [-1, 1]], [3, 3, 1, 1], axis=0)  # they agree 3 times in 4
    >>> bmlab.maximize(blank, data).model.weights.round(4)  # arctanh(1/2)
    array([[0.    , 0.5493],
           [0.5493, 0.    ]])
    """
    check_positive("penalty", penalty, 0.01, zero=True)
    check_positive("bias_penalty", bias_penalty, 0.001, zero=True)
    check_positive("tolerance", tolerance, GRADIENT_TOLERANCE)
    check_learning_method("infer", infer, "model", start=None)
    model, mask = with_learned_couplings(with_column_names(model, data), couplings)
    pairs, bias_mask = learned_pairs(model, mask), check_bias_mask(biases, model.n, model.names)
    if getattr(infer, "func", infer) is exact:  # also with options bound by functools.partial
        _check_cost(model, pairs)
    bias_mask = np.ones(model.n, bool) if bias_mask is None else bias_mask
    with one_thread():
        theta, mean, phase, has_hidden = _start(model, data, infer, pairs, penalty, bias_penalty)
        theta[len(pairs[0]) :][~bias_mask] = model.biases[~bias_mask] / model.temperature
        objective = PenalisedLikelihood(model, phase, infer, pairs, bias_mask, (penalty, bias_penalty), theta, mean)
        step, optimum, higher = _maximise(objective, tolerance, has_hidden)
    converged, message = outcome("maximize", optimum, tolerance)
    if converged and higher:
        converged = False
        message = (
            f"{message[:-1]}, but L is higher beside it; begin elsewhere, or use fit() if the moments of "
            f"{step.free.method} are not the slopes of its log Z."
        )
    doubtful = [phase for phase in (step.free, step.clamped) if not phase.converged]
    if converged and doubtful:
        converged, message = False, f"{message[:-1]}, but {doubtful[0].message}"
    found = Fit(step.model, converged, message, (step,))
    compared = misfit_of_step(step, data, infer, pairs, bias_mask, True, penalty=penalty, bias_penalty=bias_penalty)
    is_exact = getattr(infer, "func", infer) is exact  # then the slope is enough
    return warn_unless_converged(replace(found, misfit=compared.size) if is_exact else found.compared(compared))


def _check_cost(model, pairs):
    """Raise ValueError before the climb if it would take too long with all weights, with the predicted time."""
    price = exact_plan(machine_at(model, pairs, np.ones(len(pairs[0]) + model.n)))
    if EXACT_CALLS * price.seconds > MAX_CLIMB_SECONDS:
        raise ValueError(
            f"maximize() would call exact() some {EXACT_CALLS} times at {price.time}, and stops at "
            f"{time_in_words(MAX_CLIMB_SECONDS)} in all; use pseudolikelihood(), or pcd() if units are hidden"
        )


def _start(model, data, infer, pairs, penalty, bias_penalty):
    """Return the first weights at the pairs and biases, over T, m, phase(model, start) -> clamped, and whether units
    are hidden."""
    theta = np.append(values_at(model.weights, pairs), model.biases) / model.temperature
    if isinstance(data, Estimate):
        clamped = check_possible(check_moments(model, data))
    else:
        rows = check_padded_rows(model, data)
        if np.isnan(rows).any():
            theta = _break_hidden_symmetry(theta, pairs, np.flatnonzero(np.isnan(rows).all(0)))
            return (
                theta,
                np.nan_to_num(rows).mean(0),
                lambda model, start: clamped_rows(model, rows, infer, start),
                True,
            )
        clamped = clamped_rows(model, rows, infer)
    if bias_penalty == 0:
        check_each_varies(clamped.mean, model.names, BIAS_ADVICE)
    if penalty == 0:
        check_all_combinations(clamped.mean, clamped.corr, pairs, model.names)
    if not model.has_couplings:
        theta = np.append(np.zeros(len(pairs[0])), independent_biases(clamped.mean))  # the maximum without couplings
    return theta, clamped.mean, lambda model, _: clamped_at(model, clamped), False


def _break_hidden_symmetry(theta, pairs, hidden):
    """Return parameters in which each hidden unit has weights: small ones of both signs if it had none."""
    row, col = pairs
    for unit in hidden:
        own = np.flatnonzero((row == unit) | (col == unit))
        if not theta[own].any():
            theta[own] = FIRST_HIDDEN_WEIGHT * np.sin(1 + unit + np.arange(len(own)) * (1 + unit))
    return theta


def learned_pairs(model: BoltzmannMachine, couplings: np.ndarray | None) -> Any:
    """Return (row, col) of the weights to learn, each once."""
    if couplings is not None:
        return np.nonzero(np.triu(couplings))
    row, col = coupled_pairs(model) if model.is_sparse else np.triu_indices(model.n, 1)
    return row[row < col], col[row < col]


def machine_at(model: BoltzmannMachine, pairs: tuple, theta: np.ndarray) -> BoltzmannMachine:
    """Return the model with the weights at the pairs and the biases of theta, both over T, and no other weights."""
    scaled, count = model.temperature * theta, len(pairs[0])
    found, biases = scaled[:count], scaled[count:]
    if model.is_sparse:
        weights = scipy.sparse.csr_array((found, pairs), shape=(model.n, model.n))
    else:
        weights = np.zeros((model.n, model.n))
        weights[pairs] = found
    return model._with(weights + weights.T, biases)


def _mean_fields(pairs, theta, m):
    """Return sum_j w_ij m_j (n,) for the weights at the pairs, the first numbers of theta."""
    (row, col), w = pairs, theta[: len(pairs[0])]
    return np.bincount(row, w * m[col], len(m)) + np.bincount(col, w * m[row], len(m))


class Point(NamedTuple):
    """A machine of the climb, its two phases, and the length of the slope there: what a Step begins with."""

    model: BoltzmannMachine
    clamped: Estimate
    free: Estimate
    gradient_norm: float


class PenalisedLikelihood:
    """L minus its penalties, as a function of the parameters x to learn: weights over T, then fields over T.

    theta (pairs + n,) has all weights and biases over T, also the fixed ones; phase(model, start) -> clamped.
    last is the Point at the x of the last call: the two phases of the next call start from its states.
    """

    last: Point | None = None

    def __init__(self, model, phase, infer, pairs, bias_mask, penalties, theta, mean):
        self.model, self.phase, self.infer, self.pairs = model, phase, infer, pairs
        self.bias_mask, self.mean = bias_mask, mean
        self.penalty, self.bias_penalty = penalties
        self.moves = np.append(np.ones(len(pairs[0]), bool), bias_mask)  # fixed biases are no parameters
        self.theta = self._shifted(theta, 1)
        self.start = self.theta[self.moves]

    def __call__(self, x):
        """Return (value, slope, length of the slope of weights and biases)."""
        (row, col), mean, count = self.pairs, self.mean, len(self.pairs[0])
        trial = machine_at(self.model, self.pairs, self._parameters(x, self.theta))
        threads = all_threads() if trial.n > TABLE_UNITS else nullcontext()  # a small table is done before they begin
        with threads, no_convergence_warnings():
            clamped = self.phase(trial, self.last and self.last.clamped.state)
            free = call_method("infer", self.infer, trial, start=self.last and self.last.free.state)
        if np.isnan(free.log_z.value):
            raise ValueError(f"maximize() climbs by log Z, which {free.method} does not give; use fit()")
        d_weights, d_biases = gradient(trial, clamped, free)  # clamped minus free, over T
        d_weights = values_at(d_weights - self.penalty * trial.weights, self.pairs)
        d_biases = np.where(self.bias_mask, d_biases - self.bias_penalty * trial.biases, 0.0)
        norm = float(np.sqrt(d_weights @ d_weights + d_biases @ d_biases))
        self.last = Point(trial, clamped, free, norm)
        d_weights = d_weights - d_biases[row] * mean[col] - d_biases[col] * mean[row]
        w, slope = x[:count] * self.model.temperature, np.append(d_weights, d_biases)[self.moves]
        value = clamped.log_z.value - free.log_z.value  # an approximation may be above 0
        value -= self.penalty / 2 * w @ w + self.bias_penalty / 2 * trial.biases @ trial.biases
        return value, self.model.temperature * slope, norm

    def fields(self, move):
        """Return the largest change of a field by a move of x, over all states; a penalty keeps the maximum finite."""
        move = np.abs(self._parameters(move, np.zeros(len(self.theta))))
        ones = np.ones(self.model.n)
        return 0.0 if self.penalty else (_mean_fields(self.pairs, move, ones) + move[len(self.pairs[0]) :]).max()

    def _parameters(self, x, rest):
        """Return weights and biases over T, with the fixed ones of `rest`."""
        full = rest.copy()
        full[self.moves] = x
        return self._shifted(full, -1)

    def _shifted(self, theta, sign):
        """Convert biases into fields of the mean state (sign = 1), or back (-1)."""
        count = len(self.pairs[0])
        fields = _mean_fields(self.pairs, theta, self.mean)
        return np.append(theta[:count], theta[count:] + sign * self.bias_mask * fields)


def _maximise(objective, tolerance, has_hidden):
    """Return the Step at the maximum, its Optimum, and whether a point next to it is higher."""
    start = objective.start
    for _ in range(MAX_SADDLES):
        optimum = maximize_lbfgs(objective, start, tolerance, objective.model.temperature, objective.fields)
        curvature = 0.0
        if not has_hidden or optimum.moved > MAX_LATE_MOVE or optimum.gradient_norm > tolerance:
            break
        curvature, direction = largest_curvature(objective, optimum.theta)
        if curvature <= MIN_UPWARD_CURVATURE:
            break
        beside = [optimum.theta + sign * SADDLE_STEP * direction for sign in (1, -1)]
        start = beside[first_largest([objective(point)[0] for point in beside])]
    value, slope, _ = objective(optimum.theta)
    step = Step(*objective.last, optimizer=OptimizerState(optimum.number))
    higher = _rises_beside(objective, optimum.theta, value, slope, LOG_Z_ROUNDING * (1 + abs(step.free.log_z)))
    return step, optimum, higher or curvature > MIN_UPWARD_CURVATURE


def _rises_beside(objective, theta, value, slope, noise):
    """Whether the value rises by more than its slope allows, on either side of theta."""
    step = np.random.default_rng(0).normal(size=len(theta))
    step *= DIFFERENCE_STEP / np.linalg.norm(step)
    highest = max(objective(theta + step)[0], objective(theta - step)[0])
    return highest - value > np.linalg.norm(slope) * DIFFERENCE_STEP + noise
