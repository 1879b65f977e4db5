"""The learning loop climbs, it ends where the moments agree, and the free phase starts as `free_start` says."""

from dataclasses import replace
from functools import partial
from itertools import islice, pairwise

import numpy as np
import pytest
from scipy import sparse
from test_contract import machine

import bmlab
from bmlab import plain
from bmlab.infer.sampling.gibbs import RepeatedGibbs

DATA = bmlab.states(4)[[0, 3, 3, 5, 14, 9, 8, 1, 12, 6]]


def blank(n, temperature=1.0):
    return bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n), temperature)


def recording(starts):
    """An exact method that records its start."""

    def infer(model, start=None):
        starts.append(start)
        return bmlab.Estimate(**{**vars(bmlab.exact(model)), "state": f"state {len(starts)}"})

    return infer


@pytest.mark.parametrize("n", [4, 5], ids=["visible", "hidden"])
def test_every_step_is_that_of_plain_and_climbs(n):
    model = machine(n, scale=0.5, temperature=1.5)
    steps = bmlab.fit(model, DATA, steps=12, rate=0.05).steps
    for step, (right, log_likelihood) in zip(steps, plain.learning_steps(model, DATA, 0.05, 12), strict=True):
        assert np.allclose(step.model.weights, right.weights, atol=1e-12)
        assert np.allclose(step.model.biases, right.biases, atol=1e-12)
        assert abs(step.log_likelihood.value - log_likelihood) < 1e-12
    assert (np.diff([step.log_likelihood.value for step in steps]) > 0).all()


def climbs(n, steps=3, rate=0.05, seeds=8):
    """Yield steps of fit(), the machines that plain.learning_steps() comes by, and the slopes at these."""
    for seed in range(seeds):
        model = machine(n, seed, scale=0.5, temperature=1.5)
        right = [model for model, _ in plain.learning_steps(model, DATA, rate, steps)]
        slopes = [plain.gradient(one, plain.clamped(one, DATA), plain.brute_force(one)) for one in right]
        yield bmlab.fit(model, DATA, steps=steps, rate=rate).steps, right, slopes


def law_largest(n=4):
    """mismatch is T times the largest entry of the slope, change the largest move: of a bias here, a weight there."""
    of_biases = []
    for steps, right, slopes in climbs(n):
        for step, (d_weights, d_biases) in zip(steps, slopes, strict=True):
            largest = np.abs(d_weights).max(), np.abs(d_biases).max()
            assert abs(step.mismatch - 1.5 * max(largest)) < 1e-12
            of_biases.append(largest[1] > largest[0])
        for step, (before, after) in zip(steps[1:], pairwise(right), strict=True):
            moves = np.abs(after.weights - before.weights).max(), np.abs(after.biases - before.biases).max()
            assert abs(step.change - max(moves)) < 1e-12
    assert 0 < sum(of_biases) < len(of_biases)


@pytest.mark.parametrize("n", [4, 5], ids=["visible", "hidden"])
def test_mismatch_and_change_look_at_every_parameter(n):
    law_largest(n)


