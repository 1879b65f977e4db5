"""standard_errors: closed forms, rows without answers, and how often the truth is covered."""

from functools import partial

import numpy as np
import pytest
from scipy import stats
from selection import exhaustive
from test_ascent import blank

import bmlab

PAIRS = np.triu_indices(4, 1)


def machine(n, rng, mask=None):
    w = np.triu(rng.normal(scale=0.4, size=(n, n)), 1) * (1 if mask is None else mask)
    return bmlab.BoltzmannMachine(w + w.T, rng.normal(scale=0.3, size=n))


@pytest.mark.parametrize("temperature", [1.0, 1.7])
def test_of_one_unit_they_are_in_closed_form(temperature):
    """The mean m of N rows errs by sqrt((1 - m^2)/N), and b = T arctanh(m) by T / sqrt(N (1 - m^2)).

    A row pulls m by 1/N of what it is off, so that the sandwich of a pseudolikelihood has N - 1 in place of N.
    """
    data = np.repeat([[1], [-1]], [30, 10], axis=0)
    right = temperature / np.sqrt(40 * (1 - 0.5**2))
    fit = bmlab.maximize(blank(1, temperature), data)
    assert bmlab.standard_errors(fit, data).biases == pytest.approx(right, rel=1e-6)
    if temperature == 1:
        fit = bmlab.pseudolikelihood(data)
        assert bmlab.standard_errors(fit, data, of="pseudolikelihood").biases == pytest.approx(
            right * 40 / 39, rel=1e-6
        )


@pytest.mark.parametrize("penalty", [0, 0.1])
def test_of_one_pair_they_are_in_closed_form(penalty):
    """Of two units that agree by c = <s s'>: tanh w + penalty w = c, and the slope of a row is s s' - tanh w.

    Its variance is the machine's, v = 1 - tanh^2 w, or that of the rows, 1 - c^2, which a pseudolikelihood takes; there
    a row pulls its own two fields, by the weight and a bias, so that its share left is 1 - (v/(v + penalty) + 1)/N.
    """
    data = np.repeat([[1, 1], [-1, -1], [1, -1], [-1, 1]], [3, 3, 1, 1], axis=0)
    for learn, of in ((partial(bmlab.maximize, blank(2)), "likelihood"), (bmlab.pseudolikelihood, "pseudolikelihood")):
        fit = learn(data, penalty=penalty)
        curvature = 1 - np.tanh(fit.model.weights[0, 1]) ** 2
        variance = curvature if of == "likelihood" else 1 - 0.5**2
        found = bmlab.standard_errors(fit, data, of=of, penalty=penalty).weights[0, 1]
        left = 1 if of == "likelihood" else 1 - (curvature / (curvature + penalty) + 1) / 8
        assert found == pytest.approx(np.sqrt(variance / 8) / (curvature + penalty) / left, rel=1e-4)


def by_pseudolikelihood(n_rows, seed):
    """Six units, 21 parameters, with a prior of width 1: the weights and their errors by `n_rows` rows."""
    prior = {"penalty": 1 / n_rows, "bias_penalty": 1 / n_rows}
    model, pairs = bmlab.sherrington_kirkpatrick(6, rng=1, scale=0.7), np.triu_indices(6, 1)
    data = bmlab.sample(model, n_rows, rng=np.random.default_rng([seed, n_rows]))
    fit = bmlab.pseudolikelihood(data, **prior)
    return fit.model.weights[pairs], bmlab.standard_errors(fit, data, of="pseudolikelihood", **prior).weights[pairs]


@pytest.mark.parametrize("n_rows", [6, 10, 20, 40, 100])
def test_of_few_rows_they_are_what_weights_spread_by(n_rows):
    """The root of the mean of squares, over 60 tables; without the correction it was a third of it at 6 rows.

    A variance of 60 is known to sqrt(2/59); the 15 weights of a table count as four, and 4 of these are allowed.
    """
    weights, errors = np.swapaxes([by_pseudolikelihood(n_rows, seed) for seed in range(60)], 0, 1)
    ratio = (errors**2).mean() / weights.var(0, ddof=1).mean()
    assert abs(ratio - 1) < 4 * np.sqrt(2 / 59 / 4)
    covered = (np.abs(weights - weights.mean(0)) < 2 * errors).mean()
    assert covered > 0.8


