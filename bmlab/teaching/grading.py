"""Grade what came back: collect, put in order, run in the sandbox, mark, write down.

Before anybody is graded the solution is: if it does not score full marks something is missing here, and grading stops,
because otherwise everybody would score 0 in silence. What was graded before and has not changed is not run again.
"""

import logging
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from copy import deepcopy
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, NamedTuple

import nbformat
from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_output
from nbgrader.utils import determine_grade

from . import sandbox
from .collecting import Attempt, Handout, Student, collect
from .course import Course, warnings_cost_nothing, without_solutions
from .exercises import exercises, points, record, still_open, without_teachers
from .handouts import tables
from .looking import flags
from .matching import Cell, Rebuilt, rebuilt
from .records import SHOWN, Answer, Graded, Row, digest, load, of_files
from .reports import write_reports
from .walls import PACKAGE, WORDS, wall

Say = Callable[[str], Any]


class Task(NamedTuple):
    """A notebook of a student that is to be run."""

    row: Row
    name: str
    attempt: Attempt
    digest: str


def grade(
    notebooks: Path,
    folder: Path,
    out: Path,
    *,
    say: Say,
    seconds: float = 300,
    gigabytes: float = 4,
    trust: bool = False,
    roster: Path | None = None,
    due: str = "",
    late: str = "",
) -> None:
    """Grade what lies in `folder`; write tables, pages and feedback to `out`, and nbgrader's course to out/course.

    Interrupted, it keeps what is done, writes that, and raises KeyboardInterrupt.
    """
    logging.getLogger("traitlets").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", module="nbgrader|nbformat")  # words between libraries
    handouts = {}
    for path in sorted(notebooks.glob("*.ipynb")):
        source = nbformat.read(path, as_version=4)
        if points(source):
            handouts[path.stem] = Handout(source, without_solutions(source), tables(path))
    students, left_out = collect(folder, handouts)
    if not students:
        raise ValueError(
            f"nothing that a student returned is in {folder}; it takes what learning platforms deliver, "
            "STUDENT/NOTEBOOK.ipynb or STUDENT_NOTEBOOK.ipynb"
        )
    for remark in left_out:
        say(remark)
    course, records = Course((out / "course").resolve()), (out / "course" / "records").resolve()
    rows = load(records)
    tasks = due_tasks(students, rows, handouts, (seconds, gigabytes, trust))
    for row in rows.values():
        row.save(records)
    stopped = None
    try:
        if tasks:
            say(f"between you and what is run: {WORDS[wall(trust)]}")
            run_all(course, tasks, handouts, records, say, {"seconds": seconds, "gigabytes": gigabytes, "trust": trust})
    except KeyboardInterrupt as problem:
        stopped = problem
        for task in tasks:
            if task.name not in task.row.notebooks:
                task.row.remarks = [*task.row.remarks, f"{task.name}: not graded yet"]
    write_reports(out, rows, handouts, course.marks(), roster=roster, due=due, late=late)
    if stopped:
        raise stopped


def due_tasks(
    students: Sequence[Student], rows: dict[str, Row], handouts: Mapping[str, Handout], limits: tuple
) -> list[Task]:
    """Bring the rows up to date with who handed in what, and return what is to be run."""
    version = of_files(PACKAGE.rglob("*.py"))
    courses = {name: digest(version, limits, handout.source.cells) for name, handout in handouts.items()}
    tasks = []
    for student in students:
        row = rows.setdefault(student.name, Row(student.name))
        row.id, row.platform, row.remarks = student.sender.id, student.sender.platform, student.remarks
        for name, attempt in student.attempts.items():
            known, found = row.notebooks.get(name), attempt.rebuilt
            now = digest(courses[name], list(found.run.values()), found.open)
            newer = not known or known.place == str(attempt.file.place) or known.rank < list(attempt.rank)
            if known and known.rank[0] and not attempt.rank[0]:
                newer, row.remarks = False, [*row.remarks, f"{name}: a blank copy that came later was left aside"]
            if known and known.digest == now and newer:
                known.rank, known.place, known.handed_in = (
                    list(attempt.rank),
                    str(attempt.file.place),
                    attempt.handed_in,
                )
            elif newer:
                tasks.append(Task(row, name, attempt, now))
    return tasks


