"""The site as its readers meet it: whole without a network, its views alive, its exercises without answers."""

import json
import re
from html import unescape
from pathlib import Path
from struct import unpack

import nbformat
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import Visit
from drawn import FOREIGN, has_true_bars, has_true_lanes, machine
from matplotlib.colors import to_rgb
from test_looks import SECRETS
from test_plot import contrast
from test_widgets import READ, in_node

from bmlab.widgets.reading import Readers
from bmlab_teaching.working_copies import record

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build/site"
SOURCES = sorted((ROOT / "notebooks").glob("*.ipynb"))
FOUND = (path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
NAMES = sorted(name for name in FOUND if not name.startswith("_static/"))  # the theme's own piece of a page
PAGES = [name for name in NAMES if not name.startswith(("student/", "colab/", "live/"))]
COURSE = [f"notebooks/{path.stem}.html" for path in SOURCES]
MANUAL = ["choosing", "conventions", "getting_started"]
REFERENCE = ["api/exact.html", "api/learning.html", "api/plot.html"]
MOVES = {  # view: the control that moves it with a key, and with the pointer
    "MachineView": (".bml-slider input", "button:has-text('One update')"),
    "StatesView": (".bml-node", "button:has-text('Free all')"),
    "UpdateView": (".bml-slider input", "button:has-text('Drop u')"),
    "ConditionalView": (".bml-node", "button:has-text('Free all')"),
    "VisitedView": (".bml-slider input", "button:has-text('One turn')"),
    "MeanFieldView": (".bml-slider input", "button:has-text('One update')"),
    "ChainsView": (".bml-slider input", "button:has-text('Run')"),
    "MessageView": (".bml-node", "button:has-text('One message')"),
    "LearningView": (".bml-slider input", "button:has-text('Step')"),
    "DrawView": ("canvas[role=application]", "button:has-text('Show it this')"),
    "PaintView": ("canvas[role=application]", "button:has-text('Clear')"),
    "Explorer": (".bml-slider input, .bml-choice button", None),
}
PIXELS = "canvas => canvas.toDataURL()"
LOOK = """view => [...view.querySelectorAll('canvas')].map(c => c.toDataURL()).join() + view.innerHTML
    + [...view.querySelectorAll('img')].map(image => image.src).join()"""


def test_every_page_is_there():
    assert {"index.html", "search.html", "api/index.html", "docs/teaching.html", *COURSE} <= set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_without_a_network(visit, name):
    page = visit.open(name)
    page.evaluate("() => new Promise(done => { scrollTo(0, document.body.scrollHeight); setTimeout(done, 100); })")
    if page.locator(".math").count():
        page.wait_for_function("() => globalThis.MathJax?.startup?.promise")
        page.evaluate("() => MathJax.startup.promise")
        assert page.locator("mjx-container").count() and not page.locator("mjx-merror").count()


def test_the_first_page_is_light(visit):
    visit.open("index.html")
    visit.page.wait_for_load_state("networkidle")
    assert sum(size for url, size in visit.bytes.items() if not re.search(r"\.(png|svg|webp)", url)) < 1_000_000


def alive(page, view, paused=False):
    """Scroll to a view and wait until it lives; stop it if it moves by itself."""
    view.scroll_into_view_if_needed()
    page.wait_for_function("figure => figure.dataset.alive", arg=view.element_handle())
    live = view.locator(".bmlab")
    if paused and (pause := live.get_by_role("button", name="Pause", exact=True)).count():
        pause.first.click()
    return live


def changes(page, live, before):
    """Wait until a view looks otherwise than it did."""
    page.wait_for_function(f"([view, before]) => ({LOOK})(view) !== before", arg=[live.element_handle(), before])


def views_of(page):
    """The live views of a page of the course, which has some."""
    found = page.locator(".bmlab-live").all()
    assert found
    return found


def test_the_home_runs_and_leads_to_every_notebook(visit):
    page = visit.open("index.html")
    live = alive(page, page.locator(".bmlab-live"))
    page.wait_for_function("view => +view.querySelector('.bml-gap').textContent < 0.7", arg=live.element_handle())
    dreams = live.get_by_role("img", name=re.compile(r"30 dreams of the machine: [1-9]\d* are pattern 1, "))
    dreams.wait_for()  # a screen reader names them
    cards = page.locator(".bmlab-card").all()
    assert sorted(card.get_attribute("href") for card in cards) == COURSE
    assert all(re.search(r"\?.*\d+ minutes · (core|further)", card.inner_text(), re.DOTALL) for card in cards)
    doors = [door.get_attribute("href") for door in page.locator(".bmlab-doors a").all()]
    assert len(doors) == 4 and all(page.request.get(visit.address + door).ok for door in doors)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "reduced_motion": "reduce"}


