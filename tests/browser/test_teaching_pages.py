"""Pages that teachers and students open in a browser: nothing runs or is requested, or is wider than a telephone."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "teaching" / "tests"))
from awkward_class import Kit, dumped, make_class
from small_course import graded, short_notebook, walled

from bmlab_teaching.handouts import hand_out

pytestmark = walled


@pytest.fixture(scope="module")
def pages(tmp_path_factory, handouts):
    """Every page that teaching writes, for a student who writes scripts in every field, and for Ann."""
    folder = tmp_path_factory.mktemp("pages")
    kit = Kit(short_notebook(folder))
    made = make_class(folder / "unused", source := folder / "sources/twice.ipynb")
    for student, data in (("<b>Eve", made.data("scripts")), ("Ann", dumped(kit.answered("first")))):
        (folder / "returned" / student).mkdir(parents=True)
        (folder / "returned" / student / source.name).write_bytes(data)
    graded(folder)
    hand_out(folder / "sources", folder / "handouts", report=lambda line: None)
    found = sorted(folder.rglob("*.html"))
    assert len(found) == 4
    return [*found, handouts / "teacher/solutions.html"]


def test_no_page_runs_a_script_of_a_student_or_asks_for_anything(browser, pages):
    for path in pages:
        page, requested, dialogs = browser.new_page(), [], []
        page.on("dialog", lambda dialog, dialogs=dialogs: (dialogs.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request, requested=requested: requested.append(request.url))
        page.route("**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else route.abort())
        page.goto(path.as_uri())
        page.wait_for_timeout(300)
        assert not dialogs and not [url for url in requested if not url.startswith((path.as_uri(), "data:"))], path
        page.close()


@pytest.mark.parametrize("width", [390, 1440])
def test_no_page_scrolls_sideways(browser, pages, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    for path in pages:
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        cut = "[...document.querySelectorAll('section, pre')].filter(e => e.scrollWidth > e.clientWidth + 2).length"
        assert page.evaluate(cut) == 0, path
    page.close()
