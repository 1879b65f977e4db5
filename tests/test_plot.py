"""Drawings: each draws what it is given on the Axes it is given, and its marks stand where the numbers are."""

import base64
import inspect
import io
import re
from itertools import combinations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import bmlab

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from bmlab import plot


@pytest.fixture
def ax():
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
    plot.moments(bmlab.exact(model), bmlab.mean_field(model, max_steps=1), ax)
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
    assert [t.get_text() for t in ax.get_legend().get_texts()] == list(lines)
    assert all(np.array_equal(line.get_xydata()[:, 1], lines[line.get_label()]) for line in ax.lines)
    assert [line.get_color() for line in ax.lines] == [plot.COLOURS["gibbs"]] * 2 + ["black"] * 2
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == 4
    assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "sweeps")


def test_a_page_gets_the_words_for_a_figure_and_twice_the_pixels(ax, monkeypatch):
    shown = []
    monkeypatch.setattr("bmlab.plot.cell_of_request", lambda: "a cell")
    monkeypatch.setattr(plt, "get_backend", lambda: "inline")
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    plot.show('An "empty" frame.')
    (data,) = shown
    alt, width, png = re.fullmatch(
        r'<img alt="(.*)" width="(\d+)" src="data:image/png;base64,(.*)">', data["text/html"]
    ).groups()
    assert alt == "An &quot;empty&quot; frame." and data["text/plain"] == 'An "empty" frame.'
    assert plt.imread(io.BytesIO(base64.b64decode(png))).shape[1] == pytest.approx(2 * int(width), abs=2)
    assert not plt.get_fignums()


def test_show_is_that_of_pyplot_outside_a_notebook(ax, monkeypatch):
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.gcf()))
    plot.show("An empty frame.")
    assert shown == [ax.figure]


def test_a_bracket_is_a_band_between_two_names(ax):
    model = bmlab.medium()
    proven = bmlab.Bracket(bmlab.Bounded(9.0, lower=8.5, upper=9.5), "tree", "Gaussian", {})
    assert plot.bracket(proven, [bmlab.exact(model), bmlab.tap(model)], ax) is ax
    (band,) = ax.patches
    assert (band.get_x(), band.get_x() + band.get_width()) == (8.5, 9.5)
    assert {t.get_text().strip(): t.xy[0] for t in ax.texts} == {"tree": 8.5, "Gaussian": 9.5}
    assert [t.get_text() for t in ax.get_yticklabels()] == ["exact", "tap"]
    assert np.isclose(ax.containers[1].lines[0].get_xdata()[0], bmlab.tap(model).log_z.value)


@pytest.mark.parametrize("model", [bmlab.medium(), bmlab.ising((2, 2))], ids=["dense", "sparse"])
def test_weights_are_centred_on_zero(ax, model):
    plot.weights(model.weights, ax, labels=[str(i) for i in range(model.n)])
    low, high = ax.images[0].get_clim()
    assert low == -high < 0 and len(ax.get_xticklabels()) == model.n
    weights = model.weights if model.n == 10 else model.weights.toarray()
    signs = {(t.get_position()[1], t.get_position()[0]): t.get_text() for t in ax.texts}
    assert signs == {
        (i, j): "+" if w > 0 else "\u2212" for (i, j), w in np.ndenumerate(weights) if abs(w) >= abs(weights).max() / 5
    }


def test_weights_of_a_machine_carry_its_names(ax):
    model = bmlab.BoltzmannMachine(sparse.csr_array(bmlab.toy().weights), np.zeros(3), names=("a", "b", "c"))
    plot.weights(model, ax)
    assert [t.get_text() for t in ax.get_xticklabels()] == [t.get_text() for t in ax.get_yticklabels()] == list("abc")
    assert (ax.images[0].get_array() == model.dense_weights).all()


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
    ((x, y),) = ax.lines[0].get_xydata()
    assert (x, y) == (6, 4)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["before", "after"]
    assert list(ax.get_yticks()) == [0.5, 3.5]  # in the middle of each line


def test_a_confusion_table_shows_every_count(ax):
    plot.confusion([[5, 1], [0, 7]], ax, labels=["no", "yes"])
    assert [t.get_text() for t in ax.texts] == ["5", "1", "", "7"]


# What a dichromat sees, in linear RGB: Machado, Oliveira and Fernandes (2009), IEEE TVCG 15, 1291, severity 1
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
    seen = [lab(colour, np.array(SIGHT[sight])) for colour in plot.COLOURS.values()]
    for (a, first), (b, second) in combinations(zip(plot.COLOURS, seen, strict=True), 2):
        assert np.linalg.norm(first - second) > 4 * JUST_NOTICED, (a, b)


def test_methods_are_told_apart_without_any_colour():
    assert plot.COLOURS.keys() == plot.MARKERS.keys()
    assert len(set(plot.MARKERS.values())) == len(plot.MARKERS)


# networks


def test_a_network_stands_as_in_the_live_view_and_says_signs_by_dashes(ax):
    weights = np.array([[0, 2, 0], [2, 0, -1], [0, -1, 0]])
    model = bmlab.BoltzmannMachine(weights, [0, 0.5, 0], names=("Ada", "Bo", "Cy"))
    assert plot.network(model, ax, states=[1, -1, 0], held=[2]) is ax
    joined, units = ax.lines[:2], ax.lines[2:]
    assert [line.get_linestyle() for line in joined] == ["-", "--"]
    assert joined[0].get_linewidth() > joined[1].get_linewidth()
    turn = 2 * np.pi * np.arange(3) / 3
    assert np.allclose([unit.get_xydata()[0] for unit in units], np.column_stack([np.sin(turn), np.cos(turn)]))
    assert [unit.get_marker() for unit in units] == ["o", "o", "s"]
    assert len({unit.get_color() for unit in units}) == 3
    assert {text.get_text() for text in ax.texts} == {"+2", "-1", "Ada", "Bo, b = +0.5", "Cy"}