def swipe(page, element):
    """Swipe upwards from the middle of an element; return by how many pixels the page has moved."""
    element.evaluate("element => element.scrollIntoView({block: 'center', behavior: 'instant'})")
    box, before = element.bounding_box(), page.evaluate("scrollY")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    send = page.context.new_cdp_session(page).send
    send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for by in range(0, 200, 20):
        send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": y - by}]})
        page.wait_for_timeout(20)
    send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(300)
    return page.evaluate("scrollY") - before


def test_a_finger_scrolls_on_all_but_the_paper_that_it_draws_on(browser, address):
    visit = Visit(browser, address, **PHONE)
    page = visit.open("index.html")
    live = alive(page, page.locator(".bmlab-live"))
    paper, weights = live.get_by_role("application").all()
    assert swipe(page, weights) > 100 and swipe(page, live.locator(".bml-wall")) > 100
    assert live.get_by_role("button", name="Let go").is_disabled()  # a swipe holds no cell, and a tap does
    weights.tap()
    assert live.get_by_role("button", name="Let go").is_enabled()
    before = paper.evaluate(PIXELS)
    assert swipe(page, paper) == 0 and paper.evaluate(PIXELS) != before
    tiles = [tile.bounding_box() for tile in live.locator(".bml-shelf button").all()]
    assert tiles and all(0.8 < tile["width"] / tile["height"] < 1.25 for tile in tiles)
    visit.context.close()
    assert visit.complaints == []


@pytest.mark.parametrize("name", COURSE)
def test_each_view_of_a_page_fits_a_phone_s_screen_and_traps_no_finger(browser, address, name):
    visit = Visit(browser, address, **PHONE)
    page = visit.open(name)
    for view in views_of(page):
        live = alive(page, view)
        box, pad = live.bounding_box(), "bmlab-draw" in live.get_attribute("class")
        assert box["width"] <= 390 and box["height"] <= (1.15 if pad else 1) * PHONE["viewport"]["height"]
        trapped = live.evaluate(
            "view => [...view.querySelectorAll('*')].filter(x => getComputedStyle(x).touchAction === 'none')"
            ".filter(x => !x.matches('.bml-drawn-on, .bml-drag')).map(x => x.outerHTML.slice(0, 80))"
        )
        assert trapped == []
    visit.context.close()


