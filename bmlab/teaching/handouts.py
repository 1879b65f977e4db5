"""Student versions: the notebooks without solutions, hidden tests and outputs, a zip of each, and one of the course.

nbgrader's preprocessors do the cutting, in the order of its own `generate_assignment`. What is left under
### BEGIN SOLUTION is its stub, so stub and solution cannot drift apart.
"""

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from .course import HIDE, processed, without_solutions
from .exercises import points
from .pages import solutions
from .slides import slides
from .walls import PACKAGE

FOLDER = "boltzmann_machines"  # of every zip: unpacked in one place, links between notebooks lead somewhere
HAND_IN = "**Hand in** this file, `{}`, saved. What counts is what *Kernel*, *Restart Kernel and Run All Cells* shows."
README = """\
Boltzmann machines. Unpack every zip in the same place: all share this folder.
Install once, here, with Python 3.11 or newer; it takes some seconds (the lock has the versions that we tested with):
    python -m venv .venv
    .venv/bin/pip install uv
    .venv/bin/uv pip install "./package[lab]" --constraint package/requirements.lock
(.venv/bin/pip does the same as uv, in a minute or two. On Windows, .venv\\Scripts in the place of .venv/bin.)
Open it: .venv/bin/jupyter lab
Answer where it says that your answer goes there, keep the locked cells below, and hand in each notebook saved.
"""


def student_version(path: Path) -> NotebookNode:
    """Read a source notebook and return it without its answers and hidden tests, with a line on how to hand it in."""
    notebook = processed(without_solutions(nbformat.read(path, as_version=4)), HIDE)
    if points(notebook):
        notebook.cells.append(nbformat.v4.new_markdown_cell(HAND_IN.format(path.name), id="hand-in"))
    return notebook


def tables(path: Path) -> list[Path]:
    """The files of tables/ that a notebook reads or imports, and what these import from there."""
    folder, found = path.parent / "tables", []
    waiting = ["\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")]
    while waiting:
        code = waiting.pop()
        named = [folder / name for name in re.findall(r"tables/([\w.-]+\w)", code)]
        scripts = [folder / f"{name}.py" for name in re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)]
        new = {file for file in named + scripts if file.exists() or file in named} - set(found)
        waiting += [file.read_text(encoding="utf-8") for file in new if file.suffix == ".py"]
        found += new
    return sorted(found)


def package_files() -> dict[str, bytes]:
    """Everything that `pip install ./package` needs; a folder called bmlab could be imported without it."""
    root = PACKAGE.parent
    inside = [file for file in sorted(PACKAGE.rglob("*")) if file.is_file() and "__pycache__" not in file.parts]
    outside = [root / name for name in ("pyproject.toml", "README.md", "LICENSE", "requirements.lock")]
    return {f"package/{file.relative_to(root).as_posix()}": file.read_bytes() for file in outside + inside}


def write_zip(target: Path, files: Mapping[str, str | bytes]) -> None:
    """Write a zip of name -> bytes in one folder; the same files give the same zip, whatever the clock says."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(f"{FOLDER}/{name}"), content, zipfile.ZIP_DEFLATED)


def hand_out(notebooks: Path, out: Path, *, say: Callable[[str], Any]) -> None:
    """Write student versions, tables and zips to `out`, and solutions and slides to out/teacher."""
    (out / "tables").mkdir(parents=True, exist_ok=True)
    package, everything = package_files() | {"README.txt": README}, {}
    for path in sorted(notebooks.glob("*.ipynb")):
        notebook = student_version(path)
        text = nbformat.writes(notebook) + "\n"
        (out / path.name).write_text(text, encoding="utf-8")
        data = {f"tables/{table.name}": table.read_bytes() for table in tables(path)}
        for name, content in data.items():
            (out / name).write_bytes(content)
        files = {path.name: text} | data
        write_zip(out / f"{path.stem}.zip", files | package)
        everything |= files
        say(f"{out / path.stem}.zip: {points(notebook):g} points")
    write_zip(out / "course.zip", everything | package)
    say(f"{out / 'course.zip'}: all of them")
    for_teachers(
        {path.stem: nbformat.read(path, 4) for path in sorted(notebooks.glob("*.ipynb"))}, out / "teacher", say
    )


def for_teachers(sources: Mapping[str, NotebookNode], out: Path, say: Callable[[str], Any]) -> None:
    """Write the solutions as a page, and as a PDF where Chromium is there, and the slides of each notebook."""
    (out / "slides").mkdir(parents=True, exist_ok=True)
    for name, source in sources.items():
        (out / f"slides/{name}.html").write_text(slides(source), encoding="utf-8")
    page = out / "solutions.html"
    page.write_text(solutions(sources), encoding="utf-8")
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser:
        print_to = ["--headless", "--disable-gpu", "--no-pdf-header-footer"] + ["--no-sandbox"] * (os.getuid() == 0)
        command = [browser, *print_to, f"--print-to-pdf={page.with_suffix('.pdf')}", page.resolve().as_uri()]
        subprocess.run(command, check=False, capture_output=True, timeout=120)
    say(f"{out}: solutions and slides, not for students")
