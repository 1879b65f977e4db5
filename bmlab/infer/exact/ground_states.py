"""Ground states: the lowest energy and its states, with ties decided by exact sums.

Draw many states from p(s) at a temperature of 64 roundings of the sum of all |w| and |b|: a sum in doubles cannot tell
their energies from the lowest.  Units that have the same sign in all of them keep it; units whose product is the same
in all of them are joined, s_i = o_i t_a, and the machine of the t,

    W_ab = sum_ij w_ij o_i o_j,     b_a = sum_i b_i o_i + sum_ij w_ij o_i o_j  (j of those that keep their sign),

is solved in the same way, at a temperature fitting its own smaller numbers.  Sums are made by math.fsum, which rounds
once.  If no two units are joined, the draws are compared: fsum gives a difference of energies the right sign.

The k lowest states follow by splitting: after the lowest state s of a set, the rest of the set are the states that
agree with s before unit i and differ there, for each i (Lawler 1972, Management Science 18, 401).
"""

from __future__ import annotations

from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from math import fsum
from typing import NamedTuple

import numpy as np
import scipy

from ...checking.arrays import no_such_attribute, sealed
from ...checking.budgets import check_memory
from ...checking.calls import show_call
from ...checking.validation import check_count, summary
from ...model import BoltzmannMachine, check_model
from ...running.progress_bars import with_progress
from .dispatch import component_of
from .exact_sampling import draw_component
from .planning import check_cost, exact_plan

DRAWS = 128  # per component; if up to FEW_STATES states are lowest, the chance to miss any of them is 3e-7
FEW_STATES = 8
COLDEST = 2.0**-46  # temperature in units of the sum of all |w| and |b|: 64 roundings of it


class GroundState(NamedTuple):
    """The lowest energy, a state (n,) that has it, and whether it is known to be the only one.

    >>> bmlab.ground_state(bmlab.toy()).energy
    -1.5
    """

    energy: float
    state: np.ndarray
    is_unique: bool

    __repr__ = summary
    __getattr__ = no_such_attribute


class LowestStates(NamedTuple):
    """Energies (k,), the lowest first, and the states (k, n) that have them.

    >>> bmlab.lowest_states(bmlab.toy(), 2).energies
    array([-1.5, -1.5])
    """

    energies: np.ndarray
    states: np.ndarray

    __repr__ = summary
    __getattr__ = no_such_attribute


@show_call()
def ground_state(model: BoltzmannMachine) -> GroundState:
    """Return the lowest energy and a state that has it: a perfect sample of the machine at T -> 0.

    is_unique   True: every other state is higher, if only by less than the rounding of the sum.  False: another state
                is as low (always so without biases); or more than a few states lie within that rounding, and the state
                is the lowest of those drawn.
    Raises ValueError as exact() does.

    >>> bmlab.ground_state(bmlab.ising((4, 4)))  # all up, or all down
    GroundState(energy=-32.0, state=array of shape (16,), is_unique=False)
    """
    check_model(model)
    state, is_unique = _lowest(model)
    return sealed(GroundState(float(model.energy(state)), state, is_unique))


@show_call()
def lowest_states(model: BoltzmannMachine, k: int) -> LowestStates:
    """Return the k lowest states and their energies, the lowest first; states of equal energy count separately.

    k   at most 2^n
    Cost: up to k n calls of ground_state().  Raises ValueError as exact() does.

    >>> bmlab.lowest_states(bmlab.ising((3, 3)), 3).energies  # two, and then one unit turned
    array([-18., -18., -10.])
    """
    check_model(model)
    k = check_count("k", k)
    if k > 2 ** min(model.n, 53):
        raise ValueError(f"k must be at most the {2**model.n} states of the model, found {k}; try k={2**model.n}")
    check_memory(f"{k:,} states of {model.n:,} units would be listed", 16.0 * k * (model.n + 4), "list fewer")
    tie, found = count(), []
    first, _ = _lowest(model)
    heap = [(exact_energy(model, first), next(tie), first, 0)]
    for _ in with_progress(range(k), "state"):
        _, _, state, fixed = found_one = heappop(heap)
        found.append(found_one)
        for unit in range(fixed, model.n) if len(found) < k else ():
            other = np.where(np.arange(model.n) < unit, state, 1.0)
            other[unit] = -state[unit]
            place = np.arange(-1 - unit, model.n - 1 - unit).clip(-1)
            other[unit + 1 :], _ = _lowest(_joined(model, other, place, model.n - 1 - unit))
            heappush(heap, (exact_energy(model, other), next(tie), other, unit + 1))
    states = np.array([state for _, _, state, _ in sorted(found, key=lambda one: one[0])])
    return sealed(LowestStates(model.energy(states), states))


