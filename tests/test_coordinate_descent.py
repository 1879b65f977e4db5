"""descend: every update lowers G, Newton's step never raises it, several starts find several valleys."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import sparse

import bmlab
from bmlab.checking.arrays import TIE_ROUNDING
from bmlab.infer.variational import coordinate_descent, naive_mean_field, tap_equations

quietly = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
THEORIES = {"mean field": naive_mean_field.free_energy_functional, "tap": tap_equations.free_energy_functional}
every_theory = pytest.mark.parametrize("theory", THEORIES.values(), ids=THEORIES)
MACHINES = {"dense": bmlab.medium().at(1.2), "sparse": bmlab.ising((3, 5), coupling=-1.0, field=0.4).at(1.5)}
every_machine = pytest.mark.parametrize("model", MACHINES.values(), ids=MACHINES)


@every_theory
@every_machine
def test_every_update_lowers_the_free_energy(theory, model):
    """G after each update of one class of units; its rounding is 1e-13, some 50 roundings of terms of order one."""
    functional, m = theory(model), np.random.default_rng(0).uniform(-1, 1, (model.n, 1))
    values = [functional.value(m[:, 0])]
    for row in 10 * coordinate_descent.rows_by_class(model):
        coordinate_descent.sweep_down(m, functional.coordinate_update, [row])
        values.append(functional.value(m[:, 0]))
    assert (np.diff(values) <= 1e-13).all() and values[-1] < values[0] - 1


@every_theory
@every_machine
def test_newton_never_raises_it(theory, model):
    """It is refused if G would rise, and taken somewhere."""
    functional, rng, moved = theory(model), np.random.default_rng(1), 0
    for m in rng.uniform(-1, 1, (200, model.n)):
        there = coordinate_descent._newton(model, functional, m)
        assert functional.value(there) <= functional.value(m) + 2 * coordinate_descent.FREE_ENERGY_ROUNDING * abs(
            functional.value(m)
        )
        moved += (there != m).any()
    assert moved > 0


@every_theory
def test_newton_ends_what_sweeps_alone_would_not(theory, monkeypatch):
    """G is nearly flat, mean field's about T = 4 and TAP's about T = 2: a sweep leaves nearly all of the error."""
    model = bmlab.ising((4, 4), field=1e-6).at(4.001 if theory is naive_mean_field.free_energy_functional else 2.1)
    calm = partial(
        coordinate_descent.descend, model, theory(model), np.full(16, 1e-4), 1, tolerance=1e-12, max_sweeps=300
    )
    assert calm().moved <= 1e-12
    monkeypatch.setattr(coordinate_descent, "_newton", lambda model, theory, m: m)
    assert calm().moved > 1e-9


@pytest.mark.parametrize("shape", [(4, 4), (18, 18)], ids=["all eigenvectors", "the leading ones"])
def test_several_starts_find_both_valleys_of_a_ferromagnet(shape):
    """With 4 neighbours, T = 2 and field 0.1 both solve m = tanh((4 m + 0.1) / 2); the one along the field is lower."""
    answer = bmlab.mean_field(bmlab.ising(shape, field=0.1).at(2.0), starts=5)
    valleys, energies = answer.info["fixed points"], answer.info["free energies"]
    uniform = valleys[np.ptp(valleys, axis=1) < 1e-9, 0]
    assert (np.sign(uniform) == [1, -1]).all() and np.abs(uniform - np.tanh((4 * uniform + 0.1) / 2)).max() < 1e-11
    assert (np.diff(energies) > 0).all() and (answer.mean == valleys[0]).all()
    assert answer.log_z.lower == -energies[0] / 2.0


def law_both_ends(method=bmlab.mean_field):
    """Without biases -m is a fixed point if m is one, and an odd number of starts finds both, or neither."""
    found = []
    for seed in range(6):
        weights = bmlab.sherrington_kirkpatrick(9, rng=seed).weights
        points = method(bmlab.BoltzmannMachine(weights, np.zeros(9), 0.5), starts=3 + 2 * (seed % 2)).info[
            "fixed points"
        ]
        apart = np.abs(points[:, None] + points).max(-1)
        assert (apart.min(0) < coordinate_descent.SAME_FIXED_POINT).all()
        found.append(len(points))
    assert max(found) > 1


@quietly
@pytest.mark.parametrize("method", [bmlab.mean_field, bmlab.tap])
def test_a_start_is_tried_at_both_ends(method):
    law_both_ends(method)


@pytest.mark.parametrize("method", [bmlab.mean_field, bmlab.tap])
def test_fixed_points_are_told_once_each_and_lowest_first(method):
    """Nine starts among two stored patterns and their negatives."""
    patterns = np.random.default_rng(2).choice([-1.0, 1.0], size=(2, 40))
    answer = method(bmlab.hopfield(patterns).at(0.4), starts=9)
    points, energies = answer.info["fixed points"], answer.info["free energies"]
    apart = np.abs(points[:, None] - points[None]).max(-1) + np.eye(len(points))
    assert len(points) > 1 and apart.min() > coordinate_descent.SAME_FIXED_POINT
    assert (np.diff(energies) >= -TIE_ROUNDING * np.abs(energies).max()).all()


@quietly
@pytest.mark.parametrize("method", [bmlab.mean_field, bmlab.tap])
def test_a_search_that_was_cut_short_speaks_of_a_bound_where_there_is_one(method):
    answer = method(bmlab.medium(), max_sweeps=1)
    assert ("bound" in answer.message) == np.isfinite(answer.log_z.lower) == (method is bmlab.mean_field)


@pytest.mark.parametrize("method", [bmlab.mean_field, bmlab.tap])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_there_may_be_more_starts_than_directions(method, n):
    """As many directions as units; in the heat all of them end at one fixed point, that of one start alone."""
    dense = bmlab.sherrington_kirkpatrick(n, rng=n).at(5.0)
    for model in (dense, replace(dense, weights=sparse.csr_array(dense.weights))):
        assert np.abs(method(model, starts=9).info["fixed points"] - method(model).mean).max() < 1e-6


@quietly
@pytest.mark.parametrize("method", [bmlab.mean_field, bmlab.tap, bmlab.bethe])
def test_cooled_starts_each_temperature_from_the_one_before(method):
    """One answer a temperature, each as if it had been given the state of the one before."""
    model, state = bmlab.medium(), None
    answers = list(bmlab.temperature_path(model, [4.0, 3.0, 2.0], method))
    for temperature, answer in zip([4.0, 3.0, 2.0], answers, strict=True):
        by_hand = method(model.at(temperature), start=state)
        assert (answer.mean == by_hand.mean).all() and answer.info["sweeps"] == by_hand.info["sweeps"]
        state = by_hand.state


@pytest.mark.parametrize("method", [bmlab.mean_field, bmlab.tap])
def test_the_offset_chooses_no_valley(method):
    """An offset moves log Z and nothing else, however large: here it leaves no digit of G that tells valleys apart."""
    model, start = bmlab.ising((4, 4), field=0.1).at(2.0), np.full(16, -0.9)
    plain, far = (method(replace(model, offset=offset), start=start, starts=5) for offset in (0.0, 1e17))
    assert (far.mean == plain.mean).all() and (far.info["fixed points"] == plain.info["fixed points"]).all()
    assert plain.mean[0] > 0.5 and abs(far.log_z.value / -5e16 - 1) < 1e-14


@pytest.mark.parametrize("method", [bmlab.mean_field, bmlab.tap])
def test_the_second_start_lies_along_the_biases(method):
    """Biases turned over turn the answer over, also if two starts see one end of the direction only."""
    model, start = bmlab.ising((4, 4), field=0.1).at(2.0), np.full(16, -0.9)
    answers = [method(replace(model, biases=sign * model.biases), start=sign * start, starts=2) for sign in (1, -1)]
    assert np.abs(answers[0].mean + answers[1].mean).max() < 1e-11 and answers[0].mean[0] > 0.5
