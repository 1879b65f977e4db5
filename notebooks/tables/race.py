"""Three ways to Z, raced: what each costs, and how far off it is, on fifteen animals, a cold glass and weak ties.

    OPENBLAS_NUM_THREADS=1 python notebooks/tables/race.py            # rewrites 05_race.csv, about a minute

The machines: the summit of notebook 05, of 15 units; a glass of 20 at T = 0.3; 200 units that repel each other by 1/200
at T = 1.5, whose states depend on their sum alone, so that log Z is a sum of 201 terms.  The columns of the table:

    machine, way, effort   which, by what, and of how much: sweeps of 100 chains, or starts
    seconds                of processor, the least of three calls
    log_z, moments         how far log Z is off (of the states visited: their bound), and all means and correlations of
                           pairs, root mean square; log_z is empty where a way does not give it

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


def weak_ties(n, T):
    """Return n units that repel each other by 1/n, their log Z, and the correlation of each pair.

    A state has the energy (m^2 - n) / 2n, m being the sum of its units, and binomial many states have this m.
    """
    on = np.arange(n + 1)
    m = 2 * on - n
    log_w = gammaln(n + 1) - gammaln(on + 1) - gammaln(n - on + 1) - (m**2 - n) / (2 * n * T)
    log_z = logsumexp(log_w)
    pair = (np.exp(log_w - log_z) @ m**2 - n) / (n * (n - 1))
    return bmlab.BoltzmannMachine((np.eye(n) - 1) / n, np.zeros(n), T), log_z, np.where(np.eye(n), 1.0, pair)


def machines():
    """Yield (name, machine, its exact log Z, means and correlations)."""
    blank = bmlab.BoltzmannMachine(np.zeros((15, 15)), np.zeros(15))
    animals = bmlab.maximize(blank, bmlab.data.zoo().data, penalty=0.03).model
    glass = bmlab.sherrington_kirkpatrick(20, rng=1).at(0.3)
    for name, machine in ("15 animals", animals), ("glass of 20 at T = 0.3", glass):
        true = bmlab.exact(machine)
        yield name, machine, true.log_z.value, true.mean, true.corr
    ties, log_z, corr = weak_ties(200, 1.5)
    yield "200 weak ties", ties, log_z, np.zeros(200), corr


def moments_off(answer, mean, corr):
    """How far all means and correlations of pairs are off, root mean square."""
    pairs = np.triu_indices(len(mean), 1)
    return np.sqrt(np.mean(np.append(answer.mean - mean, (answer.corr - corr)[pairs]) ** 2))


def ways(machine):
    """Yield (way, effort, call) of each way that the machine allows."""
    if machine.n <= 20:
        yield "brute force", 1, partial(bmlab.plain.brute_force, machine)
        yield "exact", 1, partial(bmlab.exact, machine)
    for sweeps in (10, 100, 1000):
        yield "visited", sweeps, partial(bmlab.visited, machine, rng=RNG, n_chains=100, n_sweeps=sweeps)
        yield "gibbs", sweeps, partial(bmlab.gibbs, machine, rng=RNG, n_sweeps=sweeps, burn_in=sweeps // 10)
    for starts in (1, 5):
        yield "mean field", starts, partial(bmlab.mean_field, machine, starts=starts)
    yield "bethe", 1, partial(bmlab.bethe, machine)


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
            for way, effort, call in ways(machine):
                answer, seconds = timed(call)
                value = answer.log_z.lower if way == "visited" else float(answer.log_z)
                off = "" if np.isnan(value) else f"{value - log_z:.3g}"
                moments = f"{moments_off(answer, mean, corr):.2g}"
                table.writerow((name, way, effort, f"{seconds:.2g}", off, moments))


if __name__ == "__main__":
    main()
