"""The whole course in one file: a Boltzmann machine, every method, and how it learns.

    E(s) = -1/2 s'Ws - b's          s in {-1, +1}^n,  W symmetric with a zero diagonal
    p(s) = exp(-E(s)/T) / Z         Z = sum of exp(-E(s)/T) over all 2^n states
    dL/dW = (<ss'>_clamped - <ss'>_free) / T,      dL/db = (<s>_clamped - <s>_free) / T

Plain NumPy, without the rest of bmlab and without checks: the file to read first, and the reference for all others.
The package's functions do the same for larger machines, faster, and with the error of each number; the tests compare
them with these.  A `model` is any object with weights W (n, n), biases b (n,) and temperature T.
"""

from typing import NamedTuple

import numpy as np


class Machine(NamedTuple):
    """A machine; a bmlab.BoltzmannMachine with dense weights and no offset works as well."""

    weights: np.ndarray  # (n, n)
    biases: np.ndarray  # (n,)
    temperature: float = 1.0


class Answer(NamedTuple):
    """The answer of every method; quantities that it cannot compute are nan."""

    mean: np.ndarray  # <s_i>, (n,)
    corr: np.ndarray  # <s_i s_j>, (n, n)
    log_z: float


def states(n):
    """Return all 2^n states, (2^n, n), counted in binary: -1 is 0, +1 is 1, the first unit is the leading digit."""
    digits = np.arange(2**n)[:, None] >> np.arange(n)[::-1] & 1  # of each number k, in binary: (2^n, n)
    return 2.0 * digits - 1


def energy(model, s):
    """Return E(s) of states s (..., n)."""
    return -((s @ model.weights) * s).sum(axis=-1) / 2 - s @ model.biases


# ---- Exactly: all 2^n states ----


def brute_force(model):
    """Sum over all states.  Logarithms, since exp(-E/T) overflows and Z with it; log-sum-exp does not."""
    s = states(len(model.biases))
    log_factor = -energy(model, s) / model.temperature
    log_z = np.logaddexp.reduce(log_factor)
    p = np.exp(log_factor - log_z)
    return Answer(p @ s, s.T @ (p[:, None] * s), log_z)


# ---- By chance: one unit after the other ----


def sweep(model, s, u):
    """Set each unit by its own distribution given all others.  States s and uniforms u are (chains, n)."""
    s = s.copy()
    for i in range(len(model.biases)):
        h = s @ model.weights[i] + model.biases[i]  # (chains,)
        p = 1 / (1 + np.exp(-2 * h / model.temperature))  # of +1: its energy is lower by 2h than that of -1
        s[:, i] = np.where(u[:, i] < p, 1, -1)
    return s


def coins(rng, chains, n):
    """Return states (chains, n) of fair coins, the start of the walks."""
    return rng.choice([-1.0, 1.0], size=(chains, n))


def gibbs(model, rng, chains=100, burn_in=100, sweeps=1000):
    """Average over the states that `chains` walks visit after burn_in sweeps; log Z is nan."""
    s = coins(rng, chains, len(model.biases))
    mean, corr = np.zeros(len(model.biases)), np.zeros_like(model.weights)
    for k in range(burn_in + sweeps):
        s = sweep(model, s, rng.random(s.shape))
        if k >= burn_in:
            mean, corr = mean + s.mean(axis=0), corr + s.T @ s / chains
    return Answer(mean / sweeps, corr / sweeps, np.nan)


def visited(model, rng, chains=100, sweeps=100):
    """Return the log of the sum of exp(-E/T) over the distinct states visited: a lower bound on log Z."""
    s, seen = coins(rng, chains, len(model.biases)), set()
    for _ in range(sweeps):
        s = sweep(model, s, rng.random(s.shape))
        seen.update(map(tuple, s))
    return np.logaddexp.reduce(-energy(model, np.array(list(seen))) / model.temperature)


