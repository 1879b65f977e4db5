"""exact: its three roads against each other, extreme energies, prices."""
import numpy as np
import pytest
from scipy.special import log_expit

import bmlab
from bmlab.infer import enumeration

ROADS = {"table": enumeration._by_table, "three products": enumeration._by_three_products,
         "every state": enumeration._by_every_state}


def random_machine(n, temperature=1.0, scale=1.0):
    rng = np.random.default_rng(n)
    weights = bmlab.sherrington_kirkpatrick(n, rng, scale).weights
    return bmlab.BoltzmannMachine(weights, rng.normal(size=n), temperature)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 11, 14])
def test_the_roads_agree(n):
    log_z, mean, corr = enumeration._by_table(random_machine(n, 0.9))
    for road in ROADS.values():
        answer = road(random_machine(n, 0.9))
        assert abs(answer[0] - log_z) < 1e-12 * (1 + abs(log_z))
        assert np.abs(answer[1] - mean).max() < 1e-12 and np.abs(answer[2] - corr).max() < 1e-12


def test_tiles_do_not_change_the_answer(monkeypatch):
    model = random_machine(13)
    whole = [road(model) for road in (enumeration._by_three_products, enumeration._by_every_state)]
    monkeypatch.setattr(enumeration, "TILE", 40)
    for road, (log_z, mean, corr) in zip((enumeration._by_three_products, enumeration._by_every_state), whole):
        answer = road(model)
        assert abs(answer[0] - log_z) < 1e-12
        assert np.abs(answer[1] - mean).max() < 1e-12 and np.abs(answer[2] - corr).max() < 1e-12


@pytest.mark.parametrize(("n", "road"), [(0, "independent units"), (5, "table"), (12, "three products")])
def test_info_names_the_road(n, road):
    model = random_machine(n) if n else bmlab.toy().clamp([0, 1, 2], [1, 1, 1])
    assert bmlab.exact(model).info["road"] == road


# Extreme energies

@pytest.mark.parametrize("model", [random_machine(18, 0.005), random_machine(14, 1.0, scale=5 * np.sqrt(14)),
                                   bmlab.BoltzmannMachine(random_machine(14).weights, np.full(14, 50.0), 0.05)],
                         ids=["T = 0.005", "|w| ~ 5", "fields of 50"])
def test_extreme_energies_are_right_to_rounding(model):
    """Against log-sum-exp over all states; 1e-13 of the largest exponent is lost by rounding the energies alone."""
    s = bmlab.states(model.n)
    logs = -model.energy(s) / model.temperature
    answer, log_z = bmlab.exact(model), np.logaddexp.reduce(logs)
    p = np.exp(logs - log_z)
    slack = 1e-14 * model.n * np.abs(logs).max()
    assert abs(answer.log_z.value - log_z) < slack
    assert np.abs(answer.mean - p @ s).max() < slack


def test_the_slow_road_is_taken_where_a_face_leaves_the_range_of_a_double():
    model = random_machine(18, 0.005)
    assert enumeration._by_three_products(model) is None
    assert bmlab.exact(model).info["road"] == "every state"


def test_cold_machines_approach_the_ground_state_and_its_degeneracy():
    ring = bmlab.ising(13).at(0.01)         # two ground states of energy -13; the rest is exp(-400) away
    answer = bmlab.exact(ring)
    assert abs(answer.log_z.value - (1300 + np.log(2))) < 1e-10
    assert np.abs(answer.mean).max() < 1e-12 and np.abs(answer.corr.data - 1).max() < 1e-12


def test_log_z_of_900_units_is_finite():
    biases = np.linspace(-50, 50, 900)
    answer = bmlab.exact(bmlab.BoltzmannMachine(np.zeros((900, 900)), biases))
    expected = (np.abs(biases) - log_expit(2 * np.abs(biases))).sum()     # log 2 cosh b = |b| - log sigma(2|b|)
    assert np.isclose(answer.log_z.value, expected, rtol=1e-13) and expected > 20_000


# What else it promises

def test_means_and_correlations_are_derivatives_of_log_z():
    model, step = random_machine(12, 1.7), 1e-5
    answer = bmlab.exact(model)
    for i in (0, 5, 11):
        shift = step * np.eye(12)[i]
        up, down = (bmlab.exact(bmlab.BoltzmannMachine(model.weights, model.biases + k * shift, 1.7)).log_z.value
                    for k in (1, -1))
        assert abs(1.7 * (up - down) / (2 * step) - answer.mean[i]) < 1e-8


def test_sparse_weights_give_the_same_answer_on_the_couplings():
    thin = bmlab.ising((3, 4), field=0.2).at(2.5)
    full = bmlab.BoltzmannMachine(thin.weights.toarray(), thin.biases, 2.5)
    one, other = bmlab.exact(thin), bmlab.exact(full)
    coupled = (full.weights != 0) | np.eye(12, dtype=bool)
    assert (one.corr.toarray()[coupled] == other.corr[coupled]).all() and not one.corr.toarray()[~coupled].any()


def test_start_is_ignored():
    assert bmlab.exact(bmlab.toy(), start="anything").log_z == bmlab.exact(bmlab.toy()).log_z


def test_too_many_states_are_refused_with_their_price():
    with pytest.raises(ValueError, match=r"would need 2\^48 states, about .* GiB; it stops at 10 minutes and 12 GiB\. "
                                         r"Use mean_field\(\) or gibbs\(\)\."):
        bmlab.exact(bmlab.sherrington_kirkpatrick(48, np.random.default_rng(0)))
