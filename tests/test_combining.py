"""combine: independent runs as one, with the error and the R-hat of all of them."""

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from selection import one_of, slow
from test_contract import full, law_few_chains

import bmlab
from bmlab.infer.sampling.averages import average
from bmlab.infer.sampling.diagnostics import RHAT_LIMIT
from bmlab.methods import METHODS

quietly = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
GLASS = bmlab.medium().at(2.0)
VALLEYS = bmlab.ising((4, 4)).at(0.5)  # a chain stays in one of two


def as_run(model, states):
    """The Estimate of a run that has passed these states (sweeps, chains, n)."""
    found = average(model, [states.swapaxes(1, 2).astype(np.int8)], states.shape[1], len(states))
    info = {"rhat": found.rhat, "ess": found.ess, "n_draws": found.n_draws, "split": found.split}
    errors = {"mean_stderr": found.mean_stderr, "corr_stderr": found.corr_stderr}
    return bmlab.Estimate(
        found.mean, found.corr, **errors, method="gibbs", state=states[-1], draws=states, info=info, model=model
    )


@quietly
@pytest.mark.parametrize("model", [GLASS, bmlab.ising((3, 4)).at(3.0)], ids=["dense", "sparse"])
@pytest.mark.parametrize("cuts", [[20], [10, 30], [1, 2, 17, 18]])
def test_the_parts_of_a_run_are_the_run_again(model, cuts):
    """Means, correlations, R-hat and chains, however the chains of a run are shared out, and in two steps as in one."""
    states = bmlab.gibbs(model, rng=0, n_chains=40, n_sweeps=16, n_draws=16).draws
    whole, parts = as_run(model, states), [as_run(model, part) for part in np.split(states, cuts, axis=1)]
    for answer in (bmlab.combine(parts), bmlab.combine([parts[0], bmlab.combine(parts[1:])])):
        assert np.abs(answer.mean - whole.mean).max() < 1e-14
        assert np.nanmax(np.abs(full(answer.corr) - full(whole.corr))) < 1e-14
        assert abs(answer.info["rhat"] - whole.info["rhat"]) < 1e-6  # sums of sixteen numbers in single precision
        assert (answer.state == whole.state).all() and (answer.draws == states).all()
        assert answer.info["n_draws"] == 640 and sparse.issparse(answer.corr) == model.is_sparse


def combined(model, rng, runs, n_chains):
    seeds = np.random.default_rng(rng).spawn(runs)
    return bmlab.combine([bmlab.gibbs(model, rng=seed, n_chains=n_chains, burn_in=30, n_sweeps=60) for seed in seeds])


