"""pcd: the mean of a step worked out by matrices; pseudo_log_likelihood by its definition."""

import numpy as np
import pytest
from scipy import sparse
from test_contract import machine

import bmlab
from bmlab.learn import contrastive_divergence as module
from bmlab.learn.ascent import batches
from bmlab.learn.contrastive_divergence import pcd
from bmlab.learn.pseudolikelihood import log_conditionals, pseudo_log_likelihood

SINGLE = 1e-5  # parameters of order one go through single precision, 6e-8, and a few dozen sums
STDERRS = 6  # passed by chance once in 5e8 comparisons


def harmonium(v=4, h=3, seed=0, temperature=1.7, offset=0.3):
    """A random restricted machine, hot enough that its chains mix in a few sweeps."""
    rng = np.random.default_rng(seed)
    made = bmlab.restricted(rng.normal(size=(v, h)), rng.normal(size=v) / 2, rng.normal(size=h) / 2)
    return bmlab.BoltzmannMachine(made.weights, made.biases, temperature, offset)


def begun(model, data, n_chains, rng):
    """The climb, with its chains at rows of the data."""
    start = data[next(batches(len(data), n_chains, rng))]
    return module.RestrictedAscent(model, data.mean(0), start, rng)


def some_data(v=4, rows=50, seed=1):
    """Patterns that are far from even: their means are not 0."""
    rng = np.random.default_rng(seed)
    return bmlab.states(v)[rng.choice(2**v, size=rows, p=rng.dirichlet(np.ones(2**v) / 2))]


# The mean of a step.  A sweep is a matrix over the 2^v visible states; products of layers are sums over them.


def conditional(h_field, states, temperature):
    """p(state | the other layer), one row for each row of fields."""
    logs = h_field @ states.T / temperature
    p = np.exp(logs - logs.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)


def sweep_matrix(model, v):
    """p(next v | v), shape (2^v, 2^v), through all hidden states."""
    w, b = model.weights[:v, v:], model.biases
    seen, hidden = bmlab.states(v), bmlab.states(model.n - v)
    down = conditional(seen @ w + b[v:], hidden, model.temperature)
    return down @ conditional(hidden @ w.T + b[:v], seen, model.temperature)


def products(model, v, origin, off=0):
    """(2^v, v + 1, h + 1): (v - origin, 1) times (<h | v> - off, 1), for each visible state."""
    seen = bmlab.states(v)
    h = np.tanh((seen @ model.weights[:v, v:] + model.biases[v:]) / model.temperature)
    one = np.ones((len(seen), 1))
    return np.hstack([seen - origin, one])[:, :, None] * np.hstack([h - off, one])[:, None, :]


def laws(model, data, n_sweeps):
    """The shares (2^v,) of the visible states in the data, and in chains that began there, after n_sweeps."""
    v = data.shape[1]
    share = (data[:, None] == bmlab.states(v)).all(2).mean(0)
    return share, share @ np.linalg.matrix_power(sweep_matrix(model, v), n_sweeps)


def moved(model, after, origin, off=0):
    """The change of (W, b_visible; b_hidden, 0), biases as they are seen from the origins, laid out as products()."""
    v = len(origin)
    d_weights, d_biases = (after.weights - model.weights)[:v, v:], after.biases - model.biases
    d_visible = d_biases[:v] + off * d_weights.sum(1)
    return np.block([[d_weights, d_visible[:, None]], [d_biases[v:] + origin @ d_weights, 0.0]])


