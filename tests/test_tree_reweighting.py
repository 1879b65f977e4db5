"""trw: its bound holds for any trees and fields, its gradient is its own, and on a forest there is nothing to share."""

from itertools import combinations, islice

import numpy as np
import pytest
from scipy.sparse import csgraph
from test_belief_propagation import law_forests
from test_contract import machine

import bmlab
from bmlab.infer.bounds import tree_reweighting
from bmlab.infer.bounds.tree_reweighting import best_tree, bound_of, first_mixture, shares, tighten
from bmlab.infer.variational.belief_propagation import graph_of

MACHINES = {
    "dense": machine(8, 1, 1.5, 1.3, 0.4),
    "sparse": bmlab.ising((3, 4), 0.8, 0.3).at(1.7),
    "in parts": bmlab.BoltzmannMachine(np.kron(np.eye(3), 1 - np.eye(3)), np.linspace(-1, 1, 9)),
}
quietly = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
every_machine = pytest.mark.parametrize("model", MACHINES.values(), ids=MACHINES)


def law_gradient(step=1e-5):
    """dB/da by central differences, which err by step^2, and by 1e-16 B / step: 1e-10 each; a hundred are allowed."""
    for model in MACHINES.values():
        graph = graph_of(model)
        mixture = first_mixture(model, graph)._replace(a=np.random.default_rng(0).normal(size=len(graph.j)))
        _, gradient = bound_of(model, graph, mixture)
        for edge, known in enumerate(gradient):
            shift = step * (np.arange(len(graph.j)) == edge)
            up, down = (bound_of(model, graph, mixture._replace(a=mixture.a + x))[0] for x in (shift, -shift))
            assert abs((up - down) / (2 * step) - known) < 1e-8


def wild(model, rng):
    """Return trees with weights and fields that nobody has chosen well."""
    graph = graph_of(model)
    mixture = first_mixture(model, graph)
    return graph, mixture._replace(
        weights=rng.dirichlet(np.ones(len(mixture.weights))), a=rng.normal(scale=rng.exponential(), size=len(graph.j))
    )


def law_shares():
    """On average over the trees, every unit has its own field and every pair its own coupling."""
    for model in MACHINES.values():
        graph, mixture = wild(model, np.random.default_rng(0))
        trees, end = mixture.trees, len(graph.j)
        fields, j = tree_reweighting._tree_parameters(model, graph, mixture, shares(graph, mixture))
        field = np.bincount(trees.unit.ravel(), (mixture.weights * fields).ravel())
        one_way = np.bincount(trees.own.ravel(), (mixture.weights * j).ravel(), end + 1)[:end]
        assert np.abs(field - model.biases / model.temperature).max() < 1e-13
        assert np.abs(one_way + one_way[graph.back] - graph.j).max() < 1e-13


def law_wild():
    """Whatever fields are moved between the trees, and whatever the trees weigh, B is above log Z."""
    for seed in range(30):
        model = machine(8, seed, 2.0, 0.5 + seed / 10, seed - 10)
        graph, mixture = wild(model, np.random.default_rng(seed))
        true = bmlab.exact(model).log_z.value
        assert bound_of(model, graph, mixture)[0] - model.offset / model.temperature > true - 1e-13 * abs(true)


def test_the_gradient_is_that_of_the_bound():
    law_gradient()


def test_the_trees_share_out_the_machine():
    law_shares()


def test_the_bound_holds_whatever_the_trees_and_fields():
    law_wild()


def test_it_is_exact_on_forests():
    law_forests(bmlab.trw)


@quietly
@every_machine
def test_trees_are_trees_and_have_all_couplings(model):
    """Each place hangs below an earlier one by an edge of the machine; the shares of a tree sum to its edges."""
    graph = graph_of(model)
    for mixture, _ in islice(tighten(model), 3):
        trees, share = mixture.trees, shares(graph, mixture)
        assert (np.sort(trees.unit, axis=0) == np.arange(model.n)[:, None]).all()
        assert (trees.above[1:] < np.arange(1, model.n)[:, None]).all()
        parent, there = np.take_along_axis(trees.unit, trees.above, 0), trees.own < len(graph.j)
        assert (graph.row[trees.own[there]] == trees.unit[there]).all()
        assert (graph.col[trees.own[there]] == parent[there]).all()
        parts = csgraph.connected_components(abs(model.weights) > 0)[0]
        assert abs(share.sum() / 2 - (model.n - parts)) < 1e-13 * model.n and share.min() > 0
        assert (share == share[graph.back]).all() and abs(mixture.weights.sum() - 1) < 1e-14 * 10


