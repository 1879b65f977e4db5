"""Files are written wholly or not at all, and what is read cannot harm."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bmlab
from bmlab import files

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
