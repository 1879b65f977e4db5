"""Between what bounds log Z is proven to lie, at any size: the best of all lower and of all upper bounds.

below   mean field      -F(m)/T of the best product found from several starts
        tree            the same with one spanning tree of couplings in q (structured_mean_field.py)
above   trw             mixtures of spanning trees: good where units have few partners, or couplings are weak
        Gaussian        one Gaussian integral: good where couplings are many
        couplings       each coupling as if it were satisfied: sum_(ij) |w_ij|/T + sum_i log 2 cosh(b_i/T)

bracket() in choosing.py adds the states that sampling has visited, each counted once, from below.
"""

from time import perf_counter
from typing import NamedTuple

from ...arrays import log_2cosh
from ...estimate import Bounded
from ...model import BoltzmannMachine
from ..variational.coordinate_descent import descend
from ..variational.naive_mean_field import theory
from .gaussian_integral import gaussian_bound
from .structured_mean_field import tree_mean_field
from .tree_reweighting import SWEEPS, tighten

STARTS = 9  # of mean field
ROUGH, ROUNDS = 1e-6, 100  # it stops at moves so small or after so many sweeps: any means give a bound
LARGEST = 2000  # units up to which n x n matrices are inverted
GAP = 1e-3  # nats: trees are good enough
SWEEP, INVERSE = 1e-7, 4e-10  # seconds times n^2 of ten sweeps, and times n^3 of eigenvalues and an inverse
TURN = 4e-5  # seconds a unit that one evaluation of a tree takes, there and back
WALK = 1e-7  # seconds times n^2 of an inverse on the couplings alone, where weights are sparse
MESSAGE = 1e-7  # seconds that one message takes


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


def lower_bounds(model: BoltzmannMachine, until: float) -> dict[str, float]:
    """Return lower bounds on log Z by name; what does not fit until this moment of perf_counter() is left out."""
    is_small = model.n <= LARGEST and perf_counter() + STARTS * SWEEP * model.n**2 < until
    product = descend(
        model, theory(model), starts=STARTS if is_small else 1, tolerance=ROUGH, max_sweeps=ROUNDS, until=until
    )
    found = {"mean field": float(-product.values[0] - model.offset / model.temperature)}
    if model.n <= LARGEST and perf_counter() + 50 * TURN * model.n < until:
        found["tree"] = tree_mean_field(model, product.means[0], until)
    return found


def upper_bounds(model: BoltzmannMachine, until: float) -> dict[str, float]:
    """Return upper bounds on log Z by name; trees are left out, or not improved, where they do not fit."""
    offset, alone = model.offset / model.temperature, log_2cosh(model.biases / model.temperature).sum()
    found = {"couplings": float(abs(model.weights).sum() / model.temperature / 2 + alone - offset)}
    if model.n <= LARGEST and perf_counter() + INVERSE * model.n**3 < until:
        found["Gaussian"] = gaussian_bound(model, until)
    inverse = WALK * model.n**2 if model.is_sparse else INVERSE * model.n**3
    if perf_counter() + inverse + SWEEPS * MESSAGE * 2 * model.coupling_count() < until:
        begin = perf_counter()
        for steps, (_, bound, gap) in enumerate(tighten(model), 1):
            found["trw"] = bound.value - offset
            now = perf_counter()
            if gap < GAP or now + (now - begin) / steps > until:  # the next one would end too late
                break
    return found
