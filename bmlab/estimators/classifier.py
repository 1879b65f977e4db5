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
    densities_      one BoltzmannDensity a class; None where no row of the class has been seen yet (partial_fit)
    class_count_    rows seen of each class

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
        s, y = self._read(X, y, first=True)
        check_classification_targets(y)
        self._begin(np.unique(y))
        return self._learn(s, y)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from more rows; the first call needs all labels that will come, `classes`."""
        first = not hasattr(self, "classes_")
        s, y = self._read(X, y, first=first)
        check_classification_targets(y)
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit; try classes=np.unique(y)")
        if first:
            self._begin(np.unique(classes))
        unknown = np.setdiff1d(y if classes is None else np.append(y, classes), self.classes_)
        if len(unknown):
            raise ValueError(f"label {unknown[0]} is not among {self.classes_}; pass all classes on the first call")
        return self._learn(s, y)

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

    def _begin(self, classes):
        self.classes_, self.class_count_ = classes, np.zeros(len(classes), dtype=int)
        self.densities_: list[BoltzmannDensity | None] = [None] * len(classes)
        self._seeds = check_random_state(self.random_state).randint(2**31 - 1, size=len(classes))

    def _learn(self, s, y):
        count = np.array([(y == label).sum() for label in self.classes_])
        seen = np.flatnonzero(count)
        begun = [self.densities_[k] or BoltzmannDensity(self.alpha, random_state=int(self._seeds[k])) for k in seen]
        learned = Parallel(n_jobs=self.n_jobs)(
            delayed(_learned)(density, s[y == self.classes_[k]]) for k, density in zip(seen, begun, strict=True)
        )
        for k, density in zip(seen, learned, strict=True):
            self.densities_[k] = density
        self.class_count_ += count
        return self

    def _joint(self, X):
        """log p(x, class), up to a constant: (n_samples, n_classes); -inf for a class that was never seen."""
        check_is_fitted(self)
        s = self._read(X)
        joint = np.full((len(s), len(self.classes_)), -np.inf)
        for k, density in enumerate(self.densities_):
            if density is not None:
                joint[:, k] = density.score_samples(s) + np.log(self.class_count_[k])
        return joint


def _learned(density, s):
    """Return the density of one class, by one thread: joblib leaves BLAS alone where threads are its workers."""
    with one_thread_only():
        return density.partial_fit(s)
