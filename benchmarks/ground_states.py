"""How low annealed() gets beside dwave-samplers, and how long both take, on twenty machines that exact() cannot solve.

    python benchmarks/ground_states.py [--instances 10] [--sweeps 1000] [--chains 100]

Two kinds: a torus of 28 x 28 units with couplings +1 or -1, and 800 units of which 6 % of the pairs are coupled so.
As many chains; annealed() makes twice the sweeps, which cost it no more.  Seconds are of the processor, after a call
that compiles.
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
    """The lowest energy of annealed(), from twice a typical field down to where couplings of 1 hardly turn over."""
    hot = 2 * np.sqrt((model.weights.data**2).sum() / model.n)
    return bmlab.annealed(model, np.geomspace(hot, 0.4, 2 * sweeps), rng=seed, n_chains=chains).energy


def by_dwave(model, chains, sweeps, seed):
    """The lowest energy of dwave's annealer, with its own schedule."""
    import dimod
    from dwave.samplers import SimulatedAnnealingSampler

    upper = scipy.sparse.triu(model.weights).tocoo()
    problem = dimod.BinaryQuadraticModel.from_numpy_vectors(
        -model.biases, (upper.row, upper.col, -upper.data), 0.0, "SPIN"
    )
    found = SimulatedAnnealingSampler().sample(problem, num_reads=chains, num_sweeps=sweeps, seed=seed)
    return float(found.record.energy.min())


def main():
    """Print energies and seconds, instance by instance."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=100)
    options = parser.parse_args()
    for kind in ("torus 28 x 28", "G(800, 0.06)"):
        lower = equal = 0
        total = np.zeros(2)
        for seed in range(options.instances):
            model, found = glass(kind, seed), []
            for k, solver in enumerate((by_bmlab, by_dwave)):
                if not seed:
                    solver(model, 40, 10, seed)
                begin = process_time()
                found.append(solver(model, options.chains, options.sweeps, seed))
                total[k] += process_time() - begin
            lower, equal = lower + (found[0] < found[1]), equal + (found[0] == found[1])
            print(f"{kind:14} {seed:2}  bmlab {found[0]:7.0f}  dwave {found[1]:7.0f}", flush=True)
        seconds = total / options.instances
        print(
            f"{kind}: lower in {lower} and equal in {equal} of {options.instances}; "
            f"{seconds[0]:.2f} s, dwave {seconds[1]:.2f} s a machine"
        )


if __name__ == "__main__":
    main()
