"""The laws that every method obeys, in every form in which a machine can be written down.

The referee is the sum over all states of bmlab.plain.  Each law is a function of a method
(dense model -> Estimate); tests/mutants.py shows that each can fail.  on(form, method) asks the method about the same
machine in another form and puts the answer back: so each law holds of sparse, permuted and clamped machines as well.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice
from threading import Barrier
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse, stats
from selection import exhaustive, one_of, slow
from test_belief_propagation import forest
from threadpoolctl import threadpool_info, threadpool_limits

import bmlab
from bmlab import methods as table
from bmlab import plain
from bmlab.infer.sampling.chains import Chains
from bmlab.infer.sampling.numpy_engine import fine_digits, stream
from bmlab.infer.variational.linear_response import MAX_INCONSISTENCY
from bmlab.learn import likelihood
from bmlab.running import sparsity

pytestmark = pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
ROUNDING = 1e-11  # 2^15 terms of order one, a few thousand roundings of 2^-53 each
STDERRS = stats.t.isf(1e-8, 31)  # 32 groups of chains: passed by chance once in 5e7 comparisons; about 7.5


def quick(row, options):
    """The method of a row of the table with these options, which need not suit an answer that it goes on from."""

    def drawing(model, start=None, seed=0):
        return asked(model, start, rng=seed)

    def asked(model, start=None, **rng):
        here = dict(options)
        if "temperatures" in here:
            here["temperatures"] = None if start else model.temperature * np.array(here["temperatures"])
        return row.function(model, start=start, **rng, **here)

    return drawing if row.draws else asked


METHODS = {key: quick(row, row.laws) for key, row in table.METHODS.items()}


def those(test):
    """Key -> method, quick enough for the small machines of this file, for the rows of the table that pass a test."""
    return {key: method for key, method in METHODS.items() if test(table.METHODS[key])}


SAMPLERS, THEORIES = those(lambda row: row.draws), those(lambda row: not row.draws)
APPROXIMATIONS = those(lambda row: row.order and row.order < np.inf)
BOUNDS = {"lower bound", "upper bound"}
sampled, seen, weighted, few_trees, chosen = (METHODS[key] for key in ("gibbs", "visited", "ais", "trw", "auto"))


def methods(*without, among=METHODS, slow=(), name="method"):
    """Ask once for each method but a few; `make check` leaves the slow ones out."""
    named = {each: method for each, method in among.items() if each not in without}
    marked = [pytest.param(method, marks=[pytest.mark.slow] * (each in slow)) for each, method in named.items()]
    return pytest.mark.parametrize(name, marked, ids=named)


def referee(model):
    """log Z, means and correlations by the definition: a sum over all 2^n states."""
    answer = plain.brute_force(model)
    return answer.log_z - model.offset / model.temperature, answer.mean, answer.corr


def machine(n, seed=0, scale=1.0, temperature=1.0, offset=0.0):
    """A random machine with biases of order one."""
    rng = np.random.default_rng(seed)
    weights = bmlab.sherrington_kirkpatrick(n, rng=rng, scale=scale).weights
    return bmlab.BoltzmannMachine(weights, rng.normal(size=n), temperature, offset)


def in_two_parts(n, seed=0, temperature=1.0):
    """A machine whose units 0, 2, 4, ... are not coupled to the others, and some other pairs neither."""
    whole = machine(n, seed, temperature=temperature)
    odd = np.arange(n) % 2
    here = (odd == odd[:, None]) & (np.abs(np.subtract.outer(range(n), range(n))) <= n // 2)
    return replace(whole, weights=whole.weights * here)


# The forms of a machine


class Written(NamedTuple):
    """A machine in another form, and how its answer is put back: `places` of the units, their signs, log Z."""

    model: bmlab.BoltzmannMachine
    places: np.ndarray | slice = slice(None)
    signs: np.ndarray | float = 1.0
    log_z: float = 0.0


def as_it_is(model):
    return Written(model)


def as_sparse(model):
    return Written(replace(model, weights=sparse.csr_array(model.weights)))


def with_stored_zeros(model):
    """Every pair of units is stored, coupled or not."""
    row, col = np.nonzero(~np.eye(model.n, dtype=bool))
    return Written(
        replace(model, weights=sparse.csr_array((model.weights[row, col], (row, col)), shape=(model.n,) * 2))
    )


def permuted(model):
    order = np.random.default_rng(5).permutation(model.n)
    moved = replace(model, weights=model.weights[order][:, order], biases=model.biases[order])
    return Written(moved, np.argsort(order))


def with_signs_turned(model):
    """The gauge: a unit that counts the other way turns its bias, its couplings, its mean and its correlations."""
    signs = np.resize([1.0, -1, -1, 1, -1], model.n)
    return Written(
        replace(model, weights=signs[:, None] * model.weights * signs, biases=signs * model.biases), signs=signs
    )


def hotter(model):
    """All energies and T four times as large; a power of two, which rounds nothing."""
    return Written(bmlab.BoltzmannMachine(4 * model.weights, 4 * model.biases, 4 * model.temperature, 4 * model.offset))


def clamped(model, to=np.asarray):
    """A larger machine, two of whose units are held: their energy is the offset."""
    rng, free = np.random.default_rng(6), np.delete(np.arange(model.n + 2), [0, model.n // 2 + 1])
    held, values = np.setdiff1d(np.arange(model.n + 2), free), np.array([1.0, -1.0])
    weights, biases = np.zeros((model.n + 2,) * 2), np.full(model.n + 2, 0.3)
    weights[np.ix_(free, free)] = model.weights
    weights[np.ix_(held, free)] = rng.normal(size=(2, model.n))
    weights[np.ix_(free, held)] = weights[np.ix_(held, free)].T
    weights[held, held[::-1]] = 0.7
    biases[free], biases[held[0]] = model.biases - values @ weights[np.ix_(held, free)], 1.1
    larger = bmlab.BoltzmannMachine(to(weights), biases, model.temperature, model.offset)
    energy = 0.7 - values @ biases[held]  # of the two: -w s s' - b s - b' s'
    return Written(larger.clamp(held, values), log_z=energy / model.temperature)


def sparse_and_clamped(model):
    return clamped(model, sparse.csr_array)


FORMS = {
    "as it is": as_it_is,
    "sparse": as_sparse,
    "stored zeros": with_stored_zeros,
    "permuted": permuted,
    "signs turned": with_signs_turned,
    "hotter": hotter,
    "clamped": clamped,
    "sparse and clamped": sparse_and_clamped,
}
SAME_WALK = as_sparse, with_stored_zeros, hotter, clamped, sparse_and_clamped  # samplers pass through the same states
QUICK_FORMS = (
    "as it is",
    "signs turned",
    "sparse and clamped",
)  # that `make check` and `make test` try, `make test-all` all
every_form = pytest.mark.parametrize(
    "form",
    [pytest.param(form, marks=[slow, exhaustive] * (name not in QUICK_FORMS)) for name, form in FORMS.items()],
    ids=FORMS,
)


def on(form, method):
    """The method, asked in this form: a function of the dense machine, whose answer is dense, unknown pairs nan."""

    def asked(model, **options):
        written = form(model)
        answer = method(written.model, **options)
        back = written.places
        pairs = np.multiply.outer(*[np.broadcast_to(written.signs, model.n)] * 2)
        z = answer.log_z
        return replace(
            answer,
            mean=written.signs * answer.mean[back],
            corr=pairs * full(answer.corr)[back][:, back],
            log_z=bmlab.Bounded(z + written.log_z, z.stderr, z.lower + written.log_z, z.upper + written.log_z),
            mean_stderr=np.broadcast_to(answer.mean_stderr, model.n)[back],
            corr_stderr=np.broadcast_to(full(answer.corr_stderr), (model.n,) * 2)[back][:, back],
        )

    return asked


def full(pairs):
    """An array of pairs as a dense one, nan if a sparse one has no entry."""
    if not sparse.issparse(pairs):
        return pairs
    dense, held = np.full(pairs.shape, np.nan), pairs.tocoo()
    dense[held.row, held.col] = held.data
    return dense


def slack(one, other=0.0):
    """The tolerated difference of two answers: rounding, or STDERRS of their difference if they sampled."""
    return ROUNDING + STDERRS * np.hypot(one, other)


def near(one, other, error):
    """Whether two arrays agree to within `error` wherever both are known."""
    known = ~np.isnan(one) & ~np.isnan(other)
    return (np.abs(one - other) <= error)[known].all()


def assert_same(one, other, noise=1.0):
    """Compare two Estimates: up to rounding, and up to `noise` times the limit of their standard errors."""
    for name in ("mean", "corr"):
        errors = [noise * getattr(answer, f"{name}_stderr") for answer in (one, other)]
        assert near(getattr(one, name), getattr(other, name), slack(*errors))
    assert np.isnan(one.log_z) == np.isnan(other.log_z)
    for end in ("value", "lower", "upper"):
        a, b = getattr(one.log_z, end), getattr(other.log_z, end)
        allowed = slack(noise * one.log_z.stderr, noise * other.log_z.stderr) * (1 + abs(a))
        assert np.isnan(a) or a == b or abs(a - b) <= allowed


def couplings(model):
    """Which pairs every answer must know, (n, n): those that are coupled, and each unit with itself."""
    return (model.weights != 0) | np.eye(model.n, dtype=bool)


# 1


def law_record(method):
    for n in (0, 2, 7):
        model = in_two_parts(n, temperature=2.0)
        answer = method(model)
        assert answer.mean.shape == (n,) and answer.corr.shape == answer.covariance.shape == (n, n)
        assert (np.diag(answer.corr) == 1).all()
        assert near(answer.corr, answer.corr.T, ROUNDING)
        assert (np.abs(answer.mean) <= 1).all()
        for pairs in (answer.corr, answer.corr_stderr, answer.covariance):
            assert not np.isnan(pairs[couplings(model)]).any()
        assert answer.method and isinstance(answer.converged, bool)
        # one of another machine would be taken for this one's
        assert answer.model is not None and answer.model.n >= n
        assert len(answer.message.split()) > 3  # a sentence: why it stopped
        z = answer.log_z
        assert isinstance(z, float) and isinstance(z, bmlab.Bounded)
        assert not z.stderr < 0 and (z.stderr == 0 or z.lower < z.upper)  # exact answers have no error
        again = method(model, start=answer.state)
        assert again.method == answer.method and np.isnan(again.log_z) == np.isnan(answer.log_z)


# 2


def law_bounds(method, seeds=(0, 5, 10, 15)):
    for seed in seeds:
        model = machine(8, seed, scale=2.0, temperature=0.5 + seed / 10, offset=seed - 10)
        true, answer = referee(model)[0], method(model).log_z
        assert answer.lower <= true + ROUNDING * (1 + abs(true))
        assert answer.upper >= true - ROUNDING * (1 + abs(true))


# 3


def law_no_weights(method, sizes=(0, 1, 5)):
    """Also without units, without stored weights, or with stored zeros alone."""
    for n in sizes:
        biases = np.random.default_rng(n).normal(size=n)
        answer = method(bmlab.BoltzmannMachine(np.zeros((n, n)), biases, temperature=1.7, offset=0.4))
        x = biases / 1.7
        true = np.tanh(x)
        assert (np.abs(answer.mean - true) <= slack(answer.mean_stderr)).all()
        off = ~np.eye(n, dtype=bool)
        assert near(answer.corr[off], np.outer(true, true)[off], slack(full(answer.corr_stderr) * off)[off])
        log_z = np.log(2 * np.cosh(x)).sum() - 0.4 / 1.7
        assert np.isnan(answer.log_z) or abs(answer.log_z - log_z) <= slack(answer.log_z.stderr) * (1 + n)


def law_cold(method):
    """If a few states have all of p(s) there are numbers, not nan, and no overflow, with fields and without."""
    for seed in range(2):
        warm = machine(8, seed, scale=2.0)
        for model in (warm.at(0.01), bmlab.BoltzmannMachine(warm.weights, np.zeros(8), 0.01)):
            answer, true = method(model), bmlab.exact(model).log_z
            assert (np.abs(answer.mean) <= 1).all() and not np.isinf(answer.log_z)
            assert answer.log_z.lower - ROUNDING * true <= true <= answer.log_z.upper + ROUNDING * true


# 4


def law_weak_weights(method, order=2, scale=0.02):
    """Halving the weights divides the largest error by 2^order; the next order adds a few `scale` to the exponent."""
    errors = []
    for size in (scale, scale / 2):
        model = machine(6, seed=3, scale=size)
        answer, (log_z, mean, corr) = method(model), referee(model)
        off = np.abs(answer.mean - mean).max(), np.abs(answer.corr - corr).max()
        errors.append([abs(answer.log_z - log_z), *off])
    claimed = np.log2(np.divide(*errors))
    assert abs(claimed.min() - order) < 10 * scale


def law_referee(method, sizes=(1, 4, 8)):
    """An answer that states no error, or a sampling error, agrees with the plain sum over states."""
    for n in sizes:
        for model in (machine(n, seed=n, temperature=1.3, offset=0.7), in_two_parts(n, seed=n, temperature=1.3)):
            answer, (log_z, mean, corr) = method(model), referee(model)
            assert (np.abs(answer.mean - mean) <= slack(answer.mean_stderr)).all()
            assert near(answer.corr, corr, slack(answer.corr_stderr))
            assert np.isnan(answer.log_z) or (
                abs(answer.log_z - log_z) <= slack(answer.log_z.stderr) * (1 + abs(log_z))
            )


def law_stated_error(method, sizes=(1, 4, 8)):
    """Means and correlations are off by no more than info["error"], rms: samples by chance, within STDERRS of it.

    That of samples is two of their standard errors.  A method that has not converged states nothing.
    """
    for n in sizes:
        for model in (machine(n, seed=n, temperature=1.3, offset=0.7), in_two_parts(n, seed=n, temperature=3.0)):
            answer, (_, mean, corr) = method(model), referee(model)
            off = np.concatenate([answer.mean - mean, (answer.corr - corr)[np.triu_indices(n, 1)]])
            chance = STDERRS / 2 if table.METHODS[table.key_of(answer.method)].draws else 1
            assert answer.converged == np.isfinite(answer.info["error"])
            assert not answer.converged or np.sqrt(np.nanmean(off**2)) <= chance * answer.info["error"] + ROUNDING


# 5, 6 and 10


def law_same(method, form, sizes=(6,)):
    """The same answer in every form, up to rounding; samplers that walk otherwise, up to their errors."""
    for n in sizes:
        for model in (machine(n, seed=5, temperature=3.0, offset=1.0), in_two_parts(n, seed=5, temperature=2.0)):
            one, other = (on(each, method)(model) for each in (as_it_is, form))
            assert_same(one, other, noise=form not in SAME_WALK)
            if form in SAME_WALK:
                for error in ("mean_stderr", "corr_stderr"):
                    assert near(getattr(one, error), getattr(other, error), ROUNDING)


def law_known(method, form):
    """Which pairs are known depends on the type of the weights: dense ones all, sparse ones those that are stored."""
    model = in_two_parts(7, seed=2, temperature=2.0)
    written = form(model)
    known = ~np.isnan(method(written.model).covariance)[written.places][:, written.places]
    assert (known == (couplings(model) if form in (as_sparse, sparse_and_clamped) else True)).all()


def law_seed(method):
    """A seed is a generator (SPEC 7)."""
    model = machine(5, temperature=2.0)
    assert_same(method(model, seed=3), method(model, seed=np.random.default_rng(3)), noise=0.0)


def law_at_once(method, other, times=3):
    """Two methods in two threads answer as each does alone, and leave BLAS the threads that it had."""
    model, together = machine(7, seed=8, temperature=2.0), Barrier(2)

    def asked(one):
        together.wait()
        return [one(model) for _ in range(times)]

    with threadpool_limits(limits=2, user_api="blas"), ThreadPoolExecutor(2) as pool:
        alone, before = [on(as_it_is, one)(model) for one in (method, other)], threadpool_info()
        for answers, expected in zip(pool.map(asked, (method, other)), alone, strict=True):
            for answer in answers:
                assert_same(answer, expected, noise=0.0)
        assert threadpool_info() == before


# 7


def law_invariance(sweep=bmlab.sweep, form=as_it_is):
    """pi P = pi, with P read off the sampler itself at n = 4."""
    model = form(machine(4, seed=7, temperature=1.9)).model
    pi = np.exp(-model.energy(bmlab.states(4)) / 1.9)
    pi /= pi.sum()
    assert np.abs(pi @ transition_matrix(model, sweep) - pi).max() < ROUNDING


def transition_matrix(model, sweep):
    """P[s, t] of one sweep: the product of the chances that a unit turns to its target once the earlier ones have."""
    s = bmlab.states(model.n)
    start, target = (x.reshape(-1, model.n) for x in np.broadcast_arrays(s[:, None], s[None]))
    chance = np.ones(len(start))
    for i in range(model.n):
        up = chance_of_plus(model, sweep, start, target, i)
        chance *= np.where(target[:, i] > 0, up, 1 - up)
    return chance.reshape(len(s), len(s))


def chance_of_plus(model, sweep, start, target, i):
    """The largest u for which unit i turns +1, by bisection; the earlier units are forced to their target."""
    u = np.where(target > 0, 1e-300, 1 - 2**-53)
    low, high = np.zeros(len(start)), np.ones(len(start))
    for _ in range(60):
        u[:, i] = (low + high) / 2
        plus = sweep(model, start, u)[:, i] > 0
        low, high = np.where(plus, u[:, i], low), np.where(plus, high, u[:, i])
    return low


def law_engines_agree(model, n_chains, sweeps=40, **options):
    """Both engines pass through the states of sweep() on the same uniforms, to the bit.

    T and the biases change under way, as annealing, tempering and AIS change them, and are the machine's own again.
    """
    s = bmlab.spins(np.random.default_rng(1).integers(0, 2, (n_chains, model.n)))
    walks = [Chains(model, s.T, np.random.default_rng(2), backend=name, **options) for name in ("numpy", "numba")]
    drawn = uniforms(model, s, 4 * sweeps, **options)
    for shift, temperature in ((0, 1), (0, 1.1), (1 / 1024, 0.9), (0, 1)):
        now = replace(model, biases=model.biases + shift, temperature=model.temperature * temperature)
        one, other = (path(walk, now, sweeps) for walk in walks)
        assert (one == other).all()
        for states, (units, u) in zip(one, islice(drawn, sweeps), strict=True):
            s = bmlab.sweep(now, s, u, units=units)
            assert (s == states.T).all()
        # a kept field is off by at most one rounding of its size for each flip since it was summed
        size = 2.0**-52 * 128 * model.n * (np.abs(model.weights).sum() + np.abs(model.biases).sum())
        assert np.abs([walk.energies() - model.energy(s) for walk in walks]).max() <= size


def path(walk, now, sweeps):
    """The states (n, chains) after each sweep at another T; at other biases one by one, with AIS's fields."""
    beta = np.full(walk.s.shape[1], 1 / now.temperature)
    if (now.biases == walk.model.biases).all():
        return np.concatenate(list(walk.draws(sweeps, beta=beta)))
    found = []
    for _ in range(sweeps):
        known = walk.model.weights[walk.classes[0]] @ walk.s.astype(float)
        walk.sweep(beta=beta, biases=now.biases, first_field=known)
        found.append(walk.s.copy())
    return np.array(found)


