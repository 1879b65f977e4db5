"""Sums over the states of chains, and their correlation times, in loops that Numba compiles; imported only with Numba.

The sums are those of averages.py, to the bit, for they are of whole numbers.  Eight sweeps of a unit are the bits of a
byte (`planes`), so that eight products s_i s_j are one exclusive or.  Autocorrelations are summed up lag by lag, and
most end after a few, where diagnostics.py takes all lags at once by Fourier's transform.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from ...running.compiling import compiled
from .averages import spans_of

TILE = 32  # units whose pairs with as many others stay in the first-level cache, and their mirror images
STRIP = 2**12  # numbers of a sweep that stay in the first-level cache while all sweeps of a block pass
_compiled = compiled(fastmath={"contract", "reassoc"})  # sums are taken in any order: several at a time
_U = np.uint64


def add_blocks(
    blocks: Iterable[np.ndarray],
    n_sweeps: int,
    part: np.ndarray,
    groups: np.ndarray,
    partners: tuple[np.ndarray, np.ndarray],
    record: np.ndarray,
    pairs: np.ndarray,
    gathered: int,
) -> None:
    """Add states (sweeps, n, chains) to `record` and `pairs`, as add_blocks() of averages.py does."""
    n, n_chains = record.shape[1:]
    flat, planes = record.reshape(len(record), -1), np.zeros((-(-gathered // 64) * 8, n * n_chains), np.uint8)
    row, col = (units.astype(np.int64) for units in partners)
    begin = kept = 0  # sweeps whose pairs are counted; and those that are in the planes
    spans = partial(spans_of, n_spans=len(part), n_sweeps=n_sweeps)

    def count():
        nonlocal begin, kept
        if len(row):
            words = _joined_bits(planes[: -(-kept // 64) * 8]).reshape(n, -1)
            ends = groups * (words.shape[1] // n_chains)
            _count_pairs(words, row, col, ends, kept * np.diff(groups), pairs[part[spans(begin, 1)[0]]])
        planes[: -(-kept // 8)] = 0
        begin, kept = begin + kept, 0

    for block in blocks:
        draws, done = np.ascontiguousarray(block).reshape(len(block), n * n_chains), 0
        while done < len(draws):
            here = begin + kept
            fit = min(len(draws) - done, 8 * len(planes) - kept)
            span = spans(here, fit)
            fit = int(np.searchsorted(part[span], part[spans(begin, 1)[0]], side="right"))
            if fit:
                _add_sweeps(draws[done : done + fit], span[:fit], kept, flat, planes)
                done, kept = done + fit, kept + fit
            if not fit or kept == 8 * len(planes):
                count()
    if kept:
        count()


@_compiled
def _add_sweeps(draws, span, kept, record, planes):
    """Add states (sweeps, numbers) to the sums of their spans, and set their bits from number `kept` on."""
    for a in range(0, draws.shape[1], STRIP):
        for t in range(len(draws)):
            s, sums, plane = draws[t, a : a + STRIP], record[span[t], a : a + STRIP], planes[(kept + t) // 8]
            bits, bit = plane[a : a + STRIP], np.uint8(1 << ((kept + t) % 8))
            for x in range(_U(len(s))):
                sums[x] += s[x]
            for x in range(_U(len(s))):
                bits[x] |= bit if s[x] > 0 else np.uint8(0)


@_compiled
def _joined_bits(planes):
    """Return the bytes of planes (8 words, numbers) as words (numbers, words), of 64 sweeps each."""
    words = np.zeros((planes.shape[1], len(planes) // 8), np.uint64)
    for w in range(words.shape[1]):
        for a in range(0, len(words), STRIP):
            for k in range(8):
                plane, part, up = planes[8 * w + k, a : a + STRIP], words[a : a + STRIP, w], _U(8 * k)
                for x in range(_U(len(plane))):
                    part[x] |= _U(plane[x]) << up
    return words


@_compiled
def _ones(word):
    """Return how many bits of a 64-bit word are 1: in pairs, in fours, in bytes, and the sum of these."""
    word = word - ((word >> _U(1)) & _U(0x5555555555555555))
    word = (word & _U(0x3333333333333333)) + ((word >> _U(2)) & _U(0x3333333333333333))
    word = (word + (word >> _U(4))) & _U(0x0F0F0F0F0F0F0F0F)
    return (word * _U(0x0101010101010101)) >> _U(56)


@_compiled
def _count_pairs(words, row, col, ends, sizes, sums):
    """Add to sums (groups, pairs) the number of `sizes` draws that are alike, minus the number of others."""
    for p in range(len(row)):
        one, other = words[row[p]], words[col[p]]
        for g in range(len(sizes)):
            apart = _U(0)
            for w in range(_U(ends[g]), _U(ends[g + 1])):
                apart += _ones(one[w] ^ other[w])
            sums[g, p] += sizes[g] - 2.0 * apart


@_compiled
def one_sweep(states, values, errors, corr, corr_stderr):
    """Return mean and error of each unit of states (n, chains), and fill in those of pairs (n, n).

    values, errors   (chains + 1,) mean and its error, by how many of the chains are -1, or of a pair not alike
    """
    n, chains = states.shape
    mean, stderr, words = np.empty(n), np.empty(n), np.zeros((n, (chains + 63) // 64), np.uint64)
    for i in range(n):
        down = _U(0)
        for c in range(_U(chains)):
            bit = _U(states[i, c] < 0)
            words[i, c // _U(64)] |= bit << (c % _U(64))
            down += bit
        mean[i], stderr[i] = values[down], errors[down]
        corr[i, i], corr_stderr[i, i] = 1.0, 0.0
    for a in range(0, n, TILE):
        for b in range(a, n, TILE):
            for i in range(a, min(n, a + TILE)):
                for j in range(max(b, i + 1), min(n, b + TILE)):
                    apart = _U(0)
                    for w in range(_U(words.shape[1])):
                        apart += _ones(words[i, w] ^ words[j, w])
                    corr[i, j] = corr[j, i] = values[apart]
                    corr_stderr[i, j] = corr_stderr[j, i] = errors[apart]
    return mean, stderr


@_compiled
def half_moments(spans, timed):
    """Return the same as half_moments() of diagnostics.py."""
    n, chains, draws = spans.shape
    half = draws // 2
    mean, variance, away = np.empty((n, 2 * chains)), np.empty((n, 2 * chains)), np.empty((2 * chains, half))
    whole, spread, time = np.empty(n), np.empty(n), np.full(n, np.nan)
    for i in range(n):
        x = spans[i]
        total = squares = 0.0
        least = most = float(x[0, 0])
        for c in range(chains):
            for t in range(_U(draws)):
                total += x[c, t]
                least, most = min(least, x[c, t]), max(most, x[c, t])
        for c in range(chains):
            for t in range(_U(draws)):
                squares += (x[c, t] - total / x.size) ** 2
        whole[i], spread[i] = squares / (x.size - 1), most - least
        for k in range(2 * chains):
            part, rest = (x[k, :half] if k < chains else x[k - chains, draws - half :]), away[k]
            total = squares = 0.0
            for t in range(_U(half)):
                total += part[t]
            for t in range(_U(half)):
                rest[t] = part[t] - total / half
                squares += rest[t] ** 2
            mean[i, k], variance[i, k] = total / half, squares / (half - 1)
        if timed:
            time[i] = _correlation_time(away, np.var(mean[i]) * 2 * chains / (2 * chains - 1))
    return mean, variance, whole, spread, time


@_compiled
def _correlation_time(away, between):
    """Return correlation_time() of diagnostics.py, of one series."""
    draws, time, least = away.shape[1], -1.0, np.inf
    within, last = _covariance(away, 0), max(1, (draws - 1) // 2) - 1
    total = within + between
    within *= draws / (draws - 1)
    for k in range(last + 1):
        even = 1 - (within - _covariance(away, 2 * k)) / total if k else 1.0
        pair = even + 1 - (within - _covariance(away, 2 * k + 1)) / total
        if pair <= 0 or k == last:
            return time + (even if pair >= 0 else max(even, 0.0))
        least = min(least, pair)
        time += 2 * least
    return time


@_compiled
def _covariance(x, lag):
    """Return sum_k x_k x_(k + lag) / draws, the mean over the chains x (chains, draws)."""
    total = 0.0
    for c in range(len(x)):
        now, later = x[c, : x.shape[1] - lag], x[c, lag:]
        for k in range(_U(len(now))):
            total += now[k] * later[k]
    return total / x.size
