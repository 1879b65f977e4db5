"""Live views: what a notebook stores of them, what the kernel answers, and the page's sampler against Python's.

What they look like in a page is tested in tests/browser.
"""

import base64
import io
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import matplotlib
import nbformat
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from refresh import execute
from scipy import sparse
from scipy.integrate import quad
from scipy.ndimage import label
from scipy.sparse.csgraph import connected_components

import bmlab
from bmlab.infer.sampling.numpy_engine import stream

if find_spec("anywidget") is None and not os.environ.get("CI"):
    pytest.skip("the live views need anywidget: pip install anywidget", allow_module_level=True)
matplotlib.use("Agg")
import matplotlib.pyplot as plt

from bmlab import plot, widgets
from bmlab.widgets.page import live
from bmlab.widgets.reading import Readers

FOLDER = Path(widgets.__file__).parent
SCRIPTS = sorted(FOLDER.glob("*.js"))
PATTERNS = bmlab.states(3)[[0, 1, 7, 7]]


def draw(T, ax, style="solid"):
    ax.plot([0, T], linestyle=style)
    print(f"T = {T:g}")


def climb(**options):
    return bmlab.ascend(bmlab.toy(), PATTERNS, rate=0.1, **options)


def readers(n=9, temperature=1.0):
    """Ten machines weak enough for mean field to have one solution."""
    rng = np.random.default_rng(0)
    return [
        bmlab.BoltzmannMachine(bmlab.symmetric(rng.normal(0, 0.3 / n**0.5, (n, n))), rng.normal(0, 0.5, n), temperature)
        for _ in range(10)
    ]


VIEWS = {
    "explore(draw, T: 1 to 3)": lambda: widgets.explore(draw, T=(1, 3)),
    "LatticeView(8, temperature=2.5, field=0)": lambda: widgets.LatticeView(8),
    "MachineView(BoltzmannMachine(n=3, couplings=3, T=1))": lambda: widgets.MachineView(bmlab.toy()),
    "LearningView(3 units, exact)": lambda: widgets.LearningView(climb(), steps=3),
    "DrawView(3 patterns, 6 x 6)": lambda: widgets.DrawView(),
    "PaintView(10 machines, 3 x 3)": lambda: widgets.PaintView(readers(), np.zeros(10)),
}


def lists(model):
    """The machine as the page holds it."""
    return {"weights": model.weights.tolist(), "biases": model.biases.tolist()}


def ask(view, monkeypatch, **question):
    """Send a view what its page would send; return what it answers."""
    answers = []
    monkeypatch.setattr(view, "send", answers.append)
    view._handle_custom_msg(question, [])
    (answer,) = json.loads(json.dumps(answers))
    return answer


def in_node(code, change=("", ""), files=("sampler.js",), **given):
    """Run JavaScript after files of the page (changed in one place); return what it hands to answer()."""
    node = shutil.which("node")
    if node is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("the page's sampler needs Node.js, and there is no node")
    source = "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in files).replace(*change)
    program = (
        f"{source}\nconst given = {json.dumps(given)};const answer = (x) => console.log(JSON.stringify(x));\n{code}"
    )
    ran = subprocess.run([node, "--input-type=module", "-"], input=program, capture_output=True, text=True, check=False)
    assert not ran.stderr
    return json.loads(ran.stdout)


# What a notebook stores


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_stored_as_a_picture_and_a_text_that_stays(name):
    bundle, metadata = VIEWS[name]()._repr_mimebundle_()
    assert re.fullmatch(r"[A-Z].{20,}\.", metadata["image/png"]["alt"])
    assert set(bundle) == {"image/png", "text/plain"} and bundle["text/plain"].split("\n")[0] == name
    assert base64.b64decode(bundle["image/png"], validate=True).startswith(b"\x89PNG")


def test_two_views_that_look_alike_are_told_apart_in_the_page():
    assert widgets.LatticeView(8).picture != widgets.LatticeView(8).picture


def test_nbval_passes_a_notebook_of_views(tmp_path):
    cells = [
        "import numpy as np\nimport bmlab\nfrom bmlab import widgets",
        "def draw(T, ax):\n    ax.plot([0, T])\n    print(f'T = {T:g}')",
        "widgets.explore(draw, T=(1, 3))",
        "widgets.LatticeView(8)",
        "widgets.MachineView(bmlab.toy())",
        "data = bmlab.states(3)[:3]\nwidgets.LearningView(bmlab.ascend(bmlab.toy(), data, rate=0.1), steps=3)",
        "widgets.PaintView([bmlab.ising((3, 3))] * 2, [0, 0])",
        "widgets.DrawView()",
    ]
    file, stored = tmp_path / "views.ipynb", nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, cells)])
    execute(stored, file)
    nbformat.write(stored, file)
    outputs = [output for cell in stored.cells[2:] for output in cell.outputs]
    assert [set(output.data) for output in outputs] == [{"image/png", "text/plain"}] * 6
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-p", "no:cacheprovider", file]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "8 passed" in done.stdout, done.stdout


