"""The misfit: difference between the means and correlations of a learnt machine and those of its data.

With x_k the s_i and the s_i s_j of coupled pairs, the clamped phase, the free phase, and the error e_k of both,

    misfit = max_k ( |<x_k>_clamped - <x_k>_free| - a_k ) / e_k

At the maximum of the likelihood it is 0 for any data.  A pseudolikelihood, an approximation or chains that are too
short end elsewhere, far away if the data do not come from a machine (Besag 1975, section 6, warns of this).  A penalty
shrinks weights, and so moves moments: at the maximum of the penalised likelihood a pair is off by penalty * |w| + l1.
For other learners the shift spreads to neighbours, and the allowed differences are

    a_i = bias_penalty |b_i| + sum_j (penalty |w_ij| + l1 [w_ij != 0]),      a_ij = a_i + a_j + l1 [w_ij = 0].

The errors of N rows are those of Wilson's interval (see diagnostics.py).  The free phase is exact if that takes hardly
any time; else it is drawn by chains that start at rows of the data and at random, and if these do not agree, by
tempering.  If tempering has not converged, as at very low temperatures, the misfit is unknown.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checking.arrays import unit_name
from ..checking.validation import summary
from ..estimate import Estimate, no_convergence_warnings
from ..infer.exact.dispatch import exact
from ..infer.exact.planning import exact_plan
from ..infer.sampling.diagnostics import wilson_stderr
from ..infer.sampling.gibbs import gibbs
from ..infer.sampling.tempering import temper
from ..model import BoltzmannMachine
from ..running.sparsity import values_at
from .likelihood import clamped_rows, closed_form_units
from .observations import Moments, check_complete_rows, check_moments, check_padded_rows

MAX_MISFIT = 5.0  # errors; of the largest of a thousand differences the fourth is common
EXACT_SECONDS = 0.02  # of a comparison; a pseudolikelihood of 30 units takes some 0.05
DRAWN_CHAINS, DRAWN_SWEEPS, KEPT_DRAWS = 100, 300, 30  # of a comparison by draws
LADDERS, LADDER_BURN_IN, LADDER_SWEEPS, LADDER_DRAWS = 16, 200, 1000, 200
MAX_DRAWN_WEIGHTS = 10**5  # of a machine, which n^2 is if it is dense; draws of more take longer than learning
TIE = 1e-9  # of two misfits, as a share of the larger
UNKNOWN_MISFIT = "how far its moments are from the data's is unknown"
UNKNOWN_CLAMPED = f"{UNKNOWN_MISFIT}, since its hidden units are coupled"
UNKNOWN_FREE = f"{UNKNOWN_MISFIT}, since chains of it do not agree, or it is too large to ask them"
ADVICE = "go on from there by maximize(), or fit() with infer=functools.partial(bmlab.gibbs, rng=rng)"


class Misfit(NamedTuple):
    """The largest difference in errors, nan if it is unknown, and words for a message."""

    size: float
    words: str

    __repr__ = summary

    @property
    def is_contradiction(self) -> bool:
        """Whether the machine contradicts its data."""
        return self.size > MAX_MISFIT


class PairsAndUnits(NamedTuple):
    """Numbers for the learnt pairs and for the units: <s_i s_j> and <s_i>, or their errors."""

    pairs: np.ndarray
    units: np.ndarray

    __repr__ = summary


def misfit(
    model: BoltzmannMachine,
    target: PairsAndUnits,
    error: PairsAndUnits,
    pairs: Any,
    free: Estimate | None,
    *,
    penalty: float = 0.0,
    bias_penalty: float = 0.0,
    l1: float = 0.0,
    own_error: Any = None,
) -> Misfit:
    """Compare a machine with the moments of its data at the learnt pairs (row, col), both with their errors.

    free        the moments of the machine, None if they are unknown
    own_error   k -> error of the k-th difference due to the learner's own noise; called only if a misfit is large
    """
    if free is None:
        return Misfit(np.nan, UNKNOWN_FREE)
    noise = np.append(values_at(free.corr_stderr, pairs), free.mean_stderr)
    goal, found = np.concatenate(target), np.append(values_at(free.corr, pairs), free.mean)
    off = np.maximum(np.abs(goal - found) - allowed(model, pairs, penalty, bias_penalty, l1), 0)
    errors = np.hypot(np.concatenate(error), noise)
    if not len(off) or np.isnan(errors).any() or np.isnan(off).any():
        return Misfit(np.nan, UNKNOWN_MISFIT)
    sizes = np.divide(off, errors, out=np.where(off > 0, np.inf, 0.0), where=errors > 0)
    k = int(np.argmax(sizes >= (1 - TIE) * sizes.max()))
    size = float(sizes[k])
    if size > MAX_MISFIT and own_error is not None:
        half_way = (1 - ((goal[k] + found[k]) / 2) ** 2) / max(1 - found[k] ** 2, TIE)
        size = float(off[k] / np.hypot(errors[k], own_error(k) * max(1.0, half_way)))
    more = ", more than the penalty allows" if penalty or bias_penalty or l1 else ""
    if size <= MAX_MISFIT:
        return Misfit(size, f"its moments are within {max(size, 0.1):.1f} errors of the data's")
    return Misfit(
        size,
        f"{_moment_name(model, pairs, k)} is {found[k]:.3f} and in the data {goal[k]:.3f}, {size:.0f} errors off{more}",
    )


def allowed(model: BoltzmannMachine, pairs: Any, penalty: float, bias_penalty: float, l1: float) -> np.ndarray:
    """Return a_ij of the pairs and a_i of the units (see above), in one array."""
    (row, col), w = pairs, np.abs(values_at(model.weights, pairs))
    shift = penalty * w + l1 * (w > 0)
    units = bias_penalty * np.abs(model.biases)
    units = units + np.bincount(np.append(row, col), np.append(shift, shift), model.n)
    return np.append(units[row] + units[col] + l1 * (w == 0), units)


def errors_of(target: PairsAndUnits, count: Any) -> PairsAndUnits:
    """Return the errors of moments over `count` rows: a number, or one for each pair and unit."""
    count = count if isinstance(count, PairsAndUnits) else PairsAndUnits(count, count)
    return PairsAndUnits(*(wilson_stderr(x, n) for x, n in zip(target, count, strict=True)))


def moments_at(answer: Estimate, pairs: Any) -> PairsAndUnits:
    """Return the moments of an answer at the pairs."""
    return PairsAndUnits(values_at(answer.corr, pairs), answer.mean)


def moments_of_data(data: Any, pairs: Any) -> tuple[PairsAndUnits, PairsAndUnits]:
    """Return means and pairs of whole rows, or of moments, with their errors, nan if these are not known."""
    if not isinstance(data, Estimate):
        s = check_complete_rows(data, allow_constant=True)
        target = PairsAndUnits(((s.T @ s) / len(s))[pairs], s.mean(0))
        return target, errors_of(target, len(s))
    target = moments_at(data, pairs)
    if isinstance(data, Moments) and np.isfinite(data.count):
        return target, errors_of(target, data.count)
    stated = PairsAndUnits(values_at(data.corr_stderr, pairs), data.mean_stderr)
    return target, PairsAndUnits(*(np.where(x > 0, x, np.nan) for x in stated))


def misfit_of_step(
    step: Any, data: Any, infer: Any, pairs: Any, learns: np.ndarray | None, is_whole: bool, **penalties: float
) -> Misfit:
    """Compare the machine of a Step with its data, rows or moments; the learner used `infer` for the free phase.

    learns     the biases that were learnt, (n,); None: all
    is_whole   whether the clamped phase of the step is that of all data, and exact
    Hidden units are also compared, if they are not coupled to each other.
    """
    model, rows = step.model, None
    is_exact = getattr(infer, "func", infer) is exact
    if isinstance(data, Estimate):
        target, error = moments_of_data(check_moments(model, data), pairs)
    else:
        rows = check_padded_rows(model, data)
        if closed_form_units(model, np.isnan(rows)) is None and not (is_exact and is_whole):
            return Misfit(np.nan, UNKNOWN_CLAMPED)
        target, error = clamped_target(model, rows, pairs, step.clamped if is_whole else None)
    if learns is not None:
        error = error._replace(units=np.where(learns, error.units, np.inf))
    is_sampled = step.free.converged and bool(step.free.mean_stderr.any())
    free = step.free if is_exact or is_sampled else moments_of_machine(model, rows)
    return misfit(model, target, error, pairs, free, **penalties)


def clamped_target(
    model: BoltzmannMachine, rows: np.ndarray, pairs: Any, clamped: Estimate | None = None
) -> tuple[PairsAndUnits, PairsAndUnits]:
    """Return the clamped moments of padded rows (N, n), and their errors from the number of rows that know each."""
    clamped = clamped or clamped_rows(model, rows, exact)
    known = ~np.isnan(rows)
    known = (known | ~known.any(0)).astype(float)  # hidden units have means in all rows
    count = PairsAndUnits((known.T @ known)[pairs], known.sum(0))
    target = moments_at(clamped, pairs)
    return target, errors_of(target, PairsAndUnits(*(np.maximum(x, 1) for x in count)))


def moments_of_machine(
    model: BoltzmannMachine, rows: np.ndarray | None = None, *, tempered: bool = True
) -> Estimate | None:
    """Return the moments of a machine, exact or drawn; None if they are unknown.

    Chains start at rows (N, v) or (N, n), nan if a unit is hidden, and at random; if they do not agree and `tempered`,
    temper() is used.  It has its own generator, so that no other stream of random numbers changes.
    """
    with no_convergence_warnings():
        if exact_plan(model).seconds <= EXACT_SECONDS:
            return exact(model)
        if model.weight_count > MAX_DRAWN_WEIGHTS:
            return None
        rows = None if rows is None else rows[:, ~np.isnan(rows).all(0)]
        rows = None if rows is None or not (np.abs(rows) == 1).all() else rows
        rng, start = np.random.default_rng(0), None
        if rows is not None:
            begun = rows[rng.integers(len(rows), size=DRAWN_CHAINS // 2)]
            start = np.vstack([begun, rng.choice([-1.0, 1.0], size=begun.shape)])
        n_chains = DRAWN_CHAINS if start is None else None
        answer = gibbs(model, rng=rng, start=start, n_chains=n_chains, n_sweeps=DRAWN_SWEEPS, n_draws=KEPT_DRAWS)
        if not answer.converged and tempered:
            answer = temper(
                model, rng=rng, n_ladders=LADDERS, burn_in=LADDER_BURN_IN, n_sweeps=LADDER_SWEEPS, n_draws=LADDER_DRAWS
            )
    return answer if answer.converged else None


def susceptibility(model: BoltzmannMachine, pairs: Any, k: int, free: Estimate, step: float = 1e-4) -> PairsAndUnits:
    """Return the derivatives of the k-th moment of a dense machine by its weights at the pairs and biases, T = 1.

    They are the covariances of the k-th of s_i s_j and s_i with all others; for an exact answer, a finite difference.
    """
    row, col = pairs
    if free.draws is not None:
        s = free.draws.reshape(-1, model.n).astype(float)
        x = s[:, row[k]] * s[:, col[k]] if k < len(row) else s[:, k - len(row)]
        x = (x - x.mean()) / len(s)
        return PairsAndUnits(((s.T * x) @ s)[pairs], x @ s)
    weights, biases = np.zeros((model.n, model.n)), np.zeros(model.n)
    if k < len(row):
        weights[row[k], col[k]] = weights[col[k], row[k]] = step
    else:
        biases[k - len(row)] = step
    up, down = (
        moments_at(exact(model._with(model.weights + sign * weights, model.biases + sign * biases)), pairs)
        for sign in (1, -1)
    )
    return PairsAndUnits(*((a - b) / (2 * step) for a, b in zip(up, down, strict=True)))


def _moment_name(model, pairs, k):
    """Return the name of the k-th moment for a sentence; pairs come before units."""
    if k < len(pairs[0]):
        return "<s s'> of " + " and ".join(unit_name(model.names, side[k]) for side in pairs)
    return f"<s> of {unit_name(model.names, k - len(pairs[0]))}"
