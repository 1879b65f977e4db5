"""exact: all its algorithms against the sum over states; which pairs are known; extreme energies; refusals."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse
from selection import exhaustive

import bmlab
from bmlab import plain
from bmlab.infer.exact import planning
from bmlab.infer.exact.cutset_conditioning import cutset_of
from bmlab.infer.exact.dispatch import solve_component
from bmlab.infer.exact.elimination import best_order


def random_machine(n, temperature=1.0, scale=1.0, density=1.0, bias=1.0):
    rng = np.random.default_rng(n)
    weights = bmlab.sherrington_kirkpatrick(n, rng=rng, scale=scale).weights
    kept = np.triu(rng.random((n, n)) < density, 1)
    return bmlab.BoltzmannMachine(weights * (kept + kept.T), bias * rng.normal(size=n), temperature)


def every_algorithm(model):
    """The answers of all algorithms that know all pairs, each as (log Z, mean, corr with its diagonal)."""
    guides = [
        ("small tables", None),
        *[("matrix products", conditioned) for conditioned in range(min(4, model.n))],
        ("cutset conditioning", cutset_of(model.weights)),
        ("variable elimination", best_order(model.weights, model.n)),
    ]
    for algorithm, guide in guides:
        part = planning.Component(np.arange(model.n), algorithm, guide, 1, 1, 1)
        log_z, mean, corr = solve_component(model, part, all_pairs=True)
        np.fill_diagonal(corr, 1.0)
        yield algorithm, log_z, mean, corr


def law_algorithms(model):
    """Energies of 100 T are rounded to 1e-14."""
    right = plain.brute_force(model)
    for algorithm, log_z, mean, corr in every_algorithm(model):
        assert abs(log_z - right.log_z) < 1e-12 * (1 + abs(right.log_z)), algorithm
        assert max(np.abs(mean - right.mean).max(), np.abs(corr - right.corr).max()) < 1e-11, algorithm


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 12), st.sampled_from([0.1, 0.3, 0.6, 1.0]), st.sampled_from([0.05, 0.3, 1, 5, 20]), st.booleans())
def test_every_algorithm_is_right(n, density, temperature, biased):
    law_algorithms(random_machine(n, temperature, density=density, bias=biased))


# Pairs, parts, sparse weights


def in_blocks(*machines):
    """Machines side by side, as one that is not coupled across."""
    weights = linalg.block_diag(*(m.dense_weights for m in machines))
    return bmlab.BoltzmannMachine(weights, np.concatenate([m.biases for m in machines]), machines[0].temperature)


def test_uncoupled_parts_add_their_log_z_and_factorise():
    parts = [random_machine(n, 1.5) for n in (16, 3, 14, 1, 1)]
    shuffle = np.random.default_rng(0).permutation(35)
    model = in_blocks(*parts)
    answer = bmlab.exact(bmlab.BoltzmannMachine(model.weights[shuffle][:, shuffle], model.biases[shuffle], 1.5))
    alone = [bmlab.exact(part) for part in parts]
    mean = np.concatenate([a.mean for a in alone])
    corr = np.outer(mean, mean)
    for k, a in zip((0, 16, 19, 33, 34), alone, strict=True):
        corr[k : k + len(a.mean), k : k + len(a.mean)] = a.corr
    assert abs(answer.log_z.value - sum(a.log_z.value for a in alone)) < 1e-11
    assert np.abs(answer.mean - mean[shuffle]).max() < 1e-12
    assert np.abs(answer.corr - corr[shuffle][:, shuffle]).max() < 1e-12


def ring(n):
    """A dense ring at T = 2, and <s_i s_j> of all its pairs: (t^d + t^(n - d)) / (1 + t^n), t = tanh(1/2)."""
    t, d = np.tanh(0.5), np.abs(np.subtract.outer(range(n), range(n)))
    return bmlab.BoltzmannMachine(bmlab.ising(n).weights.toarray(), np.zeros(n), 2.0), (t**d + t ** (n - d)) / (
        1 + t**n
    )


def restricted(visible, hidden):
    """A restricted machine; <s_i s_j> of all its pairs from a list of the hidden states."""
    rng = np.random.default_rng(visible)
    model = bmlab.restricted(rng.normal(size=(visible, hidden)), rng.normal(size=visible), rng.normal(size=hidden))
    h = bmlab.states(hidden)
    field = h @ model.weights[visible:, :visible] + model.biases[:visible]
    p = np.exp(h @ model.biases[visible:] + np.logaddexp(field, -field).sum(1))
    s = np.hstack([np.tanh(field), h])
    corr = (s.T * p) @ s / p.sum()
    np.fill_diagonal(corr, 1.0)
    return model, corr


KNOWN = [(ring, (n,)) for n in (5, 13, 14, 26, 27, 60)] + [(restricted, (v, 4)) for v in (5, 12, 22, 23, 40)]


def test_which_pairs_are_known_depends_on_the_type_of_the_weights_only():
    """Which pairs are known depends on the weights' type and on `pairs`, never on n or the algorithm; all are right."""
    algorithms = set()
    for make, size in KNOWN:
        dense, corr = make(*size)
        few = bmlab.BoltzmannMachine(sparse.csr_array(dense.weights), dense.biases, dense.temperature)
        coupled = (dense.weights != 0) | np.eye(dense.n, dtype=bool)
        algorithms.add(bmlab.exact(dense).info["algorithm"])
        for answer in (bmlab.exact(dense), bmlab.exact(dense, pairs="all"), bmlab.exact(few, pairs="all")):
            assert np.abs(answer.corr - corr).max() < 1e-11, (make, size)
        answer = bmlab.exact(dense, pairs="couplings").corr
        assert np.isnan(answer[~coupled]).all() and np.abs((answer - corr)[coupled]).max() < 1e-11, (make, size)
        answer = bmlab.exact(few).corr
        assert answer.nnz == coupled.sum() and np.abs((answer.toarray() - corr)[coupled]).max() < 1e-11, (make, size)
    assert len(algorithms) == 4


