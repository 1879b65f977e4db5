"""Claims of 08_restricted_machines on two layers, attacked: other machines, other splits of the images, equal work.

The images are the 1000 of digits().train alone: each trial keeps another fifth of neighbours back (notebook 09 needs
the 797 others unseen).
"""

from functools import cache, partial
from inspect import signature
from itertools import product

import numpy as np
import rivals
from judges import memory, score, sweep_matrix
from referee import claim, proved

import bmlab

FOLDS = list(product(range(5), range(4)))  # which fifth is kept back, and a seed
OTHERS = list(product(range(4), range(5)))  # without the fifth that the notebook keeps back
ROUNDING = 1e-9


def layers(seed, v=None, h=None, scale=1.0):
    """A restricted machine with drawn weights and biases, how many of its units are visible, and the rng."""
    rng = np.random.default_rng(seed)
    v, h = v or rng.integers(2, 5), h or rng.integers(2, 5)
    W = scale * rng.normal(size=(v, h))
    return bmlab.restricted(W, rng.normal(size=v), rng.normal(size=h)).at(rng.uniform(0.5, 2)), v, rng


def half_sweeps(model, v):
    """P of one sweep by layers, the first v units together and then the others."""
    return sweep_matrix(model, [range(v), range(v, model.n)])


def price(v, h):
    """The work that exact sees in a machine of two layers."""
    return bmlab.exact_plan(bmlab.restricted(np.ones((v, h)), np.zeros(v), np.zeros(h))).work


# One layer given the other


@claim("08-06")
def two_visible_units_are_coupled_by_what_they_listen_to(seed):
    """Independent *given* $h$ is not independent."""
    model, v, _ = layers(seed)
    given_h = bmlab.exact(model.clamp(range(v, model.n), np.ones(model.n - v)), pairs="all").covariance
    free = bmlab.exact(model, pairs="all").covariance[:v, :v]
    coupled, rest = (np.abs(c - np.diag(np.diag(c))).max() for c in (free, given_h))
    return coupled - 1e-4 - 1e3 * rest


@claim("08-06")
def no_hidden_bias_does_not_help(seed):
    """but without biases they are correlated, too"""
    rng = np.random.default_rng(seed)
    model = bmlab.restricted(rng.normal(size=(2, 2 + seed % 3)), np.zeros(2), np.zeros(2 + seed % 3))
    return abs(bmlab.exact(model, pairs="all").covariance[0, 1]) - 1e-3


@proved("08-93", "Given v, E is a sum with one term a hidden unit, so p(h | v) is a product.")
def the_units_of_a_layer_are_independent():
    """Given one layer the units of the other are independent."""


@proved("08-11", "Units of a layer are not coupled: the field of each is the same before and after the others' turns.")
def two_products_do_the_work():
    """two matrix products do the work of 76 steps"""


@claim("08-93")  # layers that hold each other three times as firmly remember at least twice as long
def strong_weights_mix_slowly(seed):
    """With stronger weights the chain still mixes more slowly"""
    model, v, _ = layers(seed, 4, 4, scale=0.5)
    firm = bmlab.BoltzmannMachine(3 * model.weights, model.biases, model.temperature)
    return memory(half_sweeps(firm, v)) / memory(half_sweeps(model, v)) - 2


# What is exact


@claim("08-16", product(range(2), bmlab.METHODS))
def the_closed_form_is_taken_whatever_was_asked(seed, key):
    """If the hidden units are not coupled, `bmlab.clamped` uses this formula, whatever method you asked for."""
    model, v, rng = layers(seed, 6, 4)
    pairs = np.pad(np.triu(rng.normal(size=(v, v)), 1), (0, 4))  # visible units may be coupled
    model = bmlab.BoltzmannMachine(model.weights + pairs + pairs.T, model.biases, model.temperature)
    data, method = rng.choice([-1.0, 1.0], size=(10, v)), bmlab.METHODS[key].function
    asked = bmlab.clamped(model, data, partial(method, rng=rng) if "rng" in signature(method).parameters else method)
    fields = model.field(np.hstack([data, np.zeros((10, 4))]))[:, v:]
    wrong = np.abs(asked.mean[v:] - np.tanh(fields / model.temperature).mean(axis=0)).max()
    return (ROUNDING - wrong if asked.info["algorithm"] == "closed form" else -1), (seed, key)


@claim("08-19", product(range(10, 30), (40, 64, 200)))
def the_price_of_a_hidden_unit(h, v):
    """One hidden unit more a little more than doubles the work, and a visible one hardly adds to it."""
    hidden, visible = price(v, h + 1) / price(v, h), price(v + 1, h) / price(v, h) - 1
    return min(hidden - 2, 2.3 - hidden, 0.05 - visible), (h, v)


