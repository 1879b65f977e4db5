"""How far each method is from the truth on a glass, by coupling scale and number of units: the curves of notebook 04b.

    python notebooks/tables/who_wins.py           # rewrites 04_who_wins.csv beside it, about a minute

Sherrington-Kirkpatrick machines at T = 1, drawn with default_rng(seed), each answered by four methods and refereed by
exact().  The columns of the table:

    n, scale, seed   the machine
    method           mean field: product, without any covariance, and mean field: shaken, with those of linear
                     response; tap, bethe: as they come; gibbs: 10 chains, 100 sweeps of burn-in and 1000 kept
    moments          error of <s_i> and <s_i s_j>, root mean square over all units and pairs
    log_z            error of log Z in nats, without its sign; empty for gibbs, which has no log Z

Errors are rounded to three digits.  A method that has not converged, or stands at a saddle, is judged by what it says.
"""

import csv
import warnings
from dataclasses import replace
from functools import partial
from itertools import product as every
from pathlib import Path

import numpy as np

import bmlab
from bmlab.parallel import in_parts, unpacked

TABLE = Path(__file__).with_name("04_who_wins.csv")
UNITS, SCALES, SEEDS = (8, 16, 24), (0.1, 0.25, 0.4, 0.5, 0.6, 0.8, 1, 2), range(20)
BUDGET = {"n_chains": 10, "burn_in": 100, "n_sweeps": 1000}
COLUMNS = "n", "scale", "seed", "method", "moments", "log_z"


def product(model):
    """Mean field's answer with the correlations of a product, m_i m_j."""
    answer = bmlab.mean_field(model)
    return replace(answer, corr=np.outer(answer.mean, answer.mean))


def methods(seed):
    """Name -> method, the sampler with its budget."""
    rng = np.random.default_rng(10**6 + seed)
    return {
        "mean field: product": product,
        "mean field: shaken": bmlab.mean_field,
        "tap": bmlab.tap,
        "bethe": bmlab.bethe,
        "gibbs": partial(bmlab.gibbs, rng=rng, **BUDGET),
    }


def moment_error(answer, truth):
    """Root mean square error over all means and pairs."""
    pairs = np.triu_indices(len(truth.mean), 1)
    return np.sqrt(np.mean(np.r_[answer.mean - truth.mean, (answer.corr - truth.corr)[pairs]] ** 2))


def rows(n, scale, seed):
    """Return one row of the table a method."""
    model = bmlab.sherrington_kirkpatrick(n, np.random.default_rng(seed), scale)
    truth, found = bmlab.exact(model), []
    for name, method in methods(seed).items():
        answer = method(model)
        log_z = abs(answer.log_z.value - truth.log_z.value)
        errors = f"{moment_error(answer, truth):.3g}", "" if np.isnan(log_z) else f"{log_z:.3g}"
        found.append((n, scale, seed, name, *errors))
    return found


def main():
    """Write the table."""
    with warnings.catch_warnings(), TABLE.open("w", newline="", encoding="utf-8") as file:
        warnings.simplefilter("ignore", bmlab.NotConverged)
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for found in in_parts(partial(unpacked, rows), list(every(UNITS, SCALES, SEEDS)), "machine"):
            table.writerows(found)


if __name__ == "__main__":
    main()
