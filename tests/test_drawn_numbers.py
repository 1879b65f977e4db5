"""Numbers in pictures of random machines, read back from the artists: places, lengths, widths, shades."""

import re
from itertools import combinations, islice

import matplotlib
import numpy as np
import pytest

import bmlab

matplotlib.use("Agg")
from matplotlib.collections import EllipseCollection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from bmlab import plot
from bmlab.plot.labels import arrow_of
from bmlab.widgets import pictures

SEEDS = range(3)
OPACITY_STEP = 0.0051  # half of the last digit in HTML


@pytest.fixture
def ax():
    return Figure(figsize=(5, 4)).subplots()


@pytest.fixture(params=SEEDS, ids="seed {}".format)
def rng(request):
    return np.random.default_rng(request.param)


def machine(rng, n=None):
    """A machine with couplings of both signs and some that are 0."""
    n = n or int(rng.integers(5, 9))
    weights = np.triu(rng.normal(0, 0.4, (n, n)) * (rng.random((n, n)) < 0.7), 1)
    return bmlab.BoltzmannMachine(weights + weights.T, rng.normal(0, 0.3, n), temperature=rng.uniform(0.7, 2))


def colour(artist):
    return to_hex(artist.get_color()).upper()


def bars(container):
    """(places of the marks, ends of their bars) of an errorbar, (N, 2) and (N, 2, 2)."""
    marks, _, (lines,) = container
    return marks.get_xydata(), np.array(lines.get_segments())


# Charts


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")  # 200 sweeps are drawn as any
def test_bars_of_moments_reach_two_errors_up_and_down(ax, rng):
    model = machine(rng)
    exact, found = bmlab.exact(model), bmlab.gibbs(model, rng=rng, n_sweeps=200)
    plot.moments(exact, found, ax)
    pairs = np.triu_indices(model.n, 1)
    drawn = dict(zip((c.get_label() for c in ax.containers), map(bars, ax.containers), strict=True))
    for name, true, value, error in (
        ("means", exact.mean, found.mean, found.mean_stderr),
        ("correlations", exact.corr[pairs], found.corr[pairs], found.corr_stderr[pairs]),
    ):
        marks, ends = drawn[name]
        assert np.allclose(marks, np.column_stack([true, value]))
        assert np.allclose(ends[..., 0], true[:, None]) and error.min() > 0
        assert np.allclose(ends[..., 1], value[:, None] + np.outer(error, [-2, 2]))


def test_bars_of_log_z_reach_two_errors_and_what_is_proven_is_a_thick_bar(ax, rng):
    model = machine(rng)
    proven = bmlab.bracket(model, rng=rng)
    answers = [bmlab.ais(model, rng=rng, n_chains=100, n_temperatures=50), bmlab.exact(model)]
    plot.bracket(proven, answers, ax)
    for row, (answer, container) in enumerate(zip(answers, ax.containers, strict=True)):
        z, (marks, ends) = answer.log_z, bars(container)
        assert (
            np.allclose(marks, [[z.value, row]])
            and colour(container.lines[0]) == to_hex(plot.COLOURS[answer.method]).upper()
        )
        assert np.allclose(ends, [[[z.value - 2 * z.stderr, row], [z.value + 2 * z.stderr, row]]])
    assert answers[0].log_z.stderr > 0
    (thick,) = [line for line in ax.lines if line.get_linewidth() == 5]
    assert np.allclose(thick.get_xydata(), [[answers[1].log_z.lower, 1], [answers[1].log_z.upper, 1]])


def test_a_bound_on_one_side_is_an_arrow_to_that_side(ax):
    model = bmlab.medium().at(4.0)
    answers = [bmlab.mean_field(model), bmlab.trw(model)]
    plot.bracket(bmlab.bracket(model, rng=0), answers, ax)
    arrows = [text for text in ax.texts if arrow_of(text)]
    for row, (answer, arrow) in enumerate(zip(answers, arrows, strict=True)):
        z = answer.log_z
        assert np.isfinite([z.lower, z.upper]).tolist() == [row == 0, row == 1]
        assert arrow.xy == (z.value, row) and np.sign(arrow.xyann[0]) == (1 if np.isfinite(z.lower) else -1)


