"""What is known of a student, one JSON file each: what was graded, from which file, and what its tests said.

Points are not in it: the gradebook has them, with those that a person gave.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SHOWN = 2000  # characters of what an answer printed


@dataclass
class Answer:
    """One exercise of a submission: what was answered, what it printed, and why its tests failed."""

    source: str
    said: str
    hints: list[str]
    open: bool


@dataclass
class Graded:
    """One notebook of a student. `digest` says of what; "" where grading failed, which is tried again."""

    digest: str
    rank: list
    place: str
    handed_in: float
    answers: dict[str, Answer] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    problem: str = ""


@dataclass
class Row:
    """A student: `id` and `platform` are those of the delivery."""

    name: str
    id: str = ""
    platform: str = ""
    remarks: list[str] = field(default_factory=list)
    notebooks: dict[str, Graded] = field(default_factory=dict)

    def save(self, folder: Path) -> None:
        """Write the row, whole or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{digest(self.name)[:24]}.json"
        target.with_suffix(".part").write_text(json.dumps(asdict(self), ensure_ascii=False), encoding="utf-8")
        target.with_suffix(".part").replace(target)


def load(folder: Path) -> dict[str, Row]:
    """Return name -> row of all students who were ever graded into a folder."""
    rows = {}
    for path in sorted(folder.glob("*.json")):
        stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for name, graded in stored["notebooks"].items():
            answers = {key: Answer(**answer) for key, answer in graded["answers"].items()}
            stored["notebooks"][name] = Graded(**graded | {"answers": answers})
        rows[stored["name"]] = Row(**stored)
    return rows


def digest(*parts: Any) -> str:
    """A short name for anything that JSON can hold."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def of_files(paths: Iterable[Path]) -> str:
    """A short name for the contents of files."""
    return digest([(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in sorted(paths)])
