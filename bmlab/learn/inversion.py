"""Inverse Ising problem in closed form: mean field, TAP or Bethe inverted once.

By linear response, the inverse of the covariance C of a machine is the curvature of its free energy at its means m;
off the diagonal, with J = W/T and v_i = 1 - m_i^2 (sources in infer/),

    mean field   (C^-1)_ij = -J_ij
    TAP          (C^-1)_ij = -J_ij - 2 J_ij^2 m_i m_j
    Bethe        (C^-1)_ij = -c_ij / (v_i v_j - c_ij^2),       c_ij the covariance in the pair's own beliefs.

Insert C and m of the data, solve each pair for J_ij, and compute the biases from the equation for the means, T = 1.
The diagonal of C^-1 is not used, so it serves as a check: the theory's linear response of the machine found, at the
means of the data, must be consistent (linear_response.MAX_INCONSISTENCY).

    mean field   b_i = atanh m_i - sum_j w_ij m_j
    TAP          b_i = atanh m_i - sum_j w_ij m_j + m_i sum_j w_ij^2 v_j
    Bethe        b_i = atanh m_i - sum_j u_ji,                 u_ji the message from j to i in the beliefs.

Mean field (Kappen and Rodriguez 1998, Neural Computation 10, 1137) is right to first order in the couplings, TAP
(Tanaka 1998, Phys. Rev. E 58, 2302) to second, and Bethe (Nguyen and Berg 2012, J. Stat. Mech. P03004;
Ricci-Tersenghi 2012, J. Stat. Mech. P08015) to second and exact on trees.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..checking.arrays import first_smallest, names_of, symmetric, unit_name
from ..checking.calls import show_call
from ..checking.validation import ArrayLike, check_share
from ..estimate import Estimate, dense_corr, warn_unless_converged
from ..infer.variational import naive_mean_field, tap_equations
from ..infer.variational.belief_propagation import bethe_response, graph_of
from ..infer.variational.linear_response import linear_response
from ..model import BoltzmannMachine
from .misfit import PairsAndUnits, misfit, moments_of_data, moments_of_machine
from .observations import ZERO_PROBABILITY, check_complete_rows, check_each_varies
from .record import Fit


@show_call()
def invert_mean_field(data: ArrayLike | Estimate, *, noise: float = 0.0) -> Fit:
    """Find the machine whose linear response is the covariance of the data: (N, n) of -1/+1, or moments().

    noise   0 <= noise < 1/2: treat the data as if each value had been flipped with this probability, in closed form:
            means shrink by 1 - 2 noise, correlations by its square
    converged   whether mean field's linear response of the machine, at the means of the data, is that of a minimum and
            consistent (an inconsistency of at most linear_response.MAX_INCONSISTENCY, 1/2).  If couplings are strong,
            it is not, and the weights may be wrong by any factor
    Raises ValueError if a unit is constant or the covariance is singular: add noise.

    >>> data = np.repeat([[1, 1], [-1, -1], [1, -1], [-1, 1]], [7, 7, 3, 3], axis=0)  # they agree 7 times in 10
    >>> bmlab.invert_mean_field(data).model.weights.round(2)  # -C^-1, where arctanh(0.4) = 0.42 is true
    array([[0.  , 0.48],
           [0.48, 0.  ]])
    """
    mean, corr = _moments(data, noise)
    weights, curvature = negative_inverse(mean, corr, names_of(data))
    diagonal = 1 / (1 - mean**2) - curvature  # w_ii, the coupling of a unit to itself
    biases = np.arctanh(mean) - weights @ mean - diagonal * mean
    machine = BoltzmannMachine(weights, biases)
    found = linear_response(machine, mean, *naive_mean_field.curvature(machine, mean))
    return warn_unless_converged(_solved("invert_mean_field", machine, data, noise, found.doubt))


@show_call()
def invert_tap(data: ArrayLike | Estimate, *, noise: float = 0.0) -> Fit:
    """Find the machine with the TAP means of the data (N, n), and with their C^-1 off the diagonal.

    noise, converged   as in invert_mean_field(); so are the errors
    Of two roots w_ij it takes the one that vanishes with (C^-1)_ij.  If 8 m_i m_j (C^-1)_ij > 1, there is no root:
    the covariance is larger than TAP can explain at these means; then w_ij = -1 / (4 m_i m_j), the nearest value, and
    converged is False.

    >>> data = np.repeat([[1, 1], [-1, -1], [1, -1], [-1, 1]], [7, 7, 3, 3], axis=0)  # they agree 7 times in 10
    >>> bmlab.invert_tap(data).model.weights.round(2)  # without magnetisation, mean field's
    array([[0.  , 0.48],
           [0.48, 0.  ]])
    """
    mean, corr = _moments(data, noise)
    off_diagonal, _ = negative_inverse(mean, corr, names_of(data))
    product = np.outer(mean, mean)
    square = 1 + 8 * product * off_diagonal  # w + 2 m_i m_j w^2 = -(C^-1)_ij
    weights = 2 * off_diagonal / (1 + np.sqrt(np.maximum(square, 0)))
    np.divide(-1, 4 * product, out=weights, where=square < 0)
    biases = np.arctanh(mean) - weights @ mean + mean * (weights**2 @ (1 - mean**2))
    machine = BoltzmannMachine(weights, biases)
    doubt = linear_response(machine, mean, *tap_equations.curvature(machine, mean)).doubt
    if (square < 0).any():
        i, j = np.unravel_index(first_smallest(square), square.shape)
        doubt = f"explains less of the covariance of units {i} and {j} than the data have"
    return warn_unless_converged(_solved("invert_tap", machine, data, noise, doubt))


@show_call()
def invert_bethe(data: ArrayLike | Estimate, *, noise: float = 0.0) -> Fit:
    """Find the machine with the Bethe means of the data (N, n), and with their C^-1 off the diagonal.

    noise, converged   as in invert_mean_field(); here the pairs must agree with their beliefs as well, see bethe()
    Exact up to the noise of the data if the couplings form a tree.  With strong couplings `converged` may still be
    False: a pair that only noise couples is correlated through other units, which its own beliefs do not include.
    Raises ValueError as invert_mean_field() does, and if no beliefs of a pair fit its means and (C^-1)_ij.

    >>> data = np.repeat([[1, 1], [-1, -1], [1, -1], [-1, 1]], [3, 3, 1, 1], axis=0)  # they agree 3 times in 4
    >>> bmlab.invert_bethe(data).model.weights.round(2)  # arctanh(1/2): a pair is a tree
    array([[0.  , 0.55],
           [0.55, 0.  ]])
    """
    mean, corr = _moments(data, noise)
    a, _ = negative_inverse(mean, corr, names_of(data))
    v = np.outer(1 - mean**2, 1 - mean**2)
    c = 2 * a * v / (1 + np.sqrt(1 + 4 * a**2 * v))  # a c^2 + c - a v = 0
    weights, field, p = _from_beliefs(mean, c + np.outer(mean, mean), names_of(data))
    messages = np.arctanh(mean)[:, None] - field
    np.fill_diagonal(messages, 0.0)
    machine = BoltzmannMachine(symmetric(weights), np.arctanh(mean) - messages.sum(1))
    graph = graph_of(machine)
    found = bethe_response(machine, graph, mean, p[:, graph.row, graph.col])
    return warn_unless_converged(_solved("invert_bethe", machine, data, noise, found.doubt))


def _solved(name, machine, data, noise, doubt):
    """Return the fit, compared with its target, the moments of the data after noise."""
    message = f"{name}() solved its equations in closed form"
    if doubt:
        message = f"{name}() solved its equations, but the machine {doubt}; use pseudolikelihood() or maximize()."
    found = Fit(replace(machine, names=names_of(data)), not doubt, message)
    pairs, kept = np.triu_indices(machine.n, 1), 1 - 2 * noise
    target, error = moments_of_data(data, pairs)
    target, error = (PairsAndUnits(kept**2 * x.pairs, kept * x.units) for x in (target, error))
    rows = None if isinstance(data, Estimate) else check_complete_rows(data, allow_constant=True)
    return found.compared(misfit(machine, target, error, pairs, moments_of_machine(machine, rows)))


def _from_beliefs(mean, corr, names):
    """Return J_ij, the field of i without j, and p (4, n, n): beliefs are exp(J s_i s_j + x_ij s_i + x_ji s_j)/z."""
    one, other = mean[:, None], mean[None]
    p = np.array([1 + one + other + corr, 1 + one - other - corr, 1 - one + other - corr, 1 - one - other + corr]) / 4
    if p.min() < ZERO_PROBABILITY:
        one, other = (unit_name(names, unit) for unit in np.unravel_index(first_smallest(p.min(0)), corr.shape))
        raise ValueError(
            f"Bethe has no beliefs for units {one} and {other} (a probability would be {p.min():.2g}); "
            "pass more noise, say noise=0.1, or use invert_tap()"
        )
    a, b, c, d = np.log(p) / 4
    return a - b - c + d, a + b - c - d, p


def negative_inverse(mean: np.ndarray, corr: np.ndarray, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return -C^-1 without its diagonal (n, n), symmetric, and the diagonal of C^-1 (n,)."""
    check_each_varies(mean, names, "pass noise=0.1, or leave the unit out")
    covariance = corr - np.outer(mean, mean)
    rank = np.linalg.matrix_rank(covariance, hermitian=True)
    if rank < len(mean):
        raise ValueError(f"the covariance of {len(mean)} units is singular (rank {rank}); pass noise=0.1")
    inverse = np.linalg.inv(covariance)
    return symmetric(-inverse), np.diag(inverse)


def _moments(data, noise):
    kept = 1 - 2 * check_share("noise", noise, 0.5)
    if isinstance(data, Estimate):
        mean, corr = data.mean, dense_corr(data.corr)
    else:
        data = check_complete_rows(data, allow_constant=noise > 0)
        mean, corr = data.mean(0), data.T @ data / len(data)
    corr = kept**2 * corr
    np.fill_diagonal(corr, 1.0)
    return kept * mean, corr
