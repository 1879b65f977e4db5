"""Every notebook as a student meets it: opened in the JupyterLab of `make lab`, its views run and moved."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from test_live_views import BEYOND

from bmlab_teaching import working_copies
from bmlab_teaching.slicing import needed_cells

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
SCREENS = ROOT / "build" / "screens"  # to be looked at
CELLS = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .filter(cell => cell.model.type === 'code' && cell.model.sharedModel.source.trim())
    .map(cell => [cell.model.executionCount, cell.model.executionState,
                  cell.model.outputs.toJSON().filter(output => output.output_type === 'error').map(e => e.evalue)])"""
# A cell with an error ends a run, but in a student's copy: there an open exercise lets the run go on.
FINISHED = f"""stops => {{
    const context = window.jupyterapp.shell.currentWidget.sessionContext, cells = ({CELLS})();
    return context.session?.kernel?.status === 'idle' && (
        cells.every(([count]) => count !== null) || stops && cells.some(([, , errors]) => errors.length > 0));
}}"""
ONE_TURN = re.compile("^(Drop u|One turn)$")
VIEWS = r"widgets\.(?:explore|\w+View)\("
SEEN = """el => [...el.querySelectorAll('img, canvas, svg, .bml-note')]
    .map(one => one.src || (one.toDataURL ? one.toDataURL() : one.innerHTML)).join()"""
CHANGED = f"([el, before]) => ({SEEN})(el) !== before"
# The height of the opening with its task, and the part of the screen that JupyterLab leaves for it. A text that
# JupyterLab has not drawn yet has no innerText: null until then.
HEIGHTS = """() => {
    const box = element => element.getBoundingClientRect(), view = box(document.querySelector('.bmlab'));
    const said = [...document.querySelectorAll('.jp-RenderedMarkdown p')];
    const task = said.find(p => p.innerText.startsWith('Do this'));
    const room = box(document.querySelector('.jp-Notebook .jp-WindowedPanel-outer'));
    return task && [Math.max(view.bottom, box(task).bottom) - Math.min(view.top, box(task).top), room.height];
}"""


def views_in(notebook):
    """How many live views the cells of a notebook make."""
    return sum(len(re.findall(VIEWS, "".join(cell["source"]))) for cell in notebook.stored()["cells"])


def only_views(path):
    """A notebook with those cells of code only that its live views need: nbval runs all of them elsewhere."""
    whole = nbformat.read(path, 4)
    code = [k for k, cell in enumerate(whole.cells) if cell.cell_type == "code"]
    sources = [whole.cells[k].source for k in code]
    kept, _ = needed_cells(sources, [bool(re.search(VIEWS, source)) for source in sources], whole=True)
    left_out = {*code} - {code[place] for place in kept}
    whole.cells = [cell for k, cell in enumerate(whole.cells) if k not in left_out]
    return whole


def move(view):
    """Take one turn; else move the first slider by one step; on paper turn a pixel, of buttons or units press one."""
    slider, paper = view.get_by_role("slider").first, view.get_by_role("application").first
    unit, turn = view.locator(".bml-node[role=button]").first, view.get_by_role("button", name=ONE_TURN)
    if turn.count():  # the slider of these sets their speed
        turn.click()
    elif paper.count():
        paper.press(" ")
    elif not slider.count() and unit.count():
        unit.press(" ")
    elif not slider.count():
        view.locator(".bml-choice button[aria-pressed=false]").first.click()
    else:
        before = slider.get_attribute("aria-valuetext")
        for key in ("ArrowRight", "ArrowLeft"):  # one of them leads away from an end
            slider.press(key)
            if slider.get_attribute("aria-valuetext") != before:
                return
        raise AssertionError("the slider does not move")


def test_a_student_is_asked_nothing_and_sees_no_menu_of_the_teacher(notebook):
    notebook.open("notebooks/00_start.ipynb").page.wait_for_timeout(3000)
    assert "Kernel" in notebook.page.locator(".lm-MenuBar").inner_text()
    assert not re.search("nbgrader|validate|create assignment", notebook.page.locator("body").inner_text(), re.I)
    assert notebook.page.locator(".Toastify__toast").count() == 0


def test_run_all_of_a_students_copy_goes_past_open_exercises_and_brings_every_view_to_life(notebook):
    copies = notebook.folder / "course"
    working_copies.start(ROOT / "notebooks", copies, report=print)
    expected = views_in(notebook.open("course/00_start.ipynb"))
    assert "### BEGIN SOLUTION" not in str(notebook.stored()) and expected > 1
    notebook.run()
    notebook.page.wait_for_function(FINISHED, arg=False, polling=500)
    ran = notebook.page.evaluate(CELLS)
    assert sum(bool(errors) for *_, errors in ran) == 4  # two answers that are values, and their tests
    shown = notebook.page.locator(".jp-OutputArea-output")
    shown.get_by_text("Exercise 2 is still open: write my_group above its test.").first.wait_for()
    views = notebook.page.locator(".bmlab")
    for k in range(expected):
        views.nth(k).scroll_into_view_if_needed()
        views.nth(k).wait_for()


