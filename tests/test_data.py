"""The data that ships: shapes, units of -1/+1, and facts that anyone can check."""
import subprocess
import sys

import numpy as np
import pytest

from bmlab import data


@pytest.fixture(scope="module")
def digits():
    return data.digits()


@pytest.fixture(scope="module")
def zoo():
    return data.zoo()


def animals_with(zoo, name):
    """The set of names of the animals that have one property."""
    column = zoo.data[:, zoo.properties.index(name)]
    return {animal for animal, answer in zip(zoo.names, column) if answer == 1}


def test_digits_have_the_promised_shapes_and_units(digits):
    assert digits.train.shape == (1000, 64) and digits.test.shape == (797, 64)
    assert digits.train_labels.shape == (1000,) and digits.test_labels.shape == (797,)
    assert digits.train.dtype == digits.test.dtype == np.float64
    assert set(np.unique(digits.train)) == set(np.unique(digits.test)) == {-1.0, 1.0}


def test_digits_are_the_file_of_scikit_learn_in_its_order(digits):
    from sklearn.datasets import load_digits
    images, labels = load_digits(return_X_y=True)
    np.testing.assert_array_equal(np.concatenate([digits.train, digits.test]) == 1, images >= 8)
    np.testing.assert_array_equal(np.concatenate([digits.train_labels, digits.test_labels]), labels)


def test_the_first_digit_is_a_ring(digits):
    ring = digits.train[0].reshape(8, 8)
    assert digits.train_labels[0] == 0
    assert (ring[3:5, 3:5] == -1).all() and (ring[3:5, [2, 5]] == 1).all()


def test_every_digit_is_in_both_parts(digits):
    assert set(digits.train_labels) == set(digits.test_labels) == set(range(10))


def test_digits_without_scikit_learn_says_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "bmlab\[data\]"'):
        data.digits()


def test_zoo_has_the_promised_shapes_and_units(zoo):
    assert zoo.data.shape == (101, 15) and zoo.data.dtype == np.float64
    assert set(np.unique(zoo.data)) == {-1.0, 1.0}
    assert (len(zoo.names), len(zoo.properties), len(zoo.classes)) == (101, 15, 101)


def test_zoo_names_its_properties_in_order(zoo):
    first = "hair feathers eggs milk airborne aquatic predator toothed"
    second = "backbone breathes venomous fins tail domestic catsize"
    assert zoo.properties == tuple(f"{first} {second}".split())


def test_zoo_counts_its_classes(zoo):
    counts = {name: zoo.classes.count(name) for name in set(zoo.classes)}
    assert counts == {
        "mammal": 41, "bird": 20, "fish": 13, "invertebrate": 10, "insect": 8, "reptile": 5, "amphibian": 4,
    }


def test_only_the_platypus_gives_milk_and_lays_eggs(zoo):
    assert animals_with(zoo, "milk") & animals_with(zoo, "eggs") == {"platypus"}


def test_milk_makes_the_mammal_and_feathers_make_the_bird(zoo):
    assert animals_with(zoo, "milk") == {n for n, c in zip(zoo.names, zoo.classes) if c == "mammal"}
    assert animals_with(zoo, "feathers") == {n for n, c in zip(zoo.names, zoo.classes) if c == "bird"}


def test_one_frog_of_the_two_is_venomous(zoo):
    frogs = [row for row, name in zip(zoo.data, zoo.names) if name == "frog"]
    (differs,) = np.flatnonzero(frogs[0] != frogs[1])
    assert zoo.properties[differs] == "venomous"


def test_zoo_has_53_different_patterns(zoo):
    assert len(np.unique(zoo.data, axis=0)) == 53


def test_both_sources_name_author_year_and_licence(digits, zoo):
    assert "Alpaydin" in digits.source and "1998" in digits.source and "CC BY 4.0" in digits.source
    assert "Forsyth" in zoo.source and "1990" in zoo.source and "CC BY 4.0" in zoo.source


def test_the_module_itself_needs_no_scikit_learn():
    check = "import sys, bmlab.data; bmlab.data.zoo(); sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0


def test_a_lower_threshold_only_adds_ink():
    thick, usual = data.digits(3), data.digits()
    assert (thick.train >= usual.train).all() and (thick.train > usual.train).any()
    assert (thick.test_labels == usual.test_labels).all()
