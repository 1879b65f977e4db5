"""The package about itself: a source, and the data for a report of a bug."""

import numpy as np

import bmlab


def test_a_report_of_a_bug_has_its_versions(capsys):
    bmlab.about()
    text = capsys.readouterr().out
    assert f"numpy {np.__version__}" in text and "threads" in text and "Python 3" in text
