"""How fast exact() is, beside dimod's ExactSolver on the same machine in the same process.

    python benchmarks/exact.py

Each time is the median of repeats after one call to warm up.  dimod lists the energy of all 2^n states
(its E is + h.s + J.ss, the opposite sign); log Z and the moments from its list are timed with it.
"""
from time import perf_counter

import dimod
import numpy as np

import bmlab


def median_seconds(call, repeats):
    """The median time of a call, after one that is not counted."""
    call()
    times = []
    for _ in range(repeats):
        begin = perf_counter()
        call()
        times.append(perf_counter() - begin)
    return np.median(times)


def by_dimod(model):
    """log Z and means from the energies that dimod lists."""
    h = dict(enumerate(-model.biases))
    j = {(a, b): -model.weights[a, b] for a in range(model.n) for b in range(a)}
    found = dimod.ExactSolver().sample_ising(h, j).record
    logs = -found.energy / model.temperature
    log_z = np.logaddexp.reduce(logs)
    return log_z, np.exp(logs - log_z) @ found.sample


def main():
    machines = {n: bmlab.sherrington_kirkpatrick(n, np.random.default_rng(n)) for n in (10, 20, 25, 30)}
    ours = {n: median_seconds(lambda m=m: bmlab.exact(m), 15 if n < 30 else 3) for n, m in machines.items()}
    for n, seconds in ours.items():
        print(f"exact, n = {n}: {1e3 * seconds:9.3f} ms")
    log_z, mean = by_dimod(machines[20])
    assert np.isclose(log_z, bmlab.exact(machines[20]).log_z.value)
    assert np.allclose(mean, bmlab.exact(machines[20]).mean)
    theirs = median_seconds(lambda: by_dimod(machines[20]), 3)
    print(f"dimod, n = 20: {1e3 * theirs:9.3f} ms, the same log Z and means; ratio {theirs / ours[20]:.0f}")


if __name__ == "__main__":
    main()
