"""Calls that fit no signature: each is answered by one sentence whose example runs."""

import inspect
import pickle
import re

import pytest

import bmlab
import bmlab.estimators
import bmlab.plot
import bmlab.widgets
from bmlab.checking.calls import HOLDERS
from bmlab.widgets.machine import ModelView

MODEL = bmlab.toy()
DATA = bmlab.sample(MODEL, 40, rng=0)
FIT = bmlab.maximize(MODEL, bmlab.states(3))
ESTIMATORS = [getattr(bmlab.estimators, name)() for name in bmlab.estimators.__all__]
RESTRICTED = bmlab.restricted([[0.1], [0.2], [0.3]], [0, 0, 0], [0])
HELD = "|".join([*HOLDERS.values(), "view"])
NAMED = [  # functions with arguments that must be named and have no default
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


def own_methods(kind):
    """The names of the public methods that a class has from this package, in an order that no hash decides."""
    ours = [vars(base) for base in kind.__mro__ if base.__module__.startswith("bmlab")]
    names = {name for part in ours for name, f in part.items() if inspect.isfunction(f) and name[0] != "_"}
    return sorted(name for name in names if getattr(kind, name).__module__.startswith("bmlab"))


def public_calls():
    """Every function of the package and of its modules, every class that one makes, every method of its objects."""
    found = {
        f"bmlab.{name}": getattr(bmlab, name) for name in bmlab.__all__ if inspect.isfunction(getattr(bmlab, name))
    }
    found["bmlab.BoltzmannMachine"] = bmlab.BoltzmannMachine
    views = [getattr(bmlab.widgets, name) for name in bmlab.widgets.__all__ if name.endswith("View")]
    views = [view(MODEL) for view in views if issubclass(view, ModelView)]
    for thing in (MODEL, FIT, *views, *ESTIMATORS):
        found |= {f"{type(thing).__name__}.{name}": getattr(thing, name) for name in own_methods(type(thing))}
    del found["RestrictedBoltzmann.transform"]  # scikit-learn's set_output asks for X first
    for module in (bmlab.data, bmlab.estimators, bmlab.plot, bmlab.widgets):
        own = getattr(module, "__all__", None) or [
            name
            for name, f in vars(module).items()
            if inspect.isfunction(f) and f.__module__ == module.__name__ and name[0] != "_"
        ]
        found |= {f"{module.__name__}.{name}": getattr(module, name) for name in own}
    return {name: thing for name, thing in found.items() if callable(thing)}


CALLABLE = public_calls()


@pytest.mark.parametrize("name", CALLABLE)
def test_every_call_that_does_not_fit_gets_a_sentence_with_one_that_does(name):
    """exact(toy, True), pseudolikelihood(model, data) and data.raster() got Python's own words."""
    thing, own = CALLABLE[name], name.rpartition(".")[2]
    kinds = {p.kind for p in inspect.signature(thing).parameters.values()}
    wrong = [((), {"zzz": 1})] if inspect.Parameter.VAR_KEYWORD not in kinds else []
    wrong += [((None,) * 40, {})] if inspect.Parameter.VAR_POSITIONAL not in kinds else []
    for args, kwargs in wrong:
        with pytest.raises(TypeError, match=rf"^{own}\(\) (has|takes|needs) .*; try (bmlab|{HELD})\.") as error:
            thing(*args, **kwargs)
        assert error.value.__cause__ is None and error.value.__context__ is None
    assert len(CALLABLE) > 100


def test_transform_gets_a_sentence_once_it_has_its_rows():
    with pytest.raises(TypeError, match=r"^transform\(\) has no argument 'zzz'; try features\.transform\(X\)$"):
        bmlab.estimators.RestrictedBoltzmann().transform([[0, 1]], zzz=1)


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
