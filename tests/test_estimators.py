"""The scikit-learn shells: its own checks with none expected to fail, and the numbers against sums over all states."""

import re

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import bmlab
from bmlab import estimators
from bmlab.estimators import BoltzmannClassifier, BoltzmannDensity, RestrictedBoltzmann

ALL = [BoltzmannDensity, BoltzmannClassifier, RestrictedBoltzmann]
STDERRS = 6  # passed by chance once in 5e8 comparisons
each = pytest.mark.parametrize("kind", ALL)


@parametrize_with_checks([kind() for kind in ALL])
def test_scikit_learn(estimator, check):
    check(estimator)


def patterns(n=5, rows=300, seed=0):
    """Samples of a machine, 0/1, and labels that depend on three of the units."""
    s = bmlab.sample(
        bmlab.sherrington_kirkpatrick(n, rng=np.random.default_rng(seed), scale=1.5),
        rows,
        rng=np.random.default_rng(seed + 1),
    )
    return (s > 0).astype(int), np.where(s[:, :3].sum(1) > 0, "yes", "no")


def fitted(kind, X, y, **options):
    return kind(random_state=0, **options).fit(X, y)


def answers(estimator, X):
    """Everything that is said about each row, as columns."""
    names = ("score_samples", "predict_log_proba", "transform")
    return np.column_stack([getattr(estimator, name)(X) for name in names if hasattr(estimator, name)])


@pytest.fixture
def by_annealing(monkeypatch):
    """As if exact sums were too expensive."""
    monkeypatch.setattr(estimators, "EXACT_WORK", 0)


# Input and output


@each
@pytest.mark.parametrize("write", [lambda x: 2 * x - 1, lambda x: x.astype(bool), lambda x: x.astype("float32")])
def test_bits_spins_and_booleans_are_one(kind, write):
    X, y = patterns()
    estimator = fitted(kind, write(X), y)
    assert (answers(fitted(kind, X, y), X) == answers(estimator, write(X))).all()
    assert estimator.values_.tolist() == [write(X).min(), 1]


@each
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_matrix])
@pytest.mark.parametrize("binarize", [0.0, 0.5, -0.5, None])
def test_sparse_rows_are_rows(kind, form, binarize):
    """Entries that are not stored are 0, and so are stored zeros."""
    if binarize is None and kind is not RestrictedBoltzmann:
        return
    X, y = patterns()
    X = X * np.random.default_rng(0).choice([0, 0.4, 1], X.shape)
    dense, of_sparse = fitted(kind, X, y, binarize=binarize), fitted(kind, form(X), y, binarize=binarize)
    if binarize is None:
        assert (of_sparse.transform(form(X)) == dense.transform(X)).all()
    else:
        assert (answers(of_sparse, form(X)) == answers(dense, X)).all()


@each
def test_a_threshold_for_grey_values(kind):
    X, y = patterns()
    grey = 0.8 * X + 0.1
    assert (answers(fitted(kind, grey, y, binarize=0.5), grey) == answers(fitted(kind, X, y), X)).all()


# Density


def test_the_density_sums_to_one():
    X, _ = patterns()
    density = BoltzmannDensity().fit(X)
    assert abs(np.exp(density.score_samples(bmlab.states(5))).sum() - 1) < 1e-12
    assert density.log_z_stderr_ == 0
    assert density.score(X) == pytest.approx(density.score_samples(X).mean(), rel=1e-14)
    assert np.abs(BoltzmannDensity(1e9).fit(X).model_.weights).max() < 1e-6 < np.abs(density.model_.weights).max()


def test_the_estimated_density_sums_to_one_within_its_error(by_annealing):
    X, _ = patterns()
    density = BoltzmannDensity(random_state=0).fit(X)
    total = np.exp(density.score_samples(bmlab.states(5))).sum()
    assert 0 < density.log_z_stderr_ < 0.1
    assert abs(np.log(total)) < STDERRS * density.log_z_stderr_


def test_features_that_never_vary_follow_the_rule_of_laplace():
    X, _ = patterns(4, rows=18)
    X = np.column_stack([X[:, :2], np.ones(18), X[:, 2:]])
    density = BoltzmannDensity().fit(X)
    p = np.exp(density.score_samples(bmlab.states(5)))
    assert abs(p[bmlab.states(5)[:, 2] > 0].sum() - 19 / 20) < 1e-12 and not density.model_.weights[2].any()
    rest = BoltzmannDensity().fit(np.delete(X, 2, axis=1)).model_
    assert np.abs(np.delete(density.model_.biases, 2) - rest.biases).max() < 1e-12


