"""A magnet with two valleys: the error of tempering and of three ways of Gibbs sampling, by processor time.

    OPENBLAS_NUM_THREADS=1 python notebooks/tables/magnet.py          # rewrites 03b_magnet.csv beside it, minutes

The machine is the magnet of notebook 03b: 4 x 4 units with weights of +1, and a bias for all, 0.05 or none.  Each row
is a way to sample it, from scattered starts, and the amount of work:

    bias, way            the machine, and temper, long chains, few chains or short chains (the last three: gibbs)
    chains, sweeps       of temper: replicas, six in each of forty ladders
    seconds              of processor, the mean over the runs; those of one machine, and they vary by a third
    error                of the mean of all units, root mean square over five runs with other seeds; exact() judges
"""

import csv
import warnings
from pathlib import Path
from time import process_time

import numpy as np

import bmlab

TABLE = Path(__file__).with_name("03b_magnet.csv")
COLUMNS = "bias", "way", "chains", "sweeps", "seconds", "error"
RUNS = 5
WAYS = {  # (chains, sweeps) of each
    "temper": [(240, 20), (240, 100), (240, 500)],
    "long chains": [(240, 1000), (240, 5000), (240, 30_000)],
    "few chains": [(40, 5000), (40, 25_000), (40, 150_000)],
    "short chains": [(1000, 20), (6000, 20), (36_000, 20)],
}


def sampled(magnet, way, chains, sweeps, seed):
    """Return an answer and the processor seconds that it took."""
    begin = process_time()
    if way == "temper":
        answer = bmlab.temper(magnet, rng=seed, n_ladders=chains // 6, n_sweeps=sweeps)
    else:
        answer = bmlab.gibbs(magnet, rng=seed, n_chains=chains, n_sweeps=sweeps)
    return answer, process_time() - begin


def row(bias, way, chains, sweeps):
    """One row of the table."""
    magnet = bmlab.ising((4, 4), field=bias)
    truth = bmlab.exact(magnet).mean.mean()
    sampled(magnet, way, chains, sweeps=15, seed=0)  # not counted: it compiles
    answers, seconds = zip(*(sampled(magnet, way, chains, sweeps, seed) for seed in range(RUNS)), strict=True)
    error = np.sqrt(np.mean([(answer.mean.mean() - truth) ** 2 for answer in answers]))
    return bias, way, chains, sweeps, f"{np.mean(seconds):.2g}", f"{error:.2g}"


def main():
    """Write the table."""
    warnings.simplefilter("ignore", bmlab.NotConverged)
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for bias in (0.05, 0.0):
            for way, efforts in WAYS.items():
                for effort in efforts:
                    table.writerow(row(bias, way, *effort))
                    file.flush()


if __name__ == "__main__":
    main()
