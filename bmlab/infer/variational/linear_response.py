"""Linear response (fluctuation-response): correlations from the curvature of a free energy.

    <s_i s_j> - <s_i><s_j> = T d<s_i> / db_j                        (exact for the machine itself)

If the means m are the minimum of a free energy G(m), in units of T, this is the inverse of its curvature:

    C = A^-1,      A_ij = d2 G / dm_i dm_j

(Kappen and Rodriguez 1998, Neural Computation 10, 1137; Welling and Teh 2003, Artificial Intelligence 143, 19).  An
exact C has C_ii = 1 - m_i^2.  The inconsistency is the largest ratio of the two, the larger over the smaller, minus 1:
1/2 if a variance is 3/2 or 2/3 of 1 - m_i^2.  Above MAX_INCONSISTENCY an approximation contradicts itself, and counts
as not converged.

Curvatures are written in units of r_i = sqrt(1 - m_i^2), which keeps saturated units finite:

    r_i A_ij r_j = diagonal_i for i = j,  -off_diagonal_ij for i != j.

If pairs are nearly locked, both are huge and their difference loses all digits.  On trees Bethe's curvature needs no
difference: see TreeBranches.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from ...estimate import coupled_pairs
from ...model import BoltzmannMachine
from ...running.compiling import import_once, loops_pay
from .selected_inversion import factorize, is_positive_definite, selected_inverse

MAX_INCONSISTENCY = 0.5  # of mean field on glasses: beyond it the moments are off by 0.06 and more (notebook 04)
FEW_UNITS = 64  # whose whole inverse takes less than 0.1 ms; SciPy's linear algebra is imported in 150
CORRELATION_ROUNDING = 1e-9  # rounding may take a correlation beyond 1 by this


class Response(NamedTuple):
    """Correlations by linear response, and whether they can be trusted.

    pairs          <s_i s_j>, laid out as pair_sums(); nan if the curvature is singular
    stable         whether the point is a minimum of G; at a saddle the response has no meaning
    inconsistency  largest ratio of C_ii and 1 - m_i^2, minus 1: 0 if exact, infinite if a variance is not positive
    """

    pairs: np.ndarray
    stable: bool
    inconsistency: float

    @property
    def doubt(self) -> str:
        """The fault of the response, as part of a sentence; "" if there is none."""
        if not self.stable:
            return "stands at a saddle of its free energy, where its correlations mean nothing"
        most = float(max(self.pairs.max(initial=0), -self.pairs.min(initial=0)))
        if most > 1 + CORRELATION_ROUNDING:
            return f"has a correlation of {most:.4g}, beyond [-1, 1]: linear response has failed"
        if not self.inconsistency <= MAX_INCONSISTENCY:
            return (
                f"has an inconsistency of {self.inconsistency:.3g}, above {MAX_INCONSISTENCY:g}: it contradicts itself"
            )
        return ""


class TreeBranches(NamedTuple):
    """The tree branches of a machine: leaf (k,), each before its parent (k,), and rho (k,) of the two.

    Removing a leaf l subtracts from its parent's `diagonal` exactly the term of their coupling.  So the curvature of
    the other units is that without the branches, and with N = r^-1 C r^-1, without subtraction of large numbers,

        N_li = rho_l N_pi for i not in the branch of l,     N_ll = 1 - rho_l^2 + rho_l^2 N_pp.

    conditional_variance (n,)   1 - rho^2 of the leaves; 1 elsewhere
    """

    leaf: np.ndarray
    parent: np.ndarray
    rho: np.ndarray
    conditional_variance: np.ndarray

    def solve_leaves(self, columns: np.ndarray, inverse: Callable) -> np.ndarray:
        """Return N x for columns x (n, k), given the inverse of the curvature without the branches."""
        if not len(self.leaf):
            return inverse(columns)
        n = len(self.conditional_variance)
        ones = scipy.sparse.eye_array(n, format="csc")
        steps = factorize((ones - scipy.sparse.csc_array((self.rho, (self.parent, self.leaf)), shape=(n, n))).tocsc())
        assert steps is not None, "a triangle with ones on its diagonal has an inverse"
        return steps.solve(self.conditional_variance[:, None] * inverse(steps.solve(columns)), trans="T")

    def put_back(
        self, row: np.ndarray, col: np.ndarray, at_couplings: np.ndarray, diagonal: np.ndarray, inverse: Callable
    ) -> None:
        """Write N at the leaves' couplings (row, col) and on their diagonal, given N of the others, and its inverse."""
        n = len(diagonal)
        parent = np.full(n, -1)
        parent[self.leaf] = self.parent
        for leaf, above, rho in zip(self.leaf[::-1], self.parent[::-1], self.rho[::-1], strict=True):
            diagonal[leaf] = self.conditional_variance[leaf] + rho**2 * diagonal[above]
        rho = np.zeros(n)
        rho[self.leaf] = self.rho
        up, down = parent[row] == col, parent[col] == row
        at_couplings[up] = (rho[row] * diagonal[col])[up]
        at_couplings[down] = (rho[col] * diagonal[row])[down]
        others = np.flatnonzero(((parent[row] >= 0) | (parent[col] >= 0)) & ~(up | down))  # stored zeros
        for k in np.unique(col[others]):
            here = others[col[others] == k]
            at_couplings[here] = self.solve_leaves(np.eye(n, 1, -k), inverse)[row[here], 0]


