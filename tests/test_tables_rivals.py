"""The tables of two races: of 08, five splits, nothing judged that was learnt; of 03b; and rows made again."""

import csv
from pathlib import Path

import magnet
import numpy as np
import pytest
import rivals
from selection import exhaustive

import bmlab

TABLE = np.genfromtxt(rivals.TABLE, delimiter=",", names=True)
RACE = np.genfromtxt(rivals.RACE, delimiter=",", names=True, dtype=None, encoding="utf-8")


def test_what_is_kept_back_is_not_learnt_and_each_image_is_kept_back_once():
    images, splits = bmlab.data.digits().train, [rivals.split(fold) for fold in range(5)]
    assert np.array_equal(np.vstack([kept_back for _, kept_back in splits]), images)
    assert all(len(learnt) == 800 and len(learnt) + len(kept_back) == 1000 for learnt, kept_back in splits)
    assert np.array_equal(splits[4][0], images[:800]) and np.array_equal(splits[0][0], images[200:])


def test_the_manual_has_the_medians_of_the_race():
    page = (Path(__file__).parents[1] / "docs" / "restricted.md").read_text(encoding="utf-8")
    for way in rivals.WAYS:
        rows = RACE[RACE["way"] == way]
        medians = [f"{np.median(rows['seconds']):.1f}", *(f"{np.median(rows[x]):.2f}" for x in ("taught", "unseen"))]
        line = next(line for line in page.splitlines() if line.startswith(f"| {way} |"))
        assert [cell.strip() for cell in line.split("|")][-4:-1] == medians
    exact, cd, pcd = (RACE["taught"][RACE["way"] == way] for way in ("exact", "CD-1", "PCD"))
    assert (exact > pcd).sum() == 4 and (cd < pcd).sum() == 4 and (cd < exact).all()


@exhaustive
def test_a_climb_of_the_race_can_be_made_again():
    stored = RACE[(RACE["way"] == "CD-1") & (RACE["fold"] == 4)][0]
    *_, taught, unseen = rivals.raced("CD-1", 4)
    assert [float(taught), float(unseen)] == pytest.approx([stored["taught"], stored["unseen"]], abs=0.1)


@exhaustive
def test_a_row_can_be_made_again():
    """Up to a tenth of a nat: single precision and other processors take another walk to the same height."""
    stored = TABLE[(TABLE["hidden"] == 12) & (TABLE["steps"] == 400) & (TABLE["fold"] == 4)][0]
    again = rivals.row((12, 0.02, 400, 4))
    assert [float(again[k]) for k in (5, 6)] == pytest.approx([stored["taught"], stored["unseen"]], abs=0.1)


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("way", ["temper", "short chains"])
def test_an_error_of_the_magnet_can_be_made_again(way):
    """Its time cannot; errors have two digits there."""
    chains, sweeps = magnet.WAYS[way][0]
    with magnet.TABLE.open(encoding="utf-8") as file:
        rows = [one for one in csv.DictReader(file) if one["way"] == way and one["chains"] == str(chains)]
    stored = next(one for one in rows if one["sweeps"] == str(sweeps) and float(one["bias"]) == 0.05)
    *_, error = magnet.row(0.05, way, chains, sweeps)
    assert float(error) == pytest.approx(float(stored["error"]), rel=0.05)
