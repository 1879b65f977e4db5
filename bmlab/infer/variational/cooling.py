"""Deterministic annealing: follow one fixed point from hot to cold.

m(T_1) -> m(T_2) -> ...,      each temperature begun at the answer of the one before.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from ...checks import in_words
from ...estimate import Estimate, Method, asked, check_method
from ...model import BoltzmannMachine, check_model


def cooled(model: BoltzmannMachine, temperatures: Iterable[float], method: Method) -> Iterator[Estimate]:
    """Yield method(model.at(T)) for each T, started from the `state` of the one before: deterministic annealing.

    From hot, where there is one fixed point, to cold the answer stays in the valley that opens first; whether that is
    the deepest depends on the path.  For any method with a warm start: mean_field, tap, bethe.  Peterson and Anderson
    (1987), Complex Systems 1, 995.

    >>> [f"{answer.mean[0]:.2f}" for answer in bmlab.cooled(bmlab.toy(), [100, 10, 1], bmlab.mean_field)]
    ['0.01', '0.05', '0.83']
    """
    check_model(model)
    check_method("method", method, "model", start=None)
    if not np.iterable(temperatures) or isinstance(temperatures, (str, dict)):
        raise ValueError(f"temperatures must be several, found {in_words(temperatures)}; try np.geomspace(10, 1, 20)")
    return _cooled(model, temperatures, method)


def _cooled(model, temperatures, method):
    state = None
    for temperature in temperatures:
        answer = asked("method", method, model.at(temperature), start=state)
        state = answer.state
        yield answer
