"""The outputs in the README are those of the package, and the names in it exist."""

import ast
import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import bmlab

ROOT = Path(__file__).resolve().parents[1]
NUMBER = r"\b(?:0\d[a-z]?|1\d)\b(?!_| min)"  # of a notebook, as 03 or 03b
README = (ROOT / "README.md").read_text()
ROW = r"\| <img [^>]*> \| \*\*\[{}"  # of a notebook


EXAMPLE, PRINTED = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", README, re.DOTALL).groups()


def test_the_example_prints_what_the_readme_says():
    printed = StringIO()
    with redirect_stdout(printed):
        exec(EXAMPLE, {})
    assert printed.getvalue() == PRINTED


def test_core_and_further_are_two_tables():
    core, further = README.split("\nCore, ")[1].split("\nFurther, ")
    assert re.findall(ROW.format(r"(\w+?)_\w+"), core, re.MULTILINE) == [*(f"{k:02}" for k in range(6)), "05b"]
    assert (
        len(re.findall(ROW.format(r"(\w+)"), further, re.MULTILINE))
        == len(list((ROOT / "notebooks").glob("*.ipynb"))) - 7
    )


def test_its_table_and_the_map_of_00_give_every_notebook_its_own_title_and_time():
    opening = "\n".join(texts(ROOT / "notebooks" / "00_start.ipynb"))
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        row = re.search(ROW.format(path.stem) + r"\]\(docs/looks/\w+\.md\)\*\*<br>(.*?)<br>(\d+) min \|", README)
        on_map = re.search(rf"\| (?:{path.stem}|\[{path.stem}\]\({path.name}\)) \| (.*?) \| (\d+) \|", opening)
        title, front = texts(path)[:2]
        heading = title.splitlines()[0].removeprefix("# ")
        assert row and on_map, path.name
        assert on_map[1] == heading and row[1] == heading, path.name
        assert row[2] == on_map[2] == re.search(r"\*\*Time\*\* (\d+) minutes", front)[1], path.name


def texts(path):
    return [
        "".join(cell["source"]) for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "markdown"
    ]


PACKAGE = (ROOT / "docs" / "package.md").read_text(encoding="utf-8")


def test_the_list_of_the_package_names_all_that_is_public_core_first():
    core, further = (
        {name for head in re.findall(r"^- (.*?):", part, re.MULTILINE) for name in re.findall(r"`(\w+)`", head)}
        for part in PACKAGE.split("\n## Further")
    )
    in_table = set(re.findall(r"^\| `(\w+)` \|", PACKAGE, re.MULTILINE))
    assert core == {*bmlab.CORE} - {"__version__"}
    assert further | (in_table - core) == {*bmlab.__all__, *bmlab.LAZY_MODULES} - {*bmlab.CORE}


def test_each_word_of_the_index_is_in_the_docstring_of_its_file_and_the_first_in_its_first_line():
    rows = re.findall(r"^\| (.*?) \| (.*?) \| `(bmlab/.*?\.py)` \|$", PACKAGE, re.MULTILINE)
    assert len(rows) > 20
    for words, names, path in rows:
        text = ast.get_docstring(ast.parse((ROOT / path).read_text(encoding="utf-8"))) or ""
        first, *others = words.lower().split(", ")
        assert first in text.partition("\n")[0].lower(), f"{first} is not in the first line of {path}"
        assert all(word in " ".join(text.lower().split()) for word in others), path
        assert all(name in bmlab.__all__ for name in re.findall(r"`(\w+)`", names)), names


def test_no_syllabus_gives_a_notebook_before_what_it_needs():
    rows = re.findall(r"^\| \d+ \|(.*)\|$", (ROOT / "docs" / "teaching.md").read_text(), re.MULTILINE)
    plans = [[], [], []]
    for row in rows:
        cells = row.split("|")
        for hours, cell in zip(plans, [cells[0] if "the same" in cell else cell for cell in cells], strict=True):
            hours += re.findall(NUMBER, cell)
    assert all(plan[0] == "00" and len(plan) > 4 for plan in plans)
    for plan in plans:
        for k, name in enumerate(plan):
            assert needed(name) <= set(plan[:k]), f"{name} needs {sorted(needed(name) - set(plan[:k]))}"


def needed(number):
    """The numbers of the notebooks that a notebook says it needs."""
    (path,) = (ROOT / "notebooks").glob(f"{number}_*.ipynb")
    needs = texts(path)[1].split("**Needs**")[1].split("\n")[0]
    first_and_last = re.search(r"(\d\d) to (\d\d)", needs)
    through = range(int(first_and_last[1]), int(first_and_last[2]) + 1) if first_and_last else ()
    return set(re.findall(NUMBER, needs)) | {f"{k:02}" for k in through}
