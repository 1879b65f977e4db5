"""two_sample_test: how often it is wrong of groups that are alike, that it sees differences, and its refusals."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from selection import one_of

import bmlab


def groups(n, n_rows, seed, other=0.0):
    """Two groups of a random machine, the second of which has its first weight changed by `other`."""
    rng = np.random.default_rng([n, n_rows, seed])
    glass = bmlab.sherrington_kirkpatrick(n, rng=rng, scale=0.6)
    change = np.zeros((n, n))
    change[:1, 1:2] = change[1:2, :1] = other
    biases = 0.3 * rng.normal(size=n)
    models = (bmlab.BoltzmannMachine(glass.weights + w, biases) for w in (0, change))
    return [bmlab.sample(model, size, rng=rng) for model, size in zip(models, (n_rows // 3, n_rows), strict=True)]


@pytest.mark.parametrize("n_rows", [60, 200, 1000])
@pytest.mark.parametrize("n", one_of([3, 1, 6]))
def test_groups_that_are_alike_are_told_apart_as_often_as_stated(n, n_rows):
    """Of 400 pairs of groups 1, 5 and 20 in 100, within what a binomial has once in 10,000 times; at most, where few
    rows have few values."""
    p = np.array([bmlab.two_sample_test(*groups(n, n_rows, seed)).p_value for seed in range(400)])
    for level in (0.01, 0.05, 0.2):
        low, high = stats.binom.ppf([0.5e-4, 1 - 0.5e-4], 400, level)
        assert (p < level).sum() <= high, (level, (p < level).mean())
        assert n_rows < 1000 or (p < level).sum() >= low or n == 1


def test_groups_that_differ_are_seen():
    """By one weight of 0.6 among ten, in 600 rows and 200: it errs by 0.09."""
    p = [bmlab.two_sample_test(*groups(4, 600, seed, other=0.6)).p_value for seed in range(40)]
    assert np.median(p) < 1e-4


def test_of_one_unit_it_is_the_t_test():
    one, two = groups(1, 90, 0)
    found = bmlab.two_sample_test(one, two)
    known: Any = stats.ttest_ind(one[:, 0], two[:, 0])
    assert found.p_value == pytest.approx(known.pvalue) and found.statistic == pytest.approx(known.statistic**2)
    assert found.degrees == (1, len(one) + len(two) - 2)


def test_it_does_not_matter_which_group_is_first_or_how_columns_stand():
    one, two = groups(4, 200, 1)
    p = bmlab.two_sample_test(one, two).p_value
    assert bmlab.two_sample_test(two, one).p_value == pytest.approx(p)
    assert bmlab.two_sample_test(one[:, ::-1], two[:, ::-1]).p_value == pytest.approx(p)
    assert bmlab.two_sample_test(-one, -two).p_value == pytest.approx(p)
    names = ["a", "b", "c", "d"]
    frames = pd.DataFrame(one, columns=names), pd.DataFrame(two, columns=names)[["c", "a", "d", "b"]]
    assert bmlab.two_sample_test(*frames).p_value == pytest.approx(p)


def test_what_is_constant_or_said_twice_counts_once():
    one, two = groups(3, 200, 2)
    again = [np.column_stack([s, s[:, 0], np.ones(len(s))]) for s in (one, two)]
    found = bmlab.two_sample_test(*again)
    assert found.degrees[0] == 6 and found.p_value == pytest.approx(bmlab.two_sample_test(one, two).p_value)
    ring = np.eye(3, k=1) + np.eye(3, k=-1) > 0
    assert bmlab.two_sample_test(one, two, couplings=ring).degrees[0] == 5


def test_what_cannot_be_tested_is_refused():
    one, two = groups(4, 200, 3)
    with pytest.raises(ValueError, match=r"other must have more than 5 rows for 3 .* found 4; pass more rows"):
        bmlab.two_sample_test(bmlab.states(4)[:2], bmlab.states(4)[4:6])
    with pytest.raises(ValueError, match="other must have the 4 columns of data, found 3"):
        bmlab.two_sample_test(one, two[:, :3])
    with pytest.raises(ValueError, match="data must be whole rows, found nan"):
        bmlab.two_sample_test(np.where(one > 0, np.nan, one), two)
    with pytest.raises(ValueError, match="other must be whole rows, found nan"):
        bmlab.two_sample_test(one, np.where(two > 0, np.nan, two))
