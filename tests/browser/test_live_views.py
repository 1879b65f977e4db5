"""Each live view in JupyterLab: it is there, keys and pointer move it, it asks nothing of the network, and a saved
notebook that is opened again without running shows its picture.
"""

import re

import numpy as np
import pytest
from chromium import PATIENCE

import bmlab
from bmlab.widgets.drawing import LETTERS

IMPORTS = "import numpy as np\nimport bmlab\nfrom bmlab import plot, widgets"
CELLS = {
    "explore": """def draw(T, ax):
    ax.bar(range(8), bmlab.probabilities(bmlab.toy().at(T)))
    print(f"T = {T:g}")

widgets.explore(draw, T=(1, 5))""",
    "machine": "widgets.MachineView(bmlab.toy())",
    "learning": """data = bmlab.data.zoo().data[:, :6]
start = bmlab.BoltzmannMachine(np.zeros((6, 6)), np.zeros(6))
widgets.LearningView(bmlab.learning_steps(start, data, rate=0.1), steps=5)""",
    "paint": """bar, ring = -np.ones((2, 8, 8))
bar[:, 3:5] = ring[2:6, 2:6] = 1
ring[3:5, 3:5] = -1
machines = [bmlab.BoltzmannMachine(np.zeros((64, 64)), 0.5 * shape.ravel()) for shape in (bar, ring)]
log_z = [bmlab.exact(machine).log_z.value for machine in machines]
widgets.PaintView(machines, log_z, names=["bar", "ring"])""",
    "draw": "widgets.DrawView()",
    "states": "widgets.StatesView(bmlab.medium())",
    "update": "widgets.UpdateView(bmlab.toy())",
    "conditional": "widgets.ConditionalView(bmlab.restricted(np.ones((3, 2)), np.zeros(3), np.zeros(2)))",
    "visited": "widgets.VisitedView(bmlab.toy())",
    "averages": "widgets.MeanFieldView(bmlab.toy())",
    "chains": "widgets.ChainsView(bmlab.ising((4, 4)).at(1.2))",
    "messages": """W = np.zeros((5, 5))
W[[1, 2, 3, 4], [0, 0, 1, 2]] = W[[0, 0, 1, 2], [1, 2, 3, 4]] = 1
widgets.MessageView(bmlab.BoltzmannMachine(W, [0.5, 0, 0, 0, 0]))""",
}
IMAGES = ".jp-OutputArea-output img[src^='data:image/png']"


@pytest.fixture
def shown(notebook):
    """Open a new notebook with one view, run it, and return (notebook, view)."""

    def show(name):
        notebook.write(f"{name}.ipynb", IMPORTS, CELLS[name]).run()
        return notebook, notebook.view(name)

    yield show
    assert not notebook.errors and not notebook.outside


def text_of(view, selector=".bml-note"):
    return " ".join(view.locator(selector).all_inner_texts())


def until(notebook, view, words):
    """Wait until the view says these words."""
    view.get_by_text(words).first.wait_for()


def eventually(notebook, holds):
    """Wait until something holds; AssertionError if it never does."""
    for _ in range(10 * PATIENCE):
        if holds():
            return
        notebook.page.wait_for_timeout(100)
    assert holds()


def pixels(view):
    return view.locator("canvas").first.evaluate("c => c.toDataURL()")


def slide(view, label, key="ArrowRight", times=1):
    slider = view.get_by_role("slider", name=label, exact=True)
    slider.focus()
    for _ in range(times):
        slider.press(key)
    return slider.get_attribute("aria-valuetext")


@pytest.mark.parametrize("name", CELLS)
def test_a_saved_notebook_opens_with_its_picture_and_no_complaint(shown, name):
    notebook, _ = shown(name)
    notebook.page.wait_for_timeout(500)
    notebook.save().shut_down()
    outputs = [o for cell in notebook.stored()["cells"] for o in cell["outputs"] if "data" in o]
    assert [set(o["data"]) for o in outputs] == [{"image/png", "text/plain"}]
    notebook.open(f"{name}.ipynb")
    picture = notebook.page.locator(IMAGES)
    picture.wait_for()
    notebook.page.wait_for_timeout(3000)  # a new kernel has started by now, and knows of no view
    assert picture.is_visible() and notebook.page.locator(".bmlab").count() == 0
    assert "not found" not in notebook.page.locator(".jp-Notebook").text_content()


