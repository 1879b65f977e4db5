"""Loopy belief propagation (Bethe approximation, sum-product): messages between units; exact on trees.

With J = W/T, the message from j to i is the field (in units of T) that j exerts on i, found without i's own part:

    u_ji = atanh(tanh J_ij tanh h_j\\i),      h_j\\i = b_j/T + sum_{k != i} u_kj,      m_i = tanh(b_i/T + sum_j u_ji).

On a tree two passes, leaves to root and back, are exact.  With loops, fixed points are the stationary points of the
Bethe free energy, with z the sums over the states of a unit and of a pair in their fields:

    log Z ~ sum_(ij) log z_ij + sum_i (1 - d_i) log z_i,      d_i the number of partners.

Bethe (1935), Proc. R. Soc. A 150, 552; Pearl (1988), Probabilistic Reasoning in Intelligent Systems; Yedidia, Freeman
and Weiss (2005), IEEE Trans. Inf. Theory 51, 2282.  With loops, a pair's covariance c_ij in its own beliefs differs
from that of linear response (linear_response.py).  With r_i^2 = 1 - m_i^2 and rho_ij = c_ij / (r_i r_j),

    r_i A_ij r_j = -rho_ij / (1 - rho_ij^2),      r_i A_ii r_i = 1 + sum_j rho_ij^2 / (1 - rho_ij^2)

(Ricci-Tersenghi 2012, J. Stat. Mech. P08015).
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy

from ...checking.arrays import align_pairs, check_entries, combined_field, log_2cosh
from ...checking.calls import show_call
from ...checking.validation import ArrayLike, check_count, check_positive
from ...estimate import Bounded, Estimate, as_corr, warn_unless_converged
from ...methods import method
from ...model import BoltzmannMachine, check_model, with_offset
from ...running.compiling import import_once, rented
from ...running.progress_bars import with_progress
from ...running.sparsity import values_at
from .coordinate_descent import stopping_message
from .free_bounds import within_free_bounds
from .linear_response import Response, TreeBranches, couplings, linear_response

LOOPY_ADVICE = "loops are too strong, do not use its numbers. Come from hot with temperature_path(), or use gibbs()"
RESTART_ADVICE = "come from hot with temperature_path(), give it other messages with start=, or use gibbs()"
STALLED_SWEEPS = 10  # sweeps without a new smallest move after which steps are halved
SENDER_SECONDS = 2e-5  # of NumPy for a unit that sends to all its partners


class Graph(NamedTuple):
    """The couplings, each twice: j[e] = w/T of row[e] and col[e]; message e goes from col[e] to row[e], back[e] back.

    order has each unit of a tree before its parent; rows begin at indptr.
    leaf_edges are the edges by which leaves can be removed one after the other, from the leaf to its last neighbour.
    """

    j: np.ndarray
    row: np.ndarray
    col: np.ndarray
    indptr: np.ndarray
    back: np.ndarray
    order: np.ndarray
    leaf_edges: np.ndarray


class Convergence(NamedTuple):
    """The last move of messages, the number of sweeps, and whether the move was small enough."""

    moved: float
    sweeps: int
    converged: bool


@method(
    "bethe",
    answers=("means", "pairs", "log Z"),
    order=3,
    line="Bethe approximation, loopy belief propagation",
    start="messages",
    colour="#CC79A7",
    marker="v",
    shortest=({"max_sweeps": 1},),
    fuzz={"tolerance": 1e-9, "max_sweeps": 50},
)
@show_call()
def bethe(
    model: BoltzmannMachine, *, start: ArrayLike | None = None, tolerance: float = 1e-13, max_sweeps: int = 1000
) -> Estimate:
    """Answer by loopy belief propagation: each unit in turn, from leaves to roots and back, sends to all partners.

    start     the `state` of a former answer: a sparse array (n, n) of messages; couplings that it lacks start with 0
    mean, log_z   exact without loops.  With loops log_z is no bound.
    corr      by linear response, of all pairs (of the couplings if weights are sparse)
    converged all five of these:
              1. the last of at most `max_sweeps` sweeps moved no message by more than `tolerance`, times a hundredth
                 of the largest message if that is more; moves are halved if they do not decrease
              2. the fixed point is a minimum of the Bethe free energy: info["stable"]
              3. no correlation is beyond [-1, 1]
              4. the inconsistency is at most 1/2 (linear_response.MAX_INCONSISTENCY)
              5. log_z is within its free bounds (free_bounds.py)
    info      "inconsistency": difference between linear response and the beliefs: the larger of mean_field()'s
              inconsistency and of the largest |C_ij - c_ij| of a coupling.  0 without loops, at any temperature; if
              it is not small, loops matter.
    Cost: a few sweeps, 2 us per unit; linear response as in mean_field().

    >>> chain = bmlab.ising(5, periodic=False)  # a tree: log Z = log 2 + 4 log(2 cosh 1)
    >>> bmlab.bethe(chain).log_z, bmlab.exact(chain).log_z
    (Bounded(5.2009), Bounded(5.2009 (exact)))
    """
    check_model(model)
    tolerance = check_positive("tolerance", tolerance, 1e-13, zero=True)
    max_sweeps = check_count("max_sweeps", max_sweeps)
    graph = graph_of(model)
    u = _first_messages(model, graph, start)
    end = _propagate(graph, u, model.biases / model.temperature, tolerance, max_sweeps)
    mean, log_z, p = _beliefs(model, graph, u)
    response = bethe_response(model, graph, mean, p)
    fault = response.doubt
    answer = Estimate(
        mean,
        as_corr(model, response.pairs),
        Bounded(log_z),
        method="bethe",
        converged=end.converged and not fault,
        message=stopping_message("bethe", end, fault, LOOPY_ADVICE, RESTART_ADVICE),
        state=_as_matrix(model, graph, u),
        info={"sweeps": end.sweeps, "stable": response.stable, "inconsistency": response.inconsistency},
        model=model,
    )
    return warn_unless_converged(within_free_bounds(model, answer, RESTART_ADVICE))


def graph_of(model: BoltzmannMachine) -> Graph:
    """Return the couplings of a machine that are not zero, as directed edges."""
    w = scipy.sparse.csr_array(model.weights, copy=True)
    w.eliminate_zeros()
    w.sort_indices()
    numbers = scipy.sparse.csr_array((np.arange(w.nnz), w.indices, w.indptr), shape=w.shape)
    back = numbers.T.tocsr()
    back.sort_indices()
    order = scipy.sparse.csgraph.reverse_cuthill_mckee(w, symmetric_mode=True) if model.n else np.zeros(0, int)
    return Graph(
        np.asarray(w.data, float) / model.temperature,
        np.repeat(np.arange(model.n), np.diff(w.indptr)),
        w.indices,
        w.indptr,
        back.data,
        order,
        _leaf_edges(w.indptr, w.indices, back.data),
    )


def _leaf_edges(indptr, col, back):
    """Return the edges (k,) by which leaves are removed one after the other, until none is left."""
    degree, removed, edges = np.diff(indptr), np.zeros(len(col), bool), []
    leaves = np.flatnonzero(degree == 1).tolist()
    for leaf in leaves:
        for e in range(indptr[leaf], indptr[leaf + 1]):
            if not removed[e]:
                edges.append(e)
                removed[e] = removed[back[e]] = True
                degree[col[e]] -= 1
                if degree[col[e]] == 1:
                    leaves.append(col[e])
    return np.array(edges, int)


def _as_matrix(model, graph, values):
    """Return numbers (edges,) as a sparse matrix (n, n)."""
    return scipy.sparse.csr_array((values, graph.col, graph.indptr), shape=(model.n, model.n))


def _first_messages(model, graph, start):
    """Return the first messages u (edges,): u[e] goes from col[e] to row[e]."""
    if start is None:
        return np.zeros(len(graph.j))
    start = check_entries("start", align_pairs("start", start, model.names))
    if start.shape != (model.n, model.n):
        raise ValueError(
            f"start must be the `state` of a bethe() answer for {model.n} units, found shape "
            f"{start.shape}; pass start=None"
        )
    return values_at(scipy.sparse.csr_array(start), (graph.row, graph.col))


def messages_from(model: BoltzmannMachine, m: np.ndarray) -> scipy.sparse.csr_array:
    """Return messages to start bethe() from, for units with means m (n,)."""
    graph = graph_of(model)
    return _as_matrix(model, graph, graph.j * np.asarray(m)[graph.col])


def _propagate(graph, u, local_field, tolerance, max_sweeps):
    """Send messages until none moves by more than the tolerance, in place."""
    send = _sender(graph, local_field)
    step, best, stalled, moved = 1.0, np.inf, 0, 0.0
    for sweeps in with_progress(range(1, max_sweeps + 1), "sweep"):
        moved = send(u, step)  # before the step is shortened: a short step is no sign of a fixed point
        if moved <= tolerance * max(1.0, np.abs(u).max(initial=0) / 100):
            return Convergence(moved, sweeps, True)
        stalled, best = (0, moved) if moved < best else (stalled + 1, best)
        if stalled > STALLED_SWEEPS:
            step, stalled = step / 2, 0
    return Convergence(moved, max_sweeps, False)


def _sender(graph, local_field):
    """Return send(u, step): units in order and back send to all partners, in place; it returns the largest move."""
    schedule = np.concatenate([graph.order, graph.order[::-1]])

    def in_numpy():
        edges = [slice(*ends) for ends in pairwise(graph.indptr)]
        return partial(send_messages, graph, edges, schedule, local_field)

    def in_loops():
        loops = import_once(".compiled_loops", __package__)
        places = map(loops.as_index, (graph.indptr, graph.back, schedule))
        return partial(loops.send_messages, graph.j, *places, local_field)

    return rented(in_numpy, in_loops, SENDER_SECONDS * len(schedule))


def send_messages(
    graph: Graph, edges: list[slice], schedule: np.ndarray, local_field: np.ndarray, u: np.ndarray, step: float
) -> float:
    """Let the units of the schedule send to all partners, in place; return the largest move, before its step.

    edges   for each unit, the edges of its incoming messages
    """
    moved = 0.0
    for i in schedule:
        incoming, outgoing = edges[i], graph.back[edges[i]]
        move = combined_field(graph.j[incoming], local_field[i] + u[incoming].sum() - u[incoming]) - u[outgoing]
        u[outgoing] += step * move
        moved = max(moved, float(np.abs(move).max(initial=0)))
    return moved


def _beliefs(model, graph, u):
    """Return means (n,), log Z, and p (4, edges) of each pair, see pair_beliefs()."""
    total_field = model.biases / model.temperature + np.bincount(graph.row, u, model.n)
    log_z, p = pair_beliefs(graph.j, total_field[graph.row] - u, total_field[graph.col] - u[graph.back])
    degree = np.diff(graph.indptr)
    total = with_offset(model, log_z.sum() / 2 + (1 - degree) @ log_2cosh(total_field))
    return np.tanh(total_field), float(total), p


def pair_beliefs(j: np.ndarray, field: np.ndarray, other_field: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log z and the probabilities (4, ...) of ++, +-, -+, -- of two units, coupled by j, in these fields."""
    logs = np.array(
        [j + field + other_field, field - other_field - j, other_field - field - j, j - field - other_field]
    )
    log_z = np.logaddexp.reduce(logs)
    return log_z, np.exp(logs - log_z)