def uniforms(model, start, sweeps, **options):
    """Which units the chains of gibbs() update, sweep by sweep, and all digits of their uniforms (chains, n)."""
    twin = Chains(model, start.T, np.random.default_rng(2), backend="numpy", **options)
    k = twin.first_bits(sweeps)
    for t in range(sweeps):
        place = (t * model.n + np.arange(model.n)).astype(np.uint64)
        yield twin.classes.order, ((k[t] + fine_digits(stream(twin.seeds, place[:, None]))) / 65536).T


# 8


def law_coverage(method, runs=200):
    """|error| < 2 stderr in about 95 % and < 4 in nearly all runs, of each mean, each correlation and of log Z.

    With 32 groups the error is a t variable of 31 degrees: 94.6 % inside 2.  The share is known to
    sqrt(0.05 * 0.95 / runs) = 0.016, of which four are allowed.  Wilson's, of ais, are inside 98 % at most on average.
    """
    model = machine(4, seed=0, scale=2.0, temperature=0.8)  # slow: a mean varies 4 times as much as of free draws
    log_z, mean, corr = referee(model)
    pairs = np.triu_indices(4, 1)
    inside = []
    for seed in range(runs):
        answer = method(model, seed)
        size = np.concatenate(
            [(answer.mean - mean) / answer.mean_stderr, (answer.corr - corr)[pairs] / answer.corr_stderr[pairs]]
        )
        if answer.log_z.stderr > 0:
            size = np.append(size, (answer.log_z.value - log_z) / answer.log_z.stderr)
        inside.append([np.abs(size) < 2, np.abs(size) < 4])
    two, four = np.mean(inside, axis=0)
    assert (two > 0.946 - 0.064).all() and two.mean() < 0.99
    assert four.min() > 0.98


