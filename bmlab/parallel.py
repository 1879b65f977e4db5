"""Parts of a long computation, done by whatever can map: the cores here, a pool, a cluster.

    with bmlab.workers(client):  # a dask.distributed Client; or an executor, a pool, a callable like map
        bmlab.exact(machine_of_46_units, max_seconds=np.inf)

Three laws make the answer the same, to the bit, however many workers there are, and whichever of them die:
    the parts follow from the question, never from the number of workers;
    a part is a pure function of its arguments, done with one thread: it may be done again elsewhere;
    the answers are put together in the order of the parts.
Bits are those of one kind of processor and one version of NumPy: a mixed cluster agrees to rounding.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context, ContextVar
from typing import Any

from .budgets import end_of_call, ending
from .checks import needed
from .engines import Engine, adapted, cores
from .kept_threads import side_by_side
from .progress_bars import showing, shown, watched
from .threads import one_thread_only

_engine: ContextVar[Engine | None] = ContextVar("what does the parts", default=None)
_inside = ContextVar("this is done inside a part", default=False)


def workers(engine: Any) -> AbstractContextManager[None]:
    """Let `engine` do the parts of every long computation inside a `with` block.

    engine   a dask.distributed Client, or the address of a scheduler ("tcp://..."); an executor (concurrent.futures,
             loky, mpi4py.futures, ipyparallel's); a Pool (multiprocessing, Ray); a joblib.Parallel; or a callable
             like map(function, parts)
    Without it the parts are done on the cores of this machine.  Workers need the same versions of Python, NumPy and
    bmlab.  Where one dies Dask goes on; the others raise, each by its own name.
    Raises ValueError for what cannot map.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool, bmlab.workers(pool):
    ...     answer = bmlab.exact(bmlab.medium())
    """
    return _connected(engine) if isinstance(engine, str) and "://" in engine else _given(adapted(engine))


@contextmanager
def _connected(address):
    distributed = needed("distributed", "workers() of a scheduler's address", '"bmlab[cluster]"')
    with distributed.Client(address, set_as_default=False) as client, _given(adapted(client)):
        yield


@contextmanager
def _given(engine):
    token = _engine.set(engine)
    try:
        yield
    finally:
        _engine.reset(token)


def in_parts(task: Callable, parts: Sequence, unit: str = "part") -> Generator[Any, None, None]:
    """Yield task(part) of each part, in their order; both can be pickled, and a part is small.

    Left early and closed, nothing is left waiting.  What a part raises names the part in a note.
    """
    answers = iter(_answers(task, parts))
    try:
        yield from watched(_named(answers, unit, len(parts)), unit, len(parts))
    finally:
        getattr(answers, "close", lambda: None)()


def unpacked(task: Callable, part: Sequence) -> Any:
    """Return task(*part), for parts that are tuples of arguments: in_parts(partial(unpacked, task), parts)."""
    return task(*part)


def worker_count() -> int:
    """Return how many parts are done at a time."""
    engine = _engine.get()
    if _inside.get():
        return 1
    return max(1, engine.count() if engine else cores())


def parts_run_here() -> bool:
    """Whether parts share this process, and its memory."""
    return _engine.get() is None


def on_cores(task: Callable, parts: Sequence) -> Iterable:
    """Return task(part) of each part, done on the cores of this machine: for parts that write where others read."""
    if _inside.get():  # a part of a part stays where it is
        return map(task, parts)
    return side_by_side(Part(task), parts)


def _answers(task, parts):
    engine = _engine.get()
    if engine is None or _inside.get():
        return on_cores(task, parts)
    return engine.map(Part(task), parts)


def _named(answers, unit, count):
    """Yield the answers; a note says which part has failed."""
    made = 0
    try:
        for answer in answers:
            yield answer
            made += 1
    except Exception as error:
        error.add_note(f"This was {unit} {made + 1} of {count}.")
        raise


class Part:
    """Do a task by one thread, apart from every context of the caller: bars, workers, what NumPy warns of.

    On the cores here it ends at the caller's deadline, or when nobody waits for it any more, and the thread that asks
    shows the bars of its parts.
    """

    def __init__(self, task: Callable):
        self.task = task

    def __call__(self, part: Any) -> Any:
        until, left = end_of_call()
        return Context().run(self._alone, part, until, left, shown() if left else None)

    def _alone(self, part, until, left, bars):
        _inside.set(True)
        with ending(until, left), showing(bars), one_thread_only():
            return self.task(part)
