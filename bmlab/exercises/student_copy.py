"""Exercises in a student's copy: numbers of one's own, blanks, and a word on each open, right or wrong answer.

from bmlab.widgets import variant                      in a notebook with numbers of one's own
@widgets.blank                                         on a function of the story that a student writes
bmlab.exercises.watch("03_gibbs_sampling")             in the first cell of a student's copy
bmlab.exercises.progress()                             on the page of all notebooks

What a copy knows of its tests and blanks lies beside it in tables/NOTEBOOK.checks, which bmlab_teaching makes.
"""

import json
import re
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import lru_cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from ..checking.calls import show_call
from ..running.files import write_bytes
from .answers import ENDLESS, NAN, OWN_ASSERT, READ_ONLY, WRITES, Unanswered, as_asked, kind_of_slip, kind_of_value
from .errors import in_plain_words
from .hints import FEW_DIGITS, named_in_test, source_of
from .judging import CASES, Untried, judge
from .unmade import say

Numbers = TypeVar("Numbers")
CHECKS_FOLDER = "tables"  # in the folder of the copies
DONE_FILE = ".done.json"  # beside it: a list of the cells of tests
STILL_OPEN = "{} is still open: write it above."
RIGHT = f"\N{CHECK MARK} {{}} agrees with the package's in {CASES} random cases."
ROUNDED = " The story goes on with the package's version, to all digits."
NOT_ASKED = "{} is not asked for here, so nothing tries it: is it meant to be {}?"
TAKEN_BACK = "\N{WHITE CIRCLE} {}: open again, since its answer fails now."
HALF = "\N{BALLOT X} {} is missing: the cell above makes {} and no more."
UNTRIED = "{} was not tried ({}): run the cells above first."
WRONG = "\N{BALLOT X} {} The story goes on with the package's version."
THEIRS = re.compile(r"\b(not|yours is|here) [-+]?\d")  # a test that shows the student's number
LATER = "no fault is found here; the answer is marked later."
UNCHECKED = (
    "tables/{}.checks is missing or damaged (unpack its zip again): a test still says what is wrong, "
    "but where it is silent nothing was proved."
)
BEGUN_ANEW = "{} is damaged, so what is done is counted anew: run the tests again that you have passed."
WAYS_HTML = "<details><summary>{}</summary><pre>{}</pre></details>"
YOUR_TRY = (
    "# Exercise {}: write your try below, code or words behind #, and run it. After two its solution can be opened."
)
ONE_MORE = "One more try, and the solution of exercise {} can be opened."
WORKED = "<details><summary>The solution of exercise {}</summary>\n\n{}\n\n</details>"
NO_CHECKS: dict[str, Any] = {
    "about": {"title": "", "minutes": "", "picture": ""},
    "tests": {},
    "blanks": {},
    "worked": {},
}
GRID_HTML = '<div style="display: grid; grid-template-columns: repeat(auto-fill, minmax(13em, 1fr)); gap: 1em">{}</div>'
CARD_HTML = (
    '<a href="{name}.ipynb" style="border: 1px solid; border-radius: 6px; padding: 0.6em; color: inherit">'
    '<img alt="" src="data:image/png;base64,{picture}" style="width: 100%; height: 9em; object-fit: contain; '
    'background: white"><br><b>{number} {title}</b><br>{minutes}<br>{line}</a>'
)
BLANK = "@widgets.blank"
CORE_NOTEBOOKS = {"00", "01", "02", "03", "04", "05", "05b"}
_notebook = ""  # the one that is watched
_running = ""  # the cell that runs
_tries: dict[str, set[str]] = {}  # exercise without points -> sources that were tried
_as_typed: dict[str, Any] = {}  # answers as they were typed, while a test takes them as_asked()
_open_cells: dict[str, str] = {}  # answers that are still to be written, and the sentence of each


@show_call()
def variant(student: str, variants: Sequence[Numbers]) -> Numbers:
    """Return one of the variants: the same for the same student number, on every machine and in every year.

    student    the number or name as typed, a text; spaces around it do not count
    variants   what an exercise can ask with, each as hard as the others; neighbours in a class draw at random from it
    Raises TypeError if `student` is no text, as 0012 is no number in Python.

    >>> from bmlab.widgets import variant
    >>> variant("4711", [3, 4, 5]) == variant(" 4711 ", [3, 4, 5])
    True
    """
    if not isinstance(student, str):
        raise TypeError(f'student is {student!r}; put your number between quotes: student = "{student}"')
    digest = sha256(f"{student.strip()} {list(variants)!r}".encode()).digest()
    return variants[int.from_bytes(digest) % len(variants)]


