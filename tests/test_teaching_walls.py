"""What a submission cannot do, tried behind each wall that is here; and what its words cannot do in a page."""

import re
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import psutil
import pytest

pytest.importorskip("nbgrader")
pytest.importorskip("resource")  # no grading on Windows
from nbconvert import HTMLExporter
from small_course import answered, hand_in, lines_of, short_notebook, walled

from bmlab.teaching import sandbox, walls
from bmlab.teaching.cleaning import clean, clean_markdown
from bmlab.teaching.grading import grade
from bmlab.teaching.handouts import student_version

ROOT = Path(__file__).resolve().parents[1]
ENGINES = [engine for engine in [walls.engine_here()] if engine and walls.has_image(engine)]
WALLS = [pytest.param("bubblewrap", marks=walled), *ENGINES]

ATTEMPTS = {  # what a submission tries -> how, and why it fails
    "take memory": ("bytearray(10**12)", "MemoryError"),
    "connect to the network": ("import socket\nsocket.create_connection(('127.0.0.1', {port}), 5)", "refused"),
    "delete": ("import shutil\nshutil.rmtree({outside!r})", "No such file"),
    "read": ("print(open({outside!r} + '/solutions.txt').read())", "No such file"),
    "write": ("open({outside!r} + '/solutions.txt', 'w').write('')", "No such file"),
    "reach a socket": ("import socket\nsocket.socket(socket.AF_UNIX).connect({outside!r} + '/socket')", "No such file"),
    "change the package": (
        "import bmlab\nopen(bmlab.__file__, 'a').write('')",
        "Read-only file system|Permission denied",
    ),
    "look at other processes": (
        "import os\nseen = [open(f'/proc/{{pid}}/cmdline').read() for pid in os.listdir('/proc') if pid.isdigit()]\n"
        "if not any({outside!r} in command for command in seen): raise RuntimeError('saw no teacher')",
        "saw no teacher",
    ),
    "read what an earlier run left": (
        "from pathlib import Path\nfiles = [f for f in Path.home().rglob('*') if f.is_file()]\n"
        "if not any(b'the secret' in f.read_bytes() for f in files): raise RuntimeError('nothing is left')",
        "nothing is left",
    ),
    "write a large file": (
        "with open('/tmp/much', 'wb') as file:\n    for _ in range(10**3): file.write(bytes(10**6))",
        "File too large",
    ),
    "write many files": (
        "import os\nos.remove('/tmp/much')\nfor k in range(10):\n    open(f'/tmp/{{k}}', 'wb').write(bytes(9 * 10**7))",
        "No space left",
    ),
}
OF_THE_SYSTEM = {  # a container has an image's own
    "read the system's files": ("print(open('/etc/passwd').read())", "No such file"),
    "start a program": ("import subprocess\nsubprocess.run(['ls'])", "No such file"),
}
LEFT_BEHIND = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(98.765)'])"
NOISE = "for _ in range(100): print('x' * 200_000)"


def check_wall(kind="bubblewrap"):
    """All attempts fail for their reasons, and nothing outside was changed, told or asked."""
    attempts = ATTEMPTS | (OF_THE_SYSTEM if kind == "bubblewrap" else {})
    with ExitStack() as stack:
        outside = Path(stack.enter_context(TemporaryDirectory()))
        (outside / "solutions.txt").write_text("xyzzy")
        doors = [stack.enter_context(socket.create_server(("127.0.0.1", 0))), stack.enter_context(socket.socket(1))]
        doors[1].bind(str(outside / "socket"))
        doors[1].listen()
        teacher = [sys.executable, "-c", "input()", str(outside)]
        stack.enter_context(subprocess.Popen(teacher, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL))
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(walls, "has_bubblewrap", lambda: kind == "bubblewrap")
        known = {"outside": str(outside), "port": doors[0].getsockname()[1]}
        sources = [source.format(**known) for source, _ in attempts.values()]
        *found, noisy, _ = sandbox.execute([*sources, NOISE, LEFT_BEHIND], seconds=90, gigabytes=2)
        for (name, (_, reason)), outputs in zip(attempts.items(), found, strict=True):
            told = [f"{one['ename']}: {one['evalue']}" for one in outputs if one["output_type"] == "error"]
            assert told and re.search(reason, told[0]), (name, outputs)
        assert "xyzzy" not in str(found) and (outside / "solutions.txt").read_text() == "xyzzy"
        assert [one["output_type"] for one in noisy] == ["stream"] and len(noisy[0]["text"]) <= 10_000
        for door in doors:
            door.setblocking(False)
            with pytest.raises(BlockingIOError):
                door.accept()
    commands = [(one, " ".join(one.info["cmdline"] or ())) for one in psutil.process_iter(["cmdline"])]
    behind = [one for one, command in commands if "time.sleep(98.765)" in command]
    assert not psutil.wait_procs(behind, timeout=5)[1]


