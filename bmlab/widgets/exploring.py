"""Sliders for a plain function that draws: explore(draw, T=(0.2, 4, 0.1))."""

from __future__ import annotations

import inspect
import io
import re
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from itertools import product
from textwrap import wrap
from typing import Any

import traitlets
from matplotlib.figure import Figure

from .. import plot
from ..checking.calls import show_call
from ..plot.style import minus
from . import controls as control
from .pictures import Easel
from .view import View, script

SIZE = 5.2, 3.8  # of the figure that a slider draws, inches: words of ten points are read on a telephone, too


@show_call()
def explore(draw: Callable, /, **controls: tuple | list) -> Explorer:
    """Call draw(ax=..., T=...) again as sliders move; if there is no kernel, show it at their starts.

    controls   name=(low, high), (low, high, step) or a list of values; it starts at draw's default, or in the middle
    Printed lines and warnings of draw stand under its figure; a stored text has them for several values.  If it
    prints "T = 2", the number can be dragged, too.
    The first line of draw's docstring describes the figure to those who cannot see it.
    Let draw set the limits of its axes, or they jump; and make each rng inside draw, or its numbers depend on how often
    a slider was moved.
    Raises ValueError for a control that is neither.

    >>> from bmlab.widgets import explore
    >>> def draw(ax, T=1.0):
    ...     ax.plot([0, 1], [0, np.tanh(1 / T)])
    >>> explore(draw, T=(0.5, 2.0, 0.5))
    explore(draw, T: 0.5 to 2)
    """
    return Explorer(draw, {name: control.stops(name, values) for name, values in controls.items()})


class Explorer(View):
    """A function that draws, and the stops of its sliders."""

    enlarged = 1
    _esm = script("explore.js")
    controls = traitlets.List().tag(sync=True)

    def __init__(self, draw, stops):
        self._draw, self._stops, self._easel = draw, stops, Easel(*SIZE)
        starts = {name: control.start(draw, name, values) for name, values in stops.items()}
        figure, self._texts = self._still(starts)
        drawn = (inspect.getdoc(draw) or "A figure.").splitlines()[0]
        super().__init__(
            figure,
            alt=f"{drawn} Drawn again and again: {repr(self)[8:-1].partition(', ')[2] or 'no controls'}.",
            controls=[
                {"name": name, "labels": [control.text(v) for v in values], "start": starts[name]}
                for name, values in stops.items()
            ],
        )
        self.on_msg(lambda _, content, __: self.send(self._answer(content["stops"], content["dense"])))

    def __repr__(self):
        ranges = [f"{k}: {control.text(v[0])} to {control.text(v[-1])}" for k, v in self._stops.items()]
        return f"explore({', '.join([getattr(self._draw, '__name__', 'draw'), *ranges])})"

    def _repr_mimebundle_(self, **_):
        data, metadata = super()._repr_mimebundle_()
        return data | {"text/plain": "\n".join([repr(self), *self._texts])}, metadata

    def _still(self, starts):
        """Draw the start of the sliders, and each slider as a strip below; and return the texts of several values."""
        values = [values[starts[name]] for name, values in self._stops.items()]
        figure = Figure(figsize=(SIZE[0], SIZE[1] + 0.35 * len(values)), layout="constrained")
        ax, *strips = figure.subplots(1 + len(values), height_ratios=[10] + [1] * len(values), squeeze=False)[:, 0]
        text = self._panel(ax, values)
        words = minus(re.sub(" {2,}", ", ", text.strip()))  # columns of a print
        ax.set_xlabel("\n".join([ax.get_xlabel(), *wrap(words, 70)]).strip(), linespacing=1.5)
        for strip, (name, stops) in zip(strips, self._stops.items(), strict=True):
            places = range(len(stops)) if len(stops) <= 12 else (0, len(stops) - 1)
            strip.plot([0, len(stops) - 1], [0, 0], color=plot.FAINT, linewidth=3, solid_capstyle="round")
            strip.plot(list(places), [0] * len(places), "o", color=plot.FAINT, markersize=6)
            strip.plot(starts[name], 0, "o", color=plot.PLUS, markersize=10)
            for k in {*places, starts[name]}:
                style: Any = {"fontweight": "bold", "color": plot.PLUS} if k == starts[name] else {}
                near = k in places and 0 < abs(k - starts[name]) < 0.075 * len(stops)  # the two would touch
                label = "" if near else control.text(stops[k])
                strip.annotate(label, (k, 0), (0, -7), textcoords="offset points", ha="center", va="top", **style)
            strip.annotate(f"{name}  ", (0, 0), (-12, 0), textcoords="offset points", ha="right", va="center")
            strip.set_axis_off()
            strip.set(ylim=(-1, 0.5))
        shown = [control.spread(stops, k, starts[name]) for k, (name, stops) in enumerate(self._stops.items())]
        texts = [self._panel(Figure().subplots(), chosen).strip() for chosen in product(*shown)]
        return figure, [text for text in texts if text]

    def _panel(self, ax, values):
        """Let draw() draw, and name the values if it has no title; return its printed lines and warnings."""
        named = dict(zip(self._stops, values, strict=True))
        with redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings(record=True) as given:
            self._draw(ax=ax, **named)
        if not ax.get_title() and not ax.get_title(loc="left"):
            title = ", ".join(f"{name} = {control.text(value)}" for name, value in named.items())
            ax.set_title(title if len(title) < 50 else title.replace(", ", ",\n"), fontsize=10)
        return printed.getvalue() + "".join(f"{warning.message}\n" for warning in given)

    def _answer(self, places, dense=False):
        """Return the figure and the words for one place of each slider; an error is words too."""
        ax = self._easel.axes()
        try:
            text = self._panel(ax, [values[k] for values, k in zip(self._stops.values(), places, strict=True)])
        except Exception as error:  # whatever the student's draw raises
            text = f"{type(error).__name__}: {error}"
        picture = self._easel.picture(200 if dense else 100)
        return {"stops": places, "dense": dense, "png": picture, "width": round(100 * SIZE[0]), "text": text}
