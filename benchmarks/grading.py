"""Processor seconds of one submission: the solution of each notebook as `make grade` runs it, beside all of its cells.

nbgrader's own autograde runs every cell, in a kernel without a wall; its runner is nbclient, as ours is.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from bmlab.teaching import sandbox
from bmlab.teaching.course import without_solutions
from bmlab.teaching.exercises import points, record
from bmlab.teaching.handouts import tables
from bmlab.teaching.matching import Cell, rebuilt

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
SPENT = "import os\nprint('spent', sum(os.times()[:2]))"


def children() -> float:
    """Processor seconds of this process, and of those it started that ended; a kernel in its wall is not among them."""
    return sum(os.times()[:4])


def spent(outputs: list[dict]) -> float:
    """What a kernel says at its end."""
    return float(re.sub("spent ", "", outputs[-1]["text"]))


def graded(path: Path, warm: Path) -> float:
    """Processor seconds of a submission that holds the solution: collected, put in order, run in the sandbox."""
    source, began = nbformat.read(path, 4), children()
    cells = [Cell(cell.cell_type, cell.source, record(cell).get("grade_id", "")) for cell in source.cells]
    found = rebuilt(source, without_solutions(source), cells)
    outputs = sandbox.execute([*found.run.values(), SPENT], tables=tables(path), warm=warm)
    return children() - began + spent(outputs[-1])


def whole(path: Path) -> float:
    """Processor seconds of all cells of the notebook; the kernel is a child that ends, and counts itself."""
    notebook, began = nbformat.read(path, 4), children()
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": NOTEBOOKS}}).execute()
    return children() - began


def main() -> None:
    """Print a line a notebook, and the mean."""
    names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        sandbox.warm_home(warm := Path(folder) / "warm", trust=False)
        lines = []
        for path in sorted(NOTEBOOKS.glob("*.ipynb")):
            if points(nbformat.read(path, 4)) and (not names or path.stem[:2] in names):
                lines.append((graded(path, warm), whole(path)))
                print(f"{path.stem:24} graded {lines[-1][0]:5.1f} s   whole {lines[-1][1]:5.1f} s", flush=True)
    ours, peer = (sum(column) / len(lines) for column in zip(*lines, strict=True))
    print(f"{'mean':24} graded {ours:5.1f} s   whole {peer:5.1f} s   ratio {peer / ours:.1f}")


if __name__ == "__main__":
    main()
