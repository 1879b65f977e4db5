"""How fast Gibbs sampling is, beside its peers and beside C, in one process.

    python benchmarks/sampling.py

Every sampler starts from the same chains, which have settled before, and must keep their energy: so all do the same
work.  Each time is the median of repeats after one call to warm up, on one core; printed are millions of updates a
second and ratios.  The C kernel (gibbs.c) is compiled here, if there is a gcc.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager
from functools import cache, partial
from itertools import count as count_from
from pathlib import Path

import numpy as np
from exact import glass, median_seconds, once
from threadpoolctl import threadpool_limits

import bmlab
from bmlab.infer.sampling.chains import Chains

REPEATS = 5
PEERS = {}  # peer -> (machine, chains) -> its speed, timed once
SECONDS = 0.1  # a timed call is at least so long
SETTLE = {100: 500, 1000: 100, 4096: 1000}  # sweeps before anything is timed
FIRST = """
import sys
from time import process_time
begin = process_time()
import bmlab, numpy as np
imported = process_time()
model = bmlab.sherrington_kirkpatrick(10, rng=np.random.default_rng(0))
bmlab.gibbs(model, rng=np.random.default_rng(0), n_chains=20, burn_in=10, n_sweeps=100, backend=sys.argv[1])
print(imported - begin, process_time() - imported)
"""
CASES = (  # name, machine, chains, backend, aims: times dwave, share of C
    ("dense 100 x 1", 100, 1, "numba", 3, 0.5),
    ("dense 1000 x 1", 1000, 1, "numba", 6.5, 0.6),
    ("dense 100 x 1000", 100, 1000, "numba", 5, 0.5),
    ("dense 1000 x 1000", 1000, 1000, "numba", 7, 0.6),
    ("lattice 64x64 x 1", 4096, 1, "numba", 1.5, None),
    ("lattice 64x64 x 128", 4096, 128, "numba", 25, None),
    ("NumPy 100 x 1000", 100, 1000, "numpy", 1.5, None),
    ("NumPy 1000 x 1000", 1000, 1000, "numpy", 4.5, None),
)


@cache
def machine(n):
    """A glass at T = 1, or the lattice near its critical temperature."""
    return bmlab.ising((64, 64)).at(2.3) if n == 4096 else glass(n)


@cache
def settled(n, chains):
    """States (n, chains) after many sweeps, the start of every sampler."""
    rng = np.random.default_rng(chains)
    walk = Chains(machine(n), rng.choice([-1, 1], (n, chains)), rng)
    walk.sweep(SETTLE[n])
    return walk.s


# Each of these takes a model and states s (n, chains), and returns a function: sweeps -> (seconds, new states).


def by_bmlab(model, s, backend):
    """This package, without the averages of bmlab.gibbs."""
    walk = Chains(model, s, np.random.default_rng(1), backend=backend)

    def sweep(count):
        seconds, _ = once(lambda: walk.sweep(count))
        return seconds, walk.s

    return sweep


def annealer(model):
    """D-Wave's annealer held at the machine's temperature (its E is + h.s + J.ss): sweeps, options -> its samples."""
    import dimod
    from dwave.samplers import SimulatedAnnealingSampler

    w = model.weights.toarray() if model.is_sparse else model.weights
    i, j = np.nonzero(np.triu(w))
    problem = dimod.BinaryQuadraticModel.from_numpy_vectors(-model.biases, (i, j, -w[i, j]), 0.0, "SPIN")

    def sample(sweeps, **options):
        return SimulatedAnnealingSampler().sample(
            problem,
            num_sweeps=sweeps,
            num_sweeps_per_beta=1,
            beta_schedule_type="custom",
            beta_schedule=np.full(sweeps, 1 / model.temperature),
            proposal_acceptance_criteria="Gibbs",
            randomize_order=False,
            seed=1,
            **options,
        )

    return sample


def by_dwave(model, s):
    """The annealer by the sampling time that it reports.

    It walks one chain after the other, each from fresh fields: 50 long walks are fairer to it than 1000 short ones.
    """
    sample, s = annealer(model), s[:, :50]
    start = s.T.astype(np.int8), list(range(model.n))

    def sweep(count):
        found = sample(count, num_reads=s.shape[1], initial_states=start)
        order = np.argsort(found.variables)
        return found.info["timing"]["sampling_ns"] * 1e-9, found.record.sample[:, order].T

    return sweep


def by_c(model, s):
    """The kernels of gibbs.c, each call with new random numbers."""
    walk, new = (_sparse_c if model.is_sparse else _dense_c)(model, s)
    temperature, seeds = ctypes.c_double(model.temperature), count_from(1)

    def sweep(count):
        seconds, _ = once(lambda: walk(ctypes.c_long(count), temperature, ctypes.c_uint64(next(seeds))))
        return seconds, new

    return sweep


def _sparse_c(model, s):
    new, w = np.array(s, np.int8, order="C"), model.weights
    arrays = w.indptr.astype(np.int32), w.indices.astype(np.int32), w.data, model.biases, new
    sizes = [ctypes.c_long(size) for size in s.shape]
    return lambda *how: compiled_c().sparse(*sizes, *how, *map(pointer, arrays)), new


def _dense_c(model, s):
    from bmlab.infer.sampling.numba_engine import aligned

    n, chains, p = *s.shape, -(-model.n // 8) * 8
    weights, fields, new = aligned((n, p)), aligned((chains, p)), np.array(s.T, float, order="C")
    weights[:, :n], fields[:, :n] = model.weights, new @ model.weights + model.biases
    sizes = [ctypes.c_long(size) for size in (n, p, chains, 32)]
    return lambda *how: compiled_c().dense(*sizes, *how, *map(pointer, (weights, fields, new))), new.T


@cache
def compiled_c():
    """gibbs.c as a library in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "gibbs.so"
        subprocess.run(
            [
                "gcc",
                "-O3",
                "-march=native",
                "-ffast-math",
                "-shared",
                "-fPIC",
                "-o",
                str(target),
                str(Path(__file__).with_name("gibbs.c")),
                "-lm",
            ],
            check=True,
        )
        return ctypes.CDLL(str(target))


