"""Whatever the package answers can be pickled and copied, as notebooks, pools of processes and joblib do."""

import inspect
import pickle
from copy import deepcopy
from dataclasses import is_dataclass

import pytest
from fuzz_cases import CASES
from test_fuzz import alike, call, public

import bmlab

CONTEXTS, OTHERS = ("progress", "workers"), ("widgets.", "data.mnist", "data.yes_no")  # a page's; slow; pandas's
ANSWERED = [name for name in CASES if not name.startswith(CONTEXTS + OTHERS)]


def types_in(answer):
    yield type(answer)
    parts = vars(answer) if is_dataclass(answer) else answer if isinstance(answer, dict) else {}
    parts = answer if isinstance(answer, (list, tuple)) else parts.values()
    for part in parts:
        yield from types_in(part)


def answers():
    for name in ANSWERED:
        if name.startswith("plot."):  # matplotlib's
            continue
        answer, error, _ = call(public()[name], CASES[name][0])
        assert error is None, name
        yield name, answer


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_every_answer_of_every_function_can_be_pickled_and_copied():
    met = set()
    for name, answer in answers():
        for twin in (pickle.loads(pickle.dumps(answer)), deepcopy(answer)):
            assert type(twin) is type(answer) and alike(twin, answer), name
        met |= set(types_in(answer))
    offered = {thing for thing in vars(bmlab).values() if inspect.isclass(thing)}
    assert offered - met == {bmlab.Method, bmlab.NotConverged}  # which nobody answers


@pytest.mark.parametrize("dense", [True, False])
def test_the_copy_of_a_machine_cannot_be_changed_either(dense):
    model = bmlab.medium() if dense else bmlab.ising((2, 3))
    for twin in (pickle.loads(pickle.dumps(model)), deepcopy(model)):
        weights = twin.weights if dense else twin.weights.data
        assert not weights.flags.writeable and not twin.biases.flags.writeable