@pytest.mark.parametrize(
    ("free_start", "expected"),
    [("previous", [None, "state 1", "state 2"]), ("fresh", [None] * 3), ("data", [DATA] * 3)],
)
def test_free_start_says_where_the_free_phase_starts(free_start, expected):
    starts = []
    bmlab.fit(blank(4), DATA, recording(starts), steps=3, rate=0.1, free_start=free_start)
    assert all(np.array_equal(start, right) for start, right in zip(starts, expected, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("free_start", ["previous", "fresh", "data"])
def test_sampled_free_phases_learn_too(free_start):
    few = {"burn_in": 0} if free_start == "data" else {"burn_in": 5, "n_chains": 200}
    infer = partial(bmlab.gibbs, rng=np.random.default_rng(0), n_sweeps=5, **few)
    last = bmlab.fit(
        blank(6),
        DATA,
        infer,
        steps=300,
        rate=0.1,
        free_start=free_start,
        couplings=bmlab.restricted(np.ones((4, 2)), np.zeros(4), np.zeros(2)).weights != 0,
    )
    exact = bmlab.log_likelihood(bmlab.clamped(last.model, DATA), bmlab.exact(last.model)).value
    up = (1 + DATA.mean(0)) / 2
    independent = np.sum(up * np.log(up) + (1 - up) * np.log(1 - up))
    assert exact > independent - 0.1


@pytest.mark.filterwarnings("error::bmlab.NotConverged")
@pytest.mark.parametrize("learn", [partial(bmlab.fit, steps=500, rate=0.3, every=500), bmlab.maximize])
def test_biases_that_do_not_learn_stay_and_the_others_reach_their_summit(learn):
    """With one bias held, every other moment is the data's, and its own is not."""
    data, learns = np.repeat(bmlab.states(3), [5, 1, 1, 2, 1, 3, 1, 2], axis=0), np.array([True, False, True])
    start = bmlab.BoltzmannMachine(np.zeros((3, 3)), [0, 0.7, 0])
    last = learn(start, data, biases=learns)
    assert last.steps[-1].gradient_norm < 1e-6 and last.model.biases[1] == 0.7
    off = np.abs(bmlab.exact(last.model).mean - data.mean(0))
    assert off[learns].max() < 1e-6 < 0.01 < off[1]
    with pytest.raises(ValueError, match="mask of 3 units"):
        learn(start, data, biases=[True, False])


@pytest.mark.parametrize("learn", [partial(bmlab.fit, steps=20, rate=0.2), partial(bmlab.maximize, tolerance=1e-13)])
def test_sparse_weights_learn_like_a_mask(learn):
    ring = bmlab.ising(5, coupling=0.1)
    dense, data = replace(ring, weights=ring.dense_weights), np.vstack([bmlab.states(5)[::3], bmlab.states(5)])
    one, other = learn(ring, data).model, learn(dense, data, couplings=dense.weights != 0).model
    assert one.is_sparse and np.allclose(one.dense_weights, other.weights, atol=1e-12)


def test_a_schedule_of_rates_is_followed_and_ends_the_loop():
    one, two, three = bmlab.learning_steps(blank(4), DATA, rate=[0.2, 0.0, 0.1])
    assert (two.model.biases == one.model.biases + 0.2 * (one.clamped.mean - one.free.mean)).all()
    assert (three.model.weights == two.model.weights).all()


def test_free_phases_that_have_not_converged_raise_no_warning_in_the_loop(recwarn):
    infer = partial(bmlab.gibbs, rng=np.random.default_rng(0), n_chains=10, burn_in=0, n_sweeps=1)
    assert not bmlab.fit(blank(4), DATA, infer, steps=3, rate=0.1).steps[-1].free.converged
    assert not recwarn.list


@pytest.mark.parametrize("free_start", ["previous", "fresh", "data"])
@pytest.mark.parametrize("machine", [blank(4), bmlab.ising(4, coupling=0.1), bmlab.sherrington_kirkpatrick(40, rng=0)])
@pytest.mark.parametrize("options", [{"n_sweeps": 1}, {"n_sweeps": 6, "every": 2, "n_draws": 2}])
def test_chains_that_a_climb_keeps_walk_as_those_of_separate_calls_do(free_start, machine, options):
    """With its options bound gibbs() keeps its chains from step to step; in a function of one's own it begins anew."""
    rngs = [np.random.default_rng(0), np.random.default_rng(0)]
    data = bmlab.spins(rngs[0].integers(0, 2, (40, machine.n)) * rngs[1].integers(0, 2, (40, machine.n)))

    def called(model, start=None):
        return bmlab.gibbs(model, rng=rngs[0], start=start, burn_in=0, **options)

    kept = partial(bmlab.gibbs, rng=rngs[1], burn_in=0, **options)
    loops = [bmlab.learning_steps(machine, data, each, rate=0.1, free_start=free_start) for each in (called, kept)]
    for one, other in islice(zip(*loops, strict=False), 5):
        assert (one.free.state == other.free.state).all() and (one.free.mean == other.free.mean).all()
        assert one.free.info["streams"] == other.free.info["streams"] and one.gradient_norm == other.gradient_norm
        assert "n_draws" not in options or (one.free.draws == other.free.draws).all()


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_kept_chains_begin_where_they_are_told_to():
    """A state that is not the last one, and the last one for a machine of another size, are taken as they are."""
    toy, medium = bmlab.toy(), bmlab.medium()
    for then, known in ((toy, 0), (toy, 1), (toy, 2), (medium, 2)):
        walk, states = RepeatedGibbs(rng=np.random.default_rng(0), n_sweeps=2, burn_in=0), [None]
        for _ in range(2):
            states.append(walk(toy, start=states[-1]).state)
        place = walk.rng.bit_generator.state
        found, walk.rng.bit_generator.state = walk(then, start=states[known]), place
        assert (found.state == bmlab.gibbs(then, rng=walk.rng, start=states[known], n_sweeps=2, burn_in=0).state).all()


RESTRICTED = bmlab.restricted(0.1 * np.ones((30, 3)), np.zeros(30), np.zeros(3))


def test_a_large_restricted_machine_learns_on_its_own_couplings():
    """If the free phase gives the couplings only, its nan elsewhere must not leak into the weights."""
    data, mask = bmlab.spins(np.random.default_rng(0).integers(0, 2, (20, 30))), RESTRICTED.weights != 0
    infer = partial(bmlab.exact, pairs="couplings")
    first, *_, last = bmlab.fit(RESTRICTED, data, infer, steps=10, rate=0.02, couplings=mask).steps
    assert np.isnan(first.free.corr).any() and np.isfinite(first.mismatch)
    assert last.log_likelihood.value > first.log_likelihood.value
    assert (last.model.weights[RESTRICTED.weights == 0] == 0).all()


@pytest.mark.parametrize(
    "infer",
    [bmlab.mean_field, bmlab.tap, bmlab.bethe, partial(bmlab.trw, max_steps=1)],
    ids=["mean_field", "tap", "bethe", "trw"],
)
@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_a_theory_can_be_the_free_phase_from_no_couplings_on(infer):
    """The first step has no couplings, the second all: the state of the one has to do for the other."""
    data = bmlab.states(4)[[0, 0, 3, 5, 15, 15, 15]]
    first, *_, last = bmlab.fit(blank(4), data, infer, steps=20, rate=0.05).steps
    true = [bmlab.log_likelihood(step.clamped, bmlab.exact(step.model)).value for step in (first, last)]
    assert true[1] > true[0] + 0.1


OTHER = bmlab.states(4)[[1, 1, 2, 7, 11]]


@pytest.mark.parametrize("n", [4, 5], ids=["visible", "hidden"])
@pytest.mark.parametrize("infer", [bmlab.exact, bmlab.mean_field], ids=["exact", "mean field"])
@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_a_step_that_is_given_other_data_learns_from_these(n, infer):
    """Its old moments were restated: two units that agreed went on agreeing with data that disagree."""
    last = bmlab.fit(machine(n), DATA, infer, steps=3, rate=0.1).steps[-1]
    moments = bmlab.Estimate(OTHER.mean(0), OTHER.T @ OTHER / len(OTHER))
    for data in (OTHER, np.where(OTHER[::-1] == DATA[:5], OTHER, np.nan), *([moments] if n == 4 else [])):
        step = next(bmlab.learning_steps(last, data, infer, rate=0.1))
        rows = OTHER if data is moments else data
        assert np.allclose(step.clamped.mean, bmlab.clamped(step.model, rows, infer).mean, atol=1e-6)
        ends = bmlab.fit(last, data, infer, steps=2, rate=0.1).steps
        assert ends[0].clamped.log_z.value == pytest.approx(step.clamped.log_z.value, abs=1e-9)


@pytest.mark.parametrize("seed", [3, np.int64(3), np.random.SeedSequence(3)])
@pytest.mark.parametrize("name", ["infer", "clamped_phase"])
def test_a_seed_that_is_bound_to_a_method_is_refused(name, seed):
    """Each step would draw the same noise."""
    methods = {
        "infer": partial(bmlab.gibbs, rng=seed),
        "clamped_phase": partial(partial(bmlab.clamped_gibbs, rng=seed)),
    }
    sentence = rf"{name} would draw the same noise at each step.*rng=np.random.default_rng\("
    with pytest.raises(ValueError, match=sentence):
        bmlab.fit(blank(6), DATA, steps=3, rate=0.1, **{name: methods[name]})
    if name == "infer":
        with pytest.raises(ValueError, match=sentence):
            bmlab.maximize(blank(4), DATA, methods["infer"])


def bipartite(seed, size):
    """A restricted machine, one with a mask of random pairs, one of sparse weights, and one without a weight."""
    rng = np.random.default_rng(seed)
    layers = bmlab.restricted(rng.normal(scale=size, size=(4, 2)), np.zeros(4), rng.normal(size=2))
    pairs = np.triu(rng.random((6, 6)) < 0.5, 1)
    masked = bmlab.BoltzmannMachine(layers.weights * (pairs | pairs.T), layers.biases, couplings=pairs | pairs.T)
    thin = bmlab.BoltzmannMachine(sparse.csr_array(layers.weights), layers.biases)
    return [layers, layers.at(2.0), bmlab.load(saved(masked)), masked, thin]


def saved(model):
    model.save("masked.npz")
    return "masked.npz"


LEARN = {
    "fit": partial(bmlab.fit, steps=10, rate=0.1),
    "fit, l1": partial(bmlab.fit, steps=10, rate=0.1, l1=0.01, momentum=0.5),
    "fit in batches": partial(bmlab.fit, steps=10, rate=0.1, batch=4, rng=0),
    "maximize": partial(bmlab.maximize, penalty=0.05),
    "pcd": partial(bmlab.pcd, rng=0, steps=30, rate=0.1),
}


@pytest.mark.parametrize("size", [pytest.param(0.5, marks=pytest.mark.slow), 0.0])
@pytest.mark.parametrize("learn", LEARN.values(), ids=LEARN)
@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_what_was_built_without_a_coupling_never_gets_one(learn, size, tmp_path, monkeypatch):
    """In any form; and gets all of them if they are possible."""
    monkeypatch.chdir(tmp_path)
    for seed in range(2):
        for model in bipartite(seed, size)[: 2 if learn.func is bmlab.pcd else None]:
            found = learn(model, DATA).model
            lacking = ~model.couplings if model.couplings is not None else model.dense_weights == 0
            assert not found.dense_weights[lacking].any()
            assert sparse.issparse(model.weights) or (found.couplings == model.couplings).all()
            assert size == 0 or np.abs(found.weights - model.weights).max() > 1e-3
    if learn.func is not bmlab.pcd:
        learned = learn(bipartite(0, 0.5)[0], DATA, couplings=~np.eye(6, dtype=bool)).model
        assert (learned.weights[:4, :4] != 0).sum() == 12 and learned.couplings.sum() == 30


@pytest.mark.parametrize("learn", [LEARN["maximize"], partial(LEARN["pcd"], steps=500)], ids=["maximize", "pcd"])
@pytest.mark.parametrize("biases", [[0.0, 0.0], [0.3, 0.3]])
@pytest.mark.parametrize("size", [0.0, 0.1])
def test_hidden_units_that_begin_alike_are_told_apart(learn, biases, size):
    """From units that are alike, with weights or without, each learns something of its own."""
    data = np.repeat(np.array([[1, 1, 1, 1], [1, 1, -1, -1], [-1, -1, 1, 1], [-1, -1, -1, -1]]), 5, axis=0)
    found = learn(bmlab.restricted(np.full((4, 2), size), np.zeros(4), biases), data).model
    assert np.abs(found.weights[:4, 4:]).max() > 0.3
    assert np.abs(found.weights[4] - found.weights[5]).max() > 0.3


@pytest.mark.parametrize(
    "learn",
    [bmlab.pseudolikelihood, bmlab.invert_mean_field, bmlab.invert_tap, bmlab.invert_bethe],
    ids=lambda learn: learn.__name__,
)
def test_neurons_times_bins_are_told_to_be_transposed(learn):
    """Fewer rows than columns, and a column that is constant; many rows with one keep their own sentence."""
    bins = bmlab.data.raster(953, rng=np.random.default_rng(0)).data
    with pytest.raises(ValueError, match=r"10 rows of 953 columns, one of them constant; pass data\.T"):
        learn(bins.T)


def test_nan_is_blamed_on_the_rate_where_a_climb_made_it():
    """And for a number that somebody typed, on the number."""
    layers = bmlab.restricted(0.1 * np.ones((4, 1)), np.zeros(4), [0])
    for learn in (partial(bmlab.fit, blank(4)), partial(bmlab.pcd, layers, rng=0)):
        with (
            pytest.raises(ValueError, match=r"left all bounds \(.*\); check the learning rate"),
            np.errstate(all="ignore"),
        ):
            learn(DATA, steps=20, rate=1e300)
    for weights, biases in (([[0, np.nan], [np.nan, 0]], [0, 0]), ([[0, 1], [1, 0]], [0, np.inf])):
        with pytest.raises(ValueError, match=r"must be finite, found .*; write a number there"):
            bmlab.BoltzmannMachine(weights, biases)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_the_norm_of_a_step_is_the_length_of_its_slope_with_each_weight_once(layout):
    model = bmlab.BoltzmannMachine(layout(machine(4, 2).weights), machine(4, 2).biases, 1.4)
    (step,) = bmlab.fit(model, DATA, steps=1, rate=0.1).steps
    d_weights, d_biases = plain.gradient(step.model, plain.clamped(step.model, DATA), plain.brute_force(step.model))
    assert step.gradient_norm == pytest.approx(np.linalg.norm([*np.triu(d_weights, 1).ravel(), *d_biases]), rel=1e-9)
