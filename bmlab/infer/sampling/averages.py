"""Averages over chains: means, correlations, their standard errors, and convergence diagnostics.

Errors come from groups that are independent of each other: up to 32 groups of chains, or, if chains are few, parts of
their time, each at least as long as three independent draws of the slowest unit.  The error is the spread of the
groups' averages over the root of their number; it includes slow mixing inside a group, which makes the groups differ.
The spread of fewer than 32 groups is uncertain, so the error is wider, by Student's t; a single group has no error.

All sums are of whole numbers, so that results do not depend on the number of sweeps per block, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy

from ...checking.budgets import check_memory
from ...estimate import as_corr, coupled_pairs, pair_sums
from ...model import BoltzmannMachine
from ...running.compiling import import_once, numba_is_loaded
from ...running.sparsity import values_at
from ...running.threads import one_thread
from .diagnostics import STDERR_GROUPS, SplitStatistics, agreement, mean_and_stderr, split_statistics

MIN_INDEPENDENT_DRAWS = 3  # effective draws of the slowest unit in a part of time, for nearly independent parts
KEPT_SPANS = 16, 1024  # spans of sweeps kept of each chain, at least and at most
KEPT_NUMBERS = 2**19  # numbers kept of all chains together, between these limits
COLUMN_STRIP = 128  # columns of a matrix that are processed together
BATCH_STATES = 2**24  # states of units, over all sweeps of a batch, whose pairs are counted together
BATCH_SWEEPS = 8, 1024  # at least and at most: eight fill a byte, 1,024 are long enough
RHAT_UNITS = 2**19  # units of all chains together up to which R-hat uses every chain; above, evenly spread chains
CACHED_BYTES = 2**18  # bytes of words that are compared together


class Averages(NamedTuple):
    """Averages over the chains, laid out as in Estimate, with R-hat and ESS of the worst unit.

    n_draws   states that were averaged
    split     the statistics behind R-hat; None for a single sweep
    """

    mean: np.ndarray
    corr: np.ndarray | scipy.sparse.csr_array
    mean_stderr: np.ndarray
    corr_stderr: np.ndarray | scipy.sparse.csr_array
    n_draws: int
    rhat: float = np.nan
    ess: float = np.nan
    split: SplitStatistics | None = None


def average(model: BoltzmannMachine, blocks: Iterable[np.ndarray], n_chains: int, n_sweeps: int) -> Averages:
    """Average states given in blocks (sweeps, n, chains), `n_sweeps` in all; memory does not grow with n_sweeps.

    Raises ValueError, with the size, if the sums would not fit into memory.
    """
    if n_sweeps == 1 and n_chains >= STDERR_GROUPS and model.n:
        return _of_one_sweep(model, next(iter(blocks))[0])
    count = min(n_chains, STDERR_GROUPS)
    groups = np.append(0, np.cumsum(n_chains // count + (np.arange(count) < n_chains % count)))  # first chains
    n_spans = min(n_sweeps, int(np.clip(KEPT_NUMBERS // (n_chains * model.n + 1), *KEPT_SPANS)))
    n_parts = min(n_spans, -(-STDERR_GROUPS // count))
    n_bytes = 8.0 * n_parts * count * (model.weights.nnz if model.is_sparse else model.n**2)
    check_memory(f"averages of {model.n} units would be kept of {n_parts * count} groups", n_bytes, "use fewer chains")
    part = np.arange(n_spans) * n_parts // n_spans  # the part of time of each span of sweeps
    record, pairs = _sums(model, blocks, groups, part, n_sweeps)
    ends = np.searchsorted(part, np.arange(n_parts + 1))
    of_parts = [record[a:b].sum(0, dtype=float) for a, b in pairwise(ends)]
    units = np.add.reduceat(of_parts, groups[:-1], axis=2).swapaxes(1, 2)  # (parts, groups, n)
    lengths = np.diff(-(-np.arange(n_spans + 1) * n_sweeps // n_spans))
    sizes = np.outer(np.bincount(part, lengths), np.diff(groups))
    record /= lengths[:, None, None]
    judged = min(n_chains, max(STDERR_GROUPS, RHAT_UNITS // max(1, model.n)))
    record = record[:, :, np.arange(judged) * n_chains // max(1, judged)] if judged < n_chains else record
    spans = np.ascontiguousarray(np.moveaxis(record, 0, 2))
    rhat, ess = agreement(spans, 1 - (units.sum((0, 1)) / sizes.sum()) ** 2)
    ess *= n_chains / judged
    units, pairs, sizes = (_joined(sums, ess / (MIN_INDEPENDENT_DRAWS * count)) for sums in (units, pairs, sizes))
    mean, mean_stderr = _mean_and_stderr(units, sizes, n_chains)
    corr, corr_stderr = _mean_and_stderr(pairs, sizes, n_chains)
    errors = mean_stderr, _as_matrix(model, corr_stderr, diagonal=0.0)
    return Averages(mean, _as_matrix(model, corr), *errors, n_chains * n_sweeps, rhat, ess, split_statistics(spans))


def _joined(sums, independent):
    """Add up neighbouring parts of time in sums (parts, ...), until `independent` parts are left, or one if nan."""
    left = int(max(1, np.nan_to_num(independent).clip(max=len(sums))))
    return np.add.reduceat(sums, np.arange(left) * len(sums) // left) if left < len(sums) else sums


def _mean_and_stderr(sums, sizes, n_chains):
    """Return mean and standard error of -1/+1 from sums (parts, groups, ...), of `sizes` draws (parts, groups).

    Groups that agree exactly do not prove the mean: the error is at least 2 / N, the change by one more of N
    independent draws; N is at least the number of chains, or of groups.
    """
    mean = sums.sum((0, 1)) / sizes.sum()  # of whole numbers: exact, in whatever order
    sums /= sizes.reshape(sizes.shape + (1,) * (sums.ndim - 2))
    groups = sums.reshape(sizes.size, *sums.shape[2:])
    return mean_and_stderr(groups, sizes.ravel(), 2 / max(sizes.size, n_chains), mean)


def _of_one_sweep(model, states):
    """Average states (n, chains) of independent chains: errors of means of -1/+1 follow the binomial law."""
    if not model.is_sparse and numba_is_loaded():
        corr, errors = np.empty((2, model.n, model.n))
        count = import_once(".compiled_averages", __package__).one_sweep
        mean, stderr = count(states, *_binomial(states.shape[1]), corr, errors)
        return Averages(mean, corr, stderr, errors, states.shape[1])
    s = states.T.astype(np.float32)
    pairs = np.divide(pair_sums(model, s), len(s), dtype=float) if model.is_sparse else _products(s)
    mean, corr = s.sum(0, dtype=float) / len(s), as_corr(model, pairs)
    return Averages(mean, corr, _binomial_stderr(mean, len(s)), _errors(model, corr, len(s)), len(s))


def _products(s):
    """Return the means of s_i s_j over the rows of s (chains, n), in single precision; strips stay in the cache."""
    found = np.empty((s.shape[1], s.shape[1]))
    with one_thread() if len(found) > COLUMN_STRIP else nullcontext():
        for a in range(0, len(found), COLUMN_STRIP):
            np.divide(s[:, a : a + COLUMN_STRIP].T @ s, len(s), out=found[a : a + COLUMN_STRIP], dtype=float)
    return found


def _errors(model, corr, count):
    """Return the standard errors of correlations, laid out as these are."""
    pairs = values_at(corr, coupled_pairs(model)) if model.is_sparse else corr
    return as_corr(model, _binomial_stderr(pairs, count), diagonal=0.0)


@lru_cache(maxsize=2)
def _binomial(count):
    """Return the mean of `count` values -1/+1, and its error, by how many of them are -1."""
    mean = np.arange(count, -count - 1, -2) / count
    return mean, _binomial_stderr(mean, count)


def _binomial_stderr(mean, count):
    """Return sqrt((1 - x^2) / (count - 1)), the error of a mean of -1/+1; 2/count if all values are equal.

    2/count is also the error if all but one are equal.
    """
    variance = mean * mean
    np.subtract(1, variance, out=variance)  # in place: a new array of n x n numbers would cost more than the sum
    variance /= max(1, count - 1)
    np.maximum(variance, (2 / count) ** 2, out=variance)
    return np.sqrt(variance, out=variance)


def _sums(model, blocks, groups, part, n_sweeps):
    """Sum s_i over each span of sweeps, (spans, n, chains), and s_i s_j, i < j, over each part and group."""
    n_spans, n_chains = len(part), groups[-1]
    record, partners = np.zeros((n_spans, model.n, n_chains), np.float32), _upper_pairs(model)
    pairs = np.zeros((part[-1] + 1, len(groups) - 1, len(partners[0])))
    gathered = np.clip(BATCH_STATES // max(1, model.n * n_chains), *BATCH_SWEEPS)
    add = import_once(".compiled_averages", __package__).add_blocks if numba_is_loaded() else add_blocks
    add(blocks, n_sweeps, part, groups, partners, record, pairs, gathered)
    return record, pairs


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
    """Add states (sweeps, n, chains) to the sums of their spans and, products of partners, of their parts.

    n_sweeps  in all blocks, which are cut into spans as long as each other
    part      (spans,), of time, of each span; it only grows
    groups    where each group of chains begins, and the end
    partners  units i and j of each pair
    record    (spans, n, chains), and pairs (parts, groups, pairs)
    gathered  sweeps whose pairs are counted together
    """
    done = 0
    for block in _batched(blocks, gathered):
        here = spans_of(done, len(block), len(part), n_sweeps)
        for k, draws in _split_by_label(here, block):
            for a in range(0, len(draws), 127):  # 127 draws fit into eight bits, whose sums are fast
                record[k] += draws[a : a + 127].sum(0, dtype=np.int8)
        for p, draws in _split_by_label(part[here], block):
            _add_pairs(pairs[p], draws, groups, *partners)
        done += len(block)


def spans_of(first: int, count: int, n_spans: int, n_sweeps: int) -> np.ndarray:
    """Return the span that each of `count` sweeps belongs to, from the first on."""
    return np.arange(first, first + count) * n_spans // n_sweeps


def _batched(blocks, enough):
    """Join blocks until they have `enough` sweeps: the cost per sweep falls with their number."""
    waiting = []
    for block in blocks:
        waiting.append(block)
        if sum(map(len, waiting)) >= enough:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def _split_by_label(label, block):
    """Yield each label, which never falls along a block, with its sweeps."""
    labels, firsts = np.unique(label, return_index=True)
    yield from zip(labels, np.split(block, firsts[1:]), strict=True)


def _upper_pairs(model):
    """Return the pairs i < j, (row, col): all pairs, or the coupled pairs of a sparse machine."""
    return _upper_and_places(model)[0] if model.is_sparse else np.triu_indices(model.n, 1)


def _upper_and_places(model):
    """Return the coupled pairs i < j of a sparse machine, and the number of the pair of each stored coupling."""
    row, col = coupled_pairs(model)
    pair = np.minimum(row, col) * np.int64(model.n) + np.maximum(row, col)
    upper, place = np.unique(pair, return_inverse=True)
    return np.divmod(upper, max(1, model.n)), place


def _as_matrix(model, values, diagonal=1.0):
    """Return numbers of the pairs i < j as a matrix with `diagonal`, laid out as in Estimate."""
    if model.is_sparse:
        return as_corr(model, values[_upper_and_places(model)[1]], diagonal)
    matrix = np.zeros((model.n, model.n))
    matrix[_upper_pairs(model)] = values
    return as_corr(model, matrix + matrix.T, diagonal)


def _add_pairs(sums, draws, groups, row, col):
    """Add s_i s_j over the draws of each group: the number of equal signs minus the number of different ones.

    Differences are counted by the bits of an exclusive or, up to 64 sweeps in a word.
    """
    if not len(row):
        return
    words = _packed(draws)
    firsts, sizes = groups[:-1] * (words.shape[1] // groups[-1]), len(draws) * np.diff(groups)[:, None]
    step = max(1, CACHED_BYTES // words[0].nbytes)
    for a in range(0, len(row), step):
        here = slice(a, a + step)
        apart = np.bitwise_count(words[row[here]] ^ words[col[here]])
        sums[:, here] += sizes - 2 * np.add.reduceat(apart, firsts, axis=1, dtype=np.int32).T


def _packed(draws):
    """Return the states (sweeps, n, chains) as bits of words (n, chains * words), of 8 to 64 bits each."""
    width = min(8, 1 << ((len(draws) - 1) // 8).bit_length())  # bytes of a word
    bits = np.zeros((-(-len(draws) // (8 * width)) * width, *draws.shape[1:]), np.uint8)
    up = np.empty(bits.shape, bool)  # allocated once: new memory costs more than these sums
    for t in range(8):
        here = slice(len(draws[t::8]))
        bit = np.greater(draws[t::8], 0, out=up[here]).view(np.uint8)
        bit *= np.uint8(1 << t)
        bits[here] |= bit
    return np.ascontiguousarray(np.moveaxis(bits, 0, -1)).reshape(draws.shape[1], -1).view(f"u{width}")
