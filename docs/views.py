"""Store the data of a notebook's live views for a page without a kernel: python docs/views.py NOTEBOOK FOLDER

The notebook is run once, up to each view.  The answers of its kernel are stored: the steps of a climb,
the figures of sliders, the weights of machines that read.  It is run again if its code or its output has changed.
"""

import hashlib
import io
import json
import os
import subprocess
import sys
from base64 import b64decode
from contextlib import redirect_stdout
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
from IPython.core.interactiveshell import InteractiveShell
from PIL import Image

from bmlab import widgets
from bmlab.widgets import LearningView
from bmlab.widgets.exploring import Explorer
from bmlab.widgets.view import WIDGETS_FOLDER, View
from bmlab_teaching.slicing import needed_cells

LIVE = Path(__file__).resolve().parents[1] / "build/extra/live"
KINDS = {name: getattr(widgets, name) for name in widgets.__all__ if name.endswith("View")} | {"Explorer": Explorer}
PICTURES, STEPS, CHARACTERS = 60, 400, 600_000  # of one explore; of one climb, and their size


def of(path: Path) -> dict[str, dict]:
    """Return {cell: data of its view} of a notebook; run it if they are not stored yet."""
    folder, key = LIVE / path.stem, fingerprint(path)
    stored = folder / "views.json"
    if not stored.exists() or json.loads(stored.read_text()).get("key") != key:
        one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
        command = [sys.executable, __file__, str(path), str(folder)]
        done = subprocess.run(command, env=os.environ | one_thread, cwd=path.parent, capture_output=True, text=True)
        if done.returncode:  # the notebook shows its own warnings
            raise RuntimeError(f"{path.name} fails:\n{done.stdout}{done.stderr}")
        stored.write_text(json.dumps({"key": key, "views": json.loads(stored.read_text())}))
    return json.loads(stored.read_text())["views"]


def fingerprint(path: Path) -> str:
    """A hash of all that the views of a notebook depend on: its code, its outputs, and the scripts of the views."""
    parts = [str((PICTURES, STEPS, CHARACTERS)), *(file.read_text() for file in sorted(WIDGETS_FOLDER.glob("*.py")))]
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            parts += [cell.source, *(str(output.get("data", output).get("text/plain")) for output in cell.outputs)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def scripts() -> dict[str, str]:
    """The module of each view, as it is in a notebook."""
    return {name: str(kind._esm) for name, kind in KINDS.items()}


def run(path: Path) -> dict[str, View]:
    """Run the cells that the views of a notebook need, or all cells if the views then differ; return {cell: view}."""
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    names = tuple(f"{name}(" for name in [*KINDS, "explore"])
    texts = [[output.get("data", {}).get("text/plain", "") for output in cell.outputs] for cell in code]
    live = [any(text.startswith(names) for text in said) for said in texts]
    some, unknown = needed_cells([cell.source for cell in code], live)
    for sources in ([(code[k].id, source) for k, source in some.items()], [(c.id, c.source) for c in code]):
        found = {} if unknown and len(sources) < len(code) else shown(sources)
        said = {cell.id: said for cell, said, there in zip(code, texts, live, strict=True) if there}
        if said.keys() == found.keys() and all(found[cell][1] in said[cell] for cell in said):
            return {cell: view for cell, (view, _) in found.items()}
    raise RuntimeError(f"{path.name} shows other views than it stores; run tests/refresh.py on it")


def shown(sources: list[tuple[str, str]]) -> dict[str, tuple[View, str]]:
    """Run cells in a fresh namespace; return {cell: the view that it shows, and its text}."""
    shell, found = InteractiveShell.instance(), {}
    shell.reset()
    bundle = View._repr_mimebundle_
    for cell, source in sources:

        def seen(view, cell=cell, **options):
            found[cell] = view
            return bundle(view, **options)

        View._repr_mimebundle_ = seen
        with redirect_stdout(io.StringIO()):
            shell.run_cell(source).raise_error()
        plt.close("all")
    View._repr_mimebundle_ = bundle
    return {cell: (view, view._repr_mimebundle_()[0]["text/plain"]) for cell, view in found.items()}


def stored(view: View, folder: Path) -> dict:
    """Return the state of a view; write the parts that are too long for a page to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    own = [name for name in view.traits(sync=True) if not name.startswith("_") and name not in OTHERS]
    state = {name: getattr(view, name) for name in own}
    for name, value in state.items():
        if isinstance(value, bytes):
            (folder / f"{name}.bin").write_bytes(value)
            state[name] = {"bytes": f"{name}.bin"}
    if isinstance(view, LearningView):
        (folder / "steps.json").write_text(json.dumps(steps(view), separators=(",", ":")))
    if isinstance(view, Explorer):
        state["controls"], words = figures(view, folder)
        (folder / "words.json").write_text(json.dumps(words))
    return {
        "view": type(view).__name__,
        "alt": view.alt,
        "state": state,
        "folder": f"live/{folder.parent.name}/{folder.name}/",
    }


OTHERS = {"picture", "alt", "layout", "tabbable", "tooltip", "comm", "keys"}


def steps(view: LearningView) -> dict:
    """The steps that a page plays, and why there are no more of them."""
    taken = view._answer(0, STEPS)
    fit = max(2, min(len(taken["frames"]), STEPS * CHARACTERS // len(json.dumps(taken["frames"]))))
    if fit < len(taken["frames"]) or not taken["end"]:
        kept = taken["frames"][:fit]
        return {"frames": kept, "end": f"This page keeps {fit} steps; run the notebook to go on."}
    return taken


def figures(view: Explorer, folder: Path) -> tuple[list[dict], dict[str, str]]:
    """Draw a figure for each stop of the sliders, fewer if they are too many; return sliders and words."""
    lengths = [len(control["labels"]) for control in view.controls]
    while np.prod(lengths) > PICTURES:
        lengths[int(np.argmax(lengths))] -= 1
    controls, places = [], []
    for control, length in zip(view.controls, lengths, strict=True):
        evenly = {round(x) for x in np.linspace(0, len(control["labels"]) - 1, length)}
        kept = sorted(evenly | {control["start"]})
        places.append(kept)
        labels = [control["labels"][k] for k in kept]
        controls.append({"name": control["name"], "labels": labels, "start": kept.index(control["start"])})
    words = {}
    for stop in product(*(range(len(kept)) for kept in places)):
        answer = view._answer([kept[k] for kept, k in zip(places, stop, strict=True)], dense=True)
        name = "-".join(map(str, stop)) or "0"
        Image.open(io.BytesIO(b64decode(answer["png"]))).convert("RGB").quantize(64).save(
            folder / f"{name}.png", optimize=True
        )
        words[name] = answer["text"]
    return controls, words


if __name__ == "__main__":
    notebook, target = Path(sys.argv[1]), Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    views = {cell: stored(view, target / cell) for cell, view in run(notebook).items()}
    (target / "views.json").write_text(json.dumps(views))