def test_the_core_does_not_import_the_views():
    code = "import sys, bmlab; print([m for m in ('anywidget', 'ipywidgets', 'bmlab.widgets') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_short_asks_no_network_and_copies_no_colour(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200 and max(map(len, text.splitlines())) <= 120
    assert not re.search(r"\bimport\b|\bfetch\(|https?://(?!www\.w3\.org/2000/svg)", text)
    assert not [c for c in plot.COLOURS.values() if c.startswith("#") and c.lower() in text.lower()]


# explore


def test_explore_draws_at_several_values_and_stores_their_words_without_printing_them(capsys):
    data, _ = widgets.explore(draw, T=(0.5, 4, 0.5), style=["solid", "dotted"])._repr_mimebundle_()
    assert data["text/plain"].split("\n")[1:] == [f"T = {T}" for T in (0.5, 0.5, 2, 2, 4, 4)]
    assert not capsys.readouterr().out


def test_a_stored_explore_is_one_picture_over_the_strips_of_its_sliders(monkeypatch):
    figures = []
    monkeypatch.setattr("bmlab.widgets.view.png", lambda figure, **_: figures.append(figure) or ("", 0, 0))

    def votes(ax, freeze, Salvador=0.5):
        ax.barh(["a vote with a long name"], [freeze])

    widgets.explore(votes, freeze=[-1, 0, 1], Salvador=(0.0, 1.0, 0.05))
    ((ax, *strips),) = [figure.axes for figure in figures]
    assert [bar.get_width() for bar in ax.patches] == [0] and ax.get_title(loc="left") == "freeze = 0, Salvador = 0.5"
    words = [[text.get_text().strip() for text in strip.texts] for strip in strips]
    assert [sorted(found) for found in words] == [["-1", "0", "1", "freeze"], ["0", "0.5", "1", "Salvador"]]
    assert [strip.lines[-1].get_xdata().tolist() for strip in strips] == [[1], [10]]


def test_explore_answers_a_slider_with_a_figure_and_words(monkeypatch):
    view = widgets.explore(draw, T=(0.5, 4, 0.5), style=["dotted", "solid"])
    assert [c["start"] for c in view.controls] == [4, 1]  # the middle, and the default of draw
    answer = ask(view, monkeypatch, stops=[7, 0], dense=False)
    assert answer["text"] == "T = 4\n" and base64.b64decode(answer["png"]).startswith(b"\x89PNG")


def test_a_dense_display_gets_twice_the_pixels_and_the_axes_keep_their_place(monkeypatch):
    def frame(T, ax):
        ax.set_ylabel("long\n" * T)
        ax.set_facecolor("red")

    def corners(answer):
        pixels = plt.imread(io.BytesIO(base64.b64decode(answer["png"])))
        red = np.argwhere((pixels[..., :3] == [1, 0, 0]).all(axis=2))
        return pixels.shape[1], np.array([red.min(0), red.max(0)])

    view = widgets.explore(frame, T=(1, 4))
    (width, plain), (same, after) = (corners(ask(view, monkeypatch, stops=[k], dense=False)) for k in (0, 3))
    dense, _ = corners(ask(view, monkeypatch, stops=[0], dense=True))
    assert (width, same, dense) == (640, 640, 1280) and (plain == after).all()


@pytest.mark.parametrize("beside", ["nothing", "colour bar", "twin", "words"])
def test_a_step_of_a_slider_leaves_nothing_to_the_next(monkeypatch, beside):
    def frame(T, ax):
        drawn = ax.imshow([[0, T]], aspect="auto")
        if beside == "colour bar":
            ax.figure.colorbar(drawn, ax=ax)
        if beside == "twin":
            ax.twinx().plot([0, T])
        if T == 2:
            ax.set(facecolor="red", xscale="log", position=[0, 0, 1, 1], aspect=2)
            ax.set_xticks([0, 1], ["none", "one"], minor=True)
            ax.tick_params(labelsize=20, rotation=90, left=False)
            ax.invert_yaxis()
            ax.set_axis_off()
        if T == 2 and beside == "words":
            ax.figure.suptitle("two")

    before = plt.get_fignums()
    view = widgets.explore(frame, T=(1, 3))
    first, second, again = (ask(view, monkeypatch, stops=[k], dense=False)["png"] for k in (0, 1, 0))
    assert first == again != second and plt.get_fignums() == before


