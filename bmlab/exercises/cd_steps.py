"""A referee of steps of contrastive divergence, for exercise 3 of notebook 08: their exact means, and what is wrong."""

from collections.abc import Callable
from functools import partial

import numpy as np

from ..checking.arrays import states
from ..machines import restricted

NAMES = ["a new row"] * 3 + [*"WWWWWWbbbcc"]  # of what a step of 3 visible and 2 hidden units returns, in a row


def cd_fault(step: Callable, T: float, seed: int, same: bool = False) -> str:
    """Return what is wrong with the mean of fifty steps of some machine, or "" if nothing is.

    step    a function of a model, rows to learn from, the chains' rows, a rate and a generator; it returns the new
            weights (visible, hidden), visible and hidden biases, and the chains' new rows
    same    the chains start at the rows to learn from (CD-1), else at others
    A right step is within six standard errors of its exact mean.
    """
    rng = np.random.default_rng(seed)
    model = restricted(*(rng.normal(size=n) for n in ((3, 2), 3, 2))).at(T)
    v, chains = rng.choice([-1.0, 1.0], size=(2, 300, 3), p=[0.3, 0.7])
    chains = v if same else -chains[:250]  # of another law than v, so that a step from v is seen
    ask = getattr(step, "for_each", partial(map, step))  # of a student in another process: in one message
    taken = [*ask(*([x] * 50 for x in (model, v, chains, 0.5, rng)))]
    found = [[*np.mean(rows, axis=0), *np.ravel(W), *b, *c] for W, b, c, rows in taken]
    law, mean, error = _law(model, v, chains, 0.5), np.mean(found, axis=0), np.std(found, axis=0) / 7

    def off_by(expected):  # in standard errors
        return np.abs(mean - expected) / (error + 1e-9)

    off = off_by(law)
    if off.max() < 6 and error.max() < 0.015:  # of a right step at most 1 / sqrt(250 * 49) = 0.009
        return ""
    slips = {
        "that goes downhill: clamped minus free": _law(model, v, chains, -0.5),
        "the slope has a factor 1 / T": _law(model, v, chains, 0.5 * T),
        "a new row is drawn from an h that is drawn, too, not from its mean": _law(model, v, chains, 0.5, drawn=False),
    }
    for said, slip in slips.items():
        if off.max() > 6 and off_by(slip).max() < 4:
            return said
    j = np.argmax(off)
    said = f"{mean[j]:.3f} ± {error[j]:.3f} in the mean of fifty steps, exactly {law[j]:.3f}"
    return f"T = {T}: {NAMES[j]} is {said}"


def _law(model, v, chains, rate, drawn=True):
    """Return the exact means after a step, in a row: of the chains' new rows, and of W, b and c.

    With drawn=False v' follows the mean of h, a common slip.
    """
    n, T = v.shape[1], model.temperature
    old = model.weights[:n, n:], model.biases[:n], model.biases[n:]
    W, b, c = (part / T for part in old)
    V, H = states(n), states(model.n - n)

    def chance(f, s):  # of each state in s, for each row of fields f
        return np.exp(f @ s.T - np.logaddexp(f, -f).sum(axis=1)[:, None])

    def phase(rows, p):  # averages over rows of the chances p
        h = np.tanh(rows @ W + c)
        return (rows * p[:, None]).T @ h, p @ rows, p @ h

    first = chains @ W + c
    p = (chance(first, H) @ chance(H @ W.T + b, V) if drawn else chance(np.tanh(first) @ W.T + b, V)).mean(axis=0)
    both = zip(old, phase(v, np.full(len(v), 1 / len(v))), phase(V, p), strict=True)
    return np.hstack([p @ V, *(np.ravel(x + rate / T * (one - two)) for x, one, two in both)])
