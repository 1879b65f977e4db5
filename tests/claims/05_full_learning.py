"""What 05_full_learning says of climbing, of free phases and of the rule for choosing one, attacked.

Other tables are ten properties, or all fifteen, of 101 animals drawn with replacement; other machines are couples,
rings, crowds, repelling units and glasses.  exact judges all of them.
"""

from functools import cache, partial
from itertools import product

import numpy as np
import race
from judges import blank, couples, crowd, glass, misplaced, off, radius, ring, scaled, score, summit, sweep_matrix
from referee import claim

import bmlab
from bmlab import choosing
from bmlab.learn.pseudolikelihood import maximise_pseudolikelihood

ZOO = bmlab.data.zoo()
ANIMALS, PENALTY = ZOO.data, 0.03


def table(seed, n=10):
    """101 animals drawn with replacement, and n of their properties."""
    rng = np.random.default_rng(seed)
    while True:
        drawn = ANIMALS[rng.integers(101, size=101)][:, rng.permutation(15)[:n] if n < 15 else slice(None)]
        if (np.abs(drawn.mean(0)) < 1).all():
            return drawn


# --- climbing -----------------------------------------------------------------------------------------------------


@claim("05-02")
def the_free_phase_moves(seed):
    """With nothing hidden, the clamped phase is an average over the data, done once. **The free phase is the problem**:
    moments of the machine itself, again at every step."""
    data = table(seed)
    begin, end = (step.model for step in bmlab.fit(blank(10), data, rate=0.05, steps=2).steps)
    free = np.abs(bmlab.exact(end).corr - bmlab.exact(begin).corr).max()
    return free - np.abs(bmlab.clamped(end, data).corr - data.T @ data / 101).max() - 0.01


@claim("05-26", product(range(7), (0.01, 0.1, 1)))
def slope_and_penalty_balance(seed, penalty):
    """At the summit slope and penalty balance: clamped minus free is $\\lambda w$ for each pair."""
    data = table(seed)
    top = summit(data, penalty)
    missed = data.T @ data / 101 - bmlab.exact(top).corr
    return 1e-5 - np.abs(missed - penalty * top.weights).max()


# --- sampled and deterministic climbs -----------------------------------------------------------------------------

STEADY, FALLING = np.full(2001, 0.05), np.linspace(0.05, 0, 601)


@cache
def ended(phase, rates, seed, n=10, copies=1):
    """The machine at the end of a climb on a table (the animals themselves, if n is 0), and the table.

    "steady" climbs from no weights, "falling" starts on the summit.
    """
    data = np.tile(table(seed, n) if n else ANIMALS, (copies, 1))
    kind, _, sweeps = phase.partition(" ")
    sample = partial(bmlab.gibbs, rng=np.random.default_rng(seed), burn_in=int(sweeps or 1) - 1, n_sweeps=1)
    infer = bmlab.exact if phase == "exact" else sample
    start, rate = (blank(data.shape[1]), STEADY) if rates == "steady" else (top(seed, n), FALLING)
    chains = kind if kind in ("data", "fresh") else "previous"
    climb = bmlab.fit(
        start, data, infer, steps=len(rate), rate=rate, free_start=chains, penalty=PENALTY, every=len(rate)
    )
    return climb.model, data


@cache
def top(seed, n):
    """The summit of such a table."""
    return summit(table(seed, n) if n else ANIMALS, PENALTY)


def lost(phase, seed, n=10, copies=1):
    """What a free phase loses that starts on the summit, in exact nats."""
    model, data = ended(phase, "falling", seed, n, copies)
    return score(top(seed, n), data) - score(model, data)


BOTH = tuple((seed, n) for n in (10, 0) for seed in range(10))


@claim("05-58", BOTH)
def persistent_chains_and_cd_are_near(seed, n):
    """its chains do not get far, but they start where the answer ought to be, and PCD's where it was a moment ago."""
    exact, pcd, cd = (score(*ended(phase, "steady", seed, n)) for phase in ("exact", "previous", "data"))
    return 0.5 - (exact - min(pcd, cd))


@claim("05-58")
def fresh_chains_are_not(seed):
    """Fresh chains turn round and slide down past $-7$."""
    return -7 - score(*ended("fresh 1", "steady", seed, 0))


