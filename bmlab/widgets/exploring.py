"""Sliders for a plain function that draws: explore(draw, T=(0.2, 4, 0.1))."""

import inspect
import io
from collections.abc import Callable
from contextlib import redirect_stdout
from itertools import product

import traitlets

from . import controls as control
from .pictures import png, subplots
from .view import View, script


def explore(draw: Callable, /, **controls: tuple | list) -> "Explorer":
    """Call draw(ax=..., T=...) again as sliders move; where there is no kernel, show it at several values side by side.

    controls   name=(low, high), (low, high, step) or a list of values; it starts at draw's default, or in the middle
    What draw prints at those several values is the output of the cell; what it prints later stands under the figure.
    The first line of draw's docstring says what it draws to those who cannot see it.
    Let draw set the limits of its axes, or they jump; and make each rng inside draw, or its numbers depend on how often
    a slider was moved.
    Raises ValueError for a control that is neither.
    """
    return Explorer(draw, {name: control.stops(name, values) for name, values in controls.items()})


class Explorer(View):
    """Hold a function that draws, and the stops of its sliders."""

    _esm = script("explore.js")
    controls = traitlets.List().tag(sync=True)

    def __init__(self, draw, stops):
        self._draw, self._stops = draw, stops
        starts = {name: control.start(draw, name, values) for name, values in stops.items()}
        controls = [
            {"name": name, "labels": [control.text(v) for v in values], "start": starts[name]}
            for name, values in stops.items()
        ]
        super().__init__(self._multiples(starts), controls=controls)
        drawn = (inspect.getdoc(draw) or "A figure.").splitlines()[0]
        self.alt = f"{drawn} Drawn again and again: {repr(self)[8:-1].partition(', ')[2] or 'no controls'}."
        self.on_msg(lambda _, content, __: self.send(self._answer(content["stops"])))

    def __repr__(self):
        ranges = [f"{k}: {control.text(v[0])} to {control.text(v[-1])}" for k, v in self._stops.items()]
        return f"explore({', '.join([getattr(self._draw, '__name__', 'draw'), *ranges])})"

    def _multiples(self, starts):
        """Draw the first control from left to right, the second from top to bottom, the others where they start."""
        shown = [control.spread(values, k, starts[name]) for k, (name, values) in enumerate(self._stops.items())]
        columns, rows = len(shown[0]) if shown else 1, len(shown[1]) if shown[1:] else 1
        figure, axes = subplots(rows, columns, 9 if columns > 1 else 6, 3.2 * rows)
        for ax, values in zip(axes.T.flat, product(*shown), strict=True):
            self._panel(ax, values)
        return figure

    def _panel(self, ax, values):
        named = dict(zip(self._stops, values, strict=True))
        self._draw(ax=ax, **named)
        if not ax.get_title():
            ax.set_title(", ".join(f"{name} = {control.text(value)}" for name, value in named.items()), fontsize=10)

    def _answer(self, places):
        """Return the figure and the words for one place of each slider; an error is words too."""
        figure, axes = subplots(1, 1, 6.4, 3.8)
        with redirect_stdout(io.StringIO()) as printed:
            try:
                self._panel(axes[0, 0], [values[k] for values, k in zip(self._stops.values(), places, strict=True)])
            except Exception as error:  # whatever the student's draw raises
                printed.write(f"{type(error).__name__}: {error}")
        return {"stops": places, "png": png(figure), "text": printed.getvalue()}
