"""One rule for names wherever a table is taken: matched by name, or refused in one sentence; never by position."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import bmlab
from bmlab.estimators import BoltzmannClassifier, BoltzmannDensity, RestrictedBoltzmann

NAMES = list("abcd")
RNG = np.random.default_rng(0)
S = RNG.choice([-1, 1], (60, 4), p=[0.4, 0.6])
S[:, 1] *= S[:, 0]
S[:, 3] = np.where(RNG.random(60) < 0.7, S[:, 2], S[:, 3])
Y = (S[:, 0] * S[:, 2] > 0).astype(int)
MODEL = bmlab.sherrington_kirkpatrick(4, np.random.default_rng(1))
MODEL = bmlab.BoltzmannMachine(MODEL.weights, np.add(MODEL.biases, [0.9, -0.3, 0.1, 0.5]), names=(*NAMES,))
HALF = bmlab.restricted([[0.3], [0.1], [-0.2], [0.4]], [0.1, 0, 0.2, 0], [0])
HALF = bmlab.BoltzmannMachine(HALF.weights, HALF.biases, names=(*NAMES, "hidden"))


class Frame:
    """A table as polars shows it: columns that are a list of names, and an array."""

    def __init__(self, frame):
        self.columns, self.values = list(frame.columns), frame.to_numpy()

    def __array__(self, dtype=None, copy=None):
        return self.values.astype(dtype or self.values.dtype)


def batch(frame):
    arrow = pytest.importorskip("pyarrow")
    return arrow.RecordBatch.from_arrays(
        [arrow.array(frame.iloc[:, k]) for k in range(frame.shape[1])], [*frame.columns]
    )


def by_units(fit):
    """The parameters of a Fit in the order of NAMES, whatever the order of its units."""
    order = fit.model.indices(NAMES)
    return np.vstack([fit.model.weights[np.ix_(order, order)], fit.model.biases[order]])


def learnt(learn, model):
    return lambda data: by_units(learn(model, data))


def found(estimator):
    return lambda data: (
        estimator.score_samples(data) if hasattr(estimator, "score_samples") else estimator.predict_proba(data)
    )


FRAME = pd.DataFrame(S, columns=NAMES)
fit, pcd = partial(bmlab.fit, steps=3, rate=0.1), partial(bmlab.pcd, rng=0, steps=4, rate=0.1, batch=60)
# Each answers about the data: what a method of a machine says of rows, or what a learner makes of them.
TAKERS = {
    "energy": MODEL.energy,
    "field": MODEL.field,
    "model.log_prob": partial(MODEL.log_prob, log_z=1.0),
    "log_prob": partial(bmlab.log_prob, MODEL),
    "clamped": lambda data: bmlab.clamped(MODEL, data).corr,
    "clamped_mean_field": lambda data: bmlab.clamped_mean_field(HALF, data).mean,
    "clamped_gibbs": lambda data: bmlab.clamped_gibbs(HALF, data, rng=0).mean,
    "complete": lambda data: bmlab.complete(MODEL, data).mean,
    "pseudo_log_likelihood": partial(bmlab.pseudo_log_likelihood, MODEL),
    "fit": learnt(fit, MODEL),
    "fit, hidden": learnt(fit, HALF),
    "maximize": learnt(partial(bmlab.maximize, penalty=0.1), MODEL),
    "pcd": learnt(pcd, HALF),
    "moments": lambda data: learnt(partial(bmlab.maximize, penalty=0.1), MODEL)(bmlab.moments([data])),
    "moments, later": lambda data: bmlab.moments([FRAME, data]).corr,
}
FREE = {  # without a machine: whatever the names, the units are the columns
    "pseudolikelihood": lambda data: by_units(bmlab.pseudolikelihood(data, penalty=0.1)),
    "invert_tap": lambda data: by_units(bmlab.invert_tap(data, noise=0.05)),
    "invert_bethe": lambda data: by_units(bmlab.invert_bethe(bmlab.moments([data]), noise=0.05)),
    "fit, no names": lambda data: by_units(fit(bmlab.BoltzmannMachine(np.zeros((4, 4)), np.zeros(4)), data)),
    "moments, no names": lambda data: bmlab.moments([data, FRAME]).mean[np.argsort([*bmlab.moments([data]).columns])],
}
ESTIMATORS = [BoltzmannDensity(), BoltzmannClassifier(), RestrictedBoltzmann(2, n_iter=1, random_state=0)]
TABLES = {"pandas": lambda frame: frame, "polars": Frame, "pyarrow": batch}
HIDES = ("clamped", "log_prob", "complete", "fit", "maximize")


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("take", [*TAKERS.values(), *FREE.values()], ids=[*TAKERS, *FREE])
def test_columns_in_another_order_give_the_same_answer(take, table):
    right = take(FRAME)
    assert np.array_equal(right, take(table(FRAME[list("cadb")]))) or np.allclose(
        right, take(table(FRAME[list("cadb")])), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("name", [*TAKERS, *FREE])
def test_doubled_extra_and_numbered_columns_are_refused(name):
    take = TAKERS.get(name) or FREE[name]
    wrong = {"2 columns called 'a'": FRAME[list("abca")], "strings for names": FRAME.set_axis([2, 0, 1, 3], axis=1)}
    if name in TAKERS:
        wrong |= {"'e' is no unit": FRAME.rename(columns={"b": "e"}), "'z' is no unit": FRAME.assign(z=1)}
    for says, frame in wrong.items():
        with pytest.raises(ValueError, match=f"{says}.*; "):
            take(frame)


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("name", TAKERS)
def test_a_missing_column_is_a_hidden_unit_or_refused(name):
    less = FRAME.drop(columns="b")
    if name.startswith(HIDES):
        holed = FRAME.assign(b=np.nan).to_numpy()
        assert np.allclose(TAKERS[name](less), TAKERS[name](holed), rtol=0, atol=1e-12)
    else:
        with pytest.raises(ValueError, match=r"unit 'b' has no column|found .*nan"):
            TAKERS[name](less)


def test_columns_name_the_units_of_a_machine_without_names():
    for n in 4, 6:
        found = fit(bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n)), FRAME).model
        assert found.names == (*NAMES, "h1", "h2")[:n]


@pytest.mark.parametrize("name", ["energy", "log_prob", "clamped", "complete", "pseudo_log_likelihood", "moments"])
def test_names_mean_nothing_to_units_without_names(name):
    blank = bmlab.BoltzmannMachine(MODEL.weights, MODEL.biases)
    takers = {"energy": blank.energy, "moments": lambda data: bmlab.moments([FRAME.to_numpy(), data])}
    with pytest.raises(ValueError, match=r"columns have names .* the units have none; pass \.to_numpy"):
        (takers.get(name) or partial(getattr(bmlab, name), blank))(FRAME)


@pytest.mark.parametrize("take", [MODEL.energy, MODEL.field, lambda row: bmlab.complete(MODEL, row).mean])
def test_a_series_is_read_by_its_labels(take):
    row = FRAME.iloc[7]
    assert np.array_equal(take(row), take(row[list("dbac")])) and np.array_equal(take(row), take(S[7]))
    for wrong in (row.rename({"a": "e"}), pd.concat([row, row]), pd.Series(S[7], [3, 1, 0, 2])):
        with pytest.raises(ValueError, match=r"is no unit|columns called|strings for names"):
            take(wrong)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_estimators_take_the_columns_that_they_learned(estimator: BaseEstimator):
    score = found(estimator.fit(FRAME, Y))  # pyright: ignore
    assert not isinstance(estimator, BoltzmannDensity) or estimator.model_.names == (*NAMES,)
    wrong = FRAME[list("cadb")], FRAME[list("abc")], FRAME[list("abca")], FRAME.assign(z=1)
    for frame in wrong:
        with pytest.raises(ValueError, match=r"feature names should match|columns called"):
            score(frame)
    with pytest.raises(ValueError, match="2 columns called 'a'"):
        estimator.fit(FRAME[list("abca")], Y)  # pyright: ignore
