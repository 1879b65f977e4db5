"""Deliveries of learning platforms: the sender of a file, the copy that counts, and the cells that are run."""

import os
import re
import sys
import zipfile
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from awkward_class import Kit, dumped, zipped
from small_course import (
    LIMITS,
    RIGHT,
    TWICE,
    answered,
    graded,
    hand_in,
    harmless,
    lines_of,
    page_of,
    short_notebook,
    story_cells,
    walled,
)

from bmlab import widgets
from bmlab_teaching.cells import Cells, plain, python
from bmlab_teaching.children import Work, in_children
from bmlab_teaching.course import handout
from bmlab_teaching.deliveries import outermost, senders
from bmlab_teaching.grading import Copy, grade, kept_beside, read, stage, why
from bmlab_teaching.judging import Judge
from bmlab_teaching.marks import shortcuts
from bmlab_teaching.matching import Plan, plan
from bmlab_teaching.pages import calls
from bmlab_teaching.reading import File, Reader, TooMuch, cell_of, read_cells
from bmlab_teaching.slicing import names, needed_cells
from bmlab_teaching.working_copies import student_version

NAMES = ["01_theory", "02_exact_z"]


@pytest.mark.parametrize(
    "places, expected",
    [
        (["Ann O'Brien_2001_assignsubmission_file_/01_theory.ipynb"], {("2001", "Ann O'Brien")}),
        (["Bo_Li_2002_assignsubmission_file_01_theory.ipynb"], {("2002", "Bo_Li")}),
        (["obrienann_4711_99_01_theory-2.ipynb", "boli_LATE_4712_98_x.zip"], {("4711", "obrienann"), ("4712", "boli")}),
        (["Week 1_ann_attempt_2026-11-20-10-11-12_01_theory.ipynb"], {("ann", "ann")}),
        (["ann+week1+2026-11-20 10:11:12.123 UTC+x/01_theory.ipynb"], {("ann", "ann")}),
        (
            ["week1-octo/01_theory.ipynb", "Bo Li_7/late/x.ipynb"],
            {("week1-octo", "week1-octo"), ("Bo Li_7", "Bo Li_7")},
        ),
        (["cem_01_theory.ipynb", "di-02_exact_z-Copy1.ipynb"], {("cem", "cem"), ("di", "di")}),
        (["01_theory.ipynb"], {("01_theory", "01_theory")}),
        # one platform a delivery: who calls himself as another platform would is not taken for somebody else
        (["x_4711_9__2001_assignsubmission_file_/a.ipynb"], {("2001", "x_4711_9")}),
        (["ann/a.ipynb", "bo/a.ipynb", "ann_4711_9_a.ipynb"], {("ann", "ann"), ("bo", "bo"), ("ann_4711_9_a",) * 2}),
        # what a student chose comes behind: nobody is somebody else by the name of a file
        (["Mal_2003_assignsubmission_file_Ann_2001_assignsubmission_file_a.ipynb"], {("2003", "Mal")}),
        (["Week 1_mal_attempt_2026-11-20-10-11-12_x_ann_attempt_2026-11-20-10-11-12_a.ipynb"], {("mal", "mal")}),
        (["mal_4713_98_Ann_2001_assignsubmission_file.ipynb"], {("4713", "mal")}),
        (
            ["mal_4713_98_Ann_2001_assignsubmission_file_", "mal_4713_99_w_bo_attempt_2026-11-20-10-11-12"],
            {("4713", "mal")},
        ),
        (["mal_4713_98_ann_attempt_2026-11-20-10-11-12_a.ipynb"], {("4713", "mal")}),
        (
            [f"Week_1_{who}_attempt_2026-11-20-10-11-12_a.ipynb" for who in ("ann_lee", "bo_lee", "cy")],
            {("ann_lee", "ann_lee"), ("bo_lee", "bo_lee"), ("cy", "cy")},
        ),
        # a number is one person under any name, and a name alone is one in any spelling of its letters
        (["Li_7_assignsubmission_file_/a.ipynb", "Li_8_assignsubmission_file_/a.ipynb"], {("7", "Li"), ("8", "Li")}),
        (["Bo Li_7_assignsubmission_file_/a.ipynb", "Bo_7_assignsubmission_file_/b.ipynb"], {("7", "Bo Li")}),
        (["ANN_02_exact_z.ipynb", "Ann/a.ipynb"], {("ANN", "ANN")}),
        (["Weiß/a.ipynb", "Weiss/a.ipynb"], {("Weiß", "Weiß"), ("Weiss", "Weiss")}),
    ],
)
def test_the_sender_is_the_outermost_name(places, expected, tmp_path):
    for place in places:
        (tmp_path / "in" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / place).write_bytes(b"{}")
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        for place in places:
            archive.writestr(place, b"{}")
    for delivery in (tmp_path / "in", tmp_path / "in.zip"):
        assert {(one.id, one.name) for one in senders(delivery, NAMES)} == expected


