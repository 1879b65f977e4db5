"""Slides of a notebook: one idea each, without the exercises, on one page that needs no network and no script.

A section gives a slide with its first words and its formulas, a prediction one with its options, a cell one with what
it prints or draws. The page scrolls from slide to slide (arrows, space, Page Down), and prints one a page.
"""

import base64
import re
from collections.abc import Iterator
from html import unescape

from markupsafe import Markup
from nbformat import NotebookNode

from .exercises import record
from .pages import ENVIRONMENT, STYLES, code, markdown

WORDS, LINES = 75, 14  # the most that a slide shows of a text, and of a cell
FOLDS = re.compile(r"</?details>|<summary>.*?</summary>")  # around the answer to a prediction
HIDDEN = re.compile(r"^## (Exercises|Close|Play)\b", re.MULTILINE)


def blocks(text: str) -> list[str]:
    """The paragraphs of a cell; a list or a formula goes with the words above it, a heading with those below."""
    found: list[str] = []
    for part in re.split(r"\n\s*\n", text.strip()):
        joins = found and (
            re.match(r"\s*([-*] |\d+\. |\$\$|\|)", part) or (found[-1].startswith("#") and "\n" not in found[-1])
        )
        if joins:
            found[-1] += "\n\n" + part
        else:
            found.append(part)
    return found


def texts(cell: NotebookNode) -> Iterator[str]:
    """The parts of a text that make slides: each section's beginning, and each prediction."""
    for place, part in enumerate(blocks(FOLDS.sub("", cell.source))):
        wanted = part.startswith("#") or "**Predict" in part or "$$" in part or place == 0
        if wanted and len(re.sub(r"\$[^$]*\$", "x", part).split()) <= (2 * WORDS if "**Predict" in part else WORDS):
            yield part
        elif part.startswith("#"):
            yield part.partition("\n")[0]


def shown(cell: NotebookNode) -> dict:
    """What a cell shows: its code where that is short, what it prints, its pictures."""
    short = len(cell.source.splitlines()) <= LINES and len(cell.source) < 900
    pictures, printed = [], ""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/png" in data:
            png = "".join(data["image/png"].split())
            base64.b64decode(png, validate=True)
            pictures.append(f"data:image/png;base64,{png}")
        elif 'class="bmlab-predict"' in (html := data.get("text/html", "")):
            pictures += re.findall(r'src="(data:image/png;base64,[\w+/=]+)"', html)
            printed += unescape("".join(re.findall(r"<pre>(.*?)</pre>", html, re.DOTALL)))
        else:
            printed += output.get("text", "")
    lines = printed.splitlines()[:LINES]
    return {
        "code": code(cell.source) if short and not pictures else "",
        "pictures": pictures,
        "printed": "\n".join(lines),
    }


def slides(notebook: NotebookNode) -> str:
    """Return the page of a notebook's slides."""
    deck, title, hidden = [], "", False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = cell.source
            heading = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
            if heading:
                title, hidden = heading[-1], bool(HIDDEN.search(text))
            found = HIDDEN.search(text)
            before = NotebookNode(source=text[: found.start()] if found else text)
            if found or not hidden:
                deck += [{"text": markdown(part)} for part in texts(before)]
        elif cell.cell_type == "code" and not record(cell) and not hidden:
            what = shown(cell)
            if what["pictures"] or what["printed"]:
                deck.append(what | {"title": title})
    name = re.sub(r"^#+ ", "", deck[0]["text"].striptags().split("\n")[0]) if deck else ""
    return ENVIRONMENT.get_template("slides.html").render(deck=deck, name=name, styles=Markup(STYLES))
