"""Features of features: the hidden units of a restricted machine, p(h_j is on | x) = 1 / (1 + exp(-2 f_j))."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.base import ClassNamePrefixFeaturesOutMixin as NamedFeatures
from sklearn.utils.validation import check_is_fitted

from ..learn.contrastive_divergence import pcd
from ..learn.pseudolikelihood import log_conditionals
from ..machines import restricted
from .binary_features import Binary, generator
from .density import draw, independent, normalisation


class RestrictedBoltzmann(Binary, NamedFeatures, TransformerMixin, BaseEstimator):
    """Turn binary features into the probabilities of hidden units, learned by persistent contrastive divergence.

    n_components    hidden units
    learning_rate   of the first step; in fit it falls to 0 with the last.  Larger batches bear larger rates
    batch_size      rows a step, and chains beside them
    n_iter          how often fit sees the data
    binarize        values above are on
    random_state    decides about the first weights, the order of the rows and the chains

    model_          the BoltzmannMachine, visible units first
    components_     its weights (n_components, n_features), for -1/+1 units: a quarter of those for 0/1

    >>> from bmlab.estimators import RestrictedBoltzmann
    >>> features = RestrictedBoltzmann(n_components=3, random_state=0).fit_transform(bmlab.states(4))
    >>> features.shape
    (16, 3)
    """

    def __init__(
        self,
        n_components: int = 64,
        *,
        learning_rate: float = 0.05,
        batch_size: int = 10,
        n_iter: int = 20,
        binarize: float = 0.0,
        random_state: Any = None,
    ):
        self.n_components, self.learning_rate = n_components, learning_rate
        self.batch_size, self.n_iter = batch_size, n_iter
        self.binarize, self.random_state = binarize, random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from X (n_samples, n_features) alone."""
        s, rng = self._read(X, learn=True), generator(self.random_state)
        steps = -(-self.n_iter * len(s) // self.batch_size)
        self.model_ = pcd(
            self._first(s, rng),
            s,
            rng=rng,
            steps=steps,
            rate=np.linspace(self.learning_rate, 0, steps),
            batch=self.batch_size,
            n_chains=self.batch_size,
        ).model
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return p(hidden unit is on | x), shape (n_samples, n_components)."""
        check_is_fitted(self)
        s = self._read(X)
        return (1 + np.tanh(s @ self.components_.T + self.model_.biases[s.shape[1] :])) / 2

    def score_samples(self, X: Any) -> np.ndarray:
        """Return sum_i log p(x_i | the other features) of each row: exact, and the same each time."""
        check_is_fitted(self)
        return log_conditionals(self.model_, self._read(X)).sum(1)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw patterns (n_samples, n_features), 0/1 or -1/+1 as the data was; see BoltzmannDensity.sample."""
        check_is_fitted(self)
        rng = generator(random_state)
        runs = normalisation(self.model_, rng)[1]
        return self._written(draw(self.model_, n_samples, rng, runs)[:, : self.n_features_in_])

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
