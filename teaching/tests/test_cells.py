"""The program inside the sandbox, run here: what it makes of cells, of values that travel, of a test's statements."""

import sys

import numpy as np
import pytest

import bmlab
from bmlab.exercises.errors import in_plain_words
from bmlab_teaching import cells
from bmlab_teaching.cells import Cells, as_typed, is_data, made_by, packed, plain, python

PASSED = {"passed": True, "kind": "", "words": ""}


@pytest.fixture
def one(monkeypatch):
    """A process that runs cells."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # which the cells replace
    return Cells(60, 0, None, None)


class Pair:
    """A student's process, and a referee that asks it; `asked` counts the messages between them."""

    def __init__(self):
        self.student, self.asked = Cells(60, 0, None, None), []
        self.referee = Cells(60, 0, self.asked.append, lambda: self.student.call(**self.question()))

    def question(self):
        return {"name": self.asked[-1]["call"], "questions": self.asked[-1]["given"]}

    def verdicts(self, answer, test, asserts=(0,), names=("mine",)):
        """What a test says of an answer; what is refused stands in its place."""
        assert not self.student.run(answer)["error"]
        refused = self.referee.put([*names], self.student.get([*names]))["refused"]
        if refused:
            return [about["words"] for about in refused.values()]
        found = self.referee.test(test, [*asserts])["verdicts"]
        return [about["passed"] or f"{about['kind']}: {about['words']}" for about in found]


@pytest.fixture
def both(monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    return Pair()


THREE = "assert a == 1, 'not one'\nx = 6 / b\nassert b == 2, 'not two'\nassert c == 3, 'not three'"
EMPTY = "nothing was compared: is something empty?"
SINGLE = "is in float32, which keeps seven digits: make it float64."


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("a, b, c = 1, 2, 3", [True, True]),
        ("a, b, c = 0, 2, 3", ["AssertionError: not one", True]),
        ("a, b, c = 1, 2, 0", [True, "AssertionError: not three"]),
        ("a, b, c = 1, 0.5, 0", [True, "AssertionError: not two"]),
        ("a, b, c = 1, 0, 3", [True, "ZeroDivisionError: it divides by 0"]),
        ("a, b, c = 'x', 'y', 3",
         ["AssertionError: not one", "TypeError: / is given a text: take its quotes off"]),
    ],
)  # fmt: skip
def test_each_group_of_asserts_has_the_verdict_of_its_first_failure(answer, said, both):
    assert both.verdicts(answer, THREE, [1, 2], "abc") == said


@pytest.mark.parametrize(
    "body", ["np.array([[1, 2], [3]])", "np.ones(2) @ np.ones(3)", "np.ones(2)[5]", "X.sum()", "x ^ 0.5", "{}[x]"]
)
def test_an_error_in_a_function_is_said_as_in_a_copy(body, both):
    answer = f"import numpy as np\nx = np.ones(2)\ndef mine(y):\n    x = y\n    return {body}"
    exec(answer, copy := {})
    with pytest.raises(Exception) as caught:
        copy["mine"](2.0)
    said = in_plain_words(caught.value)
    assert both.verdicts(answer, "assert mine(2.0) == 1, 'not one'") == [said]
    assert (str(caught.value) == said.partition(": ")[2]) == (body == "{}[x]")  # which has no plain words


