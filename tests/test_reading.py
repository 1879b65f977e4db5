"""What a curious reader must open: from a public function to the line with its formula, at most three files."""

import inspect
import sys
from functools import cache
from pathlib import Path
from traceback import walk_stack

import numpy as np
import pytest

import bmlab

PACKAGE = Path(bmlab.__file__).parent
MODEL = bmlab.medium().at(3.0)
DATA = np.array([[1.0, -1, 1], [1, 1, 1], [-1, -1, 1]])

# Name -> (what is called, what stands in the source of the function with the formula)
PATHS = {
    "one Gibbs update, readable": (
        lambda: bmlab.sweep(MODEL, np.ones((3, MODEL.n)), np.full((3, MODEL.n), 0.3)),
        "chance_of_plus(2 * h",
    ),
    "one Gibbs update, fast": (lambda: bmlab.gibbs(MODEL, rng=0, n_sweeps=1, burn_in=3, backend="numpy"), "least -= h"),
    "one mean-field update": (lambda: bmlab.mean_field(MODEL), "np.tanh(field"),
    "one exact sum": (lambda: bmlab.exact(bmlab.toy()), "np.exp("),
    "one step of learning_steps": (
        lambda: list(zip(range(2), bmlab.learning_steps(bmlab.toy(), DATA, rate=0.1), strict=False)),
        "clamped.corr - free.corr",
    ),
}


@cache
def source_of(code):
    """The source of a function, or nothing where there is none."""
    try:
        return inspect.getsource(code)
    except OSError:
        return ""


def files_on_the_way(call, formula):
    """The files of the package on the stack of each call of a function whose source has the formula."""
    found = []

    def watch(frame, event, arg):
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)) and formula in source_of(frame.f_code):
            files = {Path(one.f_code.co_filename) for one, _ in walk_stack(frame)}
            found.append({file for file in files if PACKAGE in file.parents and file.name != "calls.py"})  # a decorator

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("name", PATHS)
def test_three_files_tell_it(name):
    found = files_on_the_way(*PATHS[name])
    assert found, "no function on the way has the formula"
    assert min(map(len, found)) <= 3, min(found, key=len)
