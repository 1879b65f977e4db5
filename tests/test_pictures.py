"""No notebook is heavy, and the words of each picture are read on a telephone."""

import re

import numpy as np
from contact_sheet import pictures_of

TELEPHONE, READ = 360, 9  # pixels: how wide a telephone is, and how large the smallest words are read on it


def test_a_notebook_weighs_less_than_a_photograph(path):
    assert path.stat().st_size < 1_500_000


def shown_at(points, width, wide=TELEPHONE):
    """The pixels of words of a picture that is `width` wide at 100 %, on a screen that is `wide`.

    No picture is shown larger than at 100 %: an inch then has 100 pixels, or 72 points.  Indices and exponents are
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
