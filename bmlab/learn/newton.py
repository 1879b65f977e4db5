"""Newton's method for the likelihood of a dozen units: all of it from tables of 2^n numbers.

With s_A for the product of the units of A, one or two of them, Newton's move d of parameters/T solves

    sum_B Cov(s_A, s_B) d_B = <s_A>_clamped - <s_A>_free,

and the Walsh-Hadamard transform, H[A, s] = s_A, gives both sides:
    log-weights of all states   = H applied to the parameters/T, each at the place of its A
    every moment <s_A>          = H applied to the probabilities
    <s_A s_B>                   = the moment of the units that are in A or in B but not in both, since s_i^2 = 1.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy

from ..estimate import Estimate
from ..model import BoltzmannMachine
from .quasi_newton import SINCE, STEPS, Top, is_flat

ENOUGH = 1e-4  # share of the promised gain that a step has to bring (Armijo 1966)
ROUNDING = 1e-10  # gains below are lost among the roundings of L: there Newton's move needs no proof
SINGULAR = 1e-12  # added to the Fisher information, which nears 0 where the maximum is at infinity


@dataclass(frozen=True)
class Table:
    """Hold where the products are, (k,), their means in the data, and T^2 penalty where they are of two units.

    The bits of a place in a table say which units are -1, or which units a product has.
    """

    size: int
    places: np.ndarray
    target: np.ndarray
    pull: np.ndarray

    def likelihood(self, theta):
        """Return L less its penalty, and the probabilities (2^n,) of all states."""
        table = np.zeros(self.size)
        table[self.places] = theta
        log_p = transformed(table)
        top = log_p.max()
        p = np.exp(log_p - top)
        z = p.sum()
        return self.target @ theta - self.pull @ theta**2 / 2 - top - np.log(z), p / z

    def slope(self, theta, p):
        """Return the slope (k,), and the Fisher information with the penalty's curvature (k, k)."""
        moments = transformed(p)
        mean = moments[self.places]
        fisher = moments[self.places[:, None] ^ self.places] - np.outer(mean, mean) + np.diag(self.pull + SINGULAR)
        return self.target - mean - self.pull * theta, fisher

    def searched(self, theta, value, move, promised):
        """Go along the move, half as far until it pays; Newton's whole move nearly always does."""
        size = 1.0
        while True:
            ahead, p = self.likelihood(theta + size * move)
            if ahead >= value + ENOUGH * size * promised or size * promised < ROUNDING:
                return theta + size * move, ahead, p
            size /= 2


def newton(
    model: BoltzmannMachine, data: Estimate, pairs: tuple, theta: np.ndarray, penalty: float, tolerance: float
) -> Top:
    """Climb from theta, parameters/T of the pairs (row, col) and of the units, to the data's moments."""
    t, units = model.temperature, 1 << np.arange(model.n)
    table = Table(
        2**model.n,
        np.append(units[pairs[0]] | units[pairs[1]], units),
        np.append(data.corr[pairs], data.mean),
        np.append(np.full(len(pairs[0]), penalty * t**2), np.zeros(model.n)),
    )
    far, number, steep, flat, (value, p) = theta, 0, np.inf, False, table.likelihood(theta)
    while steep > tolerance and number < STEPS:
        (slope, fisher), before = table.slope(theta, p), steep
        steep = float(np.sqrt(slope @ slope) / t)
        far = theta if steep > SINCE * max(tolerance, 1e-8) else far
        if steep > tolerance:
            move = np.linalg.solve(fisher, slope)
            flat = is_flat(float(slope @ move), value)
            if flat and steep >= before:
                break
            theta, value, p = table.searched(theta, value, move, slope @ move)
            number += 1
    return Top(theta, steep, theta - far, number, flat)


def transformed(table: np.ndarray) -> np.ndarray:
    """Return H table, (2^n,): one half of the bits are transformed from the left, the other from the right."""
    bits = len(table).bit_length() - 1
    left, right = _signs(bits // 2), _signs(bits - bits // 2)
    return (left @ table.reshape(len(left), len(right)) @ right).ravel()


@cache
def _signs(bits):
    """H of a few bits, (2^bits, 2^bits)."""
    return scipy.linalg.hadamard(2**bits).astype(float)