BEYOND = """view => { const { right } = view.getBoundingClientRect(); return [...view.querySelectorAll('*')]
    .filter(part => !part.closest('svg') && part.getBoundingClientRect().right > right + 1).length; }"""


@pytest.mark.parametrize("name", CELLS)
def test_a_view_fits_a_narrow_page(notebook, name):
    """A laptop at 200 % has as much room as a page of some 550 pixels."""
    notebook.page.set_viewport_size({"width": 550, "height": 500})
    view = notebook.write(f"{name}.ipynb", IMPORTS, CELLS[name]).run().view(name)
    assert view.evaluate(BEYOND) == 0
    cut = "labels => labels.filter(label => label.scrollWidth > label.clientWidth).map(label => label.textContent)"
    assert view.locator(".bml-reader b").evaluate_all(cut) == []  # a name runs into no picture


def test_a_page_that_is_loaded_again_finds_the_view_in_its_kernel(shown):
    notebook, view = shown("explore")
    until(notebook, view, "T = 3")
    notebook.save().page.wait_for_timeout(500)
    notebook.open("explore.ipynb").view("explore")


def test_a_number_in_the_words_of_explore_is_dragged_and_keeps_the_focus(shown):
    notebook, view = shown("explore")
    until(notebook, view, "T = 3")
    number, mouse = view.get_by_role("slider", name="T in the text"), notebook.page.mouse
    box = number.bounding_box()
    mouse.move(box["x"] + 4, box["y"] + 6)
    mouse.down()
    mouse.move(box["x"] + 13, box["y"] + 6)
    until(notebook, view, "T = 4")
    mouse.move(box["x"] - 5, box["y"] + 6)
    until(notebook, view, "T = 2")
    mouse.up()
    number.press("ArrowLeft")
    until(notebook, view, "T = 1")
    assert number.get_attribute("aria-valuenow") == "1" and number.evaluate("el => el === document.activeElement")


@pytest.mark.parametrize("notebook", [{"device_scale_factor": 2}], indirect=True)
def test_on_a_dense_display_explore_answers_a_step_at_once_and_gets_sharp_at_rest(shown):
    notebook, view = shown("explore")
    until(notebook, view, "T = 3")
    view.locator("img").evaluate(
        """image => {
            window.widths = [];
            image.addEventListener("load", () => window.widths.push([image.naturalWidth, image.clientWidth]));
        }"""
    )
    slide(view, "T")
    notebook.page.wait_for_timeout(1500)  # nothing comes after the second
    assert notebook.page.evaluate("window.widths") == [[520, 520], [1040, 520]]


def test_the_machine_counts_what_is_exact_and_units_are_held(shown):
    notebook, view = shown("machine")
    assert slide(view, "updates a second", times=5) == "60,000"
    until(notebook, view, "in the wrong place")
    eventually(notebook, lambda: float(text_of(view).split(" % of")[0].split()[-1]) < 5)  # some thousand updates
    unit = view.get_by_role("button", name="unit 0")
    unit.focus()
    unit.press("Enter")
    assert "held at 1" in unit.get_attribute("aria-label")
    unit.click()
    assert "held at -1" in unit.get_attribute("aria-label")
    assert view.locator(".bml-state").all_text_contents()[0].startswith("−")


def test_the_machine_says_no_more_of_a_turn_once_something_has_changed(shown):
    _, view = shown("machine")
    one, said = view.get_by_role("button", name="One update"), view.locator(".bml-story")
    changes = {
        "temperature": lambda: slide(view, "temperature T"),
        "unit": lambda: view.get_by_role("button", name="unit 0").press("Enter"),
        "state": lambda: view.get_by_role("button", name=re.compile("^−−−, probability")).press("Enter"),
        "count": lambda: view.get_by_role("button", name="Count anew").click(),
    }
    for name, change in changes.items():
        one.click()
        assert re.search("The coin says (blue|white)", said.inner_text()), name
        change()
        assert said.inner_text() == "", name
    assert slide(view, "updates a second", times=5) == "60,000"
    one.click()
    assert "The coin says" in said.inner_text()
    for name in ("unit 1", "unit 2"):
        view.get_by_role("button", name=name).press("Enter")
    one.click()
    assert said.inner_text() == "Every unit is held: nobody has a turn."


