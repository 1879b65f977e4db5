"""Random machines of every kind that people ask about, small enough for exact answers: 10 to 36 units.

random_machine(kind, rng) draws one: its size, its couplings, their scale between 0.1 and 3, its biases and T.
"""

from functools import lru_cache

import numpy as np
from scipy import sparse
from scipy.special import gammaln, logsumexp

import bmlab


def _scale(rng):
    """0.1 to 3, as many small as large ones."""
    return float(np.exp(rng.uniform(np.log(0.1), np.log(3))))


def _biases(n, scale, rng):
    return rng.normal(scale=scale * rng.choice([0.05, 0.3, 1.0]), size=n)


def _heated(weights, biases, rng):
    """The same machine, written in other units of energy."""
    temperature = float(rng.choice([0.5, 1.0, 2.5]))
    return bmlab.BoltzmannMachine(weights * temperature, biases * temperature, temperature, offset=float(rng.normal()))


def dense(rng, most=36):
    """All pairs coupled at random."""
    n, scale = int(rng.integers(10, most + 1)), _scale(rng)
    return _heated(bmlab.sherrington_kirkpatrick(n, rng=rng, scale=scale).weights, _biases(n, scale, rng), rng)


def sparse_graph(rng, most=36):
    """Some three or four partners each, at random."""
    n, scale = int(rng.integers(10, most + 1)), _scale(rng)
    pairs = np.triu(rng.random((n, n)) < rng.uniform(2, 5) / n, 1)
    weights = bmlab.symmetric(2 * pairs * rng.normal(scale=scale, size=(n, n)))
    return _heated(sparse.csr_array(weights), _biases(n, scale, rng), rng)


def lattice(rng, most=36):
    """A square lattice, closed or open, with equal couplings, or with equal ones of random sign."""
    shape = rng.integers(3, 7, size=2)
    model = bmlab.ising(shape, coupling=_scale(rng), periodic=bool(rng.integers(2)))
    n, weights = model.n, model.weights
    if rng.integers(2):
        sign = np.triu(rng.choice([-1.0, 1.0], size=(n, n)), 1)
        weights = weights * (sign + sign.T)
    return _heated(weights, _biases(n, 1.0, rng), rng)


def ferromagnetic(rng, most=36):
    """All pairs pull together, about equally."""
    n, scale = int(rng.integers(10, most + 1)), _scale(rng)
    weights = bmlab.symmetric(2 * np.triu(rng.uniform(0.5, 1.5, size=(n, n)), 1)) * scale / n
    return _heated(weights, _biases(n, scale, rng) + rng.choice([0, 0.1]), rng)


def glassy(rng, most=36):
    """Couplings +J and -J between all pairs, strong, in hardly any field."""
    n, scale = int(rng.integers(10, most + 1)), rng.uniform(1, 3)
    weights = bmlab.symmetric(2 * np.triu(rng.choice([-1.0, 1.0], size=(n, n)), 1)) * scale / np.sqrt(n)
    return _heated(weights, rng.normal(scale=0.02, size=n), rng)


def restricted(rng, most=36):
    """Two layers."""
    v, h = int(rng.integers(6, most - 9)), int(rng.integers(4, 11))
    scale = _scale(rng)
    model = bmlab.restricted(
        rng.normal(scale=2 * scale / np.sqrt(v + h), size=(v, h)), _biases(v, scale, rng), _biases(h, scale, rng)
    )
    return _heated(model.weights, model.biases, rng)


def hopfield(rng, most=36):
    """One to four stored patterns, near the temperature below which they are remembered."""
    n = int(rng.integers(10, most + 1))
    model = bmlab.hopfield(rng.choice([-1.0, 1.0], size=(int(rng.integers(1, 5)), n)))
    return _heated(model.weights * _scale(rng), rng.normal(scale=0.05, size=n), rng)


def digits(rng, most=36):
    """Learnt from some pixels of one handwritten digit, by linear response."""
    images, labels = _digits()
    n = int(rng.integers(10, most + 1))
    pixels = rng.choice(64, size=n, replace=False)
    learnt = bmlab.invert_mean_field(images[labels == rng.integers(10)][:, pixels], noise=rng.uniform(0.02, 0.1)).model
    return _heated(learnt.weights * _share(rng), learnt.biases, rng)


def zoo(rng, most=36):
    """Learnt from the properties of animals, to some penalty."""
    learnt = _zoo(float(rng.choice([0.003, 0.01, 0.03])))
    kept = np.sort(rng.choice(15, size=int(rng.integers(10, 16)), replace=False))
    return _heated(learnt.weights[kept][:, kept] * _share(rng), learnt.biases[kept], rng)


