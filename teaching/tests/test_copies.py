"""What is made of a source notebook, to the letter: both copies, what lies beside them, the course that grades.

`PYTHONPATH=tests python teaching/tests/test_copies.py` writes copies.txt after a copy was given other words or cells:
the difference shows what a student has in hand now, and what is run of it.
"""

import json
import tempfile
import zlib
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from small_course import RECORD, TWICE, exercise_cells, story_cells

from bmlab_teaching.course import handout
from bmlab_teaching.matching import plan, which
from bmlab_teaching.proofs import nulls, solved
from bmlab_teaching.reading import Cell
from bmlab_teaching.slicing import names, needed_cells, statements
from bmlab_teaching.working_copies import checks, exercises, functions_of, student_version, tables, working_copy

STORED = Path(__file__).with_name("copies.txt")
PICTURE = {"image/png": "cGljdHVyZQ==", "text/plain": "a view"}
LETTER = """### BEGIN SOLUTION
letter = "B"  # it is the only one
spare = base
### END SOLUTION"""
ONE_OF_TWO = """assert letter in "AB"[: 1 + base], 'A or B'
### BEGIN HIDDEN TESTS
assert letter == "B", 'the other'
### END HIDDEN TESTS"""
BLANK = """@widgets.blank
def my_half(x):
    ### BEGIN SOLUTION
    return x / 2
    ### END SOLUTION"""


def source(folder, *, at_first):
    """Write a notebook with each kind of cell; its picture stands in the first cells of code, or further down."""
    shown = new_code_cell("import numpy as np\nbase = 1", outputs=[new_output("stream", text="told")])
    picture = new_code_cell(
        "print(base)",
        outputs=[new_output("execute_result", PICTURE, execution_count=3), new_output("display_data", PICTURE)],
        execution_count=3,
    )
    opening = "# Twice\n\n**Time** 20 minutes, **Core**\n\nWhat is it?"
    cells = [new_markdown_cell(opening), shown, *[picture] * at_first]
    for number, exercise in enumerate([*TWICE, ("letter", LETTER, ONE_OF_TWO, [])], 1):
        cells += exercise_cells(number, *exercise)
        cells[-2].metadata["other"] = [f"other = {number}"]
        cells.append(new_code_cell(f"story_{number} = base + {number}\nprint(story_{number})"))
    blank = {"nbgrader": RECORD | {"grade_id": "my_half", "solution": True}, "cases": "[1.0]"}
    slips = {"return 2 * x": "it is doubled", "return -x / 2": "it has a minus"}
    cells += [new_code_cell(BLANK, metadata=blank | {"slips": slips}), *story_cells(), *[picture] * (not at_first)]
    worked = new_code_cell("x = base\nx", outputs=[new_output("stream", text="1\n")], metadata={"tags": ["teacher"]})
    folded = new_markdown_cell("## More", metadata={"jp-MarkdownHeadingCollapsed": True})
    cells += [worked, folded, new_code_cell("last = story_1 + my_half(3)")]
    for k, cell in enumerate(cells):
        cell.id = f"cell-{k}"
    (folder / "tables").mkdir(parents=True)
    for name in ("a.csv", "b.py", "c.pyc", "d.checks"):
        (folder / "tables" / name).write_text("1")
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "twice.ipynb")
    return folder / "twice.ipynb"


def told(notebook):
    """The cells of a notebook, each with its kind, its name and what hangs on it."""
    lines = []
    for cell in notebook.cells:
        about = {key: value for key, value in sorted(cell.metadata.items())}
        lines.append(f"--- {cell.cell_type} {cell.id} {json.dumps(about, sort_keys=True)}")
        lines.append(cell.source)
        lines += [f">>> {json.dumps(one, sort_keys=True)}" for one in cell.get("outputs", [])]
        lines += [f">>> execution {cell.get('execution_count')}"] * bool(cell.get("execution_count"))
    return "\n".join(lines)