def test_a_dense_machine_that_is_too_dear_for_all_pairs_is_told_of_its_couplings():
    w = bmlab.ising((12, 200), periodic=False).weights.toarray()
    with pytest.raises(ValueError, match="Use pairs='couplings', mean_field"):
        bmlab.exact(bmlab.BoltzmannMachine(w, np.zeros(len(w))), max_seconds=5)


# Entropy


def law_entropy():
    """S = -sum p log p over all states, whatever the temperature, the offset and the form of the machine."""
    for seed, temperature in enumerate((0.3, 1.0, 2.5)):
        dense = random_machine(4 + seed, temperature, density=0.6)
        s = bmlab.states(dense.n)
        log_p = dense.log_boltzmann(s, plain.brute_force(dense).log_z)
        right = -np.exp(log_p) @ log_p
        sparse_one = replace(dense, weights=sparse.csr_array(dense.weights))
        for model in (dense, sparse_one, replace(dense, offset=3.0)):
            found = bmlab.entropy(model)
            assert abs(found - right) < 1e-12 and found.lower == found.upper == found.value and found.stderr == 0


def test_the_entropy_is_that_of_all_states():
    law_entropy()


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_entropy_of_any_method_has_its_error_and_its_bounds(form):
    """Nothing known is nan; of draws the error covers; n log 2 and 0 are never passed."""
    short = {"temper": {"n_sweeps": 400, "n_ladders": 8}, "ais": {"n_chains": 200, "n_temperatures": 60}}
    for seed, temperature in enumerate((0.3, 1.0, 2.5)):
        model = random_machine(5 + seed, temperature, density=0.6)
        model = replace(model, weights=form(model.weights), offset=2.0)
        right = bmlab.entropy(model)
        for name, options in short.items():
            found = bmlab.entropy(model, partial(getattr(bmlab, name), rng=seed, **options))
            assert abs(found - right) < 4 * found.stderr and found.stderr < 0.5 * model.n
            assert (found.lower, found.upper) == (0, model.n * np.log(2))
        assert np.isnan(bmlab.entropy(model, partial(bmlab.gibbs, rng=0, n_sweeps=40)))
        assert 0 <= bmlab.entropy(model, bmlab.mean_field) <= model.n * np.log(2)


# Extreme energies


@pytest.mark.parametrize(
    "model",
    [
        random_machine(18, 0.005),
        random_machine(14, 1.0, scale=5 * np.sqrt(14)),
        bmlab.BoltzmannMachine(random_machine(14).weights, np.full(14, 50.0), 0.05),
    ],
    ids=["T = 0.005", "|w| ~ 5", "fields of 50"],
)
def test_extreme_energies_are_right_to_rounding(model):
    """Against log-sum-exp over all states; rounding the energies alone loses 1e-16 of the largest exponent."""
    logs = -model.energy(bmlab.states(model.n)) / model.temperature
    log_z = np.logaddexp.reduce(logs)
    p, slack = np.exp(logs - log_z), 1e-14 * model.n * np.abs(logs).max()
    answer = bmlab.exact(model)
    assert abs(answer.log_z.value - log_z) < slack
    assert np.abs(answer.mean - p @ bmlab.states(model.n)).max() < slack


@pytest.mark.slow
@pytest.mark.parametrize(("n", "temperature"), [(18, 0.005), pytest.param(36, 1e-4, marks=exhaustive)])
def test_a_cold_machine_goes_by_its_lowest_states_at_their_price(n, temperature):
    """All answers, one after the other; 36 units in parts: nobody could list 2^36 states."""
    cold = random_machine(n, temperature)
    info = bmlab.exact(cold).info
    assert info["algorithm"] == "lowest states" and info["predicted_seconds"] == bmlab.exact_plan(cold).seconds < 10
    lowest = bmlab.ground_state(cold).energy
    assert abs(bmlab.exact(cold, want="log_z").log_z * cold.temperature + lowest) < 0.01
    assert np.abs(cold.energy(bmlab.sample(cold, 3, rng=np.random.default_rng(0))) - lowest).max() < 0.1


# Its other promises


def test_too_many_states_are_refused_with_their_price():
    with pytest.raises(
        ValueError,
        match=r"would need 2\^60 states, about .* (days|years)( on \d+ workers)? and .* GiB, "
        r"or a table of over 2\^27 numbers; it stops "
        r"at 10 minutes and .* GiB\. Use mean_field\(\) or gibbs\(\)\.",
    ):
        bmlab.exact(bmlab.sherrington_kirkpatrick(60, rng=np.random.default_rng(0)))
