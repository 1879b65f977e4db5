"""Long calls, and what is left of them when Ctrl-C comes in their midst.

`python tests/interrupting.py MOMENTS [NAME ...]` interrupts each call at so many random moments; it prints how many lay
inside of it, how late the latest ended, and what went wrong.  A process lives through ten of them; its first call finds
the package loaded and nothing asked of it yet: so what is imported and compiled late is caught in the making, too.
"""

import gc
import json
import os
import select
import signal
import sys
from functools import partial
from hashlib import sha256
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_info
from tqdm import tqdm

import bmlab
from bmlab import progress_bars, threads
from bmlab.estimate import dense_corr, quietly

ALIVE = 10  # moments that a process lives through
PATIENCE = 600  # seconds until a process that does not end is killed
TIMED = {"auto", "bracket"}  # their answers depend on the clock
GLASS = bmlab.sherrington_kirkpatrick(14, np.random.default_rng(0))
LATTICE, NARROW = bmlab.ising((4, 12)), bmlab.restricted(np.ones((11, 30)) / 20, np.zeros(11), np.zeros(30))
BLANK = bmlab.BoltzmannMachine(np.zeros((8, 8)), np.zeros(8))
DATA = bmlab.states(10)[np.random.default_rng(1).integers(0, 2**10, 200)]
HIDDEN = bmlab.sherrington_kirkpatrick(14, np.random.default_rng(2), 0.3)
MISSING = np.where(np.random.default_rng(3).random(DATA.shape) < 0.2, np.nan, DATA)


def answer(estimate):
    """The numbers of an answer."""
    return [estimate.mean, dense_corr(estimate.corr), estimate.log_z.value]


def large():
    return bmlab.sherrington_kirkpatrick(60, np.random.default_rng(0))


def learned(fit):
    return [fit.model.weights, fit.model.biases]


def resumed():
    """A run with a checkpoint goes on from where it was interrupted."""
    rng = np.random.default_rng(0)
    infer = partial(bmlab.gibbs, rng=rng, n_chains=20, burn_in=0, n_sweeps=5)
    return bmlab.fit(BLANK, DATA[:, :8], infer, steps=12, rate=0.1, batch=20, rng=rng, checkpoint="run.npz")


CALLS = {
    "gibbs": lambda: answer(bmlab.gibbs(GLASS, rng=0, n_sweeps=200)),
    "temper": lambda: answer(bmlab.temper(GLASS, rng=0, n_chains=4, burn_in=10, n_sweeps=40)),
    "ais": lambda: answer(bmlab.ais(GLASS, rng=0, n_chains=100, n_temperatures=60)),
    "exact by products": lambda: answer(bmlab.exact(bmlab.sherrington_kirkpatrick(24, np.random.default_rng(0)))),
    "mean_field": lambda: answer(bmlab.mean_field(bmlab.ising((20, 20)).at(2.5), starts=5)),
    "bethe": lambda: answer(bmlab.bethe(bmlab.ising((10, 10)).at(3.2))),
    "auto": lambda: answer(bmlab.auto(large(), rng=0, seconds=0.1)),
    "clamped": lambda: answer(bmlab.clamped(HIDDEN, DATA[:40], bmlab.mean_field)),
    "clamped_mean_field": lambda: answer(bmlab.clamped_mean_field(HIDDEN, DATA)),
    "fit": lambda: learned(bmlab.fit(HIDDEN, DATA, steps=3, rate=0.05)),
    "fit, resumed": lambda: learned(resumed()),
    "maximize": lambda: learned(bmlab.maximize(BLANK, MISSING[:100, :8], penalty=0.1)),
    "pcd": lambda: learned(
        bmlab.pcd(bmlab.restricted(np.zeros((10, 6)), np.zeros(10), np.zeros(6)), DATA, rng=0, rate=0.1, steps=200)
    ),
    "pseudolikelihood": lambda: learned(bmlab.pseudolikelihood(DATA, penalty=0.01)),
}