NEWEST = """
function make() { return {}; }
const sent = [], heard = [], ears = {}, root = { prepend() {}, setAttribute() {}, removeAttribute() {} };
const model = { on: (name, f) => { ears[name] = f; }, send: (question) => sent.push(question) };
const { ask } = asker(model, root, (reply) => heard.push(reply));
for (const question of [1, 2, 3]) ask(question);
ears["msg:custom"]("to 1");
ears["msg:custom"]("to 3");
ask(4);
answer({ sent, heard });
process.exit();
"""


def test_of_the_steps_that_come_while_one_is_drawn_the_newest_is_asked_for_alone():
    assert in_node(NEWEST, files=("alive.js",)) == {"sent": [1, 3, 4], "heard": ["to 1", "to 3"]}


def test_what_draw_warns_of_stands_with_its_words_and_nowhere_else(monkeypatch, capsys):
    def doubtful(T, ax):
        warnings.warn("T is high", stacklevel=1)
        print(f"T = {T}")

    with warnings.catch_warnings(record=True) as shown:
        view = widgets.explore(doubtful, T=(1, 3))
        texts = [ask(view, monkeypatch, stops=[k], dense=False)["text"] for k in (0, 1, 0)]
    assert texts == [f"T = {T}\nT is high\n" for T in (1, 2, 1)] and not shown
    assert view._repr_mimebundle_()[0]["text/plain"].count("T is high") == 3 and capsys.readouterr() == ("", "")


def test_a_step_of_a_slider_is_drawn_once(monkeypatch):
    drawn = []

    class Counting(matplotlib.lines.Line2D):
        def draw(self, renderer):
            drawn.append(renderer)
            super().draw(renderer)

    view = widgets.explore(lambda ax, T: ax.add_line(Counting([0, 1], [0, T])), T=(1, 3))
    ask(view, monkeypatch, stops=[0], dense=True)
    drawn.clear()  # the first was laid out, too
    ask(view, monkeypatch, stops=[1], dense=True)
    assert len(drawn) == 1


def test_explore_says_what_went_wrong_in_draw(monkeypatch):
    def frail(T, ax):
        if T == 2:
            raise ValueError("not at 2")

    view = widgets.explore(frail, T=[1, 2, 3, 4, 5])
    assert ask(view, monkeypatch, stops=[1], dense=False)["text"] == "ValueError: not at 2"


@pytest.mark.parametrize(
    ("control", "labels"),
    [
        ((1, 3), ["1", "2", "3"]),
        ((0.0, 1.0, 0.25), ["0", "0.25", "0.5", "0.75", "1"]),
        (["a", "b"], ["a", "b"]),
        ((0.1, 0.3, 0.1), ["0.1", "0.2", "0.3"]),
    ],
)
def test_controls_are_written_as_for_interact(control, labels):
    view = widgets.explore(lambda ax, x: None, x=control)
    assert view.controls[0]["labels"] == labels


@pytest.mark.parametrize("control", [3, (4, 1), [], (0, 1, 0.0001), (1, 2, -1)])
def test_a_control_that_is_none_is_refused(control):
    with pytest.raises(ValueError, match=r"x must .* found .*; try"):
        widgets.explore(draw, x=control)


# The other views


def test_a_view_refuses_what_it_cannot_show():
    with pytest.raises(ValueError, match=r"size must be even.*found 5; try 6"):
        widgets.LatticeView(5)
    with pytest.raises(ValueError, match="up to 10 units, found 11"):
        widgets.MachineView(bmlab.hopfield(np.ones(11)))
    with pytest.raises(ValueError, match="found no step"):
        widgets.LearningView(iter([]))
    with pytest.raises(ValueError, match="pixels"):
        widgets.PaintView(readers(10), np.zeros(10))
    with pytest.raises(ValueError, match=r"up to 100 pixels.*found \(2, 8\) for the shape \(2, 2\)"):
        widgets.DrawView(np.ones((2, 8)))
    with pytest.raises(ValueError, match=r"shape must be \(height, width\), found 8"):
        widgets.DrawView(np.ones((2, 8)), shape=8)
    with pytest.raises(ValueError, match="one log Z a machine, found 3 for 10"):
        widgets.PaintView(readers(), np.zeros(3))


def test_learning_goes_on_where_the_picture_ended(monkeypatch):
    view = widgets.LearningView(islice(climb(), 12), steps=5)
    steps = list(islice(climb(), 12))
    first, last = (ask(view, monkeypatch, **{"from": a, "to": b}) for a, b in ((0, 8), (8, 16)))
    assert (first["end"], last["end"]) == ("", "The climb has no more steps.")
    frames = first["frames"] + last["frames"]
    assert np.allclose([f["log_likelihood"] for f in frames], [s.log_likelihood.value for s in steps])
    pairs = np.triu_indices(3, 1)
    assert np.allclose([f["free_pairs"] for f in frames], [s.free.corr[pairs] for s in steps], atol=5e-5)
    assert np.allclose([f["clamped_means"] for f in frames], [s.clamped.mean for s in steps], atol=5e-5)
    assert np.allclose([f["weights"] for f in frames], [s.model.weights[pairs] for s in steps], atol=5e-5)