def test_a_unit_that_is_held_takes_half_of_the_states_away(shown):
    notebook, view = shown("states")
    left = view.locator(".bml-cell:not(.bml-gone)")
    assert left.count() == 1024
    for name, many in (("unit 0", 512), ("unit 9", 256)):
        view.get_by_role("button", name=name).click()
        until(notebook, view, f"{many} of 1,024 states are left")
        assert left.count() == many
    machine = bmlab.medium()
    exact = [bmlab.exact(one).log_z.value for one in (machine.clamp([0, 9], [1, 1]), machine)]
    assert re.findall(r"log Z of \w+: (\d+\.\d\d)", text_of(view)) == [f"{value:.2f}" for value in exact]
    view.get_by_role("button", name="Free all units").click()
    view.get_by_role("button", name="Run").click()
    until(notebook, view, "512 of 1,024 states are left")


def test_a_unit_turns_where_u_falls_and_the_counts_come_to_what_is_exact(shown):
    notebook, view = shown("update")
    line, turned = view.locator(".bml-spot"), re.compile("u is (above|below) the cut")
    assert "unit 1: field +0.50." in text_of(view)
    until(notebook, view, "p(+1) = 0.731")
    wide = line.bounding_box()["width"]
    for part, u, said in (
        (0.25, r"u = 0\.2[45]\d", "below the cut: unit 1 turns +1"),
        (0.998, r"u = 0\.99\d", "above the cut: unit 2 turns −1"),
    ):
        line.click(position={"x": part * wide, "y": 30})
        until(notebook, view, re.compile(u))
        until(notebook, view, said)
    view.get_by_role("button", name="Next unit").click()
    assert not turned.search(text_of(view))
    view.get_by_role("button", name="Drop u").click()
    until(notebook, view, turned)
    assert slide(view, "turns a second", times=4) == "1,000"
    view.get_by_role("button", name="Run").click()
    heights = "all => all.map(bar => bar.getBoundingClientRect().height)"
    p = bmlab.probabilities(bmlab.toy())

    def apart():
        exact, counted = (np.array(view.locator(kind).evaluate_all(heights)) for kind in (".bml-outline", ".bml-count"))
        return abs(counted / counted.sum() - p).sum() / 2 + abs(exact / exact.sum() - p).sum() / 2

    eventually(notebook, lambda: apart() < 0.05)


def test_held_units_decide_the_others_and_two_rows_take_turns(shown):
    notebook, view = shown("conditional")
    until(notebook, view, "0.00: what is held decides each on its own")
    below, held = view.locator(".bml-node").first, view.locator(".bml-fixed")
    while "held at" in below.get_attribute("aria-label"):
        below.press("Enter")
    assert held.count() == 2
    view.get_by_role("button", name="Free all").click()
    assert held.count() == 0
    until(notebook, view, re.compile(r"Largest covariance of two units within a row: 0\.[1-9]"))
    view.get_by_role("button", name="Run").click()
    view.get_by_role("button", name=re.compile("hidden 1: held")).wait_for()


def test_each_new_state_adds_its_weight_until_z_is_reached(shown):
    notebook, view = shown("visited")
    weights = np.exp(-bmlab.toy().energy(bmlab.states(3)))
    until(notebook, view, "40 turns")  # it opens as full as its picture
    view.get_by_role("button", name="Start anew").click()
    until(notebook, view, "0 of 8 states visited: they add up to 0.00")
    before = 0.0
    for _ in range(12):
        view.get_by_role("button", name="One turn").click()
        many, total = re.findall(r"[\d.]+", text_of(view, ".bml-caption"))[0::2]
        new, words = float(total) - before, text_of(view)
        assert ("A new state" in words) == (new > 0.01) and view.locator(".bml-block").count() == int(many)
        assert new < 0.01 or np.abs(weights - new).min() < 0.02  # two sums, each with two digits
        before = float(total)
    assert slide(view, "turns a second", times=2) == "60"
    view.get_by_role("button", name="Run").click()
    until(notebook, view, f"8 of 8 states visited: they add up to {weights.sum():.2f}")
    view.get_by_role("button", name="Start anew").click()
    eventually(notebook, lambda: view.locator(".bml-block").count() < 8)


