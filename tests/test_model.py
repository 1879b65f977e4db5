"""The machine: energy, clamping, 0/1 units, files, refusals."""

import pickle
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

import bmlab

numbers = st.floats(-3, 3, allow_subnormal=False)


@st.composite
def machines(draw, largest=6):
    n = draw(st.integers(1, largest))
    weights = bmlab.symmetric(draw(arrays(float, (n, n), elements=numbers)))
    biases = draw(arrays(float, n, elements=numbers))
    return bmlab.BoltzmannMachine(weights, biases, draw(st.floats(0.2, 5)), draw(numbers))


NAMED = bmlab.BoltzmannMachine(bmlab.medium().weights, bmlab.medium().biases, names=list("abcdefghij"))
FORMATS = [
    f"{kind}_{form}" for kind in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil") for form in ("array", "matrix")
]


def log_probabilities(energy, temperature):
    log_weight = -energy / temperature
    return log_weight - np.logaddexp.reduce(log_weight)


# Energy and field


@given(machines())
def test_energy_is_the_sum_over_pairs_and_units(model):
    for s in bmlab.states(model.n):
        pairs = sum(model.weights[i, j] * s[i] * s[j] for i in range(model.n) for j in range(i))
        assert np.isclose(model.energy(s), model.offset - pairs - model.biases @ s, atol=1e-12)


def test_states_are_all_of_them_in_counting_order():
    s = bmlab.states(4)
    assert s.shape == (16, 4) and len(np.unique(s, axis=0)) == 16
    assert (bmlab.bits(s) @ [8, 4, 2, 1] == np.arange(16)).all()


@given(machines())
def test_sparse_weights_mean_the_same_machine(model):
    thin = bmlab.BoltzmannMachine(sparse.csr_array(model.weights), model.biases, model.temperature, model.offset)
    s = bmlab.states(model.n)
    assert np.allclose(thin.energy(s), model.energy(s), atol=1e-12)
    units, values = np.arange(model.n)[::2], np.ones(len(np.arange(model.n)[::2]))
    one, other = thin.clamp(units, values), model.clamp(units, values)
    assert np.allclose(one.dense_weights, other.weights) and np.allclose(one.biases, other.biases)
    assert np.isclose(one.offset, other.offset)


@given(machines())
def test_log_prob_is_that_of_the_sum_over_all_states(model):
    s = bmlab.states(model.n)
    expected = log_probabilities(model.energy(s), model.temperature)
    assert np.allclose(model.log_prob(s, bmlab.exact(model).log_z), expected, atol=1e-9)
    assert np.ndim(model.log_prob(s[0], 0.0)) == 0


# Clamping


@given(machines(), st.data())
def test_a_clamped_machine_has_the_energies_of_the_whole(model, data):
    units = data.draw(st.lists(st.integers(0, model.n - 1), unique=True))
    values = np.array([data.draw(st.sampled_from([-1.0, 1.0])) for _ in units])
    part, free = model.clamp(units, values), np.setdiff1d(np.arange(model.n), units)
    whole = np.empty((2 ** len(free), model.n))
    whole[:, units], whole[:, free] = values, bmlab.states(len(free))
    assert np.allclose(part.energy(bmlab.states(len(free))), model.energy(whole), atol=1e-11)


@pytest.mark.parametrize(
    "units",
    [3, "d", np.int64(3), ["d"], [-7], slice(3, 4), np.arange(10) == 3, np.array(["d"]), ("d",), {"d": 0}.keys()],
)
def test_units_may_be_named_in_several_ways(units):
    part, same = NAMED.clamp(units, -1), NAMED.clamp([3], [-1.0])
    assert NAMED.indices(units).tolist() == [3] and part.names == tuple("abcefghij")
    assert (part.weights == same.weights).all() and (part.biases == same.biases).all() and part.offset == same.offset


# Names


def test_names_travel(tmp_path):
    NAMED.save(tmp_path / "machine")
    for model in (bmlab.load(tmp_path / "machine"), pickle.loads(pickle.dumps(NAMED)), NAMED.at(2), deepcopy(NAMED)):
        assert model.names == tuple("abcdefghij")
    assert NAMED.at(3).clamp("b", 1).clamp(["a", "j"], [1, -1]).names == tuple("cdefghi")
    assert bmlab.toy().names == bmlab.toy().clamp(0, 1).names == ()
    assert bmlab.from_bits(np.zeros((2, 2)), [0, 1], names=("x", "y")).names == ("x", "y")


