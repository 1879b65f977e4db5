"""Hidden units or all pairs: how probable are unseen digits, the longer a machine is taught?  For notebook 08.

    OPENBLAS_NUM_THREADS=1 python notebooks/tables/rivals.py  # rewrites 08_rivals.csv and 08_race.csv, 12 minutes

THE PROTOCOL, written down before the table was made.

Data      the 1000 training images of bmlab.data.digits(), five times: each time 200 neighbours in the file are
          kept back, and the machine learns from the other 800.  The 797 test images are not touched.
Machines  restricted ones by bmlab.pcd (100 rows a step, 100 chains, one sweep), and the fully visible one by
          bmlab.learning_steps with persistent chains (all rows, 100 chains, one sweep).  The rate falls from 0.05
          to 0, and the machine is the mean over the second half of the steps, for both.
Steps     each row is a run of its own, so that its rate falls to the end.
Penalty   0.02 for the restricted machines, not chosen.  The fully visible one has three to choose from, and
          notebook 08 gives it the best one on the images that were kept back: an advantage.
Judge     exact for up to 20 hidden units, ais() for the others; stderr is that of log Z alone.

Columns of tables/08_rivals.csv: hidden (0: fully visible), parameters,
penalty, steps, fold, taught and unseen (nats an image), stderr.

08_race.csv has the three free phases of the notebook's section 5, on the same five splits: 12 hidden units, all 800
images a step, 1000 steps, the rate from 0.05 to 0, no penalty, nothing tuned; CD-1 and PCD have 800 chains, and draw
h, then v', then h' at each step.  They end after the last step.  Its columns: way, chains (0: no samples), steps,
fold, seconds of processor, taught and unseen.  Seconds are those of one machine with one thread, and vary by a half
with its load.
"""

import csv
import warnings
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np

import bmlab
from bmlab.running.parallel import map_executor

TABLE = Path(__file__).with_name("08_rivals.csv")
COLUMNS = "hidden", "parameters", "penalty", "steps", "fold", "taught", "unseen", "stderr"
RACE = TABLE.with_name("08_race.csv")
RACED = "way", "chains", "steps", "fold", "seconds", "taught", "unseen"
WAYS = {"exact": (0, "previous"), "CD-1": (800, "data"), "PCD": (800, "previous")}
FOLDS = np.arange(1000) // 200
RUNS = [
    *product((12, 20, 30), (0.02,), (400, 1000, 3000, 10000, 30000)),
    *product((0,), (0.02, 0.05, 0.1), (400, 1000, 3000)),
]


def split(fold):
    """Return 800 images to learn from, and the 200 kept back."""
    images = bmlab.data.digits().train
    return images[fold != FOLDS], images[fold == FOLDS]


def beginner(images, hidden, rng):
    """A machine before its first lesson: independent pixels, with tiny weights to hidden units, or all pairs."""
    biases = np.arctanh(images.sum(axis=0) / (len(images) + 2))
    if not hidden:
        return bmlab.BoltzmannMachine(np.zeros((64, 64)), biases)  # restricted() has no pairs: none would learn
    return bmlab.restricted(rng.normal(scale=0.01, size=(64, hidden)), biases, np.zeros(hidden))


def taught(images, hidden, penalty, steps, rng):
    """Teach one machine: restricted, or fully visible if it has no hidden units."""
    start, rates = beginner(images, hidden, rng), np.linspace(0.05, 0, steps)
    if hidden:
        return bmlab.pcd(start, images, rng=rng, steps=steps, rate=rates, penalty=penalty).model
    chains = partial(bmlab.gibbs, rng=rng, n_chains=100, burn_in=0, n_sweeps=1)
    weights, biases = np.zeros((64, 64)), np.zeros(64)
    for k, step in enumerate(bmlab.learning_steps(start, images, chains, rate=rates, penalty=penalty)):
        if k >= steps // 2:
            weights += step.model.weights
            biases += step.model.biases
    kept = k + 1 - steps // 2
    return bmlab.BoltzmannMachine(weights / kept, biases / kept)


