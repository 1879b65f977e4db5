"""The cost of a step of learning beside the loop that a student writes, and beside its limit, in one thread.

    python benchmarks/loop.py

learning_steps() with a free phase of 100 persistent chains and one sweep, on 1,000 random rows, against the same step
by `sweep` and NumPy, and against its limit: a sweep of the same chains by gibbs.c, which keeps their fields, the
product that the fields of a new machine are, the product that correlations are, and W + rate * slope in place of W.

Then learning_steps() with other phases, against these phases alone, asked of the same machines; and the clamped phase
of 435 rows of 16 entries, some of them missing, against one clamped machine a pattern.  Printed are milliseconds of
processor time, the least of five runs taken in turns, and their ratio.
"""

import warnings
from functools import partial
from itertools import islice, pairwise
from time import process_time

import numpy as np
from sampling import by_c

import bmlab
from bmlab.running.threads import one_thread_only

CHAINS, RATE = 100, 0.01


def least(count, *works):
    """Milliseconds a piece of each work, `count` pieces at a time: the least of five turns after one to warm up."""
    times = [[] for _ in works]
    for work in works:
        work(max(1, count // 10))
    for _ in range(5):
        for work, own in zip(works, times, strict=True):
            begin = process_time()
            work(count)
            own.append((process_time() - begin) / count * 1e3)
    return [min(own) for own in times]


def climb(data):
    rng, n = np.random.default_rng(1), data.shape[1]

    def infer(model, start=None):
        return bmlab.gibbs(model, rng=rng, start=start, burn_in=0, n_sweeps=1)

    return bmlab.learning_steps(bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n)), data, infer, rate=RATE)


def steps_of_ascend(data, count):
    for _ in islice(climb(data), count):
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


def limit_of_a_step(data):
    """Return a function that does only the arithmetic of `count` steps of the climb."""
    *_, last = islice(climb(data), 20)
    s, slope, weights = last.free.state, last.optimizer.velocity[0], last.model.weights.copy()
    sweep, out = by_c(last.model, s.T), np.empty_like(weights)

    def steps(count):
        sweep(count)
        for _ in range(count):
            s @ weights
            np.matmul(s.T, s, out=out)
            np.multiply(slope, RATE, out=out)
            np.add(weights, out, out=weights)

    return steps


def one_by_one(model, start=None):
    return bmlab.exact(model)


def of_a_step(rng, visible, hidden, infer, clamped):
    """Milliseconds of a step, and of its two phases alone, for the machines of such a climb from its states."""
    data, machine = (
        bmlab.spins(rng.integers(0, 2, (300, visible))),
        bmlab.sherrington_kirkpatrick(visible + hidden, rng=rng, scale=0.1),
    )

    def steps(count):
        return list(islice(bmlab.learning_steps(machine, data, infer, rate=RATE, clamped_phase=clamped), count))

    made = steps(11)

    def phases(count):
        for before, after in islice(pairwise(made), count):
            infer(after.model, start=before.free.state)
            if clamped:
                clamped(after.model, data, start=before.clamped.state)

    return least(10, steps, phases)


def against_the_phases():
    """Print the cost of the loop beside that of its phases."""
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
        print(f"{name}: learning_steps {step:.2f} ms a step, its phases alone {phases:.2f}, {step / phases:.1f} times")


def main():
    warnings.simplefilter("ignore", bmlab.NotConverged)
    rng = np.random.default_rng(0)
    for n, count in ((10, 150), (64, 100), (256, 40), (784, 30)):
        data = bmlab.spins(rng.integers(0, 2, (1000, n)))
        works = partial(steps_of_ascend, data), partial(steps_of_a_student, data), limit_of_a_step(data)
        ours, theirs, limit = least(count, *works)
        print(
            f"n = {n:3d}: bmlab {ours:6.2f} ms a step, a student's loop {theirs:6.2f}, {theirs / ours:.1f} times; ",
            end="",
        )
        print(f"limit {limit:.3f}, {ours / limit:.1f} times")
    against_the_phases()
    rows, machine = bmlab.spins(rng.integers(0, 2, (435, 16))), bmlab.sherrington_kirkpatrick(16, rng=rng)
    rows[rng.random(rows.shape) < 392 / rows.size] = np.nan
    (ours,) = least(20, lambda count: [bmlab.clamped(machine, rows) for _ in range(count)])
    (theirs,) = least(3, lambda count: [bmlab.clamped(machine, rows, one_by_one) for _ in range(count)])
    print(f"rows with missing entries: {ours:.2f} ms a clamped phase, pattern by pattern {theirs:.1f}, ", end="")
    print(f"{theirs / ours:.0f} times")


if __name__ == "__main__":
    with one_thread_only():
        main()
