"""No picture stands twice in the course, none is heavy, and the words of each are read on a telephone."""

import re
from itertools import combinations

import nbformat
import numpy as np
import pytest
from contact_sheet import pictures_of
from PIL import Image
from refresh import NOTEBOOKS

FILES = sorted(NOTEBOOKS.glob("*.ipynb"))
TELEPHONE, READ = 360, 9  # pixels: how wide a telephone is, and how large the smallest words are read on it
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


def test_a_picture_that_is_shifted_recoloured_or_redrawn_is_told_from_its_copy():
    drawn = Image.new("RGBA", (300, 200))
    drawn.paste("black", (20, 20, 120, 180))
    copy = drawn.resize((450, 300))
    moved, blue = Image.new("RGBA", (300, 200)), Image.new("RGBA", (300, 200))
    moved.paste("black", (80, 20, 180, 180))
    blue.paste("#0072B2", (20, 20, 120, 180))
    named = [("drawn", drawn), ("copy", copy), ("moved", moved), ("blue", blue)]
    assert duplicates(named) == [("drawn", "copy")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_notebook_weighs_less_than_a_photograph(path):
    assert path.stat().st_size < 1_500_000


def shown_at(points, width, wide=TELEPHONE):
    """The pixels of words of a picture that is `width` wide at 100 %, on a screen that is `wide`.

    No picture is shown larger than at 100 %, where an inch has 100 pixels and 72 points.  Indices and exponents are
    smaller than the words of a formula, as in a book, and not counted.
    """
    return points * 100 / 72 * min(1, wide / width)


def smallest_words(cell):
    """How many points the smallest words of each picture of a cell have, and its width: of those in HTML too.

    A picture without words has infinitely large ones, and one of which nothing is known infinitely small ones.
    """
    for output in cell.get("outputs", []):
        if "image/png" in output.get("data", {}):
            about = output.metadata.get("image/png", {})
            points = about.get("points", 0)
            yield np.inf if points is None else points, about.get("width", np.inf)
        for image in re.findall(r"<img [^>]*data:image/png", output.get("data", {}).get("text/html", "")):
            found = [re.search(rf' {name}="([\d.]+)"', image) for name in ("data-points", "width")]
            yield tuple(float(text[1]) if text else default for text, default in zip(found, (0, np.inf), strict=True))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_words_of_a_picture_are_read_on_a_telephone(path):
    cells = nbformat.read(path, as_version=4).cells
    found = [
        (f"{k} {cell.id}", *each, shown_at(*each)) for k, cell in enumerate(cells) for each in smallest_words(cell)
    ]
    assert [picture for picture in found if picture[-1] < READ] == []


def test_words_shrink_with_a_picture_that_is_wider_than_the_screen():
    assert shown_at(10, 720) == pytest.approx(10 * 100 / 72 / 2)
    assert shown_at(10, 300) == pytest.approx(10 * 100 / 72)
    about = {"points": 9.5, "width": 521}
    known = [about, about | {"points": None}, {}]
    shown = [nbformat.v4.new_output("display_data", {"image/png": ""}, metadata={"image/png": each}) for each in known]
    folded, none = ('<img alt="" width="521" data-points="8.0" src="data:image/png', '<img src="data:image/png')
    pages = [nbformat.v4.new_output("display_data", {"text/html": html}) for html in (folded, none)]
    cell = nbformat.v4.new_code_cell(outputs=[*shown, *pages])
    assert [*smallest_words(cell)] == [(9.5, 521), (np.inf, 521), (0, np.inf), (8, 521), (0, np.inf)]
