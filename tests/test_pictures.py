"""No picture stands twice in the course, none is heavy, and the words of each are read on a telephone."""

import re
from itertools import combinations

import numpy as np
from contact_sheet import pictures_of
from PIL import Image
from test_notebooks import FILES

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
    """A copy of the first, in another size, is the only one that does."""
    named = [found for path in FILES for found in pictures_of(path)]
    first, drawn = named[0]
    assert duplicates([*named, ("copy", drawn.resize((450, 300)))]) == [(first, "copy")]


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


def test_the_words_of_a_picture_are_read_on_a_telephone(path, notebook):
    found = [(cell.id, *each) for cell in notebook.cells for each in smallest_words(cell)]
    assert len(found) == len(pictures_of(path))
    assert [picture for picture in found if shown_at(*picture[1:]) < READ] == []
