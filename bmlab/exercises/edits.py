"""The usual slips in a formula: edits of one place of its source, each with the words of a hint."""

import ast
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

SWAPPED = {
    ast.Add: (ast.Sub, "has a minus where a plus belongs"),
    ast.Sub: (ast.Add, "has a plus where a minus belongs"),
    ast.Mult: (ast.Div, "divides{} where it should multiply"),
    ast.Div: (ast.Mult, "multiplies{} where it should divide"),
}
LACKS = {
    ast.Add: "lacks a term{}",
    ast.Sub: "lacks a term{}",
    ast.Mult: "lacks a factor{}",
    ast.Div: "lacks a division{}",
    ast.MatMult: "lacks one side of a product with @",
    ast.Pow: "lacks a power{}",
    ast.Mod: "lacks a remainder, %",
    ast.FloorDiv: "lacks a division, //",
}
CALLS = {
    "sum": ("mean",),
    "mean": ("sum",),
    "max": ("min", "mean"),
    "min": ("max", "mean"),
    "prod": ("sum",),
    "argmax": ("argmin",),
    "tanh": ("cosh",),
    "exp": ("cosh",),
    "log": ("exp",),
    "logaddexp": ("add",),
    "abs": ("array",),
    "nansum": ("nanmean",),
    "var": ("std",),
    "minimum": ("maximum",),
    "eigvalsh": ("array",),
}


@cache
def edited(source: str) -> tuple[tuple[str, str], ...]:
    """Return (words, source) of the code of an answer with one slip in it, for each slip."""
    return tuple(_edited(source))


def _edited(source):
    tree = ast.parse(source)
    right = ast.unparse(tree)
    known = {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
    for place in list(places(tree)):
        node = place.node
        for words, change in edits(node, known, place.keyword):
            place.put(change(node))
            text = ast.unparse(tree)
            place.put(node)
            if text != right:
                yield words, text


class Place(NamedTuple):
    """The place of a node: a field of its parent, or an item of a list there."""

    node: ast.AST
    parent: ast.AST | list
    field: Any

    @property
    def keyword(self) -> str:
        """The name before an argument, as in axis=1, and an equals sign; "" if there is none."""
        return f"{self.parent.arg}=" if isinstance(self.parent, ast.keyword) else ""

    def put(self, other: ast.AST) -> None:
        """Put a node there."""
        if isinstance(self.parent, list):
            self.parent[self.field] = other
        else:
            setattr(self.parent, self.field, other)


def places(tree: ast.AST) -> Iterator[Place]:
    """Yield the places of all nodes below a tree's root, in the order of ast.walk()."""
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            many = isinstance(value, list)
            inside = [(value, k, one) for k, one in enumerate(value)] if many else [(node, field, value)]
            yield from (Place(one, parent, key) for parent, key, one in inside if isinstance(one, ast.AST))


def edits(node: ast.AST, known: set[str], keyword: str = "") -> Iterator[tuple[str, Callable]]:
    """Yield the slips possible at a node: words, and a function that makes the slip from the unchanged node."""
    if isinstance(node, ast.BinOp):
        lacks = LACKS.get(type(node.op), "lacks a part{}")
        yield lacks.format(called(node.right, known)), lambda one: one.left
        turned = "lacks what is divided" if isinstance(node.op, ast.Div) else lacks
        yield turned.format(called(node.left, known)), lambda one: one.right
        if type(node.op) in SWAPPED:
            operator, words = SWAPPED[type(node.op)]
            by = called(node.right, known).replace(",", " by", 1)
            yield words.format(by), lambda one: ast.BinOp(one.left, operator(), one.right)
        if isinstance(node.op, ast.Pow):
            yield lacks.format(called(node.right, known)), lambda one: ast.BinOp(one.left, ast.Pow(), ast.Constant(1))
    elif isinstance(node, ast.UnaryOp):
        yield "lacks a minus" if isinstance(node.op, ast.USub) else "lacks a not", lambda one: one.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        other = node.value * 2 if node.value else 1
        for value in {other, 1 - node.value} if node.value in (0, 1) else {other}:
            words = f"has {keyword}{value} where {keyword}{node.value} belongs"
            yield words, lambda one, value=value: ast.Constant(value)
    elif isinstance(node, ast.Attribute):
        if node.attr == "temperature":
            yield "forgets T", lambda one: ast.Constant(1.0)
        if node.attr == "biases":
            yield "forgets the biases", lambda one: ast.BinOp(ast.Constant(0), ast.Mult(), one)
        for other in CALLS.get(node.attr, ()):
            words = f"lacks {node.attr}" if other == "array" else f"has {other} where {node.attr} belongs"
            yield words, lambda one, other=other: ast.Attribute(one.value, other, one.ctx)
        if node.attr == "T" and isinstance(node.ctx, ast.Load):
            yield "lacks a transpose, .T", lambda one: one.value
    elif isinstance(node, ast.Name) and node.id == "T" and isinstance(node.ctx, ast.Load):
        yield "forgets T", lambda one: ast.Constant(1.0)
    elif isinstance(node, ast.Compare):
        yield "compares the wrong way round", lambda one: ast.UnaryOp(ast.Not(), one)
    elif isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords:
        yield "has two arguments exchanged", lambda one: ast.Call(one.func, one.args[::-1], [])


def called(node: ast.expr, known: set[str]) -> str:
    """Return ", " and a part's name, if it is a number, an argument or an attribute of one; else nothing."""
    root = node.value if isinstance(node, ast.Attribute) else node
    named = isinstance(node, ast.Constant) or (isinstance(root, ast.Name) and root.id in known)
    return f", {ast.unparse(node)}" if named else ""
