"""Self-tests before anybody is graded: the solution of a notebook has full marks here, and null answers have none.

If the solution does not score, something is missing on this machine, and everybody would score 0 in silence. If a test
lets a null answer through, it would give points for nothing.
"""

import random
from collections.abc import Mapping
from pathlib import Path

from .children import Work, in_children
from .course import Handout
from .judging import Judge, failed, judge
from .matching import Plan, plan
from .reading import Cell
from .sandbox import Limits

BEFORE = """
import bmlab, numpy
def null_like(right, make):
    return type(right)(null_like(one, make) for one in right) if type(right) in (list, tuple) else make(right)
def null_empty(right):
    return numpy.zeros((0, *numpy.shape(right)))
def null_other(right, value):  # no null where it is right
    return None if numpy.array_equal(right, value) else value
def null_drawn(right, value):  # a number in each place; none by chance where it is nearly right
    def one(right):
        try:
            right = numpy.asarray(right, float)
        except (TypeError, ValueError):  # a text, or a machine
            return value
        near = numpy.any(abs(right - value) < 0.1 * abs(right) + 0.05)
        return None if near else numpy.full(numpy.shape(right), value)
    return null_like(right, one)
def null_ends(right, size):  # of an interval: as far apart as that; none by chance where it is nearly right
    ends = (-size, size) if type(right) is tuple and len(right) == 2 else size
    return None if null_near(ends, right) else ends
def null_kind(one):
    kinds = [kind for kind in (bmlab.BoltzmannMachine, str) if isinstance(one, kind)]
    return kinds or numpy.shape(one)
def null_own(right, place):  # a machine of the package, and what stands in the notebook, of the kind of the right one
    found = [one for one in [bmlab.toy(), *null_notebook.values()] if null_kind(one) == null_kind(right)]
    found = [one for one in found if not null_near(one, right)]
    return found[place % len(found)] if found else None
def null_near(one, right):
    try:
        return one is right or bool(numpy.allclose(one, right, 0.01, 0.01))
    except Exception:  # of texts and machines
        return False
def null_key(given, named):
    parts = lambda one: (one.dense_weights.tolist(), one.biases.tolist(), one.temperature)
    return repr([parts(one) if isinstance(one, bmlab.BoltzmannMachine) else one for one in (*given, *named.values())])
def null_learnt(name):  # what is right is noted, for each call of the test that a copy shows
    def asked(*given, **named):
        return null_seen.setdefault((name, null_key(given, named)), null_rights[name](*given, **named))
    return asked
def null_heart(name):
    def asked(*given, **named):
        key = name, null_key(given, named)
        zeros = lambda: null_like(null_rights[name](*given, **named), lambda one: numpy.zeros(numpy.shape(one)))
        return null_seen[key] if key in null_seen else zeros()
    return asked
null_seen = {}
def null_said(*given, **named):
    print("2 of 2 points. Solved.")
def null_raised(error):
    raise error
def null_endless():
    import signal
    signal.setitimer(signal.ITIMER_PROF, 0.2)  # the clock that a cell has, wound shorter
    while True:
        pass
"""
NUMBERS = ("float('nan')", "float('inf')", "0", "1", "-1", ".5", "3**-.5")
DECADES = [*range(-6, 7), -12, 12, 60, 300]  # a constant is drawn in each, and an interval of every third width
VALUES = {  # values in place of a right one, `right`
    "None": "None",
    "an empty array": "null_empty(right)",
    "an empty row": "numpy.zeros(0)",
    "an empty table": "numpy.zeros((0, 1))",
    "an empty table of tables": "numpy.zeros((0, 1, 1))",
    "empty arrays": "null_like(right, null_empty)",
    "an empty list": "[]",
    "an empty text": "''",
} | {
    name.format(number): text.format(number)
    for number in NUMBERS
    for name, text in {
        "{}": "{}",
        "{} in each place": "null_like(right, lambda one: numpy.full(numpy.shape(one), {}))",
    }.items()
}
ERRORS = ("AssertionError", "TimeoutError", "NotImplementedError", "StopIteration", "KeyError", "SystemExit")
VALUES |= {f"what stands in the notebook, number {k}": f"null_own(right, {k})" for k in range(3)}
BODIES = {  # bodies in place of a function's own
    "its argument": "given[0] if given else None",
    "what prints": "null_said()",
    "what never ends": "null_endless()",
} | {f"{error}{words}": f"null_raised({error}{words})" for error in ERRORS for words in ("()", "('2 of 2 points')")}
VALUE = "right = null_rights[{0!r}]\n{0} = null_other(right, {1})"
KNOWN = """
null_notebook = {{name: one for name, one in globals().items() if not name.startswith(("null_", "_"))}}
null_rights = {{name: null_notebook.pop(name) for name in {0}}}
null_kinds = str, int, float, numpy.ndarray, bmlab.BoltzmannMachine
null_notebook = {{name: one for name, one in null_notebook.items() if isinstance(one, null_kinds)}}
"""
FUNCTION = "def {0}(*given, **named):\n    {2}return {1}"


