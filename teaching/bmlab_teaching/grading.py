"""Grade the submissions: read and run each student in processes of their own, keep the results, write them down.

Before anybody is graded the solution is, and null answers are: it must score full marks here, and they nothing
(proofs.py). Notebooks that were graded and have not changed are not read or run again.
"""

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from . import sandbox
from .children import Work, in_children
from .course import Handout, digest, handout, of_files
from .deliveries import Sender, own_name, senders, tidy
from .judging import judge
from .keeping import keep
from .marks import changed, write_tables
from .matching import Plan, plan, which
from .proofs import prove, solved
from .reading import File, Reader, TooMuch, is_notebook, read_cells
from .roster import Roster, remember
from .sandbox import Limits, files_in

MAX_BESIDE = 99  # files beside a notebook that travel with it
HERE, READING = Path(__file__).parent, {"cpu": 60, "gigabytes": 4, "wall": 600}  # limits of reading one student
NOT_YET = "what came last is not graded yet: the same command goes on from there"
Report = Callable[[str], Any]


@dataclass
class Row:
    """A student: the digest of the submission, doubts and remarks, and the result of each notebook."""

    key: str
    id: str
    name: str
    sent: str = ""
    outer: dict[str, str] = field(default_factory=dict)  # notebook -> the outermost name that it came under
    doubts: list[str] = field(default_factory=list)  # about the identity
    remarks: list[str] = field(default_factory=list)
    notebooks: dict[str, dict] = field(default_factory=dict)

    def save(self, folder: Path) -> None:
        """Write the row, whole or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{digest(self.key)}.json"
        target.with_suffix(".part").write_text(json.dumps(asdict(self), ensure_ascii=False), encoding="utf-8")
        target.with_suffix(".part").replace(target)


class Copy(NamedTuple):
    """A copy of a notebook that came: those with answers count before others, then the later one."""

    answers: bool
    order: str  # of the platform
    when: tuple
    stage: int
    rest: tuple
    name: str
    plan: Plan


def load(folder: Path) -> dict[str, Row]:
    """Return key -> row of all students that were ever graded into a folder, in their order."""
    rows = [Row(**json.loads(path.read_text(encoding="utf-8"))) for path in folder.glob("*.json")]
    for name, about in [pair for row in rows for pair in row.notebooks.items()]:
        if not {"verdicts", "problem"} & about.keys():
            about["problem"] = f"{name} was graded by an earlier version: hand it to make grade again"
    return {row.key: row for row in sorted(rows, key=lambda row: (row.name.casefold(), row.key))}


def course(notebooks: Path) -> dict[str, Handout]:
    """Return the notebooks of a course that have exercises with points."""
    found = {path.stem: handout(path) for path in sorted(notebooks.glob("*.ipynb"))}
    found = {name: one for name, one in found.items() if one.full}
    if not found:
        raise ValueError(f"no notebook in {notebooks} has an exercise with points")
    return found


def read(sender: Sender, handouts: Mapping[str, Handout], place: Path) -> dict:
    """Return the plan of each notebook that a student sent, and a remark on files that do not count.

    place    takes the files that are no notebooks, for the submission to read
    """
    from .pages import calls, code, shape

    reader, copies, beside, homes = Reader(), defaultdict(list), [], set()
    remarks, others = [], []
    try:
        for file in reader.files_of(sender.sources):
            try:
                cells = read_cells(file.data) if (readable := is_notebook(file) and not file.problem) else []
                name = which(handouts, cells, file.name) if readable else None
            except ValueError as problem:
                remarks.append(f"{file.name}: {problem}")
                continue
            if name is None:
                about = f"{file.name}: {file.problem or 'no notebook of this course'}"
                (remarks if file.problem and is_notebook(file) else others).append(about)
                beside += [] if file.problem or readable else [file]
                continue
            homes.add(file.folders)
            found = plan(handouts[name], cells)
            answers = len(found.open) < len(handouts[name].exercises)
            order, when, *rest = file.order
            copies[name].append(Copy(answers, order, when, stage(file.name), tuple(rest), file.name, found))
    except TooMuch as problem:
        remarks.append(str(problem))
    remarks += others if not copies else []
    sent = kept_beside(place, beside, homes) if copies else ""
    plans = {}
    for name, some in copies.items():
        some.sort(key=lambda one: one[:5])
        best, found = some[-1], some[-1].plan
        remarks += [f"{name}: {why(some[-2], best, len(some))}"] if some[1:] else []
        stubs = {one.answer for one in handouts[name].exercises if one.answer in found.open}
        about = {
            key: {"open": key in stubs, "source": source[:20_000], "shape": shape(source), "words": digest(source)}
            | {"html": code(source) if key in handouts[name].made else "", "calls": calls(source)}
            for key, source in found.answers.items()
        }
        outer = next((place for one, place, *_ in sender.sources if one == best.order), "")
        plans[name] = {"plan": list(found), "answers": about, "outer": outer, "beside": sent}
    return {"remarks": list(dict.fromkeys(remarks))[:9], "plans": plans}


def stage(name: str) -> int:
    """How late a file's name says that it is: -1 for old ones and drafts, 1 for the last, 0 if it says nothing."""
    words = set(re.split(r"[\W_\d]+", name.lower()))
    return bool(words & {"final", "finished", "last", "new"}) - bool(words & {"old", "draft", "backup", "bak", "copy"})


