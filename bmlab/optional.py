"""Packages that bmlab does without until one of its functions is called."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from threading import Thread
from typing import Any


def needed(module: str, caller: str, install: str) -> Any:
    """Return a module that `caller` needs; raise ModuleNotFoundError with the command to type where it is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        name = module.partition(".")[0]
        message = f"{caller} needs {name}, which is not installed; pip install {install}"
        raise ModuleNotFoundError(message, name=missing.name) from None


@cache
def has_threads() -> bool:
    """Whether this Python can start a thread; the one that runs in a browser cannot."""
    try:
        Thread(target=int).start()
    except RuntimeError:
        return False
    return True


def uninterrupted(call: Callable, *args: Any) -> Any:
    """Return call(*args), made in a thread of its own: Ctrl-C, which ends the main one, waits until it is done.

    For what could not be begun again, such as half of what Numba loads when it first compiles.
    """
    if not has_threads():
        return call(*args)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call, *args).result()


def whole(module: str) -> Any:
    """Return a module, imported to its end: half an import of Numba or scipy.optimize could not be begun again."""
    if module in sys.modules:
        return import_module(module)  # at once, or as soon as another thread has done it; a thread takes a millisecond
    return uninterrupted(import_module, module)
