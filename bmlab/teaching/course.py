"""The course as nbgrader keeps it: its folders, its gradebook, and its marks, those by hand included.

nbgrader cuts student versions out of the sources, reads points off outputs and keeps the gradebook; JupyterLab's menu
Nbgrader opens the folder for marking by hand.
"""

import os
import sys
from collections.abc import Callable, Iterable
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbformat import NotebookNode
from nbgrader import preprocessors as pre
from nbgrader.api import BaseCell, Comment, Grade, Gradebook, Notebook, SubmittedAssignment, SubmittedNotebook

from .cleaning import clean
from .exercises import record, still_open, with_points, without_teachers

OPEN = "write your answer in this cell"
STUB = f'# YOUR CODE HERE\nraise NotImplementedError("{OPEN}")'
SAYS_SO = "import bmlab.teaching.open_exercises  # an exercise that is open says so\n"
TEXT_STUB = "Write your answer here."
CUT = [pre.LockCells, lambda: pre.ClearSolutions(code_stub={"python": STUB}, text_stub=TEXT_STUB), pre.ClearOutput]
SEAL = [pre.CheckCellMetadata, pre.ComputeChecksums]
HIDE = [pre.ClearHiddenTests, pre.ClearMarkScheme, pre.ComputeChecksums, pre.CheckCellMetadata]


class Mark(NamedTuple):
    """The points of a test, or the words of a person on an answer."""

    points: float
    waiting: bool = False
    comment: str = ""


def processed(notebook: NotebookNode, preprocessors: Iterable[Callable[[], Any]], resources: dict | None = None):
    """Send a notebook through preprocessors of nbgrader, one after the other."""
    resources = resources or {}
    for preprocessor in preprocessors:
        notebook, resources = preprocessor().preprocess(notebook, resources)
    return notebook


def without_solutions(source: NotebookNode) -> NotebookNode:
    """Return a source notebook without solutions, cells for teachers and outputs, with all of its tests.

    An exercise that is still open says so in one sentence, where its answer is missing and where its test asks for it.
    """
    blank = processed(without_teachers(source), CUT)
    sentences = {one.answer: still_open(one) for one in with_points(source)}
    code = [cell for cell in blank.cells if cell.cell_type == "code"]
    for cell in code:
        cell.source = cell.source.replace(OPEN, sentences.get(record(cell).get("grade_id", ""), OPEN))
    code[0].source = SAYS_SO + code[0].source
    return processed(blank, SEAL)


class Course:
    """A folder as nbgrader expects it, with its gradebook. Each notebook is an assignment of its own."""

    def __init__(self, root: Path):
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        beside = Path(sys.executable).parent  # nbgrader starts a program called alembic
        os.environ["PATH"] = f"{beside}{os.pathsep}{os.environ.get('PATH', '')}"
        self.url = f"sqlite:///{root / 'gradebook.db'}"
        (root / "nbgrader_config.py").write_text('get_config().CourseDirectory.course_id = ""\n')

    def resources(self, name: str, student: str = "") -> dict:
        """What nbgrader's preprocessors want to know."""
        known = {"assignment": name, "notebook": name, "student": student, "db_url": self.url}
        return {"nbgrader": known, "unique_key": name}

    def add_source(self, name: str, source: NotebookNode, blank: NotebookNode) -> None:
        """Record the tests of a notebook; ValueError if its exercises are others than those already graded here."""
        with Gradebook(self.url) as gradebook:
            gradebook.update_or_create_assignment(name)
        try:
            release = processed(deepcopy(blank), [pre.SaveCells, *HIDE], self.resources(name))
        except RuntimeError as problem:
            raise ValueError(
                f"{name} has other exercises now than when {self.root} was begun; grade into another folder: OUT=..."
            ) from problem
        self.write("release", ".", release, name)
        self.write("source", ".", source, name)

    def mark(self, student: str, executed: NotebookNode, name: str) -> None:
        """Store the points of a notebook that was run, and the notebook, cleaned."""
        with Gradebook(self.url) as gradebook:
            gradebook.update_or_create_student(student)
            gradebook.update_or_create_submission(name, student)
        warnings_cost_nothing(executed)
        resources = self.resources(name, student)
        marked = processed(clean(executed), [pre.LimitOutput, pre.SaveAutoGrades], resources)
        self.write("submitted", student, marked, name)
        self.write("autograded", student, marked, name)

    def marks(self) -> dict[tuple[str, str, str], Mark]:
        """Return {(student, notebook, grade_id): mark} of the whole gradebook, and the comments on answers."""
        where = (SubmittedAssignment.student_id, Notebook.name, BaseCell.name)
        found = {}
        with Gradebook(self.url) as gradebook:
            for table, values in (
                (Grade, (Grade.score, Grade.needs_manual_grade)),
                (Comment, (Comment.manual_comment,)),
            ):
                rows = gradebook.db.query(*where, *values).select_from(table)
                rows = rows.join(SubmittedNotebook, table.notebook_id == SubmittedNotebook.id)
                rows = rows.join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
                rows = rows.join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
                for student, notebook, cell, *value in rows.join(BaseCell, table.cell_id == BaseCell.id):
                    key = (student, notebook, cell)
                    if table is Grade:
                        found[key] = Mark(float(value[0]), bool(value[1]))
                    elif value[0]:
                        found[key] = found.get(key, Mark(0.0))._replace(comment=value[0])
        return found

    def write(self, step: str, student: str, notebook: NotebookNode, name: str) -> Path:
        """Store a notebook where nbgrader looks for it."""
        target = self.root / step / student / name / f"{name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
        return target


def warnings_cost_nothing(notebook: NotebookNode) -> None:
    """nbgrader takes every word on stderr for a failure; a warning is none."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                output.name = "stdout"
