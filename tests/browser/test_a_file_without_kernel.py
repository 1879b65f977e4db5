"""A notebook exported as one file: what needs no kernel lives in it, without a network; the rest are pictures."""

import nbformat
import numpy as np
import pytest
from test_live_views import pixels, slide

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
    machine = bmlab.BoltzmannMachine(bmlab.toy().weights, bmlab.toy().biases, names=("</script>", "Ben", "Cleo"))
    views = [
        widgets.MachineView(machine),
        widgets.LatticeView(32),
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


def test_the_machine_and_the_lattice_live_in_an_exported_file_and_the_others_are_pictures(page):
    page.locator(".bmlab-lattice").wait_for()
    assert page.locator(".bmlab").count() == 2
    assert page.locator("img:visible").count() == 2
    lattice = page.locator(".bmlab-lattice")
    lattice.scroll_into_view_if_needed()
    lattice.get_by_role("button", name="Pause").click()
    before = pixels(lattice)
    lattice.get_by_role("button", name="Step").click()
    assert pixels(lattice) != before
    machine = page.locator(".bmlab-machine")
    assert slide(machine, "temperature T") == "1.05"
    machine.get_by_role("button", name="One update").click()
    assert machine.get_by_role("button", name="</script>").count() == 1
    assert not [error for error in page.errors if "require" not in error]
