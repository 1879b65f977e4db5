"""What 04b_can_it_be_proved says of TAP, Bethe and brackets, attacked: other machines; exact() judges."""

import numpy as np
from judges import off, pair, ring, summit
from judges import other_glass as glass
from referee import claim

import bmlab


def bracket(model):
    """The ends of the notebook's bracket."""
    best, bounds = bmlab.mean_field(model, starts=5), bmlab.infer.bounds
    below = best.log_z.lower, bounds.structured_mean_field.tree_mean_field(model, best.mean)
    above = bmlab.trw(model, tolerance=0.5).log_z.upper, bounds.gaussian_integral.gaussian_bound(model)
    return max(below), min(above)


def margins(model):
    """How far the exact log Z is from both ends: inside the bracket, if these are above 0."""
    (lower, upper), truth = bracket(model), bmlab.exact(model).log_z.value
    return truth - lower, upper - truth


def far(model):
    """How far TAP and Bethe are off, the one that is worse."""
    truth = bmlab.exact(model).log_z.value
    return max(abs(method(model).log_z.value - truth) for method in (bmlab.tap, bmlab.bethe))


def three(model, seed):
    """log Z by TAP, Bethe and AIS."""
    return [answer.log_z.value for answer in (bmlab.tap(model), bmlab.bethe(model), bmlab.ais(model, rng=seed))]


@claim("04b-pair-why")
def she_becomes_surer(seed):
    """She becomes surer, so does he"""
    w, b = np.random.default_rng(seed).uniform([0.2, 0.1], [2, 1])
    couple = pair(w, [b, 0])
    return (bmlab.mean_field(couple).mean - bmlab.exact(couple).mean).min()


@claim("04-66")  # six to thirteen units, each but the first coupled to one drawn from those before it
def exact_on_a_tree(seed):
    """On a tree the messages settle in one pass up and one down, and everything is exact."""
    rng, n = np.random.default_rng(seed), 6 + seed % 8
    W = np.zeros((n, n))
    for child in range(1, n):
        W[child, rng.integers(child)] = rng.normal()
    family = bmlab.BoltzmannMachine(W + W.T, 0.3 * rng.normal(size=n), (0.5, 1, 2)[seed % 3])
    return 1e-9 - off(bmlab.bethe(family), family)


@claim("04-66")
def long_loops(seed):
    """In a long loop it has faded on the way, in a loop of three it comes straight back"""
    rng, errors = np.random.default_rng(seed), []
    weights, bias = rng.choice([-1, 1]) * rng.uniform(0.3, 0.7), rng.uniform(0, 0.5)
    for n in 3, 12:
        loop = bmlab.BoltzmannMachine(weights * ring(n), np.full(n, bias))
        errors.append(np.abs((bmlab.bethe(loop).corr - bmlab.exact(loop).corr)[0, 1]))
    return np.log10(errors[0] / errors[1]) - 1


@claim("04-78")
def it_is_proven(seed):
    """In each picture the grey band is where $\\log Z$ is proven to lie"""
    return min(margins(glass(6 + seed % 6, seed, [0.3, 1, 2][seed % 3])))


@claim("04-78")
def trw_is_lost(seed):
    """is lost where couplings are many and strong"""
    cold = glass(8 + seed % 5, seed, 0.3)
    return bmlab.trw(cold, tolerance=0.5).log_z.upper - bmlab.infer.bounds.gaussian_integral.gaussian_bound(cold)


@claim("04b-above")  # of two machines, and of their mixtures
def a_variance_is_never_negative(seed):
    """**log Z is convex in the weights**"""
    rng = np.random.default_rng(seed)
    one, two = (glass(4 + seed % 7, 100 * k + seed, 1, rng.uniform(0.2, 3)) for k in (1, 2))
    share = rng.uniform(0.1, 0.9)
    biases = rng.normal(size=one.n)
    tried = one.weights, two.weights, share * one.weights + (1 - share) * two.weights
    logs = [bmlab.exact(bmlab.BoltzmannMachine(weights, biases)).log_z.value for weights in tried]
    return share * logs[0] + (1 - share) * logs[1] - logs[2]


@claim("04b-gauss")  # for every d that makes D - W positive definite, also the worst
def an_integral_is_more(seed):
    """**A sum is less than an integral.**"""
    rng = np.random.default_rng(seed)
    model = glass(3 + seed % 10, seed, 1, rng.uniform(0.1, 4))
    d = np.linalg.eigvalsh(model.weights)[-1] + rng.exponential(size=model.n)
    inside = np.diag(d) - model.weights
    bound = 2 / 3 * d.sum() + model.n / 2 * np.log(np.pi / 2) - np.linalg.slogdet(inside)[1] / 2
    bound += model.biases @ np.linalg.solve(inside, model.biases) / 2
    return bound - bmlab.exact(model).log_z.value


