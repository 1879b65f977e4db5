"""What a notebook is given to show, to the letter: tables of machines and answers, predictions, states of views.

`python tests/test_shown.py` writes shown.txt after one of them was given other looks: the difference shows what a
reader sees now.  Pictures are left out, and how large they are: fonts have a say (layouts.json has where things stand).
"""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bmlab

pytest.importorskip("anywidget")
from IPython.utils.capture import RichOutput
from scipy.sparse import csr_array
from selection import exhaustive, one_of
from test_widgets import VIEWS

from bmlab import widgets
from bmlab.widgets import predicting
from bmlab.widgets.view import View

STORED = Path(__file__).with_name("shown.txt")
WEIGHTS = np.array([[0, 0.5, -2.0], [0.5, 0, 0], [-2.0, 0, 0]])
SMALL = bmlab.BoltzmannMachine(WEIGHTS, [0.25, -1234.5, 0], 2.5, names=["<a>", "b & c", "$d$"])


def chain(n):
    """Units in a row, the couplings as strong as the places say and of both signs."""
    weights = np.diag(0.1 * np.arange(1, n) * (-1) ** np.arange(n - 1), 1)
    return bmlab.BoltzmannMachine(weights + weights.T, 0.01 * np.arange(n))


def answer(model, **other):
    """An answer of which all numbers are given."""
    mean = 0.07 * (np.arange(model.n) - model.n // 2)
    about = {"mean": mean, "info": {}, "log_z": bmlab.Bounded(2.5, 0.13), "method": "own", "message": "As <told>."}
    return replace(bmlab.exact(bmlab.BoltzmannMachine(np.zeros((model.n,) * 2), np.zeros(model.n))), **about | other)


def climb(values):
    """A fit whose steps have these log-likelihoods."""
    found = bmlab.fit(bmlab.toy(), bmlab.states(3), steps=len(values), rate=0.1)
    steps = []
    for step, x in zip(found.steps, values, strict=True):
        log_z = bmlab.Bounded(step.free.log_z.value + step.log_likelihood.value - x)
        steps.append(replace(step, free=replace(step.free, log_z=log_z)))
    return replace(found, steps=tuple(steps), message="It climbs.", model=SMALL)


INFO = {"sweeps": 12345, "rhat": 1.0137, "sure": True, "words": "none", "share": np.float64(0.00012)}
PICTURE = {"image/png": "cGljdHVyZQ==\n", "text/plain": "a <picture>"}
OUTPUTS = [
    RichOutput(PICTURE, {"image/png": {"alt": 'A "line" <rises>', "width": 300, "points": 9.5}}),
    RichOutput(PICTURE),
    RichOutput({"text/html": "<table></table>", "text/plain": "a table"}),
    RichOutput({"text/plain": "1 < 2"}),
]


def predicted(name, printed, outputs):
    captured: Any = SimpleNamespace(stdout=printed, outputs=outputs)
    return predicting._folded(name, captured)


def of_view(view):
    """What is stored of a view beside its picture.

    What answers messages of its page, or is sent bytes, cannot come to life in a file; all others do.
    """
    asks = bool(view._msg_callbacks.callbacks) or any(isinstance(one, bytes) for one in view.get_state().values())
    assert isinstance(view, View) and view.needs_no_kernel != asks
    data, about = view._repr_mimebundle_()
    words = {key: value for key, value in about["image/png"].items() if key not in ("width", "height", "points")}
    state = words.pop("bmlab", {"state": {}})
    names = {key: type(value).__name__ for key, value in state["state"].items()}
    home = state.get("view", "asks its kernel")
    return f"{data['text/plain']}\n{sorted(data)} {words} {home} {names}"


SHOWN = {
    "a machine": lambda: SMALL._repr_html_(),
    "a sparse machine": lambda: bmlab.BoltzmannMachine(csr_array(WEIGHTS), SMALL.biases)._repr_html_(),
    "a machine of 21": lambda: chain(21)._repr_html_(),
    "a machine of 5 without weights": lambda: bmlab.BoltzmannMachine(np.zeros((5, 5)), np.zeros(5))._repr_html_(),
    "an answer": lambda: answer(SMALL)._repr_html_(),
    "an answer with errors": lambda: answer(SMALL, mean_stderr=np.array([0.01, 0, 0.5]), info=INFO)._repr_html_(),
    "an answer in doubt": lambda: answer(SMALL, converged=False)._repr_html_(),
    "an answer about 21": lambda: answer(chain(21))._repr_html_(),
    "a climb": lambda: climb([-3.0, -2.5, np.nan, -1.0, -1.5])._repr_html_(),
    "a climb of one step": lambda: climb([-3.0])._repr_html_(),
    "a level climb": lambda: climb([-3.0, -3.0 + 1e-14])._repr_html_(),
    "a prediction": lambda: predicted("03.2", "1 < 2\n", OUTPUTS),
    "a prediction without words": lambda: predicted("03.2", "", OUTPUTS[2:3]),
} | {name: lambda make=make: of_view(make()) for name, make in VIEWS.items()}


def shown(name):
    """What is shown, a tag a line."""
    return re.sub(r"(?<=>)(?=<(?:tr|div|table|svg|details|img|pre))", "\n", SHOWN[name]()).strip()


@pytest.mark.parametrize("name", one_of(SHOWN, lambda name: name in VIEWS or name))
def test_what_is_shown_is_what_it_was(name):
    stored = STORED.read_text(encoding="utf-8").split("=== ")
    (before,) = [part for part in stored if part.startswith(f"{name}\n")]
    assert shown(name).splitlines() == before.removeprefix(f"{name}\n").strip().splitlines()


@pytest.mark.parametrize("n", [20, 21])
def test_of_more_than_20_units_the_first_and_the_strongest_couplings_are_shown(n):
    assert ("the strongest 10 of" in chain(n)._repr_html_()) == (n > 20)
    assert (f"The first 20 of {n} means are shown." in answer(chain(n))._repr_html_()) == (n > 20)


MOST = {"ChainsView": 25, "ConditionalView": 10, "MachineView": 10, "MeanFieldView": 10, "MessageView": 10}
MOST |= {"StatesView": 10, "UpdateView": 4, "VisitedView": 4}


@exhaustive
@pytest.mark.parametrize("view", MOST)
def test_a_view_shows_as_many_units_as_it_says(view):
    make, most = getattr(widgets, view), MOST[view]
    make(chain(most) if view != "VisitedView" else chain(most).at(5))
    for n in (0, most + 1):
        words = f"{view} shows from 1 up to {most} units, found {n}; try bmlab.toy()"
        with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
            make(bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n)))


if __name__ == "__main__":
    STORED.write_text("\n\n".join(f"=== {name}\n{shown(name)}" for name in SHOWN) + "\n", encoding="utf-8")
