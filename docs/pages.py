"""Write the sources of the site for Sphinx, to build/pages: python docs/pages.py [--teacher]

A notebook becomes a page as a student gets it, with the outputs that it stores: without solutions and hidden tests
(--teacher: with both), a place to think in the place of each answer, and the visible part of a test as a hint behind a
click.  Only files that have changed are written, so that Sphinx makes only their pages again.
"""

import argparse
import base64
import hashlib
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from html import escape
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from struct import unpack

import home
import nbformat
import reference
import views
from looks import LOOKS, NOTEBOOKS, OF_A_TEST, ROOT, cover, for_students, number
from nbformat import NotebookNode
from PIL import Image, ImageOps

import bmlab
from bmlab import __version__
from bmlab.widgets import DrawView
from bmlab.widgets.view import WIDGETS_FOLDER, script
from bmlab_teaching.handouts import write_zip
from bmlab_teaching.working_copies import beside, record, working_copy

BUILD = ROOT / "build"
EXTRA, STATIC = BUILD / "extra", BUILD / "static"  # copied as they are
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!\w+:|#)([^)\s#]+)([^)\s]*)\)")
HEADING = re.compile(r"(?<=\]\()#[\w-]+(?=\))")  # JupyterLab calls "One word" One-word
WITHIN_HTML = re.compile(r'src="data:image/png;base64,([^"]+)"')

ON_A_PAGE = " On this page it is a place to think, and what its test asks first is folded below."
THINK = """<div class="bmlab-think"><label>A place to think <span>(kept by this browser)</span> \
<textarea rows="4" data-name="{}"></textarea></label></div>"""
HINT = """<details class="bmlab-hint"><summary>A hint: what its test asks first</summary>

```ipython3
{}
```

</details>"""
USE = """<div class="bmlab-use">
<details><summary>Open locally</summary><pre>{get}make lab</pre>{where} \
<a href="../docs/getting_started.html#the-course">Without make, or on Windows</a></details>
{links}
</div>"""


WRITTEN: set[Path] = set()


def write(path: Path, content: str | bytes) -> None:
    """Write a file if its content has changed."""
    WRITTEN.add(path)
    data = content.encode() if isinstance(content, str) else content
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def picture(png: str, alt: str, dense: int = 2) -> str:
    """Store a picture, of `dense` pixels a point, as a file of the site; return its HTML on a page one folder down."""
    data = base64.b64decode(png)
    name = f"pictures/{hashlib.sha256(data).hexdigest()[:16]}.png"
    write(EXTRA / name, data)
    width, height = unpack(">II", data[16:24])
    size = f'width="{width // dense}" height="{height // dense}"'
    return f'<img alt="{escape(alt)}" src="../{name}" {size} loading="lazy">'


def shown(output: NotebookNode, cell: str, seen: dict[str, dict]) -> NotebookNode:
    """Return an output with its pictures as files, its prediction unchanged, its view with its data."""
    data, about = output.get("data", {}), output.get("metadata", {}).get("image/png", {})
    if "text/html" in data:
        data["text/html"] = WITHIN_HTML.sub(lambda found: smaller(found[1]), data["text/html"])
    if "image/png" not in data:
        return output
    html = picture(data["image/png"], about.get("alt", ""))
    live = seen.get(cell)
    if live:
        stored = json.dumps(live).replace("<", "\\u003c")
        html = f'<figure class="bmlab-live">{html}<script type="application/json">{stored}</script></figure>'
    return nbformat.v4.new_output("display_data", data={"text/html": html, "text/plain": data.get("text/plain", "")})


def smaller(png: str) -> str:
    return re.search(r"src=.*", picture(png, ""))[0].rstrip(">")


