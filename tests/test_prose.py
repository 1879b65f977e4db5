"""Each number of the prose stands, rounded, in the outputs or the code of its notebook, or is accounted for.

A number is accounted for if the text works it out in a formula, whose two sides are compared here; if it counts
few things (up to twelve) or is a year; or if prose_numbers.csv names its source.
"""

import ast
import csv
import math
import operator
import re
from itertools import pairwise
from pathlib import Path

import nbformat
from test_notebooks import FILES, code_cells, prose, texts

from bmlab_teaching.working_copies import SOLUTION, without_teachers

LISTED = Path(__file__).with_name("prose_numbers.csv")
NUMBER = re.compile(r"(?<![\w.,^{])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\w]|\.\d)")
# Numbers that state nothing: code, links, headings, numbers of exercises and notebooks, papers, the minutes.
STATES_NOTHING = re.compile(
    r"```.*?```|`[^`]*`|\]\([^)]*\)|<[^>]*>|^#+ .*$|^☐.*$|\*\*\d+\.\*\*|^\d+\. |\*\*Sources\.\*\*.*|\*\*Time\*\*.*"
    r"|\b0[0-9][bc]?(?:_\w+)?\b|\(\d+ points?\)|\b(?:notebook|section|exercise|figure)s? \d+",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
PERCENT = re.compile(r"(\d+)\$ ?\\?%")
BINARY = ("1 + 1", "10")  # its sentence on the parity of two bits
FEW, YEARS = 12, range(1600, 2031)
LATEX = [
    (r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))"),
    (r"\\[dt]?frac(\d)(\d)", r"(\1/\2)"),
    (r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)"),
    (r"\^\{([^{}]*)\}", r"**(\1)"),
    (r"\\(?:cdot|times)|\u00b7|\u00d7", "*"),
    (r"\\(log|exp|tanh|sqrt|cosh|sinh)\s*", r"\1"),
    (r"\\(?:left|right|bigl?|bigr?|,|;|!|text\{[^{}]*\})|[$]|(?<=\d),(?=\d{3}\b)", ""),
    (r"−", "-"),
    (r"\^", "**"),
    (r"\be\*\*", "euler**"),
    (r"(log|exp|tanh|cosh|sinh)([\d.]+|\(\d+/\d+\))", r"\1(\2)"),
    (r"(?<=[\d)])\s+(?=[\d(])|(?<=\d)(?=\()|(?<=[\d)])\s*(?=[a-z(])|(?<=\))(?=\d)", "*"),
]
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip
FUNCTIONS = {name: getattr(math, name) for name in ("log", "exp", "tanh", "sqrt", "cosh", "sinh")}


def numbers(text):
    """(match, value, half a unit of its last digit) of each number; 40,000 is known to 10,000."""
    for found in NUMBER.finditer(text):
        whole, decimals = found[1].replace(",", ""), found[2] or ""
        places = len(decimals) - 1 if decimals else len(whole.rstrip("0")) - len(whole) if whole.strip("0") else 0
        yield found, float(whole + decimals), 0.5 * 10.0**-places


def plain(text):
    """A text with its thousands as 1,000 wherever they stood as 1{,}000, 1\\,000 or 1 000."""
    return re.sub(r"(?<=\d)(?:\{,\}|\\,|[ \u202f])(?=\d{3}\b)", ",", text)


def known(cells):
    """The numbers that these cells print, and those in their code."""
    cells = nbformat.v4.new_notebook(cells=cells)
    source = plain("\n".join([cell.source for cell in code_cells(cells)] + list(texts(cells))))
    source = re.sub(r"(?<=\d)_(?=\d)|(?<=\d),(?=\d{3}\b)", "", source)
    return [float(found) for found in re.findall(r"\d+\.?\d*(?:e[-+]?\d+)?|\.\d+", source)]


