"""Write the table of methods into docs/package.md, from the rows of bmlab.methods: python docs/methods_table.py"""

import math
import re
from pathlib import Path

import bmlab
from bmlab.methods import METHODS

PAGE = Path(__file__).with_name("package.md")
HEAD = """| method | in the literature | answers | takes `start` | error begins at | runs combine |
|---|---|---|---|---|---|
"""


def table():
    """Return the table in Markdown: one row a method, those without random numbers first."""
    rows = sorted(METHODS.values(), key=lambda row: (row.draws, row.order is None, -(row.order or 0), row.key))
    return HEAD + "".join(f"| {' | '.join(cells(row))} |\n" for row in rows)


def cells(row):
    """Return the cells of one method."""
    order = "depends on the machine" if row.order is None else f"order {row.order} in the couplings"
    if row.order == math.inf:
        order = "samples only" if row.draws else "rounding"
    start = "" if row.start == "nothing" else row.start
    return f"`{row.key}`", row.line, ", ".join(row.answers), start, order, "yes" if row.combines else ""


def updated(page):
    """Return the page with the table as it is now."""
    return re.sub(re.escape(HEAD) + r"(?:\|.*\n)+", lambda _: table(), page)


if __name__ == "__main__":
    assert bmlab.__all__  # its import fills the table
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
