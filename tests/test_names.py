"""One rule for names wherever a table is taken: matched by name, or refused in one sentence; never by position."""

from dataclasses import replace
from functools import partial
from inspect import signature
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pytest
from fuzz_cases import CASES, HIDDEN, HOLED, IGNORED, KINDS, RBM, TOP, M, public
from scipy import sparse
from sklearn.base import BaseEstimator
from test_fuzz import alike, dense

import bmlab
from bmlab.estimators import BoltzmannClassifier, BoltzmannDensity, RestrictedBoltzmann

NAMES = list("abcd")
RNG = np.random.default_rng(0)
S = RNG.choice([-1, 1], (60, 4), p=[0.4, 0.6])
S[:, 1] *= S[:, 0]
S[:, 3] = np.where(RNG.random(60) < 0.7, S[:, 2], S[:, 3])
Y = (S[:, 0] * S[:, 2] > 0).astype(int)
MODEL = bmlab.sherrington_kirkpatrick(4, rng=np.random.default_rng(1))
MODEL = bmlab.BoltzmannMachine(MODEL.weights, np.add(MODEL.biases, [0.9, -0.3, 0.1, 0.5]), names=(*NAMES,))


class Frame:
    """A table as polars shows it: columns that are a list of names, a shape, and an array."""

    def __init__(self, frame):
        self.columns, self.values, self.shape = list(frame.columns), frame.to_numpy(), frame.shape

    def __array__(self, dtype=None, copy=None):
        return self.values.astype(dtype or self.values.dtype)


def batch(frame):
    return pyarrow.RecordBatch.from_arrays(
        [pyarrow.array(frame.iloc[:, k]) for k in range(frame.shape[1])], [*frame.columns]
    )


def found(estimator):
    return lambda data: (
        estimator.score_samples(data) if hasattr(estimator, "score_samples") else estimator.predict_proba(data)
    )


FRAME = pd.DataFrame(S, columns=NAMES)
ESTIMATORS = [BoltzmannDensity(), BoltzmannClassifier(), RestrictedBoltzmann(2, n_iter=1, random_state=0)]
TABLES = {"pandas": lambda frame: frame, "polars": Frame, "pyarrow": batch}


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_the_errors_and_draws_of_named_moments_go_with_their_means(layout):
    rng, model = np.random.default_rng(0), replace(MODEL, weights=layout(MODEL.weights))
    free, n = bmlab.exact(model), MODEL.n
    for _ in range(10):
        order, draws, pairs = rng.permutation(n), rng.choice([-1, 1], (2, 5, n)), rng.random((2, n, n))
        corr, corr_stderr = pairs + pairs.swapaxes(1, 2)
        errors = {"mean_stderr": rng.random(n), "corr_stderr": corr_stderr}
        own = bmlab.Moments(rng.random(n), corr, **errors, draws=draws, columns=MODEL.names)
        placed = {name: getattr(own, name)[..., order] for name in ("mean", "mean_stderr", "draws")}
        placed |= {name: getattr(own, name)[np.ix_(order, order)] for name in ("corr", "corr_stderr")}
        moved = replace(own, **placed, columns=tuple(np.array(NAMES)[order].tolist()))
        one, other = (bmlab.Step(model, data, free).clamped for data in (own, moved))
        assert (
            type(one.corr) is type(one.corr_stderr) is type(model.weights)
            and other.columns == one.columns == MODEL.names
        )
        for name in ("mean", "corr", "mean_stderr", "corr_stderr", "draws"):
            assert abs(getattr(one, name) - getattr(other, name)).max() == 0, name


def test_columns_name_the_units_of_a_machine_without_names():
    for n in 4, 6:
        blank = bmlab.BoltzmannMachine(np.zeros((n, n)), np.zeros(n))
        one, other = (bmlab.fit(blank, frame, steps=3, rate=0.1).model for frame in (FRAME, FRAME[list("cadb")]))
        assert one.names == (*NAMES, "h1", "h2")[:n] and other.names == (*"cadb", "h1", "h2")[:n]
        assert alike(in_line(one), in_line(other))


def test_columns_of_a_later_chunk_are_matched():
    right = bmlab.moments([FRAME, FRAME])
    assert alike(right, bmlab.moments([FRAME, FRAME[list("cadb")]]))
    for wrong in (FRAME.rename(columns={"b": "e"}), FRAME.assign(z=1), FRAME[list("abca")], FRAME.drop(columns="b")):
        with pytest.raises(ValueError, match=r"chunks\[1\]: "):
            bmlab.moments([FRAME, wrong])


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
    assert np.array_equal(
        bmlab.complete(MODEL, row[["d", "a"]]).mean, bmlab.complete(MODEL, dict(row[["d", "a"]])).mean
    )
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


