"""Whether auto() chooses well, and whether its error holds: many machines of all kinds, against exact.

    python benchmarks/choosing.py [--machines 130] [--seconds 0.3] [--csv notebooks/tables/05_report_card.csv]
    python benchmarks/choosing.py --fit --machines 600

Exact is kept from auto(), as on larger machines; every method gets the same budget of work, which is predicted, so that
the table is the same on every machine; and auto() is asked for moments and for log Z.  Regret is auto's error over that
of the best method.  One error by chance says little, so samples count with their standard error, unless they are off by
more than four of these.  --fit prints FITS of bmlab/infer/bethe_error.py, from other machines: four kinds only, and
other seeds.
"""

import argparse
import csv
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
from machines import KINDS, random_machine
from scipy.optimize import least_squares

import bmlab
from bmlab import choosing
from bmlab.infer import bethe_error
from bmlab.parallel import in_parts, unpacked

THEORIES = {
    "mean field": partial(bmlab.mean_field, starts=bethe_error.STARTS),
    "tap": partial(bmlab.tap, starts=bethe_error.STARTS),
    "bethe": bmlab.bethe,
}
FITTED = ("dense", "sparse", "lattice", "ferromagnetic")
GRADED = 2 * 10**6  # seeds below belong to --fit, and to what the rule was tried on while it was made


def errors(model, answer, truth):
    """The rms error of means and correlations, and the error of log Z."""
    moments = [bethe_error.moments_of(model, x.mean, x.corr) for x in (answer, truth)]
    return {"moments": bethe_error.rms(moments[0] - moments[1]), "log_z": abs(answer.log_z.value - truth.log_z.value)}


def drawn(kind, seed, most=36):
    """The machine of this kind and seed, and its exact answer."""
    model = random_machine(kind, np.random.default_rng([list(KINDS).index(kind), seed]), most)
    return model, bmlab.exact(model, pairs="couplings" if model.is_sparse else "all")


class Row(NamedTuple):
    """Hold one answer of auto(): regret, its error over the stated one, and its story."""

    kind: str
    n: int
    method: str
    regret: float
    over: float
    converged: bool
    story: str


# --- grading -------------------------------------------------------------------------------------------------------


def graded(kind, seed, seconds):
    """One Row for each want."""
    warnings.simplefilter("ignore", bmlab.NotConverged)
    model, truth = drawn(kind, GRADED + seed)
    rivals = {"moments": {}, "log_z": {}}
    for name, method in THEORIES.items():
        for want, error in errors(model, method(model), truth).items():
            rivals[want][name] = error
    for name, sampler in choosing.SAMPLERS.items():
        rng = np.random.default_rng(seed)
        trial = sampler(model, rng, choosing.TRIAL * seconds, None)
        answer = sampler(model, rng, max(seconds - trial.seconds, trial.seconds), trial).answer
        for want in ("moments", "log_z") if name != "gibbs" else ("moments",):
            rivals[want][name] = judged(model, answer, truth, want)
    rows = {}
    for want, others in rivals.items():
        answer = choosing.without_exact(model, np.random.default_rng(10 * GRADED + seed), seconds, want)
        error = errors(model, answer, truth)[want]
        mine = judged(model, answer, truth, want)
        best = min(others, key=others.get)
        rows[want] = Row(
            kind,
            model.n,
            answer.method,
            mine / min(mine, others[best]),
            error / answer.info["error"],
            answer.converged,
            f"off by {error:.2g}, {best} by {others[best]:.2g}; " + answer.message,
        )
    return rows


def judged(model, answer, truth, want):
    """The error; for samples the standard error, unless they are off by more than four."""
    error = errors(model, answer, truth)[want]
    stderr = 0.0 if answer.method in THEORIES else choosing._stderr(model, answer, want)
    return stderr if error < 4 * stderr else error


def report(want, rows):
    """Print the report card of one want."""
    print(f"\n{want}: kind, machines, regret <= 1.5, error covered, silent failures, methods")
    for kind in [*dict.fromkeys(row.kind for row in rows), "all"]:
        mine = [row for row in rows if kind in (row.kind, "all")]
        regret, over = (np.array([getattr(row, name) for row in mine]) for name in ("regret", "over"))
        silent = sum(row.over > 10 and row.converged for row in mine)
        methods = ", ".join(f"{name} {count}" for name, count in Counter(row.method for row in mine).most_common())
        print(
            f"{kind:14} {len(mine):4}  {np.mean(regret <= 1.5):4.0%} (90 %: {np.quantile(regret, 0.9):.2f})  "
            f"{np.mean(over <= 1):4.0%}  {silent:2}  {methods}"
        )
    for what, count in (("over", 3), ("regret", 8)):
        for row in sorted(rows, key=lambda row: -getattr(row, what))[:count]:
            print(f"   {what} {getattr(row, what):.3g}: {row.kind}, {row.n} units, {row.method}, {row.story}")


def write(path, rows):
    """Write a table of all answers: what was asked, of which machine, who answered, and how well."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["want", "kind", "n", "method", "regret", "over", "converged"])
        for want in ("moments", "log_z"):
            for row in (row[want] for row in rows):
                table.writerow(
                    [want, row.kind, row.n, row.method, f"{row.regret:.3g}", f"{row.over:.3g}", row.converged]
                )


# --- fitting -------------------------------------------------------------------------------------------------------


def evidence_and_errors(kind, seed):
    """log x, and the log errors of Bethe's moments and of its log Z a unit; None where there is a doubt."""
    warnings.simplefilter("ignore", bmlab.NotConverged)
    model, truth = drawn(kind, seed)
    said = bethe_error.weigh(model)
    if said.doubt:
        return None
    found = errors(model, said.answer, truth)
    if min(found.values()) < bethe_error.NOTHING:
        return None
    y = np.log([found["moments"], found["log_z"] / model.n])
    return [*y, *np.log(np.maximum(said.x, bethe_error.NOTHING))]


def robust(left, y):
    """The c for which left @ c is near y, with little weight on the farthest."""
    return least_squares(lambda c: left @ c - y, np.zeros(left.shape[1]), loss="soft_l1").x


def fit(rows):
    """Print FITS: a robust fit, as some machines have valleys that no theory sees, and a quantile of what is left."""
    table = np.array(rows)
    left = np.column_stack([np.ones(len(table)), table[:, 2:]])
    print(f"{len(table)} machines without a doubt")
    for want, y in zip(("moments", "log_z"), table[:, :2].T, strict=True):
        c = robust(left, y)
        rest = y - left @ c
        print(
            f'"{want}": Fit({tuple(float(x) for x in c.round(2))}, {np.quantile(rest, 0.95):.2f})   '
            f"spread {rest.std():.2f}, largest {rest.max():.2f}"
        )


def main():
    """Fit, or grade."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machines", type=int, default=45)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--csv", help="also write the answers, one a line, to this file")
    options = parser.parse_args()
    kinds = FITTED if options.fit else options.kinds
    tasks = [(kind, seed) for kind in kinds for seed in range(options.machines // len(kinds))]
    work = evidence_and_errors if options.fit else partial(graded, seconds=options.seconds)
    with bmlab.workers(ProcessPoolExecutor(options.jobs)):
        rows = list(in_parts(partial(unpacked, work), tasks, "machine"))
    if options.fit:
        fit([row for row in rows if row])
    else:
        for want in ("moments", "log_z"):
            report(want, [row[want] for row in rows])
        if options.csv:
            write(options.csv, rows)


if __name__ == "__main__":
    main()
