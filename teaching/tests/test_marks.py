"""Marks as a teacher uses them: points by hand, points of checks, pages, the proof that a solution scores."""

import csv
import re
import zipfile
from mmap import mmap
from pathlib import Path

import nbformat
import pytest
from small_course import (
    CHECKS,
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
)

from bmlab_teaching import children, grading, marks, spreadsheets
from bmlab_teaching.cells import PASSED
from bmlab_teaching.deliveries import outer_of
from bmlab_teaching.pages import calls, markdown, solutions
from bmlab_teaching.roster import read_roster
from bmlab_teaching.working_copies import TEXT_STUB, student_version, worth

DEMO = {"(full marks)": "6", "Ada Lovelace": "4", "Bo Li": "1.5", "Cem Yilmaz": "0", "Dana Diaz": "3", "Eve Evil": "3"}


def by_hand(folder, change=None, encoding="utf-8"):
    """The lines of by_hand.csv; `change` changes each, and writes them as a spreadsheet does."""
    path = folder / "graded/by_hand.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    if change:
        with path.open("w", encoding=encoding, newline="") as file:
            table = csv.DictWriter(file, list(rows[0]), delimiter=";")
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


@harmless
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


@harmless
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


@harmless
def test_a_person_may_award_any_exercise(course):
    graded(course)
    path = course / "graded/by_hand.csv"
    path.write_text(path.read_text(encoding="utf-8-sig") + "bo,bo,twice,double,2,0.5,half,,,\n", encoding="utf-8-sig")
    for _ in range(2):  # it is kept
        assert graded(course)["bo"]["twice: 2. Do: double"] == "0.5" and "half" in page_of(course, "bo")


WORDS = "- a list\u2028;=cmd|x\x0b\n=1+1"


@pytest.fixture
def rows():
    """Ann and Bo, with words for a person to read: no sandbox is needed."""
    answers = {name: {"open": False, "source": WORDS, "words": name, "shape": "", "html": ""} for name in ANSWERS}
    about = {"answers": answers, "verdicts": {}, "errors": {}, "printed": {}, "flags": [], "student": ""}
    return {who: grading.Row(who, who, who, notebooks={"twice": about}) for who in ("ann", "bo", "=x;+y")}


ANSWERS = ("first", "double", "explained", "my_size")


@pytest.fixture
def table(tmp_path, rows):
    """A function: write the tables, with lines of by_hand.csv; the grades, and the lines of by_hand.csv afterwards."""
    handouts = grading.course(short_notebook(tmp_path, more=story_cells()).parent)

    def write(*hands, encoding="utf-8", head="id,notebook,exercise,points,comment,read"):
        if hands:
            (tmp_path / "graded/by_hand.csv").write_text("\n".join([head, *hands]), encoding=encoding)
        marks.write_tables(tmp_path / "graded", rows, handouts)
        return lines_of(tmp_path / "graded"), by_hand(tmp_path)

    return write


@pytest.mark.parametrize(
    "hand, words",
    [
        ("ann,twice,double,two", "'two' points; write a number from 0 to 2"),
        ("ann,twice,double,nan", "'nan' points"),
        ("ann,twice,double,inf", "'inf' points"),
        ("ann,twice,double,-1", "'-1' points"),
        ("ann,twice,double,2.5", "'2.5' points; write a number from 0 to 2"),
        ("anne,twice,double,1", "nobody has the id 'anne'"),
        ("ann,thrice,double,1", "no notebook 'thrice'; there are twice"),
        ("ann,twice,doubel,1", "no exercise 'doubel'; it has first, double, explained"),
        ("ann,twice,double,1\nann,twice,double,2", "another line"),
    ],
)
def test_a_line_by_hand_that_is_nobodys_is_refused_in_one_sentence(hand, words, table, tmp_path):
    table()
    with pytest.raises(ValueError, match=words):
        table(hand)
    assert hand in (tmp_path / "graded/by_hand.csv").read_text()  # nothing that was typed is lost


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_whatever_a_spreadsheet_saves_is_read(encoding, table):
    table()
    for sign in ",;\t":
        head = "id,notebook,exercise,points,comment,read".replace(",", sign)
        _, hands = table(
            sign.join(["ann", "twice", "explained", "1", "schön", "explained"]), encoding=encoding, head=head
        )
        assert [one["comment"] for one in hands if one["id"] == "ann"] == ["schön"]


