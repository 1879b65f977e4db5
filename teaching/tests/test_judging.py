"""The grader between a submission and its referee: what it asks each, what it carries over, what it says of both.

Both processes are lists of answers here; the real ones are attacked in test_attacks.py.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from bmlab_teaching import course, judging
from bmlab_teaching.course import Check
from bmlab_teaching.judging import Judge, failed, judge
from bmlab_teaching.matching import Plan
from bmlab_teaching.sandbox import Ended, Limits

TESTS = {
    "test_one": course.Test("assert one == 1", "", ["one"], [Check("", 1, 1)]),
    "test_two": course.Test(
        "assert two(1) == 2\nassert two(2) == 4", "", ["two"], [Check("a", 1, 1), Check("b", 1, 1)]
    ),
}
PASSED = {"passed": True, "kind": "", "words": ""}


class Process:
    """A process that notes what it is asked, and gives the answers that it was told; an error ends it."""

    def __init__(self, *answers, spent=0.0):
        self.asked: list[dict] = []
        self.answers, self.spent, self.closed = list(answers), spent, False
        self.given: tuple[Any, ...] = ()
        self.named: dict[str, Any] = {}

    def request(self, **question):
        self.asked.append(question)
        found = self.answers.pop(0) if self.answers else {}
        if isinstance(found, Exception):
            raise found
        return found

    def close(self):
        self.closed = True


@pytest.fixture
def both(monkeypatch):
    """A function: a Judge of two processes; those that are started later are in `more`."""

    def made(student, referee=None, more=(), steps=(), **limits) -> Any:
        waiting = [student, *more] if referee is None else [student, referee, *more]
        monkeypatch.setattr(judging, "Sandbox", lambda *given, **named: noted(waiting.pop(0), given, named))
        handout: Any = SimpleNamespace(tests=TESTS if referee else {}, tables=["table.csv"], referee=[*steps], kept={})
        return Judge(handout, "", Limits(seconds=30, wall=100)._replace(**limits), "beside")

    def noted(process, given, named):
        process.given, process.named = given, named
        return process

    return made


@pytest.mark.parametrize(
    ("kind", "words", "said"),
    [
        ("AssertionError", "not twice", "not twice"),
        ("TimeoutError", "it took too long", "it took too long"),
        ("NotImplementedError", "write it", "write it"),
        ("AssertionError", "", "AssertionError"),
        ("ZeroDivisionError", "division by zero", "ZeroDivisionError: division by zero"),
        ("", "what", "what"),
        ("", "", "it failed without a message"),
        ("K" * 3000, "w" * 3000, "K" * 2000),
        ("AssertionError", "w" * 3000, "w" * 2000),
    ],
)
def test_a_failure_has_words_of_2000_letters_at_most(kind, words, said):
    assert failed(kind, words) == {"passed": False, "kind": kind[:2000], "words": said}


def test_a_cell_has_the_first_2000_letters_of_what_it_prints_and_its_failure(both):
    error = {"kind": "ValueError", "words": "no"}
    one = both(Process({"printed": "x" * 3000}, {"printed": "y", "error": error}, {"error": "forged"}))
    assert [one.run(source) for source in "abc"] == [("x" * 2000, ""), ("y", "ValueError: no"), ("", "")]
    assert one.student.asked == [{"run": [source]} for source in "abc"]
    assert one.student.named["share"] == 0.4 and one.student.named["beside"] == "beside"


def test_a_process_that_ends_is_started_again_five_times_with_the_cells_that_did_not_end_it(both):
    ends = [Process({}, Ended("it ended")), *[Process({}, Ended("again")) for _ in range(5)]]
    one = both(ends[0], more=ends[1:])
    assert one.run("a") == ("", "")
    for source in "bcdefgh":
        assert one.run(source)[1].startswith("this cell was not executed, or not to its end: ")
    assert [process.closed for process in ends] == [True] * 5 + [False] and one.again == 0
    assert [process.asked[0] for process in ends] == [{"run": ["a"]}] * 6
    assert [process.asked[-1] for process in ends] == [{"run": [source]} for source in "bcdefg"]


@pytest.mark.parametrize(("spent", "seconds", "is_again"), [(0.0, 30, True), (29.0, 30, True), (30.0, 30, False)])
def test_who_has_spent_all_seconds_is_not_started_again(spent, seconds, is_again, both):
    one = both(Process(Ended("it ended"), spent=spent), more=[Process({"printed": "3"})], seconds=seconds)
    one.run("a")
    output, error = one.run("b")
    assert (output == "3") == is_again and ("not executed" in error) != is_again


def test_the_referee_runs_what_stands_above_a_test_once_and_has_twice_the_time(both):
    steps = [("run", "x = 1"), ("test", "test_one"), ("run", "y = 2"), ("test", "test_two"), ("run", "z = 3")]
    done = [{}, *[{"refused": {}}, {"verdicts": [PASSED]}] * 2]
    one = both(Process(*[{"one": {"value": "1"}}] * 3), referee := Process(*done), steps=steps)
    assert referee.given[1].seconds == 60 and referee.given[0] == ["table.csv"]
    one.test("test_one")
    assert referee.asked == [{"run": ["x = 1"]}, {"put": [["one"], {"one": {"value": "1"}}]},
                             {"test": ["assert one == 1", [1]]}]  # fmt: skip
    one.test("test_one")
    assert [next(iter(question)) for question in referee.asked[3:]] == ["put", "test"]
    one.close()
    assert one.student.closed and referee.closed


def test_values_that_are_no_data_are_no_answer_and_the_teacher_is_told_if_they_are_objects(both):
    refused = {"two": {"kind": "TypeError", "words": "no plain value"}, "b": {"kind": "AssertionError", "words": "odd"}}
    steps = [("test", "test_two")]
    one = both(Process({"two": {"value": "[]"}, "b": 3}), referee := Process({"refused": refused}), steps=steps)
    assert one.test("test_two") == [failed("TypeError", "no plain value")] * 2
    assert one.flags == ["what it gives as two is no plain value"] and len(referee.asked) == 1


def test_of_a_process_that_has_ended_each_check_says_why(both):
    one = both(Process(Ended("it took too long")), Process({"refused": {}}), steps=[("test", "test_two")])
    one.again = 0
    assert one.test("test_two") == [failed("TimeoutError", "it took too long")] * 2 and not one.flags


def test_questions_of_a_test_are_carried_to_the_function_and_its_answers_back(both):
    verdicts = [PASSED, {"passed": False, "kind": "ValueError", "words": "no"}]
    asks, error = {"call": "two", "given": ["[1]"]}, {"kind": "TimeoutError", "words": "ended"}
    student = Process({"two": {"function": True}}, {"replies": [{"value": "2"}]}, {"error": error})
    referee = Process({"refused": {}}, asks, asks, {"verdicts": verdicts})
    one = both(student, referee, steps=[("test", "test_two")])
    assert one.test("test_two") == [PASSED, failed("ValueError", "no")]
    assert student.asked == [{"get": [["two"]]}, {"call": ["two", ["[1]"]]}, {"call": ["two", ["[1]"]]}]
    assert referee.asked[2:] == [{"replies": [{"value": "2"}]}, {"replies": [error]}]


@pytest.mark.parametrize(("number", "typed"), [("4711", "student = '4711'"), ("'47\\'11\"", 'student = "47\\\\\'11"')])
def test_the_referee_has_the_number_that_was_typed(number, typed, both):
    one = both(Process(), Process(), steps=[("run", "student = 0\nx = student"), ("test", "test_one")])
    one.number = number
    assert list(one.of_referee()) == [("run", f"{typed}\nx = student"), ("test", "test_one")]


def test_who_has_answered_nothing_is_not_run(monkeypatch):
    monkeypatch.setattr(judging, "Sandbox", None)
    exercises = [SimpleNamespace(answer=name, tests=[f"test_{name}"]) for name in ("one", "two")]
    handout: Any = SimpleNamespace(exercises=exercises, tests=TESTS)
    plan = Plan([], {}, ["one", "two"], "")
    assert judge(handout, plan, Limits()) == {"printed": {}, "errors": {}, "verdicts": {}, "flags": []}


def test_an_answer_that_ends_its_process_is_not_tested_and_the_next_one_is(monkeypatch):
    class Both:
        def __init__(self, *given):
            self.ended, self.flags = "", ["odd"]

        def run(self, source):
            self.ended = "it ended" if source == "one = 1" else ""
            return f"printed by {source}", ""

        def test(self, name):
            if name == "test_three":
                raise Ended
            return [PASSED] * len(TESTS.get(name, TESTS["test_one"]).checks)

        def close(self):
            closed.append(self)

    closed: list[Both] = []
    monkeypatch.setattr(judging, "Judge", Both)
    exercises = [SimpleNamespace(answer=name, tests=[f"test_{name}"]) for name in ("one", "two", "three")]
    handout: Any = SimpleNamespace(exercises=exercises, tests=TESTS | {"test_three": TESTS["test_one"]}, kept={})
    steps = [("run", "one = 1", "one"), ("test", "", "test_one"), ("run", "story", ""), ("run", "two = 2", "two"),
             ("test", "", "test_two"), ("run", "three = 0", "three"), ("test", "", "test_three")]  # fmt: skip
    found = judge(handout, Plan(steps, {}, ["three"], ""), Limits())
    assert found["printed"] == {"one": "printed by one = 1", "two": "printed by two = 2"}
    assert len(closed) == 1 and found["errors"] == {"one": "", "two": ""} and found["flags"] == ["odd"]
    assert found["verdicts"] == {
        "test_one": [failed("TimeoutError", "it ended")],
        "test_two": [PASSED] * 2,
        "test_three": [failed("TimeoutError", "the referee ended")],
    }
