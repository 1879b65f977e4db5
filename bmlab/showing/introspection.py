"""Introspection: the source code of a function, and the versions that a bug report needs."""

from __future__ import annotations

import inspect
import os
import platform
import sys
from collections.abc import Callable
from types import ModuleType

from threadpoolctl import threadpool_info

from .._version import __version__
from ..checking.calls import show_call
from ..checking.validation import describe

LIBRARIES = ("numpy", "scipy", "threadpoolctl", "numba", "matplotlib", "scikit-learn", "jupyterlab")


@show_call()
def show_source(function: Callable | ModuleType) -> None:
    """Print the source of a function, a class or a module; in a notebook, highlighted.

    >>> bmlab.show_source(bmlab.toy)
    def toy() -> BoltzmannMachine:...
    """
    try:
        source = inspect.getsource(function)
        if source.startswith("@") and "\ndef " in source:  # how it is decorated is of the house alone
            source = source[source.index("\ndef ") + 1 :]
    except (TypeError, OSError):
        raise ValueError(
            f"function must have a source in Python, found {describe(function)}; try show_source(bmlab.gibbs)"
        ) from None
    if "ipykernel" not in sys.modules:
        print(source)
        return
    from IPython.display import Code, display

    display(Code(source, language="python"))


@show_call()
def about() -> None:
    """Print the facts for a bug report: versions, the BLAS with its threads, and the cores.

    >>> bmlab.about()
    bmlab ..., Python 3...
    """
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    print(f"bmlab {__version__}, Python {platform.python_version()}, {system}")
    print(", ".join(f"{name} {_version(name)}" for name in LIBRARIES))
    for pool in threadpool_info():
        print(f"{pool['internal_api']} {pool['version']}, {pool['num_threads']} threads, {pool.get('architecture')}")


def _version(name):
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "missing"
