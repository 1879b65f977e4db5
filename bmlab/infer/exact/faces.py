"""Three groups of units and three tables of the energy between them, the faces, for sums over all states.

The energy couples units in pairs only.  If the units are split into three groups a, b, c, each term depends on two
groups at most, and the log weight of a state is a sum of three faces, tables of side 2^(n/3):

    -E/T = A[a, b] + B[b, c] + C[c, a].
"""

from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...model import BoltzmannMachine
from .small_tables import up_to_pairs


class Sums(NamedTuple):
    """Log Z without the offset, and if they are wanted means (n,) and <s_i s_j> (n, n)."""

    log_z: float
    mean: Any = np.nan
    corr: Any = np.nan


class Products(NamedTuple):
    """Columns x = [1, s_i, s_i s_i'] for all states of a group, and the pairs i, i' of the products."""

    x: np.ndarray
    pairs: tuple[np.ndarray, np.ndarray]


@lru_cache(maxsize=4)
def groups_of(n: int) -> tuple[list[slice], list[np.ndarray], list[Products]]:
    """Return three slices of n/3 units each, and for each group the columns [1, s] of its states and its Products."""
    ends = np.cumsum([0, *(len(part) for part in np.array_split(np.arange(n), 3))])
    groups = [slice(a, b) for a, b in pairwise(ends.tolist())]
    sizes = [g.stop - g.start for g in groups]
    products = [Products(up_to_pairs(range(size))[0], np.triu_indices(size, 1)) for size in sizes]
    # in Fortran order: the faces multiply by the transposes, which are then read in order
    lists = [np.asfortranarray(each.x[:, : 1 + size]) for each, size in zip(products, sizes, strict=True)]
    return groups, lists, products


def log_faces(model: BoltzmannMachine) -> list[np.ndarray]:
    """Return the three faces -E_ij/T.

    Face k joins groups k and k+1, and includes the energy of group k itself: -E_ij = [1, s_i, s_i s_i'] Q [1, s_j]'.
    """
    groups, lists, products = groups_of(model.n)
    w = model.dense_weights / model.temperature
    b = model.biases / model.temperature
    faces = []
    for k in range(3):
        i, j, x, y = groups[k], groups[(k + 1) % 3], products[k].x, lists[(k + 1) % 3]
        q, size = np.zeros((x.shape[1], y.shape[1])), lists[k].shape[1]
        q[1:size, 0], q[1:size, 1:], q[size:, 0] = b[i], w[i, j], w[i, i][products[k].pairs]
        faces.append(x @ q @ y.T)
    return faces