def test_what_is_written_by_hand_comes_back_as_it_was(table):
    """Signs that begin a formula are disarmed in the file alone, and words may hold other ends of lines."""
    table()
    _, hands = table("ann,twice,explained,1,- well;=done,explained", "'=x;'+y,twice,explained,2,,explained")
    for _ in range(2):
        assert [one["points"] for one in hands] == ["1", "", "2"] and hands[0]["comment"] == "'- well;'=done"
        grades, hands = table()
    assert grades["'=x;'+y"]["twice: 3. Explain: explained"] == "2"
    assert all(spreadsheets.typed(one["words"]) == WORDS and "secret" in one["rubric"] for one in hands)


@pytest.mark.parametrize("sign", "=+-@\uff1d\uff0b\uff0d\uff20")
@pytest.mark.parametrize("before", ["", "foo;", "foo\n", "foo\r", "foo\t", "foo; ", "';", "'"])
def test_no_cell_is_a_formula_whatever_separates_cells(sign, before):
    text = spreadsheets.written(f"{before}{sign}cmd|x")
    assert isinstance(text, str) and spreadsheets.typed(text) == f"{before}{sign}cmd|x"
    assert not any(cell.strip().startswith(sign) for cell in re.split(r"[;\t\r\n]", text))


@pytest.mark.parametrize("part", ["\n", "\n'", " \n", "; ", "'", "\t=", "\v", "\u2003'"])
def test_a_text_of_any_signs_comes_back_however_long(part):
    """An answer of 20,000 line breaks kept the whole class waiting for minutes, in both directions."""
    for text in (part * 10_000, "\n" * 10_000 + part * 5_000 + "x", part * 9 + "=" + part):
        assert spreadsheets.typed(str(spreadsheets.written(text))) == text


@harmless
def test_marks_of_another_course_are_not_emptied(course, monkeypatch):
    """As after make demo: its notebooks are not the course's, and the folder of marks records its own."""
    graded(course)
    messages = []
    grading.mark(None, course / "graded", report=messages.append)
    assert lines_of(course / "graded")["ann"]["twice"] == "3" and len(messages) == 1
    other = course / "other"
    other.mkdir()
    short_notebook(other).rename(other / "sources/thrice.ipynb")
    with pytest.raises(ValueError, match="has marks of twice, which the course has not"):
        grading.mark(other / "sources", course / "graded", report=messages.append)
    assert lines_of(course / "graded")["ann"]["twice"] == "3"


@pytest.mark.parametrize(
    "old, new",
    [
        ({"grade_id": "double"}, {"grade_id": "twofold"}),
        ({"grade_id": "test_double"}, {"grade_id": "test_twofold"}),
        ({"grade_id": "explained"}, {"grade_id": "told"}),
        ({"checks": CHECKS}, {"checks": [{"name": "all", "points": 2, "asserts": 3}]}),
    ],
)
def test_marks_of_exercises_that_were_changed_are_told_from_marks_of_these(old, new, table, rows, tmp_path):
    """A name that is gone was a KeyError, and a verdict on a removed check was lost: 0 points, in silence."""
    rows["ann"].notebooks["twice"]["verdicts"] = {"test_first": [PASSED], "test_double": [PASSED, PASSED]}
    for row in rows.values():
        row.save(tmp_path / "graded/records")
    assert table()[0]["ann"]["twice"] == "3"
    source = tmp_path / "sources/twice.ipynb"
    notebook = nbformat.read(source, 4)
    found = [about for cell in notebook.cells for about in (cell.metadata, cell.metadata.get("nbgrader", {}))]
    (about,) = [about for about in found if old.items() <= about.items()]
    about.update(new)
    nbformat.write(notebook, source)
    with pytest.raises(ValueError, match="exercises of twice were changed after it was graded; type make"):
        grading.mark(source.parent, tmp_path / "graded", report=print)
    assert lines_of(tmp_path / "graded")["ann"]["twice"] == "3"
    marks.write_tables(tmp_path / "graded", rows, grading.course(source.parent))
    line = lines_of(tmp_path / "graded")["ann"]
    assert line["remarks"].startswith("the exercises of twice were changed") and not line.get("twice")


