"""One BLAS thread around small products.

Threads that wake for a small product cost more than they bring, and two idle pools (NumPy's and SciPy's) spin
against each other: up to a hundred times slower, measured.
"""

from functools import lru_cache

import scipy.linalg  # noqa: F401  (its BLAS must be loaded before the controller looks for BLAS libraries)
from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller():
    return ThreadpoolController()


def one_thread():
    """Return a context in which every BLAS uses one thread."""
    return _controller().limit(limits=1, user_api="blas")
