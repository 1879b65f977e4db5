"""Pages for students and teachers: each one file, formulas included; it loads nothing and runs no script."""

import ast
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import mistune
from jinja2 import Environment, PackageLoader
from latex2mathml.converter import convert
from markupsafe import Markup, escape
from mistune.plugins.math import math
from mistune.plugins.table import table
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

import bmlab

from .course import Handout, digest
from .slicing import UNREADABLE
from .working_copies import MARKS, exercises, is_teachers, last_question, record, still_open, title_of

MAX_ANSWER_CHARACTERS = 10_000  # of an answer, that are shown
MIN_TREE_CHARACTERS = 900  # of a syntax tree that two do not have by chance
LEXER, COLOURED = PythonLexer(stripall=True), HtmlFormatter(cssclass="code")
LOADER = PackageLoader("bmlab_teaching")
ENVIRONMENT = Environment(loader=LOADER, autoescape=True, trim_blocks=True, lstrip_blocks=True)
DARK = HtmlFormatter(style="github-dark").get_style_defs(".code")
STYLES = Markup(
    f"{HtmlFormatter(style='friendly').get_style_defs('.code')}\n@media (prefers-color-scheme: dark) {{\n{DARK}\n}}"
)
COMPUTES = ("bmlab.infer.", "bmlab.learn.", "bmlab.choosing")  # functions that a student may have to write
FUNCTIONS = {name for name in bmlab.__all__ if getattr(getattr(bmlab, name), "__module__", "").startswith(COMPUTES)}


class WithFormulas(mistune.HTMLRenderer):
    """Markdown to HTML with formulas in MathML, which browsers draw without a script."""

    def block_math(self, text: str) -> str:
        """A formula on a line of its own."""
        return formula(text, "block")

    def inline_math(self, text: str) -> str:
        """A formula within a line."""
        return formula(text, "inline")


def formula(body: str, display: str) -> str:
    """Return a formula in MathML, or as it was written if that fails."""
    try:
        return convert(body, display=display)
    except Exception:  # any error: the parser is of a language without a grammar
        return f"<code>{escape(body)}</code>"


@cache
def markdown(text: str) -> Markup:
    """Return Markdown of the course as HTML; no student's text comes here."""
    return Markup(mistune.create_markdown(renderer=WithFormulas(escape=True), plugins=[math, table])(text))


def code(source: str) -> str:
    """Return code in colours, as HTML."""
    return highlight(source[:MAX_ANSWER_CHARACTERS], LEXER, COLOURED)


def shape(source: str) -> str:
    """Return a short name of an answer without its comments and layout; "" if it is too short to compare."""
    try:
        bare = ast.dump(ast.parse(source))
    except UNREADABLE:
        return ""
    return digest(bare) if len(bare) > MIN_TREE_CHARACTERS else ""


def calls(source: str) -> list[str]:
    """Return the package's functions of computation that an answer calls, as far as its text shows."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except UNREADABLE:
        return []
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    imports = [node for node in nodes if isinstance(node, ast.Import)]
    package = {one.asname or one.name for node in imports for one in node.names if one.name == "bmlab"} | {"bmlab"}
    found = {one.name for node in nodes if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("bmlab.")
             for one in node.names}  # fmt: skip
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in package:
            found.add(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in own:
            found.add(node.func.id)
    return sorted(f"bmlab.{name}" for name in found & FUNCTIONS)


def feedback(line: Any, handout: Handout) -> str:
    """Return the page of a student's notebook: points and hints on top, then each exercise with its answer."""
    name, parts, student = handout.name, [], line.row.name
    sender = line.sent_by[name].row.name if name in line.sent_by else ""
    line = line.sent_by.get(name, line)
    about = line.row.notebooks[name]
    for one in handout.graded:
        answer, points = about["answers"][one.answer], line.points[name, one.answer]
        checks = []
        for test in one.tests if not answer["open"] and not one.by_hand else ():
            hints = [verdict["words"] for verdict in about["verdicts"].get(test, [])]
            checks += [(check, hint) for check, hint in zip(handout.tests[test].checks, hints, strict=False)]
        hints = filter(None, [about["errors"].get(one.answer, ""), *(hint for _, hint in checks)])
        about_part = {
            "exercise": one,
            "question": markdown(one.question),
            "answer": Markup(answer["html"]) or Markup("<pre>{}</pre>").format(answer["source"]),
            "printed": about["printed"].get(one.answer, ""),
            "hints": list(dict.fromkeys(hints)),
            "checks": [(check, hint) for check, hint in checks if check.name],
            "open": still_open(one) if answer["open"] else "",
            "points": points,
            "comment": line.comments[name, one.answer],
        }
        parts.append(about_part)
    values = {"name": name, "student": student, "sender": sender, "number": line.numbers.get(name, "")}
    values |= {"parts": parts, "total": line.totals[name], "full": handout.full}
    return ENVIRONMENT.get_template("feedback.html").render(**values, styles=STYLES)


