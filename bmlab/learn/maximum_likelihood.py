"""Maximum likelihood by second order: no rate to choose, and a dozen steps where the loop of ascend() takes thousands.

Where nothing is hidden L is concave, and its curvature is the Fisher information, the covariance of all s_i and s_i s_j
in the free phase.  With s_A for the product of the units of A, one or two of them, Newton's move d of parameters/T is

    sum_B Cov(s_A, s_B) d_B = <s_A>_clamped - <s_A>_free.

For a dozen units all of it comes from tables of 2^n numbers and the Walsh-Hadamard transform, H[A, s] = s_A:
    log-weights of all states   = H applied to the parameters/T, each at the place of its A
    every moment <s_A>          = H applied to the probabilities
    <s_A s_B>                   = the moment of the units that are in A or in B but not in both, since s_i^2 = 1.

Other machines, hidden units and other free phases climb by L-BFGS.  In Gaussian approximation the curvature along a
change X of W is C X C, with the covariance C of the data: for W = R Y R with R = C^-1/2 it is one in all directions.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.linalg import hadamard
from scipy.sparse import csr_array

from ..estimate import Estimate, coupled_pairs, warned
from ..infer.exact.enumeration import exact
from ..model import BoltzmannMachine
from ..threads import one_thread
from .ascent import checked_couplings
from .inversion import refuse_constant
from .likelihood import checked_rows, clamped, clamped_alike, gradient, restated
from .pseudolikelihood import RIDGE, refuse_absent
from .quasi_newton import SINCE, STEPS, Coordinates, climb, outcome
from .record import Fit, Loop, Step

NEWTON_UNITS = 13  # beyond, fifty answers by three products take less time than ten tables of all states
ENOUGH = 1e-4  # share of the promised gain that a step has to bring (Armijo 1966)
ROUNDING = 1e-10  # gains below are lost among the roundings of L: there Newton's move needs no proof
SINGULAR = 1e-12  # added to the Fisher information, which nears 0 where the maximum is at infinity
MEMORY = 20  # moves that L-BFGS remembers


def maximize(
    model: BoltzmannMachine, data, infer=exact, *, couplings=None, penalty: float = 0.0, tolerance: float = 1e-6
) -> Fit:
    """Find the machine at the top of L - penalty/2 * sum_{i<j} w_ij^2, for data (N, v) as in clamped().

    model       where to begin, and at which temperature; with hidden units, which of several tops is found
    infer       a free phase whose moments are the slopes of its log Z: exact(), or bethe() on a forest.  The
                correlations of mean field and TAP are not; fit() learns with any
    couplings   boolean (n, n): the weights that exist; None: those of a full machine (or of sparse weights)
    tolerance   of the Euclidean length of the slope, Step.gradient_norm
    The Fit keeps one Step, the last.
    Warns with NotConverged where it does not get there, or where fields still grow, as if the maximum is at infinity.
    Raises ValueError where it is there for certain (a unit is constant or, without penalty, a coupled pair lacks one of
    its four combinations), where the free phase has no log Z, and as infer does.
    Cost: 10 units about a millisecond; 20 units some 50 times exact().
    """
    if not 0 <= penalty < np.inf:
        raise ValueError(f"penalty must be 0 or more, and finite, found {penalty}; try penalty=0.01")
    rows, couplings = checked_rows(model, data), checked_couplings(couplings, model.n)
    with one_thread():
        step, moved = _maximized(model, rows, infer, _pairs(model, couplings), penalty, tolerance)
    ended = outcome("maximize", step.gradient_norm, tolerance, moved if penalty == 0 else 0.0)
    return warned(Fit(step.model, *ended, (step,)))


def _maximized(model, rows, infer, pairs, penalty, tolerance):
    """Return the Step at the top, and how far a field still moved at the last."""
    theta = np.append(np.asarray(model.weights[pairs]).ravel(), model.biases) / model.temperature
    if np.isnan(rows).any():
        return _climbed(model, rows, infer, pairs, penalty, tolerance, _plain(theta))
    seen = clamped_alike(model, rows, np.arange(0), infer, None)
    refuse_constant(seen.mean, "leave the unit out")
    if penalty == 0:
        refuse_absent(seen.mean, seen.corr, len(rows), pairs)
    if not model.has_couplings:
        theta = np.append(np.zeros(len(pairs[0])), np.arctanh(seen.mean))  # the top of its kind
    if infer is exact and model.n <= NEWTON_UNITS and not model.is_sparse:
        return _newton(model, seen, pairs, theta, penalty, tolerance)
    coordinates = _plain(theta) if model.is_sparse else _whitened(theta, seen, pairs)
    return _climbed(model, seen, infer, pairs, penalty, tolerance, coordinates)


def _pairs(model, couplings):
    """Return (row, col) of the weights that exist, each once."""
    if couplings is not None:
        return np.nonzero(np.triu(couplings))
    row, col = coupled_pairs(model) if model.is_sparse else np.triu_indices(model.n, 1)
    return row[row < col], col[row < col]


def _fields(moved, pairs, n):
    """The largest change of any unit's field when the parameters have moved so far, whatever the others' states."""
    weights, biases = np.split(np.abs(moved), [len(pairs[0])])
    return (np.bincount(np.append(*pairs), np.tile(weights, 2), n) + biases).max()


def _machine(model, pairs, theta):
    """Return the model with other weights at the pairs, none elsewhere, and other biases; theta is both over T."""
    found, biases = np.split(model.temperature * theta, [len(pairs[0])])
    if model.is_sparse:
        weights = csr_array((found, pairs), shape=(model.n, model.n))
    else:
        weights = np.zeros((model.n, model.n))
        weights[pairs] = found
    return BoltzmannMachine(weights + weights.T, biases, model.temperature, model.offset)


@dataclass(frozen=True)
class _Table:
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


def _newton(model, data, pairs, theta, penalty, tolerance):
    t, units = model.temperature, 1 << np.arange(model.n)
    table = _Table(
        2**model.n,
        np.append(units[pairs[0]] | units[pairs[1]], units),
        np.append(data.corr[pairs], data.mean),
        np.append(np.full(len(pairs[0]), penalty * t**2), np.zeros(model.n)),
    )
    far, (value, p) = theta, table.likelihood(theta)
    for number in range(STEPS):
        slope, fisher = table.slope(theta, p)
        steep = np.sqrt(slope @ slope) / t
        if steep <= tolerance:
            break
        far = theta if steep > SINCE * tolerance else far
        move = np.linalg.solve(fisher, slope)
        theta, value, p = table.searched(theta, value, move, slope @ move)
    found = _machine(model, pairs, theta)
    step = Step(found, restated(found, data), exact(found), float(steep), loop=Loop(number))
    return step, _fields(theta - far, pairs, model.n)


def transformed(table):
    """Return H table, (2^n,): one half of the bits are transformed from the left, the other from the right."""
    bits = len(table).bit_length() - 1
    left, right = _signs(bits // 2), _signs(bits - bits // 2)
    return (left @ table.reshape(len(left), len(right)) @ right).ravel()


@cache
def _signs(bits):
    """H of a few bits, (2^bits, 2^bits)."""
    return hadamard(2**bits).astype(float)


def _climbed(model, data, infer, pairs, penalty, tolerance, coordinates):
    """Climb with another free phase, or with hidden units; data are rows, or the clamped phase of all machines."""
    t, last = model.temperature, None

    def rise(theta):
        nonlocal last
        last = _looked(_machine(model, pairs, theta), data, infer, last)
        slope = t * _slope(last, pairs, penalty)
        last = replace(last, gradient_norm=float(np.sqrt(slope @ slope) / t))
        w = theta[: len(pairs[0])] * t
        return last.log_likelihood.value - penalty / 2 * w @ w, slope, last.gradient_norm

    top = climb(rise, coordinates, tolerance, MEMORY)
    return replace(last, loop=Loop(top.number)), _fields(top.moved, pairs, model.n)


def _looked(model, data, infer, before):
    """Return the Step of a model, each phase begun where that of the step before ended."""
    start, free_start = (before.data.state, before.free.state) if before else (None, None)
    seen = restated(model, data) if isinstance(data, Estimate) else clamped(model, data, infer, start=start)
    free = infer(model, start=free_start)
    if np.isnan(free.log_z.value):
        raise ValueError(f"maximize() climbs by log Z, which {free.method} does not know; use fit()")
    return Step(model, seen, free)


def _slope(step, pairs, penalty):
    """The slope of L less its penalty, by the weights that exist and by the biases."""
    d_weights, d_biases = gradient(step.model, step.data, step.free)
    d_weights = d_weights - penalty * step.model.weights
    return np.append(np.asarray(d_weights[pairs]).ravel(), d_biases)


def _plain(theta):
    return Coordinates(lambda y: y, lambda slope: slope, theta)


def _whitened(theta, seen, pairs):
    """Return coordinates: W = R Y R, and fields at the means."""
    mean, n, count = seen.mean, len(seen.mean), len(pairs[0])
    scale = 1 / np.sqrt(1 - mean**2)
    l, q = np.linalg.eigh(seen.covariance + RIDGE * np.eye(n))
    root = 2**0.25 * (q / np.sqrt(l)) @ q.T

    def spread(values):
        matrix = np.zeros((n, n))
        matrix[pairs] = values
        return matrix + matrix.T

    def ahead(y):
        weights = (root @ y[: n * n].reshape(n, n) @ root)[pairs]
        return np.append(weights, scale * y[n * n :] - spread(weights) @ mean)

    def back(slope):
        moved = slope[:count] - slope[count:][pairs[0]] * mean[pairs[1]] - slope[count:][pairs[1]] * mean[pairs[0]]
        return np.append(root @ spread(moved / 2) @ root, scale * slope[count:])

    inverse = 2**-0.25 * (q * np.sqrt(l)) @ q.T
    weights = spread(theta[:count])
    start = np.append(inverse @ weights @ inverse, (theta[count:] + weights @ mean) / scale)
    return Coordinates(ahead, back, start)
