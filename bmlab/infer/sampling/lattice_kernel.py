"""The compiled loop of lattices: at most four neighbours, all couplings alike, so that a field is one of five numbers.

    h_i = J (s_a + s_b + s_c + s_d) + b_i,        up where k < edge,   edge = 65536 / (1 + exp(-2 h_i / T)) rounded down

Sums of spins and first bits k are whole numbers of one and two bytes, of which a processor takes 16 to 64 at a time.
Where k is next to its edge the field is summed, and the draw decided, as `kernels.sparse` does: the chains are the same
to the bit.
"""

import numpy as np

from .kernels import _U, compiled, copied, decided

MOST = 4  # neighbours
LEAST = 32  # chains that are worth it


def neighbours(weights):
    """Return the units (n, 4) coupled to each, and masks: -1, and 0 where there is none. None for no lattice."""
    count = np.diff(weights.indptr)
    if not weights.nnz or count.max() > MOST or np.ptp(weights.data) or not weights.data[0]:
        return None
    units, masks = np.zeros((len(count), MOST), np.uint64), np.zeros((len(count), MOST), np.int8)
    row, place = np.repeat(np.arange(len(count)), count), np.arange(weights.nnz) - np.repeat(weights.indptr[:-1], count)
    units[row, place], masks[row, place] = weights.indices, -1
    return units, masks


def edges(weights, biases, beta):
    """Return the first bits (n, 5) below which a unit turns +1, by the sum of its neighbours: -4 or -3, to 3 or 4."""
    sums = 2 * np.arange(MOST + 1) - MOST + np.diff(weights.indptr)[:, None] % 2
    with np.errstate(over="ignore"):  # exp(-x) = inf: never +1
        p = 1 / (1 + np.exp(-2 * beta * (weights.data[0] * sums + biases[:, None])))
    return np.minimum(65536 * p, 65535).astype(np.uint16)


@compiled
def lattice(indptr, indices, weights, biases, near, masks, edges, s, k, units, beta2, seeds, place, out, begin, end):
    """Sweep chains begin to end of a lattice (CSR), all chains of a unit side by side; as kernels.sparse."""
    n, first, chains = _U(units.shape[1]), _U(begin), _U(end - begin)
    total, doubt = np.empty(chains, np.int8), np.zeros((chains + _U(7)) // _U(8) * _U(8), np.uint8)
    words = doubt.view(np.uint64)
    for t in range(_U(len(k))):
        line = units[t % _U(len(units))]
        for r in range(n):
            i = _U(line[r])
            a, b, c, d = near[i, 0], near[i, 1], near[i, 2], near[i, 3]
            on_a, on_b, on_c, on_d = masks[i, 0], masks[i, 1], masks[i, 2], masks[i, 3]
            for j in range(first, first + chains):
                total[j - first] = (s[a, j] & on_a) + (s[b, j] & on_b) + (s[c, j] & on_c) + (s[d, j] & on_d)
            e0, e1, e2, e3, e4 = edges[i, 0], edges[i, 1], edges[i, 2], edges[i, 3], edges[i, 4]
            for j in range(chains):
                around, bits, edge = total[j], k[t, r, first + j], e0
                edge = e1 if around > np.int8(-3) else edge
                edge = e2 if around > np.int8(-1) else edge
                edge = e3 if around > np.int8(1) else edge
                edge = e4 if around > np.int8(3) else edge
                s[i, first + j] = 1 if bits < edge else -1
                doubt[j] = np.uint16(np.uint16(bits - edge) + np.uint16(1)) < np.uint16(3)
            for w in range(_U(len(words))):
                if words[w]:
                    for j in range(_U(8) * w, _U(8) * w + _U(8)):
                        if doubt[j]:
                            h, chain = biases[i], first + j
                            for e in range(_U(indptr[i]), _U(indptr[i + _U(1)])):
                                h += weights[e] * s[_U(indices[e]), chain]
                            up = decided(beta2[chain] * h, k[t, r, chain], seeds[chain], place + t * n + r)
                            s[i, chain] = 1 if up else -1
        if len(out):
            copied(s, out[t], begin, end)
