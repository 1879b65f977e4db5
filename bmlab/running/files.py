"""Atomic writes, and reads that never unpickle: a file is written beside its place and put there whole.

Each type of a record says by itself whether a checkpoint may hold it, stored().
"""

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..checking.validation import describe

Kind = TypeVar("Kind", bound=type)

STORED: dict[str, tuple[Any, tuple[str, ...]]] = {}  # type of a record -> it, and which of its parts no file keeps


def stored(*, but: tuple[str, ...] = ()) -> Callable[[Kind], Kind]:
    """Return a decorator of a record: a checkpoint may hold it, its parts being arrays, numbers, words or records."""

    def declare(kind: Kind) -> Kind:
        STORED[kind.__name__] = kind, but
        return kind

    return declare


def check_path(name: str, path: Any) -> Path:
    """Return the path of a file, or of none yet; raise ValueError for a folder, a device or a pipe."""
    is_path = isinstance(path, (str, os.PathLike)) and os.fspath(path)
    if not is_path or (os.path.exists(path) and not os.path.isfile(path)):
        raise ValueError(f"{name} must be the name of a regular file, found {describe(path)}; try {name}='machine.npz'")
    return Path(path)


def write_arrays(path: Path, arrays: dict[str, Any]) -> None:
    """Write an .npz wholly or not at all, as write_bytes() does."""
    body = BytesIO()
    np.savez(body, **arrays)
    with body.getbuffer() as content:  # given back before an error's traceback keeps it
        write_bytes(path, content)


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """Write a file wholly or not at all: the old one stays until the new is whole, and leaves it its permissions.

    Symbolic links are kept.  The unfinished file of a run that was killed is overwritten.
    Raises OSError if the disk is full, the folder is missing, or another run writes the same file.
    """
    new = None
    try:
        target = Path(os.path.realpath(path))  # which fails in a folder that is gone
        new = target.with_name(f"{target.name}.new")
        new.unlink(missing_ok=True)
        with open(new, "xb") as file:
            if target.exists():
                new.chmod(stat.S_IMODE(target.stat().st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if not os.path.samestat(os.fstat(file.fileno()), new.stat()):
                raise OSError(errno.EBUSY, "another run writes it")
        os.replace(new, target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise type(error)(f"{path} cannot be written ({reason}); give another path, or make room") from None
    finally:
        if new:
            with suppress(OSError):
                new.unlink()


def read_arrays(path: Path, what: str, again: str, names: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """Return the arrays of an .npz, of these names or all; raise ValueError if it is torn or something else.

    Raises FileNotFoundError, or another OSError, if it cannot be opened.
    """
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise type(error)(f"{path} cannot be read ({error.strerror}); check the path of the {what}") from None
    try:
        with np.load(BytesIO(packed), allow_pickle=False) as file:
            if sum(part.file_size for part in file.zip.infolist()) > len(packed):
                raise ValueError("its parts are larger than the file")
            return {name: np.asarray(file[name]) for name in file.files if not names or name in names}
    except Exception as error:  # whatever a reader says of bytes that save() did not write
        raise ValueError(f"{path} holds no whole {what} ({str(error) or 'it ends too early'}); {again}") from None