def why(other: Copy, best: Copy, count: int) -> str:
    """Return the name of the copy that counts, of several, and the reason."""
    reason = "it came last" if other[:3] != best[:3] else "their times are equal, and its name says so"
    reason = "it alone has answers" if best.answers and not other.answers else reason
    return f"{count} copies came; graded is {best.name}: {reason}"


def kept_beside(place: Path, files: Sequence[File], homes: set[tuple[str, ...]]) -> str:
    """Write the files that came beside notebooks, and return their folder, "" for none; links stay out.

    A file lies where it lay as its notebook sees it, whose folder is one of `homes`; but for modules of Python it lies
    beside the notebook, too.
    """
    shutil.rmtree(place, ignore_errors=True)
    for file in files[:MAX_BESIDE]:
        name = tidy(own_name(file.name))
        inside = {file.folders[len(home) :] for home in homes if file.folders[: len(home)] == home} - {()}
        flat = {()} if not inside or not name.endswith(".py") else set()
        for folders in [[tidy(one) for one in some] for some in inside | flat]:
            target = place.joinpath(*folders, name)
            if "" in (name, *folders) or [*folders, name][0] == "tables" or target.exists():
                continue
            with suppress(OSError):  # a file and a folder of one name, once they are tidy
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.data)
                target.chmod(0o444)
    return str(place.resolve()) if place.exists() else ""


def grade(
    notebooks: Path, delivery: Path, out: Path, *, report: Report, limits: Limits, roster: Roster | None = None
) -> None:
    """Grade a delivery (deliveries.py); write tables, pages and records to `out`.

    If interrupted, it keeps the finished rows, writes them, and raises KeyboardInterrupt.
    """
    handouts, records = course(notebooks), out / "records"
    rows, stopped = load(records), None
    roster = remember(records, notebooks, roster)[1]
    sent = senders(delivery, handouts, roster)
    if not sent:
        raise ValueError(f"nothing is in {delivery}; it takes what a platform delivers, or STUDENT/NOTEBOOK.ipynb")
    version = digest(of_files(HERE.rglob("*.py")), limits[:2], [one.digest for one in handouts.values()])
    new = [one for one in sent if one.key not in rows or rows[one.key].sent != digest(version, one.digest())]
    try:
        if new:
            if not limits.trust:
                if not sandbox.has_bubblewrap():
                    raise ValueError(sandbox.MISSING)
                limits, words = sandbox.with_memory_held(limits)
                report(words)
            grade_new(new, rows, handouts, out, version, report, limits)
    except KeyboardInterrupt as problem:
        stopped = problem
    rows = load(records)
    for one in new if stopped else ():
        row = rows.setdefault(one.key, Row(one.key, one.id, one.name))
        row.remarks += [] if row.sent == digest(version, one.digest()) else [NOT_YET]
    for words in write_tables(out, rows, handouts, roster):
        report(words)
    report(f"{len(sent)} students, {len(new)} of them new or changed: {out / 'class.html'}")
    if stopped:
        raise stopped


