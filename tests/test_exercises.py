"""The exercises: each can be won, its wrong answers bring a hint, and no handout holds a solution.

The notebooks are run as they are by nbval, solutions and tests included. Wrong answers are in wrong_answers.py; how
they are graded is tested in teaching/tests.
"""

import ast
import atexit
import html
import pickle
import re
import zipfile
from copy import deepcopy
from functools import cache, lru_cache, wraps
from itertools import pairwise

import nbformat
import numpy as np
import pytest
import slips
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from selection import as_a_student, exhaustive, one_of
from test_notebooks import FILES, NOTEBOOKS, code_cells
from wrong_answers import WRONG

import bmlab
from bmlab.exercises.answers import DIGITS, WrongKind, agree, in_shape
from bmlab.exercises.edits import edited
from bmlab_teaching.course import handout
from bmlab_teaching.handouts import FOLDER
from bmlab_teaching.slicing import needed_cells
from bmlab_teaching.working_copies import (
    HIDDEN,
    MARKS,
    OPEN,
    PRESS,
    SOLUTION,
    STUB,
    WATCH,
    beside,
    blanks_of,
    is_teachers,
    record,
    still_open,
    tables,
    with_points,
    without_solutions,
    without_teachers,
)

pytestmark = as_a_student
BY_NAME = {path.stem: path for path in FILES}
MATRICES = ("transition_matrix", "fast_matrix")
FIT = bmlab.fit
GRADED = [name for name, path in BY_NAME.items() if with_points(nbformat.read(path, 4))]


def answer_cells(notebook):
    """Name -> cell of every answer in code, with its test cell; not the blanks of the story, which have none."""
    cells = code_cells(notebook)
    solutions = [(cell, test) for cell, test in pairwise(cells) if record(cell).get("solution")]
    pairs = [(cell, test) for cell, test in solutions if record(test).get("grade")]
    return {record(cell)["grade_id"]: (cell, test) for cell, test in pairs}


def asked_by(test, name):
    """The names that a test asks of its answer."""
    return handout(BY_NAME[name]).tests[record(test)["grade_id"]].needed


# The exercises


@pytest.mark.parametrize("name", GRADED)
def test_every_exercise_states_its_points_and_can_be_won(name):
    notebook = nbformat.read(BY_NAME[name], 4)
    stated = sum(int(n) for n in re.findall(r"\((\d+) points?\)", " ".join(c.source for c in notebook.cells)))
    assert stated == sum(one.points for one in with_points(notebook)) > 0


@pytest.mark.parametrize("name", GRADED)
def test_tests_teach_before_they_are_hidden(name):
    for _, test in answer_cells(nbformat.read(BY_NAME[name], 4)).values():
        visible, _, hidden = test.source.partition("### BEGIN HIDDEN TESTS")
        assert "### END HIDDEN TESTS" in hidden and "assert" in visible, test.id
        for part in (visible, hidden):
            asserts = [node for node in ast.walk(ast.parse(part)) if isinstance(node, ast.Assert)]
            assert asserts and all(node.msg for node in asserts), f"{test.id}: an assert without a hint"


def is_passed(source, made):
    """Whether a test runs to its end."""
    try:
        exec(source, dict(made))
    except AssertionError:
        return False
    return True


@exhaustive
@pytest.mark.parametrize("name", GRADED)
def test_a_number_that_is_near_enough_in_sight_is_near_enough_for_the_grader(name):
    """Off by a ten thousandth to a half: if the visible lines judge a number, the hidden ones accept what these do.

    Some visible lines judge no number, so that they do not give it away: they accept it off by a half on either side.
    """
    offs = np.outer([-1, 1], np.geomspace(0.5, 1e-4, 23)).ravel()
    for answer, test in answer_cells(nbformat.read(BY_NAME[name], 4)).values():
        made, visible = dict(namespace(name)), HIDDEN.sub("", test.source)
        exec(answer.source, made)
        for key in asked_by(test, name):
            if isinstance(right := made.get(key), (float, np.floating)):
                values = list(right + offs * max(1, abs(right)))
                seen = [value for value in values if is_passed(visible, made | {key: value})]
                judged = not {values[0], values[23]} & {*seen}
                refused = [x for x in seen if judged and not is_passed(test.source, made | {key: x})]
                assert not refused, (test.id, key, right, refused)


