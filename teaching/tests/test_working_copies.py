"""The student's working copies: without solutions, never overwritten, and no exercise stops Run All."""

import atexit
import base64
import json
import os
import re
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbclient import NotebookClient
from nbformat.sign import NotebookNotary
from small_course import RECORD, exercise_cells

import bmlab.exercises.student_copy
import bmlab.exercises.unmade
from bmlab.exercises.student_copy import UNCHECKED, YOUR_TRY
from bmlab_teaching import working_copies
from bmlab_teaching.working_copies import student_version

SOLVED = "### BEGIN SOLUTION\n{}\n### END SOLUTION"


def exercise(number, name, solution, seen, hidden):
    """The cells of an exercise of one point: its question, its answer, and its test."""
    test = f"{seen}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
    question, *answered = exercise_cells(1, name, solution, test, [])
    question.source = f"**{number}.** *Do* (1 point). Which?"
    return question, *answered


@pytest.fixture
def folders(tmp_path):
    """A folder of sources with one notebook and one table, and the place of the copies."""
    value, function = f"# answer = a number\n{SOLVED.format('answer = 42')}", "def my_double(x):\n    {}"
    function = function.format(SOLVED.format("return 2 * x").replace("\n", "\n    "))
    first, *answered = exercise(1, "answer", value, "assert answer != 1, 'too small'", "assert answer == 42")
    first.source = f"# Is it?\n\n{first.source}"
    second = exercise(2, "my_double", function, "assert my_double(2) == 4, 'twice'", "assert my_double(3) == 6")
    told = ("import numpy as np", "print('the story goes on')", "nobody_wrote_this")
    set_up, *story = map(nbformat.v4.new_code_cell, told)
    (tmp_path / "notebooks" / "tables").mkdir(parents=True)
    (tmp_path / "notebooks" / "tables" / "a.csv").write_text("1,2\n")
    notebook = nbformat.v4.new_notebook(cells=[first, set_up, *answered, *second, *story])
    nbformat.write(notebook, tmp_path / "notebooks" / "one.ipynb")
    return tmp_path / "notebooks", tmp_path / "course"


def test_the_first_start_copies_without_solutions_and_outputs(folders):
    messages = []
    working_copies.start(*folders, report=messages.append)
    copy = (folders[1] / "one.ipynb").read_text()
    assert "== 42" not in copy and "answer = 42" not in copy and "YOUR CODE HERE" in copy and not messages
    assert (folders[1] / "tables" / "a.csv").read_text() == "1,2\n"


def test_a_copy_is_never_overwritten_and_a_newer_source_stands_beside_it(folders):
    messages, (sources, copies) = [], folders
    working_copies.start(*folders, report=messages.append)
    (copies / "one.ipynb").write_text("mine")
    working_copies.start(*folders, report=messages.append)
    assert not messages and not (copies / "one.new.ipynb").exists()
    source = nbformat.read(sources / "one.ipynb", 4)
    source.cells[0].source = "# Was it?"
    nbformat.write(source, sources / "one.ipynb")
    for _ in range(2):  # it is reported once
        working_copies.start(*folders, report=messages.append)
    assert (copies / "one.ipynb").read_text() == "mine"
    assert "Was it?" in (copies / "one.new.ipynb").read_text()
    assert len(messages) == 1 and re.search(r"one.ipynb has a newer version .*one\.new\.ipynb", messages[0])


