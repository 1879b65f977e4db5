"""What can map, each by its own words: Dask clients, executors, pools, joblib, and callables like map."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from .checks import in_words
from .threads import has_threads

AHEAD = 4  # parts a worker that are handed out before the first of them is back
TRIES = 3  # of a part on Dask


class Engine(NamedTuple):
    """Hold a map, (task, parts) -> the answers in the order of the parts, and how many parts it does at a time."""

    map: Callable[[Callable, Sequence], Iterable]
    count: Callable[[], int]


def adapted(engine: Any) -> Engine:
    """Return the Engine of whatever can map; the most particular first."""
    if hasattr(engine, "scheduler_info") and hasattr(engine, "submit"):
        return _by_dask(engine)
    if not isinstance(engine, type):
        if hasattr(engine, "submit"):
            return by_executor(engine)
        if hasattr(engine, "apply_async"):
            return _by_pool(engine)
        if hasattr(engine, "n_jobs") and callable(engine):
            return _by_joblib(engine)
    try:
        right = list(engine(abs, [-1, 2])) == [1, 2]
    except Exception:
        right = False
    if not right:
        raise ValueError(
            f"engine must be a Dask client, an executor, a pool, or a callable like map, found {in_words(engine)}; "
            "try concurrent.futures.ProcessPoolExecutor()"
        )
    return Engine(engine, lambda: 1)


def by_executor(executor: Any) -> Engine:
    """Return the Engine of what has submit(), as the executors of concurrent.futures."""

    def submit(task, part):
        future = executor.submit(task, part)
        return future.result, future.cancel

    return _ahead(submit, lambda: _told(executor, "_max_workers", "num_workers"))


def _by_pool(pool):
    def submit(task, part):
        return pool.apply_async(task, (part,)).get, lambda: None

    return _ahead(submit, lambda: _told(pool, "_processes"))


def _by_joblib(parallel):
    def mapped(task, parts):
        return parallel((task, (part,), {}) for part in parts)

    return Engine(mapped, lambda: parallel.n_jobs if parallel.n_jobs > 0 else cores() + 1 + parallel.n_jobs)


def _by_dask(client):
    """Let the task, with the machine in it, be a task itself, which each part depends on.

    So it travels once to a worker, and not with each part; and it is made again where it is lost, which scattered data
    is not.
    """

    def count():
        return sum(client.nthreads().values())

    def mapped(task, parts):
        held = client.submit(_same, task, pure=False, retries=TRIES)

        def submit(_, part):
            future = client.submit(_do, held, part, pure=False, retries=TRIES - 1)
            return future.result, future.cancel

        yield from _ahead(submit, count).map(task, parts)

    return Engine(mapped, count)


def _same(task):
    return task


def _do(task, part):
    return task(part)


def _ahead(submit, count):
    """Return the Engine that hands out some parts more than are being done; submit() -> (wait for it, forget it)."""

    def mapped(task, parts):
        waiting, most = deque(), AHEAD * max(1, count())
        try:
            for part in parts:
                waiting.append(submit(task, part))
                if len(waiting) > most:
                    yield waiting.popleft()[0]()
            while waiting:
                yield waiting.popleft()[0]()
        finally:
            for _, forget in waiting:
                forget()

    return Engine(mapped, count)


def _told(engine, *names):
    """Return the number of workers that an engine tells; the cores here where it tells none."""
    found = [getattr(engine, name, None) for name in names]
    return next((count for count in found if isinstance(count, int)), cores())


def cores() -> int:
    """Return how many cores this process may use; one where there are no threads."""
    if not has_threads():
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
