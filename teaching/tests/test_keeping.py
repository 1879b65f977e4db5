"""Values that are computed once for a class: the same ones, and nobody's but the handout's."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from small_course import LIMITS, exercise_cells, harmless, short_notebook

from bmlab_teaching import keeping
from bmlab_teaching.course import handout
from bmlab_teaching.judging import Judge, judge
from bmlab_teaching.keeping import keep, parts_of, with_kept
from bmlab_teaching.matching import STAND_IN, plan
from bmlab_teaching.proofs import solved
from bmlab_teaching.reading import Cell

STORY = ["import numpy as np", "seen = []\nrows = np.ones(3)", "def learn(x):\n    seen.append(x)\n    return x + 1",
         "machine = learn(rows)", "text = str(machine)"]  # fmt: skip
ABOUT: Any = SimpleNamespace(
    story=frozenset(part.text for parts in parts_of(STORY) for part in parts),
    kept={parts[-1].key: {"machine": "kept"} for parts in [parts_of(STORY)[3]]},
)
STEPS = [("run", source) for source in STORY]


def done(*own, at=3, answer="mine = text"):
    """What is done of the story's four cells, with own cells at a place in it, and an answer below."""
    steps = [*STEPS[:at], *(("run", source) for source in own), *STEPS[at:], ("run", answer)]
    return [one for some in with_kept(ABOUT, steps) for one in some]


def test_what_leads_to_a_kept_value_alone_is_not_run():
    found = with_kept(ABOUT, [*STEPS, ("run", "mine = text")])
    assert found == [[], [], [], [("take", {"machine": "kept"})], [STEPS[4]], [("run", "mine = text")]]  # each its own
    assert done() == [("take", {"machine": "kept"}), STEPS[4], ("run", "mine = text")]
    assert done(at=5) == done() and done(answer="mine = 1") == [("run", "mine = 1")]
    assert done("rest = rows")[:2] == [STEPS[0], ("run", "rows = np.ones(3)")]  # what a student's own cell needs
    assert ("take", {"machine": "kept"}) in done(STAND_IN.format("blank", "def blank(): pass", "", {}))
    assert ("take", {"machine": "kept"}) in done("rows = 2", at=4)  # below it: too late to matter


@pytest.mark.parametrize(
    "own",
    [
        "rows = np.ones(4)",
        "rows[0] = 7",
        "rows.sort()",
        "def learn(x):\n    return 0",
        "np.ones = print",
        "np.random.seed(1)",
        "if True:\n    rows = 3",
        "from numpy import *",
        "globals()['rows'] = 3",
        "exec('rows = 3')",
        "setattr(np, 'ones', print)",
    ],
)
def test_a_value_that_a_students_own_line_may_have_changed_is_their_own(own):
    assert all(kind == "run" for kind, _ in done(own)) and STEPS[3] in done(own)


def test_a_name_that_a_kept_call_changes_beside_its_result_is_not_lost():
    """`learn` appends to `seen`: who looks at that list has the call, too."""
    assert STEPS[3] in done(answer="mine = text, seen")


@pytest.mark.parametrize("seconds, kept", [({"rows": 1}, 2), ({"machine": 1}, 1), ({"text": 1}, 0), ({}, 0)])
def test_a_value_is_kept_that_takes_long_with_all_that_leads_to_it(monkeypatch, seconds, kept):
    """Of rows -> machine and of text, which nothing needs: what is short and what a short way leads to is not kept."""
    story = ["rows = [1]", "machine = [*rows, 2]", "text = 'a'"]

    def answer(keep):
        text, (name,) = keep
        return {"seconds": seconds.get(name, 0), "error": "", "values": {name: text}}

    box = SimpleNamespace(request=lambda run=(), take=(), keep=(): answer(keep) if keep else None, close=lambda: None)
    monkeypatch.setattr(keeping, "Sandbox", lambda *given: box)
    about: Any = SimpleNamespace(tables=[], story={*story})
    found = keeping.kept_of(about, story, LIMITS)
    names = {name for values in found.values() for name in values}
    assert names == ({"rows", "machine"} if kept == 2 else {"machine"} if kept else {*seconds})