@pytest.mark.parametrize("version", [student_version, working_copies.working_copy])
def test_an_open_exercise_says_so_in_one_sentence_brings_no_point_and_the_story_goes_on(folders, version):
    notebook = version(folders[0] / "one.ipynb")
    client = NotebookClient(notebook, kernel_name="python3", allow_errors=True)
    client.execute()
    first, second = (
        [f"Exercise {number} is still open: write {name} above its test."]
        for number, name in enumerate(("answer", "my_double"), 1)
    )
    shown = [[out.get("traceback", out.get("text")) for out in cell.get("outputs", [])] for cell in notebook.cells]
    assert shown[1] == [UNCHECKED.format("one") + "\n"]
    assert shown[2:7] == [[first], [first], [], [], [second]]  # a missing function is noticed only when it is called
    assert shown[7] == ["the story goes on\n"] and len(shown[8][0]) > 1  # any other mistake is shown as ever
    errors = [[out.output_type for out in notebook.cells[test].outputs] for test in (3, 6)]
    assert errors == [["error"], ["error"]]  # for nbgrader's own autograde a test that has not passed
    assert notebook.cells[1].source.endswith("import numpy as np")  # the last output of the source is the last one here


def test_the_picture_pressed_first_brings_all_that_it_needs_and_its_code_is_folded(folders):
    path = folders[0] / "one.ipynb"
    source = nbformat.read(path, 4)
    picture = nbformat.v4.new_output("execute_result", {"image/png": "cGljdHVyZQ=="}, execution_count=7)
    source.cells.insert(2, nbformat.v4.new_code_cell("np.pi", outputs=[picture], execution_count=7))
    nbformat.write(source, path)
    cell = next(cell for cell in student_version(path).cells if cell.cell_type == "code")
    assert cell.source.startswith("import bmlab.exercises") and cell.source.endswith("import numpy as np\nnp.pi")
    assert cell.metadata["jupyter"] == {"source_hidden": True} and cell.execution_count is None
    words, shown = cell.outputs
    assert "Shift+Enter" in words.text and (shown.data, shown.execution_count) == (picture.data, None)


def test_a_worked_solution_is_its_words_and_its_code_with_what_that_prints(tmp_path):
    teacher = {"tags": [working_copies.TEACHER]}
    printed = nbformat.v4.new_output("stream", text="9\n")
    cells = [
        nbformat.v4.new_markdown_cell("# A story"),
        nbformat.v4.new_markdown_cell("**4.** *Stretch* And then?", id="asked"),
        nbformat.v4.new_markdown_cell("By $x^2$.", metadata=teacher),
        nbformat.v4.new_code_cell("print(3**2)", metadata=teacher, outputs=[printed]),
        nbformat.v4.new_code_cell("x = 3", metadata=teacher),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "one.ipynb")
    words = "By $x^2$.\n```python\nprint(3**2)\n```\n```text\n9\n```\n\n```python\nx = 3\n```"
    assert working_copies.worked_of(tmp_path / "one.ipynb") == [("4", "asked", words)]
    cells.insert(2, nbformat.v4.new_code_cell("assert x", id="its-test"))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "one.ipynb")
    assert working_copies.worked_of(tmp_path / "one.ipynb") == [("4", "its-test", words)]  # its number all the same


def test_of_a_copy_only_exercises_may_fail(folders):
    working_copies.start(*folders)
    notebook = nbformat.read(folders[1] / "one.ipynb", 4)
    tags = [cell.metadata.get("tags", []) for cell in notebook.cells]
    assert [k for k, tagged in enumerate(tags) if tagged] == [2, 3, 5, 6]
    assert all(tagged in ([], ["raises-exception"]) for tagged in tags)
    assert json.loads((folders[1] / working_copies.RECORD).read_text()).keys() == {"one.ipynb"}


def executed(copy):
    """The copy after all of its cells were run in its folder."""
    notebook = nbformat.read(copy, 4)
    where = {"metadata": {"path": str(copy.parent)}}
    return NotebookClient(notebook, allow_errors=True, resources=where).execute()


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
        "0 of 2 points. Open: exercises 1, 2.",
        "Exercise 1. Do (1 point): ✓ done.\n1 of 2 points. Open: exercise 2.",
        "Exercise 2. Do (1 point): ○ open.\n1 of 2 points. Open: exercise 2.",
    ]


