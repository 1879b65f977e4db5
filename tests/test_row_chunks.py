"""rows(): the same sums under any cut and from any source; learners that take them; what is wrong is said."""

import pickle
from functools import partial
from itertools import islice

import numpy as np
import pandas as pd
import pytest

import bmlab
from bmlab import row_chunks
from bmlab.estimators import BoltzmannClassifier, BoltzmannDensity, RestrictedBoltzmann
from bmlab.learn.contrastive_divergence import shuffled

S = np.random.default_rng(0).choice([-1, 1], (301, 6), p=[0.3, 0.7]).astype(np.int8)
S[:, 1] *= S[:, 0]
HOLED = np.where(np.random.default_rng(1).random(S.shape) < 0.1, np.nan, S)
FULL = bmlab.sherrington_kirkpatrick(6, np.random.default_rng(2))
HALF = bmlab.restricted(np.random.default_rng(3).normal(size=(6, 3)), np.zeros(6), np.zeros(3))


def npy(path, x):
    np.save(path / "rows.npy", x)
    return path / "rows.npy"


def parquet(path, x):
    pd.DataFrame(x).to_parquet(path / "rows.parquet", row_group_size=70)
    return path / "rows.parquet"


def dask_array(path):
    return pytest.importorskip("dask.array").from_array(S, chunks=(50, 6))


SOURCES = {
    "path": lambda path: npy(path, S),
    "path as text": lambda path: str(npy(path, S)),
    "0/1": lambda path: npy(path, (S > 0).astype(np.uint8)),
    "booleans": lambda path: npy(path, S > 0),
    "floats": lambda path: npy(path, S.astype(np.float32)),
    "floats 0/1": lambda path: npy(path, (S > 0).astype(float)),
    "by columns": lambda path: npy(path, np.asfortranarray(S)),
    "memmap": lambda path: np.load(npy(path, S), mmap_mode="r"),
    "part of a memmap": lambda path: np.load(npy(path, np.vstack([S, S])), mmap_mode="r")[:301],
    "array": lambda path: S,
    "lists": lambda path: S.tolist(),
    "DataFrame": lambda path: pd.DataFrame(S),
    "list of chunks": lambda path: [S[:7], S[7:200], S[200:]],
    "list of functions": lambda path: [partial(S.__getitem__, slice(0, 99)), partial(S.__getitem__, slice(99, None))],
    "iterator": lambda path: (S[a : a + 10] for a in range(0, 301, 10)),
    "iterator of functions": lambda path: iter([lambda: S[:3], lambda: S[3:].astype(float)]),
    "dask.array": dask_array,
    "Parquet": lambda path: parquet(path, S),
    "Parquet of booleans": lambda path: str(parquet(path, S > 0)),
}


def law_sums(source):
    """Sums are those of whole numbers."""
    found = bmlab.rows(source)
    s = S.astype(float)
    assert found.count == 301 and found.width == 6 and not found.missing
    assert np.array_equal(found.sums, s.sum(0)) and np.array_equal(found.pairs, s.T @ s)
    assert np.array_equal(found.moments.mean, s.sum(0) / 301) and np.array_equal(found.moments.corr, s.T @ s / 301)


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_and_cut_gives_the_same_sums(name, tmp_path, monkeypatch):
    for numbers, strip in ((2**20, 2**20), (70, 2**20), (100, 13), (1, 1)):
        monkeypatch.setattr(row_chunks, "NUMBERS", numbers)
        monkeypatch.setattr(row_chunks, "STRIP", strip)
        law_sums(SOURCES[name](tmp_path))


def test_what_workers_get_of_a_file_is_its_name_and_a_range(tmp_path, monkeypatch):
    monkeypatch.setattr(row_chunks, "NUMBERS", 60)
    for name in ("path", "memmap"):
        chunks = bmlab.rows(SOURCES[name](tmp_path)).chunks
        assert len(chunks) == 31 and all(isinstance(chunk, partial) for chunk in chunks)
        assert max(len(pickle.dumps(chunk)) for chunk in chunks) < 500


def doing_twice(task, parts):
    return [answer for part in parts for answer in [task(part), task(part)][1:]]