def test_a_network_in_layers_draws_each_connection_once(ax):
    model = bmlab.restricted(np.ones((4, 3)), np.zeros(4), np.zeros(3))
    plot.network(model, ax, layers=[range(4), range(4, 7)])
    assert len(ax.lines) == 4 * 3 + 7
    assert {unit.get_xydata()[0][1] for unit in ax.lines[12:16]} == {0} and ax.lines[-1].get_ydata()[0] == 1
    with pytest.raises(ValueError, match="each of the units 0 to 6 once"):
        plot.network(model, ax, layers=[range(4)])


@pytest.mark.parametrize("units", [3, 20, 150])
def test_units_of_a_long_row_do_not_touch_and_no_line_crosses_a_name(ax, units):
    model = bmlab.restricted(np.ones((units, 2)), np.zeros(units), np.zeros(2))
    plot.network(model, ax, layers=[range(units), [units, units + 1]])
    ax.figure.canvas.draw()
    row = ax.lines[-2 - units : -2]
    places = ax.transData.transform([unit.get_xydata()[0] for unit in row])[:, 0] * 72 / ax.figure.dpi
    assert np.diff(places).min() > row[0].get_markersize()
    assert max(line.get_zorder() for line in ax.lines[: 2 * units]) < ax.texts[-1].get_zorder() < row[0].get_zorder()
    assert ax.texts[-1].get_bbox_patch().get_facecolor() == (1, 1, 1, 1)


def test_two_units_are_seen_whole(ax):
    plot.network(bmlab.BoltzmannMachine([[0, 1], [1, 0]], [0, 0]), ax)
    ax.figure.canvas.draw()
    disc = ax.lines[-1].get_markersize() * ax.figure.dpi / 72
    assert ax.bbox.width > disc and ax.bbox.height > 2 * disc


def test_flows_cross_out_what_is_zero_and_not_what_is_tiny(ax):
    flow = np.array([[0.5, 1e-3], [1e-5, 0]])
    assert plot.flows(flow, ax, ["-", "+"]) is ax
    assert ax.lines[0].get_xydata().tolist() == [[1, 1]]
    drawn = ax.images[0].get_array()
    assert drawn.mask.tolist() == [[False, False], [False, True]] and drawn.min() > 0
    plot.flows(flow - flow.T, ax)  # zero on the diagonal, and as much there as back
    assert ax.lines[1].get_xydata().tolist() == [[0, 0], [1, 1]]
    assert ax.images[1].norm(1e-3) == pytest.approx(1 - ax.images[1].norm(-1e-3))
    ticks = ax.images[1].colorbar.get_ticks()
    assert 0 in ticks and not [tick for tick in ticks if 0 < abs(tick) < 9.9e-7]


def test_a_table_of_answers_has_a_line_a_column_and_shows_what_is_missing(ax):
    frame = bmlab.data.yes_no(pd.DataFrame({"tea": ["y", "n", "y"], "milk": ["n", "y", None]})).data
    plot.answers(frame, ax)
    (image,) = ax.get_images()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["tea", "milk"]
    red, green, blue, _ = image.to_rgba(image.get_array()).transpose(2, 0, 1)
    assert np.array_equal(red < 0.5, [[True, False, True], [False, True, False]])
    assert np.array_equal(red > green + 0.2, np.isnan(frame.to_numpy().T)) and blue[1, 2] < 0.2


REFUSED = {
    "columns": lambda ax: plot.images(np.ones((2, 4)), ax, columns=0),
    "what": lambda ax: plot.learning(bmlab.fit(bmlab.toy(), bmlab.states(3), steps=2, rate=0.1).steps, ax, "banana"),
    "steps": lambda ax: plot.learning([], ax),
    "labels": lambda ax: plot.weights(bmlab.toy(), ax, ["one"]),
    "labels, of a table": lambda ax: plot.confusion([[1, 0], [0, 1]], ax, ["one"]),
    "labels, of flows": lambda ax: plot.flows(np.eye(3), ax, ["one", "two"]),
    "ax": lambda ax: plot.weights(bmlab.toy(), None),
    "ax, a figure": lambda ax: plot.network(bmlab.toy(), ax.figure),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_drawn_is_refused_in_one_sentence(name, ax):
    with pytest.raises(ValueError, match=rf"^{name.split(',')[0]} must .*; "):
        REFUSED[name](ax)


@pytest.mark.parametrize("name", [n for n, f in vars(plot).items() if getattr(f, "__module__", "") == plot.__name__])
def test_every_drawing_asks_for_axes(name):
    """By name: whatever takes `ax` refuses what is none before it looks at anything else."""
    function = getattr(plot, name)
    if name.startswith("_") or "ax" not in inspect.signature(function).parameters:
        return
    others = {p: None for p, x in inspect.signature(function).parameters.items() if x.default is x.empty and p != "ax"}
    with pytest.raises(ValueError, match=r"^ax must be matplotlib's Axes, found None"):
        function(**others, ax=None)
