"""The numbers of a hint: short, and told apart."""

import warnings

import numpy as np
import pytest
from selection import one_of

import bmlab
from bmlab.exercises import hints, shown, student_copy
from bmlab.exercises.answers import agree
from bmlab.exercises.hints import named_in_test, number
from bmlab.exercises.judging import KINDS, draw, judge


@pytest.mark.parametrize("seed", range(20))
def test_two_numbers_have_as_few_digits_as_tell_them_apart_and_four_at_least(seed):
    rng = np.random.default_rng(seed)
    one = rng.normal() * 10.0 ** rng.integers(-3, 4)
    other = one + rng.choice([-1, 1]) * 10.0 ** rng.uniform(-10, 1)
    digits = next(k for k in range(4, 17) if f"{one:.{k}g}" != f"{other:.{k}g}")
    assert (number(one, other), number(other, one)) == (f"{one:.{digits}g}", f"{other:.{digits}g}")
    assert number(one) == number(one + 1e-14) == f"{one:.4g}"


def test_what_is_as_small_as_a_rounding_error_is_0():
    assert number(-1e-14) == number(1e-14) == number(1e-14, 1.0) == "0"
    assert number(1.0, 1.0) == "1.0"  # not to be told apart: all its digits


def test_cases_of_each_kind_differ_in_size_too():
    """One state and several, the first unit and the last: an answer that is right for one alone is not right."""
    rng = np.random.default_rng(0)
    some = {kind: [make(rng, 4) for _ in range(60)] for kind, make in KINDS.items()}
    assert {np.ndim(s) for s in some["s"]} == {1, 2} and {np.shape(s)[-1] for s in some["s"]} == {4}
    assert {len(s) for s in some["s"] if np.ndim(s) == 2} == {2, 3, 4, 5} and {*map(len, some["data"])} == {
        *range(3, 8)
    }
    assert {*some["i"]} == {0, 1, 2, 3} and len({*some["T"]}) == 3 and 1 not in some["T"]
    assert {len(draw(lambda m: m, "", rng, {})[0]) for _ in range(60)} == {2, 3, 4}


def test_a_hint_is_looked_for_without_a_warning(capfd):
    """The right answer and the student's may divide by 0, and if they do nothing is printed."""
    names = {"np": np, "share": lambda x: np.array(x) / 0.0, "test": None}
    solution = "def share(x):\n    return np.array(x) / np.zeros(2)\n"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        named_in_test("share([1.0, -2.0])\nshare([0.0, 1.0])", ["share"], names, solution)
    assert said == [] and capfd.readouterr() == ("", "")


def in_test(wrong, right, calls):
    """What is said of a wrong function after a test that calls it."""
    made, solution = {"np": np}, f"def mine(x, y):\n    {right}"
    exec(f"def mine(x, y):\n    {wrong}", made)
    return named_in_test("\n".join(calls), ["mine"], made, solution)


def test_a_wrong_call_of_a_test_is_shown_if_it_can_be_followed_by_hand():
    calls = ["mine(np.arange(40.0), 2.0)", "mine(np.array([1.0, 2.0]), 3.0)", "mine(np.array([0.5, 0.25]), 7.0)"]
    said = in_test("return y + x.sum() ** 3", "return x.sum() * y**2", calls)
    assert said == "mine: for x = [1.0, 2.0], y = 3.0 it is 30, and 27 is right"
    assert in_test("return y + x.sum() ** 3", "return x.sum() * y**2", [calls[0], "mine(np.ones(40), 3.0)"]) == ""


def test_who_writes_into_an_argument_and_takes_it_back_is_told_so():
    calls = ["mine(np.array([1.0, 2.0]), 3.0)"]
    said = in_test("x[0] += y; found = x.sum(); x[0] -= y; return found", "return x.sum() + y / 3", calls)
    assert said == "mine: it writes into what it is given: begin with a copy, np.array(...)"