@claim("05-58")
def larger_weights_forget_later(seed):
    """A machine with larger weights needs *more* sweeps to forget its random start."""
    model = summit(table(seed, 8))
    return forgotten(model.at(1 / 1.5)) - forgotten(model)


def forgotten(model):
    """How far the law after one sweep from random states is from p(s)."""
    return misplaced(sweep_matrix(model).mean(axis=0), bmlab.probabilities(model))


@claim("05-61", BOTH)
def persistent_chains_stay(seed, n):
    """**PCD stays on the summit with one sweep a step.**"""
    return 0.03 - lost("previous", seed, n)


@claim("05-61", product(range(10), (15, 0)))  # four times the chains; other tables, and the animals
def cd_keeps_a_bias(seed, n):
    """no amount of averaging removes that"""
    return lost("data", seed, n, copies=4) - max(0.02, lost("previous", seed, n))


@claim("05-61")  # the animals, with other random numbers
def ten_sweeps_and_fifty(seed):
    """with ten sweeps a step they still lose 0.13, and with fifty they are as good as PCD, for fifty times the
    work."""
    ten, fifty = (lost(f"fresh {sweeps}", seed, 0) for sweeps in (10, 50))
    return min(ten - 0.05, 0.3 - ten, 0.02 - fifty)


@claim("05-61")
def three_sweeps_from_the_data(seed):
    """with three sweeps a step, or with ten, it loses 0.01 at most."""
    return 0.01 - max(lost(f"data {sweeps}", seed, 0) for sweeps in (3, 10))


def by_mean_field(data, n=15, penalty=PENALTY, steps=401):
    """The last step of a climb that asks mean field."""
    return bmlab.fit(blank(n), data, bmlab.mean_field, rate=0.05, steps=steps, penalty=penalty, every=steps).steps[-1]


@claim("05-71")
def it_believes_it_has_arrived(seed):
    """It believes it has arrived: its own moments match the data to 0.02. The truth is 0.52."""
    step = by_mean_field(table(seed, 15))
    true = bmlab.Step(step.model, step.clamped, bmlab.exact(step.model))
    return min(0.1 - step.mismatch, true.mismatch - 0.3)


@claim("05-71")
def the_radius_comes_to_rest(seed):
    """That of mean field's machine comes to rest near 1; the summit has 2.74."""
    at_rest, at_top = radius(by_mean_field(table(seed, 15)).model), radius(top(seed, 15))
    return min(0.4 - abs(at_rest - 1), at_top - at_rest - 1)


@claim("05-71")  # where the data want a small one, the loop arrives; where they want a large one, it does not
def the_radius_is_the_cause(seed):
    """**The spectral radius tells why.**"""
    losses = []
    for wanted in 0.3, 2:
        true = glass(10, seed, radius(glass(10, seed)) / wanted)
        share = bmlab.probabilities(true)
        data = bmlab.moments(bmlab.states(10), sample_weight=share)
        end = by_mean_field(data, n=10, penalty=0.001, steps=801).model
        losses.append(share @ (np.log(share) - bmlab.log_prob(end, bmlab.states(10))))
    return min(0.02 - losses[0], losses[1] - 0.2)


@claim("05-71", product(range(20), (0.5, 1, 3)))
def flattery(seed, temperature):
    """With nothing hidden, a model judged by its own mean field never looks worse than it is."""
    model = glass(5 + seed % 8, seed, temperature)
    return bmlab.exact(model).log_z.value - bmlab.mean_field(model).log_z.value


def inverted(data):
    """The notebook's closed form of mean field, its noise chosen on fifths of the rows."""
    fifths, noises = np.array_split(np.arange(len(data)), 5), (0.02, 0.03, 0.05, 0.07, 0.1)
    worth = [
        sum(score(bmlab.invert_mean_field(np.delete(data, k, 0), noise=x).model, data[k]) for k in fifths)
        for x in noises
    ]
    return bmlab.invert_mean_field(data, noise=noises[np.argmax(worth)]).model


