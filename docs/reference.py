"""The pages of the reference, one for each wing of the package."""

import inspect
import re
from pathlib import Path
from pydoc import locate
from typing import get_args, get_type_hints

import bmlab
from bmlab import estimators, plot, widgets

# page: title, first sentence, and the modules whose public names it holds
WINGS = {
    "machines": (
        "Machines",
        "What a machine is, and where some come from.",
        ("model", "machines", "arrays", "interop"),
    ),
    "exact": ("Exact answers", "Brute force, and what is cleverer.", ("infer.exact",)),
    "sampling": ("Samples", "Chains, and log Z from them.", ("infer.sampling",)),
    "variational": (
        "Approximations and bounds",
        "Free energies of simpler machines, and what is proven.",
        ("infer.variational", "infer.bounds", "choosing"),
    ),
    "learning": ("Learning", "Clamped minus free, and what follows from it.", ("learn",)),
    "answers": ("Answers and aids", "What every method returns, and what helps around it.", ("",)),
}
EXAMPLES = """Examples begin where these lines have been run:

```python
import matplotlib.pyplot as plt
import numpy as np
import bmlab
from bmlab import plot
```"""
HEADING = ".. rubric:: Further, beyond notebooks 00 to 05b"
OTHERS = {
    "data": ("Data", bmlab.data),
    "plot": ("Figures", plot),
    "widgets": ("Live views", widgets),
    "estimators": ("Estimators for scikit-learn", estimators),
}


def wing_of(name: str) -> str:
    """The page of a public name: the first wing that holds its module."""
    module = getattr(bmlab, name).__module__.removeprefix("bmlab.")
    return next(page for page, (_, _, rooms) in WINGS.items() if any(module.startswith(room) for room in rooms))


def public(module) -> list[str]:
    """The public names of a module that are made in it or in its package."""
    names = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    made = [(n, getattr(module, n)) for n in names]
    return [n for n, x in made if callable(x) and x.__module__.startswith(module.__name__)]


SOURCES = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))
CODE = {
    path: path.read_text(encoding="utf-8") for path in sorted(SOURCES, key=lambda path: (path.name > "06", path.name))
}


def taught(name: str) -> Path | None:
    """The notebook that teaches a public name: the first that uses it, the core before the others."""
    return next((path for path, text in CODE.items() if re.search(rf"\bbmlab\.{name}\(", text)), None)


def line(name: str) -> str:
    """A public name in the index, with the first line of its docstring."""
    thing = getattr(bmlab, name)
    words = (inspect.getdoc(thing) or "").partition("\n")[0].replace("|", "\\|")
    return f"| {{py:obj}}`{name} <bmlab.{name}>` | {words} |"


def entry(path: str, thing: object) -> str:
    kind = "autoclass" if inspect.isclass(thing) else "autofunction"
    return f".. {kind}:: {path}"


def records(things: list[object]) -> list[str]:
    """The classes of ours that these take or return and that nobody imports by name."""
    waiting, found = [hint for thing in things for hint in hints(thing)], set()
    while waiting:
        hint = waiting.pop()
        waiting += get_args(hint)
        if inspect.isclass(hint) and hint.__module__.startswith("bmlab.") and hint not in found | {*things}:
            found.add(hint)
            waiting += hints(hint)
    return sorted(f"{record.__module__}.{record.__qualname__}" for record in found)


def hints(thing: object) -> list:
    """The types that a function or a class and its functions name; none if they need a heavy package."""
    parts = [getattr(part, "fget", part) for part in vars(thing).values()] if inspect.isclass(thing) else []
    inner = [hint for part in parts if inspect.isfunction(part) for hint in hints(part)]
    try:
        return inner + list(get_type_hints(thing).values())
    except NameError:
        return inner


def page(title: str, begins: str, entries: list[str]) -> str:
    return f"# {title}\n\n{begins}\n\n```{{eval-rst}}\n" + "\n\n".join(entries) + "\n```\n"


def pages() -> dict[str, str]:
    """Return {name: text} of every page of the reference."""
    named = {name: getattr(bmlab, name) for name in bmlab.__all__ if callable(getattr(bmlab, name))}
    held = {wing: {f"bmlab.{n}": x for n, x in named.items() if wing_of(n) == wing} for wing in WINGS}
    for name, (_, module) in OTHERS.items():
        held[name] = {f"{module.__name__}.{n}": getattr(module, n) for n in public(module)}
    begins = {wing: (title, text) for wing, (title, text, _) in WINGS.items()}
    begins |= {name: (title, (module.__doc__ or "").splitlines()[0]) for name, (title, module) in OTHERS.items()}
    public_ones, seen, written = {x for things in held.values() for x in things.values()}, set(), {}
    for name, things in held.items():
        more = [path for path in records(list(things.values())) if path not in seen]
        seen |= set(more)
        core = {path: thing for path, thing in things.items() if path.removeprefix("bmlab.") in bmlab.CORE}
        entries = [entry(path, thing) for path, thing in core.items()]
        entries += [HEADING] if core and len(core) < len(things) else []
        entries += [entry(path, thing) for path, thing in things.items() if path not in core]
        entries += [f".. autoclass:: {path}" for path in more if locate(path) not in public_ones]
        written[name] = page(*begins[name], entries)
    listed = "\n".join(held)
    names = sorted((n for n in bmlab.__all__ if callable(getattr(bmlab, n))), key=str.lower)
    table = "\n".join(["| name | what it does |", "|---|---|", *map(line, names)])
    written["index"] = (
        "# Reference\n\nTypes, defaults and shapes of everything public, each with an example that the tests run. "
        f"{EXAMPLES}\n\n```{{toctree}}\n:titlesonly:\n\n{listed}\n```\n\n## All names\n\n{table}\n"
    )
    return written
