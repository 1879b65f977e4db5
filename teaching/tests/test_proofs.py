"""The proofs before anybody is graded, and the messages between an answer and its test."""

import json
import subprocess
import sys
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import nbformat
import numpy as np
import pytest
from scipy import sparse
from selection import one_of
from small_course import LIMITS, RIGHT, answered, graded, hand_in, harmless, short_notebook

import bmlab
from bmlab.exercises.answers import WRITES
from bmlab_teaching import cells, proofs
from bmlab_teaching.cells import VALUE_CHARACTERS, packed, plain
from bmlab_teaching.course import handout
from bmlab_teaching.proofs import prove
from bmlab_teaching.sandbox import Limits
from bmlab_teaching.slicing import names
from bmlab_teaching.working_copies import student_version

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


@harmless
@pytest.mark.parametrize("path", one_of(NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS]))
def test_the_solution_has_full_marks_and_null_answers_have_none(path, tmp_path):
    prove({path.stem}, {path.stem: handout(path)}, tmp_path, "now", LIMITS)


@harmless
@pytest.mark.parametrize(
    "test, null",
    {
        "import numpy\nassert numpy.allclose(double(3), [6, 6])": "an empty array",
        "for one in double([1]):\n    assert one == 1\nassert True": "None|an empty|0|1|AssertionError",
        "assert not double(3) < 6": "nan",
        "assert double(3) > 5": "inf",
        "assert 9 < abs(double(3)) < 1001 or double(3) == 6": r"\d in each place",
        "assert 0 < abs(double(3)) < 1e-2 or double(3) == 6": "e-0[56] in each place",
        "assert double(3) == 6 or double(3) == -1": "-1",
        "limit = 41.0\nassert double(3) == 6": "by heart",
        "import contextlib\nwith contextlib.suppress(Exception):\n    assert double(3) == 6": "raises|Error|None",
    }.items(),
)
def test_a_test_that_proves_nothing_stops_grading(test, null, tmp_path):
    solution = (
        "import numpy\ndef double(x):\n    ### BEGIN SOLUTION\n    return 2 * numpy.ones(2) * x\n    ### END SOLUTION"
    )
    if "allclose" not in test:
        solution = solution.replace("2 * numpy.ones(2) * x", "[1] if x == [1] else 2 * x")
    short_notebook(tmp_path, [("double", solution, test, [])])
    hand_in(tmp_path / "returned", "ann", "twice", answered(student_version(tmp_path / "sources/twice.ipynb")))
    with pytest.raises(
        ValueError,
        match=f"a test of twice proves nothing, so nobody was graded: double = .*({null}).* passes 'test_double'",
    ):
        graded(tmp_path)
    assert not (tmp_path / "graded/grades.csv").exists()


@pytest.mark.parametrize("asked", ["null_drawn", "null_ends"])
def test_no_constant_is_a_null_answer_where_it_is_nearly_right_by_chance(asked):
    """Else luck would forbid to grade: 1.5 among the drawn ones is within a test's tolerance of 1.5046."""
    exec(proofs.BEFORE, scope := {})
    null = scope[asked]
    assert null(1.5046, 1.5) is None and np.all(null(1.5046, 2.5) == 2.5)
    assert scope["null_ends"]((1.0, 2.0), 3.0) == (-3.0, 3.0) and scope["null_ends"]((-3.0, 3.0), 3.0) is None


@pytest.mark.parametrize("functions", [set(), {"one"}, {"one", "other"}])
def test_each_null_answer_makes_all_names_of_its_test(functions):
    found = proofs.nulls(["one", "other"], functions, "a seed")
    assert len(found) > 40 and ("what the visible test asks, by heart" in found) == (len(functions) == 2)
    for words, text in found.items():
        assert {"one", "other"} <= names(text).made, words


