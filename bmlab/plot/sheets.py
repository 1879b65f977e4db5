"""Sheets of small images: rows of pixels, weights of hidden units, tables of yes and no."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking.calls import show_call
from ..checking.validation import check_array, check_choice, check_count, check_positive, describe
from .style import APART, FAINT, HATCH, HATCHED, MINUS, OPEN, PLUS, TOGETHER, UNMET, escape_dollars

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


@show_call()
def images(
    rows: ArrayLike,
    ax: Axes,
    shape: tuple[int, int] | None = None,
    columns: int = 10,
    limit: float = 1.0,
    *,
    names: Sequence[str] = (),
    marked: ArrayLike | None = None,
    kind: str = "units",
    hatched: bool = True,
) -> Axes:
    """Draw rows (N, pixels) as a sheet of small images, `columns` in a line: -limit white, +limit blue, nan hatched.

    kind="weights" draws orange squares, and purple discs for negative ones, told apart in a grey print; nan
    is left empty there, and with hatched=False, if it is no pixel.  names of the lines of images stand on their
    left; pixels that are True in `marked` (N, pixels) carry a red dot.  Between the ends shades have 33 steps.

    >>> plot.images(bmlab.states(4), plt.subplot(), columns=4)
    <Axes: >
    """
    sheet, limit = _sheet("rows", rows, shape, columns), check_positive("limit", limit)
    shades = _map(check_choice("kind", kind, ("units", "weights")))
    below = sheet < 0 if kind == "weights" else np.zeros(sheet.shape, dtype=bool)
    ax.imshow(np.where(below, 0, sheet), cmap=shades, vmin=-limit, vmax=limit, interpolation="nearest")
    _discs(ax, below, shades((sheet[below] / limit + 1) / 2))
    if hatched and kind == "units":
        _hatch(ax, _sheet("rows", np.isnan(np.asarray(rows, dtype=float)), shape, columns) == 1)
    number, (height, width) = len(np.atleast_2d(rows)), sides(shape, np.shape(rows)[-1])
    down, right = np.divmod(np.arange(number), min(columns, number))
    frame = np.array([[0, 0], [width, 0], [width, height], [0, height], [0, 0], [np.nan, np.nan]]) - 0.5
    rims = np.column_stack([right * (width + 1), down * (height + 1)])[:, None] + frame
    ax.plot(*rims.reshape(-1, 2).T, color=FAINT, linewidth=0.8)
    if marked is not None:
        y, x = np.nonzero(_sheet("marked", marked, shape, columns) == 1)
        ax.plot(x, y, ".", color=UNMET, markersize=4)
    height = (len(sheet) + 1) / max(len(names), 1)
    ax.set_xticks([])
    ax.set_yticks([height * (line + 0.5) - 1 for line in range(len(names))], escape_dollars(names))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


@show_call()
def answers(frame: Any, ax: Axes) -> Axes:
    """Draw a DataFrame of -1/+1 (N, units), a line a column with its name: +1 blue, -1 white, nan hatched.

    >>> import pandas
    >>> plot.answers(pandas.DataFrame({"Ada": [1, -1], "Ben": [1, np.nan]}), plt.subplot())
    <Axes: >
    """
    rows = np.asarray(frame, dtype=float).T
    ax.imshow(rows, cmap=_map("units"), vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    _hatch(ax, np.isnan(rows))
    ax.set_yticks(range(len(frame.columns)), frame.columns)
    return ax


def _hatch(ax, cells):
    """Hatch the cells (rows, columns) that are True: they are not known."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    spots = np.argwhere(cells)[:, None, ::-1] + np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]) - 0.5
    if len(spots):
        codes = [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY] * len(spots)
        ax.add_patch(
            PathPatch(Path(spots.reshape(-1, 2), codes), facecolor=OPEN, edgecolor=HATCHED, hatch=HATCH, linewidth=0)
        )


def _discs(ax, cells, colours):
    """A disc in each cell (rows, columns) that is True."""
    from matplotlib.collections import EllipseCollection

    if cells.any():
        spots, size = np.argwhere(cells)[:, ::-1], np.full(cells.sum(), 0.94)
        about: Any = {"units": "xy", "offsets": spots, "offset_transform": ax.transData}
        discs = EllipseCollection(size, size, 0 * size, facecolors=colours, linewidths=0, **about)
        ax.add_collection(discs, autolim=False)


def _map(kind):
    """The colours of images: units from white to blue, weights from purple over nothing to orange, in 33 steps."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    if kind == "units":
        return LinearSegmentedColormap.from_list("units", [MINUS, PLUS], N=33)
    ends = [to_rgba(APART), to_rgba(APART, 0), to_rgba(TOGETHER, 0), to_rgba(TOGETHER)]
    return LinearSegmentedColormap.from_list("weights", list(zip([0, 0.5, 0.5, 1], ends, strict=True)), N=33)


def _sheet(name, rows, shape, columns):
    """Rows as one large image, `columns` in a line, a pixel of nan between two."""
    rows = check_array(name, rows)
    rows = rows[None] if rows.ndim == 1 else rows
    if rows.ndim != 2:
        raise ValueError(f"{name} must be (N, pixels), found {describe(rows)}; pass an image a row")
    height, width = sides(shape, rows.shape[1])
    if not rows.size or height * width != rows.shape[1] or np.isinf(rows).any():
        raise ValueError(f"{name} must be images of {height} x {width} pixels, found {describe(rows)}; pass shape=")
    columns = min(check_count("columns", columns), len(rows))
    lines = -(-len(rows) // columns)
    sheet = np.full((lines, columns, height + 1, width + 1), np.nan)
    sheet.reshape(-1, height + 1, width + 1)[: len(rows), :height, :width] = rows.reshape(-1, height, width)
    return sheet.swapaxes(1, 2).reshape(lines * (height + 1), columns * (width + 1))[:-1, :-1]


def sides(shape: tuple[int, int] | None, pixels: int) -> tuple[int, int]:
    """Return the (height, width) of an image: a square if no shape is given."""
    if shape is None:
        return int(np.sqrt(pixels)), int(np.sqrt(pixels))
    if not isinstance(shape, list | tuple) or len(shape) != 2:
        raise ValueError(f"shape must be (height, width), found {describe(shape)}; try shape=(8, 8)")
    height, width = (check_count("shape", side) for side in shape)
    return height, width
