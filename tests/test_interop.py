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


@st.composite
def factor_graphs(draw):
    """Tables of units and of pairs in any order, some pairs in both directions, by numbers or by names."""
    n = draw(st.integers(1, 6))
    labels = draw(st.sampled_from([list(range(n)), list("abcdef"[:n])]))
    scopes = [*labels, *((a, b) for a in labels for b in labels if a != b)]
    taken = draw(st.permutations(scopes))[: draw(st.integers(1, len(scopes)))]
    number = st.floats(1e-9, 1e9)
    rows = st.lists(number, min_size=2, max_size=2)
    return {key: draw(st.lists(rows, min_size=2, max_size=2) if isinstance(key, tuple) else rows) for key in taken}


@given(factor_graphs())
@settings(derandomize=True, database=None, deadline=None)
def test_the_energy_is_minus_the_log_of_the_product_of_the_tables(tables):
    model = bmlab.from_tables(tables)
    index = {name: k for k, name in enumerate(model.names)}
    size = 0.0
    right = np.zeros(2**model.n)
    for key, table in tables.items():
        units = [index.get(unit, unit) for unit in (key if isinstance(key, tuple) else (key,))]
        logs = np.log(table)[tuple(bmlab.bits(bmlab.states(model.n))[:, units].T)]
        right, size = right - logs, size + np.abs(np.log(table)).max()
    assert np.abs(model.energy(bmlab.states(model.n)) - right).max() < 2**-48 * (1 + size)
    pairs = {frozenset(key) for key in tables if isinstance(key, tuple)}
    assert model.temperature == 1 and (model.is_sparse or len(pairs) > model.n * (model.n - 1) / 4)


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ({}, "tables must be a dict, found {}"),
        ([[1, 2]], "tables must be a dict"),
        ({0: [1, 0]}, r"tables must be positive, \(2,\) for \(0,\), found 0 in it; write a small number"),
        ({(0, 1): [1, 2]}, r"\(2, 2\) for \(0, 1\), found an array of shape \(2,\)"),
        ({(0, 0): np.ones((2, 2))}, "must have units or pairs of units for keys"),
        ({(0, 1, 2): np.ones((2, 2, 2))}, "must have units or pairs of units for keys"),
        ({0.5: [1, 2]}, "must have units or pairs of units for keys"),
        ({0: [1, 2], "a": [1, 2]}, "numbers or names for keys, found both"),
    ],
)
def test_tables_that_are_none_are_refused(tables, sentence):
    with pytest.raises(ValueError, match=sentence):
        bmlab.from_tables(tables)


def test_names_of_units_order_the_tables():
    """A unit without a table is a fair coin."""
    tables = {("b", "a"): [[1, 2], [3, 4]], "a": [1, 5]}
    model = bmlab.from_tables(tables, names=["a", "b", "c"])
    assert model.names == ("a", "b", "c") and model.biases[2] == 0
    with pytest.raises(ValueError, match=r"'b' is no unit; see machine\.names"):
        bmlab.from_tables(tables, names=["a", "c"])


def test_a_missing_library_is_named_with_the_command_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "dimod", None)
    with pytest.raises(ModuleNotFoundError, match=r"to_dimod\(\) needs dimod, .*; pip install dimod"):
        to_dimod(replace(bmlab.toy(), offset=1.0))