@show_call()
def blank(function: Callable) -> Callable:
    """Decorate a function that a student is to write: its name means the package's version, until it is right.

    In a student's copy it is tried at once beside the package's version, on random cases (bmlab.exercises.judging), and
    what is found is said in a line. A wrong or open one makes nothing wrong in what follows.

    >>> from bmlab.widgets import blank
    >>> @blank
    ... def my_spins(bits):
    ...     raise NotImplementedError("write your answer here")
    my_spins is still open: write it above.
    """
    name, known = function.__name__, _checks(_notebook)["blanks"].get(function.__name__)
    if known:
        return judged(function, *known)
    if words := _misspelt(name):
        print(words)
    if "NotImplementedError" not in function.__code__.co_names:
        return function
    words = STILL_OPEN.format(name)
    print(words)

    def missing(*_, **__):
        raise NotImplementedError(words)

    return missing


def judged(function, source, cases, slips=None):
    """Return a student's function if it is right to all digits, else the package's, and print a line on it.

    The grader asks it too: a blank of the story means the same in a copy and in a class.
    """
    made: dict = {}
    exec(compile(source, "package", "exec"), function.__globals__, made)
    name, (ours,) = function.__name__, made.values()
    names, before = function.__globals__, function.__globals__.get(name)
    names[name] = function  # a function that calls itself calls itself, not the package's
    try:
        verdict = judge(function, ours, cases, source=source, typed=source_of(function), slips=slips)
    except Unanswered:
        print(f"{STILL_OPEN.format(name)} Until then the package's version stands in for it.")
    except Untried as problem:
        print(UNTRIED.format(name, problem))
    else:
        print(
            WRONG.format(_ended(verdict.wrong)) if verdict.wrong else RIGHT.format(name) + ROUNDED * (not verdict.whole)
        )
        if verdict.whole and not verdict.wrong:
            return function
    finally:
        names[name] = before
    ours.__name__ = f"instead_of_{name}"  # a cell can say whose numbers it prints
    return ours


def _misspelt(name):
    """A sentence on a function that is no blank of this notebook, if its blanks are known."""
    asked = _checks(_notebook)["blanks"]
    meant = get_close_matches(name, asked, 1, 0)
    return NOT_ASKED.format(name, *meant) if meant else ""


def _ended(words):
    return words if words.endswith(("?", ".")) else f"{words}."


def watch(notebook: str) -> None:
    """Show the done and the open exercises; from now on say below each test whether its answer is right, or its fault.

    The record of done exercises is kept beside the copies. Without IPython nothing is watched.
    """
    global _notebook
    from IPython import get_ipython

    _notebook = notebook
    _open_cells.clear()  # of a notebook that this kernel ran before
    if shell := get_ipython():
        shell.set_custom_exc((NotImplementedError, NameError, AssertionError, RecursionError), on_error)
        shell.events.register("pre_run_cell", before_cell)
        shell.events.register("post_run_cell", after_cell)
        for source, *_ in _checks(notebook)["blanks"].values():  # there, if a cell is no Python or is left out
            with suppress(NameError):  # a default that the story makes
                exec(compile(source, "package", "exec"), shell.user_ns)
        if not is_watched(notebook):
            print(UNCHECKED.format(notebook))
        elif words := _reached(notebook)[1]:  # in a class all is marked later
            _display(f"<p>{_bar(notebook)}</p>{_script()}", words)


def is_watched(notebook: str, folder: Path = Path()) -> bool:
    """Whether the file of a copy's tests lies beside it, undamaged."""
    return _checks(notebook, folder) is not NO_CHECKS


def progress() -> None:
    """Show all notebooks, each with its first picture, and its done and open exercises."""
    _display(page(), "\n".join(f"{name}: {_reached(name)[1]}" for name in _names()))


def page(folder: Path = Path()) -> str:
    """All notebooks of a folder as HTML: picture, question, points, open exercises, and right first guesses."""
    parts: dict[str, list[str]] = {"Core, in this order": [], "Further": []}
    for name in _names(folder):
        number, about = name.partition("_")[0], _checks(name, folder)["about"]
        card = CARD_HTML.format(name=name, number=number, line=_bar(name, folder), **about)
        parts["Core, in this order" if number in CORE_NOTEBOOKS else "Further"].append(card)
    return "".join(f"<h2>{part}</h2>{GRID_HTML.format(''.join(cards))}" for part, cards in parts.items()) + _script()


def on_error(shell, kind, error, trace, tb_offset=None):
    """Say that an answer is missing, also if a test asks for it, or the fault that a test finds, in its words.

    Any other error is shown as ever.
    """
    sentence, failed = _still_open(error), isinstance(error, AssertionError) and _tested(_running)[0]
    if isinstance(error, RecursionError) and _tested(_running)[0]:
        sentence = ENDLESS.format("a function")
    if not sentence and not failed:
        return say(shell, kind, error, trace, tb_offset)
    if sentence and sentence in _running:
        _open_cells[_running] = sentence
    show_sentence(shell, kind, error, trace, sentence or f"{error}")


