"""Files that hold no code: written beside their place and put there whole, read with distrust."""

import os
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from .checks import in_words


def check_path(name: str, path: Any) -> Path:
    """Return the path of a file; raise ValueError for what is none."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path) or Path(path).is_dir():
        raise ValueError(f"{name} must be the name of a file, found {in_words(path)}; try {name}='machine.npz'")
    return Path(path)


def write_arrays(path: Path, arrays: dict[str, Any]) -> None:
    """Write an .npz wholly or not at all, as write_bytes() does."""
    body = BytesIO()
    np.savez(body, **arrays)
    write_bytes(path, body.getbuffer())


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """Write a file wholly or not at all: the old one stays until the new is whole.

    Raises OSError where the disk is full, or the folder missing.
    """
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with open(new, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise type(error)(f"{path} cannot be written ({reason}); give another path, or make room") from None
    finally:
        with suppress(OSError):
            new.unlink()


def read_arrays(path: Path, what: str, again: str) -> dict[str, np.ndarray]:
    """Return the arrays of an .npz; raise ValueError where it is torn or something else.

    Raises FileNotFoundError, or another OSError, where it cannot be opened.
    """
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise type(error)(f"{path} cannot be read ({error.strerror}); check the path of the {what}") from None
    try:
        with np.load(BytesIO(packed), allow_pickle=False) as file:
            return {name: np.asarray(file[name]) for name in file.files}
    except Exception as error:  # whatever a reader says of bytes that save() did not write
        raise ValueError(f"{path} holds no whole {what} ({str(error) or 'it ends too early'}); {again}") from None