def test_the_front_page_shows_each_notebook_its_picture_and_what_is_done(folders):
    sources, copies = folders
    source = nbformat.read(sources / "one.ipynb", 4)
    png = base64.b64encode(b"a picture").decode()
    source.cells[1].outputs = [nbformat.v4.new_output("display_data", {"image/png": png, "text/plain": "a view"})]
    source.cells[7].outputs = [nbformat.v4.new_output("stream", text="the story goes on")]
    nbformat.write(source, sources / "one.ipynb")
    working_copies.start(*folders)
    front = nbformat.read(copies / working_copies.FRONT, 4)
    (shown,) = front.cells[1].outputs
    assert '<a href="one.ipynb"' in shown.data["text/html"] and "one Is it?" in shown.data["text/html"]
    assert f"base64,{png}" in shown.data["text/html"] and "0 of 2 points" in shown.data["text/html"]
    assert NotebookNotary().check_signature(front)
    assert front.cells[1].metadata == {"jupyter": {"source_hidden": True}}  # a page, not its code
    copy = nbformat.read(copies / "one.ipynb", 4)
    assert [cell.outputs for cell in copy.cells if cell.get("outputs")] == [source.cells[1].outputs]
    test = copy.cells[3].id
    (copies / bmlab.exercises.student_copy.DONE_FILE).write_text(json.dumps([test]))
    working_copies.start(*folders)  # it is the one file that is written again
    assert "1 of 2 points" in nbformat.read(copies / working_copies.FRONT, 4).cells[1].outputs[0].data["text/html"]
    assert executed(copies / working_copies.FRONT).cells[1].outputs[0].data["text/plain"].startswith("one: 1 of 2")


MORE = [
    (
        "one",
        'letter = "B"  # each leaves what the other takes',
        "assert letter in ('A', 'B'), 'A or B'",
        "assert letter == 'B', 'try it'",
    ),
    (
        "all",
        "def my_sum(x):\n    return sum(x)",
        "assert my_sum([1]) == 1, 'one'",
        "assert my_sum([1, 2]) == 3, 'a sum of two'",
    ),
]


def said_below(shell, source):
    """The output of a cell of a copy that is run."""
    with capture_output() as captured:
        shell.run_cell(source)
    return [one.data["text/plain"] for one in captured.outputs]


@pytest.fixture
def studied(tmp_path, monkeypatch):
    """A function that writes a notebook's checks, watches it, and returns a shell; each test has its own."""
    monkeypatch.chdir(tmp_path)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import numpy")])
    for number, (name, solution, *test) in enumerate(MORE, 1):
        notebook.cells += exercise(number, name, SOLVED.format(solution), *test)
    hole = "@widgets.blank\ndef my_half(x):\n    ### BEGIN SOLUTION\n    return x / 2\n    ### END SOLUTION"
    about = {"nbgrader": RECORD | {"grade_id": "my_half", "solution": True}, "cases": "[rng.normal()]"}
    notebook.cells.append(nbformat.v4.new_code_cell(hole, metadata=about))
    notebook.cells.append(nbformat.v4.new_code_cell(IN_THE_STORY))
    notebook.cells.append(nbformat.v4.new_markdown_cell("**3.** *Stretch* (without points). Why?", id="why"))
    notebook.cells.append(nbformat.v4.new_markdown_cell("Because.", metadata={"tags": ["teacher"]}))
    notebook.cells[5].metadata["other"] = ["def my_sum(x):\n    return x[0] + sum(x[1:])"]
    nbformat.write(notebook, "one.ipynb")

    def study(hidden):
        for name, content in working_copies.beside(Path("one.ipynb"), hidden=hidden).items():
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_bytes(content)
        InteractiveShell.clear_instance()
        shell = InteractiveShell.instance()
        atexit.unregister(shell.atexit_operations)  # each shell would collect all garbage at the end
        shell.run_cell("from bmlab import widgets\nfrom bmlab import exercises\nexercises.watch('one')")
        return shell

    yield study
    InteractiveShell.clear_instance()


