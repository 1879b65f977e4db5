"""gibbs and sweep: one dynamics, its random stream, its errors and its doubts."""
import warnings

import numpy as np
import pytest

import bmlab
from bmlab.infer import gibbs_sampling

quietly = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")


def test_a_sweep_is_the_rule_of_the_lecture():
    """One unit after the other, +1 where u is below 1 / (1 + exp(-2 h / T))."""
    rng, model = np.random.default_rng(0), bmlab.medium().at(1.7)
    s, u = bmlab.spins(rng.integers(0, 2, 10)), rng.random(10)
    expected = s.copy()
    for i in range(10):
        h = model.weights[i] @ expected + model.biases[i]
        expected[i] = 1 if u[i] < 1 / (1 + np.exp(-2 * h / 1.7)) else -1
    assert (bmlab.sweep(model, s, u) == expected).all()


def test_a_sweep_leaves_its_input_alone_and_takes_any_shape():
    rng, model = np.random.default_rng(0), bmlab.toy()
    s, u = bmlab.states(3).reshape(2, 4, 3), rng.random((2, 4, 3))
    before = s.copy()
    together = bmlab.sweep(model, s, u)
    assert (s == before).all() and together.shape == s.shape
    assert (together[1, 2] == bmlab.sweep(model, s[1, 2], u[1, 2])).all()


@quietly
@pytest.mark.parametrize("model", [bmlab.medium(), bmlab.ising((4, 5)).at(2.0)], ids=["dense", "sparse"])
def test_gibbs_walks_by_sweeps(model):
    """The chain of gibbs() is sweep() on the same uniforms, to the bit, and its mean that of the states passed."""
    start = bmlab.spins(np.random.default_rng(1).integers(0, 2, (7, model.n)))
    answer = bmlab.gibbs(model, rng=np.random.default_rng(2), start=start, burn_in=3, n_sweeps=5)
    rng, s, seen = np.random.default_rng(2), start, []
    for _ in range(8):
        s = bmlab.sweep(model, s, rng.random((model.n, 7)).T)
        seen.append(s)
    assert (answer.state == s).all()
    assert np.allclose(answer.mean, np.mean(seen[3:], axis=(0, 1)), atol=1e-14)
    corr = np.einsum("tci,tcj->ij", seen[3:], seen[3:]) / 35
    got = answer.corr.toarray() if model.is_sparse else answer.corr
    known = got != 0 if model.is_sparse else np.ones_like(got, dtype=bool)
    assert np.allclose(got[known], corr[known], atol=1e-14)


@quietly
def test_the_same_generator_gives_the_same_answer_and_blocks_do_not_matter(monkeypatch):
    one = bmlab.gibbs(bmlab.medium(), rng=np.random.default_rng(5), n_sweeps=50)
    monkeypatch.setattr(gibbs_sampling, "BLOCK", 1000)
    other = bmlab.gibbs(bmlab.medium(), rng=np.random.default_rng(5), n_sweeps=50)
    assert (one.state == other.state).all()
    assert np.allclose(one.corr, other.corr, atol=1e-14) and np.allclose(one.corr_stderr, other.corr_stderr, atol=1e-14)


def test_chains_that_know_their_first_units_get_the_others_by_one_sweep():
    """Hidden units that are not coupled: after one sweep given the data they follow p(hidden | data) exactly."""
    model = bmlab.restricted([[1.0, -0.5], [0.3, 0.8]], [0.1, 0.2], [0.4, -0.3]).at(1.3)
    data = np.tile([1.0, -1.0], (40_000, 1))
    s = gibbs_sampling._first_states(model, np.random.default_rng(0), data, None)
    expected = np.tanh((data[0] @ model.weights[:2, 2:] + model.biases[2:]) / 1.3)
    assert (s[:, :2] == data).all()
    assert (np.abs(s[:, 2:].mean(0) - expected) < 5 * np.sqrt((1 - expected**2) / len(data))).all()


@quietly
def test_a_machine_without_free_units_has_nothing_to_sample():
    answer = bmlab.gibbs(bmlab.toy().clamp([0, 1, 2], [1, 1, 1]), rng=np.random.default_rng(0))
    assert answer.mean.shape == (0,) and answer.corr.shape == (0, 0)


def test_log_z_is_unknown():
    log_z = bmlab.gibbs(bmlab.toy(), rng=np.random.default_rng(0)).log_z
    assert np.isnan(log_z.value) and (log_z.lower, log_z.upper) == (-np.inf, np.inf) and str(log_z) == "unknown"


def test_chains_that_mix_converge_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bmlab.gibbs(bmlab.medium().at(3.0), rng=np.random.default_rng(0)).converged


def test_chains_that_disagree_are_reported():
    """Two valleys far apart: half of the chains sit in each for ever."""
    with pytest.warns(bmlab.NotConverged, match="R-hat .* Raise n_sweeps"):
        answer = bmlab.gibbs(bmlab.ising((6, 6)).at(0.5), rng=np.random.default_rng(0), burn_in=500)
    assert not answer.converged and answer.info["rhat"] > 2


def test_split_rhat_is_that_of_arviz_by_hand():
    """Gelman and others (2013), eq. 11.1-11.4, from the draws themselves."""
    rng = np.random.default_rng(0)
    draws = bmlab.spins((rng.random((3, 20, 8)) < rng.random((3, 1, 8))).astype(int))     # (units, draws, chains)
    split = np.concatenate([draws[:, :10], draws[:, 10:]], axis=2)
    within, between = split.var(1, ddof=1).mean(1), 10 * split.mean(1).var(1, ddof=1)
    expected = np.sqrt((0.9 * within + between / 10) / within).max()
    halves = np.stack([draws[:, :10].sum(1), draws[:, 10:].sum(1)])
    assert np.isclose(gibbs_sampling._rhat(halves, 10), expected)


@quietly
def test_one_chain_claims_no_error_and_two_sweeps_no_convergence():
    answer = bmlab.gibbs(bmlab.toy(), rng=np.random.default_rng(0), n_chains=1, n_sweeps=2)
    assert np.isnan(answer.mean_stderr).all() and not answer.converged


@pytest.mark.parametrize(("start", "sentence"), [
    (np.ones((2, 4)), r"start has 4 units, the machine 3"),
    (np.zeros((2, 3)), r"start must be -1/\+1, found \{0\}; use bmlab.spins\(start\)"),
])
def test_a_wrong_start_is_refused(start, sentence):
    with pytest.raises(ValueError, match=sentence):
        bmlab.gibbs(bmlab.toy(), rng=np.random.default_rng(0), start=start)
