"""The blanks of the story: every usual slip is found on random cases and said in a sentence, every right answer passes.

The slips are made of each blank's own solution (bmlab.exercises.edits, slips.py): there is no list of them for a blank.
"""

import ast
import inspect
import re
from copy import deepcopy
from functools import cache
from threading import Lock

import nbformat
import numpy as np
import pytest
import slips
from selection import as_a_student, one_of
from test_notebooks import FILES, code_cells

import bmlab
from bmlab.exercises import judging, student_copy
from bmlab.exercises.answers import agree, kind_of_slip, parts
from bmlab.exercises.edits import edited
from bmlab.exercises.shown import case, short, size
from bmlab_teaching.slicing import needed_cells
from bmlab_teaching.working_copies import BLANK, blanks_of, without_teachers

pytestmark = as_a_student
SOURCES = {path.stem: without_teachers(nbformat.read(path, 4)) for path in FILES}
BLANKS_OF = {name: blanks_of(source) for name, source in SOURCES.items()}
BLANKS = {f"{name}-{blank}": (name, blank) for name, blanks in BLANKS_OF.items() for blank in blanks}
TYPED = {  # by strict readers, and then accepted in silence
    "00_start-my_turn": ["1/(1+np.exp(-4/T))", "1/(1+np.exp(-2*abs(field)/T))", "1/(1+np.exp(-field**2/T))"],
    "01_theory-climbed": ["machine", "bmlab.BoltzmannMachine(rate * my_gradient(machine, data)[0], machine.biases)"],
    "02_exact_z-my_log_sum_exp": ["x.max()", "np.log(x.max())", "x.max() * np.exp(x - x.max()).sum()"],
    "03_gibbs_sampling-misplaced": ["abs(q - p).max()", "1 - q @ p"],
    "03b_long_enough-my_swap_ratio": ["np.exp((E1 - E2) / T2)"],
    "03c_z_from_samples-my_log_weight": ["(old.energy(s) - new.energy(s)) / new.temperature"],
    "04b_can_it_be_proved-average_of_trees": ["sum(bmlab.exact(tree).log_z.value for tree in trees) / 3"],
    "04b_can_it_be_proved-hear_each_other": ["np.tanh(m + pair.biases[::-1])"],
    "07_hidden_units-carry": [
        "bmlab.from_bits(-2 * K * np.outer(a := np.array([1, 1, -1, -2]), a) * (1 - np.eye(4)), -K * a)",
        "bmlab.from_bits(-2 * K * np.outer(a := np.array([1, 1, -1, -2]), a) * (1 - np.eye(4)), K * a**2)",
    ],
    "07_hidden_units-my_clamped": ["bmlab.clamped(model.at(1), data).mean, bmlab.clamped(model.at(1), data).corr"],
    "08_restricted_machines-my_log_z": [
        "np.logaddexp.reduce(log_weight(model, bmlab.states(v)))",
        "np.logaddexp.reduce(log_weight(turned(model, v), bmlab.states(2)))",
    ],
    "09_handwritten_digits-my_rehearsal": [
        "1.0 * (log_p(*learnt[0], train).argmax(1) != labels)",
        "sum((log_p(*some, train[part == k]).argmax(1) != labels[part == k]).sum() for k, some in enumerate(learnt))",
        "sum((part == k) * (log_p(*learnt[k], train).argmin(1) != labels) for k in range(4))",
        "sum((part == k) * (log_p(learnt[k][0], np.zeros(10), train).argmax(1) != labels) for k in range(4))",
    ],
    "10_attention_and_diffusion-my_attention": ["(a := np.exp(beta * s @ patterns.T)) / a.sum() @ patterns"],
    "10_attention_and_diffusion-my_denoise": ["my_attention(points, y, 1 / sigma**2)"],
}
RIGHT = {  # in another form than the package's, as students type it
    "02_exact_z-my_log_prob": ["np.log(np.exp(-model.energy(s) / model.temperature)) - my_safe_log_z(model)"],
    "03_gibbs_sampling-misplaced": ["np.maximum(q - p, 0).sum()", "sum(abs(a - b) for a, b in zip(q, p)) / 2"],
    "03b_long_enough-my_burn_in": ["np.log10(left) / (2 * np.log10(2 / (1 + np.exp(-2 * w / T)) - 1))"],
    "03b_long_enough-my_swap_ratio": ["np.exp(-E1 / T2 - E2 / T1) / np.exp(-E1 / T1 - E2 / T2)"],
    "03c_z_from_samples-my_z": [
        "np.exp((0.5 * s @ model.weights @ s + model.biases @ s) / model.temperature) / share",
        "float(np.exp(-model.energy(s) / model.temperature - np.log(share)))",
    ],
    "03c_z_from_samples-my_share_seen": ["np.exp(bound) / np.exp(log_z)", "np.e ** (bound - log_z)"],
    "04_mean_field-my_free_energy": [
        "-(0.5 * m @ model.weights @ m + model.biases @ m) - model.temperature * ("
        "-((1 + m) / 2 * np.log((1 + m) / 2) + (1 - m) / 2 * np.log((1 - m) / 2))).sum()"
    ],
    "04_mean_field-my_mean": ["2 / (1 + np.exp(-2 * model.field(m)[i] / model.temperature)) - 1"],
    "05_full_learning-my_average": [
        "bmlab.BoltzmannMachine(sum(m.weights for m in machines) / len(machines), "
        "sum(m.biases for m in machines) / len(machines))"
    ],
    "05b_which_method-my_radius": ["np.linalg.norm(model.weights, 2) / model.temperature"],
    "08_restricted_machines-my_log_z": [
        "bmlab.exact(model).log_z.value",
        "np.log(np.exp(log_weight(turned(model, v), bmlab.states(model.n - v))).sum())",
    ],
    "10_attention_and_diffusion-my_attention": [
        "(a := np.exp(beta * s @ patterns.T)) @ patterns / a.sum(axis=-1, keepdims=True)"
    ],
    "09_handwritten_digits-my_rehearsal": [
        "sum((part == k) * (log_p(*learnt[k], train).argmax(1) != labels) for k in range(4))"
    ],
    "06_your_own_data-my_log_p": ["bmlab.log_prob(machine, row[None])[0]"],
    "06_your_own_data-my_guess": ["np.where(np.isnan(row), bmlab.complete(machine, row).mean, row)"],
}
OTHERS = 5000  # the seed of the cases on which a slip shows