@pytest.mark.parametrize("engine", [map, doing_twice])
def test_workers_give_the_same_bits(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(row_chunks, "NUMBERS", 60)
    here = bmlab.clamped(HALF, bmlab.rows(npy(tmp_path, HOLED)))
    with bmlab.workers(engine):
        law_sums(SOURCES["path"](tmp_path))
        there = bmlab.clamped(HALF, bmlab.rows(npy(tmp_path, HOLED)))
    assert np.array_equal(here.corr, there.corr) and here.log_z == there.log_z


# Learners


@pytest.mark.parametrize("data", [S, HOLED], ids=["whole", "missing"])
@pytest.mark.parametrize("model", [FULL, HALF, bmlab.ising((2, 3)).at(2), bmlab.medium()])
def test_the_clamped_phase_is_that_of_the_rows(model, data, monkeypatch):
    monkeypatch.setattr(row_chunks, "NUMBERS", 300)
    known, found = bmlab.clamped(model, data), bmlab.clamped(model, bmlab.rows(data))
    assert np.abs(known.mean - found.mean).max() < 1e-12 and abs(known.log_z - found.log_z) < 1e-11
    assert abs(known.corr - found.corr).max() < 1e-12 and type(known.corr) is type(found.corr)
    free = bmlab.exact(model)
    assert abs(bmlab.log_likelihood(known, free) - bmlab.log_likelihood(found, free)) < 1e-11


@pytest.mark.parametrize("data", [S, HOLED], ids=["whole", "missing"])
@pytest.mark.parametrize("model", [FULL, HALF])
def test_learners_learn_the_same(model, data, monkeypatch):
    monkeypatch.setattr(row_chunks, "NUMBERS", 300)
    for learn in (partial(bmlab.fit, steps=5, rate=0.1), partial(bmlab.maximize, penalty=0.1, tolerance=1e-5)):
        known, found = learn(model, data), learn(model, bmlab.rows(data))
        assert np.abs(known.model.weights - found.model.weights).max() < 1e-6
        assert abs(known.steps[-1].log_likelihood - found.steps[-1].log_likelihood) < 1e-6


def test_an_iterator_is_enough_where_nothing_is_hidden():
    data = bmlab.rows(iter([S[:100], S[100:]]))
    assert np.array_equal(bmlab.maximize(FULL, data).model.weights, bmlab.maximize(FULL, bmlab.rows(S)).model.weights)
    with pytest.raises(ValueError, match=r"data from an iterator can be read once; pass rows"):
        bmlab.clamped(HALF, data)


def test_a_checkpoint_of_rows_goes_on(tmp_path):
    whole = bmlab.fit(FULL, bmlab.rows(S), steps=6, rate=0.1).model.weights
    for steps in (3, 6):
        found = bmlab.fit(FULL, bmlab.rows(S), steps=steps, rate=0.1, checkpoint=tmp_path / "run.npz")
    assert np.array_equal(found.model.weights, whole)


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
def test_the_state_of_each_chunk_is_where_the_next_answer_starts(monkeypatch):
    monkeypatch.setattr(row_chunks, "NUMBERS", 300)
    model, data = bmlab.sherrington_kirkpatrick(9, np.random.default_rng(5)), bmlab.rows(S)
    first = bmlab.clamped(model, data, bmlab.mean_field)
    again = bmlab.clamped(model, data, bmlab.mean_field, start=first.state)
    assert len(first.state) == 7 and np.abs(first.mean - again.mean).max() < 1e-6
    with pytest.raises(ValueError, match="start must hold 7 states, one a chunk, found 2"):
        bmlab.clamped(model, data, bmlab.mean_field, start=first.state[:2])


@pytest.mark.parametrize(
    ("name", "value"),
    [("batch", 10), ("chains", "data"), ("sample_weight", np.ones(301)), ("clamped", bmlab.clamped_mean_field)],
)
def test_what_asks_for_all_rows_at_once_is_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} asks for data in memory.*; pass an array"):
        bmlab.fit(HALF, bmlab.rows(S), steps=2, rate=0.1, rng=0, **{name: value})


@pytest.mark.parametrize("penalty", [0, 0.1])
def test_the_pseudolikelihood_is_that_of_the_rows(penalty, tmp_path, monkeypatch):
    monkeypatch.setattr(row_chunks, "NUMBERS", 300)
    known, data = bmlab.pseudolikelihood(S, penalty=penalty).model, bmlab.rows(npy(tmp_path, S > 0))
    for engine in (map, doing_twice):
        with bmlab.workers(engine):
            found = bmlab.pseudolikelihood(data, penalty=penalty).model
        assert np.abs(known.weights - found.weights).max() < 1e-5 and np.abs(known.biases - found.biases).max() < 1e-5


def test_what_pseudolikelihood_cannot_take_of_rows_is_said():
    for data, weight in ((bmlab.rows(HOLED), None), (bmlab.rows(S), np.ones(301)), (bmlab.rows(iter([S])), None)):
        with pytest.raises(ValueError, match=r"data must be -1/\+1, found nan;|sample_weight asks|can be read once;"):
            bmlab.pseudolikelihood(data, penalty=0.1, sample_weight=weight)


def test_what_is_missing_in_a_parquet_file_is_missing(tmp_path):
    data = bmlab.rows(parquet(tmp_path, pd.DataFrame(HOLED).astype("Int8")))
    assert len(data.chunks) == 5 and np.array_equal(np.concatenate(list(data)), HOLED, equal_nan=True)