def test_a_climb_that_has_converged_takes_no_more_steps(monkeypatch):
    view = widgets.LearningView(bmlab.ascend(bmlab.toy(), bmlab.states(3), rate=0.5), steps=3)
    answer = ask(view, monkeypatch, **{"from": 0, "to": 5000})
    assert answer["end"].startswith("The climb has converged") and len(answer["frames"]) < 500
    assert len(ask(view, monkeypatch, **{"from": len(answer["frames"]), "to": 6000})["frames"]) == 0
    before, last = (np.array(frame["weights"]) for frame in answer["frames"][-2:])
    assert abs(last - before).max() < 2e-4  # what is sent has four digits


def test_a_climb_by_sampling_never_rests_and_ends_where_the_page_has_enough(monkeypatch):
    monkeypatch.setattr("bmlab.widgets.learning.LONGEST", 12)
    sample = partial(bmlab.gibbs, rng=np.random.default_rng(0), n_chains=4, burn_in=5, n_sweeps=5)
    answer = ask(widgets.LearningView(climb(infer=sample), steps=2), monkeypatch, **{"from": 0, "to": 99})
    assert len(answer["frames"]) == 12 and answer["end"] == "The view ends after 12 steps."


def test_a_climb_by_sampling_shows_its_mismatch(monkeypatch):
    sample = partial(bmlab.gibbs, rng=np.random.default_rng(0), n_chains=4, burn_in=5, n_sweeps=5)
    view = widgets.LearningView(climb(infer=sample), steps=2)
    frames = ask(view, monkeypatch, **{"from": 0, "to": 2})["frames"]
    assert [f["log_likelihood"] for f in frames] == [None, None] and frames[0]["mismatch"] > 0


def test_pairs_that_a_method_does_not_know_are_left_out(monkeypatch):
    layers = bmlab.restricted(np.full((20, 12), 0.05), np.zeros(20), np.zeros(12))
    data = np.where(np.arange(60) % 7, 1.0, -1.0).reshape(3, 20)
    infer = partial(bmlab.exact, pairs="couplings")
    step = next(bmlab.ascend(layers, data, infer, rate=0.1, couplings=layers.weights != 0))
    known = ~np.isnan(step.free.corr[np.triu_indices(32, 1)])
    (frame,) = ask(widgets.LearningView(iter([step])), monkeypatch, **{"from": 0, "to": 1})["frames"]
    assert 0 < known.sum() < len(known) and [x is not None for x in frame["free_pairs"]] == known.tolist()


def test_a_correlation_of_exactly_0_is_known(monkeypatch):
    pair = bmlab.BoltzmannMachine(sparse.csr_array([[0, 0.5], [0.5, 0]]), np.zeros(2))
    view = widgets.LearningView(bmlab.ascend(pair, np.array([[1.0, 1], [1, -1]]), rate=0.1), steps=1)
    (frame,) = ask(view, monkeypatch, **{"from": 0, "to": 1})["frames"]
    assert frame["clamped_pairs"] == [0.0] and frame["free_pairs"] != [None]


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_readers_answer_as_mean_field_does(temperature):
    machines = readers(temperature=temperature)
    known = np.array([1, -1, 0, 0, 1, 0, 0])  # and two units that are hidden
    log_z = [bmlab.mean_field(m).log_z.lower for m in machines]
    p, means = Readers(machines, log_z).read(known, tolerance=1e-10)
    units = np.flatnonzero(known)
    answers = [bmlab.mean_field(m.clamp(units, known[units]), tolerance=1e-12) for m in machines]
    log_p = np.array([a.log_z.lower for a in answers]) - log_z
    assert np.allclose(np.log(p), log_p - np.logaddexp.reduce(log_p), atol=1e-7)
    free = np.setdiff1d(np.arange(9), units)
    assert np.allclose(means[:, free], [a.mean for a in answers], atol=1e-7)


READ = """
const machines = readers(given.machines);
machines.begin(given.known);
for (let k = 0; k < 200; k++) if (!machines.sweep(given.tolerance)) break;
answer(machines.answer(given.known.length));
"""


def page_reads(machines, log_z, known, change=("", "")):
    """What the page answers to a drawing, from what the view sends it."""
    view = widgets.PaintView(machines, log_z, shape=(1, len(known)))
    sent = {name: np.frombuffer(getattr(view, name), "<f4").tolist() for name in ("weights", "biases")}
    return in_node(
        READ, change, files=("reading.js",), machines=sent | {"logZ": view.log_z}, known=known, tolerance=1e-7
    )


KNOWN = [1, -1, 0, 0, 1, 0, 0]  # and two units that are hidden