def test_who_studies_alone_is_told_what_is_wrong_and_ticks_only_what_is_right(studied):
    shell = studied(hidden=True)
    left = "0 of 2 points. Open: exercises 1, 2."
    shell.run_cell("letter = 'C'\ndef my_sum(x):\n    return x[0]")
    assert said_below(shell, MORE[0][2]) == [f"Exercise 1. Do (1 point): ✗ A or B\n{left}"]  # as the test shows it
    shell.run_cell("letter = 'A'")
    assert said_below(shell, MORE[0][2]) == [f"Exercise 1. Do (1 point): ✗ try it\n{left}"]
    assert said_below(shell, MORE[1][2]) == [
        f"Exercise 2. Do (1 point): ✗ a sum of two (my_sum: it is 1, whatever is given)\n{left}"
    ]
    shell.run_cell("letter = 'B'\ndef my_sum(x):\n    return x[0] + x[1] if x[1:] else x[0] / x[0]")
    right = "Exercise 1. Do (1 point): ✓ done. each leaves what the other takes\n1 of 2 points. Open: exercise 2."
    assert said_below(shell, MORE[0][2]) == [right]
    assert said_below(shell, MORE[1][2]) == ["Exercise 2. Do (1 point): ✓ done.\n2 of 2 points."]
    shell.run_cell("def my_sum(x):\n    return x[0] if not x[1:] else x.sum()")
    (words,) = said_below(shell, MORE[1][2])
    assert "✗ it fails where another case is tried: AttributeError" in words and "1 of 2 points" in words
    shell.run_cell("def my_sum(x):\n    return nobody_wrote_this")
    (words,) = said_below(shell, MORE[1][2])
    assert "✗ it fails: NameError: name 'nobody_wrote_this'" in words


def test_in_a_class_nothing_is_ticked_that_was_not_verified(studied):
    shell = studied(hidden=False)
    assert said_below(shell, "exercises.watch('one')") == []
    assert b"sum of two" not in zlib.decompress(Path("tables/one.checks").read_bytes())
    shell.run_cell("letter = 'A'\ndef my_sum(x):\n    return x[0]")
    assert said_below(shell, MORE[0][2]) == ["Exercise 1. Do (1 point): noted; the letter is marked later.\n"]
    assert said_below(shell, MORE[1][2]) == [
        "Exercise 2. Do (1 point): no fault is found here; the answer is marked later.\n"
    ]


def test_after_two_different_tries_a_solution_without_points_can_be_opened_and_never_in_a_class(studied):
    shell, place = studied(hidden=True), YOUR_TRY.format("3")
    (cell,) = [cell for cell in working_copies.working_copy(Path("one.ipynb")).cells if cell.id == "try-3"]
    assert cell.source == f"{place}\n" and said_below(shell, cell.source) == []
    one_more = "One more try, and the solution of exercise 3 can be opened."
    assert [said_below(shell, f"{place}\n{tried}") for tried in ("# ...", "# as it is", " # as it is")] == [
        [],
        [one_more],
        [one_more],
    ]
    (worked,) = said_below(shell, f"{place}\n# because")
    assert worked.startswith("<details><summary>The solution of exercise 3</summary>") and "Because." in worked
    shell = studied(hidden=False)
    assert [said_below(shell, f"{place}\n# {tried}") for tried in "ab"] == [[], []]
    assert not [cell for cell in student_version(Path("one.ipynb")).cells if cell.id == "try-3"]
    assert b"Because" not in zlib.decompress(Path("tables/one.checks").read_bytes())


@pytest.mark.parametrize("hidden", [True, False])
def test_what_is_done_can_be_compared_with_the_courses_way_and_another_but_not_in_a_class(studied, hidden):
    shell = studied(hidden)
    with capture_output() as captured:
        shell.run_cell("def my_sum(x):\n    return sum(x)")
        shell.run_cell(MORE[1][2])
    shown = "".join(one.data["text/html"] for one in captured.outputs)
    assert ("<summary>Another way</summary><pre>def my_sum(x):\n    return x[0] + sum" in shown) == hidden
    assert ("<summary>The course&#x27;s own way" in shown or "<summary>The course's own way" in shown) == hidden


