"""A class as a teacher meets it: every technicality, trick and platform that is known to us, with the points deserved.

Each case is a function from a Kit to the bytes of a file; `deserved` says what it scores.
"""

import io
import json
import os
import re
import unicodedata
import zipfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

import nbformat

from bmlab_teaching.slicing import names
from bmlab_teaching.working_copies import record, student_version, with_points

MARKS = re.compile(r"^\s*### (BEGIN|END) SOLUTION\n?", re.MULTILINE)
OLD, NEW = 1_700_000_000, 1_700_090_000


class Kit:
    """A source notebook, and tools to make submissions of it."""

    def __init__(self, path: Path):
        self.name = path.stem
        self.source = nbformat.read(path, 4)
        self.blank = student_version(path)
        self.exercises = with_points(self.source)
        self.full = sum(one.points for one in self.exercises)
        cells = {record(cell)["grade_id"]: cell.source for cell in self.source.cells if record(cell)}
        self.right = {one.answer: MARKS.sub("", cells[one.answer]) for one in self.exercises}
        self.first = self.exercises[0]
        self.test = cells[self.first.tests[0]]
        self.last = next(one for one in self.exercises[1:] if self.right[one.answer].startswith("def "))

    def answered(self, *names: str, before: str = "", after: str = ""):
        """The handout with right answers, all of them or those named, and code before and after the first."""
        notebook = deepcopy(self.blank)
        for cell in notebook.cells:
            name = record(cell).get("grade_id")
            if name in self.right and (not names or name in names):
                cell.source = self.right[name]
            if name == self.first.answer:
                cell.source = f"{before}{cell.source}{after}"
        return notebook


def place_of(notebook, name):
    """The place of the cell with a grade_id."""
    return next(k for k, cell in enumerate(notebook.cells) if record(cell).get("grade_id") == name)


def dumped(notebook) -> bytes:
    """A notebook as a file."""
    return json.dumps(notebook).encode()


class Case(NamedTuple):
    """A kind of submission, and the mark it deserves: "all", "none", "first", "last", "blank" (no points)."""

    make: Callable[[Kit], bytes]
    deserved: str


def changed(change=None, deserved="all", before="", after=""):
    """A case that answers everything right, and changes something."""

    def make(kit):
        notebook = kit.answered(before=before, after=after)
        return dumped((change(notebook, kit) if change else None) or notebook)

    return Case(make, deserved)


def split(notebook, kit):
    """The second answer in two cells with the same metadata, as JupyterLab splits one."""
    place = place_of(notebook, kit.last.answer)
    first, _, rest = notebook.cells[place].source.partition("\n")
    notebook.cells[place].source = first
    second = deepcopy(notebook.cells[place])
    second.source = rest
    notebook.cells.insert(place + 1, second)


def pasted_twice(notebook, kit):
    """The second answer and its test, each twice."""
    for name in (kit.last.answer, kit.last.tests[0]):
        place = place_of(notebook, name)
        notebook.cells.insert(place + 1, deepcopy(notebook.cells[place]))


def blank_copy_below(notebook, kit):
    """The stub of the first answer once more, below the answer."""
    place = place_of(notebook, kit.first.answer)
    notebook.cells.insert(place + 1, deepcopy(kit.blank.cells[place_of(kit.blank, kit.first.answer)]))


def neighbours_deleted(notebook, kit):
    """Nothing but the answers."""
    notebook.cells = [cell for cell in notebook.cells if record(cell).get("solution")]


def tests_deleted(notebook, kit):
    """No test."""
    notebook.cells = [cell for cell in notebook.cells if not record(cell).get("grade")]


def stripped(notebook, kit):
    """No metadata and no ids, as Colab leaves a notebook."""
    notebook.metadata, notebook.nbformat_minor = {}, 0
    for cell in notebook.cells:
        cell.metadata = {}
        cell.pop("id", None)


