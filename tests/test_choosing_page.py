"""The tables of docs/choosing.md are those that the stored measurements make."""

from pathlib import Path

import numpy as np

import bmlab

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
ROUNDING = 1e-9  # errors that are smaller are none
CSV = {"delimiter": ",", "names": True, "dtype": None, "encoding": "utf-8"}


def report_card():
    """The lines of the report card: how often two orders state an error, and the largest of Bethe's over it."""
    card = np.genfromtxt(ROOT / "notebooks" / "tables" / "05_report_card.csv", **CSV)
    for kind in [*dict.fromkeys(card["kind"]), "all"]:
        rows = card[(card["kind"] == kind) | (kind == "all")]
        over = (rows["error"] + ROUNDING) / (rows["stated"] + ROUNDING)
        stated = [over[(rows["want"] == want) & ~np.isnan(over)] for want in ("moments", "log_z")]
        largest = [f"{max(some):.2f}" if len(some) else "-" for some in stated]
        yield f"| {kind} | {len(rows) // 2} | {len(stated[0])} | {largest[0]} | {largest[1]} |"


def reconstruction():
    """The lines of the table of rules, two a temperature."""
    table = np.genfromtxt(ROOT / "notebooks" / "tables" / "05_reconstruction.csv", **CSV)
    for T in np.unique(table["temperature"]):
        for rows in 1000, 100_000:
            here = table[(table["temperature"] == T) & (table["rows"] == rows)]
            errors = [np.median(here["error"][here["method"] == rule]) for rule in dict.fromkeys(table["method"])]
            yield " | ".join([f"| {T:g} | {rows}", *["-" if np.isnan(e) else f"{e:.3f}" for e in errors]]) + " |"


def test_the_report_card_is_the_one_that_was_measured():
    for line in report_card():
        assert f"\n{line}\n" in PAGE, line


def test_the_table_of_rules_is_the_one_that_was_measured():
    for line in reconstruction():
        assert f"\n{line}\n" in PAGE, line


def couples_off(x, bias, k):
    """The rms error of mean field over all means and pairs of k couples of this radius, from that of one."""
    one = bmlab.BoltzmannMachine([[0, x], [x, 0]], [bias, bias])
    found, true = bmlab.mean_field(one), bmlab.exact(one)
    mean, within = abs(found.mean - true.mean)[0], (found.corr - true.corr)[0, 1]
    across, n = found.mean[0] ** 2 - true.mean[0] ** 2, 2 * k
    pairs = n * (n - 1) // 2
    return np.sqrt((n * mean**2 + k * within**2 + (pairs - k) * across**2) / (n + pairs))


def test_the_worst_errors_are_those_of_couples():
    worst = [max(couples_off(x, b, k) for b in np.linspace(0, 0.7, 36) for k in (1, 200)) for x in (0.2, 0.3, 0.4, 0.5)]
    said = "{:.3f} at 0.2, {:.3f} at 0.3, {:.3f} at 0.4 (many couples), {:.3f} at 0.5 (one couple)".format(*worst)
    assert f"The worst rms errors of all: {said}." in PAGE
    assert max(couples_off(0.5, b, 200) for b in np.linspace(0, 0.7, 36)) < worst[3]