def test_what_was_drawn_is_in_the_address_and_learnt_where_it_is_opened(visit):
    page = visit.open("index.html")
    live = alive(page, page.locator(".bmlab-live"))
    assert "#" not in page.url
    page.get_by_role("button", name="Take pattern 3 away").click()
    assert "letters=820820" in page.url and "Taken away: 2 left" in live.inner_text()
    paper = live.get_by_role("application").first
    paper.focus()
    paper.press(" ")
    live.get_by_role("button", name="Show it this").click()
    before, sent = live.locator(".bml-shelf canvas").nth(2).evaluate(PIXELS), page.url
    live.get_by_role("button", name="Copy link").click()
    page.wait_for_function("view => /Copied|address/.test(view.innerText)", arg=live.element_handle())
    page.goto("about:blank")
    page.goto(sent)
    live = alive(page, page.locator(".bmlab-live"))
    tiles = live.locator(".bml-shelf canvas")
    assert tiles.count() == 3 and tiles.nth(2).evaluate(PIXELS) == before
    for nonsense in ("#letters=zz", "#letters=", "#letters=12-<b>", "#letters=" + "-".join(["fffffffff"] * 99)):
        page.goto("about:blank")
        page.goto(visit.address + "index.html" + nonsense)
        live = alive(page, page.locator(".bmlab-live"))
        assert live.locator(".bml-shelf canvas").count() in (3, 20)


def press(step, name):
    step.get_by_role("button", name=name, exact=True).press("Enter")


def comes_alive(page, step):
    """Scroll a view into sight, again while pages above it still grow and push it out."""
    for _ in range(60):
        step.scroll_into_view_if_needed()
        if step.locator(".bmlab").is_visible():
            break
        page.wait_for_timeout(500)
    step.locator(".bmlab").wait_for()


