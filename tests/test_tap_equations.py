"""tap: its equation, the series of Plefka by its definition, and a glass above its transition."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import root
from test_contract import machine

import bmlab
from bmlab.infer.variational import tap_equations


def reaction(model, m):
    """Return m_i sum_j J_ij^2 (1 - m_j^2), the echo of each unit."""
    return m * ((model.weights / model.temperature) ** 2 @ (1 - m**2))


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_the_means_solve_their_equation():
    """m = tanh(field/T - echo); the last sweep moved less than 1e-12, and an update passes on a few times that."""
    for model in (machine(9, 1, 1.5, 1.3, 0.4), bmlab.ising((3, 5), 0.7, 0.2).at(2.5), bmlab.medium()):
        answer = bmlab.tap(model)
        m = answer.mean
        assert answer.info["stable"] and answer.info["sweeps"] < 2000
        assert np.abs(m - np.tanh(model.field(m) / model.temperature - reaction(model, m))).max() < 1e-11


def log_z_at_means(model, m):
    """Plefka's log Z at fixed means, by its definition: the fields x that hold them, from a sum over all states.

    log sum_s exp(J-part + x's) - x'm + b'm/T, which is least, and its gradient by x zero, where <s> = m.
    """
    s = bmlab.states(model.n)
    pairs = -model.energy(s) / model.temperature - s @ model.biases / model.temperature
    pull = model.biases / model.temperature

    def moments(x):
        logs = pairs + s @ x
        weight = np.exp(logs - logs.max())
        return logs.max() + np.log(weight.sum()), weight @ s / weight.sum()

    x = root(lambda x: moments(x)[1] - m, np.arctanh(m), tol=1e-14).x
    return moments(x)[0] + (pull - x) @ m


def test_the_series_is_right_order_by_order():
    """Summed to order k, the series is off by the term of order k + 1: 2^(k + 1) times less with half the weights."""
    m = np.array([0.3, -0.5, 0.1, 0.6, -0.2])
    errors = []
    for scale in (0.04, 0.02):
        model = machine(5, 2, scale, temperature=1.4, offset=0.3)
        errors.append(np.cumsum(tap_equations.plefka_orders(model, m)) - log_z_at_means(model, m))
    assert (np.abs(np.log2(np.divide(*errors)) - [1, 2, 3, 4]) < 10 * 0.04).all()


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_without_biases_the_terms_are_sums_of_pairs_and_of_triangles(to):
    j = machine(7, 3).weights / 1.7
    model = bmlab.BoltzmannMachine(to(1.7 * j), np.zeros(7), 1.7, offset=0.5)
    answer = bmlab.tap(model)
    expected = [7 * np.log(2) - 0.5 / 1.7, 0, (j**2).sum() / 4, np.trace(j @ j @ j) / 6]
    assert np.abs(answer.info["orders"] - expected).max() < 1e-14 * 10
    assert (
        abs(answer.log_z.value - sum(expected[:3])) < 1e-14 * 10
        and np.isinf([answer.log_z.lower, answer.log_z.upper]).all()
    )


@pytest.mark.parametrize("echo", [0.0, 0.3, 40.0, 1e4])
def test_one_unit_is_solved_at_any_size(echo):
    field = np.concatenate([-np.geomspace(1e5, 1e-9, 50), [0], np.geomspace(1e-9, 1e5, 50)])
    x = tap_equations._without_echo(field, np.full(101, echo))
    assert (np.abs(x + echo * np.tanh(x) - field) <= 1e-13 * (1 + np.abs(field)) * (1 + echo)).all()
