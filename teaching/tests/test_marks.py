"""Marks as a teacher uses them: late policy, rosters, gradebooks, marks by hand, an interrupted run."""

import csv
import os

import nbformat
import pytest

pytest.importorskip("nbgrader")
pytest.importorskip("resource")  # no grading on Windows
from awkward_class import Kit, dumped
from small_course import answered, api, hand_in, lines_of, run_here, short_notebook, story_cells

from bmlab.teaching import grading
from bmlab.teaching.course import TEXT_STUB
from bmlab.teaching.grading import grade
from bmlab.teaching.handouts import student_version
from bmlab.teaching.looking import flags
from bmlab.teaching.pages import solutions
from bmlab.teaching.roster import matched, read_roster
from bmlab.teaching.sheets import late_policy
from bmlab.teaching.working_copies import worth

ROSTER = (
    '"Student","ID","SIS User ID","SIS Login ID","Section"\n    Points Possible,,,,\n"O\'Brien, Ann",4711,s1,annob,A\n'
)
ROSTER += '"Li, Bo",4712,s2,boli,A\n"Gone, Gil",4713,s3,gil,A\n'


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A function that grades two students of Canvas, whose answers are run in this process."""
    kit = Kit(short_notebook(tmp_path))
    (tmp_path / "returned").mkdir()
    for place, case in (
        ("obrienann_4711_90_twice.ipynb", kit.answered()),
        ("libo_4712_91_twice.ipynb", kit.answered("first")),
    ):
        (tmp_path / "returned" / place).write_bytes(dumped(case))
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8-sig")
    (tmp_path / "graded/course/warm").mkdir(parents=True)
    monkeypatch.setattr(grading.sandbox, "execute", run_here)
    monkeypatch.setattr(grading, "wall", lambda trust: "nothing")

    def run(say=lambda line: None, **options):
        grade(tmp_path / "sources", tmp_path / "returned", tmp_path / "graded", say=say, **options)
        return lines_of(tmp_path / "graded")

    run.folder = tmp_path
    return run


def test_canvas_gets_its_own_columns_back(course):
    course(roster=course.folder / "roster.csv")
    with (course.folder / "graded/canvas.csv").open(encoding="utf-8-sig") as file:
        head, full, *lines = csv.reader(file)
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "twice"] and full[-1] == "3"
    assert lines == [
        ["Gone, Gil", "4713", "s3", "gil", "A", ""],
        ["Li, Bo", "4712", "s2", "boli", "A", "1"],
        ["O'Brien, Ann", "4711", "s1", "annob", "A", "3"],
    ]


def test_points_by_hand_show_without_running_anything(course, monkeypatch):
    before = course()
    with api.Gradebook(f"sqlite:///{course.folder / 'graded/course/gradebook.db'}") as gradebook:
        gradebook.find_grade("test_double", "twice", "twice", "libo").manual_score = 1.5
        gradebook.find_comment("double", "twice", "twice", "libo").manual_comment = "A good beginning."
        gradebook.db.commit()
    monkeypatch.setattr(grading.sandbox, "execute", lambda *a, **k: pytest.fail("it was run again"))
    after = course()
    assert (before["libo"]["twice: 2. Do: double"], after["libo"]["twice: 2. Do: double"]) == ("0", "1.5")
    assert "A good beginning." in (course.folder / "graded/feedback/libo/twice.html").read_text(encoding="utf-8")


def test_words_wait_for_a_person_and_what_is_for_teachers_stays_with_them(tmp_path, monkeypatch):
    source = short_notebook(tmp_path, more=story_cells())
    blank = student_version(source)
    text = nbformat.writes(blank)
    assert "secret" not in text and "max(x, -x)" not in text and "Stretch" in text
    asked = next(k for k, cell in enumerate(blank.cells) if "*Explain*" in cell.source)
    assert blank.cells[asked + 1].source == TEXT_STUB
    assert list(worth(blank).values()) == [("Exercise 1. Do", 1), ("Exercise 2. Do", 2)]
    hand_in(tmp_path / "returned", "ann", "twice", answered(blank, {"first": "first = base", "explained": "As it is."}))
    hand_in(tmp_path / "returned", "bo", "twice", answered(blank, {"first": "first = base"}))
    monkeypatch.setattr(grading.sandbox, "execute", run_here)
    monkeypatch.setattr(grading, "wall", lambda trust: "nothing")
    (tmp_path / "graded/course/warm").mkdir(parents=True)
    grade(source.parent, tmp_path / "returned", tmp_path / "graded", say=lambda line: None)
    lines = lines_of(tmp_path / "graded")
    assert lines["(full marks)"]["twice"] == "5" and not any("my_size" in column for column in lines["ann"])
    assert "1 to be looked at by hand" in lines["ann"]["remarks"] and "by hand" not in lines["bo"]["remarks"]
    assert "not answered: 2. Do: double, 3. Explain: explained" in lines["bo"]["remarks"]
    assert "As it is." in (tmp_path / "graded/feedback/ann/twice.html").read_text(encoding="utf-8")
    page = solutions({"twice": nbformat.read(source, 4)})
    assert page.count("secret") == 2 and "<msup>" in page and "BEGIN" not in page


def test_late_work_keeps_the_share_that_the_policy_leaves(course):
    os.utime(course.folder / "returned/obrienann_4711_90_twice.ipynb", (1_700_000_000 + 25 * 3600,) * 2)
    os.utime(course.folder / "returned/libo_4712_91_twice.ipynb", (1_700_000_000 - 60,) * 2)
    lines = course(due="2023-11-14T22:13:20+00:00", late="1 - 0.1 * ceil(hours / 24)")
    assert (lines["obrienann"]["twice"], lines["libo"]["twice"]) == ("2.4", "1")
    assert "25 hours late, 80% of 3 points" in lines["obrienann"]["remarks"]


@pytest.mark.parametrize("late", ["1 - ", "__import__('os')", "hours.x", "1 / 0"])
def test_a_policy_that_is_no_function_of_hours_is_refused(late):
    with pytest.raises(ValueError, match="is not understood"):
        late_policy("", late)


def test_an_interrupted_run_keeps_what_is_done_and_goes_on_from_there(course):
    def stop(line):
        if line.startswith("1 of 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        course(say=stop)
    lines, said = lines_of(course.folder / "graded"), []
    assert sorted(bool(lines[who]["twice"]) for who in ("libo", "obrienann")) == [False, True]
    assert any("not graded yet" in line["remarks"] for line in lines.values())
    lines = course(say=said.append)
    assert all(lines[who]["twice"] for who in ("libo", "obrienann")) and any(line.startswith("1 of 1") for line in said)


def test_what_cannot_be_graded_here_is_blank_and_tried_again(course, monkeypatch):
    monkeypatch.setattr(grading, "finished", failing := Failing(grading.finished))
    lines = course()
    assert sorted(lines[who]["twice"] for who in ("libo", "obrienann"))[0] == ""
    assert any("was not graded: the disk is full" in line["remarks"] for line in lines.values()) and failing.calls == 2
    assert all(course()[who]["twice"] for who in ("libo", "obrienann"))


class Failing:
    """finished(), whose first future has failed."""

    def __init__(self, finished):
        self.finished, self.calls = finished, 0

    def __call__(self, course, task, handout, future):
        self.calls += 1
        if self.calls == 1:
            future = type("Broken", (), {"result": lambda self: (_ for _ in ()).throw(OSError("the disk is full"))})()
        return self.finished(course, task, handout, future)


def test_a_roster_tells_apart_what_letters_alone_do_not(tmp_path):
    (tmp_path / "class.csv").write_text(
        "Name;Number\nO'Neil;101\nO Neil;102\nJosé Díaz;103\nLi Bo;104\n", encoding="utf-8"
    )
    entries = read_roster(tmp_path / "class.csv")
    delivered = {"O'Neil": "", "O Neil": "", "José Díaz": "", "boli": "", "ann": "102", "ONeil": ""}
    found = {name: entry.columns["Number"] for name, entry in matched(entries, delivered).items()}
    assert found == {"O'Neil": "101", "O Neil": "102", "José Díaz": "103", "boli": "104", "ann": "102"}
    (tmp_path / "class.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="names nobody; its first line needs a column"):
        read_roster(tmp_path / "class.csv")


def test_flags_name_what_leads_a_test_astray():
    assert flags(["x = get_ipython()"]) == ["uses get_ipython"]
    assert flags(["np.allclose = lambda *a: True"]) == ["assigns to np.allclose"]
    assert flags(["import ctypes"]) == ["uses ctypes"]
    assert flags(["x = np.ones(3)\nx[0] = 2\nbmlab.exact(m)"]) == []
    assert flags(['student = "2001"']) == ["has the numbers of student '2001'"]
