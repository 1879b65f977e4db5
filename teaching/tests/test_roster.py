"""A platform's table of the class: its students and the missing ones, filled in as it came."""

import csv
import io

import pytest

from bmlab_teaching.deliveries import senders
from bmlab_teaching.grading import Row
from bmlab_teaching.roster import read_roster, remember
from bmlab_teaching.spreadsheets import put_table

MOODLE = """\ufeffIdentifier,"Full name",ID number,"Email address",Status,Grade,"Maximum grade","Feedback comments"
Participant 2001,"Ann O'Brien",0071,ann@x.edu,"Submitted for grading",,"6,00",
Participant 2002,Weiß,0072,weiss@x.edu,No submission,,"6,00","=1+1; as it was"
Participant 2003,Weiss,0073,w@x.edu,No submission,3.00,"6,00",
"""
GERMAN = MOODLE.replace("Identifier", "ID").replace("Participant ", "Teilnehmer/in").replace(",Grade,", ",Bewertung,")
EXPORT = """\
First name;Last name;ID number;Email address;Assignment: Week 1 (Real)
Ann;O'Brien;71;a@x.edu;
Bo;Weiß;72;b@x.edu;-
"""
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Week 1 (815),Current Score
,,,,,Manual Posting,
    Points Possible,,,,,6,(read only)
"O'Brien, Ann",4711,s71,ann_lee,One,,
"Weiß, Bo",4712,s72,bo_lee,One,,
"""


def row(number, name):
    """A student as a platform named him, by a number if it has one."""
    return Row(f"# {number}" if number else name.lower(), number or name, name)


@pytest.fixture
def roster(tmp_path):
    """A function: the roster of a text, saved in an encoding."""

    def make(text, column="", encoding="utf-8"):
        (tmp_path / "export.csv").write_bytes(text.encode(encoding))
        return read_roster(tmp_path / "export.csv", column)

    return make


@pytest.mark.parametrize(
    "text, column, encoding, rows, lines, absent",
    [
        (MOODLE, "", "utf-8", [row("2001", "Anne"), row("2002", "Weiß")], [1, 2], ["Weiss"]),
        (GERMAN, "Bewertung", "utf-8", [row("2003", "Weiss")], [3], ["Ann O'Brien", "Weiß"]),
        (MOODLE, "", "utf-8", [row("", "weiss"), row("", "Ann OBrien")], [3, 1], ["Weiß"]),
        (MOODLE, "", "utf-8", [row("", "ann")], [1], ["Weiß", "Weiss"]),  # the part before the @
        (EXPORT, "", "cp1252", [row("9001", "Ann O'Brien"), row("9002", "Weiß Bo")], [1, 2], []),
        (
            MOODLE + "Participant 2004,Cy\n",
            "",
            "utf-8",
            [row("2001", "Ann")],
            [1],
            ["Weiß", "Weiss", "Cy"],
        ),  # cut short
        (CANVAS, "Week 1 (815)", "utf-8", [row("4712", "weibo")], [4], ["O'Brien, Ann"]),
        (CANVAS, "", "utf-16", [row("", "bo_lee")], [4], ["O'Brien, Ann"]),
    ],
)
def test_a_roster_says_who_is_who_and_who_is_missing(text, column, encoding, rows, lines, absent, roster):
    found = roster(text, column, encoding)
    settled, doubts = found.settle(rows)
    assert [settled[one.key] for one in rows] == lines and not doubts and found.absent(rows) == absent


@pytest.mark.parametrize(
    "cells, name",
    [
        (["Ann", "Lee", "4711"], "Ann Lee"),
        (["4711", "Ann", "Lee"], "Ann Lee"),
        (["Lee, Ann", "Tuesday"], "Lee, Ann"),
        (["Ann Lee", "Tuesday"], "Ann Lee"),
        (["Ann", "4711"], "Ann"),
        (["Ann", "ann@x.edu"], "Ann"),
        (["Ann"], "Ann"),
    ],
)
def test_a_name_is_a_whole_cell_or_two_of_one_word(roster, cells, name):
    assert roster(MOODLE).called(cells) == name


def test_nobody_is_guessed(roster):
    """Two lines of a name, two senders of a line, a stranger: a sentence each, no line, and nobody is called absent."""
    found = roster(MOODLE + MOODLE.splitlines()[1].replace("2001", "2009") + "\n")
    rows = [row("", "Ann O'Brien"), row("", "Weiss"), row("", "w"), row("", "Mallory")]
    settled, doubts = found.settle(rows)
    assert not settled and len(doubts) == 4 and found.absent(rows) == ["Weiß"]
    assert "2 lines" in doubts["ann o'brien"] and "no line" in doubts["mallory"] and "w (w)" in doubts["weiss"]


@pytest.mark.parametrize(
    "text, encoding", [(MOODLE, "utf-8"), (EXPORT, "cp1252"), (CANVAS, "utf-8"), (CANVAS, "utf-16")]
)
def test_what_is_given_back_differs_in_the_marks_alone(text, encoding, roster, tmp_path):
    found = roster(text, encoding=encoding)
    assert found.most() == (None if text == EXPORT else 6)
    line = next(iter(found.people))
    put_table(tmp_path / "upload.csv", found.filled({line: 2.5}))
    back, delimiter = (tmp_path / "upload.csv").read_bytes().decode(encoding), ";" if text == EXPORT else ","
    before, after = (list(csv.reader(io.StringIO(one), delimiter=delimiter)) for one in (text, back))
    assert after[line][found.column] == "2.5"
    before[line][found.column] = "2.5"
    assert after == before and back.startswith("\ufeff") == text.startswith("\ufeff")


@pytest.mark.parametrize(
    "text, column, words",
    [
        (GERMAN, "", "no columns that"),
        (MOODLE, "Mark", "no column 'Mark'"),
        (EXPORT.replace("ID number", "T (Real)"), "", "2 col"),
    ],
)
def test_the_column_of_marks_is_asked_for_where_it_is_not_plain(text, column, words, roster):
    with pytest.raises(ValueError, match=rf"{words}.*COLUMN=.*Email address"):
        roster(text, column)


def test_a_username_is_the_longest_that_the_roster_has(roster, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/Week_1_ann_lee_attempt_2026-11-20-10-11-12_a.ipynb").write_bytes(b"{}")
    assert [one.id for one in senders(tmp_path / "in", [], roster(CANVAS))] == ["ann_lee"]


def test_a_roster_is_kept_beside_the_marks(roster, tmp_path):
    given = roster(MOODLE)
    assert remember(tmp_path, tmp_path / "sources", given) == remember(tmp_path, None, None)
    _, kept = remember(tmp_path, None, None)
    assert kept and kept.settle([row("2001", "")])[0] == {"# 2001": 1}
