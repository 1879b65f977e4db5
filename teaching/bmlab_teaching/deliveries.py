"""Deliveries: the sender of each file. The outermost name is the sender, and nothing inside changes that.

A delivery is a folder, or a zip of one, as a platform makes it. Its outermost names are read here; the students' own
files are opened in a process of its own (reading.py).
"""

import hashlib
import os
import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .roster import Roster, number_in

TIME = r"(?P<order>\d{4}-\d\d-\d\d[- _]\d\d[-:]\d\d[-:]\d\d)"
ENDS = r"_assignsubmission_(?:file|onlinetext)"
MOODLE = re.compile(  # a folder's whole name is the platform's, and the last number counts; of a file's the beginning
    rf"(?P<name>.+?)_(?P<id>\d+){ENDS}(?:_?/$|(?!.*{ENDS}_?/$)(?:[_/]|$))"
)
PLATFORMS = [  # prefixes of the platform before the name that a student chose
    MOODLE,
    re.compile(r"(?P<name>[^\W_]+)_(?:LATE_)?(?P<id>\d+)_(?P<order>\d+)_"),  # Canvas
    re.compile(rf"(?P<head>.+?)_attempt_{TIME}"),  # Blackboard: assignment_username
    re.compile(rf"(?P<name>[^+]+)\+[^+]+\+{TIME}"),  # nbgrader's exchange
]
MAX_NAME_BYTES = 120  # bytes of a name, to which others are joined: file systems take 255
UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff/\\:*?"<>|]')
SKIPPED = re.compile(  # folders and files that systems and programs make; other names with a dot are a student's
    r"(?:__MACOSX|__pycache__|Thumbs\.db|desktop\.ini|\.DS_Store|\.git|\.ipynb_checkpoints|\.venv|\.ipython|\.jupyter"
    r"|\.cache|\.config|\.local|\.conda|\.idea|\.vscode|\.trash.*|\.~.*|\._.*)$",
    re.IGNORECASE,
)
COPY = re.compile(r"(?:[ _-]?\((\d+)\)|[ _-]?[Cc]opy ?(\d*)|-(\d{1,2}))$")


@dataclass
class Sender:
    """A student: `key` tells them apart, `id` is the platform's; sources: (order, place, file or zip, its members).

    doubts    why it may be somebody else
    """

    key: str
    id: str
    name: str
    doubts: list[str] = field(default_factory=list)
    sources: list[tuple[str, str, str, list[str]]] = field(default_factory=list)

    def digest(self) -> str:
        """A fingerprint of all that was sent: of the members listed in a zip, else of names, sizes and times."""
        seen = []
        for _, place, container, members in self.sources:
            if members:
                with zipfile.ZipFile(container) as archive:
                    about = [(one, archive.getinfo(one)) for one in members]
                seen += [(place, one, info.CRC, info.file_size) for one, info in about]
                continue
            inside = [] if Path(container).is_symlink() else sorted(Path(container).rglob("*"))  # a link leads anywhere
            files = [(file, file.lstat()) for file in [Path(container), *inside]]
            seen += [(place, str(file), about.st_size, about.st_mtime_ns) for file, about in files]
        return hashlib.sha256(repr(seen).encode("utf-8", "surrogateescape")).hexdigest()


class Outer(NamedTuple):
    """An outermost name as text, and the content under it: a file or folder, or members of the zip of all."""

    name: str
    container: str
    members: list[str]
    is_folder: bool


def as_text(name: str) -> str:
    """A name that a file system gave, which is bytes, as text: UTF-8, or the older encoding of Western systems."""
    found = os.fsencode(name)
    try:
        return found.decode()
    except UnicodeDecodeError:
        return found.decode("cp1252", "replace")


def name_in_zip(about: zipfile.ZipInfo) -> str:
    """The name of a member of a zip; many programs write UTF-8 without its mark."""
    try:
        return about.filename if about.flag_bits & 0x800 else about.filename.encode("cp437").decode()
    except ValueError:
        return about.filename


def own_name(name: str) -> str:
    """The name that a student gave to a file, without the platform's prefix."""
    found = next((match for match in (one.match(name) for one in PLATFORMS) if match), None)
    return name[found.end() :].lstrip("_ ") or name if found else name


def tidy(name: str) -> str:
    """A name as people write it and every file system takes it: composed letters, single blanks, no separators.

    A shortened name ends in a fingerprint of the whole: two people stay two.
    """
    whole = " ".join(unicodedata.normalize("NFC", name).split())
    text = UNSAFE.sub("_", whole)
    if text == whole and len(text.encode()) <= MAX_NAME_BYTES:
        return text.strip(" ._-")
    mark = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{text.encode()[:MAX_NAME_BYTES].decode(errors='ignore').strip(' ._-')} {mark}"


def without_copy(stem: str) -> tuple[str, int]:
    """Return a stem without the marks of a copy, and the copy's number: "a (2)" is ("a", 2)."""
    stem, number = stem[:300].removesuffix(".ipynb"), 0
    while found := COPY.search(stem):
        stem, number = stem[: found.start()], max(number, int(next((n for n in found.groups() if n), 1)))
    return stem, number


