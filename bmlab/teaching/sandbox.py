"""Run a notebook that nobody trusts: the student's code lives behind a wall, and hands back nothing but outputs.

runner.py, a process of ours, executes the cells and reports their outputs through a pipe. The kernel that it starts is
walled in (walls.py). Time, memory, processes, files and output are limited. In all cases an answer and its test share
one process, so a student who means to cheat can; reading the answers is the teacher's part.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from time import monotonic

import psutil

from .walls import ENGINES, HOME, PROCESSES, bubblewrap, container, environment, wall

HERE = Path(__file__).resolve().parent
POLL = 0.3  # seconds between looks
WARM_UP = """
import numpy, matplotlib.pyplot, warnings, bmlab
warnings.simplefilter("ignore")
for model in (bmlab.medium(), bmlab.ising((4, 4))):
    for n_chains in (2, 100):
        bmlab.gibbs(model, rng=numpy.random.default_rng(0), n_chains=n_chains, burn_in=0, n_sweeps=9, backend="numba")
matplotlib.pyplot.figure().canvas.draw()
"""


def warm_home(folder: Path, trust: bool) -> None:
    """Fill a folder with what a home should hold, compiled loops and a list of fonts: made by our own code alone.

    A container has other files than this machine, so its home stays empty.
    """
    folder.mkdir(parents=True)
    kind = wall(trust)
    if kind not in ENGINES:
        wrap, home = ([], str(folder)) if trust else (bubblewrap("--bind", str(folder), HOME), HOME)
        command = [*wrap, sys.executable, "-P", "-c", WARM_UP]
        subprocess.run(command, env=environment(home, folder), check=False, capture_output=True, cwd=folder)


@contextmanager
def prepared(
    tables: Iterable[Path], warm: Path | None, kind: str, seconds: float, gigabytes: float
) -> Iterator[tuple[Path, list[str], dict[str, str], dict[str, str]]]:
    """Yield a temporary folder, the command of the runner in it, its variables, and the folders that it is told."""
    with tempfile.TemporaryDirectory(prefix="bm", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        for sub in ("sockets", "warm", "tables", "work", "jupyter/kernels/student"):
            (folder / sub).mkdir(parents=True)
        for table in tables:
            shutil.copy(table, folder / "tables")
        if warm:  # a copy, as the wall's own command shows its mounts inside
            shutil.copytree(warm, folder / "warm", dirs_exist_ok=True)
        caches, sockets = folder / "warm", str(folder / "sockets")
        runner, start = [sys.executable, "-P", str(HERE / "runner.py")], [sys.executable, "-P", str(HERE / "kernel.py")]
        folders, home = {"sockets": sockets, "work": str(folder / "work")}, HOME
        if kind in ENGINES:
            start = ["python", "-P", "/bmlab/bmlab/teaching/kernel.py", "", "/tables"]
            runner, folders = container(kind, folder, seconds, gigabytes), {"sockets": "/tmp", "work": "/course"}
        elif kind == "bubblewrap":
            mounts = ["--ro-bind", str(caches), "/warm", "--ro-bind", str(folder / "tables"), "/course/tables"]
            start = [*bubblewrap(*mounts, "--bind", sockets, sockets), *start, "/warm", ""]
        else:
            start, home = [*start, str(caches), str(folder / "tables")], str(folder / "home")
        spec = {"argv": [*start, "-f", "{connection_file}"], "display_name": "student", "language": "python"}
        spec["interrupt_mode"] = "message"  # a signal would end at the wall
        (folder / "jupyter/kernels/student/kernel.json").write_text(json.dumps(spec))
        path = {"PATH": os.environ.get("PATH", ""), "JUPYTER_RUNTIME_DIR": sockets}
        yield folder, runner, environment(home, folder / "jupyter") | path, folders


def lines_from(command, order: dict, folder: Path, variables: dict, stopping: Event | None) -> list[dict]:
    """Start the runner, watch it, and return what it reported, were it cut short; nothing of it survives."""
    (folder / "order.json").write_text(json.dumps(order))
    with (folder / "order.json").open() as asked:
        process = subprocess.Popen(
            command,
            cwd=folder / "work",
            env=variables,
            text=True,
            stdin=asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    end, late, out = monotonic() + order["seconds"], [], ""
    try:
        while not late:
            try:
                out, _ = process.communicate(timeout=POLL)
                break
            except subprocess.TimeoutExpired:
                late = complaints(process.pid, order, folder, end)
                if stopping and stopping.is_set():
                    raise KeyboardInterrupt from None
    finally:
        stop(process, command[0], folder.name)
    out = process.communicate()[0] if late else out
    return [json.loads(line) for line in out.splitlines() if line.endswith("}")] + late


def complaints(pid: int, order, folder: Path, end: float) -> list[dict]:
    """Return why a run must be ended, or nothing: its time, the memory or number of its processes, its files."""
    if monotonic() > end:
        return [{"complaint": f"the notebook was stopped after {order['seconds']:g} seconds"}]
    family, memory = psutil.Process(pid).children(recursive=True), 0
    for one in family:
        with suppress(psutil.Error):
            memory += one.memory_info().rss
    if len(family) > PROCESSES:
        return [{"complaint": f"the notebook was stopped: it started {len(family)} processes"}]
    if memory > order["gigabytes"] * 2**30:
        return [{"complaint": f"the notebook was stopped: its processes held {memory / 2**30:.1f} GB"}]
    if sum(file.stat().st_size for file in (folder / "sockets").iterdir()) > 2**26:
        return [{"complaint": "the notebook was stopped: it wrote files where the sockets are"}]
    return []


def stop(process: subprocess.Popen, program: str, name: str) -> None:
    """Kill a process and its group, and what it started: bubblewrap's wall dies with it, a container is told."""
    if program in ENGINES:
        subprocess.run([program, "kill", name], check=False, capture_output=True)
    with suppress(psutil.Error):
        for one in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.Error):
                one.kill()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def execute(
    sources: Sequence[str],
    *,
    tables: Iterable[Path] = (),
    seconds: float = 300,
    gigabytes: float = 4,
    warm: Path | None = None,
    trust: bool = False,
    stopping: Event | None = None,
) -> list[list[dict]]:
    """Return the outputs of each cell, from a run in the sandbox.

    A cell gets a fifth of `seconds`. A cell that was not reached has an error that says so. `warm` is a folder of
    caches that warm_home() filled. Raises ValueError where there is no wall and `trust` is not given, and
    KeyboardInterrupt soon after `stopping` is set.
    """
    kind = wall(trust)
    if not sources:
        return []
    with prepared(tables, warm, kind, seconds, gigabytes) as (folder, command, variables, folders):
        order = {"cells": list(sources), "seconds": seconds, "gigabytes": gigabytes} | folders
        said = lines_from(command, order, folder, variables, stopping)
    done = {line["index"]: line["outputs"] for line in said if "index" in line}
    reason = next((line["complaint"] for line in said if "complaint" in line), "an earlier cell ended the process")
    return [done.get(index, [not_reached(reason)]) for index in range(len(sources))]


def not_reached(reason: str) -> dict:
    """Return the output of a cell that was never executed."""
    text = f"this cell was not executed: {reason}"
    return {"output_type": "error", "ename": "NotReached", "evalue": text, "traceback": [text]}
