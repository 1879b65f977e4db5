"""Student versions: the notebooks without solutions, hidden tests and outputs, a zip of each, and one of the course."""

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import nbformat

from .pages import solutions
from .working_copies import beside, student_version, with_points

FOLDER = "boltzmann_machines"  # of every zip: unpacked in one place, links between notebooks lead somewhere
README = """\
Boltzmann machines. Unpack every zip in the same place: all share this folder.
Install once, here, with Python 3.11 or newer; it takes some seconds (the lock has the versions that we tested with):
    python -m venv .venv
    .venv/bin/pip install uv
    .venv/bin/uv pip install "./package[lab]" --constraint package/requirements.lock
(.venv/bin/pip does the same as uv, in a minute or two. On Windows, .venv\\Scripts in the place of .venv/bin.)
Open it: .venv/bin/jupyter lab
Answer where it says that your answer goes there, keep the locked cells below, and hand in each notebook saved.
What you hand in is run with the packages above, NumPy, SciPy, Matplotlib, pandas, scikit-learn and Numba among them,
and without a network. A line that needs more is left out. Hand in files that your notebook reads or imports beside it.
"""


def package_files(root: Path) -> dict[str, bytes]:
    """Everything that `pip install ./package` needs; a folder called bmlab could be imported without it."""
    inside = [
        file for file in sorted((root / "bmlab").rglob("*")) if file.is_file() and "__pycache__" not in file.parts
    ]
    outside = [root / name for name in ("pyproject.toml", "README.md", "LICENSE", "requirements.lock")]
    return {f"package/{file.relative_to(root).as_posix()}": file.read_bytes() for file in outside + inside}


def write_zip(target: Path, files: Mapping[str, str | bytes]) -> None:
    """Write a zip of name -> bytes in one folder; the same files give the same zip at any time."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(f"{FOLDER}/{name}"), content, zipfile.ZIP_DEFLATED)


def hand_out(notebooks: Path, out: Path, *, report: Callable[[str], Any]) -> None:
    """Write student versions, tables and zips to `out`, and the solutions to out/teacher.

    The package of the course lies beside the notebooks, in bmlab/; without one the zips hold notebooks and tables.
    """
    (out / "tables").mkdir(parents=True, exist_ok=True)
    (out / "teacher").mkdir(exist_ok=True)
    has_package = (notebooks.resolve().parent / "bmlab").is_dir()
    package = package_files(notebooks.resolve().parent) | {"README.txt": README} if has_package else {}
    everything = {}
    for path in sorted(notebooks.glob("*.ipynb")):
        notebook = student_version(path)
        text = nbformat.writes(notebook) + "\n"
        (out / path.name).write_text(text, encoding="utf-8")
        data = beside(path, hidden=False)
        for name, content in data.items():
            (out / name).write_bytes(content)
        files = {path.name: text} | data
        write_zip(out / f"{path.stem}.zip", files | package)
        everything |= files
        report(f"{out / path.stem}.zip: {sum(one.points for one in with_points(notebook)):g} points")
    write_zip(out / "course.zip", everything | package)
    report(f"{out / 'course.zip'}: all of them")
    page = out / "teacher" / "solutions.html"
    page.write_text(
        solutions({path.stem: nbformat.read(path, 4) for path in sorted(notebooks.glob("*.ipynb"))}), "utf-8"
    )
    report(f"{page}: not for students")
