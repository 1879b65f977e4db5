"""Tree-reweighted belief propagation (TRW, TRBP): an upper bound on log Z from a distribution over spanning trees.

Draw a tree with a probability proportional to the product of its edges' weights w; r_e is the probability of edge e.
Edge (i, j) has a message u_ij, from j to i.  A tree gives unit i the field h_i, and each of its edges subtracts u_ij
and raises the coupling (biases b and couplings J in units of T):

    h_i = b_i + sum_j r_ij u_ij;        in a tree with the edge (i, j): coupling J_ij / r_ij, fields x_ij = h_i - u_ij.

The average over the trees is the machine, and log Z is convex, so log Z <= <log Z of a tree>.  Summing out a tree from
its leaves gives at most a factor max_s p_ij(s) / q_i(s) per edge more than the product of its units and pairs: q_i is
the distribution of unit i in h_i, p_ij that of the same unit in its pair.  Hence, for any weights and messages,

    log Z  <=  sum_i log z_i + sum_e r_e (log z_e - log z_i - log z_j + max log p / q).

The last term is 0 if the messages agree, u_ij = atanh(tanh(J_ij / r_ij) tanh x_ji): reweighted belief propagation.
Then dB/dr_e = -I_e, the mutual information of the pair, and log w moves along I (mirror descent).  On a forest all r
are 1 and the bound is exact.  Wainwright, Jaakkola and Willsky (2005), IEEE Trans. Inf. Theory 51, 2313.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy

from ...checking.arrays import combined_field, log_2cosh, no_such_attribute
from ...checking.calls import show_call
from ...checking.validation import check_count, check_positive, describe, summary
from ...estimate import Bounded, Estimate, as_corr, warn_unless_converged
from ...methods import method
from ...model import BoltzmannMachine, check_model, with_offset
from ...running.files import stored
from ...running.progress_bars import with_progress
from ...running.threads import one_thread
from ..variational.belief_propagation import Graph, graph_of, pair_beliefs, pair_response
from .spanning_trees import best_tree, edge_appearance_probabilities

MESSAGE_SWEEPS = 100  # of messages between two steps of the weights, at most
MESSAGE_TOLERANCE = 1e-12  # largest move of a message at a fixed point


@stored()
class TreeDistribution(NamedTuple):
    """Log w and messages u (edges,), the number of units, and the ends of the edges (2, edges)."""

    log_weights: np.ndarray
    messages: np.ndarray
    n: int
    edges: np.ndarray

    __repr__ = summary
    __getattr__ = no_such_attribute


class Bound(NamedTuple):
    """The bound B of a TreeDistribution, without offset, and its slack, which is 0 if the messages agree.

    mean (n,), p (4, edges) of the pairs, appearance r (edges,), information (edges,)
    """

    value: float
    slack: float
    mean: np.ndarray
    p: np.ndarray
    appearance: np.ndarray
    information: np.ndarray


@method(
    "trw",
    answers=("means", "pairs", "log Z", "upper bound"),
    order=2,
    line="tree-reweighted belief propagation",
    start="trees",
    colour="#E69F00",
    marker="<",
    laws={"max_steps": 3},
    shortest=({"max_steps": 0},),
    fuzz={"max_steps": 3, "tolerance": 0.01},
)
@show_call()
def trw(
    model: BoltzmannMachine, *, start: TreeDistribution | None = None, max_steps: int = 100, tolerance: float = 0.01
) -> Estimate:
    """Answer by tree-reweighted belief propagation: optimise a mixture of all spanning trees in `max_steps` steps.

    start     the `state` of a former answer for as many units; ignored unless the same units are coupled
    log_z     value and proven upper bound, the lowest of all steps, valid whether it has converged or not
    mean, corr   means of the messages, and their linear response, closer to 0 than the exact ones.  At very low T the
              response may be that of a saddle; then `converged` is False
    converged whether other trees or messages would lower the bound by no more than `tolerance` nats (info["gap"]), and
              the linear response is possible for a machine, with an inconsistency of at most 1/2
    info      "bounds": the lowest B after each step; "inconsistency" as in mean_field()
    Cost: a step is an inverse of an n x n matrix and at most 100 sweeps of all messages.

    >>> warm = bmlab.medium().at(4)
    >>> bmlab.exact(warm).log_z <= bmlab.trw(warm).log_z.upper
    True
    """
    check_model(model)
    max_steps = check_count("max_steps", max_steps, 0)
    tolerance = check_positive("tolerance", tolerance, 0.01, zero=True)
    bounds = []
    for step in with_progress(tighten(model, start), "step", max_steps + 1):
        bounds.append(with_offset(model, step[1].value))
        if step[2] <= tolerance or len(bounds) > max_steps:
            break
    mixture, best, gap = step
    _, response = pair_response(model, graph_of(model), best.mean, best.p, best.appearance)
    low = f"trw() could be up to {gap:.2g} nats lower with other weights of its trees"
    if gap > tolerance:
        low = f"{low}; the bound holds as it is. Raise max_steps"
    elif response.doubt:
        low = f"trw() {response.doubt}; the bound holds as it is"
    return warn_unless_converged(
        Estimate(
            best.mean,
            as_corr(model, response.pairs),
            Bounded(bounds[-1], upper=bounds[-1]),
            method="trw",
            converged=gap <= tolerance and not response.doubt,
            message=f"{low}.",
            state=mixture,
            info={"bounds": np.array(bounds), "gap": gap, "inconsistency": response.inconsistency},
            model=model,
        )
    )


def tighten(
    model: BoltzmannMachine, start: TreeDistribution | None = None
) -> Iterator[tuple[TreeDistribution, Bound, float]]:
    """Yield after each step the best mixture so far, its bound, and the gap, by which it could be lowered at most."""
    graph = graph_of(model)
    mixture = trial = _fitting(start, graph, model.n) or first_mixture(model, graph)
    best = last = None
    weights, step = trial.log_weights, 0.5
    lowest = -np.inf
    while True:
        with one_thread():
            appearance = edge_appearance_probabilities(model, graph, trial.log_weights)
            trial = trial._replace(messages=reweighted_messages(model, graph, appearance, trial.messages))
            bound = bound_of(model, graph, appearance, trial.messages)
            lowest = max(lowest, dual_value(model, graph, bound))
        if best is None or bound.value < best.value:
            mixture, best = trial, bound
        if last is None or bound.value - bound.slack < last.value - last.slack:  # compared without slack
            weights, last, step = trial.log_weights, bound, 2 * step
        else:
            step /= 4
        yield mixture, best, best.value - lowest
        trial = trial._replace(log_weights=weights + step * last.information)  # the messages are kept as a start


def first_mixture(model: BoltzmannMachine, graph: Graph) -> TreeDistribution:
    """Return trees that are all equally probable, without messages."""
    return TreeDistribution(np.zeros(len(graph.j)), np.zeros(len(graph.j)), model.n, np.array([graph.row, graph.col]))


def _fitting(start, graph, n):
    """Return `start` if it has the edges of this graph, else None; raise ValueError if it has other units."""
    if start is None:
        return None
    of = f"one for {start.n}" if isinstance(start, TreeDistribution) else describe(start)
    if not isinstance(start, TreeDistribution) or start.n != n:
        raise ValueError(f"start must be the `state` of a trw() answer for {n} units, found {of}; leave it out")
    return start if np.array_equal(start.edges, [graph.row, graph.col]) else None


def reweighted_messages(model: BoltzmannMachine, graph: Graph, appearance: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return messages (edges,) that agree: all are updated at once, by half of the move, on a forest by all of it."""
    raised, field = graph.j / appearance, model.biases / model.temperature
    is_forest = appearance.min(initial=1) > 1 - 1e-9
    rate, sweeps = (1.0, model.n) if is_forest else (0.5, MESSAGE_SWEEPS)
    for _ in range(sweeps):
        inside = (field + np.bincount(graph.row, appearance * u, model.n))[graph.row] - u
        move = combined_field(raised, inside[graph.back]) - u
        u = u + rate * move
        if np.abs(move).max(initial=0) < MESSAGE_TOLERANCE:
            break
    return u