@cache
def story(name):
    """The names that the blanks of a notebook need, made by its cells."""
    cells, made = [cell.source for cell in code_cells(SOURCES[name])], {}
    kept, _ = needed_cells(cells, [BLANK in source for source in cells])
    for source in kept.values():
        exec(source.replace(BLANK, ""), made)
    return made


def written(source, blank, here):
    """The function of a source, in the story's own names."""
    made = {}
    exec(compile(source, "answer", "exec"), here, made)
    return made[blank]


@pytest.fixture(params=BLANKS.values(), ids=list(BLANKS))
def one(request):
    """A blank."""
    return parts_of(*request.param)


@pytest.fixture(params=one_of(BLANKS.values(), kind=lambda blank: blank[0], ids=list(BLANKS)))
def tried(request):
    """A blank; `make test` takes one a notebook."""
    return parts_of(*request.param)


def parts_of(name, blank):
    """Name of the notebook, the package's version of a blank, its source and its cases."""
    source, cases, _ = BLANKS_OF[name][blank]
    return name, written(source, blank, story(name)), source, cases


def test_right_answers_pass_in_any_style_and_go_on_where_they_are_whole(one):
    _, right, _, cases = one
    assert judging.judge(right, right, cases) == judging.Verdict("", True)
    for style, change in slips.STYLES.items():
        assert judging.judge(slips.wrapped(right, change), right, cases).wrong == "", style


def differs(wrong, right, cases):
    """Whether an answer is wrong in any of many other cases."""
    rng = np.random.default_rng(OTHERS)
    with np.errstate(all="ignore"):
        for _ in range(100):
            given = judging.draw(right, cases, rng, right.__globals__)
            if not agree(wrong, right, [given]):
                return True
    return False


