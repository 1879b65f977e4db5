"""HTML of machines, answers and fits, as a notebook shows them: tables with names, signs as colours, no code.

Shown are up to MAX_TABLE_UNITS units.  Weights are coloured as in bmlab.plot: orange couples to the same sign, purple
to opposite signs, and the strength is the opacity.  Colours are transparent, so that they read on light paper and dark.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import scipy

from ..checking.arrays import smallest_first

MAX_TABLE_UNITS = 20  # of a table; a larger machine shows its strongest couplings instead
MAX_TABLE_COUPLINGS = 10  # rows of that list
SAME_SIGN, OPPOSITE_SIGN = "217, 115, 13", "132, 89, 184"  # plot.TOGETHER and plot.APART as red, green, blue


def machine_html(model: Any) -> str:
    """Return biases and weights of a machine as a table, or its strongest couplings if it is large."""
    names, title = unit_names(model), _line(repr(model))
    largest = abs(model.weights).max() if model.weight_count else 0.0
    if model.n > MAX_TABLE_UNITS:
        shown, count = list(_strongest(model, names, largest)), model.coupling_count()
        return title + _table([f"the strongest {len(shown)} of {count:,} couplings", "weight"], shown)
    weights = model.dense_weights
    rows = (
        [_head(name), _cell(number(bias)), *(_weight(w, largest) for w in row)]
        for name, bias, row in zip(names, model.biases, weights, strict=True)
    )
    return title + _table(["unit", "bias", *names], rows)


def estimate_html(answer: Any) -> str:
    """Return means with their standard errors, log Z, and the method's findings about its own answer."""
    n = len(answer.mean)
    names = [f"s{i}" for i in range(n)] if answer.model is None else unit_names(answer.model)
    stderr = np.broadcast_to(answer.mean_stderr, n)
    facts = {"log Z": str(answer.log_z)}
    facts |= {key: number(value) for key, value in answer.info.items() if _is_number(value)}
    means = list(zip(names, answer.mean, stderr, strict=True))[:MAX_TABLE_UNITS]
    tables = [
        _table(["unit", "mean"], [[_head(name), _cell(measured(mean, error))] for name, mean, error in means]),
        _table(["of the answer", ""], [[_head(key), _cell(escape(value))] for key, value in facts.items()]),
    ]
    rest = f" The first {MAX_TABLE_UNITS} of {n} means are shown." if n > MAX_TABLE_UNITS else ""
    state = "" if answer.converged else "<b>Not converged.</b> "
    beside = f'<div style="display: flex; flex-wrap: wrap; gap: 2em; align-items: flex-start">{"".join(tables)}</div>'
    return f"{_line(repr(answer))}<div>{state}{escape(answer.message + rest)}</div>{beside}"


def fit_html(fit: Any) -> str:
    """Return a fit's message, the log-likelihood of its steps as a curve, and its machine."""
    values = np.array([step.log_likelihood.value for step in fit.steps])
    return f"{_line(fit.message)}{_curve(values) if np.isfinite(values).sum() > 1 else ''}{machine_html(fit.model)}"


def unit_names(model: Any) -> list[str]:
    """Return the names of the units, s0, s1, ... if they have none."""
    return list(model.names) or [f"s{i}" for i in range(model.n)]


def number(x: float) -> str:
    """Return a number with three decimals, or three digits if it is large or small; whole numbers as they are."""
    if isinstance(x, int | np.integer):
        return f"{x:,}"
    return f"{x:.3f}" if 1e-3 <= abs(x) < 1e4 or x == 0 else f"{x:.3g}"


def measured(mean: float, stderr: float) -> str:
    """Return a mean, with its standard error if it has one."""
    return number(mean) + (f" ± {number(stderr)}" if stderr else "")


def _is_number(value):
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _strongest(model, names, largest):
    row, col, w = scipy.sparse.find(scipy.sparse.triu(scipy.sparse.coo_array(model.weights), 1))
    for k in smallest_first(-np.abs(w))[:MAX_TABLE_COUPLINGS]:
        yield [_head(f"{names[row[k]]}, {names[col[k]]}"), _weight(w[k], largest)]


def _curve(values):
    """The values as a line of 240 x 60 pixels, its two ends written beside it."""
    low, high = np.nanmin(values), np.nanmax(values)
    x = np.linspace(0, 240, len(values)).round()
    y = (60 - 60 * (values - low) / max(high - low, 1e-9)).round()  # what differs by a rounding is level
    points = " ".join(f"{a:.0f},{b:.0f}" for a, b in zip(x, y, strict=True) if np.isfinite(b))
    line = f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="2"/>'
    box = 'width="250" height="70" viewBox="-5 -5 250 70" style="vertical-align: middle"'
    drawn = f'<svg {box} role="img" aria-label="log-likelihood">{line}</svg>'
    ends = f"log-likelihood {number(values[0])} {drawn} {number(values[-1])} nats a pattern"
    return f'<div style="white-space: nowrap; overflow-x: auto">{ends}</div>'


def _weight(w, largest):
    colour = SAME_SIGN if w > 0 else OPPOSITE_SIGN
    shade = f"background: rgba({colour}, {0.6 * abs(w) / largest:.2f})" if w else ""
    return _cell(f"{w:.2f}" if w else "", shade)


def _line(text):
    return f"<div><b>{escape(text)}</b></div>"


def _head(text):
    return f'<th scope="row" style="text-align: left; white-space: nowrap">{escape(text)}</th>'


def _cell(text, style=""):
    return f'<td style="text-align: right; white-space: nowrap; {style}">{text}</td>'


def _table(heads, rows):
    first = "".join(f'<th scope="col" style="white-space: nowrap">{escape(head)}</th>' for head in heads)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f'<div style="overflow-x: auto"><table><thead><tr>{first}</tr></thead><tbody>{body}</tbody></table></div>'
