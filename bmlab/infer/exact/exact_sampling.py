"""Perfect samples, probabilities and ground states of every machine that exact() can solve.

No chain, no burn-in: each state is drawn from p(s) itself, independently of the last, along the road that exact()
takes.  Three products: two groups of units from their joint weights, then the third given these.  Listed side: the
listed units from their probabilities, the others each alone.  Elimination: the last unit first, each given its scope.
So samplers can be judged by samples, and not only by moments.
"""

from typing import NamedTuple

import numpy as np

from ...arrays import generator, states
from ...model import BoltzmannMachine
from . import variable_elimination
from .cutset_conditioning import cover, draw_listed
from .enumeration import exact, listed_instead, part_of, refuse_if_too_dear
from .matrix_products import draw_by_products
from .planning import plan

COLD = 1e-9  # states whose energies differ by less, in units of the largest weight, count as equal


class GroundState(NamedTuple):
    """Hold the lowest energy, one state (n,) that has it, and how many states do."""

    energy: float
    state: np.ndarray
    degeneracy: float


def sample(model: BoltzmannMachine, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return `size` independent states (size, n) drawn from p(s) exactly; raises ValueError as exact() does."""
    rng = generator(rng)
    way = plan(model)
    refuse_if_too_dear(way)
    s = np.empty((size, model.n))
    for part in way.parts:
        s[:, part.units] = _draw(part_of(model, part.units), part, size, rng)
    return s


def _draw(model, part, size, rng):
    if part.road == "elimination":
        return variable_elimination.draw(part.guide, variable_elimination.eliminate(model, part.guide)[1], size, rng)
    if part.road == "three products":
        s = draw_by_products(model, size, rng)
        if s is not None:
            return s
        part = listed_instead(model, part.units)
    return draw_listed(model, part.guide if part.road == "listed side" else cover(model.weights), size, rng)


def probabilities(model: BoltzmannMachine) -> np.ndarray:
    """Return p(s) of all 2^n states, shape (2^n,), in the order of bmlab.states(n); ValueError for n > 24."""
    if model.n > 24:
        raise ValueError(f"probabilities() would list 2^{model.n} states and stops at 2^24; use sample() or exact()")
    logs = -model.energy(states(model.n)) / model.temperature
    weight = np.exp(logs - logs.max())
    return weight / weight.sum()


def ground_state(model: BoltzmannMachine) -> GroundState:
    """Return the lowest energy, a state and the degeneracy: the machine at T -> 0, answered by exact() and sample().

    At T = COLD times the largest parameter only the lowest states are left, so a perfect sample is one of them, and
    log Z + E/T is the log of their number (inf where that passes a double).
    """
    largest = max(np.abs(model.biases).max(initial=0), np.abs(_values(model)).max(initial=0)) or 1.0
    cold = model.at(COLD * largest)
    state = sample(cold, 1, np.random.default_rng(0))[0]
    energy = float(model.energy(state))
    with np.errstate(over="ignore"):
        count = np.exp(exact(cold).log_z.value + energy / cold.temperature)
    return GroundState(energy, state, float(np.round(count)))


def _values(model):
    return model.weights.data if model.is_sparse else model.weights
