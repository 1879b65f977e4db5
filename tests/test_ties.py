"""Ties: of numbers that are equal but for rounding the first is taken, and named, whatever the processor."""

import numpy as np
import pytest

import bmlab
from bmlab.checking.arrays import first_largest, first_smallest, oriented, smallest_first

LAST_DIGITS = 1 + np.array([0, 3, -2, 1]) * 2.0**-52


@pytest.mark.parametrize("size", [1e-200, 1, -1e200])
def test_of_numbers_that_tie_the_first_is_taken(size):
    for shuffled in (LAST_DIGITS, LAST_DIGITS[::-1]):
        assert first_largest(size * shuffled) == first_smallest(size * shuffled) == 0
        assert smallest_first(size * shuffled).tolist() == [0, 1, 2, 3]
    table = size * np.outer(LAST_DIGITS, LAST_DIGITS)
    assert first_largest(table, axis=0).tolist() == first_smallest(table, axis=1).tolist() == [0] * 4


def test_of_numbers_that_do_not_tie_it_is_numpys():
    x = np.random.default_rng(0).normal(size=(30, 20))
    assert (first_largest(x, axis=1) == x.argmax(1)).all() and first_smallest(x) == x.argmin()
    assert (smallest_first(x[0]) == x[0].argsort()).all()
    assert first_largest([np.nan, -np.inf, 2, 1, np.nan]) == 2 and first_smallest([np.inf, -np.inf, 1]) == 1
    assert smallest_first([]).tolist() == []


def test_an_eigenvector_has_one_sign():
    vectors = np.linalg.eigh(bmlab.sherrington_kirkpatrick(7, rng=0).weights)[1]
    signs = np.random.default_rng(0).choice([-1, 1], 7)
    assert (oriented(vectors) == oriented(signs * vectors)).all()
    assert (np.abs(oriented(vectors)) == np.abs(vectors)).all()


def test_the_state_of_equal_chains_is_that_of_the_first():
    up, down = np.ones((2, 3)) * [[1], [-1]]
    assert (bmlab.Annealed(np.array([-0.3, -0.1 - 0.2]), np.array([up, down])).state == up).all()


def test_the_best_penalty_of_equals_is_the_first():
    fits = bmlab.penalty_path(bmlab.states(2), rng=0, penalties=[1, 0.1], n_folds=2)
    for held_out in ([-0.3, -0.1 - 0.2], [-0.1 - 0.2, -0.3]):
        assert fits._replace(held_out=np.array(held_out)).best is fits.fits[0]
