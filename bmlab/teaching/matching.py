"""Whatever came back, as a notebook that can be graded: each answer at its place, each test as it was handed out.

Cells are found by grade_id; where an editor took the metadata away, by the question above and the names that an answer
makes. Answers in several parts (a cell was split) are put together again, second copies that are blank are dropped,
and a cell of the handout that was deleted comes back where something needs what it makes.
"""

import ast
import json
import re
from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from typing import NamedTuple

from nbformat import NotebookNode

from .exercises import Exercise, exercises, record
from .slicing import names, needed_cells

OPEN = re.compile(
    r"^[ \t]*(?:# YOUR CODE HERE|raise NotImplementedError\(.*\)|YOUR ANSWER HERE|Write your answer here\.)[ \t]*$\n?",
    re.MULTILINE,
)


class Cell(NamedTuple):
    """What is kept of a returned cell."""

    kind: str
    source: str
    name: str  # its grade_id, or ""


class Rebuilt(NamedTuple):
    """A returned notebook put in order: `run` is what is executed of which cells, `open` has no answer."""

    notebook: NotebookNode
    run: dict[int, str]
    open: list[str]
    own: list[str]  # the sources of cells that are neither the handout's nor answers


def read_cells(data: bytes) -> list[Cell]:
    """Return the cells of a notebook of any version, were it damaged elsewhere; ValueError if there are none."""
    try:
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        notebook = json.loads(data.decode("utf-16" if wide else "utf-8-sig", errors="replace"))
        sheets = notebook.get("worksheets") or [notebook]
        return [cell_of(cell) for sheet in sheets for cell in sheet["cells"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise ValueError("it cannot be read as a notebook") from problem


def cell_of(cell: dict) -> Cell:
    """Return what is kept of a cell as a file stores it."""
    source = cell.get("source", cell.get("input", ""))
    text = "".join(source) if isinstance(source, list) else str(source)
    about = cell.get("metadata", {}).get("nbgrader", {})
    name = about.get("grade_id", "") if isinstance(about, dict) else ""
    return Cell(str(cell.get("cell_type")), text.encode("utf-8", "replace").decode(), str(name))


@cache
def plain(source: str) -> str:
    """A source without the blanks that editors change."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def is_open(source: str, stub: str) -> bool:
    """Whether an answer was left as it was handed out, or emptied."""
    return plain(OPEN.sub("", source)) in ("", plain(OPEN.sub("", stub)))


def known_cells(blank: NotebookNode, names: set[str], texts: set[str]) -> int:
    """How much of a handout is in the cells of these names and texts: its grade_ids count most, and then its texts."""
    ids = {record(cell).get("grade_id") for cell in blank.cells}
    return 100 * len(ids & names) + len({plain(cell.source) for cell in blank.cells} & texts)


def roles(source: NotebookNode, blank: NotebookNode, cells: Sequence[Cell]) -> list[str]:
    """Return for each returned cell the grade_id that it answers or tests, or ""."""
    ids = {record(cell)["grade_id"]: cell for cell in blank.cells if record(cell)}
    found = [cell.name if cell.name in ids else "" for cell in cells]
    story = {plain(cell.source) for cell in blank.cells if not record(cell)}
    for exercise in exercises(source):
        for test in set(exercise.tests) - set(found):
            shown = {line for line in plain(ids[test].source).splitlines() if line.startswith("assert")}
            for place, cell in enumerate(cells):
                if not found[place] and shown & set(plain(cell.source).splitlines()):
                    found[place] = test
        if exercise.answer not in found:
            for place in without_label(exercise, ids[exercise.answer], cells, found, story):
                found[place] = exercise.answer
    return found


def without_label(exercise: Exercise, stub: NotebookNode, cells, found, story) -> list[int]:
    """The cells that answer an exercise though nothing says so: below its question, or by the names they make."""
    question = plain(exercise.question)[:60]
    asked = [place for place, cell in enumerate(cells) if question in plain(cell.source) and cell.kind != "code"]
    free = [
        place
        for place, cell in enumerate(cells)
        if not found[place] and cell.kind == stub.cell_type and plain(cell.source) not in story
    ]
    below = []
    for place in range(asked[-1] + 1 if asked else len(cells), len(cells)):
        if place not in free:
            break
        below.append(place)
    return below or [place for place in free if names(cells[place].source).made & exercise.made]


def joined(parts: Sequence[str], stub: str, made: frozenset[str]) -> str:
    """Return one answer from its parts: blank ones and second copies dropped, the mark of an open answer taken out.

    Where the parts are no Python together, it is the last of them that makes what an answer makes.
    """
    kept = list(dict.fromkeys(part for part in parts if plain(OPEN.sub("", part)) and plain(part) != plain(stub)))
    whole = "\n".join(kept)
    if is_open(whole, stub):
        return stub
    for text in (OPEN.sub("", whole), whole):
        if parses(text):
            return text
    return next((part for part in reversed(kept) if parses(part) and names(part).made & made), whole)


def parses(text: str) -> bool:
    """Whether a text is Python."""
    try:
        return bool(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def rebuilt(source: NotebookNode, blank: NotebookNode, cells: Sequence[Cell]) -> Rebuilt:
    """Return a returned notebook put in order. `blank` is the source without its solutions, with all of its tests."""
    found, ids = roles(source, blank, cells), {record(cell)["grade_id"]: cell for cell in blank.cells if record(cell)}
    story = {plain(cell.source) for cell in blank.cells if not record(cell)}
    last = {name: place for place, name in enumerate(found) if name}
    placed = [((place, 0.0), as_cell(cell)) for place, cell in enumerate(cells) if not found[place]]
    unanswered, own = [], [cell.source for _, cell in placed if plain(cell.source) not in story]
    for number, exercise in enumerate(exercises(source)):
        answer, stub = deepcopy(ids[exercise.answer]), ids[exercise.answer].source
        parts = [cells[place].source for place, name in enumerate(found) if name == exercise.answer]
        answer.source = joined(parts, stub, exercise.made)
        makes = any(names(text).made & exercise.made for text in own)
        if answer.source == stub and not makes:
            unanswered.append(exercise.answer)
        at = last.get(exercise.answer, len(cells) + number)
        placed.append(((at, 0.0), answer))
        tests = set(exercise.tests) - {exercise.answer}
        placed += [((max(last.get(test, -1), at), 0.5), deepcopy(ids[test])) for test in tests]
    placed.sort(key=lambda pair: pair[0])
    ordered = with_story([cell for _, cell in placed], blank, story)
    run, _ = needed(ordered, story)
    kernel = NotebookNode(name="python3", display_name="Python 3", language="python")
    for number, cell in enumerate(ordered):
        cell.id = f"cell{number}"
    metadata = NotebookNode(kernelspec=kernel)
    whole = NotebookNode(nbformat=4, nbformat_minor=5, metadata=metadata, cells=ordered)
    return Rebuilt(whole, run, unanswered, own)


def as_cell(cell: Cell) -> NotebookNode:
    """A returned cell as a new one: nothing of its metadata, outputs and attachments is kept."""
    if cell.kind == "code":  # not by new_code_cell(), which checks each against nbformat's schema
        fresh = {"cell_type": "code", "source": cell.source, "metadata": {}, "outputs": [], "execution_count": None}
    else:
        fresh = {"cell_type": "markdown", "source": cell.source, "metadata": {}}
    return NotebookNode(fresh | {"metadata": NotebookNode()})


def needed(cells: Sequence[NotebookNode], story: set[str]) -> tuple[dict[int, str], set[str]]:
    """What to run of the code cells, by their place, and the names that nothing makes."""
    code = [place for place, cell in enumerate(cells) if cell.cell_type == "code"]
    own = [bool(record(cells[place])) or plain(cells[place].source) not in story for place in code]
    kept, missing = needed_cells([cells[place].source for place in code], own)
    return {code[k]: source for k, source in kept.items()}, missing


def with_story(cells: list[NotebookNode], blank: NotebookNode, story: set[str]) -> list[NotebookNode]:
    """Put back what was deleted of the handout's own cells, where what is left needs a name that they make."""
    texts = [plain(cell.source) for cell in blank.cells]
    while True:
        missing, there = needed(cells, story)[1], {plain(cell.source) for cell in cells}
        for place, cell in enumerate(blank.cells):
            gone = cell.cell_type == "code" and not record(cell) and texts[place] not in there
            if gone and names(cell.source).made & missing:
                before = [k for k, one in enumerate(cells) if plain(one.source) in texts[:place]]
                cells.insert(before[-1] + 1 if before else 0, deepcopy(cell))
                break
        else:
            return cells
