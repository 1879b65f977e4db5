"""Stored figures of the live views: what a saved notebook shows where no kernel runs."""

import base64
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle
from PIL import Image

from .. import plot
from ..arrays import states
from ..estimate import dense_corr
from ..infer.exact.exact_sampling import probabilities
from ..infer.sampling.chains import Chains
from ..infer.sampling.gibbs import sweep
from ..learn.record import Step
from ..machines import ising
from ..model import BoltzmannMachine
from ..plot.style import HATCHED, MAX_LABELLED_UNITS, ON_LIGHT, literal

# The colours that are not those of a method: the two signs of a weight, a unit that is down, and one that is not known.
VIEW_COLOURS = {
    "apart": plot.APART,
    "together": plot.TOGETHER,
    "minus": plot.MINUS,
    "open": plot.OPEN,
    "hatched": HATCHED,
}
CRITICAL_TEMPERATURE = 2 / np.log(1 + np.sqrt(2))  # Kramers and Wannier (1941), Phys. Rev. 60, 252


class Easel:
    """One hidden figure for many pictures: its canvas remembers how letters and formulas are set."""

    def __init__(self, width: float, height: float):
        self._figure, self._place, self._plain = Figure(figsize=(width, height)), None, None
        self._canvas = FigureCanvasAgg(self._figure)

    def axes(self) -> Axes:
        """Return empty axes.  The first are laid out, which takes as long as all else; the others get the same place.

        Plain ticks are kept: they are more objects than all else in a figure, and clear() makes them twice.
        """
        used = self._figure.axes
        if len(used) != 1 or self._figure.texts or not self._place or _style(used[0]) != self._plain:
            self._figure.clear()
            self._figure.set_layout_engine("none" if self._place else "constrained")
            ax = self._figure.add_axes(self._place) if self._place else self._figure.add_subplot()
            plot.dress(self._figure)
            self._plain = _style(ax)
            return ax
        (ax,) = used
        for axis in (ax.xaxis, ax.yaxis):
            axis.reset_ticks = lambda: None
        ax.clear()
        for axis in (ax.xaxis, ax.yaxis):
            del axis.reset_ticks
        ax.set(aspect="auto", position=self._place)
        return ax

    def picture(self, dpi: int) -> str:
        """Return the figure as base64 text, in half the time of savefig, which draws everything twice."""
        plot.dress(self._figure)
        self._figure.set_dpi(dpi)
        self._canvas.draw()
        pixels, buffer = np.asarray(self._canvas.buffer_rgba()), BytesIO()
        Image.fromarray(pixels).save(buffer, "png", compress_level=1)
        ax, *others = self._figure.axes
        if not others:  # what stands beside a colour bar is laid out each time
            self._place = self._place or ax.get_position(original=True).bounds
        return base64.b64encode(buffer.getvalue()).decode()


def _style(ax):
    return [axis.get_tick_params(which) for axis in (ax.xaxis, ax.yaxis) for which in ("major", "minor")]


