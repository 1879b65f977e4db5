"""One row a student: which of the files that came back is graded, and a remark on what is not.

A notebook is known by what is in it. The latest attempt counts, and a blank copy never replaces an answered one.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from .deliveries import File, Sender, files, repositories, sender, without_copy
from .matching import Cell, Rebuilt, known_cells, plain, read_cells, rebuilt

NOTEBOOK = re.compile(r"\.(ipynb|json)\b|\.ipynb", re.IGNORECASE)


class Handout(NamedTuple):
    """A notebook of the course: with its solutions, and without them but with all tests."""

    source: NotebookNode
    blank: NotebookNode
    tables: list[Path]


class Attempt(NamedTuple):
    """A file that is graded."""

    file: File
    sender: Sender
    rebuilt: Rebuilt

    @property
    def rank(self) -> tuple:
        """What counts before what: an answer before none, the later, the higher number of a copy."""
        answers = len(self.rebuilt.open) < len(exercises_of(self.rebuilt))
        time = self.sender.time or round(self.file.written / 60)
        return answers, self.sender.attempt, time, without_copy(self.file.place.stem)[1], str(self.file.place)

    @property
    def handed_in(self) -> float:
        """When, in seconds since 1970."""
        return self.sender.time or self.file.written


def exercises_of(found: Rebuilt) -> list[NotebookNode]:
    """The answer cells of a rebuilt notebook."""
    return [cell for cell in found.notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")]


@dataclass
class Student:
    """A row: who it is, what is graded of each notebook, what else is to be said, what was seen from them."""

    name: str
    sender: Sender
    attempts: dict[str, Attempt] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def which(handouts: Mapping[str, Handout], cells: list[Cell], file: File) -> str | None:
    """The notebook of the course that a file is: by its cells, else by its name."""
    names, texts = {cell.name for cell in cells} - {""}, {plain(cell.source) for cell in cells} - {""}
    shared = {name: known_cells(handout.blank, names, texts) for name, handout in handouts.items()}
    best = max(shared, key=shared.__getitem__)
    if shared[best] > 1:
        return best
    return next((name for name in handouts if name in file.place.name), None)


def collect(folder: Path, handouts: Mapping[str, Handout]) -> tuple[list[Student], list[str]]:
    """Return every student who handed in anything, sorted by name, and a line on each file that is nobody's."""
    students: dict[str, Student] = {}
    left_out, alike = [], repositories(folder)
    others: dict[str, list[str]] = {}
    for file in files(folder):
        who = sender(file.place, handouts, alike)
        name_of_file = file.place.name
        if not who.name or (len(file.place.parts) == 1 and not who.platform and not NOTEBOOK.search(name_of_file)):
            left_out.append(f"{file.place}: left out, as no student's name is in its path")
            continue
        student = students.setdefault(who.key, Student(who.name, who))
        try:
            name, attempt = read(file, who, handouts)
        except ValueError as problem:
            others.setdefault(who.key, []).append(f"{name_of_file}: {problem}")
            continue
        if name is None or attempt is None:
            others.setdefault(who.key, [])
            if who.platform != "blackboard" or file.place.suffix != ".txt":
                others[who.key].append(f"{name_of_file} is no notebook of this course")
            continue
        earlier = student.attempts.get(name)
        if earlier:
            taken = max(attempt, earlier, key=lambda one: one.rank)
            student.remarks.append(f"{name}: more than one copy; graded is {taken.file.place.name}")
        student.attempts[name] = max(attempt, earlier, key=lambda one: one.rank) if earlier else attempt
    for key, remarks in others.items():
        if not students[key].attempts or any("cannot" in remark for remark in remarks):
            students[key].remarks += remarks
    return unlike(students.values()), left_out


def read(file: File, who: Sender, handouts: Mapping[str, Handout]) -> tuple[str | None, Attempt | None]:
    """Return the notebook's name and the attempt that a file is; (None, None) if it is something else.

    Raises ValueError where it means to be a notebook and cannot be read.
    """
    if not NOTEBOOK.search(file.place.name) and not file.data.lstrip(b"\xef\xbb\xbf \n").startswith(b'{"cells"'):
        if file.problem:
            raise ValueError(file.problem)
        return None, None
    if file.problem:
        raise ValueError(file.problem)
    cells = read_cells(file.data)
    name = which(handouts, cells, file)
    if name is None:
        return None, None
    return name, Attempt(file, who, rebuilt(handouts[name].source, handouts[name].blank, cells))


def unlike(students: Iterable[Student]) -> list[Student]:
    """Return the students sorted: one of a name, unless two of that name handed in the same notebook.

    Moodle's number is another in each assignment, so that alone makes nobody two persons.
    """
    found: dict[str, list[Student]] = {}
    for student in students:
        alike = found.setdefault(student.name.casefold(), [])
        same = next((one for one in alike if not one.attempts.keys() & student.attempts.keys()), None)
        if same:
            same.attempts |= student.attempts
            same.remarks += student.remarks
        else:
            alike.append(student)
    for alike in found.values():
        for number, student in enumerate(alike if len(alike) > 1 else (), 1):
            student.name = f"{student.name} {student.sender.id or student.sender.platform or number}"
            student.remarks.append("there are two of this name")
    every = [student for alike in found.values() for student in alike]
    for student in every:
        student.remarks = list(dict.fromkeys(student.remarks))
    return sorted(every, key=lambda student: student.name.casefold())
