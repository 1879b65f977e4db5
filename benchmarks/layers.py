"""The cost of restricted machines of 784 + 500 units beside their matrix products alone, in one process and one thread.

    OPENBLAS_NUM_THREADS=1 python benchmarks/layers.py

A temperature of ais() with 500 runs (two products in double precision), and a step of pcd() with batches and chains of
100, and of 500 and 2,000 (three products in single precision), without the set-up before the first.  Milliseconds of
processor time, the least of some.

With `pip install rbms`, the same of that package by turns: all of ais() with 100 temperatures, and a step.
"""

import warnings
from importlib.util import find_spec
from time import process_time

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

    long, short = 80 * least(80, many)[0], 20 * least(20, many)[0]
    return (long - short) / 60, least(10, products)[0]


def of_a_step(model, data, batch, chains):
    """Return the time of a step of pcd(), and of its products."""
    x, p = np.ones((batch + chains, VISIBLE + 1), np.float32), np.ones((VISIBLE + 1, HIDDEN + 1), np.float32)
    t = np.ones((batch + chains, HIDDEN + 1), np.float32)

    def products(count):
        for _ in range(count):
            x @ p, t[batch:] @ p.T, x.T @ t

    climb = climbing(model, data, batch, chains)
    return without_start(climb, least(40, climb, products))


def climbing(model, data, batch, chains):
    """Return a function that makes `count` steps."""
    return lambda count: bmlab.pcd(model, data, rng=1, steps=count, rate=0.01, batch=batch, n_chains=chains)


def without_start(climb, times, count=40):
    """Subtract the set-up before the first of `count` steps from the first of these times per step."""
    (one,) = least(1, climb)
    took, *others = times
    return (took - one / count) * count / (count - 1), *others


def from_bits(weights, visible, hidden):
    """Return the machine of a package of 0/1 units."""
    v, h = weights.shape
    made = np.block([[np.zeros((v, v)), weights], [weights.T, np.zeros((h, h))]])
    return bmlab.from_bits(made, np.append(visible, hidden))


class ByRbms:
    """Learn with rbms, step by step as its train() does, without its files."""

    def __init__(self, images, batch, chains, sweeps=1, rate=0.01):
        import torch  # pyright: ignore[reportMissingImports]
        from rbms.bernoulli_bernoulli.classes import BBRBM  # pyright: ignore[reportMissingImports]
        from rbms.bernoulli_bernoulli.implement import _init_parameters  # pyright: ignore[reportMissingImports]
        from rbms.training.pcd import fit_batch_pcd  # pyright: ignore[reportMissingImports]

        torch.set_num_threads(1)
        torch.manual_seed(0)
        self.torch, self.fit, self.batch, self.sweeps = torch, fit_batch_pcd, batch, sweeps
        self.data = torch.tensor((images + 1) / 2, dtype=torch.float32)
        visible, hidden, weights = _init_parameters(HIDDEN, self.data, torch.device("cpu"), torch.float32)
        self.params = BBRBM(weights, visible, hidden)
        self.params.init_grad()
        self.chains = self.params.init_chains(chains)
        self.optimizer = torch.optim.SGD(self.params.parameters(), lr=rate, maximize=True)

    def steps(self, count):
        """Make steps; return their processor seconds."""
        begin = process_time()
        with self.torch.no_grad():
            for _ in range(count):
                rows = self.torch.randperm(len(self.data))[: self.batch]
                self.optimizer.zero_grad(set_to_none=False)
                ones = self.torch.ones(len(rows))
                self.chains, _ = self.fit((self.data[rows], ones), self.chains, self.params, self.sweeps, 1.0)
                self.optimizer.step()
        return process_time() - begin

    def machine(self):
        """Return the machine that was learnt."""
        return from_bits(*(p.detach().numpy().astype(float) for p in self.params.parameters()))


def against_rbms(model, data, batch, chains):
    """Print the time of a step of pcd() beside that of rbms, by turns."""
    peer, climb = ByRbms(data, batch, chains), climbing(model, data, batch, chains)
    took, theirs = without_start(climb, least(40, climb, peer.steps))
    print(f"    beside rbms: {took:.1f} ms, and {theirs:.1f}, ratio {theirs / took:.2f}")


def ais_against_rbms(model, runs):
    """Print the time of log Z of a machine by 100 temperatures beside that of rbms, by turns."""
    from rbms.partition_function.ais import compute_partition_function_ais  # pyright: ignore[reportMissingImports]

    weights, biases = 4 * model.weights, 2 * (model.biases - model.weights.sum(1))  # of 0/1 units
    peer = ByRbms(np.ones((1, VISIBLE)), 1, 1)
    parts = weights[:VISIBLE, VISIBLE:], biases[:VISIBLE], biases[VISIBLE:]
    for mine, part in zip(peer.params.parameters(), parts, strict=True):
        mine.data = peer.torch.tensor(part, dtype=peer.torch.float32)

    def ours(count):
        bmlab.ais(model, rng=0, n_chains=runs, n_temperatures=count)

    def theirs(count):
        with peer.torch.no_grad():
            compute_partition_function_ais(runs, count, peer.params)

    took, other = least(100, ours, theirs)
    print(f"    beside rbms, pilot and moments included: {took:.1f} ms, and {other:.1f}, ratio {other / took:.2f}")


def main():
    warnings.simplefilter("ignore", bmlab.NotConverged)
    rng = np.random.default_rng(0)
    bmlab.gibbs(bmlab.medium(), rng=rng, backend="numba")  # its import is not of a temperature
    took, alone = of_a_temperature(machine(rng, 0.05), 500)
    print(f"ais, 500 runs: {took:.1f} ms a temperature, its products alone {alone:.1f}, {took / alone:.1f} times")
    has_rbms = find_spec("rbms") is not None
    if has_rbms:
        ais_against_rbms(machine(rng, 0.05), 500)
    data, model = np.where(rng.random((4000, VISIBLE)) < 0.2, 1.0, -1.0), machine(rng, 0.01)
    for batch, chains in ((100, 100), (500, 2000)):
        took, alone = of_a_step(model, data, batch, chains)
        name = f"pcd, batch {batch}, {chains} chains"
        print(f"{name}: {took:.1f} ms a step, its products alone {alone:.1f}, {took / alone:.1f} times")
        if has_rbms:
            against_rbms(model, data, batch, chains)


if __name__ == "__main__":
    main()
