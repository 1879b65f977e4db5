"""The course that is graded: each notebook with its exercises, the needs of its tests, the points of its checks."""

import ast
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbformat import NotebookNode

from .cells import compares
from .slicing import names, needed_cells, statements
from .working_copies import (
    BLANK,
    HIDDEN,
    Exercise,
    blanks_of,
    exercises,
    record,
    tables,
    without_solutions,
    without_teachers,
)

SHOWN = 2000  # characters of a hint, and of an answer's output


class Check(NamedTuple):
    """Points for a number of consecutive statements with an assert (0: all statements).

    unseen    more asserts, which no copy has, so that an answer cannot pass by repeating the visible numbers
    """

    name: str
    points: float
    asserts: int
    unseen: str = ""


class Test(NamedTuple):
    """A test cell: its source, with the unseen asserts; the part that a copy shows; the names it needs; its checks."""

    source: str
    shown: str
    needed: list[str]
    checks: list[Check]


class Handout(NamedTuple):
    """A notebook of the course.

    `blank` has no solutions, but all tests; `referee` is what runs beside a submission: ("run", source) for the cells
    that tests need, and ("test", grade_id).
    """

    name: str
    blank: NotebookNode
    tables: list[str]
    exercises: list[Exercise]
    made: dict[str, frozenset[str]]  # answer -> the names that a right one makes
    blanks: dict[str, tuple[str, str, dict[str, str]]]  # function of the story that a student writes -> see blanks_of()
    tests: dict[str, Test]
    referee: list[tuple[str, str]]
    solution: list[tuple[str, str, str]]  # kind, source and grade_id of each cell
    digest: str
    story: frozenset[str]  # the statements of its own cells
    kept: Mapping[str, Mapping[str, str]] = {}  # values that are computed once a class: see keeping.py

    @property
    def graded(self) -> list[Exercise]:
        """The exercises that bring points."""
        return [one for one in self.exercises if one.tests]

    def solution_of(self, answer: str) -> str:
        """The source of an answer's cell, solved."""
        return next(source for _, source, name in self.solution if name == answer)

    @property
    def full(self) -> float:
        """All points."""
        return sum(one.points for one in self.exercises)


def digest(*parts: Any) -> str:
    """A short name for anything that JSON can store."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:24]


def of_files(paths: Iterable[Path]) -> str:
    """A short name for the contents of files."""
    return digest([(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in sorted(paths)])


def checks_of(cell: NotebookNode) -> list[Check]:
    """The checks of a test cell, as its metadata list them; without a list there is one, for all of its points."""
    return [Check(**one) for one in cell.metadata.get("checks", [])] or [Check("", record(cell)["points"], 0)]


def test_of(cell: NotebookNode, made: frozenset[str]) -> Test:
    """Return the test of a cell, for an answer that makes names: unseen asserts stand at the end of their check."""
    lines, rest, parts, checks, begin = cell.source.splitlines(), iter(ast.parse(cell.source).body), [], [], 0
    for check in checks_of(cell):
        seen, end = 0, begin
        while seen < check.asserts:
            seen, end = seen + compares(statement := next(rest)), statement.end_lineno or end
        parts += [*lines[begin:end], *check.unseen.splitlines()]
        begin, more = end, sum(map(compares, ast.parse(check.unseen).body))
        checks.append(check._replace(asserts=check.asserts + more))
    source = "\n".join([*parts, *lines[begin:]])
    return Test(source, HIDDEN.sub("", cell.source), sorted(made & names(source).needed), checks)


def handout(path: Path) -> Handout:
    """Read a notebook of the course."""
    source = without_teachers(nbformat.read(path, as_version=4))
    found = exercises(source)
    cells = {record(cell)["grade_id"]: cell for cell in source.cells if record(cell)}
    made = {one.answer: names(cells[one.answer].source).made for one in found if cells[one.answer].cell_type == "code"}
    made_for = {test: made.get(one.answer, frozenset()) for one in found for test in one.tests if test != one.answer}
    tests = {test: test_of(cells[test], answer) for test, answer in made_for.items()}
    graded = {one.answer for one in found if one.tests}
    code = [c for c in source.cells if c.cell_type == "code" and record(c).get("grade_id") not in graded]
    sources = [cell.source.replace(BLANK, "") for cell in code]
    kept, _ = needed_cells(sources, [record(cell).get("grade_id") in tests for cell in code])
    ids = {place: str(record(code[place]).get("grade_id", "")) for place in kept}
    referee = [("test", ids[place]) if ids[place] in tests else ("run", text) for place, text in kept.items()]
    told = [text for text, cell in zip(sources, code, strict=True) if not record(cell).get("grade")]
    story = frozenset(part for text in told for part in statements(text))
    whole = [(cell.cell_type, cell.source, record(cell).get("grade_id", "")) for cell in source.cells]
    files, blanks = tables(path), blanks_of(source)
    now = digest(whole, [(test, one.checks) for test, one in tests.items()], blanks, of_files(files))
    sets = {answer: frozenset(some) for answer, some in made.items()}
    about = found, sets, blanks, tests, referee, whole, now, story
    return Handout(path.stem, without_solutions(source), [str(file.resolve()) for file in files], *about)
