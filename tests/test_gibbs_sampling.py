"""gibbs and sweep: one dynamics, its random stream, its errors and its doubts."""

import gc
import subprocess
import sys
import tracemalloc
import warnings
import weakref
from functools import partial

import numpy as np
import pytest
import scipy
from test_planning import kaufman_log_z

import bmlab
from bmlab.infer import sampling
from bmlab.infer.sampling import averages, chains, diagnostics, gibbs

ENGINES = ("numpy", "numba")
quietly = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")


def test_a_sweep_is_the_rule_of_the_lecture():
    """One unit after the other, +1 where u is below 1 / (1 + exp(-2 h / T))."""
    rng, model = np.random.default_rng(0), bmlab.medium().at(1.7)
    s, u = bmlab.spins(rng.integers(0, 2, 10)), rng.random(10)
    expected = s.copy()
    for i in range(10):
        h = model.weights[i] @ expected + model.biases[i]
        expected[i] = 1 if u[i] < 1 / (1 + np.exp(-2 * h / 1.7)) else -1
    assert (bmlab.sweep(model, s, u) == expected).all()


def test_a_sweep_leaves_its_input_alone_and_takes_any_shape():
    rng, model = np.random.default_rng(0), bmlab.toy()
    s, u = bmlab.states(3).reshape(2, 4, 3), rng.random((2, 4, 3))
    before = s.copy()
    together = bmlab.sweep(model, s, u)
    assert (s == before).all() and together.shape == s.shape
    assert (together[1, 2] == bmlab.sweep(model, s[1, 2], u[1, 2])).all()


@pytest.mark.parametrize(
    ("rule", "chance"),
    [
        ("gibbs", lambda s, h, T: 1 / (1 + np.exp(-2 * h / T))),
        ("metropolis", lambda s, h, T: min(1, np.exp(2 * h / T)) if s < 0 else 1 - min(1, np.exp(-2 * h / T))),
    ],
)
def test_units_and_rule_of_a_sweep(rule, chance):
    rng, model = np.random.default_rng(0), bmlab.medium().at(1.7)
    s, u, line = bmlab.spins(rng.integers(0, 2, 10)), rng.random(10), rng.integers(0, 10, 10)
    expected = s.copy()
    for k, i in enumerate(line):
        h = model.weights[i] @ expected + model.biases[i]
        expected[i] = 1 if u[k] < chance(expected[i], h, 1.7) else -1
    assert (bmlab.sweep(model, s, u, units=line, rule=rule) == expected).all()


@quietly
@pytest.mark.parametrize("model", [bmlab.medium(), bmlab.ising((4, 5)).at(2.0)], ids=["dense", "sparse"])
@pytest.mark.parametrize(("n_chains", "n_sweeps"), [(7, 5), (1, 50), (40, 3)])
def test_gibbs_averages_the_states_that_its_chains_pass(model, n_chains, n_sweeps):
    answer = bmlab.gibbs(
        model, rng=np.random.default_rng(2), n_chains=n_chains, burn_in=3, n_sweeps=n_sweeps, draws=n_sweeps
    )
    seen = answer.draws.astype(float)
    assert seen.shape == (n_sweeps, n_chains, model.n) and (seen[-1] == answer.state).all()
    assert np.allclose(answer.mean, np.mean(seen, axis=(0, 1)), atol=1e-14)
    corr = np.einsum("tci,tcj->ij", seen, seen) / (n_chains * n_sweeps)
    got = answer.corr.toarray() if model.is_sparse else answer.corr
    known = (model.weights.toarray() != 0) if model.is_sparse else np.ones_like(got, dtype=bool)
    assert np.allclose(got[known], corr[known], atol=1e-14)
    assert bmlab.gibbs(
        model, rng=np.random.default_rng(2), n_chains=n_chains, burn_in=3, n_sweeps=n_sweeps, draws=1
    ).draws.shape == (1, n_chains, model.n)


@quietly
@pytest.mark.parametrize("model", [bmlab.sherrington_kirkpatrick(50, 0), bmlab.ising((5, 10))], ids=["dense", "sparse"])
def test_averages_do_not_depend_on_how_many_sweeps_come_at_a_time(model, monkeypatch):
    """Sums of -1/+1 are whole numbers: joined to larger products or not, they are the same to the bit."""
    answers = []
    for batch, gathered in ((2**20, 2**23), (2**12, 2**23), (2**12, 0)):
        monkeypatch.setattr(chains, "BATCH", batch)
        monkeypatch.setattr(averages, "GATHERED", gathered)
        answers.append(bmlab.gibbs(model, rng=0, n_chains=33, burn_in=0, n_sweeps=90))
    for other in answers[1:]:
        assert abs(other.corr - answers[0].corr).max() == 0 and (other.mean_stderr == answers[0].mean_stderr).all()
        assert abs(other.corr_stderr - answers[0].corr_stderr).max() == 0


