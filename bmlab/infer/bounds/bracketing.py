"""bracket: a proven interval around log Z for any machine, from the best lower and the best upper bound.

below   mean field      -F(m)/T of the best product found from several starts
        tree            the same with one spanning tree of couplings in q (structured_mean_field.py)
        visited         sum over the states that sampling has visited, each counted once: good at low T
above   trw             mixtures of spanning trees: good if units have few partners, or couplings are weak
        Gaussian        one Gaussian integral: good if there are many couplings
        couplings       each coupling taken as satisfied: sum_(ij) |w_ij|/T + sum_i log 2 cosh(b_i/T)
"""

from typing import NamedTuple

import numpy as np

from ...checking.arrays import first_largest, first_smallest, no_such_attribute
from ...checking.budgets import memory_to_spend
from ...checking.calls import show_call
from ...checking.validation import as_generator, check_positive
from ...estimate import Bounded, no_convergence_warnings
from ...model import BoltzmannMachine, check_model
from ..exact.dispatch import exact
from ..exact.planning import exact_plan
from ..sampling.visited import visited
from ..variational.free_bounds import couplings_bound
from ..variational.naive_mean_field import mean_field
from .gaussian_integral import gaussian_bound
from .structured_mean_field import tree_mean_field
from .tree_reweighting import trw

MEAN_FIELD_STARTS = 9  # of mean_field(), from which the lower bound by trees starts
VISITED_SWEEPS = 100  # of 100 chains: if few states dominate Z, they are soon visited
TRW_STEPS = 5  # of trw(): further steps lower its bound by less than a thousandth
MAX_INVERTED_UNITS = 2000  # units up to which n x n matrices are inverted
MAX_TRW_COUPLINGS = 10**5  # up to which trw() is run, at a second per step


class Bracket(NamedTuple):
    """A proven interval around log Z, and the methods that gave its ends.

    log_z      with lower and upper; its value is the middle, off by at most half of the width, or exact
    lower_by, upper_by   the methods that gave the ends
    bounds     name -> bound, for every method that ran; bracketing.py lists the lower and the upper bounds

    >>> bmlab.bracket(bmlab.toy(), rng=0).log_z == bmlab.exact(bmlab.toy()).log_z
    True
    """

    log_z: Bounded
    lower_by: str
    upper_by: str
    bounds: dict[str, float]

    __getattr__ = no_such_attribute

    def __repr__(self):
        return f"Bracket({self.log_z}, by {self.lower_by} and {self.upper_by})"

    @property
    def width(self) -> float:
        """The width of the interval, in nats."""
        return self.log_z.upper - self.log_z.lower


@show_call("bmlab.bracket(model, rng=0)")
def bracket(model: BoltzmannMachine, *, rng: np.random.Generator | int, max_seconds: float = 5.0) -> Bracket:
    """Return the tightest proven interval around log Z; exact if the plan of exact() takes at most `max_seconds`.

    Every bound is proven for real numbers; in doubles it is right to about 1e-12 of its size.
    Raises ValueError if max_seconds is not positive.

    >>> found = bmlab.bracket(bmlab.medium(), rng=0)
    >>> found.lower_by, found.width
    ('exact', 0.0)
    """
    check_model(model)
    rng = as_generator(rng)
    max_seconds = check_positive("max_seconds", max_seconds, 5, infinite=True)
    price = exact_plan(model, pairs="couplings", want="log_z")
    if price.core_seconds > max_seconds or price.bytes > memory_to_spend():
        return bracket_without_exact(model, rng)
    log_z = exact(model, pairs="couplings", want="log_z", max_seconds=np.inf).log_z
    return Bracket(log_z, "exact", "exact", {"exact": log_z.value})


def bracket_without_exact(model: BoltzmannMachine, rng: np.random.Generator) -> Bracket:
    """Return the bracket from all methods but exact(); methods that would take minutes are left out."""
    above = {"couplings": couplings_bound(model)}
    with no_convergence_warnings():
        product = mean_field(model, starts=MEAN_FIELD_STARTS)
        seen = visited(model, rng=rng, n_sweeps=VISITED_SWEEPS)
        below = {"mean field": product.log_z.lower, "visited": seen.log_z.lower}
        if model.coupling_count() <= MAX_TRW_COUPLINGS:
            above["trw"] = trw(model, max_steps=TRW_STEPS).log_z.upper
    if model.n <= MAX_INVERTED_UNITS:
        below["tree"] = tree_mean_field(model, product.mean)
        above["Gaussian"] = gaussian_bound(model)
    return between(below, above)


def between(below: dict[str, float], above: dict[str, float]) -> Bracket:
    """Return the bracket from the best of these lower and upper bounds."""
    lower_by = list(below)[first_largest([*below.values()])]
    upper_by = list(above)[first_smallest([*above.values()])]
    lower, upper = below[lower_by], above[upper_by]
    return Bracket(Bounded((lower + upper) / 2, 0.0, lower, upper), lower_by, upper_by, below | above)
