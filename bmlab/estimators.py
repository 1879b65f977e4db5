"""Boltzmann machines as estimators of scikit-learn: fit, score, classify, transform.

    BoltzmannDensity      p(x) of binary features: every pair coupled, no hidden units
    BoltzmannClassifier   one such density per class, and Bayes' rule
    RestrictedBoltzmann   features of features: the probabilities of hidden units

Values above `binarize` count as on, all others as off: the default 0 suits 0/1, -1/+1 and booleans.
Rows may be sparse; they are made dense, at up to 32 bytes per entry.
The weights of a density maximise the sum over the patterns of sum_i log p(s_i | the rest), less alpha * sum_{i<j}
w_ij^2 (Besag 1975; the penalty is a normal prior).  log Z is a sum over the states if that is cheap, else it comes
from annealed importance sampling.  bmlab.sample() draws from their model_.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy

from .checking.arrays import first_largest, names_of
from .checking.budgets import check_memory
from .checking.calls import show_call
from .checking.validation import check_count, check_number, check_positive, is_sparse, not_installed
from .estimate import Bounded, warn_unless_converged
from .infer.exact.dispatch import exact
from .infer.exact.planning import exact_plan
from .infer.sampling.annealed_importance import ais
from .learn.contrastive_divergence import pcd
from .learn.observations import unique_patterns
from .learn.pseudolikelihood import log_conditionals, maximise_pseudolikelihood
from .machines import restricted
from .model import BoltzmannMachine
from .running.threads import one_thread, one_thread_only

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, DensityMixin, TransformerMixin
    from sklearn.base import ClassNamePrefixFeaturesOutMixin as NamedFeatures
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.parallel import Parallel, delayed
    from sklearn.utils.validation import check_is_fitted, validate_data
except ModuleNotFoundError as missing:
    raise not_installed("bmlab.estimators", "sklearn", "scikit-learn", missing) from None


__all__ = ["BoltzmannClassifier", "BoltzmannDensity", "RestrictedBoltzmann"]

EXACT_WORK, EXACT_BYTES = 1e10, 2**30  # operations (about a second) and memory up to which log Z is exact
AIS_CHAINS, AIS_TEMPERATURES = 200, 300  # of ais() for larger machines: 0.2 s for 64 pixels, with an error of 0.03
PSEUDO_PATTERNS = 2  # one pattern per sign: Laplace's rule of succession keeps the biases finite


def check_parameters(parameters: dict[str, Any]) -> None:
    """Raise ValueError for a parameter of an estimator that is out of range; joblib checks n_jobs."""
    for name, value in parameters.items():
        if name in ("alpha", "learning_rate"):
            check_positive(name, value)
        elif name in ("n_components", "batch_size", "n_iter"):
            check_count(name, value)
        elif name == "binarize" and value is not None:
            check_number(name, value, 0.0)
        elif name == "random_state":
            check_random_state(value)


class Binary:
    """Read X as -1/+1, and remember its two values."""

    binarize: float | None
    n_features_in_: int
    values_: np.ndarray
    score_samples: Callable[..., np.ndarray]
    get_params: Callable[[], dict[str, Any]]

    def _read(self, X, y: Any = "no_validation", *, learn: bool = False) -> Any:
        """Return -1/+1 (N, n), with y if it was given; `learn` forgets everything learned before."""
        if learn:
            check_parameters(self.get_params())
        names_of(X)  # refuses repeated names
        read: Any = validate_data(self, X, y, reset=learn, accept_sparse="csr")
        X, *rest = read if isinstance(read, tuple) else (read,)
        if is_sparse(X):
            n_rows, n = X.shape
            check_memory(
                f"X of {n_rows:,} rows and {n:,} features would be dense", 32.0 * n_rows * n, "pass fewer rows"
            )
            X = X.toarray()
        if learn:
            spins = (X < 0).any() and (self.binarize is None or np.isin(X, (-1, 1)).all())
            self.values_ = np.array([-1.0 if spins else 0.0, 1.0])
        if self.binarize is None:
            wrong = X[(self.values_[0] > X) | (X > 1)]
            if wrong.size:
                raise ValueError(
                    f"X must be from {self.values_[0]:g} to 1 if binarize=None, found {wrong[0]:g}; pass X / 255 "
                    "for grey pixels of 8 bits, or a threshold binarize="
                )
            s = X if self.values_[0] < 0 else 2.0 * X - 1
        else:
            s = np.where(self.binarize < X, 1.0, -1.0)
        return (s, *rest) if rest else s

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # pyright: ignore[reportAttributeAccessIssue]
        tags.input_tags.sparse = True
        return tags

    @show_call()
    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of score_samples(X), in nats per row."""
        return float(self.score_samples(X).mean())