# 0/1 units


@given(machines())
def test_units_of_one_colour_are_not_coupled_and_each_unit_has_one_colour(model):
    classes = model.colours
    assert sorted(np.concatenate([*classes, []])) == list(range(model.n))
    for units in classes:
        assert not model.weights[units][:, units].any()


def test_the_colours_of_known_graphs():
    """A full machine n classes of one; a lattice its checkerboard; a restricted machine its layers."""
    assert [c.tolist() for c in bmlab.toy().colours] == [[0], [1], [2]]
    lattice = bmlab.ising((4, 6)).colours
    assert len(lattice) == 2 and (np.add.outer(np.arange(4), np.arange(6)).ravel()[lattice[0]] % 2 == 0).all()
    layers = bmlab.restricted(np.ones((5, 3)), np.zeros(5), np.zeros(3)).colours
    assert [c.tolist() for c in layers] == [[0, 1, 2, 3, 4], [5, 6, 7]]


@given(arrays(np.int64, st.tuples(st.integers(0, 3), st.integers(0, 3)), elements=st.integers(0, 1)))
def test_spins_and_bits_undo_each_other(x):
    assert (bmlab.bits(bmlab.spins(x)) == x).all()


# A machine never changes, and survives a file


def test_a_machine_keeps_its_own_copy_and_is_read_only():
    weights = np.zeros((2, 2))
    model = bmlab.BoltzmannMachine(weights, [0, 0])
    weights[0, 1] = 5
    assert not model.weights.any()
    with pytest.raises(ValueError, match="read-only"):
        model.weights[0, 1] = 1
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
    [bmlab.medium().at(0.7), bmlab.ising((3, 4), field=0.1), bmlab.medium().clamp([1], [-1])],
    ids=["dense", "sparse", "clamped"],
)
def test_save_and_load_keep_every_bit(model, tmp_path):
    model.save(tmp_path / "machine")
    back = bmlab.load(tmp_path / "machine")
    assert back.is_sparse == model.is_sparse and (back.weights != model.weights).sum() == 0
    assert (back.biases == model.biases).all()
    assert (back.temperature, back.offset) == (model.temperature, model.offset)


@pytest.mark.parametrize(
    "write",
    [
        lambda path: path.write_text("weights: 1"),
        lambda path: np.savez(path, weights=np.zeros((2, 2))),
        lambda path: np.savez(path, weights=np.zeros((2, 2)), biases=[[1, 2]], temperature=1.0, offset=0.0),
        lambda path: np.savez(path, weights=np.array([{}]), biases=[1.0], temperature=1.0, offset=0.0),
        lambda path: np.save(path.open("wb"), np.zeros(3)),
    ],
    ids=["text", "no biases", "wrong shape", "pickled object", "an array"],
)
def test_a_foreign_file_is_refused(write, tmp_path):
    path = tmp_path / "machine.npz"
    write(path)
    with pytest.raises(ValueError, match="holds no whole machine"):
        bmlab.load(path)


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_weights_that_miss_symmetry_by_rounding_are_made_symmetric(kind):
    model = bmlab.BoltzmannMachine(kind([[1e-17, 0.1 + 0.2], [0.3, 0.0]]), [0, 0])
    weights = model.weights.toarray() if model.is_sparse else model.weights
    assert (weights == weights.T).all() and not np.diag(weights).any()


# Refusals name the value and the way out


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_weights_that_are_not_symmetric_are_refused_by_their_worst_place(kind):
    with pytest.raises(ValueError, match=r"largest \|W - W'\| is 0.3 at \[0, 1\]\); see bmlab.symmetric"):
        bmlab.BoltzmannMachine(kind([[0, 1], [0.7, 0]]), [0, 0])


def test_a_unit_that_is_none_is_refused_with_what_was_meant():
    with pytest.raises(ValueError, match="'bb' is no unit; did you mean 'b'"):
        NAMED.clamp(["a", "bb"], 1)
    with pytest.raises(ValueError, match="'eggs' is no unit; the units have no names, write a number up to 2"):
        bmlab.toy().clamp("eggs", 1)
    with pytest.raises(ValueError, match="names must differ from each other, found 'a' twice; rename"):
        replace(NAMED, names=list("abcdefghia"))
