"""Perfect samples, probabilities and ground states of every machine that exact() can solve.

No chain, no burn-in: each state is drawn from p(s) itself, independently of the last, along the road that exact()
takes.  Matrix products: two groups of units from their joint weights, then the third given these.  Cutset
conditioning: the cutset from its probabilities, the others each alone.  Variable elimination, trees: the last unit
first, each given its scope.  So samplers can be judged by samples, and not only by moments.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...arrays import states
from ...budgets import check_memory
from ...checks import check_count, generator
from ...model import BoltzmannMachine, check_model
from ...threads import one_thread
from . import elimination
from .clamped_parts import draw_by_parts
from .cutset_conditioning import cutset_of, draw_by_cutset
from .enumeration import exact, part_of
from .matrix_products import draw_by_products
from .planning import plan
from .prices import refuse_if_too_dear
from .roads import Question, affordable, cutset_instead
from .tree_contraction import Contraction, draw_by_contraction

COLD = 1e-9  # states whose energies differ by less, in units of the largest weight, count as equal


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
    if isinstance(part.guide, Contraction):
        return draw_by_contraction(own, part.guide, size, rng)
    if part.road == "variable elimination":
        return elimination.draw(part.guide, elimination.eliminate(own, part.guide)[1], size, rng)
    if part.road == "matrix products":
        part = affordable(own, part, Question(everything=False))
        s = draw_by_parts(own, part.guide, size, rng) if part.guide else draw_by_products(own, size, rng)
        if s is not None:
            return s
        part = cutset_instead(own, part.units, Question(everything=False))
    cutset: Any = part.guide if part.road == "cutset conditioning" else cutset_of(own.weights)
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

    At T = COLD times the largest parameter only the lowest states are left, so a perfect sample is one of them, and
    log Z + E/T is the log of their number (inf where that passes a double).

    >>> found = bmlab.ground_state(bmlab.ising((4, 4)))  # all up, or all down
    >>> found.energy, found.degeneracy
    (-32.0, 2.0)
    """
    check_model(model)
    weights = model.weights.data if model.is_sparse else model.weights
    largest = max(np.abs(model.biases).max(initial=0), np.abs(weights).max(initial=0)) or 1.0
    unit = {"weights": model.weights / largest, "biases": model.biases / largest}
    cold = replace(model, **unit, temperature=COLD, offset=0.0)  # an offset would cancel, with its digits
    state = sample(cold, 1, np.random.default_rng(0))[0]
    with np.errstate(over="ignore"):
        count = np.exp(exact(cold, pairs="couplings").log_z + cold.energy(state) / cold.temperature)
    return GroundState(float(model.energy(state)), state, float(np.round(count)))
