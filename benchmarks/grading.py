"""Seconds of one submission: the solution of each notebook as `make grade` runs it, beside all cells of the notebook.

nbgrader's own autograde runs every cell, in a kernel without a wall; its runner is nbclient.
"""

import sys
import tempfile
from pathlib import Path
from time import perf_counter

import nbformat
from nbclient import NotebookClient

from bmlab_teaching import sandbox
from bmlab_teaching.course import handout
from bmlab_teaching.judging import judge
from bmlab_teaching.matching import plan
from bmlab_teaching.reading import Cell

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def graded(path: Path, limits: sandbox.Limits) -> float:
    """Seconds of a submission that holds the solution: put in order, run and tested."""
    began, found = perf_counter(), handout(path)
    judge(found, plan(found, [Cell(*cell) for cell in found.solution]), limits)
    return perf_counter() - began


def whole(path: Path) -> float:
    """Seconds of all cells of the notebook."""
    began = perf_counter()
    notebook = nbformat.read(path, 4)
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": NOTEBOOKS}}).execute()
    return perf_counter() - began


def main() -> None:
    """Print a line a notebook, and the mean."""
    with tempfile.TemporaryDirectory() as folder:
        sandbox.warm_home(Path(folder) / "warm", trust=False)
        limits, lines = sandbox.Limits(warm=f"{folder}/warm"), []
        for path in sorted(NOTEBOOKS.glob("*.ipynb")):
            if handout(path).full and (not sys.argv[1:] or path.stem[:2] in sys.argv[1:]):
                lines.append((graded(path, limits), whole(path)))
                print(f"{path.stem:24} graded {lines[-1][0]:5.1f} s   whole {lines[-1][1]:5.1f} s", flush=True)
    ours, peer = (sum(column) / len(lines) for column in zip(*lines, strict=True))
    print(f"{'mean':24} graded {ours:5.1f} s   whole {peer:5.1f} s   ratio {peer / ours:.1f}")


if __name__ == "__main__":
    main()
