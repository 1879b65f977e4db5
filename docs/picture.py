"""Film the live view for the top of the README: `python docs/picture.py` writes docs/picture.gif.

Twelve seconds of the page's own clock: learning, then unlearning, which ends in the noise that learning begins with.
"""

import shutil
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from bmlab import plot
from bmlab.widgets import DrawView
from bmlab.widgets.page import live

FRAMES, PAUSE, COLOURS = 96, 125, 40  # PAUSE in milliseconds
UNLEARN = 76  # the first frame of it
PAPER = "color-scheme: light; background: white; margin: 0; padding: 8px 16px"


def page() -> str:
    """A page with the view alone, of 828 pixels."""
    data, words = DrawView()._repr_mimebundle_()
    return f'<body style="{PAPER}"><style>figure {{ margin: 0 }}</style>' + live(
        words["image/png"], data["image/png"], "view"
    )


def frames() -> list[Image.Image]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": 852, "height": 560}, color_scheme="light")
        shown.clock.install()
        shown.set_content(page())
        view, found = shown.locator(".bmlab"), []
        view.wait_for()
        for k in range(FRAMES):
            if k == UNLEARN:
                shown.evaluate(
                    "[...document.querySelectorAll('button')].find(b => b.textContent === 'Unlearn').click()"
                )
            shown.clock.run_for(PAUSE)
            found.append(Image.open(BytesIO(shown.screenshot())).convert("RGB"))
        browser.close()
    return found


if __name__ == "__main__":
    moving = frames()
    late = moving[UNLEARN - 1].copy()
    for x, colour in enumerate([plot.APART, plot.TOGETHER, plot.PLUS]):  # thin lines are few pixels: none would be left
        late.paste(colour, (60 * x, 500, 60 * x + 60, 560))
    palette = late.quantize(COLOURS)
    first, *rest = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in moving]
    first.save(
        Path(__file__).with_suffix(".gif"), save_all=True, append_images=rest, duration=PAUSE, loop=0, optimize=True
    )
