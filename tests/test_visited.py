"""visited: a bound at any time, each state once, and the missing mass, estimated from the second half of the draws."""

import numpy as np
import pytest
from test_contract import full, machine, near

import bmlab
from bmlab.infer.sampling import visited as visited_states
from bmlab.infer.sampling.visited import visited
from bmlab.running.sparsity import one_by_one

quietly = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")


@quietly
@pytest.mark.parametrize("model", [machine(12, 0, 1.5), bmlab.ising((3, 4)).at(3.0)], ids=["dense", "sparse"])
def test_moments_are_those_of_p_among_the_states_seen(model, monkeypatch):
    """By the definition: chains of one sweep, whose states are known, and p normalised among these."""
    monkeypatch.setattr(visited_states, "UNPACKED_ROWS", 7)
    start = np.random.default_rng(1).choice([-1.0, 1.0], size=(30, 12))
    answer = visited(model, rng=np.random.default_rng(0), start=start, n_sweeps=2)
    chains = visited_states.Chains(model, start.T, np.random.default_rng(0), classes=one_by_one(12))
    s = np.unique(np.vstack([start, *(block[0].T for _ in range(2) for block in chains.draws(1))]), axis=0)
    p = np.exp(-model.energy(s) / model.temperature)
    p /= p.sum()
    pairs = s.T @ (p[:, None] * s)
    assert (answer.info["states"], answer.info["dropped"]) == (len(s), 0) and np.abs(answer.mean - p @ s).max() < 1e-12
    assert near(full(answer.corr), pairs, 1e-12)


@pytest.mark.slow
def test_the_second_half_measures_what_the_first_has_missed():
    """Units without couplings are drawn independently by each sweep: the share missed is sum p (1 - p)^M on average.

    300 runs of 30 chains; the starting states are uniform, so every state has one more chance of them, (1 - 2^-8)^30.
    """
    model = bmlab.BoltzmannMachine(np.zeros((8, 8)), np.linspace(-0.3, 0.9, 8))
    p = bmlab.probabilities(model)
    missed = []
    for seed in range(300):
        with pytest.warns(bmlab.NotConverged, match="still met new states in"):
            missed.append(visited(model, rng=np.random.default_rng(seed), n_chains=30, n_sweeps=4).info["missed"])
    expected = (p * (1 - p) ** 60).sum() * (1 - 2.0**-8) ** 30
    assert abs(np.mean(missed) - expected) < 5 * np.std(missed) / np.sqrt(300)


@quietly
def test_with_little_room_the_lowest_states_stay_and_the_bound_holds(monkeypatch):
    model = machine(12, 0, 1.5)
    monkeypatch.setattr(visited_states, "KEPT_STATES", 50)
    answer = visited(model, rng=np.random.default_rng(0))
    energies = np.sort(model.energy(bmlab.states(12)))
    assert answer.info["states"] <= 100 and answer.info["dropped"] > 0 and not answer.converged
    assert answer.log_z.value <= bmlab.exact(model).log_z.value
    assert answer.log_z.value >= np.log(np.exp(-energies[:50]).sum()) - 1e-12  # 100,000 draws: these were met


@quietly
@pytest.mark.parametrize("n_chains", [1, 3, 50])
def test_what_few_visits_miss_is_not_known(n_chains):
    """Free units are drawn independently: if little is said to be missed, little is, in 40 runs with few visits.

    Of 300 visits or more none is new: more than 3 % can be missing once in 10,000 runs only, by 0.97^300.
    """
    model = bmlab.BoltzmannMachine(np.zeros((6, 6)), np.linspace(0.3, 2.3, 6))
    p = bmlab.probabilities(model)
    for n_sweeps in (2, 4, 20, 300 // n_chains, 1200 // n_chains):
        for seed in range(8):
            answer = visited(model, rng=seed, n_chains=n_chains, n_sweeps=n_sweeps)
            missing = 1 - np.exp(answer.log_z - bmlab.exact(model).log_z)
            assert not answer.converged or missing < 0.03
    assert p.min() < 0.001
