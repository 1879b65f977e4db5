"""Handing out and grading, end to end: nobody scores what is not deserved, and no submission ends the run.

The notebooks are run as they are by nbval, solutions and tests included; grading runs what the grades need. Wrong
answers are in wrong_answers.py, a class of awkward submissions in awkward_class.py.
"""

import ast
import csv
import html
import os
import re
import shutil
import socket
import zipfile
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from wrong_answers import WRONG

pytest.importorskip("nbgrader")
pytest.importorskip("resource")  # no grading on Windows
from itertools import pairwise

from nbconvert import HTMLExporter

from bmlab.teaching import sandbox, walls
from bmlab.teaching.cleaning import clean, clean_markdown
from bmlab.teaching.course import STUB
from bmlab.teaching.exercises import exercises, points
from bmlab.teaching.grading import grade
from bmlab.teaching.handouts import FOLDER, student_version, tables
from bmlab.teaching.slicing import needed_cells

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
FILES = {path.stem: path for path in sorted(NOTEBOOKS.glob("*.ipynb"))}
GRADED = [name for name, path in FILES.items() if points(nbformat.read(path, 4))]
ONE = GRADED[1]
QUIET = {"say": lambda line: None}


def exercise(cell):
    return cell.metadata.get("nbgrader", {})


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def answer_cells(notebook):
    """Name -> cell of every answer in code, with its test cell."""
    cells = code(notebook)
    pairs = [(cell, test) for cell, test in pairwise(cells) if exercise(cell).get("solution")]
    return {exercise(cell)["grade_id"]: (cell, test) for cell, test in pairs}


def needed(notebook):
    """The cells that the exercises need, and the exercises."""
    cells = code(notebook)
    kept, _ = needed_cells([cell.source for cell in cells], [bool(exercise(cell)) for cell in cells])
    return [cells[place] for place in sorted(kept)]


def table_of(out):
    """grades.csv as student -> notebook -> points."""
    with (out / "grades.csv").open(encoding="utf-8-sig") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def hand_in(folder, student, name, notebook):
    (folder / student).mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / student / f"{name}.ipynb")


def answered(blank, answers):
    """A student version with answers filled in."""
    notebook = deepcopy(blank)
    for name, (cell, _) in answer_cells(notebook).items():
        cell.source = answers.get(name, cell.source)
    return notebook


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


def namespace(notebook):
    """What the cells before the exercises make."""
    made = {}
    for cell in needed(notebook):
        if not exercise(cell):
            exec(cell.source, made)
    return made


