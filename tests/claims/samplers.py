"""What the claims of 03, 03b and 03c share: machines to try, and the exact matrix of a sweep."""

import numpy as np

import bmlab

SEEDS = range(20)


def glass(n, seed, temperature=1.0, scale=1.0):
    """A machine of the kind of medium(): all coupled to all at random."""
    return bmlab.sherrington_kirkpatrick(n, np.random.default_rng(seed), scale).at(temperature)


def few(seed, low=0.5, high=1.0):
    """Three or four units like the toy: weights of a size from low to high, of either sign."""
    rng, n = np.random.default_rng(seed), 3 + seed % 2
    W = np.triu(rng.uniform(low, high, size=(n, n)) * rng.choice([-1, 1], size=(n, n)), 1)
    return bmlab.BoltzmannMachine(W + W.T, rng.uniform(-0.5, 0.5, size=n), rng.choice([0.5, 1, 2]))


def update_matrix(model, units):
    """P of new values for all these units at the same time, each given the old state."""
    states = bmlab.states(model.n)
    up = 1 / (1 + np.exp(-2 * model.field(states) / model.temperature))
    P = np.ones((len(states), len(states)))
    for i in range(model.n):
        there = states[:, i] > 0
        P *= np.where(there, up[:, [i]], 1 - up[:, [i]]) if i in units else there[:, None] == there
    return P


def sweep_matrix(model):
    """P of a sweep."""
    P = np.eye(2**model.n)
    for i in range(model.n):
        P = P @ update_matrix(model, [i])
    return P


def unbalanced(p, P):
    """The largest difference of the flows there and back."""
    flow = p[:, None] * P
    return np.abs(flow - flow.T).max()


def stationary(P):
    """What a chain of positive P ends in."""
    return np.linalg.matrix_power(P, 2**16)[0]


def misplaced(q, p):
    """The probability that stands in the wrong place."""
    return np.abs(q - p).sum() / 2


def memory(model):
    """The second-largest eigenvalue of a sweep, by size."""
    return np.sort(np.abs(np.linalg.eigvals(sweep_matrix(model))))[-2]


def walk(model, sweeps, rng):
    """The states of one chain after each sweep."""
    path = np.empty((sweeps, model.n))
    s = rng.choice([-1.0, 1.0], size=model.n)
    for k in range(sweeps):
        path[k] = s = bmlab.sweep(model, s, rng.random(model.n))
    return path