@pytest.mark.parametrize("alpha", [1.0, 20.0])
def test_the_weights_of_a_density_are_where_the_penalised_pseudolikelihood_is_level(alpha):
    """The sum over the patterns of sum_i log p(s_i | the rest), less alpha * sum_{i<j} w_ij^2, of 300 rows."""
    X, _ = patterns()
    model, step = BoltzmannDensity(alpha).fit(X).model_, 1e-3

    def height(weights):
        score = bmlab.pseudo_log_likelihood(bmlab.BoltzmannMachine(weights, model.biases), 2 * X - 1)
        return len(X) * score - alpha * (weights**2).sum() / 2

    for i, j in ((0, 1), (2, 4)):
        change = np.zeros((5, 5))
        change[i, j] = change[j, i] = step
        slope = (height(model.weights + change) - height(model.weights - change)) / (2 * step)
        assert abs(slope) < 0.01 * 2 * alpha * abs(model.weights[i, j])


@pytest.mark.parametrize("limit", ["EXACT_WORK", "EXACT_BYTES"])
def test_log_z_is_annealed_beyond_a_limit_of_work_or_of_memory(limit, monkeypatch):
    monkeypatch.setattr(estimators, limit, 1)
    assert BoltzmannDensity(random_state=0).fit(patterns()[0]).log_z_stderr_ > 0


# Classifier

# Classifier


def test_bayes_rule():
    X, y = patterns()
    classifier = BoltzmannClassifier().fit(X, y)
    joint = np.array(
        [np.exp(BoltzmannDensity().fit(X[y == k]).score_samples(X)) * (y == k).mean() for k in ("no", "yes")]
    )
    assert np.abs(classifier.predict_proba(X) - (joint / joint.sum(0)).T).max() < 1e-12
    assert (classifier.predict(X) == np.array(["no", "yes"])[joint.argmax(0)]).all()


def test_classes_that_are_learned_side_by_side_are_the_same_to_the_bit():
    X, y = patterns()
    alone = BoltzmannClassifier(random_state=0).fit(X, y)
    with joblib.parallel_config(backend="threading"):
        both = BoltzmannClassifier(random_state=0, n_jobs=2).fit(X, y)
    assert np.array_equal(both.predict_proba(X), alone.predict_proba(X))


def test_each_class_has_random_numbers_of_its_own():
    X = np.arange(160).reshape(80, 2) % 2
    classifier = BoltzmannClassifier(random_state=0).fit(X, np.arange(80) % 40)
    assert len({density.random_state for density in classifier.densities_}) == 40


# Restricted


def test_its_parameters_are_those_of_the_learner(monkeypatch):
    """n_iter times through the rows, batch_size rows and chains a step, a rate that falls to 0."""
    asked = {}
    monkeypatch.setattr(
        estimators, "pcd", lambda first, s, **options: asked.update(options) or bmlab.pcd(first, s, **options)
    )
    RestrictedBoltzmann(2, learning_rate=0.1, batch_size=7, n_iter=3, random_state=0).fit(patterns()[0])
    assert asked["steps"] == len(asked["rate"]) == -(-3 * 300 // 7) and (asked["batch"], asked["n_chains"]) == (7, 7)
    assert np.allclose(asked["rate"], np.linspace(0.1, 0, asked["steps"]))


# Restricted


def test_features_are_probabilities_of_hidden_units():
    X, _ = patterns()
    shell = RestrictedBoltzmann(3, random_state=0).fit(X)
    for x, row in zip(X[:8], shell.transform(X[:8]), strict=True):
        clamped = shell.model_.clamp(slice(0, 5), 2 * x - 1)
        assert np.abs(row - (1 + bmlab.exact(clamped).mean) / 2).max() < 1e-12
    assert shell.components_.shape == (3, 5)
    assert abs(shell.score(X) - bmlab.pseudo_log_likelihood(shell.model_, 2 * X - 1)) < 1e-12


def test_hidden_units_learn_most_of_what_pairs_do():
    """Of the pseudolikelihood that a machine of all pairs gains over independent units, nine tenths."""
    X, _ = patterns()
    start, learned = (RestrictedBoltzmann(3, learning_rate=r, random_state=0).fit(X).score(X) for r in (1e-9, 0.015))
    assert learned - start > 0.9 * (bmlab.pseudo_log_likelihood(BoltzmannDensity().fit(X).model_, 2 * X - 1) - start)


def test_grey_rows_have_no_score():
    X, _ = load_digits(return_X_y=True)
    shell = RestrictedBoltzmann(4, binarize=None, n_iter=1, random_state=0).fit(X / 16)
    with pytest.raises(ValueError, match="-1/\\+1"):
        shell.score(X / 16)


@each
def test_who_asks_before_it_has_learned_is_told_so(kind):
    """Each of its questions, not the first of them alone, in scikit-learn's own words."""
    for name in ("score_samples", "score", "predict", "predict_proba", "predict_log_proba", "transform"):
        if hasattr(kind, name):
            asked = (patterns()[0], patterns()[1])[: 1 + (name == "score")]
            with pytest.raises(NotFittedError, match=f"This {kind.__name__} instance is not fitted yet"):
                getattr(kind(), name)(*asked)


@pytest.mark.parametrize("least", [0, -1])
def test_grey_values_out_of_range_are_refused_by_fit_and_by_transform(least):
    grey = np.linspace(least, 1, 60).reshape(20, 3)
    shell = RestrictedBoltzmann(2, binarize=None, n_iter=1, random_state=0)
    with pytest.raises(ValueError, match=r"X must be from .* to 1 if binarize=None, found .*; pass X / 255"):
        shell.fit(255 * grey)
    shell.fit(grey)
    for wrong in (255 * grey, grey - 0.5):
        with pytest.raises(ValueError, match="to 1 if binarize=None"):
            shell.transform(wrong)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"alpha": 0}, "alpha must be positive and finite, found 0; try alpha="),
        ({"binarize": "grey"}, "binarize must be a finite number, found 'grey'; try binarize=0"),
        ({"n_iter": 0}, "n_iter must be at least 1, found 0; try n_iter="),
        ({"random_state": "seed"}, "'seed' cannot be used to seed"),
    ],
)
@each
def test_a_parameter_out_of_range_is_refused_when_the_estimator_learns(kind, wrong, sentence):
    if wrong.keys() <= kind().get_params().keys():
        with pytest.raises(ValueError, match=sentence):
            kind(**wrong).fit(*patterns())


