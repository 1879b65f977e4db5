"""Pages for students and teachers: each one file, formulas included; it asks for nothing outside and runs no script."""

import ast
import re
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

from .course import Handout, digest
from .slicing import UNREADABLE
from .working_copies import exercises, is_teachers, last_question, record, still_open, title_of

LONGEST, LONG_ENOUGH = 10_000, 900  # characters of an answer; of a syntax tree that two do not have by chance
MARKS = re.compile(r"^ *### (?:BEGIN|END) (?:SOLUTION|HIDDEN TESTS)\n?", re.MULTILINE)
LOADER = PackageLoader("bmlab_teaching")
ENVIRONMENT = Environment(loader=LOADER, autoescape=True, trim_blocks=True, lstrip_blocks=True)
STYLES = Markup(HtmlFormatter(style="friendly").get_style_defs(".code"))


class WithFormulas(mistune.HTMLRenderer):
    """Markdown to HTML with formulas in MathML, which browsers draw without a script."""

    def block_math(self, text: str) -> str:
        """A formula on a line of its own."""
        return formula(text, "block")

    def inline_math(self, text: str) -> str:
        """A formula within a line."""
        return formula(text, "inline")


def formula(body: str, display: str) -> str:
    """Return a formula in MathML, or as it was written where that cannot be made."""
    try:
        return convert(body, display=display)
    except Exception:  # whatever a parser of a language without a grammar stumbles over
        return f"<code>{escape(body)}</code>"


@cache
def markdown(text: str) -> Markup:
    """Return Markdown of the course as HTML; no student's text comes here."""
    return Markup(mistune.create_markdown(renderer=WithFormulas(escape=True), plugins=[math, table])(text))


def code(source: str) -> str:
    """Return code in colours, as HTML."""
    return highlight(source[:LONGEST], PythonLexer(stripall=True), HtmlFormatter(cssclass="code"))


def shape(source: str) -> str:
    """Return a short name of an answer without its comments and layout; "" if it is too short to compare."""
    try:
        bare = ast.dump(ast.parse(source))
    except UNREADABLE:
        return ""
    return digest(bare) if len(bare) > LONG_ENOUGH else ""


def feedback(line: Any, handout: Handout) -> str:
    """Return the page of a student's notebook: points and hints on top, then each exercise with its answer."""
    name, parts = handout.name, []
    about = line.row.notebooks[name]
    for one in handout.graded:
        answer, points = about["answers"][one.answer], line.points[name, one.answer]
        checks = []
        for test in one.tests if not answer["open"] and not one.by_hand else ():
            hints = about["hints"].get(test, [])
            checks += [(check, hint) for check, hint in zip(handout.tests[test].checks, hints, strict=False)]
        hints = filter(None, [about["errors"].get(one.answer, ""), *(hint for _, hint in checks)])
        about_part = {
            "exercise": one,
            "question": markdown(one.question),
            "answer": Markup(answer["html"]) or Markup("<pre>{}</pre>").format(answer["source"]),
            "said": about["said"].get(one.answer, ""),
            "hints": list(dict.fromkeys(hints)),
            "checks": [(check, hint) for check, hint in checks if check.name],
            "open": still_open(one) if answer["open"] else "",
            "points": points,
            "comment": line.comments[name, one.answer],
        }
        parts.append(about_part)
    values = {"name": name, "student": line.row.name, "parts": parts, "total": line.totals[name], "full": handout.full}
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


def class_page(lines: Sequence[Any], handouts: Mapping[str, Handout]) -> str:
    """Return the teacher's page: what was solved, what went wrong, what is alike, what to look at."""
    notebooks = [about_notebook(one, [line for line in lines if one.name in line.totals]) for one in handouts.values()]
    look = [(line.row.name, "; ".join(line.remarks)) for line in lines if line.totals and line.remarks]
    without = [(line.row.name, "; ".join(line.remarks)) for line in lines if not line.totals]
    values = {"notebooks": notebooks, "look": look, "without": without, "students": len(lines)}
    return ENVIRONMENT.get_template("class.html").render(**values, styles=STYLES)


def about_notebook(handout: Handout, lines: Sequence[Any]) -> dict:
    """Return what the class page says of one notebook."""
    items = []
    for one in handout.graded:
        key, twins, hints = (handout.name, one.answer), defaultdict(list), Counter()
        for line in lines:
            about = line.row.notebooks[handout.name]
            answer = about["answers"][one.answer]
            first = next((hint for test in one.tests for hint in about["hints"].get(test, []) if hint), "")
            hints.update([first] * bool(first))
            if not answer["open"] and answer["shape"]:
                twins[answer["shape"]].append(line.row.name)
        got = [line.points[key] for line in lines]
        bars = [sum(points is not None and (points >= one.points if k == one.points else k <= points < k + 1)
                    for points in got) for k in range(int(one.points) + 1)]  # fmt: skip
        items.append(
            {
                "title": one.title,
                "full": one.points,
                "bars": bars,
                "highest": max([*bars, 1]),
                "open": sum(line.row.notebooks[handout.name]["answers"][one.answer]["open"] for line in lines),
                "unread": got.count(None),
                "mean": sum(points or 0 for points in got) / max(1, len(got)),
                "hint": hints.most_common(1)[0] if hints else None,
                "alike": [names for names in twins.values() if len(names) > 1],
            }
        )
    mean = sum(line.totals[handout.name] for line in lines) / max(1, len(lines))
    return {"name": handout.name, "items": items, "count": len(lines), "mean": mean, "full": handout.full}