@claim("05-inverse-read")  # judged on the table itself, and on the animals that it did not draw
def one_inverse_is_nearer(seed):
    """**One inverse comes nearer to the summit than the loop, in nats and in weights.**"""
    drawn = np.random.default_rng([seed, 2]).permutation(101)
    seen, unseen = ANIMALS[drawn[:70]], ANIMALS[drawn[70:]]
    top_of_it, loop, inverse = summit(seen), by_mean_field(seen).model, inverted(seen)
    gains = [score(inverse, rows) - score(loop, rows) for rows in (seen, unseen)]
    far = [np.linalg.norm(model.weights - top_of_it.weights) for model in (loop, inverse)]
    return min(*gains, far[0] - far[1], score(top_of_it, seen) - score(inverse, seen))


# --- doing without --------------------------------------------------------------------------------


@claim("platypus-answer")  # some animal of the table has a thousandth of what the summit gives it
def who_breaks_a_rule(seed):
    """where weights are too large, an animal that breaks a rule is as good as impossible."""
    data, right, (fresh, _) = table(seed, 15), top(seed, 15), ended("fresh 1", "falling", seed, 15)
    return (bmlab.log_prob(right, data) - bmlab.log_prob(fresh, data)).max() - np.log(1000)


@cache
def mean_field_on_the_platypus(seed):
    """log p(platypus) by mean field less that on the summit, of a table with the platypus in it."""
    animal = ANIMALS[[ZOO.names.index("platypus")]]
    data = np.vstack([table(seed, 15)[:100], animal])
    return bmlab.log_prob(by_mean_field(data).model, animal)[0] - bmlab.log_prob(summit(data), animal)[0]


@claim("platypus-answer")  # among 15 tables at least two too rare, and two too common
def its_sign_is_luck(seed):
    """on some other tables drawn from this one it finds it too rare."""
    signs = [mean_field_on_the_platypus(k) > 0 for k in np.random.default_rng(seed).choice(25, 15, replace=False)]
    return min(sum(signs), len(signs) - sum(signs)) - 1.5


@claim("05-without", product(range(5), (0.5, 0.7, 1, 4)))
def pseudolikelihood_in_the_limit(seed, temperature):
    """in the limit of many data its maximum is that machine."""
    true = glass(8 + seed, seed, temperature)
    every_pair = ~np.eye(true.n, dtype=bool)
    found = maximise_pseudolikelihood(bmlab.states(true.n), bmlab.probabilities(true), 0.0, every_pair).model
    return 0.01 - np.linalg.norm(found.weights - true.weights / temperature) / np.linalg.norm(true.weights)


def errors(true, rows, seed):
    """Error of the weights by the two rules; nan where a rule refuses or stops early."""
    data, weights = bmlab.sample(true, rows, rng=np.random.default_rng(seed)), true.weights / true.temperature
    found = []
    for rule in bmlab.pseudolikelihood, partial(bmlab.maximize, blank(true.n)):
        try:
            fit = rule(data)
            error = np.linalg.norm(fit.model.weights - weights) / np.linalg.norm(weights)
            found.append(error if fit.converged else np.nan)
        except ValueError:
            found.append(np.nan)
    return np.array(found)


@claim("only-visible")
def maximum_likelihood_gains_little(seed):
    """In the weights of random machines it gains next to nothing"""
    true = glass(10, seed, (0.7, 1, 2, 4)[seed % 4])
    both = np.array([errors(true, 10_000, [seed, draw]) for draw in range(10)])
    rule, most = np.sqrt(np.nanmean(both**2, axis=0))
    return 1.1 - rule / most


RULES = partial(bmlab.maximize, blank(15), tolerance=1e-4), bmlab.pseudolikelihood


@cache
def unseen(rule, penalty, seed):
    """What a machine of 70 animals is worth on the other 31."""
    seen, others = np.split(np.random.default_rng(seed).permutation(ANIMALS), [70])
    return score(rule(seen, penalty=penalty).model, others)


@claim("only-visible")  # each rule with its best penalty, and with the same
def in_nats_it_gains(seed):
    """**On unseen animals maximum likelihood is better than pseudolikelihood by a tenth of a nat.**"""
    splits = np.random.default_rng(seed).choice(40, 15, replace=False)
    worth = np.mean([[[unseen(rule, p, split) for p in (0.03, 0.06)] for rule in RULES] for split in splits], axis=0)
    gains = [likelihood - other for likelihood, other in (worth.max(axis=1), worth[:, 0])]
    return min(min(gains) - 0.05, 0.2 - max(gains))


