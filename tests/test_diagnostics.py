"""R-hat, effective sizes and errors of series: those of ArviZ."""

import numpy as np
import pytest
from arviz_stats.base import array_stats

import bmlab
from bmlab.infer.sampling import averages, compiled_averages, diagnostics
from bmlab.infer.sampling.averages import average
from bmlab.infer.sampling.diagnostics import agreement, half_moments, mean_and_stderr


def walks(slowness, chains, draws, seed=0):
    """Return x_t = slowness x_{t-1} + noise, (chains, draws), from its own stationary law."""
    noise = np.random.default_rng(seed).normal(size=(chains, draws))
    noise[:, 0] /= np.sqrt(1 - slowness**2)
    for t in range(1, draws):
        noise[:, t] += slowness * noise[:, t - 1]
    return noise


@pytest.fixture(params=["numpy", "numba"])
def engine(request, monkeypatch):
    """Either engine, as if Numba had been loaded or not."""
    for module in (averages, diagnostics):
        monkeypatch.setattr(module, "numba_is_loaded", lambda: request.param == "numba")


def law_agreement(draws=7):
    """Of many series at once the worst by split R-hat, and the worst by the error of its mean."""
    series = [walks(slowness, 4, draws, seed) for seed, slowness in enumerate((0, 0.5, 0.9, -0.5, 0.99))]
    spans = np.array([*series, series[0] + 3 * np.arange(4)[:, None], np.sign(series[1])])
    rhat, ess = agreement(spans)
    assert abs(rhat - array_stats.rhat(spans, method="split").max()) < 1e-10 * rhat
    assert abs(ess - (spans.var((1, 2)) / array_stats.mcse(spans) ** 2).min()) < 1e-10 * ess


