"""Maximum likelihood by L-BFGS: no rate to choose, and some hundred steps where the loop of ascend() takes thousands.

It climbs by the weights and the fields f_i = b_i + sum_j w_ij m_j of the data's mean state m, so that slopes of weights
do not mix with those of biases (centring: Melchior, Fischer and Wiskott 2016, JMLR 17, 99):

    dL/dw_ij at fixed f  =  dL/dw_ij - m_j dL/db_i - m_i dL/db_j

A hidden unit without any weight has no slope whatever the data: a saddle.  So such units begin with small weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ..budgets import time_in_words
from ..checks import check_positive
from ..couplings import entries
from ..estimate import Estimate, Method, asked, check_learning_method, check_possible, coupled_pairs, warned
from ..infer.exact.enumeration import exact
from ..infer.exact.planning import plan
from ..model import BoltzmannMachine
from ..progress_bars import ticks
from ..threads import all_threads, one_thread
from .likelihood import clamped_rows, gradient, restated
from .observations import (
    check_all_combinations,
    check_each_varies,
    checked_biases,
    checked_couplings,
    checked_moments,
    checked_rows,
    named,
)
from .record import Fit, Loop, Step

STEPS = 5000
CALLS, LONGEST = 100, 600.0  # of exact() in a climb, about; and how many seconds all of them may take
FAR = 0.5  # in the last hundredfold fall of the slope fields move less; towards infinity, ln(100)/2 = 2.3
SINCE = 100  # times the tolerance, or 1e-8 if that is more: the slope from which on it is watched how far fields move
MEMORY = 20  # moves that L-BFGS remembers
SMALL = 0.3  # weight/T that a hidden unit begins with, where it would have none


def maximize(
    model: BoltzmannMachine,
    data: ArrayLike | Estimate,
    infer: Method = exact,
    *,
    couplings: ArrayLike | None = None,
    biases: ArrayLike | None = None,
    penalty: float = 0.0,
    tolerance: float = 1e-6,
) -> Fit:
    """Find the machine at the top of L - penalty/2 * sum_{i<j} w_ij^2; the Fit keeps one Step, the last.

    model       where to begin, and at which temperature; with hidden units, which of several tops is found;
                hidden units without weights begin with small ones
    data        (N, v) as in clamped(), a DataFrame, or an Estimate of the data's moments, as in fit()
    infer       a free phase whose moments are the slopes of its log Z: exact(), or bethe() on a forest.  The
                correlations of mean field and TAP are not; fit() learns with any
    couplings   boolean (n, n): the weights that exist; None: those of a full machine (or of sparse weights)
    biases      boolean (n,): the biases that learn, the others stay as they are; None: all
    tolerance   of the Euclidean length of the slope, Step.gradient_norm; doubles end it near 1e-7
    Warns with NotConverged where it does not get there, or where fields still grow, as if the maximum is at infinity.
    Raises ValueError where it is there for certain (a unit is constant or, without penalty, a coupled pair lacks one of
    its four combinations), where the free phase has no log Z, where exact() would take too long, and as infer does.
    Cost: some 10 to 200 times exact(), with hidden units to 500; 10 units take 5 to 30 ms.

    >>> blank = bmlab.BoltzmannMachine([[0, 0], [0, 0]], [0, 0])
    >>> data = np.repeat([[1, 1], [-1, -1], [1, -1], [-1, 1]], [3, 3, 1, 1], axis=0)  # they agree 3 times in 4
    >>> bmlab.maximize(blank, data).model.weights.round(4)  # arctanh(1/2)
    array([[0.    , 0.5493],
           [0.5493, 0.    ]])
    """
    check_positive("penalty", penalty, 0.01, zero=True)
    check_positive("tolerance", tolerance, 1e-6)
    check_learning_method("infer", infer, "model", start=None)
    model = named(model, data)
    pairs = _pairs(model, checked_couplings(couplings, model.n, model.names))
    learns = checked_biases(biases, model.n, model.names)
    if getattr(infer, "func", infer) is exact:  # also with options bound by functools.partial
        _refuse_if_too_dear(model, pairs)
    learns = np.ones(model.n, bool) if learns is None else learns
    with one_thread():
        theta, mean, phase = _start(model, data, infer, pairs, penalty)
        theta[len(pairs[0]) :][~learns] = model.biases[~learns] / model.temperature
        step, top = _climbed(model, phase, infer, pairs, learns, penalty, tolerance, theta, mean)
    moved = np.abs(top.moved)
    fields = _pulls(pairs, moved, np.ones(model.n)) + moved[len(pairs[0]) :]  # whatever the others' states
    ended = outcome("maximize", step.gradient_norm, tolerance, fields.max() if penalty == 0 else 0.0, top.flat)
    return warned(Fit(step.model, *ended, (step,)))


def _refuse_if_too_dear(model, pairs):
    """Raise ValueError with the price of a whole climb over the machine with all its weights, before it starts."""
    price = plan(_machine(model, pairs, np.ones(len(pairs[0]) + model.n)))
    if CALLS * price.seconds > LONGEST:
        raise ValueError(
            f"maximize() would ask exact() some {CALLS} times at {price.time}, and stops at {time_in_words(LONGEST)} "
            "in all; use pseudolikelihood(), or pcd() where units are hidden"
        )


def _start(model, data, infer, pairs, penalty):
    """Return weights at the pairs and biases over T, where the climb begins, m, and phase(model, start) -> clamped."""
    theta = np.append(entries(model.weights, pairs), model.biases) / model.temperature
    if isinstance(data, Estimate):
        seen = check_possible(checked_moments(model, data))
    else:
        rows = checked_rows(model, data)
        if np.isnan(rows).any():
            theta = _off_the_saddle(theta, pairs, np.flatnonzero(np.isnan(rows).all(0)))
            return theta, np.nan_to_num(rows).mean(0), lambda model, start: clamped_rows(model, rows, infer, start)
        seen = clamped_rows(model, rows, infer)
    check_each_varies(seen.mean, model.names, "leave the unit out")
    if penalty == 0:
        check_all_combinations(seen.mean, seen.corr, pairs, model.names)
    if not model.has_couplings:
        theta = np.append(np.zeros(len(pairs[0])), np.arctanh(seen.mean))  # the top of its kind
    return theta, seen.mean, lambda model, _: restated(model, seen)


def _off_the_saddle(theta, pairs, hidden):
    """Return parameters in which each hidden unit has a weight: where it had none, small ones of all signs."""
    row, col = pairs
    for unit in hidden:
        own = np.flatnonzero((row == unit) | (col == unit))
        if not theta[own].any():
            theta[own] = SMALL * np.sin(1 + unit + np.arange(len(own)) * (1 + unit))
    return theta


def _pairs(model, couplings):
    """Return (row, col) of the weights that exist, each once."""
    if couplings is not None:
        return np.nonzero(np.triu(couplings))
    row, col = coupled_pairs(model) if model.is_sparse else np.triu_indices(model.n, 1)
    return row[row < col], col[row < col]


def _machine(model, pairs, theta):
    """Return the model with other weights at the pairs, none elsewhere, and other biases; theta is both over T."""
    found, biases = np.split(model.temperature * theta, [len(pairs[0])])
    if model.is_sparse:
        weights = scipy.sparse.csr_array((found, pairs), shape=(model.n, model.n))
    else:
        weights = np.zeros((model.n, model.n))
        weights[pairs] = found
    return replace(model, weights=weights + weights.T, biases=biases)


def _pulls(pairs, theta, m):
    """Return sum_j w_ij m_j (n,) for the weights at the pairs, the first numbers of theta."""
    (row, col), w = pairs, theta[: len(pairs[0])]
    return np.bincount(np.append(row, col), np.append(w * m[col], w * m[row]), len(m))


def _climbed(model, phase, infer, pairs, learns, penalty, tolerance, theta, mean):
    """Return the Step at the top, and the Top.  Each phase begins where it ended the time before."""
    t, (row, col) = model.temperature, pairs
    last: Any = None

    def with_pulls(theta, sign):  # to f from b, or back; biases that do not learn stay as they are
        return np.append(theta[: len(row)], theta[len(row) :] + sign * learns * _pulls(pairs, theta, mean))

    def rise(theta):
        nonlocal last
        here = _machine(model, pairs, with_pulls(theta, -1))
        with all_threads():
            seen = phase(here, last and last.clamped.state)
            free = asked("infer", infer, here, start=last and last.free.state)
        if np.isnan(free.log_z.value):
            raise ValueError(f"maximize() climbs by log Z, which {free.method} does not know; use fit()")
        d_weights, d_biases = gradient(here, seen, free)  # clamped minus free, over T
        d_weights, d_biases = entries(d_weights - penalty * here.weights, pairs), np.where(learns, d_biases, 0.0)
        last = Step(here, seen, free, gradient_norm=float(np.sqrt(d_weights @ d_weights + d_biases @ d_biases)))
        d_weights = d_weights - d_biases[row] * mean[col] - d_biases[col] * mean[row]
        w = theta[: len(row)] * t
        height = seen.log_z.value - free.log_z.value  # above 0 where an approximation says so
        return height - penalty / 2 * w @ w, t * np.append(d_weights, d_biases), last.gradient_norm

    top = climb(rise, with_pulls(theta, 1), tolerance)
    return replace(last, loop=Loop(top.number)), top._replace(moved=with_pulls(top.moved, -1))


# L-BFGS, for pseudolikelihood() too, and what can be said of where it ended.


class Top(NamedTuple):
    """Hold where a climb ended, the length of the slope, how far it moved while that fell by SINCE, its steps, and
    whether it ended there because no step raises the value in doubles."""

    theta: np.ndarray
    steep: float
    moved: np.ndarray
    number: int
    flat: bool


def climb(rise: Callable, start: np.ndarray, tolerance: float) -> Top:
    """Maximise by L-BFGS, until the slope is no longer than `tolerance`, STEPS are made, or no step rises in doubles.

    rise    parameters -> (value, slope, length of the slope)
    """
    far, steep, tick, near = start, np.inf, ticks("step"), SINCE * max(tolerance, 1e-8)

    def downhill(theta):
        nonlocal steep
        value, slope, steep = rise(theta)
        return -value, -slope

    def watch(intermediate_result):
        nonlocal far
        next(tick)
        far = intermediate_result.x.copy() if steep > near else far
        if steep <= tolerance:
            raise StopIteration

    options = {"gtol": 0, "ftol": 0, "maxiter": STEPS, "maxfun": 2 * STEPS, "maxcor": MEMORY}
    minimize = partial(scipy.optimize.minimize, jac=True, method="L-BFGS-B", callback=watch, options=options)
    found = minimize(downhill, start)
    downhill(found.x)
    flat = found.status in (0, 2) and steep <= near  # the last step rose by nothing, or none did
    return Top(found.x, float(steep), found.x - far, found.nit, flat)


def outcome(name: str, steep: float, tolerance: float, moved: float, flat: bool) -> tuple[bool, str]:
    """Return whether `name` has got to a maximum, and why it ended; `moved` is how far a field moved at the last."""
    if moved > FAR:
        return False, (
            f"{name}() still moved fields by {moved:.2g} while its slope fell to {steep:.2g}: some units can be told "
            "from the others without error, and the maximum is at infinity; pass penalty=0.01."
        )
    said = f"{name}() ended at a slope of {steep:.2g} where {tolerance:g} was asked for"
    if steep > tolerance and not flat:
        return False, f"{said}; pass penalty=0.01, or a larger one."
    return True, said + ("; no step raises the likelihood in doubles any more." if steep > tolerance else ".")
