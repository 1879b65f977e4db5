"""Two-sample test: the score test (Rao 1948) of whether two groups of rows come from one machine.

Let x be the s_i and the s_i s_j of coupled pairs, P in all.  At the machine learnt from all N rows, the slopes of the
likelihood of group A with N_A rows are N_A (<x>_A - <x>): only noise if both groups come from one machine.  With S the
covariance of x in all rows, divided by N - 1,

    t^2 = (<x>_A - <x>_B)' S^-1 (<x>_A - <x>_B) / (1/N_A + 1/N_B),        V = t^2 / (N - 1),
    F = V / (1 - V) * (N - 1 - P) / P,

which approximately follows F with P and N - 1 - P degrees of freedom, even for few rows (Hotelling 1931, Ann. Math.
Stat. 2, 360).  No machine needs to be learnt, so no penalty biases the test, and the rows need not follow a machine.
Wald's test, the difference of two learnt machines over their errors, rejects equal groups up to six times too often.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from ..checking.arrays import align_columns, check_coupling_mask, names_of, no_such_attribute
from ..checking.calls import show_call
from ..checking.validation import ArrayLike, summary
from ..running.threads import one_thread
from .observations import check_complete_rows

RANK_TOLERANCE = 1e-9  # of an eigenvalue of the correlations of x: directions constant in all rows are left out


class TwoSampleTest(NamedTuple):
    """The result of two_sample_test().

    p_value     probability that groups of one machine differ by as much, or more
    statistic   F
    degrees     of freedom of F: the number P of means and pairs that vary, and N - 1 - P

    >>> bmlab.two_sample_test(np.tile(bmlab.states(2), (9, 1)), bmlab.states(2)).p_value  # equal shares
    1.0
    """

    p_value: float
    statistic: float
    degrees: tuple[int, int]

    __repr__ = summary
    __getattr__ = no_such_attribute


@show_call()
def two_sample_test(data: ArrayLike, other: ArrayLike, *, couplings: ArrayLike | None = None) -> TwoSampleTest:
    """Test whether two groups of whole rows, (N, n) and (M, n) of -1/+1, come from one machine.

    other       the second group; named columns are matched by name
    couplings   boolean (n, n): the pairs that may be coupled; default: all
    Of 100 pairs of groups from one machine 5 have a p_value below 0.05.  To find the weights that differ, learn one
    machine for each group, with standard_errors().  The test assumes independent rows.
    Raises ValueError for rows with holes, for other columns, and if the number of all rows is not larger than the
    number of means and pairs that vary, n (n + 1)/2 for all pairs, plus two.

    >>> one, two = (bmlab.sample(bmlab.toy().at(t), 500, rng=3) for t in (1.0, 3.0))
    >>> bmlab.two_sample_test(one, two).p_value < 0.001
    True
    """
    names = names_of(data)
    a = check_complete_rows(data, allow_constant=True)
    matched = align_columns("other", other, names, whole=True) if names else other
    b = check_complete_rows(matched, allow_constant=True, what="other")
    if a.shape[1] != b.shape[1]:
        raise ValueError(
            f"other must have the {a.shape[1]} columns of data, found {b.shape[1]}; pass rows of the same units"
        )
    mask = check_coupling_mask(couplings, a.shape[1], names)
    i, j = np.nonzero(np.triu(np.ones((a.shape[1],) * 2) if mask is None else mask, 1))
    with one_thread():
        rows = np.vstack([a, b])
        x = np.hstack([rows[:, i] * rows[:, j], rows])
        x = x[:, np.ptp(x, axis=0) > 0]
        centred = (x - x.mean(0)) / x.std(0)
        scale, axes = np.linalg.eigh(centred.T @ centred / (len(x) - 1))
        kept = scale > RANK_TOLERANCE * len(scale)
        rank, left = int(kept.sum()), len(x) - 1 - int(kept.sum())
        if not rank or left < 2:
            raise ValueError(
                f"data and other must have more than {rank + 2} rows for {rank} means and pairs that vary, found "
                f"{len(x)}; pass more rows, or couplings= with fewer pairs"
            )
        off = (centred[: len(a)].mean(0) - centred[len(a) :].mean(0)) @ axes[:, kept] / np.sqrt(scale[kept])
    share = float(off @ off / (1 / len(a) + 1 / len(b)) / (len(x) - 1))
    statistic = share / max(1 - share, 1e-300) * left / rank
    return TwoSampleTest(float(scipy.special.fdtrc(rank, left, statistic)), float(statistic), (rank, left))
