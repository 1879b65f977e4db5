"""What learning platforms deliver: who a file is from, which of several counts, and zips that mean no good."""

import io
import os
import unicodedata
import zipfile
from pathlib import Path, PurePosixPath

import nbformat
import pytest

pytest.importorskip("nbgrader")
pytest.importorskip("resource")  # no grading on Windows
from awkward_class import Kit, dumped, zipped
from small_course import short_notebook

from bmlab.teaching import deliveries
from bmlab.teaching.collecting import Handout, collect
from bmlab.teaching.course import without_solutions
from bmlab.teaching.deliveries import files, sender
from bmlab.teaching.matching import read_cells, rebuilt
from bmlab.teaching.slicing import lean

NAMES = ["01_theory", "02_exact_z"]


@pytest.mark.parametrize(
    "place, name, platform",
    [
        ("Ann O'Brien_2001_assignsubmission_file_/01_theory.ipynb", "Ann O'Brien", "moodle"),
        ("Ann O'Brien_2001_assignsubmission_file_01_theory.ipynb", "Ann O'Brien", "moodle"),
        ("obrienann_4711_99_01_theory-2.ipynb", "obrienann", "canvas"),
        ("obrienann_LATE_4711_99_01_theory.ipynb", "obrienann", "canvas"),
        ("Week 1_ann_attempt_2026-11-20-10-11-12_01_theory.ipynb", "ann", "blackboard"),
        ("inbound/ann+week1+2026-11-20 10:11:12.123 UTC+x/01_theory.ipynb", "ann", "nbgrader"),
        ("submitted/ann/week1/01_theory.ipynb", "ann", ""),
        ("Bo Li_7/late/01_theory (1).ipynb", "Bo Li_7", ""),
        ("cem_01_theory.ipynb", "cem", ""),
        ("cem-02_exact_z-Copy1.ipynb", "cem", ""),
        ("01_theory.ipynb", "", ""),
    ],
)
def test_the_sender_of_a_file_is_who_the_platform_says(place, name, platform):
    found = sender(PurePosixPath(place), NAMES)
    assert (found.name, found.platform) == (name, platform)


def test_dates_in_names_do_not_make_two_students_one():
    first, second = (sender(PurePosixPath(f"{who}_2026_11_01_theory.ipynb"), NAMES) for who in ("ann", "bo"))
    assert first.key != second.key


def test_names_are_composed_however_they_came():
    there, here = (sender(PurePosixPath(unicodedata.normalize(form, "José/x.ipynb")), NAMES) for form in ("NFD", "NFC"))
    assert there == here and len(here.name) == 4


@pytest.fixture
def kit(tmp_path):
    return Kit(short_notebook(tmp_path))


@pytest.fixture
def collected(tmp_path, kit):
    """A function that writes place -> bytes (or (bytes, time)) and collects them."""
    handouts = {"twice": Handout(kit.source, without_solutions(kit.source), [])}

    def run(**places):
        for place, data in places.items():
            path = tmp_path / "returned" / place
            path.parent.mkdir(parents=True, exist_ok=True)
            data, when = data if isinstance(data, tuple) else (data, 1_700_000_000)
            path.write_bytes(data)
            os.utime(path, (when, when))
        students, left_out = collect(tmp_path / "returned", handouts)
        return {student.name: student for student in students}, left_out

    return run


def test_two_of_a_name_stay_two_and_two_numbers_of_one_become_one(collected, kit):
    right, other = dumped(kit.answered()), dumped(nbformat.v4.new_notebook())
    found, _ = collected(
        **{
            "Ann Lee_2001_assignsubmission_file_/twice.ipynb": right,
            "Ann Lee_2002_assignsubmission_file_/twice.ipynb": right,
            "Bo Li_2003_assignsubmission_file_/twice.ipynb": right,
            "Bo Li_3003_assignsubmission_file_/other.ipynb": other,
        }
    )
    assert found.keys() == {"Ann Lee 2001", "Ann Lee 2002", "Bo Li"}


def test_the_latest_answered_attempt_counts(collected, kit):
    right, blank = dumped(kit.answered()), dumped(kit.blank)
    found, _ = collected(
        **{
            "ann/old/twice.ipynb": (right, 1_700_000_000),
            "ann/new/twice.ipynb": (dumped(kit.answered("first")), 1_700_090_000),
            "bo/twice.ipynb": (right, 1_700_000_000),
            "bo/twice (1).ipynb": (blank, 1_700_090_000),
        }
    )
    assert str(found["ann"].attempts["twice"].file.place) == "ann/new/twice.ipynb"
    assert str(found["bo"].attempts["twice"].file.place) == "bo/twice.ipynb"
    assert found["bo"].remarks == ["twice: more than one copy; graded is twice.ipynb"]


