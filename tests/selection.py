"""What `make test` runs of many cases alike: the first of each kind. `make test-all` runs them all."""

import pytest

exhaustive = pytest.mark.exhaustive
# What students write may warn them; an overflow is still an error.
as_a_student = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.filterwarnings("error:(overflow|underflow|divide by zero|invalid value) encountered:RuntimeWarning"),
]


def one_of(cases, kind=lambda case: None, ids=None):
    """Cases as parameters of a test, all but the first of each kind with the mark exhaustive.

    kind   a function of a case; without it all are of one kind
    """
    seen, marked = set(), []
    for case, name in zip(cases, ids or cases, strict=True):
        one = kind(case)
        marked.append(pytest.param(case, id=str(name), marks=[exhaustive] * (one in seen)))
        seen.add(one)
    return marked
