"""Every classic bug is caught by the law that is there for it, and the law holds without the bug."""

import pytest
from mutants import EDITS, SWEEPS, WRONG, edited
from selection import exhaustive
from test_contract import law_invariance

pytestmark = [pytest.mark.filterwarnings("ignore"), exhaustive]


@pytest.mark.parametrize("case", WRONG, ids=[case.name for case in WRONG])
def test_a_law_catches_a_wrong_method(case):
    case.law(case.method)
    with pytest.raises(AssertionError):
        case.law(case.bug(case.method))


@pytest.mark.parametrize("sweep", SWEEPS.values(), ids=SWEEPS)
def test_invariance_catches_a_wrong_sweep(sweep):
    with pytest.raises(AssertionError):
        law_invariance(sweep)


@pytest.mark.parametrize("case", EDITS, ids=str)
def test_a_law_catches_an_edit_of_the_package(case):
    case.law()
    with edited(case.where, case.edit):
        assert is_caught(case.law)
    case.law()


def is_caught(law):
    """Whether a law fails, or a value outside of its own bounds cannot be made."""
    try:
        law()
    except AssertionError:
        return True
    except ValueError as error:
        return "proven bounds" in str(error)
    return False