def outermost(delivery: Path) -> list[Outer]:
    """Return the outermost entries of a delivery."""
    if delivery.is_dir():
        paths = [path for path in sorted(delivery.iterdir()) if not SKIPPED.match(path.name)]
        return [Outer(as_text(path.name), str(path), [], path.is_dir()) for path in paths]
    if not zipfile.is_zipfile(delivery):
        raise ValueError(f"{delivery} is no folder and no zip; name what your platform delivers")
    found: dict[str, Outer] = {}
    with zipfile.ZipFile(delivery) as archive:
        for member in archive.infolist():
            parts = [part for part in re.split(r"[/\\]", name_in_zip(member)) if part not in ("", ".", "..")]
            if parts and not SKIPPED.match(parts[0]) and not member.is_dir():
                outer = found.setdefault(parts[0], Outer(parts[0], str(delivery), [], len(parts) > 1))
                outer.members.append(member.filename)
    return list(found.values())


def platform_of(names: Collection[str], roster: Roster | None) -> re.Pattern | None:
    """Return the one platform that speaks for a delivery: it wrote most of the outermost names.

    Of several it is the one that wrote whole names of folders, or has its people in the roster, or needs the least of
    each name: the rest of a name is a student's choice.
    """

    def fits(pattern: re.Pattern) -> tuple[int, int, int, int]:
        found = [match for match in map(pattern.match, names) if match]
        whole = sum(match[0].endswith("/") for match in found)
        listed = sum(bool(roster and roster.lines(*name_and_number(match))) for match in found)
        return len(found), whole, listed, -sum(match.end() for match in found)

    best = max(PLATFORMS, key=fits)
    return best if 2 * fits(best)[0] > len(names) else None


def name_and_number(match: re.Match) -> tuple[str, str]:
    """The name and the number that a platform gives a sender, "" for none."""
    about = match.groupdict()
    return about.get("name") or about["head"].rpartition("_")[2], about.get("id", "")


def usernames(heads: Collection[str], roster: Roster | None) -> dict[str, str]:
    """Return the username at the end of each "assignment_username".

    With a roster it is the longest that is there; else the part after the last "_", or, if several share that, the
    rest after the words that all begin with.
    """
    parts = {head: head.split("_") for head in heads}
    differing = next((place for place, words in enumerate(zip(*parts.values(), strict=False)) if len({*words}) > 1), 0)
    last, found = Counter(words[-1] for words in parts.values()), {}
    for head, words in parts.items():
        ends = ["_".join(words[first:]) for first in range(1, len(words))]
        listed = next((end for end in ends if roster and roster.lines(end, "")), "")
        found[head] = listed or (words[-1] if last[words[-1]] == 1 else "_".join(words[differing:]))
    return found


def senders(delivery: Path, notebooks: Collection[str], roster: Roster | None = None) -> list[Sender]:
    """Return all senders. The platform's number tells them apart, else the name, in small letters."""
    outer = outermost(delivery)
    names = [f"{one.name}/" if one.is_folder else one.name for one in outer]
    platform = platform_of(names, roster)
    matches = [platform.match(name) if platform else None for name in names]
    heads = usernames({match["head"] for match in matches if match and "head" in match.groupdict()}, roster)
    found: dict[str, Sender] = {}
    for one, match in zip(outer, matches, strict=True):
        about = match.groupdict() if match else {}
        name = about.get("name") or heads.get(about.get("head", ""))
        name = tidy(name or (one.name if one.is_folder else by_hand(one.name, notebooks))) or "nameless"
        number, order = about.get("id", ""), about.get("order", "")
        order = order.zfill(20) if order.isdigit() else order
        key = f"# {number}" if number else name.lower()
        sender = found.setdefault(key, Sender(key, number or name, name))
        sender.sources.append((order, one.name, one.container, one.members))
        numbers = re.findall(rf"_(\d+){ENDS}", one.name) if platform is MOODLE else []
        if len(set(numbers)) > 1:
            sender.doubts = [f"it came under a name with the numbers {' and '.join(numbers)}: see who sent it"]
    return sorted(found.values(), key=lambda sender: (sender.name.lower(), sender.key))


def outer_of(line: int, roster: Roster, sender: int, outer: str) -> str:
    """The outermost name of a line of the roster, by the one under which another's work came; "" if not by Moodle."""
    match, mine, theirs = MOODLE.match(f"{outer}/"), roster.people[line], roster.people[sender]
    both = zip(theirs, mine, strict=True)
    number = next((number_in(own) for one, own in both if match and number_in(one) == match["id"].lstrip("0")), "")
    return f"{roster.called(mine)}_{number}{outer[match.end('id') :]}" if match and number else ""


def by_hand(outer: str, notebooks: Iterable[str]) -> str:
    """The sender in a name that no platform wrote: ann, or ann_01_theory.ipynb."""
    stem = without_copy(re.sub(r"\.(ipynb|zip|txt|json)$", "", outer, flags=re.IGNORECASE))[0]
    notebook = next((name for name in notebooks if name in stem), None)
    return (stem.partition(notebook)[0] if notebook else stem).strip(" _-") or stem