def test_whoever_handed_in_anything_has_a_row_and_a_remark(collected, kit, tmp_path):
    (tmp_path / "returned/link").mkdir(parents=True)
    (tmp_path / "returned/link/twice.ipynb").symlink_to(tmp_path / "sources/twice.ipynb")
    found, left_out = collected(
        **{"ann/essay.pdf": b"%PDF", "bo/twice.ipynb": b"{", "cy/twice.ipynb": dumped(kit.blank)[:-9], "notes.txt": b""}
    )
    remarks = {name: " ".join(student.remarks) for name, student in found.items()}
    assert "no notebook of this course" in remarks["ann"] and "link" in remarks["link"]
    assert all("cannot be read as a notebook" in remarks[name] for name in ("bo", "cy"))
    assert len(left_out) == 1 and "notes.txt" in left_out[0]


def test_a_zip_of_the_class_is_looked_into(tmp_path, kit):
    inner = {f"{who}_{k}_9_twice.ipynb": dumped(kit.answered()) for k, who in enumerate(("ann", "bo"), 10)}
    (tmp_path / "in").mkdir()
    (tmp_path / "in/submissions.zip").write_bytes(zipped(**inner))
    for folder in (tmp_path / "in", tmp_path / "in/submissions.zip"):
        assert {str(file.place) for file in files(folder)} == inner.keys()


def test_a_zip_leads_nowhere_and_holds_a_bearable_amount(tmp_path, monkeypatch):
    monkeypatch.setattr(deliveries, "ALL", 2**20)
    (tmp_path / "in/ann").mkdir(parents=True)
    (tmp_path / "in/bo.txt").write_text("so that the folder holds two")
    for name, inside in {
        "climbing": {"../../out.ipynb": b"{}", "/etc/out.ipynb": b"{}", "C:\\out.ipynb": b"{}"},
        "large": {"zeros": bytes(2**21)},
        "deep": {"a.zip": zipped(**{"b.zip": zipped(**{"c.zip": zipped(x=b"")})})},
    }.items():
        (tmp_path / f"in/ann/{name}.zip").write_bytes(zipped(**inside))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("x.ipynb", b"{}")
    (tmp_path / "in/ann/damaged.zip").write_bytes(out.getvalue().replace(b"{}", b"}}"))
    found = {str(file.place): file for file in files(tmp_path / "in")}
    assert all(place.startswith(("ann/", "bo.txt")) and ".." not in place for place in found)
    assert {"ann/climbing/out.ipynb", "ann/climbing/etc/out.ipynb"} <= found.keys()
    problems = " ".join(file.problem for file in found.values())
    assert "more than 500 MB" in problems and "cannot be read out of its zip" in problems
    assert not list(tmp_path.rglob("out.ipynb")) and not Path("/etc/out.ipynb").exists()
    assert not any("__MACOSX" in place or "._" in place for place in found)


def rebuild(kit, notebook):
    """A returned notebook put in order."""
    return rebuilt(kit.source, without_solutions(kit.source), read_cells(dumped(notebook)))


def test_what_is_run_is_what_the_grades_need_and_what_a_student_wrote(kit):
    kit.source.cells.insert(2, nbformat.v4.new_code_cell("costly = sum(range(10**9))"))
    notebook = kit.answered()
    notebook.cells.insert(2, nbformat.v4.new_code_cell("costly = sum(range(10**9))"))
    notebook.cells.append(nbformat.v4.new_code_cell("mine = 1"))
    found = rebuild(kit, notebook)
    run = list(found.run.values())
    assert "base = 1" in run and "mine = 1" in run and not any("costly" in source for source in run)
    notebook.cells[-1].source = "mine = costly"
    assert any("costly = " in source for source in rebuild(kit, notebook).run.values())


SET_UP = """\
import sys
import matplotlib.pyplot as plt
from bmlab import plot, widgets
sys.path.insert(0, "tables")
base = 1
"""


@pytest.mark.parametrize(
    "last, used, kept",
    [
        ("widgets.MachineView(base)", "base", "import sys\nsys.path.insert(0, 'tables')\nbase = 1"),
        ("print(base)", "base", "import sys\nsys.path.insert(0, 'tables')\nbase = 1\nprint(base)"),
        (
            "plot.field = 2",
            "base",
            "import sys\nfrom bmlab import plot\nsys.path.insert(0, 'tables')\nbase = 1\nplot.field = 2",
        ),
        ("", "plt", "import sys\nimport matplotlib.pyplot as plt\nsys.path.insert(0, 'tables')\nbase = 1"),
        ("!ls", "base", SET_UP + "!ls"),
    ],
)
def test_the_set_up_is_run_without_what_only_draws(last, used, kept):
    """Imports that nothing uses are left out, and a view in the last line; what is no Python stays as it is."""
    assert lean(SET_UP + last, {used}) == kept


def test_a_blank_handout_leaves_everything_open(kit):
    assert rebuild(kit, kit.blank).open == ["first", "double"]
    assert rebuild(kit, kit.answered("double")).open == ["first"]
