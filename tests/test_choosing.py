"""auto: which method it takes and why, and whether its stated error covers the true one."""

import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from itertools import count
from unittest.mock import patch

import numpy as np
import pytest
from machines import KINDS, LARGE, by_magnetisation, large_machine, random_machine
from selection import exhaustive
from test_contract import machine

import bmlab
from bmlab import plain
from bmlab.choosing import Trial, auto, contradicted, difference, try_bethe, try_samples, within, without_exact

pytestmark = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
WANTED = ("moments", "log_z")
every_want = pytest.mark.parametrize("want", WANTED)


def weak(n=14, scale=0.005):
    """Couplings so weak that Bethe errs by less than any sampler could in the time of a test."""
    return machine(n, 2, scale, temperature=1.3, offset=0.5)


def strong():
    """A ferromagnet with two phases of nearly the same weight."""
    return bmlab.BoltzmannMachine((1 - np.eye(16)) / 4, np.full(16, 0.01), 1.3)


def crowd(n, coupling):
    """All pairs attract or repel each other alike, without fields: critical if the coupling is 1."""
    return bmlab.BoltzmannMachine((1 - np.eye(n)) * coupling / n, np.zeros(n))


def off(model, answer, want):
    """The true error of the wanted quantity."""
    return difference(model, answer, bmlab.exact(model, pairs="all"), want)


def law_amplified(want="moments"):
    """The error of Bethe is its distance from mean field over 1 - rho, both by plain.py, rho by all eigenvalues."""
    for seed in range(6):
        model = machine(7, seed, scale=0.5, temperature=1.5)
        one, other = plain.mean_field(model), plain.bethe(model)
        root = np.sqrt(1 - other.mean**2)
        rho = np.linalg.eigvalsh(root[:, None] * model.weights / model.temperature * root).max()
        gaps = np.concatenate([one.mean - other.mean, (one.corr - other.corr)[np.triu_indices(7, 1)]])
        gap = abs(one.log_z - other.log_z) if want == "log_z" else np.sqrt(np.mean(gaps**2))
        assert abs(try_bethe(model, want).error - gap / (1 - rho)) < 1e-9


@every_want
def test_two_orders_state_their_distance_amplified(want):
    law_amplified(want)


@every_want
def test_what_can_be_solved_is_solved(want):
    answer = auto(machine(10, 1), rng=0, want=want)
    assert answer.method == "exact" and answer.info["error"] == 0
    assert answer.message.startswith("exact takes about") and list(answer.info["tried"]) == ["exact"]


def test_exact_may_take_as_long_as_it_is_allowed():
    """The limit is the plan's time for exact(), to the last digit: so much is enough, and less is not."""
    model = machine(12, 1)
    price = bmlab.exact_plan(model).core_seconds
    assert auto(model, rng=0, max_seconds=price, n_sweeps=20).method == "exact"
    answer = auto(model, rng=0, max_seconds=price * (1 - 1e-9), n_sweeps=20)
    assert answer.method != "exact" and answer.message.startswith("exact would take")


def test_it_says_what_it_tried():
    """Every method that was asked, in the order of the rule, and the message is made of these sentences."""
    for model, methods in ((weak(), ["exact", "bethe", "gibbs"]), (strong(), ["exact", "bethe", "gibbs", "temper"])):
        answer = auto(model, rng=0, max_seconds=1e-9, n_sweeps=40)
        assert list(answer.info["tried"])[: len(methods)] == methods[: len(answer.info["tried"])]
        assert all(said in answer.message for said in answer.info["tried"].values())


@every_want
def test_weak_couplings_are_left_to_bethe(want):
    """Moments err by the third order of the couplings, and samples by one over the root of their number."""
    model = weak()
    answer = without_exact(model, np.random.default_rng(0), want, 100)
    assert answer.method == "bethe" or want == "log_z"
    assert 0 < off(model, answer, want) < answer.info["error"]


def test_samples_state_twice_the_error_of_what_is_wanted():
    model = strong()
    trials = {want: try_samples("temper", model, np.random.default_rng(0), want, 500) for want in ("moments", "log_z")}
    answer = trials["log_z"].answer
    row, col = np.triu_indices(model.n, 1)
    errors = [*answer.mean_stderr, *answer.corr_stderr[row, col]]
    assert trials["log_z"].error == 2 * answer.log_z.stderr
    assert trials["moments"].error == pytest.approx(2 * np.sqrt(np.mean(np.square(errors))))


