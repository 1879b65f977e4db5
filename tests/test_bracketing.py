"""bracket, and every bound that it is made of: log Z lies inside, on machines of all kinds.

MACHINES=223 is the number of each kind (2,007 in all).
"""

import os
from unittest.mock import patch

import numpy as np
import pytest
from machines import KINDS, random_machine
from selection import one_of, slow
from test_contract import machine

import bmlab
from bmlab.infer.bounds import bracketing
from bmlab.infer.bounds.bracketing import bracket_without_exact
from bmlab.infer.bounds.gaussian_integral import gaussian_bound
from bmlab.infer.bounds.spanning_trees import edge_appearance_probabilities
from bmlab.infer.bounds.structured_mean_field import tree_mean_field
from bmlab.infer.bounds.tree_reweighting import bound_of
from bmlab.infer.variational.belief_propagation import graph_of

quietly = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
A_KIND = int(os.environ.get("MACHINES", 40))  # machines of each of the 9 kinds
BRACKETS = 10  # of each kind are bracketed as well
MOST = 16  # units, but for lattices: exact() answers in about a millisecond
LOWER = {"mean field", "tree", "visited"}


def lower_bounds(model, rng):
    """Every lower bound, converged and not."""
    product = bmlab.mean_field(model)
    yield product.log_z.lower
    yield bmlab.mean_field(model, start=rng.uniform(-1, 1, model.n), max_sweeps=1).log_z.lower
    yield tree_mean_field(model, product.mean)
    yield bmlab.visited(model, rng=rng, n_chains=5, n_sweeps=4).log_z.lower


def upper_bounds(model, rng):
    """Every upper bound: trw's after each step, and that of its trees with messages that nobody has chosen well."""
    yield gaussian_bound(model)
    answer = bmlab.trw(model, max_steps=1)
    yield from answer.info["bounds"]
    graph = graph_of(model)
    share, wild = (
        edge_appearance_probabilities(model, graph, answer.state.log_weights),
        rng.normal(scale=3, size=len(graph.j)),
    )
    yield bound_of(model, graph, share, wild).value - model.offset / model.temperature


@quietly
@pytest.mark.parametrize("kind", one_of(KINDS, kind=lambda kind: kind in ("lattice", "hopfield") and kind, mark=slow))
def test_every_bound_holds_on_machines_of_every_kind(kind):
    """Proven for real numbers; in doubles no sum here is off by more than 1e-9 of its size, by far."""
    for seed in range(A_KIND):
        rng = np.random.default_rng(seed)
        model = random_machine(kind, rng, MOST)
        true = bmlab.exact(model).log_z.value
        below, above = list(lower_bounds(model, rng)), list(upper_bounds(model, rng))
        if seed < BRACKETS:
            found = bracket_without_exact(model, rng)
            below, above = [*below, found.log_z.lower], [*above, found.log_z.upper]
        rounding = 1e-9 * (1 + abs(true))
        assert max(below) <= true + rounding and min(above) >= true - rounding, f"seed {seed}: {below} {true} {above}"


def test_the_ends_are_the_best_bounds():
    """The best of each side makes the ends, and is named; log Z lies between."""
    for seed in range(3):
        model = machine(12, seed, 1.5, 1.3, offset=2.0)
        found = bracket_without_exact(model, np.random.default_rng(0))
        below = {name: bound for name, bound in found.bounds.items() if name in LOWER}
        above = {name: bound for name, bound in found.bounds.items() if name not in LOWER}
        assert set(above) == {"couplings", "Gaussian", "trw"} and set(below) == LOWER
        assert (found.log_z.lower, found.log_z.upper) == (max(below.values()), min(above.values()))
        assert below[found.lower_by] == found.log_z.lower and above[found.upper_by] == found.log_z.upper
        assert max(below.values()) <= bmlab.exact(model).log_z.value + 1e-12 < min(above.values())
        assert found.log_z.value == (found.log_z.lower + found.log_z.upper) / 2 and found.log_z.stderr == 0
        assert found.width == found.log_z.upper - found.log_z.lower > 0


@quietly
def test_the_bound_by_couplings_is_their_sum():
    """Without frustration and fields, cold, every coupling is satisfied in two states of the 2^n that are counted."""
    model = bmlab.BoltzmannMachine(1 - np.eye(6), np.zeros(6), 0.02, offset=1.0)
    found = bracket_without_exact(model, np.random.default_rng(0))
    assert abs(found.bounds["couplings"] - bmlab.exact(model).log_z.value - 5 * np.log(2)) < 1e-12 * 700


@pytest.mark.parametrize("least", [0, 10**6])
def test_what_would_take_minutes_is_left_out(least):
    with patch.multiple(bracketing, MAX_INVERTED_UNITS=least, MAX_TRW_COUPLINGS=least):
        found = bracket_without_exact(machine(8, 0), np.random.default_rng(0)).bounds
    assert set(found) == {"mean field", "visited", "couplings"} | ({"tree", "Gaussian", "trw"} if least else set())


def test_a_tree_is_a_bound_after_each_step():
    model = machine(8, 0)
    m = bmlab.mean_field(model).mean
    first, last = tree_mean_field(model, m, 1), tree_mean_field(model, m)
    assert first < last <= bmlab.exact(model).log_z.value


def test_it_is_exact_where_that_fits():
    model = machine(12, 1, 1.5, 1.3, offset=2.0)
    found, true = bmlab.bracket(model, rng=np.random.default_rng(0)), bmlab.exact(model).log_z
    assert found.log_z == true and found.width == 0
    assert (found.lower_by, found.upper_by, found.bounds) == ("exact", "exact", {"exact": true.value})


@pytest.mark.slow
def test_beyond_exact_it_brackets():
    model = bmlab.sherrington_kirkpatrick(60, rng=np.random.default_rng(0)).at(2.0)
    found = bmlab.bracket(model, rng=0)
    weighted = bmlab.ais(model, rng=np.random.default_rng(1), n_chains=200).log_z
    assert "exact" not in found.bounds and 0 < found.width < np.inf
    assert found.log_z.lower - 5 * weighted.stderr < weighted.value < found.log_z.upper + 5 * weighted.stderr
