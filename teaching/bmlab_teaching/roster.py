"""A platform's own table of a class: its students, the missing ones, and the same table with the marks filled in.

It is Moodle's grading worksheet, or the export of Moodle's or Canvas's gradebook, as it was downloaded. The columns
left of the marks identify a student, in any language.
"""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from .spreadsheets import Table, read_table

TAKES_MARKS = re.compile(r"Grade$|.*\((?:\d+|Real)\)$")  # of Moodle's worksheet; an assignment of Canvas or Moodle
GROUP = re.compile(r"groups?$", re.IGNORECASE)  # the head of a column of groups
POINTS_POSSIBLE = "Points Possible"  # begins the line of Canvas with the most that an assignment gives


def plain(name: str) -> str:
    """A name without the parts that platforms change: blanks, signs and large letters. Weiß is not Weiss."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFC", name).lower()))


def number_in(cell: str) -> str:
    """The number in a cell that is one, were there a word before it: 2001 of "Participant 2001", else nothing."""
    found = re.fullmatch(r"[^\d@]*0*(\d+)", cell.strip())
    return found[1] if found else ""


@dataclass(frozen=True)
class Roster:
    """A table of a class: the name of its file, its cells, and the place of the column that takes the marks."""

    name: str
    table: Table
    column: int

    @cached_property
    def people(self) -> dict[int, list[str]]:
        """Line -> the identity of its student, left of the marks, without the head and Canvas' line of points."""
        short = [""] * self.column  # a line may end before that column
        lines = {line: (row + short)[: self.column] for line, row in enumerate(self.table.cells) if line}
        for row in lines.values() if self.group < self.column else ():
            row[self.group] = ""  # a number there does not identify a student
        return {line: row for line, row in lines.items() if any(row) and not row[0].strip().startswith(POINTS_POSSIBLE)}

    @cached_property
    def group(self) -> int:
        """The index of the column of groups; behind all columns if there is none."""
        head = self.table.cells[0]
        return next((place for place, cell in enumerate(head) if GROUP.match(cell.strip())), len(head))

    @cached_property
    def groups(self) -> dict[int, str]:
        """Line -> the group of its student, for all students in a group."""
        found = {line: "".join(self.table.cells[line][self.group : self.group + 1]).strip() for line in self.people}
        return {line: group for line, group in found.items() if group}

    @cached_property
    def names(self) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
        """Plain name -> lines: by each cell and two neighbours in both orders; and by the part before an @."""
        whole, before = defaultdict(set), defaultdict(set)
        for line, row in self.people.items():
            pairs = [joined for one, two in pairwise(row) if one and two for joined in (one + two, two + one)]
            flipped = ["".join(reversed(cell.split(",", 1))) for cell in row]
            for cell in [*row, *pairs, *flipped]:
                whole[plain(cell)].add(line)
            for cell in [cell for cell in row if "@" in cell]:
                before[plain(cell.partition("@")[0])].add(line)
        return whole, before

    def lines(self, name: str, number: str) -> set[int]:
        """The lines that fit a number, or a name if there is none; an address counts if no name fits."""
        if number:
            return {line for line, row in self.people.items() if number in map(number_in, row)}
        return next((found[plain(name)] for found in self.names if found.get(plain(name))), set())

    def settle(self, rows: Iterable[Any]) -> tuple[dict[str, int], dict[str, str]]:
        """Return key -> line of the certain students, and key -> a sentence on each of the others (grading.Row)."""
        rows = list(rows)
        numbers = {row.key: row.id.lstrip("0") for row in rows if row.key == f"# {row.id}"}
        columns = [{number_in(row[place]): line for line, row in self.people.items()} for place in range(self.column)]
        found = max(columns, key=lambda column: sum(number in column for number in numbers.values()))
        by_number = 2 * sum(number in found for number in numbers.values()) > len(numbers)
        claims, doubts = defaultdict(list), {}
        for row in rows:
            lines = self.lines(row.name, "")
            if by_number and row.key in numbers:
                lines = {found[numbers[row.key]]} if numbers[row.key] in found else set()
            if len(lines) == 1:
                claims[min(lines)].append(row)
            else:
                doubts[row.key] = f"{self.name} has {f'{len(lines)} lines' if lines else 'no line'} for this name"
        for line, claimants in claims.items():
            if len(claimants) > 1:
                together = " and ".join(f"{row.name} ({row.id})" for row in claimants)
                doubts |= {
                    row.key: f"{together} are line {line + 1} of {self.name}: see who sent what" for row in claimants
                }
        return {claimants[0].key: line for line, claimants in claims.items() if len(claimants) == 1}, doubts

    def absent(self, rows: Iterable[Any], marked: Iterable[int] = ()) -> list[str]:
        """The names of students who sent nothing, without those who may be one of the uncertain.

        marked    lines of students with a group that sent something
        """
        rows = list(rows)
        settled, doubts = self.settle(rows)
        maybe = {line for row in rows if row.key in doubts for line in self.lines(row.name, "")}
        absent = [row for line, row in self.people.items() if line not in {*settled.values(), *maybe, *marked}]
        return [self.called(row) for row in absent]

    def called(self, person: list[str]) -> str:
        """A name to read, of a line: its first cell that is no number, and the one beside it if it is one word."""
        cells = [cell.strip() for cell in person]
        first = next((place for place, cell in enumerate(cells) if cell and not number_in(cell)), 0)
        beside = "".join(cells[first + 1 : first + 2])
        is_whole = re.search(r"[ ,]", cells[first]) or number_in(beside) or "@" in beside
        return cells[first] if is_whole else f"{cells[first]} {beside}".strip()

    def most(self) -> float | None:
        """The points that the platform gives at most, if the table has them."""
        head, *rows = self.table.cells
        beside = [row[self.column + 1] for row in rows if head[self.column] == "Grade" and len(row) > self.column + 1]
        above = [
            row[self.column] for row in rows if row[0].strip().startswith(POINTS_POSSIBLE) and len(row) > self.column
        ]
        try:
            return float([*above, *beside][0].replace(",", "."))
        except (IndexError, ValueError):
            return None

    def filled(self, marks: Mapping[int, float]) -> Table:
        """The table with marks, line -> points; all else is as it came."""
        cells = [list(row) for row in self.table.cells]
        for line, points in marks.items():
            cells[line] += [""] * (self.column + 1 - len(cells[line]))
            cells[line][self.column] = f"{points:.10g}"
        return self.table._replace(cells=cells)