@pytest.mark.slow
@pytest.mark.parametrize(("want", "samplers"), [("moments", {"gibbs", "temper"}), ("log_z", {"ais", "temper"})])
def test_strong_ones_are_sampled_with_an_error_that_holds(want, samplers):
    """The stated error is two standard errors; five of them happen by chance once in a million."""
    model = strong()
    answer = without_exact(model, np.random.default_rng(0), want, 8000)
    assert answer.converged and answer.method in samplers and off(model, answer, want) < 2.5 * answer.info["error"]


def test_log_z_has_its_bounds():
    """log Z comes with the proven bounds, whoever answers."""
    for model in (weak(), strong()):
        log_z = without_exact(model, np.random.default_rng(0), "log_z", 100).log_z
        assert log_z.lower <= bmlab.exact(model).log_z.value <= log_z.upper < np.inf


def test_log_z_is_where_it_is_proven_to_be():
    """A log Z outside of its proven bounds is moved to the nearer one."""
    proven = bmlab.Bounded(2.0, 0.0, 1.0, 3.0)
    for value, there in ((0.5, 1.0), (2.5, 2.5), (3.5, 3.0)):
        answer = bmlab.Estimate(np.zeros(1), np.eye(1), bmlab.Bounded(value, 0.1))
        found = within(answer, proven).log_z
        assert (found.value, found.stderr, found.lower, found.upper) == (there, 0.1, 1.0, 3.0)


# The error that two orders state


def law_two_orders(state=try_bethe, kinds=KINDS, machines=3):
    """If mean field, TAP and Bethe converge to one valley, Bethe errs by no more than mean field and Bethe state."""
    stated = 0
    for number, kind in enumerate(kinds):
        for seed in range(machines):
            model, truth = known(kind, number, seed)
            for want in WANTED:
                trial = state(model, want)
                if not trial.doubt:
                    stated += 1
                    error = difference(model, trial.answer, truth, want)
                    assert error <= trial.error + 1e-9 * (1 + abs(truth.log_z)), (kind, seed, want)
    assert stated > machines * len(kinds) / 2


@cache
def known(kind, number, seed):
    """A machine and its exact answer."""
    rng = np.random.default_rng([10**7, number, seed])
    if kind in LARGE:
        return large_machine(kind, rng)
    model = random_machine(kind, rng, 16)
    return model, bmlab.exact(model, pairs="all")


def test_the_error_that_two_orders_state_holds():
    law_two_orders()


def test_it_holds_of_large_machines():
    law_two_orders(kinds=LARGE, machines=1)


def test_the_law_of_two_orders_can_fail():
    """TAP for mean field is too near to Bethe; and without 1/(1 - rho) the error is too small near criticality."""

    def by_tap(model, want):
        trial = try_bethe(model, want)
        return trial._replace(error=trial.error and difference(model, bmlab.tap(model, starts=5), trial.answer, want))

    with pytest.raises(AssertionError, match="repelling"):
        law_two_orders(by_tap, kinds=["repelling"])


@pytest.mark.parametrize("coupling", [0.5, 0.95, -10.0])
@every_want
def test_a_crowd_is_known_to_two_orders(want, coupling, n=200):
    """Its exact sum runs over the magnetisation.  Near criticality, without 1/(1 - rho), Bethe errs by more."""
    model = crowd(n, coupling)
    trial, truth = try_bethe(model, want), by_magnetisation(model)
    error = difference(model, trial.answer, truth, want)
    assert not trial.doubt and 0 < error < trial.error
    if coupling == 0.95 and want == "moments":
        assert error > difference(model, bmlab.mean_field(model), trial.answer, want)


def test_a_tree_is_left_to_bethe_where_mean_field_has_one_valley():
    """Bethe is exact there, so any error that is stated holds."""
    model = bmlab.BoltzmannMachine(bmlab.ising(40, coupling=0.3, periodic=False).weights, np.full(40, 0.1))
    trial = try_bethe(model, "log_z")
    assert trial.error > 0.1 and abs(trial.answer.log_z - bmlab.exact(model).log_z) < 1e-10


