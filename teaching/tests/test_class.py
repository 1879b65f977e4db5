"""A class with every awkward case in it, graded in one command: everyone has the points they deserve.

`make test` grades one student a case, of a notebook with two short exercises, and without those that attack, which
test_teaching_walls.py has; `make test-class` grades 120 of notebook 01.
"""

import os
import re
import socket
import time
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("nbgrader")
pytest.importorskip("resource")  # no grading on Windows
from awkward_class import make_class
from small_course import lines_of, run_here, short_notebook, walled

from bmlab.teaching import grading
from bmlab.teaching.grading import grade

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
STUDENTS = int(os.environ.get("STUDENTS", "0"))  # a whole class: make test-class
SANDBOX = grading.sandbox.execute
KERNEL = ("import bmlab", "display(", "%timeit")
pytestmark = walled


def execute(sources, **limits):
    """Run in the sandbox what needs a kernel, all else here."""
    needs_kernel = any(word in source for source in sources for word in KERNEL)
    return (SANDBOX if needs_kernel else run_here)(sources, **limits)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The folder of a class that was graded, the class, and what grading said."""
    folder = tmp_path_factory.mktemp("class")
    source, outside = NOTEBOOKS / "01_theory.ipynb" if STUDENTS else short_notebook(folder), folder / "outside"
    outside.mkdir()
    (outside / "solutions.txt").write_text("the secret")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(outside / "socket"))
        door.listen()
        door.settimeout(0.1)
        made, said = make_class(folder, source, outside, STUDENTS), []
        options = {"seconds": 100 if STUDENTS else 40, "gigabytes": 4, "say": said.append}
        options["roster"] = folder / "roster.csv"
        began = time.monotonic()
        with pytest.MonkeyPatch.context() as patch:
            if not STUDENTS:
                (folder / "graded/course/warm").mkdir(parents=True)  # no caches: these exercises need none
                patch.setattr(grading.sandbox, "execute", execute)
            grade(source.parent, folder / "returned", folder / "graded", **options)
        print(f"{len(made.expected)} students in {time.monotonic() - began:.0f} s")
        with pytest.raises(TimeoutError):
            door.accept()
    return folder, made, said, options, source


def test_everyone_has_the_points_they_deserve(graded):
    folder, made, _, _, source = graded
    lines = {name.removeprefix("'"): row for name, row in lines_of(folder / "graded").items()}
    assert lines.keys() == {*made.expected, "absent", "(full marks)"}
    got = {name: float(lines[name][source.stem] or "nan") for name in made.expected}
    for name, points in made.expected.items():
        assert points == "any" or got[name] == points or (points is None and got[name] != got[name]), (name, got[name])


def test_who_has_no_points_has_a_sentence(graded):
    folder, made, *_ = graded
    lines = lines_of(folder / "graded")
    for name, points in made.expected.items():
        assert points is not None or lines[name]["remarks"], name
    assert lines["absent"]["remarks"] == "handed in nothing" and lines["absent"]["total"] == ""
    assert "essay.pdf is no notebook of this course" in lines["writer"]["remarks"]
    assert "larger than 50 MB" in lines["bomber"]["remarks"]
    assert "not answered: 1." in lines["student 01 blank"]["remarks"]


def test_nothing_outside_was_touched(graded):
    folder, *_ = graded
    assert (folder / "outside/solutions.txt").read_text() == "the secret"
    assert not list(folder.parent.glob("*.ipynb")) and not list(folder.glob("*.ipynb"))


def test_a_page_names_its_student_and_holds_nothing_that_acts(graded):
    folder, made, *_ = graded
    for page in (folder / "graded/feedback").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "default-src 'none'" in text and len(text) < 200_000 and "the secret" not in text
        assert not re.search(r"<script|<img|<[^>]* (on\w+|src)=|<[^>]*https?://(?!www\.w3\.org)", text), page
    assert "<math" in text
    pages = {page.parent.name for page in (folder / "graded/feedback").rglob("*.html")}
    assert pages == {name for name, points in made.expected.items() if points is not None}


def test_the_class_page_flags_what_a_teacher_should_look_at(graded):
    folder, made, *_ = graded
    text = (folder / "graded/class.html").read_text(encoding="utf-8")
    for name, flag in made.flags.items():
        assert re.search(rf"<td>{re.escape(name)}</td><td>\w+</td><td>[^<]*{re.escape(flag)}", text), name
    assert "(hardest)" in text and " times)</span>" in text


def test_platforms_can_take_back_what_they_delivered(graded):
    folder, _, _, _, source = graded
    with zipfile.ZipFile(folder / f"graded/feedback_{source.stem}.zip") as archive:
        names = set(archive.namelist())
    assert {
        f"obrienanna_4711_99_{source.stem}.html",
        f"Ann O'Brien_2001_assignsubmission_file_/{source.stem}.html",
    } <= names


def test_nothing_is_run_again_and_a_latecomer_adds_a_row(graded, monkeypatch, tmp_path):
    folder, made, _, options, source = graded
    monkeypatch.setattr(grading.sandbox, "execute", lambda *a, **k: pytest.fail("something was run again"))
    before = lines_of(folder / "graded")
    began = time.monotonic()
    grade(source.parent, folder / "returned", folder / "graded", **options)
    print(f"again in {time.monotonic() - began:.1f} s")
    assert lines_of(folder / "graded") == before
    (tmp_path / "latecomer").mkdir()
    (tmp_path / f"latecomer/{source.name}").write_bytes(made.data("blank"))
    monkeypatch.undo()
    grade(source.parent, tmp_path, folder / "graded", **options)
    assert lines_of(folder / "graded").keys() == before.keys() | {"latecomer"}
