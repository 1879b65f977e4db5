"""Drawings.  Each function draws what it is given on the Axes it is given, returns that Axes, and computes nothing.

Rules.  The headline says what one sees.  +1 is blue (PLUS), -1 white with a rim (MINUS), open grey (OPEN).  Orange
pulls together (TOGETHER), purple pushes apart and is dashed (APART), red is a wish that is not met (UNMET), FAINT is
for comparison.  Words stand at the line; there are axes only where a number is read.  The ground is transparent, and
words are of a grey (INK) that reads on light paper and dark; black is drawn in it too.  One colour a method, readable
by colour-blind people (Okabe and Ito 2008), and a marker, so that nothing is lost in grey.
"""

from __future__ import annotations

import base64
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from io import BytesIO
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from .checks import check_array, check_choice, check_count, check_positive, check_row, in_words
from .estimate import Estimate, check_estimate, dense_corr
from .model import BoltzmannMachine, check_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .infer.bounds.bracketing import Bracket
    from .learn.record import Step

__all__ = ["COLOURS", "MARKERS", "METHODS", "answers", "at_lines", "bracket", "curves", "dress", "flows", "glyph"]
__all__ += ["headline", "images", "learning", "moments", "network", "phases", "show", "states"]

INK, FAINT, UNMET = "#6B7682", "#8A949E80", "#D64545"
PLUS, MINUS, OPEN = "#0072B2", "#FFFFFF", "#B4BCC4"
TOGETHER, APART, DASHED = "#D9730D", "#8459B8", (0, (2.2, 1.2))
METHODS = {
    "exact": ("black", "o"),
    "gibbs": ("#0072B2", "s"),
    "mean field": ("#D55E00", "^"),
    "tap": ("#009E73", "D"),
    "bethe": ("#CC79A7", "v"),
    "temper": ("#56B4E9", "P"),
    "ais": ("#B0204E", "*"),
    "visited": ("#999933", ">"),
    "trw": ("#E69F00", "<"),
    "data": (OPEN, "x"),
}
COLOURS = {name: colour for name, (colour, _) in METHODS.items()}
MARKERS = {name: marker for name, (_, marker) in METHODS.items()}
DASHES = ("-", "--", ":", "-.", (0, (1, 4)), (0, (6, 2, 1, 2, 1, 2)))
FEW = 4  # units: up to here states are drawn, and each weight is written at its line


def headline(ax: Axes, text: str, below: str = "") -> Axes:
    """Say above the axes what one sees, and below it, smaller, what is needed to read it.

    >>> plot.headline(plt.subplot(), "Two states share the cold", below="probability of each state")
    <Axes: title={'left': 'Two states share the cold'}>
    """
    lines = below.count("\n") + 1 if below else 0
    ax.set_title(text, loc="left", fontweight="bold", fontsize=11, pad=8 + 13 * lines)
    if below:
        ax.annotate(below, (0, 1), (0, 7), xycoords="axes fraction", textcoords="offset points", fontsize=9.5)
    return ax


def at_lines(ax: Axes) -> Axes:
    """Write the label of each line at its right end, in its colour, and take the legend away.

    Call it when limits and scales are set: names that would touch are moved apart.

    >>> _ = plt.plot([1, 2], label="rises"); _ = plt.plot([2, 1], label="falls")
    >>> plot.at_lines(plt.gca())
    <Axes: >
    """
    ax.get_xlim()  # brings limits that are still to be chosen up to date
    named, ends = [line for line in ax.lines if not str(line.get_label()).startswith("_")], []
    ax.get_ylim()
    for line in named:
        points = np.asarray(line.get_xydata(), dtype=float)
        points = points[np.isfinite(points).all(axis=1)]
        end = points[np.argmax(points[:, 0])] if len(points) else (0, 0)
        ends.append(ax.transAxes.inverted().transform(ax.transData.transform(end)))
    heights = _apart(np.clip([y for _, y in ends], 0, 1), 15 * ax.figure.dpi / 72 / ax.bbox.height)
    for line, (x, _), y in zip(named, ends, heights, strict=True):
        place: Any = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "center"}
        ax.annotate(str(line.get_label()), (min(x, 1), y), (6, 0), color=line.get_color(), **place)
    if legend := ax.get_legend():
        legend.remove()
    return ax


def _apart(places, gap):
    """Move numbers that are closer than `gap` apart, as little as that takes."""
    order = np.argsort(places, kind="stable")
    moved = np.array(places, dtype=float)[order]
    for _ in range(200):
        push = np.clip(gap - np.diff(moved), 0, None) / 2
        moved -= np.append(push, 0)
        moved += np.insert(push, 0, 0)
    return moved[np.argsort(order, kind="stable")]


