"""A student's working copies: python -m bmlab_teaching.working_copies makes course/, and overwrites nothing.

The notebooks in notebooks/ are the only source: a stub is a solution with its middle taken out. A copy has no
solutions and hidden tests, and of the outputs the first picture; Run All goes past an exercise that is still open. The
cells carry nbgrader's metadata. course/course.ipynb leads to all copies, and is written at each start.
"""

import ast
import hashlib
import json
import re
import shutil
import zlib
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary

from bmlab.exercises.student_copy import YOUR_TRY, is_watched, page
from bmlab.running.files import write_bytes

from .slicing import names

NOTEBOOKS, COURSE, FRONT = Path("notebooks"), Path("course"), "course.ipynb"
RECORD = ".copied.json"  # notebook -> the fingerprint of the source that was copied or offered last
BOX = '<div style="border: 1px solid; border-left-width: 6px; border-radius: 6px; padding: 0.4em 1em">\n\n{}\n\n</div>'
WATCH = 'import bmlab.exercises\nbmlab.exercises.watch("{}")  # below a test it says what it finds\n'
NEWER = "{} has a newer version than your copy: {} stands beside it, and your copy is as you left it."
WELCOME = "# The course\n\nEach picture opens a notebook. Run the cell below again to see what you have done since."
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
HAND_IN = "**Hand in** this file, `{}`, saved. What counts is your code: it is run anew, from the top."
PRESS = "A picture so far. Click on it and press Shift+Enter, as in each cell from here on: it comes to life.\n"
BLANK = "@widgets.blank\n"  # in front of a function that a student writes for the story
TEACHER = "teacher"  # the tag of a cell that is in no student's version
OPEN = "write your answer in this cell"
STUB, TEXT_STUB = f'# YOUR CODE HERE\nraise NotImplementedError("{OPEN}")', "Write your answer here."
SOLUTION = re.compile(r"### BEGIN SOLUTION.*?### END SOLUTION", re.DOTALL)
INDENTED = re.compile(rf"^([ \t]*){SOLUTION.pattern}", re.DOTALL | re.MULTILINE)
MARKS = re.compile(r"^ *### (?:BEGIN|END) (?:SOLUTION|HIDDEN TESTS)\n?", re.MULTILINE)
LETTER = re.compile(r'^ *\w+ = "[A-Z]"(?: *# *(.+))?$', re.MULTILINE)
HIDDEN = re.compile(r"\n?### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", re.DOTALL)


class Exercise(NamedTuple):
    """A question and its answer: tested by the locked cell below it, marked by a person, or a blank of the story.

    `answer` and `tests` are grade_ids; a blank has no tests.
    """

    title: str
    question: str
    answer: str
    tests: tuple[str, ...]
    points: float
    by_hand: bool
    named: bool  # whether the answer makes a name called as it is


def record(cell: NotebookNode) -> dict:
    """The record of nbgrader in a cell's metadata, or nothing."""
    return cell.metadata.get("nbgrader", {})


def is_teachers(cell: NotebookNode) -> bool:
    """Whether a cell is for teachers only: the worked solution of an exercise that is not graded."""
    return TEACHER in cell.metadata.get("tags", [])


def without_teachers(notebook: NotebookNode) -> NotebookNode:
    """Return a copy of a notebook without the cells that are for teachers only."""
    copy = deepcopy(notebook)
    copy.cells = [cell for cell in copy.cells if not is_teachers(cell)]
    return copy


def exercises(notebook: NotebookNode) -> list[Exercise]:
    """Return the exercises of a notebook in their order; a test belongs to the last answer above it."""
    found: list[Exercise] = []
    question = ""
    for cell in notebook.cells:
        about = record(cell)
        if about.get("solution"):
            name, marked = about["grade_id"], bool(about["grade"])
            text = last_question(question) or name
            named, value = bool(re.search(rf"\b{name}\b", cell.source)), about.get("points", 0) * marked
            found.append(Exercise(title_of(text, name), text, name, (name,) * marked, value, marked, named))
        elif about.get("grade"):
            last = found[-1]
            found[-1] = last._replace(tests=(*last.tests, about["grade_id"]), points=last.points + about["points"])
        elif cell.cell_type == "markdown" and not is_teachers(cell):
            question = cell.source
    return found


