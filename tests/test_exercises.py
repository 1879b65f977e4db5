"""Handing out and grading, end to end: nobody scores what is not deserved, and no submission ends the run.

The notebooks are run as they are by nbval, solutions and tests included; grading runs what the grades need. Wrong
answers are in wrong_answers.py, a class of awkward submissions in awkward_class.py, attacks in test_teaching_walls.py.
"""

import ast
import html
import re
import shutil
import zipfile
from copy import deepcopy
from functools import cache
from pathlib import Path

import nbformat
import pytest
from wrong_answers import WRONG

pytest.importorskip("nbgrader")
pytest.importorskip("resource")  # no grading on Windows
from itertools import pairwise

from small_course import TWICE, answered, hand_in, lines_of, run_here, short_notebook, walled

from bmlab.teaching import grading
from bmlab.teaching.collecting import Handout
from bmlab.teaching.course import OPEN, SAYS_SO, STUB, without_solutions
from bmlab.teaching.exercises import SOLUTION, is_teachers, points, still_open, with_points, without_teachers, worked
from bmlab.teaching.grading import grade
from bmlab.teaching.handouts import FOLDER, student_version, tables
from bmlab.teaching.slicing import needed_cells

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
FILES = {path.stem: path for path in sorted(NOTEBOOKS.glob("*.ipynb"))}
GRADED = [name for name, path in FILES.items() if points(nbformat.read(path, 4))]
ONE = "02_exact_z"  # cheap, with a variant, blanks of the story, and points that a person gives
QUIET = {"say": lambda line: None}


def exercise(cell):
    return cell.metadata.get("nbgrader", {})


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def answer_cells(notebook):
    """Name -> cell of every answer in code, with its test cell; not the blanks of the story, which have none."""
    cells = code(notebook)
    solutions = [(cell, test) for cell, test in pairwise(cells) if exercise(cell).get("solution")]
    pairs = [(cell, test) for cell, test in solutions if exercise(test).get("grade")]
    return {exercise(cell)["grade_id"]: (cell, test) for cell, test in pairs}


def needed(notebook):
    """The cells that the exercises need, and the exercises."""
    cells = code(notebook)
    kept, _ = needed_cells([cell.source for cell in cells], [bool(exercise(cell)) for cell in cells])
    return [cells[place] for place in sorted(kept)]


# The exercises


@pytest.mark.parametrize("name", GRADED)
def test_every_exercise_states_its_points_and_can_be_won(name):
    notebook = nbformat.read(FILES[name], 4)
    stated = sum(int(n) for n in re.findall(r"\((\d+) points?\)", " ".join(c.source for c in notebook.cells)))
    assert stated == points(notebook) > 0
    for cell in notebook.cells:
        if exercise(cell):
            assert exercise(cell)["schema_version"] == 3
            assert exercise(cell)["locked"] == exercise(cell)["grade"] or exercise(cell)["solution"], cell.id


@pytest.mark.parametrize("name", GRADED)
def test_tests_teach_before_they_are_hidden(name):
    for _, test in answer_cells(nbformat.read(FILES[name], 4)).values():
        visible, _, hidden = test.source.partition("### BEGIN HIDDEN TESTS")
        assert "### END HIDDEN TESTS" in hidden and "assert" in visible, test.id
        for part in (visible, hidden):
            asserts = [node for node in ast.walk(ast.parse(part)) if isinstance(node, ast.Assert)]
            assert asserts and all(node.msg for node in asserts), f"{test.id}: an assert without a hint"


@cache
def namespace(name):
    """What the cells before the exercises make; it is made once, and whoever adds to it adds to a copy."""
    made = {}
    for cell in needed(nbformat.read(FILES[name], 4)):
        if not exercise(cell) or "@widgets.blank(" in cell.source:
            exec(cell.source, made)
    return made


@pytest.mark.parametrize("name", GRADED)
def test_typical_wrong_answers_bring_a_hint(name, monkeypatch):
    monkeypatch.chdir(NOTEBOOKS)
    notebook = nbformat.read(FILES[name], 4)
    made = namespace(name)
    assert WRONG[name].keys() == answer_cells(notebook).keys()
    for exercise_name, (answer, test) in answer_cells(notebook).items():
        with pytest.raises((NameError, NotImplementedError)) as missing:
            exec(test.source, dict(made))
        asked = getattr(missing.value, "name", exercise_name)
        assert re.search(rf"\b{asked}\b", SOLUTION.sub("", answer.source)), f"the stub does not name {asked}"
        assert len(WRONG[name][exercise_name]) >= 3
        for source, hint in WRONG[name][exercise_name]:
            here = dict(made)
            exec(source, here)
            with pytest.raises(Exception) as refused:
                exec(test.source, here)
            assert hint in str(refused.value), (exercise_name, source, str(refused.value))


# Handing out


