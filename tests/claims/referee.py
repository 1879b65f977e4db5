"""A referee for sentences: it tries to refute each claim of a notebook, and writes down the verdict.

    python tests/claims/referee.py               try every claim (make claims)
    python tests/claims/referee.py 00_start      try one notebook's, or by `00_start:its_name` a single one
    python tests/claims/referee.py --blind 00_start   print the scripts without names and sentences, to be read back

The trials are written to tests/claims/verdicts.csv; the rows of other claims stay as they are.

A claim is a function of a seed in tests/claims/NOTEBOOK.py.  Its docstring is the sentence, word for word as a cell of
the notebook has it.  It returns by how much the sentence held: above 0 it held, at or below 0 it did not.  One lost
trial refutes it, unless the sentence itself says "nearly all", "most" or the like and the claim gives that `share`.
Trials that are the same trial again count once: those of one effect, to six digits, or of one key, if a trial returns
(effect, key).  A theorem is not tried: it is `proved`, by the line that stands beside it.  The effect is the median of
the trials; its 95 % interval is by order statistics, which assumes nothing of their law.
"""

import argparse
import ast
import csv
import hashlib
import os
import re
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache, wraps
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats
from tqdm import tqdm

import bmlab
from bmlab.running.parallel import map_executor

HERE = Path(__file__).resolve().parent
NOTEBOOKS = sorted(path.stem for path in HERE.glob("[0-9][0-9]*_*.py"))
VERDICTS = HERE / "verdicts.csv"
LEAST = 20  # different trials, unless a claim says that there are no more
HEDGES = re.compile(r"\b(nearly|most|mostly|often|usually|hardly|as a rule|no promise)\b", re.IGNORECASE)
sys.path.append(str(HERE.parents[1] / "notebooks" / "tables"))  # for imports by claims


class Claim(NamedTuple):
    """A sentence, the cell that holds it, and the trials that may refute it, or its line of proof."""

    notebook: str
    cell: str
    trials: Callable[[], Iterable[float | tuple[float, object]]]
    share: float = 1.0
    least: int = LEAST
    proof: str = ""

    @property
    def name(self) -> str:
        """The name of the claim: its notebook and its function."""
        return f"{self.notebook}:{self.trials.__name__}"

    @property
    def sentence(self) -> str:
        """The sentence in one line."""
        return " ".join((self.trials.__doc__ or "").split())


class Verdict(NamedTuple):
    """A row of verdicts.csv: in how many trials a sentence held, and by how much."""

    claim: str
    cell: str
    held: int
    trials: int
    different: int
    effect: float
    low: float
    high: float
    proof: str
    sentence: str

    @property
    def kept(self) -> bool:
        """Whether the sentence stands: it is proved, or was tried often enough and held as often as it says."""
        one = claims(self.claim.split(":")[0])[self.claim]
        return bool(one.proof) or (self.different >= one.least and self.held >= one.share * self.trials)


def claim(
    cell: str, cases: Iterable = range(LEAST), *, share: float = 1.0, least: int = LEAST
) -> Callable[[Callable], Claim]:
    """Make a function the claim of a cell, and each case a trial: a seed, or the one argument or the tuple of them.

    share   of the trials that must hold; below 1 only if the sentence says so, in words of HEDGES
    least   number of different trials; below 20 only if there are no more
    A generator may try a case several times, or not at all if the sentence says nothing of it.
    """
    cases = tuple(cases)

    def made(trial: Callable) -> Claim:
        @wraps(trial)
        def trials() -> Iterator[float]:
            for case in cases:
                effects = trial(*case) if isinstance(case, tuple) else trial(case)
                yield from effects if isinstance(effects, Generator) else [effects]

        return Claim(Path(trial.__code__.co_filename).stem, cell, trials, share, least)

    return made


def proved(cell: str, proof: str) -> Callable[[Callable], Claim]:
    """Make a theorem the claim of a cell: `proof` is its line of proof, and nothing is tried."""

    def made(theorem: Callable) -> Claim:
        return Claim(Path(theorem.__code__.co_filename).stem, cell, theorem, proof=proof)

    return made


@cache
def claims(notebook: str) -> dict[str, Claim]:
    """Return a notebook's claims by their names, in the order in which they are written."""
    return {one.name: one for one in vars(import_module(notebook)).values() if isinstance(one, Claim)}


def tried(name: str, most: int | None = None) -> Verdict:
    """Try one claim, in `most` of its trials or all."""
    one = claims(name.split(":")[0])[name]
    if one.proof:
        return Verdict(name, one.cell, 0, 0, 0, np.nan, np.nan, np.nan, one.proof, one.sentence)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bmlab.NotConverged)  # a claim looks at .converged if that matters
        found = [effect if isinstance(effect, tuple) else (effect, None) for effect in islice(one.trials(), most)]
    effects = np.array([float(effect) for effect, _ in found])
    different = len({f"{effect:.6g}" if key is None else key for effect, key in found})
    low, high = median_interval(effects)
    held, middle = int((effects > 0).sum()), float(np.median(effects))
    return Verdict(name, one.cell, held, len(effects), different, middle, low, high, "", one.sentence)


