"""A Chromium without a window, for the tests of browser/ and site/, which `pytest tests` leaves out."""

import os
import shutil
from pathlib import Path

import pytest

PATIENCE = 900  # seconds that anything may take on a busy machine: what works is never waited for so long
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def missing(what):
    """Skip, but fail if the machine is meant to have everything."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(what)


@pytest.fixture(scope="session")
def browser():
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not path:
        missing("no browser: install Chromium, or set CHROMIUM to its path")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        missing("no playwright: pip install playwright")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def left_out(folder):
    """Return a hook that leaves a folder out unless it was named."""

    def pytest_ignore_collect(collection_path, config):
        named = [Path(argument.split("::")[0]).resolve() for argument in config.args]
        return None if any(path == folder or folder in path.parents for path in named) else True

    return pytest_ignore_collect
