"""What 03b_long_enough says of chains, attacked: other machines, other seeds, equal work; exactly if possible."""

import warnings
from math import lgamma

import numpy as np
from referee import claim
from samplers import SEEDS, glass, memory, misplaced, sweep_matrix

import bmlab

warnings.simplefilter("ignore", bmlab.NotConverged)


@claim("03b-hand")
def memory_of_a_pair():
    """So after one sweep the average of $s_1$ is $\\tanh^2(w/T)$ times what it was."""
    for seed in SEEDS:
        w, T = np.random.default_rng(seed).uniform(0.2, 3, size=2)
        pair = bmlab.BoltzmannMachine([[0, w], [w, 0]], [0, 0], T)
        mean = sweep_matrix(pair) @ bmlab.states(2)[:, 1]
        yield 1e-12 - np.abs(mean - np.tanh(w / T) ** 2 * bmlab.states(2)[:, 1]).max()


@claim("03b-cold-a")
def exponential_in_the_cold():
    """so the time grows like $e^{2w/T}$: it is an *exponential* of $1/T$"""
    for w in np.linspace(0.5, 2, 20):  # at half the temperature the logarithm of the time grows by 2w/T
        T = w / 3
        time = [-1 / np.log(memory(bmlab.BoltzmannMachine([[0, w], [w, 0]], [0, 0], t))) for t in (T, T / 2)]
        yield 0.05 - abs(np.log(time[1] / time[0]) / (2 * w / T) - 1)


@claim("03-39")
def colder_is_slower():
    """Colder is slower, here and on all glasses that we tried."""
    yield min(np.diff([memory(bmlab.toy().at(T)) for T in (4, 1, 0.3)]))
    for seed in SEEDS:
        for n in 3, 6:
            hot, warm, cold = (memory(glass(n, seed, T)) for T in (4, 1, 0.3))
            yield min(warm - hot, cold - warm)


@claim("03-39")
def but_not_where_biases_decide():
    """Where the biases alone decide, cold is fast"""
    for seed in SEEDS:
        W = glass(5, seed).weights
        decided = bmlab.BoltzmannMachine(W, np.sign(W[0] + 0.1) * (np.abs(W).sum(axis=1) + 0.5))
        yield memory(decided) - memory(decided.at(0.1))


@claim("03-42")
def hot_energies_vary_more():
    """at high temperature the energy fluctuates *more*"""
    for seed in SEEDS:
        for n in 8, 14:
            hot, cold = (spread(glass(n, seed, T)) for T in (4, 0.3))
            yield hot - cold


def spread(model):
    """The standard deviation of the energy, exactly."""
    p, energy = bmlab.probabilities(model), model.energy(bmlab.states(model.n))
    return np.sqrt(p @ energy**2 - (p @ energy) ** 2)


@claim("03-42")
def flat_and_wrong():
    """**A flat trace is not a converged one.**"""
    for seed in SEEDS:  # the cold trace varies less, and yet forgets more slowly
        hot, cold = (glass([6, 8][seed % 2], seed, T) for T in (4, 0.3))
        yield memory(cold) - memory(hot) if spread(cold) < spread(hot) / 2 else -1


@claim("03-50")
def ample_and_too_short():
    """So a burn-in of 100 sweeps is ample at $T = 1$ and too short at $T = 0.3$."""
    for seed in SEEDS:  # from the worst start; ample: less than one per cent is misplaced
        machine, left = bmlab.medium() if seed == 0 else glass(8, seed), []
        for T in 1, 0.3:
            after = np.linalg.matrix_power(sweep_matrix(machine.at(T)), 100)
            left.append(max(misplaced(row, bmlab.probabilities(machine.at(T))) for row in after))
        yield min(0.01 - left[0], left[1] - 0.01)


def covered(model, seed, repeats):
    """The share of intervals of two errors that hold the exact mean, naive and honest, over all units."""
    rng, mean = np.random.default_rng(seed), bmlab.exact(model).mean
    runs = [bmlab.gibbs(model, rng=rng, n_chains=20, burn_in=50, n_sweeps=100) for _ in range(repeats)]
    off = np.abs([run.mean - mean for run in runs])
    naive = np.sqrt((1 - np.square([run.mean for run in runs])) / 2000)
    return (off < 2 * naive).mean(), (off < 2 * np.array([run.mean_stderr for run in runs])).mean()


@claim("03-55")
def close_to_what_they_promise():
    """Over all ten units the honest intervals hold 94 % of the time, close to the 95 % that two standard errors
    promise."""
    for seed in SEEDS:
        yield 0.04 - abs(covered(bmlab.medium(), seed, 100)[1] - 0.95)


@claim("03-55")
def naive_intervals():
    """The naive ones hold about two times in three."""
    for seed in SEEDS:
        yield 0.08 - abs(covered(bmlab.medium(), seed, 100)[0] - 2 / 3)