# What nobody sets


def test_what_nobody_sets_is_as_it_says():
    density = {"alpha": 5.0, "binarize": 0.0, "random_state": None}
    restricted = {"n_components": 64, "learning_rate": 0.015, "batch_size": 10, "n_iter": 20} | density
    assert BoltzmannDensity().get_params() == density
    assert BoltzmannClassifier().get_params() == density | {"n_jobs": None}
    assert RestrictedBoltzmann().get_params() == {name: restricted[name] for name in restricted if name != "alpha"}
    assert (estimators.EXACT_WORK, estimators.EXACT_BYTES) == (10**10, 2**30)


def test_a_restricted_machine_is_that_of_pcd_from_small_weights_and_laplaces_biases():
    X, _ = patterns()
    s, options = 2 * X - 1.0, {"batch": 7, "n_chains": 7, "steps": 86, "centred": False}
    seeds = np.random.RandomState(5).randint(2**31 - 1, size=4)
    rng = np.random.default_rng(seeds)
    first = bmlab.restricted(rng.normal(scale=0.01, size=(5, 3)), np.arctanh(s.sum(0) / 302), np.zeros(3))
    found = RestrictedBoltzmann(3, learning_rate=0.1, batch_size=7, n_iter=2, random_state=5).fit(X).model_
    expected = bmlab.pcd(first, s, rng=rng, rate=np.linspace(0.1, 0, 86), **options).model
    assert np.allclose(found.weights, expected.weights, atol=1e-9) and np.allclose(found.biases, expected.biases)


def test_an_annealed_log_z_is_that_of_200_chains_at_300_temperatures(by_annealing):
    X, _ = patterns()
    density = BoltzmannDensity(random_state=5).fit(X)
    rng = np.random.default_rng(np.random.RandomState(5).randint(2**31 - 1, size=4))
    log_z = bmlab.ais(density.model_, rng=rng, n_chains=200, n_temperatures=300).log_z
    assert (density.log_z_, density.log_z_stderr_) == pytest.approx((log_z.value, log_z.stderr), rel=1e-9)


@pytest.mark.parametrize("least", [0, -1])
def test_expected_values_are_read_between_their_ends(least):
    """From 0 to 1, or from -1 to 1 if one is below 0; what is at an end is read, and what is beyond it is refused."""
    reader = RestrictedBoltzmann(2, binarize=None, n_iter=1, random_state=0)
    X = np.array([[least, 1.0], [0.5, 0.25], [1.0, 0.0]])
    assert reader.fit(X).values_.tolist() == [least, 1.0]
    for wrong in (least - 0.125, 1.125):
        words = f"X must be from {least} to 1 if binarize=None, found {wrong}; pass X / 255 for grey pixels of 8 bits"
        with pytest.raises(ValueError, match=f"^{re.escape(words)}, or a threshold binarize=$"):
            reader.transform([[wrong, 0.5]])


def test_what_is_above_the_threshold_is_on_and_what_is_at_it_is_off():
    density = BoltzmannDensity(binarize=0.5).fit([[0.5, 0.6], [0.4, 0.7], [0.6, 0.5]])
    rows = density.score_samples([[0.5, 0.5], [0.0, 0.5], [0.51, 0.5], [1.0, 0.5]])
    assert rows[0] == rows[1] != rows[2] == rows[3]
    assert density.score([[0.5, 0.5], [1.0, 0.5]]) == pytest.approx((rows[0] + rows[3]) / 2)
