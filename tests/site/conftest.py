"""The site, served from build/site, and a browser that may go nowhere else: make test-site"""

import functools
import http.server
import threading
from contextlib import contextmanager
from pathlib import Path

import chromium
import pytest

HERE = Path(__file__).resolve().parent
SITE = HERE.parents[1] / "build/site"
browser, pytest_ignore_collect = chromium.browser, chromium.left_out(HERE)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def served(folder, command):
    """The address of a server for the files of a folder, which a command makes."""
    if not folder.exists():
        chromium.missing(f"no {folder.name}: run {command} first")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="session")
def address():
    """The address of the site's server."""
    with served(SITE, "make site") as address:
        yield address


class Visit:
    """A page of the site: its errors, its requests to other hosts (which are refused), and the bytes it loads."""

    def __init__(self, browser, address, **options):
        self.address, self.complaints, self.outside, self.bytes = address, [], [], {}
        self.context = browser.new_context(
            **({"viewport": {"width": 1440, "height": 900}, "has_touch": True} | options)
        )
        self.context.route("**/*", self.only_here)
        self.page = self.context.new_page()
        self.page.on("console", lambda m: m.type == "error" and self.complaints.append(m.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("response", self.weigh)

    def only_here(self, route):
        if route.request.url.startswith((self.address, "data:", "blob:")):
            return route.continue_()
        self.outside.append(route.request.url)
        return route.abort()

    def weigh(self, response):
        if response.status >= 400:
            self.complaints.append(f"{response.status} {response.url}")
        self.bytes[response.url] = int(response.headers.get("content-length", 0))

    def open(self, name, theme=None):
        if theme:
            self.page.add_init_script(f"localStorage.setItem('mode', '{theme}')")
        self.page.goto(self.address + name, wait_until="load")
        return self.page


@pytest.fixture
def visit(browser, address):
    opened = Visit(browser, address)
    yield opened
    opened.context.close()
    assert opened.complaints == [] and opened.outside == []