@claim("03-62")
def the_same_ess():
    """But R-hat is 1.079 for the short chains and 1.011 for the long ones"""
    for seed in SEEDS:
        short, long = agreement(bmlab.medium(), seed, 100, 100), agreement(bmlab.medium(), seed, 10, 1000)
        yield short["rhat"] - long["rhat"] - 0.02 if 0.5 < short["ess"] / long["ess"] < 2 else -1


@claim("03-62")
def only_longer_ones():
    """More chains do not help R-hat, only longer ones do."""
    for seed in SEEDS:  # ten times as many bring less than a third of what is lacking; ten times longer bring half
        model = bmlab.medium() if seed == 0 else glass(10, seed)
        first = agreement(model, seed, 100, 100)["rhat"] - 1
        more, longer = agreement(model, seed, 1000, 100)["rhat"] - 1, agreement(model, seed, 100, 1000)["rhat"] - 1
        yield min(more / first - 2 / 3, 1 / 2 - longer / first)


def agreement(model, seed, chains, sweeps):
    """What gibbs says of its chains."""
    return bmlab.gibbs(model, rng=seed, n_chains=chains, n_sweeps=sweeps).info


@claim("03-64")
def a_mode_that_no_chain_has_found():
    """**A mode that no chain has found is invisible to every test that looks at the chains only.**"""
    for seed in SEEDS:
        magnet = bmlab.ising([(4, 4), (4, 5), (5, 5)][seed % 3]).at([1, 0.8][seed % 2])
        run = bmlab.gibbs(magnet, rng=seed, start=np.ones((40, magnet.n)), n_sweeps=500 * (1 + 9 * (seed % 2)))
        yield np.log10(np.abs(run.mean / run.mean_stderr).min() / 100) if run.converged else -1


@claim("03-69")
def equal_work_on_the_magnet():
    """Give `gibbs` the same work, six times as many sweeps, and it keeps its error; six times as many chains, and it
    still has about twice the error of `temper`."""
    for seed in SEEDS:
        magnet = bmlab.ising((4, 4))
        tempered = bmlab.temper(magnet, rng=seed, n_chains=40, n_sweeps=500)
        work, few_chains = len(tempered.info["temperatures"]), 1 / np.sqrt(40)
        longer = bmlab.gibbs(magnet, rng=seed, n_chains=40, n_sweeps=500 * work)
        more = bmlab.gibbs(magnet, rng=seed, n_chains=40 * work, n_sweeps=500)
        error = [run.mean_stderr.mean() for run in (tempered, longer, more)]
        yield min(error[1] / few_chains - 0.75, error[2] / error[0] - 1.5) if work == 6 else -1


@claim("d5b569e9")
def no_longer_memory():
    """at no temperature of the slider does the energy remember longer than unit 1"""
    for T in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1, 1.3, 1.6, 2):  # exactly, at lags of 1 and 5
        model = bmlab.medium().at(T)
        P, p, states = sweep_matrix(model), bmlab.probabilities(model), bmlab.states(10)
        kept = []
        for x in states[:, 1], model.energy(states):
            x = x - p @ x
            kept.append([p @ (x * (np.linalg.matrix_power(P, lag) @ x)) / (p @ x**2) for lag in (1, 5)])
        yield from np.subtract(*kept)


@claim("03b-close")
def may_still_miss_a_mode():
    """A sampler that passes all three may still miss a mode of a large machine."""
    for seed in SEEDS:  # the biases draw all scattered starts up; deeper, by far, lie a pattern and its mirror image
        rng, n = np.random.default_rng(seed), [200, 240][seed % 2]
        pattern = rng.permutation(np.repeat([-1.0, 1.0], n // 2))
        W = 2.6 * (np.outer(pattern, pattern) - np.eye(n)) / n
        model = bmlab.BoltzmannMachine(W, np.ones(n), 0.5)
        run = bmlab.gibbs(model, rng=rng, n_chains=20, burn_in=200, n_sweeps=8000)
        yield abs(run.mean.mean() - mean_of_halves(n)) - 0.5 if run.converged else -1


def mean_of_halves(n):
    """The exact mean of all units, summed over how many are up in each half of the pattern."""
    a, b = np.meshgrid(*[2 * np.arange(n // 2 + 1) - n // 2] * 2)
    ways = np.array([lgamma(n // 2 + 1) - lgamma(k + 1) - lgamma(n // 2 - k + 1) for k in range(n // 2 + 1)])
    logs = ways[:, None] + ways + (1.3 * (a - b) ** 2 / n + (a + b)) / 0.5
    p = np.exp(logs - np.logaddexp.reduce(logs, axis=None))
    return (p * (a + b)).sum() / n