def sections(notebook):
    """(texts of a section, numbers of its cells); from the exercises on, the numbers of the whole notebook."""
    parts = [([], [])]
    for cell in without_teachers(notebook).cells:
        if cell.cell_type == "code":
            parts[-1][1].append(cell)
            continue
        for number, text in enumerate(re.split("^(?=## )", SOLUTION.sub("", cell.source), flags=re.MULTILINE)):
            if number or text.startswith("## "):
                parts.append(([], []))
            parts[-1][0].append(plain(text))
    story = True
    for passages, cells in parts:
        story = story and not any(text.startswith("## Exercises") for text in passages)
        yield passages, known(cells if story else notebook.cells)


def value(formula):
    """The value of a formula of numbers, or None if it has letters."""
    for latex, python in LATEX:
        formula = re.sub(latex, python, formula)

    def of(node):
        match node:
            case ast.Constant(value=int() | float()):
                return node.value
            case ast.Name(id="euler"):
                return math.e
            case ast.UnaryOp():
                return OPERATORS[type(node.op)](of(node.operand))
            case ast.BinOp():
                return OPERATORS[type(node.op)](of(node.left), of(node.right))
            case ast.Call(func=ast.Name(id=name), args=[argument]):
                return FUNCTIONS[name](of(argument))
        raise ValueError

    try:
        return of(ast.parse(formula.strip(), mode="eval").body)
    except (ValueError, SyntaxError, KeyError, ArithmeticError):
        return None


def worked_out(text):
    """The formulas a = b of two sides with a value each: (a, b, value of a, value of b)."""
    for formula in re.findall(
        r"\$\$.*?\$\$|\$[^$]+\$", PERCENT.sub(lambda p: f"{int(p[1]) / 100:.2f}$", text), re.DOTALL
    ):
        sides = re.split(r"=|\\approx|≈|\\\\|&", formula)
        for left, right in pairwise(sides):
            if None not in (found := (value(left), value(right))):
                yield left, right, *found


def slack(side):
    """How far rounding may move a side, relative to it: half of the last digit of decimals, or of its only number."""
    found = list(numbers(side))
    return sum(half / max(size, half) for one, size, half in found if one[2] or len(found) == 1)


def unaccounted(notebook):
    """Each number of the prose, with its surroundings, that no output, code or formula of the notebook accounts for."""
    for text, numbers_here in ((text, found) for passages, found in sections(notebook) for text in passages):
        known_here = numbers_here + [
            size for sides in worked_out(text) for side in sides[:2] for _, size, _ in numbers(side)
        ]
        text = STATES_NOTHING.sub(" ", text)
        for found, size, half in numbers(text):
            if not found[2] and (size <= FEW or size in YEARS or size in (100, 1000)):
                continue
            percent = re.match(r"\s?\\?%| per cent| of a hundred", text[found.end() :])
            meant = [(size, half)] + ([(size / 100, half / 100)] if percent else [])
            if not any(abs(one - size) <= half * (1 + 1e-9) for one in known_here for size, half in meant):
                yield found[0], " ".join(text[max(0, found.start() - 60) : found.end() + 30].split())


def listed():
    """Notebook -> number -> its source."""
    found = {path.stem: {} for path in FILES}
    with LISTED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[row["notebook"]][row["number"]] = row["source"]
    return found


def test_numbers_of_the_prose_are_printed_or_worked_out_or_have_a_source(path, notebook):
    missing = list(unaccounted(notebook))
    sources = listed()[path.stem]
    assert not [(number, where) for number, where in missing if number not in sources]
    assert not sources.keys() - {number for number, _ in missing}, "needs no source any more"


def test_both_sides_of_a_formula_agree(notebook):
    for text in map(plain, prose(notebook)):
        for left, right, a, b in worked_out(text):
            near = abs(a - b) <= (slack(left) + slack(right) + 1e-9) * max(abs(a), abs(b))
            assert near or (left.strip(" $"), right.strip(" $")) == BINARY, f"{left} = {right}: {a}, {b}"
