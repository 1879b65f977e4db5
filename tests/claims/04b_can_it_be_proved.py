"""Claims of 04b_can_it_be_proved on TAP, Bethe and brackets, attacked: other machines; exact() judges."""

import numpy as np
from judges import crowd, off, one_against_all, pair, ring, scaled
from judges import other_glass as glass
from referee import claim, proved

import bmlab


def margins(model):
    """How far the exact log Z is from both ends of the notebook's bracket: inside it, if these are above 0."""
    proven, truth = bmlab.bracket(model, rng=0, max_seconds=1e-9).log_z, bmlab.exact(model).log_z.value
    return truth - proven.lower, proven.upper - truth


def far(model):
    """How far TAP and Bethe are off, the one that is worse."""
    truth = bmlab.exact(model).log_z.value
    return max(abs(method(model).log_z.value - truth) for method in (bmlab.tap, bmlab.bethe))


def three(model, seed):
    """The answers of TAP, Bethe and AIS, and their log Z."""
    answers = bmlab.tap(model), bmlab.bethe(model), bmlab.ais(model, rng=seed)
    return answers, [answer.log_z.value for answer in answers]


@claim("04b-pair-why")
def she_becomes_surer(seed):
    """She becomes surer, so does he"""
    w, b = np.random.default_rng(seed).uniform([0.2, 0.1], [2, 1])
    couple = pair(w, [b, 0])
    return (bmlab.mean_field(couple).mean - bmlab.exact(couple).mean).min()


@proved(
    "04-66",
    "Without loops a message is the sum over the subtree behind it, so their product is the marginal (Pearl 1982).",
)
def exact_on_a_tree():
    """On a tree the messages settle in one pass up and one down, and everything is exact."""


@claim("04-66")  # with strong weights it has not: Bethe's means are off
def long_loops(seed):
    """round a long loop of moderate weights little is left of it"""
    rng, errors = np.random.default_rng(seed), []
    weights, bias = rng.choice([-1, 1]) * rng.uniform(0.3, 0.7), rng.uniform(0, 0.5)
    for n in 3, 12:
        loop = bmlab.BoltzmannMachine(weights * ring(n), np.full(n, bias))
        errors.append(np.abs((bmlab.bethe(loop).corr - bmlab.exact(loop).corr)[0, 1]))
    strong = bmlab.BoltzmannMachine(rng.uniform(1.5, 3) * ring(12), np.full(12, 0.05))
    missed = np.abs(bmlab.bethe(strong).mean - bmlab.exact(strong).mean).max()
    return min(np.log10(errors[0] / errors[1]) - 1, missed - 0.1)


@proved("04-66", "The slope of atanh(tanh(w/T) tanh x) in x is largest at x = 0, where it is tanh(w/T).")
def it_fades_at_each_step():
    """Each step multiplies a message by at most $\\tanh(|w|/T)$"""


@claim("04-66")  # glasses, crowds, repelling units, rings, triangles, a lattice: means and pairs to two hundredths
def where_bethe_is_good(seed):
    """Bethe's means and correlations are good if loops are long and their weights moderate, or if the spectral radius
    of $W/T$ (notebook 04) is below one half."""
    rng, crowded = np.random.default_rng(seed), crowd(12, 1)[0].weights
    lattice = bmlab.ising((3, 4)).dense_weights
    kinds = glass(12, seed).weights, crowded, -crowded, -ring(9), np.kron(np.eye(4), 1 - np.eye(3)), lattice
    W = kinds[seed % 6]
    weak = scaled(W, rng.normal(scale=0.3, size=len(W)), 0.5)
    long = bmlab.BoltzmannMachine(rng.uniform(-0.7, 0.7) * ring(12), rng.normal(scale=0.3, size=12))
    return 0.02 - max(off(bmlab.bethe(model), model) for model in (weak, long))


@proved(
    "04-78",
    "Both ends are bounds: Jensen, or positive terms left out, below; convexity in the weights, and a sum below an "
    "integral, above.",
)
def it_is_proven():
    """In each picture the grey band is where $\\log Z$ is proven to lie"""


@claim("04-78")  # the same couplings, all made positive, are not frustrated: there it is the better one
def trw_is_lost(seed):
    """it is bad if couplings are many, strong and frustrated"""
    cold, behind = glass(8 + seed % 5, seed, 0.3), []
    for model in cold, bmlab.BoltzmannMachine(np.abs(cold.weights), np.abs(cold.biases), 0.3):
        above = bmlab.infer.bounds.gaussian_integral.gaussian_bound(model)
        behind.append(bmlab.trw(model, tolerance=0.5).log_z.upper - above)
    return min(behind[0], -behind[1])


