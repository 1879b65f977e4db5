"""How time and memory of each method grow with the units n, with the chains or rows N, and with its steps.

    OPENBLAS_NUM_THREADS=1 python benchmarks/growth.py [--picture docs/growth.png]

Processor time, the least of five after one to warm up, and the most that is kept at a time, at sizes four times apart
(exact sums of dense machines: four units apart).  An exponent is the slope of the logarithm over the last two sizes,
where what a call costs in any case counts least.
"""

import argparse
import tracemalloc
import warnings

import matplotlib.pyplot as plt
import numpy as np
from loop import least

import bmlab
from bmlab import plot
from bmlab.methods import METHODS
from bmlab.plot.labels import Labels


def glass(n):
    return bmlab.sherrington_kirkpatrick(n, rng=np.random.default_rng(n), scale=0.5)


def rows(count, n):
    return bmlab.spins(np.random.default_rng(n).integers(0, 2, (count, n)))


def restricted(n):
    return bmlab.restricted(0.01 * np.random.default_rng(0).normal(size=(n, n)), np.zeros(n), np.zeros(n))


# Each of these takes n, N and a number of steps, and returns the call that is timed.


def exact_dense(n, _, __):
    machine = glass(n)
    return lambda _: bmlab.exact(machine)


def exact_lattice(n, _, __):
    machine = bmlab.ising((4, n), periodic=False).at(2.3)
    return lambda _: bmlab.exact(machine)


def exact_chain(n, _, __):
    machine = bmlab.ising(n, periodic=False).at(2.3)
    return lambda _: bmlab.exact(machine)


def gibbs(n, count, steps):
    machine = glass(n)
    return lambda _: bmlab.gibbs(machine, rng=0, n_chains=count, burn_in=0, n_sweeps=steps)


def ais(n, count, steps):
    machine = restricted(n)
    return lambda _: bmlab.ais(machine, rng=0, n_chains=count, n_temperatures=steps)


def mean_field(n, _, __):
    machine = glass(n)
    return lambda _: bmlab.mean_field(machine)


def tap(n, _, __):
    machine = glass(n)
    return lambda _: bmlab.tap(machine)


def bethe(n, _, __):
    machine = bmlab.ising((n // 4, 4)).at(6)
    return lambda _: bmlab.bethe(machine)


def pseudolikelihood(n, count, _):
    data = rows(count, n)
    return lambda _: bmlab.pseudolikelihood(data, penalty=0.01)


def pcd(n, count, steps):
    model, data = restricted(n), rows(1000, n)
    return lambda _: bmlab.pcd(model, data, rng=0, steps=steps, rate=0.01, batch=count, n_chains=count)


# name: call, sizes of n, of N, of the steps
CASES = {
    "exact, all coupled": (exact_dense, (20, 24, 28), (), ()),
    "exact, lattice 4 x n": (exact_lattice, (32, 128, 512), (), ()),
    "exact, chain of n": (exact_chain, (6400, 25600, 102400), (), ()),
    "gibbs, all coupled": (gibbs, (64, 256, 1024), (64, 256, 1024), (50, 200, 800)),
    "ais, n + n": (ais, (16, 64, 256), (64, 256, 1024), (50, 200, 800)),
    "mean_field, all coupled": (mean_field, (64, 256, 1024), (), ()),
    "tap, all coupled": (tap, (64, 256, 1024), (), ()),
    "bethe, torus 4 x n/4": (bethe, (64, 256, 1024), (), ()),
    "pseudolikelihood": (pseudolikelihood, (16, 64, 256), (1000, 4000, 16000), ()),
    "pcd, n + n": (pcd, (64, 256, 1024), (64, 256, 1024), (10, 40, 160)),
}


def milliseconds(call):
    return least(1, call)[0]


def megabytes(call):
    """The most that one call keeps at a time, after one that imports."""
    call(1)
    tracemalloc.start()
    call(1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def slope(sizes, costs):
    """The exponent of the last two sizes."""
    return np.log(costs[-1] / costs[-2]) / np.log(sizes[-1] / sizes[-2])


def grown(case):
    """Return the times by n, and in words how time and memory grow with n, N and the steps."""
    of, units, many, steps = case
    calls = [of(n, 100, 100) for n in units]
    times, kept = [milliseconds(call) for call in calls], [megabytes(call) for call in calls]
    if units[-1] < 2 * units[0]:
        told = [f"time 2^{np.log2(times[-1] / times[-2]) / (units[-1] - units[-2]):.2f}n"]
    else:
        told = [f"time n^{slope(units, times):.1f}"]
    told[0] += f" ({', '.join(f'{t:.3g}' for t in times)} ms), memory n^{slope(units, kept):.1f} ({kept[-1]:.3g} MiB)"
    if many:
        told.append(f"N^{slope(many, [milliseconds(of(units[1], count, 100)) for count in many]):.1f}")
    if steps:
        told.append(f"steps^{slope(steps, [milliseconds(of(units[1], 100, count)) for count in steps]):.1f}")
    return times, "; ".join(told)


def draw(table, path):
    """Draw the time of each method against the units, each named at an end of its line, the exact ones above."""
    figure, axes = plt.subplots(2, 1, figsize=(5.2, 5.6), layout="constrained", sharex=True)
    labels = [Labels(ax) for ax in axes]
    for (name, times), marker in zip(table.items(), "os^DvPX<>*", strict=True):
        method, units, below = name.partition(",")[0], CASES[name][1], int(not name.startswith("exact"))
        colour = METHODS[method].colour if method in METHODS else plot.INK
        axes[below].loglog(units, times, marker=marker, color=colour, linewidth=3 if units[-1] < 100 else 1.5)
        end = 0 if units[-1] == 256 else -1  # if there is room
        left = end == 0 or not 100 < units[-1] < 100_000
        labels[below].around(name, (units[end], times[end]), 5, outward=(-1 if left else 1, 0), color=colour)
    axes[0].set(xlim=(0.2, 4e5), ylim=(0.2, 1000), xticks=[10, 100, 1000, 10_000, 100_000])
    axes[1].set(xlabel="units")
    below = "milliseconds on one core; 100 chains or rows, 100 sweeps or steps"
    plot.headline(axes[0], "Only sums over all states grow faster than a power", below=below)
    plot.apply_style(figure).savefig(path, dpi=200)


def main():
    """Print a line for each method, and draw all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture")
    options, table = parser.parse_args(), {}
    warnings.simplefilter("ignore", bmlab.NotConverged)
    for name, case in CASES.items():
        table[name], told = grown(case)
        print(f"{name}: {told}", flush=True)
    if options.picture:
        draw(table, options.picture)


if __name__ == "__main__":
    main()