def with_points(notebook: NotebookNode) -> list[Exercise]:
    """Return the exercises that bring points, by their tests or by hand: all but the blanks of the story."""
    return [one for one in exercises(notebook) if one.tests]


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
    """Return the one sentence on an exercise without an answer: its name, and how to write it."""
    what = f"{one.answer if one.named else 'its answer'} above its test"
    return f"Exercise {one.title.partition('.')[0]} is still open: write {'your answer' if one.by_hand else what}."


def without_solutions(source: NotebookNode, stub: str = STUB) -> NotebookNode:
    """Return a copy of a notebook with `stub` in the place of each solution."""
    copy, sentences = deepcopy(source), {one.answer: still_open(one) for one in with_points(source)}
    for cell in copy.cells:
        if cell.cell_type == "markdown" and record(cell).get("solution"):
            cell.source = SOLUTION.sub(TEXT_STUB, cell.source)
        elif record(cell).get("solution"):
            text = stub.replace(OPEN, sentences.get(record(cell)["grade_id"], OPEN))
            cell.source = answered(cell.source, text)
    return copy


def answered(source: str, text: str) -> str:
    """Return the source of an answer's cell with other lines in the place of its solution, as far to the right."""
    return INDENTED.sub(lambda found: found[1] + text.replace("\n", "\n" + found[1]), source)


def without_hidden_tests(notebook: NotebookNode) -> NotebookNode:
    """Return a copy of a notebook without its hidden tests."""
    copy = deepcopy(notebook)
    for cell in copy.cells:
        cell.source = HIDDEN.sub("", cell.source)
    return copy


def pictures(cell: NotebookNode) -> list[NotebookNode]:
    """The outputs of a cell that are pictures."""
    return [output for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]


def student_version(path: Path) -> NotebookNode:
    """Read a source notebook and return a student's copy: no answers, hidden tests and cells for teachers.

    Of the outputs the first picture stays, so that there is something to see before anything was run. An exercise that
    is still open says so in one sentence, in the place of its answer and in its test.
    """
    notebook = without_hidden_tests(without_solutions(without_teachers(nbformat.read(path, as_version=4))))
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    first = next(filter(pictures, code), None)
    for cell in code:
        cell.outputs, cell.execution_count = pictures(cell)[:1] if cell is first else [], None
        for output in cell.outputs:
            output.update({"execution_count": None} if output.output_type == "execute_result" else {})
    code[0].source = WATCH.format(path.stem) + code[0].source
    if first is not None and code[1:2] == [first]:  # the cell pressed first runs with all that it needs
        first.source = f"{code[0].source}\n{first.source}"
        first.metadata["jupyter"] = {"source_hidden": True}
        first.outputs.insert(0, nbformat.v4.new_output("stream", text=PRESS))
        notebook.cells.remove(code[0])
    for cell in filter(record, notebook.cells):
        for ours in ("checks", "cases", "slips", "other"):  # parts of a test; trials of a blank, its slips; solutions
            cell.metadata.pop(ours, None)
        cell.metadata |= {"deletable": False} | ({} if record(cell)["solution"] else {"editable": False})
    if with_points(notebook):
        last = (k for k, cell in enumerate(notebook.cells) if cell.metadata.get("jp-MarkdownHeadingCollapsed"))
        place = next(last, len(notebook.cells))  # it would be hidden below a folded heading
        notebook.cells.insert(place, nbformat.v4.new_markdown_cell(HAND_IN.format(path.name), id="hand-in"))
    return notebook


def tables(path: Path) -> list[Path]:
    """The files of tables/ that some notebook reads or imports."""
    return sorted(file for file in (path.parent / "tables").glob("*.*") if file.suffix not in (".checks", ".pyc"))


