"""A run that kills itself, again and again: `python crashing.py PATH` reads a moment a line, at which a child of
its own dies by SIGKILL, and prints a dot for each step that the child made, and how it ended.

A moment is counted over all that a checkpoint can be caught in: between two steps, in the midst of a write, before it
is flushed, before it is put in place. The parent imports, and its children share nothing else.
"""

import builtins
import io
import os
import signal
import sys
from functools import partial, wraps

import numpy as np

import bmlab
from bmlab.running import files

DATA = bmlab.states(4)[[0, 3, 3, 5, 14, 9, 8, 1, 12, 6]]


def parts(seed=0):
    """A run with all that a checkpoint must restore: a generator, chains, momentum, batches and a schedule."""
    rng = np.random.default_rng(seed)
    infer = partial(bmlab.gibbs, rng=rng, n_chains=5, burn_in=0, n_sweeps=2)
    return infer, dict(rate=np.linspace(0.3, 0.01, 99), momentum=0.5, batch=3, rng=rng)


def run(path, steps, infer=None, **options):
    """Make the run, or the rest of it."""
    method, loop = parts()
    blank = bmlab.BoltzmannMachine(np.zeros((5, 5)), np.zeros(5))
    return bmlab.fit(blank, DATA, infer or method, steps=steps, checkpoint=path, **{**loop, **options})


def die_at(moment):
    """Patch the writing of a checkpoint so that the process ends at an event; return the patch as a decorator."""
    left = iter(range(moment, 0, -1))

    def event(then):
        @wraps(then)
        def called(*args, **kwargs):
            if next(left) == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            return then(*args, **kwargs)

        return called

    class InHalves(io.FileIO):
        """A file that is written one half after the other."""

        def write(self, data):
            half = super().write(data[: len(data) // 2])
            return half + event(super().write)(data[half:])

    files.open = lambda path, mode: InHalves(path, mode) if "r" not in mode else builtins.open(path, mode)  # noqa: SIM115  (what it stands for is used as a context)
    files.os.fsync, files.os.replace = event(os.fsync), event(os.replace)
    return event


def notifying(then):
    """Print a dot for each call."""

    @wraps(then)
    def called(*args, **kwargs):
        print(".", end="", flush=True)
        return then(*args, **kwargs)

    return called


def crash(path, moment):
    """Go on with the run until that moment."""
    method, loop = parts()
    event = die_at(moment)
    module = sys.modules[bmlab.gibbs.__module__]
    module.gibbs = event(notifying(method.func))  # at its own place, and so the same run
    run(path, 99, partial(module.gibbs, **method.keywords), every=3, rng=loop["rng"])


if __name__ == "__main__":
    run(None, 1)  # modules that are imported late are imported once
    for line in sys.stdin:
        child = os.fork()
        if not child:
            crash(sys.argv[1], int(line))
            os._exit(0)  # it was to be killed
        print("", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
