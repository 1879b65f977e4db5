"""progress(): a bar for every loop that takes longer than a second, none for others, and answers that do not change."""
import sys
from functools import partial

import numpy as np
import pytest

import bmlab
from bmlab import bars

MODEL, DATA = bmlab.medium(), np.random.default_rng(0).choice([-1.0, 1.0], (20, 4))
LATTICE = bmlab.ising((4, 4))
NARROW = bmlab.restricted(np.ones((6, 8)) / 4, np.zeros(6), np.zeros(8))
blank = bmlab.BoltzmannMachine(np.zeros((4, 4)), np.zeros(4))
bonds = bmlab.sherrington_kirkpatrick(6, np.random.default_rng(1))


def new(seed=0):
    return np.random.default_rng(seed)


LOOPS = {
    "exact": lambda: bmlab.exact(bmlab.sherrington_kirkpatrick(14, new())).log_z.value,
    "exact, listed": lambda: bmlab.exact(NARROW).log_z.value,
    "exact, eliminated": lambda: bmlab.exact(bmlab.ising((3, 30))).log_z.value,
    "gibbs": lambda: bmlab.gibbs(MODEL, rng=new(), n_sweeps=200).mean,
    "ais": lambda: bmlab.ais(MODEL, rng=new(), n_chains=50, n_temperatures=50).log_z.value,
    "temper": lambda: bmlab.temper(MODEL, rng=new(), n_chains=4, n_sweeps=100).mean,
    "visited": lambda: bmlab.visited(MODEL, rng=new(), n_sweeps=50).log_z.value,
    "annealed": lambda: bmlab.annealed(MODEL, [3, 2, 1], rng=new()).energies,
    "mean_field": lambda: bmlab.mean_field(MODEL.at(4)).mean,
    "bethe": lambda: bmlab.bethe(LATTICE.at(4)).mean,
    "trw": lambda: bmlab.trw(MODEL, n_trees=3).log_z.value,
    "fit": lambda: bmlab.fit(blank, DATA, steps=3, rate=0.1)[-1].model.weights,
    "maximize": lambda: bmlab.maximize(blank, DATA, partial(bmlab.exact, pairs="all"), penalty=0.1).model.weights,
    "pseudolikelihood": lambda: bmlab.pseudolikelihood(DATA, penalty=0.1).weights,
    "pcd": lambda: bmlab.pcd(bmlab.restricted(np.zeros((4, 2)), np.zeros(4), np.zeros(2)), DATA, rng=new(), rate=0.1,
                             steps=5).weights,
    "clamped": lambda: bmlab.clamped(bonds, DATA).mean,
    "clamped_gibbs": lambda: bmlab.clamped_gibbs(bonds, DATA, rng=new()).mean,
    "complete": lambda: bmlab.complete(blank, np.where(DATA > 0, DATA, np.nan)).mean,
}


@pytest.fixture
def made(monkeypatch):
    """The bars that are made, each with what it was told; none waits."""
    told = []
    real = bars._tqdm()

    def recording(*things, **options):
        told.append(options)
        return real(*things, **options | {"disable": True})
    monkeypatch.setattr(bars, "_tqdm", lambda: recording)
    return told


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("name", LOOPS)
def test_every_long_loop_has_a_bar_and_the_same_answer(name, made):
    plain = LOOPS[name]()
    assert not made
    with bmlab.progress():
        assert np.array_equal(LOOPS[name](), plain)
    assert made and all(options["unit"] and options["delay"] == bars.DELAY for options in made)
    made.clear()
    LOOPS[name]()
    assert not made


def test_a_bar_is_seen_only_after_its_delay(capsys, monkeypatch):
    def run():
        with bmlab.progress():
            bmlab.annealed(MODEL, np.ones(50), rng=new(), n_chains=2)
        return capsys.readouterr().err
    assert run() == ""
    monkeypatch.setattr(bars, "DELAY", 1e-9)
    assert "sweep" in run()


def test_it_ends_where_an_error_ends_it(made):
    with pytest.raises(ZeroDivisionError), bmlab.progress():
        1 / 0                                                   # noqa: B018
    bmlab.annealed(MODEL, [1.0], rng=new())
    assert not made


def test_without_tqdm_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ModuleNotFoundError, match="pip install tqdm"), bmlab.progress():
        pass