@pytest.mark.parametrize(
    ("answer", "test", "said"),
    [
        ("mine = []", "for x in mine:\n    assert x == 1", f"AssertionError: {EMPTY}"),
        ("mine = [1]", "for x in mine:\n    assert x == 1", True),
        ("mine = 1", "if mine > 1:\n    assert mine", f"AssertionError: {EMPTY}"),
        ("mine = [3.0]", "assert mine == 3.0, 'not three'", True),
        ("mine = [3.0]", "assert len(mine) == 1, 'no list'", True),
        ("mine = ['B']", "assert mine == 'B'", True),
        ("mine = 2j", "assert mine",
         "mine is a complex number: is there a root or a power of what is negative?"),
        ("mine = None", "assert mine == 3", "AssertionError: mine is None, nothing: write its value"),
        ("import numpy\nmine = numpy.float32(3)", "assert mine == 3", True),
        ("import numpy\nmine = numpy.float32(3)", "assert mine == 4, 'not four'",
         f"AssertionError: mine {SINGLE} Else: not four"),
        ("mine = object()", "assert mine", cells.NOT_PLAIN.format("object")),
        ("def mine(x):\n    return 2 * x", "assert mine(2) == 4 and mine(x=3) == 6", True),
        ("def mine(x):\n    return [2 * x]", "assert mine(2) == 4", True),
        ("def mine(x):\n    print(2 * x)", "assert mine(2) == 4",
         "AssertionError: mine prints and returns nothing: write return for print"),
        ("def mine(x):\n    pass", "assert mine(2) == 4", "AssertionError: mine returned nothing: is there a return?"),
        ("def mine(x):\n    return x / 0", "assert mine(2) == 4", "ZeroDivisionError: it divides by 0"),
        ("def mine(x):\n    raise SystemExit", "assert mine(2) == 4", "SystemExit: "),
        ("def mine(x):\n    return 2j", "assert mine(2)",
         "AssertionError: mine returned a complex number: is there a root or a power of what is negative?"),
        ("def mine(x):\n    x[0] = 3\n    return x", "assert mine([1])[0] == 3",
         "AssertionError: mine writes into what it is given: begin with a copy, np.array(...)"),
        ("def mine(x):\n    x['a'] = 3\n    return 1", "assert mine({}) == 1",
         "AssertionError: mine writes into what it is given: begin with a copy, np.array(...)"),
    ],
)  # fmt: skip
def test_a_test_says_of_an_answer(answer, test, said, both):
    assert both.verdicts(answer, test) == [said]


def test_a_list_that_is_a_number_for_one_test_is_a_list_again_for_the_next(both):
    assert both.verdicts("mine = [3.0]", "assert mine == 3.0") == [True]
    assert both.referee.space["mine"] == [3.0]
    assert both.verdicts("def mine(x):\n    return [x]", "assert mine(2) == 2\nassert mine(3) == 3", [1, 1]) == [
        True,
        True,
    ]
    assert both.verdicts("def mine(x):\n    return [x]", "assert mine(2) == [2]\nassert 0, 'no'", [1, 1]) == [
        True, "AssertionError: no",
    ]  # fmt: skip


def test_of_two_readings_of_a_list_the_one_that_passes_more_counts(both):
    test = "assert mine == 3.0, 'no number'\nassert len(mine) == 1, 'no list'"
    assert both.verdicts("mine = [3.0]", test, [1, 1]) == ["AssertionError: no number", True]


def test_map_asks_for_all_in_one_message(both):
    test = "assert list(map(mine, [1, 2, 3], [4, 5, 6])) == [5, 7, 9]\nassert list(map(abs, [-1])) == [1]"
    assert both.verdicts("def mine(x, y):\n    return x + y", test, [2]) == [True] and len(both.asked) == 1
    wrong = "def mine(x, y):\n    if x == 2:\n        raise ValueError('two')\n    return x + y"
    assert both.verdicts(wrong, test, [1, 1]) == ["ValueError: two", True]
    both.referee.receive = lambda: {"replies": [{"value": "5"}]}
    assert both.referee.test(test, [0])["verdicts"][0]["words"] == "its answer fits no request"


def test_the_matrix_of_a_sampler_is_asked_for_in_few_messages(both):
    """Twenty of a search, and one in which what it found is tried at all moves."""
    test = "from bmlab.exercises import fast_matrix\nassert fast_matrix(mine, bmlab.toy()).shape == (8, 8)"
    mine = "import numpy as np\ndef mine(model, s, u):\n    return np.where(u < 0.5, 1.0, -1.0)"
    assert both.verdicts(mine, "import bmlab\n" + test, [1]) == [True] and len(both.asked) == 21


