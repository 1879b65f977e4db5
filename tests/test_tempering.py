"""temper: swaps that leave the product of all temperatures as it is, log Z from below, and honest doubts."""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from test_contract import STDERRS, assert_same

import bmlab
from bmlab.infer.sampling.diagnostics import RHAT_LIMIT
from bmlab.infer.sampling.tempering import choose_temperatures, swap_chance, temper

quietly = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
GLASS = bmlab.BoltzmannMachine(bmlab.medium().weights, np.linspace(-0.5, 0.5, 10), temperature=0.6, offset=1.7)
WELLS = bmlab.ising((4, 4), field=0.05).at(1.0)  # a chain that is in one valley stays there
short = partial(temper, burn_in=50, n_sweeps=400)


def run(model, seed=0, **settings):
    return short(model, rng=np.random.default_rng(seed), **settings)


# The swap


def test_a_swap_is_in_detailed_balance():
    """p(E at k, E' at k + 1) a(E, E') = p(E', E) a(E', E), for any energies, infinite temperatures included."""
    rng = np.random.default_rng(0)
    beta = np.array([1.3, 0.9, 0.2, 0.0])
    energies = rng.normal(scale=2, size=(500, 4))
    for k in range(3):
        other = energies.copy()
        other[:, [k, k + 1]] = energies[:, [k + 1, k]]
        flow, back = (np.exp(-e @ beta) * swap_chance(beta, e)[:, k] for e in (energies, other))
        assert np.allclose(flow, back, rtol=1e-12, atol=0) and (flow > 0).all()


def law_conveyor(n_sweeps=60):
    """If all energies are alike every swap is taken: each replica goes up and down like a chair of a lift.

    Of R rungs it is back after 2 R sweeps, so that R replicas make n_sweeps / 2 round trips, but for the first, which
    not all begin at the cold end, and the last.  Even pairs alone, or odd ones, bring nobody further than one rung.
    """
    still = bmlab.BoltzmannMachine(np.zeros((3, 3)), np.zeros(3))
    for rungs in range(2, 7):
        temperatures = np.append(1.5 ** np.arange(rungs - 1), np.inf)
        info = run(still, temperatures=temperatures, n_sweeps=n_sweeps, burn_in=0, n_ladders=3).info
        assert (info["acceptance"] == 1).all()
        assert abs(info["round_trips"] - n_sweeps / 2) <= rungs


@quietly
def test_every_pair_takes_its_turn():
    law_conveyor()


# The answer


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_its_draws_hold_patterns_of_both_valleys_as_often_as_they_are():
    """Of ten cells: all draws average to the answer, and the patterns of either valley have their share of them."""
    answer = temper(WELLS, rng=0, burn_in=100, n_sweeps=800, n_draws=800)
    assert answer.draws.shape == (800, 32, 16) and np.allclose(answer.draws.mean((0, 1)), answer.mean)
    p, s = bmlab.probabilities(WELLS), bmlab.states(16)[:, :10]
    for pattern in (np.ones(10), -np.ones(10)):
        right = p[(s == pattern).all(1)].sum()
        of_ladders = (answer.draws[:, :, :10] == pattern).all(2).mean(0)
        stderr = of_ladders.std(ddof=1) / np.sqrt(32)
        assert right > 0.05 and abs(of_ladders.mean() - right) < STDERRS * stderr


@quietly
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_ladder_with_a_gap_does_not_know_log_z():
    """Units that never turn at 0.01 and always may at infinite temperature: no energy is seen at both."""
    model = bmlab.BoltzmannMachine(np.zeros((8, 8)), np.full(8, 300.0), 0.01)
    assert np.isnan(run(model, temperatures=[0.01, np.inf]).log_z)


# The ladder


GLASSES = {
    "glass": bmlab.medium().at(0.2),
    "cold lattice": WELLS.at(0.01),
    "large glass": bmlab.sherrington_kirkpatrick(36, rng=np.random.default_rng(0), scale=2.0),
}


