"""One BLAS thread around small problems: two idle pools (NumPy's and SciPy's) spin against each other otherwise."""

from functools import lru_cache

import scipy.linalg  # noqa: F401  (its BLAS must be loaded before the controller looks for BLAS libraries)
from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller():
    return ThreadpoolController()


def one_thread():
    """Return a context in which every BLAS uses one thread."""
    return _controller().limit(limits=1, user_api="blas")
