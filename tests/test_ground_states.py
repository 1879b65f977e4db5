"""The lowest states, by exact sums: ties are ties, and nothing else is."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from selection import exhaustive, one_of, slow

import bmlab


def whole_machine(n, seed):
    """A machine of n units whose weights and biases are whole numbers, many of them 0."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.integers(-2, 3, (n, n)), 1)
    return bmlab.BoltzmannMachine((weights + weights.T).astype(float), rng.integers(-1, 2, n).astype(float))


@pytest.mark.parametrize("scale", [2.0**-300, 0.75, 2.0**300])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "model",
    [
        *(whole_machine(n, n) for n in (7, 13, 15)),
        bmlab.BoltzmannMachine(bmlab.ising(9, coupling=-1.0).dense_weights, np.zeros(9)),
        bmlab.sherrington_kirkpatrick(15, rng=np.random.default_rng(3)),
        bmlab.BoltzmannMachine(np.zeros((5, 5)), [1, 0, -1, 0, 0.5]),
    ],
    ids=["7", "13", "15", "frustrated ring", "glass", "independent"],
)
def test_the_ground_state_is_the_lowest_of_all_states_at_any_scale(model, form, scale):
    """An offset moves the energy and nothing else."""
    scaled = bmlab.BoltzmannMachine(form(model.weights * scale), model.biases * scale, offset=1e9 / 7 * scale)
    lowest, energies = bmlab.ground_state(scaled), model.energy(bmlab.states(model.n))
    assert abs(model.energy(lowest.state) - energies.min()) < 1e-9 and scaled.energy(lowest.state) == lowest.energy


@pytest.mark.slow
def test_a_large_lattice_and_a_frustrated_ring():
    assert np.isclose(bmlab.ground_state(bmlab.ising((8, 12), coupling=0.7)).energy, -0.7 * 2 * 96)
    assert bmlab.ground_state(bmlab.ising(9999, coupling=-1.0)).energy == -9997


def exact_energies(model):
    """E without the offset of all states, as fractions, by the definition."""
    w = [[Fraction(x) for x in row] for row in model.dense_weights.tolist()]
    b, found = [Fraction(x) for x in model.biases.tolist()], []
    for s in bmlab.states(model.n).astype(int).tolist():
        pairs = sum((w[i][j] * s[i] * s[j] for j in range(model.n) for i in range(j)), Fraction(0))
        found.append(-pairs - sum((x * s_i for x, s_i in zip(b, s, strict=True)), Fraction(0)))
    return found


def of_many_scales(rng, n):
    """Weights and biases from 1e-30 to 100, some 0, some equal, some that cancel in decimal but not in binary."""

    def numbers(size):
        kinds = [
            10.0 ** rng.uniform(-30, 2, size) * rng.choice([-1, 1], size),
            100.0 * rng.choice([-1, 0, 1], size),
            rng.choice([0.1, 0.2, -0.3, 1e-8], size),
            rng.integers(-1, 2, size).astype(float),
        ]
        return np.choose(rng.integers(0, 4, size), kinds)

    upper = np.triu(numbers((n, n)), 1)
    return bmlab.BoltzmannMachine(upper + upper.T, numbers(n) * rng.integers(0, 2))


FORMS = {
    "dense": lambda model: model,
    "sparse": lambda model: replace(model, weights=sparse.csr_array(model.weights)),
    "offset": lambda model: replace(model, offset=1e9 / 7),
    "cold": lambda model: model.at(1e-9),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(8))
def test_a_tie_is_exact_and_a_lower_state_is_found_however_little_it_is_lower(seed, form):
    """Energies within 1e-9 of the largest weight were equal: a field of 1e-8 beside couplings of 100 was lost.

    Of more than a few states within the rounding none is known to be the only lowest.
    """
    rng, unique = np.random.default_rng(seed), 0
    for _ in range(10):
        model = FORMS[form](of_many_scales(rng, int(rng.integers(1, 7))))
        energies, lowest = exact_energies(model), bmlab.ground_state(model)
        place = (bmlab.states(model.n) == lowest.state).all(1).argmax()
        assert energies[place] == min(energies)
        ties = energies.count(min(energies))
        assert ties == 1 or not lowest.is_unique
        assert ties > 1 or lowest.is_unique or model.n > 3
        unique += lowest.is_unique
    assert 0 < unique < 10


@pytest.mark.parametrize("n", one_of([6, 14, 18], mark=slow))
def test_a_small_field_decides_between_two_states_that_are_all_but_as_low(n):
    """The state of a glass or its negative, whichever the field favours."""
    for seed in range(10):
        glass = bmlab.sherrington_kirkpatrick(n, rng=seed, scale=100.0)
        glass = replace(glass, biases=np.zeros(n))
        either = bmlab.ground_state(glass)
        assert not either.is_unique
        for sign in (1, -1):
            field = 1e-8 * sign * either.state
            found = bmlab.ground_state(replace(glass, biases=field))
            assert found.is_unique and (found.state == sign * either.state).all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(6))
def test_the_lowest_states_are_those_of_all_states_in_their_order(seed, form):
    rng = np.random.default_rng(seed)
    for _ in range(3):
        n = int(rng.integers(1, 6))
        model = FORMS[form](rng.choice([whole_machine(n, seed), of_many_scales(rng, n)]))
        k = int(rng.integers(1, 2**n + 1))
        found, energies = bmlab.lowest_states(model, k), exact_energies(model)
        place = [(bmlab.states(n) == s).all(1).argmax() for s in found.states]
        assert len(set(place)) == k and [energies[p] for p in place] == sorted(energies)[:k]
        assert (found.energies == model.energy(found.states)).all()


@exhaustive
@pytest.mark.slow
def test_the_lowest_states_of_a_machine_that_is_too_large_to_list():
    """A chain of 40 with random couplings: its two lowest, and then those with one domain wall at a weak coupling."""
    strengths = np.random.default_rng(0).uniform(0.5, 1, 39)
    chain = sparse.diags_array([strengths, strengths], offsets=[1, -1])
    found = bmlab.lowest_states(bmlab.BoltzmannMachine(chain, np.zeros(40)), 8).energies
    walls = np.sort(2 * strengths)[:3]
    right = -strengths.sum() + np.repeat([0, *walls], 2)
    assert np.abs(found - right).max() < 1e-12
