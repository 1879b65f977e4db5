"""Values of the story that are computed once for a class: machines that a notebook learns, tables that it loads.

They are made in a sandbox that runs the handout and its solution and never a line of a student's, and are kept as data.
A statement is known by its text and, name by name, by the statements that made what it needs. So a submission and its
referee take a kept value only if all that leads to it stands there as it was handed out, and else compute their own.

A sandbox writes no bytecode, and installers need not: what a solution and its tests import is compiled here, too.
"""

import importlib.util
import py_compile
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from .course import Handout, digest
from .matching import STAND_IN
from .sandbox import Limits, Sandbox
from .slicing import names, statements

LONG = 0.1  # processor seconds, with all that leads to it, from which on a value is kept
LARGE = 2**22  # characters of the kept values of a statement, at most
BEHIND = re.compile(r"import\s*\*|\b(?:exec|eval|globals|locals|vars|setattr|delattr|importlib)\b|__")  # names unseen
RULE = STAND_IN.partition("\n")[0]  # begins what stands behind a blank, which changes that name alone


class Part(NamedTuple):
    """A statement: its text, its key, the names that it needs, and those that it makes or changes."""

    text: str
    key: str
    needed: frozenset[str]
    touched: frozenset[str]


def parts_of(sources: Iterable[str]) -> list[list[Part]]:
    """Return the statements of each source; functions that one calls need and change what stands in them."""
    made_by, effects, leads, found = {}, {}, {}, []
    for source in sources:
        found.append([])
        for text in statements(source):
            each = names(text)
            more = frozenset().union(*(effects.get(name, ()) for name in each.needed))
            touched, needed = each.made | each.changed | more, each.needed | each.changed
            lead = needed.union(more, *(leads.get(name, ()) for name in needed))
            key = digest(text, sorted((name, made_by.get(name, "")) for name in lead))
            made_by |= dict.fromkeys(touched, key)
            effects |= dict.fromkeys(each.made, each.changed | more)
            leads |= dict.fromkeys(each.made, lead)
            found[-1].append(Part(text, key, needed, touched))
    return found


def keep(handout: Handout, solution: Sequence[str], limits: Limits) -> dict[str, dict[str, str]]:
    """Return the kept values of a notebook: key of a statement -> name -> value, packed."""
    referee = [source for kind, source in handout.referee if kind == "run"]
    compile_files(imported(handout, solution, limits))
    return kept_of(handout, referee, limits) | kept_of(handout, solution, limits)


def imported(handout: Handout, solution: Sequence[str], limits: Limits) -> list[str]:
    """Return the files of the modules that a notebook's solution and its tests import."""
    box = Sandbox(handout.tables, limits)
    try:
        for source in [*solution, *(one.source for one in handout.tests.values())]:
            box.request(run=[source])
        return box.request(files=[])["files"]
    finally:
        box.close()


def compile_files(files: Iterable[str]) -> None:
    """Write the bytecode of those files of Python that have none, or an older one, as far as this user may."""
    for file in {one for one in files if one.endswith(".py") and Path(one).exists()}:
        with suppress(OSError, ValueError, py_compile.PyCompileError):
            compiled = Path(importlib.util.cache_from_source(file))
            if not compiled.exists() or compiled.stat().st_mtime < Path(file).stat().st_mtime:
                py_compile.compile(file, quiet=2, doraise=False)


def kept_of(handout: Handout, steps: Sequence[str], limits: Limits) -> dict[str, dict[str, str]]:
    """Return the values of those statements, none of a student's, that take long.

    Beside those that are kept others may take long: an import, which was the first one's part. So all run again, with
    what is kept by then taken over, until no other is long.
    """
    found = {}
    while more := long_of(handout, steps, limits, found):
        found |= more
    return found


def long_of(handout: Handout, steps: Sequence[str], limits: Limits, kept: dict) -> dict[str, dict[str, str]]:
    """Return the values of statements that take long in a process that takes kept ones over."""
    found, costs = {}, {}
    box = Sandbox(handout.tables, limits)
    try:
        box.request(run=["import numpy, bmlab"])  # what every submission needs costs no statement
        for part in [part for parts in parts_of(steps) for part in parts]:
            if part.touched <= kept.get(part.key, {}).keys():
                box.request(take=[kept[part.key]])
                costs |= {name: {} for name in part.touched}
                continue
            answer = box.request(keep=[part.text, sorted(part.touched)])
            leading = {part.key: answer["seconds"]}
            for name in part.needed:
                leading |= costs.get(name, {})
            costs |= dict.fromkeys(part.touched, leading)
            values = {} if part.key in kept or answer["error"] or part.text not in handout.story else answer["values"]
            if sum(leading.values()) > LONG and values and sum(map(len, values.values())) < LARGE:
                found[part.key] = values
    finally:
        box.close()
    return found


def with_kept(
    handout: Handout, steps: Sequence[tuple[str, str]], wanted: Iterable[str] = ()
) -> list[list[tuple[str, Any]]]:
    """Return for each step (kind, source) what is done in its place: itself, or ("run", text) and ("take", values).

    wanted    names that are asked for at the end, beside those that steps need which are not the handout's
    """
    if not (kept := handout.kept):
        return [[step] for step in steps]
    sources = [source if kind == "run" else "" for kind, source in steps]
    own = [kind != "run" or not {*statements(source)} <= handout.story for kind, source in steps]
    theirs = [source for source, mine in zip(sources, own, strict=True) if mine and not source.startswith(RULE)]
    unseen = any(map(BEHIND.search, theirs))
    if unseen:
        return [[step] for step in steps]
    parts, wanted = parts_of(sources), {"sys", *wanted}
    wanted |= {name for some, mine in zip(parts, own, strict=True) if mine for part in some for name in part.needed}
    size, found = -1, []
    while len(wanted) > size:  # a function may need what is made below it
        size, found = len(wanted), []
        for step, some, mine in zip(reversed(steps), reversed(parts), reversed(own), strict=True):
            found.append([step] if mine else [])
            for part in [] if mine else reversed(some):
                asked = part.touched & wanted
                if asked and asked <= kept.get(part.key, {}).keys():
                    found[-1].append(("take", {name: kept[part.key][name] for name in sorted(asked)}))
                elif asked:
                    found[-1].append(("run", part.text))
                    wanted |= part.needed
    return [one if mine else one[::-1] for one, mine in zip(reversed(found), own, strict=True)]
