"""A process that nobody trusts, in bubblewrap: asked one question at a time, within limits.

bubblewrap makes namespaces (users, processes, network, all there are) without rights, over a file system that holds
Python with its packages, bmlab and the tables, read-only, and small folders in memory. This package is not in it.
"""

import importlib.util
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import psutil

from .children import end, family

CELLS = Path(__file__).with_name("cells.py")
HOME = "/home/student"
SCRATCH = {"/tmp": 200, HOME: 200, "/course": 50, "/dev/shm": 100}  # folders in memory, and their size in MB
PROCESSES, LINE, LOOK = 64, 2**25, 0.3  # the most that may be started; bytes of an answer; seconds between looks
THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM")}
MISSING = (
    "bubblewrap is not here, so nothing was run: apt install bubblewrap (Debian, Ubuntu), dnf install bubblewrap "
    "(Fedora), pacman -S bubblewrap (Arch). macOS has none: read every submission, then "
    "TRUST=1 (--trust) runs them as you"
)
WARM_UP = """
import numpy, matplotlib.pyplot, warnings, bmlab
warnings.simplefilter("ignore")
for model in (bmlab.medium(), bmlab.ising((4, 4))):
    for n_chains in (2, 100):
        bmlab.gibbs(model, rng=numpy.random.default_rng(0), n_chains=n_chains, burn_in=0, n_sweeps=9, backend="numba")
matplotlib.pyplot.figure().canvas.draw()
"""


class Limits(NamedTuple):
    """What a notebook may use; a cell gets a fifth of the seconds. `warm` is a folder of caches that warm_home made."""

    seconds: float = 300
    gigabytes: float = 4
    trust: bool = False
    warm: str = ""


class Ended(Exception):
    """A process that answers no more, and why."""


def check(trust: bool) -> None:
    """Raise ValueError where there is no bubblewrap, and nobody has said that the submissions can be trusted."""
    if not (trust or has_bubblewrap()):
        raise ValueError(MISSING)


@cache
def has_bubblewrap() -> bool:
    """Whether bubblewrap is there, and the system lets it make namespaces."""
    if not shutil.which("bwrap"):
        return False
    return not subprocess.run([*bubblewrap(), sys.executable, "-c", ""], check=False, capture_output=True).returncode


def package(name: str) -> Path:
    """Where a package is."""
    found = importlib.util.find_spec(name)
    assert found and found.origin
    return Path(found.origin).parent


def bubblewrap(*more: str) -> list[str]:
    """Return the command that walls in the command after it; `more` are further mounts."""
    python = [sys.prefix, sys.base_prefix, str(package("bmlab")), os.path.realpath(sys.executable)]
    shown = [place for place in dict.fromkeys(python) if place != "/usr"] + ["/usr/lib", "/usr/lib64", "/lib", "/lib64"]
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    command += ["--hostname", "student", "--proc", "/proc", "--dev", "/dev"]
    for place, megabytes in SCRATCH.items():
        command += ["--size", str(megabytes * 2**20), "--tmpfs", place]
    for place in shown:
        command += ["--ro-bind-try", place, place]
    if CELLS.parent.is_relative_to(sys.prefix):
        command += ["--tmpfs", str(CELLS.parent)]
    return [*command, "--ro-bind", str(CELLS), "/cells.py", *more, "--chdir", "/course"]


def environment(home: str) -> dict[str, str]:
    """Return the variables that a submission sees: none of the teacher's own."""
    own = {"HOME": home, "USER": "student", "LANG": "C.UTF-8", "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"}
    own |= {"NUMBA_CACHE_DIR": f"{home}/numba", "MPLCONFIGDIR": f"{home}/matplotlib"}
    return THREADS | own | {"PYTHONPATH": str(package("bmlab").parent)}


def warm_home(folder: Path, trust: bool) -> None:
    """Fill a folder with what a home should hold, compiled loops and a list of fonts."""
    folder.mkdir(parents=True)
    wrap, home = ([], str(folder)) if trust else (bubblewrap("--bind", str(folder), HOME), HOME)
    command = [*wrap, sys.executable, "-P", "-c", WARM_UP]
    path = {"PATH": os.environ.get("PATH", "")}
    subprocess.run(command, env=environment(home) | path, check=False, capture_output=True, cwd=folder)


class Sandbox:
    """cells.py in the sandbox."""

    def __init__(self, tables: Iterable[str], limits: Limits):
        check(limits.trust)
        self.limits, self.end, self.rest = limits, monotonic() + limits.seconds, b""
        self.work = tempfile.TemporaryDirectory(prefix="bm", ignore_cleanup_errors=True) if limits.trust else None
        if self.work:
            home = self.work.name
            shutil.copytree(limits.warm or home, home, dirs_exist_ok=True)
            for table in tables:
                (Path(home) / "tables").mkdir(exist_ok=True)
                shutil.copy(table, Path(home) / "tables")
            wrap, script = [], str(CELLS)
        else:
            home, script = HOME, "/cells.py"
            mounts = ["--ro-bind", limits.warm, "/warm"] if limits.warm else []
            for table in tables:
                mounts += ["--ro-bind", table, f"/course/tables/{Path(table).name}"]
            wrap = bubblewrap(*mounts)
        numbers = [f"{limits.seconds:g}", f"{limits.gigabytes:g}"]
        self.process = subprocess.Popen(
            [*wrap, sys.executable, "-P", script, *numbers],
            cwd=home if self.work else "/",
            env=environment(home) | {"PATH": os.environ.get("PATH", "")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            os.set_blocking(pipe.fileno(), False)

    def ask(self, **question: Any) -> dict:
        """Send a question and return the answer; raises Ended where none comes that could be one."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin and stdout
        to_send, look = json.dumps(question).encode() + b"\n", monotonic() + LOOK
        try:
            while b"\n" not in self.rest:
                ready, writable, _ = select.select([stdout], [stdin] if to_send else [], [], LOOK)
                if writable:
                    to_send = to_send[stdin.write(to_send) or 0 :]
                if ready:
                    new = stdout.read(2**16)
                    if new == b"":
                        raise Ended("its process ended (memory?)")
                    self.rest += new or b""
                if monotonic() > look:
                    self.look()
                    look = monotonic() + LOOK
            line, _, self.rest = self.rest.partition(b"\n")
            answer = json.loads(line)
            if not isinstance(answer, dict) or self.rest:
                raise Ended("its process answered what was not asked")
            return answer
        except (OSError, ValueError, RecursionError) as problem:
            raise Ended("its process ended, or answered what was not asked") from problem

    def look(self) -> None:
        """Raise Ended where the process takes more than it may."""
        if monotonic() > self.end:
            raise Ended(f"it was stopped after {self.limits.seconds:g} seconds")
        if len(self.rest) > LINE:
            raise Ended(f"it was stopped: an answer is larger than {LINE // 2**20} MB")
        started, memory = family(self.process.pid), 0
        for one in started:
            with suppress(psutil.Error):
                memory += one.memory_info().rss
        if len(started) > PROCESSES:
            raise Ended(f"it was stopped: it started {len(started)} processes")
        if memory > self.limits.gigabytes * 2**30:
            raise Ended(f"it was stopped: its processes held {memory / 2**30:.1f} GB")

    def close(self) -> None:
        """Kill it with all that it started; bubblewrap's namespace dies with its first process."""
        end(self.process)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                pipe.close()
        if self.work:
            self.work.cleanup()
