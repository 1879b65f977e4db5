"""What an answer says of itself."""

import numpy as np
import pytest

import bmlab


@pytest.mark.parametrize(
    ("log_z", "text"),
    [
        (bmlab.LogZ(2.0, 0.0, 2.0, 2.0), "2.0000 (exact)"),
        (bmlab.LogZ(2.0, 0.125), "2.0000 ± 0.12"),
        (bmlab.LogZ(2.0, lower=1.5), "2.0000 (proven: at least 1.5000)"),
        (bmlab.LogZ(2.0, upper=2.5), "2.0000 (proven: at most 2.5000)"),
        (bmlab.LogZ(2.0, 0.5, 1.5, 2.5), "2.0000 ± 0.5 in [1.5000, 2.5000]"),
        (bmlab.LogZ(np.nan), "unknown"),
    ],
)
def test_log_z_says_how_sure_it_is(log_z, text):
    assert str(log_z) == text


def test_a_result_prints_as_one_line_without_an_address():
    assert repr(bmlab.exact(bmlab.toy())) == "Estimate(exact, n=3, log Z = 2.6961 (exact))"


@pytest.mark.parametrize("model", [bmlab.medium(), bmlab.ising((3, 3))], ids=["dense", "sparse"])
def test_covariance_is_correlation_less_the_product_of_means(model):
    answer = bmlab.exact(model)
    i, j = 0, 1
    assert np.isclose(answer.covariance[i, j], answer.corr[i, j] - answer.mean[i] * answer.mean[j])
    assert np.allclose(np.diag(answer.covariance), 1 - answer.mean**2)


def test_a_result_cannot_be_changed():
    with pytest.raises(AttributeError):
        bmlab.exact(bmlab.toy()).mean = 0
