"""The error to expect of Bethe, from what three theories say of one machine.

Mean field, TAP and Bethe are theories of one machine, and where they fall apart none is to be trusted.  How far apart
they are, and how far Bethe is from itself (linear response against its own beliefs), foretells Bethe's error:

    log error  =  c_0 + sum_k c_k log x_k  +  noise,

x_1 and x_2 being the inconsistency of Bethe and of TAP, x_3 and x_4 the rms of mean field - Bethe and of TAP - Bethe,
over means and correlations.  FITS has the c of machines of four kinds; `python benchmarks/choosing.py --fit` prints
them.  This is calibration, not proof.
"""

from typing import Any, NamedTuple

import numpy as np

from ..couplings import entries
from ..estimate import Bounded, Estimate, coupled_pairs, quietly
from ..model import BoltzmannMachine
from .bounds.bracketing import CALLS, INVERSE, sweep_seconds
from .variational import tap_equations
from .variational.belief_propagation import bethe, messages_from
from .variational.coordinate_descent import SAME
from .variational.naive_mean_field import mean_field

STARTS = 5  # of each theory; Bethe must always end in one fixed point
SWEEPS = 100  # of Bethe's messages; where they need more, loops are too strong
FEWEST = 20  # sweeps below which no theory is begun
RESPONSES = 5  # of linear response, in eigenvalues and an inverse each
SURE = 2.0  # stated errors of samples, in standard errors
NOTHING = 1e-9  # logarithms of disagreements begin here


class Fit(NamedTuple):
    """Hold c for (1, log x_1, ..., log x_4), and the log of the factor that 95 % of errors stay below."""

    c: tuple[float, ...]
    margin: float


FITS = {
    "moments": Fit((-2.59, 0.26, 0.95, 0.79, -0.58), 1.85),
    "log_z": Fit((-4.92, 0.62, 0.78, 0.23, -0.49), 1.99),
}  # log_z: of the error divided by n


class Evidence(NamedTuple):
    """Hold Bethe's answer, the disagreements x (4,), and the doubt that makes them worthless ("": there is none)."""

    answer: Any  # an Estimate; None where it was not asked for
    x: np.ndarray
    doubt: str

    def error(self, want: str) -> float:
        """Return the error to expect, in the middle of the cases; infinite where there is a doubt."""
        if self.doubt or self.answer is None:
            return np.inf
        size = len(self.answer.mean) if want == "log_z" else 1
        return size * float(np.exp(FITS[want].c[0] + np.dot(FITS[want].c[1:], np.log(np.maximum(self.x, NOTHING)))))

    def most(self, want: str) -> float:
        """Return what 95 % of errors stay below."""
        return float(self.error(want) * np.exp(FITS[want].margin))


def weigh(model: BoltzmannMachine, seconds: float = 60.0) -> Evidence:
    """Return what mean field, TAP and Bethe say of each other; the first doubt ends it.

    It takes at most about so many seconds of work, of the reference machine (choosing.py).
    """
    left = seconds - RESPONSES * INVERSE * model.n**3
    steps = int(min(2000.0, left / 4 / sweep_seconds(model, STARTS)))
    messages = int(min(SWEEPS, left / 4 / (2 * CALLS * model.n + 1e-7 * model.coupling_count())))
    if min(steps, messages) < FEWEST:
        return doubtful("linear response would take too long")
    with quietly():
        return _weighed(model, steps, messages)


def _weighed(model, steps, messages):
    field, tap = (theory(model, starts=STARTS, max_steps=steps) for theory in (mean_field, tap_equations.tap))
    if not tap.converged:
        return doubtful("TAP finds no stable answer")
    if (count := len(tap.info["fixed points"])) > 1:
        return doubtful(f"TAP has {count} fixed points")
    _, _, second, third = tap.info["orders"]
    if abs(third) > abs(second) / 2:
        return doubtful("Plefka's third term is not small")
    answer = bethe(model, max_steps=messages)
    if not answer.converged:
        return doubtful("Bethe finds no stable answer")
    others = (messages_from(model, m) for m in field.info["fixed points"][1:])
    found = (bethe(model, start=start, max_steps=messages).mean for start in others)
    if any(not np.abs(other - answer.mean).max() < SAME for other in found):
        return doubtful("Bethe has several fixed points")
    by_field, by_tap, by_bethe = (moments_of(model, x.mean, x.corr) for x in (field, tap, answer))
    own = [answer.info["inconsistency"], tap.info["inconsistency"]]
    return Evidence(answer, np.array([*own, rms(by_field - by_bethe), rms(by_tap - by_bethe)]), "")


def doubtful(reason: str) -> Evidence:
    """Return evidence that proves nothing, for this reason."""
    return Evidence(None, np.full(4, np.nan), reason)


def checked(evidence: Evidence, proven: Bounded) -> Evidence:
    """Add the doubt that Bethe's log Z lies where log Z is proven not to lie."""
    if evidence.doubt or proven.lower <= evidence.answer.log_z.value <= proven.upper:
        return evidence
    return evidence._replace(doubt="Bethe's log Z is outside its proven bounds")


def tested(model: BoltzmannMachine, evidence: Evidence, samples: Estimate, stderr: float, want: str) -> Evidence:
    """Add the doubt that samples are further off than both errors allow."""
    if evidence.doubt or not samples.converged:
        return evidence
    if want == "log_z":
        gap = abs(evidence.answer.log_z.value - samples.log_z.value)
    else:
        both = (moments_of(model, answer.mean, answer.corr) for answer in (samples, evidence.answer))
        gap = rms(np.subtract(*both))
    if gap <= SURE * np.hypot(evidence.most(want), stderr):
        return evidence
    return evidence._replace(doubt=f"{samples.method} is {gap:.1g} from Bethe")


def moments_of(model: BoltzmannMachine, mean: np.ndarray, corr: Any) -> np.ndarray:
    """Return means and correlations in one row: of all pairs, or of the coupled ones where weights are sparse."""
    row, col = coupled_pairs(model) if model.is_sparse else np.triu_indices(model.n, 1)
    return np.concatenate([mean, entries(corr, (row, col))])


def rms(x: np.ndarray) -> float:
    """Return the root of the mean square; 0 of nothing."""
    return float(np.sqrt(np.mean(x**2))) if len(x) else 0.0
