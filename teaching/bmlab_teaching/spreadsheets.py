"""Tables in CSV as spreadsheets and platforms write and read them."""

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

# The beginning of a cell, with any separator: a sign there begins a formula, in full width too. Nothing
# is tried twice (*+), and no separator is a blank: 20,000 line breaks are read as fast as 20,000 letters.
BEGINS, SIGN = r"(^|[;\t\r\n])([^\S;\t\r\n]*+'*", r"(?=[=+\-@\uff1d\uff0b\uff0d\uff20])"
FORMULA = re.compile(f"{BEGINS}+){SIGN}")
DISARMED = re.compile(f"{BEGINS})'{SIGN}")


class Table(NamedTuple):
    """The cells of a file, without blank lines, and how it was written."""

    cells: list[list[str]]
    delimiter: str
    encoding: str


def written(value: object) -> object:
    """A cell as spreadsheets shall read it: blank for None, and no formula, with any separator of cells."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.10g}"
    return FORMULA.sub(r"\1\2'", value) if isinstance(value, str) else value


def write_csv(path: Path, lines: Iterable[Iterable[object]]) -> None:
    """Write a table, in UTF-8 with the mark by which Excel knows it."""
    put_table(path, Table([[str(written(value)) for value in line] for line in lines], ",", "utf-8-sig"))


def put_table(path: Path, table: Table) -> None:
    """Write a table whole or not at all: a person's entries exist nowhere else."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=table.delimiter).writerows(table.cells)
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(text.getvalue().encode(table.encoding, "replace"))
    part.replace(path)


def read_table(path: Path) -> Table:
    """Read a table in any of the ways in which spreadsheets save one."""
    data = path.read_bytes()
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    encoding = "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else encoding
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        encoding = "cp1252"
        text = data.decode(encoding, "replace")
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    try:
        cells = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as problem:
        raise ValueError(f"{path} cannot be read as a table ({problem}); save it as CSV") from problem
    return Table([row for row in cells if any(cell.strip() for cell in row)], delimiter, encoding)


def typed(cell: str) -> str:
    """Return the content of a cell before it was written()."""
    return DISARMED.sub(r"\1\2", cell)
