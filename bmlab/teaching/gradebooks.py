"""Marks as files: a table of everything, what Canvas and Moodle import, and feedback under the names it came from."""

import csv
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from .sheets import Line, Sheet

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE = ("Identifier", "Full name", "Grade", "Maximum Grade")


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


def write_grades(path: Path, sheet: Sheet) -> None:
    """Write one line a student: a column an exercise, the sum of each notebook, all of it, remarks."""
    head, full = ["student"], ["(full marks)"]
    for name, questions in sheet.exercises.items():
        head += [*(f"{name}: {one.title}" for one in questions), name]
        full += [*(one.points for one in questions), sheet.full(name)]
    body = []
    for line in sheet.lines:
        cells = [line.name]
        for name, questions in sheet.exercises.items():
            cells += [*(line.points.get((name, one.answer)) for one in questions), line.totals.get(name)]
        body.append([*cells, line.total, "; ".join(line.remarks)])
    write_csv(path, [[*head, "total", "remarks"], [*full, sum(map(sheet.full, sheet.exercises)), ""], *body])


def write_gradebooks(out: Path, sheet: Sheet) -> None:
    """Write canvas.csv and a Moodle worksheet for each notebook, where the delivery or the roster is theirs."""
    canvas = [line for line in sheet.lines if is_from(line, "canvas", "SIS Login ID")]
    if canvas:
        full = ["    Points Possible", "", "", "", "", *(sheet.full(name) for name in sheet.exercises)]
        body = [[*canvas_cells(line), *(line.totals.get(name) for name in sheet.exercises)] for line in canvas]
        write_csv(out / "canvas.csv", [[*CANVAS, *sheet.exercises], full, *body])
    moodle = [line for line in sheet.lines if is_from(line, "moodle", "Identifier")]
    for name in sheet.exercises if moodle else ():
        body = [[*moodle_cells(line), line.totals.get(name), sheet.full(name)] for line in moodle]
        write_csv(out / f"moodle_{name}.csv", [MOODLE, *body])


def is_from(line: Line, platform: str, column: str) -> bool:
    """Whether a line goes back to a platform: by its roster, else by the delivery."""
    return column in line.entry.columns if line.entry else bool(line.row and line.row.platform == platform)


def canvas_cells(line: Line) -> list[str]:
    """The five columns by which Canvas knows a student."""
    if line.entry:
        return [line.entry.columns.get(column, "") for column in CANVAS]
    return [line.name, line.row.id if line.row else "", "", "", ""]


def moodle_cells(line: Line) -> list[str]:
    """The two columns by which Moodle knows a student."""
    if line.entry:
        return [line.entry.columns.get("Identifier", ""), line.name]
    return [f"Participant {line.row.id if line.row else ''}", line.name]


def write_feedback_zips(out: Path, sheet: Sheet) -> None:
    """Write a zip a notebook with each page where its notebook had stood in the delivery, as platforms take it back."""
    for name in sheet.exercises:
        with zipfile.ZipFile(out / f"feedback_{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for line in sheet.lines:
                page = out / "feedback" / line.row.name / f"{name}.html" if line.row else None
                if page and line.row and page.exists():
                    place = PurePosixPath(line.row.notebooks[name].place)
                    stem = place.name.partition(".ipynb")[0]
                    archive.write(page, str(place.with_name(f"{stem}.html")))
