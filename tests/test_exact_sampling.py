"""Perfect samples against the probabilities themselves."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from scipy import stats

import bmlab
from bmlab.infer.exact import (
    cutset_conditioning,
    elimination,
    exact_sampling,
    ground_states,
    lowest_states,
    matrix_products,
)

MODEL = bmlab.medium().at(2.0)


def draws(algorithm, size, rng):
    if algorithm == "variable elimination":
        order = elimination.best_order(MODEL.weights)
        return elimination.draw(order, elimination.eliminate(MODEL, order)[1], size, rng)
    if algorithm == "matrix products":
        return matrix_products.draw_by_products(MODEL, size, rng)
    if algorithm == "matrix products in slices":
        return matrix_products.draw_by_slices(MODEL, 3, size, rng)
    if algorithm == "lowest states":
        return lowest_states.draw_by_lowest(MODEL, size, rng)
    return cutset_conditioning.draw_by_cutset(MODEL, cutset_conditioning.cutset_of(MODEL.weights), size, rng)


def law_samples(algorithm, model=MODEL):
    """Sixteen states a bin, so that rare ones do not spoil the statistic."""
    p, s = bmlab.probabilities(model), draws(algorithm, 400_000, np.random.default_rng(0))
    counts = np.bincount((s > 0) @ 2 ** np.arange(10)[::-1], minlength=1024)
    bins = np.argsort(p).reshape(64, 16)
    assert stats.chisquare(counts[bins].sum(1), 400_000 * p[bins].sum(1)).pvalue > 1e-6


@pytest.mark.parametrize(
    "algorithm",
    ["variable elimination", "matrix products", "matrix products in slices", "lowest states", "cutset conditioning"],
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


@pytest.mark.parametrize(
    "call", [partial(bmlab.sample, size=1, rng=0), bmlab.ground_state], ids=["sample", "ground_state"]
)
def test_what_would_take_too_long_is_refused_before_it_begins(call, monkeypatch):
    for module in (exact_sampling, ground_states):
        monkeypatch.setattr(module, "draw_component", None)
    with pytest.raises(ValueError, match=r"would need (\S+ of )?2\^60 states, about .* (days|years)"):
        call(bmlab.sherrington_kirkpatrick(60, rng=0))
