"""Whole figures in a notebook: dressed, shown with words for those who hear them, and as a PNG."""

from __future__ import annotations

import base64
import sys
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from ..checking.calls import show_call
from .style import INK, ON_LIGHT, PAPER, headline, minus, readable

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

MARGIN, CORNER = 0.07, 12  # of the paper around the drawing, in inches; and its round corners, in pixels of the file


@show_call()
def apply_style(figure: Figure) -> Figure:
    """Give a figure the looks of the course: no box, paper of its own, and ink in place of black.

    Coloured words are darkened until they are read on the paper.  Words in white, and those in ON_LIGHT, have a ground
    of their own.  show() and the stored pictures of live views do it to every figure.

    >>> import matplotlib
    >>> plot.apply_style(plt.figure()).get_facecolor()
    (0.9921568627450981, 0.9921568627450981, 0.984313725490196, 1.0)
    """
    from matplotlib.colors import to_hex, to_rgba_array
    from matplotlib.text import Text

    figure.set_facecolor(PAPER)
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    for ax in figure.axes:
        if to_rgba_array(ax.get_facecolor()).min() == 1:
            ax.set_facecolor("none")
        ax.tick_params(which="both", length=0, color=INK, labelcolor=INK)
        for side in {"top", "right"} & {*ax.spines}:
            ax.spines[side].set_visible(False)
        if title := ax.get_title():
            ax.title.set_text("")  # set_title() would take the room that a headline has made
            if not ax.get_title(loc="left"):
                headline(ax, title)
    for artist in figure.findobj():
        for part in ("color", "edgecolor", "facecolor", "markeredgecolor", "markerfacecolor"):
            if hasattr(artist, "set_" + part) and (found := getattr(artist, "get_" + part, None)):
                rgba = to_rgba_array(found())
                if len(rgba) and (rgba[:, :3] == 0).all() and rgba[:, 3].any():
                    getattr(artist, "set_" + part)(INK)
    on_own_ground = {INK.upper(), ON_LIGHT, "#FFFFFF"}
    for text in figure.findobj(Text):
        if "-" in (words := text.get_text()) and "$" not in words:
            text.set_text(minus(words))
        if any(map(str.isalnum, text.get_text())) and to_hex(text.get_color()).upper() not in on_own_ground:
            text.set_color(readable(text.get_color()))
    return figure


@show_call()
def show(alt: str) -> None:
    """Show the current figure and close it; alt says in words what it shows, for those who hear it instead.

    A notebook that is run by a program stores the words with the picture; `jupyter nbconvert --template classic` puts
    them into its page.  JupyterLab drops them, so a page gets HTML.  Both have twice the pixels, for dense displays.

    >>> _ = plt.plot([0, 1], [0, 1])
    >>> plot.show("A line that rises.")
    """
    import matplotlib.pyplot as plt

    apply_style(plt.gcf())
    if "inline" not in plt.get_backend():
        plt.show()
        return
    from IPython.display import display

    picture, width, height = png(plt.gcf())
    if cell_of_request():
        html = f'<img alt="{escape(alt)}" width="{width}" src="data:image/png;base64,{picture}">'
        display({"text/html": html, "text/plain": alt}, raw=True)
    else:
        about = {"image/png": {"alt": alt, "width": width, "height": height, "points": letters(plt.gcf())}}
        display({"image/png": picture, "text/plain": repr(plt.gcf())}, raw=True, metadata=about)
    plt.close()


def png(figure: Figure, enlarged: float = 1, **metadata: str) -> tuple[str, int, int]:
    """Return a figure as base64 text with two pixels a point of the screen, and its width and height there."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    drawn, reduced, texts = BytesIO(), BytesIO(), PngInfo()
    figure.savefig(drawn, format="png", dpi=200 * enlarged, bbox_inches="tight", pad_inches=MARGIN)
    with Image.open(drawn) as image:
        for key, text in metadata.items():
            texts.add_text(key, text)
        in_few_colours(rounded(image)).save(reduced, "png", optimize=True, pnginfo=texts)
        width, height = (side // 2 for side in image.size)
    return base64.b64encode(reduced.getvalue()).decode(), width, height


def in_few_colours(image: Image) -> Image:
    """Return an image with a palette: its 88 most frequent colours, 32 near all others, and 8 for its clear corners.

    So the flat colours of a drawing are exact: pale blue is told from pale purple.
    """
    from PIL import Image
    from scipy.spatial import KDTree

    opaque, clear = image.convert("RGB"), np.rint(np.asarray(image.getchannel("A")) / 255 * 8)
    pixels = np.asarray(opaque) @ np.array([1 << 16, 1 << 8, 1])
    packed, which, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    colours = packed.astype(int)[:, None] >> np.array([16, 8, 0]) & 255
    others = np.reshape(opaque.quantize(32, Image.Quantize.MAXCOVERAGE).getpalette() or [], (-1, 3))
    kept = np.vstack([colours[np.argsort(-counts, kind="stable")[:88]], others])
    nearest = np.asarray(KDTree(kept).query(colours)[1])[which].reshape(pixels.shape)
    found = Image.fromarray(np.where(clear < 8, len(kept) + clear, nearest).astype("u1"))
    corners = np.column_stack([np.tile(np.asarray(opaque)[0, 0], (8, 1)), 255 * np.arange(8) // 8])
    found.putpalette(np.vstack([np.insert(kept, 3, 255, axis=1), corners]).astype("u1").tobytes(), "RGBA")
    return found


def rounded(image: Image) -> Image:
    """Return an image with round corners, clear outside: on a dark page it is a lit card."""
    from PIL import Image, ImageDraw

    fine = 4  # pixels of the mask a pixel, so that the edge is smooth
    mask = Image.new("L", (fine * image.width, fine * image.height))
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, mask.width - 1, mask.height - 1), fine * CORNER, fill=255)
    image.putalpha(mask.resize(image.size, Image.Resampling.BOX))
    return image


def letters(figure: Figure) -> float | None:
    """Return the size of the smallest words of a figure that is drawn, in points; None if it has no words.

    It is stored with each picture: a front end that shows it smaller than at 100 % shows them smaller, too.
    """
    from matplotlib.text import Text

    axes = [axis for ax in figure.axes if not ax.axison for axis in (ax.xaxis, ax.yaxis)]
    hidden = {text for axis in axes for text in axis.findobj(Text)}
    seen = {text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()} - hidden
    return min((float(text.get_fontsize()) for text in seen), default=None)


def request() -> dict:
    """Return the request that the kernel answers now; empty if there is no kernel."""
    if "ipykernel" not in sys.modules:
        return {}
    from IPython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    return kernel.get_parent() if kernel else {}


def cell_of_request() -> str | None:
    """Return the cell that a page asks the kernel to run; None if there is no page, or it does not say."""
    return request().get("metadata", {}).get("cellId")
