"""The first two minutes of each notebook, as a student's copy opens in JupyterLab: whatever is pressed first, works."""

import pytest
from test_course import NOTEBOOKS, ROOT

from bmlab_teaching import working_copies
from bmlab_teaching.working_copies import PRESS

OPENING = ".jp-OutputArea-output img"
ONE_SIZE = 0.08  # of its height, by which a live view may differ from its picture: letters are not alike everywhere
# Where the view (or its picture) stands in the page, what it is as high as, and where "Do this" ends.
PLACES = """selector => {
    const box = element => element.getBoundingClientRect(), view = box(document.querySelector(selector));
    const task = [...document.querySelectorAll('.jp-RenderedMarkdown p')].find(p => p.innerText.startsWith('Do this'));
    const end = document.querySelector('.jp-Notebook .jp-WindowedPanel-outer');
    return { top: view.top, high: view.height, wide: view.width, task: task && box(task).bottom, end: box(end).bottom };
}"""


@pytest.fixture
def copy(notebook, request):
    """A student's copy, newly opened on a laptop's screen, and nothing run."""
    copies = notebook.folder / "first"
    if not copies.exists():
        working_copies.start(ROOT / "notebooks", copies, report=lambda words: None)
    notebook.page.set_viewport_size({"width": 1440, "height": 900})
    notebook.open(f"first/{request.param}", "lab").panel("sessionContext.ready")
    return notebook


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
        assert seen["task"] and seen["task"] <= seen["end"], (before, after)
    assert abs(after["high"] / before["high"] - 1) < ONE_SIZE, (before, after)
    assert not copy.errors and not copy.outside
