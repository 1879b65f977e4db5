"""Progress bars, tqdm's, for whatever takes longer than a second:

with bmlab.progress():
    bmlab.ais(machine, rng=rng)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from operator import length_hint
from time import perf_counter

from ..checking.calls import show_call
from ..checking.validation import import_optional

BAR_DELAY = 1.0  # seconds before a loop shows a bar
_bars: ContextVar[set | None] = ContextVar("the bars that are shown; None outside of progress()", default=None)


@show_call()
@contextmanager
def progress() -> Iterator[None]:
    """Show a bar for every loop inside that takes longer than a second, in a notebook or a terminal; needs tqdm.

    >>> with bmlab.progress():  # none here: it is done before a second has passed
    ...     answer = bmlab.exact(bmlab.medium())
    """
    _tqdm()
    bars = set()
    token = _bars.set(bars)
    try:
        yield
    finally:
        _bars.reset(token)
        for bar in bars:  # a loop that was interrupted lives on in the traceback, which IPython keeps
            bar.close()


def with_progress(items: Iterable, unit: str, total: int | None = None) -> Iterable:
    """Return the items to go through, with a bar if bars are shown."""
    bars = _bars.get()
    return items if bars is None else delayed_bar(items, unit, total or length_hint(items) or None, bars)


def delayed_bar(items, unit, total, bars):
    """Yield the items; the bar is made after BAR_DELAY: most loops are short, and bars of a page are not."""
    begin, bar = perf_counter(), None
    try:
        for count_done, item in enumerate(items, 1):
            yield item
            if bar is not None:
                bar.update(1)
            elif perf_counter() - begin > BAR_DELAY:
                bar = _tqdm()(unit=unit, total=total, initial=count_done, leave=False)
                bars.add(bar)
    finally:
        if bar is not None:
            bar.close()
            bars.discard(bar)


def counting_bar(unit: str) -> Iterator[int]:
    """Return a counter without end, whose next() moves the bar inside a loop of another library."""
    return iter(with_progress(count(), unit))


def _tqdm():
    return import_optional("tqdm.auto", "progress()", "tqdm").tqdm
