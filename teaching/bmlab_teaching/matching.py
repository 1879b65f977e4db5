"""Matching of returned cells with the exercises: each answer at its place, with the cells that it needs.

Cells are found by grade_id; if an editor removed the metadata, by the question above and the names that an answer
makes. Answers in several parts (a cell was split) are put together again, second copies that are blank are dropped,
and a cell of the handout that was deleted comes back if another cell needs its names. Tests are never taken from a
submission, only their places.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from nbformat import NotebookNode

from .cells import python
from .course import Handout
from .reading import Cell
from .slicing import UNREADABLE, names, needed_cells
from .working_copies import BLANK, Exercise, record

OPEN_CELL = re.compile(
    r"^[ \t]*(?:# YOUR CODE HERE|raise NotImplementedError\(.*\)|YOUR ANSWER HERE|Write your answer here\.)[ \t]*$\n?",
    re.MULTILINE,
)
FENCED = re.compile(r"^```+[ \t]*(?:\w+)?[ \t]*\n(.*?)^```+[ \t]*$", re.DOTALL | re.MULTILINE)  # code in Markdown
WATCHING = re.compile(r"\Aimport bmlab\.exercises\nbmlab\.exercises\.watch\(.*\n?")  # of any year's handout
STUDENT = re.compile(
    r"""^student[ \t]*=[ \t]*("[^"\\\n]{0,200}"|'[^'\\\n]{0,200}'|[\w.]{1,20})[ \t]*(?:#.*)?$""", re.MULTILINE
)


STAND_IN = """\
from bmlab.exercises import student_copy as __copy
try:
    {0} = __copy.judged({0}, {1!r}, {2!r})
except BaseException:
    exec({1!r})
"""
Place = tuple[float, float]  # the number of a returned cell, and the order among those of one number


class Plan(NamedTuple):
    """A returned notebook put in order: its steps, ("run", source, answer or "") or ("test", "", grade_id)."""

    steps: list[tuple[str, str, str]]
    answers: dict[str, str]
    open: list[str]
    student: str  # the typed student number, as Python; "" for nothing


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

    If the parts together are not Python, it is the last of them that makes the answer's names.
    """
    kept = list(dict.fromkeys(part for part in parts if plain(OPEN_CELL.sub("", part)) and plain(part) != plain(stub)))
    whole = "\n".join(kept)
    if is_open(whole, stub):
        return stub
    for text in (OPEN_CELL.sub("", whole), whole):
        if parses(text):
            return text
    return next((part for part in reversed(kept) if parses(part) and names(part).made & made), whole)


def source_of(cell: Cell, stub: NotebookNode) -> str:
    """Return the source of an answer's cell: of one of code that was turned into Markdown what stands in fences."""
    inside = FENCED.findall(cell.source) if cell.kind == "markdown" and stub.cell_type == "code" else []
    return "\n".join(inside) or cell.source


def parses(text: str) -> bool:
    """Whether a text is Python."""
    try:
        return bool(ast.parse(text))
    except UNREADABLE:
        return False


def beside_test(source: str, test: str) -> str:
    """Return a student's own statements in the cell of a test: without assertions and the test's statements."""
    theirs = {ast.dump(statement) for statement in ast.parse(test).body}
    try:
        statements = python(source).body
    except UNREADABLE:
        return ""
    kept = [one for one in statements if not isinstance(one, ast.Assert) and ast.dump(one) not in theirs]
    return "\n".join(map(ast.unparse, kept))