@pytest.mark.parametrize("count", [1, 5, 12, 13, 30, 125])
def test_a_curve_has_a_mark_at_its_first_number_and_at_each_of_few(ax, count):
    plot.curves(range(count), {"gibbs": range(count)}, ax)
    step = ax.lines[0].get_markevery()
    marks = len(range(0, count, step))
    assert step > 0 and (marks == count if count <= 12 else 6 <= marks <= 12)


def test_curves_have_a_dozen_marks_as_far_apart_as_the_axis_says(ax):
    x = np.arange(1, 121)
    plot.curves(x, {"gibbs": x}, ax)
    assert len(x[:: ax.lines[0].get_markevery()]) == 12
    ax.clear()
    plot.curves(x, {"gibbs": x}, ax, xscale="log")
    marked = x[ax.lines[0].get_markevery()]
    assert (marked[0], marked[-1]) == (1, 120)
    assert abs(np.diff(np.log(marked[marked > 10])) - np.log(120) / 11).max() < 0.1


def test_the_climb_stands_at_the_numbers_of_its_steps_and_has_its_ends_written(ax, rng):
    model, data = machine(rng, 4), bmlab.states(4)[rng.integers(16, size=10)]
    steps = list(islice(bmlab.learning_steps(model, data, rate=0.1), 3, 8))
    axes = Figure().subplots(1, 3)
    plot.learning(steps, axes)
    line, ends = axes[2].lines
    values = [step.log_likelihood.value for step in steps]
    assert np.allclose(line.get_xydata(), np.column_stack([range(3, 8), values]))
    assert np.allclose(ends.get_xydata(), [[3, values[0]], [7, values[-1]]])
    apart = [
        max(abs(np.triu(step.clamped.corr - step.free.corr, 1)).max(), abs(step.clamped.mean - step.free.mean).max())
        for step in (steps[0], steps[-1])
    ]
    said = [f"Before: {apart[0]:.3f} apart", f"After: {apart[1]:.3f} apart"]
    said.append(f"L climbs by {values[-1] - values[0]:.2f}")
    assert [panel.get_title(loc="left") for panel in axes] == said
    assert {"step 3"} <= {t.get_text() for t in axes[0].texts} and {"step 7"} <= {t.get_text() for t in axes[1].texts}
    for panel, step in zip(axes, (steps[0], steps[-1]), strict=False):
        marks = {c.get_label(): c.lines[0].get_xydata() for c in panel.containers}
        assert np.allclose(marks["means"], np.column_stack([step.clamped.mean, step.free.mean]))


# Networks


def couplings(model):
    pairs = [(i, j) for i, j in combinations(range(model.n), 2) if model.weights[i, j]]
    return pairs, np.array([model.weights[pair] for pair in pairs])


@pytest.mark.parametrize("scale", [0.01, 1, 30])
def test_the_width_of_a_line_is_the_share_of_its_weight_in_the_largest(ax, rng, scale):
    """Half a point, and five for the largest: in the same proportion whatever the weights and the size of the discs."""
    model = machine(rng)
    pairs, w = couplings(model)
    scaled = bmlab.BoltzmannMachine(scale * model.weights, model.biases)
    plot.network(scaled, ax)
    lines, units = ax.lines[: len(pairs)], ax.lines[len(pairs) :]
    width = np.array([line.get_linewidth() for line in lines])
    assert np.allclose(width / width.max(), (1 + 10 * abs(w) / abs(w).max()) / 11)
    assert [colour(line) for line in lines] == [plot.TOGETHER if x > 0 else plot.APART for x in w]
    assert [line.is_dashed() for line in lines] == [x < 0 for x in w]
    spots = np.array([unit.get_xydata()[0] for unit in units])
    for (i, j), line in zip(pairs, lines, strict=True):
        assert np.allclose(line.get_xydata()[[0, -1]], spots[[i, j]])


