"""How fast pcd() and pseudolikelihood() are beside scikit-learn, and maximize() beside plain gradient ascent.

    python benchmarks/learning.py [--seeds 3]

First a restricted machine on the digits (1000 to learn from, 797 to judge by, 64 hidden units): how long BernoulliRBM
takes for some epochs at the best of five learning rates, and how long pcd() takes to the same pseudo-log-likelihood of
the images not seen: processor time, the median over seeds.

Then features, on scikit-learn's own example (digits and their four shifts, 100 hidden units, 10 epochs in batches of
10): the share of unseen images that a logistic regression names from the pixels, from BernoulliRBM and from
RestrictedBoltzmann, cut at a half and grey.  Of nearly every unseen image other shifts were taught, and C is the best
of three on the unseen images, as for its rivals.

Then the exact top of the likelihood of 10 units, to a gradient norm of 1e-6: maximize() beside gradient ascent as one
writes it in NumPy, over all 1024 states at each step, with the best of its rates; on samples of medium() and on a
raster of spikes, where gradient ascent is slow.  And the seconds of maximize() for 20, 24 and 30 units: processor time.

Then perfect samples of one Sherrington-Kirkpatrick machine of 20 units: the time of pseudolikelihood() from 10,000 of
them beside that of 20 logistic regressions, one a unit, to a slope no smaller (they estimate each weight twice, and the
mean is taken).  A minute, on one thread.
"""

import argparse
import warnings
from functools import partial
from time import process_time

import numpy as np
from exact import median_seconds
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import BernoulliRBM
from sklearn.preprocessing import FunctionTransformer
from threadpoolctl import threadpool_limits

import bmlab
from bmlab.estimators import RestrictedBoltzmann

MOVES = ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0))
GLASS = bmlab.sherrington_kirkpatrick(20, rng=np.random.default_rng(7))

HIDDEN = 64
RATES = {10: 0.05, 100: 0.2}  # of the first step of pcd(), for each size of batch


def by_rbm(data, batch, epochs, rate, seed):
    """The machine that scikit-learn learns, in -1/+1 units."""
    found = BernoulliRBM(HIDDEN, learning_rate=rate, batch_size=batch, n_iter=epochs, random_state=seed)
    w = found.fit((data + 1) / 2).components_.T
    weights = np.block([[np.zeros((len(w), len(w))), w], [w.T, np.zeros((HIDDEN, HIDDEN))]])
    return bmlab.from_bits(weights, np.append(found.intercept_visible_, found.intercept_hidden_))


def by_pcd(data, batch, epochs, seed):
    """The machine that pcd() learns, from small weights and units as often on as in the data."""
    rng, v, steps = np.random.default_rng(seed), data.shape[1], epochs * len(data) // batch
    start = bmlab.restricted(
        0.01 * rng.normal(size=(v, HIDDEN)), np.arctanh(data.mean(0).clip(-0.98, 0.98)), np.zeros(HIDDEN)
    )
    return bmlab.pcd(
        start, data, rng=rng, steps=steps, rate=np.linspace(RATES[batch], 0, steps), batch=batch, n_chains=batch
    ).model


def seconds_and_score(learn, seeds):
    """The median processor time of learn(seed), and the median score of its machine on images that it has not seen."""
    found = []
    for seed in range(seeds):
        begin = process_time()
        model = learn(seed)
        found.append([process_time() - begin, bmlab.pseudo_log_likelihood(model, bmlab.data.digits().test)])
    return np.median(found, axis=0)


def restricted_machines(seeds):
    """Print times to the same pseudo-log-likelihood, and their ratio."""
    data = bmlab.data.digits().train
    by_pcd(data, 10, 1, 0)  # imports the modules that a first call imports
    for batch in RATES:
        tried = {n: seconds_and_score(partial(by_pcd, data, batch, n), seeds) for n in (1, 2, 3, 5, 7, 10, 15, 20, 30)}
        for epochs in (10, 30, 100):
            theirs = {
                rate: seconds_and_score(partial(by_rbm, data, batch, epochs, rate), seeds)
                for rate in (0.01, 0.03, 0.1, 0.3, 1)
            }
            best = max(theirs, key=lambda rate: theirs[rate][1])
            (seconds, score), per_step = theirs[best], batch / len(data)
            n = next((n for n, (_, ours) in tried.items() if ours >= score), None)
            print(
                f"batch {batch}: BernoulliRBM, {epochs} epochs at rate {best:g}: {score:.2f} in {seconds:.3f} s, "
                f"{1e6 * seconds / epochs * per_step:.0f} us a step;",
                end=" ",
            )
            print(
                "pcd does not get there"
                if n is None
                else f"pcd, {n}: {tried[n][1]:.2f} in {tried[n][0]:.3f} s, "
                f"{1e6 * tried[n][0] / n * per_step:.0f} us a step; ratio {seconds / tried[n][0]:.1f}",
                flush=True,
            )


def shifted():
    """Digits between 0 and 1, each also moved by a pixel in four directions: to learn from, to judge by, and names."""
    images, names = load_digits(return_X_y=True)
    images = images.reshape(-1, 8, 8) / 16
    moved = [np.pad(images, ((0, 0), (1, 1), (1, 1)))[:, 1 + i : 9 + i, 1 + j : 9 + j] for i, j in MOVES]
    return train_test_split(
        np.concatenate(moved).reshape(-1, 64), np.tile(names, len(MOVES)), test_size=0.2, random_state=0
    )


