"""What 03c_z_from_samples says of log Z, attacked: other machines, other seeds, equal work; exactly if possible."""

import warnings
from functools import cache
from itertools import pairwise

import numpy as np
from referee import claim
from samplers import SEEDS, few, glass, sweep_matrix, walk

import bmlab

warnings.simplefilter("ignore", bmlab.NotConverged)


@claim("03c-count-a")
def the_state_met_most_often():
    """So take the state that is met most often."""
    for seed in SEEDS:  # of 2000 estimates of log Z those from the most probable state are off least
        p, rng = bmlab.probabilities(few(seed)), np.random.default_rng(seed)
        counts = rng.multinomial(1000, p, size=2000).clip(1)
        off = np.sqrt((np.log(counts / 1000 / p) ** 2).mean(axis=0))
        yield 1.1 * off.min() - off[p.argmax()]  # states nearly as probable are as good


def lacks(model, sweeps, rng):
    """By how much the sum over the states that a chain visits falls short, in nats."""
    seen = np.unique(walk(model, sweeps, rng), axis=0)
    return bmlab.exact(model).log_z.value - np.logaddexp.reduce(-model.energy(seen) / model.temperature)


@claim("03-77")
def colder_lacks_less():
    """At $T = 1$ it has seen only 325, and lacks half as much"""
    for seed in SEEDS:  # or less, on machines of the kind
        hot, cold = (lacks(glass(10, seed, T), 2000, np.random.default_rng(seed)) for T in (4, 1))
        yield hot - cold


@claim("03c-starves")
def entropy_grows():
    """$S$ grows with $n$, and the number of states that matter like $e^S$"""
    for seed in SEEDS:
        for T in 1, 4:
            yield bmlab.entropy(glass(18, seed, T)) - bmlab.entropy(glass(9, seed, T)) - 0.5


def annealed(model, steps, chains, rng):
    """my_ais of the notebook: log Z and the error that it claims."""
    T, b, betas = model.temperature, model.biases, np.linspace(0, 1, steps + 1)
    s = np.where(rng.random((chains, model.n)) < 1 / (1 + np.exp(-2 * b / T)), 1.0, -1.0)
    log_w = np.zeros(chains)
    for old, new in pairwise(betas):
        log_w += (new - old) * (s * (s @ model.weights)).sum(axis=1) / (2 * T)
        s = bmlab.sweep(bmlab.BoltzmannMachine(new * model.weights, b, T), s, rng.random(s.shape))
    w = np.exp(log_w - log_w.max())
    log_z = np.logaddexp(b / T, -b / T).sum() + log_w.max() + np.log(w.mean())
    return log_z, w.std(ddof=1) / w.mean() / np.sqrt(chains)


@claim("03c-ais")
def the_expected_weight():
    """**the expected importance weight is exactly Z over Z0, however short the schedule.**"""
    for seed in SEEDS:
        model, betas = glass(4, seed, 0.5), np.linspace(0, 1, 2 + seed % 4)
        parts = [bmlab.BoltzmannMachine(beta * model.weights, model.biases, model.temperature) for beta in betas]
        energies = [part.energy(bmlab.states(4)) / part.temperature for part in parts]
        weighted = bmlab.probabilities(parts[0])
        for before, after, part in zip(energies, energies[1:], parts[1:], strict=False):
            weighted = (weighted * np.exp(before - after)) @ sweep_matrix(part)
        ratio = bmlab.exact(model).log_z.value - bmlab.exact(parts[0]).log_z.value
        yield 1e-9 - abs(np.log(weighted.sum()) - ratio)


@claim("03-83")
def the_error_bar_is_wrong_too():
    """**The error bar is wrong too**"""
    exact = bmlab.exact(bmlab.medium().at(0.3)).log_z.value
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        log_z, stderr = np.transpose([annealed(bmlab.medium().at(0.3), 1, 200, rng) for _ in range(100)])
        yield 0.5 - (np.abs(log_z - exact) < 2 * stderr).mean()


@claim("03-83")
def a_third_of_the_error():
    """At $T = 1$, from ten steps on, ten times as many give a third of the error"""
    for seed in SEEDS:
        model = bmlab.medium() if seed == 0 else glass(10, seed)
        errors = [annealed(model, steps, 500, np.random.default_rng(seed))[1] for steps in (10, 100, 1000)]
        yield 0.1 - max(abs(errors[1] / errors[0] - 1 / 3), abs(errors[2] / errors[1] - 1 / 3))


@claim("03-83")
def right_together():
    """With more steps value and error come right together"""
    for seed in SEEDS:
        cold = bmlab.medium().at(0.3) if seed == 0 else glass(10, seed, 0.3)
        log_z, stderr = annealed(cold, 1000, 200, np.random.default_rng(seed))
        yield 4 - abs(log_z - bmlab.exact(cold).log_z.value) / stderr if stderr < 0.1 else -1


