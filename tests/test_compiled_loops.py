"""The loops that Numba compiles agree with NumPy's, sweep by sweep, and both with plain.py."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from selection import one_of, slow

import bmlab
from bmlab import plain
from bmlab.infer.variational import (
    belief_propagation,
    compiled_loops,
    coordinate_descent,
    linear_response,
    naive_mean_field,
    tap_equations,
)
from bmlab.running import compiling

SEEDS = range(6)


def glass(seed, n=9, to=np.asarray):
    """Return some units, with a third of the pairs not coupled, in fields of order one, warm enough for one valley."""
    rng = np.random.default_rng(seed)
    weights = bmlab.sherrington_kirkpatrick(n, rng=rng).weights * (bmlab.symmetric(rng.random((n, n))) > 0.35)
    return bmlab.BoltzmannMachine(to(weights), rng.normal(size=n), 3.0)


def without_numba(patch):
    """Let methods believe that Numba is not installed."""
    for module, name in (
        (compiling, "numba_is_loaded"),
        (compiling, "has_numba"),
        (coordinate_descent, "has_numba"),
        (coordinate_descent, "numba_is_here"),
    ):
        patch.setattr(module, name, lambda: False)


@pytest.fixture(params=["numpy", "numba"])
def engine(request, monkeypatch):
    """Either engine, as if Numba were there or not."""
    if request.param == "numpy":
        without_numba(monkeypatch)


@pytest.mark.parametrize("name", ["mean_field", "tap", "bethe"])
@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("seed", one_of(SEEDS, mark=slow))
def test_each_engine_answers_as_plain_does(engine, name, to, seed):
    """To ten times the tolerance at which plain.py may stop."""
    whole = glass(seed)
    right, found = getattr(plain, name)(whole), getattr(bmlab, name)(replace(whole, weights=to(whole.weights)))
    coupled = whole.weights != 0
    assert found.converged
    assert np.abs(found.mean - right.mean).max() < 1e-9 and abs(found.log_z - right.log_z) < 1e-8
    assert np.abs((found.corr.toarray() if to is not np.asarray else found.corr) - right.corr)[coupled].max() < 1e-8


def law_sweeps(theory, to, seed):
    """Five of them, from three starts: rounding grows by less than the largest slope, |J| n, a sweep."""
    model = replace(glass(seed, to=to), offset=1.0)
    functional = theory.free_energy_functional(model)
    rows = coordinate_descent.rows_by_class(model)

    def by_numpy(m, tolerance, most):
        moves = (coordinate_descent.sweep_down(m, functional.coordinate_update, rows) for _ in range(most))
        return next((moved, k) for k, moved in enumerate(moves, 1) if moved <= tolerance or k == most)

    by_numba = compiled_loops.sweeper(model, functional.reacts)
    there = [np.random.default_rng(seed).uniform(-1, 1, (model.n, 3)) for _ in range(2)]
    ends = [sweep(m, 1e-3, 5) for sweep, m in zip((by_numpy, by_numba), there, strict=True)]
    assert ends[0][1] == ends[1][1] and abs(ends[0][0] - ends[1][0]) < 1e-10
    assert np.abs(there[0] - there[1]).max() < 1e-10
    assert by_numpy(there[0], 1.0, 5)[1] == by_numba(there[1], 1.0, 5)[1] == 1


@pytest.mark.parametrize("theory", [naive_mean_field, tap_equations], ids=["mean field", "tap"])
@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("seed", SEEDS)
def test_sweeps_are_the_same_whoever_makes_them(theory, to, seed):
    law_sweeps(theory, to, seed)


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 70])
def test_correlations_are_those_of_the_whole_inverse(n, monkeypatch):
    """From its lower triangle, in tiles that end before, at and after the last unit."""
    model = bmlab.sherrington_kirkpatrick(n, rng=0, scale=0.2) if n else bmlab.BoltzmannMachine(np.zeros((0, 0)), [])
    m = np.tanh(np.random.default_rng(n).normal(size=n))
    curvature = naive_mean_field.curvature(model, m)
    found = linear_response.linear_response(model, m, *curvature)
    root = np.sqrt(1 - m**2)
    right = np.outer(root, root) * np.linalg.inv(np.diag(curvature[0]) - curvature[1]) + np.outer(m, m)
    np.fill_diagonal(right, 1.0)
    assert found.stable and np.allclose(found.pairs, right, rtol=0, atol=1e-12)
    without_numba(monkeypatch)
    assert np.abs(linear_response.linear_response(model, m, *curvature).pairs - right).max(initial=0) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_messages_are_the_same_whoever_sends_them(seed, monkeypatch):
    """Three sweeps there and back, the last by half."""
    model = glass(seed)
    graph, field = belief_propagation.graph_of(model), model.biases / model.temperature
    there = []
    for numba in (True, False):
        if not numba:
            without_numba(monkeypatch)
        send, u = belief_propagation._sender(graph, field), np.zeros(len(graph.j))
        there.append([*(send(u, step) for step in (1.0, 1.0, 0.5)), *u])
    assert np.abs(np.subtract(*there)).max() < 1e-13 and there[0][2] > 0


def test_a_loop_is_compiled_once_for_machines_of_any_size():
    """A matrix of one unit lies in memory by rows and by columns, which is another kind of array to Numba."""
    for n in (5, 2, 1, 0):
        bmlab.mean_field(glass(n, n)), bmlab.tap(glass(n, n), starts=2), bmlab.bethe(glass(n, n))
    loops = {name: one for name, one in vars(compiled_loops).items() if hasattr(one, "signatures")}
    assert {name for name, one in loops.items() if len(one.signatures) > 1} == set() and len(loops) > 3


def test_a_short_lived_process_imports_numba_when_numpy_has_taken_as_long(monkeypatch):
    """What it rents is summed: the loss is never more than one call and the import, and the choice is kept."""
    monkeypatch.setattr(compiling, "SHORT_LIVED", True)
    monkeypatch.setattr(compiling, "_rented", 0.0)
    monkeypatch.setattr(compiling, "numba_is_loaded", lambda: False)
    price, name = compiling.NUMBA_IMPORT, lambda kind: lambda: lambda _: kind
    first, other = (compiling.rented(name("numpy"), name("numba"), price * part) for part in (0.4, 1.0))
    assert [first(0), first(0), other(0), first(0), other(0)] == ["numpy", "numpy", "numpy", "numba", "numba"]
    assert compiling._rented <= price + price


FRESH = """
import sys, numpy, bmlab
bmlab.mean_field(bmlab.medium(), starts=5), bmlab.tap(bmlab.toy()), bmlab.bethe(bmlab.medium().at(9.0))
assert "numba" not in sys.modules
glass = bmlab.sherrington_kirkpatrick(60, rng=0, scale=0.3).at(1.5)
by_numpy = bmlab.mean_field(glass)
for _ in range(99):
    by_numba = bmlab.mean_field(glass)
