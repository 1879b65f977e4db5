"""Run the notebooks and store their outputs: python tests/refresh.py [NOTEBOOK ...]

Each notebook runs from its first cell to its last in a fresh kernel of this Python, in its own folder. What
is stored depends on the notebook alone: no timings, no widget identities, no metadata that changes from one
run to the next, and a picture whose pixels did not change keeps its old bytes. A notebook that fails is left
untouched. Then the looks at the notebooks are written again (docs/looks.py).
"""

import base64
import os
import re
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import nbformat
import numpy as np
from matplotlib.image import imread
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
KEPT_CELL_METADATA = ("tags", "nbgrader", "checks", "cases", "slips", "other", "jupyter", "jp-MarkdownHeadingCollapsed")
KEPT_OF_A_PICTURE = ("alt", "bmlab", "width", "height", "points")
# A widget view names a model that is gone when the notebook is opened again.
WIDGET = "application/vnd.jupyter.widget-view+json"
SECONDS_PER_CELL = 600
WITHIN_HTML = re.compile(r'(?<=src="data:image/png;base64,)[^"]+')  # under a prediction


def execute(notebook, path):
    """Run every cell in place; stop at the first that fails and say which it is."""
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=SECONDS_PER_CELL,
        coalesce_streams=True,
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
    )
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            try:
                client.execute_cell(cell, index)
            except (CellExecutionError, CellTimeoutError, DeadKernelError) as problem:
                place = f"{path.name}: cell {index + 1} of {len(notebook.cells)}"
                sys.exit(f"{place} fails; nothing was stored\n{problem}")


def tidy(notebook):
    """Keep only metadata of the course: none of a run, an editor or a person."""
    notebook.metadata = nbformat.from_dict(NOTEBOOK_METADATA)
    for cell in notebook.cells:
        for name in set(cell.metadata) - set(KEPT_CELL_METADATA):
            del cell.metadata[name]
        if cell.cell_type == "code":
            tidy_outputs(cell)


def tidy_outputs(cell):
    """Keep an output's metadata that belong to its picture: the words, and the state of a view."""
    if not cell.source.strip():
        cell.outputs, cell.execution_count = [], None
    for output in cell.outputs:
        if "data" in output:
            kept = {k: v for k, v in output.metadata.get("image/png", {}).items() if k in KEPT_OF_A_PICTURE}
            output.metadata = {"image/png": kept} if kept else {}
            output.data.pop(WIDGET, None)


def pictures(cell):
    """The base64 text of every PNG of a cell, those within HTML included."""
    data = [output.get("data", {}) for output in cell.get("outputs", [])]
    return [
        png
        for each in data
        for png in [each.get("image/png", ""), *WITHIN_HTML.findall(each.get("text/html", ""))]
        if png
    ]


def pixels(png):
    """The picture as an array, from its base64 text."""
    return imread(BytesIO(base64.b64decode(png)))


def keep_unchanged_pictures(new_cell, old_cell):
    """Put the old bytes back if the pixels are the same (the bytes also name matplotlib's version)."""
    kept = {
        new: old
        for new, old in zip(pictures(new_cell), pictures(old_cell), strict=False)
        if np.array_equal(pixels(new), pixels(old))
    }
    for data in [output.data for output in new_cell.get("outputs", []) if "data" in output]:
        if "image/png" in data:
            data["image/png"] = kept.get(data["image/png"], data["image/png"])
        if "text/html" in data:
            data["text/html"] = WITHIN_HTML.sub(lambda found: kept.get(found[0], found[0]), data["text/html"])


def refreshed(path):
    """The text of the notebook after a fresh run."""
    old, new = (nbformat.read(path, as_version=4) for _ in range(2))
    execute(new, path)
    tidy(new)
    for new_cell, old_cell in zip(new.cells, old.cells, strict=True):
        keep_unchanged_pictures(new_cell, old_cell)
    return nbformat.writes(new) + "\n"


def refresh(path):
    """Bring one notebook up to date; True if its file changed. The file is replaced in one step."""
    text = refreshed(path)
    if text == path.read_text(encoding="utf-8"):
        return False
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8", newline="\n")
    os.replace(part, path)
    return True


if __name__ == "__main__":
    for path in [Path(name).resolve() for name in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb")):
        print(f"{path.name}: {'changed' if refresh(path) else 'unchanged'}", flush=True)
    subprocess.run([sys.executable, NOTEBOOKS.parent / "docs/looks.py"], check=True)
