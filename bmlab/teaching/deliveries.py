"""What came back, from any platform: every file, out of folders and zips, with the student and the time it speaks of.

Zips are read in memory and never unpacked, so no path in them leads anywhere. A student is who the platform says
(Moodle, Canvas, Blackboard, nbgrader's exchange, GitHub Classroom), else the first folder, else what stands before the
notebook's name in the name of a file.
"""

import io
import re
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

LARGEST, ALL, MANY, DEEPEST = 50 * 2**20, 500 * 2**20, 20_000, 2  # bytes of a file, of a zip; its files; zips in zips
SKIPPED = re.compile(r"__MACOSX$|\._|\.ipynb_checkpoints$|\.|Thumbs\.db$|desktop\.ini$|__pycache__$", re.IGNORECASE)
TIME = r"(?P<time>\d{4}-\d\d-\d\d[- _]\d\d[-:]\d\d[-:]\d\d)"
PLATFORMS = {
    "moodle": re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?"),
    "canvas": re.compile(r"(?P<name>[^\W_]+)_(?:LATE_)?(?P<id>\d+)_(?P<attempt>\d+)_"),
    "blackboard": re.compile(rf".+_(?P<name>[^_]+)_attempt_{TIME}_?"),
    "nbgrader": re.compile(rf"(?P<name>[^+]+)\+[^+]+\+{TIME}[^+]*"),
}
WRAPPERS = {"submitted", "inbound", "submissions", "student-repos"}
COPY = re.compile(r"(?:[ _-]?\((\d+)\)|[ _-]?[Cc]opy ?(\d*)|-(\d{1,2}))$")


class File(NamedTuple):
    """A file that came back: where it stood, its bytes (or why there are none), and when it was written."""

    place: PurePosixPath
    data: bytes
    problem: str
    written: float


class Sender(NamedTuple):
    """Who a file is from: `key` tells students apart, `name` is read by people, `time` is the platform's."""

    key: str
    name: str
    id: str = ""
    platform: str = ""
    time: float | None = None
    attempt: int = 0


def files(folder: Path) -> Iterator[File]:
    """Yield every file under a folder, or in a zip, zips looked into; what systems leave beside files is skipped."""
    tops = [path for path in folder.iterdir() if not SKIPPED.match(path.name)] if folder.is_dir() else [folder]
    if len(tops) == 1 and tops[0].suffix.lower() == ".zip" and not tops[0].is_symlink():
        yield from opened(File(PurePosixPath(), tops[0].read_bytes(), "", tops[0].stat().st_mtime), 0)
        return
    if len(tops) == 1 and tops[0].is_dir() and sum(path.is_dir() for path in tops[0].iterdir()) > 1:
        yield from files(tops[0])
        return
    for path in sorted(folder.rglob("*")):
        place = PurePosixPath(path.relative_to(folder).as_posix())
        if any(map(SKIPPED.match, place.parts)) or (path.is_dir() and not path.is_symlink()):
            continue
        if path.is_symlink() or not path.is_file() or path.stat().st_size > ALL:
            yield File(place, b"", "it is a link, no file, or larger than 500 MB", 0)
        else:
            yield from opened(File(place, path.read_bytes(), "", path.stat().st_mtime), 0)


def is_zip(file: File) -> bool:
    """Whether a file is an archive (and no office document, which is one too)."""
    return file.place.suffix.lower() in ("", ".zip") and zipfile.is_zipfile(io.BytesIO(file.data))


