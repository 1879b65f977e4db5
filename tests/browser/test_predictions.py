"""A prediction in JupyterLab and on an exported page: it asks first, keeps the choice, and leaks nothing before."""

import re
from html import escape
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from bmlab.widgets.page import Page
from bmlab.widgets.predicting import alive

ROOT = Path(__file__).resolve().parents[2]
CELLS = [
    new_code_cell("import matplotlib.pyplot as plt\nfrom bmlab import plot, widgets"),
    new_markdown_cell("**Predict.** Which?\n- **A** one\n- **B** two\n- **C** three"),
    new_code_cell('with widgets.predict("00.1"):\n    x = 3\n    print("it is <b>", "two" if x else "one")'),
    new_code_cell('with widgets.predict("00.1"):\n    plt.plot([0, 1])\n    plot.show(\'A "line" that rises.\')'),
    new_markdown_cell(
        "<details><summary>Answer</summary>\n\n**B.** A and C tempt.\n\nTwo it is. **A** is less by $1. A$, a gap. So "
        "it goes. **C** is more. A gap of one. (Not A.)\n\n</details>\n\nThe story goes on."
    ),
    new_markdown_cell("**Predict.** Again?\n- **A** one\n- **B** two\n- **C** three"),
    new_code_cell('with widgets.predict("00.2"):\n    print("it is three, and x", x)'),
    new_markdown_cell("<details><summary>Answer</summary>\n\n**C.** A and B tempt.\n\n</details>"),
]
FIRST, SECOND = "it is <b> two", "it is three, and x 3"


def course(cells):
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=list(cells), metadata={"kernelspec": kernel})


@pytest.fixture
def prediction(notebook):
    """A notebook with two predictions, run to its end."""
    nbformat.write(course(CELLS), notebook.folder / "predict.ipynb")
    notebook.open("predict.ipynb").run()
    notebook.page.get_by_role("group", name="Your prediction").nth(2).wait_for()
    yield notebook
    assert not notebook.errors and not notebook.outside


def seen(page, words):
    return page.get_by_text(words, exact=False).filter(visible=True).count() > 0


def marked(page):
    """The answers' words on the options that were chosen, without formulas."""
    words = "mark => [...mark.childNodes].map(x => /^mjx/i.test(x.nodeName) ? '' : x.textContent).join('').trim()"
    return page.locator("details mark").evaluate_all(f"marks => marks.map({words})")


def choose(page, number, letter):
    """Choose by keyboard in one of the predictions."""
    group = page.get_by_role("group", name="Your prediction").filter(visible=True)
    button = group.filter(has=page.get_by_role("button", name="A", exact=True)).nth(number)
    button.get_by_role("button", name=letter, exact=True).press("Enter")


def test_run_all_leaks_nothing_and_the_cells_below_run(prediction):
    page = prediction.page
    assert not seen(page, FIRST) and not seen(page, SECOND) and not seen(page, "A and C tempt")
    assert page.get_by_role("img", name='A "line" that rises.').count() == 0  # hidden from screen readers too
    assert page.get_by_role("button", name="A", exact=True).count() == 2  # the second cell of a prediction asks nothing
    assert seen(page, "This appears with your prediction above.") and seen(page, "The story goes on.")


def test_a_choice_locks_and_the_output_and_the_answer_appear(prediction):
    page = prediction.page
    choose(page, 0, "A")
    page.get_by_text("You chose A; it is B. First guesses in this notebook: 0 of 1 right.").wait_for()
    assert seen(page, FIRST) and seen(page, "A and C tempt")
    picture = page.get_by_role("img", name='A "line" that')
    width, shown = picture.evaluate("one => [one.naturalWidth, one.clientWidth]")
    assert picture.is_visible() and width == pytest.approx(2 * shown, abs=2)  # for dense displays
    assert not seen(page, SECOND) and not seen(page, "A and B tempt")
    page.locator("mark mjx-container").wait_for()
    assert marked(page) == ["A and C tempt.", "A is less by , a gap. So it goes.", "(Not A.)"]
    choose(page, 0, "B")  # too late
    choose(page, 1, "C")
    page.get_by_text("You chose C, and so it is. First guesses in this notebook: 1 of 2 right.").wait_for()
    assert page.get_by_role("button", pressed=True).all_inner_texts() == ["A", "C"]


