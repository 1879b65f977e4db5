"""A student's working copies: python -m bmlab.teaching.working_copies makes course/, and overwrites nothing.

A copy has no solutions and no outputs, and Run All goes past an exercise that is still open.  Its exercises stand in
boxes, and below the map of the course stands how far one is.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from .exercises import Exercise, last_question, with_points
from .handouts import student_version
from .open_exercises import KNOWN

NOTEBOOKS, COURSE = Path("notebooks"), Path("course")
RECORD = ".copied.json"  # notebook -> the fingerprint of the source that was copied or offered last


BOX = '<div style="border: 1px solid; border-left-width: 6px; border-radius: 6px; padding: 0.4em 1em">\n\n{}\n\n</div>'
PROGRESS = "bmlab.teaching.open_exercises.progress()"


def working_copy(path: Path) -> NotebookNode:
    """Return the student's version of a notebook, in which an exercise that is open stops nothing."""
    notebook = student_version(path)
    for exercise in with_points(notebook):
        for cell in notebook.cells:
            if cell.cell_type == "markdown" and last_question(cell.source) == exercise.question:
                cell.source = cell.source.replace(exercise.question, BOX.format(exercise.question))
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown" and "\n## The map\n" in cell.source:
            notebook.cells.insert(place + 1, nbformat.v4.new_code_cell(PROGRESS, id="progress"))
            break
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.metadata.get("nbgrader"):
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "raises-exception"]
    return notebook


def worth(notebook: NotebookNode) -> dict[str, tuple[str, float]]:
    """Return {cell of a test: title and points of its exercise} of a copy; what a person marks is not among them."""
    cells = {cell.metadata.nbgrader.grade_id: cell.id for cell in notebook.cells if cell.metadata.get("nbgrader")}
    return {cells[one.tests[-1]]: (_title(one), one.points) for one in with_points(notebook) if not one.by_hand}


def _title(exercise: Exercise) -> str:
    return f"Exercise {exercise.title.partition(':')[0]}"


def start(notebooks: Path = NOTEBOOKS, course: Path = COURSE, *, say: Callable[[str], Any] = print) -> None:
    """Copy every notebook that is not in `course`; put a source that is newer than its copy beside it."""
    course.mkdir(exist_ok=True)
    shutil.copytree(
        notebooks / "tables", course / "tables", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
    )
    record = course / RECORD
    known = json.loads(record.read_text()) if record.exists() else {}
    new = list(_to_write(notebooks, course, known))
    if new:
        every = {path.stem: worth(student_version(path)) for path in sorted(notebooks.glob("*.ipynb"))}
        (course / KNOWN).write_text(json.dumps(every, indent=1), encoding="utf-8")
    for name, now, place in new:
        place.write_text(nbformat.writes(working_copy(notebooks / name)) + "\n", encoding="utf-8")
        if place.name != name:
            say(
                f"{name} has a newer version than your copy: {place} stands beside it, and your copy is as you left it."
            )
        known[name] = now
    record.write_text(json.dumps(known, indent=1))


def _to_write(notebooks: Path, course: Path, known: dict) -> Iterator[tuple[str, str, Path]]:
    for path in sorted(notebooks.glob("*.ipynb")):
        now = hashlib.sha256(path.read_bytes()).hexdigest()
        if not (course / path.name).exists():
            yield path.name, now, course / path.name
        elif known.get(path.name) != now:
            yield path.name, now, course / f"{path.stem}.new.ipynb"


if __name__ == "__main__":
    start()
