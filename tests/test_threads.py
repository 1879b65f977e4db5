"""One BLAS thread in a context, nested and in several Python threads at once, and the former number afterwards."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from threading import Event, local

import pytest
import scipy.linalg  # noqa: F401  (its BLAS must be there before a limit is set)
from threadpoolctl import threadpool_info, threadpool_limits

from bmlab.running import threads
from bmlab.running.threads import all_threads, one_thread


class Blas:
    """A library with three threads, whatever the computer has."""

    num_threads = 3

    def set_num_threads(self, count):
        self.num_threads = count


@contextmanager
def three_threads(blas=None):
    """Yield a function that returns the number of threads of BLAS; at the end, it has three."""
    blas = blas or Blas()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "_libraries", lambda: [blas])
        yield lambda: blas.num_threads
        assert blas.num_threads == 3


@pytest.fixture
def count():
    with three_threads() as count:
        yield count


def test_an_exception_leaves_no_limit(count):
    with pytest.raises(KeyError), one_thread(), one_thread():
        raise KeyError
    assert count() == 3


def overlap(first, second, count):
    """Run both at once, each calls its argument when it is inside; the first to enter leaves first."""
    inside, left, seen = Event(), Event(), []

    def in_second():
        inside.set()
        assert left.wait(10)
        seen.append(count())

    with ThreadPoolExecutor(1) as pool:
        others = []

        def in_first():
            if not others:
                others.append(pool.submit(second, in_second))
                assert inside.wait(10)

        first(in_first)
        seen.append(count())
        left.set()
        others[0].result()
    return seen


def test_overlapping_limits_leave_nothing_behind():
    """Of two limits that overlap, the first to leave ends nothing, and the last restores the number of the first."""

    def limited(call):
        with one_thread():
            call()

    with three_threads() as count:
        assert overlap(limited, limited, count) == [1, 1]


def test_all_threads_lifts_what_this_thread_holds_and_puts_it_back(count):
    with all_threads():
        assert count() == 3
    with one_thread():
        with one_thread(), all_threads():
            assert count() == 3
            with one_thread():
                assert count() == 1
            assert count() == 3
        assert count() == 1
    assert count() == 3


def test_all_threads_respects_what_another_thread_holds(count):
    with ThreadPoolExecutor(1) as pool, one_thread():

        def lifted():
            with all_threads():
                return count()

        assert pool.submit(lifted).result() == 1


def test_each_python_thread_is_limited_where_the_number_is_its_own():
    class PerThread(local):
        """As OpenBLAS with OpenMP."""

        threading_layer, num_threads = "openmp", 3
        set_num_threads = Blas.set_num_threads

    with three_threads(PerThread()) as count:

        def limited(call):
            with one_thread():
                assert count() == 1
                call()
                assert count() == 1
            assert count() == 3

        assert overlap(limited, limited, count) == [3, 1]


@pytest.mark.skipif(not threadpool_info(), reason="no library whose threads can be set")
def test_the_real_libraries_obey_from_any_python_thread():
    def counts():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    def limited():
        with one_thread():
            return counts()

    with threadpool_limits(3, user_api="blas"), ThreadPoolExecutor(1) as pool:
        told = f"threadpoolctl {version('threadpoolctl')}: small products of a second Python thread take all cores"
        assert limited() == pool.submit(limited).result() == {1} and counts() == {3}, told


def test_what_is_loaded_inside_changes_nothing_outside(count, monkeypatch):
    """SciPy's BLAS, say, by the first call that needs it."""
    first, late = threads._libraries()[0], Blas()
    with one_thread():
        monkeypatch.setattr(threads, "_libraries", lambda: [first, late])
    assert late.num_threads == count() == 3


NUMPY_ALONE = """
import sys, numpy, threadpoolctl
known = any(pool["user_api"] == "blas" for pool in threadpoolctl.threadpool_info())
"""


@pytest.mark.parametrize("pool", [1, 2])
def test_the_blas_of_scipy_is_loaded_only_to_be_limited(pool):
    """That takes a tenth of a second, of which a process of one thread has nothing."""
    text = NUMPY_ALONE + "import bmlab\nbmlab.probabilities(bmlab.toy())\nprint('scipy.linalg' in sys.modules, known)"
    more = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(pool))
    done = subprocess.run(
        [sys.executable, "-c", text], env=os.environ | more, capture_output=True, text=True, check=True
    )
    loaded, known = done.stdout.split()
    assert loaded == str(pool > 1 or known == "False")


def test_scipys_blas_is_limited_if_numpys_is_not_known(monkeypatch):
    """As Apple's Accelerate, of which the controller knows nothing, beside SciPy's OpenBLAS."""
    asked = []
    monkeypatch.delitem(sys.modules, "scipy.linalg", raising=False)
    monkeypatch.setattr(threads, "import_module", asked.append)
    monkeypatch.setattr(threads, "_loaded", lambda with_scipy: [Blas()] * with_scipy)
    assert len(threads._libraries()) == 1 and asked == ["scipy.linalg"]


def test_without_threads_and_numba_every_method_answers():
    script = Path(__file__).with_name("threadless.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout.count(" answered\n") == script.read_text().count("lambda: ")
