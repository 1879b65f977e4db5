"""A machine, an answer and a fit in a notebook: every name and number, no code."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import bmlab
from bmlab.showing.html import MAX_TABLE_COUPLINGS, MAX_TABLE_UNITS, number

NAMES = ["Ada", "<script>alert(1)</script>", "milk & eggs"]


class Cells(HTMLParser):
    """The tags of a page and the text of its cells."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.cells = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data


def machine(n, sparse=False):
    rng = np.random.default_rng(n)
    weights = bmlab.symmetric(rng.normal(size=(n, n)))
    if sparse:
        import scipy.sparse

        weights = scipy.sparse.csr_array(np.where(np.abs(weights) > 0.5, weights, 0))
    names = NAMES[:n] if n <= len(NAMES) else [f"unit {k}" for k in range(n)]
    return bmlab.BoltzmannMachine(weights, rng.normal(size=n), names=names)


@pytest.mark.parametrize("sparse", [False, True])
def test_each_weight_and_bias_of_a_machine_stands_beside_its_names(sparse):
    model = machine(3, sparse)
    cells = Cells(model._repr_html_()).cells
    assert cells[:5] == ["unit", "bias", *NAMES]
    for k, name in enumerate(NAMES):
        row = cells[5 + 5 * k : 10 + 5 * k]
        assert row == [name, number(model.biases[k]), *(f"{w:.2f}" if w else "" for w in model.dense_weights[k])]


@pytest.mark.parametrize("sparse", [False, True])
def test_a_large_machine_shows_its_strongest_couplings_in_order(sparse):
    model = machine(MAX_TABLE_UNITS + 5, sparse)
    cells = Cells(model._repr_html_()).cells[2:]
    pairs = [tuple(model.names.index(name) for name in cell.split(", ")) for cell in cells[::2]]
    found = [abs(model.dense_weights[pair]) for pair in pairs]
    every = np.sort(np.abs(model.dense_weights[np.triu_indices(model.n, 1)]))[::-1]
    assert np.array_equal(found, every[:MAX_TABLE_COUPLINGS])


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_smallest_machines_are_shown(n, sparse):
    assert f"n={n}" in machine(n, sparse)._repr_html_()


@pytest.mark.parametrize("sparse", [False, True])
def test_of_couplings_that_are_as_strong_the_first_are_shown(sparse):
    n = MAX_TABLE_UNITS + 10
    model = machine(n, sparse)
    two_kinds = np.sign(model.dense_weights) * np.where(np.abs(model.dense_weights) > 1, 0.5, 0.25)
    even = bmlab.BoltzmannMachine(two_kinds, np.zeros(n), names=model.names)
    first = np.argwhere(np.triu(np.abs(two_kinds) == 0.5, 1))[:MAX_TABLE_COUPLINGS]
    assert Cells(even._repr_html_()).cells[2::2] == [f"{model.names[i]}, {model.names[j]}" for i, j in first]


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.0, "0.000"), (0.5, "0.500"), (-0.0012, "-0.001"), (0.00099, "0.00099"), (-2e-7, "-2e-07"),
        (9999.4, "9999.400"), (12345.6, "1.23e+04"), (12345, "12,345"), (0, "0"),
    ],
)  # fmt: skip
def test_a_number_has_three_decimals_or_where_it_is_large_or_small_three_digits(x, text):
    assert number(x) == text


def test_what_is_true_or_false_of_an_answer_is_no_number():
    answer = bmlab.exact(machine(3))
    told = replace(answer, info={"count": 2, "sure": True})
    assert "count" in Cells(told._repr_html_()).cells and "sure" not in told._repr_html_()


def test_an_answer_shows_means_errors_and_what_the_method_knows():
    model = machine(3)
    answer = bmlab.gibbs(model, rng=0, n_sweeps=50)
    cells = Cells(answer._repr_html_()).cells
    for k, name in enumerate(model.names):
        shown = cells[cells.index(name) + 1] if answer.model is not None else cells[cells.index(f"s{k}") + 1]
        assert shown == f"{number(answer.mean[k])} ± {number(answer.mean_stderr[k])}"
    assert cells[cells.index("rhat") + 1] == number(answer.info["rhat"])


def test_an_answer_that_has_not_converged_says_so_first():
    with pytest.warns(bmlab.NotConverged):
        answer = bmlab.gibbs(bmlab.ising((6, 6)).at(1.5), rng=0, n_sweeps=20, n_chains=8)
    assert "<b>Not converged.</b>" in answer._repr_html_() and "of 36 means" in answer._repr_html_()


def test_a_fit_shows_its_curve_where_it_has_steps():
    fit = bmlab.fit(machine(3), bmlab.states(3), steps=5, rate=0.1)
    ends = [number(step.log_likelihood.value) for step in (fit.steps[0], fit.steps[-1])]
    page = fit._repr_html_()
    assert re.search(rf"{ends[0]}.*<polyline.*{ends[1]}", page)
    assert "<svg" not in bmlab.pseudolikelihood([[1, 1], [-1, -1], [1, -1], [-1, 1]])._repr_html_()


def test_no_name_becomes_a_tag():
    model = machine(3)
    for shown in (model, bmlab.exact(model), bmlab.fit(model, bmlab.states(3), steps=2, rate=0.1)):
        tags = set(Cells(shown._repr_html_()).tags)
        assert tags <= {"div", "b", "table", "thead", "tbody", "tr", "th", "td", "svg", "polyline"}


def test_whole_numbers_have_no_decimals_and_facts_stand_apart_from_means():
    answer = bmlab.gibbs(machine(3), rng=0, n_sweeps=50)
    cells = Cells(answer._repr_html_()).cells
    for key, value in answer.info.items():
        if isinstance(value, int):
            assert cells[cells.index(key) + 1] == f"{value:,}"
    last_mean, first_fact = cells.index(NAMES[-1]), cells.index("log Z")
    assert last_mean < first_fact and "of the answer" in cells[last_mean:first_fact]