def median_interval(values: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of the median by order statistics (Thompson 1936): of n values the (k+1)-th and (n-k)-th.

    It holds the median with probability 1 - 2 P(B <= k), B binomial (n, 1/2); k is the largest for which this is at
    least `level`, and with too few values the ends are the least and the largest.
    """
    values = np.sort(values)
    k = max(int(stats.binom.ppf((1 - level) / 2, len(values), 0.5)) - 1, 0)
    return float(values[k]), float(values[-1 - k])


def stored() -> dict[str, dict[str, str]]:
    """Return the rows of verdicts.csv by the names of their claims."""
    if not VERDICTS.exists():
        return {}
    with open(VERDICTS, newline="", encoding="utf-8") as file:
        return {row["claim"]: row for row in csv.DictReader(file)}


def write(verdict: Verdict) -> None:
    """Put a verdict in the place of the stored one, in the order of the claims; rows without a claim go."""
    rows = stored()
    values = [f"{value:.3g}" if isinstance(value, float) else str(value) for value in verdict]
    rows[verdict.claim] = dict(zip(Verdict._fields, values, strict=True))
    with open(VERDICTS, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, Verdict._fields, lineterminator="\n")
        table.writeheader()
        table.writerows(rows[name] for notebook in NOTEBOOKS for name in claims(notebook) if name in rows)


def blind(notebook: str) -> str:
    """Return the scripts of a notebook's claims without docstrings and names, numbered: the measurement is left."""
    tree = ast.parse((HERE / f"{notebook}.py").read_text("utf-8"))
    numbers = (f"claim_{k:02d}" for k in range(1000))
    new = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Module) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        marks = getattr(node, "decorator_list", [])
        if any(isinstance(mark, ast.Call) and getattr(mark.func, "id", "") in ("claim", "proved") for mark in marks):
            new[node.name] = node.name = next(numbers)
            for mark in marks:
                mark.args[0] = ast.Constant("its cell")
    return re.sub(r"\b(" + "|".join(new or ["$"]) + r")\b", lambda name: new[name[0]], ast.unparse(tree))


@cache
def definitions(path: Path) -> dict[str, tuple[str, list[tuple[Path, str]]]]:
    """Return the code behind each name at the top of a file, and the names that it uses, with their files.

    Docstrings, comments, spaces and the cells of claims are no part of the code.  A name imported from a file beside
    this one leads there.
    """
    text, found = path.read_text("utf-8"), {}
    lines = [re.sub(r"(^|\s)#.*", "", line) for line in text.splitlines()]
    for node in ast.parse(text).body:
        uses = [(path, one.id) for one in ast.walk(node) if isinstance(one, ast.Name)]
        if isinstance(node, ast.ImportFrom):
            beside = path.with_name(f"{node.module}.py")
            found |= {one.asname or one.name: ("", [(beside, one.name)]) for one in node.names if beside.exists()}
        elif isinstance(node, ast.FunctionDef):
            marks = ["".join(lines[mark.lineno - 1 : mark.end_lineno]) for mark in node.decorator_list]
            body = node.body[ast.get_docstring(node) is not None :]
            code = [re.sub(r'claim\(\s*".*?"', "", mark) for mark in marks] + [ast.unparse(node.args)]
            code += lines[body[0].lineno - 1 : node.end_lineno] if body else []
            found[node.name] = "".join("".join(code).split()), uses
        else:
            made = [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
            found |= dict.fromkeys(made, ("".join("".join(lines[node.lineno - 1 : node.end_lineno]).split()), uses))
    return found


def digests(one: Claim) -> tuple[str, str]:
    """Return a short digest of a claim's script, with its helpers here and in judges.py, and one of its sentence.

    read_back.csv has both: a script that has changed must be read again, a sentence be compared again.
    """
    left, found = [(HERE / f"{one.notebook}.py", one.trials.__name__)], {}
    while left:
        path, name = left.pop()
        if (path, name) not in found and name in definitions(path):
            found[path, name], uses = definitions(path)[name]
            left += uses
    parts = "\n".join(sorted(found.values())), one.sentence
    script, sentence = (hashlib.sha256(part.encode()).hexdigest()[:8] for part in parts)
    return script, sentence


def main() -> None:
    """Try the claims that were named, or all; print each verdict and write it down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="notebooks or claims; all if none is named")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="claims tried at a time")
    parser.add_argument("--blind", metavar="NOTEBOOK", help="print its scripts without sentences, and try nothing")
    options = parser.parse_args()
    if options.blind:
        print(blind(options.blind))
        return
    names = [
        name
        for notebook in NOTEBOOKS
        for name in claims(notebook)
        if not options.names or {notebook, name} & set(options.names)
    ]
    if not names:
        parser.error(f"no claim is called {' or '.join(options.names)}; try {NOTEBOOKS[0]}")
    refuted = 0
    with bmlab.workers(ProcessPoolExecutor(options.jobs)):
        for verdict in tqdm(map_executor(tried, names, "claim"), total=len(names), unit="claim"):
            write(verdict)
            refuted += not verdict.kept
            says = "kept" if verdict.kept else "DOES NOT STAND"
            tried_it = f"held in {verdict.held} of {verdict.trials} ({verdict.different} different); effect "
            tried_it += f"{verdict.effect:.3g} [{verdict.low:.3g}, {verdict.high:.3g}]"
            tqdm.write(f"{verdict.claim}: {verdict.proof or tried_it}; {says}")
    raise SystemExit(refuted > 0)


if __name__ == "__main__":
    import referee  # by the name by which claims know it

    referee.main()
