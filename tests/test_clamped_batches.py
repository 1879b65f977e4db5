"""The clamped phase with all patterns side by side: as one after the other, and right within its error."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from test_contract import machine
from test_likelihood import DATA, by_definition, missing, uncoupled_hidden

import bmlab

pytestmark = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")


@pytest.mark.parametrize("data", [DATA, missing(DATA)], ids=["hidden", "missing"])
def test_mean_field_is_that_of_one_pattern_after_the_other(data):
    """The same fixed points, of which there is one at this temperature; and the same bound."""
    model = machine(7, temperature=4.0, offset=0.3)
    one = bmlab.clamped_mean_field(model, data, tolerance=1e-13)
    other = bmlab.clamped(model, data, bmlab.mean_field)
    assert one.converged and np.abs(one.mean - other.mean).max() < 1e-11
    assert abs(one.log_z.lower - other.log_z.lower) < 1e-11 and one.log_z.value == one.log_z.lower
    products = np.mean([np.outer(s, s) for s in one.state], axis=0)
    assert np.abs(one.corr - products)[~np.eye(7, dtype=bool)].max() < 1e-12 and (np.diag(one.corr) == 1).all()


def test_its_bound_holds():
    """Its log Z is below the exact one, converged or not, at any temperature."""
    for seed in range(20):
        model = machine(7, seed, temperature=0.8)
        for sweeps in (0, 1, 100):
            found = bmlab.clamped_mean_field(model, missing(DATA, seed), max_sweeps=sweeps)
            assert found.log_z.lower <= bmlab.clamped(model, missing(DATA, seed)).log_z.value


def one_by_one(model, data, rng):
    return bmlab.clamped(model, data, partial(bmlab.gibbs, rng=rng, n_chains=32, n_sweeps=25, burn_in=10))


@pytest.mark.parametrize("phase", [partial(bmlab.clamped_gibbs, n_chains=50, n_sweeps=40), one_by_one])
def test_chains_cover(phase, machines=40):
    """Of means, and of correlations, of hidden units all but 5 % are within two stated errors; the clamped have none.

    A machine's errors hang together: the shares are known to sqrt(0.05 * 0.95 / machines), of which four are allowed.
    """
    inside, hidden = [], np.arange(7) > 3
    pairs = np.triu(hidden | hidden[:, None], 1)
    for seed in range(machines):
        model = machine(7, seed, temperature=2.0)
        mean, corr, _ = by_definition(model, DATA)
        answer = phase(model, DATA, rng=np.random.default_rng(seed))
        assert not answer.mean_stderr[:4].any() and not answer.corr_stderr[:4, :4].any() and np.isnan(answer.log_z)
        assert np.allclose(answer.corr[:4, :4], corr[:4, :4])
        means, correlations = answer.mean - mean, (answer.corr - corr)[pairs]
        inside.append([(np.abs(means) < 2 * answer.mean_stderr)[hidden].mean()])
        inside[-1] += [(np.abs(correlations) < 2 * answer.corr_stderr[pairs]).mean()]
    shares = np.mean(inside, axis=0)
    assert (shares > 0.945 - 4 * np.sqrt(0.05 * 0.95 / machines)).all() and (shares < 1).all()


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("chains", [1, 3, 7, 10])
def test_chains_that_agree_prove_nothing_of_what_is_drawn(layout, chains):
    """A unit that never turned has the error of one more chain, a unit that is known in all rows has none."""
    weights = layout(0.5 * bmlab.ising(3).dense_weights)
    model = bmlab.BoltzmannMachine(weights, [0, 0, 9])
    answer = bmlab.clamped_gibbs(model, [[1, -1, np.nan], [-1, -1, np.nan]], rng=0, n_chains=chains)
    least = 2 / (chains * 2) if chains > 1 else np.nan  # of one chain nothing is known
    assert answer.mean[2] == 1 and np.array_equal(answer.mean_stderr, [0, 0, least], equal_nan=True)
    errors = answer.corr_stderr.toarray() if sparse.issparse(answer.corr_stderr) else answer.corr_stderr
    assert np.array_equal(errors, [[0, 0, least], [0, 0, least], [least, least, 0]], equal_nan=True)


def test_missing_entries_are_drawn():
    """A missing entry of one row is drawn in that row only."""
    model, data = uncoupled_hidden(), missing(DATA)
    answer = bmlab.clamped_gibbs(model, data, rng=np.random.default_rng(0), n_chains=400)
    true = bmlab.clamped(model, data)
    observed = ~np.isnan(data)
    assert (answer.state.reshape(400, len(data), 7)[:, :, :4][:, observed] == data[observed]).all()
    assert (np.abs(answer.mean - true.mean) < 6 * answer.mean_stderr + 1e-12).all()


def test_states_go_on():
    model = machine(7, temperature=4.0)
    first = bmlab.clamped_mean_field(model, DATA, tolerance=1e-10)
    assert bmlab.clamped_mean_field(model, DATA, start=first.state).info["sweeps"] == 1
    rng = np.random.default_rng(0)
    assert bmlab.clamped_gibbs(machine(4), DATA, rng=rng).converged  # nothing hidden is no doubt
    chains = bmlab.clamped_gibbs(model, DATA, rng=rng, n_chains=5)
    assert bmlab.clamped_gibbs(model, DATA, rng=rng, n_chains=5, start=chains.state, burn_in=0).mean.shape == (7,)


@pytest.mark.parametrize(
    "infer",
    [
        lambda model: bmlab.clamped_mean_field(model, DATA),
        lambda model: bmlab.clamped_gibbs(model, DATA, rng=np.random.default_rng(0)),
    ],
    ids=["mean field", "gibbs"],
)
def test_sparse_weights_give_the_same(infer):
    """Sums over the couplings alone differ in the last bits, which decide about no uniform number here."""
    model = machine(7, temperature=4.0)
    thin = bmlab.BoltzmannMachine(sparse.csr_array(model.weights), model.biases, 4.0)
    one, other = infer(model), infer(thin)
    assert sparse.issparse(other.corr) and np.abs(one.mean - other.mean).max() < 1e-12
    assert np.abs(one.corr - other.corr.toarray()).max() < 1e-12


@pytest.mark.parametrize("batch", [None, 3])
def test_a_loop_asks_it_about_the_rows_of_each_step_and_goes_on_where_these_are_the_same(batch):
    calls = []

    def phase(model, data, *, start=None):
        calls.append((data, start))
        return bmlab.clamped_mean_field(model, data, start=start)

    steps = bmlab.fit(
        machine(7), DATA, steps=3, rate=0.1, clamped_phase=phase, batch=batch, rng=0 if batch else None
    ).steps
    assert len(calls) == 3
    for step, (rows, start), before in zip(steps, calls, [None, *steps], strict=False):
        assert len(rows) == (batch or len(DATA)) and (batch or before is None or start is before.clamped.state)
        assert start is None or not batch
        assert np.array_equal(step.clamped.mean, bmlab.clamped_mean_field(step.model, rows, start=start).mean)
