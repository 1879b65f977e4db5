"""In a handout, say which exercises are open and which are done: import bmlab.teaching.open_exercises

An exercise that is open says so in one sentence, that of its stub. In a working copy there stands below the test of an
exercise what it is worth and whether it is done; what is done is kept beside the copies, for progress().
"""

import json
import re
from contextlib import suppress
from html import escape
from pathlib import Path

from IPython import get_ipython
from IPython.display import display

KNOWN, DONE = Path(".exercises.json"), Path(".done.json")  # in the folder of the copies
# KNOWN: notebook -> {cell of the test: [title, points]}; DONE: a list of such cells
_open_cells: dict[str, str] = {}  # answers that are still to be written, and the sentence of each


def _read(path, otherwise):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else otherwise


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
            display({"text/html": _line(words, reached, full), "text/plain": words}, raw=True)


def _points(tests, done):
    return sum(points for cell, (_, points) in tests.items() if cell in done), sum(
        points for _, points in tests.values()
    )


def _line(words, reached, full, more=""):
    return f'<p><progress aria-hidden="true" value="{reached:g}" max="{full:g}"></progress> {escape(words)}{more}</p>'


def progress() -> None:
    """Show how many points of each notebook are done, and in a page how many first guesses of its were right."""
    done, lines, words = set(_read(DONE, [])), [], []
    for notebook, tests in _read(KNOWN, {}).items():
        reached, full = _points(tests, done)
        words.append(f"{notebook}: {reached:g} of {full:g} points")
        lines.append(
            _line(words[-1], reached, full, f'<span data-first-guesses="{notebook.partition("_")[0]}."></span>')
        )
    script = Path(__file__).with_name("first_guesses.js").read_text(encoding="utf-8")
    display({"text/html": "".join(lines) + f"<script>{script}</script>", "text/plain": "\n".join(words)}, raw=True)


if shell := get_ipython():
    shell.set_custom_exc((NotImplementedError, NameError), _say)
    shell.events.register("post_run_cell", _tell)
