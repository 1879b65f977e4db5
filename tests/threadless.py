"""The core in a Python without threads and Numba, as in a browser: `python threadless.py` calls every method."""

import _thread
import sys
import threading
import warnings


def start_new_thread(*task, **options):
    raise RuntimeError("can't start new thread")


for module in _thread, threading:
    for name in "start_new_thread", "_start_new_thread", "start_joinable_thread", "_start_joinable_thread":
        if hasattr(module, name):
            setattr(module, name, start_new_thread)
sys.modules["numba"] = None

import numpy as np  # noqa: E402

import bmlab  # noqa: E402

warnings.simplefilter("ignore", bmlab.NotConverged)
M, LARGE = bmlab.medium(), bmlab.sherrington_kirkpatrick(60, rng=np.random.default_rng(0))
CALLS = {
    "exact": lambda: bmlab.exact(bmlab.sherrington_kirkpatrick(24, rng=np.random.default_rng(0))),
    "exact_plan": lambda: bmlab.exact_plan(LARGE),
    "sample": lambda: bmlab.sample(M, 10, rng=np.random.default_rng(0)),
    "gibbs": lambda: bmlab.gibbs(M, rng=0, n_sweeps=50),
    "temper": lambda: bmlab.temper(M, rng=0, n_sweeps=50, burn_in=10),
    "ais": lambda: bmlab.ais(M, rng=0, n_chains=50, n_temperatures=20),
    "auto": lambda: bmlab.auto(LARGE, rng=0, n_sweeps=50),
    "bracket": lambda: bmlab.bracket(LARGE, rng=0),
    "fit": lambda: bmlab.fit(M, bmlab.states(10)[:9], steps=2, rate=0.1),
    "moments": lambda: bmlab.moments([bmlab.states(3), bmlab.states(3)]),
}

if __name__ == "__main__":
    for name, call in CALLS.items():
        call()
        print(name, "answered")
