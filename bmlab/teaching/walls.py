"""What stands between a submission and this machine: bubblewrap, else a container engine, else nothing is run.

bubblewrap makes namespaces of its own (users, processes, network, everything), without rights, over a file system that
holds Python with its packages and the tables, read-only, three small folders in memory, and the sockets of the kernel.
In a container the runner lives beside its kernel, and what comes out are the lines that it prints.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
HOME = "/home/student"
SCRATCH = {"/tmp": 200, HOME: 200, "/course": 50, "/dev/shm": 100}  # folders in memory, and their size in MB
PROCESSES = 64  # the most that a notebook may start
ENGINES, IMAGE = ("podman", "docker"), "bmlab-grading"
INSTALL = "apt install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), pacman -S bubblewrap (Arch)"
BUILD = f"{{}} build --tag {IMAGE} --file docs/Containerfile ."
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM")}
WORDS = {
    "nothing": "nothing: submissions run as you, and may read, change and send whatever you may (--trust)",
    "bubblewrap": "bubblewrap: own processes, no network, of your files Python alone, read-only",
    "podman": "a container of podman: own processes, no network, none of your files but this package, read-only",
    "docker": "a container of docker: own processes, no network, none of your files but this package, read-only",
}


def wall(trust: bool = False) -> str:
    """Return which wall there is, a key of WORDS; ValueError where there is none, and nobody trusts the submissions."""
    if trust:
        return "nothing"
    if has_bubblewrap():
        return "bubblewrap"
    engine = engine_here()
    if engine and has_image(engine):
        return engine
    build = f"build the image of {engine} that is here: {BUILD.format(engine)}; or " if engine else ""
    raise ValueError(
        f"nothing here walls submissions in, so none was run; {build}install bubblewrap: {INSTALL}. "
        "If you have read every submission, --trust runs them as you"
    )


@cache
def has_bubblewrap() -> bool:
    """Whether bubblewrap is there, and the system lets it make namespaces."""
    return bool(shutil.which("bwrap")) and works(*bubblewrap(), sys.executable, "-c", "")


@cache
def engine_here() -> str:
    """The first container engine that answers, or ""."""
    return next((engine for engine in ENGINES if shutil.which(engine) and works(engine, "info")), "")


@cache
def has_image(engine: str) -> bool:
    """Whether the engine has the image that docs/Containerfile describes."""
    return works(engine, "image", "inspect", IMAGE)


def works(*command: str) -> bool:
    """Whether a command ends well."""
    return not subprocess.run(command, check=False, capture_output=True).returncode


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


def container(engine: str, folder: Path, seconds: float, gigabytes: float) -> list[str]:
    """Return the command that runs runner.py in a container called as `folder` is; it ends after `seconds`."""
    memory = f"{int(gigabytes * 1024)}m"
    command = [engine, "run", "--rm", "--interactive", "--name", folder.name, "--hostname", "student"]
    command += ["--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    command += ["--user", "1000:1000", "--pids-limit", str(PROCESSES), "--memory", memory, "--memory-swap", memory]
    for place, megabytes in SCRATCH.items():
        command += ["--tmpfs", f"{place}:rw,size={megabytes}m,mode=1777"]
    for source, target in ((PACKAGE, "/bmlab/bmlab"), (folder / "jupyter", "/jupyter"), (folder / "tables", "/tables")):
        command += ["--volume", f"{source}:{target}:ro"]
    for name, value in (environment(HOME, Path("/jupyter"), Path("/bmlab")) | {"JUPYTER_RUNTIME_DIR": "/tmp"}).items():
        command += ["--env", f"{name}={value}"]
    stop = ["timeout", "--signal=KILL", str(int(seconds) + 1)]
    return [*command, "--workdir", "/course", IMAGE, *stop, "python", "-P", "/bmlab/bmlab/teaching/runner.py"]


def environment(home: str, jupyter: Path, course: Path = PACKAGE.parent) -> dict[str, str]:
    """Return the variables that a submission sees: none of the teacher's own."""
    folders = {f"JUPYTER_{kind}_DIR": str(jupyter) for kind in ("DATA", "CONFIG", "RUNTIME")}
    own = {"HOME": home, "USER": "student", "NUMBA_CACHE_DIR": f"{home}/numba", "MPLCONFIGDIR": f"{home}/matplotlib"}
    own |= {"PYTHONPATH": str(course), "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"}
    return ONE_THREAD | folders | own
