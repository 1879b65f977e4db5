"""Errors in words of the course: each sentence is met by an error that NumPy or Python raises here."""

import math

import numpy as np
import pytest

from bmlab.exercises.errors import FITS, in_plain_words

ROW, TABLE = np.ones(3), np.ones((2, 3))


def placed(array, key, values=1.0):
    array[key] = values


RAISING = [
    lambda: ROW + np.ones(2),
    lambda: placed(np.zeros(3), slice(None), np.ones(2)),
    lambda: ROW @ np.ones(2),
    lambda: np.dot(ROW, np.ones(2)),
    lambda: ROW @ 2.0,
    lambda: np.linalg.solve(np.eye(2), ROW),
    lambda: ROW.reshape(4, -1),
    lambda: ROW.reshape(2, 2),
    lambda: np.add(np.arange(3), 0.5, out=np.arange(3)),
    lambda: np.exp("a"),
    lambda: np.exp(np.array([None, 1.0], dtype=object)),
    lambda: placed(np.zeros(3), ROW > 0, np.ones(2)),
    lambda: ROW[np.array([True, False])],
    lambda: np.sum(np.float64(1), axis=1),
    lambda: ROW.sum(axis=1),
    lambda: TABLE.sum(axis=2),
    lambda: bool(ROW > 0),
    lambda: np.linalg.det(TABLE),
    lambda: np.linalg.inv(ROW),
    lambda: np.split(ROW, 2),
    lambda: np.linalg.inv(np.zeros((2, 2))),
    lambda: (ROW > 0) - (ROW > 0),
    lambda: -(ROW > 0),
    lambda: np.hstack([TABLE, np.ones((3, 3))]),
    lambda: np.array([[1.0, 2.0], [1.0]]),
    lambda: ROW.lenght,
    lambda: ROW(2),
    lambda: ROW[0](3),
    lambda: float(ROW),
    lambda: np.exp - 1.0,
    lambda: {} + math,
    lambda: float({}),
    lambda: np.average(TABLE, weights=np.ones(2)),
    lambda: np.average(TABLE, weights=np.ones((3, 2)), axis=0),
    lambda: placed(np.zeros(3), 0, 1, 2),
    lambda: float(10**400),
    lambda: str.__mod__("4", 1),
    lambda: math.exp(1000.0),
]


@pytest.mark.parametrize("raising", RAISING, ids=[str(k) for k in range(len(RAISING))])
def test_an_error_is_said_in_plain_words(raising):
    with pytest.raises(Exception) as problem:
        raising()
    error = problem.value
    said = in_plain_words(error)
    assert said.startswith(type(error).__name__) and str(error) not in said and "\\" not in said, str(error)


def test_each_sentence_is_met_by_an_error_of_this_numpy():
    met = set()
    for raising in RAISING:
        with pytest.raises(Exception) as problem:
            raising()
        met |= {pattern.pattern for pattern, _ in FITS if pattern.fullmatch(f"{problem.value}".strip())}
    assert {pattern.pattern for pattern, _ in FITS} - met == set()


def test_another_error_keeps_its_own_words():
    assert in_plain_words(KeyError("Ann")) == "KeyError: 'Ann'" and in_plain_words(ValueError()) == "ValueError"


class Loud(str):
    def casefold(self):
        raise RuntimeError("this is a student's code")


@pytest.mark.parametrize("name", [5, None, Loud("walk"), "walk"])
@pytest.mark.parametrize("known", [5, None, Loud("walks"), "walks"])
def test_an_unknown_name_of_any_kind_is_told_beside_known_ones_of_any_kind(name, known):
    """Whoever raises the error chooses its name, and whoever writes into globals() those that are known."""
    place = {known: 1, "name": name}
    with pytest.raises(NameError) as caught:
        exec("raise NameError('it is not there', name=name)", place)
    is_told = type(name) is type(known) is str
    assert in_plain_words(caught.value) == "NameError: it is not there" + "; walks is" * is_told
