"""The manual: every piece of Python in docs/ that stands alone is run, and every link leads somewhere."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
PIECES = [
    pytest.param(piece, id=f"{page.stem}-{k}")
    for page in sorted(DOCS.glob("*.md"))
    for k, piece in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL), 1)
    if "import bmlab" in piece
]


@pytest.mark.parametrize("piece", PIECES)
def test_a_piece_of_the_manual_runs(piece):
    assert "assert" in piece or "print" in piece
    exec(piece, {})


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_its_links_lead_somewhere(page):
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link