def pointer(array):
    """The address of a C-ordered array."""
    assert array.flags.c_contiguous
    return ctypes.c_void_p(array.ctypes.data)


def thrml_program(model):
    """Nodes, edges, blocks and program of thrml; its E is - beta (b.s + J.ss), its spins are booleans."""
    import jax
    from thrml import Block, SpinNode
    from thrml.models import IsingEBM, IsingSamplingProgram

    w = model.weights.toarray() if model.is_sparse else model.weights
    nodes, (i, j) = [SpinNode() for _ in range(model.n)], np.nonzero(np.triu(w))
    edges = [(nodes[a], nodes[b]) for a, b in zip(i, j, strict=True)]
    numbers = map(jax.numpy.array, (model.biases, w[i, j], 1 / model.temperature))
    blocks = [Block([nodes[a] for a in units]) for units in model.colours]
    return nodes, edges, blocks, IsingSamplingProgram(IsingEBM(nodes, edges, *numbers), blocks, [])


def by_thrml(model, s):
    """Block Gibbs of thrml, compiled by JAX."""
    if model.n == 1000:
        raise NotImplementedError("1000 blocks of one unit take JAX too long to compile")
    with one_core():
        import jax
        from thrml.block_sampling import sample_blocks

        _, _, blocks, program = thrml_program(model)
        start = [jax.numpy.array(s[units].T == 1) for units in model.colours]

        def one_chain(key, first, count):
            def step(k, state):
                return sample_blocks(jax.random.fold_in(key, k), state, [], program, [None] * len(blocks))[0]

            return jax.lax.fori_loop(0, count, step, first)

        walk = jax.jit(jax.vmap(one_chain, in_axes=(0, 0, None)))

    def sweep(count):
        keys, new = jax.random.split(jax.random.key(count), s.shape[1]), np.empty(s.shape)
        with one_core():
            seconds, found = once(lambda: jax.block_until_ready(walk(keys, start, count)))
        for units, values in zip(model.colours, found, strict=True):
            new[units] = 2.0 * np.asarray(values).T - 1
        return seconds, new

    return sweep


def moments_by_thrml(model, s, n_sweeps):
    """Seconds of estimate_moments() of thrml, each chain measured after every sweep, and <E> of each chain."""
    import jax
    from thrml import SamplingSchedule
    from thrml.models.ising import estimate_moments

    nodes, edges, _, program = thrml_program(model)
    start, schedule = [jax.numpy.array(s[units].T == 1) for units in model.colours], SamplingSchedule(0, n_sweeps, 1)
    ask = jax.jit(jax.vmap(lambda key, first: estimate_moments(key, nodes, edges, program, schedule, first, [])))
    calls = (partial(ask, jax.random.split(jax.random.key(k), s.shape[1]), start) for k in count_from())
    jax.block_until_ready(next(calls)())  # compiles
    seconds, found = zip(*(once(lambda: jax.block_until_ready(next(calls)())) for _ in range(3)), strict=True)
    mean, pairs = (np.asarray(x, float) for x in found[-1])
    w = model.weights.toarray() if model.is_sparse else model.weights
    return np.median(seconds), -mean @ model.biases - pairs @ w[np.nonzero(np.triu(w))]


