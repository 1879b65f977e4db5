"""trw: its bound holds for any weights and messages, averages over trees, and is exact on a forest."""

from dataclasses import replace
from itertools import combinations, islice
from unittest.mock import patch

import numpy as np
import pytest
from scipy import sparse
from test_contract import machine

import bmlab
from bmlab.infer.bounds.spanning_trees import edge_appearance_probabilities
from bmlab.infer.bounds.tree_reweighting import bound_of, dual_value, tighten
from bmlab.infer.variational.belief_propagation import graph_of

MACHINES = {
    "dense": machine(8, 1, 1.5, 1.3, 0.4),
    "sparse": bmlab.ising((3, 4), coupling=0.8, field=0.3).at(1.7),
    "in parts": bmlab.BoltzmannMachine(np.kron(np.eye(3), 1 - np.eye(3)), np.linspace(-1, 1, 9)),
}
quietly = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
every_machine = pytest.mark.parametrize("model", MACHINES.values(), ids=MACHINES)


def spanning_trees(graph, n):
    """All of them, as lists of edges from the smaller unit: choices of n - 1 whose Laplacian has rank n - 1."""
    for chosen in map(list, combinations(np.flatnonzero(graph.row < graph.col), n - 1)):
        side = np.eye(n)[graph.row[chosen]] - np.eye(n)[graph.col[chosen]]
        if np.linalg.matrix_rank(side.T @ side) == n - 1:
            yield chosen


def wild(model, graph, rng):
    """Return shares and messages that nobody has chosen well."""
    log_weights = rng.normal(scale=2, size=len(graph.j))
    share = edge_appearance_probabilities(model, graph, log_weights + log_weights[graph.back])
    return share, rng.normal(scale=rng.exponential(), size=len(graph.j))


def test_edges_are_shared_out_as_random_trees_have_them():
    """Five units have 125 spanning trees: how often each edge is in one, weighted, dense and sparse."""
    model, rng = machine(5, 2), np.random.default_rng(0)
    graph, thin = graph_of(model), replace(model, weights=sparse.csr_array(model.weights))
    log_weights = rng.normal(size=len(graph.j))
    log_weights += log_weights[graph.back]
    trees = list(spanning_trees(graph, 5))
    chance = np.exp([log_weights[tree].sum() for tree in trees])
    count = np.zeros(len(graph.j))
    for tree, part in zip(trees, chance / chance.sum(), strict=True):
        count[tree] += part
    for one, largest in ((model, 300), (thin, 300), (thin, 4)):
        with patch("bmlab.infer.bounds.spanning_trees.DENSE_INVERSE_UNITS", largest):
            found = edge_appearance_probabilities(one, graph, log_weights)
        assert len(trees) == 125 and np.abs(found - count - count[graph.back]).max() < 1e-11


@quietly
def test_rounding_does_not_decide():
    """Sparse or dense, its units in any order, a machine on which it stalls has the same bound."""
    rng = np.random.default_rng(13)
    w = bmlab.sherrington_kirkpatrick(16, rng=rng, scale=2.0).weights * (bmlab.symmetric(rng.random((16, 16))) < 0.3)
    model = bmlab.BoltzmannMachine(w, 3 * rng.normal(size=16), 0.5)
    order = rng.permutation(16)
    first = bmlab.trw(model)
    for other in (
        replace(model, weights=sparse.csr_array(w)),
        replace(model, weights=w[np.ix_(order, order)], biases=model.biases[order]),
    ):
        assert not first.converged and abs(bmlab.trw(other).log_z.upper - first.log_z.upper) < 1e-5


@every_machine
def test_any_trees_with_any_messages_bound_log_z(model):
    """However badly both are chosen, and whether messages agree or not."""
    graph, above = graph_of(model), []
    log_z = bmlab.exact(model).log_z + model.offset / model.temperature
    for seed in range(100):
        bound = bound_of(model, graph, *wild(model, graph, np.random.default_rng(seed)))
        above.append(bound.value - log_z)
        assert bound.slack >= -1e-12
    assert min(above) >= -1e-11


def test_the_slack_of_wrong_messages_is_needed():
    """A frozen star whose leaves all pull its centre up, and messages that tell it nothing: all but log 2 is needed.

    Each edge has log p / q = log 2, and the centre alone had log 2 too much.
    """
    weights = np.zeros((13, 13))
    weights[0, 1:] = weights[1:, 0] = np.linspace(0.5, 2, 12)
    model = bmlab.BoltzmannMachine(weights, np.append(0, np.linspace(1, 0.3, 12)), 0.01)
    bound = bound_of(model, graph_of(model), np.ones(24), np.zeros(24))
    assert bound.slack == pytest.approx(12 * np.log(2))
    assert bound.value - bmlab.exact(model).log_z == pytest.approx(np.log(2), rel=1e-9)


@pytest.mark.slow
def test_the_gap_is_proven_where_messages_hardly_agree():
    """In the cold messages hardly agree: no bound is below what means and pairs prove, whatever the messages were."""
    for seed in range(15, 35):
        rng = np.random.default_rng(seed)
        w = bmlab.sherrington_kirkpatrick(10, rng=rng).weights * (bmlab.symmetric(rng.random((10, 10))) < 0.5)
        model = bmlab.BoltzmannMachine(w, rng.normal(size=10), 0.1)
        graph, steps = graph_of(model), list(islice(tighten(model), 40))
        least = steps[-1][1].value + 1e-13 * 1000
        assert dual_value(model, graph, bound_of(model, graph, *wild(model, graph, rng))) < least
        assert all(bound.value - gap < least for _, bound, gap in steps)


@every_machine
def test_the_gap_is_proven(model):
    """No other trees or messages that were found are lower than the bound minus the gap, at any step."""
    steps = [(bound.value, gap) for _, (_, bound, gap) in zip(range(25), tighten(model), strict=False)]
    lowest = min(bound for bound, _ in steps)
    assert all(bound - gap < lowest + 1e-9 for bound, gap in steps) and steps[-1][1] < 0.01
    assert (np.diff(np.array(steps), axis=0) <= 0).all()


@quietly
@every_machine
def test_it_goes_on_from_its_state(model):
    first = bmlab.trw(model, max_steps=3, tolerance=0)
    again = bmlab.trw(model, start=first.state, max_steps=0)
    assert again.log_z.value <= first.log_z.value + 0.1 * first.info["gap"]


def test_what_could_still_fall_says_so():
    with pytest.warns(bmlab.NotConverged, match=r"trw\(\) could be up to .* nats lower.*Raise max_steps"):
        answer = bmlab.trw(bmlab.medium(), max_steps=1)
    assert not answer.converged and answer.info["gap"] > 0.01 and answer.log_z.value == answer.log_z.upper


def test_a_state_of_other_couplings_does_no_harm():
    """A state of other couplings, though as many, is no help, but no harm either: edges are compared by their units."""
    chain, star = np.eye(6, k=1), np.zeros((6, 6))
    star[0, 1:] = np.linspace(-2, 2, 5) + 0.3
    one, other = (bmlab.BoltzmannMachine(w + w.T, np.linspace(-1, 1, 6), 1.3, 0.5) for w in (chain, star))
    answer = bmlab.trw(other, start=bmlab.trw(one).state)
    assert abs(answer.log_z.upper - bmlab.exact(other).log_z.value) < 1e-11