def test_a_weight_within_two_errors_of_nothing_is_dotted(ax, rng):
    model = machine(rng)
    pairs, w = couplings(model)
    errors = bmlab.symmetric(rng.uniform(0, 0.4, (model.n, model.n)))
    plot.network(model, ax, errors=errors)
    dotted = [colour(line) not in (plot.TOGETHER, plot.APART) for line in ax.lines[: len(pairs)]]
    expected = [abs(x) < 2 * errors[pair] for x, pair in zip(w, pairs, strict=True)]
    assert dotted == expected and len({*expected}) == 2


def test_discs_have_places_sizes_and_colours_of_their_units(ax, rng):
    model = machine(rng)
    spots, sizes = rng.normal(size=(model.n, 2)), np.linspace(0, 1, model.n)
    states = rng.choice([-1, 0, 1], model.n)
    plot.network(model, ax, places=spots, sizes=sizes, states=states, clamped=[0])
    units = ax.lines[-model.n :]
    assert np.allclose([unit.get_xydata()[0] for unit in units], spots)
    large = np.array([unit.get_markersize() for unit in units])
    assert np.allclose(large / large[-1], (1 + np.sqrt(sizes)) / 2)
    assert [unit.get_color() for unit in units] == [{1: plot.PLUS, -1: plot.MINUS, 0: plot.OPEN}[s] for s in states]
    assert [unit.get_marker() for unit in units] == ["s"] + ["o"] * (model.n - 1)


def test_numbers_on_a_network_are_its_weights_and_biases_to_two_digits(ax, rng):
    model = machine(rng, 4)
    plot.network(model, ax)
    _, w = couplings(model)
    written = [
        float(x.replace("\N{MINUS SIGN}", "-")) for t in ax.texts for x in re.findall(r"[+−][\d.]+", t.get_text())
    ]
    expected = [*w, *model.biases]
    assert len(written) == len(expected)
    assert abs(np.sort(written) - np.sort(expected)).max() < 0.00501


# States, flows, sheets


def test_bars_over_states_are_as_high_as_they_are_told_and_side_by_side(ax, rng):
    numbers = {name: rng.random(8) for name in ("exact", "gibbs", "tap")}
    plot.states(bmlab.states(3), ax, numbers)
    for container, (name, heights) in zip(ax.containers, numbers.items(), strict=True):
        assert np.allclose([bar.get_height() for bar in container], heights)
        assert {to_hex(bar.get_facecolor()) for bar in container} == {to_hex(plot.COLOURS[name])}
    left, middle, right = ([bar.get_x() + bar.get_width() / 2 for bar in c] for c in ax.containers)
    assert np.allclose(middle, range(8)) and np.allclose(np.add(left, right), 2 * np.array(middle))
    assert np.allclose([box.xy for box in ax.artists], np.column_stack([range(8), [0] * 8]))


def test_pixels_are_as_blue_or_as_orange_as_their_numbers(ax, rng):
    rows, limit = rng.normal(0, 0.5, (3, 6)), 1.5
    plot.images(rows, ax, (2, 3), 2, limit)
    image = ax.images[0]
    assert np.allclose(image.to_rgba(image.get_array())[0, 1], image.cmap((rows[0, 1] / limit + 1) / 2))
    white, blue = (image.to_rgba([end])[0] for end in (-limit, limit))
    assert (to_hex(white).upper(), to_hex(blue).upper()) == (plot.MINUS, plot.PLUS)
    ax.clear()
    plot.images(rows[0], ax, (2, 3), 1, limit, kind="weights")
    image, weights = ax.images[0], rows[0].reshape(2, 3)
    seen = image.to_rgba(image.get_array())
    assert np.allclose(seen[..., 3], weights.clip(0) / limit, atol=2 / 33)  # in 33 steps from -limit to limit
    (discs,) = [each for each in ax.collections if isinstance(each, EllipseCollection)]
    assert np.allclose(discs.get_offsets(), np.argwhere(weights < 0)[:, ::-1])
    assert ((discs.get_widths() > 0.8) & (discs.get_widths() < 1)).all()  # of a pixel
    assert np.allclose(discs.get_facecolor()[:, 3], -weights[weights < 0] / limit, atol=2 / 33)
    for shades, pure in ((seen[weights > 0], plot.TOGETHER), (discs.get_facecolor(), plot.APART)):
        assert np.allclose(shades[:, :3], to_rgba(pure)[:3], atol=2 / 255)


