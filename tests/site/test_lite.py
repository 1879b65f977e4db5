"""The course as JupyterLab in a page: its files are all there, without answers; only Python comes from elsewhere."""

import hashlib
import json
import zipfile

import nbformat
import pytest
from chromium import PATIENCE, missing
from conftest import HERE, Visit, served
from test_looks import SECRETS, SOURCES

import bmlab
from bmlab_teaching.working_copies import PRESS, beside

LITE = HERE.parents[1] / "build/lite"
PYTHON = "https://cdn.jsdelivr.net/pyodide/"


@pytest.fixture(autouse=True)
def made():
    if not LITE.exists():
        missing("no lite: run make lite first")


def listed(folder=""):
    """The names that the page's list of a folder shows."""
    return {file["name"] for file in json.loads((LITE / f"api/contents/{folder}all.json").read_text())["content"]}


def test_every_notebook_is_there_with_its_tables_and_checks():
    assert listed() == {path.name for path in SOURCES} | {"tables"}
    needed = {name: content for path in SOURCES for name, content in beside(path).items()}
    assert needed and {f"tables/{name}" for name in listed("tables/")} == set(needed)
    for name, content in needed.items():
        assert (LITE / "files" / name).read_bytes() == content


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_notebook_has_no_answers_and_installs_what_it_needs(path):
    notebook = nbformat.read(LITE / f"files/{path.name}", as_version=4)
    text, secret = "\n".join(cell.source for cell in notebook.cells), SECRETS[path.stem]
    assert secret and not [line for line in secret if line in text]
    assert "BEGIN SOLUTION" not in text and "BEGIN HIDDEN" not in text
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert "%pip install -q boltzmann-lab" in code[0].source
    stored = [output for cell in code for output in cell.outputs]  # the picture of the view, and nothing that was run
    assert len(stored) == 2 and stored[0].text == PRESS and "image/png" in stored[1].data


def test_no_other_file_holds_a_solution():
    others = [path for path in LITE.glob("files/**/*") if path.is_file() and path.suffix != ".ipynb"]
    assert others and not [path for path in others if b"BEGIN SOLUTION" in path.read_bytes()]


def test_the_index_names_the_wheel_that_stands_beside_it():
    index = json.loads((LITE / "pypi/all.json").read_text())
    (wheel,) = index["boltzmann-lab"]["releases"][bmlab.__version__]
    data = (LITE / "pypi" / wheel["filename"]).read_bytes()
    assert wheel["digests"]["sha256"] == hashlib.sha256(data).hexdigest()
    with zipfile.ZipFile(LITE / "pypi" / wheel["filename"]) as inside:
        assert "bmlab/model.py" in inside.namelist()
    plugins = json.loads((LITE / "jupyter-lite.json").read_text())["jupyter-config-data"]["litePluginSettings"]
    urls = plugins["@jupyterlite/pyodide-kernel-extension:kernel"]["pipliteUrls"]
    assert any(url.startswith("./pypi/all.json") for url in urls)


def test_a_notebook_opens_and_only_python_is_asked_of_others(browser):
    with served(LITE, "make lite") as address:
        visit = Visit(browser, address)
        page = visit.open("lab/index.html?path=00_start.ipynb")
        page.get_by_role("heading", name="What is a Boltzmann machine").first.wait_for(timeout=1000 * PATIENCE)
        page.get_by_role("alert").filter(has_text="Python cannot start here").wait_for(timeout=1000 * PATIENCE)
        visit.context.close()
    assert visit.outside and not [url for url in visit.outside if not url.startswith(PYTHON)]
