"""Whether auto() chooses well, and whether its error holds: many machines of all kinds, against exact.

    python benchmarks/choosing.py [--machines 130] [--large 70] [--sweeps 300]
    python benchmarks/choosing.py --theories --machines 130 --large 28 --csv notebooks/tables/05_report_card.csv

Exact is kept from auto(), as on larger machines, and auto() is asked for moments and for log Z; its rivals are the
three theories and the samplers that it has run.  Regret is auto's error over that of the best rival.  One error by
chance says little, so samples count with their standard error, unless they are off by more than four of these.
--theories: no samples; Bethe's error beside the one that two orders state for it, nan if they state none.
--large: machines of 30 to 200 units too, chains, trees, strips, layers and crowds, which exact sums still reach.
No number depends on the clock, so the table is the same on every machine.
"""

import argparse
import csv
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from machines import KINDS, LARGE, large_machine, random_machine

import bmlab
from bmlab import choosing
from bmlab.running.parallel import map_executor

THEORIES = {
    "mean field": partial(bmlab.mean_field, starts=choosing.VALLEY_STARTS),
    "tap": partial(bmlab.tap, starts=choosing.VALLEY_STARTS),
    "bethe": bmlab.bethe,
}
WANTED = ("moments", "log_z")
GRADED = 2 * 10**6  # seeds of the report card begin here
ROUNDING = 1e-9  # errors that are smaller are alike


class Row(NamedTuple):
    """One answer of auto(): regret, its error over the stated one, and its story."""

    kind: str
    n: int
    method: str
    regret: float
    over: float
    converged: bool
    story: str


def drawn(kind, seed):
    """The machine of this kind and seed, and its exact answer."""
    if kind in LARGE:
        return large_machine(kind, np.random.default_rng([len(KINDS) + list(LARGE).index(kind), seed]))
    model = random_machine(kind, np.random.default_rng([list(KINDS).index(kind), seed]))
    return model, bmlab.exact(model, pairs="couplings" if model.is_sparse else "all")


def graded(task, n_sweeps):
    """One Row for each want; task is (kind, seed)."""
    warnings.simplefilter("ignore", bmlab.NotConverged)
    kind, seed = task
    model, truth = drawn(kind, GRADED + seed)
    rng, ran = np.random.default_rng([GRADED, seed]), {}

    def once(name, sample):
        """The sampler, run once: every caller gets the same answer."""
        return lambda *_: ran[name] if name in ran else ran.setdefault(name, sample(model, rng, n_sweeps))

    with patch.dict(choosing.SAMPLERS, {name: once(name, sample) for name, sample in choosing.SAMPLERS.items()}):
        answers = {want: choosing.without_exact(model, rng, want) for want in WANTED}
    rivals = [*(method(model) for method in THEORIES.values()), *ran.values()]
    return {want: row(kind, model, truth, want, answer, rivals) for want, answer in answers.items()}


def row(kind, model, truth, want, answer, rivals):
    """The Row of one answer of auto()."""
    errors = {rival.method: judged(model, rival, truth, want) for rival in rivals}
    best = min(errors, key=lambda name: np.nan_to_num(errors[name], nan=np.inf))
    error, mine = choosing.difference(model, answer, truth, want), judged(model, answer, truth, want)
    return Row(
        kind,
        model.n,
        answer.method,
        (mine + ROUNDING) / (min(mine, errors[best]) + ROUNDING),
        (error + ROUNDING) / (answer.info["error"] + ROUNDING),
        answer.converged,
        f"off by {error:.2g}, {best} by {errors[best]:.2g}; {answer.message}",
    )


def judged(model, answer, truth, want):
    """The error; for samples the standard error, unless they are off by more than four; nan if there is no log Z."""
    error = choosing.difference(model, answer, truth, want)
    stderr = 0.0 if answer.method in THEORIES else choosing.stderr(model, answer, want)
    return stderr if error < 4 * stderr else error


class TwoOrders(NamedTuple):
    """Bethe's error, the one that two orders state for it, and why they state none: both are then nan."""

    kind: str
    n: int
    error: float
    stated: float
    story: str


def two_orders(task):
    """One TwoOrders for each want; task is (kind, seed)."""
    warnings.simplefilter("ignore", bmlab.NotConverged)
    kind, seed = task
    model, truth = drawn(kind, GRADED + seed)
    rows = {}
    for want in WANTED:
        _, answer, stated, doubt = choosing.try_bethe(model, want)
        error = np.nan if doubt else choosing.difference(model, answer, truth, want)
        rows[want] = TwoOrders(kind, model.n, error, stated, doubt)
    return rows


def by_kind(rows):
    """Yield each kind with its rows, and all."""
    for kind in [*dict.fromkeys(row.kind for row in rows), "all"]:
        yield kind, [row for row in rows if kind in (row.kind, "all")]


def report(want, rows):
    """Print the report card of one want."""
    print(f"\n{want}: kind, machines, regret <= 1.5, error covered, none stated, methods")
    for kind, mine in by_kind(rows):
        regret, over = (np.array([getattr(row, name) for row in mine]) for name in ("regret", "over"))
        methods = ", ".join(f"{name} {count}" for name, count in Counter(row.method for row in mine).most_common())
        print(
            f"{kind:16} {len(mine):4}  {np.mean(regret <= 1.5):4.0%} (90 %: {np.quantile(regret, 0.9):.2f})  "
            f"{np.sum(over <= 1):4} {np.isnan(over).sum():4}  {methods}"
        )
    for what, count in (("over", 3), ("regret", 8)):
        for row in sorted(rows, key=lambda row: -np.nan_to_num(getattr(row, what)))[:count]:
            print(f"   {what} {getattr(row, what):.3g}: {row.kind}, {row.n} units, {row.method}, {row.story}")


def report_theories(want, rows):
    """Print how often two orders state an error, and the largest of Bethe's over it."""
    print(f"\n{want}: kind, machines, error stated, the largest error over the stated one")
    for kind, mine in by_kind(rows):
        over = [(row.error + ROUNDING) / (row.stated + ROUNDING) for row in mine if not row.story]
        print(f"{kind:16} {len(mine):4} {len(over):4} {max(over, default=np.nan):5.2f}")


def write(path, rows):
    """Write a table of all rows, one a line, without their stories."""
    names = rows[0][WANTED[0]]._fields[:-1]
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["want", *names])
        for want in WANTED:
            for row in (row[want]._asdict() for row in rows):
                table.writerow([want, *(f"{x:.3g}" if isinstance(x := row[name], float) else x for name in names)])


def main():
    """Grade, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machines", type=int, default=26)
    parser.add_argument("--large", type=int, default=0, help="how many large ones besides")
    parser.add_argument("--sweeps", type=int, default=300)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--theories", action="store_true")
    parser.add_argument("--csv", help="also write the answers, one a line, to this file")
    options = parser.parse_args()
    few, many = options.machines // len(options.kinds), options.large // len(LARGE)
    asked = dict.fromkeys(options.kinds, few) | dict.fromkeys(LARGE, many)
    tasks = [(kind, seed) for seed in range(max(few, many)) for kind, count in asked.items() if seed < count]
    work = two_orders if options.theories else partial(graded, n_sweeps=options.sweeps)
    with ProcessPoolExecutor(options.jobs) as pool, bmlab.workers(pool):
        rows = list(map_executor(work, tasks, "machine"))
    rows.sort(key=lambda both: [*KINDS, *LARGE].index(both["moments"].kind))
    for want in WANTED:
        (report_theories if options.theories else report)(want, [row[want] for row in rows])
    if options.csv:
        write(options.csv, rows)


if __name__ == "__main__":
    main()
