"""The table of 08's contest: five splits a machine, nothing judged that was learnt, and a row made again."""

import numpy as np
import pytest
import rivals
from selection import exhaustive

import bmlab

TABLE = np.genfromtxt(rivals.TABLE, delimiter=",", names=True)


def test_what_is_kept_back_is_not_learnt_and_each_image_is_kept_back_once():
    images, splits = bmlab.data.digits().train, [rivals.split(fold) for fold in range(5)]
    assert np.array_equal(np.vstack([kept_back for _, kept_back in splits]), images)
    assert all(len(learnt) == 800 and len(learnt) + len(kept_back) == 1000 for learnt, kept_back in splits)
    assert np.array_equal(splits[4][0], images[:800]) and np.array_equal(splits[0][0], images[200:])


@exhaustive
def test_a_row_can_be_made_again():
    """Up to a tenth of a nat: single precision and other processors take another walk to the same height."""
    stored = TABLE[(TABLE["hidden"] == 12) & (TABLE["steps"] == 400) & (TABLE["fold"] == 4)][0]
    again = rivals.row((12, 0.02, 400, 4))
    assert [float(again[k]) for k in (5, 6)] == pytest.approx([stored["taught"], stored["unseen"]], abs=0.1)
