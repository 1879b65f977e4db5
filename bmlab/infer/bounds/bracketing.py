"""Between what bounds log Z is proven to lie, at any size: the best of all lower and of all upper bounds.

below   mean field      -F(m)/T of the best product found from several starts
        tree            the same with one spanning tree of couplings in q (structured_mean_field.py)
        visited         the states met by sampling, each counted once
above   trw             mixtures of spanning trees: good where units have few partners, or couplings are weak
        Gaussian        one Gaussian integral: good where couplings are many
        couplings       each coupling as if it were satisfied: sum_(ij) |w_ij|/T + sum_i log 2 cosh(b_i/T)
"""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from ...arrays import generator
from ...estimate import LogZ, quietly
from ...model import BoltzmannMachine
from ..exact.enumeration import exact
from ..exact.planning import memory_to_spend, plan
from ..sampling.visited_states import visited
from ..variational.belief_propagation import graph_of
from ..variational.coordinate_descent import descend
from ..variational.naive_mean_field import theory
from .gaussian_integral import gaussian_bound
from .structured_mean_field import tree_mean_field
from .tree_reweighting import bound_of, cover, tighten

STARTS = 9  # of mean field
ROUGH, ROUNDS = 1e-6, 100  # it stops at moves so small or after so many sweeps: any means give a bound
LARGEST = 2000  # units up to which n x n matrices are inverted
GAP = 1e-3  # nats: trees are good enough
TURN = 4e-5  # seconds a unit that one evaluation of trees takes, there and back
PRICE = 3e-7  # seconds an edge that a search for one spanning tree takes
SWEEPS = 100  # of the first round of visited states; the next ones have four times as many


class Bracket(NamedTuple):
    """Hold log Z between proven ends, and who proved them.

    log_z      lower and upper; the value is the middle, off by at most half of the width, or exact
    lower_by, upper_by   the methods that gave the ends
    bounds     name -> bound, of every method that was asked; which side it is on: see bracketing.py
    """

    log_z: LogZ
    lower_by: str
    upper_by: str
    bounds: dict

    @property
    def width(self) -> float:
        """Nats between the ends."""
        return self.log_z.upper - self.log_z.lower


def bracket(model: BoltzmannMachine, *, rng: np.random.Generator, seconds: float = 5.0) -> Bracket:
    """Return the tightest proven interval around log Z that was found within about `seconds`; exact where that fits.

    Every bound is proven for real numbers; in doubles it is right to about 1e-12 of its size.
    Raises ValueError where seconds is not positive.
    """
    rng = generator(rng)
    if not seconds > 0:
        raise ValueError(f"seconds must be positive, found {seconds}; try 5.0")
    way = plan(model)
    if way.seconds <= seconds and way.bytes <= memory_to_spend():
        log_z = exact(model).log_z
        return Bracket(log_z, "exact", "exact", {"exact": log_z.value})
    return without_exact(model, rng, seconds)


def without_exact(model: BoltzmannMachine, rng: np.random.Generator, seconds: float) -> Bracket:
    """Return the bracket of the approximate methods."""
    until = perf_counter() + seconds
    with quietly():
        below = _below(model, rng, seconds / 3)
        above = _above(model, until)
    (lower_by, lower), (upper_by, upper) = max(below.items(), key=_bound), min(above.items(), key=_bound)
    return Bracket(LogZ((lower + upper) / 2, 0.0, lower, upper), lower_by, upper_by, below | above)


def _bound(item):
    return item[1]


def _below(model, rng, seconds):
    until = perf_counter() + seconds
    product = descend(model, theory(model), None, STARTS if model.n <= LARGEST else 1, 0.0, ROUGH, ROUNDS)
    found = {"mean field": float(-product.values[0])}
    if model.n <= LARGEST and perf_counter() + 50 * TURN * model.n < until:
        found["tree"] = tree_mean_field(model, product.means[0])
    sweeps, state, took = SWEEPS, None, 0.0
    while model.n <= LARGEST and perf_counter() + 4 * took < until:
        begin = perf_counter()
        answer = visited(model, rng=rng, start=state, n_sweeps=sweeps)
        found["visited"] = max(answer.log_z.lower, found.get("visited", -np.inf))
        sweeps, state, took = 4 * sweeps, answer.state, perf_counter() - begin
        if answer.info["missed"] == 0:
            break
    return found


def _above(model, until):
    graph = graph_of(model)
    x = model.biases / model.temperature
    alone = np.logaddexp(x, -x)
    found = {"couplings": float(np.abs(graph.j).sum() / 2 + alone.sum() - model.offset / model.temperature)}
    if model.n <= LARGEST:
        found["Gaussian"] = gaussian_bound(model)
    most = np.diff(graph.indptr).max(initial=0)  # about so many trees cover the couplings
    if perf_counter() + TURN * model.n + PRICE * most * len(graph.j) < until:
        mixture = cover(model, graph)
        found["trw"] = bound_of(model, graph, mixture)[0] - model.offset / model.temperature
        if perf_counter() + 50 * TURN * model.n < until:
            for better, gap in tighten(model, mixture):
                found["trw"] = min(found["trw"], better.bound - model.offset / model.temperature)
                if gap < GAP or perf_counter() > until:
                    break
    return found
