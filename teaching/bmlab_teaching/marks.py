"""Points: those of checks, and those that a person gives in by_hand.csv; and the tables that hold them."""

import math
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from .course import Handout
from .deliveries import outer_of, tidy
from .roster import Roster
from .spreadsheets import put_table, read_table, typed, write_csv
from .working_copies import MARKS, Exercise

COLUMNS = ("id", "student", "notebook", "exercise", "of", "points", "comment", "words", "rubric", "read")
NEEDED = ("id", "notebook", "exercise", "points")
Hands = dict[tuple[str, str, str], dict[str, str]]  # (id, notebook, exercise) -> the line of by_hand.csv


class Nobody(NamedTuple):
    """A student who sent nothing, as a row of the tables."""

    name: str
    notebooks: dict
    outer: dict[str, str]
    id: str = ""


@dataclass
class Line:
    """A student's marks: points of each exercise, None if a person has to read it; notebooks not sent are left out.

    doubts    remarks for the teacher to check
    remarks   all else
    group     those whom the roster lets work together
    sent_by   notebook -> the marks of the member of the group whose copy counts, if it is not their own
    """

    row: Any
    points: dict[tuple[str, str], float | None] = field(default_factory=dict)  # (notebook, exercise)
    totals: dict[str, float] = field(default_factory=dict)
    comments: dict[tuple[str, str], str] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    group: str = ""
    sent_by: dict[str, "Line"] = field(default_factory=dict)

    @property
    def numbers(self) -> dict[str, str]:
        """Notebook -> the number of one's own that was typed there."""
        found = {name: about.get("student", "").strip("'\"")[:40] for name, about in self.row.notebooks.items()}
        return {name: number for name, number in found.items() if number not in ("", "0")}


def read_hands(path: Path, rows: Iterable[Any], handouts: Mapping[str, Handout]) -> Hands:
    """Return the entries of by_hand.csv, in any spreadsheet's format; ValueError for entries of unknown students."""
    head, *body = read_table(path).cells if path.exists() else [list(NEEDED)]
    if not {*NEEDED} <= {*head}:
        raise ValueError(f"{path} has no columns id, notebook, exercise and points; OUT= is the folder of the marks")
    students, found = {row.id: row for row in rows}, {}
    for cells in body:
        line = dict.fromkeys(COLUMNS, "") | dict(zip(head, map(typed, cells), strict=False))
        key = line["id"], line["notebook"], line["exercise"]
        if not line["points"].strip() and not line["comment"].strip():
            continue  # it is written again if there is such an answer
        problem = "another line gives points for the same answer" if key in found else ""
        if problem := problem or no_place(line, students, handouts) or no_points(line, handouts):
            raise ValueError(f"{path}, {line['id']}, {line['exercise']}: {problem}; mend it and type make mark again")
        found[key] = line
    return found


def no_place(line: Mapping[str, str], students: Mapping[str, Any], handouts: Mapping[str, Handout]) -> str:
    """Why there is no answer that a line of by_hand.csv could be about, or nothing."""
    if line["id"] not in students:
        return f"nobody has the id {line['id']!r}; grades.csv has them all, as text and in UTF-8"
    if line["notebook"] not in handouts:
        return f"there is no notebook {line['notebook']!r}; there are {', '.join(handouts)}"
    answers = [one.answer for one in handouts[line["notebook"]].graded]
    if line["exercise"] not in answers:
        return f"{line['notebook']} has no exercise {line['exercise']!r}; it has {', '.join(answers)}"
    if line["notebook"] not in students[line["id"]].notebooks and line["points"].strip():
        return f"nothing was sent of {line['notebook']}, so there is nothing to give points for"
    return ""


def no_points(line: dict[str, str], handouts: Mapping[str, Handout]) -> str:
    """Why the points of a line are none, or nothing; they are written with a point from here on."""
    full = next(one.points for one in handouts[line["notebook"]].graded if one.answer == line["exercise"])
    line["points"] = line["points"].strip().replace(",", ".")
    try:
        points = float(line["points"] or 0)
    except ValueError:
        points = math.nan
    return "" if 0 <= points <= full else f"{line['points']!r} points; write a number from 0 to {full:g}, or nothing"


def awarded(one: Exercise, handout: Handout, about: Mapping) -> float:
    """The points of an answer that tests judge."""
    if about["answers"][one.answer]["open"]:
        return 0.0
    passed = 0.0
    for test in one.tests:
        verdicts = about["verdicts"].get(test, [])  # none if the test was not run
        both = zip(handout.tests[test].checks, verdicts, strict=False)
        passed += sum(check.points for check, one in both if one["passed"])
    return passed


def changed(handout: Handout, about: Mapping) -> str:
    """The reason that a notebook's result is no mark of the present exercises, or nothing."""
    tests = {test: len(one.checks) for test, one in handout.tests.items()}
    verdicts = {test: len(found) for test, found in about["verdicts"].items()}
    if {one.answer for one in handout.graded} <= about["answers"].keys() and verdicts.items() <= tests.items():
        return ""
    return f"the exercises of {handout.name} were changed after it was graded; type make grade IN=delivery again"


