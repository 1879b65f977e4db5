"""Boltzmann machines as scikit-learn knows them: fit, score, sample, classify, transform.

    BoltzmannDensity      p(x) of binary features: every pair coupled, nothing hidden
    BoltzmannClassifier   one such density a class, and Bayes' rule
    RestrictedBoltzmann   features of features: the probabilities of hidden units

Input is 0/1, -1/+1 or boolean; as in BernoulliNB, what is above `binarize` counts as on, and all else as off, so that
one threshold, 0, serves all three.  Grey values need their own: binarize=0.5 for 0 to 1.  Sparse input is refused.
A `random_state` decides about everything random, and fitted models answer the same question with the same number.
"""

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, DensityMixin, TransformerMixin
from sklearn.base import ClassNamePrefixFeaturesOutMixin as NamedFeatures
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .learn.contrastive_divergence import Climb, pcd
from .learn.densities import draw, independent, normalisation, penalised
from .learn.pseudo_score import log_conditionals
from .makers import restricted

try:
    from sklearn.utils.validation import validate_data
except ImportError:             # scikit-learn 1.5
    def validate_data(estimator, X, y="no_validation", **options):
        return estimator._validate_data(X, y, **options)


class _Binary:
    """Read X as -1/+1, and remember how its two values are written."""

    def _read(self, X, y="no_validation", *, reset=False):
        """Return -1/+1 (N, n), with y where it was given; `reset` learns the features' number, names and values."""
        read = validate_data(self, X, y, reset=reset)
        X, *rest = read if isinstance(read, tuple) else (read,)
        if reset:
            self.values_ = np.array([-1.0 if np.isin(X, (-1, 1)).all() and (X < 0).any() else 0.0, 1.0])
        s = np.where(self.binarize < X, 1.0, -1.0)
        return (s, *rest) if rest else s

    def _written(self, s):
        """Return the states s in the values of the data that was learned."""
        return self.values_[(s > 0).astype(int)]

    def score(self, X, y=None):
        """Return the mean of score_samples(X), in nats a row."""
        return float(self.score_samples(X).mean())


class BoltzmannDensity(_Binary, DensityMixin, BaseEstimator):
    """Estimate the probability of binary patterns by a Boltzmann machine without hidden units.

    alpha           L2 penalty: the weights maximise the sum over the patterns of sum_i log p(x_i | the others), less
                    alpha * sum_{i<j} w_ij^2 (in -1/+1 units): more data, less shrinkage
    binarize        values above are on
    random_state    used in fit where log Z must be estimated

    model_                      the BoltzmannMachine; a feature that never varied has no weights there
    log_z_, log_z_stderr_       its normalisation: exact (stderr 0) up to 30 features or so, else by annealing runs
    patterns_, counts_          the distinct patterns seen, -1/+1, and how often, for partial_fit
    """

    def __init__(self, alpha=5.0, *, binarize=0.0, random_state=None):
        self.alpha, self.binarize, self.random_state = alpha, binarize, random_state

    def fit(self, X, y=None):
        """Learn from X (n_samples, n_features) alone."""
        s = self._read(X, reset=True)
        return self._learn(s, np.ones(len(s), dtype=int))

    def partial_fit(self, X, y=None):
        """Learn from X and all patterns so far: the same answer, and nearly the same cost, as fit on all of them."""
        if not hasattr(self, "model_"):
            return self.fit(X)
        s = self._read(X)
        return self._learn(np.vstack([self.patterns_, s]), np.append(self.counts_, np.ones(len(s), dtype=int)))

    def score_samples(self, X):
        """Return log p(x) of each row, in nats."""
        check_is_fitted(self)
        return -self.model_.energy(self._read(X)) - self.log_z_

    def sample(self, n_samples=1, random_state=None):
        """Draw patterns (n_samples, n_features), 0/1 or -1/+1 as the data was.

        Independent samples of p(x) itself where log Z is exact; else they come from annealing runs, chosen by weight.
        """
        check_is_fitted(self)
        return self._written(draw(self.model_, n_samples, _generator(random_state), self._runs))

    def _learn(self, s, counts):
        if not 0 < self.alpha < np.inf:
            raise ValueError(f"alpha must be positive and finite, found {self.alpha}; try alpha=1")
        patterns, which = np.unique(s.astype(np.int8), axis=0, return_inverse=True)
        self.patterns_, self.counts_ = patterns, np.bincount(which.ravel(), weights=counts).astype(int)
        self.model_ = penalised(patterns, self.counts_, self.alpha)
        log_z, self._runs = normalisation(self.model_, _generator(self.random_state))
        self.log_z_, self.log_z_stderr_ = log_z.value, log_z.stderr
        return self