# Every argument with numbers of units, as fuzz_cases.py knows them: a new one is in these tests by itself.

UNITS, OTHERWISE = np.array([*"abcde"]), [2, 0, 4, 1, 3]
ELEMENTWISE = {"spins", "bits"}  # each number alone: columns keep their order


def doors():
    """(function, argument) -> numbers of units that it takes: a row, rows, or pairs, of five units or of three seen."""
    found = {("complete", "known"): (CASES["complete"][0], HOLED)}
    for name, (_, arguments) in CASES.items():
        for argument, (given, cases) in arguments.items():
            typed = [given.get(argument), *(case.value for case in cases if case.verdict != "bad")]
            for x in typed if KINDS.get(f"{name}.{argument}") is not IGNORED and name not in ELEMENTWISE else []:
                is_numbers = isinstance(x, np.ndarray) and x.dtype.kind in "bif" and x.ndim in (1, 2)
                seen = is_numbers and argument == "data" and x.shape[-1] == 3
                if is_numbers and (x.shape[-1] == 5 or seen) and len(np.unique(x[~np.isnan(x)])) > 1:
                    found.setdefault((name, argument), (given, x))
    del found["two_sample_test", "data"]  # it names the units, and `other` is matched to them
    return found


DOORS = doors()
# Whatever the names, the units are the columns.
NAMING = {(name, "data") for name in ("pseudolikelihood", "invert_mean_field", "invert_tap", "invert_bethe")}
NAMING |= {
    ("penalty_path", "data"),
    ("triplets", "data"),
    ("hopfield", "patterns"),
    ("moments", "chunks"),
    ("symmetric", "matrix"),
}


def labelled(x, names=UNITS, order=OTHERWISE) -> Any:
    """The same numbers with names, in another order."""
    order = [k for k in order if k < x.shape[-1]]
    if x.ndim == 1:
        return pd.Series(x[order], names[order])
    pairs = x.shape == (5, 5)
    rows = [3, 2, 0, 1, 4] if pairs else slice(None)
    return pd.DataFrame(x[rows][:, order], index=names[rows] if pairs else None, columns=names[order])


def with_names(name, argument, given):
    """The function with its arguments, about machines or data whose units are a, b, ..."""
    models = [model for model in (M, HIDDEN, RBM, TOP) if given.get("model") is model]
    given = given | {"model": replace(models[0], names=(*UNITS,))} if models else given
    home, _, method = name.rpartition(".")
    if home == "BoltzmannMachine":
        return getattr(replace(M, names=(*UNITS,)), method), given
    function = public()[name]
    if "names" in signature(function).parameters:
        given = given | {"names": (*UNITS,)}
    elif not models and "data" in given and argument != "data":
        given = given | {"data": pd.DataFrame(given["data"], columns=UNITS)}
    return function, given


def in_line(answer):
    """The numbers of an answer about its units, in the order a, b, ... if they have names."""
    if isinstance(answer, bmlab.Triplets):  # all triplets, in whatever order
        return np.sort(answer.connected), answer.p_k
    answer = answer.best if isinstance(answer, bmlab.PenaltyPath) else answer
    answer = answer.model if isinstance(answer, bmlab.Fit) else answer
    if isinstance(answer, bmlab.BoltzmannMachine):
        order = np.argsort(answer.names) if answer.names else slice(None)
        return dense(answer.weights[order][:, order]), answer.biases[order], answer.offset
    if hasattr(answer, "columns"):
        order = np.argsort(answer.columns) if answer.columns else slice(None)
        return answer.mean[order], answer.corr[order][:, order]
    return answer


def drained(function, given):
    answer = function(**given)
    return list(islice(answer, 3)) if hasattr(answer, "__next__") else answer


def is_table(door):
    """Whether its numbers are rows, and not pairs."""
    return DOORS[door][1].ndim == 2 and DOORS[door][1].shape != (5, 5)


def came_of(door, value):
    """The outcome of the call with this value, in the order of the names."""
    (name, argument), (given, _) = door, DOORS[door]
    function, given = with_names(name, argument, given)
    return in_line(drained(function, given | {argument: value}))


DOORS_AND_TABLES = [(door, name) for name in TABLES for door in DOORS if name == "pandas" or is_table(door)]


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize(
    ("door", "table"), DOORS_AND_TABLES, ids=[f"{'.'.join(door)}-{name}" for door, name in DOORS_AND_TABLES]
)
def test_at_every_door_names_are_matched(door, table):
    x = DOORS[door][1]
    assert alike(came_of(door, x), came_of(door, TABLES[table](labelled(x))))


