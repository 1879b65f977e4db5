"""What the estimators share: rows read as -1/+1 and written as they came, and scikit-learn's random_state."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from ..arrays import names_of

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn 1.5

    def validate_data(_estimator, /, X, y="no_validation", **options):  # pyright: ignore
        return _estimator._validate_data(X, y, **options)


class Binary:
    """Read X as -1/+1, and remember how its two values are written."""

    binarize: float
    n_features_in_: int
    values_: np.ndarray
    score_samples: Callable[..., np.ndarray]
    _validate_params: Callable[[], None]
    _parameter_constraints: ClassVar = {
        "alpha": [Interval(Real, 0, np.inf, closed="neither")],
        "learning_rate": [Interval(Real, 0, np.inf, closed="neither")],
        **{name: [Interval(Integral, 1, None, closed="left")] for name in ("n_components", "batch_size", "n_iter")},
        "binarize": [Real],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def _read(self, X, y: Any = "no_validation", *, learn: bool = False) -> Any:
        """Return -1/+1 (N, n), with y where it was given; to `learn` forgets all that was learned before."""
        if learn:
            self._validate_params()
        names_of(X)  # refuses a name that is there twice
        read = validate_data(self, X, y, reset=learn)
        X, *rest = read if isinstance(read, tuple) else (read,)
        if learn:
            spins = np.isin(X, (-1, 1)).all() and (X < 0).any()
            self.values_ = np.array([-1.0 if spins else 0.0, 1.0])
        s = np.where(self.binarize < X, 1.0, -1.0)
        return (s, *rest) if rest else s

    def _written(self, s):
        """Return the states s in the values of the data that was learned."""
        return self.values_[(s > 0).astype(int)]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of score_samples(X), in nats a row."""
        return float(self.score_samples(X).mean())


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator, decided by what scikit-learn calls a random_state."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1, size=4))