class BoltzmannClassifier(ClassifierMixin, _Binary, BaseEstimator):
    """Classify binary patterns by p(x | class) of one BoltzmannDensity a class, times how frequent the class is.

    alpha, binarize, random_state       as in BoltzmannDensity

    classes_        the labels, sorted
    densities_      one BoltzmannDensity a class; None where no row of the class has been seen yet (partial_fit)
    class_count_    rows seen of each class
    """

    def __init__(self, alpha=5.0, *, binarize=0.0, random_state=None):
        self.alpha, self.binarize, self.random_state = alpha, binarize, random_state

    def fit(self, X, y):
        """Learn from X (n_samples, n_features) with labels y (n_samples,)."""
        s, y = self._read(X, y, reset=True)
        check_classification_targets(y)
        self._begin(np.unique(y))
        return self._learn(s, y)

    def partial_fit(self, X, y, classes=None):
        """Learn from more rows; the first call needs all labels that will come, `classes`."""
        first = not hasattr(self, "classes_")
        s, y = self._read(X, y, reset=first)
        check_classification_targets(y)
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit; try classes=np.unique(y)")
        if first:
            self._begin(np.unique(classes))
        unknown = np.setdiff1d(y if classes is None else np.append(y, classes), self.classes_)
        if len(unknown):
            raise ValueError(f"label {unknown[0]} is not among {self.classes_}; pass all classes on the first call")
        return self._learn(s, y)

    def predict(self, X):
        """Return the most probable class of each row."""
        best = self._joint(X).argmax(1)
        return self.classes_[best]

    def predict_proba(self, X):
        """Return p(class | x), shape (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X):
        """Return log p(class | x), shape (n_samples, n_classes)."""
        return log_softmax(self._joint(X), axis=1)

    def _begin(self, classes):
        self.classes_, self.class_count_ = classes, np.zeros(len(classes), dtype=int)
        self.densities_ = [None] * len(classes)
        self._seeds = check_random_state(self.random_state).randint(2**31 - 1, size=len(classes))

    def _learn(self, s, y):
        for k, label in enumerate(self.classes_):
            own = s[y == label]
            if len(own):
                density = self.densities_[k] or BoltzmannDensity(self.alpha, random_state=int(self._seeds[k]))
                self.densities_[k] = density.partial_fit(own)
                self.class_count_[k] += len(own)
        return self

    def _joint(self, X):
        """log p(x, class), up to a constant: (n_samples, n_classes); -inf for a class that was never seen."""
        check_is_fitted(self)
        s = self._read(X)
        joint = np.full((len(s), len(self.classes_)), -np.inf)
        for k in np.flatnonzero(self.class_count_):
            joint[:, k] = self.densities_[k].score_samples(s) + np.log(self.class_count_[k])
        return joint


class RestrictedBoltzmann(_Binary, NamedFeatures, TransformerMixin, BaseEstimator):
    """Turn binary features into the probabilities of hidden units, learned by persistent contrastive divergence.

    n_components    hidden units
    learning_rate   of the first step; in fit it falls to 0 with the last.  Larger batches bear larger rates
    batch_size      rows a step, and chains beside them
    n_iter          how often fit sees the data
    binarize        values above are on
    random_state    decides about the first weights, the order of the rows and the chains

    model_          the BoltzmannMachine, visible units first
    components_     its weights (n_components, n_features), for -1/+1 units: a quarter of those for 0/1
    """

    def __init__(self, n_components=64, *, learning_rate=0.05, batch_size=10, n_iter=20, binarize=0.0,
                 random_state=None):
        self.n_components, self.learning_rate = n_components, learning_rate
        self.batch_size, self.n_iter = batch_size, n_iter
        self.binarize, self.random_state = binarize, random_state

    def fit(self, X, y=None):
        """Learn from X (n_samples, n_features) alone."""
        s, rng = self._read(X, reset=True), _generator(self.random_state)
        steps = -(-self.n_iter * len(s) // self.batch_size)
        self._climb = None
        self.model_ = pcd(self._first(s, rng), s, rng=rng, steps=steps, rate=np.linspace(self.learning_rate, 0, steps),
                          batch=self.batch_size, n_chains=self.batch_size)
        return self

    def partial_fit(self, X, y=None):
        """Take one step, with X as its batch, from where the machine and its chains are."""
        first = not hasattr(self, "model_")
        s = self._read(X, reset=first)
        if first or self._climb is None:
            rng = _generator(self.random_state)
            self._climb = Climb(self._first(s, rng) if first else self.model_, s, self.batch_size, rng)
        self._climb.step(self._climb.centred(s), self.learning_rate)
        self.model_ = self._climb.machine(self._climb.p)
        return self

    def transform(self, X):
        """Return p(hidden unit is on | x), shape (n_samples, n_components)."""
        check_is_fitted(self)
        s = self._read(X)
        return (1 + np.tanh(s @ self.components_.T + self.model_.biases[s.shape[1]:])) / 2

    def score_samples(self, X):
        """Return sum_i log p(x_i | the other features) of each row: exact, and the same each time."""
        check_is_fitted(self)
        return log_conditionals(self.model_, self._read(X)).sum(1)

    def sample(self, n_samples=1, random_state=None):
        """Draw patterns (n_samples, n_features), 0/1 or -1/+1 as the data was; see BoltzmannDensity.sample."""
        check_is_fitted(self)
        rng = _generator(random_state)
        runs = normalisation(self.model_, rng)[1]
        return self._written(draw(self.model_, n_samples, rng, runs)[:, :self.n_features_in_])

    @property
    def components_(self):
        """The weights (n_components, n_features), for -1/+1 units."""
        return self.model_.weights[self.n_features_in_:, :self.n_features_in_]

    @property
    def _n_features_out(self):
        return self.model_.n - self.n_features_in_

    def _first(self, s, rng):
        weights = rng.normal(scale=0.01, size=(s.shape[1], self.n_components))
        return restricted(weights, independent(s.sum(0), len(s)), np.zeros(self.n_components))


def _generator(random_state):
    """A NumPy generator, decided by what scikit-learn calls a random_state."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1, size=4))
