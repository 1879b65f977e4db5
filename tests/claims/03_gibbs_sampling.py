"""What 03_gibbs_sampling says of samplers, attacked: other machines, other seeds; exactly if possible."""

from functools import cache

import numpy as np
from referee import claim
from samplers import SEEDS, few, glass, misplaced, stationary, sweep_matrix, unbalanced, update_matrix

import bmlab


@claim("03-07")
def one_after_the_other():
    """A sweep does this to every unit, in order."""
    for seed in SEEDS:
        model, rng = glass(4 + seed, seed, [0.3, 1, 4][seed % 3]), np.random.default_rng(seed)
        s, u = rng.choice([-1.0, 1.0], size=(1000, model.n)), rng.random((1000, model.n))
        mine, swept = s.copy(), bmlab.sweep(model, s, u)
        for i in range(model.n):
            h = mine @ model.weights[i] + model.biases[i]
            mine[:, i] = np.where(h > model.temperature / 2 * np.log(u[:, i] / (1 - u[:, i])), 1, -1)
        turned = bmlab.sweep(model, s, u[:, ::-1], units=range(model.n)[::-1])
        yield (swept != turned).mean() - 1e6 * (swept != mine).mean()


@claim("03-21")
def a_product_keeps_p():
    """Each step keeps $p$, so all three do"""
    for seed in SEEDS:
        yield (
            1e-12
            - np.abs(bmlab.probabilities(few(seed)) @ sweep_matrix(few(seed)) - bmlab.probabilities(few(seed))).max()
        )


@claim("03-21")
def not_necessary():
    """So detailed balance is sufficient, not necessary."""
    for seed in SEEDS:
        yield unbalanced(bmlab.probabilities(few(seed)), sweep_matrix(few(seed))) - 1e-6


@claim("03-21")
def at_random_balance_is_back():
    """averages of symmetric flows are symmetric: detailed balance is back"""
    for seed in SEEDS:
        model = few(seed)
        mixed = np.mean([update_matrix(model, [i]) for i in range(model.n)], axis=0)
        yield 1e-12 - unbalanced(bmlab.probabilities(model), mixed)


@claim("03-ergodic")
def everywhere_in_one_sweep():
    """one sweep may lead from any state to any other"""
    for seed in SEEDS:
        yield sweep_matrix(few(seed)).min()


@claim("03-period-a")
def turned_over():
    """Every turn changes the energy by 0, so every proposal is accepted: each sweep turns all three units over"""
    coins = bmlab.BoltzmannMachine(np.zeros((3, 3)), np.zeros(3))
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        s = rng.choice([-1.0, 1.0], size=(100, 3))
        yield 0.5 - (bmlab.sweep(coins, s, rng.random((100, 3)), rule="metropolis") != -s).mean()


@claim("03-32")
def weak_weights_forgive():
    """B is right where weights are weak: of the toy with all numbers divided by ten, 5 % would be misplaced."""
    for seed in SEEDS:  # and of others like it less than 10 %
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


@claim("03-34")
def together_is_balanced_and_wrong():
    """The wrong program, `together`, has detailed balance, *with the wrong distribution*"""
    for seed in SEEDS:
        P = update_matrix(few(seed), range(few(seed).n))
        end = stationary(P)
        yield misplaced(end, bmlab.probabilities(few(seed))) - 0.01 if unbalanced(end, P) < 1e-9 else -1


@claim("03-34")
def uncoupled_units_may():
    """When they are not coupled to each other"""
    for seed in SEEDS:
        rng, visible = np.random.default_rng(seed), 2 + seed % 3
        model = bmlab.restricted(rng.normal(size=(visible, 3)), rng.normal(size=visible), rng.normal(size=3))
        layers = update_matrix(model, range(visible)), update_matrix(model, range(visible, model.n))
        yield 1e-12 - np.abs(bmlab.probabilities(model) @ layers[0] @ layers[1] - bmlab.probabilities(model)).max()


@cache
def animals(penalty):
    """The machine of the zoo."""
    blank = bmlab.BoltzmannMachine(np.zeros((15, 15)), np.zeros(15))
    return bmlab.maximize(blank, bmlab.data.zoo().data, penalty=penalty).model


@claim("03-zoo-a")
def two_of_three_are_known():
    """about two of three imaginary animals stand in the zoo, although nobody showed the walk a list"""
    known = {tuple(animal) for animal in bmlab.data.zoo().data}
    for seed in SEEDS:
        model, rng = animals([0.025, 0.03, 0.04][seed % 3]), np.random.default_rng(seed)
        s = rng.choice([-1.0, 1.0], size=(1000, 15))
        for _ in range(100):
            s = bmlab.sweep(model, s, rng.random(s.shape))
        yield 0.1 - abs(np.mean([tuple(animal) in known for animal in s]) - 2 / 3)


@claim("03-91")
def comes_to_p():
    """Where $p P = p$ and no entry of $P$ is 0, the walk comes to $p$ from every start."""
    for seed in SEEDS:  # also where units come in another order, or some of them twice
        model, rng = few(seed), np.random.default_rng(seed)
        P, p = np.eye(2**model.n), bmlab.probabilities(model)
        for i in [*rng.permutation(model.n), *rng.integers(model.n, size=2)]:
            P = P @ update_matrix(model, [i])
        ends = np.linalg.matrix_power(P, 2**12)
        yield 1e-9 - np.abs(ends - p).max() if P.min() > 0 and np.allclose(p @ P, p) else -1