def numpy_generator(random_state: Any) -> np.random.Generator:
    """Return a NumPy generator seeded by a random_state of scikit-learn."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1, size=4))


class BoltzmannDensity(Binary, DensityMixin, BaseEstimator):
    """Estimate the probability of binary patterns by a Boltzmann machine without hidden units.

    alpha           L2 penalty, for -1/+1 units, on all patterns together: more data, less shrinkage
    binarize        values above are on
    random_state    used in fit if log Z must be estimated

    model_                      the BoltzmannMachine; a feature that never varied has no weights there
    log_z_, log_z_stderr_       its normalisation: exact (stderr 0) up to about 30 features, else by annealing

    >>> from bmlab.estimators import BoltzmannDensity
    >>> density = BoltzmannDensity().fit([[0, 0], [1, 1], [1, 1], [0, 1]])
    >>> np.exp(density.score_samples([[0, 0], [0, 1], [1, 0], [1, 1]])).sum().round(9)
    np.float64(1.0)
    """

    @show_call()
    def __init__(self, alpha: float = 5.0, *, binarize: float = 0.0, random_state: Any = None):
        self.alpha, self.binarize, self.random_state = alpha, binarize, random_state

    @show_call()
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from X (n_samples, n_features) alone."""
        s = self._read(X, learn=True)
        self.model_ = penalised(s, self.alpha, tuple(getattr(self, "feature_names_in_", ())))
        log_z = normalisation(self.model_, numpy_generator(self.random_state))
        self.log_z_, self.log_z_stderr_ = log_z.value, log_z.stderr
        return self

    @show_call()
    def score_samples(self, X: Any) -> np.ndarray:
        """Return log p(x) of each row, in nats."""
        check_is_fitted(self)
        return -self.model_.energy(self._read(X)) - self.log_z_


def independent(sums: np.ndarray, count: int) -> np.ndarray:
    """Return the biases of uncoupled units, from their sums over `count` patterns, by Laplace's rule."""
    return np.arctanh(sums / (count + PSEUDO_PATTERNS))


def penalised(s: np.ndarray, alpha: float, names: tuple = ()) -> BoltzmannMachine:
    """Return the machine (T = 1) of rows s (N, n), -1/+1; constant units stay uncoupled."""
    sums, total = s.sum(0), len(s)
    biases, weights = independent(sums, total), np.zeros((len(sums), len(sums)))
    varies = np.abs(sums) < total
    if varies.any():
        with one_thread():
            every_pair = ~np.eye(varies.sum(), dtype=bool)
            fit = maximise_pseudolikelihood(*unique_patterns(s[:, varies]), alpha / total, every_pair)
        machine = warn_unless_converged(fit).model
        biases[varies], weights[np.ix_(varies, varies)] = machine.biases, machine.weights
    return BoltzmannMachine(weights, biases, names=names)


def normalisation(model: BoltzmannMachine, rng: np.random.Generator) -> Bounded:
    """Return log Z: exact if that is cheap, else by annealed importance sampling."""
    price = exact_plan(model, pairs="couplings")
    if price.work < EXACT_WORK and price.bytes < EXACT_BYTES:
        return exact(model, pairs="couplings").log_z
    return ais(model, rng=rng, n_chains=AIS_CHAINS, n_temperatures=AIS_TEMPERATURES).log_z