class Importing:
    """A process in which the first statement that makes a number imports what all of them need, a second long."""

    close, imported = lambda self: None, False

    def request(self, run=(), take=(), keep=()):
        if not keep:
            return None
        text, (name,) = keep
        seconds, self.imported = float(text[-1].isdigit() and not self.imported), True
        return {"seconds": seconds, "error": "", "values": {name: text}}


def test_an_import_that_a_kept_value_spares_is_the_part_of_the_next_that_needs_it(monkeypatch):
    """Else every submission would pay it, there: so that is kept, too, and what needs no import never is."""
    monkeypatch.setattr(keeping, "Sandbox", lambda *given: Importing())
    story = ["one = 1", "two = 2", "text = 'a'"]
    found = keeping.kept_of(SimpleNamespace(tables=[], story={*story}), story, LIMITS)  # pyright: ignore
    assert [*found.values()] == [{"one": "one = 1"}, {"two": "two = 2"}]


@harmless
def test_a_class_has_the_values_that_its_handout_makes_and_no_submission_adds_one(tmp_path, monkeypatch):
    more = [nbformat.v4.new_code_cell("long = [base] * 3"), nbformat.v4.new_code_cell("both = long + [base]")]
    test = "assert total == sum(both), 'the sum'\nassert total == 4"
    solution = "### BEGIN SOLUTION\ntotal = sum(both)\n### END SOLUTION"
    path = short_notebook(tmp_path, [], more)
    notebook = nbformat.read(path, 4)
    notebook.cells += exercise_cells(1, "total", solution, test, [])
    nbformat.write(notebook, path)
    monkeypatch.setattr(keeping, "LONG", -1)  # whatever it takes
    about = handout(path)
    kept = keep(about, [source for kind, source, _ in solved(about).steps if kind == "run"], LIMITS)
    assert {name: text for values in kept.values() for name, text in values.items()} == {
        "base": "1",
        "long": '{"list": [1, 1, 1]}',
        "both": '{"list": [1, 1, 1, 1]}',
    }
    asked, about = [], about._replace(kept=kept)
    monkeypatch.setattr(Judge, "take", lambda self, values, take=Judge.take: (asked.append(values), take(self, values)))
    cells = [Cell(*cell) for cell in about.solution]
    for before, passed in ("", True), ("long = [7]", False):
        own = [Cell("code", before, "")] * bool(before)
        done = judge(about, plan(about, [*cells[:3], *own, *cells[3:]]), LIMITS)
        assert [one["passed"] for one in done["verdicts"]["test_total"]] == [passed]
    assert [[*values] for values in asked] == [["both"], ["base"]]  # of who changed `long`: what does not depend on it


def test_what_is_imported_is_compiled_once(tmp_path):
    module, broken = tmp_path / "some.py", tmp_path / "broken.py"
    module.write_text("x = 1")
    broken.write_text("x = (")
    files = [str(module), str(broken), str(tmp_path / "missing.py"), "", str(tmp_path / "built_in.so")]
    keeping.compile_files(files)
    (compiled,) = (tmp_path / "__pycache__").iterdir()
    assert compiled.name.startswith("some.")
    os.utime(module, (0, 0))
    os.utime(compiled, (5, 5))
    keeping.compile_files(files)
    assert compiled.stat().st_mtime == 5  # it is newer than its source
    os.utime(module, (9, 9))
    keeping.compile_files(files)
    assert compiled.stat().st_mtime > 9


@harmless
def test_what_a_solution_and_its_tests_import_is_known(tmp_path):
    solution = "### BEGIN SOLUTION\nimport colorsys\nfirst = 1\n### END SOLUTION"
    found = handout(short_notebook(tmp_path, [("first", solution, "import wave\nassert first == 1, 'one'", [])]))
    names = {Path(file).name for file in keeping.imported(found, [found.solution_of("first")], LIMITS)}
    assert {"colorsys.py", "wave.py"} <= names
