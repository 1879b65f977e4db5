"""Parts side by side: this thread does some, and threads that are kept from call to call do the others.

A thread that only waits wakes at each step of those who work, and new threads begin where others run: two parts of 25
ms on two cores were switched 21 times so, where it is 1.5 times here, and took 1.04 to 1.3 times as long.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache, partial
from itertools import islice
from os import getpid
from threading import Event
from typing import Any

from .budgets import end_of_call, ending
from .engines import AHEAD, cores


class _Handed:
    """Hold a part until it is done, by whoever begins it; on one core nobody but this thread can."""

    def __init__(self, task, part, end):
        self.call = partial(_ending, end, task, part)
        others = cores() - 1
        self.future = _pool(others, getpid()).submit(self.call) if others else Future()

    def done_here(self):
        """Do it if nobody has begun it; what it raises is raised in its turn."""
        if not self.future.cancel():
            return False
        self.future = Future()
        try:
            self.future.set_result(self.call())
        except Exception as error:
            self.future.set_exception(error)
        return True


def _ending(end, task, part):
    with ending(*end):
        return task(part)


def side_by_side(task: Callable[[Any], Any], parts: Iterable) -> Iterator[Any]:
    """Yield task(part) of each part, in their order.

    Left early, or interrupted, it waits for what has begun, whose loops end at their next turn.
    """
    ahead, rest, waiting, left = AHEAD * cores(), iter(parts), deque(), Event()
    end = end_of_call()[0], left
    try:
        while True:
            waiting.extend(_Handed(task, part, end) for part in islice(rest, ahead - len(waiting)))
            if not waiting:
                return
            while not waiting[0].future.done() and any(handed.done_here() for handed in waiting):
                pass
            yield waiting.popleft().future.result()
    finally:
        left.set()
        wait([handed.future for handed in waiting if not handed.future.cancel()])


@cache
def _pool(count, process):
    """Return threads that are kept; for each process its own: they do not survive a fork."""
    return ThreadPoolExecutor(count)
