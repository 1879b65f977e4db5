"""The looks of all drawings: colours, markers, headlines, names at the ends of lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking.calls import show_call
from ..methods import METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType


PAPER, INK = "#FDFDFB", "#20262C"  # a picture's own ground and its words: 15:1
FAINT, UNMET = "#8A949E80", "#D64545"
WORDS = 4.5  # the contrast of coloured words with PAPER: WCAG 2.2, level AA
ON_LIGHT = "#222222"  # words on a unit that is white or grey
PLUS, MINUS, OPEN = "#0072B2", "#FFFFFF", "#B4BCC4"
HATCH, HATCHED = "//////", "#838E98"  # over OPEN: a unit or pixel that is not known
TOGETHER, APART, DASHED = "#D9730D", "#8459B8", (0, (2.2, 1.2))
SHADES = ("#1F2F73", "#2A78B4", "#3899BF")  # cold, T = 1, hot; or any three in order, dark to light: 3:1 on PAPER
COLOURS = {row.name: row.colour for row in METHODS.values() if row.colour} | {"data": OPEN}
MARKERS = {row.name: row.marker for row in METHODS.values() if row.marker} | {"data": "x"}
FREE_PHASES = {  # of gibbs, by the start of its chains: at the states before, at the data, anywhere
    "PCD": {"linestyle": "-", "fillstyle": "full"},
    "CD-1": {"linestyle": "--", "fillstyle": "none"},
    "fresh chains": {"linestyle": ":", "fillstyle": "left"},
}
DASHES = ("-", "--", ":", "-.", (0, (1, 4)), (0, (6, 2, 1, 2, 1, 2)))
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # of red, green and blue: IEC 61966-2-1
MAX_LABELLED_UNITS = 4  # up to here all states are drawn, and each weight is written at its line


@show_call()
def readable(colour: ColorType) -> str:
    """Return a colour as words have it in a figure: darkened until its contrast with PAPER is 4.5 (WCAG 2.2).

    A colour that is dark enough is not changed; black becomes INK.

    >>> plot.readable(plot.TOGETHER)
    '#b45e08'
    """
    from matplotlib.colors import to_hex, to_rgb

    rgb = np.array(to_rgb(colour))
    if not rgb.any():
        return INK
    light, limit = _linear(rgb), (_linear(np.array(to_rgb(PAPER))) @ LUMINANCE + 0.05) / WORDS - 0.05
    light = light * min(1, limit / (light @ LUMINANCE))
    return to_hex(np.floor(255 * np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)) / 255)


def _linear(rgb):
    """Return the light of each of red, green and blue: IEC 61966-2-1."""
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def escape_dollars(names: Sequence[Any]) -> list[str]:
    """Return names as Matplotlib draws them letter by letter: no dollar in them begins mathematics."""
    return [str(name).replace("$", r"\$") for name in names]


@show_call()
def headline(ax: Axes, text: str, below: str = "") -> Axes:
    """Write a headline above the axes, and below it, smaller, the words needed to read the drawing.

    A headline longer than the figure is wide continues in a second line.

    >>> plot.headline(plt.subplot(), "Two states share the cold", below="probability of each state")
    <Axes: title={'left': 'Two states share the cold'}>
    """
    lines = below.count("\n") + 1 if below else 0
    ax.set_title(text, loc="left", fontweight="bold", fontsize=11, pad=8 + 13 * lines, wrap=True)
    if below:
        ax.annotate(below, (0, 1), (0, 7), xycoords="axes fraction", textcoords="offset points", fontsize=9.5)
    return ax


@show_call()
def label_lines(ax: Axes) -> Axes:
    """Write the label of each line at its right end, in its colour, and take the legend away.

    Call it when limits and scales are set: names that would touch are moved apart.

    >>> _ = plt.plot([1, 2], label="rises"); _ = plt.plot([2, 1], label="falls")
    >>> plot.label_lines(plt.gca())
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


def minus(words: str) -> str:
    """Write hyphens before a number or among signs as the minus signs that they are."""
    words = re.sub(r"(?<!\w)-(?=[\d.+-])|(?<=[+-])-", "\N{MINUS SIGN}", words)
    return re.sub(r"(?<=[+\N{MINUS SIGN}])(?=[+\N{MINUS SIGN}])", "\N{HAIR SPACE}", words)  # so that they are counted


def signed(number: float, digits: str) -> str:
    """Return a number in this format, with the minus sign of print in place of a hyphen."""
    return f"{number:{digits}}".replace("-", "\N{MINUS SIGN}")


def circle(n: int) -> np.ndarray:
    """Return places (n, 2) on a circle, the first at the top, clockwise."""
    turn = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.sin(turn), np.cos(turn)])