def test_theories_can_be_doubted():
    """Phases, cold glasses and strong triangles are; weak couplings are not."""
    assert try_bethe(weak(), "moments").doubt == ""
    assert "valleys" in try_bethe(strong(), "moments").doubt
    assert try_bethe(bmlab.medium().at(0.3), "moments").doubt
    assert try_bethe(bmlab.BoltzmannMachine(2 * (1 - np.eye(3)), [0.3, 0.2, 0.1]), "moments").doubt
    symmetric = crowd(16, 4.0)  # from m = 0 every theory stays there, between the phases
    with patch("bmlab.choosing.VALLEY_STARTS", 1):
        assert "has not converged" in try_bethe(symmetric, "moments").doubt
    for rho, reliable in ((0.99, True), (1.0, False), (1.5, False), (40.0, False)):
        with patch("bmlab.choosing.amplification", return_value=rho):
            trial = try_bethe(weak(), "moments")
        assert (trial.error > 0 and not trial.doubt) if reliable else (np.isnan(trial.error) and "rho" in trial.doubt)


@every_want
def test_samples_have_a_veto(want):
    """Samples further from Bethe than both errors allow are a doubt, but not if they are in doubt themselves."""
    model = weak()
    theory, samples = try_bethe(model, want), Trial("exact", bmlab.exact(model.at(0.5)), 1e-9)
    assert contradicted(model, theory, Trial("exact", bmlab.exact(model), 1e-9), want) is theory
    assert "exact is" in contradicted(model, theory, samples, want).doubt
    assert contradicted(model, theory, samples._replace(error=100.0), want) is theory
    assert contradicted(model, theory, samples._replace(doubt="so it is"), want) is theory


# The whole rule


def bits_of(*answers):
    """All numbers of answers of auto() and bracket(), to the bit."""
    return [
        (a.log_z.lower, a.log_z.upper, a.bounds)
        if isinstance(a, bmlab.Bracket)
        else (a.method, a.message, a.mean.tobytes(), a.covariance.tobytes(), str(a.log_z))
        for a in answers
    ]


def law_same_bits(work):
    """A clock that jumps by ten seconds at each look changes no bit."""
    alone, clock = bits_of(*work()), count(0, 10.0).__next__
    readers = [m for name, m in sys.modules.items() if name.startswith("bmlab") and hasattr(m, "perf_counter")]
    with ExitStack() as stack:
        for owner, name in [(time, "monotonic"), *((module, "perf_counter") for module in [time, *readers])]:
            stack.enter_context(patch.object(owner, name, clock))
        assert bits_of(*work()) == alone


@exhaustive
@pytest.mark.slow
def test_the_clock_decides_nothing():
    glass = bmlab.sherrington_kirkpatrick(45, rng=np.random.default_rng(0), scale=1.5)

    def work():
        for model in (glass, bmlab.ising((12, 12)).at(2.2)):
            yield auto(model, rng=0, n_sweeps=20)
            yield auto(model, rng=0, n_sweeps=20, want="log_z")
        yield bmlab.bracket(glass, rng=0)

    law_same_bits(work)


def test_more_sweeps_are_more_work():
    """Four times the sweeps halve the error of samples; the standard errors of 32 groups are known to 12 %."""
    model = machine(14, 3)
    answers = [without_exact(model, np.random.default_rng(0), "moments", n) for n in (500, 2000, 8000)]
    errors = [answer.info["error"] for answer in answers]
    assert {answer.method for answer in answers} == {"gibbs"}
    assert errors[0] > 1.4 * errors[1] > 1.4 * 1.4 * errors[2]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gets_an_answer(kind):
    """With an error if that is reliable, and nan if it is not."""
    model = random_machine(kind, np.random.default_rng(3), 16)
    answer = without_exact(model, np.random.default_rng(0), "moments", 50)
    assert np.isfinite(answer.mean).all() and answer.message
    assert answer.info["error"] >= 0 if answer.converged else np.isnan(answer.info["error"])


def test_what_has_not_converged_warns_once_and_says_why():
    """In the cold a hundred chains of a glass do not move, and ladders that are too short do not help."""
    glass = bmlab.sherrington_kirkpatrick(40, rng=np.random.default_rng(0)).at(0.05)
    with pytest.warns(bmlab.NotConverged) as seen:
        answer = auto(glass, rng=0, n_sweeps=20)
    assert [str(one.message) for one in seen] == [answer.message] and seen[0].filename == __file__
    assert not answer.converged and np.isnan(answer.info["error"])
    assert answer.message.startswith("exact would take") and answer.message.endswith(
        "has not converged. Raise n_sweeps."
    )


# The referee of its benchmark


def test_crowds_know_their_exact_answer():
    model = replace(crowd(12, 0.7).at(1.3), biases=np.full(12, 0.2), offset=0.4)
    assert difference(model, by_magnetisation(model), bmlab.exact(model), "moments") < 1e-14
    assert abs(by_magnetisation(model).log_z - bmlab.exact(model).log_z) < 1e-13
