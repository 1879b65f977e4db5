"""What a machine, an answer and a step look like in a notebook: one compact card each, in the colours of its theme.

HTML and SVG by hand, a few hundred bytes to a few kilobytes: no script, no address, the same for the same numbers.
"""

from html import escape
from typing import Any

import numpy as np

UP, DOWN = "#0072b2", "#d55e00"  # positive and negative, told apart in grey and by colour-blind readers
SHOWN = 40  # units that are drawn, at most
STYLE = "display:inline-block;border:1px solid currentColor;border-radius:6px;padding:6px 10px;margin:2px;opacity:.95"


def card(title: str, facts: dict, picture: str = "", warning: str = "") -> str:
    """Return the HTML of a card: a title, a list of facts, and an SVG beside them."""
    lines = "".join(
        f"<tr><td style='text-align:left;opacity:.7;padding:0 8px 0 0'>{escape(name)}</td>"
        f"<td style='text-align:left;padding:0'>{escape(str(value))}</td></tr>"
        for name, value in facts.items()
    )
    mark = f"<div style='color:{DOWN};font-weight:bold'>{escape(warning)}</div>" if warning else ""
    return (
        f"<div style='{STYLE}'><b>{escape(title)}</b>{mark}<div style='display:flex;gap:12px;align-items:center'>"
        f"<table style='border:none;margin:0;font-size:inherit'>{lines}</table>{picture}</div></div>"
    )


def machine_card(model: Any) -> str:
    """Return the card of a BoltzmannMachine: its size, its temperature, and W as a picture where it is small."""
    weights = model.weights.data if model.is_sparse else model.weights[np.triu_indices(model.n, 1)]
    facts = {
        "units": model.n,
        "couplings": f"{model.coupling_count()}{', sparse' if model.is_sparse else ''}",
        "T": f"{model.temperature:g}",
    }
    for name, values in (("weights", weights), ("biases", model.biases)):
        if values.size:
            facts[name] = f"{values.min():.3g} to {values.max():.3g}"
    if model.names and model.n <= SHOWN:
        facts["names"] = ", ".join(model.names)
    return card("BoltzmannMachine", facts, _weights(model))


def estimate_card(answer: Any) -> str:
    """Return the card of an Estimate: the method, log Z with its proof or error, and the means as bars."""
    facts = {"units": len(answer.mean), "log Z": answer.log_z}
    error = np.max(answer.mean_stderr, initial=0.0)
    facts["largest error of a mean"] = f"{error:.2g} (sampling)" if error > 0 else "nothing was sampled"
    picture = bars(answer.mean) if len(answer.mean) <= SHOWN else ""
    return card(f"Estimate by {answer.method}", facts, picture, "" if answer.converged else "not converged")


def step_card(step: Any) -> str:
    """Return the card of a Step: where learning has got to."""
    facts = {
        "log-likelihood": f"{step.log_likelihood} nats a pattern",
        "largest mismatch": f"{step.mismatch:.3g}",
        "gradient norm": f"{step.gradient_norm:.3g}",
        "model": step.model,
    }
    return card(f"Step {step.loop.number}", facts, _weights(step.model))


def _weights(model):
    return "" if model.is_sparse or model.n > SHOWN else matrix(model.weights)


def matrix(weights: np.ndarray, side: int = 96) -> str:
    """Return an SVG of a matrix: squares as large as the size of the number, blue above 0 and orange below."""
    n, largest = len(weights), max(np.abs(weights).max(initial=0.0), 1e-300)
    size = side / max(n, 1)
    squares = []
    for i, j in np.argwhere(weights):
        wide, colour = size * np.sqrt(abs(weights[i, j]) / largest), UP if weights[i, j] > 0 else DOWN
        x, y = (j + 0.5) * size - wide / 2, (i + 0.5) * size - wide / 2
        squares.append(f"<rect x='{x:.1f}' y='{y:.1f}' width='{wide:.1f}' height='{wide:.1f}' fill='{colour}'/>")
    return _svg(side, side, "weights", squares)


def bars(mean: Any, height: int = 60) -> str:
    """Return an SVG of means, one bar a unit from -1 to 1."""
    wide = min(14, 240 / max(len(mean), 1))
    drawn = [
        f"<rect x='{k * wide + 1:.1f}' y='{height / 2 * (1 - max(m, 0)):.1f}' width='{wide - 1:.1f}' "
        f"height='{max(height / 2 * abs(m), 0.5):.1f}' fill='{UP if m > 0 else DOWN}'/>"
        for k, m in enumerate(np.nan_to_num(mean))
    ]
    return _svg(max(wide * len(mean) + 1, 1), height, "means", drawn)


def _svg(width, height, name, parts):
    return (
        f"<svg role='img' aria-label='{name}' width='{width:.0f}' height='{height}' style='border:1px solid "
        f"color-mix(in srgb, currentColor 30%, transparent)'>{''.join(parts)}</svg>"
    )
