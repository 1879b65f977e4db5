"""The student's working copies: without solutions, never overwritten, and no exercise stops Run All."""

import json
import re

import nbformat
import pytest
from nbclient import NotebookClient

from bmlab import working_copies
from bmlab.working_copies import student_version

CELLS = [
    ("markdown", "# Is it?\n\n**1.** *Do* (1 point). What is the answer?", {}),
    ("code", "import numpy as np", {}),
    ("code", "# answer = a number\n### BEGIN SOLUTION\nanswer = 42\n### END SOLUTION", {"solution": True}),
    ("code", "assert answer != 1, 'too small'\n### BEGIN HIDDEN TESTS\nassert answer == 42\n### END HIDDEN TESTS", {}),
    ("markdown", "**2.** *Make* (1 point). Write it.\n\n## The map\n", {}),
    ("code", "def my_double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION", {"solution": True}),
    (
        "code",
        "assert my_double(2) == 4, 'twice'\n### BEGIN HIDDEN TESTS\nassert my_double(3) == 6\n### END HIDDEN TESTS",
        {},
    ),
    ("code", "print('the story goes on')", {}),
    ("code", "nobody_wrote_this", {}),
]
NAMES = {2: "answer", 3: "test_answer", 5: "my_double", 6: "test_my_double"}


@pytest.fixture
def folders(tmp_path):
    """A folder of sources with one notebook and one table, and the place of the copies."""
    notebook = nbformat.v4.new_notebook()
    for number, (kind, source, record) in enumerate(CELLS):
        cell = (nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell)(source)
        if number in NAMES:
            solution = bool(record)
            cell.metadata["nbgrader"] = {
                "schema_version": 3, "grade_id": NAMES[number], "solution": solution, "locked": not solution,
                "grade": not solution, "task": False,
            } | ({} if solution else {"points": 1})  # fmt: skip
        notebook.cells.append(cell)
    (tmp_path / "notebooks" / "tables").mkdir(parents=True)
    (tmp_path / "notebooks" / "tables" / "a.csv").write_text("1,2\n")
    nbformat.write(notebook, tmp_path / "notebooks" / "one.ipynb")
    return tmp_path / "notebooks", tmp_path / "course"


def test_the_first_start_copies_without_solutions_and_outputs(folders):
    said = []
    working_copies.start(*folders, say=said.append)
    copy = (folders[1] / "one.ipynb").read_text()
    assert "== 42" not in copy and "answer = 42" not in copy and "YOUR CODE HERE" in copy and not said
    assert (folders[1] / "tables" / "a.csv").read_text() == "1,2\n"


def test_a_copy_is_never_overwritten_and_a_newer_source_stands_beside_it(folders):
    said, (sources, copies) = [], folders
    working_copies.start(*folders, say=said.append)
    (copies / "one.ipynb").write_text("mine")
    working_copies.start(*folders, say=said.append)
    assert not said and not (copies / "one.new.ipynb").exists()
    source = nbformat.read(sources / "one.ipynb", 4)
    source.cells[0].source = "# Was it?"
    nbformat.write(source, sources / "one.ipynb")
    for _ in range(2):  # it is said once
        working_copies.start(*folders, say=said.append)
    assert (copies / "one.ipynb").read_text() == "mine"
    assert "Was it?" in (copies / "one.new.ipynb").read_text()
    assert len(said) == 1 and re.search(r"one.ipynb has a newer version .*one\.new\.ipynb", said[0])


@pytest.mark.parametrize("version", [student_version, working_copies.working_copy])
def test_an_open_exercise_says_so_in_one_sentence_brings_no_point_and_the_story_goes_on(folders, version):
    notebook = version(folders[0] / "one.ipynb")
    notebook.cells = [cell for cell in notebook.cells if cell.id != "progress"]
    client = NotebookClient(notebook, kernel_name="python3", timeout=60, allow_errors=True)
    client.execute()
    first, second = (
        [f"Exercise {number} is still open: write {name} above its test."]
        for number, name in enumerate(("answer", "my_double"), 1)
    )
    shown = [[out.get("traceback", out.get("text")) for out in cell.get("outputs", [])] for cell in notebook.cells]
    assert shown[2:7] == [[first], [first], [], [], [second]]  # a function is only missed where it is called
    assert shown[7] == ["the story goes on\n"] and len(shown[8][0]) > 1  # any other mistake is shown as ever
    errors = [[out.output_type for out in notebook.cells[test].outputs] for test in (3, 6)]
    assert errors == [["error"], ["error"]]  # for nbgrader's own autograde a test that has not passed
    assert notebook.cells[1].source.endswith("import numpy as np")  # what the source shows last it shows last here


def test_of_a_copy_only_exercises_may_fail(folders):
    working_copies.start(*folders)
    notebook = nbformat.read(folders[1] / "one.ipynb", 4)
    tags = [cell.metadata.get("tags", []) for cell in notebook.cells]
    assert [k for k, tagged in enumerate(tags) if tagged] == [2, 3, 6, 7]  # below the map stands how far one is
    assert all(tagged in ([], ["raises-exception"]) for tagged in tags)
    assert json.loads((folders[1] / working_copies.RECORD).read_text()).keys() == {"one.ipynb"}


def executed(copy):
    """The copy after all of its cells were run in its folder, as a page runs them."""
    notebook = nbformat.read(copy, 4)
    client = NotebookClient(notebook, timeout=60, allow_errors=True, resources={"metadata": {"path": str(copy.parent)}})
    with client.setup_kernel():
        send = client.kc.session.send

        def as_a_page_does(stream, msg_or_type, *args, **options):
            if msg_or_type == "execute_request" or getattr(msg_or_type, "get", dict)("msg_type") == "execute_request":
                msg_or_type["metadata"]["cellId"] = as_a_page_does.cell
            return send(stream, msg_or_type, *args, **options)

        client.kc.session.send = as_a_page_does
        for number, cell in enumerate(notebook.cells):
            as_a_page_does.cell = cell.id
            client.execute_cell(cell, number)
    return notebook


def test_an_exercise_stands_in_a_box_and_says_whether_it_is_done(folders):
    sources, copies = folders
    working_copies.start(sources, copies)
    copy = nbformat.read(copies / "one.ipynb", 4)
    assert copy.cells[0].source.startswith("# Is it?\n\n<div") and "**1.** *Do*" in copy.cells[0].source
    copy.cells[2].source = "answer = 42"
    nbformat.write(copy, copies / "one.ipynb")
    shown = [
        out.data["text/plain"]
        for cell in executed(copies / "one.ipynb").cells
        for out in cell.get("outputs", [])
        if "text/html" in out.get("data", {})
    ]
    assert shown == [
        "Exercise 1. Do (1 point): ✓ done. one: 1 of 2 points.",
        "one: 1 of 2 points",
        "Exercise 2. Make (1 point): ○ open. one: 1 of 2 points.",
    ]