GUESSES = {
    "00.1": {"chosen": "A", "right": "A"},
    "00.2": {"chosen": "A", "right": "B"},
    "00.3": {"chosen": "A"},  # its answer was never seen
    "01.1": {"chosen": "C", "right": "C"},
}


def test_the_page_of_make_lab_shows_pictures_points_and_first_guesses_and_leads_to_each_notebook(notebook):
    folder = notebook.folder / "front"
    working_copies.start(ROOT / "notebooks", folder, report=print)
    worth = working_copies.worth(nbformat.read(ROOT / "notebooks/01_theory.ipynb", 4))
    (test, one), full = next(iter(worth.items())), sum(one.points for one in worth.values())
    (folder / ".done.json").write_text(json.dumps([test]))
    notebook.context.add_init_script(f"localStorage['bmlab-predictions'] = JSON.stringify({json.dumps(GUESSES)})")
    page = notebook.open("front/course.ipynb").page
    notebook.run()
    page.get_by_text(f"{one.points:g} of {full:g} points").first.wait_for()
    cards = page.locator(".jp-OutputArea-output a")
    words = dict(zip(NOTEBOOKS, cards.all_inner_texts(), strict=True))
    assert "First guesses: 1 of 2 right" in words["00_start.ipynb"] and " minutes" in words["00_start.ipynb"]
    assert "First guesses: 1 of 1 right" in words["01_theory.ipynb"] and "First" not in words["02_exact_z.ipynb"]
    assert cards.locator("img").evaluate_all("all => all.every(one => one.naturalWidth > 100)")
    SCREENS.mkdir(parents=True, exist_ok=True)
    for theme in ("Dark", "Light"):
        notebook.command("apputils:change-theme", {"theme": f"JupyterLab {theme}"})
        page.screenshot(path=SCREENS / f"front_{theme}.png")
        page.wait_for_timeout(500)  # JupyterLab takes its splash screen away twice if two themes follow at once
    page.set_viewport_size({"width": 550, "height": 500})  # as at 200 %
    assert page.locator(".jp-OutputArea-output").first.evaluate(BEYOND) == 0
    cards.nth(1).click()
    page.wait_for_function("window.jupyterapp.shell.currentWidget.context?.path === 'front/01_theory.ipynb'")
    assert not notebook.errors and not notebook.outside


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_opens_as_it_is_stored_and_its_views_move(notebook, name):
    expected = views_in(notebook.open(f"notebooks/{name}"))
    assert not notebook.errors and not notebook.outside
    nbformat.write(only_views(ROOT / "notebooks" / name), notebook.folder / "notebooks" / f"views_{name}")
    notebook.page.set_viewport_size({"width": 1440, "height": 900})
    assert views_in(notebook.open(f"notebooks/views_{name}", "lab")) == expected
    notebook.command("notebook:clear-all-cell-outputs")
    assert all(count is None for count, *_ in notebook.page.evaluate(CELLS))
    notebook.run()
    notebook.page.wait_for_function(FINISHED, arg=True, polling=500)
    wrong = [errors for _, _, errors in notebook.page.evaluate(CELLS) if errors]
    assert not wrong and not notebook.errors and not notebook.outside
    SCREENS.mkdir(parents=True, exist_ok=True)
    notebook.page.screenshot(path=SCREENS / f"{Path(name).stem}.png")
    views = notebook.page.locator(".bmlab")
    views.nth(expected - 1).wait_for()
    assert views.count() == expected > 0
    views.first.scroll_into_view_if_needed()
    notebook.page.locator(".jp-RenderedMarkdown p", has_text=re.compile("^Do this")).first.scroll_into_view_if_needed()
    high, room = notebook.page.wait_for_function(HEIGHTS).json_value()
    assert 0 < high < room
    for k in range(expected):
        view = views.nth(k)
        view.scroll_into_view_if_needed()
        if (pause := view.get_by_role("button", name="Pause")).count():
            pause.click()  # a picture that moves by itself proves nothing
        before = view.evaluate(SEEN)
        move(view)
        notebook.page.wait_for_function(CHANGED, arg=[view.element_handle(), before])
        notebook.page.screenshot(path=SCREENS / f"{Path(name).stem}_view_{k + 1}.png")
    assert not notebook.errors and not notebook.outside
