"""Matching of what came back with the exercises: each answer at its place, with the cells that it needs.

Cells are found by grade_id; where an editor took the metadata away, by the question above and the names that an answer
makes. Answers in several parts (a cell was split) are put together again, second copies that are blank are dropped,
and a cell of the handout that was deleted comes back where something needs what it makes. Tests are never taken from
what came back, only their places.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from .course import Handout
from .reading import Cell
from .slicing import UNREADABLE, names, needed_cells
from .working_copies import BLANK, Exercise, record

OPEN_CELL = re.compile(
    r"^[ \t]*(?:# YOUR CODE HERE|raise NotImplementedError\(.*\)|YOUR ANSWER HERE|Write your answer here\.)[ \t]*$\n?",
    re.MULTILINE,
)
WATCHING = re.compile(r"\Aimport bmlab\.exercises\nbmlab\.exercises\.watch\(.*\n?")  # of any year's handout
STUDENT = re.compile(
    r"""^student[ \t]*=[ \t]*("[^"\\\n]{0,200}"|'[^'\\\n]{0,200}'|[\w.]{1,20})[ \t]*(?:#.*)?$""", re.MULTILINE
)


class Plan(NamedTuple):
    """A returned notebook put in order: what is run, ("run", source, answer or "") or ("test", "", grade_id)."""

    steps: list[tuple[str, str, str]]
    answers: dict[str, str]
    open: list[str]
    student: str  # what was typed where numbers of one's own are drawn, as Python; "" for nothing


