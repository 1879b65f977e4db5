"""Perfect samples against the probabilities themselves; ground states against lists of all states."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from scipy import sparse, stats

import bmlab
from bmlab.infer.exact import cutset_conditioning, elimination, exact_sampling, matrix_products

MODEL = bmlab.medium().at(2.0)


def draws(algorithm, size, rng):
    if algorithm == "variable elimination":
        order = elimination.best_order(MODEL.weights)
        return elimination.draw(order, elimination.eliminate(MODEL, order)[1], size, rng)
    if algorithm == "matrix products":
        return matrix_products.draw_by_products(MODEL, size, rng)
    if algorithm == "matrix products in parts":
        return matrix_products.draw_by_parts(MODEL, 3, size, rng)
    return cutset_conditioning.draw_by_cutset(MODEL, cutset_conditioning.cutset_of(MODEL.weights), size, rng)


def law_samples(algorithm, model=MODEL):
    """Sixteen states a bin, so that rare ones do not spoil the statistic."""
    p, s = bmlab.probabilities(model), draws(algorithm, 400_000, np.random.default_rng(0))
    counts = np.bincount((s > 0) @ 2 ** np.arange(10)[::-1], minlength=1024)
    bins = np.argsort(p).reshape(64, 16)
    assert stats.chisquare(counts[bins].sum(1), 400_000 * p[bins].sum(1)).pvalue > 1e-6


@pytest.mark.parametrize(
    "algorithm", ["variable elimination", "matrix products", "matrix products in parts", "cutset conditioning"]
)
def test_samples_follow_the_probabilities(algorithm):
    law_samples(algorithm)


@pytest.mark.parametrize("tile", [8, 64])
def test_samples_from_many_tiles_follow_the_probabilities(tile, monkeypatch):
    monkeypatch.setattr(cutset_conditioning, "CUTSET_TILE", tile)
    law_samples("cutset conditioning")


@pytest.mark.parametrize(
    "model",
    [
        bmlab.medium(),
        bmlab.ising((5, 7), field=0.1).at(2.5),
        bmlab.BoltzmannMachine(np.zeros((4, 4)), [0.5, 0, -1, 2]),
        bmlab.restricted(np.full((40, 3), 0.2), np.zeros(40), np.full(3, 0.3)),
        bmlab.sherrington_kirkpatrick(26, rng=np.random.default_rng(0)),
    ],
    ids=["table", "lattice", "independent", "restricted", "dense"],
)
def test_samples_have_the_exact_means_along_every_algorithm(model):
    s = bmlab.sample(model, 20_000, rng=np.random.default_rng(1))
    mean = bmlab.exact(model).mean
    z = (s.mean(0) - mean) / np.sqrt((1 - mean**2) / len(s))
    assert np.abs(z).max() < stats.norm.isf(1e-6)
    assert s.shape == (20_000, model.n) and (np.abs(s) == 1).all()


def test_probabilities_hold_little_more_than_the_answer():
    model = bmlab.sherrington_kirkpatrick(18, rng=np.random.default_rng(0))
    tracemalloc.start()
    p = bmlab.probabilities(model)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * p.nbytes


def test_probabilities_of_a_frozen_machine_are_no_infinities():
    """Its lowest state has all of it, and of two as low each has half."""
    cold = bmlab.BoltzmannMachine([[0, 2000], [2000, 0]], [0, 0])
    assert bmlab.probabilities(cold).tolist() == [0.5, 0, 0, 0.5]
    held = bmlab.BoltzmannMachine(cold.weights, [1000, 0])
    assert bmlab.probabilities(held).tolist() == [0, 0, 0, 1]


def whole_machine(n, seed):
    """A machine of n units whose weights and biases are whole numbers, many of them 0."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.integers(-2, 3, (n, n)), 1)
    return bmlab.BoltzmannMachine((weights + weights.T).astype(float), rng.integers(-1, 2, n).astype(float))


@pytest.mark.parametrize("scale", [2.0**-300, 0.75, 2.0**300])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "model",
    [
        *(whole_machine(n, n) for n in (7, 13, 15)),
        bmlab.BoltzmannMachine(bmlab.ising(9, coupling=-1.0).dense_weights, np.zeros(9)),
        bmlab.sherrington_kirkpatrick(15, rng=np.random.default_rng(3)),
        bmlab.BoltzmannMachine(np.zeros((5, 5)), [1, 0, -1, 0, 0.5]),
    ],
    ids=["7", "13", "15", "frustrated ring", "glass", "independent"],
)
def test_the_ground_state_is_the_lowest_of_all_states_at_any_scale(model, form, scale):
    """An offset moves the energy and nothing else."""
    scaled = bmlab.BoltzmannMachine(form(model.weights * scale), model.biases * scale, offset=1e9 / 7 * scale)
    lowest, energies = bmlab.ground_state(scaled), model.energy(bmlab.states(model.n))
    assert abs(model.energy(lowest.state) - energies.min()) < 1e-9 and scaled.energy(lowest.state) == lowest.energy


def test_a_large_lattice_and_a_frustrated_ring():
    assert np.isclose(bmlab.ground_state(bmlab.ising((8, 12), coupling=0.7)).energy, -0.7 * 2 * 96)
    assert bmlab.ground_state(bmlab.ising(9999, coupling=-1.0)).energy == -9997


@pytest.mark.parametrize(
    "call", [partial(bmlab.sample, size=1, rng=0), bmlab.ground_state], ids=["sample", "ground_state"]
)
def test_what_would_take_too_long_is_refused_before_it_begins(call, monkeypatch):
    monkeypatch.setattr(exact_sampling, "_draw", None)
    with pytest.raises(ValueError, match=r"would need 2\^60 states, about .* (days|years)"):
        call(bmlab.sherrington_kirkpatrick(60, rng=0))
