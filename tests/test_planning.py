"""Each algorithm of exact() by itself: tiles, cutsets, orders, known lattices; plans, their prices and their words."""

import math
import re
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, special

import bmlab
from bmlab.checking.budgets import time_in_words
from bmlab.infer.exact import cutset_conditioning, elimination, lowest_states, matrix_products, planning


def random_graph(n, density, seed):
    kept = np.triu(np.random.default_rng(seed).random((n, n)) < density, 1)
    return (kept + kept.T).astype(float)


graphs = st.builds(random_graph, st.integers(1, 14), st.floats(0, 1), st.integers(0, 10**6))


# Matrix products


def test_tiles_do_not_change_the_answer(monkeypatch):
    model = bmlab.sherrington_kirkpatrick(13, rng=np.random.default_rng(0))
    whole = matrix_products.sum_by_products(model)
    monkeypatch.setattr(matrix_products, "PRODUCT_TILE", 40)
    for one, other in zip(whole, matrix_products.sum_by_products(model), strict=True):
        assert np.abs(one - other).max() < 1e-12


def test_matrix_products_say_when_they_leave_the_range_of_a_double():
    cold = bmlab.sherrington_kirkpatrick(18, rng=np.random.default_rng(0)).at(0.005)
    assert matrix_products.sum_by_products(cold) is None
    assert matrix_products.draw_by_products(cold, 1, np.random.default_rng(0)) is None


# Cutset conditioning


@given(graphs)
def test_a_cutset_touches_every_coupling(graph):
    rest = np.setdiff1d(np.arange(len(graph)), cutset_conditioning.cutset_of(graph))
    assert not graph[np.ix_(rest, rest)].any()


def law_cutset():
    """Cutset conditioning equals matrix products; a cutset of 18 units makes four tiles at the least."""
    model = bmlab.sherrington_kirkpatrick(19, rng=np.random.default_rng(1)).at(0.7)
    log_z, mean, corr = cutset_conditioning.sum_by_cutset(model, np.random.default_rng(0).permutation(19)[:18])
    expected = bmlab.exact(model)
    assert abs(log_z - expected.log_z.value) < 1e-11 and np.abs(mean - expected.mean).max() < 1e-11
    assert np.abs(np.where(np.eye(19), 1, corr) - expected.corr).max() < 1e-11


@pytest.mark.parametrize("tile", [40, 2000, 2**16])
def test_listing_in_tiles_does_not_change_the_answer(tile, monkeypatch):
    monkeypatch.setattr(cutset_conditioning, "CUTSET_TILE", tile)
    monkeypatch.setattr(cutset_conditioning, "PRODUCT_FACTORS", 2)
    law_cutset()


def test_2000_units_on_one_side_do_not_overflow():
    """Against the hidden side by hand: two hidden units, four states."""
    rng = np.random.default_rng(0)
    w, b, c = rng.normal(size=(2000, 2)), rng.normal(size=2000), rng.normal(size=2)
    logs = [h @ c + np.logaddexp(w @ h + b, -(w @ h + b)).sum() for h in bmlab.states(2)]
    answer = bmlab.exact(bmlab.restricted(w, b, c))
    assert answer.info["algorithm"] in ("cutset conditioning", "variable elimination")
    assert abs(answer.log_z.value - np.logaddexp.reduce(logs)) < 1e-9


# Variable elimination


@given(graphs)
def test_an_order_takes_every_unit_once_and_scopes_hold_every_later_neighbour(graph):
    order = elimination.best_order(graph)
    place = {v: k for k, v in enumerate(order.units)}
    assert sorted(order.units) == list(range(len(graph)))
    for v, scope in zip(order.units, order.scopes, strict=True):
        assert set(scope) >= {u for u in np.flatnonzero(graph[v]) if place[u] > place[v]}
        assert all(place[v] < place[u] for u in scope) and all(place[a] < place[b] for a, b in pairwise(scope))
        if scope:  # the table without v fits into its parent's table
            assert set(scope[1:]) <= set(order.scopes[place[scope[0]]])