def correlated_chains(model, seed):
    """Few sweeps of slow chains: an error bar that took sweeps for independent would be too small."""
    rng = np.random.default_rng(seed)
    return bmlab.gibbs(model, rng=rng, n_chains=64, burn_in=20, n_sweeps=40)


def one_long_chain(model, seed):
    """A single chain: its stretches of 100 sweeps stand for independent groups."""
    return bmlab.gibbs(model, rng=np.random.default_rng(seed), n_chains=1, burn_in=100, n_sweeps=3200)


# 9


def one_by_one(model, start=None):
    """exact(), by another name: the clamped phase then asks for each pattern alone."""
    return bmlab.exact(model)


def noisy(rng, size=1e-3):
    """Return exact() with normal noise in log Z, means and correlations, of the errors that it states."""

    def method(model, start=None):
        answer = bmlab.exact(model)
        error, errors, of_z = (size * rng.uniform(0.5, 1.5, shape) for shape in (model.n, (model.n,) * 2, ()))
        errors = np.tril(errors, -1) + np.tril(errors, -1).T
        pairs = np.tril(errors * rng.normal(size=errors.shape))
        return replace(
            answer,
            mean=answer.mean + error * rng.normal(size=model.n),
            corr=answer.corr + pairs + pairs.T,
            log_z=bmlab.Bounded(answer.log_z + of_z * rng.normal(), of_z),
            mean_stderr=error,
            corr_stderr=errors,
        )

    return method


