"""gaussian_bound: a bound for every d; its derivatives by differences; its loss for free units by the formula."""

import numpy as np
from test_contract import machine

import bmlab
from bmlab.infer.bounds.gaussian_integral import _bound, gaussian_bound


def parameters(model):
    """Return J, b, and some d at which D - J is positive definite."""
    j = model.weights / model.temperature
    rng = np.random.default_rng(model.n)
    return j, model.biases / model.temperature, np.linalg.eigvalsh(j)[-1] + rng.exponential(size=model.n) + 0.1


def test_it_holds_for_every_diagonal():
    """At the best d, and at any."""
    for seed in range(30):
        model = machine(4 + seed % 8, seed, 0.2 + seed / 10, 0.5 + seed / 20, seed - 15)
        true, offset = bmlab.exact(model).log_z.value, model.offset / model.temperature
        best, somewhere = gaussian_bound(model), _bound(*parameters(model))[0] - offset
        assert true < best <= somewhere


def test_its_derivatives_are_its_own():
    """By central differences, which err by step^2 times a third derivative of some tens, and by 1e-15 / step."""
    (j, b, d), step = parameters(machine(7, 1, 1.5, 1.3)), 1e-4
    _, gradient, hessian = _bound(j, b, d)
    ends = [[_bound(j, b, d + sign * shift) for sign in (1, -1)] for shift in step * np.eye(7)]
    assert np.abs([(up[0] - down[0]) / (2 * step) for up, down in ends] - gradient).max() < 1e-6
    assert np.abs([(up[1] - down[1]) / (2 * step) for up, down in ends] - hessian).max() < 1e-6


def test_free_units_lose_what_the_formula_says():
    """Without fields or couplings B is least at d = 3/4: half of log(pi/2) + 1 - log(3/4) a unit, 0.18 too much."""
    for n in (1, 5):
        free = bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n), 1.7, offset=0.6)
        assert abs(gaussian_bound(free) - n * (np.log(np.pi / 2) + 1 - np.log(0.75)) / 2 + 0.6 / 1.7) < 1e-6


def test_it_is_infinite_where_the_integral_is():
    j, b, _ = parameters(machine(5))
    assert _bound(j, b, np.full(5, np.linalg.eigvalsh(j)[-1] - 1e-3))[0] == np.inf


def test_it_holds_in_large_fields_and_in_the_cold():
    """A unit in a large field has its best d near |b|; from a matrix that rounding makes singular nothing follows."""
    for seed in range(30):
        warm = machine(12, seed, 2.0, 1.0, 0.5)
        for model in (warm.at(1e-4), bmlab.BoltzmannMachine(warm.weights, 1e4 * warm.biases)):
            assert bmlab.exact(model).log_z.value < gaussian_bound(model)
