"""Other processors: moved digits are moved, and noticed; a line that cannot be run is said to be skipped."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import processors
import pytest
from selection import exhaustive, one_of


@pytest.fixture(autouse=True)
def not_moved(monkeypatch):
    """A comparison begins with digits that are not moved, also in a run that moves them."""
    kept = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if Path(path).name != "nudged"]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(kept))
    monkeypatch.delenv("NUDGED", raising=False)


@pytest.mark.parametrize("name", one_of(["nudged", "nudged-again"]))
def test_moved_digits_reach_the_cells_and_the_package(name, tmp_path):
    """A notebook that prints all digits is the same without them, and another with them; whole numbers stay."""
    cells = [
        "import numpy as np\nimport bmlab\nx = np.linspace(0.1, 1, 7)",
        "x @ x",
        "bmlab.toy().energy([1, 1, -1]), np.arange(3.0) @ np.arange(3.0)",
        "bmlab.exact(bmlab.sherrington_kirkpatrick(14, rng=np.random.default_rng(0))).mean.tolist()",
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


KEPT = """
import numpy as np, bmlab
from builtins import __nudged__ as nudged
x = np.random.default_rng(0).normal(size=(40, 40))
one = nudged(x.copy())
assert (one != x).mean() > 0.7 and np.abs(one / x - 1).max() <= 5 * 2.0**-52
assert (one == nudged(x.copy())).all() and (nudged(-x) == -one).all() and (nudged(x.T) == one.T).all()
assert nudged(x[0, 0]) == one[0, 0] and (nudged(x[::2, 1]) == one[::2, 1]).all()
assert (nudged(np.arange(5) / 8) == np.arange(5) / 8).all() and (np.abs(nudged(np.tanh(18 * x))) <= 1).all()
assert (nudged(np.array([np.nan, np.inf])) == [np.nan, np.inf])[1] and nudged("text") == "text"
print(repr(bmlab.exact(bmlab.sherrington_kirkpatrick(9, rng=0)).log_z.value))
"""

COMPILED = """
import bmlab
print(bmlab.mean_field(bmlab.ising((3, 3)).at(9)).converged, bmlab.bethe(bmlab.toy().at(9)).converged)
"""

A_LOOP = """
import numpy as np
from bmlab.infer.variational.compiled_loops import _dense
rows = np.full((1, 3), 0.3)
_dense(np.full((3, 3), 0.1), np.full(3, 0.2), np.arange(3), False, rows, 0.0, 2)
print(*rows[0])
"""


def run(code, seed=None):
    """The output of a program, its digits moved or not."""
    moved = processors.nudged(seed) if seed else {}
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | moved, check=True, capture_output=True, text=True
    ).stdout


def test_digits_move_in_compiled_loops_too_and_no_other_run_keeps_them():
    as_they_are, *moved = [np.array(run(A_LOOP, seed).split(), float) for seed in (None, 1, 1, 2)]
    assert (moved[0] == moved[1]).all() and (moved[0] != moved[2]).any() and (moved[0] != as_they_are).any()
    assert np.ptp([as_they_are, *moved], axis=0).max() < 1e-14
    assert (np.array(run(A_LOOP).split(), float) == as_they_are).all()


@exhaustive
def test_loops_with_moved_digits_compile():
    assert run(COMPILED, 1).split() == ["True", "True"]


def test_digits_move_by_a_fixed_function_of_their_own_bits():
    """A call gives the same bits twice, a symmetric matrix stays symmetric; another seed gives other bits."""
    found = [run(KEPT, seed) for seed in (1, 1, 2, 3, 4)]
    assert found[0] == found[1] and len(set(found)) > 1
    assert np.ptp([float(one.partition("(")[2].strip(")\n") or one) for one in found]) < 1e-13


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
