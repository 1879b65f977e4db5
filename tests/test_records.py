"""Whatever the package answers can be pickled and copied, as notebooks, pools of processes and joblib do."""

import inspect
import pickle
from copy import deepcopy
from dataclasses import fields, is_dataclass
from functools import partial

import numpy as np
import pandas as pd
import pytest
from fuzz_cases import CASES
from scipy import sparse
from test_fuzz import call, public

import bmlab

CONTEXTS, OTHERS = ("progress", "workers"), ("widgets.", "data.mnist")  # views of a page; and one that takes seconds
ANSWERED = [name for name in CASES if not name.startswith(CONTEXTS + OTHERS)]


def same(one, other):
    """Whether two objects are alike in every part, to the bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if sparse.issparse(one):
        return one.format == other.format and all(map(same, csr(one), csr(other)))
    if isinstance(one, pd.DataFrame):
        return one.equals(other)
    if isinstance(one, float):
        return same(np.array(float(one)), np.array(float(other))) and same(vars_of(one), vars_of(other))
    if is_dataclass(one):
        return all(same(getattr(one, part.name), getattr(other, part.name)) for part in fields(one))
    if isinstance(one, partial):
        return same(one.__reduce__()[2], other.__reduce__()[2])
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or (hasattr(one, "adj") and same(dict(one.adj), dict(other.adj)))


def csr(x):
    held = x.tocsr()
    return held.data, held.indices, held.indptr


def vars_of(x):
    return getattr(x, "__dict__", {})


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
            assert same(twin, answer), name
        met |= set(types_in(answer))
    offered = {thing for thing in vars(bmlab).values() if inspect.isclass(thing)}
    assert offered - met == {bmlab.Method, bmlab.NotConverged}  # which nobody answers


@pytest.mark.parametrize("dense", [True, False])
def test_the_copy_of_a_machine_cannot_be_changed_either(dense):
    model = bmlab.medium() if dense else bmlab.ising((2, 3))
    for twin in (pickle.loads(pickle.dumps(model)), deepcopy(model)):
        weights = twin.weights if dense else twin.weights.data
        assert not weights.flags.writeable and not twin.biases.flags.writeable
