"""What is said of an answer before its numbers are compared: one sentence for each kind of fault, at every door."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from selection import as_a_student

import bmlab
from bmlab.exercises.answers import (
    Unanswered,
    WrongKind,
    as_asked,
    as_number,
    called_alike,
    in_shape,
    kind_of_slip,
    kind_of_value,
    parts,
    returned,
    same_kind,
)
from bmlab.exercises.hints import answered

pytestmark = as_a_student
TOY, TWO, ASKED = bmlab.toy(), np.array([1.0, 2.0]), "where numbers are asked for"
THREE, PAIR = np.array([0.5, 1.5, -2.0]), (np.eye(2), TWO)
FAULTS = [  # an answer as it is typed, the right one, and what is wrong with it
    ("'3'", 3.0, f"a text, '3', {ASKED}: take the quotes off"),
    (f"{'x' * 60!r}", 3.0, f"a text, '{'x' * 40}', {ASKED}: take the quotes off"),
    ("np.sin", 3.0, f"the function sin, {ASKED}: call it, with ()"),
    ("3 + 1j", 3.0, "a complex number: is there a root or a power of what is negative?"),
    ("np.array([1, 2j])", TWO, "a complex number: is there a root or a power of what is negative?"),
    ("(np.eye(2), 1j)", PAIR, "a complex number: is there a root or a power of what is negative?"),
    ("{1, 2}", TWO, f"a set, {ASKED}: make it a list"),
    ("{1: 2}", TWO, f"a dict, {ASKED}: make it a list"),
    ("map(abs, [1, 2])", TWO, f"a map, {ASKED}: make it a list"),
    ("zip([1, 2])", TWO, f"a zip, {ASKED}: make it a list"),
    ("(x for x in [1, 2])", TWO, f"a generator, {ASKED}: make it a list"),
    ("(np.eye(2), {1, 2})", PAIR, f"a set, {ASKED}: make it a list"),
    ("[]", TWO, f"an empty array, {ASKED}"),
    ("np.zeros((0, 2))", TWO, f"an empty array, {ASKED}"),
    ("['1', '2']", TWO, f"texts, {ASKED}: take the quotes off"),
    ("[True, False]", TWO, f"truth values, True or False, {ASKED}: is it a comparison?"),
    ("(np.eye(2) > 0, [1, 2])", PAIR, f"truth values, True or False, {ASKED}: is it a comparison?"),
    ("TOY", 3.0, f"a machine, {ASKED}"),
    ("3.0", TOY, "3.0, where a machine is asked for: BoltzmannMachine(weights, ...)"),
    ("3.0", PAIR, "3.0, where 2 things are asked for, with a comma between"),
    ("(1, 2, 3)", PAIR, "(1, 2, 3), where 2 things are asked for, with a comma between"),
    ("(TWO, np.eye(2))", PAIR, "its parts in another order: shape (2, 2) comes first"),
    ("TWO", THREE, "shape (2,), where shape (3,) is asked for"),
    ("np.eye(2)", TWO, "shape (2, 2), where shape (2,) is asked for"),
    ("TWO", 3.0, "shape (2,), where one number is asked for"),
    ("3.0", TWO, "one number, where shape (2,) is asked for"),
    ("(np.eye(2), 3.0)", PAIR, "one number, where shape (2,) is asked for"),
    ("[[1, 2], 3]", TWO, "[[1, 2], 3], where shape (2,) is asked for"),
    ("np.array([1, np.nan])", TWO,
     "nan (not a number), which comes of a nan, of a root or log of what is not positive, of 0/0, or of an overflow"),
    ("TWO", np.array([1, np.nan]),
     "nan (not a number), which comes of a nan, of a root or log of what is not positive, of 0/0, or of an overflow"),
]  # fmt: skip
FINE = [  # an answer as it is typed, and the right one, of which it is another form
    ("[3.0]", 3.0), ("np.array([[3.0]])", 3.0), ("(3.0,)", 3.0), ("3 + 0j", 3.0), ("3.0", np.array([3.0])),
    ("[1, 2]", TWO), ("(1, 2)", TWO), ("np.array([1, 2]) + 0j", TWO), ("[np.eye(2), [1, 2]]", PAIR),
    ("([[1, 0], [0, 1]], TWO)", PAIR), ("(np.eye(2), TWO)", PAIR), ("[1, np.nan]", np.array([1, np.nan])),
    ("Decimal('0.5')", 0.5), ("Fraction(1, 2)", 0.5), ("(Fraction(1, 2), [2])", (0.5, 2.0)), ("TOY", TOY),
]  # fmt: skip
KNOWN = {"np": np, "TOY": TOY, "TWO": TWO, "Decimal": Decimal, "Fraction": Fraction}


def written(body, arguments="x"):
    """A student's function."""
    exec(f"def mine({arguments}):\n    {body}", made := dict(KNOWN))
    return made["mine"]


