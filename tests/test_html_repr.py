"""Cards of machines, answers and steps: well-formed, escaped, the same for the same numbers; and what people ask."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import sparse

import bmlab
from bmlab import html_repr

THINGS = [
    bmlab.medium(),
    bmlab.exact(bmlab.medium()),
    bmlab.ising(50),
    bmlab.exact(bmlab.ising(50)),
    bmlab.BoltzmannMachine(np.zeros((0, 0)), np.zeros(0)),
    bmlab.exact(bmlab.toy()),
    bmlab.Estimate(np.array([0.5]), np.eye(1), bmlab.Bounded(np.nan), method="a < b & c", converged=False),
    bmlab.fit(bmlab.toy(), bmlab.states(3)[:5], steps=2, rate=0.1).steps[-1],
]


@pytest.mark.parametrize("thing", THINGS)
def test_a_card_is_well_formed_and_always_the_same(thing):
    html = thing._repr_html_()
    ElementTree.fromstring(html)
    assert html == thing._repr_html_() and "0x" not in html and len(html) < 20_000


def test_a_card_says_what_matters():
    text = re.sub("<[^>]*>", " ", bmlab.exact(bmlab.toy())._repr_html_())
    assert "Estimate by exact" in text and f"{bmlab.exact(bmlab.toy()).log_z.value:.4f} (exact)" in text
    assert "not converged" in THINGS[6]._repr_html_() and "a &lt; b &amp; c" in THINGS[6]._repr_html_()
    assert "Step 1" in THINGS[-1]._repr_html_() and "sparse" in THINGS[2]._repr_html_()


def test_a_card_of_a_small_machine_shows_its_names():
    names = ("eggs & milk", "b", "c")
    assert "eggs &amp; milk, b, c" in replace(bmlab.toy(), names=names)._repr_html_()


def test_squares_are_as_large_as_their_weights_and_lie_where_they_are():
    weights = np.array([[0, 1.0, 0], [1.0, 0, -0.25], [0, -0.25, 0]])
    drawn = ElementTree.fromstring(html_repr.matrix(weights, side=30)).findall("rect")
    boxes = [[float(box.get(key)) for key in ("x", "y", "width")] + [box.get("fill")] for box in drawn]
    assert boxes == [
        [10, 0, 10, html_repr.UP],
        [0, 10, 10, html_repr.UP],
        [22.5, 12.5, 5, html_repr.DOWN],
        [12.5, 22.5, 5, html_repr.DOWN],
    ]


def test_bars_reach_from_zero_to_the_mean():
    one, other = ElementTree.fromstring(html_repr.bars([0.5, -1.0], height=60)).findall("rect")
    assert (one.get("y"), one.get("height"), other.get("y"), other.get("height")) == ("15.0", "15.0", "30.0", "30.0")


def test_a_function_shows_its_source(capsys):
    bmlab.show(bmlab.sweep)
    assert capsys.readouterr().out.startswith("def sweep(model")


def test_a_report_of_a_bug_has_its_versions(capsys):
    bmlab.about()
    text = capsys.readouterr().out
    assert f"numpy {np.__version__}" in text and "threads" in text and "Python 3" in text


def test_how_many_pairs_are_coupled():
    dense = np.array([[0, 1.0, 0], [1.0, 0, 2.0], [0, 2.0, 0]])
    for weights in (dense, sparse.csr_array(dense)):
        assert bmlab.BoltzmannMachine(weights, np.zeros(3)).coupling_count() == 2