@cache
def namespace(name):
    """The names that the cells before the exercises make; they are made once, and additions go to a copy."""
    made, cells = {}, code_cells(nbformat.read(BY_NAME[name], 4))
    own = [bool(record(cell)) or "variant(student" in cell.source for cell in cells]
    kept, _ = needed_cells([cell.source for cell in cells], own)
    for place, source in kept.items():
        if not record(cells[place]) or "@widgets.blank" in source:
            exec(source, made)
    for key in made.keys() & MATRICES:
        made[key] = asked_once(made[key])
    return made


def asked_once(transition_matrix):
    """A function of notebook 03 that takes a part of a second; answers and tests ask it about the same samplers."""
    known = {}

    def asked(sweep, model):
        key = sweep, model.weights.tobytes(), model.biases.tobytes(), model.temperature
        if key not in known:
            known[key] = transition_matrix(sweep, model)
        return known[key].copy()

    return asked


@lru_cache(200)
def fitted_once(asked):
    """The answer of fit() to pickled arguments, so that nobody can write on a part of them."""
    given, named = pickle.loads(asked)
    return FIT(*given, **named)


@pytest.fixture(autouse=True)
def fits(monkeypatch):
    """Answers and tests climb from the same starts again and again: the same question is answered once."""

    @wraps(FIT)
    def fit(*given, **named):
        kinds = (*given, *named.values())
        if "checkpoint" in named or any(isinstance(one, np.random.Generator) or callable(one) for one in kinds):
            return FIT(*given, **named)
        try:
            asked = pickle.dumps((given, named))
        except Exception:
            return FIT(*given, **named)
        return fitted_once(asked)

    monkeypatch.setattr(bmlab, "fit", fit)


@pytest.fixture
def shell(request, tmp_path, monkeypatch):
    """A kernel beside a student's copy of a notebook, its first line run."""
    name = request.getfixturevalue("name")
    for file, content in beside(BY_NAME[name]).items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    with capture_output():
        shell.run_cell(WATCH.format(name))
    yield shell
    InteractiveShell.clear_instance()
    atexit.unregister(shell.atexit_operations)  # each of a hundred shells would collect all garbage at the end


def below(shell, *sources):
    """The lines below a test that is run after other cells, which may fail, without the progress."""
    with capture_output() as said:
        for source in sources:
            shell.run_cell(source)
    *_, words = (one.data["text/plain"] for one in said.outputs if "Exercise" in one.data.get("text/plain", ""))
    return words.partition("): ")[2].rpartition("\n")[0]


@pytest.fixture
def copy(shell, name):
    """A function: the lines below a test after an answer was typed; `names` are values that an answer has made."""
    before = shell.user_ns | namespace(name)

    def type_in(answer, test, names=()):
        shell.user_ns.clear()
        shell.user_ns.update(before | dict(names))
        return below(shell, answer, HIDDEN.sub("", test.source))

    return type_in


@pytest.mark.parametrize("name", GRADED)
def test_typical_wrong_answers_bring_a_hint_and_never_a_tick(name, copy):
    notebook, typed = nbformat.read(BY_NAME[name], 4), 0
    assert WRONG[name].keys() == answer_cells(notebook).keys()
    for exercise_name, (answer, test) in answer_cells(notebook).items():
        with pytest.raises((NameError, NotImplementedError)) as missing:
            exec(test.source, dict(namespace(name)))
        asked = getattr(missing.value, "name", exercise_name)
        assert re.search(rf"\b{asked}\b", SOLUTION.sub("", answer.source)), f"the stub does not name {asked}"
        assert len(WRONG[name][exercise_name]) >= 3
        for source, hint in WRONG[name][exercise_name]:
            said, typed = copy(source, test), typed + 1
            assert said.startswith("✗ ") and hint in said, (exercise_name, source, said)
    print(f"{name}: {typed} wrong answers typed, no tick")


