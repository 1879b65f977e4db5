"""Numba, which compiles hot loops: whether it is here, and how it is to compile.

Loops live in files that import Numba (numba_engine.py, compiled_loops.py).  Those are imported only if has_numba(), and
where NumPy does the same within a moment, once that has taken as long as the import would.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..checking.budgets import memory_to_spend

NUMBA_BYTES = 2**30  # of memory for Numba and the code that it compiles
NUMBA_IMPORT = 0.3  # seconds, including compiled loops from its cache
_rented = 0.0  # seconds that NumPy has taken so far in the place of loops
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
def numba_is_here() -> bool:
    """Whether Numba is installed, and with room for its compiler; this loads nothing."""
    return memory_to_spend() >= NUMBA_BYTES / 2 and find_spec("numba") is not None


@cache
def has_numba() -> bool:
    """Whether Numba can be loaded here, which this does."""
    try:
        return numba_is_here() and bool(import_module("numba"))
    except (ImportError, OSError, MemoryError):
        return False


def numba_is_loaded() -> bool:
    """Whether Numba has been loaded, so that a loop of it costs no import."""
    return "numba" in sys.modules and has_numba()


def rented(in_numpy: Callable[[], Callable], in_loops: Callable[[], Callable], seconds: float) -> Callable:
    """Return a function of NumPy, of which a call takes `seconds`, and by loops as soon as Numba's import pays.

    It pays once all that is rented in this process took as long as the import (the ski rental rule), or if Numba is
    loaded anyway.  Both are made when they are needed, and must give the same, to rounding.
    """
    made, bought = None, False

    def call(*given: Any) -> Any:
        global _rented
        nonlocal made, bought
        if not bought and (_rented >= NUMBA_IMPORT or numba_is_loaded()):
            made, bought = in_loops() if has_numba() else made, True
        made = made or in_numpy()
        _rented += 0 if bought else seconds
        return made(*given)

    return call
