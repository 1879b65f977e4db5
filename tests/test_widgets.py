"""Live views: their stored pictures and states, the kernel's answers, and the page's sampler against Python's.

Their looks in a page are tested in tests/browser.
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
from copy import deepcopy
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import islice, pairwise
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import nbformat
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from overlaps import overlaps, words_of
from scipy import sparse
from selection import exhaustive

import bmlab
from bmlab.infer.sampling.diagnostics import halves, split_rhat
from bmlab.infer.sampling.numpy_engine import stream

if find_spec("anywidget") is None and not os.environ.get("CI"):
    pytest.skip("the live views need anywidget: pip install anywidget", allow_module_level=True)
matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch

from bmlab import plot, widgets
from bmlab.widgets import controls
from bmlab.widgets.beliefs import RADIUS, towards_root
from bmlab.widgets.machine import ModelView
from bmlab.widgets.page import Page
from bmlab.widgets.reading import Readers

FOLDER = Path(widgets.__file__).parent
PATTERNS = bmlab.states(3)[[0, 1, 7, 7]]


def draw(T, ax, style="solid"):
    ax.plot([0, T], linestyle=style)
    print(f"T = {T:g}")


def climb(**options):
    return bmlab.learning_steps(bmlab.toy(), PATTERNS, rate=0.1, **options)


def readers(n=9, temperature=1.0):
    """Ten machines weak enough for mean field to have one solution."""
    rng = np.random.default_rng(0)
    return [
        bmlab.BoltzmannMachine(bmlab.symmetric(rng.normal(0, 0.3 / n**0.5, (n, n))), rng.normal(0, 0.5, n), temperature)
        for _ in range(10)
    ]


VIEWS = {
    "explore(draw, T: 1 to 3)": lambda: widgets.explore(draw, T=(1, 3)),
    "MachineView(BoltzmannMachine(n=3, couplings=3, T=1))": lambda: widgets.MachineView(bmlab.toy()),
    "StatesView(BoltzmannMachine(n=3, couplings=3, T=1))": lambda: widgets.StatesView(bmlab.toy()),
    "UpdateView(BoltzmannMachine(n=3, couplings=3, T=1))": lambda: widgets.UpdateView(bmlab.toy()),
    "ConditionalView(BoltzmannMachine(n=3, couplings=3, T=1))": lambda: widgets.ConditionalView(bmlab.toy()),
    "VisitedView(BoltzmannMachine(n=3, couplings=3, T=1))": lambda: widgets.VisitedView(bmlab.toy()),
    "MeanFieldView(BoltzmannMachine(n=3, couplings=3, T=1))": lambda: widgets.MeanFieldView(bmlab.toy()),
    "ChainsView(BoltzmannMachine(n=3, couplings=3, T=1))": lambda: widgets.ChainsView(bmlab.toy()),
    "MessageView(BoltzmannMachine(n=3, couplings=3, T=1))": lambda: widgets.MessageView(bmlab.toy()),
    "LearningView(3 units, exact)": lambda: widgets.LearningView(climb(), steps=3),
    "DrawView(3 patterns, 6 x 6)": lambda: widgets.DrawView(),
    "PaintView(10 machines, 3 x 3)": lambda: widgets.PaintView(readers(), np.zeros(10)),
}


def request(view, monkeypatch, **question):
    """Send a view a message of its page; return its answers."""
    answers = []
    monkeypatch.setattr(view, "send", answers.append)
    view._handle_custom_msg(question, [])
    (answer,) = json.loads(json.dumps(answers))
    return answer


def in_node(code, files=("sampler.js",), **given):
    """Run JavaScript after files of the page; return the argument of answer()."""
    node = shutil.which("node")
    if node is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("the page's sampler needs Node.js, and there is no node")
    source = "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in files)
    program = (
        f"{source}\nconst given = {json.dumps(given)};const answer = (x) => console.log(JSON.stringify(x));\n{code}"
    )
    ran = subprocess.run([node, "--input-type=module", "-"], input=program, capture_output=True, text=True, check=False)
    assert not ran.stderr
    return json.loads(ran.stdout)


# Stored in a notebook


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_stored_as_a_picture_and_a_text_that_stays_and_its_page_is_sent_what_it_asks_for(name):
    view = VIEWS[name]()
    bundle, metadata = view._repr_mimebundle_()
    about = metadata["image/png"]
    assert re.fullmatch(r"[A-Z].{20,}\.", about["alt"])
    assert 500 < about["width"] < 800 and about["height"] < 500 and 9.9 < about["points"] < 13.1  # pixels of a laptop
    asked = {*re.findall(r"""model\.get\(["'](\w+)["']\)""", view._esm)}
    assert {"picture", "alt"} <= asked <= {*view.keys, "address"}  # the last is known to a page without a kernel alone
    assert set(bundle) == {"image/png", "text/plain"} and bundle["text/plain"].split("\n")[0] == name
    assert base64.b64decode(bundle["image/png"], validate=True).startswith(b"\x89PNG")


@pytest.mark.parametrize("name", VIEWS)
def test_no_word_of_a_stored_view_is_struck_or_leaves_the_picture(name, monkeypatch):
    """A mean of two digits may touch the rim of its own disc."""
    figures, asked = [], []
    monkeypatch.setattr(
        "bmlab.widgets.view.png", lambda figure, **more: (figures.append(figure), asked.append(more)) and ("", 0, 0)
    )
    view = VIEWS[name]()
    (figure,) = figures
    assert asked[0]["enlarged"] == view.enlarged and len(asked[0]) == 2  # its words are as large as the page's
    assert [found for found in overlaps(figure) if not re.fullmatch(r"[+−]0\.\d\d", found[0])] == []
    boxes = np.array([text.get_window_extent().get_points() for ax in figure.axes for text in words_of(ax)])
    assert len(boxes) > 3 and boxes.min() > -1 and (boxes.max(axis=(0, 1)) < figure.bbox.max + 1).all()


@pytest.mark.parametrize("home", ["a page", "VS Code", "Colab"])
def test_where_each_output_is_a_frame_the_view_itself_is_sent_and_elsewhere_its_picture_alone(home, monkeypatch):
    namespace = {"__vsc_ipynb_file__": "a.ipynb"} if home == "VS Code" else {}
    monkeypatch.setattr("bmlab.widgets.view.get_ipython", lambda: SimpleNamespace(user_ns=namespace))
    if home == "Colab":
        monkeypatch.setitem(sys.modules, "google.colab", SimpleNamespace())
    view = widgets.MachineView(bmlab.toy())
    live = {key: data for key, data in view._repr_mimebundle_()[0].items() if "widget" in key}
    sent = {"application/vnd.jupyter.widget-view+json": {"version_major": 2, "model_id": view.model_id}}
    assert live == (sent if home != "a page" else {}) and view.model_id


def uncovered(spans, whole):
    """The longest stretch of 0 ... whole that no span (low, high) covers."""
    ends = np.maximum.accumulate([0, *(high for _, high in sorted(spans))])
    return max(np.subtract([*(low for low, _ in sorted(spans)), whole], ends))


@pytest.mark.parametrize("name", [name for name in VIEWS if not name.startswith("explore")])
def test_a_stored_view_is_laid_out_as_its_page_without_blanks_and_nothing_is_stretched(name, monkeypatch):
    figures = []
    monkeypatch.setattr("bmlab.widgets.view.png", lambda figure, **_: figures.append(figure) or ("", 0, 0))
    VIEWS[name]()
    ((wide, tall),) = [figure.bbox.size for figure in figures]
    boxes = [(ax, ax.get_window_extent().extents) for ax in figures[0].axes]
    inside = [
        ax
        for ax, box in boxes
        if any(
            one is not ax and (other[:2] <= box[:2] + 1).all() and (other[2:] >= box[2:] - 1).all()
            for one, other in boxes
        )
    ]
    (_, headline), *drawings, (_, controls) = [(ax, box) for ax, box in boxes if ax not in inside]
    for ax, (left, low, right, high) in drawings:
        scales = np.divide([right - left, high - low], np.abs([np.diff(ax.get_xlim())[0], np.diff(ax.get_ylim())[0]]))
        assert scales[0] == pytest.approx(scales[1]), scales
    across = [(box[0], box[2]) for _, box in drawings]
    assert uncovered(across, wide) <= 20 and all(b[0] > a[1] for a, b in pairwise(across))
    (page,) = [ax for ax, box in boxes if box is controls]
    for button in (patch for patch in page.patches if isinstance(patch, FancyBboxPatch)):
        frame = button.get_window_extent().get_points()
        words = [text.get_window_extent().get_points().mean(axis=0) for text in page.texts if text.get_text()]
        assert np.min(np.abs(np.array(words) - frame.mean(axis=0)).max(axis=1)) < 3  # in the middle of its button
    down = [(box[1], box[3]) for _, box in [*drawings, (0, headline), (0, controls)]]
    assert uncovered(down, tall) <= 8 and controls[3] < min(box[1] for _, box in drawings)
    assert max(box[3] for _, box in drawings) <= headline[1] + 1e-6


def test_two_views_that_look_alike_are_told_apart_in_the_page():
    assert widgets.DrawView().picture != widgets.DrawView().picture


# explore


def test_a_stored_explore_is_one_picture_over_the_strips_of_its_sliders(monkeypatch):
    figures = []
    monkeypatch.setattr("bmlab.widgets.view.png", lambda figure, **_: figures.append(figure) or ("", 0, 0))

    def votes(ax, freeze, Salvador=0.25):
        ax.barh(["a vote with a long name"], [freeze])

    widgets.explore(votes, freeze=[-1, 0, 1], Salvador=(0.0, 1.0, 0.05))
    ((ax, *strips),) = [figure.axes for figure in figures]
    assert [bar.get_width() for bar in ax.patches] == [0] and ax.get_title(loc="left") == "freeze = 0, Salvador = 0.25"
    words = [[text.get_text().strip() for text in strip.texts] for strip in strips]
    assert [sorted(found) for found in words] == [["0", "1", "freeze", "−1"], ["0", "0.25", "1", "Salvador"]]
    assert [strip.lines[-1].get_xdata().tolist() for strip in strips] == [[1], [5]]


@pytest.mark.parametrize("ends", [(1, 4), (0.5, 4), (-1.0, 1), (2, 5, 0.25), (0, 10, 3)])
def test_a_slider_stops_at_whole_numbers_or_in_a_hundred_steps_unless_it_is_told_its_step(ends):
    low, high, step = ends if len(ends) == 3 else (*ends, 1 if ends == (1, 4) else (ends[1] - ends[0]) / 100)
    found = controls.stops("T", ends)
    assert found[0] == low and np.allclose(np.diff(found), step) and high - step + 1e-9 < found[-1] <= high
    assert {type(value) for value in found} == {int if type(low) is type(step) is int else float}
    assert controls.start(lambda T=found[1]: T, "T", found) == 1
    assert controls.start(lambda T: T, "T", found) == controls.start(lambda: 0, "T", found) == len(found) // 2


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9])
def test_of_the_first_slider_both_ends_and_the_middle_are_stored_of_a_second_its_ends_of_others_the_beginning(n):
    values = [*range(n)]
    assert controls.spread(values, 0, 0) == (values if n <= 4 else [0, (n - 1) // 2, n - 1])
    assert controls.spread(values, 1, 0) == sorted({0, n - 1})
    assert controls.spread(values, 2, n - 1) == [n - 1]


def test_the_axes_keep_their_place_from_step_to_step_unless_a_label_would_be_cut(monkeypatch):
    def frame(T, ax):
        ax.set_ylabel("long\n" * max(1, T - 1))
        ax.set_facecolor("red")

    def corners(stop):
        answer = request(view, monkeypatch, stops=[stop], dense=False)
        picture = plt.imread(io.BytesIO(base64.b64decode(answer["png"])))[..., :3]
        assert np.ptp(picture[:, 0], axis=0).max() == 0  # nothing is cut on the left
        return np.argwhere((picture == [1, 0, 0]).all(axis=2))[[0, -1]].tolist()

    view = widgets.explore(frame, T=(1, 6))
    first = corners(0)
    assert corners(1) == first
    wide = corners(5)
    assert wide[0][1] > first[0][1] + 20 and wide == corners(0) == corners(3)


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
    first, second, again = (request(view, monkeypatch, stops=[k], dense=False)["png"] for k in (0, 1, 0))
    assert first == again != second and plt.get_fignums() == before


@pytest.mark.parametrize("dense", [False, True])
def test_a_step_of_a_slider_has_the_pixels_that_its_screen_shows(monkeypatch, dense):
    answer = request(widgets.explore(draw, T=(1, 3)), monkeypatch, stops=[1], dense=dense)
    pixels = plt.imread(io.BytesIO(base64.b64decode(answer["png"])))
    assert pixels.shape[1] == answer["width"] * (1 + dense)


def test_a_step_of_a_slider_is_drawn_on_the_paper_and_in_the_ink_of_all_pictures(monkeypatch):
    def black(T, ax):
        ax.plot([0, T], color="black", linewidth=20)

    answer = request(widgets.explore(black, T=(1, 3)), monkeypatch, stops=[1], dense=False)
    pixels = plt.imread(io.BytesIO(base64.b64decode(answer["png"])))[..., :3].reshape(-1, 3)
    shown = {to_hex(colour) for colour in np.unique(pixels, axis=0)}
    assert {plot.PAPER.lower(), plot.INK.lower()} <= shown and "#000000" not in shown


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

    with warnings.catch_warnings(record=True, action="always") as shown:
        view = widgets.explore(doubtful, T=(1, 3))
        texts = [request(view, monkeypatch, stops=[k], dense=False)["text"] for k in (0, 1, 0)]
    assert texts == [f"T = {T}\nT is high\n" for T in (1, 2, 1)] and not shown
    assert view._repr_mimebundle_()[0]["text/plain"].count("T is high") == 3 and capsys.readouterr() == ("", "")


def test_what_draws_without_a_name_is_called_draw():
    assert repr(widgets.explore(partial(draw, style="dotted"), T=(1, 3))).startswith("explore(draw, T: 1 to 3)")


def test_explore_says_what_went_wrong_in_draw(monkeypatch):
    def frail(T, ax):
        if T == 2:
            raise ValueError("not at 2")

    view = widgets.explore(frail, T=[1, 2, 3, 4, 5])
    assert request(view, monkeypatch, stops=[1], dense=False)["text"] == "ValueError: not at 2"


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


# The other views

KINDS = {name: getattr(widgets, name) for name in widgets.__all__ if name.endswith("View")}
OF_A_MACHINE = [name for name, kind in KINDS.items() if issubclass(kind, ModelView)]


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("view", OF_A_MACHINE)
def test_a_machine_without_weights_and_biases_is_drawn_as_any(view, n):
    getattr(widgets, view)(bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n)))