def ais(model, rng, walks=100, steps=1000):
    """Return log Z by annealed importance sampling (Neal 2001).

    1/T grows in equal steps from 0, where the states are fair coins and Z is 2^n.  Each step multiplies a walk's weight
    by exp(-E/T) at the new over that at the old temperature.  The mean weight is unbiased for Z; its log is a bit low.
    """
    n = len(model.biases)
    s, log_weight = coins(rng, walks, n), np.full(walks, n * np.log(2))
    for k in range(1, steps + 1):
        log_weight -= energy(model, s) / model.temperature / steps
        hotter = Machine(model.weights, model.biases, model.temperature * steps / k)
        s = sweep(hotter, s, rng.random(s.shape))
    return np.logaddexp.reduce(log_weight) - np.log(walks)


# ---- By averages: no states at all ----


def mean_field(model, sweeps=1000):
    """Find independent units with log Z >= -F/T as large as can be: F = <E> - T H is least where m_i = tanh(h_i / T).

    H is their entropy.  From another start it may end in another valley of F.
    """
    W, b, T = model.weights, model.biases, model.temperature
    m = np.tanh(b / T)
    for _ in range(sweeps):
        for i in range(len(b)):
            m[i] = np.tanh((W[i] @ m + b[i]) / T)
    log_z = entropy(m) - energy(model, m) / T  # -F/T
    A = np.diag(1 / (1 - m**2)) - W / T  # of b/T = artanh(m) - W m / T
    return Answer(m, linear_response(A, m), log_z)


def entropy(m):
    """Return the entropy of independent units with means m, in nats; 0 log 0 is 0."""
    p = np.array([1 + m, 1 - m]) / 2
    return -(p * np.log(np.maximum(p, 1e-300))).sum()


def linear_response(A, m):
    """Return <s_i s_j> from the response of the means m to a small change of the fields x = b/T: C_ij = dm_i/dx_j.

    (The derivative of <s_i> = sum s_i exp(-E/T) / Z is <s_i s_j> - <s_i><s_j>.)  A is dx/dm of an approximation, C its
    inverse.  A unit's own variance is set to 1 - m^2, which is more accurate.
    """
    corr = np.linalg.inv(A) + np.outer(m, m)
    np.fill_diagonal(corr, 1)
    return corr


def tap(model, sweeps=1000):
    """Subtract from each field the unit's echo, the part of the field that its own mean causes through its neighbours.

    Thouless, Anderson and Palmer (1977): the next order of F in the couplings J = W/T.
    """
    J, b = model.weights / model.temperature, model.biases / model.temperature
    m = np.tanh(b)
    for _ in range(sweeps):
        for i in range(len(b)):
            echo = m[i] * (J[i] ** 2 @ (1 - m**2))
            m[i] = (m[i] + np.tanh(J[i] @ m + b[i] - echo)) / 2  # half a step: whole steps may oscillate without end
    v = 1 - m**2
    log_z = entropy(m) - energy(model, m) / model.temperature + v @ J**2 @ v / 4
    A = np.diag(1 / v + J**2 @ v) - J - 2 * J**2 * np.outer(m, m)
    return Answer(m, linear_response(A, m), log_z)


