"""pseudolikelihood: its slope, the true machine from endless data, and maxima at infinity found out."""

import warnings

import numpy as np
import pytest
import structure
from scipy.optimize import linprog
from selection import exhaustive

import bmlab
from bmlab import plain
from bmlab.learn.pseudolikelihood import pseudolikelihood


def off_diagonal(n):
    return ~np.eye(n, dtype=bool)


def directions(mask):
    """Each parameter in turn, w_ij and w_ji as one: (parameters, n + 1, n)."""
    n, found = len(mask), []
    for i, j in [*np.argwhere(np.triu(mask)), *((n, j) for j in range(n))]:
        one = np.zeros((n + 1, n))
        one[i, j] = 1
        found.append(one if i == n else np.vstack([one[:n] + one[:n].T, one[n:]]))
    return np.array(found)


PENALTIES = [{}, {"penalty": 0.3}, {"penalty": 0.03, "bias_penalty": 0.2}]
PENALTIES += [{"l1": 0.05}, {"l1": 0.05, "penalty": 0.02, "bias_penalty": 0.1}]


@pytest.mark.parametrize("options", PENALTIES, ids=str)
@pytest.mark.parametrize("lattice", [False, True], ids=["all pairs", "a lattice"])
def test_at_the_maximum_the_slope_of_plain_is_that_of_the_penalties(options, lattice):
    """dPL/dw = 2 penalty w + 2 l1 sign(w) of a weight that is there, to a slope of 1e-6, dPL/db = bias_penalty b.

    Of a weight that is 0 the slope is at most 2 l1; pairs without a coupling keep theirs.
    """
    penalty, bias_penalty, l1 = (options.get(name, 0.0) for name in ("penalty", "bias_penalty", "l1"))
    true = bmlab.ising((2, 4), coupling=0.3, field=0.2, periodic=False)
    data, pairs = bmlab.sample(true, 300, rng=np.random.default_rng(1)), off_diagonal(8)
    coupled = true.dense_weights != 0 if lattice else pairs
    found = pseudolikelihood(data, couplings=coupled if lattice else None, **options).model
    d_weights, d_biases = plain.pseudo_gradient(found, data)
    there, rest = found.weights != 0, d_weights - 2 * penalty * found.weights
    assert abs(rest - 2 * l1 * np.sign(found.weights))[there].max() < 1.1e-6
    assert abs(rest[coupled & ~there]).max(initial=0) < 2 * l1 + 1.1e-6
    assert lattice or there[pairs].all() == (l1 == 0)
    assert not there[~coupled].any() and (not lattice or abs(rest[pairs & ~coupled]).max() > 1e-3)
    assert abs(d_biases - bias_penalty * found.biases).max() < 1.1e-6


def has_maximum(s):
    """Whether no change of the machine raises some log p(s_i | the rest) and lowers none, by linear programming."""
    ways = directions(off_diagonal(s.shape[1]))
    gains = np.array([(s * (s @ e[:-1] + e[-1])).ravel() for e in ways]).T
    return -linprog(-gains.sum(0), A_ub=-gains, b_ub=np.zeros(len(gains)), bounds=(-1, 1)).fun < 1e-6


