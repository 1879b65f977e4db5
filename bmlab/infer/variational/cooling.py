"""Deterministic annealing: follow one fixed point from hot to cold.

m(T_1) -> m(T_2) -> ...,      each temperature begun at the answer of the one before.
"""

from collections.abc import Iterable, Iterator

from ...estimate import Estimate, Method
from ...model import BoltzmannMachine


def cooled(model: BoltzmannMachine, temperatures: Iterable[float], method: Method) -> Iterator[Estimate]:
    """Yield method(model.at(T)) for each T, started from the `state` of the one before: deterministic annealing.

    From hot, where there is one fixed point, to cold the answer stays in the valley that opens first; whether that is
    the deepest depends on the path.  For any method with a warm start: mean_field, tap, bethe.  Peterson and Anderson
    (1987), Complex Systems 1, 995.
    """
    state = None
    for temperature in temperatures:
        answer = method(model.at(temperature), start=state)
        state = answer.state
        yield answer
