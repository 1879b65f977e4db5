"""fit(): its end, the steps that it keeps, and the reason that it gives."""

from functools import partial
from itertools import islice

import numpy as np
import pandas as pd
import pytest
from selection import one_of, slow
from test_ascent import DATA, blank
from test_contract import machine

import bmlab
from bmlab.learn.ascent import batches


def alike(one, other):
    return (one.model.weights == other.model.weights).all() and (one.model.biases == other.model.biases).all()


def test_every_so_many_steps_are_kept_and_the_last():
    steps = bmlab.fit(blank(4), DATA, steps=11, rate=0.1, every=4).steps
    assert [step.optimizer.number for step in steps] == [0, 4, 8, 10]
    assert alike(steps[-1], bmlab.fit(blank(4), DATA, steps=11, rate=0.1))
    found = bmlab.fit(blank(4), DATA, steps=50, rate=[0.1] * 6, every=4)
    assert [step.optimizer.number for step in found.steps] == [0, 4, 5]
    assert found.message.startswith("the rates ended after 6 of 50 steps, and the slope is")
    assert bmlab.fit(blank(4), DATA, steps=6, rate=[0.1] * 6).message.startswith("all steps were made")


def test_a_step_is_where_the_loop_goes_on():
    options = dict(rate=np.linspace(0.3, 0.1, 20), momentum=0.5, batch=3, penalty=0.01)
    whole = bmlab.fit(blank(4), DATA, steps=20, **options, rng=np.random.default_rng(0)).steps
    half = bmlab.fit(blank(4), DATA, steps=8, **options, rng=np.random.default_rng(0)).steps
    rest = bmlab.fit(half[-1], DATA, steps=12, **options, rng=np.random.default_rng(5)).steps
    assert len(rest) == 12 and all(map(alike, whole, half + rest))


def test_batches_meet_every_row_equally_often():
    """Whatever the length of a batch, each row is met exactly once in as many rows as there are."""
    for total, size in ((10, 3), (7, 7), (12, 5), (5, 1)):
        order = np.concatenate(list(islice(batches(total, size, np.random.default_rng(3)), 2 * total)))
        assert len(order) == 2 * total * size
        for epoch in range(2 * size):
            assert sorted(order[epoch * total : (epoch + 1) * total]) == list(range(total))
        assert total < 5 or (order[:total] != order[total : 2 * total]).any()


def test_the_mean_slope_of_the_batches_is_the_slope_of_the_data():
    rate = 1e-7  # the machine all but stands still
    steps = bmlab.fit(machine(4), DATA, steps=len(DATA), rate=rate, batch=3, rng=np.random.default_rng(0)).steps
    moved = steps[-1].model.biases + rate * steps[-1].optimizer.velocity[1] - steps[0].model.biases
    whole = next(bmlab.learning_steps(machine(4), DATA, rate=rate)).optimizer.velocity[1]
    assert np.allclose(moved / rate / len(DATA), whole, atol=1e-5)
    assert len({tuple(step.clamped.mean) for step in steps}) > 1


def test_momentum_keeps_a_share_of_the_last_move():
    one, two, three = bmlab.fit(machine(4), DATA, steps=3, rate=0.1, momentum=0.6).steps
    moves = two.model.biases - one.model.biases, three.model.biases - two.model.biases
    slope = bmlab.gradient(two.model, two.clamped, two.free)[1]
    assert np.allclose(moves[1], 0.6 * moves[0] + 0.1 * slope, atol=1e-14)


