"""Film the live view for the top of the README: `python docs/picture.py` writes docs/picture.gif.

Twelve seconds: noise becomes three letters, slowly at first; a hand draws a fourth; it is dreamt, too.
"""

import shutil
from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from bmlab import plot
from bmlab.widgets import DrawView
from bmlab.widgets.page import live

FRAME, LAST, COLOURS, TINTS = 125, 1000, 48, 5  # milliseconds of a frame, and of the last; colours of its palette
NOISE, LETTERS, AFTER = [40] * 16, [200] * 26, [350] * 22  # milliseconds of the page's own clock a frame
PAPER = "color-scheme: light; background: white; margin: 0; padding: 8px 16px"
Z = [(0, 0), (0, 5), (5, 0), (5, 5)]  # ends of its strokes, (row, column) of 6 x 6
HAND = """<svg id="hand" width="30" height="36" viewBox="0 0 20 24"
style="position: fixed; pointer-events: none; z-index: 9; left: 100%">
<path d="M1 1 L1 19 L6 15 L9 22 L12 21 L9 14 L16 14 Z" fill="black" stroke="white" stroke-width="1.5"/></svg>"""


def page() -> str:
    """A page with the view alone, of 828 pixels."""
    data, words = DrawView()._repr_mimebundle_()
    return f'<body style="{PAPER}"><style>figure {{ margin: 0 }}</style>{HAND}' + live(
        words["image/png"], data["image/png"], "view"
    )


def frames() -> list[Image.Image]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": 852, "height": 556}, color_scheme="light")
        shown.clock.install(time=0)
        shown.set_content(page())
        shown.locator(".bmlab").wait_for()
        shown.clock.pause_at(60_000)  # else it goes on between two frames
        found = []
        for pause in moments(shown):
            shown.clock.run_for(pause)
            found.append(Image.open(BytesIO(shown.screenshot())).convert("RGB"))
        browser.close()
    return found


def moments(shown: Page) -> Iterator[int]:
    """The events before each frame, and the milliseconds by which the page's clock then goes on."""
    yield from NOISE + LETTERS
    paper = shown.locator(".bml-shown canvas[role=application]").bounding_box()
    assert paper
    cell = paper["width"] / 6
    corners = [(paper["x"] + (column + 0.5) * cell, paper["y"] + (row + 0.5) * cell) for row, column in Z]
    begin = (corners[0][0] + 250, corners[0][1] + 250)
    yield from led(shown, [begin, corners[0]], 5)
    shown.mouse.down()
    yield from led(shown, corners, 5)
    shown.mouse.up()
    button = shown.get_by_role("button", name="Show it this").bounding_box()
    assert button
    yield from led(shown, [corners[-1], (button["x"] + button["width"] / 2, button["y"] + button["height"] / 2)], 4)
    shown.mouse.down()
    shown.mouse.up()
    yield from [FRAME] * 3
    shown.evaluate("document.getElementById('hand').remove()")
    yield from AFTER


def led(shown: Page, way: list[tuple[float, float]], steps: int) -> Iterator[int]:
    """Move the hand from place to place, each in `steps` frames."""
    for (x0, y0), (x1, y1) in pairwise(way):
        for k in range(1, steps + 1):
            x, y = x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps
            shown.mouse.move(x, y, steps=4)
            shown.evaluate("([x, y]) => Object.assign(hand.style, { left: `${x}px`, top: `${y}px` })", [x, y])
            yield FRAME // 2


if __name__ == "__main__":
    moving = frames()
    late = moving[-1].copy()
    for row, colour in enumerate(
        [plot.APART, plot.TOGETHER]
    ):  # thin lines are few pixels: none would be left, nor their tints
        for k in range(TINTS):
            tint = Image.blend(Image.new("RGB", (30, 30), "white"), Image.new("RGB", (30, 30), colour), (k + 1) / TINTS)
            late.paste(tint, (30 * k, 460 + 30 * row))
    palette = late.quantize(COLOURS)
    first, *rest = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in moving]
    first.save(
        Path(__file__).with_suffix(".gif"),
        save_all=True,
        append_images=rest,
        duration=[FRAME] * len(rest) + [LAST],
        loop=0,
        optimize=True,
    )