@proved("04b-above", "The second derivative along W0 + t V is the variance of V(s) over T^2, never negative.")
def a_variance_is_never_negative():
    """**log Z is convex in the weights**"""


@proved("04b-gauss", "Jensen on a cube of side 2 about each state, then the Gaussian integral over all of space.")
def an_integral_is_more():
    """**A sum is less than an integral.**"""


@claim("04b-mammal", range(24))  # one unit against all others: if the three agree to 0.1 nats, they miss more than one
def and_no_proof(seed):
    """All three are in the wrong valley"""
    model = one_against_all(seed)
    (answers, logs), right = three(model, seed), bmlab.exact(model).mean
    apart = min(np.abs(answer.mean - right).max() for answer in answers)
    best = bmlab.mean_field(model, starts=5).log_z.lower
    if np.ptp(logs) < 0.1:
        yield min(best - max(logs) - 1, apart - 1)


@proved(
    "04b-zoo-why", "The log odds lie between lower - upper and upper - lower of two brackets: a side without 0 proves."
)
def for_certain():
    """A bound proves the claim or leaves it open."""


@claim("04b-answer")  # one unit against all others: three that say converged lie below what is proved
def proved_and_believed(seed):
    """Bounds can be proved, estimates can only be believed."""
    model = one_against_all(seed)
    proven = bmlab.bracket(model, rng=0, max_seconds=1e-9).log_z
    answers, values = three(model, seed)
    if not all(answer.converged for answer in answers) or min(margins(model)) < -1e-9:  # all states may be visited
        return -1
    return proven.lower - max(values) - 0.5


@claim("04b-answer", range(60), share=0.9)  # a third of the way to the nearer end
def far_nearer_than_the_bounds(seed):
    """In a glass of weak weights, of 14 to 20 units, TAP and Bethe are mostly far nearer to the truth than the bounds
    are"""
    model = glass(14 + seed % 7, seed, 1, [0.2, 0.3, 0.4, 0.5][seed % 4])
    return 1 / 3 - far(model) / min(margins(model))


@claim("04b-94")
def beside_an_opinion_of_his_own(seed):
    """the echo comes on top"""
    w, b, c = np.random.default_rng(seed).uniform([0.2, 0.1, 0.1], [2, 1, 1])
    couple = pair(w, [b, c])
    return (bmlab.mean_field(couple).mean - bmlab.exact(couple).mean).min()


@claim("04b-won-why")  # hot: of ten glasses some, and none by half the gap; at T = 1 it may be more
def no_longer_a_bound(seed):
    """It is no longer a bound: order 2 may add a little more than the gap."""
    for T in 4, 2:
        machines, beyond = [glass(6 + k, 100 * seed + k, T) for k in range(10)], []
        for one in machines:
            answer, truth = bmlab.tap(one), bmlab.exact(one).log_z.value
            gap = truth - bmlab.mean_field(one).log_z.value
            above = np.array([answer.log_z.value - truth, answer.info["orders"][2] - gap]) / gap
            beyond.append(above if answer.converged else [np.inf] * 2)
        yield min(np.min(beyond, axis=1).max(), 0.5 - np.max(beyond))


@claim("04b-won-why")  # hot machines
def the_second_order(seed):
    """If it is warm, the corrected value is more accurate."""
    hot = bmlab.medium().at(4) if seed == 0 else glass(6 + seed % 10, seed, 4)
    truth = bmlab.exact(hot).log_z.value
    return truth - bmlab.mean_field(hot).log_z.value - 5 * abs(bmlab.tap(hot).log_z.value - truth)


@claim("04b-won-why")  # from other starts, and after three times as many rounds
def for_ever(seed):
    """Iterated at $T = 1$ the equations never settle."""
    J, b = bmlab.medium().weights, bmlab.medium().biases
    last = m = np.tanh(b) if seed == 0 else np.random.default_rng(seed).uniform(-1, 1, 10)
    for _ in range(3000):
        before, last, m = last, m, np.tanh(J @ m + b - m * (J**2 @ (1 - m**2)))
    return min(np.abs(m - last).max() - 0.5, 1e-9 - np.abs(m - before).max()), seed
