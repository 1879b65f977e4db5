"""Pattern completion and classification, live: machines complete and name a drawing (PaintView)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import traitlets

from ..checking.calls import show_call
from ..checking.validation import ArrayLike, check_row, describe
from ..model import BoltzmannMachine, check_model
from ..plot.sheets import sides
from .pictures import completed
from .reading import Readers
from .view import View, script


class PaintView(View):
    """Draw with pointer or keys; the machines complete the drawing and name it as you draw.

    machines   one a class; log_z   their log Z, or a bound on each by the same method
    names      of the classes; None: 0, 1, ...
    shape      (height, width) of the image, its pixels the first units; None: a square of all units
    start      (pixels,) of -1/+1, and 0 if unknown: what is on the paper at first
    Raises ValueError if these do not fit together.

    >>> from bmlab.widgets import PaintView
    >>> machines = [bmlab.hopfield([1, 1, -1, -1]), bmlab.hopfield([1, -1, 1, -1])]
    >>> PaintView(machines, [bmlab.exact(machine).log_z for machine in machines], names=["rows", "columns"])
    PaintView(2 machines, 2 x 2)
    """

    _esm = script("reading.js", "pad.js", "paint.js")
    alt = traitlets.Unicode(
        "What is known of an image, what the machines expect in the rest of it, and the probability of each class."
    ).tag(sync=True)
    shape = traitlets.List().tag(sync=True)
    names = traitlets.List().tag(sync=True)
    start = traitlets.List().tag(sync=True)
    weights = traitlets.Bytes().tag(sync=True)  # over T, of all classes, as float32
    biases = traitlets.Bytes().tag(sync=True)
    log_z = traitlets.List().tag(sync=True)

    @show_call()
    def __init__(
        self,
        machines: Sequence[BoltzmannMachine],
        log_z: Sequence[float],
        *,
        names: Iterable[object] | None = None,
        shape: tuple[int, int] | None = None,
        start: ArrayLike | None = None,
    ):
        height, width = _checked_shape(machines, log_z, shape, start)
        names = range(len(machines)) if names is None else names
        called = [str(name) for name in names] if np.iterable(names) else []
        if len(called) != len(machines):
            raise ValueError(
                f"names must be {len(machines)}, one a machine, found {len(called)}; leave them out for 0, 1, ..."
            )
        start = np.zeros(height * width) if start is None else np.asarray(start)
        readers = Readers(machines, log_z)
        p, means = readers.read(start)
        super().__init__(
            completed(start, p @ means[:, : len(start)], p, (height, width), called),
            shape=[height, width],
            names=called,
            start=start.astype(int).tolist(),
            weights=readers.weights.astype("<f4").tobytes(),
            biases=readers.biases.astype("<f4").tobytes(),
            log_z=readers.log_z.tolist(),
        )

    def __repr__(self):
        return f"PaintView({len(self.names)} machines, {self.shape[0]} x {self.shape[1]})"


def _checked_shape(machines, log_z, shape, start):
    """Return the shape of the image, with all units if none is given."""
    if not isinstance(machines, (list, tuple)) or not machines:
        raise ValueError(f"machines must be a list, one a class, found {describe(machines)}; pass [machine, machine]")
    for machine in machines:
        check_model(machine)
    n, log_z = machines[0].n, check_row("log_z", log_z)
    if any(machine.n != n for machine in machines):
        raise ValueError(f"machines must all have {n} units, found others; learn them from images of one size")
    height, width = sides(shape, n)
    pixels = height * width
    if pixels > n or (shape is None and pixels < n):
        raise ValueError(
            f"an image of {height, width} has {pixels} pixels, the machines {n} units; pass shape=(rows, columns)"
        )
    if start is not None and not np.isin(check_row("start", start, pixels), (-1, 0, 1)).all():
        raise ValueError("start must be -1/+1, and 0 if unknown, found others; try np.sign(start)")
    if len(log_z) != len(machines):
        raise ValueError(
            f"PaintView needs one log Z a machine, found {len(log_z)} for {len(machines)}; "
            "try [mean_field(m).log_z.lower for m in machines]"
        )
    return height, width
