"""Progress bars, tqdm's, for whatever takes longer than a second:

    with bmlab.progress():
        bmlab.ais(machine, rng=rng)
"""

from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from itertools import count
from types import SimpleNamespace

DELAY = 1.0             # seconds that a loop may take unseen
_shown = ContextVar("bars are shown", default=False)


@contextmanager
def progress():
    """Show a bar for every loop inside that takes longer than a second, in a notebook or a terminal; needs tqdm."""
    _tqdm()
    token = _shown.set(True)
    try:
        yield
    finally:
        _shown.reset(token)


def watched(things, unit: str, total: int | None = None):
    """Return the things to be gone through, with a bar where bars are shown."""
    if not _shown.get():
        return things
    return _tqdm()(things, unit=unit, total=total, delay=DELAY, leave=None)


def ticks(unit: str):
    """Return what counts for ever by next(), for a loop that is not our own."""
    return iter(watched(count(), unit))


def progress_bar(asked: bool, total: int, unit: str):
    """Return a context with a bar to be moved by hand, or one that shows nothing."""
    if not asked:
        return nullcontext(SimpleNamespace(update=lambda made: None, set_postfix_str=lambda text, refresh: None))
    return _tqdm()(total=total, unit=unit)


def _tqdm():
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError as missing:
        message = "a progress bar needs tqdm, which is not installed; pip install tqdm, or ask for none"
        raise ModuleNotFoundError(message, name=missing.name) from None
    return tqdm