def test_a_choice_stays_over_a_restart_and_in_a_page_that_is_loaded_again(prediction):
    page = prediction.page
    choose(page, 0, "A")
    page.get_by_text("You chose A; it is B.").wait_for()
    prediction.restart().run()
    page.get_by_text("You chose A; it is B.").wait_for()
    assert seen(page, FIRST) and not seen(page, SECOND)
    prediction.save().shut_down()
    prediction.open("predict.ipynb")
    page.get_by_text("You chose A; it is B.").wait_for()
    page.get_by_text("A is less by").wait_for()
    assert not seen(page, SECOND) and "A is less by" in " ".join(marked(page))


def executed(cells):
    """The notebook as nbclient stores it."""
    from nbclient import NotebookClient

    notebook = course(nbformat.from_dict(cell) for cell in cells)
    NotebookClient(notebook, kernel_name="python3").execute()
    return notebook


def test_a_stored_notebook_is_folded_where_it_was_never_run(notebook):
    stored = executed(CELLS)
    assert "<script" not in str(stored)
    nbformat.write(stored, notebook.folder / "stored.ipynb")
    page = notebook.open("stored.ipynb").page
    folds = page.locator(".jp-OutputArea summary")
    folds.nth(2).wait_for()
    assert not seen(page, FIRST)
    folds.first.click()
    page.get_by_text(FIRST).wait_for()


@pytest.mark.parametrize("scripts", [True, False])
def test_an_exported_page_asks_or_folds(browser, tmp_path, scripts):
    html, _ = Page().from_notebook_node(executed(CELLS))
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    context = browser.new_context(offline=True, java_script_enabled=scripts)
    page = context.new_page()
    page.goto(f"file://{tmp_path}/page.html")
    assert not seen(page, FIRST) and not seen(page, "A and C tempt")
    if scripts:
        choose(page, 0, "B")
        page.get_by_text("You chose B, and so it is. First guesses in this notebook: 1 of 1 right.").wait_for()
    else:
        page.get_by_text("Choose A, B or C. Then open this").first.click()
    page.get_by_text(FIRST).wait_for()
    context.close()


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_each_option_of_the_course_has_words_that_are_marked(browser, tmp_path, path):
    html, _ = Page().from_filename(str(path))
    (tmp_path / "page.html").write_text(re.sub('src="data:image[^"]*"', "", html), encoding="utf-8")
    for letter in "ABC":
        context = browser.new_context(offline=True)
        page = context.new_page()
        page.goto(f"file://{tmp_path}/page.html")
        asked = page.get_by_role("button", name=letter, exact=True).filter(visible=True)
        asked.evaluate_all("buttons => buttons.forEach(button => button.click())")
        found = page.locator("details[data-chosen]").evaluate_all(
            "folds => folds.map(fold => [...fold.querySelectorAll('mark')].map(mark => mark.innerText).join())"
        )
        assert len(found) == asked.count() >= 3
        assert all(said.strip() for said in found), [letter, *found]
        context.close()


def test_in_a_frame_of_its_own_it_asks_and_points_to_the_text_below(browser):
    """As VS Code and Colab show an output: no notebook around it, and nothing that the browser would keep."""
    (output,) = executed(CELLS[:3]).cells[2].outputs
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.set_content(f'<iframe sandbox="allow-scripts" srcdoc="{escape(alive(output.data["text/html"]))}"></iframe>')
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="B", exact=True).click()
    frame.get_by_text("You chose B. The answer is folded below.").wait_for()
    assert frame.get_by_text(FIRST).is_visible()
    context.close()
