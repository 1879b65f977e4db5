"""Numbers of one's own: each variant is as hard as the others, for it has the same slips with the same hints."""

import ast
import math
from collections import Counter

import nbformat
import pytest

pytest.importorskip("nbgrader")
from test_teaching import FILES, NOTEBOOKS, answer_cells, code, exercise, namespace
from wrong_answers import WRONG

from bmlab.teaching.variants import variant

STUDENTS = [str(number) for number in range(200)]


def draws(notebook):
    """The cells where a student number draws, each with the name of the answer below it."""
    answers, waiting = {cell.id: name for name, (cell, _) in answer_cells(notebook).items()}, None
    for cell in code(notebook):
        if "variant(student" in cell.source:
            waiting = cell
        elif cell.id in answers and waiting:
            yield answers[cell.id], waiting
            waiting = None


VARIED = {name: found for name, path in FILES.items() if (found := dict(draws(nbformat.read(path, 4))))}


def each_variant(source, made):
    """What the names of the cell mean for each variant: drawn with one student number after another."""
    (call,) = [node for node in ast.walk(ast.parse(source)) if ast.unparse(node).startswith("variant(student, ")]
    every = eval(ast.unparse(call.args[1]), dict(made))
    of = {repr(variant(student, every)): student for student in STUDENTS}
    assert len(of) == len(every) >= 6, "a variant that nobody draws, or that stands there twice"
    for student in of.values():
        here = dict(made)
        exec(source.replace('student = "0"', f'student = "{student}"'), here)
        assert here["student"] == student
        yield here


@pytest.mark.parametrize("name", VARIED)
def test_every_variant_has_the_same_slips_with_the_same_hints(name, monkeypatch, capsys):
    monkeypatch.chdir(NOTEBOOKS)
    notebook = nbformat.read(FILES[name], 4)
    made = namespace(notebook)
    for exercise_name, cell in VARIED[name].items():
        answer, test = answer_cells(notebook)[exercise_name]
        for here in each_variant(cell.source, made):
            right = dict(here)
            exec(answer.source, right)
            exec(test.source, right)
            for source, hint in WRONG[name][exercise_name]:
                wrong = dict(here)
                exec(source, wrong)
                with pytest.raises(AssertionError) as refused:
                    exec(test.source, wrong)
                assert hint in str(refused.value), (here["student"], source, str(refused.value))


@pytest.mark.parametrize("name", VARIED)
def test_the_number_is_typed_above_the_question_and_nowhere_else(name):
    notebook = nbformat.read(FILES[name], 4)
    (first,) = [cell for cell in code(notebook) if 'student = "0"' in cell.source]
    assert not exercise(first), "nbgrader would empty it"
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