@pytest.mark.parametrize("view", OF_A_MACHINE)
def test_the_page_is_sent_the_machine_and_its_seed(view):
    model = bmlab.BoltzmannMachine(bmlab.toy().weights, bmlab.toy().biases, 1.7, names=("Ada", "Ben", "Cem"))
    sent = getattr(widgets, view)(model, seed=7)
    assert (sent.weights, sent.biases) == (model.weights.tolist(), model.biases.tolist())
    assert (sent.temperature, sent.seed, tuple(sent.names)) == (1.7, 7, model.names)


REFUSED = {
    "found no step": lambda: widgets.LearningView(iter([])),
    "steps must .* found -1": lambda: widgets.LearningView(climb(), steps=-1),
    r"up to 100 pixels.*found \(2, 8\) for the shape \(2, 2\)": lambda: widgets.DrawView(np.ones((2, 8))),
    r"up to 100 pixels.*found \(4,\) for the shape \(2, 2\)": lambda: widgets.DrawView(np.ones(4)),
    r"shape must be \(height, width\), found 8": lambda: widgets.DrawView(np.ones((2, 8)), shape=8),
    "VisitedView draws Z itself, .* at log Z = 1.5e\\+03; try": lambda: widgets.VisitedView(bmlab.toy().at(0.001)),
    "has 9 pixels, the machines 10 units": lambda: widgets.PaintView(readers(10), np.zeros(10)),
    "name must .* found '3.2'": lambda: widgets.predict("3.2").__enter__(),
} | {
    f"T must .* found {re.escape(repr(control))}; try": lambda control=control: widgets.explore(draw, T=control)
    for control in [3, (4, 1), [], (0, 1, 0.0001), (1, 2, -1), (1, 2, 0), ("a", "b"), (None, 2), (1, 2, None)]
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_a_view_refuses_in_one_sentence(sentence):
    with pytest.raises(ValueError, match=sentence):
        REFUSED[sentence]()


def test_learning_goes_on_where_the_picture_ended(monkeypatch):
    view = widgets.LearningView(islice(climb(), 12), steps=5)
    steps = list(islice(climb(), 12))
    first, last = (request(view, monkeypatch, **{"from": a, "to": b}) for a, b in ((0, 8), (8, 16)))
    assert (first["end"], last["end"]) == ("", "The climb has no more steps.")
    frames = first["frames"] + last["frames"]
    assert np.allclose([f["log_likelihood"] for f in frames], [s.log_likelihood.value for s in steps])
    pairs = np.triu_indices(3, 1)
    assert np.allclose([f["free_pairs"] for f in frames], [s.free.corr[pairs] for s in steps], atol=5e-5)
    assert np.allclose([f["clamped_means"] for f in frames], [s.clamped.mean for s in steps], atol=5e-5)
    assert np.allclose([f["weights"] for f in frames], [s.model.weights[pairs] for s in steps], atol=5e-5)


def test_a_climb_that_has_converged_takes_no_more_steps(monkeypatch):
    view = widgets.LearningView(bmlab.learning_steps(bmlab.toy(), bmlab.states(3), rate=0.5), steps=3)
    answer = request(view, monkeypatch, **{"from": 0, "to": 5000})
    assert answer["end"].startswith("The climb has converged") and len(answer["frames"]) < 500
    assert len(request(view, monkeypatch, **{"from": len(answer["frames"]), "to": 6000})["frames"]) == 0
    before, last = (np.array(frame["weights"]) for frame in answer["frames"][-2:])
    assert abs(last - before).max() < 2e-4  # sent numbers have four digits


def test_a_climb_by_sampling_shows_its_mismatch_and_ends_where_the_page_has_enough(monkeypatch):
    monkeypatch.setattr("bmlab.widgets.learning.MAX_FRAMES", 12)
    sample = partial(bmlab.gibbs, rng=np.random.default_rng(0), n_chains=4, burn_in=5, n_sweeps=5)
    answer = request(widgets.LearningView(climb(infer=sample), steps=2), monkeypatch, **{"from": 0, "to": 99})
    assert len(answer["frames"]) == 12 and answer["end"] == "The view ends after 12 steps."
    assert all(frame["log_likelihood"] is None and frame["mismatch"] > 0 for frame in answer["frames"])


@pytest.mark.parametrize("infer", [bmlab.exact, bmlab.mean_field, bmlab.tap])
def test_a_stored_climb_names_who_says_how_far_its_dreams_are_if_they_may_be_farther(infer, monkeypatch):
    headlines, cold = [], bmlab.medium().at(0.7)
    drawn = plt.figure()
    monkeypatch.setattr("bmlab.widgets.learning.course", lambda _, headline: headlines.append(headline) or drawn)
    steps = list(islice(bmlab.learning_steps(cold, bmlab.states(10)[::37], infer, rate=0.01), 3))
    steps.append(replace(steps[0], optimizer=steps[-1].optimizer))  # the climb has not fallen
    widgets.LearningView(iter(steps), steps=4)
    step, within, named = re.fullmatch(r"Step (\d): dreams within (\d\.\d\d) of the data(.*)", headlines[0]).groups()
    assert int(step) == 3 and 0 <= float(within) - steps[-1].mismatch < 0.0101
    assert named == ("" if infer is bmlab.exact else f", by {steps[-1].free.method}")


def test_the_page_reads_each_number_that_it_is_sent_of_a_step(monkeypatch):
    (frame,) = request(widgets.LearningView(climb(), steps=1), monkeypatch, **{"from": 0, "to": 1})["frames"]
    script = (FOLDER / "learning.js").read_text(encoding="utf-8")
    assert all(re.search(rf"\b{key}\b", script) for key in frame) and len(frame) == 8


def test_a_file_without_kernel_has_the_script_and_the_state_of_its_views_and_no_word_of_them_ends_the_script():
    model = bmlab.BoltzmannMachine([[0, 1], [1, 0]], [0, 0.5], names=("</script>", "b & c"))
    data, metadata = widgets.MachineView(model)._repr_mimebundle_()
    shown = nbformat.v4.new_output("display_data", data, metadata=metadata)
    folded = nbformat.v4.new_output("display_data", {"text/html": '<div class="bmlab-predict">A</div>'})
    cells = [nbformat.v4.new_code_cell("", outputs=[one]) for one in (shown, deepcopy(shown), folded)]
    html = Page().from_notebook_node(nbformat.v4.new_notebook(cells=cells))[0]
    (state, other) = re.findall(r"^const state = (.*), model = \{ get", html, re.MULTILINE)
    assert json.loads(state) == metadata["image/png"]["bmlab"]["state"] == json.loads(other) and "<" not in state
    assert re.findall(r'id="(bmlab-\d)"', html) == ["bmlab-1", "bmlab-2"]
    assert html.count(f'alt="{metadata["image/png"]["alt"]}"') == 2
    assert (FOLDER / "predict.js").read_text(encoding="utf-8") in html and "export default" not in html


def test_pairs_that_a_method_does_not_know_are_left_out(monkeypatch):
    layers = bmlab.restricted(np.full((20, 12), 0.05), np.zeros(20), np.zeros(12))
    data = np.where(np.arange(60) % 7, 1.0, -1.0).reshape(3, 20)
    infer = partial(bmlab.exact, pairs="couplings")
    step = next(bmlab.learning_steps(layers, data, infer, rate=0.1, couplings=layers.weights != 0))
    known = ~np.isnan(step.free.corr[np.triu_indices(32, 1)])
    (frame,) = request(widgets.LearningView(iter([step])), monkeypatch, **{"from": 0, "to": 1})["frames"]
    assert 0 < known.sum() < len(known) and [x is not None for x in frame["free_pairs"]] == known.tolist()


def test_a_correlation_of_exactly_0_is_known(monkeypatch):
    pair = bmlab.BoltzmannMachine(sparse.csr_array([[0, 0.5], [0.5, 0]]), np.zeros(2))
    view = widgets.LearningView(bmlab.learning_steps(pair, np.array([[1.0, 1], [1, -1]]), rate=0.1), steps=1)
    (frame,) = request(view, monkeypatch, **{"from": 0, "to": 1})["frames"]
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


KNOWN = [1, -1, 0, 0, 1, 0, 0]  # and two units that are hidden


@pytest.mark.parametrize("temperature", [1.0, 2.0])
@pytest.mark.parametrize("known", [KNOWN, [0] * 9, [1] * 9], ids=["some", "none", "all"])
def test_the_page_reads_as_python_does(temperature, known):
    machines, log_z = readers(temperature=temperature), np.linspace(0, 1, 10)
    p, means = Readers(machines, log_z).read(known, tolerance=1e-7)
    view = widgets.PaintView(machines, log_z, shape=(1, len(known)))
    sent = {name: np.frombuffer(getattr(view, name), "<f4").tolist() for name in ("weights", "biases")}
    sent["logZ"] = view.log_z
    answer = in_node(READ, files=("reading.js",), machines=sent, known=known, tolerance=1e-7)
    assert np.allclose(answer["p"], p, atol=1e-6) and answer["best"] == p.argmax()
    assert np.allclose(answer["means"], means[:, : len(known)], atol=1e-5)
    assert np.allclose(answer["mean"], p @ means[:, : len(known)], atol=1e-5)


# Predictions


def test_a_prediction_that_fails_hides_nothing():
    shell = InteractiveShell.instance()
    with capture_output() as captured:
        code = 'from bmlab import widgets\nwith widgets.predict("03.2"):\n    print("so far")\n    1 / 0'
        assert isinstance(shell.run_cell(code).error_in_exec, ZeroDivisionError)
    assert captured.stdout.startswith("so far") and not [o for o in captured.outputs if "text/html" in o.data]


@pytest.mark.parametrize("cell", [{"cellId": "a"}, {}])
def test_a_prediction_has_buttons_if_a_page_runs_it_and_is_stored_without_a_script(cell, monkeypatch):
    InteractiveShell.instance()
    monkeypatch.setattr("bmlab.plot.figures.request", lambda: {"metadata": cell})
    with capture_output() as captured, widgets.predict("03.2"):
        print("1 < 2")
    (shown,) = captured.outputs
    html, script = shown.data["text/html"], (FOLDER / "predict.js").read_text(encoding="utf-8")
    assert html.endswith(f"<script>{script}</script>") == bool(cell) and ("<script" in html) == bool(cell)
    assert '<div class="bmlab-predict" data-name="03.2"><details>' in html and "<pre>1 &lt; 2\n</pre>" in html
    assert shown.data["text/plain"] == "1 < 2\n"


# The learner of the page

STEPS = """
let k = 0;
const mind = learner(9, () => given.u[k++], { chains: 5, rate: 0.2, penalty: 0.1 });
const told = () => ({ weights: mind.machine.weights.map((row) => [...row]), biases: [...mind.machine.biases],
    dreams: mind.dreams.map((s) => [...s]) });
const steps = [1, 2, 3].map(() => { mind.step(given.patterns, given.rule); return told(); });
mind.dream(given.rule.T, given.held);
answer([...steps, told()]);
"""
RULES = [{}, {"T": 2.0}, {"shown": 0}, {"dreamt": 0}, {"signs": True}]  # options of draw.js


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_page_learns_by_clamped_minus_free_of_its_chains_and_dreams_around_what_is_held(rule):
    """Same uniforms, same states and weights: the beginning of five chains, three steps, and one more sweep."""
    rng, held = np.random.default_rng(3), np.array([1, 0, 0, 0, -1, 0, 0, 0, 0])
    u, patterns = rng.random((5, 5, 9)), rng.choice([-1, 1], (3, 9))
    drawn = [*u[:4].ravel(), *u[4][:, held == 0].ravel()]
    given = {"patterns": patterns.tolist(), "rule": rule, "held": held.tolist(), "u": drawn}
    *steps, held_back = in_node(STEPS, files=("sampler.js", "learner.js"), **given)
    s, W, b = np.where(u[0] < 0.5, 1, -1), np.zeros((9, 9)), np.zeros(9)
    for uniforms, step in zip(u[1:], steps, strict=False):
        s = bmlab.sweep(bmlab.BoltzmannMachine(W, b, rule.get("T", 1)), s, uniforms)
        halves = [(x.T @ x / len(x), x.mean(axis=0)) for x in (patterns, s)]
        d_weights, d_biases = (
            rule.get("shown", 1) * a - rule.get("dreamt", 1) * z for a, z in zip(*halves, strict=True)
        )
        if "signs" in rule:
            d_weights, d_biases = np.sign(d_weights.round(9)), np.sign(d_biases.round(9))
        W, b = W + 0.2 * (d_weights - 0.1 * W), b + 0.2 * d_biases
        np.fill_diagonal(W, 0)
        assert (step["dreams"] == s).all() and np.allclose(step["weights"], W) and np.allclose(step["biases"], b)
    s, model = np.where(held, held, s), bmlab.BoltzmannMachine(W, b, rule.get("T", 1))
    assert (held_back["dreams"] == bmlab.sweep(model, s, u[4][:, held == 0], units=np.flatnonzero(held == 0))).all()


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


SWEEP = "sweep(given.machine, s, given.T, next)"


@pytest.mark.parametrize("model", [bmlab.toy(), bmlab.medium().at(2.0)], ids=["toy", "medium"])
def test_same_uniforms_same_states(model):
    rng = np.random.default_rng(1)
    s, u = rng.choice([-1.0, 1.0], model.n), rng.random((100, model.n))
    machine = {"weights": model.dense_weights.tolist(), "biases": model.biases.tolist()}
    given = {"s": s.tolist(), "u": u.ravel().tolist(), "sweeps": len(u), "T": model.temperature, "machine": machine}
    for row, uniforms in zip(in_node(REPLAY % SWEEP, **given), u, strict=True):
        s = bmlab.sweep(model, s, uniforms)
        assert (row == s).all()


@pytest.mark.parametrize("draws", [4, 7, 300])
def test_the_page_judges_chains_as_python_does(draws):
    chains = np.random.default_rng(draws).normal(size=(12, draws)) + np.repeat([0, 1], 6)[:, None]
    assert np.isclose(in_node("answer(splitRhat(given.chains))", chains=chains.tolist()), split_rhat(halves(chains)))


def test_the_page_enumerates_as_python_does():
    model, fixed = bmlab.medium().at(1.5), np.array([0, 0, 1, 0, -1, 0, 0, 0, 0, 0])
    machine = {"weights": model.weights.tolist(), "biases": model.biases.tolist()}
    for held in np.zeros(10, int), fixed:
        found = in_node("answer([...enumerate(given.machine, 1.5, given.fixed)])", machine=machine, fixed=held.tolist())
        units = np.flatnonzero(held)
        allowed = (bmlab.states(10)[:, units] == held[units]).all(axis=1)
        assert np.allclose(np.array(found)[allowed], bmlab.probabilities(model.clamp(units, held[units])))
        assert not np.array(found)[~allowed].any()
        kept = "logWeights(given.machine, 1.5).filter((_, k) => isLeft(k, given.fixed))"
        log_z = in_node(f"answer(logSumExp({kept}))", machine=machine, fixed=held.tolist())
        assert np.isclose(log_z, bmlab.exact(model.clamp(units, held[units])).log_z.value)
    numbers = in_node("answer(given.s.map(numberOf))", s=bmlab.states(4).tolist())
    assert numbers == list(range(16))


@pytest.mark.parametrize(
    "model", [bmlab.medium().at(1.5), bmlab.restricted(np.ones((4, 3)), np.zeros(4), np.ones(3))], ids=["all", "rows"]
)
def test_the_page_knows_each_unit_given_those_that_are_held(model):
    """A view begins with some held; then others are, and none."""
    view = widgets.ConditionalView(model)
    machine, held = {"weights": view.weights, "biases": view.biases}, np.array(view.held)
    assert held.any() and not held.all()
    for fixed in (held, -np.roll(held, 1), 0 * held):
        code = "answer(chances(enumerate(given.machine, given.T, given.fixed), given.fixed.length))"
        given = {"machine": machine, "fixed": fixed.tolist(), "T": view.temperature}
        found = in_node(code, files=("sampler.js", "beliefs.js"), **given)
        units = np.flatnonzero(fixed)
        open_units = np.flatnonzero(fixed == 0)
        assert np.allclose(np.array(found)[units], fixed[units] > 0)
        mean = bmlab.exact(model.clamp(units, fixed[units])).mean
        assert np.allclose(np.array(found)[open_units], (1 + mean) / 2)


@pytest.mark.parametrize(
    "model",
    [bmlab.toy(), bmlab.ising(5, periodic=False), bmlab.restricted(np.ones((3, 2)), np.zeros(3), np.zeros(2))],
    ids=["circle", "chain", "rows"],
)
def test_a_live_machine_stands_where_its_stored_picture_has_it(model, monkeypatch):
    figures = []
    monkeypatch.setattr("bmlab.widgets.view.png", lambda figure, **_: figures.append(figure) or ("", 0, 0))
    graph = widgets.MachineView(model).drawn
    ax = figures[0].axes[1]
    spots = [line.get_transform().transform(line.get_xydata()[0]) for line in ax.lines if line.get_marker() == "o"]
    stored = (spots - ax.bbox.min) / ax.bbox.size * [320, 300]
    assert np.allclose(stored * [1, -1] + [0, 300], np.array(graph["units"])[:, :2], atol=0.1)
    assert len(graph["lines"]) == np.count_nonzero(model.dense_weights) / 2
    written = [text for _, _, text, _ in graph["words"]]
    assert len(written) == len({(x, y) for x, y, *_ in graph["words"]}) == len(ax.texts)
    assert [text for text in written if text.startswith("unit")] and ("+0.5" in written) == (model.n == 3)
    assert all(0 <= x <= 320 and 0 <= y <= 300 for x, y, *_ in graph["words"])


@pytest.mark.parametrize(
    ("couplings", "is_tree"),
    [(4, True), pytest.param(2, False, marks=exhaustive), pytest.param(5, False, marks=exhaustive)],
)
def test_a_tree_is_drawn_as_one_and_what_is_none_on_a_circle(couplings, is_tree):
    weights = np.zeros((5, 5))
    for i in range(couplings):
        weights[i, (i + 1) % 5] = weights[(i + 1) % 5, i] = 1
    units = np.array(widgets.MachineView(bmlab.BoltzmannMachine(weights, np.zeros(5))).drawn["units"])[:, :2]
    from_the_middle = np.hypot(*(units - units.mean(axis=0)).T)
    assert (np.ptp(from_the_middle) < 1) != is_tree


def test_neighbours_follow_each_other_round_the_unit_with_most_couplings():
    wheel, rim = np.zeros((9, 9)), [3, 0, 6, 1, 5, 7, 2, 4]
    wheel[rim, np.roll(rim, 1)] = wheel[8, rim] = 1
    view = widgets.MeanFieldView(bmlab.BoltzmannMachine(wheel + wheel.T, np.ones(9)))
    angle = np.arctan2(*(np.array(view.places[:8]) - np.array(view.places[8])).T)
    order = np.argsort(angle)
    assert view.middle == 8 and all(view.weights[i][j] for i, j in zip(order, np.roll(order, 1), strict=True))


def test_a_lattice_of_nine_is_drawn_as_a_square_row_by_row():
    view = widgets.MeanFieldView(bmlab.ising((3, 3), periodic=False, field=0.1))
    across, down = np.reshape(view.places, (3, 3, 2)).transpose(2, 0, 1)
    assert np.ptp(across, axis=0).max() == np.ptp(down, axis=1).max() == 0 and view.middle == 4
    assert (np.diff(across, axis=1) == 86).all() and (np.diff(down, axis=0) == 75).all()


PROPAGATED = """
const told = new Map(), { machine, T, root, rounds } = given;
for (let t = 0; t < rounds; t++) for (const [i, j] of schedule(machine.weights, root))
  told.set(`${i} ${j}`, messageOf(machine, T, told, i, j));
answer(machine.biases.map((_, i) => Math.tanh(heardBy(machine, T, told, i))));
"""


@pytest.mark.parametrize("root", [0, 3])
def test_one_round_of_messages_is_exact_on_a_tree_from_any_root_and_many_find_bethes_means_in_a_loop(root):
    rng = np.random.default_rng(5)
    for periodic, rounds, method in ((False, 1, bmlab.exact), (True, 200, bmlab.bethe)):
        ring = bmlab.ising(6, coupling=0.7, periodic=periodic).dense_weights * rng.choice([-1, 1])
        model = bmlab.BoltzmannMachine(ring, rng.normal(size=6), temperature=1.5)
        machine = {"weights": ring.tolist(), "biases": model.biases.tolist()}
        found = in_node(PROPAGATED, files=("propagation.js",), machine=machine, T=1.5, root=root, rounds=rounds)
        assert np.allclose(found, method(model).mean, atol=1e-4)


SENT = """
const told = new Map(), { machine, T } = given, queue = schedule(machine.weights, 0);
const upwards = queue.slice(0, queue.findIndex(([i]) => i === 0));
for (const [i, j] of upwards) told.set(`${i} ${j}`, messageOf(machine, T, told, i, j));
answer(upwards.map(([i, j]) => [i, j, T * told.get(`${i} ${j}`)]));
"""


@pytest.mark.parametrize("seed", range(3))
def test_the_stored_picture_has_the_messages_that_the_page_sends_first(seed):
    """Of a machine with loops, in the page's order."""
    rng = np.random.default_rng(seed)
    model = bmlab.BoltzmannMachine(bmlab.symmetric(rng.normal(size=(6, 6))), rng.normal(size=6), 1.7)
    sent = {"weights": model.dense_weights.tolist(), "biases": model.biases.tolist()}
    found = in_node(SENT, files=("propagation.js",), machine=sent, T=1.7)
    told = towards_root(model)
    assert [(i, j) for i, j, _ in found] == list(told)
    assert np.allclose([u for *_, u in found], list(told.values()))


def test_a_disc_is_filled_to_the_height_of_its_probability():
    """The chord of its path, in the measure that the stored picture has too."""
    paths = in_node("answer([RADIUS, ...given.p.map(filled)])", files=("beliefs.js",), p=[0.1, 0.5, 0.8])
    chords = [[float(x) for x in re.match(r"M(\S+) (\S+)A", path).groups()] for path in paths[1:]]
    assert paths[0] == RADIUS and np.allclose(np.hypot(*np.array(chords).T), RADIUS)
    assert np.allclose([y for _, y in chords], RADIUS * (1 - 2 * np.array([0.1, 0.5, 0.8])))


def test_without_anywidget_a_notebook_goes_on_with_still_pictures():
    """One sentence that names the package to install; the views are the pictures that a notebook stores."""
    code = """if True:
        import sys
        sys.modules.update(dict.fromkeys(["anywidget", "numba", "tqdm"]))
        import bmlab
        from bmlab import widgets
        views = [widgets.MachineView(bmlab.toy()), widgets.DrawView(), widgets.StatesView(bmlab.toy())]
        views += [widgets.explore(lambda T, ax: None, T=(1, 2))]
        views += [widgets.LearningView(bmlab.learning_steps(bmlab.toy(), bmlab.states(3), rate=0.1))]
        print([sorted(view._repr_mimebundle_()[0]) for view in views])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.count("image/png") == 5, done.stderr
    assert re.findall("pip install .*", done.stderr)[:2] == ["pip install anywidget", "pip install numba tqdm"]


MISSING = """if True:
    import ast, json, sys, warnings
    from pathlib import Path

    sys.modules[sys.argv[1]] = None
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
        pytest.param("numba", set(), marks=exhaustive),
        pytest.param("tqdm", set(), marks=exhaustive),
        pytest.param("sklearn", {"09_handwritten_digits"}, marks=exhaustive),
        ("pandas", {"04_mean_field", "06_your_own_data"}),
    ],
)
def test_where_a_package_is_missing_one_sentence_says_what_to_install(package, stops):
    """All imports of each notebook, its scripts' included: it goes on, or stops with such a sentence too."""
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
    for name, error, printed in found:
        (sentence,) = printed
        assert sentence.endswith(f"pip install {package.replace('sklearn', 'scikit-learn')}"), name
        assert not error or package in error, (name, error)
        if package != "pandas":  # which 06 imports as all do, below the sentence
            assert not error or "pip install" in error, (name, error)
