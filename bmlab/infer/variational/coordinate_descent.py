"""Coordinate descent on a free energy of the means, from several starts side by side, with Newton steps.

    min_m G(m) ~ -log Z - offset/T,      at means m_i = <s_i>

The G of mean field and of Thouless, Anderson and Palmer is convex in each single m_i.  So each update can minimise G
over one unit given the others, and G never rises; if coupled units were updated at once, they might oscillate without
end.  If sweeps converge slowly, a Newton step is tried, and taken if G falls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy

from ...checking.arrays import TIE_ROUNDING, align_columns, oriented, smallest_first
from ...checking.validation import ArrayLike, check_count, check_positive
from ...estimate import Bounded, Estimate, as_corr
from ...model import BoltzmannMachine, field_of, with_offset
from ...running.compiling import has_numba, import_once, numba_is_here, rented
from ...running.progress_bars import counting_bar
from .linear_response import linear_response, positive_solver

SAME_FIXED_POINT = 1e-6  # means that differ by less are the same fixed point
DENSE_EIGEN_UNITS = 300  # units up to which all eigenvectors are found at once
FREE_ENERGY_ROUNDING = 1e-14  # relative rounding of G
FAILURE_ADVICE = "use bethe() or gibbs()"  # if an approximation has failed
NEWTON_PATIENCE = 6  # sweeps between trials of a Newton step after one that did not help
COMPILED_PATIENCE = 60  # the same if sweeps are compiled, or soon will be; 20 to 200 of them take the time of a step
CLASS_SECONDS, ECHO_SECONDS = 5e-6, 2.5e-5  # of NumPy for a class of units in a sweep, and with TAP's echo


class Functional(NamedTuple):
    """The free energy of one machine as a function of its means, in units of T and without the machine's offset.

    name               name of the public function
    is_bound           whether G(m) >= -log Z for every m
    reacts             whether the update includes TAP's echo
    value              m (n,) -> G(m)
    coordinate_update  fields/T (k, starts), units (k,), m (n, starts) -> means that minimise G, given the others
    curvature          m (n,) -> (diagonal, off_diagonal), see linear_response.py
    """

    name: str
    is_bound: bool
    reacts: bool
    value: Callable
    coordinate_update: Callable
    curvature: Callable


class Descent(NamedTuple):
    """Distinct fixed points (k, n) with their G (k,), lowest first, and how the search ended."""

    means: np.ndarray
    values: np.ndarray
    moved: float
    sweeps: int
    converged: bool


def solution(model: BoltzmannMachine, functional: Functional, descent: Descent) -> Estimate:
    """Return the lowest fixed point as an Estimate, with linear response."""
    m, free = descent.means[0], -with_offset(model, -descent.values)
    response = linear_response(model, m, *functional.curvature(m))
    fault = response.doubt
    doubt = (
        "the bound on log Z holds, the means may not"
        if functional.is_bound
        else "neither its means nor log Z are final"
    )
    return Estimate(
        m,
        as_corr(model, response.pairs),
        Bounded(-free[0], lower=-free[0] if functional.is_bound else -np.inf),
        method=functional.name.replace("_", " "),
        converged=descent.converged and not fault,
        message=stopping_message(
            functional.name,
            descent,
            fault,
            f"{doubt}. Raise max_sweeps, or start= nearer",
            "leave it with starts=5" if not response.stable else FAILURE_ADVICE,
        ),
        state=m,
        model=model,
        info={
            "sweeps": descent.sweeps,
            "stable": response.stable,
            "inconsistency": response.inconsistency,
            "fixed points": descent.means,
            "free energies": model.temperature * free,
        },
    )


def stopping_message(name: str, end: Any, fault: str, doubt: str, way_out: str) -> str:
    """Return a sentence on why a search for a fixed point stopped, with advice if it failed."""
    if not end.converged:
        return f"{name}() still moved by {end.moved:.2g} after {end.sweeps} sweeps; {doubt}."
    if fault:
        return f"{name}() {fault}; {way_out}."
    return f"{name}() stands at a minimum of its free energy; sweep {end.sweeps} moved it by {end.moved:.2g}."


def descend(
    model: BoltzmannMachine,
    functional: Functional,
    start: ArrayLike | None = None,
    starts: int = 1,
    tolerance: float = 1e-12,
    max_sweeps: int = 2000,
) -> Descent:
    """Minimise G from several starts until a sweep moves no mean by more than `tolerance`; arguments: mean_field().

    Raises ValueError if starts or max_sweeps is below 1, and if `start` does not fit the machine.
    """
    max_sweeps = check_count("max_sweeps", max_sweeps)
    tolerance = check_positive("tolerance", tolerance, 1e-12, zero=True)
    m, (sweep_until, patience) = first_means(model, start, starts), _sweeper(model, functional)
    last, moved, sweeps, due, bar = np.inf, np.inf, 0, patience, counting_bar("round")
    while sweeps < max_sweeps:
        next(bar)
        moved, done = sweep_until(m, tolerance, min(due, max_sweeps) - sweeps)
        sweeps += done
        if moved <= tolerance:
            break
        if sweeps == due:
            m = np.column_stack([_newton(model, functional, column) for column in m.T])
            last, due = moved, sweeps + (1 if moved < last / 10 else patience)
    return _fixed_points(functional, m, moved, sweeps, moved <= tolerance)


def _sweeper(model, functional):
    """Return sweep_until(m, tolerance, most) and the number of sweeps before a Newton step; NumPy makes one sweep."""

    def in_numpy():
        rows = rows_by_class(model)
        return lambda m, *_: (sweep_down(m, functional.coordinate_update, rows), 1)

    def in_loops():
        return import_once(".compiled_loops", __package__).sweeper(model, functional.reacts)

    if model.is_sparse:
        has_numba()  # loads it, as the response of a sparse machine does in any case
    seconds = len(model.colours) * (ECHO_SECONDS if functional.reacts else CLASS_SECONDS)
    return rented(in_numpy, in_loops, seconds), COMPILED_PATIENCE if numba_is_here() else NEWTON_PATIENCE


def rows_by_class(model: BoltzmannMachine) -> list[tuple]:
    """Return (units, their rows of W/T, their b/T) for each class of units that are not coupled to each other."""
    j, local_field = model.weights / model.temperature, model.biases[:, None] / model.temperature
    classes = [units if len(units) > 1 else slice(units[0], units[0] + 1) for units in model.colours]
    return [(units, j[units], local_field[units]) for units in classes]


def sweep_down(m: np.ndarray, update: Callable, rows: list) -> float:
    """Move every mean to the minimum of G given the others, in place, class after class; return the largest move."""
    before = m.copy()
    for units, j, local_field in rows:
        m[units] = update(j @ m + local_field, units, m)
    return float(np.abs(m - before).max(initial=0))


def first_means(model: BoltzmannMachine, start: ArrayLike | None, starts: int) -> np.ndarray:
    """Return means (n, starts): `start` or tanh(b/T), then points along +- the directions of the lowest energies."""
    starts = check_count("starts", starts)
    local_field = model.biases / model.temperature
    given = None if start is None else align_columns("start", start, model.names, "pass start=None", whole=True)
    m = np.tanh(local_field) if given is None else given.copy()
    if m.shape != (model.n,) or not (np.abs(m) <= 1).all():
        raise ValueError(f"start must be {model.n} means in [-1, 1], found shape {m.shape}; pass start=None")
    if starts == 1 or not abs(model.weights).sum():
        return m[:, None]
    pulls = _leading_fields(model, starts // 2) / model.temperature
    valleys = np.tanh(local_field + np.concatenate([pulls, -pulls]))
    return np.column_stack([m, *valleys[: starts - 1]])


def _leading_fields(model, count):
    """Return W v (count, n) for the eigenvectors v of length sqrt(n) with the largest eigenvalues, along the biases."""
    count = min(count, model.n)
    if model.n <= max(DENSE_EIGEN_UNITS, count):
        values, vectors = np.linalg.eigh(model.dense_weights)
    else:
        values, vectors = scipy.sparse.linalg.eigsh(
            model.weights, count, which="LA", v0=np.cos(np.arange(model.n)), tol=1e-3
        )  # pyright: ignore
    vectors = oriented(vectors)
    rounding = TIE_ROUNDING * (np.abs(model.biases) @ np.abs(vectors))
    along = np.where(model.biases @ vectors < -rounding, -1, 1)
    return (along * values * vectors).T[::-1][:count] * np.sqrt(model.n)


def _newton(model, functional, m):
    """Return the means after a Newton step; m itself if G is not convex, or would not be lower there."""
    (diagonal, off_diagonal), root = functional.curvature(m), np.sqrt(1 - m**2)
    solve = positive_solver(model, diagonal, off_diagonal)
    if solve is None:
        return m
    field = field_of(model, m)[:, None] / model.temperature
    lowest = functional.coordinate_update(field, slice(None), m[:, None])[:, 0]
    trial = np.clip(m + root * solve(diagonal * (lowest - m) / np.maximum(root, 1e-150)), -1, 1)
    now = functional.value(m)
    return trial if functional.value(trial) <= now + FREE_ENERGY_ROUNDING * abs(now) else m


def _fixed_points(functional, m, *end):
    values = np.array([functional.value(column) for column in m.T])
    if len(values) == 1:
        return Descent(m.T.copy(), values, *end)
    kept = []
    for k in smallest_first(values):
        if all(np.abs(m[:, k] - m[:, other]).max(initial=0) > SAME_FIXED_POINT for other in kept):
            kept.append(k)
    return Descent(m.T[kept].copy(), values[kept], *end)