class BoltzmannClassifier(ClassifierMixin, Binary, BaseEstimator):
    """Classify binary patterns by p(x | class) of one BoltzmannDensity per class, times the frequency of the class.

    alpha, binarize, random_state       as in BoltzmannDensity
    n_jobs          number of classes to learn in parallel, as in scikit-learn; results do not depend on it

    classes_        the labels, sorted
    densities_      one BoltzmannDensity per class
    class_count_    rows of each class

    >>> from bmlab.estimators import BoltzmannClassifier
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]] * 5, ["alike", "alike", "unlike", "unlike"] * 5
    >>> BoltzmannClassifier().fit(X, y).predict([[1, 1], [0, 1]])  # neither feature is enough alone
    array(['alike', 'unlike'], dtype='<U6')
    """

    @show_call()
    def __init__(
        self, alpha: float = 5.0, *, binarize: float = 0.0, random_state: Any = None, n_jobs: int | None = None
    ):
        self.alpha, self.binarize, self.random_state, self.n_jobs = alpha, binarize, random_state, n_jobs

    @show_call()
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from X (n_samples, n_features) with labels y (n_samples,)."""
        s, y = self._read(X, y, learn=True)
        check_classification_targets(y)
        self.classes_, self.class_count_ = np.unique(y, return_counts=True)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=len(self.classes_))
        self.densities_: Any = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_one_class)(BoltzmannDensity(self.alpha, random_state=int(seed)), s[y == label])
            for label, seed in zip(self.classes_, seeds, strict=True)
        )
        return self

    @show_call()
    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row."""
        best = first_largest(self._joint(X), axis=1)
        return self.classes_[best]

    @show_call()
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return p(class | x), shape (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    @show_call()
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return log p(class | x), shape (n_samples, n_classes)."""
        return scipy.special.log_softmax(self._joint(X), axis=1)

    def _joint(self, X):
        """log p(x, class), up to a constant: (n_samples, n_classes)."""
        check_is_fitted(self)
        s = self._read(X)
        scores = [density.score_samples(s) for density in self.densities_]
        return np.column_stack(scores) + np.log(self.class_count_)


def _fit_one_class(density, s):
    """Return the density of one class, with one thread: joblib does not limit BLAS if its workers are threads."""
    with one_thread_only():
        return density.fit(s)


class RestrictedBoltzmann(Binary, NamedFeatures, TransformerMixin, BaseEstimator):
    """Turn binary features into the probabilities of hidden units, learned by persistent contrastive divergence.

    n_components    hidden units
    learning_rate   of the first step; in fit it falls to 0 at the last step.  Larger batches allow larger rates
    batch_size      rows per step, and number of chains
    n_iter          number of passes over the data in fit
    binarize        values above are on; None takes values as they are, between 0 and 1 or between -1 and 1, as the
                    expected values of units (grey pixels); score_samples then raises ValueError
    random_state    seed of the first weights, the order of the rows and the chains

    model_          the BoltzmannMachine, visible units first
    components_     its weights (n_components, n_features), for -1/+1 units: a quarter of the weights for 0/1 units

    >>> from bmlab.estimators import RestrictedBoltzmann
    >>> features = RestrictedBoltzmann(n_components=3, random_state=0).fit_transform(bmlab.states(4))
    >>> features.shape
    (16, 3)
    """

    @show_call()
    def __init__(
        self,
        n_components: int = 64,
        *,
        learning_rate: float = 0.015,
        batch_size: int = 10,
        n_iter: int = 20,
        binarize: float | None = 0.0,
        random_state: Any = None,
    ):
        self.n_components, self.learning_rate = n_components, learning_rate
        self.batch_size, self.n_iter = batch_size, n_iter
        self.binarize, self.random_state = binarize, random_state

    @show_call()
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from X (n_samples, n_features) alone."""
        s = self._read(X, learn=True)
        rng = numpy_generator(self.random_state)
        steps = -(-self.n_iter * len(s) // self.batch_size)
        self.model_ = pcd(
            self._first(s, rng),
            s,
            rng=rng,
            steps=steps,
            rate=np.linspace(self.learning_rate, 0, steps),
            batch=self.batch_size,
            n_chains=self.batch_size,
            centred=False,
        ).model
        return self

    @show_call()
    def transform(self, X: Any) -> np.ndarray:
        """Return p(hidden unit is on | x), shape (n_samples, n_components)."""
        check_is_fitted(self)
        s = self._read(X)
        return (1 + np.tanh(s @ self.components_.T + self.model_.biases[s.shape[1] :])) / 2

    @show_call()
    def score_samples(self, X: Any) -> np.ndarray:
        """Return sum_i log p(x_i | the other features) of each row: exact, and the same each time."""
        check_is_fitted(self)
        return log_conditionals(self.model_, self._read(X)).sum(1)

    @property
    def components_(self) -> np.ndarray:
        """The weights (n_components, n_features), for -1/+1 units."""
        return self.model_.weights[self.n_features_in_ :, : self.n_features_in_]

    @property
    def _n_features_out(self):
        return self.model_.n - self.n_features_in_

    def _first(self, s, rng):
        weights = rng.normal(scale=0.01, size=(s.shape[1], self.n_components))
        return restricted(weights, independent(s.sum(0), len(s)), np.zeros(self.n_components))