def bethe_response(model: BoltzmannMachine, graph: Graph, mean: np.ndarray, p: np.ndarray) -> Response:
    """Return the Response at beliefs p (4, edges); its inconsistency includes that of the pairs' covariances."""
    covariance, response = pair_response(model, graph, mean, p)
    pairs = values_at(as_corr(model, response.pairs), (graph.row, graph.col))
    gap = np.abs(pairs - mean[graph.row] * mean[graph.col] - covariance)
    return response._replace(inconsistency=max(response.inconsistency, float(gap.max(initial=0))))


def pair_response(
    model: BoltzmannMachine, graph: Graph, mean: np.ndarray, p: np.ndarray, appearance: np.ndarray | float = 1.0
) -> tuple[np.ndarray, Response]:
    """Return the covariances (edges,) of the pairs, and the Response.

    appearance   (edges,) in the trees of trw(); 1 for bethe()
    """
    covariance, rho, unexplained = pair_covariance(graph.j / appearance, p)
    to_leaf = graph.leaf_edges
    conditional_variance = np.zeros(model.n) + 1.0
    conditional_variance[graph.row[to_leaf]] = unexplained[to_leaf]
    branches = TreeBranches(graph.row[to_leaf], graph.col[to_leaf], rho[to_leaf], conditional_variance)
    appearance = appearance * np.ones(len(rho))
    appearance[to_leaf] = appearance[graph.back[to_leaf]] = 0.0  # TreeBranches puts these units back
    diagonal = 1 + np.bincount(graph.row, appearance * rho**2 / unexplained, model.n)
    off_diagonal = _as_matrix(model, graph, appearance * rho / unexplained)
    if model.is_sparse:
        _, row, col = couplings(model)  # all stored couplings, including zeros
        return covariance, linear_response(model, mean, diagonal, values_at(off_diagonal, (row, col)), branches)
    return covariance, linear_response(model, mean, diagonal, off_diagonal.toarray(), branches)


def pair_covariance(j: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the covariance, Pearson's rho and 1 - rho^2 of two units with the probabilities p (4, ...), coupled by j.

    No nearly equal numbers are subtracted: ++ times -- is exp(4 j) times +- times -+.  A unit with a sign whose
    probability underflows is uncorrelated with all others.
    """
    a, b, c, d = p
    plus, minus, plus_other, minus_other = a + b, c + d, a + c, b + d
    deviation_product = np.sqrt(plus * minus) * np.sqrt(plus_other * minus_other)  # the product of both, over 4
    determinant = np.sign(j) * np.maximum(a * d, b * c) * -np.expm1(-4 * np.abs(j))  # a d - b c
    varies = deviation_product > 1e-150
    rho = np.divide(determinant, deviation_product, out=np.zeros_like(determinant), where=varies)
    with np.errstate(invalid="ignore", divide="ignore"):
        unexplained = np.where(varies, (a * b / plus + c * d / minus) / (plus_other * minus_other), 1.0)
    return 4 * determinant, rho, np.maximum(unexplained, 1e-290)
