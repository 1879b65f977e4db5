"""The compiled loop of full machines in many chains, by fields in single precision (kept_fields.py).

A unit turns +1 where x = 2 h / T lies above both edges of its draw, logit(k / 65536) and logit((k + 1) / 65536).
Rounded fields give an x that may be off by `margin`: where it is so near to an edge, the field is summed and the draw
decided as in kernels.dense.  The draws of a block of chains are decided side by side, those in doubt one by one.
"""

from math import log

import numpy as np

from .kernels import _U, compiled, copied, decided, logits

BLOCK = 64  # chains of a block: more than in kernels.py, since the fields are half as long
BITS = 10  # of a draw that are looked up; the more, the fewer draws are in doubt
EDGES32 = logits(2**BITS).astype(np.float32)


@compiled
def _settled(x, margin, weights, biases, s, i, c, beta2, k, seed, place):
    """Whether a unit turns up by all its first bits, and where x leaves that open by its field."""
    if x > log((k + 1) / (65535.0 - k)) + margin:
        return True
    if x < log(k / (65536.0 - k)) - margin:
        return False
    h = biases[i]
    for j in range(_U(len(s))):
        h += weights[i, j] * s[j, c]
    return decided(beta2 * h, k, seed, place)


@compiled
def dense_many(twice, scale, margin, weights, biases, h, s, k, units, beta2, seeds, place, out, begin, end):
    """Sweep chains begin to end of a full machine; flips add rows of `twice` the weights to fields h (chains, n)."""
    n, width = _U(len(s)), _U(h.shape[1])
    x, flips = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.uint64)
    turned, doubt = np.zeros(BLOCK, np.uint8), np.zeros(BLOCK, np.uint8)
    words = doubt.view(np.uint64)
    for first in range(_U(begin), _U(end), _U(BLOCK)):
        size = min(_U(BLOCK), _U(end) - first)
        for t in range(_U(len(k))):
            line = units[t % _U(len(units))]
            for r in range(n):
                i, at, flipped = _U(line[r]), place + t * n + r, _U(0)
                for c in range(size):
                    x[c] = scale[first + c] * h[first + c, i]
                for c in range(size):
                    bin_ = _U(k[t, r, first + c] >> (16 - BITS))
                    up = x[c] > EDGES32[bin_ + _U(1)] + margin
                    doubt[c] = (x[c] > EDGES32[bin_] - margin) != up
                    new = np.int8(2 * up - 1)
                    turned[c] = new != s[i, first + c]
                    s[i, first + c] = new
                for a in range(_U(len(words))):
                    if words[a]:
                        for c in range(_U(8) * a, min(size, _U(8) * a + _U(8))):
                            if doubt[c]:
                                d = first + c
                                up = _settled(
                                    x[c], margin, weights, biases, s, i, d, beta2[d], k[t, r, d], seeds[d], at
                                )
                                new = np.int8(2 * up - 1)
                                turned[c] ^= new != s[i, d]
                                s[i, d] = new
                for c in range(size):
                    flips[flipped] = first + c
                    flipped += _U(turned[c])
                w = twice[i]
                for f in range(flipped):
                    field, sign = h[flips[f]], np.float32(s[i, flips[f]])
                    for j in range(width):
                        field[j] += sign * w[j]
            if len(out):
                copied(s, out[t], first, first + size)
