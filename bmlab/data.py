"""Real data as -1/+1 arrays, each with its source. Nothing is downloaded.

Every function answers a named tuple whose arrays have shape (N, units), float64, one pattern a row:

    digits()   1,797 handwritten digits of 8 x 8 pixels     64 units
    zoo()      101 animals and what is true of them         15 units
"""
import csv
from importlib.resources import files
from typing import NamedTuple

import numpy as np

DIGITS_SOURCE = (
    "E. Alpaydin and C. Kaynak (1998), Optical Recognition of Handwritten Digits, "
    "UCI Machine Learning Repository, CC BY 4.0; the copy in scikit-learn (load_digits)"
)
ZOO_SOURCE = "R. Forsyth (1990), Zoo, UCI Machine Learning Repository, CC BY 4.0"


class Digits(NamedTuple):
    """Handwritten digits; reshape a row to (8, 8) to see it."""

    train: np.ndarray           # (1000, 64), -1 paper, +1 ink
    train_labels: np.ndarray    # (1000,), 0 to 9
    test: np.ndarray            # (797, 64)
    test_labels: np.ndarray     # (797,)
    source: str


class Zoo(NamedTuple):
    """Animals and their yes/no properties."""

    data: np.ndarray            # (101, 15), +1 yes, -1 no
    names: tuple[str, ...]      # one per row; two of them are "frog", one of which is venomous
    properties: tuple[str, ...]  # one per column
    classes: tuple[str, ...]    # one per row: mammal, bird, fish, ...
    source: str


def digits(threshold: int = 7) -> Digits:
    """Return the 8 x 8 handwritten digits of scikit-learn, black and white, split once and for all.

    A pixel of the original runs from 0 to 16 and becomes +1 where it is above `threshold`, else -1: a lower
    threshold draws with a thicker pen. The first 1000 images train and the last 797 test, in the order of
    the file and not shuffled.

    Raises ModuleNotFoundError, with the command to type, where scikit-learn is missing.
    Source: Alpaydin and Kaynak (1998), see `Digits.source`.
    """
    images, labels = _load_digits()(return_X_y=True)
    pixels = np.where(images > threshold, 1.0, -1.0)
    return Digits(pixels[:1000], labels[:1000], pixels[1000:], labels[1000:], DIGITS_SOURCE)


def _load_digits():
    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError as missing:
        message = 'digits() reads its images from scikit-learn, which is missing; pip install "bmlab[data]"'
        raise ModuleNotFoundError(message, name=missing.name) from None
    return load_digits


def zoo() -> Zoo:
    """Return the Zoo table: 101 animals (rows) and 15 yes/no properties (columns), +1 for yes.

    The number of legs, the only column that is not yes/no, is left out. Several animals share one row
    of properties: 101 animals, 53 different patterns.

    Source: Forsyth (1990), see `Zoo.source`; the table ships with the package as zoo.csv.
    """
    with (files("bmlab") / "zoo.csv").open(encoding="utf-8") as table:
        header, *rows = csv.reader(line for line in table if not line.startswith("#"))
    names, *answers, classes = zip(*rows)
    data = 2.0 * np.array(answers, dtype=float).T - 1.0
    return Zoo(data, names, tuple(header[1:-1]), classes, ZOO_SOURCE)
