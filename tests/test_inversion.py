"""The closed form: the machine it returns has the data's means and linear response."""
import numpy as np
import pytest

import bmlab


def some_data(n=5, rows=200):
    model = bmlab.sherrington_kirkpatrick(n, np.random.default_rng(2), 0.5)
    return bmlab.gibbs(model, rng=np.random.default_rng(3), n_chains=rows, n_sweeps=1000).state


def law_fixed_point():
    """The data's means solve the mean-field equations of the machine: m = tanh(W m + b)."""
    data = some_data()
    model = bmlab.invert_mean_field(data, diagonal=False)
    mean = data.mean(0)
    assert np.abs(np.tanh(model.field(mean)) - mean).max() < 1e-12


def law_noise(noise=0.2):
    """noise= is the average over all ways to flip: the machine from the moments of every flipped copy of the data."""
    data, flips = some_data(4), bmlab.states(4)
    share = np.prod(np.where(flips > 0, 1 - noise, noise), axis=1)
    mean = sum(p * (data * f).mean(0) for p, f in zip(share, flips))
    corr = sum(p * (data * f).T @ (data * f) for p, f in zip(share, flips)) / len(data)
    inverse = np.linalg.inv(corr - np.outer(mean, mean))
    model = bmlab.invert_mean_field(data, noise=noise)
    assert np.allclose(model.weights, np.diag(np.diag(inverse)) - inverse, atol=1e-12)


def test_the_means_of_the_data_are_a_fixed_point():
    law_fixed_point()


def test_noise_is_the_average_over_flipped_data():
    law_noise()


def test_the_response_is_the_covariance_of_the_data():
    data = some_data()
    mean, covariance = data.mean(0), np.cov(data.T, bias=True)
    weights = bmlab.invert_mean_field(data).weights
    own = 1 / (1 - mean**2) - np.diag(np.linalg.inv(covariance))
    response = np.linalg.inv(np.diag(1 / (1 - mean**2) - own) - weights)
    assert np.allclose(response, covariance, atol=1e-10)


def test_the_diagonal_changes_the_biases_only_by_its_own_pull():
    data = some_data()
    kept, left_out = bmlab.invert_mean_field(data), bmlab.invert_mean_field(data, diagonal=False)
    mean = data.mean(0)
    own = 1 / (1 - mean**2) - np.diag(np.linalg.inv(np.cov(data.T, bias=True)))
    assert (kept.weights == left_out.weights).all()
    assert np.allclose(left_out.biases - kept.biases, own * mean)


def test_a_pseudocount_is_so_many_patterns_of_random_units():
    data = some_data(4, 48)
    every = np.vstack([data, bmlab.states(4)])
    assert np.allclose(bmlab.invert_mean_field(data, pseudocount=16).weights, bmlab.invert_mean_field(every).weights)


@pytest.mark.parametrize(("data", "options", "sentence"), [
    ([[1, 1], [1, -1]], {}, r"unit 0 is constant .*noise=0\.1"),
    ([[1, 1], [-1, -1]], {}, r"covariance of 2 units is singular \(rank 1\); pass noise"),
    ([[1, 0], [1, 1]], {}, r"data must be -1/\+1, found \{0, 1\}; use bmlab\.spins\(data\)"),
    ([[1, -1], [-1, -1]], {"noise": 0.5}, "found 0.5 and 0.0"),
])
def test_what_cannot_be_inverted_is_refused_with_advice(data, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        bmlab.invert_mean_field(data, **options)


def test_the_advice_works():
    for data in ([[1, 1], [1, -1]], [[1, 1], [-1, -1]]):
        for advice in ({"noise": 0.1}, {"pseudocount": 1}):
            assert np.isfinite(bmlab.invert_mean_field(data, **advice).weights).all()
