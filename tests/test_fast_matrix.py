"""The transition matrix of a sampler, read off its answers, is the product of the chances that it was made of."""

import numpy as np
import pytest

import bmlab
from bmlab.exercises import fast_matrix
from bmlab.exercises.fast_matrix import HALVINGS

STATES = bmlab.states(3)


def sampler(chances, asked):
    """Unit i turns up with chance chances[start, those before it, i], start and those before as numbers of states."""

    def sweep(model, s, u):
        asked.append(1)
        start, new = int((s > 0) @ [4, 2, 1]), -np.ones(3)
        for i in range(3):
            new[i] = 1 if u[i] < chances[start, int((new > 0) @ [4, 2, 1]), i] else -1
        return new

    return sweep


@pytest.mark.parametrize("kind", ["all", "unit", "start", "none", "sure"])
def test_the_matrix_is_the_product_of_the_chances(kind):
    """Whatever they depend on; those of three units alone take three searches, and a try of all 96 moves."""
    shape = {"all": (8, 8, 3), "unit": (1, 1, 3), "start": (8, 1, 3)}.get(kind, (1, 1, 1))
    drawn = np.random.default_rng(0).random(shape)
    chances = np.broadcast_to({"none": 0 * drawn, "sure": 0 * drawn + 1}.get(kind, drawn), (8, 8, 3))
    found, right = fast_matrix(sampler(chances, asked := []), bmlab.toy()), np.ones((8, 8))
    for a in range(8):
        for b, end in enumerate(STATES):
            for i in range(3):
                before = int((np.where(np.arange(3) < i, end, -1) > 0) @ [4, 2, 1])
                right[a, b] *= chances[a, before, i] if end[i] > 0 else 1 - chances[a, before, i]
    assert np.abs(found - right).max() <= 3 / 2**HALVINGS  # three factors, each below 1
    assert kind in ("all", "start") or len(asked) == 3 * HALVINGS + 2 * 96
