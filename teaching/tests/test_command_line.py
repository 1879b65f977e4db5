"""python -m bmlab_teaching: the files that each command reads and writes, and the options it hands on."""

import re
from pathlib import Path

import pytest

from bmlab_teaching import grading, handouts
from bmlab_teaching.__main__ import arguments, run
from bmlab_teaching.sandbox import Limits

DONE = {
    "handouts": (Path("notebooks"), Path("handouts")),
    "handouts --out there": (Path("notebooks"), Path("there")),
    "grade returned": (Path("notebooks"), Path("returned"), Path("graded"), Limits(300, 4, False)),
    "grade x.zip --seconds 9 --gigabytes 2 --trust --out there": (
        Path("notebooks"), Path("x.zip"), Path("there"), Limits(9, 2, True),
    ),
    "--notebooks mine grade returned": (Path("mine"), Path("returned"), Path("graded"), Limits(300, 4, False)),
    "mark": (None, Path("graded")),
    "--notebooks mine mark --out there": (Path("mine"), Path("there")),
}  # fmt: skip


@pytest.mark.parametrize("typed", DONE)
def test_a_command_reads_and_writes_where_it_says(typed, tmp_path, monkeypatch):
    for name in ("notebooks", "mine"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["bmlab_teaching", *typed.split()])
    asked = []

    def note(*given, limits=None, **_):
        asked.append(given if limits is None else (*given, limits))

    for home, name in ((grading, "grade"), (grading, "mark"), (handouts, "hand_out")):
        monkeypatch.setattr(home, name, note)
    run(arguments())
    assert asked == [DONE[typed]]


def test_the_roster_of_the_class_and_its_column_are_read(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "class.csv").write_text("Name,Mail,Points\nAnn,ann@x.y,\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for command in ("grade returned", "mark"):
        rosters = []
        monkeypatch.setattr(grading, command.split()[0], lambda *_, roster, found=rosters, **__: found.append(roster))
        monkeypatch.setattr("sys.argv", ["x", *command.split(), "--roster", "class.csv", "--column", "Points"])
        run(arguments())
        assert rosters[0] is not None and "Points" in repr(rosters[0])


@pytest.mark.parametrize("typed", ["--help", "handouts --help", "grade --help", "mark --help"])
def test_every_command_and_option_is_explained(typed, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["x", *typed.split()])
    with pytest.raises(SystemExit):
        arguments()
    lines = [*capsys.readouterr().out.splitlines(), "the end"]
    listed = [k for k, line in enumerate(lines) if re.match(r" {2,4}(-|handouts|grade|mark)", line)]
    bare = [lines[k] for k in listed if not re.search(r"\S  +\S", lines[k]) and not lines[k + 1][:20].isspace()]
    commands = {*re.findall(r"^ {4}(\w+) ", "\n".join(lines), re.M)} - {"delivery"}
    assert listed and not bare and commands == ({"handouts", "grade", "mark"} if typed == "--help" else set())


def test_without_notebooks_one_sentence_says_where_to_type_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["x", "handouts"])
    with pytest.raises(ValueError, match="there is no folder notebooks; type this in the folder of the course"):
        run(arguments())
