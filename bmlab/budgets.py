"""What memory a call may take, and how to say times and sizes."""

import os
from contextlib import suppress
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None


SMALL = 2.0**20  # bytes of which nobody asks whether they are there


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
