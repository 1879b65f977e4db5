"""Large requests under an address space of 1.5 GiB: `python starving.py K` calls for 10^K of everything.

Each must be refused in one sentence, with the price; whatever is answered, or ends in a MemoryError, is printed.
"""

import resource
import sys

import numpy as np
from scipy import sparse

import bmlab

LIMIT = 3 * 2**29
PRICE = "GiB where", "Use mean_field() or gibbs()", "Use pairs='couplings'"
M, R, ROWS = bmlab.medium(), np.random.default_rng(0), bmlab.states(5)
CALLS = {
    "gibbs": lambda k: bmlab.gibbs(M, rng=0, n_chains=k, n_sweeps=2, burn_in=0),
    "draws": lambda k: bmlab.gibbs(M, rng=0, n_draws=k, n_sweeps=10 * k),
    "visited": lambda k: bmlab.visited(M, rng=0, n_chains=k),
    "anneal": lambda k: bmlab.anneal(M, [1.0], rng=0, n_chains=k),
    "temper": lambda k: bmlab.temper(M, rng=0, n_ladders=k),
    "ais": lambda k: bmlab.ais(M, rng=0, n_chains=k),
    "ais, temperatures": lambda k: bmlab.ais(M, rng=0, n_temperatures=k),
    "sample": lambda k: bmlab.sample(M, k, rng=R),
    "clamped_gibbs": lambda k: bmlab.clamped_gibbs(M, ROWS, rng=0, n_chains=k),
    "states": bmlab.states,
    "ising": bmlab.ising,
    "glass": lambda k: bmlab.sherrington_kirkpatrick(k, rng=R),
    "exact": lambda k: bmlab.exact(bmlab.sherrington_kirkpatrick(60, rng=R), max_seconds=np.inf),
    "probabilities": lambda k: bmlab.probabilities(bmlab.sherrington_kirkpatrick(30, rng=R)),
    "covariance": lambda k: bmlab.Estimate(np.zeros(k // 1000), sparse.eye_array(k // 1000, format="csr")).covariance,
}


def main(count):
    """Ask for `count` of everything; return the number of calls that were not refused."""
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    wrong = 0
    for name, call in CALLS.items():
        try:
            outcome = f"answered: {call(count)!r}"
        except ValueError as error:
            outcome = "" if any(price in str(error) for price in PRICE) else f"refused without a price: {error}"
        except MemoryError as error:
            outcome = f"ended in the middle: {error}"
        wrong += bool(outcome)
        print(f"{name} {outcome}" if outcome else f"{name} was refused")
    return wrong


if __name__ == "__main__":
    sys.exit(main(10 ** int(sys.argv[1])))