def test_every_notebook_is_handed_out_without_an_answer(handouts):
    assert {path.stem for path in handouts.glob("*.ipynb")} == FILES.keys()
    for path in handouts.glob("*.ipynb"):
        text, notebook = path.read_text(encoding="utf-8"), nbformat.read(path, 4)
        nbformat.validate(notebook)
        assert not re.search("(BEGIN|END) (SOLUTION|HIDDEN)", text)
        assert not any(map(is_teachers, notebook.cells))
        assert not any(cell.outputs or cell.execution_count for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("name", FILES)
def test_a_stub_is_its_solution_with_the_middle_taken_out(handouts, name):
    source, stub = without_teachers(nbformat.read(FILES[name], 4)), nbformat.read(handouts / f"{name}.ipynb", 4)
    assert stub.cells.pop().source.startswith(f"**Hand in** this file, `{name}.ipynb`")
    sentences = {one.answer: still_open(one) for one in with_points(source)}
    code(source)[0].source = SAYS_SO + code(source)[0].source
    for there, here in zip(source.cells, stub.cells, strict=True):
        sentence = sentences.get(exercise(there).get("grade_id"), OPEN)
        stub_text = r"\1" + STUB.replace("\n", r"\n\1").replace(OPEN, sentence)
        kept = re.sub(r"( *)### BEGIN SOLUTION.*?### END SOLUTION", stub_text, there.source, flags=re.DOTALL)
        kept = re.sub(r"### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS\n?", "", kept, flags=re.DOTALL)
        assert here.source.strip() == kept.strip() or (exercise(here).get("solution") and here.cell_type == "markdown")


def test_a_zip_holds_what_a_student_needs(handouts):
    for name, path in FILES.items():
        with zipfile.ZipFile(handouts / f"{name}.zip") as archive:
            inside = set(archive.namelist())
            readme = archive.read(f"{FOLDER}/README.txt").decode()
            notebook = archive.read(f"{FOLDER}/{name}.ipynb").decode()
        wanted = {f"package/{file}" for file in ("pyproject.toml", "README.md", "LICENSE", "bmlab/__init__.py")} | {
            "README.txt"
        }
        assert inside >= {f"{FOLDER}/{file}" for file in wanted | {f"tables/{table.name}" for table in tables(path)}}
        assert not any("__pycache__" in file or file.startswith(f"{FOLDER}/bmlab") for file in inside)
        assert len(readme.splitlines()) == 8 and 'pip install "./package[lab]"' in readme
        assert notebook == (handouts / f"{name}.ipynb").read_text(encoding="utf-8")


def test_one_zip_holds_the_whole_course_and_the_versions_it_was_tested_with(handouts):
    with zipfile.ZipFile(handouts / "course.zip") as archive:
        inside = {name.removeprefix(f"{FOLDER}/") for name in archive.namelist()}
        assert (
            archive.read(f"{FOLDER}/package/requirements.lock") == (NOTEBOOKS.parent / "requirements.lock").read_bytes()
        )
    wanted = {f"{name}.ipynb" for name in FILES} | {
        f"tables/{file.name}" for path in FILES.values() for file in tables(path)
    }
    assert inside >= wanted and not any("teacher" in name or name == "solutions.html" for name in inside)


def test_the_solutions_are_a_page_for_teachers(handouts):
    page = (handouts / "teacher/solutions.html").read_text(encoding="utf-8")
    for name in GRADED:
        source = nbformat.read(FILES[name], 4)
        for title in [one.title for one in with_points(source)] + [title for title, *_ in worked(source)]:
            assert f"<h2>{html.escape(title)}</h2>" in page, title
    assert "### " not in page and "default-src 'none'" in page
    if shutil.which("chromium"):
        assert (handouts / "teacher/solutions.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("name", FILES)
def test_slides_show_the_story_and_no_solution(handouts, name):
    page = (handouts / f"teacher/slides/{name}.html").read_text(encoding="utf-8")
    notebook = nbformat.read(FILES[name], 4)
    assert 20 < page.count("<section>") < 120 and "<script" not in page and "default-src 'none'" in page
    heading = next(cell.source for cell in notebook.cells).splitlines()[0].removeprefix("# ")
    assert html.unescape(page).count(heading) >= 2
    visible = html.unescape(re.sub("<[^>]*>", "", page))
    for answer, _ in answer_cells(notebook).values():
        solution = answer.source.partition("### BEGIN SOLUTION")[2].partition("### END SOLUTION")[0]
        for line in solution.strip().splitlines():
            assert len(line.strip()) < 30 or line.strip() not in visible, line


def test_no_link_of_a_handout_leads_out_of_its_folder(handouts):
    """All zips unpacked in one place, as README.txt says."""
    for path in handouts.glob("*.ipynb"):
        text = "\n".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            assert re.match(r"https?:|#", target) or (handouts / target).exists(), f"{path.name}: {target}"


def test_what_a_notebook_reads_or_imports_from_tables_goes_with_it():
    names = {file.name for file in tables(NOTEBOOKS / "06_hidden_units.ipynb")}
    assert names >= {"06_spikes.csv", "06_shifter.npz", "encoder_1985.py"} and "digits.py" not in names
    for notebook, needed in {"07_restricted_machines": "rivals", "08_handwritten_digits": "digits"}.items():
        names = {file.name for file in tables(NOTEBOOKS / f"{notebook}.ipynb")}
        assert names >= {f"{needed}.py", f"{notebook[:2]}_{needed}.csv"}, notebook
        assert ("07_climbs.csv" in names) == (needed == "rivals")  # the script alone names it


# Grading


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class: the solution, the blank, a wrong answer each, and somebody who rewrote the tests."""
    returned, out = tmp_path_factory.mktemp("returned"), tmp_path_factory.mktemp("graded")
    for name in GRADED:
        hand_in(returned, "blank", name, student_version(FILES[name]))
    source, blank = nbformat.read(FILES[ONE], 4), student_version(FILES[ONE])
    hand_in(returned, "solved", ONE, source)
    hand_in(returned, "wrong", ONE, answered(blank, {key: wrong[0][0] for key, wrong in WRONG[ONE].items()}))
    name, (solution, _) = next(iter(answer_cells(source).items()))
    hand_in(returned, "tampered", ONE, tampered(answered(blank, {name: solution.source})))
    grade(NOTEBOOKS, returned, out, seconds=150, **QUIET)
    return out


def tampered(notebook):
    """A copy whose tests always pass and are worth more, but for one that is gone."""
    copy = deepcopy(notebook)
    tests = [cell for cell in code(copy) if exercise(cell).get("grade")]
    for cell in tests:
        cell.source, exercise(cell)["points"] = "assert True", 100
    copy.cells.remove(tests[-1])
    return copy


def test_the_solution_scores_full_marks_and_the_others_none(graded):
    """That the solution of each notebook scores full marks is what grade() asks before it goes on."""
    table = lines_of(graded)
    full = table.pop("(full marks)")
    for name in GRADED:
        assert float(full[name]) == points(nbformat.read(FILES[name], 4))
        assert float(table["blank"][name]) == 0
    source = nbformat.read(FILES[ONE], 4)
    first = next(exercise(test)["points"] for _, test in answer_cells(source).values())
    assert {who: float(row[ONE]) for who, row in table.items()} == {
        "solved": points(source, by_hand=False),
        "blank": 0,
        "wrong": 0,
        "tampered": first,
    }


def test_feedback_shows_the_hint_and_goes_to_each_student(graded):
    assert {page.name for page in (graded / "feedback").iterdir()} == {"solved", "blank", "wrong", "tampered"}
    page = html.unescape((graded / f"feedback/wrong/{ONE}.html").read_text(encoding="utf-8"))
    for wrong in WRONG[ONE].values():
        assert wrong[0][1] in page, wrong[0]
    for name in GRADED:
        page = html.unescape((graded / f"feedback/blank/{name}.html").read_text(encoding="utf-8"))
        for one in with_points(nbformat.read(FILES[name], 4)):
            assert page.count(still_open(one)) == 2, one.title  # in the table, and at the exercise


@walled
def test_a_home_holds_caches_and_nothing_of_anybodys(graded):
    """The folder that every student's home begins as, after the solutions were run."""
    files = [file for file in (graded / "course/warm").rglob("*") if file.is_file()]
    assert any(file.suffix == ".nbi" for file in files) and any("font" in file.name for file in files)
    written = b"".join(file.read_bytes() for file in files)
    for name in GRADED:
        for answer, _ in answer_cells(nbformat.read(FILES[name], 4)).values():
            solution = answer.source.partition("### BEGIN SOLUTION")[2].partition("### END SOLUTION")[0]
            for line in solution.strip().splitlines():
                assert len(line.strip()) < 20 or line.strip().encode() not in written, line


# A mistake here must not become everybody's zero


def test_grading_stops_if_the_solution_does_not_score(tmp_path, monkeypatch):
    (name, solution, test), second = TWICE
    source = short_notebook(tmp_path, [(name, solution.replace("= base", "= a_missing_package"), test), second])
    hand_in(tmp_path / "returned", "anna", "twice", student_version(source))
    (tmp_path / "graded/course/warm").mkdir(parents=True)
    monkeypatch.setattr(grading.sandbox, "execute", run_here)
    monkeypatch.setattr(grading, "wall", lambda trust: "nothing")
    with pytest.raises(ValueError, match="the solution of twice scores 2 of 3 here, so nobody was graded"):
        grade(tmp_path / "sources", tmp_path / "returned", tmp_path / "graded", **QUIET)
    assert not (tmp_path / "graded/grades.csv").exists()


def test_a_worked_solution_that_nobody_grades_is_not_run(tmp_path, monkeypatch):
    """It may take as long as all the rest, and no student has it."""
    worked, ran = nbformat.v4.new_code_cell("worked = base", metadata={"tags": ["teacher"]}), []
    source = nbformat.read(short_notebook(tmp_path, more=[worked]), 4)
    monkeypatch.setattr(grading.sandbox, "execute", lambda sources, **_: ran.extend(sources) or run_here(sources))
    grading.run_solution(Handout(source, without_solutions(source), []), {})
    assert "base = 1" in ran and worked.source not in ran


def test_an_empty_folder_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"STUDENT/NOTEBOOK\.ipynb"):
        grade(NOTEBOOKS, tmp_path, tmp_path / "graded", **QUIET)
