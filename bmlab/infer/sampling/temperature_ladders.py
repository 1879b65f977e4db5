"""Ladders: copies of the machine at temperatures from cold to hot, which swap their temperatures.

Replica k follows p_k(s) = exp(-beta_k E(s)) / Z_k, beta_k = 1/T_k.  After each sweep neighbours swap with the chance

    a = min(1, exp((beta_k - beta_{k+1}) (E_k - E_{k+1}))),

which leaves the product of all p_k as it is.  So a state leaves its valley where there are none (beta = 0: units are
tossed like coins), and comes back to another one.  Swendsen and Wang (1986), Phys. Rev. Lett. 57, 2607; Geyer (1991),
Computing Science and Statistics 23, 156; Hukushima and Nemoto (1996), J. Phys. Soc. Jpn. 65, 1604.  Even and odd pairs
take turns, which carries a replica on in its direction: Okabe and others (2001), Chem. Phys. Lett. 335, 435; Syed and
others (2022), J. R. Stat. Soc. B 84, 321.

The rungs stand where all neighbours swap about half of the time: near there round trips cost least (Syed and others).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...model import BoltzmannMachine, energy_of
from ...progress_bars import watched
from .chains import Chains

REJECTED = 0.5  # share of swaps
SETTLE = 20  # sweeps at each temperature of the first cooling
ROUNDS, PILOT = 3, 100  # how often a ladder is evened out, and the sweeps in which its swaps are counted for that


class Ladder(NamedTuple):
    """Hold temperatures (rungs,) from cold to hot, and states s (n_chains, rungs, n): one replica a rung and ladder."""

    temperatures: np.ndarray
    s: np.ndarray


class Replicas:
    """Move independent ladders of replicas, all of them chains side by side.

    at (n_chains, rungs) is the chain at each rung: swaps change it, and the states stay where they are.
    """

    def __init__(self, model: BoltzmannMachine, ladder: Ladder, rng: np.random.Generator):
        self.model, self.rng, self.temperatures = model, rng, ladder.temperatures
        self.beta = 1 / ladder.temperatures
        self.at = np.arange(np.prod(ladder.s.shape[:2])).reshape(ladder.s.shape[:2])
        self.chains = Chains(model, ladder.s.reshape(self.at.size, model.n).T, rng)

    def ladder(self) -> Ladder:
        """Return where the replicas are now."""
        return Ladder(self.temperatures, self.chains.s.T[self.at])

    def energies(self) -> np.ndarray:
        """Return the energies at each rung, (n_chains, rungs)."""
        return energy_of(self.model, self.chains.s.T)[self.at]

    def sweeps(self, count: int) -> Iterator[np.ndarray]:
        """Sweep and exchange `count` times; yield the energies in between, (n_chains, rungs)."""
        for _ in watched(range(count), "sweep"):
            self.chains.beta[self.at] = self.beta
            self.chains.sweep()
            energies = self.energies()
            yield energies
            self.exchange(energies, self.chains.count % 2)

    def exchange(self, energies, first: int) -> None:
        """Offer a swap to the rungs k and k + 1, for k = first, first + 2, ..."""
        cold, hot = self.at[:, first:-1:2], self.at[:, first + 1 :: 2]
        swapped = self.rng.random(cold.shape) < swap_chance(self.beta, energies)[:, first::2]
        cold[:], hot[:] = np.where(swapped, (hot, cold), (cold, hot))


def swap_chance(beta, energies) -> np.ndarray:
    """Return the chance (..., rungs - 1) that neighbours swap: min(1, exp((beta_k - beta_{k+1}) (E_k - E_{k+1})))."""
    return np.exp(np.minimum(0, np.diff(beta) * np.diff(energies)))


def choose_ladder(model: BoltzmannMachine, rng: np.random.Generator, n_chains: int) -> Ladder:
    """Return temperatures up to np.inf whose neighbours swap about half of the time, and states at each."""
    ladder = _cooled(model, rng, n_chains)
    for _ in range(ROUNDS):
        ladder = _evened(model, rng, ladder)
    return ladder


def _cooled(model, rng, n_chains):
    """Cool tossed states by steps of 1 / (spread of E): were E normal, neighbours would swap half of the time."""
    chains, beta, states = Chains(model, tossed(rng, model.n, n_chains), rng), [0.0], []
    while True:
        chains.beta[:] = beta[-1]
        energies = np.concatenate([energy_of(model, s.swapaxes(1, 2)) for s in chains.draws(SETTLE)])
        states.append(chains.s.T.copy())
        if beta[-1] == 1 / model.temperature:
            return Ladder(_temperatures(beta[::-1]), np.stack(states[::-1], axis=1))
        spread = np.sqrt(np.var(energies, axis=0).mean())
        beta.append(min(1 / model.temperature, beta[-1] + 1 / max(spread, 1e-300)))


def _evened(model, rng, ladder):
    """Move the rungs to where all neighbours would reject the same share, going by the swaps on this ladder."""
    replicas = Replicas(model, ladder, rng)
    rejected = 1 - np.mean([swap_chance(replicas.beta, e).mean(0) for e in replicas.sweeps(PILOT)], axis=0)
    barrier = np.append(0, np.cumsum(rejected + 1e-9))
    rungs = 1 + int(np.ceil(barrier[-1] / REJECTED))
    beta = np.interp(np.linspace(0, barrier[-1], rungs), barrier, replicas.beta)
    nearest = np.abs(replicas.beta[:, None] - beta).argmin(0)
    return Ladder(_temperatures(beta), replicas.ladder().s[:, nearest])


def _temperatures(beta):
    return np.divide(1, beta, out=np.full(len(beta), np.inf), where=np.array(beta) > 0)


def tossed(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Return random states -1/+1 (int8)."""
    return rng.choice(np.array([-1, 1], np.int8), shape)
