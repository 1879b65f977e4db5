"""Between what bounds log Z is proven to lie, at any size: the best of all lower and of all upper bounds.

below   mean field      -F(m)/T of the best product found from several starts
        tree            the same with one spanning tree of couplings in q (structured_mean_field.py)
above   trw             mixtures of spanning trees: good where units have few partners, or couplings are weak
        Gaussian        one Gaussian integral: good where couplings are many
        couplings       each coupling as if it were satisfied: sum_(ij) |w_ij|/T + sum_i log 2 cosh(b_i/T)

bracket() in choosing.py adds the states that sampling has visited, each counted once, from below.
"""

from itertools import islice
from typing import NamedTuple

import numpy as np

from ...estimate import Bounded
from ...model import BoltzmannMachine
from ..variational.coordinate_descent import descend
from ..variational.free_bounds import couplings_bound
from ..variational.naive_mean_field import theory
from .gaussian_integral import gaussian_bound
from .structured_mean_field import tree_mean_field
from .tree_reweighting import SWEEPS, tighten

STARTS = 9  # of mean field
ROUGH, ROUNDS = 1e-6, 100  # it stops at moves so small or after so many sweeps: any means give a bound
LARGEST = 2000  # units up to which n x n matrices are inverted
GAP = 1e-3  # nats: trees are good enough
# Seconds of the reference machine (choosing.py), one core:
CALLS = 1e-5  # a few calls of NumPy
ENTRY = 1e-9  # one entry of a matrix, read for one start of a sweep
TURN = 4e-5  # one unit in one evaluation of a tree, there and back
INVERSE, WALK = 4e-10, 1e-7  # times n^3: eigenvalues and an inverse; times n^2: one on the couplings of sparse weights
MESSAGE = 1e-7  # one message


class Bracket(NamedTuple):
    """Hold log Z between proven ends, and who proved them.

    log_z      lower and upper; the value is the middle, off by at most half of the width, or exact
    lower_by, upper_by   the methods that gave the ends
    bounds     name -> bound, of every method that was asked; which side it is on: see bracketing.py

    >>> bmlab.bracket(bmlab.toy(), rng=0).log_z == bmlab.exact(bmlab.toy()).log_z
    True
    """

    log_z: Bounded
    lower_by: str
    upper_by: str
    bounds: dict[str, float]

    @property
    def width(self) -> float:
        """Nats between the ends."""
        return self.log_z.upper - self.log_z.lower


def between(below: dict[str, float], above: dict[str, float]) -> Bracket:
    """Return the bracket of the best of these lower and upper bounds."""
    lower_by, upper_by = max(below, key=below.__getitem__), min(above, key=above.__getitem__)
    lower, upper = below[lower_by], above[upper_by]
    return Bracket(Bounded((lower + upper) / 2, 0.0, lower, upper), lower_by, upper_by, below | above)


def lower_bounds(model: BoltzmannMachine, seconds: float) -> dict[str, float]:
    """Return lower bounds on log Z by name, of about so many seconds of work; what does not fit is left out."""
    n, starts = model.n, STARTS if model.n <= LARGEST else 1
    steps = int(np.clip(seconds / 2 / sweep_seconds(model, starts), 1, ROUNDS))
    product = descend(
        model, theory(model, lambda field, *_: np.tanh(field)), starts=starts, tolerance=ROUGH, max_steps=steps
    )
    found = {"mean field": float(-product.values[0] - model.offset / model.temperature)}
    steps = int(seconds / 2 / (TURN * n + 10 * ENTRY * n**2 + CALLS))
    if n <= LARGEST and steps > 0:
        found["tree"] = tree_mean_field(model, product.means[0], steps)
    return found


def sweep_seconds(model: BoltzmannMachine, starts: int) -> float:
    """Return what one sweep over all means costs, class after class."""
    return CALLS * len(model.colours) + ENTRY * (starts * 2 * model.coupling_count() + 20 * starts * model.n)


def upper_bounds(model: BoltzmannMachine, seconds: float) -> dict[str, float]:
    """Return upper bounds on log Z by name, of about so many seconds of work; what does not fit is left out."""
    found = {"couplings": couplings_bound(model)}
    inverse = INVERSE * model.n**3 + CALLS
    steps = int(seconds / 2 / inverse) - 1
    if model.n <= LARGEST and steps > 0:
        found["Gaussian"] = gaussian_bound(model, steps)
    walk = WALK * model.n**2 if model.is_sparse else inverse + CALLS * model.n
    steps = int(seconds / 2 / (walk + SWEEPS * (CALLS + MESSAGE * 2 * model.coupling_count())))
    for _, bound, gap in islice(tighten(model), steps):
        found["trw"] = bound.value - model.offset / model.temperature
        if gap < GAP:
            break
    return found
