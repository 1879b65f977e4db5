"""What growth.py times, at sizes that take no time: `make bench` stops where a script is broken."""

import growth
import pytest


@pytest.mark.parametrize("of", [case[1] for case in growth.CASES], ids=[case[0] for case in growth.CASES])
def test_growth_times_what_it_names(of):
    told = growth.grown("n", of, [(4, 8), (8, 8)])
    assert told.startswith("n^") and told.endswith(" ms)")
