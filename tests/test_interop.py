"""Machines of dimod and networkx: there and back, with every energy in between."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import bmlab
from bmlab.interop import from_dimod, from_networkx, to_dimod, to_networkx

S = bmlab.states(8)


def sparse_with_a_stored_zero():
    """A path 0-1-2-3, a coupling of size 0 between 4 and 5, and two units that nobody is coupled to."""
    row, col, w = np.array([0, 1, 2, 4]), np.array([1, 2, 3, 5]), np.array([0.7, -1.3, 0.4, 0.0])
    return sparse.coo_array((np.tile(w, 2), (np.r_[row, col], np.r_[col, row])), shape=(8, 8))


def dense_with_an_isolated_unit():
    weights = bmlab.symmetric(np.random.default_rng(0).normal(size=(8, 8)))
    weights[[3], :] = weights[:, [3]] = weights[0, 1] = weights[1, 0] = 0
    return weights


BIASES = np.random.default_rng(1).normal(size=8)
MACHINES = {
    "dense": bmlab.BoltzmannMachine(dense_with_an_isolated_unit(), BIASES, 1.7, -0.3),
    "sparse": bmlab.BoltzmannMachine(sparse_with_a_stored_zero(), BIASES, 0.6, 2.5),
    "clamped": bmlab.medium().clamp([1, 4], [1, -1]),
    "no couplings": bmlab.BoltzmannMachine(np.zeros((8, 8)), BIASES),
}
machines = pytest.mark.parametrize("model", MACHINES.values(), ids=MACHINES)


def same(one, other):
    """Whether two machines are the same to the bit, stored zeros and all; without couplings they come back sparse."""
    assert (one.biases == other.biases).all() and (one.temperature, one.offset) == (other.temperature, other.offset)
    assert (one.weights != other.weights).sum() == 0 and one.is_sparse == (other.is_sparse or not other.has_couplings)
    return not (one.is_sparse and other.is_sparse) or one.weights.nnz == other.weights.nnz


# dimod


def law_dimod(model=MACHINES["dense"]):
    pytest.importorskip("dimod")
    bqm = to_dimod(model)
    assert list(bqm.variables) == list(range(8))
    assert np.allclose(bqm.energies((S, range(8))), model.energy(S), atol=1e-12)


@machines
def test_dimod_lists_the_same_energies(model):
    law_dimod(model)


@machines
def test_to_dimod_and_back_is_the_same_machine(model):
    pytest.importorskip("dimod")
    assert same(from_dimod(to_dimod(model), model.temperature), model)


def law_bits(share=1.0):
    """A model of 0/1 variables with names, of all pairs but a unit's or of few: the same energies, in its order."""
    dimod = pytest.importorskip("dimod")
    rng, names = np.random.default_rng(2), ["z", 7, "a", ("x", 1), 0, "b", 3, "alone"]
    h = {name: rng.normal() for name in names}
    j = {(a, b): rng.normal() for k, a in enumerate(names[:7]) for b in names[:k] if rng.random() < share}
    bqm = dimod.BinaryQuadraticModel(h, j, 0.9, "BINARY")
    model = from_dimod(bqm, 1.2)
    assert model.temperature == 1.2 and model.is_sparse == (share < 1)
    assert np.allclose(model.energy(S), bqm.energies((bmlab.bits(S), list(bqm.variables))), atol=1e-12)


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_variables_of_0_and_1_with_names_keep_their_energies(share):
    law_bits(share)


@pytest.mark.parametrize("kind", ["DictBQM", "Float32BQM"])
def test_every_kind_of_model_is_read(kind):
    bqm = getattr(pytest.importorskip("dimod"), kind)({"b": 1.5, "a": 0.5}, {("b", "a"): 0.25}, 1.0, "SPIN")
    model = from_dimod(bqm)
    assert model.biases.tolist() == [-1.5, -0.5] and model.weights[0, 1] == -0.25 and model.offset == 1


def test_an_empty_model_is_read():
    assert from_dimod(pytest.importorskip("dimod").BinaryQuadraticModel("SPIN")).n == 0


