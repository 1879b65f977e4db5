"""The exercises of a notebook: a question, the answer below it, and the tests of the answer.

An answer is tested by the locked cell below it or, in Markdown, marked by a person.  A blank in the middle of the story
is an answer that nobody grades.  What stands in a cell with the tag "teacher" is for teachers only.
"""

import re
from collections.abc import Iterable
from copy import deepcopy
from typing import NamedTuple

from nbformat import NotebookNode

from .slicing import names

SOLUTION = re.compile(r"### BEGIN SOLUTION.*?### END SOLUTION", re.DOTALL)


TEACHER = "teacher"  # the tag of a cell that is in no student's version


class Exercise(NamedTuple):
    """One exercise of a source notebook; `answer` and `tests` are the cells' grade_ids."""

    title: str
    question: str
    answer: str
    tests: tuple[str, ...]
    points: float
    made: frozenset[str]  # the names that a right answer makes
    by_hand: bool


def record(cell: NotebookNode) -> dict:
    """What nbgrader keeps in a cell's metadata, or nothing."""
    return cell.metadata.get("nbgrader", {})


def is_teachers(cell: NotebookNode) -> bool:
    """Whether a cell is for teachers only: the worked solution of an exercise that is not graded."""
    return TEACHER in cell.metadata.get("tags", [])


def without_teachers(notebook: NotebookNode) -> NotebookNode:
    """Return a copy of a notebook without the cells that are for teachers only."""
    copy = deepcopy(notebook)
    copy.cells = [cell for cell in copy.cells if not is_teachers(cell)]
    return copy


def worked(notebook: NotebookNode) -> list[tuple[str, str, NotebookNode]]:
    """Return (title, question, cell) of each worked solution of a source notebook."""
    found, question = [], ""
    for cell in notebook.cells:
        if is_teachers(cell):
            found.append((title_of(question), question, cell))
        elif cell.cell_type == "markdown":
            question = last_question(cell.source)
    return found


def with_points(notebook: NotebookNode) -> list[Exercise]:
    """Return the exercises that bring points, by their tests or by hand: all but the blanks of the story."""
    return [one for one in exercises(notebook) if one.tests]


def exercises(notebook: NotebookNode) -> list[Exercise]:
    """Return the exercises of a source notebook in their order; a test belongs to the last answer above it."""
    found: list[Exercise] = []
    question = ""
    for cell in notebook.cells:
        about = record(cell)
        if about.get("solution") or about.get("task"):
            made = names(cell.source).made if cell.cell_type == "code" else frozenset()
            text = last_question(question) or about["grade_id"]
            title, marked, tests = title_of(text, about["grade_id"]), about["grade"], (about["grade_id"],)
            found.append(
                Exercise(
                    title, text, about["grade_id"], tests * marked, about.get("points", 0) * marked, made, bool(marked)
                )
            )
        elif about.get("grade"):
            last = found[-1]
            found[-1] = last._replace(tests=(*last.tests, about["grade_id"]), points=last.points + about["points"])
        elif cell.cell_type == "markdown" and not is_teachers(cell):
            question = cell.source
    return found


def last_question(text: str) -> str:
    """The last numbered question of a cell that may hold the section's introduction too."""
    return text[max(text.rfind("\n**", 0), 0) :].strip() if re.search(r"^\*\*\d", text, re.MULTILINE) else text.strip()


def title_of(question: str, name: str = "") -> str:
    """Return "2. Make: my_sweep" of a question that begins **2.** *Make* ★★ (3 points)."""
    number = re.search(r"\*\*(\d+)\.?\*\*\.?\s*(?:\*(\w+)\.?\*)?", question)
    if not number:
        return name
    title = f"{number[1]}. {number[2]}" if number[2] else f"{number[1]}."
    return title + (f"{':' * bool(number[2])} {name}" if name else "")


def still_open(one: Exercise) -> str:
    """Return the one sentence on an exercise without an answer: which it is, and what to write."""
    what = f"{one.answer if one.answer in one.made else 'its answer'} above its test"
    return f"Exercise {one.title.partition('.')[0]} is still open: write {'your answer' if one.by_hand else what}."


def points(notebook: NotebookNode, by_hand: bool = True) -> float:
    """The points of a notebook, with or without those that a person gives."""
    records: Iterable[dict] = map(record, notebook.cells)
    return sum(about.get("points", 0) for about in records if by_hand or not about.get("solution"))