def run_all(course: Course, tasks: Sequence[Task], handouts: Mapping[str, Handout], records: Path, say: Say, limits):
    """Run tasks, as many at a time as there are processors; this thread alone writes the gradebook and the records."""
    warm = course.root / "warm"
    if not warm.exists():
        sandbox.warm_home(warm, limits["trust"])
    stopping, began = Event(), monotonic()
    limits = limits | {"warm": warm, "stopping": stopping}
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        names = sorted({task.name for task in tasks})
        proofs = {name: pool.submit(run_solution, handouts[name], limits) for name in names}
        for name, proof in proofs.items():
            check_solution(course, name, handouts[name], proof.result())
        running: dict[Future, Task] = {}
        for task in tasks:
            running[pool.submit(run, task.attempt.rebuilt, handouts[task.name], limits)] = task
        for done, future in enumerate(as_completed(running), 1):
            task = running[future]
            task.row.notebooks[task.name] = finished(course, task, handouts[task.name], future)
            task.row.save(records)
            left = (monotonic() - began) / done * (len(tasks) - done)
            say(f"{done} of {len(tasks)}, {time_of(left)} left: {task.row.name}, {task.name}")
    finally:
        stopping.set()
        pool.shutdown(wait=True, cancel_futures=True)


def time_of(seconds: float) -> str:
    """Words for a time."""
    return f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s"


def run(found: Rebuilt, handout: Handout, limits: Mapping[str, Any]) -> NotebookNode:
    """Return the notebook with the outputs of the cells that were run; nothing runs where nothing was answered."""
    notebook = deepcopy(found.notebook)
    unanswered = [one for one in exercises(handout.source) if one.answer in found.open]
    open_tests = {test: still_open(one) for one in unanswered for test in one.tests}
    idle = len(found.open) == len(exercises(handout.source))
    reached = {
        place: source
        for place, source in found.run.items()
        if not idle and record(notebook.cells[place]).get("grade_id") not in open_tests
    }
    outputs = sandbox.execute(list(reached.values()), tables=handout.tables, **limits)
    for place, output in zip(reached, outputs, strict=True):
        notebook.cells[place].outputs = [from_dict(one) for one in output]
    for cell in notebook.cells:
        sentence = open_tests.get(record(cell).get("grade_id", ""))
        if sentence and cell.cell_type == "code":
            cell.outputs = [new_output("error", ename="NotImplementedError", evalue=sentence, traceback=[sentence])]
    return notebook


def run_solution(handout: Handout, limits: Mapping[str, Any]) -> NotebookNode:
    """Run the source notebook as a student's would be, without what stands there for teachers."""
    cells = without_teachers(handout.source).cells
    cells = [Cell(cell.cell_type, cell.source, record(cell).get("grade_id", "")) for cell in cells]
    return run(rebuilt(handout.source, handout.blank, cells), handout, limits)


def check_solution(course: Course, name: str, handout: Handout, executed: NotebookNode) -> None:
    """Refuse to go on if the solution does not score its full marks here."""
    warnings_cost_nothing(executed)
    tests = [cell for cell in executed.cells if record(cell).get("grade") and not record(cell).get("solution")]
    score = sum(determine_grade(cell)[0] or 0 for cell in tests)
    full = points(handout.source, by_hand=False)
    place = course.write("solutions", ".", executed, name)
    if score < full:
        raise ValueError(
            f"the solution of {name} scores {score:g} of {full:g} here, so nobody was graded; "
            f"look for the first error in {place}"
        )
    course.add_source(name, handout.source, handout.blank)


def finished(course: Course, task: Task, handout: Handout, future: Future) -> Graded:
    """Mark what was run and return what is kept of it; what is not the student's fault leaves no points, not 0."""
    attempt = task.attempt
    about = Graded(task.digest, list(attempt.rank), str(attempt.file.place), attempt.handed_in)
    try:
        notebook = future.result()
        course.mark(task.row.name, notebook, task.name)
    except Exception as problem:  # whatever it put into its outputs, it must not end the run
        about.digest, about.problem = "", f"{task.name} was not graded: {problem}"
        return about
    cells = {record(cell)["grade_id"]: cell for cell in notebook.cells if record(cell)}
    for one in exercises(handout.source):
        mine, tests = cells[one.answer], [cells[test] for test in one.tests if test != one.answer]
        is_open = one.answer in attempt.rebuilt.open
        hints = [] if is_open else [hint for cell in [mine, *tests] for hint in errors(cell)]
        about.answers[one.answer] = Answer(mine.source, said(mine), hints, is_open)
    about.flags = flags([*attempt.rebuilt.own, *(answer.source for answer in about.answers.values())])
    return about


def errors(cell: NotebookNode) -> list[str]:
    """What went wrong in a cell: an assertion's own words, of other errors the kind too."""
    found = [output for output in cell.get("outputs", []) if output.output_type == "error"]
    plain = ("AssertionError", "NotReached", "CellTimeoutError", "DeadKernelError")
    return [(one.evalue if one.ename in plain else f"{one.ename}: {one.evalue}")[:SHOWN] for one in found]


def said(cell: NotebookNode) -> str:
    """What a cell printed."""
    return "".join(output.text for output in cell.get("outputs", []) if output.output_type == "stream")[:SHOWN]
