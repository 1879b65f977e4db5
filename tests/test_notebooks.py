"""The form of the notebooks, and the proof that a wrong number in one of them is noticed.

nbval runs every notebook and compares its outputs with the stored ones. These tests refuse what nbval would
pass without comparing (cells never run, cells excused by a tag) and habits that make a notebook hard to read. The
last test changes each output that has a digit, in a notebook whose cells print these outputs, and requires nbval to
fail there.
test_anatomy.py holds the parts of each notebook.
"""

import ast
import json
import re
import subprocess
import sys
from contextlib import redirect_stdout
from copy import deepcopy
from html import unescape
from io import StringIO
from itertools import pairwise
from pathlib import Path

import nbformat

import bmlab.exercises.student_copy
from bmlab_teaching.cells import python
from bmlab_teaching.slicing import names, needed_cells
from bmlab_teaching.working_copies import SOLUTION, blanks_of, is_teachers, record

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
FILES = sorted(NOTEBOOKS.glob("*.ipynb"))
# The only cells whose output may differ from run to run: notebook -> ids of the cells.
EXCUSED = {"02_exact_z": ["02-own-wall"]}
EXCUSING_TAGS = {"nbval-ignore-output", "nbval-skip", "raises-exception"}
MIME_TYPES = {"text/plain", "text/html", "text/latex", "text/markdown", "image/png"}
DOWNLOADS = r"https?://|\burllib\b|\brequests\b|\burlopen\b|\bfetch_\w+\(|\bwget\b|\bcurl\b"
INSTALLS = r"^\s*[!%]\s*(pip|conda|uv|mamba)\b|-m pip\b"


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def prose(notebook):
    """A student's notebook: without the cells for teachers."""
    texts = [cell for cell in notebook.cells if cell.cell_type == "markdown" and not is_teachers(cell)]
    return [SOLUTION.sub("", cell.source) for cell in texts]


def outputs(notebook):
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def pictures(output):
    """The words for each picture of an output, those folded under a prediction included."""
    if "image/png" in output.get("data", {}):
        return [output.metadata.get("image/png", {}).get("alt", "")]
    return [
        unescape(alt)
        for alt in re.findall(r'<img alt="([^"]*)"[^>]* src="data:', output.get("data", {}).get("text/html", ""))
    ]


def folded(output):
    """Whether a prediction must be made before an output is seen."""
    return 'class="bmlab-predict"' in output.get("data", {}).get("text/html", "")


def printed(output):
    """The text of an output: a stream, or the value of a last line; not the label of a picture."""
    data = output.get("data", {})
    return output.get("text", "" if "image/png" in data else data.get("text/plain", ""))


def texts(notebook):
    """Everything that is stored as text, tables and formulas included; pictures within HTML left out."""
    for output in outputs(notebook):
        yield output.get("text", "")
        for kind, text in output.get("data", {}).items():
            if kind.startswith("text/"):
                yield re.sub('src="data:[^"]*"', "", text)


def kinds(notebook):
    """One letter per cell that a student has: m for prose, c for code."""
    return "".join(cell.cell_type[0] for cell in notebook.cells if not is_teachers(cell))


def is_blank(cell):
    """Whether a cell is a blank of the story: an answer that nobody grades, and that may be left out."""
    return "@widgets.blank" in cell.source and record(cell).get("solution") and not record(cell).get("grade")


# Sources


def test_the_file_is_a_valid_notebook(path):
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert (stored["nbformat"], stored["nbformat_minor"]) >= (4, 5)
    nbformat.validate(stored, relax_add_props=False)


def test_every_cell_has_its_own_id(notebook):
    ids = [cell.id for cell in notebook.cells]
    assert len(ids) == len(set(ids))


def test_it_was_run_once_from_top_to_bottom(notebook):
    counts = [cell.execution_count for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1))


def test_nothing_failed_or_complained(path, notebook):
    for cell in code_cells(notebook):
        for output in cell.outputs:
            assert output.output_type != "error" or cell.id in EXCUSED.get(path.stem, ()), cell.id
            assert output.get("name") != "stderr", cell.id


