"""The encoders of 1985: the compiled kernel against exact enumeration, the protocol as printed, the stored tables."""

import csv
from itertools import product

import encoder_1985 as encoder
import numpy as np
import pytest
from encoder_1985 import NOISE, PROBLEMS, T

import bmlab

ODDS = encoder.table_of_odds(encoder.LEARNING)


def some_weights(problem, scale=8):
    """Even weights where weights may be, and biases: weak enough that ten units of time forget the start."""
    mask = encoder.existing(problem)
    drawn = np.random.default_rng(0).integers(-scale // 2, scale // 2 + 1, mask.shape) * 2
    return ((np.tril(drawn) + np.tril(drawn, -1).T) * mask).astype(np.int32)


def machine(weights):
    """The same machine in bmlab: biases off the diagonal, -1/+1 units, T = 10."""
    return bmlab.from_bits(weights - np.diag(np.diag(weights)), np.diag(weights).astype(float), T)


def both_on(answer):
    """<x_i x_j> of 0/1 units (means on the diagonal) from means and correlations of -1/+1 units."""
    return (1 + answer.mean[:, None] + answer.mean + answer.corr) / 4


def phases(weights, problem, noise, anew, repeats):
    """Both phases again and again: p and p' of each, shape (repeats, 2, n, n)."""
    random, data = encoder.stream(7), encoder.vectors(problem)
    counts = [encoder.statistics(weights, data, noise, anew, problem.times, ODDS, random) for _ in range(repeats)]
    return np.array(counts) / (len(data) * problem.times * encoder.COUNTED)


def agrees(samples, truth):
    """Whether the mean of independent samples is the truth within 5 standard errors everywhere (55 pairs at most)."""
    stderr = samples.std(0, ddof=1) / np.sqrt(len(samples))
    return (abs(samples.mean(0) - truth) <= 5 * stderr + 1e-12).all()


# The kernel against exact


@pytest.mark.parametrize("name", ["4-2-4", "4-3-4"])
def test_the_free_phase_is_the_boltzmann_distribution_at_ten(name):
    problem = PROBLEMS[name]
    weights = some_weights(problem)
    _, free = phases(weights, problem, problem.noise, True, 2000).swapaxes(0, 1)
    assert agrees(free, both_on(bmlab.exact(machine(weights))))
    assert not agrees(free, both_on(bmlab.exact(machine(weights).at(12.0))))


def test_the_clamped_phase_is_that_of_the_vectors():
    problem = PROBLEMS["4-3-4"]
    weights = some_weights(problem)
    clamped, _ = phases(weights, problem, (0.0, 0.0), True, 2000).swapaxes(0, 1)
    data = bmlab.spins(encoder.vectors(problem))
    assert agrees(clamped, both_on(bmlab.clamped(machine(weights), data)))


def test_noise_turns_bits_over_at_the_printed_rates():
    problem = PROBLEMS["4-2-4"]
    off, on = problem.noise
    data = np.where(encoder.vectors(problem) == 1, 1 - off, on)
    truth = data.T @ data / len(data)
    np.fill_diagonal(truth, data.mean(0))
    for anew in (True, False):
        clamped, _ = phases(some_weights(problem), problem, problem.noise, anew, 2000).swapaxes(0, 1)
        assert agrees(clamped[:, :8, :8], truth)


def test_noise_drawn_once_an_annealing_stays_while_pairs_are_counted():
    problem = PROBLEMS["4-2-4"]
    counts = {
        anew: np.round(phases(some_weights(problem), problem, problem.noise, anew, 20)[:, 0, :8, :8] * 80)
        for anew in (True, False)
    }
    assert (counts[False] % encoder.COUNTED == 0).all() and (counts[True] % encoder.COUNTED != 0).any()


def test_a_unit_is_on_with_the_logistic_chance_of_its_field():
    fields = 2 * (np.arange(ODDS.shape[1]) - ODDS.shape[1] // 2)
    assert np.allclose(ODDS[0] / 2.0**32, 1 / (1 + np.exp(-fields / 20)), atol=2.0**-32)
    assert ODDS[0, 0] == 0 and ODDS[0, -1] == 2**32


# Learning


@pytest.mark.parametrize("name, noise", list(product(["4-2-4", "8-3-8"], NOISE)))
def test_weights_move_by_two_and_only_where_they_exist(name, noise):
    weights = np.concatenate(list(encoder.blocks(name, noise, 0, 60)))
    moved = np.diff(weights, axis=0, prepend=np.zeros_like(weights[:1]))
    assert set(np.unique(moved)) == {-2, 0, 2}
    assert (weights == weights.swapaxes(1, 2)).all() and not weights[:, ~encoder.existing(PROBLEMS[name])].any()


def test_each_weight_moves_by_the_sign_of_the_difference_and_a_tie_not_at_all():
    problem, mask = PROBLEMS["4-2-4"], encoder.existing(PROBLEMS["4-2-4"]).astype(np.int32)
    given = encoder.vectors(problem), problem.noise, True, problem.times, ODDS
    clamped, free = encoder.statistics(some_weights(problem), *given, encoder.stream(3))
    after = encoder.learn(some_weights(problem), mask, *given, encoder.stream(3), 1)[0]
    assert ((after - some_weights(problem)) == 2 * np.sign(clamped - free) * mask).all()
    assert ((clamped == free) & (mask == 1)).any()


def test_groups_are_full_inside_and_meet_in_the_hidden_units_only():
    mask = encoder.existing(PROBLEMS["4-2-4"])
    v1, v2, hidden = slice(0, 4), slice(4, 8), slice(8, 10)
    assert mask[v1, v1].all() and mask[v2, v2].all() and mask[:8, hidden].all() and (mask == mask.T).all()
    assert not mask[v1, v2].any() and (mask[hidden, hidden] == np.eye(2)).all()


def test_hidden_units_of_the_large_encoder_wait_for_cycle_300():
    weights = np.concatenate(list(encoder.blocks("40-10-40", "time", 0, 350)))
    assert not weights[:300, 80:].any() and weights[300, 80:].any()


# What is asked of the weights


@pytest.mark.parametrize("name", ["4-2-4", "4-3-4"])
def test_divergence_is_that_of_two_enumerated_distributions(name):
    problem = PROBLEMS[name]
    weights, v, (off, on) = some_weights(problem), 2 * problem.half, problem.noise
    s = bmlab.states(len(weights))
    p = np.exp(-machine(weights).energy(s) / T).reshape(2**v, -1).sum(1)
    p /= p.sum()
    environment = np.zeros(2**v)
    for k, x in product(range(problem.half), range(2**v)):
        bits = bmlab.bits(bmlab.states(v)[x])
        rates = [((1 - off) if i % problem.half == k else on) for i in range(v)]
        environment[x] += np.prod([r if b else 1 - r for r, b in zip(rates, bits, strict=True)]) / problem.half
    truth = (environment * np.log(environment / p)).sum()
    assert encoder.divergence(weights, problem) == pytest.approx(truth, rel=1e-9)


def solved(problem):
    """Weights made by hand: winners take all inside a group, and unit k of either group stands for code k."""
    weights = np.zeros((2 * problem.half + problem.hidden,) * 2, np.int32)
    codes = bmlab.states(problem.hidden)[: problem.half]
    group = np.full((problem.half, problem.half), -80)
    np.fill_diagonal(group, 40 - 20 * codes.sum(1))  # 40 x_i c x_h - 20 x_i c is symmetric in the hidden unit
    for at in (0, problem.half):
        weights[at : at + problem.half, at : at + problem.half] = group
        weights[at : at + problem.half, 2 * problem.half :] = 40 * codes
        weights[2 * problem.half :, at : at + problem.half] = 40 * codes.T
    return weights


def test_codes_and_completion_of_a_solution_made_by_hand():
    problem = PROBLEMS["4-2-4"]
    good = solved(problem)
    shared = good.copy()
    for unit in (0, 4):  # unit 0 takes the code of unit 1
        shared[unit, 8:] = shared[8:, unit] = good[unit + 1, 8:]
    assert sorted(encoder.distances(good, problem)) == [1, 1, 1, 1, 2, 2]
    assert list(encoder.distances(shared, problem) == 0) == [True] + 5 * [False]
    assert list(encoder.completes(np.array([good, shared, 0 * good]), problem)) == [True, False, False]
    assert not encoder.distances(0 * good, problem).any()


def test_completion_is_the_most_probable_state_of_the_clamped_machine():
    problem = PROBLEMS["4-3-4"]
    history = np.concatenate(list(encoder.blocks("4-3-4", "time", 0, 200)))[10::10]
    for weights in history:
        model, right = machine(weights), True
        for known, k in product((0, 4), range(4)):
            given = model.clamp(np.arange(known, known + 4), 2.0 * (np.arange(4) == k) - 1)
            s = bmlab.states(7)  # the asked group (4 units), then 3 hidden ones
            p = np.exp(-(given.energy(s) - given.energy(s).min()) / T).reshape(16, 8).sum(1)
            right &= p.argmax() == 2 ** (3 - k)
        assert encoder.completes(weights, problem) == right


def test_the_interval_of_a_median_covers_as_it_says():
    rng, n = np.random.default_rng(0), 40
    inside = [low <= 0 <= high for _, low, high in (encoder.median_interval(rng.normal(size=n)) for _ in range(2000))]
    assert np.mean(inside) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 2000)


# The runs


def stored(path, name, noise, seed):
    """The rows of a stored table that belong to one run."""
    with path.open(newline="", encoding="utf-8") as file:
        return [row for row in csv.reader(file) if row[:3] == [name, noise, str(seed)]]


@pytest.mark.parametrize("name, noise", list(product(["4-2-4", "4-3-4"], NOISE)))
def test_the_stored_tables_are_what_the_script_makes(name, noise):
    row, history = encoder.run(name, noise, 2)
    assert stored(encoder.TABLE, name, noise, 2) == [list(map(str, row))]
    assert stored(encoder.HISTORY, name, noise, 2) == [list(map(str, row)) for row in history]
