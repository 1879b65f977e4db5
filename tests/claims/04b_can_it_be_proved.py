"""What 04b_can_it_be_proved says of TAP, Bethe and brackets, attacked: other machines; exact() judges."""

import warnings
from dataclasses import replace

import numpy as np
from referee import claim

import bmlab

SEEDS = range(20)
warnings.simplefilter("ignore", bmlab.NotConverged)


def glass(n, seed, temperature=1.0, scale=1.0):
    """Every pair coupled at random; the table of the notebook has seeds 0 to 19, these are others."""
    return bmlab.sherrington_kirkpatrick(n, np.random.default_rng(1000 + seed), scale).at(temperature)


def bare(answer):
    """The same means without any correlations."""
    return replace(answer, corr=np.outer(answer.mean, answer.mean))


def off(answer, model):
    """Root mean square error over all means and pairs."""
    right, pairs = bmlab.exact(model), np.triu_indices(model.n, 1)
    return np.sqrt(np.mean(np.r_[answer.mean - right.mean, (answer.corr - right.corr)[pairs]] ** 2))


def bracket(model):
    """The ends of the notebook's bracket."""
    best, bounds = bmlab.mean_field(model, starts=5), bmlab.infer.bounds
    below = best.log_z.lower, bounds.structured_mean_field.tree_mean_field(model, best.mean)
    above = bmlab.trw(model, tolerance=0.5).log_z.upper, bounds.gaussian_integral.gaussian_bound(model)
    return max(below), min(above)


def three(model, seed):
    """TAP, Bethe and AIS."""
    return bmlab.tap(model), bmlab.bethe(model), bmlab.ais(model, rng=seed)


@claim("04b-pair-why")
def she_becomes_surer():
    """She becomes surer, so does he"""
    for seed in SEEDS:
        w, b = np.random.default_rng(seed).uniform([0.2, 0.1], [2, 1])
        couple = bmlab.BoltzmannMachine([[0, w], [w, 0]], [b, 0])
        yield (bmlab.mean_field(couple).mean - bmlab.exact(couple).mean).min()


def tree(seed):
    """Six to thirteen units, each but the first coupled to one drawn from those before it."""
    rng, n = np.random.default_rng(seed), 6 + seed % 8
    W = np.zeros((n, n))
    for child in range(1, n):
        W[child, rng.integers(child)] = rng.normal()
    return bmlab.BoltzmannMachine(W + W.T, 0.3 * rng.normal(size=n))


@claim("04-66")
def exact_on_a_tree():
    """On a tree the messages settle in one pass there and one back, and everything is exact."""
    for seed in SEEDS:
        family = tree(seed).at([0.5, 1, 2][seed % 3])
        yield 1e-9 - off(bmlab.bethe(family), family)


@claim("04-66")
def long_loops():
    """In a long loop it has faded on the way, in a loop of three it comes straight back"""
    for seed in SEEDS:
        rng, errors = np.random.default_rng(seed), []
        weights, bias = rng.choice([-1, 1]) * rng.uniform(0.3, 0.7), rng.uniform(0, 0.5)
        for n in 3, 12:
            W = weights * (np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0))
            ring = bmlab.BoltzmannMachine(W, np.full(n, bias))
            right = bmlab.exact(ring)
            errors.append(np.abs((bmlab.bethe(ring).corr - right.corr)[0, 1]))
        yield np.log10(errors[0] / errors[1]) - 1


@claim("04-78")
def it_is_proven():
    """In each picture the grey band is where $\\log Z$ is proven to lie"""
    for seed in SEEDS:
        model = glass(6 + seed % 6, seed, [0.3, 1, 2][seed % 3])
        (lower, upper), truth = bracket(model), bmlab.exact(model).log_z.value
        yield min(truth - lower, upper - truth)


@claim("04-78")
def trw_is_lost():
    """is lost where couplings are many and strong"""
    for seed in SEEDS:
        cold = glass(8 + seed % 5, seed, 0.3)
        yield bmlab.trw(cold, tolerance=0.5).log_z.upper - bmlab.infer.bounds.gaussian_integral.gaussian_bound(cold)


@claim("04b-above")
def a_variance_is_never_negative():
    """**log Z is convex in the weights**"""
    for seed in SEEDS:  # of two machines, and of their mixtures
        rng = np.random.default_rng(seed)
        one, two = (glass(4 + seed % 7, 100 * k + seed, 1, rng.uniform(0.2, 3)) for k in (1, 2))
        share = rng.uniform(0.1, 0.9)
        biases = rng.normal(size=one.n)
        logs = [
            bmlab.exact(bmlab.BoltzmannMachine(weights, biases)).log_z.value
            for weights in (one.weights, two.weights, share * one.weights + (1 - share) * two.weights)
        ]
        yield share * logs[0] + (1 - share) * logs[1] - logs[2]


@claim("04b-gauss")
def an_integral_is_more():
    """**A sum is less than an integral.**"""
    for seed in SEEDS:  # for every d that makes D - W positive definite, also the worst
        rng = np.random.default_rng(seed)
        model = glass(3 + seed % 10, seed, 1, rng.uniform(0.1, 4))
        d = np.linalg.eigvalsh(model.weights)[-1] + rng.exponential(size=model.n)
        inside = np.diag(d) - model.weights
        bound = 2 / 3 * d.sum() + model.n / 2 * np.log(np.pi / 2) - np.linalg.slogdet(inside)[1] / 2
        bound += model.biases @ np.linalg.solve(inside, model.biases) / 2
        yield bound - bmlab.exact(model).log_z.value