def test_no_usual_slip_passes_and_each_gets_a_sentence(tried):
    name, right, source, cases = tried
    answers = [(slip, text, written(text, right.__name__, story(name))) for slip, text in edited(source)]
    answers += [(slip, "", slips.wrapped(right, change)) for slip, change in slips.RESULTS.items()]
    for slip, typed, wrong in answers:
        words = judging.judge(wrong, right, cases, source=source, typed=typed).wrong
        assert words or not differs(wrong, right, cases), slip
        assert not words or (words.startswith(right.__name__) and len(words.split()) > 4), words
        assert " 1 times" not in words, words
        assert not typed or not re.search(r"and \S+ is right$", words), "a case alone, and it is the right formula"
        print(f"{right.__name__}: {slip}: {words or 'the same function'}")


def writing_lists(function):
    """A right function that then takes the last number, row or machine off its argument."""

    def answered(*given):
        found = function(*deepcopy(given))
        for one in given:
            if isinstance(one, list):
                one.pop()
            elif isinstance(one, np.ndarray):
                one[...] = 0
        return found

    return answered


def late(function):
    """A function that is right a dozen times."""
    asked = []

    def answered(*given):
        asked.append(given)
        found, more = function(*given), len(asked) > judging.CASES
        return slips.each(found, lambda one: one + more * (one if isinstance(found, bmlab.BoltzmannMachine) else 1))

    return answered


def sharing(function):
    """A right function that returns one and the same array, filled anew."""
    kept = {}

    def filled(one):
        kept.setdefault(np.shape(one), np.zeros(np.shape(one)))[...] = one
        return kept[np.shape(one)]

    return lambda *given: slips.each(function(*given), filled)


def of_two_orders(function):
    """A function that takes its arguments in the opposite order."""
    names = list(inspect.signature(function).parameters)
    return eval(f"lambda {', '.join(names[::-1])}: function({', '.join(names)})", {"function": function})


def raising(error):
    """A function that stops with an error."""

    def stops(*given):
        raise error

    return stops


HABITS = {  # a function whose numbers may be right, and a part of the sentence on its flaw
    writing_lists: "writes into what it is given",
    late: "gives another answer where the same is asked again",
    sharing: "writes over what it returned before",
    of_two_orders: "leave its first line as it was",
    lambda function: lambda: 0: "leave its first line as it was",
    lambda function: raising(SystemExit): "stops with SystemExit",
    lambda function: raising(KeyboardInterrupt): "is it a loop without an end",
}


@pytest.mark.parametrize("habit", HABITS, ids=HABITS.values())
def test_a_bad_habit_is_found_at_every_blank(tried, habit):
    _, right, source, cases = tried
    given = judging.draw(right, cases, np.random.default_rng(0), right.__globals__)
    arrays = not isinstance(right(*deepcopy(given)), bmlab.BoltzmannMachine) and np.ndim(parts(right(*given))[0])
    applies = {
        writing_lists: any(isinstance(one, list | np.ndarray) for one in given),
        sharing: arrays,
        of_two_orders: len(given) > 1,
    }
    if not applies.get(habit, True):
        return
    wrong = habit(right)
    takes, names = inspect.signature(wrong), right.__globals__ | {"_wrong": wrong}
    wrong = written(f"def {right.__name__}{takes}:\n    return _wrong{takes}", right.__name__, names)
    said = judging.judge(wrong, right, cases, source=source).wrong
    assert said.startswith(right.__name__) and HABITS[habit] in said, said


def test_a_right_answer_with_other_names_passes_and_is_not_called_by_the_story():
    """The story may call it by the package's names: my_bethe(tree, rounds=4)."""
    right = written("def mine(x, n=2):\n    return n * x", "mine", {})
    other = written("def mine(y, n=2):\n    return n * y", "mine", {})
    assert judging.judge(other, right, "[rng.normal()]") == judging.Verdict("", False)
    default = written("def mine(x, n=3):\n    return 2 * x", "mine", {})
    assert "takes (x, n=3), where (x, n=2) is asked for" in judging.judge(default, right, "[rng.normal()]").wrong


def test_what_cannot_be_compared_in_the_cases_behind_the_first_is_a_sentence():
    right = written("def mine(x):\n    return 1.0 * x", "mine", {})
    wrong = written("def mine(x):\n    return [x, x] if x > 12 else x + 1", "mine", {"count": iter(range(99))})
    said = judging.judge(wrong, right, "[next(count)]").wrong
    assert said.startswith("mine returned shape (2,), where one number is asked for (x = 13")


