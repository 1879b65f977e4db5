"""A course of one small notebook, and steps for the tests of teaching: hand in, grade, read the table."""

import csv
import os
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from selection import exhaustive, slow

from bmlab_teaching import sandbox
from bmlab_teaching.course import handout
from bmlab_teaching.grading import grade
from bmlab_teaching.sandbox import Limits

WALL = sandbox.has_bubblewrap() or "CI" in os.environ
walled = pytest.mark.skipif(not WALL, reason="needs bubblewrap: apt install bubblewrap")
# Nobody who hands in here does harm: without bubblewrap `make test-all` grades them, too, and makes no wall.
harmless = slow if WALL else exhaustive
LIMITS = Limits(trust=not WALL)
RECORD = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
UNSEEN = "seen = double(4)\nassert seen == 8, 'not twice, elsewhere'"
CHECKS = [
    {"name": "three", "points": 0.5, "asserts": 1, "unseen": UNSEEN},
    {"name": "any number", "points": 1.5, "asserts": 2},
]
HIDDEN = "### BEGIN HIDDEN TESTS\nfor x in (0, 5, -7):\n    assert double(x) == 2 * x, f'wrong at {x}'\n"
HIDDEN += "assert not double(0), 'wrong at nothing'\n### END HIDDEN TESTS"
TWICE = [
    ("first", "### BEGIN SOLUTION\nfirst = base\n### END SOLUTION", "assert first == 1, 'the base is one'", []),
    (
        "double",
        "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION",
        f"assert double(3) == 6, 'not twice'\n{HIDDEN}",
        CHECKS,
    ),
]
RIGHT = {"first": "first = base", "double": "def double(x):\n    return 2 * x"}


def exercise_cells(number, name, solution, test, checks):
    """The three cells of an exercise: its question, its answer, and its test, worth `number` points."""
    answer = RECORD | {"grade_id": name, "solution": True}
    locked = {"nbgrader": RECORD | {"grade_id": f"test_{name}", "grade": True, "locked": True, "points": number}}
    locked |= {"checks": checks} if checks else {}
    return [
        nbformat.v4.new_markdown_cell(f"**{number}.** *Do* ({number} points). Give `{name}` with $x_{number}^2$."),
        nbformat.v4.new_code_cell(solution, metadata={"nbgrader": answer}),
        nbformat.v4.new_code_cell(test, metadata=locked),
    ]


def story_cells():
    """A blank of the story, an exercise that a person marks, and one that is not graded, with its worked solution."""
    hole = "@widgets.blank\ndef my_size(x):\n    ### BEGIN SOLUTION\n    return max(x, -x)\n    ### END SOLUTION"
    rubric = "### BEGIN SOLUTION\nA point for a secret, one for $x^2$.\n### END SOLUTION"
    by_hand = RECORD | {"grade_id": "explained", "solution": True, "grade": True, "points": 2}
    return [
        nbformat.v4.new_code_cell("from bmlab import widgets"),
        nbformat.v4.new_code_cell(
            hole, metadata={"nbgrader": RECORD | {"grade_id": "my_size", "solution": True}, "cases": "[rng.normal()]"}
        ),
        nbformat.v4.new_markdown_cell("**3.** *Explain* ★★ (2 points). Why?"),
        nbformat.v4.new_markdown_cell(rubric, metadata={"nbgrader": by_hand}),
        nbformat.v4.new_markdown_cell("**4.** *Stretch* ★★★ And then?"),
        nbformat.v4.new_markdown_cell("A secret, with $x^3$.", metadata={"tags": ["teacher"]}),
    ]


def short_notebook(folder, exercises=TWICE, more=()) -> Path:
    """Write folder/sources/twice.ipynb: two exercises, the second a function, and the line of a story they need."""
    cells = [nbformat.v4.new_markdown_cell("# Twice"), nbformat.v4.new_code_cell("base = 1")]
    for number, exercise in enumerate(exercises, 1):
        cells += exercise_cells(number, *exercise)
    cells += more
    (folder / "sources").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "sources/twice.ipynb")
    return folder / "sources/twice.ipynb"


def hand_in(folder, student, name, notebook):
    """Write a student's notebook into a folder of the student's, as a delivery has it."""
    (folder / student).mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / student / f"{name}.ipynb")


def answered(blank, answers=RIGHT):
    """A student version with answers filled in, by grade_id."""
    notebook = deepcopy(blank)
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if about.get("solution"):
            cell.source = answers.get(about["grade_id"], cell.source)
    return notebook


PROVED = {}  # the digest of a course and its limits -> the files of grade() after the proofs


def graded(folder, report=lambda line: None, out="graded", seconds=40, **limits):
    """Grade folder/returned, and return the table; a course that was proved before is not proved again."""
    (folder / out / "warm").mkdir(parents=True, exist_ok=True)  # no caches: these exercises need none
    proof = folder / out / "records/proofs/twice.txt"
    course = handout(folder / "sources/twice.ipynb").digest, seconds, *limits.items()
    if course in PROVED:
        proof.parent.mkdir(parents=True, exist_ok=True)
        proof.write_text(PROVED[course])
    grade(
        folder / "sources",
        folder / "returned",
        folder / out,
        report=report,
        limits=LIMITS._replace(seconds=seconds, **limits),
    )
    if proof.exists():
        PROVED[course] = proof.read_text()
    return lines_of(folder / out)


def lines_of(out):
    """grades.csv as id or student -> column -> text."""
    with (out / "grades.csv").open(encoding="utf-8-sig") as file:
        return {row["id"] or row["student"]: row for row in csv.DictReader(file)}


def page_of(folder, student, name="twice", out="graded"):
    """The feedback page of a student."""
    return (folder / out / "feedback" / student / f"{name}.html").read_text(encoding="utf-8")
