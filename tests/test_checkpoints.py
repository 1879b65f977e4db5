"""A run that is killed at any moment, within a write too, ends as if it had not been, to the bit."""

import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from crashing import DATA, run
from fuzz_cases import public
from scipy.sparse import csr_array
from selection import one_of, slow
from test_ascent import blank
from test_fitting import alike

import bmlab


def test_a_run_that_is_over_is_not_made_again(tmp_path):
    one = run(tmp_path / "a.bm", 12)
    (again,) = run(tmp_path / "a.bm", 12).steps
    assert alike(one, again) and not again.model.weights.flags.writeable
    assert again.free.method == "gibbs" and again.log_likelihood.upper == one.steps[-1].log_likelihood.upper


def gibbs_with(rng):
    return partial(bmlab.gibbs, rng=rng, n_chains=5, burn_in=0, n_sweeps=2)


SHORT = {
    "gibbs": {"n_chains": 5, "burn_in": 0, "n_sweeps": 2},
    "visited": {"n_sweeps": 4},
    "temper": {"n_ladders": 3, "burn_in": 5, "n_sweeps": 9},
    "ais": {"n_chains": 5, "n_temperatures": 4},
}
METHODS = [
    name
    for name, function in public().items()
    if {"model", "start"} <= set(signature(function).parameters)
    and not {"data", "schedule"} & set(signature(function).parameters)
]
NAMED = bmlab.BoltzmannMachine(np.zeros((4, 4)), np.zeros(4), names=list("abcd"))
SIX = bmlab.sherrington_kirkpatrick(6, rng=np.random.default_rng(0), scale=0.3)
MACHINES = {"named": NAMED, "sparse": replace(blank(4), weights=csr_array(0.1 * (1 - np.eye(4)))), "hidden": SIX}


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("kind", one_of([np.random.PCG64, np.random.MT19937], mark=slow))
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_the_package_can_go_on(name, machine, kind, tmp_path):
    """Ladders, weighted runs and mixtures of trees were refused at the first save, after the work of a step."""
    method, model = getattr(bmlab, name), MACHINES[machine]
    draws = "rng" in signature(method).parameters

    def climb(path, steps, rng=None):
        rng = rng or np.random.Generator(kind(1))
        infer = partial(method, rng=rng, **SHORT.get(name, {})) if draws else method
        return bmlab.fit(model, DATA, infer, steps=steps, rate=0.05, momentum=0.5, checkpoint=path, rng=rng)

    assert {"exact", "gibbs", "temper", "ais", "visited", "mean_field", "tap", "bethe", "trw"} <= set(METHODS)
    whole, _, rest = climb(None, 6), climb(tmp_path / "a.bm", 3), climb(tmp_path / "a.bm", 6)
    assert rest.steps[0].optimizer.number == 2 and rest.model.names == model.names
    assert abs(rest.model.weights - whole.model.weights).max() == 0 and (rest.model.biases == whole.model.biases).all()
    for other in (2, 1):  # another seed, and the right one that has drawn before
        rng = np.random.Generator(kind(other))
        rng.random(2 - other)
        if other == 1:
            rng.random()
        with pytest.raises(ValueError, match=r"other rng\); .*, or pass rng as it was when the run began$"):
            climb(tmp_path / "a.bm", 7, rng)


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_a_generator_that_goes_on_from_where_the_file_ends_is_taken(tmp_path):
    """Of a notebook: one generator, and one cell that is run again with more steps."""
    rng = np.random.default_rng(1)
    options = {"data": DATA, "rate": 0.05, "rng": rng, "checkpoint": tmp_path / "a.bm"}
    for steps in (2, 4, 6):
        rest = bmlab.fit(blank(4), infer=gibbs_with(rng), steps=steps, **options)
    again = np.random.default_rng(1)
    assert alike(rest, bmlab.fit(blank(4), DATA, gibbs_with(again), steps=6, rate=0.05, rng=again))
    again = np.random.default_rng(1)
    rest = bmlab.fit(blank(4), infer=gibbs_with(again), steps=8, **options | {"rng": again})
    assert [step.optimizer.number for step in rest.steps] == [5, 6, 7]


def test_a_file_of_more_steps_than_are_asked_for_is_refused(tmp_path):
    first = bmlab.fit(blank(4), DATA, steps=4, rate=0.1, checkpoint=tmp_path / "a.bm")
    with pytest.raises(ValueError, match=r"a\.bm holds 4 steps, found steps=2; pass as many, more, or another path"):
        bmlab.fit(blank(4), DATA, steps=2, rate=0.1, checkpoint=tmp_path / "a.bm")
    assert alike(first, bmlab.fit(blank(4), DATA, steps=4, rate=0.1, checkpoint=tmp_path / "a.bm"))


class Home:
    """A state that no file holds."""


def with_state(model, start=None):
    return replace(bmlab.exact(model), state=Home())


@pytest.mark.parametrize(
    ("infer", "sentence"),
    [
        (gibbs_with(np.random.default_rng(0)), r"infer draws from a generator of its own, .*; bind the rng of fit\(\)"),
        (with_state, "cannot hold a Home, which the state of an answer of this run has in it; let it be arrays"),
    ],
    ids=["another generator", "a state"],
)
def test_what_cannot_go_on_is_refused_when_the_run_begins(infer, sentence, tmp_path):
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match=sentence):
        bmlab.fit(blank(4), DATA, infer, steps=9, rate=np.full(9, 0.1), rng=rng, checkpoint=tmp_path / "a.bm", every=9)
    assert not (tmp_path / "a.bm").exists()


def of_this_module(model, start=None):
    return bmlab.exact(model)


