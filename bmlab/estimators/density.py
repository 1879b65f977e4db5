"""Densities of patterns: a visible machine from data, its log Z, and samples, whatever its size.

The weights maximise the sum over the patterns of sum_i log p(s_i | the rest), less alpha * sum_{i<j} w_ij^2, which has
its maximum at a finite place (Besag 1975; the penalty is a normal prior).  log Z is a sum over the states where that is
cheap, and else comes from annealed importance sampling, whose runs, chosen by their weights, are samples as well.
"""

from typing import Any, Self

import numpy as np
import scipy
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from ..estimate import Bounded, Estimate, warned
from ..infer.exact.enumeration import exact
from ..infer.exact.exact_sampling import sample
from ..infer.exact.planning import plan
from ..infer.sampling.annealed_importance import ais
from ..infer.sampling.chains import Chains
from ..learn.observations import distinct
from ..learn.pseudolikelihood import best_predicting
from ..model import BoltzmannMachine
from ..progress_bars import watched
from ..threads import one_thread
from .binary_features import Binary, generator

WORK, BYTES = 1e10, 2**30  # exact where it costs less: about a second
RUNS, TEMPERATURES = 200, 300  # of ais() where it costs more: for 64 pixels 0.2 s, and an error of 0.03
SWEEPS = 20  # that samples take from where an annealing run has left them
PRIOR = 2  # pseudo-patterns, one of each sign: the rule of Laplace keeps the biases finite


class BoltzmannDensity(Binary, DensityMixin, BaseEstimator):
    """Estimate the probability of binary patterns by a Boltzmann machine without hidden units.

    alpha           L2 penalty: the weights maximise the sum over the patterns of sum_i log p(x_i | the others), less
                    alpha * sum_{i<j} w_ij^2 (in -1/+1 units): more data, less shrinkage
    binarize        values above are on
    random_state    used in fit where log Z must be estimated

    model_                      the BoltzmannMachine; a feature that never varied has no weights there
    log_z_, log_z_stderr_       its normalisation: exact (stderr 0) up to 30 features or so, else by annealing runs

    >>> from bmlab.estimators import BoltzmannDensity
    >>> density = BoltzmannDensity().fit([[0, 0], [1, 1], [1, 1], [0, 1]])
    >>> np.exp(density.score_samples([[0, 0], [0, 1], [1, 0], [1, 1]])).sum().round(9)
    np.float64(1.0)
    """

    def __init__(self, alpha: float = 5.0, *, binarize: float = 0.0, random_state: Any = None):
        self.alpha, self.binarize, self.random_state = alpha, binarize, random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from X (n_samples, n_features) alone."""
        s = self._read(X, learn=True)
        patterns, counts = distinct(s, np.ones(len(s)))
        self.model_ = penalised(patterns, counts, self.alpha, tuple(getattr(self, "feature_names_in_", ())))
        log_z, self._runs = normalisation(self.model_, generator(self.random_state))
        self.log_z_, self.log_z_stderr_ = log_z.value, log_z.stderr
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """Return log p(x) of each row, in nats."""
        check_is_fitted(self)
        return -self.model_.energy(self._read(X)) - self.log_z_

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw patterns (n_samples, n_features), 0/1 or -1/+1 as the data was.

        Independent samples of p(x) itself where log Z is exact; else they come from annealing runs, chosen by weight.
        """
        check_is_fitted(self)
        return self._written(draw(self.model_, n_samples, generator(random_state), self._runs))


def independent(sums: np.ndarray, count: int) -> np.ndarray:
    """Return the biases of units without couplings, from their sums over `count` patterns, by the rule of Laplace."""
    return np.arctanh(sums / (count + PRIOR))


def penalised(patterns: np.ndarray, counts: np.ndarray, alpha: float, names: tuple = ()) -> BoltzmannMachine:
    """Return the machine (T = 1) of patterns (K, n), -1/+1, seen `counts` times each; constant units stay alone."""
    sums, total = counts @ patterns, counts.sum()
    biases, weights = independent(sums, total), np.zeros((len(sums), len(sums)))
    varies = np.abs(sums) < total
    if varies.any():
        with one_thread():
            every_pair = ~np.eye(varies.sum(), dtype=bool)
            found = best_predicting(patterns[:, varies], counts / total, alpha / total, every_pair)
        machine = warned(found, stacklevel=5).model
        biases[varies], weights[np.ix_(varies, varies)] = machine.biases, machine.weights
    return BoltzmannMachine(weights, biases, names=names)


def normalisation(model: BoltzmannMachine, rng: np.random.Generator) -> tuple[Bounded, Estimate | None]:
    """Return log Z, and the annealing runs that it comes from; None where it is exact."""
    price = plan(model, pairs="couplings")
    if price.work < WORK and price.bytes < BYTES:
        return exact(model, pairs="couplings").log_z, None
    runs = ais(model, rng=rng, n_chains=RUNS, n_temperatures=TEMPERATURES)
    return runs.log_z, runs


def draw(model: BoltzmannMachine, size: int, rng: np.random.Generator, runs: Estimate | None) -> np.ndarray:
    """Return states (size, n): perfect samples, or annealing runs picked by their weights and then moved on."""
    if runs is None:
        return sample(model, size, rng)
    share = np.exp(scipy.special.log_softmax(runs.state.log_weights))
    chains = Chains(model, runs.state.s[rng.choice(len(share), size, p=share)].T, rng)
    with one_thread():
        for _ in watched(range(SWEEPS), "sweep"):
            chains.sweep()
    return chains.s.T
