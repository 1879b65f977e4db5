"""Stored figures of the live views: a saved notebook shows them if no kernel runs."""

import base64
from collections.abc import Sequence
from io import BytesIO
from itertools import pairwise
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle
from matplotlib.transforms import Bbox
from PIL import Image

from .. import plot
from ..checking.arrays import first_largest
from ..estimate import dense_corr
from ..infer.sampling.gibbs import sweep
from ..learn.record import Step
from ..model import BoltzmannMachine
from ..plot.style import DASHED, HATCHED, ON_LIGHT, escape_dollars, signed

# The colours that are not those of a method: the two signs of a weight, a unit that is down, and one that is not known.
VIEW_COLOURS = {
    "apart": plot.APART,
    "together": plot.TOGETHER,
    "minus": plot.MINUS,
    "open": plot.OPEN,
    "hatched": HATCHED,
}
NAMED = 6  # units up to which a matrix of pairs has names beside its rows and columns
WEAKEST = 0.06  # a weight that is drawn between pixels in its colour, as in dreams.js


class Easel:
    """One hidden figure for many pictures: its canvas remembers how letters and formulas are set."""

    def __init__(self, width: float, height: float):
        self._figure, self._place = Figure(figsize=(width, height)), None
        self._canvas = FigureCanvasAgg(self._figure)

    def axes(self) -> Axes:
        """Return empty axes.  The first are laid out, which takes as long as all else; the others stand there, too,
        unless one of their words would be cut.
        """
        self._figure.clear()
        self._figure.set_layout_engine("none" if self._place else "constrained")
        ax = self._figure.add_axes(self._place) if self._place else self._figure.add_subplot()
        plot.apply_style(self._figure)
        return ax

    def picture(self, dpi: int) -> str:
        """Return the figure as base64 text, in half the time of savefig, which draws everything twice."""
        plot.apply_style(self._figure)
        self._figure.set_dpi(dpi)
        self._canvas.draw()
        ax, *others = self._figure.axes
        if not others:  # axes beside a colour bar are laid out each time
            if self._place and self._cuts(ax):
                self._move(ax, self._place)
            self._place = ax.get_position(original=True).bounds
        pixels, buffer = np.asarray(self._canvas.buffer_rgba()), BytesIO()
        Image.fromarray(pixels).save(buffer, "png", compress_level=1)
        return base64.b64encode(buffer.getvalue()).decode()

    def _cuts(self, ax):
        """Whether words of the axes, wider than those of the pictures before, leave the paper."""
        drawn, paper = ax.get_tightbbox(self._canvas.get_renderer()), self._figure.bbox
        return min(drawn.x0, drawn.y0, paper.x1 - drawn.x1, paper.y1 - drawn.y1) < -1

    def _move(self, ax, place):
        """Lay out the axes again, within their place until now, so that earlier pictures fit, too."""
        ax.set_subplotspec(GridSpec(1, 1, self._figure)[0])
        self._figure.set_layout_engine("constrained")
        self._canvas.draw()
        room = Bbox.intersection(Bbox.from_bounds(*place), ax.get_position(original=True))
        self._figure.set_layout_engine("none")
        ax.set_position(room or place)
        self._canvas.draw()


def inside(ax: Axes, left: float, top: float, width: float, height: float) -> Axes:
    """Return new axes over a part of those of a page, in its pixels."""
    low, high = ax.figure.transFigure.inverted().transform(
        ax.transData.transform([(left, top + height), (left + width, top)])
    )
    return ax.figure.add_axes((*low, *(high - low)))


class Slider(NamedTuple):
    """A slider below a drawing: its name, the place of its thumb from 0 to 1, and the value there."""

    name: str
    at: float
    value: str


class Choice(NamedTuple):
    """Buttons below a drawing of which one is pressed, the first."""

    name: str
    values: tuple[str, ...]


Controls = Sequence[str | Slider | Choice]
WIDEST = 540  # pixels of a still: letters of 10 points are then still 9 on a telephone, which shows it 500 wide
GAP = 20  # pixels between two drawings
RING = 6  # pixels that the page keeps free round a unit
LETTER = 8.1  # pixels of a letter of 10 points, on average


