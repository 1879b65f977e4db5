"""The table of methods: it is the only place that lists them, and a new method is one file and one line."""

import os
import re
import shutil
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import methods_table
import pytest

import bmlab
from bmlab.methods import ANSWERS, METHODS

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted((ROOT / "bmlab/widgets").glob("*.js"))


def test_each_row_is_of_a_public_method_and_no_two_look_alike():
    for key, row in METHODS.items():
        assert getattr(bmlab, key) is row.function and set(row.answers) <= {*ANSWERS}
    for one, other in combinations([row for row in METHODS.values() if row.colour], 2):
        assert one.colour != other.colour and one.marker != other.marker and one.name != other.name


@pytest.mark.parametrize("key", METHODS)
def test_a_method_shows_its_call_and_an_example(key):
    assert ">>>" in (getattr(bmlab, key).__doc__ or ""), (
        f"write in the docstring of {key} an example that begins with >>>"
    )
    with pytest.raises(TypeError) as error:
        getattr(bmlab, key)(none_such=1)
    assert "; try bmlab." in str(error.value), f"write @show_call() between @method(...) and def {key}"


def test_the_page_has_the_table():
    page = methods_table.PAGE.read_text(encoding="utf-8")
    assert page == methods_table.updated(page), "run python docs/methods_table.py"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_name_methods_by_their_keys(path):
    """A word that people read may change, and no colour with it."""
    text = path.read_text(encoding="utf-8")
    named = re.findall(r'colourOf\(model, "(.*?)"\)', text)
    assert {*named} <= {*METHODS}
    for row in METHODS.values():
        assert row.key == row.name or (f'["{row.name}"' not in text and f', "{row.name}"' not in text)


# A method of a contributor, by the page

LAWS = "independent and (every_method or every_bound or every_form or order or row_says or cannot or converged)"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package with the file and the line that CONTRIBUTING.md shows."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "bmlab", folder / "bmlab", ignore=shutil.ignore_patterns("__pycache__"))
    file, line = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
    home = re.match(r"from \.(\S+) import", line)[1].replace(".", "/")
    (folder / f"bmlab/{home}.py").write_text(file, encoding="utf-8")
    exports = folder / "bmlab/__init__.py"
    exports.write_text(
        exports.read_text(encoding="utf-8").replace("\nfrom .interop", f"\n{line}from .interop"), encoding="utf-8"
    )
    return folder


def in_copy(folder, *arguments):
    """Run Python in the folder of the copy, which it imports; return its output."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT / "tests"), str(ROOT / "docs")])}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_new_method_is_one_file_and_one_line_and_meets_every_law(copy):
    options = "-q", "-m", "not slow", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml")
    laws = in_copy(copy, "-m", "pytest", *options, str(ROOT / "tests/test_contract.py"), "-k", LAWS)
    others = [str(ROOT / f"tests/test_{name}.py") for name in ("calls", "examples", "methods", "signatures")]
    doors = in_copy(copy, "-m", "pytest", *options, *others, "-k", "[independent or .independent")
    for printed, least in ((laws, 20), (doors, 3)):
        assert int(re.search(r"(\d+) passed", printed)[1]) > least


def test_all_that_lists_methods_has_the_new_one(copy):
    show = (
        "import bmlab, fuzz_cases, methods_table;"
        "from bmlab import plot; from bmlab.widgets.view import METHOD_COLOURS;"
        "assert bmlab.__file__.startswith({!r});"
        "print(*['independent' in x for x in (dir(bmlab), bmlab.__all__, plot.COLOURS, plot.MARKERS, METHOD_COLOURS,"
        "fuzz_cases.CASES, bmlab.METHODS, methods_table.table())], bmlab.METHODS['independent'].key)"
    )
    assert in_copy(copy, "-c", show.format(str(copy))).split() == ["True"] * 8 + ["independent"]


def test_a_view_stores_the_colours_that_its_script_reads_and_no_others(copy):
    show = (
        "import bmlab; view = bmlab.widgets.MachineView(bmlab.toy()); print('gibbs' in view.colours, len(view.colours))"
    )
    assert in_copy(copy, "-c", show) == f"True {len(bmlab.widgets.MachineView(bmlab.toy()).colours)}\n"
    views = [getattr(bmlab.widgets, name) for name in bmlab.widgets.__all__ if name.endswith("View")]
    for view in views:
        read = re.findall(r'(?:colours\.|colourOf\(model, ")(\w+)', str(view._esm))
        assert METHODS.keys() & read <= view._colours(view, None).keys()