def law_errors_add(told, runs=100):
    """The spread of many answers is the error that they state, told(method) -> (values, stated errors).

    A spread of 100 is known to 1/sqrt(200); six of these are allowed, for a few dozen numbers.
    """
    rng = np.random.default_rng(0)
    values, stated = zip(*(told(noisy(rng)) for _ in range(runs)), strict=True)
    spread, error = np.std(values, axis=0), np.sqrt(np.mean(np.square(stated), axis=0))
    assert (np.abs(spread - error) <= 6 / np.sqrt(2 * runs) * error + ROUNDING).all() and error.max() > 0


PATTERNS = bmlab.states(3)[[0, 3, 3, 5, 6]]


def law_gradient(hidden_coupled=True, form=as_it_is, infer=bmlab.exact):
    """The slope of the likelihood is that of plain.gradient(), for every bias and every weight that is stored."""
    model = machine(5, seed=9, temperature=1.6)
    if not hidden_coupled:
        among_hidden = np.add.outer(range(5), range(5)) == 7
        model = replace(model, weights=model.weights * ~among_hidden)
    asked, (d_weights, d_biases) = form(model).model, slope(model)
    found = likelihood.gradient(asked, likelihood.clamped(asked, PATTERNS, infer), bmlab.exact(asked))
    assert np.abs(found[1] - d_biases).max() < ROUNDING
    assert near(full(found[0]), d_weights, ROUNDING)
    assert not np.isnan(full(found[0])[model.weights != 0 if asked.is_sparse else slice(None)]).any()


