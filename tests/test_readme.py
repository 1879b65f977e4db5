"""What the README shows is what the package prints, and what it names exists."""

import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import bmlab

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


def test_the_example_prints_what_the_readme_says():
    code, text = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", README, re.DOTALL).groups()
    printed = StringIO()
    with redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == text
    assert len(code.strip().splitlines()) <= 12


def test_every_link_leads_somewhere():
    links = re.findall(r"\]\(([^)#]+)", README)
    assert links
    for link in links:
        assert (ROOT / link).exists(), link


def test_every_notebook_is_in_the_table_with_its_own_question_and_time():
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        row = re.search(rf"\| \[{path.stem}\]\(notebooks/{path.name}\) \| (.*?) \| (\d+) min \|", README)
        opening = "".join(json.loads(path.read_text())["cells"][0]["source"])
        assert row, path.name
        assert _letters(row[1]) == _letters(opening.splitlines()[0]), path.name
        assert row[2] == re.search(r"(\d+) minutes", opening.split("Time")[1])[1], path.name


def test_the_map_in_the_first_notebook_says_the_same():
    opening = (ROOT / "notebooks" / "00_start.ipynb").read_text()
    rows = re.findall(r"\| \[(\w+)\]\(notebooks/\w+\.ipynb\) \| (.*?) \| (\d+) min \|", README)
    assert len(rows) >= 7
    for name, question, minutes in rows[1:]:
        row = re.search(rf"\| \[{name}\]\({name}\.ipynb\) \| (.*?) \| (\d+) \|", opening)
        assert row and _letters(row[1]) == _letters(question) and row[2] == minutes, name


def _letters(text):
    return re.sub(r"[^a-z]", "", text.lower())


def test_every_function_it_names_is_public():
    for name in re.findall(r"^- (.*?):", README, re.MULTILINE):
        for function in re.findall(r"`(\w+)`", name):
            assert hasattr(bmlab, function), function