@pytest.mark.parametrize("n_rows", [10, 20, 40, 100])
@pytest.mark.parametrize(("n", "scale", "seed"), [(4, 2.0, 1), (4, 2.0, 2), (4, 1.0, 2), (6, 0.7, 1)])
def test_student_s_intervals_cover_where_few_rows_contradict_the_others(n, scale, seed, n_rows):
    """Two errors of four strongly tied units covered 0.76 to 0.91 of the weights.

    Of 60 tables of 6 weights or more, which count as two: 95 % less four errors of that share.  A table that is
    refused has no interval.
    """
    model, pairs, prior = bmlab.sherrington_kirkpatrick(n, rng=seed, scale=scale), np.triu_indices(n, 1), 1 / n_rows
    weights, reach = [], []
    for k in range(60):
        data = bmlab.sample(model, n_rows, rng=np.random.default_rng([k, n_rows]))
        fit = bmlab.pseudolikelihood(data, penalty=prior, bias_penalty=prior)
        try:
            found = bmlab.standard_errors(fit, data, of="pseudolikelihood", penalty=prior, bias_penalty=prior)
        except ValueError:
            continue
        weights.append(fit.model.weights[pairs])
        reach.append(found.weights[pairs] * stats.t.ppf(0.975, found.freedom[: len(pairs[0])]))
    covered = (np.abs(weights - np.mean(weights, axis=0)) < reach).mean()
    assert covered > 0.95 - 4 * np.sqrt(0.95 * 0.05 / (2 * 60))


def test_of_many_rows_the_freedom_is_large_and_that_of_one_unit_is_in_closed_form():
    """A unit that is on in k of N rows: u is 1 - m in k, -(1 + m) in others, corrected alike in all of a kind."""
    data = np.repeat([[1], [-1]], [30, 10], axis=0)
    found = bmlab.standard_errors(bmlab.pseudolikelihood(data), data, of="pseudolikelihood")
    u = np.repeat([0.5, -1.5], [30, 10])
    assert found.freedom == pytest.approx([(u**2).sum() ** 2 / (u**4).sum() - 1], rel=1e-6)
    assert bmlab.standard_errors(bmlab.maximize(blank(1), data), data).freedom == [np.inf]
    twice = np.tile(data, (2, 1))
    more = bmlab.standard_errors(bmlab.pseudolikelihood(twice), twice, of="pseudolikelihood").freedom
    assert more + 1 == pytest.approx(2 * (found.freedom + 1))


def test_too_few_rows_are_refused_with_their_number():
    rng = np.random.default_rng(0)
    data = bmlab.sample(machine(4, rng), 5, rng=rng)
    prior = {"penalty": 0.2, "bias_penalty": 0.2}
    with pytest.raises(ValueError, match=r"data must have 6 rows or more to give errors .* found 5; pass more rows"):
        bmlab.standard_errors(bmlab.pseudolikelihood(data, **prior), data, of="pseudolikelihood", **prior)
    alike = np.tile([[1, 1, -1], [-1, -1, 1]], (5, 1))
    fit = bmlab.pseudolikelihood(alike, **prior)
    with pytest.raises(ValueError, match="found 10, which all agree about the weight of 0 and 1; pass more rows"):
        bmlab.standard_errors(fit, alike, of="pseudolikelihood", **prior)


def test_the_covariance_is_that_of_all_parameters():
    """On its diagonal the squares of the errors; of two independent halves of the units nothing between them."""
    rng = np.random.default_rng(4)
    data = bmlab.sample(machine(4, rng), 300, rng=rng)
    twice = np.hstack([np.repeat(data, 300, axis=0), np.tile(data, (300, 1))])
    apart = np.kron(np.eye(2), np.ones((4, 4))) * (1 - np.eye(8)) > 0
    fits = {"likelihood": bmlab.maximize(blank(8), twice, couplings=apart)}
    fits["pseudolikelihood"] = bmlab.pseudolikelihood(twice, couplings=apart)
    for of, fit in fits.items():
        found = bmlab.standard_errors(fit, twice, of=of, couplings=apart)
        i, j = found.pairs.T
        errors = np.append(found.weights[i, j], found.biases)
        assert np.sqrt(found.covariance.diagonal()) == pytest.approx(errors) and (i < j).all()
        first = np.append(i, np.arange(8)) < 4
        between, scale = found.covariance[first][:, ~first], np.outer(errors[first], errors[~first])
        assert abs(between / scale).max() < 1e-4