def working_copy(path: Path) -> NotebookNode:
    """Return the student's version of a notebook, its exercises in boxes, in which one that is open stops nothing."""
    notebook = student_version(path)
    notebook.cells = [cell for cell in notebook.cells if cell.id != "hand-in"]  # who studies alone hands nothing in
    for exercise in with_points(notebook):
        for cell in notebook.cells:
            if last_question(cell.source) == exercise.question:
                cell.source = cell.source.replace(exercise.question, BOX.format(exercise.question))
    for number, place, _ in worked_of(path):
        after = next(k for k, cell in enumerate(notebook.cells) if cell.id == place) + 1
        cell = nbformat.v4.new_code_cell(f"{YOUR_TRY.format(number)}\n", id=f"try-{number}")
        notebook.cells.insert(after, cell)
    for cell in notebook.cells:
        if cell.cell_type == "code" and (record(cell) or cell.id.startswith("try-")):
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "raises-exception"]
    return notebook


def blanks_of(notebook: NotebookNode) -> dict[str, tuple[str, str, dict[str, str]]]:
    """Return {name: (source, cases, slips)} of the functions that a student writes for the story.

    The metadata of their cell list the "cases" that they are tried on, if the names of the arguments do not say so, and
    "slips", {code in the blank: its hint}; these are returned as {source: hint}.
    """
    found = {}
    for cell in notebook.cells:
        if BLANK in cell.source:
            slips = cell.metadata.get("slips", {}).items()
            for name, source in functions_of(cell.source).items():
                wrong = {functions_of(answered(cell.source, text))[name]: words for text, words in slips}
                found[name] = source, cell.metadata.get("cases", ""), wrong
    return found


def functions_of(source: str) -> dict[str, str]:
    """Return {name: source} of the decorated functions of a cell, without their decorators."""
    found = {}
    for one in ast.parse(source).body:
        if isinstance(one, ast.FunctionDef) and one.decorator_list:
            one.decorator_list = []
            found[one.name] = ast.unparse(one)
    return found


def worked_of(path: Path) -> list[tuple[str, str, str]]:
    """Return (number, id of the cell it follows, Markdown) of each worked solution of what brings no points."""
    found: dict[str, tuple[str, str]] = {}
    question = place = ""
    for cell in nbformat.read(path, as_version=4).cells:
        if not is_teachers(cell):
            place = cell.id
            question = cell.source if cell.cell_type == "markdown" and not record(cell) else question
            continue
        printed = "".join(output.get("text", "") for output in cell.get("outputs", []))
        code = f"```python\n{cell.source}\n```\n" + f"```text\n{printed}```\n" * bool(printed)
        number = title_of(last_question(question)).partition(".")[0]
        before = found.get(number, ("", ""))[1]
        found[number] = place, f"{before}\n{cell.source if cell.cell_type == 'markdown' else code}"
    return [(number, place, text.strip()) for number, (place, text) in found.items()]


def worth(notebook: NotebookNode) -> dict[str, Exercise]:
    """Return {cell of a test: its exercise} of a notebook; exercises marked by a person are not among them."""
    cells = {record(cell)["grade_id"]: cell.id for cell in notebook.cells if record(cell)}
    return {cells[one.tests[-1]]: one for one in with_points(notebook) if not one.by_hand}


