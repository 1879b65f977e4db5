"""The cost of a sweep in NumPy's engine and in Numba's, beside the model by which chains.py chooses between them.

    OPENBLAS_NUM_THREADS=1 python benchmarks/engines.py

Processor time of a sweep, the least of repeats, after a first call; `chosen` is the engine of Chains if Numba is loaded
and a sweep is done, `lost` how much longer that takes than the other engine, if it does (1: it does not).  The weights
of "restricted" send fields that agree, and few units flip; those of "restricted, hot" are small, and half of them do.
"""

from time import process_time

import numpy as np

import bmlab
from bmlab.infer.sampling.chains import NUMBA_IMPORT, Chains, choose_engine, flip_share, numba_seconds, numpy_seconds

ENOUGH, REPEATS = 0.03, 3  # seconds that are timed at a time, and how often
MACHINES = {
    **{f"glass {n}": bmlab.sherrington_kirkpatrick(n, rng=0) for n in (3, 10, 30, 100, 300)},
    **{f"lattice {n} x {n}": bmlab.ising((n, n)).at(2.3) for n in (8, 64)},
    **{
        f"restricted {v} + {h}": bmlab.restricted(
            0.1 * np.sin(np.arange(v * h)).reshape(v, h), np.zeros(v), np.zeros(h)
        )
        for v, h in ((16, 8), (64, 20), (200, 100), (784, 100), (784, 500))
    },
    **{
        f"restricted, hot {v} + {h}": bmlab.restricted(
            np.random.default_rng(0).normal(scale=0.01, size=(v, h)), np.zeros(v), np.zeros(h)
        )
        for v, h in ((200, 100), (784, 100), (784, 500))
    },
}


def seconds(model, n_chains, backend, new_biases):
    """Processor time of a sweep; the states after all of them."""
    rng = np.random.default_rng(0)
    chains = Chains(model, rng.choice([-1, 1], (model.n, n_chains)), rng, backend=backend)
    biases = model.biases.copy() if new_biases else None

    def once(count):
        begin = process_time()
        if biases is None:
            chains.sweep(count)
        else:
            for _ in range(count):
                chains.sweep(biases=biases)
        return process_time() - begin

    once(1)
    count = 1
    while once(count) < ENOUGH:
        count *= 2
    return min(once(count) for _ in range(REPEATS)) / count, chains.s


def main():
    print(
        f"{'machine':26} chains  biases {'numpy':>9} {'model':>9} {'numba':>9} {'model':>9}  us a sweep; chosen, lost"
    )
    glass = MACHINES["glass 300"]
    choose_engine(glass, glass.colours, np.ones((glass.n, 1000)), int(NUMBA_IMPORT * 1e4))
    for name, model in MACHINES.items():
        for n_chains in (1, 10, 100, 1000)[: 4 if model.n < 500 else 3]:
            for new in (False, True) if name.startswith("restricted") else (False,):
                times, s = {}, None
                for backend in ("numpy", "numba"):
                    times[backend], s = seconds(model, n_chains, backend, new)
                chosen = choose_engine(model, model.colours, s, 1, new)
                numba = numba_seconds(model, n_chains, flip_share(model, s), new)
                models = numpy_seconds(model, model.colours, n_chains), numba
                shown = [1e6 * x for x in (times["numpy"], models[0], times["numba"], models[1])]
                lost = times[chosen] / min(times.values())
                print(f"{name:26} {n_chains:6}  {'new' if new else '':6}", *(f"{x:9.1f}" for x in shown), end=" ")
                print(f" {chosen}, {lost:.2f}", flush=True)


if __name__ == "__main__":
    main()
