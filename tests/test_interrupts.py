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
