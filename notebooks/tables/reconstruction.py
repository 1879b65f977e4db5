"""How near four rules without a loop, and maximum likelihood, come to a machine that is known: for notebook 05.

    python notebooks/tables/reconstruction.py     # rewrites 05_reconstruction.csv beside it, about 20 seconds

Perfect samples, drawn with default_rng(seed), of one Sherrington-Kirkpatrick machine of 20 units, default_rng(7), at
six temperatures.  The columns of the table:

    temperature, rows, seed   of the samples
    method    mean field, tap, bethe: the closed forms; pseudolikelihood; maximize: maximum likelihood
    error     |W - W_true/T| / |W_true/T| of the learned weights, Frobenius norm, to three digits; empty if a method
              refuses the samples, or says that the maximum is at infinity
"""

import csv
import warnings
from itertools import product
from pathlib import Path

import numpy as np

import bmlab
from bmlab.running.parallel import map_executor

TABLE = Path(__file__).with_name("05_reconstruction.csv")
GLASS = bmlab.sherrington_kirkpatrick(20, rng=np.random.default_rng(7))
BLANK = bmlab.BoltzmannMachine(np.zeros((20, 20)), np.zeros(20))
TEMPERATURES, ROWS, SEEDS = (0.5, 0.7, 1, 1.5, 2, 4), (100, 1000, 10_000, 100_000), range(3)
COLUMNS = "temperature", "rows", "seed", "method", "error"


def maximize(data):
    """Maximum likelihood at T = 1."""
    return bmlab.maximize(BLANK, data)


CLOSED_FORMS = {"mean field": bmlab.invert_mean_field, "tap": bmlab.invert_tap, "bethe": bmlab.invert_bethe}
METHODS = CLOSED_FORMS | {"pseudolikelihood": bmlab.pseudolikelihood, "maximize": maximize}


def error(learned, true):
    """How far the weights are from the truth, as a share of it."""
    right = true.weights / true.temperature
    return np.linalg.norm(learned.weights - right) / np.linalg.norm(right)


def rows_of(recording):
    """Return the rows of the table for one recording (temperature, rows, seed), a method each."""
    temperature, rows, seed = recording
    true = GLASS.at(temperature)
    data = bmlab.sample(true, rows, rng=np.random.default_rng(seed))
    return [(temperature, rows, seed, name, entry(method, data, true)) for name, method in METHODS.items()]


def entry(method, data, true):
    """The error of the machine that one method learns; nothing if it refuses, or if a maximum is not reached."""
    try:
        found = method(data)
    except ValueError:
        return ""
    return f"{error(found.model, true):.3g}" if found.converged or method in CLOSED_FORMS.values() else ""


def main():
    """Write the table."""
    warnings.simplefilter("ignore", bmlab.NotConverged)  # an entry that is left empty says it
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        recordings = list(product(TEMPERATURES, ROWS, SEEDS))
        for rows in map_executor(rows_of, recordings, "recording"):
            table.writerows(rows)


if __name__ == "__main__":
    main()
