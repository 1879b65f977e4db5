"""Runs that grow with the time there is: a short one first, and the last as long as what is left allows."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from time import perf_counter
from typing import NamedTuple

from ..estimate import Estimate
from ..model import BoltzmannMachine
from .exact.planning import ONE_CORE

CHAINS = 100  # of Gibbs, and the least of ais
CALL, PLAIN = 3.5e-5, 5  # seconds of a class of units in NumPy's engine; and times what an update takes in Numba's
LEAST, OWN = 10, 100  # sweeps of the shortest run, and what a unit costs in a sweep beside its couplings, in products
FIRST = {"gibbs": 100, "ais": 2 * CHAINS**2, "temper": 50, "visited": 100}  # sweeps, or steps of all chains


class Ran(NamedTuple):
    """Hold the answer of one run of a sampler, the steps of each of its chains, and the seconds it took."""

    answer: Estimate
    steps: int
    seconds: float


def grow(run: Callable, amount: int, until: float) -> Iterator[Ran]:
    """Yield ever longer runs, run(amount, last Ran) -> (answer, steps); the last as long as the time left allows."""
    ran = None
    while True:
        begin = perf_counter()
        answer, steps = run(amount, ran)
        ran = Ran(answer, steps, perf_counter() - begin)
        yield ran
        more = 0.8 * (until - perf_counter()) / ran.seconds
        if more < 1:
            return
        amount = int(amount * (4 if more > 16 else more))


def first_amount(model: BoltzmannMachine, name: str, seconds: float) -> int:
    """Return how long the first run of a sampler is: FIRST, or less where that would take a quarter of the time."""
    sweep = CHAINS * (2 * model.coupling_count() + OWN * model.n) / ONE_CORE
    if find_spec("numba") is None:
        sweep = PLAIN * sweep + CALL * len(model.colours)
    steps = FIRST[name] / (CHAINS if name == "ais" else 1)
    share = max(seconds, 0) / 4 / max(steps * sweep, 1e-9)
    return int(FIRST[name] * min(1.0, share))
