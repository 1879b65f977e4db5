"""What a teacher may want to look at: a flag and no verdict."""

import ast
from collections.abc import Iterable

FORBIDDEN = {"get_ipython", "ctypes", "gc", "inspect", "settrace", "_getframe", "__builtins__"}
GUARDED = {"bmlab", "np", "numpy"}


def flags(sources: Iterable[str]) -> list[str]:
    """Return a few words on each thing in these cells that a test might be led astray with."""
    found = {}
    for source in sources:
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            found |= dict.fromkeys(words(node))
    return list(found)


def words(node: ast.AST) -> Iterable[str]:
    """Yield what is to be said of one node."""
    used = (
        {getattr(node, name, None) for name in ("id", "attr", "module")} if not isinstance(node, ast.alias) else set()
    )
    used |= {node.name} if isinstance(node, ast.alias) else set()
    for word in sorted(FORBIDDEN & {str(one) for one in used}):
        yield f"uses {word}"
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        place = node.value
        while isinstance(place, ast.Attribute | ast.Subscript):
            place = place.value
        if isinstance(place, ast.Name) and place.id in GUARDED:
            yield f"assigns to {ast.unparse(node)}"
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr" and node.args:
        target = ast.unparse(node.args[0])
        yield from [f"assigns to {target}"] * (target.partition(".")[0] in GUARDED)
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "student":
        yield f"has the numbers of student {ast.unparse(node.value)}"
    if isinstance(node, ast.FunctionDef) and node.name in ("__eq__", "__ne__", "__lt__", "__gt__", "__array__"):
        yield f"an answer of its own kind: it defines {node.name}"
    if getattr(node, "attr", "") == "ANY":
        yield "an answer that equals everything (mock.ANY)"


def shape(source: str) -> str:
    """Return what is left of an answer without its comments and its layout; "" for one too short to compare."""
    try:
        bare = ast.dump(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return bare if len(bare) > 600 else ""
