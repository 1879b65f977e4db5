"""Every claim stands in its notebook word for word, and its verdict is stored; a few are tried again."""

import re

import nbformat
import numpy as np
import pytest
import referee
from test_notebooks import NOTEBOOKS

CLAIMS = {name: claim for notebook in referee.NOTEBOOKS for name, claim in referee.claims(notebook).items()}
AGAIN = 3  # trials


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_the_sentence_stands_in_its_cell(claim):
    cells = {cell.id: cell.source for cell in nbformat.read(NOTEBOOKS / f"{claim.notebook}.ipynb", 4).cells}
    assert claim.sentence and claim.sentence in " ".join(cells[claim.cell].split())


def conclusions(notebook):
    """The cells that conclude: answers to predictions, sentences in bold before the exercises, and the Close."""
    story = True
    for cell in notebook.cells:
        story = story and "## Exercises" not in cell.source
        if cell.cell_type == "markdown":
            text = re.sub(r"\A# .*", "", cell.source, flags=re.DOTALL)  # the front page asks, and promises
            bold = [words for words in re.findall(r"\*\*([^*]+)\*\*", text) if len(words.split()) >= 5]
            rule = story and any(not words.endswith("?") for words in bold)
            if rule or text.startswith("<details><summary>Answer</summary>") or "## Close" in text:
                yield cell.id


def test_no_conclusion_is_without_a_claim(path, notebook):
    tried = {claim.cell for claim in referee.claims(path.stem).values()}
    found = list(conclusions(notebook))
    assert len(found) >= 6 and set(found) <= tried, [cell for cell in found if cell not in tried]


def test_every_claim_was_tried_and_kept():
    verdicts = referee.stored()
    assert list(verdicts) == list(CLAIMS)
    for name, row in verdicts.items():
        assert (row["cell"], row["sentence"]) == (CLAIMS[name].cell, CLAIMS[name].sentence)
        assert int(row["trials"]) >= referee.LEAST and int(row["held"]) >= referee.KEPT * int(row["trials"]), name


@pytest.mark.parametrize("name", [next(iter(referee.claims(notebook))) for notebook in referee.NOTEBOOKS[1::3]])
def test_some_are_tried_again(name):
    verdict = referee.tried(name, AGAIN)
    assert verdict.trials == AGAIN and verdict.held >= AGAIN - 1


def test_the_interval_of_a_median_covers_it():
    rng = np.random.default_rng(0)
    inside = [low <= 0 <= high for low, high in map(referee.median_interval, rng.standard_cauchy((2000, 21)))]
    assert 0.95 - 5 * np.sqrt(0.05 * 0.95 / 2000) < np.mean(inside)


def test_a_false_sentence_does_not_stand(monkeypatch):
    name = next(iter(CLAIMS))
    false = CLAIMS[name]._replace(trials=lambda: (-effect for effect in CLAIMS[name].trials()))
    monkeypatch.setitem(referee.claims(false.notebook), name, false)
    assert not referee.tried(name).kept
