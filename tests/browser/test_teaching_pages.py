"""What a teacher opens in a browser: nothing of a student's runs there, and nothing is asked from outside."""

import nbformat
import pytest

pytest.importorskip("nbgrader")
from awkward_class import Kit, dumped, make_class
from nbconvert import HTMLExporter
from small_course import short_notebook

from bmlab.teaching import walls
from bmlab.teaching.grading import grade
from bmlab.teaching.handouts import hand_out

pytestmark = pytest.mark.skipif(not walls.has_bubblewrap(), reason="needs bubblewrap")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Every page that teaching writes, for a student who writes scripts wherever he can."""
    folder = tmp_path_factory.mktemp("pages")
    kit = Kit(short_notebook(folder))
    made = make_class(folder / "unused", kit_path := folder / "sources/twice.ipynb", folder)
    (folder / "returned/<b>Eve").mkdir(parents=True)
    (folder / f"returned/<b>Eve/{kit_path.name}").write_bytes(made.data("scripts"))
    (folder / "returned/Ann").mkdir()
    (folder / f"returned/Ann/{kit_path.name}").write_bytes(dumped(kit.answered("first")))
    (folder / "graded/course/warm").mkdir(parents=True)
    grade(folder / "sources", folder / "returned", folder / "graded", say=lambda line: None, seconds=60)
    hand_out(folder / "sources", folder / "handouts", say=lambda line: None)
    for stored in (folder / "graded/course/autograded").rglob("*.ipynb"):  # as nbgrader's menu shows it
        body, _ = HTMLExporter(template_name="lab").from_notebook_node(nbformat.read(stored, 4))
        (folder / f"graded/{stored.parts[-3]}_formgrader.html").write_text(body, encoding="utf-8")
    return sorted(folder.rglob("*.html"))


def test_no_page_runs_a_script_of_a_student_or_asks_for_anything(browser, pages):
    assert len(pages) >= 7
    for path in pages:
        page, asked, dialogs = browser.new_page(), [], []
        page.on("dialog", lambda dialog, dialogs=dialogs: (dialogs.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.route("**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else route.abort())
        page.goto(path.as_uri())
        page.wait_for_timeout(300)
        outside = [url for url in asked if not url.startswith((path.as_uri(), "data:"))]
        if path.name.endswith("_formgrader.html"):  # nbconvert's pages load MathJax; 127.0.0.1 is what the script asks
            outside = [url for url in outside if "127.0.0.1" in url]
        assert not dialogs and not outside, path
        page.close()


def test_formulas_are_drawn_without_a_script(browser, pages):
    page = browser.new_page()
    page.goto(next(path for path in pages if "feedback" in path.parts).as_uri())
    box = page.locator("math").first.bounding_box()
    assert box["width"] > 10 and box["height"] > 10
    page.close()


CUT = """() => [...document.querySelectorAll('section, .body, pre, table, .text, .words')]
  .filter(e => e.scrollHeight > e.clientHeight + 2 || e.scrollWidth > e.clientWidth + 2)
  .map(e => e.className + e.textContent.slice(0, 80))"""


def test_no_slide_and_no_solution_is_cut(browser, handouts):
    """On the screens that one meets in a lecture; letters are as large as the longest line allows."""
    page = browser.new_page()
    for page_file in sorted((handouts / "teacher").rglob("*.html")):
        page.goto(page_file.as_uri())
        for width, height in ((1280, 720), (1024, 768), (1920, 1080)):
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate(CUT) == [], (page_file.name, width)
    page.close()
