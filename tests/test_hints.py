"""The numbers of a hint: short, and told apart."""

import numpy as np
import pytest

from bmlab.exercises.hints import number


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
