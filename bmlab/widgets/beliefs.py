"""Machines whose discs are filled as far as their units are likely to be +1: probabilities, mean field, messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.patheffects import withStroke

from .. import plot
from ..checking.arrays import first_largest, states
from ..checking.calls import show_call
from ..infer.exact.exact_sampling import probabilities
from ..infer.sampling.gibbs import sweep
from ..infer.variational.naive_mean_field import mean_field
from ..model import BoltzmannMachine
from ..plot.style import DASHED, ON_LIGHT, escape_dollars, signed
from .machine import ModelView
from .pictures import Choice, Controls, Slider, page, two_layers
from .view import script

RADIUS = 26  # of a disc, as in beliefs.js: a view and its stored picture are drawn in one measure
WIDE, HIGH = 720, 300
SIDES = {"middle": "center", "start": "left", "end": "right"}  # of a word, as the page and Matplotlib name them


class BeliefView(ModelView):
    """State of these views besides the machine: places of units and names, and the units held at first."""

    low = traitlets.Int().tag(sync=True)  # units of the row below, if there are two
    places = traitlets.List().tag(sync=True)
    labels = traitlets.List().tag(sync=True)  # of each unit: its name's distance to the right, down, and its anchor
    box = traitlets.List().tag(sync=True)
    held = traitlets.List().tag(sync=True)
    headline = traitlets.Unicode().tag(sync=True)


class ConditionalView(BeliefView):
    """Hold units of a machine of up to ten, and see the exact conditional probabilities of the others fill their discs.

    A machine begins with the unit of the largest weights held at +1; a restricted machine in two rows, its visible
    units held, and Run is block Gibbs sampling: all units of the open row at once, then those of the other.
    Raises ValueError for more units.

    >>> from bmlab.widgets import ConditionalView
    >>> ConditionalView(bmlab.toy())
    ConditionalView(BoltzmannMachine(n=3, couplings=3, T=1))
    """

    enlarged = 1.2
    _esm = script("sampler.js", "graph.js", "beliefs.js", "conditional.js")
    alt = traitlets.Unicode(
        "A machine with units held; each other disc is as blue as its unit is then likely to be +1."
    ).tag(sync=True)

    @show_call()
    def draw(self, model: BoltzmannMachine, seed: int) -> tuple[Figure, dict[str, Any]]:
        """Draw the machine with the units held at first; each other disc is filled to the probability of +1."""
        layers, n, held = two_layers(model), model.n, np.zeros(model.n, int)
        if layers:
            low = len(layers[0])
            held[:low] = np.random.default_rng(seed).choice([-1, 1], low)
            names = [f"visible {i}" if i < low else f"hidden {i - low}" for i in range(n)]
            sent = rows(layers) | {"headline": "Hold one row, and the other is drawn all at once"}
        else:
            held[first_largest(np.abs(model.dense_weights).sum(axis=0))] = 1
            names = [f"unit {i}" for i in range(n)]
            sent = ring(range(n)) | {"headline": "Hold a unit: some follow it, some go the other way"}
        sent |= {
            "names": [str(name) for name in model.names] or names,
            "held": held.tolist(),
            "low": len(layers[0]) if layers else 0,
        }
        before, after = chances(model, 0 * held), chances(model, held)
        figure, ax = sheet(
            sent,
            ["Run", "Step", "Free all"] if layers else ["Free all"],
            "Press a unit: +1, \N{MINUS SIGN}1, free. Triangle: its level when all are free.",
        )
        numbers = [signed(sign, "+d") if sign else f"{p:.2f}" for sign, p in zip(held, after, strict=True)]
        network(ax, model, sent, after, numbers, before)
        return figure, sent


class MeanFieldView(BeliefView):
    """One unit of a machine of up to ten, among its neighbours, which flip, and among their averages, which settle.

    Left Gibbs sampling, right mean field of the same machine; below, the mean of the unit in the middle, which has the
    most couplings: counted, by mean field, and exact.  A lattice of three by three is drawn as a square, other machines
    round their middle unit.  Raises ValueError for more units.

    >>> from bmlab.widgets import MeanFieldView
    >>> MeanFieldView(bmlab.ising((3, 3), periodic=False, field=0.1))
    MeanFieldView(BoltzmannMachine(n=9, couplings=12, sparse, T=1))
    """

    enlarged = 1.16
    _esm = script("sampler.js", "graph.js", "beliefs.js", "averages.js")
    alt = traitlets.Unicode(
        "A machine with units of -1 or +1 beside one with their means, and three means of the unit in the middle."
    ).tag(sync=True)
    middle = traitlets.Int().tag(sync=True)

    @show_call()
    def draw(self, model: BoltzmannMachine, seed: int) -> tuple[Figure, dict[str, Any]]:
        """Draw the machine twice, by Gibbs sampling and by mean field, with its middle unit's field and mean."""
        middle, others = around(model)
        places, high = np.full((model.n, 2), [180.0, 108]), 212
        if is_square(model):
            places += [86, 75] * (np.argwhere(np.ones((3, 3)))[:, ::-1] - 1)
        else:
            around_it = np.array(ring(others, 360, 75)["places"]).reshape(-1, 2)
            places[others] = around_it - np.array([0, 25])  # without names, and the room for them
        sent = {
            "headline": "Mean field replaces each neighbour by its mean",
            "names": [str(name) for name in model.names] or [f"unit {i}" for i in range(model.n)],
            "middle": middle,
            "held": [int(unit == middle) for unit in range(model.n)],
            "places": places.tolist(),
            "labels": [None] * model.n,
            "box": [360, high],
        }
        rng = np.random.default_rng(seed)
        s, fields = rng.choice([-1.0, 1.0], model.n), []
        for _ in range(60):
            s = sweep(model, s, rng.random(model.n))
            fields.append(model.field(s)[middle])
        m = mean_field(model).mean
        controls = [
            "Run",
            "One update",
            Slider("temperature T", (model.temperature - 0.5) / 5.5, f"{model.temperature:g}"),
        ]
        figure, ax = sheet(sent | {"box": [WIDE, high + 212]}, controls)
        signs = [signed(x, "+.0f") for x in s]
        for shift, p, numbers in ((0, s, signs), (360, m, [signed(x, ".2f") for x in m])):
            network(ax, model, sent | {"places": (places + np.array([shift, 18])).tolist()}, (1 + p) / 2, numbers)
        ax.text(0, 12, "Units flip: the field jitters", fontsize=10)
        ax.text(360, 12, "Only their means: the field settles", fontsize=10)
        reach = max(1, np.ceil(np.abs(model.dense_weights[middle]).sum() + abs(model.biases[middle])))
        for shift, found, method in ((0, fields, "gibbs"), (360, [model.field(m)[middle]], "mean field")):
            draw_fields(ax, shift, high, reach, np.array(found), plot.COLOURS[method])
        exact = 2 * chances(model, np.zeros(model.n))[middle] - 1
        draw_means(ax, high, {"exact": exact, "mean field": m[middle]})
        return figure, sent


