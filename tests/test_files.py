"""Files are written wholly or not at all, and what is read cannot harm."""

import errno
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import bmlab
from bmlab import budgets, files

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


@pytest.mark.skipif(os.name == "nt", reason="links, modes and pipes as POSIX has them")
def test_what_stands_at_the_path_stays_what_it_is(tmp_path):
    real, link, pipe = tmp_path / "real.npz", tmp_path / "link.npz", tmp_path / "pipe.npz"
    bmlab.toy().save(real)
    real.chmod(0o600)
    link.symlink_to(real)
    bmlab.medium().save(link)
    assert link.is_symlink() and bmlab.load(real).n == 10 and real.stat().st_mode & 0o777 == 0o600
    link.unlink()
    link.symlink_to(tmp_path / "not yet.npz")
    bmlab.toy().save(link)
    assert link.is_symlink() and bmlab.load(tmp_path / "not yet.npz").n == 3
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as reader:
        read = reader.submit(pipe.read_bytes)
        bmlab.toy().save(pipe)
        real.write_bytes(read.result(timeout=60))
    assert pipe.is_fifo() and bmlab.load(real).n == 3
    bmlab.toy().save("/dev/null")
    assert Path("/dev/null").is_char_device()


def test_what_a_killed_process_has_left_is_removed(tmp_path):
    path, beside = tmp_path / "machine[1].npz", tmp_path / "other.npz.12.34.new"
    left, written = (tmp_path / f"{path.name}.{pid}.34.new" for pid in (12, 13))
    for file in (left, written, beside):
        file.write_bytes(b"torn")
    for file in (left, beside):
        os.utime(file, (time.time() - 3600, time.time() - 3600))
    bmlab.toy().save(path)
    assert sorted(tmp_path.iterdir()) == sorted([path, written, beside])


@pytest.mark.parametrize("indptr", [[0, -(10**8), 2, 4], [0, 3, 1, 4], [0, 2, 3, 10**8], [0.0, 1.5, 3, 4]])
def test_pointers_of_a_crafted_file_never_reach_compiled_code(tmp_path, indptr):
    path = tmp_path / "machine.npz"
    parts = {"data": np.ones(4), "indices": [1, 0, 2, 1], "biases": np.zeros(3), "temperature": 1.0, "offset": 0.0}
    np.savez(path, indptr=indptr, **parts)
    with pytest.raises(ValueError, match=r"holds no whole machine .*write it again"):
        bmlab.load(path)


def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "machine.npz"
    np.savez_compressed(path, weights=np.zeros((1000, 1000)), biases=np.zeros(1000), temperature=1.0, offset=0.0)
    assert path.stat().st_size < 20_000 and bmlab.load(path).n == 1000
    monkeypatch.setattr(files, "memory_to_spend", lambda: 2.0**20)
    with pytest.raises(ValueError, match=r"it unpacks to 7\.64 MiB"):
        bmlab.load(path)


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


def test_under_a_small_address_space_what_is_too_large_is_a_sentence():
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux holds an address space to its limit")
    script = Path(__file__).with_name("starving.py")
    done = subprocess.run([sys.executable, script, "8"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_memory_to_spend_is_at_most_half_of_the_address_space(monkeypatch):
    resource = pytest.importorskip("resource")
    before = budgets.memory_to_spend()
    monkeypatch.setattr(budgets.resource, "getrlimit", lambda kind: (2**30, resource.RLIM_INFINITY))
    monkeypatch.setattr(budgets, "_mapped", lambda: 2.0**29)
    assert budgets.memory_to_spend() == 2.0**28
    monkeypatch.setattr(budgets, "_mapped", lambda: 0.0)
    assert budgets.memory_to_spend() == 2.0**29 < before
    with pytest.raises(
        ValueError, match=r"states\(\) would list 2\^26 states, .* where 0.5 GiB are to spend; use exact"
    ):
        bmlab.states(26)
