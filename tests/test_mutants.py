"""Every classic bug is caught by the law that is there for it, and the law holds without the bug."""

import inspect
import textwrap

import pytest
from mutants import MUTANTS

pytestmark = pytest.mark.filterwarnings("ignore")


def with_bug(mutant):
    """The code of the function after the edit; compiled where the function lives, so that it sees the same names."""
    source = textwrap.dedent(inspect.getsource(mutant.function))
    assert source.count(mutant.old) == 1, f"{mutant.name}: {mutant.old!r} must stand once in {mutant.function}"
    names = {}
    exec(
        "from __future__ import annotations\n" + source.replace(mutant.old, mutant.new),
        mutant.function.__globals__,
        names,
    )
    built = names[mutant.function.__name__]
    return getattr(built, "fget", built).__code__  # of a property, its function's


@pytest.mark.parametrize("mutant", MUTANTS, ids=[m.name for m in MUTANTS])
def test_the_law_catches(mutant, monkeypatch):
    monkeypatch.setattr(mutant.function, "__code__", with_bug(mutant))
    with pytest.raises(AssertionError):
        mutant.law()


@pytest.mark.parametrize(
    "law", {(m.law.func, m.law.args): m.law for m in MUTANTS}.values(), ids=lambda law: law.func.__name__
)
def test_the_law_holds_without_a_bug(law):
    law()
