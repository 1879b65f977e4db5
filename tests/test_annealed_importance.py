"""ais: no bias in exp(log Z), honest errors, the class that is summed over, and its doubts."""

import warnings

import numpy as np
import pytest
from scipy import stats
from test_contract import full, machine, near

import bmlab
from bmlab.infer.sampling.annealed_importance import Runs, estimate_of

quietly = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")


MACHINES = {
    "full": machine(8, 8, scale=2.0, temperature=1.4, offset=3.0),
    "restricted": bmlab.restricted(np.random.default_rng(0).normal(size=(9, 4)), np.linspace(-1, 1, 9), np.zeros(4)),
    "more hidden than visible": bmlab.restricted(np.random.default_rng(0).normal(size=(3, 9)), np.zeros(3), np.ones(9)),
    "lattice": bmlab.ising((4, 5), field=0.1).at(2.0),
}


@quietly
@pytest.mark.parametrize("model", MACHINES.values(), ids=MACHINES)
def test_the_weights_have_no_bias_however_short_the_ladder(model):
    """<exp(log Z)> = Z on a ladder far too short: the mean of 4000 weights is within 5 of its standard errors."""
    answer = bmlab.ais(model, rng=np.random.default_rng(0), n_chains=4000, n_temperatures=4)
    ratio = np.exp(answer.state.log_weights - bmlab.exact(model).log_z.value)
    assert ratio.std() > 0.1 and abs(ratio.mean() - 1) < 5 * ratio.std() / np.sqrt(len(ratio))


@pytest.mark.slow
@quietly
def test_the_stated_error_covers_where_weights_are_heavy_tailed():
    """A restricted machine whose layers pull hard, few temperatures: 2 stderr cover as often as they should, at least.

    Of 150 runs 95 %, finite to 1.8 %, of which four.  The spread of the weights alone covers less.
    """
    rng = np.random.default_rng(0)
    model = bmlab.restricted(rng.normal(size=(30, 10)), rng.normal(size=30), np.zeros(10)).at(0.6)
    true = bmlab.exact(model).log_z
    found = [bmlab.ais(model, rng=seed, n_chains=50, n_temperatures=12).log_z for seed in range(150)]
    assert np.mean([abs(log_z - true) < 2 * log_z.stderr for log_z in found]) > 0.95 - 0.072


def law_schedule(n_temperatures=100):
    """Steps are of equal spread of the weights: the length int sd(d log f) d beta, by all states, is shared evenly.

    A restricted machine without biases begins at fair coins, and its larger layer is summed over: f of the others is
    prod_i 2 cosh(beta h_i).  A pilot of 502 chains knows a spread to 1/sqrt(1004) = 3.2 %, and a share F of the length
    to F (1 - F) of the difference of two of these, 1.1 % at the most, of which five are allowed; equal steps of beta
    would be off by twice as much.
    """
    w = np.random.default_rng(1).normal(size=(8, 3))
    betas = bmlab.ais(
        bmlab.restricted(w, np.zeros(8), np.zeros(3)), rng=0, n_chains=2500, n_temperatures=n_temperatures
    ).state.betas
    beta = np.linspace(0, 1, 1000)
    field = beta[:, None, None] * (bmlab.states(3) @ w.T)
    log_f = np.logaddexp(field, -field).sum(-1)  # (betas, states)
    p, gain = np.exp(log_f - np.logaddexp.reduce(log_f, axis=1)[:, None])[:-1], np.diff(log_f, axis=0)
    spread = np.sqrt((p * gain**2).sum(1) - (p * gain).sum(1) ** 2)
    length = np.append(0, np.cumsum(spread)) / spread.sum()
    allowed, even = 5 * np.sqrt(2) / 4 / np.sqrt(1004), np.linspace(0, 1, n_temperatures + 1)
    assert np.abs(np.interp(betas, beta, length) - even).max() < allowed
    assert np.abs(length - beta).max() > 2 * allowed


def test_the_pilot_makes_steps_of_equal_spread():
    law_schedule()


@quietly
@pytest.mark.parametrize("shape", [(1, 20), (20, 1)], ids=["leaves last", "leaves first"])
def test_the_largest_class_is_summed_over(shape):
    """The leaves of a star: a step's weight depends on its middle alone, so two steps have four weights at most."""
    rng = np.random.default_rng(0)
    star = bmlab.restricted(rng.normal(size=shape), *(rng.normal(size=n) for n in shape))
    weights = bmlab.ais(star, rng=rng, n_chains=100, n_temperatures=2).state.log_weights
    assert len(set(weights.round(6))) <= 4


