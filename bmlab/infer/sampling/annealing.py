"""Simulated annealing: sweep while the temperature falls, and keep the best state visited.

    schedule T_1, T_2, ...:  at each, one Gibbs sweep of p(s) = exp(-E(s)/T) / Z

At a high temperature a chain moves anywhere; at a low temperature only downhill.  If cooled slowly enough, it ends in a
deep valley, but with certainty in the deepest only for schedules that are too slow in practice.  Kirkpatrick, Gelatt
and Vecchi (1983), Science 220, 671.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...checking.arrays import first_smallest, no_such_attribute, sealed
from ...checking.calls import show_call
from ...checking.validation import MAX_ENERGY, ArrayLike, as_generator, check_array
from ...model import BoltzmannMachine, check_model, energy_of
from ...running.progress_bars import with_progress
from .chains import Chains
from .gibbs import first_states


class Annealed(NamedTuple):
    """The lowest energy that each chain has visited (n_chains,), and its state (n_chains, n).

    >>> bmlab.anneal(bmlab.toy(), [2.0, 0.1], rng=0, n_chains=2).states.shape
    (2, 3)
    """

    energies: np.ndarray
    states: np.ndarray

    __getattr__ = no_such_attribute

    def __repr__(self):
        return f"Annealed(energy={self.energy:.6g}, the lowest of {len(self.energies)} chains)"

    @property
    def energy(self) -> float:
        """The lowest energy of all chains."""
        return float(self.energies.min())

    @property
    def state(self) -> np.ndarray:
        """The state (n,) of the first chain that has it."""
        return self.states[first_smallest(self.energies)]


@show_call("bmlab.anneal(model, [3, 2, 1], rng=0)")
def anneal(
    model: BoltzmannMachine,
    schedule: ArrayLike,
    *,
    rng: np.random.Generator | int,
    start: ArrayLike | None = None,
    n_chains: int | None = None,
) -> Annealed:
    """Cool `n_chains` chains along `schedule`, a sweep per temperature (simulated annealing); return the best states.

    schedule  positive temperatures in the units of the energy, one per sweep; the model's own is not used.  A good one
              is np.geomspace(hot, cold, 2000), from twice a typical field to a fifth of the smallest energy of a flip;
              at lower temperatures nothing moves
    start, n_chains   as in gibbs(): states (chains, n), or (chains, v) for the first v units; None: 100 random states
    Raises ValueError for a temperature that is not between 1e-100 and 1e100, as for a machine.  The best state is not
    guaranteed to be the lowest; ground_state() proves it if exact() can solve the machine.

    >>> bmlab.anneal(bmlab.ising((4, 4)), np.geomspace(4, 0.1, 100), rng=0).energy
    -32.0
    """
    check_model(model)
    rng = as_generator(rng)
    schedule = _checked(schedule)
    chains = Chains(model, first_states(model, rng, start, n_chains).T, rng, n_sweeps=len(schedule))
    states, energies = chains.s.T.astype(float), energy_of(model, chains.s.T)
    for temperature in with_progress(schedule, "sweep"):
        chains.sweep(beta=1 / temperature)
        now = chains.energies()
        better = now < energies
        states[better], energies[better] = chains.s.T[better], now[better]
    return sealed(Annealed(energy_of(model, states), states))


def _checked(schedule):
    schedule = check_array("schedule", schedule, "try np.geomspace(10, 0.1, 100)")
    right = (schedule > 1 / MAX_ENERGY) & (schedule < MAX_ENERGY)  # as for a machine
    if schedule.ndim != 1 or not right.all():
        wrong = schedule[~right]
        found = f"shape {schedule.shape}" if schedule.ndim != 1 else f"{wrong[0]:g}"
        raise ValueError(
            f"schedule must be a row of positive temperatures, found {found}; try np.geomspace(10, 0.1, 100)"
        )
    return schedule