def mark(notebooks: Path | None, out: Path, *, report: Report, roster: Roster | None = None) -> None:
    """Write the tables and pages again, with the points that stand in by_hand.csv, for the course that was graded."""
    if not (rows := load(out / "records")):
        raise ValueError(f"nobody was graded into {out} yet; make grade IN=delivery comes first")
    notebooks, roster = remember(out / "records", notebooks, roster)
    handouts = course(notebooks)
    for name, about in [pair for row in rows.values() for pair in row.notebooks.items() if pair[0] in handouts]:
        if problem := "verdicts" in about and changed(handouts[name], about):
            raise ValueError(problem)
    for words in write_tables(out, rows, handouts, roster):
        report(words)
    report(f"{out / 'by_hand.csv'} is read; the tables and pages are written again")


def kept_for(names: set[str], handouts: Mapping[str, Handout], place: Path, version: str, limits: Limits) -> dict:
    """Return handouts with the values of their story that take long, computed if this course has none yet."""
    place.mkdir(parents=True, exist_ok=True)
    files = {name: place / f"{name}.json" for name in sorted(names)}
    kept = {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}
    todo = [name for name in files if kept.get(name, {}).get("version") != version]
    solutions = {name: [source for kind, source, _ in solved(handouts[name]).steps if kind == "run"] for name in todo}
    works = [Work(name, keep, (handouts[name], solutions[name], limits)) for name in todo]
    room = {"cpu": limits.seconds, "gigabytes": limits.gigabytes, "wall": limits.wall + 60}
    for name, values, _ in in_children(works, **room):  # without them a submission computes its own
        kept[name] = {"version": version, "values": values or {}}
        files[name].write_text(json.dumps(kept[name]))
    return {**handouts} | {name: handouts[name]._replace(kept=one["values"]) for name, one in kept.items()}


def grade_new(
    new: list[Sender], rows: dict[str, Row], handouts, out: Path, version: str, report: Report, limits: Limits
):
    """Read new students, run changed notebooks, and save each row as it is done."""
    records = out / "records"
    works, waiting = [], {}
    readings = [Work(one, read, (one, handouts, records / "beside" / digest(one.key))) for one in new]
    for sender, found, problem in in_children(readings, **READING):
        row = rows.setdefault(sender.key, Row(sender.key, sender.id, sender.name))
        row.doubts = sender.doubts
        row.remarks = [f"could not be read: {problem}"] if problem else found["remarks"]
        for name, about in found["plans"].items() if found else ():
            earlier = row.notebooks.get(name)
            answered = not all(one["open"] for one in about["answers"].values())
            files = [(str(one), of_files([one])) for one in files_in(about["beside"])]
            now = digest(version, about["plan"], files)
            if earlier and not answered and not all(one["open"] for one in earlier["answers"].values()):
                row.remarks.append(f"{name}: a blank copy that came later was left aside")
            elif not earlier or earlier["digest"] != now:
                steps, *rest = about["plan"]
                todo = Plan([tuple(step) for step in steps], *rest)
                works.append(Work((row, name, now, about), judge, (handouts[name], todo, limits, about["beside"])))
        row.sent = digest(version, sender.digest()) if found else ""
        waiting[row.key] = sum(work.key[0] is row for work in works)
        if not waiting[row.key]:
            row.save(records)
    if not works:
        return
    warm = out / "warm"
    if not warm.exists():
        sandbox.warm_home(warm, limits.trust)
    limits = limits._replace(warm=str(warm.resolve()))
    wanted = {work.key[1] for work in works}
    prove(wanted, handouts, records / "proofs", version, limits)
    handouts = kept_for(wanted, handouts, records / "kept", version, limits)
    works = [work._replace(given=(handouts[work.key[1]], work.given[1], limits, work.given[3])) for work in works]
    room = {"cpu": limits.seconds, "gigabytes": limits.gigabytes, "wall": limits.wall + 60}
    for done, (key, found, problem) in enumerate(in_children(works, **room), 1):
        row, name, now, about = key
        kept = {"digest": now, "answers": about["answers"], "student": about["plan"][-1]}
        row.notebooks[name] = kept | (found or {"digest": "", "problem": f"{name} was not graded: {problem}"})
        row.outer[name] = about["outer"]
        waiting[row.key] -= 1
        if not waiting[row.key]:
            row.sent = "" if any(one.get("problem") for one in row.notebooks.values()) else row.sent
            row.save(records)
        flagged = f" ({'; '.join(found['flags'])})" if found and found["flags"] else ""
        report(f"{done} of {len(works)}: {row.name}, {name}{flagged}")
