"""Other processors: moved digits are moved, and noticed; what cannot be run is said to be skipped."""

import sys

import nbformat
import processors
import pytest


@pytest.mark.parametrize("name", ["nudged", "nudged-again"])
def test_moved_digits_reach_the_cells_and_the_package(name, tmp_path):
    """A notebook that prints all digits is the same without them, and another with them; whole numbers stay."""
    cells = [
        "import numpy as np\nimport bmlab\nx = np.linspace(0.1, 1, 7)",
        "x @ x",
        "bmlab.toy().energy([1, 1, -1]), np.arange(3.0) @ np.arange(3.0)",
        "bmlab.exact(bmlab.sherrington_kirkpatrick(14, rng=np.random.default_rng(0))).log_z.value",
    ]
    notebook, path = nbformat.v4.new_notebook(), tmp_path / "digits.ipynb"
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in cells]
    from nbclient import NotebookClient

    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python", "language": "python"}
    NotebookClient(notebook).execute()
    nbformat.write(notebook, path)
    assert not processors.differing({}, [str(path)], tmp_path / "log")[1]
    closing, lines = processors.differing(processors.PROCESSORS[name], [str(path)], tmp_path / "log")
    assert "2 failed, 2 passed" in closing and "Cell 1" in lines[0] and "Cell 3" in lines[1]


def test_what_cannot_be_run_is_skipped(monkeypatch):
    monkeypatch.setattr(processors, "PROBE", "import os, signal; os.kill(os.getpid(), signal.SIGILL)")
    if sys.platform != "win32":
        assert processors.skipped({"OPENBLAS_CORETYPE": "Haswell"}) == "this processor cannot run it"
    monkeypatch.setattr(processors, "PROBE", "import os; print(os.environ.get('OPENBLAS_CORETYPE', 'Zen'))")
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    assert not processors.skipped({"OPENBLAS_CORETYPE": "Haswell"})
    assert not processors.skipped({"OPENBLAS_CORETYPE": "Zen", "NPY_DISABLE_CPU_FEATURES": "AVX512F"})
    same = "this processor chooses the same by itself"
    assert processors.skipped({"OPENBLAS_CORETYPE": "Zen", "NPY_DISABLE_CPU_FEATURES": ""}) == same
    assert processors.skipped({"NPY_DISABLE_CPU_FEATURES": ""}) == same
    monkeypatch.setattr(processors, "PROBE", "print('Zen')")
    assert processors.skipped({"OPENBLAS_CORETYPE": "Haswell"}) == "OpenBLAS has no such kernel here"
