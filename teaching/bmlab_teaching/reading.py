"""A student's files as they came, in folders and in zips; run in a process with limits of its own.

Zips are read in memory and never unpacked, so no path in them leads anywhere. Their content is counted over all of a
delivery.
"""

import io
import json
import re
import time
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from .deliveries import SKIPPED, as_text, name_in_zip, without_copy

MAX_FILE_BYTES, MAX_DELIVERY_BYTES = 30 * 2**20, 200 * 2**20  # bytes of a file, and of a delivery
MAX_PARTS, MAX_ZIP_DEPTH = 2000, 2  # files of a delivery, and cells of a notebook; zips in zips
PACKED = re.compile(r"\.(tar|t?gz|tbz|bz2|xz|7z|rar|zst)$", re.IGNORECASE)
NOTEBOOK = re.compile(r"\.(ipynb|json)\b|\.ipynb", re.IGNORECASE)


TOO_LARGE = f"it is larger than {MAX_FILE_BYTES // 2**20} MB, so it is not read; clear the outputs of a notebook"


class File(NamedTuple):
    """A file that came back: its name, its bytes (or the reason that there are none), and its order among copies.

    folders    those that it lay in, from the outermost
    """

    name: str
    data: bytes
    problem: str
    order: tuple
    folders: tuple[str, ...] = ()


class Cell(NamedTuple):
    """The kept part of a returned cell."""

    kind: str
    source: str
    name: str  # its grade_id, or ""


class TooMuch(Exception):
    """A delivery holds more than anybody's work."""


class Reader:
    """Reads the files of one delivery, and counts."""

    size = files = 0

    def count(self, size: int) -> None:
        """Count a file, or a part of one."""
        self.size += size
        self.files += 1
        if self.size > MAX_DELIVERY_BYTES or self.files > MAX_PARTS:
            raise TooMuch(
                f"it holds more than {MAX_DELIVERY_BYTES // 2**20} MB or {MAX_PARTS} files; "
                "what came after was not read"
            )

    def files_of(self, sources: Iterable[tuple[str, str, str, list[str]]]) -> Iterator[File]:
        """Yield all files of a sender's sources (deliveries.Sender)."""
        for order, _, container, members in sources:
            if members:
                with zipfile.ZipFile(container) as archive:
                    for member in members:
                        yield from self.member(archive, archive.getinfo(member), order, 0)
                continue
            path = Path(container)
            for one in [path] if path.is_symlink() or not path.is_dir() else sorted(path.rglob("*")):
                hidden = any(map(SKIPPED.match, one.relative_to(path).parts))
                if hidden or (one.is_dir() and not one.is_symlink()):
                    continue
                about = one.lstat()
                when = (order, tuple(time.localtime(about.st_mtime)[:6]), without_copy(one.stem)[1], str(one))
                if one.is_symlink() or not one.is_file():
                    yield File(as_text(one.name), b"", "it is a link, or no file", when)
                    continue
                self.count(about.st_size)
                folders = tuple(map(as_text, one.relative_to(path).parts[:-1]))
                yield from self.opened(as_text(one.name), one.read_bytes(), when, 0, folders)

    def member(self, archive: zipfile.ZipFile, about: zipfile.ZipInfo, order: str, depth: int) -> Iterator[File]:
        """Yield a file in a zip, as it is or looked into."""
        parts = [part for part in re.split(r"[/\\]", name_in_zip(about)) if part not in ("", ".", "..")] or ["nameless"]
        if about.is_dir() or any(map(SKIPPED.match, parts)):
            return
        when = (order, about.date_time, without_copy(PurePosixPath(parts[-1]).stem)[1], about.filename)
        data = bytearray()
        try:
            with archive.open(about) as stream:
                self.count(0)
                while part := stream.read(2**20):
                    self.size += len(part)
                    self.files -= 1
                    self.count(0)
                    data += part if len(data) <= MAX_FILE_BYTES else b""
        except TooMuch:
            raise
        except Exception as problem:  # passwords, unknown methods of compression, damage
            yield File(parts[-1], b"", f"it cannot be read out of its zip ({problem})"[:300], when)
            return
        yield from self.opened(parts[-1], bytes(data), when, depth, tuple(parts[:-1]))

    def opened(self, name: str, data: bytes, when: tuple, depth: int, folders: tuple[str, ...]) -> Iterator[File]:
        """Yield a file as it is, or its members if it is a zip (but not an office document, which is a zip, too)."""
        if PACKED.search(name):
            yield File(name, b"", "it is packed in a way that is not read; a zip is, and the notebook itself", when)
        elif PurePosixPath(name).suffix.lower() not in ("", ".zip") or not zipfile.is_zipfile(io.BytesIO(data)):
            large = len(data) > MAX_FILE_BYTES
            yield File(name, b"" if large else data, TOO_LARGE * large, when, folders)
        elif depth == MAX_ZIP_DEPTH:
            yield File(name, b"", "it is a zip in a zip in a zip", when)
        else:
            try:
                archive = zipfile.ZipFile(io.BytesIO(data))
            except Exception as problem:  # as above
                yield File(name, b"", f"it cannot be read as a zip ({problem})"[:300], when)
                return
            for about in archive.infolist():
                yield from self.member(archive, about, when[0], depth + 1)


def is_notebook(file: File) -> bool:
    """Whether a file means to be a notebook."""
    return bool(NOTEBOOK.search(file.name)) or file.data.lstrip(b"\xef\xbb\xbf \n").startswith(b'{"cells"')


def read_cells(data: bytes) -> list[Cell]:
    """Return the cells of a notebook, were it damaged elsewhere; ValueError if there are none."""
    try:
        encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        notebook = json.loads(data.decode(encoding, errors="replace"))
        sheets = [notebook] if "cells" in notebook else notebook["worksheets"]  # these had format 3, before 2015
        cells = [cell_of(cell) for sheet in sheets for cell in sheet["cells"]]
    except (ArithmeticError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise ValueError("it cannot be read as a notebook") from problem
    if len(cells) > MAX_PARTS or sum(len(cell.source) for cell in cells) > 2**21:
        raise ValueError(f"it has more than {MAX_PARTS} cells or 2 MB of text, so it is not read")
    return cells


def cell_of(cell: dict[str, Any]) -> Cell:
    """Return the kept part of a cell as a file stores it."""
    source = cell.get("source") or cell.get("input") or ""  # code's name in format 3
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    if cell.get("cell_type") == "heading":
        text = f"{'#' * min(6, int(cell.get('level') or 1))} {text}"
    about = cell.get("metadata")
    about = about.get("nbgrader") if isinstance(about, dict) else None
    name = str(about.get("grade_id", "")) if isinstance(about, dict) else ""
    return Cell(str(cell.get("cell_type")), text.encode("utf-8", "replace").decode(), name)
