"""The first two minutes of each notebook, as a student's copy opens in JupyterLab: every first press works."""

import ast

import pytest
from test_course import NOTEBOOKS, ROOT

from bmlab_teaching import working_copies
from bmlab_teaching.working_copies import PRESS

OPENING = ".jp-OutputArea-output img"
ONE_SIZE = 0.08  # of its height, by which a live view may differ from its picture: letters are not alike everywhere
ROOM = 8  # pixels from the end of "Do this" to the edge of the screen: letters move it by a few on other machines
# The place of the view (or its picture) in the page, its height, and the end of "Do this".
PLACES = """selector => {
    const box = element => element.getBoundingClientRect(), view = box(document.querySelector(selector));
    const task = [...document.querySelectorAll('.jp-RenderedMarkdown p')].find(p => p.innerText.startsWith('Do this'));
    const end = document.querySelector('.jp-Notebook .jp-WindowedPanel-outer');
    return { top: view.top, high: view.height, wide: view.width, task: task && box(task).bottom, end: box(end).bottom };
}"""

ADVICE = "has not run: choose Run, then Run All Above Selected Cell, and then run this again."
OUTPUTS = "k => window.jupyterapp.shell.currentWidget.content.widgets[k].model.outputs.toJSON()"


def names_of(cell):
    """The names that a cell makes, and those that it reads, outside of its functions."""
    statements = ast.parse("".join(cell["source"])).body
    functions = [one for one in statements if isinstance(one, ast.FunctionDef)]
    nodes = [node for one in statements if one not in functions for node in ast.walk(one)]
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    made = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return made | {one.name for one in functions}, read


def later_cell(cells):
    """Return the number of the third cell that has nothing to be filled in and uses names that cells above it make."""
    above, found = set(), []
    for k, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            made, read = names_of(cell)
            to_fill_in = "nbgrader" in cell["metadata"] or "widgets.blank" in "".join(cell["source"])
            found += [k] if read & (above - made) and not to_fill_in else []
            above |= made
    return found[2]


@pytest.fixture
def copy(notebook, request):
    """A student's copy, newly opened on a laptop's screen, and nothing run."""
    copies = notebook.folder / "first"
    if not copies.exists():
        working_copies.start(ROOT / "notebooks", copies, report=lambda words: None)
    notebook.page.set_viewport_size({"width": 1440, "height": 900})
    yield notebook.open(f"first/{request.param}", "lab").panel("sessionContext.ready")
    notebook.shut_down()  # the next test of this notebook begins in a kernel of its own


@pytest.mark.parametrize("copy", NOTEBOOKS, indirect=True)
def test_a_press_on_the_picture_and_shift_enter_bring_it_to_life_in_its_place(copy):
    page = copy.page
    picture = page.locator(OPENING).first
    picture.wait_for()
    assert page.get_by_text(PRESS.strip()).first.is_visible()
    before = page.evaluate(PLACES, OPENING)
    picture.click()
    page.keyboard.press("Shift+Enter")
    page.locator(".bmlab").first.wait_for()
    page.wait_for_timeout(300)
    after = page.evaluate(PLACES, ".bmlab")
    assert page.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
    for seen in (before, after):  # without a scroll
        assert seen["task"] and seen["task"] + ROOM <= seen["end"], (before, after)
    assert abs(after["high"] / before["high"] - 1) < ONE_SIZE, (before, after)
    assert not copy.errors and not copy.outside


@pytest.mark.parametrize("copy", NOTEBOOKS, indirect=True)
def test_who_presses_shift_and_enter_from_the_top_on_comes_to_the_view(copy):
    copy.page.locator(OPENING).first.wait_for()
    copy.page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 0; }")
    for _ in range(2):  # the title, and the picture
        copy.page.keyboard.press("Shift+Enter")
    copy.page.locator(".bmlab").first.wait_for()
    assert not copy.errors and not copy.outside


@pytest.mark.parametrize("copy", NOTEBOOKS, indirect=True)
def test_who_begins_at_a_later_cell_is_told_what_to_press_and_it_works_in_two_steps(copy):
    begun = later_cell(copy.stored()["cells"])
    said = copy.run_cell(begun).page.evaluate(OUTPUTS, begun)
    assert ADVICE in str(said)
    copy.command("notebook:run-all-above")
    said = copy.run_cell(begun).page.evaluate(OUTPUTS, begun)
    assert [one["ename"] for one in said if one["output_type"] == "error"] == []
    assert not copy.errors and not copy.outside
