"""Every public function and class shows an example in its docstring, and its output is true.

`python tests/test_examples.py FILE` writes them all as functions of one file, which `make lint` gives to pyright: it
finds nothing, as a user's code is checked.
"""

import doctest
import re
import sys
import warnings
from pathlib import Path
from textwrap import indent

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bmlab
from bmlab import estimators, plot, widgets

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))
import reference

WINGS = {"bmlab": bmlab, "bmlab.data": bmlab.data, "bmlab.plot": plot}
WINGS |= {"bmlab.widgets": widgets, "bmlab.estimators": estimators}
IMPORTS = re.search(r"```python\n(.*?)```", reference.EXAMPLES, re.DOTALL)[1]  # imported, as its pages say
KNOWN = {"np": np, "bmlab": bmlab, "plt": plt, "plot": plot}
ANSWERS = {"Images", "Encoder", "Raster", "Shifter", "Votes", "YesNo", "Zoo"}  # the results of functions of data
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
        doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=wrong.append)
    plt.close("all")
    assert not wrong, "".join(wrong)


def test_nothing_public_is_left_out():
    assert len(PUBLIC) > 80 and {"bmlab.exact", "bmlab.data.zoo", "bmlab.plot.network"} <= set(PUBLIC)


def as_a_user_writes_them():
    """Return the examples as one file, each a function."""
    text = f"# pyright: standard, reportUnusedExpression=false\n{IMPORTS}"
    for name, thing in PUBLIC.items():
        lines = "".join(example.source for example in PARSER.get_examples(thing.__doc__ or ""))
        text += f"\n\ndef {name.replace('.', '_')}():\n{indent(lines, '    ')}"
    return text


if __name__ == "__main__":
    Path(sys.argv[1]).parent.mkdir(exist_ok=True)
    Path(sys.argv[1]).write_text(as_a_user_writes_them(), encoding="utf-8")
