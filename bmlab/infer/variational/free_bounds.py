"""Bounds on log Z that cost next to nothing for any machine: a log Z outside them is wrong.

    -F(m)/T  <=  log Z  <=  sum_(ij) |w_ij|/T + sum_i log 2 cosh(b_i/T) - offset/T

The lower bound is that of the product which mean field finds from its usual start (naive_mean_field.py); the upper
bound takes each coupling as satisfied, -J s_i s_j <= |J|.
"""

from dataclasses import replace

from ...checking.arrays import log_2cosh
from ...estimate import Estimate
from ...model import BoltzmannMachine, with_offset
from .coordinate_descent import descend
from .naive_mean_field import free_energy_functional

BOUND_ROUNDING = 1e-11  # rounding of log Z, relative to the terms of its sum
PRODUCT_TOLERANCE = 1e-7  # of means: F is flat at its minimum, so its error is of the order of the square


def couplings_bound(model: BoltzmannMachine) -> float:
    """Return the upper bound on log Z with each coupling taken as satisfied."""
    independent = log_2cosh(model.biases / model.temperature).sum()
    return float(with_offset(model, abs(model.weights).sum() / model.temperature / 2 + independent))


def product_bound(model: BoltzmannMachine) -> float:
    """Return the lower bound on log Z by mean field from its usual start."""
    found = descend(model, free_energy_functional(model), tolerance=PRODUCT_TOLERANCE)
    return float(with_offset(model, -found.values[0]))


def within_free_bounds(model: BoltzmannMachine, answer: Estimate, advice: str) -> Estimate:
    """Return an answer; if its log Z is outside the bounds, as not converged, with this advice."""
    if not answer.converged:
        return answer
    upper = couplings_bound(model)
    rounding = BOUND_ROUNDING * (1 + abs(upper) + 2 * abs(with_offset(model, 0.0)))
    if answer.log_z > upper + rounding:
        proof = f"sum |w|/T + sum log 2 cosh(b/T) proves that it is at most {upper:.6g}"
    elif answer.log_z < (lower := product_bound(model)) - rounding:
        proof = f"mean_field() proves that it is at least {lower:.6g}"
    else:
        return answer
    message = f"{answer.method}() gives log Z as {answer.log_z.value:.6g}, and {proof}; {advice}."
    return replace(answer, converged=False, message=message)