def below_in_a_new_cell(notebook, kit):
    """The second answer in a cell of its own, below the stub that was left."""
    place = place_of(notebook, kit.last.answer)
    notebook.cells.insert(place + 1, nbformat.v4.new_code_cell(notebook.cells[place].source))
    notebook.cells[place].source = kit.blank.cells[place_of(kit.blank, kit.last.answer)].source


def as_markdown(notebook, kit):
    """The second answer turned into Markdown."""
    cell = notebook.cells[place_of(notebook, kit.last.answer)]
    cell.cell_type = "markdown"


def fenced(notebook, kit):
    """The second answer turned into Markdown, in fences, below words."""
    as_markdown(notebook, kit)
    cell = notebook.cells[place_of(notebook, kit.last.answer)]
    cell.source = f"My answer:\n\n```python\n{cell.source}\n```\nThat is all."


def upside_down(notebook, kit):
    """The cells in the other order."""
    notebook.cells.reverse()


def tampered(notebook, kit):
    """Tests that pass and are worth more."""
    for cell in notebook.cells:
        if record(cell).get("grade"):
            cell.source, record(cell)["points"] = "assert True", 100


def with_large_outputs(notebook, kit):
    """200 kB of output in every cell."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="x" * 200_000)]


def of_format_3(notebook, kit):
    """The notebook as it was stored before 2015: worksheets, and headings that are no Markdown."""
    return nbformat.convert(notebook, 3)


def with_scratch(notebook, kit):
    """Cells that fail, or are no Python."""
    for text in ("this is no python(", "%timeit 1", "!ls", "1 / 0", "x = \x00"):
        notebook.cells.insert(2, nbformat.v4.new_code_cell(text))


def with_scripts(notebook, kit):
    """A script in Markdown, in an answer, in its printed text and in its output."""
    script = "<script>alert(1); fetch('http://127.0.0.1:9')</script><img src=x onerror=alert(2)>"
    notebook.cells.insert(0, nbformat.v4.new_markdown_cell(script))
    first = notebook.cells[place_of(notebook, kit.first.answer)]
    first.source += (
        f"\n# {script}\nprint({script!r})\nfrom IPython.display import HTML, display\ndisplay(HTML({script!r}))"
    )


CASES = {
    "right": changed(),
    "blank": Case(lambda kit: dumped(kit.blank), "none"),
    "first only": Case(lambda kit: dumped(kit.answered(kit.first.answer)), "first"),
    "wrong": changed(after="\n{first} = None", deserved="last"),
    "split": changed(split),
    "pasted twice": changed(pasted_twice),
    "blank copy below": changed(blank_copy_below),
    "neighbours deleted": changed(neighbours_deleted),
    "tests deleted": changed(tests_deleted),
    "no metadata": changed(stripped),
    "new cell below": changed(below_in_a_new_cell),
    "as markdown": changed(as_markdown),
    "fenced": changed(fenced),
    "upside down": changed(upside_down),
    "tampered, wrong": changed(tampered, after="\n{first} = None", deserved="last"),
    "widgets without state": changed(
        lambda notebook, kit: notebook.metadata.update(widgets={"application/vnd.jupyter.widget-state+json": {}})
    ),
    "wrong kernel": changed(
        lambda notebook, kit: notebook.metadata.update(
            kernelspec={"name": "ir", "display_name": "R", "language": "R"}, language_info={"name": "R"}
        )
    ),
    "byte order mark": Case(lambda kit: b"\xef\xbb\xbf" + dumped(kit.answered()), "all"),
    "large outputs": changed(with_large_outputs),
    "format 3": changed(of_format_3),
    "scratch": changed(with_scratch),
    "surrogate": changed(after="\n# \ud800"),
    "mark of an open answer left": changed(before="# YOUR CODE HERE\nraise NotImplementedError()\n"),
    "scripts": changed(with_scripts),
    "truncated": Case(lambda kit: dumped(kit.answered())[:-20], "blank"),
    "endless": changed(before="while True: pass\n", deserved="last"),
    "dying": changed(before="import os\nos._exit(1)\n", deserved="last"),
}
ATTACKS = {"endless", "dying"}  # a whole class has them; all others are in test_attacks.py


def zipped(**files: bytes) -> bytes:
    """A zip, beside the folder that macOS adds."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
            archive.writestr(f"__MACOSX/._{name}", b"\x00\x05\x16\x07")
    return out.getvalue()


