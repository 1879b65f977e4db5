"""gibbs and sweep: one dynamics by two engines, its averages, errors and doubts."""

import ast
import gc
import inspect
import subprocess
import sys
import tracemalloc
import warnings
import weakref
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy
from test_contract import full, near

import bmlab
from bmlab.infer.sampling import averages, chains, gibbs

ENGINES = ("numpy", "numba")
pytestmark = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
GLASS = bmlab.sherrington_kirkpatrick(50, rng=0)
SCHEDULE = partial(bmlab.anneal, schedule=[1.0])


# The sweep


@pytest.mark.parametrize("rule", ["gibbs", "metropolis"])
def test_a_sweep_sets_unit_after_unit_by_the_rule(rule):
    """Gibbs' in order is plain.sweep(); Metropolis', in any, turns a unit over with probability min(1, exp(-dE/T))."""
    rng, model = np.random.default_rng(0), bmlab.medium().at(1.7)
    s, u, line = bmlab.spins(rng.integers(0, 2, (3, 10))), rng.random((3, 10)), rng.integers(0, 10, 10)
    before, expected = s.copy(), s.copy()
    for k, i in enumerate(line):
        h, old = expected @ model.weights[i] + model.biases[i], expected[:, i].copy()
        if rule == "gibbs":
            up = 1 / (1 + np.exp(-2 * h / 1.7))
        else:
            turn = np.minimum(1, np.exp(-2 * old * h / 1.7))
            up = np.where(old < 0, turn, 1 - turn)
        expected[:, i] = np.where(u[:, k] < up, 1, -1)
    assert (bmlab.sweep(model, s, u, units=line, rule=rule) == expected).all() and (s == before).all()
    assert (bmlab.sweep(model, s, u) == bmlab.plain.sweep(model, s, u)).all()


def test_the_kind_of_a_machine_chooses_the_loop():
    """A dense glass as CSR walks as the array does, a lattice by its lists."""
    stored = bmlab.BoltzmannMachine(scipy.sparse.csr_array(GLASS.weights), GLASS.biases)
    assert not chains.densified(stored).is_sparse and chains.densified(bmlab.ising((4, 4))).is_sparse


