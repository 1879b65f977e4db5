"""Whether the errors that ais() and temper() state for log Z cover, and how far visited() falls short.

    python benchmarks/log_z.py [--seeds 100] [--units 16 24 36] [--scales 0.5 1 2] [--learned]

Sherrington-Kirkpatrick machines at T = 1, one a seed, against exact().  A failure is an error beyond 4 stderr; the
last column says how many of the failures had converged=False.  With 100 seeds and 36 units: half an hour.

--learned: ais() and temper() on restricted machines of 12 hidden units that have learned scikit-learn's digits (64
pixels) by CD-1 or PCD, at T = 1, 0.6 and 0.4 (as if their weights had gone on growing), with few runs and temperatures,
or sweeps.  With 24 seeds: four minutes.
"""

import argparse
import warnings
from functools import lru_cache, partial

import numpy as np
from exact import once

import bmlab
from bmlab.running.threads import one_thread_only

ESTIMATORS = {"ais": bmlab.ais, "temper": bmlab.temper, "visited": bmlab.visited}
LEARNED = {
    **{
        f"ais {runs} x {temperatures}": partial(bmlab.ais, n_chains=runs, n_temperatures=temperatures)
        for runs, temperatures in ((100, 20), (100, 60), (100, 300), (400, 60))
    },
    **{f"temper {sweeps}": partial(bmlab.temper, n_sweeps=sweeps) for sweeps in (300, 1000, 4000)},
}


def answers(models, estimators):
    """Errors of each estimator, with the stated ones, whether it says that it converged, and seconds, by machine."""
    found = {name: [] for name in estimators}
    for seed, model in enumerate(models):
        truth = bmlab.exact(model, want="log_z").log_z.value
        for name, estimator in estimators.items():
            seconds, answer = once(partial(estimator, model, rng=np.random.default_rng(10**6 + seed)))
            log_z = answer.log_z
            found[name].append((log_z.value - truth, log_z.stderr, answer.converged, seconds))
    return {name: np.array(rows, float).T for name, rows in found.items()}


@lru_cache(maxsize=1000)
def learned(seed, hidden=12, epochs=30, rate=0.05, batch=50):
    """A restricted machine of digits, by PCD if the seed is odd, else by CD-1: made here, so that both are the same."""
    from sklearn.datasets import load_digits

    rng, data = np.random.default_rng(seed), 2.0 * (load_digits().data[:600] > 7) - 1
    w, b, c = 0.01 * rng.normal(size=(64, hidden)), np.arctanh(data.mean(0).clip(-0.98, 0.98)), np.zeros(hidden)
    s = data[:batch]

    def tossed(field):
        return np.where(rng.random(field.shape) < 1 / (1 + np.exp(-2 * field)), 1.0, -1.0)

    for _ in range(epochs):
        for v in np.array_split(rng.permutation(data), len(data) // batch):
            h, s = np.tanh(v @ w + c), s if seed % 2 else v
            s = tossed(tossed(s @ w + c) @ w.T + b)
            dream = np.tanh(s @ w + c)
            w, b = w + rate * (v.T @ h / len(v) - s.T @ dream / len(s)), b + rate * (v.mean(0) - s.mean(0))
            c = c + rate * (h.mean(0) - dream.mean(0))
    return bmlab.restricted(w, b, c)


def line(n, scale, name, columns):
    """One row of the table: shares in per cent, errors in nats."""
    error, stderr, converged, seconds = columns
    size, sure = np.abs(error), converged == 1
    failed = size > 4 * stderr
    if stderr.any():
        covers = f"{np.mean(size <= 2 * stderr):5.0%} {np.mean(~failed):5.0%}   stderr {np.median(stderr):.4f}"
        told = f"  {(failed & ~sure).sum()} of {failed.sum()}"
    else:  # a bound, which states no error
        covers, told = f"bound holds in {np.mean(error <= 1e-9):4.0%}", ""
    print(
        f"{n:3}{scale:6g}  {name:12} {covers:28} error {np.median(size):.4f} (largest {size.max():.3f})"
        f"  not converged {np.mean(~sure):4.0%}  {np.median(seconds):5.2f} s{told}",
        flush=True,
    )


def of_all(kind, columns):
    """One line for all machines of a kind: how many answers are covered, of all and of those that converged."""
    error, stderr, converged, _ = columns
    off = np.abs(error) / stderr
    for said, some in (("all", off), ("converged", off[converged == 1])):
        covers = f"{np.mean(some <= 2):.1%} within 2 stderr, {np.mean(some <= 4):.1%} within 4"
        print(f"{kind}, {said} {len(some)}: {covers}, the worst {some.max():.1f} off")


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--units", type=int, nargs="+", default=[16, 24, 36])
    parser.add_argument("--scales", type=float, nargs="+", default=[0.5, 1, 2])
    parser.add_argument("--learned", action="store_true")
    options = parser.parse_args()
    print("  n scale  method: within 2 and 4 stderr, median stderr and error, not converged, time, failures told")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bmlab.NotConverged)
        if options.learned:
            found = []
            for temperature in (1.0, 0.6, 0.4):
                found.append(answers([learned(seed).at(temperature) for seed in range(options.seeds)], LEARNED))
                for name, columns in found[-1].items():
                    line(76, temperature, name, columns)
            for kind in ("ais", "temper"):
                of_all(kind, np.hstack([each[name] for each in found for name in LEARNED if name.startswith(kind)]))
            return
        for n in options.units:
            for scale in options.scales:
                rngs = map(np.random.default_rng, range(options.seeds))
                models = [bmlab.sherrington_kirkpatrick(n, rng=rng, scale=scale) for rng in rngs]
                for name, columns in answers(models, ESTIMATORS).items():
                    line(n, scale, name, columns)


if __name__ == "__main__":
    with one_thread_only():
        main()
