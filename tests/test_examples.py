"""Every public function and class shows an example in its docstring, and what it prints is true."""

import doctest
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bmlab
from bmlab import estimators, plot, widgets

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))
import reference

WINGS = {"bmlab": bmlab, "bmlab.data": bmlab.data, "bmlab.plot": plot}
WINGS |= {"bmlab.widgets": widgets, "bmlab.estimators": estimators}
KNOWN = {"np": np, "bmlab": bmlab, "plt": plt, "plot": plot}  # what the pages of the reference say is imported
ANSWERS = {"Images", "Encoder", "Raster", "Shifter", "Votes", "YesNo", "Zoo"}  # what functions of data return
PUBLIC = {
    f"{wing}.{name}": getattr(module, name)
    for wing, module in WINGS.items()
    for name in (module.__all__ if module is bmlab else reference.public(module))
    if callable(getattr(module, name)) and name not in ANSWERS
}
PARSER = doctest.DocTestParser()


@pytest.mark.parametrize("name", PUBLIC)
def test_an_example_says_what_is_true(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = PARSER.get_doctest(PUBLIC[name].__doc__ or "", dict(KNOWN), name, None, None)
    assert test.examples, f"{name} has no example in its docstring"
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("error", bmlab.NotConverged)
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=wrong.append)
    plt.close("all")
    assert not wrong, "".join(wrong)


def test_nothing_public_is_left_out():
    assert len(PUBLIC) > 80 and {"bmlab.exact", "bmlab.data.zoo", "bmlab.plot.network"} <= set(PUBLIC)
