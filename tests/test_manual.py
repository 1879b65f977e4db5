"""The manual: every piece of Python in docs/ that stands alone is run, and every link of a page leads somewhere."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
START = (DOCS.parent / "notebooks/00_start.ipynb").read_text(encoding="utf-8")
PIECES = [
    pytest.param(piece, id=f"{page.stem}-{k}")
    for page in sorted(DOCS.glob("*.md"))
    for k, piece in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL), 1)
    if "import bmlab" in piece and page.stem != "first_day"
]


@pytest.mark.parametrize("piece", PIECES)
def test_a_piece_of_the_manual_runs(piece):
    assert "assert" in piece or "print" in piece
    if "import distributed" in piece:
        pytest.importorskip("distributed")
    exec(piece, {})


@pytest.mark.slow
def test_the_first_day_runs_from_its_file_to_its_paragraph(tmp_path, monkeypatch):
    """Its pieces go on from each other."""
    monkeypatch.chdir(tmp_path)
    namespace: dict = {}
    for piece in re.findall(r"```python\n(.*?)```", (DOCS / "first_day.md").read_text(encoding="utf-8"), re.DOTALL):
        exec(piece, namespace)
    assert (tmp_path / "first_day.png").exists()


@pytest.mark.parametrize("page", [*sorted(DOCS.glob("*.md")), *DOCS.parent.glob("*.md")], ids=lambda page: page.stem)
def test_its_links_lead_somewhere(page):
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link


def test_the_manual_begins_with_the_machine_of_the_course():
    """Getting started and notebook 00 tell one story: the same friends, the same film, the same numbers."""
    page = (DOCS / "getting_started.md").read_text(encoding="utf-8")
    namespace: dict = {}
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0], namespace)
    toy, film = namespace["bmlab"].toy(), namespace["film"]
    assert (film.weights == toy.weights).all() and (film.biases == toy.biases).all()
    assert str(film.names).replace("'", '"') in "".join(START.splitlines()).replace('\\"', '"') and "party" not in page
