"""Write a look at each notebook, docs/looks/NAME.md, for readers of the repository on a code host: make looks

What a student gets, with the outputs that the notebook stores: text, code, pictures, exercises without solutions and
hidden tests.  Its pictures are the notebook's own, byte for byte, and the one that stands for it is called NAME.png.
"""

import base64
import re
from html import unescape
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from bmlab.widgets.predicting import CHOOSE
from bmlab_teaching.working_copies import record, without_hidden_tests, without_solutions, without_teachers

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LOOKS = ROOT / "docs/looks"
# Which picture of a notebook stands for it.
COVERS = {
    "00": 1,
    "01": 4,
    "02": 0,
    "03": 0,
    "03b": 0,
    "03c": 0,
    "04": 1,
    "04b": 1,
    "05": 1,
    "05b": 0,
    "06": 3,
    "07": 1,
    "08": 3,
}
COVERS |= {"09": 1, "10": 3}
LINK = re.compile(r"\]\((?!\w+:)([^)\s#]*)(#[^)\s]*)?\)")
STUB = "# YOUR CODE HERE"
TOP = """

*A look at notebook {number}: its text, its code and what that prints, without solutions. `make lab` opens your own
copy, in which you write, and pictures such as the first are live.* [All notebooks](../../README.md#the-course)"""
OF_A_TEST = re.compile(r" (?:The|Run the) locked cell below it[^.]*\.(?: \(In a class[^)]*\))?")
IN_A_LOOK = " What its test asks first is folded below, and your own copy runs it."
FOLDED = "<details><summary>{}</summary>\n\n{}\n\n</details>"


def for_students(notebook: NotebookNode) -> NotebookNode:
    """Return a copy of a notebook without solutions, hidden tests and cells for teachers."""
    return without_hidden_tests(without_solutions(without_teachers(notebook), STUB))


def number(path: Path) -> str:
    return path.stem.partition("_")[0]


def pictures(notebook: NotebookNode) -> list[str]:
    """The pictures that a notebook stores, as base64."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output.data["image/png"].strip() for output in outputs if "image/png" in output.get("data", {})]


def cover(path: Path) -> str:
    """The picture that stands for a notebook."""
    found = pictures(nbformat.read(path, as_version=4))
    return found[min(COVERS.get(number(path), 0), len(found) - 1)]


def look(path: Path) -> tuple[str, dict[str, bytes]]:
    """Return the page of a notebook, and its pictures by their names."""
    files: dict[str, bytes] = {}
    notebook, front = for_students(nbformat.read(path, as_version=4)), cover(path)

    def picture(png: str, alt: str) -> str:
        data = base64.b64decode(png)
        name = f"{path.stem}.png" if png == front else f"{path.stem}-{len(files)}.png"
        files[name] = data
        return f'<img alt="{alt}" src="{name}" width="{int.from_bytes(data[16:20], "big") // 2}">'

    parts = [part for cell in notebook.cells for part in as_markdown(cell, picture)]
    parts[0] += TOP.format(number=number(path))
    return "\n\n".join(parts) + "\n", files


def as_markdown(cell: NotebookNode, picture) -> list[str]:
    """A cell and its outputs as pieces of Markdown."""
    if cell.cell_type == "markdown":
        return [LINK.sub(led, OF_A_TEST.sub(IN_A_LOOK, cell.source))]
    code = fenced(cell.source.strip(), "python")
    about = record(cell)
    if about.get("grade") and not about.get("solution"):
        return [FOLDED.format("Its test", code)]
    if cell.metadata.get("jupyter", {}).get("source_hidden"):
        code = FOLDED.format("Code", code)
    return [code, *([] if about else [shown(output, picture) for output in cell.outputs])]


def shown(output: NotebookNode, picture) -> str:
    """An output: printed text, a picture, or a prediction, which stays folded."""
    data, about = output.get("data", {}), output.get("metadata", {}).get("image/png", {})
    if "image/png" in data:
        return picture(data["image/png"].strip(), about.get("alt", ""))
    text = output.get("text") or data.get("text/plain", "")
    if 'class="bmlab-predict"' not in data.get("text/html", ""):
        return fenced(text.rstrip(), "text")
    inside = re.findall(r'<pre>(.*?)</pre>|<img alt="(.*?)".*?base64,([^"]+)"', data["text/html"], re.DOTALL)
    said = [picture(png, alt) if png else fenced(unescape(words).rstrip(), "text") for words, alt, png in inside]
    return FOLDED.format(CHOOSE, "\n\n".join(said))


def fenced(text: str, kind: str) -> str:
    fence = "````" if "```" in text else "```"
    return f"{fence}{kind}\n{text}\n{fence}"


def led(found: re.Match) -> str:
    """A link of a notebook as it leads from its look: to other looks, and to files of the repository."""
    to, heading = found[1], (found[2] or "").lower()
    if to.startswith("../docs/"):
        to = to.removeprefix("../docs").replace("/", "../", 1)
    elif to.endswith(".ipynb"):
        to = to.removesuffix(".ipynb") + ".md"
    elif to:
        to = f"../../notebooks/{to}".replace("notebooks/../", "")
    return f"]({to}{heading})"


def main() -> None:
    LOOKS.mkdir(exist_ok=True)
    made: dict[Path, bytes] = {}
    for path in NOTEBOOKS:
        text, files = look(path)
        made |= {LOOKS / name: data for name, data in (files | {f"{path.stem}.md": text.encode()}).items()}
    for left in set(LOOKS.iterdir()) - set(made):
        left.unlink()  # of a picture that is no more
    for place, data in made.items():
        if not place.exists() or place.read_bytes() != data:
            place.write_bytes(data)
            print(place.relative_to(ROOT))


if __name__ == "__main__":
    main()
