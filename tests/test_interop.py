"""Machines of 0/1 units and of dimod: there and back, with every energy in between."""

import sys
from dataclasses import replace

import numpy as np
import pytest
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
def test_zeros_and_ones_keep_their_energies(model):
    """Energies of 0/1 units x are -1/2 x'Wx - b'x, whatever the weights mean for -1/+1."""
    x, found = bmlab.bits(S), bmlab.from_bits(model.weights, model.biases, model.temperature, model.names)
    expected = -((x @ model.weights) * x).sum(1) / 2 - x @ model.biases
    assert np.allclose(found.energy(S), expected, atol=1e-12)
    assert (found.temperature, found.names, found.is_sparse) == (model.temperature, model.names, model.is_sparse)


@machines
def test_dimod_lists_the_same_energies_and_gives_the_same_machine_back(model):
    bqm = to_dimod(model)
    assert list(bqm.variables) == list(model.names or range(8))
    assert np.allclose(bqm.energies((S, list(bqm.variables))), model.energy(S), atol=1e-12)
    back = from_dimod(bqm, model.temperature)
    assert (back.biases == model.biases).all() and not (back.weights != model.weights).sum()
    assert (back.offset, back.names, back.is_sparse) == (model.offset, model.names, model.is_sparse)


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_variables_of_0_and_1_with_names_keep_their_energies(share):
    rng, names = np.random.default_rng(2), ["z", 7, "a", ("x", 1), 0, "b", 3, "alone"]
    h = {name: rng.normal() for name in names}
    j = {(a, b): rng.normal() for k, a in enumerate(names[:7]) for b in names[:k] if rng.random() < share}
    bqm = dimod.BinaryQuadraticModel(h, j, 0.9, "BINARY")
    model = from_dimod(bqm, 1.2)
    assert model.temperature == 1.2 and model.is_sparse == (share < 1)
    assert np.allclose(model.energy(S), bqm.energies((bmlab.bits(S), list(bqm.variables))), atol=1e-12)


def test_an_empty_model_is_read():
    assert from_dimod(dimod.BinaryQuadraticModel("SPIN")).n == 0


def test_a_missing_library_is_named_with_the_command_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "dimod", None)
    with pytest.raises(ModuleNotFoundError, match=r"to_dimod\(\) needs dimod, .*; pip install dimod"):
        to_dimod(replace(bmlab.toy(), offset=1.0))
