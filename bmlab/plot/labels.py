"""Labels that avoid overlaps: at each drawing they move to a free place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist

from ..checking.arrays import first_smallest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

CLEAR = 2.0  # points between words and other things
STRUCK, BROKEN, AMBIGUOUS = 3.0, 1.0, 1.5  # costs of places that are not free; a point further away costs 1 / 12
TURNS = np.pi / 8 * np.arange(16)
GAPS, ALONG = (2, 7, 13, 20, 28, 36, 44, 54), np.array([1 / 2, 1 / 3, 2 / 3, 0.42, 0.58, 0.27, 0.73, 0.2, 0.8])


class Labels(Artist):
    """The words of one Axes that are placed when it is drawn: only then is it known how large it and they are.

    A word has places among which it chooses: round a point, on a line or beside it.  Each line and marker, arrow and
    word of the axes is in the way.  A line that a word must stand on is broken below it: the ground is clear, and a
    halo would be of one colour.  All lengths are in points.
    """

    zorder = -1  # before all that moves

    def __init__(self, ax: Axes):
        super().__init__()
        self._ax, self._words = ax, []
        self._whole: dict[Line2D, np.ndarray] = {}  # lines that may be broken
        self.set_in_layout(False)
        ax.add_artist(self)

    def breaks(self, line: Line2D) -> None:
        """Let a straight line be broken by words that stand on it."""
        self._whole[line] = np.array(line.get_xydata())

    def around(self, text: str, xy: Any, radius: float, outward: Any, **style: Any) -> None:
        """Write near a point that is a disc, best on its `outward` side."""
        side = np.column_stack([np.cos(TURNS), np.sin(TURNS)])
        corner = side / np.abs(side).max(axis=1, keepdims=True)

        def places(at, half):
            lean = 0.4 * side @ outward / (np.hypot(*outward) or 1)
            found = [(at + side * (radius + gap) + corner * half, gap / 12 - lean) for gap in GAPS]
            return np.concatenate([x for x, _ in found]), np.concatenate([cost for _, cost in found])

        self._write(text, [xy], lambda spots, half: places(spots[0], half), style)

    def along(self, text: str, line: Line2D, **style: Any) -> None:
        """Write on a straight line: in its middle, or at a third if others cross it, or beside it."""

        def places(spots, half):
            step = spots[1] - spots[0]
            across = np.array([-step[1], step[0]]) / (np.hypot(*step) or 1)
            lift = np.abs(across) @ half + line.get_linewidth() / 2 + CLEAR + 1
            on, rank = spots[0] + ALONG[:, None] * step, np.arange(len(ALONG)) / 20
            found = np.concatenate([on, on + lift * across, on - lift * across])
            return found, np.concatenate([rank, rank + 0.9, rank + 0.9])

        self._write(text, self._whole[line], places, style, line)

    def beside(self, text: str, ends: Any, lift: float, **style: Any) -> None:
        """Write beside an arrow from one end to the other, that runs `lift` to the left of the line between them."""

        def places(spots, half):
            step = spots[1] - spots[0]
            left = np.array([-step[1], step[0]]) / (np.hypot(*step) or 1)
            out = lift + np.abs(left) @ half + CLEAR + 1
            return np.concatenate([spots[0] + ALONG[:, None] * step + (out + k) * left for k in (0, 5, 10)]), np.repeat(
                [0.0, 0.5, 1.0], len(ALONG)
            )

        self._write(text, ends, places, style)

    def _write(self, text, spots, places, style, own=None):
        about: Any = {"textcoords": "offset points", "ha": "center", "va": "center"}
        word = self._ax.annotate(text, tuple(spots[0]), (0, 0), **about | style)
        self._words.append((word, np.asarray(spots, dtype=float), places, own))

    def draw(self, renderer: Any) -> None:
        """Move each word to its best place among all that is drawn, and again when the others have theirs."""
        if not self._words:
            return
        ways, points = self._ax.transData, 72 / self._ax.figure.dpi

        def size(word):
            return word.get_window_extent(renderer).size * points / 2

        for line, whole in self._whole.items():
            line.set_data(*whole.T)
        others = _Others(self, renderer)
        boxes = np.full((len(self._words), 2, 2), np.nan)  # middle and half of each
        for k in [*range(len(self._words))] * 2:
            word, spots, places, own = self._words[k]
            boxes[k] = np.nan
            half, at = size(word), ways.transform(spots) * points
            middles, cost = places(at, half)
            cost = cost + others.cost(middles, half, boxes, own, at[0] if len(at) == 1 else None)
            best = middles[first_smallest(cost)]
            boxes[k] = best, half
            word.set_position(tuple(best - at[0]))
        back = ways.inverted()
        for line, whole in self._whole.items():
            ends = ways.transform(whole) * points
            line.set_data(*back.transform(_broken(ends, boxes, line.get_linewidth() / 2) / points).T)


class _Others:
    """Obstacles of words: lines (M, 2, 2), points (D, 2) and boxes of fixed words, in points."""

    def __init__(self, labels, renderer):
        ax, moved = labels._ax, {word for word, *_ in labels._words}
        points = 72 / ax.figure.dpi
        lines = [line for line in ax.lines if line.get_linestyle() != "None"]
        pointing = [text for text in ax.texts if arrow_of(text)]
        for text in pointing:
            text.update_positions(renderer)
        arrows = [arrow_of(text) for text in pointing]
        spines = [spine for spine in ax.spines.values() if spine.get_visible() and ax.axison]
        ends, self.owner = [], []
        for artist in (*lines, *arrows, *spines):
            vertices = artist.get_transform().transform(artist.get_path().vertices) * points
            pairs = np.stack([vertices[:-1], vertices[1:]], axis=1)
            pairs = pairs[np.isfinite(pairs).all(axis=(1, 2))]
            ends.append(pairs)
            self.owner += [artist] * len(pairs)
        self.lines = np.concatenate([*ends, np.empty((0, 2, 2))])
        self.price = np.array([BROKEN if artist in labels._whole else STRUCK for artist in self.owner])
        self.wide = np.array([artist.get_linewidth() / 2 for artist in self.owner])
        marked = [line for line in ax.lines if line.get_marker() not in ("None", "", None)]
        spots = [line.get_transform().transform(line.get_xydata()) * points for line in marked]
        self.points = np.concatenate([*spots, np.empty((0, 2))])
        corners = [np.sqrt(2) if line.get_marker() == "s" else 1 for line in marked]
        radii = [corner * line.get_markersize() / 2 for corner, line in zip(corners, marked, strict=True)]
        self.radii = np.repeat(radii, [len(spot) for spot in spots])
        fixed = [text.get_window_extent(renderer) for text in ax.texts if text not in moved and text.get_text()]
        fixed += [ax.get_legend().get_window_extent(renderer)] if ax.get_legend() else []
        self.fixed = np.array([(box.min + box.max, box.size) for box in fixed]).reshape(-1, 2, 2) * points / 2
        self.frame = ax.bbox.get_points() * points
        self.beyond = 2 if ax.axison else 1  # numbers and the name of the axis are there

    def cost(self, middles, half, boxes, own, home):
        """The cost (K,) of a box of this half size at each of its centres (K, 2).

        Words on the line `own` may stand on it; those of the point `home` are ambiguous if another is as near.
        """
        struck = crossed(middles, half + CLEAR, self.lines, self.wide)
        struck[:, [owner is own for owner in self.owner]] = False
        gap = np.clip(np.abs(middles[:, None] - self.points) - half, 0, None)
        gap = np.hypot(*np.moveaxis(gap, 2, 0)) - self.radii
        strange = np.zeros(len(middles), dtype=bool)
        if home is not None:
            theirs = np.hypot(*(self.points - home).T) < 1
            nearest = gap[:, theirs].max(axis=1, initial=0)
            strange = gap[:, ~theirs].min(axis=1, initial=np.inf) < nearest + 2
        taken = np.concatenate([self.fixed, boxes[np.isfinite(boxes[:, 0, 0])]])
        met = (np.abs(middles[:, None] - taken[:, 0]) < half + taken[:, 1] + CLEAR).all(axis=2)
        left = ((middles - half < self.frame[0]) | (middles + half > self.frame[1])).any(axis=1)
        bad = (gap < CLEAR).sum(axis=1) + met.sum(axis=1) + self.beyond * left
        return struck @ self.price + STRUCK * bad + AMBIGUOUS * strange


def arrow_of(text: Any) -> Any:
    """Return the arrow of a text; None if it has none. Matplotlib does not document where it keeps the arrow."""
    return getattr(text, "arrow_patch", None)


def crossed(middles: np.ndarray, half: np.ndarray, lines: np.ndarray, wide: np.ndarray) -> np.ndarray:
    """Whether each box, (K, 2) middles of one half size, meets each line, (M, 2, 2) of half width (M,): (K, M).

    They do not if an axis separates them, one of the box or the one across the line.
    """
    along = (lines[:, 1] - lines[:, 0]) / 2
    apart = np.abs(lines.mean(axis=1) - middles[:, None])
    reach = half + np.abs(along) + wide[:, None]
    offset = lines.mean(axis=1) - middles[:, None]
    across = np.abs(offset[..., 0] * along[:, 1] - offset[..., 1] * along[:, 0])
    room = np.abs(along) @ half[::-1] + wide * np.hypot(*along.T)
    return (apart < reach).all(axis=2) & (across <= room)


def _broken(ends, boxes, wide):
    """A line, (2, 2) ends, with a gap of nan if it passes through boxes."""
    step = ends[1] - ends[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        walls = np.sort((boxes[:, :1] + (boxes[:, 1:] + CLEAR + wide) * [[[-1], [1]]] - ends[0]) / step, axis=1)
    first, last = (
        np.nan_to_num(walls[:, 0], nan=-np.inf).max(axis=1),
        np.nan_to_num(walls[:, 1], nan=np.inf).min(axis=1),
    )
    parts, at = [], 0.0
    for low, high in sorted(zip(first.clip(0, 1), last.clip(0, 1), strict=True)):
        if low < high:
            parts += [at, low, np.nan] if low > at else []
            at = max(at, high)
    parts += [at, 1.0] if at < 1 else []
    return ends[0] + np.array(parts)[:, None] * step