def test_each_step_below_the_piece_does_what_it_says(visit):
    page = visit.open("index.html")
    steps = page.locator(".bmlab-step")
    coin, pair, minus, negatives, onward = steps.all()
    until = "([step, words]) => new RegExp(words).test(step.innerText)"

    def says(step, words):
        page.wait_for_function(until, arg=[step.element_handle(), words])
        return re.search(words, step.inner_text())

    for step in (coin, pair, minus, negatives):
        comes_alive(page, step)
    chance = float(says(coin, r"pulled by .*: on in ([\d.]+) of 100")[1]) / 100
    press(coin, "Throw it 100 times")
    on = int(says(coin, r"Thrown 100 times: on (\d+) times")[1])
    assert abs(on - 100 * chance) <= 5 * (100 * chance * (1 - chance)) ** 0.5 + 1
    press(pair, "Learn it from noise")
    assert says(pair, r"Step [1-9]\d*: shown \+0\.33, dreamt")
    press(pair, "Pause")
    press(minus, "Take away the minus")
    assert says(minus, r"weight is [1-9]\.\d+")  # with the second half it stays below 1
    press(minus, "Put it back")
    press(minus, "Pause")
    letters, turned = map(int, says(negatives, r"(\d+) are letters, (\d+) negatives").groups())
    assert letters > 2 * turned > 0
    press(negatives, "Take the biases away")
    assert says(negatives, r"\d+ are letters, 1\d negatives")
    press(negatives, "Pause")
    links = onward.locator("a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert sorted(links) == [name for name in COURSE if re.match(r"notebooks/(0[0-5]|05b)_", name)]
    press(onward, "Draw a fourth letter")
    assert page.evaluate("document.activeElement.closest('.bml-shown') !== null")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


LIGHTEST = """canvas => { const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let most = 0;
    for (let k = 0; k < data.length; k += 4) {
        if (data[k + 3]) most = Math.max(most, data[k] + data[k + 1] + data[k + 2]);
    }
    return most; }"""


def test_in_the_dark_nothing_that_is_drawn_on_glares_and_weights_are_seen(visit):
    page = visit.open("index.html", "dark")
    live = alive(page, page.locator(".bmlab-live"))
    for sheet in [live.locator(".bml-shown canvas[role=application]"), *live.locator(".bml-shelf canvas").all()]:
        assert sheet.evaluate(LIGHTEST) < 3 * 200
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    drawn = page.evaluate(
        """() => { const tones = [], Sheet = CanvasRenderingContext2D.prototype, stroke = Sheet.stroke;
            Sheet.stroke = function () {
                if (this.globalAlpha < 1) tones.push([this.strokeStyle, this.globalAlpha, this.lineWidth]);
                stroke.call(this);
            };
            const told = done => () => { Sheet.stroke = stroke; done(tones); };
            return new Promise(done => setTimeout(told(done), 1000)); }"""
    )
    colours = {colour for colour, _, _ in drawn}
    assert len(colours) in (2, 3)  # of positive and negative weights, and grey of those near 0 while there are any
    assert all(contrast(as_rgb(colour), as_rgb(back)) > 4.5 for colour in colours)
    for colour, part, wide in drawn:  # as they lie on the page, which shows them at a third of their width
        seen = [part * x + (1 - part) * y for x, y in zip(as_rgb(colour), as_rgb(back), strict=True)]
        assert contrast(seen, as_rgb(back)) > 3 and wide >= 2.5


def as_rgb(colour):
    """A colour that a canvas tells as #rrggbb and a page as rgb(...), or color(srgb ...), in parts of 1."""
    parts = [float(x) for x in re.findall(r"[\d.]+", colour)[:3]]
    return to_rgb(colour) if colour.startswith("#") else [x / 255 if colour.startswith("rgb") else x for x in parts]


def test_a_link_to_the_first_page_has_a_face(visit):
    page = visit.open("index.html")
    assert "Boltzmann machine" in page.title() and "Boltzmann machine" in page.locator("article p").first.inner_text()
    for about in ("name=description", "property='og:title'", "property='og:image'"):
        assert page.locator(f"meta[{about}]").get_attribute("content")
    image = page.request.get(visit.address + "card.png")
    assert image.ok and unpack(">II", image.body()[16:24]) == (1200, 630)
    assert page.request.get(visit.address + page.locator("link[rel=icon]").get_attribute("href")).ok


def test_the_course_is_a_page_of_cards_core_first(visit):
    page = visit.open("course.html")
    cards = [card.inner_text() for card in page.locator(".bmlab-card").all()]
    levels = [re.search(r"\d+ minutes · (core|further)", card)[1] for card in cards]
    assert len(cards) == len(COURSE) and levels == sorted(levels)
    assert all(name in "".join(cards) for name in ("Gibbs sampling", "Mean field", "partition function"))


def test_who_asks_for_less_motion_sees_the_letters_at_rest(visit):
    visit.page.emulate_media(reduced_motion="reduce")
    page = visit.open("index.html")
    live = alive(page, page.locator(".bmlab-live"))
    before = live.evaluate(LOOK)
    page.wait_for_timeout(300)
    assert live.evaluate(LOOK) == before and float(live.locator(".bml-gap").inner_text()) < 0.4
    live.get_by_role("button", name="Run").click()
    changes(page, live, before)


@pytest.mark.parametrize("name", COURSE)
def test_the_views_of_a_page_live_without_a_kernel(visit, name):
    page = visit.open(name)
    for view in views_of(page):
        kind = json.loads(view.locator("script").text_content())["view"]
        live = alive(page, view, paused=True)
        assert live.evaluate(FOREIGN) == []
        keyed, pressed = MOVES[kind]
        by_key, before = live.locator(keyed).first, live.evaluate(LOOK)
        by_key.focus()
        at_the_end = by_key.evaluate("el => el.type === 'range' && el.value === el.max")
        by_key.press(" " if "slider" not in keyed else "ArrowLeft" if at_the_end else "ArrowRight")
        if "choice" in (by_key.evaluate("el => el.parentElement.className")):
            live.locator(".bml-choice button[aria-pressed=false]").first.click()
        changes(page, live, before)
        before = live.evaluate(LOOK)
        if pressed:
            live.locator(pressed).first.tap()
            changes(page, live, before)


@pytest.mark.parametrize("name", COURSE)
def test_what_one_is_asked_to_press_is_there(visit, name):
    page = visit.open(name)
    live = alive(page, views_of(page)[0])
    task = page.locator("p", has_text="Do this.").first.inner_html()
    for words in re.findall(r"(?:[Pp]ress|[Tt]hen|choose) <em>([^<]+)</em>", task):
        assert live.get_by_role("button", name=words, exact=True).count() == 1, words


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("name", COURSE)
def test_each_bar_is_as_long_as_its_probability(visit, name, width):
    visit.page.set_viewport_size({"width": width, "height": 900})
    page = visit.open(name)
    for view in views_of(page):
        live, stored = alive(page, view), view.locator("script").text_content()
        kind = json.loads(stored)["view"]
        if kind == "MachineView":
            has_true_bars(live, machine(stored))
        elif kind == "PaintView":
            page.wait_for_function("view => /It reads|Draw/.test(view.innerText)", arg=live.element_handle())
            has_true_lanes(live)


def test_the_weights_that_a_page_ships_read_as_in_python():
    shipped = [
        (folder / cell, view["state"])
        for folder in (SITE / "live").iterdir()
        for cell, view in json.loads((folder / "views.json").read_text())["views"].items()
        if view["view"] == "PaintView"
    ]
    assert shipped
    for folder, state in shipped:
        classes, readers = len(state["log_z"]), Readers.__new__(Readers)
        sent = {name: np.fromfile(folder / f"{name}.bin", "<f4").astype(float) for name in ("weights", "biases")}
        n = len(sent["biases"]) // classes
        readers.weights, readers.biases = sent["weights"].reshape(classes, n, n), sent["biases"].reshape(classes, n)
        readers.log_z = np.array(state["log_z"])
        known = [0] * (n - n // 2) + state["start"][: n // 2] if any(state["start"]) else [1, -1] + [0] * (n - 2)
        p, _ = readers.read(known, tolerance=1e-9)
        machines = {name: values.tolist() for name, values in sent.items()} | {"logZ": state["log_z"]}
        answer = in_node(READ, files=("reading.js",), machines=machines, known=known, tolerance=1e-9)
        assert np.allclose(answer["p"], p, atol=1e-6) and answer["best"] == p.argmax()
        assert (folder / "weights.bin").stat().st_size < 1_000_000


COUNTED = """() => { globalThis.calls = 0; for (const name of ['requestAnimationFrame', 'setTimeout', 'setInterval']) {
    const asked = globalThis[name];
    globalThis[name] = (f, ...rest) => asked.call(globalThis, (...told) => { calls += 1; f(...told); }, ...rest);
} }"""


def first_pages():
    """The first page and cell with each kind of view that runs by itself."""
    kinds = {}
    for path in SOURCES if SITE.exists() else ():
        for k, view in enumerate(json.loads((SITE / f"live/{path.stem}/views.json").read_text())["views"].values()):
            kinds.setdefault(view["view"], (path.stem, k))
    return {kind: place for kind, place in kinds.items() if kind not in ("Explorer", "PaintView", "ConditionalView")}


@pytest.mark.parametrize(("kind", "place"), first_pages().items())
def test_nothing_computes_while_it_is_out_of_sight(visit, kind, place):
    visit.page.add_init_script(f"({COUNTED})()")
    page = visit.open(f"notebooks/{place[0]}.html")
    live = alive(page, page.locator(".bmlab-live").nth(place[1]))
    if live.get_attribute("data-playing") != "true":
        live.locator("button.bml-primary").first.click()
    counted = "() => new Promise(done => { const begun = calls; setTimeout(() => done(calls - begun), 500); })"
    assert page.evaluate(counted) > 5
    page.evaluate("() => scrollTo(0, document.body.scrollHeight)")
    assert any(page.evaluate(counted) <= 1 for _ in range(6)), "never at rest"  # 1: the clock of this very question
    before = live.evaluate(LOOK)
    assert page.evaluate(counted) <= 1 and live.evaluate(LOOK) == before


def test_a_prediction_folds_its_answer_until_one_has_chosen(visit):
    page = visit.open(next(name for name in COURSE if "03_" in name))
    asked = page.locator(".bmlab-predict").first
    asked.scroll_into_view_if_needed()
    assert not asked.locator("details").is_visible()
    asked.get_by_role("button", name="A", exact=True).click()
    assert asked.locator("details").is_visible()
    asked.get_by_text("You chose A").wait_for()
    assert page.locator("details[data-chosen=A][open]").count() == 1


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_page_and_its_download_hold_no_solution_and_the_page_has_a_place_to_think(path):
    page, download = (
        (SITE / place).read_text(encoding="utf-8") for place in (f"notebooks/{path.stem}.html", f"student/{path.name}")
    )
    text, secret = unescape(re.sub(r"<[^>]+>", "", page)), SECRETS[path.stem]
    assert secret and not [line for line in secret if line in text]
    assert not re.search("BEGIN (SOLUTION|HIDDEN)", page + download)
    wanted = sum(bool(record(cell).get("solution")) for cell in nbformat.read(path, as_version=4).cells)
    assert page.count('class="bmlab-think"') == wanted


@pytest.mark.parametrize("name", PAGES)
def test_no_page_holds_a_solution_of_any_notebook(name):
    text = unescape(re.sub(r"<[^>]+>", "", (SITE / name).read_text(encoding="utf-8")))
    assert not [line for found in SECRETS.values() for line in found if line in text]


def test_thoughts_are_kept(visit):
    page = visit.open(COURSE[1])
    page.locator(".bmlab-think textarea").first.fill("because it adds up")
    page.reload()
    assert page.locator(".bmlab-think textarea").first.input_value() == "because it adds up"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", *COURSE[:3], *(f"docs/{name}.html" for name in MANUAL), *REFERENCE])
def test_axe_finds_nothing_serious(visit, name, theme):
    page = visit.open(name, theme)
    assert page.locator("html").get_attribute("data-theme") == theme
    for view in page.locator(".bmlab-live").all():
        alive(page, view, paused=True)
    found = Axe().run(page, context="main", options={"preload": False}).response["violations"]
    serious = [rule for rule in found if rule["impact"] in ("serious", "critical")]
    assert [(rule["id"], node["html"][:200]) for rule in serious for node in rule["nodes"]] == []


TOPICS = {  # words of a search -> the page that should come first
    "annealed importance sampling": "notebooks/03c_z_from_samples",
    "belief propagation": "notebooks/04b_can_it_be_proved",
    "burn-in": "notebooks/03b_long_enough",
    "contrastive divergence": "notebooks/08_restricted_machines",
    "free energy": "notebooks/04_mean_field",
    "gibbs sampling": "notebooks/03_gibbs_sampling",
    "grading": "docs/teaching",
    "handwritten digits": "notebooks/09_handwritten_digits",
    "hidden units": "notebooks/07_hidden_units",
    "hopfield network": "notebooks/10_attention_and_diffusion",
    "install": "docs/getting_started",
    "learning rule": "notebooks/01_theory",
    "log likelihood": "notebooks/01_theory",
    "mean field": "notebooks/04_mean_field",
    "missing data": "docs/missing_entries",
    "overfitting": "docs/own_data",
    "parallel tempering": "notebooks/03b_long_enough",
    "partition function": "notebooks/02_exact_z",
    "standard errors": "docs/own_data",
    "temperature": "notebooks/00_start",
}


@pytest.mark.parametrize("words", TOPICS)
def test_the_search_shows_the_right_page_first_and_words(visit, words):
    page = visit.open(f"search.html?q={words.replace(' ', '+')}")
    page.locator("#search-results li p.context").nth(1).wait_for()
    found = page.locator("#search-results li a").evaluate_all("links => links.map(link => link.href)")
    assert re.sub(r".*/(\w+/\w+)\.html.*", r"\1", found[0]) == TOPICS[words], found[:5]
    assert "\\" not in "".join(page.locator("#search-results p.context").all_inner_texts())
