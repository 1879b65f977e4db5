"""Tables of yes and no: two that ship with the package, and a table of your own made fit to be learnt.

A column with two different answers becomes a unit, +1 or -1; what was not answered is nan, a hidden unit of its row.
"""

import csv
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .arrays import spins
from .checks import in_words

MISSING = {"", "?", "-", "na", "n/a", "nan", "none", "null", "<na>", "nat"}
YES = {"y", "yes", "true", "t", "1", "1.0", "+1", "on", "+", "agree"}
NO = {"n", "no", "false", "f", "0", "0.0", "-1", "-1.0", "off", "disagree"}


class Zoo(NamedTuple):
    """Animals and their yes/no properties."""

    data: np.ndarray  # (101, 15), +1 yes, -1 no
    names: tuple[str, ...]  # one per row; two of them are "frog", one of which is venomous
    properties: tuple[str, ...]  # one per column: the names of the units of a machine
    classes: tuple[str, ...]  # one per row: mammal, bird, fish, ...
    source: str = "R. Forsyth (1990), Zoo, UCI Machine Learning Repository, CC BY 4.0"


class Votes(NamedTuple):
    """Members of the US House of Representatives, and how they voted in 1984."""

    data: np.ndarray  # (435, 16), +1 yea, -1 nay, nan where a member took neither side
    names: tuple[str, ...]  # one per column: the names of the units of a machine
    parties: tuple[str, ...]  # one per row: democrat or republican
    source: str = (
        "J. Schlimmer (1987), Congressional Voting Records, UCI Machine Learning Repository, CC BY 4.0, "
        "doi 10.24432/C5C01P"
    )


class YesNo(NamedTuple):
    """A table as a machine can learn it."""

    data: Any  # a DataFrame of the kind that was passed: -1/+1, and nan where missing
    yes: dict[str, Any]  # column of data -> the answer that is +1
    left_out: dict[Any, str]  # other column -> why, and what to do about it


def zoo() -> Zoo:
    """Return the Zoo table: 101 animals (rows) and 15 yes/no properties (columns), +1 for yes; 53 different patterns.

    The number of legs, the only column that is not yes/no, is left out.

    >>> animals = bmlab.data.zoo()
    >>> animals.data.shape, animals.names[0]
    ((101, 15), 'aardvark')
    """
    header, rows = _shipped("zoo.csv")
    names, *answers, classes = zip(*rows, strict=True)
    return Zoo(spins(np.array(answers, dtype=float).T), names, tuple(header[1:-1]), classes)


def votes() -> Votes:
    """Return how the 435 members of the US House of Representatives voted on 16 key votes of 1984, and their parties.

    Voted for, paired for and announced for are +1, the same against -1; present, absent or unknown is nan, 392 times.
    Source: Congressional Quarterly Almanac XL (1985), donated by Jeff Schlimmer (1987) to the UCI Machine Learning
    Repository, CC BY 4.0, doi 10.24432/C5C01P; the names of the votes are shortened.

    >>> found = bmlab.data.votes()
    >>> found.data.shape, np.isnan(found.data).sum()
    ((435, 16), np.int64(392))
    """
    header, rows = _shipped("house_votes_1984.csv")
    parties, *answers = zip(*rows, strict=True)
    side = {"y": 1.0, "n": -1.0, "?": np.nan}
    return Votes(np.array([[side[a] for a in column] for column in answers]).T, tuple(header[1:]), parties)


def _shipped(name: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a CSV file of the package."""
    from importlib.resources import files  # only here: it takes as long to load as much of the package

    with (files("bmlab") / name).open(encoding="utf-8") as table:
        header, *rows = csv.reader(line for line in table if not line.startswith("#"))
    return header, rows


def yes_no(frame: Any) -> YesNo:
    """Return the two-valued columns of a DataFrame as -1/+1, nan where missing, and say why others are left out.

    +1 is yes, y, true, 1 or the like; of two other words the later in the alphabet, of two numbers the larger, and the
    column is then called "party = republican".  Empty cells and ?, NA, n/a, none, null are missing.  Case and spaces
    around a word do not count.
    Raises ValueError where `frame` is no DataFrame, where two columns have the same name, and where no column is left.

    >>> import pandas
    >>> found = bmlab.data.yes_no(pandas.DataFrame({"rain": ["yes", "no", None], "day": [1, 2, 3]}))
    >>> found.data["rain"].tolist(), list(found.left_out)
    ([1.0, -1.0, nan], ['day'])
    """
    names = _columns(frame)
    kept, yes, left_out = {}, {}, {}
    for name in names:
        answers = [_plain(value) for value in frame[name]]
        known = sorted({a for a in answers if a is not None}, key=_order)
        if len(known) != 2:
            left_out[name] = _why(name, known, next((v for v in frame[name] if _plain(v) is not None), None))
            continue
        plus = next((a for a in known if str(a) in YES), known[1]) if _is_yes_no(known) else known[1]
        title = str(name) if _is_yes_no(known) else f"{name} = {plus}"
        kept[title] = [np.nan if a is None else 1.0 if a == plus else -1.0 for a in answers]
        yes[title] = plus
    if not kept:
        reasons = "; ".join(left_out.values()) or "it is empty; try pandas.read_csv('answers.csv')"
        raise ValueError(f"frame has no column with two answers: {reasons}")
    table = np.array(list(kept.values())).T
    return YesNo(type(frame)(table, index=frame.index, columns=list(kept)), yes, left_out)


def _columns(frame: Any) -> list:
    """Return the names of the columns of a DataFrame, each of which there is once."""
    names = getattr(frame, "columns", None)
    if not isinstance(names, Iterable) or not hasattr(frame, "index"):
        raise ValueError(f"frame must be a DataFrame, found {in_words(frame)}; try pandas.read_csv('answers.csv')")
    names = list(names)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(
            f"frame has {names.count(twice[0])} columns called {twice[0]!r}; rename them by frame.columns = [...]"
        )
    return names


def _plain(value: Any) -> Any:
    """Return a number, or a word in small letters; None where it is missing."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, float, np.number)):
        return None if value != value else float(value)
    word = str(value).strip().lower()
    return None if word in MISSING else word


def _order(answer: Any) -> tuple:
    return isinstance(answer, str), answer


def _is_yes_no(known: list) -> bool:
    one, other = map(str, known)
    return (one in NO and other in YES) or (one in YES and other in NO)


def _why(name: Any, known: list, first: Any) -> str:
    """Say why a column with no, one or many answers is left out."""
    if not known:
        return f"{name!r} has no answers; leave it out"
    if len(known) == 1:
        return f"{name!r} is always {known[0]!r}, so its bias would be infinite; leave it out"
    if isinstance(known[0], float) and isinstance(known[-1], float):
        middle = known[len(known) // 2]
        say = f"cut it in two, as in frame[{name!r}] >= {middle:g}"
    else:
        say = f"ask one thing of it, as in frame[{name!r}] == {str(first)!r}"
    return f"{name!r} has {len(known)} different answers; {say}"