def page(headline: str, controls: Controls, *sizes: tuple[float, float], hint: str = "") -> tuple[Figure, list[Axes]]:
    """Return a figure laid out as a live view is: a headline, drawings of (width, height) pixels, controls.

    The axes have the coordinates of the page's drawings, from their upper left corner.  If these are wider than a
    still may be, they are drawn smaller, and words as large as ever.
    """
    wide, tall = sum(w for w, _ in sizes) + GAP * (len(sizes) - 1), max(h for _, h in sizes)
    part = min(1, WIDEST / wide)
    lines, rows = wrap(headline, int(wide * part / 9.4)), _in_rows(controls, wide * part)
    hints = wrap(hint, int(wide * part / LETTER))
    heights = (8 + 18 * len(lines), (tall + 6) * part, 4 + 34 * len(rows) + 18 * len(hints))
    figure = Figure(figsize=(wide * part / 100, sum(heights) / 100), layout="constrained")
    figure.set_layout_engine("none")  # so remembered, apply_style() chooses no other

    def axes(left, top, width, height, drawn):
        across, down = wide * part, sum(heights)
        ax = figure.add_axes((left / across, 1 - (top + height) / down, width / across, height / down))
        ax.set(xlim=(0, width / drawn), ylim=(height / drawn, 0))
        ax.set_axis_off()
        return ax

    axes(0, 0, wide * part, heights[0], 1).text(0, 2, "\n".join(lines), fontsize=11, fontweight="bold", va="top")
    drawings, left = [], 0.0
    for w, h in sizes:
        drawings.append(axes(left * part, heights[0], w * part, h * part, part))
        left += w + GAP
    below = axes(0, heights[0] + heights[1], wide * part, heights[2], 1)
    for k, row in enumerate(rows):
        for control, x in row:
            _put(below, control, x, 20 + 34 * k)
    below.text(0, 8 + 34 * len(rows), "\n".join(hints), fontsize=10, va="top")
    return figure, drawings


def _in_rows(controls, wide):
    """The controls in rows of at most this many pixels, each with its left end."""
    rows, left = [[]], 0.0
    for control in controls:
        if rows[-1] and left + _width(control) > wide:
            rows.append([])
            left = 0
        rows[-1].append((control, left))
        left += _width(control) + 8
    return rows


def _width(control: str | Slider | Choice) -> float:
    if isinstance(control, Slider):
        return LETTER * len(control.name + control.value) + 90
    if isinstance(control, Choice):
        return LETTER * len(control.name) + sum(_width(value) + 6 for value in control.values)
    return 22 + LETTER * len(control)


def _put(ax, control, x, y):
    """Draw the controls; the button that starts or stops a view is bold."""
    if isinstance(control, str):
        _button(ax, control, x, y, weight="bold" if control in ("Run", "Pause") else "normal")
        return
    ax.text(x, y, control.name, fontsize=10, va="center_baseline")
    x += LETTER * len(control.name) + 8
    if isinstance(control, Choice):
        for k, value in enumerate(control.values):
            _button(ax, value, x, y, pressed=k == 0)
            x += _width(value) + 6
        return
    ax.plot([x, x + 64], [y, y], color=plot.FAINT, linewidth=2.5, solid_capstyle="round")
    at = min(max(control.at, 0), 1)
    ax.plot([x, x + 64 * at], [y, y], color=plot.INK, linewidth=2.5, solid_capstyle="round")
    ax.plot(x + 64 * at, y, "o", color=plot.INK, markersize=9)
    ax.text(x + 76, y, control.value, fontsize=10, va="center_baseline")


def _button(ax, name, x, y, pressed=False, weight="normal"):
    fill, ink = (plot.INK, "white") if pressed else ("none", plot.INK)
    style = "round,pad=6,rounding_size=6"
    ax.add_patch(FancyBboxPatch((x + 7, y - 7), _width(name) - 14, 14, style, fc=fill, ec=plot.INK))
    about: Any = {"ha": "center", "va": "center_baseline", "fontsize": 10, "fontweight": weight}
    ax.text(x + _width(name) / 2, y, name, color=ink, **about)


