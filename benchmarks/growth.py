"""How the time of each method grows with the units n and the rows or chains N: an exponent for each.

    OPENBLAS_NUM_THREADS=1 python benchmarks/growth.py

Processor time, the least of five after one to warm up, at sizes four times apart; the exponent is the slope of log time
over the last two, where what a call costs in any case counts least.
"""

import warnings

import numpy as np
from loop import least

import bmlab


def glass(n):
    return bmlab.sherrington_kirkpatrick(n, rng=np.random.default_rng(n), scale=0.5)


def rows(count, n):
    return bmlab.spins(np.random.default_rng(n).integers(0, 2, (count, n)))


def gibbs(n, count):
    machine = glass(n)
    return lambda _: bmlab.gibbs(machine, rng=0, n_chains=count, burn_in=0, n_sweeps=100)


def mean_field(n, _):
    machine = glass(n)
    return lambda _: bmlab.mean_field(machine)


def pseudolikelihood(n, count):
    data = rows(count, n)
    return lambda _: bmlab.pseudolikelihood(data, penalty=0.01)


def pcd(n, count):
    model = bmlab.restricted(0.01 * np.random.default_rng(0).normal(size=(n, n)), np.zeros(n), np.zeros(n))
    data = rows(1000, n)
    return lambda _: bmlab.pcd(model, data, rng=0, steps=20, rate=0.01, batch=count, n_chains=count)


def exact(n, _):
    machine = bmlab.ising((4, n), periodic=False).at(2.3)
    return lambda _: bmlab.exact(machine)


def tree(n, _):
    machine = bmlab.ising(n, periodic=False).at(2.3)
    return lambda _: bmlab.exact(machine)


CASES = (
    ("gibbs, dense", gibbs, (64, 256, 1024), (64, 256, 1024)),
    ("mean_field, dense", mean_field, (64, 256, 1024), ()),
    ("pseudolikelihood, dense", pseudolikelihood, (16, 64, 256), (1000, 4000, 16000)),
    ("pcd, n + n", pcd, (64, 256, 1024), (64, 256, 1024)),
    ("exact, lattice 4 x n", exact, (32, 128, 512), ()),
    ("exact, chain of n", tree, (6400, 25600, 102400), ()),
)


def grown(axis, of, sizes):
    """Return in words how the time grows along the sizes (n, N), and the times."""
    times = [least(1, of(*size))[0] for size in sizes]
    slope = np.log(times[-1] / times[-2]) / np.log(4)
    return f"{axis}^{slope:.1f} ({', '.join(f'{t:.3g}' for t in times)} ms)"


def main():
    warnings.simplefilter("ignore", bmlab.NotConverged)
    for name, of, units, many in CASES:
        told = [grown("n", of, [(n, 100) for n in units])]
        told += [grown("N", of, [(units[1], count) for count in many])] if many else []
        print(f"{name}: {'; '.join(told)}")


if __name__ == "__main__":
    main()
