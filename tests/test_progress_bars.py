"""progress(): a bar for every loop that takes longer than a second, none for others, and answers that do not change."""

import sys
from io import StringIO

import numpy as np
import pytest
from tqdm import tqdm

import bmlab
from bmlab.running import progress_bars

MODEL, DATA = bmlab.medium(), np.random.default_rng(0).choice([-1.0, 1.0], (20, 4))
LATTICE = bmlab.ising((4, 4))
NARROW = bmlab.restricted(np.ones((6, 8)) / 4, np.zeros(6), np.zeros(8))
blank = bmlab.BoltzmannMachine(np.zeros((4, 4)), np.zeros(4))
bonds = bmlab.sherrington_kirkpatrick(6, rng=np.random.default_rng(1))


def new(seed=0):
    return np.random.default_rng(seed)


LOOPS = {  # name -> units of its own bars, and a call
    "exact": ("tile", lambda: bmlab.exact(bmlab.sherrington_kirkpatrick(14, rng=new())).log_z.value),
    "gibbs": ("block", lambda: bmlab.gibbs(MODEL, rng=new(), n_sweeps=200).mean),
    "ais": ("temperature", lambda: bmlab.ais(MODEL, rng=new(), n_chains=50, n_temperatures=50).log_z.value),
    "visited": ("block", lambda: bmlab.visited(MODEL, rng=new(), n_sweeps=50).log_z.value),
    "mean_field": ("round", lambda: bmlab.mean_field(bmlab.ising((6, 6), field=1e-3).at(4)).mean),  # critical: slow
    "bethe": ("sweep", lambda: bmlab.bethe(MODEL.at(4)).mean),
    "fit": ("step", lambda: bmlab.fit(blank, DATA, steps=3, rate=0.1).model.weights),
    "pseudolikelihood": ("step", lambda: bmlab.pseudolikelihood(DATA, penalty=0.1).model.weights),
    "pcd": (
        "step",
        lambda: (
            bmlab.pcd(
                bmlab.restricted(np.zeros((4, 2)), np.zeros(4), np.zeros(2)), DATA, rng=new(), rate=0.1, steps=5
            ).model.weights
        ),
    ),
    "clamped": ("pattern", lambda: bmlab.clamped(bonds, DATA, bmlab.mean_field).mean),
    "complete": ("row", lambda: bmlab.complete(blank, np.where(DATA > 0, DATA, np.nan)).mean),
}


@pytest.fixture
def made(monkeypatch):
    """The units of the bars that are made, all of them at once."""
    units, real = set(), progress_bars._tqdm()

    def recording(**options):
        units.add(options["unit"])
        return real(**options | {"disable": True})

    monkeypatch.setattr(progress_bars, "_tqdm", lambda: recording)
    monkeypatch.setattr(progress_bars, "BAR_DELAY", -1)
    return units


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("name", LOOPS)
def test_every_long_loop_has_a_bar_and_the_same_answer(name, made):
    units, call = LOOPS[name]
    plain = call()
    assert not made
    with bmlab.progress():
        assert np.array_equal(call(), plain)
    assert made >= set(units.split())
    made.clear()
    call()
    assert not made


def test_a_bar_counts_every_thing_of_a_loop_and_is_closed(monkeypatch):
    shown = []

    def kept(**options):
        shown.append(tqdm(**options, file=StringIO()))
        return shown[-1]

    monkeypatch.setattr(progress_bars, "BAR_DELAY", -1)
    monkeypatch.setattr(progress_bars, "_tqdm", lambda: kept)
    with bmlab.progress():
        assert list(progress_bars.with_progress(iter("abcd"), "letter", 4)) == list("abcd")
        for letter in progress_bars.with_progress("abcd", "letter"):
            if letter == "c":
                break
    assert [(bar.n, bar.total) for bar in shown] == [(4, 4), (2, 4)]
    assert not tqdm._instances


def test_without_tqdm_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ModuleNotFoundError, match="pip install tqdm"), bmlab.progress():
        pass