def drawn(model: BoltzmannMachine, ax: Axes, **options: Any) -> dict[str, Any]:
    """Draw a machine as plot.network does, and return the places of its units, lines and words in the page's pixels.

    The page puts them there too: a view and its stored picture are one drawing.
    """
    figure: Any = ax.figure
    size = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])
    layers = two_layers(model)
    with_names = BoltzmannMachine(
        model.weights, model.biases, model.temperature, names=model.names or [f"unit {i}" for i in range(model.n)]
    )
    tree = np.count_nonzero(model.dense_weights) == 2 * (model.n - 1)
    plot.network(with_names, ax, layers=layers, places=None if layers or tree else "circle", **options)
    FigureCanvasAgg(figure).draw()
    pixel = size[0] / ax.bbox.width  # of the page, in a dot of the figure
    point = pixel * figure.dpi / 72

    def placed(points):
        return ((np.atleast_2d(points) - ax.bbox.min) * [1, -1] * pixel + [0, size[1]]).round(1).tolist()

    units, lines = [], []
    for line in ax.lines:
        spots = line.get_transform().transform(line.get_xydata())
        if line.get_marker() == "o":
            units.append([*placed(spots)[0], round(point * line.get_markersize() / 2, 1)])
            continue
        pieces = [a + b for a, b in pairwise(placed(spots)) if np.isfinite(a + b).all()]
        lines.append({"pieces": pieces, "width": round(point * line.get_linewidth(), 1), "apart": line.is_dashed()})
    words = []
    for text in ax.texts:
        box = text.get_window_extent()
        (at,), is_bold = placed(np.add(box.min, box.max) / 2), text.get_fontweight() == "bold"
        if is_bold:  # further out, by the ring of who has a turn
            out = np.subtract(at, min(units, key=lambda unit: np.hypot(*np.subtract(at, unit[:2])))[:2])
            at = (at + RING * out / np.hypot(*out)).round(1).tolist()
        words.append([*at, text.get_text(), is_bold])
    return {"box": size.tolist(), "units": units, "lines": lines, "words": words}


def disc(ax: Axes, x: float, y: float, radius: float, sign: float) -> None:
    """Draw a unit as graph.js does: blue +1, white -1, grey if it is open."""
    fill, ink = {1: (plot.PLUS, "white"), -1: (plot.MINUS, ON_LIGHT), 0: (plot.OPEN, ON_LIGHT)}[int(sign)]
    ax.add_patch(Circle((x, y), radius, fc=fill, ec=plot.INK, lw=3 if sign else 1.2))
    ax.text(
        x, y + 0.5, {1: "+", -1: "\N{MINUS SIGN}", 0: ""}[int(sign)], color=ink, fontsize=11, ha="center", va="center"
    )


def two_layers(model: BoltzmannMachine) -> list[range]:
    """Return the units of the two layers of a restricted machine, or nothing."""
    low = max((k for k in range(2, model.n - 1) if not (model.dense_weights[:k, :k].any())), default=0)
    return [range(low), range(low, model.n)] if low and not model.dense_weights[low:, low:].any() else []


