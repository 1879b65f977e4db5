"""The table of methods: the quantities and claims of each, its colour and marker, and its options in tests.

A method is a function  model -> Estimate.  The row stands above the function, in the file of the method:

    @method("mean field", answers=("means", "pairs", "log Z", "lower bound"), order=2, start="means", ...)
    def mean_field(model, *, start=None, starts=1, tolerance=1e-12, max_sweeps=2000): ...

Everything that lists methods reads METHODS: combine(), plots, live views, the table of docs/package.md, laws, fuzzer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

ANSWERS = ("means", "pairs", "log Z", "lower bound", "upper bound")
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Row:
    """One method.

    function  the method; its name is the row's `key`, for scripts and tests, never shown to users
    name      the method in words, for Estimate.method, labels and legends
    answers   those of ANSWERS that it gives about every machine with all options at their defaults
    order     the lowest order in the couplings at which the answer is wrong: inf if only sampling makes it wrong, None
              if that depends on the machine
    line      the method in the literature's words, for docs/package.md
    start     the kind of `start` that it takes: "nothing", "states", "means", or another word
    draws     whether it takes random numbers, `rng`
    combines  whether combine() takes its runs: their info has "n_draws", "split", "ess", "streams", as gibbs()'s
    colour, marker    in all figures and views; "" if no answer has this name
    laws      options that make it quick enough for tests/test_contract.py; `temperatures` are in units of T
    shortest  options of its shortest runs, which must answer, too
    fuzz      options for calls by tests/fuzz_cases.py
    """

    function: Callable[..., Any]
    name: str
    answers: tuple[str, ...]
    order: float | None
    line: str
    start: str = "nothing"
    draws: bool = False
    combines: bool = False
    colour: str = ""
    marker: str = ""
    laws: Mapping[str, Any] = field(default_factory=dict)
    shortest: tuple[Mapping[str, Any], ...] = ()
    fuzz: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return self.function.__name__


METHODS: dict[str, Row] = {}  # by key


def key_of(name: str) -> str:
    """Return the key of the method with this name; any other name is returned as it is.

    >>> key_of("mean field")
    'mean_field'
    """
    return next((key for key, row in METHODS.items() if row.name == name), name)


def method(name: str, **columns: Any) -> Callable[[Function], Function]:
    """Return a decorator that adds a function to METHODS; `columns` are the fields of Row."""

    def add(function: Function) -> Function:
        row = Row(function=function, name=name, **columns)
        METHODS[row.key] = row
        return function

    return add
