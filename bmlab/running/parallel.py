"""Parts of a long computation, done side by side: by the cores of this machine, or by an executor.

The answer is the same to the bit, however many workers there are, and whichever of them die: the tasks follow from the
question, each is a pure function of its arguments and done with one thread, and their answers are put together in their
order.  Bits are those of one kind of processor and one version of NumPy.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context, ContextVar
from threading import current_thread
from typing import Any

from ..checking.budgets import allowed_cores
from ..checking.calls import show_call
from ..checking.validation import describe
from .progress_bars import with_progress
from .threads import has_threads, one_thread_only

PREFETCH = 4  # tasks a worker that are handed out before the first of them is back
# The executor of the tasks, and the number of tasks at a time; None for the cores of this machine.
_executor: ContextVar[tuple[Executor, int] | None] = ContextVar("workers", default=None)
nested = ContextVar("this is done inside a task", default=False)


@show_call()
def workers(executor: Executor) -> AbstractContextManager[None]:
    """Let an executor do the tasks of exact sums inside a `with` block: those of exact() and its relatives only.

    executor   a concurrent.futures.Executor, or an object with its submit(), from Dask, ipyparallel, MPI or Ray
    Sums of more than 33 coupled units come in slices, a task each (bmlab.exact_plan() counts them): exact(), sample(),
    entropy(), bracket() and functions that call them.  Samplers and smaller sums stay in this process; independent runs
    of samplers are a map, and combine() puts their answers together.  Without an executor the tasks are done on the
    cores of this machine.  Inside a job of an executor all tasks are done in that job, whatever `with` says there: a
    job that waits for its own pool never ends.  Workers need the same versions of Python, NumPy and bmlab.  If a worker
    dies Dask does its tasks again; other executors raise an error of their own.  Raises ValueError for anything but an
    executor.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool, bmlab.workers(pool):
    ...     log_z = bmlab.exact(bmlab.sherrington_kirkpatrick(34, rng=0), want="log_z").log_z  # in two slices
    """
    if isinstance(executor, type) or not callable(getattr(executor, "submit", None)):
        raise ValueError(
            f"executor must be a concurrent.futures.Executor, found {describe(executor)}; "
            "try concurrent.futures.ProcessPoolExecutor()"
        )
    return _given(executor)


@contextmanager
def _given(executor):
    """Let an executor do the tasks, once it has done one: a dead one must not go unnoticed if nothing is shared."""
    inside = _is_inside_a_job_of(executor)
    token = _executor.set(None if inside else (executor, _side_by_side(executor)))
    try:
        yield
    finally:
        _executor.reset(token)


def _is_inside_a_job_of(executor):
    """Whether this thread is one of the executor's workers: a task that it submits could wait for itself forever."""
    dask = sys.modules.get("distributed")
    if dask and isinstance(executor, dask.cfexecutor.ClientExecutor):
        return _threads_of_cluster() is not None
    return nested.get() or current_thread() in kept_by(executor)[0]


def _side_by_side(executor):
    """Return how many tasks an executor does at a time, as it or the cluster of its first job tells."""
    counts = [kept_by(executor)[1], getattr(executor, "num_workers", None)]
    counts.append(executor.submit(_threads_of_cluster, None).result())
    return next((count for count in counts if isinstance(count, int)), cores())


def kept_by(executor):
    """Return the threads of an executor of the standard library and its number of workers: no public name has them."""
    return getattr(executor, "_threads", ()), getattr(executor, "_max_workers", None)


def _threads_of_cluster(_=None):
    """Return the threads of all workers of Dask, found in a job of one of them; None anywhere else."""
    dask: Any = sys.modules.get("distributed")
    try:
        inside = dask and dask.get_worker()
    except ValueError:
        return None
    return sum(dask.get_client().nthreads().values()) if inside else None


def map_executor(function: Callable, tasks: Sequence, unit: str = "task") -> Generator[Any, None, None]:
    """Yield function(task) of each task, in their order; both can be pickled, and a task is small.

    If it is closed early, no task is left waiting.  An exception of a task names the task in a note.
    """
    given, done = _executor.get(), 0
    if given is None or nested.get():
        answers = map_threads(function, tasks)
    else:
        answers = _submitted(given[0], SingleThreaded(function), tasks, given[1])
    try:
        for answer in with_progress(answers, unit, len(tasks)):
            yield answer
            done += 1
    except Exception as error:
        error.add_note(f"This was {unit} {done + 1} of {len(tasks)}.")
        raise
    finally:
        getattr(answers, "close", lambda: None)()


def worker_count() -> int:
    """Return how many tasks are done at a time: as many as the executor has workers, or as there are cores."""
    given = _executor.get()
    return 1 if nested.get() else given[1] if given else cores()


def tasks_run_here() -> bool:
    """Whether tasks share this process, and its memory."""
    return _executor.get() is None


def cores() -> int:
    """Return how many cores this process may use, in a container no more than it has; one without threads."""
    if not has_threads():
        return 1
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(min(here, allowed_cores()))


def map_threads(function: Callable, tasks: Sequence) -> Iterable:
    """Return function(task) of each task, done on the cores of this machine: for tasks that write to shared memory."""
    if nested.get():  # a task inside a task runs in its thread
        return map(function, tasks)
    count = min(cores(), len(tasks))
    return _by_threads(function, tasks, count) if count > 1 else map(SingleThreaded(function), tasks)


def _by_threads(function, tasks, count):
    """Yield the answers; left early, wait for the tasks that have begun."""
    with ThreadPoolExecutor(count) as pool:
        yield from _submitted(pool, SingleThreaded(function), tasks, count)


def _submitted(executor, function, tasks, count) -> Iterator[Any]:
    """Yield the answers; submit some more tasks than are being done, and cancel these if closed early."""
    waiting = deque()
    try:
        for task in tasks:
            waiting.append(executor.submit(function, task))
            if len(waiting) > PREFETCH * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


class SingleThreaded:
    """Do a function by one thread, outside every context of the caller: bars, workers, NumPy's warnings."""

    def __init__(self, function: Callable):
        self.function = function

    def __call__(self, task: Any) -> Any:
        return Context().run(self._by_one_thread, task)

    def _by_one_thread(self, task):
        nested.set(True)
        with one_thread_only():
            return self.function(task)