def fault(body, right):
    """What is said of a function's answer, "" if nothing is."""
    try:
        in_shape("mine", returned(written(body), [TWO.copy()]), right)
    except WrongKind as words:
        return str(words)
    return ""


@pytest.mark.parametrize(("answer", "right", "words"), FAULTS, ids=[one for one, *_ in FAULTS])
def test_an_answer_of_another_kind_is_told_of_which(answer, right, words):
    assert fault(f"return {answer}", right) == f"mine returned {words}"


@pytest.mark.parametrize(("answer", "right", "words"), FAULTS, ids=[one for one, *_ in FAULTS])
def test_so_is_a_value_that_is_no_function(answer, right, words):
    said = f"mine is {words}".replace(" is shape", " has shape")
    assert kind_of_value("mine", eval(answer, dict(KNOWN)), right) == said


@pytest.mark.parametrize(("answer", "right"), FINE, ids=[one for one, _ in FINE])
def test_another_form_of_the_same_kind_is_right(answer, right):
    assert fault(f"return {answer}", right) == kind_of_value("mine", eval(answer, dict(KNOWN)), right) == ""


@pytest.mark.parametrize(
    ("value", "right", "words"),
    [
        (None, 3.0, "mine is None, nothing: write its value"),
        (3.0, "a", "mine is 3.0, where a text is asked for: put it between quotes"),
        (3.0, [1, 2], "mine is 3.0, where a list is asked for: put its 2 parts between [ and ]"),
        ("b", "a", ""),
        ([1], [1, 2], ""),
        ("3", None, ""),
        ({1, 2}, None, "mine is a set: make it a list"),  # if it is not known what is asked for
    ],
)
def test_a_text_or_a_list_is_asked_for_by_name(value, right, words):
    assert kind_of_value("mine", value, right) == words


WRITES = "mine writes into what it is given: begin with a copy, np.array(...)"
ENDS = {
    "return 1 / 0": "mine stops with ZeroDivisionError: it divides by 0",
    "return mine(x)": "mine calls itself without an end: write out what it returns",
    "raise KeyboardInterrupt": "mine stops with your interrupt: is it a loop without an end, or too long a list?",
    "raise SystemExit(3)": "mine stops with SystemExit: 3",
    "return np.ones(2) @ np.ones(3)": "mine stops with ValueError: @ multiplies rows of 2 numbers with columns of 3: "
    "turn one side over, x.T, or take other rows",
    "x[0] = 9; return x": WRITES,
    "x.flags.writeable = False; x[0] = 9": WRITES,
    "pass": "mine returned nothing: is there a return?",
    "print(' ')": "mine returned nothing: is there a return?",
    "print(3)": "mine prints and returns nothing: write return for print",
    "print(3); return x": "",
}


@pytest.mark.parametrize("body", ENDS)
def test_an_answer_that_has_no_end_or_no_result_is_told_why(body, capfd):
    assert fault(body, TWO) == ENDS[body] and capfd.readouterr() == ("", "")


def test_an_answer_that_is_not_written_is_none():
    with pytest.raises(Unanswered):
        fault("raise NotImplementedError", TWO)


FIRST = "mine takes {}, where (x, k=1) is asked for: leave its first line as it was"
SLIPS = [  # what a notebook has under the name, and what is said
    (written("return k * x", "x, k=1"), ""),
    (written("return k * x", "x, k=1, more=0"), ""),
    (written("return given[0]", "*given, **named"), ""),
    (written("return x", "x"), FIRST.format("(x)")),
    (written("return k * x", "k, x=1"), FIRST.format("(k, x=1)")),
    (written("return k * x", "x, k=2"), FIRST.format("(x, k=2)")),
    (written("return k * x", "x, k=1, *, more"), FIRST.format("(x, k=1, more)")),
    (3.0, "mine is 3.0, where a function is asked for: def mine(x, k=1)"),
    (written("return [k, k]", "x, k=1"), "mine returned shape (2,), where one number is asked for"),
    (written("return np.random.default_rng().random()", "x, k=1"),
     "mine gives another answer where the same is asked again: does it draw, or keep something from the last call?"),
    (written("x[0] = 3; return 1.0", "x, k=1"), WRITES),
]  # fmt: skip


@pytest.mark.parametrize(("mine", "words"), SLIPS)
def test_the_test_of_an_answer_tells_its_kind(mine, words):
    solution = "def mine(x, k=1):\n    return k * np.sum(x)"
    assert kind_of_slip("mine(np.array([2.0]))", ["mine"], KNOWN | {"mine": mine}, solution) == words


