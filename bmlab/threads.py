"""One BLAS thread around small products, and all of them around wide ones.

Threads that wake for a small product cost more than they bring, and two idle pools (NumPy's and SciPy's) spin against
each other: up to 150 times slower, measured.  How many there are belongs to the process, so who asks for one thread is
counted: the first to enter sets it, the last to leave puts back what was there, whatever interrupts it.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache, partial
from importlib import import_module
from threading import Lock, Thread, get_ident
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
if hasattr(os, "register_at_fork"):  # a child must not wait for a thread that it does not have
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_depth: Counter[int] = Counter()  # of one_thread() in each Python thread that is inside
_before: list[int] = []  # the threads of each BLAS when the first entered; none where nobody is inside
_alone = ContextVar("one_thread() is held, and nothing lifts it", default=False)


class _Inside:
    """A context in which a Python thread is inside one_thread() so many times, and after which it is as before.

    Ctrl-C can come at the first instruction of what ends the context, where nothing can catch it, and IPython keeps the
    traceback with all that its frames hold.  So what ends it is called without its `_Ended`, which the with statement
    alone holds, and drops.
    """

    def __init__(self, change: Callable[[int], int]):
        self.me, self.change = get_ident(), change
        self.before = _depth[self.me]

    def __enter__(self) -> None:
        try:
            _hold(self.me, self.change(self.before))
        except BaseException:
            _let_go(self.me, self.before)
            raise

    @property
    def __exit__(self) -> Callable[..., None]:
        end = partial(_let_go, self.me, self.before)
        vars(end)["ended"] = _Ended(self.me, self.before)
        return end


class _Ended:
    """Go back to a depth when this is dropped, if nothing has done it before."""

    me = depth = 0  # until it is made

    def __init__(self, me, depth):
        self.me, self.depth = me, depth

    def __del__(self):
        if _depth[self.me] != self.depth:
            _let_go(self.me, self.depth)


def one_thread() -> _Inside:
    """Hold every BLAS at one thread, in a context."""
    return _Inside(lambda depth: depth + 1)


def all_threads() -> _Inside:
    """Lift what this Python thread holds by one_thread(); where another one holds it too, one thread remains."""
    return _Inside(lambda depth: depth if _alone.get() else 0)


@contextmanager
def one_thread_only() -> Iterator[None]:
    """Hold every BLAS at one thread, whatever asks for more inside: for work beside other work, the same to the bit."""
    token = _alone.set(True)
    try:
        with one_thread():
            yield
    finally:
        _alone.reset(token)


def _let_go(me, depth, *_):
    """Go back to a depth, even where Ctrl-C comes in between."""
    try:
        _hold(me, depth)
    except BaseException:
        _hold(me, depth, again=True)
        raise


def _hold(me, depth, again=False):
    """Let a Python thread be inside one_thread() so many times; to do it `again` sets the threads in any case."""
    with _lock:
        was_inside = me in _depth
        if depth and not _before:
            _before[:] = [blas.num_threads for blas in _libraries()]
        _depth[me] = depth
        if not depth:
            del _depth[me]
        if depth and (again or not was_inside):
            _set([1] * len(_before))
        elif _before and not depth and (again or was_inside):
            free = [not _depth or _is_own(blas) for blas in _libraries()]  # of those that hold it
            _set([count if is_free else None for count, is_free in zip(_before, free, strict=True)])
            if not _depth:
                _before.clear()


def _is_own(blas):
    """Whether the number of threads belongs to the Python thread, as with OpenMP."""
    return getattr(blas, "threading_layer", "") == "openmp"


def _set(counts):
    for blas, count, before in zip(_libraries(), counts, _before, strict=True):
        if count is not None and (before > 1 or _is_own(blas)):  # where it was one it stays one
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