def test_they_are_the_fluctuations_of_the_machine():
    """Of whole rows the information is the covariance of all s_i and s_i s_j, over T^2, by the sum over all states."""
    rng = np.random.default_rng(0)
    data = bmlab.sample(machine(4, rng), 300, rng=rng)
    fit = bmlab.maximize(blank(4, 1.3), data)
    s, p = bmlab.states(4), bmlab.probabilities(fit.model)
    terms = np.hstack([s[:, PAIRS[0]] * s[:, PAIRS[1]], s]) - (p @ np.hstack([s[:, PAIRS[0]] * s[:, PAIRS[1]], s]))
    right = 1.3 * np.sqrt(np.diag(np.linalg.inv(300 * (terms.T * p) @ terms)))
    found = bmlab.standard_errors(fit, data)
    assert np.append(found.weights[PAIRS], found.biases) == pytest.approx(right, rel=1e-5)


@pytest.mark.parametrize("of", ["likelihood", "pseudolikelihood"])
def test_errors_are_in_units_of_the_temperature(of):
    """The same distribution at T = 1.7 has weights and biases, and so errors, 1.7 times as large."""
    data = bmlab.sample(machine(4, np.random.default_rng(1)), 200, rng=np.random.default_rng(1))
    fit = bmlab.maximize(blank(4), data) if of == "likelihood" else bmlab.pseudolikelihood(data)
    hot = bmlab.BoltzmannMachine(1.7 * fit.model.weights, 1.7 * fit.model.biases, 1.7)
    one, other = (bmlab.standard_errors(model, data, of=of) for model in (fit.model, hot))
    assert np.allclose(1.7 * one.weights, other.weights, rtol=1e-5, equal_nan=True)
    assert np.allclose(1.7 * one.biases, other.biases, rtol=1e-5)


def test_rows_without_an_answer_say_nothing():
    """As many empty rows again change no error; half of the rows twice as many times the square."""
    rng = np.random.default_rng(1)
    data = bmlab.sample(machine(4, rng), 200, rng=rng)
    fit = bmlab.maximize(blank(4), data)
    one = bmlab.standard_errors(fit, data)
    with_empty = bmlab.standard_errors(fit, np.vstack([data, np.full((200, 4), np.nan)]))
    twice = bmlab.standard_errors(fit, np.vstack([data, data]))
    assert np.allclose(one.biases, with_empty.biases, rtol=1e-6)
    assert np.allclose(one.weights, twice.weights * np.sqrt(2), rtol=1e-6, equal_nan=True)
    holes = np.where(rng.random(data.shape) < 0.3, np.nan, data)
    fewer = bmlab.standard_errors(bmlab.maximize(blank(4), holes), holes)
    assert (fewer.weights[PAIRS] > one.weights[PAIRS]).all()


def test_only_weights_that_are_there_have_errors():
    ring = bmlab.ising(5, coupling=0.3)
    data = bmlab.sample(ring, 500, rng=np.random.default_rng(2))
    there = ring.weights.toarray() != 0
    for model, options in ((ring, {}), (blank(5), {"couplings": there})):
        found = bmlab.standard_errors(bmlab.maximize(model, data, **options), data)
        assert (np.isfinite(found.weights) == there).all() and np.isfinite(found.biases).all()
    fit = bmlab.pseudolikelihood(data, couplings=there)
    assert (np.isfinite(bmlab.standard_errors(fit, data, of="pseudolikelihood").weights) == there).all()


def test_a_weight_that_may_exist_and_is_0_has_an_error_too():
    """Of a machine without weights and biases, at rows of all states, each mean and each pair errs by 1/sqrt(N).

    A row pulls the field of a unit, what is left of all being d, by (d_i + sum over its neighbours (d_i + d_j)/2)/N.
    """
    data = np.tile(bmlab.states(3), (5, 1))
    may = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], bool)
    left = np.linalg.inv(np.eye(3) - (np.diag(1 + may.sum(0) / 2) + may / 2) / len(data)).sum(1)
    for of, wider in (("likelihood", np.ones(3)), ("pseudolikelihood", left)):
        found = bmlab.standard_errors(blank(3), data, couplings=may, of=of)
        right = np.add.outer(wider, wider)[may] / 2 / np.sqrt(len(data))
        assert found.weights[may] == pytest.approx(right, rel=1e-5)
        assert found.biases == pytest.approx(wider / np.sqrt(len(data)), rel=1e-5)
        assert np.isnan(found.weights[~may]).all()