def test_what_nobody_has_read_is_in_no_average(table, tmp_path):
    table()
    page = tmp_path / "graded/class.html"
    assert "0 of 3 points on average" in page.read_text() and "2 points, 3 to be read" in page.read_text()
    table("ann,twice,explained,1.5,,explained")
    assert "1.5 of 5 points on average" in page.read_text() and "1.5 of 2, 2 to be read" in page.read_text()


def test_who_sent_nothing_that_is_read_has_no_sum_and_not_a_sum_of_0(table, rows, tmp_path):
    rows["bo"].notebooks = {}
    grades, _ = table()
    assert (grades["bo"]["twice"], grades["bo"]["total"], grades["ann"]["total"]) == ("", "", "0")
    page = (tmp_path / "graded/class.html").read_text()
    without = page[page.index("Without marks") :]
    assert ">bo<" in without and ">ann<" not in without


def test_a_roster_comes_back_with_the_marks_that_are_certain_and_names_who_is_missing(table, rows, tmp_path):
    """Unread words leave the mark of a student as it was: a part is no mark."""
    table()
    export = (
        "Identifier,Full name,Grade,Maximum grade\nParticipant 1,Ann,,6\nParticipant 2,Bo,9,6\nParticipant 3,Cy,,6\n"
    )
    (tmp_path / "export.csv").write_text(export)
    (tmp_path / "graded/by_hand.csv").write_text("id,notebook,exercise,points,read\nann,twice,explained,2,explained")
    handouts, roster = grading.course(tmp_path / "sources"), read_roster(tmp_path / "export.csv")
    messages = marks.write_tables(tmp_path / "graded", rows, handouts, roster)
    assert (tmp_path / "graded/upload.csv").read_text().replace(",Ann,2,", ",Ann,,") == export
    assert "1 of 3 students; 2 wait" in messages[0] and "6 points at most, and here are 5" in messages[1]
    with (tmp_path / "graded/grades.csv").open(encoding="utf-8-sig") as file:
        lines = {line["student"]: line for line in csv.DictReader(file)}
    assert lines["Cy"]["remarks"] == "nothing came" and lines["Cy"]["total"] == ""
    assert "no line for this name" in lines["'=x;'+y"]["remarks"] and "Bo" not in lines
    page = (tmp_path / "graded/class.html").read_text()
    assert "Nothing came from" in page and page.index("no line for this name") < page.index("on average") < page.index(
        "Cy"
    )


def test_who_sent_nothing_has_the_page_of_the_group_under_moodles_name(table, rows, tmp_path):
    table()
    rows["ann"].outer = {"twice": "Ann_2001_assignsubmission_file_"}
    people = "Participant 2001,Ann,7,,6\nParticipant 2002,Bo,8,,6\nParticipant 2003,Cy,7,,6\nParticipant 2004,Cy,7,,6\n"
    (tmp_path / "export.csv").write_text(f"Identifier,Full name,Group,Grade,Maximum grade\n{people}")
    handouts, roster = grading.course(tmp_path / "sources"), read_roster(tmp_path / "export.csv")
    marks.write_tables(tmp_path / "graded", rows, handouts, roster)
    with zipfile.ZipFile(tmp_path / "graded/feedback.zip") as archive:
        names = {name.partition("/")[0] for name in archive.namelist()}
    assert {f"Cy_{number}_assignsubmission_file_" for number in (2003, 2004)} <= names
    assert {"Cy", "Cy 2"} <= {one.name for one in (tmp_path / "graded/feedback").iterdir()}  # two people


