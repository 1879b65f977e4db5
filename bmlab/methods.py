"""The table of methods: what each one answers and claims, how it looks, and how tests run it.

A method is a function  model -> Estimate.  The row stands above the function, in the file of the method:

    @method("mean field", answers=("means", "pairs", "log Z", "lower bound"), order=2, start="means", ...)
    def mean_field(model, *, start=None, starts=1, tolerance=1e-12, max_sweeps=2000): ...

All that lists methods reads METHODS: combine(), plots, live views, the table of docs/package.md, laws and fuzzer.
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

    function  the method; its name is the row's `key`, which scripts and tests use and nobody reads
    name      the method in words, as Estimate.method, labels and legends have it
    answers   those of ANSWERS that it gives about every machine, if it has all options at their defaults
    order     the lowest order in the couplings at which the answer is wrong: inf if it is right but for sampling, None
              if that depends on the machine
    line      the method in the literature's words, for docs/package.md
    start     the kind of `start` that it takes: "nothing", "states", "means", or a word of its own
    draws     whether it takes random numbers, `rng`
    combines  whether combine() takes its runs
    colour, marker    in all figures and views; "" if no answer carries the name
    laws      options with which it is quick enough for tests/test_contract.py; `temperatures` are in units of T
    shortest  options of its shortest runs, which must answer, too
    fuzz      options with which tests/fuzz_cases.py calls it
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
    """Return the key of the method whose answers carry this name; of any other, the name itself.

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