def couples(rng, most=36):
    """Pairs of units that are coupled strongly, and to all others weakly."""
    half = int(rng.integers(5, most // 2 + 1))
    weights = np.array(bmlab.sherrington_kirkpatrick(2 * half, rng=rng, scale=0.2).weights)
    first = 2 * np.arange(half)
    weights[first, first + 1] = weights[first + 1, first] = rng.normal(scale=_scale(rng), size=half)
    return _heated(weights, _biases(2 * half, 0.5, rng), rng)


def ring(rng, most=36):
    """Each unit coupled to the next, all alike or with random signs."""
    n = int(rng.integers(10, most + 1))
    weights, unit = np.zeros((n, n)), np.arange(n)
    weights[unit, (unit + 1) % n] = _scale(rng) * (rng.choice([-1.0, 1.0], size=n) if rng.integers(2) else 1.0)
    return _heated(weights + weights.T, _biases(n, 0.5, rng), rng)


def crowds(rng, most=36):
    """Two or three groups: within a group all attract each other, between two they hardly feel each other."""
    n = int(rng.integers(10, most + 1))
    group = np.arange(n) % int(rng.integers(2, 4))
    scale = _scale(rng)
    weights = np.where(group[:, None] == group, 2 * scale / n, 0.1 * scale / n * rng.choice([-1.0, 1.0]))
    np.fill_diagonal(weights, 0)
    return _heated(weights, _biases(n, 0.2, rng), rng)


def repelling(rng, most=36):
    """All units repel all others alike."""
    n = int(rng.integers(10, most + 1))
    return _heated((np.eye(n) - 1) * _scale(rng) / np.sqrt(n), _biases(n, 0.3, rng), rng)


def _share(rng):
    """Some of a learnt machine's couplings, up to all."""
    return rng.choice([0.3, 0.6, 1.0])


@lru_cache(maxsize=1)
def _digits():
    data = bmlab.data.digits()
    return data.train, data.train_labels


@lru_cache(maxsize=4)
def _zoo(penalty):
    blank = bmlab.BoltzmannMachine(np.zeros((15, 15)), np.zeros(15))
    return bmlab.fit(blank, bmlab.data.zoo().data, steps=300, rate=0.05, penalty=penalty).model


KINDS = {
    "dense": dense,
    "sparse": sparse_graph,
    "lattice": lattice,
    "ferromagnetic": ferromagnetic,
    "glassy": glassy,
    "restricted": restricted,
    "hopfield": hopfield,
    "digits": digits,
    "zoo": zoo,
    "couples": couples,
    "ring": ring,
    "crowds": crowds,
    "repelling": repelling,
}


def random_machine(kind: str, rng: np.random.Generator, most: int = 36) -> bmlab.BoltzmannMachine:
    """Draw a machine of one of KINDS with at most about `most` units."""
    return KINDS[kind](rng, most)


# --- large machines whose exact answer is known all the same ----------------------------------------------------------


def tree(rng, n):
    """Each unit hangs on an earlier one; up to three times as strong as T."""
    weights, scale = np.zeros((n, n)), _scale(rng)
    unit = np.arange(1, n)
    weights[unit, (unit * rng.random(n - 1)).astype(int)] = rng.normal(scale=scale, size=n - 1)
    return sparse.csr_array(weights + weights.T), _biases(n, scale, rng)


def circle(rng, n):
    """A ring, all alike or with random signs."""
    weights, unit = np.zeros((n, n)), np.arange(n)
    weights[unit, (unit + 1) % n] = _scale(rng) * (rng.choice([-1.0, 1.0], size=n) if rng.integers(2) else 1.0)
    return sparse.csr_array(weights + weights.T), _biases(n, 0.5, rng)


def pairs(rng, n):
    """Couples, each alone."""
    weights, first = np.zeros((n, n)), np.arange(0, n - 1, 2)
    weights[first, first + 1] = rng.normal(scale=_scale(rng), size=len(first))
    return sparse.csr_array(weights + weights.T), _biases(n, 0.5, rng)


def strip(rng, n):
    """A square lattice, six units wide, all alike or with random signs."""
    lines = bmlab.ising((n // 6, 6), coupling=_scale(rng), periodic=False)
    sign = (
        np.triu(rng.choice([-1.0, 1.0], size=(lines.n, lines.n)), 1) if rng.integers(2) else np.triu(np.ones(lines.n))
    )
    return sparse.csr_array(lines.dense_weights * (sign + sign.T)), _biases(lines.n, 1.0, rng)


def layers(rng, n):
    """Two layers, ten units in one of them."""
    scale = _scale(rng)
    across = rng.normal(scale=2 * scale / np.sqrt(n), size=(n - 10, 10))
    model = bmlab.restricted(across, _biases(n - 10, scale, rng), _biases(10, scale, rng))
    return model.weights, model.biases


def crowd(rng, n):
    """All attract each other alike: the spectral radius is near 1, the critical point, in hardly any field."""
    return (1 - np.eye(n)) * rng.uniform(0.5, 1.1) / n, np.full(n, rng.choice([0.0, 0.01, 0.1]))


def repelling_crowd(rng, n):
    """All repel each other alike."""
    return (np.eye(n) - 1) * _scale(rng) / np.sqrt(n), np.full(n, rng.choice([0.0, 0.1, 0.5]))


LARGE = {
    "tree": tree,
    "circle": circle,
    "pairs": pairs,
    "strip": strip,
    "layers": layers,
    "crowd": crowd,
    "repelling crowd": repelling_crowd,
}


def large_machine(kind: str, rng: np.random.Generator) -> tuple[bmlab.BoltzmannMachine, bmlab.Estimate]:
    """Draw a machine of one of LARGE with 30 to 200 units, and its exact answer."""
    n = int(rng.integers(30, 201))
    model = _heated(*LARGE[kind](rng, n), rng)
    if kind.endswith("crowd"):
        return model, by_magnetisation(model)
    return model, bmlab.exact(model)


def by_magnetisation(model: bmlab.BoltzmannMachine) -> bmlab.Estimate:
    """The exact answer if all couplings are alike and all biases: a sum over M = sum_i s_i, of n + 1 values."""
    n, w, up = model.n, model.weights[0, 1], np.arange(model.n + 1)
    M = 2.0 * up - n
    log_p = gammaln(n + 1) - gammaln(up + 1) - gammaln(n - up + 1)
    log_p += (w * (M**2 - n) / 2 + model.biases[0] * M - model.offset) / model.temperature
    log_z = logsumexp(log_p)
    p = np.exp(log_p - log_z)
    corr = np.full((n, n), (p @ M**2 - n) / (n * (n - 1)))
    np.fill_diagonal(corr, 1)
    return bmlab.Estimate(np.full(n, p @ M / n), corr, bmlab.Bounded(log_z, 0.0, log_z, log_z), method="exact")
