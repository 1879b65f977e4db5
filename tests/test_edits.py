"""Every usual slip in a formula, and no other: of each kind of part the smallest formula that has it."""

import pytest

from bmlab.exercises.edits import edited

SLIPS = {  # formula -> slip -> its words
    "a + b": {"a": "lacks a term", "b": "lacks a term", "a - b": "has a minus where a plus belongs"},
    "a - b": {"a": "lacks a term", "b": "lacks a term", "a + b": "has a plus where a minus belongs"},
    "a * b": {"a": "lacks a factor", "b": "lacks a factor", "a / b": "divides where it should multiply"},
    "a / b": {"a": "lacks a division", "b": "lacks what is divided", "a * b": "multiplies where it should divide"},
    "a @ b": {"a": "lacks one side of a product with @", "b": "lacks one side of a product with @"},
    "a ** b": {"a": "lacks a power", "b": "lacks a power", "a ** 1": "lacks a power"},
    "a % b": {"a": "lacks a remainder, %", "b": "lacks a remainder, %"},
    "a // b": {"a": "lacks a division, //", "b": "lacks a division, //"},
    "a < b": {"not a < b": "compares the wrong way round"},
    "-a": {"a": "lacks a minus"},
    "not a": {"a": "lacks a not"},
    "5": {"10": "has 10 where 5 belongs"},
    "0.5": {"1.0": "has 1.0 where 0.5 belongs"},
    "0": {"1": "has 1 where 0 belongs"},
    "f(1)": {"f(2)": "has 2 where 1 belongs", "f(0)": "has 0 where 1 belongs"},
    "f(a, axis=0)": {"f(a, axis=1)": "has axis=1 where axis=0 belongs"},
    "True": {},
    "'a'": {},
    "a[b]": {},
    "T": {"1.0": "forgets T"},
    "t": {},
    "m.temperature": {"1.0": "forgets T"},
    "m.biases": {"0 * m.biases": "forgets the biases"},
    "m.weights": {},
    "m.T": {"m": "lacks a transpose, .T"},
    "f(a, b)": {"f(b, a)": "has two arguments exchanged"},
    "f(a, b, k=c)": {},
    "f(a, b, c)": {},
    "np.max(a)": {"np.min(a)": "has min where max belongs", "np.mean(a)": "has mean where max belongs"},
    "np.abs(a)": {"np.array(a)": "lacks abs"},
    # A part is named if it is a number, an argument or an attribute of one.
    "lambda a: a + b": {
        "lambda a: a": "lacks a term", "lambda a: b": "lacks a term, a",
        "lambda a: a - b": "has a minus where a plus belongs",
    },
    "lambda a: b / a.c": {
        "lambda a: b": "lacks a division, a.c", "lambda a: a.c": "lacks what is divided",
        "lambda a: b * a.c": "multiplies by a.c where it should divide",
    },
    "lambda a: a[b] * f(a)": {
        "lambda a: a[b]": "lacks a factor", "lambda a: f(a)": "lacks a factor",
        "lambda a: a[b] / f(a)": "divides where it should multiply",
    },
}  # fmt: skip


@pytest.mark.parametrize("formula", SLIPS)
def test_a_formula_has_the_slips_of_its_parts(formula):
    found = edited(formula)
    assert {slip: words for words, slip in found} == SLIPS[formula]


def test_a_slip_is_made_in_one_place_and_the_others_stay_right():
    one, other = "np.sum(a - m.biases)", "(-x.T) ** 3"
    apart = [{slip for _, slip in edited(part)} for part in (one, other)]
    together = {slip for _, slip in edited(f"f({one}, y, {other})")}
    assert together == {f"f({slip}, y, (-x.T) ** 3)" for slip in apart[0]} | {
        f"f({one}, y, {slip})" for slip in apart[1]
    }