@pytest.mark.parametrize("temperature", [1.0, 2.0])
@pytest.mark.parametrize("known", [KNOWN, [0] * 9, [1] * 9], ids=["some", "none", "all"])
def test_the_page_reads_as_python_does(temperature, known):
    machines, log_z = readers(temperature=temperature), np.linspace(0, 1, 10)
    p, means = Readers(machines, log_z).read(known, tolerance=1e-7)
    answer = page_reads(machines, log_z, known)
    assert np.allclose(answer["p"], p, atol=1e-6) and answer["best"] == p.argmax()
    assert np.allclose(answer["means"], means[:, : len(known)], atol=1e-5)
    assert np.allclose(answer["mean"], p @ means[:, : len(known)], atol=1e-5)


@pytest.mark.parametrize(
    "change", [("(field(c, i) + biases[c * n + i])", "field(c, i)"), ("- z)", ")"), ("known[k % n] || 0", "0")]
)
def test_a_wrong_reader_is_noticed(change):
    machines, log_z = readers(), np.linspace(0, 1, 10)
    assert not np.allclose(page_reads(machines, log_z, KNOWN)["p"], page_reads(machines, log_z, KNOWN, change)["p"])


# Predictions


def said_by(code):
    """What IPython displays and prints where these lines are run in a cell."""
    shell = InteractiveShell.instance()
    with capture_output() as said:
        result = shell.run_cell("from bmlab import widgets\n" + code)
    return said, result


def test_a_prediction_folds_what_is_printed_and_drawn_and_keeps_what_is_made():
    code = """with widgets.predict("03.2"):
    number = 6 * 7
    print(number, "<b>")
    display({"image/png": "cGl4ZWxz"}, metadata={"image/png": {"alt": 'A "line".'}}, raw=True)
"""
    said, result = said_by(code)
    (output,) = said.outputs
    assert result.success and InteractiveShell.instance().user_ns["number"] == 42 and not said.stdout
    assert output.data["text/plain"] == "42 <b>\n"
    html = output.data["text/html"]
    assert '<img alt="A &quot;line&quot;." src="data:image/png;base64,cGl4ZWxz">' in html
    assert re.search(
        r'<div class="bmlab-predict" data-name="03.2"><details><summary>.*<pre>42 &lt;b&gt;', html, re.DOTALL
    )
    assert "<script" not in html  # nobody has opened a page: this is what is stored


def test_a_page_gets_the_buttons_too(monkeypatch):
    monkeypatch.setattr("bmlab.widgets.predicting.cell_of_request", lambda: "a cell")
    said, _ = said_by('with widgets.predict("03.2"):\n    print(1)')
    assert "<script>" in said.outputs[0].data["text/html"]


def test_a_prediction_that_fails_hides_nothing():
    said, result = said_by('with widgets.predict("03.2"):\n    print("so far")\n    1 / 0')
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert said.stdout.startswith("so far") and not [o for o in said.outputs if "text/html" in o.data]


def test_a_prediction_is_named_by_notebook_and_number():
    with pytest.raises(ValueError, match=r"found '3\.2'"), widgets.predict("3.2"):
        pass


# The learner of the page

LEARN = """
const mind = learner(4, uniforms(given.seed), given.options);
for (let k = 0; k < 3000; k++) mind.step(given.patterns);
answer({ weights: mind.machine.weights.map((row) => [...row]), biases: [...mind.machine.biases] });
"""
FOUR = [[1, 1, 1, -1], [1, -1, 1, 1], [-1, 1, -1, 1], [-1, -1, 1, -1], [1, 1, -1, -1], [-1, 1, 1, 1]]


def page_learns(change=("", "")):
    """The slope of the likelihood at the machine that the page learns from six patterns; 0 at the maximum."""
    options = {"chains": 200, "rate": 0.02, "penalty": 0.1}
    found = in_node(LEARN, change, files=("sampler.js", "learner.js"), patterns=FOUR, seed=3, options=options)
    model = bmlab.BoltzmannMachine(np.array(found["weights"]), np.array(found["biases"]))
    d_weights, d_biases = bmlab.gradient(model, bmlab.clamped(model, np.array(FOUR)), bmlab.exact(model))
    return max(abs(d_weights - 0.1 * model.weights).max(), abs(d_biases).max())


def test_the_page_learns_what_maximum_likelihood_is():
    assert page_learns() < 0.06  # 200 chains, and a rate that averages some 50 sweeps: noise of about 0.02


@pytest.mark.parametrize("change", [("shown * a - dreamt * b", "shown * a + dreamt * b"), ("2 * h / T", "h / T")])
def test_a_wrong_learner_is_noticed(change):
    assert not page_learns(change) < 0.06


