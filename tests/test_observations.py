"""moments(): the same sums under any cut and of any kind of chunk; a wrong one is refused in a sentence."""

import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet
from scipy import sparse

import bmlab

S = np.random.default_rng(0).choice([-1, 1], (301, 6), p=[0.3, 0.7]).astype(np.int8)
S[:, 1] *= S[:, 0]
ON = (S > 0).astype(np.uint8)
BLANK = bmlab.BoltzmannMachine(np.zeros((6, 6)), np.zeros(6))


def batches(path, x):
    pd.DataFrame(x, columns=list("abcdef")).to_parquet(path / "rows.parquet", row_group_size=70)
    return parquet.ParquetFile(path / "rows.parquet").iter_batches(33)


def saved(path, x, mode: Any = "r"):
    np.save(path / "rows.npy", x)
    return np.load(path / "rows.npy", mmap_mode=mode)


def blocks(path):
    array = pytest.importorskip("dask.array").from_array(S, chunks=(50, 6))
    return (array.blocks[k].compute() for k in range(array.numblocks[0]))


def csv(path):
    pd.DataFrame(ON).to_csv(path / "rows.csv", index=False, header=list("abcdef"))
    return pd.read_csv(path / "rows.csv", chunksize=100)


SOURCES = {
    "memmap": lambda path: saved(path, S),
    "memmap in chunks": lambda path: np.array_split(saved(path, S), 7),
    "0/1": lambda path: [ON[:7], ON[7:200].astype(float), ON[200:]],
    "0/1, sparse": lambda path: [sparse.csr_matrix(ON[:7]), sparse.lil_array(ON[7:])],
    "nullable": lambda path: [pd.DataFrame(S).astype("Int8"), np.empty((0, 6))],
    "an empty chunk": lambda path: [S[:0], S],
    "Parquet": lambda path: batches(path, S),
    "Parquet of booleans": lambda path: batches(path, S > 0),
    "Dask": blocks,
    "CSV": csv,
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "Dask")) for name in SOURCES])
def test_every_source_gives_the_same_sums(name, tmp_path):
    found = bmlab.moments(SOURCES[name](tmp_path), bits=name.startswith(("0/1", "CSV")))
    s = S.astype(float)
    assert found.count == 301 and np.array_equal(found.mean, s.sum(0) / 301)
    assert np.array_equal(found.corr, s.T @ s / 301)


def test_a_strip_is_not_the_whole():
    many = np.tile(S, (1000, 1))  # six strips
    found = bmlab.moments([many, S])
    assert np.array_equal(found.corr, bmlab.moments(S).corr) and found.count == 301301


def test_a_weight_is_so_many_rows():
    often = np.random.default_rng(1).integers(0, 4, 301)
    repeated = bmlab.moments(np.repeat(S, often, axis=0))
    found = bmlab.moments([S[:100], S[100:]], sample_weight=0.5 * often)
    assert np.abs(found.mean - repeated.mean).max() < 1e-12 and np.abs(found.corr - repeated.corr).max() < 1e-12


@pytest.mark.filterwarnings("ignore:moments.. read:UserWarning")
def test_what_is_passed_is_what_is_read(tmp_path):
    """A memmap of which something was changed, turned or cut is no longer its file."""
    changed = saved(tmp_path, S, "c")
    changed[:, 2] = 1
    whole = saved(tmp_path, np.vstack([S, S[:5]]))
    for passed in (changed, whole[:, ::-1], whole[:12].T, whole[1:].T, whole[3:50:2]):
        array = np.array(passed, float)
        assert np.array_equal(bmlab.moments(passed).corr, array.T @ array / len(array))
        assert bmlab.clamped(bmlab.toy(), passed[:, :3]).mean == pytest.approx(array[:, :3].mean(0), abs=1e-15)


@pytest.mark.parametrize(
    "learn",
    [
        partial(bmlab.fit, BLANK, steps=5, rate=0.1),
        partial(bmlab.fit, bmlab.ising(6, coupling=0.1), steps=5, rate=0.1),
        partial(bmlab.maximize, BLANK, penalty=0.1),
        partial(bmlab.invert_mean_field, noise=0.1),
        partial(bmlab.invert_tap, noise=0.05),
        partial(bmlab.invert_bethe, noise=0.05),
    ],
)
def test_learners_learn_the_same_from_moments(learn):
    frame = pd.DataFrame(S, columns=list("abcdef"))
    direct, found = learn(frame).model, learn(bmlab.moments([frame[:99], frame[99:]])).model
    assert np.abs(direct.weights - found.weights).max() < 1e-9 and direct.names == found.names == tuple("abcdef")


WRONG = {
    "0/1 later": ([S, ON], r"chunks\[1\]: .*pass bits=True"),
    "missing": ([S, np.where(S > 0, np.nan, S)], r"chunks\[1\]: an entry is missing \(nan\); leave out its row"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name):
    source, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        bmlab.moments(source)


def test_rows_that_may_be_the_units_are_doubted():
    """Neurons times bins, though the bins are the data: valid numbers, but hardly what was meant."""
    s = np.random.default_rng(0).choice([-1.0, 1.0], (10, 953))
    with pytest.warns(UserWarning, match=r"10 rows of 953 units; pass data\.T if the rows are the units"):
        assert bmlab.moments(s).count == 10
    with warnings.catch_warnings(action="error"):
        assert len(bmlab.moments(s.T).mean) == 10
        bmlab.moments([s[:5, :10], s[5:, :10]])


@pytest.mark.parametrize("learn", [partial(bmlab.fit, steps=1, rate=0.1), bmlab.maximize])
def test_moments_of_another_number_of_units_are_refused(learn):
    """As those of the visible units alone are: the hidden ones act through the rows."""
    data = bmlab.moments([bmlab.states(3)])
    with pytest.raises(ValueError, match=r"moments must be of all 4 units and pairs, found .*; pass rows if units"):
        learn(bmlab.ising(4), data)


@pytest.mark.parametrize(
    ("n_weights", "found"), [(300, "100 numbers left for 101 rows"), (302, "of 301 rows, found 302")]
)
def test_weights_are_one_a_row_whatever_the_chunks(n_weights, found):
    with pytest.raises(ValueError, match=f"sample_weight .*{found}"):
        bmlab.moments([S[:200], S[200:]], sample_weight=np.ones(n_weights))