assert "numba" in sys.modules
assert numpy.abs(by_numpy.corr - by_numba.corr).max() < 1e-10 and by_numpy.info["sweeps"] == by_numba.info["sweeps"]
"""


TWICE = """
import bmlab
glass = bmlab.sherrington_kirkpatrick(60, rng=0, scale=0.3).at(1.5)
for method in bmlab.mean_field, bmlab.tap, bmlab.bethe:
    first = method(glass)
    for _ in range(99):
        last = method(glass)
    assert first.mean.tobytes() == last.mean.tobytes() and first.corr.tobytes() == last.corr.tobytes(), method
"""


def run_fresh(code, **variables):
    """Run code in a process of its own; return whether it ended well."""
    environment = {name: said for name, said in os.environ.items() if name != "BMLAB_SHORT_LIVED"} | variables
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True).returncode == 0


@pytest.mark.slow
def test_a_short_lived_process_needs_no_numba_for_a_few_small_machines():
    """Its import takes longer than they do; many calls import it, and answer the same."""
    assert run_fresh(FRESH, BMLAB_SHORT_LIVED="1")


@pytest.mark.slow
def test_a_call_gives_the_same_bits_whatever_the_process_did_before():
    """Else a run that goes on from its checkpoint would end elsewhere. A short-lived process does without."""
    assert run_fresh(TWICE) and not run_fresh(TWICE, BMLAB_SHORT_LIVED="1")