@pytest.mark.parametrize("typed, known", [("log_z", "; log_zs is"), ("LOG_ZS", "; log_zs is"), ("far", "")])
def test_an_unknown_name_is_told_beside_the_known_one_that_is_like_it(typed, known):
    right = written("def mine(log_zs):\n    return sum(log_zs)", "mine", {})
    wrong = written(f"def mine(log_zs):\n    return sum({typed})", "mine", {})
    said = judging.judge(wrong, right, "[rng.normal(size=3)]").wrong
    assert said == f"mine stops with NameError: name '{typed}' is not defined{known}"  # in every case alike


@pytest.mark.parametrize("name", BLANKS_OF)
def test_a_blank_is_alone_in_its_cell_and_tried_where_T_is_not_1(name):
    """A student who writes the function alone, in place of the cell, goes on; an answer for T = 1 only is named."""
    for place, cell in enumerate(SOURCES[name].cells):
        if BLANK not in cell.source:
            continue
        (function,) = ast.parse(cell.source).body
        question = [above.source for above in SOURCES[name].cells[:place] if above.cell_type == "markdown"][-1]
        _, right, _, cases = parts_of(name, function.name)
        rng = np.random.default_rng(0)
        machines = [one for _ in range(9) for one in judging.draw(right, cases, rng, right.__globals__)]
        machines = [one for given in machines for one in (given if isinstance(given, list) else [given])]
        warm = {one.temperature for one in machines if isinstance(one, bmlab.BoltzmannMachine)}
        assert warm != {1} or re.search(r"T = 1\b|for now it is 1|at \$T = 1", question), cell.id


def test_slips_are_made_of_a_source_alone():
    """A traceback of IPython's ties the nodes that all trees share to the module that it shows."""
    shared = ast.parse("x").body[0].value.ctx
    shared.parent = Lock()  # as a module of 10,000 lines, it is not to be copied
    assert ("has a minus where a plus belongs", "1 - x") in edited("1 + x")
    del shared.parent


def test_each_known_slip_is_wrong_and_told_in_its_own_words_however_it_is_typed(one):
    name, right, source, cases = one
    known = BLANKS_OF[name][right.__name__][2]
    for text, words in known.items():
        wrong = written(text, right.__name__, story(name))
        said = judging.judge(wrong, right, cases, source=source, slips=known).wrong
        assert said == f"{right.__name__} is not right yet: {words}" and len(words.split()) > 4, text
    assert len({*known.values()}) == len(known), "one sentence of two slips"


@pytest.mark.parametrize("name", BLANKS_OF)
def test_the_commonest_slips_of_a_notebook_have_sentences_of_their_own(name):
    assert sum(len(known) for _, _, known in BLANKS_OF[name].values()) >= 4


@pytest.mark.parametrize("blank", RIGHT)
def test_what_is_right_in_another_form_passes(blank):
    name, function = BLANKS[blank]
    source, cases, _ = BLANKS_OF[name][function]
    right = written(source, function, story(name))
    head = source.partition(":\n")[0]
    for body in RIGHT[blank]:
        typed = written(f"{head}:\n    return {body}", function, story(name))
        assert judging.judge(typed, right, cases).wrong == "", body


@pytest.mark.parametrize("blank", TYPED)
def test_what_strict_readers_typed_is_refused(blank):
    name, function = BLANKS[blank]
    source, cases, _ = BLANKS_OF[name][function]
    right = written(source, function, story(name))
    head = source.partition(":\n")[0]
    for body in TYPED[blank]:
        wrong = written(f"{head}:\n    return {body}", function, story(name))
        assert judging.judge(wrong, right, cases).wrong, body


def test_parts_in_another_order_are_told_so():
    right = written("def mine(x):\n    return x, np.outer(x, x)", "mine", {"np": np})
    wrong = written("def mine(x):\n    return np.outer(x, x), x", "mine", {"np": np})
    assert "mine returned its parts in another order: shape (6,) comes first" in judging.judge(wrong, right).wrong


