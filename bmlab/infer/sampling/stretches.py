"""Chains in stretches: some of them by themselves, walked by whoever is free, as they would walk among all the others.

The stream of random numbers counts (random_stream.py), so that a stretch finds its own without those of the others.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...parallel import in_parts
from .averages import first_chains
from .chains import Chains

UPDATES = 2**27  # up to here chains stay together: about a second; the sooner apart, the more pieces are asked for
NUMBERS = 2**18  # units of a stretch: its fields stay in the processor's cache, and its states travel in 60 kB


class Packed(NamedTuple):
    """Hold what a stretch begins with: its first chain, states in bits, and seeds."""

    begin: int
    bits: np.ndarray
    seeds: np.ndarray


def walked(chains: Chains, ends: list[int], task: Callable[[Chains], Any]) -> Iterator[Any]:
    """Yield task(stretch) of each stretch of the chains in order, cut at these ends."""
    if len(ends) == 2:
        yield task(chains)
        return
    packed = [_packed(chains, a, b) for a, b in pairwise(ends)]
    yield from in_parts(partial(_walk, chains.stretch(0, 0), task), packed, "stretch")


def cuts(n: int, n_chains: int, sweeps: int, least: int = 1) -> list[int]:
    """Return where stretches begin, and where the last one ends: at groups that averages.py keeps apart, or inside.

    There are at least so many of them, where there is much to do.
    """
    if n * n_chains * sweeps * least <= UPDATES:
        return [0, n_chains]
    groups, pieces = first_chains(n_chains), max(-(-n * n_chains // NUMBERS), least)
    if pieces < len(groups):
        return groups[np.linspace(0, len(groups) - 1, max(2, pieces + 1)).astype(int)].tolist()
    inside = -(-pieces // (len(groups) - 1))
    places = np.interp(np.arange((len(groups) - 1) * inside + 1) / inside, np.arange(len(groups)), groups)
    return np.unique(places.astype(int)).tolist()


def _packed(chains, begin, end):
    return Packed(begin, np.packbits(chains.s[:, begin:end] > 0), chains.seeds[begin:end])


def _walk(empty, task, packed):
    shape = len(empty.s), len(packed.seeds)
    own = empty.stretch(0, 0)
    own.s = np.where(np.unpackbits(packed.bits, count=shape[0] * shape[1]).reshape(shape), 1, -1).astype(np.int8)
    own.seeds, own.first = packed.seeds, packed.begin
    own.beta = np.full(shape[1], 1 / own.model.temperature)
    return task(own)
