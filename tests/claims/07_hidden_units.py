"""What 07_hidden_units says of pairs, of hidden units and of the encoder of 1985, attacked.

Climbs from many starts are made side by side and exactly (`climbed`).
"""

import sys
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from referee import claim
from scipy.stats import spearmanr

import bmlab

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "notebooks" / "tables"))
import shifter

SEEDS = range(20)
BINS = 283_041
XOR = np.array([[-1, -1, -1], [-1, 1, 1], [1, -1, 1], [1, 1, -1.0]])
STATES = bmlab.states(10)


# --- what pairs see -----------------------------------------------------------------------------------------------


@claim("07-02")
def the_blank_machine_is_the_best_of_pairs():
    """The blank machine *is* the best machine of pairs."""
    for seed in SEEDS:
        n = 3 + seed % 4
        rows = bmlab.states(n)[bmlab.states(n).prod(1) == (-1) ** n]  # parity; XOR is the one of three
        begin = bmlab.sherrington_kirkpatrick(n, np.random.default_rng(seed))
        yield 1e-6 - (bmlab.maximize(begin, rows).steps[-1].log_likelihood.value + n * np.log(2))


@cache
def recording(seed, bins=BINS):
    """How often each pattern is seen in a recording of its own."""
    rows = bmlab.data.raster(bins, np.random.default_rng([seed, 1])).data
    return np.bincount((rows > 0) @ (1 << np.arange(10)[::-1]), minlength=1024) / bins


@cache
def pairs_of(seed):
    """The machine of pairs of a recording."""
    seen = recording(seed)
    begin = bmlab.BoltzmannMachine(np.zeros((10, 10)), np.zeros(10))
    return bmlab.maximize(begin, bmlab.moments(STATES, sample_weight=seen)).model


@claim("07-21")
def they_all_pull_the_same_way():
    """There are $10 \\cdot 9 / 2 = 45$ pairs, and they all pull the same way."""
    many = (STATES > 0).sum(1) >= 3
    for seed in SEEDS:
        seen = recording(seed)
        coins = ((1 + STATES * (seen @ STATES)) / 2).prod(1)
        paired = bmlab.probabilities(pairs_of(seed))
        yield min(seen[many].sum() / coins[many].sum() - 2.5, 0.1 - abs(paired[many].sum() / seen[many].sum() - 1))


@claim("07-38")
def a_third_each():
    """Exactly one third each, for every pattern."""
    for rows, penalty in product((3, 4, 5), (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 1)):
        data = bmlab.data.shifter(rows).data
        n = data.shape[1]
        model = bmlab.maximize(bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n)), data, penalty=penalty).model
        yield 1e-3 - np.abs(shifter.chances(model, data) - 1 / 3).max()


# --- one hidden unit ----------------------------------------------------------------------------------------------


@claim("07-41")
def threes_and_fours():
    """**A hidden unit gives its visible units interactions of three and more.**"""
    product_of_four, rng = bmlab.states(4).prod(1), np.random.default_rng(0)
    for _ in SEEDS:
        machine = bmlab.restricted(rng.normal(size=(4, 1)), rng.normal(size=4), rng.normal(size=1))
        log_p = np.log(bmlab.probabilities(machine).reshape(16, 2).sum(1))
        alone = machine.clamp([4], [1.0])  # and without it: pairs only
        threes = np.abs(log_p @ (bmlab.states(4) * product_of_four[:, None])).max() / 16
        none = np.abs(alone.energy(bmlab.states(4)) @ product_of_four) / 16
        yield min(threes, np.abs(log_p @ product_of_four) / 16) - none - 1e-6