# --- the rule -----------------------------------------------------------------------------------------------------


@cache
def machines(seed):
    """A couple, a ring, a crowd, repelling units and a glass, with fields or without."""
    rng = np.random.default_rng([seed, 1])
    n = int(rng.integers(4, 13))
    crowd = 1 - np.eye(n)
    shapes = couples(1), ring(n), crowd, -crowd, bmlab.sherrington_kirkpatrick(n, rng=rng).weights
    return [bmlab.BoltzmannMachine(W, rng.choice([0.0, 0.1, 0.5, 1]) * rng.normal(size=len(W))) for W in shapes]


@claim("05-89")
def below_a_radius_of_three_tenths(seed):
    """below a spectral radius of 0.3 `mean_field` errs by less than 0.03 (found by search, not proved: notebook 04)"""
    for model in machines(seed):
        weaker = scaled(model.weights, model.biases, 0.3)
        yield 0.03 - off(bmlab.mean_field(weaker), weaker)


@claim("05-89", range(10))  # exact kept from it, and asked afterwards
def the_stated_error_holds(seed):
    """`.info["error"]` states an error"""
    for number, model in enumerate([*machines(seed)[1:], glass(20, seed)]):
        some = model.at(radius(model) / (0.2, 0.7, 2)[(seed + number) % 3])
        answer = choosing.without_exact(some, np.random.default_rng(seed), "moments", 1000)
        yield np.nan_to_num(answer.info["error"] - off(answer, some), nan=-1)  # where it states none


@claim("05-97")
def too_large(seed):
    """Fresh chains: they see too little correlation, and make the weights too large."""
    fresh, _ = ended("fresh 1", "falling", seed, 15)
    return np.linalg.norm(fresh.weights) - 1.1 * np.linalg.norm(top(seed, 15).weights)


# --- three ways to Z ----------------------------------------------------------------------------------------------


TIES = tuple(product((100, 200, 400), (0.5, 0.6, 0.7, 0.8), (1, -1)))


@claim("05-raced", TIES)  # that attract each other or repel, with one valley; with two, of weights as weak, it is wrong
def right_where_one_valley_is_left(n, pull, sign):
    """*Mean field* is right where many weak ties leave one valley, and wrong in the glass, from five starts too."""
    errors = []
    for ties, mean, together in (crowd(n, sign * pull), crowd(n, pull + 1)):
        answer = bmlab.mean_field(ties, starts=5)
        errors.append(race.moments_off(answer, np.full(n, mean), np.full((n, n), together)))
    cold = glass(20, n + int(100 * sign * pull), 0.3)
    return min(0.02 - errors[0], errors[1] - 0.04, off(bmlab.mean_field(cold, starts=5), cold) - 0.05)


@claim(
    "05-raced"
)  # other tables, glasses and temperatures of ties; mean field from five starts, 1000 sweeps of 100 chains
def each_wins_once(seed):
    """**With brute force as one loop over the states, each of the three wins once**"""
    animals, cold = summit(table(seed, 15), PENALTY), glass(20, seed, 0.3)
    true, product = bmlab.exact(cold), bmlab.mean_field(cold, starts=5)
    visited, plain = bmlab.visited(cold, rng=seed), bmlab.gibbs(cold, rng=seed)
    missed = [true.log_z - answer.log_z.lower for answer in (visited, product)]
    here = [race.moments_off(answer, true.mean, true.corr) for answer in (visited, plain, product)]
    ties, log_z, corr = race.weak_ties(200, 1.2 + seed / 10)
    product, plain = bmlab.mean_field(ties, starts=5), bmlab.gibbs(ties, rng=seed)
    there = [race.moments_off(answer, np.zeros(200), corr) for answer in (product, plain)]
    return min(
        bmlab.exact(animals).log_z - bmlab.mean_field(animals, starts=5).log_z.lower - 0.1,
        missed[1] / 2 - missed[0],
        min(here[1:]) / 4 - here[0],
        there[1] / 100 - there[0],
        log_z - bmlab.visited(ties, rng=seed, n_sweeps=100).log_z.lower - 50,
    )