WRONG_NAMES = {
    "'z' is no unit": lambda x: labelled(x, np.array([*"abzde"])),
    "'y' is no unit": lambda x: labelled(x).assign(y=np.resize([1.0, 1, -1, -1], len(x))),
    r"2 (columns|units) called": lambda x: labelled(x, np.array([*"abade"])),
    "strings for names": lambda x: labelled(x, np.arange(5)),
}


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize(
    "door, says", [(door, says) for door in DOORS for says in WRONG_NAMES if "'y'" not in says or is_table(door)]
)
def test_at_every_door_wrong_names_are_refused(door, says):
    """If the columns are the units any name is right, but each must be one, and once."""
    if "no unit" in says and door in NAMING:
        came_of(door, WRONG_NAMES[says](DOORS[door][1]))
    else:
        with pytest.raises(ValueError, match=f"{says}.*; "):
            came_of(door, WRONG_NAMES[says](DOORS[door][1]))


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("door", [door for door in DOORS if is_table(door) and door not in NAMING], ids=".".join)
def test_a_missing_column_is_as_one_of_nan(door):
    """The unit is hidden, or both are refused."""

    def outcome(value):
        try:
            return came_of(door, value)
        except ValueError:
            return None

    whole = labelled(DOORS[door][1].astype(float))
    one, other = outcome(whole.drop(columns="b")), outcome(whole.assign(b=np.nan))
    assert alike(one, other)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_values_masks_and_conditions_go_to_the_units_of_their_names(form):
    model = replace(M, weights=form(M.weights), names=(*UNITS,))
    known, mask = pd.Series([1, -1, 1], ["d", "a", "c"]), pd.Series([True, True, False, True, False], [*"dacbe"])
    right = model.clamp([0, 2, 3], [-1, 1, 1])
    for units in (["d", "a", "c"], ["a", "c", "d"], ("c", "d", "a")):
        for machine in (model.clamp(units, known), model.clamp(units, known[::-1])):
            assert alike(machine.biases, right.biases) and machine.offset == pytest.approx(right.offset)
        for given in (known, (units, known), known.to_dict(), {0: -1, "c": 1, "d": 1}, ([0, 2, 3], [-1, 1, 1])):
            assert bmlab.conditional(model, given, {}) == pytest.approx(bmlab.conditional(model, known, {}))
    for row in (known, known.to_dict(), {0: -1, "c": 1, "d": 1}):
        assert alike(bmlab.complete(model, row).mean, bmlab.complete(model, [-1, np.nan, 1, 1, np.nan]).mean)
    assert model.indices(mask).tolist() == [0, 1, 3]
    for wrong in (known.rename({"d": "e"}), known.rename({"d": "z"}), known[:2]):
        with pytest.raises(ValueError, match=r"no unit|has no column"):
            model.clamp(["d", "a", "c"], wrong)
    with pytest.raises(ValueError, match="have names"):
        M.clamp([0, 2, 3], known)


def test_the_gradient_takes_moments_by_the_names_of_their_columns():
    model, data = replace(M, names=(*UNITS,)), bmlab.sample(M, 60, rng=np.random.default_rng(0))
    one, other = (bmlab.gradient(model, bmlab.moments([x]), bmlab.exact(M)) for x in (data, labelled(data)))
    assert alike(one, other)


def test_labels_name_the_units_of_a_machine_that_is_made_of_them():
    weights, biases = (labelled(x) for x in (M.weights, M.biases))
    in_order = weights.loc[UNITS[OTHERWISE]]
    for w in (weights, in_order, in_order.set_axis(range(5))):
        for b in (biases, biases[::-1], M.biases[OTHERWISE]):
            made = bmlab.BoltzmannMachine(w, b)
            assert set(made.names) == {*UNITS} and alike(in_line(made), in_line(M))
    assert alike(in_line(bmlab.BoltzmannMachine(M.weights, labelled(M.biases, order=range(5)))), in_line(M))
    with pytest.raises(ValueError, match="'z' is no unit"):
        bmlab.BoltzmannMachine(weights, biases.rename({"a": "z"}))


