"""How fast exact() is, beside its peers and beside its own limit, in one process.

    python benchmarks/exact.py [--large]

Each time is the median of repeats after one call to warm up; ratios are printed.  The limit of the dense algorithm is
three matrix products (GEMM) of the same size; see benchmarks/README.md.  --large adds n = 42: minutes, and 7 GiB.
"""

import sys
from time import perf_counter

import dimod
import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

import bmlab


def median_seconds(call, repeats, clock=perf_counter):
    """The median time of a call, after one that is not counted."""
    call()
    times = []
    for _ in range(repeats):
        begin = clock()
        call()
        times.append(clock() - begin)
    return float(np.median(times))


def once(call):
    """The seconds of one call and its answer: for calls of several seconds."""
    begin = perf_counter()
    answer = call()
    return perf_counter() - begin, answer


def glass(n):
    """A Sherrington-Kirkpatrick machine: dense, frustrated."""
    return bmlab.sherrington_kirkpatrick(n, rng=np.random.default_rng(n))


def numpy_table(model, s):
    """log Z, means and correlations from a ready list of all states, as one would write it in NumPy."""
    logs = ((s @ model.weights * s).sum(1) / 2 + s @ model.biases) / model.temperature
    top = logs.max()
    weight = np.exp(logs - top)
    z = weight.sum()
    p = weight / z
    return top + np.log(z), p @ s, s.T @ (p[:, None] * s)


def by_dimod(model):
    """log Z and means from the energies of all states that dimod lists (its E is + h.s + J.ss)."""
    h, j = dict(enumerate(-model.biases)), {(a, b): -model.weights[a, b] for a in range(model.n) for b in range(a)}
    found = dimod.ExactSolver().sample_ising(h, j).record
    log_z = np.logaddexp.reduce(-found.energy / model.temperature)
    return log_z, np.exp(-found.energy / model.temperature - log_z) @ found.sample


def by_dwave(model):
    """log Z and pair marginals by D-Wave's tree decomposition, if dwave-samplers is installed."""
    from dwave.samplers import TreeDecompositionSampler

    h, j = dict(enumerate(-model.biases)), {(a, b): -model.weights[a, b] for a in range(model.n) for b in range(a)}
    info = TreeDecompositionSampler().sample_ising(h, j, beta=1 / model.temperature, num_reads=1, marginals=True).info
    return info["log_partition_function"], np.array([2 * info["variable_marginals"][k] - 1 for k in range(model.n)])


def against_peers():
    """The same answers from NumPy, dimod and dwave-samplers."""
    for n in (10, 12):
        model, s = glass(n), bmlab.states(n)
        ours = median_seconds(lambda: bmlab.exact(model), 200)
        theirs = median_seconds(lambda: numpy_table(model, s), 200)
        print(
            f"n = {n}: exact {1e6 * ours:.0f} us, NumPy table of all states {1e6 * theirs:.0f} us, "
            f"ratio {theirs / ours:.1f}"
        )
    model = glass(20)
    ours = median_seconds(lambda: bmlab.exact(model), 50)
    for name, peer in (("dimod ExactSolver", by_dimod), ("dwave TreeDecompositionSampler", by_dwave)):
        try:
            log_z, mean = peer(model)
        except ModuleNotFoundError as missing:
            print(f"n = 20: {name} not timed ({missing})")
            continue
        assert np.isclose(log_z, bmlab.exact(model).log_z.value) and np.allclose(mean, bmlab.exact(model).mean)
        theirs = median_seconds(lambda: peer(model), 3)
        print(
            f"n = 20: exact {1e3 * ours:.3f} ms, {name} {1e3 * theirs:.0f} ms, same answer, ratio {theirs / ours:.0f}"
        )


def against_three_gemms():
    """The dense algorithm beside the three products that it cannot do without."""
    for n in (28, 30, 33, 36):
        model, sides = glass(n), [2 ** len(part) for part in np.array_split(np.arange(n), 3)]
        a, b, c = (np.ones((sides[k], sides[(k + 1) % 3])) for k in range(3))
        repeats = 15 if n < 33 else 3
        gemm = median_seconds(lambda: (b @ c, c @ a, a @ b), repeats)
        ours = median_seconds(lambda: bmlab.exact(model), repeats)
        print(f"n = {n}: exact {1e3 * ours:.1f} ms, three products alone {1e3 * gemm:.1f} ms, ratio {ours / gemm:.2f}")


def chain(n):
    """A chain with random weights and biases, sparse."""
    rng = np.random.default_rng(n)
    w = rng.normal(size=n - 1)
    return bmlab.BoltzmannMachine(sparse.diags_array([w, w], offsets=[1, -1]).tocsr(), rng.normal(size=n))


def layers(v, h):
    """A restricted machine with v visible and h hidden units."""
    rng = np.random.default_rng(h)
    return bmlab.restricted(0.1 * rng.normal(size=(v, h)), rng.normal(size=v), rng.normal(size=h))


def sparse_weights(model):
    """The same machine, of which exact() then tells the correlations of coupled units only."""
    return bmlab.BoltzmannMachine(sparse.csr_array(model.weights), model.biases, model.temperature)


def hidden_side_by_hand(model, h):
    """log Z of a restricted machine from all states of its hidden layer, 2^12 at a time."""
    v, logs = model.n - h, []
    for s in np.array_split(bmlab.states(h), max(1, 2**h // 2**12)):
        f = s @ model.weights[v:, :v] + model.biases[:v]
        logs.append(np.logaddexp(f, -f).sum(1) + s @ model.biases[v:])
    return np.logaddexp.reduce(np.concatenate(logs))


def plans(large):
    """The predicted cost of each algorithm, and its cost."""
    cases = {
        "dense 36": glass(36),
        "restricted 784 x 20, couplings (sparse weights)": sparse_weights(layers(784, 20)),
        "restricted 784 x 20, all pairs": layers(784, 20),
        "chain of 10,000": chain(10_000),
        "open lattice 16 x 64": bmlab.ising((16, 64), periodic=False).at(2.3),
        "torus 8 x 8": bmlab.ising((8, 8)).at(2.3),
    }
    if large:
        cases["dense 42"] = glass(42)
    for name, model in cases.items():
        way = bmlab.exact_plan(model)
        seconds, answer = once(lambda: bmlab.exact(model))
        again = min(once(lambda: bmlab.exact(model))[0] for _ in range(5)) if seconds < 1 else seconds
        print(
            f"{name}: {way.method}, {seconds:.3g} s, once its pattern is known {again:.3g}, "
            f"predicted {way.seconds:.3g} s, ratio {seconds / way.seconds:.2f}, log Z {answer.log_z.value:.4f}"
        )
    seconds, log_z = once(lambda: hidden_side_by_hand(layers(784, 20), 20))
    print(f"restricted 784 x 20, hidden side by hand (log Z alone): {seconds:.3g} s, log Z {log_z:.4f}")


def main():
    """Print all ratios, on one thread and on all."""
    for threads in (1, None):
        with threadpool_limits(limits=threads, user_api="blas"):
            print(f"--- BLAS threads: {threads or 'all'}")
            against_peers()
            against_three_gemms()
    print("--- plans")
    plans("--large" in sys.argv)


if __name__ == "__main__":
    main()