def features(seeds):
    """Print the share of unseen images that are named, with the best of three regularisations for each; and seconds."""
    learn, judge, learn_names, judge_names = shifted()
    for kind, binarize in (("cut", 0.5), ("grey", None)):
        seen, unseen = ((x > 0.5) * 1.0 if binarize else x for x in (learn, judge))
        kinds = {
            "pixels": lambda seed: FunctionTransformer(),
            "BernoulliRBM": lambda seed: BernoulliRBM(100, learning_rate=0.06, n_iter=10, random_state=seed),
            "RestrictedBoltzmann": lambda seed, binarize=binarize: RestrictedBoltzmann(
                100, n_iter=10, binarize=binarize, random_state=seed
            ),
        }
        for name, make in kinds.items():
            found = []
            for seed in range(seeds):
                begin = process_time()
                made = make(seed).fit(seen)
                seconds = process_time() - begin
                readers = (LogisticRegression(C=C, max_iter=2000) for C in (1, 100, 6000))
                right = [
                    r.fit(made.transform(seen), learn_names).score(made.transform(unseen), judge_names) for r in readers
                ]
                found.append([max(right), seconds])
            right, seconds = np.median(found, axis=0)
            print(f"{kind} digits, {name}: {right:.3f} right in {seconds:.1f} s", flush=True)


def by_ascent(data, rate, tolerance=1e-6, most=100_000):
    """Processor seconds and parameters of gradient ascent over all states; infinite if it does not get there."""
    n, begin = data.shape[1], process_time()
    s, pairs = bmlab.states(n), np.triu_indices(n, 1)
    weights, biases, corr, mean = np.zeros((n, n)), np.zeros(n), data.T @ data / len(data), data.mean(0)
    for _ in range(most):
        p = np.exp(((s @ weights) * s).sum(1) / 2 + s @ biases)
        p /= p.sum()
        d_weights, d_biases = corr - s.T @ (p[:, None] * s), mean - p @ s
        if np.sqrt((d_weights[pairs] ** 2).sum() + d_biases @ d_biases) <= tolerance:
            return process_time() - begin, weights
        weights, biases = weights + rate * d_weights, biases + rate * d_biases
    return np.inf, weights


def blank(n):
    """A machine without couplings."""
    return bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n))


def against_ascent(rows=10_000):
    """Print times of both, and the largest difference of a weight; then larger machines."""
    for name, data in (
        ("medium()", bmlab.sample(bmlab.medium(), rows, rng=np.random.default_rng(1))),
        ("raster()", bmlab.data.raster(rows, rng=np.random.default_rng(1)).data),
    ):
        ours = median_seconds(partial(bmlab.maximize, blank(10), data), 15, process_time)
        theirs, weights = min((by_ascent(data, rate) for rate in (0.1, 0.2, 0.3, 0.4)), key=lambda found: found[0])
        off = np.abs(bmlab.maximize(blank(10), data).model.weights - weights).max()
        print(
            f"n = 10, {rows} rows of {name}: maximize {1e3 * ours:.2f} ms, gradient ascent {theirs:.3f} s, "
            f"ratio {theirs / ours:.0f}, largest difference of a weight {off:.1e}"
        )
    for n in (20, 24, 30):
        data = bmlab.sample(
            bmlab.sherrington_kirkpatrick(n, rng=np.random.default_rng(n)), rows, rng=np.random.default_rng(1)
        )
        seconds = median_seconds(partial(bmlab.maximize, blank(n), data), 1 if n == 30 else 5, process_time)
        print(f"n = {n}, {rows} rows: maximize {seconds:.3g} s")


def by_regression(data, tolerance):
    """Weights (n, n) and biases (n,) of one logistic regression a unit: coefficients are twice ours."""
    weights, biases = np.zeros((data.shape[1],) * 2), np.zeros(data.shape[1])
    for i in range(len(biases)):
        others = np.arange(len(biases)) != i
        fitted = LogisticRegression(C=1e10, tol=tolerance, max_iter=10_000).fit(data[:, others], data[:, i])
        weights[i, others], biases[i] = fitted.coef_[0] / 2, fitted.intercept_[0] / 2
    return weights, biases


def largest_slope(data, weights, biases):
    """The largest component of the slope of any unit's mean log p; w_ij and w_ji apart."""
    missed = (data - np.tanh(data @ weights.T + biases)) / len(data)
    slope = data.T @ missed
    np.fill_diagonal(slope, 0.0)
    return max(np.abs(slope).max(), np.abs(missed.sum(0)).max())


def error(weights, true):
    """Frobenius norm of the error, over that of the true weights."""
    return np.linalg.norm(weights - true) / np.linalg.norm(true)


def against_regressions(rows=10_000):
    """Print times, slopes and errors of both."""
    data = bmlab.sample(GLASS, rows, rng=np.random.default_rng(1))
    ours = median_seconds(partial(bmlab.pseudolikelihood, data), 15, process_time)
    model = bmlab.pseudolikelihood(data).model
    print(
        f"n = 20, {rows} samples, T = 1: pseudolikelihood {1e3 * ours:.1f} ms, "
        f"error {error(model.weights, GLASS.weights):.4f}"
    )
    for tolerance in (1e-4, 1e-6):
        theirs = median_seconds(partial(by_regression, data, tolerance), 5, process_time)
        weights, biases = by_regression(data, tolerance)
        slope, off = largest_slope(data, weights, biases), error((weights + weights.T) / 2, GLASS.weights)
        print(
            f"    scikit-learn, tol {tolerance:g}: {1e3 * theirs:.0f} ms, largest slope {slope:.1e}, "
            f"error {off:.4f}, ratio {theirs / ours:.1f}"
        )


def main():
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    with warnings.catch_warnings(), threadpool_limits(limits=1, user_api="blas"):
        warnings.simplefilter("error", bmlab.NotConverged)
        restricted_machines(options.seeds)
        features(options.seeds)
        against_ascent()
        against_regressions()


if __name__ == "__main__":
    main()
