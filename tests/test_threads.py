"""One BLAS thread for whoever asks, nested and at once with others, and what was there before when all have left."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from interrupting import CALLS, TIMED, numbers
from threadpoolctl import threadpool_info, threadpool_limits

import bmlab
from bmlab import threads
from bmlab.infer.exact import matrix_products
from bmlab.threads import all_threads, one_thread, one_thread_only


class Blas:
    """A library with three threads, whatever the computer has."""

    num_threads = 3

    def set_num_threads(self, count):
        self.num_threads = count


@pytest.fixture
def count(monkeypatch):
    """A function that tells how many threads BLAS has; after all, it has three."""
    blas = Blas()
    monkeypatch.setattr(threads, "_libraries", lambda: [blas])
    yield lambda: blas.num_threads
    assert blas.num_threads == 3


def test_limits_nest_are_lifted_and_end_with_what_was_there(count):
    with all_threads():
        assert count() == 3
    with pytest.raises(KeyError), one_thread(), one_thread():
        assert count() == 1
        with all_threads():
            assert count() == 3
            with one_thread():
                assert count() == 1
            assert count() == 3
        assert count() == 1
        raise KeyError
    with one_thread_only(), all_threads():
        assert count() == 1
    assert count() == 3


def overlap(first, second, count):
    """Run both at once, each calling what it is given when it is inside; the first to enter leaves first."""
    inside, left, seen, others = Event(), Event(), [], []

    def in_second():
        inside.set()
        assert left.wait(10)
        seen.append(count())

    with ThreadPoolExecutor(1) as pool:

        def in_first():
            if not others:
                others.append(pool.submit(second, in_second))
                assert inside.wait(10)

        first(in_first)
        seen.append(count())
        left.set()
        others[0].result()
    return seen


def test_of_limits_that_overlap_the_last_puts_back_what_the_first_found(count):
    def limited(call):
        with one_thread():
            call()

    assert overlap(limited, limited, count) == [1, 1]


def test_all_threads_respects_what_another_thread_holds(count):
    with ThreadPoolExecutor(1) as pool, one_thread():

        def lifted():
            with all_threads():
                return count()

        assert pool.submit(lifted).result() == 1


@pytest.mark.parametrize("n", [3, 4], ids=["visible", "hidden"])
def test_learners_give_the_free_and_the_clamped_phase_all_threads(n, count):
    seen = []

    def infer(model, *, start=None):
        seen.append(count())
        return bmlab.exact(model)

    model = bmlab.sherrington_kirkpatrick(n + 2, np.random.default_rng(0))
    data = bmlab.sample(model, 50, np.random.default_rng(0))[:, :n]
    bmlab.maximize(model, data, infer, penalty=0.1)
    bmlab.fit(model, data, infer, steps=2, rate=0.1)
    assert seen and set(seen) == {3}


def test_exact_has_its_cores_inside_a_limit(count, monkeypatch):
    """The three products get all threads, and the narrow ones beside them one, whoever asks."""
    wide, narrow = [], []

    @contextmanager
    def lifted():
        with all_threads():
            wide.append(count())
            yield
        narrow.append(count())

    monkeypatch.setattr(matrix_products, "all_threads", lifted)
    with one_thread():
        bmlab.exact(bmlab.sherrington_kirkpatrick(26, np.random.default_rng(0)))
    assert wide == [3] * 3 and narrow == [1] * 3


@pytest.mark.skipif(not threadpool_info(), reason="no library whose threads can be set")
def test_the_real_libraries_obey_from_any_python_thread():
    def counts():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    def limited():
        with one_thread():
            return counts()

    with threadpool_limits(3, user_api="blas"), ThreadPoolExecutor(1) as pool:
        assert limited() == pool.submit(limited).result() == {1} and counts() == {3}


def test_eight_threads_get_the_answers_of_one():
    """To rounding: how many threads a product gets depends on who else is there."""
    names = [name for name in CALLS if name not in TIMED and name != "fit, resumed"][::2]
    with threadpool_limits(2, user_api="blas"):
        alone = [numbers(name) for name in names]
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(numbers, names))
        assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} <= {2}
    for name, one, other in zip(names, alone, together, strict=True):
        assert np.allclose(one, other, rtol=1e-6, atol=1e-6, equal_nan=True), name


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_of_a_process_that_samples_can_sample():
    """The lock is held while another thread sets BLAS: the fork waits for it, and the child finds it free."""
    inside, done = Event(), Event()

    def hold():
        with threads._lock:
            inside.set()
            done.wait(0.2)

    with ThreadPoolExecutor() as pool:
        for _ in range(3):
            sampling = pool.submit(numbers, "ais")
            holding = pool.submit(hold)
            inside.wait()
            child = os.fork()
            if not child:
                signal.alarm(30)
                numbers("gibbs")
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            holding.result(), sampling.result()


def test_without_threads_and_numba_every_method_answers():
    script = Path(__file__).with_name("threadless.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.count(" answered\n") == script.read_text().count("lambda: ")
