"""What every live view is: a picture that is stored, and comes alive in a page whose kernel holds the view.

The output of a cell is the picture alone, with a text that is the same in every run.  A saved notebook therefore shows
it everywhere, and never "model not found"; nbval has nothing to compare that changes.  In JupyterLab the view finds its
picture in the page and takes its place.  In a front end where it does not, put it in a box: ipywidgets.Box([view]) is
displayed as any widget is.
"""

from itertools import count
from pathlib import Path
from typing import Any

import anywidget
import traitlets
from matplotlib.figure import Figure

from ..plot import COLOURS
from .pictures import ENDS, PAPER, png

HERE = Path(__file__).parent
_numbers = count(1)


def script(*names: str) -> str:
    """Return one module from several files: a module of a widget cannot import another."""
    return "\n".join((HERE / name).read_text(encoding="utf-8") for name in ("shared.js", *names))


class View(anywidget.AnyWidget):
    """Show `picture`, alive where it can be; a subclass has _esm, alt, a figure to store and what its page asks for."""

    _css = (HERE / "view.css").read_text(encoding="utf-8")
    alt: str  # what the figure shows, in words
    picture = traitlets.Unicode().tag(sync=True)
    colours = traitlets.Dict().tag(sync=True)

    def __init__(self, figure: Figure, **traits: Any):
        # The number, stored unseen in the picture, keeps apart two views of one kernel that look alike.
        picture = png(figure, Description=f"bmlab view {next(_numbers)}")
        super().__init__(picture=picture, colours=COLOURS | ENDS | {"paper": PAPER}, **traits)

    def _repr_mimebundle_(self, **_):
        return {"image/png": self.picture, "text/plain": repr(self)}, {"image/png": {"alt": self.alt}}