def test_only_listed_cells_are_excused_from_comparison(path, notebook):
    tagged = {cell.id for cell in notebook.cells if EXCUSING_TAGS & set(cell.metadata.get("tags", []))}
    assert tagged == set(EXCUSED.get(path.stem, ()))
    assert not any(re.search(r"#\s*(NBVAL|PYTEST_VALIDATE)_", cell.source) for cell in code_cells(notebook))


# Stored outputs


def test_outputs_are_text_and_png_without_addresses_and_numbers_of_many_digits(notebook):
    assert {kind for output in outputs(notebook) for kind in output.get("data", {})} <= MIME_TYPES
    for text in texts(notebook):
        assert not re.search(r"\b0x[0-9a-f]{4,}|\d\.\d{9,}", text), text


# How it reads


def test_the_title_is_the_question(notebook):
    title = prose(notebook)[0].splitlines()[0]
    assert kinds(notebook)[0] == "m" and re.fullmatch(r"# .+\?( · .+)?", title), title


def test_code_lines_fit_on_a_screen(notebook):
    for cell in code_cells(notebook):
        assert max(map(len, cell.source.splitlines()), default=0) <= 100, cell.id


def test_never_three_code_cells_without_prose(notebook):
    assert "ccc" not in kinds(notebook)


def test_every_picture_is_followed_by_prose(notebook):
    for cell, following in zip(notebook.cells, [*notebook.cells[1:], None], strict=True):
        if any(pictures(output) for output in cell.get("outputs", [])):
            assert following and following.cell_type == "markdown", cell.id


def test_nothing_is_downloaded_or_installed(notebook):
    for cell in code_cells(notebook):
        assert not re.search(DOWNLOADS, cell.source), cell.id
        assert not re.search(INSTALLS, cell.source, re.MULTILINE), cell.id


def test_relative_links_lead_somewhere(path, notebook):
    for target in re.findall(r"\]\(([^)\s]+)[^)]*\)", "\n".join(prose(notebook))):
        if not re.match(r"[a-z]+:|#|attachment:", target):
            assert (path.parent / target.split("#")[0]).exists(), target


def test_it_leads_on_to_the_next(path, notebook):
    following = dict(pairwise(FILES)).get(path)
    if following:
        link = f"]({following.name})"
        assert any("Next" in text and link in text for text in prose(notebook)), link


def test_an_open_blank_does_not_say_mine(notebook, monkeypatch):
    """If a student has not written the function yet, no number of the package is called "mine" or "yours"."""
    sources = [
        re.sub(r"### BEGIN SOLUTION.*?### END SOLUTION", "raise NotImplementedError", cell.source, flags=re.DOTALL)
        for cell in code_cells(notebook)
    ]
    blanks = set().union(*(names(cell.source).made for cell in code_cells(notebook) if is_blank(cell)))
    owned = [
        bool(re.search(r"^\s*[^#\n]*\"[^\"\n]*\b(mine|my|yours?)\b.*\"", source, re.MULTILINE)) for source in sources
    ]
    asked = [
        own and bool(names(source).needed & blanks) and not record(cell)
        for own, source, cell in zip(owned, sources, code_cells(notebook), strict=True)
    ]
    if any(asked):
        kept, _ = needed_cells([cell.source for cell in code_cells(notebook)], asked, whole=True)
        beside = {"tests": {}, "blanks": blanks_of(notebook)}
        monkeypatch.setattr(bmlab.exercises.student_copy, "_checks", lambda name: beside)
        here = {}
        for place in sorted(kept):
            with redirect_stdout(StringIO()) as printed:
                exec(sources[place], here)
            assert not asked[place] or not re.search(r"\b(mine|my|yours?)\b", printed.getvalue()), printed.getvalue()


