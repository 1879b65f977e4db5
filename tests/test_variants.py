"""Numbers of one's own: each variant is as hard as the others, for it has the same slips with the same hints."""

import ast
import math
import pickle
from collections import Counter
from contextlib import suppress
from itertools import permutations

import nbformat
import numpy as np
import pytest
from selection import as_a_student, exhaustive, one_of
from test_exercises import BY_NAME, GRADED, OWN, answer_cells, fits, namespace  # noqa: F401
from test_notebooks import NOTEBOOKS, code_cells
from wrong_answers import WRONG

from bmlab.exercises.answers import kind_of_slip
from bmlab.exercises.edits import edited
from bmlab.widgets import variant
from bmlab_teaching.slicing import names
from bmlab_teaching.working_copies import MARKS, record

pytestmark = as_a_student
LETTERS = {"cheat"}
STUDENTS = [str(number) for number in range(200)]


def draws(notebook):
    """The cell in which a student number draws, for each answer that speaks of its names, or whose test does."""
    drawn = [cell for cell in code_cells(notebook) if "variant(student" in cell.source]
    for name, cells in answer_cells(notebook).items():
        used = frozenset().union(*(names(cell.source).needed for cell in cells))
        yield from ((name, cell) for cell in drawn if names(cell.source).made & used)


VARIED = {name: found for name, path in BY_NAME.items() if (found := dict(draws(nbformat.read(path, 4))))}


def each_variant(source, made):
    """The values of the cell's names for each variant: drawn with one student number after another."""
    (call,) = [node for node in ast.walk(ast.parse(source)) if ast.unparse(node).startswith("variant(student, ")]
    every = eval(ast.unparse(call.args[1]), dict(made))
    of = {repr(variant(student, every)): student for student in STUDENTS}
    assert len(of) == len(every) >= 6, "a variant that nobody draws, or that stands there twice"
    for student in of.values():
        here = made | {"student": student}
        exec(source.replace('student = "0"', f'student = "{student}"'), here)
        assert here["student"] == student
        yield here


@pytest.mark.parametrize("name", one_of(VARIED, kind=lambda name: name < "06"))
@pytest.mark.parametrize("count", [2, pytest.param(None, marks=exhaustive)], ids=["two", "all"])
def test_every_variant_has_the_same_slips_with_the_same_hints_and_an_answer_of_its_own(
    name, count, monkeypatch, capsys
):
    monkeypatch.chdir(NOTEBOOKS)
    notebook = nbformat.read(BY_NAME[name], 4)
    made = namespace(name)
    for exercise_name, cell in VARIED[name].items():
        answer, test = answer_cells(notebook)[exercise_name]
        variants, copied = list(each_variant(cell.source, made))[:count], []
        for here in variants:
            right = dict(here)
            exec(answer.source, right)
            exec(test.source, right)
            copied.append({key: right[key] for key in names(answer.source).made})
            for source, hint in WRONG[name][exercise_name]:
                wrong = dict(here)
                exec(source, wrong)
                with pytest.raises((AssertionError, TypeError)) as refused:
                    exec(test.source, wrong)
                words = str(refused.value)
                if refused.type is TypeError:  # then the copy looks at the kinds of the answers
                    words = kind_of_slip(test.source, sorted(names(answer.source).made), wrong, answer.source)
                assert hint in words, (here["student"], source, words)
        for (here, mine), (_, answers) in permutations(zip(variants, copied, strict=True), 2):  # a neighbour's
            if exercise_name in LETTERS and mine[exercise_name] == answers[exercise_name]:
                continue  # of three letters two neighbours may have the same
            with pytest.raises(AssertionError):
                exec(test.source, here | answers)


@exhaustive
@pytest.mark.parametrize("name", VARIED)
def test_what_is_wrong_in_one_variant_is_wrong_in_all(name, monkeypatch, capsys):
    """A slip in the course's own way that gives the right answer to some students and not to others is no variant."""
    monkeypatch.chdir(NOTEBOOKS)
    notebook, made, tried = nbformat.read(BY_NAME[name], 4), namespace(name), 0
    for exercise_name, cell in VARIED[name].items():
        answer, test = answer_cells(notebook)[exercise_name]
        variants = list(each_variant(cell.source, made))
        for slip, source in edited(MARKS.sub("", answer.source)):
            if "> 0.6" in source:  # a rule of thumb of 0.6 says of most machines what one of 0.3 says
                continue
            ticked = [here["student"] for here in variants if passes(source, test.source, dict(here))]
            assert len(ticked) in (0, len(variants)), (exercise_name, slip, source, ticked)
            tried += 1
    print(f"{name}: {tried} slips")


def passes(answer, test, here):
    """Whether an answer passes a test."""
    with suppress(Exception), np.errstate(all="ignore"):
        exec(answer, here)
        exec(test, here)
        return True
    return False


@pytest.mark.parametrize("name", GRADED)
def test_numbers_vary_and_a_function_is_asked_about_what_its_student_has_not_seen(name, monkeypatch, capsys):
    """An answer that knows by heart the arguments of the visible tests, and no more, fails in the hidden ones."""
    monkeypatch.chdir(NOTEBOOKS)
    notebook = nbformat.read(BY_NAME[name], 4)
    made = namespace(name)
    for exercise_name, (answer, test) in answer_cells(notebook).items():
        right = dict(made)
        exec(answer.source, right)
        needed = names(answer.source).made & names(test.source).needed
        functions = {key for key in needed if callable(right[key])}
        choice = any(words in test.source for words in ('in ("A", "B", "C")', "== sorted(models)", "in questions, "))
        assert needed == functions or choice or exercise_name in {*VARIED.get(name, ()), *OWN}, exercise_name
        for key in functions:
            visible, _, hidden = test.source.partition("### BEGIN HIDDEN TESTS")
            seen = set()
            exec(visible, right | {key: remembered(right[key], seen, seen.add)})
            here = right | {key: remembered(right[key], seen, refuse)}
            exec(visible, here)
            with pytest.raises(LookupError, match="not seen"):
                exec(hidden, here)


def remembered(function, seen, otherwise):
    """The function, which first calls `otherwise` if its arguments are not among those seen."""

    def asked(*given):
        key = pickle.dumps(given)
        if key not in seen:
            otherwise(key)
        return function(*given)

    return asked


def refuse(key):
    raise LookupError("not seen")


@pytest.mark.parametrize("name", VARIED)
def test_the_number_is_typed_above_the_question_and_nowhere_else(name):
    notebook = nbformat.read(BY_NAME[name], 4)
    (first,) = [cell for cell in code_cells(notebook) if 'student = "0"' in cell.source]
    assert not record(first), "nbgrader would empty it"
    places = [notebook.cells.index(cell) for cell in VARIED[name].values()]
    assert places[0] == notebook.cells.index(first)


def test_a_number_draws_the_same_for_ever_and_all_variants_alike():
    everyone = [variant(student, range(8)) for student in map(str, range(4000))]
    assert everyone == [variant(f" {student} ", range(8)) for student in map(str, range(4000))]
    square = sum((count - 500) ** 2 / 500 for count in Counter(everyone).values())
    assert square < 7 + 5 * math.sqrt(14)  # chi square with seven degrees of freedom
    assert everyone[:3] != [variant(student, range(1, 9)) - 1 for student in "012"]  # each exercise draws anew


def test_a_number_without_quotes_is_asked_for_again():
    with pytest.raises(TypeError, match='student = "12"'):
        variant(12, [1, 2])
