"""The course in one file, and the package: the same numbers, to rounding or within the error that is stated.

plain.py is held against laws of its own too (energies by hand, slopes by differences), so that the two cannot be wrong
together.  Its sum over states, clamped phase, gradient, sweep and climb are the referees of test_contract.py,
test_gibbs.py and test_ascent.py.
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


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@machines
@pytest.mark.parametrize("name", ["mean_field", "tap", "bethe"])
def test_theories_are_those_of_the_package(model, name):
    assert same(getattr(plain, name)(model), getattr(bmlab, name)(model), 1e-8)


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


def test_pseudolikelihood_is_that_of_the_package():
    model, data = learner(5), plain.coins(np.random.default_rng(0), 40, 5)
    assert np.isclose(plain.pseudo_log_likelihood(model, data), bmlab.pseudo_log_likelihood(model, data))