# Views


def test_a_matrix_in_a_view_is_as_strong_as_its_numbers_are_large(ax, rng):
    matrix = machine(rng).weights
    matrix = np.where(rng.random(matrix.shape) < 0.1, np.nan, matrix)
    largest = 0.8 * np.nanmax(abs(matrix))
    pictures.pairs(ax, matrix, [""] * len(matrix), largest)
    cells = [(i, j) for i, j in np.argwhere(np.isfinite(matrix)) if i != j]
    for (i, j), patch in zip(cells, ax.patches, strict=True):
        x, y = patch.get_center()
        assert (int(x), int(y)) == (j, i) and 0.9 < 2 * getattr(patch, "radius", 0.475) < 1
        assert isinstance(patch, Circle) or patch.get_width() == patch.get_height() == 0.95
        assert isinstance(patch, Rectangle if matrix[i, j] > 0 else Circle)
        assert patch.get_alpha() == pytest.approx(min(1, abs(matrix[i, j]) / largest))
        sign = plot.TOGETHER if matrix[i, j] > 0 else plot.APART
        assert to_hex(patch.get_facecolor()).upper() == sign


def test_the_course_of_a_climb_shows_data_dreams_and_weights_of_its_last_step(rng, monkeypatch):
    shown = []
    monkeypatch.setattr(pictures, "pairs", lambda ax, matrix, names, largest: shown.append((matrix, largest)))
    model, data = machine(rng, 4), bmlab.states(4)[rng.integers(16, size=9)]
    steps = list(islice(bmlab.learning_steps(model, data, rate=0.2), 4))
    figure = pictures.course(steps, "It climbs.")
    (data_drawn, one), (dreams, same), (weights, largest) = shown
    last = steps[-1]
    assert np.allclose(data_drawn, last.clamped.corr) and np.allclose(dreams, last.free.corr)
    assert np.allclose(weights, last.model.weights) and (one, same, largest) == (1, 1, abs(weights).max())
    curve = figure.axes[-1]
    assert np.allclose(curve.lines[0].get_ydata(), [step.log_likelihood.value for step in steps])
    low, high = (float(label.get_text().replace("\N{MINUS SIGN}", "-")) for label in curve.get_yticklabels())
    climbed = curve.lines[0].get_ydata()
    assert np.allclose([low, high], [min(climbed), max(climbed)], atol=0.00501)


