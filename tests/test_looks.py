"""A look at each notebook is in step with it, and no solution is within two clicks of README and manual."""

import os
import re
from pathlib import Path

import looks
import nbformat
import pytest

from bmlab_teaching.working_copies import HIDDEN, SOLUTION, is_teachers

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "notebooks").glob("*.ipynb"))
LINK = re.compile(
    r"(?<!!)\[[^\]]*\]\(((?!\w+:|#)[^)#\s]+)|\]\(((?!\w+:|#)[^)#\s]+)[^)]*\)(?!\])|href=\"((?!\w+:|#)[^\"#]+)"
)
STARTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def shown_and_hidden(path):
    """The lines that a notebook shows a student; and those of its solutions, hidden tests and cells for teachers."""
    cells = nbformat.read(path, as_version=4).cells
    solved = [found for cell in cells for rule in (SOLUTION, HIDDEN) for found in rule.findall(cell.source)]
    solved += [cell.source for cell in cells if is_teachers(cell)]
    shown = [SOLUTION.sub("", HIDDEN.sub("", cell.source)) for cell in cells if not is_teachers(cell)]
    shown += [output.get("data", {}).get("text/plain", "") for cell in cells for output in cell.get("outputs", [])]
    lines = {line.strip() for found in solved for line in found.splitlines() if not line.startswith("###")}
    return "\n".join(shown), {line for line in lines if len(line) > 30}


BOTH = {path.stem: shown_and_hidden(path) for path in SOURCES}
SHOWN = "\n".join(shown for shown, _ in BOTH.values())
SECRETS = {stem: {line for line in lines if line not in SHOWN} for stem, (_, lines) in BOTH.items()}


def links(page):
    """The targets of one click on a page of Markdown or in a folder, as a code host shows it."""
    if page.is_dir():
        return {path for path in page.iterdir() if path.name[0] not in "._"}
    if page.suffix not in (".md", ".html"):
        return set()
    found = LINK.findall(page.read_text(encoding="utf-8"))
    return {Path(os.path.normpath(page.parent / next(filter(None, to)))) for to in found}


def within(clicks, starts):
    """Page -> the page that led there, of all that are reached."""
    reached, last = dict.fromkeys(starts), set(starts)
    for _ in range(clicks):
        step = {to: page for page in last for to in links(page) if to.exists() and to not in reached}
        reached |= step
        last = set(step)
    return reached


def test_no_solution_is_within_two_clicks_of_readme_and_manual():
    reached = within(2, STARTS)
    assert len([page for page in reached if page.parent.name == "looks"]) == len(SOURCES)
    for page, origin in reached.items():
        text = page.read_text(encoding="utf-8", errors="ignore") if page.is_file() else ""
        assert page not in SOURCES and not any(line in text for found in SECRETS.values() for line in found), (
            page,
            origin,
        )


def test_a_link_is_found_however_it_is_written(tmp_path):
    page = tmp_path / "page.md"
    page.write_text('[a](a.md) [![film](f.gif)](b.md) <a href="c.md#x">c</a> [d](d/) [no](#there) [no](#here)')
    assert {to.name for to in links(page)} >= {"a.md", "b.md", "c.md", "d"}
    (tmp_path / "d").mkdir()
    (tmp_path / "d/secret.ipynb").touch()
    assert tmp_path / "d/secret.ipynb" in within(2, [page])


@pytest.fixture(scope="module")
def made():
    """{name of a notebook: (its look, its pictures)} as they would be written now."""
    return {path.stem: looks.look(path) for path in SOURCES}


def test_each_look_is_in_step_with_its_notebook(made):
    """Else: make looks."""
    wanted = {f"{stem}.md": text.encode() for stem, (text, _) in made.items()}
    for _, pictures in made.values():
        wanted |= pictures
    there = {path.name: path.read_bytes() for path in (ROOT / "docs/looks").iterdir()}
    assert sorted(there) == sorted(wanted)
    assert [name for name in wanted if there[name] != wanted[name]] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_look_shows_the_notebook_and_no_solution(path, made):
    text, pictures = made[path.stem]
    assert SECRETS[path.stem] and not [line for line in SECRETS[path.stem] if line in text]
    assert f"{path.stem}.png" in pictures and "Shift+Enter" not in text and "# YOUR CODE HERE" in text
    assert "locked cell" not in text and text.count("your own copy runs it") == 1
    assert {*re.findall(r'src="([^"]+)"', text)} == {*pictures}
    assert all((ROOT / "docs/looks" / to).exists() for to in re.findall(r"\]\((?!\w+:|#)([^)#\s]+\.md)", text))
