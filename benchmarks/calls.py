"""Public calls, whole, beside the same question to another library, both in one process.

    python benchmarks/calls.py [word ...]     only rows that have one of the words

Each time is the least processor time of several turns on one thread, taken one after the other, after a first call
that does not count.  The ratio is the peer's over ours: above 1 bmlab is ahead.  Answers that a peer lacks (averages,
errors) are named in its row.  The peers in NumPy are written with care: no objects, no checks, one product if one is
enough.
"""

import sys
import warnings
from collections import deque
from functools import partial
from itertools import islice, pairwise
from time import process_time

import numpy as np
from numba import njit
from sampling import annealer
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

import bmlab
from bmlab.infer.sampling.chains import Chains
from bmlab.running.threads import one_thread_only

ENOUGH, TURNS = 0.2, 5  # seconds of a turn, and turns
gibbs = partial(bmlab.gibbs, rng=0)


def least(*calls):
    """The least processor seconds of each call over turns in which each is made often enough to be timed."""
    best = [np.inf] * len(calls)
    counts = []
    for call in calls:
        call()
        begin = process_time()
        call()
        counts.append(max(1, round(ENOUGH / max(1e-6, process_time() - begin))))
    for _ in range(TURNS if max(counts) > 1 else 3):
        for k, (call, count) in enumerate(zip(calls, counts, strict=True)):
            begin = process_time()
            for _ in range(count):
                call()
            best[k] = min(best[k], (process_time() - begin) / count)
    return best


def walks():
    """Rows of gibbs(): beside its own engines, and beside dwave."""
    for n, n_chains, n_sweeps in ((100, 1, 5000), (10, 20, 2600), (100, 10, 500), (100, 100, 1000), (100, 1000, 1000)):
        model = bmlab.sherrington_kirkpatrick(n, rng=0)
        call = partial(gibbs, model, n_chains=n_chains, n_sweeps=n_sweeps)
        yield (
            f"gibbs, {n} units x {n_chains} chains x {n_sweeps} sweeps",
            call,
            {
                "backend='numba'": partial(call, backend="numba"),
                "dwave, last states only": partial(annealer(model), n_sweeps + 100, num_reads=n_chains),
            },
        )
    lattice = bmlab.ising((64, 64)).at(2.3)

    def walk():
        rng = np.random.default_rng(0)
        chains = Chains(lattice, rng.choice([-1, 1], (lattice.n, 64)), rng, n_sweeps=1100)
        chains.sweep(1100)

    yield (
        "gibbs, lattice 64 x 64, 64 chains, 1,000 sweeps with averages",
        partial(gibbs, lattice, n_chains=64),
        {"its own walk": walk, "dwave, last states only": partial(annealer(lattice), 1100, num_reads=64)},
    )


def numpy_ais(model, visible, rng, n_chains=200, n_temperatures=200):
    """log Z and its error by AIS of a restricted machine in NumPy, hidden units summed over, from no weights at all."""
    weights, rng = model.weights[:visible, visible:], np.random.default_rng(rng)
    b, c = model.biases[:visible], model.biases[visible:]

    def log_cosh(x):
        x = abs(x)
        return x + np.log1p(np.exp(-2 * x))

    v = 2.0 * (rng.random((n_chains, visible)) < expit(2 * b)) - 1
    log_w = np.full(n_chains, log_cosh(b).sum() + len(c) * np.log(2))
    for low, high in pairwise(np.linspace(0, 1, n_temperatures + 1)):
        field = v @ weights + c
        log_w += (log_cosh(high * field) - log_cosh(low * field)).sum(1)
        h = 2.0 * (rng.random(field.shape) < expit(2 * high * field)) - 1
        v = 2.0 * (rng.random(v.shape) < expit(2 * (high * (h @ weights.T) + b))) - 1
    w = np.exp(log_w - log_w.max())
    return log_w.max() + np.log(w.mean()), w.std(ddof=1) / w.mean() / np.sqrt(n_chains)


def annealed():
    """Rows of ais(): seconds times the variance of log Z over seeds, the cost of an answer of a given error."""
    for visible, hidden in ((784, 100), (64, 20)):
        rng = np.random.default_rng(0)
        model = bmlab.restricted(
            rng.normal(scale=0.05, size=(visible, hidden)), rng.normal(scale=0.5, size=visible), np.zeros(hidden)
        )
        ours = partial(bmlab.ais, model, n_chains=200, n_temperatures=200)
        theirs = partial(numpy_ais, model, visible)
        yield (
            f"ais, {visible} + {hidden}, 200 runs x 200 temperatures, seconds x variance",
            partial(ours, rng=0),
            {"NumPy": partial(theirs, rng=0)},
            partial(spread, ours, theirs),
        )