def test_who_works_together_has_the_marks_of_what_one_of_them_sent(table, rows, tmp_path):
    """A group is a column of the roster: of two with an answer each has their own, and a blank copy is none."""
    table()
    blank = {name: answer | {"open": True} for name, answer in rows["bo"].notebooks["twice"]["answers"].items()}
    rows["bo"].notebooks = {"twice": rows["bo"].notebooks["twice"] | {"answers": blank}}
    people = "2001,Ann,7,,6\n2002,Bo,7,,6\n2003,Cy,7,,6\n2004,Di,8,,6\n2005,Ed,8,,6\n7,Flo,,,6\n"
    (tmp_path / "export.csv").write_text(f"Identifier,Full name,Group,Grade,Maximum grade\n{people}")
    (tmp_path / "graded/by_hand.csv").write_text("id,notebook,exercise,points,read\nann,twice,explained,2,explained")
    handouts, roster = grading.course(tmp_path / "sources"), read_roster(tmp_path / "export.csv")
    assert roster.lines("", "7") == {6}  # the number of a group is nobody's
    marks.write_tables(tmp_path / "graded", rows, handouts, roster)
    lines = lines_of(tmp_path / "graded")
    assert [(lines[one]["group"], lines[one]["twice"]) for one in ("ann", "bo", "Cy")] == [("7", "2")] * 3
    assert [lines[one]["remarks"] for one in ("bo", "Cy")] == ["twice: sent by ann, of the same group"] * 2
    assert [lines[one]["remarks"] for one in ("Di", "Ed", "Flo")] == ["nothing came"] * 3
    upload = (tmp_path / "graded/upload.csv").read_text()
    assert all(f"{one},7,2,6" in upload for one in ("Ann", "Bo", "Cy")) and "Ed,8,,6" in upload
    for one in "Cy", "bo":  # their pages have what ann wrote, and say so
        page = page_of(tmp_path, one)
        assert f"<h1>{one}</h1>" in page and "Sent by ann, of the same group" in page and "2 of" in page
    assert "Sent by" not in page_of(tmp_path, "ann")
    whole = (tmp_path / "graded/class.html").read_text()
    assert "3 students sent something, 4 have marks" in whole and whole.count("sent by ann, of the same group") == 2
    assert not any((tmp_path / "graded/feedback" / one).exists() for one in ("Di", "Ed", "Flo"))
    shared = {**rows["ann"].notebooks["twice"], "student": "'4711, 4712'"}
    rows["ann"].notebooks = rows["bo"].notebooks = {"twice": shared}
    page = tmp_path / "graded/class.html"
    marks.write_tables(tmp_path / "graded", rows, handouts, roster)
    assert "number 4711, 4712" in page_of(tmp_path, "ann")
    assert lines_of(tmp_path / "graded")["bo"]["number"] == "4711, 4712" and "the number 4711" not in page.read_text()
    (tmp_path / "export.csv").write_text(f"Identifier,Full name,Team,Grade,Maximum grade\n{people}")
    marks.write_tables(tmp_path / "graded", rows, handouts, read_roster(tmp_path / "export.csv"))
    assert "the number 4711" in page.read_text() and lines_of(tmp_path / "graded")["Cy"]["remarks"] == "nothing came"


def test_the_class_page_begins_with_what_a_teacher_looks_for(table, rows, tmp_path):
    """Doubts, a call of the package, equal answers in one table; a number of one's own is no remark, unless shared."""
    about = {who: rows[who].notebooks["twice"] for who in rows}
    for who, number in (("ann", "'4711'"), ("bo", '"4711"')):
        answers = {name: answer | {"shape": name * (name != "first")} for name, answer in about[who]["answers"].items()}
        rows[who].notebooks["twice"] = about[who] | {"student": number, "answers": answers}
    rows["bo"].notebooks["twice"]["answers"]["double"]["calls"] = ["bmlab.exact"]
    rows["ann"].doubts, rows["ann"].remarks = ["it came under two names"], ["essay.pdf"]
    grades, _ = table()
    assert grades["ann"]["number"] == "4711" and "4711" not in grades["ann"]["remarks"]
    assert "twice: 2. Do: double calls bmlab.exact" in grades["bo"]["remarks"]
    text = (tmp_path / "graded/class.html").read_text()
    messages = ["it came under two names", "calls bmlab.exact", "Equal answers", "on average", "essay.pdf"]
    assert [text.index(one) for one in messages] == sorted(text.index(one) for one in messages)
    assert text.count("<b>ann, bo</b><br>") == 1 and "Explain: explained; twice: the number 4711</div>" in text


