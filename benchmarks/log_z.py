"""Whether the errors that ais() and temper() state for log Z cover, and how far visited() falls short.

    python benchmarks/log_z.py [--seeds 100] [--units 16 24 36] [--scales 0.5 1 2]

Sherrington-Kirkpatrick machines at T = 1, one a seed, against exact().  A failure is an error beyond 4 stderr; the
last column says how many of the failures had converged=False.  With 100 seeds and 36 units: half an hour.
"""

import argparse
import warnings
from functools import partial

import numpy as np
from exact import once

import bmlab

ESTIMATORS = {"ais": bmlab.ais, "temper": bmlab.temper, "visited": bmlab.visited}


def answers(n, scale, seeds):
    """Estimates of all estimators, with the times they took and the exact log Z, machine by machine."""
    found = {name: [] for name in ESTIMATORS}
    for seed in range(seeds):
        model = bmlab.sherrington_kirkpatrick(n, np.random.default_rng(seed), scale)
        truth = bmlab.exact(model).log_z.value
        for name, estimator in ESTIMATORS.items():
            seconds, answer = once(partial(estimator, model, rng=np.random.default_rng(10**6 + seed)))
            log_z = answer.log_z
            found[name].append((log_z.value - truth, log_z.stderr, answer.converged, seconds))
    return {name: map(np.array, zip(*rows, strict=True)) for name, rows in found.items()}


def line(n, scale, name, error, stderr, converged, seconds):
    """One row of the table: shares in per cent, errors in nats."""
    size = np.abs(error)
    failed = size > 4 * stderr
    if stderr.any():
        covers = f"{np.mean(size <= 2 * stderr):5.0%} {np.mean(~failed):5.0%}   stderr {np.median(stderr):.4f}"
        told = f"  {(failed & ~converged).sum()} of {failed.sum()}"
    else:  # a bound, which states no error
        covers, told = f"bound holds in {np.mean(error <= 1e-9):4.0%}", ""
    print(
        f"{n:3}{scale:6g}  {name:8} {covers:28} error {np.median(size):.4f} (largest {size.max():.3f})"
        f"  not converged {np.mean(~converged):4.0%}  {np.median(seconds):5.2f} s{told}",
        flush=True,
    )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--units", type=int, nargs="+", default=[16, 24, 36])
    parser.add_argument("--scales", type=float, nargs="+", default=[0.5, 1, 2])
    options = parser.parse_args()
    print("  n scale  method: within 2 and 4 stderr, median stderr and error, not converged, time, failures told")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bmlab.NotConverged)
        for n in options.units:
            for scale in options.scales:
                for name, columns in answers(n, scale, options.seeds).items():
                    line(n, scale, name, *columns)


if __name__ == "__main__":
    main()