def law_step(free_start="previous", n_sweeps=1, centred=True):
    """One step's mean is clamped minus free over T, the free phase after n_sweeps from the data, within its noise."""
    model, data, rate = harmonium(), some_data(), 0.7
    repeats = 2000  # chains (or rows) of each pattern: their shares are exact
    rows = np.repeat(data, repeats if free_start == "data" else 1, axis=0)
    after = pcd(
        model,
        rows,
        rng=np.random.default_rng(2),
        steps=1,
        rate=rate,
        batch=len(rows),
        n_chains=repeats * len(data),
        n_sweeps=n_sweeps,
        free_start=free_start,
        centred=centred,
    ).model
    origin, off = (data.mean(0), 0) if centred else (-np.ones(data.shape[1]), -1)
    each, (share, law) = products(model, data.shape[1], origin, off), laws(model, data, n_sweeps)
    clamped, free, square = (np.tensordot(p, x, 1) for p, x in ((share, each), (law, each), (law, each**2)))
    noise = np.sqrt((square - free**2).clip(0) / (repeats * len(data)))
    missed = moved(model, after, origin, off) - rate * (clamped - free) / model.temperature
    assert (np.abs(missed) <= rate / model.temperature * STDERRS * noise + SINGLE).all()


@pytest.mark.parametrize("free_start", ["previous", "data"])
@pytest.mark.parametrize("n_sweeps", [1, 3])
@pytest.mark.parametrize("centred", [True, False])
def test_the_mean_of_a_step(free_start, n_sweeps, centred):
    law_step(free_start, n_sweeps, centred)


def test_a_grey_row_moves_the_machine_as_the_mean_of_its_patterns_where_hidden_units_do_not_see_it():
    """Without weights <h | v> is the same for all patterns: a row of means and rows drawn from it teach alike."""
    model, means = bmlab.restricted(np.zeros((3, 2)), np.zeros(3), [0.5, -1.0]), np.array([0.5, -0.5, 0.0])
    rows = np.array([[1, 1, 1], [1, -1, -1], [1, -1, 1], [-1, -1, -1]])
    assert (rows.mean(0) == means).all()
    grey, drawn = (
        pcd(model, data, rng=0, steps=1, rate=0.1, batch=4, n_chains=4).model for data in (np.tile(means, (4, 1)), rows)
    )
    assert np.abs(grey.weights - drawn.weights).max() < SINGLE and np.abs(grey.biases - drawn.biases).max() < SINGLE
    with pytest.raises(ValueError, match="-1/\\+1"):
        bmlab.log_prob(grey, [means])


def test_persistent_chains_reach_equilibrium():
    """Chains go on from their states: after 40 steps of one sweep at rate 0 they have the machine's own moments."""
    model, data = harmonium(), some_data(rows=20)
    climb = begun(model, data, 20_000, np.random.default_rng(3))
    for _ in range(40):
        climb.step(climb.centred(data), 0.0)
    v, (_, law) = data.shape[1], laws(model, data, 100)
    hidden = np.tanh((bmlab.states(v) @ model.weights[:v, v:] + model.biases[v:]) / model.temperature)
    mean = law @ hidden
    assert (np.abs(climb.h[:, :-1].mean(0) - mean) <= STDERRS * np.sqrt((1 - mean**2) / 20_000)).all()


def test_the_penalty():
    """With the same chances the penalty takes rate * penalty of each weight away, whatever the temperature."""
    model, data = harmonium(), some_data()
    with_it, without = (
        pcd(model, data, rng=np.random.default_rng(1), steps=1, rate=0.2, penalty=penalty).model
        for penalty in (0.5, 0.0)
    )
    assert np.abs(with_it.weights - without.weights + 0.2 * 0.5 * model.weights).max() < SINGLE


def test_the_same_generator_gives_the_same_machine_and_each_step_has_its_rate():
    """Steps of rate 0 leave the first one's machine as it is, and so does the mean of the second half."""

    def climbed(seed, steps, rate):
        return pcd(harmonium(), some_data(), rng=np.random.default_rng(seed), steps=steps, rate=rate).model

    once, again, other, alone = (
        climbed(1, 4, [0.2, 0, 0, 0]),
        climbed(1, 4, [0.2, 0, 0, 0]),
        climbed(2, 1, 0.2),
        climbed(1, 1, 0.2),
    )
    assert (once.weights == again.weights).all() and (once.biases == again.biases).all()
    assert np.abs(once.weights - alone.weights).max() < SINGLE < np.abs(once.weights - other.weights).max()


# The score


