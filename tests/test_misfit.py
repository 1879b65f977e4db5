"""Fit.misfit: how far a machine is from its data, by theory, by draws, and how often it is wrongly doubted."""

import warnings
from functools import partial

import numpy as np
import pytest
from scipy import stats
from test_ascent import blank

import bmlab
from bmlab.learn import misfit as misfits
from bmlab.learn.pseudolikelihood import _pulled

quietly = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")


def driven(n, n_rows=20_000):
    """Units whose rates follow one gain: no machine with pairs alone has such rows."""
    rng = np.random.default_rng(0)
    gain, base = rng.normal(size=(n_rows, 1)), rng.normal(-3.0, 0.5, n)
    return np.where(rng.random((n_rows, n)) < 1 / (1 + np.exp(-(base + 1.2 * gain))), 1.0, -1.0)


def spread(x, count):
    """Half of the distance from x to the farther end of Wilson's interval of two errors."""
    middle, half = x / (1 + 4 / count), 2 / (1 + 4 / count) * np.sqrt((1 - x**2) / count + 4 / count**2)
    return np.maximum(np.abs(middle + half - x), np.abs(middle - half - x)) / 2


def largest_difference(fit, data):
    """Of any mean and pair between a machine and whole rows, in errors of the rows."""
    answer, count = bmlab.exact(fit.model), len(data)
    corr, mean = data.T @ data / count, data.mean(0)
    pairs = np.triu_indices(len(mean), 1)
    off = np.append(
        (abs(answer.corr - corr) / spread(corr, count))[pairs], abs(answer.mean - mean) / spread(mean, count)
    )
    return off.max()


def true_rows(n, scale, n_rows, seed):
    """Rows of a random machine, a glass of many units would freeze at T = scale."""
    rng = np.random.default_rng([n, n_rows, seed])
    glass = bmlab.sherrington_kirkpatrick(n, rng=rng, scale=scale)
    model = bmlab.BoltzmannMachine(glass.weights, 0.3 * scale * rng.normal(size=n))
    return bmlab.sample(model, n_rows, rng=rng)


DATA = true_rows(6, 0.7, 500, 0)
LEARNERS = {
    "pseudolikelihood": bmlab.pseudolikelihood,
    "mean field inverted": bmlab.invert_mean_field,
    "TAP inverted": bmlab.invert_tap,
    "Bethe inverted": bmlab.invert_bethe,
    "fit by mean field": partial(bmlab.fit, blank(6), infer=bmlab.mean_field, steps=300, rate=0.2),
    "fit by exact": partial(bmlab.fit, blank(6), steps=20, rate=0.2),
    "maximize by bethe": partial(bmlab.maximize, blank(6), infer=bmlab.bethe),
    "maximize": partial(bmlab.maximize, blank(6)),
}


@quietly
@pytest.mark.parametrize("learn", LEARNERS.values(), ids=LEARNERS)
def test_it_is_the_largest_difference_of_any_learner(learn):
    fit = learn(data=DATA)
    right = largest_difference(fit, DATA)
    assert right <= 5 or not fit.converged
    assert fit.misfit == pytest.approx(right, abs=1e-6)


@quietly
def test_a_machine_that_is_not_the_data_s_has_not_converged_and_the_advice_works():
    """Units that follow a gain: pseudolikelihood is on too often, says so, and fit() by chains goes to the rows."""
    data = driven(20)
    with pytest.warns(
        bmlab.NotConverged,
        match=r"errors off, more than the penalty allows; go on from there by maximize\(\), or fit\(\) with",
    ):
        found = bmlab.pseudolikelihood(data, penalty=1 / len(data))
    assert not found.converged and found.misfit > 5 and largest_difference(found, data) > 20
    chains = partial(bmlab.gibbs, rng=np.random.default_rng(0), n_sweeps=10)
    again = bmlab.fit(found.model, data, chains, steps=300, rate=np.linspace(0.1, 0, 300), every=300)
    assert largest_difference(again, data) < 5
    assert bmlab.maximize(found.model, data).misfit < 0.01