@cache
def plain(source: str) -> str:
    """A source without the blanks that editors change."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def is_open(source: str, stub: str) -> bool:
    """Whether an answer was left as it was handed out, or emptied."""
    return plain(OPEN_CELL.sub("", source)) in ("", plain(OPEN_CELL.sub("", stub)))


def which(handouts: Mapping[str, Handout], cells: Sequence[Cell], file: str) -> str | None:
    """The notebook of the course that a file is: by its grade_ids, by its texts, else by its name."""
    ids, texts = {cell.name for cell in cells} - {""}, {plain(cell.source) for cell in cells} - {""}
    matches = {
        name: 100 * len(ids & {record(cell).get("grade_id") for cell in handout.blank.cells})
        + len(texts & {plain(cell.source) for cell in handout.blank.cells})
        for name, handout in handouts.items()
    }
    best = max(matches, key=matches.__getitem__)
    return best if matches[best] > 1 else next((name for name in handouts if name in file), None)


def roles(handout: Handout, cells: Sequence[Cell]) -> list[str]:
    """Return for each returned cell the grade_id that it answers or tests, or ""."""
    ids = {record(cell)["grade_id"]: cell for cell in handout.blank.cells if record(cell)}
    found = [cell.name if cell.name in ids else "" for cell in cells]
    story = {plain(cell.source) for cell in handout.blank.cells if not record(cell)}
    for exercise in handout.exercises:
        for test in set(exercise.tests) - set(found):
            shown = {line for line in plain(ids[test].source).splitlines() if line.startswith("assert")}
            for place, cell in enumerate(cells):
                if not found[place] and shown & set(plain(cell.source).splitlines()):
                    found[place] = test
        if exercise.answer not in found:
            kind, made = ids[exercise.answer].cell_type, handout.made.get(exercise.answer, frozenset())
            for place in without_label(exercise, kind, made, cells, found, story):
                found[place] = exercise.answer
    return found


def without_label(exercise: Exercise, kind: str, made: frozenset[str], cells, found, story) -> list[int]:
    """The cells that answer an exercise without its label: below its question, or by the names they make."""
    question = plain(exercise.question)[:60]
    questions = [place for place, cell in enumerate(cells) if question in plain(cell.source) and cell.kind != "code"]
    free = [
        place
        for place, cell in enumerate(cells)
        if not found[place] and cell.kind == kind and plain(cell.source) not in story
    ]
    below = []
    for place in range(questions[-1] + 1 if questions else len(cells), len(cells)):
        if place not in free:
            break
        below.append(place)
    return below or [place for place in free if names(cells[place].source).made & made]


def joined(parts: Sequence[str], stub: str, made: frozenset[str]) -> str:
    """Return one answer from its parts: blank ones and second copies dropped, the mark of an open answer taken out.

    Where the parts are no Python together, it is the last of them that makes what an answer makes.
    """
    kept = list(dict.fromkeys(part for part in parts if plain(OPEN_CELL.sub("", part)) and plain(part) != plain(stub)))
    whole = "\n".join(kept)
    if is_open(whole, stub):
        return stub
    for text in (OPEN_CELL.sub("", whole), whole):
        if parses(text):
            return text
    return next((part for part in reversed(kept) if parses(part) and names(part).made & made), whole)


def parses(text: str) -> bool:
    """Whether a text is Python."""
    try:
        return bool(ast.parse(text))
    except UNREADABLE:
        return False


def plan(handout: Handout, cells: Sequence[Cell]) -> Plan:
    """Return a returned notebook put in order."""
    cells = [cell._replace(source=WATCHING.sub("", cell.source)) for cell in cells]
    found, stubs = roles(handout, cells), {record(c)["grade_id"]: c for c in handout.blank.cells if record(c)}
    last = {name: place for place, name in enumerate(found) if name}
    placed, story, earliest = with_story(handout, cells, last)
    own = [((place, 0.0), cell) for place, cell in enumerate(cells)
           if not found[place] and cell.kind == "code" and plain(cell.source) not in story]  # fmt: skip
    answers, unanswered = {}, []
    for number, one in enumerate(handout.exercises):
        stub, made = stubs[one.answer], handout.made.get(one.answer, frozenset())
        parts = [cells[place].source for place, name in enumerate(found) if name == one.answer]
        answers[one.answer] = joined(parts, stub.source, made)
        if answers[one.answer] == stub.source and not any(names(cell.source).made & made for _, cell in own):
            unanswered.append(one.answer)
        stands = last.get(one.answer, len(cells) + number if one.tests else -1)
        here = max((stands, 0.0), earliest[one.answer])
        if stub.cell_type == "code":
            blank = one.answer in unanswered and not one.tests  # of the story: the solution stands in for it
            ran = handout.solution_of(one.answer) if blank else answers[one.answer]
            placed.append((here, Cell("code", ran.replace(BLANK, ""), one.answer)))  # its import takes 3 s, to no end
            tests = [] if one.answer in unanswered else set(one.tests) - {one.answer}
            placed += [((max(last.get(test, -1), here[0]), 0.5), Cell("test", "", test)) for test in tests]
    ordered = [cell for _, cell in sorted(placed + own, key=lambda pair: pair[0])]
    code = [place for place, cell in enumerate(ordered) if cell.kind == "code"]
    always = [bool(ordered[place].name) or plain(ordered[place].source) not in story for place in code]
    kept, _ = needed_cells([ordered[place].source for place in code], always)
    run = {code[place]: source for place, source in kept.items()}
    steps = [("test", "", cell.name) if cell.kind == "test" else ("run", run[place], cell.name)
             for place, cell in enumerate(ordered) if cell.kind == "test" or place in run]  # fmt: skip
    typed = [match[1] for cell in ordered for match in STUDENT.finditer(cell.source)]
    return Plan(steps, answers, unanswered, typed[-1] if typed else "")


def with_story(handout: Handout, cells: Sequence[Cell], last: Mapping[str, int]) -> tuple[list, set[str], dict]:
    """Return the handout's own cells of code, each at its place; its texts; and the earliest place of each answer.

    A cell stands where it came back; where it was moved or deleted, below the one before.
    """
    where = {plain(cell.source): place for place, cell in reversed(list(enumerate(cells)))}
    blank = handout.blank.cells
    places = [last.get(record(one)["grade_id"]) if record(one) else where.get(plain(one.source)) for one in blank]
    placed, earliest, at, kept = [], {}, -1, in_order(places)
    for number, cell in enumerate(blank):
        at = kept.get(number, at)
        here = at, number / len(blank) / 2
        if record(cell):
            earliest[record(cell)["grade_id"]] = here
        elif cell.cell_type == "code":
            placed.append((here, Cell("code", cell.source, "")))
    return placed, {plain(cell.source) for cell in blank if not record(cell)}, earliest


def in_order(places: Sequence[int | None]) -> dict[int, int]:
    """Return number -> place of as many as possible that still follow each other: the others were moved, or deleted."""
    chains: list[dict[int, int]] = [{}]
    for number, place in enumerate(places):
        if place is not None:
            before = [chain for chain in chains if not chain or chain[max(chain)] <= place]
            chains.append(max(before, key=len) | {number: place})
    return max(chains, key=len)