@pytest.mark.parametrize(
    "source, found",
    [
        ("import bmlab\ndef f(m):\n    return bmlab.exact(m).mean", ["bmlab.exact"]),
        ("import bmlab as b\nx = b.bethe", ["bmlab.bethe"]),
        ("from bmlab import gibbs as g, spins\ng(spins(1))", ["bmlab.gibbs"]),
        ("from bmlab.infer.exact import exact", ["bmlab.exact"]),
        ("x = exact(m), model.sample(3), exact.mean", ["bmlab.exact"]),
        ("def exact(m):\n    return 1\nexact(0)\nfit = str\nfit(1)", []),
        ("m = bmlab.ising((3, 3)), bmlab.BoltzmannMachine", []),
        ("no python(", []),
    ],
)
def test_what_an_answer_calls_of_the_package(source, found):
    assert calls(source) == found


@harmless
def test_each_check_has_its_points_and_the_page_lists_them(tmp_path):
    blank = student_version(short_notebook(tmp_path))
    answers = {
        "some": "def double(x):\n    return 2 * x if x in (3, 4) else 0",
        "other": "def double(x):\n    return 2 * x if x != 3 else 5",
    }
    for student, source in answers.items():
        hand_in(tmp_path / "returned", student, "twice", answered(blank, {"double": source}))
    lines = graded(tmp_path)
    assert [lines[student]["twice: 2. Do: double"] for student in answers] == ["0.5", "1.5"]
    page = page_of(tmp_path, "some")
    assert "0.5 of 0.5" in page and "0 of 1.5" in page and "any number" in page and "wrong at 5" in page


@harmless
def test_grading_stops_if_the_solution_does_not_score(tmp_path):
    (name, solution, *rest), second = TWICE
    source = short_notebook(tmp_path, [(name, solution.replace("= base", "= a_missing_package"), *rest), second])
    hand_in(tmp_path / "returned", "anna", "twice", answered(student_version(source)))
    words = "the solution of twice does not score full marks here, so nobody was graded: .*a_missing_package"
    with pytest.raises(ValueError, match=words):
        graded(tmp_path)
    assert not (tmp_path / "graded/grades.csv").exists()


@harmless
def test_what_cannot_be_graded_here_is_blank_and_tried_again(course, monkeypatch):
    judge = grading.judge

    def failing(handout, todo, limits, beside):
        if "double" in todo.open:
            raise OSError("the disk is full")
        return judge(handout, todo, limits, beside)

    monkeypatch.setattr(children, "START", "fork")  # the children get the planted crash
    monkeypatch.setattr(grading, "judge", failing)
    lines = graded(course)
    assert lines["bo"]["twice"] == "" and "the disk is full" in lines["bo"]["remarks"] and lines["ann"]["twice"] == "3"
    monkeypatch.undo()
    assert graded(course)["bo"]["twice"] == "1"


@harmless
def test_how_large_the_graders_process_is_takes_nothing_from_a_student(course):
    with mmap(-1, 5 * 2**30):  # address space alone
        assert graded(course, gigabytes=2)["ann"]["twice: 2. Do: double"] == "2"


def test_what_is_odd_about_an_answer_is_a_doubt_that_is_told_once(table, rows):
    rows["ann"].notebooks = {"twice": rows["ann"].notebooks["twice"] | {"flags": ["it looks at the test", "odd"] * 2}}
    lines, _ = table()
    assert "twice: it looks at the test" in str(lines["ann"]) and str(lines["ann"]).count("it looks at") == 1
    assert "twice: odd" in str(lines["ann"]) and "odd" not in str(lines["bo"])


def test_rows_are_read_in_the_order_of_their_names_whatever_their_letters_and_files(tmp_path):
    people = [("k3", "zoe"), ("k1", "Ann"), ("k4", "ann"), ("k2", "Bo"), ("k5", "\u00c4nne")]
    for key, name in people:
        grading.Row(key, key, name).save(tmp_path)
    assert [row.name for row in grading.load(tmp_path).values()] == ["Ann", "ann", "Bo", "zoe", "\u00c4nne"]


