"""The tables and pages of a round of grading, to the letter: no law says what stands on them, so it is written down.

`PYTHONPATH=tests python teaching/tests/test_round.py` writes round.txt after a page or a table was given other words:
the difference shows what a teacher and a student read now.  Formulas are left out, and the colours of code: libraries
make them.
"""

import re
import tempfile
from pathlib import Path

import nbformat
from small_course import RIGHT, TWICE, short_notebook, story_cells

from bmlab_teaching import grading, marks
from bmlab_teaching.cells import PASSED
from bmlab_teaching.pages import code, solutions
from bmlab_teaching.roster import read_roster

STORED = Path(__file__).with_name("round.txt")
ROSTER = """Identifier,Full name,Group,Grade,Maximum grade
Participant 2001,Ann,7,,10
Participant 2002,Bo,,,10
Participant 2003,Cy,,,10
Participant 2004,Di,7,,10
Participant 2005,Ed,,,10
Participant 2006,Fay,,,10
Participant 2007,Gus,,,10
Participant 2008,Hal,,,10
Participant 2009,Ida,7,,10
"""
BY_HAND = """id,notebook,exercise,points,comment,read
2001,twice,explained,1.5,Nearly.,explained
2002,twice,double,"1,5",Half right.,
2003,twice,first,,Look again.,
2007,twice,explained,2,Fine.,other words
"""


def answer(name, source="", **more):
    """What was read of an answer; without a source it is open."""
    return {"open": not source, "source": source, "words": name, "shape": "", "html": "", "calls": []} | more


def failed(words):
    return {"passed": False, "kind": "AssertionError", "words": words}


def notebook(first="", double="", explained="", size="", **more):
    """The result of a notebook: of its answers and, if they are not right, of its tests."""
    sources = {"first": first, "double": double, "explained": explained, "my_size": size}
    about = {"answers": {name: answer(name, source) for name, source in sources.items()}, "student": ""}
    passed = {"test_first": [dict(PASSED)], "test_double": [dict(PASSED), dict(PASSED)]}
    return {"twice": about | {"verdicts": passed, "errors": {}, "printed": {}, "flags": []} | more}


def rows():
    """A class: one has all, others a part, a blank copy, nothing, or what was graded long ago."""
    first, double = RIGHT.values()
    found = {
        "Ann": notebook(first, double, "As it is, <so>.", printed={"first": "1\n"}, student="'4711'"),
        "Bo": notebook(
            first, "def double(x):\n    return x + x % 4", "Because.",
            verdicts={"test_first": [dict(PASSED)], "test_double": [dict(PASSED), failed("wrong at 5 & 7")]},
            flags=["it looks at the test"] * 2, student='"4711"',
        ),
        "Cy": notebook(
            "first = bas", errors={"first": "NameError: name 'bas' is not defined"},
            verdicts={"test_first": [failed("NameError: name 'first' is not defined")]},
        ),
        "Di": notebook(),
        "Ed": {"twice": {"answers": {}, "problem": "twice was not graded: the disk is full"}},
        "Fay": {},
        "Gus": notebook(
            first, double, "Why not.", "def my_size(x):\n    return abs(x)",
            verdicts={"test_first": [dict(PASSED)], "test_double": [dict(PASSED), failed("wrong at 5 & 7")]},
        ),
        "Jo": notebook(first, verdicts={"test_first": [dict(PASSED)] * 2}),
        "Kay": notebook(
            first, double, verdicts={"test_first": [dict(PASSED)], "test_double": [failed("not twice")] * 2},
        ),
        "=Eve <b>": notebook("first = bmlab.exact(base)", double, "Words;\nmore words."),
    }  # fmt: skip
    for who in ("Bo", "Gus"):
        found[who]["twice"]["answers"]["first"]["shape"] = "alike"
    for about in [one["twice"] for one in found.values() if one and "problem" not in one["twice"]]:
        about["answers"]["double"]["html"] = code(about["answers"]["double"]["source"])
    found["=Eve <b>"]["twice"]["answers"]["first"]["calls"] = ["bmlab.exact", "bmlab.fit"]
    people = {name: (str(2001 + k), f"{name}_{2001 + k}_assignsubmission_file_") for k, name in enumerate(found)}
    people["=Eve <b>"] = ("3000", "eve/twice-2.ipynb")
    some = {
        name: grading.Row(who, who, name, notebooks=about, outer={"twice": outer} if about else {})
        for (name, about), (who, outer) in zip(found.items(), people.values(), strict=True)
    }
    some["Fay"].remarks = ["essay.pdf: no notebook of this course", "notes.txt: no notebook of this course"]
    some["Bo"].doubts = ["it came under two names"]
    return {one.key: one for one in some.values()}


def told(page):
    """The words of a page and how they stand, without its styles, its formulas and the colours of code."""
    body = page[page.index("<body>") :]
    body = re.sub(r"<math.*?</math>", "[a formula]", body, flags=re.DOTALL)
    plain = re.sub(r'<div class="code">.*?</div>', lambda found: re.sub("<[^>]*>", "", found[0]), body, flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in plain.splitlines() if line.strip())


def whole_round(folder):
    """All that a round writes, as one text."""
    source, out = short_notebook(folder, TWICE, story_cells()), folder / "graded"
    out.mkdir()
    (out / "by_hand.csv").write_text(BY_HAND, encoding="utf-8")
    (folder / "class.csv").write_text(ROSTER, encoding="utf-8")
    parts = []
    for roster in (read_roster(folder / "class.csv"), None):
        said = marks.write_tables(out, rows(), grading.course(source.parent), roster)
        parts.append("\n".join(said).replace(str(out), "OUT"))
        parts += [(out / name).read_text(encoding="utf-8-sig") for name in ("grades.csv", "by_hand.csv")]
        parts.append(told((out / "class.html").read_text(encoding="utf-8")))
        if roster:
            parts.append((out / "upload.csv").read_text(encoding="utf-8-sig"))
            pages = sorted((out / "feedback").rglob("*.html"))
            parts += [f"{page.parent.name}\n{told(page.read_text(encoding='utf-8'))}" for page in pages]
    parts.append(told(solutions({"twice": nbformat.read(source, 4)})))
    return "\n\n".join(parts).replace("\r\n", "\n") + "\n"


def test_a_round_is_told_as_it_was(tmp_path):
    assert whole_round(tmp_path).splitlines() == STORED.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        STORED.write_text(whole_round(Path(folder)), encoding="utf-8")
