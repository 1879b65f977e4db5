"""Records of learning: Step, a step of the loop, and Fit, the result of every learner."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..checking.arrays import no_such_attribute, sealed
from ..checking.calls import show_call
from ..checking.validation import is_sparse, summary
from ..estimate import Bounded, Estimate, check_same_model
from ..model import BoltzmannMachine
from ..running.files import stored
from ..showing.html import fit_html
from .likelihood import check_phases, log_likelihood
from .misfit import ADVICE, Misfit
from .observations import Moments, check_moments

ALL_STEPS_MADE = "all steps were made"
GRADIENT_TOLERANCE = 1e-6  # nats per unit of a parameter: Euclidean length of the gradient at a maximum


@stored()
class OptimizerState(NamedTuple):
    """The state of the loop, beside the moments, that is needed to continue after a step."""

    number: int = 0  # of the step, from 0
    velocity: tuple = ()  # (W, b): the next move over the rate
    seed: int | None = None  # of the order of the rows, with batches

    __repr__ = summary
    __getattr__ = no_such_attribute


@stored()
@dataclass(frozen=True, eq=False)
class Step:
    """A model TOGETHER with its own moments: clamped to the data (or to this step's batch), and free.

    Moments with names are put in the order of the model's names.  Raises ValueError if the two are swapped, or belong
    to another machine.

    >>> machine = bmlab.toy()
    >>> first = next(bmlab.learning_steps(machine, bmlab.sample(machine, 50, rng=np.random.default_rng(0)), rate=0.1))
    >>> first.model is machine, first.free.method
    (True, 'exact')
    """

    model: BoltzmannMachine
    clamped: Estimate
    free: Estimate
    gradient_norm: float = np.nan  # Euclidean length of the slope of the climbed function, each weight once
    change: float = np.nan  # the largest change of a parameter since the previous step
    optimizer: OptimizerState = field(default_factory=OptimizerState)

    def __post_init__(self):
        check_phases(self.clamped, self.free)
        for name, phase in (("clamped", self.clamped), ("free", self.free)):
            check_same_model(name, phase, "the step", self.model)
        if isinstance(self.clamped, Moments):  # by the names of its columns
            vars(self)["clamped"] = check_moments(self.model, self.clamped)
        vars(self).update(optimizer=sealed(self.optimizer))

    __getattr__ = no_such_attribute

    def __repr__(self):
        return (
            f"Step({self.optimizer.number}: {self.model!r}, L = {self.log_likelihood}, "
            f"gradient norm {self.gradient_norm:.3g})"
        )

    @property
    def mismatch(self) -> float:
        """The largest difference of any mean or correlation between the two phases; 0 at the maximum."""
        corr = abs(self.clamped.corr - self.free.corr)
        largest = corr.max() if is_sparse(corr) else np.nanmax(corr)  # nan: a pair that was not computed
        return float(max(abs(self.clamped.mean - self.free.mean).max(), largest))

    @property
    def log_likelihood(self) -> Bounded:
        """Mean log p(v) of the data, in nats per pattern."""
        return log_likelihood(self.clamped, self.free)


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of a learner.

    model       the machine
    converged   whether it is known to be at a maximum, to the tolerance of the learner; also False if no gradient is
                computed (pcd).  Learners that take a fixed number of steps do not warn
    message     a sentence on why it ended
    steps       the kept steps, the last of them with the model; empty if the learner makes no steps
    misfit      largest difference of the machine's means and learnt pairs from those of the data, in errors, minus the
                shift that a penalty allows (see misfit.py); above 5, converged is False.  nan: unknown

    >>> bmlab.pseudolikelihood([[1, 1], [-1, -1], [1, -1], [-1, 1]])
    Fit(BoltzmannMachine(n=2, couplings=0, T=1): ...)
    """

    model: BoltzmannMachine
    converged: bool = False
    message: str = ""
    steps: tuple[Step, ...] = ()
    misfit: float = np.nan

    @show_call()
    def compared(self, found: Misfit) -> Fit:
        """Return this fit with its misfit, also in its message; not converged if the misfit contradicts it."""
        told, doubt = self.message.removesuffix("."), self.converged and found.is_contradiction
        told = f"{told}, but {found.words}; {ADVICE}." if doubt else f"{told}; {found.words}."
        return replace(self, converged=self.converged and not doubt, message=told, misfit=found.size)

    __getattr__ = no_such_attribute

    def __repr__(self):
        kept = f", {len(self.steps)} steps kept" if self.steps else ""
        return f"Fit({self.model!r}{kept}: {self.message})"

    def _repr_html_(self):
        return fit_html(self)