# A searched word -> the page that the search shows first, and others.
TERMS = {
    "annealed importance sampling": ("notebooks/03c_z_from_samples", "api/sampling"),
    "belief propagation": ("notebooks/04b_can_it_be_proved", "api/variational"),
    "burn-in": ("notebooks/03b_long_enough", "api/sampling"),
    "contrastive divergence": ("notebooks/08_restricted_machines", "notebooks/05_full_learning", "api/learning"),
    "energy": ("notebooks/00_start", "api/machines"),
    "enumeration": ("notebooks/02_exact_z", "api/exact"),
    "free energy": ("notebooks/04_mean_field", "api/variational"),
    "Gibbs sampling": ("notebooks/03_gibbs_sampling", "api/sampling"),
    "grading": ("docs/teaching",),
    "gradient": ("notebooks/01_theory", "api/learning"),
    "handwritten digits": ("notebooks/09_handwritten_digits", "docs/digits", "api/data"),
    "hidden units": ("notebooks/07_hidden_units", "docs/hidden_units"),
    "Hopfield network": ("notebooks/10_attention_and_diffusion", "api/machines"),
    "install": ("docs/getting_started",),
    "learning rule": ("notebooks/01_theory", "api/learning"),
    "log likelihood": ("notebooks/01_theory", "api/learning"),
    "mean field": ("notebooks/04_mean_field", "api/variational"),
    "missing data": ("docs/missing_entries", "notebooks/06_your_own_data"),
    "overfitting": ("docs/own_data", "notebooks/06_your_own_data"),
    "parallel tempering": ("notebooks/03b_long_enough", "api/sampling"),
    "partition function": ("notebooks/02_exact_z", "api/exact", "notebooks/03c_z_from_samples"),
    "pseudolikelihood": ("api/learning", "notebooks/05_full_learning"),
    "replica exchange": ("notebooks/03b_long_enough", "api/sampling"),
    "restricted Boltzmann machine": ("notebooks/08_restricted_machines", "docs/restricted"),
    "standard errors": ("docs/own_data", "api/learning"),
    "temperature": ("notebooks/00_start",),
}


def indexed(name: str) -> str:
    """The entries of a page in the index, of which the search ranks the main ones first."""
    terms = [("! " if pages[0] == name else "") + term for term, pages in TERMS.items() if name in pages]
    return "\n\n```{index} " + ", ".join(terms) + "\n```\n" if terms else ""


def small(png: str, alt: str, width: int) -> str:
    """The HTML of a picture at most so wide, on a page of the first folder."""
    return picture(base64.b64encode(shrunk(png, width)).decode(), alt, dense=1).replace('src="../', 'src="')


def shrunk(png: str, width: int) -> bytes:
    """A picture at most so wide and high, as a file; its ground stays clear."""
    image, buffer = Image.open(BytesIO(base64.b64decode(png))).convert("RGBA"), BytesIO()
    image.thumbnail((width, width))
    image.quantize(128).save(buffer, "png", optimize=True)
    return buffer.getvalue()


def card(path: Path) -> str:
    """A notebook on the first page: its picture, question, minutes and level."""
    cells = nbformat.read(path, as_version=4).cells
    minutes = next(found[1] for cell in cells if (found := re.search(r"\*\*Time\*\* (\d+)", cell.source)))
    return (
        f'<a class="bmlab-card" href="notebooks/{path.stem}.html">{small(cover(path), "", 400)}'
        f"<b>{escape(cells[0].source.splitlines()[0].strip('# '))}</b>"
        f"<span>{number(path)} · {minutes} minutes · {level(path)}</span></a>"
    )


def level(path: Path) -> str:
    """Core is 00 to 05 and 05b; notebooks with another letter or a larger number are further."""
    return "core" if re.match(r"0[0-5]_|05b_", path.stem) else "further"


def with_cards(text: str) -> str:
    """A page of contents with a card for each notebook, if it asks for them."""
    for kind in ("core", "further"):
        cards = "\n".join(card(path) for path in NOTEBOOKS if level(path) == kind)
        text = text.replace(f"CARDS {kind}", f'<div class="bmlab-cards">\n{cards}\n</div>')
    return text


def first_page(text: str) -> str:
    """The first page with its view."""
    view = DrawView()
    data, words = view._repr_mimebundle_()
    live = json.dumps(words["image/png"]["bmlab"] | {"alt": view.alt, "folder": ""}).replace("<", "\\u003c")
    still = small(data["image/png"], view.alt, 900)
    write(EXTRA / "card.png", link_card(data["image/png"]))
    piece = f'<figure class="bmlab-live">{still}<script type="application/json">{live}</script></figure>'
    site = home.PAGES.rstrip("/") or "."  # a link that others show needs the whole address
    return text.replace("PIECE", piece).replace("VERSION", __version__).replace("SITE/", f"{site}/")