class MessageView(BeliefView):
    """Watch belief propagation on a machine of up to ten units: messages to the root and back.

    A disc has the mean of its unit, and is filled to its p(+1); the exact mean stands beside it.  Unit 0 is the root
    at first.  On a tree each belief is exact; with the loop that the page offers, or on a machine that has loops, it
    need not be.  Raises ValueError for more units.

    >>> from bmlab.widgets import MessageView
    >>> MessageView(bmlab.ising(4, periodic=False))
    MessageView(BoltzmannMachine(n=4, couplings=3, sparse, T=1))
    """

    enlarged = 1.2
    _esm = script("sampler.js", "graph.js", "beliefs.js", "propagation.js", "messages.js")
    alt = traitlets.Unicode(
        "A machine in rows below its root: arrows of messages, and the mean that a unit then has, and the exact one."
    ).tag(sync=True)
    bridge = traitlets.List().tag(sync=True)  # two units whose coupling would close a loop

    @show_call()
    def draw(self, model: BoltzmannMachine, seed: int) -> tuple[Figure, dict[str, Any]]:
        """Draw the machine in rows below its root when its messages have come up: arrows, and exact means."""
        layers = depths(model)
        leaves, middle = layers[-1], len(layers[-1]) // 2
        pair = [leaves[middle - 1], leaves[middle]] if middle else []
        names = [str(name) for name in model.names] or [f"unit {i}" for i in range(model.n)]
        told, story = towards_root(model), ""
        headline = "Each unit tells its neighbours what it hears from others"
        if told:
            i, j = [*told][-1]
            headline = f"What {names[i]} tells {names[j]} is found without {names[j]}"
            field, said = (signed(x, ".2f") for x in (heard_by(model, told, i, j), told[i, j]))
            story = f"Without {names[j]}, the field of {names[i]} is {field}:\n{names[i]} tells {names[j]} {said}."
        sent = rows(layers[::-1]) | {
            "headline": headline,
            "names": names,
            "held": [int(unit == 0) for unit in range(model.n)],
            "bridge": pair if pair and not model.dense_weights[pair[0], pair[1]] else [],
        }
        left = [x < WIDE / 2 - 1 for x, _ in sent["places"]]
        sent["labels"] = [
            [0, RADIUS + 17, "middle"]
            if unit in leaves
            else [-RADIUS - 8, -12, "end"]
            if left[unit]
            else [RADIUS + 8, -12, "start"]
            for unit in range(model.n)
        ]
        exact = 2 * chances(model, np.zeros(model.n)) - 1
        controls = ["Run", "One message"] + [Choice("machine", ("tree", "with a loop"))] * bool(sent["bridge"])
        figure, ax = sheet(sent, controls, "Number: the mean; disc: p(+1); hatched: not known yet.")
        ax.text(0, 4, escape_dollars([story])[0], fontsize=10, va="top")
        heard = np.array([heard_by(model, told, i) for i in range(model.n)])
        known = [all((j, i) in told for j in np.flatnonzero(model.dense_weights[i])) for i in range(model.n)]
        mean = np.where(known, np.tanh(heard / model.temperature), np.nan)
        network(ax, model, sent, (1 + mean) / 2, ["" if np.isnan(m) else signed(m, ".2f") for m in mean])
        places = np.array(sent["places"])
        for unit, ((x, y), (dx, dy, anchor)) in enumerate(zip(places, sent["labels"], strict=True)):
            side = SIDES[anchor]
            ax.text(x + dx, y + dy + 18, f"exact {signed(exact[unit], '.2f')}", ha=side, fontsize=10)
        for start, end in told:
            step = places[end] - places[start]
            along = step / np.hypot(*step)
            tip = (places[end] + places[start]) / 2 + 11 * along + 14 * np.array([-along[1], along[0]])
            width = 3 if (start, end) == (i, j) else 1.5
            style = {"arrowstyle": "->", "color": plot.COLOURS["bethe"], "linewidth": width, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", tip, tip - 24 * along, arrowprops=style)
        return figure, sent


def towards_root(model: BoltzmannMachine) -> dict[tuple[int, int], float]:
    """The messages up to unit 0, {(from, to): field}, the farthest first: messages.js sends them before the others."""
    depth, near, told = {0: 0}, [0], {}
    for i in near:
        for j in map(int, np.flatnonzero(model.dense_weights[i])):
            if j not in depth:
                depth[j] = depth[i] + 1
                near.append(j)
    for i in sorted(near, key=lambda unit: -depth[unit]):
        for j in near:
            if (w := model.dense_weights[i, j]) and depth[j] <= depth[i]:
                t = np.tanh(w / model.temperature) * np.tanh(heard_by(model, told, i, j) / model.temperature)
                told[i, j] = float(model.temperature * np.arctanh(t))
    return told


def heard_by(model: BoltzmannMachine, told: dict[tuple[int, int], float], i: int, without: int = -1) -> float:
    """The bias of unit i, and what it has been told, but by the unit `without`."""
    return model.biases[i] + sum(u for (k, to), u in told.items() if to == i and k != without)


def depths(model: BoltzmannMachine) -> list[list[int]]:
    """The units by their distance from unit 0; those that it does not reach come last."""
    coupled, found, layers = model.dense_weights != 0, {0}, [[0]]
    while len(found) < model.n:
        near = [unit for unit in range(model.n) if unit not in found and coupled[unit, layers[-1]].any()]
        layers.append(near or [unit for unit in range(model.n) if unit not in found])
        found |= {*layers[-1]}
    return layers


def around(model: BoltzmannMachine) -> tuple[int, list[int]]:
    """The unit with the most couplings, and the others in an order in which neighbours follow each other."""
    coupled = model.dense_weights != 0
    middle = int(coupled.sum(axis=0).argmax())
    left, order = [unit for unit in range(model.n) if unit != middle], []
    while left:
        order.append(next((unit for unit in left if order and coupled[order[-1], unit]), left[0]))
        left.remove(order[-1])
    return middle, order


def is_square(model: BoltzmannMachine) -> bool:
    """Whether the machine is a lattice of three by three units, row by row."""
    at = np.argwhere(np.ones((3, 3)))
    beside = np.abs(at[:, None] - at).sum(axis=2) == 1
    return np.array_equal(model.dense_weights != 0, beside)


def chances(model: BoltzmannMachine, held: np.ndarray) -> np.ndarray:
    """The exact probability that each unit is +1, given those that are held."""
    s = states(model.n)
    p = probabilities(model) * (s[:, held != 0] == held[held != 0]).all(axis=1)
    return p @ (s > 0) / p.sum()


# Places of units


def rows(layers: Sequence[Sequence[int]]) -> dict[str, list]:
    """Each layer a row, the first below; names outside."""
    places, labels = np.empty((sum(map(len, layers)), 2)), {}
    for height, layer in enumerate(layers):
        y = HIGH / 2 if len(layers) == 1 else HIGH - 75 - (HIGH - 150) * height / (len(layers) - 1)
        for k, unit in enumerate(layer):
            places[unit] = WIDE / 2 + (k - (len(layer) - 1) / 2) * min(200, (WIDE - 100) / len(layer)), y
            labels[unit] = [0, RADIUS + 19 if height == 0 else -RADIUS - 10, "middle"]
    return {"places": places.tolist(), "labels": [labels[unit] for unit in sorted(labels)], "box": [WIDE, HIGH]}


def ring(order: Sequence[int], width: float = WIDE, radius: float = 100) -> dict[str, list]:
    """Places round a circle, in this order, the first at the top; names outside."""
    turn, high = 2 * np.pi * np.arange(len(order)) / max(len(order), 1), 2 * radius + 100
    places = np.column_stack([width / 2 + 1.15 * radius * np.sin(turn), high / 2 + 8 - radius * np.cos(turn)])
    labels = [
        [round((RADIUS + 8) * np.sign(x)), 4, "start" if x > 0 else "end"]
        if abs(x) > 0.3
        else [0, round(-(RADIUS + 10) if up > 0 else RADIUS + 19), "middle"]
        for x, up in zip(np.sin(turn), np.cos(turn), strict=True)
    ]
    return {"places": places.tolist(), "labels": labels, "box": [width, high]}


# The stored picture: the same drawing


def aside(p: float) -> float:
    """How far down from the middle of a disc its number stands clear of the level, p of the height, if possible."""
    below = 11 + RADIUS * (1 - 2 * p), RADIUS * (1 - 2 * p) - 11
    return 0 if np.isnan(p) else float(np.clip(below[0], 0, 6) if p >= 0.5 else np.clip(below[1], -6, 0))


def scale(ax: Axes, left: float, right: float, y: float, reach: float, name: str) -> None:
    """An axis from -reach to reach at the height y."""
    ax.plot([left, right], [y, y], color=plot.INK, linewidth=1)
    for x, tick in ((left, -reach), ((left + right) / 2, 0), (right, reach)):
        ax.text(x, y + 20, signed(tick, "g"), ha="center", fontsize=10)
    ax.text((left + right) / 2, y + 40, name, ha="center", fontsize=10)


def draw_fields(ax: Axes, shift: float, high: float, reach: float, found: np.ndarray, colour: str) -> None:
    """Draw the fields that the middle unit has felt on a scale of its own, the last as a point."""
    scale(ax, 60 + shift, 300 + shift, high + 58, reach, "field of the middle unit")
    at = 180 + shift + 120 * found / reach
    ax.plot([at, at], [high + 54, high + 34], color=colour, alpha=0.3)
    ax.plot(at[-1], high + 44, "o", color=colour)


def draw_means(ax: Axes, high: float, means: dict[str, float]) -> None:
    """Draw the means {method: m} of the middle unit on one scale, with a key."""
    scale(ax, 60, 660, high + 168, 1, "mean of the middle unit")
    for at, (name, x) in zip((64, 250), means.items(), strict=True):
        for spot in ((360 + 300 * x, high + 156), (at, high + 128)):  # on the scale, and in the key
            ax.plot(*spot, plot.MARKERS[name], color=plot.COLOURS[name])
        ax.text(at + 16, high + 129, f"{name} {signed(x, '+.2f')}", va="center_baseline", fontsize=10)


def sheet(sent: dict[str, Any], controls: Controls, hint: str = "") -> tuple[Figure, Axes]:
    """An empty view: its headline above, its controls below, and between them axes in pixels of the page."""
    figure, (ax,) = page(sent["headline"], controls, sent["box"], hint=hint)
    return figure, ax


def network(
    ax: Axes,
    model: BoltzmannMachine,
    sent: dict[str, Any],
    p: np.ndarray,
    numbers: Sequence[str],
    before: np.ndarray | None = None,
) -> None:
    """Draw the same as beliefs.js: weights, discs filled to p (hatched if it is nan), numbers, names.

    With the levels `before` units were held only the lines of held units are drawn.
    """
    places, w = np.array(sent["places"]), model.dense_weights
    for i, j in np.argwhere(np.tril(w)):
        if before is not None and not (sent["held"][i] or sent["held"][j]):
            continue
        style: Any = {"color": plot.TOGETHER} if w[i, j] > 0 else {"color": plot.APART, "linestyle": DASHED}
        ax.plot(*places[[i, j]].T, linewidth=0.5 + 4.9 * abs(w[i, j]) / np.abs(w).max(), zorder=1, **style)
    for i, (x, y) in enumerate(places):
        unknown: Any = {"hatch": "//", "edgecolor": plot.OPEN, "linewidth": 0} if np.isnan(p[i]) else {}
        ax.add_patch(Circle((x, y), RADIUS, facecolor=plot.MINUS, zorder=2, **unknown))
        if np.isfinite(p[i]):
            turn = np.arccos(np.clip(1 - 2 * p[i], -1, 1)) * np.linspace(-1, 1, 60)
            ax.fill(x + RADIUS * np.sin(turn), y + RADIUS * np.cos(turn), color=plot.PLUS, linewidth=0, zorder=3)
        rim = 3 if sent["held"][i] else 1.2
        ax.add_patch(Circle((x, y), RADIUS, facecolor="none", edgecolor=plot.INK, linewidth=rim, zorder=4))
        if before is not None:
            side = 1 if (sent["labels"][i] or [0])[0] < 0 else -1  # the side without a name
            mark = y + RADIUS * (1 - 2 * before[i])
            edge = x + side * np.sqrt(max(0, RADIUS**2 - (mark - y) ** 2))
            ends = [edge, edge + 10 * side, edge + 10 * side], [mark, mark - 6, mark + 6]
            ax.fill(*ends, color=plot.INK, edgecolor="white", linewidth=0.8, zorder=5)
        ink, ground = ("white", plot.PLUS) if p[i] >= 0.5 else (ON_LIGHT, plot.MINUS)
        about: Any = {"color": ink, "path_effects": [withStroke(linewidth=2, foreground=ground)], "zorder": 6}
        ax.text(x, y + aside(p[i]), numbers[i], ha="center", va="center", fontsize=10, **about)
        if sent["labels"][i] is None:
            continue
        dx, dy, anchor = sent["labels"][i]
        ax.text(x + dx, y + dy, escape_dollars([sent["names"][i]])[0], ha=SIDES[anchor], va="baseline", fontsize=10)