@pytest.mark.parametrize("name", GRADED)
def test_typical_wrong_answers_bring_a_hint(name, monkeypatch):
    monkeypatch.chdir(NOTEBOOKS)
    notebook = nbformat.read(FILES[name], 4)
    made = namespace(notebook)
    assert WRONG[name].keys() == answer_cells(notebook).keys()
    for exercise_name, (_, test) in answer_cells(notebook).items():
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
        assert not any(cell.outputs or cell.execution_count for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("name", FILES)
def test_a_stub_is_its_solution_with_the_middle_taken_out(handouts, name):
    source, stub = nbformat.read(FILES[name], 4), nbformat.read(handouts / f"{name}.ipynb", 4)
    assert stub.cells.pop().source.startswith(f"**Hand in** this file, `{name}.ipynb`")
    for there, here in zip(source.cells, stub.cells, strict=True):
        stub_text = r"\1# YOUR CODE HERE\n\1" + STUB.splitlines()[1]
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
        assert len(readme.splitlines()) == 5 and 'pip install "./package[lab]"' in readme
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
        for one in exercises(nbformat.read(FILES[name], 4)):
            assert f"<h2>{html.escape(one.title)}</h2>" in page, one.title
    assert "### " not in page and "default-src 'none'" in page
    if shutil.which("chromium"):
        assert (handouts / "teacher/solutions.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("name", FILES)
def test_slides_show_the_story_and_no_solution(handouts, name):
    page = (handouts / f"teacher/slides/{name}.html").read_text(encoding="utf-8")
    notebook = nbformat.read(FILES[name], 4)
    assert 30 < page.count("<section>") < 120 and "<script" not in page and "default-src 'none'" in page
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
    table = table_of(graded)
    full = table.pop("(full marks)")
    for name in GRADED:
        assert float(full[name]) == points(nbformat.read(FILES[name], 4))
        assert float(table["blank"][name]) == 0
    first = next(exercise(test)["points"] for _, test in answer_cells(nbformat.read(FILES[ONE], 4)).values())
    assert {who: float(row[ONE]) for who, row in table.items()} == {
        "solved": float(full[ONE]),
        "blank": 0,
        "wrong": 0,
        "tampered": first,
    }


def test_feedback_shows_the_hint_and_goes_to_each_student(graded):
    assert {page.name for page in (graded / "feedback").iterdir()} == {"solved", "blank", "wrong", "tampered"}
    page = html.unescape((graded / f"feedback/wrong/{ONE}.html").read_text(encoding="utf-8"))
    for wrong in WRONG[ONE].values():
        assert wrong[0][1] in page, wrong[0]


# Submissions that nobody should run

SUBMITTED = {  # student -> the answers to two exercises, both right but for what else they do
    "endless": ("while True: pass", ""),
    "dying": ("import os\nos._exit(1)", ""),
    "greedy": ("bytearray(10**12)", "import socket\nsocket.create_connection(('127.0.0.1', {port}), 5)"),
    "deleting": ("import shutil\nshutil.rmtree({outside!r})", "print(open({outside!r} + '/solutions.txt').read())"),
    "noisy": ("for _ in range(100): print('x' * 200_000)", "import sys\nprint('careful', file=sys.stderr)"),
    "reaching": (
        "import socket\nsocket.socket(socket.AF_UNIX).connect({outside!r} + '/socket')",
        "print(open('/etc/passwd').read())",
    ),
    "spying": (
        "import os\nseen = [open(f'/proc/{{pid}}/cmdline').read() for pid in os.listdir('/proc') if pid.isdigit()]\n"
        "if not any('pytest' in command for command in seen): raise RuntimeError('saw no teacher')",
        "from pathlib import Path\nfiles = [f for f in Path.home().rglob('*') if f.is_file()]\n"
        "if not any(b'first = 1' in f.read_bytes() for f in files): raise RuntimeError('no history, no solution')",
    ),
    "hoarding": (
        "with open('/tmp/much', 'wb') as file:\n    for _ in range(10**3): file.write(bytes(10**6))",
        "import os\nos.remove('/tmp/much')\nfor k in range(10):\n    open(f'/tmp/{{k}}', 'wb').write(bytes(9 * 10**7))",
    ),
    "breeding": ("import os, time\nfor _ in range(300):\n    if not os.fork(): time.sleep(99)\ntime.sleep(99)", ""),
    "changing": ("import bmlab\nopen(bmlab.__file__, 'a').write('')", "import subprocess\nsubprocess.run(['ls'])"),
}
SCORES = dict.fromkeys(SUBMITTED, "0") | {"endless": "1", "noisy": "2", "broken": "", "readme": ""}
walled = pytest.mark.skipif(
    not walls.has_bubblewrap() and "CI" not in os.environ, reason="needs bubblewrap: apt install bubblewrap"
)


def exercise_pair():
    """A notebook with two exercises: a submission that is stopped in the first can still win the second."""
    cells = []
    for name in ("first", "second"):
        record = {
            "schema_version": 3,
            "grade_id": name,
            "grade": False,
            "solution": True,
            "locked": False,
            "task": False,
        }
        test = record | {"grade_id": f"test_{name}", "grade": True, "solution": False, "locked": True, "points": 1}
        for source, nbgrader in (
            (f"### BEGIN SOLUTION\n{name} = 1\n### END SOLUTION", record),
            (f"assert {name} == 1\n### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS", test),
        ):
            cells.append(nbformat.v4.new_code_cell(source, metadata={"nbgrader": nbgrader}))
    return nbformat.v4.new_notebook(cells=cells)


@pytest.fixture(scope="module")
def dangerous(tmp_path_factory):
    """Every dangerous submission graded, and what they tried to reach."""
    folder = tmp_path_factory.mktemp("dangerous")
    outside = folder / "outside"
    for name in ("sources", "returned", "outside"):
        (folder / name).mkdir()
    (outside / "solutions.txt").write_text("the secret")
    nbformat.write(exercise_pair(), folder / "sources/pair.ipynb")
    blank = student_version(folder / "sources/pair.ipynb")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as beside:
        beside.bind(str(outside / "socket"))
        beside.listen()
        beside.settimeout(0.1)
        server.settimeout(0.1)
        for student, sources in SUBMITTED.items():
            first, second = (text.format(outside=str(outside), port=server.getsockname()[1]) for text in sources)
            answers = {"first": f"{first}\nfirst = 1", "second": f"{second}\nsecond = 1"}
            hand_in(folder / "returned", student, "pair", answered(blank, answers))
        (folder / "returned/broken").mkdir()
        (folder / "returned/broken/pair.ipynb").write_text("{")
        (folder / "returned/readme.ipynb").write_text("{}")
        (folder / "graded/course/warm").mkdir(parents=True)  # no caches: nothing here needs them
        grade(folder / "sources", folder / "returned", folder / "graded", seconds=30, gigabytes=2, **QUIET)
        for door in (server, beside):
            with pytest.raises(TimeoutError):
                door.accept()
    return folder


def test_a_dangerous_submission_costs_its_author_points_and_nobody_else(dangerous):
    scores = {student: row["pair"] for student, row in table_of(dangerous / "graded").items()}
    assert scores == SCORES | {"(full marks)": "2"}


def test_nothing_outside_is_touched_or_told(dangerous):
    assert (dangerous / "outside/solutions.txt").read_text() == "the secret"
    for page in (dangerous / "graded/feedback").rglob("*.html"):
        assert "the secret" not in page.read_text(encoding="utf-8")


def test_feedback_says_why_a_cell_was_stopped(dangerous):
    for student, reason in (
        ("endless", "endless loop"),
        ("dying", "ended the process"),
        ("greedy", "MemoryError"),
        ("deleting", "No such file"),
        ("reaching", "No such file"),
        ("spying", "saw no teacher"),
        ("spying", "no history, no solution"),
        ("hoarding", "File too large"),
        ("hoarding", "No space left"),
        ("breeding", "processes"),
        ("changing", "Read-only file system"),
    ):
        assert reason in (dangerous / f"graded/feedback/{student}/pair.html").read_text(encoding="utf-8"), student


def test_the_table_says_what_was_not_graded(dangerous):
    remarks = {student: row["remarks"] for student, row in table_of(dangerous / "graded").items()}
    assert "cannot be read as a notebook" in remarks["broken"] and not remarks["noisy"]


def test_without_a_wall_nothing_is_run_unless_somebody_says_so(monkeypatch):
    monkeypatch.setattr(walls, "has_bubblewrap", lambda: False)
    monkeypatch.setattr(walls, "engine_here", lambda: "")
    with pytest.raises(ValueError, match="nothing here walls submissions in, so none was run; install bubblewrap"):
        sandbox.execute(["1"])
    assert "submissions run as you" in walls.WORDS[walls.wall(trust=True)]
    (outputs,) = sandbox.execute(["print(6 * 7)"], seconds=60, trust=True)
    assert outputs[0]["text"] == "42\n"


def test_a_container_engine_stands_in_for_bubblewrap_once_it_has_the_image(monkeypatch, tmp_path):
    monkeypatch.setattr(walls, "has_bubblewrap", lambda: False)
    monkeypatch.setattr(walls, "engine_here", lambda: "podman")
    monkeypatch.setattr(walls, "has_image", lambda engine: False)
    with pytest.raises(ValueError, match="podman build --tag bmlab-grading --file docs/Containerfile"):
        walls.wall()
    monkeypatch.setattr(walls, "has_image", lambda engine: True)
    assert walls.wall() == "podman"
    command = walls.container("podman", tmp_path, seconds=300, gigabytes=4)
    text = " ".join(command)
    for words in ("--network none", "--read-only", "--cap-drop ALL", "no-new-privileges", "--pids-limit", "--rm"):
        assert words in text
    mounts = [command[place + 1] for place, word in enumerate(command) if word == "--volume"]
    assert len(mounts) == 3 and all(mount.endswith(":ro") for mount in mounts)
    assert text.index(walls.IMAGE) < text.index("timeout --signal=KILL 301 python") and "docker.sock" not in text
    assert (NOTEBOOKS.parent / "docs/Containerfile").exists()


@walled
def test_a_home_holds_caches_and_nothing_of_anybodys(tmp_path):
    sandbox.warm_home(tmp_path / "home", trust=False)
    files = [file for file in (tmp_path / "home").rglob("*") if file.is_file()]
    assert any(file.suffix == ".nbi" for file in files) and any("font" in file.name for file in files)
    written = b"".join(file.read_bytes() for file in files)
    for name in GRADED:
        for answer, _ in answer_cells(nbformat.read(FILES[name], 4)).values():
            solution = answer.source.partition("### BEGIN SOLUTION")[2].partition("### END SOLUTION")[0]
            for line in solution.strip().splitlines():
                assert len(line.strip()) < 20 or line.strip().encode() not in written, line


HARMFUL = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[see](javascript:alert(1))",
    "[see]\n\n[see]: JaVaScript:alert(1)",
    "<a href='&#106;avascript:alert(1)'>see</a>",
    "$\\href{javascript:alert(1)}{x}$",
    "<iframe src='https://example.org'></iframe>",
    "<svg onload=alert(1)></svg>",
]
HARMLESS = (
    "plain *text* $a < b$, `x<y`\n\n> a & b\n\n- [page](https://example.org) ![pixel](tables/x.png) [on](01.ipynb#a)"
)


@pytest.mark.parametrize("source", HARMFUL)
def test_what_a_student_writes_cannot_act_in_the_teachers_page(source):
    """Rendered by nbconvert, as nbgrader's menu and the feedback pages are, after cleaning."""
    html_output = nbformat.v4.new_output("display_data", {"text/html": source, "application/javascript": "alert(1)"})
    cells = [nbformat.v4.new_markdown_cell(source), nbformat.v4.new_code_cell("1", outputs=[html_output])]
    page = HTMLExporter(template_name="classic").from_notebook_node(clean(nbformat.v4.new_notebook(cells=cells)))[0]
    body = page[page.index("<body") :]
    assert not re.search(
        r"<script>alert|onerror|onload|href=.?javascript|\\href|<iframe|alert\(1\)\"", body, re.IGNORECASE
    )
    assert not {"application/javascript"} & set(cells[1].outputs[0].data)


def test_harmless_markdown_stays_as_it_was_written():
    assert clean_markdown(HARMLESS) == HARMLESS
    source = nbformat.read(FILES[ONE], 4)
    for cell in source.cells:
        if cell.cell_type == "markdown" and "<" not in cell.source:
            assert clean_markdown(cell.source) == cell.source, cell.id


@walled
def test_the_whole_notebook_has_a_time_limit():
    stubborn = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    _, second = sandbox.execute([stubborn, "1"], seconds=5)
    assert "stopped after" in second[-1]["evalue"]


@walled
def test_a_long_notebook_reaches_its_kernel():
    """A pipe holds 64 KB, and an order that was longer once waited for ever."""
    first, last = sandbox.execute([f"text = {'x' * 200_000!r}", "print(len(text))"], seconds=60)
    assert not first and last[0]["text"] == "200000\n"


# A mistake here must not become everybody's zero


def test_grading_stops_if_the_solution_does_not_score(tmp_path):
    notebook = exercise_pair()
    notebook.cells[0].source = notebook.cells[0].source.replace("first = 1", "from a_missing_package import first")
    (tmp_path / "sources").mkdir()
    nbformat.write(notebook, tmp_path / "sources/pair.ipynb")
    hand_in(tmp_path / "returned", "anna", "pair", student_version(tmp_path / "sources/pair.ipynb"))
    (tmp_path / "graded/course/warm").mkdir(parents=True)
    with pytest.raises(ValueError, match="the solution of pair scores 1 of 2 here, so nobody was graded"):
        grade(tmp_path / "sources", tmp_path / "returned", tmp_path / "graded", seconds=30, gigabytes=2, **QUIET)
    assert not (tmp_path / "graded/grades.csv").exists()


def test_an_empty_folder_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"STUDENT/NOTEBOOK\.ipynb"):
        grade(NOTEBOOKS, tmp_path, tmp_path / "graded", **QUIET)
