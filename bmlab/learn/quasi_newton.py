"""Quasi-Newton: the maximum of a smooth function by L-BFGS, then by Newton steps, and a test of whether it is finite.

L-BFGS compares values, which have rounding errors of 1e-16, so it cannot reduce the slope much below 1e-8.  The slope
itself has rounding errors of 1e-16: Newton steps continue with the slope alone,

    H move = slope,      H v = (slope(theta) - slope(theta + h v)) / h

solved by conjugate gradients.  Towards a maximum at infinity the slope falls as exp(-2 f) while a field f grows, and
each Newton step moves f by 1/2; towards a finite maximum the steps shrink.  So a maximum counts as infinite if fields
still move while the slope falls by further factors of a hundred.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy

from ..checking.arrays import oriented
from ..running.progress_bars import counting_bar
from .observations import PENALTY_ADVICE

LBFGS_STEPS = 5000  # at most: a climb takes 10 to 200, with hidden units up to 500, at very low temperatures 2000
LBFGS_MEMORY = 20  # moves that L-BFGS remembers
NEWTON_STEPS = 30  # steps at most; towards infinity each divides the slope by e
NEWTON_PRODUCTS = 200  # of the Hessian and a vector in one Newton step
DIFFERENCE_STEP = 1e-4  # h, in fields over T: a difference has relative errors of h, and of 1e-16 / h from rounding
MAX_LATE_MOVE = 0.3  # of a field in the last hundredfold fall of the slope; towards infinity 2.3, or 1/2 by one step
LATE_FACTOR = 100  # moves of fields count as late if the slope is below this times its last length
COARSE_SLOPE, FINE_SLOPE = 1e-4, 1e-9  # times T: a maximum at infinity is undecidable above, certain below
LANCZOS_STEPS = 20  # products of the Hessian and a vector, for its largest eigenvalue
MIN_UPWARD_CURVATURE = 1e-5  # nats over the square of a field: a saddle has at least this


class NoCurvatureError(ArithmeticError):
    """The slope does not change along a direction, to the last digit: no step that way leads to its zero."""


class Optimum(NamedTuple):
    """The end of a climb, the length of the slope, the move of a field while that fell by LATE_FACTOR, the steps."""

    theta: np.ndarray
    gradient_norm: float
    moved: float
    number: int


def maximize_lbfgs(
    objective: Callable, start: np.ndarray, tolerance: float, scale: float = 1.0, fields: Callable = lambda move: 0.0
) -> Optimum:
    """Maximise until the slope is no longer than `tolerance`, LBFGS_STEPS are made, or rounding stops it.

    objective   parameters over T -> (value, slope, length of the slope); the length is in units of 1/`scale`
    fields      a move of the parameters -> largest change of a field; None if the maximum is certainly finite
    """
    early = start
    norm = np.inf
    tick = counting_bar("step")
    near = LATE_FACTOR * max(tolerance, 1e-8 / scale)

    def downhill(theta):
        nonlocal norm
        value, slope, norm = objective(theta)
        return -value, -slope

    def watch(intermediate_result):
        nonlocal early
        next(tick)
        early = intermediate_result.x.copy() if norm > near else early
        if norm <= tolerance:
            raise StopIteration

    options = {"gtol": 0, "ftol": 0, "maxiter": LBFGS_STEPS, "maxfun": 2 * LBFGS_STEPS, "maxcor": LBFGS_MEMORY}
    minimize = partial(scipy.optimize.minimize, jac=True, method="L-BFGS-B", callback=watch, options=options)
    found = minimize(downhill, start)
    downhill(found.x)
    theta, norm = found.x, float(norm)
    if norm > tolerance and found.nit < LBFGS_STEPS:
        theta, norm, _ = newton(objective, theta, tolerance)
    moved = 0.0 if norm * scale > COARSE_SLOPE else fields(theta - early)
    if moved > MAX_LATE_MOVE and norm * scale > FINE_SLOPE:
        # L-BFGS may have leapt to where nothing moves any more; Newton's steps from before do not leap
        end, length, early_end = newton(objective, early, FINE_SLOPE / scale)
        if length <= FINE_SLOPE / scale:  # one that ends short of it, for the last digits of the slope, shows nothing
            theta, norm, moved = end, length, fields(end - early_end)
    return Optimum(theta, norm, moved, found.nit)


def newton(objective: Callable, theta: np.ndarray, goal: float) -> tuple[np.ndarray, float, np.ndarray]:
    """Return the end of Newton steps that shorten the slope, at best down to `goal`, its length there, and the last
    point with a slope longer than LATE_FACTOR * goal."""
    _, slope, norm = objective(theta)
    early = theta
    for _ in range(NEWTON_STEPS):
        early = theta if norm > LATE_FACTOR * goal else early
        if norm <= goal:
            break
        move = _newton_move(_curvature(objective, theta, slope), slope)
        _, new_slope, length = objective(theta + move)
        if not length < norm:
            break
        theta, slope, norm = theta + move, new_slope, length
    return theta, float(norm), early


def _newton_move(curvature, slope):
    """Return H^-1 slope by conjugate gradients, up to the first direction v in which v H v is 0."""
    move = np.zeros_like(slope)

    def keep(found):
        nonlocal move
        move = found

    def product(v):
        image = curvature @ v
        if v @ image == 0:
            raise NoCurvatureError
        return image

    operator = scipy.sparse.linalg.LinearOperator(curvature.shape, matvec=product, dtype=float)
    with suppress(NoCurvatureError):
        scipy.sparse.linalg.cg(operator, slope, rtol=1e-3, maxiter=NEWTON_PRODUCTS, callback=keep)
    return move


def _curvature(objective, theta, slope):
    """Return minus the matrix of second derivatives at theta, as an operator."""

    def product(v):
        size = np.linalg.norm(v)
        return (
            (slope - objective(theta + v * (DIFFERENCE_STEP / size))[1]) * (size / DIFFERENCE_STEP) if size else 0 * v
        )

    return scipy.sparse.linalg.LinearOperator((len(theta),) * 2, matvec=product, dtype=float)


def largest_curvature(objective: Callable, theta: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the largest second derivative at theta over all directions, and its direction, by Lanczos' method.

    It uses differences of slopes on both sides of theta, so that third derivatives cancel, which may not be 0.
    """

    def downward(v):
        below, above = (objective(theta + sign * DIFFERENCE_STEP * v)[1] for sign in (-1, 1))
        return (below - above) / (2 * DIFFERENCE_STEP)

    v = np.random.default_rng(0).normal(size=len(theta))
    basis, images = [v / np.linalg.norm(v)], []
    while len(images) < min(LANCZOS_STEPS, len(theta)):
        images.append(downward(basis[-1]))
        residual = images[-1] - np.array(basis).T @ (np.array(basis) @ images[-1])
        residual -= np.array(basis).T @ (np.array(basis) @ residual)  # once more, against rounding
        if np.linalg.norm(residual) < DIFFERENCE_STEP * np.linalg.norm(images[-1]):
            break
        basis.append(residual / np.linalg.norm(residual))
    krylov = np.array(basis[: len(images)])
    curvatures, vectors = np.linalg.eigh(-krylov @ np.array(images).T)
    return float(curvatures[-1]), oriented((vectors[:, -1] @ krylov)[:, None])[:, 0]


def outcome(name: str, top: Optimum, tolerance: float) -> tuple[bool, str]:
    """Return whether `name` has reached a maximum, and why it ended."""
    if top.moved > MAX_LATE_MOVE:
        return False, (
            f"{name}() still moved fields by {top.moved:.2g} while its slope fell to {top.gradient_norm:.2g}: some "
            f"units are decided by the others without error, and the maximum is at infinity; {PENALTY_ADVICE}."
        )
    ended = f"{name}() ended at a slope of {top.gradient_norm:.2g} where {tolerance:g} was asked for"
    if top.gradient_norm > tolerance:
        return False, f"{ended}; {PENALTY_ADVICE} or a larger one, or a larger tolerance if rounding is the limit."
    return True, f"{ended}."
