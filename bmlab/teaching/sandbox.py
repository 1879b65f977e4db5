"""Run a notebook that nobody trusts: its own process, a temporary home, limits, no network.

`execute` copies what the notebook needs to a temporary folder, starts inside.py there and takes back nothing but
outputs, by a pipe. Where Linux permits, `unshare` puts it into namespaces of its own: no network device at all, and no
process survives. On Linux with Landlock no other file can be read or changed. Elsewhere Python's audit hook has to
do: it stops accidents (a deleted folder, a download), and not somebody who wants to break out. In all cases the answer
and its test share one process, so a student who means to cheat can; reading the answers is the teacher's part.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from nbformat import from_dict

from . import inside

INSIDE = Path(__file__).with_name("inside.py")
UNSHARE = ["unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child"]
KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM")}


@cache
def namespaces():
    """The command that makes namespaces, or nothing where the system refuses."""
    if not shutil.which("unshare"):
        return []
    done = subprocess.run([*UNSHARE, "true"], check=False, capture_output=True)
    return [] if done.returncode else UNSHARE


def walls():
    """What stands between a submission and this machine, in words."""
    return ["namespaces"] * bool(namespaces()) + ["Landlock"] * (inside.landlock() > 0) + ["audit hook"]


@contextmanager
def folder_for(tables, warm):
    """A temporary folder with a home and a work folder; `warm` is the home of an earlier, trusted run."""
    with tempfile.TemporaryDirectory(prefix="bm", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        for sub in ("work/tables", "tmp", "jupyter/kernels/student"):
            (folder / sub).mkdir(parents=True)
        shutil.copytree(warm, folder / "home") if warm and warm.exists() else (folder / "home").mkdir()
        for table in tables:
            shutil.copy(table, folder / "work/tables")
        argv = [sys.executable, str(INSIDE), "-f", "{connection_file}"]
        spec = json.dumps({"argv": argv, "display_name": "student", "language": "python"})
        (folder / "jupyter/kernels/student/kernel.json").write_text(spec)
        yield folder


def environment(folder):
    """The variables that a submission sees: none of the teacher's own."""
    jupyter = {f"JUPYTER_{kind}_DIR": str(folder / "jupyter") for kind in ("DATA", "CONFIG", "RUNTIME")}
    home = str(folder / "home")
    own = {
        "HOME": home,
        "TMPDIR": str(folder / "tmp"),
        "NUMBA_CACHE_DIR": f"{home}/numba",
        "IPYTHONDIR": f"{home}/ipython",
        "MPLCONFIGDIR": f"{home}/matplotlib",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return {name: os.environ[name] for name in KEPT if name in os.environ} | ONE_THREAD | jupyter | own


def lines_from(order, folder, seconds, wrap):
    """Start the runner, wait, and return what it reported, were it cut short; nothing of it survives."""
    process = subprocess.Popen(
        [*wrap, sys.executable, str(INSIDE)],
        cwd=folder / "work",
        env=environment(folder),
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    late = []
    try:
        out, _ = process.communicate(json.dumps(order), timeout=seconds)
    except subprocess.TimeoutExpired:
        stop(process)
        out, late = process.communicate()[0], [{"complaint": f"the notebook was stopped after {seconds:g} seconds"}]
    stop(process)
    return [json.loads(line) for line in out.splitlines() if line.endswith("}")] + late


def stop(process):
    """Kill a process and its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def execute(notebook, *, tables=(), seconds=300, gigabytes=4, warm=None, system=True):
    """Fill in the outputs of a notebook, in place, from a run in the sandbox.

    A cell gets a fifth of `seconds`. A graded cell that was not reached gets an error that says so. The first run with
    a `warm` folder leaves its home there (caches), so it has to be one that is trusted: the solution. `system=False`
    leaves the audit hook alone.
    """
    with folder_for(tables, warm) as folder:
        order = {
            "notebook": notebook,
            "folder": str(folder),
            "seconds": seconds,
            "gigabytes": gigabytes,
            "landlock": system,
        }
        said = lines_from(order, folder, seconds, namespaces() if system else [])
        if warm and not warm.exists():
            shutil.copytree(folder / "home", warm)
    done = {line["index"]: line["outputs"] for line in said if "index" in line}
    reason = next((line["complaint"] for line in said if "complaint" in line), "an earlier cell ended the process")
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            cell.outputs = [from_dict(output) for output in done.get(index, [not_reached(reason)])]
    return notebook


def not_reached(reason):
    """The output of a cell that was never executed."""
    text = f"this cell was not executed: {reason}"
    return {"output_type": "error", "ename": "NotReached", "evalue": text, "traceback": [text]}