class Bar(tqdm):
    """A bar that tells whether it was made to its end."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.shown = True


def numbers(name):
    """The answer of a call in one row."""
    with quietly():
        found = CALLS[name]()
    return np.concatenate([np.ravel(np.asarray(part, float)) for part in found])


def called(name):
    """What tells the answer of a call from others, where it does not depend on the clock."""
    found = numbers(name)
    return "" if name in TIMED else sha256(found.tobytes()).hexdigest()


def left():
    """What a call may leave behind: limits of BLAS, who holds them, bars."""
    gc.collect()
    counts = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    bars = [bar for bar in tqdm._instances if getattr(bar, "shown", False) and not bar.disable]
    return {"threads": sorted(counts), "held": len(threads._depth) + len(threads._before), "bars": len(bars)}


def interrupted(name, shares, seconds, right):
    """Be interrupted after these shares of the seconds that the call takes, and call again each time."""
    progress_bars.DELAY, progress_bars._tqdm, told = -1, lambda: Bar, []
    for share in shares:
        told.append(once(name, share * seconds))
        begin = perf_counter()
        try:
            again = called(name)
        except BaseException as error:
            again = repr(error)
        if again != right:
            told[-1]["wrong"].append(f"the second call answers {again}")
        seconds = perf_counter() - begin
    return told


def once(name, moment):
    """Call, and be interrupted after so many seconds; return how late the end came, and what was wrong with it."""
    before, fired, lost, ended, wrong = left(), [], [], None, []
    sys.unraisablehook = lambda hook: lost.append(f"{hook.exc_value!r} in {hook.object!r}")

    def ring(*_):
        fired.append("Ctrl-C")
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, ring)
    begin = perf_counter()
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, moment)
            with bmlab.progress():
                called(name)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        wrong += ["it went on"] if fired and not lost else []  # Python drops what is raised in a finaliser
    except KeyboardInterrupt as error:
        ended, sys.last_value = perf_counter() - begin - moment, error  # with its traceback, as IPython keeps it
    except BaseException as error:
        wrong.append(repr(error))
    after = left()
    if after != before:
        wrong.append(f"it left {after}, where there was {before}")
    return {"moment": moment, "ended": ended, "lost": lost, "wrong": wrong}


def apart(work, *args):
    """Return what work(*args) returns in a process and a folder of its own; a sentence where it dies, or is killed."""
    out, into = os.pipe()
    with TemporaryDirectory() as folder:
        child = os.fork()
        if not child:
            os.chdir(folder)
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115  (bars)
            with os.fdopen(into, "w") as pipe:
                pipe.write(json.dumps(work(*args)))
            os._exit(0)
        os.close(into)
        with os.fdopen(out) as pipe:
            if not select.select([pipe], [], [], PATIENCE)[0]:
                os.kill(child, signal.SIGKILL)
            told = pipe.read()
        _, status = os.waitpid(child, 0)
    return json.loads(told) if told else f"a process ended with status {status}"


def fresh(name):
    """Return the answer of a process that nothing has interrupted, and how many seconds it takes."""
    begin = perf_counter()
    return called(name), perf_counter() - begin


def tried(name, moments, rng):
    """Return (how many moments lay inside, the latest end in seconds, what Python dropped, what went wrong)."""
    right, seconds = apart(fresh, name)
    inside, lost, wrong = [], [], []
    for shares in np.array_split(0.02 + 0.95 * rng.random(moments), -(-moments // ALIVE)):
        told = apart(interrupted, name, shares.tolist(), seconds, right)
        if isinstance(told, str):
            wrong.append(f"{name}: {told}")
            continue
        inside += [one["ended"] for one in told if one["ended"] is not None]
        wrong += [f"{name} at {one['moment']:.4f} s: {what}" for one in told for what in one["wrong"]]
        lost += [what for one in told for what in one["lost"]]
    return len(inside), max(inside, default=0.0), lost, wrong


def main(moments, names):
    """Print what came of the moments of each call; exit with 1 where anything went wrong."""
    rng, failed = np.random.default_rng(0), False
    for name in names or CALLS:
        inside, late, lost, wrong = tried(name, moments, rng)
        print(f"{name:22} {inside:4} of {moments} inside, the latest end after {late:5.2f} s, {len(wrong)} wrong")
        print(*(f"    lost by Python: {what}" for what in lost), *wrong, sep="\n", flush=True)
        failed = failed or bool(wrong)
    sys.exit(failed)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