def test_nothing_of_chains_is_assigned_from_outside():
    """Options that change from sweep to sweep are arguments: an engine keeps fields that follow from all else."""
    walk = chains.Chains(bmlab.medium(), np.ones((10, 3)), np.random.default_rng(0))
    with pytest.raises(ValueError, match="read-only"):
        walk.s[0] = -1
    for file in Path(chains.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            set_here = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            assert not set_here or ast.unparse(node.value) == "self", f"{file.name}: {ast.unparse(node)}"


# Averages


@pytest.mark.parametrize(
    ("every", "batch", "gathered", "spans"),
    [
        (1, 2**20, 2**23, (16, 1024)),
        (1, 2**20, 2**23, (1, 2)),
        (2, 2**20, 2**23, (16, 1024)),
        (2, 2**8, 2**9, (16, 1024)),
    ],
)
@pytest.mark.parametrize("model", [bmlab.medium(), bmlab.ising((4, 5)).at(2.0)], ids=["dense", "sparse"])
@pytest.mark.parametrize(("n_chains", "n_sweeps"), [(7, 6), (1, 50), (40, 4), (64, 300)])
def test_gibbs_averages_the_states_that_its_chains_pass(
    model, n_chains, n_sweeps, every, batch, gathered, spans, monkeypatch
):
    """However many sweeps are drawn at a time, kept as one number, and however many states are multiplied at a time."""
    monkeypatch.setattr(averages, "KEPT_SPANS", spans)
    monkeypatch.setattr(chains, "RANDOM_BATCH", batch)
    monkeypatch.setattr(averages, "BATCH_STATES", gathered)
    options = {"rng": 2, "n_chains": n_chains, "burn_in": 3}
    answer = bmlab.gibbs(model, n_sweeps=n_sweeps, every=every, n_draws=n_sweeps // every, **options)
    all_states = bmlab.gibbs(model, n_sweeps=n_sweeps, n_draws=n_sweeps, **options).draws
    assert (answer.draws == all_states[every - 1 :: every]).all() and (answer.draws[-1] == answer.state).all()
    seen = answer.draws.astype(float)
    assert np.allclose(answer.mean, np.mean(seen, axis=(0, 1)), atol=1e-14)
    corr = np.einsum("tci,tcj->ij", seen, seen) / len(seen) / n_chains
    assert near(full(answer.corr), corr, 1e-14)
    assert bmlab.gibbs(model, n_sweeps=n_sweeps, n_draws=1, **options).draws.shape == (1, n_chains, model.n)


def law_draws(method=bmlab.gibbs, measured=12):
    """Of all measured states n_draws are kept, the last among them, as far apart as whole numbers can be alike.

    Free units: that two of 12 states of 80 coins are the same happens once in 10^22.
    """
    of_two = {"n_ladders": 2} if method is bmlab.temper else {"n_chains": 2}
    draw = partial(method, bmlab.BoltzmannMachine(np.zeros((40, 40)), np.zeros(40)), rng=0, **of_two)
    every = draw(n_sweeps=measured, n_draws=measured).draws
    for kept in range(1, measured + 1):
        draws = draw(n_sweeps=measured, n_draws=kept).draws
        where, which = np.nonzero((draws[:, None] == every).all((2, 3)))
        gaps = np.diff(which, prepend=-1)
        assert (where == np.arange(kept)).all() and which[-1] == measured - 1
        assert gaps.max() - gaps.min() <= 1


@pytest.mark.parametrize("model", [bmlab.medium(), bmlab.ising((4, 5)).at(2.0)], ids=["dense", "sparse"])
@pytest.mark.parametrize(("n_chains", "n_sweeps"), [(7, 6), (30, 1), (40, 1), (3, 50), (33, 7), (64, 30)])
def test_averages_are_whole_numbers_over_a_whole_number_to_the_last_bit(model, n_chains, n_sweeps):
    """As a product of matrices they would differ between processors, and a weight that should be 0 would not be."""
    walked = bmlab.gibbs(model, rng=0, n_chains=n_chains, n_sweeps=n_sweeps)
    tempered = bmlab.temper(model, rng=0, n_ladders=n_chains, n_sweeps=n_sweeps)
    for x in (part for found in (walked, tempered) for part in (found.mean, np.nan_to_num(full(found.corr)))):
        assert (x == np.rint(x * n_chains * n_sweeps) / (n_chains * n_sweeps)).all()


@pytest.mark.parametrize(("method", "measured"), [(bmlab.gibbs, 12), (bmlab.temper, 5)])
def test_draws_are_evenly_spread(method, measured):
    law_draws(method, measured)


def law_errors_of_draws(answer, model, n_draws):
    """One draw of N that differs is an error of 2/N, so no error is less, and no mean is beyond 1."""
    pairs = model.weights != 0
    assert (np.asarray(answer.mean_stderr) > 1.99 / n_draws).all()
    assert (np.asarray(answer.corr_stderr[pairs]) > 1.99 / n_draws).all()
    assert np.abs(answer.mean).max() <= 1 and np.abs(answer.corr[pairs]).max() <= 1


@pytest.mark.parametrize("temperature", [1.0, 0.01])
@pytest.mark.parametrize("chains", [2, 3, 7, 10, 33])
def test_a_moment_of_sampled_chains_is_never_stated_without_error(temperature, chains):
    """Cold machines, few draws: all chains agree to the last draw, which proves nothing.  The diagonal is stored."""
    for cold in (bmlab.sherrington_kirkpatrick(8, rng=0), bmlab.ising((3, 3), coupling=-1.0)):
        model = replace(cold.at(temperature), biases=np.append(9, cold.biases[1:]))
        for n_sweeps in (1, 20, 300):
            gibbs = [bmlab.gibbs(model, rng=k, n_chains=chains, n_sweeps=n_sweeps, burn_in=5) for k in range(3)]
            law_errors_of_draws(gibbs[0], model, chains * n_sweeps)
            law_errors_of_draws(bmlab.combine(gibbs), model, 3 * chains * n_sweeps)
        ladders = bmlab.temper(model, rng=0, n_ladders=chains, n_sweeps=20, burn_in=5)
        law_errors_of_draws(ladders, model, 20 * chains)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_sweeps(monkeypatch):
    """A hundred times the sweeps: one number kept of each would be four times the peak, not a fifth more."""
    monkeypatch.setattr(chains, "RANDOM_BATCH", 2**12)
    peaks = []
    for n_sweeps in (2_000, 2_000, 200_000):
        tracemalloc.start()
        bmlab.gibbs(bmlab.toy(), rng=0, n_chains=4, n_sweeps=n_sweeps, backend="numba")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.2 * peaks[1]


# Right answers, and doubts


def test_chains_that_know_their_first_units_get_the_others_by_one_sweep():
    """Hidden units that are not coupled: after one sweep given the data they follow p(hidden | data) exactly."""
    model = bmlab.restricted([[1.0, -0.5], [0.3, 0.8]], [0.1, 0.2], [0.4, -0.3]).at(1.3)
    data = np.tile([1.0, -1.0], (40_000, 1))
    s = gibbs.first_states(model, np.random.default_rng(0), data, None)
    expected = np.tanh((data[0] @ model.weights[:2, 2:] + model.biases[2:]) / 1.3)
    assert (s[:, :2] == data).all()
    assert (np.abs(s[:, 2:].mean(0) - expected) < 5 * np.sqrt((1 - expected**2) / len(data))).all()


def test_chains_that_mix_converge_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = bmlab.gibbs(bmlab.medium().at(3.0), rng=0)
    assert answer.converged and answer.message.endswith("after 1000 sweeps; it should be below 1.01.")
    assert np.isnan(answer.log_z.value) and str(answer.log_z) == "unknown"


def test_chains_that_disagree_are_reported():
    """Two valleys far apart: half of the chains stay in each."""
    with pytest.warns(bmlab.NotConverged, match="R-hat .* Raise n_sweeps"):
        answer = bmlab.gibbs(bmlab.ising((6, 6)).at(0.5), rng=0, burn_in=500)
    assert not answer.converged and answer.info["rhat"] > 2 and "the chains disagree" in answer.message
    answer = bmlab.gibbs(bmlab.toy(), rng=0, n_chains=1, n_sweeps=1)
    assert np.isnan(answer.mean_stderr).all() and not answer.converged


def test_ess_of_independent_draws_is_their_number():
    """Free units give a new draw each sweep: 40 chains of 1000; the worst of 5 ESS is estimated to a few per cent."""
    answer = bmlab.gibbs(bmlab.BoltzmannMachine(np.zeros((5, 5)), np.zeros(5)), rng=0, n_chains=40)
    assert answer.converged and 0.85 < answer.info["ess"] / 40_000 < 1.05


@pytest.mark.parametrize("backend", ENGINES)
def test_a_machine_ends_with_the_last_who_holds_it(backend):
    """Chains and their engine must not hold each other: a climb kept its machines until Python looked for circles."""
    model = bmlab.sherrington_kirkpatrick(20, rng=np.random.default_rng(0))
    gone = weakref.ref(model)
    gc.disable()
    try:
        answer = bmlab.gibbs(model, rng=0, burn_in=2, n_sweeps=3, backend=backend)
        assert len(answer.mean) == 20
        del model, answer  # which says of which machine it is
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("method", [bmlab.gibbs, bmlab.visited, SCHEDULE], ids=["gibbs", "visited", "anneal"])
def test_a_start_of_another_number_of_chains_is_refused(method):
    with pytest.raises(ValueError, match="start has 8 chains, n_chains is 7; leave n_chains out"):
        method(bmlab.toy(), rng=0, start=np.ones((8, 3)), n_chains=7)


# Without Numba, memory or threads

SCRIPTS = {
    "no Numba": """
import sys
sys.modules["numba"] = None
import numpy as np, bmlab
assert bmlab.gibbs(bmlab.medium().at(3.0), rng=0).converged
try:
    bmlab.gibbs(bmlab.toy(), rng=0, backend="numba")
except ValueError as error:
    assert "pip install numba, or use backend='numpy'" in str(error)
""",
    "no folder to keep loops in": """
from numba.core.caching import CompileResultCacheImpl
CompileResultCacheImpl._locator_classes = []
import bmlab
assert abs(bmlab.mean_field(bmlab.toy()).log_z - bmlab.plain.mean_field(bmlab.toy()).log_z) < 1e-9
""",
    "little memory": """
import resource, sys
from pathlib import Path
import numpy as np, bmlab
bmlab.gibbs(bmlab.toy(), rng=0, n_sweeps=1, backend="numpy")  # loads SciPy's linear algebra
taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 200 * 2**20,) * 2)
glass = bmlab.sherrington_kirkpatrick(12, rng=0)
for method in (bmlab.temper, bmlab.visited, bmlab.gibbs):
    method(glass, rng=0, n_sweeps=6000)
bmlab.anneal(glass, np.geomspace(4, 0.1, 6000), rng=0)
assert "numba" not in sys.modules
""",
    "a forked process": """
import multiprocessing, numpy as np, bmlab
from bmlab.infer.sampling.chains import Chains

def walk(seed):
    chains = Chains(bmlab.medium(), np.ones((10, 64)), np.random.default_rng(seed), backend="numba")
    chains.sweep(1000)
    return int(chains.s.sum())

here = walk(0)
with multiprocessing.get_context("fork").Pool(1) as pool:
    assert pool.apply_async(walk, (0,)).get() == here
""",
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space and fork() are Linux's")
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_chains_walk_with(script):
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True)


@pytest.mark.parametrize("count", [2, 10, 1000])
def test_draws_that_are_all_alike_err_as_if_one_were_not(count):
    """sqrt((1 - x^2)/(count - 1)) at x = 1 - 2/count, all but one, is 2/count."""
    all_alike, all_but_one = averages._binomial_stderr(np.array([1.0, 1 - 2 / count]), count)
    assert all_alike == pytest.approx(2 / count, rel=1e-12) == all_but_one


def test_a_climb_asks_with_the_defaults_of_a_single_call():
    once, again = (inspect.signature(call).parameters for call in (bmlab.gibbs, gibbs.RepeatedGibbs))
    assert {name: once[name].default for name in again} == {name: one.default for name, one in again.items()}
