"""Charts of answers: curves, the two phases, moments against moments, a climb, log Z between its bounds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking.arrays import first_largest
from ..checking.calls import show_call
from ..checking.validation import check_choice
from ..estimate import Estimate, check_estimate, dense_corr
from .style import (
    COLOURS,
    DASHES,
    FAINT,
    FREE_PHASES,
    INK,
    MARKERS,
    PLUS,
    UNMET,
    escape_dollars,
    headline,
    label_lines,
    signed,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from ..infer.bounds.bracketing import Bracket
    from ..learn.record import Step


@show_call()
def curves(x: ArrayLike, lines: Mapping[str, ArrayLike], ax: Axes, **labels: Any) -> Axes:
    """Draw each y of `lines`, {name: y}, over x; the other keywords are those of ax.set: xlabel, ylabel, xscale, ...

    A line whose name begins with that of a method has its colour and marker, any other is black; a second line of the
    same colour is dashed.  PCD, CD-1 and fresh chains are gibbs's, each with its own dashes.  The names stand at the
    ends of the lines.

    >>> plot.curves([1, 2], {"exact": [0, 1], "gibbs": [0.1, 0.9]}, plt.subplot(), xlabel="T")
    <Axes: xlabel='T'>
    """
    drawn = Counter()
    count = np.size(x)
    marked: Any = -(-count // 12)
    if labels.get("xscale") == "log":  # as far apart there
        marked = np.unique(np.geomspace(1, max(count, 1), 12).astype(int) - 1).tolist()
    for name, y in lines.items():  # nan leaves a gap
        method = "gibbs" if name in FREE_PHASES else next((m for m in COLOURS if re.match(rf"{m}\b", name)), "")
        colour, marker = COLOURS.get(method, "black"), MARKERS.get(method)
        style = {"color": colour, "linestyle": DASHES[drawn[colour] % len(DASHES)], "marker": marker}
        style |= FREE_PHASES.get(name, {})
        ax.plot(x, y, label=name, markersize=4, markevery=marked, linewidth=1.8, **style)
        drawn[colour] += 1
    ax.set(**labels)
    return label_lines(ax)


@show_call()
def phases(awake: Estimate, asleep: Estimate, ax: Axes, names: Iterable[str] = (), mark: str = "") -> Axes:
    """Draw each mean and each correlation, a line each: a frame for `awake`, filled as far as `asleep` has come.

    names of the units stand at the lines; `mark` is the name of the line to draw in ink, "Ada, Ben" for a pair.

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
    colours = ["black" if row == mark else PLUS for row in rows]
    ax.barh(places, dream, 0.5, color=colours)
    ax.barh(places, data, 0.72, color="none", edgecolor="black", linewidth=1.3)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set(xlim=(-1.05, 1.05), ylim=(len(rows) - 0.4, -0.6), xticks=[-1, 0, 1])
    ax.set_yticks(places, escape_dollars(rows))
    return ax


@show_call()
def moments(reference: Estimate, estimate: Estimate, ax: Axes, *, pair: tuple | None = None, named: str = "") -> Axes:
    """Draw the means and correlations of one Estimate against those of another, with bars of 2 stderr.

    pair, named   two units, (i, j), and the words that stand at their point

    >>> plot.moments(bmlab.exact(bmlab.medium()), bmlab.tap(bmlab.medium().at(4)), plt.subplot())
    <Axes: xlabel='exact', ylabel='tap'>
    """
    from .labels import Labels

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
        ax.plot(
            x, y, "s", markersize=10, markerfacecolor="none", markeredgecolor="black", markeredgewidth=1.6, zorder=3
        )
        if abs(y - x) > 0.05:
            ax.annotate("", (x, x), (x, y), arrowprops={"arrowstyle": "->", "color": INK, "linewidth": 1.6})
        Labels(ax).around(escape_dollars([named])[0], (x, y), 6, (1 if x < 0.3 else -1, y - x), fontweight="bold")
    if not estimate.converged:
        ax.set_title("NOT CONVERGED", color=UNMET, fontsize=10)
    return ax


