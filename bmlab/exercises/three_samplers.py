"""Three samplers, of which one is wrong: an exercise of notebook 03, which must not be read off its cells."""

from collections.abc import Callable

import numpy as np

# The letters of the right one, the wrong one and the other right one, and the order in which the wrong one takes units
VARIANTS = [
    ("ABC", (0, 1, 2)),
    ("BAC", (1, 0, 2)),
    ("CBA", (2, 0, 1)),
    ("BCA", (0, 1, 2)),
    ("CAB", (1, 0, 2)),
    ("ACB", (2, 0, 1)),
]


def three_samplers(which: int) -> dict[str, Callable]:
    """Return samplers of three units, by the letters A, B and C: two are right, and in one an old answer is heard.

    which   0 to 5, such as variant(student, range(6)) draws: who it is
    """
    letters, order = VARIANTS[which]
    made = _sampler((2, 0, 1)), _sampler(order, late=order[0] % 2), _sampler((1, 0, 2))
    return dict(zip(letters, made, strict=True))


def _sampler(order, late=None):
    """A sweep in some order; of the unit `late` the others hear the state that it had before."""

    def sampler(model, s, u):
        s, heard = np.array(s, dtype=float), np.array(s, dtype=float)
        for i in order:
            h = heard @ model.weights[i] + model.biases[i]
            s[..., i] = np.where(u[..., i] < 1 / (1 + np.exp(-2 * h / model.temperature)), 1, -1)
            if i != late:
                heard[..., i] = s[..., i]
        return s

    return sampler