def says_that_it_has(s):
    """Neither refusal nor warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", bmlab.NotConverged)
        try:
            return bool(pseudolikelihood(s))
        except (ValueError, bmlab.NotConverged):
            return False


def test_maxima_at_infinity_are_found_out():
    """Data are refused or warned of if linear programming finds them unbounded: about two thirds of these."""
    verdicts = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        data = bmlab.sample(bmlab.sherrington_kirkpatrick(4, rng=rng), 30, rng=rng)
        verdicts.append(says_that_it_has(data))
        assert verdicts[-1] == has_maximum(data)
    assert 8 < sum(verdicts) < 32


def majority():
    """Three units in all their states, and a fourth that goes with most of them: every pair has all combinations."""
    s = bmlab.states(3)
    return np.hstack([s, np.sign(s.sum(1, keepdims=True))])


def test_units_that_can_be_told_without_error_are_warned_of_and_the_advice_works():
    with pytest.warns(bmlab.NotConverged, match=r"maximum is at infinity; pass penalty=1/len\(data\)") as caught:
        found = pseudolikelihood(majority())
    assert not found.converged and found.message == str(caught[0].message) and caught[0].filename == __file__
    assert (pseudolikelihood(majority(), penalty=0.01).model.weights[3, :3] > 0.5).all()
    assert pseudolikelihood([[1, 1], [1, -1], [-1, 1]], penalty=0.01).converged


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        (
            [[1, 1], [1, -1]],
            {},
            r"unit 0 is constant in the data, .* infinite; leave .* or pass bias_penalty=0\.001 beside a penalty$",
        ),
        ([[1, 1], [1, -1]], {"penalty": 1.0}, "unit 0 is constant"),
        (
            [[1, 1], [1, -1], [-1, 1]],
            {},
            r"0 and 1 are never -1 and -1 together .*; pass penalty=1/len\(data\), or leave",
        ),
        ([[1, 1, -1], [1, -1, 1], [-1, 1, 1], [-1, -1, 1]], {}, "units 0 and 2 are never -1 and -1"),
    ],
)
def test_what_has_no_maximum_is_refused_with_advice(data, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        pseudolikelihood(data, **options)


# A ridge on biases


def maximize(data, **options):
    n = data.shape[1]
    return bmlab.maximize(bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n), 1.0), data, **options)


every_learner = pytest.mark.parametrize("learn", [maximize, pseudolikelihood])


@every_learner
def test_a_rare_answer_does_not_end_a_bootstrap(learn):
    """A symptom in 3 of 300 rows is in none of exp(-3) = 5 of 100 resamples: refused, and with a ridge learnt."""
    rng = np.random.default_rng(0)
    data = np.hstack([bmlab.sample(bmlab.toy(), 300, rng=rng), -np.ones((300, 1))])
    data[:3, 3] = 1
    resampled = [data[rng.integers(300, size=300)] for _ in range(60)]
    without = [s for s in resampled if (s[:, 3] == -1).all()]
    assert without
    for s in without:
        with pytest.raises(ValueError, match=r"unit 3 is constant .* pass bias_penalty=0\.001"):
            learn(s, penalty=0.01)
        assert learn(s, penalty=0.01, bias_penalty=1e-3).converged


@every_learner
@pytest.mark.parametrize("values", [[1, 1, 1, -1], [1, 1, 1, 1]], ids=["varies", "constant"])
def test_a_ridge_on_the_bias_of_one_unit_is_where_its_mean_says(learn, values):
    """m - tanh b = bias_penalty * b for independent units, to the tolerance of 1e-6 of the slope."""
    b = learn(np.array([values]).T, bias_penalty=0.1).model.biases[0]
    assert abs(np.mean(values) - np.tanh(b) - 0.1 * b) < 1.1e-6


def test_the_ridges_of_the_likelihood_are_the_slope_that_is_left():
    """At the top the climbed function is level, over T, but for biases that do not learn."""
    data = bmlab.sample(bmlab.toy(), 80, rng=np.random.default_rng(2))
    start, learnt = bmlab.toy().at(1.7), np.array([True, True, False])
    found = bmlab.maximize(start, data, penalty=0.03, bias_penalty=0.2, biases=learnt).model
    d_weights, d_biases = bmlab.gradient(found, bmlab.clamped(found, data), bmlab.exact(found))
    assert abs(d_weights - 0.03 * found.weights)[np.triu_indices(3, 1)].max() < 1e-6
    assert abs(d_biases - 0.2 * found.biases)[learnt].max() < 1e-6 and found.biases[2] == start.biases[2]


# An L1 penalty, and a penalty that is chosen


def test_an_l1_penalty_of_one_pair_is_in_closed_form():
    """Of two units without biases that agree by c = <s s'>: w = arctanh(c - l1), and 0 from l1 = c on."""
    data = np.repeat([[1, 1], [-1, -1], [1, -1], [-1, 1]], [3, 3, 1, 1], axis=0)
    for l1 in (0.1, 0.3, 0.49):
        assert pseudolikelihood(data, l1=l1).model.weights[0, 1] == pytest.approx(np.arctanh(0.5 - l1), abs=1e-5)
    blank = pseudolikelihood(data, l1=0.5)
    assert blank.converged and not blank.model.has_couplings


def test_the_strongest_of_a_path_leaves_no_weight_and_the_next_some():
    """Without weights PL/2 rises along w_ij by the covariance; so the first weight appears at the largest one."""
    data = bmlab.sample(bmlab.sherrington_kirkpatrick(5, rng=0), 400, rng=np.random.default_rng(0))
    path = bmlab.penalty_path(data, rng=0, of="l1", n_folds=2)
    covariance = np.cov(data.T, ddof=0)[np.triu_indices(5, 1)]
    assert path.penalties[0] == pytest.approx(abs(covariance).max()) and (np.diff(path.penalties) < 0).all()
    assert [fit.model.has_couplings for fit in path.fits[:2]] == [False, True]


def test_the_first_l1_of_a_path_looks_at_the_pairs_that_may_be_coupled():
    data = bmlab.sample(bmlab.sherrington_kirkpatrick(5, rng=0), 400, rng=np.random.default_rng(0))
    covariance = np.abs(np.cov(data.T, ddof=0) * (1 - np.eye(5)))
    may = (covariance > 0) & (covariance < covariance.max())
    path = bmlab.penalty_path(data, rng=0, of="l1", n_folds=0, couplings=may)
    assert path.penalties[0] == pytest.approx(covariance[may].max())
    assert [fit.model.has_couplings for fit in path.fits[:2]] == [False, True] and path.fits[0].converged


