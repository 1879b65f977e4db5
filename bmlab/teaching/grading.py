"""Grade what came back: collect, restore, run in the sandbox, mark, explain.

nbgrader restores the tests, reads the points off the outputs, keeps the gradebook and writes the feedback pages. Before
anybody is graded the solution is: if it does not score full marks something is missing here, and grading stops,
because otherwise everybody would score 0 in silence.
"""

import csv
import logging
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader import preprocessors as pre
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from . import sandbox
from .cleaning import clean
from .handouts import points, processed, student_version, tables

RESTORE = [
    pre.ClearOutput,
    pre.DeduplicateIds,
    pre.OverwriteKernelspec,
    lambda: pre.OverwriteCells(add_missing_cells=True),
    pre.CheckCellMetadata,
]
MARK = [pre.LimitOutput, pre.SaveAutoGrades]
SOLUTION, LARGEST = "solution", 50 * 2**20
Say = Callable[[str], Any]


class Course:
    """A folder as nbgrader expects it, with its gradebook: JupyterLab's menu Nbgrader opens it for marking by hand."""

    def __init__(self, root: Path):
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        beside = Path(sys.executable).parent  # nbgrader starts a program called alembic
        os.environ["PATH"] = f"{beside}{os.pathsep}{os.environ.get('PATH', '')}"
        self.url = f"sqlite:///{root / 'gradebook.db'}"

    def resources(self, name: str, student: str = SOLUTION) -> dict:
        """What nbgrader's preprocessors want to know. Each notebook is an assignment of its own."""
        known = {"assignment": name, "notebook": name, "student": student, "db_url": self.url}
        return {"nbgrader": known, "unique_key": name}

    def add_source(self, path: Path) -> None:
        """Record the tests of a source notebook and keep the version that students get."""
        with Gradebook(self.url) as gradebook:
            gradebook.update_or_create_assignment(path.stem)
        self.write("release", ".", student_version(path, self.resources(path.stem)), path.stem)
        self.write("source", ".", nbformat.read(path, as_version=4), path.stem)

    def restored(self, student: str, path: Path, name: str) -> NotebookNode:
        """Read a returned notebook and put the tests back that were changed or deleted."""
        notebook = read(path)
        self.write("submitted", student, notebook, name)
        with Gradebook(self.url) as gradebook:
            gradebook.update_or_create_student(student)
            gradebook.update_or_create_submission(name, student)
        return processed(notebook, RESTORE, self.resources(name, student))

    def mark(self, student: str, executed: NotebookNode, name: str) -> None:
        """Store the points of a notebook that was run, and the notebook."""
        for cell in executed.cells:
            warnings_cost_nothing(cell)
        self.write("autograded", student, processed(clean(executed), MARK, self.resources(name, student)), name)

    def score(self, student: str, name: str) -> tuple[float, int]:
        """The points of a notebook, and how many answers wait for a person."""
        with Gradebook(self.url) as gradebook:
            graded: Any = gradebook.find_submission_notebook(name, name, student)
            return graded.score, sum(grade.needs_manual_grade for grade in graded.grades)

    def write(self, step: str, student: str, notebook: NotebookNode, name: str) -> None:
        """Store a notebook where nbgrader looks for it."""
        target = self.root / step / student / name / f"{name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")

    def write_feedback(self, name: str, target: Path, say: Say) -> None:
        """Make the pages of one notebook, one a student, and copy them to the folder that is sent back."""
        config = Config(
            CourseDirectory={"root": str(self.root), "assignment_id": name, "student_id": "*"},
            GenerateFeedback={"force": True},
            HTMLExporter={"sanitize_html": True},
        )
        try:
            GenerateFeedback(coursedir=CourseDirectory(config=config), config=config).start()
        except NbGraderException as problem:
            say(f"not every feedback page of {name} could be made: {problem}")
        for page in sorted(self.root.glob(f"feedback/*/{name}/{name}.html")):
            student = page.parts[-3]
            if student != SOLUTION:
                (target / student).mkdir(parents=True, exist_ok=True)
                shutil.copy(page, target / student)


def warnings_cost_nothing(cell: NotebookNode) -> None:
    """nbgrader takes every word on stderr for a failure; a warning is none."""
    for output in cell.get("outputs", []):
        if output.get("name") == "stderr":
            output.name = "stdout"


def read(path: Path) -> NotebookNode:
    """Read a returned notebook; ValueError if it is none."""
    if path.is_symlink() or path.stat().st_size > LARGEST:
        raise ValueError("it is a link, or larger than 50 MB")
    try:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    except Exception as problem:  # whatever nbformat stumbles over, the file is not a notebook
        raise ValueError("it cannot be read as a notebook") from problem
    return clean(notebook)