DREAM = """
const mind = learner(9, uniforms(given.seed)), sums = mind.dreams.map(() => new Float64Array(81));
for (let k = 0; k < 200; k++) mind.step(given.patterns);
for (let k = 0; k < 2200; k++) {
    mind.dream(given.T, given.held);
    if (k >= 200) mind.dreams.forEach((s, c) => s.forEach((x, i) => s.forEach((y, j) => {
        sums[c][9 * i + j] += (i === j ? x : x * y) / 2000;
    })));
}
answer({ weights: mind.machine.weights.map((row) => [...row]), biases: [...mind.machine.biases],
    moments: sums.map((row) => [...row]) });
"""
SHEET = [[1, -1, -1, 1, -1, -1, 1, 1, 1], [1, 1, 1, -1, 1, -1, -1, 1, -1], [1, -1, 1, -1, 1, -1, 1, -1, 1]]


def page_dreams(T=1.0, held=(0,) * 9, change=("", "")):
    """The moments of thirty dreams of a sheet of 3 x 3 against exact sums, in standard errors; the largest."""
    given = {"patterns": SHEET, "seed": 5, "T": T, "held": held}
    found = in_node(DREAM, change, files=("sampler.js", "learner.js"), **given)
    model = bmlab.BoltzmannMachine(np.array(found["weights"]), np.array(found["biases"]), temperature=T)
    units = np.flatnonzero(held)
    free = np.setdiff1d(np.arange(9), units)
    exact = bmlab.exact(model.clamp(units, np.array(held)[units]) if len(units) else model)
    wanted = exact.corr.copy()  # of the free units
    np.fill_diagonal(wanted, exact.mean)
    dreams = np.array(found["moments"]).reshape(-1, 9, 9)
    dreams = dreams[:, free][:, :, free]
    error = dreams.std(0, ddof=1) / np.sqrt(len(dreams))
    return abs((dreams.mean(0) - wanted) / error).max()


@pytest.mark.parametrize("T", [1.0, 1.6])
@pytest.mark.parametrize("held", [(0,) * 9, (1, 0, 0, 0, -1, 0, 0, 0, 0)])
def test_the_dreams_of_the_page_have_the_exact_moments(T, held):
    assert page_dreams(T, held) < 5  # of 45 moments of thirty independent dreams


@pytest.mark.parametrize("change", [("2 * h / T", "h / T"), ("2 * h / T", "2 * h"), ("!held[i]", "i")])
def test_a_wrong_dream_is_noticed(change):
    assert not page_dreams(1.6, (1, 0, 0, 0, -1, 0, 0, 0, 0), change) < 5


APART = """
const mind = learner(9, uniforms(4)), size = (row) => Math.max(...row.map(Math.abs));
const largest = () => Math.max(...mind.machine.weights.map(size));
for (let k = 0; k < 400; k++) mind.step(given.patterns);
const whole = [largest(), mind.mismatch];
for (let k = 0; k < 400; k++) mind.step(given.patterns, given.rule);
answer([...whole, largest(), mind.mismatch, mind.machine.weights[0][1] ]);
"""


def test_each_half_of_the_rule_is_needed():
    """Without the second half the weights grow to shown / penalty; without the first, what is dreamt together parts."""

    def taught(**rule):
        return in_node(APART, files=("sampler.js", "learner.js"), patterns=SHEET, rule=rule)

    weight, mismatch, grown, *_ = taught(dreamt=0)
    assert grown > 4 * weight
    weight, mismatch, _, apart, _ = taught(shown=0)
    assert apart > 2 * mismatch
    assert taught()[3] < 1.5 * mismatch


# The islands of the lattice, and the brush


def test_islands_are_what_hangs_together_on_the_torus():
    size, s = 12, np.random.default_rng(4).choice([-1, 1], 144)
    bonds = np.triu(bmlab.ising((size, size)).dense_weights != 0) & (s[:, None] == s)
    _, island = connected_components(bonds, directed=False)
    found = in_node("answer([...clusterSizes(given.s, given.L)])", files=("clusters.js",), s=s.tolist(), L=size)
    assert found == np.bincount(island)[island].tolist()


def test_a_stroke_has_no_gaps():
    cells = in_node("answer(stroke(64, [5, 5], [50, 30], 1.5))", files=("clusters.js",))
    painted = np.zeros((64, 64), bool)
    painted.flat[cells] = True
    assert label(painted)[1] == 1 and painted[5, 5] and painted[29, 49]


# The sampler of the page


@pytest.mark.parametrize("seed", [0, 2026, 2**53 - 1])
def test_the_page_draws_pythons_random_numbers(seed):
    with np.errstate(over="ignore"):
        words = stream(np.uint64(seed), np.arange(1000, dtype=np.uint64))
    mine = in_node("const next = uniforms(given.seed); answer(Array.from({ length: 1000 }, next));", seed=seed)
    assert (np.array(mine) == (words >> np.uint64(11)) * 2.0**-53).all()


