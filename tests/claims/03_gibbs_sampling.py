"""Claims of 03_gibbs_sampling on samplers, attacked: other machines, other seeds; exactly if possible."""

import numpy as np
from judges import features, few, glass, misplaced, stationary, sweep_matrix, unbalanced, update_matrix
from referee import claim, proved

import bmlab


@proved("03-21", "p P0 P1 P2 = p P1 P2 = p P2 = p.")
def a_product_keeps_p():
    """Each turn keeps $p$, so all three do"""


@claim("03-23")  # a unit picked at random has balance, a sweep has none, and both keep p
def not_necessary(seed):
    """**Detailed balance is sufficient for a distribution to stay, and it is not necessary.**"""
    model, p = few(seed), bmlab.probabilities(few(seed))
    mixed = np.mean([update_matrix(model, [i]) for i in range(model.n)], axis=0)
    stays = max(np.abs(p @ P - p).max() for P in (mixed, sweep_matrix(model)))
    return unbalanced(p, sweep_matrix(model)) - 1e-6 if max(stays, unbalanced(p, mixed)) < 1e-12 else -1


@proved(
    "03-ergodic",
    "If all entries of P are at least c > 0, each sweep shrinks the distance to p by 1 - 2^n c or more (Doeblin).",
)
def comes_to_p():
    """**If a sweep keeps p and may lead at once from any state to any other, its walk comes to p.**"""


@proved(
    "03-ergodic",
    "Two independent walks meet in a sweep with chance delta or more; coupled, apart with (1 - delta)^k at most.",
)
def no_longer_apart():
    """In $k$ sweeps they fail to meet with a probability of at most $(1 - \\delta)^k$"""


@proved(
    "03-32", "Each turns with the chance 1 / (1 + e^(-2w/T)), both with its square: above one half from w = 0.45 T on."
)
def together_swaps_places():
    """Two units that want to agree look at each other, both change, and now disagree the other way round."""


@proved("03-34", "1 / (1 + exp(-h/T)) = 1 / (1 + exp(-2h / (2T))), the right update at 2T.")
def twice_the_temperature():
    """The lost factor 2 samples, perfectly, the same machine at **twice the temperature**"""


@claim("03-35")
def together_is_balanced_and_wrong(seed):
    """**Detailed balance means nothing until one says with which distribution.**"""
    P = update_matrix(few(seed), range(few(seed).n))
    end = stationary(P)
    return misplaced(end, bmlab.probabilities(few(seed))) - 0.01 if unbalanced(end, P) < 1e-9 else -1


@proved("03-35", "The field of a unit does not change when units that it is not coupled to turn: together is in turn.")
def uncoupled_units_may():
    """if they are not coupled to each other"""


@claim("03-ex00a")  # on the medium machine, with other coins, from coins too
def only_the_pairs(seed):
    """Here `together` passes on the means, with 2.0: only the pairs give it away."""
    exact, pairs, rng = bmlab.exact(bmlab.medium()), np.triu_indices(10, 1), np.random.default_rng(seed)
    s = rng.choice([-1.0, 1.0], size=(1000, 10)) if seed % 2 else np.ones((1000, 10))
    for _ in range(100):
        up = 1 / (1 + np.exp(-2 * bmlab.medium().field(s)))
        s = np.where(rng.random(s.shape) < up, 1.0, -1.0)
    means = np.abs(s.mean(axis=0) - exact.mean) / np.sqrt((1 - exact.mean**2) / 1000)
    both = np.abs(s.T @ s / 1000 - exact.corr)[pairs] / np.sqrt((1 - exact.corr[pairs] ** 2) / 1000)
    return min(both.max() - 10, 4 - means.max()), seed


@claim("03-ex00a")  # ten means and 45 pairs of 1000 exact draws, a thousand times: medium(), and other glasses
def beyond_four_errors(seed):
    """among 55 right numbers one is beyond it in fewer than one run of a hundred"""
    rng, model = np.random.default_rng(seed), glass(10, seed) if seed else bmlab.medium()
    p, phi = bmlab.probabilities(model), features(10)
    right, found = p @ phi, rng.multinomial(1000, p, size=1000) @ phi / 1000
    beyond = (np.abs(found - right) / np.sqrt((1 - right**2) / 1000)).max(axis=1) > 4
    return 0.01 - beyond.mean(), seed


@claim("03-91")  # independent units with the right means
def pairs_too(seed):
    """Compare pairs too, not the means alone."""
    model, states = few(seed).at(1), bmlab.states(few(seed).n)
    p = bmlab.probabilities(model)
    alone = ((1 + states * (p @ states)) / 2).prod(axis=1)
    off = np.abs(states.T @ ((alone - p)[:, None] * states)).max()
    return min(misplaced(alone, p), off) - 0.1 if np.allclose(alone @ states, p @ states) else -1


@proved(
    "03-91",
    "If all entries of P are at least c > 0, each sweep shrinks the distance to p by 1 - 2^n c or more (Doeblin).",
)
def from_every_start():
    """If $p P = p$ and no entry of $P$ is 0, the walk comes to $p$ from every start."""
