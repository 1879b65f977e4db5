"""The types of the arguments of every public function."""

import inspect
from collections.abc import Iterable, Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt
import pytest
from fuzz_cases import CASES, public
from test_examples import PUBLIC

import bmlab
from bmlab import exercises, plot, widgets
from bmlab.checking.validation import Sparse

FUNCTIONS = {name: thing for name, thing in PUBLIC.items() if name != "bmlab.NotConverged"}  # an exception has none
DRAWN = {name: object for name in ("Axes", "Figure", "Bracket", "Step")} | {"ArrayLike": npt.ArrayLike}  # bmlab.plot's


@pytest.mark.parametrize("name", [name for name, f in FUNCTIONS.items() if "rng" in inspect.signature(f).parameters])
def test_what_draws_takes_a_generator_or_a_seed_by_keyword(name):
    rng = inspect.signature(FUNCTIONS[name]).parameters["rng"]
    assert rng.kind == rng.KEYWORD_ONLY
    found = kinds_of(FUNCTIONS[name], "rng") - {NoneType}
    assert found == {np.random.Generator, int}, f"write rng: np.random.Generator | int in {name}"


def kinds_of(function, argument):
    """The types that an argument may have, of a class that of its constructor."""
    function = inspect.unwrap(function.__init__ if inspect.isclass(function) else function)
    names = DRAWN if function.__module__.startswith("bmlab.plot") else None
    hint = get_type_hints(function, localns=names)[argument]
    return set(get_args(hint)) if get_origin(hint) in (Union, UnionType) else {hint}


ARRAYS = [
    (name, argument)
    for name, (call, arguments) in CASES.items()
    for argument, (given, cases) in arguments.items()
    if any(
        isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "bif"
        for value in [given.get(argument), *(case.value for case in cases if case.verdict != "bad")]
    )
]


@pytest.mark.parametrize("door", ARRAYS, ids=".".join)
def test_where_an_array_is_taken_the_type_says_so(door):
    kinds = kinds_of(public()[door[0]], door[1])
    iterated = any(Iterable in (kind, get_origin(kind)) for kind in kinds)
    assert kinds & {Any, object} or iterated or set(get_args(npt.ArrayLike)) <= kinds


@pytest.mark.parametrize("door", ARRAYS, ids=".".join)
def test_where_a_sparse_array_is_taken_the_type_says_so(door):
    name, argument = door
    taken = [case for case in CASES[name][1][argument][1] if case.verdict != "bad" and hasattr(case.value, "tocsr")]
    assert not taken or {Sparse, Any, object} & kinds_of(public()[name], argument)


@pytest.mark.parametrize("name", [name for name, f in FUNCTIONS.items() if "names" in inspect.signature(f).parameters])
def test_names_are_words_in_any_list(name):
    assert {get_origin(kind) for kind in kinds_of(FUNCTIONS[name], "names")} & {Iterable, Sequence}


@pytest.mark.parametrize("package", [bmlab, plot, widgets, exercises])
def test_what_a_package_offers_is_there_and_is_all_that_its_pages_lead_to(package):
    offered = package.__all__
    assert len({*offered}) == len(offered) and all(getattr(package, name) is not None for name in offered)
    known = {name.rpartition(".")[2] for name in PUBLIC if name.rpartition(".")[0] == package.__name__}
    assert known <= {*offered}
