"""Who sent what: the outermost name of a delivery is its sender, and nothing inside what was sent says otherwise.

A delivery is a folder, or a zip of one, as a platform makes it. Its outermost names are read here; what students made
is opened in a process of its own (reading.py).
"""

import hashlib
import re
import unicodedata
import zipfile
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

TIME = r"(?P<order>\d{4}-\d\d-\d\d[- _]\d\d[-:]\d\d[-:]\d\d)"
PLATFORMS = [  # what the platform itself writes in front of the name that a student chose
    re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_|$)"),  # Moodle
    re.compile(r"(?P<name>[^\W_]+)_(?:LATE_)?(?P<id>\d+)_(?P<order>\d+)_"),  # Canvas
    re.compile(rf".+_(?P<name>[^_]+)_attempt_{TIME}"),  # Blackboard
    re.compile(rf"(?P<name>[^+]+)\+[^+]+\+{TIME}"),  # nbgrader's exchange
]
SKIPPED = re.compile(r"__MACOSX$|\._|\.|Thumbs\.db$|desktop\.ini$|__pycache__$", re.IGNORECASE)
COPY = re.compile(r"(?:[ _-]?\((\d+)\)|[ _-]?[Cc]opy ?(\d*)|-(\d{1,2}))$")


@dataclass
class Sender:
    """A student: `key` tells them apart, `id` is the platform's; sources: (order, place, file or zip, its members)."""

    key: str
    id: str
    name: str
    sources: list[tuple[str, str, str, list[str]]] = field(default_factory=list)

    def digest(self) -> str:
        """A short name for all that was sent: by what a zip says of its members, else by names, sizes and times."""
        seen = []
        for _, place, container, members in self.sources:
            if members:
                with zipfile.ZipFile(container) as archive:
                    about = [(one, archive.getinfo(one)) for one in members]
                seen += [(place, one, info.CRC, info.file_size) for one, info in about]
                continue
            files = [(file, file.lstat()) for file in [Path(container), *sorted(Path(container).rglob("*"))]]
            seen += [(place, str(file), about.st_size, about.st_mtime_ns) for file, about in files]
        return hashlib.sha256(repr(seen).encode()).hexdigest()


def tidy(name: str) -> str:
    """A name as people write it and every file system takes it: composed letters, single blanks, no separators."""
    text = unicodedata.normalize("NFC", name)
    return re.sub(r'[\x00-\x1f\x7f/\\:*?"<>|]', "_", " ".join(text.split())).strip(" ._-")[:100]


def without_copy(stem: str) -> tuple[str, int]:
    """Return a stem without the marks of a copy, and the copy's number: "a (2)" is ("a", 2)."""
    stem, number = stem[:300].removesuffix(".ipynb"), 0
    while found := COPY.search(stem):
        stem, number = stem[: found.start()], max(number, int(next((n for n in found.groups() if n), 1)))
    return stem, number


def outermost(delivery: Path) -> dict[str, tuple[str, list[str]]]:
    """Return the outermost names of a delivery: name -> (file or folder, []), or (the zip of all, its members)."""
    if delivery.is_dir():
        return {path.name: (str(path), []) for path in sorted(delivery.iterdir()) if not SKIPPED.match(path.name)}
    if not zipfile.is_zipfile(delivery):
        raise ValueError(f"{delivery} is no folder and no zip; name what your platform delivers")
    found: dict[str, tuple[str, list[str]]] = {}
    with zipfile.ZipFile(delivery) as archive:
        for member in archive.namelist():
            first = next((part for part in re.split(r"[/\\]", member) if part not in ("", ".", "..")), "")
            if first and not SKIPPED.match(first) and not member.endswith("/"):
                found.setdefault(first, (str(delivery), []))[1].append(member)
    return found


def senders(delivery: Path, notebooks: Collection[str]) -> list[Sender]:
    """Return who sent anything. One platform speaks for a delivery: the one that wrote most of the outermost names."""
    names = outermost(delivery)
    best = max(PLATFORMS, key=lambda pattern: sum(bool(pattern.match(name)) for name in names))
    found: dict[str, Sender] = {}
    for outer, (container, members) in names.items():
        match = best.match(outer) if 2 * sum(bool(best.match(name)) for name in names) > len(names) else None
        about = match.groupdict() if match else {}
        is_folder = Path(container).is_dir() or any(re.search(r"[/\\]", member) for member in members)
        name = tidy(about["name"] if match else outer if is_folder else by_hand(outer, notebooks)) or "nameless"
        number = about.get("id", "")
        key = f"{name.casefold()} {number}".strip()
        order = about.get("order", "")
        order = order.zfill(20) if order.isdigit() else order
        sender = found.setdefault(key, Sender(key, number or name, name))
        sender.sources.append((order, outer, container, members))
    return sorted(found.values(), key=lambda sender: sender.key)


def by_hand(outer: str, notebooks: Iterable[str]) -> str:
    """The sender in a name that no platform wrote: ann, or ann_01_theory.ipynb."""
    stem = without_copy(re.sub(r"\.(ipynb|zip|txt|json)$", "", outer, flags=re.IGNORECASE))[0]
    known = next((name for name in notebooks if name in stem), None)
    return (stem.partition(known)[0] if known else stem).strip(" _-") or stem
