"""The shifter's table: the closed form against exact enumeration, the best guess, and the stored machine."""

import csv

import numpy as np
import pytest
import shifter
from selection import exhaustive

import bmlab

DATA = bmlab.data.shifter().data


def stored(**wanted):
    """Rows of the stored table with these values."""
    with shifter.TABLE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row for row in rows if all(row[key] == str(value) for key, value in wanted.items())]


def test_chances_are_those_of_the_clamped_machine():
    model, cases = bmlab.load(shifter.MACHINE), DATA[[3, 300, 600]]
    for case, found in zip(cases, shifter.chances(model, cases), strict=True):
        log_z = [bmlab.exact(model.clamp(np.arange(19), np.r_[case[:16], 2 * v3 - 1])).log_z.value for v3 in np.eye(3)]
        assert found == pytest.approx(np.exp(log_z - np.logaddexp.reduce(log_z)), rel=1e-9)


def test_the_best_guess_fails_where_shifts_lead_to_the_same():
    """All off or all on: three shifts are one. Alternating: left and right are one. Nothing else with 8 units."""
    best, on = shifter.best_guess(DATA), (DATA[:, :8] > 0).sum(1)
    assert best[(on == 0) | (on == 8)] == pytest.approx([1 / 3] * 6)
    assert sorted(best[(on > 0) & (on < 8)])[:5] == [0.5] * 4 + [1]


def test_the_stored_machine_scores_as_the_table_says():
    rows = stored(trained="all", steps=3000, seed=0)
    found = shifter.scores(bmlab.load(shifter.MACHINE), DATA, np.ones(len(DATA), bool))
    assert [[row[key] for key in ("on", "cases", "right", "best")] for row in rows] == [[*map(str, f)] for f in found]


def test_nobody_beats_the_best_guess_on_all_cases():
    rows = stored(trained="all")
    assert all(int(row["right"]) <= float(row["best"]) + 1e-9 for row in rows)
    assert len(rows) == 9 * len(shifter.STEPS) * len(shifter.SEEDS)


@exhaustive
def test_learning_begins_to_name_the_shift():
    """On a quarter of the cases two thousand steps leave a guess of one in three behind by five standard errors."""
    some = DATA[np.random.default_rng(0).permutation(len(DATA))[:192]]
    model = shifter.learned(some, 2000, np.random.default_rng(0))
    right = shifter.chances(model, some).argmax(1) == some[:, -3:].argmax(1)
    assert right.sum() > 64 + 5 * np.sqrt(192 * 2 / 9)