def judged(machine, taught_from, kept_back, rng):
    """Return the mean log p of both sets of images, and the standard error of log Z."""
    few = 64 < machine.n <= 84
    free = bmlab.exact(machine) if few else bmlab.ais(machine, rng=rng, n_chains=100, n_temperatures=500)
    seen, unseen = (bmlab.log_likelihood(bmlab.clamped(machine, x), free) for x in (taught_from, kept_back))
    return seen.value, unseen.value, unseen.stderr


def row(task):
    """Teach a machine and judge it, a task (hidden, penalty, steps, fold): one row of the table."""
    hidden, penalty, steps, fold = task
    rng, images = np.random.default_rng([hidden, steps, fold]), split(fold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bmlab.NotConverged)  # a single sweep a step never is
        machine = taught(images[0], hidden, penalty, steps, rng)
    seen, unseen, stderr = judged(machine, *images, rng)
    parameters = machine.n + (64 * hidden or 64 * 63 // 2)
    return hidden, parameters, penalty, steps, fold, f"{seen:.2f}", f"{unseen:.2f}", f"{stderr:.3f}"


def curves():
    """The table for a figure: the steps, and for each machine its nats an unseen image, (folds, steps).

    The fully visible machine has its best penalty; nan if a machine was not taught so long.
    """
    table = np.genfromtxt(TABLE, delimiter=",", names=True)
    steps, nats = np.unique(table["steps"]), {}
    machines = {"12 hidden": (12, 0.02), "20 hidden": (20, 0.02), "30 hidden": (30, 0.02), "all pairs": (0, 0.05)}
    for name, machine in machines.items():
        nats[name] = np.full((5, len(steps)), np.nan)
        for row in table[(table["hidden"] == machine[0]) & (table["penalty"] == machine[1])]:
            nats[name][int(row["fold"]), np.searchsorted(steps, row["steps"])] = row["unseen"]
    return steps, nats


def learning_steps(model, data, infer, **options):
    """Run bmlab.learning_steps with the averages of both phases rounded to six digits.

    Learning from samples is chaotic: computers differ in the sixteenth digit, one unit of one chain turns or does not,
    and after a hundred steps the walk is another one.  Rounded, it is the same walk everywhere.
    """
    return bmlab.learning_steps(model, data, _rounded(infer), clamped_phase=_rounded(bmlab.clamped), **options)


def _rounded(ask):
    """The same phase with its averages rounded to six digits."""

    def answer(*model_and_data, start=None):
        found = ask(*model_and_data, start=start)
        return replace(found, mean=np.round(found.mean, 6), corr=np.round(found.corr, 6))

    return answer


def sampled(sweeps=1, seed=0, n_chains=800):
    """A free phase of so many sweeps, with the averages of the last, of chains that begin at visible units alone.

    gibbs() draws h from them first: one half-sweep more than if it went on from the h of the step before.
    """
    free = partial(bmlab.gibbs, rng=np.random.default_rng(seed), n_chains=n_chains, burn_in=sweeps - 1, n_sweeps=1)
    return lambda model, start=None: free(model, start=None if start is None else start[:, model.colours[0]])


def raced(way, fold, steps=1000):
    """Climb by one free phase, on the clock, and judge where it ends: one row of the race."""
    (chains, begin), rng, images = WAYS[way], np.random.default_rng(fold), split(fold)
    start = beginner(images[0], 12, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bmlab.NotConverged)
        began, rates = process_time(), np.linspace(0.05, 0, steps + 1)
        way_there = {"rate": rates, "free_start": begin, "couplings": start.weights != 0}
        for step in learning_steps(start, images[0], sampled(1, rng, chains) if chains else bmlab.exact, **way_there):
            last = step.model
        seconds = process_time() - began
    taught_nats, unseen, _ = judged(last, *images, rng)
    return way, chains, steps, fold, f"{seconds:.1f}", f"{taught_nats:.2f}", f"{unseen:.2f}"


def write(path, columns, rows):
    """Write a table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        table.writerows(rows)


def main():
    """Write both tables."""
    tasks = [(*run, fold) for run, fold in product(RUNS, range(5))]
    write(TABLE, COLUMNS, map_executor(row, tasks, "machine"))
    write(RACE, RACED, [raced(way, fold) for way, fold in product(WAYS, range(5))])


if __name__ == "__main__":
    main()