def line_of(row: Any, handouts: Mapping[str, Handout], hands: Hands) -> Line:
    """Return the marks of one student; a person's points take precedence over those of a test."""
    line = Line(row, doubts=list(row.doubts), remarks=list(row.remarks))
    for name, handout in handouts.items():
        about = row.notebooks.get(name)
        if not about or (problem := about.get("problem") or changed(handout, about)):
            line.doubts += [problem] if about else []
            continue
        for one in handout.graded:
            hand = hands.get((row.id, name, one.answer), {})
            answer = about["answers"][one.answer]
            valid = not one.by_hand or answer["open"] or hand.get("read") == answer["words"]
            if hand.get("points") and valid:
                line.points[name, one.answer] = float(hand["points"])
            elif one.by_hand:
                line.points[name, one.answer] = 0.0 if answer["open"] else None
            else:
                line.points[name, one.answer] = awarded(one, handout, about)
            line.comments[name, one.answer] = hand.get("comment", "") if valid else ""
        all_points = [line.points[name, one.answer] for one in handout.graded]
        line.totals[name] = sum(points or 0 for points in all_points)
        unread = all_points.count(None)
        line.doubts += [f"{name}: {flag}" for flag in dict.fromkeys(about["flags"])]
        line.doubts += [f"{name}: {one.title} calls {', '.join(calls)}" for one, calls in shortcuts(handout, about)]
        unanswered = [one.title for one in handout.graded if about["answers"][one.answer]["open"]]
        line.remarks += [f"{name}: {unread} to be read by a person (by_hand.csv)"] * bool(unread)
        line.remarks += [f"{name}: not answered: {', '.join(unanswered)}"] * bool(unanswered)
    return line


def with_groups(listed: Mapping[int, Line], roster: Roster) -> dict[int, Line]:
    """Return line of the roster -> marks of each student in a group of which something came.

    A notebook that somebody did not send, or sent blank, has the marks of the best copy that the group sent.
    """
    together, found = defaultdict(list), {}
    for place, group in roster.groups.items():
        together[group].append(place)
    for group, places in together.items():
        senders = {place: listed[place] for place in places if place in listed}
        for place in places if senders else ():
            line = deepcopy(listed.get(place)) or Line(Nobody(roster.called(roster.people[place]), {}, {}), group=group)
            blank = {name for name in line.totals if is_blank(line.row.notebooks[name])}
            for name in sorted(
                {name for one in senders.values() for name in one.totals} - (line.totals.keys() - blank)
            ):
                able = [(one.totals[name], -sender) for sender, one in senders.items() if name in one.totals]
                sender = -max(able)[1]
                best = senders[sender]
                line.points |= {key: points for key, points in best.points.items() if key[0] == name}
                line.totals[name] = best.totals[name]
                if best.row is not listed.get(place, line).row:
                    line.sent_by[name] = best
                    line.row.outer.setdefault(name, outer_of(place, roster, sender, best.row.outer.get(name, "")))
                    line.remarks = [one for one in line.remarks if not one.startswith(f"{name}: not answered")]
                    line.remarks.append(f"{name}: sent by {best.row.name}, of the same group")
            found[place] = line
    return found


def is_blank(about: Mapping) -> bool:
    """Whether a notebook came as it was handed out."""
    return all(answer["open"] for answer in about["answers"].values())


def shortcuts(handout: Handout, about: Mapping) -> list[tuple[Exercise, list[str]]]:
    """The exercises with an answer that calls functions of the package, but not the solution; and these functions.

    If answers share a cell, each may call the functions of the others' solutions.
    """
    from .pages import calls

    found, written = [], {one.answer: about["answers"][one.answer] for one in handout.graded}
    for one in handout.graded:
        mine = written[one.answer]
        beside = [other for other, answer in written.items() if answer["source"] in mine["source"]]
        allowed = {name for other in {one.answer, *beside} for name in calls(handout.solution_of(other))}
        found.append((one, sorted({*mine.get("calls", [])} - allowed)))
    return [(one, names) for one, names in found if names]


def write_hands(path: Path, lines: Iterable[Line], handouts: Mapping[str, Handout], hands: Hands) -> None:
    """Write by_hand.csv again, a question after the other: a line for each answer that a person reads.

    Words that are new have no points yet. A person's entries for other exercises stand below.
    """
    left, body = dict(hands), []
    by_hand = [(name, one) for name, handout in handouts.items() for one in handout.graded if one.by_hand]
    for name, one in by_hand:
        rubric = MARKS.sub("", handouts[name].solution_of(one.answer)).strip()
        for line in [line for line in lines if name in line.totals]:
            answer = line.row.notebooks[name]["answers"][one.answer]
            hand = left.pop((line.row.id, name, one.answer), {})
            if answer["open"] and not hand.get("points"):
                continue
            points, comment = hand.get("points", ""), hand.get("comment", "")
            if points and not answer["open"] and hand.get("read") != answer["words"]:
                points, comment = "", f"{points} points for other words that came earlier; {comment}".strip("; ")
            about = [line.row.id, line.row.name, name, one.answer, one.points, points, comment, answer["source"]]
            body.append([*about, rubric, answer["words"]])
    body += [[row[column] for column in COLUMNS] for row in left.values()]
    write_csv(path, [COLUMNS, *body])