def couplings(model: BoltzmannMachine) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (J, i, j) with J = W/T and indices such that x[i] * x[j] has the shape of J: (n, n), or (couplings,)."""
    if model.is_sparse:
        return model.weights.data / model.temperature, *coupled_pairs(model)
    unit = np.arange(model.n)
    return model.weights / model.temperature, unit[:, None], unit[None]


def row_sums(model: BoltzmannMachine, values: np.ndarray) -> np.ndarray:
    """Sum numbers laid out like J over the partners of each unit: (n,)."""
    return np.bincount(coupled_pairs(model)[0], values, model.n) if model.is_sparse else values.sum(1)


def linear_response(
    model: BoltzmannMachine,
    m: np.ndarray,
    diagonal: np.ndarray,
    off_diagonal: np.ndarray,
    branches: TreeBranches | None = None,
) -> Response:
    """Return the Response of a free energy with this curvature at means m: diagonal (n,), off_diagonal like J.

    With branches, both arrays are for the other units only.
    """
    matrix = curvature_matrix(model, diagonal, off_diagonal)
    with np.errstate(over="ignore", invalid="ignore"):  # units so tied that 1 - rho^2 underflows: nan, unstable
        inverse = _inverse_at_couplings(model, matrix, branches) if model.is_sparse else _inverse(matrix, branches)
        if inverse is None:
            return Response(np.full_like(off_diagonal, np.nan), False, np.nan)
        at_couplings, variances, stable = inverse
        pairs = _pairs(model, m, at_couplings, is_half=stable and not (model.is_sparse or branches))
    known = np.isfinite(pairs)
    is_known = bool(known.all())
    if not is_known:
        pairs[~known] = np.nan
    if not model.is_sparse:
        np.fill_diagonal(pairs, 1.0)
    return Response(pairs, stable and is_known, inconsistency_of(variances))


def _pairs(model, m, inverse, is_half):
    """Return r_i r_j (r A r)^-1_ij + m_i m_j, laid out like J; is_half: the inverse has its lower triangle only."""
    root = np.sqrt(1 - m**2)
    if is_half and len(m) > 1 and loops_pay():  # an array of one number is compiled for anew
        return import_once(".compiled_loops", __package__).pairs_of_half(inverse, root, m)
    _, i, j = couplings(model)
    return root[i] * root[j] * (_whole(inverse) if is_half else inverse) + m[i] * m[j]


def inconsistency_of(variances: np.ndarray) -> float:
    """Return the largest ratio of 1 and variances (n,), in units of 1 - m^2, minus 1; infinite if one is <= 0."""
    least, most = float(variances.min(initial=1.0)), float(variances.max(initial=1.0))
    return max(most, 1 / least) - 1 if least > 0 else np.inf


def positive_solver(model: BoltzmannMachine, diagonal: np.ndarray, off_diagonal: np.ndarray) -> Callable | None:
    """Return a function x -> (r A r)^-1 x; None if the curvature is not positive definite."""
    curvature = curvature_matrix(model, diagonal, off_diagonal)
    if not model.is_sparse:
        factor = _cholesky(curvature)
        if factor is not None and len(factor) <= FEW_UNITS:
            return partial(np.linalg.solve, curvature)
        return None if factor is None else lambda x: scipy.linalg.lapack.dpotrs(factor, x, lower=1)[0]
    factor = factorize(curvature)
    return factor.solve if factor and is_positive_definite(factor) else None


def curvature_matrix(model: BoltzmannMachine, diagonal: np.ndarray, off_diagonal: np.ndarray) -> Any:
    """Return r A r as a matrix, dense or sparse like the weights."""
    if not model.is_sparse:
        matrix = -off_diagonal
        matrix.ravel()[:: model.n + 1] += diagonal
        return matrix
    w = model.weights
    return (
        scipy.sparse.diags_array(np.asarray(diagonal, float))
        - scipy.sparse.csr_array((off_diagonal, w.indices, w.indptr), shape=w.shape)
    ).tocsc()


def _inverse_at_couplings(model, curvature, branches):
    """Return (the inverse at the couplings, its diagonal, whether it is positive definite), or None."""
    factor = factorize(curvature)
    if factor is None:
        return None
    row, col = coupled_pairs(model)
    at_couplings, diagonal = selected_inverse(factor, row, col)
    if branches:
        branches.put_back(row, col, at_couplings, diagonal, factor.solve)
    return at_couplings, diagonal, is_positive_definite(factor)


def _inverse(curvature, branches):
    """Return (the inverse, its diagonal, whether it is positive definite); None if the curvature is singular.

    If it is positive definite, and without branches, the inverse has its lower triangle only, and zeros above.
    """
    factor = _cholesky(curvature)
    try:
        inverse = rest = np.linalg.inv(curvature) if factor is None else _half_of_inverse(curvature, factor)
    except np.linalg.LinAlgError:
        return None
    if branches:
        rest = rest if factor is None else _whole(rest)
        inverse = branches.solve_leaves(np.eye(len(rest)), lambda columns: rest @ columns)
    return inverse, inverse.diagonal(), factor is not None


def _half_of_inverse(matrix, factor):
    """Return the lower triangle of the inverse, zeros above, from Cholesky's factor, which halves the work.

    Of a few units it is cut out of the whole inverse: that needs no import of SciPy's linear algebra.
    """
    if len(matrix) <= FEW_UNITS:
        return np.triu(np.linalg.inv(matrix)).T  # laid out in memory as SciPy's
    return scipy.linalg.lapack.dpotri(factor, lower=1)[0]


def _whole(half):
    """Return a symmetric matrix from its lower triangle, zeros above."""
    whole = half + half.T
    np.fill_diagonal(whole, half.diagonal())
    return whole


def _cholesky(matrix):
    """Return the lower factor of a symmetric matrix (n, n), zeros above; None if it is not positive definite."""
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return None