def opened(file: File, depth: int) -> Iterator[File]:
    """Yield a file as it is, or what is in it where it is a zip."""
    if not is_zip(file):
        large = len(file.data) > LARGEST
        yield file._replace(data=b"", problem="it is larger than 50 MB") if large else file
        return
    with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
        members = [one for one in archive.infolist() if not one.is_dir()]
        if depth == DEEPEST or len(members) > MANY or sum(one.file_size for one in members) > ALL:
            yield file._replace(
                data=b"", problem="the zip holds more than 500 MB, too many files, or zips in zips in zips"
            )
            return
        ours = [one for one in members if not any(map(SKIPPED.match, parts_of(one.filename)))]
        of_class = any(pattern.match(parts_of(one.filename)[0]) for one in ours for pattern in PLATFORMS.values())
        under = (
            PurePosixPath()
            if of_class and not depth
            else file.place.with_suffix("")
            if file.place.parts
            else file.place
        )
        for one in ours:
            place = under.joinpath(*parts_of(one.filename))
            try:
                if one.file_size > LARGEST:
                    raise ValueError("it is larger than 50 MB")
                with archive.open(one) as stream:
                    data = stream.read(LARGEST + 1)
                yield from opened(File(place, data, "", datetime(*one.date_time).timestamp()), depth + 1)
            except Exception as problem:  # passwords, methods that nobody has, damage: whatever a zip can be
                yield File(place, b"", f"it cannot be read out of its zip ({problem})", 0)


def parts_of(name: str) -> list[str]:
    """The parts of a name in a zip, without those that lead elsewhere."""
    return [part for part in re.split(r"[/\\]", name) if part not in ("", ".", "..")] or ["nameless"]


def tidy(name: str) -> str:
    """A name as people write it and every file system takes it: composed letters, single blanks, no separators."""
    text = unicodedata.normalize("NFC", name)
    return re.sub(r'[\x00-\x1f\x7f/\\:*?"<>|]', "_", " ".join(text.split())).strip(" ._-")[:100]


def without_copy(stem: str) -> tuple[str, int]:
    """Return a stem without the marks of a copy, and the copy's number: "a (2)" is ("a", 2)."""
    stem, number = stem.removesuffix(".ipynb"), 0
    while found := COPY.search(stem):
        stem, number = stem[: found.start()], max(number, int(next((n for n in found.groups() if n), 1)))
    return stem, number


def sender(place: PurePosixPath, notebooks: Iterable[str], repositories: str | None = None) -> Sender:
    """Return who a file at this place is from; `repositories` is what all folders of GitHub Classroom begin with."""
    parts = [part for part in place.parts[:-1] if part.lower() not in WRAPPERS] + [place.name]
    for part in parts:
        for platform, pattern in PLATFORMS.items():
            if found := pattern.match(part):
                values = found.groupdict()
                name = tidy(values["name"]) or "nameless"
                key = f"{platform} {name.casefold()} {values.get('id', '')}"
                time = as_time(values.get("time"), utc=platform.startswith("nbgrader"))
                return Sender(key, name, values.get("id", ""), platform, time, int(values.get("attempt") or 0))
    if len(parts) > 1:
        name = parts[0]
        if repositories and name.startswith(repositories):
            name = name.removeprefix(repositories)
    else:
        stem = without_copy(place.name.removesuffix(place.suffix))[0]
        known = next((notebook for notebook in notebooks if notebook in stem), None)
        name = stem.partition(known)[0] if known else stem
    name = tidy(name)
    return Sender(name.casefold(), name)


def as_time(text: str | None, utc: bool) -> float | None:
    """The seconds since 1970 of a time in a name; None without one."""
    if not text:
        return None
    year, month, day, hour, minute, second = map(int, re.findall(r"\d+", text))
    when = datetime(year, month, day, hour, minute, second)
    return when.replace(tzinfo=UTC).timestamp() if utc else when.timestamp()


def repositories(folder: Path) -> str | None:
    """What the names of all cloned repositories begin with, as GitHub Classroom makes them: assignment-STUDENT."""
    places = [path.parent.name for path in folder.rglob(".git")] if folder.is_dir() else []
    if len(places) < 2:
        return None
    first, last = min(places), max(places)
    alike = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[: first.rfind("-", 0, alike) + 1] or None