def write_tables(
    out: Path, rows: Mapping[str, Any], handouts: Mapping[str, Handout], roster: Roster | None = None
) -> list[str]:
    """Write grades.csv, by_hand.csv, class.html, a feedback page a notebook, and these once more as the platform's.

    With a roster upload.csv is that table with the marks of students who are certain and wholly read. Return messages
    about that.
    """
    from .pages import class_page

    out.mkdir(parents=True, exist_ok=True)
    if unknown := {name for row in rows.values() for name in row.notebooks} - handouts.keys():
        raise ValueError(f"{out} has marks of {', '.join(sorted(unknown))}, which the course has not; use another OUT=")
    hands = read_hands(out / "by_hand.csv", rows.values(), handouts)
    lines = [line_of(row, handouts, hands) for row in rows.values()]
    settled, doubts = roster.settle(rows.values()) if roster else ({}, {})
    for line in lines:
        line.doubts += [doubts[line.row.key]] if line.row.key in doubts else []
        line.group = roster.groups.get(settled[line.row.key], "") if roster and line.row.key in settled else ""
    listed = {settled[line.row.key]: line for line in lines if line.row.key in settled}
    listed |= with_groups(listed, roster) if roster else {}
    everybody = [listed[settled[line.row.key]] if line.row.key in settled else line for line in lines]
    everybody += [line for place, line in listed.items() if place not in settled.values()]
    absent = roster.absent(rows.values(), listed) if roster else []
    seen = {name: one for name, one in handouts.items() if any(name in line.totals for line in lines)}
    write_grades(out / "grades.csv", everybody, seen, absent)
    write_hands(out / "by_hand.csv", lines, handouts, hands)
    messages = []
    if roster:
        marks = {place: sum(line.totals.values()) for place, line in listed.items()
                 if line.totals and None not in line.points.values()}  # fmt: skip
        put_table(out / "upload.csv", roster.filled(marks))
        full, most = sum(one.full for one in seen.values()), roster.most()
        left = f"{len(everybody) - len(marks)} wait for a person or have no marks, nothing came from {len(absent)}"
        whom = f"{len(marks)} of {len(everybody)} students"
        messages = [f"{out / 'upload.csv'}: {roster.name} with marks for {whom}; {left}"]
        if most not in (None, full):
            messages += [
                f"{roster.name} gives {most:g} points at most, and here are {full:g}: set that on your platform before "
                "you upload it"
            ]
    write_pages(out, everybody, handouts)
    (out / "class.html").write_text(class_page(lines, seen, absent, everybody), encoding="utf-8")
    return messages


def write_pages(out: Path, lines: Iterable[Line], handouts: Mapping[str, Handout]) -> None:
    """Write a feedback page a notebook for each student, and feedback.zip with all of them under the platform's names.

    Who has the marks of a copy that another of the group sent has its page, too, with the name of who sent it.
    """
    from .pages import feedback

    taken: set[str] = set()
    with zipfile.ZipFile(out / "feedback.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for line in lines:
            whole = tidy(line.row.name if line.row.id in ("", line.row.name) else f"{line.row.name} {line.row.id}")
            folder = next(one for k in count(1) if (one := whole if k == 1 else f"{whole} {k}") not in taken)
            taken.add(folder)
            for name in line.totals:
                page = out / "feedback" / folder / f"{name}.html"
                page.parent.mkdir(parents=True, exist_ok=True)
                page.write_text(feedback(line, handouts[name]), encoding="utf-8")
                outer = line.row.outer.get(name) or folder
                stem = outer.partition(".ipynb")[0] if ".ipynb" in outer else f"{outer.removesuffix('.zip')}/{name}"
                archive.write(page, f"{stem}.html")


def write_grades(path: Path, lines: Sequence[Line], seen: Mapping[str, Handout], absent: Iterable[str]) -> None:
    """Write a line a student, the absent too: points, their sum, and remarks."""
    groups = ["group"] * any(line.group for line in lines)
    head, full = ["id", "student", *groups], ["", "(full marks)", *[""] * len(groups)]
    for name, handout in seen.items():
        head += [*(f"{name}: {one.title}" for one in handout.graded), name]
        full += [*(one.points for one in handout.graded), handout.full]
    body = []
    for line in lines:
        cells = [line.row.id, line.row.name, *[line.group] * len(groups)]
        for name, handout in seen.items():
            cells += [*(line.points.get((name, one.answer)) for one in handout.graded), line.totals.get(name)]
        total = sum(line.totals.values()) if line.totals else None
        numbers = ", ".join(dict.fromkeys(line.numbers.values()))
        body.append([*cells, total, numbers, "; ".join(line.doubts + line.remarks)])
    body += [["", name, *[None] * (len(head) - 2), None, "", "nothing came"] for name in absent]
    total = sum(handout.full for handout in seen.values())
    write_csv(path, [[*head, "total", "number", "remarks"], [*full, total, "", ""], *body])
