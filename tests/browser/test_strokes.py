"""Letters are drawn as hands draw them, stroke upon stroke, with mouse and finger; only the eraser erases."""

from itertools import pairwise

import numpy as np
import pytest

from bmlab.widgets import DrawView
from bmlab.widgets.page import live

LETTERS = {  # each stroke through (row, column) of 6 x 6, in the order of a hand
    "T": [[(0, 0), (0, 5)], [(0, 2), (5, 2)]],
    "E": [[(0, 0), (5, 0)], [(0, 0), (0, 5)], [(2, 0), (2, 4)], [(5, 0), (5, 5)]],
    "F": [[(0, 5), (0, 0), (5, 0)], [(2, 0), (2, 3)]],
    "H": [[(0, 0), (5, 0)], [(0, 5), (5, 5)], [(2, 0), (2, 5)]],
    "K": [[(0, 0), (5, 0)], [(0, 4), (2, 0)], [(2, 0), (5, 4)]],
    "A": [[(0, 2), (5, 0)], [(0, 2), (5, 5)], [(3, 1), (3, 4)]],
    "Z": [[(0, 0), (0, 5)], [(0, 5), (5, 0)], [(5, 0), (5, 5)]],
}
INK = """c => { const cell = c.width / 6, paper = c.getContext('2d');
    const at = k => [...paper.getImageData((k % 6 + .5) * cell, (Math.floor(k / 6) + .5) * cell, 1, 1).data];
    return Array.from({ length: 36 }, (_, k) => at(k)[2] - at(k)[0] > 60); }"""  # blue; paper is grey


@pytest.fixture(params=["mouse", "finger"])
def drawing(request, browser):
    """A page with the view alone, its paper, and a function that draws a stroke on it."""
    page = browser.new_page(has_touch=True, color_scheme="light")
    data, words = DrawView()._repr_mimebundle_()
    page.set_content(live(words["image/png"], data["image/png"], "view"))
    paper = page.locator(".bml-shown canvas[role=application]")
    paper.scroll_into_view_if_needed()
    box, send = paper.bounding_box(), page.context.new_cdp_session(page).send

    def stroke(corners):
        points = [
            (box["x"] + (x + 0.5) * box["width"] / 6, box["y"] + (y + 0.5) * box["width"] / 6) for y, x in corners
        ]
        if request.param == "mouse":
            page.mouse.move(*points[0])
            page.mouse.down()
            for x, y in points[1:]:
                page.mouse.move(x, y, steps=3)
            page.mouse.up()
            return
        for k, (x, y) in enumerate(points):
            send(
                "Input.dispatchTouchEvent",
                {"type": "touchMove" if k else "touchStart", "touchPoints": [{"x": x, "y": y}]},
            )
        send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    yield page, paper, stroke
    page.close()


def crossed(strokes):
    """The cells, of 6 x 6, with a stroke through their middle, and those that it comes near."""
    ends = [pair for corners in strokes for pair in pairwise(corners)]
    way = np.concatenate([np.linspace(*pair, 200) for pair in map(np.array, ends)])
    middles = np.array([(row, column) for row in range(6) for column in range(6)])
    far = np.abs(way[:, None] - middles).max(axis=2).min(axis=0)
    return far < 0.3, far < 0.8


@pytest.mark.parametrize("name", LETTERS)
def test_a_letter_in_its_usual_strokes_is_there_without_a_hole(drawing, name):
    _, paper, stroke = drawing
    for corners in LETTERS[name]:
        stroke(corners)
    must, may = crossed(LETTERS[name])
    ink = np.array(paper.evaluate(INK))
    assert ink[must].all() and not ink[~may].any()


def test_the_eraser_is_a_button_and_takes_away_what_it_crosses(drawing):
    page, paper, stroke = drawing
    bar, stem = LETTERS["T"]
    stroke(bar)
    stroke(stem)
    eraser = page.get_by_role("button", name="Erase", exact=True)
    eraser.click()
    assert eraser.get_attribute("aria-pressed") == "true"
    stroke(stem)
    assert paper.evaluate(INK) == [k < 6 and k != 2 for k in range(36)]
    eraser.click()
    stroke(stem)
    assert sum(paper.evaluate(INK)) == 11
