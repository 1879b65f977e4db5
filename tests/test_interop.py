"""Machines of 0/1 units and of dimod: there and back, with every energy in between."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import bmlab
from bmlab.interop import from_dimod, to_dimod

dimod = pytest.importorskip("dimod")
S = bmlab.states(8)
WEIGHTS, BIASES = bmlab.symmetric(np.random.default_rng(0).normal(size=(8, 8))), np.random.default_rng(1).normal(size=8)
PATH = sparse.diags_array([0.7, -1.3, 0.4, 0.0, 0.0, 0.0, 0.0], offsets=1, shape=(8, 8))
MACHINES = {
    "dense": bmlab.BoltzmannMachine(WEIGHTS, BIASES, 1.7, -0.3, names=tuple("hgfedcba")),
    "sparse": bmlab.BoltzmannMachine(PATH + PATH.T, BIASES, 0.6, 2.5),
    "clamped": bmlab.medium().clamp([1, 4], [1, -1]),
}
machines = pytest.mark.parametrize("model", MACHINES.values(), ids=MACHINES)


@machines
def test_dimod_lists_the_same_energies(model):
    bqm = to_dimod(model)
    assert list(bqm.variables) == list(model.names or range(8))
    assert np.allclose(bqm.energies((S, list(bqm.variables))), model.energy(S), atol=1e-12)


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_variables_of_0_and_1_with_names_keep_their_energies(share):
    rng, names = np.random.default_rng(2), ["z", 7, "a", ("x", 1), 0, "b", 3, "alone"]
    h = {name: rng.normal() for name in names}
    j = {(a, b): rng.normal() for k, a in enumerate(names[:7]) for b in names[:k] if rng.random() < share}
    bqm = dimod.BinaryQuadraticModel(h, j, 0.9, "BINARY")
    model = from_dimod(bqm, temperature=1.2)
    assert model.temperature == 1.2 and model.is_sparse == (share < 1)
    assert np.allclose(model.energy(S), bqm.energies((bmlab.bits(S), list(bqm.variables))), atol=1e-12)


@st.composite
def quadratic_models(draw):
    """Labels that are numbers from 0, or names, met in any order, with couplings in any order."""
    n = draw(st.integers(0, 6))
    labels = draw(st.sampled_from([list(range(n)), list("abcdef"[:n]), [str(k) for k in range(n)]]))
    pairs = [(a, b) for k, a in enumerate(labels) for b in labels[:k]]
    edges = [draw(st.permutations(pair)) for pair in draw(st.permutations(pairs))[: draw(st.integers(0, len(pairs)))]]
    number = st.floats(-4, 4, allow_subnormal=False)  # half of the least double is 0
    bqm = dimod.BinaryQuadraticModel("SPIN")
    for a, b in edges:
        bqm.add_quadratic(a, b, draw(number))
    for label in draw(st.permutations(labels)):
        bqm.add_linear(label, draw(number))
    bqm.offset = draw(number)
    return bqm


@given(quadratic_models())
@settings(derandomize=True, database=None, deadline=None)
def test_there_and_back_is_the_same_for_every_order_of_variables_and_edges(bqm):
    model = from_dimod(bqm)
    assert to_dimod(model) == bqm
    assert from_dimod(to_dimod(model)).names == model.names
    for label in bqm.variables:
        assert model.biases[model.indices(label)] == -bqm.linear[label]


@given(quadratic_models(), st.booleans(), st.floats(0.1, 10))
@settings(derandomize=True, database=None, deadline=None)
def test_back_and_there_is_the_same_machine(bqm, is_sparse, temperature):
    model = from_dimod(bqm, temperature=temperature)
    model = replace(model, weights=sparse.csr_array(model.weights) if is_sparse else model.dense_weights)
    back = from_dimod(to_dimod(model), temperature=temperature)
    assert (back.dense_weights == model.dense_weights).all() and (back.biases == model.biases).all()
    assert (back.offset, back.names, back.temperature) == (model.offset, model.names, temperature)


@pytest.mark.parametrize("labels", [[2, 0, 7], [("x", 1), "a", 3]])
def test_labels_that_count_no_units_become_names(labels):
    bqm = dimod.BinaryQuadraticModel({label: k for k, label in enumerate(labels)}, {}, 0.0, "SPIN")
    assert from_dimod(bqm).names == tuple(map(str, labels))
    with pytest.raises(ValueError, match=r"two variables are called '1'; bqm.relabel_variables"):
        from_dimod(dimod.BinaryQuadraticModel({1: 0, "1": 0}, {}, 0.0, "SPIN"))


@machines
def test_parameters_of_zeros_and_ones_give_the_energies_of_the_machine(model):
    """Of 0/1 units x: offset - x'Wx/2 - b'x; and from these numbers the machine is made again."""
    weights, biases, offset = bmlab.to_bits(model)
    x = bmlab.bits(S)
    scale = abs(model.weights).sum() + abs(model.biases).sum() + abs(model.offset)
    energy = offset - ((x @ weights) * x).sum(1) / 2 - x @ biases
    assert np.abs(energy - model.energy(S)).max() < 2**-50 * model.n * scale
    back = bmlab.from_bits(weights, biases, temperature=model.temperature, names=model.names)
    assert (back.temperature, back.names, back.is_sparse) == (model.temperature, model.names, model.is_sparse)
    assert abs(back.weights - model.weights).max() < 2**-50 * scale
    assert np.abs(back.biases - model.biases).max() < 2**-50 * model.n * scale
    assert abs(back.offset + offset - model.offset) < 2**-50 * model.n * scale


def test_a_missing_library_is_named_with_the_command_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "dimod", None)
    with pytest.raises(ModuleNotFoundError, match=r"to_dimod\(\) needs dimod, .*; pip install dimod"):
        to_dimod(replace(bmlab.toy(), offset=1.0))
