"""How well a machine predicts each visible unit from the others: a score of data that needs no log Z.

    mean over the data of sum_i log p(v_i | the other visible units)

With the hidden units, not coupled to each other, summed out, p(v) is proportional to exp A(v),

    A(v) = (v'W v/2 + b'v)/T + sum_j log 2 cosh(f_j/T),      f_j = sum_i w_ij v_i + b_j,

and log p(v_i | the others) = -log(1 + exp(A(v with v_i turned) - A(v))).  Besag (1975), The Statistician 24, 179.
"""

import numpy as np

from ..bars import watched
from ..model import BoltzmannMachine
from ..threads import one_thread
from .phases import _checked_data


def pseudo_log_likelihood(model: BoltzmannMachine, data) -> float:
    """Return the mean of sum_i log p(v_i | the other visible units) over the data (N, v), -1/+1: nats a pattern, exact.

    It is at most 0, and for independent units the log-likelihood itself.  Cost: N * v * hidden logarithms.
    Raises ValueError where data is not -1/+1 or wider than the machine, or where hidden units are coupled.
    """
    return float(log_conditionals(model, data).sum(1).mean())


def log_conditionals(model: BoltzmannMachine, data) -> np.ndarray:
    """Return log p(v_i | the other visible units), shape of data (N, v); raises as pseudo_log_likelihood()."""
    data = _checked_data(model, data)
    visible = data.shape[1]
    if model.clamp(slice(0, visible), 1.0).has_couplings:
        raise ValueError(f"hidden units (here the last {model.n - visible}) must not be coupled to each other; "
                         "judge such a machine by bmlab.log_likelihood")
    with one_thread():
        return -np.logaddexp(0, _gain_of_turning(model, data))


def _gain_of_turning(model, data):
    """A(v with v_i turned) - A(v) for each pattern and each i: (N, v)."""
    visible = data.shape[1]
    unset = np.hstack([data, np.zeros((len(data), model.n - visible))])     # a unit at 0 sends no field
    field = model.field(unset) / model.temperature
    f, across = field[:, visible:], _across(model, visible) / model.temperature
    gain, before = -2 * data * field[:, :visible], _log_2cosh(f).sum(1)
    for i in watched(range(visible if f.size else 0), "unit"):
        gain[:, i] += _log_2cosh(f - 2 * data[:, i:i + 1] * across[i]).sum(1) - before
    return gain


def _across(model, visible):
    block = model.weights[:visible, visible:]
    return block.toarray() if model.is_sparse else block


def _log_2cosh(x):
    size = np.abs(x)
    return size + np.log1p(np.exp(-2 * size))