def law_shuffled():
    """Every row once an epoch, whatever the chunks and the batch; and not in the order of the chunks."""
    for sizes, batch in (((7, 1, 2), 5), ((10,), 3), ((4, 6), 20), ((3, 3, 3, 1), 10)):
        ends = np.cumsum(sizes)
        chunks = [np.arange(end - size, end)[:, None] for size, end in zip(sizes, ends, strict=True)]
        stream = shuffled(chunks.__getitem__, len(chunks), batch, np.random.default_rng(0))
        found = np.concatenate(list(islice(stream, 6 * 10 // batch)))[:, 0].reshape(6, 10)
        assert (np.sort(found) == np.arange(10)).all() and len({*map(tuple, found)}) == 6
        assert len(sizes) == 1 or len({row[0] // sizes[0] for row in found}) > 1


def test_a_stream_of_batches_has_every_row_once_an_epoch():
    law_shuffled()


def test_pcd_learns_from_rows(tmp_path, monkeypatch):
    learn = partial(bmlab.pcd, HALF, steps=100, rate=0.05, batch=20, n_chains=30)
    known = learn(S, rng=0).model
    assert np.array_equal(known.weights, learn(bmlab.rows(npy(tmp_path, S)), rng=0).model.weights)
    monkeypatch.setattr(row_chunks, "NUMBERS", 300)
    u = np.random.default_rng(4).random((100, 6))
    ups_and_downs = bmlab.rows(np.where(u < np.repeat([0.7, 0.3], 50)[:, None], 1, -1))
    small = bmlab.restricted(np.random.default_rng(3).normal(scale=0.01, size=(6, 3)), np.zeros(6), np.zeros(3))
    found = bmlab.exact(bmlab.pcd(small, ups_and_downs, rng=0, steps=400, rate=0.05).model).mean[:6]
    sides = [chunk.mean(0) for chunk in ups_and_downs]  # one chunk alone would draw all means to its side
    assert len(sides) == 2 and (sides[1] < found).all() and (found < sides[0]).all()


def test_what_pcd_cannot_take_of_rows_is_said():
    for data, says in (HOLED, "found nan;"), (iter([S]), "can be read once;"), (S[:, [0] * 10], "1 to 9 columns"):
        with pytest.raises(ValueError, match=says):
            bmlab.pcd(HALF, bmlab.rows(data), rng=0, steps=2, rate=0.1)


def test_estimators_learn_from_rows_chunk_by_chunk(monkeypatch):
    monkeypatch.setattr(row_chunks, "NUMBERS", 300)
    data, y = bmlab.rows(S), (S[:, 0] * S[:, 2] > 0).astype(int)
    density = BoltzmannDensity().partial_fit(data)
    assert np.array_equal(density.model_.weights, BoltzmannDensity().fit(S).model_.weights)
    layers = [RestrictedBoltzmann(3, random_state=0).partial_fit(x) for x in (data, S[:50])]
    for a in range(50, 301, 50):
        layers[1].partial_fit(S[a : a + 50])
    assert np.array_equal(layers[0].components_, layers[1].components_)
    reader = BoltzmannClassifier().partial_fit(data, y, classes=[0, 1])
    assert np.array_equal(reader.predict_proba(S), BoltzmannClassifier().fit(S, y).predict_proba(S))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        reader.partial_fit(data, y[1:])


def test_data_wider_than_the_machine_is_refused():
    with pytest.raises(ValueError, match="data must have 1 to 3 columns, found 6"):
        bmlab.fit(bmlab.toy(), bmlab.rows(S), steps=1, rate=0.1)


# What is wrong


WRONG = {
    "other values": (2 * S, r"must be -1/\+1 or 0/1, found \{-2, 2\}"),
    "counts": (np.arange(12).reshape(4, 3), r"must be -1/\+1 or 0/1, found"),
    "halves": (S / 2, r"must be -1/\+1 or 0/1, found"),
    "both codes": (np.array([[1, 0], [1, -1]]), r"must be -1/\+1 or 0/1, found"),
    "both codes, as floats": (np.array([[1, 0], [1, -1.0]]), r"must be -1/\+1 or 0/1, found"),
    "both codes, chunk by chunk": ([S[:3], (S[3:] > 0).astype(int)], "found -1 and 0 in it"),
    "infinite": (np.where(S > 0, np.inf, 1.0), r"must be -1/\+1 or 0/1, found"),
    "widths": ([S, S[:, :3]], "chunks of 6 and of 3 units"),
    "a row": (S[0], r"must be rows \(N, units\), found shape \(6,\)"),
    "empty": (np.empty((0, 6)), r"must be rows \(N, units\), found shape"),
    "no chunk": (iter([]), "at least one row and one unit"),
    "no such file": ("nothing.npy", "cannot be read"),
    "no such file of columns": ("nothing.parquet", "cannot be read"),
    "texts": (np.array([["1", "-1"]]), "must be numbers"),
    "a chunk of one row": ([lambda: S[0]], r"chunks of rows \(rows, units\)"),
    "nothing": (None, "must be numbers"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name):
    source, message = WRONG[name]
    with pytest.raises((ValueError, OSError), match=f"^source .*{message}.*;"):
        bmlab.rows(source)


def test_a_file_that_is_none_is_refused(tmp_path):
    (tmp_path / "text.npy").write_text("1 0 1")
    np.savez(tmp_path / "many.npz", S)
    for name in ("text.npy", "many.npz"):
        with pytest.raises(ValueError, match=r"is no \.npy file of numbers; write it by"):
            bmlab.rows(tmp_path / name)