def law_half(model):
    """The pilot's counts are noisy, and rungs are a whole number, so the share may be well above a half."""
    t = choose_temperatures(model, np.random.default_rng(0), 32).temperatures
    assert np.isclose(t[0], model.temperature) and t[-1] == np.inf and (np.diff(t) > 0).all()
    acceptance = run(model, temperatures=t).info["acceptance"]
    assert len(acceptance) == len(t) - 1 and acceptance.min() > 0.4 and acceptance.max() < 0.75


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("model", GLASSES.values(), ids=GLASSES)
def test_the_pilot_makes_neighbours_swap_about_half_of_the_time(model):
    law_half(model)


def test_cooling_ends_where_all_stands_still():
    """At T = 1e-20 a step by the rounding of equal energies is a thousandth of the way, and below that too."""
    for temperature in (1e-20, 1e-90):
        unit = bmlab.BoltzmannMachine([[0]], [0.7], temperature)
        state = choose_temperatures(unit, np.random.default_rng(0), 32)
        assert len(state.temperatures) < 20 and (state.s[:, 0] == 1).all()


def test_temperatures_of_your_own():
    finite, exact = run(GLASS, temperatures=[0.6, 1.0, 2.0]), bmlab.exact(GLASS)
    assert np.isnan(finite.log_z) and (finite.info["temperatures"] == [0.6, 1, 2]).all()
    assert_same(finite, replace(exact, log_z=finite.log_z))


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_the_state_goes_on_with_its_own_ladder():
    first = run(GLASS, n_ladders=8)
    again = run(GLASS, start=first.state)
    assert (again.info["temperatures"] == first.info["temperatures"]).all()
    assert again.state.s.shape == first.state.s.shape == (8, len(first.info["temperatures"]), 10)
    assert_same(again, bmlab.exact(GLASS))


# Words that people see


@quietly
def test_a_start_with_other_temperatures_or_another_number_of_ladders_is_refused():
    state = run(GLASS, n_ladders=4, n_sweeps=50).state
    with pytest.raises(ValueError, match="pass start or temperatures, not both"):
        run(GLASS, start=state, temperatures=[0.6, 1.0])
    with pytest.raises(ValueError, match="start has 4 ladders, n_ladders is 5; leave n_ladders out"):
        run(GLASS, start=state, n_ladders=5)
    assert len(run(GLASS, start=state, n_ladders=4, n_sweeps=50).state.s) == 4
    of_another = run(bmlab.toy(), n_ladders=4, n_sweeps=50).state
    for wrong in (
        of_another,
        state._replace(s=state.s[:, 1:]),
        state._replace(s=state.s[0]),
        state._replace(s=0 * state.s),
    ):
        with pytest.raises(ValueError, match=r"start must be the `state` of a temper\(\) answer for 10 units, found"):
            run(GLASS, start=wrong)


@pytest.mark.parametrize("seed", [4, 5])
def test_log_z_of_a_machine_in_deep_cold(seed):
    """Between two rungs of seed 4 a state half-way would weigh as much as the ground state, and is never met."""
    rng = np.random.default_rng(seed)
    weights = np.triu(1e4 * rng.normal(size=(6, 6)), 1)
    model = bmlab.BoltzmannMachine(weights + weights.T, 1e3 * rng.normal(size=6))
    answer = bmlab.temper(model, rng=seed, n_sweeps=500)
    assert answer.converged
    assert abs(answer.log_z - bmlab.exact(model).log_z) < 5 * answer.log_z.stderr


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [1e-13, 1e-6, 0.05, 1.0])
@pytest.mark.parametrize("n_sweeps", [4, 400])
@pytest.mark.parametrize("model", [bmlab.toy(), bmlab.ising((3, 3), field=0.1)], ids=["toy", "lattice"])
def test_what_is_given_as_the_reason_holds(model, temperature, n_sweeps):
    """Of R-hat, round trips and a gap in the ladder, the message blames those that failed and no other."""
    with warnings.catch_warnings(record=True, action="always") as seen:
        answer = temper(model.at(temperature), rng=0, burn_in=20, n_sweeps=n_sweeps)
    failed = {
        "the ladders disagree": not answer.info["rhat"] < RHAT_LIMIT,
        "too few round trips": answer.info["round_trips"] < 10,
        "log Z unknown": not np.isfinite(answer.log_z),
    }
    assert {reason: reason in answer.message for reason in failed} == failed
    assert answer.converged == (not any(failed.values())) == ("Raise n_sweeps" not in answer.message) == (not seen)
