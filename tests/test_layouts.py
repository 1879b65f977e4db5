"""Where things stand in stored views and charts, and how large they are: no law says so, so it is written down.

`python tests/test_layouts.py` writes layouts.json after a view or a chart was given other looks: the difference shows
what has moved.  Numbers are those that the drawing code gives, in pixels of a view or units of an axis, never what
Matplotlib makes of them; words that look for a free place (labels.py) are left out.
"""

import json
from pathlib import Path

import matplotlib
import numpy as np
import pytest

import bmlab

matplotlib.use("Agg")
pytest.importorskip("anywidget")
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator
from selection import one_of
from test_widgets import VIEWS

from bmlab import plot

STORED = Path(__file__).with_name("layouts.json")
NEAR = 0.02  # of a pixel or of a unit, and a thousandth of what is large: last digits may differ
MODEL, DATA = bmlab.toy(), bmlab.states(3)[[0, 0, 7, 6, 1]]


def climb():
    return bmlab.fit(bmlab.BoltzmannMachine(np.zeros((3, 3)), np.zeros(3)), DATA, steps=40, rate=0.3).steps


CHARTS = {
    "curves": lambda ax: plot.curves(range(5), {"gibbs": range(5), "tap": range(1, 6)}, ax),
    "phases": lambda ax: plot.phases(bmlab.clamped(MODEL, DATA), bmlab.exact(MODEL), ax, mark="s0, s1"),
    "moments": lambda ax: plot.moments(bmlab.exact(MODEL), bmlab.mean_field(MODEL), ax, pair=(0, 1), named="a pair"),
    "bracket": lambda ax: plot.bracket(bmlab.bracket(MODEL, rng=0), [bmlab.exact(MODEL), bmlab.mean_field(MODEL)], ax),
    "states": lambda ax: plot.states(bmlab.states(3), ax, {"exact": bmlab.probabilities(MODEL)}, model=MODEL),
    "images": lambda ax: plot.images(DATA, ax, (1, 3), 2),
    "network": lambda ax: plot.network(bmlab.ising((3, 3)), ax, layers=np.arange(9).reshape(3, 3).tolist()),
    "layers": lambda ax: plot.network(
        bmlab.restricted(np.ones((3, 2)), np.zeros(3), np.zeros(2)), ax, layers=[range(3), range(3, 5)]
    ),
    "learning": lambda ax: plot.learning(climb(), ax.figure.subplots(1, 3)),
}


def numbers(*values):
    return [round(float(x), 3) for one in values for x in np.ravel(one)]


def layout(figure):
    """Return (what it is, its numbers) of each thing in a figure, in the order in which they were drawn."""
    found = [("figure", numbers(figure.get_size_inches()))]
    for k, ax in enumerate(figure.axes):
        found.append((f"axes {k}", numbers(ax.get_xlim(), ax.get_ylim())))
        fixed = [axis for axis in (ax.xaxis, ax.yaxis) if isinstance(axis.get_major_locator(), FixedLocator)]
        found += [(f"ticks {k}", numbers(axis.get_majorticklocs())) for axis in fixed if ax.axison]
        for text in ax.texts:
            place = getattr(text, "xy", ()), getattr(text, "xyann", text.get_position())
            if text.get_text() and not getattr(text, "arrow_patch", None) and not is_placed(text):
                words = " ".join(text.get_text().split())
                looks = text.get_ha(), text.get_va(), text.get_fontweight(), to_hex(text.get_color())
                about = numbers(*place, text.get_fontsize(), text.get_zorder())
                found.append((f"text {words!r} {' '.join(map(str, looks))}", about))
        for line in ax.lines:
            xy = np.array(line.get_xydata(), float).reshape(-1, 2)
            looks = line.get_linestyle(), line.get_marker(), to_hex(line.get_color()), line.get_markeredgewidth()
            about = numbers(len(xy), xy[:1], xy[-1:], line.get_linewidth(), line.get_markersize(), line.get_zorder())
            found.append((f"line {' '.join(map(str, looks))}", about))
        for patch in ax.patches:
            box = patch.get_path().transformed(patch.get_patch_transform()).get_extents().extents
            looks = [to_hex(colour, keep_alpha=True) for colour in (patch.get_facecolor(), patch.get_edgecolor())]
            about = numbers(box, patch.get_linewidth(), patch.get_zorder())
            found.append((f"{type(patch).__name__} {' '.join(looks)}", about))
        for each in ax.collections:
            spots = np.array(each.get_offsets(), float).reshape(-1, 2)
            found.append((type(each).__name__, numbers(len(spots), spots[:1], spots[-1:], each.get_zorder())))
    return found


def is_placed(text):
    """Whether a word has looked for its place (labels.py), which hangs on how large its letters are."""
    return getattr(text, "anncoords", "") == "offset points" and text.get_ha() == text.get_va() == "center"


def drawn(name):
    figures = []
    if name in CHARTS:
        figure = Figure(figsize=(5, 4))
        ax = figure.subplots()
        CHARTS[name](ax)
        return figure
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bmlab.widgets.view.png", lambda figure, **_: figures.append(figure) or ("", 0, 0))
        VIEWS[name]()
    return figures[-1]


@pytest.mark.parametrize("name", one_of([*VIEWS, *CHARTS], lambda name: name in CHARTS))
def test_everything_stands_where_it_stood_and_is_as_large(name):
    now, before = layout(drawn(name)), json.loads(STORED.read_text(encoding="utf-8"))[name]
    assert [what for what, _ in now] == [what for what, _ in before]
    for (what, here), (_, there) in zip(now, before, strict=True):
        assert here == pytest.approx(there, abs=NEAR, rel=1e-3, nan_ok=True), what


if __name__ == "__main__":
    everything = {name: layout(drawn(name)) for name in [*VIEWS, *CHARTS]}
    lines = [
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in things) + "\n]"
        for name, things in everything.items()
    ]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