@pytest.mark.parametrize("kind", WALLS)
def test_no_attempt_gets_through_the_wall(kind):
    check_wall(kind)


ENDING = {  # student -> what stands before the first answer, the points, and what the feedback says
    "endless": ("import time\nwhile True: time.sleep(1)", "2", "endless loop"),
    "dying": ("import os\nos._exit(1)", "0", "ended the process"),
    "breeding": (
        "import os, time\nfor _ in range(300):\n    if not os.fork(): time.sleep(99)\ntime.sleep(99)",
        "0",
        "processes|temporarily unavailable",
    ),
    "warning": ("import sys\nprint('careful', file=sys.stderr)", "3", "careful"),
}


@pytest.mark.parametrize("kind", WALLS)
def test_what_ends_a_submission_costs_its_author_points_and_nobody_else(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(walls, "has_bubblewrap", lambda: kind == "bubblewrap")
    source = short_notebook(tmp_path)
    blank = student_version(source)
    for student, (before, *_) in ENDING.items():
        answers = {"first": f"{before}\nfirst = base", "double": "def double(x): return 2 * x"}
        hand_in(tmp_path / "returned", student, "twice", answered(blank, answers))
    (tmp_path / "returned/broken").mkdir()
    (tmp_path / "returned/broken/twice.ipynb").write_text("{")
    (tmp_path / "returned/readme.ipynb").write_text("{}")
    (tmp_path / "graded/course/warm").mkdir(parents=True)  # no caches: nothing here needs them
    grade(tmp_path / "sources", tmp_path / "returned", tmp_path / "graded", seconds=30, say=lambda line: None)
    lines = lines_of(tmp_path / "graded")
    expected = {student: points for student, (_, points, _) in ENDING.items()}
    expected["breeding"] = "0" if kind == "bubblewrap" else "2"  # a container refuses the 65th process, and goes on
    others = {"broken": "", "readme": "", "(full marks)": "3"}
    assert {student: line["twice"] for student, line in lines.items()} == expected | others
    for student, (_, _, reason) in ENDING.items():
        page = (tmp_path / f"graded/feedback/{student}/twice.html").read_text(encoding="utf-8")
        assert re.search(reason, page), student
    assert "cannot be read as a notebook" in lines["broken"]["remarks"] and not lines["warning"]["remarks"]


@walled
def test_the_whole_notebook_has_a_time_limit():
    stubborn = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: time.sleep(1)"
    _, second = sandbox.execute([stubborn, "1"], seconds=3)
    assert "stopped after" in second[-1]["evalue"]


@walled
def test_a_long_notebook_reaches_its_kernel():
    """A pipe holds 64 KB, and an order that was longer once waited for ever."""
    first, last = sandbox.execute([f"text = {'x' * 200_000!r}", "print(len(text))"], seconds=60)
    assert not first and last[0]["text"] == "200000\n"


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
    assert (ROOT / "docs/Containerfile").exists()


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
ACTS = re.compile(r"<script>alert|onerror|onload|href=.?javascript|\\href|<iframe|alert\(1\)\"", re.IGNORECASE)


def check_cleaned(*sources):
    """What a student writes or shows does not act in a page of nbconvert's, as nbgrader's menu and our pages are."""
    cells = []
    for source in sources:
        shown = nbformat.v4.new_output("display_data", {"text/html": source, "application/javascript": "alert(1)"})
        cells += [nbformat.v4.new_markdown_cell(source), nbformat.v4.new_code_cell("1", outputs=[shown])]
    page = HTMLExporter(template_name="classic").from_notebook_node(clean(nbformat.v4.new_notebook(cells=cells)))[0]
    found = ACTS.search(page[page.index("<body") :])
    assert not found, found
    assert not any("application/javascript" in cell.outputs[0].data for cell in cells[1::2])


def test_what_a_student_writes_cannot_act_in_the_teachers_page():
    check_cleaned(*HARMFUL)


def test_harmless_markdown_stays_as_it_was_written(path):
    assert clean_markdown(HARMLESS) == HARMLESS
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "markdown" and "<" not in cell.source:
            assert clean_markdown(cell.source) == cell.source, cell.id
