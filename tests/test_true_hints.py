"""A hint is a claim: it says what was seen, or the slip that was typed, and asks nobody whether it was this or that.

The sentences of listed misconceptions are in test_blanks.py, those of typical wrong answers in test_exercises.py.
"""

import ast
import re

import nbformat
import numpy as np
import pytest
import slips
from selection import as_a_student, exhaustive
from test_blanks import BLANKS, parts_of, story, written
from test_exercises import BY_NAME, GRADED, answer_cells

from bmlab.exercises import judging
from bmlab.exercises.answers import kind_of_value
from bmlab.exercises.edits import edited

pytestmark = as_a_student
CAUSE = re.compile(r"\b(lacks|forgets|belongs|where it should|two arguments exchanged|the wrong way round)\b")
ASKS_WHETHER = re.compile(r"(^|[,;:.]) *(is|are|was|were|does|do|did|has|have|perhaps)\b[^,;:]*\?")


def hint(wrong, right, cases, source, typed):
    """What is said of a wrong answer's numbers, without its name; "" if it is right or cannot be compared."""
    said = judging.judge(wrong, right, cases, source=source, typed=typed).wrong
    return said.removeprefix(judging.NOT_YET.format(right.__name__, "")) if " is not right yet: " in said else ""


@exhaustive
@pytest.mark.parametrize("blank", BLANKS)
def test_a_slip_is_named_if_it_was_typed_and_no_cause_otherwise(blank):
    name, right, source, cases = parts_of(*BLANKS[blank])
    named = 0
    for slip, text in edited(source):
        wrong = written(text, right.__name__, story(name))
        said = hint(wrong, right, cases, source, text)
        assert not ASKS_WHETHER.search(said) and (not CAUSE.search(said) or said.endswith(slip)), (text, said)
        unknown = hint(wrong, right, cases, source, "")  # typed in another way
        assert not ASKS_WHETHER.search(unknown) and not CAUSE.search(unknown), (text, unknown)
        named += said.endswith(slip)
    for slip, change in slips.RESULTS.items():
        said = hint(slips.wrapped(right, change), right, cases, source, "")
        assert not ASKS_WHETHER.search(said) and not CAUSE.search(said), (slip, said)
    print(f"{blank}: {named} slips named")


@pytest.mark.parametrize("name", GRADED)
def test_the_test_of_an_exercise_asks_nobody_whether(name):
    for answer, (_, test) in answer_cells(nbformat.read(BY_NAME[name], 4)).items():
        texts = [one.value for one in ast.walk(ast.parse(test.source)) if isinstance(one, ast.Constant)]
        asked = [one for one in texts if isinstance(one, str) and ASKS_WHETHER.search(one)]
        assert not asked, (answer, asked)


def test_a_number_that_is_nan_is_told_as_that_before_its_test_calls_it_too_small():
    assert kind_of_value("mine", np.float64("nan")).startswith("mine is nan (not a number)")
    assert kind_of_value("mine", 0.5) == kind_of_value("mine", np.array([np.nan, 1])) == ""


def test_of_a_large_table_the_column_of_the_wrong_number_is_shown():
    names = {"np": np}
    exec("def mine(images):\n    return (images.sum(axis=0) + (images[0] > 0)) / 9", names)
    exec("def right(images):\n    return images.sum(axis=0) / 9", names)
    said = judging.judge(names["mine"], names["right"], "states(rng, n, 64),").wrong
    column, found, place, wanted = re.search(
        r"images\[:, (\d+)\] = (\[.*\]) it is (\S+) at place \((\d+),\), and (\S+) is right", said
    ).group(1, 3, 4, 5)
    assert column == place and float(found) - float(wanted) == pytest.approx(1 / 9, abs=1e-4)
