"""Slides of a notebook: one idea each, without the exercises, on one page that needs no network and no script.

A section gives a slide with its first words and its formulas, a prediction one with its options, a cell one with what
it prints or draws and the words that explain it. The page scrolls from slide to slide (arrows, space, Page Down), and
prints one a page.
"""

import base64
import re
from collections.abc import Iterator
from html import unescape
from itertools import accumulate
from typing import Any

from markupsafe import Markup
from nbformat import NotebookNode

from .exercises import record, without_teachers
from .pages import ENVIRONMENT, STYLES, code, markdown

WORDS, LINES, FEW = 75, 14, 10  # the most that a slide shows of a text, and of a cell; fewer words make no slide
BESIDE = {True: 5, False: 16}  # lines beside which there is room for words, with a picture and without
FOLDS = re.compile(r"</?details>|<summary>.*?</summary>")  # around the answer to a prediction
HIDDEN = re.compile(r"^## (Exercises|Close|Play)\b", re.MULTILINE)
HEADING = re.compile(r"(?:#+ (.+)\n*)?")


def blocks(text: str) -> list[str]:
    """The paragraphs of a cell; a list or a formula goes with the words above it, a heading with those below."""
    found: list[str] = []
    for part in re.split(r"\n\s*\n", text.strip()):
        joins = found and (
            re.match(r"\s*([-*] |\d+\. |\$\$|\|)", part) or (found[-1].startswith("#") and "\n" not in found[-1])
        )
        if joins and not part.startswith("**Time**"):  # which is the reader's, not the listener's
            found[-1] += "\n\n" + part
        else:
            found.append(part)
    return found


def texts(cell: NotebookNode) -> Iterator[tuple[int, str, str]]:
    """The parts of a text that make slides, each with its place and heading: beginnings, formulas, predictions."""
    for place, part in enumerate(blocks(FOLDS.sub("", cell.source))):
        found = HEADING.match(part)
        heading, body = (found[1] or "", part[found.end() :]) if found else ("", part)
        predicts = body.startswith("**Predict")
        wanted = heading or predicts or "$$" in body or place == 0 or body.startswith("After this you can")
        room = (1 + predicts) * WORDS
        if wanted and (heading or words(body) <= room):
            yield place, heading, body if words(body) <= room else beginning(body, room)


def words(text: str) -> int:
    """How many words a text has; a formula is one."""
    return len(re.sub(r"\$[^$]*\$", "x", text).split())


def beginning(text: str, room: int) -> str:
    """The first sentences of a text, as many as there is room for."""
    sentences = re.split(r"(?<=[.?!]) +(?=[A-Z*])", " ".join(text.partition("\n\n")[0].split()))
    lengths = accumulate(map(words, sentences))
    return " ".join(sentence for sentence, length in zip(sentences, lengths, strict=True) if length <= room)


def shown(cell: NotebookNode) -> dict[str, Any]:
    """What a cell shows: its code where that is short, what it prints, its pictures, and how much that is."""
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
    source = cell.source if short and not pictures else ""
    lines = printed.splitlines()[:LINES]
    every = lines + source.splitlines()
    return {
        "code": code(source) if source else "",
        "pictures": pictures,
        "printed": "\n".join(lines),
        "lines": len(every),
        "columns": max(map(len, every), default=1),
    }


def slides(notebook: NotebookNode) -> str:
    """Return the page of a notebook's slides."""
    deck: list[dict[str, Any]] = []
    title, opens, hidden, last = "", False, False, None
    for cell in without_teachers(notebook).cells:
        if cell.cell_type == "markdown":
            found = HIDDEN.search(cell.source)
            before = NotebookNode(source=cell.source[: found.start()] if found else cell.source)
            for place, heading, body in () if hidden else texts(before):
                title, opens = heading or title, opens or bool(heading)
                if last and not place and not heading and not body.startswith("**Predict") and has_room(last):
                    last["words"] = markdown(body)
                elif body and (heading or words(body) > FEW or "$$" in body):
                    deck.append({"title": title, "opens": opens, "text": markdown(body)})
                    opens = False
            if re.search("^#", cell.source, re.MULTILINE):
                hidden = bool(found)
            last = None
        elif not record(cell) and not hidden:
            last = shown(cell)
            if last["pictures"] or last["printed"]:
                deck.append(last | {"title": title, "opens": opens})
                last, opens = deck[-1], False
    name = deck[0]["title"] if deck else ""
    return ENVIRONMENT.get_template("slides.html").render(deck=deck, name=name, styles=Markup(STYLES))


def has_room(what: dict[str, Any]) -> bool:
    """Whether a slide has room for words below what it shows."""
    return "title" in what and what["lines"] <= BESIDE[bool(what["pictures"])]