@pytest.mark.parametrize(
    ("mine", "words"),
    [
        (
            written("return 2 * k", "k, x"),
            "mine takes (k, x), where (x, k=1) is asked for: leave its first line as it was",
        ),
        (3.0, "mine is 3.0, where a function is asked for: def mine(x, k=1)"),
        (written("return [k, k]", "x, k=1"), ""),
    ],
)
def test_a_student_s_own_is_compared_in_its_first_line_and_no_shape(mine, words):
    """So is a function that a test has refused; the solution is not run for that, which may take long."""
    solution = "runs.append(1)\ntable = np.eye(8)\ndef mine(x, k=1):\n    return k * np.sum(x)"
    source = "float(table)\nmine(np.array([2.0]))"
    known = KNOWN | {"mine": mine, "table": TWO, "runs": (runs := [])}
    assert (kind_of_slip(source, ["mine", "table"], known, solution, failed=True), runs) == (words, [])
    assert kind_of_slip(source, ["mine", "table"], known, solution, own=True) == words


@pytest.mark.parametrize(
    ("table", "words"), [(TWO, "mine is an array of shape (2,), where a machine is asked for: "), (TOY, "")]
)
def test_a_student_s_own_machine_is_to_be_one(table, words):
    said = kind_of_slip("mine.n", ["mine"], KNOWN | {"mine": table}, "mine = TOY.at(3)", own=True)
    assert said.startswith(words) and bool(said) == bool(words)


def test_who_has_not_run_a_cell_is_told_which_name_is_missing():
    assert kind_of_slip("mine(2)", ["mine"], KNOWN) == "mine is missing: no cell that ran to its end has made it"
    assert kind_of_slip("mine", ["mine"], KNOWN | {"mine": TWO}, "mine = 2.0") == (
        "mine has shape (2,), where one number is asked for"
    )


@pytest.mark.parametrize(("call", "is_told"), [(40, True), (42, False)])
def test_twenty_calls_of_a_test_are_made_twice(call, is_told):
    body = f"made.append(x); return float(len(made) == {call})"
    exec(f"made = []\ndef mine(x):\n    {body}", names := {})
    said = kind_of_slip("for x in range(30): mine(x)", ["mine"], names)
    assert said.startswith("mine gives another answer") == is_told and (said == "") != is_told


@pytest.mark.parametrize(("body", "words"), [("return 1j", "a complex number"), ("x[0] = 9; return 1", "begin with")])
def test_what_a_test_asks_stays_as_it_is_and_is_real(body, words):
    with pytest.raises(AssertionError, match=words):
        as_asked("mine", written(body))(TWO.copy())
    assert as_asked("mine", written("return [x[0]]"))(TWO) == 1.0 and as_asked("mine", [3.0]) == 3.0


@pytest.mark.parametrize("found", ["3 + 1j", "TWO + 1j", "(TWO, 1j)", "[1, 2j]"])
def test_what_is_complex_has_no_parts_so_no_hint_compares_its_real_part(found):
    with pytest.raises(TypeError, match="complex"):
        parts(eval(found))
    assert answered(written(f"return {found}"), [3.0]) == []


@pytest.mark.parametrize(
    ("arguments", "alike"), [("x, k=1", True), ("x, k=1, more=0", True), ("*given, **named", True), ("*given", False)]
)
def test_a_function_may_take_more(arguments, alike):
    assert called_alike("mine", written("pass", arguments), written("pass", "x, k=1")) == alike
    assert not called_alike("mine", np.add, written("pass", "x, k=1"))


@pytest.mark.parametrize(
    ("found", "right", "alike"),
    [
        (1, 2.0, True), (np.float64(1), 2, True), (TWO, THREE[:2], True), (TWO.astype(int), TWO, False),
        (TWO, THREE, False), ([1.0, 2.0], TWO, False), ((1, TWO), (2.0, TWO), True), ((1, [1]), (2.0, TWO), False),
        (TOY, TOY, True),
    ],
)  # fmt: skip
def test_the_story_goes_on_with_what_is_of_the_same_kind(found, right, alike):
    assert same_kind(found, right) == alike


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ([3.0], 3.0), ((3.0,), 3.0), (np.array([[3]]), 3), (["a"], "a"), (3 + 0j, 3.0), (Decimal("0.5"), 0.5),
        (Fraction(1, 2), 0.5), ("a", "a"), (True, True), (([1.0], 2.0), (1.0, 2.0)), ([[1, 2], [3]], [[1, 2], [3]]),
        ([1, 2], [1, 2]), ([None], [None]), ([], []),
    ],
)  # fmt: skip
def test_one_number_in_a_list_is_that_number(typed, meant):
    found = as_number(typed)
    assert found == meant and type(found) in (type(meant), np.int64, np.float64, np.str_)
