"""Which cells a grade needs: a name is followed from the cell that uses it to the cells that make it.

The story around the exercises takes up to a minute of processor time, and no test looks at most of it. What a student
wrote or changed is always run; of the handout's own cells those only that make a name which something run needs.
"""

import ast
import builtins
import re
import symtable
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from .cells import python

BUILTIN = {*dir(builtins), "get_ipython", "display", "__name__", "__file__"}
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class Names(NamedTuple):
    """What a cell does with names: makes them, changes their values, imports them, needs them from outside."""

    made: frozenset[str]
    changed: frozenset[str]
    imported: frozenset[str]
    needed: frozenset[str]


@cache
def names(source: str) -> Names:
    """Return what a cell does with names. What is no Python makes nothing, and needs every word in it."""
    try:
        steps = list(flow(python(source).body))
    except UNREADABLE:
        return Names(frozenset(), frozenset(), frozenset(), frozenset(re.findall(r"[^\W\d]\w*", source)))
    made, changed, imported, needed = set(), set(), set(), set()
    for step in steps:
        needed |= step.needed - made
        made |= step.made
        changed |= step.changed
        imported |= step.imported
    return Names(frozenset(made), frozenset(changed), frozenset(imported), frozenset(needed))


def flow(body: Sequence[ast.stmt]) -> Iterator[Names]:
    """Yield the names of each statement in the order of execution; a branch may not be taken, so it only changes."""
    for statement in body:
        match statement:
            case ast.For(target=target, iter=values, body=inner, orelse=other):
                yield simple(ast.Assign([target], values, lineno=1))
                yield from flow([*inner, *other])
            case ast.While(test=test, body=inner, orelse=other):
                yield simple(ast.Expr(test))
                yield from flow([*inner, *other])
            case ast.With(items=items, body=inner):
                for item in items:
                    if item.optional_vars:
                        yield simple(ast.Assign([item.optional_vars], item.context_expr, lineno=1))
                    else:
                        yield simple(ast.Expr(item.context_expr))
                yield from flow(inner)
            case ast.If(body=inner, orelse=other):
                yield simple(ast.Expr(statement.test))
                for step in flow([*inner, *other]):
                    yield step._replace(made=step.imported, changed=step.changed | step.made)
            case _:
                yield simple(statement)


def simple(statement: ast.stmt) -> Names:
    """Return the names of one statement, its functions looked into."""
    code = ast.unparse(ast.Module([statement], []))
    made, imported, needed, scopes = set(), set(), set(), [symtable.symtable(code, "cell", "exec")]
    for scope in scopes:
        outermost = scope.get_type() == "module"
        for symbol in scope.get_symbols():
            name = symbol.get_name()
            if (outermost and (symbol.is_assigned() or symbol.is_imported())) or symbol.is_declared_global():
                made.add(name)
            if outermost and symbol.is_imported():
                imported.add(name)
            if symbol.is_referenced() and (outermost or symbol.is_global()):
                needed.add(name)
        scopes += scope.get_children()
    if isinstance(statement, ast.AugAssign):
        needed |= made
    return Names(frozenset(made), frozenset(touched(statement)), frozenset(imported), frozenset(needed))


def touched(statement: ast.stmt) -> Iterator[str]:
    """Yield the names whose values a statement changes without making them: x[0] = 1, x.a = 1, x.append(1)."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            node = node.value.func
        elif not (isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del)):
            continue
        place = node
        while isinstance(place, ast.Attribute | ast.Subscript):
            place = place.value
        if isinstance(place, ast.Name) and place is not node:
            yield place.id


def needed_cells(sources: Sequence[str], own: Sequence[bool]) -> tuple[dict[int, str], set[str]]:
    """Return what to run of which cells, by their place, and the names that no cell before makes.

    `own` marks the cells that are run in any case, and as they are: exercises, and whatever is not the handout's.
    """
    all_names = [names(source) for source in sources]
    modules = frozenset().union(*(each.imported for each in all_names))
    wanted: set[str] = set()
    kept = {}
    for place in reversed(range(len(sources))):
        each = all_names[place]
        if own[place] or (each.made | each.changed - modules) & wanted:
            kept[place] = sources[place] if own[place] else lean(sources[place], wanted)
            wanted = wanted - each.made | names(kept[place]).needed
    return dict(sorted(kept.items())), wanted - BUILTIN


def lean(source: str, wanted: set[str]) -> str:
    """Return a cell without the imports that nothing uses, and without a view or a figure that is its last line.

    matplotlib and the live views take a second of processor time to import, and few tests look at them.
    """
    try:
        body = python(source).body
    except UNREADABLE:
        return source
    loads = [statement for statement in body if isinstance(statement, ast.Import | ast.ImportFrom)]
    drawing = {bound(alias) for load in loads if origin(load) in ("bmlab", "matplotlib") for alias in load.names}
    if isinstance(body[-1], ast.Expr) and drawing & {*touched(body[-1])}:
        body.pop()
    rest = ast.Module([statement for statement in body if statement not in loads], [])
    used = wanted | names(ast.unparse(rest)).needed | {"*"}
    for load in loads:
        load.names = [alias for alias in load.names if bound(alias) in used]
    return ast.unparse(ast.Module([statement for statement in body if getattr(statement, "names", True)], []))


def bound(alias: ast.alias) -> str:
    """The name that an import makes."""
    return alias.asname or alias.name.partition(".")[0]


def origin(load: ast.Import | ast.ImportFrom) -> str:
    """The package that an import is from."""
    return ((load.module if isinstance(load, ast.ImportFrom) else load.names[0].name) or "").partition(".")[0]
