"""Numbers read from a drawn live view as an eye reads them: lengths on the screen against the marks of an axis."""

import json

import numpy as np

import bmlab

FOREIGN = (
    "view => [view, ...view.querySelectorAll('*')].flatMap(x => [...x.classList]).filter(x => !x.startsWith('bml'))"
)
# The states and their bars, in parts of the axis below them; the cube's pillars, in pixels; bars in lanes, in parts.
BARS = """view => {
    const wide = el => el.getBoundingClientRect().width, tall = el => el.getBoundingClientRect().height;
    const bars = view.querySelector('svg[aria-label^="States"]'), cube = view.querySelector('svg[aria-label^="Eight"]');
    const middle = el => { const box = el.getBoundingClientRect(); return box.left + box.width / 2; };
    const marks = [...bars.children].filter(el => el.tagName === 'text');
    const [first, last] = [marks[0], marks.at(-1)], unit = (middle(last) - middle(first)) / Number(last.textContent);
    const states = [...bars.querySelectorAll('g')].map(g => [g.querySelector('text').textContent,
        ...[...g.querySelectorAll('rect')].slice(0, 2).map(bar => wide(bar) / unit)]);
    if (!cube) return { states, corners: [] };
    [bars.style.display, cube.style.display] = ['none', ''];
    const corners = [...cube.querySelectorAll('g')].map(g => [g.querySelector('text').textContent,
        tall(g.querySelector('rect')), wide(g.querySelector('rect'))]);
    [bars.style.display, cube.style.display] = ['', 'none'];
    return { states, corners };
}"""
LANES = """view => [...view.querySelectorAll('b + canvas')].map(small => {
    const lane = small.nextElementSibling, wide = el => el.getBoundingClientRect().width;
    return [wide(lane.firstElementChild) / wide(lane), Number(lane.nextElementSibling.textContent)];
})"""


def has_true_bars(view, model):
    """Compare every bar of a MachineView with the probability of its state, and the pillars of its cube."""
    p, read = bmlab.probabilities(model), view.evaluate(BARS)
    exact = [p[number(name)] for name, *_ in read["states"]]
    assert np.allclose([drawn for _, drawn, _ in read["states"]], exact, atol=0.01 * max(exact)), read["states"]
    corners = [p[number(name)] for name, *_ in read["corners"]]
    tall = [height for _, height, _ in read["corners"]]
    assert np.allclose(tall, np.array(corners) * max(tall, default=0) / max(exact), atol=1), read["corners"]
    assert len({round(wide, 1) for *_, wide in read["corners"]}) <= 1, read["corners"]
    return read["states"]


def has_true_lanes(view):
    """Compare every bar of a PaintView with the probability that is written beside it."""
    read = np.array(view.evaluate(LANES))
    assert len(read) and np.allclose(read[:, 0], read[:, 1], atol=0.006), read


def number(signs):
    return int(signs.replace("+", "1").replace("−", "0"), 2)


def machine(stored):
    """Return the machine that the state of a MachineView describes."""
    state = json.loads(stored)["state"]
    return bmlab.BoltzmannMachine(state["weights"], state["biases"], temperature=state["temperature"])