def show_sentence(shell, kind, error, trace, sentence):
    """Show a sentence and no traceback; still as an error, or a grader would take the test for passed."""
    error._render_traceback_ = lambda: [sentence]  # by which IPython lets an error say how it is shown
    shell.showtraceback((kind, error, trace))


def _still_open(error):
    """The sentence on an open answer, if an error comes of one; else nothing."""
    if isinstance(error, NameError):
        named = rf"\b{re.escape(error.name or '')}\b"
        return next((said for answer, said in _open_cells.items() if re.search(named, answer)), "")
    return f"{error}" if " is still open: " in str(error) else ""


def _tested(source):
    """The name of the cell of a test, and its record; nothing for another cell."""
    tests = _checks(_notebook)["tests"]
    return next(((cell, one) for cell, one in tests.items() if one["seen"] == source.strip()), ("", {}))


def before_cell(info):
    """Before a test runs: one number in a list becomes that number."""
    global _running
    from IPython import get_ipython

    _running = info.raw_cell or ""
    names, (_, about) = get_ipython().user_ns, _tested(_running)
    _as_typed.clear()
    _as_typed.update({name: names[name] for name in about.get("asked", ()) if name in names})
    names.update({name: as_asked(name, typed) for name, typed in _as_typed.items()})


def after_cell(result):
    """Say below a test whether its answer is right, and leave the answer as it was typed."""
    from IPython import get_ipython

    shell, source, error = get_ipython(), result.info.raw_cell, result.error_in_exec
    tests, (cell, about) = _checks(_notebook)["tests"], _tested(source)
    if not cell and (error or result.error_before_exec):
        _take_back(source, shell.user_ns)
    if cell:
        verdict, right = _verdict(about, error, shell.user_ns)
        before = _done()
        if right != (cell in before):
            with suppress(OSError):  # a folder that may only be read
                _write_done(before ^ {cell})
        points = tests[cell]["points"]
        words = f"{tests[cell]['title']} ({points:g} point{'s' * (points != 1)}): {verdict}"
        ways = zip(("The course's own way", "Another way"), tests[cell]["ways"] if right else (), strict=False)
        folded = "".join(WAYS_HTML.format(title, escape(way)) for title, way in ways)
        shown = f"<p>{escape(words)}<br>{_bar(_notebook)}</p>{folded}"
        _display(shown, f"{words}\n{_reached(_notebook)[1]}", display_id=f"bmlab-{cell}")
    shell.user_ns.update(_as_typed)
    _as_typed.clear()
    for name, known in _checks(_notebook)["blanks"].items():
        if BLANK not in source and re.search(rf"^def {name}\(", source, re.MULTILINE) and not result.error_in_exec:
            shell.user_ns[name] = judged(shell.user_ns[name], *known)
    for number, worked in _checks(_notebook)["worked"].items():
        first, _, tried = source.strip().partition("\n")
        if first == YOUR_TRY.format(number) and tried.strip("# .\n"):
            _open_after_two(number, tried.strip(), worked)


def _take_back(source, names):
    """An answer that now fails counts as none: names of its older run are deleted, and its test is open."""
    for cell, about in _checks(_notebook)["tests"].items():
        binds = r"^(?:def {}\b|[^#=\n(]*\b{}\b[^=\n]*=(?!=))"
        made = [name for name in about["asked"] if re.search(binds.format(name, name), source, re.MULTILINE)]
        for name in made:
            names.pop(name, None)
        if made and cell in (before := _done()):
            with suppress(OSError):
                _write_done(before - {cell})
            words = TAKEN_BACK.format(about["title"])
            for again in (True, False):  # in the place of the older verdict, and here
                _display(f"<p>{escape(words)}</p>", words, display_id=f"bmlab-{cell}" * again or None, update=again)


def _open_after_two(number, tried, worked):
    """Show the folded solution of an exercise without points, once it was tried in two ways."""
    _tries.setdefault(number, set()).add(tried)
    words = WORKED.format(number, worked) if len(_tries[number]) > 1 else ONE_MORE.format(number)
    _display(words, words, "text/markdown")


