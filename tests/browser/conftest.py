"""A JupyterLab and a browser for the tests of this folder: python -m pytest tests/browser

They need the package playwright, and a Chromium: `chromium` on the path, or its path in CHROMIUM; no network.
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

import chromium
import nbformat
import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
browser, pytest_ignore_collect = chromium.browser, chromium.left_out(HERE)

# JupyterLab's complaints if a test ends a kernel before its debugger, which no test uses, has answered.
UNANSWERED = "Could not restore the debugger state: Canceled future"


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
        with open(home / "log", "w", encoding="utf-8") as log:
            server = subprocess.Popen(
                ["make", *arguments, f"LAB_FLAGS={' '.join(every)}"],
                cwd=ROOT,
                stdout=log,
                stderr=log,
                env=os.environ | folders | {"OMP_NUM_THREADS": "1"},
                start_new_session=True,
            )
        servers.append(server)
        for _ in range(5 * chromium.PATIENCE):  # the first start on a busy machine compiles its imports
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


class Notebook:
    """A notebook open in a page: run it, save it, look at it; its errors and requests are kept."""

    def __init__(self, browser, address, folder, **options):
        self.address, self.folder = address, folder
        self.context = browser.new_context(
            **({"viewport": {"width": 1100, "height": 900}, "has_touch": True} | options)
        )
        self.context.set_default_timeout(1000 * chromium.PATIENCE)
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
        return self.panel("context.ready")

    def run(self, wait=True):
        """Run all cells, to their end or (wait=False) begin to."""
        self.panel("sessionContext.ready")
        return self.command("notebook:run-all-cells", wait=wait)

    def run_cell(self, number):
        """Run one cell and wait for its end."""
        self.page.evaluate(f"window.jupyterapp.shell.currentWidget.content.activeCellIndex = {number}")
        return self.command("notebook:run-cell")

    def restart(self):
        """Restart the kernel as its menu does, without the question."""
        return self.panel("sessionContext.restartKernel()")

    def close(self):
        """Close the notebook; the page stays."""
        return self.panel("close()")

    def reopen(self, name=None, **options):
        """Open a notebook in the page as it is, beside the open ones."""
        self.name = name or self.name
        self.command("docmanager:open", {"path": self.name, "options": options})
        return self.panel("context.ready")

    def save(self):
        return self.command("docmanager:save")

    def shut_down(self):
        return self.panel("sessionContext.shutdown()")

    def panel(self, what):
        """Wait for something of the panel in front."""
        self.page.evaluate(f"async () => {{ await window.jupyterapp.shell.currentWidget.{what}; }}")
        return self

    def command(self, name, arguments=None, wait=True):
        """Execute a command of JupyterLab, and (wait=False: do not) wait for its end."""
        self.page.evaluate(
            """async ([name, given, wait]) => {
                const done = window.jupyterapp.commands.execute(name, given);
                if (wait) await done;
            }""",
            [name, arguments or {}, wait],
        )
        return self

    def stored(self):
        return json.loads((self.folder / self.name).read_text())

    def view(self, name):
        found = self.page.locator(f".bmlab-{name}")
        found.wait_for()
        found.scroll_into_view_if_needed()
        return found


@pytest.fixture
def notebook(request, browser, lab):
    """A page of the JupyterLab, to open notebooks in; a test may ask for another kind of page."""
    opened = Notebook(browser, *lab, **getattr(request, "param", {}))
    yield opened
    opened.context.close()
