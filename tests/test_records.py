"""Whatever the package answers can be pickled and copied, as notebooks, pools of processes and joblib do.

It shows itself in a line, and nobody writes on its arrays.
"""

import inspect
import pickle
from copy import deepcopy
from dataclasses import is_dataclass, replace

import numpy as np
import pytest
from fuzz_cases import CASES
from scipy import sparse
from test_fuzz import alike, call, public

import bmlab
from bmlab.methods import METHODS

CONTEXTS, OTHERS = ("progress", "workers"), ("widgets.", "data.mnist", "data.yes_no")  # a page's; slow; pandas's
ANSWERED = [name for name in CASES if not name.startswith(CONTEXTS + OTHERS)]


def answers():
    for name in ANSWERED:
        if name.startswith("plot."):  # matplotlib's
            continue
        answer, error, _ = call(public()[name], CASES[name][0])
        assert error is None, name
        yield name, answer


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_every_answer_of_every_function_can_be_pickled_and_copied():
    met = set()
    for name, answer in answers():
        for twin in (pickle.loads(pickle.dumps(answer)), deepcopy(answer)):
            assert type(twin) is type(answer) and alike(twin, answer), name
        met |= {type(part) for part in all_in(answer)}
    offered = {thing for thing in vars(bmlab).values() if inspect.isclass(thing)}
    assert offered - met == {bmlab.Method, bmlab.NotConverged}  # which nobody answers


# The words of every record of every answer and of all records inside, and that nobody changes them.

LINE = 300  # characters
LATTICE, RANDOM = bmlab.ising((6, 7), coupling=0.3), bmlab.sherrington_kirkpatrick(18, rng=0)
SPARSE = replace(bmlab.medium(), weights=sparse.csr_array(bmlab.medium().weights))
NAMED = replace(RANDOM, names=tuple(f"a unit with quite a long name, number {k}" for k in range(18)))
CONSTANT = bmlab.BoltzmannMachine(np.zeros((1, 1)), [0.0])
MACHINES = {"lattice": LATTICE, "random": RANDOM, "sparse": SPARSE, "named": NAMED, "one unit": CONSTANT}


def answers_about(model):
    """Yield the answers of all functions that take a machine."""
    for row in METHODS.values():
        yield row.function(model, **({"rng": 0} if row.draws else {}), **row.fuzz)
    yield bmlab.bracket(model, rng=0)
    data = bmlab.sample(model, 50, rng=0)
    yield from (
        bmlab.exact_plan(model),
        bmlab.ground_state(model),
        bmlab.lowest_states(model, 2),
        bmlab.anneal(model, [2.0, 1.0], rng=0),
    )
    yield from (bmlab.clamped(model, data), bmlab.moments(data), bmlab.fit(model, data, steps=2, rate=0.01))
    yield bmlab.fit(model, data, bmlab.mean_field, steps=2, rate=0.01, momentum=0.5)
    yield bmlab.complete(model, np.where(np.arange(model.n) < model.n - 2, data, np.nan))


def all_in(answer):
    """Yield an answer, and all that is in it: fields of records, items, the arrays of a sparse one."""
    yield answer
    if sparse.issparse(answer):
        parts = answer.data, answer.indices, answer.indptr
    elif isinstance(answer, (list, tuple)):
        parts = answer
    else:
        parts = (answer if isinstance(answer, dict) else vars(answer) if is_dataclass(answer) else {}).values()
    for part in parts:
        yield from all_in(part)


def records_in(answers):
    is_ours = [part for part in all_in(answers) if type(part).__module__.startswith("bmlab.")]
    return [part for part in is_ours if is_dataclass(part) or hasattr(part, "_fields")]


@pytest.fixture(scope="module", params=["all functions", *MACHINES])
def answered(request):
    with bmlab.estimate.no_convergence_warnings():
        if request.param == "all functions":
            return [answer for _, answer in answers()]
        return [*answers_about(MACHINES[request.param])]


@pytest.mark.filterwarnings("ignore")
def test_every_record_shows_itself_in_a_line(answered):
    shown = {repr(record) for record in records_in(answered)}
    assert len(shown) > 10 and not [text for text in shown if len(text) > LINE or "\n" in text]


@pytest.mark.filterwarnings("ignore")
def test_a_misspelt_attribute_of_a_record_is_pointed_to(answered):
    """mean_std of an Estimate, and every other with its last letter gone; nothing that protocols look up is."""
    checked = set()
    for record in records_in(answered):
        names = [*getattr(record, "_fields", ()), *getattr(record, "__dataclass_fields__", ())]
        for name in names if type(record) not in checked else ():
            if len(name) > 3 and not hasattr(record, name[:-1]):
                with pytest.raises(AttributeError, match=rf"has no '{name[:-1]}'; did you mean '\w+'\?"):
                    getattr(record, name[:-1])
        with pytest.raises(AttributeError, match=r"^__array_interface_$"):
            getattr(record, "__array_interface_")
        checked.add(type(record))
    assert len(checked) > 5


@pytest.mark.filterwarnings("ignore")
def test_no_array_of_a_record_can_be_written_on(answered):
    records = records_in(answered)
    copied = [record for record in records if isinstance(record, (bmlab.Estimate, bmlab.BoltzmannMachine))]
    records += [copy(record) for record in copied for copy in (deepcopy, lambda x: pickle.loads(pickle.dumps(x)))]
    wrong = {type(x).__name__ for x in records for a in all_in(x) if isinstance(a, np.ndarray) and a.flags.writeable}
    assert records and not wrong


@pytest.mark.filterwarnings("ignore")
def test_errors_have_the_shape_of_what_they_are_errors_of(answered):
    estimates = [record for record in records_in(answered) if isinstance(record, bmlab.Estimate)]
    assert estimates
    for estimate in estimates:
        assert estimate.mean_stderr.shape == estimate.mean.shape and estimate.corr_stderr.shape == estimate.corr.shape
        assert sparse.issparse(estimate.corr_stderr) == sparse.issparse(estimate.corr)


def test_what_was_given_to_an_answer_can_still_be_written_on():
    mean, corr = np.zeros(2), sparse.eye_array(2, format="csr")
    answer = bmlab.Estimate(mean, corr, info={"rows": mean})
    mean[0], corr.data[0] = 1, 2
    with pytest.raises(ValueError, match="read-only"):
        answer.mean[0] = 1
