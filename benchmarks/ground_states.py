"""How low anneal() gets beside dwave-samplers, and how long both take, on twenty machines that exact() cannot solve.

    python benchmarks/ground_states.py [--instances 10] [--sweeps 1000] [--chains 100]

Two kinds: a torus of 28 x 28 units with couplings +1 or -1, and 800 units of which 6 % of the pairs are coupled so.
As many chains; anneal() makes twice the sweeps, which cost it no more.  Seconds are of the processor, after a call
that compiles.  Its schedule was chosen on other machines of both kinds; dwave has its own.  A minute.
"""

import argparse
from time import process_time

import numpy as np
import scipy

import bmlab


def glass(kind, seed):
    """A machine of couplings +1 or -1 without biases, sparse."""
    rng = np.random.default_rng(seed)
    if kind == "torus 28 x 28":
        pairs = scipy.sparse.triu(bmlab.ising((28, 28)).weights).tocoo()
        row, col, n = pairs.row, pairs.col, 784
    else:
        row, col = np.nonzero(np.triu(rng.random((800, 800)) < 0.06, 1))
        n = 800
    upper = scipy.sparse.csr_array((rng.choice([-1.0, 1.0], len(row)), (row, col)), shape=(n, n))
    return bmlab.BoltzmannMachine(upper + upper.T, np.zeros(n))


def by_bmlab(model, chains, sweeps, seed):
    """The lowest energy of anneal(), from a typical field down to where couplings of 1 hardly turn over."""
    hot = np.sqrt((model.weights.data**2).sum() / model.n)
    return bmlab.anneal(model, np.geomspace(hot, 0.4, 2 * sweeps), rng=seed, n_chains=chains).energy


def by_dwave(model, chains, sweeps, seed):
    """The lowest energy of dwave's annealer, with its own schedule."""
    import dimod
    from dwave.samplers import SimulatedAnnealingSampler

    upper = scipy.sparse.triu(scipy.sparse.coo_array(model.weights)).tocoo()
    problem = dimod.BinaryQuadraticModel.from_numpy_vectors(
        -model.biases, (upper.row, upper.col, -upper.data), 0.0, "SPIN"
    )
    found = SimulatedAnnealingSampler().sample(problem, num_reads=chains, num_sweeps=sweeps, seed=seed)
    return float(found.record.energy.min())


def main():
    """Print energies instance by instance, and for each kind how often either is lower, and the seconds per machine."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=100)
    options = parser.parse_args()
    for kind in ("torus 28 x 28", "G(800, 0.06)"):
        models = [glass(kind, seed) for seed in range(options.instances)]
        energies, seconds = [], []
        for solver in (by_bmlab, by_dwave):
            solver(models[0], 40, 10, 0)  # compiles
            begin = process_time()
            energies.append([solver(model, options.chains, options.sweeps, k) for k, model in enumerate(models)])
            seconds.append((process_time() - begin) / len(models))
        ours, theirs = np.round(energies)
        for k, (own, other) in enumerate(zip(ours, theirs, strict=True)):
            print(f"{kind:14} {k:2}  bmlab {own:7.0f}  dwave {other:7.0f}")
        print(
            f"{kind}: bmlab lower in {(ours < theirs).sum()}, equal in {(ours == theirs).sum()}, higher in "
            f"{(ours > theirs).sum()}, mean {ours.mean():.1f} and {theirs.mean():.1f}; "
            f"{seconds[0]:.2f} s, dwave {seconds[1]:.2f} s a machine",
            flush=True,
        )


if __name__ == "__main__":
    main()