REPLAY = """
let k = 0;
const { s, u, sweeps } = given, next = () => u[k++], states = [];
for (let t = 0; t < sweeps; t++) { %s; states.push([...s]); }
answer(states);
"""


@pytest.mark.parametrize("model", [bmlab.toy(), bmlab.medium().at(2.0)], ids=["toy", "medium"])
def test_same_uniforms_same_states(model):
    rng, sweeps = np.random.default_rng(1), 200
    s, u = rng.choice([-1.0, 1.0], model.n), rng.random((sweeps, model.n))
    found = in_node(
        REPLAY % "sweep(given.machine, s, given.T, next)",
        s=s.tolist(),
        u=u.ravel().tolist(),
        sweeps=sweeps,
        T=model.temperature,
        machine=lists(model),
    )
    for row, uniforms in zip(found, u, strict=True):
        s = bmlab.sweep(model, s, uniforms)
        assert (row == s).all()


@pytest.mark.parametrize(("temperature", "field"), [(2.269, 0.0), (1.3, -0.2), (4.0, 0.5)])
def test_same_uniforms_same_states_on_the_lattice(temperature, field):
    size, sweeps, rng = 8, 30, np.random.default_rng(2)
    model = bmlab.ising((size, size), field=field).at(temperature)
    s, u = rng.choice([-1.0, 1.0], model.n), rng.random((sweeps, model.n))
    found = in_node(
        REPLAY % "sweepLattice(s, given.size, given.T, given.b, next)",
        s=s.tolist(),
        u=u.ravel().tolist(),
        sweeps=sweeps,
        size=size,
        T=temperature,
        b=field,
    )
    for row, uniforms in zip(found, u, strict=True):
        s = bmlab.sweep(model, s, uniforms, units=np.concatenate(model.colours))
        assert (row == s).all()
    measured = in_node("answer(measure(given.s, given.size, given.b))", s=s.tolist(), size=size, b=field)
    assert np.isclose(measured["energy"], model.energy(s) / model.n)
    assert np.isclose(measured["magnetisation"], s.mean())


WRONG = [
    ("2 * h / T", "h / T"),
    ("2 * h / T", "2 * h"),
    ("next() < p[", "next() > p["),
    ("sum + b, T", "sum, T"),
    ("(row + colour) & 1", "row & 1"),
    ("c ? c - 1 : L - 1", "c ? c - 1 : 0"),
]


@pytest.mark.parametrize("change", WRONG, ids=[wrong for _, wrong in WRONG])
def test_a_wrong_sampler_is_noticed(change):
    rng = np.random.default_rng(3)
    s, u = rng.choice([-1.0, 1.0], 64), rng.random(64 * 5)
    given = {"s": s.tolist(), "u": u.tolist(), "sweeps": 5, "size": 8, "T": 1.5, "b": 0.4}
    code = REPLAY % "sweepLattice(s, given.size, given.T, given.b, next)"
    assert in_node(code, **given) != in_node(code, change, **given)


def test_the_page_knows_onsagers_and_yangs_solution():
    """Energy = -d log Z / d beta of Onsager's log Z a unit, written as an integral; Yang's exponent is 1/8."""

    def log_z(beta):
        kappa = 2 * np.sinh(2 * beta) / np.cosh(2 * beta) ** 2
        return (
            np.log(2 * np.cosh(2 * beta))
            + quad(lambda x: np.log((1 + np.sqrt(1 - (kappa * np.sin(x)) ** 2)) / 2), 0, np.pi / 2)[0] / np.pi
        )

    temperatures = [0.5, 1.5, 2.2, 2.4, 4.0]
    found = in_node("answer([CRITICAL, onsager(CRITICAL).energy, ...given.T.map(onsager)])", T=temperatures)
    critical, at_critical, *found = found
    step = 1e-4
    slopes = [(log_z(1 / T + step) - log_z(1 / T - step)) / (2 * step) for T in temperatures]
    assert np.allclose([f["energy"] for f in found], -np.array(slopes), atol=1e-5)  # the cusp is 0.06 away
    assert np.isclose(critical, 2 / np.log(1 + np.sqrt(2))) and np.isclose(at_critical, -np.sqrt(2))
    below = [(1 - np.sinh(2 / t) ** -4) ** 0.125 for t in temperatures if t < critical]
    assert np.allclose([f["magnetisation"] for f in found], [*below, 0, 0])


