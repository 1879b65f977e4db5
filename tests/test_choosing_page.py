"""The tables of docs/choosing.md are those that the stored measurements make."""

from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
CSV = {"delimiter": ",", "names": True, "dtype": None, "encoding": "utf-8"}


def report_card():
    """The lines of the report card, one a kind of machine."""
    card = np.genfromtxt(ROOT / "notebooks" / "tables" / "05_report_card.csv", **CSV)
    card = card[card["want"] == "moments"]
    for kind in [*dict.fromkeys(card["kind"]), "all"]:
        rows = card[(card["kind"] == kind) | (kind == "all")]
        good, covered = np.mean(rows["regret"] <= 1.5), np.mean(rows["over"] <= 1)
        chosen = zip(*np.unique(rows["method"], return_counts=True), strict=True)
        yield f"| {kind} | {good:.0%} | {covered:.0%} | {', '.join(f'{name} {k}' for name, k in chosen)} |"


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