@claim("07-49")
def the_average_of_a_curve():
    """the average of a curve is not the curve of the average, not even for the mean that B hopes to save."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        machine = bmlab.restricted(2 * rng.choice([-1, 1], size=(3, 1)), np.zeros(3), rng.normal(size=1))
        by_pattern, average = bmlab.clamped(machine, XOR), XOR.mean(0)
        at_average = np.tanh(machine.field(np.append(average, 0))[3])
        wrong = np.abs(by_pattern.corr[3, :3] - average * at_average).max()
        yield min(abs(by_pattern.mean[3] - at_average), wrong) - 0.01


@claim("07-65")
def symmetry_has_to_be_broken():
    """Symmetry has to be broken by noise."""
    for seed in SEEDS:
        noise = np.random.default_rng(seed).normal(size=(3, 1))
        still, moved = (
            bmlab.fit(bmlab.restricted(W, np.zeros(3), np.zeros(1)), XOR, rate=0.3, steps=1001, every=1001).steps[-1]
            for W in (0 * noise, noise)
        )
        yield moved.log_likelihood.value - still.log_likelihood.value - 0.01


@cache
def climbed(starts=2000, steps=1501, rate=0.3):
    """First weights of many newborn machines, the step at which L passes -1.7 (-1: not yet), and their last weights."""
    V, pairs = bmlab.states(3), np.triu_indices(3, 1)
    products, here = V[:, pairs[0]] * V[:, pairs[1]], np.flatnonzero(V.prod(1) < 0)
    first = np.stack([np.random.default_rng(seed).normal(scale=0.1, size=3) for seed in range(starts)])
    w, c, a, J, passed = (
        first.copy(),
        np.zeros(starts),
        np.zeros((starts, 3)),
        np.zeros((starts, 3)),
        np.full(starts, -1),
    )
    for step in range(steps):
        field = V @ w.T + c
        log_p = V @ a.T + products @ J.T + np.logaddexp(field, -field)
        log_p -= np.logaddexp.reduce(log_p, 0)
        passed[(passed < 0) & (log_p[here].mean(0) > -1.7)] = step
        missing = -np.exp(log_p)
        missing[here] += 1 / 4
        a, J, heard = a + rate * missing.T @ V, J + rate * missing.T @ products, missing * np.tanh(field)
        w, c = w + rate * heard.T @ V, c + rate * heard.sum(0)
    return first, passed, w


@claim("07-68")
def a_smaller_product_waits_longer():
    """As a rule, the smaller the product of the three first weights, the longer."""
    first, passed, _ = climbed()
    for group in np.split(np.arange(2000), 20):
        left = group[passed[group] > 0]
        yield -spearmanr(np.abs(first[left].prod(1)), passed[left]).statistic - 0.8


@claim("07-68")
def eight_solutions():
    """eight solutions, all equally good, and chance chooses."""
    _, passed, last = climbed()
    patterns, chosen = np.unique(np.sign(last[(passed > 0) & (passed < 800)]), axis=0, return_counts=True)
    assert len(patterns) == 8
    for k, signs in enumerate(np.tile(patterns, (3, 1))):
        value = []
        for turned in signs, np.ones(3):
            machine = bmlab.restricted((3 + 0.1 * k) * turned[:, None], np.zeros(3), [-(3 + 0.1 * k) * turned.prod()])
            value.append(bmlab.log_likelihood(bmlab.clamped(machine, XOR), bmlab.exact(machine)).value)
        yield min(1e-9 - abs(value[0] - value[1]), chosen[k % 8] / chosen.sum() - 0.09)


# --- the encoder --------------------------------------------------------------------------------------------------


# The weights that the encoder has: two groups of four, full inside, and two units in common.
EXISTS = np.zeros((10, 10), bool)
EXISTS[:4, :4] = EXISTS[4:8, 4:8] = EXISTS[:8, 8:] = True
EXISTS = np.triu(EXISTS, 1)
PAIRS = np.nonzero(EXISTS)


@cache
def encoders(spoilt, penalty=0.0, starts=400, steps=801):
    """Codes found, L and the largest weight of exact climbs side by side, as in codes_found(), from other seeds."""
    clean = np.tile(bmlab.data.encoder(4).data, (60, 1))
    flips = np.random.default_rng(0).random(clean.shape) < np.where(clean > 0, 0.15, 0.05)
    rows, weight = np.unique(np.where(flips, -clean, clean) if spoilt else clean, axis=0, return_counts=True)
    weight = weight / weight.sum()
    features = np.hstack([STATES, STATES[:, PAIRS[0]] * STATES[:, PAIRS[1]]])
    begin = np.zeros((starts, features.shape[1]))
    for seed in range(starts):
        W = np.random.default_rng([seed, 1]).normal(scale=0.1, size=(10, 10))
        begin[seed, 10:] = ((W + W.T) / 2)[PAIRS]
    at = (rows > 0) @ (1 << np.arange(8)[::-1])  # the place of a visible pattern among 256
    target = np.zeros(256)
    target[at] = weight
    theta = begin
    for _ in range(steps - 1):
        p = np.exp(theta @ features.T)
        visible = p.reshape(starts, 256, 4).sum(2)
        wanted = p * np.repeat(target / visible, 4, axis=1)
        theta = theta + 0.1 * ((wanted - p / p.sum(1, keepdims=True)) @ features)
        theta[:, 10:] -= 0.1 * penalty * theta[:, 10:]
    p = np.exp(theta @ features.T).reshape(starts, 256, 4).sum(2)
    value = np.log(p / p.sum(1, keepdims=True)) @ target
    W = np.zeros((starts, 10, 10))
    W[:, PAIRS[0], PAIRS[1]] = W[:, PAIRS[1], PAIRS[0]] = theta[:, 10:]
    fields = bmlab.data.encoder(4).data @ W[:, :8, 8:] + theta[:, None, 8:10]
    codes = np.array([len(np.unique(np.sign(field), axis=0)) for field in fields])
    return codes, value, np.abs(theta[:, 10:]).max(1)


@claim("07-90")
def most_are_on_lower_summits():
    """A few more do if the climb goes on twenty times as long; most are on summits that are lower."""
    early, _, _ = encoders(False, starts=60)
    late, value, _ = encoders(False, starts=60, steps=16_001)
    more, lower = (late == 4).sum() - (early == 4).sum(), value < np.median(value[late == 4]) - 0.1
    for seed in SEEDS:  # of those that had not four codes, as many drawn again
        some = np.random.default_rng(seed).choice(rest := np.flatnonzero(early < 4), len(rest))
        yield min(lower[some].mean() - 0.5, more - 0.5)


@claim("07-90")
def spoilt_patterns_guide():
    """From spoilt patterns it is 17 of 20."""
    clean, spoilt = (encoders(which)[0] == 4 for which in (False, True))
    for group in np.split(np.arange(400), 20):
        yield spoilt[group].mean() - clean[group].mean()


@claim("07-90")
def small_weights_do_not_explain_it():
    """with a penalty of 0.1, clean patterns end with smaller weights than spoilt ones, and still find four codes less
    often."""
    (clean, _, small), (spoilt, _, large) = encoders(False, 0.1), encoders(True)
    for group in np.split(np.arange(400), 20):
        yield min(
            np.median(large[group]) - np.median(small[group]), np.mean(spoilt[group] == 4) - np.mean(clean[group] == 4)
        )


# --- the shifter --------------------------------------------------------------------------------------------------

CASES = bmlab.data.shifter().data


@cache
def learned(steps, seed):
    """A machine of four fifths of the cases, and who was kept back; all of them for short training."""
    kept = shifter.split(CASES, 100 + seed) if steps > 500 else np.ones(len(CASES), bool)
    return shifter.learned(CASES[kept], steps, np.random.default_rng(100 + seed)), kept


@claim("07-93")
def the_rule_and_not_the_list():
    """98.6 % of cases *never seen* are named rightly. What it learnt is the rule and not the list."""
    for seed in SEEDS:
        model, kept = learned(3000, seed)
        right = shifter.chances(model, CASES).argmax(1) == CASES[:, -3:].argmax(1)
        yield right[~kept].mean() - 0.95


@claim("07-99")
def geometry():
    """**It has found the geometry in the statistics**"""
    for seed in SEEDS:
        W = learned(3000, seed)[0].weights[19:, :19]
        apart = (np.abs(W[:, :8]).argmax(1) - np.abs(W[:, 8:16]).argmax(1) + 1) % 8
        yield (apart <= 2).mean() - 0.75


@claim("07-102")
def hidden_units_have_no_names():
    """Hidden units can swap places, or turn their signs over, without a change to any visible pattern."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        W, b, c = rng.normal(size=(5, 3)), rng.normal(size=5), rng.normal(size=3)
        swap, turn = rng.permutation(3), rng.choice([-1, 1], size=3)
        laws = [bmlab.probabilities(bmlab.restricted(*each)).reshape(32, 8).sum(1)
                for each in ((W, b, c), ((W * turn)[:, swap], b, (c * turn)[swap]))]  # fmt: skip
        yield 1e-12 - np.abs(laws[0] - laws[1]).max()
