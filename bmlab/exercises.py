"""What a notebook uses of its exercises: numbers of one's own, and a word on which exercises are open and done.

from bmlab.exercises import variant     in a notebook with numbers of one's own
bmlab.exercises.watch()                 in the first cell of a student's copy
bmlab.exercises.progress()              below the map of the course
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TypeVar

Numbers = TypeVar("Numbers")
KNOWN, DONE = Path(".exercises.json"), Path(".done.json")  # in the folder of the copies
# KNOWN: notebook -> {cell of the test: [title, points]}; DONE: a list of such cells
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


def watch() -> None:
    """Say in one sentence that an exercise is open, and below the test of an exercise what it is worth and its state.

    What is done is kept beside the copies, for progress(). Without IPython nothing is watched.
    """
    from IPython import get_ipython

    if shell := get_ipython():
        shell.set_custom_exc((NotImplementedError, NameError), _say)
        shell.events.register("post_run_cell", _tell)


def progress() -> None:
    """Show how many points of each notebook are done, and in a page how many first guesses of its were right."""
    done, lines, words = set(_read(DONE, [])), [], []
    for notebook, tests in _read(KNOWN, {}).items():
        reached, full = _points(tests, done)
        words.append(f"{notebook}: {reached:g} of {full:g} points")
        guesses = f'<span data-first-guesses="{notebook.partition("_")[0]}."></span>'
        lines.append(_line(words[-1], reached, full, guesses))
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
    """Say below a test whether its exercise is done, and how far the notebook is."""
    cell = getattr(result.info, "cell_id", None)
    for notebook, tests in _read(KNOWN, {}).items():
        if cell in tests:
            done = set(_read(DONE, [])) - {cell} | ({str(cell)} if result.success else set())
            with suppress(OSError):  # a folder that may only be read
                DONE.write_text(json.dumps(sorted(done)), encoding="utf-8")
            title, points = tests[cell]
            reached, full = _points(tests, done)
            state = "\N{CHECK MARK} done" if cell in done else "\N{WHITE CIRCLE} open"
            words = f"{title} ({points:g} point{'s' * (points != 1)}): {state}. "
            words += f"{notebook}: {reached:g} of {full:g} points."
            _display(_line(words, reached, full), words)


def _display(page, text):
    from IPython.display import display

    display({"text/html": page, "text/plain": text}, raw=True)


def _read(path, otherwise):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else otherwise


def _points(tests, done):
    every = [(cell in done, points) for cell, (_, points) in tests.items()]
    return sum(points for solved, points in every if solved), sum(points for _, points in every)


def _line(words, reached, full, more=""):
    return f'<p><progress aria-hidden="true" value="{reached:g}" max="{full:g}"></progress> {escape(words)}{more}</p>'
