"""Files that hold no code: .npz, written beside their place and put there whole, read with distrust."""

import os
import time
from contextlib import suppress
from glob import escape
from io import BytesIO
from pathlib import Path
from stat import S_IMODE
from typing import Any

import numpy as np

from .budgets import memory_to_spend, size_in_words
from .checks import in_words

NEW = ".new"  # ends the name of a file that is being written
STALE = 60  # seconds without a byte after which nobody writes it any more


def check_path(name: str, path: Any) -> Path:
    """Return the path of a file; raise ValueError for what is none."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path) or Path(path).is_dir():
        raise ValueError(f"{name} must be the name of a file, found {in_words(path)}; try {name}='machine.npz'")
    return Path(path)


def check_folder(folder: Any) -> Path:
    """Return the path of a folder; raise ValueError for what is none."""
    if not isinstance(folder, (str, os.PathLike)) or not os.fspath(folder) or not Path(folder).is_dir():
        raise ValueError(f"folder must be the name of a folder, found {in_words(folder)}; try folder='mnist'")
    return Path(folder)


def write_arrays(path: Path, arrays: dict[str, Any]) -> None:
    """Write an .npz wholly or not at all: the old file stays until the new is whole.

    A symbolic link stays one, and the file its mode; into a pipe or a device the bytes are written as they come.  What
    a process that was killed has left beside the file is removed after a minute, by the next that writes it.
    Raises OSError where the disk is full, or the folder missing.
    """
    body = BytesIO()
    np.savez(body, **arrays)
    try:
        place = path.resolve()
        if place.exists() and not place.is_file():
            place.write_bytes(body.getbuffer())
            return
        _replace(place, body.getbuffer())
    except OSError as error:
        reason = error.strerror or str(error)
        raise type(error)(f"{path} cannot be written ({reason}); give another path, or make room") from None


def _replace(path, content):
    """Put a new file beside its place, and then there."""
    for old in path.parent.glob(f"{escape(path.name)}.*{NEW}"):
        with suppress(OSError):  # another process may have been quicker
            if old.stat().st_mtime < time.time() - STALE:
                old.unlink()
    new = path.with_name(f"{path.name}.{os.getpid()}.{time.monotonic_ns()}{NEW}")
    try:
        with open(new, "wb") as file:
            if path.exists():
                new.chmod(S_IMODE(path.stat().st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    finally:
        with suppress(OSError):
            new.unlink()


def read_arrays(path: Path, what: str, again: str) -> dict[str, np.ndarray]:
    """Return the arrays of an .npz; raise ValueError where it is torn, something else, or too large to unpack.

    Raises FileNotFoundError, or another OSError, where it cannot be opened.
    """
    packed = _read(path, what)
    try:
        with np.load(BytesIO(packed), allow_pickle=False) as file:
            size = sum(part.file_size for part in file.zip.infolist())
            if size > memory_to_spend():
                raise ValueError(f"it unpacks to {size_in_words(size)}")
            return {name: _array(file[name]) for name in file.files}
    except Exception as error:  # whatever a reader says of bytes that save() did not write
        raise ValueError(f"{path} holds no whole {what} ({str(error) or 'it ends too early'}); {again}") from None


def read_text(path: Path, what: str) -> str:
    """Return a text of UTF-8; raise ValueError for other bytes, and as read_arrays()."""
    try:
        return _read(path, what).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is no text ({error.reason} at byte {error.start}); save the {what} as UTF-8"
        ) from None


def _read(path, what):
    try:
        return path.read_bytes()
    except OSError as error:
        raise type(error)(f"{path} cannot be read ({error.strerror}); check the path of the {what}") from None


def _array(part):
    if not isinstance(part, np.ndarray):
        raise ValueError("a part of it is no array")
    return part
