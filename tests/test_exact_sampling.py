"""Perfect samples against the probabilities themselves; ground states against lists of all states."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse, stats

import bmlab
from bmlab.infer.exact import cutset_conditioning, elimination, matrix_products, planning

MODEL = bmlab.medium().at(2.0)


def draws(road, size, rng):
    if road == "variable elimination":
        order = elimination.best_order(MODEL.weights)
        return elimination.draw(order, elimination.eliminate(MODEL, order)[1], size, rng)
    if road == "matrix products":
        return matrix_products.draw_by_products(MODEL, size, rng)
    return cutset_conditioning.draw_by_cutset(MODEL, cutset_conditioning.cutset_of(MODEL.weights), size, rng)


def codes(s):
    return bmlab.bits(s).astype(int) @ 2 ** np.arange(s.shape[1])[::-1]


def chi_square_is_plausible(counts, p):
    """Pearson's statistic of counts against p, below the value that chance passes once in a million runs."""
    expected = counts.sum() * p
    assert expected.min() > 5
    return ((counts - expected) ** 2 / expected).sum() < stats.chi2.isf(1e-6, len(p) - 1)


def law_samples(road, model=MODEL):
    """Sixteen states a bin, so that rare ones do not spoil the statistic."""
    p = bmlab.probabilities(model)
    counts = np.bincount(codes(draws(road, 400_000, np.random.default_rng(0))), minlength=1024)
    bins = np.argsort(p).reshape(64, 16)
    assert chi_square_is_plausible(counts[bins].sum(1), p[bins].sum(1))


@pytest.mark.parametrize("road", ["variable elimination", "matrix products", "cutset conditioning"])
def test_samples_follow_the_probabilities(road):
    law_samples(road)


def test_samples_of_another_temperature_do_not():
    with pytest.raises(AssertionError):
        law_samples("cutset conditioning", MODEL.at(2.1))


@pytest.mark.parametrize("tile", [8, 64])
def test_samples_from_many_tiles_follow_the_probabilities(tile, monkeypatch):
    monkeypatch.setattr(cutset_conditioning, "TILE", tile)
    law_samples("cutset conditioning")


@pytest.mark.parametrize(
    "model",
    [
        bmlab.medium(),
        bmlab.ising((5, 7), field=0.1).at(2.5),
        bmlab.BoltzmannMachine(np.zeros((4, 4)), [0.5, 0, -1, 2]),
        bmlab.restricted(np.full((40, 3), 0.2), np.zeros(40), np.full(3, 0.3)),
        bmlab.sherrington_kirkpatrick(26, np.random.default_rng(0)),
    ],
    ids=["table", "lattice", "independent", "restricted", "dense"],
)
def test_samples_have_the_exact_means_along_every_road(model):
    s = bmlab.sample(model, 20_000, np.random.default_rng(1))
    mean = bmlab.exact(model).mean
    z = (s.mean(0) - mean) / np.sqrt((1 - mean**2) / len(s))
    assert np.abs(z).max() < stats.norm.isf(1e-6)
    assert s.shape == (20_000, model.n) and (np.abs(s) == 1).all()


def test_parts_are_drawn_each_on_its_own():
    two = bmlab.BoltzmannMachine(np.kron(np.eye(2), bmlab.ising(15).weights.toarray()), np.full(30, 0.1))
    assert len(planning.plan(two).parts) == 2
    s = bmlab.sample(two, 20_000, np.random.default_rng(2))
    across = (s[:, :15] * s[:, 15:]).mean(0) - s[:, :15].mean(0) * s[:, 15:].mean(0)
    assert np.abs(across).max() < stats.norm.isf(1e-6) / np.sqrt(20_000)


def test_a_stored_weight_of_zero_hides_no_coupling():
    """Unit 0 is coupled to 1 and 2, and stores zeros towards 3 and 4, which are coupled to each other."""
    w = np.zeros((6, 6))
    w[0, 1:3] = w[1:3, 0] = w[3, 4] = w[4, 3] = 1.5
    row, col = np.nonzero(~np.eye(6, dtype=bool))
    model = bmlab.BoltzmannMachine(sparse.csr_array((w[row, col], (row, col)), shape=(6, 6)), np.zeros(6))
    assert model.weights.nnz == 30
    listed = cutset_conditioning.cutset_of(model.weights)
    assert not w[np.ix_(*[np.setdiff1d(np.arange(6), listed)] * 2)].any()
    s = bmlab.sample(model, 20_000, np.random.default_rng(0))
    expected = bmlab.exact(model, pairs="all").corr[3, 4]
    assert abs((s[:, 3] * s[:, 4]).mean() - expected) < 5 * np.sqrt((1 - expected**2) / len(s))


def test_probabilities_are_in_the_order_of_states():
    model = bmlab.toy().at(1.7)
    p = bmlab.probabilities(model)
    assert np.allclose(np.log(p), -model.energy(bmlab.states(3)) / 1.7 - bmlab.exact(model).log_z.value, atol=1e-13)