def test_with_as_many_folds_as_rows_each_is_held_out_alone():
    """Its score under the machine that the others teach, the mean of these, and the error of that mean."""
    data = bmlab.sample(bmlab.toy(), 12, rng=np.random.default_rng(1))
    path = bmlab.penalty_path(data, rng=0, n_folds=12, penalties=[0.1])
    learnt = [pseudolikelihood(np.delete(data, k, 0), penalty=0.1).model for k in range(12)]
    score = [bmlab.pseudo_log_likelihood(model, row[None]) for model, row in zip(learnt, data, strict=True)]
    assert path.held_out[0] == pytest.approx(np.mean(score))
    assert path.held_out_stderr[0] == pytest.approx(np.std(score, ddof=1) / np.sqrt(12))


def test_the_penalties_that_are_tried_are_normal_priors_of_width_three_hundredths_to_3():
    """A penalty is 1 / (N width^2), whatever the number of rows."""
    for n_rows in (50, 200):
        data = bmlab.sample(bmlab.toy(), n_rows, rng=np.random.default_rng(0))
        widths = 1 / np.sqrt(n_rows * bmlab.penalty_path(data, rng=0, n_folds=0).penalties)
        assert widths[[0, -1]] == pytest.approx([0.03, 3]) and (np.diff(widths) > 0).all()


def test_what_a_path_says_of_held_out_rows_is_so():
    """Two folds by hand; and EBIC as IsingFit adds it up over the units."""
    data = bmlab.sample(bmlab.toy(), 60, rng=np.random.default_rng(0))
    path = bmlab.penalty_path(data, rng=1, penalties=[0.3, 0.01], n_folds=2)
    order = np.random.default_rng(1).permutation(60)
    one, other = data[order[::2]], data[order[1::2]]
    for k, penalty in enumerate((0.3, 0.01)):
        of_halves = [
            bmlab.pseudo_log_likelihood(pseudolikelihood(learn, penalty=penalty).model, hold)
            for learn, hold in ((one, other), (other, one))
        ]
        assert path.held_out[k] == pytest.approx(np.mean(of_halves), abs=1e-7)
        again = pseudolikelihood(data, penalty=1 / (9 * 60)).model
        score = -2 * 60 * bmlab.pseudo_log_likelihood(again, data)
        assert path.ebic[k] == pytest.approx(score + 6 * np.log(60) + 4 * 0.25 * 3 * np.log(2))
    assert path.best is path.fits[path.held_out.argmax()]
    by_ebic = bmlab.penalty_path(data, rng=1, penalties=[0.3, 0.01], n_folds=0)
    assert np.isnan(by_ebic.held_out).all() and (by_ebic.ebic == path.ebic).all()
    assert by_ebic.best is by_ebic.fits[path.ebic.argmin()]


def test_the_chosen_penalty_is_the_prior_of_the_truth():
    """Of weights of width 0.2: among priors of width 0.02, 0.2 and 2 held-out rows choose the second."""
    chosen = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        w = np.triu(rng.normal(scale=0.2, size=(10, 10)), 1)
        data = bmlab.sample(bmlab.BoltzmannMachine(w + w.T, rng.normal(scale=0.3, size=10)), 200, rng=rng)
        path = bmlab.penalty_path(data, rng=rng, penalties=1 / (200 * np.array([0.02, 0.2, 2]) ** 2))
        chosen.append(path.held_out.argmax())
    assert chosen.count(1) >= 3


def test_the_least_ebic_finds_the_couplings_of_a_ring():
    """Rings of six with weights of 0.4 of either sign, 2000 rows: six pairs of 15, nearly always these and no other."""
    exactly = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        ring = 0.4 * bmlab.ising(6).dense_weights * np.sign(np.outer(*2 * [rng.normal(size=6)]))
        data = bmlab.sample(bmlab.BoltzmannMachine(ring, rng.uniform(-0.3, 0.3, 6)), 2000, rng=rng)
        path = bmlab.penalty_path(data, rng=rng, of="l1", n_folds=2, penalties=np.geomspace(0.3, 0.01, 8))
        exactly += ((path.fits[path.ebic.argmin()].model.weights != 0) == (ring != 0)).all()
    assert exactly >= 3


@exhaustive
@pytest.mark.slow
def test_graphs_are_recovered_as_well_as_by_a_logistic_regression_a_unit():
    trials = [structure.trial(9, 1000, seed) for seed in range(4)]
    ours, theirs = (np.array([found[f"{name}, EBIC"] for found in trials])[:, 2] for name in ("l1", "scikit-learn"))
    stderr = np.std(ours - theirs, ddof=1) / np.sqrt(4)
    assert np.mean(ours - theirs) > -3 * max(stderr, 0.01) and ours.mean() > 0.9
