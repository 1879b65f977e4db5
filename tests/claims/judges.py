"""Tools that claims of several notebooks share: machines to try, the exact laws of sweeps and climbs, and errors."""

from functools import cache

import numpy as np
from scipy.special import comb, log_softmax, softmax

import bmlab

ANIMALS, PENALTY = bmlab.data.zoo().data, 0.03

# Machines and tables to try


def glass(n, seed, temperature=1.0, scale=1.0):
    """A machine of the kind of medium(): all coupled to all at random."""
    return bmlab.sherrington_kirkpatrick(n, rng=np.random.default_rng(seed), scale=scale).at(temperature)


def other_glass(n, seed, *size):
    """One that is not in the notebooks' tables, which have seeds 0 to 19."""
    return glass(n, 1000 + seed, *size)


def few(seed):
    """Three or four units like the toy: weights of a size from 1/2 to 1, of either sign."""
    rng, n = np.random.default_rng(seed), 3 + seed % 2
    W = np.triu(rng.uniform(0.5, 1, size=(n, n)) * rng.choice([-1, 1], size=(n, n)), 1)
    return bmlab.BoltzmannMachine(W + W.T, rng.uniform(-0.5, 0.5, size=n), rng.choice([0.5, 1, 2]))


def pair(w, biases=(0, 0), T=1.0):
    """Two units."""
    return bmlab.BoltzmannMachine([[0, w], [w, 0]], biases, T)


def blank(n):
    """A machine without weights and biases."""
    return bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n))


def ring(n):
    """The weights of a ring, each unit tied to the next."""
    return np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0)


def couples(k):
    """The weights of k couples side by side."""
    return np.kron(np.eye(k), 1 - np.eye(2))


def crowd(n, pull, bias=0.0):
    """All n units tied to all by pull / (n - 1) at T = 1; the exact mean and correlation, sums of n + 1 terms."""
    pull, m = pull / (n - 1), 2 * np.arange(n + 1) - n
    share = softmax(log_ways(n) + pull * m**2 / 2 + bias * m)
    machine = bmlab.BoltzmannMachine(pull * (1 - np.eye(n)), np.full(n, bias))
    return machine, share @ m / n, (share @ m**2 - n) / (n * (n - 1))


def golf_course(n, depth):
    """One hole of 2^n places on a flat course: a hidden bit is on in the hole, where all n are on, and off elsewhere.

    Its probability is to that of all others as e^depth to 1.
    """
    W, b = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
    W[n, :n] = W[:n, n] = 20
    b[n] = n * np.log(2) + depth - 20 * n
    return bmlab.from_bits(W, b)


def one_against_all(seed):
    """One unit that is sure against 14 to 17 others that like to agree, as in 04b: AIS ends in the wrong valley."""
    rng = np.random.default_rng(seed)
    n, w, part = rng.integers(15, 19), rng.uniform(0.85, 1), rng.uniform(0.37, 0.43)
    biases = np.append(w * (n - 1) * 0.533, np.full(n - 1, -part * w))
    return bmlab.BoltzmannMachine(w * (1 - np.eye(n)), biases)


def table(seed, n=10):
    """101 animals drawn with replacement, and n of their properties."""
    rng = np.random.default_rng(seed)
    while True:
        drawn = ANIMALS[rng.integers(101, size=101)][:, rng.permutation(15)[:n] if n < 15 else slice(None)]
        if (np.abs(drawn.mean(0)) < 1).all():
            return drawn


def summit(data, penalty=0.03):
    """The best machine of the data."""
    return bmlab.maximize(blank(data.shape[1]), data, penalty=penalty).model


# How far a machine or an answer is off


def radius(model):
    """The spectral radius of W over T."""
    return np.abs(np.linalg.eigvalsh(model.weights)).max() / model.temperature


def scaled(weights, biases, to):
    """A machine at T = 1, its weights multiplied so that the spectral radius is `to`."""
    return bmlab.BoltzmannMachine(weights * (to / radius(bmlab.BoltzmannMachine(weights, biases))), biases)


def score(model, data):
    """The exact log-likelihood, in nats a row."""
    return bmlab.log_likelihood(bmlab.clamped(model, data), bmlab.exact(model)).value


def off(answer, model):
    """Root mean square error over all means and pairs."""
    right, pairs = bmlab.exact(model), np.triu_indices(model.n, 1)
    return np.sqrt(np.mean(np.r_[answer.mean - right.mean, (answer.corr - right.corr)[pairs]] ** 2))


def misplaced(q, p):
    """The probability that stands in the wrong place (total variation)."""
    return np.abs(q - p).sum(axis=-1) / 2


def log_ways(n):
    """In how many ways n units can hold 0, 1, ..., n of +1, in logarithms."""
    return np.log(comb(n, np.arange(n + 1)))


# The exact matrix of a sweep


def update_matrix(model, units, factor=2):
    """P of new values for all these units at the same time, each given the old state."""
    states = bmlab.states(model.n)
    up = 1 / (1 + np.exp(-factor * model.field(states) / model.temperature))
    P = np.ones((len(states), len(states)))
    for i in range(model.n):
        there = states[:, i] > 0
        P *= np.where(there, up[:, [i]], 1 - up[:, [i]]) if i in units else there[:, None] == there
    return P


def sweep_matrix(model, turns=None, factor=2):
    """P of a sweep: a unit a turn, or those of each turn together."""
    P = np.eye(2**model.n)
    for units in turns or [[i] for i in range(model.n)]:
        P = P @ update_matrix(model, units, factor)
    return P


def stationary(P):
    """The law that P keeps."""
    n = len(P)
    return np.linalg.lstsq(np.vstack([P.T - np.eye(n), np.ones(n)]), np.eye(n + 1)[n], rcond=None)[0]


def unbalanced(p, P):
    """The largest difference of the flows there and back."""
    flow = p[:, None] * P
    return np.abs(flow - flow.T).max()


def memory(P):
    """Sweeps after which the slowest memory of a walk has fallen to 1/e."""
    return -1 / np.log(np.sort(np.abs(np.linalg.eigvals(P)))[-2])


def walk(model, sweeps, rng):
    """The states of one chain after each sweep."""
    path = np.empty((sweeps, model.n))
    s = rng.choice([-1.0, 1.0], size=model.n)
    for k in range(sweeps):
        path[k] = s = bmlab.sweep(model, s, rng.random(model.n))
    return path


# Exact climbs side by side: each machine a row of parameters, the weights of the pairs first


@cache
def features(n):
    """The factor of each parameter, in each state: (2^n, n (n + 1) / 2)."""
    s = bmlab.states(n)
    i, j = np.triu_indices(n, 1)
    return np.hstack([s[:, i] * s[:, j], s])


def judged(rows, seen, T=1.0):
    """The log-likelihood L of each row and its slope, if the patterns have the frequencies `seen`."""
    phi = features(int(np.sqrt(2 * rows.shape[1])))
    logs = log_softmax(rows @ phi.T / T, axis=1)
    joint = logs.reshape(len(rows), len(seen), -1)  # hidden units change fastest
    visible = np.logaddexp.reduce(joint, axis=2)
    awake = (np.exp(joint - visible[:, :, None]) * seen[:, None]).reshape(logs.shape)
    return visible @ seen, (awake - np.exp(logs)) @ phi / T


def climbed(rows, seen, steps, rate=0.3, penalty=0.0):
    """The rows after `steps` steps uphill, and L on the way: (steps, rows)."""
    heights = []
    for _ in range(steps):
        height, slope = judged(rows, seen)
        heights.append(height)
        rows = rows + rate * (slope - penalty * rows)
    return rows, np.array(heights)
