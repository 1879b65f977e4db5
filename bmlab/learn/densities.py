"""Densities of patterns: a visible machine from data, its log Z, and samples, whatever its size.

The weights maximise the sum over the patterns of sum_i log p(s_i | the rest), less alpha * sum_{i<j} w_ij^2, which has
its maximum at a finite place (Besag 1975; the penalty is a normal prior).  log Z is a sum over the states where that is
cheap, and else comes from annealed importance sampling, whose runs, chosen by their weights, are samples as well.
"""

import numpy as np
from scipy.special import log_softmax

from ..bars import watched
from ..estimate import Estimate, LogZ
from ..infer.annealing import ais
from ..infer.chains import Chains
from ..infer.enumeration import exact
from ..infer.perfect_sampling import sample
from ..infer.planning import plan
from ..model import BoltzmannMachine
from ..threads import one_thread
from .maximum_pseudolikelihood import climb

WORK, BYTES = 1e10, 2**30       # exact where it costs less: about a second
RUNS, LADDER = 200, 300         # of ais() where it costs more: for 64 pixels 0.2 s, and an error of 0.03
SWEEPS = 20                     # that samples take from where an annealing run has left them
PRIOR = 2                       # pseudo-patterns, one of each sign: the rule of Laplace keeps the biases finite


def independent(sums, count) -> np.ndarray:
    """Return the biases of units without couplings, from their sums over `count` patterns, by the rule of Laplace."""
    return np.arctanh(sums / (count + PRIOR))


def penalised(patterns, counts, alpha) -> BoltzmannMachine:
    """Return the machine (T = 1) of patterns (K, n), -1/+1, seen `counts` times each; constant units stay alone."""
    sums, total = counts @ patterns, counts.sum()
    biases, weights = independent(sums, total), np.zeros((len(sums), len(sums)))
    varies = np.abs(sums) < total
    if varies.any():
        with one_thread():
            found = climb(patterns[:, varies].astype(float), counts / total, alpha / total,
                          ~np.eye(varies.sum(), dtype=bool))
        biases[varies], weights[np.ix_(varies, varies)] = found.biases, found.weights
    return BoltzmannMachine(weights, biases)


def normalisation(model, rng) -> tuple[LogZ, Estimate | None]:
    """Return log Z, and the annealing runs that it comes from; None where it is exact."""
    price = plan(model)
    if price.work < WORK and price.bytes < BYTES:
        return exact(model).log_z, None
    runs = ais(model, rng=rng, n_chains=RUNS, n_temperatures=LADDER)
    return runs.log_z, runs


def draw(model, size, rng, runs) -> np.ndarray:
    """Return states (size, n): perfect samples, or annealing runs picked by their weights and then moved on."""
    if runs is None:
        return sample(model, size, rng)
    share = np.exp(log_softmax(runs.info["log_weights"]))
    chains = Chains(model, runs.state[rng.choice(len(share), size, p=share)].T, rng)
    with one_thread():
        for _ in watched(range(SWEEPS), "sweep"):
            chains.sweep()
    return chains.s.T
