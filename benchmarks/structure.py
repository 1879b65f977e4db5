"""Which pairs are coupled: by L1 in pseudolikelihood, beside one logistic regression a unit of scikit-learn.

    python benchmarks/structure.py [--units 20] [--seeds 10]

Graphs in which a unit has three neighbours on average, weights of 0.2 to 0.6 of either sign; independent samples of
each.  Both choose among the same strengths of L1, by held-out rows or by EBIC (gamma 1/4); the logistic regressions
keep a pair that both units keep, and each unit chooses by itself (IsingFit: van Borkulo and others 2014, Sci. Rep. 4,
5918).  Printed: the share of found pairs that are there, of those there that are found, and F1: the mean over the
graphs and its standard error.
"""

import argparse
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

import bmlab
from bmlab.learn.penalties import EBIC_GAMMA, L1_SHARES


def graph(n, rng):
    """Return a machine whose couplings are a random graph of three neighbours a unit, on average."""
    size = np.triu(rng.uniform(0.2, 0.6, (n, n)) * rng.choice([-1, 1], (n, n)) * (rng.random((n, n)) < 3 / (n - 1)), 1)
    return bmlab.BoltzmannMachine(size + size.T, rng.uniform(-0.3, 0.3, n))


def samples(model, rows, rng):
    """Return independent rows: exact ones if the machine is small enough, else the ends of long chains."""
    if model.n <= 20:
        return bmlab.sample(model, rows, rng=rng)
    return bmlab.gibbs(model, rng=rng, n_chains=rows, burn_in=1000, n_sweeps=1).state


def by_logistic_regressions(data):
    """Return which pairs both units keep, (n, n): each unit by the L1 that has the least EBIC."""
    rows, n = data.shape
    strongest = np.abs(np.cov(data.T, ddof=0)[np.triu_indices(n, 1)]).max()
    kept = np.zeros((n, n), bool)
    for i in range(n):
        others, lowest = np.delete(np.arange(n), i), np.inf
        for l1 in strongest * L1_SHARES:  # a weight w of ours is 2 w there, and l1 is a row's
            unit = LogisticRegression(l1_ratio=1, C=1 / (rows * l1), solver="saga", tol=1e-5, max_iter=5000)
            unit.fit(data[:, others], data[:, i])
            log_p = unit.predict_log_proba(data[:, others])[np.arange(rows), (data[:, i] > 0).astype(int)].sum()
            count = np.count_nonzero(unit.coef_)
            ebic = -2 * log_p + count * (np.log(rows) + 2 * EBIC_GAMMA * np.log(n - 1))
            if ebic < lowest:
                lowest, kept[i, others] = ebic, unit.coef_[0] != 0
    return kept & kept.T


def recovered(found, true):
    """Return (precision, recall, F1) of the pairs that were found."""
    found, true = (np.triu(x, 1) for x in (found, true))
    right = (found & true).sum()
    return right / max(found.sum(), 1), right / true.sum(), 2 * right / (found.sum() + true.sum())


def trial(n, rows, seed):
    """Return {method: (precision, recall, F1)} on one graph."""
    rng = np.random.default_rng([seed, n, rows])
    model = graph(n, rng)
    data = samples(model, rows, rng)
    path = bmlab.penalty_path(data, rng=rng, of="l1")
    found = {
        "l1, held out": path.best.model.weights != 0,
        "l1, EBIC": path.fits[path.ebic.argmin()].model.weights != 0,
        "scikit-learn, EBIC": by_logistic_regressions(data),
    }
    return {name: recovered(pairs, model.weights != 0) for name, pairs in found.items()}


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--units", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{options.units} units, {options.seeds} graphs      precision       recall          F1")
    for rows in (250, 1000, 4000):
        trials = [trial(options.units, rows, seed) for seed in range(options.seeds)]
        for name in trials[0]:
            each = np.array([found[name] for found in trials])
            stderr = each.std(0, ddof=1) / np.sqrt(len(each))
            print(
                f"{rows:5} rows  {name:20}", *(f"{m:6.3f} ± {s:.3f}" for m, s in zip(each.mean(0), stderr, strict=True))
            )


if __name__ == "__main__":
    main()