def turns(model: BoltzmannMachine, start: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Return how often each state came in `count` turns of Gibbs sampling, a unit a turn."""
    rng, s, counts = np.random.default_rng(seed), np.array(start, dtype=float), np.zeros(2**model.n)
    for k in range(count):
        s = sweep(model, s, rng.random(1), units=[k % model.n])
        counts[int((s > 0) @ 2 ** np.arange(model.n)[::-1])] += 1
    return counts


def course(steps: Sequence[Step], headline: str) -> Figure:
    """Draw the correlations of the data and of the machine and its weights, after these steps, and the climb so far."""
    last, side = steps[-1], 230
    under = 16 if last.model.n <= NAMED else 0  # room for the names below the matrices
    controls = ["Run", "Step", "Back to the start", Slider("step", 1, f"{len(steps) - 1}")]
    figure, (ax,) = page(headline, controls, (3 * side + 80, side + 206 + under))
    names = [str(name) for name in last.model.names or range(last.model.n)]
    titled = {
        "awake: the data": last.clamped.corr,
        "asleep: the dreams": last.free.corr,
        "weights": last.model.dense_weights,
    }
    for k, (title, values) in enumerate(titled.items()):
        left = 20 + k * (side + 30)
        part = inside(ax, left, 34, side, side)
        matrix = dense_corr(values)
        pairs(part, matrix, names, np.nanmax(np.abs(matrix)) or 1 if title == "weights" else 1)
        ax.text(left, 14, title, fontsize=10, fontweight="bold", va="center_baseline")
    curve = inside(ax, 110, side + 76 + under, 3 * side - 60, 92)
    plot.learning(steps, curve, "log_likelihood" if np.isfinite(last.log_likelihood.value) else "mismatch")
    ax.text(110, side + 58 + under, f"{curve.get_ylabel()}, step by step", fontsize=10, va="center_baseline")
    ends = [end(curve.lines[0].get_ydata()) for end in (np.min, np.max)]  # of the climb, as the page marks them
    curve.set(xlabel="", ylabel="", yticks=ends, yticklabels=[signed(end, ".2f") for end in ends])
    return figure


def pairs(ax: Axes, matrix: np.ndarray, names: list[str], largest: float) -> None:
    """Draw a matrix as the page does: an orange square for +, a purple disc for -, as strong as the number is large."""
    n = len(matrix)
    for i, j in np.argwhere(np.isfinite(matrix) & ~np.eye(n, dtype=bool)):
        cell: Any = Rectangle((j, i), 0.95, 0.95) if matrix[i, j] > 0 else Circle((j + 0.5, i + 0.5), 0.47)
        cell.set(facecolor=VIEW_COLOURS["together" if matrix[i, j] > 0 else "apart"], linewidth=0)
        cell.set_alpha(min(1, abs(matrix[i, j]) / largest))
        ax.add_patch(cell)
        if n <= 4:
            ax.text(j + 0.5, i + 0.5, signed(float(matrix[i, j]), "+.2f"), fontsize=10, ha="center", va="center")
    ax.set(xlim=(0, n), ylim=(n, 0), aspect="equal", xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set(visible=True, color=plot.FAINT)
    if n <= NAMED:
        ax.set_xticks(np.arange(n) + 0.5, names, fontsize=10)
        ax.set_yticks(np.arange(n) + 0.5, names, fontsize=10)


def dreamt(headline: str, patterns: np.ndarray, weights: np.ndarray, dreams: np.ndarray, shape: tuple) -> Figure:
    """Draw patterns, the weights learnt from them between one pixel and all others, and dreams."""
    controls = ["Pause", "Teach", "Unlearn", "Start again", "Show it this"]  # it plays at once
    hint = "Framed: one of the patterns. Thin and grey: a weight near 0."
    figure, (shown, web, wall) = page(headline, controls, *[(s, 330) for s in (150, 320, 320)], hint=hint)
    for ax, title in ((shown, "It is shown"), (web, "Weights of one cell"), (wall, "It dreams")):
        ax.text(0, 14, title, fontsize=10, fontweight="bold", va="center_baseline")

    def sheet(ax, rows, wide, columns):
        drawn = plot.images(rows, inside(ax, 0, 34, wide, 290), shape, columns=columns)
        drawn.set_anchor("NW")
        return drawn

    sheet(shown, patterns[:6], 150, 1 if len(patterns) < 4 else 2)
    drawn = sheet(wall, dreams, 320, 6)
    for k in np.flatnonzero((dreams[:, None] == patterns).all(axis=2).any(axis=1)):
        left, top = k % 6 * (shape[1] + 1) - 0.5, k // 6 * (shape[0] + 1) - 0.5
        style = {"fc": "none", "ec": plot.INK, "lw": 2, "clip_on": False, "zorder": 3}
        drawn.add_patch(Rectangle((left, top), shape[1], shape[0], **style))
    height, width = shape
    cell = 290 / max(shape)
    row, column = np.divmod(np.arange(height * width), width)
    x, y = (column + 0.5) * cell, 34 + (row + 0.5) * cell
    one = first_largest(np.abs(weights).sum(axis=0))
    for other in np.flatnonzero(np.arange(height * width) != one):
        w = weights[one, other]
        style: Any = {"color": plot.TOGETHER} if w > 0 else {"color": plot.APART, "linestyle": DASHED}
        if abs(w) <= WEAKEST:
            style = {"color": plot.FAINT}
        web.plot(x[[one, other]], y[[one, other]], linewidth=min(6, 0.4 + 6 * abs(w)), zorder=1, **style)
    signs = np.sign(dreams[0])
    for k in range(height * width):
        fill, rim = plot.PLUS if signs[k] > 0 else plot.MINUS, 2.5 if k == one else 0.8
        web.add_patch(Circle((x[k], y[k]), 0.2 * cell, fc=fill, ec=plot.INK, lw=rim, zorder=2))
    return figure


def completed(start: np.ndarray, mean: np.ndarray, p: np.ndarray, shape: tuple, names: list[str]) -> Figure:
    """Draw the known pixels, the expected others, and the probability of each class."""
    controls, sizes = ["Ink", "Paper", "Unknown", "Rest is paper", "Clear"], [(230, 270), (230, 270), (290, 270)]
    read = f"It reads {escape_dollars(names)[first_largest(p)]}, with probability {p.max():.2f}"
    figure, axes = page(read, controls, *sizes, hint="Hatched: not known, and to be completed.")
    known = np.where(np.asarray(start) == 0, np.nan, start)
    for ax, title in zip(axes, ("Known", "Expected", "Probability"), strict=True):
        ax.text(0, 14, title, fontsize=10, fontweight="bold", va="center_baseline")
    for ax, image in zip(axes[:2], (known, mean), strict=True):
        plot.images(image, inside(ax, 0, 34, 230, 230), shape).set_anchor("NW")
    bars = inside(axes[2], 30, 34, 240, 230)
    bars.barh(range(len(p)), p, color=plot.COLOURS["mean field"])
    bars.set(xlim=(0, 1), xticks=[], ylim=(len(p) - 0.5, -0.5))
    bars.set_yticks(range(len(p)), escape_dollars(names))
    return figure
