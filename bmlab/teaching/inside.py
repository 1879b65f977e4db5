"""What runs in the sandbox. Started by sandbox.py as a plain script: nothing of the package is loaded here.

Two processes, both without rights. The *runner* gives away its rights, starts the kernel, executes the notebook cell
by cell and writes each cell's outputs to a pipe that the kernel cannot reach. The *kernel* holds the student's code.
Walls, each where the system offers it:
    limits       memory, processor time, size of a file (resource; every Unix)
    Landlock     the kernel of Linux (5.13 or newer) refuses all other files, TCP (6.7) and signals to others (6.12)
    audit hook   Python refuses the same, and to start programs: stops accidents everywhere, but not an attack
"""

import ctypes
import json
import os
import resource
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).resolve()
SYSTEM = ["/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc", "/proc", "/sys", "/System", "/Library"]
DEVICES = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"]
MEGABYTE, LONGEST = 2**20, 10_000
READ, LIST, WRITE_DEVICE = 0b1101, 0b1000, 0b0110  # execute, write, read, list: the lowest bits of Landlock
CHANGES = {
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "os.truncate",
    "os.link",
    "os.symlink",
    "os.chmod",
    "os.chown",
    "shutil.rmtree",
    "shutil.move",
}
PROGRAMS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "pty.spawn"}
CALLS = {"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"}
TOO_LONG = "stopped after {:g} seconds: is there an endless loop?"


def readable():
    """Folders that may be read: Python, its packages, this package, the system."""
    return [Path(place) for place in (sys.prefix, sys.base_prefix, HERE.parents[1], *SYSTEM)]


