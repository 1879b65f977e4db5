"""Every claim stands in its notebook word for word, and its verdict is stored; a few are tried again."""

import csv
import re

import nbformat
import numpy as np
import pytest
import referee
from test_notebooks import NOTEBOOKS

CLAIMS = {name: claim for notebook in referee.NOTEBOOKS for name, claim in referee.claims(notebook).items()}
TRIED = [name for name, claim in CLAIMS.items() if not claim.proof]
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
        claim, trials = CLAIMS[name], int(row["trials"])
        assert (row["cell"], row["proof"], row["sentence"]) == (claim.cell, claim.proof, claim.sentence)
        if not claim.proof:
            assert int(row["different"]) >= claim.least, name
            assert int(row["held"]) >= claim.share * trials, name


def test_each_claim_was_read_back_as_it_stands():
    """A script that has changed is read again without its sentence, a sentence that has changed compared again."""
    with open(referee.HERE / "read_back.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["claim"] for row in rows] == TRIED
    assert all(row["reads"] and row["says"] in ("same", "less", "other", "cannot fail") for row in rows)
    now = [(row["claim"], *referee.digests(CLAIMS[row["claim"]])) for row in rows]
    then = {(row["claim"], row["script"], row["sentence"]) for row in rows}
    changed = [row for row in now if row not in then]
    assert not changed, "once these are read again, or their sentence compared, give them these digests"


NOTEBOOK = """
from other import double as twice
LIMIT = 3


@claim("a", range(3))
def f(seed):
    "One sentence."
    return twice(seed) < LIMIT
"""


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ('"a"', '"b"', False),
        ("twice(seed) < LIMIT", "twice( seed) < LIMIT  # or not", False),
        ('    "One sentence."\n', "", False),
        ("twice(seed)", "twice(-seed)", True),
        ("range(3)", "range(4)", True),
        ("LIMIT = 3", "LIMIT = 4", True),
        ("return 2 * x", "return 3 * x", True),
        ("it doubles", "it does", False),
    ],
)
def test_a_digest_is_of_what_is_measured(tmp_path, monkeypatch, old, new, changes):
    def digests(folder, *change):
        folder.mkdir()
        (folder / "notebook.py").write_text(NOTEBOOK.replace(*change))
        (folder / "other.py").write_text('def double(x):\n    "it doubles"\n    return 2 * x\n'.replace(*change))
        monkeypatch.setattr(referee, "HERE", folder)
        return referee.digests(CLAIMS[FIRST[0]]._replace(notebook="notebook", trials=f))

    def f():
        """The sentence."""

    before, after = digests(tmp_path / "before", "", ""), digests(tmp_path / "after", old, new)
    assert (before[0] != after[0]) == changes and before[1] == after[1]
    f.__doc__ = "Another sentence."
    said = digests(tmp_path / "said", "", "")
    assert said[0] == before[0] and said[1] != before[1]


def test_a_claim_that_may_lose_a_trial_says_so():
    """All is refuted by one trial; a sentence that allows for some has a word for it, and gives up a fifth at most."""
    assert all(referee.HEDGES.search(claim.sentence) for claim in CLAIMS.values() if claim.share < 1)
    assert min(claim.share for claim in CLAIMS.values()) >= 0.8


def test_a_blind_script_names_nothing_that_its_sentence_says():
    for notebook in referee.NOTEBOOKS:
        script = referee.blind(notebook)
        assert script.count("def claim_") == len(referee.claims(notebook)) and '"""' not in script
        for name, claim in referee.claims(notebook).items():
            assert name.split(":")[1] not in script and claim.sentence not in script and claim.cell not in script


FIRST = [next(name for name in TRIED if name.startswith(notebook + ":")) for notebook in referee.NOTEBOOKS]


@pytest.mark.parametrize("name", FIRST[1::3])
def test_some_are_tried_again(name):
    verdict = referee.tried(name, AGAIN)
    assert verdict.trials == AGAIN and verdict.held == AGAIN


def test_the_interval_of_a_median_covers_it():
    rng = np.random.default_rng(0)
    inside = [low <= 0 <= high for low, high in map(referee.median_interval, rng.standard_cauchy((2000, 21)))]
    assert 0.95 - 5 * np.sqrt(0.05 * 0.95 / 2000) < np.mean(inside)


def test_a_false_sentence_does_not_stand(monkeypatch):
    name = FIRST[0]
    effects = (effect if isinstance(effect, tuple) else (effect, None) for effect in CLAIMS[name].trials())
    false = CLAIMS[name]._replace(trials=lambda: ((-effect, key) for effect, key in effects))
    monkeypatch.setitem(referee.claims(false.notebook), name, false)
    assert not referee.tried(name).kept


@pytest.mark.parametrize(
    ("effects", "kept"),
    [
        ([0.1 + k for k in range(20)], True),
        ([0.1 + k for k in range(19)] + [-0.1], False),  # one trial lost
        ([0.1] * 20, False),  # the same trial, twenty times
        ([(0.1, k) for k in range(20)], True),  # of one effect, and different by their keys
        ([(0.1 + k, "same") for k in range(20)], False),
    ],
)
def test_what_keeps_a_sentence(monkeypatch, effects, kept):
    claim = CLAIMS[FIRST[0]]._replace(trials=lambda: effects, share=1.0, least=20)
    monkeypatch.setitem(referee.claims(claim.notebook), FIRST[0], claim)
    assert referee.tried(FIRST[0]).kept == kept