@quietly
def test_the_error_is_the_spread_of_groups_of_chains_or_of_parts_of_time():
    """With 64 chains each pair is a group; a single chain is cut into 32 parts."""
    for n_chains, n_sweeps, shape in ((64, 10, (10, 32, 2)), (1, 320, (32, 10))):
        answer = bmlab.gibbs(
            bmlab.medium(), rng=np.random.default_rng(2), n_chains=n_chains, n_sweeps=n_sweeps, draws=n_sweeps
        )
        first = answer.draws[:, :, 0].reshape(shape).astype(float)
        groups = first.mean((0, 2)) if n_chains > 1 else first.mean(1)
        assert np.isclose(answer.mean_stderr[0], groups.std(ddof=1) / np.sqrt(32))


@quietly
def test_the_same_generator_gives_the_same_answer_and_blocks_do_not_matter(monkeypatch):
    one = bmlab.gibbs(bmlab.medium(), rng=np.random.default_rng(5), n_sweeps=50)
    monkeypatch.setattr(chains, "BATCH", 1000)
    other = bmlab.gibbs(bmlab.medium(), rng=np.random.default_rng(5), n_sweeps=50)
    assert (one.state == other.state).all()
    assert np.allclose(one.corr, other.corr, atol=1e-14) and np.allclose(one.corr_stderr, other.corr_stderr, atol=1e-14)


def test_chains_that_know_their_first_units_get_the_others_by_one_sweep():
    """Hidden units that are not coupled: after one sweep given the data they follow p(hidden | data) exactly."""
    model = bmlab.restricted([[1.0, -0.5], [0.3, 0.8]], [0.1, 0.2], [0.4, -0.3]).at(1.3)
    data = np.tile([1.0, -1.0], (40_000, 1))
    s = gibbs.first_states(model, np.random.default_rng(0), data, None)
    expected = np.tanh((data[0] @ model.weights[:2, 2:] + model.biases[2:]) / 1.3)
    assert (s[:, :2] == data).all()
    assert (np.abs(s[:, 2:].mean(0) - expected) < 5 * np.sqrt((1 - expected**2) / len(data))).all()


@quietly
@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize("order", ["colours", "random"])
def test_a_machine_without_free_units_has_nothing_to_sample(order, backend):
    nothing = bmlab.toy().clamp([0, 1, 2], [1, 1, 1])
    answer = bmlab.gibbs(nothing, rng=np.random.default_rng(0), order=order, backend=backend)
    assert answer.mean.shape == (0,) and answer.corr.shape == (0, 0)


def test_log_z_is_unknown():
    log_z = bmlab.gibbs(bmlab.toy(), rng=np.random.default_rng(0)).log_z
    assert np.isnan(log_z.value) and (log_z.lower, log_z.upper) == (-np.inf, np.inf) and str(log_z) == "unknown"


def test_chains_that_mix_converge_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = bmlab.gibbs(bmlab.medium().at(3.0), rng=np.random.default_rng(0))
    assert answer.converged and answer.message.endswith("after 1000 sweeps, where below 1.01 is asked for.")


def test_chains_that_disagree_are_reported():
    """Two valleys far apart: half of the chains sit in each for ever."""
    with pytest.warns(bmlab.NotConverged, match="R-hat .* Raise n_sweeps"):
        answer = bmlab.gibbs(bmlab.ising((6, 6)).at(0.5), rng=np.random.default_rng(0), burn_in=500)
    assert not answer.converged and answer.info["rhat"] > 2 and "the chains disagree" in answer.message


@quietly
def test_memory_does_not_grow_with_the_sweeps(monkeypatch):
    """A hundred times the sweeps: one number kept of each would be four times the peak, not a fifth more."""
    monkeypatch.setattr(chains, "BATCH", 2**12)
    peaks = []
    for n_sweeps in (2_000, 2_000, 200_000):
        tracemalloc.start()
        bmlab.gibbs(bmlab.toy(), rng=np.random.default_rng(0), n_chains=4, n_sweeps=n_sweeps, backend="numba")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.2 * peaks[1]


def test_ess_of_independent_draws_is_their_number():
    """Free units give a new draw each sweep: 40 chains of 1000; the worst of 5 ESS is known to a few per cent."""
    free = bmlab.BoltzmannMachine(np.zeros((5, 5)), np.zeros(5))
    answer = bmlab.gibbs(free, rng=np.random.default_rng(0), n_chains=40)
    assert answer.converged and 0.85 < answer.info["ess"] / 40_000 < 1.05