def test_what_is_not_the_top_is_refused_by_name():
    rng = np.random.default_rng(3)
    data = bmlab.sample(machine(4, rng), 200, rng=rng)
    names = bmlab.BoltzmannMachine(np.zeros((4, 4)), np.zeros(4), names=("Ada", "Bob", "Cem", "Dee"))
    penalised, other = bmlab.maximize(names, data, penalty=0.1), bmlab.pseudolikelihood(data)
    for model, options in ((penalised, {}), (other, {}), (penalised, {"penalty": 0.1, "of": "pseudolikelihood"})):
        with pytest.raises(ValueError, match=r"model must be at the top .* standard errors from it; pass of="):
            bmlab.standard_errors(model, data, **options)
    with pytest.raises(ValueError, match=r"of '(Ada|Bob|Cem|Dee)'.*is .* standard errors"):
        bmlab.standard_errors(penalised, data)
    with pytest.raises(ValueError, match="model must be at the top"):
        bmlab.standard_errors(bmlab.pseudolikelihood(data, l1=0.05), data, of="pseudolikelihood")
    same = (
        bmlab.standard_errors(penalised, data, penalty=0.1),
        bmlab.standard_errors(other, data, of="pseudolikelihood"),
    )
    assert (same[0].weights[PAIRS] < same[1].weights[PAIRS]).all()  # a penalty makes them smaller, and biased


def test_what_the_penalty_alone_determines_has_no_error():
    """Rows of one unit say nothing of its weight to a hidden one, which only the penalty keeps at 0."""
    rows, penalties = [[1], [-1], [1]], {"penalty": 0.1, "bias_penalty": 0.1}
    found = bmlab.maximize(bmlab.BoltzmannMachine([[0, 0.5], [0.5, 0]], [0.1, 0]), rows, **penalties)
    with pytest.raises(ValueError, match="data do not determine the weight of 0 and 1, the penalty alone does"):
        bmlab.standard_errors(found, rows, **penalties)


def coverage(trials, n_rows, learn, of, mask=None, penalty=0.0):
    """Return the share of weights and biases that 1.96 errors cover in each trial, and the mean square of z."""
    covered, squares = [], []
    for seed in range(trials):
        rng = np.random.default_rng([seed, n_rows])
        model = machine(5, rng, mask)
        data = bmlab.sample(model, n_rows, rng=rng)
        fit = learn(data)
        errors = bmlab.standard_errors(fit, data, of=of, penalty=penalty)
        there = np.triu(np.isfinite(errors.weights))
        off = np.append((fit.model.weights - model.weights)[there], fit.model.biases - model.biases)
        z = off / np.append(errors.weights[there], errors.biases)
        covered.append(np.mean(np.abs(z) < 1.96))
        squares.append(np.mean(z**2))
    return np.array(covered), np.array(squares)


def by_maximize(data, **options):
    return bmlab.maximize(blank(5), data, **options)


RING = bmlab.ising(5).dense_weights != 0
LEARNERS = {
    "maximize": (by_maximize, "likelihood", None),
    "maximize, ring": (partial(by_maximize, couplings=RING), "likelihood", RING),
    "maximize, sparse": (lambda data: bmlab.maximize(bmlab.ising(5, coupling=0.1), data), "likelihood", RING),
    "pseudolikelihood": (bmlab.pseudolikelihood, "pseudolikelihood", None),
    "pseudolikelihood, ring": (partial(bmlab.pseudolikelihood, couplings=RING), "pseudolikelihood", RING),
}


def law_coverage(name, trials):
    """95 in 100 of the truths are within 1.96 errors, as far as N trials tell (4 of their errors, and 1/N)."""
    learn, of, mask = LEARNERS[name]
    covered, squares = coverage(trials, 500, learn, of, mask)
    for values, right, slack in ((covered, 0.95, 0.005), (squares, 1.0, 0.03)):
        assert abs(values.mean() - right) < 4 * values.std(ddof=1) / np.sqrt(trials) + slack, (name, values.mean())


@pytest.mark.parametrize("name", ["maximize", "pseudolikelihood, ring"])
def test_they_cover_the_truth(name):
    law_coverage(name, 20)


@exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_they_cover_the_truth_of_many_machines(name):
    law_coverage(name, 40 if name == "maximize, sparse" else 200)


if __name__ == "__main__":
    print("200 machines of 5 units, 500 rows        covered by 1.96 errors     mean of z^2")
    for name, (learn, of, mask) in LEARNERS.items():
        found = coverage(200, 500, learn, of, mask)
        print(f"{name:36}", *(f"{x.mean():10.3f} ± {x.std(ddof=1) / np.sqrt(200):.3f}" for x in found))
    for penalty in (0.002, 0.02, 0.1):
        found = coverage(200, 500, partial(by_maximize, penalty=penalty), "likelihood", penalty=penalty)
        print(
            f"maximize, penalty {penalty:<18}",
            *(f"{x.mean():10.3f} ± {x.std(ddof=1) / np.sqrt(200):.3f}" for x in found),
        )
