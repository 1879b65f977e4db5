"""Which words of a drawn figure are struck: by other words, lines, points, arrows, an axis or the rim of a disc."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from bmlab.plot.labels import arrow_of

CLEAR = 0.5  # pixels at 100 %: closer than this touches; the boxes of letters have some room below and above


def words_of(ax: Axes) -> list:
    """Every text that is seen on axes: titles, words in them, of the legend, the ticks and the axes."""
    titles = [ax.title, ax._left_title, ax._right_title]
    legend = ax.get_legend().get_texts() if ax.get_legend() else []
    axes = [ax.xaxis, ax.yaxis] if ax.axison else []
    ticks = [tick.label1 for axis in axes for tick in axis._update_ticks()]
    labels = [axis.label for axis in axes]
    return [
        text
        for text in (*titles, *ax.texts, *legend, *ticks, *labels)
        if text.get_visible() and text.get_text().strip()
    ]


def strokes_of(ax: Axes) -> tuple[np.ndarray, np.ndarray]:
    """Drawn lines, (M, 2, 2) ends in pixels, and half of the width of each (M,)."""
    spines = [spine for spine in ax.spines.values() if spine.get_visible() and ax.axison]
    arrows = [arrow_of(text) for text in ax.texts if arrow_of(text)]
    lines = [line for line in ax.lines if line.get_linestyle() != "None"]
    ends, wide = [], []
    bars = [bar for bar in ax.collections if isinstance(bar, LineCollection)]
    for artist in (*lines, *arrows, *spines, *bars):
        for path in artist.get_paths() if artist in bars else [artist.get_path()]:
            vertices = artist.get_transform().transform(path.vertices)
            pairs = np.stack([vertices[:-1], vertices[1:]], axis=1)
            ends.append(pairs[np.isfinite(pairs).all(axis=(1, 2))])
            wide += [np.max(artist.get_linewidth()) / 2 * ax.figure.dpi / 72] * len(ends[-1])
    return np.concatenate([np.empty((0, 2, 2)), *ends]), np.array(wide)


def points_of(ax: Axes) -> tuple[np.ndarray, np.ndarray]:
    """Centres (D, 2) and radii (D,) of markers and of units, in pixels."""
    centres, radii = [], []
    for line in ax.lines:
        if line.get_marker() not in ("None", "", None):
            centres.extend(line.get_transform().transform(line.get_xydata()))
            corner = np.sqrt(2) if line.get_marker() == "s" else 1
            radii.extend([corner * line.get_markersize() / 2 * ax.figure.dpi / 72] * len(line.get_xydata()))
    for disc in [patch for patch in ax.patches if isinstance(patch, Circle)]:
        box = disc.get_window_extent()
        centres.append((box.min + box.max) / 2)
        radii.append(box.width / 2)
    return np.array(centres).reshape(-1, 2), np.array(radii)


def struck_by_strokes(low: np.ndarray, high: np.ndarray, ends: np.ndarray, wide: np.ndarray) -> int:
    """How many lines come into a box: the part of each that is between its left and right, and its floor and roof."""
    start, step = ends[:, 0], ends[:, 1] - ends[:, 0]
    step = np.where(np.abs(step) < 1e-9, 1e-9, step)
    enter, leave = (low - wide[:, None] - start) / step, (high + wide[:, None] - start) / step
    first, last = np.minimum(enter, leave).max(axis=1), np.maximum(enter, leave).min(axis=1)
    return int((np.maximum(first, 0) < np.minimum(last, 1)).sum())


def overlaps(figure: Figure) -> list[tuple[str, str]]:
    """Return (words, the mark that strikes them) for each text of a figure, which is drawn at 100 %.

    Words within a disc have a ground of their own.
    """
    figure.set_dpi(100)
    for _ in range(2):  # as savefig does: words that have moved change the layout
        FigureCanvasAgg(figure).draw()
    found, seen = [], []
    for ax in figure.axes:
        (ends, wide), (centres, radii) = strokes_of(ax), points_of(ax)
        for text in words_of(ax):
            box = text.get_window_extent() if not arrow_of(text) else None
            if box is None:
                continue
            low, high = box.min + CLEAR, box.max - CLEAR
            name = text.get_text().replace("\n", " ")
            corners = np.array([low, high, (low[0], high[1]), (high[0], low[1])])
            inside = np.hypot(*np.moveaxis(corners[:, None] - centres, 2, 0)).max(axis=0) < radii
            if not inside.any():
                gap = np.hypot(*(np.clip(centres, low, high) - centres).T)
                found += [(name, "disc")] * int((gap < radii).sum())
                found += [(name, "line")] * struck_by_strokes(low, high, ends, wide)
            found += [(name, other) for other, a, b in seen if (low < b).all() and (high > a).all()]
            seen.append((name, low, high))
    return found