def exact_energy(model: BoltzmannMachine, s: np.ndarray) -> Fraction:
    """Return E(s) without the offset as a fraction, without rounding."""
    w, row, col = _pairs(model)
    terms = np.concatenate([-w * s[row] * s[col], -model.biases * s])
    return sum(map(Fraction, terms.tolist()), Fraction(0))


def _lowest(model):
    """Return a lowest state (n,), and whether it is known to be the only one."""
    price = exact_plan(_cooled(model), pairs="couplings")
    check_cost(price)
    state, is_unique = np.empty(model.n), True
    for component in price.components:
        own = component_of(model, component.units)
        state[component.units], alone = _of_component(own, component) if own.has_couplings else _of_independent(own)
        is_unique = is_unique and alone
    return state, is_unique


def _of_independent(model):
    return np.where(model.biases < 0, -1.0, 1.0), bool((model.biases != 0).all())


def _of_component(model, component):
    """Return a lowest state of a connected component, by draws at a very low temperature."""
    if not _pairs(model)[0].size:  # stored zeros
        return _of_independent(model)
    drawn = np.unique(draw_component(_cooled(model), component, DRAWS, np.random.default_rng(0)), axis=0)
    signs = drawn[0]
    columns, group = np.unique((drawn * signs).astype(np.int8), axis=1, return_inverse=True)
    fixed = (columns == 1).all(0)
    place = np.where(fixed, -1, np.cumsum(~fixed) - 1)[group.ravel()]  # of each unit among the joined ones; -1: fixed
    n_joined = int((~fixed).sum())
    if n_joined == model.n:
        return _lowest_of(model, drawn[::-1])
    joined, is_unique = _lowest(_joined(model, signs, place, n_joined)) if n_joined else (np.empty(0), True)
    return signs * np.append(joined, 1.0)[place], is_unique


def _cooled(model):
    """Return the machine at the temperature COLDEST, its numbers divided by a power of 2 near their sum, exactly."""
    total = fsum([*np.abs(_pairs(model)[0]), *np.abs(model.biases)])
    unit = 2.0 ** np.frexp(total)[1]
    return BoltzmannMachine(model.weights / unit, model.biases / unit, COLDEST)


def _lowest_of(model, drawn):
    """Return the lowest of the states drawn; of equal ones the first."""
    best, ties = drawn[0], False
    w, row, col = _pairs(model)
    for s in drawn[1:]:
        rise = fsum([*(w * (best[row] * best[col] - s[row] * s[col])), *(model.biases * (best - s))])
        if rise < 0:
            best, ties = s, False
        ties = ties or rise == 0
    return best, bool(not ties and len(drawn) <= FEW_STATES)


def _joined(model, signs, place, count):
    """Return the machine of the joined units, from each unit's sign and its place among them, -1 if it is fixed."""
    w, row, col = _pairs(model)
    one, other = np.minimum(place[row], place[col]), np.maximum(place[row], place[col])
    pair, sums = _sums_by(one * count + other, w * signs[row] * signs[col], (one >= 0) & (one < other))
    unit, fields = _sums_by(
        np.append(other, place),
        np.append(w * signs[row] * signs[col], model.biases * signs),
        np.append((one < 0) & (other >= 0), place >= 0),
    )
    biases = np.zeros(count)
    biases[unit] = fields
    upper = scipy.sparse.csr_array((sums, np.divmod(pair, count)), shape=(count, count))
    weights = upper + upper.T
    return BoltzmannMachine(weights if model.is_sparse else weights.toarray(), biases)


def _sums_by(label, values, taken):
    """Return the labels that occur, and the sum of the values of each, rounded once; sums of 0 are left out."""
    label, values = label[taken], values[taken]
    order = np.argsort(label, kind="stable")
    found, first = np.unique(label[order], return_index=True)
    sums = np.array([fsum(group) for group in np.split(values[order], first[1:])][: len(found)])
    return found[sums != 0], sums[sums != 0]


def _pairs(model):
    """Return (weights, i, j) of the coupled pairs i < j."""
    upper = scipy.sparse.triu(scipy.sparse.csr_array(model.weights), 1, format="coo")
    kept = upper.data != 0
    return upper.data[kept], upper.row[kept].astype(np.int64), upper.col[kept].astype(np.int64)
