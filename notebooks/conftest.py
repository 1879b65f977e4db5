"""nbval compares no pixels here, those within HTML included."""

from pathlib import Path


def pytest_configure(config):
    """Give nbval the list of what it does not compare, where nobody gave another."""
    if getattr(config.option, "nbval_sanitize_with", "") is None:
        config.option.nbval_sanitize_with = str(Path(__file__).with_name("nbval.cfg"))