def set_limits(seconds, gigabytes):
    """Limit this process and its children: memory, processor time, files."""
    for limit, value in (
        (resource.RLIMIT_AS, int(gigabytes * 2**30)),
        (resource.RLIMIT_CPU, int(seconds) + 1),
        (resource.RLIMIT_FSIZE, 100 * MEGABYTE),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with suppress(OSError, ValueError):  # macOS does not limit a process's memory
            resource.setrlimit(limit, (value, value))


# Landlock, after the kernel's documentation (userspace-api/landlock)


def landlock():
    """The version of Landlock; 0 or less where there is none."""
    return ctypes.CDLL(None).syscall(444, None, 0, 1) if sys.platform == "linux" else 0


def lock_in(folder):
    """Let the kernel refuse every file but those of `folder` (all rights) and the readable ones."""
    call, version = ctypes.CDLL(None).syscall, landlock()
    if version < 1:
        return
    files = 2 ** min(12 + version, 15) - 1
    rules = (ctypes.c_uint64 * 3)(files, 0b11 * (version >= 4), 0b11 * (version >= 6))
    ruleset = call(444, rules, 8 if version < 4 else 16 if version < 6 else 24, 0)
    allowed = [(place, READ) for place in readable()] + [(HERE.parents[2], LIST), (folder, files)]
    for place, rights in allowed + [(Path(device), WRITE_DEVICE) for device in DEVICES]:
        if place.exists():
            allow(call, ruleset, place, rights)
    ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # no new privileges
    if call(446, ruleset, 0):
        raise OSError("Landlock is there but refuses to work; nothing is run without it")


def allow(call, ruleset, place, rights):
    """Add one rule: a path and everything under it."""
    handle = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    rule = rights.to_bytes(8, sys.byteorder) + handle.to_bytes(4, sys.byteorder)
    call(445, ruleset, 1, rule, 0)
    os.close(handle)


# The audit hook of the kernel process


def under(path, folders):
    """Whether a path, links followed, lies in one of the folders; a number is an open file."""
    return isinstance(path, int) or (os.path.realpath(os.fsdecode(path)) + "/").startswith(folders)


def guard(folder):
    """Refuse, in this process: files outside, other programs, the network, signals to other processes."""
    mine = tuple(f"{place}/" for place in (folder, *DEVICES))
    may_read = mine + tuple(f"{place.resolve()}/" for place in readable())

    def refuse(event, args):
        if event == "open":
            writes = args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            allowed = args[0] is None or under(args[0], mine if writes else may_read)
        elif event in CHANGES:
            allowed = all(under(path, mine) for path in args if isinstance(path, str | bytes | os.PathLike))
        elif event in CALLS:
            allowed = args[0].family == socket.AF_UNIX
        elif event in ("os.kill", "os.killpg"):
            allowed = args[0] in (0, os.getpid(), os.getpgrp())
        else:
            allowed = event not in PROGRAMS and event != "socket.getaddrinfo"
        if not allowed:
            raise PermissionError(f"a notebook that is being graded may not do this: {event} {args[:1]!s:.80}")

    sys.addaudithook(refuse)


def kernel():
    """Be the kernel that holds the student's code."""
    from ipykernel.kernelapp import launch_new_instance

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # die with the runner
    guard(Path(os.environ["BMLAB_FOLDER"]))
    launch_new_instance()


# The runner


def short(output):
    """An output of bearable size; None if it is a picture or a page beyond any use."""
    if "text" in output:
        output["text"] = output["text"][:LONGEST]
    output.pop("metadata", None) if output["output_type"] in ("stream", "error") else None
    return output if len(json.dumps(output)) < 2 * MEGABYTE else None


def execute(notebook, seconds, folder, report):
    """Run every cell in order; a cell that fails or takes too long costs itself only."""
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError
    from traitlets.config import Config

    late = {"ename": "CellTimeoutError", "evalue": TOO_LONG.format(seconds), "traceback": [TOO_LONG.format(seconds)]}
    connection = {"transport": "ipc", "ip": str(folder / "k")}
    client = NotebookClient(
        notebook,
        kernel_name="student",
        timeout=seconds,
        allow_errors=True,
        interrupt_on_timeout=True,
        error_on_timeout=late,
        coalesce_streams=True,
        store_widget_state=False,
        record_timing=False,
        shutdown_kernel="immediate",
        config=Config(ConnectionFileMixin=connection),
        resources={"metadata": {"path": str(folder / "work")}},
    )
    client.on_cell_executed = lambda cell, execute_reply, **_: keep_error(cell, execute_reply["content"])
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            try:
                client.execute_cell(cell, index)
            except DeadKernelError:
                return report(index, [error("DeadKernelError", "this cell ended the process (memory?)")])
            report(index, [kept for output in cell.get("outputs", [])[:20] if (kept := short(output))])


def keep_error(cell, reply):
    """Store an error that the reply tells of and the outputs do not: a cell that was interrupted."""
    names = [output.get("ename") for output in cell.outputs]
    if reply["status"] == "error" and reply["ename"] not in names:
        cell.outputs.append(error(reply["ename"], reply["evalue"]))


def error(name, text):
    """An error as a notebook stores it."""
    import nbformat

    return nbformat.v4.new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"])


def runner():
    """Read the order from stdin, give rights away, execute, and write one line of JSON for each cell."""
    import nbformat

    order = json.load(sys.stdin)
    folder = Path(order["folder"])
    pipe = os.fdopen(os.dup(1), "w", buffering=1)  # a copy that no child inherits
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    set_limits(order["seconds"], order["gigabytes"])
    os.environ["BMLAB_FOLDER"] = str(folder)

    def report(index, outputs):
        print(json.dumps({"index": index, "outputs": outputs}), file=pipe)

    try:
        if order["landlock"]:
            lock_in(folder)
        execute(nbformat.from_dict(order["notebook"]), order["seconds"] / 5, folder, report)
    except Exception as problem:
        print(json.dumps({"complaint": f"{type(problem).__name__}: {problem}"}), file=pipe)


if __name__ == "__main__":
    kernel() if len(sys.argv) > 1 else runner()
