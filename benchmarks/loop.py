"""What a step of learning costs beside the loop that a student writes, in one process and one thread.

    OPENBLAS_NUM_THREADS=1 python benchmarks/loop.py

ascend() with a free phase of 100 persistent chains and one sweep, on 1,000 random rows, against the same step by
`sweep` and NumPy; ascend() with other phases, against these phases alone, asked of the same machines; and the clamped
phase of 435 rows of 16 entries, some of them missing, against one clamped machine a pattern.  Printed are milliseconds
of processor time, the least of three runs, and their ratio.
"""

import warnings
from functools import partial
from itertools import islice, pairwise
from time import process_time

import numpy as np

import bmlab

CHAINS, RATE = 100, 0.01


def least(work, count):
    """Milliseconds a piece of `count` pieces of work, the least of three runs after one to warm up."""
    work(max(1, count // 10))
    times = []
    for _ in range(3):
        begin = process_time()
        work(count)
        times.append((process_time() - begin) / count * 1e3)
    return min(times)


def steps_of_ascend(data, count):
    rng, n = np.random.default_rng(1), data.shape[1]

    def infer(model, start=None):
        return bmlab.gibbs(model, rng=rng, start=start, burn_in=0, n_sweeps=1)

    blank = bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n))
    for _ in islice(bmlab.ascend(blank, data, infer, rate=RATE), count):
        pass


def steps_of_a_student(data, count):
    rng, (size, n) = np.random.default_rng(1), data.shape
    weights, biases, s = np.zeros((n, n)), np.zeros(n), rng.choice([-1.0, 1.0], (CHAINS, n))
    mean, corr = data.mean(0), data.T @ data / size
    for _ in range(count):
        s = bmlab.sweep(bmlab.BoltzmannMachine(weights, biases), s, rng.random(s.shape))
        slope = corr - s.T @ s / CHAINS
        np.fill_diagonal(slope, 0)
        weights, biases = weights + RATE * slope, biases + RATE * (mean - s.mean(0))


def one_by_one(model, start=None):
    return bmlab.exact(model)


def of_a_step(rng, visible, hidden, infer, clamped):
    """Milliseconds of a step, and of its two phases alone, asked of the machines of such a climb from where it was."""
    data, machine = (
        bmlab.spins(rng.integers(0, 2, (300, visible))),
        bmlab.sherrington_kirkpatrick(visible + hidden, rng, 0.1),
    )

    def steps(count):
        return list(islice(bmlab.ascend(machine, data, infer, rate=RATE, clamped=clamped), count))

    made = steps(11)

    def phases(count):
        for before, after in islice(pairwise(made), count):
            infer(after.model, start=before.free.state)
            if clamped:
                clamped(after.model, data, start=before.data.state)

    return least(steps, 10), least(phases, 10)


def against_the_phases():
    """Print what the loop costs beside what it asks for."""
    rng = np.random.default_rng(0)
    one_sweep = {"rng": rng, "burn_in": 0, "n_sweeps": 1}
    chains, side_by_side = partial(bmlab.gibbs, **one_sweep), partial(bmlab.clamped_gibbs, n_chains=1, **one_sweep)
    for name, visible, hidden, infer, clamped in (
        ("gibbs and clamped_gibbs, 40 + 24", 40, 24, chains, side_by_side),
        ("gibbs and clamped_mean_field, 40 + 24", 40, 24, chains, partial(bmlab.clamped_mean_field, tolerance=1e-4)),
        ("mean_field, 64", 64, 0, bmlab.mean_field, None),
        ("tap, 64", 64, 0, bmlab.tap, None),
        ("bethe, 24", 24, 0, bmlab.bethe, None),
    ):
        step, phases = of_a_step(rng, visible, hidden, infer, clamped)
        print(f"{name}: ascend {step:.2f} ms a step, its phases alone {phases:.2f}, {step / phases:.1f} times")


def main():
    warnings.simplefilter("ignore", bmlab.NotConverged)
    rng = np.random.default_rng(0)
    for n, count in ((10, 300), (64, 100), (256, 40), (784, 30)):
        data = bmlab.spins(rng.integers(0, 2, (1000, n)))
        ours = least(lambda count, data=data: steps_of_ascend(data, count), count)
        theirs = least(lambda count, data=data: steps_of_a_student(data, count), count)
        print(f"n = {n:3d}: ascend {ours:6.2f} ms a step, a student's loop {theirs:6.2f}, {theirs / ours:.1f} times")
    against_the_phases()
    rows, machine = bmlab.spins(rng.integers(0, 2, (435, 16))), bmlab.sherrington_kirkpatrick(16, rng)
    rows[rng.random(rows.shape) < 392 / rows.size] = np.nan
    ours = least(lambda count: [bmlab.clamped(machine, rows) for _ in range(count)], 20)
    theirs = least(lambda count: [bmlab.clamped(machine, rows, one_by_one) for _ in range(count)], 3)
    print(f"rows with missing entries: {ours:.2f} ms a clamped phase, pattern by pattern {theirs:.1f}, ", end="")
    print(f"{theirs / ours:.0f} times")


if __name__ == "__main__":
    main()