def plan(handout: Handout, cells: Sequence[Cell]) -> Plan:
    """Return a returned notebook put in order: an answer counts wherever it stands, and its test comes behind it."""
    cells = [cell._replace(source=with_quotes(WATCHING.sub("", cell.source))) for cell in cells]
    found, stubs = roles(handout, cells), {record(c)["grade_id"]: c for c in handout.blank.cells if record(c)}
    last = {name: place for place, name in enumerate(found) if name}
    placed, story, earliest = with_story(handout, cells, last)
    own = own_cells(handout, cells, found, story)
    parts, here = {}, {}  # of an answer: the source in its own cells, and their place
    for number, one in enumerate(handout.exercises):
        mine = [source_of(cells[place], stubs[name]) for place, name in enumerate(found) if name == one.answer]
        parts[one.answer] = joined(mine, stubs[one.answer].source, handout.made.get(one.answer, frozenset()))
        stands = last.get(one.answer, len(cells) + number if one.tests else -1)
        here[one.answer] = max((stands, 0.0), earliest[one.answer])
    stub_left = {name for name, source in parts.items() if source == stubs[name].source}
    written = {here[name]: source for name, source in parts.items()
               if name not in stub_left and stubs[name].cell_type == "code"}  # fmt: skip
    written |= {place: cell.source for place, cell in own.items()}
    answers, unanswered = dict(parts), []
    for one in handout.exercises:
        name, is_left = one.answer, one.answer in stub_left
        tests = sorted({*one.tests} - {name})
        asked = {each for test in tests for each in handout.tests[test].needed} or handout.made.get(name, frozenset())
        missing = asked - (frozenset() if is_left else names(parts[name]).made)
        elsewhere = [place for place, source in sorted(written.items()) if one.tests and names(source).made & missing]
        if is_left and not elsewhere:
            unanswered.append(name)
            tests = []
        if elsewhere:
            texts = [parts[name]] * (not is_left) + [written[place] for place in elsewhere]
            answers[name] = "\n".join(dict.fromkeys(texts))
            own |= {place: own[place]._replace(name=own[place].name or name) for place in elsewhere if place in own}
        if stubs[name].cell_type == "code":
            if not one.tests:  # a blank of the story, which is there were it left out
                solved = handout.solution_of(name).replace(BLANK, "")
                story.add(plain(solved))
                placed.append((here[name], Cell("code", solved, "")))
            if is_left and elsewhere:  # the stub comes before: it takes nothing back
                placed.append((min(here[name], (elsewhere[0][0], -0.1)), Cell("code", parts[name], "")))
            elif one.tests or not is_left:  # without the decorator: its import takes 3 s and is not needed
                placed.append((here[name], Cell("code", parts[name].replace(BLANK, ""), name)))
            behind = max([here[name], *elsewhere])
            placed += [((max(last.get(test, -1), behind[0]), 0.5), Cell("test", "", test)) for test in tests]
    ordered = [cell for _, cell in sorted([*placed, *own.items()], key=lambda pair: pair[0])]
    ordered = with_stand_ins(ordered, handout.blanks, story)
    code = [place for place, cell in enumerate(ordered) if cell.kind == "code"]
    always = [bool(ordered[place].name) or plain(ordered[place].source) not in story for place in code]
    kept, _ = needed_cells([ordered[place].source for place in code], always)
    run = {code[place]: source for place, source in kept.items()}
    steps = [("test", "", cell.name) if cell.kind == "test" else ("run", run[place], cell.name)
             for place, cell in enumerate(ordered) if cell.kind == "test" or place in run]  # fmt: skip
    typed = [match[1] for cell in ordered for match in STUDENT.finditer(cell.source)]
    return Plan(steps, answers, unanswered, typed[-1] if typed else "")


def with_quotes(source: str) -> str:
    """Return a source in which a student number stands between quotes: without them its line fails."""
    return STUDENT.sub(lambda found: f"student = {found[1]!r}" if found[1].isdigit() else found[0], source)


def own_cells(handout: Handout, cells: Sequence[Cell], found: Sequence[str], story: set[str]) -> dict[Place, Cell]:
    """Return place -> code that is a student's own: cells of no exercise, and own statements in a test's cell."""
    own = {}
    for place, (cell, name) in enumerate(zip(cells, found, strict=True)):
        if not name and cell.kind == "code" and plain(cell.source) not in story:
            own[place, 0.0] = cell._replace(source=cell.source.replace(BLANK, ""))
        elif name in handout.tests and (source := beside_test(cell.source, handout.tests[name].source)):
            own[place, 0.4] = Cell("code", source, "")
    return own


def with_stand_ins(ordered: Sequence[Cell], blanks: Mapping[str, tuple[str, str, dict]], story: set[str]) -> list[Cell]:
    """Return cells with the rule of a copy behind each that makes a blank: unless right, it is the package's."""
    own = [cell.kind == "code" and plain(cell.source) not in story for cell in ordered]
    wanted = frozenset().union(*(names(cell.source).needed for cell, mine in zip(ordered, own, strict=True) if mine))
    for cell in reversed(ordered):  # names that an answer needs through the story
        wanted |= names(cell.source).needed if cell.kind == "code" and names(cell.source).made & wanted else set()
    found = []
    for cell, mine in zip(ordered, own, strict=True):
        made = sorted(blanks.keys() & names(cell.source).made & wanted) if mine else []
        found += [cell, *(Cell("code", STAND_IN.format(name, *blanks[name]), "") for name in made)]
    return found


def with_story(handout: Handout, cells: Sequence[Cell], last: Mapping[str, int]) -> tuple[list, set[str], dict]:
    """Return the handout's own cells of code, each at its place; its texts; and the earliest place of each answer.

    A cell keeps its returned place; if it was moved or deleted, it stands below the one before.
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
