"""The numbers of a hint: short, and told apart."""

import warnings

import numpy as np
import pytest

from bmlab.exercises.hints import named_in_test, number
from bmlab.exercises.judging import KINDS, draw


@pytest.mark.parametrize("seed", range(20))
def test_two_numbers_have_as_few_digits_as_tell_them_apart_and_four_at_least(seed):
    rng = np.random.default_rng(seed)
    one = rng.normal() * 10.0 ** rng.integers(-3, 4)
    other = one + rng.choice([-1, 1]) * 10.0 ** rng.uniform(-10, 1)
    digits = next(k for k in range(4, 17) if f"{one:.{k}g}" != f"{other:.{k}g}")
    assert (number(one, other), number(other, one)) == (f"{one:.{digits}g}", f"{other:.{digits}g}")
    assert number(one) == number(one + 1e-14) == f"{one:.4g}"


def test_what_is_as_small_as_a_rounding_error_is_0():
    assert number(-1e-14) == number(1e-14) == number(1e-14, 1.0) == "0"
    assert number(1.0, 1.0) == "1.0"  # not to be told apart: all its digits


def test_cases_of_each_kind_differ_in_size_too():
    """One state and several, the first unit and the last: what is right for one alone is not right."""
    rng = np.random.default_rng(0)
    some = {kind: [make(rng, 4) for _ in range(60)] for kind, make in KINDS.items()}
    assert {np.ndim(s) for s in some["s"]} == {1, 2} and {np.shape(s)[-1] for s in some["s"]} == {4}
    assert {len(s) for s in some["s"] if np.ndim(s) == 2} == {2, 3, 4, 5} and {*map(len, some["data"])} == {
        *range(3, 8)
    }
    assert {*some["i"]} == {0, 1, 2, 3} and len({*some["T"]}) == 3 and 1 not in some["T"]
    assert {len(draw(lambda m: m, "", rng, {})[0]) for _ in range(60)} == {2, 3, 4}


def test_a_hint_is_looked_for_without_a_warning(capfd):
    """The right answer and the student's may divide by 0, and where they do nothing is printed."""
    names = {"np": np, "share": lambda x: np.array(x) / 0.0, "test": None}
    solution = "def share(x):\n    return np.array(x) / np.zeros(2)\n"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        named_in_test("share([1.0, -2.0])\nshare([0.0, 1.0])", ["share"], names, solution)
    assert said == [] and capfd.readouterr() == ("", "")
