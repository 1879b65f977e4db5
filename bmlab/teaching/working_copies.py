"""A student's working copies: python -m bmlab.teaching.working_copies makes course/, and overwrites nothing.

A copy has no solutions and no outputs, and Run All goes past an exercise that is still open.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from .handouts import student_version

NOTEBOOKS, COURSE = Path("notebooks"), Path("course")
RECORD = ".copied.json"  # notebook -> the fingerprint of the source that was copied or offered last


def working_copy(path: Path) -> NotebookNode:
    """Return the student's version of a notebook, in which an open exercise says so and stops nothing."""
    notebook = student_version(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    code[0].source = "import bmlab.teaching.open_exercises  # an exercise that is open says so\n" + code[0].source
    for cell in code:
        if cell.metadata.get("nbgrader"):
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "raises-exception"]
    return notebook


def start(notebooks: Path = NOTEBOOKS, course: Path = COURSE, *, say: Callable[[str], Any] = print) -> None:
    """Copy every notebook that is not in `course`; put a source that is newer than its copy beside it."""
    course.mkdir(exist_ok=True)
    shutil.copytree(
        notebooks / "tables", course / "tables", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
    )
    record = course / RECORD
    known = json.loads(record.read_text()) if record.exists() else {}
    for name, now, place in _to_write(notebooks, course, known):
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
