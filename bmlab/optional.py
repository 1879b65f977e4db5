"""Packages that bmlab does without until one of its functions is called."""

from importlib import import_module
from typing import Any


def needed(module: str, caller: str, install: str) -> Any:
    """Return a module that `caller` needs; raise ModuleNotFoundError with the command to type where it is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        name = module.partition(".")[0]
        message = f"{caller} needs {name}, which is not installed; pip install {install}"
        raise ModuleNotFoundError(message, name=missing.name) from None