class Class:
    """Writes deliveries into a folder and keeps the mark that each student deserves."""

    def __init__(self, folder: Path, kit: Kit):
        self.folder, self.kit = folder, kit
        self.expected: dict[str, float | None] = {}

    def data(self, case: str) -> bytes:
        """The bytes of a case, with the name that is known only now."""
        first = min(names(self.kit.right[self.kit.first.answer]).made & names(self.kit.test).needed)
        return CASES[case].make(self.kit).replace(b"{first}", first.encode())

    def deserve(self, student: str, case: str) -> None:
        """Note the mark that a student deserves."""
        kit = self.kit
        rest = sum(one.points for one in kit.exercises[1:])
        scores = {"all": kit.full, "none": 0, "first": kit.first.points, "last": rest, "blank": None}
        self.expected[student] = scores[CASES[case].deserved]

    def put(self, place: str, data: bytes, when: float = OLD) -> None:
        """Write a file of the delivery, with its time."""
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (when, when))

    def submit(self, student: str, case: str, place: str = "{student}/{name}.ipynb", when: float = OLD) -> None:
        """Hand in a case for a student."""
        self.put(place.format(student=student, name=self.kit.name), self.data(case), when)
        self.deserve(student, case)


def deliveries(made: Class) -> None:
    """Names and attempts, as a teacher collects them in one folder."""
    name = made.kit.name
    for student, place in {
        "plain": f"plain_{name}.ipynb",
        "copier": f"copier/{name}-Copy1.ipynb",
        "texter": f"texter/{name}.ipynb.txt",
        "renamer": "renamer/final FINAL.ipynb",
        "O'Neil": f"O'Neil/{name}.ipynb",
        "O Neil": f"O Neil/{name}.ipynb",
        "李小龙": f"李小龙/{name}.ipynb",
        "Мария": f"Мария/{name}.ipynb",
        "Nguyễn Văn": unicodedata.normalize("NFD", f"Nguyễn Văn/{name}.ipynb"),
        "=SUM(A1)": f"=SUM(A1)/{name}.ipynb",
    }.items():
        made.submit(student, "right", place.replace("{", "{{"))
    right, blank = made.data("right"), made.data("blank")
    made.put("zipper.zip", zipped(**{f"{name}.ipynb": right}))
    made.put("climber.zip", zipped(**{f"../../{name}.ipynb": right}))
    made.put("bomber/work.zip", zipped(**{"zeros.bin": bytes(60 * 2**20)}))
    made.put("writer/essay.pdf", b"%PDF-1.4")
    made.put(f"again/old/{name}.ipynb", right, OLD)
    made.put(f"again/new/{name}.ipynb", made.data("first only"), NEW)
    made.put(f"hasty/{name}.ipynb", right, OLD)
    made.put(f"hasty/{name}-Copy1.ipynb", blank, NEW)
    made.put(f"{unicodedata.normalize('NFC', 'José')}/{name}.ipynb", blank, OLD)
    made.put(f"{unicodedata.normalize('NFD', 'José')}/{name}.ipynb", right, NEW)
    made.deserve("again", "first only")
    for student in ("zipper", "climber", "hasty", "José"):
        made.deserve(student, "right")
    for student in ("bomber", "writer"):
        made.deserve(student, "truncated")


def make_class(folder: Path, source: Path, students: int = 0) -> Class:
    """Write the class to folder/returned; ordinary students fill it up.

    With `students` 0 there are no attacks.
    """
    made = Class(folder / "returned", Kit(source))
    for number, case in enumerate(CASES):
        if students or case not in ATTACKS:
            made.submit(f"student {number:02} {case}", case)
    deliveries(made)
    for number in range(students - len(made.expected)):
        made.submit(f"ordinary {number:03}", ("right", "first only", "wrong", "right")[number % 4])
    return made