def checks(path: Path, *, hidden: bool = True) -> bytes:
    """Return the record of exercises beside a copy of a notebook, in a form that is not read by accident.

    hidden    with the hidden tests, for those who study by themselves; else these tests are asked when it is graded
    """
    source = without_teachers(nbformat.read(path, as_version=4))
    cells, tests = {record(cell)["grade_id"]: cell for cell in source.cells if record(cell)}, {}
    for cell, one in worth(source).items():
        test, answer = cells[one.tests[-1]].source, cells[one.answer].source
        chosen = LETTER.search(answer)
        needed = names(answer).made & names(test).needed
        tests[cell] = {
            "title": f"Exercise {one.title.partition(':')[0]}",
            "points": one.points,
            "seen": HIDDEN.sub("", test).strip(),
            "letter": bool(chosen),
            "why": (chosen[1] or "") if chosen and hidden else "",
            "later": bool(HIDDEN.search(test)) and not hidden,
            "hidden": "\n".join(HIDDEN.findall(test)) if hidden else "",
            "asked": sorted(needed),
            "ways": [MARKS.sub("", answer), *cells[one.answer].metadata.get("other", [])] if hidden else [],
        }
    texts = [cell.source for cell in source.cells]
    about = {
        "title": texts[0].partition("\n")[0].strip("# "),
        "minutes": "".join(re.findall(r"\*\*Time\*\* (\d+ minutes)", "\n".join(texts))),
        "picture": next((one.data["image/png"] for cell in source.cells for one in pictures(cell)), ""),
    }
    worked = {number: text for number, _, text in worked_of(path)} if hidden else {}
    content = {"about": about, "tests": tests, "blanks": blanks_of(source), "worked": worked}
    return zlib.compress(json.dumps(content).encode())


def beside(path: Path, *, hidden: bool = True) -> dict[str, bytes]:
    """Return {name: content} of the files beside a copy of a notebook: its tables and its checks()."""
    found = {f"tables/{table.name}": table.read_bytes() for table in tables(path)}
    return found | {f"tables/{path.stem}.checks": checks(path, hidden=hidden)}


def front_page(course: Path) -> NotebookNode:
    """Return a notebook of one cell, which has run: all notebooks with their pictures, and how far one is."""
    shown = nbformat.v4.new_output("display_data", {"text/html": page(course), "text/plain": "Run this cell."})
    top = nbformat.v4.new_markdown_cell(WELCOME, id="title")
    source = "import bmlab.exercises\nbmlab.exercises.progress()"
    cell = nbformat.v4.new_code_cell(source, id="page", outputs=[shown], metadata={"jupyter": {"source_hidden": True}})
    return nbformat.v4.new_notebook(cells=[top, cell], metadata={"kernelspec": KERNEL})


def copied_before(record: Path, report: Callable[[str], Any]) -> dict[str, str]:
    """Return {notebook: fingerprint} of the copies; a damaged record is reported, and begun anew."""
    try:
        copied = json.loads(record.read_text(encoding="utf-8"))
        if isinstance(copied, dict):
            return copied
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        pass
    report(
        f"{record} is damaged and begun anew: your copies stay as they are, and each notebook stands beside its copy."
    )
    return {}


def start(notebooks: Path = NOTEBOOKS, course: Path = COURSE, *, report: Callable[[str], Any] = print) -> None:
    """Copy every notebook that is not in `course`; put a source that is newer than its copy beside it."""
    course.mkdir(exist_ok=True)
    no_caches = shutil.ignore_patterns("__pycache__")
    shutil.copytree(notebooks / "tables", course / "tables", dirs_exist_ok=True, ignore=no_caches)
    copied = copied_before(course / RECORD, report)
    for path in sorted(notebooks.glob("*.ipynb")):
        now, place = hashlib.sha256(path.read_bytes()).hexdigest(), course / path.name
        is_copied = place.exists() and copied.get(path.name) == now
        if not is_copied or not is_watched(path.stem, course):
            write_bytes(course / f"tables/{path.stem}.checks", checks(path))
        if is_copied:
            continue
        if place.exists():
            place = course / f"{path.stem}.new.ipynb"
            report(NEWER.format(path.name, place))
        copy = working_copy(path)
        copy.cells[0].source += f"\n\n[All notebooks, and what you have done]({FRONT})"
        write_bytes(place, f"{nbformat.writes(copy)}\n".encode())
        copied[path.name] = now
    write_bytes(course / RECORD, json.dumps(copied, indent=1).encode())
    front = front_page(course)
    NotebookNotary().sign(front)  # JupyterLab shows a page with a script only if it trusts its author
    nbformat.write(front, course / FRONT)


if __name__ == "__main__":
    start()
