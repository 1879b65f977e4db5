"""The closed forms: the machines they return have the data's means and linear response."""

import numpy as np
import pytest
from test_belief_propagation import forest
from test_contract import any_machine, weak

import bmlab
from bmlab.infer.variational.linear_response import MAX_INCONSISTENCY
from bmlab.learn.inversion import invert_bethe, invert_mean_field, invert_tap

pytestmark = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
ALL = {"mean field": invert_mean_field, "TAP": invert_tap, "Bethe": invert_bethe}
INVERSIONS = {"TAP": (invert_tap, bmlab.tap), "Bethe": (invert_bethe, bmlab.bethe)}


def some_data(n=5, rows=200):
    model = bmlab.sherrington_kirkpatrick(n, rng=np.random.default_rng(2), scale=0.5)
    return bmlab.gibbs(model, rng=np.random.default_rng(3), n_chains=rows, n_sweeps=1000).state


def test_the_means_of_the_data_are_a_fixed_point():
    """The data's means solve the mean-field equations with the pull w_ii of each unit on itself."""
    data = some_data()
    model, mean = bmlab.invert_mean_field(data).model, data.mean(0)
    own = 1 / (1 - mean**2) - np.diag(np.linalg.inv(np.cov(data.T, bias=True)))
    assert np.abs(np.tanh(model.field(mean) + own * mean) - mean).max() < 1e-12


def test_noise_is_the_average_over_flipped_data():
    """The machine from the moments of every flipped copy of the data, over all ways to flip."""
    data, flips, noise = some_data(4), bmlab.states(4), 0.2
    share = np.prod(np.where(flips > 0, 1 - noise, noise), axis=1)
    mean = sum(p * (data * f).mean(0) for p, f in zip(share, flips, strict=True))
    corr = sum(p * (data * f).T @ (data * f) for p, f in zip(share, flips, strict=True)) / len(data)
    inverse = np.linalg.inv(corr - np.outer(mean, mean))
    model = bmlab.invert_mean_field(data, noise=noise).model
    assert np.allclose(model.weights, np.diag(np.diag(inverse)) - inverse, atol=1e-12)


@pytest.mark.parametrize("name", INVERSIONS)
def test_the_method_that_was_inverted_gives_means_and_response_back(name):
    """Asked with the method that was inverted, the machine has the data's means and, but for its diagonal, their C^-1.

    C is the response itself, dm/db by central differences of 1e-3: off by 1e-6 / 6 of a third derivative of order one.
    Noise calms the data; without, their means would be a saddle of mean field.
    """
    data, (invert, infer), h = some_data(), INVERSIONS[name], 1e-3
    model, own = invert(data, noise=0.1).model, 0.8 * data.mean(0)
    covariance = 0.8**2 * np.cov(data.T, bias=True)

    def mean(shake):
        return infer(bmlab.BoltzmannMachine(model.weights, model.biases + shake)).mean

    assert np.abs(mean(0) - own).max() < 1e-11
    response = np.array([(mean(e) - mean(-e)) / (2 * h) for e in h * np.eye(5)])
    gap = np.linalg.inv(response) - np.linalg.inv(covariance - np.diag(np.diag(covariance) - 1 + own**2))
    assert np.abs(gap[~np.eye(5, dtype=bool)]).max() < 1e-5


def test_bethe_is_exact_on_forests():
    """From exact moments Bethe's inversion is exact on trees and forests; C^-1 loses the condition of C, 14 at most."""
    for n in range(2, 13):
        for scale, kept in ((0.3, 1.0), (0.8, 0.7)):
            model = forest(n, np.random.default_rng(n), scale, kept)
            found = invert_bethe(bmlab.exact(model)).model
            assert np.abs(found.weights - model.weights / model.temperature).max() < 1e-13
            assert np.abs(found.biases - model.biases / model.temperature).max() < 1e-13


def mean_field_factors(model, mean):
    """Mean field's variances over those of the means, by its definition; nan if it stands at a saddle."""
    curvature = np.diag(1 / (1 - mean**2)) - model.weights
    if np.linalg.eigvalsh(curvature)[0] <= 0:
        return np.full(model.n, np.nan)
    return np.diag(np.linalg.inv(curvature)) / (1 - mean**2)


def law_of_the_theory(name, found, mean):
    """The theory that was inverted agrees with itself about the machine, if it has the means of the data."""
    if name == "mean field":
        return (np.abs(np.log(mean_field_factors(found.model, mean))) <= np.log1p(MAX_INCONSISTENCY)).all()
    answer = bmlab.tap(found.model, start=mean) if name == "TAP" else bmlab.bethe(found.model)
    return answer.converged or np.abs(answer.mean - mean).max() > 1e-6


@pytest.mark.parametrize("name", ALL)
def test_what_has_converged_is_what_its_theory_can_explain(name):
    """From exact moments of random machines from weak to strong: all weak ones converge, of the cold ones none."""
    for seed in range(20):
        for machine, outcomes in ((weak(seed), {True}), (any_machine(seed), {True, False}), (glass(seed), {False})):
            moments = bmlab.exact(machine)
            try:
                found = ALL[name](moments)
            except ValueError:  # constant units, and pairs without beliefs: refused
                assert False in outcomes
                continue
            assert found.converged in outcomes, found.message
            assert not found.converged or law_of_the_theory(name, found, moments.mean)


def glass(seed):
    """Eight units at beta = 4: weights come out 30 times too large and more."""
    return bmlab.sherrington_kirkpatrick(8, rng=seed).at(0.25)


def pairs(*counts):
    """Two units that are (-, -), (-, +), (+, -), (+, +) as often as `counts` says."""
    return np.repeat(bmlab.states(2), counts, axis=0)


def test_where_tap_has_no_root_it_takes_the_nearest_weight():
    """m = 0.8 and c = -0.03: the pull -0.23 is beyond -1 / (8 m^2) = -0.195, the least of w + 2 m^2 w^2."""
    assert abs(invert_tap(pairs(1, 39, 39, 321)).model.weights[0, 1] + 1 / (4 * 0.8**2)) < 1e-14 * 10


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ([[1, 1], [1, -1]], r"unit 0 is constant .*noise=0\.1"),
        ([[1, 1], [-1, -1]], r"covariance of 2 units is singular \(rank 1\); pass noise"),
    ],
)
def test_what_cannot_be_inverted_is_refused_with_advice(data, sentence, name):
    with pytest.raises(ValueError, match=sentence):
        ALL[name](data)


def test_bethe_refuses_beliefs_that_are_no_probabilities():
    """Never both at -1: their weight would be infinite."""
    with pytest.raises(ValueError, match=r"no beliefs for units 0 and 1 .*noise=0\.1, or use invert_tap\(\)"):
        invert_bethe(pairs(0, 1, 1, 1))


@pytest.mark.parametrize("name", ALL)
def test_the_advice_works(name):
    for data in ([[1, 1], [1, -1]], [[1, 1], [-1, -1]], pairs(0, 1, 1, 1)):
        assert np.isfinite(ALL[name](data, noise=0.1).model.weights).all()


@pytest.mark.parametrize("name", ALL)
def test_noise_makes_up_for_a_constant_unit_in_few_rows(name):
    """As in many: images of one digit are fewer than their pixels, and a corner is always paper."""
    few = bmlab.spins(np.random.default_rng(0).integers(0, 2, (9, 12)))
    few[:, 0] = -1
    found, longer = (ALL[name](rows, noise=0.2).model for rows in (few, np.tile(few, (3, 1))))
    assert np.isfinite(found.weights).all() and np.allclose(found.weights, longer.weights, rtol=0, atol=1e-9)
