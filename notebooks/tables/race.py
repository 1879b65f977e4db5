"""Three ways to Z, raced: what each costs, and how far off it is, on fifteen animals, a cold glass and weak ties.

    OPENBLAS_NUM_THREADS=1 python notebooks/tables/race.py            # rewrites 05_race.csv, about a minute

The machines: the summit of notebook 05, of 15 units; a glass of 20 at T = 0.3; 200 units that repel each other by 1/200
at T = 1.5, whose states depend on their sum alone, so that log Z is a sum of 201 terms.  The columns of the table:

    machine, way, effort   which, by what, and of how much: sweeps of 100 chains, or starts
    seconds                of processor, the least of three calls
    log_z, moments         how far log Z is off (of the states visited: their bound), and all means and correlations of
                           pairs, root mean square; empty where a way does not give it

Brute force is bmlab.plain's: all states, one after the other.  Seconds are those of one machine, and vary by a third.
"""

import csv
import warnings
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
from scipy.special import gammaln, logsumexp

import bmlab

TABLE = Path(__file__).with_name("05_race.csv")
COLUMNS = "machine", "way", "effort", "seconds", "log_z", "moments"
RNG = 0


def machines():
    """Yield (name, machine, its exact log Z, means and correlations)."""
    blank = bmlab.BoltzmannMachine(np.zeros((15, 15)), np.zeros(15))
    animals = bmlab.maximize(blank, bmlab.data.zoo().data, penalty=0.03).model
    for name, machine in (
        ("15 animals", animals),
        ("glass of 20 at T = 0.3", bmlab.sherrington_kirkpatrick(20, rng=1).at(0.3)),
    ):
        true = bmlab.exact(machine)
        yield name, machine, true.log_z.value, true.mean, true.corr
    n, T = 200, 1.5
    machine = bmlab.BoltzmannMachine((np.eye(n) - 1) / n, np.zeros(n), T)
    sums = 2 * np.arange(n + 1) - n  # of the units, in binomial many states each: the energy is (sum^2 - n) / 2n
    log_w = (
        gammaln(n + 1) - gammaln(np.arange(n + 1) + 1) - gammaln(n - np.arange(n + 1) + 1) - (sums**2 - n) / (2 * n * T)
    )
    log_z = logsumexp(log_w)
    pair = (np.exp(log_w - log_z) @ sums**2 - n) / (n * (n - 1))
    yield "200 weak ties", machine, log_z, np.zeros(n), np.where(np.eye(n), 1.0, pair)


def ways(machine):
    """Yield (way, effort, call, whether it states moments) of each way that the machine allows."""
    if machine.n <= 20:
        yield "brute force", 1, partial(bmlab.plain.brute_force, machine), True
        yield "exact", 1, partial(bmlab.exact, machine), True
    for sweeps in (10, 100, 1000):
        yield "visited", sweeps, partial(bmlab.visited, machine, rng=RNG, n_chains=100, n_sweeps=sweeps), False
        yield "gibbs", sweeps, partial(bmlab.gibbs, machine, rng=RNG, n_sweeps=sweeps, burn_in=sweeps // 10), True
    for starts in (1, 5):
        yield "mean field", starts, partial(bmlab.mean_field, machine, starts=starts), True
    yield "bethe", 1, partial(bmlab.bethe, machine), True


def timed(call):
    """What a call returns, and its least processor seconds of three."""
    best = np.inf
    for _ in range(3):
        begin = process_time()
        answer = call()
        best = min(best, process_time() - begin)
        if best > 2:
            break
    return answer, best


def main():
    """Write the table."""
    warnings.simplefilter("ignore")
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for name, machine, log_z, mean, corr in machines():
            pairs = np.triu_indices(machine.n, 1)
            for way, effort, call, has_moments in ways(machine):
                answer, seconds = timed(call)
                value = answer.log_z.lower if way == "visited" else float(answer.log_z)
                off = "" if np.isnan(value) else f"{value - log_z:.3g}"
                moments = ""
                if has_moments:
                    errors = np.append(answer.mean - mean, (np.asarray(answer.corr) - corr)[pairs])
                    moments = f"{np.sqrt(np.mean(errors**2)):.2g}"
                table.writerow((name, way, effort, f"{seconds:.2g}", off, moments))


if __name__ == "__main__":
    main()
