"""How well the closed forms and pseudolikelihood find a machine again from samples of it, from weak weights to strong.

    python benchmarks/inverse_ising.py [--rows 15000] [--seeds 3] [--picture docs/inverse_ising.png]

Spin glasses of 64 units without biases, weights normal with a standard deviation of beta / sqrt(64); samples of each by
replica exchange.  Printed: the Frobenius norm of the error over that of the true weights, the median over the glasses.
A prediction of zeros has 1.  As in the reviews of the field (Aurell and Ekeberg 2012, Phys. Rev. Lett. 108, 090201;
Nguyen, Zecchina and Berg 2017, Adv. Phys. 66, 197).
"""

import argparse
import warnings

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FixedLocator, NullLocator
from threadpoolctl import threadpool_limits

import bmlab
from bmlab import plot

UNITS, SWEEPS = 64, 20  # sweeps between two samples of a chain
BETAS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0)
METHODS = {
    "mean field": lambda data: bmlab.invert_mean_field(data),
    "tap": lambda data: bmlab.invert_tap(data),
    "bethe": lambda data: bmlab.invert_bethe(data),
    "pseudolikelihood": lambda data: bmlab.pseudolikelihood(data),
}


def samples(glass, rows, rng):
    """Return `rows` samples: a hundred ladders of replica exchange, settled, looked at every SWEEPS sweeps."""
    state, found = bmlab.temper(glass, rng=rng, n_ladders=100, burn_in=300, n_sweeps=1).state, []
    while len(found) * 100 < rows:
        state = bmlab.temper(glass, rng=rng, start=state, burn_in=0, n_sweeps=SWEEPS).state
        found.append(state.s[:, 0])
    return np.concatenate(found)[:rows]


def error(found, true):
    """Return the norm of the difference of two matrices over that of the true one; nan if nothing was found."""
    return np.linalg.norm(found - true) / np.linalg.norm(true)


def errors(beta, rows, seeds):
    """Return {method: median error over the glasses of one strength}; nan if a method finds nothing."""
    found = {name: [] for name in METHODS}
    for seed in range(seeds):
        rng = np.random.default_rng([seed, int(100 * beta)])
        glass = bmlab.sherrington_kirkpatrick(UNITS, rng=rng, scale=beta)
        glass = bmlab.BoltzmannMachine(glass.weights, np.zeros(UNITS))
        data = samples(glass, rows, rng)
        for name, method in METHODS.items():
            try:
                found[name].append(error(method(data).model.weights, glass.weights))
            except ValueError:
                found[name].append(np.nan)
    return {name: np.median(each) for name, each in found.items()}


def draw(table, rows, path):
    """Draw the errors against the strength."""
    figure, ax = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
    for name in METHODS:
        ax.loglog(BETAS, [row[name] for row in table], label=name, color=plot.COLOURS.get(name, plot.COLOURS["exact"]))
    ax.axhline(1, color=plot.FAINT)
    for axis, ticks in ((ax.xaxis, BETAS), (ax.yaxis, (0.1, 0.2, 0.5, 1, 2, 5))):
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_locator(NullLocator())
    ax.set_xlabel("strength of the weights, beta")
    ax.set_ylabel("relative error of the weights")
    plot.label_lines(ax)
    below = f"{UNITS} units, {rows:,} samples; a prediction of zeros errs by 1,\nand tap is on mean field's line"
    plot.headline(ax, "Closed forms fail where weights are strong", below=below)
    plot.apply_style(figure).savefig(path, dpi=200)


def main():
    """Print a line for each strength, and draw all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=15_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--picture")
    options = parser.parse_args()
    table = []
    with warnings.catch_warnings(), threadpool_limits(limits=1, user_api="blas"):
        warnings.simplefilter("ignore", bmlab.NotConverged)
        for beta in BETAS:
            table.append(errors(beta, options.rows, options.seeds))
            print(f"beta {beta}: " + ", ".join(f"{name} {x:.3f}" for name, x in table[-1].items()), flush=True)
    if options.picture:
        draw(table, options.rows, options.picture)


if __name__ == "__main__":
    main()
