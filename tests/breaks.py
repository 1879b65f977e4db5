"""Breaks drawn at random: one expression of the package or of grading changed, as survivors.md counts them.

`python tests/breaks.py SEED COUNT` prints a sample, one break a line, by which `broken` makes the file that has it.
Each line of code in which something can be changed is as likely as any other, then each kind of change that it allows.
Left out are annotations, docstrings, imports, texts with a blank in them, and what is raised or warned of.
"""

import ast
import json
import random
import sys
from copy import deepcopy
from itertools import accumulate
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = ["bmlab/widgets/*.py", "bmlab/plot/*.py", "bmlab/showing/*.py", "bmlab/data.py", "bmlab/estimators.py"]
FILES += ["bmlab/exercises/*.py", "teaching/bmlab_teaching/*.py"]
COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
COMBINED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
OPPOSITE = [("min", "max"), ("any", "all"), ("floor", "ceil"), ("minimum", "maximum"), ("argmin", "argmax")]
OPPOSITE = dict(OPPOSITE) | {there: here for here, there in OPPOSITE}


def changes(node: ast.AST, parent: ast.AST):
    """Yield the kinds of change that a node allows, each with what then stands in its place."""
    if of_its_kind := CHANGES.get(type(node)):
        yield from of_its_kind(deepcopy(node), parent)
    if isinstance(parent, ast.If | ast.While) and node is parent.test and not is_for_types(node):
        yield from (("branch", ast.Constant(value)) for value in (True, False)[isinstance(parent, ast.While) :])


def of_constant(new, parent):
    """The other truth value, a number one more, one less and twice as large, and no text."""
    match new.value:
        case bool():
            yield "flag", ast.Constant(not new.value)
        case int() | float():
            yield from (("number", ast.Constant(value)) for value in (new.value + 1, new.value - 1, 2 * new.value))
        case str() | bytes() if new.value and not isinstance(parent, ast.JoinedStr):
            blank = " " if isinstance(new.value, str) else b" "
            yield from [("text", ast.Constant(new.value[:0]))] * (blank not in new.value)


def of_comparison(new, parent):
    """The neighbours and the opposite of a comparison."""
    for other in COMPARED[type(new.ops[0])]:
        yield "comparison", ast.Compare(new.left, [other(), *new.ops[1:]], new.comparators)


def of_operator(new, parent):
    """One operator for another."""
    if type(new.op) in COMBINED:
        yield "operator", ast.BinOp(new.left, COMBINED[type(new.op)](), new.right)


def of_and_or(new, parent):
    """And for or, or for and, and one term less."""
    yield "and, or", ast.BoolOp(ast.Or() if isinstance(new.op, ast.And) else ast.And(), new.values)
    yield from (("term", ast.BoolOp(new.op, rest)) for rest in each_left_out(new.values))


def of_sign(new, parent):
    """No minus, no not."""
    if isinstance(new.op, ast.Not | ast.USub | ast.Invert):
        yield "sign, not", new.operand


def of_branches(new, parent):
    """One branch of two, always."""
    yield "branch", new.body
    yield "branch", new.orelse


def of_slice(new, parent):
    """An end that is one further, or one less far."""
    for bound in ("lower", "upper"):
        if edge := getattr(new, bound):
            for step in (ast.Add(), ast.Sub()):
                yield "slice", ast.Slice(**vars(new) | {bound: ast.BinOp(edge, step, ast.Constant(1))})


def of_call(new, parent):
    """One argument less, the opposite extreme, and the order as it comes or turned round."""
    if len(new.args) + len(new.keywords) > 1:
        yield from (("argument", ast.Call(new.func, rest, new.keywords)) for rest in each_left_out(new.args))
    yield from (("argument", ast.Call(new.func, new.args, rest)) for rest in each_left_out(new.keywords))
    field = "id" if isinstance(new.func, ast.Name) else "attr"
    name = getattr(new.func, field, None)
    if name in OPPOSITE:
        setattr(new.func, field, OPPOSITE[name])
        yield "extreme", new
    elif name == "sorted":
        yield "order", ast.Subscript(new, ast.Slice(step=ast.UnaryOp(ast.USub(), ast.Constant(1))))
    elif name == "reversed":
        yield "order", ast.Call(ast.Name("iter"), new.args, [])


def of_return(new, parent):
    """Nothing is returned."""
    if new.value:
        yield "return", ast.Return(ast.Constant(None))


def of_statement(new, parent):
    """Nothing is done."""
    if isinstance(new, ast.AugAssign) or isinstance(new.value, ast.Call):
        yield "statement", ast.Pass()


def of_filter(new, parent):
    """Nothing is filtered out."""
    if new.ifs:
        yield "filter", ast.comprehension(new.target, new.iter, [], new.is_async)