def test_a_name_with_two_numbers_is_looked_at(tmp_path):
    """A display name of Moodle may hold another student's number; of a folder the platform wrote the end."""
    both = "Ann_2001_assignsubmission_file_x_2003_assignsubmission_file_"
    (tmp_path / both).mkdir()
    (tmp_path / "Bo_2002_assignsubmission_file_").mkdir()
    mallory, bo = sorted(senders(tmp_path, NAMES), key=lambda one: -len(one.name))
    assert (mallory.id, bo.id, bo.doubts) == ("2003", "2002", []) and "2001 and 2003" in mallory.doubts[0]


@harmless
def test_names_are_bytes_and_of_any_length_and_stop_nobodys_marks(tmp_path, kit):
    """Latin-1 on disk, UTF-8 that a zip does not declare, longer than a file system takes, alike but for the end."""
    blank, longest = dumped(kit.blank), 95 * "\u674e"
    returned, notebook = os.fsencode(tmp_path / "returned"), b"/twice.ipynb"
    for folder in (b"M\xfcller", "M\u00fcller 2".encode(), 199 * b"x" + b"1", 199 * b"x" + b"2", b"plain"):
        os.makedirs(os.path.join(returned, folder))
        with open(os.path.join(returned, folder) + notebook, "wb") as file:
            file.write(blank)
    with open(os.path.join(returned, b"M\xfcller/l\xf6sung.pdf"), "wb") as file:
        file.write(b"%PDF")
    os.makedirs(os.path.join(returned, b"writer"))
    with open(os.path.join(returned, b"writer/l\xf6sung.pdf"), "wb") as file:
        file.write(b"%PDF")
    rows = graded(tmp_path)
    assert {"M\u00fcller", "M\u00fcller 2", "plain", "writer"} < rows.keys() and len(rows) == 7
    assert "l\u00f6sung.pdf: no notebook of this course" in rows["writer"]["remarks"]
    moodle = {f"{who}_{k}_assignsubmission_file_" for k, who in ((2001, longest), (2002, longest), (2003, "Jos\u00e9"))}
    data = bytearray(zipped(**{f"{folder}/twice.ipynb": blank for folder in moodle}))
    for head, flags in ((b"PK\3\4", 7), (b"PK\1\2", 9)):  # names are UTF-8, and the zip does not say so
        for place in re.finditer(head, data):
            data[place.start() + flags] &= ~8
    (tmp_path / "in.zip").write_bytes(data)
    grade(
        tmp_path / "sources",
        tmp_path / "in.zip",
        tmp_path / "graded",
        report=lambda line: None,
        limits=LIMITS._replace(seconds=40),
    )
    rows = lines_of(tmp_path / "graded")
    assert rows["2003"]["student"] == "Jos\u00e9" and rows["2001"]["twice"] == rows["2002"]["twice"] == "0"
    with zipfile.ZipFile(tmp_path / "graded/feedback.zip") as archive:
        assert {name.partition("/")[0] for name in archive.namelist()} > moodle


def test_what_is_no_delivery_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "x.txt").write_text("x")
    with pytest.raises(ValueError, match="is no folder and no zip"):
        senders(tmp_path / "x.txt", NAMES)
    short_notebook(tmp_path)
    (tmp_path / "returned").mkdir()
    with pytest.raises(ValueError, match=r"STUDENT/NOTEBOOK\.ipynb"):
        graded(tmp_path)


def files(folder):
    return [*Reader().files_of([("", "", str(folder), [])])]


def test_of_folders_in_a_folder_only_files_are_read_and_links_are_told(tmp_path):
    (tmp_path / "ann/week 1/.git").mkdir(parents=True)
    (tmp_path / "ann/week 1/twice.ipynb").write_bytes(b"{}")
    (tmp_path / "ann/week 1/.git/config").write_bytes(b"x")
    (tmp_path / "ann/link.ipynb").symlink_to(tmp_path / "ann/week 1/twice.ipynb")
    found = {file.name: (file.data, file.problem) for file in files(tmp_path / "ann")}
    assert found == {"twice.ipynb": (b"{}", ""), "link.ipynb": (b"", "it is a link, or no file")}