@claim("04-78")
def agreement_is_evidence():
    """**That is evidence, and it is no proof:**"""
    for seed in range(60):  # evidence: where the three agree to 0.1 nats, they are nearly always right to 0.3
        model = glass([12, 16][seed % 2], seed, 1, [0.2, 0.4, 0.5, 0.7, 1][seed % 5])
        logs = [answer.log_z.value for answer in three(model, seed)]
        if np.ptp(logs) < 0.1:
            yield 0.3 - abs(np.mean(logs) - bmlab.exact(model).log_z.value)


@claim("04b-mammal")
def and_no_proof():
    """All are in the wrong valley"""
    for seed in SEEDS:  # one unit against all others: the three agree to 0.1 nats, and miss more than one
        rng = np.random.default_rng(seed)
        n, w, part = rng.integers(15, 19), rng.uniform(0.85, 1), rng.uniform(0.37, 0.43)
        sure = np.append(w * (n - 1) * 0.533, np.full(n - 1, -part * w))
        model = bmlab.BoltzmannMachine(w * (1 - np.eye(n)), sure)
        logs = [answer.log_z.value for answer in three(model, seed)]
        best = bmlab.mean_field(model, starts=5).log_z.lower
        yield best - max(logs) - 1 if np.ptp(logs) < 0.1 else -1


@claim("04b-zoo-why")
def for_certain():
    """A bound says nothing or it says something for certain."""
    table = bmlab.data.zoo()
    for seed in SEEDS:  # milk and eight other questions
        columns = [3, *np.random.default_rng(seed).permutation(np.delete(np.arange(15), 3))[:8]]
        blank = bmlab.BoltzmannMachine(np.zeros((9, 9)), np.zeros(9))
        animals = bmlab.maximize(blank, table.data[:, columns], penalty=[0.03, 0.1][seed % 2]).model
        yes, no = (animals.clamp([0, 1], [1, state]) for state in (1, -1))
        odds = bmlab.exact(yes).log_z.value - bmlab.exact(no).log_z.value
        (a, b), (c, d) = bracket(yes), bracket(no)
        yield min(odds - (a - d), (b - c) - odds)


@claim("04b-zoo-why")
def wider():
    """the stronger the weights, the wider it is"""
    for seed in SEEDS:
        ends = [bracket(glass(6 + seed % 6, seed, 1, scale)) for scale in (0.25, 0.5, 1, 2)]
        yield np.diff([upper - lower for lower, upper in ends]).min()


@claim("04b-answer")
def proved_and_believed():
    """Bounds can be proved, estimates can only be believed."""
    for seed in SEEDS:  # in the cold: the bracket holds, and TAP has left it or Bethe is off, unseen
        model = glass(8 + seed % 5, seed, 0.3)
        (lower, upper), truth = bracket(model), bmlab.exact(model).log_z.value
        far = max(abs(method(model).log_z.value - truth) for method in (bmlab.tap, bmlab.bethe))
        yield far - 0.05 if lower <= truth <= upper else -1


@claim("04b-answer")
def far_nearer_than_the_bounds():
    """On weak weights TAP and Bethe are far nearer to the truth than the bounds are"""
    for seed in SEEDS:  # a third of the way to the nearer end
        model = glass(8 + seed % 7, seed, 1, [0.2, 0.35, 0.5, 0.6][seed % 4])
        (lower, upper), truth = bracket(model), bmlab.exact(model).log_z.value
        far = max(abs(method(model).log_z.value - truth) for method in (bmlab.tap, bmlab.bethe))
        yield 1 / 3 - far / min(truth - lower, upper - truth)


@claim("04b-94")
def beside_an_opinion_of_his_own():
    """Yes, as long as the two biases point the same way"""
    for seed in SEEDS:
        w, b, c = np.random.default_rng(seed).uniform([0.2, 0.1, 0.1], [2, 1, 1])
        couple = bmlab.BoltzmannMachine([[0, w], [w, 0]], [b, c])
        yield (bmlab.mean_field(couple).mean - bmlab.exact(couple).mean).min()


@claim("04b-won-why")
def the_second_order():
    """The corrected value is more accurate, and no longer a bound"""
    for seed in SEEDS:  # hot machines; above the truth is possible, and not the rule
        hot = bmlab.medium().at(4) if seed == 0 else glass(6 + seed % 10, seed, 4)
        truth = bmlab.exact(hot).log_z.value
        yield truth - bmlab.mean_field(hot).log_z.value - 5 * abs(bmlab.tap(hot).log_z.value - truth)


@claim("04b-won-why")
def for_ever():
    """never settle"""
    machine = bmlab.medium()
    J, b = machine.weights, machine.biases
    for seed in SEEDS:  # from other starts, and after ten times as many rounds
        m = np.tanh(b) if seed == 0 else np.random.default_rng(seed).uniform(-1, 1, 10)
        for _ in range(3000):
            last, m = m, np.tanh(J @ m + b - m * (J**2 @ (1 - m**2)))
        yield np.abs(m - last).max() - 0.5