def law_agreement_without_numba(draws):
    """The same in NumPy alone, whatever other tests of this process have loaded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diagnostics, "numba_is_loaded", lambda: False)
        law_agreement(draws)


@pytest.mark.parametrize("draws", [*range(4, 16), 77, 400])
def test_agreement_is_that_of_arviz(draws, engine):
    law_agreement(draws)


def law_half_moments(seed):
    """Series as slow as they like, one that stands still, and one alone that is odd: to the roundings of their sums."""
    rng = np.random.default_rng(seed)
    chains, draws = 1 + seed % 4, int(rng.integers(4, 300))
    spans = np.array([*(walks(slowness, chains, draws, seed) for slowness in (0, 0.5, 0.99)), np.ones((chains, draws))])
    by_numba, found = compiled_averages.half_moments(spans, True), half_moments(spans, timed=True)
    for name, one, other in zip(found._fields, found, by_numba, strict=True):
        moving = slice(3) if name == "time" else slice(None)  # constant draws have none
        assert np.abs(one - other)[moving].max() < 1e-11 * (1 + np.abs(one)[moving].max())


@pytest.mark.parametrize("seed", range(8))
def test_moments_of_halves_are_the_same_whoever_finds_them(seed, monkeypatch):
    monkeypatch.setattr(diagnostics, "numba_is_loaded", lambda: False)
    law_half_moments(seed)


def law_sums(seed):
    """States in blocks of any length: sums and products of whole numbers are the same to the bit."""
    rng = np.random.default_rng(seed)
    n, n_chains, n_sweeps = int(rng.integers(0, 12)), int(rng.integers(1, 40)), int(rng.integers(1, 400))
    states = rng.choice([-1, 1], (n_sweeps, n, n_chains)).astype(np.int8)
    blocks = np.split(states, np.sort(rng.integers(0, n_sweeps + 1, 5)))
    n_spans = int(rng.integers(1, n_sweeps + 1))
    part = np.arange(n_spans) * (n_parts := int(rng.integers(1, n_spans + 1))) // n_spans
    groups = np.unique(np.append(rng.integers(0, n_chains, 5), (0, n_chains)))
    pairs = np.triu_indices(n, 1)
    found = []
    for add in (averages.add_blocks, compiled_averages.add_blocks):
        record, sums = np.zeros((n_spans, n, n_chains), np.float32), np.zeros((n_parts, len(groups) - 1, len(pairs[0])))
        add(blocks, n_sweeps, part, groups, pairs, record, sums, 8 << seed % 5)
        found.append((record, sums))
    assert all((one == other).all() for one, other in zip(*found, strict=True))
    assert (found[0][1].sum((0, 1)) == np.einsum("tic,tjc->ij", states, states, dtype=float)[pairs]).all()
    assert (found[0][0].sum(0) == states.sum(0)).all()


@pytest.mark.parametrize("seed", range(12))
def test_sums_over_states_are_the_same_whoever_adds_them(seed):
    law_sums(seed)


@pytest.mark.parametrize("n", [1, 7, 70])
def test_averages_of_one_sweep_are_the_same_whoever_counts(n, monkeypatch):
    states = np.random.default_rng(n).choice([-1, 1], (n, 32 + n)).astype(np.int8)
    states[:, 0] = states[0, 0]
    model, found = bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n)), []
    for loaded in (False, True):
        monkeypatch.setattr(averages, "numba_is_loaded", lambda loaded=loaded: loaded)
        found.append(average(model, [states[None]], states.shape[1], 1))
    assert all(np.abs(one - other).max() < 1e-14 for one, other in zip(*(each[:4] for each in found), strict=True))


def test_units_that_stand_still_and_chains_that_are_short(engine):
    """Alike in all chains: R-hat 1.  Not alike: the chains always disagree.  One chain, three draws: too few."""
    spans = np.ones((2, 4, 8))
    assert agreement(spans) == (1, 32)
    spans[1, 0] = -1
    assert agreement(spans)[0] == np.inf
    assert np.isnan(agreement(np.ones((1, 2, 3)))).all() and np.isnan(agreement(np.ones((2, 1, 8)))).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_the_errors_of_one_sweep_are_the_spread_of_its_chains(sparse):
    """Each chain a group of one: its closed form, and the answer of mean_and_stderr() from the groups."""
    model = bmlab.ising((2, 3), coupling=0.4)
    model = model if sparse else bmlab.BoltzmannMachine(model.dense_weights, model.biases)
    s = bmlab.sample(model, 50, rng=np.random.default_rng(0))
    found = average(model, [s.T[None].astype(np.int8)], 50, 1)
    mean, stderr = mean_and_stderr(s, np.ones(50))
    corr, corr_stderr = mean_and_stderr(s[:, :, None] * s[:, None, :], np.ones(50))
    assert np.allclose(found.mean, mean) and np.allclose(found.mean_stderr, stderr)
    compared = model.dense_weights != 0 if sparse else ~np.eye(6, dtype=bool)
    for had, expected in ((found.corr, corr), (found.corr_stderr, corr_stderr)):
        assert np.allclose((had.toarray() if sparse else had)[compared], expected[compared])


@pytest.mark.parametrize("count", [2, 3, 4, 5, 10, 31, 32, 100])
def test_twice_the_error_of_few_groups_covers_as_that_of_many(count):
    """Of 20,000 averages of normal groups 94.6 to 95.5 % are within 2 stated errors: known to 0.16 %, four allowed."""
    groups = np.random.default_rng(count).normal(size=(count, 20_000))
    mean, stderr = mean_and_stderr(groups, np.ones(count))
    assert 0.946 - 0.0064 < (np.abs(mean) < 2 * stderr).mean() < 0.955 + 0.0064
    assert np.isnan(mean_and_stderr(groups[:1], np.ones(1))[1]).all()


def test_from_32_groups_on_the_error_is_their_spread():
    """And of 31 it is more, by the ratio of Student's t of 30 degrees to that of 31: a thousandth."""
    for count in (31, 32, 33, 100):
        groups = np.random.default_rng(count).normal(size=(count, 5))
        ratio = mean_and_stderr(groups, np.ones(count))[1] / (groups.std(0, ddof=1) / np.sqrt(count))
        assert (np.abs(ratio - 1) < 1e-12).all() if count > 31 else (ratio > 1.001).all() and (ratio < 1.002).all()


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("n_chains", [64, 100, 333])
def test_of_many_chains_r_hat_looks_at_some_evenly_spread(n_chains, monkeypatch):
    """Half of the chains stay up, the others down: the first alone agree.  Chains that mix tell of as many draws."""

    def ran():
        start = np.repeat([1.0, -1.0], [n_chains // 2, n_chains - n_chains // 2])[:, None] * np.ones(9)
        apart = bmlab.gibbs(bmlab.ising((3, 3)), rng=0, start=start, n_sweeps=100)
        assert apart.info["rhat"] > 2 and not apart.converged
        return bmlab.gibbs(bmlab.medium(), rng=0, n_chains=n_chains, n_sweeps=200).info

    of_all = ran()
    monkeypatch.setattr(averages, "RHAT_UNITS", 0)
    of_some = ran()
    assert max(of_all["rhat"], of_some["rhat"]) < 1.1 and 1 / 2 < of_some["ess"] / of_all["ess"] < 2


@pytest.mark.parametrize("sampler", [bmlab.gibbs, bmlab.temper, bmlab.ais])
@pytest.mark.parametrize("n_sweeps", [1, 1000])
def test_of_no_units_there_is_nothing_to_sample(sampler, n_sweeps):
    """Also of a few sweeps: means that are known without them have converged."""
    options = {} if sampler is bmlab.ais else {"n_sweeps": n_sweeps}
    answer = sampler(bmlab.BoltzmannMachine(np.zeros((0, 0)), np.zeros(0)), rng=0, **options)
    assert answer.converged and answer.mean.shape == (0,)
