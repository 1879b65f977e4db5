"""Two passes over a tree: the sums of variable elimination, on random trees at any temperature."""

import numpy as np
import pytest
from scipy import sparse

import bmlab
from bmlab.infer.exact.elimination import best_order, eliminate, moments
from bmlab.infer.exact.trees import sum_by_tree, tree_order


def tree(seed, n=12):
    """A random tree with weights and biases of any size, and its temperature."""
    rng = np.random.default_rng(seed)
    weights = np.zeros((n, n))
    for i in range(1, n):
        parent = rng.integers(i)
        weights[i, parent] = weights[parent, i] = rng.normal() * 10 ** rng.uniform(-2, 2.5)
    place = rng.permutation(n)
    weights = sparse.csr_array(weights[place][:, place])
    return bmlab.BoltzmannMachine(weights, rng.normal(size=n) * 10 ** rng.uniform(-2, 2), rng.uniform(0.3, 2))


@pytest.mark.parametrize("seed", range(40))
def test_two_passes_sum_what_elimination_sums(seed):
    """To roundings of logarithms as large as all energies over T together."""
    model = tree(seed)
    order, other = tree_order(model.weights), best_order(model.weights)
    log_z, odds = eliminate(model, other)
    found, expected = sum_by_tree(model, order), (log_z, *moments(model, other, odds))
    size = 1 + (np.abs(model.weights.data).sum() + np.abs(model.biases).sum()) / model.temperature
    assert abs(found[0] - expected[0]) < 1e-14 * size
    assert np.abs(found[1] - expected[1]).max() < 1e-14 * size
    assert np.abs((found[2] - expected[2]).data).max() < 1e-14 * size


def test_what_is_no_tree_has_no_order():
    assert tree_order(bmlab.ising(5).weights) is None  # a ring
    two = sparse.block_array([[bmlab.ising(3).weights, None], [None, sparse.csr_array((1, 1))]]).tocsr()
    assert two.nnz == 2 * (4 - 1)
    assert tree_order(two) is None  # a triangle and a unit


def test_a_long_chain_is_one_tree():
    """A chain of N without fields: log Z = N log 2 + (N - 1) log cosh(J), and tanh(J) on each coupling."""
    n, coupling = 20_000, 0.4
    answer = bmlab.exact(bmlab.ising(n, coupling=coupling, periodic=False))
    assert abs(answer.log_z - n * np.log(2) - (n - 1) * np.log(np.cosh(coupling))) < 1e-9
    assert np.abs(answer.corr.data[answer.corr.data < 1] - np.tanh(coupling)).max() < 1e-14