@pytest.mark.parametrize("scale", [0.3, 0.6, 1.0])
def test_true_rows_are_not_doubted(scale):
    """Of 60 tables, at most as many as one in a hundred makes once in ten thousand times."""
    doubted = tried = 0
    for n in (4, 8, 12):
        for n_rows in (100, 3000):
            for seed in range(10):
                rows = true_rows(n, scale, n_rows, seed)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", bmlab.NotConverged)
                    fit = bmlab.pseudolikelihood(rows, penalty=1 / n_rows, bias_penalty=1 / n_rows)
                doubted, tried = doubted + (fit.misfit > 5), tried + 1
    assert doubted <= stats.binom.ppf(1 - 1e-4, tried, 0.01)


@quietly
@pytest.mark.parametrize("scale", [1.0, 4.0, 8.0])
def test_draws_doubt_no_true_rows_in_deep_cold(monkeypatch, scale):
    """Chains that do not mix leave it unknown; of 12 tables at most 2 are doubted (one in a hundred: once in 4000)."""
    monkeypatch.setattr(misfits, "EXACT_SECONDS", -1.0)
    fits = [
        bmlab.pseudolikelihood(true_rows(8, scale, 1000, seed), penalty=1e-3, bias_penalty=1e-3) for seed in range(12)
    ]
    assert sum(fit.misfit > 5 for fit in fits) <= 2
    assert scale > 1 or not any(np.isnan(fit.misfit) for fit in fits)


def test_what_draws_cannot_tell_is_unknown_and_says_so(monkeypatch):
    monkeypatch.setattr(misfits, "EXACT_SECONDS", -1.0)
    monkeypatch.setattr(misfits, "MAX_DRAWN_WEIGHTS", 0)
    found = bmlab.pseudolikelihood(DATA)
    assert found.converged and np.isnan(found.misfit) and "from the data's is unknown" in found.message


@quietly
@pytest.mark.parametrize("options", [{"penalty": 0.05}, {"l1": 0.05}, {"penalty": 0.05, "bias_penalty": 0.05}], ids=str)
def test_a_penalty_is_allowed_what_it_does(options):
    """At the top of the penalised likelihood a pair is off by penalty * |w| or l1, and that is no misfit.

    L1 is climbed by fit(): to a slope that leaves a difference of 1e-3 errors.
    """
    rows = true_rows(5, 0.7, 5000, 1)
    learn = (
        partial(bmlab.fit, blank(5), rows, steps=500, rate=0.2)
        if "l1" in options
        else partial(bmlab.maximize, blank(5), rows)
    )
    fit = learn(**options)
    assert largest_difference(fit, rows) > 0.5 and fit.misfit < 1e-3


def test_the_pull_of_a_row_is_what_its_absence_moves():
    """The error of a difference adds up how far each row pulls a moment: left out, the machine moves by as much."""
    rows, pairs = DATA[:200], np.triu_indices(6, 1)
    model = bmlab.pseudolikelihood(rows).model
    chi = misfits.susceptibility(model, pairs, 0, bmlab.exact(model))
    pull = _pulled(model, rows, np.full(200, 1 / 200), pairs, chi, np.ones(15, bool), 0, 0)
    for k in range(5):
        without = bmlab.exact(bmlab.pseudolikelihood(np.delete(rows, k, 0)).model)
        moved = bmlab.exact(model).corr[0, 1] - without.corr[0, 1]
        assert moved * 200 == pytest.approx(pull[k], abs=0.1)


@quietly
def test_hidden_units_are_compared_by_what_they_learn():
    """Of a restricted machine the clamped and the free <v h> and means; of chains that agree, near those of exact."""
    start = bmlab.restricted(np.random.default_rng(0).normal(scale=0.1, size=(6, 2)), np.zeros(6), np.zeros(2))
    fit = bmlab.pcd(start, DATA, rng=0, steps=200, rate=0.1)
    clamped, free = bmlab.clamped(fit.model, DATA), bmlab.exact(fit.model)
    off = np.append(
        (abs(clamped.corr - free.corr) / spread(clamped.corr, 500))[:6, 6:],
        abs(clamped.mean - free.mean) / spread(clamped.mean, 500),
    )
    assert fit.misfit == pytest.approx(off.max(), abs=1e-6) and "errors" in fit.message


@quietly
def test_every_fit_of_a_path_is_compared():
    path = bmlab.penalty_path(DATA, rng=0, n_folds=2, penalties=[0.1, 0.01])
    for fit, penalty in zip(path.fits, (0.1, 0.01), strict=True):
        assert fit.misfit == bmlab.pseudolikelihood(DATA, penalty=penalty).misfit < 5