@quietly
def test_the_energy_of_the_draws_is_judged_too():
    answer = bmlab.gibbs(bmlab.medium(), rng=np.random.default_rng(0), draws=200)
    assert answer.info["energy"] == diagnostics.convergence(bmlab.medium().energy(answer.draws).T)
    assert bmlab.gibbs(bmlab.toy(), rng=np.random.default_rng(0)).draws is None


NOTHING_BUT_NUMPY = """
import sys
for name in ("arviz_stats", "numba"):
    sys.modules[name] = None
import numpy as np, bmlab
assert bmlab.gibbs(bmlab.medium().at(3.0), rng=np.random.default_rng(0)).converged
"""


def test_without_arviz_and_numba_chains_that_mix_converge():
    subprocess.run([sys.executable, "-W", "error", "-c", NOTHING_BUT_NUMPY], check=True, timeout=60)


def test_numba_is_asked_for_by_name_only_where_it_is_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "bmlab.infer.sampling.numba_engine", None)
    monkeypatch.delattr(sampling, "numba_engine", raising=False)
    with pytest.raises(ValueError, match="needs Numba, which is not installed; pip install numba, or backend='numpy'"):
        bmlab.gibbs(bmlab.toy(), rng=np.random.default_rng(0), backend="numba")


@quietly
def test_perfect_samples_do_not_drift():
    """Started in p(s), every later sweep is in p(s): the mean of independent chains errs as 1/sqrt(chains)."""
    model, size = bmlab.sherrington_kirkpatrick(16, np.random.default_rng(4), scale=2.0), 20_000
    truth = bmlab.exact(model)
    for options in ({}, {"order": "sequential"}, {"order": "random"}, {"rule": "metropolis"}, {"backend": "numba"}):
        start = bmlab.sample(model, size, np.random.default_rng(5))
        s = bmlab.gibbs(model, rng=np.random.default_rng(6), start=start, burn_in=30, n_sweeps=1, **options).state
        pairs = np.triu_indices(16, 1)
        for mean, exact in ((s.mean(0), truth.mean), ((s.T @ s / size)[pairs], truth.corr[pairs])):
            assert (np.abs(mean - exact) < 5.5 * np.sqrt((1 - exact**2) / size)).all()


@quietly
@pytest.mark.parametrize("temperature", [1.8, 2.4, 3.5])
def test_the_energy_of_the_torus_is_kaufmans(temperature):
    """16 x 16, below, near and above the transition, against the closed form of Kaufman (1949); 4 stderr."""
    start = np.ones((64, 256)) if temperature < 2 else None  # below it, chains of random states freeze in stripes
    torus = bmlab.ising((16, 16)).at(temperature)
    answer = bmlab.gibbs(
        torus, rng=np.random.default_rng(8), n_chains=64, start=start, burn_in=2000, n_sweeps=2000, draws=500
    )
    energy = torus.energy(answer.draws.astype(float)).mean(0)
    groups = energy.reshape(32, 2).mean(1)
    assert abs(groups.mean() - kaufman_energy(16, temperature)) < 4 * groups.std(ddof=1) / np.sqrt(32)


def kaufman_energy(n, temperature, step=1e-5):
    """E = - d log Z / d beta, by a central difference of the closed form."""
    hot, cold = (1 / (1 / temperature + d) for d in (-step, step))
    return -(kaufman_log_z(n, cold) - kaufman_log_z(n, hot)) / (2 * step)


@quietly
@pytest.mark.parametrize("backend", ENGINES)
def test_a_machine_ends_with_the_last_who_holds_it(backend):
    """Chains and their engine held each other: a climb kept its machines until Python looked for circles."""
    model = bmlab.sherrington_kirkpatrick(20, np.random.default_rng(0))
    gone = weakref.ref(model)
    gc.disable()
    try:
        answer = bmlab.gibbs(model, rng=0, burn_in=2, n_sweeps=3, backend=backend)
        del model
        assert len(answer.mean) == 20 and gone() is None
    finally:
        gc.enable()


