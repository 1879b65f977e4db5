"""tap: the series of Plefka by its definition, and its equation for one unit; plain.tap() is the rest."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import root
from test_contract import machine

import bmlab
from bmlab.infer.variational import tap_equations


def log_z_at_means(model, m):
    """Plefka's log Z at fixed means, by its definition: the fields x that hold them, from a sum over all states.

    log sum_s exp(J-part + x's) - x'm + b'm/T, which is least, and its gradient by x is zero, if <s> = m.
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


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array])
def test_the_series_is_right_order_by_order(to):
    """Summed to order k, the series is off by the term of order k + 1: 2^(k + 1) times less with half the weights."""
    m = np.array([0.3, -0.5, 0.1, 0.6, -0.2])
    errors = []
    for scale in (0.04, 0.02):
        model = machine(5, 2, scale, temperature=1.4, offset=0.3)
        orders = tap_equations.plefka_orders(replace(model, weights=to(model.weights)), m)
        errors.append(np.cumsum(orders) - log_z_at_means(model, m))
    assert (np.abs(np.log2(np.divide(*errors)) - [1, 2, 3, 4]) < 10 * 0.04).all()


@pytest.mark.parametrize("echo", [0.0, 0.3, 40.0, 1e4])
def test_one_unit_is_solved_at_any_size(echo):
    field = np.concatenate([-np.geomspace(1e5, 1e-9, 50), [0], np.geomspace(1e-9, 1e5, 50)])
    m = tap_equations.mean_without_echo(field, np.full(101, echo))
    slope = 1 / (1 - m**2 + 1e-300) + echo  # of atanh(m) + echo m, whose inverse m is
    free = np.abs(m) < 1
    assert (np.abs(np.arctanh(m[free]) + echo * m[free] - field[free]) <= 1e-13 * slope[free] * (1 + echo)).all()
    assert (np.abs(field[~free]) > 15 + echo).all() and (m[~free] == np.sign(field[~free])).all()