@claim("08-27")
def an_exact_referee_of_76_units(seed):
    """So leaving out connections buys a machine of $64 + 12 = 76$ units with an exact referee."""
    model, v, rng = layers(seed, 64, 12, scale=0.02 * (1 + seed))
    W, b, hidden = model.weights / model.temperature, model.biases / model.temperature, bmlab.states(12)
    fields = hidden @ W[v:, :v] + b[:v]
    by_hand = np.logaddexp.reduce(hidden @ b[v:] + np.logaddexp(fields, -fields).sum(axis=1))
    W = np.triu(rng.normal(size=(64, 64)), 1)
    dear = bmlab.exact_plan(bmlab.BoltzmannMachine(W + W.T, rng.normal(size=64))).work / bmlab.exact_plan(model).work
    return min(ROUNDING - abs(bmlab.exact(model).log_z.value / by_hand - 1), np.log10(dear) - 6), seed


@claim("08-93")  # one more unit in the smaller layer doubles the work, to within a fifth of a power of two
def the_smaller_layer_is_listed(seed):
    """$\\log Z$ costs $2^{\\text{smaller layer}}$."""
    v, h = 20 + seed, 10 + seed % 9
    for sizes in (v, h), (h, v):
        larger = [n + (n == min(sizes)) for n in sizes]
        yield 0.2 - abs(np.log2(price(*larger) / price(*sizes)) - 1), sizes


@proved("08-19", "Given one layer, the sum over the other is a product of sums over two values.")
def one_layer_costs_nothing():
    """one layer is summed in closed form, so only the other is listed"""


@proved(
    "08-93",
    "A hidden unit that answers to one pattern alone sets its weight: one a pattern (Freund and Haussler 1994).",
)
def any_distribution():
    """with enough of them the machine comes as close as you like to *any* distribution of the visible units"""


@proved("08-93", "Equal weights and biases have equal slopes, so each step leaves them equal.")
def alike_for_ever():
    """With the exact averages, hidden units that begin alike stay alike for ever."""


# Who supplies the free phase


def climbed(start, images, infer, rates, **options):
    """The last machine of a climb that keeps to the connections."""
    *_, last = bmlab.learning_steps(start, images, infer, rate=rates, couplings=start.weights != 0, **options)
    return last.model


def going_on(seed):
    """One sweep of chains that go on from all their units: v' is drawn from the h of the step before."""
    return partial(bmlab.gibbs, rng=np.random.default_rng(seed), n_chains=800, burn_in=0, n_sweeps=1)


@cache
def nats(fold, seed, name):
    """Nats of a taught image at the end of 400 steps at the rate of section 5, and their mean over the last 100."""
    images = rivals.split(fold)[0]
    start = rivals.beginner(images, 12, np.random.default_rng(seed))
    infer = {"exact": bmlab.exact, "old h": going_on(seed)}.get(name, rivals.sampled(1, seed))
    options = {"free_start": "data" if name == "CD-1" else "previous", "couplings": start.weights != 0}
    steps = [step.model for step in bmlab.learning_steps(start, images, infer, rate=np.full(401, 0.05), **options)]
    late = [score(model, images) for model in steps[300::20]]
    return late[-1], np.mean(late)


@claim("08-41", OTHERS, share=0.8)
def samplers_are_highest_at_a_constant_rate(fold, seed):
    """On other splits, too, both samplers mostly lead"""
    return min(nats(fold, seed, "CD-1")[0], nats(fold, seed, "PCD")[0]) - nats(fold, seed, "exact")[0]


@claim("08-41", OTHERS)
def an_old_h_costs_a_nat(fold, seed):
    """C is right for a PCD of two half-sweeps a step, which goes on from the old $h$: over steps 300 to
    400 it stood more than a nat below"""
    anew, old = (nats(fold, seed, way)[1] for way in ("PCD", "old h"))
    return min(anew, nats(fold, seed, "exact")[1]) - old - 1


# A machine that remembers long


ZOO = bmlab.data.zoo().data


@cache
def zoo_summit(start):
    """A machine of the zoo, climbed exactly; from start 0 the notebook's."""
    small = bmlab.restricted(np.random.default_rng(start).normal(0, 0.1, (15, 6)), [0] * 15, [0] * 6)
    return climbed(small, ZOO, bmlab.exact, np.linspace(0.08, 0, 601), penalty=0.03)


def slope(model, images, answer):
    """Clamped minus free, of the weights between the layers and of all biases, in a row."""
    clamped = bmlab.clamped(model, images)
    weights = np.asarray(clamped.corr) - np.asarray(answer.corr)
    return np.append(weights[:64, 64:], clamped.mean - answer.mean)


def moved(model, direction):
    """The machine with its weights between the layers, and its biases, moved."""
    W = np.zeros((model.n, model.n))
    W[:64, 64:] = direction[: 64 * (model.n - 64)].reshape(64, -1)
    return bmlab.BoltzmannMachine(model.dense_weights + W + W.T, model.biases + direction[-model.n :])