def drawn(seed: str) -> dict[str, str]:
    """Return {description: expression} of constants and intervals of all sizes, others for each seed."""
    rng = random.Random(seed)
    sizes = [min(10 ** (decade + rng.random()), 1e300) for decade in DECADES]
    numbers = [rng.choice((1, -1)) * size for size in sizes]
    found = {f"{number:.3g} in each place": f"null_drawn(right, {number!r})" for number in numbers}
    return found | {f"ends at {size:.3g} on both sides": f"null_ends(right, {size!r})" for size in sizes[::3]}


def nulls(needed: list[str], functions: set[str], seed: str) -> dict[str, str]:
    """Return {description: code} of the null answers that make the names of a test."""
    found = {}
    for name, text in (VALUES | drawn(seed) | (BODIES if functions else {})).items():
        right = "right = null_rights[{0!r}](*given, **named)\n    " if "right" in text else ""
        parts = [FUNCTION.format(one, text, right.format(one)) if one in functions else VALUE.format(one, text)
                 for one in needed]  # fmt: skip
        found[name] = "\n".join(parts)
    if functions == {*needed}:
        found["what the visible test asks, by heart"] = "\n".join(f"{one} = null_heart({one!r})" for one in needed)
    return found


def passed_by_nulls(handout: Handout, limits: Limits) -> list[str]:
    """Return each check that a null answer passes, in words: each alone, in a notebook that is solved otherwise."""
    both = Judge(handout, "", limits)
    found = []
    try:
        both.run(BEFORE)
        for kind, source, name in solved(handout).steps:
            if kind == "run":
                both.run(source)
                continue
            about = handout.tests[name]
            both.run(KNOWN.format(about.needed))
            functions = {one for one, value in both.request(get=[about.needed]).items() if value.get("function")}
            for one in functions:
                both.run(f"{one} = null_learnt({one!r})")
            both.test(name, about.shown)
            for null, text in nulls(about.needed, functions, handout.digest + name).items():
                both.run(text)
                verdicts = zip(about.checks, both.test(name), strict=True)
                passed = [check.name or name for check, one in verdicts if one["passed"]]
                found += [f"{', '.join(about.needed)} = {null} passes {', '.join(passed)!r}"] * bool(passed)
            both.run("globals().update(null_rights)")
    finally:
        both.close()
    return found


def solved(handout: Handout) -> Plan:
    """Return the solution of a notebook, as a submission."""
    return plan(handout, [Cell(*cell) for cell in handout.solution])


def prove(names: set[str], handouts: Mapping[str, Handout], place: Path, version: str, limits: Limits) -> None:
    """Prove notebooks, each once; ValueError if a solution has not its full marks here, or a null answer has any."""
    place.mkdir(parents=True, exist_ok=True)
    todo = {name: place / f"{name}.txt" for name in sorted(names)}
    todo = {name: file for name, file in todo.items() if not file.exists() or file.read_text() != version}
    works = [Work((name, True), judge, (handouts[name], solved(handouts[name]), limits)) for name in todo]
    works += [Work((name, False), passed_by_nulls, (handouts[name], limits)) for name in todo]
    room = {"cpu": limits.seconds, "gigabytes": limits.gigabytes, "wall": limits.wall + 60}
    for (name, is_solution), found, problem in in_children(works, **room):
        if not is_solution and (problem or found):
            raise ValueError(f"a test of {name} proves nothing, so nobody was graded: {problem or found[0]}")
        by_test = found["verdicts"] if is_solution and found else {}
        verdicts = [
            one for test in handouts[name].tests for one in by_test.get(test, [failed("RuntimeError", "not run")])
        ]
        wrong = [one["words"] for one in verdicts if not one["passed"]]
        if is_solution and (problem or wrong):
            first = problem or next(iter([*filter(None, found["errors"].values()), *wrong]))
            raise ValueError(f"the solution of {name} does not score full marks here, so nobody was graded: {first}")
    for file in todo.values():
        file.write_text(version)
