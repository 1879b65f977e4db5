"""Deterministic annealing: follow one fixed point along a path of temperatures, from hot to cold.

m(T_1) -> m(T_2) -> ...,      each temperature starts from the answer at the previous one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ...checking.calls import show_call
from ...checking.validation import describe
from ...estimate import Estimate, Method, call_method, check_method
from ...model import BoltzmannMachine, check_model


@show_call()
def temperature_path(model: BoltzmannMachine, temperatures: Iterable[float], infer: Method) -> Iterator[Estimate]:
    """Yield infer(model.at(T)) for each T, started from the `state` of the previous one: deterministic annealing.

    At high T there is one fixed point; on the way to low T the answer stays in the valley that opens first, which may
    not be the deepest.  For any method with a warm start: mean_field, tap, bethe.  Peterson and Anderson
    (1987), Complex Systems 1, 995.

    >>> [f"{answer.mean[0]:.2f}" for answer in bmlab.temperature_path(bmlab.toy(), [100, 10, 1], bmlab.mean_field)]
    ['0.01', '0.05', '0.83']
    """
    check_model(model)
    check_method("infer", infer, "model", start=None)
    if not np.iterable(temperatures) or isinstance(temperatures, (str, dict)):
        raise ValueError(f"temperatures must be several, found {describe(temperatures)}; try np.geomspace(10, 1, 20)")
    return _cooled(model, temperatures, infer)


def _cooled(model, temperatures, infer):
    state = None
    for temperature in temperatures:
        answer = call_method("infer", infer, model.at(temperature), start=state)
        state = answer.state
        yield answer