def test_a_test_that_takes_too_long_ends_there(both, monkeypatch):
    def slow(action, seconds, wall=0):
        if "endless" in (code := action.__defaults__[0]).co_names:
            return None, {"kind": "TimeoutError", "words": "too long"}
        return action() or code, None

    monkeypatch.setattr(cells, "attempt", slow)
    test = "assert 1\nassert endless, 'late'\nassert 0, 'never'"
    found = both.referee.test(test, [1, 1, 1])["verdicts"]
    assert [one["kind"] for one in found] == ["", "TimeoutError", "TimeoutError"]


def test_each_piece_of_a_students_code_has_the_limits_of_its_process(monkeypatch):
    """Its processor seconds and those by the clock; the referee waits for others, so no clock ends a test."""
    limits, attempt = [], cells.attempt

    def watched(action, seconds, wall=0):
        limits.append((seconds, wall))
        return attempt(action, 60)

    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(cells, "attempt", watched)
    student, referee = Cells(7, 40, None, None), Cells(7, 40, None, None)
    student.run("x, f = 2, abs")
    values = student.get(["x", "f"])
    student.keep("y = x", ["y"])
    assert student.call("f", [packed(((-1,), {}))])["replies"] == [{"value": packed(1)}]
    assert limits == 5 * [(7, 40)]
    referee.put(["x"], values)
    referee.test("assert x == 2", [1])
    assert limits[5:] == [(7, 0), (7, 0), (70, 0)]


@pytest.mark.parametrize(
    ("source", "printed", "error", "made"),
    [
        ("x = 1\nprint(x)", "1\n", None, {"x": 1}),
        ("print(1)\nx = 1 / 0\ny = 2", "1\n", ("ZeroDivisionError", "it divides by 0"), {}),
        ("x = 1\nquit()\ny = 2", "", None, {"x": 1}),
        ("x = 1\nraise SystemExit", "", None, {"x": 1}),
        ("x = (", "", ("SyntaxError", "'(' was never closed (this cell, line 1)"), {}),
        ("%matplotlib inline\n!ls\nx = 1", "", None, {"x": 1}),
        (">>> x = 1\n>>> print(x)", "1\n", None, {"x": 1}),
        ("    x = 1\n    y = 2", "", None, {"x": 1, "y": 2}),
        ("import asyncio\nawait asyncio.sleep(0)\nx = 1", "", None, {"x": 1}),
        ("import sys\nprint('a', file=sys.stderr)", "a\n", None, {}),
        ("display(3)\nget_ipython().run_line_magic('a', 'b')\nx = In, Out", "a b\n", None, {}),
    ],
)
def test_a_cell_is_run_and_tells_what_it_printed_and_where_it_failed(source, printed, error, made, one):
    found = one.run(source)
    assert found["printed"] == printed
    assert (found["error"] and (found["error"]["kind"], found["error"]["words"])) == error
    assert {name: one.space[name] for name in ("x", "y") if name in one.space and name in made} == made


def test_what_is_missing_here_is_left_out_and_told_first(one):
    source = "import nobody_wrote.this as it\nx = it.value\nopen('no/file')\ny = 2\nwith open('no') as f:\n    z = 3\nz"
    error = one.run(source)["error"]
    assert (error["kind"], one.space["y"]) == ("ModuleNotFoundError", 2)
    assert error["words"] == (
        "No module named 'nobody_wrote'. That line cannot run here and was left out; the rest of the cell was run"
    )


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("import a.b, c as d", {"a", "d"}), ("from a import b as c, d", {"c", "d"}), ("x, y = f(z)", {"x", "y"}),
        ("with f() as x:\n    y = 1", {"x", "y"}), ("for k in x:\n    pass", {"k"}), ("x[0] = 1", set()),
        ("f(x)", set()),
    ],
)  # fmt: skip
def test_the_names_that_a_statement_would_have_made(statement, names):
    assert made_by(python(statement).body[0]) == names


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("%time x = 1", "pass"), ("  %time f()", "pass"), ("if a:\n  !ls\nb", "if a:\n  pass\nb"), ("x = !ls", "pass"),
        ("x = %time f()", "pass"), ("print?", "pass"), ("In [3]: x = 1", "x = 1"),
        (">>> if a:\n...     b", "if a:\n    b"),
        ("    x\n      y\n    z", "x\n  y\nz"), ("x % y\na != b", "x % y\na != b"),
    ],
)  # fmt: skip
def test_a_cell_without_what_a_notebook_takes_out(typed, meant):
    assert as_typed(typed) == meant