@quietly
def test_one_sweep_of_one_chain_claims_no_error_and_no_convergence():
    answer = bmlab.gibbs(bmlab.toy(), rng=np.random.default_rng(0), n_chains=1, n_sweeps=1)
    assert np.isnan(answer.mean_stderr).all() and not answer.converged


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"order": "checkerboard"}, "order must be 'colours', 'sequential' or 'random', found 'checkerboard'"),
        ({"rule": "glauber"}, "rule must be 'gibbs' or 'metropolis', found 'glauber'"),
        ({"backend": "cuda"}, "backend must be 'auto', 'numpy' or 'numba', found 'cuda'"),
        ({"rule": "metropolis", "backend": "numba"}, "the Numba backend has no rule 'metropolis'; use backend='numpy'"),
        ({"draws": 2000}, "draws must be 0 to 1000, found 2000; try draws=10"),
    ],
)
def test_a_wrong_option_is_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        bmlab.gibbs(bmlab.toy(), rng=np.random.default_rng(0), **options)


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        (np.ones((2, 4)), r"start has 4 units, the machine 3"),
        (np.zeros((2, 3)), r"start must be -1/\+1, found \{0\}; use bmlab.spins\(start\)"),
        (np.ones((2, 4, 3)), r"start must be states \(chains, 3\), found shape \(2, 4, 3\); pass one state a row"),
        (np.ones((0, 3)), r"start must be states \(chains, 3\), found shape \(0, 3\); pass one state a row"),
    ],
)
@pytest.mark.parametrize(
    "method",
    [bmlab.gibbs, bmlab.visited, partial(bmlab.annealed, schedule=[1.0])],
    ids=["gibbs", "visited", "annealed"],
)
def test_a_wrong_start_is_refused(method, start, sentence):
    with pytest.raises(ValueError, match=sentence):
        method(bmlab.toy(), rng=np.random.default_rng(0), start=start)


@pytest.mark.parametrize(
    "method",
    [bmlab.gibbs, bmlab.visited, partial(bmlab.annealed, schedule=[1.0])],
    ids=["gibbs", "visited", "annealed"],
)
def test_start_says_how_many_chains_and_n_chains_may_only_agree(method):
    start = bmlab.states(3)
    one, other = (method(bmlab.toy(), rng=np.random.default_rng(0), start=start, n_chains=k) for k in (None, 8))
    assert (one.state == other.state).all()
    with pytest.raises(ValueError, match="start has 8 chains, n_chains is 7; leave n_chains out"):
        method(bmlab.toy(), rng=np.random.default_rng(0), start=start, n_chains=7)
    with pytest.raises(ValueError, match="n_chains must be at least 1, found 0; try n_chains=10"):
        method(bmlab.toy(), rng=np.random.default_rng(0), n_chains=0)


