"""mean_field: its free energy, and a response that is impossible; test_coordinate_descent.py has its fixed points."""

import numpy as np
import pytest
from scipy.special import xlogy

import bmlab


def test_the_free_energy_is_that_of_independent_units():
    """F = <E> - T S by a sum over all states of the product distribution; 0 log 0 is 0."""
    model, s = bmlab.medium().at(1.3), bmlab.states(10)
    for m in (np.linspace(-0.9, 0.8, 10), np.linspace(-1, 1, 10)):
        q = np.prod((1 + s * m) / 2, axis=1)
        assert abs(bmlab.free_energy(model, m) - (q @ model.energy(s) + 1.3 * xlogy(q, q).sum())) < 1e-11


def test_a_failed_response_is_shown_and_not_clipped():
    with pytest.warns(bmlab.NotConverged, match=r"a correlation of .*, beyond \[-1, 1\].*; use bethe\(\) or gibbs"):
        answer = bmlab.mean_field(bmlab.medium().at(1.8))
    assert np.abs(answer.corr).max() > 1 and not answer.converged
