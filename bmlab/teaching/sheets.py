"""The marks of a class as lines, a student each: points of each exercise, what lateness costs, and remarks."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from .collecting import Handout
from .course import Mark
from .exercises import Exercise, with_points
from .records import Row
from .roster import Entry, matched

Marks = Mapping[tuple[str, str, str], Mark]


@dataclass
class Line:
    """A student's marks; None is what was not handed in or could not be graded, which is not 0."""

    name: str
    row: Row | None
    entry: Entry | None = None
    points: dict[tuple[str, str], float] = field(default_factory=dict)  # (notebook, exercise)
    totals: dict[str, float] = field(default_factory=dict)  # notebook, after what lateness costs
    hours: dict[str, float] = field(default_factory=dict)  # notebook, hours late
    remarks: list[str] = field(default_factory=list)

    @property
    def total(self) -> float | None:
        """The sum of what was graded."""
        return sum(self.totals.values()) if self.totals else None


@dataclass
class Sheet:
    """A class: the exercises of each notebook that anybody handed in, the marks, and a line a student."""

    exercises: dict[str, list[Exercise]]
    marks: Marks
    lines: list[Line]

    def full(self, name: str) -> float:
        """The full marks of a notebook."""
        return sum(one.points for one in self.exercises[name])


def late_policy(due: str, late: str) -> tuple[float, Callable[[float], float]]:
    """Return when work was due, in seconds, and the share that is left after some hours; ValueError if unreadable.

    `late` is an expression in `hours`, as "1 - 0.1 * ceil(hours / 24)"; without one lateness costs nothing.
    """
    try:
        when = datetime.fromisoformat(due).timestamp() if due else math.inf
        code = compile(late or "1", "late", "eval")
        known = {"min": min, "max": max, "__builtins__": {}} | {name: getattr(math, name) for name in ("ceil", "floor")}

        def share(hours: float) -> float:
            return min(1.0, max(0.0, float(eval(code, known | {"hours": hours}))))

        share(1.0)
    except (ValueError, SyntaxError, NameError, TypeError, AttributeError, ZeroDivisionError) as problem:
        raise ValueError(
            f"--due {due!r} or --late {late!r} is not understood ({problem}); "
            'as in --due "2026-11-20 23:59" --late "1 - 0.1 * ceil(hours / 24)"'
        ) from problem
    return when, share


def sheet(
    rows: Mapping[str, Row], handouts: Mapping[str, Handout], marks: Marks, roster: Sequence[Entry], due: str, late: str
) -> Sheet:
    """Return the marks of a class; with a roster those who handed in nothing have a line too."""
    names = [name for name in handouts if any(name in row.notebooks for row in rows.values())]
    questions = {name: with_points(handouts[name].source) for name in names}
    policy = late_policy(due, late)
    known = matched(roster, {name: row.id for name, row in rows.items()})
    lines = [line_of(row, known.get(name), questions, marks, policy) for name, row in rows.items()]
    there = {id(entry.columns) for entry in known.values()}
    absent = [Line(entry.name, None, entry, remarks=["handed in nothing"]) for entry in roster]
    lines += [line for line in absent if line.entry and id(line.entry.columns) not in there]
    if roster:
        for line in lines:
            line.remarks += ["not in the roster"] * (line.entry is None)
    return Sheet(questions, marks, sorted(lines, key=lambda line: line.name.casefold()))


def line_of(row: Row, entry: Entry | None, questions, marks: Marks, policy) -> Line:
    """Return the marks of one student."""
    line = Line(entry.name if entry else row.name, row, entry, remarks=list(row.remarks))
    due, share = policy
    for name, graded in row.notebooks.items():
        if graded.problem or name not in questions:
            line.remarks += [graded.problem] * bool(graded.problem)
            continue
        found = {one.answer: [marks.get((row.name, name, test)) for test in one.tests] for one in questions[name]}
        for answer, tests in found.items():
            line.points[name, answer] = sum(mark.points for mark in tests if mark)
        hours = max(0.0, (graded.handed_in - due) / 3600)
        total = sum(line.points[name, one.answer] for one in questions[name])
        line.totals[name] = total * share(hours) if hours else total
        waiting = sum(mark.waiting for tests in found.values() for mark in tests if mark)
        unanswered = [one.title for one in questions[name] if graded.answers[one.answer].open]
        if hours:
            line.hours[name] = hours
            line.remarks.append(f"{name}: {hours:.0f} hours late, {share(hours):.0%} of {total:g} points")
        line.remarks += [f"{name}: {waiting} to be looked at by hand"] * bool(waiting)
        line.remarks += [f"{name}: not answered: {', '.join(unanswered)}"] * bool(unanswered)
    return line