@claim("03-83")
def too_low_on_average():
    """$\\log Z$ from AIS is too low on average, a little where the error is small and a lot where it is large"""
    for seed in SEEDS:
        for T, steps in (0.3, 1), (1, 1):
            model, rng = glass(10, seed, T), np.random.default_rng(seed)
            found = [annealed(model, steps, 20, rng)[0] for _ in range(400)]
            yield bmlab.exact(model).log_z.value - np.mean(found)


@cache
def animals():
    """The machine of the zoo."""
    blank = bmlab.BoltzmannMachine(np.zeros((15, 15)), np.zeros(15))
    return bmlab.maximize(blank, bmlab.data.zoo().data, penalty=0.03).model


@claim("03c-zoo-a")
def order_without_z():
    """Which of two patterns of one machine is the more probable never depends on $Z$"""
    data = bmlab.data.zoo().data
    right = -animals().energy(data) - bmlab.exact(animals()).log_z.value
    for seed in SEEDS:
        found = -animals().energy(data) - annealed(animals(), 10, 20, np.random.default_rng(seed))[0]
        yield 0.5 - (np.argsort(found, kind="stable") != np.argsort(right, kind="stable")).sum()


@claim("03c-zoo-a")
def a_bound_flatters():
    """**a value of log Z that is too low makes every pattern look more probable than it is.**"""
    data = bmlab.data.zoo().data
    right = -animals().energy(data) - bmlab.exact(animals()).log_z.value
    for seed in SEEDS:
        seen = np.unique(walk(animals(), 300, np.random.default_rng(seed)), axis=0)
        bound = np.logaddexp.reduce(-animals().energy(seen))
        yield (-animals().energy(data) - bound - right).min()


@claim("03-77")
def e_to_the_entropy():
    """so about $e^S$ of them matter"""
    for seed in SEEDS:  # the e^S most probable states hold more than half, and a tenth of them less than three quarters
        for n, T in (10, 1), (12, 4):
            p = np.sort(bmlab.probabilities(glass(n, seed, T)))[::-1].cumsum()
            matter = np.exp(bmlab.entropy(glass(n, seed, T)))
            yield min(p[int(matter)] - 0.5, 0.75 - p[int(matter / 10)])


@claim("03-ex00")
def believed():
    """**AIS and temper where they say converged, stay put with more work, and agree with each other.**"""
    for seed in SEEDS:  # glasses, couples, rings, crowds, repelling units and a magnet in a small field
        model = awkward(seed)
        short = [method(model, rng=seed) for method in (bmlab.ais, bmlab.temper)]
        long = [bmlab.ais(model, rng=seed, n_temperatures=2000), bmlab.temper(model, rng=seed, n_sweeps=4000)]
        runs = [*short, *long]
        value, error = (np.array([getattr(run.log_z, part) for run in runs]) for part in ("value", "stderr"))
        agree = np.abs(value[:, None] - value) <= 4 * np.hypot(error[:, None], error)
        right = 4 - (np.abs(value - bmlab.exact(model).log_z.value) / error).max()
        yield right if all(run.converged for run in runs) and agree.all() else 1.0  # it asks for all of these


def awkward(seed):
    """A machine of one of six kinds."""
    rng, n = np.random.default_rng(seed), 12 + seed % 4
    kinds = (
        lambda: glass(n, seed, 1).weights,
        lambda: np.kron(np.eye(n // 2), [[0, 2], [2, 0]]),
        lambda: np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1),
        lambda: 1.2 / n * (1 - np.eye(n)),
        lambda: -0.3 * (1 - np.eye(n)),
    )
    if seed % 6 == 5:
        return bmlab.ising((4, 4), field=0.05)
    W = kinds[seed % 6]()
    return bmlab.BoltzmannMachine(W, rng.normal(scale=0.1, size=len(W)))


@claim("03c-golf2")
def sure_and_wrong():
    """The two disagree, and that gives it away."""
    for seed in SEEDS:
        n = 18
        W, b = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
        W[n, :n] = W[:n, n] = 20
        b[n] = n * np.log(2) + np.log(2 / 3) - 20 * n
        annealed_run, tempered = (f(bmlab.from_bits(W, b), rng=seed) for f in (bmlab.ais, bmlab.temper))
        apart = abs(annealed_run.log_z.value - tempered.log_z.value)
        yield apart / np.hypot(annealed_run.log_z.stderr, tempered.log_z.stderr) - 4


@claim("03c-close")
def exact_in_one_jump():
    """the mean importance weight is exact, however short the schedule"""
    for seed in SEEDS:  # a single jump, summed over all states: it needs no sweep
        model = glass(2 + seed % 6, seed, [0.3, 1, 4][seed % 3])
        first = bmlab.BoltzmannMachine(np.zeros_like(model.weights), model.biases, model.temperature)
        states = bmlab.states(model.n)
        jump = np.exp((first.energy(states) - model.energy(states)) / model.temperature)
        log_z = bmlab.exact(first).log_z.value + np.log(bmlab.probabilities(first) @ jump)
        yield 1e-9 - abs(log_z - bmlab.exact(model).log_z.value)
