"""The Ising model on a square lattice, live: Gibbs sweeps, clusters, temperature and field (LatticeView)."""

from __future__ import annotations

import traitlets

from ..checking.validation import check_count, check_number, check_positive
from .pictures import snapshots
from .view import View, script


class LatticeView(View):
    """Run ising((size, size)) in the page, 60 frames a second, with sliders for the temperature and the field.

    size           units along a side, even, 2 to 512
    temperature    where it starts, 1 to 4 as its slider; the field from -0.5 to 0.5
    Traces of the energy and the magnetisation stand against the exact values of the infinite lattice, and the critical
    temperature is marked.  Draw on the lattice to turn units up or down; quench it,
    heat it, or take it round a loop of the field.  Raises ValueError for what is none of these.

    >>> from bmlab.widgets import LatticeView
    >>> LatticeView(32, temperature=2.3)
    LatticeView(32, temperature=2.3, field=0)
    """

    alone = True
    _esm = script("sampler.js", "clusters.js", "lattice.js")
    alt = traitlets.Unicode(
        "A lattice machine below, at and above its critical temperature: islands of units grow as it gets colder."
    ).tag(sync=True)
    size = traitlets.Int().tag(sync=True)
    seed = traitlets.Int().tag(sync=True)
    temperature = traitlets.Float().tag(sync=True)
    field = traitlets.Float().tag(sync=True)

    def __init__(self, size: int = 128, *, temperature: float = 2.5, field: float = 0.0, seed: int = 0):
        size = check_count("size", size, 2, 512)
        seed = check_count("seed", seed, 0)
        temperature = check_positive("temperature", temperature)
        field = check_number("field", field, 0.0)
        if size % 2:
            raise ValueError(
                f"size must be even, or the checkerboard does not close on the torus, found {size}; try {size + 1}"
            )
        if not (1 <= temperature <= 4 and abs(field) <= 0.5):
            raise ValueError(
                "temperature must be 1 to 4 and field -0.5 to 0.5, as their sliders, "
                f"found {temperature:g} and {field:g}; try temperature=2.5, field=0"
            )
        super().__init__(
            snapshots(size, field, temperature, seed), size=size, temperature=temperature, field=field, seed=seed
        )

    def __repr__(self):
        return f"LatticeView({self.size}, temperature={self.temperature:g}, field={self.field:g})"
