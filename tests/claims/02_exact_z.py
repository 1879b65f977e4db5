"""Claims of 02_exact_z on sums and their prices, attacked: other machines, sizes, temperatures, algorithms and budgets.

Counts are counted, and judged by sums in extended precision or by probabilities.
"""

import tracemalloc

import numpy as np
from judges import glass
from referee import claim, proved

import bmlab


def log_sum_exp(x):
    """The notebook's."""
    return x.max() + np.log(np.exp(x - x.max()).sum())


def table_log_z(machine):
    """The notebook's table, and its log-sum-exp."""
    return log_sum_exp(-machine.energy(bmlab.states(machine.n)) / machine.temperature)


# log Z and what it is good for


@proved("02-15", "A double ends at e^709.78: e^711 is inf, and a sum with inf is inf, however few its terms.")
def how_large_one_of_them_is():
    """C looks at the number of terms, but one term that is too large is enough"""


@proved("02-15", "K terms, each at most 1: their sum is between 1 and K, and what underflows is less than K 2^-1074.")
def nothing_can_overflow():
    """Nothing can overflow. What underflows to zero was too small to count next to 1."""


@proved(
    "02-20", "Z = e^(-E0/T) (g + the sum of e^(-(E - E0)/T) over all other states), and each of these goes to 0 with T."
)
def the_largest_term_wins():
    """$\\log Z \\to -E_0/T + \\log g$"""


# What it costs


@proved("02-32", "(n + m)^2 2^(n + m) = 1000 n^2 2^n at m = log2 1000 - 2 log2(1 + m/n): 9.2 at n = 30, 9.5 at n = 60.")
def a_thousand_buys_ten():
    """Each unit doubles the rows, and $2^{10} \\approx 1000$; the factor $n^2$ costs about one of these ten."""


@claim("02-wall-own", range(12, 19), least=7)  # counted while it runs; no other weights take another room
def three_tables(n):
    """the sum takes about three times its table"""
    machine = glass(n, 0)
    tracemalloc.start()
    table_log_z(machine)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return 0.7 - abs(most / (8 * n * 2**n) - 3)


@proved("02-57", "The product over groups of a, b and c units takes 2^a 2^b 2^c = 2^n multiply-adds.")
def still_two_to_the_n():
    """A product of two square matrices of side $m$ takes $m^3$ multiply-adds, here $2^n$"""


@proved("02-57", "A table over two groups of n/3 units has 2^(n/3) 2^(n/3) = 2^(2n/3) entries.")
def memory_of_the_faces():
    """**Memory**: $2^{2n/3}$ instead of $2^n$."""


# Exact means exact


def listed(W, b):
    """log Z of all states at T = 1, in the precision of W and b."""
    s = bmlab.states(len(b)).astype(W.dtype)
    return np.logaddexp.reduce((s * (s @ W / 2 + b)).sum(axis=1))


def passed_on(w, b):
    """log Z of a chain at T = 1, by its messages."""
    s, message = np.array([-1, 1], w.dtype), np.zeros(2, w.dtype)
    for pull, bias in zip(w, b[:-1], strict=True):
        message = np.logaddexp.reduce(s[:, None] * s * pull + (s * bias + message)[:, None], axis=0)
    return np.logaddexp.reduce(s * b[-1] + message)


def by_layers(W, b, c):
    """log Z of two layers at T = 1: that of c is listed."""
    s = bmlab.states(len(c)).astype(W.dtype)
    fields = s @ W.T + b
    return np.logaddexp.reduce(s @ c + np.logaddexp(fields, -fields).sum(axis=1))


def excess(machine, log_z):
    """By how much less than 1e-14 of it, or of 1, log Z is off."""
    return 1e-14 - float(abs(bmlab.exact(machine).log_z.value - log_z) / max(1, abs(log_z)))


