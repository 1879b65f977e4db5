"""The usual slips: what a student writes in the place of a right function, by its source and by what it returns."""

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy

import numpy as np

import bmlab

SWAPPED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
CALLS = {
    "sum": "mean",
    "mean": "sum",
    "max": "min",
    "argmax": "argmin",
    "tanh": "cosh",
    "exp": "cosh",
    "log": "exp",
    "logaddexp": "add",
    "abs": "array",
    "nansum": "nanmean",
    "var": "std",
    "minimum": "maximum",
    "eigvalsh": "array",
}


def sources(solution: str) -> Iterator[tuple[str, str]]:
    """Yield (slip, source) of a function with one slip each: an edit of one place of its syntax tree."""
    tree = ast.parse(solution)
    right = ast.unparse(tree)
    for place, node in enumerate(ast.walk(tree)):
        for slip, change in edits(node):
            copy = deepcopy(tree)
            twin = next(one for k, one in enumerate(ast.walk(copy)) if k == place)
            changed = change(twin)
            source = ast.unparse(ast.fix_missing_locations(Replace(twin, changed).visit(copy)))
            if source != right:
                yield slip, source


class Replace(ast.NodeTransformer):
    """Put one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST):
        self.old, self.new = old, new

    def visit(self, node):
        return self.new if node is self.old else self.generic_visit(node)


def edits(node: ast.AST) -> Iterator[tuple[str, Callable]]:
    """Yield the slips that can be made at a node, each with the function that makes it of its twin in a copy."""
    if isinstance(node, ast.BinOp):
        yield "left only", lambda one: one.left
        yield "right only", lambda one: one.right
        if type(node.op) in SWAPPED:
            yield "operator", lambda one: ast.BinOp(one.left, SWAPPED[type(one.op)](), one.right)
        if isinstance(node.op, ast.Pow):
            yield "power", lambda one: ast.BinOp(one.left, ast.Pow(), ast.Constant(1))
    elif isinstance(node, ast.UnaryOp):
        yield "the sign", lambda one: one.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        yield "a constant", lambda one: ast.Constant(one.value * 2 if one.value else 1)
        if node.value in (0, 1):
            yield "the axis", lambda one: ast.Constant(1 - one.value)
    elif isinstance(node, ast.Attribute):
        if node.attr == "temperature":
            yield "T forgotten", lambda one: ast.Constant(1.0)
        if node.attr == "biases":
            yield "biases forgotten", lambda one: ast.BinOp(ast.Constant(0), ast.Mult(), one)
        if node.attr in CALLS:
            yield f"{node.attr} as {CALLS[node.attr]}", lambda one: ast.Attribute(one.value, CALLS[one.attr], one.ctx)
        if node.attr == "T" and isinstance(node.ctx, ast.Load):
            yield "not transposed", lambda one: one.value
    elif isinstance(node, ast.Name) and node.id == "T" and isinstance(node.ctx, ast.Load):
        yield "T forgotten", lambda one: ast.Constant(1.0)
    elif isinstance(node, ast.Compare):
        yield "the other way round", lambda one: ast.UnaryOp(ast.Not(), one)
    elif isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords:
        yield "arguments exchanged", lambda one: ast.Call(one.func, one.args[::-1], [])


RESULTS = {
    "nothing": lambda x: None,
    "a text": lambda x: f"{x}",
    "a function": lambda x: lambda: x,
    "a pair": lambda x: (x, x),
    "an empty array": lambda x: [],
    "complex": lambda x: each(x, lambda one: one + 0.5j),
    "nan": lambda x: each(x, lambda one: one * np.nan),
    "the sign": lambda x: each(x, lambda one: -one),
    "a factor 2": lambda x: each(x, lambda one: 2 * one),
    "half": lambda x: each(x, lambda one: one / 2),
    "its size": lambda x: each(x, np.abs),
    "a constant": lambda x: each(x, lambda one: 0 * one + 0.5),
    "one more": lambda x: each(x, lambda one: one + 1),
    "transposed": lambda x: each(x, lambda one: np.asarray(one).T),
    "the mean": lambda x: each(x, np.mean),
    "the largest": lambda x: each(x, np.max),
    "its exponential": lambda x: each(x, np.exp),
}
STYLES = {
    "as a list": lambda x: each(x, lambda one: np.asarray(one).tolist()),
    "rounded": lambda x: each(x, lambda one: np.round(np.asarray(one, dtype=float), 3)),
    "of shape (1,)": lambda x: each(x, lambda one: np.reshape(one, 1) if np.ndim(one) == 0 else one),
    "in a list": lambda x: each(x, lambda one: [one] if np.ndim(one) == 0 else one),
    "in a tuple": lambda x: each(x, lambda one: (one,) if np.ndim(one) == 0 else one),
    "without dimension": lambda x: each(x, lambda one: np.array(one) if np.ndim(one) == 0 else one),
    "without imaginary part": lambda x: x if isinstance(x, bmlab.BoltzmannMachine) else each(x, lambda one: one + 0j),
    "as an array": lambda x: each(x, lambda one: np.asarray(one, dtype=float)),
    "as a tuple": lambda x: each(x, lambda one: tuple(one) if np.ndim(one) == 1 else one),
}


def each(value, change):
    """A value with a change in each of its arrays of numbers."""
    if isinstance(value, bmlab.BoltzmannMachine):
        weights, biases = change(value.dense_weights), change(value.biases)
        try:
            return bmlab.BoltzmannMachine(weights, biases, value.temperature)
        except (TypeError, ValueError):
            return weights, biases
    return tuple(each(part, change) for part in value) if isinstance(value, tuple) else change(value)


def wrapped(function: Callable, change: Callable) -> Callable:
    """A function whose results are changed."""
    code = f"def {function.__name__}(*given, **named):\n    return _change(_right(*given, **named))"
    made = dict(function.__globals__, _change=change, _right=function)
    exec(code, made)
    return made[function.__name__]
