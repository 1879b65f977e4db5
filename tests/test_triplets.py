"""triplets: central moments by plain sums, errors by the jackknife, and triplets that pairs can and cannot explain."""

from itertools import combinations

import numpy as np
import pytest

import bmlab


def rows(n_rows=150, n=5, seed=0):
    rng = np.random.default_rng(seed)
    w = np.triu(rng.normal(scale=0.5, size=(n, n)), 1)
    return bmlab.sample(bmlab.BoltzmannMachine(w + w.T, rng.normal(scale=0.5, size=n)), n_rows, rng=rng)


def connected(s):
    """Central third moments of all triplets, by plain sums."""
    x = s - s.mean(0)
    return np.array([x[:, list(units)].prod(1).mean() for units in combinations(range(s.shape[1]), 3)])


def test_they_are_central_moments_and_their_errors_those_of_the_jackknife():
    """Leaving out one row after the other gives the same errors, but for terms of order 1/N."""
    s = rows()
    found, left = bmlab.triplets(s), np.array([connected(np.delete(s, k, axis=0)) for k in range(len(s))])
    assert [tuple(units) for units in found.units] == list(combinations(range(5), 3))
    assert found.connected == pytest.approx(connected(s), abs=1e-12)
    jackknife = np.sqrt((len(s) - 1) * left.var(0))
    assert found.connected_stderr == pytest.approx(jackknife, rel=10 / len(s))


def test_many_rows_are_summed_in_blocks():
    s = rows()
    many = bmlab.triplets(np.tile(s, (300, 1)))
    assert many.connected == pytest.approx(bmlab.triplets(s).connected, abs=1e-12)
    assert many.connected_stderr * np.sqrt(300) == pytest.approx(bmlab.triplets(s).connected_stderr)


def test_p_k_counts_units_that_are_up():
    s = rows()
    found, up = bmlab.triplets(s), (s > 0).sum(1)
    assert found.p_k == pytest.approx([(up == k).mean() for k in range(6)]) and found.p_k.sum() == pytest.approx(1)
    assert found.p_k_stderr == pytest.approx(np.sqrt(found.p_k * (1 - found.p_k) / len(s)))


def test_a_machine_of_pairs_is_enough_where_it_made_the_rows_and_not_where_three_agree():
    """z of data against draws: of squares about 1 on average if pairs are all, and far more for s_3 = s_1 s_2."""
    rng = np.random.default_rng(1)
    pairs, threes = rows(3000, 6, seed=2), rng.choice([-1.0, 1.0], size=(3000, 6))
    noise = np.where(rng.random(3000) < 0.4, -1, 1)
    threes[:, 2] = threes[:, 0] * threes[:, 1] * noise
    squares = []
    for data in (pairs, threes):
        table = bmlab.triplets(data)
        draws = bmlab.triplets(bmlab.sample(bmlab.pseudolikelihood(data).model, 30_000, rng=rng))
        z = (table.connected - draws.connected) / np.hypot(table.connected_stderr, draws.connected_stderr)
        squares.append(z**2)
    assert squares[0].mean() < 2.5 and squares[0].max() < 16  # chi-squared of 20 is above 50 once in 4000
    assert squares[1].argmax() == 0 and squares[1].max() > 50  # of the units 0, 1 and 2
