"""Files are written wholly or not at all, and a file that is read cannot harm."""

import errno
import os
import signal
import stat
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import bmlab
from bmlab.running import files

DATA = bmlab.states(3)


def test_a_full_disk_leaves_the_good_file(tmp_path, monkeypatch):
    path = tmp_path / "machine.npz"
    bmlab.toy().save(path)

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match=r"machine.npz cannot be written \(No space left on device\); give another path"):
        bmlab.medium().save(path)
    assert bmlab.load(path).n == 3 and list(tmp_path.iterdir()) == [path]


def save(path):
    bmlab.toy().save(path)


def checkpoint(path):
    bmlab.fit(bmlab.toy(), DATA, steps=2, rate=0.1, checkpoint=path)


every_writer = pytest.mark.parametrize("write", [save, checkpoint])


@every_writer
def test_a_link_and_the_permissions_of_a_file_stay(write, tmp_path):
    folder, link = tmp_path / "elsewhere", tmp_path / "link.npz"
    folder.mkdir()
    link.symlink_to(folder / "machine.npz")
    for mode in (None, 0o600, 0o640, 0o444):
        (folder / "machine.npz").unlink(missing_ok=True)
        if mode is not None:
            write(folder / "machine.npz")
            (folder / "machine.npz").chmod(mode)
            before = (folder / "machine.npz").stat().st_ino
        write(link)
        assert link.is_symlink() and list(folder.iterdir()) == [folder / "machine.npz"]
        if mode is not None:
            assert stat.S_IMODE((folder / "machine.npz").stat().st_mode) == mode
            assert write is checkpoint or (folder / "machine.npz").stat().st_ino != before


@pytest.mark.parametrize("use", [save, checkpoint, bmlab.load])
def test_what_is_no_regular_file_is_refused_and_stays(use, tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link, tmp_path):
        kind = stat.S_IFMT(os.stat(path).st_mode)
        with pytest.raises(ValueError, match=r"must be the name of a regular file, found .*; try"):
            use(path)
        assert stat.S_IFMT(os.stat(path).st_mode) == kind


@pytest.mark.parametrize("use", [save, checkpoint, bmlab.load])
def test_a_folder_that_is_gone_is_said_in_a_sentence(use, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    with pytest.raises(OSError, match=r"^machine\.npz cannot be (written|read) \(No such file or directory\); "):
        use("machine.npz")


KILLED = """
import os, signal, sys
import bmlab
from bmlab.running import files
files.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
bmlab.toy().save(sys.argv[1])
"""


def test_runs_that_were_killed_leave_one_file_at_most_and_the_next_none(tmp_path):
    path = tmp_path / "machine.npz"
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
        assert done.returncode == -signal.SIGKILL and len(list(tmp_path.iterdir())) <= 1
    save(path)
    assert list(tmp_path.iterdir()) == [path] and bmlab.load(path).n == 3


def test_no_file_grows_when_it_is_read(tmp_path):
    """An archive with more bytes in it than it has itself is refused, and parts that no machine has are not read."""
    path = tmp_path / "machine.npz"
    save(path)
    parts = dict(np.load(path))
    np.savez_compressed(path, **parts, more=np.zeros(2**20))
    with pytest.raises(ValueError, match=r"holds no whole machine \(its parts are larger than the file\)"):
        bmlab.load(path)
    np.savez(path, **parts, more=np.zeros(2**20))
    tracemalloc.start()
    assert bmlab.load(path).n == 3
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * path.stat().st_size  # the bytes of the file, and no array of them


def test_every_flipped_byte_gets_a_machine_or_one_sentence(tmp_path):
    path = tmp_path / "machine.npz"
    bmlab.ising(3).save(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        try:
            assert bmlab.load(path).n == 3
        except ValueError as error:
            assert "machine.npz holds no whole machine" in str(error)


def test_a_failed_write_gives_its_buffer_back(monkeypatch):
    """From Python 3.13 on a buffer that an error's traceback keeps complains when it is collected."""
    given = []

    def full(_, content):
        given.append(content)
        raise OSError

    monkeypatch.setattr(files, "write_bytes", full)
    with pytest.raises(OSError):
        files.write_arrays(Path("machine.npz"), {"biases": DATA})
    with pytest.raises(ValueError, match="released"):
        given[0].tobytes()


def test_under_a_small_address_space_what_is_too_large_is_a_sentence():
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux holds an address space to its limit")
    script = Path(__file__).with_name("starving.py")
    done = subprocess.run([sys.executable, script, "8"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
