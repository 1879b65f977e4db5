"""What a notebook uses of its exercises: numbers of one's own, blanks, and a word on what is open, right and wrong.

from bmlab.exercises import variant            in a notebook with numbers of one's own
@widgets.blank                                 on a function of the story that a student writes
bmlab.exercises.watch("03_gibbs_sampling")     in the first cell of a student's copy
bmlab.exercises.progress("03_gibbs_sampling")  below it, and without a name below the map of the course

What a copy knows of its tests and blanks lies beside it in tables/NOTEBOOK.checks, which working_copies.checks() makes.
"""

import json
import re
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TypeVar

Numbers = TypeVar("Numbers")
TABLES, DONE = Path("tables"), Path(".done.json")  # in the folder of the copies; DONE: a list of the cells of tests
_notebook = ""  # the one that is watched
_instead: dict[str, Callable] = {}  # blanks that are written, and what stands in for each that proves wrong
LATER = "the form is right; the value is marked later."
_open_cells: dict[str, str] = {}  # answers that are still to be written, and the sentence of each


def variant(student: str, variants: Sequence[Numbers]) -> Numbers:
    """Return one of the variants: the same for the same student number, on every machine and in every year.

    student    the number or name as typed, a text; spaces around it do not count
    variants   what an exercise can ask with, each as hard as the others; neighbours in a class draw at random from it
    Raises TypeError where `student` is no text, as 0012 is no number in Python.
    """
    if not isinstance(student, str):
        raise TypeError(f'student is {student!r}; put your number between quotes: student = "{student}"')
    digest = sha256(f"{student.strip()} {list(variants)!r}".encode()).digest()
    return variants[int.from_bytes(digest) % len(variants)]


def blank(function: Callable) -> Callable:
    """Decorate a function that a student is to write: while it is open, its name means the package's version.

    A function is open while the line `raise NotImplementedError(...)` of a copy stands in it; then it is said so. Where
    a cell that names a written one fails by an assertion, the package's version takes its place in what follows.

    >>> from bmlab.widgets import blank
    >>> @blank
    ... def my_spins(bits):
    ...     raise NotImplementedError("write your answer here")
    my_spins is still open: write it above.
    """
    name, instead = function.__name__, _stand_in(function)
    _instead.pop(name, None)
    if "NotImplementedError" not in function.__code__.co_names:
        if instead:
            _instead[name] = instead
        return function
    print(
        f"{name} is still open: write it above." + bool(instead) * " Until then the package's version stands in for it."
    )
    return instead or function


def watch(notebook: str) -> None:
    """Say in one sentence that an exercise is open; below its test whether it is right, and if not, what is wrong.

    What is done is kept beside the copies, for progress(). Without IPython nothing is watched.
    """
    global _notebook
    from IPython import get_ipython

    _notebook = notebook
    if shell := get_ipython():
        shell.set_custom_exc((NotImplementedError, NameError), _say)
        shell.events.register("post_run_cell", _tell)


def progress(notebook: str = "") -> None:
    """Show what is done and open in a notebook, or in every one; in a page how many first guesses were right, too."""
    done, lines, words = _done(), [], []
    for name in [notebook] if notebook else sorted(file.stem for file in TABLES.glob("*.checks")):
        tests = _checks(name)["tests"]
        words.append(_reached(name, tests, done))
        if left := [one["title"] for cell, one in tests.items() if cell not in done] if notebook else ():
            words[-1] += f" Open: {', '.join(left)}."
        guesses = f'<span data-first-guesses="{name.partition("_")[0]}."></span>'
        lines.append(_line(words[-1], tests, done, guesses))
    script = (Path(__file__).parent / "widgets" / "first_guesses.js").read_text(encoding="utf-8")
    _display("".join(lines) + f"<script>{script}</script>", "\n".join(words))


def _say(shell, kind, error, trace, tb_offset=None):
    """Say it where an answer is missing, or a test asks for one that is; any other error is shown as ever."""
    source, sentence = shell.user_ns.get("In", [""])[-1], str(error)
    if kind is NameError:
        named = rf"\b{re.escape(error.name)}\b"
        sentence = next((said for answer, said in _open_cells.items() if re.search(named, answer)), "")
    elif sentence in source:
        _open_cells[source] = sentence
    if " is still open: " not in sentence:
        return shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    shell._showtraceback(kind, error, [sentence])  # still an error, or a grader would take the test for passed


def _tell(result):
    """Say below a test whether its answer is right, and below any other cell which blank has proven wrong."""
    from IPython import get_ipython

    shell, cell, tests = get_ipython(), getattr(result.info, "cell_id", None), _checks(_notebook)["tests"]
    if cell in tests:
        about, verdict = tests[cell], "\N{WHITE CIRCLE} open."
        if result.success and about["later"]:
            verdict = "noted; the letter is marked later." if about["letter"] else LATER
        elif result.success:
            wrong = _hint(about["hidden"], shell.user_ns)
            verdict = f"\N{BALLOT X} {wrong}" if wrong else f"\N{CHECK MARK} done. {about['why']}".strip()
        done = _done() - {cell} | ({str(cell)} if verdict.startswith("\N{CHECK MARK}") else set())
        with suppress(OSError):  # a folder that may only be read
            DONE.write_text(json.dumps(sorted(done)), encoding="utf-8")
        words = f"{about['title']} ({about['points']:g} point{'s' * (about['points'] != 1)}): {verdict} "
        words += _reached(_notebook, tests, done)
        _display(_line(words, tests, done), words)
    elif isinstance(result.error_in_exec, AssertionError):
        for name in [one for one in _instead if re.search(rf"\b{one}\b", result.info.raw_cell)]:
            shell.user_ns[name] = _instead.pop(name)
            words = f"{name} is not right yet: what follows uses the package's version."
            _display(f"<p>{words}</p>", words)


def _hint(hidden, names):
    """What the part of a test that the copy does not show says of an answer; nothing where it is right."""
    try:
        exec(compile(hidden, "test", "exec"), dict(names))
    except AssertionError as wrong:
        return f"{wrong}"
    except Exception as problem:
        return f"it fails where another case is tried: {type(problem).__name__}: {problem}"
    return ""


def _checks(notebook):
    """What a copy knows of its tests and blanks."""
    file = TABLES / f"{notebook}.checks"
    return json.loads(zlib.decompress(file.read_bytes())) if file.exists() else {"tests": {}, "blanks": {}}


def _stand_in(function):
    """The package's version of a blank, by a name of its own: a cell can say whose numbers it prints."""
    source, made = _checks(_notebook)["blanks"].get(function.__name__), {}
    if source is None:
        return None
    exec(compile(source, "package", "exec"), function.__globals__, made)
    made[function.__name__].__name__ = f"instead_of_{function.__name__}"
    return made[function.__name__]


def _done():
    return set(json.loads(DONE.read_text(encoding="utf-8")) if DONE.exists() else [])


def _display(page, text):
    from IPython.display import display

    display({"text/html": page, "text/plain": text}, raw=True)


def _points(tests, done):
    return sum(one["points"] for cell, one in tests.items() if cell in done), sum(o["points"] for o in tests.values())


def _reached(notebook, tests, done):
    reached, full = _points(tests, done)
    return f"{notebook}: {reached:g} of {full:g} points."


def _line(words, tests, done, more=""):
    reached, full = _points(tests, done)
    return f'<p><progress aria-hidden="true" value="{reached:g}" max="{full:g}"></progress> {escape(words)}{more}</p>'
