"""The memory and the cores that a call may use, and times and sizes in words."""

import math
import os
from contextlib import suppress
from functools import cache
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None


ALWAYS_FREE_BYTES = 2.0**20  # a call that takes less is never refused
LONGEST = 1e6 * 365.25 * 86400  # seconds
MOST_COUNTED = 1e18  # operations or pieces
ROOT = Path("/")  # of the file system, in which Linux lists the limits of control groups


def memory_to_spend() -> float:
    """Half of the machine's memory in bytes, or of the rest that a container or a limited address space allows.

    8 GiB if the system has no limit to read.
    """
    most = 16.0 * 2**30
    with suppress(AttributeError, ValueError, OSError):
        most = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    most = min(most, allowed_memory())
    limit = resource.getrlimit(resource.RLIMIT_AS)[0] if resource else -1
    return max(0.0, min(most, limit - _mapped() if limit >= 0 else most)) / 2


def allowed_memory() -> float:
    """Bytes that the control groups of this process allow (Docker, Kubernetes, Slurm); infinite without."""
    found = [*_limits("memory", "memory.max"), *_limits("memory", "memory.limit_in_bytes")]
    return min((float(text) for text in found if text != "max"), default=math.inf)


def allowed_cores() -> float:
    """Cores that the control groups of this process allow, a part of one as one; infinite without."""
    old = zip(_limits("cpu", "cpu.cfs_quota_us"), _limits("cpu", "cpu.cfs_period_us"), strict=False)
    pairs = [*(text.split() for text in _limits("cpu", "cpu.max")), *old]
    found = (int(quota) / int(period) for quota, period in pairs if quota not in ("max", "-1"))
    return min((max(1, math.ceil(cores)) for cores in found), default=math.inf)


def _limits(controller, name):
    return _read_limits(ROOT, controller, name)


@cache
def _read_limits(root, controller, name):
    """Return the content of a file in each control group of this process, its own first: of version 2 and of 1.

    Read once, for it takes a millisecond, and samplers look at it before each block.
    """
    found = []
    with suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, controllers, own = line.split(":", 2)
            if controllers and controller not in controllers.split(","):
                continue
            top = root / "sys/fs/cgroup" / (controller if controllers else "")
            inside = top / own.strip("/")
            folders = [folder for folder in (inside, *inside.parents) if folder.is_relative_to(top)]
            found += [(folder / name).read_text().strip() for folder in folders if (folder / name).is_file()]
    return tuple(found)


def _mapped():
    """Bytes of the address space that are taken; 0 if the system has no count."""
    with suppress(AttributeError, ValueError, OSError):
        return float(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0.0


def check_memory(what: str, size: float, way_out: str) -> None:
    """Raise ValueError, with the price, if `size` bytes are more than memory_to_spend()."""
    if size > ALWAYS_FREE_BYTES and size > (most := memory_to_spend()):
        raise ValueError(f"{what}, {size_in_words(size)} where {size_in_words(most)} are to spend; {way_out}")


def time_in_words(seconds: float) -> str:
    """Return a duration in words; nobody waits for more than a million years."""
    if seconds > LONGEST:
        return "over a million years"
    for unit, size in (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1)):
        if seconds >= 2 * size:
            return f"{_three_digits(seconds / size)} {unit}"
    return f"{_three_digits(1000 * seconds)} ms"


def _three_digits(x):
    """Return a number with three digits, or all of a whole one of four to six."""
    return f"{x:,.0f}" if 999.5 <= x < 10**6 else f"{x:.3g}"


def count_in_words(number: float, form: str = ".2g") -> str:
    """Return a number in this format, "over 1e18" beyond."""
    return "over 1e18" if number > MOST_COUNTED else format(number, form)


def size_in_words(size: float) -> str:
    """Return a number of bytes in words."""
    if size > MOST_COUNTED:
        return "over a billion GiB"
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20)):
        if size >= scale / 10:
            return f"{size / scale:,.3g} {unit}"
    return f"{size / 2**10:.2g} KiB"
