"""Numbers in the stored pictures of live views, read back from the artists, for random machines."""

import re
from itertools import islice
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

import bmlab

matplotlib.use("Agg")
pytest.importorskip("traitlets")
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Circle, Polygon, Rectangle
from scipy.sparse.csgraph import shortest_path
from test_widgets import VIEWS

from bmlab import plot, widgets
from bmlab.infer.sampling.diagnostics import halves, split_rhat
from bmlab.plot.labels import arrow_of
from bmlab.widgets import chains, states, update, visited
from bmlab.widgets.beliefs import RADIUS, aside

SEEDS = range(3)


def machine(seed, n, names=()):
    rng = np.random.default_rng(seed)
    weights = bmlab.symmetric(rng.normal(0, 0.8, (n, n)))
    return bmlab.BoltzmannMachine(weights, rng.normal(0, 0.5, n), temperature=rng.uniform(0.8, 2), names=names)


def chain(seed, n):
    rng = np.random.default_rng(seed)
    weights = np.diag(rng.normal(0, 0.8, n - 1), 1)
    return bmlab.BoltzmannMachine(weights + weights.T, rng.normal(0, 0.5, n), temperature=rng.uniform(0.8, 2))


@pytest.fixture
def drawn(monkeypatch):
    """A function that makes a view and returns it with the axes of its picture: headline, drawings, controls."""
    figures = []
    monkeypatch.setattr("bmlab.widgets.view.png", lambda figure, **_: figures.append(figure) or ("", 0, 0))

    def make(kind, model, **options):
        view = kind(model, **options)
        return view, figures[-1].axes

    return make


@pytest.mark.parametrize("name", VIEWS)
def test_a_stored_picture_names_the_button_that_its_page_shows_first(drawn, name):
    """Pause if the view plays at once, else Run; nothing if it does not play."""
    view, axes = drawn(lambda _: VIEWS[name](), None)
    first = {"Run", "Pause"} & {text for ax in axes for text in words(ax)}
    made = re.search(r"= player\((.*)\)", view._esm)
    waits = made and "playing: false" in made[1]
    if isinstance(view, widgets.ConditionalView):  # the toy has no two layers, between which it would play
        assert waits and not first
    else:
        assert first == ({"Run" if waits else "Pause"} if made else set())


def words(ax):
    return [text.get_text().replace("\N{MINUS SIGN}", "-") for text in ax.texts]


def number_after(label, ax):
    (found,) = [re.search(re.escape(label) + r" ?(-?[\d.]+)", text) for text in words(ax) if label in text]
    return float(found[1].rstrip("."))