def test_dreams_are_drawn_with_the_weights_of_the_most_coupled_pixel(rng):
    weights = machine(rng, 9).weights.copy()
    patterns, dreams = rng.choice([-1.0, 1], (3, 9)), rng.choice([-1.0, 1], (7, 9))
    dreams[[1, 6]] = patterns[[2, 0]]
    weights[0, 1:3] = weights[1:3, 0] = 0.01, -0.02
    figure = pictures.dreamt("It dreams.", patterns, weights, dreams, (3, 3))
    web = next(ax for ax in figure.axes if len(ax.patches) == 9)
    one = abs(weights).sum(axis=0).argmax()
    spots = np.array([disc.get_center() for disc in web.patches])
    cells = np.argwhere(np.ones((3, 3)))[:, ::-1] + 0.5
    assert np.allclose(spots, [0, 34] + cells * 290 / 3)
    assert [to_hex(disc.get_facecolor()).upper() == plot.PLUS for disc in web.patches] == (dreams[0] > 0).tolist()
    others = [k for k in range(9) if k != one]
    for k, line in zip(others, web.lines, strict=True):
        assert np.allclose(line.get_xydata(), spots[[one, k]])
        assert line.get_linewidth() == pytest.approx(min(6, 0.4 + 6 * abs(weights[one, k])))
        signed = plot.TOGETHER if weights[one, k] > 0 else plot.APART
        assert colour(line) == (signed if abs(weights[one, k]) > pictures.WEAKEST else plot.FAINT[:7])
    sheets = [ax.images[0].get_array() for ax in figure.axes if ax.images]
    assert [(sheet.shape[1] + 1) // 4 for sheet in sheets] == [1, 6]  # patterns below each other, dreams in rows
    framed = [k for k, dream in enumerate(dreams) if (dream == patterns).all(axis=1).any()]
    frames = [patch.get_xy() for ax in figure.axes if ax.images for patch in ax.patches]
    assert {1, 6} <= {*framed} and frames == [(k % 6 * 4 - 0.5, k // 6 * 4 - 0.5) for k in framed]
    assert np.array_equal(np.asarray(sheets[0])[:3, :3].ravel(), patterns[0])
    assert np.array_equal(np.asarray(sheets[1])[:3, :3].ravel(), dreams[0])


def test_a_reading_names_the_likeliest_class_and_draws_each_probability(rng):
    p, start, mean = rng.dirichlet(np.ones(4)), rng.choice([-1, 0, 1], 4), rng.uniform(-1, 1, 4)
    figure = pictures.completed(start, mean, p, (2, 2), ["0", "1", "2", "3"])
    (said,) = [t.get_text() for ax in figure.axes for t in ax.texts if "It reads" in t.get_text()]
    assert said.replace("\n", " ") == f"It reads {p.argmax()}, with probability {p.max():.2f}"
    (bars,) = [ax for ax in figure.axes if ax.containers]
    assert np.allclose([bar.get_width() for bar in bars.patches], p) and bars.get_xlim() == (0, 1)
    known, expected = (np.ma.filled(ax.images[0].get_array(), np.nan).ravel() for ax in figure.axes if ax.images)
    assert np.array_equal(known, np.where(start == 0, np.nan, start), equal_nan=True)
    assert np.allclose(expected, mean)
    words = " ".join(text.get_text().replace("\n", " ") for ax in figure.axes for text in ax.texts)
    assert all(word in words for word in ("Known", "Expected", "Probability", "Ink", "Clear", "Hatched: not known"))
    assert [label.get_text() for label in bars.get_yticklabels()] == ["0", "1", "2", "3"]


# HTML


@pytest.mark.parametrize("n", [6, 30], ids=["table", "list"])
@pytest.mark.parametrize("scale", [0.2, 50])
def test_the_shade_of_a_weight_is_its_share_of_the_largest(rng, n, scale):
    model = machine(rng, n)
    page = bmlab.BoltzmannMachine(scale * model.weights, model.biases)._repr_html_()
    shown = re.findall(r"background: rgba\((\d+, \d+, \d+), ([\d.]+)\)\">(-?[\d.]+)<", page)
    found = np.array([(float(shade), float(w)) for _, shade, w in shown])
    largest = scale * abs(model.weights).max()
    assert len(found) == (np.count_nonzero(model.weights) if n < 20 else 10)
    assert abs(found[:, 0] - 0.6 * abs(found[:, 1]) / largest).max() < OPACITY_STEP + 0.005 / largest
    for rgb, _, w in shown:
        pure = plot.APART if w.startswith("-") else plot.TOGETHER
        assert to_hex(np.array(rgb.split(", "), float) / 255).upper() == pure


@pytest.mark.parametrize("values", [[-2.0, -1.5, -1.0], [3.0, 3.0], [-1.0, -4.0, -2.5, -0.5]])
def test_the_curve_of_a_fit_climbs_as_its_numbers_do(values):
    from bmlab.showing.html import _curve

    page = _curve(np.array(values))
    points = [tuple(map(int, pair.split(","))) for pair in re.search('points="(.*?)"', page)[1].split()]
    low, high = min(values), max(values)
    assert [x for x, _ in points] == np.linspace(0, 240, len(values)).round().tolist()
    assert [y for _, y in points] == [round(60 * (high - v) / (high - low)) if high > low else 60 for v in values]