def fall_along(direction, model, images, ask, reach):
    """By how much the slope along a direction falls for each unit moved there, and the fall of the whole slope."""
    ends = [slope(there, images, ask(there)) for there in (moved(model, x * direction) for x in (-reach, reach))]
    fall = (ends[0] - ends[1]) / (2 * reach)
    return fall @ direction, fall


@cache
def stretches(fold, seed, sweeps):
    """The climb by CD of so many sweeps (0: exact) at the rate of section 5, twentieth machines of 400 steps."""
    images = rivals.split(fold)[0]
    start = rivals.beginner(images, 12, np.random.default_rng(seed))
    infer, begin = (rivals.sampled(sweeps, seed), "data") if sweeps else (bmlab.exact, "previous")
    options = {"rate": np.full(401, 0.05), "free_start": begin, "couplings": start.weights != 0}
    models = [step.model for step in bmlab.learning_steps(start, images, infer, **options)][::20]
    return models, (np.diff([score(model, images) for model in models]) < 0).sum()


@claim("08-41", OTHERS)
def cd_1_hardly_answers(fold, seed):
    """chains that make one sweep from the images hardly notice that the weights moved"""
    images, model = rivals.split(fold)[0], stretches(fold, seed, 0)[0][-1]
    direction = np.random.default_rng(seed).normal(size=64 * 12 + 76)
    for _ in range(25):  # to the steepest direction of exact
        direction /= np.linalg.norm(direction)
        exact, direction = fall_along(direction, model, images, bmlab.exact, 1e-3)
    direction /= np.linalg.norm(direction)
    at_images = np.hstack([images, np.ones((len(images), 12))])
    at_samples = bmlab.sample(model, len(images), rng=seed)

    def fall(sweeps, begin=at_images):  # with the same random numbers at both ends
        asked = [
            fall_along(direction, model, images, lambda m, k=k: rivals.sampled(sweeps, k)(m, start=begin), 0.1)[0]
            for k in range(10)
        ]
        return np.mean(asked)

    most = 2 / 0.05  # above it a step of the constant rate overshoots; PCD's chains are samples, if they keep up
    return min(exact - 60, 6 - fall(1), most / 2 - fall(1, at_samples), fall(30) - most)


@claim("08-41", OTHERS)
def cd_30_overshoots(fold, seed):
    """CD-30 overshoots as exact does"""
    falls = {sweeps: stretches(fold, seed, sweeps)[1] for sweeps in (0, 1, 30)}
    return min(falls[0], falls[30]) - falls[1] - 0.5, (fold, seed)


@claim("08-41", OTHERS, share=0.8)
def at_their_best_they_are_level(fold, seed):
    """begun at 0.1, exact ends mostly within 0.2 nats of the best of CD-1"""
    images = rivals.split(fold)[0]
    start = rivals.beginner(images, 12, np.random.default_rng(seed))
    falling, constant = np.linspace(1, 0, 1001), np.full(1001, 0.05)
    exact = score(climbed(start, images, bmlab.exact, 0.1 * falling), images)
    ends = [
        score(climbed(start, images, rivals.sampled(1, seed), rates, free_start="data"), images)
        for rates in (constant, 0.05 * falling, 0.1 * falling)
    ]
    return 0.2 - abs(exact - max(ends))


@claim("08-67", [(start, seed, 100 if seed == 4 else 10) for start, seed in product(range(1, 6), range(1, 5))])
def cd_ends_below_cd_10(start, seed, chains):
    """From other starts, with other seeds and with ten times the chains (five climbs) it ended below CD-10, too"""
    top, rates = zoo_summit(start), np.linspace(0.05, 0, 301)

    def ended(sweeps, chains):
        herd, free = np.tile(ZOO, (chains, 1)), rivals.sampled(sweeps, seed, 101 * chains)
        return score(climbed(top, herd, free, rates, penalty=0.03, free_start="data"), ZOO)

    return ended(10, 10) - ended(1, chains)


# Who is best


def ends(fold, seed, hidden, steps, penalty=0.02):
    """Nats an unseen image of a machine of the contest."""
    rng, images = np.random.default_rng([2, fold, seed, hidden]), rivals.split(fold)
    return rivals.judged(rivals.taught(images[0], hidden, penalty, steps, rng), *images, rng)[1]


@claim("08-79", FOLDS)  # equal numbers of parameters (2014 and 2080); the rival's penalty is the best of three
def hidden_units_win_in_the_end(fold, seed):
    """Thirty hidden units win, if they learn for long enough."""
    rival = max(ends(fold, seed, 0, 1000, penalty) for penalty in (0.02, 0.05, 0.1))
    return ends(fold, seed, 30, 6000) - rival


@claim("08-79", FOLDS)
def pairs_lead_at_first(fold, seed):
    """The machine with all pairs leads after 400 steps"""
    return ends(fold, seed, 0, 400, 0.05) - ends(fold, seed, 30, 400)
