"""The wall around memory, where it needs no bubblewrap: its filter as the kernel reads it, its counts, its trial."""

import errno
import os
import shutil
import struct
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from bmlab_teaching import memory
from bmlab_teaching.sandbox import NAMESPACES, has_bubblewrap

ALLOWED, KILLED = 0x7FFF0000, 0x80000000  # SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS
FLAGS = {"CLONE_THREAD and all that a thread has": 0x3D0F00, "CLONE_NEWUSER": 0x10000000}
READ = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 63)}  # the processor's mark, the number of read()


def answered(program, *, processor, call, first=0):
    """Run a program of classic BPF on what the kernel tells of a call: its number, the processor, its arguments."""
    told = struct.pack("=IIQ6Q", call, processor, 0, first, *range(5))
    steps, place, held = [*struct.iter_unpack("=HBBI", program)], 0, 0
    while True:
        code, then, otherwise, value = steps[place]
        place += 1
        if code == 0x06:  # return
            return value
        if code == 0x20:  # load
            (held,) = struct.unpack_from("=I", told, value)
            continue
        met = {0x15: held == value, 0x35: held >= value, 0x45: held & value}[code]
        place += then if met else otherwise


@pytest.mark.parametrize("machine", memory.NUMBERS)
def test_the_filter_refuses_what_makes_memory_that_nobody_sees_and_nothing_else(machine):
    program, (processor, read) = memory.seccomp_filter(machine), READ[machine]
    mark, numbers = memory.NUMBERS[machine]
    assert mark == processor and len({*numbers}) == len(memory.CALLS) == len(numbers)
    for name, number in zip(memory.CALLS, numbers, strict=True):
        refused = 0x00050000 | (errno.ENOSYS if name == "clone3" else errno.EPERM)
        if name not in ("clone", "unshare"):
            assert answered(program, processor=processor, call=number) == refused, name
            continue
        for what, flags in FLAGS.items():
            for more in (0, 0x11):
                found = answered(program, processor=processor, call=number, first=flags | more)
                assert found == (refused if what == "CLONE_NEWUSER" else ALLOWED), (name, what)
    others = {read, *range(1000)} - {*numbers}
    assert {answered(program, processor=processor, call=number) for number in others} == {ALLOWED}
    in_32_bits = {answered(program, processor=processor, call=0x40000000 + number) for number in (0, read, *numbers)}
    assert in_32_bits == {0x00050000 | errno.ENOSYS}
    assert answered(program, processor=0x40000003, call=read) == KILLED  # another processor's calls: i386
    assert memory.seccomp_filter("riscv64") == b""


def test_folders_in_memory_are_counted_if_they_are_of_the_sandbox(monkeypatch):
    """Of two folders of 3 MB one is the system's own, of another size: its content is nobody's."""
    sizes, asked = {"/tmp": 3 * 2**20, "/dev/shm": 5 * 2**20}, []

    def about(place):
        asked.append(place)
        size = next(size for end, size in sizes.items() if place.endswith(end))
        return SimpleNamespace(f_blocks=size // 512, f_frsize=512, f_bfree=size // 512 - 7, f_files=100, f_ffree=90)

    monkeypatch.setattr(memory.os, "statvfs", about)
    process: Any = SimpleNamespace(pid=17)
    assert memory.in_folders(process, {"/tmp": 3, "/dev/shm": 3}) == 7 * 512 + 10 * 1024
    assert asked == [f"/proc/{process.pid}/root{place}" for place in sizes]  # as that process sees them
    monkeypatch.undo()
    process.pid = 2**22 + 1  # it is over
    assert memory.in_folders(process, {"/tmp": 3}) == 0


def test_where_bubblewrap_makes_namespaces_there_is_a_sandbox():
    """Else a broken sandbox would look like a machine without one, and its tests would be left out."""
    plain = ["bwrap", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    plain += [f"--unshare-{namespace}" for namespace in (*NAMESPACES, "user")] + ["true"]
    made = shutil.which("bwrap") and not subprocess.run(plain, check=False, capture_output=True).returncode
    assert has_bubblewrap() or not made


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="memory without a name is Linux's")
def test_a_trial_of_a_wall_tells_one_that_holds_from_one_that_does_not():
    """A limit of the address space stands for a cgroup."""
    wall = ("prlimit", f"--as={48 * 2**20}", "--")
    assert not memory.holds((), memory.MAPPED) and not memory.holds(("/nowhere",), memory.MAPPED)
    assert memory.holds(wall, memory.MAPPED)


@pytest.mark.parametrize("user", [0, 1000])
def test_the_group_of_who_is_not_root_is_asked_of_their_own_system(monkeypatch, user):
    monkeypatch.setattr(memory.os, "geteuid", lambda: user)
    assert ("--user" in memory.group(100)) == bool(user)
