"""What every method answers: means <s_i>, correlations <s_i s_j> and log Z, each with how sure it is.

A method is a callable  model -> Estimate.  What it does not know is nan, never a guess.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .html_repr import estimate_card
from .model import BoltzmannMachine


class LogZ(NamedTuple):
    """Hold log Z: a value with its noise, and an interval that is proof.

    value   best single number; nan where the method gives none
    stderr  standard error from sampling; 0 where nothing was sampled (it says nothing of bias)
    lower, upper   proven bounds; equal where the answer is exact, infinite where nothing is proven
    """

    value: float
    stderr: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf

    def __str__(self):
        if np.isnan(self.value) and not np.isfinite([self.lower, self.upper]).any():
            return "unknown"
        noise = f" ± {self.stderr:.2g}" if self.stderr > 0 else ""
        return f"{self.value:.4f}{noise}{self._proof()}"

    def _proof(self):
        if self.lower == self.upper:
            return " (exact)"
        if np.isfinite([self.lower, self.upper]).all():
            return f" in [{self.lower:.4f}, {self.upper:.4f}]"
        if np.isfinite(self.lower):
            return f" (proven: at least {self.lower:.4f})"
        return f" (proven: at most {self.upper:.4f})" if np.isfinite(self.upper) else ""


class NotConverged(UserWarning):
    """Warn that an Estimate has converged=False, and say what to try."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Hold one method's answer about one machine of n units.

    mean, mean_stderr   (n,) <s_i>, and the standard error from sampling (0: nothing was sampled)
    corr, corr_stderr   (n, n) <s_i s_j>, ones on the diagonal; a sparse array on the couplings (and the diagonal)
                        where the machine's weights are sparse
    log_z               LogZ
    converged           whether the method's own test was passed
    state               what the next call of the same method can start from
    info                what only a person needs
    """

    mean: np.ndarray
    corr: np.ndarray
    log_z: LogZ
    mean_stderr: np.ndarray | float = 0.0
    corr_stderr: np.ndarray | float = 0.0
    method: str = ""
    converged: bool = True
    state: Any = None
    info: dict = field(default_factory=dict)

    @property
    def covariance(self) -> np.ndarray:
        """<s_i s_j> - <s_i><s_j>, shape (n, n), dense."""
        corr = self.corr.toarray() if sparse.issparse(self.corr) else self.corr
        return corr - np.outer(self.mean, self.mean)

    def _repr_html_(self):
        return estimate_card(self)

    def __repr__(self):
        mark = "" if self.converged else ", NOT CONVERGED"
        return f"Estimate({self.method}, n={len(self.mean)}, log Z = {self.log_z}{mark})"


# Correlations of a sparse machine live on its couplings.  The two functions below are the only place that knows how.


def pair_sums(model: BoltzmannMachine, s: np.ndarray) -> np.ndarray:
    """Sum s_i s_j over the rows of s (N, n): shape (n, n), or (couplings,) in CSR order where weights are sparse."""
    if not model.is_sparse:
        return s.T @ s
    row, col = coupled_pairs(model)
    return np.einsum("ke,ke->e", s[:, row], s[:, col])


def as_corr(model: BoltzmannMachine, pairs: np.ndarray, diagonal: float = 1.0):
    """Return numbers laid out like pair_sums() as a matrix with `diagonal`, sparse where the weights are."""
    if not model.is_sparse:
        corr = np.array(pairs, dtype=float)
        np.fill_diagonal(corr, diagonal)
        return corr
    w = model.weights
    pairs = sparse.csr_array((pairs, w.indices, w.indptr), shape=w.shape)
    return (pairs + sparse.diags_array(np.full(model.n, diagonal))).tocsr()


def coupled_pairs(model: BoltzmannMachine):
    """Return (row, col) of the stored couplings of a sparse machine, in CSR order."""
    w = model.weights
    return np.repeat(np.arange(model.n), np.diff(w.indptr)), w.indices