def test_a_line_of_the_roster_has_moodles_folder_only_if_the_work_came_in_one(tmp_path):
    (tmp_path / "class.csv").write_text("Identifier,Full name,Grade\nParticipant 7,Ann,\nParticipant 8,Bo,\n")
    roster = read_roster(tmp_path / "class.csv")
    assert outer_of(2, roster, 1, "Ann_7_assignsubmission_file_") == "Bo_8_assignsubmission_file_"
    assert outer_of(2, roster, 1, "Ann_9_assignsubmission_file_") == outer_of(2, roster, 1, "ann") == ""


@harmless
def test_the_same_answer_is_told_only_where_it_is_long(tmp_path):
    blank = student_version(short_notebook(tmp_path))
    long = "def double(x):\n" + "".join(f"    a{k} = x * {k} + x / 7 - 3 * x\n" for k in range(9)) + "    return 2 * x"
    for student, double in (("ann", long), ("bo", long + "  # mine"), ("cy", RIGHT["double"]), ("di", RIGHT["double"])):
        hand_in(tmp_path / "returned", student, "twice", answered(blank, RIGHT | {"double": double}))
    graded(tmp_path)
    page = (tmp_path / "graded/class.html").read_text(encoding="utf-8")
    assert "<b>ann, bo</b><br>twice: 2. Do: double<" in page and page.count("</b><br>") == 1


@harmless
def test_the_demo_class_has_the_marks_that_its_page_should_show(tmp_path):
    """One right, three with one slip each, and one attack; of 4 points that are not given by hand."""
    demo = Path(__file__).resolve().parents[1] / "demo"
    (tmp_path / "warm").mkdir()
    grading.grade(
        demo / "notebooks", demo / "returned", tmp_path, report=lambda line: None, limits=LIMITS._replace(seconds=20)
    )
    lines = lines_of(tmp_path)
    assert {line["student"]: line["two_coins"] for line in lines.values()} == DEMO
    blank = student_version(demo / "notebooks/two_coins.ipynb")
    first = blank.cells[1].source.splitlines()[:2]
    for file in (demo / "returned").rglob("*.ipynb"):
        assert nbformat.read(file, 4).cells[1].source.splitlines()[:2] == first, file  # as it is handed out today


def test_a_formula_on_lines_of_its_own_stands_alone_and_one_within_a_line_does_not():
    alone, within = str(markdown("$$\nx^2\n$$")), str(markdown("so $x^2$ is"))
    assert "<b>" not in str(markdown("a <b> b")) and "&lt;b&gt;" in str(markdown("a <b> b"))  # words of a text, no HTML
    assert 'display="block"' in alone and 'display="block"' not in within and "<msup>" in alone and "<msup>" in within


@harmless
def test_a_page_names_the_cause_first_and_what_is_true_of_an_answer(tmp_path):
    """An error above its consequence; print for return, nothing for a value, and float32."""
    blank = student_version(short_notebook(tmp_path))
    answers = {
        "ann": {"first": "scale = 1 / 0\nfirst = base * scale"},
        "bo": {"double": "def double(x):\n    print(2 * x)"},
        "cy": {"first": "first = print(base)", "double": "import numpy\ndef double(x):\n    return numpy.float32(x)"},
    }
    for student, some in answers.items():
        hand_in(tmp_path / "returned", student, "twice", answered(blank, RIGHT | some))
    graded(tmp_path)
    pages = {student: page_of(tmp_path, student) for student in answers}
    ann = pages["ann"][pages["ann"].index("<section>") : pages["ann"].index("</section>")]
    assert "it divides by 0" in ann and "not defined" not in ann
    assert "double prints and returns nothing: write return for print" in pages["bo"]
    assert "first is None, nothing: write its value" in pages["cy"]
    assert "double is in float32, which keeps seven digits: make it float64. Else: not twice" in pages["cy"]
    assert "it divides by 0" in (tmp_path / "graded/class.html").read_text(encoding="utf-8")