def first_steps() -> str:
    """The module of the steps below the view: the scripts of the view, and the steps."""
    steps = (ROOT / "docs/static/steps.js").read_text(encoding="utf-8")
    return script("sampler.js", "learner.js", "pad.js", "dreams.js") + "\n" + steps


def link_card(png: str) -> bytes:
    """The picture that other sites show with a link to the first page: 1200 x 630 pixels, on white."""
    image, buffer = Image.open(BytesIO(base64.b64decode(png))).convert("RGBA"), BytesIO()
    image = ImageOps.contain(image, (1120, 550))
    card = Image.new("RGBA", (1200, 630), "white")
    card.alpha_composite(image, ((1200 - image.width) // 2, (630 - image.height) // 2))
    card.convert("RGB").quantize(128).save(buffer, "png", optimize=True)
    return buffer.getvalue()


def page(path: Path, teacher: bool) -> NotebookNode:
    """Return a notebook as its page shows it."""
    source, seen = nbformat.read(path, as_version=4), views.of(path)
    notebook = source if teacher else for_students(source)
    cells = []
    for cell in notebook.cells:
        about = record(cell)
        cell.outputs = [shown(output, cell.id, seen) for output in cell.get("outputs", [])]
        if about and not teacher:
            cell.outputs = []
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata.tags = [*cell.metadata.get("tags", []), "hide-input"]
        if cell.cell_type == "markdown":
            del cell["outputs"]
            cell.source = linked(cell.source if teacher else OF_A_TEST.sub(ON_A_PAGE, cell.source), path)
        if about.get("grade") and not about.get("solution") and not teacher:
            cells.append(nbformat.v4.new_markdown_cell(HINT.format(cell.source.strip()), id=cell.id))
            continue
        cells.append(cell)
        if about.get("solution") and not teacher:
            place = THINK.format(f"{path.stem}/{about['grade_id']}")
            cells.append(nbformat.v4.new_markdown_cell(place, id=f"{cell.id}-think"))
    first = cells[0]
    title, _, rest = first.source.partition("\n")
    first.source = f"{title}\n\n{use(path)}\n{rest}{indexed(f'notebooks/{path.stem}')}"
    if taught := [entry for name in bmlab.__all__ if reference.taught(name) == path and (entry := link(name))]:
        words = "In the reference: " + ", ".join(taught) + "."
        cells.append(nbformat.v4.new_markdown_cell(words, id="in-the-reference"))
    notebook.cells = cells
    notebook.metadata.kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return notebook


def link(name: str) -> str:
    """A public name as a link to its entry in the reference; "" if it has none."""
    return f"{{py:obj}}`{name} <bmlab.{name}>`" if callable(getattr(bmlab, name)) else ""


def use(path: Path) -> str:
    """The line above a page: how to open it here, the notebook itself, and services that open it."""
    student = f"../student/{path.stem}.zip"
    links = [("Download the notebook", student), *services(path)]
    named = "\n".join(f'<a href="{escape(to)}"{" download" * (to == student)}>{name}</a>' for name, to in links)
    get = f"git clone {home.SOURCE} bmlab && cd bmlab\n" if home.SOURCE else ""
    where = "" if home.SOURCE else "In the folder of the course."
    return USE.format(get=get, where=where, links=named)


def services(path: Path) -> list[tuple[str, str]]:
    """Links that open a notebook of the project's repository, if it is on a host that these services read."""
    repository, hub = home.ON_GITHUB, home.URLS.get("JupyterHub", "")
    if not repository:
        return []
    name = repository.partition("/")[2]
    found = [
        ("Binder", f"https://mybinder.org/v2/gh/{repository}/HEAD?urlpath=lab/tree/course/{path.name}"),
        ("Colab", f"https://colab.research.google.com/github/{repository}/blob/gh-pages/colab/{path.name}"),
    ]
    if hub:
        pull = f"repo=https%3A%2F%2Fgithub.com%2F{repository.replace('/', '%2F')}&branch=gh-pages"
        to = f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{pull}&urlpath=lab%2Ftree%2F{name}%2Fstudent%2F{path.name}"
        found.append(("JupyterHub", to))
    return found


def linked(text: str, path: Path) -> str:
    """Let links to files that are no pages lead to the project's home, if it has one, and headings have its names."""

    def lead(found):
        target = (path.parent / found[2]).resolve()
        if not target.exists():
            raise FileNotFoundError(f"{path.relative_to(ROOT)} has a link to {found[2]}, which is not there")
        if target.parent == LOOKS:  # the page of the notebook itself
            target = ROOT / f"notebooks/{target.stem}.ipynb"
        inside = target.relative_to(ROOT)
        if inside in PAGE_OF:
            return f"[{found[1]}]({os.path.relpath(target, path.parent)}{found[3]})"
        return f"[{found[1]}]({home.file(inside)}{found[3]})" if home.SOURCE else found[1]

    return HEADING.sub(lambda found: found[0].lower(), LINK.sub(lead, text))


DOCS = [ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGE_OF = {path.relative_to(ROOT) for path in [*DOCS, *NOTEBOOKS]}


def colab(notebook: NotebookNode) -> NotebookNode:
    """A student's copy whose first cell installs the package and brings the files beside the copy."""
    install = [
        f"!git clone --quiet --depth 1 {home.SOURCE} bmlab_course",
        '%pip install --quiet "./bmlab_course[lab]" ./bmlab_course/teaching',
        "!cd bmlab_course && python -m bmlab_teaching.working_copies && cp -r course/tables ..",
    ]
    cell = nbformat.v4.new_code_cell("\n".join(install), id="install")
    return nbformat.from_dict(notebook | {"cells": [cell, *notebook.cells]})


def mathjax() -> None:
    """The part of MathJax that pages ask for, with its licence."""
    home = files("mathjax") / "static/mathjax"
    for name in ("es5/tex-chtml.js", "LICENSE"):
        write(STATIC / "mathjax" / Path(name).name, (home / name).read_bytes())
    for font in (home / "es5/output/chtml/fonts/woff-v2").iterdir():
        write(STATIC / f"mathjax/output/chtml/fonts/woff-v2/{font.name}", font.read_bytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--teacher", action="store_true", help="with solutions and all tests")
    teacher = parser.parse_args().teacher
    pages = BUILD / ("pages-teacher" if teacher else "pages")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(views.of, NOTEBOOKS))
    for path in NOTEBOOKS:
        write(pages / f"notebooks/{path.name}", nbformat.writes(page(path, teacher)))
        copy, archive = working_copy(path), EXTRA / f"student/{path.stem}.zip"
        files = {path.name: nbformat.writes(copy)} | beside(path)
        for name, content in files.items():
            write(EXTRA / f"student/{name}", content)
        write_zip(archive, files)
        WRITTEN.add(archive)
        if home.ON_GITHUB:
            write(EXTRA / f"colab/{path.name}", nbformat.writes(colab(copy)))
    for path in DOCS:
        name = path.relative_to(ROOT)
        write(pages / name, linked(path.read_text(encoding="utf-8"), path) + indexed(str(name.with_suffix(""))))
    for path in (ROOT / "docs").glob("*.png"):
        write(pages / f"docs/{path.name}", path.read_bytes())
    for path in (ROOT / "docs/contents").glob("*.md"):
        text = with_cards(path.read_text(encoding="utf-8"))
        write(pages / path.name, first_page(text) if path.stem == "index" else text)
    for name, text in reference.pages().items():
        write(pages / f"api/{name}.md", text + indexed(f"api/{name}"))
    for name, module in (views.scripts() | {"first_steps": first_steps()}).items():
        write(STATIC / f"{name}.js", module)
    for name in ("view.css", "predict.js"):
        write(STATIC / name, (WIDGETS_FOLDER / name).read_bytes())
    mathjax()
    for folder in (pages, EXTRA / "student", EXTRA / "colab"):
        for left in {path for path in folder.rglob("*") if path.is_file()} - WRITTEN:
            left.unlink()  # of a page that is no more


if __name__ == "__main__":
    main()