ROWS = np.array([[1, 1, 1], [1, -1, -1], [1, 1, -1], [1, -1, 1]])
PAIR = np.array([[1, 1, 1], [-1, -1, 1], [1, 1, -1], [-1, -1, -1]])
NAMED = bmlab.BoltzmannMachine(np.zeros((3, 3)), np.zeros(3), names=("Ada", "Bob", "Cem"))
ASKEW = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 0.0]])
ABOUT_UNITS = {  # every sentence about a unit or a pair: the units that it must call by their names
    "constant, maximize": (lambda: bmlab.maximize(NAMED, ROWS), "Ada"),
    "constant, pseudolikelihood": (lambda: bmlab.pseudolikelihood(pd.DataFrame(ROWS, columns=NAMED.names)), "Ada"),
    "constant, penalty path": (
        lambda: bmlab.penalty_path(pd.DataFrame(ROWS, columns=NAMED.names), rng=0, n_folds=2),
        "Ada",
    ),
    "not whole": (lambda: bmlab.triplets(pd.DataFrame(np.where(PAIR > 0, np.nan, 1), columns=NAMED.names)), "Ada"),
    "a value": (lambda: NAMED.clamp(["Bob"], [0]), "Bob"),
    "constant, inversion": (lambda: bmlab.invert_tap(pd.DataFrame(ROWS, columns=NAMED.names)), "Ada"),
    "constant, moments": (lambda: bmlab.invert_tap(bmlab.moments(pd.DataFrame(ROWS, columns=NAMED.names))), "Ada"),
    "combination, maximize": (lambda: bmlab.maximize(NAMED, PAIR), "Ada", "Bob"),
    "combination, pseudolikelihood": (
        lambda: bmlab.pseudolikelihood(pd.DataFrame(PAIR, columns=NAMED.names)),
        "Ada",
        "Bob",
    ),
    "not known": (
        lambda: bmlab.fit(NAMED, PAIR, partial(bmlab.exact, pairs="couplings"), steps=1, rate=1),
        "Ada",
        "Bob",
    ),
    "repeated": (lambda: bmlab.complete(NAMED, {"Bob": 1, 1: 1}), "Bob"),
    "not symmetric": (lambda: replace(NAMED, weights=ASKEW), "Ada", "Bob"),
    "a diagonal": (lambda: replace(NAMED, weights=np.diag([0, 0, 1.0])), "Cem"),
    "not symmetric, sparse": (lambda: replace(NAMED, weights=sparse.csr_array(ASKEW)), "Ada", "Bob"),
    "a diagonal, from_bits": (lambda: bmlab.from_bits(np.diag([0, 1.0, 0]), np.zeros(3), names=NAMED.names), "Bob"),
}


@pytest.mark.parametrize("name", ABOUT_UNITS)
def test_every_sentence_about_a_unit_says_its_name(name):
    call, *names = ABOUT_UNITS[name]
    with pytest.raises(ValueError, match=r".*".join(repr(called) for called in names)):
        call()


@pytest.mark.parametrize(
    ("convert", "values"), [(bmlab.spins, [[0, 1], [1, 1]]), (bmlab.bits, [[-1, 1], [1, 1]])], ids=["spins", "bits"]
)
def test_a_table_that_is_written_in_other_numbers_keeps_its_names(convert, values):
    """The columns, the rows' labels and the kind of a table; a Series, too."""
    frame = pd.DataFrame(values, index=["mon", "tue"], columns=["Ada", "Bob"])
    found = convert(frame)
    assert list(found.columns) == ["Ada", "Bob"] and list(found.index) == ["mon", "tue"]
    assert (found.to_numpy() == convert(values)).all() and (convert(frame["Ada"]).index == frame.index).all()
    assert type(convert(values)) is np.ndarray
    assert bmlab.pseudolikelihood(bmlab.spins(frame > 0), penalty=1, bias_penalty=1).model.names == ("Ada", "Bob")


WRONG = pd.DataFrame(np.where(np.arange(3) == 1, 7, ROWS), columns=NAMED.names)
WORDS = pd.DataFrame(ROWS, columns=NAMED.names).assign(Bob="yes")
TAKES_ROWS = {
    "maximize": lambda data: bmlab.maximize(NAMED, data),
    "log_prob": lambda data: bmlab.log_prob(NAMED, data),
    "complete": lambda data: bmlab.complete(NAMED, data),
    "pseudolikelihood": bmlab.pseudolikelihood,
    "invert_tap": bmlab.invert_tap,
    "moments": bmlab.moments,
    "triplets": bmlab.triplets,
    "penalty_path": lambda data: bmlab.penalty_path(data, rng=0),
}


@pytest.mark.parametrize("takes", TAKES_ROWS.values(), ids=TAKES_ROWS)
@pytest.mark.parametrize("data", [WRONG, WORDS], ids=["numbers", "words"])
def test_a_sentence_about_a_value_says_its_column(takes, data):
    with pytest.raises(ValueError, match="column 'Bob'"):
        takes(data)
