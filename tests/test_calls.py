"""Calls that fit no signature: each is answered by one sentence whose example runs."""

import inspect
import pickle
import re

import pytest

import bmlab

MODEL = bmlab.toy()
DATA = bmlab.sample(MODEL, 40, rng=0)
RESTRICTED = bmlab.restricted([[0.1], [0.2], [0.3]], [0, 0, 0], [0])
NAMED = [  # what has arguments that must be named and have no default
    name
    for name in bmlab.__all__
    if inspect.isfunction(function := getattr(bmlab, name))
    and any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in inspect.signature(function).parameters.values())
]


def sentence(name, *args, **kwargs):
    with pytest.raises(TypeError) as error:
        getattr(bmlab, name)(*args, **kwargs)
    assert "\n" not in str(error.value) and error.value.__cause__ is None and error.value.__context__ is None
    return str(error.value)


@pytest.mark.parametrize("name", NAMED)
def test_a_call_that_does_not_fit_is_told_one_that_does(name):
    text = sentence(name)
    assert re.match(rf"{name}\(\) needs .*; try bmlab\.{name}\(", text)
    run = eval(f"lambda bmlab, model, data: {text.split('try ')[1]}")
    assert run(bmlab, RESTRICTED if name == "pcd" else MODEL, DATA) is not None
    assert "'rng'" in sentence(name, seed=0) or "rng" not in inspect.signature(getattr(bmlab, name)).parameters
    assert "by position and the others by name; try" in sentence(name, *range(9))
    assert pickle.loads(pickle.dumps(getattr(bmlab, name))) is getattr(bmlab, name)


def test_names_of_other_libraries_lead_to_ours():
    assert "'n_samples' (did you mean 'n_sweeps'?)" in sentence("gibbs", MODEL, rng=0, n_samples=9)
    assert "'epochs' (did you mean 'steps'?)" in sentence("fit", MODEL, DATA, epochs=9, rate=0.1)
    assert "'raet' (did you mean 'rate'?)" in sentence("fit", MODEL, DATA, raet=9)
    assert "has no argument 'zzz'; try" in sentence("temper", MODEL, rng=0, zzz=9)


def test_a_type_error_of_what_is_called_stays():
    def broken(model, *, start=None):
        raise TypeError("mine")

    with pytest.raises(TypeError, match=r"^mine$"):
        bmlab.fit(MODEL, DATA, broken, steps=1, rate=0.1)
