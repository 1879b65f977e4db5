"""L-BFGS for the learners without a loop, and what can be said of where it ended."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ..progress_bars import ticks
from ..threads import whole

STEPS = 5000
RIDGE = 0.01  # added to a covariance in coordinates: it may be singular
FAR = 0.5  # in the last hundredfold fall of the slope fields move less; towards infinity, ln(100)/2 = 2.3
ROUNDING = np.finfo(float).eps  # relative to the value: a smaller gain is no gain in doubles
SINCE = 100  # times the tolerance, or 1e-8 if that is more: the slope from which on it is watched how far fields move


class Coordinates(NamedTuple):
    """Hold y -> parameters, slope by parameters -> slope by y, and the y to start from.

    Where the curvature by y is about one in all directions, L-BFGS takes few steps.
    """

    ahead: Callable
    back: Callable
    start: np.ndarray


class Top(NamedTuple):
    """Hold where a climb ended: the parameters, the length of the slope, how far it moved while that fell by SINCE,
    the number of steps, and whether it is flat: what the slope still promises is below the rounding of the value."""

    theta: np.ndarray
    steep: float
    moved: np.ndarray
    number: int
    flat: bool


def climb(rise: Callable, coordinates: Coordinates, tolerance: float, memory: int = 10) -> Top:
    """Maximise by L-BFGS, until the slope is no longer than `tolerance` or STEPS are made.

    Its line search ends where the value no longer rises in doubles, at slopes near 1e-7.  From there the rise is
    measured along the move, by the trapezoidal rule: the slope keeps its digits.

    rise    parameters -> (value, slope, length of the slope)
    memory  moves that are remembered
    """
    ahead, back, start = coordinates
    here = far = ahead(start)
    steep, tick = np.inf, ticks("step")

    def downhill(y):
        nonlocal here, steep
        here = ahead(y)
        value, slope, steep = rise(here)
        return -value, -back(slope)

    def watch(intermediate_result):
        nonlocal far
        next(tick)
        far = here if steep > SINCE * max(tolerance, 1e-8) else far
        if steep <= tolerance:
            raise StopIteration

    def along(y):
        _, slope = downhill(y)
        return (first + slope) @ (y - ended) / 2, slope

    options = {"gtol": 0, "ftol": 0, "maxiter": STEPS, "maxfun": 2 * STEPS, "maxcor": memory}
    minimize = partial(whole("scipy.optimize").minimize, jac=True, method="L-BFGS-B", callback=watch, options=options)
    found = minimize(downhill, start)
    number, ended, (value, first) = found.nit, found.x, downhill(found.x)
    if steep <= tolerance or number >= STEPS:
        return Top(here, float(steep), here - far, number, False)
    found = minimize(along, ended)
    _, slope = downhill(found.x)
    return Top(here, float(steep), here - far, number + found.nit, is_flat(slope @ (found.hess_inv @ slope), value))


def is_flat(promised: float, value: float) -> bool:
    """Return whether half of `promised`, slope times move, is no gain in doubles."""
    return bool(promised / 2 <= ROUNDING * max(1.0, abs(value)))


def outcome(name: str, steep: float, tolerance: float, moved: float, flat: bool) -> tuple[bool, str]:
    """Return whether `name` has got to a maximum, and why it ended; `moved` is how far a field moved at the last."""
    if steep > tolerance and not flat:
        said = f"{name}() ended at a slope of {steep:.2g} where {tolerance:g} was asked for"
        return False, f"{said}; pass penalty=0.01, or a larger one."
    if moved > FAR:
        return False, (
            f"{name}() still moved fields by {moved:.2g} while its slope fell to {steep:.2g}: some units can be told "
            "from the others without error, and the maximum is at infinity; pass penalty=0.01."
        )
    if steep > tolerance:
        return True, f"{name}() ended at a slope of {steep:.2g}: no move raises the likelihood in doubles any more."
    return True, f"{name}() ended at a slope of {steep:.2g}, within the {tolerance:g} that was asked for."
