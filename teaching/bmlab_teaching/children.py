"""A pool of processes with limits, as many at a time as there are processors: the end of one ends no other."""

import json
import os
import resource
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import wait
from time import monotonic
from typing import Any, NamedTuple

import psutil

ANSWER = 2**26  # bytes that a process may return
LOADED = ["bmlab_teaching.grading", "bmlab_teaching.pages"]  # once, before any process is made
START = "forkserver"  # a copy of this process would begin with its address space, which may be all that it is given


class Work(NamedTuple):
    """A task: function(*given), with an answer that JSON can hold; `key` is its owner."""

    key: Any
    function: Callable[..., Any]
    given: tuple


def limited(channel, work: Work, seconds: float, gigabytes: float) -> None:
    """Do the work in this process, within limits of processor time and memory that all it starts inherit."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    limits = {resource.RLIMIT_CPU: int(seconds) + 1, resource.RLIMIT_AS: int(gigabytes * 2**30)}
    for limit, value in (limits | {resource.RLIMIT_FSIZE: 100 * 2**20, resource.RLIMIT_CORE: 0}).items():
        with suppress(OSError, ValueError):  # macOS does not limit a process's memory
            resource.setrlimit(limit, (value, value))
    try:
        result = as_bytes({"result": work.function(*work.given)})
        if len(result) > ANSWER:
            raise ValueError(f"its result is larger than {ANSWER // 2**20} MB")
    except BaseException as problem:
        result = as_bytes({"problem": f"{type(problem).__name__}: {problem}"[:500]})
    channel.send_bytes(result)


def as_bytes(answer: dict) -> bytes:
    """Return an answer in UTF-8 that everybody can read and write: half a character, in a text or a name, is a "?"."""
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")


def in_children(works: Iterable[Work], *, cpu: float, gigabytes: float, wall: float) -> Iterator[tuple[Any, Any, str]]:
    """Yield (key, result, "") of each work as it is done, or (key, None, why there is no result).

    cpu        processor seconds of each process
    gigabytes  its memory
    wall       seconds after which it is killed, with all that it started
    """
    context, waiting, running = get_context(START), iter(works), {}
    context.set_forkserver_preload(LOADED)
    try:
        while True:
            while len(running) < (os.cpu_count() or 1) and (work := next(waiting, None)):
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=limited, args=(theirs, work, cpu, gigabytes))
                process.start()
                theirs.close()
                running[ours] = work, process, handle_of(process.pid), monotonic() + wall
            if not running:
                return
            ready = wait(list(running), timeout=0.5)
            late = [channel for channel, (*_, until) in running.items() if monotonic() > until]
            for channel in {*ready, *late}:
                work, process, its, until = running.pop(channel)
                answer = {"problem": f"it was stopped after {wall:g} seconds"}
                if channel in ready:
                    try:
                        answer = json.loads(channel.recv_bytes(ANSWER))
                    except (EOFError, OSError, ValueError):
                        process.join(max(0, until - monotonic()))
                        spent = process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)
                        words = f"more than {cpu:g} processor seconds" if spent else "its process"
                        answer = {"problem": f"it took {words}, or more than {gigabytes:g} GB"}
                end(its)
                process.join()
                channel.close()
                yield work.key, answer.get("result"), answer.get("problem", "")
    finally:
        for _, process, its, _ in running.values():
            end(its)
            process.join()


def handle_of(pid: int | None) -> psutil.Process | None:
    """Return a process that was just started, which no later process of the same number is taken for."""
    with suppress(psutil.Error):
        return psutil.Process(pid)
    return None


def with_descendants(process: psutil.Process | None) -> list[psutil.Process]:
    """Return a process and all its descendants; nothing once it is over."""
    with suppress(psutil.Error):
        return [process, *process.children(recursive=True)] if process else []
    return []


def end(process: psutil.Process | None) -> None:
    """Kill a process with all that it started."""
    for one in with_descendants(process):
        with suppress(psutil.Error):
            one.kill()
