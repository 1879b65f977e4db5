"""Drawings: each draws its arguments on the Axes it is given, and its marks stand at the numbers."""

import base64
import io
import re
import sys
from dataclasses import replace
from itertools import combinations, islice
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from overlaps import overlaps
from selection import exhaustive

import bmlab
from bmlab.plot.labels import arrow_of

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.cbook import is_math_text
from matplotlib.colors import rgb_to_hsv, to_rgb
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from PIL import Image
from scipy.sparse import csgraph

from bmlab import plot
from bmlab.plot import figures
from bmlab.plot.labels import Labels
from bmlab.plot.style import HATCHED, ON_LIGHT
from bmlab.widgets.pictures import completed


@pytest.fixture
def ax():
    plt.close("all")  # figures that a test before has left open
    figure, axes = plt.subplots()
    yield axes
    figure.canvas.draw()
    plt.close(figure)


@pytest.mark.parametrize("model", [bmlab.medium().at(3.0), bmlab.ising((3, 3)).at(5.0)], ids=["dense", "sparse"])
def test_moments_stand_against_the_reference(ax, model):
    reference, sampled = bmlab.exact(model), bmlab.gibbs(model, rng=np.random.default_rng(0))
    plot.moments(reference, sampled, ax)
    drawn = {c.get_label(): c.lines[0].get_xydata() for c in ax.containers}
    assert np.allclose(drawn["means"], np.column_stack([reference.mean, sampled.mean]))
    assert len(drawn["correlations"]) == (45 if not model.is_sparse else 18)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("exact", "gibbs")


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_what_has_not_converged_is_marked(ax):
    model = bmlab.medium()
    plot.moments(bmlab.exact(model), bmlab.mean_field(model, max_sweeps=1), ax)
    assert ax.get_title() == "NOT CONVERGED"


def test_learning_draws_a_value_a_step(ax):
    steps = bmlab.fit(bmlab.toy(), bmlab.states(3)[:3], steps=5, rate=0.1).steps
    plot.learning(steps, ax)
    plot.learning(steps[2:], ax, what="mismatch")
    assert np.allclose(ax.lines[0].get_ydata(), [s.log_likelihood.value for s in steps])
    assert np.allclose(ax.lines[1].get_ydata(), [s.mismatch for s in steps[2:]])
    assert list(ax.lines[0].get_xdata()) == [0, 1, 2, 3, 4] and list(ax.lines[1].get_xdata()) == [2, 3, 4]


def test_curves_of_one_colour_are_told_apart(ax):
    lines = {"gibbs, 10 sweeps": [1, 2], "gibbs, 100 sweeps": [2, 3], "exact": [3, 3], "temperature": [0, 1]}
    assert plot.curves([1, 10], lines, ax, xscale="log", xlabel="sweeps") is ax
    assert ax.get_legend() is None and [t.get_text() for t in ax.texts] == list(lines)
    assert [t.get_color() for t in ax.texts] == [line.get_color() for line in ax.lines]
    assert all(np.array_equal(line.get_xydata()[:, 1], lines[line.get_label()]) for line in ax.lines)
    assert [line.get_color() for line in ax.lines] == [plot.COLOURS["gibbs"]] * 2 + ["black"] * 2
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == 4
    assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "sweeps")


def test_a_free_phase_of_gibbs_looks_the_same_in_every_picture():
    names = ["PCD", "CD-1", "fresh chains"]
    first, again = (
        plot.curves([0, 1], {name: [0, 1] for name in order}, plt.figure().subplots()).lines
        for order in (names, ["exact", *names[::-1]])
    )
    looks = [
        {line.get_label(): (line.get_color(), line.get_linestyle(), line.get_fillstyle()) for line in lines}
        for lines in (first, again)
    ]
    assert looks[0].items() <= looks[1].items() and {colour for colour, *_ in looks[0].values()} == {plot.PLUS}
    assert len({dashes for _, dashes, _ in looks[0].values()}) == len({fill for *_, fill in looks[0].values()}) == 3


def test_words_stand_where_a_line_ends_though_nobody_has_set_limits(ax):
    ax.plot([0, 2, 1], [0, 6, 3], "o", label="rises")  # its last point is not the rightmost
    plot.label_lines(ax)
    (text,) = ax.texts
    assert np.allclose(ax.transAxes.transform(text.xy), ax.transData.transform((2, 6)), atol=1)


def test_words_at_lines_do_not_touch_and_keep_their_order(ax):
    ends = [0.5, 0.5001, 0.9, 0.5002, 2.0]  # the last leaves the axes
    for k, end in enumerate(ends):
        ax.plot([0, 1], [0, end], label=str(k))
    ax.plot([0, 1], [1, 0.5])  # without a name
    ax.set(ylim=(0, 1))
    ax.legend()
    assert plot.label_lines(ax) is ax and ax.get_legend() is None
    heights = {text.get_text(): text.xy[1] * ax.bbox.height * 72 / ax.figure.dpi for text in ax.texts}
    assert [*heights] == list("01234") and sorted(heights, key=heights.get) == list("01324")
    assert np.diff(sorted(heights.values())).min() > 10  # points: the height of the letters


def test_words_at_lines_that_end_far_apart_stand_at_their_ends(ax):
    for k, end in enumerate([0.2, 0.8]):
        ax.plot([0, 1], [0, end], label=str(k))
    ax.set(ylim=(0, 1))
    plot.label_lines(ax)
    assert np.allclose([text.xy[1] for text in ax.texts], [0.2, 0.8])


def test_show_is_that_of_pyplot_outside_a_notebook(ax, monkeypatch):
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.gcf()))
    plot.show("An empty frame.")
    assert shown == [ax.figure]