def in_order(value):
    """A value whose sets are sorted, as text."""
    if isinstance(value, dict):
        return {str(key): in_order(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(value)
    return [*map(in_order, value)] if isinstance(value, list | tuple) else value


def written(value):
    return json.dumps(in_order(value), indent=1, ensure_ascii=False)


def all_that_is_made(folder):
    """Everything that is made of the notebook, as one text."""
    parts = []
    for at_first in (True, False):
        path = source(folder / str(at_first), at_first=at_first)
        parts += ["A STUDENT'S VERSION", told(student_version(path))]
        parts += ["A WORKING COPY", told(working_copy(path))] * at_first
    for hidden in (True, False):
        parts += [f"BESIDE IT, HIDDEN {hidden}", written(json.loads(zlib.decompress(checks(path, hidden=hidden))))]
    course = handout(path)
    parts += [
        "TABLES",
        written([file.name for file in tables(path)]),
        written([Path(file).name for file in course.tables]),
    ]
    parts += ["THE COURSE", *(f"{name}: {written(getattr(course, name))}" for name in
              ("name", "exercises", "made", "blanks", "tests", "referee", "solution", "story", "full"))]  # fmt: skip
    parts += ["GRADED", written([one.answer for one in course.graded]), course.solution_of("double")]
    parts += ["ITS SOLUTION", written(solved(course))]
    for name, cells in returned(student_version(path)).items():
        steps, answers, unanswered, number = plan(course, cells)
        parts += [f"RETURNED: {name}", "\n".join(map(json.dumps, steps)), written(answers)]
        parts.append(f"open {unanswered}, number {number!r}, it is {which({'twice': course}, cells, 'a.ipynb')}")
    return "\n\n".join(parts).replace(str(folder), "FOLDER") + "\n"


RIGHT = {"first": "first = base", "double": "def double(x):\n    return 2 * x", "letter": 'letter = "B"'}
RIGHT |= {"my_half": "@widgets.blank\ndef my_half(x):\n    return x / 3", "explained": "Because."}


def returned(blank):
    """Notebooks as students return them: name -> cells."""
    handed = [
        Cell(cell.cell_type, cell.source, cell.metadata.get("nbgrader", {}).get("grade_id", "")) for cell in blank.cells
    ]
    right = [cell._replace(source=RIGHT.get(cell.name, cell.source)) for cell in handed]
    at = {cell.name: place for place, cell in enumerate(right) if cell.name}
    empty = [cell._replace(source="  \n" if cell.name in ("first", "explained") else cell.source) for cell in right]
    mine = Cell("code", "student = 4711\nbase = 7\nprint(base)", "")
    twice = [*right[: at["double"]], Cell("code", "factor = 2", "double"), *right[at["double"] :]]
    no_python = [*right[: at["double"]], Cell("code", "this is no python", "double"), *right[at["double"] :]]
    fenced = Cell("markdown", f"```python\n{RIGHT['double']}\n```", "double")
    inside = [
        right[at["test_double"]]._replace(source="extra = base\nassert double(3) == 6, 'not twice'\nassert extra")
    ]
    elsewhere = [cell for cell in right if cell.name != "double"]
    elsewhere.insert(2, Cell("code", f"helper = 1\n{RIGHT['double']}", ""))
    return {
        "as it was handed out": handed,
        "right": right,
        "emptied": empty,
        "without labels": [cell._replace(name="") for cell in right],
        "with a number and a line of one's own at the top": [mine, *right],
        "in two cells": twice,
        "beside what is no Python": no_python,
        "as words": [fenced if cell.name == "double" else cell for cell in right],
        "in the cell of its test": [*right[: at["test_double"]], *inside, *right[at["test_double"] + 1 :]],
        "elsewhere": elsewhere,
        "from the bottom to the top": right[::-1],
        "without the story": [cell for cell in right if cell.name],
        "without tests": [cell for cell in right if not cell.name.startswith("test_")],
        "with the mark of an open answer": [
            cell._replace(source=f"# YOUR CODE HERE\n{cell.source}") if cell.name == "first" else cell for cell in right
        ],
        "with a blank that an answer asks": [
            cell._replace(source="first = base + my_half(0) + my_size(0)") if cell.name == "first" else cell
            for cell in right
        ],
        "nothing": [],
    }


def test_what_is_made_of_a_notebook_is_what_it_was(tmp_path):
    assert all_that_is_made(tmp_path).splitlines() == STORED.read_text(encoding="utf-8").splitlines()


def test_cells_to_run_come_in_their_order():
    sources = ["a = 1\nunused = 2", "print(a)", "b = a", "b", "c = 3"]
    assert needed_cells(sources, [False, False, False, True, False])[0] == {0: "a = 1", 2: "b = a", 3: "b"}
    assert [*needed_cells(sources, [False, False, False, True, False])[0]] == [0, 2, 3]
    assert needed_cells(sources, [False, False, False, True, False], whole=True)[0][0] == "a = 1\nunused = 2"
    assert needed_cells(["x = y"], [True]) == ({0: "x = y"}, {"y"})


@pytest.mark.parametrize(
    ("code", "made", "changed", "imported", "needed"),
    [
        ("x = y", "x", "", "", "y"),
        ("x = 1\ny = x", "x y", "", "", ""),
        ("import a.b as c, d.e", "c d", "", "c d", ""),
        ("from a import b as c", "c", "", "c", ""),
        ("def f(x):\n    return x + y", "f", "", "", "y"),
        ("x[0] = 1", "", "x", "", "x"),
        ("x.a[0].b = 1", "", "x", "", "x"),
        ("del x.a", "", "x", "", "x"),
        ("x.append(y)", "", "x", "", "x y"),
        ("f(x, y)", "", "f x y", "", "f x y"),
        ("np.fill_diagonal(x, 0)", "", "np x", "", "np x"),
        ("print(x)\nplt.plot(y)\nplot.show(z)", "", "", "", "plot plt print x y z"),
        ("z = f(x)", "z", "", "", "f x"),
        ("if a:\n    x = 1", "", "x", "", "a"),
        ("if a:\n    import b", "", "b", "", "a"),
        ("def f():\n    global g\n    g = 1", "f g", "", "", ""),
        ("x = rng.random()", "x", "rng", "", "rng"),
        ("[k for k in x]", "", "", "", "x"),
        ("no python(", "", "", "", "no python"),
    ],
)
def test_the_use_of_names_by_code(code, made, changed, imported, needed):
    assert names(code) == tuple(frozenset(some.split()) for some in (made, changed, imported, needed))


def test_the_statements_of_a_cell_are_laid_out_alike_and_what_is_no_python_is_one():
    assert statements("x=1 ;  y = 2\n# z\nz =3") == ("x = 1", "y = 2", "z = 3") and statements("x =") == ("x =",)
    assert functions_of("@a\ndef f(x):\n    return x\ndef g():\n    pass") == {"f": "def f(x):\n    return x"}


def test_an_exercise_has_the_points_of_all_its_tests(tmp_path):
    found = exercises(nbformat.read(source(tmp_path / "a", at_first=True), 4))
    assert [(one.answer, one.points, one.by_hand) for one in found] == [
        ("first", 1, False), ("double", 2, False), ("letter", 3, False), ("my_half", 0, False), ("my_size", 0, False),
        ("explained", 2, True),
    ]  # fmt: skip


def test_each_null_answer_is_one_for_all_names_and_no_two_notebooks_have_the_same():
    found = nulls(["one", "two"], {"two"}, "seed")
    assert "by heart" not in " ".join(found) and found["None"] == (
        "right = null_rights['one']\none = null_other(right, None)\ndef two(*given, **named):\n    return None"
    )
    assert found["1"].endswith("return 1") and found["its argument"].endswith("return given[0] if given else None")
    assert "null_rights['two'](*given, **named)" in found["1 in each place"]
    assert "what the visible test asks, by heart" in nulls(["two"], {"two"}, "seed")
    assert found.keys() != nulls(["one", "two"], {"two"}, "other").keys()
    assert not any(name.startswith("AssertionError") for name in nulls(["one"], set(), "seed"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        STORED.write_text(all_that_is_made(Path(place)), encoding="utf-8")
