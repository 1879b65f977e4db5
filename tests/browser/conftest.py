"""A JupyterLab and a browser for the tests of this folder: python -m pytest tests/browser

They need the package playwright, and a Chromium: `chromium` on the path, or its path in CHROMIUM; no network.
`pytest tests` leaves this folder out.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# What JupyterLab complains of where a test ends a kernel before its debugger, which no test uses, has answered.
UNANSWERED = "Could not restore the debugger state: Canceled future"


def missing(what):
    """Skip, but fail where a machine is meant to have everything."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(what)


@pytest.fixture(scope="session")
def browser():
    """A Chromium without a window."""
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


@pytest.fixture(scope="session")
def serve(tmp_path_factory):
    """A function that starts a JupyterLab by a target of the Makefile and returns its address, once it answers."""
    servers = []

    def start(*arguments, flags=()):
        home = tmp_path_factory.mktemp("jupyter")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{free.getsockname()[1]}"
        folders = {f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
        every = ["--no-browser", f"--port={address.rpartition(':')[2]}", "--IdentityProvider.token=", *flags]
        with open(home / "log", "w") as log:
            server = subprocess.Popen(
                ["make", *arguments, f"LAB_FLAGS={' '.join(every)}"],
                cwd=ROOT,
                stdout=log,
                stderr=log,
                env=os.environ | folders | {"OMP_NUM_THREADS": "1"},
                start_new_session=True,
            )
        servers.append(server)
        for _ in range(900):  # the first start on a busy machine compiles what it imports
            try:
                urllib.request.urlopen(address + "/api")
                return address
            except OSError:
                assert server.poll() is None, (home / "log").read_text()
                time.sleep(0.2)
        raise AssertionError((home / "log").read_text())

    yield start
    for server in servers:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(20)


@pytest.fixture(scope="session")
def lab(serve, tmp_path_factory):
    """The address of a JupyterLab started as the README says, on a copy of the notebooks, and the copy's folder."""
    work = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks", work / "notebooks", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    flags = [
        f"--ServerApp.root_dir={work}",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.news_url=",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    return serve("lab", "SOURCES=1", flags=flags), work


def pytest_ignore_collect(collection_path, config):
    """Leave this folder out unless it was named."""
    named = [Path(argument.split("::")[0]).resolve() for argument in config.args]
    return None if any(path == HERE or HERE in path.parents for path in named) else True


class Notebook:
    """A notebook open in a page: run it, save it, look at it; what the page complained of and asked for is kept."""

    def __init__(self, browser, address, folder, **options):
        self.address, self.folder = address, folder
        self.context = browser.new_context(
            **({"viewport": {"width": 1100, "height": 900}, "has_touch": True} | options)
        )
        self.page, self.errors, self.outside = self.context.new_page(), [], []
        self.page.on(
            "console", lambda m: m.type == "error" and not m.text.startswith(UNANSWERED) and self.errors.append(m.text)
        )
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.on(
            "request",
            lambda r: (
                self.outside.append(r.url)
                if not r.url.startswith((address, address.replace("http", "ws"), "data:", "blob:", "about:"))
                else None
            ),
        )

    def write(self, name, *cells, mode="doc"):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        nbformat.write(notebook, self.folder / name)
        return self.open(name, mode)

    def open(self, name, mode="doc"):
        """Open a notebook in a fresh page, alone (doc) or in the whole of JupyterLab (lab)."""
        self.name = name
        self.page.goto(f"{self.address}/{mode}/tree/{name}?reset")
        self.page.wait_for_function("() => window.jupyterapp")
        self.page.evaluate("() => window.jupyterapp.restored")
        self.page.wait_for_selector(".jp-Notebook")
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.ready")
        return self

    def run(self, wait=True):
        """Run all cells, to their end or (wait=False) begin to."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.ready")
        self.page.evaluate(
            "wait => { const run = window.jupyterapp.commands.execute('notebook:run-all-cells'); return wait && run; }",
            wait,
        )
        return self

    def run_cell(self, number):
        """Run one cell and wait for its end."""
        self.page.evaluate(
            """async number => {
                const app = window.jupyterapp, notebook = app.shell.currentWidget;
                notebook.content.activeCellIndex = number;
                await app.commands.execute('notebook:run-cell');
            }""",
            number,
        )
        return self

    def restart(self):
        """Restart the kernel as its menu does, without the question."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
        return self

    def close(self):
        """Close the notebook; the page stays."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.close()")
        return self

    def reopen(self, name=None, **options):
        """Open a notebook in the page as it is, beside what is open there."""
        self.name = name or self.name
        self.page.evaluate(
            """async ([path, options]) => {
                const app = window.jupyterapp;
                const panel = await app.commands.execute('docmanager:open', { path, options });
                await panel.context.ready;
                app.shell.activateById(panel.id);
            }""",
            [self.name, options],
        )
        return self

    def save(self):
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        return self

    def shut_down(self):
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
        return self

    def stored(self):
        return json.loads((self.folder / self.name).read_text())

    def view(self, name):
        found = self.page.locator(f".bmlab-{name}")
        found.wait_for(timeout=30_000)
        found.scroll_into_view_if_needed()
        return found


@pytest.fixture
def notebook(request, browser, lab):
    """A page of the JupyterLab, to open notebooks in; a test may ask for another kind of page."""
    opened = Notebook(browser, *lab, **getattr(request, "param", {}))
    yield opened
    opened.context.close()