def test_a_picture_that_a_notebook_has_shown_is_closed_and_not_shown_again(ax, monkeypatch):
    shown = []
    monkeypatch.setattr(plt, "get_backend", lambda: "inline")
    monkeypatch.setattr("IPython.display.display", lambda data, **about: shown.append(data))
    plot.show("An empty frame.")
    assert len(shown) == 1 and plt.get_fignums() == []


def test_a_bracket_is_a_band_between_two_names(ax):
    model = bmlab.medium().at(2)
    proven = bmlab.Bracket(bmlab.Bounded(9.0, lower=8.5, upper=9.5), "tree", "Gaussian", {})
    assert plot.bracket(proven, [bmlab.exact(model), bmlab.tap(model)], ax) is ax
    (band,) = ax.patches
    assert (band.get_x(), band.get_x() + band.get_width()) == (8.5, 9.5)
    assert {t.get_text().strip(): t.xy[0] for t in ax.texts} == {"tree": 8.5, "Gaussian": 9.5}
    assert [t.get_text() for t in ax.get_yticklabels()] == ["exact", "tap"]
    assert np.isclose(ax.containers[1].lines[0].get_xdata()[0], bmlab.tap(model).log_z.value)


def test_images_stand_in_rows_and_columns(ax):
    rows = np.arange(3 * 4).reshape(3, 4)
    plot.images(rows, ax, columns=2)
    sheet = np.ma.filled(ax.images[0].get_array().astype(float), np.nan)
    assert sheet.shape == (5, 5)
    assert (sheet[:2, :2] == [[0, 1], [2, 3]]).all() and (sheet[3:, :2] == [[8, 9], [10, 11]]).all()
    assert np.isnan(sheet[2]).all() and np.isnan(sheet[3:, 3:]).all()


def test_lines_of_images_have_names_and_what_moved_a_dot(ax):
    rows = np.zeros((4, 6))
    moved = rows.astype(bool)
    moved[3, 5] = True  # the last pixel of the last image
    plot.images(rows, ax, shape=(2, 3), columns=2, names=["before", "after"], marked=moved)
    rims, dots = ax.lines
    assert dots.get_xydata().tolist() == [[6, 4]]
    assert np.nanmin(rims.get_xydata()[-6:], axis=0).tolist() == [3.5, 2.5]  # the rim of the last image
    assert [label.get_text() for label in ax.get_yticklabels()] == ["before", "after"]
    assert list(ax.get_yticks()) == [0.5, 3.5]  # in the middle of each line


