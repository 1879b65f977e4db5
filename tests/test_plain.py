"""The course in one file, and the package: the same numbers, to rounding or within the error that is stated.

plain.py is held against laws of its own too (energies by hand, slopes by differences, a tree), so that the two cannot
be wrong together.
"""

import ast
import inspect

import numpy as np
import pytest

import bmlab
from bmlab import plain

MACHINES = {
    "three friends": bmlab.toy(),
    "ten units, warm": bmlab.medium().at(3.0),
    "a glass, T = 1.7": bmlab.sherrington_kirkpatrick(6, rng=np.random.default_rng(3), scale=0.5).at(1.7),
}
machines = pytest.mark.parametrize("model", MACHINES.values(), ids=MACHINES)
XOR = np.array([[1, 1, -1], [1, -1, 1], [-1, 1, 1], [-1, -1, -1]], dtype=float)


def learner(n, T=1.0):
    """A random machine of n units."""
    rng = np.random.default_rng(n)
    return bmlab.BoltzmannMachine(bmlab.symmetric(rng.normal(0, 0.4, (n, n))), rng.normal(0, 0.2, n), T)


def same(one, other, tolerance=1e-9):
    """Whether two answers agree in means, correlations and log Z."""
    parts = [(one.mean, other.mean), (one.corr, other.corr), (one.log_z, float(other.log_z))]
    return all(np.allclose(a, b, rtol=0, atol=tolerance, equal_nan=True) for a, b in parts)