def spread(ours, theirs):
    """The variance over 300 seeds of either log Z, each known to 8 %, their ratio to 12 %."""
    found = [(float(ours(rng=k).log_z), theirs(rng=k)[0]) for k in range(300)]
    return np.var(found, axis=0, ddof=1)


def numpy_climb(data, steps, rate=0.01, n_chains=100):
    """Steps of learning by persistent chains, one sweep a step, whose random numbers come together."""
    rng, n = np.random.default_rng(1), data.shape[1]
    weights, biases = np.zeros((n, n)), np.zeros(n)
    mean, corr = data.mean(0), data.T @ data / len(data)
    s = rng.choice([-1.0, 1.0], (n, n_chains))
    for _ in range(steps):
        threshold = np.log(1 / rng.random((n, n_chains)) - 1) / -2  # u < 1 / (1 + exp(-2 h)) if h > threshold
        for i in range(n):
            np.copysign(1.0, weights[i] @ s + biases[i] - threshold[i], out=s[i])
        slope = corr - s @ s.T / n_chains
        slope.flat[:: n + 1] = 0
        weights += rate * slope
        biases += rate * (mean - s.mean(1))
    return weights, biases


def climb(data, steps, rate=0.01):
    """The same by learning_steps()."""
    n = data.shape[1]
    one_sweep = partial(bmlab.gibbs, rng=np.random.default_rng(1), burn_in=0, n_sweeps=1)
    start = bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n))
    return deque(islice(bmlab.learning_steps(start, data, one_sweep, rate=rate), steps), maxlen=1)[0]


def by_scipy(data):
    """Maximum likelihood of n visible units by L-BFGS over all states, as one writes it with SciPy."""
    n = data.shape[1]
    i, j = np.triu_indices(n, 1)
    states = 2.0 * (np.arange(2**n)[:, None] >> np.arange(n) & 1) - 1
    features = np.hstack([states, states[:, i] * states[:, j]])
    seen = np.hstack([data, data[:, i] * data[:, j]]).mean(0)

    def loss(theta):
        logs = features @ theta
        log_z = logsumexp(logs)
        return log_z - theta @ seen, np.exp(logs - log_z) @ features - seen

    return minimize(loss, np.zeros(len(seen)), jac=True, method="L-BFGS-B", options={"gtol": 1e-7, "ftol": 0})


def learners():
    """Rows of learning_steps() and maximize()."""
    rng = np.random.default_rng(0)
    for n, steps in ((10, 200), (64, 100), (256, 30), (784, 10)):
        data = bmlab.spins(rng.integers(0, 2, (1000, n)))
        yield (
            f"learning_steps, {n} units, {steps} steps of 100 chains",
            partial(climb, data, steps),
            {"NumPy": partial(numpy_climb, data, steps)},
        )
    for name, machine in (("medium", bmlab.medium()), ("glass", bmlab.sherrington_kirkpatrick(10, rng=0))):
        data, start = bmlab.sample(machine, 10_000, rng=0), bmlab.BoltzmannMachine(np.zeros((10, 10)), np.zeros(10))
        yield (
            f"maximize, 10 units of {name}",
            partial(bmlab.maximize, start, data),
            {"SciPy's L-BFGS over the states": partial(by_scipy, data)},
        )


def fixed_point(weights, biases, response):
    """Mean field by iteration until it rests, and, if asked for, the inverse that gives its correlations."""
    mean = np.zeros(len(biases))
    while True:
        before, mean = mean, np.tanh(weights @ mean + biases)
        if abs(mean - before).max() < 1e-10:
            break
    if not response:
        return mean
    covariance = np.linalg.inv(np.diag(1 / (1 - mean**2)) - weights)
    return mean, covariance + np.outer(mean, mean)


def tap_fixed_point(weights, biases):
    """The TAP equations by iteration to rest, and the inverse that gives their correlations."""
    squares, mean = weights**2, np.zeros(len(biases))
    while True:
        reaction = squares @ (1 - mean**2)
        before, mean = mean, np.tanh(weights @ mean + biases - mean * reaction)
        if abs(mean - before).max() < 1e-10:
            break
    curvature = np.diag(1 / (1 - mean**2) + squares @ (1 - mean**2)) - weights - 2 * squares * np.outer(mean, mean)
    return mean, np.linalg.inv(curvature) + np.outer(mean, mean)


@njit(cache=True)
def sweeps_to_rest(weights, biases, temperature, mean):
    """Mean field, one unit after the other, to rest, in place."""
    moved = 1.0
    while moved > 1e-10:
        moved = 0.0
        for i in range(len(mean)):
            field = biases[i]
            for j in range(len(mean)):
                field += weights[i, j] * mean[j]
            new = np.tanh(field / temperature)
            moved, mean[i] = max(moved, abs(new - mean[i])), new