def subplots(rows: int, columns: int, width: float, height: float) -> tuple[Figure, np.ndarray]:
    """Return a figure outside pyplot, which no other cell shows, and its axes (rows, columns)."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def page(headline: str, buttons: Sequence[str], *sizes: tuple[int, int], gap: int = 20) -> tuple[Figure, list[Axes]]:
    """Return a figure laid out as a live view is: a headline, drawings of (width, height) pixels, buttons.

    The axes have the coordinates of the page's drawings, from their upper left corner, 100 pixels an inch.
    """
    wide, tall = sum(w for w, _ in sizes) + gap * (len(sizes) - 1), max(h for _, h in sizes)
    figure, heights, drawings, left = Figure(layout="constrained"), (26, tall + 6, 36), [], 0
    figure.set_size_inches(wide / 100, sum(heights) / 100)
    figure.set_layout_engine("none")
    for w, h in [(wide, heights[0]), *sizes, (wide, heights[2])]:
        row = (len(drawings) > 0) + (len(drawings) > len(sizes))
        top = 1 - sum(heights[:row]) / sum(heights)
        ax = figure.add_axes((left / wide, top - h / sum(heights), w / wide, h / sum(heights)))
        ax.set(xlim=(0, w), ylim=(h, 0))
        ax.set_axis_off()
        drawings.append(ax)
        left = left + w + gap if row == 1 and len(drawings) <= len(sizes) else 0
    drawings[0].text(0, 14, headline, fontsize=12, fontweight="bold", va="center")
    put_buttons(drawings[-1], buttons, 10)
    return figure, drawings[1:-1]


def disc(ax: Axes, x: float, y: float, radius: float, sign: float) -> None:
    """Draw a unit as graph.js does: blue +1, white -1, grey where it is open."""
    fill, ink = {1: (plot.PLUS, "white"), -1: (plot.MINUS, ON_LIGHT), 0: (plot.OPEN, ON_LIGHT)}[int(sign)]
    ax.add_patch(Circle((x, y), radius, fc=fill, ec=plot.INK, lw=3 if sign else 1.2))
    ax.text(
        x, y + 0.5, {1: "+", -1: "\N{MINUS SIGN}", 0: ""}[int(sign)], color=ink, fontsize=11, ha="center", va="center"
    )


def snapshots(size: int, field: float, temperature: float, seed: int, sweeps: int = 200) -> Figure:
    """Draw the lattice below, at and above the critical temperature, each after some sweeps from a random start.

    Below is its own temperature where that is low; another temperature brings another start.
    """
    rng = np.random.default_rng([seed, round(100 * temperature)])
    temperatures = np.array([temperature if temperature < 2 else 1.8, CRITICAL_TEMPERATURE, 3.5])
    model = ising((size, size), field=field)
    chains = Chains(model, rng.choice([-1, 1], (model.n, 3)), rng)
    chains.sweep(sweeps, beta=1 / temperatures)
    figure, axes = subplots(1, 3, 9, 3.5)
    for ax, temperature, s in zip(axes.flat, temperatures, chains.s.T, strict=True):
        plot.images(s, ax, (size, size))
        plot.headline(ax, f"T = {temperature:.3g}", below=f"magnetisation {s.mean():+.2f}")
    return figure


def two_layers(model: BoltzmannMachine) -> list[range]:
    """Return the units of the two layers of a restricted machine, or nothing."""
    low = max((k for k in range(2, model.n - 1) if not (model.dense_weights[:k, :k].any())), default=0)
    return [range(low), range(low, model.n)] if low and not model.dense_weights[low:, low:].any() else []


def converging(model: BoltzmannMachine, seed: int, totals=(10, 10_000), most: int = 16) -> Figure:
    """Draw the machine, and the counts of 10 and of 10,000 states beside the exact probabilities."""
    rng, chains, p = np.random.default_rng(seed), 10, probabilities(model)
    figure = Figure(figsize=(9, 3.9), layout="constrained")
    parts = figure.subplot_mosaic([["machine", 0], ["machine", 1]], width_ratios=[1, 1.7])
    layers = two_layers(model)
    plot.network(model, parts["machine"], layers=layers, places=None if layers else "circle")
    order = np.argsort(-p, kind="stable")[:most]
    for row, total in enumerate(totals):
        ax = parts[row]
        s = rng.choice([-1.0, 1.0], (chains, model.n))
        counts = np.zeros(len(p))
        for _ in range(total // chains):
            s = sweep(model, s, rng.random(s.shape))
            np.add.at(counts, ((s > 0) @ 2 ** np.arange(model.n)[::-1]).astype(int), 1)
        bars = {"exact": p[order], "counted": counts[order] / total}
        if model.n < MAX_LABELLED_UNITS:
            plot.states(states(model.n)[order], ax, bars, model=model)
        else:
            for shift, (name, heights) in zip((-0.2, 0.2), bars.items(), strict=True):
                ax.bar(np.arange(len(order)) + shift, heights, 0.36, color=plot.COLOURS.get(name, plot.PLUS))
            ax.set(xticks=[], xlabel=f"the {len(order)} most probable of {len(p)} states; grey: exact, blue: counted")
        plot.headline(ax, f"{total:,} states counted")
    return figure


def put_buttons(ax: Axes, names: Sequence[str], top: float, hint: str = "") -> None:
    """Draw the buttons of a view in a row, the one that sets it going in bold, and what else one may press."""
    left = 1.0
    for name in names:
        width = 24 + 8 * len(name)
        box = FancyBboxPatch((left + 6, top), width - 12, 16, "round,pad=6,rounding_size=6", fc="none", ec=plot.INK)
        ax.add_patch(box)
        weight = "bold" if name == "Run" else "normal"
        ax.text(left + width / 2, top + 8, name, ha="center", va="center", fontsize=10, fontweight=weight)
        left += width + 8
    ax.text(left + 4, top + 8, hint, va="center", fontsize=10)


def course(steps: Sequence[Step], headline: str) -> Figure:
    """Draw the correlations of the data and of the machine and its weights, after these steps, and the climb so far."""
    last, figure = steps[-1], Figure(figsize=(8.4, 4.6), layout="constrained")
    places: Any = [["awake", "asleep", "weights"], ["buttons", "curve", "curve"]]
    parts = figure.subplot_mosaic(places, height_ratios=[2.4, 1])
    figure.suptitle(headline, x=0.01, ha="left", fontsize=13, fontweight="bold")
    names = [str(name) for name in last.model.names or range(last.model.n)]
    squares = {"awake": last.clamped.corr, "asleep": last.free.corr, "weights": last.model.dense_weights}
    for part, title in (("awake", "awake: the data"), ("asleep", "asleep: the dreams"), ("weights", "weights")):
        matrix = dense_corr(squares[part])
        pairs(parts[part], matrix, names, np.nanmax(np.abs(matrix)) or 1 if part == "weights" else 1)
        parts[part].set_title(title, fontsize=10)
    plot.learning(steps, parts["curve"], "log_likelihood" if np.isfinite(last.log_likelihood.value) else "mismatch")
    parts["curve"].set_ylabel(parts["curve"].get_ylabel().replace(" (", "\n("))
    parts["buttons"].set(xlim=(0, 240), ylim=(120, 0), aspect="equal")
    parts["buttons"].axis("off")
    put_buttons(parts["buttons"], ["Run", "Step"], 50)
    return figure


def pairs(ax: Axes, matrix: np.ndarray, names: list[str], largest: float) -> None:
    """Draw a matrix as the page does: an orange square for +, a purple disc for -, as strong as the number is large."""
    n = len(matrix)
    for i, j in np.argwhere(np.isfinite(matrix) & ~np.eye(n, dtype=bool)):
        cell: Any = Rectangle((j, i), 0.95, 0.95) if matrix[i, j] > 0 else Circle((j + 0.5, i + 0.5), 0.47)
        cell.set(facecolor=VIEW_COLOURS["together" if matrix[i, j] > 0 else "apart"], linewidth=0)
        cell.set_alpha(min(1, abs(matrix[i, j]) / largest))
        ax.add_patch(cell)
    ax.set(xlim=(0, n), ylim=(n, 0), aspect="equal", xticks=[], yticks=[])
    if n <= 20:
        ax.set_xticks(np.arange(n) + 0.5, names, rotation=90, fontsize=7.5)
        ax.set_yticks(np.arange(n) + 0.5, names, fontsize=7.5)


def dreamt(patterns: np.ndarray, weights: np.ndarray, dreams: np.ndarray, shape: tuple) -> Figure:
    """Draw patterns, the weights learnt from them as lines between the pixels, and dreams."""
    figure, (axes,) = subplots(1, 3, 9, 3.7)
    plot.images(patterns[:4], axes[0], shape, columns=1 if len(patterns) < 4 else 2)
    plot.images(dreams, axes[2], shape, columns=6)
    row, column = np.divmod(np.arange(weights.shape[0]), shape[1])
    i, j = np.nonzero(np.tril(weights))
    strong, places = abs(weights[i, j]), np.column_stack([column, row])
    ends = np.where(weights[i, j] > 0, VIEW_COLOURS["together"], VIEW_COLOURS["apart"])
    lines = LineCollection(list(places[np.column_stack([i, j])]), linewidths=3 * strong, colors=list(ends))
    lines.set_alpha(list(strong.clip(0, 0.8)))
    axes[1].add_collection(lines)
    axes[1].plot(column, row, "o", color=plot.INK, markersize=3)
    axes[1].set(aspect="equal", ylim=(shape[0] - 0.5, -0.5), xticks=[], yticks=[])
    axes[1].axis("off")
    for ax, title in zip(axes, ("It is shown", "Its weights", "It dreams"), strict=True):
        plot.headline(ax, title)
        ax.set_anchor("N")
    return figure


def completed(start: np.ndarray, mean: np.ndarray, p: np.ndarray, shape: tuple, names: list[str]) -> Figure:
    """Draw what is known, what is expected in the rest, and the probability of each class."""
    figure, axes = subplots(1, 3, 9, 3)
    known = np.where(np.asarray(start) == 0, np.nan, start)
    for ax, image, title in zip(axes[0, :2], (known, mean), ("Known (hatched: unknown)", "Expected"), strict=True):
        plot.images(image, ax, shape)
        plot.headline(ax, title)
    axes[0, 2].bar(literal(names), p, color=plot.COLOURS["mean field"])
    axes[0, 2].set(ylim=(0, 1), yticks=[0, 1])
    plot.headline(axes[0, 2], "Probability of each class")
    return figure
