"""What restricted machines of 784 + 500 units cost beside their matrix products alone, in one process and one thread.

    OPENBLAS_NUM_THREADS=1 python benchmarks/layers.py

A temperature of ais() with 500 runs (two products in double precision), and a step of pcd() with batches and chains of
100, and of 500 and 2,000 (six products in single precision).  Milliseconds of processor time, the least of three.
"""

import warnings

import numpy as np
from loop import least

import bmlab

VISIBLE, HIDDEN = 784, 500


def machine(rng, scale):
    """Return a restricted machine with small biases."""
    weights = scale * rng.normal(size=(VISIBLE, HIDDEN))
    return bmlab.restricted(weights, 0.3 * rng.normal(size=VISIBLE), 0.3 * rng.normal(size=HIDDEN))


def of_a_temperature(model, runs):
    """Return the time of a temperature of ais(), the pilot and the moments left out, and of its products."""
    w, h, v = np.ones((VISIBLE, HIDDEN)), np.ones((HIDDEN, runs)), np.ones((VISIBLE, runs))

    def many(count):
        bmlab.ais(model, rng=0, n_chains=runs, n_temperatures=40 + count)

    def products(count):
        for _ in range(count):
            w @ h, w.T @ v

    long, short = least(many, 80) * 80, least(many, 20) * 20
    return (long - short) / 60, least(products, 10)


def of_a_step(model, data, batch, chains):
    """Return the time of a step of pcd(), and of its products."""
    x, p = np.ones((batch + chains, VISIBLE + 1), np.float32), np.ones((VISIBLE + 1, HIDDEN + 1), np.float32)
    t = np.ones((batch + chains, HIDDEN + 1), np.float32)

    def steps(count):
        bmlab.pcd(model, data, rng=1, steps=count, rate=0.01, batch=batch, n_chains=chains)

    def products(count):
        for _ in range(count):
            x @ p, t[batch:] @ p.T, x[:batch].T @ t[:batch], x[batch:].T @ t[batch:]

    return least(steps, 20), least(products, 10)


def main():
    warnings.simplefilter("ignore", bmlab.NotConverged)
    rng = np.random.default_rng(0)
    bmlab.gibbs(bmlab.medium(), rng=rng, backend="numba")  # its import is not of a temperature
    took, alone = of_a_temperature(machine(rng, 0.05), 500)
    print(f"ais, 500 runs: {took:.1f} ms a temperature, its products alone {alone:.1f}, {took / alone:.1f} times")
    data, model = np.where(rng.random((4000, VISIBLE)) < 0.2, 1.0, -1.0), machine(rng, 0.01)
    for batch, chains in ((100, 100), (500, 2000)):
        took, alone = of_a_step(model, data, batch, chains)
        name = f"pcd, batch {batch}, {chains} chains"
        print(f"{name}: {took:.1f} ms a step, its products alone {alone:.1f}, {took / alone:.1f} times")


if __name__ == "__main__":
    main()
