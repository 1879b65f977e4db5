"""Tree-reweighted bound: split the machine into spanning trees, solve each exactly, and get log Z from above.

Trees T with weights r(T), sum r = 1, share out the biases b and couplings J (in units of T): sum_T r(T) b(T) = b and
sum_T r(T) J(T) = J.  log Z is convex in these parameters, hence, whatever trees, weights and shares,

    log Z(b, J)  <=  B = sum_T r(T) log Z(b(T), J(T)).

An edge in a share r_e of the trees has the coupling J_e / r_e in each of them.  The biases hold a field a_ij for every
edge (i, j) of the tree, taken from what all trees share:

    b_i(T) = b_i - sum_j r_ij a_ij + sum_{j: (i, j) in T} a_ij.

B is convex in a, and its minimum over all ways to share out lies here, where all trees agree on means and pairs; SciPy
goes there.  Then dB/dr_e = -I_e, the mutual information of the pair, so a step of the conditional gradient adds the
tree with the most information.  The bound holds after every step; on a tree, or a forest, it is exact.  Wainwright,
Jaakkola and Willsky (2005), IEEE Trans. Inf. Theory 51, 2313.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy

from ...checks import check_count, check_positive, in_words
from ...estimate import Estimate, LogZ, as_corr, warned
from ...model import BoltzmannMachine, check_model
from ...progress_bars import watched
from ...threads import one_thread
from ..variational.belief_propagation import Graph, curvature, graph_of, pair_table
from ..variational.linear_response import respond
from .spanning_trees import Trees, best_tree, covering_trees, solve_trees

STEPS = 30  # of SciPy's optimiser between two new trees
LARGEST_SHARE = 0.9  # of a new tree: no edge may lose all of its weight


class Mixture(NamedTuple):
    """Hold Trees, their weights (K,), the fields a (edges,) and the bound B that they give, without the offset.

    edges (2, edges) are the units that each edge goes between: the numbers in Trees mean nothing elsewhere.
    """

    trees: Trees
    weights: np.ndarray
    a: np.ndarray
    bound: float
    edges: np.ndarray


def trw(
    model: BoltzmannMachine, *, start: Mixture | None = None, n_trees: int = 30, tolerance: float = 0.01
) -> Estimate:
    """Answer by a mixture of spanning trees, up to `n_trees` beyond those that cover the couplings.

    start     the `state` of a former answer for as many units; its trees and fields are kept where the same units are
              coupled, else new trees cover the couplings
    log_z     value and proven upper bound, the lowest of all steps, valid whether it has converged or not
    mean, corr   averages over the trees, and their linear response: smoother than the truth, but never at a saddle
    converged other weights of the trees would lower the bound by no more than `tolerance` nats (info["gap"]; to the
              accuracy with which the trees agree)
    info      "bounds": B after each step; "trees": how many
    Cost: a step is some 40 solutions of all trees, each n turns of a loop over vectors of the number of trees.

    >>> bmlab.exact(bmlab.toy()).log_z <= bmlab.trw(bmlab.toy()).log_z.upper
    True
    """
    check_model(model)
    n_trees, tolerance = check_count("n_trees", n_trees, 0), check_positive("tolerance", tolerance, 0.01, zero=True)
    graph, bounds = graph_of(model), []
    for mixture, gap in watched(tighten(model, start), "tree", n_trees + 1):
        bounds.append(mixture.bound - model.offset / model.temperature)
        if gap <= tolerance or len(bounds) > n_trees:
            break
    mean, p, share = _agreed(model, graph, mixture)
    _, own, pull = curvature(model, graph, mean, p, share)
    low = f"trw() could be up to {gap:.2g} nats lower with other weights of its {len(mixture.weights)} trees"
    return warned(
        Estimate(
            mean,
            as_corr(model, respond(model, mean, own, pull).pairs),
            LogZ(min(bounds), upper=min(bounds)),
            method="trw",
            converged=gap <= tolerance,
            message=f"{low}." if gap <= tolerance else f"{low}; the bound holds as it is. Raise n_trees.",
            state=mixture,
            info={"bounds": np.array(bounds), "gap": gap, "trees": len(mixture.weights)},
        )
    )


def tighten(model: BoltzmannMachine, start: Mixture | None = None) -> Iterator[tuple[Mixture, float]]:
    """Yield ever better mixtures, each with the gap: no other weights would lower its bound by more."""
    graph = graph_of(model)
    mixture = start if _fits(start, graph, model.n) else first_mixture(model, graph)
    while True:
        with one_thread():
            mixture = _share_out(model, graph, mixture)
            mean, p, share = _agreed(model, graph, mixture)
            information = _information(p)
            best = best_tree(model, graph, -1 - information)
            gap = float(np.append(information, 0.0)[best.own].sum() - share @ information / 2)
        yield mixture, gap
        with one_thread():
            fields = mixture.a, _fields_of(graph, mean, p)
            trials = [_with_tree(model, graph, mixture._replace(a=a), best) for a in fields]
            mixture = min(trials, key=lambda trial: trial.bound)


def first_mixture(model: BoltzmannMachine, graph: Graph) -> Mixture:
    """Return trees of equal weight that have every edge, without fields of their own."""
    trees, edges = covering_trees(model, graph), len(graph.j)
    count = trees.unit.shape[1]
    return Mixture(trees, np.full(count, 1 / count), np.zeros(edges), np.inf, np.array([graph.row, graph.col]))


def _fits(start, graph, n):
    """Whether a mixture is of the trees of this graph; refuse one of other units."""
    if start is None:
        return False
    of = f"one for {len(start.trees.unit)}" if isinstance(start, Mixture) else in_words(start)
    if not isinstance(start, Mixture) or len(start.trees.unit) != n:
        raise ValueError(f"start must be the `state` of a trw() answer for {n} units, found {of}; leave it out")
    return np.array_equal(start.edges, [graph.row, graph.col])


def _share_out(model, graph, mixture):
    """Lower the bound by moving fields between the trees."""
    if not len(graph.j):
        return mixture._replace(bound=bound_of(model, graph, mixture)[0])
    options = {"maxiter": STEPS}
    found = scipy.optimize.minimize(
        lambda a: bound_of(model, graph, mixture._replace(a=a)), mixture.a, jac=True, method="L-BFGS-B", options=options
    )
    return mixture._replace(a=found.x, bound=float(found.fun))


def bound_of(model: BoltzmannMachine, graph: Graph, mixture: Mixture) -> tuple[float, np.ndarray]:
    """Return B without the offset, and dB/da (edges,)."""
    trees, weights = mixture.trees, mixture.weights
    share = shares(graph, mixture)
    fields, j = _tree_parameters(model, graph, mixture, share)
    log_z, heard, *_ = solve_trees(trees.above, fields, j)
    edges, mean = len(graph.j), np.tanh(heard)
    mean_above = np.take_along_axis(mean, trees.above, 0)
    gradient = _sums(trees.own, weights * mean, edges) + _sums(trees.back, weights * mean_above, edges)
    everywhere = _sums(trees.unit, weights * mean, model.n)
    return float(weights @ log_z), gradient - share * everywhere[graph.row]


def _sums(place, values, count):
    """Sum values (n, K) that belong to the same edge or unit, (count,); `count` itself is the place of no edge."""
    return np.bincount(place.ravel(), values.ravel(), count + 1)[:count]


def shares(graph: Graph, mixture: Mixture) -> np.ndarray:
    """Return r_e (edges,): the weight of the trees that have this edge."""
    own = mixture.trees.own
    one_way = _sums(own, np.broadcast_to(mixture.weights, own.shape), len(graph.j))
    return one_way + one_way[graph.back]


def _tree_parameters(model, graph, mixture, share):
    """Return the fields (n, K) and the couplings to the parent (n, K) of all trees."""
    trees, a = mixture.trees, np.append(mixture.a, 0.0)
    common = model.biases / model.temperature - np.bincount(graph.row, share * mixture.a, model.n)
    fields = common[trees.unit] + a[trees.own]
    np.add.at(fields, (trees.above, np.arange(fields.shape[1])), a[trees.back])
    return fields, np.append(graph.j / share, 0.0)[trees.own]


def _agreed(model, graph, mixture):
    """Return means (n,), pairs p (4, edges) and shares, averaged over the trees, which agree where B is lowest."""
    trees, share = mixture.trees, shares(graph, mixture)
    fields, j = _tree_parameters(model, graph, mixture, share)
    _, heard, one, other = solve_trees(trees.above, fields, j)
    mean = _sums(trees.unit, mixture.weights * np.tanh(heard), model.n)
    p = pair_table(j, one, other)[1]
    pairs = np.array([_sums(trees.own, mixture.weights * x, len(share)) for x in p])
    both = pairs + pairs[[0, 2, 1, 3]][:, graph.back]
    return mean.clip(-1, 1), both / share, share


def _fields_of(graph, mean, p):
    """Return the a (edges,) that pairs p (4, edges) and means have of their own; a new tree fits to these."""
    logs = np.log(np.maximum(p, 1e-300))
    return (logs[0] + logs[1] - logs[2] - logs[3]) / 4 - np.arctanh(mean.clip(-1 + 1e-15, 1 - 1e-15))[graph.row]


def _information(p):
    """Return the mutual information (edges,) of two units with the probabilities p (4, edges)."""
    plus, plus_other = p[0] + p[1], p[0] + p[2]
    alone = scipy.special.entr([plus, 1 - plus, plus_other, 1 - plus_other]).sum(0)
    return np.maximum(alone - scipy.special.entr(p).sum(0), 0)


def _with_tree(model, graph, mixture, tree):
    """Give the tree the share of the weight that lowers the bound most, the fields as they are."""
    trees = Trees(*(np.column_stack([old, new]) for old, new in zip(mixture.trees, tree, strict=True)))

    def mixed(share):
        return mixture._replace(trees=trees, weights=np.append((1 - share) * mixture.weights, share))

    def bound(share):
        return bound_of(model, graph, mixed(share))[0]

    found: Any = scipy.optimize.minimize_scalar(
        bound, bounds=(0, LARGEST_SHARE), method="bounded", options={"xatol": 1e-3}
    )
    return mixed(found.x)._replace(bound=found.fun)
