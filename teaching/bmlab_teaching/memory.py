"""A wall around a submission's memory of every kind.

Memory that no process maps is in no process's size: a file of memfd_create, a detached segment of System V, a folder
in memory that was mounted in a new namespace of users, a set of semaphores, data in a socket. A cgroup counts all
of it, if systemd makes one (MemoryMax). Else each process has a limit of its address space, the watch of sandbox.py
sums processes and folders, and a filter of system calls (seccomp, a program of classic BPF) refuses calls that make
memory that neither sees.
Source: Linux, Documentation/userspace-api/seccomp_filter.rst; numbers of its syscall_64.tbl and asm-generic/unistd.h.
"""

import errno
import os
import platform
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import psutil

CALLS = (
    *("memfd_create", "memfd_secret", "shmget", "msgget", "semget", "socket", "socketpair", "io_uring_setup"),
    *("clone3", "unshare", "clone"),
)
NUMBERS = {  # of the processor, as the kernel calls it: its mark in a filter, and the numbers of CALLS
    "x86_64": (0xC000003E, (319, 447, 29, 68, 64, 41, 53, 425, 435, 272, 56)),
    "aarch64": (0xC00000B7, (279, 447, 194, 186, 190, 198, 199, 425, 435, 97, 220)),
}
NEW_USERS = 0x10000000  # CLONE_NEWUSER, in the first argument of unshare and clone
LOAD, EQUAL, AT_LEAST, ANY_OF, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # instructions of BPF
CALL, PROCESSOR, FIRST = 0, 4, 16  # offsets of the number of a call, the processor, the first argument
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
OTHER_TABLE = 0x40000000  # calls of x86_64 from here on are the same ones in 32 bits (x32)
MANY = 64  # MB that a trial takes, behind a wall of half as many
MAPPED, UNMAPPED = f"b'x' * {MANY} * 2**20", f"os.write(os.memfd_create('x'), bytes({MANY} * 2**20))"
NO_WALL = (
    "nothing on this machine holds the memory of a submission: systemd makes no group of processes here, and there is "
    "no filter of system calls for {}. Read every submission, then TRUST=1 (--trust) runs them as you"
)


def seccomp_filter(machine: str) -> bytes:
    """Return a program of BPF that refuses CALLS, of which clone and unshare only for new users; b"" if none is known.

    clone3 keeps its flags out of a filter's reach: the filter reports it as missing, and libraries go on with clone.
    """
    if machine not in NUMBERS:
        return b""
    mark, numbers = NUMBERS[machine]
    program = [(LOAD, 0, 0, PROCESSOR), (EQUAL, 1, 0, mark), (RETURN, 0, 0, KILL), (LOAD, 0, 0, CALL)]
    program += [(AT_LEAST, 0, 1, OTHER_TABLE), (RETURN, 0, 0, REFUSE | errno.ENOSYS)]
    for name, number in zip(CALLS, numbers, strict=True):
        if name in ("clone", "unshare"):
            program += [(EQUAL, 0, 4, number), (LOAD, 0, 0, FIRST), (ANY_OF, 0, 1, NEW_USERS)]
            program += [(RETURN, 0, 0, REFUSE | errno.EPERM), (RETURN, 0, 0, ALLOW)]
        else:
            code = errno.ENOSYS if name == "clone3" else errno.EPERM
            program += [(EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE | code)]
    return b"".join(struct.pack("=HBBI", *step) for step in [*program, (RETURN, 0, 0, ALLOW)])


@contextmanager
def filtered() -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
    """Yield the arguments by which bubblewrap loads the filter, and the file to hand on; nothing if none is known."""
    if not (program := seccomp_filter(platform.machine())):
        yield (), ()
        return
    end, begin = os.pipe()  # it holds far more than a filter has
    os.write(begin, program)
    os.close(begin)
    try:
        yield ("--seccomp", str(end)), (end,)
    finally:
        os.close(end)


def group(megabytes: int) -> tuple[str, ...]:
    """Return the command that runs the one after it in a cgroup of its own."""
    command = ("systemd-run", *(["--user"] if os.geteuid() else []), "--scope", "--quiet", "--collect")
    return (*command, "-p", f"MemoryMax={megabytes}M", "-p", "MemorySwapMax=0", "--")


def holds(command: Sequence[str], taking: str, files: Sequence[int] = ()) -> bool:
    """Whether a trial behind a command, which takes memory, begins and does not get it."""
    text = f"import os\nprint('begun', flush=True)\n{taking}\nprint('taken')"
    try:
        trial = [*command, sys.executable, "-P", "-c", text]
        done = subprocess.run(trial, check=False, capture_output=True, timeout=60, pass_fds=files)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return b"begun" in done.stdout and b"taken" not in done.stdout


def in_folders(process: psutil.Process, folders: Mapping[str, int]) -> int:
    """Return the bytes in folders in memory, {place: its size in MB}, as a process sees them: 1 KB more a file."""
    total = 0
    for place, megabytes in folders.items():
        with suppress(OSError):  # the process is over
            about = os.statvfs(f"/proc/{process.pid}/root{place}")
            if about.f_blocks * about.f_frsize == megabytes * 2**20:  # else it is the system's own, before the sandbox
                total += (about.f_blocks - about.f_bfree) * about.f_frsize + (about.f_files - about.f_ffree) * 1024
    return total
