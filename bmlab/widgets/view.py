"""The base of all live views: a stored picture that comes alive in a page whose kernel has the view.

The output of a cell is the picture alone, with a text that is the same in every run.  A saved notebook therefore shows
it everywhere, and never "model not found"; nbval has nothing to compare that changes.  In JupyterLab the view finds its
picture in the page and takes its place.  Where the outputs of a notebook are frames of their own (VS Code, Colab) it
cannot: there the output offers the view itself beside the picture, and a front end without widgets shows the picture.
"""

import re
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import traitlets
from IPython import get_ipython
from matplotlib.figure import Figure

from ..checking.calls import show_call
from ..methods import METHODS
from ..plot.figures import apply_style, cell_of_request, letters, png, request
from .pictures import VIEW_COLOURS

try:
    from anywidget import AnyWidget  # pyright: ignore
except ModuleNotFoundError:

    class AnyWidget(traitlets.HasTraits):  # pyright: ignore
        """A view without anywidget: its stored picture."""

        layout = property(lambda self: self)
        on_msg = send = close = lambda self, *_: None


METHOD_COLOURS = {key: row.colour for key, row in METHODS.items() if row.colour}  # scripts know no names
WIDGETS_FOLDER = Path(__file__).parent
_latest: dict[str, tuple[str, list["View"]]] = {}  # cell -> its latest run, and the views that it made


def script(*names: str) -> str:
    """Return one module from several files, without their lines of comment: a module of a widget imports no other."""
    texts = ((WIDGETS_FOLDER / name).read_text(encoding="utf-8") for name in ("alive.js", "shared.js", *names))
    return "\n".join(line for text in texts for line in text.splitlines() if not line.lstrip().startswith("//"))


class View(AnyWidget):
    """Show `picture`, alive if it can be; a subclass has _esm, alt, a figure to store and the state of its page."""

    enlarged = 1.25  # its picture is as high as the view that takes its place on a laptop's screen
    needs_no_kernel = False  # then page.py brings it to life in a file: its state is small enough to be stored
    _esm: str  # the script of a subclass
    _css = (WIDGETS_FOLDER / "view.css").read_text(encoding="utf-8")
    alt = traitlets.Unicode().tag(sync=True)  # the figure in words
    picture = traitlets.Unicode().tag(sync=True)
    colours = traitlets.Dict().tag(sync=True)

    @show_call()
    def __init__(self, figure: Figure, **traits: Any):
        # The name, stored unseen in the picture, keeps apart views that look alike, of one kernel or of several.
        picture, width, height = png(apply_style(figure), enlarged=self.enlarged, Description=f"bmlab view {uuid4()}")
        self._size = {"width": width, "height": height, "points": self.enlarged * (letters(figure) or 10)}
        super().__init__(picture=picture, colours=self._colours(traits.get("method")), **traits)
        _close_those_before(self)

    def _colours(self, method):
        """Return the colours that the script names, so that a new method changes no view that is stored."""
        read = {*re.findall(r'(?:colours\.|")(\w+)', self._esm), method}
        return {key: colour for key, colour in METHOD_COLOURS.items() if key in read} | VIEW_COLOURS

    def _repr_mimebundle_(self, **_):
        words: dict[str, Any] = {"alt": self.alt, **self._size}
        if self.needs_no_kernel:
            inherited = {"picture", "alt", *AnyWidget.class_traits(sync=True)}
            own = [x for x in sorted(self.traits(sync=True)) if x not in inherited and not x.startswith("_")]
            words["bmlab"] = {"view": type(self).__name__, "state": {name: getattr(self, name) for name in own}}
        data: dict[str, Any] = {"image/png": self.picture, "text/plain": repr(self)}
        if _in_frames() and (identity := getattr(self, "model_id", None)):
            data["application/vnd.jupyter.widget-view+json"] = {"version_major": 2, "model_id": identity}
        return data, {"image/png": words}


def _in_frames():
    """Whether each output is a frame of its own, from which no picture of the page can be found: VS Code, Colab."""
    names = getattr(get_ipython(), "user_ns", {})
    return "__vsc_ipynb_file__" in names or "google.colab" in sys.modules


def _close_those_before(view):
    """Close the views that an earlier run of this cell has made: nobody sees their pictures any more."""
    cell = cell_of_request()
    if cell is None:
        return
    run = request()["header"]["msg_id"]
    before, views = _latest.get(cell, (run, []))
    if before != run:
        for old in views:
            old.layout.close()
            old.close()
        views = []
    _latest[cell] = run, [*views, view]