def filled(ax, colour):
    """The rectangles of a colour."""
    rectangles = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    return [r for r in rectangles if r.get_facecolor()[3] and to_hex(r.get_facecolor()).upper() == colour.upper()]


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_cells_are_the_states_that_are_left_the_darkest_the_most_probable(drawn, n):
    model = machine(n, n)
    _, (_, board, ladder, controls) = drawn(widgets.StatesView, model)
    discs = [patch for patch in board.patches if isinstance(patch, Circle)]
    shown = [to_hex(disc.get_facecolor()).upper() for disc in discs]
    held = np.array([{plot.PLUS: 1, plot.MINUS: -1, plot.OPEN: 0}[colour] for colour in shown])
    (cells,) = [each for each in board.collections if isinstance(each, PolyCollection)]
    down, across = (n + 1) // 2, n // 2
    rows, columns = 2**down, 2**across
    spots = np.array([disc.center for disc in discs])
    assert len({*spots[:down, 0]}) == 1 and np.allclose(np.diff(spots[:down, 1]), states.BOARD_SIDE / down)
    assert len({*spots[down:, 1]}) <= 1 and np.allclose(np.diff(spots[down:, 0]), states.BOARD_SIDE / max(across, 1))
    assert (spots[:down, 0] < states.BOARD_LEFT).all() and (spots[down:, 1] < states.BOARD_TOP).all()
    middle = np.array([path.vertices[:4].mean(axis=0) for path in cells.get_paths()])
    column, row = ((middle - [states.BOARD_LEFT, states.BOARD_TOP]) * [columns, rows] // states.BOARD_SIDE).T
    left = (row * columns + column).astype(int)
    s, log_p = bmlab.states(n), np.log(bmlab.probabilities(model))
    best = s[log_p.argmax()]
    assert np.count_nonzero(held) == min(n, 3) and (held == best)[held != 0].all()
    assert left.tolist() == np.flatnonzero((s[:, held != 0] == held[held != 0]).all(axis=1)).tolist()
    assert np.allclose(cells.get_alpha(), 0.2 + 0.8 * np.exp((log_p[left] - log_p.max()) / 3))
    log_z = bmlab.exact(model).log_z.value
    assert number_after("log Z of all:", ladder) == pytest.approx(log_z, abs=0.00501)
    of_left = log_z + np.logaddexp.reduce(log_p[left])
    assert number_after("log Z of these:", ladder) == pytest.approx(of_left, abs=0.00501)
    assert words(ladder)[0] == f"{len(left)} of {2**n}\nstates are left"
    bars = [patch.get_width() for patch in ladder.patches]
    assert np.allclose(bars, 210 * 0.5 ** np.arange(np.count_nonzero(held) + 1)) and f"{2**n}" in words(ladder)
    counts = {text.get_text(): text for text in ladder.texts}
    for k, bar in enumerate(ladder.patches):
        beside = counts[f"{2 ** (n - k)}"].get_position()[0] - bar.get_x() - bar.get_width()
        assert 2 < beside < 9 and bar.get_y() < counts[f"{k} held"].get_position()[1] < bar.get_y() + bar.get_height()
    bold = [[text.get_text() for text in ax.texts if text.get_fontweight() == "bold"] for ax in (ladder, controls)]
    assert bold == [[words(ladder)[0], f"{min(n, 3)} held", f"{len(left)}"], ["Run"]]
    assert len(filled(ladder, plot.PLUS)) == 1 and filled(ladder, plot.PLUS)[0].get_width() == bars[min(n, 3)]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_line_is_cut_at_the_probability_of_plus_and_bars_are_counts_in_exact_outlines(drawn, seed):
    model = machine(seed, 3)
    _, (_, _, turn, *_) = drawn(widgets.UpdateView, model)
    clamped = model.clamp([0, 2], [1, -1])
    p = (1 + bmlab.exact(clamped).mean[0]) / 2
    line, cut = [r for r in turn.patches if isinstance(r, Rectangle) and r.get_y() == update.LINE_TOP]
    assert cut.get_width() == pytest.approx(p * line.get_width()) and line.get_width() == update.LINE_LENGTH
    shown = [to_hex(part.get_facecolor()).upper() for part in (line, cut)]
    assert shown == [plot.MINUS, plot.PLUS]
    at = {text: found.get_position()[0] for text, found in zip(words(turn), turn.texts, strict=True)}
    ends = line.get_x(), cut.get_x() + cut.get_width(), line.get_x() + line.get_width()
    assert [at["+1"], at["-1"]] == pytest.approx([np.mean(ends[:2]), np.mean(ends[1:])])
    assert (at["0"], at["1"]) == (ends[0], ends[2])
    (ball,) = [patch for patch in turn.patches if isinstance(patch, Circle)]
    u = (ball.center[0] - update.LINE_LEFT) / update.LINE_LENGTH
    side, sign = ("below", "+1") if u < p else ("above", "-1")
    text = " ".join(" ".join(words(turn)).split())
    assert f"field {model.field([1, 1, -1])[1]:+.2f}. u is {side} the cut: unit 1 turns {sign}." in text
    assert {f"u = {u:.3f}", f"p(+1) = {p:.3f}"} <= set(at)
    bars = [r for r in turn.patches if isinstance(r, Rectangle) and r.get_y() == update.BARS_FLOOR]
    counted, outlines = np.array([-bar.get_height() for bar in bars]).reshape(8, 2).T
    middles, step = np.array([bar.get_x() + bar.get_width() / 2 for bar in bars[::2]]), update.LINE_LENGTH / 8
    assert np.allclose(middles, update.LINE_LEFT + step * (np.arange(8) + 0.5))
    assert all(step / 2 < bar.get_width() < step for bar in bars)
    exact = bmlab.probabilities(model)
    assert np.allclose(outlines / outlines.sum(), exact)
    assert counted.sum() == pytest.approx(outlines.sum())  # in one measure
    assert abs(counted / counted.sum() - exact).max() < 0.2  # of 300 turns, 100 sweeps


@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_are_as_high_as_their_states_weigh_and_stand_on_each_other(drawn, seed):
    model = machine(seed, 3)
    _, (_, _, chart, *_) = drawn(widgets.VisitedView, model, seed=seed)
    weights = np.exp(-model.energy(bmlab.states(3)) / model.temperature)
    blocks = [patch for patch in chart.patches if isinstance(patch, Rectangle)]
    high = np.array([-block.get_height() for block in blocks]) / visited.SUM_HEIGHT * weights.sum()
    assert all(np.isclose(weights, h).any() for h in high) and len({*high.round(9)}) == len(high)
    feet = visited.SUM_FLOOR - np.cumsum([0, *(-block.get_height() for block in blocks)])
    assert np.allclose([block.get_y() for block in blocks], feet[:-1])
    starts = [block.get_x() for block in blocks]
    assert starts == sorted(starts) and starts[0] == visited.SUM_LEFT
    assert np.allclose([block.get_x() + block.get_width() for block in blocks], visited.SUM_LEFT + visited.SUM_WIDTH)
    assert number_after("exact: Z =", chart) == pytest.approx(weights.sum(), abs=0.00501)
    assert number_after("add up to", chart) == pytest.approx(high.sum(), abs=0.00501)
    assert f"{len(blocks)} of 8 states" in " ".join(words(chart))
    dashed = next(line for line in chart.lines if line.get_linestyle() == "--")
    assert set(dashed.get_ydata()) == {visited.SUM_FLOOR - visited.SUM_HEIGHT}


@pytest.mark.parametrize("n", [3, 6])
def test_bars_of_a_machine_are_its_probabilities_the_largest_first(drawn, n):
    model = machine(n, n)
    _, (_, _, bars, *_) = drawn(widgets.MachineView, model)
    exact, counted = (np.array([r.get_width() for r in filled(bars, c)[:-1]]) for c in (plot.INK, plot.PLUS))
    p = np.sort(bmlab.probabilities(model))[::-1][:16]
    assert np.allclose(exact / exact.sum(), p / p.sum()) and len(counted) == len(p)
    assert max(exact.max(), counted.max()) + filled(bars, plot.INK)[0].get_x() == pytest.approx(392)
    row = 224 / len(p)
    for colour in (plot.INK, plot.PLUS):
        ends = np.array([(r.get_y(), r.get_y() + r.get_height()) for r in filled(bars, colour)[:-1]])
        lines = 10 + row * np.arange(len(p) + 1)
        assert (lines[:-1] < ends[:, 0]).all() and (ends[:, 1] < lines[1:]).all()  # one below the other
    if n == 3:
        assert counted.sum() == pytest.approx(exact.sum())
    assert abs(counted / exact.sum() * p.sum() - p).max() < 0.2  # of 1,000 turns


def test_chains_report_their_averages_so_far_from_both_starts(drawn, monkeypatch):
    cold = bmlab.BoltzmannMachine(bmlab.ising((3, 3)).dense_weights, np.zeros(9), temperature=0.1)
    for model, ends in ((cold, [1] * 6 + [-1] * 6), (bmlab.BoltzmannMachine(np.zeros((9, 9)), np.zeros(9)), [0] * 12)):
        said = []
        monkeypatch.setattr(chains, "split_rhat", lambda h, said=said: said.append(h) or 1.234)
        _, (_, chart, beside, *_) = drawn(widgets.ChainsView, model)
        lines = [line for line in chart.lines if len(line.get_xdata()) == chains.SWEEPS]
        height = {text.get_text(): text.get_position()[1] for text in chart.texts}
        unit = height["0"] - height["+1"]
        so_far = (height["0"] - np.array([line.get_ydata() for line in lines])) / unit
        assert abs(so_far[:, -1] - ends).max() < 5 / np.sqrt(9 * chains.SWEEPS)
        assert np.allclose(lines[0].get_xdata()[[0, -1]], [40 + 400 / 300, 440])
        assert [line.get_linestyle() for line in lines] == ["-"] * 6 + ["--"] * 6
        assert [to_hex(line.get_color()).upper() for line in lines] == [plot.PLUS] * 6 + [plot.INK.upper()] * 6
        assert chart.lines[0].get_xydata().tolist() == [[40, 12], [40, 252], [440, 252]]  # the two axes
        sums = so_far * np.arange(1, chains.SWEEPS + 1)
        m = np.diff(sums, axis=1, prepend=0)
        assert np.allclose(halves(m), said[0]) and "R-hat 1.23" in words(beside)
        assert split_rhat(halves(m)) >= 0 or ends[0]  # of what is drawn


# Discs that are filled


def levels(ax):
    """Of each disc its middle, and the share of its height up to which it is blue."""
    middles = [
        p.center for p in ax.patches if isinstance(p, Circle) and to_hex(p.get_facecolor()).upper() == plot.MINUS
    ]
    found = []
    for x, y in middles:
        blues = [p for p in ax.patches if type(p) is Polygon and to_hex(p.get_facecolor()).upper() == plot.PLUS]
        outlines = [p.get_xy() for p in blues]
        blue = [v for v in outlines if abs(np.hypot(*(v - [x, y]).T) - RADIUS).max() < 1e-6]
        top = min((v[:, 1].min() for v in blue), default=np.nan)  # hatched, without blue: not known
        found.append(np.clip((y + RADIUS - top) / (2 * RADIUS), 0, 1))
    return np.array(middles), np.array(found)


@pytest.mark.parametrize("p", np.linspace(0, 1, 21))
def test_the_number_in_a_disc_stands_clear_of_its_level_or_as_far_off_as_the_disc_allows(p):
    level, at = RADIUS * (1 - 2 * p), aside(p)
    assert abs(at) <= 6 and (abs(at - level) > 10.9 or abs(at) == 6)
    assert at == 0 or abs(level) < 11


def triangles(ax):
    """The heights of the tips of the small triangles."""
    return np.array([p.get_xy()[0, 1] for p in ax.patches if type(p) is Polygon and len(p.get_xy()) == 4])


def widths(ax, model, places, seen=True):
    """The width of each weight's line that is seen, and what it should be, by the largest of all weights."""
    pairs = np.argwhere(np.tril(model.dense_weights) * seen)
    for pair, line in zip(pairs, ax.lines, strict=False):
        assert np.allclose(line.get_xydata(), places[pair])
        assert line.is_dashed() == (model.dense_weights[tuple(pair)] < 0)
    found = np.array([line.get_linewidth() for line in ax.lines[: len(pairs)]])
    w = np.abs([model.dense_weights[tuple(pair)] for pair in pairs])
    return found, 0.5 + 4.9 * w / np.abs(model.dense_weights).max()


@pytest.mark.parametrize(
    "model", [machine(0, 4), machine(1, 6), bmlab.restricted([[1, -2], [0.5, 1], [-1, 0.3]], [0.1, 0.2, 0], [0, 0.5])]
)
def test_discs_are_filled_to_the_exact_conditional_probabilities(drawn, model):
    view, (_, ax, *_) = drawn(widgets.ConditionalView, model)
    held = np.array(view.held)
    units = np.flatnonzero(held)
    restricted = view.low > 0
    assert units.tolist() == ([0, 1, 2] if restricted else [abs(model.dense_weights).sum(axis=0).argmax()])
    expected = np.where(held, held > 0, 0.0)
    expected[held == 0] = (1 + bmlab.exact(model.clamp(units, held[units])).mean) / 2
    middles, level = levels(ax)
    assert np.allclose(middles, view.places) and np.allclose(level, expected, atol=0.02)
    before = (1 + bmlab.exact(model).mean) / 2
    assert np.allclose(triangles(ax), middles[:, 1] + RADIUS * (1 - 2 * before))
    texts = words(ax)
    assert all(f"{p:.2f}" in texts for p, sign in zip(expected, held, strict=True) if not sign)
    of_held = (held[:, None] != 0) | (held != 0)  # other lines are not drawn
    found, right = widths(ax, model, middles, of_held)
    assert np.allclose(found, right) and len(ax.lines) == len(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_means_and_fields_of_the_middle_unit_stand_on_their_scales(drawn, seed):
    model = machine(seed, 5).at(4.0)
    _, (_, ax, *_) = drawn(widgets.MeanFieldView, model)
    middle = int((model.dense_weights != 0).sum(axis=0).argmax())
    m = bmlab.mean_field(model).mean
    exact = bmlab.exact(model).mean[middle]
    texts = words(ax)
    assert f"exact {exact:+.2f}" in texts and f"mean field {m[middle]:+.2f}" in texts
    marks = [line.get_xydata()[0] for line in ax.lines if len(line.get_xdata()) == 1]
    on_scale = [(x, y) for x, y in marks if y == 212 + 156]
    assert np.allclose(sorted(x for x, _ in on_scale), sorted(360 + 300 * np.array([exact, m[middle]])))
    reach = max(1, np.ceil(np.abs(model.dense_weights[middle]).sum() + abs(model.biases[middle])))
    (settled,) = [x for x, y in marks if y == 212 + 44 and x > 360]
    assert settled == pytest.approx(540 + 120 * model.field(m)[middle] / reach)
    jitter = np.concatenate([line.get_xdata() for line in ax.lines if set(line.get_ydata()) == {212 + 54, 212 + 34}])
    assert len(jitter) == 2 * 61 and (abs(jitter[jitter < 360] - 180) <= 120).all()
    _, level = levels(ax)
    assert set(level[:5].round(6)) <= {0, 1} and np.allclose(level[5:], (1 + m) / 2, atol=0.02)


@pytest.mark.parametrize("model", [chain(0, 5), chain(1, 4), chain(2, 2)])
def test_means_stand_beside_the_exact_ones_and_each_message_is_an_arrow(drawn, model):
    """On a chain all messages have come up to unit 0: its mean is exact, and the others are not known yet."""
    view, (_, ax, *_) = drawn(widgets.MessageView, model)
    exact = bmlab.exact(model).mean
    middles, level = levels(ax)
    assert np.allclose(level[0], (1 + exact[0]) / 2, atol=0.02) and np.isnan(level[1:]).all()
    texts = words(ax)
    stated = sorted(text for text in texts if text.startswith("exact"))
    said = [f"{mean:.2f}" for mean in exact]
    assert stated == sorted(f"exact {mean}" for mean in said) and said[0] in texts
    without = bmlab.exact(model.clamp([0], [1]))  # unit 0 held: what it exerts on unit 1 is its weight
    field = model.temperature * np.arctanh(without.mean[0]) - model.dense_weights[0, 1]
    (story,) = [text for text in texts if text.startswith("Without")]
    assert f"the field of {view.names[1]} is {field:.2f}:" in story
    told = model.temperature * np.arctanh(exact[0]) - model.biases[0]
    assert story.endswith(f"tells {view.names[0]} {told:.2f}.")
    arrows = [text for text in ax.texts if arrow_of(text)]
    ways = [(i, i - 1) for i in range(model.n - 1, 0, -1)]
    for (start, end), arrow in zip(ways, arrows, strict=True):
        step = middles[end] - middles[start]
        flown = np.subtract(arrow.xy, arrow.xyann)
        assert np.allclose(flown / np.hypot(*flown), step / np.hypot(*step)) and np.hypot(*flown) == pytest.approx(24)
        side = np.subtract(arrow.xy, middles[start]) @ [-step[1], step[0]] / np.hypot(*step)
        assert side == pytest.approx(14)


@pytest.mark.parametrize("seed", SEEDS)
def test_messages_come_down_rows_by_the_distance_from_the_root(drawn, seed):
    """A random tree in a random order of its units; those that the root does not reach are the lowest."""
    rng, weights = np.random.default_rng(seed), np.zeros((9, 9))
    order = [0, *(1 + rng.permutation(8))]
    for k in range(1, 8):
        i, j = order[k], order[rng.integers(k)]
        weights[i, j] = weights[j, i] = rng.choice([1.0, -0.5])
    view, _ = drawn(widgets.MessageView, bmlab.BoltzmannMachine(weights, np.zeros(9)))
    steps = shortest_path(weights != 0, unweighted=True)[0]
    steps[np.isinf(steps)] = steps[np.isfinite(steps)].max() + 1
    rows = np.array(view.places)[:, 1]
    assert [len({*rows[steps == k]}) for k in range(int(steps.max()) + 1)] == [1] * int(steps.max() + 1)
    assert (np.diff([rows[steps == k][0] for k in range(int(steps.max()) + 1)]) > 0).all()


def test_a_climb_is_marked_at_its_own_lowest_and_highest_number(drawn):
    steps = list(islice(bmlab.learning_steps(bmlab.toy(), bmlab.states(3)[4:], rate=0.1), 20))
    _, axes = drawn(widgets.LearningView, iter(steps), steps=20)
    (curve,) = [ax for ax in axes if len(ax.lines) == 1 and len(ax.lines[0].get_xdata()) == 20]
    logs = [step.log_likelihood.value for step in steps]
    assert np.allclose(curve.get_yticks(), [min(logs), max(logs)])
    assert words(SimpleNamespace(texts=curve.get_yticklabels())) == [f"{min(logs):.2f}", f"{max(logs):.2f}"]


@pytest.mark.parametrize("infer, told", [(bmlab.exact, ""), (bmlab.mean_field, " by mean field")])
def test_a_climb_says_whose_likelihood_it_draws_if_it_is_not_exact(infer, told, drawn):
    climb = bmlab.learning_steps(bmlab.toy(), bmlab.states(3)[4:], infer, rate=0.1)
    view, axes = drawn(widgets.LearningView, climb, steps=3)
    assert f"log-likelihood{told} (nats a pattern), step by step" in [text for ax in axes for text in words(ax)]
    assert view.told == told
