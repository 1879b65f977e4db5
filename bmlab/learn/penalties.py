"""Cross-validation of penalties: learn with each of them, and judge it by held-out rows.

L1 penalties give a path of graphs, which EBIC can judge, too, as in IsingFit: structure learning.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checking.arrays import check_coupling_mask, first_largest, first_smallest, names_of, no_such_attribute, sealed
from ..checking.calls import show_call
from ..checking.validation import (
    ArrayLike,
    as_generator,
    check_array,
    check_choice,
    check_count,
    check_positive,
    describe,
    summary,
)
from ..estimate import no_convergence_warnings, warn_unless_converged
from ..running.progress_bars import with_progress
from .observations import BIAS_ADVICE, check_complete_rows, check_each_varies
from .pseudolikelihood import climb_pseudolikelihood, log_conditionals, pseudolikelihood
from .record import Fit

PRIOR_WIDTHS = np.geomspace(0.03, 3, 9)  # standard deviations of the weights; the last means almost no penalty
L1_SHARES = np.geomspace(1, 0.01, 15)  # of the l1 at which all weights are 0
EBIC_GAMMA = 0.25  # of IsingFit: the price for the number of graphs of the same size


class PenaltyPath(NamedTuple):
    """The results for each of K penalties.

    penalties         (K,), as given; by default from the strongest to the weakest
    held_out          (K,) mean of sum_i log p(s_i | the rest) of held-out rows, in nats
    held_out_stderr   (K,) its standard error for independent rows
    ebic              (K,) for l1: -2 log p plus the price of the nonzero weights, which are learnt again without l1;
                      the least is best
    fits              a Fit to all rows for each penalty

    >>> bmlab.penalty_path(bmlab.states(2), rng=0, penalties=[1, 0.1], n_folds=2).best.model.n
    2
    """

    penalties: np.ndarray
    held_out: np.ndarray
    held_out_stderr: np.ndarray
    ebic: np.ndarray
    fits: tuple[Fit, ...]

    __repr__ = summary
    __getattr__ = no_such_attribute

    @property
    def best(self) -> Fit:
        """The first Fit whose penalty predicts held-out rows best, or with the least EBIC if none were held out."""
        is_judged = not np.isnan(self.held_out).all()
        return self.fits[int(first_largest(self.held_out) if is_judged else first_smallest(self.ebic))]


@show_call("bmlab.penalty_path(data, rng=0)")
def penalty_path(
    data: ArrayLike,
    *,
    rng: np.random.Generator | int,
    of: str = "penalty",
    penalties: ArrayLike | None = None,
    n_folds: int = 5,
    couplings: ArrayLike | None = None,
    bias_penalty: float = 0.0,
) -> PenaltyPath:
    """Learn data (N, n) by pseudolikelihood() with each of several penalties, and judge each by cross-validation.

    of          "penalty", or "l1", which leaves weights at 0
    penalties   default: those of normal priors of width 0.03 to 3 (1/(N * penalty) is the variance), or l1 from the
                value at which all weights are 0 down to a hundredth of it
    n_folds     number of parts of the rows (by `rng`), each held out once; 0: none, for the EBIC alone
    couplings   as in pseudolikelihood()
    The penalty found also suits maximize() and fit().  To find which weights are not 0, take the least EBIC, which
    IsingFit sums over the units (van Borkulo and others 2014, Sci. Rep. 4, 5918): held-out rows keep too many weights.
    Each Fit has its misfit (Fit.misfit); there is a warning about the best one only.
    Raises ValueError as pseudolikelihood() does: a fold may lack a rare answer; then pass bias_penalty.

    >>> rows = bmlab.sample(bmlab.medium(), 500, rng=0)
    >>> path = bmlab.penalty_path(rows, rng=0)
    >>> bool(path.held_out.max() > path.held_out[0])  # than by the strongest
    True
    """
    rng, of = as_generator(rng), check_choice("of", of, ("penalty", "l1"))
    bias_penalty = check_positive("bias_penalty", bias_penalty, 0.001, zero=True)
    names, rows = names_of(data), check_complete_rows(data, allow_constant=bias_penalty > 0)
    if len(rows) < 2:
        raise ValueError("data must have two rows or more, one to learn and one to hold out, found 1; pass (N, units)")
    n_folds = check_count("n_folds", n_folds, 0, len(rows))
    if n_folds == 1:
        raise ValueError("n_folds must be 2 or more, or 0 for the EBIC alone, found 1; try n_folds=5")
    mask = check_coupling_mask(couplings, rows.shape[1], names)
    tried = _default_penalties(rows, of, mask) if penalties is None else _checked_penalties(penalties)
    fold = np.empty(len(rows), int)
    fold[rng.permutation(len(rows))] = np.arange(len(rows)) % max(n_folds, 1)
    if not bias_penalty:
        for f in range(n_folds):
            check_each_varies(rows[fold != f].mean(0), names, BIAS_ADVICE)
    score, fits = np.full((len(tried), len(rows)), np.nan), []
    for k, penalty in enumerate(with_progress(tried, "penalty")):
        options = {"couplings": mask, "bias_penalty": bias_penalty, of: penalty}
        for f in range(n_folds):
            learnt, *_ = climb_pseudolikelihood(rows[fold != f], **options)
            score[k, fold == f] = log_conditionals(learnt.model, rows[fold == f]).sum(1)
        with no_convergence_warnings():
            fits.append(pseudolikelihood(data, **options))
    stderr = score.std(1, ddof=1) / np.sqrt(len(rows))
    ebic = np.array([_ebic(fit.model, rows, bias_penalty) for fit in fits])
    path = sealed(PenaltyPath(tried, score.mean(1), stderr, ebic, tuple(fits)))
    warn_unless_converged(path.best)
    return path


def _default_penalties(rows, of, mask):
    if of == "penalty":
        return 1 / (len(rows) * PRIOR_WIDTHS**2)
    covariance = np.abs(np.atleast_2d(np.cov(rows.T, ddof=0)))
    apart = ~np.eye(len(covariance), dtype=bool) if mask is None else mask
    return covariance[apart].max(initial=0.0) * L1_SHARES if covariance[apart].any() else L1_SHARES


def _checked_penalties(penalties):
    found = check_array("penalties", penalties)
    if found.ndim != 1 or not found.size or not (found >= 0).all() or not np.isfinite(found).all():
        raise ValueError(
            f"penalties must be numbers of 0 or more, found {describe(penalties)}; try np.geomspace(1, 0.01, 9)"
        )
    return found


def _ebic(model, rows, bias_penalty):
    """Return the extended Bayesian information criterion of the couplings of a fit, each counted for two units.

    The weights are learnt again without L1, which makes them too small.
    """
    couplings = model.weights != 0
    penalty = 1 / (len(rows) * PRIOR_WIDTHS[-1] ** 2)
    again = climb_pseudolikelihood(rows, couplings, penalty, bias_penalty)[0].model
    price = np.log(len(rows)) + 2 * EBIC_GAMMA * np.log(max(model.n - 1, 1))
    return -2 * log_conditionals(again, rows).sum() + couplings.sum() * price
