"""What an exact answer costs, in words; and the refusal where it costs more than it may."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...budgets import memory_to_spend, size_in_words, time_in_words


class Part(NamedTuple):
    """Hold the road for some units: its name, what it needs to know, and what it costs.

    bytes    of what is held at once in one process
    seconds  of one core, for all pieces one after the other; so many of these are done `side_by_side`
    """

    units: np.ndarray
    road: str
    guide: Any
    work: float
    bytes: float
    seconds: float
    pieces: float = 1
    side_by_side: float = 1


class Plan(NamedTuple):
    """Hold how exact() would answer: its parts, solved one after the other."""

    parts: tuple[Part, ...]

    @property
    def work(self) -> float:
        """Multiply-adds, or entries of tables."""
        return sum(part.work for part in self.parts)

    @property
    def bytes(self) -> float:
        """What is held at once, here or, where there are workers, by one of them."""
        return float(max((part.bytes for part in self.parts), default=0.0))

    @property
    def seconds(self) -> float:
        """The predicted time, with the workers that were at hand."""
        return float(sum(part.seconds / part.side_by_side for part in self.parts))

    @property
    def core_seconds(self) -> float:
        """What all workers spend together."""
        return float(sum(part.seconds for part in self.parts))

    @property
    def method(self) -> str:
        """The roads taken, each named once, the dearest first."""
        return ", ".join(dict.fromkeys(part.road for part in sorted(self.parts, key=lambda p: -p.seconds)))

    def __str__(self):
        apart = f" in {len(self.parts)} parts" if len(self.parts) > 1 else ""
        pieces = max((part.pieces for part in self.parts), default=1)
        apart += f", {pieces:,.6g} pieces" if pieces > 1 else ""
        shared = f", {time_in_words(self.core_seconds)} of a core" if pieces > 1 else ""
        return (
            f"{self.method}{apart}: {self.work:.2g} operations, {size_in_words(self.bytes)}, about {self.time}{shared}"
        )

    @property
    def time(self) -> str:
        """The predicted time in words, with the number of workers where these share it."""
        count = max((part.side_by_side for part in self.parts), default=1)
        return time_in_words(self.seconds) + (f" on {count:g} workers" if count > 1 else "")


def refuse_if_too_dear(
    way: Plan, max_seconds: float = 600.0, max_bytes: float | None = None, everything: bool = False
) -> None:
    """Raise ValueError with the price where a plan costs more time or memory than it may."""
    max_bytes = memory_to_spend() if max_bytes is None else max_bytes
    if way.seconds <= max_seconds and way.bytes <= max_bytes:
        return
    dearest = max(way.parts, key=lambda part: part.seconds)
    fewer = everything and dearest.road in ("cutset conditioning", "variable elimination")
    raise ValueError(
        f"exact() would need {_what(dearest)}, about {way.time} and {size_in_words(way.bytes)}; "
        f"it stops at {time_in_words(max_seconds)} and {size_in_words(max_bytes)}. "
        f"Use {'''pairs='couplings', ''' if fewer else ''}mean_field() or gibbs()."
    )


def _what(part):
    if part.road == "cutset conditioning":
        return f"2^{len(part.guide)} listed states"
    return f"2^{len(part.units)} states" if part.road == "matrix products" else f"{part.work:.2g} operations"
