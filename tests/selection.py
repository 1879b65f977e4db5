"""`make test` and `make check` run of many cases alike the first of each kind. `make test-all` runs them all."""

import pytest

exhaustive, slow = pytest.mark.exhaustive, pytest.mark.slow
# A student's code may warn; an overflow is still an error.
as_a_student = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.filterwarnings("error:(overflow|underflow|divide by zero|invalid value) encountered:RuntimeWarning"),
]


def one_of(cases, kind=lambda case: None, ids=None, mark=exhaustive):
    """Cases as parameters of a test, all but the first of each kind with the mark exhaustive.

    mark   slow, if make check takes the first alone, too
    kind   a function of a case; without it all are of one kind
    """
    seen, marked = set(), []
    for case, name in zip(cases, ids or cases, strict=True):
        one = kind(case)
        marked.append(
            pytest.param(case, id=str(getattr(name, "__name__", name)), marks=[exhaustive, mark] * (one in seen))
        )
        seen.add(one)
    return marked
