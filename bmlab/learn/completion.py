"""Completion and conditional probabilities: the missing units given the known ones, which are clamped.

<s_i> given the known  =  <s_i> of the clamped machine
p(query | given)       =  Z(clamped to query and given) / Z(clamped to given)
                       =  prod_k p(q_k | q_1 ... q_k-1, given)                       needs no Z
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checking.arrays import align_columns, no_such_attribute, sealed, units_of
from ..checking.calls import show_call
from ..checking.validation import ArrayLike, in_column, is_sparse
from ..estimate import Bounded, Estimate, Method, call_method, check_method
from ..infer.exact.dispatch import exact
from ..model import BoltzmannMachine, check_model, check_values, split_condition
from ..running.progress_bars import with_progress
from .likelihood import log_ratio
from .observations import unique_rows

MAX_PRINTED = 6  # means of missing units


@dataclass(frozen=True, eq=False)
class Completion:
    """Rows of known and missing units, with the means of the missing ones.

    known               (n,) or (N, n), -1/+1, nan if missing
    mean, mean_stderr   in the same shape: known values, or <s_i> given them, with its error from sampling
    answers             list of one Estimate per row, of its missing units: their corr, converged, state

    >>> filled = bmlab.complete(bmlab.toy(), {0: 1})
    >>> filled
    Completion((3,), 2 missing: +0.654, -0.132)
    """

    known: np.ndarray
    mean: np.ndarray
    mean_stderr: np.ndarray
    answers: list[Estimate]

    def __post_init__(self):
        vars(self).update(sealed(vars(self)))

    __getattr__ = no_such_attribute

    def __repr__(self):
        mark = "" if all(answer.converged for answer in self.answers) else ", NOT CONVERGED"
        missing = np.isnan(self.known)
        few = self.known.ndim == 1 and 0 < missing.sum() <= MAX_PRINTED
        found = ": " + ", ".join(f"{mean:+.3g}" for mean in self.mean[missing]) if few else ""
        return f"Completion({self.known.shape}, {missing.sum()} missing{found}{mark})"


@show_call()
def complete(model: BoltzmannMachine, known: ArrayLike | dict, infer: Method = exact) -> Completion:
    """Return the means of the missing units, given the known ones.

    See log_prob() for the probability of the known values.  For joint states of the missing units use ground_state() or
    sample() of the clamped machine, model.clamp(units, values).

    known   (n,) or (N, n), -1/+1, nan if missing; or a dict {unit: value} by index or name; or a Series or DataFrame
            with names.  Equal rows are solved once.
    infer   any method; missing units that are not coupled to each other are always solved exactly
    Raises ValueError for another shape or value, and as `infer` does.

    >>> pair = bmlab.BoltzmannMachine([[0, 1], [1, 0]], [0, 0])
    >>> bmlab.complete(pair, [1, np.nan]).mean.round(2)  # tanh(1) = 0.76
    array([1.  , 0.76])
    """
    check_model(model)
    check_method("infer", infer, "model")
    known = _checked(model, known)
    mean = np.nan_to_num(np.atleast_2d(known))
    error, missing, (first, which, _) = np.zeros_like(mean), mean == 0, unique_rows(mean)
    solved = [_answer(model, row, infer) for row in with_progress(mean[first], "row")]
    answers = [solved[k] for k in which]
    for k, answer in enumerate(answers):
        mean[k, missing[k]], error[k, missing[k]] = answer.mean, answer.mean_stderr
    return Completion(known, mean.reshape(known.shape), error.reshape(known.shape), answers)


@show_call()
def conditional(model: BoltzmannMachine, query: dict | tuple, given: dict | tuple, infer: Method = exact) -> Bounded:
    """Return p(query | given), each a dict {unit: -1/+1} or a pair (units, values) of indices or names; {} is empty.

    The bounds are proven; they are 0 and 1 if nothing better is.  The probability is the ratio of two Z, clipped to 1
    if these contradict each other.  If `infer` gives no log Z, as gibbs(), units of the query are clamped one after the
    other, and their probabilities (1 + <s_i>)/2 are multiplied: one run for each unit, with the combined error.
    Raises ValueError for unknown units and for values other than -1/+1.

    >>> pair = bmlab.BoltzmannMachine([[0, 1], [1, 0]], [0, 0])
    >>> bmlab.conditional(pair, {1: 1}, {0: 1})  # 1 / (1 + exp(-2))
    Bounded(0.8808 (exact))
    """
    check_model(model)
    check_method("infer", infer, "model")
    queried, known = _row(model, query, "query"), _row(model, given, "given")
    if (queried * known < 0).any():
        return Bounded(0.0, 0.0, 0.0, 0.0)
    both = np.where(queried, queried, known)
    if (both == known).all():
        return Bounded(1.0, 0.0, 1.0, 1.0)
    without = _answer(model, known, infer)
    if np.isnan(without.log_z.value):
        return _one_by_one(model, known, both, without, infer)
    log_p = log_ratio(_answer(model, both, infer).log_z, without.log_z)
    value, lower, upper = np.exp(np.minimum([log_p.value, log_p.lower, log_p.upper], 0)).tolist()
    return Bounded(value, value * log_p.stderr, lower, upper)


def _one_by_one(model, known, both, answer, infer):
    """Return p(query | given) by the chain rule; `answer` is the Estimate of the units that are not given."""
    p, stderr, row = [], [], known.copy()
    for unit in np.flatnonzero(both != known):
        answer = answer or _answer(model, row, infer)
        place = np.count_nonzero(row[:unit] == 0)
        p.append((1 + both[unit] * answer.mean[place]) / 2)
        stderr.append(np.broadcast_to(answer.mean_stderr, answer.mean.shape)[place] / 2)
        row[unit], answer = both[unit], None
    others = [np.prod(p[:k] + p[k + 1 :]) for k in range(len(p))]
    return Bounded(float(np.prod(p)), float(np.linalg.norm(np.multiply(stderr, others))), 0.0, 1.0)


# Rows (n,) are -1/+1, and 0 for unknown units.


def _checked(model, known):
    if isinstance(known, dict) and not is_sparse(known):  # dok_array is a dict
        row = _row(model, known, "known")
        return np.where(row, row, np.nan)
    units = units_of(known, model.names)
    known = align_columns("known", known, model.names).copy()
    if units is not None:  # a unit without a column is missing
        known = np.pad(known, [(0, 0)] * (known.ndim - 1) + [(0, model.n - known.shape[-1])], constant_values=np.nan)
    if known.ndim not in (1, 2) or known.shape[-1] != model.n:
        raise ValueError(f"known must be ({model.n},) or (N, {model.n}), found {known.shape}; nan is a missing unit")
    right = np.isnan(known) | (np.abs(known) == 1)
    if not right.all():
        found = f"{known[~right][0]:g}{in_column(model.names, right)}"
        raise ValueError(f"known must be -1/+1, or nan if missing, found {found}; write 2 * known - 1 for 0/1")
    return known


def _row(model, condition, name):
    """Return the row of a condition."""
    units, values = check_values(model, *split_condition(name, condition))
    row = np.zeros(model.n)
    row[units] = values
    return row


def _answer(model, row, infer):
    part = model.clamp(row != 0, row[row != 0])
    return call_method("infer", infer if part.has_couplings else exact, part)
