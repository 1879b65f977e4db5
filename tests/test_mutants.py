"""Every classic bug is caught by the law that is there for it, and the law holds without the bug."""

import pytest
from mutants import SWEEPS, WRONG
from test_contract import law_invariance

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("case", WRONG, ids=[case.name for case in WRONG])
def test_a_law_catches_a_wrong_method(case):
    with pytest.raises(AssertionError):
        case.law(case.bug(case.method))


@pytest.mark.parametrize("sweep", SWEEPS.values(), ids=SWEEPS)
def test_invariance_catches_a_wrong_sweep(sweep):
    with pytest.raises(AssertionError):
        law_invariance(sweep)
