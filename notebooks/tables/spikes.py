"""What pairs explain: the share I2/IN of the multi-information, and how far too few bins bend it; for notebook 07.

    python notebooks/tables/spikes.py             # rewrites 07_spikes.csv beside it, about 1 minute

    I_N = sum_i H_i - H,     I_2 = sum_i H_i - H_2,     0 <= I_2 <= I_N

H is the entropy of the law of the patterns and H_2 that of the pairwise machine with its means and correlations: of all
laws that have them, the one of largest entropy.  Schneidman, Berry, Segev and Bialek (2006), Nature 440, 1007.  Laws
are probabilities of the rows of bmlab.states(n), in bits.  The columns of the table:

    law             raster: bmlab.data.raster; shifter: V1 and V2 of bmlab.data.shifter(4), whose V3 no pair knows of
    bins, seed      of a raster drawn with default_rng(seed); empty: the true law
    patterns        different ones, and occurring
    i_n, i_2        bits a bin, as they are: plug-in
    share           i_2 / i_n
    miller_madow    the same with each entropy raised by (free numbers)/2N nats: patterns - 1 for H, one for each H_i,
                    and n(n + 1)/2 for H_2.  Miller (1955)
    extrapolated    the same with each entropy taken to 1/N = 0 along the parabola through all bins, the mean of two
                    halves and the mean of four quarters.  Strong and others (1998), Physical Review Letters 80, 197
"""

import csv
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

import bmlab
from bmlab.parallel import in_parts, unpacked

TABLE = Path(__file__).with_name("07_spikes.csv")
BINS, SEEDS = (953, 3_000, 10_000, 30_000, 100_000, 283_041), range(50)
COLUMNS = "law", "bins", "seed", "patterns", "i_n", "i_2", "share", "miller_madow", "extrapolated"


def entropy(law):
    """Entropy in bits."""
    return -np.sum(law[law > 0] * np.log2(law[law > 0]))


def features(n):
    """Every s_i and s_i s_j of every state, (2^n, n + n(n-1)/2)."""
    s = bmlab.states(n)
    i, j = np.triu_indices(n, 1)
    return np.hstack([s, s[:, i] * s[:, j]])


def pairwise(law, tolerance=1e-8):
    """The law exp(f theta)/Z with the mean features of `law`: Newton's method, halved where it would go downhill.

    Where a pair is never seen in one of its four ways weights run off to infinity, and the law has settled before.
    """
    n = int(np.log2(len(law)))
    f = features(n)
    wanted, theta = law @ f, np.zeros(n + n * (n - 1) // 2)
    theta[:n] = np.arctanh(wanted[:n] * (1 - 1e-12))  # the independent law; a unit that never fires is finite

    def weigh(theta):
        energy = f @ theta
        log_z = energy.max() + np.log(np.exp(energy - energy.max()).sum())
        return np.exp(energy - log_z), wanted @ theta - log_z

    found, climbed = weigh(theta)
    while abs(slope := wanted - found @ f).max() > tolerance:
        fisher = (f * found[:, None]).T @ f - np.outer(found @ f, found @ f)
        step = np.linalg.solve(fisher + 1e-10 * np.eye(len(theta)), slope)
        while (ahead := weigh(theta + step))[1] < climbed and abs(step).max() > 1e-9:
            step /= 2
        theta, (found, climbed) = theta + step, ahead
    return found


def entropies(law):
    """sum_i H_i, H_2 and H."""
    on = law @ (1 + bmlab.states(int(np.log2(len(law))))) / 2
    return np.array([sum(entropy(np.array([p, 1 - p])) for p in on), entropy(pairwise(law)), entropy(law)])


def share(h):
    """I_2/I_N of the three entropies."""
    return (h[0] - h[1]) / (h[0] - h[2])


def frequencies(data):
    """How often each state occurs in the data, as a share."""
    codes = (data > 0) @ (1 << np.arange(data.shape[1])[::-1])
    return np.bincount(codes, minlength=2 ** data.shape[1]) / len(data)


def extrapolated(data, h):
    """The three entropies at 1/N = 0."""
    parts = [np.mean([entropies(frequencies(part)) for part in np.array_split(data, k)], axis=0) for k in (2, 4)]
    return np.linalg.solve(np.vander([1, 2, 4], increasing=True), [h, *parts])[0]


def row(name, law, bins="", seed="", corrected=("", "")):
    """One row of the table."""
    h = entropies(law)
    numbers = [h[0] - h[2], h[0] - h[1], share(h), *corrected]
    return name, bins, seed, np.count_nonzero(law), *(x if x == "" else f"{x:.5g}" for x in numbers)


def sampled(bins, seed):
    """The row of one raster."""
    data = bmlab.data.raster(bins, np.random.default_rng(seed)).data
    law = frequencies(data)
    h, free = entropies(law), np.array([10, 55, np.count_nonzero(law) - 1])
    raised = h + free / (2 * bins * np.log(2))
    return row("raster", law, bins, seed, (share(raised), share(extrapolated(data, h))))


def main():
    """Write the table."""
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerow(row("raster", bmlab.data.raster(1, np.random.default_rng(0)).law))
        table.writerow(row("shifter", frequencies(bmlab.data.shifter(4).data[:, :8])))
        table.writerows(in_parts(partial(unpacked, sampled), list(product(BINS, SEEDS)), "raster"))


if __name__ == "__main__":
    main()