@pytest.mark.parametrize("model", MACHINES.values(), ids=MACHINES)
def test_the_weighted_moments_are_those_of_the_machine(model):
    """Within 5 standard errors in every entry, some 200 of them."""
    answer, true = bmlab.ais(model, rng=np.random.default_rng(1), n_temperatures=100), bmlab.exact(model)
    assert (np.abs(answer.mean - true.mean) <= 5 * answer.mean_stderr).all()
    assert near(full(answer.corr), full(true.corr), 5 * full(answer.corr_stderr) + 1e-12)


@pytest.mark.slow
def test_a_long_schedule_converges_and_a_short_one_says_that_it_has_not():
    model = bmlab.sherrington_kirkpatrick(20, rng=np.random.default_rng(0), scale=4.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = bmlab.ais(model, rng=np.random.default_rng(0), n_chains=100, n_temperatures=300)
    assert answer.converged and answer.message.endswith("of its 100 runs; it needs 20%.")
    with pytest.warns(bmlab.NotConverged, match="of its 100 runs.*Raise n_temperatures") as caught:
        answer = bmlab.ais(model, rng=np.random.default_rng(0), n_chains=100, n_temperatures=4)
    assert not answer.converged and answer.info["ess"] < 10 and caught[0].filename == __file__


@quietly
def test_it_is_believed_where_enough_runs_count():
    """Of `count` runs k weigh alike and the others nothing: k count, and at least a fifth of all must, and ten."""
    model, rng = bmlab.BoltzmannMachine(np.zeros((3, 3)), np.zeros(3)), np.random.default_rng(0)
    for count, least in ((200, 40), (100, 20), (30, 10), (12, 10)):
        for k in (1, 9, 11, 19, 21, 39, 41):  # none at the edge, which rounding decides
            log_w = np.where(np.arange(count) < k, 0.0, -1000.0)
            answer = estimate_of(model, Runs(rng.choice([-1.0, 1.0], (count, 3)), log_w, np.array([0.0, 1.0])))
            effective = min(k, count)
            assert abs(answer.info["ess"] - effective) < 1e-9 and answer.converged == (effective >= least)


@pytest.mark.slow
@quietly
@pytest.mark.parametrize("count", [2, 3, 5, 10, 20])
@pytest.mark.parametrize("model", MACHINES.values(), ids=MACHINES)
def test_few_walks_state_an_honest_error_or_say_that_they_are_too_few(model, count):
    """900 walks, regrouped: 2 stated errors cover log Z as often as those of 32 groups, and fewer than ten never do.

    The share of 900 / count answers is finite to sqrt(0.05 * 0.95 count / 900), of which four are allowed.
    """
    true, runs = bmlab.exact(model).log_z, bmlab.ais(model, rng=0, n_chains=900, n_temperatures=40).state
    parts = np.split(np.arange(900), 900 // count)
    found = [estimate_of(model, Runs(runs.s[part], runs.log_weights[part], runs.betas)) for part in parts]
    inside = [abs(answer.log_z - true) < 2 * answer.log_z.stderr for answer in found]
    assert np.mean(inside) > 0.946 - 4 * np.sqrt(0.05 * 0.95 * count / 900)
    assert not any(answer.converged for answer in found) or count > 10
    assert all("too few to tell. Raise n_chains" in answer.message for answer in found if count < 10)


@quietly
@pytest.mark.parametrize("count", [2, 3, 5, 12, 40, 200])
def test_the_errors_of_few_walks_cover_rare_values_too(count):
    """Of independent walks of one weight, for any chance of +1: 2 errors cover 92 times in 100, by a sum over all.

    Wilson's interval of z = 2 covers at least so often (Brown, Cai and DasGupta 2001, Stat. Sci. 16, 101).
    """
    blank, plus = bmlab.BoltzmannMachine([[0]], [0]), np.arange(count + 1)
    found = [estimate_of(blank, Runs(np.where(np.arange(count) < k, 1.0, -1.0)[:, None], np.zeros(count), np.empty(0)))
             for k in plus]  # fmt: skip
    mean, error = np.array([[answer.mean[0], answer.mean_stderr[0]] for answer in found]).T
    for p in np.append(np.linspace(0.002, 0.998, 250), np.geomspace(1e-4, 0.1, 50)):
        inside = np.abs(mean - (2 * p - 1)) <= 2 * error
        assert stats.binom.pmf(plus, count, p) @ inside > 0.92
