"""Ask a method, and see that it is one and answers as one: whoever wrote it."""

from inspect import signature
from typing import Any

from .checks import in_words
from .estimate import Estimate


def check_estimate(name: str, answer: Any, n: int | None = None) -> Estimate:
    """Return an Estimate (of n units); raise ValueError for anything else."""
    if not isinstance(answer, Estimate) or (n is not None and len(answer.mean) != n):
        of = "" if n is None else f" of {n} units"
        raise ValueError(f"{name} must be an Estimate{of}, found {in_words(answer)}; pass what exact(model) answers")
    return answer


def check_method(name: str, method: Any, *about: Any, **start: Any) -> None:
    """Raise ValueError for what cannot be called as method(*about, **start)."""
    try:
        signature(method).bind(*about, **start)
    except (TypeError, ValueError) as error:
        told = ", ".join([*map(str, about), *(f"{key}={value}" for key, value in start.items())])
        raise ValueError(
            f"{name} must be callable as {name}({told}), found {in_words(method)} ({error}); "
            "try bmlab.exact, or functools.partial(bmlab.gibbs, rng=rng)"
        ) from None


def asked(name: str, method: Any, *about: Any, **start: Any) -> Estimate:
    """Return what a method answers; raise ValueError where that is no Estimate."""
    return check_estimate(f"the answer of {name}", method(*about, **start))
