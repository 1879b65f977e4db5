"""The pages for people who hear them, need strong contrasts, or enlarge them: views, predictions and the map."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from test_live_views import BEYOND, CELLS, IMPORTS, until

LOOKS = {
    "light": ("JupyterLab Light", {}),
    "dark": ("JupyterLab Dark", {}),
    "forced": ("JupyterLab Light", {"forced_colors": "active"}),
    "forced dark": ("JupyterLab Dark", {"forced_colors": "active", "color_scheme": "dark"}),
}
PREDICT = """from matplotlib.figure import Figure
with widgets.predict("00.1"):
    print("it is two")
    ax = Figure().subplots()
    ax.plot([0, 1])
    display(ax.figure)"""
GROUP = "[role=group][aria-label='Your prediction']"


@pytest.fixture
def tall(notebook):
    """A page without scrolling; axe-core passes over what is not in sight."""
    notebook.page.set_viewport_size({"width": 1100, "height": 2000})
    return notebook


@pytest.fixture(autouse=True)
def light_again(notebook):
    """One JupyterLab serves all tests, and it keeps its theme."""
    yield
    notebook.command("apputils:change-theme", {"theme": "JupyterLab Light"})
    notebook.page.wait_for_timeout(500)  # it is saved by then


def axe(page, element):
    """The faults that axe-core calls serious or worse in an element: (rule, place) of each."""
    page.add_style_tag(content="body { height: 100vh }")  # it has none, and axe-core takes all of it for hidden
    response = Axe().run(page, context=element).response
    looked_at = {rule["id"] for rule in response["passes"] + response["violations"]}
    assert "color-contrast" in looked_at, response["incomplete"]
    found = response["violations"]
    return [
        (rule["id"], node["html"][:150], node["failureSummary"])
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


def look(notebook, name):
    theme, media = LOOKS[name]
    notebook.page.emulate_media(**({"forced_colors": "none", "color_scheme": "light"} | media))
    notebook.command("apputils:change-theme", {"theme": theme})
    ready = "theme => document.body.dataset.jpThemeName === theme && !document.getElementById('jupyterlab-splash')"
    notebook.page.wait_for_function(ready, arg=theme)


@pytest.mark.parametrize("name", CELLS)
def test_axe_finds_nothing_serious_in_a_view(tall, name):
    view = tall.write(f"{name}.ipynb", IMPORTS, CELLS[name]).run().view(name)
    if (pause := view.get_by_role("button", name="Pause")).count():
        pause.click()
    for kind in LOOKS:
        look(tall, kind)
        assert axe(tall.page, f".bmlab-{name}") == [], kind


def test_axe_finds_nothing_serious_in_a_prediction(tall):
    tall.write("asked.ipynb", IMPORTS, PREDICT).run().page.locator(GROUP).wait_for()
    for chosen in (False, True):
        if chosen:
            tall.page.get_by_role("button", name="A", exact=True).press("Enter")
            until(tall, tall.page, "You chose A.")
        for kind in LOOKS:
            look(tall, kind)
            assert axe(tall.page, ".bmlab-predict") == [], kind


def test_a_prediction_fits_a_page_at_200_percent(notebook):
    """Its buttons before, its output and words after; a picture becomes as narrow as the page."""
    notebook.page.set_viewport_size({"width": 550, "height": 500})
    asked = notebook.write("asked.ipynb", IMPORTS, PREDICT).run().page.locator(".bmlab-predict")
    notebook.page.locator(GROUP).wait_for()
    assert asked.evaluate(BEYOND) == 0
    notebook.page.get_by_role("button", name="A", exact=True).press("Enter")
    until(notebook, notebook.page, "You chose A.")
    assert asked.evaluate(BEYOND) == 0


# How light the face of a button is, 0 to 765.
FACE = """button => getComputedStyle(button).backgroundColor.match(/\\d+/g).slice(0, 3)
    .reduce((sum, part) => sum + Number(part), 0)"""


@pytest.mark.parametrize("kind", ["forced", "forced dark"])
def test_with_forced_colours_a_pressed_button_is_told_from_the_others(notebook, kind):
    view = notebook.write("machine.ipynb", IMPORTS, CELLS["machine"], PREDICT).run().view("machine")
    look(notebook, kind)
    notebook.page.get_by_role("button", name="A", exact=True).press("Enter")
    for buttons in (view.locator(".bml-choice").first, notebook.page.locator(GROUP)):
        pressed, free = (buttons.locator(f"button[aria-pressed={now}]").first for now in ("true", "false"))
        assert abs(pressed.evaluate(FACE) - free.evaluate(FACE)) > 200
        assert free.evaluate("b => getComputedStyle(b).borderTopWidth") == "1px"


HEARD = """(view) => {                       // what is said by itself during sixty frames of a page
    const said = [], watch = new MutationObserver(records => {
        for (const { target } of records) {
            const live = target.closest('output, [role=status], [aria-live]');
            if (live && live.getAttribute('aria-live') !== 'off') said.push(live.textContent);
        }
    });
    watch.observe(view, { childList: true, subtree: true });
    return new Promise(done => {
        let frames = 60;
        const next = () => frames-- ? requestAnimationFrame(next) : done(said);
        next();
    });
}"""


@pytest.mark.parametrize("name", ["machine", "learning", "draw", "states", "update", "visited", "chains"])
def test_what_moves_by_itself_does_not_speak(notebook, name):
    view = notebook.write(f"{name}.ipynb", IMPORTS, CELLS[name]).run().view(name)
    if name == "learning":
        until(notebook, view, "Step 0")
    if (run := view.get_by_role("button", name="Run", exact=True)).count():
        run.click()
    assert view.evaluate(HEARD) == []
    assert view.locator("output").count() == 0  # a status of its own: ten of them would speak at once


def test_states_and_positions_are_heard(notebook):
    view = notebook.write("paint.ipynb", IMPORTS, CELLS["paint"]).run().view("paint")
    paper = view.get_by_role("application")
    for key, words in (
        ("ArrowUp", "Row 4, column 5: unknown."),
        (" ", "Row 4, column 5: ink."),
        ("ArrowLeft", "Row 4, column 4: unknown."),
    ):
        paper.press(key)
        until(notebook, view, words)
    view = notebook.write("machine.ipynb", IMPORTS, CELLS["machine"]).run().view("machine")
    view.get_by_role("button", name="Pause").click()
    view.get_by_role("button", name="+++, probability").press("Enter")
    assert view.get_by_role("button", name="is +1, free").count() == 3
    assert view.locator("[aria-current=true]").get_attribute("aria-label").startswith("+++")
    view.get_by_role("button", name="One update").press("Enter")
    assert view.locator(".bml-story").get_attribute("aria-live") == "polite"
