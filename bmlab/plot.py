"""Drawings.  Each function draws what it is given on the Axes it is given, returns that Axes, and computes nothing.

One colour a method, the same in every notebook and readable by colour-blind people (Okabe and Ito 2008); each
method has its own marker too, so that nothing is lost in grey.  show() says in words what a figure shows.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .checks import check_array, check_count, check_finite, check_positive, check_row, in_words, is_sparse
from .estimate import Estimate, check_estimate, dense_corr
from .model import BoltzmannMachine, check_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .infer.bounds.bracketing import Bracket
    from .learn.record import Step

__all__ = ["COLOURS", "MARKERS", "METHODS", "answers", "bracket", "confusion", "curves", "flows", "images", "learning"]
__all__ += ["moments", "network", "show", "weights"]

METHODS = {
    "exact": ("black", "o"),
    "gibbs": ("#0072B2", "s"),
    "mean field": ("#D55E00", "^"),
    "tap": ("#009E73", "D"),
    "bethe": ("#CC79A7", "v"),
    "temper": ("#56B4E9", "P"),
    "ais": ("#882255", "*"),
    "visited": ("#999933", ">"),
    "trw": ("#E69F00", "<"),
    "data": ("#777777", "x"),
}
COLOURS = {name: colour for name, (colour, _) in METHODS.items()}
MARKERS = {name: marker for name, (_, marker) in METHODS.items()}
DASHES = ("-", "--", ":", "-.", (0, (1, 4)), (0, (6, 2, 1, 2, 1, 2)))


def curves(x: Sequence, lines: Mapping[str, Sequence], ax: Axes, **labels: Any) -> Axes:
    """Draw each y of `lines`, {name: y}, over x; the other keywords are those of ax.set: xlabel, ylabel, xscale, ...

    A line whose name begins with that of a method has its colour and marker, any other is black; a second line of the
    same colour is dashed.

    >>> plot.curves([1, 2], {"exact": [0, 1], "gibbs": [0.1, 0.9]}, plt.subplot(), xlabel="T")
    <Axes: xlabel='T'>
    """
    _check_axes(ax)
    if not isinstance(lines, Mapping) or not lines:
        raise ValueError(f"lines must be {{name: y}}, found {in_words(lines)}; try {{'exact': y}}")
    places, drawn = check_array("x", x), Counter()
    if places.ndim != 1:
        raise ValueError(f"x must be one row of numbers, found {in_words(x)}; pass shape (n,)")
    for name, y in lines.items():
        if not isinstance(name, str):
            raise ValueError(f"lines must be {{name: y}}, found {in_words(name)} for a name; try {{'exact': y}}")
        heights = check_array(f"lines[{name!r}]", y)  # nan leaves a gap
        if heights.shape != places.shape:
            found = f"found {in_words(y)} and {len(places)} in x"
            raise ValueError(f"lines[{name!r}] must have a number for each x, {found}; cut one")
        method = next((known for known in COLOURS if re.match(rf"{known}\b", name)), "")
        colour, marker = METHODS.get(method, ("black", None))
        style = {"color": colour, "linestyle": DASHES[drawn[colour] % len(DASHES)], "marker": marker}
        ax.plot(x, y, label=name, markersize=4, markevery=-(-len(x) // 12), **style)
        drawn[colour] += 1
    ax.set(**labels)
    ax.legend(frameon=False)
    return ax


def moments(reference: Estimate, estimate: Estimate, ax: Axes) -> Axes:
    """Draw the means and correlations of one Estimate against those of another, with bars of 2 stderr.

    >>> plot.moments(bmlab.exact(bmlab.medium()), bmlab.tap(bmlab.medium().at(4)), plt.subplot())
    <Axes: xlabel='exact', ylabel='tap'>
    """
    _check_axes(ax)
    sizes = len(check_estimate("reference", reference).mean), len(check_estimate("estimate", estimate).mean)
    if sizes[0] != sizes[1]:
        raise ValueError(
            f"reference and estimate must be of one machine, found {sizes} units; pass answers on the same"
        )
    found = dense_corr(estimate.corr)
    pairs = np.nonzero(np.triu(~np.isnan(found), 1))
    error = np.broadcast_to(dense_corr(estimate.corr_stderr), found.shape)[pairs]
    colour = COLOURS.get(estimate.method, "black")
    ax.axline((0, 0), slope=1, color="0.6", linewidth=1, zorder=0)
    _points(ax, dense_corr(reference.corr)[pairs], found[pairs], error, colour, "s", "correlations")
    _points(ax, reference.mean, estimate.mean, estimate.mean_stderr, colour, "o", "means", markerfacecolor="white")
    ax.set(xlabel=reference.method or "reference", ylabel=estimate.method)
    ax.set_aspect("equal", adjustable="datalim")
    ax.legend(frameon=False)
    if not estimate.converged:
        ax.set_title("NOT CONVERGED", color=COLOURS["mean field"], fontsize=10)
    return ax


def learning(steps: Sequence[Step], ax: Axes, what: str = "log_likelihood", label: str | None = None) -> Axes:
    """Draw the log-likelihood, or what="mismatch", of each Step against its number.

    >>> fit = bmlab.fit(bmlab.toy(), bmlab.states(3), steps=5, rate=0.1)
    >>> plot.learning(fit.steps, plt.subplot())
    <Axes: xlabel='step', ylabel='log-likelihood (nats a pattern)'>
    """
    _check_axes(ax)
    if not (isinstance(steps, Sequence) and steps and all(hasattr(step, "loop") for step in steps)):
        raise ValueError(f"steps must be Steps of a climb, found {in_words(steps)}; try fit(...).steps")
    if what not in ("log_likelihood", "mismatch"):
        raise ValueError(f"what must be 'log_likelihood' or 'mismatch', found {what!r}; leave it out for the first")
    values = [s.mismatch if what == "mismatch" else s.log_likelihood.value for s in steps]
    method = steps[-1].free.method
    ax.plot([s.loop.number for s in steps], values, color=COLOURS.get(method, "black"), label=label or method)
    ax.set(xlabel="step", ylabel="largest moment mismatch" if what == "mismatch" else "log-likelihood (nats a pattern)")
    return ax


def bracket(proven: Bracket, estimates: Sequence[Estimate], ax: Axes) -> Axes:
    """Draw where a Bracket proves log Z to lie, as a grey band, and the log Z of several Estimates beside it.

    Each is a point with 2 stderr; what the method itself has proven is a thick bar, or an arrow from the one end.

    >>> found = bmlab.bracket(bmlab.toy(), rng=0)
    >>> plot.bracket(found, [bmlab.mean_field(bmlab.toy())], plt.subplot())
    <Axes: xlabel='log Z (nats)'>
    """
    _check_axes(ax)
    if not hasattr(proven, "lower_by"):
        raise ValueError(f"proven must be a Bracket, found {in_words(proven)}; pass what bracket(model) answers")
    if not isinstance(estimates, Sequence) or isinstance(estimates, str):
        raise ValueError(f"estimates must be a list of Estimates, found {in_words(estimates)}; try [exact(model)]")
    for row, estimate in enumerate(estimates):
        check_estimate(f"estimates[{row}]", estimate)
        z, colour = estimate.log_z, COLOURS.get(estimate.method, "black")
        ax.errorbar(z.value, row, xerr=2 * z.stderr, color=colour, fmt=MARKERS.get(estimate.method, "o"), capsize=3)
        if np.isfinite([z.lower, z.upper]).all():
            ax.plot([z.lower, z.upper], [row, row], color=colour, linewidth=5, alpha=0.3, solid_capstyle="butt")
        elif np.isfinite(z.lower) or np.isfinite(z.upper):
            to, arrow = (30 if np.isfinite(z.lower) else -30, 0), {"arrowstyle": "<-", "color": colour}
            ax.annotate("", (z.value, row), xytext=to, textcoords="offset points", arrowprops=arrow)
    lower, upper = proven.log_z.lower, proven.log_z.upper
    ax.axvspan(lower, upper, color="0.88", zorder=0)
    for end, name, side in ((lower, proven.lower_by, "right"), (upper, proven.upper_by, "left")):
        ax.axvline(end, color="0.5", linewidth=1, zorder=0)
        ax.annotate(f" {name} ", (end, 1), xycoords=("data", "axes fraction"), ha=side, va="bottom", color="0.3")
    ax.set(xlabel="log Z (nats)", yticks=range(len(estimates)), ylim=(len(estimates) - 0.5, -0.5))
    ax.set_yticklabels([e.method + ("" if e.converged else " (not converged)") for e in estimates])
    return ax


def weights(matrix: Any, ax: Axes, labels: Sequence | None = None) -> Axes:
    """Draw the weights of a machine, or a matrix (n, n): orange pulls together, purple pushes apart, white is none.

    labels are the names of the machine where it has any.  Up to 20 units the sign of a weight is written on it, unless
    it is faint (below a fifth of the largest).

    >>> plot.weights(bmlab.toy(), plt.subplot())
    <Axes: >
    """
    _check_axes(ax)
    if isinstance(matrix, BoltzmannMachine):
        labels = matrix.names if labels is None else labels
        matrix = matrix.dense_weights
    matrix = _square("matrix", matrix.toarray() if is_sparse(matrix) else matrix)
    labels = _check_labels(labels, len(matrix))
    limit = np.abs(matrix).max(initial=0) or 1.0
    for (i, j), w in np.ndenumerate(matrix if len(matrix) <= 20 else matrix[:0]):
        if abs(w) >= limit / 5:
            colour = "white" if abs(w) > 0.7 * limit else "black"
            ax.text(j, i, "+" if w > 0 else "\N{MINUS SIGN}", ha="center", va="center", color=colour)
    image = ax.imshow(matrix, cmap="PuOr_r", vmin=-limit, vmax=limit)
    ax.figure.colorbar(image, ax=ax, label="weight", shrink=0.8)
    ax.set_xticks(range(len(labels)), labels, rotation=90)
    ax.set_yticks(range(len(labels)), labels)
    return ax


def images(
    rows: Any,
    ax: Axes,
    shape: tuple[int, int] | None = None,
    columns: int = 10,
    limit: float = 1.0,
    *,
    names: Sequence[str] = (),
    marked: Any = None,
) -> Axes:
    """Draw rows (N, pixels) as a sheet of small images, `columns` in a line; -limit is white, +limit black.

    names of the lines of images stand on their left; pixels that are True in `marked` (N, pixels) carry an orange dot.

    >>> plot.images(bmlab.states(4), plt.subplot(), columns=4)
    <Axes: >
    """
    _check_axes(ax)
    sheet, limit = _sheet("rows", rows, shape, columns), check_positive("limit", limit)
    if not isinstance(names, Sequence | np.ndarray) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"names must be texts, one a line of images, found {in_words(names)}; leave them out for none")
    ax.imshow(sheet, cmap="gray_r", vmin=-limit, vmax=limit, interpolation="nearest")
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
    """Draw a DataFrame of -1/+1 (N, units), a line a column with its name: +1 dark, -1 white, nan orange.

    >>> import pandas
    >>> plot.answers(pandas.DataFrame({"Ada": [1, -1], "Ben": [1, np.nan]}), plt.subplot())
    <Axes: >
    """
    _check_axes(ax)
    if not hasattr(frame, "columns"):
        raise ValueError(f"frame must be a DataFrame, found {in_words(frame)}; try pandas.DataFrame(rows)")
    import matplotlib

    shades = matplotlib.colormaps["gray_r"].with_extremes(bad=METHODS["mean field"][0])
    ax.imshow(np.asarray(frame, dtype=float).T, cmap=shades, vmin=-1, vmax=1.5, aspect="auto", interpolation="nearest")
    ax.set_yticks(range(len(frame.columns)), frame.columns)
    return ax


def confusion(counts: Any, ax: Axes, labels: Sequence) -> Axes:
    """Draw a table of counts (true class, answer), the diagonal left pale so that the mistakes stand out.

    >>> plot.confusion([[9, 1], [2, 8]], plt.subplot(), ["cat", "dog"])
    <Axes: xlabel='answer', ylabel='true class'>
    """
    _check_axes(ax)
    counts = _square("counts", counts)
    labels = _check_labels(labels, len(counts))
    wrong = np.where(np.eye(len(counts), dtype=bool), 0, counts)
    ax.imshow(wrong, cmap="Oranges", vmin=0, vmax=max(1, wrong.max() * 1.5))
    for (i, j), count in np.ndenumerate(counts):
        ax.text(
            j,
            i,
            f"{count:g}" if count else "",
            ha="center",
            va="center",
            color="0.55" if i == j else "black",
            fontsize=9,
        )
    ax.set_xticks(range(len(labels)), labels)
    ax.set_yticks(range(len(labels)), labels)
    ax.set(xlabel="answer", ylabel="true class")
    return ax


def _check_axes(ax):
    """Refuse what is no Axes."""
    if not hasattr(ax, "imshow"):
        raise ValueError(f"ax must be matplotlib's Axes, found {in_words(ax)}; try plt.subplot()")


def _check_labels(labels, count):
    """Return labels, one for each of `count` lines of a matrix, or none."""
    labels = () if labels is None else labels
    if isinstance(labels, str) or not isinstance(labels, Sequence | np.ndarray) or len(labels) not in (0, count):
        raise ValueError(f"labels must be {count}, one a line, found {in_words(labels)}; leave them out for none")
    return labels


def _square(name, matrix):
    """Return a square matrix of finite numbers."""
    matrix = check_array(name, matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} must be square, found {in_words(matrix)}; pass a matrix (n, n)")
    check_finite(name, matrix)
    return matrix


def _points(ax, x, y, error, colour, marker, label, **style):
    error = 2 * np.broadcast_to(error, np.shape(y))
    ax.errorbar(x, y, yerr=error, fmt=marker, color=colour, markersize=4, linewidth=1, label=label, **style)


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


TOGETHER, APART = "#B35806", "#542788"  # the colours of plot.weights(), dark enough for a line
FEW = 4  # units: up to here each weight is written on its line
MARGIN = 0.25  # around the places of the units
BOX: Any = {"facecolor": "white", "edgecolor": "none", "pad": 1}  # of words that stand on a line


def network(
    model: BoltzmannMachine,
    ax: Axes,
    *,
    layers: Sequence[Sequence[int]] = (),
    states: Any = None,
    held: Sequence[int] = (),
) -> Axes:
    """Draw units as discs and weights as lines: orange pulls together, dashed purple pushes apart, thicker is stronger.

    layers  units of each row, from the bottom; without them they stand in a circle, unit 0 at the top, clockwise, as in
            widgets.MachineView
    states  (n,) of -1/+1, and 0 for a unit that is left open: +1 is dark, -1 light
    held    units that are clamped, drawn as squares
    The names of the machine stand beside its units.  Up to four units each weight and bias is written too.

    >>> plot.network(bmlab.toy(), plt.subplot())
    <Axes: >
    """
    _check_axes(ax)
    check_model(model)
    layers = () if layers is None else layers
    x, y = _places(model.n, layers).T
    upper = sparse.triu(sparse.coo_array(model.weights), 1).tocoo()
    largest = np.abs(upper.data).max(initial=0) or 1
    few, room = model.n <= FEW, _room(layers, ax)
    size = min(np.clip(180 / model.n, 5, 30), 0.8 * room)  # room: discs in a row do not touch
    for i, j, w in zip(*upper.coords, upper.data, strict=True):
        if w:
            style: Any = {"color": TOGETHER, "linestyle": "-"} if w > 0 else {"color": APART, "linestyle": (0, (3, 2))}
            ax.plot(x[[i, j]], y[[i, j]], linewidth=(0.5 + 5 * abs(w) / largest) * size / 30, zorder=1, **style)
            if few:
                ax.text(x[[i, j]].mean(), y[[i, j]].mean(), f"{w:+.3g}", ha="center", va="center", bbox=BOX)
    shades = {-1: "white", 0: "0.85", 1: "0.25"}
    states = np.zeros(model.n) if states is None else check_row("states", states, model.n)
    if not np.isin(states, [-1, 0, 1]).all():
        raise ValueError(f"states must be -1, +1, or 0 for open, found {in_words(states.tolist())}; try states=None")
    if not np.iterable(held) or not {*held} <= {*range(model.n)}:
        raise ValueError(f"held must be units from 0 to {model.n - 1}, found {in_words(held)}; leave it out for none")
    names = model.names or (range(model.n) if model.n <= 20 else [""] * model.n)
    for i, (name, bias) in enumerate(zip(names, model.biases, strict=True)):
        marker = "s" if i in held else "o"
        ax.plot(x[i], y[i], marker, markersize=size, color=shades[int(states[i])], markeredgecolor="0.25", zorder=2)
        side = -1 if y[i] < y.mean() else 1
        words = f"{name}, b = {bias:+.3g}" if few and bias else f"{name}"
        style = {"va": "bottom" if side > 0 else "top", "ha": "center", "bbox": BOX, "zorder": 1.5}  # under discs
        ax.annotate(words, (x[i], y[i]), (0, side * (size / 2 + 3)), textcoords="offset points", **style)
    ax.margins(MARGIN)
    if model.n <= 2 and not layers:  # a circle of two has no width
        ax.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5))
    ax.set_aspect("equal" if not layers else "auto")
    ax.set_axis_off()
    return ax


def flows(matrix: Any, ax: Axes, labels: Sequence | None = None) -> Axes:
    """Draw what flows from states (rows) to states (columns), (n, n), on a logarithmic scale.

    Darker is more, and where numbers are negative orange is positive and purple negative.  What is zero, or below a
    millionth of the largest, is white and crossed out, so that it is not taken for something tiny.  labels are those
    of the states.

    >>> plot.flows([[0.9, 0.1], [0.2, 0.8]], plt.subplot(), labels=["up", "down"])
    <Axes: >
    """
    _check_axes(ax)
    from matplotlib.colors import LogNorm, SymLogNorm  # only here: importing bmlab loads no matplotlib

    matrix = _square("matrix", matrix)
    labels = _check_labels(labels, len(matrix))
    limit = np.abs(matrix).max(initial=0) or 1.0
    zero = np.abs(matrix) < limit / 1e6
    one_sign = bool((matrix > -limit / 1e6).all())
    tiny = limit / (1e4 if one_sign else 1e3)
    scale = LogNorm(tiny, limit) if one_sign else SymLogNorm(tiny, vmin=-limit, vmax=limit, base=10)
    shown = np.ma.masked_array(matrix if not one_sign else matrix.clip(tiny), zero)
    image = ax.imshow(shown, cmap="Oranges" if one_sign else "PuOr_r", norm=scale)
    ax.plot(*np.nonzero(zero)[::-1], "x", color="0.6", markersize=5)
    bar = ax.figure.colorbar(image, ax=ax, label="flow", shrink=0.8)
    if not one_sign:  # near zero the scale is linear, and numbers of that range stand on top of each other
        bar.set_ticks([tick for tick in bar.get_ticks() if tick == 0 or tiny <= abs(tick) <= limit])
    if len(labels):
        ax.set_xticks(range(len(labels)), labels, fontsize="small")
        ax.set_yticks(range(len(labels)), labels, fontsize="small")
    return ax


def _places(n: int, layers: Sequence[Sequence[int]]) -> np.ndarray:
    """Where each unit stands, (n, 2)."""
    if isinstance(layers, Sequence) and not layers:
        turn = 2 * np.pi * np.arange(n) / n
        return np.column_stack([np.sin(turn), np.cos(turn)])
    rows = isinstance(layers, Sequence) and all(np.iterable(row) and not isinstance(row, str) for row in layers)
    if not rows or sorted((unit for layer in layers for unit in layer), key=str) != sorted(range(n), key=str):
        raise ValueError(
            f"layers must name each of the units 0 to {n - 1} once, found {in_words(layers)}; try [[0, 1], [2]]"
        )
    places = np.empty((n, 2))
    for height, layer in enumerate(layers):
        places[list(layer)] = np.column_stack([(np.arange(len(layer)) + 0.5) / len(layer), [height] * len(layer)])
    return places


def _room(layers: Sequence[Sequence[int]], ax: Axes) -> float:
    """From one unit to the next in the longest row, in points."""
    gaps = max((len(layer) for layer in layers), default=1) - 1
    width = ax.get_window_extent().width * 72 / ax.figure.dpi
    return width / (gaps * (1 + 2 * MARGIN)) if gaps else width


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


def show(alt: str) -> None:
    """Show the current figure and close it; alt says in words what it shows, for those who hear it instead.

    A notebook that is run by a program stores the words with the picture; `jupyter nbconvert --template classic` puts
    them into its page.  JupyterLab drops them, so a page gets HTML, at twice the pixels for dense displays.

    >>> _ = plt.plot([0, 1], [0, 1])
    >>> plot.show("A line that rises.")
    """
    if not isinstance(alt, str):
        raise ValueError(f"alt must be a sentence, found {in_words(alt)}; say what the figure shows")
    import matplotlib.pyplot as plt

    if "inline" not in plt.get_backend():
        plt.show()
        return
    from IPython.core.pylabtools import retina_figure
    from IPython.display import display

    if cell_of_request():
        drawn = retina_figure(plt.gcf(), base64=True, bbox_inches="tight")
        picture, size = drawn or ("", {"width": 0})  # nothing is drawn of a figure without axes
        html = f'<img alt="{escape(alt)}" width="{size["width"]}" src="data:image/png;base64,{picture.strip()}">'
        display({"text/html": html, "text/plain": alt}, raw=True)
    else:
        display(plt.gcf(), metadata={"image/png": {"alt": alt}})
    plt.close()
