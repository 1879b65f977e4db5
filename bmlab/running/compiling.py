"""Numba, which compiles hot loops: whether it is here, and how it is to compile.

Loops live in files that import Numba (numba_engine.py, compiled_loops.py).  Those are imported at the first call that
needs a loop, and only if has_numba(): NumPy does the same without, several times slower.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from ..checking.budgets import memory_to_spend

NUMBA_BYTES = 2**30  # of memory for Numba and the code that it compiles
import_once = cache(import_module)  # of a file of loops: a second look would take as long as a few sweeps
COMPILE_OPTIONS: Any = {"nogil": True, "error_model": "numpy"}


def compiled(**options: Any) -> Callable[[Callable], Any]:
    """Return the decorator that compiles a loop at its first call; kept on disk, if any folder for that is writable."""
    from numba import njit

    def decorate(function: Callable) -> Any:
        try:
            return njit(**COMPILE_OPTIONS, **options, cache=True)(function)
        except RuntimeError:  # it finds no folder
            return njit(**COMPILE_OPTIONS, **options)(function)

    return decorate


@cache
def has_numba() -> bool:
    """Whether Numba can be loaded here: installed, and with room for its compiler."""
    try:
        return memory_to_spend() >= NUMBA_BYTES / 2 and bool(import_module("numba"))
    except (ImportError, OSError, MemoryError):
        return False


def numba_is_loaded() -> bool:
    """Whether Numba has been loaded, so that a loop of it costs no import."""
    return "numba" in sys.modules and has_numba()
