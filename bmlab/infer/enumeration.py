"""Exact answers by summing over all 2^n states, at the price of three matrix products.

    Z = sum_s exp(-E(s)/T),     <s_i> = sum_s s_i p(s),     <s_i s_j> = sum_s s_i s_j p(s)

The energy couples units in pairs only.  So split the units into three groups a, b, c: every term of the energy
belongs to one side of the triangle, and the weight of a state is a product of three faces,

    exp(-E/T) = A[a, b] B[b, c] C[c, a],    each face of side 2^(n/3).

Summing out c is then a matrix product: the weight of (a, b) is A * (B C)', and so on round the triangle.  Three
products of side 2^(n/3) replace 2^n exponentials (the split-and-list idea of Williams 2005, Theor. Comput. Sci.
348, 357, used for counting).  A few units take one table of all states; extreme energies, which leave the range
of a double in a face, take the plain sum over states with the smallest energy taken out first.  Units without
couplings need no sum: Z is a product of 2 cosh(b_i/T).
"""

from functools import lru_cache
from time import perf_counter

import numpy as np

from ..estimate import Estimate, LogZ, as_corr, coupled_pairs
from ..model import BoltzmannMachine, states
from ..threads import one_thread

TABLE_UNITS = 11        # up to here one table of states and pair products is the fastest
THREADED_UNITS = 25     # from here the products are large enough for more than one BLAS thread
TILE = 2**22            # numbers in one tile of a product (32 MiB)
SECONDS, BYTES = 600.0, 12 * 2**30     # what exact() is willing to spend


def exact(model: BoltzmannMachine, *, start=None) -> Estimate:
    """Answer by enumeration: right to rounding, for any weights and temperature.

    Cost 2^n multiply-adds three times over, memory three faces of 2^(2n/3) numbers: n = 20 in under a millisecond,
    30 in a tenth of a second, 36 in seconds.  `start` is accepted and ignored, as every method takes one.
    Raises ValueError with the price where that would pass ten minutes or 12 GiB.
    """
    if not model.has_couplings:
        return _estimate(model, *_by_product(model), road="independent units")
    _refuse_if_too_dear(model.n)
    if model.n <= TABLE_UNITS:
        return _estimate(model, *_by_table(model), road="table")
    if model.n < THREADED_UNITS:
        with one_thread():
            answer = _by_three_products(model)
    else:
        answer = _by_three_products(model)
    if answer is not None:
        return _estimate(model, *answer, road="three products")
    return _estimate(model, *_by_every_state(model), road="every state")


def _estimate(model, log_z, mean, corr, road):
    log_z = float(log_z - model.offset / model.temperature)
    pairs = corr[coupled_pairs(model)] if model.is_sparse else corr
    return Estimate(np.clip(mean, -1, 1), as_corr(model, pairs), LogZ(log_z, 0.0, log_z, log_z),
                    method="exact", info={"road": road, "states": 2**model.n})


# --- road 0: no couplings ------------------------------------------------------------------------------------------

def _by_product(model):
    field = model.biases / model.temperature
    mean = np.tanh(field)
    return np.logaddexp(field, -field).sum(), mean, np.outer(mean, mean)


# --- road 1: one table of all states -------------------------------------------------------------------------------

@lru_cache(maxsize=TABLE_UNITS + 1)
def _table(n):
    """All states beside all products of two units, (2^n, n + n(n-1)/2), and where the pairs stand in a matrix."""
    s, pairs = states(n), np.triu_indices(n, 1)
    return np.hstack([s, s[:, pairs[0]] * s[:, pairs[1]]]), pairs


def _by_table(model):
    """-E/T is linear in the parameters, and the moments are linear in p: one product out, one product back."""
    table, (row, col) = _table(model.n)
    logs = table @ np.concatenate([model.biases, _dense(model)[row, col]]) / model.temperature
    top = logs.max()
    weight = np.exp(logs - top)
    total = weight.sum()
    moments = (weight / total) @ table
    corr = np.ones((model.n, model.n))
    corr[row, col] = corr[col, row] = moments[model.n:]
    return top + np.log(total), moments[:model.n], corr


# --- road 2: three matrix products ---------------------------------------------------------------------------------