def test_beside_the_exact_mean_a_unit_is_counted_and_averaged(shown):
    notebook, view = shown("averages")
    until(notebook, view, re.compile("counted: press Run.*mean field: press Run"))
    view.get_by_role("button", name="Run").click()
    until(notebook, view, re.compile(r"counted [+−]0"))
    view.get_by_role("button", name="Pause").click()
    slide(view, "temperature T")
    assert "mean field: press Run" in text_of(view)  # what stood there was of another temperature
    view.get_by_role("button", name="Run").click()
    slide(view, "temperature T", "End")

    def agree():
        found = re.findall(r"(?:exact|counted|mean field) ([+−]\d\.\d+)", text_of(view))
        means = [float(x.replace("−", "-")) for x in found]  # nothing is counted right after a change
        return len(means) == 3 and max(means) - min(means) < 0.06  # at the highest temperature mean field is right

    eventually(notebook, agree)


def test_chains_disagree_where_it_is_cold_and_meet_where_it_is_hot(shown):
    notebook, view = shown("chains")
    view.get_by_role("button", name="Run").click()
    until(notebook, view, "They disagree")
    assert view.get_by_text("300 sweeps").count() == 1 and view.get_attribute("data-playing") == "false"
    assert float(text_of(view, ".bml-gap").split()[-1]) > 2
    assert slide(view, "temperature T", "End") == "5.0"
    until(notebook, view, "300 sweeps")
    assert float(text_of(view, ".bml-gap").split()[-1]) < 1.1


def test_messages_are_exact_on_a_tree_and_not_in_a_loop(shown):
    notebook, view = shown("messages")
    for _ in range(8):
        view.get_by_role("button", name="One message").click()
    until(notebook, view, "8 messages, and every mean is exact.")
    view.get_by_role("button", name=re.compile("^unit 3")).press("Enter")
    until(notebook, view, re.compile("unit 3 is the root"))
    view.get_by_role("button", name="with a loop").click()
    view.get_by_role("button", name="Run").click()
    until(notebook, view, re.compile(r"settled after \d+ rounds; largest error 0\.[1-9]"))


def test_the_climb_goes_on_and_back(shown):
    notebook, view = shown("learning")
    until(notebook, view, "Step 0")
    assert view.get_attribute("data-playing") == "false"
    view.get_by_role("button", name="Run").click()
    until(notebook, view, re.compile(r"Step [2-9]\d"))
    view.get_by_role("button", name="Pause").click()
    slide(view, "step", "Home")
    assert view.locator(".bml-step").inner_text() == "Step 0"
    at_first = text_of(view)
    view.get_by_role("button", name="Step", exact=True).click()
    assert view.locator(".bml-step").inner_text() == "Step 1" and text_of(view) != at_first


TOUCHING = """svg => { const boxes = [...svg.querySelectorAll('text')].map(word => word.getBoundingClientRect());
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return [boxes.filter((a, k) => boxes.slice(k + 1).some(b => meet(a, b))).length,
            boxes.filter(a => a.left < svg.getBoundingClientRect().left).length]; }"""


def test_the_numbers_of_a_climb_are_whole_beside_its_label_on_a_narrow_page(notebook):
    """Fifteen coins have -10.40 nats: six letters."""
    notebook.page.set_viewport_size({"width": 550, "height": 500})
    code = CELLS["learning"].replace("[:, :6]", "").replace("6", "15")
    view = notebook.write("long.ipynb", IMPORTS, code).run().view("learning")
    climb = view.get_by_role("img", name="The climb")
    climb.get_by_text("10.40").wait_for()
    assert climb.evaluate(TOUCHING) == [0, 0]


def test_a_weight_that_is_pointed_at_tells_its_pair(shown):
    notebook, view = shown("learning")
    until(notebook, view, "Press a weight")
    pairs = view.get_by_role("group", name="Pairs of units")
    pairs.focus()
    pairs.press("ArrowRight")
    until(notebook, view, re.compile("^0 and 1: .* in the data, .* weight"))
    box = view.get_by_role("img", name="weights").bounding_box()
    notebook.page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.15 * box["height"])
    until(notebook, view, re.compile("^0 and 5: .* in the data, .* weight"))


def test_a_bar_sets_its_state_and_the_cube_shows_the_same(shown):
    _, view = shown("machine")
    view.get_by_role("button", name="Pause").click()
    bar = view.get_by_role("button", name=re.compile("^−−−, probability"))
    bar.focus()
    bar.press("Enter")
    units = view.locator(".bml-node text")
    assert units.all_text_contents() == ["−"] * 3
    view.get_by_role("button", name="cube").click()
    view.locator("svg[aria-label^='Eight'] .bml-row").nth(0).click()
    assert units.all_text_contents() == ["+"] * 3


