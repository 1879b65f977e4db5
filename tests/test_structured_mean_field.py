"""tree_mean_field: its bound by the definition, its gradient, and two known cases: trees and products."""

import numpy as np
import pytest
from test_belief_propagation import forest
from test_contract import machine

import bmlab
from bmlab.infer.bounds.structured_mean_field import _minus_bound, tree_mean_field

ABOVE = np.array([0, 0, 0, 1, 3, 1, 2])  # the parent of each of seven units, the root at place 0


def parameters(model):
    """Return J, b, the tree: the arguments of _minus_bound()."""
    return model.weights / model.temperature, model.biases / model.temperature, ABOVE


def by_definition(x, j, b, above):
    """Return <-E/T> + the entropy of q by all states; unit t is +1 with chance (1 + tanh x)/2, given its parent."""
    s = bmlab.states(len(b))
    log_q = np.zeros(len(s))
    for t, parent in enumerate(above):
        x_here = np.where((s[:, parent] > 0) | (t == 0), *x.reshape(2, -1)[:, t])
        log_q += np.log((1 + s[:, t] * np.tanh(x_here)) / 2)
    return np.exp(log_q) @ ((s * (s @ j)).sum(1) / 2 + s @ b - log_q)


def test_the_bound_is_the_energy_and_entropy_of_a_tree():
    for seed in range(5):
        x, given = np.random.default_rng(seed).normal(size=14), parameters(machine(7, seed, 1.5, 1.3))
        assert abs(_minus_bound(x, *given)[0] + by_definition(x, *given)) < 1e-13


def test_the_gradient_is_that_of_the_bound():
    """By central differences, which err by step^2 and by 1e-15 / step: 1e-10 each; ten times that is allowed."""
    given, x, step = parameters(machine(7, 1, 1.5, 1.3)), np.random.default_rng(0).normal(size=14), 1e-5
    shifts = step * np.eye(14)
    numeric = [(_minus_bound(x + y, *given)[0] - _minus_bound(x - y, *given)[0]) / (2 * step) for y in shifts]
    assert np.abs(numeric - _minus_bound(x, *given)[1]).max() < 2e-9


def test_without_couplings_in_q_it_is_mean_field():
    model, m = machine(7, 2, 1.5, 1.3, offset=0.4), np.linspace(-0.8, 0.9, 7)
    product = -_minus_bound(np.tile(np.arctanh(m), 2), *parameters(model))[0] - 0.4 / 1.3
    assert abs(product + bmlab.free_energy(model, m) / 1.3) < 1e-14 * 10


@pytest.mark.parametrize("n", [1, 2, 5, 12])
@pytest.mark.parametrize("kept", [0.7, 1.0])
def test_on_a_forest_it_finds_log_z(n, kept):
    """SciPy stops if a step brings 2e-9 of the bound, some steps before its best."""
    model = forest(n, np.random.default_rng(n), 1.0, kept)
    found, true = tree_mean_field(model, np.zeros(n)), bmlab.exact(model).log_z.value
    assert -1e-13 * (1 + abs(true)) <= true - found < 1e-6


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_it_is_better_than_mean_field():
    for seed in range(20):
        model = machine(10, seed, 1.0 + seed / 10, 0.8, offset=seed)
        product, true = bmlab.mean_field(model, starts=5), bmlab.exact(model).log_z.value
        assert product.log_z.lower < tree_mean_field(model, product.mean) < true
