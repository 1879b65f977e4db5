"""How the time of each method grows with the units n and the rows or chains N: an exponent for each.

    OPENBLAS_NUM_THREADS=1 python benchmarks/growth.py

Processor time, the least of three, at sizes four times apart; the exponent is the slope of log time over the last
two, where what a call costs in any case counts least.
"""

import warnings

import numpy as np
from loop import least

import bmlab


def glass(n):
    return bmlab.sherrington_kirkpatrick(n, np.random.default_rng(n), 0.5)


def rows(count, n):
    return bmlab.spins(np.random.default_rng(n).integers(0, 2, (count, n)))


def gibbs(n, count):
    return lambda _: bmlab.gibbs(glass(n), rng=0, n_chains=count, burn_in=0, n_sweeps=100)


def mean_field(n, _):
    return lambda _: bmlab.mean_field(glass(n))


def pseudolikelihood(n, count):
    data = rows(count, n)
    return lambda _: bmlab.pseudolikelihood(data, penalty=0.01)


def pcd(n, count):
    model = bmlab.restricted(0.01 * np.random.default_rng(0).normal(size=(n, n)), np.zeros(n), np.zeros(n))
    data = rows(1000, n)
    return lambda _: bmlab.pcd(model, data, rng=0, steps=20, rate=0.01, batch=count, n_chains=count)


def exact(n, _):
    return lambda _: bmlab.exact(bmlab.ising((4, n), periodic=False).at(2.3))


def tree(n, _):
    return lambda _: bmlab.exact(bmlab.ising(n, periodic=False).at(2.3))


def main():
    warnings.simplefilter("ignore", bmlab.NotConverged)
    for name, of, units, many in (
        ("gibbs, dense", gibbs, (64, 256, 1024), (64, 256, 1024)),
        ("mean_field, dense", mean_field, (64, 256, 1024), ()),
        ("pseudolikelihood, dense", pseudolikelihood, (16, 64, 256), (1000, 4000, 16000)),
        ("pcd, n + n", pcd, (64, 256, 1024), (64, 256, 1024)),
        ("exact, lattice 4 x n", exact, (32, 128, 512), ()),
        ("exact, chain of n", tree, (6400, 25600, 102400), ()),
    ):
        told = []
        for axis, cases in (("n", [(n, 100) for n in units]), ("N", [(units[1], count) for count in many])):
            times = [least(of(*case), 1) for case in cases]
            if times:
                slope = np.log(times[-1] / times[-2]) / np.log(4)
                told.append(f"{axis}^{slope:.1f} ({', '.join(f'{t:.3g}' for t in times)} ms)")
        print(f"{name}: {'; '.join(told)}")


if __name__ == "__main__":
    main()
