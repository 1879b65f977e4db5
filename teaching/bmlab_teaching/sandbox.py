"""An untrusted process in bubblewrap: one request at a time, within limits.

bubblewrap makes namespaces (users, processes, network, all there are) without rights, over a file system that holds
Python with its packages, bmlab and the tables, read-only, and small folders in memory. This package is not in it. No
limit on the number of processes binds root, so if root grades, each submission runs as a user of its own.
"""

import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from functools import cache
from math import inf
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

import psutil

import bmlab

from .children import end, handle_of, with_descendants
from .memory import MANY, MAPPED, NO_WALL, UNMAPPED, filtered, group, holds, in_folders

CELLS, BMLAB = Path(__file__).with_name("cells.py"), Path(bmlab.__file__).parent
HOME = "/home/student"
SCRATCH = {"/tmp": 200, HOME: 200, "/course": 50, "/dev/shm": 100}  # folders in memory, and their size in MB
PROCESSES = 64  # the most that may be started
LINE = 2**26  # bytes of an answer
LOOK = 0.5  # seconds between looks
IDLE = 60  # seconds by the clock that a request may spend asleep; then it is stopped
NAMESPACES = ["ipc", "pid", "net", "uts", "cgroup-try"]
BUS = "XDG_RUNTIME_DIR"  # by which systemd-run finds the system; a submission does not get it
TASKS = 4 * PROCESSES  # of processes and threads, a limit of the system itself
THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM")}
SHORT_LIVED = {"BMLAB_SHORT_LIVED": "1"}  # so bmlab imports Numba only once that pays
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
    bmlab.mean_field(model.at(9.0)), bmlab.bethe(model.at(9.0))
bmlab.temper(bmlab.medium(), rng=0, n_ladders=20, n_sweeps=100)
matplotlib.pyplot.figure().canvas.draw()
"""


class Limits(NamedTuple):
    """Limits of a notebook: processor seconds, of which a cell gets a fifth, and memory.

    warm    a folder of caches that warm_home made
    wall    seconds by the clock, for processes that sleep; far more than a busy machine needs
    grouped whether the system counts the memory of each process with all that it started (see memory.py)
    """

    seconds: float = 300
    gigabytes: float = 4
    trust: bool = False
    warm: str = ""
    wall: float = 1800
    grouped: bool = False

    @property
    def cell(self) -> float:
        """Processor seconds of a cell."""
        return self.seconds / 5


class Ended(Exception):
    """A process that answers no more, and why."""


@cache
def has_bubblewrap() -> bool:
    """Whether bubblewrap is there, and the system lets it make namespaces."""
    if not shutil.which("bwrap"):
        return False
    with filtered() as (more, files):
        command = [*bubblewrap(*more), sys.executable, "-P", "/cells.py", "1", "1", *own_user()]
        own = {"env": environment(HOME) | {"PATH": os.environ["PATH"]}, "stdin": subprocess.DEVNULL}
        done = subprocess.run(command, check=False, capture_output=True, pass_fds=files, **own)
    return not done.returncode


def with_memory_held(limits: Limits) -> tuple[Limits, str]:
    """Return limits with the wall around memory that this machine has, and its name; ValueError if there is none."""
    held = f"{limits.gigabytes:g} GB of memory for each submission, "
    with filtered() as (more, files):
        if holds([*group(MANY // 2), *bubblewrap(*more)], MAPPED, files):
            return limits._replace(grouped=True), held + "counted by the system for all its processes (a cgroup)"
    with filtered() as (more, files):
        if not holds(bubblewrap(*more), UNMAPPED, files):
            raise ValueError(NO_WALL.format(platform.machine()))
    return limits, held + "by limits of its processes and a filter of system calls"


def bubblewrap(*more: str) -> list[str]:
    """Return the command that walls in the command after it; `more` are further mounts."""
    python = [sys.prefix, sys.base_prefix, str(BMLAB), os.path.realpath(sys.executable)]
    shown = [place for place in dict.fromkeys(python) if place != "/usr"] + ["/usr/lib", "/usr/lib64", "/lib", "/lib64"]
    command = ["bwrap", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    command += [f"--unshare-{namespace}" for namespace in NAMESPACES] + ["--unsetenv", BUS]
    if os.geteuid():
        command += ["--unshare-user"]
    else:  # cells.py gives these up, with root, before it answers anything
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_CHOWN"]
    command += ["--hostname", "student", "--proc", "/proc", "--dev", "/dev"]
    for place, megabytes in SCRATCH.items():
        command += ["--size", str(megabytes * 2**20), "--tmpfs", place]
    for place in shown:
        command += ["--dir", str(Path(place).parent), "--ro-bind-try", place, place]
    if CELLS.parent.is_relative_to(sys.prefix):
        command += ["--tmpfs", str(CELLS.parent)]
    command += ["--ro-bind", str(CELLS), "/cells.py", *more]
    return [*command, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/course"]  # both would be memory


def own_user() -> list[str]:
    """Return the user that cells.py becomes, which runs nothing else (0: it stays the same), and its limit of tasks."""
    return [str(0 if os.geteuid() else random.randrange(2**30, 2**31)), str(TASKS)]


def environment(home: str) -> dict[str, str]:
    """Return the variables that a submission sees: none of the teacher's own."""
    own = {"HOME": home, "USER": "student", "LANG": "C.UTF-8", "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"}
    own |= {"NUMBA_CACHE_DIR": f"{home}/numba", "MPLCONFIGDIR": f"{home}/matplotlib"}
    return THREADS | own | {"PYTHONPATH": str(BMLAB.parent)}


