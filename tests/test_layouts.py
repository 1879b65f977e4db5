"""Where things stand in stored views and charts, and how large they are: no law says so, so it is written down.

`python tests/test_layouts.py` writes layouts.json after a view or a chart was given other looks: the difference shows
what has moved.  Numbers are those that the drawing code gives, in pixels of a view or units of an axis, never what
Matplotlib makes of them.  Words that look for a free place (labels.py) find it among letters that are all of one size:
no font has a say.
"""

import json
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pytest

import bmlab

matplotlib.use("Agg")
pytest.importorskip("anywidget")
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.layout_engine import PlaceHolderLayoutEngine
from matplotlib.offsetbox import AnnotationBbox
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator
from matplotlib.transforms import Bbox
from selection import one_of
from test_overlaps import NETWORKS
from test_widgets import VIEWS, draw, readers

from bmlab import plot, widgets

STORED = Path(__file__).with_name("layouts.json")
NEAR = 0.002  # of a pixel or of a unit, and a twentieth of a thousandth of what is large: last digits may differ
MODEL, DATA = bmlab.toy(), bmlab.states(3)[[0, 0, 7, 6, 1]]


def climb():
    return bmlab.fit(bmlab.BoltzmannMachine(np.zeros((3, 3)), np.zeros(3)), DATA, steps=40, rate=0.3).steps


def sure(mean, log_z, method, converged=True):
    """Answers about MODEL of which all numbers are given."""
    errors = {"mean_stderr": np.full(3, 0.04), "corr_stderr": np.full((3, 3), 0.06), "converged": converged}
    return replace(bmlab.exact(MODEL), mean=np.array(mean), log_z=log_z, method=method, **errors)


def three(rows):
    """Axes of a climb: two squares and a curve beside or below them."""
    figure = Figure(figsize=(5.2, 4.8))
    if rows == 1:
        return figure.subplots(1, 3)
    return [*figure.subplot_mosaic("AB;CC", height_ratios=[3, 2]).values()]


def slow_draw(T, ax, style="solid", seeds=2):
    """Draw a line."""
    draw(T, ax, style)
    print(
        f"a row  of {seeds} columns, -3 to +1, which is a sentence that is longer than a picture is wide, so it goes on"
    )


