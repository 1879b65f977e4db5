"""Exact answers in parts: hold k units at each of their 2^k states, and sum the others by matrix products.

    Z = sum_v Z(v),     <s_i> = sum_v Z(v)/Z <s_i>_v,     <v_i s_j> = sum_v Z(v)/Z v_i <s_j>_v

where v runs over the states of the units held, and Z(v) is that of the machine clamped to v.  The parts are of one
size, so that memory does not grow with n, and none needs to know of another: they go to workers where there are any.
Without biases v and -v weigh the same, and half of the parts is enough.
"""

from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from ...model import BoltzmannMachine
from ...parallel import in_parts
from .matrix_products import draw_by_products, log_z_by_products, sum_by_products
from .resuming import Saved
from .small_tables import sum_by_tables

PART_UNITS = 33  # units of a part: a second or two, and a sixth of a GiB
LARGER_UNITS = 36  # beyond 2^PARTS parts of those: ten seconds, and half a GiB
PARTS = 13
TABLE_UNITS = 13  # a part that is halved so far is in range at any temperature
CALM = 600  # twice the sum of all energies over T, up to which no product leaves the range of a double


class Answer(NamedTuple):
    """Hold log Z, and where they were asked for mean (n,) and corr (n, n)."""

    log_z: float
    mean: Any = np.nan
    corr: Any = np.nan


def held_units(n: int) -> int:
    """Return how many of n units are held; it follows from n alone."""
    return 0 if n <= PART_UNITS else n - (PART_UNITS if n <= PART_UNITS + PARTS else LARGER_UNITS)


def sum_by_parts(model: BoltzmannMachine, k: int, moments: bool = True, saved: Saved | None = None) -> Answer:
    """Return the Answer, log Z without the offset; `saved` is where a run goes on that was ended early."""
    own, order = strongest_first(model)
    even = not own.biases.any()
    size = own.n if moments else 0
    fold = Fold.made(size, k) if saved is None else Fold(k, **saved.begun(Fold.made(size, k).state()))
    try:
        with closing(in_parts(partial(_part, own, k, moments), range(fold.done, 2 ** (k - even)))) as answers:
            for answer in answers:
                fold.add(answer)
                if saved:
                    saved.keep(fold.state())
    finally:
        if saved:
            saved.write()
    log_z, mean, corr = fold.answer()
    if not moments:
        return Answer(log_z + even * np.log(2))
    back = np.argsort(order)
    return Answer(log_z + even * np.log(2), mean[back] * (not even), corr[np.ix_(back, back)])


def strongest_first(model: BoltzmannMachine) -> tuple[BoltzmannMachine, np.ndarray]:
    """Return the machine, dense and without offset, in an order of its units: those held first leave weak ones."""
    weights = model.dense_weights
    order = np.argsort(-(weights**2).sum(0), kind="stable")
    return BoltzmannMachine(weights[np.ix_(order, order)], model.biases[order], model.temperature), order


@dataclass
class Fold:
    """Add up parts in their order, one in memory at a time; weights are relative to the largest so far."""

    k: int
    done: int
    top: float
    total: float
    mean: np.ndarray
    corr: np.ndarray

    @classmethod
    def made(cls, n: int, k: int) -> "Fold":
        """Return an empty one of n units, the first k of them held; n = 0 where log Z alone is asked for."""
        return cls(k, 0, -np.inf, 0.0, np.zeros(n), np.zeros((n, n)))

    def state(self) -> dict[str, Any]:
        """Return all but k."""
        return {name: value for name, value in vars(self).items() if name != "k"}

    def add(self, part: Answer) -> None:
        """Add the next part."""
        v, top = _signs(self.k, self.done), max(self.top, part.log_z)
        fade, weight = np.exp(self.top - top), np.exp(part.log_z - top)
        self.done, self.top, self.total = self.done + 1, top, self.total * fade + weight
        if len(self.mean):
            across = np.outer(v, part.mean)
            self.mean = self.mean * fade + weight * np.append(v, part.mean)
            self.corr = self.corr * fade + weight * np.block([[np.outer(v, v), across], [across.T, part.corr]])

    def answer(self) -> Answer:
        """Return what all parts together say."""
        return Answer(self.top + np.log(self.total), self.mean / self.total, self.corr / self.total)


def _signs(k, number):
    """Return the state (k,) of -1/+1 that has a number."""
    return np.array([2.0 * (number >> i & 1) - 1 for i in range(k)])


def _part(model, k, moments, number):
    """Return the Answer of the machine whose first k units are held at the state of a number."""
    return _free(model.clamp(np.arange(k), _signs(k, number)), moments)


def _free(model, moments):
    """Return the Answer; where the products leave the range of a double, of each half of the states by itself."""
    answer = _at_once(model, moments)
    if answer is not None:
        return answer._replace(log_z=answer.log_z - model.offset / model.temperature)
    fold = Fold.made(model.n if moments else 0, 1)
    for number in range(2):
        fold.add(_part(model, 1, moments, number))
    return fold.answer()


def _at_once(model, moments):
    if model.n <= TABLE_UNITS:
        return Answer(*sum_by_tables(model))
    if moments:
        answer = sum_by_products(model)
        return answer and Answer(*answer)
    log_z = log_z_by_products(model)
    return None if log_z is None else Answer(log_z)


def halvings(model: BoltzmannMachine, k: int) -> int:
    """Return how often the first part is halved before products do; the others are much like it."""
    size = np.abs(model.weights).sum() / 2 + np.abs(model.biases).sum()
    if 2 * size < CALM * model.temperature:
        return 0
    own, count = strongest_first(model)[0], 0
    free = own.clamp(np.arange(k), _signs(k, 0))
    while free.n > TABLE_UNITS and log_z_by_products(free) is None:
        free, count = free.clamp([0], [-1]), count + 1
    return count


def draw_by_parts(model: BoltzmannMachine, k: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return independent states (size, n): the units held by log Z of each part, then the others given these."""
    own, order = strongest_first(model)
    log_z = [answer.log_z for answer in in_parts(partial(_part, own, k, False), range(2**k))]
    s = np.empty((size, model.n))
    s[:, order] = _drawn(own, k, np.array(log_z), size, rng)
    return s


def _drawn(model, k, log_z, size, rng):
    number = rng.choice(2**k, size, p=scipy.special.softmax(log_z))
    s = np.empty((size, model.n))
    for one in np.unique(number):
        here, v = np.flatnonzero(number == one), _signs(k, int(one))
        free = model.clamp(np.arange(k), v)
        rest = draw_by_products(free, len(here), rng)
        if rest is None:
            rest = _drawn(free, 1, np.array([_part(free, 1, False, half).log_z for half in range(2)]), len(here), rng)
        s[here, :k], s[here, k:] = v, rest
    return s