def lean_mean_field(model):
    """Means, the bound on log Z and linear response of mean field, in few lines: no checks, no test of the answer."""
    w, b, t = model.weights, model.biases, model.temperature
    m = np.tanh(b / t)
    sweeps_to_rest(w, b, t, m)
    up, down = (1 + m) / 2, (1 - m) / 2
    log_z = (m @ w @ m / 2 + b @ m) / t - (up * np.log(up) + down * np.log(down)).sum()
    return m, np.linalg.inv(np.diag(1 / (1 - m**2)) - w / t) + np.outer(m, m), log_z


def messages_to_rest(weights, biases):
    """Loopy belief propagation, all messages at once, to rest; means alone."""
    tanh_j, u = np.tanh(weights), np.zeros_like(weights)  # u[i, j] goes from j to i
    while True:
        total = biases + u.sum(1)
        before, u = u, np.arctanh(tanh_j * np.tanh(total - u.T))
        if abs(u - before).max() < 1e-10:
            return np.tanh(biases + u.sum(1))


def animals():
    """Return the machine of fifteen yes/no properties of animals."""
    data = bmlab.data.zoo().data
    return bmlab.maximize(bmlab.BoltzmannMachine(np.zeros((15, 15)), np.zeros(15)), data, penalty=0.03).model


def deterministic():
    """Rows of mean_field(), tap(), bethe() and exact()."""
    small, ties = animals(), bmlab.BoltzmannMachine((np.eye(200) - 1) / 200, np.zeros(200), 1.5)
    yield (
        "mean_field, 15 animals",
        partial(bmlab.mean_field, small),
        {"twenty compiled lines": partial(lean_mean_field, small)},
    )
    yield (
        "mean_field, 200 weak ties",
        partial(bmlab.mean_field, ties),
        {"NumPy's fixed point and one inverse": partial(fixed_point, ties.weights / 1.5, ties.biases, True)},
    )
    glass = bmlab.sherrington_kirkpatrick(200, rng=0, scale=0.3)
    peer = {"NumPy's fixed point and one inverse": partial(tap_fixed_point, glass.weights, glass.biases)}
    yield "tap, 200 units all coupled", partial(bmlab.tap, glass), peer
    peer = {"NumPy's messages at once, means only": partial(messages_to_rest, glass.weights, glass.biases)}
    yield "bethe, 200 units all coupled", partial(bmlab.bethe, glass), peer
    a, b, c = np.ones((3, 2**10, 2**10))
    peer = {"three products of its size": lambda: (b @ c, c @ a, a @ b)}
    yield "exact, 30 units", partial(bmlab.exact, bmlab.sherrington_kirkpatrick(30, rng=0)), peer
    cold = bmlab.sherrington_kirkpatrick(30, rng=1).at(0.001)
    yield "exact, 30 units at T = 0.001", partial(bmlab.exact, cold), {}
    torus = bmlab.ising((100, 100), field=0.1).at(6)
    w, b = torus.weights / torus.temperature, torus.biases / torus.temperature
    yield (
        "mean_field, torus 100 x 100",
        partial(bmlab.mean_field, torus),
        {"NumPy's fixed point, means only": partial(fixed_point, w, b, False)},
    )
    rng = np.random.default_rng(0)
    dense = bmlab.sherrington_kirkpatrick(1000, rng=0, scale=0.3)
    biases = rng.normal(scale=0.3, size=1000)
    dense = bmlab.BoltzmannMachine(dense.weights, biases)
    peer = {"NumPy's fixed point and one inverse": partial(fixed_point, dense.weights, biases, True)}
    yield "mean_field, 1,000 units all coupled", partial(bmlab.mean_field, dense), peer
    peer = {"NumPy's fixed point and one inverse": partial(tap_fixed_point, dense.weights, biases)}
    yield "tap, 1,000 units all coupled", partial(bmlab.tap, dense), peer
    n = 100_000
    line = np.arange(n - 1)
    half = sparse.coo_array((rng.normal(size=n - 1), (line, line + 1)), (n, n)).tocsr()
    chain = bmlab.BoltzmannMachine(half + half.T, rng.normal(size=n))
    yield "exact, chain of 100,000 units", partial(bmlab.exact, chain), {}


def main(*words):
    """Print the rows whose name has one of the words, all if there are none."""
    warnings.simplefilter("ignore", bmlab.NotConverged)
    for rows in (walks, annealed, learners, deterministic):
        for name, ours, peers, *weight in rows():
            if words and not any(word in name for word in words):
                continue
            seconds = least(ours, *peers.values())
            cost = np.multiply(seconds, weight[0]()) if weight else np.array(seconds)
            print(f"{name}: {1e3 * seconds[0]:.3g} ms")
            for peer, own, other in zip(peers, seconds[1:], cost[1:], strict=True):
                print(f"    beside {peer}: {1e3 * own:.3g} ms, {other / cost[0]:.2g} times", flush=True)


if __name__ == "__main__":
    with one_thread_only():
        main(*sys.argv[1:])