def test_a_course_is_proved_once_and_again_if_what_grades_it_is_another(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(proofs, "in_children", lambda works, **_: [asked.append(work.key) for work in works] and [])
    about = {"twice": handout(short_notebook(tmp_path))}
    for version, proofs_made in (("1", 2), ("1", 0), ("2", 2), ("2", 0), ("1", 2)):
        asked.clear()
        prove({"twice"}, about, tmp_path / "proofs", version, Limits())
        assert asked == [("twice", True), ("twice", False)][:proofs_made]


@harmless
def test_what_is_unseen_stands_at_the_end_of_its_check(tmp_path):
    """The visible cases by heart are worth nothing, and a slip elsewhere costs its own check alone."""
    source = short_notebook(tmp_path)
    test = handout(source).tests["test_double"]
    assert [one.asserts for one in test.checks] == [2, 2] and "unseen" not in nbformat.writes(student_version(source))
    assert "elsewhere" in test.source and "elsewhere" not in test.shown and "for x in" not in test.shown
    order = [test.source.index(words) for words in ("'not twice'", "'not twice, elsewhere'", "'wrong at {x}'")]
    assert order == sorted(order)
    answers = {"ann": "return {3: 6}.get(x, 0)", "bo": "return 2 * x if x > 0 else 1", "cy": "return 2 * x"}
    for student, body in answers.items():
        mine = RIGHT | {"double": f"def double(x):\n    {body}"}
        hand_in(tmp_path / "returned", student, "twice", answered(student_version(source), mine))
    lines = graded(tmp_path)
    assert [lines[student]["twice"] for student in answers] == ["1", "1.5", "3"]


def same(one, other):
    """Whether two values are one, in kind and numbers."""
    if isinstance(one, bmlab.BoltzmannMachine):
        alike = one.is_sparse == other.is_sparse and one.names == other.names and one.offset == other.offset
        same_numbers = np.array_equal(one.dense_weights, other.dense_weights) and same(one.biases, other.biases)
        return alike and same_numbers and one.temperature == other.temperature
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and (one == other or one != one)


def values(rng):
    """Values of every kind that travels, by chance."""
    shape = tuple(rng.integers(0, 4, size=rng.integers(0, 4)))
    for dtype in ("?", "i1", "u4", "i8", ">f8", "f4", "f8", "c16", "U3"):
        yield np.asarray(rng.normal(size=(*shape, 2)).astype(dtype))
    yield from (None, True, 0, -(2**70), float("nan"), float("-inf"), 1.5, np.float32(0.1), np.int8(-3), np.str_("ä"))
    yield from ("", "ä\u2028\x00", "\ud83d", [], (), {}, {1, "a"}, {"a": [1, (2,)], (1, 2): {"b": None}, 1.5: "c"})
    machine = bmlab.sherrington_kirkpatrick(4, rng=rng).at(rng.uniform(0.5, 2))
    yield from (machine, machine.clamp(0, 1), bmlab.toy(), bmlab.ising((3, 4)), bmlab.Bounded(2.5, 0.1, 2, 3))
    yield [machine, (np.eye(2), [[{"deep": ()}]])]


def test_what_travels_arrives_as_it_was_in_kind_and_numbers():
    for seed in range(30):
        for value in values(np.random.default_rng(seed)):
            assert same(value, plain(packed(value))), value
    bounds = plain(packed(bmlab.Bounded(2.5, 0.1, 2, 3)))
    assert (bounds.stderr, bounds.lower, bounds.upper) == (0.1, 2, 3)
    matrix = plain(packed(sparse.csr_array(np.eye(3))))
    assert np.array_equal(matrix.toarray(), np.eye(3))
    assert plain(packed([Fraction(1, 4), Decimal("0.5")])) == [0.25, 0.5]


def test_a_function_that_writes_into_its_arguments_fails_and_may_draw_from_a_generator(monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # which the cells replace
    student = cells.Cells(60, 0, None, None)
    student.run("def mine(x):\n    x[0] += 1\n    return x\ndef drawn(rng):\n    return rng.random()")
    student.get(["mine", "drawn"])
    for given in (np.zeros(3), [1, 2]):
        (reply,) = student.call("mine", [packed(((given,), {}))])["replies"]
        assert reply == {"kind": "AssertionError", "words": WRITES.format("mine")}
    (reply,) = student.call("drawn", [packed(((np.random.default_rng(0),), {}))])["replies"]
    assert 0 < plain(reply["value"]) < 1


@pytest.mark.parametrize("sent", [{}, {"mine": {"words": "stopped"}}, {"mine": {"value": "[3]"}}])
def test_a_value_that_its_student_did_not_send_is_no_answer_whatever_the_handout_has(sent, monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    referee = cells.Cells(60, 0, None, None)
    referee.run("mine = 3")
    assert referee.put(["mine"], sent)["refused"].keys() == sent.keys()
    (verdict,) = referee.test("assert mine == 3", [1])["verdicts"]
    assert (verdict["passed"], verdict["kind"]) == (False, "NameError")


def test_what_is_no_array_travels_without_the_packages():
    """They take a third of a second of each process, and many an answer is a number."""
    value = {"a": [1, 2.5, None], "b": ("x", {True})}
    text = f"import sys, cells\nassert cells.plain(cells.packed({value})) == {value}\nassert 'numpy' not in sys.modules"
    # -E: without variables of the environment, by which tests/nudged changes NumPy
    subprocess.run([sys.executable, "-E", "-c", text], cwd=Path(cells.__file__).parent, check=True)


def test_what_arrives_is_ones_own():
    array = plain(packed(np.zeros(3)))
    array[0] = 1
    machine = plain(packed(bmlab.toy()))
    with pytest.raises(ValueError, match="read-only"):
        machine.biases[0] = 1


def test_a_generator_travels_as_a_seed_that_is_drawn_from_it():
    mine, twin = (np.random.default_rng(5) for _ in range(2))
    other = plain(packed(mine))
    assert other.random() == np.random.default_rng(twin.integers(2**63)).random()
    assert mine.random() == twin.random()  # the next one asked with gets another seed


class Number(float):
    """A number with comparisons of its own."""

    def __eq__(self, other):
        return True

    __hash__ = float.__hash__


@pytest.mark.parametrize(
    "value",
    [
        Number(7),
        [Number(7)],
        {"a": Number(7)},
        np.array([Number(7), "a", None], object),
        open,
        Number,
        object(),
        b"x",
        ...,
    ],
)
def test_what_is_no_plain_value_does_not_travel(value):
    with pytest.raises(TypeError, match="is no plain value"):
        packed(value)


def test_what_is_too_large_or_too_deep_does_not_travel():
    for large in ("x" * VALUE_CHARACTERS, np.zeros(VALUE_CHARACTERS // 8), list(range(3 * 10**6))):
        with pytest.raises(ValueError, match="larger than 16 MB"):
            packed(large)
    deep = []
    for _ in range(100):
        deep = [deep]
    with pytest.raises(TypeError):
        packed(deep)


def sparse_text(shape, indices, indptr):
    """The text of a sparse matrix of ones, whether or not there can be such a one."""
    parts = np.ones(len(indices)), np.array(indices, "i4"), np.array(indptr, "i4")
    return json.dumps({"sparse": [shape, *(json.loads(packed(one)) for one in parts)]})


@pytest.mark.parametrize(
    "shape, indices, indptr",
    [
        ([2, 2], [10**6], [0, 1, 1]),
        ([2, 2], [-1], [0, 1, 1]),
        ([2, 2], [2], [0, 1, 1]),
        ([2, 2], [0, 1], [0, 2, 1]),
        ([2, 2], [0], [0, 9, 1]),
        ([2, 2], [0], [0, 1]),
        ([2, 2], [0], [0, 1, 2]),
        ([-2, 2], [0], [0, 1, 1]),
    ],
)
def test_a_sparse_matrix_never_points_outside_itself(shape, indices, indptr):
    """Its product with a vector would read and write memory at any place: the referee would be the sender's."""
    text = sparse_text(shape, indices, indptr)
    for one in (text, json.dumps({"machine": json.dumps([json.loads(text), None, 1.0, 0.0, None])})):
        with pytest.raises((TypeError, ValueError)):
            plain(one)
    assert plain(sparse_text([2, 2], [1], [0, 1, 1])).toarray().tolist() == [[0, 1], [0, 0]]


def test_a_truth_value_is_true_or_false():
    """A byte of 2 or 255 would be true and unlike True, and a sum of three of them 769."""
    for shape in ([], [3], [3, 1]):
        found = np.asarray(plain(json.dumps({"array": ["|b1", shape, "Af8C"]})))
        assert found.sum() == found.size and (found == True).all()  # noqa: E712


@pytest.mark.parametrize(
    "kind", ["array", "list", "tuple", "set", "dict", "sparse", "machine", "bounded", "generator", "exec"]
)
def test_whatever_arrives_is_a_plain_value_or_an_error(kind):
    texts = [None, 7, "x", [], [1], ["<f8", [2], ""], ["|O8", [1], "AAAA"], [[1]], {"list": 1}, {"a": 1, "b": 2}, {}]
    for parts in [*texts, *([one] for one in texts)]:
        with suppress(TypeError, ValueError):
            assert packed(plain(json.dumps({kind: parts})))