@pytest.mark.parametrize("name", ["07_hidden_units"])
def test_what_a_test_finds_wrong_is_a_sentence_and_no_traceback(name, shell):
    """Its lines are the course's own, and nothing in them helps; a slip of the student's in Python is shown whole."""
    shell.user_ns.update(namespace(name))
    _, test = answer_cells(nbformat.read(BY_NAME[name], 4))["my_triplet"]
    for answer, is_traced in (("lambda w, b, T: w + 1", False), ("lambda w, b, T: w.size", True)):
        with capture_output() as said:
            shell.run_cell(f"my_triplet = {answer}")
            shell.run_cell(HIDDEN.sub("", test.source))
        assert ("Traceback" in said.stdout) == is_traced and (is_traced or len(said.stdout.splitlines()) <= 2)


@pytest.mark.parametrize("name", one_of(GRADED))
def test_wrong_blanks_make_no_right_exercise_fail(name, shell):
    """Every blank is wrong, in one of two ways; the story runs to its end, and every right exercise has its tick."""
    ways, filled = ["None", "each(right_{0}(*given, **named), lambda x: -np.asarray(x) - 1)"], set()
    notebook = without_teachers(nbformat.read(BY_NAME[name], 4))
    cells, blanks = code_cells(notebook), blanks_of(notebook)
    kept, _ = needed_cells([cell.source for cell in cells], [bool(record(cell)) for cell in cells])
    shell.user_ns["each"] = slips.each
    for place, source in kept.items():
        cell, source = cells[place], MARKS.sub("", HIDDEN.sub("", source))
        if record(cell).get("grade"):
            assert below(shell, source).startswith("✓ done."), cell.id
            continue
        made = [one for one in blanks if f"def {one}(" in source]
        with capture_output() as said:
            error = shell.run_cell(source).error_in_exec
        assert not error and said.stdout.count(" agrees with the package's in ") == len(made), (cell.id, error)
        for blank in made:
            shell.user_ns[f"right_{blank}"] = shell.user_ns[blank]
            wrong = ways[len(filled) % 2].format(blank)
            with capture_output() as said:
                shell.run_cell(f"@widgets.blank\ndef {blank}(*given, **named):\n    return {wrong}")
            assert said.stdout.startswith(f"✗ {blank} ") and "the package's version" in said.stdout, said.stdout
            filled.add(blank)
    assert filled == blanks.keys()


def sets_left_open():
    """(notebook, its blanks that stay open): all of them; and, if a blank calls others, just these."""
    for name in GRADED:
        notebook = without_teachers(nbformat.read(BY_NAME[name], 4))
        blanks = set(blanks_of(notebook))
        texts = [cell.source for cell in code_cells(notebook) if "@widgets.blank" in cell.source]
        named = [blank for text in texts for blank in blanks if blank in text and f"def {blank}(" not in text]
        yield pytest.param(name, blanks, id=f"{name}-all")
        if named:
            yield pytest.param(name, set(named), id=f"{name}-{'-'.join(named)}")


@exhaustive
@pytest.mark.parametrize("name, left_open", [*sets_left_open()])
def test_with_blanks_open_the_story_runs_to_its_end(name, left_open, shell):
    """All cells that name a blank run, with the cells that they need: an open one gives way to the package's."""
    notebook = without_teachers(nbformat.read(BY_NAME[name], 4))
    stubs = {cell.id: cell.source for cell in without_solutions(notebook).cells}
    blanks, cells = list(blanks_of(notebook)), [cell for cell in code_cells(notebook) if is_story(cell)]
    named = [any(re.search(rf"\b{blank}\b", cell.source) for blank in blanks) for cell in cells]
    for place, source in needed_cells([cell.source for cell in cells], named)[0].items():
        cell = cells[place]
        made = [one for one in blanks if f"def {one}(" in cell.source]
        is_open = bool(left_open.intersection(made))
        with capture_output() as said:
            error = shell.run_cell(stubs[cell.id] if is_open else MARKS.sub("", source)).error_in_exec
        assert not error, (cell.id, error)
        for one in made:
            word = f"{one} is still open: " if is_open else f"{one} agrees with the package's"
            assert word in said.stdout, (cell.id, said.stdout)


