"""Ctrl-C in the midst of a call ends it, and leaves nothing behind; a hundred moments of every call: `make fuzz`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = ["gibbs", "temper", "exact by products", "fit, resumed", "maximize", "pcd"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_a_call_that_is_interrupted_leaves_nothing_behind():
    """Neither a limit of BLAS nor a bar; and the next call answers as in a process that nothing has interrupted."""
    script, two = Path(__file__).with_name("interrupting.py"), dict(os.environ, OPENBLAS_NUM_THREADS="2")
    done = subprocess.run([sys.executable, script, "4", *NAMES], env=two, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.count(", 0 wrong") == len(NAMES), done.stdout + done.stderr


HALF_IMPORTED = """
import signal, sys
import numpy as np
import bmlab

class CtrlC:
    begun = False

    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            if self.begun:
                raise ImportError("what is compiled there cannot be registered twice")
            self.begun = True
            signal.raise_signal(signal.SIGINT)

def learn():
    if "linalg" in sys.argv[1]:
        blank = bmlab.restricted(np.zeros((3, 2)), np.zeros(3), np.zeros(2))
        return bmlab.pcd(blank, np.ones((4, 3)), rng=0, steps=2, rate=0.1)
    return bmlab.pseudolikelihood(bmlab.states(3), penalty=0.1)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background ignores it
sys.meta_path.insert(0, CtrlC())
try:
    learn()
except KeyboardInterrupt:
    print("interrupted", learn().steps is not None)
"""


@pytest.mark.parametrize("part", ["scipy.linalg._decomp_svd", "scipy.optimize._highspy._core"])
def test_an_import_of_scipy_that_is_interrupted_is_not_left_half_done(part):
    done = subprocess.run([sys.executable, "-c", HALF_IMPORTED, part], capture_output=True, text=True, check=False)
    assert done.stdout == "interrupted True\n", done.stdout + done.stderr