def test_functions_are_known_by_their_names(tmp_path):
    """Another lambda, or another function made inside one, would go on with the run of the first: they are refused."""

    def inner(model, start=None):
        return bmlab.exact(model)

    for infer in (lambda model, start=None: bmlab.exact(model), inner, partial(inner)):
        with pytest.raises(ValueError, match="which no checkpoint can tell from another; write it as a function of a"):
            bmlab.fit(blank(4), DATA, infer, steps=3, rate=0.1, checkpoint=tmp_path / "a.bm")
    bmlab.fit(blank(4), DATA, of_this_module, steps=3, rate=0.1, checkpoint=tmp_path / "a.bm")
    with pytest.raises(ValueError, match=r"belongs to another run \(other infer\)"):
        bmlab.fit(blank(4), DATA, bmlab.exact, steps=5, rate=0.1, checkpoint=tmp_path / "a.bm")


PLAIN = {"rate": 0.1, "batch": 3, "rng": 0}
OTHERS = {
    "model": {"model": blank(5)},
    "numbers": {"model": bmlab.sherrington_kirkpatrick(4, rng=0)},
    "names": {"model": bmlab.BoltzmannMachine(np.zeros((4, 4)), np.zeros(4), names=list("abcd"))},
    "data": {"data": -DATA},
    "rows": {"data": DATA[:-1]},
    "rate": {"rate": 0.2},
    "rates": {"rate": np.full(3, 0.1)},
    "free_start": {"free_start": "fresh"},
    "couplings": {"couplings": np.eye(4)[::-1]},
    "biases": {"biases": np.arange(4) < 2},
    "penalty": {"penalty": 0.1},
    "l1": {"l1": 0.1},
    "momentum": {"momentum": 0.5},
    "batch": {"batch": 4},
    "rng": {"rng": 1},
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_run_of_other_numbers_or_words_is_refused(name, tmp_path):
    """Equal numbers are the same run, however they are written; any other is refused in one sentence that names it."""

    def climb(data=DATA, **options):
        options = {"model": blank(4), **PLAIN, "steps": 3, "checkpoint": tmp_path / "a.bm"} | options
        return bmlab.fit(data=data, **options)

    climb()
    climb(data=DATA.astype(int).tolist(), rate=np.float64(0.1), penalty=0)
    part = {"numbers": "model", "names": "model", "rows": "data", "rates": "rate"}.get(name, name)
    with pytest.raises(ValueError, match=rf"belongs to another run \(other {part}\); delete it"):
        climb(**OTHERS[name])


def test_moments_go_on_as_rows_do(tmp_path):
    moments, other = bmlab.moments(DATA), bmlab.moments(DATA[:-1])
    whole = bmlab.fit(blank(4), moments, steps=6, rate=0.1)
    for steps in (3, 6):
        rest = bmlab.fit(blank(4), moments, steps=steps, rate=0.1, checkpoint=tmp_path / "a.bm")
    assert rest.steps[0].optimizer.number == 2 and alike(rest, whole)
    with pytest.raises(ValueError, match=r"another run \(other data\)"):
        bmlab.fit(blank(4), other, steps=6, rate=0.1, checkpoint=tmp_path / "a.bm")


@pytest.mark.parametrize("kinds", [(np.random.MT19937, np.random.PCG64), (np.random.PCG64, None)])
def test_a_generator_of_another_kind_is_another_run(kinds, tmp_path):
    options = {"steps": 3, "rate": 0.1, "checkpoint": tmp_path / "a.bm"}
    one, other = ({"rng": np.random.Generator(kind(0)), "batch": 3} if kind else {} for kind in kinds)
    bmlab.fit(blank(4), DATA, **one, **options)
    with pytest.raises(ValueError, match=r"another run \(other .*rng\)"):
        bmlab.fit(blank(4), DATA, **other, **options)


def test_a_file_runs_no_code(tmp_path):
    """A pickle, alone or as an array of objects, is refused; nothing in it is called."""

    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "exploded"),)

    path = tmp_path / "a.bm"
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match="no whole checkpoint"):
        run(path, 3)
    objects = io.BytesIO()
    np.savez(objects, json=np.array([Bomb()], dtype=object))
    path.write_bytes(objects.getvalue())
    with pytest.raises(ValueError, match="no whole checkpoint"):
        run(path, 3)
    content = json.dumps({"dict": {"run": {"os.system": {"command": "true"}}}})
    np.savez(path.open("wb"), json=np.frombuffer(content.encode(), np.uint8))
    with pytest.raises(ValueError, match="no whole checkpoint"):
        run(path, 3)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.slow
def test_a_run_killed_at_twenty_moments_ends_bit_identical(tmp_path):
    """Each child continues the run of the one before, until it kills itself; some of them in the midst of a write."""
    path, rng = tmp_path / "a.bm", np.random.default_rng(0)
    command = [sys.executable, Path(__file__).with_name("crashing.py"), path]
    with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        for moment in rng.integers(1, 21, 20):
            before = saved(path)
            print(moment, file=parent.stdin, flush=True)
            dots, _, end = parent.stdout.readline().partition(" ")
            assert int(end) == -signal.SIGKILL
            made = before + len(dots)
            assert before <= saved(path) <= made <= saved(path) + 3
    assert saved(path) > 30
    assert alike(run(path, 99, every=3), run(None, 99))


def saved(path):
    """The number of the step in the file; -1 if there is none."""
    if not path.exists():
        return -1
    with np.load(path) as parts:
        return int(re.search(rb'"OptimizerState": {"number": (\d+)', parts["json"].tobytes())[1])
