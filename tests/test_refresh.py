"""Refreshing a notebook stores its new outputs, and leaves all else unchanged."""

import base64
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import nbformat
import pytest
import refresh as module
from matplotlib.image import imread
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image

SCRIPT = Path(__file__).with_name("refresh.py")
COUNT = "print(1)\nprint(2, flush=True)\nprint(3)"
PLOT = """import matplotlib.pyplot as plt
from bmlab import plot
plt.plot([0, 1], [0, 1])
plot.show("A line that rises.")"""


def write(path, *cells):
    """Write a notebook as an editor leaves it: noisy metadata, no outputs."""
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    notebook = new_notebook(cells=list(cells), metadata={"authors": [{"name": "somebody"}]})
    nbformat.write(notebook, path)
    return path


def refresh(path):
    return subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True)


@pytest.fixture(scope="module")
def refreshed(tmp_path_factory):
    """A notebook after one refresh."""
    path = write(
        tmp_path_factory.mktemp("refresh") / "sample.ipynb",
        new_markdown_cell("# Why?"),
        new_code_cell(COUNT, metadata={"tags": ["kept"], "collapsed": True}),
        new_code_cell(" ", execution_count=7, outputs=[new_output("stream", text="stale")]),
        new_code_cell(PLOT),
        new_code_cell("from ipywidgets import IntSlider\nIntSlider()"),
        new_code_cell("'é'"),
    )
    done = refresh(path)
    assert (done.returncode, done.stdout) == (0, "sample.ipynb: changed\n"), done.stderr
    return path


@pytest.fixture
def cells(refreshed):
    return nbformat.read(refreshed, as_version=4).cells


def test_only_the_metadata_of_the_course_is_kept(refreshed, cells):
    assert set(nbformat.read(refreshed, as_version=4).metadata) == {"kernelspec", "language_info"}
    assert [cell.metadata for cell in cells] == [{}, {"tags": ["kept"]}, {}, {}, {}, {}]
    assert [cell.id for cell in cells] == [f"cell-{number}" for number in range(6)]


def wide(output):
    return imread(BytesIO(base64.b64decode(output.data["image/png"]))).shape[1]


def test_the_words_for_a_picture_are_kept_and_read_out(refreshed, cells):
    (picture,) = cells[3].outputs
    about = picture.metadata["image/png"]
    assert set(picture.metadata) == {"image/png"} and set(about) == {"alt", "width", "height", "points"}
    assert about["alt"] == "A line that rises." and 2 * about["width"] == pytest.approx(wide(picture), abs=1)
    page, _ = HTMLExporter(template_name="classic").from_filename(refreshed)
    assert 'alt="A line that rises."' in page


def test_a_second_refresh_changes_no_byte(refreshed):
    before = refreshed.read_bytes()
    assert refresh(refreshed).stdout == "sample.ipynb: unchanged\n"
    assert refreshed.read_bytes() == before


@pytest.mark.parametrize("kind, form", [("image/png", "{}"), ("text/html", '<img src="data:image/png;base64,{}">')])
def test_equal_pixels_keep_the_old_bytes_of_a_picture_under_a_prediction_too(cells, kind, form):
    png = cells[3].outputs[0].data["image/png"].strip()
    old, new = (
        new_code_cell(outputs=[new_output("display_data", data={kind: form.format(each)})])
        for each in (png, with_other_metadata(png))
    )
    assert new.outputs != old.outputs
    module.keep_unchanged_pictures(new, old)
    assert new.outputs == old.outputs


def with_other_metadata(png):
    """The same picture as another version of matplotlib would have saved it."""
    saved = BytesIO()
    Image.open(BytesIO(base64.b64decode(png))).save(saved, format="png", compress_level=1)
    return base64.b64encode(saved.getvalue()).decode()


def test_a_failing_cell_is_named_and_the_file_left_alone(tmp_path):
    path = write(tmp_path / "broken.ipynb", new_code_cell("print(1)"), new_code_cell("1 / 0"))
    before = path.read_bytes()
    done = refresh(path)
    assert done.returncode == 1 and "broken.ipynb: cell 2 of 2 fails" in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
