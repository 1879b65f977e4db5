"""The cell that makes a name that is not made yet: the cells of a notebook are run in any order."""

import json
import os
import re
from pathlib import Path


def where(name: str) -> str:
    """Return one sentence on which cell of the notebook makes a name; "" if none does, or if its file is not known."""
    made = rf"^(?:(?:def|class) {name}\b|(?:import|from)\b.*\b{name}\b|[^#=\n]*\b{name}\b[^=\n(]*=(?!=))"
    try:
        file = Path(os.environ["JPY_SESSION_NAME"])  # as Jupyter calls it, from its own folder or from the root
        text = (file if file.exists() else Path(file.name)).read_text(encoding="utf-8")
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        numbers = [k for k, cell in enumerate(cells) if re.search(made, "".join(cell["source"]), re.MULTILINE)]
    except (OSError, KeyError, TypeError, ValueError):
        return ""
    if not numbers:
        return ""
    place = "a cell above" if numbers[0] else "the first cell of code, with the picture"
    return (
        f"{place} makes {name}, and has not run: choose Run, then Run All Above Selected Cell, and then run this again."
    )


def say(shell, kind, error, trace, tb_offset=None):
    """Show an error as usual, and below it the cell that makes an unknown name."""
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    if isinstance(error, NameError) and (words := where(error.name or "")):
        print(words[0].upper() + words[1:])
