"""What time and memory a call may take, and how to say so."""

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from math import inf
from pathlib import Path
from time import perf_counter

try:
    import resource
except ImportError:  # Windows
    resource = None


SMALL = 2.0**20  # bytes of which nobody asks whether they are there
_until = ContextVar("moment of perf_counter() by which the loops of this call must end", default=inf)
_seconds = ContextVar("seconds that this call may take", default=inf)


class OutOfTime(Exception):
    """A loop went on until the deadline; whoever set it knows what to do without."""


def deadline(until: float) -> AbstractContextManager[None]:
    """Let every loop inside raise OutOfTime after this moment of perf_counter()."""
    return _at_most(_until, until)


def within(seconds: float) -> AbstractContextManager[None]:
    """Let seconds_to_spend() say inside that the call may take no longer."""
    return _at_most(_seconds, seconds)


@contextmanager
def _at_most(variable, value):
    token = variable.set(min(value, variable.get()))
    try:
        yield
    finally:
        variable.reset(token)


def timed(things: Iterable) -> Iterable:
    """Return the things to be gone through, until the deadline where there is one."""
    until = _until.get()
    return things if until == inf else _timed(things, until)


def _timed(things, until):
    for thing in things:
        if perf_counter() > until:
            raise OutOfTime
        yield thing


def seconds_to_spend() -> float:
    """Return the seconds that the call may take in all; infinity where nobody has said."""
    return _seconds.get()


def memory_to_spend() -> float:
    """Half of the machine's memory in bytes, or of what a limited address space has left; 8 GiB if nothing tells."""
    most = 16.0 * 2**30
    with suppress(AttributeError, ValueError, OSError):
        most = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    limit = resource.getrlimit(resource.RLIMIT_AS)[0] if resource else -1
    return max(0.0, min(most, limit - _mapped() if limit >= 0 else most)) / 2


def _mapped():
    """Bytes of the address space that are taken; 0 where the system does not say."""
    with suppress(AttributeError, ValueError, OSError):
        return float(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0.0


def check_memory(what: str, size: float, way_out: str) -> None:
    """Raise ValueError, with the price, where this many bytes are more than memory_to_spend()."""
    if size > SMALL and size > (most := memory_to_spend()):
        raise ValueError(f"{what}, {size_in_words(size)} where {size_in_words(most)} are to spend; {way_out}")


def time_in_words(seconds: float) -> str:
    """Return a duration as a person would say it."""
    for unit, size in (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{1000 * seconds:.3g} ms"


def size_in_words(size: float) -> str:
    """Return a number of bytes as a person would say it."""
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20)):
        if size >= scale / 10:
            return f"{size / scale:,.3g} {unit}"
    return f"{size / 2**10:.2g} KiB"