def solutions(sources: Mapping[str, NotebookNode]) -> str:
    """Return the teacher's page of every exercise with its solution and its tests, and of the worked solutions."""
    notebooks = []
    for name, source in sources.items():
        cells, parts, question = {record(cell)["grade_id"]: cell for cell in source.cells if record(cell)}, [], ""
        for one in exercises(source):
            tests = [Markup(code(MARKS.sub("", cells[test].source))) for test in one.tests if test != one.answer]
            parts += [(one.title, one.points, one.question, shown(cells[one.answer]), tests)] * bool(one.tests)
        for cell in source.cells:
            if is_teachers(cell):
                parts.append((title_of(question), 0, question, shown(cell), []))
            elif cell.cell_type == "markdown":
                question = last_question(cell.source)
        parts = [(title, points, markdown(text), *rest) for title, points, text, *rest in parts]
        notebooks += [(name, parts)] * bool(parts)
    return ENVIRONMENT.get_template("solutions.html").render(notebooks=notebooks, styles=STYLES)


def shown(cell: NotebookNode) -> Markup:
    """Return a teacher's answer, in code or in words, without the marks around it."""
    source = MARKS.sub("", cell.source)
    return Markup(code(source)) if cell.cell_type == "code" else markdown(source)


def class_page(
    lines: Sequence[Any], handouts: Mapping[str, Handout], absent: Sequence[str], everybody: Sequence[Any]
) -> str:
    """Return the teacher's page: doubts, solved exercises, failures, equal answers, missing students.

    everybody    the marks of all who have some: of a group's members, too, who sent nothing
    """
    notebooks = [about_notebook(one, [line for line in lines if one.name in line.totals]) for one in handouts.values()]
    remarks = {
        "Look at": [(line.row.name, line.doubts) for line in lines if line.doubts],
        "Remarks": [(line.row.name, line.remarks) for line in everybody if line.totals and line.remarks],
        "Without marks": [(line.row.name, line.remarks) for line in everybody if not line.totals],
        "Nothing came from": [(name, []) for name in absent],
    }
    values = {"notebooks": notebooks, "remarks": remarks, "students": len(lines), "equal": equal(lines, handouts)}
    marked = sum(bool(line.totals) for line in everybody)
    return ENVIRONMENT.get_template("class.html").render(**values, marked=marked, styles=STYLES)


def equal(lines: Sequence[Any], handouts: Mapping[str, Handout]) -> list[tuple[list[str], list[str]]]:
    """Return (names, their equal answers), those with most in common first: long answers, and typed numbers.

    Those of one group alone are not told: they worked together.
    """
    who = defaultdict(list)
    for line in lines:
        for name, handout in handouts.items():
            answers = line.row.notebooks.get(name, {}).get("answers", {}) if name in line.totals else {}
            for one in handout.graded:
                answer = answers.get(one.answer, {"open": True})
                if not answer["open"] and answer["shape"]:
                    who[f"{name}: {one.title}", answer["shape"]].append(line)
            if number := line.numbers.get(name):
                who[f"{name}: the number {number}", ""].append(line)
    together = defaultdict(list)
    for (what, _), found in who.items():
        names = [line.row.name for line in found]
        if len({line.group or line.row.key for line in found}) > 1:
            together[tuple(names)].append(what)
    return sorted(((list(names), what) for names, what in together.items()), key=lambda pair: -len(pair[1]))


def about_notebook(handout: Handout, lines: Sequence[Any]) -> dict:
    """Return the class page's row of one notebook; an average is over the answers that were read."""
    items = []
    for one in handout.graded:
        key, hints = (handout.name, one.answer), Counter()
        for line in lines:
            about = line.row.notebooks[handout.name]
            verdicts = [verdict for test in one.tests for verdict in about["verdicts"].get(test, [])]
            failures = [verdict["words"] for verdict in verdicts if not verdict["passed"]]
            first = (about["errors"].get(one.answer) or failures[0]) if failures else ""  # the cause, if it is known
            hints.update([first] * bool(first))
        got = [line.points[key] for line in lines]
        marked = [points for points in got if points is not None]
        bars = [sum(points >= one.points if k == one.points else k <= points < k + 1 for points in marked)
                for k in range(int(one.points) + 1)]  # fmt: skip
        items.append(
            {
                "title": one.title,
                "full": one.points,
                "bars": bars,
                "highest": max([*bars, 1]),
                "open": sum(line.row.notebooks[handout.name]["answers"][one.answer]["open"] for line in lines),
                "unread": got.count(None),
                "mean": sum(marked) / len(marked) if marked else None,
                "hint": hints.most_common(1)[0] if hints else None,
            }
        )
    read = [item for item in items if item["mean"] is not None]
    mean, full = sum(item["mean"] for item in read), sum(item["full"] for item in read)
    return {"name": handout.name, "items": items, "count": len(lines), "mean": mean, "full": full}
