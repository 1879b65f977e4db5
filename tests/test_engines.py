"""Which engine Chains takes: the one that costs less by the count of its operations; no clock is read."""

import numpy as np
import pytest

import bmlab
from bmlab.infer.sampling import chains
from bmlab.infer.sampling.chains import Chains, choose_engine, flip_share, numba_seconds, numpy_seconds
from bmlab.running.sparsity import one_by_one

RESTRICTED = {(v, h): bmlab.restricted(np.ones((v, h)), np.zeros(v), np.zeros(h)) for v, h in ((784, 100), (784, 500))}


def random_states(model, n_chains, seed=0):
    return np.random.default_rng(seed).choice([-1, 1], (model.n, n_chains))


@pytest.fixture
def fresh(monkeypatch):
    """A process in which nothing has been sampled yet."""
    monkeypatch.setattr(chains, "_saved", 0.0)


@pytest.fixture
def imported(monkeypatch):
    """A process in which Numba has paid for its import."""
    monkeypatch.setattr(chains, "_saved", chains.NUMBA_IMPORT)


@pytest.mark.parametrize(("n", "n_chains", "n_sweeps"), [(100, 1, 5000), (10, 20, 2600), (100, 10, 500), (3, 1, 1)])
def test_few_chains_walk_in_compiled_loops(imported, n, n_chains, n_sweeps):
    """NumPy pays for its calls of Python however few the chains are."""
    model = bmlab.sherrington_kirkpatrick(n, rng=0)
    assert choose_engine(model, model.colours, random_states(model, n_chains), n_sweeps) == "numba"


@pytest.mark.parametrize("layers", RESTRICTED)
def test_layers_with_other_biases_at_each_sweep_are_products(imported, layers):
    """As annealed importance sampling has them: Numba would sum all fields anew each time."""
    model = RESTRICTED[layers]
    assert choose_engine(model, model.colours, random_states(model, 200), 200, new_biases=True) == "numpy"


def test_numba_is_imported_when_it_would_have_saved_its_import(fresh):
    """Calls that are short one by one are not short together: NumPy's loss never passes twice that price."""
    model = bmlab.sherrington_kirkpatrick(10, rng=0)
    s = random_states(model, 5)
    lost = 20 * (numpy_seconds(model, model.colours, 5) - numba_seconds(model, 5, flip_share(model, s)))
    taken = [choose_engine(model, model.colours, s, 20) for _ in range(int(2 * chains.NUMBA_IMPORT / lost))]
    assert taken[0] == "numpy"
    assert taken[-1] == "numba"
    assert taken == sorted(taken, reverse=True)
    assert taken.count("numpy") * lost <= chains.NUMBA_IMPORT


def test_a_walk_that_chooses_again_counts_once(fresh):
    """Its sweeps are made once, so they can save their time once."""
    model = bmlab.sherrington_kirkpatrick(10, rng=0)
    walk = Chains(model, random_states(model, 5), np.random.default_rng(0), n_sweeps=200)
    walk.sweep(), walk.sweep()
    assert 0 < chains._saved <= 200 * numpy_seconds(model, model.colours, 5)


def test_the_choice_costs_least_over_a_grid(imported):
    """Whatever the machine, and never more than a block of calls if the units of a line turn together."""
    for n in (2, 30, 300):
        for model in (bmlab.sherrington_kirkpatrick(n, rng=0), bmlab.ising(n)):
            for classes in (model.colours, one_by_one(n)):
                for n_chains in (1, 30, 3000):
                    s = random_states(model, n_chains)
                    for new in (False, True):
                        costs = {
                            "numpy": numpy_seconds(model, classes, n_chains),
                            "numba": numba_seconds(model, n_chains, flip_share(model, s), new),
                        }
                        assert choose_engine(model, classes, s, 10, new) == min(costs, key=costs.get)


def test_both_engines_are_priced_by_what_they_do():
    """Twice the chains cost less than twice as much in NumPy, and just that in Numba; colours spare calls."""
    lattice, glass = bmlab.ising((8, 8)), bmlab.sherrington_kirkpatrick(64, rng=0)
    assert numpy_seconds(glass, glass.colours, 20) < 2 * numpy_seconds(glass, glass.colours, 10)
    assert numba_seconds(glass, 20, 0.5) == pytest.approx(2 * numba_seconds(glass, 10, 0.5))
    assert numba_seconds(glass, 20, 0) < numba_seconds(glass, 20, 0.5)
    assert numpy_seconds(lattice, lattice.colours, 1) < numpy_seconds(lattice, one_by_one(64), 1)
    listed, full = numba_seconds(lattice, 1, 0.5), numba_seconds(glass, 1, 0.5)
    new = numba_seconds(glass, 1, 0.5, new_biases=True)
    assert listed < full < new


@pytest.mark.parametrize("scale", [0.1, 1, 3])
def test_the_share_of_flips_is_that_of_settled_chains(scale):
    """Of states drawn from p, and so after each update too, a share E[2 p (1 - p)] of the units flips in a sweep."""
    model = bmlab.sherrington_kirkpatrick(8, rng=1, scale=scale).at(1.5)
    states, rng = bmlab.states(8), np.random.default_rng(0)
    p = np.exp(bmlab.log_prob(model, states))
    each = [flip_share(model, state[:, None]) for state in states]
    start = states[rng.choice(len(states), 40_000, p=p / p.sum())]
    flips = (bmlab.sweep(model, start, rng.random(start.shape)) != start).mean(1)
    assert abs(flips.mean() - p @ each) < 5 * flips.std() / len(flips) ** 0.5


def test_the_engine_is_chosen_again_where_few_units_flip(imported):
    """Units of settled states agree: a compiled loop then has no rows to add; before it had half of them."""
    layers = bmlab.restricted(np.full((784, 100), 0.1), np.zeros(784), np.zeros(100))
    walk = Chains(layers, random_states(layers, 100), np.random.default_rng(0), n_sweeps=50)
    twin = Chains(layers, random_states(layers, 100), np.random.default_rng(0), backend="numpy")
    assert walk.backend == "numpy"
    for both in (walk, twin):
        both.sweep(2)
        both.sweep(2)
    assert walk.backend == "numba"
    assert (walk.s == twin.s).all()
