"""Machines with a name: each against the property it is known for."""

import numpy as np

import bmlab


def test_the_glass_has_weights_of_variance_one_over_n():
    model = bmlab.sherrington_kirkpatrick(400, rng=np.random.default_rng(0), scale=2.0)
    w = model.weights[np.triu_indices(400, 1)]
    assert abs(w.var() * 400 / 4 - 1) < 4 * np.sqrt(2 / len(w))  # a variance of N numbers is known to sqrt(2/N)


def test_a_square_torus_has_four_neighbours_each():
    model = bmlab.ising((4, 5), coupling=0.5)
    w = model.weights.toarray()
    assert (np.count_nonzero(w, axis=1) == 4).all() and set(np.unique(w)) == {0, 0.5}
    assert w[0, 1] and w[0, 5] and w[0, 4] and w[0, 15]


def test_a_ring_of_two_couples_twice_and_of_one_not_at_all():
    assert (bmlab.ising(2).weights.toarray() == [[0, 2], [2, 0]]).all()
    assert bmlab.ising((1, 1)).weights.nnz == 0


def test_a_hopfield_machine_rests_in_its_patterns():
    patterns = bmlab.spins(np.random.default_rng(1).integers(0, 2, (3, 60)))
    model = bmlab.hopfield(patterns)
    assert (np.sign(model.field(patterns)) == patterns).all()
    assert np.allclose(model.weights, bmlab.symmetric(patterns.T @ patterns / 60))


def test_a_restricted_machine_has_no_coupling_inside_a_layer():
    w = np.arange(6.0).reshape(3, 2)
    model = bmlab.restricted(w, [1, 2, 3], [4, 5])
    assert (model.weights[:3, 3:] == w).all() and not model.weights[:3, :3].any() and not model.weights[3:, 3:].any()
    assert (model.biases == [1, 2, 3, 4, 5]).all()