# The colours of a dichromat, in linear RGB: Machado, Oliveira and Fernandes (2009), IEEE TVCG 15, 1291, severity 1
SIGHT = {
    "all": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
JUST_NOTICED = 2.3  # difference of two colours in CIE L*a*b*: Mahy, Van Eycken and Oosterlinck (1994)


def lab(colour, sight):
    """The colour as this sight sees it, in CIE L*a*b*."""
    rgb = np.array(matplotlib.colors.to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    x = TO_XYZ @ np.clip(sight @ linear, 0, 1) / TO_XYZ.sum(1)
    f = np.where(x > (6 / 29) ** 3, np.cbrt(x), x * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHT)
def test_methods_are_told_apart_by_colour_whoever_looks(sight):
    on_paper = plot.COLOURS | {"exact": plot.INK}  # black as show() draws it
    seen = [lab(colour, np.array(SIGHT[sight])) for colour in on_paper.values()]
    for (a, first), (b, second) in combinations(zip(on_paper, seen, strict=True), 2):
        assert np.linalg.norm(first - second) > 4 * JUST_NOTICED, (a, b)


def contrast(colour, ground):
    """The contrast of two colours: WCAG 2.2."""
    bright = [lab(x, np.eye(3))[0] for x in (colour, ground)]
    high, low = sorted(((x + 16) / 116) ** 3 if x > 8 else x / 903.3 for x in bright)[::-1]
    return (high + 0.05) / (low + 0.05)


def test_a_picture_is_read_on_its_own_paper():
    """WCAG 2.2: contrast 3 for lines and 4.5 for words in colour; the others are near black."""
    assert contrast(plot.INK, plot.PAPER) > 12
    for colour in plot.COLOURS.values():
        assert contrast(plot.readable(colour), plot.PAPER) >= 4.5
    for colour in (plot.PLUS, plot.TOGETHER, plot.APART, plot.UNMET, *plot.SHADES):
        assert contrast(colour, plot.PAPER) > 3, colour


def test_all_words_of_a_figure_are_read_and_keep_their_hue(ax):
    plot.curves([1, 2], {name: [k, k + 1] for k, name in enumerate(plot.COLOURS)}, ax, xlabel="T")
    colours = [plot.UNMET, plot.FAINT, plot.OPEN, "C1", (1, 0.9, 0.3), "0.9", "#003300"]
    written = [ax.text(0.5, k, "words", color=colour) for k, colour in enumerate(colours)]
    words = [text for text in plot.apply_style(ax.figure).findobj(Text) if text.get_text()]
    assert len(words) > 15 and min(contrast(text.get_color(), plot.PAPER) for text in words) >= 4.5
    for colour, text in zip(colours, written, strict=True):
        before, after = (rgb_to_hsv(to_rgb(c)) for c in (colour, text.get_color()))
        assert before[1] == 0 or before[0] == pytest.approx(after[0], abs=0.02), colour
    assert written[-1].get_color() == "#003300"  # dark enough as it is


def test_methods_are_told_apart_without_any_colour():
    assert plot.COLOURS.keys() == plot.MARKERS.keys()
    assert len(set(plot.MARKERS.values())) == len(plot.MARKERS)


# networks


def test_weights_that_may_be_nothing_are_dotted_and_grey():
    weights = np.array([[0, 1, -0.3], [1, 0, 0.1], [-0.3, 0.1, 0]])
    model = bmlab.BoltzmannMachine(weights, np.zeros(3), names=("Ada", "Ben", "Cem"))
    errors = np.full((3, 3), 0.1)
    ax = plot.network(model, plt.figure().subplots(), errors=errors)
    looks = {line.get_color() for line in ax.lines if len(line.get_xdata()) > 1}
    assert looks == {plot.TOGETHER, plot.APART, HATCHED}
    with pytest.raises(ValueError, match=r"errors must be \(3, 3\)"):
        plot.network(model, plt.figure().subplots(), errors=np.ones(3))


def test_a_network_stands_as_in_the_live_view_and_says_signs_by_dashes(ax):
    weights = np.array([[0, 2, 0.1], [2, 0, -1], [0.1, -1, 0]])
    model = bmlab.BoltzmannMachine(weights, [0, 0.504, 0], names=("Ada", "Bo", "Cy"))
    assert plot.network(model, ax, states=[1, -1, 0], clamped=[2]) is ax
    joined, units = ax.lines[:3], ax.lines[3:]
    assert [line.get_linestyle() for line in joined] == ["-", "-", "--"]
    assert joined[0].get_linewidth() > joined[2].get_linewidth() > joined[1].get_linewidth()
    turn = 2 * np.pi * np.arange(3) / 3
    assert np.allclose([unit.get_xydata()[0] for unit in units], np.column_stack([np.sin(turn), np.cos(turn)]))
    assert [unit.get_marker() for unit in units] == ["o", "o", "s"]
    assert [unit.get_color() for unit in units] == [plot.PLUS, plot.MINUS, plot.OPEN]
    assert {text.get_text() for text in ax.texts} == {"+2", "+0.1", "\N{MINUS SIGN}1", "Ada", "Bo\nb = +0.5", "Cy"}


def joined_by(pairs, n):
    weights = np.zeros((n, n))
    for i, j in pairs:
        weights[i, j] = weights[j, i] = 1
    return bmlab.BoltzmannMachine(weights, np.zeros(n))


def places(ax, n):
    return np.array([unit.get_xydata()[0] for unit in ax.lines[-n:]])


def test_who_pull_each_other_stand_together(ax):
    pulls = {(i, j) for group in (range(4), range(4, 8)) for i, j in combinations(group, 2)}
    model = joined_by(pulls, 8)
    far = bmlab.BoltzmannMachine(model.weights - np.roll(np.eye(8), 4, axis=1), np.zeros(8))
    plot.network(far, ax)
    gaps = {pair: np.hypot(*np.subtract(*places(ax, 8)[list(pair)])) for pair in combinations(range(8), 2)}
    assert max(gaps[pair] for pair in pulls) < min(gap for pair, gap in gaps.items() if pair not in pulls)


def test_a_torus_leaves_its_frame_and_an_open_lattice_does_not(ax):
    torus, rows = bmlab.ising((3, 3)), np.arange(9).reshape(3, 3).tolist()
    plot.network(torus, ax, layers=rows)
    lines = np.array([line.get_xydata() for line in ax.lines[:-9]])
    outside = ((lines < 0) | (lines > 2)).any(axis=(1, 2))
    assert len(lines) == 12 + 2 * 6 and outside.sum() == 2 * 6  # 18 couplings, of which 6 go round the back
    assert not ax.texts
    ax.clear()
    plot.network(joined_by([(0, 1), (1, 2), (3, 4), (0, 3), (0, 8)], 9), ax, layers=rows)  # 0 to 8 is no neighbour
    lines = np.array([line.get_xydata() for line in ax.lines[:-9]])
    assert len(lines) == 5 and ((lines >= 0) & (lines <= 2)).all()


def arrows_of(ax):
    return {(tuple(np.round(text.xyann, 6)), tuple(np.round(text.xy, 6))) for text in ax.texts if arrow_of(text)}


def test_a_message_points_to_whom_it_is_told(ax):
    plot.network(joined_by([(0, 1), (1, 2)], 3), ax, messages={(1, 0): "go", (1, 2): "stay"})
    x, y, z = places(ax, 3)
    for (start, to), way in zip(sorted(arrows_of(ax)), (x - y, z - y), strict=True):
        assert np.subtract(to, start) @ way > 0.99 * 0.4 * way @ way
    assert {"go", "stay"} <= {text.get_text() for text in ax.texts}


def test_a_message_flies_along_the_middle_of_its_line(ax):
    plot.network(joined_by([(0, 1)], 2), ax, messages={(1, 0): "go"})
    (text,) = [text for text in ax.texts if arrow_of(text)]
    first, second = places(ax, 2)
    assert np.allclose([text.xyann, text.xy], second + np.outer([0.3, 0.7], first - second))
    ax.figure.canvas.draw()
    from_line = ax.transData.transform(first) - arrow_of(text).get_window_extent().get_points().mean(axis=0)
    along = np.subtract(*ax.transData.transform([first, second]))
    apart = abs(from_line @ [-along[1], along[0]]) / np.hypot(*along) * 72 / ax.figure.dpi
    assert apart > ax.lines[0].get_linewidth() / 2 + 3
    (word,) = [text for text in ax.texts if text.get_text() == "go"]
    assert word.get_color() == plot.PLUS


def test_a_stronger_pull_stands_nearer_and_a_push_farther(ax):
    """A star of four leaves, of two strengths in turn, of which two that would stand alike push each other."""
    weights = np.zeros((5, 5))
    for i, j, w in ((0, 1, 0.9), (0, 2, 0.3), (0, 3, 0.9), (0, 4, 0.3), (2, 4, -0.3)):
        weights[i, j] = weights[j, i] = w
    plot.network(bmlab.BoltzmannMachine(weights, np.zeros(5)), ax, places="near")
    gap = {pair: np.hypot(*np.subtract(*places(ax, 5)[list(pair)])) for pair in combinations(range(5), 2)}
    for strong, weak in (((0, 1), (0, 2)), ((0, 3), (0, 4))):
        assert 1.2 * gap[strong] < gap[weak] < gap[2, 4]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_unit_can_be_moved_so_that_pairs_come_nearer_to_the_length_of_their_way(ax, seed):
    """Kamada and Kawai: the squares of what distances lack, in shares of the way between two units, are least."""
    rng = np.random.default_rng(seed)
    weights = bmlab.symmetric(rng.normal(0, 1, (9, 9)) * (rng.random((9, 9)) < 0.6))
    plot.network(bmlab.BoltzmannMachine(weights, np.zeros(9)), ax, places="near")
    share = weights / abs(weights).max()
    links = np.where(share > 0, 1 / (0.5 + share.clip(0)), 0)
    way = np.minimum(csgraph.shortest_path(links, directed=False), 2.5) + (share < 0) / 2
    pair = np.triu_indices(9, 1)

    def stress(spots):
        return np.sum((np.hypot(*(spots[:, None] - spots).T)[pair] / way[pair] - 1) ** 2)

    spots = np.array(places(ax, 9))
    for unit in range(9):
        for step in 0.1 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]):
            moved = spots.copy()
            moved[unit] += step
            assert stress(moved) > stress(spots)


