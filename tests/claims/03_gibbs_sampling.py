"""What 03_gibbs_sampling says of samplers, attacked: other machines, other seeds; exactly if possible."""

import numpy as np
from referee import claim
from samplers import SEEDS, few, glass, misplaced, stationary, sweep_matrix, unbalanced, update_matrix

import bmlab


@claim("03-21")
def a_product_keeps_p():
    """Each turn keeps $p$, so all three do"""
    for seed in SEEDS:
        p = bmlab.probabilities(few(seed))
        yield 1e-12 - np.abs(p @ sweep_matrix(few(seed)) - p).max()


@claim("03-23")
def not_necessary():
    """**Detailed balance is sufficient for a distribution to stay, and it is not necessary.**"""
    for seed in SEEDS:  # a unit picked at random has balance, a sweep has none, and both keep p
        model, p = few(seed), bmlab.probabilities(few(seed))
        mixed = np.mean([update_matrix(model, [i]) for i in range(model.n)], axis=0)
        stays = max(np.abs(p @ P - p).max() for P in (mixed, sweep_matrix(model)))
        yield unbalanced(p, sweep_matrix(model)) - 1e-6 if max(stays, unbalanced(p, mixed)) < 1e-12 else -1


def any_order(seed):
    """P of a sweep in another order, with some units twice, and its machine."""
    model, rng = few(seed), np.random.default_rng(seed)
    P = np.eye(2**model.n)
    for i in [*rng.permutation(model.n), *rng.integers(model.n, size=2)]:
        P = P @ update_matrix(model, [i])
    return model, P


@claim("03-ergodic")
def comes_to_p():
    """**A sweep that keeps p and may lead, at once, from any state to any other comes to p.**"""
    for seed in SEEDS:
        model, P = any_order(seed)
        yield 1e-9 - np.abs(np.linalg.matrix_power(P, 2**12) - bmlab.probabilities(model)).max() if P.min() > 0 else -1


@claim("03-ergodic")
def no_longer_apart():
    """After $k$ sweeps they are still apart with a probability of at most $(1 - \\delta)^k$"""
    for seed in SEEDS:  # two walks meet in one sweep with a chance of at least delta
        model, P = any_order(seed)
        apart = 1 - (P @ P.T).min()
        for k in 1, 2, 5:
            worst = max(misplaced(row, bmlab.probabilities(model)) for row in np.linalg.matrix_power(P, k))
            yield apart**k + 1e-12 - worst


@claim("03-32")
def weak_weights_forgive():
    """B is right where weights are weak."""
    for seed in SEEDS:  # divided by ten: less than 10 % in the wrong place, and less than with the weights as they are
        model = bmlab.toy() if seed == 0 else few(seed)
        ends = []
        for part in 1, 0.1:
            weaker = bmlab.BoltzmannMachine(part * model.weights, part * model.biases)
            end = stationary(update_matrix(weaker, range(model.n)))
            ends.append(misplaced(end, bmlab.probabilities(weaker)))
        yield min(ends[0] - ends[1], 0.1 - ends[1])


@claim("03-32")
def together_swaps_places():
    """Two units that want to agree look at each other, both change, and now disagree the other way round."""
    for weight in np.linspace(0.5, 2, 20):  # more often than not
        pair = bmlab.BoltzmannMachine([[0, weight], [weight, 0]], [0, 0])
        yield update_matrix(pair, [0, 1])[1, 2] - 0.5


@claim("03-34")
def twice_the_temperature():
    """The lost factor 2 samples, perfectly, the same machine at **twice the temperature**"""
    for seed in SEEDS:
        model = few(seed)
        states, P = bmlab.states(model.n), np.eye(2**model.n)
        up = 1 / (1 + np.exp(-model.field(states) / model.temperature))
        for i in range(model.n):
            there, others = states[:, i] > 0, np.arange(model.n) != i
            same = (states[:, None, others] == states[None, :, others]).all(axis=2)
            P = P @ (same * np.where(there, up[:, [i]], 1 - up[:, [i]]))
        yield 1e-9 - misplaced(stationary(P), bmlab.probabilities(model.at(2 * model.temperature)))


@claim("03-35")
def together_is_balanced_and_wrong():
    """**Detailed balance means nothing until one says with which distribution.**"""
    for seed in SEEDS:
        P = update_matrix(few(seed), range(few(seed).n))
        end = stationary(P)
        yield misplaced(end, bmlab.probabilities(few(seed))) - 0.01 if unbalanced(end, P) < 1e-9 else -1


@claim("03-35")
def uncoupled_units_may():
    """where they are not coupled to each other"""
    for seed in SEEDS:
        rng, visible = np.random.default_rng(seed), 2 + seed % 3
        model = bmlab.restricted(rng.normal(size=(visible, 3)), rng.normal(size=visible), rng.normal(size=3))
        layers = update_matrix(model, range(visible)), update_matrix(model, range(visible, model.n))
        yield 1e-12 - np.abs(bmlab.probabilities(model) @ layers[0] @ layers[1] - bmlab.probabilities(model)).max()


@claim("03-ex00a")
def only_the_pairs():
    """`together` passes on the means, with 2.0: only the pairs give it away."""
    exact, pairs = bmlab.exact(bmlab.medium()), np.triu_indices(10, 1)
    for seed in SEEDS:  # on the medium machine, with other coins, from coins too
        rng = np.random.default_rng(seed)
        s = rng.choice([-1.0, 1.0], size=(1000, 10)) if seed % 2 else np.ones((1000, 10))
        for _ in range(100):
            up = 1 / (1 + np.exp(-2 * bmlab.medium().field(s)))
            s = np.where(rng.random(s.shape) < up, 1.0, -1.0)
        means = np.abs(s.mean(axis=0) - exact.mean) / np.sqrt((1 - exact.mean**2) / 1000)
        both = np.abs(s.T @ s / 1000 - exact.corr)[pairs] / np.sqrt((1 - exact.corr[pairs] ** 2) / 1000)
        yield min(both.max() - 10, 4 - means.max())


@claim("03-91")
def pairs_too():
    """Compare pairs too, not the means alone."""
    for seed in SEEDS:  # independent units with the right means
        model, states = few(seed), bmlab.states(few(seed).n)
        p = bmlab.probabilities(model)
        alone = ((1 + states * (p @ states)) / 2).prod(axis=1)
        off = np.abs(states.T @ ((alone - p)[:, None] * states)).max()
        yield min(misplaced(alone, p), off) - 0.1 if np.allclose(alone @ states, p @ states) else -1


@claim("03-91")
def from_every_start():
    """Where $p P = p$ and no entry of $P$ is 0, the walk comes to $p$ from every start."""
    for seed in SEEDS:  # larger machines than above, hot and cold
        model = glass(5, seed, [0.5, 1, 3][seed % 3])
        P, p = sweep_matrix(model), bmlab.probabilities(model)
        ends = np.linalg.matrix_power(P, 2**24)
        yield 1e-6 - np.abs(ends - p).max() if P.min() > 0 and np.allclose(p @ P, p) else -1
