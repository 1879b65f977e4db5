"""Errors in words of the course: each sentence is met by an error that NumPy or Python raises here."""

import math

import numpy as np
import pytest

import bmlab
from bmlab.exercises.errors import FITS, in_plain_words

ROW, TABLE = np.ones(3), np.ones((2, 3))
LIST, NOTHING, TOY = [1.0], None, bmlab.toy()
EXACT = bmlab.exact(TOY)


def placed(array, key, values=1.0):
    array[key] = values


def two(parts):
    one, _ = parts
    return one


RAISING = [
    lambda: ROW + np.ones(2),
    lambda: placed(np.zeros(3), slice(None), np.ones(2)),
    lambda: np.ones(3).__iadd__(TABLE),
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
    lambda: 2.0 ^ 2,
    lambda: ROW ^ 2,
    lambda: [1.0] - ROW[0].item(),
    lambda: ROW[0].item() * None,
    lambda: EXACT > 1.0,
    lambda: -math.exp,
    lambda: abs("1"),
    lambda: [1] + 1,
    lambda: 1.5 * [1],
    lambda: math.exp([1.0]),
    lambda: [1.0].mean(),
    lambda: [TOY].weights,
    lambda: placed.mean,
    lambda: EXACT[0],
    lambda: ROW[0][0],
    lambda: LIST(0),
    lambda: NOTHING(),
    lambda: list(5),
    lambda: 3 in ROW[0].item(),
    lambda: 2.5**5000,
    lambda: len(TOY),
    lambda: two(5),
    lambda: two(),
    lambda: two([1]),
    lambda: two([1, 2, 3]),
    lambda: ROW[3],
    lambda: LIST[1],
    lambda: ROW[:, 0],
    lambda: ROW[0.5],
    lambda: ROW[: 3 / 2],
    lambda: LIST[0.5],
    lambda: LIST[0, 0],
    lambda: range(1.5),
    lambda: np.zeros(1.5),
    lambda: math.sqrt(-1),
    lambda: setattr(TOY, "biases", ROW),
    lambda: 1 / 0,
    lambda: float("a"),
    lambda: int(float("nan")),
    lambda: ROW[:0].max(),
    lambda: max([]),
    lambda: np.stack([ROW, ROW[:2]]),
    lambda: np.zeros(3, 3),
    lambda: np.concatenate(ROW, ROW),
    lambda: np.linalg.eigvalsh(TOY),
    lambda: np.exp(TOY),
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


@pytest.mark.parametrize(
    ("raising", "told"),
    [
        (lambda: EXACT - EXACT, "- is given an Estimate: take its numbers, such as .mean"),
        (lambda: EXACT > 1.0, "> is given an Estimate: take its numbers, such as .mean"),
        (lambda: TOY @ ROW, "a machine has .weights"),
        (lambda: 0 + TOY, "+ is given a machine: take its numbers, such as .weights"),
        (lambda: 1.0 - [1.0], "- is given a list: make it an array"),
        (lambda: 1.0 + None, "+ is given None: a function without return gives it"),
        (lambda: -TOY.energy, "- is given a function: call it, with ()"),
        (lambda: np.exp(TOY.energy), "is given a function: call it, with ()"),
        (lambda: ROW ^ 2, "^ is no power: write **"),
        (lambda: 2.0 ^ 2, "^ is no power: write **"),
    ],
)
def test_what_is_no_number_in_a_formula_is_called_what_it_is(raising, told):
    with pytest.raises(Exception) as problem:
        raising()
    assert told in in_plain_words(problem.value)


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
