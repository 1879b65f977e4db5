"""A day in the life of a notebook: restarts, a kernel that is shut down, copies, busy kernels, cells run again."""

import re

import pytest
from test_live_views import CELLS, IMAGES, IMPORTS, slide, until

PAUSE = "import time\ntime.sleep({})"
WHO = """import os
from bmlab import widgets

def draw(T, ax):
    ax.plot([0, T])
    print("kernel", os.getpid(), "at", T)

widgets.explore(draw, T=(1, 5))"""


def answers(notebook, name, view):
    """Make the view do a thing that needs a living kernel, or a living page."""
    if name == "explore":
        slide(view, "T")
        until(notebook, view, "T = 4")
    elif name == "machine":
        view.get_by_role("button", name="One update").click()
        until(notebook, view, re.compile(r"[1-9]\d* updates"))
    elif name == "learning":
        until(notebook, view, "Step 0")
        view.get_by_role("button", name="Step", exact=True).click()
        until(notebook, view, "Step 1")
    else:
        view.locator("canvas").first.click()
        until(notebook, view, "It reads")


@pytest.mark.parametrize("name", ["explore", "machine", "learning", "paint"])
def test_restart_kernel_and_run_all(notebook, name):
    answers(notebook, name, notebook.write(f"{name}.ipynb", IMPORTS, CELLS[name]).run().view(name))
    notebook.restart().run()
    notebook.page.wait_for_function("() => document.querySelectorAll('.bmlab').length === 1")
    answers(notebook, name, notebook.view(name))
    assert not notebook.errors and not notebook.outside


def test_shut_down_and_opened_again_in_the_same_page(notebook):
    notebook.write("again.ipynb", IMPORTS, CELLS["explore"]).run().view("explore")
    notebook.save().shut_down().close().reopen()
    picture = notebook.page.locator(IMAGES)
    picture.wait_for()
    notebook.page.wait_for_timeout(1000)  # any code that still holds the picture has seen it by now
    assert picture.is_visible() and notebook.page.locator(".bmlab").count() == 0
    answers(notebook, "explore", notebook.run().view("explore"))


def test_two_copies_side_by_side_are_answered_each_by_its_own_kernel(notebook):
    notebook.write("first.ipynb", WHO, mode="lab").run().view("explore")
    notebook.save()
    (notebook.folder / "second.ipynb").write_bytes((notebook.folder / "first.ipynb").read_bytes())
    notebook.reopen("second.ipynb", mode="split-right")
    notebook.page.locator(IMAGES).nth(1).wait_for(state="attached")
    notebook.page.wait_for_timeout(1000)  # the first kernel's view has seen the second picture by now
    views = notebook.page.locator(".bmlab-explore")
    assert views.count() == 1  # the second has not been run
    notebook.run()
    views.nth(1).wait_for()
    for view in (views.nth(0), views.nth(1)):
        slide(view, "T")
        until(notebook, view, "at 4")
    kernels = {text.split()[1] for text in views.locator("pre").all_inner_texts()}
    assert len(kernels) == 2


def test_a_busy_kernel_is_said_to_be_busy_and_a_dead_one_dead(notebook):
    view = notebook.write("busy.ipynb", IMPORTS, CELLS["explore"], PAUSE.format(10)).run(wait=False).view("explore")
    until(notebook, view, "The kernel is busy")
    until(notebook, view, "T = 3")
    assert not view.get_by_text("The kernel is busy").is_visible()
    notebook.shut_down()
    slide(view, "T")
    until(notebook, view, "The kernel is gone. Run the cell again")


def test_paper_is_read_in_the_page_while_the_kernel_is_busy(notebook):
    view = notebook.write("paint.ipynb", IMPORTS, CELLS["paint"], PAUSE.format(120)).run(wait=False).view("paint")
    last = notebook.page.locator(".jp-CodeCell .jp-InputPrompt").nth(2)
    answers(notebook, "paint", view)
    assert last.inner_text() == "[*]:"  # all the while


def test_thirty_runs_of_one_cell_leave_one_view_behind(notebook):
    count = "import ipywidgets\nprint(len(ipywidgets.widgets.widget._instances), 'held')"
    notebook.write("thirty.ipynb", IMPORTS, CELLS["machine"], count).run().view("machine")
    for _ in range(30):
        notebook.run_cell(1)
    notebook.run_cell(2)
    notebook.page.get_by_text(re.compile(r"^\s*\d+ held")).wait_for()
    held = int(notebook.page.get_by_text(re.compile(r"^\s*\d+ held")).inner_text().split()[0])
    assert held <= 4  # one view, with its layout
    assert notebook.page.evaluate("() => globalThis.bmlabViews.size") == 1
