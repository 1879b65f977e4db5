"""A progress bar where one is asked for: tqdm's, in a notebook or a terminal."""

from contextlib import nullcontext
from types import SimpleNamespace


def progress_bar(progress: bool, total: int, unit: str):
    """Return a context with a tqdm bar over `total` units, or with one that shows nothing."""
    if not progress:
        return nullcontext(SimpleNamespace(update=lambda made: None, set_postfix_str=lambda text, refresh: None))
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError as missing:
        message = "progress=True needs tqdm, which is not installed; pip install tqdm, or leave it out"
        raise ModuleNotFoundError(message, name=missing.name) from None
    return tqdm(total=total, unit=unit)