def bound_of(model: BoltzmannMachine, graph: Graph, appearance: np.ndarray, u: np.ndarray) -> Bound:
    """Return the bound of trees with these edge appearance probabilities and any messages u (edges,)."""
    field = model.biases / model.temperature + np.bincount(graph.row, appearance * u, model.n)
    total_field, raised = field[graph.row], graph.j / appearance
    inside = total_field - u
    single = log_2cosh(total_field)
    log_z, p = pair_beliefs(raised, inside, inside[graph.back])
    gap = combined_field(raised, inside[graph.back]) - u  # the field of p_ij minus that of q_i
    ratio = np.abs(gap) - log_2cosh(total_field + gap) + single  # max log p / q
    slack = appearance @ np.maximum(ratio, ratio[graph.back]) / 2
    value = log_2cosh(field).sum() + appearance @ (log_z / 2 - single) + slack
    return Bound(float(value), float(slack), np.tanh(field), p, appearance, _information(p))


def dual_value(model: BoltzmannMachine, graph: Graph, bound: Bound) -> float:
    """Return a lower limit of B for all trees and messages (Wainwright, Jaakkola and Willsky 2005): for any moments

        sum_i (b_i m_i + entropy of m_i) + sum_e J_e <s_i s_j> - largest mutual information of a tree,

    here with the means of this bound, and its <s_i s_j> clipped to values that are possible with these means.
    """
    m, (one, other) = bound.mean, bound.mean[[graph.row, graph.col]]
    product = np.clip(bound.p[0] - bound.p[1] - bound.p[2] + bound.p[3], abs(one + other) - 1, 1 - abs(one - other))
    signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    p = (1 + signs @ [one, other] + np.outer(signs.prod(1), product)) / 4
    information = np.append(_information(np.maximum(p, 0)), 0.0)
    tree = best_tree(model, graph, -1 - information[:-1]).parent_edge
    entropy = scipy.special.entr([(1 + m) / 2, (1 - m) / 2]).sum()
    return float(model.biases @ m / model.temperature + entropy + graph.j @ product / 2 - information[tree].sum())


def _information(p):
    """Return the mutual information (edges,) of two units with the probabilities p (4, edges)."""
    plus, plus_other = p[0] + p[1], p[0] + p[2]
    apart = scipy.special.entr([plus, 1 - plus, plus_other, 1 - plus_other]).sum(0)
    return np.maximum(apart - scipy.special.entr(p).sum(0), 0)
