"""Claims of 00_start on probabilities and of learning, attacked: other machines, other seeds, other questions."""

from functools import cache
from itertools import combinations

import numpy as np
from judges import features
from referee import claim, proved
from scipy.special import softmax

import bmlab

ZOO = bmlab.data.zoo().data
SETS = range(3003)  # all sets of five of its 15 questions


@cache
def learned():
    """How far the worst pair of each set is off after 300 steps, as the notebook makes them."""
    answers = ZOO[:, list(combinations(range(15), 5))].swapaxes(0, 1)
    i, j = np.triu_indices(5, 1)
    seen = np.concatenate([answers[:, :, i] * answers[:, :, j], answers], axis=2).mean(axis=1)
    rows, p = np.zeros((3003, 15)), np.full((3003, 32), 1 / 32)
    for _ in range(300):
        rows += 0.3 * (seen - p @ features(5))
        p = softmax(rows @ features(5).T, axis=1)
    return np.abs(seen - p @ features(5))[:, :10].max(axis=1)


@proved(
    "00-turn3",
    "A sweep keeps p and may lead from any state to any other at once, so its averages come to those of p (03).",
)
def visits_as_often_as_probable():
    """**in the long run the machine visits its states as often as they are probable**"""


@proved("00-22", "Two states of equal energy have the ratio e^0 = 1 at every T.")
def cooling_cannot_break_a_tie():
    """cooling cannot break a tie"""


@proved("00-16", "With s0 = s1 = 1 the terms of unit 2 add up to (w02 + w12) s2, and w12 = -w02.")
def the_two_cancel():
    """the two cancel"""


@proved("00-20", "p(s) / p(s') = exp(-(E(s) - E(s')) / T): a constant in E drops out, a difference of T gives 1/e.")
def only_differences_count():
    """**Only differences of energy count: $T$ more energy divides the probability by $e$.**"""


@claim("00-49", SETS, share=0.99)  # in one of them the steps are too long, and the averages swing
def a_weight_rests_where_the_averages_agree(k):
    """In nearly all other sets of five questions, too, all pairs are within 0.01 of the data after 300 steps."""
    return 0.01 - learned()[k]


@proved("00-64", "p(s) / p(s') = e^(-(E(s) - E(s')) / T): above 1 for the lower energy, nearer to 1 the larger T is.")
def energy_says_which_and_temperature_how_strictly():
    """Its energy says which states it likes, its temperature how strictly"""