def kaufman_log_z(n, temperature):
    """log Z of the n x n torus without field: Kaufman (1949), Phys. Rev. 76, 1232, in logarithms."""
    k = 1 / temperature
    gamma = np.arccosh(np.cosh(2 * k) / np.tanh(2 * k) - np.cos(np.pi * np.arange(2 * n) / n))
    gamma[0] = 2 * k + np.log(np.tanh(k))
    half = n * gamma / 2
    cosh = [np.logaddexp(half[p::2], -half[p::2]).sum() for p in (1, 0)]
    with np.errstate(divide="ignore"):
        sinh = [np.log(np.abs(2 * np.sinh(half[p::2]))).sum() for p in (1, 0)]
    signs = [1, 1, 1, np.sign(gamma[0])]
    top = max(cosh + sinh)
    parts = [cosh[0], sinh[0], cosh[1], sinh[1]]
    total = sum(sign * np.exp(part - top) for sign, part in zip(signs, parts, strict=True))
    return n * n / 2 * np.log(2 * np.sinh(2 * k)) + top + np.log(total / 2)


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8])
@pytest.mark.parametrize("temperature", [1.5, 2.27, 4.0])
def test_the_torus_is_kaufmans(n, temperature):
    assert abs(bmlab.exact(bmlab.ising((n, n)).at(temperature)).log_z.value - kaufman_log_z(n, temperature)) < 1e-9


# Plans


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (bmlab.BoltzmannMachine(np.zeros((500, 500)), np.zeros(500)), "independent units"),
        (bmlab.medium(), "small tables"),
        (bmlab.sherrington_kirkpatrick(30, rng=np.random.default_rng(0)), "matrix products"),
        (bmlab.restricted(np.ones((300, 9)), np.zeros(300), np.zeros(9)), "cutset conditioning"),
        (bmlab.ising((8, 30), periodic=False), "variable elimination"),
        (bmlab.ising(50, periodic=False), "variable elimination"),
    ],
)
def test_the_plan_takes_the_cheapest_road(model, method):
    assert bmlab.exact_plan(model).method == method


def least_entries(graph):
    """Numbers in all messages of the best of all orders: of each set of units that are gone, the best last one."""
    n = len(graph)
    around = [sum(1 << int(u) for u in np.flatnonzero(row)) for row in graph]

    def scope(gone, v):  # units tied to v by way of units that are gone
        seen, waiting, found = 1 << v, [v], 0
        while waiting:
            new = around[waiting.pop()] & ~seen
            seen, found = seen | new, found | new & ~gone
            waiting += [u for u in range(n) if new & gone & 1 << u]
        return found.bit_count()

    least = [0.0]
    for gone in range(1, 2**n):
        last = [v for v in range(n) if gone & 1 << v]
        least.append(min(least[gone - (1 << v)] + 2.0 ** scope(gone - (1 << v), v) for v in last))
    return least[-1]


def law_cheapest():
    """No algorithm is cheaper than the one of the plan, and no order by more than a quarter: of all orders, of 40."""
    for seed in range(40):
        graph = random_graph(7 + seed % 2, 0.2 + seed / 80, seed)
        assert elimination.best_order(graph).table_size <= 1.25 * least_entries(graph)
    planning._searched.cache_clear()
    for model in (
        bmlab.sherrington_kirkpatrick(30, rng=0),
        bmlab.restricted(np.ones((300, 9)), np.zeros(300), np.zeros(9)),
        bmlab.restricted(np.ones((20, 20)), np.zeros(20), np.zeros(20)),
        bmlab.ising((8, 30), periodic=False),
        bmlab.ising((6, 6)),
    ):
        units, graph = np.arange(model.n), sparse.csr_array(model.weights)
        offers = [
            planning._matrix_products(units),
            planning._cutset(units, graph, all_pairs=True),
            planning._variable_elimination(units, graph, all_pairs=True, seconds=1e3),
        ]
        assert bmlab.exact_plan(model, pairs="all").seconds <= min(offer.seconds for offer in offers if offer)


def test_nothing_is_cheaper_than_the_plan():
    law_cheapest()


