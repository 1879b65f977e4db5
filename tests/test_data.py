"""The data that ships, against its sources, and tables of one's own."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri
from scipy.stats import multivariate_normal

import bmlab
from bmlab import data


@pytest.fixture(scope="module")
def digits():
    return data.digits()


def test_digits_are_the_file_of_scikit_learn_in_its_order(digits):
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    np.testing.assert_array_equal(np.concatenate([digits.train, digits.test]) == 1, images >= 8)
    np.testing.assert_array_equal(np.concatenate([digits.train_labels, digits.test_labels]), labels)


def test_digits_without_scikit_learn_says_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "bmlab\[data\]"'):
        data.digits()


# Votes, and tables of one's own


def test_votes_are_counted_as_their_source_says():
    votes = data.votes()
    assert votes.data.shape == (435, 16) and len(votes.names) == 16
    assert (votes.parties.count("democrat"), votes.parties.count("republican")) == (267, 168)
    assert np.isnan(votes.data).sum() == 392 and (~np.isnan(votes.data).any(axis=1)).sum() == 232
    assert set(np.unique(votes.data[~np.isnan(votes.data)])) == {-1.0, 1.0}
    assert "Schlimmer" in votes.source and "1987" in votes.source and "CC BY 4.0" in votes.source


def test_a_vote_stands_in_its_column_and_row():
    votes = data.votes()
    freeze, exports = (votes.names.index(name) for name in ("physician fee freeze", "South Africa exports"))
    cast = [(votes.data[:, k] == side).sum() for k in (freeze, exports) for side in (1, -1)]
    assert cast == [177, 247, 269, 62]  # as documented by the donor
    in_favour = [party for party, vote in zip(votes.parties, votes.data[:, freeze], strict=True) if vote == 1]
    assert in_favour.count("republican") == 163


def table(**columns):
    return pd.DataFrame(columns)


def test_words_for_yes_and_no_become_spins_in_any_spelling():
    frame = table(
        a=["yes", " No", "?"], b=[True, False, True], c=[1, 0, np.nan], d=["T", "f", None], e=[-1.0, 1.0, 1.0]
    )
    found = data.yes_no(frame)
    expected = [[1, -1, np.nan], [1, -1, 1], [1, -1, np.nan], [1, -1, np.nan], [-1, 1, 1]]
    assert np.array_equal(found.data.to_numpy().T, expected, equal_nan=True)
    assert list(found.data.columns) == list("abcde") and not found.left_out


def test_of_two_other_answers_the_later_is_named():
    found = data.yes_no(table(party=["whig", "tory", "NA"], size=[3, 12, 12]).set_index(pd.Index([5, 6, 7])))
    assert list(found.data.columns) == ["party = whig", "size = 12.0"] and list(found.data.index) == [5, 6, 7]
    assert found.data.iloc[0].tolist() == [1, -1] and np.isnan(found.data.iloc[2, 0])


def test_each_column_that_is_left_out_says_why():
    frame = table(
        age=[30, 41, 52], town=["Rome", "Bonn", "Rom"], one=["y", "y", None], none=[None] * 3, ok=["y", "n", "y"]
    )
    found = data.yes_no(frame)
    assert list(found.data.columns) == ["ok"] and set(found.left_out) == {"age", "town", "one", "none"}
    assert "3 different answers" in found.left_out["age"] and "frame['age'] >= 41" in found.left_out["age"]
    assert "== 'Rome'" in found.left_out["town"] and "infinite" in found.left_out["one"]


def test_plus_and_minus_are_yes_and_no_and_a_minus_alone_is_missing():
    found = data.yes_no(table(a=["+", " - ", "+", None], b=["y", "n", "-", ""]))
    expected = [[1, -1, 1, np.nan], [1, -1, np.nan, np.nan]]
    assert np.array_equal(found.data.to_numpy().T, expected, equal_nan=True) and found.yes["a"] == "+"


@pytest.mark.parametrize("names", [["party", "party = rep"], ["party = rep", "party"]])
def test_no_column_takes_the_place_of_another(names):
    answers = {"party": ["dem", "rep", "rep"], "party = rep": ["y", "n", "y"]}
    found = data.yes_no(table(**{name: answers[name] for name in names}))
    assert found.data["party = rep"].tolist() == [1, -1, 1] and list(found.data) == ["party = rep"]
    assert found.left_out == {
        "party": "'party' would be called 'party = rep', as another column is; rename one of the two"
    }


def test_the_law_of_the_raster_has_its_rates_and_the_correlations_of_its_gaussian():
    """p(two spikes) is the volume of a corner under a normal distribution with correlation l_i l_j."""
    law, s = data.raster(1, rng=np.random.default_rng(0)).law, bmlab.states(10) == 1
    np.testing.assert_allclose(law @ s, data.SPIKE_RATES, rtol=1e-12)
    edge = ndtri(data.SPIKE_RATES)
    for i, j in ((0, 1), (2, 7), (5, 9)):
        normal = multivariate_normal(
            cov=[[1, data.COMMON_LOADS[i] * data.COMMON_LOADS[j]], [data.COMMON_LOADS[i] * data.COMMON_LOADS[j], 1]]
        )
        assert law @ (s[:, i] & s[:, j]) == pytest.approx(normal.cdf(edge[[i, j]]), abs=1e-7)