def test_the_page_enumerates_as_python_does():
    model, fixed = bmlab.medium().at(1.5), np.array([0, 0, 1, 0, -1, 0, 0, 0, 0, 0])
    for held in np.zeros(10, int), fixed:
        found = in_node(
            "answer([...enumerate(given.machine, given.T, given.fixed)])",
            machine=lists(model),
            T=1.5,
            fixed=held.tolist(),
        )
        units = np.flatnonzero(held)
        allowed = (bmlab.states(10)[:, units] == held[units]).all(axis=1)
        assert np.allclose(np.array(found)[allowed], bmlab.probabilities(model.clamp(units, held[units])))
        assert not np.array(found)[~allowed].any()
    numbers = in_node("answer(given.s.map(numberOf))", s=bmlab.states(4).tolist())
    assert numbers == list(range(16))


@pytest.mark.parametrize(
    "make",
    [
        lambda: widgets.MachineView(bmlab.BoltzmannMachine(np.zeros((0, 0)), np.zeros(0))),
        lambda: widgets.LearningView(bmlab.ascend(bmlab.toy(), bmlab.states(3), rate=0.1), steps=-1),
        lambda: widgets.explore(lambda ax, T: None, T=(1, 2, 0)),
        lambda: widgets.explore(lambda ax, T: None, T=("a", "b")),
        lambda: widgets.explore(lambda ax, T: None, T=(None, 2)),
        lambda: widgets.explore(lambda ax, T: None, T=(1, 2, None)),
    ],
)
def test_a_view_refuses_in_one_sentence(make):
    with pytest.raises(ValueError, match=r"found .*(; try |; )"):
        make()


def test_a_name_cannot_end_the_script_of_a_page():
    """In a script, `<!--<script>` swallows the rest of the page, and `</script>` ends it."""
    machine = bmlab.BoltzmannMachine(np.zeros((2, 2)), [0, 0], names=["<!--<script>", "</script>"])
    data, about = widgets.MachineView(machine)._repr_mimebundle_()
    html = live(about["image/png"], data["image/png"], "bmlab-1")
    assert not re.search("<!--|</?script", html.partition("const state = ")[2].partition(", model = ")[0])
    assert html.count("<script") == html.count("</script>") == 1


def test_without_anywidget_a_notebook_goes_on_with_still_pictures():
    """One sentence says what to install; the views are the pictures that a notebook stores."""
    code = """if True:
        import sys
        sys.modules.update(dict.fromkeys(["anywidget", "numba", "tqdm"]))
        import bmlab
        from bmlab import widgets
        views = [widgets.MachineView(bmlab.toy()), widgets.DrawView(), widgets.LatticeView(8)]
        views += [widgets.explore(lambda T, ax: None, T=(1, 2))]
        views += [widgets.LearningView(bmlab.ascend(bmlab.toy(), bmlab.states(3), rate=0.1))]
        print([sorted(view._repr_mimebundle_()[0]) for view in views])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.count("image/png") == 5, done.stderr
    assert re.findall("pip install .*", done.stderr)[0] == 'pip install "bmlab[lab]"' and "anywidget" in done.stderr


MISSING = """if True:
    import ast, json, sys, warnings
    from importlib.machinery import PathFinder
    from pathlib import Path

    class Finder(PathFinder):
        @classmethod
        def find_spec(cls, name, *rest):
            return None if name.partition(".")[0] == sys.argv[1] else super().find_spec(name, *rest)

    sys.meta_path = [Finder if finder is PathFinder else finder for finder in sys.meta_path]
    import bmlab
    for path in sorted(Path().glob("*.ipynb")):
        cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
        ways = [node for cell in cells for node in ast.parse("".join(cell["source"])).body
                if isinstance(node, ast.Import | ast.ImportFrom) or "sys.path" in ast.unparse(node)]
        for name in [name for name in sys.modules if name.startswith("bmlab.widgets")]:
            del sys.modules[name]
        vars(bmlab).pop("widgets", None)
        error = ""
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                exec("\\n".join(map(ast.unparse, ways)), {})
            except ModuleNotFoundError as missing:
                error = str(missing)
        print(json.dumps([path.stem, error, [str(one.message) for one in seen if "pip install" in str(one.message)]]))
"""


@pytest.mark.parametrize(
    ("package", "stops"),
    [
        ("anywidget", set()),
        ("numba", set()),
        ("tqdm", set()),
        ("sklearn", {"09_handwritten_digits"}),
        ("pandas", {"04_mean_field", "06_your_own_data"}),
    ],
)
def test_where_a_package_is_missing_one_sentence_says_what_to_install(package, stops):
    """All imports of each notebook, its scripts' included: it goes on, or what it stops with says so too."""
    done = subprocess.run(
        [sys.executable, "-c", MISSING, package],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).resolve().parents[1] / "notebooks",
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) > 10 and {name for name, error, _ in found if error} == stops
    for name, error, said in found:
        (sentence,) = said
        assert package in sentence and 'pip install "bmlab[lab]"' in sentence, name
        assert not error or package in error, (name, error)
        if package != "pandas":  # which 06 imports as all do, below the sentence
            assert not error or "pip install" in error, (name, error)
