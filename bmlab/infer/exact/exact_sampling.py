"""Perfect samples, probabilities and ground states of every machine that exact() can solve.

No chain, no burn-in: each state is drawn from p(s) itself, independently of the last, along the road that exact()
takes.  Matrix products: two groups of units from their joint weights, then the third given these.  Cutset
conditioning: the cutset from its probabilities, the others each alone.  Variable elimination: the last unit
first, each given its scope.  So samplers can be judged by samples, and not only by moments.
"""

from dataclasses import replace
from math import gcd, log
from typing import NamedTuple

import numpy as np
import scipy

from ...arrays import states
from ...budgets import check_memory
from ...checks import check_count, generator
from ...model import BoltzmannMachine, check_model
from ...threads import one_thread
from . import elimination
from .cutset_conditioning import cutset_of, draw_by_cutset
from .enumeration import affordable, exact, part_of
from .matrix_products import draw_by_parts
from .planning import plan, refuse_if_too_dear

COLD = 1e-9  # states whose energies differ by less, in units of the largest weight, count as equal
RARE = 40  # e^-40 is the probability that anything but a ground state is drawn, where energies are whole numbers
DOUBT = 8 * np.finfo(float).eps  # relative error of a sum of logarithms, generously


class GroundState(NamedTuple):
    """Hold the lowest energy, one state (n,) that has it, and how many states do."""

    energy: float
    state: np.ndarray
    degeneracy: float


def sample(model: BoltzmannMachine, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return `size` independent states (size, n) drawn from p(s) exactly; raises ValueError as exact() does.

    >>> pair = bmlab.BoltzmannMachine([[0, 1], [1, 0]], [0, 0])
    >>> s = bmlab.sample(pair, 10_000, np.random.default_rng(0))
    >>> s.shape, bool(abs(s.prod(1).mean() - np.tanh(1)) < 0.03)
    ((10000, 2), True)
    """
    check_model(model)
    size, rng = check_count("size", size, 0), generator(rng)
    check_memory(f"sample() would draw {size:,} states of {model.n:,} units", 50.0 * size * (model.n + 4), "draw fewer")
    way = plan(model, pairs="couplings")
    refuse_if_too_dear(way)
    s = np.empty((size, model.n))
    for part in way.parts:
        s[:, part.units] = _draw(part_of(model, part.units), part, size, rng)
    return s


def _draw(own, part, size, rng):
    if part.road == "variable elimination":
        return elimination.draw(part.guide, elimination.eliminate(own, part.guide)[1], size, rng)
    if part.road == "matrix products":
        affordable(own, part)
        return draw_by_parts(own, part.guide, size, rng)
    cutset = part.guide if part.road == "cutset conditioning" else cutset_of(own.weights)
    assert cutset is not None
    return draw_by_cutset(own, cutset, size, rng)


def probabilities(model: BoltzmannMachine) -> np.ndarray:
    """Return p(s) of all 2^n states, shape (2^n,), in the order of bmlab.states(n); ValueError beyond the memory.

    >>> unit = bmlab.BoltzmannMachine([[0]], [np.log(3) / 2])  # odds of 3 to 1
    >>> bmlab.probabilities(unit).round(9)
    array([0.25, 0.75])
    """
    check_model(model)
    size = 24 * 2.0 ** min(model.n, 1000)
    check_memory(f"probabilities() would list 2^{model.n} states", size, "use sample() or exact()")
    first, second = np.split(np.arange(model.n), [model.n // 2])  # the second half changes fastest
    w, x, y = model.dense_weights, states(len(first)), states(len(second))
    with one_thread():
        logs = (x @ w[np.ix_(first, second)] + model.biases[second]) @ y.T
    logs += ((x @ w[np.ix_(first, first)] / 2 + model.biases[first]) * x).sum(1)[:, None]
    logs += ((y @ w[np.ix_(second, second)] / 2) * y).sum(1)
    logs /= model.temperature
    logs -= logs.max()
    p = np.exp(logs, out=logs).ravel()
    p /= p.sum()
    return p


def ground_state(model: BoltzmannMachine) -> GroundState:
    """Return the lowest energy, a state and the degeneracy: the machine at T -> 0, answered by exact() and sample().

    Only the lowest states are left at a temperature that is low enough, so a perfect sample is one of them, and
    exp(log Z + E/T) is their number.  That is known where all weights and biases are whole multiples of one number, as
    their energies then differ by twice this number or more, and where rounding leaves no doubt; nan elsewhere.
    Raises ValueError as exact() does.

    >>> found = bmlab.ground_state(bmlab.ising((4, 4)))  # all up, or all down
    >>> found.energy, found.degeneracy
    (-32.0, 2.0)
    """
    check_model(model)
    unit = _common_unit(model)
    if unit:
        whole = _in_units(model, unit)
        bits = np.ceil(np.log2((model.n * log(2) + RARE) / 2))  # a power of 2, so that division is exact
        cold = replace(whole, temperature=float(2.0**-bits))
    else:
        cold = replace(_in_units(model, _numbers(model).max(initial=0) or 1.0), temperature=COLD)
    state = sample(cold, 1, np.random.default_rng(0))[0]
    count = _counted(cold, state) if unit else np.nan
    return GroundState(float(model.energy(state)), state, count)


def _numbers(model):
    """The absolute values of all weights and biases, without 0."""
    weights = model.weights.data if model.is_sparse else model.weights.ravel()
    values = np.unique(np.abs(np.concatenate([weights, model.biases])))
    return values[values > 0]


def _common_unit(model):
    """Return the largest number of which all weights and biases are whole multiples; None where these are too large."""
    values = _numbers(model)
    if not len(values):
        return 1.0
    ratios = [value.as_integer_ratio() for value in values.tolist()]
    denominator = max(below for _, below in ratios)  # all are powers of 2
    common = gcd(*(above * (denominator // below) for above, below in ratios))
    unit = common / denominator
    return unit if values[-1] / unit < 2**40 else None


def _in_units(model, unit):
    """The machine without offset, in which an offset's digits would drown, with its parameters in units of a number."""
    weights = model.weights
    if model.is_sparse:  # a quotient of sparse arrays is a product with 1 / unit, which may be infinite
        weights = scipy.sparse.csr_array((weights.data / unit, weights.indices, weights.indptr), shape=weights.shape)
    else:
        weights = weights / unit
    return BoltzmannMachine(weights, model.biases / unit)


def _counted(cold, state):
    """Return the number of states at the lowest energy; nan where rounding leaves a doubt of it."""
    log_z, at = exact(cold, pairs="couplings").log_z.value, cold.energy(state) / cold.temperature
    strongest = (abs(cold.weights).sum(axis=0) + abs(cold.biases)).max(initial=0)
    doubt = DOUBT * (abs(log_z) + cold.n * strongest / cold.temperature)
    count = np.exp(min(log_z + at, 700.0))
    return float(np.round(count)) if doubt * count < 0.25 else np.nan
