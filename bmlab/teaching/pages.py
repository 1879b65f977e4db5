"""Pages for students and teachers: each one file, formulas included; it asks for nothing outside and runs no script."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader
from latex2mathml.converter import convert
from markupsafe import Markup
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from .cleaning import clean_html
from .exercises import record, still_open, with_points, worked
from .looking import shape
from .sheets import Line, Sheet

LONGEST = 20_000  # characters of an answer
MARKS = re.compile(r"^ *### (?:BEGIN|END) (?:SOLUTION|HIDDEN TESTS)\n?", re.MULTILINE)
ENVIRONMENT = Environment(loader=PackageLoader("bmlab.teaching"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
STYLES = HtmlFormatter(style="friendly").get_style_defs(".code")


class WithFormulas(IPythonRenderer):
    """Markdown to HTML with formulas in MathML, which browsers draw without MathJax."""

    def block_math(self, body: str) -> str:
        """A formula on a line of its own."""
        return formula(body, "block")

    def inline_math(self, body: str) -> str:
        """A formula within a line."""
        return formula(body, "inline")


def formula(body: str, display: str) -> str:
    """Return a formula in MathML, or as it was written where that cannot be made."""
    try:
        return convert(body, display=display)
    except Exception:  # whatever a parser of a language without a grammar stumbles over
        return str(Markup("<code>{}</code>").format(body))


@cache
def markdown(text: str) -> Markup:
    """Return Markdown of the course as HTML."""
    return Markup(MarkdownWithMath(renderer=WithFormulas(escape=True)).render(text))


@cache
def code(source: str) -> Markup:
    """Return an answer in colours."""
    return Markup(highlight(source[:LONGEST], PythonLexer(stripall=True), HtmlFormatter(cssclass="code")))


def shown(cell: NotebookNode) -> Markup:
    """Return a teacher's answer, in code or in words, without the marks around it."""
    source = MARKS.sub("", cell.source)
    return code(source) if cell.cell_type == "code" else markdown(source)


def students_words(text: str) -> Markup:
    """Return a student's Markdown as HTML that cannot act."""
    return Markup(clean_html(MarkdownWithMath(renderer=IPythonRenderer(escape=True)).render(text[:LONGEST])))


def feedback(line: Line, name: str, sheet: Sheet) -> str:
    """Return the page of a student's notebook: points and hints on top, then each exercise with its answer."""
    assert line.row
    graded, parts = line.row.notebooks[name], []
    for one in sheet.exercises[name]:
        answer, mark = graded.answers[one.answer], sheet.marks.get((line.row.name, name, one.answer))
        marks = [sheet.marks.get((line.row.name, name, test)) for test in one.tests]
        comments = [mark.comment for mark in [mark, *marks] if mark and mark.comment]
        parts.append(
            {
                "title": one.title,
                "question": markdown(one.question),
                "answer": code(answer.source) if one.made or not one.by_hand else students_words(answer.source),
                "said": answer.said,
                "hints": answer.hints,
                "open": still_open(one) if answer.open else "",
                "points": line.points[name, one.answer],
                "full": one.points,
                "waiting": any(mark.waiting for mark in marks if mark),
                "comments": list(dict.fromkeys(comments)),
            }
        )
    late = next((remark for remark in line.remarks if remark.startswith(f"{name}:") and "late" in remark), "")
    values = {"name": name, "student": line.name, "parts": parts, "late": late, "file": Path(graded.place).name}
    total = {"total": line.totals[name], "full": sheet.full(name)}
    return ENVIRONMENT.get_template("feedback.html").render(**values, **total, styles=Markup(STYLES))


def solutions(sources: Mapping[str, NotebookNode]) -> str:
    """Return the teacher's page of every exercise with its solution and its tests."""
    notebooks = []
    for name, source in sources.items():
        cells = {record(cell)["grade_id"]: cell for cell in source.cells if record(cell)}
        parts = [
            {
                "title": one.title,
                "points": one.points,
                "question": markdown(one.question),
                "answer": shown(cells[one.answer]),
                "tests": [code(MARKS.sub("", cells[test].source)) for test in one.tests if test != one.answer],
            }
            for one in with_points(source)
        ]
        parts += [
            {"title": title, "points": 0, "question": markdown(question), "answer": shown(cell), "tests": []}
            for title, question, cell in worked(source)
        ]
        notebooks += [(name, parts)] * bool(parts)
    return ENVIRONMENT.get_template("solutions.html").render(notebooks=notebooks, styles=Markup(STYLES))


def class_page(sheet: Sheet) -> str:
    """Return the teacher's page: what was solved, what went wrong, what is alike, what to look at."""
    notebooks = [about_notebook(name, sheet) for name in sheet.exercises]
    look = [
        (line.name, name, flag)
        for line in sheet.lines
        for name, graded in (line.row.notebooks.items() if line.row else ())
        for flag in graded.flags
    ]
    graded = sum(bool(line.totals) for line in sheet.lines)
    values = {"notebooks": notebooks, "look": look, "graded": graded, "students": len(sheet.lines)}
    blank = [(line.name, "; ".join(line.remarks)) for line in sheet.lines if not line.totals]
    return ENVIRONMENT.get_template("class.html").render(**values, blank=blank, styles=Markup(STYLES))


def about_notebook(name: str, sheet: Sheet) -> dict:
    """Return what the class page says of one notebook."""
    rows = [line for line in sheet.lines if name in line.totals]
    items = []
    for one in sheet.exercises[name]:
        answers = [(line, line.row.notebooks[name].answers[one.answer]) for line in rows if line.row]
        hints = Counter(hint for _, answer in answers for hint in answer.hints[-1:])
        twins = defaultdict(list)
        for line, answer in answers:
            if not answer.open and shape(answer.source):
                twins[shape(answer.source)].append(line.name)
        solved = sum(line.points[name, one.answer] >= one.points for line in rows)
        items.append(
            {
                "title": one.title,
                "solved": solved / len(rows) if rows else 0,
                "open": sum(answer.open for _, answer in answers),
                "hint": hints.most_common(1)[0] if hints else None,
                "alike": [names for names in twins.values() if len(names) > 1],
            }
        )
    hardest = min(items, key=lambda item: item["solved"])["title"] if rows else ""
    mean = sum(line.totals[name] for line in rows) / len(rows) if rows else 0
    return {
        "name": name,
        "items": items,
        "count": len(rows),
        "hardest": hardest,
        "mean": mean,
        "full": sheet.full(name),
    }
