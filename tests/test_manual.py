"""The manual: every piece of Python in docs/ that stands alone is run, and every link of a page leads somewhere."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
PIECES = [
    pytest.param(piece, id=f"{page.stem}-{k}")
    for page in sorted(DOCS.glob("*.md"))
    for k, piece in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL), 1)
    if "import bmlab" in piece and page.stem != "first_day"
]


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
@pytest.mark.parametrize("piece", PIECES)
def test_a_piece_of_the_manual_runs(piece):
    if "import distributed" in piece:
        pytest.importorskip("distributed")
    exec(piece, {})


@pytest.mark.filterwarnings("ignore::bmlab.NotConverged")
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
