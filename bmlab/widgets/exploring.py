"""Sliders for a plain function that draws: explore(draw, T=(0.2, 4, 0.1))."""

import inspect
import io
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from itertools import product
from textwrap import wrap

import traitlets

from . import controls as control
from .pictures import Easel, subplots
from .view import View, script

SIZE = 6.4, 3.8  # of the figure that a slider draws, inches


def explore(draw: Callable, /, **controls: tuple | list) -> "Explorer":
    """Call draw(ax=..., T=...) again as sliders move; where there is no kernel, show it at several values side by side.

    controls   name=(low, high), (low, high, step) or a list of values; it starts at draw's default, or in the middle
    What draw prints, and what it warns of, stands under its figure, and beside each of those several.
    The first line of draw's docstring says what it draws to those who cannot see it.
    Let draw set the limits of its axes, or they jump; and make each rng inside draw, or its numbers depend on how often
    a slider was moved.
    Raises ValueError for a control that is neither.

    >>> from bmlab.widgets import explore
    >>> def draw(T=1.0, ax=None):
    ...     ax.plot([0, 1], [0, np.tanh(1 / T)])
    >>> explore(draw, T=(0.5, 2.0, 0.5))
    explore(draw, T: 0.5 to 2)
    """
    return Explorer(draw, {name: control.stops(name, values) for name, values in controls.items()})


class Explorer(View):
    """Hold a function that draws, and the stops of its sliders."""

    _esm = script("explore.js")
    controls = traitlets.List().tag(sync=True)

    def __init__(self, draw, stops):
        self._draw, self._stops, self._easel = draw, stops, Easel(*SIZE)
        starts = {name: control.start(draw, name, values) for name, values in stops.items()}
        figure, self._words = self._multiples(starts)
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
        return data | {"text/plain": "\n".join([repr(self), *self._words])}, metadata

    def _multiples(self, starts):
        """Draw the first control from left to right, the second from top to bottom, the others where they start."""
        shown = [control.spread(values, k, starts[name]) for k, (name, values) in enumerate(self._stops.items())]
        columns, rows = len(shown[0]) if shown else 1, len(shown[1]) if shown[1:] else 1
        figure, axes = subplots(rows, columns, 9 if columns > 1 else 6, 3.2 * rows)
        letters, panels = 80 // columns, zip(axes.T.flat, product(*shown), strict=True)
        words = [self._panel(ax, values, letters).strip() for ax, values in panels]
        for ax, said in zip(axes.T.flat, words, strict=True):
            ax.set_xlabel("\n".join([ax.get_xlabel(), *wrap(said, letters)]).strip())
        return figure, [said for said in words if said]

    def _panel(self, ax, values, letters=80):
        """Let draw() draw, with a title at most so many letters wide; return what it prints, and warns of."""
        named = dict(zip(self._stops, values, strict=True))
        with redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings(record=True) as given:
            self._draw(ax=ax, **named)
        if not ax.get_title():
            words = ", ".join(f"{name} = {control.text(value)}" for name, value in named.items())
            words = words if len(words) < 0.85 * letters else words.replace(", ", ",\n")
            ax.set_title(words, fontsize=10, y=1.0)  # y: or a sixth of the time goes into looking for its place
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