def curves(x: Sequence, lines: Mapping[str, Sequence], ax: Axes, **labels: Any) -> Axes:
    """Draw each y of `lines`, {name: y}, over x; the other keywords are those of ax.set: xlabel, ylabel, xscale, ...

    A line whose name begins with that of a method has its colour and marker, any other is black; a second line of the
    same colour is dashed.  The names stand at the ends of the lines.

    >>> plot.curves([1, 2], {"exact": [0, 1], "gibbs": [0.1, 0.9]}, plt.subplot(), xlabel="T")
    <Axes: xlabel='T'>
    """
    drawn = Counter()
    for name, y in lines.items():  # nan leaves a gap
        method = next((known for known in COLOURS if re.match(rf"{known}\b", name)), "")
        colour, marker = METHODS.get(method, ("black", None))
        style = {"color": colour, "linestyle": DASHES[drawn[colour] % len(DASHES)], "marker": marker}
        ax.plot(x, y, label=name, markersize=4, markevery=-(-len(x) // 12), linewidth=1.8, **style)
        drawn[colour] += 1
    ax.set(**labels)
    return at_lines(ax)


def states(rows: Any, ax: Axes, bars: Mapping[str, Sequence] | None = None, *, model: Any = None) -> Axes:
    """Draw states (N, n) of up to four units in a row below the axes, and over each a bar for each of `bars`.

    bars   {name: (N,) numbers}; one alone has its numbers written on it, names of methods have their colours
    model  a machine: then red says which pairs and biases of a state are not as they would like to be

    >>> rows, p = bmlab.states(3), bmlab.probabilities(bmlab.toy())
    >>> plot.states(rows, plt.subplot(), {"p": p}, model=bmlab.toy())
    <Axes: >
    """
    rows = _few_units(np.atleast_2d(check_array("rows", rows)), "rows")
    bars = {} if bars is None else bars
    width = 0.66 / max(len(bars), 1)
    for k, (name, numbers) in enumerate(bars.items()):
        colour = COLOURS.get(name, PLUS)
        heights = check_row(f"bars[{name!r}]", numbers, len(rows))
        drawn = ax.bar(np.arange(len(rows)) + (k - (len(bars) - 1) / 2) * width, heights, 0.94 * width, color=colour)
        if len(bars) == 1:
            ax.bar_label(drawn, fmt="%.3f", fontsize=9.5, padding=2)
            ax.margins(y=0.1)
    for k, row in enumerate(rows):
        glyph(ax, row, (k, 0), model=model, size=30, offset=(0, -21), coords=ax.get_xaxis_transform())
    ax.set(xlim=(-0.6, len(rows) - 0.4), xticks=[], yticks=[])
    ax.spines["left"].set_visible(False)
    ax.spines["bottom"].set_color(FAINT)
    ax.xaxis.labelpad = 36  # below the states
    if len(bars) > 1:
        for k, name in enumerate(bars):
            about: Any = {"xycoords": "axes fraction", "textcoords": "offset points", "ha": "right", "va": "top"}
            ax.annotate("\N{BLACK SQUARE}", (1, 1), (0, -14 * k), color=COLOURS.get(name, PLUS), **about)
            ax.annotate(name, (1, 1), (-14, -14 * k), **about)
    return ax


def glyph(
    ax: Axes,
    state: Any,
    xy: tuple,
    *,
    model: Any = None,
    size: float = 30,
    offset: tuple = (0, 0),
    coords: Any = "data",
) -> Axes:
    """Draw a state (n,) of up to four units as a small picture at `xy`: +1 blue, -1 white, 0 grey (open).

    model           a machine: its pairs are lines, and red is what is not as it would like to be
    size, offset    points; coords are those of `xy`, as for ax.annotate()

    >>> plot.glyph(plt.subplot(), [1, 1, -1], (0.5, 0.5), model=bmlab.toy())
    <Axes: >
    """
    from matplotlib.lines import Line2D
    from matplotlib.offsetbox import AnnotationBbox, DrawingArea
    from matplotlib.patches import Circle

    state = _few_units(check_row("state", state), "state")
    n, size = len(state), check_positive("size", size)
    box, radius = DrawingArea(size, size), size * (0.17 if n < 3 else 0.14)
    x, y = (size / 2 + (size / 2 - radius - 1) * _circle(n)).T
    if model is not None:
        check_model(model)
        for i, j in zip(*np.triu(model.dense_weights, 1).nonzero(), strict=True):
            met = model.dense_weights[i, j] * state[i] * state[j] >= 0
            style: Any = {"color": INK} if met else {"color": UNMET, "linestyle": (0, (1.2, 1))}
            box.add_artist(Line2D(x[[i, j]], y[[i, j]], linewidth=1.4 if met else 1.8, **style))
    for i, s in enumerate(state):
        met = model is None or model.biases[i] * s >= 0
        fill = {1: PLUS, -1: MINUS, 0: OPEN}[int(s)]
        box.add_artist(Circle((x[i], y[i]), radius, fc=fill, ec=INK if met else UNMET, lw=1 if met else 1.8))
    about: Any = {"xybox": offset, "boxcoords": "offset points", "xycoords": coords, "frameon": False, "pad": 0}
    ax.add_artist(AnnotationBbox(box, xy, annotation_clip=False, **about))
    return ax


def phases(awake: Estimate, asleep: Estimate, ax: Axes, names: Sequence = (), mark: str = "") -> Axes:
    """Draw each mean and each correlation, a line each: a frame for `awake`, filled as far as `asleep` has come.

    names of the units stand at the lines; `mark` is the name of the line to draw in orange, "Ada, Ben" for a pair.

    >>> awake = bmlab.clamped(bmlab.toy(), bmlab.states(3)[[0, 7, 7]])
    >>> plot.phases(awake, bmlab.exact(bmlab.toy()), plt.subplot())
    <Axes: >
    """
    n = _same_units("awake", awake, "asleep", asleep)
    called = [*names] or [f"s{i}" for i in range(n)]
    pairs = np.triu_indices(n, 1)
    rows = called + [f"{called[i]}, {called[j]}" for i, j in zip(*pairs, strict=True)]
    data, dream = (np.append(e.mean, dense_corr(e.corr)[pairs]) for e in (awake, asleep))
    places = np.arange(len(rows))
    colours = [TOGETHER if row == mark else PLUS for row in rows]
    ax.barh(places, dream, 0.5, color=colours)
    ax.barh(places, data, 0.72, color="none", edgecolor="black", linewidth=1.3)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set(xlim=(-1.05, 1.05), ylim=(len(rows) - 0.4, -0.6), xticks=[-1, 0, 1])
    ax.set_yticks(places, rows)
    return ax


def moments(reference: Estimate, estimate: Estimate, ax: Axes, *, pair: tuple | None = None, named: str = "") -> Axes:
    """Draw the means and correlations of one Estimate against those of another, with bars of 2 stderr.

    pair, named   two units, (i, j), and the words that stand at their point

    >>> plot.moments(bmlab.exact(bmlab.medium()), bmlab.tap(bmlab.medium().at(4)), plt.subplot())
    <Axes: xlabel='exact', ylabel='tap'>
    """
    _same_units("reference", reference, "estimate", estimate)
    found, true = dense_corr(estimate.corr), dense_corr(reference.corr)
    pairs = np.nonzero(np.triu(~np.isnan(found), 1))
    error = np.broadcast_to(dense_corr(estimate.corr_stderr), found.shape)[pairs]
    colour = COLOURS.get(estimate.method, "black")
    ax.axline((0, 0), slope=1, color=FAINT, linewidth=5, zorder=0)
    _points(ax, true[pairs], found[pairs], error, colour, "s", "correlations")
    _points(ax, reference.mean, estimate.mean, estimate.mean_stderr, colour, "o", "means", markerfacecolor="white")
    ax.set(xlabel=reference.method or "reference", ylabel=estimate.method)
    ax.set_aspect("equal", adjustable="datalim")
    if pair is not None:
        x, y = true[pair], found[pair]
        ax.plot(x, y, "s", color=TOGETHER, markersize=8, zorder=3)
        if abs(y - x) > 0.05:
            ax.annotate("", (x, x), (x, y), arrowprops={"arrowstyle": "->", "color": TOGETHER, "linewidth": 1.6})
        side: Any = ("left", 9) if x < 0.3 else ("right", -9)
        where: Any = {"textcoords": "offset points", "va": "center", "color": TOGETHER}
        ax.annotate(named, (x, y), (side[1], 10 if y > x + 0.05 else -10), ha=side[0], **where)
    if not estimate.converged:
        ax.set_title("NOT CONVERGED", color=COLOURS["mean field"], fontsize=10)
    return ax


def learning(steps: Sequence[Step], ax: Any, what: str = "log_likelihood", pair: tuple | None = None) -> Any:
    """Draw the log-likelihood, or what="mismatch", of each Step against its number, with its two ends written.

    On three Axes the first step and the last are drawn too, awake against asleep, and both name the same pair: `pair`,
    or the one that is furthest from the data at first.

    >>> fit = bmlab.fit(bmlab.toy(), bmlab.states(3), steps=5, rate=0.1)
    >>> plot.learning(fit.steps, plt.subplot())
    <Axes: xlabel='step', ylabel='log-likelihood (nats a pattern)'>
    """
    panels = list(ax) if isinstance(ax, list | tuple | np.ndarray) else [ax]
    check_choice("what", what, ("log_likelihood", "mismatch"))
    values = [s.mismatch if what == "mismatch" else s.log_likelihood.value for s in steps]
    numbers, method, climb = [s.loop.number for s in steps], steps[-1].free.method, panels[-1]
    climb.plot(numbers, values, color=COLOURS.get(method, "black"), label=method, linewidth=2)
    words = "largest moment mismatch" if what == "mismatch" else "log-likelihood (nats a pattern)"
    climb.set(xlabel="step", ylabel=words)
    if len(panels) == 3:
        far = np.triu(abs(dense_corr(steps[0].clamped.corr) - dense_corr(steps[0].free.corr)), 1)
        i, j = divmod(int(np.nanargmax(far)), len(far)) if pair is None else pair
        names = steps[0].model.names or [f"s{k}" for k in range(len(far))]
        for panel, step, when in zip(panels, (steps[0], steps[-1]), ("Before", "After"), strict=False):
            moments(step.clamped, step.free, panel, pair=(i, j), named=f"{names[i]}, {names[j]}")
            panel.set(xlabel="awake (data)", ylabel="asleep (dreams)")
            headline(panel, f"{when}: step {step.loop.number}")
        ends = np.concatenate([panel.dataLim.get_points().ravel() for panel in panels[:2]])
        limits = {"xlim": (ends.min() - 0.1, ends.max() + 0.1), "ylim": (ends.min() - 0.1, ends.max() + 0.1)}
        for panel in panels[:2]:
            panel.set(**limits, adjustable="box")
        climb.plot([numbers[0], numbers[-1]], [values[0], values[-1]], "o", color=COLOURS.get(method, "black"))
        for k, side in ((0, 1), (-1, -1)):
            place: Any = {"textcoords": "offset points", "ha": "left" if side > 0 else "right"}
            climb.annotate(_signed(values[k], ".2f"), (numbers[k], values[k]), (8 * side, -4 - 8 * (k < 0)), **place)
        climb.set(ylabel="", yticks=[])
        headline(climb, words)
    return ax


def bracket(proven: Bracket, estimates: Sequence[Estimate], ax: Axes) -> Axes:
    """Draw where a Bracket proves log Z to lie, as a grey band, and the log Z of several Estimates beside it.

    Each is a point with 2 stderr; what the method itself has proven is a thick bar, or an arrow from the one end.

    >>> found = bmlab.bracket(bmlab.toy(), rng=0)
    >>> plot.bracket(found, [bmlab.mean_field(bmlab.toy())], plt.subplot())
    <Axes: xlabel='log Z (nats)'>
    """
    for row, estimate in enumerate(estimates):
        z, colour = estimate.log_z, COLOURS.get(estimate.method, "black")
        ax.errorbar(z.value, row, xerr=2 * z.stderr, color=colour, fmt=MARKERS.get(estimate.method, "o"), capsize=3)
        if np.isfinite([z.lower, z.upper]).all():
            ax.plot([z.lower, z.upper], [row, row], color=colour, linewidth=5, alpha=0.3, solid_capstyle="butt")
        elif np.isfinite(z.lower) or np.isfinite(z.upper):
            to, arrow = (30 if np.isfinite(z.lower) else -30, 0), {"arrowstyle": "<-", "color": colour}
            ax.annotate("", (z.value, row), xytext=to, textcoords="offset points", arrowprops=arrow)
    lower, upper = proven.log_z.lower, proven.log_z.upper
    ax.axvspan(lower, upper, color=FAINT, alpha=0.3, linewidth=0, zorder=0)
    for end, name, side in ((lower, proven.lower_by, "right"), (upper, proven.upper_by, "left")):
        ax.axvline(end, color=FAINT, linewidth=1, zorder=0)
        ax.annotate(f" {name} ", (end, 1), xycoords=("data", "axes fraction"), ha=side, va="bottom")
    ax.set(xlabel="log Z (nats)", yticks=range(len(estimates)), ylim=(len(estimates) - 0.5, -0.5))
    ax.set_yticklabels([e.method + ("" if e.converged else " (not converged)") for e in estimates])
    return ax


def _map(kind):
    """The colours of images: units from white to blue, weights from purple over nothing to orange."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    if kind == "units":
        return LinearSegmentedColormap.from_list("units", [MINUS, PLUS])
    ends = [to_rgba(APART), to_rgba(APART, 0), to_rgba(TOGETHER, 0), to_rgba(TOGETHER)]
    return LinearSegmentedColormap.from_list("weights", list(zip([0, 0.5, 0.5, 1], ends, strict=True)))


def images(
    rows: Any,
    ax: Axes,
    shape: tuple[int, int] | None = None,
    columns: int = 10,
    limit: float = 1.0,
    *,
    names: Sequence[str] = (),
    marked: Any = None,
    kind: str = "units",
) -> Axes:
    """Draw rows (N, pixels) as a sheet of small images, `columns` in a line; -limit is white, +limit blue.

    kind="weights" draws them from purple over nothing to orange.  names of the lines of images stand on their left;
    pixels that are True in `marked` (N, pixels) carry an orange dot.

    >>> plot.images(bmlab.states(4), plt.subplot(), columns=4)
    <Axes: >
    """
    sheet, limit = _sheet("rows", rows, shape, columns), check_positive("limit", limit)
    shades = _map(check_choice("kind", kind, ("units", "weights")))
    ax.imshow(sheet, cmap=shades, vmin=-limit, vmax=limit, interpolation="nearest")
    number, (height, width) = len(np.atleast_2d(rows)), sides(shape, np.shape(rows)[-1])
    down, right = np.divmod(np.arange(number), min(columns, number))
    frame = np.array([[0, 0], [width, 0], [width, height], [0, height], [0, 0], [np.nan, np.nan]]) - 0.5
    rims = np.column_stack([right * (width + 1), down * (height + 1)])[:, None] + frame
    ax.plot(*rims.reshape(-1, 2).T, color=FAINT, linewidth=0.8)
    if marked is not None:
        y, x = np.nonzero(_sheet("marked", marked, shape, columns) == 1)
        ax.plot(x, y, ".", color=COLOURS["mean field"], markersize=3)
    height = (len(sheet) + 1) / max(len(names), 1)
    ax.set_xticks([])
    ax.set_yticks([height * (line + 0.5) - 1 for line in range(len(names))], names)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def answers(frame: Any, ax: Axes) -> Axes:
    """Draw a DataFrame of -1/+1 (N, units), a line a column with its name: +1 blue, -1 white, nan grey.

    >>> import pandas
    >>> plot.answers(pandas.DataFrame({"Ada": [1, -1], "Ben": [1, np.nan]}), plt.subplot())
    <Axes: >
    """
    shades, rows = _map("units").with_extremes(bad=OPEN), np.asarray(frame, dtype=float).T
    ax.imshow(rows, cmap=shades, vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    ax.set_yticks(range(len(frame.columns)), frame.columns)
    return ax


def flows(matrix: np.ndarray, ax: Axes, states: Any, *, model: Any = None) -> Axes:
    """Draw what flows (n, n) from states (rows) to states (columns), on a ring: more this way than back is an arrow.

    The states (n, units), of up to four units, are drawn; up to eight stand in the order in which most of the flow goes
    round.  What is below 4 % of the largest is left out.

    >>> plot.flows(np.array([[0.9, 0.1], [0.2, 0.8]]), plt.subplot(), [[-1], [1]])
    <Axes: >
    """
    n = len(matrix)
    net = np.clip(matrix - matrix.T, 0, None)
    net[net < np.abs(matrix).max(initial=0) / 1e6] = 0  # rounding
    order = np.arange(n)
    if 2 < n <= 8 and net.any():
        rings = np.array([(0, *rest) for rest in permutations(range(1, n))])
        ahead = np.sin(2 * np.pi * np.subtract.outer(np.arange(n), np.arange(n)).T / n)
        order = rings[np.argmax((net[rings[:, :, None], rings[:, None]] * ahead).sum((1, 2)))]
    place = np.empty((n, 2))
    place[order] = _circle(n)
    for a, b in zip(*(net > net.max(initial=0) / 25).nonzero(), strict=True):
        width = 1 + 5 * net[a, b] / net.max()
        style = {"arrowstyle": f"-|>,head_length={0.3 + width / 12},head_width={0.15 + width / 16}", "color": TOGETHER}
        style |= {"connectionstyle": "arc3,rad=0.15", "linewidth": width, "shrinkA": 24, "shrinkB": 24}
        ax.annotate("", tuple(place[b]), tuple(place[a]), arrowprops=style | {"mutation_scale": 16})
    for xy, state in zip(place, states, strict=True):
        glyph(ax, state, tuple(xy), model=model, size=32)
    ax.set(xlim=(-1.3, 1.3), ylim=(-1.25, 1.25), aspect="equal")
    ax.set_axis_off()
    return ax


def network(
    model: BoltzmannMachine,
    ax: Axes,
    *,
    layers: Sequence[Sequence[int]] = (),
    places: Any = None,
    states: Any = None,
    held: Sequence[int] = (),
    sizes: Any = None,
    messages: Mapping[tuple, Any] | None = None,
) -> Axes:
    """Draw units as discs and weights as lines: orange pulls together, dashed purple pushes apart, thicker is stronger.

    layers    units of each row, from the bottom; rows of one length are a lattice, and lines round its back are stubs
    places    (n, 2), or "circle" (unit 0 at the top, clockwise, as in widgets.MachineView), or "near": who pull each
              other stand together.  Without it up to four units stand in a circle, others near
    states    (n,) of -1/+1, and 0 for a unit that is left open: +1 is blue, -1 white, open grey
    held      units that are clamped, drawn as squares
    sizes     (n,) from 0 to 1, how large each disc is
    messages  {(i, j): what i tells j}, arrows beside the lines
    The names of the machine stand beside its units.  Up to four units each weight and bias is written too.

    >>> plot.network(bmlab.toy(), plt.subplot())
    <Axes: >
    """
    check_model(model)
    layers = () if layers is None else layers
    spots, torus = _places(model, layers, places)
    states = np.zeros(model.n) if states is None else check_row("states", states, model.n)
    if not np.isin(states, [-1, 0, 1]).all():
        raise ValueError(f"states must be -1, +1, or 0 for open, found {in_words(states.tolist())}; try states=None")
    sizes = np.ones(model.n) if sizes is None else check_row("sizes", sizes, model.n).clip(0, 1)
    told = {} if messages is None else messages
    few, pen, scale = model.n <= FEW, np.clip(150 / model.n, 9, 28), _scale(ax, spots, bool(len(layers)) and not torus)
    seen = spots * scale  # in points
    gap = min((np.hypot(*(seen[:i] - seen[i]).T).min() for i in range(1, model.n)), default=99)
    size = min(pen, 0.75 * gap) * (0.5 + 0.5 * np.sqrt(sizes))  # discs do not touch
    upper = sparse.triu(sparse.coo_array(model.weights), 1).tocoo()
    largest, lines = np.abs(upper.data).max(initial=0) or 1, []
    for i, j, w in zip(*upper.coords, upper.data, strict=True):
        if not w:
            continue
        style: Any = {"color": TOGETHER} if w > 0 else {"color": APART, "linestyle": DASHED}
        style |= {"linewidth": (0.5 + 5 * abs(w) / largest) * min(1, pen / 20), "zorder": 1, "solid_capstyle": "butt"}
        step = spots[j] - spots[i]
        if torus and sorted(np.abs(step)) in ([0, reach] for reach in np.ptp(spots, axis=0)):  # round the back
            for end, to in ((spots[i], -np.sign(step)), (spots[j], np.sign(step))):
                ax.plot(*np.array([end, end + 0.55 * to]).T, **style)
            continue
        ax.plot(*spots[[i, j]].T, **style)
        lines.append(seen[[i, j]])
        middle, across = (
            spots[[i, j]].mean(axis=0),
            _across(seen[j] - seen[i], spots[[i, j]].mean(axis=0) - spots.mean(axis=0)),
        )
        if few:
            _beside(ax, _signed(w), middle, across, 5 + style["linewidth"] / 2)
        for a, b in told.keys() & {(i, j), (j, i)}:
            ends = spots[a] + np.outer([0.3, 0.7], spots[b] - spots[a])
            about: Any = {"arrowstyle": "->", "color": PLUS, "linewidth": 1.5, "shrinkA": 0, "shrinkB": 0}
            side = across if (a, b) == (i, j) else -across
            lift = side * (5 + style["linewidth"] / 2) / scale
            ax.annotate("", ends[1] + lift, ends[0] + lift, arrowprops=about)
            _beside(ax, f"{told[a, b]}", middle, side, 9 + style["linewidth"] / 2, PLUS)
    for i in range(model.n):
        style = {"color": {1: PLUS, -1: MINUS, 0: OPEN}[int(states[i])], "markeredgecolor": INK, "zorder": 2}
        ax.plot(*spots[i], "s" if i in held else "o", markersize=size[i], markeredgewidth=1.2, **style)
    names = model.names or ([*map(str, range(model.n))] if model.n <= 20 and not torus else [])
    words = [
        name + (f"\nb = {_signed(bias)}" if few and bias else "")
        for name, bias in zip(names, model.biases, strict=False)
    ]
    for spot, text, (side, radius) in zip(spots, words, _sides(seen, size, lines, words), strict=False):
        _beside(ax, text, spot, side, radius + 2, fontweight="bold" if model.names else "normal")
    ax.set_aspect("auto" if len(layers) and not torus else "equal")
    ax.set_axis_off()
    return ax


def _signed(number, digits="+.3g"):
    return f"{number:{digits}}".replace("-", "\N{MINUS SIGN}")


def _beside(ax, text, spot, side, gap, colour="black", **style):
    """Write at `gap` points from a spot, towards `side`."""
    ha = "center" if abs(side[0]) < 0.4 else "left" if side[0] > 0 else "right"
    va = "center" if abs(side[1]) < 0.4 else "bottom" if side[1] > 0 else "top"
    ax.annotate(text, spot, gap * np.asarray(side), textcoords="offset points", ha=ha, va=va, color=colour, **style)


def _circle(n):
    """Places (n, 2) on a circle, the first at the top, clockwise."""
    turn = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.sin(turn), np.cos(turn)])


def _places(model, layers, places):
    """Where each unit stands, (n, 2), and whether that is a lattice."""
    n = model.n
    if not isinstance(layers, Sequence) or layers:
        rows = isinstance(layers, Sequence) and all(np.iterable(row) and not isinstance(row, str) for row in layers)
        if not rows or sorted((unit for layer in layers for unit in layer), key=str) != sorted(range(n), key=str):
            raise ValueError(
                f"layers must have each of the units 0 to {n - 1} once, found {in_words(layers)}; try [[0, 1], [2]]"
            )
        lattice, spots = len(layers) > 2 and {len(row) for row in layers} == {n // len(layers)} != {1}, np.empty((n, 2))
        for height, layer in enumerate(layers):
            across = np.arange(len(layer)) if lattice else (np.arange(len(layer)) + 0.5) / len(layer)
            spots[list(layer)] = np.column_stack([across, [height] * len(layer)])
        return spots, lattice
    if places is not None and not isinstance(places, str):
        spots = check_array("places", places)
        if spots.shape != (n, 2):
            raise ValueError(f"places must be ({n}, 2), found {in_words(places)}; leave them out for a circle")
        return spots, False
    kind = check_choice("places", places or ("circle" if n <= FEW or n > 200 else "near"), ("circle", "near"))
    return (_near(model) if kind == "near" else _circle(n)), False


def _near(model):
    """Places where units that pull each other are near: the least stress (Kamada and Kawai 1989), by majorisation."""
    w = model.dense_weights / (np.abs(model.dense_weights).max() or 1)
    far = csgraph.shortest_path(np.where(w > 0, 1 / (0.5 + w.clip(0)), 0), directed=False)
    far = np.minimum(far, 2.5) + (w < 0) / 2
    place, stiff = _circle(len(w)) * far.max() / 2, 1 / (far + np.eye(len(w))) ** 2 * (1 - np.eye(len(w)))
    inverse = np.linalg.pinv(np.diag(stiff.sum(axis=0)) - stiff)
    for _ in range(300):
        apart = np.hypot(*(place[:, None] - place).T) + np.eye(len(w))
        pull = stiff * far / apart
        place = inverse @ ((np.diag(pull.sum(axis=0)) - pull) @ place)
    place -= place.mean(axis=0)
    return place @ np.linalg.svd(place, full_matrices=False)[2].T  # the longer way lies


def _scale(ax, spots, free):
    """Points in a unit of x and of y; the limits leave room for discs and names."""
    room, spread = np.array([ax.bbox.width, ax.bbox.height]) * 72 / ax.figure.dpi, np.ptp(spots, axis=0)
    scale = np.where(spread > 0, (room - [80, 70]).clip(40) / np.where(spread > 0, spread, 1), np.inf)
    if not free or not np.isfinite(scale).all():
        scale[:] = scale.min() if np.isfinite(scale.min()) else 40
    middle, half = (spots.max(axis=0) + spots.min(axis=0)) / 2, room / 2 / scale
    ax.set(xlim=(middle[0] - half[0], middle[0] + half[0]), ylim=(middle[1] - half[1], middle[1] + half[1]))
    return scale


def _across(step, away):
    """The direction across `step` that leads `away`, or up."""
    side = np.array([-step[1], step[0]]) / (np.hypot(*step) or 1)
    lead = side @ away
    return side if lead > 1e-9 or (abs(lead) <= 1e-9 and side[1] > 0) else -side


def _sides(seen, size, lines, words):
    """On which side of each unit its name meets the fewest lines, discs and names: outwards where all are free."""
    turns, taken, chosen = np.pi / 4 * np.arange(8), [], []
    grid = np.array([(u, v) for u in (-0.5, -0.25, 0, 0.25, 0.5) for v in (-0.5, 0, 0.5)])
    start, end = np.array(lines).reshape(-1, 2, 2).swapaxes(0, 1)
    along = end - start
    for unit, text in enumerate(words):
        extent = np.array([6.2 * max(map(len, text.split("\n"))), 13 * (text.count("\n") + 1)])
        outward, best = seen[unit] - seen.mean(axis=0), (np.inf, np.zeros(2), extent)
        for side in np.column_stack([np.cos(turns), np.sin(turns)]):
            middle = seen[unit] + side * (size[unit] / 2 + 2) + extent / 2 * np.sign(side) * (np.abs(side) > 0.4)
            dots = (middle + grid * extent)[:, None]
            part = (((dots - start) * along).sum(2) / (along**2).sum(1).clip(1e-9)).clip(0, 1)
            crossed = (np.hypot(*np.moveaxis(dots - start - part[..., None] * along, 2, 0)) < 4).any(axis=0).sum()
            hidden = (np.hypot(*np.moveaxis(dots - seen, 2, 0)) < size / 2 + 1).any(axis=0).sum()
            met = sum((np.abs(middle - other) < (extent + wide) / 2).all() for other, wide in taken)
            cost = crossed + 2 * hidden + 3 * met - 0.4 * side @ outward / (np.hypot(*outward) or 1)
            best = min(best, (cost, side, middle), key=lambda found: found[0])
        taken.append((best[2], extent))
        chosen.append((best[1], size[unit] / 2))
    return chosen


def _few_units(states, name):
    """Return states of one to four units, -1, +1 or 0 for open."""
    if states.ndim > 2 or not 0 < states.shape[-1] <= FEW or not np.isin(states, [-1, 0, 1]).all():
        raise ValueError(f"{name} must be of -1 and +1 for 1 to {FEW} units, found {in_words(states)}; try states(3)")
    return states


def _same_units(first, one, second, other):
    """Return the number of units of two Estimates."""
    sizes = len(check_estimate(first, one).mean), len(check_estimate(second, other).mean)
    if sizes[0] != sizes[1]:
        raise ValueError(f"{first} and {second} must be of one machine, found {sizes} units; pass answers on the same")
    return sizes[0]


def _points(ax, x, y, error, colour, marker, label, **style):
    error = 2 * np.broadcast_to(error, np.shape(y))
    ax.errorbar(x, y, yerr=error, fmt=marker, color=colour, markersize=5, linewidth=1, label=label, **style)


def _sheet(name, rows, shape, columns):
    """Rows as one large image, `columns` in a line, a pixel of nan between two."""
    rows = check_array(name, rows)
    rows = rows[None] if rows.ndim == 1 else rows
    if rows.ndim != 2:
        raise ValueError(f"{name} must be (N, pixels), found {in_words(rows)}; pass an image a row")
    height, width = sides(shape, rows.shape[1])
    if not rows.size or height * width != rows.shape[1] or np.isinf(rows).any():
        raise ValueError(f"{name} must be images of {height} x {width} pixels, found {in_words(rows)}; pass shape=")
    columns = min(check_count("columns", columns), len(rows))
    lines = -(-len(rows) // columns)
    sheet = np.full((lines, columns, height + 1, width + 1), np.nan)
    sheet.reshape(-1, height + 1, width + 1)[: len(rows), :height, :width] = rows.reshape(-1, height, width)
    return sheet.swapaxes(1, 2).reshape(lines * (height + 1), columns * (width + 1))[:-1, :-1]


def sides(shape: tuple[int, int] | None, pixels: int) -> tuple[int, int]:
    """Return the (height, width) of an image: a square where no shape was asked for."""
    if shape is None:
        return int(np.sqrt(pixels)), int(np.sqrt(pixels))
    if not isinstance(shape, list | tuple) or len(shape) != 2:
        raise ValueError(f"shape must be (height, width), found {in_words(shape)}; try shape=(8, 8)")
    height, width = (check_count("shape", side) for side in shape)
    return height, width


def request() -> dict:
    """Return the request that the kernel answers now; empty where there is no kernel."""
    if "ipykernel" not in sys.modules:
        return {}
    from IPython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    return kernel.get_parent() if kernel else {}


def cell_of_request() -> str | None:
    """Return the cell that a page asks the kernel to run; None where there is no page, or it does not say."""
    return request().get("metadata", {}).get("cellId")


def dress(figure: Figure) -> Figure:
    """Give a figure the looks of the course: no box, a clear ground, black in the ink that reads on light and dark.

    show() and the live views do it to every figure.

    >>> plot.dress(plt.figure()).get_facecolor()
    (0.0, 0.0, 0.0, 0.0)
    """
    from matplotlib.colors import to_rgba_array

    figure.set_facecolor("none")
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    for ax in figure.axes:
        if to_rgba_array(ax.get_facecolor()).min() == 1:
            ax.set_facecolor("none")
        ax.tick_params(which="both", length=0, color=INK, labelcolor=INK)
        for side in {"top", "right"} & {*ax.spines}:
            ax.spines[side].set_visible(False)
        if title := ax.get_title():
            ax.set_title("")
            headline(ax, ax.get_title(loc="left") or title)
    for artist in figure.findobj():
        for part in ("color", "edgecolor", "facecolor", "markeredgecolor", "markerfacecolor"):
            if hasattr(artist, "set_" + part) and (found := getattr(artist, "get_" + part, None)):
                rgba = to_rgba_array(found())
                if len(rgba) and (rgba[:, :3] == 0).all() and rgba[:, 3].any():
                    getattr(artist, "set_" + part)(INK)
    return figure


def show(alt: str) -> None:
    """Show the current figure and close it; alt says in words what it shows, for those who hear it instead.

    A notebook that is run by a program stores the words with the picture; `jupyter nbconvert --template classic` puts
    them into its page.  JupyterLab drops them, so a page gets HTML.  Both have twice the pixels, for dense displays.

    >>> _ = plt.plot([0, 1], [0, 1])
    >>> plot.show("A line that rises.")
    """
    import matplotlib.pyplot as plt

    dress(plt.gcf())
    if "inline" not in plt.get_backend():
        plt.show()
        return
    from IPython.display import display

    picture, width, height = png(plt.gcf())
    if cell_of_request():
        html = f'<img alt="{escape(alt)}" width="{width}" src="data:image/png;base64,{picture}">'
        display({"text/html": html, "text/plain": alt}, raw=True)
    else:
        about = {"image/png": {"alt": alt, "width": width, "height": height}}
        display({"image/png": picture, "text/plain": repr(plt.gcf())}, raw=True, metadata=about)
    plt.close()


def png(figure: Figure, **metadata: str) -> tuple[str, int, int]:
    """Return a figure as base64 text with two pixels a point of the screen, and its width and height there."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    drawn, small, words = BytesIO(), BytesIO(), PngInfo()
    figure.savefig(drawn, format="png", dpi=200, bbox_inches="tight", pad_inches=0.05)
    with Image.open(drawn) as image:
        for key, text in metadata.items():
            words.add_text(key, text)
        image.quantize(128, Image.Quantize.FASTOCTREE).save(small, "png", optimize=True, pnginfo=words)
        width, height = (side // 2 for side in image.size)
    return base64.b64encode(small.getvalue()).decode(), width, height
