"""Numba, which compiles hot loops: whether it is here, and how it is to compile.

Loops live in files that import Numba (numba_engine.py, compiled_loops.py).  Those are imported at the first call that
needs a loop, and only if has_numba(): NumPy does the same without, to rounding, several times slower.  Which of the two
answers must not depend on what a process did before: a call gives the same bits twice.  Only a process of which that is
not asked and which ends in a moment, as a grader's, says so by BMLAB_SHORT_LIVED=1 and rents: see rented().
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..checking.budgets import memory_to_spend

NUMBA_BYTES = 2**30  # of memory for Numba and the code that it compiles
NUMBA_IMPORT = 0.3  # seconds, including compiled loops from its cache
SHORT_LIVED = os.environ.get("BMLAB_SHORT_LIVED") == "1"
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


def loops_pay() -> bool:
    """Whether Numba's loops are taken now: if it is here, and in a short-lived process if it is loaded or pays."""
    return numba_is_loaded() or ((not SHORT_LIVED or _rented >= NUMBA_IMPORT) and has_numba())


def rented(in_numpy: Callable[[], Callable], in_loops: Callable[[], Callable], seconds: float) -> Callable:
    """Return a function of NumPy, of which a call takes `seconds`, and by loops as soon as loops_pay().

    In a short-lived process they pay once all that was rented took as long as Numba's import (the ski rental rule).
    Both are made when they are needed, and must give the same, to rounding.
    """
    made, bought = None, False

    def call(*given: Any) -> Any:
        global _rented
        nonlocal made, bought
        if not bought and loops_pay():
            made, bought = in_loops(), True
        made = made or in_numpy()
        _rented += 0 if bought else seconds
        return made(*given)

    return call
