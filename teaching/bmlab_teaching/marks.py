"""Points: those of checks, and those that a person gives in by_hand.csv; and the tables that hold them."""

import csv
import math
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .course import Handout
from .deliveries import tidy
from .working_copies import Exercise

COLUMNS = ("id", "student", "notebook", "exercise", "of", "points", "comment", "words", "read")
Hands = dict[tuple[str, str, str], dict[str, str]]  # (id, notebook, exercise) -> the line of by_hand.csv


@dataclass
class Line:
    """A student's marks: points of each exercise, None where somebody is to read it; what was not sent is not there."""

    row: Any
    points: dict[tuple[str, str], float | None] = field(default_factory=dict)  # (notebook, exercise)
    totals: dict[str, float] = field(default_factory=dict)
    comments: dict[tuple[str, str], str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def written(value: object) -> object:
    """A cell as spreadsheets shall read it: blank for None, and no formula that somebody calls himself."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.10g}"
    return f"'{value}" if str(value)[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def write_csv(path: Path, lines: Iterable[Iterable[object]]) -> None:
    """Write a table, in UTF-8 with the mark by which Excel knows it."""
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows([written(value) for value in line] for line in lines)


def read_hands(path: Path) -> Hands:
    """Return what a person wrote into by_hand.csv, however a spreadsheet stores it."""
    if not path.exists():
        return {}
    text = path.read_text(encoding="utf-8-sig")
    rows = csv.DictReader(text.splitlines(keepends=True), delimiter=";" if ";" in text.partition("\n")[0] else ",")
    found = {}
    for row in rows:
        row = {key: str(value or "") for key, value in row.items()}
        if not {"id", "notebook", "exercise", "points"} <= row.keys():
            raise ValueError(f"{path} has no columns id, notebook, exercise and points")
        try:
            row["points"] = row["points"].strip().replace(",", ".")
            if row["points"] and not math.isfinite(float(row["points"])):
                raise ValueError
        except ValueError as problem:
            raise ValueError(
                f"{path}: {row['points']!r} points for {row['id']}; write a number, or nothing"
            ) from problem
        found[row["id"], row["notebook"], row["exercise"]] = row
    return found


def awarded(one: Exercise, handout: Handout, about: Mapping) -> float:
    """The points of an answer that tests judge."""
    if about["answers"][one.answer]["open"]:
        return 0.0
    passed = 0.0
    for test in one.tests:
        hints = about["hints"].get(test, ["not run"] * len(handout.tests[test].checks))
        passed += sum(check.points for check, hint in zip(handout.tests[test].checks, hints, strict=True) if not hint)
    return passed


def line_of(row: Any, handouts: Mapping[str, Handout], hands: Hands) -> Line:
    """Return the marks of one student; what a person wrote counts before what a test says."""
    line = Line(row, remarks=list(row.remarks))
    for name, handout in handouts.items():
        about = row.notebooks.get(name)
        if not about or "problem" in about:
            line.remarks += [about["problem"]] if about else []
            continue
        for one in handout.graded:
            hand = hands.get((str(written(row.id)), name, one.answer), {})
            answer = about["answers"][one.answer]
            valid = not one.by_hand or answer["open"] or hand.get("read") == answer["words"]
            if hand.get("points") and valid:
                line.points[name, one.answer] = float(hand["points"])
            elif one.by_hand:
                line.points[name, one.answer] = 0.0 if answer["open"] else None
            else:
                line.points[name, one.answer] = awarded(one, handout, about)
            line.comments[name, one.answer] = hand.get("comment", "") if valid else ""
        mine = [line.points[name, one.answer] for one in handout.graded]
        line.totals[name] = sum(points or 0 for points in mine)
        unread = mine.count(None)
        unanswered = [one.title for one in handout.graded if about["answers"][one.answer]["open"]]
        line.remarks += [f"{name}: {unread} to be read by a person (by_hand.csv)"] * bool(unread)
        line.remarks += [f"{name}: not answered: {', '.join(unanswered)}"] * bool(unanswered)
        line.remarks += [f"{name}: {flag}" for flag in dict.fromkeys(about["flags"])]
        if about["student"] not in ("", "'0'", '"0"'):
            line.remarks.append(f"{name}: with the numbers of student {about['student'][:40]}")
    return line


def write_hands(path: Path, lines: Iterable[Line], handouts: Mapping[str, Handout], hands: Hands) -> None:
    """Write by_hand.csv again: a line for each answer that a person reads; words that are new have no points yet."""
    left, body = dict(hands), []
    for line in lines:
        for name, one in [(key, one) for key in line.totals for one in handouts[key].graded if one.by_hand]:
            answer = line.row.notebooks[name]["answers"][one.answer]
            hand = left.pop((str(written(line.row.id)), name, one.answer), {})
            if answer["open"] and not hand.get("points"):
                continue
            points, comment = hand.get("points", ""), hand.get("comment", "")
            if points and not answer["open"] and hand.get("read") != answer["words"]:
                points, comment = "", f"{points} points for other words that came earlier; {comment}".strip("; ")
            about = [line.row.id, line.row.name, name, one.answer, one.points, points, comment, answer["source"]]
            body.append([*about, answer["words"]])
    body += [[row.get(column, "").removeprefix("'") for column in COLUMNS] for row in left.values()]
    write_csv(path, [COLUMNS, *body])


def write_tables(out: Path, rows: Mapping[str, Any], handouts: Mapping[str, Handout]) -> None:
    """Write grades.csv, by_hand.csv, class.html, a feedback page a notebook, and these once more as the platform's."""
    from .pages import class_page, feedback

    out.mkdir(parents=True, exist_ok=True)
    hands = read_hands(out / "by_hand.csv")
    lines = [line_of(row, handouts, hands) for row in rows.values()]
    seen = {name: one for name, one in handouts.items() if any(name in line.totals for line in lines)}
    head, full = ["id", "student"], ["", "(full marks)"]
    for name, handout in seen.items():
        head += [*(f"{name}: {one.title}" for one in handout.graded), name]
        full += [*(one.points for one in handout.graded), handout.full]
    body = []
    for line in lines:
        cells = [line.row.id, line.row.name]
        for name, handout in seen.items():
            cells += [*(line.points.get((name, one.answer)) for one in handout.graded), line.totals.get(name)]
        total = sum(line.totals.values()) if line.totals else None
        body.append([*cells, total, "; ".join(line.remarks)])
    write_csv(out / "grades.csv", [[*head, "total", "remarks"], [*full, sum(h.full for h in seen.values()), ""], *body])
    write_hands(out / "by_hand.csv", lines, handouts, hands)
    with zipfile.ZipFile(out / "feedback.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for line in lines:
            folder = tidy(line.row.name if line.row.id == line.row.name else f"{line.row.name} {line.row.id}")
            for name in line.totals:
                page = out / "feedback" / folder / f"{name}.html"
                page.parent.mkdir(parents=True, exist_ok=True)
                page.write_text(feedback(line, handouts[name]), encoding="utf-8")
                outer = line.row.outer.get(name, folder)
                known = outer.partition(".ipynb")[0] if ".ipynb" in outer else f"{outer.removesuffix('.zip')}/{name}"
                archive.write(page, f"{known}.html")
    (out / "class.html").write_text(class_page(lines, seen), encoding="utf-8")
