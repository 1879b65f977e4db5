"""The printed book: the core's notebooks in their order, whole but for solutions and tests."""

import ast
import os
import re
import shutil
import sys
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("playwright", reason="playwright prints it")
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))

import book  # noqa: E402
import pages  # noqa: E402
from looks import OF_A_TEST, STUB  # noqa: E402

from bmlab_teaching.working_copies import student_version, with_points, working_copy  # noqa: E402

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
PATH = ROOT / "notebooks/01_theory.ipynb"


def test_a_chapter_is_laid_open_and_has_no_solution_and_no_test():
    chapter, text = book.chapter(PATH), book.html(PATH)
    code = "\n".join(cell.source for cell in chapter.cells if cell.cell_type == "code")
    assert "SOLUTION" not in code and STUB in code and "def my_formula" in code
    assert "tried = my_formula" in PATH.read_text() and "tried = my_formula" not in code  # the test of it
    assert not any("locked cell" in cell.source for path in book.CORE for cell in book.chapter(path).cells)
    assert not re.search("<details(?! open)", text) and "What the cell says." in text
    stored = [out for cell in nbformat.read(PATH, as_version=4).cells for out in cell.get("outputs", [])]
    drawn = sum("image/png" in out.get("data", {}) for out in stored)
    assert text.count('src="data:image/png') >= drawn > 3


@pytest.mark.parametrize("path", book.CORE, ids=lambda path: path.stem)
def test_no_answer_stands_below_its_question(path):
    story, answers = book.html(path).rsplit('<h2 id="Answers">', 1)
    asked = sum("summary>Answer<" in cell.source for cell in nbformat.read(path, as_version=4).cells)
    assert "What the cell says." in answers and f"To prediction {asked}." in answers
    assert "What the cell says." not in story and "<summary>Answer" not in story
    assert "Then open this" not in story + answers
    assert "Check yourself" in story and "Check yourself" in answers


def test_no_page_of_the_site_speaks_of_a_locked_cell():
    """It folds what a test asks first, and runs none; what a test hides, a page has not."""
    assert all("what its test asks first" in words for words in (pages.ON_A_PAGE, pages.HINT))
    for path in pages.NOTEBOOKS:
        told = [cell.source for cell in nbformat.read(path, as_version=4).cells if "locked cell" in cell.source]
        shown = [OF_A_TEST.sub(pages.ON_A_PAGE, source) for source in told]
        assert told and not any("locked" in one or "hidden tests" in one for one in shown), path
        assert all(pages.ON_A_PAGE in one for one in shown), path


# What only a screen can do; what only a copy can; what is done only where a test runs.
MOVED = re.compile(r"\bslider\b|(?:^|[.:?!*] )(?:Drag|Press|Click|Turn the temperature)\b", re.MULTILINE)
RUN_HERE = re.compile(
    r"\byour (?:own )?computer\b|(?<!in your copy, )\bput (?:your|one of)\b|\bwhat you (?:did|clamped)\b", re.I
)
TESTED = re.compile(r"\b(?:is|are)\s+checked\b|\bthe (?:check|test)s?\b|\byou get\b", re.I)


@pytest.mark.parametrize("path", pages.NOTEBOOKS, ids=lambda path: path.stem)
def test_no_form_of_a_notebook_speaks_of_what_it_has_not(path):
    """A copy of one's own is handed in to nobody, a page runs no test, and in a book nothing is pressed."""

    def told(cells):
        return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")

    alone, in_class, printed = working_copy(path), student_version(path), book.chapter(path)
    assert "Hand in" not in told(alone.cells) and "**Hand in** this file" in told(in_class.cells)
    moved = [part for part in told(printed.cells).split("\n\n") if MOVED.search(part) and "On a screen" not in part]
    assert path not in book.CORE or not moved
    for text in (told(alone.cells), told(in_class.cells), told(printed.cells)):
        assert text.count("Under each question with points is a cell for your answer.") == 1
        assert "cell under each question" not in text  # in a class one without points has none
        assert not re.search(r"\b[Tt]he tests?\b (?!images|counts|set)[a-z]+s\b|\byour slider\b|\bthis page\b", text)
    assert not RUN_HERE.search(told(alone.cells))
    assert not [one.title for one in with_points(nbformat.read(path, as_version=4)) if TESTED.search(one.question)]
    assert "Do this" in told(alone.cells) and not re.search(r"\*\*(Do this|Find)\b|[Hh]and in\b", told(printed.cells))


@pytest.mark.parametrize("path", pages.NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_said_of_a_view_holds_on_a_telephone_and_in_the_dark(path):
    """There its parts stand below each other, and what is written in ink is white."""
    notebook = nbformat.read(path, as_version=4)
    front = next(cell.source for cell in notebook.cells if "**Do this.**" in cell.source).partition("**Time**")[0]
    assert not re.search(
        r"\b(?:(?<!is )(?<!are )left|right|sides|darker|lighter|black)\b|\bmiddle(?: one|,)", front, re.I
    ), front


@pytest.mark.parametrize("path", book.CORE, ids=lambda path: path.stem)
def test_no_answer_that_the_book_moves_to_its_end_points_below_or_above(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code" and "widgets.predict(" in cell.source:
            calls = [one for one in ast.walk(ast.parse(cell.source)) if isinstance(one, ast.Call)]
            drawn = [ast.unparse(call) for call in calls if getattr(call.func, "attr", "") == "text"]
            assert not [words for words in drawn if re.search(r"\b(?:below|above)\b", words)], cell.id


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium prints it")
def test_the_book_is_the_core_in_order_and_the_contents_say_the_pages(tmp_path, monkeypatch):
    from playwright.sync_api import sync_playwright

    monkeypatch.setattr(book, "FOLDER", tmp_path)
    assert [path.stem[:3] for path in book.CORE] == [*(f"{k:02}_" for k in range(6)), "05b"]
    bodies = [f'<article id="{path.stem}"><h1>{path.stem}</h1><p>$x^2$</p></article>' for path in book.CORE]
    text = book.book(bodies, list(range(3, 3 + len(book.CORE))))
    assert re.findall(r'href="#(\w+)".*?<span>(\d+)</span>', text) == [
        (path.stem, str(3 + k)) for k, path in enumerate(book.CORE)
    ]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        assert book.length(book.printed(browser, text)) == 2 + len(book.CORE)
        browser.close()
