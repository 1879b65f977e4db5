"""Calls that do not fit a function's signature: one sentence with a call that does, in place of Python's.

For functions with arguments that must be named: those that draw (rng) and those that learn (steps and rate).
"""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from .arrays import did_you_mean

Function = TypeVar("Function", bound=Callable)
ARGUMENT_SYNONYMS = {  # the name of an argument in other libraries -> the names that it has here
    **dict.fromkeys(("seed", "random_state", "generator", "random"), "rng"),
    **dict.fromkeys(("n_samples", "samples", "num_samples", "num_sweeps"), "n_sweeps"),
    **dict.fromkeys(("chains", "num_chains", "num_reads", "n_walks"), "n_chains"),
    **dict.fromkeys(("n_chains", "n_replicas"), "n_ladders"),
    **dict.fromkeys(("burnin", "warmup", "n_burn"), "burn_in"),
    **dict.fromkeys(("epochs", "n_epochs", "n_steps", "n_iter", "max_iter"), "steps"),
    **dict.fromkeys(("learning_rate", "lr", "eta"), "rate"),
}


def show_call(example: str) -> Callable[[Function], Function]:
    """Return a decorator: a call that does not fit raises TypeError with the example; others cost nothing more."""

    def decorate(function: Any) -> Any:
        @wraps(function)
        def call(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except TypeError:
                wrong = _misfit(function, args, kwargs)
                if not wrong:
                    raise
            raise TypeError(f"{function.__name__}() {wrong}; try {example}")

        return call

    return decorate


def _misfit(function, args, kwargs):
    """Return what of a call does not fit, the empty string where all does."""
    parameters = inspect.signature(function).parameters
    places = [name for name, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    for name in kwargs:
        if name not in parameters:
            meant = ARGUMENT_SYNONYMS.get(name)
            meant = f"did you mean {meant!r}?" if meant in parameters else did_you_mean(name, list(parameters), "")
            return f"has no argument {name!r}" + f" ({meant})" * bool(meant)
    if len(args) > len(places):
        return f"takes {_listed(places)} by position and the others by name"
    given = {*places[: len(args)], *kwargs}
    missing = [name for name, p in parameters.items() if p.default is p.empty and name not in given]
    return f"needs {_listed(missing)}" if missing else ""


def _listed(names):
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
