"""One BLAS thread around small products, and all of them around wide ones.

Threads that wake for a small product cost more than they bring, and two idle pools (NumPy's and SciPy's) spin against
each other: up to 150 times slower, measured.  How many there are belongs to the process, so who asks for one thread is
counted: the first to enter sets it, the last to leave puts back what was there.
"""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib import import_module
from threading import Lock, Thread, get_ident
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
if hasattr(os, "register_at_fork"):  # a child must not wait for a thread that it does not have
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_depth: dict[int, int] = {}  # how often each Python thread is inside one_thread(); those that are not are left out
_before: list[int] = []  # the threads of each BLAS when the first entered; none where nobody is inside
_alone = ContextVar("one_thread() is held, and nothing lifts it", default=False)


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold every BLAS at one thread."""
    with _at_depth(_depth.get(get_ident(), 0) + 1):
        yield


@contextmanager
def all_threads() -> Iterator[None]:
    """Lift what this Python thread holds by one_thread(); where another one holds it too, one thread remains."""
    with _at_depth(_depth.get(get_ident(), 0) if _alone.get() else 0):
        yield


@contextmanager
def one_thread_only() -> Iterator[None]:
    """Hold every BLAS at one thread, whatever asks for more inside: for work beside other work, the same to the bit."""
    token = _alone.set(True)
    try:
        with one_thread():
            yield
    finally:
        _alone.reset(token)


@contextmanager
def _at_depth(depth):
    before = _depth.get(get_ident(), 0)
    try:
        _hold(depth)
        yield
    finally:
        _hold(before)


def _hold(depth):
    """Let this Python thread be inside one_thread() so many times; where it is so already, nothing changes."""
    me = get_ident()
    with _lock:
        enters = depth and me not in _depth
        _depth[me] = depth
        if not depth:
            del _depth[me]
        if enters:  # each by itself: with OpenMP the number belongs to the Python thread
            _before[:] = _before or [blas.num_threads for blas in _libraries()]
            _set([1] * len(_before))
        elif _before and not _depth:
            _set(_before)
            _before.clear()


def _set(counts):
    for blas, count, before in zip(_libraries(), counts, _before, strict=True):
        if before > 1:
            _let_anyone_set(blas)
            blas.set_num_threads(count)
            _let_anyone_set(blas)


def _let_anyone_set(blas):
    """Since threadpoolctl 3.7, the first Python thread that sets OpenBLAS's number is the only one that can."""
    if hasattr(blas, "clear_controlling_thread"):
        blas.clear_controlling_thread(force=True)


@lru_cache(maxsize=1)
def _libraries():
    whole("scipy.linalg")  # its BLAS must be loaded before the controller looks
    return ThreadpoolController().select(user_api="blas").lib_controllers


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
