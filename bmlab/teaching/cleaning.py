"""Students' Markdown and HTML, before any of it is stored: what could act in a teacher's page is taken out.

nh3 keeps an allow-list of tags and attributes. Markdown without HTML and with harmless links stays as it was written.
"""

import re

import nh3
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

SHOWN = ("text/plain", "text/html", "text/markdown", "text/latex", "image/png", "image/jpeg")  # no script, SVG, widget
SCHEMES = {"http", "https", "mailto"}
LINK = re.compile(r"""(?:href|src)="(?!https?:|mailto:|attachment:|#|[\w./-]*(?:[?#]|"))""", re.IGNORECASE)
ACTING = re.compile(r"\\(?:href|require|class|style|cssId|data)\b")  # what MathJax would act on


def without_acts(text: str) -> str:
    """Return formulas without the commands that link, load or style."""
    return ACTING.sub(r"\\text", text)


def clean_html(text: str) -> str:
    """Return the HTML with allowed tags, attributes and links only."""
    return nh3.clean(without_acts(text), url_schemes=SCHEMES)


def clean_markdown(text: str) -> str:
    """Return Markdown as it is where it holds neither HTML nor another link; else the page that it makes, cleaned."""
    text = without_acts(text)
    escaped, page = (MarkdownWithMath(renderer=IPythonRenderer(escape=escape)).render(text) for escape in (True, False))
    return text if escaped == page and not LINK.search(page) else clean_html(page)


def clean(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook, changed in place: Markdown and attachments of all cells, and what their outputs show."""
    for cell in notebook.cells:
        if cell.cell_type != "code":
            cell.source = clean_markdown(cell.source)
            for name, data in list(cell.get("attachments", {}).items()):
                cell.attachments[name] = {kind: x for kind, x in data.items() if kind in ("image/png", "image/jpeg")}
        for output in cell.get("outputs", []):
            if "data" in output:
                output.data = {kind: _clean_data(kind, output.data[kind]) for kind in SHOWN if kind in output.data}
                output.metadata = {}
    return notebook


def _clean_data(kind, data):
    text = "".join(data) if isinstance(data, list) else data
    cleaners = {"text/html": clean_html, "text/markdown": clean_markdown, "text/latex": without_acts}
    return cleaners.get(kind, str)(text)