def collect(folder: Path, names: Iterable[str]) -> tuple[dict[tuple[str, str], Path], list[str]]:
    """Return {(student, notebook): path} of what was returned, and a remark on each file that was left out.

    The student is the folder under `folder`, or what stands before the notebook's name in the name of a file.
    """
    found, remarks = {}, []
    for path in sorted(folder.rglob("*.ipynb")):
        place = path.relative_to(folder)
        name = next((name for name in names if name in path.stem), None)
        who = place.parts[0] if len(place.parts) > 1 else path.stem.partition(name or "?")[0]
        student = re.sub(r"[^\w.-]+", "_", who).strip("_.-")
        if ".ipynb_checkpoints" in place.parts:
            continue
        if not name or not student or student == SOLUTION or (student, name) in found:
            remarks.append(f"{place}: left out (no exercises of that name, no student's name, or a second copy)")
        else:
            found[student, name] = path
    return found, remarks


def grade(
    notebooks: Path, folder: Path, out: Path, *, seconds: float, gigabytes: float, say: Say, trust: bool = False
) -> None:
    """Grade the notebooks in `folder`; write grades.csv and feedback/ to `out`, and nbgrader's course to out/course."""
    logging.getLogger("traitlets").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", module="nbgrader|nbformat")  # words between libraries
    sources = {path.stem: path for path in sorted(notebooks.glob("*.ipynb")) if points(nbformat.read(path, 4))}
    returned, left_out = collect(folder, sources)
    if not returned:
        raise ValueError(f"no returned notebook in {folder}; expected STUDENT/NOTEBOOK.ipynb or STUDENT_NOTEBOOK.ipynb")
    for remark in [f"between you and what is run: {sandbox.wall(trust)}", *left_out]:
        say(remark)
    for earlier in ("feedback", "course/feedback", "course/warm"):  # the gradebook stays, with what a person marked
        shutil.rmtree(out / earlier, ignore_errors=True)
    course, full, results = Course((out / "course").resolve()), {}, {}
    sandbox.warm_home(course.root / "warm", trust)
    alike = {"seconds": seconds, "gigabytes": gigabytes, "warm": course.root / "warm", "trust": trust}
    for name in sorted({name for _, name in returned}):
        limits = alike | {"tables": tables(sources[name])}
        full[name] = grade_solution(course, sources[name], limits)
        students = {student: path for (student, its_name), path in returned.items() if its_name == name}
        for student, score, remark in grade_all(course, name, students, limits):
            results[student, name] = score, remark
            say(f"{student}: {name} {score:g} of {full[name]:g} {remark}".rstrip())
        course.write_feedback(name, out / "feedback", say)
    write_table(out / "grades.csv", results, full)


def grade_solution(course: Course, path: Path, limits: dict) -> float:
    """Return the full marks; refuse to go on if the solution does not score them here."""
    course.add_source(path)
    course.mark(SOLUTION, sandbox.execute(course.restored(SOLUTION, path, path.stem), **limits), path.stem)
    score, _ = course.score(SOLUTION, path.stem)
    by_machine = points(nbformat.read(path, 4), by_hand=False)
    if score < by_machine:
        raise ValueError(
            f"the solution of {path.stem} scores {score:g} of {by_machine:g} here, so nobody was graded; "
            f"look for the first error in {course.root}/autograded/{SOLUTION}/{path.stem}"
        )
    return points(nbformat.read(path, 4))


def grade_all(
    course: Course, name: str, students: Mapping[str, Path], limits: dict
) -> Iterator[tuple[str, float, str]]:
    """Yield (student, score, remark). As many run at a time as there are processors; one writes the gradebook."""
    running = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for student, path in students.items():
            try:
                running[student] = pool.submit(sandbox.execute, course.restored(student, path, name), **limits)
            except Exception as problem:  # whatever is wrong with a file must not end the run
                yield student, 0.0, f"{name} was not graded: {problem}"
        for student, run in running.items():
            yield student, *mark_one(course, student, name, run)


def mark_one(course: Course, student: str, name: str, run: Future) -> tuple[float, str]:
    """Return the score of a submission that was run, and a remark."""
    try:
        course.mark(student, run.result(), name)
    except Exception as problem:  # nor whatever it put into its outputs
        return 0.0, f"{name} was not graded: {problem}"
    score, waiting = course.score(student, name)
    return score, f"{name}: {waiting} to be looked at by hand" if waiting else ""


def write_table(path: Path, results: Mapping[tuple[str, str], tuple[float, str]], full: Mapping[str, float]) -> None:
    """Write one line a student, the full marks first; a notebook that was not returned is blank."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["student", *full, "total", "remarks"])
        table.writerow(["(full marks)", *full.values(), sum(full.values()), ""])
        for student in sorted({student for student, _ in results}):
            found = [results.get((student, name), ("", "")) for name in full]
            total = sum(score for score, _ in found if score != "")
            remarks = "; ".join(remark for _, remark in found if remark)
            table.writerow([student, *(score for score, _ in found), total, remarks])