@show_call()
def learning(steps: Sequence[Step], ax: Any, what: str = "log_likelihood", pair: tuple | None = None) -> Any:
    """Draw the log-likelihood, or what="mismatch", of each Step against its number, with its two ends written.

    If another method than `exact` reckons the log-likelihood, the axis names it.
    On three Axes the first step and the last are drawn too, awake against asleep, and both name the same pair: `pair`,
    or the one that is furthest from the data at first.  The third is a square in a row with these, and wide below them.

    >>> fit = bmlab.fit(bmlab.toy(), bmlab.states(3), steps=5, rate=0.1)
    >>> plot.learning(fit.steps, plt.subplot())
    <Axes: xlabel='step', ylabel='log-likelihood (nats a pattern)'>
    """
    from .labels import Labels

    panels = list(ax) if isinstance(ax, list | tuple | np.ndarray) else [ax]
    check_choice("what", what, ("log_likelihood", "mismatch"))
    values = [s.mismatch if what == "mismatch" else s.log_likelihood.value for s in steps]
    numbers = [s.optimizer.number for s in steps]
    method, curve = steps[-1].free.method, panels[-1]
    colour = COLOURS.get(method, "black")
    curve.plot(numbers, values, color=colour, label=method, linewidth=2)
    told = "" if method == "exact" else f" by {method}"
    quantity = "largest moment mismatch" if what == "mismatch" else f"log-likelihood{told} (nats a pattern)"
    curve.set(xlabel="step", ylabel=quantity)
    if len(panels) == 3:
        _before_and_after(steps, panels[:2], pair)
        curve.plot([numbers[0], numbers[-1]], [values[0], values[-1]], "o", color=colour)
        labels = Labels(curve)
        for k, side in ((0, 1), (-1, -1)):
            labels.around(signed(values[k], ".2f"), (numbers[k], values[k]), 3, (side, 0))
        row = [spec.rowspan if (spec := panel.get_subplotspec()) else None for panel in panels]
        curve.set(ylabel="", yticks=[], box_aspect=1 if row[0] == row[2] else None)
        curve.margins(0.1, 0.15)
        up = values[-1] > values[0]
        found = f"It {'rises' if up else 'falls'} to {values[-1]:.3f}"
        if what == "log_likelihood":
            found = f"L {'climbs' if up else 'falls'} by {abs(values[-1] - values[0]):.2f}"
        headline(curve, found if np.isfinite(values[-1] - values[0]) else "It is not known", quantity)
    return ax


def _before_and_after(steps, panels, pair):
    """The moments of the first step and of the last, on the same scales, with a key."""
    far = np.triu(abs(dense_corr(steps[0].clamped.corr) - dense_corr(steps[0].free.corr)), 1)
    i, j = divmod(int(first_largest(far)), len(far)) if pair is None else pair
    names = steps[0].model.names or [f"s{k}" for k in range(len(far))]
    for panel, step, when in zip(panels, (steps[0], steps[-1]), ("Before", "After"), strict=True):
        moments(step.clamped, step.free, panel, pair=(i, j), named=f"{names[i]}, {names[j]}")
        panel.set(xlabel="awake (data)", ylabel="asleep (dreams)")
        headline(panel, f"{when}: {step.mismatch:.3f} apart", f"step {step.optimizer.number}")
    ends = np.concatenate([panel.dataLim.get_points().ravel() for panel in panels])
    limits = ends.min() - 0.1, ends.max() + 0.1
    ticks = [tick for tick in (-1, -0.5, 0, 0.5, 1) if limits[0] <= tick <= limits[1]]
    for panel in panels:
        panel.set(xlim=limits, ylim=limits, xticks=ticks, yticks=ticks, aspect="auto", box_aspect=1)
    key = [
        panels[1].plot([], [], marker, color="black", label=name, markerfacecolor=fill, markersize=5)[0]
        for marker, name, fill in (("s", "pairs", "black"), ("o", "units", "white"))
    ]
    panels[1].legend(handles=key, frameon=False, handletextpad=0, borderpad=0, borderaxespad=0.3)


@show_call()
def bracket(proven: Bracket, estimates: Sequence[Estimate], ax: Axes) -> Axes:
    """Draw the proven interval of log Z of a Bracket as a grey band, and the log Z of several Estimates beside it.

    Each is a point with 2 stderr; bounds proven by the method itself are a thick bar, or an arrow from a single one.

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
        place: Any = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "va": "bottom"}
        ax.annotate(f" {name} ", (end, 1), (0, 2), ha=side, **place)
    ax.set(xlabel="log Z (nats)", yticks=range(len(estimates)), ylim=(len(estimates) - 0.5, -0.5))
    ax.set_yticklabels([e.method + ("" if e.converged else "\n(not converged)") for e in estimates])
    return ax


def _same_units(first, one, second, other):
    """Return the number of units of two Estimates."""
    sizes = len(check_estimate(first, one).mean), len(check_estimate(second, other).mean)
    if sizes[0] != sizes[1]:
        raise ValueError(f"{first} and {second} must be of one machine, found {sizes} units; pass answers on the same")
    return sizes[0]


def _points(ax, x, y, error, colour, marker, label, **style):
    error = 2 * np.broadcast_to(error, np.shape(y))
    ax.errorbar(x, y, yerr=error, fmt=marker, color=colour, markersize=5, linewidth=1, label=label, **style)