@pytest.mark.parametrize(
    "model", [bmlab.medium().clamp([2], [1]), bmlab.ising((3, 3), field=0.3), bmlab.toy().clamp([0, 1], [1, 1])]
)
def test_probabilities_are_those_of_the_energies(model):
    weight = np.exp(-model.energy(bmlab.states(model.n)) / model.temperature)
    assert np.allclose(bmlab.probabilities(model), weight / weight.sum(), rtol=1e-12)


def test_probabilities_hold_little_more_than_the_answer():
    model = bmlab.sherrington_kirkpatrick(18, np.random.default_rng(0))
    tracemalloc.start()
    p = bmlab.probabilities(model)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * p.nbytes


def test_too_many_probabilities_are_refused():
    with pytest.raises(ValueError, match=r"list 2\^60 states, .* to spend; use sample\(\) or exact\(\)"):
        bmlab.probabilities(bmlab.ising(60))


@pytest.mark.parametrize(
    "model",
    [
        bmlab.medium(),
        bmlab.ising((4, 4)),
        bmlab.ising(9, coupling=-1.0),
        bmlab.BoltzmannMachine(np.zeros((5, 5)), [1, 0, -1, 0, 0.5]),
        bmlab.sherrington_kirkpatrick(15, np.random.default_rng(3)),
        bmlab.medium().clamp([2], [1]),
    ],
    ids=["medium", "torus", "frustrated ring", "independent", "glass", "clamped"],
)
def test_the_ground_state_is_the_lowest_of_all_states(model):
    energies = model.energy(bmlab.states(model.n))
    lowest = bmlab.ground_state(model)
    assert abs(lowest.energy - energies.min()) < 1e-9 and model.energy(lowest.state) == lowest.energy
    known = (energies < energies.min() + 1e-7).sum()
    assert lowest.degeneracy == known or np.isnan(lowest.degeneracy)


def whole_machine(n, seed):
    """A machine of n units whose weights and biases are whole numbers, many of them 0."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.integers(-2, 3, (n, n)), 1)
    return bmlab.BoltzmannMachine((weights + weights.T).astype(float), rng.integers(-1, 2, n).astype(float))


def in_units(model, unit, is_sparse):
    """The same machine with all parameters times a number."""
    weights = sparse.csr_array(model.weights) if is_sparse else model.weights
    return bmlab.BoltzmannMachine(weights * unit, model.biases * unit)


@pytest.mark.parametrize("seed", range(12))
def test_the_degeneracy_is_counted_where_weights_are_whole_numbers(seed):
    model = whole_machine(9 + seed % 6, seed)
    energies = model.energy(bmlab.states(model.n))
    for unit in (1.0, 0.75, 3.0):
        assert bmlab.ground_state(in_units(model, unit, seed % 2)).degeneracy == (energies == energies.min()).sum()


@pytest.mark.parametrize("n", [3, 101, 1001, 9999])
def test_a_ring_of_repelling_units_has_2n_ground_states_where_n_is_odd(n):
    """One bond of n is not content, and either state of its end."""
    assert bmlab.ground_state(bmlab.ising(n, coupling=-1.0)).degeneracy == 2 * n


def test_a_degeneracy_that_is_not_known_is_nan():
    for model in (bmlab.medium(), bmlab.ising(61, coupling=0.0)):  # no whole numbers; 2^61 states
        assert np.isnan(bmlab.ground_state(model).degeneracy)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("exponent", [-1060, -1030, -300, 0, 300])
def test_the_ground_state_has_no_scale(is_sparse, exponent):
    """Powers of 2 down to numbers that are not normal, whose reciprocal is infinite."""
    plain = whole_machine(7, 0)
    lowest = bmlab.ground_state(in_units(plain, 2.0**exponent, is_sparse))
    energies = plain.energy(bmlab.states(7))
    assert lowest.degeneracy == (energies == energies.min()).sum() and plain.energy(lowest.state) == energies.min()


def law_offset():
    """An offset moves the lowest energy and nothing else, however large it is."""
    plain = bmlab.ising(9, coupling=-1.0)
    lowest = bmlab.ground_state(plain)
    for offset in (1e5, 1e7 / 3, 1e9 / 7):
        moved = bmlab.ground_state(replace(plain, offset=offset))
        assert moved.degeneracy == lowest.degeneracy and np.isclose(moved.energy, lowest.energy + offset, rtol=1e-15)


def test_a_large_offset_leaves_the_degeneracy():
    law_offset()


def test_a_large_lattice_has_two_ground_states():
    lowest = bmlab.ground_state(bmlab.ising((8, 12), coupling=0.7))
    assert np.isclose(lowest.energy, -0.7 * 2 * 96) and lowest.degeneracy == 2
