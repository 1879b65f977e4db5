"""The class as the teacher has it: a CSV of any learning platform, and which of its lines a delivery is from."""

import csv
import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

NAMES = ("student", "full name", "name", "student name")
FIRST, LAST = ("first name", "firstname", "given name"), ("last name", "lastname", "surname", "family name")


class Entry(NamedTuple):
    """A line of the roster: the name, and all of its columns as the file has them."""

    name: str
    columns: dict[str, str]

    @property
    def values(self) -> set[str]:
        """Everything that may stand for this student, as one compares it."""
        texts = {self.name, *self.columns.values()}
        return {composed(text) for text in texts if text} | set(re.findall(r"\d{3,}", " ".join(texts)))


def composed(text: str) -> str:
    """A name as one compares it: accents composed, single blanks, small letters."""
    return " ".join(unicodedata.normalize("NFC", text).split()).casefold()


def bare(text: str) -> str:
    """A name without accents, blanks and marks, as Canvas writes it into names of files."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", text).casefold() if letter.isalnum())


def read_roster(path: Path) -> list[Entry]:
    """Return the students of a CSV; ValueError if no column of it holds names."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise ValueError(f"the roster {path} cannot be read; save it as CSV in UTF-8") from problem
    first = text.partition("\n")[0]
    lines = csv.DictReader(text.splitlines(), delimiter=max(",;\t", key=first.count))
    entries = []
    for line in lines:
        columns = {str(key): (value or "").strip() for key, value in line.items() if key is not None}
        lower = {key.strip().casefold(): value for key, value in columns.items()}
        name = next((lower[key] for key in NAMES if lower.get(key)), "")
        parts = [next((lower[key] for key in keys if lower.get(key)), "") for keys in (FIRST, LAST)]
        name = name or " ".join(filter(None, parts))
        if name and not re.match(r"points possible|\(read only\)|student, test", name.casefold()):
            entries.append(Entry(name, columns))
    if not entries:
        raise ValueError(f"the roster {path} names nobody; its first line needs a column Student, Name or Full name")
    return entries


def matched(entries: Iterable[Entry], students: Mapping[str, str]) -> dict[str, Entry]:
    """Return student -> entry. `students` maps each name of a delivery to the platform's number or "".

    The number decides, then the name as it is, then its bare letters where only one line has them.
    """
    entries, found = list(entries), {}
    values, letters = {}, {}
    for entry in entries:
        for value in entry.values:
            values.setdefault(value, []).append(entry)
        for shape in shapes(entry.name):
            letters.setdefault(shape, []).append(entry)
    for name, number in students.items():
        words = [values.get(key, []) for key in (number, composed(name)) if key]
        alike = [letters.get(bare(text), []) for text in (name, name.removesuffix(number))]
        choice = next((some for some in [*words, *alike] if len(some) == 1), None)
        if choice:
            found[name] = choice[0]
    return found


def shapes(name: str) -> set[str]:
    """The bare letters of a name, first name first or last name first."""
    words = name.replace(",", " ").split()
    turned = {" ".join(words[k:] + words[:k]) for k in range(len(words))}
    return {bare(text) for text in turned}
