"""anneal: the walk of the lecture along a schedule, and the best states on it."""

import numpy as np
import pytest

import bmlab
from bmlab.infer.sampling.annealing import anneal
from bmlab.infer.sampling.chains import Chains

MACHINES = [
    bmlab.medium(),
    bmlab.sherrington_kirkpatrick(18, rng=np.random.default_rng(3)),
    bmlab.ising((5, 5), field=0.3),
    bmlab.hopfield(bmlab.spins(np.random.default_rng(4).integers(0, 2, (3, 20)))),
    bmlab.medium().clamp([0, 1], [1, -1]),
]


@pytest.mark.parametrize("model", MACHINES, ids=["medium", "glass", "lattice", "hopfield", "clamped"])
def test_slow_cooling_ends_in_the_ground_state(model):
    found, true = anneal(model, np.geomspace(10, 0.1, 100), rng=np.random.default_rng(0)), bmlab.ground_state(model)
    assert np.isclose(found.energy, true.energy, rtol=1e-12)
    assert np.isclose(model.energy(found.state), true.energy, rtol=1e-12)


def test_annealed_keeps_the_best_of_the_walk():
    """One sweep a temperature, and of all states on the way the one of lowest energy: by hand on the same numbers."""
    model, schedule = bmlab.medium(), np.repeat([20, 15, 12, 10, 0.7], [2, 2, 2, 4, 6])
    start = bmlab.spins(np.random.default_rng(1).integers(0, 2, (7, 10)))
    found = anneal(model, schedule, rng=np.random.default_rng(2), start=start)
    chains, seen = Chains(model, start.T, np.random.default_rng(2)), [start]
    for temperature in schedule:
        chains.sweep(beta=1 / temperature)
        seen.append(chains.s.T.copy())
    energies = model.energy(np.array(seen))
    assert np.allclose(found.energies, energies.min(0), rtol=1e-12)
    assert (found.states == np.array(seen)[energies.argmin(0), np.arange(7)]).all()


def test_no_sweep_leaves_the_start():
    start = bmlab.states(3)
    found = anneal(bmlab.toy(), [], rng=np.random.default_rng(0), start=start)
    assert (found.states == start).all() and (found.energies == bmlab.toy().energy(start)).all()


def test_the_temperature_of_the_machine_plays_no_part():
    one, other = (anneal(bmlab.medium().at(t), [3.0, 1.0], rng=np.random.default_rng(0)) for t in (1.0, 50.0))
    assert (one.states == other.states).all()


@pytest.mark.parametrize(
    "schedule",
    [np.linspace(-1, 5, 500), [np.inf] * 300, np.ones((40, 40)), [1.0, np.nan], np.linspace(0, 1, 90), [1, 1e-310]],
)
def test_a_wrong_schedule_is_refused_in_one_short_sentence(schedule):
    """Betas, which begin with 0, are the likeliest: the first value that is wrong, and no array."""
    with pytest.raises(ValueError, match=r"^schedule must be .* positive temperatures, found .*; try") as refused:
        anneal(bmlab.toy(), schedule, rng=0)
    with pytest.raises(ValueError, match=r"^temperatures must increase") as again:
        bmlab.temper(bmlab.toy(), rng=0, temperatures=schedule)
    for error in (refused, again):
        assert len(str(error.value)) < 140 and "\n" not in str(error.value)
