"""One BLAS thread around small products, and all of them around wide ones.

Threads that wake for a small product cost more than they bring, and two idle pools (NumPy's and SciPy's) spin against
each other: up to 150 times slower, measured.  Their number belongs to the process, so those who ask for one thread are
counted: the first to enter sets it, the last to leave restores it.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib import import_module
from threading import Lock, Thread, get_ident

from threadpoolctl import ThreadpoolController

_lock = Lock()
if hasattr(os, "register_at_fork"):  # a child must not wait for a thread that it does not have
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_depth: Counter[int] = Counter()  # contexts of one_thread() that each Python thread is in
_before: list = []  # each BLAS, and its number of threads when the first entered; empty if nobody is inside
_alone = ContextVar("one_thread() is in force, and nothing lifts it", default=False)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit every BLAS to one thread."""
    depth = _depth[get_ident()]
    try:
        _limit_while(depth + 1)
        yield
    finally:
        _limit_while(depth)


@contextmanager
def all_threads() -> Iterator[None]:
    """Lift one_thread() of this Python thread; if another Python thread is in it too, one thread remains."""
    depth = _depth[get_ident()]
    try:
        _limit_while(depth if _alone.get() else 0)
        yield
    finally:
        _limit_while(depth)


@contextmanager
def one_thread_only() -> Iterator[None]:
    """Limit every BLAS to one thread, and keep the limit inside: for work beside other work, the same to the bit."""
    token = _alone.set(True)
    try:
        with one_thread():
            yield
    finally:
        _alone.reset(token)


def _limit_while(depth):
    """Set the number of contexts that this Python thread is in, and the number of threads if it changes."""
    with _lock:
        me, was_inside = get_ident(), get_ident() in _depth
        _depth[me] = depth
        if not depth:
            del _depth[me]
        if bool(depth) == was_inside:
            return
        _before[:] = _before or [(blas, blas.num_threads) for blas in _libraries()]
        for blas, count in _before:
            own = getattr(blas, "threading_layer", "") == "openmp"  # its number belongs to the Python thread
            if own or (count > 1 and (depth or not _depth)):
                _set(blas, 1 if depth else count)
        if not _depth:
            _before.clear()


def _set(blas, count):
    """Set the number; since threadpoolctl 3.7 only the first Python thread that set OpenBLAS's can do so again."""
    let_anyone = getattr(blas, "clear_controlling_thread", lambda force: None)
    let_anyone(force=True)
    blas.set_num_threads(count)
    let_anyone(force=True)


def _libraries():
    """Every BLAS; SciPy's takes a tenth of a second to load, and if NumPy's has one thread, it will have no more.

    If NumPy's is none that the controller knows (Apple's Accelerate), SciPy's may be another, and is loaded.
    """
    libraries = _loaded("scipy.linalg" in sys.modules)
    if "scipy.linalg" in sys.modules or {blas.num_threads for blas in libraries} == {1}:
        return libraries
    import_module("scipy.linalg")
    return _loaded(True)


@lru_cache(maxsize=2)
def _loaded(with_scipy):
    return ThreadpoolController().select(user_api="blas").lib_controllers


@cache
def has_threads() -> bool:
    """Whether this Python can start a thread; the one that runs in a browser cannot."""
    try:
        Thread(target=int).start()
    except RuntimeError:
        return False
    return True
