"""The machine: its units' names, colours, formats of weights, files."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import bmlab

NAMED = bmlab.BoltzmannMachine(bmlab.medium().weights, bmlab.medium().biases, names=list("abcdefghij"))
FORMATS = [
    f"{kind}_{form}" for kind in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil") for form in ("array", "matrix")
]


@pytest.mark.parametrize(
    "units",
    [3, "d", np.int64(3), ["d"], [-7], slice(3, 4), np.arange(10) == 3, np.array(["d"]), ("d",), {"d": 0}.keys()],
)
def test_units_may_be_named_in_several_ways(units):
    part, same = NAMED.clamp(units, -1), NAMED.clamp([3], [-1.0])
    assert NAMED.indices(units).tolist() == [3] and part.names == tuple("abcefghij")
    assert (part.weights == same.weights).all() and (part.biases == same.biases).all() and part.offset == same.offset


def test_names_travel():
    assert NAMED.at(2).names == tuple("abcdefghij")
    assert NAMED.at(3).clamp("b", 1).clamp(["a", "j"], [1, -1]).names == tuple("cdefghi")
    assert bmlab.toy().names == bmlab.toy().clamp(0, 1).names == ()
    assert bmlab.from_bits(np.zeros((2, 2)), [0, 1], names=("x", "y")).names == ("x", "y")


def test_the_colours_of_known_graphs():
    """A full machine n classes of one; a lattice its checkerboard; a restricted machine its layers."""
    assert [c.tolist() for c in bmlab.toy().colours] == [[0], [1], [2]]
    lattice = bmlab.ising((4, 6)).colours
    assert len(lattice) == 2 and (np.add.outer(np.arange(4), np.arange(6)).ravel()[lattice[0]] % 2 == 0).all()
    layers = bmlab.restricted(np.ones((5, 3)), np.zeros(5), np.zeros(3)).colours
    assert [c.tolist() for c in layers] == [[0, 1, 2, 3, 4], [5, 6, 7]]


def test_a_machine_keeps_its_own_copy_and_is_read_only():
    weights = np.zeros((2, 2))
    model = bmlab.BoltzmannMachine(weights, [0, 0])
    weights[0, 1] = 5
    assert not model.weights.any()
    masked = bmlab.BoltzmannMachine(np.zeros((2, 2)), [0, 0], couplings=[[False, True], [True, False]])
    for array in (model.weights, model.biases, masked.couplings, masked.clamp(0, 1).couplings):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1
    with pytest.raises(AttributeError):
        model.temperature = 2


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_of_scipy_becomes_a_canonical_array(kind):
    weights = bmlab.medium().weights
    model = bmlab.BoltzmannMachine(getattr(sparse, kind)(weights), np.zeros(10))
    assert isinstance(model.weights, sparse.csr_array) and model.weights.has_canonical_format
    assert (model.dense_weights == weights).all() and not model.dense_weights.flags.writeable
    lopsided = getattr(sparse, kind)(np.triu(weights))
    with pytest.raises(ValueError, match=r"see bmlab\.symmetric\(W\)"):
        bmlab.BoltzmannMachine(lopsided, np.zeros(10))
    mended = bmlab.symmetric(lopsided)
    assert isinstance(mended, sparse.csr_array) and (mended.toarray() == bmlab.symmetric(np.triu(weights))).all()


@pytest.mark.parametrize(
    "model",
    [NAMED.at(0.7), bmlab.ising((3, 4), field=0.1), bmlab.medium().clamp([1], [-1])],
    ids=["named", "sparse", "clamped"],
)
def test_save_and_load_keep_every_bit(model, tmp_path):
    model.save(tmp_path / "machine")
    back = bmlab.load(tmp_path / "machine")
    assert back.is_sparse == model.is_sparse and (back.weights != model.weights).sum() == 0
    assert (back.biases == model.biases).all()
    assert (back.temperature, back.offset, back.names) == (model.temperature, model.offset, model.names)


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_weights_that_miss_symmetry_by_rounding_are_made_symmetric(kind):
    model = bmlab.BoltzmannMachine(kind([[1e-17, 0.1 + 0.2], [0.3, 0.0]]), [0, 0])
    weights = model.weights.toarray() if model.is_sparse else model.weights
    assert (weights == weights.T).all() and not np.diag(weights).any()


def test_a_unit_that_is_none_is_refused_with_what_was_meant():
    with pytest.raises(ValueError, match="'bb' is no unit; did you mean 'b'"):
        NAMED.clamp(["a", "bb"], 1)
    with pytest.raises(ValueError, match="'eggs' is no unit; the units have no names, write a number up to 2"):
        bmlab.toy().clamp("eggs", 1)
    with pytest.raises(ValueError, match="names must differ from each other, found 'a' twice; rename"):
        replace(NAMED, names=list("abcdefghia"))