@contextmanager
def one_core():
    """Keep this thread, and the threads that it starts (JAX's), on one core if the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def speed(model, s, sampler):
    """Median updates a second of a sampler, and the energies a unit of its last states; settled chains only."""
    sweep, count = sampler(model, s), 10
    sweep(1)  # compiles
    while (seconds := sweep(count)[0]) < SECONDS:
        count = int(count * min(10, 1.5 * SECONDS / seconds)) + 1
    seconds = []
    for _ in range(REPEATS):
        taken, new = sweep(count)
        seconds.append(taken)
    return new.size * count / np.median(seconds), model.energy(np.array(new.T, float)) / model.n


def check_energy(name, ours, settled_energy):
    """Demand that the mean energy has not changed by more than five standard errors."""
    if len(ours) < 20:
        return  # too few chains to know their spread
    error = np.sqrt(ours.var() / len(ours) + settled_energy.var() / len(settled_energy))
    gap = abs(ours.mean() - settled_energy.mean())
    assert gap < 5 * error, f"{name}: energy a unit is off by {gap:.4f}, standard error {error:.4f}"


def row(case, missing):
    """Print one line of the table: this package, and each peer that there is."""
    name, n, chains, backend, aim, share = case
    model, s = machine(n), settled(n, chains)
    energy, found = model.energy(s.T.astype(float)) / n, {}
    samplers = {"bmlab": lambda model, s: by_bmlab(model, s, backend), "dwave": by_dwave, "C": by_c, "thrml": by_thrml}
    for peer, sampler in samplers.items():
        asked = n, chains
        if peer != "bmlab" and asked in PEERS.get(peer, {}):
            found[peer] = PEERS[peer][asked]
            continue
        try:
            found[peer], energies = speed(model, s, sampler)
            check_energy(f"{name}, {peer}", energies, energy)
        except (ImportError, OSError, subprocess.CalledProcessError, NotImplementedError) as problem:
            found[peer] = np.nan
            missing.setdefault((peer, str(problem)), name)
        PEERS.setdefault(peer, {})[asked] = found[peer]
    ours = found["bmlab"]
    ratios = [ours / found[peer] for peer in ("dwave", "C", "thrml")]
    print(
        f"{name:20}{ours / 1e6:9.1f}{found['dwave'] / 1e6:9.2f}{ratios[0]:8.1f} (>={aim:4})"
        f"{found['C'] / 1e6:9.1f}{ratios[1]:7.2f} {f'(>={share})' if share else '':8}"
        f"{found['thrml'] / 1e6:9.2f}{ratios[2]:8.1f}",
        flush=True,
    )


def public_path():
    """bmlab.gibbs as a user calls it, with averages and errors, beside thrml's moments, both from settled chains."""
    for name, n, chains, sweeps in (("dense 100", 100, 1000, 100), ("lattice 64x64", 4096, 128, 300)):
        model, s = machine(n), settled(n, chains)
        ask = partial(bmlab.gibbs, model, start=s.T, rng=0, burn_in=0, n_sweeps=sweeps)
        with warnings.catch_warnings(), one_core():
            warnings.simplefilter("ignore")
            seconds = median_seconds(ask, 3)
            energy = -model.biases @ ask().mean - (model.weights * ask().corr).sum() / 2
            try:
                theirs, energies = moments_by_thrml(model, s, sweeps)
            except ImportError:
                beside = "thrml is not installed"
            else:
                beside = f"thrml's moments {theirs:.3f} s, ratio {theirs / seconds:.1f}"
                error = np.sqrt(2 / chains) * energies.std()
                assert abs(energy - energies.mean()) < 5 * error, (energy, energies.mean(), error)
        updates = n * chains * sweeps / 1e6
        print(
            f"bmlab.gibbs, {name} x {chains}, {sweeps} sweeps, with means, correlations and errors: {seconds:.3f} s, "
            f"{updates / seconds:.0f} M updates/s; {beside}",
            flush=True,
        )


def first_call():
    """Import and first answer in fresh processes, by processor time; the first of each has no compiled code to find."""
    for backend in ("auto", "numba"):
        with tempfile.TemporaryDirectory() as folder:
            env = os.environ | {"NUMBA_CACHE_DIR": folder, "PYTHONPYCACHEPREFIX": folder}
            env.pop("PYTHONDONTWRITEBYTECODE", None)  # every import would compile the package again
            command = [sys.executable, "-W", "ignore", "-c", FIRST, backend]
            runs = [subprocess.run(command, env=env, check=True, text=True, capture_output=True) for _ in range(6)]
        waits = np.array([run.stdout.split() for run in runs], float)
        print(
            f"backend {backend!r}: import bmlab {waits[0, 0]:.2f} s, then {np.median(waits[1:, 0]):.2f} s (aim 0.2); "
            f"first bmlab.gibbs {waits[0, 1]:.2f} s (aim 1.5), then {np.median(waits[1:, 1]):.2f} s (aim 0.3)"
        )


def main():
    """Print the table, then the seconds that a user waits."""
    missing = {}
    print(f"M updates/s{'':12}bmlab    dwave   ratio (aim)        C  share (aim)       thrml   ratio")
    with one_core(), threadpool_limits(limits=1, user_api="blas"):
        for case in CASES:
            row(case, missing)
    for (peer, problem), name in missing.items():
        print(f"{peer} not timed ({name} and the like): {problem}")
    held = hasattr(os, "sched_setaffinity")
    print("JAX (thrml) " + ("was kept on one core" if held else "may have used all cores: this system cannot pin it"))
    public_path()
    first_call()


if __name__ == "__main__":
    main()