def _by_three_products(model):
    """Return (log Z, mean, corr), or None where the faces leave the range of a double."""
    groups = np.array_split(np.arange(model.n), 3)
    lists = [states(len(g)) for g in groups]
    faces, log_scale = _faces(model, groups, lists)
    total, mean, corr = 0.0, np.empty(model.n), np.empty((model.n, model.n))
    for k in range(3):
        i, j, other = k, (k + 1) % 3, (k + 2) % 3
        own, across = _pair_marginal(faces[i], faces[j], faces[other], lists[i], lists[j])
        total = own.sum()
        mean[groups[i]] = own @ lists[i]
        corr[np.ix_(groups[i], groups[i])] = lists[i].T @ (own[:, None] * lists[i])
        corr[np.ix_(groups[i], groups[j])] = across
        corr[np.ix_(groups[j], groups[i])] = across.T
    if total < 2.0**model.n * 1e-290:       # what underflowed is below 2^n * 1e-307: no longer negligible
        return None
    return log_scale + np.log(total), mean / total, corr / total


def _faces(model, groups, lists):
    """The three faces exp(-E_ij/T), each divided by its largest entry, and the log of what was divided out.

    Face k joins groups k and k+1; group k's own energy goes into face k.
    """
    w, faces, log_scale = _dense(model), [], 0.0
    for k in range(3):
        i, j = groups[k], groups[(k + 1) % 3]
        own = (lists[k] * (lists[k] @ w[np.ix_(i, i)] / 2 + model.biases[i])).sum(1)
        face = (lists[k] @ w[np.ix_(i, j)]) @ lists[(k + 1) % 3].T
        face += own[:, None]
        face /= model.temperature
        top = face.max()
        face -= top
        faces.append(np.exp(face, out=face))
        log_scale += top
    return faces, log_scale


def _pair_marginal(face, left, right, rows, cols):
    """Sum the third group out of face * (left right)': return the row group's weights and <s_row s_col'>.

    Tile by tile over the rows, so that the product is never held whole.
    """
    own, across = np.empty(len(rows)), np.zeros((rows.shape[1], cols.shape[1]))
    step = max(1, TILE // len(cols))
    for k in range(0, len(rows), step):
        tile = slice(k, k + step)
        weight = right[:, tile].T @ left.T
        weight *= face[tile]
        own[tile] = weight.sum(1)
        across += rows[tile].T @ (weight @ cols)
    return own, across


# --- road 3: every state, one block after the other ----------------------------------------------------------------

def _by_every_state(model):
    """Visit every state twice: once to find the lowest energy, once to sum with it taken out."""
    top = max(logs.max() for _, _, logs in _blocks(model))
    total, mean, corr = 0.0, np.zeros(model.n), np.zeros((model.n, model.n))
    for x, y, logs in _blocks(model):
        weight = np.exp(logs - top)
        own, other = weight.sum(1), weight.sum(0)
        across = x.T @ (weight @ y)
        total += own.sum()
        mean += np.concatenate([own @ x, other @ y])
        corr += np.block([[x.T @ (own[:, None] * x), across], [across.T, y.T @ (other[:, None] * y)]])
    return top + np.log(total), mean / total, corr / total


def _blocks(model):
    """Yield (x, y, -E(x, y)/T): some states x of the first half of the units against all states y of the rest."""
    w, b, half = _dense(model), model.biases, model.n // 2
    first, y = states(half), states(model.n - half)
    energy_y = BoltzmannMachine(w[half:, half:], b[half:]).energy(y)
    step = max(1, TILE // len(y))
    for k in range(0, len(first), step):
        x = first[k:k + step]
        energy_x = BoltzmannMachine(w[:half, :half], b[:half]).energy(x)
        yield x, y, -(energy_x[:, None] + energy_y - (x @ w[:half, half:]) @ y.T) / model.temperature


# --- the price -----------------------------------------------------------------------------------------------------

@lru_cache(maxsize=1)
def _products_per_second():
    """Multiply-adds per second of this machine's matrix product, measured once on a side of 1024."""
    a = np.ones((1024, 1024))
    a @ a
    begin = perf_counter()
    a @ a
    return 1024**3 / (perf_counter() - begin)


def _refuse_if_too_dear(n, multiply_adds_per_state=3.0):
    """Raise ValueError where 2^n states cost more than SECONDS or BYTES."""
    if n <= 30:
        return
    seconds = multiply_adds_per_state * 2.0**n / _products_per_second()
    size = 8 * 3 * 2.0 ** (2 * np.ceil(n / 3))
    if seconds > SECONDS or size > BYTES:
        raise ValueError(f"exact() would need 2^{n} states, about {_duration(seconds)} and {size / 2**30:.3g} GiB; it "
                         f"stops at {SECONDS / 60:.0f} minutes and {BYTES / 2**30:.0f} GiB. Use mean_field() or gibbs().")


def _duration(seconds):
    for unit, size in (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} seconds"


def _dense(model):
    return model.weights.toarray() if model.is_sparse else model.weights