def test_the_story_needs_nothing_of_an_exercise(notebook):
    """No cell uses a name that an exercise makes or changes, and no exercise draws from a generator of the story: so
    every other number is the same if nobody answered.  A blank may be filled wrongly, so no test uses its name."""
    code, taken, blanks = code_cells(notebook), set(), set()
    modules = frozenset().union(*(names(cell.source).imported for cell in code))
    for cell in code:
        used = names(cell.source)
        if is_blank(cell):
            blanks |= used.made
        elif record(cell) or is_teachers(cell):
            assert not [name for name in used.needed if re.search(r"rng|generator", name)], cell.id
            assert not (record(cell).get("grade") and used.needed & blanks), cell.id
            taken |= used.made | used.changed - modules
        else:
            assert not used.needed & taken, (cell.id, used.needed & taken)
            taken -= used.made


def functions(node):
    """The functions of a cell that stand in no other function."""
    for inner in ast.iter_child_nodes(node):
        yield from [inner] if isinstance(inner, ast.FunctionDef | ast.Lambda) else functions(inner)


def test_a_view_moved_later_and_a_cell_run_again_find_what_they_found(notebook):
    """No cell makes anew what an earlier one reads when it is run or when a function of it is called, nor what it has
    read itself.  A function may read what is made below it, once.  Only a generator, `rng`, is made in each section."""
    code = code_cells(notebook)
    made = [names(cell.source).made for cell in code]
    for place, cell in enumerate(code):
        found = names(cell.source).needed
        called = frozenset().union(*(names(ast.unparse(one)).needed for one in functions(python(cell.source))))
        for name in (found | called) - {"rng"}:
            makers = [k for k, some in enumerate(made) if name in some]
            anew = [code[k].id for k in makers if k > place or (k == place and name in found)]
            assert len(anew) + (len(makers) > len(anew)) < 2, f"{cell.id} reads {name}, made anew in {anew}"


# A changed digit is noticed


def digits_printed(cells):
    """(index of cell, index of output) of every compared text output with a digit."""
    return [
        (row, column)
        for row, cell in enumerate(cells)
        if not EXCUSING_TAGS & set(cell.metadata.get("tags", []))
        for column, output in enumerate(cell.get("outputs", []))
        if re.search(r"\d", printed(output))
    ]


def with_a_digit_changed(cell, column):
    """A copy of a cell in which the first digit of one stored output is another one."""
    copy = deepcopy(cell)
    output = copy.outputs[column]
    parts, key = (output, "text") if "text" in output else (output.data, "text/plain")
    parts[key] = re.sub(r"\d", lambda digit: str(9 - int(digit[0])), parts[key], count=1)
    return copy


def nbval(path):
    """Run nbval on a notebook: the set of (outcome, number of the code cell)."""
    options = ["--nbval", "--nbval-current-env", "--color=no", "-q", "-rpfEsxX"]
    options.append(f"--nbval-sanitize-with={NOTEBOOKS / 'nbval.cfg'}")
    command = [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += [f"--rootdir={path.parent}", path]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    return set(re.findall(r"^([A-Z]+) .*::Cell (\d+)", done.stdout, re.MULTILINE))


def replaying(cell):
    """Code that prints the stored outputs of a cell but for pictures, which nbval passes over, and computes nothing."""
    shown = [
        output.get("text") or {key: text for key, text in output.data.items() if key != "image/png"}
        for output in cell.outputs
    ]
    return f"for out in {shown!r}:\n    print(out, end='') if isinstance(out, str) else display(out, raw=True)"


def test_every_changed_digit_is_noticed(tmp_path):
    """In each output of each notebook that has a digit, and nowhere else."""
    made, expected = nbformat.v4.new_notebook(), set()
    for path in FILES:
        stored = nbformat.read(path, 4).cells
        places = digits_printed(stored)
        cells = [(row, stored[row], "PASSED") for row in dict(places)]
        cells += [(row, with_a_digit_changed(stored[row], column), "FAILED") for row, column in places]
        for row, cell, outcome in cells:
            number = str(len(made.cells))
            expected.add((outcome, number))
            made.cells.append(nbformat.from_dict(cell | {"id": f"cell-{number}", "source": replaying(stored[row])}))
    nbformat.write(made, tmp_path / "all.ipynb")
    assert nbval(tmp_path / "all.ipynb") == expected
