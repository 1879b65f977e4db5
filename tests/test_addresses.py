"""Nothing leads to strangers: each address in the tree is known, with its reason, and so is each `pip install`.

The project's own address stands once, in [project.urls] of pyproject.toml, which is empty until somebody sets it.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
HOST = r"(?:[\w-]+\.)+(?:ai|app|co|com|cz|de|dev|edu|eu|fr|gov|in|info|io|me|net|org|rs|uk|us|xyz)"
ADDRESS = re.compile(
    rf"\b(?:[a-z][a-z+]+://|git@|mailto:|www\.)[^\s\"'<>|)\]}}`,;\\]+|(?<![\w@./%-]){HOST}/[^\s\"'<>|)\]}}`,;\\]*", re.I
)
# Why an address may stand in the tree -> its beginning.
KNOWN = {
    "a page of this computer": ("http://127.0.0.1", "file://{tmp_path"),
    "the name of a language, which nothing opens": ("http://www.w3.org/2000/svg",),
    "a pattern, which finds addresses": ("https://[^",),
    "a standard that a page follows": (
        "https://keepachangelog.com/",
        "https://semver.org",
        "https://www.contributor-covenant.org/",
    ),
    "a program that we use or speak of": (
        "https://github.com/astral-sh/ruff-pre-commit",
        "https://github.com/containers/bubblewrap",
        "https://github.com/extropic-ai/thrml",
        "https://github.com/pre-commit/pre-commit-hooks",
        "https://jupyterlite.readthedocs.io",
        "https://otter-grader.readthedocs.io",
        "https://www.openjij.org",
    ),
    "a report of what others met": (
        "https://github.com/cds-astro/tutorials/issues/7",
        "https://github.com/charlesmartin14/emf-rbm/issues/4",
        "https://github.com/niivue/ipyniivue/issues/10",
        "https://github.com/scikit-learn/scikit-learn/issues/11153",
    ),
    "a service that opens notebooks, once [project.urls] says of which repository": (
        "https://mybinder.org/v2/gh/",
        "https://colab.research.google.com/github/",
    ),
    "where JupyterLite's Python comes from, which a test holds back": ("https://cdn.jsdelivr.net/pyodide/",),
}
# Packages outside of the lock that somebody is told to install; and those that JupyterLite finds beside its pages.
ASIDE = {"nbdime", "pre-commit", "rbms", "seaborn", "thrml"}
BESIDE = {(file, PROJECT["name"]) for file in ("docs/lite.py", "tests/site/test_lite.py")}
OPTION = re.compile(r""" (?:-c|-e|-r|--\w+) (?:"[^"]+"|[^\s`"']+)""")
INSTALL = re.compile(r"""pip install((?: +(?:"[^"\s]+"|'[^'\s]+'|[\w./\[\]=-]+))+)""")


def tracked():
    """Path -> text of each file of the repository that is text, outputs of notebooks among it."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, listed.split("\0")):
        data = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b"\0"
        if b"\0" not in data:
            yield name, data.decode("utf-8")


def addresses(text):
    return {found.rstrip(".:*") for found in ADDRESS.findall(text)}


@pytest.fixture(scope="module")
def found():
    """(file, address) of all."""
    own = Path(__file__).relative_to(ROOT).as_posix()
    return {(name, address) for name, text in tracked() if name != own for address in addresses(text)}


def test_each_address_is_known(found):
    ours = tuple(PROJECT["urls"].values())
    known = tuple(start for starts in KNOWN.values() for start in starts)
    assert found and sorted((name, to) for name, to in found if not to.startswith(known + ours)) == []


def test_each_reason_has_its_address(found):
    starts = [start for starts in KNOWN.values() for start in starts]
    assert [start for start in starts if not any(to.startswith(start) for _, to in found)] == []


@pytest.mark.parametrize(
    "text",
    [
        "[home](https://github.com/bmlab/bmlab)",
        "git+https://github.com/bmlab/bmlab",
        "git clone git@github.com:bmlab/bmlab.git",
        "see bmlab.github.io/bmlab/ for more",
        '{"url": "http:\\/\\/example.org"} www.example.org',
        "mailto:somebody@bmlab.org",
    ],
)
def test_an_address_is_found_however_it_is_written(text):
    assert addresses(text)


def installed():
    """(file, name) of each package that a `pip install` of the tree would bring from a package index."""
    for file, text in tracked():
        for words in INSTALL.findall(OPTION.sub("", text.replace("\\n", "\n").replace("\\", ""))):
            for word in words.replace('"', "").replace("'", "").split():
                if re.match(r"[A-Za-z]", word) and "/" not in word:
                    yield file, canonicalize_name(re.split(r"[\[=<>:]", word)[0].rstrip("."))


def test_what_somebody_is_told_to_install_is_what_we_mean():
    locked = {line.partition("==")[0] for line in (ROOT / "requirements.lock").read_text("utf-8").splitlines()}
    told = set(installed())
    assert {name for _, name in told} >= {"dimod", "numba", "tqdm"}
    assert sorted((file, name) for file, name in told - BESIDE if name not in locked | ASIDE) == []
    assert PROJECT["name"] not in locked


def test_who_is_told_that_the_course_is_elsewhere_is_sent_to_nobody(tmp_path):
    said = subprocess.run([sys.executable, "-m", "bmlab"], cwd=tmp_path, capture_output=True, text=True).stderr
    assert addresses(said) == {to for name, to in PROJECT["urls"].items() if name == "Source"}