def _verdict(about, error, names):
    """The words on an answer, and whether it is right: first by its visible test, then by the hidden one."""
    there = {name: name in names for name in about["asked"]}
    if error and any(there.values()) and not all(there.values()):
        missing, made = (" and ".join(name for name in there if there[name] == known) for known in (False, True))
        return HALF.format(missing, made), False
    if _still_open(error):
        return "\N{WHITE CIRCLE} open.", False
    if not error and about["later"]:
        return ("noted; the letter is marked later." if about["letter"] else LATER), False
    source, where = about["seen"], ""
    if not error:
        source, where = about["hidden"], " where another case is tried"
        try:
            exec(compile(source, "test", "exec"), dict(names))
        except Exception as problem:
            error = problem
    if not error and not (slip := _kinds(about, names)):
        return f"\N{CHECK MARK} done. {about['why']}".strip(), True
    if error:
        failed = isinstance(error, AssertionError)
        said = f"{error}" if failed else f"it fails{where}: {in_plain_words(error)}"
        asked, solution = " and ".join(about["asked"]), "".join(about["ways"][:1])
        said = WRITES.format(asked) if READ_ONLY in str(error) else said or OWN_ASSERT.format(asked)
        if isinstance(error, RecursionError):
            return f"\N{BALLOT X} {ENDLESS.format(asked)}", False
        slip, is_own = "", len(about["ways"]) < 2  # a student's own is not to be compared with the course's
        with suppress(Exception):  # only a help: the test has spoken
            slip = kind_of_slip(source, about["asked"], names, solution, failed, is_own)
        more = _named(about, names, solution) if failed and not slip and not is_own else ""
        if more.endswith(" is right") and THEIRS.search(said):
            more = ""
        digits, nan = ([words.format(name) for name in about["asked"]] for words in (FEW_DIGITS, NAN))
        said = f"{more}, and so fails its test ({said})" if more in nan else said + f" ({more})" * bool(more)
        slip = slip or (more if more in digits else said)
    return f"\N{BALLOT X} {slip}", False


def _named(about, names, solution):
    """The slip in a function, in all that its test asks; "" if it has no name, or the solution is not known."""
    functions = [name for name in about["asked"] if callable(names[name])]
    return named_in_test(f"{about['seen']}\n{about['hidden']}", functions, names, solution) if solution else ""


def _kinds(about, names):
    """The fault in the kind of a value that has passed its test: no exercise asks for a complex number."""
    values = {name: names[name] for name in about["asked"] if not callable(names[name])}
    return next(filter(None, (kind_of_value(*one) for one in values.items())), "")


def _names(folder=Path()):
    return sorted(file.stem for file in Path(folder, CHECKS_FOLDER).glob("*.checks"))


def _checks(notebook, folder=Path()):
    """The tests and blanks of a copy: NO_CHECKS if its file is missing or damaged."""
    try:
        known = _unpacked(Path(folder, CHECKS_FOLDER, f"{notebook}.checks").read_bytes())
    except (OSError, ValueError, zlib.error):
        return NO_CHECKS
    return known if isinstance(known, dict) and known.keys() >= NO_CHECKS.keys() else NO_CHECKS


@lru_cache(1)
def _unpacked(data):
    return json.loads(zlib.decompress(data))


def _done(folder=Path()):
    """The cells of tests that were passed; a damaged file is said, and begun anew."""
    file = Path(folder, DONE_FILE)
    try:
        done = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(done, list) and all(isinstance(cell, str) for cell in done):
            return set(done)
    except FileNotFoundError:
        return set()
    except (OSError, ValueError):
        pass
    print(BEGUN_ANEW.format(file))
    with suppress(OSError):
        _write_done(set(), folder)
    return set()


def _write_done(done, folder=Path()):
    write_bytes(Path(folder, DONE_FILE), json.dumps(sorted(done)).encode())


def _display(shown, text, kind="text/html", **which):
    from IPython.display import display

    display({kind: shown, "text/plain": text}, raw=True, **which)


def _reached(notebook, folder=Path()):
    """The share of the points reached, and words with the open exercises; without those marked later."""
    tests, done = _checks(notebook, folder)["tests"], _done(folder)
    here = {cell: one["points"] for cell, one in tests.items() if not one["later"]}
    full, points = sum(here.values()), sum(here[cell] for cell in here if cell in done)
    left = [tests[cell]["title"].split()[1].rstrip(".") for cell in here if cell not in done]
    words = f"{points:g} of {full:g} points." + f" Open: exercise{'s' * (len(left) > 1)} {', '.join(left)}." * bool(
        left
    )
    return points / (full or 1), words * bool(full)


def _bar(notebook, folder=Path()):
    share, words = _reached(notebook, folder)
    guesses = f'<span data-first-guesses="{notebook.partition("_")[0]}."></span>'
    points, dot, left = words.partition(". ")
    whole = f'<span style="white-space: nowrap">{points}{dot.strip()}</span> {left}'  # else a line ends within it
    return f'<progress aria-hidden="true" value="{share:g}"></progress> {whole.strip()}{guesses}' if words else ""


def _script():
    return f"<script>{Path(__file__).with_name('first_guesses.js').read_text('utf-8')}</script>"