def bethe(model, rounds=1000):
    """Pass messages between partners, each from all the others' messages: exact on trees (Bethe 1935, Pearl 1988).

    u[j, i] is the field that j exerts on i, over T;  h[j, i] the field of j without i's message.  A pair by
    itself, coupled by J in the fields h, has covariance c; A: Ricci-Tersenghi (2012).  With loops it may not settle.
    """
    J, b = model.weights / model.temperature, model.biases / model.temperature
    u = h = np.zeros_like(J)
    for _ in range(rounds):
        h = (b + u.sum(axis=0))[:, None] - u.T
        u = np.arctanh(np.tanh(J) * np.tanh(h))
    field, t = b + u.sum(axis=0), np.tanh(J)
    m, to, fro = np.tanh(field), np.tanh(h), np.tanh(h.T)
    c = (t + to * fro) / (1 + t * to * fro) - np.outer(m, m)  # covariances of pairs by themselves; 0 where J is 0
    D = np.outer(1 - m**2, 1 - m**2) - c**2
    A = np.diag((1 + (c**2 / D).sum(axis=1)) / (1 - m**2)) - c / D
    # log of the sum over the four states of a pair, and over the two of a unit
    log_pair = np.logaddexp(J + np.logaddexp(h + h.T, -h - h.T), np.logaddexp(h - h.T, h.T - h) - J)
    log_unit = np.logaddexp(field, -field)
    n = len(b)  # a unit stands in n - 1 pairs, and must count once
    return Answer(m, linear_response(A, m), log_pair[np.triu_indices(n, 1)].sum() - (n - 2) * log_unit.sum())


# ---- Learning: clamped minus free ----


def clamped(model, data, infer=brute_force):
    """Average the answers over the rows of data (N, v): the first v units are clamped to a row, the others are hidden.

    The hidden units form a smaller machine; the field of the clamped units is part of its biases.
    """
    v = data.shape[1]
    seen = Machine(model.weights[:v, :v], model.biases[:v])  # for its energy, which needs no T
    answers = []
    for row in data:
        mean, corr, log_z = row, np.outer(row, row), -energy(seen, row) / model.temperature
        if v < len(model.biases):
            felt = model.biases[v:] + row @ model.weights[:v, v:]
            hidden = infer(Machine(model.weights[v:, v:], felt, model.temperature))
            mean = np.append(row, hidden.mean)
            corr = np.outer(mean, mean)
            corr[v:, v:] = hidden.corr
            log_z += hidden.log_z
        answers.append(Answer(mean, corr, log_z))
    return Answer(*(np.mean(part, axis=0) for part in zip(*answers, strict=True)))


def log_likelihood(clamped, free):
    """Return the mean log-probability of the rows, in nats: log p(v) = log Z(clamped to v) - log Z."""
    return clamped.log_z - free.log_z


def gradient(model, clamped, free):
    """Return the slope of the log-likelihood over (weights, biases)."""
    d_weights = (clamped.corr - free.corr) / model.temperature
    np.fill_diagonal(d_weights, 0)
    return d_weights, (clamped.mean - free.mean) / model.temperature


def learning_steps(model, data, rate, steps, infer=brute_force):
    """Climb the likelihood of data (N, v), and yield (model, log-likelihood) before each step.

    infer   function  machine -> Answer; for gibbs, pass infer=lambda machine: gibbs(machine, rng)
    """
    for _ in range(steps):
        data_phase, free = clamped(model, data, infer), infer(model)
        yield model, log_likelihood(data_phase, free)
        d_weights, d_biases = gradient(model, data_phase, free)
        model = Machine(model.weights + rate * d_weights, model.biases + rate * d_biases, model.temperature)


# ---- Learning without log Z ----


def pseudo_log_likelihood(model, data):
    """Return the mean over the rows of sum_i log p(s_i | the others) (Besag 1975); every unit is seen.

    log p = -log(1 + exp(-2 s_i h_i / T)), by the formula in sweep().
    """
    h = data @ model.weights + model.biases
    return -np.logaddexp(0, -2 * data * h / model.temperature).sum(axis=1).mean()


def pseudo_gradient(model, data):
    """Return its slope over (weights, biases): each unit minus its prediction by the others; no free phase."""
    surprise = data - np.tanh((data @ model.weights + model.biases) / model.temperature)  # (N, n)
    d_weights = (surprise.T @ data + data.T @ surprise) / len(data)  # w_ij stands in h_i and in h_j
    np.fill_diagonal(d_weights, 0)
    return d_weights / model.temperature, surprise.mean(axis=0) / model.temperature
