"""Calls that do not fit a function's signature: one sentence with a call that does, in place of Python's.

For every public function and method, and for the making of machines, estimators and views.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from .validation import did_you_mean

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

OWN_NAMES = ("data", "estimators", "plot", "widgets")  # modules whose functions are called by the name of the module
HOLDERS = {  # class -> name of its objects in examples
    "BoltzmannMachine": "machine",
    "BoltzmannDensity": "density",
    "BoltzmannClassifier": "classifier",
    "RestrictedBoltzmann": "features",
    "Fit": "fit",
}


def show_call(example: str = "") -> Callable[[Function], Function]:
    """Return a decorator: a call that does not fit raises TypeError with the example; others cost nothing more.

    Without an example it is the call with all arguments that have no default.
    """

    def decorate(function: Any) -> Any:
        @wraps(function)
        def call(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except TypeError:
                wrong = _misfit(function, args, kwargs)
                if not wrong:
                    raise
            raise TypeError(f"{_called(function, args)[1]}() {wrong}; try {example or _example(function, args)}")

        return call

    return decorate


def _called(function, args):
    """Return the words before the name of a function, a method or a class, and this name."""
    home, _, name = function.__qualname__.rpartition(".")
    if home and name != "__init__":
        return f"{HOLDERS.get(type(args[0]).__name__, 'view')}.", name
    package, part = [*function.__module__.split("."), ""][:2]
    return f"{package}.{part}." if part in OWN_NAMES else f"{package}.", type(args[0]).__name__ if home else name


def _example(function, args):
    parameters = inspect.signature(function).parameters.items()
    needed = [f"{name}=..." if p.kind is p.KEYWORD_ONLY else name for name, p in parameters if _is_needed(name, p)]
    return f"{''.join(_called(function, args))}({', '.join(needed)})"


def _is_needed(name, p):
    return name != "self" and p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)


def _misfit(function, args, kwargs):
    """Return the part of a call that does not fit, the empty string if all does."""
    parameters = inspect.signature(function).parameters
    args = args[1:] if "self" in parameters else args
    kinds = {p.kind for p in parameters.values()}
    places = [name for name, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD and name != "self"]
    for name in kwargs:
        if name not in parameters and inspect.Parameter.VAR_KEYWORD not in kinds:
            meant = ARGUMENT_SYNONYMS.get(name)
            meant = f"did you mean {meant!r}?" if meant in parameters else did_you_mean(name, list(parameters), "")
            return f"has no argument {name!r}" + f" ({meant})" * bool(meant)
    if len(args) > len(places) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        others = " by position and the others by name" if inspect.Parameter.KEYWORD_ONLY in kinds else " and no more"
        return f"takes {_listed(places)}{others}" if places else "takes no argument by position"
    given = {*places[: len(args)], *kwargs}
    missing = [name for name, p in parameters.items() if _is_needed(name, p) and name not in given]
    return f"needs {_listed(missing)}" if missing else ""


def _listed(names):
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
