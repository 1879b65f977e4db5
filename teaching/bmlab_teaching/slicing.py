"""Program slicing: the statements that a grade needs, each name followed from its use to its definition.

The story around the exercises takes up to a minute of processor time, and no test looks at most of it. A student's
own lines and changes are always run; of the handout's own cells only the statements that make or change a needed name.
Statements that only print or draw are left out, and with them the imports that nothing else uses.
"""

import ast
import builtins
import dis
import re
from collections.abc import Iterator, Sequence
from functools import cache
from types import CodeType
from typing import NamedTuple

from .cells import python

BUILTIN = {*dir(builtins), "get_ipython", "display", "__name__", "__file__"}
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
ONLY_SHOWS = {"print", "display", "plot", "plt", "widgets"}  # a call of these changes nothing that a test looks at


class Names(NamedTuple):
    """The names that code makes, those whose values it changes, that it imports, that it needs from outside."""

    made: frozenset[str]
    changed: frozenset[str]
    imported: frozenset[str]
    needed: frozenset[str]


@cache
def names(source: str) -> Names:
    """Return the use of names by code. Text that is not Python makes nothing, and needs every word in it."""
    try:
        tree = python(source)
        made, needed = stored_and_loaded(compile(tree, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT))
    except UNREADABLE:
        return Names(frozenset(), frozenset(), frozenset(), frozenset(re.findall(r"[^\W\d]\w*", source)))
    loads = [alias for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom) for alias in one.names]
    imported = {alias.asname or alias.name.partition(".")[0] for alias in loads}
    made |= {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    changed = {name for statement in tree.body for name in touched(statement)}
    if any(isinstance(one, ast.If) for one in tree.body):  # a branch may not be taken
        made, changed = imported, changed | made
    return Names(frozenset(made), frozenset(changed), frozenset(imported), frozenset(needed))


def stored_and_loaded(code: CodeType) -> tuple[set[str], set[str]]:
    """Return the names that code stores, and those that it looks up before, in the order of its instructions."""
    made, needed = set(), set()
    for step in dis.get_instructions(code):
        if step.opname == "STORE_NAME":
            made.add(step.argval)
        elif re.fullmatch(r"(LOAD|DELETE)_(NAME|GLOBAL|FROM_DICT_OR_GLOBALS)", step.opname):
            needed |= {step.argval} - made
        elif isinstance(step.argval, CodeType):  # a function, a class or a comprehension
            needed |= stored_and_loaded(step.argval)[1] - made
    return made, needed


def touched(statement: ast.stmt) -> Iterator[str]:
    """Yield the names of the values that a statement changes without making them: x[0] = 1, x.append(1), rng.

    If nothing takes their result, NumPy's functions and those without a dot change their arguments.
    """
    for node in ast.walk(statement):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            base = root(node.value)
            given = isinstance(node.value.func, ast.Name) or base == "np"
            inside = [one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)] if given else [base]
            yield from () if base in ONLY_SHOWS else inside
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            yield root(node)
        elif isinstance(node, ast.Name) and "rng" in node.id:
            yield node.id


def root(node: ast.expr) -> str:
    """The name that an expression begins with: x of x.a[0](1)."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "id", "")


@cache
def statements(source: str) -> tuple[str, ...]:
    """Return the statements of a cell; all of it if it is not Python."""
    try:
        return tuple(ast.unparse(statement) for statement in python(source).body)
    except UNREADABLE:
        return (source,)


def needed_cells(
    sources: Sequence[str], own: Sequence[bool], *, whole: bool = False
) -> tuple[dict[int, str], set[str]]:
    """Return the statements to run, by the place of their cell, and the names that nothing before makes.

    own    marks the cells that are run in any case, and as they are: exercises, and all that is not the handout's
    whole  a cell is run to its end or not at all
    """
    parts = [[source] if mine or whole else statements(source) for source, mine in zip(sources, own, strict=True)]
    modules = frozenset().union(*(names(part).imported for cell in parts for part in cell))
    wanted, kept = {"sys"}, {}  # sys.path leads to the tables
    for place in reversed(range(len(sources))):
        for part in reversed(parts[place]):
            each = names(part)
            if own[place] or (each.made | each.changed - modules | each.changed & {"sys"}) & wanted:
                kept[place] = "\n".join([part, *([kept[place]] if place in kept else [])])
                wanted = wanted - each.made | each.needed
    return dict(sorted(kept.items())), wanted - BUILTIN - {"sys"}
