"""Run a notebook that nobody trusts: the student's code lives in bubblewrap, and hands back nothing but outputs.

runner.py, a process of ours, executes the cells and reports their outputs through a pipe. The kernel that it starts is
walled in by `bwrap`: namespaces of its own (users, processes, network, everything), no rights, and a file system that
holds Python with its packages and the tables, read-only, three small folders in memory, and the sockets of the kernel.
Time, memory, processes, files and output are limited. In all cases an answer and its test share one process, so a
student who means to cheat can; reading the answers is the teacher's part.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from time import monotonic

import psutil
from nbformat import NotebookNode, from_dict

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent
HOME = "/home/student"
SCRATCH = {"/tmp": 200, HOME: 200, "/course": 50, "/dev/shm": 100}  # folders in memory, and their size in MB
PROCESSES, POLL = 64, 0.2  # the most that a notebook may start, and the seconds between looks
INSTALL = "apt install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), pacman -S bubblewrap (Arch)"
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM")}
WARM_UP = """
import numpy, matplotlib.pyplot, warnings, bmlab
warnings.simplefilter("ignore")
for model in (bmlab.medium(), bmlab.ising((4, 4))):
    for n_chains in (2, 100):
        bmlab.gibbs(model, rng=numpy.random.default_rng(0), n_chains=n_chains, burn_in=0, n_sweeps=9, backend="numba")
matplotlib.pyplot.figure().canvas.draw()
"""


@cache
def has_bubblewrap() -> bool:
    """Whether bubblewrap is there, and the system lets it make namespaces."""
    if not shutil.which("bwrap"):
        return False
    return not subprocess.run([*bubblewrap(), sys.executable, "-c", ""], check=False, capture_output=True).returncode


def wall(trust: bool = False) -> str:
    """Say what stands between a submission and this machine; ValueError where that is nothing, and nobody trusts it."""
    if trust:
        return "nothing: submissions run as you, and may read, change and send whatever you may (--trust)"
    if has_bubblewrap():
        return "bubblewrap: own processes, no network, of your files Python alone, read-only"
    raise ValueError(
        f"nothing here walls submissions in, so none was run; install bubblewrap: {INSTALL}. "
        "If you have read every submission, --trust runs them as you"
    )


def bubblewrap(*more: str) -> list[str]:
    """Return the command that walls in the command after it; `more` are further mounts."""
    python = [sys.prefix, sys.base_prefix, str(PACKAGE), os.path.realpath(sys.executable)]
    shown = [place for place in dict.fromkeys(python) if place != "/usr"] + ["/usr/lib", "/usr/lib64", "/lib", "/lib64"]
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    command += ["--hostname", "student", "--proc", "/proc", "--dev", "/dev"]
    for place, megabytes in SCRATCH.items():
        command += ["--size", str(megabytes * 2**20), "--tmpfs", place]
    for place in shown:
        command += ["--ro-bind-try", place, place]
    return [*command, *more, "--chdir", "/course"]


def environment(home: str, jupyter: Path) -> dict[str, str]:
    """Return the variables that a submission sees: none of the teacher's own."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    folders = {f"JUPYTER_{kind}_DIR": str(jupyter) for kind in ("DATA", "CONFIG", "RUNTIME")}
    own = {"HOME": home, "USER": "student", "NUMBA_CACHE_DIR": f"{home}/numba", "MPLCONFIGDIR": f"{home}/matplotlib"}
    own |= {"PYTHONPATH": str(PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    return kept | ONE_THREAD | folders | own


def warm_home(folder: Path, trust: bool) -> None:
    """Fill a folder with what a home should hold, compiled loops and a list of fonts: made by our own code alone."""
    folder.mkdir(parents=True)
    wrap = [] if trust else bubblewrap("--bind", str(folder), HOME)
    home = str(folder) if trust else HOME
    command = [*wrap, sys.executable, "-P", "-c", WARM_UP]
    subprocess.run(command, env=environment(home, folder), check=False, capture_output=True, cwd=folder)


@contextmanager
def folder_for(tables, warm: Path | None, trust: bool) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield a temporary folder with the kernel's command, its sockets and what it may read; and its variables."""
    with tempfile.TemporaryDirectory(prefix="bm", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        for sub in ("sockets", "warm", "work/tables", "jupyter/kernels/student"):
            (folder / sub).mkdir(parents=True)
        for table in tables:
            shutil.copy(table, folder / "work/tables")
        if warm:
            shutil.copytree(warm, folder / "warm", dirs_exist_ok=True)
        mounts = [
            "--ro-bind",
            str(folder / "warm"),
            "/warm",
            "--ro-bind",
            str(folder / "work/tables"),
            "/course/tables",
        ]
        mounts += ["--bind", str(folder / "sockets"), str(folder / "sockets")]
        wrap, home = ([], str(folder / "home")) if trust else (bubblewrap(*mounts), HOME)
        start = [sys.executable, "-P", str(HERE / "kernel.py"), str(folder / "warm") if trust else "/warm"]
        spec = {"argv": [*wrap, *start, "-f", "{connection_file}"], "display_name": "student", "language": "python"}
        spec["interrupt_mode"] = "message"  # a signal would end at the wall
        (folder / "jupyter/kernels/student/kernel.json").write_text(json.dumps(spec))
        jupyter = environment(home, folder / "jupyter") | {"JUPYTER_RUNTIME_DIR": str(folder / "sockets")}
        yield folder, jupyter


def lines_from(order, folder, variables) -> list[dict]:
    """Start the runner, watch it, and return what it reported, were it cut short; nothing of it survives."""
    process = subprocess.Popen(
        [sys.executable, "-P", str(HERE / "runner.py")],
        cwd=folder / "work",
        env=variables,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    end, late, text = monotonic() + order["seconds"], [], json.dumps(order)
    while not late:
        try:
            out, _ = process.communicate(text, timeout=POLL)
            break
        except subprocess.TimeoutExpired:
            text = None
            late = complaints(process.pid, order, folder, end)
    stop(process)
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


def stop(process: subprocess.Popen) -> None:
    """Kill a process and its group, and what it started: the wall dies with its parent."""
    with suppress(psutil.Error):
        for one in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.Error):
                one.kill()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def execute(
    notebook: NotebookNode,
    *,
    tables=(),
    seconds: float = 300,
    gigabytes: float = 4,
    warm: Path | None = None,
    trust: bool = False,
) -> NotebookNode:
    """Fill in the outputs of a notebook, in place, from a run in the sandbox.

    A cell gets a fifth of `seconds`. A graded cell that was not reached gets an error that says so. `warm` is a folder
    of caches that warm_home() filled. Raises ValueError where there is no wall and `trust` is not given.
    """
    wall(trust)
    with folder_for(tables, warm, trust) as (folder, variables):
        order = {"notebook": notebook, "folder": str(folder), "seconds": seconds, "gigabytes": gigabytes}
        said = lines_from(order, folder, variables)
    done = {line["index"]: line["outputs"] for line in said if "index" in line}
    reason = next((line["complaint"] for line in said if "complaint" in line), "an earlier cell ended the process")
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            cell.outputs = [from_dict(output) for output in done.get(index, [not_reached(reason)])]
    return notebook


def not_reached(reason: str) -> dict:
    """Return the output of a cell that was never executed."""
    text = f"this cell was not executed: {reason}"
    return {"output_type": "error", "ename": "NotReached", "evalue": text, "traceback": [text]}
