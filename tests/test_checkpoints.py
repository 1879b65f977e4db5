"""A run that is killed at any moment, within a write too, ends as if it had not been, to the bit."""

import pickle
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from crashing import DATA, parts, run
from test_ascent import blank
from test_fitting import alike

import bmlab
from bmlab.learn.checkpoints import Checkpoint, generators


def law_resumed(folder):
    """Whatever the step at which a run ends, the run that follows goes on from there to the same end."""
    whole = run(None, 12).steps
    for end in (1, 5, 11):
        for every in (1, 4):
            path = folder / f"{end}-{every}.bm"
            run(path, end, every=every)
            rest = run(path, 12, every=every).steps
            assert rest[0].loop.number == end - 1 and alike(rest[-1], whole[-1])


def test_a_run_goes_on_where_it_was(tmp_path):
    law_resumed(tmp_path)


def test_a_run_that_is_over_is_not_made_again(tmp_path):
    one = run(tmp_path / "a.bm", 12)
    (again,) = run(tmp_path / "a.bm", 12).steps
    assert alike(one, again) and not again.model.weights.flags.writeable


def test_generators_go_on_too(tmp_path):
    """What the caller draws after a resumed run is what he would have drawn."""
    ends = []
    for path in (None, tmp_path / "a.bm", tmp_path / "a.bm"):
        rng = np.random.default_rng(3)
        infer = partial(bmlab.gibbs, rng=rng, n_chains=5, burn_in=0, n_sweeps=2)
        bmlab.fit(blank(5), DATA, infer, steps=6, rate=0.1, checkpoint=path)
        ends.append(rng.random())
    assert ends[0] == ends[1] == ends[2]


def test_early_stopping_remembers_its_best(tmp_path):
    options = dict(rate=0.5, held_out=DATA[:3], patience=4)
    whole = bmlab.fit(blank(4), DATA, steps=60, **options)
    best = whole.steps[-1].loop.number
    for end in (best - 1, best + 2):
        path = tmp_path / f"{end}.bm"
        bmlab.fit(blank(4), DATA, steps=end, **options, checkpoint=path)
        rest = bmlab.fit(blank(4), DATA, steps=60, **options, checkpoint=path)
        assert alike(rest, whole) and rest.message == whole.message


GLOBAL = np.random.default_rng(0)


def test_generators_are_found_wherever_they_hide():
    one, two, three = (np.random.default_rng(k) for k in range(3))

    class Method:
        def __init__(self):
            self.rng = one

        def __call__(self, model, start=None):
            return None

    def closure(model, start=None):
        return two

    def by_name(model, start=None):
        return GLOBAL

    assert generators((partial(closure, three), Method(), by_name, two)) == [two, three, one, GLOBAL]


def law_torn(folder):
    """A file cut anywhere, or with a byte changed, is refused in a sentence; the one before it is used."""
    path = folder / "a.bm"
    run(path, 6, every=2)
    data = path.read_bytes()
    assert path.with_name("a.bm.before").exists()
    for torn in (b"", data[:10], data[:-1], data[:100] + bytes([data[100] ^ 1]) + data[101:]):
        path.write_bytes(torn)
        with catch_warnings(record=True) as told:
            simplefilter("always")
            assert saved(path) == 4
        assert re.search(r"a\.bm holds no whole checkpoint; going on from .*a\.bm\.before", str(told[0].message))


def test_a_torn_file_is_refused_and_the_one_before_is_used(tmp_path):
    law_torn(tmp_path)
    path = tmp_path / "a.bm"
    with pytest.warns(UserWarning, match="holds no whole checkpoint"):
        assert alike(run(path, 12, every=2), run(None, 12))
    path.write_bytes(b"torn")
    path.with_name("a.bm.before").unlink()
    with pytest.raises(ValueError, match=r"a\.bm holds no whole checkpoint, and there is none before it; delete it"):
        run(path, 12)


def this_run():
    """What Checkpoint() is told in run()."""
    infer, loop = parts()
    defaults = {"chains": "previous", "clamped": None, "couplings": None, "penalty": 0.0, "l1": 0.0}
    return blank(5), DATA, infer, defaults | loop


def test_the_file_of_another_run_is_refused(tmp_path):
    run(tmp_path / "a.bm", 12)
    with pytest.raises(ValueError, match=r"a\.bm belongs to another run \(other data, momentum\); delete it"):
        bmlab.fit(
            blank(5), DATA[:-1], parts()[0], steps=9, checkpoint=tmp_path / "a.bm", **{**parts()[1], "momentum": 0.1}
        )


def test_a_run_killed_at_twenty_moments_ends_bit_identical(tmp_path):
    """Each child goes on from what the one before left, until it kills itself; some of them in the midst of a write."""
    path, rng = tmp_path / "a.bm", np.random.default_rng(0)
    script = Path(__file__).with_name("crashing.py")
    for moment in rng.integers(1, 21, 20):
        before = saved(path)
        child = subprocess.run([sys.executable, script, path, str(moment)], capture_output=True, text=True, check=False)
        assert child.returncode == -signal.SIGKILL, child.stderr
        made = before + child.stdout.count(".")
        assert before <= saved(path) <= made <= saved(path) + 3
    assert saved(path) > 30
    assert alike(run(path, 99, every=3), run(None, 99))


def saved(path):
    """The number of the step in the file; -1 where there is none."""
    try:
        state = Checkpoint(path, *this_run()).load()
    except pickle.UnpicklingError as error:
        raise AssertionError("what is torn was read") from error
    return state[0].loop.number if state else -1
