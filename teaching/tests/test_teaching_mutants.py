"""Faults in grading, each planted where somebody would make it: the law that is there for it notices.

test_mutants.py does the same for the mathematics.
"""

from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("nbgrader")
pytest.importorskip("resource")  # no grading on Windows
from awkward_class import CASES, Kit
from mutants import Mutant
from small_course import run_here, short_notebook, walled
from test_mutants import with_bug
from test_teaching_walls import HARMFUL, check_cleaned, check_wall

from bmlab.teaching import cleaning, collecting, deliveries, gradebooks, matching, slicing, walls
from bmlab.teaching.course import without_solutions
from bmlab.teaching.deliveries import File, Sender


def put_in_order(case):
    """The small course's notebook in an awkward state, and as it is graded."""
    with TemporaryDirectory() as folder:
        kit = Kit(short_notebook(Path(folder)))
    data = CASES[case].make(kit)
    return kit, data, matching.rebuilt(kit.source, without_solutions(kit.source), matching.read_cells(data))


def check_full_marks(case):
    """Whoever answered everything has nothing open and fails no test of the handout's."""
    kit, _, found = put_in_order(case)
    assert not found.open
    tests = [cell.source for cell in without_solutions(kit.source).cells if "assert" in cell.source]
    assert [source for source in found.run.values() if "assert" in source] == tests
    assert not any(run_here(found.run.values()))


def check_attempts():
    """An answered copy counts before a blank one, and then the later one."""
    attempts = []
    for case, time in (("blank", 3), ("right", 1), ("right", 2)):
        _, data, found = put_in_order(case)
        file = File(PurePosixPath("ann/twice.ipynb"), data, "", time)
        attempts.append(collecting.Attempt(file, Sender("ann", "Ann", time=time), found))
    assert [one.sender.time for one in sorted(attempts, key=lambda one: one.rank)] == [3, 1, 2]


def check_paths():
    """No name in a zip leads out of it."""
    for name in ("../../out", "/etc/out", "C:\\..\\out", "a/./../out"):
        assert not {"..", ".", ""} & set(deliveries.parts_of(name)), name


def check_cells():
    """A name that a student chose is no formula of a spreadsheet."""
    assert not any(str(gradebooks.written(f"{sign}1+1")).startswith(sign) for sign in "=+-@")


BEHIND_THE_WALL = [
    Mutant("the network is there", walls.bubblewrap, '"--unshare-all"', '"--unshare-pid"', partial(check_wall)),
    Mutant(
        "all processes are there",
        walls.bubblewrap,
        '"--proc", "/proc"',
        '"--ro-bind", "/proc", "/proc"',
        partial(check_wall),
    ),
    Mutant("the package can be changed", walls.bubblewrap, '"--ro-bind-try"', '"--bind-try"', partial(check_wall)),
    Mutant(
        "all files are there",
        walls.bubblewrap,
        '["/usr/lib", "/usr/lib64", "/lib", "/lib64"]',
        '["/tmp"]',
        partial(check_wall),
    ),
]
MUTANTS = [
    Mutant(
        "Markdown is taken as it is",
        cleaning.clean_markdown,
        "escaped == page",
        "True",
        partial(check_cleaned, *HARMFUL),
    ),
    Mutant(
        "HTML is taken as it is",
        cleaning.clean_html,
        "nh3.clean(without_acts(text), url_schemes=SCHEMES)",
        "text",
        partial(check_cleaned, *HARMFUL),
    ),
    Mutant(
        "formulas may link",
        cleaning.without_acts,
        'ACTING.sub(r"\\\\text", text)',
        "text",
        partial(check_cleaned, *HARMFUL),
    ),
    Mutant(
        "scripts are kept among outputs",
        cleaning.clean,
        "for kind in SHOWN if kind in output.data",
        "for kind in output.data",
        partial(check_cleaned, *HARMFUL),
    ),
    Mutant(
        "a split answer is two answers",
        matching.joined,
        '"\\n".join(kept)',
        "kept[-1] if kept else ''",
        partial(check_full_marks, "split"),
    ),
    Mutant(
        "answers are known by metadata alone",
        matching.roles,
        "if exercise.answer not in found",
        "if False",
        partial(check_full_marks, "no metadata"),
    ),
    Mutant(
        "tests that were deleted stay away",
        matching.rebuilt,
        "for test in tests]",
        "for test in ()]",
        partial(check_full_marks, "tests deleted"),
    ),
    Mutant(
        "what was deleted is gone",
        matching.with_story,
        "gone and names",
        "False and names",
        partial(check_full_marks, "neighbours deleted"),
    ),
    Mutant(
        "the story is cut where it is used",
        slicing.needed_cells,
        "own[place] or ",
        "own[place] or False and ",
        partial(check_full_marks, "right"),
    ),
    Mutant(
        "a blank copy replaces an answer",
        collecting.Attempt.rank.fget,
        "return answers, ",
        "return 0, ",
        partial(check_attempts),
    ),
    Mutant(
        "the first attempt counts",
        collecting.Attempt.rank.fget,
        "self.sender.attempt, time",
        "self.sender.attempt, -time",
        partial(check_attempts),
    ),
    Mutant("a zip leads out of itself", deliveries.parts_of, '"", ".", ".."', '""', partial(check_paths)),
    Mutant("a name is a formula", gradebooks.written, '"=", ', "", partial(check_cells)),
]


@pytest.mark.parametrize(
    "mutant", [*MUTANTS, *(pytest.param(one, marks=walled) for one in BEHIND_THE_WALL)], ids=lambda mutant: mutant.name
)
def test_the_law_catches(mutant, monkeypatch):
    monkeypatch.setattr(mutant.function, "__code__", with_bug(mutant))
    matching.plain.cache_clear()
    slicing.names.cache_clear()
    with pytest.raises(AssertionError):
        mutant.law()


@pytest.mark.parametrize(
    "law",
    {(m.law.func, m.law.args): m.law for m in MUTANTS}.values(),
    ids=lambda law: f"{law.func.__name__} {law.args[:1]}",
)
def test_the_law_holds_without_a_fault(law):
    law()
