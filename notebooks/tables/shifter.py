"""The shifter of Hinton and Sejnowski (1986), Parallel Distributed Processing 1, chapter 7: to which side?

    python notebooks/tables/shifter.py      # rewrites 07_shifter.csv, 07_shifter.npz and 07_taught.csv, in a minute

V1 is a pattern of 8 bits, V2 the same shifted by -1, 0 or 1 with wraparound, V3 one unit of three for the shift: 768
cases of 19 visible units.  No two units know anything of the shift, only products of three do: hidden units are needed.

Our reading: 24 hidden units, each connected to all visible ones, no other weights; each case once.  We learn by
bmlab.pcd, as many chains as cases and all cases in every step, the rate falling from 0.1 to 0; they annealed.  V1 and
V2 are then clamped, hidden units summed out in closed form, and the most probable of the three shifts is the answer.

The columns of the table:

    trained, steps, seed    on all cases, or on four fifths of them, drawn by the seed
    asked                   all cases; or, if a fifth is held out, the cases trained on, or those held out
    on                      number of units on in V1
    cases, right            the number of cases, and of those named rightly
    best                    the same of the best possible guess: 1/c a case if c shifts lead from this V1 to this V2
                            (all cases being equally likely; a machine trained on some of them may lean towards those)

07_shifter.npz is a machine of the table: all cases, 3000 steps, seed 0; bmlab.load reads it.

07_taught.csv asks if a machine has a rule or a list: it is taught a share of the cases, drawn by the seed, 3000 steps;
then which part of the other cases does it name rightly, and which part does a vote of the taught ones name (`list`)?

Another kind of processor rounds sums differently, and after thousands of steps of chains a few counts differ.
"""

import csv
from itertools import product
from pathlib import Path

import numpy as np

import bmlab
from bmlab.running.parallel import map_executor

TABLE, MACHINE, TAUGHT = map(Path(__file__).with_name, ("07_shifter.csv", "07_shifter.npz", "07_taught.csv"))
COLUMNS = "trained", "steps", "seed", "asked", "on", "cases", "right", "best"
SEEDS, STEPS, HIDDEN, HELD_OUT = range(5), (300, 500, 1000, 3000), 24, 154
SHARES = 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8


def learned(data, steps, rng):
    """A restricted machine that has seen the data (N, 19) for `steps` steps."""
    weights = rng.normal(scale=0.01, size=(data.shape[1], HIDDEN))
    model = bmlab.restricted(weights, np.arctanh(data.mean(0)), np.zeros(HIDDEN))
    return bmlab.pcd(
        model, data, rng=rng, steps=steps, rate=np.linspace(0.1, 0, steps), batch=len(data), n_chains=len(data)
    ).model


def log_weight(model, v):
    """log sum_h exp(-E(v, h)) of visible states v (..., 19): hidden units are independent given v."""
    visible = v.shape[-1]
    fields = v @ model.weights[:visible, visible:] + model.biases[visible:]
    return v @ model.biases[:visible] + np.logaddexp(fields, -fields).sum(-1)


def chances(model, cases):
    """p(shift | V1, V2) of the three shifts, for cases (N, 19), of which V3 is not used: shape (N, 3)."""
    answers = 2 * np.eye(3) - 1
    known = np.broadcast_to(cases[:, None, :-3], (len(cases), 3, cases.shape[1] - 3))
    log_p = log_weight(model, np.concatenate([known, np.broadcast_to(answers, (len(cases), 3, 3))], -1))
    p = np.exp(log_p - log_p.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)


def best_guess(data):
    """The chance that the best guess is right, case by case: 1 over the shifts that lead from this V1 to this V2."""
    _, which, count = np.unique(data[:, :-3], axis=0, return_inverse=True, return_counts=True)
    return 1 / count[which.ravel()]


def split(data, seed):
    """Mask of the cases trained on: all but a fifth, drawn at random."""
    kept = np.ones(len(data), bool)
    kept[np.random.default_rng([seed, 1]).choice(len(data), HELD_OUT, replace=False)] = False
    return kept


def scores(model, data, asked):
    """Yield (on, cases, right, best) of the cases asked, by the number of units on in V1."""
    on = (data[:, :8] > 0).sum(1)
    right = chances(model, data).argmax(1) == data[:, -3:].argmax(1)
    best = best_guess(data)
    for k in range(9):
        here = asked & (on == k)
        yield k, here.sum(), right[here].sum(), f"{best[here].sum():.4g}"


def examined(task):
    """Return a machine that was trained by a task (steps, seed, trained), and its rows of the table."""
    steps, seed, trained = task
    data = bmlab.data.shifter().data
    everything, kept = np.ones(len(data), bool), split(data, seed)
    mask, groups = kept, {"trained on": kept, "held out": ~kept}
    if trained == "all":
        mask, groups = everything, {"all": everything}
    model = learned(data[mask], steps, np.random.default_rng(seed))
    rows = [(trained, steps, seed, asked, *row) for asked, some in groups.items() for row in scores(model, data, some)]
    return model, rows


def named(seed, share):
    """The part of the other cases that a machine names rightly after learning a share of them, and that of their vote.

    In the vote each taught case counts exp(-d), if d bits of V1 and V2 differ.
    """
    data = bmlab.data.shifter().data
    kept = np.zeros(len(data), bool)
    kept[np.random.default_rng(seed).choice(len(data), int(share * len(data)), replace=False)] = True
    truth, apart = data[:, -3:].argmax(1), (16 - data[:, :16] @ data[kept][:, :16].T) / 2
    machine = chances(learned(data[kept], 3000, np.random.default_rng(seed)), data)
    votes = np.exp(-apart) @ (data[kept][:, -3:] > 0)
    return [(guess.argmax(1) == truth)[~kept].mean() for guess in (machine, votes)]


def row_of_taught(task):
    """A row of 07_taught.csv for a task (share, seed)."""
    share, seed = task
    return (share, seed, *(f"{part:.4f}" for part in named(seed, share)))


def main():
    """Write the tables and the machine."""
    trainings = list(product(STEPS, SEEDS, ("all", "four fifths")))
    done = map_executor(examined, trainings, "training")
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for training, (model, rows) in zip(trainings, done, strict=True):
            table.writerows(rows)
            if training == (STEPS[-1], SEEDS[0], "all"):
                model.save(MACHINE)
    with TAUGHT.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("share", "seed", "machine", "list"))
        table.writerows(map_executor(row_of_taught, list(product(SHARES, SEEDS)), "taught a share"))


if __name__ == "__main__":
    main()
