"""Marks as a teacher uses them: points by hand, points of checks, pages, the proof that a solution scores."""

import csv
from mmap import mmap
from pathlib import Path

import nbformat
import pytest
from small_course import RIGHT, TWICE, answered, graded, hand_in, lines_of, page_of, short_notebook, story_cells, walled

from bmlab_teaching import children, grading, marks
from bmlab_teaching.pages import solutions
from bmlab_teaching.sandbox import Limits
from bmlab_teaching.working_copies import TEXT_STUB, student_version, worth

pytestmark = walled
DEMO = {"(full marks)": "6", "Ada Lovelace": "4", "Bo Li": "1.5", "Cem Yilmaz": "0", "Dana Diaz": "3", "Eve Evil": "3"}


def by_hand(folder, change=None):
    """The lines of by_hand.csv; `change` changes each, and writes them as a spreadsheet does."""
    path = folder / "graded/by_hand.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    if change:
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, marks.COLUMNS, delimiter=";")
            table.writeheader()
            table.writerows(row | change(row) for row in rows)
    return rows


@pytest.fixture
def course(tmp_path):
    source = short_notebook(tmp_path, more=story_cells())
    blank = student_version(source)
    hand_in(tmp_path / "returned", "ann", "twice", answered(blank, RIGHT | {"explained": "As it is."}))
    hand_in(tmp_path / "returned", "bo", "twice", answered(blank, {"first": "first = base"}))
    return tmp_path


def test_words_wait_for_a_person_and_what_is_for_teachers_stays_with_them(course):
    source = course / "sources/twice.ipynb"
    blank = student_version(source)
    text = nbformat.writes(blank)
    assert "secret" not in text and "max(x, -x)" not in text and "Stretch" in text
    asked = next(k for k, cell in enumerate(blank.cells) if "*Explain*" in cell.source)
    assert blank.cells[asked + 1].source == TEXT_STUB
    assert [(one.title, one.points) for one in worth(blank).values()] == [("1. Do: first", 1), ("2. Do: double", 2)]
    lines = graded(course)
    assert lines["(full marks)"]["twice"] == "5" and not any("my_size" in column for column in lines["ann"])
    assert "1 to be read by a person" in lines["ann"]["remarks"] and "by a person" not in lines["bo"]["remarks"]
    assert "not answered: 2. Do: double, 3. Explain: explained" in lines["bo"]["remarks"]
    assert lines["ann"]["twice: 3. Explain: explained"] == "" and "As it is." in page_of(course, "ann")
    page = solutions({"twice": nbformat.read(source, 4)})
    assert page.count("secret") == 2 and "<msup>" in page and "BEGIN" not in page


def test_points_by_hand_count_without_a_run_and_new_words_are_read_again(course, monkeypatch):
    graded(course)
    (row,) = by_hand(course, lambda row: {"points": "1,5", "comment": "A good beginning."})
    assert (row["student"], row["words"], row["of"]) == ("ann", "As it is.", "2")
    with monkeypatch.context() as patch:
        patch.setattr(grading, "judge", lambda *a: pytest.fail("it was run again"))
        rows = grading.load(course / "graded/records")
        marks.write_tables(course / "graded", rows, grading.course(course / "sources"))
        lines = graded(course)
    assert (lines["ann"]["twice: 3. Explain: explained"], lines["ann"]["twice"]) == ("1.5", "4.5")
    assert "A good beginning." in page_of(course, "ann")
    blank = student_version(course / "sources/twice.ipynb")
    hand_in(course / "returned", "ann", "twice", answered(blank, RIGHT | {"explained": "Otherwise."}))
    lines = graded(course)
    assert (lines["ann"]["twice: 3. Explain: explained"], lines["ann"]["twice"]) == ("", "3")
    (row,) = by_hand(course)
    assert row["points"] == "" and "1.5 points for other words" in row["comment"] and row["words"] == "Otherwise."
    assert "A good beginning." not in page_of(course, "ann")


def test_a_person_may_award_any_exercise(course):
    graded(course)
    path = course / "graded/by_hand.csv"
    path.write_text(path.read_text(encoding="utf-8-sig") + "bo,bo,twice,double,2,0.5,half,,\n", encoding="utf-8-sig")
    for _ in range(2):  # it is kept
        assert graded(course)["bo"]["twice: 2. Do: double"] == "0.5" and "half" in page_of(course, "bo")


