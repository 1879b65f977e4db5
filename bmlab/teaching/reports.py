"""Write down what a class scored: tables, pages, zips."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from .collecting import Handout
from .gradebooks import write_feedback_zips, write_gradebooks, write_grades
from .pages import class_page, feedback
from .records import Row
from .roster import read_roster
from .sheets import Marks, sheet


def write_reports(
    out: Path,
    rows: Mapping[str, Row],
    handouts: Mapping[str, Handout],
    marks: Marks,
    *,
    roster: Path | None,
    due: str,
    late: str,
) -> None:
    """Write grades.csv, class.html, the platforms' gradebooks, a feedback page a notebook, and zips of these."""
    marked = sheet(rows, handouts, marks, read_roster(roster) if roster else [], due, late)
    shutil.rmtree(out / "feedback", ignore_errors=True)
    for line in marked.lines:
        for name in line.totals if line.row else ():
            page = out / "feedback" / line.row.name / f"{name}.html" if line.row else out
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(feedback(line, name, marked), encoding="utf-8")
    write_grades(out / "grades.csv", marked)
    write_gradebooks(out, marked)
    write_feedback_zips(out, marked)
    (out / "class.html").write_text(class_page(marked), encoding="utf-8")