@pytest.mark.parametrize(("v", "h"), [(40, 36), (40, 40), (784, 100)])
def test_what_is_refused_is_priced_by_the_smaller_layer(v, h):
    """The states of h units are listed, the others summed in closed form: no refusal says 2^(v + h)."""
    layers = bmlab.restricted(np.ones((v, h)), np.zeros(v), np.zeros(h))
    with pytest.raises(ValueError, match=rf"2\^{h} listed states"):
        bmlab.exact(layers)


def test_log_z_alone_does_not_pay_for_the_correlations_of_all_pairs():
    """784 units beside a list of 2^12 states: their 784^2/2 products a state are of the moments alone."""
    lattice = bmlab.ising((4, 12), periodic=False).weights.toarray()
    for model in (
        bmlab.restricted(np.full((784, 12), 0.01), np.zeros(784), np.zeros(12)),
        bmlab.BoltzmannMachine(lattice, np.zeros(48)),
        bmlab.BoltzmannMachine(bmlab.ising(60, periodic=False).weights.toarray(), np.zeros(60)),
    ):
        moments, log_z = bmlab.exact_plan(model), bmlab.exact_plan(model, want="log_z")
        assert log_z.components[0].work == bmlab.exact_plan(model, pairs="couplings").work < moments.work
        between = (moments.seconds + log_z.seconds) / 2
        answer = bmlab.exact(model, want="log_z", max_seconds=between)
        assert abs(answer.log_z - bmlab.exact(model).log_z) < 1e-11 * answer.log_z
        with pytest.raises(ValueError, match="Use pairs='couplings', "):
            bmlab.exact(model, max_seconds=between)
        with pytest.raises(ValueError, match=r"Use mean_field\(\)"):
            bmlab.exact(model, want="log_z", max_seconds=log_z.seconds / 2)


@pytest.mark.parametrize("n", [27, 30, 33, 36, 40])
def test_log_z_takes_one_product_of_three_and_half_of_the_pieces_without_biases(n):
    """2^n multiply-adds a product; a state and its opposite are as likely without biases."""
    weights = bmlab.sherrington_kirkpatrick(n, rng=n).weights
    for biases, halves in ((np.zeros(n), 2 if n > 33 else 1), (np.ones(n), 1)):
        model = bmlab.BoltzmannMachine(weights, biases)
        moments, log_z = bmlab.exact_plan(model), bmlab.exact_plan(model, want="log_z")
        assert moments.work == pytest.approx(3 * 2.0**n / halves) and log_z.work == pytest.approx(2.0**n / halves)
        assert log_z.core_seconds == pytest.approx(moments.core_seconds / 3)


def any_temperature(seed):
    """A machine of 14 to 17 units, all coupled, some with fields, from heat, where all states matter, to cold."""
    rng = np.random.default_rng(seed)
    n, fields = int(rng.integers(14, 18)), rng.integers(2)
    weights = bmlab.sherrington_kirkpatrick(n, rng=rng).weights
    return bmlab.BoltzmannMachine(weights, fields * rng.normal(size=n), 10 ** rng.uniform(-5, 0.5))