STAR = bmlab.BoltzmannMachine(
    bmlab.symmetric(np.eye(5, k=1) + 0.5 * np.eye(5, k=3)),
    [0, 0.5, 0, -1, 0],
    names=("a", "b", "a longer name", "d", "e"),
)
TREE = bmlab.BoltzmannMachine(
    bmlab.symmetric([[0] * 7, *([(-1) ** k * k / 4 * (i == (k - 1) // 2) for i in range(7)] for k in range(1, 7))]),
    [0.1, 0, -0.3, 0, 0.2, 0, 0],
)
LAYERED = bmlab.restricted([[1, -0.5], [0.2, 1.5], [-1, 0.7]], [0.1, 0, -0.2], [0, 0.3])
MORE_VIEWS = {
    "two sliders": lambda: widgets.explore(slow_draw, T=(1, 30), style=["solid", "dashed"], seeds=(1, 4)),
    "a tree of messages": lambda: widgets.MessageView(TREE, seed=3),
    "fields of five": lambda: widgets.MeanFieldView(STAR.at(2)),
    "conditions of five": lambda: widgets.ConditionalView(STAR),
    "an update of four": lambda: widgets.UpdateView(bmlab.sherrington_kirkpatrick(4, rng=3), seed=1),
    "states of two": lambda: widgets.StatesView(bmlab.BoltzmannMachine([[0, 1], [1, 0]], [0.5, 0])),
    "visits of two": lambda: widgets.VisitedView(bmlab.BoltzmannMachine([[0, 1], [1, 0]], [0.5, 0]), seed=2),
    "two layers": lambda: widgets.MachineView(LAYERED),
    "named machine": lambda: widgets.MachineView(STAR),
    "a climb of five": lambda: widgets.LearningView(
        bmlab.learning_steps(STAR, np.sign(np.arange(40).reshape(8, 5) % 7 - 2.5), bmlab.mean_field, rate=0.05), steps=4
    ),
    "two patterns": lambda: widgets.DrawView(np.sign(np.arange(24).reshape(2, 12) % 5 - 1.5), shape=(3, 4)),
    "four patterns": lambda: widgets.DrawView(np.sign(np.arange(16).reshape(4, 4) % 3 - 0.5), shape=(2, 2)),
    "two classes": lambda: widgets.PaintView(
        readers(6)[:2], [0, 1], names=["$1", "two"], shape=(2, 3), start=[1, -1, 0, 0, 1, 1]
    ),
}
PLACED = (
    "toy",
    "medium",
    "two and two",
    "five and three",
    "torus",
    "chain of ten",
    "named chain",
    "tree",
    "messages up",
)
PLACED += ("star", "three votes", "carry", "competing", "pair")
CHARTS = {  # a network whose units have looked for their places themselves may stand turned over: not here
    **{f"network: {name}": lambda ax, name=name: network(name, ax) for name in PLACED},
    "errors": lambda ax: plot.network(bmlab.toy(), ax, errors=np.full((3, 3), 0.3), states=[1, 0, -1], clamped=[0]),
    "long curves": lambda ax: plot.curves(
        range(1, 31),
        {
            "PCD": range(30),
            "CD-1": [*range(15), np.nan, *range(14)],
            "bethe, slow": range(2, 32),
            "own": [9] * 30,
            "own 2": [3] * 30,
        },
        ax,
        xscale="log",
        xlabel="sweeps",
        xlim=(1, 60),
    ),
    "unsure": lambda ax: plot.moments(
        bmlab.exact(MODEL), sure([0.1, -0.6, 0.9], 2.0, "gibbs", False), ax, pair=(1, 2), named="a $ pair"
    ),
    "one bound": lambda ax: plot.bracket(
        bmlab.Bracket(bmlab.Bounded(3.0, lower=2.8, upper=3.3), "tree", "Gaussian", {}),
        [
            sure([0] * 3, bmlab.Bounded(3.0, 0.1), "ais"),
            sure([0] * 3, bmlab.Bounded(2.9, lower=2.9), "mean field", False),
            sure([0] * 3, bmlab.Bounded(3.2, upper=3.2), "tree bound"),
        ],
        ax,
    ),
    "learning in a row": lambda ax: plot.learning(climb(), three(1), pair=(0, 2)),
    "learning in two rows": lambda ax: plot.learning(climb(), three(2), "mismatch"),
    "mismatch": lambda ax: plot.learning(climb(), ax, "mismatch"),
    "two bars a state": lambda ax: plot.states([[1, 0], [-1, 1]], ax, {"exact": [0.5, 0.2], "own": [0.1, 0.7]}),
    "a state": lambda ax: plot.glyph(ax, [1, -1, 0, -1], (0.2, 0.7), size=40, offset=(3, -4)),
    "weights of pixels": lambda ax: plot.images(
        [[0.5, -2, np.nan, 0, 1, -0.3]] * 3,
        ax,
        (2, 3),
        2,
        2.0,
        names=["one", "$two"],
        kind="weights",
        marked=[[1, 0, 0, 0, 0, 1]] * 3,
    ),
    "unknown pixels": lambda ax: plot.images([[1, np.nan, -1, 0.2]], ax),
    "headline": lambda ax: plot.headline(ax, "What it says", "and what\nis needed to read it"),
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


def network(name, ax):
    machine, options, size = NETWORKS[name]()
    ax.figure.set_size_inches(size)
    return plot.network(machine, ax, **options)


def numbers(*values):
    return [round(float(x), 3) for one in values for x in np.ravel(one)]


ALL = [*VIEWS, *MORE_VIEWS, *CHARTS]


def colour(*of):
    return [to_hex(one, keep_alpha=True) for one in of]


def words(text):
    """The looks of a text, and where it stands."""
    place = getattr(text, "xy", ()), getattr(text, "xyann", text.get_position())
    said, looks = " ".join(text.get_text().split()), (text.get_ha(), text.get_va(), text.get_fontweight())
    lines = 1.2 if text._linespacing == "normal" else text._linespacing
    about = numbers(*place, text.get_fontsize(), text.get_zorder(), text.get_rotation(), lines)
    means = [one if isinstance(one, str | tuple) else "" for one in coordinates(text, "xycoords", "anncoords")]
    return f"text {said!r} {' '.join(map(str, [*looks, *means]))} {to_hex(text.get_color())}", about


def coordinates(artist, *kinds):
    """What the numbers of an annotation are: pixels, points, shares of the axes, or units of its own."""
    return [getattr(artist, kind, "") for kind in kinds]


def drawing(artist):
    """What a line, a patch, a picture or a collection is and how it looks, and its numbers."""
    kind = type(artist).__name__
    if kind in ("Line2D", "AxLine"):
        xy = np.array(artist.get_xydata(), float).reshape(-1, 2)
        known = xy[np.isfinite(xy).all(axis=1)]
        sizes = artist.get_linewidth(), artist.get_markersize(), artist.get_zorder(), artist.get_alpha() or 1
        every = artist.get_markevery()
        looks = artist.get_linestyle(), artist.get_marker(), *colour(artist.get_color(), artist.get_markerfacecolor())
        looks += artist.get_fillstyle(), artist.get_solid_capstyle(), artist.get_markeredgewidth(), every
        looks += (artist._unscaled_dash_pattern,)
        middle = known.mean(axis=0) if len(known) else ()
        return ("line", *looks), numbers(len(xy), xy[:1], xy[-1:], middle, *sizes)
    if kind == "AxesImage":
        pixels = artist.cmap(artist.norm(np.ma.masked_invalid(artist.get_array())))
        rows = pixels.mean(axis=1)[:2], pixels.mean(axis=0)[:2]  # of a sheet the first lines and columns
        about = artist.get_extent(), artist.get_array().shape, pixels.mean(axis=(0, 1)), pixels[0, 0], *rows
        return (kind, artist.get_interpolation()), numbers(*about)
    if hasattr(artist, "get_offsets"):
        spots = np.array(artist.get_offsets(), float).reshape(-1, 2)
        paths = [path.vertices.mean(axis=0) for path in artist.get_paths()[:9]]
        looks = kind, artist.get_hatch(), *colour(*artist.get_facecolor()[:2])
        return looks, numbers(len(spots), spots[:1], spots[-1:], *paths, artist.get_linewidths(), artist.get_zorder())
    box = artist.get_path().transformed(artist.get_patch_transform()).get_extents().extents
    looks = kind, *colour(artist.get_facecolor(), artist.get_edgecolor()), artist.get_hatch()
    return looks, numbers(box, artist.get_linewidth(), artist.get_zorder())


def layout(figure):
    """Return (what it is, its numbers) of each thing in a figure, in the order in which they were drawn."""
    found = [("figure", numbers(figure.get_size_inches()))]
    for k, ax in enumerate(figure.axes):
        found.append((f"axes {k}", numbers(ax.get_xlim(), ax.get_ylim())))
        place = 100 * np.array(ax.get_position(original=True).bounds) * np.tile(figure.get_size_inches(), 2)  # pixels
        found += [(f"frame {k} {ax.get_aspect()} {ax.get_box_aspect()}", numbers(place))] * (
            not figure.get_layout_engine() or isinstance(figure.get_layout_engine(), PlaceHolderLayoutEngine)
        )
        for axis in (ax.xaxis, ax.yaxis) if ax.axison else ():
            fixed = isinstance(axis.get_major_locator(), FixedLocator)
            found += [(f"ticks {k}", numbers(axis.get_majorticklocs()))] * fixed
            said = [text.get_text() for text in axis.get_ticklabels()] * fixed
            found.append((f"axis {k} {axis.get_scale()} {axis.label.get_text()!r} {said}", numbers(axis.labelpad)))
        spines = {name: spine for name, spine in ax.spines.items() if spine.get_visible() and ax.axison}
        found += [(f"spine {name} {colour(spine.get_edgecolor())}", []) for name, spine in spines.items()]
        key, titles = ax.get_legend(), [ax.title, ax._left_title]
        legend = key.get_texts() if key else []
        room = (key.get_frame_on(), key.handletextpad, key.borderpad, key.borderaxespad) if key else ()
        found += [("key", numbers(*room))] * bool(key)
        over = numbers(ax.titleOffsetTrans.transform((0, 0)))
        found += [(f"above {[text.get_wrap() for text in titles]}", over)] * any(text.get_text() for text in titles)
        found += [words(text) for text in [*titles, *ax.texts, *legend] if text.get_text()]
        arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None)]
        found += [(f"arrow {sorted(map(str, text.arrowprops.items()))}", words(text)[1]) for text in arrows]
        boxes = [artist for artist in ax.artists if isinstance(artist, AnnotationBbox)]
        found += [
            (f"glyph {box.boxcoords} {box.patch.get_visible()} {box.get_annotation_clip()}", glyph_of(box))
            for box in boxes
        ]
        inside = [part for box in boxes for part in box.offsetbox.get_children()]
        keys = key.get_lines() if key else []
        for artist in (*ax.lines, *ax.patches, *ax.images, *ax.collections, *inside, *keys):
            looks, about = drawing(artist)
            found.append((" ".join(map(str, [*looks, artist.get_clip_on()])), about))
    return found


def glyph_of(box):
    """Where a small picture stands, and how large it is."""
    return numbers(box.xy, box.xybox, box.offsetbox.width, box.offsetbox.height)


NOT_OURS = {"layout", "tabbable", "tooltip", "picture"}  # of ipywidgets, and what hangs on fonts


def sent(view):
    """Return (name and words, numbers) of what the page of a view is sent beside its picture."""
    state = {key: value for key, value in view.get_state().items() if key[0] != "_" and key not in NOT_OURS}
    found = {key: [*leaves(value)] for key, value in sorted(state.items()) if not isinstance(value, bytes)}
    return [
        (
            f"{key} {[one for one in values if isinstance(one, str)]}",
            numbers(*(x for x in values if not isinstance(x, str))),
        )
        for key, values in found.items()
    ]


def leaves(value):
    """Yield the words and numbers of a value that travels, and what holds others as words."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else None
    if isinstance(value, dict):
        yield from map(str, value)
    for part in parts or ():
        yield from leaves(part)
    if parts is None:
        yield value if isinstance(value, int | float) else str(value)


def of_equal_letters(text, renderer=None, dpi=None):
    """Return the box of a text whose letters are all as wide as high ones are: no font has a say."""
    size = text.get_fontsize() * text.figure.dpi / 72
    lines = text.get_text().split("\n")
    wide, tall = 0.6 * size * max(map(len, lines)), 1.2 * size * len(lines)
    x, y = text.get_transform().transform(text.get_unitless_position())
    left = x - wide * {"left": 0, "center": 0.5, "right": 1}[text.get_ha()]
    low = y - tall * {"top": 1, "bottom": 0, "baseline": 0}.get(text.get_va(), 0.5)
    return Bbox.from_bounds(left, low, wide, tall)


def drawn(name):
    figures = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "get_window_extent", of_equal_letters)
        if name in CHARTS:
            ax = Figure(figsize=(5, 4), dpi=100).subplots()
            made = CHARTS[name](ax)
            figure = np.ravel(made)[0].figure
            FigureCanvasAgg(figure).draw()  # words look for their places
            return layout(figure)
        patch.setattr("bmlab.widgets.view.png", lambda figure, **_: figures.append(figure) or ("", 0, 0))
        view = (VIEWS | MORE_VIEWS)[name]()
    return layout(figures[-1]) + sent(view)


@pytest.mark.parametrize("name", one_of(ALL, lambda name: name in CHARTS))
def test_everything_stands_where_it_stood_and_is_as_large(name):
    now, before = drawn(name), json.loads(STORED.read_text(encoding="utf-8"))[name]
    assert [what for what, _ in now] == [what for what, _ in before]
    for (what, here), (_, there) in zip(now, before, strict=True):
        assert here == pytest.approx(there, abs=NEAR, rel=5e-5, nan_ok=True), what


if __name__ == "__main__":
    everything = {name: drawn(name) for name in ALL}
    lines = [
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in things) + "\n]"
        for name, things in everything.items()
    ]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