def test_a_slip_in_one_part_is_not_told_of_another_that_it_makes_wrong_too():
    """Biases that stay as they are make the weights wrong in the next step."""
    _, right, source, cases = parts_of("01_theory", "climbed")
    typed = source.replace(" + rate * d_biases", "")
    wrong = written(typed, "climbed", story("01_theory"))
    said = judging.judge(wrong, right, cases, source=source, typed=typed).wrong
    assert said == "climbed is not right yet: it lacks a term"


TOO_LARGE = {"my_independent", "my_rehearsal"}  # of 64 pixels


def test_the_case_that_is_shown_is_written_out_with_all_its_numbers(one):
    _, right, _, cases = one
    rng, names = np.random.default_rng(0), right.__globals__
    small = [[short(part) for part in judging.draw(right, cases, rng, names, n)] for n in judging.SMALLEST * 9]
    shown = case(right, min(small, key=lambda given: sum(map(size, given))))
    assert not re.search(r"an array of shape|\d machines|a machine of", shown) or right.__name__ in TOO_LARGE, shown


NAMED = {  # an answer in place of x + rate * step, or of another right answer -> a part of the sentence
    "x + rate * step": {
        "x - rate * step": "goes the wrong way",
        "x + rate / 2 * step": "takes steps 0.5 times as long",
        "rate * step": "is the step alone",
        "x + step": "does not depend on rate",
        "x + step / rate": "right for one over rate",
    },
    "np.logaddexp.reduce(1000 * x)": {
        "np.log(np.exp(1000 * x).sum())": "is inf where .* is right, as an overflow",
        "np.logaddexp.reduce(1000 * x) + 0.01": "always too large by 0.01: a constant",
    },
    "5000 + np.logaddexp.reduce(x)": {"5000 + x.max()": "and .* is right"},
    "np.sign(x)": {
        "np.sign(x + 0.3)": "it is [01] at place .*, and -1 is right",
        "np.ones_like(x)": "1, whatever is given",
    },
    "x.max() - x.min()": {"1e-17 * x.max()": "is 0, whatever is given"},
    "10 * x.max()": {
        "int(10 * x.max())": "it is cut to a whole number",
        "np.ceil(10 * x.max())": "it is rounded up to a whole number",
        "np.round(10 * x.max())": "it is rounded to a whole number",
    },
}


@pytest.mark.parametrize("right", NAMED)
def test_a_hint_names_the_slip_in_numbers_that_differ(right):
    def function(body):
        return written(f"def mine(x, rate, step):\n    return {body}", "mine", {"np": np})

    kinds = "rng.normal(size=5), rng.uniform(0.2, 0.8), rng.normal(size=5)"
    for body, words in NAMED[right].items():
        said = judging.judge(function(body), function(right), kinds).wrong
        both = re.search(r"is (\S+)(?: at place \S+)?, and (\S+) is right", said)
        assert re.search(words, said) and not (both and both[1] == both[2]), (body, said)


def test_a_blank_that_calls_itself_is_told_so(capsys):
    """Its name means the package's version, until it is right: it agrees with that for nothing."""
    names = {"my_twice": lambda x: 2 * x}
    exec("def calling(x):\n    return my_twice(x)", names)
    function = names["calling"]
    function.__name__ = "my_twice"
    student_copy.judged(function, "def my_twice(x):\n    return 2 * x", "")
    assert capsys.readouterr().out.startswith("\N{BALLOT X} my_twice calls itself without an end: ")
    assert names["my_twice"](3) == 6, "it is put back"


@pytest.mark.parametrize("body", ["x + 1", "y", "None", "'2'", "[2 * x, x]"])
def test_what_is_said_of_a_wrong_blank_ends_in_one_stop(body, capsys):
    exec(f"def my_twice(x):\n    return {body}", names := {})
    student_copy.judged(names["my_twice"], "def my_twice(x):\n    return 2 * x", "")
    assert re.search(r"\w\W?[.?] The story goes on with the package's version\.\n$", capsys.readouterr().out)


def test_a_name_that_a_test_asks_for_and_is_not_there_is_missing():
    assert kind_of_slip("assert side > 0", ["side"], {}) == "side is missing: no cell that ran to its end has made it"