def is_story(cell):
    """Whether a cell is no answer and no test of an exercise with points."""
    return not record(cell) or "@widgets.blank" in cell.source


class Slip:
    """An answer changed by a slip, and whether that ever was another one: the size of a positive number is not."""

    def __init__(self, change):
        self.change, self.made_another = change, False

    def __call__(self, value):
        if callable(value):
            return lambda *given, **named: self(value(*given, **named))
        found = self.change(value)
        same = isinstance(found, np.ndarray | np.number | float | int | tuple | bmlab.BoltzmannMachine)
        self.made_another |= not same or bool(differ(found, value))
        return found


def differ(found, right):
    """Whether an answer is another one, by more than 2 %: "about how many" takes one as near as that."""
    try:
        parts = zip(*in_shape("it", found, right), strict=True)
        return not all(np.allclose(one, other, rtol=0.02, atol=DIGITS) for one, other in parts)
    except WrongKind:
        return True


OWN = {  # a student's own: other numbers may be as right
    "fooled",
    "known",
    "my_cheat",
    "my_gain",
    "my_group",
    "my_image",
    "my_machine",
    "my_trap",
    "order",
}


def signs_of(text):
    """A text of plus and minus as numbers."""
    return [1 if sign == "+" else -1 for sign in text]


MINUS = "\N{MINUS SIGN}"
TEXTS = {  # notebook -> exercise -> a name of which it asks, and its right text as others type it
    "00_start": {
        "made_up": ("made_up", list, lambda x: x.replace("-", MINUS), repr, ", ".join, " {} ".format, signs_of)
    },
    "01_theory": {"averages_first": ("averages_first", str.lower, " {} ".format, lambda x: [x])},
    "03_gibbs_sampling": {
        "my_tosses": ("my_tosses", list, lambda x: x.replace("-", MINUS), repr, ", ".join, " {} ".format, signs_of),
        "cheat": ("cheat", list, str.lower, " {} ".format),
    },
    "04b_can_it_be_proved": {
        "known": ("asked", str.title, str.upper, " {} ".format, lambda x: [x]),
        "by_cases": ("question", str.title, str.upper, " {} ".format, lambda x: [x]),
    },
    "05b_which_method": {"my_probability": ("my_order", tuple, lambda x: [name.upper() for name in x])},
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_name_or_signs_are_right_in_capitals_with_blanks_and_as_a_list(name, copy):
    cells = answer_cells(nbformat.read(BY_NAME[name], 4))
    for exercise, (asked, *ways) in TEXTS[name].items():
        answer, test = cells[exercise]
        exec(MARKS.sub("", answer.source), here := dict(namespace(name)))
        given = {one: here[one] for one in asked_by(test, name)}
        for way in ways:
            typed = way(given[asked])
            assert copy("", test, given | {asked: typed}).startswith("✓ done."), (exercise, typed)


@pytest.mark.parametrize("name", one_of(GRADED))
def test_usual_slips_get_a_sentence_and_right_answers_the_tick_in_any_style(name, copy):
    made, tried = namespace(name), 0
    for answer, (cell, test) in answer_cells(nbformat.read(BY_NAME[name], 4)).items():
        here = dict(made)
        exec(MARKS.sub("", cell.source), here)
        asked = asked_by(test, name)
        texts = [key for key in asked if isinstance(here[key], str | list)]
        values = not any(map(callable, map(here.get, asked)))  # a number may be rounded, a formula is none
        fitting = slips.STYLES.keys() - ({"rounded"} if not values else set())
        styles = {key: slips.STYLES[key] for key in fitting} if not texts else {}
        for style, change in styles.items():
            said = copy("", test, {key: Slip(change)(here[key]) for key in asked})
            assert said.startswith("✓ done."), (answer, style, said)
        for slip, change in slips.RESULTS.items() if answer not in OWN and not texts else ():
            wrong = Slip(change)
            said, tried = copy("", test, {key: wrong(here[key]) for key in asked}), tried + 1
            refused = said.startswith("✗ ") and len(said.split()) > 3 and "it fails" not in said
            assert refused or not wrong.made_another, (answer, slip, said)
            print(f"{name} {answer}: {slip}: {said}")
    print(f"{name}: {tried} slips")


def questions(answer, test, made):
    """The arguments that a test gives the right functions of an answer: {name: [arguments]}."""
    asked = {}

    def kept(name, function):
        def heard(*given):
            asked.setdefault(name, []).append(deepcopy(given))
            return function(*given)

        return heard

    exec(test.source, {key: kept(key, one) if key in answer else one for key, one in made.items()})
    return asked


def others(value, rng):
    """Another argument of the same kind: signs drawn anew, sizes up to some ten times others, zeros stay 0."""
    if isinstance(value, bmlab.BoltzmannMachine):
        factors = np.exp(rng.normal(size=value.weights.shape))
        weights, biases = value.dense_weights * factors * factors.T, others(value.biases, rng)
        return bmlab.BoltzmannMachine(weights, biases, others(value.temperature, rng))
    if isinstance(value, bmlab.Bounded):
        return bmlab.Bounded(lower=(low := value.lower + rng.normal()), upper=low + rng.random())
    if isinstance(value, tuple | list):
        return type(value)(others(part, rng) for part in value)
    if isinstance(value, np.ndarray) and np.isin(value, [-1, 1]).any():
        return np.where(np.isin(value, [-1, 1]), rng.choice([-1.0, 1.0], size=value.shape), value)
    real = isinstance(value, float) or np.asarray(value).dtype.kind == "f"
    return value * np.exp(rng.normal(size=np.shape(value))) if real else value


def as_right(mine, right, asked, rng):
    """Whether an answer is the right one: so are its values, and its functions for arguments outside their test."""
    for key, one in right.items():
        if isinstance(one, str | list):
            if mine[key] != one:
                return False
        elif not callable(one):
            if differ(mine[key], one):
                return False
        elif not all(agree(mine[key], one, [others(given, rng)]) for given in asked[key] for _ in range(3)):
            return False
    return True


@pytest.mark.parametrize("name", ["00_start", "01_theory", "03_gibbs_sampling", "05b_which_method", "07_hidden_units"])
def test_half_an_answer_is_told_what_is_missing(name, copy):
    notebook, asked = without_solutions(nbformat.read(BY_NAME[name], 4)), 0
    for one, test in answer_cells(notebook).values():
        names = asked_by(test, name)
        for missing in names if len(names) > 1 else ():
            there = [key for key in names if key != missing]
            said, asked = copy(one.source, test, dict.fromkeys(there, 1)), asked + 1
            assert said == f"✗ {missing} is missing: the cell above makes {' and '.join(there)} and no more."
    assert asked


@pytest.mark.parametrize("name", GRADED)
def test_a_value_where_a_function_is_asked_for_is_told_so_and_the_next_try_counts(name, copy, shell):
    for cell, test in answer_cells(nbformat.read(BY_NAME[name], 4)).values():
        source = MARKS.sub("", cell.source)
        for function in re.findall(r"^def (my_\w+|bias_lets_go|ring_bound)", source, re.MULTILINE):
            tried = re.sub(rf"^def {function}\(.*?(?=^\S|\Z)", "", source, flags=re.MULTILINE | re.DOTALL)
            said = copy(f"{tried}\n{function} = 0.5", test)
            assert said.startswith(f"✗ {function} is 0.5, where a function is asked for: def {function}("), said
            assert below(shell, source, HIDDEN.sub("", test.source)).startswith("✓ done."), function


@pytest.mark.parametrize("name", ["01_theory"])
def test_a_function_that_calls_itself_or_returns_few_digits_is_told_so(name, copy):
    _, test = answer_cells(nbformat.read(BY_NAME[name], 4))["my_formula"]
    endless = "def my_formula(mean, corr, T, i, j):\n    return my_formula(mean, corr, T, i, j)"
    assert copy(endless, test) == "✗ my_formula calls itself without an end: write out what it returns"
    rounded = "def my_formula(mean, corr, T, i, j):\n    return round((corr[i, j] - mean[i] * mean[j]) / T, 4)"
    assert copy(rounded, test).startswith("✗ my_formula is right to three digits, and all are asked for")


@pytest.mark.parametrize("name", ["03_gibbs_sampling"])
def test_a_sampler_of_a_student_s_own_is_not_compared_with_the_course_s(name, copy):
    _, test = answer_cells(nbformat.read(BY_NAME[name], 4))["my_cheat"]
    said = copy("def my_cheat(model, s, u):\n    return np.where(bmlab.exact(model).mean > 0, 1.0, -1.0)", test)
    assert said == "✗ let u[i] alone decide: +1 where small"


def writing(function, before=True):
    """A function that doubles the arrays it is given, a machine's biases too, before it answers or behind."""

    def answered(*given):
        found = None if before else function(*given)
        for one in given:
            array = one.biases if isinstance(one, bmlab.BoltzmannMachine) else one
            if isinstance(array, np.ndarray):
                array *= 2
        return function(*given) if before else found

    return answered


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("name, function", [
    ("01_theory", "my_formula"), ("02_exact_z", "my_ring_log_z"),
    ("03c_z_from_samples", "my_weight_ess"), ("05_full_learning", "my_pl_gradient"),
])  # fmt: skip
def test_who_writes_into_an_argument_is_told_so(name, function, before, copy):
    cell, test = answer_cells(nbformat.read(BY_NAME[name], 4))[function]
    here = dict(namespace(name))
    exec(MARKS.sub("", cell.source), here)
    said = copy("", test, {function: writing(here[function], before)})
    assert said == f"✗ {function} writes into what it is given: begin with a copy, np.array(...)"


@exhaustive
@pytest.mark.parametrize("name", GRADED)
def test_no_slip_in_the_source_of_a_solution_gets_a_tick(name, copy, shell):
    """Of the slips that the blanks are tried with; one that gets a tick is as right as the solution, everywhere.

    More starts of mean field are as right; elsewhere than in the test they may find a better valley.
    """
    made, tried, rng = namespace(name), 0, np.random.default_rng(1)
    for answer, (cell, test) in answer_cells(nbformat.read(BY_NAME[name], 4)).items():
        if answer in OWN:
            continue
        source, here = MARKS.sub("", cell.source), dict(made)
        exec(source, here)
        names = asked_by(test, name)
        right = {key: here[key] for key in names}
        asked = questions({key for key in names if callable(here[key])}, test, here)
        for slip, text in edited(source):
            said, tried = copy(text, test), tried + 1
            mine = {key: shell.user_ns.get(key) for key in names}
            ticked = said.startswith("✓ done.")
            stopped = said == "○ open." and any(one is None for one in mine.values())  # by an error of Python's
            assert ticked or stopped or (said.startswith("✗ ") and len(said.split()) > 3), (answer, text, said)
            assert not ticked or "starts=10" in text or as_right(mine, right, asked, rng), (answer, slip, text)
            print(f"{name} {answer}: {slip}: {said}")
    print(f"{name}: {tried} slips in sources, no tick")


@pytest.mark.parametrize("name", GRADED)
def test_the_points_of_checks_add_up_to_those_of_their_test(name):
    """Each check counts statements of the test that hold an assert; together they count them all."""
    notebook = nbformat.read(BY_NAME[name], 4)
    for cell in [cell for cell in code_cells(notebook) if "checks" in cell.metadata]:
        checks = cell.metadata["checks"]
        assert sum(one["points"] for one in checks) == record(cell)["points"], cell.id
        held = [any(isinstance(node, ast.Assert) for node in ast.walk(one)) for one in ast.parse(cell.source).body]
        assert sum(one["asserts"] for one in checks) == sum(held) and all(one["name"] for one in checks), cell.id


@pytest.mark.parametrize("name", GRADED)
def test_a_referee_runs_every_test_and_no_answer(name):
    found = handout(BY_NAME[name])
    assert [source for kind, source in found.referee if kind == "test"] == list(found.tests)
    assert all(one.needed for one in found.tests.values())


@pytest.mark.parametrize("name", GRADED)
def test_another_way_is_right_too(name, copy):
    for answer, (cell, test) in answer_cells(nbformat.read(BY_NAME[name], 4)).items():
        ways = cell.metadata.get("other", [])
        assert ways or answer in OWN, f"{answer}: no other way"
        for way in ways:
            assert copy(way, test).startswith("✓ done."), (answer, way)


# Handing out


def test_every_notebook_is_handed_out_without_an_answer(handouts):
    assert {path.stem for path in handouts.glob("*.ipynb")} == BY_NAME.keys()
    for path in handouts.glob("*.ipynb"):
        text, notebook = path.read_text(encoding="utf-8"), nbformat.read(path, 4)
        nbformat.validate(notebook)
        assert not re.search("(BEGIN|END) (SOLUTION|HIDDEN)", text)
        assert not any(map(is_teachers, notebook.cells))
        shown = [out for cell in notebook.cells for out in cell.get("outputs", [])]
        said, picture = shown
        assert said.text == PRESS and "image/png" in picture.data
        assert not any(cell.get("execution_count") for cell in notebook.cells)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_stub_is_its_solution_with_the_middle_taken_out(handouts, name):
    source, stub = without_teachers(nbformat.read(BY_NAME[name], 4)), nbformat.read(handouts / f"{name}.ipynb", 4)
    (hand_in,) = [cell for cell in stub.cells if cell.id == "hand-in"]
    below = stub.cells[stub.cells.index(hand_in) + 1 :]
    assert hand_in.source.startswith(f"**Hand in** this file, `{name}.ipynb`")
    assert not below or below[0].metadata.get("jp-MarkdownHeadingCollapsed")  # and nothing folds it away
    stub.cells.remove(hand_in)
    sentences = {one.answer: still_open(one) for one in with_points(source)}
    needs, view = code_cells(source)[:2]
    view.source = f"{WATCH.format(name)}{needs.source}\n{view.source}"  # one press runs both
    source.cells.remove(needs)
    for there, here in zip(source.cells, stub.cells, strict=True):
        sentence = sentences.get(record(there).get("grade_id"), OPEN)
        stub_text = r"\1" + STUB.replace("\n", r"\n\1").replace(OPEN, sentence)
        kept = re.sub(r"( *)### BEGIN SOLUTION.*?### END SOLUTION", stub_text, there.source, flags=re.DOTALL)
        kept = re.sub(r"### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS\n?", "", kept, flags=re.DOTALL)
        assert here.source.strip() == kept.strip() or (record(here).get("solution") and here.cell_type == "markdown")


PACKAGE = {"package/pyproject.toml", "package/README.md", "package/LICENSE", "package/bmlab/__init__.py"}


@pytest.mark.parametrize("name", [*BY_NAME, "course"])
def test_a_zip_holds_what_a_student_needs_and_nothing_for_teachers(handouts, name):
    """One notebook, or the whole course; and the versions that it was tested with."""
    with zipfile.ZipFile(handouts / f"{name}.zip") as archive:
        held = {file.removeprefix(f"{FOLDER}/"): archive.read(file) for file in archive.namelist()}
    paths = FILES if name == "course" else [BY_NAME[name]]
    assert held.keys() >= PACKAGE | {f"tables/{table.name}" for path in paths for table in tables(path)}
    assert not any(re.search("^bmlab|__pycache__|teach|solutions.html", file) for file in held)
    assert all(held[path.name] == (handouts / path.name).read_bytes() for path in paths)
    assert held["package/requirements.lock"] == (NOTEBOOKS.parent / "requirements.lock").read_bytes()
    assert 'pip install "./package[lab]"' in held["README.txt"].decode()


def test_the_solutions_are_a_page_for_teachers(handouts):
    page = (handouts / "teacher/solutions.html").read_text(encoding="utf-8")
    for name in GRADED:
        source = nbformat.read(BY_NAME[name], 4)
        for title in [one.title for one in with_points(source)]:
            assert f"<h2>{html.escape(title)}</h2>" in page, title
    assert "### " not in page and "default-src 'none'" in page


def test_no_link_of_a_handout_leads_out_of_its_folder(handouts):
    """All zips unpacked in one place, as README.txt says."""
    for path in handouts.glob("*.ipynb"):
        text = "\n".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            assert re.match(r"https?:|#", target) or (handouts / target).exists(), f"{path.name}: {target}"