@pytest.mark.parametrize(("flag", "mode"), [("", "w"), ("-a ", "a")])
def test_a_cell_that_writes_a_file(flag, mode, tmp_path, monkeypatch, one):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("old\n")
    assert not one.run(f"%%writefile {flag}a.py\nnew 'text'\n")["error"]
    assert (tmp_path / "a.py").read_text() == "old\n" * (mode == "a") + "new 'text'\n"


def test_values_are_asked_for_by_name_and_functions_by_what_was_given_out(one):
    one.run("x = [1, (2, 3)]\nf = lambda a, b=1: print('p') or a - b\nbad = object()")
    found = one.get(["x", "f", "bad", "nothing"])
    assert found == {
        "x": {"value": packed([1, (2, 3)])}, "f": {"function": True},
        "bad": {"kind": "TypeError", "words": cells.NOT_PLAIN.format("object")},
    }  # fmt: skip
    one.run("f = None")  # what was given out is asked
    asked = [packed(((5,), {})), packed(((5,), {"b": 2}))]
    assert one.call("f", asked)["replies"] == [{"value": "4", "printed": True}, {"value": "3", "printed": True}]
    replies = one.call("f", [packed(((5,), {})), packed((("a",), {})), packed(((5,), {}))])["replies"]
    assert [("value" in reply, reply.get("kind")) for reply in replies] == [(True, None), (False, "TypeError")]


def test_what_is_kept_for_a_class_is_data_and_is_taken_as_it_is(one, monkeypatch):
    kept = one.keep("x = [1.5]\ny = x[0]\nf = abs", ["x", "y", "f", "z"])
    assert kept["values"] == {"x": packed([1.5]), "y": "1.5"} and kept["error"] is None and kept["seconds"] >= 0
    assert one.take({"z": packed((1, 2))}) == {} and one.space["z"] == (1, 2)
    assert any(file.endswith("cells.py") for file in one.files()["files"])


@pytest.mark.parametrize(
    ("value", "is_kept"),
    [
        (1, True), ("a", True), (None, True), ([1, (2.5, {"a": [True]})], True), (np.eye(2), True),
        (np.float64(1), True),
        (np.array(["a"]), True), (bmlab.toy(), True), (abs, False), ([abs], False), ({1: abs}, False), ({1, 2}, False),
        (np.array([abs]), False), (type("L", (list,), {})(), False), (np.array(["2026"], "M8[Y]"), False),
    ],
)  # fmt: skip
def test_what_arrives_as_it_was_sent_is_data(value, is_kept):
    assert is_data(value) == is_kept


@pytest.mark.parametrize(
    "text", ["[1]", '{"what": 1}', '{"array": ["|O", [1], ""]}', '{"list": [[1]]}', '{"a": 1, "b": 2}']
)
def test_a_forged_text_is_no_value(text):
    with pytest.raises((TypeError, ValueError)):
        plain(text)


def test_a_name_that_the_referee_knows_is_not_the_students(both):
    both.referee.run("mine, other = 3, 4")
    assert both.referee.put(["mine"], {})["refused"] == {}
    assert "mine" not in both.referee.space and both.referee.space["other"] == 4
    assert both.referee.put(["mine"], {"mine": {"words": "it stopped", "kind": "ValueError"}})["refused"] == {
        "mine": {"kind": "TypeError", "words": "it stopped"}
    }
