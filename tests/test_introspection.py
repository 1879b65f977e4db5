"""The package about itself: a source, and the data for a report of a bug."""

import inspect
import platform
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import bmlab
from bmlab.showing import introspection
from bmlab.widgets import predict


def test_a_report_of_a_bug_has_its_versions(capsys):
    bmlab.about()
    text = capsys.readouterr().out
    assert f"numpy {np.__version__}" in text and "threads" in text and "Python 3" in text


def test_a_library_that_is_not_here_is_missing_from_the_report(capsys, monkeypatch):
    monkeypatch.setattr(introspection, "LIBRARIES", ("numpy", "no-such-library"))
    monkeypatch.setattr(introspection, "threadpool_info", lambda: [])
    bmlab.about()
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"bmlab {bmlab.__version__}, Python {platform.python_version()}, ")
    assert second == f"numpy {np.__version__}, no-such-library missing"


@pytest.mark.parametrize("in_notebook", [False, True])
@pytest.mark.parametrize("named", [introspection, bmlab.BoltzmannMachine, bmlab.Bounded, bmlab.toy, predict])
def test_a_source_is_all_of_it_but_how_a_function_is_decorated(named, in_notebook, capsys, monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda code: shown.append(code.data))
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    if in_notebook:
        monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace())
    bmlab.show_source(named)
    whole = inspect.getsource(named)
    begins = whole.index(f"def {named.__name__}(") if inspect.isfunction(named) else 0
    assert "".join(shown) + capsys.readouterr().out == whole[begins:] + "\n" * (not in_notebook)