def test_the_best_tree_has_the_least_price():
    """Five units have 125 spanning trees: of the choices of 4 among 10 edges, those whose Laplacian has rank 4."""
    graph, price = graph_of(machine(5, 2)), -np.random.default_rng(0).uniform(1, 2, (5, 5))
    price = (price + price.T)[graph.row, graph.col]
    costs = []
    for chosen in map(list, combinations(np.flatnonzero(graph.row < graph.col), 4)):
        side = np.eye(5)[graph.row[chosen]] - np.eye(5)[graph.col[chosen]]
        if np.linalg.matrix_rank(side.T @ side) == 4:
            costs.append(price[chosen].sum())
    found = price[best_tree(machine(5, 2), graph, price).own[1:]].sum()
    assert len(costs) == 125 and abs(found - min(costs)) < 1e-14 * 10


def law_gap(share=1e-5):
    """dB/dr_e is minus the information of the pair: a small share of the new tree lowers B by its part of the gap.

    For this every tree, the new one as well, must have the fields that belong to the pairs that all others agree on.
    They agree to SciPy's tolerance, 1e-5; the second derivative adds as much.
    """
    model = machine(6, 1, temperature=1.3)
    graph, (mixture, gap) = graph_of(model), next(tighten(model))
    mean, p, _ = tree_reweighting._agreed(model, graph, mixture)
    mixture = mixture._replace(a=np.log(p[0] * p[1] / (p[2] * p[3])) / 4 - np.arctanh(mean)[graph.row])
    tree = best_tree(model, graph, -1 - tree_reweighting._information(p))
    more = mixture._replace(
        trees=tree_reweighting.Trees(*map(np.column_stack, zip(mixture.trees, tree, strict=True))),
        weights=np.append((1 - share) * mixture.weights, share),
    )
    gained = bound_of(model, graph, mixture)[0] - bound_of(model, graph, more)[0]
    assert abs(gained / share / gap - 1) < 1e-3


def test_the_gap_is_the_slope_of_the_bound():
    law_gap()


@quietly
@every_machine
def test_it_goes_on_from_its_state(model):
    first = bmlab.trw(model, n_trees=3, tolerance=0)
    again = bmlab.trw(model, start=first.state, n_trees=0)
    assert again.log_z.value <= first.log_z.value + 1e-14 * 100 and again.info["trees"] == first.info["trees"]
    with pytest.raises(ValueError, match=r"the `state` of a trw\(\) answer for 8 units, found one for 5"):
        bmlab.trw(machine(8), start=bmlab.trw(machine(5)).state)


def test_what_could_still_fall_says_so():
    with pytest.warns(bmlab.NotConverged, match=r"trw\(\) could be up to .* nats lower.*Raise n_trees"):
        answer = bmlab.trw(bmlab.medium(), n_trees=1)
    assert not answer.converged and answer.info["gap"] > 0.01 and answer.log_z.value == answer.log_z.upper


def law_other_couplings():
    """A state of other couplings, though as many, is no help, but no harm either: trees are told by their units."""
    chain, star = np.eye(6, k=1), np.zeros((6, 6))
    star[0, 1:] = np.linspace(-2, 2, 5) + 0.3
    one, other = (bmlab.BoltzmannMachine(w + w.T, np.linspace(-1, 1, 6), 1.3, 0.5) for w in (chain, star))
    answer = bmlab.trw(other, start=bmlab.trw(one).state)
    assert abs(answer.log_z.upper - bmlab.exact(other).log_z.value) < 1e-11


def test_a_state_of_other_couplings_does_no_harm():
    law_other_couplings()