@claim("04-78", range(60))  # evidence: where the three agree to 0.1 nats, they are nearly always right to 0.3
def agreement_is_evidence(seed):
    """**That is evidence, and it is no proof:**"""
    model = glass([12, 16][seed % 2], seed, 1, [0.2, 0.4, 0.5, 0.7, 1][seed % 5])
    logs = three(model, seed)
    if np.ptp(logs) < 0.1:
        yield 0.3 - abs(np.mean(logs) - bmlab.exact(model).log_z.value)


@claim("04b-mammal")  # one unit against all others: the three agree to 0.1 nats, and miss more than one
def and_no_proof(seed):
    """All are in the wrong valley"""
    rng = np.random.default_rng(seed)
    n, w, part = rng.integers(15, 19), rng.uniform(0.85, 1), rng.uniform(0.37, 0.43)
    sure = np.append(w * (n - 1) * 0.533, np.full(n - 1, -part * w))
    model = bmlab.BoltzmannMachine(w * (1 - np.eye(n)), sure)
    logs = three(model, seed)
    best = bmlab.mean_field(model, starts=5).log_z.lower
    return best - max(logs) - 1 if np.ptp(logs) < 0.1 else -1


@claim("04b-zoo-why")  # milk and eight other questions
def for_certain(seed):
    """A bound proves a claim or says nothing."""
    columns = [3, *np.random.default_rng(seed).permutation(np.delete(np.arange(15), 3))[:8]]
    animals = summit(bmlab.data.zoo().data[:, columns], penalty=[0.03, 0.1][seed % 2])
    yes, no = (animals.clamp([0, 1], [1, state]) for state in (1, -1))
    odds = bmlab.exact(yes).log_z.value - bmlab.exact(no).log_z.value
    (a, b), (c, d) = bracket(yes), bracket(no)
    return min(odds - (a - d), (b - c) - odds)


@claim("04b-zoo-why")
def wider(seed):
    """the stronger the weights, the wider it is"""
    ends = [bracket(glass(6 + seed % 6, seed, 1, scale)) for scale in (0.25, 0.5, 1, 2)]
    return np.diff([upper - lower for lower, upper in ends]).min()


@claim("04b-answer")  # in the cold: the bracket holds, and TAP has left it or Bethe is off, unseen
def proved_and_believed(seed):
    """Bounds can be proved, estimates can only be believed."""
    model = glass(8 + seed % 5, seed, 0.3)
    return far(model) - 0.05 if min(margins(model)) >= 0 else -1


@claim("04b-answer")  # a third of the way to the nearer end
def far_nearer_than_the_bounds(seed):
    """On weak weights TAP and Bethe are far nearer to the truth than the bounds are"""
    model = glass(8 + seed % 7, seed, 1, [0.2, 0.35, 0.5, 0.6][seed % 4])
    return 1 / 3 - far(model) / min(margins(model))


@claim("04b-94")
def beside_an_opinion_of_his_own(seed):
    """Yes, as long as the two biases point the same way"""
    w, b, c = np.random.default_rng(seed).uniform([0.2, 0.1, 0.1], [2, 1, 1])
    couple = pair(w, [b, c])
    return (bmlab.mean_field(couple).mean - bmlab.exact(couple).mean).min()


@claim("04b-won-why")  # hot machines; above the truth is possible, and not the rule
def the_second_order(seed):
    """The corrected value is more accurate, and no longer a bound"""
    hot = bmlab.medium().at(4) if seed == 0 else glass(6 + seed % 10, seed, 4)
    truth = bmlab.exact(hot).log_z.value
    return truth - bmlab.mean_field(hot).log_z.value - 5 * abs(bmlab.tap(hot).log_z.value - truth)


@claim("04b-won-why")  # from other starts, and after ten times as many rounds
def for_ever(seed):
    """never settle"""
    machine = bmlab.medium()
    J, b = machine.weights, machine.biases
    m = np.tanh(b) if seed == 0 else np.random.default_rng(seed).uniform(-1, 1, 10)
    for _ in range(3000):
        last, m = m, np.tanh(J @ m + b - m * (J**2 @ (1 - m**2)))
    return np.abs(m - last).max() - 0.5