def slope(model):
    return plain.gradient(model, plain.clamped(model, PATTERNS), plain.brute_force(model))


def law_learning(form, steps=20):
    """A weight that is 0 for a while is learnt later, however the machine is written down."""
    data = bmlab.spins([[1, 1], [1, 1], [1, 0], [1, 1], [0, 1], [0, 1], [1, 0], [0, 0]])  # <s_0 s_1> = 0 at first
    blank = bmlab.BoltzmannMachine(np.zeros((3, 3)), np.array([0.0, 0.0, 0.1]))
    walks = [islice(bmlab.learning_steps(each(blank).model, data, rate=0.3), steps) for each in (as_it_is, form)]
    for one, other in zip(*walks, strict=True):
        assert abs(one.gradient_norm - other.gradient_norm) <= ROUNDING
        assert np.abs(one.model.weights - other.model.weights.toarray()).max() <= ROUNDING
        assert np.abs(one.model.biases - other.model.biases).max() <= ROUNDING


def law_likelihood(infer=bmlab.exact, form=as_it_is, free=None):
    """The interval of log_likelihood holds the mean log p(v), with coupled hidden units and any method for each phase.

    It is infinite on a side where a method bounds nothing, and never nan.
    """
    for seed in range(5):
        model = machine(5, seed, temperature=1.6)
        asked, true = form(model).model, plain.clamped(model, PATTERNS).log_z - plain.brute_force(model).log_z
        answer = likelihood.log_likelihood(likelihood.clamped(asked, PATTERNS, infer), (free or infer)(asked))
        assert answer.lower - ROUNDING <= true <= answer.upper + ROUNDING
        if answer.lower == answer.upper:
            assert abs(answer.value - true) < ROUNDING


def law_phases(method, form=as_it_is, seeds=(0, 1)):
    """An answer knows which phase it is: log L lies in its interval, at most 0, and swapped phases are refused."""
    for seed in seeds:
        asked = form(machine(5, seed, scale=1 + 2 * seed, temperature=1.6)).model
        held, free = likelihood.clamped(asked, PATTERNS, method), method(asked)
        assert held.is_clamped and not free.is_clamped
        answer = likelihood.log_likelihood(held, free)
        assert answer.upper <= 0 and (np.isnan(answer) or answer.lower <= answer.value <= answer.upper)
        for wrong in (likelihood.log_likelihood, partial(likelihood.gradient, asked), partial(bmlab.Step, asked)):
            with pytest.raises(ValueError, match="the clamped phase first"):
                wrong(free, held)


every_law = pytest.mark.parametrize("law", [law_record, law_no_weights, law_cold])


@every_form
@methods()
@every_law
def test_every_method_obeys_in_every_form(law, method, form):
    law(on(form, method))


@every_form
@methods(among=those(lambda row: not row.draws or BOUNDS & {*row.answers}))
def test_every_bound_holds(method, form):
    """Other samplers state none; auto() has those of bracket() if log Z is wanted."""
    law_bounds(on(form, method))


@every_form
@methods()
@pytest.mark.parametrize("law", [law_same, law_known])
def test_every_form_has_the_same_answer(law, method, form):
    law(method, form)


@methods(among=SAMPLERS)
def test_a_seed_does(method):
    law_seed(method)


@pytest.mark.parametrize(("name", "other"), list(zip(METHODS, [*METHODS][3:] + [*METHODS][:3], strict=True)))
def test_two_methods_at_once_are_two_methods_alone(name, other):
    law_at_once(METHODS[name], METHODS[other])