@pytest.mark.parametrize("kind", ["full", "biases change"])
def test_kept_fields_are_those_of_the_states(kind):
    """Fields that flips change stay those of states and biases, summed anew where somebody else changes these."""
    pytest.importorskip("numba")
    model = bmlab.sherrington_kirkpatrick(40, 1)
    walks = [chains.Chains(model, np.ones((40, 9)), np.random.default_rng(2), backend=b) for b in ENGINES]
    for _ in range(2**17 // 360):  # a few draws are in doubt
        for walk in walks:
            walk.biases = walk.biases + (1 / 1024 if kind != "full" else 0)
            walk.sweep(3)
        assert (walks[0].s == walks[1].s).all()
        walks[0].s[3] = walks[1].s[3] = 1


@pytest.mark.parametrize(
    ("model", "n_chains", "n_sweeps", "engine"),
    [
        (bmlab.toy(), 100, 100, "numpy"),
        (bmlab.toy(), 100, 10_000, "numba"),
        (bmlab.sherrington_kirkpatrick(100, 0), 100, 1, "numba"),
        (bmlab.restricted(np.ones((300, 300)), np.zeros(300), np.zeros(300)), 100, 1000, "numpy"),
    ],
    ids=["short", "long", "wide", "layers"],
)
def test_size_and_kind_choose_the_engine_and_history_does_not(model, n_chains, n_sweeps, engine):
    """The same question has the same engine, before and after a long walk."""
    pytest.importorskip("numba")
    for walked in (0, 1000):
        chains.Chains(bmlab.medium(), np.ones((10, 100)), np.random.default_rng(0)).sweep(walked)
        start = np.ones((model.n, n_chains))
        assert chains.Chains(model, start, np.random.default_rng(0), n_sweeps=n_sweeps).backend == engine


@quietly
@pytest.mark.parametrize("temperature", [1.0, 0.1, 0.01])
def test_a_moment_of_sampled_chains_is_never_stated_without_error(temperature):
    """Cold machines, few draws: all chains agree to the last draw, which proves nothing.  The diagonal is known."""
    for seed in range(5):
        for model in (bmlab.sherrington_kirkpatrick(8, seed), bmlab.ising((3, 3), coupling=-1.0)):
            for options in ({"n_sweeps": 1}, {"n_sweeps": 20}, {"n_sweeps": 20, "n_chains": 3}):
                answers = [bmlab.gibbs(model.at(temperature), rng=seed, burn_in=5, **options)]
                answers += [bmlab.temper(model.at(temperature), rng=seed, burn_in=5, n_sweeps=options["n_sweeps"])]
                for answer in answers:
                    off = model.weights != 0
                    errors = answer.corr_stderr[off]
                    assert (np.asarray(answer.mean_stderr) > 0).all() and (np.asarray(errors) > 0).all()


STARVED = """
import resource, sys
from pathlib import Path
import numpy as np, bmlab
bmlab.gibbs(bmlab.toy(), rng=0, n_sweeps=1, backend="numpy")  # loads SciPy's linear algebra
taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + int(sys.argv[1]) * 2**20,) * 2)
glass = bmlab.sherrington_kirkpatrick(12, 0)
for method in (bmlab.temper, bmlab.visited, bmlab.gibbs):
    method(glass, rng=0, n_sweeps=6000)
bmlab.annealed(glass, np.geomspace(4, 0.1, 6000), rng=0)
assert "numba" not in sys.modules
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space are Linux's")
@pytest.mark.parametrize("room", [100, 200, 500])
def test_where_memory_is_short_every_sampler_walks_by_numpy(room):
    subprocess.run([sys.executable, "-W", "ignore", "-c", STARVED, str(room)], check=True, timeout=60)


FORKED = """
import multiprocessing, numpy as np, bmlab
from bmlab.infer.sampling.chains import Chains

def walk(seed):
    chains = Chains(bmlab.medium(), np.ones((10, 64)), np.random.default_rng(seed), backend="numba")
    chains.sweep(1000)
    return int(chains.s.sum())

here = walk(0)
with multiprocessing.get_context("fork").Pool(1) as pool:
    assert pool.apply_async(walk, (0,)).get(timeout=20) == here
"""


@pytest.mark.skipif(sys.platform != "linux", reason="fork() is the way of Linux")
def test_a_forked_process_has_threads_of_its_own():
    """Threads do not survive fork(): a pool handed down would wait for them for ever."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], check=True, timeout=60)


def law_blocks():
    """A class of a lattice feels the other class alone: dense and sparse weights walk alike, to the bit."""
    lattice = bmlab.ising((8, 8), 0.5, field=0.25)
    full = bmlab.BoltzmannMachine(lattice.dense_weights, lattice.biases)
    walks = []
    for model in (lattice, full):
        walk = chains.Chains(model, np.ones((64, 5)), np.random.default_rng(0), backend="numpy")
        walk.sweep(20)
        walks.append(walk.s)
    assert (walks[0] == walks[1]).all()


def test_dense_and_sparse_weights_walk_alike():
    law_blocks()


# lattices


@pytest.mark.parametrize("scale", [0.3, -0.7, 40.0], ids=["warm", "pushing apart", "cold"])
@pytest.mark.parametrize("lattice", [bmlab.ising((7, 9), periodic=False), bmlab.ising((3, 3)), bmlab.ising(50)])
def test_a_lattice_walks_by_its_own_loop_as_by_numpy(lattice, scale):
    pytest.importorskip("numba")
    rng = np.random.default_rng(3)
    model = bmlab.BoltzmannMachine(lattice.weights * scale, rng.normal(size=lattice.n), 1.3)
    walks = [
        chains.Chains(model, rng.choice([-1, 1], (model.n, 70)), np.random.default_rng(5), backend=backend)
        for backend in ("numba", "numpy")
    ]
    walks[1].s[...] = walks[0].s
    for walk in walks:
        walk.sweep(40)
        walk.beta = walk.beta * 0.5  # new edges
        walk.sweep(40)
    assert walks[0].engine.edges is not None
    assert np.array_equal(walks[0].s, walks[1].s)


@pytest.mark.parametrize("engine", ENGINES)
def test_storage_does_not_choose_the_road(engine):
    """A dense glass as CSR walks as the array does, through the same states; a lattice keeps its own loop."""
    glass = bmlab.sherrington_kirkpatrick(40, np.random.default_rng(0))
    stored = bmlab.BoltzmannMachine(scipy.sparse.csr_array(glass.weights), glass.biases)
    s = np.random.default_rng(1).choice([-1, 1], (40, 8))
    walks = [chains.Chains(model, s, np.random.default_rng(2), backend=engine) for model in (glass, stored)]
    for walk in walks:
        walk.sweep(20)
    assert not walks[1].model.is_sparse and (walks[0].s == walks[1].s).all()
    assert chains.by_density(bmlab.ising((4, 4))).is_sparse