@claim("02-60", range(14))  # tables, a chain of 1000 units, two layers, from T = 0.001 to 1000
def right_to_rounding(seed):
    """Its $\\log Z$ is right to rounding."""
    rng, T = np.random.default_rng(seed), 10.0 ** (seed % 7 - 3)

    def longer(*parts):
        return (x.astype(np.longdouble) / np.longdouble(T) for x in parts)

    for n in 8, 13, 15:
        dense = glass(n, seed)
        yield excess(dense.at(T), listed(*longer(dense.weights, dense.biases))), (seed, n)
    w, b = rng.normal(size=999), rng.normal(size=1000)
    chain = bmlab.BoltzmannMachine(np.diag(w, 1) + np.diag(w, -1), b, T)
    yield excess(chain, passed_on(*longer(w, b))), (seed, 1000)
    layers = rng.normal(size=(60, 10)), rng.normal(size=60), rng.normal(size=10)
    yield excess(bmlab.restricted(*layers).at(T), by_layers(*longer(*layers))), (seed, 70)


# Few couplings, two sides


def width(W):
    """Over how many units the largest message is, in the best of all orders; each piece that is gone leaves one."""

    def scope(gone, unit):
        piece, seen = [unit], {unit}
        for one in piece:
            near = {int(k) for k in np.flatnonzero(W[one])} - seen
            seen |= near
            piece += [k for k in near if gone >> k & 1]
        return len(seen) - len(piece)

    best = [0]
    for gone in range(1, 2 ** len(W)):
        units = [k for k in range(len(W)) if gone >> k & 1]
        best.append(min(max(best[gone - 2**k], scope(gone, k)) for k in units))
    return best[-1]


def of_known_width():
    """Trees, two of them with fronts of two units in every order; rings, crowds, lattices and two layers."""
    for n, above in ((7, [0, 1, 0, 3, 0, 5]), (13, [0, 0, 0, *np.repeat((1, 2, 3), 3)])):
        tree = np.zeros((n, n))
        tree[above, range(1, n)] = 1
        yield tree + tree.T, 1
    for seed in range(16):
        tree, rng = np.zeros((9, 9)), np.random.default_rng(seed)
        tree[range(1, 9), [rng.integers(k) for k in range(1, 9)]] = 1
        yield tree + tree.T, 1
    for n in (5, 8):
        yield bmlab.ising(n).weights.toarray(), 2
        yield 1 - np.eye(n), n - 1
    for sides in ((2, 4), (3, 3)):
        yield bmlab.ising(sides, periodic=False).weights.toarray(), min(sides)
    for layers in ((2, 5), (4, 4)):
        one = bmlab.restricted(np.ones(layers), np.zeros(layers[0]), np.zeros(layers[1])).weights
        yield (one.toarray() if hasattr(one, "toarray") else one), min(layers)


@claim("02-price", of_known_width())
def the_largest_message_is_the_width(weights, known):
    """The number of units that the largest message is over, in the best order, is the **width** of the machine (its
    *treewidth*)."""
    return 0.5 - abs(width(weights) - known), weights.tobytes()


@proved(
    "02-price", "Column by column, the units still there that are coupled to those summed out are the next k in order."
)
def as_wide_as_the_lattice():
    """In a lattice $k$ units wide, crossed column by column, the front has about $k$ units."""


@proved("02-width", "The best order of two layers has the smaller one's size (three); the smaller layer first: five.")
def the_larger_layer_first():
    """Sum out the five units of the larger layer: each message is over the three of the smaller one."""


@proved(
    "02-65",
    "24 units, all coupled, need a message of 2^23 numbers; a chain of 1000 has more of both (999 couplings to 276), "
    "and messages of two.",
)
def neither_counts():
    """A counts couplings, B counts units. Neither is what counts."""


# Which states matter


@claim("02-84")  # T = 0.3, 8 to 16 units: the share of the states that carries 99 % of Z
def few_states_matter_in_the_cold(seed):
    """At low temperature few states matter"""
    p = np.sort(bmlab.probabilities(glass(8 + 2 * (seed % 5), seed, 0.3)))[::-1]
    return 0.15 - (np.searchsorted(np.cumsum(p), 0.99) + 1) / len(p), seed


@proved(
    "02-84", "With equal weights E depends on the layers' two sums alone: (v + 1)(h + 1) terms; planar: Fisher 1966."
)
def a_symmetry_helps():
    """Beyond both, unless something else helps (equal weights, say, or no biases and couplings that can be drawn
    without crossing), we have to sample or approximate."""