DREAMT = """wall => { const { width, height } = wall, found = [];
    const { data } = wall.getContext('2d').getImageData(0, 0, width, height);
    for (let y = 5; y < height; y += 70) for (let x = 5; x < width; x += 70) found.push([...Array(36).keys()].map(
        i => +(data[4 * ((y + Math.floor(i / 6) * 10) * width + x + i % 6 * 10)] < 120)).join(''));
    return found; }"""


LATE = """() => { const Real = IntersectionObserver;
    window.IntersectionObserver = class extends Real { constructor(tell, options) {
        super((news, self) => tell([{ isIntersecting: false }, ...news], self), options); } }; }"""


def test_a_view_plays_by_the_last_of_what_a_busy_page_says_of_it(notebook):
    """Out of sight and in sight again before it was told: both come in one call."""
    notebook.page.add_init_script(f"({LATE})()")
    view = notebook.write("machine.ipynb", IMPORTS, CELLS["machine"]).run().view("machine")
    view.scroll_into_view_if_needed()
    before = view.inner_text()
    eventually(notebook, lambda: view.inner_text() != before)


def test_it_learns_at_once_and_dreams_what_it_is_shown(shown):
    notebook, view = shown("draw")
    letters = {"".join("1" if x == "#" else "0" for x in "".join(rows)) for rows in LETTERS}
    wall, dreams = view.locator(".bml-wall"), []

    def dreamt():
        dreams[:] = wall.evaluate(DREAMT)
        return letters <= set(dreams) and sum(dream in letters for dream in dreams) > 15

    eventually(notebook, dreamt)
    assert len(dreams) == 30
    view.get_by_role("button", name="Unlearn").click()
    until(notebook, view, "the second half alone")
    eventually(notebook, lambda: not letters & set(wall.evaluate(DREAMT)))


ROW = """c => { const d = c.getContext('2d').getImageData(0, 0, 6, 2).data;
               return [0, 6].map(from => [0, 1, 2, 3, 4, 5].map(k => d[4 * (from + k) + 2])); }"""


def test_a_fourth_pattern_is_drawn_and_a_cell_is_held_in_every_dream(shown):
    notebook, view = shown("draw")
    paper, web = view.get_by_role("application").all()
    wide = paper.bounding_box()["width"]
    paper.hover(position={"x": 5, "y": 5})
    notebook.page.mouse.down()
    paper.hover(position={"x": wide - 5, "y": 5})
    notebook.page.mouse.up()
    view.get_by_role("button", name="Show it this").click()
    ink, paper_below = view.locator(".bml-shelf canvas").nth(3).evaluate(ROW)  # how blue, from end to end
    assert len(set(ink)) == len(set(paper_below)) == 1 and ink != paper_below
    web.focus()
    web.press(" ")  # row 4, column 4
    until(notebook, view, "Held in every dream")
    eventually(notebook, lambda: {dream[21] for dream in view.locator(".bml-wall").evaluate(DREAMT)} == {"1"})
    view.get_by_role("button", name="Let go").click()
    until(notebook, view, "Each weight changes")


def test_a_drawing_is_named_by_pointer_and_by_key(shown):
    notebook, view = shown("paint")
    box = view.locator("canvas").first.bounding_box()
    notebook.page.mouse.move(box["x"] + 0.45 * box["width"], box["y"] + 4)
    notebook.page.mouse.down()
    notebook.page.mouse.move(box["x"] + 0.45 * box["width"], box["y"] + box["height"] - 4, steps=8)
    notebook.page.mouse.up()
    view.get_by_role("button", name="Rest is paper").click()
    until(notebook, view, "It reads bar")
    view.get_by_role("button", name="Clear").click()
    until(notebook, view, "Draw.")
    notebook.page.touchscreen.tap(box["x"] + 0.3 * box["width"], box["y"] + 0.5 * box["height"])
    until(notebook, view, "It reads ring")
    view.get_by_role("button", name="Clear").click()
    until(notebook, view, "Draw.")
    canvas = view.locator("canvas").first
    canvas.focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft", " ", "ArrowLeft", " ", "ArrowLeft"):
        canvas.press(key)
    until(notebook, view, "It reads")