# networkx


@machines
def test_to_networkx_and_back_is_the_same_machine(model):
    pytest.importorskip("networkx")
    assert same(from_networkx(to_networkx(model)), model)


def law_graph():
    """Energies as the graph tells them: minus its weights, minus its biases, plus its offset."""
    networkx = pytest.importorskip("networkx")
    graph = to_networkx(MACHINES["sparse"])
    energy = graph.graph["offset"] - sum(w * S[:, a] * S[:, b] for a, b, w in graph.edges(data="weight"))
    energy = energy - sum(b * S[:, i] for i, b in graph.nodes(data="bias"))
    assert np.allclose(energy, MACHINES["sparse"].energy(S), atol=1e-12)
    assert list(graph) == list(range(8)) and networkx.number_of_isolates(graph) == 2


def test_a_graph_tells_the_energies():
    law_graph()


def test_names_are_numbered_in_the_order_of_the_graph_and_what_is_missing_has_its_usual_value():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph([("wolf", "goat"), ("goat", "cabbage", {"weight": -2})])
    graph.add_node("boat", bias=0.5)
    model = from_networkx(graph)
    wolf, goat, cabbage, boat = S[:, :4].T
    assert np.allclose(model.energy(S[:, :4]), -wolf * goat + 2 * goat * cabbage - boat / 2, atol=1e-12)
    assert (model.temperature, model.offset) == (1, 0)


def test_parallel_edges_add_up():
    networkx = pytest.importorskip("networkx")
    graph = networkx.MultiGraph([(0, 1, {"weight": 2}), (1, 0, {"weight": 3}), (2, 3)])
    assert from_networkx(graph).weights[[0, 1], [1, 0]].tolist() == [5, 5]


def test_a_lattice_of_networkx_is_ours():
    """grid_2d_graph names its nodes (row, column), in the order of ising()."""
    networkx = pytest.importorskip("networkx")
    lattice = from_networkx(networkx.grid_2d_graph(4, 5))
    assert lattice.is_sparse and (lattice.weights != bmlab.ising((4, 5), periodic=False).weights).sum() == 0


@pytest.mark.parametrize("library", ["dimod", "networkx"])
def test_names_travel_as_labels(library):
    pytest.importorskip(library)
    there, back = {"dimod": (to_dimod, from_dimod), "networkx": (to_networkx, from_networkx)}[library]
    for model in (MACHINES["dense"], MACHINES["sparse"]):
        named = replace(model, names=tuple("hgfedcba"))
        assert list(getattr(there(named), "variables", there(named))) == list("hgfedcba")
        assert back(there(named)).names == named.names and (back(there(named)).biases == model.biases).all()
        assert back(there(model)).names == ()


# Refusals


def test_what_is_of_another_kind_is_refused():
    with pytest.raises(ValueError, match=r"bqm must be a dimod\.BinaryQuadraticModel, found {0: 1.0}; try dimod"):
        from_dimod({0: 1.0})
    with pytest.raises(
        ValueError, match=r"graph must be an undirected networkx graph, .* found \[\(0, 1\)\]; try networkx"
    ):
        from_networkx([(0, 1)])


@pytest.mark.parametrize(
    ("kind", "edge", "sentence"),
    [
        ("DiGraph", (0, 1), "found a DiGraph; try networkx.Graph"),
        ("Graph", ("a", "a"), "an edge from 'a' to itself, .*selfloop_edges"),
    ],
)
def test_a_graph_with_directions_or_loops_is_refused(kind, edge, sentence):
    with pytest.raises(ValueError, match=sentence):
        from_networkx(getattr(pytest.importorskip("networkx"), kind)([edge]))


@pytest.mark.parametrize(("write", "library"), [(to_dimod, "dimod"), (to_networkx, "networkx")])
def test_a_missing_library_is_named_with_the_command_to_type(write, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ModuleNotFoundError, match=rf"to_{library}\(\) needs {library}, .*; pip install {library}"):
        write(bmlab.toy())
