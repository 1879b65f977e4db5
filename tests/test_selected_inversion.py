"""The inverse at the couplings of a sparse matrix, against the whole inverse, also if entries are stored zeros."""

import numpy as np
import pytest
from scipy import sparse

import bmlab
from bmlab.infer.variational import selected_inversion
from bmlab.infer.variational.selected_inversion import factorize, is_positive_definite, selected_inverse


def matrix(seed):
    """A random symmetric matrix, some with eigenvalues below 0, and its places, of which three couplings are 0."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    pairs = np.triu((rng.random((n, n)) < 0.15) * rng.normal(size=(n, n)), 1)
    row, col = np.nonzero(pairs + pairs.T)
    pairs[np.minimum(row, col)[:3], np.maximum(row, col)[:3]] = 0
    diagonal = rng.choice([1, 1 + np.abs(pairs + pairs.T).sum(1).max()]) + rng.random(n)
    return sparse.csc_array(np.diag(diagonal) - pairs - pairs.T), row, col


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_inverse_at_its_places(seed, engine, monkeypatch):
    """To roundings of both, some n^2 of the largest entry times the matrix' condition."""
    monkeypatch.setattr(selected_inversion, "has_numba", lambda: engine == "numba")
    a, row, col = matrix(seed)
    factor, whole = factorize(a), np.linalg.inv(a.toarray())
    at_couplings, diagonal = selected_inverse(factor, row, col)
    error = 1e-15 * len(whole) * np.linalg.cond(a.toarray()) * np.abs(whole).max()
    assert np.abs(at_couplings - whole[row, col]).max(initial=0) < error
    assert np.abs(diagonal - np.diag(whole)).max() < error
    assert is_positive_definite(factor) == (np.linalg.eigvalsh(a.toarray()).min() > 0)


@pytest.mark.parametrize("n", [2, 4, 6])
def test_there_is_no_factor_without_pivoting_where_a_pivot_is_zero(n):
    """Pairs that are nothing but coupled: the matrix has an inverse, and its first pivot is 0 in any order."""
    assert factorize(sparse.csc_array(np.kron(np.eye(n // 2), [[0.0, 1.0], [1.0, 0.0]]))) is None


def zeros_at(rng, n):
    """Ones at some pairs, of which a sparse machine stores a weight, be it 0."""
    pairs = np.triu(rng.random((n, n)) < 0.05, 1)
    return pairs | pairs.T


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_sparse_and_dense_machines_respond_alike():
    """Also if trees hang on loops, which are put back one leaf after the other, at temperatures that lock them."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        weights = np.triu((rng.random((20, 20)) < 0.08) * rng.normal(size=(20, 20)), 1) * [0.3, 1, 30][seed % 3]
        dense = bmlab.BoltzmannMachine(weights + weights.T, rng.normal(size=20))
        row, col = np.nonzero(dense.weights + zeros_at(rng, 20))
        stored = sparse.csr_array((dense.weights[row, col], (row, col)), shape=(20, 20))
        thin = bmlab.BoltzmannMachine(stored, dense.biases)
        full, found = bmlab.bethe(dense), bmlab.bethe(thin)
        assert full.converged == found.converged
        if full.converged:
            assert np.abs(full.corr[row, col] - found.corr[row, col]).max() < 1e-12
