"""What a teacher opens in a browser: nothing of a student's runs there, and nothing is asked from outside."""

import nbformat
import pytest

pytest.importorskip("nbgrader")
from awkward_class import Kit, dumped, make_class
from nbconvert import HTMLExporter
from small_course import lines_of, short_notebook

from bmlab.teaching import grading, walls
from bmlab.teaching.grading import grade
from bmlab.teaching.handouts import hand_out

pytestmark = pytest.mark.skipif(not walls.has_bubblewrap(), reason="needs bubblewrap")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A folder with every page that teaching writes, for a student who writes scripts wherever he can, and for Ann."""
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
    return folder


def test_no_page_runs_a_script_of_a_student_or_asks_for_anything(browser, pages):
    found = sorted(pages.rglob("*.html"))
    assert len(found) >= 7
    for path in found:
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


def test_points_and_words_by_hand_come_back_without_a_run(browser, pages, serve, monkeypatch):
    address = serve("mark", f"OUT={pages / 'graded'}")
    page = browser.new_page()
    page.goto(f"{address}/formgrader/gradebook/twice/twice")
    page.locator("tr", has_text="1 / 3").get_by_role("link").first.click()
    page.wait_for_load_state("networkidle")
    for name, text in (("test_double", "1.5"), ("double-comment", "A good beginning.")):
        page.fill(f"#{name}", text)
        with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
            page.locator(f"#{name}").blur()
    page.close()
    monkeypatch.setattr(grading.sandbox, "execute", lambda *a, **k: pytest.fail("it was run again"))
    grade(pages / "sources", pages / "returned", pages / "graded", say=lambda line: None, seconds=60)
    line = lines_of(pages / "graded")["Ann"]
    assert (line["twice: 1. Do: first"], line["twice: 2. Do: double"], line["twice"]) == ("1", "1.5", "2.5")
    assert "A good beginning." in (pages / "graded/feedback/Ann/twice.html").read_text(encoding="utf-8")


def test_formulas_are_drawn_without_a_script(browser, pages):
    page = browser.new_page()
    page.goto(next((pages / "graded/feedback").rglob("*.html")).as_uri())
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
