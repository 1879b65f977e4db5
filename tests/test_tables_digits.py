"""The table of notebook 09: the copies are those of the protocol, and the stored rows follow from it."""

import csv
import re
from pathlib import Path

import digits
import mnist
import numpy as np
import pytest
from selection import exhaustive

import bmlab


def stored(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("way", [-1, 1])
def test_half_a_pixel_spreads_a_dot_over_two(axis, way):
    dot, place = np.zeros((1, 8, 8)), [0, 3, 4]
    dot[tuple(place)] = 16
    moved = digits.half_pixel(dot, axis, way)
    assert moved[tuple(place)] == 8 and moved.sum() == 16
    place[axis] += way
    assert moved[tuple(place)] == 8


def test_the_images_themselves_are_those_of_the_package():
    sheets, labels = digits.training_images("shifts")
    assert sheets.shape == (5, 1000, 64) and set(np.unique(sheets)) == {-1, 1}
    assert (sheets[0] == bmlab.data.digits().train).all() and (labels == bmlab.data.digits().train_labels).all()


def test_each_form_begins_with_the_digits_in_order():
    """0 to 9 and again 0 to 5; the 0 of one form is missing."""
    data = bmlab.data.digits()
    labels = "".join(map(str, [*data.train_labels, *data.test_labels]))
    assert [found.start() for found in re.finditer("0?123456789012345", labels)] == [*digits.FORMS]
    assert np.array_equal(np.flatnonzero(np.diff(digits.forms())) + 1, digits.FORMS[1:]) and digits.forms()[0] == 0


def test_score_is_log_p_plus_log_z_with_the_hidden_units_summed_out():
    rng = np.random.default_rng(1)
    machine = bmlab.restricted(0.1 * rng.normal(size=(64, 3)), 0.1 * rng.normal(size=64), rng.normal(size=3))
    images = rng.choice([-1.0, 1.0], (4, 64))
    right = [bmlab.clamped(machine, image).log_z.value for image in images]
    assert digits.score(machine, images) == pytest.approx(right, abs=1e-10)  # sums of some hundred numbers below 10
    alone = bmlab.BoltzmannMachine(machine.weights[:64, :64], machine.biases[:64])
    assert digits.score(alone, images) == pytest.approx(-alone.energy(images), abs=1e-10)


def test_the_setting_in_the_table_is_the_first_best_of_its_grid():
    grades, best = stored(digits.CV_TABLE), {}
    for row in grades:
        task, errors = (row["rule"], row["copies"]), float(row["cv_errors"])
        if errors < best.get(task, (np.inf,))[0]:
            best[task] = errors, row["setting"]
    chosen = {
        (row["rule"], row["copies"]): (float(row["cv_errors"]), row["setting"])
        for row in stored(digits.TABLE)
        if row["log_z"] in ("ais", "")
    }
    assert chosen == best


@exhaustive
@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("name", ["independent", "mean-field inverse", "SVM"])
def test_a_row_can_be_made_again(name):
    row = next(row for row in stored(digits.TABLE) if row["rule"] == name and row["copies"] == "none")
    setting = {key: float(value) for key, value in (word.split("=") for word in row["setting"].split())}
    method, _, errors = next(digits.examine(name, setting, "none", 0))
    assert (method, errors) == (row["log_z"], int(row["errors"]))


PAGE = (Path(__file__).resolve().parents[1] / "docs" / "digits.md").read_text(encoding="utf-8")


def test_the_manual_says_of_the_contest_what_the_table_holds():
    means = [digits.mean_errors(digits.TABLE, copies) for copies in ("none", "shifts")]
    for name, *errors in zip((*digits.RULES, *digits.PEERS), *means, strict=True):
        assert f"| {name} | " + " | ".join(f"{x:.1f}" for x in errors) + " |" in PAGE


def test_the_manual_says_of_mnist_what_the_table_holds():
    """Errors of 1000 by ais, from the images alone and with shifted copies, one after the other for the seeds."""
    table = stored(digits.TABLE.with_name("09_mnist.csv"))
    for rule in "independent", "closed form", "pseudolikelihood", "restricted":
        cells = re.search(rf"^\| {rule}.* \| (.*) \| (.*) \|$", PAGE.split("## Twelve times")[1], re.M).groups()
        for numbers, shifts in zip(cells, ("no", "yes"), strict=True):
            kept = [r for r in table if (r["rule"], r["shifts"]) == (rule, shifts) and r["log_z"] in ("ais", "exact")]
            assert re.findall(r"\d+", numbers) == [row["errors"] for row in kept], (rule, shifts)


@exhaustive
@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize(
    ("noise", "said"),
    [
        (
            "0.1",
            r"(\d+) errors without any log Z, (\d+) with its\sown -F at the means of the data, and (\d+) with `ais`",
        ),
        ("0.15", r"(?P<ais>\d+) errors, (?P<own>\d+) with -F, (?P<none>\d+) without log Z"),
    ],
)
def test_the_manual_says_when_a_better_log_z_reads_worse(noise, said):
    """Errors without log Z, by -F at the means of the data, and by ais, whose values are stored; to one image."""
    page = (Path(__file__).resolve().parents[1] / "docs" / "digits.md").read_text(encoding="utf-8")
    rows = [row for row in stored(mnist.LOG_Z_TABLE) if (row["rule"], row["setting"]) == ("closed form", noise)]
    images = bmlab.data.mnist()
    machines, _ = mnist.learn("closed form", float(noise), images.train, images.train_labels, False)
    values = np.zeros(10), *(np.array([float(row[name]) for row in rows]) for name in ("data's -F", "ais"))
    errors = [mnist.errors(mnist.minus_energies(machines, images.test), z, images.test_labels) for z in values]
    found = re.search(said, page)
    numbers = [found[name] for name in ("none", "own", "ais")] if noise == "0.15" else found.groups()
    assert np.abs(np.array(numbers, int) - errors).max() <= 1
