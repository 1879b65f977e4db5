"""One density a class, and Bayes' rule:  p(class | x)  is proportional to  p(x | class) p(class)."""

from typing import Any, Self

import numpy as np
import scipy
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from ..threads import one_thread_only
from .binary_features import Binary
from .density import BoltzmannDensity


class BoltzmannClassifier(ClassifierMixin, Binary, BaseEstimator):
    """Classify binary patterns by p(x | class) of one BoltzmannDensity a class, times how frequent the class is.

    alpha, binarize, random_state       as in BoltzmannDensity
    n_jobs          classes that are learned side by side, as scikit-learn means it; the same to the bit for any number

    classes_        the labels, sorted
    densities_      one BoltzmannDensity a class
    class_count_    rows of each class

    >>> from bmlab.estimators import BoltzmannClassifier
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]] * 5, ["alike", "alike", "unlike", "unlike"] * 5
    >>> BoltzmannClassifier().fit(X, y).predict([[1, 1], [0, 1]])  # neither feature alone tells
    array(['alike', 'unlike'], dtype='<U6')
    """

    def __init__(
        self, alpha: float = 5.0, *, binarize: float = 0.0, random_state: Any = None, n_jobs: int | None = None
    ):
        self.alpha, self.binarize, self.random_state, self.n_jobs = alpha, binarize, random_state, n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from X (n_samples, n_features) with labels y (n_samples,)."""
        s, y = self._read(X, y, learn=True)
        check_classification_targets(y)
        self.classes_, self.class_count_ = np.unique(y, return_counts=True)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=len(self.classes_))
        self.densities_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_learned)(BoltzmannDensity(self.alpha, random_state=int(seed)), s[y == label])
            for label, seed in zip(self.classes_, seeds, strict=True)
        )
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row."""
        best = self._joint(X).argmax(1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return p(class | x), shape (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return log p(class | x), shape (n_samples, n_classes)."""
        return scipy.special.log_softmax(self._joint(X), axis=1)

    def _joint(self, X):
        """log p(x, class), up to a constant: (n_samples, n_classes)."""
        check_is_fitted(self)
        s = self._read(X)
        scores = [density.score_samples(s) for density in self.densities_]
        return np.column_stack(scores) + np.log(self.class_count_)


def _learned(density, s):
    """Return the density of one class, by one thread: joblib leaves BLAS alone where threads are its workers."""
    with one_thread_only():
        return density.fit(s)
