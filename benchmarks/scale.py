"""What parts cost beside the whole, and what follows for machines and chains that one computer does not hold.

    python benchmarks/scale.py

Processor seconds are compared, in one process and by one thread: they depend little on who else is at work.
"""

import pickle
import tempfile
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np

import bmlab
from bmlab.infer.exact import clamped_parts
from bmlab.infer.exact.matrix_products import sum_by_products
from bmlab.infer.sampling import stretches
from bmlab.threads import one_thread_only

CORES = 16, 256, 4096
OVERHEAD = 0.002  # seconds that Dask's scheduler takes for a part: 1 to 3 ms


class Listening:
    """A map that is the built-in one, and knows how many parts there were, and how large they and the task."""

    def __init__(self):
        self.parts, self.part, self.task = 0, 0, 0

    def __call__(self, task, parts):
        for part in parts:
            self.parts += task is not abs  # by which workers() tries a map
            self.part, self.task = max(self.part, len(pickle.dumps(part))), max(self.task, len(pickle.dumps(task)))
            yield task(part)


def glass(n):
    return bmlab.sherrington_kirkpatrick(n, np.random.default_rng(n))


def spent(call):
    """Processor seconds of a call."""
    begin = process_time()
    call()
    return process_time() - begin


def in_parts(name, whole, cut):
    """Print what a question costs in parts, beside the whole; the faster of two each."""
    engine = Listening()
    with one_thread_only():
        alone = min(spent(whole) for _ in range(2))
    with bmlab.workers(engine):
        apart = min(spent(cut) for _ in range(2))
    engine.parts //= 2
    print(
        f"{name}: {alone:.2f} s as a whole, {apart:.2f} s in {engine.parts} parts ({apart / alone:.2f}), "
        f"at most {engine.part / 1000:.1f} kB a part, and once a worker {engine.task / 1000:.1f} kB"
    )
    return apart / engine.parts


def together(call):
    """Call with chains that are not cut."""
    most, stretches.UPDATES = stretches.UPDATES, np.inf
    try:
        call()
    finally:
        stretches.UPDATES = most


def on_paper(name, parts, seconds):
    """Print hours on some numbers of cores; the scheduler hands out one part after the other."""
    hours = [max(-(-parts // cores) * seconds, parts * OVERHEAD) / 3600 for cores in CORES]
    limits = ["the scheduler" if parts * OVERHEAD > -(-parts // cores) * seconds else "the parts" for cores in CORES]
    told = ", ".join(f"{hour:.3g} h on {cores}" for hour, cores in zip(hours, CORES, strict=True))
    print(f"  {name}: {parts:,} parts of {seconds:.3g} s, {parts * seconds / 3600:.3g} core hours; {told} cores")
    print(f"    what limits: {', '.join(limits)}")


def rows_of_a_file(count=1_000_000, width=100):
    """Print how fast a file of int8 is summed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (count, width)))
        with bmlab.workers(map):
            seconds = spent(lambda: bmlab.rows(path))
    print(f"rows, {count:,} x {width} int8: {count * width / 1e9 / seconds:.2f} GB a processor second")


if __name__ == "__main__":
    bmlab.gibbs(glass(100), rng=0, n_chains=2000, n_sweeps=200, backend="numba")  # compiles
    large = glass(34)
    part = in_parts("exact, 34 units", partial(sum_by_products, large), partial(bmlab.exact, large))
    chains = partial(bmlab.gibbs, glass(100), rng=0, n_chains=10_000, n_sweeps=250, backend="numba")
    stretch = in_parts("gibbs, 10,000 chains x 350 sweeps of 100 units", partial(together, chains), chains)
    runs = partial(bmlab.ais, glass(100), rng=0, n_chains=10_000, n_temperatures=200)
    in_parts("ais, 10,000 runs of 200 steps, 100 units", partial(together, runs), runs)
    rows_of_a_file()
    print("On paper, from these parts:")
    on_paper("46 units", 2**13, part)
    for n in (48, 50):
        on_paper(f"{n} units", 2 ** clamped_parts.held_units(n), 8 * part)
    on_paper("10^6 chains x 350 sweeps of 100 units", 10**6 * 100 // stretches.NUMBERS, stretch)
