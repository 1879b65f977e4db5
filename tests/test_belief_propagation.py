"""bethe: exact on trees and forests, in closed form on a ring, and honest about loops."""

import numpy as np
import pytest
from scipy.optimize import brentq

import bmlab
from bmlab.infer.variational import belief_propagation

quietly = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")


def forest(n, rng, scale=1.0, kept=1.0, temperature=1.6, offset=-0.4):
    """Return a random tree of n units in random order; each branch but the first is `kept` with this chance."""
    weights, name = np.zeros((n, n)), rng.permutation(n)
    for i in range(1, n):
        parent = rng.integers(i)
        weight = rng.normal(scale=scale) * (i == 1 or rng.random() < kept)
        weights[name[i], name[parent]] = weights[name[parent], name[i]] = weight
    return bmlab.BoltzmannMachine(weights, rng.normal(scale=scale, size=n), temperature, offset)


def test_the_inconsistency_shows_a_frustrated_loop():
    """Three units that all push each other apart; C_ij of the beliefs is -tanh(1/2) on each side."""
    loop = bmlab.BoltzmannMachine(np.eye(3) - 1, np.zeros(3), 2.0)
    answer, true = bmlab.bethe(loop), bmlab.exact(loop)
    assert answer.info["inconsistency"] > 0.1 and abs(answer.log_z.value - true.log_z.value) > 0.01


def test_leaf_after_leaf_is_taken_out_and_what_is_left_has_none():
    """Each branch begins at a unit that has one partner left; in the end each has none, or two and more."""
    left_over = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        kept = np.triu(rng.random((12, 12)) < rng.uniform(0.1, 0.3), 1)
        left = kept | kept.T
        graph = belief_propagation.graph_of(bmlab.BoltzmannMachine(left * 1.0, np.zeros(12)))
        for leaf, other in zip(graph.row[graph.leaf_edges], graph.col[graph.leaf_edges], strict=True):
            assert left[leaf].sum() == 1 and left[leaf, other]
            left[leaf, other] = left[other, leaf] = False
        assert (left.sum(0) != 1).all()
        left_over += left.any()
    assert 0 < left_over < 40


@pytest.mark.parametrize("field", [0.0, 0.4])
def test_a_ring_keeps_the_larger_eigenvalue_only(field):
    """Z = large^n + small^n by the transfer matrix; the second goes round the ring, and Bethe drops it."""
    ring, j, h = bmlab.ising(9, coupling=0.8, field=field).at(1.3), 0.8 / 1.3, field / 1.3
    root = np.sqrt(np.exp(2 * j) * np.sinh(h) ** 2 + np.exp(-2 * j))
    large, small = np.exp(j) * np.cosh(h) + root, np.exp(j) * np.cosh(h) - root
    assert abs(bmlab.bethe(ring).log_z.value - 9 * np.log(large)) < 1e-12 * 9
    assert abs(bmlab.exact(ring).log_z.value - np.log(large**9 + small**9)) < 1e-12 * 9


def law_alike():
    """Units that all repel each other alike: one message u = -artanh(tanh J tanh(b + (n - 2) u)), a single solution.

    The right side falls as u grows, so that messages swing about it; if it falls steeply only shorter moves arrive.
    """
    for n, coupling, bias in [(4, 0.5, 0.3), (4, 1.0, 1.0), (6, 1.0, 3.0), (8, 0.5, 1.0), (8, 1.0, 0.3)]:
        model = bmlab.BoltzmannMachine(coupling * (np.eye(n) - 1), np.full(n, bias))
        u = brentq(lambda u: u + np.arctanh(np.tanh(coupling) * np.tanh(bias + (n - 2) * u)), -coupling, coupling)  # noqa: B023
        assert np.abs(bmlab.bethe(model).mean - np.tanh(bias + (n - 1) * u)).max() < 1e-9


@quietly
def test_moves_that_swing_are_shortened_until_they_arrive():
    law_alike()


@quietly
def test_a_lattice_orders_where_bethe_says():
    """With d partners the means of 0 are a minimum down to tanh(w/T) = 1/(d - 1)."""
    transition = 1 / np.arctanh(1 / 3)
    for temperature in (0.999 * transition, 1.001 * transition):
        answer = bmlab.bethe(bmlab.ising((4, 4)).at(temperature))
        assert not answer.mean.any() and answer.info["stable"] == (temperature > transition)
    cold = bmlab.ising((4, 4)).at(0.9 * transition)
    magnetised = bmlab.bethe(cold, start=belief_propagation.messages_from(cold, np.full(16, -0.1)))
    assert (magnetised.mean < -0.5).all() and magnetised.info["stable"]


@quietly
def test_what_has_not_settled_says_so():
    with pytest.warns(
        bmlab.NotConverged, match=r"still moved by .* after 1 sweeps.*temperature_path\(\), or use gibbs"
    ):
        assert not bmlab.bethe(bmlab.medium(), max_sweeps=1).converged


def test_its_state_is_where_it_goes_on():
    model = bmlab.medium().at(2.5)
    first = bmlab.bethe(model)
    again = bmlab.bethe(model, start=first.state)
    assert again.info["sweeps"] == 1 and np.abs(again.mean - first.mean).max() < 1e-12


@quietly
def test_what_has_settled_is_a_fixed_point():
    """Small moves because steps were halved again and again are not enough: pairs must agree with their units."""
    state, settled = None, 0
    for temperature in np.geomspace(8, 0.3, 12):
        model = bmlab.medium().at(temperature)
        answer = bmlab.bethe(model, start=state)
        state = answer.state
        if answer.converged:
            again = bmlab.bethe(model, start=state, max_sweeps=3)
            assert again.converged and np.abs(again.mean - answer.mean).max() < 1e-10
            settled += 1
    assert settled > 6
