"""Gaussian bound: an upper bound on log Z by one Gaussian integral, for couplings too dense for trees.

Take x in place of s in f(x) = x'Jx/2 + b'x - x'Dx/2 (J, b in units of T, D diagonal with D - J positive definite), and
add to s uniform noise u in [-1, 1]^n.  On average f changes by -1/2 sum_i d_i <u_i^2> = -sum_i d_i / 6, so by Jensen
exp(f(s) - sum_i d_i / 6) <= <exp f(s + u)>.  The cubes s + [-1, 1]^n fill [-2, 2]^n side by side, hence

    Z exp(-sum_i d_i (1/2 + 1/6))  <=  2^-n integral exp f(x) dx,

    log Z  <=  B(d) = n/2 log(pi/2) - 1/2 log det(D - J) + 1/2 b'(D - J)^-1 b + 2/3 sum_i d_i.

B is convex in d, and Newton's method finds the best.  This is the dual of the log-determinant relaxation of Wainwright
and Jordan (2006), IEEE Trans. Signal Process. 54, 2099.  The bound is 0.18 nats too high per uncoupled unit; for strong
couplings of units with many partners it is tighter than the bound by trees.
"""

from typing import Any

import numpy as np
import scipy

from ...model import BoltzmannMachine, with_offset
from ...running.progress_bars import with_progress
from ...running.threads import one_thread

GAUSSIAN_STEPS = 50  # of Newton's method; usually five to ten are enough
MIN_GAIN = 1e-6  # smallest gain of a step, in nats, to go on
START_MARGIN, SINGULAR_MARGIN = 1e-6, 1e-8  # least eigenvalue of D - J relative to D: at the start, and always


def gaussian_bound(model: BoltzmannMachine) -> float:
    """Return an upper bound on log Z, proven up to rounding; it costs about ten inverses of n x n."""
    j, b = model.dense_weights / model.temperature, model.biases / model.temperature
    with one_thread():
        d = _first(j, b)
        bound, gradient, hessian = _bound(j, b, d)
        for _ in with_progress(range(GAUSSIAN_STEPS), "step"):
            step, step_length = np.linalg.solve(hessian, -gradient), 1.0
            trial = _bound(j, b, d + step)
            while not trial[0] <= bound:
                step_length /= 2
                trial = _bound(j, b, d + step_length * step)
            d, gain = d + step_length * step, bound - trial[0]
            bound, gradient, hessian = trial
            if gain < MIN_GAIN:
                break
    return float(with_offset(model, bound))


def _first(j, b):
    """Return d (n,): the best without couplings, where 4 d^2 - 3 d = 3 b^2, raised by the largest eigenvalue of J."""
    top = np.linalg.eigvalsh(j)[-1] if len(b) else 0.0
    return (1 + START_MARGIN) * top + 3 / 8 * (1 + np.sqrt(1 + 16 / 3 * b**2))


def _bound(j, b, d) -> tuple[float, Any, Any]:
    """Return B(d), its gradient and its second derivatives; infinite if D - J is not clearly positive definite.

    A matrix that is singular up to rounding proves nothing.
    """
    try:
        factor = scipy.linalg.cho_factor(np.diag(d) - j)
    except np.linalg.LinAlgError:
        return np.inf, None, None
    if (np.diag(factor[0]) ** 2 < SINGULAR_MARGIN * d).any():
        return np.inf, None, None
    inverse = scipy.linalg.cho_solve(factor, np.eye(len(d)))
    x = inverse @ b
    value = len(d) / 2 * np.log(np.pi / 2) - np.log(np.diag(factor[0])).sum() + b @ x / 2 + 2 / 3 * d.sum()
    return value, 2 / 3 - np.diag(inverse) / 2 - x**2 / 2, inverse * (inverse / 2 + np.outer(x, x))