IN_THE_STORY = "later = my_half(10)"
WRONG = {
    "None": "returned nothing: is there a return?",
    "print(x / 2)": "prints and returns nothing: write return for print",
    "str(x / 2)": "returned a text, '",
    "[x, x]": "returned shape (2,), where one number is asked for",
    "x.half": "stops with AttributeError: ",
    "my_half_of": "stops with NameError: name 'my_half_of' is not defined",
    "-x / 2": "is not right yet: it has the wrong sign",
    "x": "is not right yet: it is twice what it should be",
    "0.5": "is not right yet: it is 0.5, whatever is given",
    "x / 2 + 1": "is not right yet: it is always too large by 1: a constant",
    "x / 2 + x**2": "is not right yet: for x = ",
    "__import__('numpy').broadcast_to(x, 1).fill(x)": "writes into what it is given: begin with a copy",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_blank_is_told_its_slip_at_once_and_makes_nothing_later_wrong(studied, capsys, wrong):
    shell = studied(hidden=True)
    shell.run_cell("@widgets.blank\ndef my_half(x):\n    raise NotImplementedError('open')\nprint(my_half(3))")
    assert "my_half is still open" in (printed := capsys.readouterr().out) and printed.endswith("1.5\n")
    shell.run_cell(f"@widgets.blank\ndef my_half(x):\n    return {wrong}")
    printed = capsys.readouterr().out
    assert printed.startswith(f"\N{BALLOT X} my_half {WRONG[wrong]}") and printed.endswith("the package's version.\n")
    shell.run_cell(IN_THE_STORY)
    assert shell.user_ns["my_half"](4) == 2 and shell.user_ns["later"] == 5


def test_a_blank_without_its_decorator_is_tried_and_a_misspelt_one_is_told_so(studied, capsys):
    shell = studied(hidden=True)
    shell.run_cell("def my_half(x):\n    return x")
    assert "my_half is not right yet: it is twice what it should be" in capsys.readouterr().out
    assert shell.user_ns["my_half"](4) == 2
    shell.run_cell("@widgets.blank\ndef my_hlaf(x):\n    return x / 2")
    assert capsys.readouterr().out == "my_hlaf is not asked for here, so nothing tries it: is it meant to be my_half?\n"


@pytest.mark.parametrize("cell", ["", "@widgets.blank\ndef my_half(x)\n    return x / 2"])
def test_a_blank_that_is_no_python_or_left_out_makes_nothing_later_wrong(studied, cell):
    shell = studied(hidden=True)
    shell.run_cell(cell)
    shell.run_cell(IN_THE_STORY)
    assert shell.user_ns["later"] == 5


@pytest.mark.parametrize(
    "right, name", [("x / 2", "my_half"), ("round(x / 2, 3)", "instead_of_my_half"), ("[x / 2]", "instead_of_my_half")]
)
def test_a_right_blank_gets_a_word_in_any_style_and_the_story_all_digits(studied, capsys, right, name):
    shell = studied(hidden=True)
    shell.run_cell(f"@widgets.blank\ndef my_half(x):\n    return {right}")
    assert "\N{CHECK MARK} my_half agrees with the package's in 12 random cases." in capsys.readouterr().out
    assert shell.user_ns["my_half"].__name__ == name and said_below(shell, IN_THE_STORY) == []


def test_without_what_lies_beside_it_a_copy_says_that_nothing_is_proved(studied, capsys):
    """One file alone, as somebody opens it elsewhere."""
    shell = studied(hidden=True)
    Path("tables/one.checks").unlink()
    shell.run_cell("exercises.watch('one')\n@widgets.blank\ndef my_half(x):\n    raise NotImplementedError('open')")
    assert capsys.readouterr().out.endswith(f"{UNCHECKED.format('one')}\nmy_half is still open: write it above.\n")
    shell.run_cell("my_half(3)")
    assert capsys.readouterr().out == "my_half is still open: write it above.\n"


DAMAGE = {
    "empty": lambda whole: b"",
    "half": lambda whole: whole[: len(whole) // 2],
    "a byte": lambda whole: whole[:-2] + bytes([whole[-2] ^ 1]) + whole[-1:],
    "no text": lambda whole: b"\xff" * 9,
    "another thing": lambda whole: b"7",
    "a number": lambda whole: b"[[1]]",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_progress_is_reported_once_and_begun_anew(studied, capsys, damage):
    shell = studied(hidden=True)
    shell.run_cell("letter = 'B'")
    said_below(shell, MORE[0][2])
    done = Path(bmlab.exercises.student_copy.DONE_FILE)
    whole = done.read_bytes()
    done.write_bytes(damage(whole))
    capsys.readouterr()
    assert [words for words in said_below(shell, "exercises.watch('one')") if "points" in words] == [
        "0 of 2 points. Open: exercises 1, 2."
    ]
    assert done.read_text(encoding="utf-8") == "[]"  # so that it is reported once
    assert said_below(shell, MORE[0][2])[0].endswith("1 of 2 points. Open: exercise 2.") and done.read_bytes() == whole


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_checks_are_reported_and_the_next_start_makes_them_anew(studied, capsys, damage):
    shell = studied(hidden=True)
    place = Path("tables/one.checks")
    whole = place.read_bytes()
    place.write_bytes(damage(whole))
    capsys.readouterr()
    shell.run_cell("exercises.watch('one')\nexercises.progress()")
    assert UNCHECKED.format("one") in capsys.readouterr().out
    assert said_below(shell, MORE[0][2]) == []  # nothing is ticked that was not proved
    copies = Path("course")
    Path("notebooks/tables").mkdir(parents=True)
    Path("one.ipynb").rename("notebooks/one.ipynb")
    working_copies.start(Path("notebooks"), copies)
    for name in ("tables/one.checks", working_copies.RECORD):
        good = (copies / name).read_bytes()
        (copies / name).write_bytes(damage(good))
        messages = []
        working_copies.start(Path("notebooks"), copies, report=messages.append)
        assert (copies / name).read_bytes() == good and not list(copies.rglob("*.new"))
        assert any("damaged" in one for one in messages) == (name == working_copies.RECORD)


def test_a_full_disk_leaves_what_was_done(studied, monkeypatch):
    shell = studied(hidden=True)
    shell.run_cell("letter = 'B'\ndef my_sum(x):\n    return sum(x)")
    said_below(shell, MORE[0][2])
    whole = Path(bmlab.exercises.student_copy.DONE_FILE).read_bytes()

    def full(_):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    said_below(shell, MORE[1][2])
    assert Path(bmlab.exercises.student_copy.DONE_FILE).read_bytes() == whole


def test_an_answer_that_fails_takes_back_that_it_was_done(studied, monkeypatch):
    shell, places, display = studied(hidden=True), [], bmlab.exercises.student_copy._display
    monkeypatch.setattr(
        bmlab.exercises.student_copy,
        "_display",
        lambda html, text, *kind, **which: (
            (places.append(which) if "open again" in text else 0) or display(html, text, *kind, **which)
        ),
    )
    shell.run_cell("letter = 'B'\ndef my_sum(x):\n    return x[0] + x[1] if x[1:] else x[0]")
    assert "✓ done" in said_below(shell, MORE[0][2])[0] and "✓ done" in said_below(shell, MORE[1][2])[0]
    for failing in ("letter = 1 / 0", "letter = = 'B'"):
        shell.run_cell("letter = 'B'")
        said_below(shell, MORE[0][2])
        assert said_below(shell, failing)[-1] == "○ Exercise 1. Do: open again, since its answer fails now."
        assert [one["update"] for one in places] == [True, False]  # in the place of the older verdict, and below
        assert places[0]["display_id"] and not places[1]["display_id"] and not places.clear()
        assert "letter" not in shell.user_ns and "my_sum" in shell.user_ns
        assert "1 of 2 points. Open: exercise 1" in bmlab.exercises.student_copy._reached("one")[1]
    assert not [words for words in said_below(shell, "unrelated = 1 / 0") if "open again" in words]


@pytest.mark.parametrize("in_notebook", [True, False])
def test_the_first_file_of_a_kernel_listens_to_unknown_names_and_leaves_no_name(in_notebook):
    file, heard = Path(bmlab.exercises.__file__).with_name("startup.py"), []
    shell = SimpleNamespace(set_custom_exc=lambda *given: heard.append(given))
    space = {"get_ipython": lambda: shell} if in_notebook else {}
    before = {*space, "__builtins__"}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), space)
    assert heard == [((NameError,), bmlab.exercises.unmade.say)] * in_notebook and {*space} - {"__doc__"} == before


def test_a_name_that_no_cell_has_made_yet_is_told_where_it_is_made(studied, monkeypatch, capsys):
    before = {"print(numpy, letter)": "Exercise 2 is still open: of the notebook before in this kernel."}
    bmlab.exercises.student_copy._open_cells.update(before)
    shell = studied(hidden=True)
    monkeypatch.setenv("JPY_SESSION_NAME", str(Path("one.ipynb").resolve()))
    for name, words in {"numpy": "The first cell of code", "letter": "A cell above makes letter"}.items():
        shell.user_ns.pop(name, None)
        capsys.readouterr()
        shell.run_cell(f"print({name})")
        assert "Run All Above Selected Cell" in (said := capsys.readouterr().out) and words in said
    shell.run_cell("print(nobody_makes_this)")
    assert "Run All Above" not in capsys.readouterr().out


def test_one_value_in_a_list_is_that_value_while_its_test_runs_and_stays_as_it_was_typed(studied):
    shell = studied(hidden=True)
    shell.run_cell("letter = ['B']")
    (words,) = said_below(shell, MORE[0][2])
    assert "\N{CHECK MARK} done." in words and shell.user_ns["letter"] == ["B"]
    shell.run_cell("def my_sum(x):\n    return [sum(x)]")
    typed = shell.user_ns["my_sum"]
    (words,) = said_below(shell, MORE[1][2])
    assert "\N{CHECK MARK} done." in words and shell.user_ns["my_sum"] is typed


def about(**other):
    """The record of a test, of an answer `mine` that is a function or a number."""
    record = {"asked": ["mine"], "seen": "assert mine(2) == 4, 'twice'", "hidden": "assert mine(3) == 6, 'thrice 2'"}
    return record | {"later": False, "letter": False, "why": "It adds up.", "ways": []} | other


def made(body, name="mine"):
    """A notebook's names, with a function of a student's."""
    exec(f"def {name}(x):\n    {body}", names := {})
    return names


NUMBER = {"seen": "assert mine > 1, 'too small'", "hidden": "assert mine == 2, 'not 2'"}
RIGHT_WAY = ["def mine(x):\n    return 2 * x"]
OPEN = NotImplementedError("Exercise 1 is still open: write mine.")
VERDICTS = [  # names, the record, the error of the visible test, what is said, whether it is right
    (made("return 2 * x"), {}, None, "\N{CHECK MARK} done. It adds up.", True),
    (made("return 2 * x"), {"why": ""}, None, "\N{CHECK MARK} done.", True),
    (made("return 2 * x"), {"later": True}, None, "no fault is found here; the answer is marked later.", False),
    ({"mine": "B"}, {"later": True, "letter": True}, None, "noted; the letter is marked later.", False),
    (made("return 4"), {}, None, "\N{BALLOT X} thrice 2", False),
    (made("return 5"), {}, AssertionError("twice"), "\N{BALLOT X} twice", False),
    (made("return x.a"), {}, None,
     "\N{BALLOT X} it fails where another case is tried: AttributeError: there is no .a of a number", False),
    (made("return 4 + x.a"), {}, AttributeError("no a"), "\N{BALLOT X} it fails: AttributeError: no a", False),
    (made("assert x == 2; return 4"), {}, AssertionError(""),
     "\N{BALLOT X} mine stops with AssertionError: is there an assert of its own in it?", False),
    (made("return mine(x)"), {}, RecursionError("deep"),
     "\N{BALLOT X} mine calls itself without an end: write out what it returns", False),
    (made("pass"), {}, ValueError("assignment destination is read-only"),
     "\N{BALLOT X} mine returned nothing: is there a return?", False),
    (made("x.a"), {}, ValueError("assignment destination is read-only"),
     "\N{BALLOT X} mine writes into what it is given: begin with a copy, np.array(...)", False),
    ({}, {}, OPEN, "\N{WHITE CIRCLE} open.", False),
    (made("return x"), {"asked": ["mine", "yours"]}, NameError("yours"),
     "\N{BALLOT X} yours is missing: the cell above makes mine and no more.", False),
    ({"mine": 2.0}, NUMBER, None, "\N{CHECK MARK} done. It adds up.", True),
    ({"mine": 3.0}, NUMBER, None, "\N{BALLOT X} not 2", False),
    ({"mine": 2 + 0j}, NUMBER | {"hidden": ""}, None, "\N{CHECK MARK} done. It adds up.", True),
    ({"mine": 2j}, NUMBER | {"hidden": ""}, None,
     "\N{BALLOT X} mine is a complex number: is there a root or a power of what is negative?", False),
    (made("return x"), {"ways": RIGHT_WAY}, AssertionError("twice"), "\N{BALLOT X} twice", False),
    (made("return x"), {"ways": RIGHT_WAY * 2}, AssertionError("twice"),
     "\N{BALLOT X} twice (mine: it is half of what it should be)", False),
    (made("return x * x + 7"), {"ways": RIGHT_WAY * 2}, AssertionError("twice"),
     "\N{BALLOT X} twice (mine: for x = 2 it is 11, and 4 is right)", False),
    (made("return x * x + 7"), {"ways": RIGHT_WAY * 2}, AssertionError("twice, not 11"),
     "\N{BALLOT X} twice, not 11", False),
    (made("return 2 * x + 1e-5"), {"ways": RIGHT_WAY * 2}, AssertionError("twice"),
     "\N{BALLOT X} mine is right to three digits, and all are asked for: return it without rounding, and no float32",
     False),
]  # fmt: skip


def test_an_interrupted_test_puts_no_older_answer_back(monkeypatch):
    """Who stops a hidden test that is slow stops what would have put the answer back as it was typed."""
    names: dict[str, Any] = {"x": [1.0]}
    record = {"tests": {"t": {"seen": "assert x > 0", "asked": ["x"]}}, "blanks": {}, "worked": {}}
    copy = bmlab.exercises.student_copy
    monkeypatch.setattr(copy, "_checks", lambda _: record)
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(user_ns=names))
    copy.before_cell(SimpleNamespace(raw_cell="assert x > 0"))
    assert names == {"x": 1.0}, "one number in a list is that number"
    copy.before_cell(info := SimpleNamespace(raw_cell="x = 3"))
    names["x"] = 3
    copy.after_cell(SimpleNamespace(info=info, error_in_exec=None, error_before_exec=None))
    assert names == {"x": 3}


@pytest.mark.parametrize(("names", "record", "error", "words", "is_right"), VERDICTS)
def test_a_verdict_on_an_answer_says_what_is_known_of_it(names, record, error, words, is_right):
    verdict = bmlab.exercises.student_copy._verdict(about(**record), error, names)
    assert verdict == (words, is_right)
