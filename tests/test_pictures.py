"""No picture stands twice in the course, and none is blurred, heavy or on a slab of its own."""

from itertools import combinations

import numpy as np
import pytest
from contact_sheet import pictures_of
from PIL import Image
from refresh import NOTEBOOKS

FILES = sorted(NOTEBOOKS.glob("*.ipynb"))
SIDE, SEEN, SAME = 96, 24, 0.35  # pixels of a thumbnail; steps of a channel; share of the drawn pixels


def thumbnail(image):
    """A picture on white paper as (SIDE, SIDE, 3) numbers, stretched, so that its frame does not tell it apart."""
    paper = Image.new("RGBA", image.size, "white")
    paper.alpha_composite(image.convert("RGBA"))
    return np.asarray(paper.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX), dtype=int)


def difference(first, second):
    """The share of what is drawn in either picture that differs between them."""
    drawn = ((first < 255 - SEEN) | (second < 255 - SEEN)).any(axis=2)
    differs = (np.abs(first - second) > SEEN).any(axis=2)
    return differs.sum() / max(drawn.sum(), 1)


def duplicates(named):
    """The pairs of pictures that look the same."""
    small = [(name, thumbnail(image)) for name, image in named]
    return [(a, b) for (a, first), (b, second) in combinations(small, 2) if difference(first, second) < SAME]


def test_no_picture_stands_twice_in_the_course():
    assert not duplicates([found for path in FILES for found in pictures_of(path)])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_notebook_weighs_less_than_a_photograph(path):
    assert path.stat().st_size < 1_500_000
