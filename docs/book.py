"""Print the core of the course as a book: `make book` writes build/book/bmlab.pdf, by Chromium's print.

Each chapter is a notebook as a student has it: the story with what it prints and draws, what is folded on a screen laid
open, and exercises without solutions and tests.  Chromium is that of the path, or of CHROMIUM.
"""

import os
import re
import shutil
from html import escape
from importlib.resources import files
from pathlib import Path

import home
import nbformat
import pages
from looks import OF_A_TEST, STUB
from nbconvert import HTMLExporter
from nbformat import NotebookNode
from playwright.sync_api import Browser, Page, sync_playwright

from bmlab import __version__
from bmlab.widgets import DrawView
from bmlab_teaching.working_copies import record, without_solutions, without_teachers

FOLDER = pages.BUILD / "book"
CORE = [path for path in pages.NOTEBOOKS if pages.level(path) == "core"]
PRINT = {"format": "A4", "print_background": True, "prefer_css_page_size": True, "outline": True, "tagged": True}
HTML = """<!doctype html><html lang="en"><meta charset="utf-8"><title>bmlab: a course on Boltzmann machines</title>
<style>{style}</style><script>MathJax = {{ tex: {{ inlineMath: [["$", "$"], ["\\\\(", "\\\\)"]] }} }}</script>
<script src="{mathjax}"></script><body>{body}</body></html>"""
COVER = """<section class="cover"><p>bmlab {version}</p><h1>Nobody told it what an L is</h1>
<p>A course on Boltzmann machines: the core, in seven chapters</p><img alt="{alt}" src="data:image/png;base64,{png}">
<p class="about">Each chapter is a notebook, whose pictures move and whose numbers can be changed on a screen:
<code>make lab</code>. Before a result you are asked for a prediction: choose before you read on. Exercises have no
solutions here; they grade themselves there.</p></section>"""
CONTENTS = '<nav class="contents"><h1>Contents</h1><ol start="0">{rows}</ol></nav>'
ROW = '<li><a href="#{stem}"><span>{title}</span><span>{page}</span></a></li>'


def chapter(path: Path) -> NotebookNode:
    """A notebook as it is printed: exercises are questions and places to write, and nothing is folded."""
    notebook = without_teachers(without_solutions(nbformat.read(path, as_version=4), STUB))
    cells = []
    for cell in notebook.cells:
        about = record(cell)
        if about.get("grade") and not about.get("solution"):
            continue  # a test
        if about and cell.cell_type == "code":
            cell.outputs = []
        cell.source = ON_A_SCREEN.sub(lambda found: f"**On a screen: {found[1].lower()}{found[2]}**", cell.source)
        cell.source = OF_A_TEST.sub("", cell.source)
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata["transient"] = {"remove_source": True}
        cells.append(cell)
    notebook.cells = with_answers_last(cells)
    return notebook


ON_A_SCREEN = re.compile(r"\*\*(Do this|Find)(\.?)\*\*")  # what follows is pressed, moved or run
FOLDED_OUTPUT = re.compile(r"<details><summary>.*?</summary>(.*)</details>", re.DOTALL)
FOLDED_ANSWER = re.compile(r"<details><summary>Answer(s?)</summary>(.*?)</details>", re.DOTALL)


def with_answers_last(cells: list[NotebookNode]) -> list[NotebookNode]:
    """The cells of a chapter; its answers, which a page cannot fold, stand at its end."""
    answers: list[NotebookNode] = []
    number = 0
    for cell in cells:
        folded = [one for one in cell.get("outputs", []) if "bmlab-predict" in one.get("data", {}).get("text/html", "")]
        if folded:
            cell.outputs = []
            for one in folded:
                one.data["text/html"] = FOLDED_OUTPUT.sub(r"<p>What the cell says.</p>\1", one.data["text/html"])
            about = {"transient": {"remove_source": True}}
            answers.append(nbformat.v4.new_code_cell("", outputs=folded, metadata=about))
        if cell.cell_type == "markdown" and (found := FOLDED_ANSWER.search(cell.source)):
            cell.source = cell.source.replace(found[0], "").strip()
            number += found[1] == ""
            to = "**Check yourself**\n\n" if found[1] else f"**To prediction {number}.** "
            answers.append(nbformat.v4.new_markdown_cell(to + found[2].strip()))
    return [*cells, *([nbformat.v4.new_markdown_cell("## Answers")] if answers else []), *answers]


def html(path: Path) -> str:
    """A chapter's body; links to other chapters stay in the book."""
    body = HTMLExporter(
        template_name="basic", exclude_input_prompt=True, exclude_output_prompt=True
    ).from_notebook_node(chapter(path))[0]
    body = re.sub(r"<details(?=[ >])", "<details open", body)
    return f'<article id="{path.stem}">{re.sub(LINK, lead, body)}</article>'


LINK = re.compile(r'href="(?!\w+:|#)([^"#]+)([^"]*)"')


def lead(found: re.Match) -> str:
    """A link to a chapter of the book, or to the file in the repository."""
    stem = Path(found[1]).stem
    target = (pages.ROOT / "notebooks" / found[1]).resolve()
    kept = target.relative_to(pages.ROOT) if target.is_relative_to(pages.ROOT) else found[1]
    if stem in {path.stem for path in CORE}:
        return f'href="#{stem}"'
    return f'href="{home.file(kept)}"' if home.SOURCE else ""


def title(path: Path) -> str:
    return nbformat.read(path, as_version=4).cells[0].source.splitlines()[0].strip("# ")


def book(bodies: list[str], numbers: list[int]) -> str:
    """Cover, contents and chapters as one page of HTML."""
    view = DrawView()
    png = view._repr_mimebundle_()[0]["image/png"]
    rows = zip(CORE, numbers, strict=True)
    contents = "".join(ROW.format(stem=path.stem, title=escape(title(path)), page=page) for path, page in rows)
    cover = COVER.format(version=__version__, alt=escape(view.alt), png=png)
    return whole(cover + CONTENTS.format(rows=contents) + "".join(bodies))


def whole(body: str) -> str:
    mathjax = Path(str(files("mathjax") / "static/mathjax/es5/tex-svg.js")).as_uri()
    style = (pages.ROOT / "docs/static/book.css").read_text(encoding="utf-8")
    return HTML.format(style=style, mathjax=mathjax, body=body)


def printed(browser: Browser, text: str) -> bytes:
    """HTML as a PDF, its formulas set."""
    (FOLDER / "book.html").write_text(text, encoding="utf-8")
    page: Page = browser.new_page(color_scheme="light")
    page.goto((FOLDER / "book.html").as_uri(), wait_until="load")
    page.evaluate("() => MathJax.startup.promise")
    pdf = page.pdf(**PRINT)
    page.close()
    return pdf


def length(pdf: bytes) -> int:
    """How many pages it has."""
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    bodies, numbers = [html(path) for path in CORE], [3]  # after the cover and the contents
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for body in bodies[:-1]:
            numbers.append(numbers[-1] + length(printed(browser, whole(body))))
        (FOLDER / "bmlab.pdf").write_bytes(printed(browser, book(bodies, numbers)))
        browser.close()
    print(FOLDER / "bmlab.pdf")


if __name__ == "__main__":
    main()
