"""A notebook exported as one file: views that need no kernel work in it, without a network; the rest are pictures."""

import json
import re
from html import escape

import nbformat
import numpy as np
import pytest
from test_live_views import slide

import bmlab
from bmlab import widgets
from bmlab.widgets.page import Page


def stored(view):
    """A cell with the output of a view, as a notebook stores it."""
    data, metadata = view._repr_mimebundle_()
    output = nbformat.v4.new_output("execute_result", data=data, metadata=metadata, execution_count=1)
    return nbformat.v4.new_code_cell("view", execution_count=1, outputs=[output])


@pytest.fixture
def page(browser, tmp_path):
    """The exported file of a notebook with four views, open without a network."""
    machine = bmlab.BoltzmannMachine(
        bmlab.toy().weights, bmlab.toy().biases, names=("<!--<script>", "</script>", "Cleo")
    )
    views = [
        widgets.MachineView(machine),
        widgets.DrawView(),
        widgets.explore(lambda ax, T: ax.plot([0, T]), T=(1, 3)),
        widgets.PaintView([bmlab.ising((4, 4))] * 2, np.zeros(2)),
    ]
    html, _ = Page().from_notebook_node(nbformat.v4.new_notebook(cells=[stored(view) for view in views]))
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.goto(f"file://{tmp_path}/page.html")
    yield page
    context.close()


def test_the_machine_and_the_sheets_live_in_an_exported_file_and_the_others_are_pictures(page):
    page.locator(".bmlab-draw").wait_for()
    assert page.locator(".bmlab").count() == 2
    assert page.locator("img:visible").count() == 2
    sheet = page.locator(".bmlab-draw")
    sheet.scroll_into_view_if_needed()
    sheet.get_by_role("button", name="Pause").click()
    paper = sheet.get_by_role("application").first
    before = paper.evaluate("canvas => canvas.toDataURL()")
    paper.press(" ")
    assert paper.evaluate("canvas => canvas.toDataURL()") != before
    machine = page.locator(".bmlab-machine")
    assert slide(machine, "temperature T") == "1.05"
    machine.get_by_role("button", name="One update").click()
    assert machine.get_by_role("button", name=re.compile("script> is ")).count() == 2
    assert not [error for error in page.errors if "require" not in error]


FRAME = """<div id="el"></div><script type="module">
{script}
const state = {state}, send = () => {{ throw new Error("no kernel"); }};
const model = {{ get: (name) => state[name], on() {{}}, off() {{}}, send }};
widget.render({{ model, el: document.getElementById("el") }});
</script>"""


@pytest.mark.parametrize("name", ["explore", "machine"])
def test_in_a_frame_of_its_own_a_view_lives_or_shows_its_picture_and_one_sentence(browser, name):
    """As VS Code and Colab offer it: as a widget, in a frame from which no notebook and no storage is seen."""
    view = (
        widgets.MachineView(bmlab.toy())
        if name == "machine"
        else widgets.explore(lambda ax, T: ax.plot([0, T]), T=(1, 3))
    )
    names = [name for name in view.traits(sync=True) if name[0] != "_" and name not in ("layout", "tooltip")]
    state = json.dumps({name: getattr(view, name) for name in names})
    script = str(view._esm).replace("export default", "const widget =")
    page = browser.new_context(offline=True).new_page()
    frame_html = FRAME.format(script=script, state=state)
    page.set_content(
        f'<iframe sandbox="allow-scripts" width="900" height="700" srcdoc="{escape(frame_html)}"></iframe>'
    )
    frame = page.frame_locator("iframe")
    if name == "machine":
        frame.get_by_role("button", name="Pause").click()
        frame.get_by_role("button", name="One update").click()
        assert (
            frame.get_by_role("button", name="is +1").count() + frame.get_by_role("button", name="is −1").count() == 3
        )
    else:
        frame.get_by_role("slider").press("ArrowRight")
        frame.get_by_text("The kernel is gone. Run the cell again to bring this to life.").wait_for()
        assert frame.get_by_role("img", name="T: 1 to 3").evaluate("image => image.naturalWidth") > 0
    page.context.close()
