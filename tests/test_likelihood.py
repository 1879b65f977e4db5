"""The clamped phase: three algorithms to one answer, sparse or dense, with errors if it sampled."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from test_contract import law_errors_add, machine

import bmlab
from bmlab.learn.likelihood import log_ratio

DATA = bmlab.states(4)[[0, 3, 3, 5, 14, 9]]


def uncoupled_hidden(seed=0):
    model = machine(7, seed, temperature=1.4, offset=0.3)
    weights = np.array(model.weights)
    weights[4:, 4:] = 0
    return bmlab.BoltzmannMachine(weights, model.biases, 1.4, 0.3)


MACHINES = machine(4, temperature=1.4), uncoupled_hidden(), machine(7, temperature=1.4, offset=0.3)


def by_definition(model, data):
    """Average over the rows of sums over the states that agree with the known units: (mean, corr, log Z)."""
    s, answers = bmlab.states(model.n), []
    for v in data:
        own = s[((s[:, : len(v)] == v) | np.isnan(v)).all(1)]
        logs = -model.energy(own) / model.temperature
        p = np.exp(logs - np.logaddexp.reduce(logs))
        answers.append((p @ own, own.T @ (p[:, None] * own), np.logaddexp.reduce(logs)))
    return [np.mean([a[k] for a in answers], axis=0) for k in range(3)]


def missing(data, seed=0):
    """The data with a third of its entries missing; two rows whole, one without any."""
    holes = np.random.default_rng(seed).random(data.shape) < 1 / 3
    holes[[0, 3]], holes[1] = False, True
    return np.where(holes, np.nan, data)


@pytest.mark.parametrize("model", MACHINES, ids=["nothing hidden", "hidden units apart", "hidden units coupled"])
@pytest.mark.parametrize("data", [DATA, missing(DATA)], ids=["whole", "missing"])
def test_the_clamped_phase_is_its_definition(model, data):
    answer, (mean, corr, log_z) = bmlab.clamped(model, data), by_definition(model, data)
    assert np.abs(answer.mean - mean).max() < 1e-12 and np.abs(answer.corr - corr).max() < 1e-12
    assert abs(answer.log_z.value - log_z) < 1e-12 and answer.log_z.lower == answer.log_z.upper


def told_of_data(method):
    """All numbers of a clamped phase whose hidden units are coupled, and the errors that it states."""
    answer = bmlab.clamped(machine(7, temperature=1.4), DATA, method)
    numbers, errors = [answer.mean, answer.corr.ravel()], [answer.mean_stderr, answer.corr_stderr.ravel()]
    return np.hstack([*numbers, answer.log_z.value]), np.hstack([*errors, answer.log_z.stderr])


law_errors = partial(law_errors_add, told_of_data)


def test_errors_of_patterns_add_in_squares():
    law_errors()


def test_the_state_of_a_clamped_phase_can_be_handed_back():
    model = machine(7, temperature=2.0)
    first = bmlab.clamped(model, DATA, bmlab.mean_field)
    again = bmlab.clamped(model, DATA, bmlab.mean_field, start=first.state)
    assert first.converged and np.allclose(first.mean, again.mean, atol=1e-10)


@pytest.mark.parametrize("model", MACHINES, ids=["nothing hidden", "hidden units apart", "hidden units coupled"])
@pytest.mark.parametrize("start", ["warm", 3, np.zeros(7), {}])
def test_a_start_that_is_no_state_of_a_clamped_phase_is_refused(model, start):
    with pytest.raises(ValueError, match=r"start must be the `state` of a clamped\(\) answer, found .*; leave it out"):
        bmlab.clamped(model, DATA, bmlab.mean_field, start=start)


def law_log_prob():
    """log p of each row: its mean is the log-likelihood, and over all visible states p sums to one."""
    for model in MACHINES:
        log_p = bmlab.log_prob(model, DATA)
        assert log_p.shape == (6,) and (log_p < 0).all()
        mean = bmlab.log_likelihood(bmlab.clamped(model, DATA), bmlab.exact(model))
        assert abs(log_p.mean() - mean) < 1e-12
        assert abs(np.exp(bmlab.log_prob(model, bmlab.states(4))).sum() - 1) < 1e-12
        for row, one in zip(missing(DATA), bmlab.log_prob(model, missing(DATA)), strict=True):
            alone = bmlab.log_likelihood(bmlab.clamped(model, row), bmlab.exact(model))
            assert abs(one - alone) < 1e-12


def test_log_prob_of_each_row():
    law_log_prob()
    assert np.isnan(bmlab.log_prob(machine(4), DATA, partial(bmlab.visited, rng=0))).sum() == 0
    with pytest.warns(bmlab.NotConverged):
        assert np.isnan(bmlab.log_prob(machine(4), DATA, partial(bmlab.gibbs, rng=0, n_sweeps=2))).all()


def test_log_prob_states_its_error():
    """By AIS within four errors of the sum over the states of hidden units; exact has none, a bound states none."""
    model = bmlab.sherrington_kirkpatrick(14, rng=0)
    rows = bmlab.sample(model, 3, rng=0)[:, :2]  # twelve hidden units: one machine a pattern
    true, none = bmlab.log_prob(model, rows, return_std=True)
    log_p, stderr = bmlab.log_prob(model, rows, partial(bmlab.ais, rng=0, n_temperatures=300), return_std=True)
    assert (none == 0).all() and (stderr > 0).all() and (abs(log_p - true) < 4 * stderr).all()
    free = bmlab.ais(model, rng=0, n_temperatures=300).log_z.stderr
    assert (stderr > free).all(), "the clamped machines add theirs"
    with pytest.warns(bmlab.NotConverged):
        assert np.isnan(bmlab.log_prob(model, rows, bmlab.mean_field, return_std=True)[1]).all()


def test_log_prob_is_priced_before_it_starts():
    """One machine too large; and many that are not, one for each row."""
    large = bmlab.sherrington_kirkpatrick(60, rng=0)
    with pytest.raises(ValueError, match=r"log Z of 1 machines, .*bmlab.ais"):
        bmlab.log_prob(large, np.ones((1, 60)))
    rows = bmlab.spins(np.random.default_rng(0).integers(0, 2, (3000, 20)))
    with pytest.raises(ValueError, match=r"log Z of 2,9\d\d machines, .*bmlab.ais"):  # a few rows come twice
        bmlab.log_prob(bmlab.sherrington_kirkpatrick(52, rng=0), rows)


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("spoilt", ["weights", "biases", "temperature", "offset"])
@pytest.mark.parametrize("clamped_phase", [bmlab.clamped, bmlab.clamped_mean_field])
def test_a_pair_of_different_machines_is_refused(spoilt, clamped_phase):
    model = machine(4, temperature=1.4)
    other = replace(model, **{spoilt: getattr(model, spoilt) * 1.01 + (spoilt == "offset")})
    clamped, free = clamped_phase(model, DATA[:, :2]), bmlab.bethe(model)
    assert bmlab.log_likelihood(clamped, bmlab.exact(replace(model, weights=sparse.csr_array(model.weights)))) <= 0
    for wrong in (bmlab.log_likelihood, partial(bmlab.gradient, model)):
        with pytest.raises(ValueError, match="free must be "):
            wrong(clamped, bmlab.bethe(other))
    with pytest.raises(ValueError, match="clamped must be "):
        bmlab.gradient(other, clamped, free)


def test_what_is_typed_first_is_told_what_to_type():
    """A machine with its data, two free phases, and phases in the wrong order."""
    model = machine(4)
    seen, free = bmlab.clamped(model, DATA), bmlab.exact(model)
    for wrong, says in (
        ((model, DATA), r"log_likelihood\(bmlab.clamped\(model, data\), bmlab.exact\(model\)\)"),
        ((DATA, model), r"log_likelihood\(bmlab.clamped\(model, data\), bmlab.exact\(model\)\)"),
        ((seen, model), r"log_likelihood\(bmlab.clamped\(model, data\), bmlab.exact\(model\)\)"),
        ((seen, DATA), "free must be an Estimate"),
        ((free, seen), "pass the clamped phase first"),
        ((free, free), r"clamped must be the phase .* bmlab.clamped\(model, data\)"),
        ((seen, seen), r"free must be .* bmlab.exact\(model\)"),
    ):
        with pytest.raises(ValueError, match=says):
            bmlab.log_likelihood(*wrong)


@pytest.mark.parametrize("temperature", [1, 2, 0.7])
def test_the_slope_is_the_difference_of_the_phases_over_t(temperature):
    model = machine(4, temperature=temperature)
    clamped, free = bmlab.clamped(model, DATA), bmlab.exact(model)
    d_weights, d_biases = bmlab.gradient(model, clamped, free)
    assert d_weights == pytest.approx((clamped.corr - free.corr) / temperature, rel=1e-12, abs=1e-15)
    assert d_biases == pytest.approx((clamped.mean - free.mean) / temperature, rel=1e-12, abs=1e-15)


def test_clamping_never_raises_log_z():
    """If two approximate values say that it does, the log of their ratio is 0, as its bounds."""
    ratio = log_ratio(bmlab.Bounded(1.5, 0.1, 1.0, 2.0), bmlab.Bounded(1.0, 0.2, 0.5, 1.2))
    assert (ratio.value, ratio.stderr, ratio.upper) == (0, np.hypot(0.1, 0.2), 0)
    assert ratio.lower == pytest.approx(1.0 - 1.2)