def test_a_tree_stands_in_a_circle_where_that_is_asked_for(ax):
    plot.network(joined_by([(0, 1), (1, 2), (2, 3), (3, 4)], 5), ax, places="circle")
    assert np.allclose(np.hypot(*places(ax, 5).T), 1)


def test_a_chain_is_a_line_and_a_tree_has_levels(ax):
    plot.network(joined_by([(2, 0), (0, 3), (3, 1)], 4), ax)
    order = places(ax, 4)[[2, 0, 3, 1]]
    assert np.allclose(np.abs(np.diff(order, axis=0)), [1, 0])
    ax.clear()
    plot.network(joined_by([(k, (k - 1) // 2) for k in range(1, 7)], 7), ax)
    x, y = places(ax, 7).T
    assert [list(np.flatnonzero(np.isclose(y, level))) for level in (0, -1, -2)] == [[0], [1, 2], [3, 4, 5, 6]]
    assert np.allclose(x[[1, 2, 0]], (x[[3, 5, 1]] + x[[4, 6, 2]]) / 2) and (np.diff(x[3:]) > 0).all()


def test_a_number_on_a_line_breaks_it_and_stands_at_a_third_where_lines_cross(ax):
    plot.network(bmlab.sherrington_kirkpatrick(4, rng=3), ax, places="circle")
    for _ in range(2):  # drawn twice is drawn alike
        ax.figure.canvas.draw()
        lines = [line.get_xydata() for line in ax.lines[:-4]]
        numbers = [t for t in ax.texts if t.get_text()[0] in "+\N{MINUS SIGN}"]
        for line, number in zip(lines, numbers, strict=True):
            assert line.shape == (5, 2) and np.isnan(line[2]).all()
            middle = ax.transData.inverted().transform(number.get_window_extent().get_points()).mean(axis=0)
            part = np.hypot(*(middle - line[0])) / np.hypot(*(line[-1] - line[0]))
            assert min(abs(part - third) for third in (1 / 2, 1 / 3, 2 / 3)) < 0.1


@pytest.mark.parametrize("side", [-1, 1])
def test_words_of_a_line_on_which_others_stand_go_to_its_free_side(ax, side):
    ax.set(xlim=(0, 1), ylim=(-1, 1))
    (line,) = ax.plot([0, 1], [0, 0])
    ax.plot(np.linspace(0, 1, 60), np.zeros(60), "o", markersize=4)
    for k in range(1, 20):
        ax.plot([0, 1], [-side * k / 20] * 2)
    labels = Labels(ax)
    labels.breaks(line)
    labels.along("word", line)
    ax.figure.canvas.draw()
    (word,) = ax.texts
    box = word.get_window_extent().transformed(ax.transData.inverted())
    assert 0 < side * (box.y0 + box.y1) / 2 < 2 * box.height and overlaps(ax.figure) == []


def test_a_network_in_layers_draws_each_connection_once(ax):
    model = bmlab.restricted(np.ones((4, 3)), np.zeros(4), np.zeros(3))
    plot.network(model, ax, layers=[range(4), range(4, 7)])
    assert len(ax.lines) == 4 * 3 + 7
    assert {unit.get_xydata()[0][1] for unit in ax.lines[12:16]} == {0} and ax.lines[-1].get_ydata()[0] == 1
    with pytest.raises(ValueError, match="each of the units 0 to 6 once"):
        plot.network(model, ax, layers=[range(4)])


def test_two_layers_of_as_many_units_are_no_lattice_and_each_connection_goes_from_one_to_the_other(ax):
    plot.network(bmlab.restricted(np.ones((3, 3)), np.zeros(3), np.zeros(3)), ax, layers=[range(3), range(3, 6)])
    spots = places(ax, 6)
    assert [line.get_xydata().tolist() for line in ax.lines[:9]] == [
        [list(spots[i]), list(spots[j])] for i in range(3) for j in range(3, 6)
    ]


@pytest.mark.parametrize("units", [3, 20, 150])
def test_units_of_a_long_row_do_not_touch(ax, units):
    model = bmlab.restricted(np.ones((units, 2)), np.zeros(units), np.zeros(2))
    plot.network(model, ax, layers=[range(units), [units, units + 1]])
    ax.figure.canvas.draw()
    row = ax.lines[-2 - units : -2]
    places = ax.transData.transform([unit.get_xydata()[0] for unit in row])[:, 0] * 72 / ax.figure.dpi
    assert np.diff(places).min() > row[0].get_markersize()


def test_two_units_are_seen_whole(ax):
    plot.network(bmlab.BoltzmannMachine([[0, 1], [1, 0]], [0, 0]), ax)
    ax.figure.canvas.draw()
    disc = ax.lines[-1].get_markersize() * ax.figure.dpi / 72
    assert ax.bbox.width > disc and ax.bbox.height > 2 * disc


def test_a_network_of_one_unit_stands_wherever_it_may_and_one_of_none_is_refused(ax):
    one = bmlab.BoltzmannMachine([[0]], [1])
    for places in (None, "circle", "near"):
        assert len(plot.network(one, ax, places=places).lines) == 1
        ax.clear()
    with pytest.raises(ValueError, match=r"a network must have a unit, found none; try plot.network\(bmlab.toy\(\)"):
        plot.network(bmlab.BoltzmannMachine(np.zeros((0, 0)), []), ax)


# states


def discs(ax):
    """For each drawn state: its place, the colours of its units, and the number of its red lines."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle

    for box in ax.artists:
        parts = box.offsetbox.get_children()
        units = [part for part in parts if isinstance(part, Circle)]
        colours = [matplotlib.colors.to_hex(unit.get_facecolor()).upper() for unit in units]
        rims = [matplotlib.colors.to_hex(unit.get_edgecolor()).upper() == plot.UNMET for unit in units]
        yield box.xy, colours, sum(x.get_color() == plot.UNMET for x in parts if isinstance(x, Line2D)), rims


@pytest.mark.parametrize("toy", [bmlab.toy(), *(bmlab.sherrington_kirkpatrick(3, rng=seed) for seed in range(3))])
def test_states_are_drawn_under_their_bars_and_red_is_an_unmet_wish(ax, toy):
    toy, rows = replace(toy, biases=toy.biases / 3), bmlab.states(3)
    p = bmlab.probabilities(toy)
    assert plot.states(rows, ax, {"p": p}, model=toy) is ax
    assert np.allclose([bar.get_height() for bar in ax.patches], p)
    assert [bar.get_x() + bar.get_width() / 2 for bar in ax.patches] == pytest.approx(range(8))
    for row, (place, colours, red, rims) in zip(rows, discs(ax), strict=True):
        assert colours == [plot.PLUS if s > 0 else plot.MINUS for s in row] and rows[place[0]].tolist() == row.tolist()
        unmet = [toy.weights[i, j] * row[i] * row[j] < 0 for i, j in combinations(range(3), 2)]
        assert red == sum(unmet) and rims == [b * s < 0 for b, s in zip(toy.biases, row, strict=True)]


def test_two_rows_of_bars_are_named_in_their_colours(ax):
    plot.states(bmlab.states(2), ax, {"exact": [0.1, 0.2, 0.3, 0.4], "gibbs": [0.25] * 4})
    left, right = ax.containers
    assert all(a.get_x() + a.get_width() <= b.get_x() + 1e-9 for a, b in zip(left, right, strict=True))
    marks, names = ax.texts[::2], [text.get_text() for text in ax.texts[1::2]]
    assert names == ["exact", "gibbs"] and [mark.get_color() for mark in marks] == [plot.COLOURS[x] for x in names]


def test_phases_fill_the_frame_of_the_data_as_far_as_the_machine_has_come(ax):
    awake, asleep = bmlab.clamped(bmlab.toy(), bmlab.states(3)[[0, 7, 7]]), bmlab.exact(bmlab.toy())
    plot.phases(awake, asleep, ax, names=["a", "b", "c"], mark="a, c")
    filled, frames = ax.containers
    i, j = np.triu_indices(3, 1)
    for bars, known in ((filled, asleep), (frames, awake)):
        assert np.allclose([bar.get_width() for bar in bars], [*known.mean, *known.corr[i, j]])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c", "a, b", "a, c", "b, c"]
    marked = [matplotlib.colors.to_hex(bar.get_facecolor()).upper() != plot.PLUS for bar in filled]
    assert marked == [False] * 4 + [True, False]
    assert not any(frame.get_facecolor()[3] for frame in frames)  # nothing behind a frame is hidden
    assert np.diff(ax.get_ylim()) < 0  # the first on top
    assert [*ax.get_xticks()] == [-1, 0, 1] and np.allclose(ax.get_xlim(), (-1, 1), atol=0.1)


def test_learning_on_three_axes_names_the_same_pair_before_and_after(ax):
    data = bmlab.states(3)[[0, 0, 7, 6, 1]]
    steps = bmlab.fit(bmlab.BoltzmannMachine(np.zeros((3, 3)), np.zeros(3)), data, steps=40, rate=0.3).steps
    axes = ax.figure.subplots(1, 3)
    plot.learning(steps, axes)
    seen = steps[0].clamped.corr
    i, j = max(combinations(range(3), 2), key=lambda pair: abs(seen[pair]))
    for panel, step in zip(axes, (steps[0], steps[-1]), strict=False):
        (named,) = [text for text in panel.texts if text.get_text() == f"s{i}, s{j}"]
        assert named.xy == (seen[i, j], step.free.corr[i, j])
    assert axes[0].get_xlim() == axes[1].get_xlim() == axes[0].get_ylim()
    said = [(panel.get_xlabel(), panel.get_ylabel()) for panel in axes]
    assert said == [("awake (data)", "asleep (dreams)")] * 2 + [("step", "")]  # its headline names the function
    written = {f"{steps[k].log_likelihood.value:.2f}".replace("-", "\N{MINUS SIGN}") for k in (0, -1)}
    assert written <= {text.get_text() for text in axes[2].texts}
    assert [text.get_text() for text in axes[1].get_legend().get_texts()] == ["pairs", "units"]
    marks = {drawn.get_label(): drawn.lines[0].get_marker() for drawn in axes[1].containers}
    key = [line.get_marker() for line in axes[1].get_legend().get_lines()]
    assert key == [marks["correlations"], marks["means"]]
    ax.figure.set_layout_engine("constrained")
    ax.figure.canvas.draw()
    assert np.ptp([panel.get_position().bounds[1::2] for panel in axes], axis=0).max() < 1e-6  # one floor, one height
    below = [*plt.figure(figsize=(5, 5)).subplot_mosaic("AB;CC").values()]
    plot.learning(steps, below)
    assert axes[2].get_box_aspect() == 1 and below[2].get_box_aspect() is None


# looks


def test_a_headline_stands_left_above_the_words_below_it(ax):
    assert plot.headline(ax, "It climbs", below="nats a pattern") is ax
    ax.figure.canvas.draw()
    (below,) = ax.texts
    head, small = (text.get_window_extent() for text in (ax._left_title, below))
    assert ax.get_title(loc="left") == "It climbs" and head.y0 >= small.y1 - 1 and small.y0 >= ax.bbox.y1
    assert small.x0 == pytest.approx(ax.bbox.x0, abs=2)


def test_a_headline_that_is_longer_than_the_figure_is_wide_goes_on_in_a_second_line(ax):
    for words in ("It climbs", "It climbs " * 20):
        plot.headline(ax, words, below="nats a pattern")
        *_, width, _ = figures.png(plot.apply_style(ax.figure))
        assert width <= 100 * (ax.figure.get_figwidth() + 2 * figures.MARGIN)


def test_a_dressed_figure_has_paper_with_round_corners_and_nothing_black(ax):
    ax.plot([0, 1], "o", color="k", markerfacecolor="white")
    ax.bar([0], [1], color="black")
    ax.hlines([0.5], 0, 1, "black")
    ax.set_title("What one sees")
    ax.text(0, 0, "words", color="red")
    figure = plot.apply_style(ax.figure)
    assert plot.apply_style(figure) is figure  # twice is once
    (title,) = {ax.get_title(loc=where) for where in ("left", "center")} - {""}
    assert title == "What one sees" == ax.get_title(loc="left")
    assert ax.texts[0].get_color() == plot.readable("red") and ax.lines[0].get_markerfacecolor() == "white"
    picture, width, height = figures.png(figure)
    drawn = (255 * plt.imread(io.BytesIO(base64.b64decode(picture)))).round()
    assert drawn.shape[:2] == pytest.approx((2 * height, 2 * width), abs=1)
    clear, colours = drawn[..., 3], drawn[..., :3]
    corners = clear[:: 2 * height - 1, :: 2 * width - 1]
    assert (corners < 8).all() and (clear[2 * figures.CORNER : -2 * figures.CORNER] > 250).all()
    paper, ink = (255 * np.array(to_rgb(colour)) for colour in (plot.PAPER, plot.INK))
    assert colours[figures.CORNER, figures.CORNER] == pytest.approx(paper, abs=1.5)
    assert colours[clear > 250].max(axis=1).min() >= ink.max() - 4  # the darkest pixel is the ink, and not black


def test_the_smallest_words_are_those_that_are_seen(ax):
    assert figures.letters(plt.figure()) is None
    ax.set_axis_off()
    ax.text(0, 0, "words", fontsize=11)
    ax.text(0, 0, " ", fontsize=5)
    ax.text(0, 0, "hidden", fontsize=6, visible=False)
    plot.headline(ax, "What one sees", below="and how")
    figures.png(ax.figure)
    assert figures.letters(ax.figure) == 9.5
    ax.set_axis_on()
    ax.tick_params(labelsize=7)
    figures.png(ax.figure)
    assert figures.letters(ax.figure) == 7


def test_a_table_of_answers_has_a_line_a_column_and_shows_what_is_missing(ax):
    frame = bmlab.data.yes_no(pd.DataFrame({"tea": ["y", "n", "y"], "milk": ["n", "y", None]})).data
    plot.answers(frame, ax)
    (image,) = ax.get_images()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["tea", "milk"]
    red, _, _, seen = image.to_rgba(image.get_array()).transpose(2, 0, 1)
    assert np.array_equal((red < 0.1) & (seen > 0), [[True, False, True], [False, True, False]])  # blue
    assert np.array_equal(hatched(ax), np.argwhere(np.isnan(frame.to_numpy().T)))


def hatched(ax):
    """The cells (row, column) that are hatched."""
    (patch,) = [patch for patch in ax.patches if patch.get_hatch()]
    return patch.get_path().vertices.reshape(-1, 5, 2)[:, :4].mean(axis=1)[:, ::-1]


@pytest.mark.parametrize("options", [{"kind": "weights"}, {"hatched": False}])
def test_what_is_no_pixel_is_left_empty(options, ax):
    plot.images([[1, np.nan, -1, np.nan]], ax, (2, 2), **options)
    assert not [patch for patch in ax.patches if patch.get_hatch()]


@pytest.mark.parametrize("colour", ["white", plot.MINUS, ON_LIGHT, (1, 1, 1)])
def test_words_on_a_ground_of_their_own_keep_their_colour(colour):
    figure = plt.figure()
    words = figure.subplots().text(0, 0, "u", color=colour)
    plot.apply_style(figure)
    assert matplotlib.colors.same_color(words.get_color(), colour)


def test_what_is_not_known_is_hatched_wherever_it_is_drawn(ax):
    rows = np.array([[1, np.nan, -1, 1], [np.nan, 1, 1, np.nan]])
    plot.images(rows, ax, columns=2)
    assert hatched(ax).tolist() == [[0, 1], [0, 3], [1, 4]]  # and not the paper between images
    ax.clear()
    plot.glyph(ax, [1, 0, -1], (0.5, 0.5))
    (box,) = ax.artists
    assert [bool(unit.get_hatch()) for unit in box.offsetbox.get_children()] == [False, True, False]
    ax.clear()
    plot.network(bmlab.toy(), ax)
    assert not ax.collections  # no unit was said to be known
    plot.network(bmlab.toy(), ax, states=[1, 0, -1])
    (unit,) = ax.collections
    assert unit.get_hatch() and np.allclose(unit.get_offsets(), places(ax, 3)[1])


REFUSED = {
    "columns": lambda ax: plot.images(np.ones((2, 4)), ax, columns=0),
    "what": lambda ax: plot.learning(bmlab.fit(bmlab.toy(), bmlab.states(3), steps=2, rate=0.1).steps, ax, "banana"),
    "rows": lambda ax: plot.states(bmlab.states(5), ax),
    "state": lambda ax: plot.glyph(ax, [1, 2], (0, 0)),
    "places": lambda ax: plot.network(bmlab.toy(), ax, places=[[0, 1]]),
    "kind": lambda ax: plot.images(np.ones((2, 4)), ax, kind="pixels"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_be_drawn_wrong_is_refused_in_one_sentence(name, ax):
    with pytest.raises(ValueError, match=rf"^{name} must .*; "):
        REFUSED[name](ax)


DOLLARS = ("from $5_$ on", "$b", r"$c\$ d$")


def drawn_with(names, figure):
    """Every drawing that names units, on one figure."""
    model, axes = replace(bmlab.toy(), names=names), figure.subplots(1, 5)
    plot.network(model, axes[0])
    plot.phases(bmlab.clamped(model, [[1, 1, -1]]), bmlab.exact(model), axes[1], names)
    plot.moments(bmlab.exact(model), bmlab.tap(model.at(4)), axes[2], pair=(0, 1), named=", ".join(names[:2]))
    plot.images(bmlab.states(4)[:3], axes[3], columns=1, names=names)
    steps = list(islice(bmlab.learning_steps(model, bmlab.states(3), rate=0.1), 3))
    plot.learning(steps, axes[4], pair=(0, 1))
    return figure


def test_no_name_is_read_as_mathematics():
    """It stands there as it is, and no dollar in it stops the drawing."""
    for figure in (
        drawn_with(DOLLARS, plt.figure()),
        completed(np.ones(4), np.ones(4), np.ones(3) / 3, (2, 2), DOLLARS),
    ):
        figure.canvas.draw()
        ticks = [label for axes in figure.axes for label in axes.get_xticklabels()]
        texts = [text.get_text() for text in (*figure.findobj(Text), *ticks) if "$" in text.get_text()]
        assert texts and not any(is_math_text(text) for text in texts)
        plt.close(figure)


@pytest.mark.parametrize(
    ("written", "drawn"),
    [
        ("at -0.5", "at −0.5"),
        ("1-3, R-hat, CD-1", "1-3, R-hat, CD-1"),
        ("+-", "+\u200a−"),
        ("$a-1$", "$a-1$"),
        ("$-1$", "$-1$"),
    ],
)
def test_a_hyphen_that_is_a_minus_sign_is_drawn_as_one(written, drawn, ax):
    ax.set_xlabel(written)
    plot.apply_style(ax.figure)
    assert ax.get_xlabel() == drawn


@pytest.mark.parametrize(
    "what, forth, back", [("log_likelihood", "L climbs by", "L falls by"), ("mismatch", "It falls to", "It rises to")]
)
def test_the_headline_of_a_climb_says_in_which_direction_it_went(what, forth, back):
    steps = list(bmlab.fit(bmlab.toy().at(5), bmlab.states(3)[[0, 0, 7]], steps=20, rate=0.1).steps)
    for course, said in ((steps, forth), (steps[::-1], back)):
        axes = plt.figure().subplots(1, 3)
        plot.learning(course, axes, what)
        words = axes[-1].get_title(loc="left")
        assert words.startswith(said) and "-" not in words and "\N{MINUS SIGN}" not in words


def of(method, **other):
    """An answer about toy() that says it is by this method."""
    return replace(bmlab.exact(bmlab.toy()), method=method, **other)


def test_a_method_without_a_colour_of_its_own_is_black_in_every_chart(ax):
    climb = bmlab.fit(bmlab.toy(), bmlab.states(3), steps=3, rate=0.1).steps
    steps = [replace(step, free=replace(step.free, method="own")) for step in climb]
    band = bmlab.Bracket(bmlab.Bounded(3.0, lower=2.8, upper=3.3), "tree", "Gaussian", {})
    axes = [figure.subplots() for figure in (plt.figure() for _ in range(4))]
    plot.curves([1, 2], {"own": [1, 2]}, axes[0])
    plot.learning(steps, axes[1])
    plot.moments(bmlab.exact(bmlab.toy()), of("own"), axes[2])
    plot.bracket(band, [of("own")], axes[3])
    drawn = [axes[0].lines[0], axes[1].lines[0], *[one.lines[0] for one in (*axes[2].containers, *axes[3].containers)]]
    assert {to_rgb(line.get_color()) for line in drawn} == {(0, 0, 0)} and len(drawn) == 5
    assert {axes[0].lines[0].get_marker(), axes[3].containers[0].lines[0].get_marker()} == {"None", "o"}


@pytest.mark.parametrize("off, is_pointed", [(0.04, False), (0.06, True), (-0.04, False), (-0.06, True)])
def test_the_named_pair_has_an_arrow_from_where_it_should_be_if_it_is_seen_to_be_off(off, is_pointed, ax):
    corr = bmlab.exact(bmlab.toy()).corr + off * (1 - np.eye(3))
    plot.moments(bmlab.exact(bmlab.toy()), of("tap", corr=corr), ax, pair=(0, 1))
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None)]
    right, found = corr[0, 1] - off, corr[0, 1]
    ends = [np.ravel([text.xy, text.xyann]) for text in arrows]
    assert ends == [pytest.approx([right, right, right, found])] * is_pointed


def test_a_climb_of_which_nothing_is_known_says_so_and_none_is_between_other_machines(ax):
    climb = bmlab.fit(bmlab.toy(), bmlab.states(3), steps=2, rate=0.1).steps
    steps = [replace(step, free=replace(step.free, log_z=bmlab.Bounded(np.nan))) for step in climb]
    plot.learning(steps, axes := plt.figure().subplots(1, 3))
    assert axes[2].get_title(loc="left") == "It is not known"
    words = "awake and asleep must be of one machine, found (3, 10) units; pass answers on the same"
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        plot.phases(bmlab.exact(bmlab.toy()), bmlab.exact(bmlab.medium()), ax)


# What a notebook stores


@pytest.mark.parametrize("cell", [None, "c7"])
def test_a_shown_picture_has_its_words_its_size_and_that_of_its_letters(cell, ax, monkeypatch):
    shown = []
    monkeypatch.setattr(plt, "get_backend", lambda: "inline")
    monkeypatch.setattr(figures, "cell_of_request", lambda: cell)
    monkeypatch.setattr("IPython.display.display", lambda data, **about: shown.append((data, about)))
    ax.set_xlabel("small", fontsize=7)
    plot.show('A "line" that <rises>.')
    ((data, about),) = shown
    assert about["raw"] is True
    if cell:
        html = re.fullmatch('<img alt="(.*)" width="(.*)" src="data:image/png;base64,(.*)">', data["text/html"])
        alt, width, picture = html.groups()
        assert alt == "A &quot;line&quot; that &lt;rises&gt;." and data["text/plain"] == 'A "line" that <rises>.'
    else:
        told = about["metadata"]["image/png"]
        picture, width = data["image/png"], told["width"]
        assert told["alt"] == 'A "line" that <rises>.' and told["points"] == 7
        assert data["text/plain"] == repr(ax.figure)
    image = Image.open(io.BytesIO(base64.b64decode(picture)))
    assert int(width) == image.size[0] // 2 and (cell or told["height"] == image.size[1] // 2)


@exhaustive
def test_a_picture_may_be_enlarged_and_holds_its_names_and_128_colours(ax):
    ax.imshow(np.random.default_rng(0).random((40, 40, 3)))
    small, large = (Image.open(io.BytesIO(base64.b64decode(figures.png(ax.figure, k, Name="x")[0]))) for k in (1, 2))
    assert large.size == pytest.approx([2 * side for side in small.size], abs=2)
    assert small.text == {"Name": "x"} and 64 < len(small.convert("RGBA").getcolors(10**6)) <= 128
    inside = [100 * side for side in ax.figure.get_tightbbox().padded(figures.MARGIN).size]
    assert [side / 2 for side in small.size] == pytest.approx(inside, abs=1)


def test_the_flat_colours_of_a_stored_picture_are_exact(ax):
    """Pale blue is told from pale purple, beside thirty shades and words in grey."""
    colours = [f"#{k:02X}{k + 5:02X}FF" for k in range(200, 230)] + ["#E8E0F2", "#E2EFF7"]
    for k, colour in enumerate(colours):
        ax.axvspan(k, k + 1, color=colour, linewidth=0)
    ax.set_title("Pale, and words")
    image = Image.open(io.BytesIO(base64.b64decode(figures.png(ax.figure)[0]))).convert("RGBA")
    assert {*colours} <= {f"#{bytes(rgba[:3]).hex().upper()}" for _, rgba in image.getcolors(10**6)}


def test_without_a_kernel_nobody_asks_for_a_cell(monkeypatch):
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert figures.request() == {} and figures.cell_of_request() is None
    monkeypatch.setitem(sys.modules, "ipykernel", None)
    for shell, cell in ((None, None), (SimpleNamespace(kernel=None), None), (SimpleNamespace(kernel=Kernel), "c7")):
        monkeypatch.setattr("IPython.get_ipython", lambda shell=shell: shell)
        assert figures.cell_of_request() == cell


class Kernel:
    """One that answers for a cell of a page."""

    @staticmethod
    def get_parent():
        return {"metadata": {"cellId": "c7"}}


@exhaustive
def test_dressed_axes_have_no_box_no_ticks_and_a_ground_only_if_it_is_no_white(ax):
    ax.set_facecolor("white")
    ax.minorticks_on()
    other = ax.figure.add_axes((0, 0, 1, 1), facecolor="yellow")
    figure = plot.apply_style(ax.figure)
    assert (ax.get_facecolor()[3], other.get_facecolor()) == (0, (1, 1, 0, 1))
    shown = {side: spine.get_visible() for side, spine in ax.spines.items()}
    assert shown == {"left": True, "bottom": True, "top": False, "right": False}
    for axis in (ax.xaxis, ax.yaxis):
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        assert {tick.tick1line.get_markersize() for tick in ticks} == {0} and len(ticks) > 8
        assert {tick.label1.get_color() for tick in ticks} == {plot.INK}
    assert isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine)
    figure.set_layout_engine("none")
    assert not isinstance(plot.apply_style(figure).get_layout_engine(), ConstrainedLayoutEngine)