def some(seed, *shapes):
    """Arrays, no two numbers of which are alike."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.2, 1.9, shape) * rng.choice([-1, 1], shape) for shape in shapes]


SUMS = {  # words -> a right answer, and a wrong one
    "does not add up to 1: divide by the sum": ((3, 4, 5), lambda p: p / p.sum(), lambda p: p),
    "does not add up to 1 in each row: divide by the sum": (
        ((2, 4), (3, 3)), lambda p: p / p.sum(axis=1, keepdims=True), lambda p: p,
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", SUMS)
def test_what_does_not_add_up_is_told_how(words):
    shapes, right, wrong = SUMS[words]
    given = [np.abs(one) for one in some(0, *shapes)]
    wanted, found = [right(one) for one in given], [wrong(one) for one in given]
    assert hints.by_sum(found, wanted) == words


@pytest.mark.parametrize("words", hints.PLACES)
def test_what_stands_elsewhere_is_told_where(words):
    wanted = some(1, 3, 4, 5)
    if "order" in words:
        found = [np.r_[one[[1, 0, 2]], one[3:]] for one in wanted]
    else:
        found = [one + np.eye(len(one))[-1 if "last" in words else 0] for one in wanted]
    assert hints.by_place(found, wanted) == words


def test_a_wrong_diagonal_is_told():
    wanted = some(2, (3, 3), (2, 2))
    assert hints.by_place([one + np.eye(len(one)) for one in wanted], wanted) == "is right but for its diagonal"
    assert "diagonal" not in hints.by_place([one + 1 for one in wanted], wanted)


@pytest.mark.parametrize(("operation", "words"), hints.INSTEAD.items())
def test_what_was_done_instead_is_told(operation, words):
    (wanted,) = some(3, 40)
    found = operation(np.abs(wanted) if "logarithm" in words or "root" in words else wanted)
    assert hints.by_ratio(found, np.abs(wanted) if "logarithm" in words or "root" in words else wanted) == words


FACTORS = hints.FACTORS | {
    3: "is 3 times what it should be",
    -0.25: "is -0.25 times what it should be",
    2.0**7: "is 128 times what it should be",
}


@pytest.mark.parametrize("factor", FACTORS)
def test_a_factor_is_told_as_such_and_a_constant_as_a_constant(factor):
    (wanted,) = some(4, 30)
    assert hints.by_ratio(factor * wanted, wanted) == FACTORS[factor]
    large, size = "large" if factor > 0 else "small", f"{abs(factor):.3g}"
    assert hints.by_ratio(wanted + factor, wanted) == f"is always too {large} by {size}: a constant"
    assert hints.by_ratio(0 * wanted + factor, wanted) == f"is {number(factor)}, whatever is given"
    assert hints.by_ratio(wanted * np.sign(np.arange(30) - 9.5), wanted).startswith("has the right size, and sometimes")


def field(machine, s):
    return (s @ machine.weights + machine.biases) / machine.temperature


SIMPLER = {  # words -> (right, wrong), of values drawn for the names of their arguments
    "is right for T = 1, and not always otherwise": (lambda x, T: x.sum() / T**3, lambda x, T: x.sum() * T),
    "is right for k = 1, and not always otherwise": (lambda x, k: x.sum() ** k, lambda x, k: x.sum() * k),
    "is right for a = 0, and not always otherwise": (lambda x, a: x.sum() * np.exp(a), lambda x, a: x.sum() + a),
    "is right at T = 1": (field, lambda machine, s: s @ machine.weights + machine.biases * machine.temperature**2),
    "is right without biases": (field, lambda machine, s: field(machine, s) + machine.biases),
    "is right without weights": (field, lambda machine, s: field(machine, s) + s @ machine.weights),
    "is right for one state, and not always for several": (lambda s: s.sum(axis=-1) ** 3, lambda s: s.sum(axis=0) ** 3),
}


@pytest.mark.parametrize("words", SIMPLER)
def test_what_is_right_in_simpler_cases_is_told_in_which(words):
    rng = np.random.default_rng(5)
    right, wrong = SIMPLER[words]
    kinds = {"k": lambda rng, n: int(rng.integers(2, 5)), "a": lambda rng, n: float(rng.normal()), **KINDS}
    tried = [[kinds[name](rng, 3) for name in right.__code__.co_varnames] for _ in range(6)]
    assert hints.by_simpler(wrong, right, tried, 0).startswith(words)


def recalled(often):
    """A function that puts what was seen back after each round, or at the end alone."""

    def recall(x, beta, rounds):
        s = x
        for k in range(rounds):
            s = np.tanh(beta * s + 1) + x * (often or k == rounds - 1)
        return s

    return recall


def test_of_two_simple_cases_the_one_is_named_that_all_right_answers_have():
    """For one round it is right at any beta, and for beta = 0 in any round: neither is the only one."""
    rng = np.random.default_rng(8)
    tried = [[rng.normal(size=3), float(rng.uniform(0.3, 2)), rounds] for rounds in (1, 1, 2, 3, 2, 3)]
    said = hints.by_simpler(recalled(False), recalled(True), tried, 0)
    assert said == "is right for rounds = 1, and not always otherwise"
    assert not agree(recalled(False), recalled(True), tried)
    for k, simple in ((1, 0.0), (2, 1)):
        assert agree(recalled(False), recalled(True), [[*one[:k], simple, *one[k + 1 :]] for one in tried])


def test_halfway_to_one_is_told_as_that():
    (wanted,) = some(3, 40)
    assert hints.by_ratio((wanted + 1) / 2, wanted) == "is halfway between what it should be and 1"


@pytest.mark.parametrize(("factor", "is_whole"), [(1.0, True), (1 + 1e-7, False)])
def test_a_rounded_answer_is_right_and_the_story_goes_on_with_all_digits(factor, is_whole, monkeypatch, capsys):
    right = "def my_sum(x):\n    return x.sum()"
    monkeypatch.setattr(student_copy, "_checks", lambda _: {"blanks": {"my_sum": (right, "")}})
    exec(right.replace("return", f"return {factor} *"), mine := {})
    kept = student_copy.blank(mine["my_sum"])
    said = student_copy.RIGHT.format("my_sum") + student_copy.ROUNDED * (not is_whole)
    assert capsys.readouterr().out.strip() == said and (kept is mine["my_sum"]) == is_whole


@pytest.mark.parametrize(
    ("done", "share", "words"),
    [
        ([], 0, "0 of 4 points. Open: exercises 1, 2."),
        (["a", "c"], 0.25, "1 of 4 points. Open: exercise 2."),
        (["a", "b"], 1, "4 of 4 points."),
    ],
)
def test_the_bar_of_a_notebook_is_its_share_of_the_points_that_are_not_marked_later(done, share, words, monkeypatch):
    tests = {
        name: {"points": n, "later": name == "c", "title": f"Exercise {k}."}
        for k, (name, n) in enumerate({"a": 1, "b": 3, "c": 7}.items(), 1)
    }
    monkeypatch.setattr(student_copy, "_checks", lambda *_: {"tests": tests})
    monkeypatch.setattr(student_copy, "_done", lambda *_: {*done})
    points, _, left = words.partition(". ")
    shown = student_copy._bar("01_theory")
    assert f'<progress aria-hidden="true" value="{share:g}"></progress>' in shown
    assert points.strip(".") in shown and left in shown and 'data-first-guesses="01."' in shown


def test_what_is_the_same_in_rising_numbers_may_depend_on_them():
    """The place of the largest is the last in all of the cases, and another one if they are turned round."""
    tried, names = [[np.arange(3) * rate] for rate in (1.0, 2.0, 0.5, 3.0)], {"np": np}
    exec("def right(x):\n    return x.sum()\ndef largest(x):\n    return np.argmax(x)", names)
    assert hints.by_ignored(names["largest"], names["right"], tried) == ""
    assert hints.by_ignored(len, names["right"], tried) == "does not depend on the numbers in x, and should"


MACHINE = "np.tanh(0.7 * w.sum(axis=0) / T + b) + w @ b / 5 + T"


def of_machine(weights="w", biases="b", temperature="T"):
    """A right answer about a machine, or one about another machine."""
    return f"(lambda w, b, T: {MACHINE})({weights}, {biases}, {temperature})"


FROM = "(lambda w, b, T: {})(model.dense_weights, model.biases, model.temperature)"
BOTH = "np.tanh(old.biases[0] / {}) + new.biases[1] ** 3 / {}"
STEP = "bmlab.BoltzmannMachine(model.dense_weights + model.dense_weights**2, model.biases, model.temperature)"

TOLD = [  # arguments, a right answer, a wrong one, what is said of it
    ("x, T", "x.sum()", "x.sum() * T", "it is T times what it should be"),
    ("x, T", "x.sum()", "x.sum() / T", "it is 1/T times what it should be"),
    ("x, T", "x.sum()", "x.sum() * T**2", "it is the square of T times what it should be"),
    ("x, T", "x.sum()", "x.sum() / T**2", "it is what it should be, divided by the square of T"),
    ("model", "model.biases", "model.biases * model.temperature", "it is T times what it should be"),
    ("old, new", "old.biases[0]", "old.biases[0] / new.temperature", "it is 1/the T of new times what it should be"),
    ("x", "x.sum()", "x.sum() * len(x)", "it is the length of x times what it should be"),
    ("x", "x.sum()", "x.mean()", "it is what it should be, divided by the length of x"),
    ("data, m", "(data * m).sum(axis=1)", "(data * m).mean(axis=1)",
     "it is what it should be, divided by the length of data"),
    ("x", "x.var()", "x.var(ddof=1)", "it is N / (N - 1) times what it should be, N the length of x"),
    ("x", "x.var(ddof=1)", "x.var()", "it is (N - 1) / N times what it should be, N the length of x"),
    ("m", "np.tanh(m)", "m", "it is m, as it was given"),
    ("x", "np.outer(x, x**2)", "np.outer(x**2, x)", "it has rows and columns exchanged"),
    ("x", "x.sum()", "2.5", "it is 2.5, whatever is given"),
    ("x", "x - x.mean()", "np.maximum(x - x.mean(), 0)", "it is 0 wherever it is wrong"),
    ("x", "np.tanh(x)", "np.where(x > 0, np.tanh(x), 0)", "it is 0 wherever it is wrong"),
    ("x", "np.exp(x)", "np.minimum(np.exp(x), 1)", "it is 1 wherever it is wrong"),
    ("m", "m + 0.1 * np.exp(m)", "m - 0.1 * np.exp(m)", "it goes the wrong way"),
    ("m", "m + 0.1 * np.exp(m)", "m + 0.4 * np.exp(m)", "it takes steps 4 times as long as they should be"),
    ("m", "m + 0.1 * np.exp(m)", "0.1 * np.exp(m)", "it is the step alone: m is to be added to it"),
    ("model", STEP, "model", "its weight matrix stays as model gives it"),
    ("x, T", "x.sum() * T + x.max()", "x.sum() + x.max()", "it does not depend on T, and should"),
    ("x, T", "x.sum() * T + x.max() ** 3", "T ** 3", "it does not depend on the numbers in x, and should"),
    ("s, m", "(s * m).sum(axis=-1) + m.sum()", "(-s * m).sum(axis=-1) + m.sum()",
     "it is right for minus s in the place of s"),
    ("x", "np.exp(x).max() - 7 * x[0]", "np.exp(-x).max() + 7 * x[0]", "it is right for minus x in the place of x"),
    ("x", "np.tanh(x).sum()", "np.tanh(2 * x).sum()", "it is right for twice x in the place of x"),
    ("x", "np.tanh(x).sum()", "np.tanh(x / 2).sum()", "it is right for half of x in the place of x"),
    ("x", "np.tanh(x).sum()", "np.tanh(1 / x).sum()", "it is right for one over x in the place of x"),
    ("x, T", "x.sum() / T + T**3", "x.sum() / T / 2 + 8 * T**3", "it is right for twice T in the place of T"),
    ("x, i", "x[0] * i + i**2", "x[0] * (i - 1) + (i - 1) ** 2", "it is what it would be for i - 1"),
    ("a, b", "np.tanh(a) - b", "np.tanh(b) - a", "it has a and b exchanged"),
    ("old, new", BOTH.format(1, 2), "np.tanh(new.biases[0]) + old.biases[1] ** 3 / 2", "it has old and new exchanged"),
    ("old, new", BOTH.format("old.temperature", "new.temperature"), BOTH.format(1, 1),
     "it is what it should be if old and new had T = 1"),
    *[("model", FROM.format(of_machine()), FROM.format(of_machine(*other)), f"it is what it should be if {words}")
      for words, other in {
          "model had T = 1": ("w", "b", "1"),
          "model had 1/T for T": ("w", "b", "1 / T"),
          "model had no biases": ("w", "0 * b"),
          "model had no weights": ("0 * w", "b"),
          "the energy of model had a minus in front": ("-w", "-b"),
          "the weights of model had a minus in front": ("-w", "b"),
          "the biases of model had a minus in front": ("w", "-b"),
          "the energy of model were twice as large": ("2 * w", "2 * b"),
          "the weights of model were twice as large": ("2 * w", "b"),
          "the biases of model were twice as large": ("w", "2 * b"),
          "the energy of model were half as large": ("w / 2", "b / 2"),
          "the weights of model were half as large": ("w / 2", "b"),
          "the biases of model were half as large": ("w", "b / 2"),
      }.items()],
]  # fmt: skip


def written(arguments, answer):
    """A function of a student's, or of the package's."""
    exec(f"def mine({arguments}):\n    return {answer}", made := {"np": np, "bmlab": bmlab})
    return made["mine"]


@pytest.mark.parametrize("case", one_of(TOLD, lambda case: case[0], [case[3] for case in TOLD]))
def test_each_fault_that_has_a_name_is_told_by_it(case):
    arguments, right, wrong, words, *kinds = case
    said = judge(written(arguments, wrong), written(arguments, right), *kinds).wrong
    assert said == f"mine is not right yet: {words}"


def after_calls(count, wrong_at):
    """What is said of an answer that one call of a test finds wrong."""
    solution, made = "def mine(x):\n    return np.tanh(x)", {"np": np}
    exec(f"def mine(x):\n    return np.tanh(x) + (x[0] == {wrong_at})", made)
    test = f"for k in range(1, {count + 1}): mine(np.array([float(k), 0.5]))"
    return named_in_test(test, ["mine"], made, solution)


def test_24_questions_of_a_test_are_looked_at():
    assert after_calls(30, 24).startswith("mine: for x = [24.0, 0.5] it is 2") and after_calls(30, 25) == ""


@pytest.mark.parametrize(("numbers", "is_shown"), [(12, True), (13, False)])
def test_a_call_of_12_numbers_can_be_followed_by_hand(numbers, is_shown):
    calls = [f"mine({x}, {y}.0)" for x, y in ((f"np.ones({numbers - 1})", 3), (f"np.arange({numbers - 1}.0)", 7))]
    said = in_test("return y + x.sum() ** 3", "return x.sum() * y**2", calls)
    assert said.startswith("mine: for x = ") == is_shown and (said == "") != is_shown


@pytest.mark.parametrize(("cases", "words"), [(3, ""), (4, "does not depend on T, and should")])
def test_three_pairs_of_cases_show_that_an_argument_does_nothing(cases, words):
    tried, names = [[np.array([1.0, 2.0]), 0.5 + k] for k in range(cases)], {}
    exec("def right(x, T):\n    return x.sum() * T\ndef mine(x, T):\n    return x.sum()", names)
    assert hints.by_ignored(names["mine"], names["right"], tried) == words
    assert hints.by_ignored(names["right"], names["right"], tried) == ""


@pytest.mark.parametrize("first", [np.inf, -np.inf])
def test_what_is_endless_is_told_by_its_first_number(first):
    found, wanted = np.array([1.0, first, -first, np.inf]), np.array([1.0, 2.5, 3.0, np.inf])
    said = f"is {first} where 2.5 is right, as an overflow, a division by 0 or the logarithm of 0 gives"
    assert hints.by_ratio(found, wanted) == said
    assert hints.by_ratio(np.array([np.nan]), np.array([np.nan])) == ""


@pytest.mark.parametrize(
    ("wanted", "found", "said"),
    [
        ([-1, 1, 1, -1], [-1, 1, 0.5, -1], "holds 0.5, where each number should be -1 or +1"),
        ([-1, 1, 1, -1], [1, 1, 1, -1], ""),
        ([1, -2, 3], [1, 2, -3], "has the right size, and sometimes the wrong sign"),
        ([0.5, -0.25, 0.75], [0.25, 0.0625, 0.5625], "is the square of what it should be"),
        ([1.0, 2.0, 4.0], [2.0, 2.0, 4.0], ""),
        ([1.0, 1.0, 1.0], [3.0, 3.0, 3.0], "is 3 times what it should be"),
        ([0.2, 0.4, 0.6], [0.5, 0.5, 0.5], "is 0.5, whatever is given"),
        ([0.2, 0.4], [-0.3, -0.1], "is always too small by 0.5: a constant"),
    ],
)
def test_a_row_of_numbers_is_told_what_all_of_it_has_in_common(wanted, found, said):
    assert hints.by_ratio(np.array(found, float), np.array(wanted, float)) == said


def test_an_array_of_eight_numbers_is_written_out_and_of_a_larger_table_its_column():
    eight, nine, table = np.arange(8.0), np.arange(9.0), np.arange(24.0).reshape(3, 8) + 0.12345
    assert (
        shown.brief(eight) == "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]"
        and shown.brief(nine) == "an array of shape (9,)"
    )
    assert shown.case(lambda a, b: 0, [table, 1.5], (2, 8)) == "a[:, 2] = [2.123, 10.123, 18.123], b = 1.5"
    assert shown.case(lambda a: 0, [table]) == "a = an array of shape (3, 8)"
    assert shown.case(lambda a: 0, [table], (2, 9)) == "a = an array of shape (3, 8)"
    assert (
        shown.case(lambda a: 0, [table[:1]], (2, 8)) == "a = [[0.123, 1.123, 2.123, 3.123, 4.123, 5.123, 6.123, 7.123]]"
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (bmlab.BoltzmannMachine([[0, 0.5, -1], [0.5, 0, 0], [-1, 0, 0]], [0.25, 0, -2], 1.5),
         "a machine with w01, w02, w12 = 0.5, -1, 0, b = [0.25, 0.0, -2.0], T = 1.5"),
        (bmlab.medium(), "a machine of 10 units at T = 1"),
        (bmlab.Bounded(1.5, lower=1.23456, upper=2), "a bracket from 1.23 to 2"),
        ([bmlab.BoltzmannMachine([[0, 1], [1, 0]], [0, 0])] * 2,
         "a machine with w01 = 1, b = [0.0, 0.0], T = 1; a machine with w01 = 1, b = [0.0, 0.0], T = 1"),
        ([bmlab.toy()] * 2, "2 machines"),
        (-0.00001, "0.0"), ([1.23456, 2], "[1.235, 2.0]"), (len, "a function"), (3, "3"), ("a", "'a'"),
    ],
)  # fmt: skip
def test_an_argument_is_shown_in_a_few_words(value, words):
    assert shown.brief(value) == words


@pytest.mark.parametrize(
    ("value", "short", "size"),
    [
        (np.array([0.123, -0.01, 2.0]), [0.1, -0.1, 2.0], 4), (np.array([0.5, 1.0]), [0.5, 1.0], 2), (1.26, 1.3, 2),
        (3, 3, 1), (np.array([0.25, 0.75]), [0.25, 0.75], 2), ([np.array([0.24]), 7], [[0.2], 7], 3),
        (np.array([0.05, 0.04]), [0.0, 0.1], 3),
    ],
)  # fmt: skip
def test_an_argument_is_shortened_to_one_digit_unless_it_adds_up_to_one(value, short, size):
    found = shown.short(value)
    assert [np.asarray(one).tolist() for one in np.atleast_1d(np.asarray(found, dtype=object))] == (
        short if isinstance(short, list) else [short]
    )
    assert shown.size(value) == size