def read_roster(path: Path, column: str = "") -> Roster:
    """Read a platform's table; `column` is the head of the one that takes the marks, if it is not the only one."""
    if not path.is_file():
        raise ValueError(f"there is no file {path}; ROSTER= takes the table that your platform exports")
    table = read_table(path)
    head = [cell.strip() for cell in table.cells[0]] if table.cells else []
    fits = [place for place, cell in enumerate(head) if (cell == column if column else TAKES_MARKS.match(cell))]
    if len(fits) != 1 or not fits[0]:
        words = f"no column {column!r}" if column else f"{len(fits) or 'no'} columns that can take the marks"
        columns = ", ".join(cell for cell in head[1:] if cell)
        raise ValueError(f'{path} has {words}; say which one, COLUMN="...", of: {columns}')
    return Roster(path.name, table, fits[0])


def remember(records: Path, notebooks: Path | None, roster: Roster | None) -> tuple[Path, Roster | None]:
    """Keep the course and the roster beside the records of marks; for None return the kept ones."""
    place = records / "course" / "given.json"
    remembered = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    if notebooks:
        remembered["notebooks"] = str(notebooks)
    if roster:
        remembered["roster"] = [roster.name, roster.table, roster.column]
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_suffix(".part")
    part.write_text(json.dumps(remembered), encoding="utf-8")
    part.replace(place)
    if "roster" in remembered:
        name, table, column = remembered["roster"]
        roster = Roster(name, Table(*table), column)
    return Path(remembered.get("notebooks", "notebooks")), roster