@pytest.mark.parametrize("points", ["two", "nan", "inf"])
def test_points_that_are_no_number_are_refused_in_one_sentence(course, points):
    graded(course)
    by_hand(course, lambda row: {"points": points})
    with pytest.raises(ValueError, match=f"'{points}' points for ann; write a number"):
        graded(course)


def test_each_check_has_its_points_and_the_page_lists_them(tmp_path):
    blank = student_version(short_notebook(tmp_path))
    answers = {
        "some": "def double(x):\n    return 6 if x == 3 else 0",
        "other": "def double(x):\n    return 2 * x if x != 3 else 5",
    }
    for student, source in answers.items():
        hand_in(tmp_path / "returned", student, "twice", answered(blank, {"double": source}))
    lines = graded(tmp_path)
    assert [lines[student]["twice: 2. Do: double"] for student in answers] == ["0.5", "1.5"]
    page = page_of(tmp_path, "some")
    assert "0.5 of 0.5" in page and "0 of 1.5" in page and "any number" in page and "wrong at 5" in page


def test_grading_stops_if_the_solution_does_not_score(tmp_path):
    (name, solution, *rest), second = TWICE
    source = short_notebook(tmp_path, [(name, solution.replace("= base", "= a_missing_package"), *rest), second])
    hand_in(tmp_path / "returned", "anna", "twice", answered(student_version(source)))
    with pytest.raises(ValueError, match="the solution of twice does not score full marks here, so nobody was graded"):
        graded(tmp_path)
    assert not (tmp_path / "graded/grades.csv").exists()


def test_what_cannot_be_graded_here_is_blank_and_tried_again(course, monkeypatch):
    judge = grading.judge

    def failing(handout, todo, limits):
        if "double" in todo.open:
            raise OSError("the disk is full")
        return judge(handout, todo, limits)

    monkeypatch.setattr(children, "START", "fork")  # what is planted here reaches the children
    monkeypatch.setattr(grading, "judge", failing)
    lines = graded(course)
    assert lines["bo"]["twice"] == "" and "the disk is full" in lines["bo"]["remarks"] and lines["ann"]["twice"] == "3"
    monkeypatch.undo()
    assert graded(course)["bo"]["twice"] == "1"


def test_how_large_the_graders_process_is_takes_nothing_from_a_student(course):
    with mmap(-1, 5 * 2**30):  # address space alone
        assert graded(course, gigabytes=2)["ann"]["twice: 2. Do: double"] == "2"


def test_names_are_no_formulas_of_a_spreadsheet():
    assert not any(str(marks.written(f"{sign}1+1")).startswith(sign) for sign in "=+-@")


def test_the_same_answer_is_told_only_where_it_is_long(tmp_path):
    blank = student_version(short_notebook(tmp_path))
    long = "def double(x):\n" + "".join(f"    a{k} = x * {k} + x / 7 - 3 * x\n" for k in range(9)) + "    return 2 * x"
    for student, double in (("ann", long), ("bo", long + "  # mine"), ("cy", RIGHT["double"]), ("di", RIGHT["double"])):
        hand_in(tmp_path / "returned", student, "twice", answered(blank, RIGHT | {"double": double}))
    graded(tmp_path)
    page = (tmp_path / "graded/class.html").read_text(encoding="utf-8")
    assert "comments: ann, bo<" in page and page.count("The same answer") == 1


def test_the_demo_class_has_the_marks_that_its_page_should_show(tmp_path):
    """One right, three with one slip each, and one who attacks; of 4 points that are not given by hand."""
    demo = Path(__file__).resolve().parents[1] / "demo"
    (tmp_path / "warm").mkdir()
    grading.grade(demo / "notebooks", demo / "returned", tmp_path, say=lambda line: None, limits=Limits(50))
    lines = lines_of(tmp_path)
    assert {line["student"]: line["two_coins"] for line in lines.values()} == DEMO
    blank = student_version(demo / "notebooks/two_coins.ipynb")
    first = blank.cells[1].source.splitlines()[:2]
    for file in (demo / "returned").rglob("*.ipynb"):
        assert nbformat.read(file, 4).cells[1].source.splitlines()[:2] == first, file  # as it is handed out today
