"""Averages of answers about different rows of the data, by their share of all rows."""

from typing import Any

import numpy as np

from ..estimate import Bounded, Estimate


def pooled(answers: list[Estimate], share: np.ndarray) -> Estimate:
    """Average answers about different rows, by their share of all rows."""
    return Estimate(
        averaged([a.mean for a in answers], share),
        averaged([a.corr for a in answers], share),
        mean_log_z([a.log_z for a in answers], share),
        combined([a.mean_stderr for a in answers], share),
        combined([a.corr_stderr for a in answers], share),
        method=answers[-1].method,
        converged=all(a.converged for a in answers),
        message=first_doubt(answers),
        state=[a.state for a in answers],
        info={"road": f"{len(answers)} sets of unknowns"},
    )


def averaged(parts: list, share: np.ndarray) -> Any:
    """Return the weighted mean."""
    return sum(p * part for p, part in zip(share, parts, strict=True))


def combined(errors: list, share: np.ndarray) -> Any:
    """Standard error of a weighted mean of independent answers."""
    return np.sqrt(sum(p**2 * e * e for p, e in zip(share, errors, strict=True)))


def mean_log_z(answers: list[Bounded], share: np.ndarray) -> Bounded:
    """Return the weighted mean of log Z, with its noise and its bounds."""
    value, lower, upper = (float(share @ [getattr(a, end) for a in answers]) for end in ("value", "lower", "upper"))
    return Bounded(value, float(combined([a.stderr for a in answers], share)), lower, upper)


def first_doubt(answers: list[Estimate]) -> str:
    """Return the message of the first answer that has not converged, or of the first."""
    return next((a.message for a in answers if not a.converged), answers[0].message)