def test_of_a_zip_whoever_is_outermost_has_sent_its_files_and_no_folder_or_system_has(tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.mkdir("ann")
        ours = "__MACOSX/ann/._a.ipynb", ".DS_Store", "Thumbs.db", "DESKTOP.INI", ".Trash-1000/a.ipynb"
        for name in ("ann/a.ipynb", "ann/b/c.csv", *ours, "bo_a.ipynb"):
            archive.writestr(name, "")
    found = {one.name: (one.members, one.is_folder) for one in outermost(tmp_path / "all.zip")}
    assert found == {"ann": (["ann/a.ipynb", "ann/b/c.csv"], True), "bo_a.ipynb": (["bo_a.ipynb"], False)}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("limit, sizes, read", [("MAX_DELIVERY_BYTES", [4000, 4000], 1), ("MAX_PARTS", [1, 1, 1], 2)])
def test_what_comes_after_too_much_is_not_read(packed, limit, sizes, read, tmp_path, monkeypatch):
    monkeypatch.setattr(f"bmlab_teaching.reading.{limit}", 6000 if limit == "MAX_DELIVERY_BYTES" else 2)
    (tmp_path / "ann").mkdir()
    for k, size in enumerate(sizes):
        (tmp_path / f"ann/{k}.csv").write_bytes(b"x" * size)
    if packed:
        with zipfile.ZipFile(tmp_path / "all.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted((tmp_path / "ann").iterdir()):
                archive.write(file, file.name)
        (tmp_path / "ann").rename(tmp_path / "unpacked")
        (tmp_path / "ann").mkdir()
        (tmp_path / "all.zip").rename(tmp_path / "ann/all.zip")
        monkeypatch.setattr("bmlab_teaching.reading.MAX_PARTS", 3 if limit == "MAX_PARTS" else 2000)  # the zip, too
    found = []
    with pytest.raises(TooMuch, match="what came after was not read"):
        found.extend(iter_noting(Reader().files_of([("", "", str(tmp_path / "ann"), [])]), found))
    assert len(found) == read


def iter_noting(parts, found):
    """Note each part as it comes."""
    for part in parts:
        found.append(part)
    return ()


def test_of_two_files_of_one_minute_the_later_is_the_later(tmp_path):
    for name, second in (("b.ipynb", 1_000_000_000), ("a.ipynb", 1_000_000_007)):
        (tmp_path / name).write_bytes(b"{}")
        os.utime(tmp_path / name, (second, second))
    assert max(files(tmp_path), key=lambda file: file.order).name == "a.ipynb"


def test_a_file_that_its_zip_does_not_give_is_told_by_its_name(tmp_path):
    with zipfile.ZipFile(tmp_path / "work.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("deep/twice.ipynb", b"x" * 1000)
    damaged = bytearray((tmp_path / "work.zip").read_bytes())
    start = damaged.index(b"twice.ipynb") + len(b"twice.ipynb")
    damaged[start : start + 8] = b"\xff" * 8
    (tmp_path / "work.zip").write_bytes(damaged)
    (found,) = files(tmp_path)
    assert (
        found.name == "twice.ipynb" and not found.data and found.problem.startswith("it cannot be read out of its zip")
    )


@pytest.fixture
def kit(tmp_path):
    return Kit(short_notebook(tmp_path))


def imported_by_reading(*given):
    """Whether a student was read, and the modules that this imported, tables of letters aside."""
    before = set(sys.modules)
    return [bool(read(*given)["plans"]), [name for name in {*sys.modules} - before if "encodings." not in name]]


def test_a_process_that_reads_a_student_has_nothing_left_to_import(tmp_path, kit):
    """Four tenths of a second for each student, else."""
    (tmp_path / "in.zip").write_bytes(zipped(ann_10_9_twice=dumped(kit.answered())))
    given = (
        senders(tmp_path / "in.zip", ["twice"])[0],
        {"twice": handout(tmp_path / "sources/twice.ipynb")},
        tmp_path / "kept",
    )
    works = [Work("ann", imported_by_reading, given)]
    assert [*in_children(works, cpu=60, gigabytes=4, wall=600)] == [("ann", [True, []], "")]


@harmless
def test_a_blank_copy_that_comes_later_replaces_nothing(tmp_path, kit):
    for data in (kit.answered(), kit.blank):
        (tmp_path / "returned/ann").mkdir(parents=True, exist_ok=True)
        (tmp_path / "returned/ann/twice.ipynb").write_bytes(dumped(data))
        lines = graded(tmp_path)
    assert lines["ann"]["twice"] == "3" and "a blank copy that came later was left aside" in lines["ann"]["remarks"]


def rebuild(kit, tmp_path, notebook):
    """A returned notebook put in order."""
    nbformat.write(kit.source, tmp_path / "sources/twice.ipynb")
    return plan(handout(tmp_path / "sources/twice.ipynb"), read_cells(dumped(notebook)))


def test_what_is_run_is_what_the_grades_need_and_what_a_student_wrote(kit, tmp_path):
    kit.source.cells.insert(2, nbformat.v4.new_code_cell("costly = sum(range(10**9))"))
    notebook = kit.answered()
    notebook.cells.insert(2, nbformat.v4.new_code_cell("costly = sum(range(10**9))"))
    notebook.cells.append(nbformat.v4.new_code_cell("mine = 1"))
    run = [source for _, source, _ in rebuild(kit, tmp_path, notebook).steps]
    assert "base = 1" in run and "mine = 1" in run and not any("costly" in source for source in run)
    notebook.cells[-1].source = "mine = costly"
    assert any("costly = " in source for _, source, _ in rebuild(kit, tmp_path, notebook).steps)


@pytest.mark.parametrize("typed", ['"4711"', "4711", "'4711'", "ann"])
def test_a_number_without_quotes_has_the_values_of_its_student(typed, tmp_path):
    """The line fails where the student works; the numbers that were asked for are those of 4711 all the same."""
    judge = Judge.__new__(Judge)
    about = handout(short_notebook(tmp_path))
    judge.handout, judge.number = about._replace(referee=[("run", "x = 1\nstudent = '0'\ny = 2")]), typed
    name = typed.strip("'\"")
    assert judge.of_referee() == [("run", f"x = 1\nstudent = {name!r}\ny = 2")]


@pytest.mark.parametrize("typed, kept", [('"4711"', '"4711"'), ("4711  # me", "'4711'"), ("__import__('os')", "")])
def test_the_number_that_was_typed_is_data(kit, tmp_path, typed, kept):
    notebook = kit.answered()
    notebook.cells.insert(1, nbformat.v4.new_code_cell(f"student = {typed}"))
    found = rebuild(kit, tmp_path, notebook)
    assert found.student == kept and (("run", "student = '4711'", "") in found.steps) == (typed[0] == "4")


SET_UP = """\
import sys
import matplotlib.pyplot as plt
import numpy as np
from bmlab import plot, widgets
sys.path.insert(0, "tables")
base = np.eye(2)
"""
FIRST = "import sys\nimport numpy as np\nsys.path.insert(0, 'tables')\nbase = np.eye(2)"


@pytest.mark.parametrize(
    "more, kept",
    [
        ("widgets.MachineView(base)", ""),
        ("print(base)\nplt.plot(base)", ""),
        ("other = base + 1\nassert other[0] == 1", ""),
        ("base[0] = 1", "\nbase[0] = 1"),
        ("base.x[0].sort()", "\nbase.x[0].sort()"),
        ("np.fill_diagonal(base, 0)", "\nnp.fill_diagonal(base, 0)"),
        ("def f(x):\n    return x\nf(base)", "\ndef f(x):\n    return x\nf(base)"),
        ("if sys:\n    base = 3", "\nif sys:\n    base = 3"),
        ("for k in range(3):\n    base = base + k", "\nfor k in range(3):\n    base = base + k"),
        ("rng = np.random.default_rng(0)\na = rng.random()\nbase = rng.random()",
         "\nrng = np.random.default_rng(0)\na = rng.random()\nbase = rng.random()"),
    ],
)  # fmt: skip
def test_of_the_story_those_statements_are_run_that_make_or_change_what_is_asked_for(more, kept):
    found, unknown = needed_cells([SET_UP + more, "base"], [False, True])
    whole = "base = np" not in kept and "base = rng" in kept  # made anew
    expected = FIRST.replace("\nbase = np.eye(2)", "") if whole else FIRST
    assert found[0] == expected + kept and not unknown


def test_an_answer_without_its_label_and_its_question_is_known_by_the_name_it_makes(kit, tmp_path):
    """Moved to the top, behind a cell of one's own, without metadata, and the question deleted."""
    notebook = kit.answered()
    (place,) = [k for k, cell in enumerate(notebook.cells) if cell.source.startswith("def double")]
    answer = nbformat.v4.new_code_cell(notebook.cells.pop(place).source)
    del notebook.cells[place - 1]
    notebook.cells[0:0] = [answer, nbformat.v4.new_markdown_cell("mine")]
    steps = rebuild(kit, tmp_path, notebook).steps
    assert [name for kind, source, name in steps if kind == "run" and source.startswith("def double")] == ["double"]


def test_what_is_no_python_is_run_as_it_is():
    assert needed_cells(["$ base", "base"], [False, True])[0] == {1: "base"}
    assert names("$ base").needed == {"base"}
    with pytest.raises(SyntaxError, match=r"\(this cell, line 2\)"):
        python("x = 1\n$ base")


@pytest.mark.parametrize(
    "source", ["x = 1\n%timeit x", "!ls\nx = 1", "x = 1\nprint?", "files = !ls\nx = 1", "%%time\nx = 1"]
)
def test_magic_lines_make_nothing(source):
    assert names(source).made == {"x"}


@pytest.mark.parametrize(
    "source",
    [
        ">>> y = 0\n>>> for k in range(3):\n...     y += 1\n>>> x = y - 2",
        "    x = 1\n    for _ in range(x):\n        x = 1",
        "async def one():\n    return 1\nx = await one()",
        "    y = 1\n    %timeit y\n    x = y",
        "x = 1\nx = int(input('x = '))",
    ],
)
def test_a_cell_is_run_as_a_notebook_takes_it(source, monkeypatch):
    """With prompts that were pasted, with a common indent, with await; what asks a person is left out."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # which the cells replace
    monkeypatch.setattr("builtins.input", lambda words: eof())
    student = Cells(60, 0, None, None)
    student.run(source)
    assert student.get(["x"]) == {"x": {"value": "1"}} and "x" in names(source).made


def eof():
    """What input() does if nobody is at the keyboard."""
    raise EOFError("EOF when reading a line")


def test_each_cell_of_the_handout_may_stand_at_any_place(tmp_path):
    """Story, answers and tests: what is run makes what the tests ask for, wherever a cell was moved."""
    later = "assert base == 1\nbase_again = base + later_on"
    more = [nbformat.v4.new_code_cell("later_on = base"), *story_cells()[1:], nbformat.v4.new_code_cell(later)]
    kit = Kit(short_notebook(tmp_path, more=more))
    about, whole = handout(tmp_path / "sources/twice.ipynb"), kit.answered()
    places = range(len(whole.cells))
    for start, end in [(start, end) for start in places for end in places if start != end]:
        notebook = deepcopy(whole)
        notebook.cells.insert(end, notebook.cells.pop(start))
        here, tested = {"widgets": widgets}, []
        for kind, source, name in plan(about, read_cells(dumped(notebook))).steps:
            exec(source if kind == "run" else about.tests[name].source, here)
            tested += [name] * (kind == "test")
        assert sorted(tested) == sorted(about.tests), (start, end)


def passed_in_order(about, notebook):
    """The tests that pass if the planned cells run from top to bottom, and the answers that are taken for open."""
    here, passed, found = {"widgets": widgets}, [], plan(about, read_cells(dumped(notebook)))
    for kind, source, name in found.steps:
        with suppress(Exception):
            exec(source if kind == "run" else about.tests[name].source, here)
            passed += [name] * (kind == "test")
    return sorted(passed), [name for name in found.open if name in about.made and about.tests.get(f"test_{name}")]


@pytest.mark.parametrize("own", ["left", "emptied", "deleted", "a word"])
@pytest.mark.parametrize("asked", [["double"], ["first", "double"]], ids=", ".join)
def test_an_answer_counts_in_whatever_cell_it_stands(tmp_path, own, asked):
    """Beside another answer, in a test, in a cell of the story, in a new one; its own cell may be as it was or gone."""
    kit = Kit(short_notebook(tmp_path, more=story_cells()))
    about = handout(tmp_path / "sources/twice.ipynb")
    for place in range(len(kit.blank.cells) + 1):
        notebook = kit.answered()
        cells = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") in asked]
        texts = [cell.source for cell in cells]
        stubs = [cell.source for cell in kit.blank.cells if cell.metadata.get("nbgrader", {}).get("grade_id") in asked]
        notebook.cells.insert(len(kit.blank.cells), nbformat.v4.new_code_cell("mine = 1"))
        target = notebook.cells[place]
        if target.cell_type != "code" or target in cells:
            continue
        for cell, stub in zip(cells, stubs, strict=True):
            cell.source = {"left": stub, "emptied": "", "deleted": stub, "a word": "# it stands elsewhere"}[own]
        target.source = "\n".join([*texts, target.source])
        if own == "deleted":
            notebook.cells = [cell for cell in notebook.cells if cell not in cells]
        assert passed_in_order(about, notebook) == (sorted(about.tests), []), (place, target.source)


def test_nobody_is_accused_of_what_another_solution_in_the_cell_calls(tmp_path):
    """Two answers in one cell: a call in the solution of one is no shortcut of the other."""
    exact = "### BEGIN SOLUTION\nlog_z = bmlab.exact(bmlab.toy()).log_z.value\n### END SOLUTION"
    about = handout(short_notebook(tmp_path, [*TWICE, ("log_z", exact, "assert log_z > 0", [])]))
    both = f"{RIGHT['double']}\nlog_z = bmlab.exact(bmlab.toy()).log_z.value"
    for double, accused in ((both, []), (both.replace("exact", "gibbs"), ["double", "log_z"])):
        texts = {"first": "first = 1", "double": double, "log_z": double}
        answers = {name: {"source": text, "calls": calls(text)} for name, text in texts.items()}
        assert [one.answer for one, _ in shortcuts(about, {"answers": answers})] == accused


def test_a_call_that_stands_in_the_solution_of_another_exercise_alone_is_a_shortcut(tmp_path):
    exact = "### BEGIN SOLUTION\nlog_z = bmlab.exact(bmlab.toy()).log_z.value\n### END SOLUTION"
    about = handout(short_notebook(tmp_path, [*TWICE, ("log_z", exact, "assert log_z > 0", [])]))
    own = "log_z = bmlab.exact(bmlab.toy()).log_z.value"
    texts = {"first": "first = 1", "double": "def double(x):\n    return bmlab.exact(x)", "log_z": own}
    answers = {name: {"source": text, "calls": calls(text)} for name, text in texts.items()}
    assert [(one.answer, called) for one, called in shortcuts(about, {"answers": answers})] == [
        ("double", ["bmlab.exact"])
    ]


def test_files_lie_as_their_notebook_sees_them_and_where_there_are_none_there_is_no_folder(tmp_path):
    assert kept_beside(tmp_path / "none", [], {()}) == "" and not (tmp_path / "none").exists()
    places = {("week 1",): "a.csv", ("week 1", "data"): "b.csv", ("week 1", "parts"): "one.py", ("else",): "c.csv"}
    files = [File(name, name.encode(), "", (), folders) for folders, name in places.items()]
    found = kept_beside(tmp_path / "kept", files, {("week 1",)})
    lie = {str(one.relative_to(found)): one.read_bytes() for one in Path(found).rglob("*") if one.is_file()}
    beside = {"a.csv", "b.csv", "c.csv"}  # of what lies deeper a copy lies beside the notebook, unless it is a module
    assert lie == {one: one.split("/")[-1].encode() for one in {"data/b.csv", "parts/one.py", *beside}}
    assert all(one.stat().st_mode & 0o777 == 0o444 for one in Path(found).rglob("*") if one.is_file())


@pytest.mark.parametrize(
    "source, imported",
    [
        ("import numpy as np, os.path", {"np", "os"}),
        ("from scipy import sparse as many, linalg", {"many", "linalg"}),
        ("import numpy.linalg\nif x:\n    y = 1", {"numpy"}),
    ],
)
def test_an_import_makes_the_name_that_it_is_called_by(source, imported):
    assert names(source).imported == imported and imported <= names(source).made


def test_an_open_answer_stays_open_whatever_else_is_written(kit, tmp_path):
    notebook = kit.answered("first", after="\nother = 1\ndef triple(x):\n    return 3 * x")
    notebook.cells[-1].source += "\nother = 2"
    about = handout(tmp_path / "sources/twice.ipynb")
    assert passed_in_order(about, notebook) == (["test_first"], ["double"])


BLANK_CELL = "@widgets.blank\ndef my_size(x):\n    {}"


@pytest.mark.parametrize(
    "wrong",
    ["return x", "return (", "raise KeyError", "return my_size(x)", "raise NotImplementedError()", "my_size = 7"],
)
@pytest.mark.parametrize("place", ["its own cell", "another answer", "a new cell", "left out"])
def test_a_wrong_blank_of_the_story_costs_no_point_in_a_right_answer(tmp_path, wrong, place):
    """In a copy its name means the package's version, unless it is right: here too."""
    story, (hole, *_) = story_cells()[:1], [story_cells()[1]]
    path = short_notebook(tmp_path, more=())
    source = nbformat.read(path, 4)
    source.cells[2:2] = [*story, hole]
    nbformat.write(source, path)
    kit, about = Kit(path), handout(path)
    notebook = kit.answered()
    (blank,) = [cell for cell in notebook.cells if "my_size" in cell.source]
    text = BLANK_CELL.format(wrong)
    for cell in notebook.cells:
        if cell.source.startswith("def double"):
            cell.source = "def double(x):\n    return 2 * (my_size(x) if x > 0 else -my_size(x))"
            cell.source += f"\n{text.replace('@widgets.blank', '')}" * (place == "another answer")
    if place == "its own cell":
        blank.source = text
    elif place == "a new cell":
        notebook.cells.insert(notebook.cells.index(blank) + 1, nbformat.v4.new_code_cell(text))
    else:
        notebook.cells.remove(blank)
    if place == "another answer" and wrong == "return (":
        pytest.skip("no Python: the answer is none, either")
    assert passed_in_order(about, notebook)[0] == ["test_double", "test_first"]


def test_a_right_blank_with_more_arguments_is_the_students_own(tmp_path):
    """The cells that a copy leaves them are graded."""
    path = short_notebook(tmp_path, more=story_cells()[:2])
    source = nbformat.read(path, 4)
    source.cells[2:2] = source.cells[-2:]
    source.cells = source.cells[:-2]
    nbformat.write(source, path)
    notebook = Kit(path).answered()
    for cell in notebook.cells:
        if "my_size" in cell.source:
            cell.source = "@widgets.blank\ndef my_size(x, twice=1):\n    return twice * abs(x)"
        if cell.source.startswith("def double"):
            cell.source = "def double(x):\n    return my_size(x, 2) if x > 0 else -my_size(x, twice=2)"
    assert passed_in_order(handout(path), notebook)[0] == ["test_double", "test_first"]


@pytest.mark.parametrize("what", ["cases", "slips"])
def test_other_trials_of_a_blank_are_another_course(tmp_path, what):
    """A blank stands in for itself only if it is right in its trials: with others, marks are made again."""
    path = short_notebook(tmp_path, more=story_cells())
    before, source = handout(path).digest, nbformat.read(path, 4)
    (blank,) = [cell for cell in source.cells if "def my_size" in cell.source]
    blank.metadata[what] = {"cases": "[rng.uniform()]", "slips": {"return x": "negative numbers keep their sign"}}[what]
    nbformat.write(source, path)
    assert handout(path).digest != before


ELSEWHERE = {  # what works where a student works, and not here -> code above an answer, files beside it
    "a drive": (
        "from google.colab import drive\ndrive.mount('/content/drive')\nimport os\nos.chdir('/content/drive')",
        {},
    ),
    "a package": ("!pip install seaborn" + "\nimport seaborn as sns\nsns.set_theme()\n%matplotlib inline", {}),
    "a download": ("import urllib.request\nurllib.request.urlretrieve('http://127.0.0.1/scale.csv', 'scale.csv')", {}),
    "a person": ("name = input('Your name? ')\nprint(name)", {}),
    "a package of their own": ("from parts.one import one", {"parts/__init__.py": "", "parts/one.py": "one = 1"}),
    "a table in a folder": ("one = float(open('data/scale.csv').read())", {"data/scale.csv": "1.0"}),
    "a module": ("from helpers import one", {"helpers.py": "one = 1"}),
    "a table": ("one = float(open('scale.csv').read())", {"scale.csv": "1.0"}),
}


@harmless
@pytest.mark.parametrize("case", ELSEWHERE)
def test_a_line_that_cannot_run_here_takes_nothing_else_with_it_and_files_travel(case, tmp_path):
    source, files = ELSEWHERE[case]
    more = "base * one" if files else "base"
    blank = student_version(short_notebook(tmp_path))
    hand_in(tmp_path / "returned", "ann", "twice", answered(blank, RIGHT | {"first": f"{source}\nfirst = {more}"}))
    for name, text in files.items():
        (tmp_path / "returned/ann" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "returned/ann" / name).write_text(text)
    assert graded(tmp_path)["ann"]["twice"] == "3"
    page = page_of(tmp_path, "ann")
    assert files or "That line cannot run here and was left out" in page


@walled
def test_files_are_read_only_change_a_mark_with_them_and_reach_nobody_else(tmp_path):
    blank = student_version(short_notebook(tmp_path))
    writes = "open('scale.csv', 'w').write('2')\nfirst = base"
    for student, first in (("ann", "first = float(open('scale.csv').read())"), ("bo", writes), ("cy", writes)):
        hand_in(tmp_path / "returned", student, "twice", answered(blank, RIGHT | {"first": first}))
    for student in ("ann", "bo"):
        (tmp_path / f"returned/{student}/scale.csv").write_text("1")
    lines = graded(tmp_path)
    assert [lines[student]["twice"] for student in ("ann", "bo", "cy")] == ["3", "2", "3"]
    (tmp_path / "returned/ann/scale.csv").write_text("7.5")
    assert graded(tmp_path)["ann"]["twice"] == "2"


@harmless
def test_a_cell_that_writes_a_file_is_a_file_to_import(tmp_path):
    blank = student_version(short_notebook(tmp_path))
    own = answered(blank, RIGHT | {"first": "from helper import one\nfirst = base * one"})
    own.cells.insert(1, nbformat.v4.new_code_cell("%%writefile helper.py\none = 1"))
    hand_in(tmp_path / "returned", "ann", "twice", own)
    assert graded(tmp_path)["ann"]["twice"] == "3"


def test_what_is_read_in_another_form_or_not_at_all_has_a_sentence(tmp_path):
    """UTF-16 and folders with a dot are read; other files get a sentence that says what to send."""
    source = short_notebook(tmp_path)
    text = nbformat.writes(answered(student_version(source)))
    folder = tmp_path / "returned/ann/.hidden"
    folder.mkdir(parents=True)
    (folder / "twice.ipynb").write_bytes(text.encode("utf-16"))
    for student, name, data in (("bo", "work.tar.gz", b"x"), ("cy", "twice.ipynb", b" " * (30 * 2**20 + 1))):
        (tmp_path / "returned" / student).mkdir()
        (tmp_path / "returned" / student / name).write_bytes(data)
    found = {
        one.name: read(one, {"twice": handout(source)}, tmp_path / "kept")
        for one in senders(tmp_path / "returned", ["twice"])
    }
    assert found["ann"]["plans"] and not found["ann"]["remarks"]
    assert "packed in a way that is not read; a zip is" in found["bo"]["remarks"][0]
    assert "larger than 30 MB" in found["cy"]["remarks"][0] and "clear the outputs" in found["cy"]["remarks"][0]


@pytest.mark.parametrize("level, signs", [(None, "#"), (1, "#"), (3, "###"), ("2", "##"), (9, "######")])
def test_a_heading_of_an_old_format_is_one_of_today_and_code_is_read_by_its_older_name(level, signs):
    heading = {"cell_type": "heading", "source": ["Why", "?"]} | ({"level": level} if level else {})
    assert cell_of(heading).source == f"{signs} Why?"
    assert cell_of({"cell_type": "code", "input": "x = 1"})[:2] == ("code", "x = 1")


def test_a_cell_stops_at_a_misspelt_name_and_goes_past_what_is_missing_here(monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # which the cells replace
    student = Cells(60, 0, None, None)
    assert student.run("first = 1\nsecond = frist\nthird = 3")["error"]["kind"] == "NameError"
    error = student.run("import no_such_package as missing\nfourth = missing.one()\nfifth = 5")["error"]
    assert error["kind"] == "ModuleNotFoundError" and "was left out" in error["words"]
    assert {name: name in student.space for name in ("first", "second", "third", "fourth", "fifth")} == {
        "first": True, "second": False, "third": False, "fourth": False, "fifth": True,
    }  # fmt: skip


def test_what_a_statement_did_not_make_and_what_is_no_data_is_not_kept(monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    student = Cells(60, 0, None, None)
    found = student.keep("x = 1\ny = x / 0", ["x", "y"])
    assert [*found["values"]] == ["x"] and found["error"]["kind"] == "ZeroDivisionError"
    found = student.keep("def f():\n    return 1\nz = [1.5]", ["f", "z"])
    assert [*found["values"]] == ["z"] and not found["error"] and found["seconds"] >= 0
    found = student.keep("import bmlab\nproven = {('eggs', 1): [bmlab.Bounded(0.5, lower=0, upper=1)]}", ["proven"])
    (bounded,) = plain(found["values"]["proven"])["eggs", 1]  # a float, and more than a float
    assert (bounded.value, bounded.stderr, bounded.lower, bounded.upper) == (0.5, 0, 0, 1)


@pytest.mark.parametrize("asked", [True, False])
def test_a_judge_ends_the_submission_and_its_referee_if_there_was_one(asked):
    ended: list[str] = []
    both: Any = SimpleNamespace()
    both.student = SimpleNamespace(close=lambda: ended.append("submission"))
    both.referee = SimpleNamespace(close=lambda: ended.append("referee")) if asked else None
    Judge.close(both)
    assert ended == ["submission"] + ["referee"] * asked


def test_of_equal_times_the_name_decides_and_says_so():
    assert [stage(name) for name in ("hw_old.ipynb", "hw.ipynb", "hw_final2.ipynb", "cold.ipynb")] == [-1, 0, 1, 0]
    copies = sorted(
        Copy(True, "", (1,), stage(name), (0, name), name, Plan([], {}, [], "")) for name in ("a_final", "b_old", "c")
    )
    assert copies[-1].name == "a_final" and why(copies[-2], copies[-1], 3).endswith(
        "a_final: their times are equal, and its name says so"
    )
    late, blank = copies[1]._replace(when=(2,)), copies[1]._replace(answers=False)
    assert "c: it came last" in why(copies[-1], late, 2) and "it alone has answers" in why(blank, late, 2)


def read_of(folder, kit, files):
    """What is read of a student whose files are of one time."""
    for name, data in files.items():
        (folder / "returned/ann").mkdir(parents=True, exist_ok=True)
        (folder / "returned/ann" / name).write_bytes(data)
        os.utime(folder / "returned/ann" / name, (1_700_000_000, 1_700_000_000))
    (one,) = senders(folder / "returned", ["twice"])
    return read(one, {"twice": handout(folder / "sources/twice.ipynb")}, folder / "kept")


BROKEN = "broken.ipynb: it cannot be read as a notebook"
PACKED = "work.rar: it is packed in a way that is not read; a zip is, and the notebook itself"
NOT_OURS = [f"{name}: no notebook of this course" for name in ("essay.pdf", "other.ipynb")]
OTHERS = {"essay.pdf": b"%PDF", "broken.ipynb": b"{", "other.ipynb": b'{"cells": []}', "work.rar": b"x"}


def test_of_what_is_no_notebook_of_the_course_one_is_told_if_it_was_meant_to_be_or_nothing_else_came(kit, tmp_path):
    found = read_of(tmp_path, kit, OTHERS)
    assert found == {"remarks": [BROKEN, *NOT_OURS, PACKED], "plans": {}} and not (tmp_path / "kept").exists()
    found = read_of(tmp_path, kit, {"twice.ipynb": dumped(kit.answered()), "helper.py": b"x = 1"})
    assert found["remarks"] == [BROKEN] and [*found["plans"]] == ["twice"]
    assert {one.name for one in (tmp_path / "kept").iterdir()} == {"essay.pdf", "helper.py"}
    (plan,) = found["plans"].values()
    assert (plan["outer"], plan["beside"]) == ("ann", str(tmp_path / "kept"))
    assert [(name, one["open"]) for name, one in plan["answers"].items()] == [("first", False), ("double", False)]


def test_at_most_nine_remarks_are_made_and_none_twice(kit, tmp_path):
    found = read_of(tmp_path, kit, {f"{k:02d}.pdf": b"%PDF" for k in range(12)})
    assert found["remarks"] == [f"{k:02d}.pdf: no notebook of this course" for k in range(9)]


@pytest.mark.parametrize(
    ("blank", "counts", "reason"),
    [
        ("twice.ipynb", "twice_old.ipynb", "it alone has answers"),
        (None, "twice.ipynb", "their times are equal, and its name says so"),
    ],
)  # fmt: skip
def test_of_two_copies_the_one_that_counts_is_named_with_the_reason(blank, counts, reason, kit, tmp_path):
    copies = {
        name: dumped(kit.blank if name == blank else kit.answered()) for name in ("twice.ipynb", "twice_old.ipynb")
    }
    found = read_of(tmp_path, kit, copies)
    assert found["remarks"] == [f"twice: 2 copies came; graded is {counts}: {reason}"]


def test_of_an_answer_20000_letters_are_kept_and_its_calls_and_colours_if_it_is_code(kit, tmp_path):
    long = f"first = bmlab.exact(base)  # {'x' * 30_000}"
    found = read_of(tmp_path, kit, {"twice.ipynb": dumped(answered(kit.blank, RIGHT | {"first": long}))})
    answers = found["plans"]["twice"]["answers"]
    assert answers["first"]["source"] == long[:20_000] and answers["first"]["calls"] == ["bmlab.exact"]
    assert '<div class="code">' in answers["first"]["html"] and answers["double"]["calls"] == []
    assert answers["first"]["words"] != answers["double"]["words"] and answers["first"]["shape"] == ""
