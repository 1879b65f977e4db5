"""Processor seconds of grading one submission of each notebook, and how many times the demo's that is.

A submission is the solution, as `make grade` reads and runs it after a class's first: its two processes, both sandboxes
and what these start, the median of some runs. Names on the command line (03 03b) choose notebooks; RUNS=9 is the number
of runs. The last column has the seconds by the clock of all cells of the notebook, which nbgrader's autograde runs in
a kernel without a wall; its runner is nbclient. WHOLE=0 leaves it out.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import nbformat
from nbclient import NotebookClient

from bmlab_teaching import sandbox
from bmlab_teaching.children import Work, in_children, with_descendants
from bmlab_teaching.course import Handout
from bmlab_teaching.deliveries import Sender, senders
from bmlab_teaching.grading import course, kept_for, read
from bmlab_teaching.judging import judge
from bmlab_teaching.matching import Plan
from bmlab_teaching.working_copies import MARKS, without_teachers

ROOT = Path(__file__).resolve().parents[1]
COURSES = ROOT / "teaching/demo/notebooks", ROOT / "notebooks"
RUNS, WHOLE, TICK = int(os.environ.get("RUNS", "5")), os.environ.get("WHOLE", "1") == "1", os.sysconf("SC_CLK_TCK")
ROOM = {"cpu": 900, "gigabytes": 8, "wall": 3600}


def spent(pid: int) -> float:
    """Processor seconds of a process and of the processes that it waited for."""
    tasks = [(one / "schedstat").read_text("utf-8") for one in Path(f"/proc/{pid}/task").iterdir()]
    reaped = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[13:15]
    return sum(int(one.split()[0]) for one in tasks) / 1e9 + sum(map(int, reaped)) / TICK


def measured(function: Callable[..., Any], *given: Any) -> dict:
    """Return the result of a function, and the processor seconds of this process and of its sandboxes."""
    begun, inside, close = process_time(), [], sandbox.Sandbox.close

    def closing(box: sandbox.Sandbox) -> None:
        for one in with_descendants(box.handle):
            with suppress(OSError):  # it is over
                inside.append(spent(one.pid))
        close(box)

    sandbox.Sandbox.close = closing  # in this process, which does nothing else
    result = function(*given)
    return {"result": result, "seconds": process_time() - begun + sum(inside)}


def in_a_process(function: Callable[..., Any], *given: Any) -> tuple[Any, float]:
    """Return the result of a function in a process of its own, and its seconds."""
    ((_, found, problem),) = in_children([Work("", measured, (function, *given))], **ROOM)
    assert not problem, problem
    return found["result"], found["seconds"]


def graded(sender: Sender, handouts: Mapping[str, Handout], limits: sandbox.Limits, place: Path) -> float:
    """Processor seconds of a submission that holds the solution: read, put in order, run and tested."""
    found, reading = in_a_process(read, sender, handouts, place)
    ((name, about),) = found["plans"].items()
    steps, *rest = about["plan"]
    result, running = in_a_process(judge, handouts[name], Plan([(*one,) for one in steps], *rest), limits)
    assert all(one["passed"] for some in result["verdicts"].values() for one in some), result
    return reading + running


def whole(path: Path) -> float:
    """Seconds by the clock of all cells of the notebook."""
    began = perf_counter()
    notebook = nbformat.read(path, 4)
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": path.parent}}
    ).execute()
    return perf_counter() - began


def submissions(notebooks: Path, chosen: list[str], folder: Path) -> Iterator[tuple[Path, Callable[[], float]]]:
    """Yield each notebook of a course, and a function that grades a submission and returns its seconds."""
    handouts, limits = course(notebooks), sandbox.Limits(warm=str(folder / "warm"))
    names = [name for name in handouts if not chosen or name.partition("_")[0] in chosen]
    for name in names:
        handouts = kept_for({name}, handouts, folder / notebooks.parent.name, "", limits)
        solved = without_teachers(nbformat.read(notebooks / f"{name}.ipynb", 4))
        for cell in solved.cells:
            cell.source = MARKS.sub("", cell.source)
        returned = folder / "returned" / name
        (returned / "ann").mkdir(parents=True)
        nbformat.write(solved, returned / "ann" / f"{name}.ipynb")
        (sender,) = senders(returned, handouts)
        yield notebooks / f"{name}.ipynb", partial(graded, sender, handouts, limits, folder / "beside")


def main() -> None:
    """Print a line a notebook; the demo is graded in turns with it, for other work slows both."""
    with tempfile.TemporaryDirectory() as folder:
        sandbox.warm_home(Path(folder) / "warm", trust=False)
        ((_, demo),) = submissions(COURSES[0], [], Path(folder))
        for path, one in submissions(COURSES[1], sys.argv[1:], Path(folder)):
            ours, theirs = map(median, zip(*[(one(), demo()) for _ in range(RUNS)], strict=True))
            times = f"{ours:5.2f} s of the processor, the demo {theirs:4.2f} s: {ours / theirs:4.2f} times"
            more = f"   whole {whole(path):5.1f} s by the clock" if WHOLE else ""
            print(f"{path.stem:27} {times}{more}", flush=True)


if __name__ == "__main__":
    main()
