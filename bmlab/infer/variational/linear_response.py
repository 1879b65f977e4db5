"""Linear response: shake one unit by a small bias and watch the mean of another.

    <s_i s_j> - <s_i><s_j> = T d<s_i> / db_j,                   which is exact for the machine itself

Where means m are the minimum of a free energy G(m), in units of T, the shaken minimum moves by the inverse of its
curvature:

    C = A^-1,      A_ij = d2 G / dm_i dm_j.

So a theory without correlations predicts them all the same (Kappen and Rodriguez 1998, Neural Computation 10, 1137;
Welling and Teh 2003, Artificial Intelligence 143, 19).  It can be held against itself: C_ii should be 1 - m_i^2.

Everything here is written in units of the spreads r_i = sqrt(1 - m_i^2), so that saturated units do no harm:

    r_i A_ij r_j = own_i for i = j,  -pull_ij for i != j.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import splu

from ...estimate import coupled_pairs
from ...progress_bars import watched


class Response(NamedTuple):
    """Hold what linear response says.

    pairs          <s_i s_j>, laid out as pair_sums(); nan where the curvature is singular
    stable         whether the point is a minimum of G; at a saddle the response means nothing
    inconsistency  largest |C_ii / (1 - m_i^2) - 1|; 0 where the theory is exact
    """

    pairs: np.ndarray
    stable: bool
    inconsistency: float


def couplings(model):
    """Return (J, i, j) with J = W/T and indices such that x[i] * x[j] has the shape of J: (n, n), or (couplings,)."""
    if model.is_sparse:
        return model.weights.data / model.temperature, *coupled_pairs(model)
    unit = np.arange(model.n)
    return model.weights / model.temperature, unit[:, None], unit[None]


def row_sums(model, values):
    """Sum numbers laid out like J over the partners of each unit: (n,)."""
    if not model.is_sparse:
        return values.sum(1)
    return np.bincount(coupled_pairs(model)[0], values, model.n)


def curvature_matrix(model, own, pull):
    """Return r A r as a matrix, dense or sparse like the weights."""
    if not model.is_sparse:
        return np.diag(own) - pull
    w = model.weights
    return (sparse.diags_array(own) - sparse.csr_array((pull, w.indices, w.indptr), shape=w.shape)).tocsc()


def respond(model, m, own, pull) -> Response:
    """Return the Response of a theory with this curvature; own (n,), pull laid out like J."""
    inverse = (_sparse_inverse if model.is_sparse else _inverse)(model, curvature_matrix(model, own, pull))
    if inverse is None:
        return Response(np.full_like(pull, np.nan), False, np.nan)
    at_couplings, diagonal, stable = inverse
    _, i, j = couplings(model)
    root = np.sqrt(1 - m**2)
    return Response(root[i] * root[j] * at_couplings + m[i] * m[j], stable, float(np.abs(diagonal - 1).max(initial=0)))


def _inverse(model, curvature):
    """Return (the inverse, its diagonal, whether it is positive definite); None where there is none."""
    try:
        inverse = np.linalg.inv(curvature)
    except np.linalg.LinAlgError:
        return None
    return inverse, np.diag(inverse), _cholesky(curvature) is not None


def positive_solver(model, own, pull):
    """Return a function x -> (r A r)^-1 x; None where the curvature is not positive definite."""
    curvature = curvature_matrix(model, own, pull)
    if not model.is_sparse:
        factor = _cholesky(curvature)
        return factor and partial(cho_solve, factor)
    factor = _sparse_factor(curvature)
    return factor.solve if factor and (factor.U.diagonal() > 0).all() else None


def _cholesky(matrix):
    try:
        return cho_factor(matrix)
    except np.linalg.LinAlgError:
        return None


def _sparse_factor(curvature):
    """LU without pivoting, so that its diagonal has as many signs as the curvature; None where it is singular."""
    try:
        return splu(curvature, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:
        return None


def _sparse_inverse(model, curvature, columns=256):
    """The same on the couplings alone: a few columns at a time, and the whole inverse is never held."""
    factor = _sparse_factor(curvature)
    if factor is None:
        return None
    row, col = coupled_pairs(model)
    at_couplings, diagonal = np.empty(len(row)), np.empty(model.n)
    for begin in watched(range(0, model.n, columns), "block"):
        inverse = factor.solve(np.eye(model.n, min(columns, model.n - begin), -begin))
        here = (begin <= col) & (col < begin + columns)
        at_couplings[here] = inverse[row[here], col[here] - begin]
        diagonal[begin : begin + columns] = np.diag(inverse[begin:])
    return at_couplings, diagonal, bool((factor.U.diagonal() > 0).all())