@pytest.mark.parametrize("momentum", one_of([0.0, 0.8], mark=slow))
def test_l1_makes_weights_zero(momentum):
    """At the end each weight is 0 with a slope of at most l1, or the slope l1 by its sign (Karush, Kuhn, Tucker)."""
    last = bmlab.fit(
        blank(4), DATA, steps=2000, rate=0.3 * (1 - momentum), momentum=momentum, l1=0.1, every=2000
    ).steps[-1]
    assert last.gradient_norm < 1e-9
    slope = bmlab.gradient(last.model, last.clamped, last.free)[0][np.triu_indices(4, 1)]
    w = last.model.weights[np.triu_indices(4, 1)]
    assert 0 < (w == 0).sum() < 6 and np.abs(slope[w == 0]).max() <= 0.1 + 1e-8
    assert np.allclose(slope[w != 0], 0.1 * np.sign(w[w != 0]), atol=1e-8)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"rate": []}, "rate has no numbers, so no step was made"),
        ({"data": [[1, np.nan, 1, 1]], "free_start": "data"}, "free_start='data' begins at rows of the data"),
        ({"batch": 3}, "batches are drawn by rng; pass rng="),
        ({"batch": 3, "data": bmlab.moments(DATA)}, "ask for rows, found moments; pass the rows"),
        ({"rng": 0}, "rng=0 draws batches, found batch=None; pass batch=10, or leave rng out"),
        ({"steps": 10**12}, r"1,000,000,000,002 steps of 4 units would be kept, .*; pass every=100, or more"),
    ],
)
def test_options_that_make_no_sense_are_refused(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        bmlab.fit(blank(4), **{"data": DATA, "steps": 3, "rate": 0.1, **wrong})


@pytest.mark.slow
def test_a_fit_has_converged_where_it_came_to_rest():
    """At a maximum, by phases that converged; not after a few steps, not by chains, and not at a saddle."""
    infer = partial(bmlab.gibbs, rng=np.random.default_rng(0), n_chains=10, burn_in=0, n_sweeps=1)
    data = np.vstack([bmlab.states(3), DATA[:, :3]])
    rest = bmlab.fit(blank(3), data, steps=2000, rate=0.3, every=2000)
    assert rest.converged and rest.steps[-1].gradient_norm <= 1e-6
    assert not bmlab.fit(blank(3), data, steps=3, rate=0.3).converged
    assert not bmlab.fit(rest.model, data, infer, steps=2, rate=0.0).converged
    stuck = bmlab.fit(blank(4), data, steps=2000, rate=0.3, every=2000)
    assert stuck.steps[-1].gradient_norm <= 1e-6
    assert not stuck.converged and "hidden unit 3 has no weights" in stuck.message


LEARNERS = {
    "fit": lambda: bmlab.fit(blank(4), DATA, steps=3, rate=0.1),
    "maximize": lambda: bmlab.maximize(blank(4), DATA, penalty=0.1),
    "pcd": lambda: bmlab.pcd(
        bmlab.restricted(np.zeros((4, 2)), np.zeros(4), np.zeros(2)), DATA, rng=0, steps=2, rate=0.1, batch=5
    ),
    "pseudolikelihood": lambda: bmlab.pseudolikelihood(DATA, penalty=0.1),
    "invert_mean_field": lambda: bmlab.invert_mean_field(DATA, noise=0.1),
    "invert_tap": lambda: bmlab.invert_tap(DATA),
    "invert_bethe": lambda: bmlab.invert_bethe(DATA, noise=0.1),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_answers_with_one_record(name):
    found = LEARNERS[name]()
    assert isinstance(found, bmlab.Fit) and isinstance(found.model, bmlab.BoltzmannMachine)
    assert found.converged is (name not in ("fit", "pcd"))  # three steps, and two that nobody has looked at
    assert found.message and found.message in repr(found)
    assert all(isinstance(step, bmlab.Step) for step in found.steps)
    assert not found.steps or found.steps[-1].model is found.model


def test_the_penalty_means_the_same_to_every_learner():
    """Two units: dL/dw = c - tanh w = penalty * w at the end, and half of dPL/dw is as much."""
    data = np.repeat(bmlab.states(2), [7, 3, 3, 7], axis=0)
    two = bmlab.BoltzmannMachine(np.zeros((2, 2)), np.zeros(2))
    found = [bmlab.maximize(two, data, penalty=0.3), bmlab.fit(two, data, steps=300, rate=0.5, penalty=0.3)]
    for fit in [*found, bmlab.pseudolikelihood(data, penalty=0.3)]:
        w = fit.model.weights[0, 1]
        assert abs(0.4 - np.tanh(w) - 0.3 * w) < 1e-5


@pytest.mark.parametrize("names", [(), ("a", "b", "c")])
def test_moments_of_fewer_units_than_the_machine_has_are_told_to_be_rows(names):
    """Hidden units have no column: "pass one column a unit" was no way out."""
    rows = pd.DataFrame(bmlab.states(2), columns=names[:2] or range(2))
    model = bmlab.BoltzmannMachine(np.zeros((3, 3)), np.zeros(3), names=names)
    for learn in (partial(bmlab.fit, steps=1, rate=0.1), bmlab.maximize):
        with pytest.raises(ValueError, match=r"moments must be of all 3 units .*; pass rows if units are hidden"):
            learn(model, bmlab.moments(rows))
