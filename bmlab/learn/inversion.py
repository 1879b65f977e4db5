"""Learning without a loop: invert the mean-field equations once.

Linear response says C^-1 = diag(1/(1 - m^2)) - W/T for the covariance C and means m of a machine.  Put the data's
own C and m in, and read off the machine (Kappen and Rodriguez 1998, Neural Computation 10, 1137), T = 1:

    W = diag(1/(1 - m^2)) - C^-1,        b = atanh(m) - W m.

Right to first order in the couplings; where they are strong, or the data few, it is a place to start from.
"""

import numpy as np

from ..arrays import check_spins
from ..model import BoltzmannMachine


def invert_mean_field(data, *, noise: float = 0.0, pseudocount: float = 0.0, diagonal: bool = True) -> BoltzmannMachine:
    """Return the machine whose linear response is the covariance of the data (N, n), -1/+1.

    noise        0 <= noise < 1/2: as if each value had been flipped with this probability, in closed form:
                 means shrink by 1 - 2 noise, correlations by its square
    pseudocount  as if so many patterns of random units had been added to the N
    diagonal     whether w_ii m_i, a unit's pull on itself, counts in b (the authors' form) or is left out
    Raises ValueError where a unit is constant or the covariance singular: add noise or a pseudo-count.
    """
    mean, corr = _moments(np.atleast_2d(check_spins(data)), noise, pseudocount)
    _refuse_constant(mean)
    covariance = corr - np.outer(mean, mean)
    if np.linalg.matrix_rank(covariance, hermitian=True) < len(mean):
        raise ValueError(f"the covariance of {len(mean)} units is singular (rank "
                         f"{np.linalg.matrix_rank(covariance, hermitian=True)}); pass noise=0.1 or pseudocount=1")
    weights = np.diag(1 / (1 - mean**2)) - np.linalg.inv(covariance)
    weights = (weights + weights.T) / 2
    own = np.diag(weights).copy()
    np.fill_diagonal(weights, 0.0)
    biases = np.arctanh(mean) - weights @ mean - (own * mean if diagonal else 0.0)
    return BoltzmannMachine(weights, biases)


def _moments(data, noise, pseudocount):
    if not 0 <= noise < 0.5 or pseudocount < 0:
        raise ValueError(f"need 0 <= noise < 0.5 and pseudocount >= 0, found {noise} and {pseudocount}; try noise=0.1")
    share = len(data) / (len(data) + pseudocount)
    corr = share * (1 - 2 * noise) ** 2 * data.T @ data / len(data)
    np.fill_diagonal(corr, 1.0)
    return share * (1 - 2 * noise) * data.mean(0), corr


def _refuse_constant(mean):
    constant = np.flatnonzero(np.abs(mean) == 1)
    if len(constant):
        raise ValueError(f"unit {constant[0]} is constant in the data ({len(constant)} such units), so its bias would "
                         "be infinite; pass noise=0.1 or pseudocount=1, or leave the unit out")