def law_priced(seed):
    """A plan is followed, and as many states are listed as it counts; the answer is that of all states.

    Rounding of the energies is 1e-16 of the largest exponent for each of some n^2 terms.
    """
    model = any_temperature(seed)
    plan, answer = bmlab.exact_plan(model), bmlab.exact(model)
    assert answer.info["algorithm"] == plan.method and answer.info["predicted_seconds"] == plan.seconds
    logs, s = -model.energy(bmlab.states(model.n)) / model.temperature, bmlab.states(model.n)
    log_z, slack = special.logsumexp(logs), 1e-16 * model.n**2 * np.abs(logs).max() + 1e-13
    p = np.exp(logs - log_z)
    assert abs(answer.log_z.value - log_z) < slack and np.abs(answer.mean - p @ s).max() < slack
    assert np.abs(answer.corr - (s.T * p) @ s).max() < slack
    assert abs(bmlab.exact(model, want="log_z").log_z - log_z) < slack
    assert abs(matrix_products.sum_by_slices(model, 2).log_z - log_z) < slack
    if plan.method == "matrix products":
        assert matrix_products.sum_by_products(model) is not None and plan.work == 3 * 2.0**model.n
        return False
    lowest, across = lowest_states.Lowest(model), 2 ** (model.n // 3)
    listed = sum(logs.size for _, _, logs in lowest.tiles(across))
    assert plan.work - lowest.bound.size == listed <= 2**model.n
    assert plan.method == "lowest states" and lowest.heaviest == pytest.approx(logs.max(), abs=slack)
    return True


@pytest.mark.slow
def test_a_plan_is_of_what_is_done_at_any_temperature():
    cold = [law_priced(seed) for seed in range(30)]
    assert 5 < sum(cold) < 25


def test_a_cold_machine_of_many_lowest_states_is_listed_whole(monkeypatch):
    """All units against all others: the C(16, 8) states whose sum is 0 are equally low, and no pair can be left out."""
    model = bmlab.BoltzmannMachine(np.eye(16) - 1.0, np.zeros(16), 0.01)
    monkeypatch.setattr(lowest_states, "LISTED_TILE", 2**12)
    answer = bmlab.exact(model)
    assert answer.info["algorithm"] == "lowest states"
    assert answer.log_z.value == pytest.approx(8 / 0.01 + np.log(math.comb(16, 8)), abs=1e-10)
    assert np.abs(answer.mean).max() < 1e-12
    assert answer.corr[np.triu_indices(16, 1)] == pytest.approx(np.full(120, -1 / 15), abs=1e-12)


def test_a_plan_reads_as_a_sentence():
    text = str(bmlab.exact_plan(bmlab.sherrington_kirkpatrick(33, rng=np.random.default_rng(0))))
    assert text.startswith("matrix products: 2.6e+10 operations, 0.156 GiB, about ")
    two_rings = bmlab.BoltzmannMachine(np.kron(np.eye(2), bmlab.ising(20).weights.toarray()), np.zeros(40))
    assert "in 2 components" in str(bmlab.exact_plan(two_rings))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (bmlab.ising((16, 16)), r"2\^128 listed states, over a million years and over a billion GiB, or a table"),
        (
            bmlab.sherrington_kirkpatrick(50, rng=0),
            r"2\^50 states, about .* (days|hours|minutes).* and .* GiB, or a table",
        ),
        (bmlab.ising((12, 12)), r"operations, about .* seconds and .* GiB;"),
        (bmlab.sherrington_kirkpatrick(26, rng=0), r"2\^26 states, about .* ms and .* MiB;"),
    ],
)
def test_a_refusal_says_that_only_tables_as_are_never_made_would_take_less(model, words):
    """On a torus of 16 x 16 the million years of 2^128 states are no need: tables of 2^31 numbers take hours."""
    with pytest.raises(ValueError, match="exact.. would need .*" + words):
        bmlab.exact(model, max_seconds=1e-3)
    graph = planning.Pattern(model.weights).graph
    assert ("or a table" in words) == (model.n > 26 and elimination.best_order(graph, planning.MAX_TREEWIDTH) is None)


def test_no_price_is_a_number_that_nobody_can_picture():
    """1e90 pieces and 1e81 years were printed."""
    glasses = [bmlab.sherrington_kirkpatrick(n, rng=0) for n in (60, 900)]
    for model in [*glasses, bmlab.ising((36, 36))]:
        said = [repr(bmlab.exact_plan(model)), bmlab.exact_plan(model).time]
        for ask in (bmlab.exact, bmlab.ground_state, partial(bmlab.sample, size=1, rng=0)):
            with pytest.raises(ValueError, match="would need") as error:
                ask(model)
            said.append(str(error.value))
        assert not re.findall(r"\de\+(?:1[89]|[2-9]\d|\d{3})|\d{6}", re.sub(r"2\^\d+|,", "", " ".join(said)))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0003, "0.3 ms"),
        (0.15, "150 ms"),
        (0.9997, "1,000 ms"),
        (1.31, "1,310 ms"),
        (3, "3 seconds"),
        (600, "10 minutes"),
        (4 * 86400, "4 days"),
        (1e9, "31.7 years"),
        (1e11, "3,169 years"),
        (1e90, "over a million years"),
    ],
)
def test_times_are_said_as_a_person_would(seconds, words):
    assert time_in_words(seconds) == words
