"""A class with every awkward case in it, graded in one command: everyone has the points they deserve.

`make test` grades one student a case, of a notebook with two short exercises; `make test-class` 120 of notebook 01, or
of the one that NOTEBOOK names.
"""

import os
import re
import shutil
import time
from pathlib import Path

import pytest
from awkward_class import make_class
from small_course import lines_of, short_notebook, walled

from bmlab_teaching import grading
from bmlab_teaching.roster import read_roster
from bmlab_teaching.sandbox import Limits

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
STUDENTS = int(os.environ.get("STUDENTS", "0"))  # a whole class: make test-class
pytestmark = walled


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The folder of a class that was graded, the class, its notebook, and a function that grades it again."""
    folder = tmp_path_factory.mktemp("class")
    source = NOTEBOOKS / f"{os.environ.get('NOTEBOOK', '01_theory')}.ipynb" if STUDENTS else short_notebook(folder)
    made = make_class(folder, source, STUDENTS)
    if not STUDENTS:
        (folder / "graded/warm").mkdir(parents=True)  # no caches: these exercises need none

    def again(delivery=folder / "returned"):
        began = time.monotonic()
        limits = Limits(100 if STUDENTS else 40, 4)
        grading.grade(source.parent, delivery, folder / "graded", report=lambda line: None, limits=limits)
        return time.monotonic() - began

    print(f"{len(made.expected)} students in {again():.0f} s")
    return folder, made, source, again


def test_everyone_has_the_points_they_deserve(graded):
    folder, made, source, _ = graded
    lines = {name.removeprefix("'"): row for name, row in lines_of(folder / "graded").items()}
    assert lines.keys() == {*made.expected, "(full marks)"}
    got = {name: float(lines[name][source.stem] or "nan") for name in made.expected}
    for name, points in made.expected.items():
        assert got[name] == points or (points is None and got[name] != got[name]), (name, got[name])


def test_who_has_no_points_has_a_sentence(graded):
    folder, made, *_ = graded
    lines = lines_of(folder / "graded")
    for name, points in made.expected.items():
        assert points is not None or lines[name]["remarks"], name
    assert "essay.pdf: no notebook of this course" in lines["writer"]["remarks"]
    assert "larger than 30 MB" in lines["bomber"]["remarks"]
    assert "not answered: 1." in lines["student 01 blank"]["remarks"]
    assert "copies came; graded is " in lines["hasty"]["remarks"]


def test_no_zip_climbs_out_of_its_folder(graded):
    folder, *_ = graded
    assert not list(folder.parent.glob("*.ipynb")) and not list(folder.glob("*.ipynb"))


def test_a_page_names_its_student_and_holds_nothing_that_acts(graded):
    folder, made, *_ = graded
    for page in (folder / "graded/feedback").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "default-src 'none'" in text and len(text) < 200_000
        assert not re.search(r"<script|<img|<[^>]* (on\w+|src)=|<[^>]*https?://(?!www\.w3\.org)", text), page
    assert "<math" in text
    pages = {page.parent.name for page in (folder / "graded/feedback").rglob("*.html")}
    assert pages == {name for name, points in made.expected.items() if points is not None}


def test_nothing_is_read_or_run_again_and_a_latecomer_adds_a_row(graded, monkeypatch, tmp_path):
    folder, made, source, again = graded
    for name in ("read", "judge"):
        monkeypatch.setattr(grading, name, lambda *a, **k: pytest.fail("something was done again"))
    before = lines_of(folder / "graded")
    print(f"again in {again():.1f} s")
    assert lines_of(folder / "graded") == before
    monkeypatch.undo()
    (tmp_path / "latecomer").mkdir()
    (tmp_path / f"latecomer/{source.name}").write_bytes(made.data("right"))
    print(f"a latecomer in {again(tmp_path):.1f} s")
    after = lines_of(folder / "graded")
    assert after.keys() == before.keys() | {"latecomer"} and float(after["latecomer"][source.stem]) == made.kit.full


def test_an_interrupted_run_keeps_what_is_done_and_goes_on_from_there(graded, tmp_path):
    """Ctrl-C after the first student."""
    folder, made, source, _ = graded
    for student in ("ann", "bo", "cy"):
        (tmp_path / "returned" / student).mkdir(parents=True)
        (tmp_path / "returned" / student / source.name).write_bytes(made.data("right"))
    shutil.copytree(folder / "graded/warm", tmp_path / "graded/warm")

    def stop(line):
        if line.startswith("1 of"):
            raise KeyboardInterrupt

    grade = [source.parent, tmp_path / "returned", tmp_path / "graded"]
    (tmp_path / "class.csv").write_text("Student,Login,Grade\nAnn,ann,\nBo,bo,\nCy,cy,\nDi,di,\n", encoding="utf-8")
    with pytest.raises(KeyboardInterrupt):
        grading.grade(*grade, report=stop, limits=Limits(40), roster=read_roster(tmp_path / "class.csv"))
    lines = lines_of(tmp_path / "graded")
    waiting = [name for name in ("ann", "bo", "cy") if "not graded yet" in lines[name]["remarks"]]
    assert len(waiting) == 2 and all(not lines[name][source.stem] for name in waiting)
    assert lines["Di di"]["remarks"] == "nothing came" and len(lines) == 5
    messages = []
    grading.grade(*grade, report=messages.append, limits=Limits(40))
    lines = lines_of(tmp_path / "graded")
    assert not any("not graded yet" in line["remarks"] for line in lines.values())
    assert len(lines) == 5 and any(line.startswith("2 of 2") for line in messages)