CHANGES = {
    ast.Constant: of_constant,
    ast.Compare: of_comparison,
    ast.BinOp: of_operator,
    ast.BoolOp: of_and_or,
    ast.UnaryOp: of_sign,
    ast.IfExp: of_branches,
    ast.Slice: of_slice,
    ast.Call: of_call,
    ast.Return: of_return,
    ast.Expr: of_statement,
    ast.AugAssign: of_statement,
    ast.comprehension: of_filter,
}


def each_left_out(parts: list) -> list[list]:
    """Return lists of all parts but one."""
    return [parts[:place] + parts[place + 1 :] for place in range(len(parts))]


def is_for_types(test: ast.AST) -> bool:
    """Whether a branch is for type checkers only."""
    return "TYPE_CHECKING" in ast.unparse(test)


def places(tree: ast.Module):
    """Yield each (node, its parent) that may be changed, a text with values in it as a whole."""
    waiting: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    while waiting:
        node, parent = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Call) and "warn" in ast.unparse(node.func):
            continue
        if isinstance(node, ast.If) and is_for_types(node.test):
            continue
        yield node, parent
        for field, below in ast.iter_fields(node):
            if field in ("annotation", "returns", "type_params", "op", "ops", "ctx"):
                continue
            waiting += [
                (one, node) for one in (below if isinstance(below, list) else [below]) if isinstance(one, ast.AST)
            ]


def span(node: ast.AST, starts: list[int]) -> tuple[int, int]:
    """Return where the text of a node begins and ends; a part of an f-string is replaced with all of it."""
    return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset


def all_breaks(file: Path) -> dict[int, dict[str, list[dict]]]:
    """Return the breaks of a file by line and kind."""
    source = file.read_text(encoding="utf-8")
    tree, starts = ast.parse(source), [0, *accumulate(map(len, source.encode().splitlines(keepends=True)))]
    inside = {}  # of what stands within a text with values: that text, for only it knows where it stands
    for text in ast.walk(tree):
        if isinstance(text, ast.JoinedStr):
            for node in ast.walk(text):
                inside.setdefault(node, text)
    found: dict[int, dict[str, list[dict]]] = {}
    for node, parent in places(tree):
        for kind, new in changes(node, parent):
            line, begin, end, text = replacement(node, new, inside.get(node, node), starts)
            old = source.encode()[begin:end].decode()
            text += old.count("\n") * "\n"  # what stands below stays in its line
            if isinstance(inside.get(node, node), ast.expr):
                text = f"({text})"
            one = {"path": str(file.relative_to(ROOT)), "line": line, "kind": kind, "begin": begin, "end": end}
            found.setdefault(line, {}).setdefault(kind, []).append(one | {"old": old, "new": text})
    return found


def replacement(node: ast.AST, new: ast.AST, whole: ast.AST, starts: list[int]) -> tuple[int, int, int, str]:
    """Return the line of a change, where the text begins and ends that goes, and the text that comes for it."""
    if isinstance(node, ast.comprehension):  # it has no place of its own; its filters go
        return node.ifs[0].lineno, span(node.iter, starts)[1], span(node.ifs[-1], starts)[1], ""
    return whole.lineno, *span(whole, starts), written(new if whole is node else with_change(whole, node, new))


def with_change(whole: ast.AST, node: ast.AST, new: ast.AST) -> ast.AST:
    """Return a text with values, a node in it changed."""

    class Changed(ast.NodeTransformer):
        def visit(self, one):
            return new if one is node else super().generic_visit(one)

    memo = {id(node): node}  # the copy shares the node, by which it is found
    return Changed().visit(deepcopy(whole, memo))


def written(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(node))


def broken(source: str, one: dict) -> str:
    """Return a file with the break."""
    raw = source.encode()
    assert raw[one["begin"] : one["end"]].decode() == one["old"], "the file is another one"
    return (raw[: one["begin"]] + one["new"].encode() + raw[one["end"] :]).decode()


def sample(seed: int, count: int) -> list[dict]:
    """Return breaks, no two of the same line."""
    found = {}
    for pattern in FILES:
        for file in sorted(ROOT.glob(pattern)):
            found |= {(str(file), line): kinds for line, kinds in all_breaks(file).items()}
    rng = random.Random(seed)
    drawn: list[dict] = []
    for place in rng.sample(sorted(found), len(found)):
        if len(drawn) == count:
            break
        kinds = found[place]
        one = rng.choice(kinds[rng.choice(sorted(kinds))])
        if differs((ROOT / one["path"]).read_text(encoding="utf-8"), one):
            drawn.append(one)
    return drawn


def differs(source: str, one: dict) -> bool:
    """Whether a break compiles, to something else."""
    try:
        return ast.dump(ast.parse(broken(source, one))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


if __name__ == "__main__":
    for one in sample(int(sys.argv[1]), int(sys.argv[2])):
        print(json.dumps(one))