@quietly
@pytest.mark.parametrize(("runs", "n_chains"), [(2, 32), (5, 4), pytest.param(32, 1, marks=pytest.mark.slow)])
def test_the_error_of_all_runs_covers(runs, n_chains):
    assert law_few_chains(partial(combined, runs=runs, n_chains=n_chains), runs=min(10, 160 // runs)) < 1


def test_weights_are_averaged_and_not_their_logs():
    """As one run of all walks: Z is the mean of the weights, whatever their number in each run."""
    runs = [bmlab.ais(GLASS, rng=seed, n_chains=count, n_temperatures=60) for seed, count in enumerate((20, 50, 200))]
    answer, log_w = bmlab.combine(runs), np.concatenate([run.state.log_weights for run in runs])
    assert abs(np.exp(answer.log_z - log_w.max()) - np.exp(log_w - log_w.max()).mean()) < 1e-13
    assert answer.converged and answer.info["runs"] == 3 and len(answer.state.s) == 270
    assert answer.log_z.stderr < min(run.log_z.stderr for run in runs)
    assert abs(answer.log_z - bmlab.exact(GLASS).log_z) < 5 * answer.log_z.stderr


@quietly
def test_a_new_method_of_chains_combines_as_gibbs_does(monkeypatch):
    monkeypatch.setitem(METHODS, "other", replace(METHODS["gibbs"], name="other"))
    runs = [bmlab.gibbs(GLASS, rng=seed, n_chains=40, n_sweeps=100) for seed in range(3)]
    one, other = bmlab.combine(runs), bmlab.combine(replace(run, method="other") for run in runs)
    assert other.method == "other" and other.converged == one.converged and other.info.keys() == one.info.keys()
    assert np.array_equal(one.mean, other.mean) and np.array_equal(one.state, other.state)


@quietly
def test_errors_of_ladders_add_in_squares():
    ladder = partial(bmlab.temper, GLASS, temperatures=[2, 4, np.inf], burn_in=20, n_sweeps=150)
    runs = [ladder(rng=seed, n_ladders=8) for seed in range(4)]
    answer = bmlab.combine(runs)
    assert abs(answer.log_z - np.mean([run.log_z for run in runs])) < 1e-12
    assert abs(answer.log_z.stderr - np.linalg.norm([run.log_z.stderr for run in runs]) / 4) < 1e-12
    assert answer.state.s.shape == (32, 3, 10) and bmlab.temper(GLASS, rng=0, start=answer.state, n_sweeps=20)
    assert answer.converged == (answer.info["rhat"] < RHAT_LIMIT and answer.info["round_trips"] >= 10)


def test_runs_that_sit_in_different_valleys_say_so():
    """Each of eight chains agrees with itself; together they err by the spread of the eight."""
    starts = np.where(np.arange(8)[:, None, None] % 2, 1.0, -1.0) * np.ones((8, 1, 16))
    with pytest.warns(bmlab.NotConverged):
        runs = [bmlab.gibbs(VALLEYS, rng=seed, start=start) for seed, start in enumerate(starts)]
        answer = bmlab.combine(runs)
    assert answer.info["rhat"] > 2 and not answer.converged and "they disagree" in answer.message
    assert (np.abs(answer.mean) < 2 * answer.mean_stderr).all()  # 0 is true


@quietly
def test_one_run_keeps_the_errors_that_it_states():
    """Also if its chains disagree: a single run has no spread."""
    for run in (bmlab.gibbs(VALLEYS, rng=0, n_sweeps=50), bmlab.temper(GLASS, rng=0, n_sweeps=50)):
        alone = bmlab.combine([run])
        assert run.info["rhat"] >= RHAT_LIMIT and not alone.converged
        assert np.array_equal(alone.mean_stderr, run.mean_stderr) and alone.log_z.stderr == run.log_z.stderr
        assert np.array_equal(full(alone.corr_stderr), full(run.corr_stderr), equal_nan=True)


SAMPLERS = {
    "gibbs": partial(bmlab.gibbs, n_chains=4),
    "temper": partial(bmlab.temper, n_ladders=3, burn_in=5),
    "ais": partial(bmlab.ais, n_chains=20),
}


def ran(sampler, model, rng, size=30):
    length = "n_temperatures" if sampler == "ais" else "n_sweeps"
    return SAMPLERS[sampler](model, rng=rng, **{length: size})


@quietly
@pytest.mark.parametrize(
    "kind", one_of([np.random.PCG64, np.random.MT19937, np.random.SFC64, np.random.Philox], mark=slow)
)
@pytest.mark.parametrize("model", [GLASS, bmlab.ising((3, 4)), VALLEYS.at(1e-3)], ids=["dense", "sparse", "cold"])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_runs_of_the_same_random_numbers_are_refused(sampler, model, kind):
    """Copies, one seed twice, one generator sent to all workers, other lengths, inside a combined answer.

    Runs of seeds of their own, or of one generator that goes on, are taken, also if all of them see one state.
    """
    run, rng = partial(ran, sampler, model), np.random.Generator(kind(1))
    sent = [run(pickle.loads(pickle.dumps(rng))) for _ in range(2)]
    one, next_one, other = run(rng), run(rng), run(np.random.Generator(kind(2)))
    together = bmlab.combine([one, next_one, other])
    assert together.info["runs"] == 3
    for twice in ([one, one], sent, [one, run(np.random.Generator(kind(1)), size=40)], [together, next_one]):
        with pytest.raises(
            ValueError, match=r"independent runs, found the random numbers of number 0 again in number 1"
        ):
            bmlab.combine(pickle.loads(pickle.dumps(answer)) for answer in twice)


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_what_does_not_belong_together_is_refused():
    run = partial(bmlab.gibbs, rng=0, n_chains=4, n_sweeps=8)
    for answers, reason in (
        ([], "found none"),
        ([bmlab.exact(GLASS)], "found one of exact"),
        (GLASS, "found a BoltzmannMachine"),
        ([run(GLASS), run(GLASS.at(3.0))], "found another in number 1"),
        ([run(GLASS), bmlab.ais(GLASS, rng=0, n_chains=20, n_temperatures=10)], "found another in number 1"),
    ):
        with pytest.raises(ValueError, match=f"^answers must be .*{reason}"):
            bmlab.combine(answers)


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("temperature", [0.3, 5.0])
def test_it_says_that_runs_disagree_where_it_has_not_converged(temperature):
    model = bmlab.ising((4, 4)).at(temperature)
    answer = bmlab.combine([bmlab.gibbs(model, rng=seed, n_chains=20, n_sweeps=200) for seed in range(3)])
    assert answer.converged == (temperature > 1) == ("they disagree" not in answer.message)
