"""A threshold of the package that prose names, in digits or in words, is the one that the code has.

Each row of STATED names a threshold of the code and the sentences that give it, by a pattern whose group is the number;
`least` is the number of places that have it, so that no reworded sentence is lost unseen.
"""

import ast
import re
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import NamedTuple

import nbformat
import numpy as np
import pytest
from test_notebooks import FILES, prose

import bmlab

ROOT = Path(bmlab.__file__).parents[1]
WORDS = {
    "half": 0.5, "one half": 0.5, "1/2": 0.5, "third": 1 / 3, "quarter": 0.25, "fifth": 0.2, "tenth": 0.1,
    "hundredth": 0.01, "two": 2, "three": 3, "five": 5, "ten": 10, "twenty": 20, "thirty": 30,
}  # fmt: skip


class Stated(NamedTuple):
    """A number of the code, "module:NAME" or one that follows from the code, and its form in prose."""

    source: str | float
    pattern: str

    @property
    def value(self) -> float:
        """The number that the code has."""
        if not isinstance(self.source, str):
            return self.source
        module, _, name = self.source.partition(":")
        return getattr(import_module(f"bmlab.{module}"), name)


def default(function, option):
    """The default of an option."""
    return signature(function).parameters[option].default


STATED = [
    Stated("infer.sampling.diagnostics:RHAT_LIMIT", r"(?:below|less than|limit of) (1\.\d+)(?!\d|, not)"),
    Stated("infer.sampling.diagnostics:EFFECTIVE_DRAWS", r"(\d+) effective draws"),
    Stated(
        "infer.sampling.diagnostics:STDERR_GROUPS", r"(?:fewer than|where they are) (\d+)(?: or more| runs|[:;,.)])"
    ),
    Stated(
        "infer.sampling.annealed_importance:MIN_EFFECTIVE_SHARE",
        r"(?:at least|fewer than) a (\w+) of (?:them, and|the walks|the runs)",
    ),
    Stated("infer.sampling.annealed_importance:MIN_EFFECTIVE_CHAINS", r"at least a \w+ of them, and (\w+)\."),
    Stated("infer.sampling.tempering:MIN_ROUND_TRIPS", r"(\w+) round trips per ladder,"),
    Stated(
        "infer.variational.linear_response:MAX_INCONSISTENCY",
        r"(?:inconsistency(?: of| is)? at most (?:linear_response\.[A-Z_]+, )?|"
        r"inconsistency\* of 19\.4; above |Above )(1/2|one half|\d\.\d+)",
    ),
    Stated(0.3, r"spectral radius (?:of \$?W/T\$? )?(?:is )?(?:below|of) (\d\.\d+)"),  # tests/claims/04_mean_field.py
    Stated(default(bmlab.exact, "max_seconds") / 60, r"\| (\w+) minutes: `exact_plan` allows"),
    Stated(
        "infer.exact.matrix_products:SLICE_UNITS",
        r"(?:beyond|more than) (\d+) (?:coupled units|units[ ,](?:in|to any))",
    ),
    Stated("infer.exact.matrix_products:LARGER_SLICE_UNITS", r"\((\d+) if n is above"),
]


def docstrings():
    """Every docstring of the package."""
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef
    for path in sorted((ROOT / "bmlab").rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        yield from filter(None, (ast.get_docstring(node) for node in nodes if isinstance(node, kinds)))


@pytest.fixture(scope="module")
def texts():
    """All prose in one, each text in one line."""
    pages = [path.read_text("utf-8") for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]]
    cells = [text for path in FILES for text in prose(nbformat.read(path, 4))]
    return "\n".join(" ".join(text.split()) for text in [*pages, *cells, *docstrings()])


def number(word):
    return WORDS[word] if word in WORDS else float(word)


@pytest.mark.parametrize("stated", STATED, ids=lambda stated: str(stated.source))
def test_prose_names_the_threshold_of_the_code(stated, texts):
    found = [match[0] for match in re.finditer(stated.pattern, texts)]
    assert found
    stated_values = [number(re.search(stated.pattern, place)[1]) for place in found]
    assert np.allclose(stated_values, stated.value), found


def test_the_times_that_exact_states_are_those_of_its_plan():
    """20 units in under a millisecond, 30 in a tenth of a second, 36 in seconds, and beyond 33 in parts."""
    price = {n: bmlab.exact_plan(bmlab.sherrington_kirkpatrick(n, rng=0)) for n in (20, 30, 33, 34, 36)}
    assert price[20].seconds < 1e-3 and 0.05 < price[30].seconds < 0.2 and 1 < price[36].seconds < 10
    assert price[33].components[0].slices == 1 and price[34].components[0].slices > 1
    assert all(f"{n}" in bmlab.exact.__doc__ for n in price if n != 34)
