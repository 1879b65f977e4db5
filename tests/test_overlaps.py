"""No word of a drawing is struck: not by a line, a point, an axis or another word, at any machine of the course."""

import matplotlib
import numpy as np
import pytest

import bmlab
from bmlab import data, plot

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from overlaps import overlaps, points_of

ZOO = data.zoo()
FIVE = ["hair", "eggs", "milk", "airborne", "aquatic"]
SEVEN = data.votes().names[2:9]


def joined(n, pairs, *, bias=0.0, names=(), rng=0):
    """A machine with random weights on some pairs."""
    weights, draw = np.zeros((n, n)), np.random.default_rng(rng)
    for i, j in pairs:
        weights[i, j] = weights[j, i] = draw.normal()
    return bmlab.BoltzmannMachine(weights, bias * draw.normal(size=n), names=names)


def learnt(rows, names, weakest=0.0):
    """The machine of some rows, without its weakest weights."""
    weights = bmlab.pseudolikelihood(rows, penalty=0.1).model.weights
    return bmlab.BoltzmannMachine(np.where(np.abs(weights) > weakest, weights, 0), np.zeros(len(names)), names=names)


def animals(names):
    return ZOO.data[:, [ZOO.properties.index(name) for name in names]]


def tree_with_messages(up):
    tree = joined(7, [(k, (k - 1) // 2) for k in range(1, 7)], bias=1)
    told = {((k, (k - 1) // 2) if up else ((k - 1) // 2, k)): f"{(-1) ** k * k / 7:+.2f}" for k in range(1, 7)}
    return tree, {"layers": [(3, 4, 5, 6), (1, 2), (0,)], "messages": told}


def carry():
    weights = np.array([[0, -0.5, 0.5, 1], [-0.5, 0, 0.5, 1], [0.5, 0.5, 0, -1], [1, 1, -1, 0]])
    places = [[0, 2.2], [6, 2.2], [3, -1.2], [3, 0.9]]
    machine = bmlab.BoltzmannMachine(weights, [-0.0239, 0.5, 0, 1], names=("x", "y", "z", "carry"))
    return machine, {"states": [1, 1, -1, 1], "places": places}


def competing():
    weights = np.ones((9, 9)) - np.eye(9)
    weights[:6, :6], weights[6:, 6:] = 0, np.eye(3) - 1
    spots = [(k, 0) for k in range(6)] + [(0.5, 2), (2.5, 2.8), (4.5, 2)]
    return bmlab.BoltzmannMachine(weights, np.zeros(9)), {"places": np.array(spots, dtype=float)}


NETWORKS = {  # a machine, how it is drawn, and how large, in inches: those of the notebooks and of the stills
    "toy": lambda: (bmlab.toy(), {"states": [0, 1, -1]}, (3.75, 3)),
    "toy, small": lambda: (bmlab.toy(), {}, (3.2, 2)),
    "medium": lambda: (bmlab.medium(), {"places": "circle"}, (3.3, 3.9)),
    "medium, near": lambda: (bmlab.medium(), {}, (5, 4)),
    "two and two": lambda: (
        bmlab.restricted([[1, -0.5], [-0.5, 1]], [0.5, 0], [0, -0.5]),
        {"layers": [[0, 1], [2, 3]], "states": [1, -1, 0, 0], "clamped": [0, 1]},
        (4.5, 3),
    ),
    "five and three": lambda: (
        bmlab.restricted(np.random.default_rng(0).normal(size=(5, 3)), np.ones(5), np.ones(3)),
        {"layers": [range(5), range(5, 8)]},
        (3.3, 3.9),
    ),
    "torus": lambda: (bmlab.ising((4, 4)), {"layers": np.arange(16).reshape(4, 4).tolist()}, (3.2, 3.2)),
    "chain of four": lambda: (joined(4, [(2, 0), (0, 3), (3, 1)], bias=1), {}, (6, 2)),
    "chain of ten": lambda: (joined(10, [(k, k + 1) for k in range(9)]), {}, (7, 1.5)),
    "named chain": lambda: (joined(5, [(k, k + 1) for k in range(4)], names=FIVE), {}, (5, 1.6)),
    "tree": lambda: (joined(7, [(k, (k - 1) // 2) for k in range(1, 7)], names=SEVEN), {}, (5.5, 3.2)),
    "messages up": lambda: (*tree_with_messages(True), (5.2, 3.1)),
    "messages down": lambda: (*tree_with_messages(False), (5.2, 3.1)),
    "star": lambda: (joined(6, [(0, k) for k in range(1, 6)], names=ZOO.properties[:6]), {}, (5, 3)),
    "five animals": lambda: (learnt(animals(FIVE), FIVE), {"sizes": [0.3, 0.5, 0.2, 0.1, 1]}, (5.5, 3.4)),
    "zoo": lambda: (learnt(ZOO.data, ZOO.properties, 0.3), {"sizes": (1 + ZOO.data.mean(axis=0)) / 2}, (5.2, 5.2)),
    "votes": lambda: (learnt(np.where(data.votes().data[:, 2:9] > 0, 1, -1), SEVEN), {"places": "circle"}, (3.3, 3.9)),
    "three votes": lambda: (
        joined(3, [(0, 1), (0, 2), (1, 2)], names=("budget", "freeze", "Contras")),
        {"states": [1, 0, 1], "clamped": [0, 2]},
        (4, 2.8),
    ),
    "carry": lambda: (*carry(), (5.2, 3.4)),
    "competing": lambda: (*competing(), (4.5, 3.2)),
    "spin glass": lambda: (bmlab.sherrington_kirkpatrick(4, rng=3), {"places": "circle"}, (3.3, 3.9)),
    "pair": lambda: (joined(2, [(0, 1)], bias=1), {"messages": {(0, 1): "+0.46", (1, 0): "−0.21"}}, (3.3, 3.9)),
    "fifteen units": lambda: (bmlab.sherrington_kirkpatrick(15, rng=0), {}, (5, 4)),
}


def network(name):
    """One drawn, with a headline, as a notebook does."""
    plt.close("all")
    machine, drawn, size = NETWORKS[name]()
    figure, ax = plt.subplots(figsize=size)
    plot.headline(plot.network(machine, ax, **drawn), "A machine")
    return plot.apply_style(figure)


@pytest.mark.parametrize("name", NETWORKS)
def test_no_name_and_no_number_of_a_network_is_struck(name):
    assert overlaps(network(name)) == []


@pytest.mark.parametrize("name", [name for name, make in NETWORKS.items() if make()[0].names])
def test_each_name_of_a_network_is_nearest_to_its_own_unit(name):
    figure, model = network(name), NETWORKS[name]()[0]
    overlaps(figure)  # draws it
    (ax,) = figure.axes
    centres, radii = points_of(ax)
    called = {text.get_text().replace("\n", " "): text.get_window_extent() for text in ax.texts}
    for k, unit in enumerate(model.names):
        (box,) = [box for words, box in called.items() if words == unit or words.startswith(f"{unit} b = ")]
        gap = np.hypot(*(np.clip(centres, box.min, box.max) - centres).T) - radii
        assert gap.argmin() == k, unit


def three_panels(two_rows):
    """Before, after and the climb: in a row, or the climb below, as the notebooks have it."""
    if not two_rows:
        return plt.subplots(1, 3, figsize=(8.4, 3.2))
    figure = plt.figure(figsize=(5.2, 4.8))
    return figure, [*figure.subplot_mosaic("AB;CC", height_ratios=[3, 2]).values()]


def climb(names, steps, two_rows=True, **options):
    """Three panels that say how the machine of some animals learns."""
    plt.close("all")
    rows = animals(names)
    start = bmlab.BoltzmannMachine(np.zeros((len(names),) * 2), np.zeros(len(names)), names=tuple(names))
    figure, axes = three_panels(two_rows)
    plot.learning(bmlab.fit(start, rows, steps=steps, rate=0.1).steps, axes, **options)
    return plot.apply_style(figure)


def toy_climb():
    plt.close("all")
    figure, axes = three_panels(True)
    evenings = bmlab.sample(bmlab.toy().at(0.7), 60, rng=0)
    plot.learning(bmlab.fit(bmlab.toy(), evenings, steps=40, rate=0.1).steps, axes)
    return plot.apply_style(figure)


CLIMBS = {
    "toy": toy_climb,
    "five animals": lambda: climb(FIVE, 301, pair=(0, 1)),
    "five animals, in a row": lambda: climb(FIVE, 301, two_rows=False, pair=(0, 1)),
    "five animals, at first": lambda: climb(FIVE, 2),
    "mismatch": lambda: climb(FIVE, 100, what="mismatch"),
    "zoo": lambda: climb(ZOO.properties, 40),
}


@pytest.mark.parametrize("name", CLIMBS)
def test_no_word_of_a_climb_is_struck(name):
    assert overlaps(CLIMBS[name]()) == []


def test_no_name_of_a_bound_is_struck():
    model = bmlab.medium().at(2)
    proven = bmlab.Bracket(bmlab.Bounded(9.0, lower=8.5, upper=9.5), "tree", "Gaussian", {})
    figure, ax = plt.subplots(figsize=(5.2, 2.5), layout="constrained")
    plot.bracket(proven, [bmlab.exact(model), bmlab.tap(model)], ax)
    assert overlaps(plot.apply_style(figure)) == []


def test_what_is_struck_is_found():
    figure, ax = plt.subplots()
    ax.plot([0, 1], [0, 1])
    ax.plot(0.9, 0.1, "o", markersize=10)
    for word, place in {"line": (0.5, 0.5), "disc": (0.9, 0.1), "free": (0.2, 0.8), "word": (0.22, 0.81)}.items():
        ax.text(*place, word)
    assert overlaps(figure) == [("line", "line"), ("disc", "disc"), ("word", "free")]
