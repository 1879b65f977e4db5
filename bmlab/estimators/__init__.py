"""Boltzmann machines as scikit-learn knows them: fit, score, sample, classify, transform.

    BoltzmannDensity      p(x) of binary features: every pair coupled, nothing hidden
    BoltzmannClassifier   one such density a class, and Bayes' rule
    RestrictedBoltzmann   features of features: the probabilities of hidden units

Input is 0/1, -1/+1 or boolean; as in BernoulliNB, what is above `binarize` counts as on, and all else as off, so that
one threshold, 0, serves all three.  Grey values need their own: binarize=0.5 for 0 to 1.  Sparse input is refused.
A `random_state` decides about everything random, and fitted models answer the same question with the same number.
"""

from .classifier import BoltzmannClassifier
from .density import BoltzmannDensity
from .restricted import RestrictedBoltzmann

__all__ = ["BoltzmannClassifier", "BoltzmannDensity", "RestrictedBoltzmann"]