def test_it_imports_nothing_but_numpy_and_is_short():
    source = inspect.getsource(plain)
    imported = [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert {getattr(node, "module", None) or node.names[0].name for node in imported} == {"typing", "numpy"}
    assert source.count("\n") < 250


def test_the_energy_of_three_friends_by_hand():
    """E = -(w01 s0 s1 + w02 s0 s2 + w12 s1 s2) - b's: each pair once."""
    W = np.array([[0, 1.0, -2.0], [1.0, 0, 4.0], [-2.0, 4.0, 0]])
    model = plain.Machine(W, np.array([0.5, 0.0, -0.25]))
    assert plain.energy(model, np.array([1.0, 1.0, 1.0])) == -(1 - 2 + 4) - 0.25
    assert plain.energy(model, np.array([[1.0, -1.0, 1.0]])) == -(-1 - 2 - 4) - 0.25


def test_states_count_as_binary_numbers():
    assert np.array_equal(plain.states(2), [[-1, -1], [-1, 1], [1, -1], [1, 1]])
    assert np.array_equal(plain.states(5), bmlab.states(5))


@machines
def test_brute_force_is_what_exact_answers(model):
    assert same(plain.brute_force(model), bmlab.exact(model))


@machines
def test_a_sweep_is_a_sweep_of_the_package_to_the_bit(model):
    rng = np.random.default_rng(0)
    s, u = plain.coins(rng, 200, model.n), rng.random((200, model.n))
    assert np.array_equal(plain.sweep(model, s, u), bmlab.sweep(model, s, u))


@machines
def test_gibbs_finds_the_moments_of_all_states(model):
    """Within six errors, from the spread of fifty runs: Student's t gives 2e-7 for each of about a hundred numbers."""
    runs = [plain.gibbs(model, np.random.default_rng(seed), burn_in=50, sweeps=20) for seed in range(50)]
    for part in "mean", "corr":
        values, right = np.array([getattr(run, part) for run in runs]), getattr(plain.brute_force(model), part)
        error = values.std(axis=0, ddof=1) / np.sqrt(len(runs))
        assert (np.abs(values.mean(axis=0) - right) <= 6 * error + 1e-12).all()


@machines
def test_log_z_from_walks(model):
    """The states visited give a lower bound; AIS is right within six errors of ten runs."""
    right = plain.brute_force(model).log_z
    assert plain.visited(model, np.random.default_rng(0), sweeps=5) <= right + 1e-12
    runs = [plain.ais(model, np.random.default_rng(seed), steps=100) for seed in range(10)]
    assert abs(np.mean(runs) - right) < 6 * np.std(runs, ddof=1) / np.sqrt(len(runs)) + 1e-3


@machines
@pytest.mark.parametrize("name", ["mean_field", "tap", "bethe"])
def test_theories_are_those_of_the_package(model, name):
    assert same(getattr(plain, name)(model), getattr(bmlab, name)(model), 1e-8)


def test_bethe_is_exact_on_a_tree_and_mean_field_a_lower_bound():
    W = np.zeros((6, 6))
    W[[0, 0, 1, 1, 2], [1, 2, 3, 4, 5]] = [0.7, -0.5, 1.1, 0.3, -0.9]
    tree = plain.Machine(W + W.T, np.linspace(-0.5, 0.6, 6), 1.3)
    assert same(plain.bethe(tree), plain.brute_force(tree))
    assert plain.mean_field(tree).log_z <= plain.brute_force(tree).log_z


@pytest.mark.parametrize("T", [1.0, 1.6])
@pytest.mark.parametrize("n", [3, 5])
def test_clamped_likelihood_and_gradient_with_and_without_hidden_units(n, T):
    model = learner(n, T)
    awake, asleep = plain.clamped(model, XOR), plain.brute_force(model)
    ours, free = bmlab.clamped(model, XOR), bmlab.exact(model)
    assert same(awake, ours)
    assert np.isclose(plain.log_likelihood(awake, asleep), float(bmlab.log_likelihood(ours, free)))
    for mine, theirs in zip(plain.gradient(model, awake, asleep), bmlab.gradient(model, ours, free), strict=True):
        assert np.allclose(mine, theirs, rtol=0, atol=1e-12)


def slope(function, model, i, j=None, step=1e-6):
    """The central difference of function over weight (i, j), or over bias i."""
    ends = []
    for sign in (1, -1):
        W, b = model.weights.copy(), model.biases.copy()
        if j is None:
            b[i] += sign * step
        else:
            W[i, j] = W[j, i] = W[i, j] + sign * step
        ends.append(function(plain.Machine(W, b, model.temperature)))
    return (ends[0] - ends[1]) / (2 * step)


@pytest.mark.parametrize("n", [3, 4])
def test_gradients_are_the_slopes_of_what_they_climb(n):
    """By central differences; their error is of the order step^2 + rounding / step = 1e-9."""
    model = learner(n, 1.4)

    def likelihood(m):
        return plain.log_likelihood(plain.clamped(m, XOR), plain.brute_force(m))

    pairs = [(likelihood, plain.gradient(model, plain.clamped(model, XOR), plain.brute_force(model)))]
    if n == 3:
        pairs.append((lambda m: plain.pseudo_log_likelihood(m, XOR), plain.pseudo_gradient(model, XOR)))
    for function, (d_weights, d_biases) in pairs:
        assert abs(slope(function, model, 0) - d_biases[0]) < 1e-8
        assert abs(slope(function, model, 0, n - 1) - d_weights[0, n - 1]) < 1e-8


def test_climbing_is_climbing_with_the_package():
    model = learner(4, 1.6)
    mine = list(plain.ascend(model, XOR, 0.2, 20))
    steps = bmlab.fit(model, XOR, rate=0.2, steps=20).steps
    assert np.allclose([found for _, found in mine], [float(step.log_likelihood) for step in steps])
    assert np.allclose(mine[-1][0].weights, steps[-1].model.weights, rtol=0, atol=1e-12)
    assert mine[-1][1] > mine[0][1]


def test_pseudolikelihood_is_that_of_the_package():
    model, data = learner(5), plain.coins(np.random.default_rng(0), 40, 5)
    assert np.isclose(plain.pseudo_log_likelihood(model, data), bmlab.pseudo_log_likelihood(model, data))
    flat = bmlab.pseudolikelihood(data).model
    assert max(np.abs(part).max() for part in plain.pseudo_gradient(flat, data)) < 1e-5
