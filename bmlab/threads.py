"""One BLAS thread around small products, and all of them around wide ones.

Threads that wake for a small product cost more than they bring, and two idle pools (NumPy's and SciPy's) spin against
each other: up to 150 times slower, measured.  How many there are belongs to the process, so who asks for one thread is
counted: the first to enter sets it, the last to leave puts back what was there.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock, get_ident

from threadpoolctl import ThreadpoolController

_lock = Lock()
_depth: Counter[int] = Counter()  # of one_thread() in each Python thread that is inside
_before: list[int] = []  # the threads of each BLAS when the first entered


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold every BLAS at one thread."""
    me = get_ident()
    _deepen(me, 1)
    try:
        yield
    finally:
        _deepen(me, -1)


@contextmanager
def all_threads() -> Iterator[None]:
    """Lift what this Python thread holds by one_thread(); where another one holds it too, one thread remains."""
    me = get_ident()
    depth = _depth[me]
    _deepen(me, -depth)
    try:
        yield
    finally:
        _deepen(me, depth)


def thread_count() -> int:
    """Return how many threads a product inside all_threads() gets."""
    with all_threads():
        return max((blas.num_threads for blas in _libraries()), default=1)


def _deepen(me, more):
    with _lock:
        was_held, was_inside = bool(_depth), me in _depth
        _depth[me] += more
        if not _depth[me]:
            del _depth[me]
        if _depth and not was_held:
            _before[:] = [blas.num_threads for blas in _libraries()]
        if not was_inside and _depth[me]:
            _set([1] * len(_before))
        elif was_inside and not _depth[me]:
            _set([count if _is_free(blas) else None for blas, count in zip(_libraries(), _before, strict=True)])


def _is_free(blas):
    """Whether nobody holds a library: with OpenMP, the number of threads belongs to the Python thread."""
    return not _depth or getattr(blas, "threading_layer", "") == "openmp"


def _set(counts):
    for blas, count in zip(_libraries(), counts, strict=True):
        if count is not None:
            _let_anyone_set(blas)
            blas.set_num_threads(count)
            _let_anyone_set(blas)


def _let_anyone_set(blas):
    """Since threadpoolctl 3.7, the first Python thread that sets OpenBLAS's number is the only one that can."""
    if hasattr(blas, "clear_controlling_thread"):
        blas.clear_controlling_thread(force=True)


@lru_cache(maxsize=1)
def _libraries():
    import scipy.linalg  # noqa: F401  (its BLAS must be loaded before the controller looks)

    return ThreadpoolController().select(user_api="blas").lib_controllers