def files_in(folder: str) -> list[Path]:
    """The files in a folder and those below it; none for ""."""
    return sorted(file for file in Path(folder).rglob("*") if file.is_file()) if folder else []


def warm_home(folder: Path, trust: bool) -> None:
    """Fill a folder with the content of a home: compiled loops and a list of fonts."""
    folder.mkdir(parents=True)
    wrap, home = ([], str(folder)) if trust else (bubblewrap("--bind", str(folder), HOME), HOME)
    command = [*wrap, sys.executable, "-P", "-c", WARM_UP]
    path = {"PATH": os.environ.get("PATH", "")}
    subprocess.run(command, env=environment(home) | path, check=False, capture_output=True, cwd=folder)


class Sandbox:
    """cells.py in the sandbox.

    share   the part of the seconds and of the wall that one answer may take, if nothing inside ends it
    until   when it ends by the clock
    beside  a folder of files that stand beside the notebook, to be read only; "" for none
    spent   processor seconds that were used before, of those in `limits`
    """

    def __init__(self, tables: Iterable[str], limits: Limits, *, share=1.0, until=inf, spent=0.0, beside=""):
        self.limits, self.share = limits, share
        self.until, self.spent = until, spent
        self.ended, self.deciding = "", threading.Lock()  # held while a request begins or ends
        self.begun = spent, monotonic()  # processor time and clock at the last request
        self.working = False  # whether a request waits for its answer
        stack = ExitStack()
        self.work = tempfile.TemporaryDirectory(prefix="bm", ignore_cleanup_errors=True) if limits.trust else None
        if self.work:
            home = self.work.name
            shutil.copytree(limits.warm or home, home, dirs_exist_ok=True)
            if beside:
                shutil.copytree(beside, home, dirs_exist_ok=True)
            for table in tables:
                (Path(home) / "tables").mkdir(exist_ok=True)
                shutil.copy(table, Path(home) / "tables")
            wrap, script, user, files = [], str(CELLS), [], ()
        else:
            home, script, user = HOME, "/cells.py", own_user()
            mounts = ["--ro-bind", limits.warm, "/warm"] if limits.warm else []
            mounts += ["--perms", "0755", "--dir", "/course/tables"]  # or only root could look into it
            for table in tables:
                mounts += ["--ro-bind", table, f"/course/tables/{Path(table).name}"]
            inside = [(file, file.relative_to(beside)) for file in files_in(beside)]
            for folder in sorted({folder for _, name in inside for folder in name.parents} - {Path()}):
                mounts += ["--perms", "0755", "--dir", f"/course/{folder}"]
            for file, name in inside:
                mounts += ["--ro-bind", str(file), f"/course/{name}"]
            more, files = stack.enter_context(filtered())
            wrap = [*(group(int(1024 * limits.gigabytes)) if limits.grouped else ()), *bubblewrap(*more, *mounts)]
        self.process = subprocess.Popen(
            [*wrap, sys.executable, "-P", script, f"{limits.cell:g}", f"{limits.wall / 5:g}", *user],
            cwd=home if self.work else "/",
            env=environment(home) | SHORT_LIVED | {name: os.environ.get(name, "") for name in ("PATH", BUS)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=files,
        )
        stack.close()
        self.handle = handle_of(self.process.pid)
        threading.Thread(target=self.watch, daemon=True).start()

    def request(self, **request: Any) -> dict:
        """Send a request and return the answer; raises Ended if no valid one comes."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin and stdout
        with self.deciding:
            line, self.begun, self.working = b"", (self.spent, monotonic()), True
        try:
            stdin.write(json.dumps(request).encode() + b"\n")
            stdin.flush()
            line = stdout.readline(LINE)
            answer = json.loads(line)
            with self.deciding:
                self.working = False
                if isinstance(answer, dict) and not self.ended:  # this request ended it, not the next
                    return answer
        except (OSError, ValueError, RecursionError):
            self.ended = self.ended or f"an answer is larger than {LINE // 2**20} MB" * (len(line) == LINE)
        raise Ended(self.ended or "its process ended, or its answer fits no request")

    def watch(self) -> None:
        """End the process if it exceeds its limits."""
        before, awake = self.spent, (self.spent, monotonic())
        while self.process.poll() is None:
            begun, started, memory, seconds = self.begun, with_descendants(self.handle), 0, before
            for one in started:
                with suppress(psutil.Error):
                    memory += one.memory_info().rss
                    seconds += sum(one.cpu_times()[:4])  # its own, and those of the processes it waited for
            memory += in_folders(started[1], SCRATCH) if started[1:] and not self.work else 0
            self.spent = max(self.spent, seconds)
            (spent, when), now = self.begun, monotonic()
            busy = min(self.limits.seconds, spent + self.share * self.limits.seconds)
            until = min(self.until, when + self.share * self.limits.wall)
            with self.deciding:
                if not self.working or self.spent > awake[0] + IDLE / 1000:
                    awake = self.spent, now
                for much, words in (
                    (self.spent > busy, f"stopped after {self.spent - spent:.0f} processor seconds"),
                    (now > awake[1] + IDLE, f"stopped after {IDLE} seconds in which it did nothing: does it wait?"),
                    (now > until, f"stopped after {now - when:.0f} seconds in which it did little"),
                    (
                        len(started) > PROCESSES and self.begun is begun,
                        f"stopped, as it started {len(started)} processes",
                    ),
                    (memory > self.limits.gigabytes * 2**30, f"stopped, as its processes took {memory / 2**30:.1f} GB"),
                ):
                    if much and not self.ended:
                        self.ended = f"it was {words}"
            if self.ended:
                return end(self.handle)
            sleep(LOOK)

    def close(self) -> None:
        """Kill it with all that it started; bubblewrap's namespace dies with its first process."""
        end(self.handle)
        self.process.wait()
        for pipe in filter(None, (self.process.stdin, self.process.stdout)):
            with suppress(OSError):
                pipe.close()
        if self.work:
            self.work.cleanup()
