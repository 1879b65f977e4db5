"""Exact sampling: independent samples and probabilities of every machine that exact() can solve.

Each state is drawn from p(s) itself, independently of the others, by the algorithm of exact(): two groups of units from
their joint weights and the third given these; the cutset and then the other units; or unit by unit, last unit first.
"""

import numpy as np

from ...checking.arrays import states
from ...checking.budgets import check_memory
from ...checking.calls import show_call
from ...checking.validation import as_generator, check_count
from ...model import BoltzmannMachine, check_model
from ...running.threads import one_thread
from . import elimination
from .cutset_conditioning import cutset_of, draw_by_cutset
from .matrix_products import draw_by_slices
from .planning import Component, check_cost, component_of, exact_plan


@show_call("bmlab.sample(model, 100, rng=0)")
def sample(model: BoltzmannMachine, size: int, *, rng: np.random.Generator | int) -> np.ndarray:
    """Return `size` independent states (size, n) drawn from p(s) exactly; raises ValueError as exact() does.

    >>> pair = bmlab.BoltzmannMachine([[0, 1], [1, 0]], [0, 0])
    >>> s = bmlab.sample(pair, 10_000, rng=np.random.default_rng(0))
    >>> s.shape, bool(abs(s.prod(1).mean() - np.tanh(1)) < 0.03)
    ((10000, 2), True)
    """
    check_model(model)
    size = check_count("size", size, 0)
    rng = as_generator(rng)
    check_memory(f"sample() would draw {size:,} states of {model.n:,} units", 50.0 * size * (model.n + 4), "draw fewer")
    price = exact_plan(model, pairs="couplings")
    check_cost(price)
    s = np.empty((size, model.n))
    for component in price.components:
        s[:, component.units] = draw_component(component_of(model, component.units), component, size, rng)
    return s


def draw_component(own: BoltzmannMachine, component: Component, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return `size` states of a connected component, by its algorithm in the plan."""
    if component.algorithm == "variable elimination":
        return elimination.draw(component.structure, elimination.eliminate(own, component.structure)[1], size, rng)
    if component.algorithm in ("matrix products", "lowest states"):
        return draw_by_slices(own, component.structure, size, rng, component.algorithm == "lowest states")
    cutset = component.structure if component.algorithm == "cutset conditioning" else cutset_of(own.weights)
    assert cutset is not None, "without a limit there is one"
    return draw_by_cutset(own, cutset, size, rng)


@show_call()
def probabilities(model: BoltzmannMachine) -> np.ndarray:
    """Return p(s) of all 2^n states, shape (2^n,), in the order of bmlab.states(n); ValueError if memory is too small.

    >>> unit = bmlab.BoltzmannMachine([[0]], [np.log(3) / 2])  # odds of 3 to 1
    >>> bmlab.probabilities(unit).round(9)
    array([0.25, 0.75])
    """
    check_model(model)
    size = 24 * 2.0 ** min(model.n, 1000)
    check_memory(f"probabilities() would list 2^{model.n} states", size, "use sample() or exact()")
    first, second = np.split(np.arange(model.n), [model.n // 2])  # the second half changes fastest
    w, x, y = model.dense_weights, states(len(first)), states(len(second))
    with one_thread():
        logs = (x @ w[np.ix_(first, second)] + model.biases[second]) @ y.T
    logs += ((x @ w[np.ix_(first, first)] / 2 + model.biases[first]) * x).sum(1)[:, None]
    logs += ((y @ w[np.ix_(second, second)] / 2) * y).sum(1)
    logs /= model.temperature
    logs -= logs.max()
    p = np.exp(logs, out=logs).ravel()
    p /= p.sum()
    return p