def by_definition(model, data):
    """log p(v_i | the other visible units) by sums over all states, nothing in closed form."""
    v = data.shape[1]
    p = bmlab.probabilities(model).reshape(2**v, -1).sum(1)
    index = ((data > 0) @ 2 ** np.arange(v)[::-1]).astype(int)
    turned = index[:, None] ^ 2 ** np.arange(v)[::-1]
    return np.log(p[index][:, None] / (p[index][:, None] + p[turned]))


def test_the_score_is_its_definition():
    """Restricted machines, visible units coupled too, nothing hidden, sparse weights; any temperature."""
    half = machine(8, 3, temperature=0.8)
    weights = half.weights.copy()
    weights[5:, 5:] = 0
    for model, v in (
        (harmonium(), 4),
        (harmonium(3, 5, temperature=0.6), 3),
        (machine(6, 1, temperature=2.0), 6),
        (bmlab.BoltzmannMachine(weights, half.biases, 0.8), 5),
        (bmlab.ising((2, 4), coupling=0.7, field=0.2), 8),
    ):
        data = some_data(v)
        true = by_definition(model, data)
        assert np.abs(log_conditionals(model, data) - true).max() < 1e-12
        assert abs(pseudo_log_likelihood(model, data) - true.sum(1).mean()) < 1e-12


def test_coupled_hidden_units_are_refused():
    with pytest.raises(ValueError, match="coupled to each other"):
        pseudo_log_likelihood(machine(5), some_data(3))


def test_holes_are_refused_with_a_learner_that_takes_them():
    data = np.array([[1, -1, np.nan], [1, 1, -1], [-1, 1, 1], [-1, -1, 1]])
    model = bmlab.ising(3)
    found = r"data must be whole rows, found nan, in 1 of 3 columns and 1 of 4 rows; use fit\(\) or maximize\(\), which"
    for refuse in (lambda: bmlab.pcd(model, data, rng=0, steps=1, rate=0.1), lambda: bmlab.pseudolikelihood(data)):
        with pytest.raises(ValueError, match=found):
            refuse()
    assert bmlab.fit(model, data, steps=1, rate=0.1).steps and bmlab.maximize(model, data, penalty=0.1).steps


def coupled(*pairs):
    """Return 2 visible and 2 hidden units in which these pairs are coupled, and no other may be."""
    weights = np.zeros((4, 4))
    weights[tuple(np.transpose(pairs))] = 0.5
    weights += weights.T
    return bmlab.BoltzmannMachine(weights, np.zeros(4), couplings=weights != 0)


ACROSS = (0, 2), (0, 3), (1, 2), (1, 3)


@pytest.mark.parametrize(
    ("model", "visible"),
    [
        (coupled(*ACROSS, (0, 1)), 2),
        (coupled(*ACROSS, (2, 3)), 2),
        (coupled(*ACROSS[:3]), 2),
        (bmlab.BoltzmannMachine(sparse.csr_array(coupled(*ACROSS).weights), np.zeros(4)), 2),
        (bmlab.BoltzmannMachine(np.zeros((2, 2)), np.zeros(2)), 2),
    ],
    ids=["visible units", "hidden units", "one lacks", "sparse", "none hidden"],
)
def test_whatever_alone_keeps_a_machine_from_being_restricted_is_refused(model, visible):
    pcd(coupled(*ACROSS), some_data(2), rng=0, steps=1, rate=0.1)  # this one is
    with pytest.raises(ValueError, match=r"pcd\(\) needs dense weights, hidden units, every coupling between the 2"):
        pcd(model, some_data(2), rng=0, steps=1, rate=0.1)


@pytest.mark.parametrize("data", [[[0, 1, 1], [1, 0, 1]], [[0.2, 0.9, 0.5]], [[0, 0, 0]], [[-1, 1, 1.5]]])
def test_data_from_0_to_1_are_refused_and_from_minus_1_to_1_are_not(data):
    with pytest.raises(ValueError, match=r"-1/\+1, or from -1 to 1, found .*; try 2 \* data - 1 for 0 to 1"):
        pcd(harmonium(3), data, rng=0, steps=1, rate=0.1)
    pcd(harmonium(3), 2 * np.clip(data, 0, 1) - 1, rng=0, steps=1, rate=0.1)