@methods("visited", slow=SAMPLERS)
def test_every_method_knows_many_free_units(method):
    """But for the sum over visited states, which sees few of the 2^1000: Z is no double."""
    law_no_weights(method, sizes=(1000,))


SHORTEST = {
    f"{key}({', '.join(options)})": quick(row, options)
    for key, row in table.METHODS.items()
    for options in row.shortest
}


def law_shortest(method):
    """The shortest run answers too, with no unit and with one, with couplings and without: unknown errors are nan."""
    for n in (0, 1, 2):
        for weights in (np.zeros((n, n)), machine(n).weights):
            answer = method(bmlab.BoltzmannMachine(weights, np.ones(n)))
            assert answer.mean.shape == (n,) and answer.corr.shape == (n, n)
            assert (np.abs(answer.mean) <= 1).all() and (np.diag(answer.corr) == 1).all()
            for stderr in (answer.mean_stderr, answer.corr_stderr):
                assert not (stderr < 0).any() and not np.isinf(stderr).any()


@every_form
@methods(among=SHORTEST)
def test_the_shortest_run_answers_for_every_machine(method, form):
    law_shortest(on(form, method))


def law_wide(method, form=as_it_is):
    """Couplings and biases over five decades: numbers beyond doubles are nan and not believed, without a warning."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        weights, biases = (10 ** rng.uniform(-2, 3, shape) * rng.choice([-1, 1], shape) for shape in [(5, 5), 5])
        weights = np.triu(weights, 1) * (rng.random((5, 5)) < 0.7)
        answer = method(form(bmlab.BoltzmannMachine(weights + weights.T, biases)).model)
        assert not np.isinf(full(answer.corr)).any() and not np.isnan(answer.mean).any()
        assert not (answer.converged and np.isnan(full(answer.corr)[couplings_of(answer)]).any())


def couplings_of(answer):
    """The pairs that an answer holds, as places of a dense array."""
    return answer.corr.nonzero() if sparse.issparse(answer.corr) else slice(None)


@pytest.mark.parametrize("form", [as_it_is, as_sparse])
@methods(among=THEORIES)
def test_no_machine_is_too_wide(method, form):
    law_wide(method, form)


@every_form
def test_every_road_of_exact_has_the_same_answer(form):
    """Two tables, three products, the listed side and elimination."""
    law_same(bmlab.exact, form, sizes=(12, 15, 22))
    law_same(lambda model: bmlab.exact(model, pairs="all"), form, sizes=(15,))


def test_exact_agrees_with_the_referee_on_every_road():
    law_referee(bmlab.exact, sizes=(9, 12, 15))


@every_form
@methods(among={"auto": chosen})
def test_an_error_that_is_stated_holds(method, form):
    law_stated_error(on(form, method))


@every_form
@methods(among=those(lambda row: row.order == np.inf))
def test_what_claims_to_be_right_agrees_with_the_referee(method, form):
    law_referee(on(form, method), sizes=(1, 4, 5 if method is seen else 8))


@every_form
@pytest.mark.parametrize("key", APPROXIMATIONS)
def test_the_error_is_of_the_order_claimed(key, form):
    """TAP leaves out the third order; Bethe has that of pairs, but not that of triangles."""
    law_weak_weights(on(form, METHODS[key]), table.METHODS[key].order)


def law_answers(method, answers):
    """A method answers the quantities of its row, and no others."""
    model = machine(6, seed=1, temperature=2.0)
    found = method(model)
    z = found.log_z
    known = np.isfinite([found.mean.sum(), found.corr.sum(), z.value, z.lower, z.upper])
    assert [answer for answer, is_known in zip(table.ANSWERS, known, strict=True) if is_known] == [*answers]


@methods("auto")
def test_a_method_answers_what_its_row_says(method, request):
    """But for auto(), which may choose a method that answers more."""
    law_answers(method, table.METHODS[request.node.callspec.id].answers)


@methods(
    among={
        key: quick(row, row.shortest[0])
        for key, row in table.METHODS.items()
        if key in APPROXIMATIONS and row.shortest and BOUNDS & {*row.answers}
    }
)
def test_bounds_hold_before_they_have_converged(method):
    law_bounds(method, range(20))


SWEEPS = {"Gibbs": bmlab.sweep, "Metropolis": partial(bmlab.sweep, rule="metropolis")}


@pytest.mark.parametrize("form", [as_it_is, with_stored_zeros])
@pytest.mark.parametrize("sweep", SWEEPS.values(), ids=SWEEPS)
def test_every_sweep_leaves_the_distribution_unchanged(sweep, form):
    law_invariance(sweep, form)


def layers(visible, hidden):
    rng = np.random.default_rng(3)
    return bmlab.restricted(rng.normal(size=(visible, hidden)), rng.normal(size=visible), np.ones(hidden))


def lattice(shape, coupling, **options):
    model = bmlab.ising(shape, coupling=coupling, **options).at(1.3)
    return replace(model, biases=np.random.default_rng(3).normal(size=model.n))


def band(n):
    """+-J on a chain and its second and third neighbours."""
    far = np.subtract.outer(range(n), range(n))
    signs = np.sign(bmlab.sherrington_kirkpatrick(n, rng=0).weights)
    return bmlab.BoltzmannMachine(sparse.csr_array(signs * (np.abs(far) <= 3)), np.zeros(n), 1.5)


WALKERS = {
    "full": machine(70, 3, temperature=1.2),
    "band": band(70),
    "lattice": bmlab.ising((5, 7), field=0.1).at(2.3),
    "open lattice": lattice((7, 9), -0.7, periodic=False),
    "small torus": lattice((3, 3), 0.3),
    "cold ring": lattice(50, 40.0),
    "layers": layers(40, 13),
    "thin layers": layers(60, 3),
}


@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize("model", one_of(WALKERS.values(), ids=WALKERS, kind=lambda model: model.is_sparse, mark=slow))
@pytest.mark.parametrize("n_chains", [pytest.param(3, marks=pytest.mark.slow), 70])
def test_both_engines_walk_as_the_reference_does(model, sequential, n_chains):
    law_engines_agree(model, n_chains, classes=sparsity.one_by_one(model.n) if sequential else None)


def short_ladders(model, seed):
    """Few sweeps of few replicas, with log Z by thermodynamic integration."""
    return bmlab.temper(
        model, rng=np.random.default_rng(seed), temperatures=[0.8, 2.0, np.inf], burn_in=20, n_sweeps=40
    )


def few_runs(model, seed):
    """Annealed importance sampling by as many runs as there are groups of chains."""
    return bmlab.ais(model, rng=np.random.default_rng(seed), n_chains=64, n_temperatures=20)


@pytest.mark.parametrize(
    "method",
    [
        correlated_chains,
        pytest.param(one_long_chain, marks=pytest.mark.slow),
        pytest.param(short_ladders, marks=pytest.mark.slow),
        few_runs,
    ],
    ids=["chains", "one chain", "temper", "ais"],
)
def test_the_stated_error_covers(method):
    law_coverage(method)


def law_few_chains(method, runs=10):
    """Two stated errors of few chains cover a mean and a correlation in 94.6 %, or the error is nan.

    40 pairs of units that are not coupled to the others, slow ones among them, are 40 independent trials a run: the
    share is known to sqrt(0.05 * 0.95 / (40 runs)), of which four are allowed.  Returns the share.
    """
    weights = np.kron(np.diag(np.linspace(0, 1.2, 40)), [[0, 1], [1, 0]])
    model = bmlab.BoltzmannMachine(weights, np.tile([0.3, 0.0], 40))
    true, first = bmlab.exact(model), np.arange(0, 80, 2)
    errors = []
    for seed in range(runs):
        answer = method(model, rng=seed)
        off, corr_off = answer.mean - true.mean, full(answer.corr) - full(true.corr)
        with np.errstate(divide="ignore", invalid="ignore"):
            sizes = off[first] / answer.mean_stderr[first], (corr_off / full(answer.corr_stderr))[first, first + 1]
        errors.append(np.abs(sizes))
        assert not (answer.converged and np.isnan(errors[-1]).any())
    known = ~np.isnan(errors)
    share = (np.array(errors)[known] < 2).mean() if known.any() else np.nan
    assert not share <= 0.946 - 4 * np.sqrt(0.05 * 0.95 / (40 * runs))
    return share


@pytest.mark.parametrize("n_sweeps", [1, 3, 40, 400])
@pytest.mark.parametrize("n_chains", [1, 2, 4, 8])
def test_few_chains_state_an_honest_error_or_none(n_chains, n_sweeps):
    law_few_chains(partial(bmlab.gibbs, n_chains=n_chains, n_sweeps=n_sweeps))


visible_first = pytest.mark.parametrize(
    "form", [as_it_is, as_sparse, with_stored_zeros, sparse_and_clamped], ids=lambda form: form.__name__
)


@visible_first
@pytest.mark.parametrize("hidden_coupled", [True, False], ids=["coupled", "closed form"])
def test_the_gradient_is_the_finite_difference(hidden_coupled, form):
    law_gradient(hidden_coupled, form)
    law_gradient(hidden_coupled, form, infer=one_by_one)


@pytest.mark.parametrize("form", [as_it_is, sparse_and_clamped], ids=["as it is", "sparse and clamped"])
@methods(among=THEORIES)
@methods("tap", "bethe", among=THEORIES, name="free")
def test_the_likelihood_lies_in_its_interval(method, form, free):
    law_likelihood(method, form, free)


@pytest.mark.parametrize("form", [as_it_is, pytest.param(sparse_and_clamped, marks=pytest.mark.slow)])
@methods()
def test_no_answer_is_taken_for_the_other_phase(method, form):
    law_phases(method, form)


def test_learning_goes_the_same_way_in_every_form():
    law_learning(with_stored_zeros)


def test_biases_are_learnt_where_no_coupling_is_stored():
    blank = bmlab.BoltzmannMachine(sparse.csr_array((2, 2)), np.zeros(2))
    step = next(islice(bmlab.learning_steps(blank, bmlab.spins([[1, 0], [1, 1], [0, 1]]), rate=0.3), 300, None))
    assert np.abs(step.free.mean - step.clamped.mean).max() <= ROUNDING


def law_trees(method, form=as_it_is, temperatures=(10.0, 0.3, 0.01)):
    """On trees Bethe's theory is exact, and so is its linear response, however cold: with biases and without.

    Energies of some units are rounded before they are divided by T: 2^-53 times a few over 0.01 is 1e-13.
    """
    for seed in range(30):
        tree = forest(5, np.random.default_rng(seed))
        biases = tree.biases * (seed % 3 > 0)
        for temperature in temperatures:
            model = bmlab.BoltzmannMachine(tree.weights, biases, temperature)
            answer, true = method(form(model).model), bmlab.exact(model)
            assert answer.converged, answer.message
            assert np.abs(answer.mean - true.mean).max() < 1e-11
            assert near(full(answer.corr), true.corr, 1e-11)
            assert abs(answer.log_z - true.log_z) <= 1e-12 * (1 + abs(true.log_z))
            assert answer.info.get("inconsistency", 0.0) < 1e-11


@pytest.mark.parametrize("form", [as_it_is, pytest.param(with_stored_zeros, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", [bmlab.bethe, bmlab.trw], ids=["bethe", "trw"])
def test_no_tree_is_too_cold(method, form):
    law_trees(method, form)


def any_machine(seed, most=8):
    """A machine of 3 to `most` units, weak or strong, hot or cold, with fields or without, with names and an offset."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, most + 1))
    weights = bmlab.sherrington_kirkpatrick(n, rng=rng, scale=rng.uniform(0.1, 4)).weights
    weights = [weights, np.abs(weights), -np.abs(weights)][seed % 3]  # a glass, a ferromagnet, all repel each other
    biases = rng.normal(scale=[0.0, 0.1, 1.0][seed // 3 % 3], size=n)
    return bmlab.BoltzmannMachine(
        weights, biases, np.exp(rng.uniform(-2, 1)), 5 * rng.normal(), names=tuple(f"unit {i}" for i in range(n))
    )


def converging(method, models):
    """Yield each machine whose answer has converged, with the answer; some have."""
    answers = [(model, method(model)) for model in models]
    yield from ((model, answer) for model, answer in answers if answer.converged)
    assert any(answer.converged for _, answer in answers)


def weak(seed, radius=0.2):
    """A machine of 3 to 8 units whose W/T has this spectral radius."""
    model = any_machine(seed)
    return model.at(np.abs(np.linalg.eigvalsh(model.weights)).max() / radius)


def law_free_bounds(method, machines=12):
    """A converged log Z lies below sum |w|/T + sum log 2 cosh(b/T), and above mean field's best product.

    A value that is itself a lower bound may be below another.  A sampler's may be off by its error.
    """
    cold = [bmlab.medium().at(temperature) for temperature in (0.1, 0.2)]
    strong = [bmlab.sherrington_kirkpatrick(8, rng=seed, scale=2.0) for seed in range(2)]
    for model, answer in converging(method, [*map(any_machine, range(machines)), *cold, *strong, weak(0, 0.01)]):
        log_z, pairs = answer.log_z, np.abs(model.weights[np.triu_indices(model.n, 1)])
        b, offset = model.biases / model.temperature, model.offset / model.temperature
        top = pairs.sum() / model.temperature + np.logaddexp(b, -b).sum()
        error = slack(log_z.stderr) * (1 + top + abs(offset))
        assert np.isnan(log_z) or log_z <= top - offset + error
        assert np.isnan(log_z) or log_z == log_z.lower or log_z >= bmlab.mean_field(model).log_z.lower - error


def law_self_consistent(method, machines=6):
    """If it has converged, T dm_i/db_i is 1 - m_i^2 up to a factor 1 + MAX_INCONSISTENCY, whichever is larger.

    By central differences of the method's own means.  They err by the square of the step, 1e-6 times a third derivative
    by b/T of order one, and by the tolerance of the means over the step, 1e-9; a hundred times that is allowed.
    """
    cold = [bmlab.medium().at(temperature) for temperature in (0.3, 0.7)]
    models = [*(any_machine(seed, most=5) for seed in range(machines)), *cold, weak(0)]
    for model, answer in converging(method, models):
        step, one = 1e-3 * model.temperature, np.eye(model.n)
        means = [
            [method(replace(model, biases=model.biases + by * e), start=answer.state).mean @ e for e in one]
            for by in (step, -step)
        ]
        up, down = map(np.array, means)
        response, expected = model.temperature * (up - down) / (2 * step), 1 - answer.mean**2
        assert (response <= (1 + MAX_INCONSISTENCY) * expected + 1e-4).all()
        assert (response >= expected / (1 + MAX_INCONSISTENCY) - 1e-4).all()


def law_weak_converges(method, machines=20):
    """No false alarm if couplings are weak."""
    for seed in range(machines):
        answer = method(weak(seed))
        assert answer.converged, answer.message


def law_plausible(method, machines=20):
    """A converged answer is that of some machine: no correlation beyond 1, and it agrees with itself."""
    for _, answer in converging(method, [*map(any_machine, range(machines)), weak(0, 0.01)]):
        assert np.abs(answer.corr).max() <= 1 + 1e-9 and answer.info.get("inconsistency", 0.0) <= MAX_INCONSISTENCY


@methods(among=APPROXIMATIONS)
def test_what_cannot_be_has_not_converged(method):
    law_plausible(method)
    strong = bmlab.BoltzmannMachine([[0, 3.4, -3.8], [3.4, 0, -2.2], [-3.8, -2.2, 0]], [0, 0.1, 0.1])
    answer = method(strong)
    assert not answer.converged or np.abs(answer.corr).max() <= 1 + 1e-9


@pytest.mark.parametrize(
    "form",
    [as_it_is, *(pytest.param(form, marks=pytest.mark.slow) for form in (with_stored_zeros, sparse_and_clamped))],
)
@methods(among=THEORIES)
def test_what_has_converged_lies_within_the_free_bounds(method, form):
    law_free_bounds(on(form, method))


@pytest.mark.slow
@methods(among=SAMPLERS)
def test_what_samplers_say_lies_within_the_free_bounds(method):
    law_free_bounds(method, machines=6)


@pytest.mark.parametrize("form", [as_it_is, pytest.param(with_stored_zeros, marks=pytest.mark.slow)])
@methods("trw", among=APPROXIMATIONS)
@pytest.mark.parametrize("law", [law_self_consistent, law_weak_converges])
def test_what_has_converged_agrees_with_itself(law, method, form):
    """The response of trw() is one with its trees held; test_what_cannot_be_has_not_converged looks at its number."""
    law(on(form, method))
